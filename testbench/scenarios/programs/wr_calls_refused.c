/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of calls with one wrong call in it posts nothing at all, whatever follows, and says the errno of
 * that call. The wrong calls are each operation that the queue pair was not made for, more entries and more
 * inline bytes than it has, a setter without a request, and more requests than the queue holds. After each
 * of them a right list is posted and arrives. A queue pair that was not made for calls has none.
 */
/* behaviours: POST-calls IBA-11.2.4.1-created-sizes */
#include "model/interface/macros.h"
#include "testbench/scenarios/programs/by_calls.h"

#include <stdlib.h>

static void send_plain(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_send(q);
}

static void send_imm(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_send_imm(q, 1);
}

static void send_inv(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_send_inv(q, 0);
}

static void write_imm(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_rdma_write_imm(q, x->mr->rkey, at(x, HALF), 1);
}

static void read_one(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_rdma_read(q, x->mr->rkey, at(x, HALF));
}

static void swap(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_atomic_cmp_swp(q, x->mr->rkey, at(x, HALF), 0, 1);
}

static void add(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_atomic_fetch_add(q, x->mr->rkey, at(x, HALF), 1);
}

static void bind_window(struct by_calls *x, struct ibv_qp_ex *q)
{
	const struct ibv_mw_bind_info info = {.mr = x->mr};

	ibv_wr_bind_mw(q, NULL, 0, &info);
}

static void invalidate(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_local_inv(q, x->mr->lkey);
}

static void one_write(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_rdma_write(q, x->mr->rkey, at(x, HALF));
}

static void sges_too_many(struct by_calls *x, struct ibv_qp_ex *q)
{
	struct ibv_sge sges[64];
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init = {.cap = {.max_send_sge = 0}};

	ibv_query_qp(x->qp[0], &attr, 0, &init);
	for (unsigned i = 0; i < 64; i++)
		sges[i] = (struct ibv_sge){at(x, i), 1, x->mr->lkey};
	one_write(x, q);
	ibv_wr_set_sge_list(q, init.cap.max_send_sge + 1, sges);
}

/* Two pieces, each of which would fit. */
static void bytes_too_many(struct by_calls *x, struct ibv_qp_ex *q)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init = {.cap = {.max_inline_data = 0}};
	struct ibv_data_buf pieces[2] = {{x->image, 0}, {x->image, 1}};

	ibv_query_qp(x->qp[0], &attr, 0, &init);
	pieces[0].length = init.cap.max_inline_data;
	one_write(x, q);
	ibv_wr_set_inline_data_list(q, 2, pieces);
}

/* Their sum is small only if it is cut. */
static void bytes_beyond_all(struct by_calls *x, struct ibv_qp_ex *q)
{
	const struct ibv_data_buf pieces[2] = {{x->image, 8}, {x->image, SIZE_MAX - 3}};

	one_write(x, q);
	ibv_wr_set_inline_data_list(q, 2, pieces);
}

static void writes_too_many(struct by_calls *x, struct ibv_qp_ex *q)
{
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = 0}};
	struct ibv_qp_attr attr;

	ibv_query_qp(x->qp[0], &attr, IBV_QP_CAP, &init);
	for (unsigned i = 0; i <= init.cap.max_send_wr; i++)
		one_write(x, q);
}

static void sge_of_none(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_set_sge(q, x->mr->lkey, at(x, 0), 1);
}

static void bytes_of_none(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_set_inline_data(q, x->image, 1);
}

static void address_of_none(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_set_ud_addr(q, NULL, 1, 1);
}

static void srq_of_none(struct by_calls *x, struct ibv_qp_ex *q)
{
	ibv_wr_set_xrc_srqn(q, 1);
}

/* Only WRITEs were asked for. */
static const struct {
	void (*call)(struct by_calls *x, struct ibv_qp_ex *q);
	bool alone; /* wrong only as the first call of a list */
	int error;
} wrong[] = {
	{send_plain, false, EINVAL},
	{send_imm, false, EINVAL},
	{send_inv, false, EINVAL},
	{write_imm, false, EINVAL},
	{read_one, false, EINVAL},
	{swap, false, EINVAL},
	{add, false, EINVAL},
	{bind_window, false, EINVAL},
	{invalidate, false, EINVAL},
	{sges_too_many, false, EINVAL},
	{bytes_too_many, false, EINVAL},
	{bytes_beyond_all, false, EINVAL},
	{writes_too_many, false, ENOMEM},
	{sge_of_none, true, EINVAL},
	{bytes_of_none, true, EINVAL},
	{address_of_none, true, EINVAL},
	{srq_of_none, true, EINVAL},
};

/* One that arrives. */
static int right_list(struct by_calls *x, unsigned wr_id)
{
	ibv_wr_start(x->calls);
	right_write(x, wr_id, HALF + 16 * wr_id);
	if (ibv_wr_complete(x->calls) || IS(x, 0, .wr_id = wr_id, .opcode = IBV_WC_RDMA_WRITE))
		return __LINE__;
	memcpy(x->image + HALF + 16 * wr_id, x->image + wr_id, 8);
	return nothing_else(x);
}

