/* SPDX-License-Identifier: Apache-2.0 */
/* See doorbell.h. */
#include "model/engine/chip/doorbell.h"

#include "model/engine/complete/cqe_write.h"
#include "model/engine/base/engine.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/receive/responder.h"
#include "model/engine/send/scheduler.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/sim/params/hca_doorbell.h"

#include <stdlib.h>
#include <string.h>

enum {
	BF_BUF_MAX = 512, /* buffer size of the largest BlueFlame register, which has 1 KiB */
	BF_HEAD = 8,      /* bytes that name QPN, index and length */
	BUFS_PER_REG = 2,
	/* bits of the doorbells that no field of model/interface/regs.h has */
	SEND_DB_RESERVED = 0xff,
	EQ_DB_RESERVED = 0x7f000000,
};

#define CQ_ARM_RESERVED UINT32_C(0xc8000000)

/* A BlueFlame buffer that is being written. */
struct blueflame_gather {
	uint32_t uar, buffer;
	unsigned filled;
	bool open;  /* the WQE is not complete yet */
	bool taken; /* the WQE is complete; further writes to its last 64 bytes are padding */
	uint8_t bytes[BF_BUF_MAX];
};

struct doorbell {
	struct hca *hca;
	/* The first half of a UAR page's CQ doorbell. 32-bit hosts write 0x20, then 0x24. arm_half:
	 * only the first half has come. */
	uint32_t arm_high[HCA_UAR_PAGES];
	bool arm_half[HCA_UAR_PAGES];
	struct blueflame_gather *gathers;
	/* By BlueFlame register: 1 + its buffer that was written last; 0: none. */
	uint8_t *last_buffer;
};

static size_t bf_regs(const struct hca *hca)
{
	return (size_t)HCA_UAR_PAGES << param_doorbell_log_bf_regs(hca->params);
}

struct doorbell *doorbell_create(struct hca *hca)
{
	struct doorbell *db = memory_create(1, sizeof(*db), "doorbells");

	db->hca = hca;
	db->gathers = memory_create(param_doorbell_bf_gathers(hca->params), sizeof(*db->gathers),
				    "doorbells");
	db->last_buffer = memory_create(bf_regs(hca), sizeof(*db->last_buffer), "doorbells");
	return db;
}

void doorbell_destroy(struct doorbell *doorbell)
{
	if (!doorbell)
		return;
	free(doorbell->last_buffer);
	free(doorbell->gathers);
	free(doorbell);
}

void doorbell_reset(struct hca *hca)
{
	struct doorbell *db = hca->doorbell;

	memset(db->arm_half, 0, sizeof(db->arm_half));
	memset(db->last_buffer, 0, bf_regs(hca));
	for (uint64_t i = 0; i < param_doorbell_bf_gathers(hca->params); i++)
		db->gathers[i].open = db->gathers[i].taken = false;
}

/* --- UAR pages --- */

static void send_ring(struct hca *hca, uint32_t uar, const void *bytes)
{
	struct send_db db;
	uint32_t qpn;

	memcpy(&db, bytes, sizeof(db));
	qpn = send_db_get_qpn(&db);
	if (be32_load(db.b) & SEND_DB_RESERVED)
		guest_error(hca, RULE_doorbell_reserved, guest_object(GUEST_QP, qpn),
			    "send doorbell %08x: bits [7:0] are reserved", be32_load(db.b));
	hca->stats.doorbell_sends++;
	HCA_TRACE(hca, TP_DOORBELL_SEND, .qpn = qpn, .args = {uar});
	scheduler_doorbell(hca, qpn, uar);
}

