// SPDX-License-Identifier: Apache-2.0
/* Converts work requests to the driver's form, and completions back. It allocates nothing, so that
 * any context may post. A long list is posted in pieces, with one doorbell each. */
#include "host_driver/core/core.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>
#include <errno.h>

enum { PIECE = 16 };

_Static_assert(sizeof(struct ib_sge) == sizeof(struct drv_sge) &&
		       offsetof(struct ib_sge, length) == offsetof(struct drv_sge, length) &&
		       offsetof(struct ib_sge, lkey) == offsetof(struct drv_sge, lkey),
	       "scatter and gather lists are passed on as they are");

static const struct drv_sge *sges(const struct ib_sge *list)
{
	return (const struct drv_sge *)(const void *)list;
}

/* --- sends --- */

static int reg_fill(const struct ib_reg_wr *wr, struct drv_send_wr *d)
{
	if (!wr->mr || !wr->key)
		return -EINVAL;
	d->reg_mr = wr->mr->drv;
	d->reg_key = wr->key;
	d->reg_iova = wr->mr->iova;
	d->reg_length = wr->mr->length;
	d->reg_access = (unsigned)wr->access;
	d->reg_log_page = drv_log2_up(wr->mr->page_size);
	return 0;
}

static int fast_reg_fill(const struct ib_fast_reg_wr *wr, struct drv_send_wr *d)
{
	if (!wr->page_list || !wr->rkey || wr->page_list_len > wr->page_list->max_page_list_len)
		return -EINVAL;
	core_page_list_write(wr->page_list, wr->page_list_len);
	d->opcode = IBV_WR_REG_MR;
	d->reg_page_list = wr->page_list->bus;
	d->reg_key = wr->rkey;
	d->reg_iova = wr->iova_start;
	d->reg_length = wr->length;
	d->reg_access = (unsigned)wr->access_flags;
	d->reg_log_page = wr->page_shift;
	return 0;
}

static void atomic_fill(const struct ib_atomic_wr *wr, struct drv_send_wr *d)
{
	d->remote_addr = wr->remote_addr;
	d->rkey = wr->rkey;
	d->compare_add = wr->compare_add;
	d->swap = wr->swap;
	d->compare_add_mask = wr->compare_add_mask;
	d->swap_mask = wr->swap_mask;
}

static int ud_fill(const struct ib_ud_wr *wr, struct drv_send_wr *d)
{
	if (!wr->ah)
		return -EINVAL;
	d->ah = &wr->ah->drv;
	d->remote_qpn = wr->remote_qpn;
	d->remote_qkey = wr->remote_qkey;
	return 0;
}

static int send_fill(const struct ib_qp *qp, const struct ib_send_wr *wr, struct drv_send_wr *d)
{
	if (wr->num_sge < 0)
		return -EINVAL;
	*d = (struct drv_send_wr){.wr_id = wr->wr_id,
				  .opcode = (enum ibv_wr_opcode)wr->opcode,
				  .send_flags = (unsigned)wr->send_flags,
				  .sg_list = sges(wr->sg_list),
				  .num_sge = (unsigned)wr->num_sge,
				  .remote_srqn = wr->xrc_remote_srq_num};
	switch (wr->opcode) {
	case IB_WR_SEND_WITH_IMM:
		d->imm_data = ntohl(wr->ex.imm_data);
		return qp->qp_type == IB_QPT_UD ? ud_fill(ud_wr(wr), d) : 0;
	case IB_WR_SEND:
		return qp->qp_type == IB_QPT_UD ? ud_fill(ud_wr(wr), d) : 0;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		d->invalidate_rkey = wr->ex.invalidate_rkey;
		return 0;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		d->imm_data = ntohl(wr->ex.imm_data);
		/* fallthrough */
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
		d->remote_addr = rdma_wr(wr)->remote_addr;
		d->rkey = rdma_wr(wr)->rkey;
		return 0;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		atomic_fill(atomic_wr(wr), d);
		return 0;
	case IB_WR_REG_MR:
		return reg_fill(reg_wr(wr), d);
	case IB_WR_FAST_REG_MR:
		return fast_reg_fill(fast_reg_wr(wr), d);
	case IB_WR_RDMA_READ_WITH_INV:
		break;
	}
	return -EINVAL;
}

/* Posts up to PIECE requests from *wr on. Sets *wr to the first request that has not been
 * posted. */
static int send_piece(struct ib_qp *qp, const struct ib_send_wr **wr)
{
	const struct drv_send_wr *failed = NULL;
	const struct ib_send_wr *next = *wr;
	struct drv_send_wr d[PIECE];
	int n = 0, posted = 0, bad = 0, rc = 0;

	for (; next && n < PIECE; next = next->next, n++) {
		bad = send_fill(qp, next, &d[n]);
		if (bad)
			break;
		if (n)
			d[n - 1].next = &d[n];
	}
	if (n)
		rc = drv_post_send(qp->drv, d, &failed);
	posted = rc ? (int)(failed - d) : n;
	while (posted--)
		*wr = (*wr)->next;
	return rc ? rc : bad;
}

int ib_post_send(struct ib_qp *qp, const struct ib_send_wr *send_wr,
		 const struct ib_send_wr **bad_send_wr)
{
	int rc = drv_is_dead(qp->device->drv) ? -EIO : 0;

	while (send_wr && !rc)
		rc = send_piece(qp, &send_wr);
	if (rc && bad_send_wr)
		*bad_send_wr = send_wr;
	return rc;
}

/* --- receives --- */

