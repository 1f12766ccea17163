/* SPDX-License-Identifier: Apache-2.0 */
/* See atomic_read.h. */
#include "model/engine/receive/atomic_read.h"
#include "model/engine/receive/responder_impl.h"

#include "model/engine/wire/gather.h"
#include "model/engine/memory/icm.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/static_rate.h"
#include "model/engine/memory/translate.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_link.h"
#include "model/sim/params/hca_responder.h"

enum {
	ATOMIC_BYTES = 8,
	RING_MAX = 128,     /* entries: rra_max has three bits */
	RESPONSE_FRAGS = 2, /* most in a READ response: no page is smaller than the largest MTU */
};

static uint32_t read_packets(uint32_t length, uint32_t mtu)
{
	return length ? (uint32_t)(((uint64_t)length + mtu - 1) / mtu) : 1;
}

static unsigned ring_depth(const struct hca *hca, const struct qpc *qpc)
{
	unsigned log = qpc_get_rra_max(qpc), entries = hca->tables[FW_TABLE_RDMARC].log_num;

	return 1u << (log < entries ? log : entries);
}

/* --- the ring of entries --- */

static int ring_fragments(const struct hca *hca, uint32_t qpn, unsigned slot, unsigned entries,
			  struct dma_frag *frags, unsigned room)
{
	uint32_t mask = (1u << hca->tables[FW_TABLE_QPC].log_num) - 1;
	uint32_t number = ((qpn & mask) << hca->tables[FW_TABLE_RDMARC].log_num) + slot;

	return icm_fragments(hca, icm_entry(hca, FW_TABLE_RDMARC, number),
			     entries * (uint32_t)sizeof(struct rdmarc), frags, room);
}

void resource_write(struct qp *qp, unsigned slot, const struct rdmarc *entry)
{
	struct dma_frag frag;

	HCA_TRACE(qp->hca, TP_RESP_RESOURCE, .qpn = qp->qpn, .corr = rdmarc_get_psn(entry),
		  .text = "taken", .args = {slot});
	if (ring_fragments(qp->hca, qp->qpn, slot, 1, &frag, 1) == 1)
		pcie_write_small(qp->hca, frag.bus, entry, sizeof(*entry), "responder resource",
				 qp->qpn, NULL, NULL);
	else
		guest_error(qp->hca, RULE_icm_unmapped, guest_object(GUEST_QP, qp->qpn),
			    "responder resources of qpn %06x", qp->qpn);
}

/* Takes the slot for the next request. */
static unsigned ring_take(struct qpc *qpc, unsigned depth)
{
	unsigned slot = qpc_get_rx_resource(qpc) % depth, used = qpc_get_rx_resources(qpc);

	qpc_set_rx_resource(qpc, (slot + 1) % depth);
	qpc_set_rx_resources(qpc, used < depth ? used + 1 : depth);
	return slot;
}

/* The whole ring of a QP, read for a duplicate. */
struct ring_read {
	struct dma dma;
	struct qp *qp;
	bool arrived;
	struct dma_frag frags[ICM_MAX_FRAGS];
	struct rdmarc entries[RING_MAX];
};

_Static_assert(sizeof(((struct ring_read *)0)->entries) <= ICM_PAGE_SIZE,
	       "a ring crosses one page boundary at most");

void ring_pool_init(struct pool *pool, struct hca *hca)
{
	pool_init(pool, hca, sizeof(struct ring_read), "responder resources");
}

void ring_forget(struct qp *qp)
{
	if (qp->receive.ring)
		pool_give(&qp->hca->responder->rings, qp->receive.ring);
	qp->receive.ring = NULL;
}

static void ring_arrived(struct dma *dma)
{
	struct ring_read *ring = container_of(dma, struct ring_read, dma);

	ring->arrived = true;
	responder_kick(ring->qp);
}

/* Starts to read all entries of the ring. False: they are not mapped. */
static bool ring_ask(struct resp_run *x, unsigned depth)
{
	struct ring_read *ring = pool_take(&x->hca->responder->rings);
	int n = ring_fragments(x->hca, x->qp->qpn, 0, depth, ring->frags, ICM_MAX_FRAGS);

	x->r->ring = ring;
	if (n < 1) {
		ring_forget(x->qp);
		guest_error(x->hca, RULE_icm_unmapped, guest_object(GUEST_QP, x->qp->qpn),
			    "responder resources of qpn %06x", x->qp->qpn);
		return false;
	}
	ring->qp = x->qp;
	ring->arrived = false;
	ring->dma = (struct dma){.buf = (uint8_t *)ring->entries,
				 .len = depth * (uint32_t)sizeof(struct rdmarc),
				 .frags = ring->frags,
				 .n_frags = (unsigned)n,
				 .done = ring_arrived,
				 .at_ready = true,
				 .what = "responder resource",
				 .qpn = x->qp->qpn};
	pcie_read(x->hca, &ring->dma, x->pkt->ready_ps);
	return true;
}

