/* SPDX-License-Identifier: Apache-2.0 */
/* Never writes tohost. */
#include "isa.inc"

	START
1:	j 1b
	FINISH
