/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest queues: a queue pair that asks for one send and one receive takes as many as it says, and
 * then refuses. The completion of one gives its slot back before it can be polled, and a second one gives
 * it back only once. So it goes on and on, for each service, with an SRQ of one receive, and behind a
 * reset that has discarded completions.
 */
/* behaviours: IBA-11.4.1-queue-full */
#include "testbench/services.h"

enum { QKEY = 0x1234, LEN = 16, GRH_AREA = 40, ROUNDS = 5, AREA = 64 };

struct pair {
	struct drv_qp *x, *y;
	struct drv_srq *srq; /* of y; NULL: its own receives */
	struct drv_ah_attr ah;
	enum ibv_qp_type type;
	unsigned sends, receives;
};

static void receive(struct tb *tb, struct tb_end *b, const struct pair *p, int result)
{
	if (p->srq)
		recv_srq(b, p->srq, .len = AREA, .result = result);
	else
		recv_on(b, p->y, .len = AREA, .result = result);
}

static void send(struct tb *tb, struct tb_end *a, const struct pair *p, int result)
{
	if (p->type == IBV_QPT_UD)
		send_on(a, p->x, .len = LEN, .ah = &p->ah, .remote_qpn = drv_qp_num(p->y),
			.qkey = QKEY, .result = result);
	else
		send_on(a, p->x, .len = LEN, .result = result);
}

/* Both queues are filled, and refuse; then all completes. */
static void fill(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p)
{
	for (unsigned i = 0; i < p->receives; i++)
		receive(tb, b, p, 0);
	receive(tb, b, p, -ENOMEM);
	for (unsigned i = 0; i < p->sends; i++)
		send(tb, a, p, 0);
	send(tb, a, p, -ENOMEM);
	pass_time(CFG_US(60));
	send(tb, a, p, -ENOMEM); /* nothing was polled */
	receive(tb, b, p, -ENOMEM);
}

static void turn(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p)
{
	const unsigned n = p->sends < p->receives ? p->sends : p->receives;

	/* a connected one sends as many as find receives */
	for (unsigned i = 0; i < n; i++) {
		receive(tb, b, p, 0);
		send(tb, a, p, 0);
		expect_cqe(a, .on = p->x);
		expect_cqe(b, .on = p->y, .byte_len = LEN + (p->type == IBV_QPT_UD ? GRH_AREA : 0));
	}
}

static void start(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p)
{
	if (p->type == IBV_QPT_UD) {
		start_ud(p->x, QKEY, 1);
		start_ud(p->y, QKEY, 1);
	} else {
		connect_two(p->x, p->y);
	}
}

static void rounds(struct tb *tb, struct tb_end *a, struct tb_end *b, enum ibv_qp_type type,
		   bool shared)
{
	struct pair p = {.type = type, .ah = ah_to(b)};
	const struct drv_qp_cap one = {.max_send_wr = 1,
				       .max_recv_wr = shared ? TB_NONE : 1,
				       .max_send_sge = 1,
				       .max_recv_sge = 1};
	struct drv_qp_attr attr = {0};
	uint32_t sges;

	p.srq = shared ? new_srq(b, .max_wr = 1) : NULL;
	p.x = new_qp(a, .type = type, .cap = {.max_send_wr = 1, .max_recv_wr = 1});
	p.y = new_qp(b, .type = type, .cap = one, .srq = p.srq);
	if (!still_right())
		return;
	must(drv_qp_query(p.x, &attr));
	p.sends = attr.cap.max_send_wr;
	must(drv_qp_query(p.y, &attr));
	p.receives = attr.cap.max_recv_wr;
	if (shared)
		drv_srq_size(p.srq, &p.receives, &sges);
	start(tb, a, b, &p);
	for (unsigned i = 0; i < ROUNDS && still_right(); i++)
		turn(tb, a, b, &p);
	fill(tb, a, b, &p);
	move_qp(p.x, IBV_QPS_RESET);
	move_qp(p.y, IBV_QPS_RESET);
	start(tb, a, b, &p);
	for (unsigned i = 0; i < ROUNDS && still_right(); i++)
		turn(tb, a, b, &p);
	destroy_qp(p.y);
	destroy_qp(p.x);
	if (shared)
		destroy_srq(p.srq);
}

SCENARIO(queues_of_one, "queue pairs that ask for one request: refused when full, and never before",
	 .any_packets = true)
{
	ignore_discarded(a);
	ignore_discarded(b);
	rounds(tb, a, b, IBV_QPT_RC, false);
	rounds(tb, a, b, IBV_QPT_UC, false);
	rounds(tb, a, b, IBV_QPT_UD, false);
	rounds(tb, a, b, IBV_QPT_RC, true);
	rounds(tb, a, b, IBV_QPT_UD, true);
	ignore_data(b, .len = 64 << 10);
}
