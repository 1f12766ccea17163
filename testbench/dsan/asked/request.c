// SPDX-License-Identifier: Apache-2.0
/* Work requests: what a WQE says, against what was posted. The layout is that of
 * model/interface/queues.h. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/buffers.h"
#include "testbench/dsan/mads/mads.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/hear/wrote.h"

#include "model/interface/macros.h"
#include "model/interface/ethernet.h"
#include "model/interface/queues.h"
#include "model/interface/static_rates.h"

#include <stdio.h>
#include <string.h>

#define NOBODY "nobody; this call came by "

enum { NAMES_BYTES = 180, FIELD_CHARS = 64, LOG_PAGE = 12, RADDR_RESERVED = 12 };

/* --- reports --- */

/* The function that stored there in this call. */
static const void *storer_of(const struct compared *c, uintptr_t at, size_t bytes)
{
	const struct checker *checker = c->ask->c;
	const uintptr_t from = at - checker->copied.at;
	const void *pc = from < checker->copied.bytes && checker->copied.at == c->from
				 ? wrote_find_since(checker->copied.from + from, bytes,
						    checker->copied.since)
				 : NULL;

	if (pc) /* to the byte */
		return pc;
	for (uintptr_t w = at & ~(uintptr_t)(WORD - 1); w < at + bytes; w += WORD) {
		const struct stored *s = checker_stored(checker, w);

		if (s->seq > c->ask->since)
			pc = s->pc;
	}
	return pc;
}

static void fillers_of(const struct compared *c, char *names, size_t size)
{
	checker_storers(c->ask->c, c->from, c->to, c->ask->since, names, size);
	if (*names)
		return;
	checker_recent(c->ask->c, c->ask->since_recent, names, size);
	if (!*names)
		snprintf(names, size, "nobody in this call");
	else if (strlen(names) + sizeof(NOBODY) <= size) {
		memmove(names + strlen(NOBODY), names, strlen(names) + 1);
		memcpy(names, NOBODY, strlen(NOBODY));
	}
}

/* Nobody has written this request in this call, but the call has written one in the same buffer. */
static bool is_elsewhere(const struct compared *c)
{
	char names[NAMES_BYTES];

	if (c->rule != RULE_request_differs)
		return false;
	checker_storers(c->ask->c, c->from, c->to, c->ask->since, names, sizeof(names));
	return !*names && buffer_place_check(c->ask, c->ask->kind == ASK_SENDS, c->from);
}

void field_differs(struct compared *c, const struct layout *layout, const char *field,
		   const void *at, uint64_t is, uint64_t asked)
{
	const struct field_row *row = layout_field(layout, field);
	const void *pc = storer_of(c, (uintptr_t)at + row->offset, row->size);
	char names[NAMES_BYTES], first[NAMES_BYTES] = "";

	if (c->differs)
		return;
	c->differs = true;
	if (is_elsewhere(c))
		return;
	fillers_of(c, names, sizeof(names));
	if (c->rule == RULE_context_differs) /* sizes are counted when the call begins */
		trail_format_first(first, sizeof(first));
	if (asked == UINT64_MAX)
		checker_report(c->ask->c, &(struct breach){c->rule, c->object, pc, NULL},
			       "%s.%s is not set; filled by %s%s%s", layout->name, field, names,
			       *first ? "; the call began with " : "", first);
	else
		checker_report(c->ask->c, &(struct breach){c->rule, c->object, pc, NULL},
			       "%s.%s is 0x%llx, asked for 0x%llx; filled by %s%s%s", layout->name,
			       field, (unsigned long long)is, (unsigned long long)asked, names,
			       *first ? "; the call began with " : "", first);
}

void header_differs(struct compared *c, const struct layout *layout, const char *field, uint64_t is,
		    uint64_t asked)
{
	char names[NAMES_BYTES];

	if (c->differs)
		return;
	c->differs = true;
	fillers_of(c, names, sizeof(names));
	checker_report(c->ask->c, &(struct breach){c->rule, c->object, NULL, NULL},
		       "%s.%s in the packet's header is 0x%llx, asked for 0x%llx; filled by %s",
		       layout->name, field, (unsigned long long)is, (unsigned long long)asked,
		       names);
}

void bytes_differ(struct compared *c, const char *what, const void *at, size_t bytes)
{
	const void *pc = storer_of(c, (uintptr_t)at, bytes);
	char names[NAMES_BYTES];

	if (c->differs)
		return;
	c->differs = true;
	fillers_of(c, names, sizeof(names));
	checker_report(c->ask->c, &(struct breach){c->rule, c->object, pc, NULL},
		       "%s is not what was asked for; filled by %s", what, names);
}

