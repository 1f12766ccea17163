/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaves each host, judged by the RFCs and not by the driver's own readers: the headers of each frame, the numbers and bytes of each
 * stream, and the bytes of each message that a connection says it has sent.
 */
#include "testbench/language/iwarp_wire.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	ETHERTYPE = 12,
	IPV4 = 0x0800,
	IHL_20 = 0x45,
	DONT_FRAGMENT = 0x40,
	TTL = 64,
	PROTOCOL_TCP = 6,
	OFFSET_SHIFT = 2, /* upper four bits, in words of 4 bytes */
	OFFSET_UNUSED = 0xf,
	WINDOW = 65535,
	MSS = 1460,
	MSS_OPTION = 0x0204,
};

/* --- one frame --- */

struct seen {
	uint16_t from_port, to_port;
	uint32_t seq, ack;
	uint16_t window, mss; /* mss: 0, no option */
	uint8_t flags;
	const uint8_t *payload;
	uint32_t len;
};

static bool flags_right(uint8_t flags)
{
	switch (flags) {
	case TCP_SYN:
	case TCP_SYN | TCP_ACK:
	case TCP_ACK:
	case TCP_ACK | TCP_PSH:
	case TCP_ACK | TCP_FIN:
	case TCP_ACK | TCP_RST:
		return true;
	default:
		return false;
	}
}

/* Of a frame whose lengths and checksums are right. */
static struct seen segment_of(const uint8_t *frame)
{
	const uint8_t *ip = frame + ETH_HEADER, *tcp = ip + IP_HEADER, *end = ip + be16(ip + 2);
	const unsigned head = (tcp[12] & ~OFFSET_UNUSED) >> OFFSET_SHIFT;

	return (struct seen){
		.from_port = be16(tcp),
		.to_port = be16(tcp + 2),
		.seq = be32(tcp + 4),
		.ack = be32(tcp + 8),
		.window = be16(tcp + 14),
		.mss = head > TCP_HEADER && be16(tcp + 20) == MSS_OPTION ? be16(tcp + 22) : 0,
		.flags = tcp[13],
		.payload = tcp + head,
		.len = (uint32_t)(end - tcp - head),
	};
}

/* NULL, or what a header should have. */
static const char *headers_wrong(struct iw_side *side, const uint8_t *frame, size_t n,
				 const struct seen *s)
{
	const uint8_t own = (uint8_t)(1 + side->end->index), other = (uint8_t)(3 - own);
	const uint8_t macs[] = {2, 0, 0, 0, 0, other, 2, 0, 0, 0, 0, own};
	const uint8_t addresses[] = {11, 0, 1, own, 11, 0, 1, other};
	const uint8_t *ip = frame + ETH_HEADER, *tcp = ip + IP_HEADER;
	const uint16_t ip_id = be16(ip + 4);

	if (memcmp(frame, macs, sizeof(macs)) || be16(frame + ETHERTYPE) != IPV4)
		return "the MAC addresses and the type of IP";
	if (ip[0] != IHL_20 || ip[1] || ip[6] != DONT_FRAGMENT || ip[7] || ip[8] != TTL ||
	    ip[9] != PROTOCOL_TCP || memcmp(ip + 12, addresses, sizeof(addresses)))
		return "a right header of IP";
	if (side->sent && ip_id != (uint16_t)(side->ip_id + 1))
		return "the next identification of IP";
	side->sent = true;
	side->ip_id = ip_id;
	if (!flags_right(s->flags) || tcp[12] & OFFSET_UNUSED || be16(tcp + 18))
		return "right flags of TCP";
	if (s->payload - tcp != TCP_HEADER + (s->flags & TCP_SYN ? TCP_MSS_OPTION : 0) ||
	    (s->flags & TCP_SYN && s->mss != MSS))
		return "an MSS of 1460 in each SYN, and no other option";
	if (!(s->flags & TCP_RST) && s->window != WINDOW)
		return "a window of 65535";
	if (!(s->flags & TCP_ACK) && s->ack)
		return "no number of an ACK without its flag";
	for (const uint8_t *p = s->payload + s->len; p < frame + n; p++)
		if (*p)
			return "zeros behind a short packet";
	return NULL;
}

