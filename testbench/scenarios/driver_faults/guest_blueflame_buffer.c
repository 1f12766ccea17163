/* SPDX-License-Identifier: Apache-2.0 */
/* Two BlueFlame writes in a row go to the same buffer of a register. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

SCENARIO(guest_blueflame_buffer, "rule blueflame_buffer: the same BlueFlame buffer twice in a row",
	 .inline_bytes = 16)
{
	for (unsigned i = 0; i < 2; i++) {
		a->dev->verbs.bf_offset = 0;
		rdma_write(a, .wr_id = 8, .len = 8, .inlined = true);
		expect_pkt(a_to_b, RC_WRITE_ONLY);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE);
		expect_cqe(a, .wr_id = 8);
		expect_data(b, .len = 8);
	}
	expect_guest_error(a, blueflame_buffer);
}
