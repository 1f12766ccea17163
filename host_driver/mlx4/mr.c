// SPDX-License-Identifier: Apache-2.0
/* Protection domains, memory regions and windows; the tables of their numbers. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- MPT --- */

static uint32_t drv_mpt_key(uint32_t index)
{
	return index >> 24 | index << 8;
}

static int drv_mpt_alloc(struct drv_device *dev, uint32_t *index)
{
	int rc = drv_bitmap_alloc(&dev->mpts, index);

	if (rc)
		return rc;
	rc = drv_table_get(&dev->tables[DRV_T_DMPT], *index);
	if (rc)
		drv_bitmap_free(&dev->mpts, *index);
	return rc;
}

static void drv_mpt_free(struct drv_device *dev, uint32_t index)
{
	drv_table_put(&dev->tables[DRV_T_DMPT], index);
	drv_bitmap_free(&dev->mpts, index);
}

static uint32_t mpt_slot(const struct drv_device *dev, uint32_t index)
{
	return index & drv_table_mask(dev, DRV_T_DMPT);
}

static int mpt_to_hw(struct drv_device *dev, uint32_t index, const struct mpt_entry *mpt)
{
	return drv_cmd_in(dev, HCR_SW2HW_MPT, mpt_slot(dev, index), 0, mpt, sizeof(*mpt));
}

static int mpt_to_sw(struct drv_device *dev, uint32_t index)
{
	return drv_cmd_plain(dev, HCR_HW2SW_MPT, mpt_slot(dev, index), HCR_OM_NO_OUTBOX);
}

static void mpt_access(struct mpt_entry *mpt, unsigned access)
{
	mpt_entry_set_access(mpt, 0);
	mpt_entry_set_local_read(mpt, 1);
	mpt_entry_set_local_write(mpt, !!(access & IBV_ACCESS_LOCAL_WRITE));
	mpt_entry_set_remote_read(mpt, !!(access & IBV_ACCESS_REMOTE_READ));
	mpt_entry_set_remote_write(mpt, !!(access & IBV_ACCESS_REMOTE_WRITE));
	mpt_entry_set_remote_atomic(mpt, !!(access & IBV_ACCESS_REMOTE_ATOMIC));
	mpt_entry_set_bind_enable(mpt, !!(access & IBV_ACCESS_MW_BIND));
}

static void mpt_region(const struct drv_mr *mr, unsigned access, struct mpt_entry *mpt)
{
	memset(mpt, 0, sizeof(*mpt));
	mpt_entry_set_status(mpt, MPT_STATUS_SW);
	mpt_entry_set_mio(mpt, 1);
	mpt_entry_set_region(mpt, 1);
	mpt_access(mpt, access);
	mpt_entry_set_mem_key(mpt, mem_key_of_key(mr->key));
	mpt_entry_set_pd(mpt, mr->pd->pdn);
	mpt_entry_set_en_inv(mpt, 3);
	mpt_entry_set_mtt_addr(mpt, drv_mtt_addr(&mr->mtt));
	mpt_entry_set_log_page_size(mpt, mr->log_page);
}

/* --- protection domains --- */

int mlx4_pd_alloc(struct drv_device *dev, struct drv_pd **out)
{
	struct drv_pd *pd = drv_calloc(1, sizeof(*pd));
	int rc;

	if (!pd)
		return -ENOMEM;
	rc = drv_bitmap_alloc(&dev->pds, &pd->pdn);
	if (rc) {
		free(pd);
		return rc;
	}
	pd->dev = dev;
	drv_list_add(&dev->pd_list, &pd->link);
	*out = pd;
	return 0;
}

int mlx4_pd_free(struct drv_pd *pd)
{
	if (pd->users)
		return -EBUSY;
	drv_list_del(&pd->link);
	drv_bitmap_free(&pd->dev->pds, pd->pdn);
	free(pd);
	return 0;
}

int mlx4_xrcd_alloc(struct drv_device *dev, struct drv_xrcd **out)
{
	struct drv_xrcd *xrcd;
	int rc;

	if (!(dev_cap_get_flags(&dev->cap) & cap_bit(DEV_CAP_XRC)))
		return -EOPNOTSUPP;
	xrcd = drv_calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return -ENOMEM;
	rc = drv_bitmap_alloc(&dev->xrcds, &xrcd->xrcdn);
	if (rc)
		goto free_xrcd;
	rc = mlx4_cq_create(dev, 1, DRV_CQ_POLLED, &xrcd->cq);
	if (rc)
		goto free_number;
	xrcd->dev = dev;
	drv_list_add(&dev->xrcd_list, &xrcd->link);
	*out = xrcd;
	return 0;

free_number:
	drv_bitmap_free(&dev->xrcds, xrcd->xrcdn);
free_xrcd:
	free(xrcd);
	return rc;
}

