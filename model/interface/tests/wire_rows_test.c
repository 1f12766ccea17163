/* SPDX-License-Identifier: Apache-2.0 */
/* BTH opcodes, compared with an independent list of their extended headers; syndromes, timers and
 * credits, compared with the tables of the specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/interface/bth_ops.h"
#include "model/interface/syndromes.h"

/* Extended header bytes of the RC opcodes 0x00..0x17. -1: not defined. XRC requests have 4 more. */
static const int rc_bytes[24] = {
	0,  0,  0,  4,  0,  4,  /* SEND first, middle, last, last imm, only, only imm */
	16, 0,  0,  4,  16, 20, /* WRITE, the same */
	16, 4,  0,  4,  4,      /* READ request, response first, middle, last, only */
	4,  12, 28, 28,         /* ACK, atomic ACK, compare and swap, fetch and add */
	-1, 4,  4,              /* reserved, SEND last, only with invalidate */
};

static int expected_bytes(unsigned int opcode)
{
	const unsigned int service = opcode >> 5, low = opcode & 0x1f;

	switch (opcode) {
	case 0x64:
		return 8;
	case 0x65:
		return 12;
	case 0xd3:
		return 44;
	case 0xd4:
		return 28;
	}
	if (low >= 24 || rc_bytes[low] < 0)
		return -1;
	if (service == 0 || (service == 1 && low <= 0x0b))
		return rc_bytes[low];
	if (service == 5)
		return rc_bytes[low] + (low >= 0x0d && low <= 0x12 ? 0 : 4);
	return -1;
}

static void test_ext_bytes(void **state)
{
	for (unsigned int i = 0; i < 256; i++) {
		const struct bth_op *op = bth_op_find((uint8_t)i);
		const int want = expected_bytes(i);

		if (want < 0) {
			assert_null(op->name);
			assert_int_equal(op->props, 0);
			continue;
		}
		assert_non_null(op->name);
		assert_int_equal(op->ext_bytes, want);
		assert_int_equal(bth_op_header_bytes(op, false), 8 + 12 + want);
		assert_int_equal(bth_op_header_bytes(op, true), 8 + 40 + 12 + want);
	}
}

static void test_offsets(void **state)
{
	const struct bth_op *op = bth_op_find(BTH_XRC_WRITE_ONLY_IMM);

	assert_int_equal(op->at[BTH_EXT_XRCETH], 12);
	assert_int_equal(op->at[BTH_EXT_RETH], 16);
	assert_int_equal(op->at[BTH_EXT_IMMDT], 32);
	assert_int_equal(bth_op_ext_offset(op, BTH_EXT_IMMDT, true), 80);
	assert_false(bth_op_has(op, BTH_EXT_AETH));
	op = bth_op_find(0x12);
	assert_int_equal(op->at[BTH_EXT_AETH], 12);
	assert_int_equal(op->at[BTH_EXT_ATOMICACKETH], 16);
	op = bth_op_find(0x65);
	assert_int_equal(op->at[BTH_EXT_DETH], 12);
	assert_int_equal(op->at[BTH_EXT_IMMDT], 20);
}

/* Every known opcode has exactly one position, one direction and one kind. Also which opcodes take
 * a receive and which complete it. */
