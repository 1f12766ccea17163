// SPDX-License-Identifier: Apache-2.0
/* See asked.h: asks and their ends, objects as they were asked for. Fields are compared in
 * request.c, completion.c and context.c. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/buffers.h"
#include "testbench/dsan/bucket.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/hear/history.h"
#include "testbench/dsan/held/claims_impl.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/held/taken.h"
#include "testbench/dsan/threads/threads.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/drv/ops.h"

#include "model/interface/commands.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BUCKET_BITS = 12,
	BUCKETS = 1 << BUCKET_BITS,
	TEXT_BYTES = 460,
	NAMES_BYTES = 200,
	TAIL_WRITERS = 4
};

/* The driver's interface names no host in most calls, and one process runs one simulation. */
static struct ask *asks;
static struct made *objects[BUCKETS];

/* --- asks --- */

unsigned ask_thread(void)
{
	const struct checker *any = checker_of_host(0) ? checker_of_host(0) : checker_of_host(1);
	const struct kernel_thread *thread =
		any && any->host.kernel ? kernel_thread_self(any->host.kernel) : NULL;

	return thread ? kernel_thread_number(thread) : 0;
}

/* The thread that the checker looks at: the one that has made a store, else the running one. */
static unsigned thread_looked_at(void)
{
	for (unsigned host = 0; host < 2; host++) {
		const struct checker *c = checker_of_host(host);

		if (c && c->storing.ends)
			return c->storing.thread;
	}
	return ask_thread();
}

/* Of the object whose number the ask has; calls of other kinds say it themselves. */
static enum guest_object_kind kind_of(enum ask_kind kind)
{
	switch (kind) {
	case ASK_SENDS:
	case ASK_RECEIVES:
	case ASK_QP_MODIFY:
		return GUEST_QP;
	case ASK_POLL:
	case ASK_ARM:
		return GUEST_CQ;
	case ASK_SRQ_RECEIVES:
		return GUEST_SRQ;
	default:
		return GUEST_NONE;
	}
}

static bool wants_marks(enum ask_kind kind)
{
	return kind != ASK_INNER && kind != ASK_SENDS && kind != ASK_RECEIVES &&
	       kind != ASK_SRQ_RECEIVES && kind != ASK_ARM;
}

void ask_begin(struct ask *a, enum ask_kind kind, const char *call, struct platform *p,
	       uint32_t number)
{
	*a = (struct ask){.next = asks,
			  .c = checker_of_host(p->host),
			  .kind = kind,
			  .call = strncmp(call, WRAP, strlen(WRAP)) ? call : call + strlen(WRAP),
			  .thread = ask_thread(),
			  .number = number};
	if (kind != ASK_INNER && !ask_running()) {
		trail_begin();
		trail_asked(true);
		history_about(kind_of(kind), number);
	}
	asks = a;
	threads_call(p);
	if (!a->c)
		return;
	a->locks = locks_held();
	a->since = a->c->seq;
	a->since_recent = a->c->n_recent;
	a->since_wrote = wrote_count();
	if (wants_marks(kind))
		ask_mark(a);
}

void ask_mark(struct ask *a)
{
	if (!a->c || a->marks)
		return;
	a->marks = true;
	wrote_begin();
}

void ask_drop(struct ask *a)
{
	struct ask **at = &asks;
	bool outermost_ends;

	while (*at && *at != a)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = a->next;
	outermost_ends = a->kind != ASK_INNER && !ask_running();
	locks_end(a->c, a->call, a->locks, outermost_ends);
	if (outermost_ends && a->c && a->c->watcher && a->c->watcher->call_ends)
		a->c->watcher->call_ends(a->c);
	if (outermost_ends)
		trail_asked(false);
	if (a->took)
		taken_made(a, NULL);
	if (a->marks)
		wrote_end();
}

bool ask_follows(const struct ask *a, enum hca_object type, bool sends)
{
	return a->c && own_follows(a->c->own, type, a->number, sends);
}

bool ask_on_ethernet(const struct ask *a, unsigned port)
{
	return a->dev && port >= 1 && port <= DRV_PORTS_MAX && drv_port_is_ethernet(a->dev, port);
}

/* The newest ask of the running thread, from `a` on, of a part of a call or of a whole one. */
static struct ask *ask_from(struct ask *a, bool inner)
{
	const unsigned thread = thread_looked_at();

	while (a && (a->thread != thread || (a->kind == ASK_INNER) != inner))
		a = a->next;
	return a;
}

struct ask *ask_running(void)
{
	return ask_from(asks, false);
}

