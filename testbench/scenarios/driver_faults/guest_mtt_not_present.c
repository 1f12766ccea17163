/* SPDX-License-Identifier: Apache-2.0 */
/* An entry of a live region's translation table loses its present bit before the device has read
 * it. The table is in memory, and the device obeys what memory says. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

enum { PAGE = 3 }; /* of the region, untouched so far */

SCENARIO(guest_mtt_not_present,
	 "rule mtt_not_present: a translation entry of a live region is cleared")
{
	struct mtt_entry *entry =
		drv_table_find(&a->dev->tables[DRV_T_MTT], a->mr->mtt.first + PAGE, NULL);

	expect_true(entry && mtt_entry_get_present(entry));
	if (!still_right())
		return;
	mtt_entry_set_present(entry, 0);
	rdma_write(a, .wr_id = 7, .len = 64, .src = PAGE * PLATFORM_PAGE_SIZE);
	expect_guest_error(a, mtt_not_present);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_LOC_PROT_ERR);
}