int mlx4_xrcd_free(struct drv_xrcd *xrcd)
{
	int rc;

	if (xrcd->users)
		return -EBUSY;
	rc = mlx4_cq_destroy(xrcd->cq);
	drv_list_del(&xrcd->link);
	drv_bitmap_free(&xrcd->dev->xrcds, xrcd->xrcdn);
	free(xrcd);
	return rc;
}

/* --- regions --- */

static int mr_create(struct drv_pd *pd, struct drv_mr **out)
{
	struct drv_mr *mr = drv_calloc(1, sizeof(*mr));
	int rc;

	if (!mr)
		return -ENOMEM;
	rc = drv_mpt_alloc(pd->dev, &mr->index);
	if (rc) {
		free(mr);
		return rc;
	}
	mr->dev = pd->dev;
	mr->pd = pd;
	mr->key = drv_mpt_key(mr->index);
	mr->log_page = DRV_LOG_PAGE;
	pd->users++;
	drv_list_add(&mr->dev->mr_list, &mr->link);
	*out = mr;
	return 0;
}

static void mr_unmap(struct drv_mr *mr)
{
	if (mr->mapped_len)
		mr->dev->p->ops->dma_unmap(mr->dev->p, mr->mapped_bus, mr->mapped_len);
	mr->mapped_len = 0;
}

static void mr_free(struct drv_mr *mr)
{
	struct drv_device *dev = mr->dev;

	mr_unmap(mr);
	drv_mtt_free(dev, &mr->mtt);
	if (mr->page_list)
		dev->p->ops->pages_free(dev->p, mr->page_list, mr->page_list_bytes);
	drv_mpt_free(dev, mr->index);
	drv_list_del(&mr->link);
	mr->pd->users--;
	free(mr);
}

static uint64_t mr_page_offset(const struct drv_mr *mr, uint64_t addr)
{
	return addr & ((UINT64_C(1) << mr->log_page) - 1);
}

/* Maps whole pages around [addr, addr + len). Returns the bus address of the first page, and the
 * number of pages. */
static int mr_map(struct drv_mr *mr, void *addr, uint64_t len, uint64_t iova, uint64_t *first_page,
		  unsigned *pages)
{
	struct platform *p = mr->dev->p;
	const uint64_t bus = p->ops->dma_map(p, addr, len);

	if (!bus)
		return -EFAULT;
	mr->mapped_bus = bus;
	mr->mapped_len = len;
	if (mr_page_offset(mr, bus ^ iova)) /* the offsets in a huge page differ */
		mr->log_page = DRV_LOG_PAGE;
	*first_page = bus - mr_page_offset(mr, bus);
	*pages = (unsigned)(((bus + len - 1) >> mr->log_page) - (bus >> mr->log_page) + 1);
	return 0;
}

/* C10-56, as ib_check_mr_access: remote write and atomic need local write. */
static bool access_ok(unsigned access)
{
	return !(access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) ||
	       access & IBV_ACCESS_LOCAL_WRITE;
}

/* Gives the region's MPT entry to the device. The MTT must have been written. */
static int mr_to_hw(struct drv_mr *mr, uint64_t iova, uint64_t len, unsigned access)
{
	struct mpt_entry mpt;
	int rc;

	mpt_region(mr, access, &mpt);
	mpt_entry_set_start(&mpt, iova);
	mpt_entry_set_length(&mpt, len);
	rc = mpt_to_hw(mr->dev, mr->index, &mpt);
	mr->hw = !rc;
	return rc;
}

static int mr_reg(struct drv_pd *pd, void *addr, uint64_t len, uint64_t iova, unsigned access,
		  struct drv_mr **out)
{
	struct drv_mr *mr;
	uint64_t first_page;
	unsigned pages;
	int rc;

