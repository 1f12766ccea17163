/* SPDX-License-Identifier: Apache-2.0 */
/* Fails on purpose at check 5: rv32run must report it. */
#include "isa.inc"

	START
	li a0, 1
	CHECK 4, a0, 1
	CHECK 5, a0, 2
	FINISH
