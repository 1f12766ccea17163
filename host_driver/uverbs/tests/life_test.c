// SPDX-License-Identifier: Apache-2.0
/*
 * A program's whole life, from open to close, with everything that user verbs have: regions
 * registered again, bound windows, queues of every kind, XRC domains and receive QPs, multicast.
 * Its nth allocation or its nth command fails, for all n until nothing fails any more. At the first
 * call that fails the program gives up. It then either ends at once, or destroys what it has made.
 * Afterwards nothing of it is left: in kernel and driver, in ICM, and no valid object in the
 * device. The same is done with the nth command of the end refused: the device then keeps its
 * object, but nobody else keeps anything.
 */
#include "host_driver/uverbs/tests/unwind_rig.h"
#include "model/interface/macros.h"
#include "model/sim/units.h"
#include "traces/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct life {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_mw *mw1, *mw2;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_srq *srq, *xrc_srq;
	struct ibv_xrcd *xrcd;
	struct ibv_qp *rc, *ud, *initiator, *target, *handle;
	struct ibv_ah *ah;
	uint32_t rcv;
} life;

static const union ibv_gid group = {.raw = {0xff, 0x12, [15] = 7}};

enum {
	ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	      IBV_ACCESS_MW_BIND,
};

/* --- steps: 0, or the error --- */

static int got(const void *object)
{
	return object ? 0 : errno;
}

static int do_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return errno;
	life.context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	return got(life.context);
}

static int undo_open(void)
{
	return ibv_close_device(life.context);
}

static int do_pd(void)
{
	life.pd = ibv_alloc_pd(life.context);
	return got(life.pd);
}

static int undo_pd(void)
{
	return ibv_dealloc_pd(life.pd);
}

static int do_mr(void)
{
	life.mr = ibv_reg_mr(life.pd, rig.memory, REGION, ALL);
	return got(life.mr);
}

static int undo_mr(void)
{
	return ibv_dereg_mr(life.mr);
}

static int do_rereg(void)
{
	return ibv_rereg_mr(life.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    ALL | IBV_ACCESS_REMOTE_ATOMIC)
		       ? errno
		       : 0;
}

static int do_mw1(void)
{
	life.mw1 = ibv_alloc_mw(life.pd, IBV_MW_TYPE_1);
	return got(life.mw1);
}

static int undo_mw1(void)
{
	return ibv_dealloc_mw(life.mw1);
}

static int do_mw2(void)
{
	life.mw2 = ibv_alloc_mw(life.pd, IBV_MW_TYPE_2);
	return got(life.mw2);
}

static int undo_mw2(void)
{
	return ibv_dealloc_mw(life.mw2);
}

static int do_channel(void)
{
	life.channel = ibv_create_comp_channel(life.context);
	return got(life.channel);
}

static int undo_channel(void)
{
	return ibv_destroy_comp_channel(life.channel);
}

static int do_cq(void)
{
	life.cq = ibv_create_cq(life.context, 10, NULL, life.channel, 0);
	return got(life.cq);
}

static int undo_cq(void)
{
	return ibv_destroy_cq(life.cq);
}

static int do_resize(void)
{
	return ibv_resize_cq(life.cq, 500);
}

static int do_moderate(void)
{
	struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {2, 10}};

	return ibv_modify_cq(life.cq, &attr);
}

static int do_cq_ex(void)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 10,
					   .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
					   .channel = life.channel};

	life.cq_ex = ibv_create_cq_ex(life.context, &attr);
	return got(life.cq_ex);
}

static int undo_cq_ex(void)
{
	return ibv_destroy_cq(ibv_cq_ex_to_cq(life.cq_ex));
}

static int do_srq(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 20, .max_sge = 2}};

	life.srq = ibv_create_srq(life.pd, &attr);
	return got(life.srq);
}

static int do_limit(void)
{
	struct ibv_srq_attr limit = {.srq_limit = 3};

	return ibv_modify_srq(life.srq, &limit, IBV_SRQ_LIMIT);
}

