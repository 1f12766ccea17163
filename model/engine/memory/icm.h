/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's virtual address space: ICM pages, which are host memory given by MAP_ICM, and the
 * private valid bit of each object.
 */
#ifndef MODEL_ENGINE_ICM_H
#define MODEL_ENGINE_ICM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/engine/host/pcie.h"
#include "model/interface/fwregs.h"
#include "model/interface/rules.h"

struct hca;

enum {
	ICM_PAGE_SHIFT = 12, /* ICM_PAGE_SIZE: contexts.h */
	ICM_MAX_FRAGS = 2,   /* most for an entry not longer than a page */

	/*
	 * Two further bits of each dMPT slot. RELEASED: HW2SW_MPT has left an entry in the slot,
	 * which software may change and set back to valid in place. SYNCED: SYNC_TPT has been given
	 * after that, so the status field in memory decides whether the entry is valid. Without
	 * SYNC_TPT memory is not believed, because a field of all zeroes would mean valid.
	 */
	ICM_MPT_RELEASED = FW_TABLE_MPT + 1,
	ICM_MPT_SYNCED,
	ICM_VALID_SETS = FW_TABLE_MCG + 1,
};

struct icm *icm_create(struct hca *hca);
void icm_destroy(struct icm *icm);
/* Forgets every mapping and every valid bit. */
void icm_reset(struct hca *hca);

/* va and bus are page addresses. A page that is already mapped gets the new bus address. Results:
 * 0; -EINVAL: not aligned, or beyond 2^64. */
int icm_map(struct hca *hca, uint64_t va, uint64_t bus, uint32_t pages);
/* Ignores pages that are not mapped. The caller must drop what the caches hold of these pages. */
void icm_unmap(struct hca *hca, uint64_t va, uint32_t pages);
void icm_unmap_all(struct hca *hca);
/* The bus address of an ICM byte. Results: 0 and *bus; -ENOENT: the page is not mapped. */
int icm_translate(const struct hca *hca, uint64_t va, uint64_t *bus);
/* The bus fragments of a range of ICM bytes; contiguous pages are joined. Returns their number;
 * -ENOENT: a page is not mapped; -ENOSPC: there are more than `room`. */
int icm_fragments(const struct hca *hca, uint64_t va, uint32_t len, struct dma_frag *frags,
		  unsigned room);

/* A table entry of this object could not be read or written. Reports icm_unmapped with `text` if one
 * of its pages is not mapped. Otherwise the DMA has already reported the error. */
void icm_report(struct hca *hca, struct guest_object object, uint64_t va, uint32_t len,
		const char *text);

/* Gives hca->tables[table] its values and sizes its valid bits, all clear. */
void icm_table_set(struct hca *hca, unsigned table, uint64_t base, uint8_t log_num,
		   uint32_t entry_size);
/*
 * ICM address of entry `number` (taken modulo the table's size) of a table, FW_TABLE_*. RDMARC:
 * number = QP index << log2 entries a QP | entry.
 */
uint64_t icm_entry(const struct hca *hca, unsigned table, uint32_t number);

/* Valid bits of QP, CQ, EQ, SRQ, MPT (FW_TABLE_QPC .. FW_TABLE_MPT), MCG and of ICM_MPT_*; number
 * modulo table size. */
bool icm_object_valid(const struct hca *hca, unsigned table, uint32_t number);
void icm_object_set(struct hca *hca, unsigned table, uint32_t number, bool valid);
/* The first valid object from *number on; false: there is none. */
bool icm_object_next(const struct hca *hca, unsigned table, uint32_t *number);
/* Clears every valid bit, keeping the map: CLOSE_HCA. */
void icm_objects_clear(struct hca *hca);
/* Clears the bits of a set whose entries lie in [va, va + len). */
void icm_objects_clear_range(struct hca *hca, unsigned set, uint64_t va, uint64_t len);
/* SYNC_TPT: every released slot is synced. */
void icm_mpt_sync(struct hca *hca);
size_t icm_footprint(const struct hca *hca);

#endif
