/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No memory is left for the event of a completion channel, so that event is lost, as in Linux. Nothing else
 * is: the completion stands in the CQ, and once the CQ is armed again the next one makes its event. A process
 * that polls after each wait with a timeout goes on.
 */
/* behaviours: FAULT-no-memory CQ-1 */
#include "testbench/scenarios/completion/to_itself.h"
#include "testbench/harm.h"

enum { WAIT_MS = 1 };

/* A WRITE of no bytes needs no key. */
static int send_one(struct all *x)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	return ibv_req_notify_cq(x->cq, 0) || ibv_post_send(x->qp, &wr, &bad);
}

/* The completion is there, whether or not an event tells of it. */
static int completed(struct all *x)
{
	struct ibv_wc wc;

	return ibv_poll_cq(x->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS &&
			       !ibv_poll_cq(x->cq, 1, &wc)
		       ? 0
		       : __LINE__;
}

static int program(void *arg)
{
	struct all x = {0};
	struct ibv_cq *cq;
	void *context;

	if (open_all(&x) || connect_self(&x))
		return __LINE__;
	lack_memory_elsewhere(1);
	if (send_one(&x) || process_poll(x.channel->fd, WAIT_MS) != 0 ||
	    !lack_memory_elsewhere(0) || completed(&x))
		return __LINE__;
	if (send_one(&x) || process_poll(x.channel->fd, WAIT_MS) != 1 || completed(&x))
		return __LINE__;
	if (ibv_get_cq_event(x.channel, &cq, &context) || cq != x.cq || context != &x)
		return __LINE__;
	ibv_ack_cq_events(cq, 1);
	return ibv_destroy_qp(x.qp) || ibv_destroy_srq(x.srq) || ibv_destroy_cq(x.cq) ||
			       close_all(&x)
		       ? __LINE__
		       : 0;
}

SCENARIO(event_lost,
	 "no memory for an event: it is lost, the completion and the next event are not",
	 .no_qps = true, .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
