/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving end of a link port. A packet comes off the cable, or from the port's own sending
 * end. It is checked (state of the port, CRCs) and counted, and passed on or dropped. from:
 * link_port.c, at the time of the packet's last bit; to: packet_came of calls.h. Takes no time. The
 * parameter rx_buffer of [hca.link] limits VL15.
 */
#include "model/engine/wire/crc.h"
#include "model/engine/base/engine.h"
#include "model/engine/wire/link_impl.h"
#include "model/engine/wire/packet.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/interface/wire.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_crc.h"
#include "model/sim/params/hca_link.h"

#include <string.h>

void link_packet_emit(struct hca *hca, enum trace_point point, struct packet *pkt, uint64_t time_ps,
		      const char *text)
{
	if (!pkt->crcs_made)
		packet_need_crcs(pkt);
	trace_advance(hca->trace, hca_now(hca));
	trace_emit(hca->trace,
		   &(struct trace_record){
			   .time_ps = time_ps,
			   .point = point,
			   .hca = (uint8_t)hca->index,
			   .port = pkt->port,
			   .qpn = pkt->src_qpn,
			   .corr = pkt->psn,
			   .args = {pkt->ethernet ? TRACE_PACKET_WQE | TRACE_PACKET_ETHERNET
						  : TRACE_PACKET_WQE,
				    0, pkt->corr, pkt->resent ? 2 : 1},
			   .bytes = pkt->wire,
			   .len = pkt->len,
			   .bytes_stay = pkt->lent,
			   .text = text,
		   });
}

static void __attribute__((noinline))
discard(struct link_port *lp, struct packet *pkt, enum fw_port_counter counter, const char *why)
{
	lp->config.counters[counter]++;
	lp->hca->stats.link_port_rx_dropped++;
	link_packet_trace(lp->hca, TP_PKT_DISCARD, pkt, hca_now(lp->hca), why);
	packet_free(pkt);
}

/* A wrong VCRC is the link's business: the packet is no packet, and its ICRC says nothing. A wrong
 * ICRC is found behind the link. */
static void __attribute__((noinline))
receive_bad(struct link_port *lp, struct packet *pkt, unsigned bad)
{
	struct hca *hca = lp->hca;

	if (bad & CRC_BAD_VCRC)
		lp->config.counters[FW_PC_SYMBOL_ERROR]++;
	else
		link_packet_trace(hca, TP_PKT_IN, pkt, hca_now(hca), pkt->fault);
	if (!hca->calls->packet_bad) {
		discard(lp, pkt, FW_PC_RCV_ERRORS, bad & CRC_BAD_VCRC ? "vcrc" : "icrc");
		return;
	}
	lp->config.counters[FW_PC_RCV_ERRORS]++;
	hca->calls->packet_bad(hca, pkt, bad);
}

static bool may_receive(const struct link_port *lp, const struct packet *pkt)
{
	if (!pkt->loopback && lp->config.phys != PHYS_LINK_UP)
		return false;
	return lp->config.logical >= (pkt->vl == VL_MANAGEMENT ? LOGICAL_INIT : LOGICAL_ARMED);
}

/* A MAD on VL15 has no GRH: IBA 13.5.1. */
static void asked_note(struct port_config *config, const struct packet *pkt)
{
	enum { MAD_AT = LRH_BYTES + BTH_BYTES + sizeof(struct deth) };
	const struct mad_hdr *mad = (const void *)(pkt->wire + MAD_AT);
	unsigned method;

	if (pkt->len < MAD_AT + sizeof(*mad))
		return;
	method = mad_hdr_get_method(mad);
	if (method == MAD_METHOD_GET || method == MAD_METHOD_SET)
		config->asked = (struct port_asked){.tid = mad_hdr_get_tid(mad),
						    .attr = (uint16_t)mad_hdr_get_attr_id(mad),
						    .method = (uint8_t)method,
						    .waits = true};
}

static void receive(struct link_port *lp, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	unsigned bad = 0;

	/* A packet that took credits occupies buffer space until it is freed, even if it is
	 * dropped. */
	pkt->rx_buffered = !pkt->uncredited && pkt->vl != VL_MANAGEMENT;
	if (!may_receive(lp, pkt)) {
		hca->stats.link_port_rx_dropped++;
		link_packet_trace(hca, TP_PKT_DISCARD, pkt, hca_now(hca),
				  "port state does not let it pass");
		packet_free(pkt);
		return;
	}
	if (pkt->vl == VL_MANAGEMENT) { /* VL15 has no credits */
		if ((lp->management_in_use + 1) * (uint64_t)(PACKET_HEADERS + 256) >
		    param_link_rx_buffer(hca->params)) {
			discard(lp, pkt, FW_PC_VL15_DROPPED, "no buffer for VL15");
			return;
		}
		lp->management_in_use++;
		pkt->rx_buffered = true;
		asked_note(&lp->config, pkt);
	}
	if (param_crc_eager(hca->params) || pkt->crcs_unknown)
		bad = crc_check(pkt->wire, pkt->len);
	if (__builtin_expect(bad, 0)) {
		receive_bad(lp, pkt, bad);
		return;
	}
	link_packet_trace(hca, TP_PKT_IN, pkt, hca_now(hca), pkt->fault);
	hca->stats.link_port_rx_packets++;
	if (!pkt->loopback)
		link_packet_count(&lp->config, pkt, FW_PC_RCV_DATA, FW_PC_RCV_PKTS,
				  FW_PC_UNICAST_RCV, FW_PC_MULTICAST_RCV);
	hca->calls->packet_came(hca, pkt);
}

void link_receive_arrived(struct event *ev)
{
	struct packet *pkt = container_of(ev, struct packet, ev);
	struct link_port *lp = pkt->hca->ports[pkt->port - 1];

	lp->flying--;
	if (__builtin_expect(lp->config.eth != NULL, 0))
		eth_port_receive(lp, pkt);
	else
		receive(lp, pkt);
}

void hca_inject(struct hca *hca, unsigned port, const void *wire, size_t len)
{
	struct packet *pkt;

	if (port < 1 || port > param_hca_ports(hca->params))
		return;
	pkt = packet_alloc(hca);
	if (len > sizeof(pkt->buf))
		len = sizeof(pkt->buf);
	memcpy(pkt->buf, wire, len);
	pkt->wire = pkt->buf;
	pkt->len = (uint16_t)len;
	pkt->port = (uint8_t)port;
	pkt->crcs_made = pkt->crcs_unknown = pkt->uncredited = true;
	pkt->fault = "injected";
	if (link_port_config(hca, port)->eth) {
		pkt->ethernet = true;
		pkt->vlan = VLAN_NONE;
		eth_port_receive(hca->ports[port - 1], pkt);
		return;
	}
	pkt->vl = len ? pkt->wire[0] >> 4 : 0;
	receive(hca->ports[port - 1], pkt);
}
