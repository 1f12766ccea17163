// SPDX-License-Identifier: Apache-2.0
/* What is judged when a doorbell is rung: headroom, arming, and at the end what was not armed. */
#include "testbench/dsan/asked/asked.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/device/function.h"
#include "testbench/dsan/own/cq_waits.h"
#include "testbench/dsan/own/own_impl.h"

#include "model/interface/regs.h"

#include <stdio.h>
#include <string.h>

/* The first dword of each 64-byte chunk but the first must not look like a WQE. */
static bool is_stamped(const struct queues *q, uint32_t slot)
{
	for (uint32_t at = WQE_CHUNK; at < UINT32_C(1) << q->sends.shape.log_stride;
	     at += WQE_CHUNK) {
		const uint32_t *word = own_slot_at(q, &q->sends, slot, at);

		if (word && *word != UINT32_MAX)
			return false;
	}
	return true;
}

/* A device that reads ahead looks at the slots behind the newest work request. */
static void headroom_check(struct own *o, const struct holder *h, const void *pc)
{
	const struct queues *q = h->queues;
	const struct ring *r = &q->sends;
	const struct ask *a = ask_now(o->c);
	char names[NAMES_BYTES] = "", by[NAMES_BYTES + 32] = "";
	const uint32_t spare = (HEADROOM_BYTES >> r->shape.log_stride) + 1;
	/* Linux stamps the last one behind the doorbell: mlx4_ib_post_send */
	const uint32_t stamped = o->c->guest ? spare - 1 : spare;

	if (q->no_prefetch || !r->shape.log_stride || spare > ring_mask(r))
		return;
	if (r->head - r->tail > ring_mask(r) + 1 - spare)
		checker_report(o->c, &(struct breach){RULE_headroom, object_of(h), pc, NULL},
			       "%u work requests in a ring of %u, of which %u must stay free",
			       r->head - r->tail, ring_mask(r) + 1, spare);
	for (uint32_t i = 0; i < stamped; i++) {
		if (is_stamped(q, (r->head + i) & ring_mask(r)))
			continue;
		if (a) {
			checker_recent(o->c, a->since_recent, names, sizeof(names));
			snprintf(by, sizeof(by), "; this call came by %s", names);
		}
		checker_report(o->c, &(struct breach){RULE_headroom, object_of(h), pc, NULL},
			       "slot %u, %u behind the newest, is not stamped%s",
			       (r->head + i) & ring_mask(r), i + 1, by);
		return;
	}
}

/* Each doorbell tells of requests that were not there before. false: this one does not. */
static bool rung_check(struct own *o, const struct holder *h, const void *pc)
{
	struct queues *q = h->queues;
	const bool before = q->was_rung && q->rung == q->sends.head;
	const struct ask *a = ask_now(o->c);

	q->was_rung = true;
	q->rung = q->sends.head;
	if (!before || !a || a->kind != ASK_SENDS || !ask_is_of_qp(a, h->number))
		return true;
	checker_report(o->c, &(struct breach){RULE_doorbell_without_wqe, object_of(h), pc, NULL},
		       "the doorbell is rung, and no work request was given its owner bit since "
		       "the last one (%u so far)",
		       q->sends.head);
	return false;
}

/* --- BlueFlame --- */

static void blueflame_report(struct own *o, uint32_t qpn, const char *format, unsigned is,
			     unsigned should)
{
	const struct guest_object qp = {GUEST_QP, qpn};
	char names[CHAIN_BYTES], text[NAMES_BYTES];
	struct calls now;

	chain_take(&now);
	chain_format(&now, names, sizeof(names));
	snprintf(text, sizeof(text), format, is, should);
	checker_report(o->c, &(struct breach){RULE_blueflame_mismatch, qp, NULL, NULL}, "%s; by %s",
		       text, names);
}

