// SPDX-License-Identifier: Apache-2.0
/* What is judged when a doorbell is rung: headroom, arming, and at the end what was not armed. */
#include "testbench/dsan/asked.h"
#include "testbench/dsan/function.h"
#include "testbench/dsan/own_impl.h"

#include "model/interface/regs.h"

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
	char names[NAMES_BYTES] = "";
	const uint32_t spare = (HEADROOM_BYTES >> r->shape.log_stride) + 1;

	if (q->no_prefetch || !r->shape.log_stride || spare > ring_mask(r))
		return;
	if (r->head - r->tail > ring_mask(r) + 1 - spare)
		checker_report(o->c, &(struct breach){RULE_headroom, object_of(h), pc, NULL},
			       "%u work requests in a ring of %u, of which %u must stay free",
			       r->head - r->tail, ring_mask(r) + 1, spare);
	for (uint32_t i = 0; i < spare; i++) {
		if (is_stamped(q, (r->head + i) & ring_mask(r)))
			continue;
		if (a)
			checker_recent(o->c, a->since_recent, names, sizeof(names));
		checker_report(
			o->c, &(struct breach){RULE_headroom, object_of(h), pc, NULL},
			"slot %u, %u behind the newest, is not stamped; this call came by %s",
			(r->head + i) & ring_mask(r), i + 1, names);
		return;
	}
}

/* The record holds what the doorbell says; the device reads it then. */
static void arm_check(struct own *o, const struct holder *h, const struct cq_arm_db *db,
		      const void *pc)
{
	const unsigned sn = cq_arm_db_get_sn(db), ci = cq_arm_db_get_ci(db);
	const uintptr_t at = checker_address(o->c, h->record) + WORD;
	const struct stored *s = h->record ? checker_stored(o->c, at) : NULL;

	if (s && s->seq && s->epoch == order_epoch(o->c->order))
		checker_report(
			o->c,
			&(struct breach){RULE_order_doorbell, object_of(h), code_pc(s->pc), pc},
			"arm record of cqn %x", h->number);
	if (at > WORD && ci != cq_dbrec_get_arm_ci((const void *)(at - WORD)))
		checker_report(o->c, &(struct breach){RULE_arm_record, object_of(h), pc, NULL},
			       "the doorbell's index is %u, and the record's is %u", ci,
			       cq_dbrec_get_arm_ci((const void *)(at - WORD)));
	if (sn != ((h->queues->events + 1) & 3))
		checker_report(o->c, &(struct breach){RULE_arm_record, object_of(h), pc, NULL},
			       "sequence number %u, but the driver has taken %u events of cqn %x, "
			       "so it is %u",
			       sn, h->queues->events, h->number, (h->queues->events + 1) & 3);
}

static void vectors_check(struct own *o, uint32_t eqn, const void *pc)
{
	for (unsigned v = 0; v < CHECKER_VECTORS; v++)
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
			own_index_set(o, h, eq_db_get_ci(bytes), pc);
		}
	} else if (at == UAR_SEND_DB) {
		h = own_find(o, HCA_QP, send_db_get_qpn(bytes));
		asked_send_rung(o->c, send_db_get_qpn(bytes));
		if (h)
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

void own_tell_waits(struct own *o)
{
	claims_each(o->c->claims, unarmed_check, o);
}
