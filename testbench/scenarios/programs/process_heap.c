/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process makes and destroys each kind of object. In between the object says what it was made of, and no
 * two have the same handle. Afterwards the library has as many pieces of the process' heap as before: also
 * when the call was refused, and, for a queue pair that posts by calls, after lists of several lengths.
 */
/* behaviours: PROCESS-heap */
#include "testbench/programs.h"
#include "testbench/scenarios/programs/heap_pieces.h"
#include "testbench/scenarios/programs/refuses.h"

#include <fcntl.h>

enum { AT = 100, LEN = 1000, IOVA = 0x7000, LISTED = 3, TOO_MANY = 1 << 30, ROOM = 6 };

static int lists(struct program *p)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (!list || n != 1 || !list[0] || list[1])
		return __LINE__;
	if (strcmp(list[0]->name, p->context->device->name) ||
	    strcmp(list[0]->dev_name, "uverbs0") ||
	    strcmp(list[0]->dev_path, "/sys/class/infiniband_verbs/uverbs0") ||
	    strncmp(list[0]->ibdev_path, "/sys/class/infiniband/", 22) ||
	    strcmp(list[0]->ibdev_path + 22, list[0]->name))
		return __LINE__;
	if (list[0]->node_type != IBV_NODE_CA || list[0]->transport_type != IBV_TRANSPORT_IB)
		return __LINE__;
	ibv_free_device_list(list);
	return 0;
}

/* The list goes before the contexts, and one context before the other. */
static int contexts(struct program *p)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *one = ibv_open_device(list[0]), *two = ibv_open_device(list[0]);

	if (!one || !two || one->device != list[0] || one->cmd_fd != -1 ||
	    one->async_fd == two->async_fd || one->num_comp_vectors < 1 ||
	    one->num_comp_vectors != p->context->num_comp_vectors)
		return __LINE__;
	ibv_free_device_list(list);
	if (ibv_close_device(one) || strcmp(two->device->name, p->context->device->name))
		return __LINE__;
	return ibv_close_device(two) ? __LINE__ : 0;
}

static int domains(struct program *p)
{
	struct ibv_pd *one = ibv_alloc_pd(p->context), *two = ibv_alloc_pd(p->context);

	if (!one || !two || one->context != p->context || one->handle == two->handle ||
	    one->handle == p->pd->handle)
		return __LINE__;
	return ibv_dealloc_pd(one) || ibv_dealloc_pd(two) ? __LINE__ : 0;
}

static int regions(struct program *p)
{
	struct ibv_pd *pd = ibv_alloc_pd(p->context);
	struct ibv_mr *mr =
		ibv_reg_mr_iova(pd, p->buf + AT, LEN, IOVA + AT, IBV_ACCESS_LOCAL_WRITE);

	if (!mr || mr->context != p->context || mr->pd != pd || mr->addr != p->buf + AT ||
	    mr->length != LEN || mr->lkey == p->mr->lkey || mr->handle == p->mr->handle)
		return __LINE__;
	GIVES(ibv_dealloc_pd(pd), EBUSY);
	REFUSED(ibv_reg_mr(pd, p->buf, LEN, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	return ibv_dereg_mr(mr) || ibv_dealloc_pd(pd) ? __LINE__ : 0;
}

static int windows(struct program *p)
{
	struct ibv_mw *one = ibv_alloc_mw(p->pd, IBV_MW_TYPE_1),
		      *two = ibv_alloc_mw(p->pd, IBV_MW_TYPE_2);

	if (!one || !two || one->context != p->context || one->pd != p->pd ||
	    one->type != IBV_MW_TYPE_1 || two->type != IBV_MW_TYPE_2 || one->rkey == two->rkey ||
	    one->handle == two->handle)
		return __LINE__;
	REFUSED(ibv_alloc_mw(p->pd, (enum ibv_mw_type)7), EINVAL);
	return ibv_dealloc_mw(one) || ibv_dealloc_mw(two) ? __LINE__ : 0;
}

/* A CQ that cannot be made does not count as a user of its channel. */
static int channels(struct program *p)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->context);
	struct ibv_cq *one, *two;

	if (!channel || channel->context != p->context || channel->refcnt ||
	    channel->fd == p->context->async_fd)
		return __LINE__;
	REFUSED(ibv_create_cq(p->context, TOO_MANY, NULL, channel, 0), EINVAL);
	GIVES(channel->refcnt, 0);
	GIVES(ibv_destroy_comp_channel(channel), 0);
	channel = ibv_create_comp_channel(p->context);
	one = ibv_create_cq(p->context, ROOM, &one, channel, 0);
	two = ibv_create_cq(p->context, ROOM, &two, channel, 0);
	if (!one || !two || channel->refcnt != 2 || one->channel != channel ||
	    one->context != p->context || one->cq_context != &one || two->cq_context != &two ||
	    one->cqe < ROOM || one->handle == two->handle || ibv_destroy_cq(one))
		return __LINE__;
	GIVES(ibv_destroy_comp_channel(channel), EBUSY);
	return ibv_destroy_cq(two) || channel->refcnt || ibv_destroy_comp_channel(channel)
		       ? __LINE__
		       : 0;
}

