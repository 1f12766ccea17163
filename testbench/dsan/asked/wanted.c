// SPDX-License-Identifier: Apache-2.0
/*
 * A command, from the function that the driver calls for it to the registers, and its answer on the
 * way back: at GO the command register and the mailbox say what that function was called with, and
 * when it returns, it returns what the device wrote.
 */
#include "testbench/dsan/asked/wanted.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/hear/entered.h"

#include "model/engine/base/engine.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MBOX_BYTES = 4096, PS_PER_US = 1000000 };

/* A driver that polls looks so rarely, or its thread is held. */
static const uint64_t late_ps = UINT64_C(100000) * PS_PER_US;

static struct guest_object object_of(const struct ask *a)
{
	return (struct guest_object){GUEST_COMMAND, a->command.wants.op};
}

/* Those that filled the word of the command register, then those that give the command. */
static void names_of(const struct ask *a, unsigned word, char *text, size_t size)
{
	const void *pc = word < ARRAY_SIZE(a->c->hcr_by) ? a->c->hcr_by[word] : NULL;
	char by[CHAIN_BYTES], filled[CHAIN_BYTES] = "";

	if (pc)
		checker_functions(&pc, 1, filled, sizeof(filled));
	chain_format(&a->command.by, by, sizeof(by));
	snprintf(text, size, "%s%s%s", filled, *filled ? "; given by " : "given by ", by);
}

static void differs(const struct ask *a, const char *what, unsigned word, uint64_t is,
		    uint64_t wanted)
{
	char names[2 * CHAIN_BYTES + 16];

	names_of(a, word, names, sizeof(names));
	checker_report(a->c, &(struct breach){RULE_command_differs, object_of(a), NULL, NULL},
		       "%s is 0x%" PRIx64 ", and 0x%" PRIx64 " was asked for: filled by %s", what,
		       is, wanted, names);
}

/* Words of the command register; none of them. */
enum { IN_PARAM = 0, IN_MOD = 2, OUT_PARAM = 3, LAST = 6, NO_WORD = 255 };

static void no_mailbox(const struct ask *a, const char *what, unsigned word, uint64_t is,
		       size_t bytes)
{
	char names[2 * CHAIN_BYTES + 16];

	names_of(a, word, names, sizeof(names));
	checker_report(a->c, &(struct breach){RULE_command_differs, object_of(a), NULL, NULL},
		       "%s is 0x%" PRIx64
		       ", which is no mailbox of its own, and one for %zu bytes was "
		       "asked for: filled by %s",
		       what, is, bytes, names);
}

/* Behind what was asked for it is 0: what a command before has left there means something now. */
static void mailbox_check(const struct ask *a, const uint8_t *is)
{
	const struct wanted *w = &a->command.wants;
	const uint8_t *should = w->in;
	size_t n = 0;
	char text[64];

	while (n < MBOX_BYTES && is[n] == (n < w->in_len ? should[n] : 0))
		n++;
	if (n == MBOX_BYTES)
		return;
	snprintf(text, sizeof(text), "byte 0x%zx of the input mailbox", n);
	differs(a, text, NO_WORD, is[n], n < w->in_len ? should[n] : 0);
}

static void input_check(const struct ask *a, const struct hcr *h)
{
	const struct wanted *w = &a->command.wants;
	const uint64_t bus = hcr_get_in_param(h);
	const uintptr_t at = checker_address(a->c, bus);

	if (!w->in) {
		if (bus != w->in_param)
			differs(a, "in_param", IN_PARAM, bus, w->in_param);
		return;
	}
	if (!at || bus % MBOX_BYTES || !checker_has(a->c, at + MBOX_BYTES - 1))
		no_mailbox(a, "in_param", IN_PARAM, bus, w->in_len);
	else
		mailbox_check(a, (const uint8_t *)at);
}

static void output_check(const struct ask *a, const struct hcr *h)
{
	const struct wanted *w = &a->command.wants;
	const uint64_t bus = hcr_get_out_param(h);
	const uintptr_t at = checker_address(a->c, bus);

	if (!w->out) {
		if (bus != w->out_param)
			differs(a, "out_param", OUT_PARAM, bus, w->out_param);
		return;
	}
	if (!at || bus % MBOX_BYTES || (w->in && bus == hcr_get_in_param(h)))
		no_mailbox(a, "out_param", OUT_PARAM, bus, w->out_len);
}

