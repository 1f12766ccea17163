/* SPDX-License-Identifier: Apache-2.0 */
/* See atomic_read.h. This file: atomics, from the operands of a request to the eight bytes in
 * memory. */
#include "model/engine/receive/atomic_read.h"
#include "model/engine/receive/responder_impl.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_atomic_read.h"

enum { ATOMIC_BYTES = 8, ATOMIC_JOB_OFFSET = 64 };

/* An atomic under way. It is stored in the payload space of its response packet, behind the eight
 * bytes that are read from memory. */
struct atomic_job {
	struct atomic_operands op;
	struct rdmarc entry;
	unsigned slot;
};

_Static_assert(ATOMIC_JOB_OFFSET + sizeof(struct atomic_job) <= PACKET_PAYLOAD, "fits");

static struct atomic_job *atomic_job(struct packet *pkt)
{
	return (struct atomic_job *)(void *)(packet_payload(pkt) + ATOMIC_JOB_OFFSET);
}

uint64_t atomic_result(const struct atomic_operands *op, uint64_t old)
{
	uint64_t sum = 0, carry = 0;

	if (op->swap) {
		if ((old ^ op->compare) & op->compare_mask)
			return old;
		return (old & ~op->swap_mask) | (op->swap_add & op->swap_mask);
	}
	if (!op->compare_mask)
		return old + op->swap_add;
	for (unsigned i = 0; i < 64; i++) {
		uint64_t bits = (old >> i & 1) + (op->swap_add >> i & 1) + carry;

		sum |= (bits & 1) << i;
		carry = op->compare_mask >> i & 1 ? 0 : bits >> 1;
	}
	return sum;
}

void atomic_operands_get(const struct packet *pkt, struct atomic_operands *op, uint64_t *va,
			 uint32_t *rkey)
{
	memset(op, 0, sizeof(*op));
	if (bth_op_has(pkt->op, BTH_EXT_ATOMICETH)) {
		const struct atomiceth *eth = resp_ext(pkt, BTH_EXT_ATOMICETH);

		*va = atomiceth_get_va(eth);
		*rkey = atomiceth_get_rkey(eth);
		op->swap_add = atomiceth_get_swap_add(eth);
		op->swap = bth_get_opcode(resp_bth(pkt)) !=
			   bth_service_opcode(pkt->op->service, BTH_RC_FETCH_ADD);
		if (op->swap) {
			op->compare = atomiceth_get_compare(eth);
			op->swap_mask = op->compare_mask = UINT64_MAX;
		}
	} else if (bth_op_has(pkt->op, BTH_EXT_MASKED_CASETH)) {
		const struct masked_caseth *eth = resp_ext(pkt, BTH_EXT_MASKED_CASETH);

		*va = masked_caseth_get_va(eth);
		*rkey = masked_caseth_get_rkey(eth);
		op->swap = true;
		op->swap_add = masked_caseth_get_swap(eth);
		op->compare = masked_caseth_get_compare(eth);
		op->swap_mask = masked_caseth_get_swap_mask(eth);
		op->compare_mask = masked_caseth_get_compare_mask(eth);
	} else {
		const struct masked_faeth *eth = resp_ext(pkt, BTH_EXT_MASKED_FAETH);

		*va = masked_faeth_get_va(eth);
		*rkey = masked_faeth_get_rkey(eth);
		op->swap_add = masked_faeth_get_add(eth);
		op->compare_mask = masked_faeth_get_boundary(eth);
	}
}

/*
 * Computes the new value and writes it. The completer reads the eight bytes at this moment, and the
 * new value is written at the same moment, so nothing on the host can come between. PCIe keeps the
 * device's atomics in order, so each sees the results of those before it.
 */
