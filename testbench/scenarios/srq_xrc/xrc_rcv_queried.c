/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receiver that uses only the calls of OFED 1.3: a domain by a file, an SRQ in it, a receive QP by its
 * number. A query tells its state, path and capacities in each state, to its maker and to another process
 * that has the domain open. Wrong calls are refused as the manual says, each followed by the right one, and
 * leave nothing: the domain can be closed once the SRQ and the registration are gone, and not before.
 */
/* behaviours: XRC-3 ST-7 */
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

#include <fcntl.h>

enum { RNR_TIMER = 12, DEPTH = 4, NO_QP = 0x7fffff, WRS = 5 };

/* --- the domain and its SRQ --- */

static struct ibv_xrc_domain *domain(const struct program *p)
{
	return (struct ibv_xrc_domain *)p->xrcd;
}

/* Nobody has it open yet, so it must be created; once it is open it is no new one. */
static int open_domain(void *arg)
{
	struct program *p = arg;
	const int fd = process_open(p->file, O_CREAT);

	REFUSED(ibv_open_xrc_domain(p->context, fd + 1, O_CREAT), EBADF);
	REFUSED(ibv_open_xrc_domain(p->context, p->context->async_fd, O_CREAT), EBADF);
	REFUSED(ibv_open_xrc_domain(p->context, fd, 0), EAGAIN);
	p->xrcd = (struct ibv_xrcd *)ibv_open_xrc_domain(p->context, fd, O_CREAT | O_EXCL);
	if (!p->xrcd || domain(p)->context != p->context)
		return __LINE__;
	REFUSED(ibv_open_xrc_domain(p->context, fd, O_CREAT | O_EXCL), EINVAL);
	return process_close(fd) ? __LINE__ : 0;
}

static int join_domain(void *arg)
{
	struct program *p = arg;
	const int fd = process_open(p->file, O_CREAT);

	p->xrcd = (struct ibv_xrcd *)ibv_open_xrc_domain(p->context, fd, 0);
	return !p->xrcd || process_close(fd) ? __LINE__ : 0;
}

static int create_srq(void *arg)
{
	struct program *p = arg;
	struct ibv_srq_init_attr init = {.srq_context = p, .attr = {.max_wr = WRS, .max_sge = 1}};
	struct ibv_srq_attr attr;

	REFUSED(ibv_create_xrc_srq(p->pd, NULL, p->cq, &init), EINVAL);
	REFUSED(ibv_create_xrc_srq(p->pd, domain(p), NULL, &init), EINVAL);
	init.attr.max_wr = 1 << 30;
	REFUSED(ibv_create_xrc_srq(p->pd, domain(p), p->cq, &init), EINVAL);
	init.attr.max_wr = WRS;
	p->srq = ibv_create_xrc_srq(p->pd, domain(p), p->cq, &init);
	if (!p->srq || p->srq->srq_context != p || p->srq->pd != p->pd ||
	    p->srq->context != p->context || init.attr.max_wr < WRS)
		return __LINE__;
	return ibv_get_srq_num(p->srq, &p->srq_num) || ibv_query_srq(p->srq, &attr) ||
			       attr.max_wr != init.attr.max_wr
		       ? __LINE__
		       : 0;
}

/* --- the receive QP --- */

/* In RESET it has neither path nor rights. */
static int create_rcv(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_init_attr init = {.xrc_domain = NULL}, got;
	struct ibv_qp_attr attr;
	uint32_t qpn = NO_QP;

	if (ibv_create_xrc_rcv_qp(&init, &qpn) != EINVAL || qpn != NO_QP)
		return __LINE__;
	init.xrc_domain = domain(p);
	if (ibv_create_xrc_rcv_qp(&init, &qpn) ||
	    ibv_query_xrc_rcv_qp(domain(p), qpn, &attr, IBV_QP_STATE, &got))
		return __LINE__;
	if (attr.qp_state != IBV_QPS_RESET || got.qp_type != IBV_QPT_XRC_RECV ||
	    got.xrc_domain != domain(p) || got.cap.max_recv_wr || got.srq)
		return __LINE__;
	return ibv_unreg_xrc_rcv_qp(domain(p), qpn) ||
			       ibv_query_xrc_rcv_qp(domain(p), qpn, &attr, 0, &got) != EINVAL
		       ? __LINE__
		       : 0;
}

/* It is what program_create_rcv() has made of it. */
static int ready_is(const struct program *p, uint32_t psn)
{
	struct ibv_qp_attr attr;

	if (ibv_query_xrc_rcv_qp(domain(p), p->qpn, &attr, 0, NULL) || attr.rq_psn != psn)
		return __LINE__;
	if (attr.qp_state != IBV_QPS_RTR || attr.path_mtu != IBV_MTU_2048 ||
	    attr.dest_qp_num != p->peer_qpn || attr.port_num != 1 ||
	    attr.qp_access_flags != p->access)
		return __LINE__;
	return attr.min_rnr_timer == RNR_TIMER && attr.max_dest_rd_atomic == DEPTH &&
			       attr.ah_attr.dlid == p->peer_lid && attr.ah_attr.port_num == 1 &&
			       attr.path_mig_state == IBV_MIG_MIGRATED
		       ? 0
		       : __LINE__;
}

