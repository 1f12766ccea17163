/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC receive QPs known by number: what came before XRC target QPs and ibv_open_qp.
 *
 * The first interface (ibv_alloc_xrc_rcv_qp) makes a QP that belongs to no process. The second
 * (OFED 1.3: create, modify, query, reg, unreg) counts processes. Both are here beside today's; a
 * number made by one of the last two can be used by the other, one of the first by neither.
 */
#ifndef INFINIBAND_OFA_VERBS_H
#define INFINIBAND_OFA_VERBS_H

#include <infiniband/verbs.h>

/* The same object as a struct ibv_xrcd of ibv_open_xrcd. */
struct ibv_xrc_domain {
	struct ibv_context *context;
	uint32_t handle;
};

/* fd -1: private. Errors as ibv_open_xrcd, ibv_close_xrcd, ibv_create_srq_ex. */
struct ibv_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag);
int ibv_close_xrc_domain(struct ibv_xrc_domain *domain);
struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrc_domain *domain,
				   struct ibv_cq *xrc_cq, struct ibv_srq_init_attr *attr);

/*
 * A receive-side QP of the domain that belongs to the kernel: from RESET to RTR in this call. It is
 * known by *xrc_rcv_qpn only; there is no query and no destroy, it completes nothing itself, its
 * events are handled and logged by the kernel. It goes when the domain goes: with the last process
 * that closes it. The kernel asks for it with 1 send, 0 receives, 1 gather, 0 scatter entries, 0
 * inline; nobody can post to it, so what the device makes of them matters to nobody.
 *
 * `mask` must have IBV_QP_ACCESS_FLAGS | PKEY_INDEX | PORT and IBV_QP_AV | PATH_MTU | DEST_QPN |
 * RQ_PSN | MIN_RNR_TIMER; IBV_QP_MAX_DEST_RD_ATOMIC too when the access flags allow reads or
 * atomics (else the depth is 0 without it). IBV_QP_ALT_PATH and IBV_QP_PATH_MIG_STATE are optional;
 * the migration state is set on the way from INIT to RTR, where the device takes it: MIGRATED, or
 * REARM with an alternate path (ARMED is for the device to reach, and EINVAL here).
 * Accepted and of no effect, since a receive side has no use for them: IBV_QP_STATE, CUR_STATE,
 * QKEY (its packets carry none), TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, SQ_PSN (it never
 * sends requests), CAP, EN_SQD_ASYNC_NOTIFY. Their values are not looked at.
 *
 * EINVAL: the above is not kept, a value is out of the device's range, or PD and domain are of two
 * contexts. The PD is checked and not used: what a packet may reach is told by its SRQ's PD.
 */
int ibv_alloc_xrc_rcv_qp(struct ibv_pd *pd, struct ibv_xrc_domain *domain, struct ibv_qp_attr *attr,
			 int mask, uint32_t *xrc_rcv_qpn);

/* In RESET; the process is registered for it. attr->xrc_domain counts, the rest is ignored. EINVAL:
 * no domain. */
int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *attr, uint32_t *xrc_rcv_qpn);
/* Any process that has the domain open. EINVAL: not a QP of the domain; as ibv_modify_qp. */
int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			  struct ibv_qp_attr *attr, int mask);
int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			 struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init);
/* The process keeps the QP alive, and gets its events (IBV_XRC_QP_EVENT_FLAG). To register twice is
 * no error and counts once. EINVAL: not a QP of the domain. */
int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num);
/* With the last process that unregisters, or dies, the QP goes. EINVAL: not registered. */
int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num);

#endif
