/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network interface of an Ethernet port, as far as RoCE needs one: IP addresses, the GIDs that
 * follow from them, and the MAC behind a GID. It has a queue pair for frames, with one ring each way,
 * and one thread. It answers ARP and neighbour solicitations; there is no other IP traffic.
 *
 * Functions return 0 or -errno, and may let simulated time pass.
 */
#ifndef HOST_DRIVER_NET_NET_H
#define HOST_DRIVER_NET_NET_H

#include "host_driver/mlx4/mlx4.h"
#include "host_driver/net/neigh.h"

struct net_port;

struct net_address {
	uint8_t ip[DRV_GID_BYTES]; /* an IPv4 address is ::ffff:a.b.c.d */
	unsigned prefix;           /* bits of `ip` that all neighbours have, 96 + n for IPv4 */
	uint16_t vlan;             /* or VLAN_NONE */
};

/* The port must be up. It has the link-local address of its MAC at once. -ENODEV: no Ethernet port. */
int net_open(struct drv_device *dev, unsigned port, struct net_port **net);
/* Removes all addresses with their GIDs. Threads that resolve an address get -ENODEV. */
void net_close(struct net_port *net);

/* Adds an address with its GIDs, joins its VLAN, and tells the neighbours. -EEXIST, -ENOSPC. */
int net_address_add(struct net_port *net, const struct net_address *address);
/* -EADDRNOTAVAIL: there is no such address, or it is that of the MAC. */
int net_address_remove(struct net_port *net, const uint8_t ip[DRV_GID_BYTES], uint16_t vlan);
/* Gives the port another MAC, and tells the neighbours. */
int net_mac_set(struct net_port *net, const uint8_t mac[MAC_BYTES]);

/* How packets get from an entry of the GID table to a GID. */
struct net_way {
	uint8_t dmac[MAC_BYTES];
	unsigned hop_limit; /* unchanged where no route was looked for */
};

/*
 * The MAC of groups follows from the GID. So does that of a link-local GID over RoCE v1. Otherwise the
 * neighbour is asked, if it is not known, for so long (UINT64_MAX: without a limit): -ETIMEDOUT.
 * -EINVAL: there is no such entry; -ENETUNREACH: no address of the port has this neighbour.
 */
int net_resolve(struct net_port *net, unsigned sgid_index, const uint8_t dgid[DRV_GID_BYTES],
		uint64_t within_ps, struct net_way *way);

/* While an entry is held, its place is not given to another address. */
void net_gid_hold(struct net_port *net, unsigned index);
void net_gid_put(struct net_port *net, unsigned index);

/* What is known of an address. */
enum neigh_state net_neighbour(const struct net_port *net, const uint8_t ip[DRV_GID_BYTES],
			       uint16_t vlan);

#endif
