/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An XRC receive QP belongs to no process. The process that made it is killed, and another one goes
 * on receiving through it on its own SRQ. With the first interface the domain keeps the QP alive;
 * with registrations and with opened handles the process that has one does.
 */
#include "testbench/programs.h"

/* How the receiver keeps the QP alive; NULL: the domain does it. */
static void one_way(struct tb *tb, struct tb_end *a, struct tb_end *b, int (*make)(void *arg),
		    int (*hold)(void *arg))
{
	struct process *sender = start_worker(a), *creator = start_worker(b),
		       *receiver = start_worker(b);
	struct program s = {.peer_lid = b->lid}, c = {.file = "domain", .peer_lid = a->lid},
		       r = {.file = "domain"};

	run_in(sender, program_open, &s);
	run_in(sender, program_sender, &s);
	c.peer_qpn = s.qpn;
	run_in(creator, program_open, &c);
	run_in(creator, program_open_xrcd, &c);
	run_in(creator, make, &c);
	run_in(receiver, program_open, &r);
	run_in(receiver, program_open_xrcd, &r);
	run_in(receiver, program_xrc_srq, &r);
	r.qpn = s.peer_qpn = c.qpn;
	if (hold)
		run_in(receiver, hold, &r);
	s.remote_srqn = r.srq_num;
	run_in(sender, program_connect, &s);
	for (uint64_t id = 1; id <= 2; id++) {
		s.wr_id = r.wr_id = id;
		run_in(receiver, program_recv, &r);
		run_in(sender, program_send, &s);
		run_in(sender, program_wait, &s);
		run_in(receiver, program_wait, &r);
		expect_equal(r.wc.wr_id, id);
		expect_equal(r.wc.qp_num, c.qpn);
		if (id == 1) {
			kill_process(creator);
			expect_exit(creator, PROCESS_KILLED);
		}
	}
	end_worker(receiver);
	end_worker(sender);
}

SCENARIO(xrc_rcv_survives, "XRC receive QP: its creator dies, another process keeps receiving",
	 .no_qps = true, .any_packets = true)
{
	one_way(tb, a, b, program_alloc_rcv, NULL);
	one_way(tb, a, b, program_create_rcv, program_reg_rcv);
	one_way(tb, a, b, program_target, program_open_target);
}
