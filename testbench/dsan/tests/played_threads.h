// SPDX-License-Identifier: Apache-2.0
/* The threads of the simulation and checker.c, as tests of testbench/dsan/threads play them. */
#ifndef TESTBENCH_DSAN_PLAYED_THREADS_H
#define TESTBENCH_DSAN_PLAYED_THREADS_H

#include "testbench/dsan/threads/threads_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct kernel_thread {
	unsigned number;
};

enum { PLACES = 16 };

extern struct kernel_thread one, two;
extern const struct kernel_thread *running;
extern struct checker c;
extern const char
	places[PLACES]; /* in the driver: the first half is one function, the rest another */
extern unsigned reports;
extern enum guest_rule reported;
extern int lock, other_lock;
extern uint32_t shared;
extern struct sleeping s;
extern struct platform platform;
extern struct platform_waitq *const queue;
/* Memory that has a flag, and what the flag keeps from being freed. */
extern struct piece {
	uint8_t busy, other;
	uint32_t work;
} piece;

/* Set-up and tear-down of each test. */
int begin(void **state);
int end(void **state);

void expect_rule(enum guest_rule rule);
/* The running thread takes a lock. */
void take(const void *what, unsigned place);
void others_run(void);

#endif
