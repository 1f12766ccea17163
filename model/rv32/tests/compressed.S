/* SPDX-License-Identifier: Apache-2.0 */
/* C: each instruction by its own encoding; hints do nothing; reserved encodings are illegal with mtval. */
#include "isa.inc"

/* An encoding that must trap as illegal. The handler skips it and counts it in s11. */
.macro ILLEGAL n, bits
	li gp, \n
	li s10, \bits
	li s11, 0
	.half \bits
	CHECK \n, s11, 1
.endm

	START
	la t0, count_illegal
	csrw mtvec, t0

	la s0, data
	c.lw a0, 0(s0)
	CHECK 1, a0, 0x01020304
	c.lw a1, 124(s0)
	CHECK 2, a1, 0x0a0b0c0d
	c.sw a1, 4(s0)
	lw a0, 4(s0)
	CHECK 3, a0, 0x0a0b0c0d
	c.li a0, -32
	CHECK 4, a0, -32
	c.addi a0, 31
	CHECK 5, a0, -1
	c.lui a0, 0xfffe0
	CHECK 6, a0, 0xfffe0000
	c.lui a0, 0x1f
	CHECK 7, a0, 0x1f000
	c.srli a0, 12
	CHECK 8, a0, 0x1f
	c.slli a0, 27
	CHECK 9, a0, 0xf8000000
	c.srai a0, 31
	CHECK 10, a0, -1
	c.andi a0, -16
	CHECK 11, a0, -16
	c.li a1, 9
	c.mv a0, a1
	CHECK 12, a0, 9
	c.add a0, a1
	CHECK 13, a0, 18
	c.sub a0, a1
	CHECK 14, a0, 9
	c.li a1, 12
	c.xor a0, a1
	CHECK 15, a0, 5
	c.or a0, a1
	CHECK 16, a0, 13
	c.li a1, 7
	c.and a0, a1
	CHECK 17, a0, 5

	mv s1, sp
	c.addi16sp sp, -512
	sub a0, s1, sp
	CHECK 20, a0, 512
	c.addi16sp sp, 496
	sub a0, s1, sp
	CHECK 21, a0, 16
	addi sp, s1, -256
	c.addi4spn a0, sp, 252
	addi a0, a0, 4
	li gp, 22
	bne a0, s1, fail
	li a1, 0x600df00d
	c.swsp a1, 252(sp)
	lw a0, -4(s1)
	CHECK 23, a0, 0x600df00d
	sw a0, -256(s1)
	c.lwsp a2, 0(sp)
	CHECK 24, a2, 0x600df00d
	mv sp, s1

	li gp, 30
	c.j 1f
	j fail
1:	c.jal 2f		/* links the address after itself, 2 bytes further on */
3:	j 4f
2:	la a0, 3b
	bne ra, a0, fail
	c.jr ra
4:	li gp, 31
	la a0, 6f
	c.jalr a0
5:	j 7f
6:	la a1, 5b
	bne ra, a1, fail
	c.jr ra
7:	c.li a0, 0
	li a1, 0
	c.beqz a0, 8f
	li a1, 1
8:	CHECK 32, a1, 0
	c.li a0, 3
9:	c.addi a1, 2
	c.addi a0, -1
	c.bnez a0, 9b
	CHECK 33, a1, 6

	/* Hints. */
	.half 0x0085		/* c.nop with an immediate: c.addi x0, 1 */
	.half 0x4005		/* c.li x0, 1 */
	.half 0x6005		/* c.lui x0, 1 */
	.half 0x802e		/* c.mv x0, a1 */
	.half 0x902e		/* c.add x0, a1 */
	.half 0x0006		/* c.slli x0, 1 */
	.half 0x8181		/* c.srli a1, 0 */
	CHECK 40, x0, 0
	CHECK 41, a1, 6

	ILLEGAL 50, 0x0000
	ILLEGAL 51, 0x0008	/* c.addi4spn a0, sp, 0 */
	ILLEGAL 52, 0x6101	/* c.addi16sp 0 */
	ILLEGAL 53, 0x6501	/* c.lui a0, 0 */
	ILLEGAL 54, 0x4002	/* c.lwsp x0 */
	ILLEGAL 55, 0x8002	/* c.jr x0 */
	ILLEGAL 56, 0x9101	/* c.srli a0 by 32 */
	ILLEGAL 57, 0x1502	/* c.slli a0 by 32 */
	ILLEGAL 58, 0x9d0d	/* RV64 c.subw */
	ILLEGAL 59, 0x2108	/* D c.fld */
	ILLEGAL 60, 0x6108	/* F c.flw */
	ILLEGAL 61, 0x8000	/* reserved */

	/* A 32-bit instruction that is not aligned to a word. */
	.balign 4
	c.nop
	.option push
	.option norvc
	lui a0, 0x12345
	.option pop
	CHECK 70, a0, 0x12345000

	/* c.ebreak */
	la t0, note_break
	csrw mtvec, t0
	li s11, 0
	.half 0x9002
	CHECK 71, s11, 3
	j done

	.balign 4
count_illegal:
	csrr t5, mcause
	addi t5, t5, -2
	bnez t5, fail
	csrr t5, mtval
	bne t5, s10, fail
	csrr t5, mepc
	addi t5, t5, 2
	csrw mepc, t5
	addi s11, s11, 1
	mret
	.balign 4
note_break:
	csrr s11, mcause
	csrr t5, mepc
	addi t5, t5, 2
	csrw mepc, t5
	mret
done:
	FINISH

	.data
	.balign 8
data:	.word 0x01020304
	.space 120
	.word 0x0a0b0c0d
