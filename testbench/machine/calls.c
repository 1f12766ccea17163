/* SPDX-License-Identifier: Apache-2.0 */
/* See calls.h. */
#include "testbench/machine/calls.h"

#include "model/systemc/kernel.h"

#include <stdint.h>

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
	calls->n = 0;
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
