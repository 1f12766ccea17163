/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of many lengths, over the services: each number of bytes in the last word, and each that stands next to
 * the end of a line of a cache, of a buffer of the smaller kind (2 KiB and its headers) and of the path MTU.
 * All bytes arrive, and the LRH says as many words as there are.
 */
#include "testbench/services.h"

enum { QKEY = 0x21, GRH_AREA = 40, LINE = 64 };

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
	destroy_qp(to);
	destroy_qp(from);
}
