/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of a descriptor that was closed is used again. The new one is a new one: it blocks, although
 * the old one did not, and it has no event that the old one had. Each of file, channel and context gives its
 * number to each of the others. A thread that waits at it is woken by an event of its own, and not before.
 */
/* behaviours: PROCESS-descriptors-again */
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

#include <fcntl.h>

enum { QKEY = 5, WAIT_US = 300, LONG_MS = 10, STARTED = -1 };

struct uses {
	struct program p;
	struct ibv_device *device;
	/* what has the number now */
	int fd;
	struct ibv_comp_channel *channel;
	struct ibv_context *second;
	/* what another thread makes an event of */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_pd *pd;
	struct ibv_srq *srq;
	int rc;
};

/* --- open and close each kind --- */

static int open_file(struct uses *u)
{
	return u->fd = process_open("file", O_CREAT);
}

static int close_file(struct uses *u)
{
	return process_close(u->fd);
}

static int open_channel(struct uses *u)
{
	u->channel = ibv_create_comp_channel(u->p.context);
	return u->channel ? u->channel->fd : -1;
}

static int close_channel(struct uses *u)
{
	return ibv_destroy_comp_channel(u->channel);
}

static int open_context(struct uses *u)
{
	u->second = ibv_open_device(u->device);
	return u->second ? u->second->async_fd : -1;
}

static int close_context(struct uses *u)
{
	return ibv_close_device(u->second);
}

/* --- an event of a channel: a receive is flushed --- */

static int flush_one(struct uses *u)
{
	struct ibv_qp_init_attr init = {
		.send_cq = u->p.cq,
		.recv_cq = u->cq,
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_recv_wr wr = {.wr_id = 77}, *bad;

	u->qp = ibv_create_qp(u->p.pd, &init);
	if (!u->qp || ibv_req_notify_cq(u->cq, 0) ||
	    ibv_modify_qp(u->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY) ||
	    ibv_post_recv(u->qp, &wr, &bad))
		return __LINE__;
	attr.qp_state = IBV_QPS_ERR;
	return ibv_modify_qp(u->qp, &attr, IBV_QP_STATE);
}

static void flush_late(void *arg)
{
	struct uses *u = arg;

	process_sleep_us(WAIT_US);
	u->cq = ibv_create_cq(u->p.context, 4, &u->p, u->channel, 0);
	u->rc = u->cq ? flush_one(u) : __LINE__;
}

/* The second event is left to the next user of the number, who must not see it. */
static int use_channel(struct uses *u)
{
	struct ibv_cq *got = NULL;
	void *context = NULL;
	struct ibv_wc wc;

	if (ibv_get_cq_event(u->channel, &got, &context) || got != u->cq || context != &u->p)
		return __LINE__;
	while (u->rc == STARTED)
		process_sleep_us(1);
	if (u->rc || ibv_poll_cq(u->cq, 1, &wc) != 1)
		return __LINE__;
	ibv_ack_cq_events(u->cq, 1);
	if (ibv_destroy_qp(u->qp) || flush_one(u) || process_poll(u->channel->fd, LONG_MS) != 1)
		return __LINE__;
	return ibv_destroy_qp(u->qp) || ibv_destroy_cq(u->cq) ? __LINE__ : 0;
}

/* --- an event of a context: an SRQ below its limit --- */

static int limit(struct uses *u)
{
	struct ibv_srq_attr limit = {.srq_limit = 1};

	return ibv_modify_srq(u->srq, &limit, IBV_SRQ_LIMIT);
}

static void limit_late(void *arg)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct uses *u = arg;

	process_sleep_us(WAIT_US);
	u->pd = ibv_alloc_pd(u->second);
	u->srq = u->pd ? ibv_create_srq(u->pd, &init) : NULL;
	u->rc = u->srq ? limit(u) : __LINE__;
}

static int use_context(struct uses *u)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(u->second, &event) ||
	    event.event_type != IBV_EVENT_SRQ_LIMIT_REACHED || event.element.srq != u->srq)
		return __LINE__;
	while (u->rc == STARTED)
		process_sleep_us(1);
	ibv_ack_async_event(&event);
	if (u->rc || limit(u) || process_poll(u->second->async_fd, LONG_MS) != 1)
		return __LINE__;
	return ibv_destroy_srq(u->srq) || ibv_dealloc_pd(u->pd) ? __LINE__ : 0;
}

static const struct {
	int (*open)(struct uses *u), (*close)(struct uses *u), (*use)(struct uses *u);
	void (*event)(void *arg);
} kinds[] = {
	{open_file, close_file, NULL, NULL},
	{open_channel, close_channel, use_channel, flush_late},
	{open_context, close_context, use_context, limit_late},
};

static int again(struct uses *u, size_t first, size_t then)
{
	const int fd = kinds[first].open(u);

	if (fd < 0 || process_nonblock(fd, true) || kinds[first].close(u))
		return __LINE__;
	FAILS(process_poll(fd, 0), EBADF);
	FAILS(process_nonblock(fd, false), EBADF);
	if (kinds[then].open(u) != fd)
		return __LINE__;
	GIVES(process_poll(fd, 0), !kinds[then].use);
	/* as it was made, and when it is said to block again */
	for (unsigned said = 0; said < 2 && kinds[then].use; said++) {
		int rc = said && (process_nonblock(fd, true) || process_nonblock(fd, false))
				 ? __LINE__
				 : 0;

		u->rc = STARTED;
		if (!rc)
			rc = process_thread("later", kinds[then].event, u);
		if (!rc)
			rc = kinds[then].use(u);
		if (rc)
			return rc;
	}
	return kinds[then].close(u) ? __LINE__ : 0;
}

static int program(void *arg)
{
	struct uses u = {.p = {.file = "domain"}};

	if (program_open(&u.p))
		return __LINE__;
	u.device = u.p.context->device;
	for (size_t first = 0; first < ARRAY_SIZE(kinds); first++)
		for (size_t then = 0; then < ARRAY_SIZE(kinds); then++) {
			const int rc = again(&u, first, then);

			if (rc)
				return rc;
		}
	return ibv_dereg_mr(u.p.mr) || ibv_destroy_cq(u.p.cq) || ibv_dealloc_pd(u.p.pd) ||
			       ibv_close_device(u.p.context)
		       ? __LINE__
		       : 0;
}

SCENARIO(process_fds_again, "the number of a descriptor that was closed is used again",
	 .no_qps = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
