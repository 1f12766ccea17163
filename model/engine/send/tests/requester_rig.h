/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device with one QP, for tests of the requester. The QP's files and packets are real. What is
 * around them (PCIe, caches, CQs, link) are fakes in this file, which replace the device's own
 * functions. Bus address, virtual address and index into memory[] are the same number.
 */
#ifndef MODEL_ENGINE_TESTS_REQUESTER_RIG_H
#define MODEL_ENGINE_TESTS_REQUESTER_RIG_H

#include "model/engine/memory/context_cache.h"
#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/memory/icm.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/qp/qp.h"
#include "model/engine/send/requester_impl.h"
#include "model/engine/send/retry.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/memory_key.h"
#include "model/engine/memory/translate.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/sim/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	RIG_QPN = 0x245,
	RIG_PEER_LID = 2,
	RIG_PEER = 0x1234,
	RIG_CQN = 0x81,
	RIG_UAR = 129,
	RIG_LKEY = 0x4500,
	RIG_SQ = 0x10000,   /* address of the send queue */
	RIG_DATA = 0x40000, /* source and target of data */
	RIG_MEMORY = 0x100000,
	RIG_STRIDE = 128,
	RIG_WQES = 64,
	RIG_MTU = 1024,
	RIG_ACK_CODE = 8,
	RIG_DMA_PS = 500000, /* time of a read or write */
};

struct rig_packet {
	uint64_t at_ps, ready_ps;
	const struct bth_op *op;
	uint32_t psn, dqpn;
	bool ack_req, solicited, resent;
	struct reth reth;
	unsigned payload_len;
	uint8_t payload[PACKET_PAYLOAD];
};

struct rig {
	struct event_core core;
	struct hca hca;
	struct hca_params params;
	struct port_config port;
	struct qpc qpc;
	bool valid;
	bool miss; /* the next look-up of the context or of a translation has to be waited for */
	struct waiter_queue missing;
	struct event arrival;
	uint8_t memory[RIG_MEMORY];
	struct rig_packet sent[128];
	unsigned n_sent;
	struct cqe cqes[128];
	unsigned n_cqes, n_events, n_reads, n_errors;
	const char *rule; /* the rule that was broken last */
	uint8_t event;
	uint16_t posted;
	bool rested;
};

static struct rig *rig; /* the rig of the running test */

/* --- the device around the QP --- */

static void rig_guest_error(void *ctx, const struct guest_error *error)
{
	rig->n_errors++;
	rig->rule = error->name;
}

static void rig_arrival(struct event *ev)
{
	waiter_queue_wake(&rig->missing);
}

static bool rig_missed(struct waiter *w)
{
	if (!rig->miss)
		return false;
	rig->miss = false;
	waiter_queue_add(&rig->missing, w);
	rig->arrival.job = rig_arrival;
	event_set(&rig->core, &rig->arrival, rig->core.now_ps + RIG_DMA_PS);
	return true;
}

int context_get(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
		void **bytes, const char *why)
{
	if (rig_missed(w))
		return -EAGAIN;
	*bytes = &rig->qpc;
	return 0;
}

const void *context_peek(const struct hca *hca, enum context_use use, uint32_t number)
{
	return &rig->qpc;
}

int context_lease(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
		  void **bytes, const char *why)
{
	return context_get(hca, use, number, w, bytes, why);
}

void context_lease_end(void *bytes)
{
}

void context_changed(struct hca *hca, enum context_use use, uint32_t number)
{
}

void context_drop(struct hca *hca, enum context_use use, uint32_t number)
{
}

void context_flush(struct hca *hca, enum context_use use, uint32_t number, bool drop,
		   void (*done)(void *arg, int status), void *arg)
{
	done(arg, 0);
}

bool icm_object_valid(const struct hca *hca, unsigned table, uint32_t number)
{
	return rig->valid && number == RIG_QPN;
}

int translate_access(struct hca *hca, const struct access *a, struct waiter *w,
		     struct dma_frag *frags, unsigned *n, unsigned room)
{
	if (a->key != RIG_LKEY)
		return TRANSLATE_BAD_KEY;
	if (a->va + a->len > RIG_MEMORY)
		return TRANSLATE_BAD_RANGE;
	if (rig_missed(w))
		return -EAGAIN;
	if (*n == room)
		return -ENOSPC;
	frags[(*n)++] = (struct dma_frag){a->va, a->len};
	return 0;
}

int translate_queue(struct hca *hca, uint64_t mtt_addr, unsigned log_page_size, uint64_t offset,
		    struct waiter *w, uint64_t *bus, uint32_t *contiguous, uint32_t qpn)
{
	*bus = RIG_SQ + offset;
	*contiguous = 4096 - offset % 4096;
	return 0;
}

