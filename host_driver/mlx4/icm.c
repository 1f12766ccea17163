// SPDX-License-Identifier: Apache-2.0
/*
 * ICM: host pages that the device gets for its tables. A table is mapped in chunks of 256 KiB. Each
 * chunk is counted by the objects in it.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int drv_icm_alloc(struct drv_device *dev, unsigned pages, struct drv_icm *icm)
{
	unsigned piece = DRV_CHUNK_PAGES;
	unsigned left = pages;

	*icm = (struct drv_icm){.pages = pages};
	icm->segs = drv_calloc(pages, sizeof(*icm->segs));
	if (!icm->segs)
		return -ENOMEM;
	while (left) {
		struct drv_icm_seg *s = &icm->segs[icm->n];

		while (piece > left)
			piece /= 2;
		s->bytes = (size_t)piece * PLATFORM_PAGE_SIZE;
		s->addr = dev->p->ops->pages_alloc(dev->p, s->bytes, &s->bus);
		if (s->addr) {
			icm->n++;
			left -= piece;
		} else if (piece > 1) {
			/* there is no piece of this size, but there may be smaller ones */
			piece /= 2;
		} else {
			drv_icm_free(dev, icm);
			return -ENOMEM;
		}
	}
	return 0;
}

void drv_icm_free(struct drv_device *dev, struct drv_icm *icm)
{
	for (unsigned i = 0; i < icm->n; i++)
		dev->p->ops->pages_free(dev->p, icm->segs[i].addr, icm->segs[i].bytes);
	free(icm->segs);
	*icm = (struct drv_icm){0};
}

/* Maps with one mailbox after the other, of at most VPM_ENTRIES_MAX entries. Each entry is as large
 * as its alignment allows. */
int drv_icm_map(struct drv_device *dev, const struct drv_icm *icm, uint16_t op, uint64_t virt)
{
	struct drv_mailbox *m = drv_mailbox_get(dev);
	struct vpm_list *list;
	unsigned n = 0;
	int rc = 0;

	if (!m)
		return -ENOMEM;
	list = m->bytes;
	for (unsigned i = 0; i < icm->n && !rc; i++) {
		const struct drv_icm_seg *s = &icm->segs[i];

		for (size_t done = 0; done < s->bytes && !rc;) {
			const uint64_t bus = s->bus + done;
			const uint64_t align =
				bus | (s->bytes - done) | (op == HCR_MAP_ICM ? virt : 0);
			const unsigned lg = (unsigned)__builtin_ctzll(align);
			struct vpm_entry *e = vpm_list_at(list, n++);

			vpm_entry_set_pa(e, bus);
			vpm_entry_set_log_size(e, lg - DRV_LOG_PAGE);
			if (op == HCR_MAP_ICM)
				vpm_entry_set_va(e, virt);
			virt += UINT64_C(1) << lg;
			done += (size_t)1 << lg;
			if (n == VPM_ENTRIES_MAX) {
				rc = drv_hcr_exec(dev, &(struct drv_hcr){.op = op,
									 .in_mod = n,
									 .in_param = m->bus});
				memset(m->bytes, 0, HCR_MBOX_SIZE);
				n = 0;
			}
		}
	}
	if (n && !rc)
		rc = drv_hcr_exec(dev,
				  &(struct drv_hcr){.op = op, .in_mod = n, .in_param = m->bus});
	drv_mailbox_put(dev, m);
	return rc;
}

/* --- tables --- */

static uint64_t chunk_virt(const struct drv_icm_table *t, unsigned chunk)
{
	return t->virt + (uint64_t)chunk * DRV_CHUNK_BYTES;
}

static unsigned chunk_of(const struct drv_icm_table *t, uint32_t entry)
{
	return (unsigned)((uint64_t)(entry & (t->entries - 1)) * t->entry_bytes / DRV_CHUNK_BYTES);
}

/* A table may be smaller than a chunk; its chunk is then as large as the table. */
static unsigned chunk_pages(const struct drv_icm_table *t, unsigned chunk)
{
	const uint64_t bytes = (uint64_t)t->entries * t->entry_bytes,
		       start = (uint64_t)chunk * DRV_CHUNK_BYTES;
	const uint64_t left = bytes - start < DRV_CHUNK_BYTES ? bytes - start : DRV_CHUNK_BYTES;

	return (unsigned)((left + PLATFORM_PAGE_SIZE - 1) / PLATFORM_PAGE_SIZE);
}

