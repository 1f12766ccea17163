/* SPDX-License-Identifier: Apache-2.0 */
/* Pause frames that a scenario sends in the name of the other port. */
#ifndef TESTBENCH_SCENARIOS_ETHERNET_CONTROL_H
#define TESTBENCH_SCENARIOS_ETHERNET_CONTROL_H

#include "model/engine/wire/roce_crc.h"
#include "testbench/services.h"

enum { QUANTA_MAX = 0xffff };

/* A pause of all traffic, or with `priorities` a PFC frame for these. */
static inline void inject_pause(struct tb *tb, struct tb_end *to, unsigned priorities,
				unsigned quanta)
{
	static const uint8_t control[MAC_BYTES] = {1, 0x80, 0xc2, 0, 0, 1};
	uint8_t frame[ETHERNET_MIN] = {0};
	struct eth_pause *pause = (struct eth_pause *)(void *)(frame + sizeof(struct eth_hdr));

	memcpy(frame, control, MAC_BYTES);
	memcpy(frame + MAC_BYTES, to->peer->mac, MAC_BYTES);
	be16_store(frame + 2 * MAC_BYTES, ETH_TYPE_CONTROL);
	eth_pause_set_opcode(pause, priorities ? ETH_CONTROL_PFC : ETH_CONTROL_PAUSE);
	if (priorities)
		eth_pause_set_enabled(pause, priorities);
	else
		eth_pause_set_quanta(pause, quanta);
	for (unsigned i = 0; priorities && i < ETH_PRIORITIES; i++)
		be16_store(eth_pause_times_ptr(pause) + 2 * i,
			   (uint16_t)(priorities >> i & 1 ? quanta : 0));
	frame_fcs_make(frame, sizeof(frame));
	inject_bytes(to, frame, sizeof(frame));
}

static inline void obey(struct tb *tb, struct tb_end *end, bool pause, unsigned pfc)
{
	struct drv_eth_config config;

	drv_eth_get(end->dev, 1, &config);
	config.pause_tx = config.pause_rx = pause;
	config.pfc_tx = config.pfc_rx = pfc;
	must(drv_eth_set(end->dev, 1, &config));
}

#endif