/* Used only for work requests that change keys, which these tests do not post. */
int icm_fragments(const struct hca *hca, uint64_t va, uint32_t len, struct dma_frag *frags,
		  unsigned room)
{
	fail();
	return -EFAULT;
}

int memory_key_bind(struct hca *hca, const struct key_user *user, const struct wqe_bind *bind,
		    struct waiter *w)
{
	fail();
	return -EFAULT;
}

int memory_key_invalidate(struct hca *hca, const struct key_user *user, uint32_t key,
			  struct waiter *w)
{
	fail();
	return -EFAULT;
}

int memory_key_register_check(struct hca *hca, const struct key_user *user,
			      const struct wqe_fast_reg *reg, struct waiter *w,
			      struct key_pages *pages)
{
	fail();
	return -EFAULT;
}

int memory_key_register(struct hca *hca, const struct key_user *user,
			const struct wqe_fast_reg *reg, struct waiter *w)
{
	fail();
	return -EFAULT;
}

static void rig_read(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);
	uint8_t *to = dma->buf;

	dma->status = 0;
	dma->ready_ps = rig->core.now_ps;
	for (unsigned i = 0; i < dma->n_frags; i++) {
		memcpy(to, rig->memory + dma->frags[i].bus, dma->frags[i].len);
		to += dma->frags[i].len;
	}
	dma->done(dma);
}

static void rig_write(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);
	const uint8_t *from = dma->buf;

	dma->status = 0;
	for (unsigned i = 0; i < dma->n_frags; i++) {
		memcpy(rig->memory + dma->frags[i].bus, from, dma->frags[i].len);
		from += dma->frags[i].len;
	}
	dma->done(dma);
}

void pcie_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	uint64_t from = earliest_ps > hca_now(hca) ? earliest_ps : hca_now(hca);

	rig->n_reads += !strcmp(dma->what, "wqe");
	dma->ev.job = rig_read;
	event_set(hca->core, &dma->ev, from + RIG_DMA_PS);
}

bool pcie_read_queues(const struct hca *hca, uint64_t at_ps)
{
	return false;
}

void pcie_read_later(struct hca *hca, struct dma *dma, uint64_t at_ps)
{
	pcie_read(hca, dma, at_ps);
}

static void rig_done_again(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);

	dma->done(dma);
}

void pcie_done_later(struct dma *dma, uint64_t at_ps)
{
	dma->ev.job = rig_done_again;
	event_set(dma->hca->core, &dma->ev, at_ps);
}

void pcie_write(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	uint64_t from = earliest_ps > hca_now(hca) ? earliest_ps : hca_now(hca);

	dma->ev.job = rig_write;
	event_set(hca->core, &dma->ev, from + RIG_DMA_PS);
}

void cqe_write_post(struct hca *hca, uint32_t cqn, const struct cqe *cqe, bool solicited,
		    uint64_t earliest_ps)
{
	if (cqn == RIG_CQN && rig->n_cqes < 128)
		rig->cqes[rig->n_cqes++] = *cqe;
}

void cqe_write_purge_qp(struct hca *hca, uint32_t qpn)
{
}

void event_queue_qp(struct hca *hca, uint8_t type, uint32_t qpn)
{
	rig->n_events++;
	rig->event = type;
}

uint64_t link_port_backlog_ps(struct hca *hca, unsigned port, unsigned vl)
{
	return 0;
}

void link_port_return_credits(struct hca *hca, struct packet *pkt)
{
}

uint64_t link_port_send(struct hca *hca, struct packet *pkt)
{
	struct rig_packet *to = &rig->sent[rig->n_sent < 127 ? rig->n_sent++ : 127];
	const struct bth *bth = (const struct bth *)(pkt->wire + pkt->bth_off);

	to->at_ps = hca_now(hca);
	to->ready_ps = pkt->ready_ps;
	to->op = pkt->op;
	to->psn = bth_get_psn(bth);
	to->dqpn = bth_get_dqpn(bth);
	to->ack_req = bth_get_ack_req(bth);
	to->solicited = bth_get_solicited(bth);
	to->resent = pkt->resent;
	if (bth_op_has(pkt->op, BTH_EXT_RETH))
		memcpy(&to->reth, pkt->wire + pkt->bth_off + pkt->op->at[BTH_EXT_RETH],
		       sizeof(to->reth));
	to->payload_len = pkt->payload_len;
	memcpy(to->payload, pkt->wire + pkt->payload_off, pkt->payload_len);
	packet_free(pkt);
	return hca_now(hca);
}

static void rig_half_nothing(struct qp *qp)
{
}

static void rig_half_state(struct qp *qp, unsigned state)
{
}

static bool rig_half_at_rest(const struct qp *qp)
{
	return true;
}

