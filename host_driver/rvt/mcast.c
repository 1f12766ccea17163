// SPDX-License-Identifier: Apache-2.0
/* Multicast groups: which queue pairs get a packet for a group. */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>
#include <stdlib.h>

static struct rvt_group *group_find(struct rvt_device *dev, const struct rvt_qp *qp,
				    const uint8_t *mgid)
{
	for (struct drv_list *l = dev->groups.next; l != &dev->groups; l = l->next) {
		struct rvt_group *g = container_of(l, struct rvt_group, link);

		if (g->qp == qp && !memcmp(g->mgid, mgid, sizeof(g->mgid)))
			return g;
	}
	return NULL;
}

static int attach(struct rvt_qp *qp, const uint8_t *mgid, bool block_loopback)
{
	struct rvt_device *dev = rvt_dev(qp);
	struct rvt_group *g;

	if (qp->type != IBV_QPT_UD)
		return -EINVAL;
	if (group_find(dev, qp, mgid))
		return 0;
	g = drv_calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	memcpy(g->mgid, mgid, sizeof(g->mgid));
	g->qp = qp;
	g->block_loopback = block_loopback;
	drv_list_add(&dev->groups, &g->link);
	return 0;
}

int rvt_mcast_attach(struct drv_qp *handle, const uint8_t mgid[DRV_GID_BYTES], bool block_loopback)
{
	struct rvt_qp *qp = rvt_qp_of(handle);

	DRV_ENTER(qp->dev, "qpn %06x", qp->qpn);
	return DRV_LEAVE(qp->dev, attach(qp, mgid, block_loopback));
}

static void group_free(struct rvt_group *g)
{
	drv_list_del(&g->link);
	free(g);
}

int rvt_mcast_detach(struct drv_qp *handle, const uint8_t mgid[DRV_GID_BYTES])
{
	struct rvt_qp *qp = rvt_qp_of(handle);
	struct rvt_group *g = group_find(rvt_dev(qp), qp, mgid);

	if (!g)
		return -EINVAL;
	group_free(g);
	return 0;
}

void rvt_groups_drop(struct rvt_qp *qp)
{
	struct rvt_device *dev = rvt_dev(qp);
	struct drv_list *next;

	for (struct drv_list *l = dev->groups.next; l != &dev->groups; l = next) {
		struct rvt_group *g = container_of(l, struct rvt_group, link);

		next = l->next;
		if (g->qp == qp)
			group_free(g);
	}
}
