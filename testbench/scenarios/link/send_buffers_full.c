/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credits of a long cable come late, and more is sent than any buffer of the sender holds: small packets, and
 * large ones. Management has a lane without credits, so it is answered at once. Other queue pairs wait no
 * longer than the link does. A queue pair that is reset while its packets wait gives its place to others,
 * whether its packets stand in the buffers or before them. Afterwards all that was posted arrives.
 */
/* behaviours: IBA-7.9-credits IBA-7.9.4-vl15-buffer */
#include "model/interface/macros.h"
#include "testbench/manage.h"

enum {
	SMALL = 1024,
	LARGE = 4096,
	POSTS = 130, /* more than the small buffers of a 6120, which are used in turn */
	TURN = 20,
	SMPS = 12,
	HOLDERS = 2,
	PORT = 1,
	/* large ones: one more than the credits of rx_buffer, 1, and the buffers of a 6120, 8, let go */
	HELD = 10,
};

#define DELAY CFG_MS(1)
#define SLACK CFG_US(200)
/* from when all is posted, which takes three times FILL_PS, until the first credits come back */
#define BEFORE_CREDITS (2 * DELAY - 3 * FILL_PS - CFG_US(50))
#define FILL_PS        CFG_US(100)

/* Fills what the sender has for packets of that length. */
static void fill(struct tb *tb, struct tb_end *a, struct drv_qp *x, unsigned len, unsigned n)
{
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = len, .repeat = n);
	pass_time(FILL_PS);
}

static void management(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {.dlid = b->lid, .qpn = QPN_SMI};
	struct smp mad = mad_of(MAD_CLASS_SUBN_LID, MAD_METHOD_SEND, 0), answer;
	const uint64_t began = tb_now(tb);

	check_mads();
	for (unsigned i = 0; i < SMPS && still_right(); i++)
		must(drv_mad_send(a->dev, PORT, QPN_SMI, &to, &mad));
	for (unsigned i = 0; i < SMPS; i++)
		expect_mad(a_to_b, .qpn = QPN_SMI, .vl = 15);
	expect_that(tb_now(tb) - began, <, DELAY + SLACK);
	ignore_mads();
	ask(b, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	expect_that(tb_now(tb) - began, <, 5 * DELAY + 3 * SLACK);
}

/* Both queue pairs have as much to send: each ends soon after the other. */
static void share(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned len)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b), *other = new_qp(a), *to = new_qp(b);

	connect_two(x, y);
	connect_two(other, to);
	fill(tb, a, x, len, POSTS);
	management(tb, a, b);
	send_on(a, other, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = len, .dst = LARGE);
	for (unsigned left = POSTS + 1; left && still_right();) {
		const unsigned n = left < TURN ? left : TURN;

		expect_cqes(a, n);
		left -= n;
		if (left)
			management(tb, a, b);
	}
	expect_data(b, .len = len);
	expect_data(b, .dst = LARGE, .len = len);
	destroy_qp(to);
	destroy_qp(other);
	destroy_qp(y);
	destroy_qp(x);
}

/* A question of b, which a answers in the middle of a reset: then a has news of its send buffers, and none after
 * the reset for more than a millisecond. */
static void ask_early(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {.dlid = a->lid, .qpn = QPN_SMI};
	struct smp mad = mad_of(MAD_CLASS_SUBN_LID, MAD_METHOD_GET, SMP_ATTR_NODE_INFO);

	must(drv_mad_send(b->dev, PORT, QPN_SMI, &to, &mad));
	pass_time(2 * FILL_PS);
}

/* The first queue pair has the buffers, the second one has the packet that stands before them. One of both goes,
 * at once or shortly before credits come. */
static void resets(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned gone, unsigned len,
		   uint64_t later_ps)
{
	struct drv_qp *x[HOLDERS], *y[HOLDERS], *other = new_qp(a), *to = new_qp(b);

	for (unsigned i = 0; i < HOLDERS; i++) {
		x[i] = new_qp(a);
		y[i] = new_qp(b);
		connect_two(x[i], y[i]);
	}
	connect_two(other, to);
	ask_early(tb, a, b);
	fill(tb, a, x[0], len, HELD);
	fill(tb, a, x[1], len, 1);
	fill(tb, a, other, len, 1);
	pass_time(later_ps);
	move_qp(x[gone], IBV_QPS_RESET);
	if (!gone)
		expect_cqes_of(a, CQE(.on = x[1], .within_ps = 40 * DELAY),
			       CQE(.on = other, .within_ps = 40 * DELAY));
	else
		expect_cqes(a, HELD + 1);
	ignore_data(b, .len = len);
	destroy_qp(to);
	destroy_qp(other);
	for (unsigned i = HOLDERS; i-- > 0;) {
		destroy_qp(y[i]);
		destroy_qp(x[i]);
	}
}

SCENARIO(send_buffers_full,
	 "data that waits for credits holds up neither management nor other queue pairs",
	 .queue = 256, .settings = {"hca.link.delay=1ms", "hca.link.rx_buffer=8KiB"})
{
	static const unsigned lengths[] = {SMALL, LARGE};

	ignore_packets();
	for_each_row(i, lengths) {
		name_row("packets of %u bytes", lengths[i]);
		share(tb, a, b, lengths[i]);
		for (unsigned gone = 0; gone < HOLDERS; gone++) {
			resets(tb, a, b, gone, lengths[i], 0);
			resets(tb, a, b, gone, lengths[i], BEFORE_CREDITS);
		}
	}
	ignore_discarded(a);
}