void wanted_same_token(const struct ask *a, const char *what)
{
	char names[2 * CHAIN_BYTES + 16], latest[2 * CHAIN_BYTES];

	names_of(a, LAST, names, sizeof(names));
	entered_format_lowest(latest, sizeof(latest));
	checker_report(a->c, &(struct breach){RULE_command_token, object_of(a), NULL, NULL},
		       "%s 0x%x: filled by %s; these ran last: %s", what,
		       (unsigned)hcr_get_token(&a->command.hcr), names, latest);
}

void wanted_timed_out(const struct ask *a)
{
	const struct function *f = &a->c->function;
	/* the device that has not answered is reset then */
	const bool reset = f->own_reset && f->reset_ps >= a->command.wants.begun_ps;
	const uint64_t now = reset ? f->reset_ps : hca_now(a->c->host.hca);
	const uint64_t has = a->command.wants.timeout_ps;
	const uint64_t all_ps = now - a->command.wants.begun_ps; /* also for a free register */
	const uint64_t answer_ps = a->command.given ? now - a->command.given_ps : 0;
	const bool early = all_ps < has;
	const bool late = answer_ps >= has + has / 2 + late_ps;
	char by[CHAIN_BYTES];

	if (!a->command.wants.known || (!early && !late))
		return;
	chain_format(&a->command.by, by, sizeof(by));
	checker_report(a->c, &(struct breach){RULE_command_answer, object_of(a), NULL, NULL},
		       "the driver gives the command up after %" PRIu64 " us, and it has %" PRIu64
		       " us; given by %s",
		       (early ? all_ps : answer_ps) / PS_PER_US, has / PS_PER_US, by);
}

void wanted_given(const struct ask *a)
{
	const struct wanted *w = &a->command.wants;
	const struct hcr *h = &a->command.hcr;

	if (!w->known)
		return;
	if (hcr_get_opcode(h) != w->op)
		differs(a, "opcode", LAST, hcr_get_opcode(h), w->op);
	else if (hcr_get_op_mod(h) != w->op_mod)
		differs(a, "op_mod", LAST, hcr_get_op_mod(h), w->op_mod);
	if (hcr_get_in_mod(h) != w->in_mod)
		differs(a, "in_mod", IN_MOD, hcr_get_in_mod(h), w->in_mod);
	input_check(a, h);
	output_check(a, h);
}

/* Nobody else has run since the driver has read the mailbox, so it holds the answer still. */
void wanted_answered(const struct ask *a)
{
	const struct wanted *w = &a->command.wants;
	const uintptr_t at = checker_address(a->c, hcr_get_out_param(&a->command.hcr));
	const uint8_t *is = w->out, *should = (const uint8_t *)at;
	char by[CHAIN_BYTES], text[64];
	size_t n = 0;

	if (!w->known || !w->out || !at || w->out_len > MBOX_BYTES)
		return;
	while (n < w->out_len && is[n] == should[n])
		n++;
	if (n == w->out_len)
		return;
	snprintf(text, sizeof(text), "byte 0x%zx of the answer", n);
	chain_format(&a->command.by, by, sizeof(by));
	checker_report(a->c, &(struct breach){RULE_command_answer, object_of(a), NULL, NULL},
		       "%s is 0x%x in the output mailbox, and 0x%x in what the caller gets: given "
		       "by %s",
		       text, should[n], is[n], by);
}

/* FNV-1a */
uint64_t wanted_out_sum(const struct wanted *w)
{
	const uint8_t *bytes = w->out;
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t n = 0; bytes && n < w->out_len; n++)
		sum = (sum ^ bytes[n]) * 0x100000001b3;
	return sum;
}

void wanted_failed(const struct ask *a)
{
	const struct wanted *w = &a->command.wants;
	char by[CHAIN_BYTES];

	if (!w->known || wanted_out_sum(w) == w->out_sum)
		return;
	chain_format(&a->command.by, by, sizeof(by));
	checker_report(a->c, &(struct breach){RULE_command_answer, object_of(a), NULL, NULL},
		       "the command has failed, and what the caller has for its answer is changed: "
		       "given by %s",
		       by);
}
