/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program has its send queue drained, and asks to be told when that has ended, or does not ask. While the
 * queue pair is in SQD it changes what IBA table 91 lets it change there, and reads it back. Then it goes on.
 */
/* behaviours: IBA-10.3.1-SQD */
#include "testbench/scenarios/completion/to_itself.h"

enum { WAIT_MS = 100, CHANGED_RETRY = 3, CHANGED_TIMER = 12, CHANGED_DEPTH = 2 };

/* 1: the event has come, 0: none has in time. */
static int told(struct all *x)
{
	struct ibv_async_event event;

	if (process_poll(x->context->async_fd, WAIT_MS) != 1)
		return 0;
	if (ibv_get_async_event(x->context, &event))
		return -1;
	ibv_ack_async_event(&event);
	return event.event_type == IBV_EVENT_SQ_DRAINED && event.element.qp == x->qp ? 1 : -1;
}

static int drain(struct all *x, bool notify)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = notify};

	return ibv_modify_qp(x->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) ||
			       told(x) != notify
		       ? -1
		       : 0;
}

static int change(struct all *x)
{
	const int mask = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER |
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS;
	struct ibv_qp_attr attr = {.retry_cnt = CHANGED_RETRY,
				   .rnr_retry = CHANGED_RETRY,
				   .min_rnr_timer = CHANGED_TIMER,
				   .max_dest_rd_atomic = CHANGED_DEPTH,
				   .qp_access_flags =
					   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr is;

	return ibv_modify_qp(x->qp, &attr, mask) || ibv_query_qp(x->qp, &is, mask, &init) ||
			       is.retry_cnt != attr.retry_cnt || is.rnr_retry != attr.rnr_retry ||
			       is.min_rnr_timer != attr.min_rnr_timer ||
			       is.max_dest_rd_atomic != attr.max_dest_rd_atomic ||
			       is.qp_access_flags != attr.qp_access_flags
		       ? -1
		       : 0;
}

static int go_on(struct all *x)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_wc wc;

	if (ibv_modify_qp(x->qp, &attr, IBV_QP_STATE) || ibv_post_send(x->qp, &wr, &bad))
		return -1;
	process_sleep_us(MS);
	return ibv_poll_cq(x->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS ? 0 : -1;
}

static int program(void *arg)
{
	struct all x = {0};

	if (open_all(&x) || connect_self(&x))
		return 1;
	if (drain(&x, true))
		return 2;
	if (change(&x))
		return 3;
	if (go_on(&x))
		return 4;
	if (drain(&x, false) || go_on(&x))
		return 5;
	return ibv_destroy_qp(x.qp) || ibv_destroy_srq(x.srq) || ibv_destroy_cq(x.cq) ||
			       close_all(&x)
		       ? 6
		       : 0;
}

SCENARIO(process_drained, "a program drains its send queue, and changes attributes meanwhile",
	 .no_qps = true, .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
