// SPDX-License-Identifier: Apache-2.0
/* See callout.h. The names that begin with __tsan_, __ubsan_ and __cyg_ are those that gcc calls. */
#include "testbench/dsan/hear/callout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One process runs one simulation, and gcc's calls carry no object: so these are global. */
static bool built;
static uintptr_t first, span; /* of all memory watched */
static struct callout_listener *listeners;
static unsigned elsewhere; /* listeners that hear of stores to other memory */
static unsigned elsewhere_loads;

bool callouts_built(void)
{
	return built;
}

void callouts_watch(const void *base, uint64_t bytes)
{
	const uintptr_t at = (uintptr_t)base;
	const uintptr_t end = span && first + span > at + bytes ? first + span : at + bytes;

	if (!span || at < first)
		first = at;
	span = end - first;
}

void callout_listen(struct callout_listener *l)
{
	struct callout_listener **at = &listeners;

	while (*at)
		at = &(*at)->next;
	l->next = NULL;
	*at = l;
	elsewhere += !!l->elsewhere;
	elsewhere_loads += !!l->elsewhere_load;
}

void callout_leave(struct callout_listener *l)
{
	for (struct callout_listener **at = &listeners; *at; at = &(*at)->next) {
		if (*at == l) {
			*at = l->next;
			elsewhere -= !!l->elsewhere;
			elsewhere_loads -= !!l->elsewhere_load;
			return;
		}
	}
}

static inline bool watched(uintptr_t at)
{
	return at - first < span;
}

static void loads(uintptr_t at, size_t bytes, const void *pc)
{
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->load)
			l->load(l->ctx, at, bytes, pc);
}

static void stores(uintptr_t at, size_t bytes, const void *pc)
{
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->store)
			l->store(l->ctx, at, bytes, pc);
}

static void others(uintptr_t at, size_t bytes, const void *pc)
{
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->elsewhere)
			l->elsewhere(l->ctx, at, bytes, pc);
}

static void other_loads(uintptr_t at, size_t bytes, const void *pc)
{
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->elsewhere_load)
			l->elsewhere_load(l->ctx, at, bytes, pc);
}

static void copies(uintptr_t at, uintptr_t from, size_t bytes)
{
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->copied)
			l->copied(l->ctx, at, from, bytes);
}

static void copy_heard(void *to, const void *from, size_t bytes, const void *pc)
{
	if (bytes && watched((uintptr_t)from))
		loads((uintptr_t)from, bytes, pc);
	else if (elsewhere_loads && bytes)
		other_loads((uintptr_t)from, bytes, pc);
	if (bytes && watched((uintptr_t)to)) {
		stores((uintptr_t)to, bytes, pc);
		if (elsewhere && !watched((uintptr_t)from))
			copies((uintptr_t)to, (uintptr_t)from, bytes);
	} else if (elsewhere && bytes) {
		others((uintptr_t)to, bytes, pc);
	}
}

/* --- what gcc calls --- */

void __tsan_init(void);
void __tsan_init(void)
{
	built = true;
}

#define ACCESS(name, of, wanted, of_others, bytes)                                                 \
	void name(void *at);                                                                       \
	void name(void *at)                                                                        \
	{                                                                                          \
		if (watched((uintptr_t)at))                                                        \
			of((uintptr_t)at, bytes, __builtin_return_address(0));                     \
		else if (wanted)                                                                   \
			of_others((uintptr_t)at, bytes, __builtin_return_address(0));              \
	}
#define ACCESSES(bytes)                                                                            \
	ACCESS(__tsan_read##bytes, loads, elsewhere_loads, other_loads, bytes)                     \
	ACCESS(__tsan_write##bytes, stores, elsewhere, others, bytes)                              \
	ACCESS(__tsan_unaligned_read##bytes, loads, elsewhere_loads, other_loads, bytes)           \
	ACCESS(__tsan_unaligned_write##bytes, stores, elsewhere, others, bytes)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void *at, size_t bytes);
void __tsan_read_range(void *at, size_t bytes)
{
	if (watched((uintptr_t)at) && bytes)
		loads((uintptr_t)at, bytes, __builtin_return_address(0));
	else if (elsewhere_loads && bytes)
		other_loads((uintptr_t)at, bytes, __builtin_return_address(0));
}

void __tsan_write_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes)
{
	if (watched((uintptr_t)at) && bytes)
		stores((uintptr_t)at, bytes, __builtin_return_address(0));
	else if (elsewhere && bytes)
		others((uintptr_t)at, bytes, __builtin_return_address(0));
}

static void enter(const void *pc)
{
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->enter)
			l->enter(l->ctx, pc);
}

static void leave(const void *frame)
{
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->leave)
			l->leave(l->ctx, frame);
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	enter(__builtin_return_address(0));
}

/* The function that ends was compiled with frame pointers, and so was this file. */
#define FRAME_OF_CALLER (*(const void *const *)__builtin_frame_address(0))

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
	leave(FRAME_OF_CALLER);
}

