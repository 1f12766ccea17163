/* SPDX-License-Identifier: Apache-2.0 */
/* Which QP gets a frame, and what a QP with frames makes of it. */
#include "model/engine/receive/tests/responder_world.h"

#include "model/engine/receive/frame_receive.h"
#include "model/engine/receive/receive_unit.h"
#include "model/engine/wire/eth_port.h"

enum {
	OWN_QPN = 0x48,
	GROUP_QPN = 0x49,
	PROMISC_QPN = 0x4a,
	VLAN_IN = 77,
	FRAME_BYTES = 100,
	HEADER = 14,
};

static const uint64_t own = 0x0002c9a00001, strange = 0x0002c9a000ff, all = 0xffffffffffff,
		      group = 0x01005e010203, other_group = 0x333300000001;

static struct eth_port eth;
static uint32_t given_to;
static bool to_responder; /* the QP of the world gets what comes in */

/* In place of the receive unit: notes the QP. */
void receive_unit_take(struct hca *hca, struct packet *pkt)
{
	given_to = pkt->qpn;
	if (to_responder)
		give(pkt);
	else
		packet_free(pkt);
}

void packet_drop(struct hca *hca, struct packet *pkt, const char *why)
{
	packet_free(pkt);
}

static void port_begin(void)
{
	memset(&eth, 0, sizeof(eth));
	to_responder = false;
	eth.macs[3] = ETH_MAC_VALID | own;
	eth.rx_qpn = OWN_QPN;
	eth.multicast = (uint32_t)FW_ETH_MCAST_LIST << FW_ETH_MCAST_SHIFT | GROUP_QPN;
	eth_port_group_add(&eth, all);
	eth_port_group_add(&eth, group);
	eth.vlan_filter[VLAN_IN / 32] = 1u << VLAN_IN % 32;
	w->port.eth = &eth;
}

static struct packet *frame_to(uint64_t dmac, uint16_t vlan)
{
	struct packet *pkt = packet_alloc(&w->hca);
	unsigned at = 2 * MAC_BYTES;

	pkt->ethernet = true;
	pkt->port = 1;
	pkt->wire = packet_payload(pkt);
	pkt->len = FRAME_BYTES + FCS_BYTES;
	memset(pkt->wire, 0, pkt->len);
	mac_store(pkt->wire, dmac);
	mac_store(pkt->wire + MAC_BYTES, strange);
	if (vlan != VLAN_NONE) {
		be16_store(pkt->wire + at, ETH_TYPE_VLAN);
		be16_store(pkt->wire + at + 2, vlan);
		at += 4;
	}
	be16_store(pkt->wire + at, ETH_TYPE_ARP);
	for (unsigned i = at + 2; i < FRAME_BYTES; i++)
		pkt->wire[i] = (uint8_t)i;
	return pkt;
}

/* The QP that gets the frame; 0: it is dropped and counted. */
static uint32_t qpn_for(uint64_t dmac, uint16_t vlan)
{
	const uint64_t dropped = eth.counters[FW_EC_RX_FILTERED];

	given_to = 0;
	frame_receive(&w->hca, frame_to(dmac, vlan));
	assert_int_equal(eth.counters[FW_EC_RX_FILTERED] - dropped, !given_to);
	return given_to;
}