uint32_t key_after(uint32_t key)
{
	return (key & ~UINT32_C(0xff)) | ((key + 1) & 0xff);
}

/* --- segments --- */

/* A frame has a tag for its GID's VLAN, and for its priority. Source: Linux mlx4 set_datagram_seg */
static void vlan_says(struct compared *c, const struct wqe_datagram *d,
		      const struct drv_ah_attr *ah)
{
	const struct drv_device *dev = c->ask->dev;
	struct drv_gid own;
	bool tagged;

	if (!dev || drv_eth_gid_get(dev, wqe_datagram_get_port(d), ah->sgid_index, &own))
		return;
	tagged = own.vlan != VLAN_NONE || ah->sl;
	SAYS(c, wqe_datagram, d, vlan, tagged);
	if (tagged)
		SAYS(c, wqe_datagram, d, tci,
		     (ah->sl % ETH_PRIORITIES) << VLAN_PRIORITY_SHIFT |
			     (own.vlan == VLAN_NONE ? 0 : own.vlan));
}

static void datagram_says(struct compared *c, const struct wqe_datagram *d,
			  const struct drv_send_wr *wr)
{
	const struct drv_ah_attr *ah = wr->ah;

	const struct made *pd = c->ask->made ? made_find(c->ask->made->pd) : NULL;

	SAYS(c, wqe_datagram, d, dqpn, wr->remote_qpn);
	if (pd && pd->pdn_known)
		SAYS(c, wqe_datagram, d, pd, pd->pdn);
	SAYS(c, wqe_datagram, d, qkey, wr->remote_qkey);
	if (ah->port_num || (c->ask->made && c->ask->made->port))
		SAYS(c, wqe_datagram, d, port, ah->port_num ? ah->port_num : c->ask->made->port);
	SAYS(c, wqe_datagram, d, path_bits, ah->src_path_bits);
	SAYS(c, wqe_datagram, d, static_rate,
	     ah->static_rate ? ah->static_rate + STATIC_RATE_OFFSET : 0);
	if (!ask_on_ethernet(c->ask, wqe_datagram_get_port(d))) {
		SAYS(c, wqe_datagram, d, rlid, ah->dlid);
		SAYS(c, wqe_datagram, d, sl, ah->sl);
	} else {
		/* Source: Linux mlx4 create_iboe_ah */
		SAYS(c, wqe_datagram, d, rlid, gid_is_multicast(ah->dgid) ? LID_MCAST_FIRST : 0);
		vlan_says(c, d, ah);
	}
	SAYS(c, wqe_datagram, d, grh, ah->is_global);
	if (!ah->is_global)
		return;
	SAYS(c, wqe_datagram, d, mgid_index, ah->sgid_index);
	SAYS(c, wqe_datagram, d, hop_limit, ah->hop_limit);
	SAYS(c, wqe_datagram, d, tclass, ah->traffic_class);
	SAYS(c, wqe_datagram, d, flow_label, ah->flow_label);
	if (memcmp(wqe_datagram_dgid_cptr(d), ah->dgid, sizeof(ah->dgid)))
		bytes_differ(c, "wqe_datagram.dgid", wqe_datagram_dgid_cptr(d), sizeof(ah->dgid));
}

/* Returns its length. */
static size_t atomic_says(struct compared *c, const uint8_t *at, const struct drv_send_wr *wr)
{
	const struct wqe_masked_cas *m = (const void *)at;
	const struct wqe_atomic *a = (const void *)at;

	switch (wr->opcode) {
	case IBV_WR_MASKED_ATOMIC_CMP_AND_SWP:
		SAYS(c, wqe_masked_cas, m, swap, wr->swap);
		SAYS(c, wqe_masked_cas, m, compare, wr->compare_add);
		SAYS(c, wqe_masked_cas, m, swap_mask, wr->swap_mask);
		SAYS(c, wqe_masked_cas, m, compare_mask, wr->compare_add_mask);
		return sizeof(*m);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		SAYS(c, wqe_atomic, a, swap_add, wr->swap);
		SAYS(c, wqe_atomic, a, compare, wr->compare_add);
		return sizeof(*a);
	case IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		SAYS(c, wqe_atomic, a, boundary, wr->compare_add_mask);
		break;
	default: /* Source: Linux mlx4 set_atomic_seg: 0 */
		SAYS(c, wqe_atomic, a, boundary, 0);
		break;
	}
	SAYS(c, wqe_atomic, a, swap_add, wr->compare_add);
	return sizeof(*a);
}

