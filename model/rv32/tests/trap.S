/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions: cause, mepc, mtval, the mstatus stack; that a faulting instruction has no effect. */
#include "isa.inc"

/* After a trap at label 1 (4 bytes long): s9 cause, s10 mtval, s11 mepc. */
.macro TRAPPED n, cause
	CHECK \n, s9, \cause
	la t6, 1b
	bne s11, t6, fail
.endm

	START
	la t0, note
	csrw mtvec, t0
	.balign 4	/* before norvc, which could not pad by 2 */
	.option norvc

1:	ecall
	TRAPPED 1, 11
	CHECK 2, s10, 0
1:	ebreak
	TRAPPED 3, 3

	/* Nothing answers at 0x10000000. */
	li a0, 0x10000000
	li a1, 0x1234
1:	lw a1, 4(a0)
	TRAPPED 5, 5
	CHECK 6, s10, 0x10000004
	CHECK 7, a1, 0x1234
1:	sb a1, 0(a0)
	TRAPPED 8, 7
	CHECK 9, s10, 0x10000000
1:	lw a1, 2(a0)		/* misaligned outside RAM */
	TRAPPED 10, 4
	CHECK 11, s10, 0x10000002
1:	sh a1, 1(a0)
	TRAPPED 12, 6

	/* Half in RAM, below its start. */
	li a0, 0x80000000
1:	lw a1, -2(a0)
	TRAPPED 13, 4
1:	sw a1, -4(a0)
	TRAPPED 14, 7

	/* A jump out of RAM: the fault is at the target, and the jump has written its link register. */
	li a0, 0x10000000
	la s8, back
1:	jalr ra, a0
back:
	CHECK 20, s9, 1
	CHECK 21, s10, 0x10000000
	CHECK 22, s11, 0x10000000
	li gp, 23
	la a0, back
	bne ra, a0, fail

	/* MIE -> MPIE at the trap, and back by mret; mret leaves MPIE set. */
	csrw mie, zero
	csrsi mstatus, 8
1:	ecall
	CHECK 24, s7, 0x1880	/* in the handler: MPIE, not MIE */
	csrr a0, mstatus
	CHECK 25, a0, 0x1888
	csrci mstatus, 8
1:	ecall
	CHECK 26, s7, 0x1800
	csrr a0, mstatus
	CHECK 27, a0, 0x1880

	/* ecall and trapping instructions do not retire. */
	la t0, skip
	csrw mtvec, t0
	csrr a0, minstret
	ecall
	csrr a1, minstret
	sub a1, a1, a0
	CHECK 28, a1, 7		/* the first csrr and six of the handler */
	j done

	.balign 4
note:
	csrr s9, mcause
	csrr s10, mtval
	csrr s11, mepc
	csrr s7, mstatus
	addi t5, s11, 4
	addi t6, s9, -1		/* a fetch fault goes back to s8 */
	bnez t6, 1f
	mv t5, s8
1:	csrw mepc, t5
	mret
	.balign 4
skip:
	csrr t5, mepc
	addi t5, t5, 4
	csrw mepc, t5
	nop
	nop
	mret
done:
	FINISH
