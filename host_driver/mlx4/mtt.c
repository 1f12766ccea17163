// SPDX-License-Identifier: Apache-2.0
/* MTT ranges, which the CPU writes directly into ICM pages. Also the buffers of queues. */
#include "host_driver/mlx4/mlx4_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- MTT --- */

int drv_mtt_alloc(struct drv_device *dev, unsigned pages, struct drv_mtt *mtt)
{
	const unsigned order = drv_log2_up(pages);
	uint32_t first;
	int rc;

	if (order > dev->mtt_buddy.max_order)
		return -ENOMEM;
	rc = drv_buddy_alloc(&dev->mtt_buddy, order, &first);
	if (rc)
		return rc;
	rc = drv_table_get_range(&dev->tables[DRV_T_MTT], first,
				 first + (UINT32_C(1) << order) - 1);
	if (rc) {
		drv_buddy_free(&dev->mtt_buddy, first, order);
		return rc;
	}
	*mtt = (struct drv_mtt){.first = first, .order = order, .valid = true};
	return 0;
}

void drv_mtt_free(struct drv_device *dev, struct drv_mtt *mtt)
{
	if (!mtt->valid)
		return;
	drv_table_put_range(&dev->tables[DRV_T_MTT], mtt->first,
			    mtt->first + (UINT32_C(1) << mtt->order) - 1);
	drv_buddy_free(&dev->mtt_buddy, mtt->first, mtt->order);
	mtt->valid = false;
}

void drv_mtt_write(struct drv_device *dev, const struct drv_mtt *mtt, unsigned index, unsigned n,
		   uint64_t bus, unsigned log_page)
{
	for (unsigned i = 0; i < n; i++) {
		struct mtt_entry *e =
			drv_table_find(&dev->tables[DRV_T_MTT], mtt->first + index + i, NULL);

		memset(e, 0, sizeof(*e));
		mtt_entry_set_addr(e, bus + ((uint64_t)i << log_page));
		mtt_entry_set_present(e, 1);
	}
	drv_mtt_before_use();
}

uint64_t drv_mtt_addr(const struct drv_mtt *mtt)
{
	return mtt->valid ? (uint64_t)mtt->first * sizeof(struct mtt_entry) : 0;
}

/* --- buffers --- */

int drv_buf_alloc(struct drv_device *dev, size_t bytes, struct drv_buf *buf)
{
	const unsigned n = (unsigned)((bytes + PLATFORM_PAGE_SIZE - 1) / PLATFORM_PAGE_SIZE);
	int rc = -ENOMEM;

	*buf = (struct drv_buf){0};
	buf->pages = drv_calloc(n, sizeof(*buf->pages));
	buf->bus = drv_calloc(n, sizeof(*buf->bus));
	if (!buf->pages || !buf->bus)
		goto free_buf;
	for (; buf->n < n; buf->n++) {
		buf->pages[buf->n] =
			dev->p->ops->pages_alloc(dev->p, PLATFORM_PAGE_SIZE, &buf->bus[buf->n]);
		if (!buf->pages[buf->n])
			goto free_buf;
		memset(buf->pages[buf->n], 0, PLATFORM_PAGE_SIZE);
	}
	rc = drv_mtt_alloc(dev, n, &buf->mtt);
	if (rc)
		goto free_buf;
	for (unsigned i = 0; i < n; i++)
		drv_mtt_write(dev, &buf->mtt, i, 1, buf->bus[i], DRV_LOG_PAGE);
	return 0;

free_buf:
	drv_buf_free(dev, buf);
	return rc;
}

void drv_buf_free(struct drv_device *dev, struct drv_buf *buf)
{
	drv_mtt_free(dev, &buf->mtt);
	for (unsigned i = 0; i < buf->n; i++)
		dev->p->ops->pages_free(dev->p, buf->pages[i], PLATFORM_PAGE_SIZE);
	free(buf->pages);
	free(buf->bus);
	*buf = (struct drv_buf){0};
}
