/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that a body makes itself: see inject() in services.h. */
#include "model/sim/cfg.h"
#include "testbench/services.h"
#include "testbench/language/tb.h"

#include "model/engine/wire/crc.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/roce_crc.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"

#include <string.h>

enum {
	PACKET_ROOM = PACKET_HEADERS + PACKET_PAYLOAD +
		      PACKET_TRAILER, /* largest packet that the device accepts */
	HOP_LIMIT = 64,
};

static uint32_t value(int64_t given, uint32_t right)
{
	return given == TB_ANY ? right : (uint32_t)given;
}

static bool has_grh(const struct tb_inject *p)
{
	return p->grh || p->dgid || p->sgid;
}

/* Offsets in the packet, in bytes from its start. */
struct places {
	uint32_t bth, payload, icrc, vcrc, end;
};

/* On an Ethernet port the FCS takes the place of the VCRC. */
static struct places lay_out_frame(const struct tb_inject *p, const struct bth_op *op,
				   enum roce_kind kind)
{
	const uint32_t bth = (uint32_t)sizeof(struct eth_hdr) + roce_l3_bytes(kind);
	const uint32_t payload = bth + BTH_BYTES + op->ext_bytes;
	const uint32_t icrc = payload + p->len + value(p->pad_bytes, -p->len & 3);
	uint32_t fcs = icrc + ICRC_BYTES + p->trailing;

	if (fcs + FCS_BYTES < ETHERNET_MIN)
		fcs = ETHERNET_MIN - FCS_BYTES;
	return (struct places){bth, payload, icrc, fcs, fcs + FCS_BYTES};
}

static struct places lay_out(const struct tb_inject *p, const struct bth_op *op)
{
	const uint32_t bth = LRH_BYTES + (has_grh(p) ? (uint32_t)GRH_BYTES : 0);
	const uint32_t payload = bth_op_header_bytes(op, has_grh(p));
	const uint32_t icrc = payload + p->len + value(p->pad_bytes, -p->len & 3);
	const uint32_t vcrc = icrc + (p->lnh == LNH_RAW || p->lnh == LNH_IPV6 ? 0 : ICRC_BYTES);

	return (struct places){bth, payload, icrc, vcrc, vcrc + VCRC_BYTES + p->trailing};
}

static void put_lrh(uint8_t *wire, const struct tb_inject *p, const struct tb_end *end,
		    const struct places *at)
{
	struct lrh *lrh = (void *)wire;

	lrh_set_vl(lrh, value(p->vl, 0));
	lrh_set_lver(lrh, value(p->lver, 0));
	lrh_set_sl(lrh, value(p->sl, 0));
	lrh_set_lnh(lrh, value(p->lnh, has_grh(p) ? LNH_IBA_GLOBAL : LNH_IBA_LOCAL));
	lrh_set_dlid(lrh, value(p->dlid, end->lid));
	lrh_set_pkt_len(lrh, value(p->pkt_len, at->vcrc / 4));
	lrh_set_slid(lrh, value(p->slid, end->peer->lid));
}

/* The given GID, or else the first one of the end's port. No simulated time passes. */
static void put_gid(uint8_t *to, const uint8_t *said, const struct tb_end *end, unsigned port)
{
	const struct port_config *c = link_port_config(host_hca(end->host), port);

	if (said) {
		memcpy(to, said, DRV_GID_BYTES);
		return;
	}
	be64_store(to, c->gid_prefix);
	be64_store(to + 8, c->guids[0]);
}

static void put_grh(uint8_t *wire, const struct tb_inject *p, const struct tb_end *end,
		    const struct places *at, unsigned port)
{
	struct grh *grh = (void *)(wire + LRH_BYTES);

	grh_set_ip_ver(grh, value(p->ip_ver, GRH_IP_VER));
	grh_set_tclass(grh, value(p->tclass, 0));
	grh_set_flow_label(grh, value(p->flow_label, 0));
	grh_set_pay_len(grh, value(p->pay_len, at->vcrc - at->bth));
	grh_set_next_hdr(grh, value(p->next_hdr, GRH_NEXT_BTH));
	grh_set_hop_limit(grh, value(p->hop_limit, HOP_LIMIT));
	put_gid(grh_dgid_ptr(grh), p->dgid, end, port);
	if (p->grh || p->sgid)
		put_gid(grh_sgid_ptr(grh), p->sgid, end->peer, port);
}

static void put_bth(uint8_t *bytes, const struct tb_inject *p, const struct tb_end *end,
		    enum bth_opcode opcode)
{
	struct bth *bth = (void *)bytes;

	bth_set_opcode(bth, value(p->opcode, opcode));
	bth_set_solicited(bth, p->solicited);
	bth_set_mig_req(bth, !p->not_migrated);
	bth_set_pad(bth, value(p->pad, -p->len & 3));
	bth_set_tver(bth, value(p->tver, 0));
	bth_set_pkey(bth, value(p->pkey, PKEY_DEFAULT));
	bth_set_dqpn(bth, p->qpn == TB_ANY ? drv_qp_num(end->qp[0]) : (uint32_t)p->qpn);
	bth_set_ack_req(bth, p->ack_req);
	bth_set_psn(bth, p->psn);
}

