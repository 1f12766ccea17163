/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair cannot be made, because memory lacks at each place in turn. It leaves no number: packets
 * for the numbers around it find nobody. Afterwards as many queue pairs can be made as before, and each
 * has a number that no other has.
 */
/* behaviours: FAULT-no-memory */
#include "testbench/harm.h"

enum { QKEY = 0x22222222, PLACES_MAX = 60, AROUND = 4, LEN = 16, GRH_AREA = 40, PORT = 1 };

static int make(struct tb_end *b, struct drv_qp **qp)
{
	const struct drv_qp_init init = {
		.type = IBV_QPT_UD,
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

	return drv_qp_create(b->pd, &init, qp);
}

/* A datagram to each number around `qpn`, but not to that one. */
static void knock(struct tb *tb, struct tb_end *a, const struct tb_end *b, struct drv_qp *x,
		  uint32_t qpn)
{
	const struct drv_ah_attr ah = ah_to(b);

	for (uint32_t to = qpn - 1; to <= qpn + AROUND && still_right(); to++) {
		if (to == qpn)
			continue;
		send_on(a, x, .wr_id = to, .len = LEN, .ah = &ah, .remote_qpn = to, .qkey = QKEY);
		expect_cqe(a, .wr_id = to);
	}
	pass_time(CFG_US(50));
}

SCENARIO(qp_not_made, "a queue pair for which memory lacks leaves no number", .qps = 0,
	 .any_packets = true)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = NULL;
	const struct drv_ah_attr ah = ah_to(b);
	struct drv_qp *first;
	unsigned nth = 1;

	start_ud(x, QKEY, 0);
	must(make(b, &first));
	for (bool over = false; !over && still_right(); nth++) {
		int rc;

		name_row("place %u", nth);
		lack_memory(nth);
		rc = make(b, &y);
		over = !lack_memory(0);
		expect_equal(rc, over ? 0 : -ENOMEM);
		knock(tb, a, b, x, drv_qp_num(over && !rc ? y : first));
		expect_that(nth, <, PLACES_MAX);
	}
	name_row("%s", "");
	expect_that(nth, >, 2);
	if (!still_right())
		return;
	expect_true(drv_qp_num(y) != drv_qp_num(first));
	start_ud(y, QKEY, 0);
	recv_on(b, y, .wr_id = 1, .len = LEN + GRH_AREA);
	send_on(a, x, .wr_id = 1, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 1, .on = y);
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	ignore_data(b, .len = GRH_AREA); /* over RoCE a GRH comes there */
	must(drv_qp_destroy(y));
	must(drv_qp_destroy(first));
	destroy_qp(x);
}
