/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics that wait for the atomic unit do not use PCIe before their turn, so a READ of another
 * queue pair passes them.
 * behaviours: IBA-9.7.4.2-atomic-order
 */
#include "testbench/services.h"

enum { PAIRS = 8, ATOMICS = 16, TINY = 8, AT = 32768 };

static uint64_t tiny_read_takes(struct tb *tb, struct tb_end *a, unsigned wr_id)
{
	const uint64_t from = tb_now(tb);

	rdma_read(a, .wr_id = wr_id, .src = 4096, .dst = 4096, .len = TINY);
	expect_cqe(a, .wr_id = wr_id);
	expect_data(a, .src = 4096, .dst = 4096, .len = TINY);
	return tb_now(tb) - from;
}

SCENARIO(atomics_waiting, "atomics that wait for their unit hold up no other queue pair",
	 .any_packets = true, .qps = PAIRS, .max_rd_atomic = ATOMICS,
	 .settings = {"hca.atomic_read.atomic_gap=4us"},
	 .of_mlx4 = "unit for atomics that takes time")
{
	uint64_t first, beside;

	set_word(b, 0, 0);
	first = tiny_read_takes(tb, a, 1); /* contexts and translations are not cached yet */
	for (unsigned i = 1; i < PAIRS; i++)
		fetch_add(a, .qp = i, .wr_id = 100, .dst = AT + i * TINY, .compare = 1,
			  .unsignaled = true, .repeat = ATOMICS);
	pass_time(CFG_US(40));
	beside = tiny_read_takes(tb, a, 2);
	expect_that(tb_stat(b, "atomic_read", "atomics"), <, (PAIRS - 1) * ATOMICS);
	expect_that(beside, <, first + CFG_US(2));
	pass_time(CFG_US(600));
	expect_stat(b, atomic_read, atomics, (PAIRS - 1) * ATOMICS);
	expect_word(b, 0, (PAIRS - 1) * ATOMICS);
	ignore_data(a, .dst = AT, .len = PAIRS * TINY);
}