static void filters(void **state)
{
	port_begin();
	assert_int_equal(qpn_for(own, VLAN_NONE), OWN_QPN);
	assert_int_equal(qpn_for(strange, VLAN_NONE), 0);
	assert_int_equal(qpn_for(all, VLAN_NONE), GROUP_QPN);
	assert_int_equal(qpn_for(group, VLAN_NONE), GROUP_QPN);
	assert_int_equal(qpn_for(other_group, VLAN_NONE), 0);
	assert_int_equal(qpn_for(own, VLAN_IN | 0x6000), OWN_QPN);
	assert_int_equal(qpn_for(own, VLAN_IN + 1), 0);
	assert_int_equal(qpn_for(own, 0x2000), OWN_QPN); /* only a priority */

	eth.multicast = (uint32_t)FW_ETH_MCAST_ALL << FW_ETH_MCAST_SHIFT | GROUP_QPN;
	assert_int_equal(qpn_for(other_group, VLAN_NONE), GROUP_QPN);
	eth.multicast = (uint32_t)FW_ETH_MCAST_NONE << FW_ETH_MCAST_SHIFT | GROUP_QPN;
	assert_int_equal(qpn_for(all, VLAN_NONE), 0);
	eth.promisc = FW_ETH_PROMISC_ON | PROMISC_QPN;
	assert_int_equal(qpn_for(strange, VLAN_NONE), PROMISC_QPN);
	assert_int_equal(qpn_for(all, VLAN_NONE), PROMISC_QPN);
	assert_int_equal(qpn_for(own, VLAN_NONE), OWN_QPN);
}

/* More groups than the list has room for: all pass. */
static void list_runs_over(void **state)
{
	port_begin();
	for (unsigned i = 0; i < ETH_TABLE_SIZE - 2; i++)
		eth_port_group_add(&eth, group + 1 + i);
	assert_int_equal(qpn_for(other_group, VLAN_NONE), 0);
	eth_port_group_add(&eth, group - 1);
	assert_int_equal(qpn_for(other_group, VLAN_NONE), GROUP_QPN);
}

/* The QP of the world gets frames, into two buffers of a receive. */
static void ring_begin(void)
{
	port_begin();
	to_responder = true;
	qpc_set_service(&w->qpc, QP_ST_MLX);
	qpc_set_mtu(&w->qpc, QPC_MTU_FRAME);
	segment(at(WORLD_QUEUE), 0, WORLD_DATA, 64, KEY_GOOD);
	segment(at(WORLD_QUEUE), 1, WORLD_DATA + 0x100, 512, KEY_GOOD);
	receive_make(1, WORLD_DATA + 0x1000, 2048);
	receives_posted(2);
}

static void frame_into_ring(void **state)
{
	ring_begin();
	frame_receive(&w->hca, frame_to(own, VLAN_NONE));
	assert_int_equal(w->n_cqes, 1);
	assert_int_equal(cqe_get_byte_cnt(&w->cqes[0]), FRAME_BYTES);
	assert_int_equal(cqe_get_vlan(&w->cqes[0]), 0);
	assert_int_equal(cqe_get_csum_status(&w->cqes[0]), 0);
	assert_int_equal(cqe_get_opcode(&w->cqes[0]), CQE_RECV_SEND);
	assert_int_equal(mac_load(at(WORLD_DATA)), own);
	for (unsigned i = HEADER; i < FRAME_BYTES; i++)
		assert_int_equal(*at(i < 64 ? WORLD_DATA + i : WORLD_DATA + 0x100 + i - 64), i);
}

static void tags(void **state)
{
	ring_begin();
	frame_receive(&w->hca, frame_to(own, VLAN_IN | 0x6000));
	assert_int_equal(cqe_get_byte_cnt(&w->cqes[0]), FRAME_BYTES - 4);
	assert_int_equal(be16_load(at(WORLD_DATA + 12)), ETH_TYPE_ARP);
	assert_int_equal(mac_load(at(WORLD_DATA)), own);
	qpc_set_vlan_keep(&w->qpc, 1);
	frame_receive(&w->hca, frame_to(own, VLAN_IN | 0x6000));
	assert_int_equal(w->n_cqes, 2);
	assert_int_equal(cqe_get_byte_cnt(&w->cqes[1]), FRAME_BYTES);
	assert_int_equal(be32_load(at(WORLD_DATA + 0x1000 + 12)), 0x81000000 | 0x6000 | VLAN_IN);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(cqe_get_vlan(&w->cqes[i]), CQE_CVLAN);
		assert_int_equal(cqe_get_vid(&w->cqes[i]), VLAN_IN);
		assert_int_equal(cqe_get_priority(&w->cqes[i]), 3);
	}
	assert_int_equal(eth.buffered, 0);
}

