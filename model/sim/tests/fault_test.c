/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/engine/wire/crc.h"
#include "model/sim/fault.h"

enum {
	RC_SEND_ONLY = 0x04,
	RC_ACKNOWLEDGE = 0x11,
	PACKET_BYTES = 8 + 40 + 12 + 6,
};

struct packet {
	unsigned int hca, port;
	unsigned int lnh; /* 0 stands for 2 */
	uint8_t opcode;
	uint32_t qpn, psn;
	size_t len; /* 0: the whole packet */
};

static uint8_t sent[PACKET_BYTES], received[PACKET_BYTES];

/* Applies the plan to a packet. `sent` and `received` are its bytes before and after. */
static int apply(struct fault_plan *plan, struct packet p, struct fault_verdict *verdict)
{
	unsigned int lnh = p.lnh ? p.lnh : 2;
	uint8_t *bth = sent + (lnh == 3 ? 48 : 8);
	size_t len = p.len ? p.len : PACKET_BYTES;
	/* on the heap, so that the sanitizer finds a read past its end */
	uint8_t *wire = malloc(len);
	struct fault_key key = {p.hca, p.port, wire, len, false};
	int fired;

	memset(sent, 0, sizeof(sent));
	sent[1] = 0xf0 | lnh;
	bth[0] = p.opcode;
	bth[4] = bth[8] = 0xff; /* the bytes beside QPN and PSN */
	bth[5] = p.qpn >> 16, bth[6] = p.qpn >> 8, bth[7] = p.qpn;
	bth[9] = p.psn >> 16, bth[10] = p.psn >> 8, bth[11] = p.psn;
	if (len > 14)
		crc_make(sent, len - (lnh < 2 ? 2 : 6));
	memcpy(wire, sent, len);
	memset(verdict, 0xa5, sizeof(*verdict));
	fired = fault_plan_apply(plan, &key, verdict);
	assert_in_range(fired, 0, plan->count);
	memset(received, 0, sizeof(received));
	memcpy(received, wire, len);
	free(wire);
	return fired;
}

/* The actions that fired, as bits 1 << enum fault_action. */
static unsigned int actions(struct fault_plan *plan, struct packet p)
{
	struct fault_verdict v;
	unsigned int bits;
	int fired = apply(plan, p, &v);

	bits = (unsigned int)v.drop << FAULT_DROP | (unsigned int)v.corrupted << FAULT_CORRUPT |
	       (unsigned int)!!v.duplicates << FAULT_DUPLICATE |
	       (unsigned int)!!v.delay_ps << FAULT_DELAY | (unsigned int)!!v.hold << FAULT_REORDER;
	assert_int_equal(!!bits, !!fired);
	assert_int_equal(!!bits, !!v.text);
	return bits;
}

#define PACKET(...) ((struct packet){__VA_ARGS__})
#define DROPPED     (1u << FAULT_DROP)

static int add(struct fault_plan *plan, struct fault_rule rule)
{
	return fault_plan_add(plan, &rule);
}

#define ADD(plan, ...) add(plan, (struct fault_rule){__VA_ARGS__})

static void no_rules(void **state)
{
	struct fault_plan plan;

	fault_plan_init(&plan, 1);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY)), 0);
	assert_int_equal(fault_plan_unused(&plan, NULL), 0);
	fault_plan_free(&plan);
}

static void each_field(void **state)
{
	static const unsigned int fields[] = {FAULT_MATCH_HCA, FAULT_MATCH_PORT, FAULT_MATCH_OPCODE,
					      FAULT_MATCH_QPN, FAULT_MATCH_PSN};
	struct packet good = {
		.hca = 1, .port = 2, .opcode = RC_SEND_ONLY, .qpn = 0xabcdef, .psn = 0xfffffe};
	struct packet bad[] = {good, good, good, good, good};
	struct fault_plan plan;
	unsigned int i, lnh;

	bad[0].hca = 0;
	bad[1].port = 1;
	bad[2].opcode = RC_SEND_ONLY | 0xa0; /* XRC */
	bad[3].qpn = 0xabcdee;
	bad[4].psn = 0x7ffffe;
	for (i = 0; i < 5; i++) {
		fault_plan_init(&plan, 1);
		assert_int_equal(ADD(&plan, .match = fields[i], .hca = 1, .port = 2,
				     .opcode = RC_SEND_ONLY, .qpn = 0xabcdef, .psn = 0xfffffe),
				 0);
		for (lnh = 2; lnh <= 3; lnh++) {
			good.lnh = bad[i].lnh = lnh;
			assert_int_equal(actions(&plan, good), DROPPED);
			assert_int_equal(actions(&plan, bad[i]), 0);
		}
		assert_int_equal(plan.entries[0].fired, 2);
		assert_int_equal(plan.fired[FAULT_DROP], 2);
		fault_plan_free(&plan);
	}
}

