/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair ends in the middle of a message, over and over. In ERR the receive that the message has begun
 * completes before those behind it, each of them once, and what is posted then, too; nothing else of the message
 * comes. With an SRQ only the begun receive completes, and the event of the last one follows; the others serve
 * another queue pair. After a reset in the middle of a message nothing completes. In its next life the queue pair
 * takes a message from its first packet on, tells of the first one that comes, and of its last receive again.
 */
/* behaviours: IBA-10.3.1-ERR IBA-10.2.9-last-wqe ST-1 ST-6 */
#include "testbench/services.h"

enum { MTU = 256, LEN = 3 * MTU + 10, RECEIVES = 3, PSN = 0xfffffe, LIVES = 3, WITHIN = 5 };

struct kind {
	const char *name;
	enum ibv_qp_type type;
	bool shared;
};

static const struct kind kinds[] = {
	{"RC", IBV_QPT_RC, false},
	{"UC", IBV_QPT_UC, false},
	{"RC, an SRQ", IBV_QPT_RC, true},
	{"UC, an SRQ", IBV_QPT_UC, true},
};

struct ends {
	struct drv_qp *x, *y, *v, *w; /* x to y, and v to w, which has the same SRQ */
	struct drv_srq *srq;
};

static void receive(struct tb *tb, struct tb_end *b, const struct ends *q, uint64_t wr_id,
		    uint64_t dst)
{
	if (q->srq)
		recv_srq(b, q->srq, .wr_id = wr_id, .dst = dst, .len = LEN);
	else
		recv_on(b, q->y, .wr_id = wr_id, .dst = dst, .len = LEN);
}

/* The first packets of a message; the first one is told of, because y has not been in RTS. */
static void begin(struct tb *tb, struct tb_end *b, const struct kind *k, const struct ends *q,
		  unsigned packets)
{
	const bool rc = k->type == IBV_QPT_RC;

	for (unsigned i = 0; i < packets; i++)
		inject(b, RC_SEND_FIRST, .qpn = drv_qp_num(q->y), .psn = (PSN + i) & 0xffffff,
		       .len = MTU, .src = i * MTU,
		       .opcode = rc  ? i ? BTH_RC_SEND_MIDDLE : BTH_RC_SEND_FIRST
				 : i ? BTH_UC_SEND_MIDDLE
				     : BTH_UC_SEND_FIRST);
	expect_event(b, IBV_EVENT_COMM_EST);
	pass_time(CFG_US(WITHIN));
	ignore_data(b, .len = LEN);
}

static void start(struct tb *tb, struct tb_end *a, const struct ends *q)
{
	struct drv_rc_path path = path_to(a, drv_qp_num(q->x));

	path.rq_psn = PSN;
	path.sq_psn = PSN;
	path.path_mtu = IBV_MTU_256;
	must(drv_qp_to_init(q->y, &path));
	must(drv_qp_to_rtr(q->y, &path));
}

static void flushed(struct tb *tb, struct tb_end *b, const struct ends *q, uint64_t wr_id)
{
	expect_cqe(b, .wr_id = wr_id, .on = q->y, .status = IBV_WC_WR_FLUSH_ERR);
}

static void fails(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct kind *k,
		  const struct ends *q, unsigned packets)
{
	start(tb, a, q);
	for (unsigned i = 0; i < RECEIVES; i++)
		receive(tb, b, q, 10 + i, i ? 4096 * i : 0);
	begin(tb, b, k, q, packets);
	move_qp(q->y, IBV_QPS_ERR);
	flushed(tb, b, q, 10);
	if (!q->srq) {
		for (unsigned i = 1; i < RECEIVES; i++)
			flushed(tb, b, q, 10 + i);
		receive(tb, b, q, 20, 0);
		flushed(tb, b, q, 20);
	} else {
		expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
		for (unsigned i = 1; i < RECEIVES; i++) {
			send_on(a, q->v, .wr_id = 1, .len = LEN);
			expect_cqe(a, .wr_id = 1);
			expect_cqe(b, .wr_id = 10 + i, .on = q->w, .byte_len = LEN);
			expect_data(b, .dst = 4096 * i, .len = LEN);
		}
	}
	/* the rest of the message is for nobody */
	inject(b, RC_SEND_LAST, .qpn = drv_qp_num(q->y), .psn = (PSN + packets) & 0xffffff,
	       .len = 10, .opcode = k->type == IBV_QPT_RC ? BTH_RC_SEND_LAST : BTH_UC_SEND_LAST);
	expect_no_more(CFG_US(60));
}

static void is_reset(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct kind *k,
		     const struct ends *q)
{
	start(tb, a, q);
	receive(tb, b, q, 30, 0);
	receive(tb, b, q, 31, 0);
	begin(tb, b, k, q, 1);
	move_qp(q->y, IBV_QPS_RESET);
	expect_no_more(CFG_US(60));
}

/* The other half of the connection begins anew, too. */
static void works(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q)
{
	connect_two(q->x, q->y, .x_psn = PSN);
	receive(tb, b, q, 40, 0);
	send_on(a, q->x, .wr_id = 2, .src = 1000, .len = LEN);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 40, .on = q->y, .byte_len = LEN);
	expect_data(b, .src = 1000, .len = LEN);
	move_qp(q->x, IBV_QPS_RESET);
	move_qp(q->y, IBV_QPS_RESET);
}

static void lives(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct kind *k)
{
	struct drv_srq *srq = k->shared ? new_srq(b) : NULL;
	struct ends q = {.x = new_qp(a, .type = k->type),
			 .y = new_qp(b, .type = k->type, .srq = srq),
			 .v = new_qp(a),
			 .w = new_qp(b, .srq = srq),
			 .srq = srq};

	connect_two(q.v, q.w);
	for (unsigned life = 1; life <= LIVES && still_right(); life++) {
		name_row("%s, life %u", k->name, life);
		fails(tb, a, b, k, &q, life);
		move_qp(q.y, IBV_QPS_RESET);
		works(tb, a, b, &q);
		/* a receive of an SRQ that a reset queue pair has begun is nobody's */
		if (!k->shared)
			is_reset(tb, a, b, k, &q);
	}
	destroy_qp(q.w);
	destroy_qp(q.v);
	destroy_qp(q.y);
	destroy_qp(q.x);
	if (srq)
		destroy_srq(srq);
}

SCENARIO(qp_receive_begun, "a queue pair ends in the middle of a message, and begins again",
	 .mtu = IBV_MTU_256, .any_packets = true)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && still_right(); i++)
		lives(tb, a, b, &kinds[i]);
}
