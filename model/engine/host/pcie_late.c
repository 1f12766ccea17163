/* SPDX-License-Identifier: Apache-2.0 */
/* DMA and messages that take longer than usual: at random, by a rule of a scenario, or because
 * somebody who is asked says so. */
#include "model/engine/host/pcie_impl.h"

#include <string.h>

void pcie_jitter(struct hca *hca, uint64_t seed)
{
	struct pcie *pcie = hca->pcie;
	const struct pcie_root *root = &pcie->root;

	jitter_init(&pcie->read_jitter, hca, seed, "read", root->read_jitter_ps);
	jitter_init(&pcie->write_jitter, hca, seed, "write", root->write_jitter_ps);
	jitter_init(&pcie->interrupt_jitter, hca, seed, "interrupt", root->interrupt_jitter_ps);
	pcie->disturbed = true;
}

void hca_dma_late(struct hca *hca, const struct hca_late_dma *late)
{
	hca->pcie->late = *late;
	hca->pcie->disturbed = true;
}

uint32_t hca_dma_late_left(const struct hca *hca)
{
	return hca->pcie->late.times;
}

void hca_late_ask(struct hca *hca, const struct hca_late_judge *judge)
{
	hca->pcie->judge = *judge;
	hca->pcie->disturbed = true;
}

uint64_t pcie_late_by(struct pcie *pcie, const struct dma *dma, bool write)
{
	struct hca_late_dma *late = &pcie->late;

	if (!late->times || write != late->write || (late->qpn && late->qpn != dma->qpn) ||
	    (late->what && strcmp(late->what, dma->what)))
		return 0;
	if (late->skip) {
		late->skip--;
		return 0;
	}
	late->times--;
	HCA_TRACE(pcie->hca, TP_DMA_LATE, .qpn = dma->qpn, .text = dma->what,
		  .args = {late->by_ps, dma->len});
	return late->by_ps;
}

static uint64_t judged(const struct pcie *pcie, const struct dma *dma, enum hca_late_way way)
{
	const struct hca_late_judge *judge = &pcie->judge;

	if (!judge->late_ps)
		return 0;
	return judge->late_ps(judge->ctx, way, dma->what, dma->n_frags ? dma->frags[0].bus : 0);
}

uint64_t pcie_read_late_ps(struct pcie *pcie, const struct dma *dma)
{
	return pcie_late_by(pcie, dma, false) + jitter_draw_ps(&pcie->read_jitter) +
	       judged(pcie, dma, HCA_LATE_READ);
}

void pcie_write_late(struct pcie *pcie, const struct dma *dma, uint64_t own_ps)
{
	pcie->landed_ps =
		pcie_max_ps(pcie->landed_ps, own_ps + jitter_draw_ps(&pcie->write_jitter)) +
		pcie_late_by(pcie, dma, true) + judged(pcie, dma, HCA_LATE_WRITE);
}

uint64_t pcie_register_late_ps(struct pcie *pcie, uint64_t offset)
{
	const struct hca_late_judge *judge = &pcie->judge;

	if (!judge->late_ps)
		return 0;
	return judge->late_ps(judge->ctx, HCA_LATE_REGISTER, "register", offset);
}
