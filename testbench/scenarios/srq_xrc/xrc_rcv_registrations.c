/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An XRC receive QP of the second interface lives as long as any process holds it: the process that
 * made it, one that registered (twice, which counts once), one with a handle of today's interface.
 * Each gives it up in its own way, the last one by dying. Only then does the sender run out of
 * retries, and the QP number is free. A change that is refused holds nothing.
 */
#include "testbench/programs.h"

#include <errno.h>

enum { TIMEOUT = 8, RETRIES = 2, HOLDERS = 3 };

/* Sends a message to the SRQ of the first holder, and checks its completion. */
static void send_one(struct tb *tb, struct process *sender, struct program *s,
		     struct process *receiver, struct program *r, enum ibv_wc_status status)
{
	s->wr_id++;
	r->wr_id++;
	if (status == IBV_WC_SUCCESS)
		run_in(receiver, program_recv, r);
	run_in(sender, program_send, s);
	run_in_expect(sender, program_wait, s, status);
	if (status != IBV_WC_SUCCESS)
		return;
	run_in(receiver, program_wait, r);
	expect_equal(r->wc.wr_id, r->wr_id);
	expect_equal(r->wc.byte_len, PROGRAM_BYTES);
}

/* It is in RTR. */
static int refused_change(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};

	return ibv_modify_xrc_rcv_qp((struct ibv_xrc_domain *)p->xrcd, p->qpn, &attr,
				     IBV_QP_STATE | IBV_QP_CUR_STATE);
}

SCENARIO(xrc_rcv_registrations, "XRC receive QP: it goes with the last process that has it",
	 .no_qps = true, .any_packets = true)
{
	struct process *sender = start_worker(a), *p[HOLDERS];
	struct program s = {.peer_lid = b->lid, .timeout = TIMEOUT, .retry_cnt = RETRIES},
		       r[HOLDERS];

	run_in(sender, program_open, &s);
	run_in(sender, program_sender, &s);
	for (unsigned i = 0; i < HOLDERS; i++) {
		p[i] = start_worker(b);
		r[i] = (struct program){.file = "domain", .peer_lid = a->lid, .peer_qpn = s.qpn};
		run_in(p[i], program_open, &r[i]);
		run_in(p[i], program_open_xrcd, &r[i]);
	}
	run_in(p[0], program_xrc_srq, &r[0]);
	run_in(p[0], program_create_rcv, &r[0]);
	s.peer_qpn = r[1].qpn = r[2].qpn = r[0].qpn;
	s.remote_srqn = r[0].srq_num;
	run_in(p[1], program_reg_rcv, &r[1]);
	run_in(p[1], program_reg_rcv, &r[1]);
	run_in(p[2], program_open_target, &r[2]);
	run_in(sender, program_connect, &s);
	send_one(tb, sender, &s, p[0], &r[0], IBV_WC_SUCCESS);

	run_in_expect(p[0], refused_change, &r[0], EINVAL);

	phase("its maker lets go");
	run_in(p[0], program_unreg_rcv, &r[0]);
	run_in_expect(p[0], program_unreg_rcv, &r[0], EINVAL);
	send_one(tb, sender, &s, p[0], &r[0], IBV_WC_SUCCESS);

	phase("the one that registered twice");
	run_in(p[1], program_unreg_rcv, &r[1]);
	run_in_expect(p[1], program_unreg_rcv, &r[1], EINVAL);
	send_one(tb, sender, &s, p[0], &r[0], IBV_WC_SUCCESS);

	phase("the one with a handle dies");
	kill_process(p[2]);
	expect_exit(p[2], PROCESS_KILLED);
	send_one(tb, sender, &s, p[0], &r[0], IBV_WC_RETRY_EXC_ERR);
	run_in_expect(p[1], program_reg_rcv, &r[1], EINVAL);
	end_worker(p[0]);
	end_worker(p[1]);
	end_worker(sender);
}
