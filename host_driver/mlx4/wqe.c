// SPDX-License-Identifier: Apache-2.0
/* Work queue entries as bytes: segments of send WQEs, inline data, scatter lists of receives.
 * Touches no device and takes no time. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/rows.h"

#include <errno.h>
#include <string.h>

/* --- sizes --- */

static unsigned wqe_overhead(enum qp_service service)
{
	const unsigned rdma = sizeof(struct wqe_ctrl) + sizeof(struct wqe_raddr);

	switch (service) {
	case QP_ST_UD:
		return sizeof(struct wqe_ctrl) + sizeof(struct wqe_datagram);
	case QP_ST_UC:
		return rdma;
	default:
		return rdma + sizeof(struct wqe_masked_cas);
	}
}

/* The offset at which inline data ends that begins at `at`. Each 64-byte chunk has a segment
 * header. */
static size_t inline_end(size_t at, size_t len)
{
	while (len) {
		const size_t room = WQE_CHUNK - at % WQE_CHUNK - sizeof(struct wqe_inline);
		const size_t n = len < room ? len : room;

		at += sizeof(struct wqe_inline) + n;
		len -= n;
	}
	return (at + WQE_UNIT - 1) & ~(size_t)(WQE_UNIT - 1);
}

size_t drv_wqe_bytes(enum qp_service service, unsigned sges, unsigned inline_bytes)
{
	const size_t head = wqe_overhead(service);
	const size_t gather = head + (size_t)sges * sizeof(struct wqe_data);
	/* Inline data begins after ctrl in a SEND, and after the remote address in a WRITE. Assumes
	 * the later place. */
	const size_t in_line = inline_end(head, inline_bytes);

	return gather > in_line ? gather : in_line;
}

/* --- data --- */

/* From the last to the first, so that the first word of each chunk is stored last. */
static size_t put_sges(uint8_t *wqe, size_t at, const struct drv_send_wr *wr)
{
	for (unsigned i = wr->num_sge; i--;) {
		const size_t to = at + i * sizeof(struct wqe_data);
		struct wqe_data *d = (struct wqe_data *)(void *)(wqe + to);
		const struct drv_sge *s = &wr->sg_list[i];

		wqe_data_set_lkey(d, s->lkey);
		wqe_data_set_addr(d, s->addr);
		/* an inline segment of length 0; otherwise length 0 means 2 GiB */
		drv_wqe_put_count(wqe, to, s->length, !s->length);
	}
	return at + wr->num_sge * sizeof(struct wqe_data);
}

static void inline_close(uint8_t *wqe, size_t start, size_t end)
{
	drv_wqe_put_count(wqe, start, (uint32_t)(end - start - sizeof(struct wqe_inline)), true);
}

/* Copies the request's inline data. A segment ends at each 64-byte boundary. */
static size_t put_inline(uint8_t *wqe, size_t at, const struct drv_send_wr *wr)
{
	size_t start = at, pos = at + sizeof(struct wqe_inline), end;

	for (unsigned i = 0; i < wr->num_sge; i++) {
		const uint8_t *from = (const uint8_t *)(uintptr_t)wr->sg_list[i].addr;
		size_t left = wr->sg_list[i].length;

		while (left) {
			size_t n;

			if (pos % WQE_CHUNK == 0) {
				inline_close(wqe, start, pos);
				start = pos;
				pos += sizeof(struct wqe_inline);
			}
			n = WQE_CHUNK - pos % WQE_CHUNK;
			if (n > left)
				n = left;
			memcpy(wqe + pos, from, n);
			from += n;
			pos += n;
			left -= n;
		}
	}
	if (pos == at + sizeof(struct wqe_inline))
		return at; /* there is no data */
	end = pos;
	while (pos % WQE_UNIT)
		wqe[pos++] = 0;
	inline_close(wqe, start, end);
	return pos;
}

static uint64_t total_length(const struct drv_send_wr *wr)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < wr->num_sge; i++)
		n += wr->sg_list[i].length;
	return n;
}

void drv_recv_sges(void *at, size_t room, const struct drv_recv_wr *wr)
{
	struct wqe_data *d = at;

	for (unsigned i = 0; i < wr->num_sge; i++, d++) {
		memset(d, 0, sizeof(*d));
		wqe_data_set_byte_count(d, wr->sg_list[i].length);
		wqe_data_set_lkey(d, wr->sg_list[i].lkey);
		wqe_data_set_addr(d, wr->sg_list[i].addr);
	}
	if ((size_t)wr->num_sge * sizeof(*d) < room) {
		memset(d, 0, sizeof(*d));
		wqe_data_set_lkey(d, LKEY_INVALID);
	}
}

