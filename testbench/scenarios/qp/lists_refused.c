/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of requests of which one is refused, whichever it is and why: the driver names it, those
 * before it are carried out, those behind it are not, and the queue goes on.
 */
/* behaviours: IBA-11.4.1-queue-full */
#include "testbench/services.h"

enum { LISTED = 4, LEN = 16, ROOM = 9, MANY_SGES = 64, FIRST = 100 };

enum queue { SENDS, RECEIVES, SHARED_RECEIVES };

static const struct refused {
	enum queue queue;
	const char *name;
	int rc;
	bool sges, opcode; /* too many of them; one that there is not. Neither: there is no room */
} refusals[] = {
	{SENDS, "sends without room", -ENOMEM, false, false},
	{SENDS, "a send with too many entries", -EINVAL, true, false},
	{SENDS, "a send with an unknown opcode", -EINVAL, false, true},
	{RECEIVES, "receives without room", -ENOMEM, false, false},
	{RECEIVES, "a receive with too many entries", -EINVAL, true, false},
	{SHARED_RECEIVES, "receives of an SRQ without room", -ENOMEM, false, false},
	{SHARED_RECEIVES, "a receive of an SRQ with too many entries", -EINVAL, true, false},
};

struct ends {
	struct drv_qp *x, *y, *sharer, *shares; /* x to y, sharer to shares, which has the SRQ */
	struct drv_srq *srq;
	uint32_t room[SHARED_RECEIVES + 1]; /* requests */
	unsigned sges;                      /* one more than the queue takes */
};

static void sends_refused(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q,
			  const struct refused *r, unsigned nth)
{
	struct drv_sge sges[MANY_SGES];
	struct drv_send_wr wr[LISTED];
	const struct drv_send_wr *bad = NULL;

	for (unsigned i = 0; i < MANY_SGES; i++)
		sges[i] = (struct drv_sge){tb_va(a, a->src), LEN, drv_mr_lkey(a->mr)};
	for (unsigned i = 0; i < LISTED; i++)
		wr[i] = (struct drv_send_wr){.next = i + 1 < LISTED ? &wr[i + 1] : NULL,
					     .wr_id = FIRST + i,
					     .opcode = r->opcode && i == nth
							       ? (enum ibv_wr_opcode)99
							       : IBV_WR_RDMA_WRITE,
					     .send_flags = IBV_SEND_SIGNALED,
					     .sg_list = sges,
					     .num_sge = r->sges && i == nth ? q->sges : 1,
					     .remote_addr = tb_va(b, b->dst),
					     .rkey = drv_mr_rkey(b->mr)};
	must_fail(r->rc, drv_post_send(q->x, wr, &bad));
	expect_true(bad == &wr[nth]);
}

static void receives_refused(struct tb *tb, struct tb_end *b, const struct ends *q,
			     const struct refused *r, unsigned nth)
{
	struct drv_sge sges[MANY_SGES];
	struct drv_recv_wr wr[LISTED];
	const struct drv_recv_wr *bad = NULL;

	for (unsigned i = 0; i < MANY_SGES; i++)
		sges[i] = (struct drv_sge){tb_va(b, b->dst), LEN, drv_mr_lkey(b->mr)};
	for (unsigned i = 0; i < LISTED; i++)
		wr[i] = (struct drv_recv_wr){.next = i + 1 < LISTED ? &wr[i + 1] : NULL,
					     .wr_id = FIRST + i,
					     .sg_list = sges,
					     .num_sge = r->sges && i == nth ? q->sges : 1};
	must_fail(r->rc, r->queue == SHARED_RECEIVES ? drv_post_srq_recv(q->srq, wr, &bad)
						     : drv_post_recv(q->y, wr, &bad));
	expect_true(bad == &wr[nth]);
}

/* One request that is taken. */
static void post_one(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q,
		     enum queue queue, unsigned nth)
{
	if (queue == SENDS)
		send_on(a, q->x, .wr_id = nth, .opcode = IBV_WR_RDMA_WRITE, .len = LEN);
	else if (queue == RECEIVES)
		recv_on(b, q->y, .wr_id = nth, .len = LEN);
	else
		recv_srq(b, q->srq, .wr_id = nth, .len = LEN);
}

/* The oldest open request ends; a receive takes a message for that. */
static void done(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q,
		 enum queue queue, uint64_t wr_id)
{
	if (!still_right())
		return;
	if (queue != SENDS)
		send_on(a, queue == RECEIVES ? q->x : q->sharer, .len = LEN);
	expect_cqe(a, .wr_id = queue == SENDS ? wr_id : 0);
	if (queue != SENDS)
		expect_cqe(b, .wr_id = wr_id, .byte_len = LEN);
}

static void refuse(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q,
		   const struct refused *r, unsigned nth)
{
	const unsigned before = r->sges || r->opcode ? 0 : q->room[r->queue] - nth;

	for (unsigned i = 0; i < before; i++)
		post_one(tb, a, b, q, r->queue, i);
	if (r->queue == SENDS)
		sends_refused(tb, a, b, q, r, nth);
	else
		receives_refused(tb, b, q, r, nth);
	for (unsigned i = 0; i < before + nth; i++)
		done(tb, a, b, q, r->queue, i < before ? i : FIRST + i - before);
	post_one(tb, a, b, q, r->queue, 1);
	done(tb, a, b, q, r->queue, 1);
}

SCENARIO(lists_refused, "a list of requests of which one is refused", .any_packets = true)
{
	struct drv_srq *srq = new_srq(b, .max_wr = ROOM);
	struct ends q = {.srq = srq,
			 .x = new_qp(a),
			 .y = new_qp(b),
			 .sharer = new_qp(a),
			 .shares = new_qp(b, .srq = srq)};
	struct drv_qp_cap x, y;
	uint32_t sges;

	connect_two(q.x, q.y);
	connect_two(q.sharer, q.shares);
	if (!still_right())
		return;
	drv_qp_cap(q.x, &x);
	drv_qp_cap(q.y, &y);
	drv_srq_size(srq, &q.room[SHARED_RECEIVES], &sges);
	q.room[SENDS] = x.max_send_wr;
	q.room[RECEIVES] = y.max_recv_wr;
	for_each_row(i, refusals) {
		const struct refused *r = &refusals[i];

		if (r->opcode && in_software(a))
			continue; /* the transport says that it lacks it, and the run would end */
		q.sges = 1 + (r->queue == SENDS      ? x.max_send_sge
			      : r->queue == RECEIVES ? y.max_recv_sge
						     : sges);
		expect_that(q.sges, <=, MANY_SGES);
		for (unsigned nth = 0; nth < LISTED && still_right(); nth++) {
			name_row("%s, the %u. of %u", r->name, nth + 1, LISTED);
			refuse(tb, a, b, &q, r, nth);
		}
	}
	expect_data(b, .len = LEN);
	expect_stat(a, retry, rnr_waits, 0);
	destroy_qp(q.shares);
	destroy_qp(q.sharer);
	destroy_qp(q.y);
	destroy_qp(q.x);
	destroy_srq(srq);
}
