/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths slower than the port: packets are spaced by at least Ts = (IPD + 1) * PktLen * 4 bytes at
 * the port's rate, which is 32 Gb/s here, or 250 ps a byte. This holds for requests and READ
 * responses of RC, for UC, and for datagrams, whose address vector sets the rate. Packets to other
 * destinations or without a static rate are not delayed.
 * behaviours: IBA-9.11-static-rate
 */
#include "testbench/services.h"

enum {
	BYTE_PS = 250,
	QKEY = 0x11111111,
	ICRC = 4,
	RETH = 16,
	AETH = 4,
	RATE_10 = 3,
	RATE_2_5 = 2,
	RATE_14 = 11
};
enum { RC_MIDDLE = 8 + 12 + 4096 + ICRC, UD_PACKET = 8 + 12 + 8 + 1000 + ICRC };

/* The time from last bit to last bit of packets of `bytes` each; the first one is longer by `more`,
 * for example by its RETH. */
static struct tb_window spaced_behind(unsigned times, unsigned bytes, int more)
{
	uint64_t ps = (uint64_t)((int)(times * bytes) + (int)times * more - more) * BYTE_PS;

	return WINDOW(ps, ps);
}

static struct tb_window spaced(unsigned times, unsigned bytes)
{
	return spaced_behind(times, bytes, 0);
}

static void connect_at(struct tb *tb, struct drv_qp *x, struct tb_end *to, struct drv_qp *y,
		       unsigned rate)
{
	struct drv_rc_path path = path_to(to, drv_qp_num(y));
	struct drv_qp_attr attr = {0};

	path.static_rate = rate;
	must(drv_qp_connect(x, &path));
	must(drv_qp_query(x, &attr));
	expect_equal(attr.ah_attr.static_rate, rate);
}

static void writes(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		   unsigned times, bool uc)
{
	const uint8_t middle = uc ? BTH_UC_WRITE_MIDDLE : BTH_RC_WRITE_MIDDLE;
	const struct tb_pkt any = {TB_PKT_ANY};

	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = 5 * 4096);
	tb_expect_pkt(tb, TB_HERE, a_to_b, WINDOW(0, EVENT_NEVER),
		      uc ? BTH_UC_WRITE_FIRST : BTH_RC_WRITE_FIRST, &any);
	tb_expect_pkt(tb, TB_HERE, a_to_b, spaced_behind(times, RC_MIDDLE, RETH), middle, &any);
	tb_expect_pkt(tb, TB_HERE, a_to_b, spaced(times, RC_MIDDLE), middle, &any);
	tb_expect_pkt(tb, TB_HERE, a_to_b, spaced(times, RC_MIDDLE), middle, &any);
	tb_expect_pkt(tb, TB_HERE, a_to_b, spaced(times, RC_MIDDLE),
		      uc ? BTH_UC_WRITE_LAST : BTH_RC_WRITE_LAST, &any);
	if (!uc)
		expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 1, .on = x);
	pass_time(CFG_US(30));
	expect_data(b, .len = 5 * 4096);
}

SCENARIO(static_rate, "packets of slow paths are spaced as their static rate demands",
	 .exact = true, .settings = {"hca.link.speed=QDR", "hca.responder.ack_delay=1ms"},
	 .of_mlx4 = "times of a link at QDR")
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UC), *v = new_qp(b, .type = IBV_QPT_UC);
	struct drv_qp *s = new_qp(a, .type = IBV_QPT_UD), *t = new_qp(b, .type = IBV_QPT_UD);
	struct drv_qp *w = new_qp(a, .type = IBV_QPT_UD);
	struct drv_ah_attr slow = {.dlid = b->lid, .port_num = 1, .static_rate = RATE_2_5};
	struct drv_ah_attr fast = ah_to(b);

	connect_at(tb, x, b, y, RATE_10);
	connect_at(tb, y, a, x, RATE_10);
	connect_at(tb, u, b, v, RATE_14);
	connect_at(tb, v, a, u, 0);
	start_ud(s, QKEY, 5);
	start_ud(t, QKEY, 6);
	start_ud(w, QKEY, 8);

	phase("RC at 8 of 32 Gb/s: IPD 3");
	writes(tb, a, b, x, 4, false);
	phase("UC at 13.6 of 32 Gb/s: IPD 2, the least that keeps the rate");
	writes(tb, a, b, u, 3, true);

	phase("READ responses");
	send_on(a, x, .opcode = IBV_WR_RDMA_READ, .wr_id = 2, .len = 4 * 4096);
	expect_pkt(a_to_b, RC_READ_REQUEST);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST);
	expect_pkt_after(b_to_a, spaced_behind(4, RC_MIDDLE, AETH), RC_READ_RESP_MIDDLE);
	expect_pkt_after(b_to_a, spaced(4, RC_MIDDLE), RC_READ_RESP_MIDDLE);
	expect_pkt_after(b_to_a, spaced_behind(4, RC_MIDDLE + AETH, -AETH), RC_READ_RESP_LAST);
	expect_cqe(a, .wr_id = 2);
	expect_data(a, .len = 4 * 4096);

	phase("datagrams at 2 of 32 Gb/s: IPD 15; another queue pair passes");
	recv_on(b, t, .wr_id = 3, .dst = 32768, .len = 1040, .repeat = 4);
	send_on(a, s, .wr_id = 4, .len = 1000, .ah = &slow, .remote_qpn = drv_qp_num(t),
		.qkey = QKEY, .repeat = 3);
	send_on(a, w, .wr_id = 7, .len = 1000, .ah = &fast, .remote_qpn = drv_qp_num(t),
		.qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 5);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 8);
	expect_pkt_after(a_to_b, WINDOW(0, (uint64_t)16 * UD_PACKET * BYTE_PS), UD_SEND_ONLY,
			 .psn = 6);
	expect_pkt_after(a_to_b, spaced(16, UD_PACKET), UD_SEND_ONLY, .psn = 7);
	expect_cqes(a, 4);
	expect_cqes(b, 4);
	expect_data(b, .dst = 32768 + 40, .len = 1000);
	ignore_data(b, .dst = 32768, .len = 4 * 1040);
	expect_stat(a, link_port, rate_waits, 4 + 4 + 2);

	phase("two queue pairs on the same way share its rate");
	recv_on(b, t, .wr_id = 8, .dst = 40960, .len = 1040, .repeat = 2);
	send_on(a, s, .len = 1000, .ah = &slow, .remote_qpn = drv_qp_num(t), .qkey = QKEY);
	send_on(a, w, .len = 1000, .ah = &slow, .remote_qpn = drv_qp_num(t), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 8);
	expect_pkt_after(a_to_b, spaced(16, UD_PACKET), UD_SEND_ONLY, .psn = 9);
	expect_cqes(a, 2);
	expect_cqes(b, 2);
	ignore_data(b, .dst = 40960, .len = 2 * 1040);

	destroy_qp(x);
	destroy_qp(y);
	destroy_qp(u);
	destroy_qp(v);
	destroy_qp(s);
	destroy_qp(t);
	destroy_qp(w);
}
