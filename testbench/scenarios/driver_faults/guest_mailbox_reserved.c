/* SPDX-License-Identifier: Apache-2.0 */
/* A command's mailbox has reserved bits set. The firmware refuses the command and reports it; the
 * next command succeeds. */
#include "model/interface/commands.h"
#include "testbench/scenario.h"

SCENARIO(guest_mailbox_reserved,
	 "rule mailbox_reserved: SW2HW_CQ with every bit of its mailbox set", .no_qps = true)
{
	uint8_t box[sizeof(struct cqc)], adapter[64];
	struct drv_raw_cmd bad = {
		.op = HCR_SW2HW_CQ, .in_mod = 0x300, .in = box, .in_len = sizeof(box)};
	struct drv_raw_cmd good = {
		.op = HCR_QUERY_ADAPTER, .out = adapter, .out_len = sizeof(adapter)};

	memset(box, 0xff, sizeof(box));
	expect_true(drv_cmd(a->dev, &bad) < 0);
	expect_true(bad.status != 0);
	expect_guest_error(a, mailbox_reserved);
	must(drv_cmd(a->dev, &good));
}
