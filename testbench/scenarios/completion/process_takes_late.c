/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread takes an event of an object while another one is inside the call that destroys the object. The
 * call goes on until that event is acknowledged, too: one of a queue pair, of an SRQ, of a CQ, and a
 * completion event. An acknowledgement for another object, or of the CQ's other kind, does not end it.
 */
/* behaviours: IBA-11.6.3.2-acknowledged */
#include "testbench/scenarios/completion/to_itself.h"

enum { TAKE_DELAY_US = 5, ACK_DELAY_US = 300 };

struct taker {
	struct all *x;
	const void *element; /* what the event must be about */
	bool completion, taken, wrong, done;
};

static void take_late(void *arg)
{
	struct taker *t = arg;
	struct ibv_async_event event;
	struct ibv_cq *cq = NULL;
	void *context;

	process_sleep_us(TAKE_DELAY_US);
	if (process_poll(t->completion ? t->x->channel->fd : t->x->context->async_fd, 0) != 1)
		return;
	if (t->completion)
		t->wrong = ibv_get_cq_event(t->x->channel, &cq, &context) || cq != t->element;
	else
		t->wrong = ibv_get_async_event(t->x->context, &event) ||
			   event.element.qp != t->element;
	t->taken = true;
	process_sleep_us(ACK_DELAY_US);
	t->done = true;
	if (t->completion)
		ibv_ack_cq_events(cq, 1);
	else
		ibv_ack_async_event(&event);
}

static int destroy_taken(struct all *x, int (*destroy)(struct all *x), const void *element,
			 bool completion)
{
	struct taker t = {.x = x, .element = element, .completion = completion};

	if (process_poll(completion ? x->channel->fd : x->context->async_fd, 100) != 1 ||
	    process_thread("taker", take_late, &t) || destroy(x))
		return 1;
	if (!t.taken || t.wrong)
		return 2;
	return t.done ? 0 : 3;
}

/* A READ without the right to do it: the queue pair fails, and its request completes. */
static int fail(struct all *x)
{
	struct ibv_sge sge = {(uintptr_t)x->buf, 64, x->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_READ,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	return ibv_req_notify_cq(x->cq, 0) || ibv_post_send(x->qp, &wr, &bad) ||
	       process_poll(x->channel->fd, 100) != 1;
}

static int failed(void)
{
	struct ibv_srq_attr limit = {.srq_limit = 1};
	struct all x = {0};
	int rc;

	if (open_all(&x) || connect_self(&x) || fail(&x))
		return 10;
	rc = destroy_taken(&x, destroy_qp_of, x.qp, false);
	if (rc)
		return 20 + rc;
	if (ibv_modify_srq(x.srq, &limit, IBV_SRQ_LIMIT))
		return 30;
	rc = destroy_taken(&x, destroy_srq_of, x.srq, false);
	if (rc)
		return 40 + rc;
	rc = destroy_taken(&x, destroy_cq_of, x.cq, true);
	if (rc)
		return 50 + rc;
	return close_all(&x) ? 60 : 0;
}

/* Both events of the queue pair's CQ; that of the queue pair goes with it. */
static int overflow(struct all *x)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	if (ibv_req_notify_cq(x->cq, 0))
		return -1;
	for (int i = 0; i <= x->cq->cqe + 1; i++) {
		if (ibv_post_send(x->qp, &wr, &bad))
			return -1;
		process_sleep_us(20);
	}
	return 0;
}

static int overflowed(bool completion)
{
	struct ibv_async_event event;
	struct ibv_cq *cq;
	struct all x = {0};
	void *context;
	int rc;

	if (open_all(&x) || connect_self(&x) || overflow(&x) || ibv_destroy_qp(x.qp))
		return 110;
	/* of the two events of the CQ, one is acknowledged already */
	if (completion) {
		if (ibv_get_async_event(x.context, &event) || event.element.cq != x.cq)
			return 120;
		ibv_ack_async_event(&event);
	} else {
		if (ibv_get_cq_event(x.channel, &cq, &context) || cq != x.cq)
			return 130;
		ibv_ack_cq_events(cq, 1);
	}
	rc = destroy_taken(&x, destroy_cq_of, x.cq, completion);
	if (rc)
		return 140 + rc;
	return ibv_destroy_srq(x.srq) || close_all(&x) ? 150 : 0;
}

static int program(void *arg)
{
	int rc = failed();

	if (!rc)
		rc = overflowed(false);
	return rc ? rc : overflowed(true);
}

SCENARIO(process_takes_late, "an event is taken while its object is being destroyed",
	 .no_qps = true, .any_packets = true, .of_mlx4 = "time that a command takes")
{
	expect_exit(start_process(a, program, NULL), 0);
}
