// SPDX-License-Identifier: Apache-2.0
/* DMA mapping for users of the RDMA core: see rdma/ib_dma.h. */
#include "host_driver/core/core.h"

#include <string.h>

uint64_t ib_dma_map_single(struct ib_device *dev, void *cpu_addr, size_t size,
			   enum dma_data_direction direction)
{
	struct platform *p = dev->platform;
	const uint64_t bus = size && direction != DMA_NONE ? p->ops->dma_map(p, cpu_addr, size) : 0;

	return bus ? bus : DMA_MAPPING_ERROR;
}

void ib_dma_unmap_single(struct ib_device *dev, uint64_t addr, size_t size,
			 enum dma_data_direction direction)
{
	dev->platform->ops->dma_unmap(dev->platform, addr, size);
}

int ib_dma_map_sg(struct ib_device *dev, struct scatterlist *sg, int nents,
		  enum dma_data_direction direction)
{
	struct scatterlist *s;
	int i;

	for_each_sg(sg, s, nents, i)
	{
		s->dma_address = ib_dma_map_single(dev, s->addr, s->length, direction);
		if (ib_dma_mapping_error(dev, s->dma_address)) {
			ib_dma_unmap_sg(dev, sg, i, direction);
			return 0;
		}
		s->dma_length = s->length;
	}
	return i;
}

void ib_dma_unmap_sg(struct ib_device *dev, struct scatterlist *sg, int nents,
		     enum dma_data_direction direction)
{
	struct scatterlist *s;
	int i;

	for_each_sg(sg, s, nents, i) ib_dma_unmap_single(dev, s->dma_address, s->length, direction);
}

void *ib_dma_alloc_coherent(struct ib_device *dev, size_t size, uint64_t *dma_handle)
{
	void *addr = dev->platform->ops->pages_alloc(dev->platform, size, dma_handle);

	return addr ? memset(addr, 0, size) : NULL;
}

void ib_dma_free_coherent(struct ib_device *dev, size_t size, void *cpu_addr)
{
	dev->platform->ops->pages_free(dev->platform, cpu_addr, size);
}