/* --- streams --- */

static struct iwarp_way *way_find(const struct tb_iwarp *all, unsigned host, uint16_t from_port,
				  uint16_t to_port)
{
	for (struct drv_list *l = all->ways.next; l != &all->ways; l = l->next) {
		struct iwarp_way *way = container_of(l, struct iwarp_way, link);

		if (way->host == host && way->from_port == from_port && way->to_port == to_port)
			return way;
	}
	return NULL;
}

static struct iwarp_way *way_back(const struct tb_iwarp *all, const struct iwarp_way *way)
{
	return way_find(all, !way->host, way->to_port, way->from_port);
}

static struct iwarp_way *way_of(const struct iw_side *side, struct iw_cm_id *id)
{
	struct iw_stream *stream = iw_stream_of(id);
	struct tcp_segment s;

	if (!stream)
		return NULL;
	tcp_segment_next(stream, &s);
	return way_find(side->all, side->end->index, s.from_port, s.to_port);
}

static struct iwarp_way *way_make(struct iw_side *side, const struct seen *s)
{
	struct iwarp_way *way = calloc(1, sizeof(*way));

	if (!way)
		return NULL;
	*way = (struct iwarp_way){
		.host = side->end->index,
		.from_port = s->from_port,
		.to_port = s->to_port,
		.initiator = !(s->flags & TCP_ACK),
		.first = s->seq + 1,
		.ack = s->ack,
	};
	for (unsigned i = 0; i < RDMAP_QUEUES; i++)
		way->msn[i] = 1;
	drv_list_init(&way->said);
	drv_list_add(&side->all->ways, &way->link);
	return way;
}

static const char *bytes_take(struct iwarp_way *way, const struct seen *s)
{
	const uint32_t at = s->seq - way->first, end = at + s->len;
	uint8_t *grown;

	if (way->fin && at == way->n + 1) /* the FIN has a number, too */
		return s->len || s->flags & TCP_FIN ? "nothing behind the FIN" : NULL;
	if (at > way->n)
		return "no byte left out";
	if (way->acked && end > way->room && end > way->n)
		return "no byte beyond the peer's window";
	if (memcmp(way->bytes + at, s->payload, (end < way->n ? end : way->n) - at))
		return "the same bytes when they are sent again";
	if (way->fin ? end > way->n : s->flags & TCP_FIN && end < way->n)
		return "a FIN behind all bytes";
	way->fin |= s->flags & TCP_FIN;
	if (end <= way->n)
		return NULL;
	grown = realloc(way->bytes, end);
	if (!grown)
		return "memory for bytes";
	memcpy(grown + at, s->payload, s->len);
	way->bytes = grown;
	way->n = end;
	return NULL;
}

static void said_free(struct iwarp_said *said)
{
	drv_list_del(&said->link);
	free(said);
}

/* Judges what is there whole. */
static const char *messages_judge(struct iw_side *side, struct iwarp_way *way)
{
	struct iwarp_way *back = way_back(side->all, way);
	const char *wrong = NULL;
	size_t n;

	while (!wrong && !drv_list_empty(&way->said)) {
		struct iwarp_said *said = container_of(way->said.next, struct iwarp_said, link);

		n = iwarp_message_judge(way, back, said, &wrong);
		if (!n)
			break;
		way->judged += n;
		said_free(said);
	}
	return wrong;
}

/* Bytes in a segment. */
static uint32_t most(const struct iw_side *side, const struct seen *s)
{
	const bool known = side->syn_from == s->to_port && side->syn_to == s->from_port;
	const uint32_t mss = known && side->syn_mss && side->syn_mss < MSS ? side->syn_mss : MSS;

	return side->tcp.segment_max && side->tcp.segment_max < mss ? side->tcp.segment_max : mss;
}

