/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets: their pool, their parts, building (packet.c) and checking (packet_receive.c). One buffer
 * from payload DMA at the sender to payload DMA at the receiver: no copy on the way. from:
 * requester, responder to link_port; from link_port to packet_receive() and the receive unit. Time:
 * [hca.packet].
 */
#ifndef MODEL_ENGINE_PACKET_H
#define MODEL_ENGINE_PACKET_H

#include "model/engine/base/event_core.h"
#include "model/engine/host/pcie.h"
#include "model/interface/ethernet.h"
#include "model/sim/params/hca_packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct bth_op;

enum {
	PACKET_HEADERS = 128, /* room in front of the payload: Ethernet and VLAN 18, IPv6 40, UDP 8,
				 BTH 12, XRCETH 4, the largest extension 44 */
	PACKET_PAYLOAD = 4096,
	/* Of a device with an Ethernet port, which also has frames of other protocols. */
	PACKET_FRAME = ETHERNET_MAX,
	PACKET_TRAILER = 16, /* pad, ICRC, VCRC or FCS */
	QPN_MULTICAST = 0xffffff,
	PACKET_FRAGS = 128, /* pieces of host memory of one payload: 62 segments of the longest send
			       WQE, each across a page */
};

struct packet {
	struct packet *next;      /* next in the queue that the packet is in */
	struct event ev;          /* for the use of its present holder */
	struct hca *hca;          /* the device that holds it now */
	struct packet_pool *pool; /* the pool that it returns to */
	uint8_t port;             /* the port it leaves by or came in at, from 1 */
	uint8_t vl;
	bool cable_only; /* leaves by the cable, whatever its DLID: the device loops nothing back */
	bool loopback;   /* never on the wire: the DLID is the sender's own */
	bool crcs_made;  /* ICRC and VCRC are in the buffer; wrong only where a fault changed the
			      packet afterwards */
	bool crcs_unknown; /* a fault plan changed it, or it was injected: the receiver checks its
			      CRCs even where crc.eager is off */
	bool uncredited; /* no credits were taken for it: a fault plan's copy, an injected packet */
	bool rx_buffered; /* occupies the receiving port's buffer */
	bool lent;        /* a trace record still points to its bytes; they stay until it arrives */
	bool resent;
	/* sender: static rate of its path, as in qp_path.static_rate; 0: none, or the packet has
	 * been delayed */
	uint8_t static_rate;
	bool ethernet;     /* a frame of an Ethernet port */
	uint8_t roce;      /* what carries its BTH, enum roce_kind; 0: InfiniBand, or no RoCE */
	uint16_t vlan;     /* Ethernet: priority and VLAN, or VLAN_NONE */
	uint16_t icrc_off; /* Ethernet: place of the ICRC; 0: the frame has none */
	uint16_t sharers;  /* copies that use its buffer space, too */
	/* a multicast member's copy: the packet whose buffer space it uses */
	struct packet *shares;
	unsigned hold;     /* fault plan: number of later packets that overtake it */
	const char *fault; /* what a fault plan did, for traces; usually NULL */
	uint64_t sent_ps;  /* last bit left the sender */
	uint64_t ready_ps; /* sender: earliest start on the wire; receiver: parsed */

	uint8_t *wire; /* first byte of the LRH or of the frame, inside buf */
	uint16_t len;  /* to the end of the VCRC or FCS */

	/* Filled by the builder, or by packet_parse() at the receiver. Offsets count from wire. */
	const struct bth_op *op;
	uint16_t l3_off; /* GRH or IP header; 0: none */
	uint16_t bth_off;
	uint16_t ext_off; /* first byte after the BTH (XRCETH when there is one) */
	uint16_t payload_off;
	uint16_t payload_len; /* without pad */
	uint32_t qpn; /* destination QPN of the BTH; real number (QP0/QP1 mapped to the special QP)
			 at the receiver */
	uint32_t psn;
	uint32_t corr;    /* sender: WQE index; for traces */
	uint32_t src_qpn; /* sender's own QPN, for traces */

	/* Payload DMA, sender's read or receiver's write. */
	struct dma dma;
	struct dma_frag frags[PACKET_FRAGS];
	unsigned n_frags;
	void *owner;     /* for the use of its present holder */
	uint8_t mark;    /* for the use of its present holder */
	uint8_t verdict; /* responder: the NAK of this verdict is sent in place of the response */
	uint32_t flow_hash; /* received frame: by which it was given to one of several QPs */
	bool spread;        /* received frame: that was done */

	/* PACKET_FRAME instead of PACKET_PAYLOAD where the pool says so */
	_Alignas(8) uint8_t buf[PACKET_HEADERS + PACKET_PAYLOAD + PACKET_TRAILER];
};

/* How much longer a payload of that length occupies the unit that moves it than a small one
 * does. */
static inline uint64_t packet_large_ps(const struct hca_params *p, uint32_t payload)
{
	return payload > param_packet_small(p) ? param_packet_large_gap(p) : 0;
}

struct packet_pool *packet_pool_create(struct hca *hca);
void packet_pool_destroy(struct packet_pool *pool);
/* The header fields are zero; wire and len are not set. The payload belongs at buf +
 * PACKET_HEADERS. Never NULL. */
