/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: work requests and completions. Names, arguments and errors are those of Linux
 * (include/rdma/ib_verbs.h); what a request does is IBA vol. 1, 10.8 and 11.4.
 *
 * A request is a struct ib_send_wr at the beginning of the structure that its opcode and service
 * need: ib_rdma_wr, ib_atomic_wr, ib_ud_wr, ib_reg_wr, ib_fast_reg_wr. Addresses in scatter lists
 * are bus addresses (rdma/ib_dma.h) with the PD's local_dma_lkey, or addresses of a region with its
 * key; with IB_SEND_INLINE they are pointers, read before the call returns.
 *
 * wr_id and wr_cqe are the same word: on a CQ of ib_alloc_cq() every request has a wr_cqe.
 */
#ifndef RDMA_IB_WR_H
#define RDMA_IB_WR_H

#include "host_driver/core/include/rdma/ib_verbs.h"

enum ib_wr_opcode {
	IB_WR_RDMA_WRITE = IBV_WR_RDMA_WRITE,
	IB_WR_RDMA_WRITE_WITH_IMM = IBV_WR_RDMA_WRITE_WITH_IMM,
	IB_WR_SEND = IBV_WR_SEND,
	IB_WR_SEND_WITH_IMM = IBV_WR_SEND_WITH_IMM,
	IB_WR_RDMA_READ = IBV_WR_RDMA_READ,
	IB_WR_ATOMIC_CMP_AND_SWP = IBV_WR_ATOMIC_CMP_AND_SWP,
	IB_WR_ATOMIC_FETCH_AND_ADD = IBV_WR_ATOMIC_FETCH_AND_ADD,
	IB_WR_LOCAL_INV = IBV_WR_LOCAL_INV,
	IB_WR_SEND_WITH_INV = IBV_WR_SEND_WITH_INV,
	IB_WR_RDMA_READ_WITH_INV = 11, /* not supported by this device: -EINVAL */
	IB_WR_REG_MR = IBV_WR_REG_MR,
	IB_WR_MASKED_ATOMIC_CMP_AND_SWP = IBV_WR_MASKED_ATOMIC_CMP_AND_SWP,
	IB_WR_MASKED_ATOMIC_FETCH_AND_ADD = IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD,
	IB_WR_FAST_REG_MR = 96, /* the older form of IB_WR_REG_MR */
};

enum ib_send_flags {
	IB_SEND_FENCE = IBV_SEND_FENCE,
	IB_SEND_SIGNALED = IBV_SEND_SIGNALED,
	IB_SEND_SOLICITED = IBV_SEND_SOLICITED,
	IB_SEND_INLINE = IBV_SEND_INLINE,
};

enum ib_wc_status {
	IB_WC_SUCCESS = IBV_WC_SUCCESS,
	IB_WC_LOC_LEN_ERR = IBV_WC_LOC_LEN_ERR,
	IB_WC_LOC_QP_OP_ERR = IBV_WC_LOC_QP_OP_ERR,
	IB_WC_LOC_EEC_OP_ERR = IBV_WC_LOC_EEC_OP_ERR,
	IB_WC_LOC_PROT_ERR = IBV_WC_LOC_PROT_ERR,
	IB_WC_WR_FLUSH_ERR = IBV_WC_WR_FLUSH_ERR,
	IB_WC_MW_BIND_ERR = IBV_WC_MW_BIND_ERR,
	IB_WC_BAD_RESP_ERR = IBV_WC_BAD_RESP_ERR,
	IB_WC_LOC_ACCESS_ERR = IBV_WC_LOC_ACCESS_ERR,
	IB_WC_REM_INV_REQ_ERR = IBV_WC_REM_INV_REQ_ERR,
	IB_WC_REM_ACCESS_ERR = IBV_WC_REM_ACCESS_ERR,
	IB_WC_REM_OP_ERR = IBV_WC_REM_OP_ERR,
	IB_WC_RETRY_EXC_ERR = IBV_WC_RETRY_EXC_ERR,
	IB_WC_RNR_RETRY_EXC_ERR = IBV_WC_RNR_RETRY_EXC_ERR,
	IB_WC_LOC_RDD_VIOL_ERR = IBV_WC_LOC_RDD_VIOL_ERR,
	IB_WC_REM_INV_RD_REQ_ERR = IBV_WC_REM_INV_RD_REQ_ERR,
	IB_WC_REM_ABORT_ERR = IBV_WC_REM_ABORT_ERR,
	IB_WC_INV_EECN_ERR = IBV_WC_INV_EECN_ERR,
	IB_WC_INV_EEC_STATE_ERR = IBV_WC_INV_EEC_STATE_ERR,
	IB_WC_FATAL_ERR = IBV_WC_FATAL_ERR,
	IB_WC_RESP_TIMEOUT_ERR = IBV_WC_RESP_TIMEOUT_ERR,
	IB_WC_GENERAL_ERR = IBV_WC_GENERAL_ERR,
};

