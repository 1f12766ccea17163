/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process changes and queries each kind of object, then destroys all of them, newest first. Each call
 * that changes or queries holds the object only as long as it lasts: an object that is still held could
 * not be destroyed. The same when the call is refused.
 */
#include "testbench/programs.h"

#include <errno.h>

enum { LEN = 64, PAGE = 4096, ENTRIES = 40, TOO_MANY = 1 << 30 };

static int change_cq(struct ibv_cq *cq)
{
	struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE,
					  .moderate = {.cq_count = 2, .cq_period = 3}};
	struct ibv_cq *made;
	int has;

	if (ibv_resize_cq(cq, ENTRIES) || cq->cqe < ENTRIES)
		return __LINE__;
	/* it has as many as one that is made with that size */
	made = ibv_create_cq(cq->context, ENTRIES, NULL, NULL, 0);
	if (!made || made->cqe != cq->cqe || ibv_destroy_cq(made))
		return __LINE__;
	has = cq->cqe;
	if (!ibv_resize_cq(cq, TOO_MANY) || cq->cqe != has)
		return __LINE__;
	return ibv_modify_cq(cq, &attr) ? __LINE__ : 0;
}

static int change_srq(struct ibv_pd *pd)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	struct ibv_srq_attr attr = {.srq_limit = 0}, size;
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

	if (!srq || ibv_query_srq(srq, &size) || ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) ||
	    !ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR))
		return __LINE__;
	if (ibv_query_srq(srq, &attr) || attr.srq_limit || attr.max_wr < 8)
		return __LINE__;
	/* with fewer receives the limit would be reached at once */
	for (unsigned i = 0; i < 8; i++)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			return __LINE__;
	attr = (struct ibv_srq_attr){.max_wr = 5, .srq_limit = 3};
	if (ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT))
		return __LINE__;
	attr.srq_limit = 77;
	if (ibv_query_srq(srq, &attr) || attr.srq_limit != 3 || attr.max_wr != size.max_wr)
		return __LINE__;
	return ibv_destroy_srq(srq) ? __LINE__ : 0;
}

static int change_region(struct ibv_pd *pd, void *buf)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, buf, LEN, IBV_ACCESS_LOCAL_WRITE);
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);

	if (!mr || !mw || ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, access) ||
	    !ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE))
		return __LINE__;
	if (ibv_dealloc_mw(mw) || ibv_dereg_mr(mr))
		return __LINE__;
	/* the peer's addresses would go on at 0 */
	errno = 0;
	mr = ibv_reg_mr_iova(pd, buf, 2 * PAGE, -(uint64_t)PAGE + (uintptr_t)buf % PAGE, access);
	return mr || errno != EINVAL ? __LINE__ : 0;
}

static int change_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 5};
	const union ibv_gid group = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 9}},
			    other = {.raw = {0xff, 0x12, 0xa0, 0x1b, [14] = 1, [15] = 9}};
	const int mask = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp || ibv_modify_qp(qp, &attr, mask) || !ibv_modify_qp(qp, &attr, IBV_QP_AV))
		return __LINE__;
	if (ibv_query_qp(qp, &attr, mask, &init) || attr.qkey != 5 || attr.port_num != 1)
		return __LINE__;
	if (ibv_attach_mcast(qp, &group, 0xc001) || ibv_attach_mcast(qp, &group, 0xc001) ||
	    !ibv_destroy_qp(qp) || ibv_detach_mcast(qp, &group, 0xc001) ||
	    !ibv_detach_mcast(qp, &group, 0xc001))
		return __LINE__;
	/* GID and LID make the group */
	if (ibv_attach_mcast(qp, &group, 0xc001) || !ibv_detach_mcast(qp, &group, 0xc002) ||
	    !ibv_detach_mcast(qp, &other, 0xc001) || ibv_detach_mcast(qp, &group, 0xc001))
		return __LINE__;
	return ibv_destroy_qp(qp) ? __LINE__ : 0;
}

/* A CQ that is still used stays, with its channel, which counts it once. */
static int used_cq(struct ibv_pd *pd)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(pd->context);
	struct ibv_cq *cq = channel ? ibv_create_cq(pd->context, 1, NULL, channel, 0) : NULL;
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = cq ? ibv_create_qp(pd, &init) : NULL;

	if (!qp)
		return __LINE__;
	for (unsigned i = 0; i < 2; i++)
		if (ibv_destroy_cq(cq) != EBUSY || channel->refcnt != 1 ||
		    ibv_destroy_comp_channel(channel) != EBUSY)
			return __LINE__;
	if (ibv_destroy_qp(qp) || ibv_destroy_comp_channel(channel) != EBUSY ||
	    ibv_destroy_cq(cq) || channel->refcnt)
		return __LINE__;
	return ibv_destroy_comp_channel(channel) ? __LINE__ : 0;
}

static int program(void *arg)
{
	struct program p = {.file = "domain"};
	int rc;

	if (program_open(&p))
		return __LINE__;
	rc = change_cq(p.cq);
	if (!rc)
		rc = change_srq(p.pd);
	if (!rc)
		rc = change_region(p.pd, p.buf);
	if (!rc)
		rc = change_qp(p.pd, p.cq);
	if (!rc)
		rc = used_cq(p.pd);
	if (rc)
		return rc;
	return ibv_dereg_mr(p.mr) || ibv_destroy_cq(p.cq) || ibv_dealloc_pd(p.pd) ||
			       ibv_close_device(p.context)
		       ? __LINE__
		       : 0;
}

SCENARIO(process_calls, "a process changes and queries each object, then destroys all of them",
	 .no_qps = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