static void blueflame_begins(struct own *o, uint64_t offset, const struct wqe_ctrl *ctrl)
{
	const struct ask *a = ask_now(o->c);
	const uint32_t qpn = wqe_ctrl_get_bf_qpn(ctrl), index = wqe_ctrl_get_bf_index(ctrl);
	struct holder *h = own_find(o, HCA_QP, a ? a->number : qpn);

	o->blueflame.lines = 0;
	if (!a || a->kind != ASK_SENDS || !h)
		return;
	o->blueflame.qpn = a->number;
	o->blueflame.next = offset + BF_UNIT;
	o->blueflame.lines = (wqe_ctrl_get_ds(ctrl) * WQE_UNIT + BF_UNIT - 1) / BF_UNIT - 1;
	h->queues->was_rung = true;
	h->queues->rung = h->queues->sends.head;
	if (qpn != a->number)
		blueflame_report(o, a->number, "the WQE names qpn %06x, and it is one of %06x", qpn,
				 a->number);
	else if (index != ((h->queues->sends.head - 1) & 0xffff))
		blueflame_report(o, qpn, "the WQE has index %u, and the newest is %u", index,
				 (h->queues->sends.head - 1) & 0xffff);
}

void own_blueflame(struct own *o, uint64_t offset, const void *line)
{
	if (!o->blueflame.lines) {
		blueflame_begins(o, offset, line);
		return;
	}
	if (offset != o->blueflame.next)
		blueflame_report(
			o, o->blueflame.qpn,
			"a line is written at 0x%x, and the next one of the WQE belongs to "
			"0x%x",
			(unsigned)offset, (unsigned)o->blueflame.next);
	o->blueflame.next += BF_UNIT;
	o->blueflame.lines--;
}

void own_blueflame_end(struct own *o, uint32_t qpn)
{
	const unsigned left = o->blueflame.lines;

	if (o->blueflame.qpn != qpn) /* another thread is at it */
		return;

	o->blueflame.lines = 0;
	if (left)
		ask_report(ask_now(o->c), RULE_blueflame_mismatch,
			   (struct guest_object){GUEST_QP, o->blueflame.qpn},
			   "%u lines of 64 bytes are missing when the call ends", left);
}

/* The record holds what the doorbell says; the device reads it then. */
static void arm_check(struct own *o, const struct holder *h, const struct cq_arm_db *db,
		      const void *pc)
{
	const unsigned sn = cq_arm_db_get_sn(db), ci = cq_arm_db_get_ci(db);
	const uintptr_t at = checker_address(o->c, h->record) + WORD;
	const struct stored *s = h->record ? checker_stored(o->c, at) : NULL;
	char names[NAMES_BYTES], by[NAMES_BYTES + 32] = ""; /* a guest's handlers are not known */

	if (s && s->seq && s->epoch == order_epoch(o->c->order))
		checker_report(o->c, &(struct breach){RULE_order_doorbell, object_of(h), s->pc, pc},
			       "arm record of cqn %x", h->number);
	if (at > WORD && ci != cq_dbrec_get_arm_ci((const void *)(at - WORD)))
		checker_report(o->c, &(struct breach){RULE_arm_record, object_of(h), pc, NULL},
			       "the doorbell's index is %u, and the record's is %u", ci,
			       cq_dbrec_get_arm_ci((const void *)(at - WORD)));
	if (sn == ((h->queues->events + 1) & 3))
		return;
	cq_waits_event_by(o->c, h->number, names, sizeof(names));
	if (*names)
		snprintf(by, sizeof(by), "; the last event came by %s", names);
	checker_report(o->c, &(struct breach){RULE_arm_record, object_of(h), pc, NULL},
		       "sequence number %u, but the driver has taken %u events of cqn %x, so it is "
		       "%u%s",
		       sn, h->queues->events, h->number, (h->queues->events + 1) & 3, by);
}

/* Events that were there when the EQ was armed have made the device interrupt. The handler has run
 * since, and arms the EQ with the same index: it does not see them. */
