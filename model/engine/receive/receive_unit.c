/* See receive_unit.h. */
#include "model/engine/receive/receive_unit.h"

#include "model/engine/base/engine.h"
#include "model/engine/wire/packet.h"
#include "model/interface/bth_ops.h"

/* It has data, and a WQE says where this goes. */
static bool is_scattered(const struct packet *pkt)
{
	const uint32_t props = pkt->op->props;

	if (props & BTH_FETCH)
		return false;
	return props & BTH_ATOMIC || (props & (BTH_SEND | BTH_READ) && pkt->payload_len);
}

static uint64_t held_ps(const struct hca_params *p, const struct packet *pkt)
{
	const uint32_t props = pkt->op->props;
	uint64_t held = p->packet_rx_gap;

	if ((props & (BTH_READ | BTH_REQUEST)) == (BTH_READ | BTH_REQUEST))
		held += p->packet_rx_read_gap;
	else if (is_scattered(pkt))
		held += p->packet_rx_scatter_gap + packet_large_ps(p, pkt->payload_len);
	if (pkt->payload_len > p->packet_chunk)
		held += (pkt->payload_len - 1) / p->packet_chunk * p->packet_rx_chunk_gap;
	return held;
}

/* It is its turn. Parsing runs beside the unit's work with the packets before it. */
static void turn(struct hca *hca, struct packet *pkt)
{
	struct receive_unit *unit = &hca->receive;
	const uint64_t now = hca_now(hca);

	pkt->ready_ps = now + hca->params->packet_rx_latency + pkt->len * hca->params->packet_store;
	unit->busy_ps = (unit->busy_ps > now ? unit->busy_ps : now) + held_ps(hca->params, pkt);
	receive_unit_packet(hca, pkt);
}

static void turns(struct hca *hca)
{
	struct receive_unit *unit = &hca->receive;

	while (unit->first && !unit->misses && unit->busy_ps <= hca_now(hca)) {
		struct packet *pkt = unit->first;

		unit->first = pkt->next;
		if (!unit->first)
			unit->last = NULL;
		turn(hca, pkt);
	}
	if (unit->first && !unit->misses)
		event_set(hca->core, &unit->ev, unit->busy_ps);
}

static void turn_due(struct event *ev)
{
	turns((struct hca *)((char *)ev - offsetof(struct hca, receive.ev)));
}

void receive_unit_take(struct hca *hca, struct packet *pkt)
{
	struct receive_unit *unit = &hca->receive;

	if (!unit->first && !unit->misses && unit->busy_ps <= hca_now(hca)) {
		turn(hca, pkt);
		return;
	}
	hca->stats.packet_rx_waits++;
	pkt->next = NULL;
	if (unit->first) {
		unit->last->next = pkt;
	} else {
		unit->first = pkt;
		unit->ev.job = turn_due;
		if (!unit->misses)
			event_set(hca->core, &unit->ev, unit->busy_ps);
	}
	unit->last = pkt;
}

void receive_unit_stall(struct hca *hca)
{
	struct receive_unit *unit = &hca->receive;

	if (unit->misses++)
		return;
	unit->stalled_ps = hca_now(hca);
	event_cancel(hca->core, &unit->ev);
}

void receive_unit_go_on(struct hca *hca)
{
	struct receive_unit *unit = &hca->receive;

	if (--unit->misses)
		return;
	hca->stats.packet_rx_stall_ps += hca_now(hca) - unit->stalled_ps;
	if (unit->first)
		event_set(hca->core, &unit->ev, unit->busy_ps);
}

void receive_unit_reset(struct hca *hca)
{
	struct receive_unit *unit = &hca->receive;

	event_cancel(hca->core, &unit->ev);
	while (unit->first) {
		struct packet *pkt = unit->first;

		unit->first = pkt->next;
		packet_free(pkt);
	}
	*unit = (struct receive_unit){0};
}
