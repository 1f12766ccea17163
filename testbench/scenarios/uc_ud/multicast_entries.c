/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three groups stand in one chain of the multicast table, with members of which some block their own packets.
 * Each command of each step is refused in turn: the step fails, no group changes, and no place is lost. The next try
 * succeeds. The table has a last place.
 */
/* behaviours: MCG-chain FAULT-command-status */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/harm.h"

enum { QKEY = 0x22222222, GROUPS = 3, TIMES_MAX = 8 };

/* Their hash, the XOR of their bytes, is the same. */
static void group_of(unsigned n, uint8_t *mgid)
{
	static const uint8_t first[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b};

	memcpy(mgid, first, sizeof(first));
	mgid[12] = (uint8_t)(n + 5);
	mgid[14] = (uint8_t)(n + 5);
}

static const struct step {
	bool attach;
	unsigned qp, group;
	bool block;
} steps[] = {
	{true, 0, 0, true},  {true, 1, 0, false}, {true, 2, 0, true},  {true, 2, 1, true},
	{true, 0, 1, false}, {true, 1, 2, true},  {true, 0, 2, false}, {true, 0, 0, true},
	{false, 0, 0, 0},    {false, 2, 1, 0},    {false, 0, 1, 0},    {true, 1, 1, true},
	{false, 1, 0, 0},    {false, 2, 0, 0},    {false, 1, 2, 0},    {false, 1, 1, 0},
	{false, 0, 2, 0},
};

static int take(const struct step *s, struct drv_qp *const *qps)
{
	uint8_t mgid[DRV_GID_BYTES];

	group_of(s->group, mgid);
	return s->attach ? drv_mcast_attach(qps[s->qp], mgid, s->block)
			 : drv_mcast_detach(qps[s->qp], mgid);
}

static void stepped(struct tb *tb, struct tb_end *a, const struct step *s,
		    struct drv_qp *const *qps)
{
	for (unsigned nth = 1; still_right(); nth++) {
		int rc;

		refuse_command(a, nth, HCR_STATUS_BAD_PARAM);
		rc = take(s, qps);
		if (!refuse_command(a, 0, 0)) {
			expect_equal(rc, 0);
			return;
		}
		expect_equal(rc, -EINVAL);
		expect_that(nth, <, TIMES_MAX);
	}
}

/* Only the last place behind the buckets is free: a second group of the chain gets it, and a third one gets none
 * until that one has gone. */
static void last_place(struct tb *tb, struct tb_end *a, struct drv_qp *qp)
{
	struct drv_bitmap *places = &a->dev->mcgs;
	const uint32_t words = places->size / 64;
	const uint64_t is = places->words[words - 1];
	uint8_t mgids[GROUPS][DRV_GID_BYTES];

	name_row("%s", "the last place");
	for (unsigned n = 0; n < GROUPS; n++)
		group_of(n, mgids[n]);
	expect_equal(places->used, 0);
	expect_equal(places->size, (1u << DRV_LOG_MCGS) / 2);
	memset(places->words, UINT8_MAX, words * sizeof(*places->words));
	places->words[words - 1] = is | UINT64_MAX >> 1;
	must(drv_mcast_attach(qp, mgids[0], true));
	must(drv_mcast_attach(qp, mgids[1], false));
	expect_equal(places->words[words - 1], UINT64_MAX);
	must_fail(-ENOMEM, drv_mcast_attach(qp, mgids[2], false));
	must_fail(-EINVAL, drv_mcast_detach(qp, mgids[2]));
	must(drv_mcast_detach(qp, mgids[1]));
	must(drv_mcast_attach(qp, mgids[2], false));
	must(drv_mcast_detach(qp, mgids[0]));
	must(drv_mcast_detach(qp, mgids[2]));
	expect_equal(places->words[words - 1], UINT64_MAX >> 1);
	memset(places->words, 0, words * sizeof(*places->words));
}

SCENARIO(multicast_entries,
	 "each command that changes a chain of groups is refused in turn: no group changes, "
	 "and no place is lost",
	 .any_packets = true, .of_mlx4 = "entries of its multicast table")
{
	struct drv_qp *qps[GROUPS], *uc = new_qp(a, .type = IBV_QPT_UC);
	uint8_t mgid[DRV_GID_BYTES];

	for_each_row(i, qps) {
		qps[i] = new_qp(a, .type = IBV_QPT_UD);
		start_ud(qps[i], QKEY, 1);
	}
	if (!still_right())
		return;
	for_each_row(i, steps) {
		const struct step *s = &steps[i];

		name_row("%zu: queue pair %u, group %u", (size_t)i, s->qp, s->group);
		stepped(tb, a, s, qps);
		if (s->attach)
			continue;
		group_of(s->group, mgid);
		must_fail(-EINVAL, drv_mcast_detach(qps[s->qp], mgid));
	}
	must_fail(-EINVAL, drv_mcast_attach(uc, mgid, false));
	must_fail(-EINVAL, drv_mcast_attach(a->qp[0], mgid, false));
	destroy_qp(uc);
	last_place(tb, a, qps[1]);
	for_each_row(i, qps)
		destroy_qp(qps[i]);
}