static int undo_srq(void)
{
	return ibv_destroy_srq(life.srq);
}

static int do_xrcd(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .oflags = O_CREAT};

	attr.fd = uv_open(rig.other, "life", O_CREAT);
	if (attr.fd < 0)
		return errno;
	life.xrcd = ibv_open_xrcd(life.context, &attr);
	return got(life.xrcd);
}

static int undo_xrcd(void)
{
	return ibv_close_xrcd(life.xrcd);
}

static int do_xrc_srq(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 20, .max_sge = 2},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = life.pd,
		.xrcd = life.xrcd,
		.cq = life.cq,
	};

	life.xrc_srq = ibv_create_srq_ex(life.context, &attr);
	return got(life.xrc_srq);
}

static int undo_xrc_srq(void)
{
	return ibv_destroy_srq(life.xrc_srq);
}

static struct ibv_qp *make(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = life.cq,
		.recv_cq = life.cq,
		.srq = type == IBV_QPT_RC ? life.srq : NULL,
		.cap = {.max_send_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type,
		.comp_mask = type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD,
		.pd = life.pd,
		.xrcd = life.xrcd,
	};

	if (type == IBV_QPT_RC) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_BIND_MW;
	}
	return ibv_create_qp_ex(life.context, &init);
}

static struct ibv_qp_attr attr_of(enum ibv_qp_state state)
{
	return (struct ibv_qp_attr){.qp_state = state,
				    .port_num = 1,
				    .qkey = 1,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = 0x300,
				    .ah_attr = {.dlid = 1, .port_num = 1},
				    .max_dest_rd_atomic = 1,
				    .max_rd_atomic = 1,
				    .min_rnr_timer = 12,
				    .timeout = 14,
				    .retry_cnt = 7,
				    .rnr_retry = 7};
}

enum {
	TO_INIT = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT,
	TO_RTR = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	TO_RTS = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
};

static int do_rc(void)
{
	life.rc = make(IBV_QPT_RC);
	return got(life.rc);
}

static int undo_rc(void)
{
	return ibv_destroy_qp(life.rc);
}

static int do_rts(void)
{
	struct ibv_qp_attr init = attr_of(IBV_QPS_INIT), rtr = attr_of(IBV_QPS_RTR),
			   rts = attr_of(IBV_QPS_RTS);
	int rc = ibv_modify_qp(life.rc, &init, TO_INIT | IBV_QP_ACCESS_FLAGS);

	rc = rc ? rc : ibv_modify_qp(life.rc, &rtr, TO_RTR);
	return rc ? rc : ibv_modify_qp(life.rc, &rts, TO_RTS);
}

/* Binds both windows to the region, and takes the completions. */
static int do_bind(void)
{
	struct platform *p = rig.host.platform;
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {.mr = life.mr,
						 .addr = (uintptr_t)rig.memory,
						 .length = 100,
						 .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(life.rc);
	struct ibv_wc wc[2];
	int n = 0, rc = ibv_bind_mw(life.rc, life.mw1, &bind);

	if (rc)
		return rc;
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(qpx, life.mw2, ibv_inc_rkey(life.mw2->rkey), &bind.bind_info);
	rc = ibv_wr_complete(qpx);
	for (unsigned us = 0; !rc && n < 2 && us < 1000; us++) {
		p->ops->sleep_ps(p, CFG_US(1));
		n += ibv_poll_cq(life.cq, 2 - n, wc + n);
	}
	return rc ? rc : n == 2 && !wc[0].status && !wc[1].status ? 0 : EIO;
}

static int do_ud(void)
{
	life.ud = make(IBV_QPT_UD);
	return got(life.ud);
}

static int undo_ud(void)
{
	return ibv_destroy_qp(life.ud);
}

static int do_ud_init(void)
{
	struct ibv_qp_attr init = attr_of(IBV_QPS_INIT);

	return ibv_modify_qp(life.ud, &init, TO_INIT | IBV_QP_QKEY);
}

static int do_mcast(void)
{
	return ibv_attach_mcast(life.ud, &group, 0);
}

static int undo_mcast(void)
{
	return ibv_detach_mcast(life.ud, &group, 0);
}

static int do_initiator(void)
{
	life.initiator = make(IBV_QPT_XRC_SEND);
	return got(life.initiator);
}

static int undo_initiator(void)
{
	return ibv_destroy_qp(life.initiator);
}

static int do_target(void)
{
	life.target = make(IBV_QPT_XRC_RECV);
	return got(life.target);
}

static int undo_target(void)
{
	return ibv_destroy_qp(life.target);
}

static int do_handle(void)
{
	struct ibv_qp_open_attr attr = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE,
					.qp_num = life.target->qp_num,
					.xrcd = life.xrcd,
					.qp_type = IBV_QPT_XRC_RECV};

	life.handle = ibv_open_qp(life.context, &attr);
	return got(life.handle);
}

