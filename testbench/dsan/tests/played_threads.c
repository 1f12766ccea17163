// SPDX-License-Identifier: Apache-2.0
/* See played_threads.h. */
#include "testbench/dsan/tests/played_threads.h"

#include "testbench/dsan/held/counts.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/os/symbols.h"

struct kernel_thread one = {1}, two = {2};
const struct kernel_thread *running;
struct checker c;
const char places[PLACES];
unsigned reports;
enum guest_rule reported;
int lock, other_lock;
uint32_t shared;
struct sleeping s;
struct piece piece;

void heap_load(struct checker *of, uintptr_t at, size_t bytes, const void *pc, const void *caller,
	       const void *handler)
{
}

void heap_store(struct checker *of, uintptr_t at, size_t bytes, const void *pc)
{
}

void heap_forget(void)
{
}

static bool is_of_piece(uintptr_t at)
{
	return at - (uintptr_t)&piece < sizeof(piece);
}

bool heap_same(uintptr_t at, uintptr_t other)
{
	return is_of_piece(at) && is_of_piece(other);
}

unsigned heap_pointers(uintptr_t at, size_t bytes, const void **pcs, unsigned max)
{
	return 0;
}

void counts_forget(void)
{
}

void chain_take(struct calls *calls)
{
	calls->n = 0;
}

void chain_format(const struct calls *calls, char *text, size_t size)
{
	snprintf(text, size, "nobody");
}

struct kernel_thread *kernel_thread_running(void)
{
	return (struct kernel_thread *)running;
}

unsigned kernel_thread_number(const struct kernel_thread *thread)
{
	return thread->number;
}

const void *kernel_thread_outermost(const struct kernel_thread *thread)
{
	return NULL; /* nothing here is on a stack */
}

static void note(struct checker *of, const struct breach *b, const char *format, ...)
{
	reports++;
	reported = b->rule;
}

size_t symbols_find(const void *pc, struct symbol *symbols, size_t room)
{
	const bool second = (const char *)pc - places >= PLACES / 2;

	*symbols = (struct symbol){.line = (int)((const char *)pc - places)};
	snprintf(symbols->name, sizeof(symbols->name), second ? "second" : "first");
	snprintf(symbols->file, sizeof(symbols->file), second ? "second.c" : "first.c");
	return 1;
}

/* --- the driver's calls --- */

static bool played_wait(struct platform *p, struct platform_waitq *q, uint64_t deadline_ps)
{
	return true;
}

static void played_wake(struct platform *p, struct platform_waitq *q)
{
}

static void played_sleep(struct platform *p, uint64_t ps)
{
}

static void played_write(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
			 unsigned size)
{
}

static const struct platform_ops played = {.mmio_write = played_write,
					   .waitq_wait = played_wait,
					   .waitq_wake_all = played_wake,
					   .waitq_destroy = played_wake,
					   .sleep_ps = played_sleep};
struct platform platform;
struct platform_waitq *const queue = (void *)&lock;

int begin(void **state)
{
	c.tell = note;
	platform.ops = &played;
	threads_hear(&c, &platform);
	running = &one;
	platform.ops->sleep_ps(&platform, 0);
	running = &two;
	platform.ops->sleep_ps(&platform, 0);
	running = &one;
	reports = 0;
	shared = 0;
	return 0;
}

int end(void **state)
{
	waits_end(&s);
	locks_forget(&lock);
	locks_forget(&other_lock);
	threads_leave(&platform);
	return 0;
}

void expect_rule(enum guest_rule rule)
{
	assert_int_equal(reports, 1);
	assert_int_equal(reported, rule);
}

void take(const void *what, unsigned place)
{
	locks_want(&c, what, &places[place]);
	locks_got(&c, what, &places[place]);
}

void others_run(void)
{
	platform.ops->sleep_ps(&platform, 0);
}
