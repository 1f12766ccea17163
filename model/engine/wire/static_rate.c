/* SPDX-License-Identifier: Apache-2.0 */
/* See static_rate.h. */
#include "model/engine/wire/static_rate.h"

#include "model/engine/wire/crc.h"
#include "model/engine/base/engine.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/link_impl.h"
#include "model/engine/wire/packet.h"
#include "model/interface/macros.h"
#include "model/interface/static_rates.h"
#include "model/interface/wire.h"
#include "model/sim/units.h"

#include <stdlib.h>

enum { LID_COUNT = 1 << 16 };

/* The path to one DLID. */
struct rate_path {
	struct link_port *lp;
	struct rate_path *next;
	struct event due;
	struct packet_queue queue; /* packets that wait for their time */
	uint64_t free_ps;          /* earliest time at which the next packet may go to the port */
};

struct rate_table {
	struct rate_path *paths[LID_COUNT]; /* by DLID */
	struct rate_path *all;
};

struct rate {
	uint8_t speed, lanes;
};

static const struct rate rates[] = {
#define R(code, mbps, multiple, speed, lanes) [code] = {CFG_SPEED_##speed, lanes},
	STATIC_RATES(R)
#undef R
};

/* Distance between the starts of two packets, as a multiple of a packet's time: IPD + 1. It is 1
 * for an invalid rate, and for a rate not below the port's. */
static uint64_t times(const struct link_port *lp, unsigned code)
{
	unsigned n = code - STATIC_RATE_OFFSET;
	uint64_t port_mbps = cfg_link_speed_mbps(lp->speed) * lp->width, mbps;

	if (code < STATIC_RATE_OFFSET || n >= ARRAY_SIZE(rates) || !rates[n].lanes)
		return 1;
	mbps = cfg_link_speed_mbps(rates[n].speed) * rates[n].lanes;
	return mbps < port_mbps ? (port_mbps + mbps - 1) / mbps : 1;
}

static uint64_t wire_ps(const struct link_port *lp, const struct packet *pkt)
{
	return ((pkt->len - (unsigned)VCRC_BYTES) * lp->fs_per_byte + 999) / 1000;
}

/* The time of the first packet that waits has come. */
static void rate_path_release(struct event *ev)
{
	struct rate_path *path = container_of(ev, struct rate_path, due);
	struct link_port *lp = path->lp;
	struct packet *pkt = packet_queue_pop(&path->queue);

	lp->rate_held--;
	if (path->queue.first)
		event_set(lp->hca->core, &path->due, path->queue.first->ready_ps);
	link_port_send(lp->hca, pkt);
}

static struct rate_path *path_make(struct link_port *lp, uint16_t dlid)
{
	struct rate_path *path;

	if (!lp->rates)
		lp->rates = memory_create(1, sizeof(*lp->rates), "static rates");
	path = lp->rates->paths[dlid];
	if (path)
		return path;
	path = memory_take(lp->hca, sizeof(*path), "destinations with a static rate");
	path->lp = lp;
	path->due.job = rate_path_release;
	path->next = lp->rates->all;
	lp->rates->all = lp->rates->paths[dlid] = path;
	return path;
}

uint64_t static_rate_send(struct link_port *lp, struct packet *pkt)
{
	const uint64_t now = hca_now(lp->hca), n = times(lp, pkt->static_rate);
	const struct lrh *lrh = (const struct lrh *)(const void *)pkt->wire;
	struct rate_path *path;
	uint64_t at = pkt->ready_ps > now ? pkt->ready_ps : now;

	pkt->static_rate = 0;
	if (n == 1)
		return link_port_send(lp->hca, pkt);
	path = path_make(lp, (uint16_t)lrh_get_dlid(lrh));
	if (path->free_ps <= at) {
		path->free_ps = at + n * wire_ps(lp, pkt);
		return link_port_send(lp->hca, pkt);
	}
	lp->hca->stats.link_port_rate_waits++;
	lp->rate_held++;
	pkt->ready_ps = path->free_ps;
	path->free_ps += n * wire_ps(lp, pkt);
	pkt->hca = lp->hca;
	packet_queue_push(&path->queue, pkt);
	if (path->queue.first == pkt)
		event_set(lp->hca->core, &path->due, pkt->ready_ps);
	return pkt->ready_ps + wire_ps(lp, pkt);
}

uint64_t static_rate_backlog_ps(struct hca *hca, unsigned port, uint16_t dlid, unsigned code)
{
	const struct link_port *lp = hca->ports[port - 1];
	const struct rate_path *path = lp->rates ? lp->rates->paths[dlid] : NULL;
	uint64_t now = hca_now(hca);

	return path && path->free_ps > now && times(lp, code) > 1 ? path->free_ps - now : 0;
}

void static_rate_drop(struct link_port *lp)
{
	struct packet *pkt;

	for (struct rate_path *path = lp->rates ? lp->rates->all : NULL; path; path = path->next) {
		event_cancel(lp->hca->core, &path->due);
		path->free_ps = 0;
		while ((pkt = packet_queue_pop(&path->queue))) {
			lp->config.counters[FW_PC_XMIT_DISCARDS]++;
			packet_free(pkt);
		}
	}
	lp->rate_held = 0;
}

void static_rate_destroy(struct link_port *lp)
{
	if (!lp->rates)
		return;
	static_rate_drop(lp);
	while (lp->rates->all) {
		struct rate_path *path = lp->rates->all;

		lp->rates->all = path->next;
		free(path);
	}
	free(lp->rates);
	lp->rates = NULL;
}
