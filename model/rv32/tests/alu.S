/* SPDX-License-Identifier: Apache-2.0 */
/* RV32I register and immediate arithmetic, jumps and branches. */
#include "isa.inc"

.macro RR n, op, a, b, want
	li a0, \a
	li a1, \b
	\op a2, a0, a1
	CHECK \n, a2, \want
.endm

.macro RI n, op, a, imm, want
	li a0, \a
	\op a0, a0, \imm
	CHECK \n, a0, \want
.endm

/* \taken: 1 if the branch must be taken. */
.macro BR n, op, a, b, taken
	li gp, \n
	li a0, \a
	li a1, \b
	li a2, 0
	\op a0, a1, 1f
	j 2f
1:	li a2, 1
2:	CHECK \n, a2, \taken
.endm

	START
	RR 1, add, 0x7fffffff, 1, 0x80000000
	RR 2, sub, 0, 1, 0xffffffff
	RR 3, sll, 1, 31, 0x80000000
	RR 4, sll, 1, 33, 2
	RR 5, srl, 0x80000000, 31, 1
	RR 6, sra, 0x80000000, 31, 0xffffffff
	RR 7, sra, 0x80000000, 0x24, 0xf8000000
	RR 8, slt, 0x80000000, 0x7fffffff, 1
	RR 9, sltu, 0x80000000, 0x7fffffff, 0
	RR 10, xor, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0
	RR 11, or, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0
	RR 12, and, 0xff00ff00, 0x0ff00ff0, 0x0f000f00
	RI 13, addi, 0, -2048, 0xfffff800
	RI 14, slti, -1, 0, 1
	RI 15, sltiu, 5, -1, 1		/* the immediate is sign-extended, then unsigned */
	RI 16, xori, 0x0f0f0f0f, -1, 0xf0f0f0f0
	RI 17, ori, 0, -1, 0xffffffff
	RI 18, andi, 0xffffffff, 0x7ff, 0x7ff
	RI 19, slli, 3, 30, 0xc0000000
	RI 20, srli, 0xc0000000, 30, 3
	RI 21, srai, 0xc0000000, 30, 0xffffffff

	lui a0, 0xfffff
	CHECK 22, a0, 0xfffff000
1:	auipc a0, 1
	la a1, 1b
	sub a0, a0, a1
	CHECK 23, a0, 0x1000

	/* x0 stays 0, whichever instruction writes it. */
	li a0, 7
	add x0, a0, a0
	lui x0, 1
	jal x0, 1f
1:	CHECK 24, x0, 0

	BR 30, beq, 1, 1, 1
	BR 31, beq, 1, 2, 0
	BR 32, bne, 1, 2, 1
	BR 33, bne, 2, 2, 0
	BR 34, blt, -1, 1, 1
	BR 35, blt, 1, 1, 0
	BR 36, bge, 1, 1, 1
	BR 37, bge, -1, 1, 0
	BR 38, bltu, 1, -1, 1
	BR 39, bltu, -1, 1, 0
	BR 40, bgeu, -1, 1, 1
	BR 41, bgeu, 1, -1, 0

	/* jal and jalr link; jalr drops bit 0, and may use its own destination as base. */
	.option push
	.option norvc
	jal a0, 1f
1:	la a1, 1b
	li gp, 42
	bne a0, a1, fail
	la a0, 2f
	jalr a0, a0, 1
2:	la a1, 2b
	li gp, 43
	bne a0, a1, fail
	.option pop

	/* Backward branch: a loop of 10. */
	li a0, 10
	li a1, 0
3:	addi a1, a1, 3
	addi a0, a0, -1
	bnez a0, 3b
	CHECK 44, a1, 30
	FINISH
