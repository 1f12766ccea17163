/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of many lengths, over the services: each number of bytes in the last word, and each that stands next to
 * the end of a line of a cache, of a buffer of the smaller kind (2 KiB and its headers) and of the path MTU.
 * All bytes arrive, and the LRH says as many words as there are. A short packet has nothing in its pad and in
 * its reserved bits of the long ones before it, whose bits were all set.
 */
#include "testbench/services.h"

enum { QKEY = 0x21, GRH_AREA = 40, LINE = 64, LONG = 4096, PACKETS = 64, MOST = 5 };

/* {from, to, step} */
static const struct {
	unsigned from, to, step;
} ranges[] = {{1, 9, 1}, {LINE - 40, LINE + 40, 4}, {2080, 2184, 4}, {4080, 4096, 1}};

static void lengths_of(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for_each_row(i, ranges) {
		for (unsigned len = ranges[i].from; len <= ranges[i].to && still_right();
		     len += ranges[i].step) {
			name_row("%u bytes", len);
			rdma_write(a, .wr_id = 1, .len = len, .dst = 8192);
			expect_cqe(a, .wr_id = 1);
			expect_data(b, .dst = 8192, .len = len);
			rdma_read(b, .wr_id = 2, .len = len, .dst = 16384);
			expect_cqe(b, .wr_id = 2, .byte_len = len);
			expect_data(b, .dst = 16384, .len = len);
		}
	}
}

static void datagrams(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *from,
		      struct drv_qp *to)
{
	struct drv_ah_attr ah = ah_to(b);

	if (!b->ethernet)
		must(drv_query_gid(b->dev, 1, 0, ah.dgid));
	for_each_row(i, ranges) {
		for (unsigned len = ranges[i].from; len <= ranges[i].to && still_right();
		     len += ranges[i].step) {
			name_row("a datagram of %u bytes", len);
			ah.is_global = b->ethernet || len % 8 == 0;
			recv_on(b, to, .wr_id = 3, .dst = 32768, .len = GRH_AREA + len);
			send_on(a, from, .wr_id = 4, .ah = &ah, .remote_qpn = drv_qp_num(to),
				.qkey = QKEY, .len = len);
			expect_cqe(a, .wr_id = 4);
			expect_cqe(b, .wr_id = 3, .byte_len = GRH_AREA + len);
			ignore_data(b, .dst = 32768, .len = GRH_AREA);
			expect_data(b, .dst = 32768 + GRH_AREA, .len = len);
		}
	}
}

/* Messages in both directions whose bits are all set, as many as a sender has packets. */
static void all_set(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	memset(a->src, 0xff, LONG);
	memset(b->src, 0xff, LONG);
	rdma_write(a, .wr_id = 1, .len = LONG, .dst = 8192, .repeat = PACKETS);
	rdma_write(b, .wr_id = 1, .len = LONG, .dst = 8192, .repeat = PACKETS);
	expect_cqes(a, PACKETS);
	expect_cqes(b, PACKETS);
	expect_data(b, .dst = 8192, .len = LONG);
	expect_data(a, .dst = 8192, .len = LONG);
}

/* Each kind of packet that has a payload. */
static void pads(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *from,
		 struct drv_qp *to)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		bool imm, datagram;
	} rows[] = {{IBV_WR_SEND, false, false},       {IBV_WR_SEND, true, false},
		    {IBV_WR_RDMA_WRITE, false, false}, {IBV_WR_RDMA_WRITE, true, false},
		    {IBV_WR_RDMA_READ, false, false},  {IBV_WR_SEND, false, true},
		    {IBV_WR_SEND, true, true}};
	struct drv_ah_attr ah = ah_to(b);

	if (!b->ethernet)
		must(drv_query_gid(b->dev, 1, 0, ah.dgid));
	for_each_row(i, rows) {
		const bool receives = rows[i].imm || rows[i].opcode == IBV_WR_SEND;
		struct drv_qp *x = rows[i].datagram ? from : a->qp[0];
		struct drv_qp *y = rows[i].datagram ? to : b->qp[0];

		for (unsigned len = 1; len <= MOST && still_right(); len++) {
			name_row("opcode %d of %u bytes", rows[i].opcode, len);
			ah.is_global = b->ethernet || len % 2;
			if (receives)
				recv_on(b, y, .wr_id = 5, .dst = 32768, .len = 2 * GRH_AREA);
			send_on(a, x, .opcode = rows[i].opcode, .with_imm = rows[i].imm, .wr_id = 6,
				.len = len, .dst = 49152, .ah = rows[i].datagram ? &ah : NULL,
				.remote_qpn = drv_qp_num(to), .qkey = QKEY);
			expect_cqe(a, .wr_id = 6);
			if (receives)
				expect_cqe(b, .wr_id = 5);
			expect_no_more(0);
		}
	}
	ignore_data(b, .dst = 32768, .len = 2 * GRH_AREA);
	ignore_data(b, .dst = 49152, .len = MOST);
	ignore_data(a, .dst = 49152, .len = MOST);
}

SCENARIO(packet_lengths, "packets of many lengths, next to the ends of lines, buffers and MTUs")
{
	struct drv_qp *from = new_qp(a, .type = IBV_QPT_UD), *to = new_qp(b, .type = IBV_QPT_UD);

	ignore_packets();
	start_ud(from, QKEY, 0);
	start_ud(to, QKEY, 0);
	lengths_of(tb, a, b);
	lengths_of(tb, b, a);
	datagrams(tb, a, b, from, to);
	datagrams(tb, b, a, to, from);
	name_row("%s", "");
	all_set(tb, a, b);
	pads(tb, a, b, from, to);
	pads(tb, b, a, to, from);
	destroy_qp(to);
	destroy_qp(from);
}
