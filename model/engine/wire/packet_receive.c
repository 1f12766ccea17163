/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the headers of a packet that has come in from a link port, finds its parts, and checks
 * whom it is for. from: link_receive.c; to: packet_arrived of calls.h. Takes no time of its own.
 */
#include "model/engine/base/engine.h"
#include "model/engine/wire/crc.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/roce.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/bth_ops.h"
#include "model/interface/wire.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_crc.h"

#include <errno.h>

enum {
	/* Most bytes of headers and ICRC. Together with the largest MTU it limits PktLen
	 * (MindShare, InfiniBand Network Architecture, ch. 21 and 25: the link layer's data packet
	 * check). */
	HEADERS_AND_ICRC_MAX = 124,
	GID_MULTICAST = 0xff, /* first byte of a multicast GID, IBA 4.1.1 */
};

/* Checks that the link layer does. Packets that fail them count as PortRcvErrors; those that a
 * higher layer drops do not (IBA 7.3, 16.1.3.5). */
static const char *parse_link(struct hca *hca, const struct packet *pkt)
{
	const struct lrh *lrh = (const struct lrh *)pkt->wire;
	const struct port_config *port = link_port_config(hca, pkt->port);
	unsigned vls = port->oper_vls ? 1u << (port->oper_vls - 1) : 1;

	if (pkt->len < LRH_BYTES + VCRC_BYTES)
		return "short";
	if (lrh_get_lver(lrh))
		return "LVer";
	if (lrh_get_pkt_len(lrh) * 4u + VCRC_BYTES != pkt->len ||
	    lrh_get_pkt_len(lrh) * 4u > PACKET_PAYLOAD + HEADERS_AND_ICRC_MAX)
		return "PktLen";
	if (lrh_get_vl(lrh) != VL_MANAGEMENT && lrh_get_vl(lrh) >= vls)
		return "VL is not in use";
	return NULL;
}

/* IPVer, NxtHdr and, later, the GIDs are what IBA 9.6.1.2 has a receiver check. PayLen is not among
 * them, because LRH:PktLen says how long a packet is. Linux's qib_ib_rcv and hfi1_setup_9B_packet do
 * the same, and ib_qib sends datagrams whose PayLen is wrong. */
static const char *parse_grh(struct packet *pkt, unsigned after_lrh)
{
	const struct grh *grh = (const struct grh *)(pkt->wire + LRH_BYTES);

	if (after_lrh < GRH_BYTES)
		return "too short for a GRH";
	if (grh_get_ip_ver(grh) != GRH_IP_VER)
		return "GRH IPVer";
	if (grh_get_next_hdr(grh) != GRH_NEXT_BTH)
		return "GRH NxtHdr";
	pkt->l3_off = LRH_BYTES;
	return NULL;
}

/* Whether a reserved opcode belongs to a reliable service, which answers it with a NAK. */
static bool __attribute__((noinline, cold)) answered(const struct bth *bth)
{
	return bth_code_is_reliable(bth_get_opcode(bth));
}

/* From the BTH to the pad, which ends where the ICRC begins. There are a whole BTH and an ICRC. */
static inline __attribute__((always_inline)) const char *parse_transport(struct packet *pkt,
									 unsigned icrc_off)
{
	const struct bth *bth = (const struct bth *)(pkt->wire + pkt->bth_off);
	unsigned headers, pad;

	if (bth_get_tver(bth))
		return "TVer";
	pkt->op = bth_op_find((uint8_t)bth_get_opcode(bth));
	if (__builtin_expect(!pkt->op->props, 0) && !answered(bth))
		return "opcode";
	headers = pkt->bth_off + (unsigned)BTH_BYTES + pkt->op->ext_bytes;
	pad = bth_get_pad(bth);
	if (icrc_off < headers + pad)
		return "too short for its headers";
	pkt->ext_off = pkt->bth_off + BTH_BYTES;
	pkt->payload_off = (uint16_t)headers;
	pkt->payload_len = (uint16_t)(icrc_off - headers - pad);
	if (!bth_op_is(pkt->op, BTH_PAYLOAD) && pkt->payload_len + pad && pkt->op->props)
		return "payload where none belongs";
	/* Too long a payload of a connected service is found later, by the QP's MTU, and answered
	 * (IBA 9.7.4.1.6, 9.8.2). */
	if (pkt->payload_len > PACKET_PAYLOAD && bth_op_is(pkt->op, BTH_DATAGRAM))
		return "datagram above 4096 bytes";
	pkt->qpn = bth_get_dqpn(bth);
	pkt->psn = bth_get_psn(bth);
	return NULL;
}

