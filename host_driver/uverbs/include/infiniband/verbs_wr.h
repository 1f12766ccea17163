/* SPDX-License-Identifier: Apache-2.0 */
/* Work requests of <infiniband/verbs.h>, which are posted directly to the hardware. */
#ifndef INFINIBAND_VERBS_WR_H
#define INFINIBAND_VERBS_WR_H

#include <infiniband/verbs.h>

struct ibv_sge {
	uint64_t addr;
	uint32_t length, lkey;
};

struct ibv_send_wr {
	uint64_t wr_id;
	struct ibv_send_wr *next;
	struct ibv_sge *sg_list;
	int num_sge;
	enum ibv_wr_opcode opcode;
	unsigned int send_flags;
	union {
		__be32 imm_data;
		uint32_t invalidate_rkey;
	};
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr, compare_add, swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct ibv_ah *ah;
			uint32_t remote_qpn, remote_qkey;
		} ud;
	} wr;
	union {
		struct {
			uint32_t remote_srqn;
		} xrc;
	} qp_type;
	struct {
		struct ibv_mw *mw;
		uint32_t rkey;
		struct ibv_mw_bind_info bind_info;
	} bind_mw;
};

struct ibv_recv_wr {
	uint64_t wr_id;
	struct ibv_recv_wr *next;
	struct ibv_sge *sg_list;
	int num_sge;
};

/* Posts the list with one doorbell. ENOMEM: the queue is full; EINVAL: the state, number of SGEs,
 * inline length or opcode. *bad is the first request that was not posted; those before it have been
 * posted. */
int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int ibv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
