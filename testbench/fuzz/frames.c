/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that come to an Ethernet port, and the tables that SET_PORT writes. An input is a sequence of
 * both. A frame is raw bytes, or a template (RoCE of any kind, ARP, neighbour discovery, pause) with some
 * bytes changed, perhaps cut, and then its CRCs made. Afterwards the port must still answer a question
 * for its address, unless a table has been written.
 */
#include "host_driver/net/net.h"
#include "host_driver/net/note.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/commands.h"
#include "model/interface/mailboxes.h"
#include "testbench/fuzz/rig.h"

#include <stdlib.h>
#include <string.h>

enum {
	FRAME_MAX = 2048,
	STEPS_MAX = 64,
	PAYLOAD_MAX = 255,
	KINDS = 8,
	PATCHES = 7,
	TO_B = 0x80,
	TAGGED = 0x40,
	CUT = 0x20,
	BAD_CRC = 0x10,
};

enum kind { V1, V2_IPV4, V2_IPV6, ARP, ND, PAUSE, RAW, TABLE };

static size_t ethernet(const struct tb_end *to, bool tagged, unsigned type, struct fuzz_bytes *b,
		       uint8_t *wire)
{
	size_t at = 2 * MAC_BYTES;

	memcpy(wire, to->mac, MAC_BYTES);
	memcpy(wire + MAC_BYTES, to->peer->mac, MAC_BYTES);
	if (tagged) {
		be16_store(wire + at, ETH_TYPE_VLAN);
		be16_store(wire + at + 2, (uint16_t)fuzz_take(b, 2));
		at += sizeof(struct vlan_tag);
	}
	be16_store(wire + at, (uint16_t)type);
	return at + 2;
}

static size_t bth_put(const struct tb_end *to, struct fuzz_bytes *b, uint8_t *at)
{
	const unsigned opcode = (unsigned)fuzz_take(b, 1), payload = (unsigned)fuzz_take(b, 1);
	const struct bth_op *op = bth_op_find(opcode);
	const size_t ext = op && op->name ? op->ext_bytes : 0;
	struct bth *bth = (struct bth *)at;
	struct qpc qpc;

	bth_set_opcode(bth, opcode);
	bth_set_pkey(bth, 0xffff);
	bth_set_pad(bth, -payload & 3);
	bth_set_dqpn(bth, drv_qp_num(to->qp[0]));
	if (hca_context_read(host_hca(to->host), HCA_QP, drv_qp_num(to->qp[0]), &qpc, sizeof(qpc)) >
	    0)
		bth_set_psn(bth, qpc_get_next_rcv_psn(&qpc));
	return BTH_BYTES + ext + payload + (-payload & 3) + ICRC_BYTES;
}

static size_t grh_put(const struct tb_end *to, unsigned next, size_t bytes, uint8_t *at)
{
	struct grh *grh = (struct grh *)at;

	grh_set_ip_ver(grh, GRH_IP_VER);
	grh_set_hop_limit(grh, 1);
	grh_set_next_hdr(grh, next);
	grh_set_pay_len(grh, (uint32_t)bytes);
	memcpy(grh_sgid_ptr(grh), to->peer->gid, DRV_GID_BYTES);
	memcpy(grh_dgid_ptr(grh), to->gid, DRV_GID_BYTES);
	return sizeof(*grh);
}

static size_t udp_put(size_t bytes, uint8_t *at)
{
	struct udp_hdr *udp = (struct udp_hdr *)at;

	udp_hdr_set_sport(udp, ROCE_UDP_SPORT_BASE);
	udp_hdr_set_dport(udp, ROCE_UDP_PORT);
	udp_hdr_set_len(udp, (uint32_t)bytes);
	return sizeof(*udp);
}

