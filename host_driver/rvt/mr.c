// SPDX-License-Identifier: Apache-2.0
/* Protection domains, memory regions, keys, and all copies between memory and packets. */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>
#include <stdlib.h>

/* --- protection domains --- */

int rvt_pd_alloc(struct drv_device *handle, struct drv_pd **out)
{
	struct rvt_device *dev = rvt_of(handle);
	struct rvt_pd *pd = drv_calloc(1, sizeof(*pd));

	if (!pd)
		return -ENOMEM;
	pd->dev = handle;
	drv_list_add(&dev->pd_list, &pd->link);
	*out = drv_pd_handle(pd);
	return 0;
}

int rvt_pd_free(struct drv_pd *handle)
{
	struct rvt_pd *pd = rvt_pd_of(handle);

	if (pd->users)
		return -EBUSY;
	drv_list_del(&pd->link);
	free(pd);
	return 0;
}

/* --- keys --- */

/* Writing to memory from afar needs the right to write it from here, too (IBA 10.6.3.1). */
static bool access_legal(unsigned access)
{
	return access & IBV_ACCESS_LOCAL_WRITE ||
	       !(access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
}

/* Index 0 is never used, so that no key is 0. */
static int key_alloc(struct rvt_device *dev, struct rvt_mr *mr)
{
	for (uint32_t n = 1; n < RVT_KEYS; n++) {
		const uint32_t i = (dev->key_last + n) % RVT_KEYS;

		if (!i || dev->keys[i])
			continue;
		dev->key_last = i;
		dev->keys[i] = mr;
		mr->key = i << RVT_KEY_SHIFT | dev->key_variants[i]++;
		return 0;
	}
	return -ENOMEM;
}

static int mr_add(struct rvt_pd *pd, const struct rvt_mr *model, struct drv_mr **out)
{
	struct rvt_device *dev = rvt_dev(pd);
	struct rvt_mr *mr;
	int rc;

	if (!access_legal(model->access))
		return -EINVAL;
	mr = drv_calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	*mr = *model;
	mr->dev = pd->dev;
	mr->pd = pd;
	rc = key_alloc(dev, mr);
	if (rc) {
		free(mr);
		return rc;
	}
	drv_list_add(&dev->mr_list, &mr->link);
	pd->users++;
	*out = drv_mr_handle(mr);
	return 0;
}

int rvt_mr_reg_iova(struct drv_pd *pd, void *addr, uint64_t len, uint64_t iova, unsigned access,
		    struct drv_mr **mr)
{
	const struct rvt_mr model = {.access = access, .iova = iova, .len = len, .cpu = addr};
	const uint64_t in_page = PLATFORM_PAGE_SIZE - 1;

	if (!len || ((uintptr_t)addr & in_page) != (iova & in_page))
		return -EINVAL;
	return mr_add(rvt_pd_of(pd), &model, mr);
}

int rvt_mr_reg(struct drv_pd *pd, void *addr, uint64_t len, unsigned access, struct drv_mr **mr)
{
	return rvt_mr_reg_iova(pd, addr, len, (uintptr_t)addr, access, mr);
}

int rvt_mr_reg_dma(struct drv_pd *pd, unsigned access, struct drv_mr **mr)
{
	return mr_add(rvt_pd_of(pd), &(struct rvt_mr){.access = access, .bus_wide = true}, mr);
}

int rvt_mr_reg_pages(struct drv_pd *handle, const uint64_t *pages, unsigned n, uint64_t iova,
		     uint64_t len, unsigned access, struct drv_mr **out)
{
	struct rvt_pd *pd = rvt_pd_of(handle);
	struct platform *p = rvt_dev(pd)->base.p;
	const uint64_t first = iova & (PLATFORM_PAGE_SIZE - 1);
	struct rvt_mr model = {.access = access, .iova = iova, .len = len};
	int rc = -EINVAL;

	if (!n || (first + len + PLATFORM_PAGE_SIZE - 1) / PLATFORM_PAGE_SIZE != n)
		return -EINVAL;
	model.pages = drv_calloc(n, sizeof(*model.pages));
	if (!model.pages)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		model.pages[i] = p->ops->bus_memory(p, pages[i], PLATFORM_PAGE_SIZE);
		if (!model.pages[i])
			goto free_pages;
	}
	rc = mr_add(pd, &model, out);
	if (!rc)
		return 0;

free_pages:
	free(model.pages);
	return rc;
}

