/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process changes holds at once, and what is refused changes nothing: the rights of a region, by what
 * a peer may then do; the moderation of a CQ, by when its event comes. A right that is only a hint is taken
 * and does nothing. No other process sees the effect of these calls.
 */
/* behaviours: MEM-reregister IBA-11.2.8-cq-moderation */
#include "testbench/scenarios/programs/by_calls.h"
#include "testbench/scenarios/programs/refuses.h"

#include <stdlib.h>

enum { LOCAL = IBV_ACCESS_LOCAL_WRITE, WRITE = IBV_ACCESS_REMOTE_WRITE, COUNT = 3, PAUSE_US = 50 };
enum { ELSEWHERE = 1 << 30 };

/* --- rights --- */

static int again(struct by_calls *x)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_async_event event;

	for (unsigned i = 0; i < 2; i++)
		if (ibv_modify_qp(x->qp[i], &reset, IBV_QP_STATE))
			return __LINE__;
	while (process_poll(x->context->async_fd, 0) == 1) {
		if (ibv_get_async_event(x->context, &event))
			return __LINE__;
		ibv_ack_async_event(&event);
	}
	return connect_qp(x, 0) || connect_qp(x, 1) ? __LINE__ : 0;
}

static int reach(struct by_calls *x, bool allowed)
{
	ibv_wr_start(x->calls);
	right_write(x, 40, HALF + 64);
	if (ibv_wr_complete(x->calls))
		return __LINE__;
	if (allowed)
		memcpy(x->image + HALF + 64, x->image + 40, 8);
	if (IS(x, 0, .wr_id = 40, .opcode = IBV_WC_RDMA_WRITE,
	       .status = allowed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR))
		return __LINE__;
	return allowed ? nothing_else(x) : again(x);
}

static long clock_of(struct by_calls *x)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	return ibv_query_rt_values_ex(x->context, &values) ? 0 : values.raw_clock.tv_nsec;
}

/* A CQ that was made for it says when each request completed, by the clock of the device. */
static int stamped(struct by_calls *x)
{
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t before = (uint64_t)clock_of(x);
		uint64_t stamp;

		process_sleep_us(2);
		GIVES(reach(x, true), 0);
		stamp = ibv_wc_read_completion_ts(x->cq[0]);
		if (!before || stamp <= before || stamp >= (uint64_t)clock_of(x))
			return __LINE__;
	}
	return 0;
}

static int change(struct by_calls *x, int access)
{
	return ibv_rereg_mr(x->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, access);
}

/* Peers find a region at the address that it was registered for, which need not be that of the process. */
static int elsewhere(struct by_calls *x)
{
	const uint64_t iova = at(x, 0) + ELSEWHERE;
	struct ibv_mr *mr = ibv_reg_mr_iova(x->pd, x->buf, BYTES, iova,
					    LOCAL | WRITE | IBV_ACCESS_RELAXED_ORDERING);

	if (!mr || mr->addr != x->buf || mr->length != BYTES || mr->pd != x->pd ||
	    mr->context != x->context)
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_id = 41;
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(x->calls, mr->rkey, iova + HALF + 32);
	ibv_wr_set_sge(x->calls, mr->lkey, iova + 41, 8);
	if (ibv_wr_complete(x->calls) || IS(x, 0, .wr_id = 41, .opcode = IBV_WC_RDMA_WRITE))
		return __LINE__;
	memcpy(x->image + HALF + 32, x->image + 41, 8);
	return ibv_dereg_mr(mr) ? __LINE__ : nothing_else(x);
}

