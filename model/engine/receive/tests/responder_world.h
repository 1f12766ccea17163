/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The responder alone, with fake neighbours. Each does the simplest right thing and notes what it
 * was asked. Memory is WORLD_BYTES at bus address WORLD_BASE. Virtual addresses are bus addresses,
 * and key KEY_GOOD allows access to all of it. Include it in only one file of a test: it defines
 * the neighbours' functions.
 */
#ifndef MODEL_ENGINE_TESTS_RESPONDER_WORLD_H
#define MODEL_ENGINE_TESTS_RESPONDER_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/engine/receive/atomic_read.h"
#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/memory/icm.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/receive/responder_impl.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/translate.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/interface/macros.h"
#include "model/sim/params.h"

enum {
	WORLD_BASE = 0x10000,
	WORLD_BYTES = 0x10000,
	WORLD_QPN = 0x000045,
	WORLD_SRQN = 0x000012,
	WORLD_PEER = 0x000777,
	WORLD_PEER_LID = 9,
	WORLD_MTU = 256,
	WORLD_RECORD = WORLD_BASE,         /* doorbell record */
	WORLD_RINGS = WORLD_BASE + 0x1000, /* RDMARC table */
	WORLD_QUEUE = WORLD_BASE + 0x2000, /* receive queue */
	WORLD_DATA = WORLD_BASE + 0x4000,
	WORLD_STRIDE = 64,
	WORLD_DMA_PS = 1000,
	KEY_GOOD = 0x1100,
	KEY_BAD = 0x2200,
	LOG = 256,
};

struct world {
	struct event_core core;
	struct hca_params params;
	struct hca hca;
	struct port_config port;
	uint32_t ports_changed; /* one bit for each port number */
	struct qp qp;
	struct qpc qpc;
	struct srqc srqc;
	uint8_t memory[WORLD_BYTES];
	int packets; /* number that are allocated */
	int leases;  /* open leases of the context */
	struct packet *sent[LOG];
	unsigned n_sent;
	struct cqe cqes[LOG];
	uint32_t cqns[LOG];
	bool solicited[LOG];
	unsigned n_cqes;
	uint8_t events[LOG];
	unsigned n_events;
	unsigned errors; /* number of calls of qp_error() */
	uint32_t asked_qpn;
	struct qp *other_qp; /* whatever the number that is asked for */
	unsigned guest_errors;
	bool delay; /* the next translation has to be waited for */
	struct waiter_queue waiting;
	struct event wake;
};

static struct world *w;

static uint8_t *at(uint64_t bus)
{
	return w->memory + (bus - WORLD_BASE);
}

/* --- neighbours --- */

struct packet *packet_alloc(struct hca *hca)
{
	struct packet *pkt = calloc(1, sizeof(*pkt));

	pkt->hca = hca;
	pkt->mark = 0xff; /* left over from the last owner */
	w->packets++;
	return pkt;
}

void packet_free(struct packet *pkt)
{
	w->packets--;
	free(pkt);
}

static void lay_out(struct packet *pkt, uint8_t opcode, uint32_t psn, unsigned len, bool grh)
{
	pkt->op = bth_op_find(opcode);
	pkt->wire = packet_payload(pkt) - bth_op_header_bytes(pkt->op, grh);
	pkt->l3_off = grh ? LRH_BYTES : 0;
	pkt->bth_off = (uint16_t)(LRH_BYTES + (grh ? GRH_BYTES : 0));
	pkt->payload_off = (uint16_t)(packet_payload(pkt) - pkt->wire);
	pkt->payload_len = (uint16_t)len;
	pkt->psn = psn;
	pkt->port = 1;
	bth_set_opcode((struct bth *)(pkt->wire + pkt->bth_off), opcode);
	bth_set_psn((struct bth *)(pkt->wire + pkt->bth_off), psn);
}

void packet_build(struct hca *hca, struct packet *pkt, const struct packet_path *path,
		  const struct packet_headers *h, unsigned payload_len)
{
	lay_out(pkt, h->opcode, h->psn, payload_len, path->grh);
	bth_set_dqpn((struct bth *)(pkt->wire + pkt->bth_off), h->dest_qpn);
	bth_set_pkey((struct bth *)(pkt->wire + pkt->bth_off), h->pkey);
	if (bth_op_has(pkt->op, BTH_EXT_AETH)) {
		struct aeth *aeth = (void *)(pkt->wire + pkt->bth_off + pkt->op->at[BTH_EXT_AETH]);

		aeth_set_syndrome(aeth, h->aeth.syndrome);
		aeth_set_msn(aeth, h->aeth.msn);
	}
}

void packet_seal(struct hca *hca, struct packet *pkt)
{
}

