/* SPDX-License-Identifier: Apache-2.0 */
/* What start.S needs from C, and the processor's main program. */
#include "fw/fw.h"

/* The trap vector reads it; it has no other way to know the value. */
extern const uint32_t fw_catas_register;
const uint32_t fw_catas_register = FW_REG_BASE + FW_CATAS;

void fw_run(void);

void fw_run(void)
{
	fw_boot();
	for (;;) {
		if (!fw_poll())
			fw_wait();
	}
}