/* Without a receive a frame is lost, and the next one comes through. */
static void no_receive(void **state)
{
	ring_begin();
	receives_posted(0);
	frame_receive(&w->hca, frame_to(own, VLAN_NONE));
	assert_int_equal(w->n_cqes, 0);
	receives_posted(1);
	frame_receive(&w->hca, frame_to(own, VLAN_NONE));
	assert_int_equal(w->n_cqes, 1);
	assert_int_equal(w->errors + w->n_events, 0);
}

/* A frame is for QPs with frames, and a datagram is not. */
static void other_services(void **state)
{
	ring_begin();
	give(request(BTH_UD_SEND_ONLY, 0, 20, false));
	assert_int_equal(w->n_cqes, 0);
	qpc_set_mtu(&w->qpc, IB_MTU_4096); /* QP1 */
	frame_receive(&w->hca, frame_to(own, VLAN_NONE));
	qpc_set_service(&w->qpc, QP_ST_RC);
	frame_receive(&w->hca, frame_to(own, VLAN_NONE));
	assert_int_equal(w->n_cqes, 0);
	assert_int_equal(w->hca.stats.responder_dropped, 3);
}

/* Two QPs with RSS name each other: the frame is given away once. */
static void spread_in_a_circle(void **state)
{
	struct rss_context *rss = (void *)(w->qpc.b + RSS_CONTEXT_AT);

	ring_begin();
	qpc_set_rss(&w->qpc, 1);
	rss_context_set_default_qpn(rss, 0x123);
	w->other_qp = &w->qp;
	frame_receive(&w->hca, frame_to(own, VLAN_NONE));
	run();
	assert_int_equal(w->n_cqes, 0);
	assert_int_equal(w->hca.stats.responder_dropped, 1);
}

/* A QP with RSS gives frames away: those that it can not hash to the default. */
static void spread(void **state)
{
	struct rss_context *rss = (void *)(w->qpc.b + RSS_CONTEXT_AT);
	uint32_t first = 0;

	ring_begin();
	qpc_set_rss(&w->qpc, 1);
	rss_context_set_base_qpn(rss, 0x200);
	rss_context_set_log_size(rss, 3);
	rss_context_set_default_qpn(rss, 0x123);
	rss_context_set_function(rss, RSS_XOR);
	rss_context_set_kinds(rss, RSS_IPV4 | RSS_UDP_IPV4);
	rss_context_set_udp_qpn(rss, 0x7777); /* what firmware leaves there says nothing */
	frame_receive(&w->hca, frame_to(own, VLAN_NONE));
	assert_int_equal(w->asked_qpn, 0x123);
	for (unsigned i = 0; i < 8; i++) {
		struct packet *pkt = frame_to(own, VLAN_NONE);
		struct ipv4_hdr *ip = (void *)(pkt->wire + HEADER);

		be16_store(pkt->wire + 12, ETH_TYPE_IPV4);
		memset(ip, 0, sizeof(*ip));
		ipv4_hdr_set_version(ip, IPV4_VERSION);
		ipv4_hdr_set_ihl(ip, 5);
		ipv4_hdr_set_total_len(ip, FRAME_BYTES - HEADER);
		ipv4_hdr_set_saddr(ip, 0x0a000000 + 0x40 + i);
		ipv4_hdr_set_protocol(ip, IP_PROTOCOL_UDP);
		frame_receive(&w->hca, pkt);
		if (i == 0)
			first = w->asked_qpn;
		assert_int_equal(w->asked_qpn, 0x200 + ((first - 0x200) ^ i));
	}
	assert_int_equal(w->n_cqes, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(filters), TEST(list_runs_over),     TEST(frame_into_ring),
		TEST(tags),    TEST(no_receive),         TEST(other_services),
		TEST(spread),  TEST(spread_in_a_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
