/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong arguments for calls of libibverbs that make or change an object: each is refused with the errno
 * of the manual pages, the right call after it succeeds, and in the end the driver holds what it held
 * before. A handle that is no object's, or that of an object of another kind, finds none.
 */
/* behaviours: PROCESS-wrong-arguments */
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/heap_pieces.h"
#include "testbench/scenarios/programs/refuses.h"

#include <fcntl.h>

enum {
	NO_SUCH = 0x7fffff,
	TOO_MANY = 1 << 30,
	NO_VECTOR = 1000,
	ROOM = 4,
	ODD = 6,
	UNKNOWN = 1 << 20
};

static int regions(void *arg)
{
	static char elsewhere[16];
	struct program *p = arg;
	struct ibv_mr *mr = ibv_reg_mr(p->pd, p->buf, PROGRAM_BYTES, IBV_ACCESS_LOCAL_WRITE);

	REFUSED(ibv_reg_mr(p->pd, p->buf, PROGRAM_BYTES, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	REFUSED(ibv_reg_mr(p->pd, p->buf, PROGRAM_BYTES, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	REFUSED(ibv_reg_mr(p->pd, elsewhere, sizeof(elsewhere), IBV_ACCESS_LOCAL_WRITE), EFAULT);
	REFUSED(ibv_alloc_mw(p->pd, (enum ibv_mw_type)7), EINVAL);
	errno = 0;
	GIVES(ibv_rereg_mr(mr, UNKNOWN, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	GIVES(errno, EINVAL);
	GIVES(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE),
	      IBV_REREG_MR_ERR_CMD);
	GIVES(errno, EINVAL);
	GIVES(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE),
	      0);
	GIVES(ibv_dereg_mr(mr), 0);
	return 0;
}

static int queues(void *arg)
{
	struct program *p = arg;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->context);
	struct ibv_modify_cq_attr moderate = {.attr_mask = 0};
	struct ibv_cq *cq;

	REFUSED(ibv_create_cq(p->context, 0, NULL, channel, 0), EINVAL);
	REFUSED(ibv_create_cq(p->context, -1, NULL, channel, 0), EINVAL);
	REFUSED(ibv_create_cq(p->context, TOO_MANY, NULL, channel, 0), EINVAL);
	REFUSED(ibv_create_cq(p->context, 1, NULL, channel, NO_VECTOR), EINVAL);
	GIVES(channel->refcnt, 0);
	cq = ibv_create_cq(p->context, ROOM, NULL, channel, 0);
	if (!cq || !ibv_modify_cq(cq, &moderate))
		return __LINE__;
	moderate.attr_mask = IBV_CQ_ATTR_MODERATE | IBV_CQ_ATTR_RESERVED;
	if (!ibv_modify_cq(cq, &moderate))
		return __LINE__;
	moderate.attr_mask = IBV_CQ_ATTR_MODERATE;
	GIVES(ibv_modify_cq(cq, &moderate), 0);
	GIVES(ibv_destroy_comp_channel(channel), EBUSY);
	GIVES(ibv_destroy_cq(cq), 0);
	GIVES(ibv_destroy_comp_channel(channel), 0);
	return 0;
}

static int extended_queues(void *arg)
{
	struct program *p = arg;
	struct ibv_cq_init_attr_ex wrong[] = {
		{.cqe = ROOM, .comp_mask = UNKNOWN},
		{.cqe = 0},
		{.cqe = UINT32_MAX},
		{.cqe = ROOM, .comp_vector = UINT32_MAX},
	};
	struct ibv_cq_init_attr_ex lacking[] = {
		{.cqe = ROOM, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = p->pd},
		{.cqe = ROOM,
		 .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		 .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN},
		{.cqe = ROOM, .wc_flags = IBV_WC_EX_WITH_CVLAN},
	};
	struct ibv_cq_init_attr_ex right = {.cqe = ROOM,
					    .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					    .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
	struct ibv_cq_ex *cq;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		REFUSED(ibv_create_cq_ex(p->context, &wrong[i]), EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(lacking); i++)
		REFUSED(ibv_create_cq_ex(p->context, &lacking[i]), EOPNOTSUPP);
	/* without the bit the flags do not count */
	right.comp_mask = 0;
	right.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	cq = ibv_create_cq_ex(p->context, &right);
	return cq && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) ? 0 : __LINE__;
}

static int shared_queues(void *arg)
{
	struct program *p = arg;
	struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = ODD, .max_sge = 2}, .pd = p->pd};
	struct ibv_xrcd no_domain = {.context = p->context, .handle = NO_SUCH};
	struct ibv_cq no_cq = {.context = p->context, .handle = NO_SUCH};
	uint32_t number = NO_SUCH;
	struct ibv_srq_attr size;
	struct ibv_srq *srq;

	REFUSED(ibv_create_srq_ex(p->context, &init), EINVAL);
	init.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
	init.srq_type = IBV_SRQT_XRC;
	REFUSED(ibv_create_srq_ex(p->context, &init), EINVAL);
	init.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
	init.xrcd = p->xrcd;
	REFUSED(ibv_create_srq_ex(p->context, &init), EINVAL);
	init.comp_mask |= IBV_SRQ_INIT_ATTR_CQ; /* and there is none */
	REFUSED(ibv_create_srq_ex(p->context, &init), EINVAL);
	init.cq = p->cq;
	init.xrcd = NULL;
	REFUSED(ibv_create_srq_ex(p->context, &init), EINVAL);
	init.xrcd = p->xrcd;
	init.pd = NULL;
	REFUSED(ibv_create_srq_ex(p->context, &init), EINVAL);
	init.pd = p->pd;
	init.srq_type = (enum ibv_srq_type)(IBV_SRQT_XRC + 1);
	REFUSED(ibv_create_srq_ex(p->context, &init), EINVAL);
	init.srq_type = IBV_SRQT_BASIC;
	init.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TM;
	REFUSED(ibv_create_srq_ex(p->context, &init), EOPNOTSUPP);
	init.srq_type = IBV_SRQT_XRC;
	init.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_RESERVED;
	REFUSED(ibv_create_srq_ex(p->context, &init), EOPNOTSUPP);
	/* without the bit the type does not count, nor what belongs to it */
	init.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	init.xrcd = &no_domain;
	init.cq = &no_cq;
	srq = ibv_create_srq_ex(p->context, &init);
	if (!srq || srq->pd != p->pd)
		return __LINE__;
	if (ibv_query_srq(srq, &size) || init.attr.max_wr != size.max_wr ||
	    init.attr.max_sge != size.max_sge || size.max_wr < ODD)
		return __LINE__;
	GIVES(ibv_get_srq_num(srq, &number), EOPNOTSUPP);
	GIVES(number, NO_SUCH);
	GIVES(ibv_destroy_srq(srq), 0);
	return 0;
}

static int domains(void *arg)
{
	struct program *p = arg;
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1, .oflags = O_CREAT};
	struct ibv_xrcd *xrcd;

	REFUSED(ibv_open_xrcd(p->context, &init), EINVAL);
	init.comp_mask = IBV_XRCD_INIT_ATTR_OFLAGS;
	REFUSED(ibv_open_xrcd(p->context, &init), EINVAL);
	init.comp_mask |= IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_RESERVED;
	REFUSED(ibv_open_xrcd(p->context, &init), EOPNOTSUPP);
	init.comp_mask &= ~(uint32_t)IBV_XRCD_INIT_ATTR_RESERVED;
	xrcd = ibv_open_xrcd(p->context, &init);
	return xrcd && xrcd->context == p->context && !ibv_close_xrcd(xrcd) ? 0 : __LINE__;
}