_Static_assert(sizeof(struct ib_recv_wr) == sizeof(struct drv_recv_wr) &&
		       offsetof(struct ib_recv_wr, wr_id) == offsetof(struct drv_recv_wr, wr_id) &&
		       offsetof(struct ib_recv_wr, sg_list) ==
			       offsetof(struct drv_recv_wr, sg_list) &&
		       offsetof(struct ib_recv_wr, num_sge) ==
			       offsetof(struct drv_recv_wr, num_sge),
	       "receives are passed on as they are");

static int refuse(const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	if (bad)
		*bad = wr;
	return -EIO;
}

int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *recv_wr,
		 const struct ib_recv_wr **bad_recv_wr)
{
	if (recv_wr && drv_is_dead(qp->device->drv))
		return refuse(recv_wr, bad_recv_wr);
	return drv_post_recv(qp->drv, (const struct drv_recv_wr *)recv_wr,
			     (const struct drv_recv_wr **)bad_recv_wr);
}

int ib_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *recv_wr,
		     const struct ib_recv_wr **bad_recv_wr)
{
	if (recv_wr && drv_is_dead(srq->device->drv))
		return refuse(recv_wr, bad_recv_wr);
	return drv_post_srq_recv(srq->drv, (const struct drv_recv_wr *)recv_wr,
				 (const struct drv_recv_wr **)bad_recv_wr);
}

/* --- completions --- */

static void wc_fill(const struct ib_cq *cq, const struct drv_wc *d, struct ib_wc *wc)
{
	struct drv_qp *qp = drv_qp_find(cq->device->drv, d->qp_num);

	*wc = (struct ib_wc){.wr_id = d->wr_id,
			     .status = (enum ib_wc_status)d->status,
			     .opcode = (enum ib_wc_opcode)d->opcode,
			     .vendor_err = d->vendor_err,
			     .byte_len = d->byte_len,
			     .qp = qp ? drv_qp_owner(qp) : NULL,
			     .src_qp = d->src_qp,
			     .slid = d->slid,
			     .wc_flags = (int)d->wc_flags,
			     .pkey_index = (uint16_t)d->pkey_index,
			     .sl = (uint8_t)d->sl,
			     .dlid_path_bits = (uint8_t)d->dlid_path_bits};
	if (d->wc_flags & IBV_WC_WITH_IMM)
		wc->ex.imm_data = htonl(d->imm_data);
	else if (d->wc_flags & IBV_WC_WITH_INV)
		wc->ex.invalidate_rkey = d->invalidated_rkey;
}

int ib_poll_cq(struct ib_cq *cq, int num_entries, struct ib_wc *wc)
{
	struct drv_wc d[PIECE];
	int done = 0;

	if (num_entries < 0)
		return -EINVAL;
	while (done < num_entries) {
		const int left = num_entries - done, want = left < PIECE ? left : PIECE;
		const int got = drv_is_dead(cq->device->drv) ? drv_cq_flush(cq->drv, want, d)
							     : drv_cq_poll(cq->drv, want, d);

		if (got < 0)
			return done ? done : got;
		for (int i = 0; i < got; i++)
			wc_fill(cq, &d[i], &wc[done++]);
		if (got < want)
			break;
	}
	return done;
}

int ib_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	int rc;

	if (!(flags & IB_CQ_SOLICITED_MASK) ||
	    flags & ~(unsigned)(IB_CQ_SOLICITED_MASK | IB_CQ_REPORT_MISSED_EVENTS))
		return -EINVAL;
	if (drv_is_dead(cq->device->drv))
		return flags & IB_CQ_REPORT_MISSED_EVENTS && drv_cq_flushable(cq->drv);
	rc = drv_cq_arm(cq->drv, (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED);
	if (rc)
		return rc;
	return flags & IB_CQ_REPORT_MISSED_EVENTS && drv_cq_outstanding(cq->drv);
}

static const char *const status_names[] = {
	[IB_WC_SUCCESS] = "success",
	[IB_WC_LOC_LEN_ERR] = "local length error",
	[IB_WC_LOC_QP_OP_ERR] = "local QP operation error",
	[IB_WC_LOC_EEC_OP_ERR] = "local EE context operation error",
	[IB_WC_LOC_PROT_ERR] = "local protection error",
	[IB_WC_WR_FLUSH_ERR] = "WR flushed",
	[IB_WC_MW_BIND_ERR] = "memory window bind error",
	[IB_WC_BAD_RESP_ERR] = "bad response error",
	[IB_WC_LOC_ACCESS_ERR] = "local access error",
	[IB_WC_REM_INV_REQ_ERR] = "remote invalid request error",
	[IB_WC_REM_ACCESS_ERR] = "remote access error",
	[IB_WC_REM_OP_ERR] = "remote operation error",
	[IB_WC_RETRY_EXC_ERR] = "transport retry counter exceeded",
	[IB_WC_RNR_RETRY_EXC_ERR] = "RNR retry counter exceeded",
	[IB_WC_LOC_RDD_VIOL_ERR] = "local RDD violation error",
	[IB_WC_REM_INV_RD_REQ_ERR] = "remote invalid RD request",
	[IB_WC_REM_ABORT_ERR] = "operation aborted",
	[IB_WC_INV_EECN_ERR] = "invalid EE context number",
	[IB_WC_INV_EEC_STATE_ERR] = "invalid EE context state",
	[IB_WC_FATAL_ERR] = "fatal error",
	[IB_WC_RESP_TIMEOUT_ERR] = "response timeout error",
	[IB_WC_GENERAL_ERR] = "general error",
};

const char *ib_wc_status_msg(enum ib_wc_status status)
{
	if ((size_t)status >= ARRAY_SIZE(status_names))
		return "unrecognized status";
	return status_names[status];
}