static const char *parse(struct packet *pkt)
{
	const struct lrh *lrh = (const struct lrh *)pkt->wire;
	const char *why;
	unsigned lnh;

	/* what its sender knew of it need not be true any more */
	pkt->bth_off = pkt->payload_off = 0;
	lnh = lrh_get_lnh(lrh);
	if (lnh == LNH_RAW || lnh == LNH_IPV6)
		return "raw packet";
	if (pkt->len < LRH_BYTES + BTH_BYTES + (int)CRC_BYTES)
		return "too short for a BTH";
	pkt->l3_off = 0;
	if (lnh == LNH_IBA_GLOBAL) {
		why = parse_grh(pkt, pkt->len - LRH_BYTES - CRC_BYTES);
		if (why)
			return why;
	}
	pkt->bth_off = (uint16_t)(LRH_BYTES + (pkt->l3_off ? GRH_BYTES : 0));
	if (pkt->len < pkt->bth_off + BTH_BYTES + CRC_BYTES)
		return "too short for a BTH";
	return parse_transport(pkt, pkt->len - (unsigned)CRC_BYTES);
}

/*
 * A good data packet shows that its sender's port is Active. So a port that still waits in Armed
 * for the subnet manager becomes Active, too (IBA 7.2.7, ActiveTrigger; Linux's hfi1 does so in
 * software).
 */
static void armed_to_active(struct hca *hca, const struct packet *pkt)
{
	if (__builtin_expect(link_port_config(hca, pkt->port)->logical == PORT_STATE_ARMED, 0) &&
	    pkt->vl != VL_MANAGEMENT)
		link_port_activate(hca, pkt->port);
}

int packet_parse(struct hca *hca, struct packet *pkt, const char **why)
{
	*why = parse_link(hca, pkt);
	if (*why) {
		link_port_config(hca, pkt->port)->counters[FW_PC_RCV_ERRORS]++;
		return -EBADMSG;
	}
	*why = parse(pkt);
	armed_to_active(hca, pkt);
	return *why ? -EPROTO : 0;
}

static bool own_gid(struct hca *hca, unsigned port, const uint8_t *gid)
{
	const struct port_config *c = link_port_config(hca, port);
	uint64_t prefix = be64_load(gid), guid = be64_load(gid + 8);

	if (prefix != c->gid_prefix && prefix != 0xfe80000000000000)
		return false;
	for (unsigned i = 0; guid && i < 1u << param_hca_log_gids(hca->params); i++)
		if (c->guids[i] == guid)
			return true;
	return false;
}

/* Checks by LRH and GRH whether a packet is for this port: IBA 9.6.1. NULL: it is. Otherwise a text
 * for the log. */