bool read_repeats(const struct rdmarc *entry, uint32_t psn, uint64_t va, uint32_t rkey,
		  uint32_t length, uint32_t mtu)
{
	int32_t behind = psn_diff(psn, rdmarc_get_psn(entry));
	uint64_t skipped;

	if (behind < 0 || (uint32_t)behind >= rdmarc_get_npsn(entry))
		return false;
	skipped = (uint64_t)behind * mtu;
	return rkey == rdmarc_get_rkey(entry) && va == rdmarc_get_va(entry) + skipped &&
	       skipped <= rdmarc_get_length(entry) && length <= rdmarc_get_length(entry) - skipped;
}

/* The entry that this request repeats; NULL: none. */
static const struct rdmarc *ring_find(struct resp_run *x, unsigned depth)
{
	unsigned used = qpc_get_rx_resources(x->qpc), next = qpc_get_rx_resource(x->qpc);
	uint32_t mtu = ib_mtu_bytes((enum ib_mtu)qpc_get_mtu(x->qpc));
	const struct packet *pkt = x->pkt;

	for (unsigned i = 1; i <= used && i <= depth; i++) {
		unsigned slot = (next + depth - i) % depth;
		const struct rdmarc *entry = &x->r->ring->entries[slot];

		if (!rdmarc_get_valid(entry) ||
		    rdmarc_get_opcode(entry) != bth_get_opcode(resp_bth(pkt)))
			continue;
		if (resp_is(x, BTH_READ)) {
			const struct reth *reth = resp_ext(pkt, BTH_EXT_RETH);

			if (read_repeats(entry, pkt->psn, reth_get_va(reth), reth_get_rkey(reth),
					 reth_get_dma_len(reth), mtu))
				return entry;
		} else if (rdmarc_get_psn(entry) == pkt->psn) {
			return entry;
		}
	}
	return NULL;
}

/* --- READ --- */

static int read_check(struct resp_run *x, uint32_t pd)
{
	const struct reth *reth = resp_ext(x->pkt, BTH_EXT_RETH);
	struct access access = {.key = reth_get_rkey(reth),
				.va = reth_get_va(reth),
				.len = reth_get_dma_len(reth),
				.pd = pd,
				.rights = ACCESS_REMOTE_READ,
				.qpn = x->qp->qpn};

	/* A READ of length 0 is not checked (IBA 9.7.4.1.5). */
	return access.len ? translate_check(x->hca, &access, &x->r->waiter) : 0;
}

void read_pool_init(struct pool *pool, struct hca *hca)
{
	pool_init(pool, hca, sizeof(struct read_job), "reads to be answered");
}

/* Queues a READ to be answered. read_job_step() builds its response packets when their turn comes.
 * */
static void read_queue(struct resp_run *x, uint32_t pd, bool again)
{
	const struct reth *reth = resp_ext(x->pkt, BTH_EXT_RETH);
	struct read_queue *reads = &x->r->read_jobs;
	struct read_job *read = pool_take(&x->hca->responder->read_jobs);

	*read = (struct read_job){.va = reth_get_va(reth),
				  .ready_ps = x->pkt->ready_ps,
				  .rkey = reth_get_rkey(reth),
				  .pd = pd,
				  .left = reth_get_dma_len(reth),
				  .psn = x->pkt->psn,
				  .msn = qpc_get_msn(x->qpc),
				  .again = again};
	*(reads->first ? &reads->last->next : &reads->first) = read;
	reads->last = read;
	x->r->repeats += again;
	x->r->resources += !again;
	responses_acknowledge(x->qp);
	responses_pump(x->qp);
}

void read_job_end(struct qp *qp, struct read_job *read)
{
	struct read_queue *reads = &qp->receive.read_jobs;

	reads->first = read->next;
	if (!reads->first)
		reads->last = NULL;
	packet_queue_move(&qp->receive.out, &read->behind);
	pool_give(&qp->hca->responder->read_jobs, read);
}

