/* SPDX-License-Identifier: Apache-2.0 */
/* Records and packets as text, made with the rows of model/interface. Values from ten up are in
 * hex, except LIDs, PSNs, lengths and indices. Nothing is read outside the bytes given. */
#ifndef TRACES_DECODE_H
#define TRACES_DECODE_H

#include "model/interface/rows.h"
#include "model/sim/fault.h"
#include "traces/trace_impl.h"

/* A packet as it was on the wire, or its first bytes. */
struct packet_bytes {
	const uint8_t *bytes; /* may be NULL */
	uint32_t len;
	bool ethernet; /* a frame with FCS; else an InfiniBand packet */
};

/* Those of a record of a packet. */
struct packet_bytes packet_bytes_of(const struct trace_record *r);

/* A parsed packet. op has no name when the opcode is unknown. */
struct packet_view {
	const struct lrh *lrh;    /* NULL: a frame */
	struct roce_places frame; /* of a frame */
	const struct grh *grh;    /* NULL: the packet has none */
	const struct bth *bth;
	const struct bth_op *op;
	uint32_t total;   /* length according to LRH.PktLen or the IP header, with VCRC or FCS */
	uint32_t headers; /* bytes before the payload */
	int payload;      /* bytes without pad; negative: the packet is too short for its headers */
};

/* False when the bytes do not contain the headers up to the BTH. The bytes may end after the headers,
 * because total and payload follow from PktLen. */
bool packet_view_make(struct packet_view *v, const struct packet_bytes *p);
/* An extended header of the packet. NULL: the opcode does not have it, or it is not within the
 * bytes. */
const void *packet_view_ext(const struct packet_view *v, uint32_t len, enum bth_ext ext);

/* The QP that a packet of a connection comes from. 0 when it has the same number as the QP that the
 * packet goes to, or when the packet itself names its source. */
uint32_t packet_source(const struct packet_view *v, const struct trace_record *r);

/* The QP that a packet comes from, as far as it is known. */
uint32_t packet_sender(const struct packet_view *v, const struct trace_record *r);
/* Whether it is a NAK; an RNR NAK counts too. */
bool packet_is_nak(const struct packet_view *v, uint32_t len);
/* Whether the fault plan did this to the packet of the record. */
bool packet_fault_is(const struct trace_record *r, enum fault_action action);

/* Writes " rc_send_only dlid 2 qpn 0x41 psn 5 payload 64" and then ", ..." for each extended
 * header; the other two functions write only the first or only the second part. */
void decode_packet(struct trace_text *t, const struct packet_bytes *p);
void decode_packet_plain(struct trace_text *t, const struct packet_bytes *p);
void decode_packet_more(struct trace_text *t, const struct packet_bytes *p);
/* Writes for example "ack credits 31 msn 5", "nak rem_access msn 5", "rnr nak timer 12 msn 5". */
void decode_aeth(struct trace_text *t, const struct aeth *aeth);

/* Writes ", name value" for each field that is not 0 and lies in bytes [from, to) of the layout. */
void decode_fields(struct trace_text *t, const struct layout *l, const uint8_t *bytes,
		   uint32_t from, uint32_t to);
/* Writes the name of a code; without a name, the prefix and the number in hex. */
void decode_code(struct trace_text *t, const char *name, const char *prefix, uint32_t code);

/* What an Ethernet frame holds in one word, "tcp_syn", "mpa_request" or "rdma_write", and the rest:
 * "seq 5 ack 7, rev 2". What looks like an FPDU at the beginning of a segment is read as one. */
void decode_ethernet_plain(struct trace_text *t, const uint8_t *bytes, uint32_t len);
void decode_ethernet_more(struct trace_text *t, const uint8_t *bytes, uint32_t len);

void decode_reg(struct trace_text *t, const struct trace_record *r);
void decode_hcr(struct trace_text *t, const struct trace_record *r);
void decode_wqe(struct trace_text *t, const struct trace_record *r);
void decode_cqe(struct trace_text *t, const struct trace_record *r);
void decode_eqe(struct trace_text *t, const struct trace_record *r);
void decode_mad(struct trace_text *t, const uint8_t *bytes, uint32_t len);

#endif
