/* SPDX-License-Identifier: Apache-2.0 */
/* The low byte of the send doorbell is reserved: the QPN stands in [31:8]. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

SCENARIO(guest_doorbell_reserved, "rule doorbell_reserved: the low byte of a send doorbell is set")
{
	const uint64_t page = (uint64_t)a->dev->verbs.page * UAR_PAGE_SIZE;

	drv_raw_mmio_write32(a->dev, HCA_BAR_UAR, page + UAR_SEND_DB,
			     drv_qp_num(a->qp[0]) << 8 | 1);
	expect_guest_error(a, doorbell_reserved);
	expect_guest_error(a, doorbell_without_wqe);
}
