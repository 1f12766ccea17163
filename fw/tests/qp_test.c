/* SPDX-License-Identifier: Apache-2.0 */
/* Tests QP transitions from outside: which are legal, and which bytes of the context each
 * changes. */
#include "fw/tests/fake_chip.h"
#include "model/interface/macros.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum {
	CQN = 0x81,
	QPN = 0x540042, /* bits above the table's index */
	INDEX = 0x42,
	C = 8, /* context in the mailbox */
	RST2INIT = 0x019,
	INIT2RTR,
	RTR2RTS,
	RTS2RTS,
	SQERR2RTS,
	TOERR,
	RTS2SQD,
	SQD2RTS,
	TORST,
	INIT2INIT = 0x02d,
	SQD2SQD = 0x038,
};

static uint8_t *qpc(void)
{
	return icm_at(ICM_QPC + INDEX * 256);
}

static uint32_t qp_state(void)
{
	return chip.valid[FW_TABLE_QPC][INDEX] ? qpc()[0] >> 4 : 0;
}

static void start(void)
{
	uint8_t *box;

	chip_reset();
	bring_up();
	mtt_set(16, 0x4000, 1);
	box = in_box();
	be32_store(box + 0x0c, 4u << 24 | 5);
	box[0x17] = CQ_EVENT_EQN;
	be32_store(box + 0x1c, 8 * 16);
	be64_store(box + 0x38, 0x3000);
	assert_int_equal(cmd_box(0x016, 0, CQN), 0);
}

/* The mailbox as Linux fills it for RC. */
static uint8_t *init_box(uint32_t service)
{
	uint8_t *box = in_box(), *c = box + C;

	be32_store(box, 0x1e);
	be32_store(c, 1u << 28 | service << 16 | 3 << 11);
	be32_store(c + 0x04, 5);
	c[0x09] = 6 << 3 | 1;
	c[0x0a] = 7 << 3 | 2;
	be32_store(c + 0x0c, 5);
	be32_store(c + 0x10, QPN);
	c[0x18 + 3] = 2;
	c[0x18 + 0x20] = 0x83 | 1 << 6;
	be32_store(c + 0x70, 8u << 28 | 1 << 11);
	be32_store(c + 0x7c, CQN);
	be32_store(c + 0x90, 1 << 14);
	be32_store(c + 0x9c, CQN);
	be64_store(c + 0xa0, 0x3020);
	be32_store(c + 0xa8, 0x11111111);
	be32_store(c + 0xb0, 77); /* a device field */
	be32_store(c + 0xcc, 0x100);
	return box;
}

static uint8_t *rtr_box(void)
{
	uint8_t *box = in_box(), *c = box + C;

	be32_store(box, 0x102ce);
	c[0x08] = 4 << 5 | 30;
	be32_store(c + 0x14, 0x123456);
	c[0x18 + 3] = 9; /* not taken: bit 4 of the mask is clear */
	be16_store(c + 0x18 + 6, 0x22);
	c[0x18 + 8] = 31 << 3;
	c[0x18 + 0x20] = 0x83 | 1 << 6 | 5 << 2;
	be32_store(c + 0x90, 4u << 21 | 1 << 15 | 1 << 14);
	be32_store(c + 0x94, 12u << 24 | 0xfffffe);
	be32_store(c + 0xa0, 0xdead0000);
	be32_store(c + 0xcc, 0xdead0000);
	return box;
}

static uint8_t *rts_box(void)
{
	uint8_t *box = in_box(), *c = box + C;

	be32_store(box, 1 << 8 | 1 << 12 | 1 << 13 | 1 << 14);
	c[0x18 + 8] = 14 << 3;
	be32_store(c + 0x70, 3u << 21 | 7 << 16 | 6 << 13);
	be32_store(c + 0x78, 0xfffff0);
	return box;
}

