/* SPDX-License-Identifier: Apache-2.0 */
/* Loads for `make bench`: the same messages over one queue pair or 1,024, with ACK timers or
 * without; a round is 1,024 messages of four packets. */
#include "testbench/scenario.h"

enum { MESSAGES = 1024, LEN = 4 * 4096, AT_ONCE = 64, SHORT = 1, LONG = 3 };

static void load(struct tb *tb, struct tb_end *a, unsigned qps, unsigned rounds)
{
	for (unsigned i = 0; i < rounds * MESSAGES && still_right(); i += AT_ONCE) {
		for (unsigned k = 0; k < AT_ONCE; k++)
			rdma_write(a, .wr_id = k, .len = LEN, .qp = (i + k) % qps);
		expect_cqes(a, AT_ONCE);
	}
}

static void finish(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	expect_data(b, .len = LEN);
	expect_stat(a, retry, retransmitted, 0);
}

#define BUSY(n, length, rounds)                                                                    \
	SCENARIO(bench_busy##n##_##length, "WRITEs over " #n " queue pairs", .hidden = true,       \
		 .unobserved = true, .qps = n)                                                     \
	{                                                                                          \
		load(tb, a, n, rounds);                                                            \
		finish(tb, a, b);                                                                  \
	}

BUSY(1, short, SHORT)
BUSY(1, long, LONG)
BUSY(1024, short, SHORT)
BUSY(1024, long, LONG)

/* One queue pair whose ACK timers never run. */
static void untimed(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned rounds)
{
	make_objects(a);
	make_objects(b);
	for (struct tb_end *end = a; end && still_right(); end = end == a ? b : NULL) {
		struct drv_rc_path path =
			drv_rc_path_default(end->peer->lid, drv_qp_num(end->peer->qp[0]));

		path.timeout = 0;
		must(drv_qp_connect(end->qp[0], &path));
	}
	load(tb, a, 1, rounds);
	finish(tb, a, b);
}

SCENARIO(bench_untimed_short, "WRITEs without ACK timers", .hidden = true, .unobserved = true,
	 .no_qps = true)
{
	untimed(tb, a, b, SHORT);
}

SCENARIO(bench_untimed_long, "WRITEs without ACK timers", .hidden = true, .unobserved = true,
	 .no_qps = true)
{
	untimed(tb, a, b, LONG);
}