static size_t ipv4_put(const struct tb_end *to, size_t bytes, uint8_t *at)
{
	struct ipv4_hdr *ip = (struct ipv4_hdr *)at;

	ipv4_hdr_set_version(ip, IPV4_VERSION);
	ipv4_hdr_set_ihl(ip, sizeof(*ip) / 4);
	ipv4_hdr_set_total_len(ip, (uint32_t)(sizeof(*ip) + bytes));
	ipv4_hdr_set_ttl(ip, 1);
	ipv4_hdr_set_protocol(ip, IP_PROTOCOL_UDP);
	ipv4_hdr_set_saddr(ip, 0x0b000101 + to->peer->host_index);
	ipv4_hdr_set_daddr(ip, 0x0b000101 + to->host_index);
	ipv4_hdr_set_checksum(ip, (uint16_t)~ip_sum(at, sizeof(*ip), 0));
	return sizeof(*ip);
}

static size_t roce_make(const struct tb_end *to, enum kind kind, bool tagged, struct fuzz_bytes *b,
			uint8_t *wire)
{
	static const uint16_t types[] = {ETH_TYPE_ROCE, ETH_TYPE_IPV4, ETH_TYPE_IPV6};
	uint8_t transport[BTH_BYTES + 64 + PAYLOAD_MAX + 4 + ICRC_BYTES] = {0};
	const size_t n = bth_put(to, b, transport), udp = n + sizeof(struct udp_hdr);
	size_t at = ethernet(to, tagged, types[kind], b, wire);

	if (kind == V1) {
		at += grh_put(to, GRH_NEXT_BTH, n, wire + at);
	} else {
		at += kind == V2_IPV4 ? ipv4_put(to, udp, wire + at)
				      : grh_put(to, IP_PROTOCOL_UDP, udp, wire + at);
		at += udp_put(udp, wire + at);
	}
	memcpy(wire + at, transport, n);
	return at + n;
}

static size_t note_make(const struct tb_end *to, enum kind kind, bool tagged, struct fuzz_bytes *b,
			uint8_t *wire)
{
	struct note n = {.question = fuzz_take(b, 1) & 1, .solicited = true};
	const uint16_t vlan = tagged ? (uint16_t)fuzz_take(b, 2) : VLAN_NONE;

	gid_from_mac(to->peer->mac, VLAN_NONE, n.about);
	gid_from_mac(to->mac, VLAN_NONE, n.other);
	if (kind == ARP) {
		memset(n.about, 0, sizeof(n.about));
		be16_store(n.about + 10, 0xffff);
		memcpy(n.other, n.about, sizeof(n.about));
		be32_store(n.about + 12, 0x0b000101 + to->peer->host_index);
		be32_store(n.other + 12, 0x0b000101 + to->host_index);
	}
	memcpy(n.mac, to->peer->mac, MAC_BYTES);
	return note_write(&n, to->mac, vlan, wire);
}

static size_t pause_make(const struct tb_end *to, struct fuzz_bytes *b, uint8_t *wire)
{
	const size_t at = ethernet(to, false, ETH_TYPE_CONTROL, b, wire);

	be16_store(wire + at, fuzz_take(b, 1) & 1 ? ETH_CONTROL_PFC : ETH_CONTROL_PAUSE);
	be16_store(wire + at + 2, (uint16_t)fuzz_take(b, 2));
	return ETHERNET_MIN - FCS_BYTES;
}

static size_t frame_make(const struct tb_end *to, enum kind kind, unsigned how,
			 struct fuzz_bytes *b, uint8_t *wire)
{
	const uint8_t *raw;
	size_t len;

	switch (kind) {
	case ARP:
	case ND:
		return note_make(to, kind, how & TAGGED, b, wire);
	case PAUSE:
		return pause_make(to, b, wire);
	case RAW:
		len = fuzz_take_some(b, (size_t)fuzz_take(b, 1) * 4, &raw);
		memcpy(wire, raw, len);
		return len;
	default:
		return roce_make(to, kind, how & TAGGED, b, wire);
	}
}

