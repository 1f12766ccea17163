/* SPDX-License-Identifier: Apache-2.0 */
/* Zicsr operations, WARL fields, counters. */
#include "isa.inc"

/* \instruction must trap as illegal, be 4 bytes long, and leave its bits in mtval. */
.macro ILLEGAL n, instruction:vararg
	li gp, \n
	li s11, 0
	.option push
	.option norvc
1:	\instruction
	.option pop
	la t5, 1b
	lw t5, 0(t5)
	bne t5, s11, fail
.endm

	START
	la t0, note_illegal
	csrw mtvec, t0

	li a0, 0xf0f0f0f0
	csrw mscratch, a0
	li a1, 0x0f0f0000
	csrrs a2, mscratch, a1
	CHECK 1, a2, 0xf0f0f0f0
	csrrc a2, mscratch, a1
	CHECK 2, a2, 0xfffff0f0
	csrrw a2, mscratch, a1
	CHECK 3, a2, 0xf0f0f0f0
	csrrwi a2, mscratch, 31
	CHECK 4, a2, 0x0f0f0000
	csrrci a2, mscratch, 5
	CHECK 5, a2, 31
	csrrsi a2, mscratch, 4
	CHECK 6, a2, 26
	csrr a2, mscratch
	CHECK 7, a2, 30
	csrrw a2, mscratch, a2	/* source and destination the same */
	CHECK 8, a2, 30

	csrr a0, misa
	CHECK 10, a0, 0x40001104
	csrw misa, zero
	csrr a0, misa
	CHECK 11, a0, 0x40001104
	csrr a0, mhartid
	CHECK 12, a0, 0
	csrr a0, mvendorid
	CHECK 13, a0, 0
	li a0, -1
	csrw mie, a0
	csrr a1, mie
	CHECK 14, a1, 0x888
	csrw mie, zero
	csrw mip, a0
	csrr a1, mip
	CHECK 15, a1, 0
	csrw mepc, a0
	csrr a1, mepc
	CHECK 16, a1, 0xfffffffe
	csrw mstatus, zero
	csrr a1, mstatus
	CHECK 17, a1, 0x1800
	li a0, 0xfffffff7	/* all but MIE */
	csrw mstatus, a0
	csrr a1, mstatus
	CHECK 18, a1, 0x1880
	csrw mstatus, zero
	csrr s0, mtvec
	li a0, 0x80000403
	csrw mtvec, a0
	csrr a1, mtvec
	csrw mtvec, s0
	CHECK 19, a1, 0x80000401
	csrw pmpcfg0, a0
	csrr a1, pmpcfg0
	CHECK 20, a1, 0
	csrr a1, tselect
	CHECK 21, a1, 0
	csrr a1, 0x310		/* mstatush */
	CHECK 22, a1, 0
	csrr a1, mhpmcounter3
	CHECK 23, a1, 0

	/* Counters: exact differences, the 64-bit carry, writes, inhibit. */
	csrr a0, minstret
	nop
	nop
	csrr a1, minstret
	sub a1, a1, a0
	CHECK 30, a1, 3
	csrwi mcycleh, 5
	li a0, -1
	csrw mcycle, a0
	csrr a1, mcycle		/* the value written */
	csrr a2, mcycle		/* carried */
	csrr a3, mcycleh
	CHECK 31, a1, -1
	CHECK 32, a2, 0
	CHECK 33, a3, 6
	csrwi mcountinhibit, 4
	csrr a0, minstret
	csrr a2, mcycle
	nop
	csrr a1, minstret
	csrr a3, mcycle
	csrwi mcountinhibit, 0
	sub a1, a1, a0
	sub a3, a3, a2
	CHECK 34, a1, 0
	CHECK 35, a3, 3
	csrr a0, cycleh
	CHECK 36, a0, 6
	csrr a0, instreth
	CHECK 37, a0, 0
	csrr a0, timeh
	CHECK 38, a0, 0

	ILLEGAL 50, csrw cycle, a0	/* read only */
	ILLEGAL 51, csrwi mhartid, 0
	ILLEGAL 52, csrr a0, sstatus	/* no S mode */
	ILLEGAL 53, csrr a0, mcounteren	/* no U mode */
	ILLEGAL 54, csrr a0, 0x7b0	/* debug mode only */
	ILLEGAL 55, csrr a0, fcsr
	ILLEGAL 56, sret
	ILLEGAL 57, .word 0x02551513	/* slli by 37 */
	ILLEGAL 58, .word 0xffffffff
	ILLEGAL 59, .word 0x0000100b	/* a custom opcode */
	li gp, 60
	csrrs a0, cycle, zero		/* no write: legal */
	csrrci a0, instret, 0
	j done

	.balign 4
note_illegal:
	csrr t5, mcause
	addi t5, t5, -2
	bnez t5, fail
	csrr s11, mtval
	csrr t5, mepc
	addi t5, t5, 4
	csrw mepc, t5
	mret
done:
	FINISH