	if (!len || ((uintptr_t)addr ^ iova) & (PLATFORM_PAGE_SIZE - 1))
		return -EINVAL;
	if (!access_ok(access))
		return -EINVAL;
	rc = mr_create(pd, &mr);
	if (rc)
		return rc;
	if (access & IBV_ACCESS_HUGETLB)
		mr->log_page = DRV_LOG_HUGE_PAGE;
	rc = mr_map(mr, addr, len, iova, &first_page, &pages);
	if (rc)
		goto free_mr;
	rc = drv_mtt_alloc(mr->dev, pages, &mr->mtt);
	if (rc)
		goto free_mr;
	drv_mtt_write(mr->dev, &mr->mtt, 0, pages, first_page, mr->log_page);
	rc = mr_to_hw(mr, iova, len, access);
	if (rc)
		goto free_mr;
	*out = mr;
	return 0;

free_mr:
	mr_free(mr);
	return rc;
}

int mlx4_mr_reg(struct drv_pd *pd, void *addr, uint64_t len, unsigned access, struct drv_mr **mr)
{
	return mlx4_mr_reg_iova(pd, addr, len, (uintptr_t)addr, access, mr);
}

int mlx4_mr_reg_iova(struct drv_pd *pd, void *addr, uint64_t len, uint64_t iova, unsigned access,
		     struct drv_mr **mr)
{
	DRV_ENTER(pd->dev, "pd %u, %llu bytes, access %x", pd->pdn, (unsigned long long)len,
		  access);
	return DRV_LEAVE(pd->dev, mr_reg(pd, addr, len, iova, access, mr));
}

static int mr_reg_pages(struct drv_pd *pd, const uint64_t *pages, unsigned n, uint64_t iova,
			uint64_t len, unsigned access, struct drv_mr **out)
{
	const uint64_t offset = iova & (PLATFORM_PAGE_SIZE - 1);
	struct drv_mr *mr;
	int rc;

	if (!len || !access_ok(access) || len > (uint64_t)n * PLATFORM_PAGE_SIZE ||
	    (offset + len + PLATFORM_PAGE_SIZE - 1) / PLATFORM_PAGE_SIZE != n)
		return -EINVAL;
	rc = mr_create(pd, &mr);
	if (rc)
		return rc;
	rc = drv_mtt_alloc(mr->dev, n, &mr->mtt);
	if (rc)
		goto free_mr;
	for (unsigned i = 0; i < n; i++)
		drv_mtt_write(mr->dev, &mr->mtt, i, 1, pages[i], DRV_LOG_PAGE);
	rc = mr_to_hw(mr, iova, len, access);
	if (rc)
		goto free_mr;
	*out = mr;
	return 0;

free_mr:
	mr_free(mr);
	return rc;
}

int mlx4_mr_reg_pages(struct drv_pd *pd, const uint64_t *pages, unsigned n, uint64_t iova,
		      uint64_t len, unsigned access, struct drv_mr **mr)
{
	DRV_ENTER(pd->dev, "pd %u, %u pages, access %x", pd->pdn, n, access);
	return DRV_LEAVE(pd->dev, mr_reg_pages(pd, pages, n, iova, len, access, mr));
}

int mlx4_mr_reg_dma(struct drv_pd *pd, unsigned access, struct drv_mr **out)
{
	struct mpt_entry mpt;
	struct drv_mr *mr;
	int rc = mr_create(pd, &mr);

	if (rc)
		return rc;
	mpt_region(mr, access, &mpt);
	mpt_entry_set_physical(&mpt, 1);
	mpt_entry_set_length(&mpt, UINT64_MAX);
	rc = mpt_to_hw(mr->dev, mr->index, &mpt);
	if (rc) {
		mr_free(mr);
		return rc;
	}
	mr->hw = true;
	*out = mr;
	return 0;
}

