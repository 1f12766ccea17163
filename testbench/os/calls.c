/* SPDX-License-Identifier: Apache-2.0 */
/* See calls.h. */
#define _GNU_SOURCE
#include "testbench/os/calls.h"

#include "model/systemc/kernel.h"

#include <stdint.h>
#include <ucontext.h>

/* What the frame pointer points to, on x86-64 and arm64. */
struct frame {
	const struct frame *caller;
	const void *return_address;
};

/* A function without a frame pointer may have left anything in the register. So a step must go up
 * and stay within the stack of the thread. */
__attribute__((no_sanitize_address)) static void
walk(struct calls *calls, const struct frame *frame, const struct frame *end)
{
	while (calls->n < CALLS_MAX && frame < end && (uintptr_t)frame % sizeof(void *) == 0) {
		calls->pc[calls->n++] = frame->return_address;
		if (frame->caller <= frame)
			break;
		frame = frame->caller;
	}
}

__attribute__((noinline, no_sanitize_address)) void calls_take(struct calls *calls,
							       const struct kernel_thread *thread)
{
	const struct frame *frame = __builtin_frame_address(0);

	calls->n = 0;
	if (thread) /* the first call to keep is that of our caller */
		walk(calls, frame->caller, kernel_thread_outermost(thread));
}

void calls_of_waiting(struct calls *calls, const struct kernel_thread *thread)
{
	calls->n = 0;
	if (kernel_thread_innermost(thread))
		walk(calls, kernel_thread_innermost(thread), kernel_thread_outermost(thread));
}

enum { OUTSIDE_BYTES = 8 << 20 /* the stack of a process, by default */ };

static const void *outside;

void calls_outside_begin(const void *frame)
{
	outside = frame;
}

void calls_of_signal(struct calls *calls, const void *context)
{
	const struct kernel_thread *thread = kernel_thread_running();
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
#ifdef __x86_64__
	const uintptr_t pc = (uintptr_t)m->gregs[REG_RIP], frame = (uintptr_t)m->gregs[REG_RBP];
#else
	const uintptr_t pc = m->pc, frame = m->regs[29];
#endif

	/* a return address stands behind its call */
	*calls = (struct calls){.n = 1, .pc = {(const void *)(pc + 1)}};
	if (thread)
		walk(calls, (const void *)frame, kernel_thread_outermost(thread));
	else if ((uintptr_t)outside - frame < OUTSIDE_BYTES)
		walk(calls, (const void *)frame, outside);
}