enum ib_wc_opcode {
	IB_WC_SEND = IBV_WC_SEND,
	IB_WC_RDMA_WRITE = IBV_WC_RDMA_WRITE,
	IB_WC_RDMA_READ = IBV_WC_RDMA_READ,
	IB_WC_COMP_SWAP = IBV_WC_COMP_SWAP,
	IB_WC_FETCH_ADD = IBV_WC_FETCH_ADD,
	IB_WC_LOCAL_INV = IBV_WC_LOCAL_INV,
	IB_WC_REG_MR = IBV_WC_REG_MR, /* for both forms */
	IB_WC_MASKED_COMP_SWAP = IBV_WC_MASKED_COMP_SWAP,
	IB_WC_MASKED_FETCH_ADD = IBV_WC_MASKED_FETCH_ADD,
	IB_WC_RECV = IBV_WC_RECV,
	IB_WC_RECV_RDMA_WITH_IMM = IBV_WC_RECV_RDMA_WITH_IMM,
};

enum ib_wc_flags {
	IB_WC_GRH = IBV_WC_GRH,
	IB_WC_WITH_IMM = IBV_WC_WITH_IMM,
	IB_WC_WITH_INVALIDATE = IBV_WC_WITH_INV,
};

/* --- requests --- */

struct ib_wc;
struct ib_fast_reg_page_list;

/* The function to call when a request completes. The caller owns the memory and must keep it until
 * done() is called. */
struct ib_cqe {
	void (*done)(struct ib_cq *cq, struct ib_wc *wc);
};

struct ib_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

struct ib_send_wr {
	struct ib_send_wr *next;
	union {
		uint64_t wr_id;
		struct ib_cqe *wr_cqe;
	};
	struct ib_sge *sg_list;
	int num_sge;
	enum ib_wr_opcode opcode;
	int send_flags;
	union {
		__be32 imm_data;
		uint32_t invalidate_rkey; /* SEND_WITH_INV, LOCAL_INV */
	} ex;
	uint32_t xrc_remote_srq_num; /* for XRC initiators; Linux had it here until 4.3 */
};

/* RDMA_WRITE, RDMA_WRITE_WITH_IMM, RDMA_READ */
struct ib_rdma_wr {
	struct ib_send_wr wr;
	uint64_t remote_addr;
	uint32_t rkey;
};

/* ATOMIC_x, MASKED_ATOMIC_x; the values are in the host's byte order, for 8 bytes at remote_addr */
struct ib_atomic_wr {
	struct ib_send_wr wr;
	uint64_t remote_addr;
	uint64_t compare_add; /* fetch and add: the value to add */
	uint64_t swap;
	/* only for masked atomics; the first is also the field boundary */
	uint64_t compare_add_mask, swap_mask;
	uint32_t rkey;
};

/* SEND, SEND_WITH_IMM on a UD queue pair */
struct ib_ud_wr {
	struct ib_send_wr wr;
	struct ib_ah *ah;
	uint32_t remote_qpn;
	uint32_t remote_qkey; /* bit 31 set: the queue pair's own Q_Key */
};

/* REG_MR: registers under `key` what ib_map_mr_sg() has stored */
struct ib_reg_wr {
	struct ib_send_wr wr;
	struct ib_mr *mr;
	uint32_t key; /* not 0; the caller chooses its lower 8 bits */
	int access;   /* enum ib_access_flags */
};

