/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scatterlists: pieces of memory, as arrays that may be chained. Names are those of Linux
 * (include/linux/scatterlist.h). A piece is a pointer, because the simulated host has no struct
 * page.
 */
#ifndef LINUX_SCATTERLIST_H
#define LINUX_SCATTERLIST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct scatterlist {
	void *addr;
	struct scatterlist *chain; /* not NULL: this entry is no piece; the list continues there */
	bool end;
	unsigned length;      /* bytes, not 0 */
	uint64_t dma_address; /* bus address, set by ib_dma_map_sg() */
	unsigned dma_length;
};

static inline void sg_mark_end(struct scatterlist *sg)
{
	sg->end = true;
}

static inline void sg_init_table(struct scatterlist *sgl, unsigned nents)
{
	memset(sgl, 0, sizeof(*sgl) * nents);
	if (nents)
		sg_mark_end(&sgl[nents - 1]);
}

static inline void sg_set_buf(struct scatterlist *sg, void *buf, unsigned buflen)
{
	sg->addr = buf;
	sg->length = buflen;
}

static inline void sg_init_one(struct scatterlist *sg, void *buf, unsigned buflen)
{
	sg_init_table(sg, 1);
	sg_set_buf(sg, buf, buflen);
}

/* Makes the last entry of prv[prv_nents] a link to sgl. */
static inline void sg_chain(struct scatterlist *prv, unsigned prv_nents, struct scatterlist *sgl)
{
	memset(&prv[prv_nents - 1], 0, sizeof(*prv));
	prv[prv_nents - 1].chain = sgl;
}

/* NULL after the last entry. */
static inline struct scatterlist *sg_next(struct scatterlist *sg)
{
	if (sg->end)
		return NULL;
	sg++;
	return sg->chain ? sg->chain : sg;
}

static inline int sg_nents(struct scatterlist *sg)
{
	int n = 0;

	for (; sg; sg = sg_next(sg))
		n++;
	return n;
}

#define for_each_sg(sglist, sg, nr, i)                                                             \
	for (i = 0, sg = (sglist); i < (nr) && sg; i++, sg = sg_next(sg))
#define sg_virt(sg)        ((sg)->addr)
#define sg_dma_address(sg) ((sg)->dma_address)
#define sg_dma_len(sg)     ((sg)->dma_length)

#endif
