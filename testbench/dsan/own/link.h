/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link of a QLogic 6120: a handler of interrupts that looks at it tells the driver's users when it has become
 * active, or is no longer, since they were told last. Somebody else may have looked before, such as a query or a
 * management datagram, but has told nobody. The link may also change behind a handler's own look at it, and then the
 * next handler tells. Source: Linux qib_handle_e_ibstatuschanged, which compares with the
 * flags that it keeps itself, and signal_ib_event.
 */
#ifndef TESTBENCH_DSAN_OWN_LINK_H
#define TESTBENCH_DSAN_OWN_LINK_H

#include "testbench/os/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checker;
struct drv_event;

struct link_told {
	/* the driver's users; NULL: there are none */
	void (*fn)(void *arg, const struct drv_event *event);
	void *arg;
	bool told; /* that it is active */
	bool in_handler, looked;
	bool late;       /* a handler has ended and not told; the next one must */
	unsigned thread; /* of the handler: ask_thread() */
	bool active;     /* as the handler saw it last */
	const void *pc;  /* there */
	struct calls by;
};

/* A driver begins with the device. */
void link_begin(struct link_told *l);
void link_handler_begins(struct link_told *l);
void link_handler_ends(struct checker *c, struct link_told *l);
/* The driver has read a register of BAR 0. */
void link_read(struct link_told *l, uint64_t offset, const uint8_t *bytes, size_t size,
	       const void *pc);
/* An event is told: to be registered in place of the users' function. */
void link_event(void *link_told, const struct drv_event *event);

#endif
