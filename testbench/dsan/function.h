/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI function as the driver sets it up: what it writes back after a reset, the vectors of MSI-X,
 * and what it leaves behind when it goes.
 */
#ifndef TESTBENCH_DSAN_FUNCTION_H
#define TESTBENCH_DSAN_FUNCTION_H

#include <stdint.h>

struct ask;
struct checker;

/* The driver writes configuration space, or 32 bits of BAR 0. */
void function_config(struct checker *c, unsigned offset, uint32_t value, const void *pc);
void function_register(struct checker *c, uint64_t offset, uint32_t value, const void *pc);
/* A handler was set for the vector, or taken away. */
void function_handler(struct checker *c, unsigned vector, int more);
/* A command is given, an EQ with that vector is armed. */
void function_command(struct checker *c, const void *pc);
void function_armed(struct checker *c, unsigned vector, const void *pc);
/* The driver was removed. */
void function_left_check(struct ask *a);

#endif