static const char *check_address(struct hca *hca, const struct packet *pkt)
{
	const struct lrh *lrh = (const struct lrh *)pkt->wire;
	uint16_t dlid = (uint16_t)lrh_get_dlid(lrh);
	bool management = pkt->vl == VL_MANAGEMENT,
	     multicast = dlid >= LID_MCAST_FIRST && dlid != LID_PERMISSIVE;

	if (management != (pkt->qpn == 0) && !pkt->loopback)
		return "VL15 and QP0 belong together";
	if (multicast && (!pkt->l3_off || !bth_op_is(pkt->op, BTH_DATAGRAM)))
		return "multicast is for datagrams with a GRH";
	if (multicast &&
	    grh_dgid_cptr((const struct grh *)(pkt->wire + pkt->l3_off))[0] != GID_MULTICAST)
		return "DGID is not a multicast GID";
	if (dlid == LID_PERMISSIVE && pkt->qpn != 0)
		return "permissive LID";
	if (multicast != (pkt->qpn == QPN_MULTICAST))
		return "multicast LID and QP belong together";
	if (dlid != LID_PERMISSIVE && !multicast && !link_port_is_own_lid(hca, pkt->port, dlid))
		return "DLID is not this port's";
	if (pkt->l3_off && !multicast &&
	    !own_gid(hca, pkt->port, grh_dgid_cptr((const struct grh *)(pkt->wire + pkt->l3_off))))
		return "DGID is not this port's";
	return NULL;
}

void packet_drop(struct hca *hca, struct packet *pkt, const char *why)
{
	hca->stats.responder_dropped++;
	HCA_TRACE(hca, TP_PKT_DISCARD, .port = pkt->port, .qpn = pkt->qpn, .corr = pkt->psn,
		  .bytes = pkt->wire, .len = pkt->len, .text = why,
		  .args = {pkt->ethernet ? TRACE_PACKET_ETHERNET : 0});
	packet_free(pkt);
}

/* --- Ethernet --- */

enum { BTH_CNP = 0x81 }; /* a congestion notification, A17.9.3 */

/* What is wrong with a RoCE packet; NULL: nothing, it is for this port. */
static const char *check_frame(struct hca *hca, struct packet *pkt, struct eth_port *eth)
{
	const struct roce_places at = roce_places_of(pkt);
	const char *why;

	if ((param_crc_eager(hca->params) || pkt->crcs_unknown) &&
	    !roce_icrc_is_right(pkt->wire, &at)) {
		eth->counters[FW_EC_RX_BAD_ICRC]++;
		return "icrc";
	}
	if (pkt->wire[pkt->bth_off] == BTH_CNP) {
		eth->counters[FW_EC_RX_CNP]++;
		return "congestion notification";
	}
	why = parse_transport(pkt, pkt->icrc_off);
	return why ? why : roce_check_address(hca, pkt);
}

/* Decides who gets a frame: the transport, or software. A frame that was meant to be RoCE and is
 * wrong goes to nobody. */
static void __attribute__((noinline)) frame_receive(struct hca *hca, struct packet *pkt)
{
	struct eth_port *eth = link_port_config(hca, pkt->port)->eth;
	const char *why;

	/* without RoCE v2 here, such a packet goes to software, which looks at its ICRC */
	if (pkt->roce > ROCE_V1 && !eth->udp_port)
		packet_need_crcs(pkt);
	why = roce_locate(pkt, eth);
	if (why && pkt->roce == ROCE_NONE && hca->calls->frame_came) {
		hca->calls->frame_came(hca, pkt);
		return;
	}
	if (!why)
		why = check_frame(hca, pkt, eth);
	if (why) {
		eth->counters[FW_EC_RX_FILTERED]++;
		packet_drop(hca, pkt, why);
		return;
	}
	hca->calls->packet_arrived(hca, pkt);
}

void packet_receive(struct hca *hca, struct packet *pkt)
{
	const char *why = NULL;

	if (!(hca->ctrl & FW_CTRL_RUN)) {
		packet_drop(hca, pkt, "the engine is stopped");
		return;
	}
	if (__builtin_expect(pkt->ethernet, 0)) {
		frame_receive(hca, pkt);
		return;
	}
	if (!packet_parse(hca, pkt, &why))
		why = check_address(hca, pkt);
	if (why) {
		packet_drop(hca, pkt, why);
		return;
	}
	hca->calls->packet_arrived(hca, pkt);
}