static void rc_comes_up(void **state)
{
	uint8_t *q = qpc(), was[256];

	start();
	init_box(0);
	assert_int_equal(cmd_box(RST2INIT, 0, QPN), 0);
	assert_int_equal(be32_load(q), 0x10001800);
	assert_int_equal(be32_load(q + 0x10), QPN);
	assert_int_equal(be32_load(q + 0xb0), 0);
	assert_int_equal(be32_load(q + 0xcc), 0x100);
	assert_true(object_was(0, FW_OBJ_VALIDATE, FW_TABLE_QPC, QPN));

	memcpy(was, q, 256);
	rtr_box();
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0);
	assert_int_equal(q[0] >> 4, 2);
	assert_int_equal(q[0x08], 4 << 5 | 30);
	assert_int_equal(be32_load(q + 0x14), 0x123456);
	assert_int_equal(q[0x18 + 3], 2);
	assert_int_equal(q[0x18 + 8] >> 3, 0);
	assert_int_equal(be16_load(q + 0x18 + 6), 0x22);
	assert_int_equal(q[0x18 + 0x20], 0x83 | 1 << 6 | 5 << 2);
	assert_int_equal(be32_load(q + 0x90), 4u << 21 | 1 << 15 | 1 << 14);
	assert_int_equal(be32_load(q + 0x94), 12u << 24 | 0xfffffe);
	assert_memory_equal(q + 0x9c, was + 0x9c, 0x5c);
	assert_true(object_was(0, FW_OBJ_RESUME, FW_TABLE_QPC, QPN));
	assert_true(object_was(1, FW_OBJ_QUIESCE, FW_TABLE_QPC, QPN));

	memcpy(was, q, 256);
	rts_box();
	assert_int_equal(cmd_box(RTR2RTS, 0, QPN), 0);
	assert_int_equal(q[0] >> 4, 3);
	assert_int_equal(q[0x18 + 8], 14 << 3);
	assert_int_equal(be32_load(q + 0x70),
			 8u << 28 | 3u << 21 | 7 << 16 | 6 << 13 | 1 << 11 | 6 << 8 | 7 << 5);
	assert_int_equal(be32_load(q + 0x78), 0xfffff0);
	assert_int_equal(be32_load(q + 0x88), 0xffffef);
	assert_memory_equal(q + 0x8c, was + 0x8c, 0x6c);

	assert_int_equal(cmd_box(0x022, 0, QPN), 0);
	assert_memory_equal(out_box() + C, q, 0xf8);
	assert_int_equal(all_errors_taken(), 0);
}

/* QUERY_DEV_CAP says how many READs a requester may have under way. */
static void a_requester_is_no_deeper_than_announced(void **state)
{
	uint8_t *box;

	start();
	init_box(0);
	assert_int_equal(cmd_box(RST2INIT, 0, QPN), 0);
	rtr_box();
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0);
	box = rts_box();
	be32_store(box + C + 0x70, 5u << 21 | 7 << 16 | 6 << 13);
	assert_int_equal(cmd_box(RTR2RTS, 0, QPN), HCR_STATUS_EXCEED_LIM);
	box = rts_box();
	be32_store(box + C + 0x70, 4u << 21 | 7 << 16 | 6 << 13);
	assert_int_equal(cmd_box(RTR2RTS, 0, QPN), 0);
}

