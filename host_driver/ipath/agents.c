// SPDX-License-Identifier: Apache-2.0
/*
 * The agents of subnet and performance management (SMA, PMA) of a port, as the firmware of the other
 * device has them: the same files, compiled once more over registers that are only memory. The
 * firmware has one device and keeps its state in a global, which is exchanged for that of a device
 * around each request. Nothing in between lets another thread run.
 */
#include "host_driver/ipath/ipath.h"
#include "host_driver/mlx4/alloc.h"

#include <stdlib.h>

/* Names of their own, as the firmware's tests link its files, too. */
#define fw                  agents_fw
#define fw_read             agents_read
#define fw_write            agents_write
#define fw_ram_address      agents_ram_address
#define fw_wait             agents_wait
#define fw_event_post       agents_event_post
#define fw_now_ns           agents_now_ns
#define sma_process         agents_sma_process
#define pma_process         agents_pma_process
#define port_info_get       agents_port_info_get
#define port_info_set       agents_port_info_set
#define port_info_tell      agents_port_info_tell
#define port_table_tell     agents_table_tell
#define port_guid_read      agents_guid_read
#define port_guid_write     agents_guid_write
#define port_pkey_read      agents_pkey_read
#define port_pkey_write     agents_pkey_write
#define port_caps_default   agents_caps_default
#define port_boot           agents_boot
#define port_open           agents_open
#define port_close          agents_close
#define port_state_set      agents_state_set
#define port_link_command   agents_link_command
#define port_changed        agents_port_changed
#define port_mkey_violation agents_mkey_violation
#define port_mkey_matched   agents_mkey_matched
#define port_timer          agents_timer
#define port_timer_set      agents_timer_set
#define trap_mkey           agents_trap_mkey
#define trap_key            agents_trap_key
#define trap_repress        agents_trap_repress
#define trap_timer          agents_trap_timer

#include "fw/mad.h"

enum { PORT = 1, REGISTERS = FW_PORT_STRIDE / 4, LOG_GIDS = 1, LOG_PKEYS = 2, VL0_ONLY = 1 };

enum { WIDTH_4X = 2, SPEED_SDR = 1, SUPPORTED_SHIFT = 8 };

struct ipath_agents {
	struct agents_fw state;
	uint32_t port[REGISTERS];
	uint64_t guids[1 << LOG_GIDS], counters[FW_PC_COUNT];
	uint32_t pkeys[1 << LOG_PKEYS];
	uint64_t now_ns;
	uint32_t command;   /* FW_PORT_*, 0: none */
	bool state_written; /* FW_PORT_LOGICAL was */
};

struct agents_fw agents_fw;
static struct ipath_agents *current; /* whose request is executed */

/* --- the registers --- */

static uint32_t *port_register(unsigned reg)
{
	return &current->port[reg / 4];
}

static uint64_t *counter(void)
{
	return &current->counters[*port_register(FW_PORT_COUNTER_INDEX) % FW_PC_COUNT];
}

static uint64_t *guid(void)
{
	return &current->guids[*port_register(FW_PORT_GID_INDEX) % ARRAY_SIZE(current->guids)];
}

static uint32_t *pkey(void)
{
	return &current->pkeys[*port_register(FW_PORT_PKEY_INDEX) % ARRAY_SIZE(current->pkeys)];
}

uint32_t agents_read(uint32_t reg)
{
	switch (reg) {
	case FW_LOG_GIDS:
		return LOG_GIDS;
	case FW_LOG_PKEYS:
		return LOG_PKEYS;
	case FW_PORT(PORT, GID_GUID_HI):
		return (uint32_t)(*guid() >> 32);
	case FW_PORT(PORT, GID_GUID_LO):
		return (uint32_t)*guid();
	case FW_PORT(PORT, PKEY):
		return *pkey();
	case FW_PORT(PORT, COUNTER_LO):
		return (uint32_t)*counter();
	case FW_PORT(PORT, COUNTER_HI):
		return (uint32_t)(*counter() >> 32);
	default:
		return reg >= FW_PORT_BASE ? *port_register(reg - FW_PORT_BASE) : 0;
	}
}

void agents_write(uint32_t reg, uint32_t value)
{
	if (reg >= FW_PORT_BASE)
		*port_register(reg - FW_PORT_BASE) = value;
	switch (reg) {
	case FW_PORT(PORT, GID_GUID_LO):
		*guid() = (uint64_t)*port_register(FW_PORT_GID_GUID_HI) << 32 | value;
		break;
	case FW_PORT(PORT, PKEY):
		*pkey() = value;
		break;
	case FW_PORT(PORT, COUNTER_LO):
		*counter() = (*counter() >> 32 << 32) | value;
		break;
	case FW_PORT(PORT, COUNTER_HI):
		*counter() = (uint64_t)value << 32 | (uint32_t)*counter();
		break;
	case FW_PORT(PORT, CMD):
		current->command = value;
		break;
	case FW_PORT(PORT, LOGICAL):
		current->state_written = true;
		break;
	default:
		break;
	}
}

