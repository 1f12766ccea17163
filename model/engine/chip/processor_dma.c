/* SPDX-License-Identifier: Apache-2.0 */
/* The DMA helper of firmware. Moves data in chunks, one DMA after the other. */
#include "model/engine/chip/processor_impl.h"
#include "model/engine/memory/icm.h"
#include "model/interface/contexts.h"
#include "model/sim/params/hca_fw.h"

#include <stdlib.h>
#include <string.h>

/* difference between a command for ICM addresses and the same command for bus addresses */
enum { DMA_ICM = FW_DMA_ICM_READ - FW_DMA_READ };

static void dma_next(struct processor *p);

static void dma_done(struct dma *dma)
{
	struct processor *p = dma->hca->processor;
	struct fw_dma *d = &p->dma;

	if (dma->status) {
		processor_helper_done(p, &d->helper, FW_DMA_FAULT);
		return;
	}
	d->addr += dma->len;
	d->left -= dma->len;
	if (d->ram)
		d->ram += dma->len;
	dma_next(p);
}

static void dma_next(struct processor *p)
{
	struct fw_dma *d = &p->dma;
	struct hca *hca = p->hca;
	uint32_t len = d->left < d->chunk ? d->left : d->chunk;
	bool icm = d->cmd > DMA_ICM;
	int n = 1;

	if (!len) {
		processor_helper_done(p, &d->helper, FW_DMA_OK);
		return;
	}
	if (icm)
		n = icm_fragments(hca, d->addr, len, d->frags, d->room);
	else
		d->frags[0] = (struct dma_frag){.bus = d->addr, .len = len};
	if (n <= 0) {
		processor_helper_done(p, &d->helper, FW_DMA_NO_ICM);
		return;
	}
	d->dma = (struct dma){.hca = hca,
			      .done = dma_done,
			      .buf = d->ram ? d->ram : d->fill,
			      .frags = d->frags,
			      .n_frags = (unsigned)n,
			      .len = len,
			      .at_ready = true,
			      .what = icm ? "firmware icm" : "firmware"};
	if (d->cmd == FW_DMA_READ || d->cmd == FW_DMA_ICM_READ)
		pcie_read(hca, &d->dma, 0);
	else
		pcie_write(hca, &d->dma, 0);
}

int processor_dma_start(struct processor *p, uint32_t cmd)
{
	struct fw_dma *d = &p->dma;
	uint32_t ram = fw_reg(p, FW_DMA_RAM);
	bool known = (cmd >= FW_DMA_READ && cmd <= FW_DMA_FILL) ||
		     (cmd >= FW_DMA_ICM_READ && cmd <= FW_DMA_ICM_FILL);
	bool fill = cmd == FW_DMA_FILL || cmd == FW_DMA_ICM_FILL;

	if (!known || d->helper.busy)
		return RV_BUS_FAULT;
	d->cmd = cmd;
	d->addr = fw_reg64(p, FW_DMA_ADDR_HI, FW_DMA_ADDR_LO);
	d->left = fw_reg(p, FW_DMA_LEN);
	d->ram = NULL;
	if (fill)
		memset(d->fill, (int)(ram & 0xff), d->chunk);
	else if (!(d->ram = processor_ram(p, ram, d->left)))
		return RV_BUS_FAULT;
	processor_helper_start(&d->helper);
	dma_next(p);
	return RV_BUS_OK;
}

void processor_dma_create(struct processor *p)
{
	struct fw_dma *d = &p->dma;

	d->chunk = (uint32_t)param_fw_dma_chunk(p->hca->params);
	d->room = d->chunk / ICM_PAGE_SIZE + 2;
	d->frags = memory_create(d->room, sizeof(*d->frags), "a processor");
	d->fill = memory_create(1, d->chunk, "a processor");
}

void processor_dma_destroy(struct processor *p)
{
	free(p->dma.frags);
	free(p->dma.fill);
}
