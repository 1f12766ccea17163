/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a process and its library have taken, and not given back. */
#ifndef TESTBENCH_SCENARIOS_PROGRAMS_HEAP_PIECES_H
#define TESTBENCH_SCENARIOS_PROGRAMS_HEAP_PIECES_H

#include "testbench/harm.h"
#include "testbench/process.h"

/* How many pieces its heap has. */
static inline unsigned heap_pieces(const struct uv_process *process)
{
	unsigned n = 0;

	for (const struct drv_list *l = process->heap.next; l != &process->heap; l = l->next)
		n++;
	return n;
}

/* As MADE_WITHOUT_MEMORY() of harm.h: the call that fails must give back what it took of the heap. */
#define MADE_WITHOUT_PIECES(made)                                                                  \
	MADE_WITHOUT_MEMORY(({                                                                     \
		const unsigned pieces_ = heap_pieces(uv_process_current());                        \
		const bool is_made_ = (made);                                                      \
                                                                                                   \
		if (!is_made_ && heap_pieces(uv_process_current()) != pieces_)                     \
			return __LINE__;                                                           \
		is_made_;                                                                          \
	}))

#endif