static void test_properties(void **state)
{
	for (unsigned int i = 0; i < 256; i++) {
		const struct bth_op *op = bth_op_find((uint8_t)i);
		const uint32_t position = BTH_FIRST | BTH_MIDDLE | BTH_LAST | BTH_ONLY;
		const uint32_t kind = BTH_SEND | BTH_WRITE | BTH_READ | BTH_ATOMIC | BTH_ACK;

		if (!op->name)
			continue;
		assert_int_equal(__builtin_popcount(op->props & position), 1);
		assert_int_equal(__builtin_popcount(op->props & kind), 1);
		assert_int_equal(bth_op_is(op, BTH_REQUEST), !bth_op_is(op, BTH_RESPONSE));
		assert_int_equal(bth_op_is(op, BTH_START),
				 bth_op_is(op, BTH_FIRST) || bth_op_is(op, BTH_ONLY));
		assert_int_equal(bth_op_is(op, BTH_END),
				 bth_op_is(op, BTH_LAST) || bth_op_is(op, BTH_ONLY));
		assert_int_equal(bth_op_is(op, BTH_IMM), bth_op_has(op, BTH_EXT_IMMDT));
		assert_int_equal(bth_op_is(op, BTH_INV), bth_op_has(op, BTH_EXT_IETH));
		if (bth_op_is(op, BTH_SEND)) {
			assert_int_equal(bth_op_is(op, BTH_NEEDS_RQ), bth_op_is(op, BTH_START));
			assert_int_equal(bth_op_is(op, BTH_COMPLETES), bth_op_is(op, BTH_END));
		} else {
			assert_int_equal(bth_op_is(op, BTH_NEEDS_RQ), bth_op_is(op, BTH_IMM));
			assert_int_equal(bth_op_is(op, BTH_COMPLETES), bth_op_is(op, BTH_IMM));
		}
		if (bth_op_is(op, BTH_WRITE))
			assert_int_equal(bth_op_has(op, BTH_EXT_RETH), bth_op_is(op, BTH_START));
		if (bth_op_is(op, BTH_FIRST) || bth_op_is(op, BTH_MIDDLE))
			assert_true(bth_op_is(op, BTH_PAYLOAD));
		if (op->service == QP_ST_XRC)
			assert_int_equal(bth_op_has(op, BTH_EXT_XRCETH),
					 bth_op_is(op, BTH_REQUEST));
	}
	/* packets of the specification that have headers only */
	for (unsigned int low = 0; low < 24; low++)
		if (low == 0x0c || (low >= 0x11 && low <= 0x14))
			assert_false(bth_op_is(bth_op_find((uint8_t)low), BTH_PAYLOAD));
}

static void test_message_opcode(void **state)
{
	assert_int_equal(bth_message_opcode(QP_ST_RC, false, true, false, BTH_SUFFIX_IMM), 0x00);
	assert_int_equal(bth_message_opcode(QP_ST_RC, false, false, false, BTH_SUFFIX_INV), 0x01);
	assert_int_equal(bth_message_opcode(QP_ST_RC, false, false, true, BTH_SUFFIX_NONE), 0x02);
	assert_int_equal(bth_message_opcode(QP_ST_RC, false, false, true, BTH_SUFFIX_IMM), 0x03);
	assert_int_equal(bth_message_opcode(QP_ST_RC, false, true, true, BTH_SUFFIX_NONE), 0x04);
	assert_int_equal(bth_message_opcode(QP_ST_RC, false, true, true, BTH_SUFFIX_INV), 0x17);
	assert_int_equal(bth_message_opcode(QP_ST_RC, false, false, true, BTH_SUFFIX_INV), 0x16);
	assert_int_equal(bth_message_opcode(QP_ST_UC, true, true, false, BTH_SUFFIX_NONE), 0x26);
	assert_int_equal(bth_message_opcode(QP_ST_UC, true, false, true, BTH_SUFFIX_IMM), 0x29);
	assert_int_equal(bth_message_opcode(QP_ST_XRC, true, true, true, BTH_SUFFIX_IMM), 0xab);
	assert_int_equal(bth_message_opcode(QP_ST_UD, false, true, true, BTH_SUFFIX_NONE), 0x64);
	assert_int_equal(bth_message_opcode(QP_ST_MLX, false, true, true, BTH_SUFFIX_IMM), 0x65);
	assert_int_equal(bth_service_opcode(QP_ST_XRC, BTH_RC_ACKNOWLEDGE), 0xb1);
	assert_int_equal(bth_service_opcode(QP_ST_RC, BTH_RC_READ_REQUEST), 0x0c);
}

