/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter of the firmware's processor, with a counter for each edge of the firmware's flow.
 * A fuzzer that sees only the host's code sees the interpreter's branches, which any firmware soon
 * takes; these counters let it see the firmware's own. libFuzzer reads them from the section, and
 * sets them to 0 before each input.
 *
 * Edges are told apart by a hash of both addresses: some 2 % of them share a counter.
 */
#include <stdint.h>

enum { EDGES_LOG = 16 };

static uint8_t counters[1 << EDGES_LOG]
	__attribute__((section("__libfuzzer_extra_counters"), used));

static void edge_count(uint32_t from, uint32_t to)
{
	uint8_t *counter = &counters[(from * 0x9e3779b1u + to * 0x85ebca6bu) >> (32 - EDGES_LOG)];

	if (*counter < UINT8_MAX)
		++*counter;
}
#define RV_EDGE(from, to) edge_count(from, to)

/* Counting the interpreter's own branches, too, would cost half of its time. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif
#include "model/rv32/execute.c"
#ifdef __clang__
#pragma clang attribute pop
#endif
