// SPDX-License-Identifier: Apache-2.0
/* Doorbell records: 8-byte slots in pages that many objects share. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DB_BYTES = 8, DB_SLOTS = PLATFORM_PAGE_SIZE / DB_BYTES, DB_WORDS = DB_SLOTS / 64 };

struct drv_db_page {
	struct drv_list link;
	uint8_t *addr;
	uint64_t bus;
	uint64_t used[DB_WORDS];
	unsigned n_used;
};

static struct drv_db_page *db_page_create(struct drv_device *dev)
{
	struct drv_db_page *page = drv_calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->addr = dev->p->ops->pages_alloc(dev->p, PLATFORM_PAGE_SIZE, &page->bus);
	if (!page->addr) {
		free(page);
		return NULL;
	}
	drv_list_add(&dev->db_list, &page->link);
	return page;
}

static struct drv_db_page *db_page_with_room(struct drv_device *dev)
{
	for (struct drv_list *l = dev->db_list.next; l != &dev->db_list; l = l->next) {
		struct drv_db_page *page = container_of(l, struct drv_db_page, link);

		if (page->n_used < DB_SLOTS)
			return page;
	}
	return db_page_create(dev);
}

int drv_db_alloc(struct drv_device *dev, struct drv_db *db)
{
	struct drv_db_page *page = db_page_with_room(dev);
	unsigned word = 0, slot;

	if (!page)
		return -ENOMEM;
	while (page->used[word] == UINT64_MAX)
		word++;
	slot = word * 64 + (unsigned)__builtin_ctzll(~page->used[word]);
	page->used[word] |= UINT64_C(1) << slot % 64;
	page->n_used++;
	dev->db_records++;
	*db = (struct drv_db){.record = page->addr + slot * DB_BYTES,
			      .bus = page->bus + slot * DB_BYTES,
			      .page = page,
			      .slot = slot};
	memset(db->record, 0, DB_BYTES);
	return 0;
}

void drv_db_free(struct drv_device *dev, struct drv_db *db)
{
	struct drv_db_page *page = db->page;

	if (!page)
		return;
	page->used[db->slot / 64] &= ~(UINT64_C(1) << db->slot % 64);
	dev->db_records--;
	*db = (struct drv_db){0};
	if (--page->n_used)
		return;
	drv_list_del(&page->link);
	dev->p->ops->pages_free(dev->p, page->addr, PLATFORM_PAGE_SIZE);
	free(page);
}
