/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments that do not fit each other, or lie next to what is right: the driver refuses each call, and
 * the right call behind it works. Members that a service does not use hold nothing.
 */
/* behaviours: IBA-11.2.1.2-limits */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { PAGE = 4096, BACK = 96, KEPT = 4 };

/* Pages that are too few or too many for the bytes, and lengths that wrap. */
static void pages(struct tb *tb, struct tb_end *a)
{
	const uint64_t list[] = {tb_va(a, a->dst), tb_va(a, a->dst) + PAGE,
				 tb_va(a, a->dst) + 2 * PAGE};
	const unsigned rw = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	const struct {
		const char *name;
		uint64_t iova, len;
		unsigned n, access;
		int rc;
	} rows[] = {
		{"a page less", 0x10000, PAGE + 1, 1, rw, -EINVAL},
		{"a page more", 0x10000, 2 * PAGE, 3, rw, -EINVAL},
		{"a page less, because of the offset", 0x10000 + 8, 2 * PAGE, 2, rw, -EINVAL},
		{"no byte", 0x10000, 0, 1, rw, -EINVAL},
		{"a length that wraps", 0x11000 - BACK, 1 - (uint64_t)(PAGE - BACK), 1, rw,
		 -EINVAL},
		{"remote write alone", 0x10000, PAGE, 1, IBV_ACCESS_REMOTE_WRITE, -EINVAL},
		{"remote atomics alone", 0x10000, PAGE, 1, IBV_ACCESS_REMOTE_ATOMIC, -EINVAL},
		{"two pages", 0x10000, 2 * PAGE, 2, rw, 0},
		{"three pages, because of the offset", 0x10000 + 8, 2 * PAGE, 3, rw, 0},
	};
	struct drv_mr *mr;

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		must_fail(rows[i].rc, drv_mr_reg_pages(a->pd, list, rows[i].n, rows[i].iova,
						       rows[i].len, rows[i].access, &mr));
		if (!rows[i].rc && still_right())
			must(drv_mr_dereg(mr));
	}
	name_row("%s", "another offset in the page");
	must_fail(-EINVAL, drv_mr_reg_iova(a->pd, a->dst, PAGE, tb_va(a, a->dst) + 8, rw, &mr));
	must(drv_mr_reg_iova(a->pd, a->dst + 8, PAGE, 0x70000 + 8, rw, &mr));
	if (still_right())
		must(drv_mr_dereg(mr));
}