static int query_new(void *arg)
{
	return ready_is(arg, PROGRAM_PSN);
}

/* It has received a message of two packets. */
static int query_used(void *arg)
{
	return ready_is(arg, (PROGRAM_PSN + 2) & 0xffffff);
}

static int query_failed(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr;

	return ibv_query_xrc_rcv_qp(domain(p), p->qpn, &attr, 0, NULL) ||
			       attr.qp_state != IBV_QPS_ERR
		       ? __LINE__
		       : 0;
}

/* Calls for a number that is none of the domain's, and an allocation without its parts. */
static int refused(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr;
	const int mask = program_rcv_attr(p, &attr);
	uint32_t qpn = NO_QP;
	struct ibv_context *second = ibv_open_device(p->context->device);
	struct ibv_pd *foreign = second ? ibv_alloc_pd(second) : NULL;

	if (!foreign || ibv_alloc_xrc_rcv_qp(foreign, domain(p), &attr, mask, &qpn) != EINVAL ||
	    ibv_dealloc_pd(foreign) || ibv_close_device(second))
		return __LINE__;
	if (ibv_alloc_xrc_rcv_qp(NULL, domain(p), &attr, mask, &qpn) != EINVAL ||
	    ibv_alloc_xrc_rcv_qp(p->pd, NULL, &attr, mask, &qpn) != EINVAL ||
	    ibv_alloc_xrc_rcv_qp(p->pd, domain(p), &attr, mask & ~IBV_QP_AV, &qpn) != EINVAL ||
	    qpn != NO_QP)
		return __LINE__;
	attr.qp_state = IBV_QPS_ERR;
	return ibv_query_xrc_rcv_qp(domain(p), NO_QP, &attr, 0, NULL) != EINVAL ||
			       ibv_modify_xrc_rcv_qp(domain(p), NO_QP, &attr, IBV_QP_STATE) !=
				       EINVAL ||
			       ibv_reg_xrc_rcv_qp(domain(p), NO_QP) != EINVAL ||
			       ibv_unreg_xrc_rcv_qp(domain(p), NO_QP) != EINVAL
		       ? __LINE__
		       : 0;
}

static int close_all(void *arg)
{
	struct program *p = arg;

	if (ibv_close_xrc_domain(domain(p)) != EBUSY || ibv_unreg_xrc_rcv_qp(domain(p), p->qpn) ||
	    ibv_close_xrc_domain(domain(p)) != EBUSY || ibv_destroy_srq(p->srq))
		return __LINE__;
	return ibv_close_xrc_domain(domain(p)) || ibv_dereg_mr(p->mr) || ibv_destroy_cq(p->cq) ||
			       ibv_dealloc_pd(p->pd) || ibv_close_device(p->context)
		       ? __LINE__
		       : 0;
}

SCENARIO(xrc_rcv_queried, "the calls of OFED 1.3: a domain, an SRQ, a receive QP that is queried",
	 .no_qps = true, .any_packets = true)
{
	struct process *sender = start_worker(a), *receiver = start_worker(b),
		       *other = start_worker(b);
	struct program s = {.peer_lid = b->lid};
	struct program r = {.file = "domain", .peer_lid = a->lid}, o = r;

	r.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	run_in(sender, program_open, &s);
	run_in(sender, program_sender, &s);
	r.peer_qpn = s.qpn;
	run_in(receiver, program_open, &r);
	run_in(receiver, open_domain, &r);
	run_in(receiver, create_srq, &r);
	run_in(receiver, create_rcv, &r);
	run_in(receiver, program_create_rcv, &r);
	run_in(receiver, query_new, &r);
	run_in(receiver, refused, &r);

	phase("a message by these calls");
	s.peer_qpn = r.qpn;
	s.remote_srqn = r.srq_num;
	run_in(sender, program_connect, &s);
	run_in(receiver, program_recv, &r);
	run_in(sender, program_send, &s);
	run_in(sender, program_wait, &s);
	run_in(receiver, program_wait, &r);
	expect_equal(r.wc.byte_len, PROGRAM_BYTES);

	phase("another process of the domain");
	run_in(other, program_open, &o);
	run_in(other, join_domain, &o);
	o.qpn = r.qpn;
	o.peer_qpn = r.peer_qpn;
	o.access = r.access;
	run_in(other, query_used, &o);
	run_in(receiver, program_rcv_to_error, &r);
	run_in(other, query_failed, &o);
	end_worker(other);
	run_in(receiver, close_all, &r);
	end_worker(receiver);
	end_worker(sender);
}
