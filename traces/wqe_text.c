/* SPDX-License-Identifier: Apache-2.0 */
/* Work queue entries as text, segment by segment. */
#include "traces/decode.h"

struct cursor {
	const uint8_t *p;
	uint32_t left;
};

/* Returns the next n bytes; NULL: the WQE ends before. */
static const uint8_t *take(struct cursor *c, uint32_t n)
{
	const uint8_t *p = c->p;

	if (c->left < n) {
		c->left = 0;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return p;
}

static void segment(struct trace_text *t, struct cursor *c, const char *name,
		    const struct layout *l)
{
	const uint8_t *p = take(c, l->size);

	if (!p)
		return;
	trace_text_add(t, "; %s", name);
	decode_fields(t, l, p, 0, l->size);
}

static void inline_segment(struct trace_text *t, struct cursor *c)
{
	uint32_t n = wqe_inline_get_byte_count((const struct wqe_inline *)(const void *)c->p);
	uint32_t whole =
		(n + (uint32_t)sizeof(struct wqe_inline) + WQE_UNIT - 1) / WQE_UNIT * WQE_UNIT;

	trace_text_add(t, "; inline %u bytes ", n);
	if (whole > c->left)
		whole = c->left;
	if (n + sizeof(struct wqe_inline) > whole)
		n = whole - (uint32_t)sizeof(struct wqe_inline);
	trace_text_hex(t, c->p + sizeof(struct wqe_inline), n < 32 ? n : 32);
	if (n > 32)
		trace_text_add(t, "...");
	take(c, whole);
}

static void data_segments(struct trace_text *t, struct cursor *c)
{
	while (c->left >= sizeof(struct wqe_inline))
		if (wqe_inline_get_is_inline((const struct wqe_inline *)(const void *)c->p))
			inline_segment(t, c);
		else
			segment(t, c, "data", &layout_wqe_data);
}

static void local_segments(struct trace_text *t, struct cursor *c, uint32_t opcode)
{
	switch (opcode) {
	case WQE_BIND_MW:
		segment(t, c, "bind", &layout_wqe_bind);
		break;
	case WQE_FAST_REG:
		segment(t, c, "fast reg", &layout_wqe_fast_reg);
		break;
	case WQE_LOCAL_INV:
		segment(t, c, "local inv", &layout_wqe_local_inv);
		break;
	default:
		break;
	}
}

static void send_wqe(struct trace_text *t, const struct trace_record *r, struct cursor *c)
{
	bool mlx = r->args[1] == QP_ST_MLX;
	const struct wqe_ctrl *ctrl = (const struct wqe_ctrl *)(const void *)take(c, sizeof(*ctrl));
	const struct wqe_op *op;
	uint32_t opcode, ds;

	if (!ctrl)
		return;
	opcode = wqe_ctrl_get_opcode(ctrl);
	op = wqe_op_find(opcode);
	trace_text_add(t, " ");
	decode_code(t, op->name, "opcode ", opcode);
	decode_fields(t, mlx ? &layout_wqe_mlx_ctrl : &layout_wqe_ctrl, ctrl->b, 4, 16);
	ds = wqe_ctrl_get_ds(ctrl) * WQE_UNIT;
	if (ds < sizeof(*ctrl))
		return;
	if (c->left > ds - sizeof(*ctrl))
		c->left = ds - (uint32_t)sizeof(*ctrl);
	if (op->props & WQE_P_LOCAL)
		local_segments(t, c, opcode);
	if (op->props & WQE_P_DATAGRAM && r->args[1] == QP_ST_UD)
		segment(t, c, "datagram", &layout_wqe_datagram);
	if (op->props & WQE_P_RADDR)
		segment(t, c, "raddr", &layout_wqe_raddr);
	if (op->props & WQE_P_ATOMIC)
		segment(t, c, "atomic", &layout_wqe_atomic);
	if (op->props & WQE_P_ATOMIC32)
		segment(t, c, "masked cas", &layout_wqe_masked_cas);
	if (op->props & WQE_P_DATA)
		data_segments(t, c);
}

void decode_wqe(struct trace_text *t, const struct trace_record *r)
{
	struct cursor c = {r->bytes, r->bytes ? r->len : 0};

	trace_text_add(t, " qpn 0x%x index %u", r->qpn, r->corr);
	if (r->point == TP_WQE_SEND) {
		send_wqe(t, r, &c);
		return;
	}
	if (r->args[0]) {
		trace_text_add(t, " srqn 0x%x", (uint32_t)r->args[0]);
		segment(t, &c, "next", &layout_srq_next);
	}
	/* the list ends at the queue's stride, or with a segment of no bytes that has the invalid
	 * key */
	while (c.left >= sizeof(struct wqe_data)) {
		const struct wqe_data *d = (const struct wqe_data *)(const void *)c.p;

		if (!wqe_data_get_byte_count(d) && wqe_data_get_lkey(d) == LKEY_INVALID)
			break;
		segment(t, &c, "data", &layout_wqe_data);
	}
}