static const char *segment_take(struct iw_side *side, const struct seen *s)
{
	struct iwarp_way *way = way_find(side->all, side->end->index, s->from_port, s->to_port);
	const struct iwarp_way *back;
	const char *wrong;

	if (s->len > most(side, s))
		return "no segment beyond the peer's MSS";
	if (s->flags & TCP_SYN) {
		if (!way)
			way = way_make(side, s);
		if (!way)
			return "memory for a stream";
		return s->seq + 1 == way->first ? NULL : "the same number in each SYN";
	}
	if (!way || s->flags & TCP_RST)
		return NULL;
	back = way_back(side->all, way);
	if (way->initiator && !way->ack && back)
		way->ack = back->first;
	if ((int32_t)(s->ack - way->ack) < 0)
		return "no ACK that goes back";
	way->ack = s->ack;
	wrong = bytes_take(way, s);
	return wrong ? wrong : messages_judge(side, way);
}

void iwarp_wire_arrived(struct iw_side *side, const uint8_t *frame, size_t n)
{
	struct iwarp_way *way;
	struct seen s;
	uint32_t acked;

	if (ethernet_frame_wrong(frame, n))
		return;
	s = segment_of(frame);
	if (s.flags & TCP_SYN) {
		side->syn_from = s.from_port;
		side->syn_to = s.to_port;
		side->syn_mss = s.mss;
	}
	way = way_find(side->all, side->end->index, s.to_port, s.from_port);
	if (!way || !(s.flags & TCP_ACK) || s.flags & TCP_RST)
		return;
	acked = s.ack - way->first;
	if (acked > way->n + way->fin || acked < way->acknowledged)
		return; /* of long ago, or of what was never sent */
	way->acked = true;
	way->acknowledged = acked;
	way->room = acked + (s.window ? s.window : 1); /* a closed window may be probed */
}

const char *iwarp_wire_frame(struct iw_side *side, const uint8_t *frame, size_t n)
{
	const char *wrong = ethernet_frame_wrong(frame, n);
	struct seen s;

	if (wrong)
		return wrong;
	s = segment_of(frame);
	wrong = headers_wrong(side, frame, n, &s);
	return wrong ? wrong : segment_take(side, &s);
}

/* --- what a connection says --- */

const char *iwarp_wire_said(struct iw_side *side, struct iw_cm_id *id, const char *text,
			    const uint8_t *ulpdu, size_t len)
{
	struct iwarp_way *way = way_of(side, id);
	struct iwarp_said *said;

	if (!way)
		return NULL;
	said = calloc(1, sizeof(*said) + len);
	if (!said)
		return "memory for a message";
	if (text)
		snprintf(said->text, sizeof(said->text), "%s", text);
	if (len)
		memcpy(said->ulpdu, ulpdu, len);
	said->len = len;
	said->breaks = iw_options_of(id)->breaks;
	said->stag = iw_options_of(id)->stag;
	drv_list_add(&way->said, &said->link);
	return messages_judge(side, way);
}

const char *iwarp_wire_term(struct iw_side *side, struct iw_cm_id *id, enum iw_term term, bool sent)
{
	const struct iwarp_way *way = way_of(side, id);

	if (way && !sent)
		way = way_back(side->all, way);
	return !way || !way->terminated || iwarp_term_is(term, way->term)
		       ? NULL
		       : "the same code in a TERMINATE and in its event";
}

const char *iwarp_wire_peer(struct iw_side *side, struct iw_cm_id *id, struct iw_address peer)
{
	const struct iwarp_way *way = way_of(side, id);

	return way && (peer.port != way->to_port || peer.ip != side->all->sides[!way->host].tcp.ip)
		       ? "the address of the peer in its Request"
		       : NULL;
}

const char *iwarp_wire_left(struct iw_side *side)
{
	for (struct drv_list *l = side->all->ways.next; l != &side->all->ways; l = l->next) {
		const struct iwarp_way *way = container_of(l, struct iwarp_way, link);

		if (way->host == side->end->index && drv_list_empty(&way->said) &&
		    way->judged < way->n)
			return "no bytes beside the messages";
	}
	return NULL;
}

void iwarp_wire_free(struct tb_iwarp *all)
{
	while (!drv_list_empty(&all->ways)) {
		struct iwarp_way *way = container_of(all->ways.next, struct iwarp_way, link);

		while (!drv_list_empty(&way->said))
			said_free(container_of(way->said.next, struct iwarp_said, link));
		drv_list_del(&way->link);
		free(way->bytes);
		free(way);
	}
}