static void packets_without_bth(void **state)
{
	struct fault_plan plan;
	size_t len;

	fault_plan_init(&plan, 1);
	ADD(&plan, .match = FAULT_MATCH_OPCODE, .opcode = 0);
	ADD(&plan, .match = FAULT_MATCH_HCA, .action = FAULT_DELAY, .delay_ps = 5);
	assert_int_equal(actions(&plan, PACKET(.lnh = 1)), 1 << FAULT_DELAY);
	for (len = 1; len < 60; len++) {
		assert_int_equal(actions(&plan, PACKET(.lnh = 3, .len = len)), 1 << FAULT_DELAY);
		assert_int_equal(actions(&plan, PACKET(.len = len)),
				 1 << FAULT_DELAY | (len >= 20 ? DROPPED : 0));
	}
	fault_plan_free(&plan);
}

static void transmissions(void **state)
{
	struct packet p = PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x48, .psn = 0);
	struct fault_plan plan;
	unsigned int i;

	fault_plan_init(&plan, 1);
	ADD(&plan, .match = FAULT_MATCH_TRANSMISSION, .transmission = 2);
	assert_int_equal(actions(&plan, p), 0);
	/* First transmissions of other packets: other PSN, QPN, device, port or direction. */
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x48, .psn = 1)), 0);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x49)), 0);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x48, .hca = 1)), 0);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x48, .port = 2)), 0);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_ACKNOWLEDGE, .qpn = 0x48)), 0);
	assert_int_equal(actions(&plan, p), DROPPED);
	assert_int_equal(actions(&plan, p), 0);
	/* many packets, so that the table grows several times */
	for (i = 100; i < 5100; i++)
		assert_int_equal(actions(&plan, PACKET(.qpn = i * 0x1357 & 0xffffff, .psn = i)), 0);
	for (i = 100; i < 5100; i++)
		assert_int_equal(actions(&plan, PACKET(.qpn = i * 0x1357 & 0xffffff, .psn = i)),
				 DROPPED);
	fault_plan_free(&plan);
}

static void nth_and_limit(void **state)
{
	struct fault_plan plan;
	unsigned int i;

	fault_plan_init(&plan, 1);
	ADD(&plan, .match = FAULT_MATCH_OPCODE | FAULT_MATCH_NTH, .opcode = RC_SEND_ONLY, .nth = 3);
	ADD(&plan, .match = FAULT_MATCH_OPCODE, .opcode = RC_SEND_ONLY, .limit = 2,
	    .action = FAULT_DELAY, .delay_ps = 9);
	for (i = 1; i <= 5; i++) {
		assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .psn = i)),
				 (i == 3 ? DROPPED : 0) | (i <= 2 ? 1 << FAULT_DELAY : 0));
		assert_int_equal(actions(&plan, PACKET(.opcode = RC_ACKNOWLEDGE)), 0);
	}
	fault_plan_free(&plan);
}

static void verdicts_add_up(void **state)
{
	struct fault_verdict v;
	struct fault_plan plan;

	fault_plan_init(&plan, 1);
	assert_int_equal(ADD(&plan, .action = FAULT_DELAY, .delay_ps = 5), 0);
	assert_int_equal(ADD(&plan, .name = "a", .action = FAULT_DELAY, .delay_ps = 7), 1);
	ADD(&plan, .name = "b", .action = FAULT_DUPLICATE, .copies = 2, .gap_ps = 100);
	ADD(&plan, .action = FAULT_DUPLICATE, .copies = 1, .gap_ps = 50);
	assert_int_equal(apply(&plan, PACKET(.opcode = RC_SEND_ONLY), &v), 4);
	assert_string_equal(v.text, "delay");
	ADD(&plan, .action = FAULT_REORDER, .behind = 3);
	ADD(&plan, .action = FAULT_REORDER, .behind = 2);
	assert_int_equal(apply(&plan, PACKET(.opcode = RC_SEND_ONLY), &v), 6);
	assert_string_equal(v.text, "reorder");
	assert_string_equal(v.rule, "a");
	assert_false(v.drop);
	assert_false(v.corrupted);
	assert_int_equal(v.delay_ps, 12);
	assert_int_equal(v.duplicates, 3);
	assert_int_equal(v.duplicate_gap_ps, 100);
	assert_int_equal(v.hold, 3);
	ADD(&plan, .action = FAULT_DROP);
	assert_int_equal(apply(&plan, PACKET(.opcode = RC_SEND_ONLY), &v), 7);
	assert_true(v.drop);
	assert_string_equal(v.text, "drop");
	assert_memory_equal(sent, received, sizeof(sent));
	assert_int_equal(plan.fired[FAULT_DELAY], 6);
	fault_plan_free(&plan);
}

