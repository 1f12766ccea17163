/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receive makes of a datagram. All of the GRH stands before the data, also before none, and wherever the
 * entries of the receive lie; PayLen counts from the BTH to the ICRC. A datagram that is too long by a byte leaves
 * its receive to the next one, and so does an empty one where not even a GRH has room. A receive whose key is
 * wrong fails, and its queue pair with it. A queue pair takes datagrams in RTR and in SQE, and none in INIT. A
 * datagram may ask for an event.
 */
/* behaviours: UD-1 ST-1 ST-5 BTH-5 IBA-10.8.2-scatter */
#include "testbench/services.h"

enum { QKEY = 0x1234, GRH_AREA = 40, PORT = 1, FLOW = 0x54321, HOPS = 9 };
enum { TCLASS = 0x5a, TOO_LONG = 4097, SETTLE_US = 20, PIECES = 3 };

struct sides {
	struct drv_qp *x, *y;
	struct drv_ah_attr ah, global;
};

#define SEND(...)                                                                                  \
	send_on(a, s->x, .wr_id = 9, .remote_qpn = drv_qp_num(s->y), .qkey = QKEY, __VA_ARGS__);   \
	expect_cqe(a, .wr_id = 9, .on = s->x)

/* The GRH before a datagram of len bytes, with its headers behind the GRH. */
static void grh_is(struct tb *tb, struct tb_end *a, const struct sides *s, const uint8_t *stored,
		   unsigned behind)
{
	uint8_t want[GRH_AREA] = {0};
	struct grh *grh = (struct grh *)want;

	grh_set_ip_ver(grh, 6);
	grh_set_tclass(grh, TCLASS);
	grh_set_flow_label(grh, FLOW);
	grh_set_pay_len(grh, behind);
	grh_set_next_hdr(grh, 0x1b);
	grh_set_hop_limit(grh, HOPS);
	must(drv_query_gid(a->dev, PORT, 0, grh_sgid_ptr(grh)));
	memcpy(grh_dgid_ptr(grh), s->global.dgid, DRV_GID_BYTES);
	for (unsigned i = 0; i < GRH_AREA; i++)
		expect_equal(stored[i], want[i]);
}

static void grhs(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct sides *s)
{
	static const unsigned lengths[] = {0, 1, 2, 3, 64};

	for_each_row(i, lengths) {
		const unsigned len = lengths[i], padded = (len + 3) / 4 * 4;

		name_row("a GRH before %u bytes", len);
		recv_on(b, s->y, .wr_id = 1, .len = GRH_AREA + len);
		SEND(.len = len, .ah = &s->global);
		expect_cqe(b, .wr_id = 1, .byte_len = GRH_AREA + len, .flags = IBV_WC_GRH);
		grh_is(tb, a, s, b->dst, 12 + 8 + padded + 4);
		/* in pieces that end within the GRH and within the data */
		recv_on(b, s->y, .wr_id = 2, SGES({2000, 7}, {1000, GRH_AREA - 6}, {3000, len}));
		SEND(.len = len, .with_imm = true, .imm = 5, .ah = &s->global);
		expect_cqe(b, .wr_id = 2, .byte_len = GRH_AREA + len, .imm = 5);
		memcpy(b->dst, b->dst + 2000, 7);
		memcpy(b->dst + 7, b->dst + 1000, GRH_AREA - 7);
		grh_is(tb, a, s, b->dst, 12 + 8 + 4 + padded + 4);
		expect_data(b, .dst = 1000 + GRH_AREA - 7, .len = len ? 1 : 0);
		expect_data(b, .dst = 3000, .src = 1, .len = len ? len - 1 : 0);
		ignore_data(b, .len = GRH_AREA);
		expect_data(b, .dst = GRH_AREA, .len = len);
		ignore_data(b, .dst = 2000, .len = 7);
		ignore_data(b, .dst = 1000, .len = GRH_AREA - 7);
	}
}

static void too_long(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct sides *s)
{
	phase("too long");
	recv_on(b, s->y, .wr_id = 1, .dst = 4000, .len = GRH_AREA + 16);
	recv_on(b, s->y, .wr_id = 2, .dst = 4100, .len = GRH_AREA);
	SEND(.len = 17, .ah = &s->ah);
	SEND(.len = 17, .ah = &s->global);
	expect_no_more(CFG_US(SETTLE_US));
	SEND(.len = 16, .src = 100, .ah = &s->ah);
	expect_cqe(b, .wr_id = 1, .byte_len = GRH_AREA + 16, .flags = 0);
	expect_data(b, .dst = 4000 + GRH_AREA, .src = 100, .len = 16);
	SEND(.len = 1, .ah = &s->ah);
	expect_no_more(CFG_US(SETTLE_US));
	SEND(.len = 0, .ah = &s->ah);
	expect_cqe(b, .wr_id = 2, .byte_len = GRH_AREA, .flags = 0);
	recv_on(b, s->y, .wr_id = 3, .dst = 4000, .len = GRH_AREA - 1);
	SEND(.len = 0, .ah = &s->ah);
	SEND(.len = 0, .ah = &s->global);
	expect_no_more(CFG_US(SETTLE_US));
}

