/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory lacks at each place where a call for XRC receive QPs allocates some: to make one by its number, to
 * change, query and register for it, and to open a handle. Each such call says ENOMEM, and neither a QP nor
 * a registration is left of it: in the end the domain can be closed, and the driver holds what it held.
 */
/* behaviours: FAULT-no-memory */
#include "testbench/harm.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/heap_pieces.h"

enum { DEST_QPN = 0xabc };

static struct ibv_xrc_domain *domain(const struct program *p)
{
	return (struct ibv_xrc_domain *)p->xrcd;
}

static bool succeeds(int error)
{
	if (error)
		errno = error;
	return !error;
}

static int by_number(struct program *p)
{
	struct ibv_qp_init_attr init = {.xrc_domain = domain(p)};
	struct ibv_qp_attr attr;

	MADE_WITHOUT_PIECES(succeeds(ibv_create_xrc_rcv_qp(&init, &p->qpn)));
	program_rcv_attr(p, &attr);
	attr.qp_state = IBV_QPS_INIT;
	MADE_WITHOUT_PIECES(succeeds(ibv_modify_xrc_rcv_qp(
		domain(p), p->qpn, &attr,
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)));
	MADE_WITHOUT_PIECES(
		succeeds(ibv_query_xrc_rcv_qp(domain(p), p->qpn, &attr, IBV_QP_STATE, NULL)));
	return attr.qp_state == IBV_QPS_INIT ? 0 : __LINE__;
}

/* A handle of its own holds the QP when its maker has let go of it; so does a registration. */
static int by_handle(struct program *p)
{
	struct ibv_qp_open_attr open = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE |
						     IBV_QP_OPEN_ATTR_CONTEXT,
					.qp_num = p->qpn,
					.xrcd = p->xrcd,
					.qp_context = p,
					.qp_type = IBV_QPT_XRC_RECV};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MADE_WITHOUT_PIECES((p->qp = ibv_open_qp(p->context, &open)));
	if (p->qp->qp_context != p || ibv_unreg_xrc_rcv_qp(domain(p), p->qpn))
		return __LINE__;
	MADE_WITHOUT_PIECES(succeeds(ibv_reg_xrc_rcv_qp(domain(p), p->qpn)));
	if (ibv_destroy_qp(p->qp) ||
	    ibv_query_xrc_rcv_qp(domain(p), p->qpn, &attr, IBV_QP_STATE, &init) ||
	    attr.qp_state != IBV_QPS_INIT)
		return __LINE__;
	return ibv_unreg_xrc_rcv_qp(domain(p), p->qpn) ||
			       ibv_reg_xrc_rcv_qp(domain(p), p->qpn) != EINVAL
		       ? __LINE__
		       : 0;
}

static int receive_qps(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr;
	const int mask = program_rcv_attr(p, &attr);
	const unsigned pieces = heap_pieces(uv_process_current());
	int rc = program_open_xrcd(p) ? __LINE__ : by_number(p);

	if (!rc)
		rc = by_handle(p);
	if (rc)
		return rc;
	MADE_WITHOUT_PIECES(succeeds(ibv_alloc_xrc_rcv_qp(p->pd, domain(p), &attr, mask, &p->qpn)));
	return ibv_close_xrc_domain(domain(p)) || heap_pieces(uv_process_current()) != pieces
		       ? __LINE__
		       : 0;
}

static int close_all(void *arg)
{
	struct program *p = arg;

	return ibv_dereg_mr(p->mr) || ibv_destroy_cq(p->cq) || ibv_dealloc_pd(p->pd) ||
	       ibv_close_device(p->context);
}

SCENARIO(xrc_lacks_memory, "each call for XRC receive QPs finds no memory at each place in turn",
	 .no_qps = true)
{
	struct process *worker = start_worker(a);
	struct program p = {.file = "domain", .peer_lid = 1, .peer_qpn = DEST_QPN};
	unsigned before;

	run_in(worker, program_open, &p);
	before = driver_holds(a->dev);
	run_in(worker, receive_qps, &p);
	expect_equal(driver_holds(a->dev), before);
	run_in(worker, close_all, &p);
	end_worker(worker);
}
