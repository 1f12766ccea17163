/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two domains on one host. Each receive QP delivers only to SRQs of its own domain; a QP number is
 * unknown in the other domain. A message to an SRQ of the wrong domain is an invalid request, and
 * the QP that received it fails; QP and SRQ of the other domain go on.
 */
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

/* The second domain, opened by the process of the first one too: the registrations of either are its own. */
static int other_domain(void *arg)
{
	struct program *r = arg;
	struct program x = r[0];

	x.file = r[1].file;
	if (program_open_xrcd(&x))
		return __LINE__;
	x.qpn = r[1].qpn;
	GIVES(program_reg_rcv(&x), 0);
	GIVES(program_unreg_rcv(&r[2]), EINVAL);
	GIVES(program_reg_rcv(&r[2]), EINVAL);
	GIVES(program_close_xrcd(&x), EBUSY);
	GIVES(program_unreg_rcv(&x), 0);
	GIVES(program_unreg_rcv(&x), EINVAL);
	return program_close_xrcd(&x);
}

SCENARIO(xrc_rcv_two_domains, "XRC receive QPs of two domains; an SRQ of the wrong one is refused",
	 .no_qps = true, .any_packets = true)
{
	struct process *sender[2], *receiver[2];
	struct program s[2], r[2], of_two[3];
	static const char *const files[2] = {"one", "two"};

	for (unsigned i = 0; i < 2; i++) {
		sender[i] = start_worker(a);
		receiver[i] = start_worker(b);
		s[i] = (struct program){.peer_lid = b->lid};
		r[i] = (struct program){.file = files[i], .peer_lid = a->lid};
		run_in(sender[i], program_open, &s[i]);
		run_in(sender[i], program_sender, &s[i]);
		r[i].peer_qpn = s[i].qpn;
		run_in(receiver[i], program_open, &r[i]);
		run_in(receiver[i], program_open_xrcd, &r[i]);
		run_in(receiver[i], program_xrc_srq, &r[i]);
		run_in(receiver[i], program_recv, &r[i]);
		run_in(receiver[i], i ? program_create_rcv : program_alloc_rcv, &r[i]);
		s[i].peer_qpn = r[i].qpn;
		s[i].remote_srqn = r[i].srq_num;
		run_in(sender[i], program_connect, &s[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		run_in(sender[i], program_send, &s[i]);
		run_in(sender[i], program_wait, &s[i]);
		run_in(receiver[i], program_wait, &r[i]);
		expect_equal(r[i].wc.qp_num, r[i].qpn);
	}
	phase("numbers of the other domain");
	r[0].qpn = r[1].qpn;
	run_in_expect(receiver[0], program_reg_rcv, &r[0], EINVAL);
	run_in_expect(receiver[0], program_open_target, &r[0], -1);
	run_in_expect(receiver[0], program_rcv_to_error, &r[0], EINVAL);
	of_two[0] = of_two[2] = r[0];
	of_two[1] = r[1];
	run_in(receiver[0], other_domain, of_two);
	/* a QP that belongs to its domain has no handles at all */
	r[0].qpn = s[0].peer_qpn;
	run_in_expect(receiver[0], program_reg_rcv, &r[0], EINVAL);

	phase("an SRQ of the other domain");
	run_in(receiver[1], program_recv, &r[1]);
	s[0].remote_srqn = r[1].srq_num;
	run_in(sender[0], program_send, &s[0]);
	run_in_expect(sender[0], program_wait, &s[0], IBV_WC_REM_INV_REQ_ERR);
	run_in(sender[1], program_send, &s[1]);
	run_in(sender[1], program_wait, &s[1]);
	run_in(receiver[1], program_wait, &r[1]);
	for (unsigned i = 0; i < 2; i++) {
		end_worker(receiver[i]);
		end_worker(sender[i]);
	}
}
