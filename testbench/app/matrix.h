/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenarios as a matrix: each host has the transport in hardware (hw: mlx4) or in software (sw:
 * ipath, whose driver is host_driver/ipath/ under host_driver/rvt/). testbench/scripts/matrix.sh
 * runs it.
 */
#ifndef TESTBENCH_MATRIX_H
#define TESTBENCH_MATRIX_H

#include <stdbool.h>
#include <stdio.h>

struct config;
struct scenario;

/*
 * Prints a line a scenario: name, and the last results with both hosts hw, the second one sw, the
 * first one sw, both sw; a tab between them. A result is pass, fail, refused with what the device
 * lacks in brackets, or not-run. `results` is the file of matrix.sh. 0 or -EIO.
 */
int matrix_print(FILE *out, const char *results);

/* What a scenario needs that the devices of this configuration do not have; NULL: nothing. */
const char *matrix_lacks(const struct scenario *scenario, const struct config *config);

#endif
