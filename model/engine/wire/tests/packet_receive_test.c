/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that come in: malformed ones, and those for somebody else, are dropped with the right reason;
 * the others reach those who take them. */
#include "model/engine/wire/tests/packet_rig.h"

#include <errno.h>

static struct lrh *lrh_of(struct packet *pkt)
{
	return (struct lrh *)(void *)pkt->wire;
}

static struct grh *grh_of(struct packet *pkt)
{
	return (struct grh *)(void *)(pkt->wire + LRH_BYTES);
}

static struct bth *bth_of(struct packet *pkt)
{
	bool grh = lrh_get_lnh(lrh_of(pkt)) == LNH_IBA_GLOBAL;

	return (struct bth *)(void *)(pkt->wire + LRH_BYTES + (grh ? GRH_BYTES : 0));
}

static void length(struct packet *pkt, unsigned len)
{
	pkt->len = (uint16_t)len;
	lrh_set_pkt_len(lrh_of(pkt), (len - VCRC_BYTES) / 4);
}

/* Each function makes a packet wrong in one way. */
/* clang-format off */
static void cut(struct packet *pkt) { pkt->len = LRH_BYTES; }
static void lver(struct packet *pkt) { lrh_set_lver(lrh_of(pkt), 1); }
static void pkt_len(struct packet *pkt) { pkt->len -= 4; }
static void vl_4(struct packet *pkt) { lrh_set_vl(lrh_of(pkt), 4); }
static void raw_packet(struct packet *pkt) { lrh_set_lnh(lrh_of(pkt), LNH_RAW); }
static void ipv6_packet(struct packet *pkt) { lrh_set_lnh(lrh_of(pkt), LNH_IPV6); }
static void no_bth(struct packet *pkt) { length(pkt, LRH_BYTES + 8 + CRC_BYTES); }
static void no_ext(struct packet *pkt) { length(pkt, LRH_BYTES + BTH_BYTES + 4 + CRC_BYTES); }
static void no_grh(struct packet *pkt) { length(pkt, LRH_BYTES + BTH_BYTES + CRC_BYTES); }
static void grh_no_bth(struct packet *pkt)
{
	length(pkt, LRH_BYTES + GRH_BYTES + 8 + CRC_BYTES);
	grh_set_pay_len(grh_of(pkt), 8 + ICRC_BYTES);
}
static void ip_ver(struct packet *pkt) { grh_set_ip_ver(grh_of(pkt), 4); }
static void next_hdr(struct packet *pkt) { grh_set_next_hdr(grh_of(pkt), 6); }
static void pay_len(struct packet *pkt) { grh_set_pay_len(grh_of(pkt), 4); }
static void tver(struct packet *pkt) { bth_set_tver(bth_of(pkt), 1); }
static void opcode_7f(struct packet *pkt) { bth_set_opcode(bth_of(pkt), 0x7f); }
static void pad_3(struct packet *pkt) { bth_set_pad(bth_of(pkt), 3); }
static void longer(struct packet *pkt) { length(pkt, pkt->len + 4); }
static void vl_15(struct packet *pkt)
{
	lrh_set_vl(lrh_of(pkt), VL_MANAGEMENT);
	pkt->vl = VL_MANAGEMENT;
}
static void qp0(struct packet *pkt) { bth_set_dqpn(bth_of(pkt), 0); }
static void other_lid(struct packet *pkt) { lrh_set_dlid(lrh_of(pkt), OUR_LID + 2); }
static void permissive(struct packet *pkt) { lrh_set_dlid(lrh_of(pkt), LID_PERMISSIVE); }
static void multicast_lid(struct packet *pkt) { lrh_set_dlid(lrh_of(pkt), MCAST_LID); }
static void multicast_qp(struct packet *pkt) { bth_set_dqpn(bth_of(pkt), QPN_MULTICAST); }
static void multicast_gid(struct packet *pkt)
{
	multicast_lid(pkt);
	grh_dgid_ptr(grh_of(pkt))[0] = 0xff;
}
static void other_guid(struct packet *pkt) { grh_dgid_ptr(grh_of(pkt))[15] ^= 1; }
static void other_prefix(struct packet *pkt) { grh_dgid_ptr(grh_of(pkt))[7] ^= 1; }
/* clang-format on */