static struct ask *outermost(struct ask *a)
{
	struct ask *found = NULL;

	for (; a; a = ask_from(a->next, false))
		found = a;
	return found;
}

struct ask *ask_taker(void)
{
	struct ask *inner = ask_from(asks, true);

	return inner ? inner : outermost(ask_from(asks, false));
}

struct ask *ask_each(struct ask *last)
{
	return last ? last->next : asks;
}

bool ask_is_raw(void)
{
	const struct ask *a = ask_taker();

	for (; a && a->kind == ASK_INNER; a = ask_around(a))
		if (!strcmp(a->call, "drv_cmd"))
			return true;
	return !a;
}

struct ask *ask_around(const struct ask *inner)
{
	struct ask *a = ask_from(inner->next, true);

	return a ? a : outermost(ask_from(inner->next, false));
}

const char *ask_provider(const struct ask *a)
{
	static const struct {
		const char *call, *function;
	} functions[] = {
#define FUNCTION(result, name, ...) {"drv_" #name, "mlx4_" #name},
		DRV_OPS(FUNCTION)
#undef FUNCTION
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].call, a->call))
			return functions[i].function;
	return a->call;
}

/* Those that came by at the device or at memory that it shares; else the last ones at any memory. */
void ask_names(const struct ask *a, char *text, size_t size)
{
	char by[NAMES_BYTES];

	checker_recent(a->c, a->since_recent, by, sizeof(by));
	if (!*by)
		trail_format(by, sizeof(by));
	snprintf(text, size, "in %s%s%.*s", ask_provider(a), *by ? " by " : "", (int)(size / 4 * 3),
		 by);
}

/* A command was refused inside of a call, which may go on without it. Source: Linux mlx4_init_fw: a
 * failing MOD_STAT_CFG is a warning; mlx4_SET_PORT does without PortInfo */
static bool may_be_refused(uint32_t opcode)
{
	const struct hcr_row *row = hcr_row_find(opcode);

	return opcode == HCR_MOD_STAT_CFG || opcode == HCR_MAD_IFC ||
	       (row && row->flags & HCR_F_CLOSING);
}

void ask_refusal(const struct ask *command, int rc)
{
	struct ask *a = ask_running();
	const uint32_t opcode = hcr_get_opcode(&command->command.hcr);

	if (!a || may_be_refused(opcode))
		return;
	if (rc) {
		a->refused.opcode = opcode;
		a->refused.by = command->command.by;
		a->refused.rc = rc;
	} else if (a->refused.opcode == opcode) {
		a->refused.opcode = 0;
	}
}

int ask_result(struct ask *a, int rc)
{
	char names[NAMES_BYTES];

	if (rc || !a->c || !a->refused.opcode)
		return rc;
	chain_format(&a->refused.by, names, sizeof(names));
	ask_report(a, RULE_command_answer, (struct guest_object){GUEST_COMMAND, a->refused.opcode},
		   "the command was refused (%d), and the call that needed it returns 0; it was "
		   "given by %s",
		   a->refused.rc, names);
	a->refused.opcode = 0;
	return rc;
}

void ask_report(const struct ask *a, enum guest_rule rule, struct guest_object object,
		const char *format, ...)
{
	char text[TEXT_BYTES], by[NAMES_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	ask_names(a, by, sizeof(by));
	checker_report(a->c, &(struct breach){rule, object, NULL, NULL}, "%s, %s", text, by);
}

struct ask *ask_now(const struct checker *c)
{
	struct ask *a = ask_running();

	return a && a->c == c ? a : NULL;
}

bool ask_is_of_qp(const struct ask *a, uint32_t index)
{
	return a->number == index || object_index(a->c->host.hca, HCA_QP, a->number) == index;
}

static struct ask *ask_of(const struct checker *c, enum ask_kind kind, uint32_t number)
{
	struct ask *a = ask_now(c);

	return a && a->kind == kind &&
			       (a->number == number ||
				(kind == ASK_SENDS && ask_is_of_qp(a, number)))
		       ? a
		       : NULL;
}

/* --- objects --- */

static struct made **place_of(const void *object)
{
	struct made **at = &objects[bucket_number((uintptr_t)object, BUCKET_BITS)];

	while (*at && (*at)->object != object)
		at = &(*at)->next;
	return at;
}

struct made *made_find(const void *object)
{
	return object ? *place_of(object) : NULL;
}

void made_remove(const void *object)
{
	struct made **at = place_of(object), *m = *at;

	if (!m)
		return;
	*at = m->next;
	free(m);
}

struct made *made_add(const struct ask *a, const void *object)
{
	struct made *m = calloc(1, sizeof(*m)), **first;

	if (!m)
		abort();
	made_remove(object);
	first = &objects[bucket_number((uintptr_t)object, BUCKET_BITS)];
	m->object = object;
	m->c = a->c;
	m->numbers_by = a->numbers_by;
	chain_take(&m->made_by);
	m->next = *first;
	*first = m;
	return m;
}

void made_forget(const struct checker *c)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		for (struct made **at = &objects[i]; *at;) {
			struct made *m = *at;

			if (m->c != c) {
				at = &m->next;
				continue;
			}
			*at = m->next;
			free(m);
		}
	}
}