static void read_arrived(struct dma *dma)
{
	struct packet *pkt = container_of(dma, struct packet, dma);
	struct qp *qp = pkt->owner;

	if (dma->status) {
		pkt->mark |= MARK_FAILED;
		pkt->verdict = VERDICT_CONTEXT;
	}
	if (pkt->ready_ps < dma->ready_ps)
		pkt->ready_ps = dma->ready_ps;
	pkt->mark |= MARK_READY;
	qp->receive.reads--;
	if (pkt->mark & MARK_LAST)
		qp->receive.read_messages--;
	responses_pump(qp);
	responder_settle(qp);
}

/* When the backlog of the lane, or of the path at its static rate, has shrunk to link.tx_window. */
static uint64_t port_wants_ps(struct hca *hca, const struct packet *pkt)
{
	uint64_t backlog = link_port_backlog_ps(hca, pkt->port, pkt->vl), of_path = 0;
	const uint64_t window = param_link_tx_window(hca->params);

	if (pkt->static_rate)
		of_path = static_rate_backlog_ps(
			hca, pkt->port,
			(uint16_t)lrh_get_dlid((const struct lrh *)(const void *)pkt->wire),
			pkt->static_rate);
	if (backlog < of_path)
		backlog = of_path;
	return hca_now(hca) + (backlog > window ? backlog - window : 0);
}

/* Queues a NAK in place of the READ's next response and abandons the rest of the READ. */
static void read_fail(struct qp *qp, struct read_job *read, enum verdict verdict)
{
	struct packet *pkt = packet_alloc(qp->hca);

	if (read->started)
		qp->receive.read_messages--;
	pkt->psn = read->psn;
	pkt->verdict = (uint8_t)verdict;
	pkt->mark = MARK_READY | MARK_FAILED;
	packet_queue_push(&qp->receive.out, pkt);
	read_job_end(qp, read);
}

/* Starts to read the payload of the response; the packet's fragments are set. */
static void read_ask(struct qp *qp, const struct read_job *read, struct packet *pkt, uint32_t len)
{
	const uint64_t at = port_wants_ps(qp->hca, pkt);

	pkt->mark &= (uint8_t)~MARK_READY;
	pkt->dma.buf = pkt->wire + pkt->payload_off;
	pkt->dma.len = len;
	pkt->dma.frags = pkt->frags;
	pkt->dma.n_frags = pkt->n_frags;
	pkt->dma.done = read_arrived;
	pkt->dma.at_ready = true; /* counts as under way until its bytes are in the device */
	pkt->dma.what = "payload";
	pkt->dma.corr = DMA_CORR_PSN | pkt->psn;
	pkt->dma.qpn = qp->qpn;
	qp->receive.reads++;
	if (!read->started)
		qp->receive.read_messages++;
	/* the port is the bottleneck, so the read need not queue in the gather unit */
	if (at > hca_now(qp->hca) && at > read->ready_ps)
		pcie_read_later(qp->hca, &pkt->dma, at);
	else
		gather_read(qp->hca, &pkt->dma, read->ready_ps);
}

bool read_job_has_room(const struct qp *qp, const struct read_job *read)
{
	const struct qp_receive *r = &qp->receive;
	const struct hca_params *p = qp->hca->params;

	return r->reads < param_responder_read_packets(p) &&
	       (read->started || r->read_messages < param_responder_read_dma(p));
}