static void malformed_is_dropped(void **state)
{
	static const struct {
		uint8_t opcode;
		bool grh;
		uint16_t payload;
		void (*harm)(struct packet *pkt);
		const char *why;
		bool link; /* found by the link layer: PortRcvErrors */
	} rows[] = {
		{BTH_RC_SEND_ONLY, false, 64, cut, "short", true},
		{BTH_RC_SEND_ONLY, false, 64, lver, "LVer", true},
		{BTH_RC_SEND_ONLY, false, 64, pkt_len, "PktLen", true},
		{BTH_RC_SEND_ONLY, false, 64, vl_4, "VL is not in use", true},
		{BTH_RC_SEND_ONLY, false, 64, raw_packet, "raw packet", false},
		{BTH_RC_SEND_ONLY, false, 64, ipv6_packet, "raw packet", false},
		{BTH_RC_SEND_ONLY, false, 64, no_bth, "too short for a BTH", false},
		{BTH_RC_SEND_ONLY, true, 64, no_grh, "too short for a GRH", false},
		{BTH_RC_SEND_ONLY, true, 64, grh_no_bth, "too short for a BTH", false},
		{BTH_RC_SEND_ONLY, true, 64, ip_ver, "GRH IPVer", false},
		{BTH_RC_SEND_ONLY, true, 64, next_hdr, "GRH NxtHdr", false},
		{BTH_RC_SEND_ONLY, false, 64, tver, "TVer", false},
		{BTH_UD_SEND_ONLY, false, 64, opcode_7f, "opcode", false},
		{BTH_RC_WRITE_ONLY, false, 64, no_ext, "too short for its headers", false},
		{BTH_RC_SEND_ONLY, false, 0, pad_3, "too short for its headers", false},
		{BTH_RC_ACKNOWLEDGE, false, 0, longer, "payload where none belongs", false},
		{BTH_UD_SEND_ONLY, false, 4096, longer, "datagram above 4096 bytes", false},
		{BTH_UD_SEND_ONLY, false, 64, vl_15, "VL15 and QP0 belong together", false},
		{BTH_UD_SEND_ONLY, false, 64, qp0, "VL15 and QP0 belong together", false},
		{BTH_RC_SEND_ONLY, true, 64, multicast_lid, "multicast is for datagrams with a GRH",
		 false},
		{BTH_UD_SEND_ONLY, false, 64, multicast_lid,
		 "multicast is for datagrams with a GRH", false},
		{BTH_UD_SEND_ONLY, true, 64, multicast_lid, "DGID is not a multicast GID", false},
		{BTH_UD_SEND_ONLY, true, 64, multicast_gid, "multicast LID and QP belong together",
		 false},
		{BTH_UD_SEND_ONLY, true, 64, multicast_qp, "multicast LID and QP belong together",
		 false},
		{BTH_UD_SEND_ONLY, false, 64, permissive, "permissive LID", false},
		{BTH_RC_SEND_ONLY, false, 64, other_lid, "DLID is not this port's", false},
		{BTH_RC_SEND_ONLY, true, 64, other_guid, "DGID is not this port's", false},
		{BTH_RC_SEND_ONLY, true, 64, other_prefix, "DGID is not this port's", false},
	};
	uint64_t link_errors = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct packet *pkt = from_wire(build(rows[i].opcode, rows[i].grh, rows[i].payload));

		rows[i].harm(pkt);
		packet_receive(&hca, pkt);
		if (strcmp(reason, rows[i].why) != 0)
			fail_msg("row %u: dropped for '%s', expected '%s'", i, reason, rows[i].why);
		link_errors += rows[i].link;
		assert_int_equal(port.counters[FW_PC_RCV_ERRORS], link_errors);
		assert_int_equal(hca.stats.responder_dropped, i + 1);
		assert_int_equal(packet_pool_in_use(&hca), 0);
		reason[0] = 0;
	}
	assert_int_equal(n_arrived, 0);
}

/* A packet that was spoiled on its way is no longer what its sender had made. */
static void no_headers_left(void **state)
{
	struct packet *pkt = from_wire(build(BTH_RC_SEND_ONLY, false, 64));
	const char *why;

	pkt->bth_off = LRH_BYTES;
	pkt->payload_off = LRH_BYTES + BTH_BYTES;
	raw_packet(pkt);
	assert_int_equal(packet_parse(&hca, pkt, &why), -EPROTO);
	assert_int_equal(pkt->bth_off, 0);
	assert_int_equal(pkt->payload_off, 0);
	packet_free(pkt);
}

/* Management packets and multicast packets have special addresses. */
static void special_addresses(void **state)
{
	struct packet *pkt = from_wire(build(BTH_UD_SEND_ONLY, false, 64));

	permissive(pkt);
	vl_15(pkt);
	qp0(pkt);
	packet_receive(&hca, pkt);
	assert_int_equal(n_arrived, 1);
	packet_free(pkt);
	pkt = from_wire(build(BTH_UD_SEND_ONLY, true, 64));
	multicast_gid(pkt);
	multicast_qp(pkt);
	packet_receive(&hca, pkt);
	assert_int_equal(n_arrived, 2);
	packet_free(pkt);
	/* LRH says how long a packet is, whatever the GRH says */
	pkt = from_wire(build(BTH_UD_SEND_ONLY, true, 64));
	pay_len(pkt);
	packet_receive(&hca, pkt);
	assert_int_equal(n_arrived, 3);
	assert_int_equal(pkt->payload_len, 64);
	packet_free(pkt);
	/* a reserved opcode of a reliable service is passed on, to be answered */
	pkt = from_wire(build(BTH_RC_SEND_ONLY, false, 64));
	bth_set_opcode(bth_of(pkt), 0x1f);
	packet_receive(&hca, pkt);
	assert_int_equal(n_arrived, 4);
	assert_null(pkt->op->name);
	packet_free(pkt);
}