/* The receiving half of a QP that receives nothing. */
static const struct qp_half rig_responder_half = {
	.init = rig_half_nothing,
	.drop = rig_half_nothing,
	.invalidate = rig_half_nothing,
	.flush = rig_half_state,
	.resume = rig_half_state,
	.is_quiet = rig_half_at_rest,
	.is_idle = rig_half_at_rest,
	.only_looks = rig_half_at_rest,
};

/* --- what tests call --- */

static void rig_params(struct hca_params *p)
{
#define RIG_DEFAULT(section, key, unit, def, min, max, meaning, source) p->section##_##key = (def);
	HCA_PARAMS(RIG_DEFAULT)
#undef RIG_DEFAULT
}

static inline struct rig *rig_create(unsigned service)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct qp_path *path = qpc_primary(&r->qpc);

	rig = r;
	event_core_init(&r->core);
	rig_params(&r->params);
	r->hca.core = &r->core;
	r->hca.params = &r->params;
	r->hca.env.guest_error = rig_guest_error;
	r->hca.port_configs[0] = r->hca.port_configs[1] = &r->port;
	r->hca.packets = packet_pool_create(&r->hca);
	r->hca.qps = qp_table_create(&requester_half, &rig_responder_half);
	r->hca.scheduler = scheduler_create(&r->hca);
	r->hca.wqe_fetch = wqe_fetch_create(&r->hca);
	r->hca.retry = retry_create(&r->hca);
	r->port = (struct port_config){.lid = 1, .mtu = IB_MTU_2048, .pkeys = {0xffff}};
	r->valid = true;
	qpc_set_state(&r->qpc, QP_STATE_RTS);
	qpc_set_service(&r->qpc, service);
	qpc_set_pm_state(&r->qpc, QP_PM_MIGRATED);
	qpc_set_mtu(&r->qpc, IB_MTU_1024);
	qpc_set_log_msg_max(&r->qpc, 31);
	qpc_set_log_sq_size(&r->qpc, 6);
	qpc_set_log_sq_stride(&r->qpc, 3);
	qpc_set_usr_page(&r->qpc, RIG_UAR);
	qpc_set_local_qpn(&r->qpc, RIG_QPN);
	qpc_set_remote_qpn(&r->qpc, RIG_PEER);
	qpc_set_ack_req_freq(&r->qpc, 8);
	qpc_set_sra_max(&r->qpc, 2);
	qpc_set_retry_cnt(&r->qpc, 3);
	qpc_set_rnr_retry(&r->qpc, 2);
	qpc_set_cqn_send(&r->qpc, RIG_CQN);
	qpc_set_next_send_psn(&r->qpc, 0xfffffe);
	qp_path_set_rlid(path, RIG_PEER_LID);
	qp_path_set_ack_timeout(path, RIG_ACK_CODE);
	for (unsigned i = 0; i < RIG_MEMORY - RIG_DATA; i++)
		r->memory[RIG_DATA + i] = (uint8_t)(i * 7 + (i >> 8));
	for (unsigned i = 0; i < RIG_WQES; i++)
		be32_store(r->memory + RIG_SQ + i * RIG_STRIDE, 0xffffffff);
	return r;
}

/* Checks that everything that was allocated has been given back. */
static inline void rig_destroy(void)
{
	struct rig *r = rig;

	event_cancel(&r->core, &r->arrival);
	scheduler_reset(&r->hca);
	retry_reset(&r->hca);
	wqe_fetch_reset(&r->hca);
	qp_table_reset(&r->hca);
	assert_int_equal(packet_pool_in_use(&r->hca), 0);
	retry_destroy(r->hca.retry);
	wqe_fetch_destroy(r->hca.wqe_fetch);
	scheduler_destroy(r->hca.scheduler);
	qp_table_destroy(r->hca.qps);
	packet_pool_destroy(r->hca.packets);
	event_core_free(&r->core);
	free(r);
}

static inline void rig_run_us(unsigned us)
{
	event_core_run_until(&rig->core, rig->core.now_ps + us * UINT64_C(1000000));
}

struct rig_wqe {
	unsigned opcode;
	bool unsignalled, fence, solicited;
	uint64_t va; /* remote address; the rkey is 0x7700 */
	struct {
		uint32_t len, lkey;
		uint64_t addr;
		const char *in_line;
	} sge[3];
	unsigned n_sge;
	uint64_t operand[2];
	const struct wqe_datagram *datagram;
};

