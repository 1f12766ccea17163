/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI function as the driver sets it up: how it resets the device, what it writes back after that,
 * the vectors of MSI-X, and what it leaves behind when it goes.
 */
#ifndef TESTBENCH_DSAN_DEVICE_FUNCTION_H
#define TESTBENCH_DSAN_DEVICE_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct ask;
struct checker;

/* A register is written raw for the driver's caller, who is not judged; or no longer. */
void function_raw(struct checker *c, bool raw);
/* The driver begins with this device. */
void function_begin(struct checker *c);
/* It is about to write configuration space, or 32 bits of BAR 0. */
void function_config(struct checker *c, unsigned offset, uint32_t value, const void *pc);
void function_register(struct checker *c, uint64_t offset, uint32_t value, const void *pc);
/* It has read them. */
void function_config_read(struct checker *c, unsigned offset, uint32_t value, const void *pc);
void function_register_read(struct checker *c, uint64_t offset, uint32_t value, const void *pc);
/* A handler was set for the vector, or taken away. */
void function_handler(struct checker *c, unsigned vector, int more);
/* A command is given, an EQ with that vector is armed. */
void function_command(struct checker *c, const void *pc);
void function_armed(struct checker *c, unsigned vector, const void *pc);
/* The driver was removed. */
void function_left_check(struct ask *a);

#endif
