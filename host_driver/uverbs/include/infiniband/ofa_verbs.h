/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC receive QPs known by number: the interfaces before XRC target QPs and ibv_open_qp.
 *
 * The first interface (ibv_alloc_xrc_rcv_qp) makes a QP that belongs to no process. The second one
 * (OFED 1.3: create, modify, query, reg, unreg) counts processes. Both exist here beside today's
 * interface. QPs of the second interface and of today's can be used by each other's functions; a QP
 * of the first interface cannot be used by either.
 */
#ifndef INFINIBAND_OFA_VERBS_H
#define INFINIBAND_OFA_VERBS_H

#include <infiniband/verbs.h>

/* The same object as the struct ibv_xrcd of ibv_open_xrcd. */
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
 * Makes a receive QP of the domain that belongs to the kernel, and moves it from RESET to RTR. It
 * is known only by *xrc_rcv_qpn. It cannot be queried or destroyed, makes no completions itself,
 * and the kernel handles and logs its events. It is destroyed with the domain, when the last
 * process closes that. The kernel creates it with 1 send, 0 receives, 1 gather entry, 0 scatter
 * entries and 0 inline bytes; nobody can post to it, so these have no effect.
 *
 * `mask` must have IBV_QP_ACCESS_FLAGS | PKEY_INDEX | PORT and IBV_QP_AV | PATH_MTU | DEST_QPN |
 * RQ_PSN | MIN_RNR_TIMER. It must also have IBV_QP_MAX_DEST_RD_ATOMIC if the access flags allow
 * READs or atomics (otherwise the depth is 0 without it). IBV_QP_ALT_PATH and IBV_QP_PATH_MIG_STATE
 * are optional. The migration state is set in the transition from INIT to RTR, where the device
 * accepts it: MIGRATED, or REARM with an alternate path (ARMED is set only by the device, and is
 * EINVAL here). These are accepted and have no effect, because a receive side does not use them:
 * IBV_QP_STATE, CUR_STATE, QKEY (its packets have none), TIMEOUT, RETRY_CNT, RNR_RETRY,
 * MAX_QP_RD_ATOMIC, SQ_PSN (it never sends requests), CAP, EN_SQD_ASYNC_NOTIFY. Their values are
 * not checked.
 *
 * EINVAL: one of these rules is broken, a value is out of the device's range, or PD and domain
 * belong to different contexts. The PD is checked and not used: the SRQ's PD decides what a packet
 * may access.
 */
int ibv_alloc_xrc_rcv_qp(struct ibv_pd *pd, struct ibv_xrc_domain *domain, struct ibv_qp_attr *attr,
			 int mask, uint32_t *xrc_rcv_qpn);

/* Makes such a QP in RESET, and registers the process for it. Only attr->xrc_domain is used.
 * EINVAL: no domain. */
int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *attr, uint32_t *xrc_rcv_qpn);
/* Any process that has the domain open may call these. EINVAL: not a QP of the domain, or as
 * ibv_modify_qp. */
int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			  struct ibv_qp_attr *attr, int mask);
int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			 struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init);
/* Registers the process: it keeps the QP alive, and gets its events (IBV_XRC_QP_EVENT_FLAG).
 * Registering twice is no error and counts once. EINVAL: not a QP of the domain. */
int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num);
/* The QP is destroyed when the last registered process unregisters or ends. EINVAL: not
 * registered. */
int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num);

#endif