static void stopped_engine_takes_nothing(void **state)
{
	hca.ctrl = 0;
	packet_receive(&hca, from_wire(build(BTH_RC_SEND_ONLY, false, 64)));
	assert_int_equal(n_arrived, 0);
	assert_string_equal(reason, "the engine is stopped");
}

/* The first good data packet makes an Armed port Active. */
static void armed_becomes_active(void **state)
{
	struct packet *pkt = from_wire(build(BTH_UD_SEND_ONLY, false, 64));

	port.logical = ARMED;
	vl_15(pkt);
	qp0(pkt);
	packet_receive(&hca, pkt); /* a management packet does not */
	packet_free(pkt);
	assert_int_equal(n_activated, 0);
	pkt = from_wire(build(BTH_RC_SEND_ONLY, false, 64));
	lver(pkt);
	packet_receive(&hca, pkt); /* nor does a packet that the link layer refuses */
	assert_int_equal(n_activated, 0);
	for (unsigned i = 0; i < 2; i++) {
		packet_receive(&hca, from_wire(build(BTH_RC_SEND_ONLY, false, 64)));
		packet_free(arrived);
		assert_int_equal(n_activated, 1);
	}
}

/* Random changes: each packet arrives or is dropped, and nothing outside of it is read. */
static void noise(void **state)
{
	uint32_t random = 20240229;

	for (unsigned round = 0; round < 20000; round++) {
		struct packet *pkt = from_wire(build(BTH_RC_WRITE_ONLY, round & 1, round % 97));
		unsigned before = n_arrived;

		for (unsigned i = 0; i < 1 + round % 4; i++) {
			random = random * 1664525 + 1013904223;
			pkt->wire[(random >> 8) % 64] = (uint8_t)(random >> 24);
		}
		if (round % 5 == 0)
			length(pkt, 12 + (random >> 8) % (pkt->len - 12u));
		packet_receive(&hca, pkt);
		if (n_arrived == before)
			continue;
		assert_true(pkt->payload_off + pkt->payload_len + CRC_BYTES <= pkt->len);
		packet_free(pkt);
	}
	assert_true(n_arrived > 100 && n_arrived < 19900);
}

/* A RoCE v2 packet comes to a port without RoCE v2. Software gets it, with the ICRC that nobody has needed
 * before. */
static void to_software(void **state)
{
	enum { PAYLOAD = 64, BYTES = 20 + 8 + BTH_BYTES + PAYLOAD + ICRC_BYTES };
	struct {
		struct eth_hdr eth;
		struct ipv4_hdr ip;
		struct udp_hdr udp;
		struct bth bth;
	} h = {0};
	struct eth_port eth = {.udp_port = ROCE_UDP_PORT};
	struct packet *pkt = packet_alloc(&hca);
	struct roce_places at;

	port.eth = &eth;
	eth_hdr_set_type(&h.eth, ETH_TYPE_IPV4);
	ipv4_hdr_set_version(&h.ip, IPV4_VERSION);
	ipv4_hdr_set_ihl(&h.ip, 5);
	ipv4_hdr_set_total_len(&h.ip, BYTES);
	ipv4_hdr_set_protocol(&h.ip, IP_PROTOCOL_UDP);
	ipv4_hdr_set_checksum(&h.ip, (uint16_t)~ip_sum(h.ip.b, sizeof(h.ip), 0));
	udp_hdr_set_dport(&h.udp, ROCE_UDP_PORT);
	udp_hdr_set_len(&h.udp, BYTES - 20);
	bth_set_opcode(&h.bth, BTH_RC_SEND_ONLY);
	assert_true(packet_build_frame(&hca, pkt, 1, (const uint8_t *)&h, sizeof(h), PAYLOAD));
	memset(packet_payload(pkt), 0x5a, PAYLOAD);
	assert_false(pkt->crcs_made);
	eth.udp_port = 0;
	packet_receive(&hca, pkt);
	assert_ptr_equal(arrived, pkt);
	assert_null(roce_find(pkt->wire, pkt->len, pkt->len, ROCE_UDP_PORT, &at));
	assert_true(roce_icrc_is_right(pkt->wire, &at));
	port.eth = NULL;
	packet_free(pkt);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, rig_start, rig_finish)
	const struct CMUnitTest tests[] = {
		T(malformed_is_dropped),
		T(no_headers_left),
		T(special_addresses),
		T(to_software),
		T(stopped_engine_takes_nothing),
		T(armed_becomes_active),
		T(noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
