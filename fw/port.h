/* SPDX-License-Identifier: Apache-2.0 */
/* Life of the ports: physical layer, port state, the events of it. Ports count from 1. */
#ifndef FW_PORT_H
#define FW_PORT_H

#include "fw/fw.h"

static inline bool port_exists(uint32_t port)
{
	return port >= 1 && port <= fw.num_ports;
}

static inline struct fw_port *port_of(uint32_t port)
{
	return &fw.ports[port - 1];
}

static inline uint64_t port_guid(uint32_t port)
{
	return fw.node_guid + port;
}

/* The port's bit in FW_IRQ_CAUSE. */
static inline uint32_t port_cause(uint32_t port)
{
	return FW_IRQ_PORT1 << (port - 1);
}

static inline uint32_t port_gids(void)
{
	return 1u << fw_read(FW_LOG_GIDS);
}

static inline uint32_t port_pkeys(void)
{
	return 1u << fw_read(FW_LOG_PKEYS);
}

/* Data VLs of a code of PortInfo.VLCap: 1, 2, 4, 8. */
static inline uint32_t port_vls(uint32_t code)
{
	return 1u << (code - 1);
}

uint64_t port_guid_read(uint32_t port, uint32_t index);
void port_guid_write(uint32_t port, uint32_t index, uint64_t guid);
uint32_t port_pkey_read(uint32_t port, uint32_t index);
void port_pkey_write(uint32_t port, uint32_t index, uint32_t pkey);

/* PortInfo capability mask until the host sets another one. */
uint32_t port_caps_default(uint32_t port);
/* After reset: everything at its default, the physical layer disabled. */
void port_boot(uint32_t port);
/* INIT_PORT: what a subnet manager sets goes back to its default, and the link trains. */
void port_open(uint32_t port);
/* CLOSE_PORT: physical layer disabled. */
void port_close(uint32_t port);
/* Moves the port state; software hears of ACTIVE and of its end. */
void port_state_set(uint32_t port, enum port_state state);
/* FW_PORT_* command to the physical layer, which takes the link down. */
void port_link_command(uint32_t port, uint32_t command);
/* FW_IRQ_PORTn: the hardware moved the port state. */
void port_changed(uint32_t port);

/* An SMP came with a wrong M_Key; with the right one. */
void port_mkey_violation(uint32_t port);
void port_mkey_matched(uint32_t port);
void port_timer(void);
/* The timer is due at the earliest of what the ports wait for. */
void port_timer_set(void);

/* trap.c. An SMP from `slid` had a wrong M_Key; the hardware noted a wrong P_Key or Q_Key. */
void trap_mkey(uint32_t port, uint32_t slid, const struct smp *smp);
void trap_key(uint32_t port);
/* The manager has heard: the trap of that transaction is not sent again. */
void trap_repress(uint32_t port, const struct smp *smp);
void trap_timer(uint32_t port, uint64_t now_ns);

#endif
