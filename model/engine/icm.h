/*
 * The device's virtual address space: ICM pages, which are host memory given by MAP_ICM, and the private valid bit of each object.
 */
#ifndef MODEL_ENGINE_ICM_H
#define MODEL_ENGINE_ICM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;

enum { ICM_PAGE_SHIFT = 12, ICM_PAGE_SIZE = 1 << ICM_PAGE_SHIFT };

struct icm *icm_create(struct hca *hca);
void icm_destroy(struct icm *icm);
/* Forgets every mapping and every valid bit. */
void icm_reset(struct hca *hca);

int icm_map(struct hca *hca, uint64_t va, uint64_t bus, uint32_t pages);
void icm_unmap(struct hca *hca, uint64_t va, uint32_t pages);
void icm_unmap_all(struct hca *hca);
/* Bus address of an ICM byte; 0 and *bus, or -ENOENT when the page is not mapped. */
int icm_translate(const struct hca *hca, uint64_t va, uint64_t *bus);
/* ICM address of entry `number` (taken modulo the table's size) of a table, FW_TABLE_*. */
uint64_t icm_entry(const struct hca *hca, unsigned table, uint32_t number);

/* Valid bits of QP, CQ, EQ, SRQ, MPT (FW_TABLE_QPC .. FW_TABLE_MPT); number modulo table size. Sized at FW_TABLE_* commands. */
bool icm_object_valid(const struct hca *hca, unsigned table, uint32_t number);
void icm_object_set(struct hca *hca, unsigned table, uint32_t number, bool valid);
size_t icm_footprint(const struct hca *hca);

#endif