static void port_changed(struct hca *hca, unsigned port)
{
	w->ports_changed |= 1u << port;
}

static const struct hca_calls world_calls = {.port_changed = port_changed};

uint64_t packet_traits(const struct packet *pkt)
{
	return 0;
}

uint64_t link_port_send(struct hca *hca, struct packet *pkt)
{
	assert_true(w->n_sent < LOG);
	w->sent[w->n_sent++] = pkt;
	return hca_now(hca);
}

void scheduler_response(struct hca *hca, unsigned port)
{
}

uint64_t link_port_backlog_ps(struct hca *hca, unsigned port, unsigned vl)
{
	return 0;
}

static void dma_move(struct dma *dma, bool write)
{
	uint8_t *buf = dma->buf;

	for (unsigned i = 0; i < dma->n_frags; i++) {
		const struct dma_frag *f = &dma->frags[i];

		if (f->bus < WORLD_BASE || f->bus + f->len > WORLD_BASE + WORLD_BYTES) {
			dma->status = -EFAULT;
			return;
		}
		if (write)
			memcpy(at(f->bus), buf, f->len);
		else
			memcpy(buf, at(f->bus), f->len);
		buf += f->len;
	}
	dma->status = 0;
}

static void dma_read_job(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);

	dma_move(dma, false);
	dma->ready_ps = w->core.now_ps;
	dma->done(dma);
}

static void dma_write_job(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);

	dma_move(dma, true);
	dma->ready_ps = w->core.now_ps;
	dma->done(dma);
}

static void dma_start(struct dma *dma, uint64_t earliest_ps, void (*job)(struct event *ev))
{
	uint64_t start = earliest_ps > w->core.now_ps ? earliest_ps : w->core.now_ps;

	dma->ev.job = job;
	event_set(&w->core, &dma->ev, start + WORLD_DMA_PS);
}

void pcie_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	dma_start(dma, earliest_ps, dma_read_job);
}

bool pcie_read_queues(const struct hca *hca, uint64_t at_ps)
{
	return false;
}

void pcie_read_later(struct hca *hca, struct dma *dma, uint64_t at_ps)
{
	pcie_read(hca, dma, at_ps);
}

void pcie_write(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	dma_start(dma, earliest_ps, dma_write_job);
}

void pcie_write_small(struct hca *hca, uint64_t bus, const void *bytes, uint32_t len,
		      const char *what, uint32_t qpn, void (*done)(void *arg, int status),
		      void *arg)
{
	memcpy(at(bus), bytes, len);
}

static int env_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	memcpy(at(bus), buf, len);
	return 0;
}

static int access_check(const struct access *a)
{
	if (a->key != KEY_GOOD)
		return TRANSLATE_BAD_KEY;
	if (a->va < WORLD_BASE || a->va + a->len > WORLD_BASE + WORLD_BYTES)
		return TRANSLATE_BAD_RANGE;
	return 0;
}

static void wake_job(struct event *ev)
{
	waiter_queue_wake(&w->waiting);
}

int translate_access(struct hca *hca, const struct access *a, struct waiter *waiter,
		     struct dma_frag *frags, unsigned *n, unsigned room)
{
	int err = access_check(a);

	if (w->delay) {
		w->delay = false;
		waiter_queue_add(&w->waiting, waiter);
		w->wake.job = wake_job;
		event_set(&w->core, &w->wake, w->core.now_ps + WORLD_DMA_PS);
		return -EAGAIN;
	}
	if (!err)
		frags[(*n)++] = (struct dma_frag){.bus = a->va, .len = a->len};
	return err;
}

int translate_check(struct hca *hca, const struct access *a, struct waiter *waiter)
{
	return access_check(a);
}

int translate_queue(struct hca *hca, uint64_t mtt_addr, unsigned log_page_size, uint64_t offset,
		    struct waiter *waiter, uint64_t *bus, uint32_t *contiguous, uint32_t qpn)
{
	fail(); /* never called: wqe_fetch_receive() is a fake here */
	return -EFAULT;
}

int translate_mpt_get(struct hca *hca, uint32_t key, struct waiter *waiter, struct mpt **mpt)
{
	return TRANSLATE_BAD_KEY;
}

struct mpt_entry *mpt_bytes(struct mpt *mpt)
{
	return NULL;
}

void translate_mpt_changed(struct hca *hca, uint32_t key)
{
}

int context_get(struct hca *hca, enum context_use use, uint32_t number, struct waiter *waiter,
		void **bytes, const char *why)
{
	if (use == CONTEXT_READS) {
		assert_int_equal(number, w->qp.qpn);
		*bytes = &w->qpc;
		return 0;
	}
	assert_int_equal(use, CONTEXT_SRQ);
	*bytes = &w->srqc;
	return number == WORLD_SRQN ? 0 : -ENOENT;
}