/* FAST_REG_MR: the same, with a page list of the caller */
struct ib_fast_reg_wr {
	struct ib_send_wr wr;
	uint64_t iova_start;
	struct ib_fast_reg_page_list *page_list;
	unsigned page_shift, page_list_len;
	uint32_t length;
	int access_flags;
	uint32_t rkey;
};

struct ib_recv_wr {
	struct ib_recv_wr *next;
	union {
		uint64_t wr_id;
		struct ib_cqe *wr_cqe;
	};
	struct ib_sge *sg_list;
	int num_sge;
};

static inline const struct ib_rdma_wr *rdma_wr(const struct ib_send_wr *wr)
{
	return (const struct ib_rdma_wr *)(const void *)wr;
}

static inline const struct ib_atomic_wr *atomic_wr(const struct ib_send_wr *wr)
{
	return (const struct ib_atomic_wr *)(const void *)wr;
}

static inline const struct ib_ud_wr *ud_wr(const struct ib_send_wr *wr)
{
	return (const struct ib_ud_wr *)(const void *)wr;
}

static inline const struct ib_reg_wr *reg_wr(const struct ib_send_wr *wr)
{
	return (const struct ib_reg_wr *)(const void *)wr;
}

static inline const struct ib_fast_reg_wr *fast_reg_wr(const struct ib_send_wr *wr)
{
	return (const struct ib_fast_reg_wr *)(const void *)wr;
}

/*
 * Posts a list in order; any context. On failure *bad_send_wr (may be NULL) is the first request
 * that was not posted; those before it have been posted. -EINVAL: the state (RESET, INIT, RTR), an
 * opcode that the service or the device does not have, too many scatter entries, too many inline
 * bytes, a missing address handle, region or key, an XRC target; -ENOMEM: the queue is full. The
 * device checks a request's memory access when it executes the request.
 */
int ib_post_send(struct ib_qp *qp, const struct ib_send_wr *send_wr,
		 const struct ib_send_wr **bad_send_wr);
/* The same for receives. -EINVAL: RESET, a queue pair without a receive queue (SRQ, XRC), too many
 * entries. */
int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *recv_wr,
		 const struct ib_recv_wr **bad_recv_wr);
int ib_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *recv_wr,
		     const struct ib_recv_wr **bad_recv_wr);

/* --- completions --- */

struct ib_wc {
	union {
		uint64_t wr_id;
		struct ib_cqe *wr_cqe;
	};
	/* unless success, only wr_id, status, vendor_err and qp are valid */
	enum ib_wc_status status;
	enum ib_wc_opcode opcode;
	uint32_t vendor_err;
	/* for receives (UD: including the 40 bytes of the GRH), READs, atomics */
	uint32_t byte_len;
	struct ib_qp *qp;
	union {
		__be32 imm_data;          /* with IB_WC_WITH_IMM */
		uint32_t invalidate_rkey; /* with IB_WC_WITH_INVALIDATE */
	} ex;
	uint32_t src_qp; /* for UD */
	uint32_t slid;
	int wc_flags;
	uint16_t pkey_index;
	uint8_t sl, dlid_path_bits;
};

enum ib_cq_notify_flags {
	IB_CQ_SOLICITED = 1 << 0,
	IB_CQ_NEXT_COMP = 1 << 1,
	IB_CQ_SOLICITED_MASK = IB_CQ_SOLICITED | IB_CQ_NEXT_COMP,
	IB_CQ_REPORT_MISSED_EVENTS = 1 << 2,
};

/* Polls up to num_entries completions, oldest first, and returns how many. Any context. -EINVAL:
 * num_entries below 0, or an entry of an unknown queue pair. */
int ib_poll_cq(struct ib_cq *cq, int num_entries, struct ib_wc *wc);
/*
 * Requests one completion event for the next completion (SOLICITED: for the next solicited or
 * failed one). If an unpolled completion is already there, the event comes at once, so none is lost
 * between the last poll and this call. With REPORT_MISSED_EVENTS it returns 1 if there is something
 * to poll now, otherwise 0. Any context. -EINVAL: neither of the two, or another flag.
 */
int ib_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags);

const char *ib_wc_status_msg(enum ib_wc_status status);

#endif