static void put_extensions(uint8_t *bth, const struct bth_op *op, const struct tb_inject *p)
{
#define AT(ext) ((void *)(bth + op->at[BTH_EXT_##ext]))
	if (bth_op_has(op, BTH_EXT_XRCETH))
		xrceth_set_srqn(AT(XRCETH), p->srqn);
	if (bth_op_has(op, BTH_EXT_DETH)) {
		deth_set_qkey(AT(DETH), p->qkey);
		deth_set_sqpn(AT(DETH), p->src_qpn);
	}
	if (bth_op_has(op, BTH_EXT_RETH)) {
		reth_set_va(AT(RETH), p->va);
		reth_set_rkey(AT(RETH), p->rkey);
		reth_set_dma_len(AT(RETH), p->dma_len);
	}
	if (bth_op_has(op, BTH_EXT_ATOMICETH)) {
		atomiceth_set_va(AT(ATOMICETH), p->va);
		atomiceth_set_rkey(AT(ATOMICETH), p->rkey);
		atomiceth_set_swap_add(AT(ATOMICETH), p->swap_add);
		atomiceth_set_compare(AT(ATOMICETH), p->compare);
	}
	if (bth_op_has(op, BTH_EXT_AETH)) {
		aeth_set_syndrome(AT(AETH), p->syndrome);
		aeth_set_msn(AT(AETH), p->msn);
	}
	if (bth_op_has(op, BTH_EXT_ATOMICACKETH))
		atomicacketh_set_original(AT(ATOMICACKETH), p->original);
	if (bth_op_has(op, BTH_EXT_IMMDT))
		immdt_set_imm(AT(IMMDT), p->imm);
	if (bth_op_has(op, BTH_EXT_IETH))
		ieth_set_rkey(AT(IETH), p->imm);
#undef AT
}

/* Appends ICRC and VCRC. Each is correct for the bytes of the packet unless the body asked for a bad one. */
static void put_crcs(uint8_t *wire, const struct tb_inject *p, const struct places *at)
{
	crc_make(wire, at->icrc);
	if (p->bad_icrc) {
		uint16_t vcrc;

		wire[at->icrc] ^= 1;
		vcrc = crc_vcrc(wire, at->icrc + ICRC_BYTES);
		wire[at->icrc + ICRC_BYTES] = (uint8_t)vcrc;
		wire[at->icrc + ICRC_BYTES + 1] = (uint8_t)(vcrc >> 8);
	}
	if (p->bad_vcrc)
		wire[at->vcrc] ^= 1;
}

/* --- Ethernet --- */

/* The given GID, or else the one that the end's queue pairs use. */
static const uint8_t *frame_gid(const struct tb *tb, const uint8_t *said, const struct tb_end *end,
				unsigned port)
{
	const struct eth_port *eth = link_port_config(host_hca(end->host), port)->eth;

	return said ? said : eth->gids[tb_gid_index(tb)].gid;
}

static void put_ipv4(uint8_t *l3, const struct tb_inject *p, const uint8_t *sgid,
		     const uint8_t *dgid, uint32_t len)
{
	struct ipv4_hdr *ip = (void *)l3;

	ipv4_hdr_set_version(ip, IPV4_VERSION);
	ipv4_hdr_set_ihl(ip, IPV4_BYTES / 4);
	ipv4_hdr_set_tos(ip, value(p->tclass, 0));
	ipv4_hdr_set_total_len(ip, value(p->pay_len, IPV4_BYTES + len));
	ipv4_hdr_set_df(ip, 1);
	ipv4_hdr_set_ttl(ip, value(p->hop_limit, HOP_LIMIT));
	ipv4_hdr_set_protocol(ip, value(p->next_hdr, IP_PROTOCOL_UDP));
	ipv4_hdr_set_saddr(ip, be32_load(sgid + 12));
	ipv4_hdr_set_daddr(ip, be32_load(dgid + 12));
	ipv4_hdr_set_checksum(ip, ~ip_sum(l3, IPV4_BYTES, 0));
}

static void put_ipv6(uint8_t *l3, const struct tb_inject *p, const uint8_t *sgid,
		     const uint8_t *dgid, uint32_t len, uint32_t next_hdr)
{
	struct grh *grh = (void *)l3;

	grh_set_ip_ver(grh, value(p->ip_ver, GRH_IP_VER));
	grh_set_tclass(grh, value(p->tclass, 0));
	grh_set_flow_label(grh, value(p->flow_label, 0));
	grh_set_pay_len(grh, value(p->pay_len, len));
	grh_set_next_hdr(grh, value(p->next_hdr, next_hdr));
	grh_set_hop_limit(grh, value(p->hop_limit, HOP_LIMIT));
	memcpy(grh_sgid_ptr(grh), sgid, DRV_GID_BYTES);
	memcpy(grh_dgid_ptr(grh), dgid, DRV_GID_BYTES);
}

