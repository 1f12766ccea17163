/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores: sizes, extension, negative offsets, misaligned inside RAM; stores into code with fence.i. */
#include "isa.inc"

	START
	la s0, words
	lw a0, 0(s0)
	CHECK 1, a0, 0x80ff7f01
	lb a0, 0(s0)
	CHECK 2, a0, 1
	lb a0, 2(s0)
	CHECK 3, a0, 0xffffffff
	lbu a0, 2(s0)
	CHECK 4, a0, 0xff
	lh a0, 2(s0)
	CHECK 5, a0, 0xffff80ff
	lhu a0, 2(s0)
	CHECK 6, a0, 0x80ff
	addi s1, s0, 8
	lw a0, -4(s1)
	CHECK 7, a0, 0x55667788

	lw a0, 1(s0)
	CHECK 10, a0, 0x8880ff7f
	lw a0, 2(s0)
	CHECK 11, a0, 0x778880ff
	lw a0, 3(s0)
	CHECK 12, a0, 0x66778880
	lh a0, 3(s0)
	CHECK 13, a0, 0xffff8880
	lhu a0, 3(s0)
	CHECK 14, a0, 0x8880

	la s0, scratch
	li a1, 0xcafebabe
	sw a1, 1(s0)
	lw a0, 0(s0)
	CHECK 20, a0, 0xfebabe11
	lw a0, 4(s0)
	CHECK 21, a0, 0x222222ca
	sh a1, 3(s0)
	lw a0, 0(s0)
	CHECK 22, a0, 0xbebabe11
	lw a0, 4(s0)
	CHECK 23, a0, 0x222222ba
	sb a1, 6(s0)
	lw a0, 4(s0)
	CHECK 24, a0, 0x22be22ba

	/* The loop runs once, changes its own instruction, and runs again. */
	li a2, 0
	li a3, 2
again:
	.option push
	.option norvc
patch:
	addi a2, a2, 1
	.option pop
	la a0, patch
	la a1, new
	lw a1, 0(a1)
	sw a1, 0(a0)
	fence.i
	addi a3, a3, -1
	bnez a3, again
	CHECK 30, a2, 65
	FINISH

	.data
	.balign 8
words:	.word 0x80ff7f01, 0x55667788
scratch: .word 0x11111111, 0x22222222
	.option norvc
new:	addi a2, a2, 64