/* Corrupts byte 24 with that fix. Returns the result of crc_check(). */
static unsigned int corrupted(enum fault_fix fix, unsigned int lnh)
{
	struct fault_verdict v;
	struct fault_plan plan;

	fault_plan_init(&plan, 1);
	ADD(&plan, .action = FAULT_CORRUPT, .offset = 24, .mask = 0x81, .fix = fix);
	assert_int_equal(apply(&plan, PACKET(.opcode = RC_SEND_ONLY, .lnh = lnh), &v), 1);
	assert_true(v.corrupted);
	assert_string_equal(v.text, "corrupt");
	assert_int_equal(sent[24] ^ received[24], 0x81);
	assert_memory_equal(sent, received, 24);
	assert_memory_equal(sent + 25, received + 25, PACKET_BYTES - 6 - 25);
	assert_int_equal(crc_check(sent, PACKET_BYTES), 0);
	fault_plan_free(&plan);
	return crc_check(received, PACKET_BYTES);
}

static void corrupted_and_fixed(void **state)
{
	unsigned int lnh;

	for (lnh = 2; lnh <= 3; lnh++) {
		assert_int_equal(corrupted(FAULT_FIX_NONE, lnh), CRC_BAD_ICRC | CRC_BAD_VCRC);
		assert_int_equal(corrupted(FAULT_FIX_VCRC, lnh), CRC_BAD_ICRC);
		assert_int_equal(corrupted(FAULT_FIX_BOTH, lnh), 0);
	}
	assert_int_equal(corrupted(FAULT_FIX_NONE, 1), CRC_BAD_VCRC);
	assert_int_equal(corrupted(FAULT_FIX_VCRC, 1), 0);
	assert_int_equal(corrupted(FAULT_FIX_BOTH, 1), 0);
}

static void corrupted_twice(void **state)
{
	struct fault_verdict v;
	struct fault_plan plan;

	fault_plan_init(&plan, 1);
	ADD(&plan, .action = FAULT_CORRUPT, .offset = 20, .mask = 1, .fix = FAULT_FIX_BOTH);
	ADD(&plan, .action = FAULT_CORRUPT, .offset = 21, .mask = 2, .fix = FAULT_FIX_VCRC);
	/* outside of the packet, or in bytes that the fix makes again: these rules cannot fire */
	ADD(&plan, .action = FAULT_CORRUPT, .offset = PACKET_BYTES, .mask = 1);
	ADD(&plan, .action = FAULT_CORRUPT, .offset = PACKET_BYTES - 2, .mask = 1,
	    .fix = FAULT_FIX_VCRC);
	ADD(&plan, .action = FAULT_CORRUPT, .offset = PACKET_BYTES - 6, .mask = 1,
	    .fix = FAULT_FIX_BOTH);
	assert_int_equal(apply(&plan, PACKET(.opcode = RC_SEND_ONLY), &v), 2);
	assert_int_equal(sent[20] ^ received[20], 1);
	assert_int_equal(sent[21] ^ received[21], 2);
	assert_int_equal(crc_check(received, PACKET_BYTES), CRC_BAD_ICRC);
	fault_plan_free(&plan);
}

/* One rule changes fields that another rule matches. The other rule must still see the packet as it
 * was sent. */
static void rules_see_what_was_sent(void **state)
{
	struct fault_plan plan;

	fault_plan_init(&plan, 1);
	ADD(&plan, .action = FAULT_CORRUPT, .offset = 8, .mask = 0xff);
	ADD(&plan, .match = FAULT_MATCH_OPCODE, .opcode = RC_SEND_ONLY);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY)),
			 DROPPED | 1 << FAULT_CORRUPT);
	fault_plan_free(&plan);
}

