/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter of the firmware's processor, which also notes each edge of the firmware's flow.
 * A fuzzer that sees only the host's code sees the interpreter's branches, which any firmware soon
 * takes; here it sees the firmware's own. libFuzzer reads the bytes of the section, and sets them
 * to 0 before each input.
 *
 * Edges are told apart by a hash of both addresses: some 2 % of them share a byte.
 */
#include <stdint.h>

enum { EDGES_LOG = 16 };

static uint8_t reached[1 << EDGES_LOG] __attribute__((section("__libfuzzer_extra_counters"), used));

/* Not how often: each length of a loop would look like something new. */
static void edge_mark(uint32_t from, uint32_t to)
{
	reached[(from * 0x9e3779b1u + to * 0x85ebca6bu) >> (32 - EDGES_LOG)] = 1;
}
#define RV_EDGE(from, to) edge_mark(from, to)

/* Counting the interpreter's own branches, too, would cost half of its time. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif
#include "model/rv32/execute.c"
#ifdef __clang__
#pragma clang attribute pop
#endif