static void arm_ring(struct hca *hca, uint32_t uar, uint32_t high, uint32_t low)
{
	struct cq_arm_db db;

	be32_store(db.b, high);
	be32_store(db.b + sizeof(high), low);
	hca->stats.doorbell_cq_arms++;
	HCA_TRACE(hca, TP_DOORBELL_CQ_ARM,
		  .args = {cq_arm_db_get_cqn(&db), cq_arm_db_get_ci(&db), cq_arm_db_get_sn(&db),
			   cq_arm_db_get_cmd(&db) == CQ_ARM_SOLICITED});
	if (high & CQ_ARM_RESERVED || low >> 24 ||
	    (cq_arm_db_get_cmd(&db) != CQ_ARM_SOLICITED && cq_arm_db_get_cmd(&db) != CQ_ARM_NEXT))
		guest_error(hca, RULE_doorbell_reserved,
			    guest_object(GUEST_CQ, cq_arm_db_get_cqn(&db)),
			    "CQ doorbell %08x %08x: reserved bits, or a command other than 1 and 2",
			    high, low);
	responder_cq_armed(hca, cq_arm_db_get_cqn(&db));
	cqe_write_arm(hca, cq_arm_db_get_cqn(&db), cq_arm_db_get_sn(&db), cq_arm_db_get_cmd(&db),
		      cq_arm_db_get_ci(&db), uar);
}

static void eq_ring(struct hca *hca, uint32_t uar, uint32_t k, const void *bytes)
{
	const uint32_t eqn = uar * UAR_EQS_PER_PAGE + k;
	struct eq_db db;

	memcpy(&db, bytes, sizeof(db));
	if (be32_load(db.b) & EQ_DB_RESERVED)
		guest_error(hca, RULE_doorbell_reserved, guest_object(GUEST_EQ, eqn),
			    "EQ doorbell %08x: bits [30:24] are reserved", be32_load(db.b));
	hca->stats.doorbell_eq_updates++;
	HCA_TRACE(hca, TP_DOORBELL_EQ_CI, .args = {eqn, eq_db_get_ci(&db), eq_db_get_arm(&db)});
	event_queue_doorbell(hca, eqn, eq_db_get_ci(&db), eq_db_get_arm(&db));
}

static void bad_size(struct hca *hca, uint32_t uar, uint32_t reg, unsigned size)
{
	guest_error(hca, RULE_register_size, guest_object(GUEST_UAR, uar),
		    "write of %u bytes at %x of uar page %u", size, reg, uar);
}

static void cq_arm_write(struct hca *hca, uint32_t uar, uint32_t reg, const uint8_t *bytes,
			 unsigned size)
{
	struct doorbell *db = hca->doorbell;

	if (size == sizeof(struct cq_arm_db)) {
		db->arm_half[uar] = false;
		arm_ring(hca, uar, be32_load(bytes), be32_load(bytes + sizeof(uint32_t)));
	} else if (size != sizeof(uint32_t)) {
		bad_size(hca, uar, reg, size);
	} else if (reg == UAR_CQ_ARM) {
		db->arm_half[uar] = true;
		db->arm_high[uar] = be32_load(bytes);
	} else if (db->arm_half[uar]) {
		db->arm_half[uar] = false;
		arm_ring(hca, uar, db->arm_high[uar], be32_load(bytes));
	} else {
		guest_error(hca, RULE_register_size, guest_object(GUEST_UAR, uar),
			    "second half of the cq doorbell of uar page %u without the first", uar);
	}
}

static void uar_write(struct hca *hca, uint32_t uar, uint32_t reg, const uint8_t *bytes,
		      unsigned size)
{
	const uint32_t k = (reg - UAR_EQ_DB) / UAR_EQ_DB_STRIDE;
	/* Software that stores 64 bits also writes the dword before the doorbell. */
	const uint32_t wide = UAR_SEND_DB - sizeof(struct send_db);

	if (reg == UAR_SEND_DB || (reg == wide && size == 2 * sizeof(struct send_db))) {
		if (reg == UAR_SEND_DB && size != sizeof(struct send_db))
			bad_size(hca, uar, reg, size);
		else
			send_ring(hca, uar, bytes + (UAR_SEND_DB - reg));
	} else if (reg == UAR_CQ_ARM ||
		   (reg == UAR_CQ_ARM + sizeof(uint32_t) && size == sizeof(uint32_t))) {
		cq_arm_write(hca, uar, reg, bytes, size);
	} else if (reg >= UAR_EQ_DB && k < UAR_EQS_PER_PAGE && reg % UAR_EQ_DB_STRIDE == 0) {
		if (size == sizeof(struct eq_db))
			eq_ring(hca, uar, k, bytes);
		else
			bad_size(hca, uar, reg, size);
	} else {
		guest_error(hca, RULE_register_unknown, guest_object(GUEST_UAR, uar),
			    "write of %u bytes at %x of uar page %u", size, reg, uar);
	}
}

