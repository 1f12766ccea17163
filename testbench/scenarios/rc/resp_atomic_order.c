/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests after an atomic on the same queue pair do not overtake it, although the atomic's read of
 * memory is late. A WRITE of the same word lands after it, a READ sees its result, and a second
 * atomic adds to it.
 * behaviours: IBA-9.7.4.2-atomic-order
 */
#include "testbench/harm.h"
#include "testbench/scenario.h"

enum { WORD = 8 };

SCENARIO(resp_atomic_order, "requests behind an atomic see what it did", .any_packets = true)
{
	phase("a WRITE");
	set_word(b, 0, 5);
	late_read(b, "atomic", CFG_US(10));
	fetch_add(a, .wr_id = 1, .target = 0, .compare = 1);
	rdma_write(a, .wr_id = 2, .src = 64, .len = WORD);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
	expect_word(a, 0, 5);
	expect_data(b, .src = 64, .len = WORD);

	phase("a SEND into the same word");
	set_word(b, 0, 7);
	post_recv(b, .wr_id = 3, .len = WORD);
	late_read(b, "atomic", CFG_US(10));
	fetch_add(a, .wr_id = 4, .target = 0, .compare = 1);
	post_send(a, .wr_id = 5, .src = 128, .len = WORD);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(a, .wr_id = 5);
	expect_cqe(b, .wr_id = 3);
	expect_word(a, 0, 7);
	expect_data(b, .src = 128, .len = WORD);

	phase("a second one");
	set_word(b, 0, 40);
	late_read(b, "atomic", CFG_US(10));
	fetch_add(a, .wr_id = 6, .dst = 0, .target = 0, .compare = 1);
	fetch_add(a, .wr_id = 7, .dst = 8, .target = 0, .compare = 1);
	expect_cqe(a, .wr_id = 6);
	expect_cqe(a, .wr_id = 7);
	expect_word(a, 0, 40);
	expect_word(a, 8, 41);
	expect_word(b, 0, 42);
}
