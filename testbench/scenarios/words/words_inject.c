/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of an injected packet that a scenario can choose: GRH and its GIDs, pad bytes,
 * lengths that no real sender would use, bytes behind the end, a payload of its own. */
#include "testbench/services.h"

SCENARIO(words_inject, "packets by hand: GIDs, pad bytes, odd lengths, trailing bytes")
{
	static const uint8_t other[DRV_GID_BYTES] = {0xfe, 0x80, [15] = 0x77};
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	const uint32_t rkey = drv_mr_rkey(b->mr), psn = 0xfffffe;
	const uint64_t to = tb_va(b, b->dst);

	connect_two(x, y, .grh = true);
#define WRITE(...)                                                                                 \
	inject(b, RC_WRITE_ONLY, .qpn = drv_qp_num(y), .grh = true, .va = to, .rkey = rkey,        \
	       .ack_req = true, __VA_ARGS__)
	WRITE(.psn = psn, .len = 61, .dma_len = 61, .sgid = other);  /* from a stranger */
	WRITE(.psn = psn, .len = 61, .dma_len = 61, .dgid = other);  /* for a stranger */
	WRITE(.psn = psn, .len = 61, .dma_len = 61, .pad_bytes = 0); /* 61 bytes and the CRC */
	WRITE(.psn = psn, .len = 61, .dma_len = 61, .trailing = 4);
	expect_no_more(CFG_US(10));
	WRITE(.psn = psn, .len = 61, .dma_len = 61, .pad_byte = 0xff, .tclass = 9);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = psn, .grh = 1);
	expect_data(b, .len = 61);
	WRITE(.psn = psn + 1, .va = to + 100, .len = 8, .dma_len = 8,
	      .payload = "\1\2\3\4\5\6\7\10");
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = psn + 1);
	pass_time(CFG_US(5));
	expect_true(!memcmp(b->dst + 100, "\1\2\3\4\5\6\7\10", 8));
	ignore_data(b, .dst = 100, .len = 8);
	destroy_qp(x);
	destroy_qp(y);
}
