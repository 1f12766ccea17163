/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process ends with a region that is younger than the window that is bound to it. The kernel destroys the
 * objects of a process newest first, and a region under a window cannot be destroyed; so it is left for a
 * second round. A queue pair leaves all its groups. The same when the process closes its context. Nothing of the
 * process is left in the driver.
 */
/* behaviours: MEM-7 */
#include "testbench/scenarios/programs/by_calls.h"
#include "testbench/programs.h"

#include <stdlib.h>

enum { PAGE = 4096, GROUPS = 20, FOREVER_US = 100000000 };

struct bound {
	bool closes;
	bool stands; /* everything is made: the scenario's body may go on */
};

static int bind_younger(struct by_calls *x)
{
	struct ibv_mw *mw = ibv_alloc_mw(x->pd, IBV_MW_TYPE_2);
	void *page = process_memory(PAGE);
	struct ibv_mr *mr =
		ibv_reg_mr(x->pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	const struct ibv_mw_bind_info info = {.mr = mr, .addr = (uintptr_t)page, .length = PAGE};

	if (!mw || !mr)
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_id = 1;
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(x->calls, mw, ibv_inc_rkey(mw->rkey), &info);
	if (ibv_wr_complete(x->calls) || IS(x, 0, .wr_id = 1, .opcode = IBV_WC_BIND_MW))
		return __LINE__;
	return ibv_dereg_mr(mr) == EBUSY ? 0 : __LINE__;
}

static int join_groups(struct by_calls *x)
{
	struct ibv_qp_init_attr init = {.send_cq = ibv_cq_ex_to_cq(x->cq[0]),
					.recv_cq = ibv_cq_ex_to_cq(x->cq[0]),
					.qp_type = IBV_QPT_UD};
	struct ibv_qp *qp = ibv_create_qp(x->pd, &init);
	union ibv_gid group = {.raw = {0xff, 0x12, 0xa0, 0x1b}};

	if (!qp)
		return __LINE__;
	for (unsigned i = 0; i < GROUPS; i++) {
		group.raw[15] = (uint8_t)(i + 1);
		if (ibv_attach_mcast(qp, &group, (uint16_t)(0xc001 + i)))
			return __LINE__;
	}
	return ibv_destroy_qp(qp) == EBUSY ? 0 : __LINE__;
}

static int program(void *arg)
{
	struct bound *b = arg;
	struct by_calls *x = calloc(1, sizeof(*x));
	struct ibv_context *context;
	int rc;

	*x = (struct by_calls){.type = IBV_QPT_RC, .ops = IBV_QP_EX_WITH_BIND_MW};
	rc = open_by_calls(x);
	if (!rc)
		rc = bind_younger(x);
	if (!rc)
		rc = join_groups(x);
	context = x->context;
	free(x);
	if (rc)
		return rc;
	if (b->closes)
		return ibv_close_device(context);
	b->stands = true;
	process_sleep_us(FOREVER_US);
	return __LINE__;
}

SCENARIO(process_dies_bound, "a process ends with a window that is older than its region",
	 .no_qps = true, .any_packets = true)
{
	struct bound closes = {.closes = true}, dies = {.stands = false};
	struct process *idle = start_worker(a), *p;
	unsigned before;
	struct program kept = {.file = "domain"};

	run_in(idle, program_open, &kept);
	before = driver_holds(a->dev);
	expect_exit(start_process(a, program, &closes), 0);
	expect_equal(driver_holds(a->dev), before);
	p = start_process(a, program, &dies);
	while (still_right() && !dies.stands && !has_exited(p))
		pass_time(CFG_US(10));
	kill_process(p);
	expect_exit(p, PROCESS_KILLED);
	expect_equal(driver_holds(a->dev), before);
	end_worker(idle);
}
