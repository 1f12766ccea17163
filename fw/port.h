/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: physical layer, port state, and their events. Ports count from 1. */
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

/* Number of data VLs of a code of PortInfo.VLCap: 1, 2, 4 or 8. */
static inline uint32_t port_vls(uint32_t code)
{
	return 1u << (code - 1);
}

/* The factory MAC of the port: the vendor's part and the last 24 bits of its GUID. */
static inline uint64_t port_mac(uint32_t port)
{
	const uint64_t guid = port_guid(port);

	return guid >> 40 << 24 | (guid & 0xffffff);
}

uint64_t port_guid_read(uint32_t port, uint32_t index);
void port_guid_write(uint32_t port, uint32_t index, uint64_t guid);
uint32_t port_pkey_read(uint32_t port, uint32_t index);
void port_pkey_write(uint32_t port, uint32_t index, uint32_t pkey);

/* Capability mask of PortInfo until the host sets another one. */
uint32_t port_caps_default(uint32_t port);
/* State after reset: all attributes have their defaults, and the physical layer is disabled. */
void port_boot(uint32_t port);
/* INIT_PORT: gives the attributes that a subnet manager sets their defaults; the link trains. */
void port_open(uint32_t port);
/* CLOSE_PORT: disables the physical layer. */
void port_close(uint32_t port);
/* Changes the port state. Software gets an event when ACTIVE begins and ends. */
void port_state_set(uint32_t port, enum port_state state);
/* Gives the physical layer a FW_PORT_* command; the link goes down. */
void port_link_command(uint32_t port, uint32_t command);
/* FW_IRQ_PORTn: hardware changed the port state. */
void port_changed(uint32_t port);

/* An SMP came with a wrong M_Key, or with the right one. */
void port_mkey_violation(uint32_t port);
void port_mkey_matched(uint32_t port);
void port_timer(void);
/* Sets the timer to the earliest time that a port waits for. */
void port_timer_set(void);

/* In trap.c. An SMP from `slid` had a wrong M_Key; hardware noted a wrong P_Key or Q_Key. */
void trap_mkey(uint32_t port, uint32_t slid, const struct smp *smp);
void trap_key(uint32_t port);
/* The manager repressed the trap of that transaction: it is not sent again. */
void trap_repress(uint32_t port, const struct smp *smp);
void trap_timer(uint32_t port, uint64_t now_ns);

#endif