void context_changed(struct hca *hca, enum context_use use, uint32_t number)
{
}

void context_lease_end(void *bytes)
{
	w->leases--;
}

int qp_context(struct qp *qp, bool responder, struct waiter *waiter, struct qpc **qpc)
{
	*qpc = &w->qpc;
	return 0;
}

int qp_lease(struct qp *qp, bool responder, struct waiter *waiter, struct qpc **qpc)
{
	w->leases++;
	return qp_context(qp, responder, waiter, qpc);
}

void qp_packet_path(struct hca *hca, const struct qpc *qpc, struct packet_path *out)
{
	memset(out, 0, sizeof(*out));
	out->port = 1;
	out->dlid = (uint16_t)qp_path_get_rlid(qpc_primary_const(qpc));
}

void qp_settle(struct qp *qp)
{
}

/* Another QP that a frame is given to. */
struct qp *qp_make(struct hca *hca, uint32_t qpn)
{
	w->asked_qpn = qpn;
	return w->other_qp;
}

bool qp_only_looks(const struct qp *qp)
{
	return responder_half.only_looks(qp);
}

void qp_path_changed(struct qp *qp, const struct qpc *qpc)
{
	fail(); /* no QP of these tests migrates */
}

void qp_error(struct qp *qp, unsigned state, uint8_t event_type)
{
	w->errors++;
	qpc_set_state(&w->qpc, state);
	if (event_type)
		w->events[w->n_events++] = event_type;
	responder_half.flush(qp, QP_STATE_ERR);
}

void cqe_write_post(struct hca *hca, uint32_t cqn, const struct cqe *cqe, bool solicited,
		    uint64_t earliest_ps)
{
	assert_true(w->n_cqes < LOG);
	w->cqns[w->n_cqes] = cqn;
	w->solicited[w->n_cqes] = solicited;
	w->cqes[w->n_cqes++] = *cqe;
}

void cqe_write_last_wqe(struct hca *hca, uint32_t cqn, uint32_t qpn)
{
	w->events[w->n_events++] = EVENT_SRQ_QP_LAST_WQE;
}

void event_queue_qp(struct hca *hca, uint8_t type, uint32_t qpn)
{
	w->events[w->n_events++] = type;
}

void event_queue_post(struct hca *hca, const struct eqe *eqe, void (*done)(void *arg), void *arg)
{
	w->events[w->n_events++] = (uint8_t)eqe_get_type(eqe);
}

int wqe_fetch_receive(struct hca *hca, const struct receive_slot *slot, bool again,
		      struct waiter *waiter, const uint8_t **wqe)
{
	*wqe = at(WORLD_QUEUE + slot->offset);
	return 0;
}

uint64_t icm_entry(const struct hca *hca, unsigned table, uint32_t number)
{
	return WORLD_RINGS + (number % 16) * sizeof(struct rdmarc);
}

int icm_fragments(const struct hca *hca, uint64_t va, uint32_t len, struct dma_frag *frags,
		  unsigned room)
{
	frags[0] = (struct dma_frag){.bus = va, .len = len};
	return 1;
}

bool icm_object_valid(const struct hca *hca, unsigned table, uint32_t number)
{
	return true;
}

static void env_guest_error(void *ctx, const struct guest_error *error)
{
	w->guest_errors++;
}

/* --- building the world --- */

static int world_setup(void **state)
{
	struct qp_path *path;

	w = calloc(1, sizeof(*w));
	event_core_init(&w->core);
	w->core.foreign_only = true;
	w->hca.core = &w->core;
	w->hca.params = &w->params;
	w->hca.calls = &world_calls;
	w->hca.port_configs[0] = w->hca.port_configs[1] = &w->port;
	w->hca.env.dma_write = env_write;
	w->hca.env.guest_error = env_guest_error;
	w->hca.tables[FW_TABLE_QPC].log_num = 4;
	w->hca.tables[FW_TABLE_RDMARC].log_num = 2;
	w->params.responder_ack_coalesce = 4;
	w->params.responder_ack_delay = 5000;
	w->params.responder_read_dma = 2;
	w->params.responder_read_packets = 4;
	w->params.responder_flush_poll = 1000;
	w->params.responder_flush_poll_max = 4000;
	w->params.hca_memory = 1 << 20;
	w->hca.responder = responder_create(&w->hca);
	w->port.pkeys[0] = 0xffff;
	w->port.pkeys[3] = 0x8123;
	w->qp.hca = &w->hca;
	w->qp.qpn = WORLD_QPN;
	responder_half.init(&w->qp);
	qpc_set_state(&w->qpc, QP_STATE_RTS);
	qpc_set_service(&w->qpc, QP_ST_RC);
	qpc_set_pm_state(&w->qpc, QP_PM_MIGRATED);
	qpc_set_mtu(&w->qpc, IB_MTU_256);
	qpc_set_log_rq_size(&w->qpc, 4);
	qpc_set_log_rq_stride(&w->qpc, 2);
	qpc_set_log_sq_stride(&w->qpc, 0);
	qpc_set_db_rec_addr(&w->qpc, WORLD_RECORD);
	qpc_set_remote_qpn(&w->qpc, WORLD_PEER);
	qpc_set_rra_max(&w->qpc, 2);
	qpc_set_rre(&w->qpc, 1);
	qpc_set_rwe(&w->qpc, 1);
	qpc_set_rae(&w->qpc, 1);
	qpc_set_cqn_recv(&w->qpc, 0x33);
	qpc_set_min_rnr_timer(&w->qpc, 12);
	qpc_set_next_rcv_psn(&w->qpc, 0xfffffe);
	path = qpc_primary(&w->qpc);
	qp_path_set_rlid(path, WORLD_PEER_LID);
	*state = w;
	return 0;
}

