/* SPDX-License-Identifier: Apache-2.0 */
/* The doorbell of an event queue carries a consumer index beyond the producer index. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/scenario.h"

enum { BEYOND = 100000 };

SCENARIO(guest_eq_consumer_index,
	 "rule eq_consumer_index: an EQ doorbell with an index beyond its producer's",
	 .no_qps = true)
{
	const struct drv_eq *eq = &a->dev->eqs[0];
	struct eq_db db = {{0}};

	eq_db_set_ci(&db, eq->ci + BEYOND);
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR, eq_db_offset(eq->eqn), db.b, sizeof(db.b));
	if (callouts_built()) /* its checker sees the write before the device does */
		expect_guest_error(a, eq_consumer_index);
	expect_guest_error(a, eq_consumer_index);
}