static int rights(struct by_calls *x)
{
	const uint32_t rkey = x->mr->rkey, lkey = x->mr->lkey;

	GIVES(change(x, LOCAL), 0);
	GIVES(reach(x, false), 0);
	GIVES(change(x, LOCAL | WRITE), 0);
	GIVES(reach(x, true), 0);
	GIVES(change(x, LOCAL | IBV_ACCESS_RELAXED_ORDERING), 0);
	GIVES(reach(x, false), 0);
	GIVES(change(x, LOCAL | WRITE | IBV_ACCESS_RELAXED_ORDERING), 0);
	for (unsigned right = 0; right <= IBV_ACCESS_MW_BIND; right = right ? 2 * right : 1)
		GIVES(change(x, LOCAL | (int)right), 0); /* any one */
	GIVES(change(x, LOCAL | WRITE), 0);
	errno = 0;
	GIVES(change(x, WRITE), IBV_REREG_MR_ERR_CMD);
	GIVES(errno, EINVAL);
	errno = 0;
	GIVES(change(x, IBV_ACCESS_REMOTE_ATOMIC), IBV_REREG_MR_ERR_CMD);
	GIVES(errno, EINVAL);
	GIVES(change(x, LOCAL | IBV_ACCESS_ON_DEMAND), IBV_REREG_MR_ERR_CMD);
	for (int unknown = 8; unknown <= 1 << 20; unknown *= 2) {
		GIVES(ibv_rereg_mr(x->mr, unknown, NULL, NULL, 0, LOCAL), IBV_REREG_MR_ERR_INPUT);
		GIVES(ibv_rereg_mr(x->mr, IBV_REREG_MR_CHANGE_ACCESS | unknown, NULL, NULL, 0,
				   LOCAL),
		      IBV_REREG_MR_ERR_INPUT);
	}
	GIVES(ibv_rereg_mr(x->mr, 0, NULL, NULL, 0, LOCAL), IBV_REREG_MR_ERR_INPUT);
	errno = 0;
	GIVES(ibv_rereg_mr(x->mr, IBV_REREG_MR_CHANGE_PD, x->pd, NULL, 0, LOCAL),
	      IBV_REREG_MR_ERR_CMD);
	GIVES(errno, EOPNOTSUPP);
	GIVES(ibv_rereg_mr(x->mr, IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD, x->pd, NULL,
			   0, LOCAL),
	      IBV_REREG_MR_ERR_CMD);
	GIVES(ibv_rereg_mr(x->mr, IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_TRANSLATION,
			   NULL, x->buf, BYTES, LOCAL),
	      IBV_REREG_MR_ERR_CMD);
	GIVES(stamped(x), 0);
	return x->mr->rkey == rkey && x->mr->lkey == lkey && x->mr->addr == x->buf &&
			       x->mr->length == BYTES
		       ? 0
		       : __LINE__;
}

/* --- moderation --- */

/* So many completions: receives that are flushed. */
static int complete(struct by_calls *x, struct ibv_cq *cq, unsigned n)
{
	struct ibv_qp_init_attr init = {
		.send_cq = ibv_cq_ex_to_cq(x->cq[0]),
		.recv_cq = cq,
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 1, .max_recv_wr = n, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_qp *qp = ibv_create_qp(x->pd, &init);
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

	if (!qp ||
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		return __LINE__;
	for (unsigned i = 0; i < n; i++)
		if (ibv_post_recv(qp, &wr, &bad))
			return __LINE__;
	attr.qp_state = IBV_QPS_ERR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		return __LINE__;
	process_sleep_us(PAUSE_US);
	return 0;
}

static int moderate(struct ibv_cq *cq, uint16_t count, uint16_t period_us)
{
	struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE,
					  .moderate = {.cq_count = count, .cq_period = period_us}};

	return ibv_modify_cq(cq, &attr);
}

static int take(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	struct ibv_cq *got;
	void *context;

	if (ibv_get_cq_event(channel, &got, &context) || got != cq)
		return __LINE__;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

static int moderation(struct by_calls *x)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(x->context);
	struct ibv_cq *cq = ibv_create_cq(x->context, 32, NULL, channel, 0);

	/* neither the count nor the period is reached, then the count */
	if (!cq || moderate(cq, COUNT, 50000) || ibv_req_notify_cq(cq, 0) ||
	    complete(x, cq, COUNT - 1) || process_poll(channel->fd, 0))
		return __LINE__;
	if (complete(x, cq, 1) || process_poll(channel->fd, 0) != 1 || take(channel, cq))
		return __LINE__;
	/* the period is over */
	if (moderate(cq, 1000, 2 * PAUSE_US) || ibv_req_notify_cq(cq, 0) || complete(x, cq, 1) ||
	    process_poll(channel->fd, 1) != 1 || take(channel, cq))
		return __LINE__;
	if (moderate(cq, 0, 0) || ibv_req_notify_cq(cq, 0) || complete(x, cq, 1) ||
	    process_poll(channel->fd, 0) != 1 || take(channel, cq))
		return __LINE__;
	return 0;
}

static int program(void *arg)
{
	const bool of_cq = *(const bool *)arg;
	struct by_calls *x = calloc(1, sizeof(*x));
	int rc;

	*x = (struct by_calls){.type = IBV_QPT_RC,
			       .ops = IBV_QP_EX_WITH_RDMA_WRITE,
			       .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	rc = open_by_calls(x);
	if (!rc)
		rc = of_cq ? moderation(x) : rights(x);
	if (!rc && !of_cq)
		rc = elsewhere(x);
	if (!rc && !of_cq)
		rc = close_by_calls(x);
	free(x);
	return rc;
}

SCENARIO(process_changed, "what a process changes of a region and of a CQ holds at once",
	 .no_qps = true, .any_packets = true, .of_mlx4 = "moderation of a CQ")
{
	bool of_cq[] = {false, true};

	for_each_row(i, of_cq)
		expect_exit(start_process(a, program, &of_cq[i]), 0);
}
