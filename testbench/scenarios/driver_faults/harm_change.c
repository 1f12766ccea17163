/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware refuses commands that change what is in use: a CQ's size, an SRQ's limit, the rights and
 * resources of a queue pair's responder, members of multicast groups. The call fails with the error for that status, everything is as it was,
 * and the same call succeeds the next time. A group's member that is none, or none any more, cannot
 * leave it.
 */
/* behaviours: FAULT-command-status */
#include "model/interface/commands.h"
#include "testbench/harm.h"
#include "testbench/services.h"

enum { QKEY = 0x22222222, LIMIT = 3, UNTOUCHED = 0x77 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 1};
/* in the same bucket as `group`: the XOR of their bytes is the same */
static const uint8_t other[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [13] = 1};

static void send_one(struct tb *tb, struct tb_end *a, struct tb_end *b, uint64_t wr_id)
{
	rdma_write(a, .wr_id = wr_id, .len = 8);
	expect_cqe(a, .wr_id = wr_id);
	expect_data(b, .len = 8);
}

static void size_of_cq(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const unsigned before = drv_cq_entries(a->cq), larger = 2 * before + 1;
	const unsigned sizes[] = {larger, before, larger};

	fail_command(a, HCR_MODIFY_CQ, HCR_STATUS_BAD_PARAM, 1);
	must_fail(-EINVAL, drv_cq_resize(a->cq, larger));
	expect_equal(drv_cq_entries(a->cq), before);
	send_one(tb, a, b, 1);
	for_each_row(i, sizes) {
		must(drv_cq_resize(a->cq, sizes[i]));
		fail_command(a, HCR_MODIFY_CQ, HCR_STATUS_EXCEED_LIM, 1);
		must_fail(-ENOMEM, drv_cq_resize(a->cq, 2 * sizes[i] + 1));
		expect_that(drv_cq_entries(a->cq), >=, sizes[i]);
		send_one(tb, a, b, 2 + i);
	}
}

static void limit_of_srq(struct tb *tb, struct tb_end *a)
{
	const struct drv_srq_init init = {.max_wr = 8, .max_sge = 1};
	const struct drv_recv_wr *bad, wr = {.wr_id = 1};
	unsigned max_wr, limit;
	struct drv_srq *srq;

	must(drv_srq_create(a->pd, &init, &srq));
	if (!still_right())
		return;
	for (unsigned i = 0; i <= LIMIT; i++)
		must(drv_post_srq_recv(srq, &wr, &bad));
	fail_command(a, HCR_ARM_SRQ, HCR_STATUS_BAD_RESOURCE, 1);
	must_fail(-EBADF, drv_srq_arm(srq, LIMIT));
	fail_command(a, HCR_QUERY_SRQ, HCR_STATUS_INTERNAL_ERR, 1);
	max_wr = limit = UNTOUCHED;
	must_fail(-EIO, drv_srq_query(srq, &max_wr, &limit));
	expect_equal(max_wr, UNTOUCHED);
	expect_equal(limit, UNTOUCHED);
	must(drv_srq_query(srq, &max_wr, &limit));
	expect_equal(limit, 0);
	must(drv_srq_arm(srq, LIMIT));
	must(drv_srq_query(srq, &max_wr, &limit));
	expect_equal(limit, LIMIT);
	must(drv_srq_destroy(srq));
}

/* Rights and resources go into the context together, and the driver remembers the one that a change
 * does not name: not that of a change that was refused. */
static void responder(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_qp_attr none = {0}, few = {.max_dest_rd_atomic = 2},
				 all = {.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
							   IBV_ACCESS_REMOTE_READ |
							   IBV_ACCESS_REMOTE_ATOMIC};
	const unsigned rights = IBV_QP_ACCESS_FLAGS, resources = IBV_QP_MAX_DEST_RD_ATOMIC;

	fail_command(b, HCR_RTS2RTS_QP, HCR_STATUS_BAD_PARAM, 1);
	must_fail(-EINVAL, drv_qp_modify(b->qp[0], &none, rights));
	must(drv_qp_modify(b->qp[0], &few, resources));
	fail_command(b, HCR_RTS2RTS_QP, HCR_STATUS_BAD_PARAM, 1);
	must_fail(-EINVAL, drv_qp_modify(b->qp[0], &none, resources));
	must(drv_qp_modify(b->qp[0], &all, rights));
	rdma_read(a, .wr_id = 9, .len = 8);
	expect_cqe(a, .wr_id = 9);
	expect_data(a, .len = 8);
}

/* Each command that a change of a group needs is refused in turn. */
static void members(struct tb *tb, struct tb_end *a)
{
	static const uint32_t commands[] = {HCR_MGID_HASH, HCR_READ_MCG, HCR_WRITE_MCG};
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(a, .type = IBV_QPT_UD);

	start_ud(x, QKEY, 1);
	start_ud(y, QKEY, 2);
	if (!still_right())
		return;
	must_fail(-EINVAL, drv_mcast_attach(a->qp[0], group, false));
	must_fail(-EINVAL, drv_mcast_detach(x, group));
	for (unsigned round = 0; round < 3; round++) {
		struct drv_qp *member = round == 1 ? y : x;
		const uint8_t *gid = round == 2 ? other : group;

		for_each_row(i, commands) {
			name_row("%u groups or members before, command 0x%x", round, commands[i]);
			fail_command(a, commands[i], HCR_STATUS_BAD_PARAM, 1);
			must_fail(-EINVAL, drv_mcast_attach(member, gid, false));
		}
		must(drv_mcast_attach(member, gid, false));
		must_fail(-EINVAL, drv_mcast_detach(y, other));
	}
	for (unsigned round = 0; round < 3; round++) {
		struct drv_qp *member = round == 1 ? y : x;
		const uint8_t *gid = round == 2 ? other : group;

		for_each_row(i, commands) {
			fail_command(a, commands[i], HCR_STATUS_BAD_PARAM, 1);
			must_fail(-EINVAL, drv_mcast_detach(member, gid));
		}
		must(drv_mcast_detach(member, gid));
		must_fail(-EINVAL, drv_mcast_detach(member, gid));
	}
	destroy_qp(y);
	destroy_qp(x);
}

SCENARIO(harm_change, "commands that firmware refuses for what is in use: all is as it was",
	 .any_packets = true)
{
	size_of_cq(tb, a, b);
	limit_of_srq(tb, a);
	responder(tb, a, b);
	members(tb, a);
}
