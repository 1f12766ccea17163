/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WRITE_MTT swaps two translations of a region, and after SYNC_TPT data lands in the other page. An
 * offset between entries or beyond the table, memory that does not exist, and an invalid count
 * change nothing.
 * behaviours: HCA-write-mtt
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "testbench/scenario.h"

#include <errno.h>

enum { PAGE = 4096, ENTRIES_AT = 0x10 };

static int write_mtt(const struct tb_end *end, uint64_t offset, const uint64_t *bus, unsigned n)
{
	uint8_t box[ENTRIES_AT + 2 * sizeof(struct mtt_entry)] = {0};

	write_mtt_set_offset((struct write_mtt *)(void *)box, offset);
	for (unsigned i = 0; i < n; i++) {
		struct mtt_entry *e = (struct mtt_entry *)(void *)(box + ENTRIES_AT) + i;

		mtt_entry_set_addr(e, bus[i]);
		mtt_entry_set_present(e, 1);
	}
	return drv_cmd(end->dev,
		       &(struct drv_raw_cmd){
			       .op = HCR_WRITE_MTT, .in_mod = n, .in = box, .in_len = sizeof(box)});
}

SCENARIO(cmd_write_mtt, "WRITE_MTT and SYNC_TPT change where a region lies", .any_packets = true)
{
	const uint64_t page = tb_va(b, b->dst), crossed[] = {page + PAGE, page};
	const uint64_t at = drv_mtt_addr(&b->mr->mtt) +
			    (uint64_t)(b->dst - b->src) / PAGE * sizeof(struct mtt_entry);
	const uint64_t unmapped =
		(b->dev->tables[DRV_T_MTT].entries - 2) * sizeof(struct mtt_entry);
	const uint64_t beyond = UINT64_C(8) << 31;

	rdma_write(a, .wr_id = 1, .len = 2 * PAGE);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 2 * PAGE);

	must_fail(-EINVAL, write_mtt(b, at, crossed, 0));
	must_fail(-EINVAL, write_mtt(b, at + 4, crossed, 2));
	must_fail(-EINVAL, write_mtt(b, beyond, crossed, 2));
	must_fail(-EINVAL, write_mtt(b, beyond - sizeof(struct mtt_entry), crossed, 2));
	must_fail(-ENFILE, write_mtt(b, unmapped, crossed, 2));
	must(drv_cmd_plain(b->dev, HCR_SYNC_TPT, 0, 0));
	rdma_write(a, .wr_id = 2, .src = 3 * PAGE, .len = 2 * PAGE);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .src = 3 * PAGE, .len = 2 * PAGE);

	must(write_mtt(b, at, crossed, 2));
	must(drv_cmd_plain(b->dev, HCR_SYNC_TPT, 0, 0));
	rdma_write(a, .wr_id = 3, .src = 5 * PAGE, .len = 2 * PAGE);
	expect_cqe(a, .wr_id = 3);
	expect_data(b, .src = 5 * PAGE, .dst = PAGE, .len = PAGE);
	expect_data(b, .src = 6 * PAGE, .len = PAGE);
}
