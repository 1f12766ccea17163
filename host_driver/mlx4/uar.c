// SPDX-License-Identifier: Apache-2.0
/* UAR pages. The first ones are used by the event queues. The driver takes one for its core and one
 * for its verbs, and each process has its own. */
#include "host_driver/mlx4/mlx4_internal.h"

#include <errno.h>
#include <stdlib.h>

int drv_uars_init(struct drv_device *dev)
{
	const uint32_t pages = (uint32_t)(dev->uar_bytes / UAR_PAGE_SIZE);
	const uint32_t reserved = dev_cap_get_num_rsvd_uars(&dev->cap);
	uint32_t n;
	int rc;

	if (pages <= HCA_UAR_EQ_PAGES + 1)
		return -ENODEV;
	rc = drv_bitmap_init(&dev->uars, pages, pages - 1,
			     reserved > HCA_UAR_EQ_PAGES ? reserved : HCA_UAR_EQ_PAGES, 0);
	if (rc)
		return rc;
	rc = drv_bitmap_alloc(&dev->uars, &n);
	if (rc)
		goto cleanup;
	dev->kar = n;
	rc = drv_bitmap_alloc(&dev->uars, &n);
	if (rc)
		goto cleanup;
	dev->verbs = (struct drv_uar){.dev = dev, .page = n};
	return 0;

cleanup:
	drv_uars_cleanup(dev);
	return rc;
}

void drv_uars_cleanup(struct drv_device *dev)
{
	drv_bitmap_cleanup(&dev->uars);
}

int mlx4_uar_alloc(struct drv_device *dev, struct drv_uar **out)
{
	struct drv_uar *uar = drv_calloc(1, sizeof(*uar));
	int rc;

	if (!uar)
		return -ENOMEM;
	uar->dev = dev;
	rc = drv_bitmap_alloc(&dev->uars, &uar->page);
	if (rc) {
		free(uar);
		return rc;
	}
	*out = uar;
	return 0;
}

int mlx4_uar_free(struct drv_uar *uar)
{
	if (uar->users)
		return -EBUSY;
	drv_bitmap_free(&uar->dev->uars, uar->page);
	free(uar);
	return 0;
}