bool read_job_step(struct qp *qp, struct read_job *read)
{
	struct qp_receive *r = &qp->receive;
	struct dma_frag frags[RESPONSE_FRAGS];
	struct access access = {.key = read->rkey,
				.va = read->va,
				.pd = read->pd,
				.rights = ACCESS_REMOTE_READ,
				.qpn = qp->qpn};
	struct packet *pkt;
	struct qpc *qpc;
	unsigned n_frags = 0;
	uint32_t mtu;
	bool last;
	int err = qp_context(qp, true, &r->out_waiter, &qpc);

	if (err == -EAGAIN)
		return false;
	if (err) {
		read_fail(qp, read, VERDICT_CONTEXT);
		return true;
	}
	mtu = ib_mtu_bytes((enum ib_mtu)qpc_get_mtu(qpc));
	last = read->left <= mtu;
	access.len = last ? read->left : mtu;
	err = access.len ? translate_access(qp->hca, &access, &r->out_waiter, frags, &n_frags,
					    RESPONSE_FRAGS)
			 : 0;
	if (err == -EAGAIN)
		return false;
	if (err) {
		read_fail(qp, read, resp_access_verdict(err, VERDICT_REM_ACCESS));
		return true;
	}
	pkt = response_new(qp, qpc,
			   read->started ? last ? BTH_RC_READ_RESP_LAST : BTH_RC_READ_RESP_MIDDLE
			   : last        ? BTH_RC_READ_RESP_ONLY
					 : BTH_RC_READ_RESP_FIRST,
			   read->psn, access.len, response_credits(qp, qpc), read->msn);
	pkt->ready_ps = read->ready_ps;
	if (last)
		pkt->mark |= read->again ? MARK_LAST | MARK_AGAIN : MARK_LAST;
	memcpy(pkt->frags, frags, n_frags * sizeof(frags[0]));
	pkt->n_frags = n_frags;
	qp->hca->stats.responder_read_responses++;
	packet_queue_push(&r->out, pkt);
	if (access.len)
		read_ask(qp, read, pkt, access.len);
	read->started = true;
	read->va += access.len;
	read->left -= access.len;
	read->psn = psn_add(read->psn, 1);
	if (last)
		read_job_end(qp, read);
	return true;
}

/* --- the responder's states --- */

static void entry_fill(struct resp_run *x, struct rdmarc *entry, uint32_t packets, uint64_t va,
		       uint32_t rkey)
{
	memset(entry, 0, sizeof(*entry));
	rdmarc_set_valid(entry, 1);
	rdmarc_set_npsn(entry, packets);
	rdmarc_set_opcode(entry, bth_get_opcode(resp_bth(x->pkt)));
	rdmarc_set_psn(entry, x->pkt->psn);
	rdmarc_set_msn(entry, qpc_get_msn(x->qpc));
	rdmarc_set_rkey(entry, rkey);
	rdmarc_set_va(entry, va);
}

/* The request is accepted: updates the context. Returns the request's slot in the ring. */
static unsigned fetch_advance(struct resp_run *x, uint32_t packets)
{
	struct qpc *qpc = x->qpc;
	unsigned slot = ring_take(qpc, ring_depth(x->hca, qpc));

	x->hca->stats.responder_packets++;
	qpc_set_next_rcv_psn(qpc, psn_add(x->pkt->psn, packets));
	qpc_set_msn(qpc, (qpc_get_msn(qpc) + 1) & MSN_MASK);
	qpc_set_rx_nak_sent(qpc, 0);
	context_changed(x->hca, CONTEXT_RESPONDER, x->qp->qpn);
	return slot;
}

static enum resp_state fetch_read(struct resp_run *x, uint32_t pd)
{
	const struct reth *reth = resp_ext(x->pkt, BTH_EXT_RETH);
	uint32_t length = reth_get_dma_len(reth), packets;
	struct rdmarc entry;
	unsigned slot;
	int err;

	/* Earlier atomics must have changed memory first (IBA 10.8.3.3). */
	if (x->r->atomics)
		return RESP_WAIT;
	err = read_check(x, pd);
	if (err == -EAGAIN)
		return RESP_WAIT;
	if (err)
		return resp_refuse(x, resp_access_verdict(err, VERDICT_REM_ACCESS));
	packets = read_packets(length, ib_mtu_bytes((enum ib_mtu)qpc_get_mtu(x->qpc)));
	slot = fetch_advance(x, packets);
	entry_fill(x, &entry, packets, reth_get_va(reth), reth_get_rkey(reth));
	rdmarc_set_length(&entry, length);
	resource_write(x->qp, slot, &entry);
	read_queue(x, pd, false);
	return RESP_DONE;
}

static enum resp_state fetch_atomic(struct resp_run *x, uint32_t pd)
{
	struct access access = {
		.len = ATOMIC_BYTES, .pd = pd, .rights = ACCESS_REMOTE_ATOMIC, .qpn = x->qp->qpn};
	struct atomic_operands op;
	struct rdmarc entry;
	struct packet *pkt;
	unsigned slot;
	int err;

