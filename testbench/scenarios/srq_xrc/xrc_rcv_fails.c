/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receive QP fails because the peer writes where it has no access. Only the kernel can hear of
 * it, so it handles the event and logs it. The sender gets a remote access error. When it sends
 * again from a fresh QP with the same number, the failed side does not answer, and the retries are
 * exceeded. A registered process gets the failure event itself, with the number of the QP. So does each process
 * that has a handle, as an event of that handle.
 */
#include "model/interface/macros.h"
#include "testbench/programs.h"

enum { TIMEOUT = 8, RETRIES = 2 };

static int restart(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET, .port_num = 1};
	int rc = ibv_modify_qp(p->qp, &attr, IBV_QP_STATE);

	if (rc)
		return rc;
	attr.qp_state = IBV_QPS_INIT;
	rc = ibv_modify_qp(p->qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	return rc ? rc : program_connect(p);
}

static void one_way(struct tb *tb, struct tb_end *a, struct tb_end *b, int (*make)(void *arg),
		    bool registered)
{
	struct process *sender = start_worker(a), *receiver = start_worker(b);
	struct program s = {.peer_lid = b->lid, .timeout = TIMEOUT, .retry_cnt = RETRIES},
		       r = {.file = "domain",
			    .peer_lid = a->lid,
			    .access = IBV_ACCESS_REMOTE_WRITE};
	struct ib_device *kernel = ib_device_of(b);
	unsigned logged = kernel ? kernel->xrc_rcv_events : 0;

	run_in(sender, program_open, &s);
	run_in(sender, program_sender, &s);
	r.peer_qpn = s.qpn;
	run_in(receiver, program_open, &r);
	run_in(receiver, program_open_xrcd, &r);
	run_in(receiver, program_xrc_srq, &r);
	run_in(receiver, make, &r);
	if (!still_right())
		return;
	s.peer_qpn = r.qpn;
	s.remote_srqn = r.srq_num;
	s.remote_addr = (uintptr_t)r.buf + PROGRAM_BYTES; /* beyond the end of the region */
	s.rkey = r.mr->rkey;
	run_in(sender, program_connect, &s);
	run_in(sender, program_write, &s);
	run_in_expect(sender, program_wait, &s, IBV_WC_REM_ACCESS_ERR);
	if (registered) {
		run_in(receiver, program_get_event, &r);
		expect_equal((uint32_t)r.event.event_type,
			     IBV_EVENT_COMM_EST | IBV_XRC_QP_EVENT_FLAG);
		run_in(receiver, program_get_event, &r);
		expect_equal((uint32_t)r.event.event_type,
			     IBV_EVENT_QP_ACCESS_ERR | IBV_XRC_QP_EVENT_FLAG);
		expect_equal(r.event.element.xrc_qp_num, r.qpn);
	} else {
		/* the first event is "communication established", because the QP is in RTR */
		expect_equal(kernel->xrc_rcv_events, logged + 2);
		expect_equal(kernel->xrc_rcv_event, IB_EVENT_QP_ACCESS_ERR);
		expect_equal(kernel->xrc_rcv_event_qpn, r.qpn);
	}
	run_in(sender, restart, &s);
	run_in(sender, program_send, &s);
	run_in_expect(sender, program_wait, &s, IBV_WC_RETRY_EXC_ERR);
	end_worker(receiver);
	end_worker(sender);
}

/* An event that names the process' own handle, or the number of a registration; the kernel keeps no count. */
static void hears(struct tb *tb, struct process *worker, struct program *p, bool registered)
{
	static const enum ibv_event_type events[] = {IBV_EVENT_COMM_EST, IBV_EVENT_QP_ACCESS_ERR};

	for_each_row(i, events) {
		run_in(worker, program_get_event, p);
		expect_equal((uint32_t)p->event.event_type,
			     (uint32_t)events[i] | (registered ? IBV_XRC_QP_EVENT_FLAG : 0));
		if (registered)
			expect_equal(p->event.element.xrc_qp_num, p->qpn);
		else
			expect_true(p->event.element.qp == p->qp);
	}
}

static int no_event(void *arg)
{
	const struct program *p = arg;

	return process_poll(p->context->async_fd, 0);
}

static void heard_by_all(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static int (*const joins[])(void *arg) = {program_target, program_open_target,
						  program_reg_rcv, program_open_target};
	enum { HOLDERS = ARRAY_SIZE(joins) };
	struct process *sender = start_worker(a), *worker[HOLDERS];
	struct program s = {.peer_lid = b->lid, .timeout = TIMEOUT, .retry_cnt = RETRIES},
		       r[HOLDERS];
	struct ib_device *kernel = ib_device_of(b);
	unsigned logged = kernel ? kernel->xrc_rcv_events : 0;

	run_in(sender, program_open, &s);
	run_in(sender, program_sender, &s);
	for_each_row(i, joins) {
		worker[i] = start_worker(b);
		r[i] = (struct program){.file = "domain",
					.peer_lid = a->lid,
					.peer_qpn = s.qpn,
					.qpn = i ? r[0].qpn : 0,
					.access = IBV_ACCESS_REMOTE_WRITE};
		run_in(worker[i], program_open, &r[i]);
		run_in(worker[i], program_open_xrcd, &r[i]);
		run_in(worker[i], joins[i], &r[i]);
	}
	if (!still_right())
		return;
	run_in(worker[0], program_xrc_srq, &r[0]);
	s.peer_qpn = r[0].qpn;
	s.remote_srqn = r[0].srq_num;
	s.remote_addr = (uintptr_t)r[0].buf + PROGRAM_BYTES;
	s.rkey = r[0].mr->rkey;
	run_in(sender, program_connect, &s);
	run_in(sender, program_write, &s);
	run_in_expect(sender, program_wait, &s, IBV_WC_REM_ACCESS_ERR);
	for_each_row(i, joins)
		hears(tb, worker[i], &r[i], joins[i] == program_reg_rcv);
	for_each_row(i, joins) {
		run_in(worker[i], no_event, &r[i]);
		end_worker(worker[i]);
	}
	if (still_right())
		expect_equal(kernel->xrc_rcv_events, logged);
	end_worker(sender);
}

SCENARIO(xrc_rcv_fails,
	 "XRC receive QP: it fails, its kernel logs it, the sender's retries run out",
	 .no_qps = true, .any_packets = true)
{
	one_way(tb, a, b, program_alloc_rcv, false);
	one_way(tb, a, b, program_create_rcv, true);
	heard_by_all(tb, a, b);
}
