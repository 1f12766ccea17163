/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiver of a stream goes through every command that leaves it able to accept packets: RTR to
 * RTS, RTS to SQD, SQD to SQD, SQD to RTS, RTS to RTS; and from SQE, which a failed send of its own
 * caused, back to RTS. With RC, UC and XRC every message arrives, and none is sent twice.
 */
/* behaviours: IBA-10.3.1-RTR IBA-10.3.1-SQD ST-5 */
#include "testbench/services.h"

enum { MTU = 256, LEN = 3 * MTU, MESSAGES = 100, MOMENTS = 4, STEP_NS = 3170, PSN = 77 };

struct pair {
	struct drv_qp *x, *y;
	struct drv_srq *xrc; /* of an XRC target, else NULL */
	bool unreliable;
};

static void connect_half(struct tb *tb, struct drv_qp *qp, const struct tb_end *peer,
			 const struct drv_qp *other, bool to_rts)
{
	struct drv_rc_path path = path_to(peer, drv_qp_num(other));

	path.path_mtu = IBV_MTU_256;
	path.sq_psn = path.rq_psn = PSN;
	move_qp(qp, IBV_QPS_RESET);
	must(drv_qp_to_init(qp, &path));
	must(drv_qp_to_rtr(qp, &path));
	if (to_rts)
		must(drv_qp_to_rts(qp, &path));
}

static void begin(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p)
{
	for (unsigned i = 0; i < MESSAGES; i++) {
		if (p->xrc)
			recv_srq(b, p->xrc, .wr_id = i, .len = LEN);
		else
			recv_on(b, p->y, .wr_id = i, .len = LEN);
	}
	send_on(a, p->x, .len = LEN, .repeat = MESSAGES, .srqn = p->xrc ? drv_srq_num(p->xrc) : 0);
}

static void end(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p)
{
	for (unsigned i = 0; i < MESSAGES && still_right(); i++)
		expect_cqe(b, .wr_id = i, .on = p->y, .byte_len = LEN);
	for (unsigned i = 0; i < MESSAGES && still_right(); i++)
		expect_cqe(a, .wr_id = i, .on = p->x);
}

static void through(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p,
		    uint64_t after_ps)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_SQD, IBV_QPS_SQD, IBV_QPS_RTS,
						   IBV_QPS_RTS};
	struct drv_rc_path path = path_to(a, drv_qp_num(p->x));
	struct drv_qp_attr attr = {0};

	path.sq_psn = PSN;
	connect_half(tb, p->x, b, p->y, true);
	connect_half(tb, p->y, a, p->x, false);
	ignore_events(b); /* the event "communication established" */
	begin(tb, a, b, p);
	pass_time(after_ps);
	must(drv_qp_to_rts(p->y, &path));
	end(tb, a, b, p);
	for (unsigned i = p->unreliable ? 3 : 0; i < 4 && still_right(); i++) {
		begin(tb, a, b, p);
		pass_time(after_ps);
		move_qp(p->y, states[i]);
		end(tb, a, b, p);
	}
	if (!p->unreliable)
		return;
	send_on(b, p->y, .wr_id = MESSAGES, .len = 8, .lkey = drv_mr_lkey(b->mr) ^ 1);
	expect_cqe(b, .wr_id = MESSAGES, .status = IBV_WC_LOC_PROT_ERR);
	must(drv_qp_query(p->y, &attr)); /* the query tells the driver the device's state */
	expect_equal(attr.qp_state, IBV_QPS_SQE);
	begin(tb, a, b, p);
	pass_time(after_ps);
	move_qp(p->y, IBV_QPS_RTS);
	end(tb, a, b, p);
}

SCENARIO(modify_live_states, "a receiver changes its state under traffic: every message arrives",
	 .any_packets = true, .queue = MESSAGES + 1)
{
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct drv_srq *srq = new_srq(b, .xrcd = xrcd);
	const struct pair pairs[] = {
		{.x = new_qp(a), .y = new_qp(b)},
		{.x = new_qp(a, .type = IBV_QPT_UC),
		 .y = new_qp(b, .type = IBV_QPT_UC),
		 .unreliable = true},
		{.x = new_qp(a, .type = IBV_QPT_XRC_SEND),
		 .y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd),
		 .xrc = srq},
	};

	for (unsigned i = 0; i < 3; i++) {
		phase(i == 0 ? "RC" : i == 1 ? "UC" : "XRC");
		for (unsigned k = 0; k < MOMENTS && still_right(); k++)
			through(tb, a, b, &pairs[i], k * CFG_NS(STEP_NS));
	}
	expect_data(b, .len = LEN);
	expect_stat(a, retry, ack_timeouts, 0);
	expect_stat(a, retry, sequence_naks, 0);
	expect_stat(b, responder, dropped, 0);
	expect_stat(b, responder, duplicates, 0);
	for (unsigned i = 3; i-- > 0;) {
		destroy_qp(pairs[i].y);
		destroy_qp(pairs[i].x);
	}
	destroy_srq(srq);
	destroy_xrcd(xrcd);
}