uint32_t pdn_learn(struct made *pd, uint32_t pdn)
{
	if (!pd->pdn_known)
		pd->pdn = pdn;
	pd->pdn_known = true;
	return pd->pdn;
}

static bool uses(const struct made *m, const void *object)
{
	return m->pd == object || m->uar == object || m->cq == object || m->xrcd == object ||
	       m->init.send_cq == object || m->init.recv_cq == object || m->init.srq == object ||
	       m->init.uar == object || m->init.xrcd == object;
}

bool made_can_be_used(const struct made *m)
{
	const bool qp = m->init.send_cq || m->init.recv_cq || m->init.xrcd;

	return !m->key && !qp;
}

/* Of an object that uses others. */
static struct guest_object made_object(const struct made *m)
{
	if (m->uar)
		return guest_object(GUEST_CQ, drv_cq_num(m->object));
	if (m->key)
		return guest_object(GUEST_MPT, m->key >> 8);
	if (m->init.send_cq || m->init.xrcd)
		return guest_object(GUEST_QP, drv_qp_num(m->object));
	return guest_object(GUEST_SRQ, drv_srq_num(m->object));
}

void made_page_stays(struct ask *a, const struct drv_uar *uar, const void *pc)
{
	const struct made *user = NULL;
	char names[NAMES_BYTES], makers[CHAIN_BYTES];

	for (unsigned i = 0; i < BUCKETS && !user; i++)
		for (user = objects[i]; user && !uses(user, uar);)
			user = user->next;
	if (!a->c || !user || !checker_in_driver(pc)) /* a scenario may try */
		return;
	checker_functions(&pc, 1, names, sizeof(names));
	chain_format(&user->made_by, makers, sizeof(makers));
	ask_report(a, RULE_not_given_back, made_object(user),
		   "the doorbell page that %s gives back is still used by this queue, which lives "
		   "on; it was made by %s",
		   names, makers);
}

void made_users_check(struct ask *a, const void *object)
{
	const struct made *is = made_find(object);
	char names[NAMES_BYTES];

	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct made *m = objects[i]; m; m = m->next)
			if (uses(m, object))
				return;
	/* a region is in use by the windows that are bound to it */
	if (!a->c || !is || is->key)
		return;
	checker_functions(is->left_by.pc, is->left_by.n, names, sizeof(names));
	ask_report(a, RULE_not_given_back, (struct guest_object){0},
		   "it says that the object is in use, and none uses it; the last one that did was "
		   "destroyed by %s, %s",
		   is->left_call ? is->left_call : "nobody", names);
}

void made_leaves(struct ask *a, const struct made *m)
{
	const void *used[] = {m->pd,           m->uar,      m->cq,       m->init.send_cq,
			      m->init.recv_cq, m->init.srq, m->init.uar, m->init.xrcd};
	struct calls by = {.n = a->n_released < CALLS_MAX ? a->n_released : CALLS_MAX};

	memcpy(by.pc, a->released, by.n * sizeof(by.pc[0]));
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		struct made *of = made_find(used[i]);

		if (!of)
			continue;
		of->left_call = ask_provider(a);
		of->left_by = by;
	}
}

void made_unused_check(struct ask *a, const void *object, const char *what)
{
	char others[NAMES_BYTES];

	if (!a->c || !object)
		return;
	for (unsigned i = 0; i < BUCKETS; i++) {
		for (const struct made *m = objects[i]; m; m = m->next) {
			if (!uses(m, object))
				continue;
			trail_format_meanwhile(others, sizeof(others));
			checker_report(
				a->c,
				&(struct breach){RULE_object_in_use, made_object(m), NULL, NULL},
				"%s was destroyed by %s, and this object uses it%s", what,
				ask_provider(a), others);
			return;
		}
	}
}

/* --- what was asked has been done --- */

void asked_send_rung(struct checker *c, uint32_t qpn)
{
	struct ask *a = ask_of(c, ASK_SENDS, qpn);

	if (a)
		a->sends.rung = a->sends.given;
}

