/* SPDX-License-Identifier: Apache-2.0 */
/* M: with the results that the specification fixes for division by zero and overflow. */
#include "isa.inc"

.macro RR n, op, a, b, want
	li a0, \a
	li a1, \b
	\op a2, a0, a1
	CHECK \n, a2, \want
.endm

	START
	RR 1, mul, 0xffffffff, 0xffffffff, 1
	RR 2, mul, 0x12345678, 0x9abcdef0, 0x242d2080
	RR 3, mulh, 0xffffffff, 0xffffffff, 0
	RR 4, mulh, 0x80000000, 0x80000000, 0x40000000
	RR 5, mulhu, 0xffffffff, 0xffffffff, 0xfffffffe
	RR 6, mulhsu, 0xffffffff, 0xffffffff, 0xffffffff
	RR 7, mulhsu, 0x7fffffff, 0xffffffff, 0x7ffffffe
	RR 10, div, -7, 2, -3
	RR 11, div, 7, -2, -3
	RR 12, div, 5, 0, -1
	RR 13, div, 0x80000000, -1, 0x80000000
	RR 14, divu, 0x80000000, 3, 0x2aaaaaaa
	RR 15, divu, 5, 0, 0xffffffff
	RR 16, rem, -7, 2, -1
	RR 17, rem, 7, -2, 1
	RR 18, rem, -5, 0, -5
	RR 19, rem, 0x80000000, -1, 0
	RR 20, remu, 0x80000000, 3, 2
	RR 21, remu, 0x80000005, 0, 0x80000005
	FINISH