int rvt_mr_rereg_access(struct drv_mr *handle, unsigned access)
{
	if (!access_legal(access))
		return -EINVAL;
	rvt_mr_of(handle)->access = access;
	return 0;
}

int rvt_mr_dereg(struct drv_mr *handle)
{
	struct rvt_mr *mr = rvt_mr_of(handle);

	rvt_dev(mr)->keys[mr->key >> RVT_KEY_SHIFT] = NULL;
	mr->pd->users--;
	drv_list_del(&mr->link);
	free(mr->pages);
	free(mr);
	return 0;
}

uint32_t rvt_mr_lkey(const struct drv_mr *mr)
{
	return rvt_mr_of(mr)->key;
}

uint32_t rvt_mr_rkey(const struct drv_mr *mr)
{
	return rvt_mr_of(mr)->key;
}

struct rvt_mr *rvt_mr_find(struct rvt_device *dev, const struct rvt_pd *pd, uint32_t key,
			   uint64_t va, uint64_t len, unsigned access)
{
	const uint32_t i = key >> RVT_KEY_SHIFT;
	struct rvt_mr *mr = i < RVT_KEYS ? dev->keys[i] : NULL;

	if (!mr || mr->key != key || mr->pd != pd || (mr->access & access) != access)
		return NULL;
	if (mr->bus_wide)
		return mr;
	return va >= mr->iova && len <= mr->len && va - mr->iova <= mr->len - len ? mr : NULL;
}

/* --- copies --- */

/* The CPU's address of bytes of a region; *len becomes how many there are in one piece. */
static uint8_t *piece(struct rvt_device *dev, const struct rvt_mr *mr, uint64_t va, uint32_t *len)
{
	struct platform *p = dev->base.p;
	const uint64_t at = (mr->iova & (PLATFORM_PAGE_SIZE - 1)) + va - mr->iova;
	const uint64_t in_page = at % PLATFORM_PAGE_SIZE;

	if (mr->bus_wide)
		return p->ops->bus_memory(p, va, *len);
	if (mr->cpu)
		return mr->cpu + (va - mr->iova);
	if (*len > PLATFORM_PAGE_SIZE - in_page)
		*len = (uint32_t)(PLATFORM_PAGE_SIZE - in_page);
	return mr->pages[at / PLATFORM_PAGE_SIZE] + in_page;
}

int rvt_mr_copy(struct rvt_device *dev, const struct rvt_pd *pd, uint32_t key, uint64_t va,
		void *bytes, uint32_t len, unsigned access, enum rvt_way way)
{
	struct rvt_mr *mr = rvt_mr_find(dev, pd, key, va, len, access);
	uint8_t *buf = bytes;

	if (!mr)
		return -EACCES;
	while (len) {
		uint32_t n = len;
		uint8_t *memory = piece(dev, mr, va, &n);

		if (!memory)
			return -EACCES;
		if (way == RVT_TO_MEMORY)
			memcpy(memory, buf, n);
		else
			memcpy(buf, memory, n);
		buf += n;
		va += n;
		len -= n;
	}
	return 0;
}

uint64_t rvt_sges_bytes(const struct drv_sge *sge, unsigned n)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += sge[i].length;
	return bytes;
}

/* All keys are checked before anything is copied. */
int rvt_sges_copy(struct rvt_device *dev, const struct rvt_pd *pd, const struct drv_sge *sge,
		  unsigned n, uint32_t offset, void *bytes, uint32_t len, enum rvt_way way)
{
	const unsigned access = way == RVT_TO_MEMORY ? IBV_ACCESS_LOCAL_WRITE : 0;

	if (rvt_sges_bytes(sge, n) < (uint64_t)offset + len)
		return -EMSGSIZE;
	for (unsigned pass = 0; pass < 2; pass++) {
		uint32_t skip = offset, left = len;
		uint8_t *buf = bytes;

		for (unsigned i = 0; i < n && left; i++) {
			uint32_t part = sge[i].length;

			if (skip >= part) {
				skip -= part;
				continue;
			}
			part = part - skip < left ? part - skip : left;
			if (!pass &&
			    !rvt_mr_find(dev, pd, sge[i].lkey, sge[i].addr + skip, part, access))
				return -EACCES;
			if (pass && rvt_mr_copy(dev, pd, sge[i].lkey, sge[i].addr + skip, buf, part,
						access, way))
				return -EACCES;
			buf += part;
			left -= part;
			skip = 0;
		}
	}
	return 0;
}