/* Writes the next WQE, with the owner bit last as a driver does. Returns its bytes in memory. */
static inline uint8_t *rig_write_wqe(const struct rig_wqe *w)
{
	uint16_t index = rig->posted++;
	uint8_t *wqe = rig->memory + RIG_SQ + index % RIG_WQES * RIG_STRIDE, *at = wqe + 16;
	struct wqe_ctrl *ctrl = (struct wqe_ctrl *)wqe;
	bool remote = w->opcode != WQE_SEND && w->opcode != WQE_SEND_IMM && w->opcode != WQE_NOP;

	memset(wqe + 4, 0, RIG_STRIDE - 4);
	if (w->datagram) {
		memcpy(at, w->datagram, sizeof(*w->datagram));
		at += sizeof(*w->datagram);
	}
	if (remote) {
		wqe_raddr_set_va((struct wqe_raddr *)at, w->va);
		wqe_raddr_set_rkey((struct wqe_raddr *)at, 0x7700);
		at += 16;
	}
	if (w->opcode == WQE_ATOMIC_CS || w->opcode == WQE_ATOMIC_FA) {
		be64_store(at, w->operand[0]);
		be64_store(at + 8, w->operand[1]);
		at += 16;
	}
	for (unsigned i = 0; i < w->n_sge; i++) {
		if (w->sge[i].in_line) {
			be32_store(at, 0x80000000u | w->sge[i].len);
			memcpy(at + 4, w->sge[i].in_line, w->sge[i].len);
			at += (4 + w->sge[i].len + 15) / 16 * 16;
			continue;
		}
		be32_store(at, w->sge[i].len);
		be32_store(at + 4, w->sge[i].lkey ? w->sge[i].lkey : RIG_LKEY);
		be64_store(at + 8, w->sge[i].addr);
		at += 16;
	}
	wqe_ctrl_set_ds(ctrl, (unsigned)(at - wqe) / 16);
	wqe_ctrl_set_fence(ctrl, w->fence);
	wqe_ctrl_set_cqe(ctrl, w->unsignalled ? 0 : 3);
	wqe_ctrl_set_solicited(ctrl, w->solicited);
	be32_store(wqe, (index & RIG_WQES ? 0x80000000u : 0) | w->opcode);
	return wqe;
}

static inline void rig_post(const struct rig_wqe *w)
{
	rig_write_wqe(w);
	scheduler_doorbell(&rig->hca, RIG_QPN, RIG_UAR);
}

/* Delivers a response: with an AETH syndrome, the data of a READ, or the original value of an
 * atomic. */
static inline void rig_answer(uint8_t opcode, uint32_t psn, uint8_t syndrome, uint32_t msn,
			      const void *data, unsigned len, uint64_t original)
{
	struct packet_path path = {.port = 1, .dlid = 1};
	struct packet_headers h = {.opcode = opcode,
				   .dest_qpn = RIG_QPN,
				   .pkey = PKEY_DEFAULT,
				   .mig_req = true,
				   .psn = psn,
				   .aeth = {syndrome, msn},
				   .atomic_ack = original};
	struct packet *pkt = packet_alloc(&rig->hca);

	memcpy(packet_payload(pkt), data ? data : "", len);
	packet_build(&rig->hca, pkt, &path, &h, len);
	lrh_set_slid((struct lrh *)pkt->wire, RIG_PEER_LID);
	requester_response(qp_make(&rig->hca, RIG_QPN), pkt);
}

/* An ACK without a credit count. */
static inline void rig_ack(uint32_t psn)
{
	rig_answer(BTH_RC_ACKNOWLEDGE, psn, aeth_syndrome(AETH_ACK, AETH_CREDIT_NONE), 0, NULL, 0,
		   0);
}

static inline void rig_nak(uint32_t psn, enum nak_code code)
{
	rig_answer(BTH_RC_ACKNOWLEDGE, psn, aeth_syndrome(AETH_NAK, code), 0, NULL, 0, 0);
}

static inline void rig_expect(unsigned n, uint8_t opcode, uint32_t psn)
{
	assert_true(n < rig->n_sent);
	assert_string_equal(rig->sent[n].op->name, bth_op_find(opcode)->name);
	assert_int_equal(rig->sent[n].psn, psn);
}

/* Checks CQE n: WQE index, and WQE opcode or, if it failed, the syndrome. */
static inline void rig_expect_cqe(unsigned n, uint16_t index, unsigned opcode, unsigned syndrome)
{
	const struct cqe *cqe = &rig->cqes[n];

	assert_true(n < rig->n_cqes);
	assert_int_equal(cqe_get_wqe_index(cqe), index);
	assert_int_equal(cqe_get_my_qpn(cqe), RIG_QPN);
	assert_true(cqe_get_is_send(cqe));
	assert_int_equal(cqe_get_opcode(cqe), syndrome ? CQE_OP_ERROR : opcode);
	if (syndrome)
		assert_int_equal(cqe_err_get_syndrome(cqe_as_err_const(cqe)), syndrome);
}

#endif
