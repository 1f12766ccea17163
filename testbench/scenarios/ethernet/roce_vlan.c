/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GID of a VLAN: the frames that a queue pair sends from it carry the tag, 4 bytes more. A port that
 * has not joined the VLAN drops them; after it has joined they pass, and the answers are tagged, too.
 * Two threads join at once; the device refuses the first one, and the port has joined by the second one.
 */
#include "testbench/harm.h"

enum { VLAN = 5, SL = 3, INDEX = 4, LEN = 64, QKEY = 0x11111111, GRH_AREA = 40 };

static struct drv_gid vlan_gid(struct tb_end *end)
{
	struct drv_gid gid = {.version = 1, .vlan = VLAN};

	gid_from_mac(end->mac, VLAN, gid.raw);
	return gid;
}

static struct drv_rc_path path_on(struct tb_end *to, struct drv_qp *qp)
{
	const struct drv_gid gid = vlan_gid(to);
	struct drv_rc_path path = path_to(to, drv_qp_num(qp));

	path.sgid_index = INDEX;
	path.timeout = 8;
	path.sl = SL;
	memcpy(path.dgid, gid.raw, DRV_GID_BYTES);
	return path;
}

static struct joiner {
	struct drv_device *dev;
	bool done;
	int rc;
} joiners[2];

static void join_thread(void *arg)
{
	struct joiner *j = arg;
	unsigned index;

	j->rc = drv_eth_vlan_get(j->dev, 1, VLAN, &index);
	j->done = true;
}

static void join_at_once(struct tb *tb, struct tb_end *end)
{
	refuse_command(end, 1, HCR_STATUS_BAD_PARAM);
	for (unsigned i = 0; i < 2; i++) {
		joiners[i] = (struct joiner){.dev = end->dev};
		end->platform->ops->thread_start(end->platform, "join", join_thread, &joiners[i]);
	}
	pass_time(CFG_MS(1));
	expect_true(refuse_command(end, 0, 0));
	expect_true(joiners[0].done && joiners[1].done);
	expect_equal(joiners[0].rc, -EINVAL);
	expect_equal(joiners[1].rc, 0);
}

static void join(struct tb *tb, struct tb_end *end)
{
	const struct drv_gid gid = vlan_gid(end);

	join_at_once(tb, end);
	must(drv_eth_gid_set(end->dev, 1, INDEX, &gid));
	expect_event(end, IBV_EVENT_GID_CHANGE);
}

/* One of two users of the VLAN goes: it stays in the port's table. */
static void leave_once(struct tb *tb, struct tb_end *end)
{
	unsigned index;

	must(drv_eth_vlan_get(end->dev, 1, VLAN, &index));
	drv_eth_vlan_put(end->dev, 1, index);
	expect_equal(drv_eth_vlan_index(end->dev, 1, VLAN), (int)index);
}

/* A datagram on the VLAN has a tag, too, though its priority is 0, and so has one with a priority. */
static void datagram(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	const struct drv_gid gid = vlan_gid(b);
	struct drv_ah_attr ah = ah_to(b);
	uint64_t bytes;

	if (!still_right())
		return;
	ah.sgid_index = INDEX;
	memcpy(ah.dgid, gid.raw, sizeof(ah.dgid));
	start_ud(x, QKEY, 0);
	start_ud(y, QKEY, 0);
	recv_on(b, y, .wr_id = 4, .len = GRH_AREA + LEN);
	bytes = tb_stat(a, "port1", "tx_bytes");
	send_on(a, x, .wr_id = 4, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_cqe(a, .wr_id = 4, .on = x);
	expect_cqe(b, .wr_id = 4, .on = y);
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	ignore_data(b, .len = GRH_AREA);
	/* Ethernet 14, tag 4, GRH 40, BTH 12, DETH 8, ICRC 4, FCS 4 */
	expect_equal(tb_stat(a, "port1", "tx_bytes") - bytes, LEN + 86);

	/* a priority without a VLAN: the tag says VLAN 0 */
	ah = ah_to(b);
	ah.sl = SL;
	recv_on(b, y, .wr_id = 5, .len = GRH_AREA + LEN);
	send_on(a, x, .wr_id = 5, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_cqe(a, .wr_id = 5, .on = x);
	expect_cqe(b, .wr_id = 5, .on = y);
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	ignore_data(b, .len = GRH_AREA);
	destroy_qp(x);
	destroy_qp(y);
}

SCENARIO(roce_vlan, "a queue pair on a VLAN: tagged frames, dropped by a port of another VLAN",
	 .settings = {"hca.port1.type=eth"}, .any_packets = true)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	struct drv_rc_path to_b, to_a;
	struct drv_qp_attr attr;
	uint64_t bytes, filtered;

	if (!still_right())
		return;
	to_b = path_on(b, y);
	to_a = path_on(a, x);
	join(tb, a);
	must(drv_qp_connect(x, &to_b));
	recv_on(b, y, .wr_id = 1, .len = LEN, .result = -EINVAL);
	filtered = tb_stat(b, "port1", "rx_filtered");
	send_on(a, x, .wr_id = 2, .len = LEN);
	pass_time(CFG_US(10));
	expect_that(tb_stat(b, "port1", "rx_filtered"), >, filtered);
	join(tb, b);
	must(drv_qp_connect(y, &to_a));
	recv_on(b, y, .wr_id = 1, .len = LEN);
	expect_cqe(a, .wr_id = 2, .on = x);
	expect_cqe(b, .wr_id = 1, .on = y);
	expect_data(b, .len = LEN);
	bytes = tb_stat(b, "port1", "tx_bytes");
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 3, .len = LEN);
	expect_cqe(a, .wr_id = 3, .on = x);
	/* an ACK: Ethernet 14, tag 4, GRH 40, BTH 12, AETH 4, ICRC 4, FCS 4 */
	expect_equal(tb_stat(b, "port1", "tx_bytes") - bytes, 82);
	datagram(tb, a, b);
	leave_once(tb, a);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 5, .len = LEN);
	expect_cqe(a, .wr_id = 5, .on = x);
	expect_data(b, .len = LEN);
	must(drv_qp_query(x, &attr));
	expect_equal(attr.ah_attr.sl, SL);
	destroy_qp(x);
	destroy_qp(y);
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		struct tb_end *end = i ? b : a;

		must(drv_eth_gid_set(end->dev, 1, INDEX, NULL));
		expect_event(end, IBV_EVENT_GID_CHANGE);
		drv_eth_vlan_put(end->dev, 1, (unsigned)drv_eth_vlan_index(end->dev, 1, VLAN));
	}
}