static void sge_says(struct compared *c, const struct wqe_data *d, const struct drv_sge *s)
{
	/* a length of 0 means 2 GiB, unless the segment is an inline one */
	SAYS(c, wqe_data, d, is_inline, !s->length);
	SAYS(c, wqe_data, d, byte_count, s->length);
	if (!s->length)
		return;
	SAYS(c, wqe_data, d, lkey, s->lkey);
	SAYS(c, wqe_data, d, addr, s->addr);
}

static size_t sges_say(struct compared *c, const uint8_t *at, const struct drv_send_wr *wr)
{
	const struct wqe_data *d = (const void *)at;

	for (unsigned i = 0; i < wr->num_sge; i++)
		sge_says(c, d++, &wr->sg_list[i]);
	return wr->num_sge * sizeof(*d);
}

/* The bytes of the request in their order. */
struct bytes {
	const struct drv_sge *sge, *end;
	uint32_t at; /* of the first */
};

static bool bytes_match(struct bytes *b, const uint8_t *data, size_t n)
{
	while (n) {
		const size_t left = b->sge < b->end ? b->sge->length - b->at : 0;
		const size_t part = n < left ? n : left;

		if (b->sge == b->end)
			return false;
		if (memcmp(data, (const uint8_t *)(uintptr_t)b->sge->addr + b->at, part))
			return false;
		b->at += (uint32_t)part;
		data += part;
		n -= part;
		if (b->at == b->sge->length) {
			b->sge++;
			b->at = 0;
		}
	}
	return true;
}

/* An inline segment ends at each 64-byte boundary of the WQE. */
static size_t inline_says(struct compared *c, const uint8_t *at, size_t offset,
			  const struct drv_send_wr *wr)
{
	struct bytes b = {wr->sg_list, wr->sg_list + wr->num_sge, 0};
	size_t left = 0, pos = offset;

	for (unsigned i = 0; i < wr->num_sge; i++)
		left += wr->sg_list[i].length;
	while (left) {
		const struct wqe_inline *head = (const void *)(at + pos - offset);
		const size_t room = WQE_CHUNK - pos % WQE_CHUNK - sizeof(*head);
		const size_t n = left < room ? left : room;
		const uint8_t *data = at + pos - offset + sizeof(*head);

		SAYS(c, wqe_inline, head, is_inline, 1);
		SAYS(c, wqe_inline, head, byte_count, n);
		if (!bytes_match(&b, data, n))
			bytes_differ(c, "inline data", data, n);
		pos += sizeof(*head) + n;
		left -= n;
	}
	return ((pos + WQE_UNIT - 1) & ~(size_t)(WQE_UNIT - 1)) - offset;
}

static size_t bind_says(struct compared *c, const struct wqe_bind *b, const struct drv_send_wr *wr)
{
	struct made *window = made_find(wr->bind_mw);

	SAYS(c, wqe_bind, b, remote_atomic, !!(wr->bind_access & IBV_ACCESS_REMOTE_ATOMIC));
	SAYS(c, wqe_bind, b, remote_write, !!(wr->bind_access & IBV_ACCESS_REMOTE_WRITE));
	SAYS(c, wqe_bind, b, remote_read, !!(wr->bind_access & IBV_ACCESS_REMOTE_READ));
	SAYS(c, wqe_bind, b, zero_based, !!(wr->bind_access & IBV_ACCESS_ZERO_BASED));
	SAYS(c, wqe_bind, b, lkey, wr->bind_mr ? drv_mr_lkey(wr->bind_mr) : 0);
	SAYS(c, wqe_bind, b, addr, wr->bind_addr);
	SAYS(c, wqe_bind, b, length, wr->bind_length);
	if (!window)
		return sizeof(*b);
	window->key = wr->bind_rkey ? wr->bind_rkey : key_after(window->key);
	SAYS(c, wqe_bind, b, new_rkey, window->key);
	SAYS(c, wqe_bind, b, type2, window->window_type == IBV_MW_TYPE_2);
	return sizeof(*b);
}