/* Of a transport in software: what -finstrument-functions calls, which the Makefile renames there. */
void callout_entered(void *function, void *caller);
void callout_entered(void *function, void *caller)
{
	enter((const char *)function + 1);
}

void callout_left(void *function, void *caller);
void callout_left(void *function, void *caller)
{
	leave(FRAME_OF_CALLER);
}

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_enter(void *function, void *caller)
{
	/* other places are return addresses: the byte before them is in the function */
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->visit)
			l->visit(l->ctx, (const char *)function + 1);
}

void __cyg_profile_func_exit(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller)
{
}

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	unsigned fence = CALLOUT_FENCE_LOADS | CALLOUT_FENCE_STORES;

	if (order == __ATOMIC_RELAXED)
		return;
	if (order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME)
		fence = CALLOUT_FENCE_LOADS;
	else if (order == __ATOMIC_RELEASE)
		fence = CALLOUT_FENCE_STORES;
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->fence)
			l->fence(l->ctx, fence, __builtin_return_address(0));
}

/* What gcc says of a place: its own structures, as its library declares them (libsanitizer's
 * ubsan_value.h and ubsan_handlers.h). */
struct source_place {
	const char *file;
	uint32_t line, column;
};

struct type_said {
	uint16_t kind; /* 0: an integer */
	uint16_t
		info; /* of an integer: bit 0 it has a sign, others the binary logarithm of its bits */
	char name[]; /* in quotation marks */
};

struct bounds_said {
	struct source_place place;
	const struct type_said *array, *index;
};

struct shift_said {
	struct source_place place;
	const struct type_said *value, *by;
};

/* An integer of 64 bits at most is handed over itself, a longer one by its address. */
static int64_t integer_said(const struct type_said *type, uintptr_t value)
{
	const unsigned bits = 1u << (type->info >> 1);

	if (bits > 64)
		return *(const int64_t *)value;
	if (bits == 64 || !(type->info & 1))
		return (int64_t)value;
	return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static void beyond(const char *what, const void *pc)
{
	for (struct callout_listener *l = listeners; l; l = l->next)
		if (l->beyond)
			l->beyond(l->ctx, what, pc);
}

void __ubsan_handle_out_of_bounds(struct bounds_said *said, uintptr_t index);
void __ubsan_handle_out_of_bounds(struct bounds_said *said, uintptr_t index)
{
	char what[128];

	snprintf(what, sizeof(what), "index %" PRId64 " lies beyond an array %s",
		 integer_said(said->index, index), said->array->name);
	beyond(what, __builtin_return_address(0));
}

void __ubsan_handle_shift_out_of_bounds(struct shift_said *said, uintptr_t value, uintptr_t by);
void __ubsan_handle_shift_out_of_bounds(struct shift_said *said, uintptr_t value, uintptr_t by)
{
	char what[128];

	snprintf(what, sizeof(what), "a value of type %s, %u bits, is shifted by %" PRId64,
		 said->value->name, 1u << (said->value->info >> 1), integer_said(said->by, by));
	beyond(what, __builtin_return_address(0));
}

/* gcc's option -fstack-protector-strong: a function that returns has written beyond an array of its own. Its
 * caller may be overwritten, too, so nothing can go on. */
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
	beyond("an array on the stack of this function was written beyond its end",
	       __builtin_return_address(0));
	abort();
}

/* --- calls of libc, which the Makefile renames in the driver: gcc puts no call before these --- */

void *callout_memcpy(void *to, const void *from, size_t bytes);
void *callout_memcpy(void *to, const void *from, size_t bytes)
{
	copy_heard(to, from, bytes, __builtin_return_address(0));
	return memcpy(to, from, bytes);
}

void *callout_memmove(void *to, const void *from, size_t bytes);
void *callout_memmove(void *to, const void *from, size_t bytes)
{
	copy_heard(to, from, bytes, __builtin_return_address(0));
	return memmove(to, from, bytes);
}

void *callout_memset(void *to, int byte, size_t bytes);
void *callout_memset(void *to, int byte, size_t bytes)
{
	if (bytes && watched((uintptr_t)to))
		stores((uintptr_t)to, bytes, __builtin_return_address(0));
	else if (elsewhere && bytes)
		others((uintptr_t)to, bytes, __builtin_return_address(0));
	return memset(to, byte, bytes);
}
