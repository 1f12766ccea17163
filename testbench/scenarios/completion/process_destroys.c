/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process destroys objects that its other threads still have to do with. Whoever has taken an
 * asynchronous event of a CQ, an SRQ or a queue pair holds up its destruction until it has acknowledged
 * the event. A call for an object that another thread is destroying is refused. An object that others
 * use stays with all it has, and is destroyed later. Each event names its
 * object: a CQ that overflows, its queue pair, an SRQ below its limit, a migration that fails.
 */
/* behaviours: IBA-11.6.3.2-acknowledged */
#include "testbench/scenarios/completion/to_itself.h"

#include <errno.h>

enum { ACK_DELAY_US = 400, CALL_DELAY_US = 5, ROUNDS_MAX = 100, CQE = 10 };

/* --- events that are acknowledged late --- */

struct late {
	struct ibv_async_event event;
	unsigned delay_us;
	bool done;
};

static void acknowledge_late(void *arg)
{
	struct late *late = arg;

	process_sleep_us(late->delay_us);
	late->done = true;
	ibv_ack_async_event(&late->event);
}

/* Takes the next event, which another thread will acknowledge. */
static int take(struct all *x, enum ibv_event_type type, const void *element, unsigned delay_us,
		struct late *late)
{
	*late = (struct late){.delay_us = delay_us};
	if (process_poll(x->context->async_fd, 100 * MS) != 1 ||
	    ibv_get_async_event(x->context, &late->event) || late->event.event_type != type ||
	    late->event.element.qp != element)
		return -1;
	return process_thread("acknowledger", acknowledge_late, late);
}

/* Without a byte, so that no key is needed. */
static int write_nothing(struct all *x)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	return ibv_post_send(x->qp, &wr, &bad);
}

static int overflow(struct all *x)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	const int room = x->cq->cqe;

	for (int sent = 0; sent <= room + 1; sent++) {
		if (write_nothing(x))
			return -1;
		process_sleep_us(20);
	}
	return ibv_modify_qp(x->qp, &attr, IBV_QP_STATE);
}

static int with_events(void)
{
	struct ibv_srq_attr limit = {.srq_limit = 1};
	struct late of_cq, of_qp, of_srq;
	struct all x = {0};

	if (open_all(&x) || connect_self(&x))
		return 1;
	if (ibv_destroy_cq(x.cq) != EBUSY || ibv_destroy_srq(x.srq) != EBUSY ||
	    ibv_dealloc_pd(x.pd) != EBUSY || ibv_destroy_comp_channel(x.channel) != EBUSY)
		return 9;
	if (ibv_modify_srq(x.srq, &limit, IBV_SRQ_LIMIT) ||
	    take(&x, IBV_EVENT_SRQ_LIMIT_REACHED, x.srq, ACK_DELAY_US, &of_srq))
		return 2;
	process_sleep_us(2 * ACK_DELAY_US);
	if (overflow(&x) || take(&x, IBV_EVENT_CQ_ERR, x.cq, 2 * ACK_DELAY_US, &of_cq) ||
	    take(&x, IBV_EVENT_QP_FATAL, x.qp, ACK_DELAY_US, &of_qp))
		return 3;
	if (ibv_destroy_qp(x.qp) || !of_qp.done)
		return 4;
	if (ibv_destroy_cq(x.cq) || !of_cq.done)
		return 5;
	if (ibv_modify_srq(x.srq, &limit, IBV_SRQ_LIMIT) ||
	    take(&x, IBV_EVENT_SRQ_LIMIT_REACHED, x.srq, ACK_DELAY_US, &of_srq))
		return 6;
	if (ibv_destroy_srq(x.srq) || !of_srq.done)
		return 7;
	return close_all(&x) ? 8 : 0;
}

/* --- calls for objects that go --- */

struct call {
	int (*fn)(struct all *x);
	struct all *x;
	int result;
	bool done;
};