/* Checks that every packet and lease has been given back. */
static int world_teardown(void **state)
{
	responder_half.drop(&w->qp);
	responder_reset(&w->hca);
	responder_destroy(w->hca.responder);
	assert_int_equal(w->hca.memory.bytes, 0);
	for (unsigned i = 0; i < w->n_sent; i++)
		packet_free(w->sent[i]);
	assert_int_equal(w->packets, 0);
	assert_int_equal(w->leases, 0);
	event_core_free(&w->core);
	free(w);
	return 0;
}

static inline void segment(uint8_t *wqe, unsigned n, uint64_t addr, uint32_t len, uint32_t lkey)
{
	struct wqe_data *data = (struct wqe_data *)(void *)(wqe + n * WQE_UNIT);

	memset(data, 0, sizeof(*data));
	wqe_data_set_byte_count(data, len);
	wqe_data_set_lkey(data, lkey);
	wqe_data_set_addr(data, addr);
}

/* Writes receive WQE `index` with one buffer. The caller writes the doorbell record. */
static inline void receive_make(unsigned index, uint64_t addr, uint32_t len)
{
	uint8_t *wqe = at(WORLD_QUEUE + (uint64_t)(index % 16) * WORLD_STRIDE);

	segment(wqe, 0, addr, len, KEY_GOOD);
	segment(wqe, 1, 0, 0, LKEY_INVALID);
}

static inline void receives_posted(uint16_t count)
{
	be32_store(at(WORLD_RECORD), count);
}

static inline struct packet *request(uint8_t opcode, uint32_t psn, unsigned len, bool ack_req)
{
	struct packet *pkt = packet_alloc(&w->hca);

	lay_out(pkt, opcode, psn & PSN_MASK, len, false);
	lrh_set_slid((struct lrh *)pkt->wire, WORLD_PEER_LID);
	bth_set_pkey((struct bth *)(pkt->wire + pkt->bth_off), PKEY_DEFAULT);
	bth_set_ack_req((struct bth *)(pkt->wire + pkt->bth_off), ack_req);
	for (unsigned i = 0; i < len; i++)
		packet_payload(pkt)[i] = (uint8_t)(psn * 31 + i + 1);
	return pkt;
}

static inline struct packet *with_reth(struct packet *pkt, uint64_t va, uint32_t rkey, uint32_t len)
{
	struct reth *reth = (void *)(pkt->wire + pkt->bth_off + pkt->op->at[BTH_EXT_RETH]);

	reth_set_va(reth, va);
	reth_set_rkey(reth, rkey);
	reth_set_dma_len(reth, len);
	return pkt;
}

static inline void run(void)
{
	while (w->core.count)
		event_core_step(&w->core);
}

/* Hands packets over and runs until nothing is left to do. */
static inline void give(struct packet *pkt)
{
	responder_request(&w->qp, pkt);
	run();
}

static inline const struct aeth *sent_aeth(unsigned i)
{
	assert_true(i < w->n_sent);
	return resp_ext(w->sent[i], BTH_EXT_AETH);
}

static inline void assert_response(unsigned i, uint8_t opcode, uint32_t psn, uint8_t kind,
				   uint8_t code)
{
	uint32_t syndrome = aeth_get_syndrome(sent_aeth(i));

	assert_int_equal(bth_get_opcode(resp_bth(w->sent[i])), opcode);
	assert_int_equal(w->sent[i]->psn, psn & PSN_MASK);
	assert_int_equal(syndrome >> 5, kind);
	assert_int_equal(syndrome & 0x1f, code);
	assert_int_equal(bth_get_dqpn(resp_bth(w->sent[i])), WORLD_PEER);
}

#endif
