/* SPDX-License-Identifier: Apache-2.0 */
/* An illegal instruction without a handler: fatal, not an endless loop. */
#include "isa.inc"

	START
	csrw mtvec, zero
broken:
	.word 0xffffffff
	FINISH