static void left_check(struct own *o, const struct holder *h, uint32_t ci, const void *pc)
{
	struct queues *q = h->queues;
	const bool same = index_after(q->entries.tail, ci, INDEX_BITS) == q->entries.tail;

	if (q->arms && same && q->armed_tail == q->entries.tail && q->armed_head != q->entries.tail)
		checker_report(
			o->c, &(struct breach){RULE_eq_left, object_of(h), pc, NULL},
			"it is armed with index %u again, and %u events waited there already "
			"when it was armed the last time",
			q->entries.tail, q->armed_head - q->armed_tail);
	else if (q->arms && q->looked != (ci & ring_mask(&q->entries)))
		checker_report(o->c, &(struct breach){RULE_eq_left, object_of(h), pc, NULL},
			       "it is armed with index %u, and nobody has looked whether the next "
			       "event is there: the last look was at slot %u",
			       ci, q->looked);
	q->arms++;
	q->armed_head = q->entries.head;
	q->armed_tail = index_after(q->entries.tail, ci, INDEX_BITS);
}

static void vectors_check(struct own *o, uint32_t eqn, const void *pc)
{
	for (unsigned v = 0; v < FUNCTION_VECTORS; v++)
		if (o->c->eq_of_vector[v] == eqn + 1)
			function_armed(o->c, v, pc);
}

void own_register(struct own *o, uint64_t offset, const void *bytes, const void *pc)
{
	const uint32_t page = (uint32_t)(offset / UAR_PAGE_SIZE), at = offset % UAR_PAGE_SIZE;
	struct holder *h;

	if (offset >= HCA_BF_OFFSET)
		return;
	if (page < HCA_UAR_EQ_PAGES && at >= UAR_EQ_DB) {
		h = own_find(o, HCA_EQ,
			     page * UAR_EQS_PER_PAGE + (at - UAR_EQ_DB) / UAR_EQ_DB_STRIDE);
		if (h) {
			h->queues->armed = eq_db_get_arm(bytes);
			if (h->queues->armed)
				vectors_check(o, h->number, pc);
			calls_take(&h->queues->ringers, kernel_thread_running());
			if (h->queues->armed)
				left_check(o, h, eq_db_get_ci(bytes), pc);
			own_index_set(o, h, eq_db_get_ci(bytes), pc);
		}
	} else if (at == UAR_SEND_DB) {
		h = own_find(o, HCA_QP, send_db_get_qpn(bytes));
		asked_send_rung(o->c, send_db_get_qpn(bytes));
		if (h && rung_check(o, h, pc))
			headroom_check(o, h, pc);
	} else if (at == UAR_CQ_ARM) {
		h = own_find(o, HCA_CQ, cq_arm_db_get_cqn(bytes));
		asked_cq_armed(o->c, cq_arm_db_get_cqn(bytes), cq_arm_db_get_cmd(bytes), pc);
		if (h)
			arm_check(o, h, bytes, pc);
	}
}

static void unarmed_check(void *arg, struct holder *h)
{
	struct own *o = arg;
	const struct queues *q = h->queues;
	char names[NAMES_BYTES];

	if (h->kind != HOLDER_EQ || !q || q->armed || q->entries.head == q->entries.tail)
		return;
	checker_functions(q->ringers.pc, q->ringers.n, names, sizeof(names));
	checker_report(o->c, &(struct breach){RULE_eq_not_armed, object_of(h), NULL, NULL},
		       "%u events wait; its last doorbell did not arm it: %s",
		       q->entries.head - q->entries.tail, *names ? names : "none was rung");
}

uint32_t own_eq_arms(const struct own *o, uint32_t eqn)
{
	const struct holder *h = own_find((struct own *)o, HCA_EQ, eqn);

	return h && h->queues ? h->queues->arms : 0;
}

/* An interrupt disarms its EQ. Source: Linux mlx4_eq_int, which arms it at its end, whatever it found */
void own_eq_served(struct own *o, uint32_t eqn, uint32_t arms, const void *handler)
{
	const struct holder *h = own_find(o, HCA_EQ, eqn);

	if (h && h->queues && h->queues->arms == arms)
		checker_report(o->c,
			       &(struct breach){RULE_eq_not_armed, object_of(h), handler, NULL},
			       "its interrupt handler has ended, and has not armed it");
}

void own_tell_waits(struct own *o)
{
	claims_each(o->c->claims, unarmed_check, o);
}