/* --- segments --- */

/* A group's address has a LID that says so (Linux mlx4_ib). */
static void put_datagram_ethernet(const struct drv_eth *eth, struct wqe_datagram *d,
				  const struct drv_ah_attr *ah)
{
	const uint16_t vlan = eth->gids[ah->sgid_index % DRV_ETH_TABLE].vlan;

	wqe_datagram_set_smac_index(d, 0);
	wqe_datagram_set_rlid(d, gid_is_multicast(ah->dgid) ? LID_MCAST_FIRST : 0);
	memcpy(wqe_datagram_dmac_ptr(d), ah->dmac, MAC_BYTES);
	if (vlan == VLAN_NONE && !ah->sl) {
		wqe_datagram_set_tci(d, VLAN_NONE);
		return;
	}
	wqe_datagram_set_vlan(d, 1);
	wqe_datagram_set_tci(d, ah->sl << VLAN_PRIORITY_SHIFT | (vlan == VLAN_NONE ? 0 : vlan));
}

static size_t put_datagram(const struct drv_qp *qp, uint8_t *wqe, size_t at,
			   const struct drv_send_wr *wr)
{
	struct wqe_datagram *d = (struct wqe_datagram *)(void *)(wqe + at);
	const struct drv_ah_attr *ah = wr->ah;

	memset(d, 0, sizeof(*d));
	wqe_datagram_set_port(d, ah->port_num ? ah->port_num : qp->port);
	wqe_datagram_set_pd(d, qp->pd->pdn);
	wqe_datagram_set_path_bits(d, ah->src_path_bits);
	wqe_datagram_set_rlid(d, ah->dlid);
	wqe_datagram_set_static_rate(d, ah->static_rate ? ah->static_rate + STATIC_RATE_OFFSET : 0);
	wqe_datagram_set_sl(d, ah->sl);
	if (ah->is_global) {
		wqe_datagram_set_grh(d, 1);
		wqe_datagram_set_mgid_index(d, ah->sgid_index);
		wqe_datagram_set_hop_limit(d, ah->hop_limit);
		wqe_datagram_set_tclass(d, ah->traffic_class);
		wqe_datagram_set_flow_label(d, ah->flow_label);
		memcpy(wqe_datagram_dgid_ptr(d), ah->dgid, DRV_GID_BYTES);
	}
	if (mlx4_port_is_ethernet(qp->dev, wqe_datagram_get_port(d)))
		put_datagram_ethernet(&qp->dev->eth[wqe_datagram_get_port(d)], d, ah);
	wqe_datagram_set_dqpn(d, wr->remote_qpn);
	wqe_datagram_set_qkey(d, wr->remote_qkey);
	return at + sizeof(*d);
}

static size_t put_raddr(uint8_t *wqe, size_t at, const struct drv_send_wr *wr)
{
	struct wqe_raddr *r = (struct wqe_raddr *)(void *)(wqe + at);

	memset(r, 0, sizeof(*r));
	wqe_raddr_set_va(r, wr->remote_addr);
	wqe_raddr_set_rkey(r, wr->rkey);
	return at + sizeof(*r);
}

static size_t put_atomic(uint8_t *wqe, size_t at, const struct drv_send_wr *wr)
{
	struct wqe_masked_cas *m = (struct wqe_masked_cas *)(void *)(wqe + at);
	struct wqe_atomic *a = (struct wqe_atomic *)(void *)(wqe + at);

	switch (wr->opcode) {
	case IBV_WR_MASKED_ATOMIC_CMP_AND_SWP:
		wqe_masked_cas_set_swap(m, wr->swap);
		wqe_masked_cas_set_compare(m, wr->compare_add);
		wqe_masked_cas_set_swap_mask(m, wr->swap_mask);
		wqe_masked_cas_set_compare_mask(m, wr->compare_add_mask);
		return at + sizeof(*m);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		wqe_atomic_set_swap_add(a, wr->swap);
		wqe_atomic_set_compare(a, wr->compare_add);
		return at + sizeof(*a);
	default:
		wqe_atomic_set_swap_add(a, wr->compare_add);
		wqe_atomic_set_boundary(a, wr->opcode == IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD
						   ? wr->compare_add_mask
						   : 0);
		return at + sizeof(*a);
	}
}

