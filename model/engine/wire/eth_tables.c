/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of an Ethernet port: see eth_port.h. */
#include "model/engine/wire/eth_port.h"

#include <string.h>

bool eth_port_has_mac(const struct eth_port *eth, const uint8_t mac[MAC_BYTES])
{
	const uint64_t wanted = mac_load(mac) | ETH_MAC_VALID;

	for (unsigned i = 0; i < ETH_TABLE_SIZE; i++)
		if (eth->macs[i] == wanted)
			return true;
	return false;
}

const struct eth_gid *eth_port_gid(const struct eth_port *eth, const uint8_t gid[16],
				   unsigned version)
{
	for (unsigned i = 0; i < ETH_TABLE_SIZE; i++)
		if (eth->gids[i].version == version && !memcmp(eth->gids[i].gid, gid, 16))
			return &eth->gids[i];
	return NULL;
}

void eth_port_group_add(struct eth_port *eth, uint64_t mac)
{
	mac &= ETH_MAC_MASK;
	for (unsigned i = 0; i < eth->n_groups && i < ETH_TABLE_SIZE; i++)
		if (eth->groups[i] == mac)
			return;
	if (eth->n_groups < ETH_TABLE_SIZE)
		eth->groups[eth->n_groups] = mac;
	eth->n_groups++;
}