static int undo_handle(void)
{
	return ibv_destroy_qp(life.handle);
}

static struct ibv_xrc_domain *domain(void)
{
	return (struct ibv_xrc_domain *)life.xrcd;
}

static int do_alloc_rcv(void)
{
	struct ibv_qp_attr attr = attr_of(0);
	uint32_t qpn;

	/* freed with its domain */
	return ibv_alloc_xrc_rcv_qp(life.pd, domain(), &attr,
				    (TO_INIT | TO_RTR | IBV_QP_ACCESS_FLAGS) & ~IBV_QP_STATE, &qpn);
}

static int do_create_rcv(void)
{
	struct ibv_qp_init_attr attr = {.xrc_domain = domain()};

	return ibv_create_xrc_rcv_qp(&attr, &life.rcv);
}

static int undo_create_rcv(void)
{
	return ibv_unreg_xrc_rcv_qp(domain(), life.rcv);
}

static int do_modify_rcv(void)
{
	struct ibv_qp_attr attr = attr_of(IBV_QPS_INIT);

	return ibv_modify_xrc_rcv_qp(domain(), life.rcv, &attr, TO_INIT | IBV_QP_ACCESS_FLAGS);
}

static int do_reg_rcv(void)
{
	return ibv_reg_xrc_rcv_qp(domain(), life.target->qp_num);
}

static int undo_reg_rcv(void)
{
	return ibv_unreg_xrc_rcv_qp(domain(), life.target->qp_num);
}

static int do_ah(void)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};

	life.ah = ibv_create_ah(life.pd, &attr);
	return got(life.ah);
}

static int undo_ah(void)
{
	return ibv_destroy_ah(life.ah);
}

static const struct {
	const char *name;
	int (*go)(void);
	int (*undo)(void); /* NULL: it is freed together with something else */
} steps[] = {
	{"open", do_open, undo_open},
	{"pd", do_pd, undo_pd},
	{"mr", do_mr, undo_mr},
	{"rereg", do_rereg, NULL},
	{"mw1", do_mw1, undo_mw1},
	{"mw2", do_mw2, undo_mw2},
	{"channel", do_channel, undo_channel},
	{"cq", do_cq, undo_cq},
	{"resize", do_resize, NULL},
	{"moderate", do_moderate, NULL},
	{"cq_ex", do_cq_ex, undo_cq_ex},
	{"srq", do_srq, undo_srq},
	{"limit", do_limit, NULL},
	{"xrcd", do_xrcd, undo_xrcd},
	{"xrc_srq", do_xrc_srq, undo_xrc_srq},
	{"rc", do_rc, undo_rc},
	{"rts", do_rts, NULL},
	{"bind", do_bind, NULL},
	{"ud", do_ud, undo_ud},
	{"ud_init", do_ud_init, NULL},
	{"mcast", do_mcast, undo_mcast},
	{"initiator", do_initiator, undo_initiator},
	{"target", do_target, undo_target},
	{"handle", do_handle, undo_handle},
	{"alloc_rcv", do_alloc_rcv, NULL},
	{"create_rcv", do_create_rcv, undo_create_rcv},
	{"modify_rcv", do_modify_rcv, NULL},
	{"reg_rcv", do_reg_rcv, undo_reg_rcv},
	{"ah", do_ah, undo_ah},
};