static void random_bits(void **state)
{
	unsigned int seen[PACKET_BYTES] = {0}, i, j, bits, missed = 0;
	struct fault_plan plan, again;
	struct fault_verdict v;
	uint8_t first[PACKET_BYTES];

	fault_plan_init(&plan, 5);
	fault_plan_init(&again, 5);
	ADD(&plan, .action = FAULT_CORRUPT);
	ADD(&again, .action = FAULT_CORRUPT);
	for (i = 0; i < 2000; i++) {
		apply(&plan, PACKET(.opcode = RC_SEND_ONLY), &v);
		memcpy(first, received, sizeof(first));
		apply(&again, PACKET(.opcode = RC_SEND_ONLY), &v);
		assert_memory_equal(first, received, sizeof(first));
		for (bits = 0, j = 0; j < PACKET_BYTES; j++) {
			bits += __builtin_popcount(sent[j] ^ received[j]);
			seen[j] |= sent[j] ^ received[j];
		}
		assert_int_equal(bits, 1);
	}
	for (j = 0; j < PACKET_BYTES; j++)
		missed += 8 - __builtin_popcount(seen[j]);
	assert_in_range(missed, 0, 40); /* 528 bits, 2000 draws: 12 misses are expected */
	fault_plan_free(&plan);
	fault_plan_free(&again);
}

static void chance(void **state)
{
	struct fault_plan plan;
	unsigned int i;

	fault_plan_init(&plan, 1);
	ADD(&plan, .chance_ppm = 100000);
	for (i = 0; i < 10000; i++)
		actions(&plan, PACKET(.psn = i));
	assert_in_range(plan.fired[FAULT_DROP], 850, 1150);
	fault_plan_free(&plan);
}

static void unused(void **state)
{
	static const char want[] =
		"fault rule 1 (lose the ACK, drop) never fired: 1 packets had its fields, 0 were "
		"of its transmission\n"
		"fault rule 2 (no name, reorder) never fired: 0 packets had its fields, 0 were of "
		"its transmission\n";
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct fault_plan plan;

	fault_plan_init(&plan, 1);
	ADD(&plan, .action = FAULT_DELAY, .delay_ps = 1);
	ADD(&plan, .name = "lose the ACK", .match = FAULT_MATCH_TRANSMISSION, .transmission = 2);
	ADD(&plan, .match = FAULT_MATCH_PSN, .psn = 9, .action = FAULT_REORDER, .behind = 1);
	actions(&plan, PACKET(.opcode = RC_ACKNOWLEDGE));
	assert_int_equal(fault_plan_unused(&plan, out), 2);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
	fault_plan_free(&plan);
}

static void impossible_rules(void **state)
{
	struct fault_plan plan;

	fault_plan_init(&plan, 1);
	assert_int_equal(ADD(&plan, .match = 1 << 20), -EINVAL);
	assert_int_equal(ADD(&plan, .match = FAULT_MATCH_NTH), -EINVAL);
	assert_int_equal(ADD(&plan, .match = FAULT_MATCH_TRANSMISSION), -EINVAL);
	assert_int_equal(ADD(&plan, .match = FAULT_MATCH_QPN, .qpn = 1 << 24), -EINVAL);
	assert_int_equal(ADD(&plan, .match = FAULT_MATCH_PSN, .psn = 1 << 24), -EINVAL);
	assert_int_equal(ADD(&plan, .chance_ppm = 1000001), -EINVAL);
	assert_int_equal(ADD(&plan, .action = FAULT_DUPLICATE), -EINVAL);
	assert_int_equal(ADD(&plan, .action = FAULT_DELAY), -EINVAL);
	assert_int_equal(ADD(&plan, .action = FAULT_REORDER), -EINVAL);
	assert_int_equal(ADD(&plan, .action = FAULT_CORRUPT, .fix = 3), -EINVAL);
	assert_int_equal(ADD(&plan, .action = FAULT_ACTION_COUNT), -EINVAL);
	assert_int_equal(plan.count, 0);
	fault_plan_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_rules),
		cmocka_unit_test(each_field),
		cmocka_unit_test(packets_without_bth),
		cmocka_unit_test(transmissions),
		cmocka_unit_test(nth_and_limit),
		cmocka_unit_test(verdicts_add_up),
		cmocka_unit_test(corrupted_and_fixed),
		cmocka_unit_test(corrupted_twice),
		cmocka_unit_test(rules_see_what_was_sent),
		cmocka_unit_test(random_bits),
		cmocka_unit_test(chance),
		cmocka_unit_test(unused),
		cmocka_unit_test(impossible_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