/* The wrong call, between right ones. */
static int refused(struct by_calls *x, unsigned i)
{
	ibv_wr_start(x->calls);
	if (!wrong[i].alone)
		right_write(x, 200, HALF + 4000);
	wrong[i].call(x, x->calls);
	right_write(x, 201, HALF + 4016);
	if (ibv_wr_complete(x->calls) != wrong[i].error)
		return __LINE__;
	return right_list(x, i + 1);
}

/* Only the last one has a completion. */
static int list_of(struct by_calls *x, unsigned n)
{
	ibv_wr_start(x->calls);
	for (unsigned i = 1; i <= n; i++) {
		x->calls->wr_id = i;
		x->calls->wr_flags = i == n ? IBV_SEND_SIGNALED : 0;
		one_write(x, x->calls);
		ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 0), 8);
	}
	return ibv_wr_complete(x->calls);
}

/* A list may fill the whole queue, and not one request more. */
static int full(struct by_calls *x)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = 0}};

	ibv_query_qp(x->qp[0], &attr, 0, &init);
	if (list_of(x, init.cap.max_send_wr + 1) != ENOMEM || nothing_else(x))
		return __LINE__;
	if (list_of(x, init.cap.max_send_wr) ||
	    IS(x, 0, .wr_id = init.cap.max_send_wr, .opcode = IBV_WC_RDMA_WRITE))
		return __LINE__;
	memcpy(x->image + HALF, x->image, 8);
	return nothing_else(x);
}

/* As many entries and as many inline bytes as the queue pair has, the latter in pieces. */
static int at_limits(struct by_calls *x)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init = {.cap = {.max_send_sge = 0}};
	struct ibv_data_buf pieces[2] = {{x->image, 0}, {x->image + 1, 1}};
	struct ibv_sge sges[64];
	unsigned n;

	ibv_query_qp(x->qp[0], &attr, IBV_QP_CAP, &init);
	n = init.cap.max_send_sge;
	for (unsigned i = 0; i < n; i++)
		sges[i] = (struct ibv_sge){at(x, 2 * i), 1, x->mr->lkey};
	ibv_wr_start(x->calls);
	x->calls->wr_flags = 0;
	one_write(x, x->calls);
	ibv_wr_set_sge_list(x->calls, n, sges);
	x->calls->wr_id = 3;
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(x->calls, x->mr->rkey, at(x, HALF + 1024));
	pieces[0].length = init.cap.max_inline_data - 1;
	ibv_wr_set_inline_data_list(x->calls, 2, pieces);
	if (ibv_wr_complete(x->calls) || IS(x, 0, .wr_id = 3, .opcode = IBV_WC_RDMA_WRITE))
		return __LINE__;
	for (unsigned i = 0; i < n; i++)
		x->image[HALF + i] = x->image[2 * i];
	memcpy(x->image + HALF + 1024, x->image, pieces[0].length);
	x->image[HALF + 1024 + pieces[0].length] = x->image[1];
	return nothing_else(x);
}

/* The other queue pair was made for sends alone, and a third one for no calls; in RESET none posts. */
static int others(struct by_calls *x)
{
	struct ibv_qp_ex *peer = ibv_qp_to_qp_ex(x->qp[1]);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.send_cq = ibv_cq_ex_to_cq(x->cq[0]),
					.recv_cq = ibv_cq_ex_to_cq(x->cq[0])};
	struct ibv_qp *plain = ibv_create_qp(x->pd, &init);

	if (!plain || ibv_qp_to_qp_ex(plain) || ibv_destroy_qp(plain))
		return __LINE__;
	ibv_wr_start(peer);
	ibv_wr_rdma_write(peer, x->mr->rkey, at(x, 0));
	if (ibv_wr_complete(peer) != EINVAL || ibv_modify_qp(x->qp[0], &attr, IBV_QP_STATE))
		return __LINE__;
	ibv_wr_start(x->calls);
	right_write(x, 203, HALF);
	return ibv_wr_complete(x->calls) == EINVAL ? nothing_else(x) : __LINE__;
}

static int program(void *arg)
{
	struct by_calls *x = calloc(1, sizeof(*x));
	int rc;

	*x = (struct by_calls){.type = IBV_QPT_RC,
			       .ops = IBV_QP_EX_WITH_RDMA_WRITE,
			       .peer_ops = IBV_QP_EX_WITH_SEND};
	rc = open_by_calls(x);
	for (unsigned i = 0; i < ARRAY_SIZE(wrong) && !rc; i++)
		rc = refused(x, i);
	if (!rc)
		rc = full(x);
	if (!rc)
		rc = at_limits(x);
	if (!rc)
		rc = others(x);
	if (!rc)
		rc = close_by_calls(x);
	free(x);
	return rc;
}

SCENARIO(wr_calls_refused, "a list of calls with a wrong one in it posts nothing", .no_qps = true,
	 .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
