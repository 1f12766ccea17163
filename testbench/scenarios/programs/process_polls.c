/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a process waits that polls an empty CQ: each time twice as long as the time before, up to a limit,
 * and after an entry again as at first. An entry that comes ends the wait. Both ways to poll do so. A CQ with
 * an entry does not make it wait, nor does a call that asks for none.
 */
/* behaviours: PROCESS-polls */
#include "testbench/scenarios/completion/to_itself.h"
#include "testbench/scenarios/programs/refuses.h"

enum { POLLS = 14, FIRST_NS = 30, LIMIT_NS = 40000, SOON_NS = 10000 };

static struct ibv_cq_ex *extended(struct ibv_cq *cq)
{
	return (struct ibv_cq_ex *)(void *)cq;
}

/* How long one call takes that finds nothing; 0: it has found something. */
static uint64_t empty_poll(struct ibv_cq *cq, bool ex)
{
	const uint64_t begun = process_now_ns();
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc;

	if (ex ? ibv_start_poll(extended(cq), &attr) != ENOENT : ibv_poll_cq(cq, 1, &wc) != 0)
		return 0;
	return process_now_ns() - begun;
}

static int post(struct all *x)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	return ibv_post_send(x->qp, &wr, &bad);
}

/* An entry is there, and is taken without a wait, also by a call that asks for more. */
static int take(struct ibv_cq *cq, bool ex)
{
	const uint64_t begun = process_now_ns();
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc[3];

	if (ex)
		GIVES(ibv_start_poll(extended(cq), &attr), 0);
	else
		GIVES(ibv_poll_cq(cq, 3, wc), 1);
	return process_now_ns() == begun ? 0 : __LINE__;
}

static int waits(struct all *x, bool ex)
{
	uint64_t want = FIRST_NS, took = 0;
	struct ibv_wc wc;

	for (unsigned i = 0; i < POLLS; i++) {
		GIVES(empty_poll(x->cq, ex), want);
		want = 2 * want < LIMIT_NS ? 2 * want : LIMIT_NS;
	}
	took = process_now_ns();
	GIVES(ibv_poll_cq(x->cq, 0, &wc), 0);
	GIVES(process_now_ns(), took);
	GIVES(post(x), 0);
	took = empty_poll(x->cq, ex);
	if (!took || took > SOON_NS)
		return __LINE__;
	GIVES(take(x->cq, ex), 0);
	GIVES(empty_poll(x->cq, ex), FIRST_NS);
	GIVES(empty_poll(x->cq, ex), 2 * FIRST_NS);
	/* it was there before */
	GIVES(post(x), 0);
	process_sleep_us(20);
	GIVES(take(x->cq, ex), 0);
	return 0;
}

static int program(void *arg)
{
	struct all x = {0};
	int rc = open_all(&x) || connect_self(&x) ? __LINE__ : 0;

	if (!rc)
		rc = waits(&x, false);
	if (!rc)
		rc = waits(&x, true);
	if (rc)
		return rc;
	return ibv_destroy_qp(x.qp) || ibv_destroy_srq(x.srq) || ibv_destroy_cq(x.cq) ||
			       close_all(&x)
		       ? __LINE__
		       : 0;
}

SCENARIO(process_polls, "a process that polls an empty CQ waits, longer each time", .no_qps = true,
	 .exact = true, .any_packets = true,
	 .settings = {"host.poll_interval=30ns", "host.poll_backoff=40us"})
{
	expect_exit(start_process(a, program, NULL), 0);
}
