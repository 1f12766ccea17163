/* SPDX-License-Identifier: Apache-2.0 */
/* Software and timer interrupt of rv32run's interruptor: enable bits, priority, direct and vectored, wfi. */
#include "isa.inc"

.equ MSIP, 0x02000000
.equ MTIMECMP, 0x02004000
.equ MTIME, 0x0200bff8

	START
	la t0, direct
	csrw mtvec, t0
	li s0, MSIP
	li s1, MTIMECMP
	li s3, 0		/* mcause of the last interrupt */
	li s4, 0		/* their number */

	/* Pending, but not enabled: by mie, then by mstatus. */
	li a0, 1
	sw a0, 0(s0)
	csrr a0, mip
	CHECK 1, a0, 8
	csrsi mstatus, 8
	nop
	CHECK 2, s4, 0
	csrci mstatus, 8
	csrsi mie, 8
	nop
	CHECK 3, s4, 0

	/* wfi goes on with MIE off, since the interrupt is pending and enabled in mie. */
	wfi
	CHECK 4, s4, 0

	/* The interrupt is taken right after the csrsi, and returns to the instruction that follows it. */
	li a1, 0
	csrsi mstatus, 8
here:	addi a1, a1, 1
	CHECK 5, s4, 1
	CHECK 6, s3, 0x80000003
	CHECK 7, a1, 1
	la a0, here
	li gp, 8
	bne s5, a0, fail
	csrr a0, mip
	CHECK 9, a0, 0
	csrr a0, mstatus
	CHECK 10, a0, 0x1888

	/* Both pending: software goes first. */
	csrci mstatus, 8
	li a0, 0x88
	csrw mie, a0
	sw zero, 4(s1)
	sw zero, 0(s1)
	li a0, 1
	sw a0, 0(s0)
	csrr a0, mip
	CHECK 11, a0, 0x88
	csrsi mstatus, 8
	CHECK 12, s4, 3
	CHECK 13, s3, 0x80000007
	CHECK 14, s6, 0x80000003	/* the previous interrupt */

	/* wfi until the timer fires, 1000 ticks later. */
	li s2, MTIME
	lw a2, 0(s2)
	addi a0, a2, 1000
	sw a0, 0(s1)		/* the high half is still -1 */
	sw zero, 4(s1)
	wfi
	lw a3, 0(s2)
	CHECK 15, s4, 4
	sub a3, a3, a2
	li a0, 1000
	li gp, 16
	bltu a3, a0, fail

	/* Vectored: base + 4 * cause; exceptions still go to the base. */
	la a0, table + 1
	csrw mtvec, a0
	li a0, 1
	sw a0, 0(s0)
	nop
	CHECK 20, s4, 5
	CHECK 21, s7, 3
	sw zero, 0(s1)
	sw zero, 4(s1)
	nop
	CHECK 22, s4, 6
	CHECK 23, s7, 7
	li s7, 0
	.option push
	.option norvc
	ecall
	.option pop
	CHECK 24, s7, 11
	j done

	.balign 4
direct:
	csrr t5, mcause
	mv s6, s3
	mv s3, t5
	csrr s5, mepc
	addi s4, s4, 1
	sw zero, 0(s0)		/* lower whichever it was */
	andi t5, t5, 7
	addi t5, t5, -7
	bnez t5, 1f
	li t5, -1
	sw t5, 4(s1)
1:	mret

	.balign 64
	.option push
	.option norvc
table:
	j exception
	j fail
	j fail
	j software
	j fail
	j fail
	j fail
	j timer
	.option pop
exception:
	csrr s7, mcause
	csrr t5, mepc
	addi t5, t5, 4
	csrw mepc, t5
	mret
software:
	li s7, 3
	j direct
timer:
	li s7, 7
	j direct
done:
	FINISH