static uint32_t key_next(uint32_t key)
{
	return (key & ~UINT32_C(0xff)) | ((key + 1) & 0xff);
}

static size_t put_bind(uint8_t *wqe, size_t at, const struct drv_send_wr *wr)
{
	struct wqe_bind *b = (struct wqe_bind *)(void *)(wqe + at);
	const unsigned access = wr->bind_access;

	memset(b, 0, sizeof(*b));
	wr->bind_mw->rkey = wr->bind_rkey ? wr->bind_rkey : key_next(wr->bind_mw->rkey);
	wqe_bind_set_remote_atomic(b, !!(access & IBV_ACCESS_REMOTE_ATOMIC));
	wqe_bind_set_remote_write(b, !!(access & IBV_ACCESS_REMOTE_WRITE));
	wqe_bind_set_remote_read(b, !!(access & IBV_ACCESS_REMOTE_READ));
	wqe_bind_set_type2(b, wr->bind_mw->type == IBV_MW_TYPE_2);
	wqe_bind_set_zero_based(b, !!(access & IBV_ACCESS_ZERO_BASED));
	wqe_bind_set_new_rkey(b, wr->bind_mw->rkey);
	wqe_bind_set_lkey(b, wr->bind_mr ? wr->bind_mr->key : 0);
	wqe_bind_set_addr(b, wr->bind_addr);
	wqe_bind_set_length(b, wr->bind_length);
	return at + sizeof(*b);
}

static size_t put_fast_reg(uint8_t *wqe, size_t at, const struct drv_send_wr *wr)
{
	struct wqe_fast_reg *f = (struct wqe_fast_reg *)(void *)(wqe + at);
	struct drv_mr *mr = wr->reg_mr;
	const unsigned access = wr->reg_access;

	memset(f, 0, sizeof(*f));
	if (mr)
		mr->key = wr->reg_key ? wr->reg_key : key_next(mr->key);
	wqe_fast_reg_set_remote_atomic(f, !!(access & IBV_ACCESS_REMOTE_ATOMIC));
	wqe_fast_reg_set_remote_write(f, !!(access & IBV_ACCESS_REMOTE_WRITE));
	wqe_fast_reg_set_remote_read(f, !!(access & IBV_ACCESS_REMOTE_READ));
	wqe_fast_reg_set_local_write(f, !!(access & IBV_ACCESS_LOCAL_WRITE));
	wqe_fast_reg_set_local_read(f, 1);
	wqe_fast_reg_set_bind_enable(f, !!(access & IBV_ACCESS_MW_BIND));
	wqe_fast_reg_set_key(f, mr ? mr->key : wr->reg_key);
	wqe_fast_reg_set_page_list(f, wr->reg_page_list ? wr->reg_page_list : mr->page_list_bus);
	wqe_fast_reg_set_start(f, wr->reg_iova);
	wqe_fast_reg_set_length(f, wr->reg_length);
	wqe_fast_reg_set_log_page_size(f, wr->reg_log_page ? wr->reg_log_page : DRV_LOG_PAGE);
	return at + sizeof(*f);
}

static size_t put_local_inv(uint8_t *wqe, size_t at, const struct drv_send_wr *wr)
{
	struct wqe_local_inv *l = (struct wqe_local_inv *)(void *)(wqe + at);

	memset(l, 0, sizeof(*l));
	wqe_local_inv_set_key(l, wr->invalidate_rkey);
	return at + sizeof(*l);
}

/* --- the whole WQE --- */

static int wr_opcode(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return WQE_RDMA_WRITE;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return WQE_RDMA_WRITE_IMM;
	case IBV_WR_SEND:
		return WQE_SEND;
	case IBV_WR_SEND_WITH_IMM:
		return WQE_SEND_IMM;
	case IBV_WR_RDMA_READ:
		return WQE_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return WQE_ATOMIC_CS;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return WQE_ATOMIC_FA;
	case IBV_WR_LOCAL_INV:
		return WQE_LOCAL_INV;
	case IBV_WR_BIND_MW:
		return WQE_BIND_MW;
	case IBV_WR_SEND_WITH_INV:
		return WQE_SEND_INV;
	case IBV_WR_REG_MR:
		return WQE_FAST_REG;
	case IBV_WR_MASKED_ATOMIC_CMP_AND_SWP:
		return WQE_MASKED_ATOMIC_CS;
	case IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return WQE_MASKED_ATOMIC_FA;
	case IBV_WR_NOP:
		return WQE_NOP;
	}
	return -EINVAL;
}

