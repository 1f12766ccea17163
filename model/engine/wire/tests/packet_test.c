/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets. What is built is found again by the receiver, header by header. Malformed packets, and
 * those for somebody else, are dropped with the right reason. All packets are given back.
 */
#include "model/engine/base/engine.h"
#include "model/engine/wire/crc.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/interface/wire.h"
#include "model/sim/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	OUR_LID = 4, /* and 5, because LMC is 1 */
	PEER_LID = 9,
	MCAST_LID = 0xc001,
	SL = 3,
	VL = 2,
	QPN = 0x123456,
	PSN = 0xfffffe,
	TX_LATENCY = 10000,
	STORE = 7,
	ACTIVE = 4,
	ARMED = 3,
	GID_INDEX = 1,
};

static const uint64_t prefix = 0xfe80000000001234, guid = 0x0002c90300123456;

static struct event_core core;
static struct hca_params params;
static struct hca hca;
static struct port_config port;
static struct trace trace;
static struct packet *arrived;
static unsigned n_arrived, n_credits, n_activated;
static char reason[64]; /* why the last packet was dropped */

/* --- fake neighbours --- */

void link_port_return_credits(struct hca *h, struct packet *pkt)
{
	assert_true(pkt->rx_buffered);
	pkt->rx_buffered = false;
	n_credits++;
}

void link_port_activate(struct hca *h, unsigned number)
{
	assert_int_equal(number, 1);
	port.logical = ACTIVE;
	n_activated++;
}

void trace_emit(struct trace *tr, const struct trace_record *r)
{
	if (r->point == TP_PKT_DISCARD)
		snprintf(reason, sizeof(reason), "%s", r->text);
}

void trace_release(struct trace *tr, uint64_t now_ps)
{
}

static void packet_arrived(struct hca *h, struct packet *pkt)
{
	n_arrived++;
	arrived = pkt;
}

static void frame_came(struct hca *h, struct packet *pkt)
{
	arrived = pkt;
}

static const struct hca_calls calls = {.packet_arrived = packet_arrived, .frame_came = frame_came};

static int start(void **state)
{
	params = (struct hca_params){
		.hca_memory = UINT64_MAX,
		.hca_ports = 1,
		.hca_log_gids = 2,
		.packet_tx_latency = TX_LATENCY,
		.packet_store = STORE,
	};
	port = (struct port_config){
		.lid = OUR_LID,
		.lmc = 1,
		.logical = ACTIVE,
		.oper_vls = 3, /* VL 0 to 3 */
		.gid_prefix = prefix,
		.guids = {1, guid},
	};
	port.sl2vl[SL] = VL;
	trace = (struct trace){.kinds = ~0u, .first_ps = UINT64_MAX};
	event_core_init(&core);
	hca = (struct hca){.core = &core,
			   .params = &params,
			   .calls = &calls,
			   .trace = &trace,
			   .watch = {.kinds = ~0u},
			   .ctrl = FW_CTRL_RUN,
			   .port_configs = {&port}};
	memory_init(&hca);
	hca.packets = packet_pool_create(&hca);
	arrived = NULL;
	n_arrived = n_credits = n_activated = 0;
	reason[0] = 0;
	return 0;
}

static int finish(void **state)
{
	assert_int_equal(packet_pool_in_use(&hca), 0);
	packet_pool_trim(&hca);
	assert_int_equal(hca.memory.bytes, 0);
	packet_pool_destroy(hca.packets);
	memory_free(&hca);
	event_core_free(&core);
	return 0;
}

/* --- building --- */

/* A path to this same port, so that what is built can be received. */
static struct packet_path path_to_us(bool grh)
{
	struct packet_path path = {.port = 1,
				   .sl = SL,
				   .path_bits = 1,
				   .dlid = OUR_LID + 1,
				   .grh = grh,
				   .sgid_index = GID_INDEX,
				   .hop_limit = 64,
				   .traffic_class = 0x5a,
				   .flow_label = 0xabcde,
				   .static_rate = 3};

	be64_store(path.dgid, prefix);
	be64_store(path.dgid + 8, guid);
	return path;
}

