/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that are built: the receiver finds them again, header by header. Their CRCs are made once. */
#include "model/engine/wire/tests/packet_rig.h"

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

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, rig_start, rig_finish)
	const struct CMUnitTest tests[] = {
		T(every_opcode_is_found_again),
		T(one_like_another),
		T(raw_headers),
		T(sealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
