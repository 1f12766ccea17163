/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread of a process is inside a call for an object while another one wants to destroy the object, or
 * to close the context: it is told that the object is busy, nothing has changed, and when the call has
 * ended both succeed. An object that is being made is busy, too. The same for two threads that change the
 * groups of one queue pair: whoever is told that it is busy asks again, and in the end the queue pair is in
 * both groups, and in each of them once.
 */
/* behaviours: PROCESS-busy */
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

enum { ENTRIES = 100, STEP_US = 1, QKEY = 5, LONG_US = 10000 };

struct two {
	struct program p;
	struct ibv_qp *qp;
	struct ibv_cq *made;
	unsigned other; /* the group that the other thread joins */
	int rc;
	bool ended;
};

static void resize(void *arg)
{
	struct two *t = arg;

	t->rc = ibv_resize_cq(t->p.cq, ENTRIES);
	t->ended = true;
}

static void wait_ended(const struct two *t)
{
	for (unsigned us = 0; us < LONG_US && !t->ended; us += STEP_US)
		process_sleep_us(STEP_US);
}

static int destroyed_in_use(struct two *t)
{
	t->ended = false;
	if (process_thread("resizer", resize, t))
		return __LINE__;
	process_sleep_us(STEP_US);
	if (t->ended)
		return __LINE__;
	GIVES(ibv_destroy_cq(t->p.cq), EBUSY);
	GIVES(ibv_close_device(t->p.context), EBUSY);
	wait_ended(t);
	if (!t->ended || t->rc || t->p.cq->cqe < ENTRIES)
		return __LINE__;
	return 0;
}

static const union ibv_gid groups[2] = {{.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 1}},
					{.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 2}}};

static int join(struct ibv_qp *qp, const union ibv_gid *group)
{
	int rc = ibv_attach_mcast(qp, group, 0xc001);

	while (rc == EBUSY) {
		process_sleep_us(STEP_US);
		rc = ibv_attach_mcast(qp, group, 0xc001);
	}
	return rc;
}

static void joiner(void *arg)
{
	struct two *t = arg;

	t->rc = join(t->qp, &groups[t->other]);
	t->ended = true;
}

/* Both join different groups, or the same one, which counts once. */
static int joined_at_once(struct two *t, unsigned other)
{
	t->ended = false;
	t->other = other;
	if (process_thread("joiner", joiner, t))
		return __LINE__;
	process_sleep_us(STEP_US);
	if (t->ended || join(t->qp, &groups[0]))
		return __LINE__;
	wait_ended(t);
	if (!t->ended || t->rc)
		return __LINE__;
	for (unsigned i = 0; i <= other; i++) {
		GIVES(ibv_detach_mcast(t->qp, &groups[i], 0xc001), 0);
		GIVES(ibv_detach_mcast(t->qp, &groups[i], 0xc001), EINVAL);
	}
	return 0;
}

static void maker(void *arg)
{
	struct two *t = arg;

	t->made = ibv_create_cq(t->p.context, 1, NULL, NULL, 0);
	t->ended = true;
}

/* Nobody finds an object that is being made, even who guesses its handle. */
static int made_in_use(struct two *t)
{
	struct ibv_cq *before = ibv_create_cq(t->p.context, 1, NULL, NULL, 0);
	struct ibv_cq guess = {.context = t->p.context};

	if (!before)
		return __LINE__;
	guess.handle = before->handle + 1;
	t->ended = false;
	if (process_thread("maker", maker, t))
		return __LINE__;
	process_sleep_us(STEP_US);
	if (t->ended)
		return __LINE__;
	GIVES(ibv_resize_cq(&guess, ENTRIES), EBUSY);
	GIVES(ibv_destroy_cq(&guess), EBUSY);
	wait_ended(t);
	if (!t->made || t->made->handle != guess.handle)
		return __LINE__;
	GIVES(ibv_destroy_cq(before), 0);
	GIVES(ibv_destroy_cq(t->made), 0);
	return 0;
}

static void leaver(void *arg)
{
	struct two *t = arg;

	t->rc = ibv_unreg_xrc_rcv_qp((struct ibv_xrc_domain *)t->p.xrcd, t->p.qpn);
	t->ended = true;
}

/* The last registration of a receive QP goes, and the QP with it: nobody gets it any more. */
static int given_up(struct two *t)
{
	struct ibv_xrc_domain *domain;
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = 0}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	if (program_open_xrcd(&t->p))
		return __LINE__;
	init.xrc_domain = domain = (struct ibv_xrc_domain *)t->p.xrcd;
	GIVES(ibv_create_xrc_rcv_qp(&init, &t->p.qpn), 0);
	GIVES(ibv_modify_xrc_rcv_qp(domain, t->p.qpn, &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					    IBV_QP_ACCESS_FLAGS),
	      0);
	attr.qp_state = IBV_QPS_ERR;
	t->ended = false;
	if (process_thread("leaver", leaver, t))
		return __LINE__;
	process_sleep_us(STEP_US);
	if (t->ended)
		return __LINE__;
	GIVES(ibv_reg_xrc_rcv_qp(domain, t->p.qpn), EINVAL);
	GIVES(ibv_unreg_xrc_rcv_qp(domain, t->p.qpn), EINVAL);
	GIVES(ibv_modify_xrc_rcv_qp(domain, t->p.qpn, &attr, IBV_QP_STATE), EINVAL);
	GIVES(ibv_close_xrc_domain(domain), EBUSY);
	wait_ended(t);
	if (!t->ended || t->rc)
		return __LINE__;
	return program_close_xrcd(&t->p) ? __LINE__ : 0;
}

static int program(void *arg)
{
	struct two t = {.p = {.file = "domain"}, .rc = -1};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
					.cap = {.max_send_wr = 1, .max_send_sge = 1}};
	int rc = program_open(&t.p) ? __LINE__ : 0;

	if (rc)
		return rc;
	init.send_cq = init.recv_cq = t.p.cq;
	rc = destroyed_in_use(&t);
	if (!rc)
		rc = made_in_use(&t);
	if (!rc)
		rc = given_up(&t);
	t.qp = ibv_create_qp(t.p.pd, &init);
	if (!rc)
		rc = t.qp ? joined_at_once(&t, 1) : __LINE__;
	if (!rc)
		rc = joined_at_once(&t, 0);
	if (rc)
		return rc;
	return ibv_destroy_qp(t.qp) || ibv_destroy_cq(t.p.cq) || ibv_dereg_mr(t.p.mr) ||
			       ibv_dealloc_pd(t.p.pd) || ibv_close_device(t.p.context)
		       ? __LINE__
		       : 0;
}

SCENARIO(process_busy, "an object is destroyed while another thread is inside a call for it",
	 .no_qps = true, .of_mlx4 = "time that a command takes")
{
	expect_exit(start_process(a, program, NULL), 0);
}
