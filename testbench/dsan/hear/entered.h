/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions of the driver, or of a transport in software, each thread has entered last. A mistake
 * in the layers above mlx4 seldom breaks a rule of the device, and one in mlx4 not always: a caller gets a
 * wrong value, or waits for what never comes. Then this is what is known of the way to it.
 */
#ifndef TESTBENCH_DSAN_HEAR_ENTERED_H
#define TESTBENCH_DSAN_HEAR_ENTERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The running thread begins or ends to undo what its process has left. What went wrong came before that,
 * so the functions that undo are not noted. */
void entered_process_ends(bool ends);
bool entered_process_is_ending(void);
/* The functions that the running thread has entered, the latest first, and those that set what it read. */
enum { ENTERED_CHARS = 440 };
void entered_format(char text[ENTERED_CHARS]);
/* Those of the lowest layer that the running thread has entered last, the latest first. */
void entered_format_lowest(char *text, size_t size);
/* No thread has entered any. */
void entered_forget(void);
/* The functions of mlx4 that the running thread has entered last, the latest first: to be told later. */
enum { LATELY = 24 }; /* a post enters some 15 */
struct entered_lately {
	uint32_t at[LATELY]; /* code_offset() */
	uint32_t n;
};
void entered_lately_take(struct entered_lately *lately);
void entered_lately_format(const struct entered_lately *lately, char *text, size_t size);
/* Leaves out the functions that only pass a call on to the device's driver. Returns how many are left. */
unsigned entered_below_interface(const void **pcs, unsigned n);
/* As checker_functions(), but those that run all the time stand further back: if they were wrong, the run
 * would have failed before. */
void entered_rank(const void *const *pcs, unsigned n, char *text, size_t size);

#endif
