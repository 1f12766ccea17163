/* SPDX-License-Identifier: Apache-2.0 */
/* See gather.h. */
#include "model/engine/wire/gather.h"

#include "model/engine/base/engine.h"
#include "model/engine/wire/packet.h"
#include "model/engine/host/pcie.h"
#include "model/sim/params/hca_packet.h"

void gather_reset(struct hca *hca)
{
	hca->gather_busy_ps = 0;
}

void gather_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	const struct hca_params *p = hca->params;
	const uint64_t now = hca_now(hca), ready = earliest_ps > now ? earliest_ps : now,
		       at = hca->gather_busy_ps > ready ? hca->gather_busy_ps : ready;

	hca->gather_busy_ps = at + param_packet_gather_gap(p) + packet_large_ps(p, dma->len);
	if (at > ready && !pcie_read_queues(hca, at))
		pcie_read_later(hca, dma, at);
	else
		pcie_read(hca, dma, at);
}
