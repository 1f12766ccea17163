/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why nothing happens: what a device waits for, and what waits for the driver. Each line names an object
 * and a reason. Many of them are normal for a moment; they matter when nothing happens for long. Takes
 * no simulated time and changes nothing.
 */
#ifndef TESTBENCH_STALL_H
#define TESTBENCH_STALL_H

#include <stdio.h>

struct hca;

/* Prints one line each, at most `room`, with `before` in front; returns how many there are. */
unsigned stall_print(struct hca *hca, const char *before, unsigned room, FILE *out);

#endif
