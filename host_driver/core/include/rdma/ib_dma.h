/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DMA mapping: converts the CPU's pointers to the bus addresses that the device uses, through the
 * simulated host's IOMMU. Names are those of Linux (include/rdma/ib_verbs.h). The device cannot
 * reach memory that is not mapped (rule dma_unmapped). The host is coherent, so directions and sync
 * calls have no effect.
 *
 * The memory must be the platform's (user_alloc, pages_alloc of platform.h); other memory cannot be
 * mapped.
 */
#ifndef RDMA_IB_DMA_H
#define RDMA_IB_DMA_H

#include "host_driver/core/include/linux/scatterlist.h"

#include <stddef.h>

struct ib_device;

enum dma_data_direction { DMA_BIDIRECTIONAL, DMA_TO_DEVICE, DMA_FROM_DEVICE, DMA_NONE };

#define DMA_MAPPING_ERROR UINT64_MAX

/* The bus address of the first byte. DMA_MAPPING_ERROR: not memory of the host, size 0, or
 * DMA_NONE. */
uint64_t ib_dma_map_single(struct ib_device *dev, void *cpu_addr, size_t size,
			   enum dma_data_direction direction);
void ib_dma_unmap_single(struct ib_device *dev, uint64_t addr, size_t size,
			 enum dma_data_direction direction);

static inline int ib_dma_mapping_error(struct ib_device *dev, uint64_t dma_addr)
{
	return dma_addr == DMA_MAPPING_ERROR;
}

/* Maps each entry by itself. Returns their number (nents, or the length of the list if that is
 * less). 0: one entry cannot be mapped, so none is. */
int ib_dma_map_sg(struct ib_device *dev, struct scatterlist *sg, int nents,
		  enum dma_data_direction direction);
/* The arguments must be those of ib_dma_map_sg. */
void ib_dma_unmap_sg(struct ib_device *dev, struct scatterlist *sg, int nents,
		     enum dma_data_direction direction);

static inline void ib_dma_sync_single_for_cpu(struct ib_device *dev, uint64_t addr, size_t size,
					      enum dma_data_direction dir)
{
}

static inline void ib_dma_sync_single_for_device(struct ib_device *dev, uint64_t addr, size_t size,
						 enum dma_data_direction dir)
{
}

/* Whole pages, zeroed, contiguous on the bus, mapped until they are freed. NULL: no memory. */
void *ib_dma_alloc_coherent(struct ib_device *dev, size_t size, uint64_t *dma_handle);
void ib_dma_free_coherent(struct ib_device *dev, size_t size, void *cpu_addr);

#endif
