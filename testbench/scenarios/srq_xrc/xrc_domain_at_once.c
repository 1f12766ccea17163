/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes open and close the domain of one file at the same time. If each wants a new one, one of them
 * gets it, and the other is told that it exists; if not, both get the same one, in which each finds the
 * other's receive QP. While one closes it, the other opens it, and gets either that one or a new one, but a
 * whole one. Two domains without a file are never the same. An SRQ or a queue pair in the domain, and a
 * handle of one, keep the process that has it from closing the domain, but not the other process, which
 * can open it again, also when the file itself is closed. A process that opens the domain twice closes
 * it twice.
 */
/* behaviours: XRC-domain-at-once */
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

#include <fcntl.h>

enum { ROUNDS = 6, STEP_US = 1, LONG_US = 10000 };

/* What the two processes know of each other. */
struct meeting {
	unsigned at[2]; /* the step that each has come to */
	bool made[2];
	uint32_t qpn[2];
};

struct member {
	struct meeting *m;
	unsigned i;
	struct program p;
	int fd;
};

/* Both go on at the same time. */
static int meet(struct member *x)
{
	const unsigned step = ++x->m->at[x->i];

	for (unsigned us = 0; us < LONG_US; us += STEP_US) {
		if (x->m->at[!x->i] >= step)
			return 0;
		process_sleep_us(STEP_US);
	}
	return __LINE__;
}

static struct ibv_xrcd *open_domain(struct member *x, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = fd,
					  .oflags = oflags};

	errno = 0;
	return x->p.xrcd = ibv_open_xrcd(x->p.context, &attr);
}

static struct ibv_xrc_domain *domain(const struct member *x)
{
	return (struct ibv_xrc_domain *)x->p.xrcd;
}

/* A receive QP of its own, and whether the other's is in this domain, too. */
static int finds(struct member *x, int rc)
{
	struct ibv_qp_init_attr init = {.xrc_domain = domain(x)};

	GIVES(ibv_create_xrc_rcv_qp(&init, &x->m->qpn[x->i]), 0);
	if (meet(x))
		return __LINE__;
	GIVES(ibv_reg_xrc_rcv_qp(domain(x), x->m->qpn[!x->i]), rc);
	if (meet(x))
		return __LINE__;
	GIVES(ibv_close_xrcd(x->p.xrcd), EBUSY);
	GIVES(ibv_unreg_xrc_rcv_qp(domain(x), x->m->qpn[x->i]), 0);
	GIVES(ibv_unreg_xrc_rcv_qp(domain(x), x->m->qpn[!x->i]), rc);
	return 0;
}

static int exclusive(struct member *x)
{
	const bool made = open_domain(x, x->fd, O_CREAT | O_EXCL) != NULL;

	if (!made && errno != EINVAL)
		return __LINE__;
	x->m->made[x->i] = made;
	if (meet(x) || x->m->made[0] == x->m->made[1])
		return __LINE__;
	if (!made)
		REFUSED(open_domain(x, x->fd, O_EXCL), EINVAL);
	if (!made && !open_domain(x, x->fd, 0))
		return __LINE__;
	return finds(x, 0);
}

static int common(struct member *x)
{
	return open_domain(x, x->fd, O_CREAT) ? finds(x, 0) : __LINE__;
}

static int private(struct member *x)
{
	return open_domain(x, -1, O_CREAT) ? finds(x, EINVAL) : __LINE__;
}

/* One closes while the other opens. */
static int crossing(struct member *x)
{
	if (x->i == 0 && !open_domain(x, x->fd, O_CREAT))
		return __LINE__;
	for (unsigned n = 0; n < ROUNDS; n++) {
		const bool closes = x->i == n % 2;

		if (meet(x))
			return __LINE__;
		process_sleep_us(closes ? 1 + n / 2 : 1);
		if (closes ? ibv_close_xrcd(x->p.xrcd) != 0 : !open_domain(x, x->fd, O_CREAT))
			return __LINE__;
	}
	/* now the first one has it, and the other joins */
	if (meet(x))
		return __LINE__;
	if (x->i != 0 && !open_domain(x, x->fd, 0))
		return __LINE__;
	return finds(x, 0);
}

/* --- what holds a domain --- */

static struct ibv_qp *target;

static int srq_make(struct member *x)
{
	x->p.srq_num = 0;
	return program_xrc_srq(&x->p) || !x->p.srq_num ? __LINE__ : 0;
}

static int srq_end(struct member *x)
{
	return ibv_destroy_srq(x->p.srq);
}

static int target_make(struct member *x)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = x->p.xrcd};

	target = ibv_create_qp_ex(x->p.context, &init);
	return target ? 0 : __LINE__;
}

static int target_end(struct member *x)
{
	return ibv_destroy_qp(target);
}

