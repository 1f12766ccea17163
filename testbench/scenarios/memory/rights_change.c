/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights of a region change, from each set to each other one. What the new set has is allowed at once, and what
 * it has not is refused, however wide the former one was: the peer's WRITEs, READs and atomics, and the local target
 * of a READ. A set that may not be is refused, and the former one stays. The key stays the same.
 */
/* behaviours: MEM-reregister */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum {
	LEN = 64,
	LOCAL = IBV_ACCESS_LOCAL_WRITE,
	WRITES = IBV_ACCESS_REMOTE_WRITE,
	READS = IBV_ACCESS_REMOTE_READ,
	ATOMICS = IBV_ACCESS_REMOTE_ATOMIC,
};

static const unsigned sets[] = {0, LOCAL, READS, LOCAL | WRITES, LOCAL | READS, LOCAL | ATOMICS};

/* A request of the peer. */
static void reach(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t key,
		  enum ibv_wr_opcode opcode, bool allowed)
{
	tb_post(tb, TB_HERE, a,
		&(const struct tb_wr){TB_WR_DEFAULTS, .opcode = opcode, .rkey = key,
				      .remote_addr = (int64_t)tb_va(b, b->dst),
				      .len = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : LEN});
	expect_cqe(a, .status = allowed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
	if (allowed)
		return;
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
}

static void right(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t key, unsigned rights)
{
	reach(tb, a, b, key, IBV_WR_RDMA_WRITE, rights & WRITES);
	reach(tb, a, b, key, IBV_WR_RDMA_READ, rights & READS);
	reach(tb, a, b, key, IBV_WR_ATOMIC_FETCH_AND_ADD, rights & ATOMICS);
	rdma_read(b, .wr_id = 5, .len = LEN, .lkey = key);
	expect_cqe(b, .wr_id = 5, .status = rights & LOCAL ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
	if (!(rights & LOCAL))
		reconnect(0);
}

/* A region of all memory has rights, too. */
static void all_memory(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct platform_ops *ops = b->platform->ops;
	const uint64_t bus = ops->dma_map(b->platform, b->dst, PLATFORM_PAGE_SIZE);

	expect_equal(bus, tb_va(b, b->dst));
	for_each_row(i, sets) {
		struct drv_mr *mr;

		name_row("all memory, access 0x%x", sets[i]);
		must(drv_mr_reg_dma(b->pd, sets[i], &mr));
		if (!still_right())
			return;
		right(tb, a, b, drv_mr_rkey(mr), sets[i]);
		must(drv_mr_dereg(mr));
	}
	ops->dma_unmap(b->platform, bus, PLATFORM_PAGE_SIZE);
}

SCENARIO(rights_change, "the rights of a region change, from each set to each other one",
	 .any_packets = true)
{
	struct drv_mr *mr;
	uint32_t key;

	must(drv_mr_reg_iova(b->pd, b->dst, LEN, tb_va(b, b->dst), 0, &mr));
	if (!still_right())
		return;
	key = drv_mr_rkey(mr);
	for (unsigned from = 0; from < ARRAY_SIZE(sets); from++)
		for_each_row(to, sets) {
			name_row("access 0x%x, then 0x%x", sets[from], sets[to]);
			must(drv_mr_rereg_access(mr, sets[from]));
			must(drv_mr_rereg_access(mr, sets[to]));
			must_fail(-EINVAL, drv_mr_rereg_access(mr, WRITES | READS));
			expect_equal(drv_mr_rkey(mr), key);
			if (from != to)
				right(tb, a, b, key, sets[to]);
		}
	must(drv_mr_dereg(mr));
	all_memory(tb, a, b);
	ignore_data(a, .len = LEN);
	ignore_data(b, .len = LEN);
}
