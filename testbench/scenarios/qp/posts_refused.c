/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a queue pair of this service cannot carry out, or that lack what their opcode needs: the
 * driver refuses each one, nothing of it reaches the device, and the next request goes out. The device
 * would find some of these only after it has begun with them, and end the queue pair.
 */
/* behaviours: IBA-11.4.1-arguments */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { QKEY = 5, LEN = 16, INLINE_MAX = 64 };

enum on { ON_RC, ON_UC, ON_UD, QUEUES };

static const struct wrong {
	const char *name;
	enum on on;
	enum ibv_wr_opcode opcode;
	uint32_t len;
	bool inlined;
} rows[] = {
	{"READ with inline data", ON_RC, IBV_WR_RDMA_READ, LEN, true},
	{"atomic with inline data", ON_RC, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, true},
	{"more inline data than promised", ON_RC, IBV_WR_SEND, 0, true},
	{"a window that is missing", ON_RC, IBV_WR_BIND_MW, 0, false},
	{"a page list that is missing", ON_RC, IBV_WR_REG_MR, 0, false},
	{"READ of UC", ON_UC, IBV_WR_RDMA_READ, LEN, false},
	{"atomic of UC", ON_UC, IBV_WR_ATOMIC_CMP_AND_SWP, 8, false},
	{"SEND with invalidate of UC", ON_UC, IBV_WR_SEND_WITH_INV, LEN, false},
	{"WRITE of UD", ON_UD, IBV_WR_RDMA_WRITE, LEN, false},
	{"READ of UD", ON_UD, IBV_WR_RDMA_READ, LEN, false},
	{"local invalidate of UD", ON_UD, IBV_WR_LOCAL_INV, 0, false},
	{"datagram without an address", ON_UD, IBV_WR_SEND, LEN, false},
};

/* Transport in software says that it lacks them, and the run would end. */
static bool is_lacking(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_BIND_MW || opcode == IBV_WR_REG_MR ||
	       opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_LOCAL_INV;
}

static void post_wrong(struct tb *tb, struct tb_end *a, struct drv_qp *qp, const struct wrong *w)
{
	const bool no_address = w->on == ON_UD && w->opcode == IBV_WR_SEND;
	const struct drv_ah_attr ah = {.dlid = 2, .port_num = 1};
	const struct drv_send_wr *bad = NULL;
	struct drv_qp_cap cap;
	struct drv_send_wr wr;
	struct drv_sge sge;

	drv_qp_cap(qp, &cap);
	sge = (struct drv_sge){tb_va(a, a->src), w->len ? w->len : cap.max_inline_data + 1,
			       drv_mr_lkey(a->mr)};
	wr = (struct drv_send_wr){.opcode = w->opcode,
				  .send_flags = IBV_SEND_SIGNALED |
						(w->inlined ? (unsigned)IBV_SEND_INLINE : 0),
				  .sg_list = &sge,
				  .num_sge = w->len || w->inlined,
				  .ah = no_address ? NULL : &ah,
				  .remote_qpn = 1};
	must_fail(-EINVAL, drv_post_send(qp, &wr, &bad));
	expect_true(bad == &wr);
}

/* Inline data whose length has 33 bits. */
static void post_too_long(struct tb *tb, struct tb_end *a, struct drv_qp *qp)
{
	const struct drv_sge half = {tb_va(a, a->src), 1u << 31, drv_mr_lkey(a->mr)};
	const struct drv_sge sges[] = {half, half};
	const struct drv_send_wr wr = {.opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
				       .sg_list = sges,
				       .num_sge = ARRAY_SIZE(sges)};
	const struct drv_send_wr *bad = NULL;

	must_fail(-EINVAL, drv_post_send(qp, &wr, &bad));
	expect_true(bad == &wr);
}

/* A registration names a region with a page list, or a key and a list. One entry too many is refused of
 * requests without data, too; and inline data of those. */
static void by_key(struct tb *tb, struct tb_end *a, struct drv_qp *qp)
{
	enum { KEY = 0x12345600, LIST = 0x7000 };
	const struct drv_sge sge = {tb_va(a, a->src), 8, drv_mr_lkey(a->mr)};
	struct drv_sge sges[TB_QPS_MAX];
	const struct {
		const char *name;
		struct drv_send_wr wr;
	} wrongs[] = {
		{"a region without a page list",
		 {.opcode = IBV_WR_REG_MR, .reg_mr = a->mr, .reg_key = KEY, .reg_page_list = LIST}},
		{"a key without a page list", {.opcode = IBV_WR_REG_MR, .reg_key = KEY}},
		{"a page list without a key", {.opcode = IBV_WR_REG_MR, .reg_page_list = LIST}},
		{"a registration with too many entries", {.opcode = IBV_WR_REG_MR, .num_sge = 1}},
		{"an invalidation with too many entries",
		 {.opcode = IBV_WR_LOCAL_INV, .num_sge = 1}},
		{"nothing with too many entries", {.opcode = IBV_WR_NOP, .num_sge = 1}},
		{"nothing with inline data", {.opcode = IBV_WR_NOP, .send_flags = IBV_SEND_INLINE}},
		{"an invalidation with inline data",
		 {.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_INLINE}},
	};
	struct drv_qp_cap cap;

	drv_qp_cap(qp, &cap);
	expect_that(cap.max_send_sge, <, TB_QPS_MAX);
	for (unsigned i = 0; i < TB_QPS_MAX; i++)
		sges[i] = sge;
	for_each_row(i, wrongs) {
		const struct drv_send_wr *bad = NULL;
		struct drv_send_wr wr = wrongs[i].wr;

		name_row("%s", wrongs[i].name);
		wr.send_flags |= IBV_SEND_SIGNALED;
		wr.sg_list = sges;
		if (wr.num_sge)
			wr.num_sge = cap.max_send_sge + 1;
		must_fail(-EINVAL, drv_post_send(qp, &wr, &bad));
		expect_true(bad == &wr);
	}
}

