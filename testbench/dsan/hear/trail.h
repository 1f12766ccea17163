/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trail of a thread: the places of the driver where it has come by last, in whatever memory it
 * loaded or stored. It names the functions behind a result that no access to the device explains.
 */
#ifndef TESTBENCH_DSAN_HEAR_TRAIL_H
#define TESTBENCH_DSAN_HEAR_TRAIL_H

#include <stdbool.h>
#include <stddef.h>

/* The running thread comes by; outside of the driver's threads nothing is noted. */
void trail_note(const void *pc);
/* It begins a call of the driver: nothing happens when that is part of another one. */
void trail_begin(void);
/* It is in a call of the driver's interface. */
void trail_asked(bool asked);
/* It takes something that it must give back; it gives something back. A call that fails does so when it
 * undoes what it did: what ran before is what made it fail. */
void trail_takes(void);
void trail_undoes(void);
/* Something that the driver needs was refused to it, such as memory or a command: rc, a negative errno. */
void trail_refused(int rc);
/* The newest places on its trail, the latest first. Returns how many, at most `max`. */
unsigned trail_newest(const void **pcs, unsigned max);
/* The functions on its trail since the call began, the latest first. */
void trail_format(char *text, size_t size);
/* The first ones, in their order. */
void trail_format_first(char *text, size_t size);
struct runner;
/* The first places of any thread's last call, in their order. Returns how many, at most `max`. */
unsigned trail_first_of(const struct runner *r, const void **pcs, unsigned max);
/* As trail_format(), up to where the call began to undo what it did. */
void trail_format_before_undo(char *text, size_t size);
/* The functions of the calls that other threads of this host were in when this one began: the end of a
 * sentence, or nothing. */
void trail_format_meanwhile(char *text, size_t size);

#endif
