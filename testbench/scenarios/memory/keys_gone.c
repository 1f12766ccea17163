/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of regions that have gone. None of the next regions has one of them, as often as regions come and go; with
 * transport in software, where the table of keys is small, so often that their places are used again. What uses a
 * key that has gone is refused: the peer's requests, and sends and receives. The other regions, older and newer
 * ones of the same memory, go on.
 */
/* behaviours: IBA-10.6.3-stale-key */
#include "testbench/services.h"

enum { LEN = 64, KEPT = 3, GONE = 200, PLACES = 1 << 16 };
enum { RIGHTS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };

static struct drv_mr *region(struct tb *tb, struct tb_end *b, unsigned at)
{
	struct drv_mr *mr = NULL;

	must(drv_mr_reg_iova(b->pd, b->dst + at, LEN, tb_va(b, b->dst + at), RIGHTS, &mr));
	return mr;
}

static void reach(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t rkey, unsigned at,
		  bool goes)
{
	rdma_write(a, .rkey = rkey, .dst = at, .src = at, .len = LEN);
	expect_cqe(a, .status = goes ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
	if (goes) {
		expect_data(b, .dst = at, .src = at, .len = LEN);
		return;
	}
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
}

static void local(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t lkey)
{
	post_send(b, .wr_id = 1, .len = LEN, .lkey = lkey);
	expect_cqe(b, .wr_id = 1, .status = IBV_WC_LOC_PROT_ERR);
	reconnect(0);
	post_recv(b, .wr_id = 2, .len = LEN, .lkey = lkey);
	post_send(a, .wr_id = 3, .len = LEN);
	expect_cqe(b, .wr_id = 2, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_REM_OP_ERR);
	reconnect(0);
	if (!in_software(b)) /* such a device knows that it is software's own mistake */
		expect_guest_error(b, object_after_hw2sw);
}

/* Regions come and go, and none has the key. */
static void come_and_go(struct tb *tb, struct tb_end *b, uint32_t key, unsigned times)
{
	const uint64_t va = tb_va(b, b->dst);
	bool found = false;
	struct drv_mr *mr;
	int rc = 0;

	for (unsigned i = 0; i < times && !rc && !found; i++) {
		rc = drv_mr_reg_iova(b->pd, b->dst, LEN, va, RIGHTS, &mr);
		if (rc)
			break;
		found = drv_mr_rkey(mr) == key;
		rc = drv_mr_dereg(mr);
	}
	expect_equal(rc, 0);
	expect_true(!found);
}

SCENARIO(keys_gone, "keys of regions that have gone: refused, and not given out again soon",
	 .any_packets = true)
{
	struct drv_mr *kept[KEPT], *gone;
	uint32_t key;

	for (unsigned i = 0; i < KEPT; i++)
		kept[i] = region(tb, b, i * LEN);
	gone = region(tb, b, LEN);
	if (!still_right())
		return;
	key = drv_mr_rkey(gone);
	expect_equal(drv_mr_lkey(gone), key);
	reach(tb, a, b, key, LEN, true);
	must(drv_mr_dereg(gone));
	reach(tb, a, b, key, LEN, false);
	local(tb, a, b, key);
	come_and_go(tb, b, key, in_software(b) ? PLACES : GONE);
	gone = region(tb, b, LEN);
	reach(tb, a, b, key, LEN, false);
	local(tb, a, b, key);
	for (unsigned i = 0; i < KEPT && still_right(); i++)
		reach(tb, a, b, drv_mr_rkey(kept[i]), i * LEN, true);
	must(drv_mr_dereg(gone));
	for (unsigned i = 0; i < KEPT && still_right(); i++)
		must(drv_mr_dereg(kept[i]));
}