static int atomic_apply(struct packet *pkt, uint64_t *old)
{
	struct hca *hca = pkt->hca;
	bool big = hca->ctrl & FW_CTRL_HOST_BIG_ENDIAN;
	uint64_t value = be64_load(pkt->dma.buf), changed;
	uint8_t bytes[ATOMIC_BYTES];
	int err;

	*old = big ? value : __builtin_bswap64(value);
	changed = atomic_result(&atomic_job(pkt)->op, *old);
	hca->stats.atomic_read_atomics++;
	if (changed == *old)
		return 0;
	be64_store(bytes, big ? changed : __builtin_bswap64(changed));
	err = hca->env.dma_write(hca->env.ctx, pkt->frags[0].bus, bytes, sizeof(bytes));
	HCA_TRACE(hca, TP_DMA_WRITE, .qpn = pkt->dma.qpn,
		  .args = {pkt->frags[0].bus, sizeof(bytes)}, .bytes = bytes, .len = sizeof(bytes),
		  .text = "atomic");
	return err;
}

static bool is_under_way(const struct packet *pkt)
{
	return !(pkt->mark & MARK_READY) && bth_op_is(pkt->op, BTH_ATOMIC);
}

/* The first atomic in the queue that is under way, or NULL. */
static const struct packet *first_under_way(const struct packet_queue *q)
{
	const struct packet *pkt = q->first;

	while (pkt && !is_under_way(pkt))
		pkt = pkt->next;
	return pkt;
}

/* Whether this atomic is done before an earlier one of the same QP, which must not happen. PCIe
 * keeps reads in order, unless one of them was delayed. */
static bool overtakes(const struct qp_receive *r, const struct packet *pkt)
{
	const struct packet *first = first_under_way(&r->out);

	for (const struct read_job *read = r->read_jobs.first; read && !first; read = read->next)
		first = first_under_way(&read->behind);
	return first != pkt;
}

static void atomic_arrived(struct dma *dma)
{
	struct packet *pkt = container_of(dma, struct packet, dma);
	struct qp *qp = pkt->owner;
	struct atomic_job *job = atomic_job(pkt);
	uint64_t old;

	if (overtakes(&qp->receive, pkt)) {
		pcie_read(pkt->hca, dma, dma->ready_ps);
		return;
	}
	if (dma->status || atomic_apply(pkt, &old)) {
		pkt->mark |= MARK_FAILED;
		pkt->verdict = VERDICT_CONTEXT;
	} else {
		atomicacketh_set_original(
			(struct atomicacketh *)(void *)(pkt->wire + pkt->bth_off +
							pkt->op->at[BTH_EXT_ATOMICACKETH]),
			old);
		rdmarc_set_atomic_result(&job->entry, old);
		resource_write(qp, job->slot, &job->entry);
	}
	if (pkt->ready_ps < dma->ready_ps)
		pkt->ready_ps = dma->ready_ps;
	pkt->mark |= MARK_READY;
	qp->receive.atomics--;
	responses_pump(qp);
	responder_kick(qp);
}

void atomic_start(struct resp_run *x, struct packet *pkt, const struct atomic_operands *op,
		  const struct rdmarc *entry, unsigned slot)
{
	struct atomic_job *job = atomic_job(pkt);
	struct hca *hca = x->hca;
	struct responder *responder = hca->responder;
	uint64_t start = x->pkt->ready_ps;

	*job = (struct atomic_job){*op, *entry, slot};
	if (start < responder->atomic_busy_ps)
		start = responder->atomic_busy_ps;
	responder->atomic_busy_ps = start + param_atomic_read_atomic_gap(hca->params);
	HCA_TRACE_AT(hca, TP_ATOMIC_RUN, start, .qpn = x->qp->qpn, .corr = x->pkt->psn,
		     .args = {responder->atomic_busy_ps, x->pkt->src_qpn});
	pkt->mark = MARK_LAST;
	pkt->dma.buf = packet_payload(pkt);
	pkt->dma.len = ATOMIC_BYTES;
	pkt->dma.frags = pkt->frags;
	pkt->dma.n_frags = pkt->n_frags;
	pkt->dma.done = atomic_arrived;
	pkt->dma.what = "atomic";
	pkt->dma.corr = DMA_CORR_PSN | pkt->psn;
	pkt->dma.qpn = x->qp->qpn;
	x->r->atomics++;
	x->r->resources++;
	responses_acknowledge(x->qp);
	response_append(x->r, pkt);
	if (start > x->pkt->ready_ps)
		pcie_read_later(hca, &pkt->dma, start);
	else
		pcie_read(hca, &pkt->dma, start);
}