static void mask_rules_later_changes(void **state)
{
	uint8_t *q = qpc(), *box;

	start();
	init_box(0);
	assert_int_equal(cmd_box(RST2INIT, 0, QPN), 0);
	rtr_box();
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0);
	rts_box();
	assert_int_equal(cmd_box(RTR2RTS, 0, QPN), 0);

	/* the mask names Q_Key; all other fields differ but are not named */
	box = in_box();
	memset(box + C, 0xff, 4);
	be32_store(box, 1 << 5);
	be32_store(box + C, 0);
	be32_store(box + C + 0xa8, 0x22222222);
	be32_store(box + C + 0x90, 1 << 13);
	assert_int_equal(cmd_box(RTS2RTS, 0, QPN), 0);
	assert_int_equal(be32_load(q + 0xa8), 0x22222222);
	assert_int_equal(be32_load(q + 0x90), 4u << 21 | 1 << 15 | 1 << 14);
	/* the mask names access rights one by one */
	be32_store(box, 1 << 1 | 1 << 2);
	assert_int_equal(cmd_box(RTS2RTS, 0, QPN), 0);
	assert_int_equal(be32_load(q + 0x90), 4u << 21 | 1 << 14 | 1 << 13);
	/* alternate path */
	be32_store(box, 1);
	be16_store(box + C + 0x44 + 6, 0x77);
	box[C + 0x44 + 3] = 1;
	assert_int_equal(cmd_box(RTS2RTS, 0, QPN), 0);
	assert_int_equal(be16_load(q + 0x44 + 6), 0x77);
	assert_int_equal(q[0x44 + 3], 1);
	/* when drained, the path of a queue in use can change */
	assert_int_equal(cmd_box(RTS2SQD, 0, 1u << 31 | QPN), 0);
	assert_int_equal(q[0] >> 4, 7);
	assert_true(qpc_get_sqd_event((const struct qpc *)q));
	assert_int_equal(cmd_box(SQD2SQD, 0, QPN), 0x10);
	assert_int_equal(errors_taken(RULE_qp_transition), 1);
	q[0] = 5 << 4 | (q[0] & 15);
	box = in_box();
	be32_store(box, 1 << 14 | 1 << 8);
	box[C + 0x18 + 8] = 7 << 3;
	be32_store(box + C + 0x70, 2u << 21);
	assert_int_equal(cmd_box(SQD2SQD, 0, QPN), 0);
	assert_int_equal(q[0x18 + 8] >> 3, 7);
	assert_int_equal(be32_load(q + 0x70) >> 21 & 7, 2);
	assert_int_equal(be32_load(q + 0x70) >> 16 & 7, 7);
	in_box();
	assert_int_equal(cmd_box(SQD2RTS, 0, QPN), 0);
	assert_int_equal(q[0] >> 4, 3);
	assert_int_equal(all_errors_taken(), 0);
}

static void ud_needs_its_port(void **state)
{
	uint8_t *box, *q = qpc();

	start();
	box = init_box(3);
	be32_store(box, 0x30);
	box[C + 0x18 + 0x20] = 0;
	assert_int_equal(cmd_box(RST2INIT, 0, QPN), 0);
	/* INIT2RTR takes the port without a mask bit */
	box = in_box();
	box[C + 0x08] = 5 << 5 | 13;
	box[C + 0x18 + 0x20] = 0x83 | 1 << 6;
	be16_store(box + C + 0x18 + 6, 0x99);
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0);
	assert_int_equal(q[0x18 + 0x20], 0x83 | 1 << 6);
	assert_int_equal(be16_load(q + 0x18 + 6), 0);
	box = in_box();
	be32_store(box + C + 0x78, 0x123);
	assert_int_equal(cmd_box(RTR2RTS, 0, QPN), 0);
	assert_int_equal(be32_load(q + 0x78), 0x123);
}

/* For each state and command, the state that the command leads to (10.3.1 and the interface). 0xff:
 * refused. */
