/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process asks for an event of solicited completions only, and gets none for a WRITE of its own or a SEND
 * that does not ask for it, but one for a SEND that does, and for an error. Asked for all, it gets one for
 * each. One request gives one event, and what was not asked for gives none.
 */
/* behaviours: BTH-5 CQ-1 */
#include "testbench/scenarios/completion/to_itself.h"
#include "testbench/scenarios/programs/refuses.h"

enum { WAIT_US = 50, RECEIVES = 8 };

static int post(struct all *x, enum ibv_wr_opcode opcode, unsigned flags)
{
	struct ibv_send_wr wr = {.opcode = opcode, .send_flags = flags}, *bad;

	GIVES(ibv_post_send(x->qp, &wr, &bad), 0);
	process_sleep_us(WAIT_US);
	return 0;
}

/* So many completions, and so many events. */
static int came(struct all *x, int completions, int events)
{
	struct ibv_cq *cq;
	struct ibv_wc wc[4];
	void *context;

	GIVES(ibv_poll_cq(x->cq, 4, wc), completions);
	for (int i = 0; i < events; i++) {
		GIVES(process_poll(x->channel->fd, 0), 1);
		if (ibv_get_cq_event(x->channel, &cq, &context) || cq != x->cq || context != x)
			return __LINE__;
		ibv_ack_cq_events(cq, 1);
	}
	GIVES(process_poll(x->channel->fd, 0), 0);
	return 0;
}

static const struct {
	enum ibv_wr_opcode opcode;
	unsigned flags;
	int completions;
	bool solicited;
} rows[] = {
	{IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 1, false},
	{IBV_WR_SEND, 0, 1, false},
	{IBV_WR_SEND, IBV_SEND_SIGNALED, 2, false},
	{IBV_WR_SEND, IBV_SEND_SOLICITED, 1, true},
	{IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED, 2, true},
};

static int asks(struct all *x, bool only)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc;

		/* 7: any value but 0 */
		GIVES(ibv_req_notify_cq(x->cq, only ? 7 : 0), 0);
		rc = post(x, rows[i].opcode, rows[i].flags);
		if (!rc)
			rc = came(x, rows[i].completions, rows[i].solicited || !only);
		if (rc)
			return 1000 * (int)(i + 1) + rc;
		/* not asked again */
		if (rows[i].solicited || !only) {
			rc = post(x, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED);
			if (!rc)
				rc = came(x, 1, 0);
			if (rc)
				return 1000 * (int)(i + 1) + rc;
		}
	}
	return 0;
}

static int program(void *arg)
{
	struct all x = {0};
	struct ibv_recv_wr recv = {.wr_id = 9}, *bad;
	int rc = open_all(&x) || connect_self(&x) ? __LINE__ : 0;

	for (unsigned i = 0; i < RECEIVES && !rc; i++)
		rc = ibv_post_srq_recv(x.srq, &recv, &bad) ? __LINE__ : 0;
	if (!rc)
		rc = asks(&x, true);
	if (!rc)
		rc = asks(&x, false);
	/* an error is always solicited */
	if (!rc && (ibv_req_notify_cq(x.cq, 1) || post(&x, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED)))
		rc = __LINE__;
	if (!rc)
		rc = came(&x, 1, 1);
	if (rc)
		return rc;
	return ibv_destroy_qp(x.qp) || ibv_destroy_srq(x.srq) || ibv_destroy_cq(x.cq) ||
			       close_all(&x)
		       ? __LINE__
		       : 0;
}

SCENARIO(process_solicited, "a process asks for events of solicited completions, or of all",
	 .no_qps = true, .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