/* The slot that the device looks at next was not written in this call, but another one. */
static bool send_is_elsewhere(const struct ask *a)
{
	const uintptr_t next = own_next_send(a->c->own, a->number);

	return next && checker_stored(a->c, next)->seq <= a->since &&
	       buffer_place_check(a, true, next);
}

void asked_sends_end(struct ask *a, const struct drv_send_wr *first,
		     const struct drv_send_wr *stopped)
{
	const struct guest_object qp = {GUEST_QP, a->number};
	unsigned asked = !!a->sends.special;

	if (a->c && first)
		entered_lately_take(&a->c->sends_posted);
	if (!a->c || !a->followed)
		return;
	checker_settle(a->c);
	own_blueflame_end(a->c->own, a->number);
	for (; first && first != stopped; first = first->next)
		asked++;
	if (a->sends.given != asked && send_is_elsewhere(a))
		return;
	if (a->sends.given != asked)
		ask_report(a, RULE_request_not_given, qp,
			   "%u sends were posted, the owner bits of %u are set", asked,
			   a->sends.given);
	else if (a->sends.rung != a->sends.given)
		ask_report(a, RULE_request_not_given, qp,
			   "%u sends were posted, the doorbell was rung behind %u", asked,
			   a->sends.rung);
}

void asked_refused(struct ask *a, bool sends, unsigned room, const uint32_t *tail)
{
	char names[NAMES_BYTES], tails[NAMES_BYTES];
	const void *pcs[TAIL_WRITERS];
	unsigned open;

	if (!a->c || !ask_follows(a, HCA_QP, sends))
		return;
	checker_settle(a->c);
	open = own_open(a->c->own, a->number, sends);
	if (open >= room)
		return;
	checker_functions(a->c->errors_polled.pc, a->c->errors_polled.n, names, sizeof(names));
	checker_functions(pcs, heap_writers(tail, sizeof(*tail), pcs, TAIL_WRITERS), tails,
			  sizeof(tails));
	ask_report(a, RULE_request_not_given, (struct guest_object){GUEST_QP, a->number},
		   "a %s was refused, and %u of %u are open; see how the completions before free "
		   "the queue, whose counters were written by %s%s%s",
		   sends ? "send" : "receive", open, room, tails,
		   *names ? "; those with errors were taken by " : "", names);
}

void asked_receives_end(struct ask *a, const struct drv_recv_wr *first,
			const struct drv_recv_wr *stopped)
{
	const bool srq = a->kind == ASK_SRQ_RECEIVES;
	const struct guest_object queue = {srq ? GUEST_SRQ : GUEST_QP, a->number};
	unsigned asked = 0;

	if (a->c && first)
		entered_lately_take(srq ? &a->c->shared_posted : &a->c->receives_posted);
	if (!a->c || !a->followed)
		return;
	checker_settle(a->c);
	for (; first && first != stopped; first = first->next)
		asked++;
	if (a->receives.given != asked)
		ask_report(a, RULE_request_not_given, queue,
			   "%u receives were posted, the doorbell record counts %u", asked,
			   a->receives.given);
}

void asked_cq_armed(struct checker *c, uint32_t cqn, unsigned command, const void *pc)
{
	struct ask *a = ask_now(c);
	unsigned asked;

	if (!a || a->kind != ASK_ARM)
		return;
	asked = a->arm.solicited ? CQ_ARM_SOLICITED : CQ_ARM_NEXT;
	a->arm.rung = true;
	if (cqn != a->number)
		checker_report(a->c, &(struct breach){RULE_arm_differs, {GUEST_CQ, cqn}, pc, NULL},
			       "the doorbell names cqn %x, asked for cqn %x", cqn, a->number);
	else if (command != asked)
		checker_report(
			a->c, &(struct breach){RULE_arm_differs, {GUEST_CQ, cqn}, pc, NULL},
			"the doorbell's command is %u, asked for %s completions, which is %u",
			command, a->arm.solicited ? "solicited" : "all", asked);
}

void asked_arm_end(struct ask *a)
{
	if (a->c && !a->arm.rung)
		ask_report(a, RULE_arm_differs, (struct guest_object){GUEST_CQ, a->number},
			   "no arm doorbell was rung");
}

void asked_entries_back(struct checker *c, uint32_t cqn, uint32_t from, uint32_t to)
{
	struct ask *a = ask_of(c, ASK_POLL, cqn);

	if (!a)
		return;
	if (!a->poll.index)
		a->poll.from = from;
	a->poll.to = to;
	a->poll.index = true;
}