enum { STEPS = ARRAY_SIZE(steps) };

/* --- lives --- */

enum ending { EXIT, TAKE_APART, ENDINGS };
enum phase { LIFE, END };

static unsigned lives, failed, reached;

static void wrong(enum phase phase, unsigned nth, const char *what, const char *name)
{
	static const char *const kinds[KINDS] = {"allocation", "command"};

	if (rig.wrongs < CASES_MAX)
		snprintf(rig.wrong[rig.wrongs], TEXT, "%s %u of the %s: %s %s", kinds[failure.kind],
			 nth, phase == LIFE ? "life" : "end", what, name);
	rig.wrongs++;
}

static void compare(enum phase phase, unsigned nth, const struct held *before, const char *last)
{
	const unsigned *was = (const void *)before, *is;
	struct held after;

	look(&after);
	is = (const void *)&after;
	for (size_t i = 0; i < sizeof(after) / sizeof(*is); i++) {
		char text[TEXT / 2];

		if (was[i] == is[i])
			continue;
		snprintf(text, sizeof(text), "word %zu was %u, is %u after", i, was[i], is[i]);
		wrong(phase, nth, text, last);
	}
}

static void arm(bool on, unsigned nth)
{
	failure.armed = on;
	failure.count = 0;
	failure.nth = nth;
}

/* Runs one life in which the nth operation fails. False: there was no nth operation. */
static bool run_nth(enum phase phase, enum ending ending, unsigned nth)
{
	struct uv_process process;
	struct held before;
	unsigned done = 0;
	int rc = 0;

	look(&before);
	memset(&life, 0, sizeof(life));
	if (uv_process_init(&process, &rig.host))
		return false;
	rig.other = &process;
	failure.fired = false;
	arm(phase == LIFE, nth);
	for (; done < STEPS && !rc; done += !rc)
		rc = steps[done].go();
	if (rc && !failure.fired)
		wrong(phase, nth, "fails by itself:", steps[done].name);
	reached = done > reached ? done : reached;
	failed += rc != 0;
	arm(phase == END, nth);
	for (unsigned i = done; ending == TAKE_APART && i--;)
		if (steps[i].undo && steps[i].undo() && phase == LIFE)
			wrong(phase, nth, "is not undone:", steps[i].name);
	uv_process_exit(&process);
	arm(false, 0);
	rig.other = NULL;
	compare(phase, nth, &before, done < STEPS ? steps[done].name : "all");
	lives++;
	return failure.fired;
}

static void run(void)
{
	/* A first run without failures: it makes what the driver keeps for later use. */
	run_nth(LIFE, EXIT, 0);
	for (enum ending ending = 0; ending < ENDINGS; ending++)
		for (failure.kind = 0; failure.kind < KINDS; failure.kind++)
			for (unsigned nth = 1; nth < NTH_MAX && run_nth(LIFE, ending, nth); nth++)
				;
	failure.kind = FAIL_COMMAND;
	for (enum ending ending = 0; ending < ENDINGS; ending++)
		for (unsigned nth = 1; nth < NTH_MAX && run_nth(END, ending, nth); nth++)
			;
}

static void nothing_is_left_of_any_life(void **state)
{
	assert_true(rig.set_up);
	for (unsigned i = 0; i < rig.wrongs && i < CASES_MAX; i++)
		print_error("%s\n", rig.wrong[i]);
	assert_int_equal(rig.wrongs, 0);
	assert_int_equal(reached, STEPS);
	print_message("%u lives, %u ended early\n", lives, failed);
	assert_true(failed > 300);
	assert_true(lives > failed + 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_of_any_life),
		cmocka_unit_test(nothing_is_left),
	};

	return rig_main(run, tests, ARRAY_SIZE(tests));
}
