/* SPDX-License-Identifier: Apache-2.0 */
/* The program of the debugger test: outer calls middle, which calls inner; each saves ra and s0. */
#include "isa.inc"

.macro FUNCTION name
	.section .text
	.balign 4
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	addi sp, sp, -16
	.cfi_def_cfa_offset 16
	sw ra, 12(sp)
	.cfi_offset ra, -4
.endm

.macro END name
	lw ra, 12(sp)
	addi sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size \name, . - \name
.endm

	START
	li a0, 5
	call outer
	CHECK 1, a0, 8
	FINISH

	FUNCTION outer
	addi a0, a0, 1
	call middle
	END outer

	FUNCTION middle
	addi a0, a0, 1
	call inner
	END middle

	FUNCTION inner
	.globl in_inner
in_inner:
	addi a0, a0, 1
	la a1, counter
	lw a2, 0(a1)
	addi a2, a2, 1
	sw a2, 0(a1)
	END inner

	.data
	.globl counter
	.type counter, @object
	.size counter, 4
	.balign 4
counter: .word 0x41