static const struct packet_headers headers = {
	.solicited = true,
	.mig_req = true,
	.ack_req = true,
	.pkey = 0x8765,
	.dest_qpn = QPN,
	.psn = PSN,
	.xrc_srqn = 0x00abcd,
	.deth = {.qkey = 0x80010000, .src_qpn = 0x654321},
	.reth = {.va = 0x1122334455667788, .rkey = 0x99aabbcc, .length = 0x7fffffff},
	.atomic = {.va = 0x0102030405060708,
		   .swap_add = 0x1112131415161718,
		   .compare = 0x2122232425262728,
		   .swap_mask = 0x3132333435363738,
		   .compare_mask = 0x4142434445464748,
		   .rkey = 0x51525354},
	.aeth = {.syndrome = 0x1f, .msn = 0x61626364 & 0xffffff},
	.atomic_ack = 0x7172737475767778,
	.imm = {0xca, 0xfe, 0xba, 0xbe},
};

static struct packet *build(uint8_t opcode, bool grh, unsigned payload_len)
{
	const struct packet_path path = path_to_us(grh);
	struct packet_headers h = headers;
	struct packet *pkt = packet_alloc(&hca);

	h.opcode = opcode;
	for (unsigned i = 0; i < payload_len; i++)
		packet_payload(pkt)[i] = (uint8_t)(i * 7 + 1);
	packet_build(&hca, pkt, &path, &h, payload_len);
	packet_need_crcs(pkt);
	return pkt;
}

/* Makes the same packet as it comes in from the wire, without what the builder knows about it. */
static struct packet *from_wire(struct packet *sent)
{
	struct packet *pkt = packet_alloc(&hca);

	memcpy(pkt->buf, sent->wire, sent->len);
	pkt->wire = pkt->buf;
	pkt->len = sent->len;
	pkt->vl = sent->vl;
	pkt->port = 1;
	packet_free(sent);
	return pkt;
}