/* The chip tells of its port by interrupts. */
void agents_event_post(const struct eqe *eqe)
{
}

uint64_t agents_now_ns(void)
{
	return current->now_ns;
}

/* Where a trap lies that is to be sent: this driver sends none. */
uint32_t agents_ram_address(const void *ram)
{
	return 0;
}

#include "fw/pma.c"
#include "fw/port.c"
#define RESP_TIME RESP_TIME_OF_PORT_INFO
#include "fw/sma_port.c"
#include "fw/sma_events.c"
#undef RESP_TIME
#include "fw/trap.c"
#define PORT_MASK PORT_MASK_OF_SMA
#include "fw/sma.c"

/* --- the driver's side --- */

static void enter(struct ipath_agents *a)
{
	current = a;
	agents_fw = a->state;
}

static void leave(struct ipath_agents *a)
{
	a->state = agents_fw;
	current = NULL;
}

struct ipath_agents *ipath_agents_create(uint64_t node_guid)
{
	struct ipath_agents *a = drv_calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	enter(a);
	agents_fw.num_ports = PORT;
	/* the port's GUID is the node's on this card: qib_iba6120.c */
	agents_fw.node_guid = agents_fw.sys_guid = node_guid;
	agents_write(FW_PORT(PORT, WIDTH), WIDTH_4X | WIDTH_4X << SUPPORTED_SHIFT);
	agents_write(FW_PORT(PORT, SPEED), SPEED_SDR | SPEED_SDR << SUPPORTED_SHIFT);
	port_boot(PORT);
	port_of(PORT)->vl_cap = VL0_ONLY;
	memcpy(agents_fw.description.b, "hcasim ipath", sizeof("hcasim ipath"));
	port_open(PORT);
	leave(a);
	a->command = 0;
	a->state_written = false;
	return a;
}

void ipath_agents_port(struct ipath_agents *a, unsigned state, unsigned phys, uint64_t now_ns)
{
	a->port[FW_PORT_LOGICAL / 4] = state;
	a->port[FW_PORT_PHYS_STATE / 4] = phys;
	a->state.ports[0].logical = (uint8_t)state;
	a->now_ns = now_ns;
}

uint64_t *ipath_agents_counters(struct ipath_agents *a)
{
	return a->counters;
}

uint32_t ipath_agents_register(const struct ipath_agents *a, unsigned reg)
{
	return a->port[reg / 4];
}

void ipath_agents_violations(struct ipath_agents *a, uint32_t pkeys, uint32_t qkeys)
{
	a->port[FW_PORT_BAD_PKEY / 4] = pkeys;
	a->port[FW_PORT_BAD_QKEY / 4] = qkeys;
}

void ipath_agents_describe(struct ipath_agents *a, const char text[64])
{
	memcpy(a->state.description.b, text, sizeof(a->state.description.b));
}

/* What the firmware says of the other device. */
static void node_info_correct(struct mad_hdr *hdr, struct smp *smp)
{
	struct node_info *n = (struct node_info *)(void *)smp_data_ptr(smp);

	if (mad_hdr_get_attr_id(hdr) != SMP_ATTR_NODE_INFO || mad_hdr_get_status(hdr))
		return;
	node_info_set_device_id(n, IPATH_PCI_DEVICE);
	node_info_set_revision(n, IPATH_PCI_REVISION);
}

bool ipath_agents_process(struct ipath_agents *a, unsigned slid, void *mad, bool own)
{
	struct mad_hdr *hdr = mad;
	enum mad_result result = MAD_DROP;

	if (mad_hdr_get_base_version(hdr) != MAD_BASE_VERSION)
		return false;
	enter(a);
	port_timer(); /* leases that have run out since the last request, as check_mkey() of Linux sees to them */
	switch (mad_hdr_get_mgmt_class(hdr)) {
	case MAD_CLASS_SUBN_LID:
	case MAD_CLASS_SUBN_DR:
		result = sma_process(PORT, slid, mad, own);
		if (result == MAD_REPLY)
			node_info_correct(hdr, mad);
		break;
	case MAD_CLASS_PERF:
		result = pma_process(PORT, mad);
		break;
	default:
		result = mad_reply(hdr, MAD_STATUS_BAD_VERSION);
	}
	leave(a);
	return result == MAD_REPLY;
}

enum ipath_wish ipath_agents_wish(struct ipath_agents *a, unsigned *state)
{
	static const enum ipath_wish wishes[] = {[0] = IPATH_WISH_NONE,
						 [FW_PORT_UP] = IPATH_WISH_UP,
						 [FW_PORT_DOWN] = IPATH_WISH_DOWN,
						 [FW_PORT_DISABLE] = IPATH_WISH_DISABLE};
	const enum ipath_wish wish = wishes[a->command];

	*state = a->state_written ? a->port[FW_PORT_LOGICAL / 4] : 0;
	a->command = 0;
	a->state_written = false;
	return wish;
}
