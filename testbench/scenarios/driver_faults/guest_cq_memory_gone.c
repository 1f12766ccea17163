/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Software takes a CQ's buffer out of the IOMMU map before HW2SW_CQ has given it back. Until then a
 * completion may come, so the device looks at the slot it would go to: the report names the driver
 * that frees too early, though nothing was under way. The command succeeds.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

SCENARIO(guest_cq_memory_gone, "rule dma_unmapped: a CQ's buffer is unmapped before HW2SW_CQ")
{
	struct drv_cq *cq = new_cq(a, 7, 0);

	if (!still_right())
		return;
	a->platform->ops->dma_unmap(a->platform, cq->buf.bus[0], PLATFORM_PAGE_SIZE);
	destroy_cq(cq);
	expect_guest_error(a, dma_unmapped);
}
