/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Software unmaps a page of a live region from the IOMMU, like a driver that unmaps too early. The
 * device's DMA finds no page. There is a report and an error completion at the requester; the
 * device does not crash and sends no bytes from elsewhere.
 */
#include "testbench/dsan/hear/callout.h"
#include "testbench/scenario.h"

SCENARIO(guest_dma_unmapped,
	 "rule dma_unmapped: a page of a registered region is unmapped and then sent from",
	 .of_mlx4 = "DMA of payload")
{
	uint64_t bus = host_bus(a->host, a->src + PLATFORM_PAGE_SIZE);

	a->platform->ops->dma_unmap(a->platform, bus, PLATFORM_PAGE_SIZE);
	if (callouts_built()) /* its checker does not wait for the device to come by */
		expect_guest_error(a, memory_taken);
	rdma_write(a, .wr_id = 7, .len = 64, .src = PLATFORM_PAGE_SIZE);
	expect_guest_error(a, dma_unmapped);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_LOC_PROT_ERR);
	expect_true(a->platform->ops->dma_map(a->platform, a->src + PLATFORM_PAGE_SIZE,
					      PLATFORM_PAGE_SIZE) == bus);
	reconnect(0);
	rdma_write(a, .wr_id = 8, .len = 64, .src = PLATFORM_PAGE_SIZE);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 8);
	expect_data(b, .len = 64, .src = PLATFORM_PAGE_SIZE);
}