static int handles(void *arg)
{
	struct program *p = arg;
	struct ibv_pd pd = {.context = p->context, .handle = NO_SUCH};
	struct ibv_mr mr = {.context = p->context, .handle = NO_SUCH};
	struct ibv_qp qp = {.context = p->context, .handle = NO_SUCH};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp_init_attr init;
	struct ibv_srq srq = {.context = p->context, .handle = NO_SUCH};
	struct ibv_srq_attr limit = {.srq_limit = 0};

	for (unsigned i = 0; i < 2; i++) {
		if (!ibv_dealloc_pd(&pd) || ibv_reg_mr(&pd, p->buf, PROGRAM_BYTES, 0) ||
		    ibv_alloc_mw(&pd, IBV_MW_TYPE_1))
			return __LINE__;
		if (!ibv_dereg_mr(&mr) || !ibv_rereg_mr(&mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
							0, IBV_ACCESS_LOCAL_WRITE))
			return __LINE__;
		if (!ibv_modify_qp(&qp, &attr, IBV_QP_STATE) ||
		    !ibv_query_qp(&qp, &attr, IBV_QP_STATE, &init) || !ibv_destroy_qp(&qp))
			return __LINE__;
		if (!ibv_modify_srq(&srq, &limit, IBV_SRQ_LIMIT) || !ibv_query_srq(&srq, &limit) ||
		    !ibv_destroy_srq(&srq))
			return __LINE__;
		/* now the handle of an object of another kind */
		pd.handle = mr.handle = qp.handle = srq.handle = p->cq->handle;
	}
	return ibv_resize_cq(p->cq, 2 * PROGRAM_QUEUE) ? __LINE__ : 0;
}

static int close_all(void *arg)
{
	struct program *p = arg;

	return program_close_xrcd(p) || ibv_dereg_mr(p->mr) || ibv_destroy_cq(p->cq) ||
	       ibv_dealloc_pd(p->pd) || ibv_close_device(p->context);
}

SCENARIO(process_wrong_objects, "wrong arguments for calls that make or change an object",
	 .no_qps = true)
{
	static int (*const groups[])(void *arg) = {regions,       queues,  extended_queues,
						   shared_queues, domains, handles};
	struct program p = {.file = "domain"};
	struct process *worker = start_worker(a);
	const struct uv_process *process;
	unsigned before, pieces;

	run_in(worker, program_open, &p);
	run_in(worker, program_open_xrcd, &p);
	if (!still_right())
		return;
	process = uv_process_of(p.context);
	pieces = heap_pieces(process);
	before = driver_holds(a->dev);
	for_each_row(i, groups) {
		run_in(worker, groups[i], &p);
		expect_equal(driver_holds(a->dev), before);
		expect_equal(heap_pieces(process), pieces);
	}
	run_in(worker, close_all, &p);
	end_worker(worker);
}