struct packet *packet_alloc(struct hca *hca);
/* The packet's TRACE_TRAIT_* bits, for trace records of spans. */
uint64_t packet_traits(const struct packet *pkt);
/* Returns the packet to its pool. The buffer space of a received packet goes back as credits. */
void packet_free(struct packet *pkt);
/* A second packet with the same bytes: duplicated by a fault plan, or delivered to a further
 * multicast member. */
void packet_copy(struct packet *to, const struct packet *from);
/* The copy also uses the buffer space of a received packet. That packet is freed when
 * packet_unshare() has been called for it and all its copies have been freed. */
void packet_share(struct packet *copy, struct packet *pkt);
void packet_unshare(struct packet *pkt);
size_t packet_pool_footprint(const struct hca *hca);
/* Gives memory back when none is in use. */
void packet_pool_trim(struct hca *hca);
unsigned packet_pool_in_use(const struct hca *hca);

/* The contents of the headers in front of the payload, from the address path of a QP, an address
 * vector or an MLX work request. */
struct packet_path {
	uint8_t port, sl;
	uint8_t static_rate; /* 0: the port's rate */
	uint8_t path_bits;   /* added to the port's LID */
	uint16_t dlid;
	bool grh;
	uint8_t sgid_index, hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t dgid[16];
	/* Used on an Ethernet port only. */
	enum roce_kind roce;
	uint8_t smac_index;
	uint8_t dmac[MAC_BYTES];
	uint16_t vlan;      /* priority and VLAN, or VLAN_NONE */
	uint16_t udp_sport; /* RoCE v2 */
	bool force_loopback;
};

struct packet_headers {
	uint8_t opcode; /* BTH opcode */
	bool solicited, mig_req, ack_req;
	uint16_t pkey;
	uint32_t dest_qpn;
	uint32_t psn;
	/* Extension headers as the opcode's row asks; others are ignored. Immediate as its four
	 * wire bytes. */
	uint32_t xrc_srqn;
	struct {
		uint32_t qkey, src_qpn;
	} deth;
	struct {
		uint64_t va;
		uint32_t rkey, length;
	} reth;
	struct {
		uint64_t va, swap_add, compare, swap_mask, compare_mask;
		uint32_t rkey;
	} atomic;
	struct {
		uint8_t syndrome;
		uint32_t msn;
	} aeth;
	uint64_t atomic_ack;
	uint8_t imm[4]; /* ImmDt or IETH */
};

/*
 * Writes LRH..extension headers in front of the payload, and the pad. Sets wire, len, offsets and
 * vl. The payload's bytes may be there already or may come later by DMA. packet_seal() makes the
 * CRCs when the payload is there.
 */
void packet_build(struct hca *hca, struct packet *pkt, const struct packet_path *path,
		  const struct packet_headers *h, unsigned payload_len);
/* Builds one more packet like `model`, which packet_build() has made: same payload length, and same
 * headers except for PSN and AckReq. */
void packet_build_like(struct packet *pkt, const struct packet *model, uint32_t psn, bool ack_req);
/* For MLX work requests: takes the headers as the driver wrote them (LRH, GRH, BTH, DETH), and sets
 * SLID and lengths. */
void packet_build_raw(struct hca *hca, struct packet *pkt, unsigned port, const uint8_t *headers,
		      unsigned headers_len, unsigned payload_len, bool vl15, bool keep_slid,
		      uint8_t path_bits);
/* A frame as the driver wrote it, around or in front of the payload, which is there already: for
 * QP1, whose headers are Ethernet to DETH. Sets lengths and pad. False: the headers are no RoCE. */
bool packet_build_frame(struct hca *hca, struct packet *pkt, unsigned port, const uint8_t *headers,
			unsigned headers_len, unsigned payload_len);
/* The packet is complete: sets ready_ps, when it can go onto the wire, and makes ICRC and VCRC if
 * parameter crc.eager says so. */
void packet_seal(struct hca *hca, struct packet *pkt);
/* Makes the CRCs now if packet_seal() left them out, because the bytes leave the model (trace,
 * fault). */
void packet_need_crcs(struct packet *pkt);

/*
 * Finds the parts of a received packet, and makes an Armed port Active by it (IBA 7.2.7). 0; or with
 * *why for the log, -EBADMSG when the link layer finds it malformed (LVer, length, VL; counted as
 * PortRcvErrors), -EPROTO when a layer above does (LNH, GRH, TVer, opcode, sizes).
 */
int packet_parse(struct hca *hca, struct packet *pkt, const char **why);
/* packet_came of calls.h for a device that has the transport: passes the packet to packet_arrived
 * if it is whole and for this port, and drops it otherwise. */
void packet_receive(struct hca *hca, struct packet *pkt);
/* Frees a received packet that nobody accepts; `why` is for the log. */
void packet_drop(struct hca *hca, struct packet *pkt, const char *why);

/* The GIDs of a packet that has a GRH or an IP header. */
void packet_sgid(const struct packet *pkt, uint8_t gid[16]);
void packet_dgid(const struct packet *pkt, uint8_t gid[16]);

static inline uint8_t *packet_payload(struct packet *pkt)
{
	return pkt->buf + PACKET_HEADERS;
}

#endif
