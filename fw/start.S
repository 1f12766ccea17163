/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry after reset, and the trap vector. Interrupts are never taken (mstatus.MIE stays 0); a
 * pending interrupt only ends a wfi. So each trap is an exception, and ends this firmware.
 */
	.section .text.start, "ax"
	.globl _start
	.type _start, @function
_start:
	.option push
	.option norelax
	la	gp, __global_pointer$
	.option pop
	la	t0, fw_trap
	csrw	mtvec, t0
	la	sp, fw_stack_top
	la	t0, fw_bss_start
	la	t1, fw_bss_end
1:	bgeu	t0, t1, 2f
	sw	zero, 0(t0)
	addi	t0, t0, 4
	j	1b
2:	li	t0, 1 << 11	/* mie.MEIE */
	csrw	mie, t0
	j	fw_run
	.size _start, . - _start

/*
 * Tells the chip where the trap happened. It does not touch memory and changes only t0 and t1, so
 * that a debugger finds everything else as it was.
 */
	.globl fw_trap
	.type fw_trap, @function
	.balign 4
fw_trap:
	la	t0, fw_catas_register
	lw	t0, 0(t0)
	csrr	t1, mepc
	sw	t1, 0(t0)
1:	wfi
	j	1b
	.size fw_trap, . - fw_trap