static int wr_check(const struct drv_qp *qp, const struct drv_send_wr *wr, const struct wqe_op *op)
{
	const bool in_line = wr->send_flags & IBV_SEND_INLINE;

	if (!(op->services & 1u << qp->service) || wr->num_sge > qp->sq.max_sge)
		return -EINVAL;
	if (in_line &&
	    (!(op->props & (WQE_P_SEND | WQE_P_WRITE)) || total_length(wr) > qp->max_inline))
		return -EINVAL;
	if (qp->service == QP_ST_UD && op->props & WQE_P_DATAGRAM && !wr->ah)
		return -EINVAL;
	if (wr->opcode == IBV_WR_BIND_MW && !wr->bind_mw)
		return -EINVAL;
	if (wr->opcode == IBV_WR_REG_MR &&
	    (wr->reg_mr ? !wr->reg_mr->page_list : !wr->reg_page_list || !wr->reg_key))
		return -EINVAL;
	return 0;
}

static size_t put_segments(const struct drv_qp *qp, uint8_t *wqe, const struct drv_send_wr *wr,
			   const struct wqe_op *op)
{
	size_t at = sizeof(struct wqe_ctrl);

	if (qp->service == QP_ST_UD && op->props & WQE_P_DATAGRAM)
		at = put_datagram(qp, wqe, at, wr);
	if (op->props & WQE_P_RADDR)
		at = put_raddr(wqe, at, wr);
	if (op->props & (WQE_P_ATOMIC | WQE_P_ATOMIC32))
		at = put_atomic(wqe, at, wr);
	if (op->props & WQE_P_DATA)
		at = wr->send_flags & IBV_SEND_INLINE ? put_inline(wqe, at, wr)
						      : put_sges(wqe, at, wr);
	if (wr->opcode == IBV_WR_BIND_MW)
		at = put_bind(wqe, at, wr);
	if (wr->opcode == IBV_WR_REG_MR)
		at = put_fast_reg(wqe, at, wr);
	if (wr->opcode == IBV_WR_LOCAL_INV)
		at = put_local_inv(wqe, at, wr);
	return at;
}

int drv_wqe_check(const struct drv_qp *qp, const struct drv_send_wr *wr)
{
	const int opcode = wr_opcode(wr->opcode);

	return opcode < 0 ? opcode : wr_check(qp, wr, wqe_op_find((uint32_t)opcode));
}

int drv_wqe_build(struct drv_qp *qp, const struct drv_send_wr *wr, void *wqe, uint32_t index)
{
	const int opcode = wr_opcode(wr->opcode);
	const struct wqe_op *op;
	struct wqe_ctrl ctrl = {0};
	size_t bytes;
	int rc;

	if (opcode < 0)
		return opcode;
	op = wqe_op_find((uint32_t)opcode);
	rc = wr_check(qp, wr, op);
	if (rc)
		return rc;
	bytes = put_segments(qp, wqe, wr, op);
	wqe_ctrl_set_opcode(&ctrl, (uint32_t)opcode);
	wqe_ctrl_set_owner(&ctrl, !(index & qp->sq.entries));
	wqe_ctrl_set_ds(&ctrl, (uint32_t)(bytes / WQE_UNIT));
	wqe_ctrl_set_fence(&ctrl, !!(wr->send_flags & IBV_SEND_FENCE));
	wqe_ctrl_set_cqe(&ctrl,
			 qp->sq_sig_all || wr->send_flags & IBV_SEND_SIGNALED ? WQE_CQE_ALWAYS : 0);
	wqe_ctrl_set_solicited(&ctrl, !!(wr->send_flags & IBV_SEND_SOLICITED));
	wqe_ctrl_set_strong_order(&ctrl, !!(op->props & WQE_P_MPT));
	if (qp->service == QP_ST_XRC)
		wqe_ctrl_set_xrc_srqn(&ctrl, wr->remote_srqn);
	if (op->props & WQE_P_IMM)
		wqe_ctrl_set_imm(&ctrl, wr->imm_data);
	if (op->props & WQE_P_INV)
		wqe_ctrl_set_imm(&ctrl, wr->invalidate_rkey);
	memcpy(wqe, &ctrl, sizeof(ctrl));
	return (int)(bytes / WQE_UNIT);
}
