/* UAR pages: the first ones are the event queues', the driver takes one for its core and one for
 * its verbs. */
#include "host_driver/mlx4/mlx4_internal.h"

#include <errno.h>

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
	dev->uar = n;
	return 0;

cleanup:
	drv_uars_cleanup(dev);
	return rc;
}

void drv_uars_cleanup(struct drv_device *dev)
{
	drv_bitmap_cleanup(&dev->uars);
}
