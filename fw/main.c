/* SPDX-License-Identifier: Apache-2.0 */
/* Start of the firmware, and the causes that wake it. */
#include "fw/cmds.h"
#include "fw/port.h"

struct fw fw;

static void identity_load(void)
{
	fw.num_ports = min_u32(fw_read(FW_NUM_PORTS), FW_PORTS_MAX);
	fw.node_guid = (uint64_t)fw_read(FW_GUID_HI) << 32 | fw_read(FW_GUID_LO);
	fw.sys_guid = fw.node_guid;
	memcpy(node_desc_text_ptr(&fw.description), "hcasim HCA", sizeof("hcasim HCA") - 1);
}

void fw_boot(void)
{
	uint32_t causes = FW_IRQ_HCR | FW_IRQ_TIMER;

	memset(&fw, 0, sizeof(fw));
	fw.watchdog_us = fw_read(FW_WATCHDOG);
	fw_kick();
	identity_load();
	for (uint32_t n = 1; n <= fw.num_ports; n++) {
		port_boot(n);
		causes |= port_cause(n);
	}
	fw_write(FW_TRACE_TEXT, fw_ram_address("firmware is ready"));
	fw_write(FW_IRQ_ENABLE, causes);
}

bool fw_poll(void)
{
	uint32_t causes = fw_read(FW_IRQ_CAUSE);
	bool any = false;

	fw_kick();
	/* Changes of a port come first: a command may ask about them. */
	for (uint32_t n = 1; n <= fw.num_ports; n++) {
		if (!(causes & port_cause(n)))
			continue;
		fw_write(FW_IRQ_CAUSE, port_cause(n));
		port_changed(n);
		any = true;
	}
	if (causes & FW_IRQ_TIMER) {
		fw_write(FW_IRQ_CAUSE, FW_IRQ_TIMER);
		port_timer();
		any = true;
	}
	if (causes & FW_IRQ_HCR) {
		hcr_serve();
		any = true;
	}
	return any;
}