static size_t fast_reg_says(struct compared *c, const struct wqe_fast_reg *f,
			    const struct drv_send_wr *wr)
{
	struct made *region = made_find(wr->reg_mr);

	SAYS(c, wqe_fast_reg, f, remote_atomic, !!(wr->reg_access & IBV_ACCESS_REMOTE_ATOMIC));
	SAYS(c, wqe_fast_reg, f, remote_write, !!(wr->reg_access & IBV_ACCESS_REMOTE_WRITE));
	SAYS(c, wqe_fast_reg, f, remote_read, !!(wr->reg_access & IBV_ACCESS_REMOTE_READ));
	SAYS(c, wqe_fast_reg, f, local_write, !!(wr->reg_access & IBV_ACCESS_LOCAL_WRITE));
	SAYS(c, wqe_fast_reg, f, local_read, 1);
	SAYS(c, wqe_fast_reg, f, bind_enable, !!(wr->reg_access & IBV_ACCESS_MW_BIND));
	SAYS(c, wqe_fast_reg, f, start, wr->reg_iova);
	SAYS(c, wqe_fast_reg, f, length, wr->reg_length);
	SAYS(c, wqe_fast_reg, f, log_page_size, wr->reg_log_page ? wr->reg_log_page : LOG_PAGE);
	if (wr->reg_page_list)
		SAYS(c, wqe_fast_reg, f, page_list, wr->reg_page_list);
	if (region)
		region->key = wr->reg_key ? wr->reg_key : key_after(region->key);
	if (region || wr->reg_key)
		SAYS(c, wqe_fast_reg, f, key, region ? region->key : wr->reg_key);
	return sizeof(*f);
}

/* --- the whole WQE --- */

/* Source: libibverbs' opcodes and those of mlx4, as in Linux mlx4_ib_opcode. */
static const struct {
	enum ibv_wr_opcode asked;
	enum wqe_opcode is;
} opcodes[] = {
	{IBV_WR_RDMA_WRITE, WQE_RDMA_WRITE},
	{IBV_WR_RDMA_WRITE_WITH_IMM, WQE_RDMA_WRITE_IMM},
	{IBV_WR_SEND, WQE_SEND},
	{IBV_WR_SEND_WITH_IMM, WQE_SEND_IMM},
	{IBV_WR_RDMA_READ, WQE_RDMA_READ},
	{IBV_WR_ATOMIC_CMP_AND_SWP, WQE_ATOMIC_CS},
	{IBV_WR_ATOMIC_FETCH_AND_ADD, WQE_ATOMIC_FA},
	{IBV_WR_LOCAL_INV, WQE_LOCAL_INV},
	{IBV_WR_BIND_MW, WQE_BIND_MW},
	{IBV_WR_SEND_WITH_INV, WQE_SEND_INV},
	{IBV_WR_REG_MR, WQE_FAST_REG},
	{IBV_WR_MASKED_ATOMIC_CMP_AND_SWP, WQE_MASKED_ATOMIC_CS},
	{IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD, WQE_MASKED_ATOMIC_FA},
	{IBV_WR_NOP, WQE_NOP},
};

static bool opcode_of(enum ibv_wr_opcode asked, uint32_t *opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		if (opcodes[i].asked == asked) {
			*opcode = opcodes[i].is;
			return true;
		}
	}
	return false;
}

static size_t segments_say(struct compared *c, const uint8_t *wqe, const struct drv_send_wr *wr,
			   uint32_t props)
{
	const struct made *qp = c->ask->made;
	size_t at = sizeof(struct wqe_ctrl);

	if (qp && qp->init.type == IBV_QPT_UD && props & WQE_P_DATAGRAM) {
		datagram_says(c, (const void *)(wqe + at), wr);
		at += sizeof(struct wqe_datagram);
	}
	if (props & WQE_P_RADDR) {
		const struct wqe_raddr *r = (const void *)(wqe + at);

		SAYS(c, wqe_raddr, r, va, wr->remote_addr);
		SAYS(c, wqe_raddr, r, rkey, wr->rkey);
		/* Source: Linux mlx4 set_raddr_seg */
		if (be32_load(r->b + RADDR_RESERVED))
			bytes_differ(c, "wqe_raddr, its reserved word,", r->b + RADDR_RESERVED,
				     sizeof(uint32_t));
		at += sizeof(*r);
	}
	if (props & (WQE_P_ATOMIC | WQE_P_ATOMIC32))
		at += atomic_says(c, wqe + at, wr);
	if (props & WQE_P_DATA)
		at += wr->send_flags & IBV_SEND_INLINE ? inline_says(c, wqe + at, at, wr)
						       : sges_say(c, wqe + at, wr);
	if (wr->opcode == IBV_WR_BIND_MW)
		at += bind_says(c, (const void *)(wqe + at), wr);
	if (wr->opcode == IBV_WR_REG_MR)
		at += fast_reg_says(c, (const void *)(wqe + at), wr);
	if (wr->opcode == IBV_WR_LOCAL_INV) {
		const struct wqe_local_inv *l = (const void *)(wqe + at);

		SAYS(c, wqe_local_inv, l, key, wr->invalidate_rkey);
		at += sizeof(*l);
	}
	return at;
}