static void put_front(const struct tb *tb, uint8_t *wire, const struct tb_inject *p,
		      const struct tb_end *end, const struct places *at, unsigned port)
{
	static const uint16_t types[ROCE_KINDS] = {[ROCE_V1] = ETH_TYPE_ROCE,
						   [ROCE_V2_IPV4] = ETH_TYPE_IPV4,
						   [ROCE_V2_IPV6] = ETH_TYPE_IPV6};
	const enum roce_kind kind = tb_roce_kind(tb);
	const uint8_t *dgid = frame_gid(tb, p->dgid, end, port),
		      *sgid = frame_gid(tb, p->sgid, end->peer, port);
	const uint32_t l4 = at->icrc + ICRC_BYTES - at->bth,
		       udp_len = l4 + (uint32_t)sizeof(struct udp_hdr);
	struct eth_hdr *eth = (void *)wire;
	uint8_t *l3 = wire + sizeof(*eth);
	struct udp_hdr *udp = (void *)(wire + at->bth - sizeof(*udp));

	memcpy(eth_hdr_dmac_ptr(eth), end->mac, MAC_BYTES);
	memcpy(eth_hdr_smac_ptr(eth), end->peer->mac, MAC_BYTES);
	eth_hdr_set_type(eth, types[kind]);
	if (kind == ROCE_V1) {
		put_ipv6(l3, p, sgid, dgid, l4, GRH_NEXT_BTH);
		return;
	}
	if (kind == ROCE_V2_IPV6)
		put_ipv6(l3, p, sgid, dgid, udp_len, IP_PROTOCOL_UDP);
	else
		put_ipv4(l3, p, sgid, dgid, udp_len);
	udp_hdr_set_sport(udp, ROCE_UDP_SPORT_BASE);
	udp_hdr_set_dport(udp, ROCE_UDP_PORT);
	udp_hdr_set_len(udp, udp_len);
}

static void put_frame_crcs(const struct tb *tb, uint8_t *wire, const struct tb_inject *p,
			   const struct places *at)
{
	const struct roce_places places = {.kind = tb_roce_kind(tb),
					   .vlan = VLAN_NONE,
					   .l3_off = sizeof(struct eth_hdr),
					   .bth_off = (uint16_t)at->bth,
					   .end = (uint16_t)(at->icrc + ICRC_BYTES)};

	roce_crcs_make(wire, at->end, &places);
	if (p->bad_icrc) {
		wire[at->icrc] ^= 1;
		frame_fcs_make(wire, at->end);
	}
	if (p->bad_vcrc)
		wire[at->vcrc] ^= 1;
}

void tb_inject(struct tb *tb, const char *here, struct tb_end *end, enum bth_opcode opcode,
	       const struct tb_inject *p)
{
	const struct bth_op *op = bth_op_find((uint8_t)opcode);
	const struct places at =
		end->ethernet ? lay_out_frame(p, op, tb_roce_kind(tb)) : lay_out(p, op);
	const unsigned port = p->port ? p->port : 1;
	uint8_t wire[PACKET_ROOM] = {0};

	if (!tb_go(tb, here))
		return;
	if (port > tb->config->hca[end->host_index].hca_ports || at.end > sizeof(wire) ||
	    (!p->payload && p->src + p->len > tb->setup.memory) || p->cut > at.end) {
		tb_failf(tb, here, "a packet of at most %zu bytes, from within the area, got %u",
			 sizeof(wire), at.end);
		return;
	}
	if (end->ethernet) {
		put_front(tb, wire, p, end, &at, port);
	} else {
		put_lrh(wire, p, end, &at);
		if (has_grh(p))
			put_grh(wire, p, end, &at, port);
	}
	put_bth(wire + at.bth, p, end, opcode);
	put_extensions(wire + at.bth, op, p);
	memcpy(wire + at.payload, p->payload ? p->payload : end->peer->src + p->src, p->len);
	memset(wire + at.payload + p->len, p->pad_byte, at.icrc - at.payload - p->len);
	if (end->ethernet)
		put_frame_crcs(tb, wire, p, &at);
	else
		put_crcs(wire, p, &at);
	tb_inject_bytes(tb, here, end, port, wire, at.end - p->cut);
}

void tb_inject_bytes(struct tb *tb, const char *here, struct tb_end *end, unsigned port,
		     const void *bytes, size_t len)
{
	struct hca *hca = host_hca(end->host);

	if (!tb_go(tb, here))
		return;
	if (port < 1 || port > tb->config->hca[end->host_index].hca_ports || len > PACKET_ROOM) {
		tb_failf(tb, here,
			 "a port that there is, and at most %d bytes, got port %u and %zu",
			 PACKET_ROOM, port, len);
		return;
	}
	hca_inject(hca, port, bytes, len);
}
