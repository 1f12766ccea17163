/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port as the chip's driver sees it, see ipath.h: commands in IBCCtrl, state in IBCStatus,
 * counters. What mlx4's firmware does with the port's registers, this driver does with these.
 *
 * Assumptions: while the link controller is in reset (Control.LinkEnable = 0) it takes no commands,
 * and it comes out of reset polling, as its LinkDownDefaultState says: the driver enables it and
 * waits. A sleeping port polls.
 */
#include "model/engine/ipath/ipath.h"
#include "model/engine/wire/link_port.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca.h"

#include <errno.h>

enum {
	PORT = 1,
	PHYS_POLLING = 2,
	PHYS_DISABLED = 3,
	PHYS_TRAINING = 4,
	PHYS_LINK_UP = 5,
	STATE_DOWN = 1,
	STATE_INIT = 2,
	STATE_ARMED = 3,
	STATE_ACTIVE = 4,
};

static struct port_config *port_of(const struct ipath *ipath)
{
	return link_port_config(ipath->hca, PORT);
}

uint64_t ipath_ibc_status_read(struct ipath *ipath)
{
	static const uint8_t training[] = {
		[PHYS_POLLING] = IPATH_TRAINING_POLL,
		[PHYS_DISABLED] = IPATH_TRAINING_DISABLED,
		[PHYS_TRAINING] = IPATH_TRAINING_CONFIG,
		[PHYS_LINK_UP] = IPATH_TRAINING_UP,
	};
	const struct port_config *c = port_of(ipath);
	uint64_t status = training[c->phys];

	ipath->link_unread = false;
	status |= (uint64_t)(c->logical - STATE_DOWN) << IPATH_STATUS_STATE_SHIFT;
	if (c->phys == PHYS_LINK_UP)
		status |= IPATH_STATUS_READY | IPATH_STATUS_CREDITS;
	return status;
}

void ipath_port_changed(struct hca *hca, unsigned port)
{
	struct ipath *ipath = hca->ipath;

	ipath->counts[IPATH_COUNT_IBStatusChangeCnt]++;
	ipath_error(ipath, IPATH_ERR_LINK_STATE);
	ipath_send_go_on(ipath);
}

void ipath_control_write(struct ipath *ipath, uint64_t value)
{
	uint64_t *control = ipath_register(ipath, IPATH_Control, 0);
	const uint64_t changed = *control ^ value;

	*control = value & ~IPATH_CONTROL_RESET;
	if (value & IPATH_CONTROL_RESET) {
		event_set(ipath->hca->core, &ipath->reset, hca_now(ipath->hca));
		return;
	}
	if (changed & IPATH_CONTROL_LINK) {
		link_port_command(ipath->hca, PORT,
				  value & IPATH_CONTROL_LINK ? FW_PORT_UP : FW_PORT_DISABLE);
		/* the driver hears of the state in which the controller comes out of reset */
		if (value & IPATH_CONTROL_LINK)
			ipath_error(ipath, IPATH_ERR_LINK_STATE);
	}
	if (changed & IPATH_CONTROL_FREEZE)
		ipath_send_go_on(ipath);
}

static void state_set(struct ipath *ipath, uint8_t state)
{
	struct port_config *c = port_of(ipath);

	if (c->logical == state)
		return;
	c->logical = state;
	link_port_logical_changed(ipath->hca, PORT);
	ipath_port_changed(ipath->hca, PORT);
}

void ipath_ibc_ctrl_write(struct ipath *ipath, uint64_t value)
{
	const unsigned init = value >> IPATH_INIT_SHIFT & IPATH_COMMAND_MASK;
	const unsigned command = value >> IPATH_COMMAND_SHIFT & IPATH_COMMAND_MASK;
	const struct port_config *c = port_of(ipath);

	*ipath_register(ipath, IPATH_IBCCtrl, 0) = value;
	if (!(ipath_get(ipath, IPATH_Control) & IPATH_CONTROL_LINK))
		return;
	if (init == IPATH_INIT_DISABLE)
		link_port_command(ipath->hca, PORT, FW_PORT_DISABLE);
	else if (init && c->phys == PHYS_DISABLED)
		link_port_command(ipath->hca, PORT, FW_PORT_UP);
	else if (command == IPATH_COMMAND_DOWN && c->phys != PHYS_DISABLED)
		link_port_command(ipath->hca, PORT, FW_PORT_DOWN);
	else if (command == IPATH_COMMAND_ARMED && c->logical >= STATE_INIT)
		state_set(ipath, STATE_ARMED);
	else if (command == IPATH_COMMAND_ACTIVE && c->logical == STATE_ARMED)
		state_set(ipath, STATE_ACTIVE);
}

/* --- counters --- */

enum counts { NONE, OWN, PORTS };

static const struct {
	uint16_t offset;
	uint8_t what, port;
} counters[IPATH_COUNTS] = {
#define WHAT_NONE                           NONE
#define WHAT_OWN                            OWN
#define WHAT_PORT                           PORTS
#define C(name, at, what, counter, meaning) [IPATH_COUNT_##name] = {at, WHAT_##what, counter},
	IPATH_COUNTER_ROWS(C)
#undef C
};

static uint64_t *counter_of(struct ipath *ipath, unsigned i)
{
	return counters[i].what == PORTS ? &port_of(ipath)->counters[counters[i].port]
					 : &ipath->counts[i];
}

static int counter_at(uint32_t offset)
{
	for (unsigned i = 0; i < IPATH_COUNTS; i++)
		if (counters[i].offset == offset)
			return (int)i;
	return -ENOENT;
}

int ipath_counter_read(struct ipath *ipath, uint32_t offset, uint64_t *value)
{
	const int i = counter_at(offset);

	if (i < 0)
		return i;
	*value = *counter_of(ipath, (unsigned)i);
	return 0;
}

int ipath_counter_write(struct ipath *ipath, uint32_t offset, uint64_t value)
{
	const int i = counter_at(offset);

	if (i < 0)
		return i;
	if (ipath_get(ipath, IPATH_HwDiagCtrl) & IPATH_DIAG_COUNTERS)
		*counter_of(ipath, (unsigned)i) = value;
	return 0;
}