static int mr_alloc_fast(struct drv_pd *pd, unsigned max_pages, struct drv_mr **out)
{
	struct mpt_entry mpt;
	struct drv_mr *mr;
	int rc;

	if (!max_pages)
		return -EINVAL;
	rc = mr_create(pd, &mr);
	if (rc)
		return rc;
	mr->max_pages = max_pages;
	rc = drv_mtt_alloc(mr->dev, max_pages, &mr->mtt);
	if (rc)
		goto free_mr;
	rc = -ENOMEM;
	mr->page_list_bytes =
		((uint64_t)max_pages * sizeof(struct mtt_entry) + PLATFORM_PAGE_SIZE - 1) &
		~(uint64_t)(PLATFORM_PAGE_SIZE - 1);
	mr->page_list =
		mr->dev->p->ops->pages_alloc(mr->dev->p, mr->page_list_bytes, &mr->page_list_bus);
	if (!mr->page_list)
		goto free_mr;
	mpt_region(mr, 0, &mpt);
	mpt_entry_set_status(&mpt, MPT_STATUS_FREE);
	mpt_entry_set_access(&mpt, 0);
	mpt_entry_set_fre(&mpt, 1);
	mpt_entry_set_rae(&mpt, 1);
	mpt_entry_set_mtt_size(&mpt, UINT32_C(1) << mr->mtt.order);
	mpt_entry_set_log_page_size(&mpt, 0);
	rc = mpt_to_hw(mr->dev, mr->index, &mpt);
	if (rc)
		goto free_mr;
	mr->hw = true;
	*out = mr;
	return 0;

free_mr:
	mr_free(mr);
	return rc;
}

int mlx4_mr_alloc_fast(struct drv_pd *pd, unsigned max_pages, struct drv_mr **mr)
{
	DRV_ENTER(pd->dev, "pd %u, %u pages", pd->pdn, max_pages);
	return DRV_LEAVE(pd->dev, mr_alloc_fast(pd, max_pages, mr));
}

int mlx4_mr_fast_set(struct drv_mr *mr, void *addr, uint64_t len)
{
	uint64_t first_page;
	unsigned pages;
	int rc;

	if (!mr->page_list || !len)
		return -EINVAL;
	mr_unmap(mr);
	rc = mr_map(mr, addr, len, (uintptr_t)addr, &first_page, &pages);
	if (rc)
		return rc;
	if (pages > mr->max_pages) {
		mr_unmap(mr);
		return -EINVAL;
	}
	for (unsigned i = 0; i < pages; i++) {
		struct mtt_entry *e = (struct mtt_entry *)(void *)(mr->page_list + i * sizeof(*e));

		memset(e, 0, sizeof(*e));
		mtt_entry_set_addr(e, first_page + (uint64_t)i * PLATFORM_PAGE_SIZE);
		mtt_entry_set_present(e, 1);
	}
	mr->n_pages = pages;
	return 0;
}

int mlx4_mr_fast_page(struct drv_mr *mr, unsigned index, uint64_t bus)
{
	struct mtt_entry *e;

	if (!mr->page_list)
		return -EINVAL;
	if (index >= mr->max_pages)
		return -ENOMEM;
	e = (struct mtt_entry *)(void *)(mr->page_list + index * sizeof(*e));
	memset(e, 0, sizeof(*e));
	mtt_entry_set_addr(e, bus);
	mtt_entry_set_present(e, 1);
	return 0;
}

/* Edits the dMPT slot while software owns it. Writing the status back gives it to the device, and
 * SYNC_TPT makes the device read it again. */
static int mr_rereg_access(struct drv_mr *mr, unsigned access)
{
	struct mpt_entry *mpt = drv_table_find(&mr->dev->tables[DRV_T_DMPT], mr->key >> 8, NULL);
	int rc;

	if (!access_ok(access))
		return -EINVAL;
	if (!mpt)
		return -EFAULT;
	rc = mpt_to_sw(mr->dev, mr->index);
	if (rc)
		return rc;
	mr->hw = false;
	mpt_access(mpt, access);
	drv_mtt_before_use();
	mpt_entry_set_status(mpt, MPT_STATUS_HW);
	drv_mtt_before_use();
	mr->hw = true;
	return drv_cmd_plain(mr->dev, HCR_SYNC_TPT, 0, 0);
}

int mlx4_mr_rereg_access(struct drv_mr *mr, unsigned access)
{
	DRV_ENTER(mr->dev, "key %08x, access %x", mr->key, access);
	return DRV_LEAVE(mr->dev, mr_rereg_access(mr, access));
}

static int mr_dereg(struct drv_mr *mr)
{
	int rc = mr->hw ? mpt_to_sw(mr->dev, mr->index) : 0;

	/* Windows are bound to the region, so it stays. When the device is removed, the windows
	 * have been freed, and the region must be freed, too. */
	if (rc == -EBUSY && !mr->dev->closing)
		return rc;
	mr_free(mr);
	return rc;
}

int mlx4_mr_dereg(struct drv_mr *mr)
{
	struct drv_device *dev = mr->dev;

	DRV_ENTER(dev, "key %08x", mr->key);
	return DRV_LEAVE(dev, mr_dereg(mr));
}