static int shared(struct program *p)
{
	struct ibv_srq_init_attr init = {.srq_context = p, .attr = {.max_wr = TOO_MANY}};
	struct ibv_srq *srq;

	REFUSED(ibv_create_srq(p->pd, &init), EINVAL);
	GIVES(init.attr.max_wr, TOO_MANY);
	init.attr = (struct ibv_srq_attr){.max_wr = ROOM, .max_sge = 2};
	srq = ibv_create_srq(p->pd, &init);
	if (!srq || srq->srq_context != p || srq->pd != p->pd || srq->context != p->context ||
	    init.attr.max_wr < ROOM || init.attr.max_sge < 2)
		return __LINE__;
	return ibv_destroy_srq(srq) ? __LINE__ : 0;
}

static int xrc_domains(struct program *p)
{
	struct ibv_xrcd_init_attr init = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = 1000,
					  .oflags = O_CREAT};
	struct ibv_xrcd *xrcd;

	REFUSED(ibv_open_xrcd(p->context, &init), EBADF);
	init.fd = -1;
	xrcd = ibv_open_xrcd(p->context, &init);
	if (!xrcd || xrcd->context != p->context || ibv_close_xrcd(xrcd))
		return __LINE__;
	/* without a file it is always a new one */
	for (int i = 0; i < 2; i++) {
		init.oflags = i ? O_EXCL : 0;
		xrcd = ibv_open_xrcd(p->context, &init);
		if (!xrcd || ibv_close_xrcd(xrcd))
			return __LINE__;
	}
	return 0;
}

/* Lists of one request, of more, and again of one; then one that is never posted. */
static int by_calls(struct program *p)
{
	struct ibv_qp_init_attr_ex init = {.qp_context = p,
					   .send_cq = p->cq,
					   .recv_cq = p->cq,
					   .qp_type = IBV_QPT_RC,
					   .cap = {.max_send_wr = TOO_MANY,
						   .max_send_sge = LISTED,
						   .max_inline_data = LEN / 10},
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = p->pd,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_sge sges[LISTED] = {{0}};
	struct ibv_qp_ex *calls;
	struct ibv_qp *qp;

	REFUSED(ibv_create_qp_ex(p->context, &init), EINVAL);
	init.cap.max_send_wr = ROOM;
	qp = ibv_create_qp_ex(p->context, &init);
	calls = qp ? ibv_qp_to_qp_ex(qp) : NULL;
	if (!calls || qp->qp_context != p || qp->pd != p->pd || qp->srq)
		return __LINE__;
	for (unsigned n = 1; n <= LISTED; n++) {
		ibv_wr_start(calls);
		for (unsigned k = 0; k < n; k++) {
			ibv_wr_send(calls);
			ibv_wr_set_sge_list(calls, n, sges);
			ibv_wr_send(calls);
			ibv_wr_set_inline_data(calls, p->buf, n * 20);
		}
		ibv_wr_abort(calls);
	}
	return ibv_destroy_qp(qp) ? __LINE__ : 0;
}

static int pairs(struct program *p)
{
	struct ibv_qp_init_attr init = {.send_cq = p->cq,
					.recv_cq = p->cq,
					.qp_type = IBV_QPT_UD,
					.cap = {.max_send_wr = TOO_MANY, .max_send_sge = 1}};
	struct ibv_qp *one, *two;

	REFUSED(ibv_create_qp(p->pd, &init), EINVAL);
	GIVES(init.cap.max_send_wr, TOO_MANY);
	init.cap.max_send_wr = ROOM;
	one = ibv_create_qp(p->pd, &init);
	two = ibv_create_qp(p->pd, &init);
	return !one || !two || one->qp_num == two->qp_num || one->handle == two->handle ||
			       ibv_destroy_qp(one) || ibv_destroy_qp(two)
		       ? __LINE__
		       : 0;
}

static int addresses(struct program *p)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1, .is_global = 1, .grh.hop_limit = 1};
	struct ibv_ah *ah;

	attr.port_num = 9;
	REFUSED(ibv_create_ah(p->pd, &attr), EINVAL);
	attr.port_num = 1;
	if (ibv_query_gid(p->context, 1, 0, &attr.grh.dgid))
		return __LINE__;
	ah = ibv_create_ah(p->pd, &attr);
	return !ah || ah->context != p->context || ah->pd != p->pd || ibv_destroy_ah(ah) ? __LINE__
											 : 0;
}

static int (*const kinds[])(struct program *p) = {lists,    contexts, domains,  regions,
						  windows,  channels, shared,   xrc_domains,
						  by_calls, pairs,    addresses};

static int program(void *arg)
{
	struct program p = {.file = "domain"};
	const unsigned none = heap_pieces(uv_process_current());

	if (program_open(&p))
		return __LINE__;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const unsigned before = heap_pieces(uv_process_current());
		const int rc = kinds[i](&p);

		if (rc || heap_pieces(uv_process_current()) != before)
			return rc ? rc : __LINE__;
	}
	if (ibv_dereg_mr(p.mr) || ibv_destroy_cq(p.cq) || ibv_dealloc_pd(p.pd) ||
	    ibv_close_device(p.context))
		return __LINE__;
	return heap_pieces(uv_process_current()) == none ? 0 : __LINE__;
}

SCENARIO(process_heap, "each kind of object is made, says of what, and gives its memory back",
	 .no_qps = true, .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