static void test_rnr_timers(void **state)
{
	/* hundredths of a millisecond */
	static const uint32_t want[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
					  16,    24,   32,   48,    64,    96,    128,   192,
					  256,   384,  512,  768,   1024,  1536,  2048,  3072,
					  4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

	for (uint32_t i = 0; i < 32; i++)
		assert_true(rnr_timer_ps(i) == want[i] * UINT64_C(10) * 1000 * 1000);
	assert_true(rnr_timer_ps(25) == UINT64_C(61440000000)); /* 61.44 ms */
	assert_true(ack_timeout_ps(0) == 0);
	assert_true(ack_timeout_ps(1) == 8192000);
	assert_true(ack_timeout_ps(14) == UINT64_C(67108864000)); /* 67.1 ms */
	assert_true(ack_timeout_ps(31) == UINT64_C(8796093022208000));
}

static void test_credits(void **state)
{
	static const uint32_t want[31] = {0,    1,    2,    3,     4,     6,     8,    12,
					  16,   24,   32,   48,    64,    96,    128,  192,
					  256,  384,  512,  768,   1024,  1536,  2048, 3072,
					  4096, 6144, 8192, 12288, 16384, 24576, 32768};

	for (uint32_t i = 0; i < 31; i++) {
		assert_int_equal(credit_decode(i), want[i]);
		assert_int_equal(credit_encode(want[i]), i);
		if (i > 4)
			assert_int_equal(credit_encode(want[i] - 1), i - 1);
	}
	assert_int_equal(credit_encode(UINT32_MAX), 30);
	assert_int_equal(aeth_syndrome(AETH_NAK, NAK_REM_ACCESS), 0x62);
	assert_int_equal(aeth_syndrome(AETH_RNR_NAK, 14), 0x2e);
	assert_int_equal(aeth_syndrome(AETH_ACK, 31), 0x1f);
	assert_int_equal(aeth_syndrome_kind(0x63), AETH_NAK);
	assert_int_equal(aeth_syndrome_code(0x63), 3);
}

/* Behaviours RESP-3, RESP-5 and RESP-7 of testbench/BEHAVIOURS.md, and what each NAK means to the
 * requester. */
static void test_verdicts(void **state)
{
	const struct verdict_row *v = verdict_find(VERDICT_OPCODE_ORDER);

	assert_int_equal(v->reply, VERDICT_REPLY_NAK);
	assert_int_equal(v->nak, 1);
	assert_int_equal(v->requester_cqe, 0x12);
	assert_int_equal(v->qp, VERDICT_QP_ERR);
	v = verdict_find(VERDICT_RECV_LENGTH);
	assert_int_equal(v->nak, 1);
	assert_int_equal(v->responder_cqe, 0x01);
	assert_int_equal(v->event, 0);
	v = verdict_find(VERDICT_REM_ACCESS);
	assert_int_equal(v->nak, 2);
	assert_int_equal(v->requester_cqe, 0x13);
	assert_int_equal(v->event, 0x11);
	v = verdict_find(VERDICT_RECV_PROT);
	assert_int_equal(v->nak, 3);
	assert_int_equal(v->responder_cqe, 0x04);
	assert_int_equal(v->requester_cqe, 0x14);
	v = verdict_find(VERDICT_PSN_SEQUENCE);
	assert_int_equal(v->nak, 0);
	assert_int_equal(v->requester_cqe, 0);
	assert_int_equal(v->qp, VERDICT_QP_KEEP);
	assert_int_equal(verdict_find(nak_requester_verdict(0))->requester_cqe, 0);
	assert_int_equal(verdict_find(nak_requester_verdict(1))->requester_cqe, 0x12);
	assert_int_equal(verdict_find(nak_requester_verdict(2))->requester_cqe, 0x13);
	assert_int_equal(verdict_find(nak_requester_verdict(3))->requester_cqe, 0x14);
	assert_int_equal(verdict_find(nak_requester_verdict(9))->requester_cqe, 0x10);
	assert_int_equal(verdict_find(VERDICT_RETRY_EXCEEDED)->requester_cqe, 0x15);
	assert_int_equal(verdict_find(VERDICT_RNR_EXCEEDED)->requester_cqe, 0x16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ext_bytes),  cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_properties), cmocka_unit_test(test_message_opcode),
		cmocka_unit_test(test_rnr_timers), cmocka_unit_test(test_credits),
		cmocka_unit_test(test_verdicts),
	};

	return cmocka_run_group_tests_name("wire_rows", tests, NULL, NULL);
}