/* --- BlueFlame --- */

/* Each UAR page has two gathers, because software writes the two buffers of one register in turn.
 * The further registers of a page share the gathers of later pages. */
static struct blueflame_gather *gather_find(struct hca *hca, uint32_t uar, uint32_t buffer)
{
	return &hca->doorbell->gathers[(uar * BUFS_PER_REG + buffer) %
				       param_doorbell_bf_gathers(hca->params)];
}

/* The written lines do not make a WQE. It is fetched from memory, where software has also stored
 * it. */
static void gather_fail(struct hca *hca, struct blueflame_gather *g, const char *why)
{
	const struct wqe_ctrl *ctrl = (const struct wqe_ctrl *)(const void *)g->bytes;

	g->open = false;
	if (g->filled < BF_HEAD) {
		guest_error(hca, RULE_blueflame_mismatch, guest_object(GUEST_UAR, g->uar),
			    "uar page %u: %s", g->uar, why);
		return;
	}
	guest_error(hca, RULE_blueflame_mismatch, guest_object(GUEST_QP, wqe_ctrl_get_bf_qpn(ctrl)),
		    "uar page %u, qpn %x, index %u: %s", g->uar, wqe_ctrl_get_bf_qpn(ctrl),
		    wqe_ctrl_get_bf_index(ctrl), why);
	scheduler_doorbell(hca, wqe_ctrl_get_bf_qpn(ctrl), g->uar);
}

static unsigned round_up(unsigned bytes)
{
	return (bytes + BF_UNIT - 1) / BF_UNIT * BF_UNIT;
}

/* More bytes have come. Passes the WQE on if it is complete. */
static void gather_check(struct hca *hca, struct blueflame_gather *g, unsigned buf_size)
{
	const struct wqe_ctrl *ctrl = (const struct wqe_ctrl *)(const void *)g->bytes;
	unsigned len;

	if (g->filled < BF_HEAD)
		return;
	len = wqe_ctrl_get_ds(ctrl) * WQE_UNIT;
	if (!len || len > buf_size) {
		gather_fail(hca, g, "the length does not fit the buffer");
		return;
	}
	if (g->filled < len)
		return;
	g->open = false;
	g->taken = true;
	if (g->filled < round_up(len))
		memset(g->bytes + g->filled, 0, round_up(len) - g->filled);
	hca->stats.doorbell_blueflames++;
	HCA_TRACE(hca, TP_DOORBELL_BLUEFLAME, .qpn = wqe_ctrl_get_bf_qpn(ctrl),
		  .corr = wqe_ctrl_get_bf_index(ctrl), .args = {len}, .bytes = g->bytes,
		  .len = len);
	scheduler_blueflame(hca, wqe_ctrl_get_bf_qpn(ctrl), (uint16_t)wqe_ctrl_get_bf_index(ctrl),
			    g->bytes, round_up(len), g->uar);
}

static uint8_t *last_buffer_of(struct hca *hca, uint32_t uar, uint32_t buffer)
{
	const uint32_t reg =
		(uar << param_doorbell_log_bf_regs(hca->params)) + buffer / BUFS_PER_REG;

	return &hca->doorbell->last_buffer[reg];
}