SCENARIO(posts_refused, "requests that the service does not have, or that lack something",
	 .inline_bytes = INLINE_MAX, .sges = 2, .any_packets = true)
{
	struct drv_qp *on[QUEUES] = {a->qp[0], new_qp(a, .type = IBV_QPT_UC),
				     new_qp(a, .type = IBV_QPT_UD)};
	struct drv_qp *uc = new_qp(b, .type = IBV_QPT_UC);

	connect_two(on[ON_UC], uc);
	start_ud(on[ON_UD], QKEY, 100);
	for_each_row(i, rows) {
		if (in_software(a) && is_lacking(rows[i].opcode))
			continue;
		name_row("%s", rows[i].name);
		post_wrong(tb, a, on[rows[i].on], &rows[i]);
	}
	name_row("%s", "4 GiB of inline data");
	post_too_long(tb, a, a->qp[0]);
	if (!in_software(a))
		by_key(tb, a, a->qp[0]);
	name_row("%s", "the right one");
	rdma_write(a, .wr_id = 1, .len = LEN);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = LEN);
	send_on(a, on[ON_UC], .wr_id = 2, .opcode = IBV_WR_RDMA_WRITE, .len = LEN, .dst = LEN);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .dst = LEN, .len = LEN);
	destroy_qp(uc);
	destroy_qp(on[ON_UD]);
	destroy_qp(on[ON_UC]);
}

static int post_recv_to(struct drv_qp *qp, const struct drv_recv_wr **bad)
{
	static const struct drv_recv_wr wr = {.wr_id = 7};
	const int rc = drv_post_recv(qp, &wr, bad);

	return rc && *bad != &wr ? 1 : rc;
}

/* Receives of a queue pair that has none, or not now. */
static void receives(struct tb *tb, struct tb_end *a)
{
	struct drv_srq *srq = new_srq(a, .max_wr = 4);
	struct drv_qp *own = new_qp(a),
		      *shares = new_qp(a, .srq = srq,
				       .cap = {.max_recv_wr = TB_NONE, .max_recv_sge = TB_NONE});
	const struct drv_recv_wr *bad = NULL;

	must_fail(-EINVAL, post_recv_to(own, &bad)); /* RESET */
	must_fail(-EINVAL, post_recv_to(shares, &bad));
	connect_ends(a, own, a, shares);
	must_fail(-EINVAL, post_recv_to(shares, &bad));
	must(post_recv_to(own, &bad));
	move_qp(own, IBV_QPS_ERR);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_WR_FLUSH_ERR);
	must(post_recv_to(own, &bad));
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_WR_FLUSH_ERR);
	move_qp(own, IBV_QPS_RESET);
	must_fail(-EINVAL, post_recv_to(own, &bad));
	destroy_qp(own);
	destroy_qp(shares);
	destroy_srq(srq);
}

/* The check finds what the post would: the state, each request of a list, and the room. */
static void checked(struct tb *tb, struct tb_end *a)
{
	struct drv_qp *qp = new_qp(a), *peer = new_qp(a);
	struct drv_send_wr wrong = {.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_INLINE};
	struct drv_send_wr second = {.opcode = IBV_WR_RDMA_WRITE, .next = &wrong};
	const struct drv_send_wr list = {.opcode = IBV_WR_RDMA_WRITE, .next = &second};

	must_fail(-EINVAL, drv_post_check(qp, &(struct drv_send_wr){.opcode = IBV_WR_RDMA_WRITE}));
	connect_ends(a, qp, a, peer);
	must_fail(-EINVAL, drv_post_check(qp, &list));
	must_fail(-EINVAL, drv_post_check(qp, &second));
	wrong.send_flags = 0;
	must(drv_post_check(qp, &list));
	destroy_qp(qp);
	destroy_qp(peer);
}

static void target(struct tb *tb, struct tb_end *a)
{
	const struct drv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
	const struct drv_send_wr *bad = NULL;
	struct drv_xrcd *xrcd = new_xrcd(a);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_XRC_SEND),
		      *y = new_qp(a, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);

	connect_ends(a, x, a, y);
	must_fail(-EINVAL, drv_post_check(y, &wr));
	must_fail(-EINVAL, drv_post_send(y, &wr, &bad));
	expect_true(bad == &wr);
	destroy_qp(y);
	destroy_qp(x);
	destroy_xrcd(xrcd);
}

SCENARIO(posts_of_none, "receives and sends of a queue pair that has none, or not in this state",
	 .any_packets = true)
{
	receives(tb, a);
	checked(tb, a);
}

SCENARIO(posts_of_target, "sends of a queue pair that only receives", .any_packets = true,
	 .of_mlx4 = "XRC")
{
	target(tb, a);
}