static void shared_receives(struct tb *tb, struct tb_end *a)
{
	struct drv_srq *srq = new_srq(a, .max_wr = 20);
	const struct drv_qp_init both = {
		.type = IBV_QPT_RC,
		.send_cq = a->cq,
		.recv_cq = a->cq,
		.srq = srq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	uint32_t max_wr, max_sge;
	unsigned queried, limit;
	struct drv_qp *qp;

	name_row("%s", "receives of its own, and an SRQ");
	must_fail(-EINVAL, drv_qp_create(a->pd, &both, &qp));
	name_row("%s", "the size of an SRQ");
	drv_srq_size(srq, &max_wr, &max_sge);
	must(drv_srq_query(srq, &queried, &limit));
	expect_equal(queried, max_wr);
	expect_that(max_wr, >=, 20);
	destroy_srq(srq);
}

/* An initiator of XRC has a CQ of sends, and nothing else that its creator may name. */
static void initiator(struct tb *tb, struct tb_end *a)
{
	struct drv_cq *unused = new_cq(a, 3, 0);
	struct drv_xrcd *xrcd = new_xrcd(a);
	struct drv_srq *srq = new_srq(a, .max_wr = 3);
	struct drv_qp *qp =
		new_qp(a, .type = IBV_QPT_XRC_SEND, .recv_cq = unused, .srq = srq, .xrcd = xrcd,
		       .cap = {.max_recv_wr = TB_NONE, .max_recv_sge = TB_NONE});

	name_row("%s", "what an initiator does not use");
	if (!still_right())
		return;
	destroy_srq(srq);
	destroy_xrcd(xrcd);
	destroy_cq(unused);
	destroy_qp(qp);
}

/* A page of doorbells is used by a queue pair alone; a queue pair is found by its whole number. */
static void found(struct tb *tb, struct tb_end *a)
{
	struct drv_uar *uar;
	struct drv_qp *qp;

	name_row("%s", "a page of doorbells in use");
	must(drv_uar_alloc(a->dev, &uar));
	if (!still_right())
		return;
	qp = new_qp(a, .uar = uar);
	must_fail(-EBUSY, drv_uar_free(uar));
	name_row("%s", "a number");
	expect_true(drv_qp_find(a->dev, drv_qp_num(qp)) == qp);
	for (unsigned bit = 0; bit < 24; bit++)
		expect_true(drv_qp_find(a->dev, drv_qp_num(qp) ^ 1u << bit) != qp);
	destroy_qp(qp);
	must(drv_uar_free(uar));
}

static void paths(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	const unsigned rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	static const unsigned mtus[] = {0, IBV_MTU_4096 + 1, 8};
	struct drv_qp_attr was;
	struct drv_qp *qp = new_qp(a);
	const unsigned ports[] = {0, a->lid_2 ? 3 : 2, 255};

	name_row("%s", "a path");
	must(drv_qp_modify(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr = (struct drv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .ah_attr = {.dlid = (uint16_t)b->lid, .port_num = 1},
				    .dest_qp_num = 5};
	for (unsigned i = 0; i < ARRAY_SIZE(mtus); i++) {
		attr.path_mtu = (enum ibv_mtu)mtus[i];
		must_fail(-EINVAL, drv_qp_modify(qp, &attr, rtr));
	}
	attr.path_mtu = IBV_MTU_2048;
	attr.alt_ah_attr = attr.ah_attr;
	for (unsigned i = 0; i < ARRAY_SIZE(ports); i++) {
		attr.alt_port_num = (uint8_t)ports[i];
		must_fail(-EINVAL, drv_qp_modify(qp, &attr, rtr | IBV_QP_ALT_PATH));
	}
	must(drv_qp_query(qp, &was));
	expect_equal(was.qp_state, IBV_QPS_INIT);
	attr.alt_port_num = 1;
	attr.alt_timeout = 9;
	attr.timeout = 14;
	must(drv_qp_modify(qp, &attr, rtr | IBV_QP_ALT_PATH));
	must(drv_qp_query(qp, &was));
	expect_equal(was.path_mtu, IBV_MTU_2048);
	expect_equal(was.alt_timeout, 9);
	destroy_qp(qp);
}

/* A CQ cannot become as small as what it holds: the entry of the resize needs a place, too. */
static void resized(struct tb *tb, struct tb_end *a)
{
	const struct drv_send_wr nop = {.opcode = IBV_WR_NOP, .send_flags = IBV_SEND_SIGNALED};
	struct drv_cq *cq = new_cq(a, 15, 0);
	struct drv_qp *x = new_qp(a, .send_cq = cq), *y = new_qp(a);

	name_row("%s", "the size of a CQ");
	connect_ends(a, x, a, y);
	if (!still_right())
		return;
	for (unsigned i = 0; i < KEPT; i++)
		must(drv_post_send(x, &nop, NULL));
	pass_time(CFG_US(20));
	must_fail(-EINVAL, drv_cq_resize(cq, KEPT - 1));
	must(drv_cq_resize(cq, KEPT));
	for (unsigned i = 0; i < KEPT; i++)
		expect_cqe(a, .cq = cq);
	expect_empty(cq);
	must(drv_cq_resize(cq, KEPT - 1));
	destroy_qp(x);
	destroy_qp(y);
	destroy_cq(cq);
}

SCENARIO(arguments_wrong, "arguments next to right ones are refused, and unused ones hold nothing",
	 .any_packets = true, .of_mlx4 = "XRC, pages of doorbells and MTT entries")
{
	pages(tb, a);
	shared_receives(tb, a);
	initiator(tb, a);
	found(tb, a);
	if (!a->ethernet)
		paths(tb, a, b);
	resized(tb, a);
}
