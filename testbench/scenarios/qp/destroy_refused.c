/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device refuses to destroy an object. A region with bound windows is refused with EBUSY,
 * without further effect; it can be destroyed when the windows are gone. After any other refusal
 * the device might go on using an object that software has forgotten (a window of type 2 would hold
 * its region for ever). So the kernel resets the device, as Linux does
 * (mlx4_closing_cmd_fatal_error): the call succeeds and IBV_EVENT_DEVICE_FATAL reports the reset.
 * The remaining objects can still be destroyed, by the process or at its death, although the device
 * no longer knows them. Commands of other threads fail at once meanwhile, and leave the device alone
 * while it is reset.
 */
#include "model/interface/commands.h"
#include "testbench/harm.h"
#include "testbench/programs.h"

enum { LEN = 64, ASK_MS = 10, ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND };

struct owner {
	bool dies;
	bool stands; /* everything is made: the scenario's body may go on */
};

static int bind(struct program *p, struct ibv_mr *mr, struct ibv_mw *mw)
{
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = mr, .addr = (uintptr_t)p->buf, .length = LEN, .mw_access_flags = 0};
	return ibv_post_send(p->qp, &wr, &bad) || program_wait(p);
}

static int owner_main(void *arg)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct program p = {.file = "domain", .peer_lid = 1, .peer_qpn = 1};
	struct ibv_async_event event;
	struct owner *o = arg;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_srq *srq;

	if (program_open(&p) || program_open_xrcd(&p) || program_sender(&p) || program_connect(&p))
		return __LINE__;
	mr = ibv_reg_mr(p.pd, p.buf, PROGRAM_BYTES, ACCESS);
	mw = ibv_alloc_mw(p.pd, IBV_MW_TYPE_2);
	srq = ibv_create_srq(p.pd, &init);
	if (!mr || !mw || !srq || bind(&p, mr, mw) || ibv_dereg_mr(mr) != EBUSY)
		return __LINE__;
	o->stands = true;
	process_sleep_us(CFG_MS(1) / CFG_US(1));
	if (o->dies)
		process_sleep_us(CFG_S(100) / CFG_US(1));
	if (ibv_dealloc_mw(mw) || ibv_dereg_mr(mr) || ibv_destroy_qp(p.qp) ||
	    ibv_destroy_srq(srq) || ibv_dereg_mr(p.mr) || ibv_destroy_cq(p.cq))
		return __LINE__;
	if (ibv_get_async_event(p.context, &event) || event.event_type != IBV_EVENT_DEVICE_FATAL)
		return __LINE__;
	ibv_ack_async_event(&event);
	if (ibv_reg_mr(p.pd, p.buf, LEN, 0) || errno != EIO)
		return __LINE__;
	return ibv_close_xrcd(p.xrcd) || ibv_dealloc_pd(p.pd) || ibv_close_device(p.context);
}

struct asker {
	struct tb_end *end;
	int rc;
	bool stop, done;
};

static void ask_on(void *arg)
{
	struct asker *k = arg;
	struct platform *p = k->end->platform;
	uint16_t pkey;

	while (!k->stop) {
		k->rc = drv_query_pkey(k->end->dev, 1, 0, &pkey);
		p->ops->sleep_ps(p, CFG_MS(ASK_MS));
	}
	k->done = true;
}

static void refused(struct tb *tb, struct tb_end *a, uint32_t opcode, bool dies)
{
	struct asker asker = {.end = a};
	struct owner owner = {.dies = dies};
	struct process *p = start_process(a, owner_main, &owner);

	while (still_right() && !owner.stands)
		pass_time(CFG_US(10));
	fail_command(a, opcode, HCR_STATUS_INTERNAL_ERR, 1);
	a->platform->ops->thread_start(a->platform, "asker", ask_on, &asker);
	if (dies)
		kill_process(p);
	expect_exit(p, dies ? PROCESS_KILLED : 0);
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	expect_true(drv_is_dead(a->dev));
	asker.stop = true;
	pass_time(CFG_MS(2 * ASK_MS));
	expect_true(asker.done);
	expect_equal(asker.rc, -EIO);
	ignore_events(a);
	abandon(a);
	bring_up(a);
	activate_ports();
	check_events(a);
}

SCENARIO(destroy_refused, "the device refuses to give an object back, and is reset for it",
	 .no_qps = true, .any_packets = true)
{
	static const uint32_t opcodes[] = {HCR_HW2SW_MPT, HCR_2RST_QP, HCR_HW2SW_SRQ, HCR_HW2SW_CQ};

	ignore_events(b);
	for (unsigned i = 0; i < 4 && still_right(); i++) {
		refused(tb, a, opcodes[i], false);
		refused(tb, a, opcodes[i], true);
	}
}
