/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device stops with a catastrophic error. The kernel polls the error buffer and finds out; every
 * process gets IBV_EVENT_DEVICE_FATAL. From then on verbs that need the device fail at once with
 * EIO, opening the device fails with ENODEV, and existing objects can be destroyed. A process
 * asleep on a completion that never comes, and a process unaware of the error, end together with
 * the host's driver. After a reset everything works again.
 */
#include "model/engine/base/engine.h"
#include "testbench/programs.h"

enum { BYTES = 64, SETTLE_MS = 10, RESET_BIT = 1 };

static const union ibv_gid group = {.raw = {0xff, 0x12, [15] = 9}};

/* A UD queue pair in a multicast group: one more object to destroy. */
static struct ibv_qp *member(struct program *p)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
					.send_cq = p->cq,
					.recv_cq = p->cq,
					.cap = {.max_send_wr = 1, .max_send_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &init);

	if (!qp ||
	    ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) ||
	    ibv_attach_mcast(qp, &group, 0))
		return NULL;
	return qp;
}

/* The error of a verb that returns a pointer. */
#define ERRNO_OF(call) (errno = 0, (call) ? 0 : errno)

static int watcher(void *arg)
{
	struct program p = {.file = "domain"};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_async_event event;
	struct ibv_port_attr port;
	struct ibv_qp *qp;
	uint64_t before;

	if (program_open(&p) || program_open_xrcd(&p) || program_xrc_srq(&p) || program_target(&p))
		return __LINE__;
	qp = member(&p);
	if (!qp || ibv_get_async_event(p.context, &event))
		return __LINE__;
	ibv_ack_async_event(&event);
	if (event.event_type != IBV_EVENT_DEVICE_FATAL)
		return __LINE__;
	before = process_now_ns();
	if (ERRNO_OF(ibv_reg_mr(p.pd, p.buf, BYTES, 0)) != EIO ||
	    ERRNO_OF(ibv_create_cq(p.context, 1, NULL, NULL, 0)) != EIO ||
	    ibv_query_port(p.context, 1, &port) != EIO || program_rcv_to_error(&p) != EIO ||
	    ERRNO_OF(ibv_open_device(list[0])) != ENODEV)
		return __LINE__;
	if (ibv_detach_mcast(qp, &group, 0) || ibv_destroy_qp(qp) || ibv_destroy_qp(p.qp) ||
	    ibv_destroy_srq(p.srq) || ibv_close_xrcd(p.xrcd) || ibv_dereg_mr(p.mr) ||
	    ibv_destroy_cq(p.cq) || ibv_dealloc_pd(p.pd) || ibv_close_device(p.context))
		return __LINE__;
	/* no call waited for the dead device */
	return process_now_ns() - before < 1000000 ? 0 : __LINE__;
}

static int sleeper(void *arg)
{
	struct program p = {.file = "domain"};
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	void *context;

	if (program_open(&p) || program_open_xrcd(&p) || program_alloc_rcv(&p))
		return __LINE__;
	channel = ibv_create_comp_channel(p.context);
	cq = ibv_create_cq(p.context, 1, NULL, channel, 0);
	if (!cq || !member(&p) || ibv_req_notify_cq(cq, 0))
		return __LINE__;
	return ibv_get_cq_event(channel, &cq, &context);
}

static int alive(void *arg)
{
	struct program p = {0};

	return program_open(&p) || ibv_close_device(p.context);
}

SCENARIO(device_fatal, "a catastrophic error, as processes see it", .no_qps = true,
	 .any_packets = true, .settings = {"host.catas_poll=1ms"})
{
	struct process *w = start_process(a, watcher, NULL), *s = start_process(a, sleeper, NULL);
	struct process *idle = start_worker(a);

	pass_time(CFG_MS(SETTLE_MS));
	ignore_events(b);
	hca_catastrophe(host_hca(a->host), ERR_BUF_INJECTED, 0, "a test");
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	expect_catastrophe(a);
	expect_exit(w, 0);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(SETTLE_MS));
	ignore_events(a);
	abandon(a);
	expect_exit(s, PROCESS_KILLED);
	expect_exit(idle, PROCESS_KILLED);
	phase("again");
	bring_up(a);
	activate_ports();
	expect_exit(start_process(a, alive, NULL), 0);
}
