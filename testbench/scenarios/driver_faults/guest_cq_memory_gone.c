/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Software unmaps a CQ's buffer from the IOMMU before HW2SW_CQ has given the CQ back. Until then a
 * completion may come, so the device reads the slot that it would use. The report thus exposes a
 * driver that frees too early, even though no completion was under way. The command succeeds.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/services.h"

SCENARIO(guest_cq_memory_gone, "rule dma_unmapped: a CQ's buffer is unmapped before HW2SW_CQ")
{
	struct drv_cq *cq = new_cq(a, 7, 0);

	if (!still_right())
		return;
	a->platform->ops->dma_unmap(a->platform, cq->buf.bus[0], PLATFORM_PAGE_SIZE);
	destroy_cq(cq);
	if (callouts_built()) /* its checker does not wait for the device to come by */
		expect_guest_error(a, memory_taken);
	expect_guest_error(a, dma_unmapped);
}
