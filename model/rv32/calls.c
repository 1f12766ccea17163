/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the functions that run to a watcher: see rv_core_watch_calls(). A frame ends when code
 * jumps to its return address. A function that is left in another way (longjmp) ends together with
 * its caller.
 */
#include <errno.h>
#include <stdlib.h>

#include "model/rv32/rv32_core.h"

enum { REG_RA = 1 };

static void tell(struct rv_core *core, bool enter, const struct rv_frame *frame, unsigned depth)
{
	const struct rv_call_watch *watch = &core->calls->watch;

	watch->called(watch->ctx, enter, frame->name,
		      depth ? core->calls->frame[depth - 1].name : "", depth, core->done);
}

static void pop_to(struct rv_core *core, unsigned depth)
{
	struct rv_calls *calls = core->calls;

	while (calls->depth > depth) {
		calls->depth--;
		tell(core, false, &calls->frame[calls->depth], calls->depth);
	}
}

static void push(struct rv_core *core, uint32_t ra, bool trap)
{
	struct rv_calls *calls = core->calls;
	struct rv_frame *frame;
	uint32_t offset = 0;
	const char *name = rv_core_symbol(core, core->pc, &offset);

	/* No real program calls this deep: it has run wild, so start over. */
	if (calls->depth == RV_CALLS_MAX)
		pop_to(core, 0);
	frame = &calls->frame[calls->depth];
	*frame = (struct rv_frame){name ? name : "unknown", core->pc - offset, ra, trap};
	tell(core, true, frame, calls->depth++);
}

static bool is_function(const struct rv_core *core, uint32_t pc)
{
	uint32_t offset = 0;

	return rv_core_symbol(core, pc, &offset) && !offset;
}

void rv_calls_mark(const struct rv_core *core, struct rv_insn *insn)
{
	bool call = insn->rd == REG_RA, jump = insn->rd == RV_X_NONE;

	if (insn->op == RV_OP_JALR && (call || jump))
		insn->op = RV_OP_JALR_WATCHED;
	else if (insn->op == RV_OP_JAL &&
		 (call || (jump && is_function(core, core->pc + (uint32_t)insn->imm))))
		insn->op = RV_OP_JAL_WATCHED;
}

void rv_calls_begin(struct rv_core *core)
{
	if (!core->calls->depth)
		push(core, 0, false);
}

void rv_calls_jumped(struct rv_core *core, const struct rv_insn *insn, uint32_t ra)
{
	struct rv_calls *calls = core->calls;
	struct rv_frame top = {0};

	if (insn->rd == REG_RA) {
		push(core, ra, false);
		return;
	}
	for (unsigned i = calls->depth; insn->op == RV_OP_JALR_WATCHED && i--;) {
		if (calls->frame[i].trap)
			break;
		if (calls->frame[i].ra == core->pc) {
			pop_to(core, i);
			return;
		}
	}
	if (calls->depth)
		top = calls->frame[calls->depth - 1];
	if (!is_function(core, core->pc) || top.function == core->pc)
		return;
	if (calls->depth)
		pop_to(core, calls->depth - 1);
	push(core, top.ra, top.trap);
}

void rv_calls_trap(struct rv_core *core)
{
	push(core, 0, true);
}

void rv_calls_mret(struct rv_core *core)
{
	struct rv_calls *calls = core->calls;

	for (unsigned i = calls->depth; i--;) {
		if (calls->frame[i].trap) {
			pop_to(core, i);
			return;
		}
	}
}

void rv_calls_reset(struct rv_core *core)
{
	core->done = 0;
	pop_to(core, 0);
}

int rv_core_watch_calls(struct rv_core *core, const struct rv_call_watch *watch)
{
	if (watch) {
		struct rv_calls *calls = calloc(1, sizeof(*calls));

		if (!calls)
			return -ENOMEM;
		calls->watch = *watch;
		free(core->calls);
		core->calls = calls;
	} else {
		free(core->calls);
		core->calls = NULL;
	}
	rv_core_flush_decoded(core);
	return 0;
}
