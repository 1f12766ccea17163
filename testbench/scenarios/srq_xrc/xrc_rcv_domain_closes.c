/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receive QP lives as long as its domain, and the domain ends when the last process closes it.
 * While one of two processes has it open the QP exists, even after the process that made it has
 * closed it. After the last close the QP is gone, and the sender runs out of retries. Processes
 * give up the domain both by closing it and by dying.
 */
#include "testbench/programs.h"

enum { TIMEOUT = 8, RETRIES = 2 };

static void one_way(struct tb *tb, struct tb_end *a, struct tb_end *b, bool by_death)
{
	struct process *sender = start_worker(a), *first = start_worker(b), *last = start_worker(b);
	struct program s = {.peer_lid = b->lid, .timeout = TIMEOUT, .retry_cnt = RETRIES},
		       f = {.file = "domain", .peer_lid = a->lid}, l = {.file = "domain"};
	struct ib_device *kernel = ib_device_of(b);

	run_in(sender, program_open, &s);
	run_in(sender, program_sender, &s);
	f.peer_qpn = s.qpn;
	run_in(first, program_open, &f);
	run_in(first, program_open_xrcd, &f);
	run_in(first, program_alloc_rcv, &f);
	run_in(last, program_open, &l);
	run_in(last, program_open_xrcd, &l);
	run_in(last, program_xrc_srq, &l);
	run_in(last, program_recv, &l);
	s.peer_qpn = f.qpn;
	s.remote_srqn = l.srq_num;
	run_in(sender, program_connect, &s);
	run_in(first, program_close_xrcd, &f);
	run_in(sender, program_send, &s);
	run_in(sender, program_wait, &s);
	run_in(last, program_wait, &l);
	/* the domain still contains its SRQ */
	run_in_expect(last, program_close_xrcd, &l, EBUSY);
	if (!still_right())
		return;
	expect_true(drv_qp_find(kernel->drv, f.qpn));
	if (by_death) {
		kill_process(last);
		expect_exit(last, PROCESS_KILLED);
	} else {
		ibv_destroy_srq(l.srq);
		run_in(last, program_close_xrcd, &l);
		end_worker(last);
	}
	expect_true(!drv_qp_find(kernel->drv, f.qpn));
	run_in(sender, program_send, &s);
	run_in_expect(sender, program_wait, &s, IBV_WC_RETRY_EXC_ERR);
	end_worker(first);
	end_worker(sender);
}

SCENARIO(xrc_rcv_domain_closes, "XRC receive QP: it goes when the last process closes its domain",
	 .no_qps = true, .any_packets = true)
{
	one_way(tb, a, b, false);
	one_way(tb, a, b, true);
}
