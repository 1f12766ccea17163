/* SPDX-License-Identifier: Apache-2.0 */
/* A CQ is enlarged and shrunk while it holds completions that nobody has polled and more arrive. No
 * completion is lost or doubled, and their order stays the same. Its consumer index has passed the size
 * of the old queue and of the new one by then. */
/* behaviours: IBA-11.2.8.3-cq-resize */
#include "model/interface/commands.h"
#include "testbench/harm.h"

enum {
	ROUNDS = 6,
	BURST = 20,
	TURNS = 4 /* bursts of more completions than the small queue has */
};

/* The device's own refusal: the command without the driver's look at the queue. */
static void resize_raw(struct tb *tb, struct tb_end *b, struct drv_cq *cq, unsigned log_size,
		       int result)
{
	struct cqc ctx = {0};

	cqc_set_log_size(&ctx, log_size);
	must_fail(result, drv_cmd(b->dev, &(struct drv_raw_cmd){.op = HCR_MODIFY_CQ,
								.op_mod = HCR_OM_CQ_RESIZE,
								.in_mod = drv_cq_num(cq),
								.in = &ctx,
								.in_len = sizeof(ctx)}));
}

/* A burst of completions, each polled. */
static void burst(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		  struct drv_qp *y, struct drv_cq *cq, unsigned wr_id)
{
	recv_on(b, y, .wr_id = wr_id, .len = 0, .repeat = BURST);
	send_on(a, x, .len = 0, .repeat = BURST);
	expect_cqes(a, BURST);
	for (unsigned n = 0; n < BURST && still_right(); n++)
		expect_cqe(b, .cq = cq, .wr_id = wr_id + n);
}

/* A resize that the device refuses changes nothing: the CQ goes on with the buffer that it has, beyond its end. */
SCENARIO(cq_resize_refused, "the device refuses to resize a CQ, which goes on as it is",
	 .any_packets = true, .of_mlx4 = "command that resizes")
{
	static const unsigned sizes[] = {7, 500};
	struct drv_cq *cq = new_cq(b, 63, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);
	unsigned wr_id = 0;

	connect_two(x, y);
	for_each_row(i, sizes) {
		name_row("to %u", sizes[i]);
		recv_on(b, y, .wr_id = wr_id, .len = 0, .repeat = 3);
		send_on(a, x, .len = 0, .repeat = 3);
		expect_cqes(a, 3);
		pass_time(CFG_US(30));
		fail_command(b, HCR_MODIFY_CQ, HCR_STATUS_EXCEED_LIM, 1);
		must_fail(-ENOMEM, drv_cq_resize(cq, sizes[i]));
		expect_equal(drv_cq_entries(cq), 63);
		for (unsigned n = 0; n < 3; n++)
			expect_cqe(b, .cq = cq, .wr_id = wr_id + n);
		wr_id += 100;
		for (unsigned round = 0; round < ROUNDS && still_right(); round++, wr_id += 100)
			burst(tb, a, b, x, y, cq, wr_id);
		must(drv_cq_resize(cq, 100 + i));
		expect_equal(drv_cq_entries(cq), 127);
		must(drv_cq_resize(cq, 63));
	}
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}

SCENARIO(cq_resize_too_small, "a CQ is not resized to less than what stands in it")
{
	struct drv_cq *cq = new_cq(b, 63, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	recv_on(b, y, .len = 16, .repeat = BURST);
	send_on(a, x, .len = 16, .repeat = BURST);
	expect_cqes(a, BURST);
	pass_time(CFG_US(30));
	must_fail(-EINVAL, drv_cq_resize(cq, 7));
	must_fail(-EINVAL, drv_cq_resize(cq, 15));
	resize_raw(tb, b, cq, 4, -ENOMEM);
	for (unsigned i = 0; i < BURST / 2; i++)
		expect_cqe(b, .cq = cq);
	/* ten are left, of a queue that has not changed: 16 hold them */
	must_fail(-EINVAL, drv_cq_resize(cq, 7));
	must(drv_cq_resize(cq, 15));
	expect_cqe(b, .cq = cq);
	expect_cqe(b, .cq = cq);
	/* eight are left, and a queue for seven has eight places, of which one always stays free */
	must_fail(-EINVAL, drv_cq_resize(cq, 7));
	expect_cqe(b, .cq = cq);
	must(drv_cq_resize(cq, 7));
	for (unsigned i = 3; i < BURST / 2; i++)
		expect_cqe(b, .cq = cq);
	expect_empty(cq);
	for (unsigned i = 0; i < BURST; i++)
		expect_data(b, .dst = i * 16, .len = 16);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}

SCENARIO(cq_resize, "a CQ is resized with completions in it, under load")
{
	struct drv_cq *cq = new_cq(b, 63, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		for (unsigned turn = 0; turn < TURNS && still_right(); turn++)
			burst(tb, a, b, x, y, cq, 1000 + turn * BURST);
		recv_on(b, y, .wr_id = round * 100, .len = 16, .repeat = BURST);
		send_on(a, x, .len = 16, .repeat = BURST / 2);
		if (round % 2)
			pass_time(CFG_US(30));
		send_on(a, x, .len = 16, .repeat = BURST / 2);
		must(drv_cq_resize(cq, round % 2 ? 63 : 500));
		for (unsigned i = 0; i < BURST && still_right(); i++)
			expect_cqe(b, .cq = cq, .wr_id = round * 100 + i);
		expect_empty(cq);
		expect_cqes(a, BURST);
		drv_cq_arm(cq, false);
		pass_time(CFG_US(20));
		expect_equal(drv_cq_events(cq), round);
		recv_on(b, y, .wr_id = 7, .len = 16);
		send_on(a, x, .len = 16);
		pass_time(CFG_US(20));
		expect_equal(drv_cq_events(cq), round + 1);
		expect_cqe(b, .cq = cq, .wr_id = 7);
		expect_cqes(a, 1);
	}
	for (unsigned i = 0; i < BURST; i++)
		expect_data(b, .dst = i * 16, .len = 16);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
