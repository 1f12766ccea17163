/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Software unmaps the ICM that holds the context of a live queue pair, and of the firmware's own.
 * That is reported. The device has no other copy: the next use fails and is reported, and nothing goes
 * out on the wire. Afterwards the device
 * is reset, as a driver would have to do.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "testbench/scenario.h"
#include "testbench/scenarios/driver_faults/reset_end.h"

SCENARIO(guest_icm_unmapped,
	 "rule icm_unmapped: the ICM of a live queue pair's context is unmapped", .stays_up = true,
	 .settings = {"hca.context_cache.requester_entries=4",
		      "hca.context_cache.responder_entries=4"},
	 .qps = 8)
{
	const struct drv_icm_table *qpcs = &a->dev->tables[DRV_T_QPC];
	uint64_t at = (drv_qp_num(a->qp[0]) & (qpcs->entries - 1)) * (uint64_t)qpcs->entry_bytes;
	struct drv_raw_cmd unmap = {
		.op = HCR_UNMAP_ICM,
		.in_mod = DRV_CHUNK_PAGES,
		.in_param = qpcs->virt + at / DRV_CHUNK_BYTES * DRV_CHUNK_BYTES,
	};

	must(drv_cmd(a->dev, &unmap));
	expect_guest_error(a, icm_unmapped); /* the chunk has reserved entries, too */
	post_send(a, .wr_id = 7, .len = 64);
	expect_guest_error(a, icm_unmapped);
	expect_event(a, IBV_EVENT_QP_FATAL);
	expect_no_more(CFG_US(100));
	reset_end(tb, a, b);
}
