/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multicast group takes as many queue pairs as the device says, and refuses one more. Each of them
 * still leaves; then there is room again.
 */
/* behaviours: IBA-10.5.2-multicast */
#include "model/interface/contexts.h"
#include "testbench/services.h"

#include <errno.h>

enum { QKEY = 0x22222222 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0x40, 0x1b, [15] = 7};

SCENARIO(multicast_members, "a multicast group that is full refuses one member more",
	 .any_packets = true, .of_mlx4 = "entries of its multicast table")
{
	struct drv_qp *member[MCG_MEMBERS_MAX + 1];

	for_each_row(i, member) {
		member[i] = new_qp(b, .type = IBV_QPT_UD);
		start_ud(member[i], QKEY, 0);
		if (!still_right())
			return;
		if (i < MCG_MEMBERS_MAX)
			must(drv_mcast_attach(member[i], group, false));
	}
	must_fail(-ENOMEM, drv_mcast_attach(member[MCG_MEMBERS_MAX], group, false));
	must(drv_mcast_attach(member[1], group, false)); /* is a member already */
	must(drv_mcast_detach(member[0], group));
	must(drv_mcast_attach(member[MCG_MEMBERS_MAX], group, false));
	for (unsigned i = 1; i <= MCG_MEMBERS_MAX; i++)
		must(drv_mcast_detach(member[i], group));
	for_each_row(i, member)
		destroy_qp(member[i]);
}