static void call_late(void *arg)
{
	struct call *call = arg;

	process_sleep_us(CALL_DELAY_US);
	call->result = call->fn(call->x);
	call->done = true;
}

static int query_qp(struct all *x)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(x->qp, &attr, IBV_QP_STATE, &init);
}

static int query_srq(struct all *x)
{
	struct ibv_srq_attr attr;

	return ibv_query_srq(x->srq, &attr);
}

static int resize_cq(struct all *x)
{
	return ibv_resize_cq(x->cq, 2 * CQE);
}

static int rereg_mr(struct all *x)
{
	return ibv_rereg_mr(x->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE)
		       ? errno
		       : 0;
}

static int dereg_mr_of(struct all *x)
{
	return ibv_dereg_mr(x->mr);
}

/* One thread destroys; another one calls for the same object meanwhile, and is refused. */
static int while_destroyed(void)
{
	static const struct {
		int (*destroy)(struct all *x), (*call)(struct all *x);
	} rows[] = {
		{destroy_qp_of, query_qp},
		{destroy_srq_of, query_srq},
		{destroy_cq_of, resize_cq},
		{dereg_mr_of, rereg_mr},
	};
	struct all x = {0};

	if (open_all(&x) || connect_self(&x))
		return 1;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct call call = {.fn = rows[i].call, .x = &x};

		if (process_thread("caller", call_late, &call) || rows[i].destroy(&x))
			return 2 + (int)i;
		while (!call.done)
			process_sleep_us(1);
		if (call.result != EBUSY)
			return 10 + (int)i;
	}
	return ibv_dealloc_pd(x.pd) || ibv_destroy_comp_channel(x.channel) ||
			       ibv_close_device(x.context)
		       ? 20
		       : 0;
}

/* --- a migration that fails --- */

static int arm(struct all *x)
{
	struct ibv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM, .alt_port_num = 2, .alt_timeout = 8};
	struct ibv_qp_init_attr init;
	struct ibv_port_attr port;

	if (ibv_query_port(x->context, 2, &port))
		return -1;
	attr.alt_ah_attr = (struct ibv_ah_attr){.dlid = port.lid, .port_num = 2};
	if (ibv_modify_qp(x->qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE))
		return -1;
	for (unsigned i = 0; i < ROUNDS_MAX; i++) {
		if (write_nothing(x))
			return -1;
		process_sleep_us(20);
		if (ibv_query_qp(x->qp, &attr, IBV_QP_PATH_MIG_STATE, &init))
			return -1;
		if (attr.path_mig_state == IBV_MIG_ARMED)
			return 0;
		(void)ibv_poll_cq(x->cq, 1, &(struct ibv_wc){0});
	}
	return -1;
}

static int migration(void *arg)
{
	struct ibv_qp_attr migrate = {.path_mig_state = IBV_MIG_MIGRATED};
	struct late late;
	struct all x = {0};

	if (open_all(&x) || connect_self(&x))
		return 1;
	if (arm(&x))
		return 2;
	if (ibv_modify_qp(x.qp, &migrate, IBV_QP_PATH_MIG_STATE))
		return 3;
	if (take(&x, IBV_EVENT_PATH_MIG_ERR, x.qp, ACK_DELAY_US, &late))
		return 4;
	if (ibv_destroy_qp(x.qp) || !late.done)
		return 5;
	return ibv_destroy_srq(x.srq) || ibv_destroy_cq(x.cq) || close_all(&x) ? 6 : 0;
}

static int program(void *arg)
{
	const int rc = with_events();

	return rc ? 100 + rc : while_destroyed();
}

SCENARIO(process_destroys, "objects that are destroyed while other threads have to do with them",
	 .no_qps = true, .any_packets = true, .settings = {"hca.ports=2"})
{
	expect_exit(start_process(a, program, NULL), 0);
	ignore_events(a); /* of the port */
	ignore_events(b);
	must(drv_port_down(a->dev, 2));
	pass_time(CFG_MS(1));
	expect_exit(start_process(a, migration, NULL), 0);
}