static void send_says(struct compared *c, const uint8_t *wqe, const struct drv_send_wr *wr)
{
	const struct wqe_ctrl *ctrl = (const void *)wqe;
	const struct made *qp = c->ask->made;
	const bool all = qp && qp->init.sq_sig_all;
	uint32_t opcode, props;

	if (!opcode_of(wr->opcode, &opcode))
		return;
	SAYS(c, wqe_ctrl, ctrl, opcode, opcode);
	props = wqe_op_find(opcode)->props;
	SAYS(c, wqe_ctrl, ctrl, ds, segments_say(c, wqe, wr, props) / WQE_UNIT);
	SAYS(c, wqe_ctrl, ctrl, fence, !!(wr->send_flags & IBV_SEND_FENCE));
	SAYS(c, wqe_ctrl, ctrl, solicited, !!(wr->send_flags & IBV_SEND_SOLICITED));
	if (qp)
		SAYS(c, wqe_ctrl, ctrl, cqe,
		     all || wr->send_flags & IBV_SEND_SIGNALED ? WQE_CQE_ALWAYS : 0);
	/* Source: Linux mlx4_ib_post_send, MLX4_WQE_CTRL_STRONG_ORDER */
	if (props & WQE_P_MPT)
		SAYS(c, wqe_ctrl, ctrl, strong_order, 1);
	if (qp && qp->init.type == IBV_QPT_XRC_SEND)
		SAYS(c, wqe_ctrl, ctrl, xrc_srqn, wr->remote_srqn);
	if (props & WQE_P_IMM)
		SAYS(c, wqe_ctrl, ctrl, imm, wr->imm_data);
	if (props & WQE_P_INV)
		SAYS(c, wqe_ctrl, ctrl, imm, wr->invalidate_rkey);
}

bool asked_send_given(struct checker *c, uint32_t qpn, uintptr_t wqe, uint64_t *wr_id)
{
	struct ask *a = ask_now(c);
	const struct drv_send_wr *wr;
	struct compared compared;

	if (!a || a->kind != ASK_SENDS || !ask_is_of_qp(a, qpn))
		return false;
	wr = a->sends.wr;
	if (!wr && !a->sends.special)
		return false;
	compared = (struct compared){
		.ask = a,
		.rule = RULE_request_differs,
		.object = {GUEST_QP, qpn},
		.from = wqe,
		.to = wqe + (size_t)wqe_ctrl_get_ds((const struct wqe_ctrl *)wqe) * WQE_UNIT};
	a->sends.given++;
	if (a->sends.special) {
		a->sends.says(&compared, (const uint8_t *)wqe, a->sends.special);
		*wr_id = a->sends.special->wr_id;
		return true;
	}
	send_says(&compared, (const uint8_t *)wqe, wr);
	*wr_id = wr->wr_id;
	a->sends.wr = wr->next;
	return true;
}

/* --- receives --- */

bool asked_receive_given(struct checker *c, bool srq, uint32_t number, uintptr_t wqe, size_t bytes,
			 uint64_t *wr_id)
{
	struct ask *a = ask_now(c);
	const struct wqe_data *d = (const void *)wqe;
	const struct drv_recv_wr *wr;
	struct compared compared;

	if (!a || a->kind != (srq ? ASK_SRQ_RECEIVES : ASK_RECEIVES) ||
	    !(srq ? a->number == number : ask_is_of_qp(a, number)))
		return false;
	a->receives.given++;
	wr = a->receives.wr;
	if (!wr) /* the count at the end of the call will tell */
		return false;
	compared = (struct compared){.ask = a,
				     .rule = RULE_request_differs,
				     .object = {srq ? GUEST_SRQ : GUEST_QP, number},
				     .from = wqe,
				     .to = wqe + bytes};
	if (wr->num_sge > bytes / sizeof(*d))
		ask_report(
			a, RULE_request_differs, compared.object,
			"a receive with %u entries was taken, and its slot has room for %zu: the "
			"rest lies in the next slot",
			wr->num_sge, bytes / sizeof(*d));
	for (unsigned i = 0; i < wr->num_sge && i < bytes / sizeof(*d); i++, d++) {
		SAYS(&compared, wqe_data, d, byte_count, wr->sg_list[i].length);
		SAYS(&compared, wqe_data, d, lkey, wr->sg_list[i].lkey);
		SAYS(&compared, wqe_data, d, addr, wr->sg_list[i].addr);
	}
	if ((uintptr_t)d + sizeof(*d) <= wqe + bytes) {
		SAYS(&compared, wqe_data, d, byte_count, 0);
		SAYS(&compared, wqe_data, d, lkey, LKEY_INVALID);
	}
	*wr_id = wr->wr_id;
	a->receives.wr = wr->next;
	return true;
}