static void only_legal_transitions(void **state)
{
	static const struct {
		uint32_t op;
		uint8_t to[8];
	} rows[] = {
		/*             RST   INIT  RTR   RTS   SQER  SQD   ERR   draining */
		{RST2INIT, {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{INIT2INIT, {0xff, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{INIT2RTR, {0xff, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{RTR2RTS, {0xff, 0xff, 3, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{RTS2RTS, {0xff, 0xff, 0xff, 3, 0xff, 0xff, 0xff, 0xff}},
		{SQERR2RTS, {0xff, 0xff, 0xff, 0xff, 3, 0xff, 0xff, 0xff}},
		{RTS2SQD, {0xff, 0xff, 0xff, 7, 0xff, 0xff, 0xff, 0xff}},
		{SQD2SQD, {0xff, 0xff, 0xff, 0xff, 0xff, 5, 0xff, 0xff}},
		{SQD2RTS, {0xff, 0xff, 0xff, 0xff, 0xff, 3, 0xff, 3}},
		{TOERR, {6, 6, 6, 6, 6, 6, 6, 6}},
		{TORST, {0, 0, 0, 0, 0, 0, 0, 0}},
	};

	for (unsigned r = 0; r < ARRAY_SIZE(rows); r++) {
		for (uint32_t from = 0; from < 8; from++) {
			uint8_t to = rows[r].to[from], was[256];

			start();
			if (from) {
				init_box(0);
				assert_int_equal(cmd_box(RST2INIT, 0, QPN), 0);
				rtr_box();
				assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0);
				qpc()[0] = (uint8_t)(from << 4);
			}
			memcpy(was, qpc(), 256);
			if (rows[r].op == RST2INIT)
				init_box(0);
			else
				rtr_box();
			assert_int_equal(cmd_box(rows[r].op, rows[r].op == TORST ? 2 : 0, QPN),
					 to == 0xff ? 0x10 : 0);
			assert_int_equal(qp_state(), to == 0xff ? from : to);
			assert_int_equal(errors_taken(RULE_qp_transition), to == 0xff);
			if (to == 0xff)
				assert_memory_equal(qpc(), was, 256);
			/* no QP stays quiesced */
			if (object_was(1, FW_OBJ_QUIESCE, FW_TABLE_QPC, QPN))
				assert_true(object_was(0, FW_OBJ_RESUME, FW_TABLE_QPC, QPN));
			else
				assert_false(object_was(0, FW_OBJ_QUIESCE, FW_TABLE_QPC, QPN));
		}
	}
}

static void bad_contexts_are_refused(void **state)
{
	static const struct {
		unsigned at;
		uint8_t value, status;
		unsigned rule;
	} bad[] = {
		{C + 0x01, 0x02, 0x03, RULE_COUNT},       /* service RD */
		{C + 0x13, 0x43, 0x03, RULE_COUNT},       /* another number */
		{C + 0x0e, 0x04, 0x0a, RULE_COUNT},       /* UAR page 1029 */
		{C + 0x7f, 0x01, 0x05, RULE_object_dead}, /* CQ of the SQ */
		{C + 0x9f, 0x01, 0x05, RULE_object_dead}, /* CQ of the RQ */
		{C + 0xac, 0x01, 0x05, RULE_object_dead}, /* SRQ 0 */
		{C + 0x18 + 3, 32, 0x03, RULE_COUNT},     /* P_Key index */
		{C + 0x75, 0x01, 0x03, RULE_mailbox_reserved},
		/* asks for SQ_DRAINED, a device field */
		{C + 0x74, 0x40, 0x03, RULE_mailbox_reserved},
		{C + 0xf7, 0x01, 0x03, RULE_mailbox_reserved},
		{0x04, 0x01, 0x03, RULE_mailbox_reserved},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		start();
		init_box(0)[bad[i].at] = bad[i].value;
		assert_int_equal(cmd_box(RST2INIT, 0, QPN), bad[i].status);
		if (bad[i].rule != RULE_COUNT)
			assert_int_equal(errors_taken(bad[i].rule), 1);
		assert_int_equal(all_errors_taken(), 0);
		assert_int_equal(qp_state(), 0);
	}
}

static void bad_rtr_leaves_context(void **state)
{
	uint8_t was[256], *box;

	start();
	init_box(0);
	assert_int_equal(cmd_box(RST2INIT, 0, QPN), 0);
	memcpy(was, qpc(), 256);
	rtr_box()[C + 8] = 30; /* MTU 0 */
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0x03);
	rtr_box()[C + 8] = 6 << 5;
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0x03);
	rtr_box()[C + 8] = 4 << 5 | 31;
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0x03);
	/* 32 responder resources, but there are only 16 */
	rtr_box();
	be32_store(chip.host + BUS_IN + C + 0x90, 5u << 21);
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0x08);
	box = rtr_box();
	box[C + 0x18 + 5] = 0x80;
	box[C + 0x18 + 9] = 8;
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN), 0x03);
	assert_memory_equal(qpc(), was, 256);
}

static void numbers_beyond_the_index_count(void **state)
{
	start();
	init_box(0);
	assert_int_equal(cmd_box(RST2INIT, 0, QPN), 0);
	rtr_box();
	assert_int_equal(cmd_box(INIT2RTR, 0, QPN + 0x100), 0x05);
	assert_int_equal(errors_taken(RULE_object_dead), 1);
	assert_int_equal(cmd_box(0x022, 0, QPN + 0x100), 0x05);
	assert_int_equal(errors_taken(RULE_object_dead), 1);
	assert_int_equal(cmd(TORST, 2, QPN + 0x100, 0, 0), 0);
	assert_int_equal(errors_taken(RULE_object_dead), 1);
	assert_int_equal(qp_state(), 1);
	assert_int_equal(cmd_box(INIT2RTR, 0, 1u << 30 | QPN), 0x03);
	assert_int_equal(errors_taken(RULE_mailbox_reserved), 1);
	assert_int_equal(cmd(TORST, 2, QPN, 0, 0), 0);
	assert_true(object_was(0, FW_OBJ_INVALIDATE, FW_TABLE_QPC, QPN));
	/* a QP in Reset can be queried */
	assert_int_equal(cmd_box(0x022, 0, QPN), 0);
	assert_int_equal(be32_load(out_box() + C), 0);
	assert_int_equal(be32_load(out_box() + C + 0x10), QPN);
}

static void special_qps(void **state)
{
	start();
	assert_int_equal(cmd(0x023, 0, 0x80, 0, 0), 0);
	assert_int_equal(chip.reg[FW_SPECIAL_QP / 4], 0x80);
	assert_int_equal(cmd(0x023, 0, 0x81, 0, 0), 0x03);
	assert_int_equal(cmd(0x023, 0, 0x100, 0, 0), 0x0a);
	assert_int_equal(cmd(0x023, 0, 0, 0, 0), 0);
	assert_int_equal(chip.reg[FW_SPECIAL_QP / 4], 0);
}

static uint32_t random_next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Sends mailboxes that are almost correct. Whatever is accepted is a valid context, and nothing
 * stays quiesced. */
static void nearly_right_is_survived(void **state)
{
	static const uint16_t ops[] = {RST2INIT, INIT2INIT, INIT2RTR,  RTR2RTS, RTS2RTS, RTS2SQD,
				       SQD2SQD,  SQD2RTS,   SQERR2RTS, TOERR,   TORST};
	uint32_t seed = 7, done = 0;

	start();
	for (unsigned round = 0; round < 50000; round++) {
		uint32_t op = ops[random_next(&seed) % 11];
		uint8_t *box = op == RST2INIT  ? init_box(random_next(&seed) % 8)
			       : op == RTR2RTS ? rts_box()
					       : rtr_box();

		be32_store(box, random_next(&seed) & 0x3177ff);
		for (unsigned i = random_next(&seed) % 3; i; i--)
			box[random_next(&seed) % 0x100] ^= 1u << (random_next(&seed) & 7);
		done += cmd_box(op, op == TORST ? 2 : 0, QPN) == 0;
		assert_int_equal(chip.objects ? chip.object[(chip.objects - 1) % OBJ_LOG].command ==
							FW_OBJ_QUIESCE
					      : 0,
				 0);
		if (!qp_state())
			continue;
		assert_true(qp_state() <= 7);
		assert_int_equal(be32_load(qpc() + 0x10), QPN);
	}
	assert_true(done > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rc_comes_up),
		cmocka_unit_test(a_requester_is_no_deeper_than_announced),
		cmocka_unit_test(mask_rules_later_changes),
		cmocka_unit_test(ud_needs_its_port),
		cmocka_unit_test(only_legal_transitions),
		cmocka_unit_test(bad_contexts_are_refused),
		cmocka_unit_test(bad_rtr_leaves_context),
		cmocka_unit_test(numbers_beyond_the_index_count),
		cmocka_unit_test(special_qps),
		cmocka_unit_test(nearly_right_is_survived),
	};

	return cmocka_run_group_tests_name("fw qp", tests, NULL, NULL);
}