static void state_is(struct tb *tb, struct drv_qp *qp, enum ibv_qp_state state)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(qp, &attr));
	expect_equal(attr.qp_state, state);
}

static void wrong_key(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct sides *s)
{
	phase("a wrong key");
	move_qp(s->y, IBV_QPS_RESET);
	start_ud(s->y, QKEY, 1);
	recv_on(b, s->y, .wr_id = 1, .dst = 4000, .len = GRH_AREA + 16,
		.lkey = drv_mr_lkey(b->mr) + 1);
	recv_on(b, s->y, .wr_id = 2, .dst = 4000, .len = GRH_AREA + 16);
	SEND(.len = 16, .ah = &s->ah);
	expect_cqe(b, .wr_id = 1, .on = s->y, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(b, .wr_id = 2, .on = s->y, .status = IBV_WC_WR_FLUSH_ERR);
	state_is(tb, s->y, IBV_QPS_ERR);
	SEND(.len = 16, .ah = &s->ah);
	expect_no_more(CFG_US(SETTLE_US));
}

/* A datagram comes in that state. */
static void comes(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct sides *s,
		  enum ibv_qp_state state, unsigned src)
{
	SEND(.len = 16, .src = src, .ah = &s->ah);
	expect_cqe(b, .wr_id = 1, .byte_len = GRH_AREA + 16);
	expect_data(b, .dst = 4000 + GRH_AREA, .src = src, .len = 16);
	state_is(tb, s->y, state);
	recv_on(b, s->y, .wr_id = 1, .dst = 4000, .len = GRH_AREA + 16);
}

static void states(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct sides *s)
{
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = PORT, .qkey = QKEY};

	phase("states");
	move_qp(s->y, IBV_QPS_RESET);
	must(drv_qp_modify(s->y, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	recv_on(b, s->y, .wr_id = 1, .dst = 4000, .len = GRH_AREA + 16);
	SEND(.len = 16, .ah = &s->ah);
	expect_no_more(CFG_US(SETTLE_US));
	attr.qp_state = IBV_QPS_RTR;
	must(drv_qp_modify(s->y, &attr, IBV_QP_STATE));
	comes(tb, a, b, s, IBV_QPS_RTR, 10);
	attr.qp_state = IBV_QPS_RTS;
	must(drv_qp_modify(s->y, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	comes(tb, a, b, s, IBV_QPS_RTS, 20);
	send_on(b, s->y, .wr_id = 5, .len = TOO_LONG, .ah = &s->ah, .remote_qpn = 1, .qkey = QKEY);
	expect_cqe(b, .wr_id = 5, .status = IBV_WC_LOC_LEN_ERR);
	comes(tb, a, b, s, IBV_QPS_SQE, 30);
	attr = (struct drv_qp_attr){.qp_state = IBV_QPS_RTS, .qkey = QKEY + 1};
	must(drv_qp_modify(s->y, &attr, IBV_QP_STATE | IBV_QP_QKEY));
	SEND(.len = 16, .ah = &s->ah); /* its Q_Key is another one now */
	expect_no_more(CFG_US(SETTLE_US));
}

static void events(struct tb *tb, struct tb_end *a, struct tb_end *b, struct sides *s)
{
	struct drv_cq *cq = new_cq(b, 15, 0);

	phase("events");
	destroy_qp(s->y);
	s->y = new_qp(b, .type = IBV_QPT_UD, .recv_cq = cq);
	start_ud(s->y, QKEY, 1);
	if (!still_right())
		return;
	must(drv_cq_arm(cq, true));
	for (unsigned solicited = 0; solicited < 2; solicited++) {
		recv_on(b, s->y, .wr_id = 1, .dst = 4000, .len = GRH_AREA + 16);
		SEND(.len = 16, .ah = &s->ah, .solicited = solicited);
		pass_time(CFG_US(SETTLE_US));
		expect_equal(drv_cq_events(cq), solicited);
		expect_cqe(b, .cq = cq, .wr_id = 1);
	}
	expect_data(b, .dst = 4000 + GRH_AREA, .len = 16);
	destroy_qp(s->y);
	destroy_cq(cq);
}

SCENARIO(ud_receives, "what a receive makes of a datagram: its GRH, its length, keys, states",
	 .any_packets = true)
{
	struct sides s = {.x = new_qp(a, .type = IBV_QPT_UD),
			  .y = new_qp(b, .type = IBV_QPT_UD, .cap = {.max_recv_sge = PIECES}),
			  .ah = ah_to(b)};

	start_ud(s.x, QKEY, 1);
	start_ud(s.y, QKEY, 1);
	s.global = s.ah;
	s.global.is_global = true;
	s.global.traffic_class = TCLASS;
	s.global.flow_label = FLOW;
	s.global.hop_limit = HOPS;
	must(drv_query_gid(b->dev, PORT, 0, s.global.dgid));
	if (!still_right())
		return;
	grhs(tb, a, b, &s);
	too_long(tb, a, b, &s);
	wrong_key(tb, a, b, &s);
	states(tb, a, b, &s);
	events(tb, a, b, &s);
	destroy_qp(s.x);
}