	atomic_operands_get(x->pkt, &op, &access.va, &access.key);
	if (access.va % ATOMIC_BYTES)
		return resp_refuse(x, VERDICT_MISALIGNED);
	x->pkt->n_frags = 0;
	err = translate_access(x->hca, &access, &x->r->waiter, x->pkt->frags, &x->pkt->n_frags, 1);
	if (err == -EAGAIN)
		return RESP_WAIT;
	if (err)
		return resp_refuse(x, resp_access_verdict(err, VERDICT_REM_ACCESS));
	slot = fetch_advance(x, 1);
	pkt = response_new(x->qp, x->qpc, BTH_RC_ATOMIC_ACKNOWLEDGE, x->pkt->psn, 0,
			   response_credits(x->qp, x->qpc), qpc_get_msn(x->qpc));
	pkt->frags[0] = x->pkt->frags[0];
	pkt->n_frags = 1;
	entry_fill(x, &entry, 1, access.va, access.key);
	atomic_start(x, pkt, &op, &entry, slot);
	return RESP_DONE;
}

/* Gets the context for responder resources, once for each request: otherwise contexts that evict
 * each other could delay the request for ever. */
static int resources_get(struct resp_run *x)
{
	void *bytes;
	int err;

	if (x->pkt->mark & MARK_RESOURCES)
		return 0;
	err = context_get(x->hca, CONTEXT_READS, x->qp->qpn, &x->r->waiter, &bytes,
			  "responder resources");
	if (!err)
		x->pkt->mark |= MARK_RESOURCES;
	return err;
}

enum resp_state resp_fetch(struct resp_run *x)
{
	uint32_t pd;
	int err = resources_get(x);

	if (!err)
		err = resp_context(x);
	if (err)
		return resp_no_context(x, err);
	if (x->r->resources >= ring_depth(x->hca, x->qpc))
		return resp_refuse(x, VERDICT_TOO_MANY_READS);
	err = resp_rdma_pd(x, &pd);
	if (err)
		return err < 0 ? resp_no_context(x, err) : resp_refuse(x, (enum verdict)err);
	return resp_is(x, BTH_READ) ? fetch_read(x, pd) : fetch_atomic(x, pd);
}

/* Sends the saved result of an atomic again; memory is not accessed. */
static enum resp_state replay_atomic(struct resp_run *x, const struct rdmarc *entry)
{
	struct packet *pkt = response_new(x->qp, x->qpc, BTH_RC_ATOMIC_ACKNOWLEDGE, x->pkt->psn, 0,
					  response_credits(x->qp, x->qpc), qpc_get_msn(x->qpc));

	atomicacketh_set_original(
		(struct atomicacketh *)(void *)(pkt->wire + pkt->bth_off +
						pkt->op->at[BTH_EXT_ATOMICACKETH]),
		rdmarc_get_atomic_result(entry));
	x->hca->stats.atomic_read_replays++;
	HCA_TRACE(x->hca, TP_RESP_RESOURCE, .qpn = x->qp->qpn, .corr = x->pkt->psn,
		  .text = "replayed");
	ring_forget(x->qp);
	response_queue(x->qp, pkt);
	return RESP_DONE;
}

/* Executes a READ again, from the packet that the requester asks for (IBA 9.7.5). */
static enum resp_state replay_read(struct resp_run *x)
{
	uint32_t pd;
	int err;

	err = resp_rdma_pd(x, &pd);
	if (!err)
		err = read_check(x, pd);
	if (err == -EAGAIN)
		return RESP_WAIT;
	ring_forget(x->qp);
	if (err)
		return resp_refuse(x, err > 0 ? (enum verdict)err
					      : resp_access_verdict(err, VERDICT_REM_ACCESS));
	HCA_TRACE(x->hca, TP_RESP_RESOURCE, .qpn = x->qp->qpn, .corr = x->pkt->psn,
		  .text = "read again");
	read_queue(x, pd, true);
	return RESP_DONE;
}

enum resp_state resp_fetch_again(struct resp_run *x)
{
	unsigned depth = ring_depth(x->hca, x->qpc);
	const struct rdmarc *entry;

	if (!x->r->ring) {
		x->hca->stats.responder_duplicates++;
		if (x->r->repeats >= depth || !ring_ask(x, depth))
			return resp_refuse(x, VERDICT_DUPLICATE_GONE);
		return RESP_WAIT;
	}
	if (!x->r->ring->arrived)
		return RESP_WAIT;
	entry = x->r->ring->dma.status ? NULL : ring_find(x, depth);
	if (!entry) {
		ring_forget(x->qp);
		return resp_refuse(x, VERDICT_DUPLICATE_GONE);
	}
	return resp_is(x, BTH_READ) ? replay_read(x) : replay_atomic(x, entry);
}
