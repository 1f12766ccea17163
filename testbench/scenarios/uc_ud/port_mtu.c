/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subnet whose ports carry less than they could: the longest datagram is that of the port, at once when its
 * manager changes it, for queue pairs that are there as well. A longer one never leaves, ends with a local
 * length error, and the next one is flushed. Connections whose path is as narrow send packets of that length.
 */
/* behaviours: UD-3 */
#include "model/interface/contexts.h"
#include "testbench/manage.h"

enum { QKEY = 0x77, GRH_AREA = 40, PORT = 1, PACKETS = 3, FIRST = 0xfffffe };

static unsigned bytes_of(enum ibv_mtu mtu)
{
	return ib_mtu_bytes((enum ib_mtu)mtu);
}

/* The manager sets the MTU of the port `hops` away. */
static void mtu_set(struct tb *tb, struct tb_end *a, unsigned hops, enum ibv_mtu mtu)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = hops);
	info = port_info_to_set(&answer);
	port_info_set_neighbor_mtu(&info, mtu);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = PORT,
	    .hops = hops, .data = &info);
}

/* From x to y: the longest that may go, and one that is `more` bytes longer. */
static void datagrams(struct tb *tb, struct tb_end *from, struct drv_qp *x, struct drv_qp *y,
		      enum tb_direction way, unsigned longest, unsigned more)
{
	const struct drv_ah_attr ah = ah_to(from->peer);
	const struct tb_wr wr = {TB_WR_DEFAULTS, .opcode = IBV_WR_SEND, .ah = &ah,
				 .remote_qpn = drv_qp_num(y), .qkey = QKEY};
	struct tb_wr now = wr;

	recv_on(from->peer, y, .wr_id = 1, .len = GRH_AREA + longest + more);
	for (unsigned i = 0; i < 3; i++) {
		now.wr_id = i;
		now.len = i == 1 ? longest + more : longest;
		now.with_imm = i;
		tb_send_on(tb, TB_HERE, from, x, &now);
		if (!i)
			expect_cqe(from, .wr_id = 0, .on = x);
	}
	expect_pkt(way, UD_SEND_ONLY, .len = longest);
	expect_cqe(from->peer, .wr_id = 1, .byte_len = GRH_AREA + longest);
	expect_data(from->peer, .dst = GRH_AREA, .len = longest);
	expect_cqe(from, .wr_id = 1, .on = x, .status = IBV_WC_LOC_LEN_ERR);
	expect_cqe(from, .wr_id = 2, .on = x, .status = IBV_WC_WR_FLUSH_ERR);
	expect_no_more(CFG_US(20));
	move_qp(x, IBV_QPS_RESET);
	start_ud(x, QKEY, 0);
}

static void connected(struct tb *tb, struct tb_end *a, struct tb_end *b, enum ibv_qp_type type,
		      enum ibv_mtu mtu)
{
	struct drv_qp *x = new_qp(a, .type = type), *y = new_qp(b, .type = type);
	const unsigned len = (PACKETS - 1) * bytes_of(mtu) + 1;

	connect_two(x, y, .mtu = mtu);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 5, .len = len, .dst = 8192);
	if (type == IBV_QPT_RC) {
		expect_pkt(a_to_b, RC_WRITE_FIRST, .len = bytes_of(mtu));
		expect_pkt(a_to_b, RC_WRITE_MIDDLE, .len = bytes_of(mtu));
		expect_pkt(a_to_b, RC_WRITE_LAST, .len = 1);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = (FIRST + PACKETS - 1) & 0xffffff);
	} else {
		expect_pkt(a_to_b, UC_WRITE_FIRST, .len = bytes_of(mtu));
		expect_pkt(a_to_b, UC_WRITE_MIDDLE, .len = bytes_of(mtu));
		expect_pkt(a_to_b, UC_WRITE_LAST, .len = 1);
	}
	expect_cqe(a, .wr_id = 5, .on = x);
	expect_no_more(CFG_US(20));
	expect_data(b, .dst = 8192, .len = len);
	destroy_qp(y);
	destroy_qp(x);
}

static void wider(struct tb *tb, struct tb_end *end, enum ibv_mtu mtu)
{
	struct drv_qp *x = new_qp(end);
	struct drv_rc_path path = path_to(end->peer, drv_qp_num(end->peer->qp[0]));
	struct drv_qp_attr attr = {0};

	path.path_mtu = IBV_MTU_4096;
	must(drv_qp_connect(x, &path));
	must(drv_qp_query(x, &attr));
	expect_equal(attr.path_mtu, in_software(end) ? mtu : IBV_MTU_4096);
	destroy_qp(x);
}

SCENARIO(port_mtu, "a port that carries less than it could: the longest datagram, and paths")
{
	static const struct {
		enum ibv_mtu mtu;
		unsigned more;
	} rows[] = {
		{IBV_MTU_2048, 1}, {IBV_MTU_1024, 1024}, {IBV_MTU_256, 3840}, {IBV_MTU_4096, 4}};
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);

	start_ud(x, QKEY, 0);
	start_ud(y, QKEY, 0);
	ignore_events(a);
	ignore_events(b);
	for_each_row(i, rows) {
		name_row("MTU %u", bytes_of(rows[i].mtu));
		mtu_set(tb, a, 0, rows[i].mtu);
		mtu_set(tb, a, 1, rows[i].mtu);
		datagrams(tb, a, x, y, a_to_b, bytes_of(rows[i].mtu), rows[i].more);
		datagrams(tb, b, y, x, b_to_a, bytes_of(rows[i].mtu), rows[i].more);
		connected(tb, a, b, IBV_QPT_RC, rows[i].mtu);
		connected(tb, a, b, IBV_QPT_UC, rows[i].mtu);
		wider(tb, a, rows[i].mtu);
	}
	destroy_qp(y);
	destroy_qp(x);
}