static int chunk_get(struct drv_icm_table *t, unsigned n)
{
	struct drv_device *dev = t->dev;
	struct drv_icm_chunk *c = t->chunks[n];
	int rc;

	if (c) {
		c->refs++;
		return 0;
	}
	c = drv_calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	rc = drv_icm_alloc(dev, chunk_pages(t, n), &c->icm);
	if (rc)
		goto free_chunk;
	rc = drv_icm_map(dev, &c->icm, HCR_MAP_ICM, chunk_virt(t, n));
	if (rc)
		goto free_icm;
	c->refs = 1;
	t->chunks[n] = c;
	return 0;

free_icm:
	drv_icm_free(dev, &c->icm);
free_chunk:
	free(c);
	return rc;
}

/* UNMAP_ICM always names a whole chunk, as the Linux driver does. */
static void chunk_drop(struct drv_icm_table *t, unsigned n, bool tell_device)
{
	struct drv_icm_chunk *c = t->chunks[n];

	if (tell_device)
		drv_cmd_imm(t->dev, HCR_UNMAP_ICM, DRV_CHUNK_PAGES, chunk_virt(t, n), NULL);
	drv_icm_free(t->dev, &c->icm);
	free(c);
	t->chunks[n] = NULL;
}

int drv_table_get(struct drv_icm_table *t, uint32_t entry)
{
	int rc;

	drv_lock(t->dev, &t->lock);
	rc = chunk_get(t, chunk_of(t, entry));
	drv_unlock(t->dev, &t->lock);
	return rc;
}

void drv_table_put(struct drv_icm_table *t, uint32_t entry)
{
	const unsigned n = chunk_of(t, entry);

	drv_lock(t->dev, &t->lock);
	if (t->chunks[n] && !--t->chunks[n]->refs)
		chunk_drop(t, n, true);
	drv_unlock(t->dev, &t->lock);
}

int drv_table_get_range(struct drv_icm_table *t, uint32_t first, uint32_t last)
{
	const uint32_t step = DRV_CHUNK_BYTES / t->entry_bytes;
	uint32_t i;
	int rc = 0;

	for (i = first & ~(step - 1); i <= last; i += step) {
		rc = drv_table_get(t, i);
		if (rc)
			break;
	}
	if (rc)
		while (i > (first & ~(step - 1))) {
			i -= step;
			drv_table_put(t, i);
		}
	return rc;
}

void drv_table_put_range(struct drv_icm_table *t, uint32_t first, uint32_t last)
{
	const uint32_t step = DRV_CHUNK_BYTES / t->entry_bytes;

	for (uint32_t i = first & ~(step - 1); i <= last; i += step)
		drv_table_put(t, i);
}

void *drv_table_find(struct drv_icm_table *t, uint32_t entry, uint64_t *bus)
{
	uint64_t offset = (uint64_t)(entry & (t->entries - 1)) * t->entry_bytes % DRV_CHUNK_BYTES;
	const struct drv_icm_chunk *c = t->chunks ? t->chunks[chunk_of(t, entry)] : NULL;

	if (!c)
		return NULL;
	for (unsigned i = 0; i < c->icm.n; i++) {
		const struct drv_icm_seg *s = &c->icm.segs[i];

		if (offset < s->bytes) {
			if (bus)
				*bus = s->bus + offset;
			return (uint8_t *)s->addr + offset;
		}
		offset -= s->bytes;
	}
	return NULL;
}

unsigned drv_table_pages(const struct drv_icm_table *t)
{
	unsigned pages = 0;

	for (unsigned i = 0; t->chunks && i < t->n_chunks; i++)
		if (t->chunks[i])
			pages += t->chunks[i]->icm.pages;
	return pages;
}

int drv_table_init(struct drv_device *dev, struct drv_icm_table *t, uint64_t virt,
		   unsigned entry_bytes, uint32_t entries, uint32_t reserved)
{
	int rc;

	*t = (struct drv_icm_table){
		.dev = dev, .virt = virt, .entry_bytes = entry_bytes, .entries = entries};
	t->n_chunks = (unsigned)(((uint64_t)entries * entry_bytes + DRV_CHUNK_BYTES - 1) /
				 DRV_CHUNK_BYTES);
	t->chunks = drv_calloc(t->n_chunks, sizeof(struct drv_icm_chunk *));
	if (!t->chunks)
		return -ENOMEM;
	rc = drv_mutex_init(dev, &t->lock);
	if (rc)
		goto free_chunks;
	for (unsigned i = 0; (uint64_t)i * DRV_CHUNK_BYTES < (uint64_t)reserved * entry_bytes;
	     i++) {
		rc = chunk_get(t, i);
		if (rc)
			goto cleanup;
	}
	return 0;

cleanup:
	drv_table_cleanup(t, true);
	return rc;
free_chunks:
	free(t->chunks);
	t->chunks = NULL;
	return rc;
}

