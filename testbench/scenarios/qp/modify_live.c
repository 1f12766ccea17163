/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair is modified while packets for it arrive, by a command that leaves it able to accept
 * them. The packets wait until firmware has changed the context; none is lost, repeated, or delayed
 * for longer than the command takes. The moment of the command is swept over a stream of WRITEs,
 * SENDs, READs and atomics. The modified queue pair is first the responder, then the requester; the
 * services are RC, RC with an SRQ shared with others, and XRC.
 */
/* behaviours: IBA-10.3.1-RTS IBA-10.3.1-SQD */
#include "testbench/services.h"

enum { MTU = 256, LEN = 3 * MTU, MESSAGES = 120, MOMENTS = 5, STEP_NS = 2430, BESIDE = 64 };

struct pair {
	struct drv_qp *x, *y; /* x: the requester, at a; y: at b */
	struct drv_srq *srq;  /* the SRQ of y */
	bool xrc;
};

/* Expects that nothing was lost, seen out of order, or sent twice. */
static void expect_no_loss(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_end *ends[] = {a, b};

	for (unsigned i = 0; i < TB_ENDS; i++) {
		expect_stat(ends[i], retry, ack_timeouts, 0);
		expect_stat(ends[i], retry, sequence_naks, 0);
		expect_stat(ends[i], retry, rnr_waits, 0);
		expect_stat(ends[i], responder, dropped, 0);
		expect_stat(ends[i], responder, duplicates, 0);
		expect_stat(ends[i], responder, out_of_sequence, 0);
	}
}

static void modify(struct tb *tb, struct drv_qp *qp)
{
	const struct drv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
					 .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
							    IBV_ACCESS_REMOTE_READ |
							    IBV_ACCESS_REMOTE_ATOMIC};

	must(drv_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS));
}

/* Runs a stream of requests and returns the time until all are completed. `modified` (NULL: none)
 * is modified at the given time after the start. */
static uint64_t stream(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p,
		       enum ibv_wr_opcode opcode, struct drv_qp *modified, uint64_t at_ps,
		       uint64_t *modify_ps)
{
	const bool fetches = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint64_t begin_ps;

	for (unsigned i = 0; opcode == IBV_WR_SEND && i < MESSAGES; i++) {
		if (p->srq)
			recv_srq(b, p->srq, .wr_id = i, .len = LEN);
		else
			recv_on(b, p->y, .wr_id = i, .len = LEN);
	}
	begin_ps = tb_now(tb);
	send_on(a, p->x, .opcode = opcode, .len = fetches ? 8 : LEN, .repeat = MESSAGES,
		.remote_addr = fetches ? (int64_t)tb_va(b, b->dst + LEN) : TB_ANY, .compare = 1,
		.srqn = p->xrc ? drv_srq_num(p->srq) : 0);
	pass_time(at_ps);
	*modify_ps = tb_now(tb);
	if (modified)
		modify(tb, modified);
	*modify_ps = tb_now(tb) - *modify_ps;
	for (unsigned i = 0; i < MESSAGES && still_right(); i++)
		expect_cqe(a, .wr_id = i, .on = p->x);
	for (unsigned i = 0; opcode == IBV_WR_SEND && i < MESSAGES && still_right(); i++)
		expect_cqe(b, .wr_id = i, .on = p->y, .byte_len = LEN);
	return tb_now(tb) - begin_ps;
}

static void sweep(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p,
		  enum ibv_wr_opcode opcode)
{
	struct drv_qp *const modified[] = {p->y, p->x};
	uint64_t plain_ps, modify_ps;

	stream(tb, a, b, p, opcode, NULL, 0, &modify_ps); /* loads the caches */
	plain_ps = stream(tb, a, b, p, opcode, NULL, 0, &modify_ps);
	for (unsigned side = 0; side < 2; side++) {
		for (unsigned i = 0; i < MOMENTS && still_right(); i++) {
			uint64_t took_ps = stream(tb, a, b, p, opcode, modified[side],
						  i * CFG_NS(STEP_NS), &modify_ps);

			expect_that(took_ps, <=, plain_ps + modify_ps);
		}
	}
	expect_no_loss(tb, a, b);
}

static void sweep_all(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p)
{
	const uint64_t sums = 8 * MESSAGES * (2 + 2 * MOMENTS);

	sweep(tb, a, b, p, IBV_WR_RDMA_WRITE);
	sweep(tb, a, b, p, IBV_WR_SEND);
	expect_data(b, .len = LEN);
	sweep(tb, a, b, p, IBV_WR_RDMA_READ);
	expect_data(a, .len = LEN);
	set_word(b, LEN, 0);
	sweep(tb, a, b, p, IBV_WR_ATOMIC_FETCH_AND_ADD);
	expect_word(b, LEN, sums / 8);
	ignore_data(a, .len = LEN);
}

SCENARIO(modify_live, "a queue pair is modified under traffic: no packet is lost or late",
	 .mtu = IBV_MTU_256, .any_packets = true)
{
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct drv_srq *shared = new_srq(b), *xrc_srq = new_srq(b, .xrcd = xrcd);
	struct pair plain = {.x = new_qp(a), .y = new_qp(b)};
	struct pair of_srq = {.x = new_qp(a), .y = new_qp(b, .srq = shared), .srq = shared};
	struct pair xrc = {.x = new_qp(a, .type = IBV_QPT_XRC_SEND),
			   .y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd),
			   .srq = xrc_srq,
			   .xrc = true};
	struct drv_qp *u = new_qp(a), *v = new_qp(b, .srq = shared);

	connect_two(plain.x, plain.y);
	connect_two(of_srq.x, of_srq.y);
	connect_two(xrc.x, xrc.y);
	connect_two(u, v);
	if (!still_right())
		return;
	phase("RC");
	sweep_all(tb, a, b, &plain);
	phase("RC, receives of an SRQ");
	sweep_all(tb, a, b, &of_srq);
	phase("XRC");
	sweep_all(tb, a, b, &xrc);

	phase("another one of the SRQ is not held up");
	for (unsigned i = 0; i < 2 * MESSAGES; i++)
		recv_srq(b, shared, .wr_id = 100, .len = BESIDE);
	send_on(a, of_srq.x, .wr_id = 1, .len = BESIDE, .repeat = MESSAGES);
	send_on(a, u, .wr_id = 1, .len = BESIDE, .repeat = MESSAGES);
	modify(tb, of_srq.y);
	expect_cqes(a, 2 * MESSAGES);
	expect_cqes(b, 2 * MESSAGES);
	expect_no_loss(tb, a, b);

	destroy_qp(v);
	destroy_qp(u);
	destroy_qp(xrc.y);
	destroy_qp(xrc.x);
	destroy_qp(of_srq.y);
	destroy_qp(of_srq.x);
	destroy_qp(plain.y);
	destroy_qp(plain.x);
	destroy_srq(xrc_srq);
	destroy_srq(shared);
	destroy_xrcd(xrcd);
}
