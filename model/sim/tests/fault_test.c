#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/sim/fault.h"

enum {
	RC_SEND_ONLY = 0x04,
	RC_ACKNOWLEDGE = 0x11,
	PACKET_BYTES = 8 + 40 + 12 + 6,
};

struct packet {
	unsigned int hca, port;
	unsigned int lnh; /* 0: 2 */
	uint8_t opcode;
	uint32_t qpn, psn;
	size_t len; /* 0: whole */
};

static void apply(struct fault_plan *plan, struct packet p, struct fault_verdict *verdict)
{
	uint8_t wire[PACKET_BYTES] = {0}, *bth = wire + (p.lnh == 3 ? 48 : 8);
	size_t len = p.len ? p.len : sizeof(wire);
	uint8_t *copy = malloc(len); /* a read past its end is seen by the sanitizer */
	struct fault_key key = {p.hca, p.port, copy, len};

	wire[1] = 0xf0 | (p.lnh ? p.lnh : 2);
	bth[0] = p.opcode;
	bth[4] = bth[8] = 0xff; /* beside QPN and PSN */
	bth[5] = p.qpn >> 16, bth[6] = p.qpn >> 8, bth[7] = p.qpn;
	bth[9] = p.psn >> 16, bth[10] = p.psn >> 8, bth[11] = p.psn;
	memcpy(copy, wire, len);
	memset(verdict, 0xa5, sizeof(*verdict));
	assert_int_equal(fault_plan_apply(plan, &key, verdict), 0);
	free(copy);
}

static unsigned int actions(struct fault_plan *plan, struct packet p)
{
	struct fault_verdict verdict;

	apply(plan, p, &verdict);
	return verdict.actions;
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
	/* Not the same transmission: other PSN, QPN, device, port, direction of the exchange. */
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x48, .psn = 1)), 0);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x49)), 0);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x48, .hca = 1)), 0);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_SEND_ONLY, .qpn = 0x48, .port = 2)), 0);
	assert_int_equal(actions(&plan, PACKET(.opcode = RC_ACKNOWLEDGE, .qpn = 0x48)), 0);
	assert_int_equal(actions(&plan, p), DROPPED);
	assert_int_equal(actions(&plan, p), 0);
	/* Many of them, through every growth of the table. */
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
	uint8_t wire[PACKET_BYTES] = {0};

	fault_plan_init(&plan, 1);
	assert_int_equal(ADD(&plan, .name = "first", .action = FAULT_DELAY, .delay_ps = 5), 0);
	assert_int_equal(ADD(&plan, .name = "second", .action = FAULT_DELAY, .delay_ps = 7), 1);
	ADD(&plan, .action = FAULT_DUPLICATE, .copies = 2, .gap_ps = 100);
	ADD(&plan, .action = FAULT_DUPLICATE, .copies = 1, .gap_ps = 50);
	ADD(&plan, .action = FAULT_REORDER, .behind = 3, .hold_ps = 40);
	ADD(&plan, .action = FAULT_REORDER, .behind = 2, .hold_ps = 90);
	ADD(&plan, .action = FAULT_CORRUPT, .offset = 20, .mask = 0x81,
	    .fix = FAULT_FIX_VCRC | FAULT_FIX_ICRC);
	ADD(&plan, .action = FAULT_CORRUPT, .offset = PACKET_BYTES - 1, .mask = 1,
	    .fix = FAULT_FIX_VCRC);
	assert_int_equal(ADD(&plan, .action = FAULT_CORRUPT, .offset = PACKET_BYTES, .mask = 1), 8);
	apply(&plan, PACKET(.opcode = RC_SEND_ONLY), &v);
	assert_int_equal(v.actions, 1 << FAULT_DELAY | 1 << FAULT_DUPLICATE | 1 << FAULT_REORDER |
					    1 << FAULT_CORRUPT);
	assert_string_equal(v.name, "first");
	assert_int_equal(v.delay_ps, 12);
	assert_int_equal(v.copies, 3);
	assert_int_equal(v.gap_ps, 100);
	assert_int_equal(v.behind, 3);
	assert_int_equal(v.hold_ps, 40);
	assert_int_equal(v.fix, FAULT_FIX_VCRC);
	assert_int_equal(v.flips, 2);
	fault_verdict_flip(&v, wire, sizeof(wire));
	assert_int_equal(wire[20], 0x81);
	assert_int_equal(wire[PACKET_BYTES - 1], 1);
	assert_int_equal(plan.fired[FAULT_CORRUPT], 2);
	fault_plan_free(&plan);
}

static void random_bits(void **state)
{
	unsigned int seen[PACKET_BYTES] = {0}, i, j, bits, missed = 0;
	struct fault_verdict v;
	struct fault_plan plan, again;
	uint8_t wire[PACKET_BYTES], other[PACKET_BYTES];

	fault_plan_init(&plan, 5);
	fault_plan_init(&again, 5);
	ADD(&plan, .action = FAULT_CORRUPT);
	ADD(&again, .action = FAULT_CORRUPT);
	for (i = 0; i < 2000; i++) {
		memset(wire, 0, sizeof(wire));
		memset(other, 0, sizeof(other));
		apply(&plan, PACKET(.opcode = RC_SEND_ONLY), &v);
		fault_verdict_flip(&v, wire, sizeof(wire));
		apply(&again, PACKET(.opcode = RC_SEND_ONLY), &v);
		fault_verdict_flip(&v, other, sizeof(other));
		assert_memory_equal(wire, other, sizeof(wire));
		for (bits = 0, j = 0; j < sizeof(wire); j++) {
			bits += __builtin_popcount(wire[j]);
			seen[j] |= wire[j];
		}
		assert_int_equal(bits, 1);
	}
	for (j = 0; j < sizeof(wire); j++)
		missed += 8 - __builtin_popcount(seen[j]);
	assert_in_range(missed, 0, 40); /* 528 bits, 2000 draws: 12 expected */
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
	assert_int_equal(ADD(&plan, .action = FAULT_CORRUPT, .fix = 4), -EINVAL);
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
		cmocka_unit_test(random_bits),
		cmocka_unit_test(chance),
		cmocka_unit_test(unused),
		cmocka_unit_test(impossible_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