void drv_table_cleanup(struct drv_icm_table *t, bool tell_device)
{
	if (!t->chunks)
		return;
	for (unsigned i = 0; i < t->n_chunks; i++)
		if (t->chunks[i])
			chunk_drop(t, i, tell_device);
	free(t->chunks);
	t->chunks = NULL;
	drv_mutex_cleanup(t->dev, &t->lock);
}

/* --- the layout of ICM --- */

static const enum drv_table profile_order[] = {DRV_T_CMPT_QP, DRV_T_RDMARC, DRV_T_QPC, DRV_T_AUXC,
					       DRV_T_DMPT,    DRV_T_ALTC,   DRV_T_MTT, DRV_T_SRQC,
					       DRV_T_CQC,     DRV_T_MCG,    DRV_T_EQC};

enum { PROFILE_N = ARRAY_SIZE(profile_order) };

static void profile_row(struct drv_profile *profile, enum drv_table t, unsigned log_num,
			uint32_t entry_bytes)
{
	profile->log_num[t] = log_num;
	profile->entry_bytes[t] = entry_bytes;
}

static uint64_t profile_bytes(const struct drv_profile *profile, enum drv_table t)
{
	return (uint64_t)profile->entry_bytes[t] << profile->log_num[t];
}

/* The wanted number, or the device's maximum if that is smaller. */
static unsigned pick(unsigned option, unsigned standard, unsigned log_max)
{
	const unsigned wanted = option ? option : standard;

	return wanted < log_max ? wanted : log_max;
}

int drv_profile_make(struct drv_profile *profile, const struct dev_cap *cap,
		     const struct drv_options *options)
{
	const unsigned log_qps = pick(options->log_qps, 18, dev_cap_get_log_max_qps(cap));
	enum drv_table order[PROFILE_N];

	memset(profile, 0, sizeof(*profile));
	profile_row(profile, DRV_T_CMPT_QP, CMPT_TYPE_SHIFT + 2, dev_cap_get_cmpt_size(cap));
	profile_row(profile, DRV_T_RDMARC, log_qps,
		    dev_cap_get_rdmarc_size(cap) << DRV_LOG_RD_PER_QP);
	profile_row(profile, DRV_T_QPC, log_qps, dev_cap_get_qpc_size(cap));
	profile_row(profile, DRV_T_AUXC, log_qps, dev_cap_get_auxc_size(cap));
	profile_row(profile, DRV_T_ALTC, log_qps, dev_cap_get_altc_size(cap));
	profile_row(profile, DRV_T_SRQC, pick(options->log_srqs, 16, dev_cap_get_log_max_srqs(cap)),
		    dev_cap_get_srqc_size(cap));
	profile_row(profile, DRV_T_CQC, pick(options->log_cqs, 16, dev_cap_get_log_max_cqs(cap)),
		    dev_cap_get_cqc_size(cap));
	profile_row(profile, DRV_T_EQC,
		    dev_cap_get_log_max_eqs(cap) < 7 ? dev_cap_get_log_max_eqs(cap) : 7,
		    dev_cap_get_eqc_size(cap));
	profile_row(profile, DRV_T_DMPT, pick(options->log_mpts, 19, dev_cap_get_log_max_mpts(cap)),
		    dev_cap_get_dmpt_size(cap));
	profile_row(profile, DRV_T_MTT, options->log_mtts ? options->log_mtts : 20,
		    dev_cap_get_mtt_size(cap));
	profile_row(profile, DRV_T_MCG, DRV_LOG_MCGS, 1u << DRV_LOG_MCG_SIZE);
	memcpy(order, profile_order, sizeof(order));
	/* Sorts the tables by size, largest first. All sizes are powers of two, so each table is
	 * aligned. Tables of equal size keep their order. */
	for (unsigned i = 1; i < PROFILE_N; i++)
		for (unsigned j = i;
		     j && profile_bytes(profile, order[j - 1]) < profile_bytes(profile, order[j]);
		     j--) {
			const enum drv_table t = order[j];

			order[j] = order[j - 1];
			order[j - 1] = t;
		}
	for (unsigned i = 0; i < PROFILE_N; i++) {
		const uint32_t bytes = profile->entry_bytes[order[i]];

		if (!bytes || bytes & (bytes - 1) || bytes > DRV_CHUNK_BYTES)
			return -ENODEV;
		profile->base[order[i]] = profile->total;
		profile->total += profile_bytes(profile, order[i]);
	}
	return profile->total > dev_cap_get_max_icm(cap) ? -ENOMEM : 0;
}