/* The QP is the other one's, and this process has a handle of it. */
static int handle_make(struct member *x)
{
	struct ibv_qp_open_attr attr = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE,
					.qp_num = x->m->qpn[!x->i],
					.xrcd = x->p.xrcd,
					.qp_type = IBV_QPT_XRC_RECV};

	target = ibv_open_qp(x->p.context, &attr);
	return target ? 0 : __LINE__;
}

static int receiver_make(struct member *x)
{
	struct ibv_qp_init_attr init = {.xrc_domain = domain(x)};

	return ibv_create_xrc_rcv_qp(&init, &x->p.qpn);
}

static int registration_make(struct member *x)
{
	x->p.qpn = x->m->qpn[!x->i];
	return ibv_reg_xrc_rcv_qp(domain(x), x->p.qpn);
}

static int receiver_end(struct member *x)
{
	return ibv_unreg_xrc_rcv_qp(domain(x), x->p.qpn);
}

static const struct holder {
	int (*make)(struct member *x);
	int (*end)(struct member *x);
	bool of_other; /* the other process makes the QP */
} things[] = {{srq_make, srq_end, false},
	      {target_make, target_end, false},
	      {handle_make, target_end, true},
	      {receiver_make, receiver_end, false},
	      {registration_make, receiver_end, true}};

/* The one whose turn it is has the thing. */
static int has(struct member *x, const struct holder *h)
{
	struct ibv_xrcd *first = x->p.xrcd;

	if (meet(x) || h->make(x))
		return __LINE__;
	GIVES(ibv_close_xrcd(first), EBUSY);
	if (meet(x)) /* the other one closes the domain */
		return __LINE__;
	if (meet(x))
		return __LINE__;
	GIVES(ibv_close_xrcd(first), EBUSY);
	/* opened once more, it can be closed, but only that once */
	if (!open_domain(x, x->fd, 0) || x->p.xrcd == first)
		return __LINE__;
	GIVES(ibv_close_xrcd(x->p.xrcd), 0);
	x->p.xrcd = first;
	GIVES(ibv_close_xrcd(first), EBUSY);
	if (meet(x)) /* the other one opens it */
		return __LINE__;
	if (meet(x) || h->end(x) || meet(x))
		return __LINE__;
	GIVES(ibv_close_xrcd(first), 0);
	return open_domain(x, x->fd, 0) ? 0 : __LINE__;
}

static int has_not(struct member *x, const struct holder *h)
{
	struct ibv_qp_init_attr init = {.xrc_domain = domain(x)};

	if (h->of_other) {
		GIVES(ibv_create_xrc_rcv_qp(&init, &x->m->qpn[x->i]), 0);
		GIVES(ibv_close_xrcd(x->p.xrcd), EBUSY);
	}
	if (meet(x) || meet(x))
		return __LINE__;
	if (h->of_other)
		GIVES(ibv_unreg_xrc_rcv_qp(domain(x), x->m->qpn[x->i]), 0);
	GIVES(ibv_close_xrcd(x->p.xrcd), 0);
	GIVES(process_close(x->fd), 0);
	if (meet(x) || meet(x))
		return __LINE__;
	x->fd = process_open(x->p.file, 0);
	if (x->fd < 0 || !open_domain(x, x->fd, 0) || meet(x))
		return __LINE__;
	return meet(x);
}

static int holders(struct member *x)
{
	if (!open_domain(x, x->fd, O_CREAT))
		return __LINE__;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(things); i++) {
		const int rc = x->i == i % 2 ? has(x, &things[i / 2]) : has_not(x, &things[i / 2]);

		if (rc || meet(x))
			return rc ? rc : __LINE__;
	}
	return 0;
}

static int program(void *arg)
{
	static int (*const ways[])(struct member * x) = {exclusive, common, private, crossing,
							 holders};
	struct member *x = arg;

	x->p.file = "domain";
	if (program_open(&x->p))
		return __LINE__;
	x->fd = process_open(x->p.file, O_CREAT);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		int rc = meet(x);

		if (!rc)
			rc = ways[i](x);
		if (rc || meet(x) || ibv_close_xrcd(x->p.xrcd) || meet(x))
			return rc ? rc : __LINE__;
		/* the last one that closed it has taken it away */
		REFUSED(open_domain(x, x->fd, 0), EAGAIN);
		if (meet(x))
			return __LINE__;
	}
	return process_close(x->fd) || ibv_dereg_mr(x->p.mr) || ibv_destroy_cq(x->p.cq) ||
			       ibv_dealloc_pd(x->p.pd) || ibv_close_device(x->p.context)
		       ? __LINE__
		       : 0;
}

SCENARIO(xrc_domain_at_once, "two processes open and close an XRC domain at the same time",
	 .no_qps = true)
{
	/* static: when the scenario fails, the other process goes on after the return */
	static struct meeting m;
	static struct member x[2];
	struct process *p[2];

	m = (struct meeting){.at = {0}};
	for (unsigned i = 0; i < 2; i++) {
		x[i] = (struct member){.m = &m, .i = i};
		p[i] = start_process(a, program, &x[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		expect_exit(p[i], 0);
}
