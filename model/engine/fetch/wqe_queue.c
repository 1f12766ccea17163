/* SPDX-License-Identifier: Apache-2.0 */
/* Where the WQEs of a queue lie in host memory: see wqe_fetch.h, wqe_impl.h. */
#include "model/engine/fetch/wqe_impl.h"

#include "model/engine/memory/translate.h"
#include "model/interface/contexts.h"
#include "model/interface/queues.h"

static uint32_t stride_of(unsigned log_stride)
{
	return (uint32_t)WQE_UNIT << log_stride;
}

void wqe_geometry_send(const struct qpc *qpc, struct wqe_geometry *g)
{
	g->stride = stride_of(qpc_get_log_sq_stride(qpc));
	g->count = 1u << qpc_get_log_sq_size(qpc);
	g->offset = (uint64_t)qpc_get_page_offset(qpc) * WQE_CHUNK;
	if (qpc_has_rq(qpc) && stride_of(qpc_get_log_rq_stride(qpc)) > g->stride)
		g->offset += (uint64_t)stride_of(qpc_get_log_rq_stride(qpc))
			     << qpc_get_log_rq_size(qpc);
}

void wqe_geometry_receive(const struct qpc *qpc, struct wqe_geometry *g)
{
	uint32_t send_stride = stride_of(qpc_get_log_sq_stride(qpc));

	g->stride = stride_of(qpc_get_log_rq_stride(qpc));
	g->count = 1u << qpc_get_log_rq_size(qpc);
	g->offset = (uint64_t)qpc_get_page_offset(qpc) * WQE_CHUNK;
	if (g->stride <= send_stride)
		g->offset += (uint64_t)send_stride << qpc_get_log_sq_size(qpc);
}

int wqe_queue_frags(struct hca *hca, const struct wqe_place *place, uint32_t *n, struct waiter *w,
		    struct dma_frag *frags, unsigned *n_frags)
{
	uint32_t done = 0;

	for (*n_frags = 0; done < *n && *n_frags < WQE_FRAGS; (*n_frags)++) {
		struct dma_frag *frag = &frags[*n_frags];
		uint32_t contiguous;
		int err = translate_queue(hca, place->mtt_addr, place->log_page_size,
					  place->offset + done, w, &frag->bus, &contiguous,
					  place->qpn);

		if (err)
			return err;
		frag->len = contiguous < *n - done ? contiguous : *n - done;
		done += frag->len;
	}
	*n = done;
	return 0;
}