static void inject_one(struct tb_end *to, enum kind kind, unsigned how, struct fuzz_bytes *b)
{
	uint8_t wire[FRAME_MAX] = {0};
	size_t len = frame_make(to, kind, how, b, wire);
	struct roce_places at;

	for (unsigned n = fuzz_take(b, 1) & PATCHES; n && len; n--) {
		const size_t where = fuzz_take(b, 1) % len;

		wire[where] = (uint8_t)fuzz_take(b, 1);
	}
	if (how & CUT && len)
		len = fuzz_take(b, 2) % len;
	else if (len < ETHERNET_MIN - FCS_BYTES)
		len = ETHERNET_MIN - FCS_BYTES;
	len += FCS_BYTES;
	if (!roce_find(wire, len, len, ROCE_UDP_PORT, &at))
		roce_crcs_make(wire, len, &at);
	else
		frame_fcs_make(wire, len);
	if (how & BAD_CRC)
		wire[len - 1] ^= 1;
	hca_inject(host_hca(to->host), 1, wire, len);
}

/* A part of SET_PORT with some bytes of its table. */
struct table {
	struct tb_end *end;
	uint8_t mailbox[4096];
	unsigned part;
};

static void table_write(struct fuzz_rig *rig, void *arg)
{
	struct table *t = arg;
	struct drv_raw_cmd cmd = {.op = HCR_SET_PORT,
				  .op_mod = HCR_OM_SET_PORT_ETH,
				  .in_mod = t->part << SET_PORT_PART_SHIFT | 1,
				  .in = t->mailbox,
				  .in_len = sizeof(t->mailbox)};

	drv_cmd(t->end->dev, &cmd);
}

static void table_one(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	struct table t = {.end = end, .part = (unsigned)fuzz_take(b, 1) & 0xf};

	for (unsigned n = (unsigned)fuzz_take(b, 1) & 0x1f; n; n--) {
		const size_t at = fuzz_take(b, 2) % sizeof(t.mailbox);

		t.mailbox[at] = (uint8_t)fuzz_take(b, 1);
	}
	fuzz_rig_call(rig, table_write, &t, CFG_S(2));
}

/* The other end asks for the address of each. */
static void both_answer(struct fuzz_rig *rig, void *arg)
{
	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct tb_end *end = &rig->tb.ends[i];
		const uint8_t ip[DRV_GID_BYTES] = {
			[10] = 0xff, 0xff, 11, 0, 1, (uint8_t)(end->peer->host_index + 1)};
		const int index = drv_eth_gid_find(end->dev, 1, ip, 2, VLAN_NONE);
		const uint8_t own[DRV_GID_BYTES] = {
			[10] = 0xff, 0xff, 11, 0, 1, (uint8_t)(end->host_index + 1)};
		const int from = drv_eth_gid_find(end->dev, 1, own, 2, VLAN_NONE);
		struct net_way way = {0};

		if (index >= 0 || from < 0 ||
		    net_resolve(end->net, (unsigned)from, ip, CFG_S(1), &way))
			abort();
	}
}

int fuzz_input(const uint8_t *data, size_t size)
{
	static const char *const settings[] = {"hca.port1.type=eth", "hca.device=cx3pro", NULL};
	struct fuzz_bytes b = {data, data + size};
	bool changed = false;
	struct fuzz_rig *rig;

	fuzz_rig_settings = settings;
	rig = fuzz_rig_get();
	for (unsigned n = 0; n < STEPS_MAX && fuzz_more(&b) && !rig->given_up; n++) {
		const unsigned how = (unsigned)fuzz_take(&b, 1);
		const enum kind kind = (enum kind)(how % KINDS);
		struct tb_end *end = &rig->tb.ends[how & TO_B ? 1 : 0];

		if (kind == TABLE)
			table_one(rig, end, &b);
		else
			inject_one(end, kind, how, &b);
		changed |= kind == TABLE;
		fuzz_rig_pass(rig, CFG_NS(fuzz_take(&b, 1) * 10));
	}
	fuzz_rig_pass(rig, CFG_MS(2));
	if (changed) {
		fuzz_rig_spoil();
		return 1;
	}
	if (!fuzz_rig_call(rig, both_answer, NULL, CFG_S(5)))
		abort();
	return 0;
}