#define EXT(name, type, pkt)                                                                       \
	((const struct type *)(const void *)((pkt)->wire + (pkt)->bth_off +                        \
					     (pkt)->op->at[BTH_EXT_##name]))

static void expect_extensions(const struct packet *pkt)
{
	const struct packet_headers *h = &headers;

	if (bth_op_has(pkt->op, BTH_EXT_XRCETH))
		assert_int_equal(xrceth_get_srqn(EXT(XRCETH, xrceth, pkt)), h->xrc_srqn);
	if (bth_op_has(pkt->op, BTH_EXT_DETH)) {
		assert_int_equal(deth_get_qkey(EXT(DETH, deth, pkt)), h->deth.qkey);
		assert_int_equal(deth_get_sqpn(EXT(DETH, deth, pkt)), h->deth.src_qpn);
	}
	if (bth_op_has(pkt->op, BTH_EXT_RETH)) {
		assert_true(reth_get_va(EXT(RETH, reth, pkt)) == h->reth.va);
		assert_int_equal(reth_get_rkey(EXT(RETH, reth, pkt)), h->reth.rkey);
		assert_int_equal(reth_get_dma_len(EXT(RETH, reth, pkt)), h->reth.length);
	}
	if (bth_op_has(pkt->op, BTH_EXT_ATOMICETH)) {
		const struct atomiceth *eth = EXT(ATOMICETH, atomiceth, pkt);

		assert_true(atomiceth_get_va(eth) == h->atomic.va);
		assert_int_equal(atomiceth_get_rkey(eth), h->atomic.rkey);
		assert_true(atomiceth_get_swap_add(eth) == h->atomic.swap_add);
		assert_true(atomiceth_get_compare(eth) == h->atomic.compare);
	}
	if (bth_op_has(pkt->op, BTH_EXT_MASKED_CASETH)) {
		const struct masked_caseth *eth = EXT(MASKED_CASETH, masked_caseth, pkt);

		assert_true(masked_caseth_get_va(eth) == h->atomic.va);
		assert_true(masked_caseth_get_swap_mask(eth) == h->atomic.swap_mask);
		assert_true(masked_caseth_get_compare_mask(eth) == h->atomic.compare_mask);
	}
	if (bth_op_has(pkt->op, BTH_EXT_MASKED_FAETH)) {
		const struct masked_faeth *eth = EXT(MASKED_FAETH, masked_faeth, pkt);

		assert_true(masked_faeth_get_add(eth) == h->atomic.swap_add);
		assert_true(masked_faeth_get_boundary(eth) == h->atomic.compare_mask);
	}
	if (bth_op_has(pkt->op, BTH_EXT_AETH)) {
		assert_int_equal(aeth_get_syndrome(EXT(AETH, aeth, pkt)), h->aeth.syndrome);
		assert_int_equal(aeth_get_msn(EXT(AETH, aeth, pkt)), h->aeth.msn);
	}
	if (bth_op_has(pkt->op, BTH_EXT_ATOMICACKETH))
		assert_true(atomicacketh_get_original(EXT(ATOMICACKETH, atomicacketh, pkt)) ==
			    h->atomic_ack);
	if (bth_op_has(pkt->op, BTH_EXT_IMMDT))
		assert_memory_equal(EXT(IMMDT, immdt, pkt), h->imm, sizeof(h->imm));
	if (bth_op_has(pkt->op, BTH_EXT_IETH))
		assert_memory_equal(EXT(IETH, ieth, pkt), h->imm, sizeof(h->imm));
}

static void expect_grh(const struct packet *pkt)
{
	const struct grh *grh = (const struct grh *)(const void *)(pkt->wire + pkt->l3_off);

	assert_int_equal(grh_get_tclass(grh), 0x5a);
	assert_int_equal(grh_get_flow_label(grh), 0xabcde);
	assert_int_equal(grh_get_hop_limit(grh), 64);
	assert_true(be64_load(grh_sgid_cptr(grh)) == prefix);
	assert_true(be64_load(grh_sgid_cptr(grh) + 8) == guid);
}

static void expect_found_again(uint8_t opcode, bool grh, unsigned payload_len)
{
	struct packet *pkt = from_wire(build(opcode, grh, payload_len));
	const struct bth *bth;
	const struct lrh *lrh = (const struct lrh *)(const void *)pkt->wire;

	n_arrived = 0;
	packet_receive(&hca, pkt);
	if (!n_arrived)
		fail_msg("opcode %02x, %u bytes: dropped, %s", opcode, payload_len, reason);
	assert_ptr_equal(arrived, pkt);
	assert_ptr_equal(pkt->op, bth_op_find(opcode));
	assert_int_equal(lrh_get_slid(lrh), OUR_LID + 1);
	assert_int_equal(lrh_get_dlid(lrh), OUR_LID + 1);
	assert_int_equal(lrh_get_sl(lrh), SL);
	assert_int_equal(lrh_get_vl(lrh), VL);
	assert_int_equal(pkt->qpn, QPN);
	assert_int_equal(pkt->psn, PSN);
	assert_int_equal(pkt->payload_len, payload_len);
	assert_int_equal(pkt->payload_off, bth_op_header_bytes(pkt->op, grh));
	assert_int_equal(pkt->len % 4, 2); /* whole dwords, and the VCRC */
	for (unsigned i = 0; i < payload_len; i++)
		assert_int_equal(pkt->wire[pkt->payload_off + i], (uint8_t)(i * 7 + 1));
	bth = (const struct bth *)(const void *)(pkt->wire + pkt->bth_off);
	assert_int_equal(bth_get_pad(bth), -payload_len & 3);
	assert_int_equal(bth_get_pkey(bth), 0x8765);
	assert_true(bth_get_solicited(bth) && bth_get_mig_req(bth) && bth_get_ack_req(bth));
	assert_int_equal(crc_check(pkt->wire, pkt->len), 0);
	assert_int_equal(!!pkt->l3_off, grh);
	if (grh)
		expect_grh(pkt);
	expect_extensions(pkt);
	packet_free(pkt);
}

static void every_opcode_is_found_again(void **state)
{
	static const unsigned lengths[] = {0, 1, 2, 3, 4, 255, 1024, 4096};
	unsigned opcodes = 0;

	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const struct bth_op *op = bth_op_find((uint8_t)opcode);

		opcodes += op->name != NULL;
		for (unsigned i = 0; op->name && i < ARRAY_SIZE(lengths); i++) {
			if (lengths[i] && !bth_op_is(op, BTH_PAYLOAD))
				break;
			expect_found_again((uint8_t)opcode, false, lengths[i]);
			expect_found_again((uint8_t)opcode, true, lengths[i]);
		}
	}
	assert_int_equal(opcodes, 62);
}

/* Later packets of a message are copied from the first one. They must equal built ones; PSN and
 * AckReq differ. */
static void one_like_another(void **state)
{
	for (unsigned len = 253; len <= 256; len++) {
		struct packet *model = build(BTH_RC_SEND_MIDDLE, true, len), *like, *same;
		struct packet_headers h = headers;
		const struct packet_path path = path_to_us(true);

		h.opcode = BTH_RC_SEND_MIDDLE;
		h.psn = (PSN + 1) & 0xffffff;
		h.ack_req = false;
		like = packet_alloc(&hca);
		same = packet_alloc(&hca);
		memset(like->buf, 0xee, sizeof(like->buf)); /* left over from an earlier packet */
		memcpy(packet_payload(like), packet_payload(model), len);
		memcpy(packet_payload(same), packet_payload(model), len);
		packet_build_like(like, model, h.psn, h.ack_req);
		packet_build(&hca, same, &path, &h, len);
		packet_need_crcs(like);
		packet_need_crcs(same);
		assert_int_equal(like->len, same->len);
		assert_memory_equal(like->wire, same->wire, same->len);
		assert_int_equal(like->vl, same->vl);
		assert_int_equal(like->static_rate, 3);
		assert_int_equal(like->psn, same->psn);
		packet_free(model);
		packet_free(like);
		packet_free(same);
	}
}

/* A work request on a special QP contains its own headers. */
static void raw_headers(void **state)
{
	struct packet *pkt = build(BTH_UD_SEND_ONLY, true, 0), *raw;
	uint8_t bytes[LRH_BYTES + GRH_BYTES + BTH_BYTES + 8];
	struct lrh *lrh = (struct lrh *)(void *)bytes;

	memcpy(bytes, pkt->wire, sizeof(bytes));
	packet_free(pkt);
	lrh_set_slid(lrh, 0x77);
	lrh_set_pkt_len(lrh, 0);
	for (unsigned keep = 0; keep < 2; keep++) {
		for (unsigned management = 0; management < 2; management++) {
			raw = packet_alloc(&hca);
			packet_build_raw(&hca, raw, 1, bytes, sizeof(bytes), 255, management, keep,
					 1);
			lrh = (struct lrh *)(void *)raw->wire;
			assert_int_equal(lrh_get_slid(lrh), keep ? 0x77 : OUR_LID + 1);
			assert_int_equal(raw->vl, management ? VL_MANAGEMENT : VL);
			assert_int_equal(lrh_get_vl(lrh), raw->vl);
			assert_int_equal(lrh_get_pkt_len(lrh) * 4u + VCRC_BYTES, raw->len);
			assert_int_equal(
				grh_get_pay_len((const struct grh *)(raw->wire + raw->l3_off)),
				BTH_BYTES + 8 + 256 + ICRC_BYTES);
			assert_int_equal(
				bth_get_pad((const struct bth *)(raw->wire + raw->bth_off)), 1);
			assert_int_equal(raw->qpn, QPN);
			packet_free(raw);
		}
	}
}

/* --- sealing --- */

static void sealed(void **state)
{
	struct packet *pkt = packet_alloc(&hca);
	const struct packet_path path = path_to_us(false);
	struct packet_headers h = headers;
	uint8_t copy[1024];

	h.opcode = BTH_RC_WRITE_ONLY;
	memset(packet_payload(pkt), 0x33, 100);
	packet_build(&hca, pkt, &path, &h, 100);
	packet_seal(&hca, pkt);
	assert_int_equal(pkt->ready_ps, TX_LATENCY + pkt->len * STORE);
	assert_false(pkt->crcs_made); /* nobody needs them yet */
	packet_need_crcs(pkt);
	assert_int_equal(crc_check(pkt->wire, pkt->len), 0);
	/* made only once: a later change by a fault stays */
	pkt->wire[pkt->payload_off] ^= 1;
	packet_need_crcs(pkt);
	assert_int_equal(crc_check(pkt->wire, pkt->len), CRC_BAD_ICRC | CRC_BAD_VCRC);
	pkt->wire[pkt->payload_off] ^= 1;
	memcpy(copy, pkt->wire, pkt->len);
	/* Made at once, they are the same bytes. Here the payload is complete later than now. */
	params.crc_eager = 1;
	pkt->crcs_made = false;
	memset(pkt->wire + pkt->len - CRC_BYTES, 0, CRC_BYTES);
	pkt->ready_ps = 5000;
	packet_seal(&hca, pkt);
	assert_true(pkt->crcs_made);
	assert_memory_equal(pkt->wire, copy, pkt->len);
	assert_int_equal(pkt->ready_ps, 5000 + TX_LATENCY + pkt->len * STORE);
	packet_free(pkt);
}

/* --- what is malformed, or for somebody else --- */

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

/* --- the pool --- */

static void copies_share_the_buffer_of_the_port(void **state)
{
	struct packet *pkt = build(BTH_UD_SEND_ONLY, true, 64), *copies[2];

	pkt->rx_buffered = true;
	for (unsigned i = 0; i < 2; i++) {
		copies[i] = packet_alloc(&hca);
		packet_copy(copies[i], pkt);
		packet_share(copies[i], pkt);
		assert_false(copies[i]->rx_buffered);
		assert_int_equal(copies[i]->len, pkt->len);
		assert_memory_equal(copies[i]->wire, pkt->wire, pkt->len);
		assert_ptr_not_equal(copies[i]->wire, pkt->wire);
	}
	packet_free(copies[0]);
	packet_unshare(pkt);
	assert_int_equal(packet_pool_in_use(&hca), 2);
	assert_int_equal(n_credits, 0);
	packet_free(copies[1]);
	assert_int_equal(packet_pool_in_use(&hca), 0);
	assert_int_equal(n_credits, 1);
}

static void pool_keeps_and_gives_back(void **state)
{
	enum { MANY = 100 };
	struct packet *pkts[MANY];
	size_t footprint;

	for (unsigned i = 0; i < MANY; i++) {
		pkts[i] = packet_alloc(&hca);
		pkts[i]->psn = pkts[i]->corr = 1;
		pkts[i]->owner = &pkts[i];
	}
	footprint = packet_pool_footprint(&hca);
	assert_true(footprint >= MANY * sizeof(struct packet));
	packet_pool_trim(&hca); /* does nothing while packets are in use */
	assert_int_equal(packet_pool_footprint(&hca), footprint);
	for (unsigned i = 0; i < MANY; i++)
		packet_free(pkts[i]);
	/* packets that are used again look like new ones, and take no further memory */
	for (unsigned i = 0; i < MANY; i++) {
		pkts[i] = packet_alloc(&hca);
		assert_int_equal(pkts[i]->psn | pkts[i]->corr, 0);
		assert_null(pkts[i]->owner);
	}
	assert_int_equal(packet_pool_footprint(&hca), footprint);
	for (unsigned i = 0; i < MANY; i++)
		packet_free(pkts[i]);
	packet_pool_trim(&hca);
	assert_true(packet_pool_footprint(&hca) < sizeof(struct packet));
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
#define T(test) cmocka_unit_test_setup_teardown(test, start, finish)
	const struct CMUnitTest tests[] = {
		T(every_opcode_is_found_again),
		T(one_like_another),
		T(raw_headers),
		T(sealed),
		T(malformed_is_dropped),
		T(special_addresses),
		T(to_software),
		T(stopped_engine_takes_nothing),
		T(armed_becomes_active),
		T(noise),
		T(copies_share_the_buffer_of_the_port),
		T(pool_keeps_and_gives_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