/* What the register of a buffer keeps when that one was written last. */
static uint8_t turn_of(uint32_t buffer)
{
	return (uint8_t)(1 + buffer % BUFS_PER_REG);
}

/* A write to a buffer begins. */
static void buffer_turn(struct hca *hca, uint32_t uar, uint32_t buffer)
{
	uint8_t *last = last_buffer_of(hca, uar, buffer);
	const uint8_t now = turn_of(buffer);

	if (*last == now)
		guest_error(hca, RULE_blueflame_buffer, guest_object(GUEST_UAR, uar),
			    "uar page %u: buffer %u again, without the other one in between", uar,
			    buffer);
	*last = now;
}

void doorbell_qp_gone(struct hca *hca, uint32_t qpn)
{
	for (unsigned i = 0; i < param_doorbell_bf_gathers(hca->params); i++) {
		struct blueflame_gather *g = &hca->doorbell->gathers[i];

		if (g->filled < BF_HEAD ||
		    wqe_ctrl_get_bf_qpn((const struct wqe_ctrl *)(const void *)g->bytes) != qpn)
			continue;
		g->open = false;
		/* another QP may have had its turn on the page since */
		if (*last_buffer_of(hca, g->uar, g->buffer) == turn_of(g->buffer))
			*last_buffer_of(hca, g->uar, g->buffer) = 0;
	}
}

static bool is_padding(const struct blueflame_gather *g, unsigned at, unsigned size)
{
	return g->taken && at == g->filled && at + size <= round_up(g->filled);
}

static void blueflame_write(struct hca *hca, uint32_t uar, uint32_t offset, const uint8_t *bytes,
			    unsigned size)
{
	const unsigned buf_size = (1u << param_doorbell_log_bf_reg(hca->params)) / BUFS_PER_REG;
	const uint32_t buffer = offset / buf_size;
	const unsigned at = offset % buf_size;
	struct blueflame_gather *g = gather_find(hca, uar, buffer);
	bool same = g->uar == uar && g->buffer == buffer;

	if (same && is_padding(g, at, size)) {
		g->filled += size;
		return;
	}
	if (at == 0) {
		buffer_turn(hca, uar, buffer);
		if (g->open)
			gather_fail(hca, g, "lines are missing");
		g->uar = uar;
		g->buffer = buffer;
		g->filled = 0;
		g->open = true;
		g->taken = false;
	} else if (!same || !g->open || at != g->filled) {
		if (same && g->open) {
			gather_fail(hca, g, "lines are missing or out of order");
			return;
		}
		guest_error(hca, RULE_blueflame_mismatch, guest_object(GUEST_UAR, uar),
			    "uar page %u: %u bytes at %x of a buffer without its beginning", uar,
			    size, at);
		return;
	}
	memcpy(g->bytes + at, bytes, size);
	g->filled += size;
	gather_check(hca, g, buf_size);
}

static bool blueflame_page(const struct hca *hca, uint32_t offset, unsigned size)
{
	const struct hca_params *p = hca->params;

	return param_doorbell_blueflame(p) && size % BF_HEAD == 0 && offset % BF_HEAD == 0 &&
	       offset < UINT32_C(1)
				<< (param_doorbell_log_bf_reg(p) + param_doorbell_log_bf_regs(p));
}

void doorbell_write(struct hca *hca, uint64_t offset, const void *bytes, unsigned size)
{
	const uint32_t page = (uint32_t)(offset % HCA_BF_OFFSET / UAR_PAGE_SIZE);
	const uint32_t within = (uint32_t)(offset % UAR_PAGE_SIZE);

	if (offset < HCA_BF_OFFSET)
		uar_write(hca, page, within, bytes, size);
	else if (offset < HCA_BAR2_SIZE && blueflame_page(hca, within, size))
		blueflame_write(hca, page, within, bytes, size);
	else
		guest_error(hca, RULE_register_unknown, guest_object(GUEST_NONE, 0),
			    "write of %u bytes at bar2 %llx", size, (unsigned long long)offset);
}