uint32_t mlx4_mr_lkey(const struct drv_mr *mr)
{
	return mr->key;
}

uint32_t mlx4_mr_rkey(const struct drv_mr *mr)
{
	return mr->key;
}

/* --- windows --- */

static int mw_alloc(struct drv_pd *pd, enum ibv_mw_type type, struct drv_mw **out)
{
	struct drv_mw *mw = drv_calloc(1, sizeof(*mw));
	struct mpt_entry mpt = {0};
	int rc;

	if (!mw)
		return -ENOMEM;
	rc = drv_mpt_alloc(pd->dev, &mw->index);
	if (rc)
		goto free_mw;
	mw->dev = pd->dev;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = drv_mpt_key(mw->index);
	mpt_entry_set_mem_key(&mpt, mem_key_of_key(mw->rkey));
	mpt_entry_set_pd(&mpt, pd->pdn);
	if (type == IBV_MW_TYPE_2) {
		mpt_entry_set_status(&mpt, MPT_STATUS_FREE);
		mpt_entry_set_bound_to_qp(&mpt, 1);
		mpt_entry_set_en_inv(&mpt, 3);
	}
	rc = mpt_to_hw(pd->dev, mw->index, &mpt);
	if (rc)
		goto free_mpt;
	pd->users++;
	drv_list_add(&pd->dev->mw_list, &mw->link);
	*out = mw;
	return 0;

free_mpt:
	drv_mpt_free(pd->dev, mw->index);
free_mw:
	free(mw);
	return rc;
}

int mlx4_mw_alloc(struct drv_pd *pd, enum ibv_mw_type type, struct drv_mw **mw)
{
	DRV_ENTER(pd->dev, "pd %u, type %d", pd->pdn, type);
	return DRV_LEAVE(pd->dev, mw_alloc(pd, type, mw));
}

int mlx4_mw_free(struct drv_mw *mw)
{
	struct drv_device *dev = mw->dev;
	int rc;

	DRV_ENTER(dev, "key %08x", mw->rkey);
	rc = mpt_to_sw(dev, mw->index);
	drv_mpt_free(dev, mw->index);
	drv_list_del(&mw->link);
	mw->pd->users--;
	free(mw);
	return DRV_LEAVE(dev, rc);
}

uint32_t mlx4_mw_rkey(const struct drv_mw *mw)
{
	return mw->rkey;
}

/* --- bring-up --- */

int drv_mrs_init(struct drv_device *dev)
{
	const uint32_t mpts = dev->tables[DRV_T_DMPT].entries;
	uint32_t reserved;
	int rc;

	rc = drv_bitmap_init(&dev->mpts, mpts, UINT32_MAX,
			     UINT32_C(1) << dev_cap_get_log_rsvd_mpts(&dev->cap), 0);
	if (rc)
		return rc;
	rc = drv_buddy_init(&dev->mtt_buddy, dev->profile.log_num[DRV_T_MTT]);
	if (rc)
		goto free_mpts;
	/* the reserved range is allocated once and never freed */
	rc = drv_buddy_alloc(&dev->mtt_buddy, dev_cap_get_log_rsvd_mtts(&dev->cap), &reserved);
	if (rc)
		goto free_buddy;
	rc = drv_bitmap_init(&dev->pds, 1u << DRV_LOG_PDS, DRV_PD_MASK,
			     dev_cap_get_num_rsvd_pds(&dev->cap) + 1, 0);
	if (rc)
		goto free_buddy;
	rc = drv_bitmap_init(&dev->xrcds, 1u << DRV_LOG_XRCDS, (1u << DRV_LOG_XRCDS) - 1,
			     dev_cap_get_num_rsvd_xrcds(&dev->cap) + 1, 0);
	if (rc)
		goto free_pds;
	return 0;

free_pds:
	drv_bitmap_cleanup(&dev->pds);
free_buddy:
	drv_buddy_cleanup(&dev->mtt_buddy);
free_mpts:
	drv_bitmap_cleanup(&dev->mpts);
	return rc;
}

void drv_mrs_cleanup(struct drv_device *dev)
{
	drv_bitmap_cleanup(&dev->xrcds);
	drv_bitmap_cleanup(&dev->pds);
	drv_buddy_cleanup(&dev->mtt_buddy);
	drv_bitmap_cleanup(&dev->mpts);
}
