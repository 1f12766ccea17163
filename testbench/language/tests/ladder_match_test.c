/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/language/ladder_match.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* An RC ACK, and an RC SEND Only of 1 byte with 3 pad bytes, written by hand from IBA 7.7, 9.2 and
 * 9.3. */
static const uint8_t ack[] = {
	0x00, 0x02, 0x00, 0x02, 0x00, 0x06, 0x00, 0x01, /* LRH: LNH 2, DLID 2, SLID 1 */
	0x11, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x41, 0x00, 0xff, 0xff, 0xfe, /* BTH */
	0x1f, 0x00, 0x00, 0x05, /* AETH: ACK, credits 31, MSN 5 */
	0,    0,    0,    0,    0,    0};
static const uint8_t send_one[] = {0x00, 0x02, 0x00, 0x01, 0x00, 0x07, 0x00, 0x02, 0x04, 0xb0,
				   0xff, 0xff, 0x00, 0x00, 0x00, 0x40, 0x80, 0x00, 0x00, 0x07,
				   0xaa, 0,    0,    0,    0,    0,    0,    0,    0,    0};

static void parses_an_ack(void **state)
{
	struct seen_pkt p;

	assert_int_equal(seen_pkt_parse(&p, ack, sizeof(ack), 77, 1, NULL), 0);
	assert_int_equal(p.opcode, BTH_RC_ACKNOWLEDGE);
	assert_int_equal(p.time_ps, 77);
	assert_int_equal(p.fields.psn, 0xfffffe);
	assert_int_equal(p.fields.qpn, 0x41);
	assert_int_equal(p.fields.msn, 5);
	assert_int_equal(p.fields.ack_credits, 31);
	assert_int_equal(p.fields.nak, TB_ANY);
	assert_int_equal(p.fields.rnr, TB_ANY);
	assert_int_equal(p.fields.va, TB_ANY);
	assert_int_equal(p.fields.dlid, 2);
	assert_int_equal(p.fields.slid, 1);
	assert_false(p.lost);
}

static void payload_is_without_pad(void **state)
{
	struct seen_pkt p;

	assert_int_equal(seen_pkt_parse(&p, send_one, sizeof(send_one), 0, 2, NULL), 0);
	assert_int_equal(p.fields.len, 1);
	assert_int_equal(p.fields.solicited, 1);
	assert_int_equal(p.fields.ack_req, 1);
	assert_int_equal(p.fields.transmission, 2);
}

static void bits_of_nobody_are_seen(void **state)
{
	static const struct {
		unsigned at;
		uint8_t bits;
		bool dirty;
	} rows[] = {{1, 0x04, true},  {4, 0x08, true},  {12, 0x20, true}, {12, 0x80, false},
		    {16, 0x01, true}, {21, 0x01, true}, {23, 0x80, true}, {20, 0x01, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t wire[sizeof(send_one)];
		struct seen_pkt p;

		memcpy(wire, send_one, sizeof(wire));
		assert_int_equal(seen_pkt_parse(&p, wire, sizeof(wire), 0, 1, NULL), 0);
		assert_false(p.dirty);
		wire[rows[i].at] |= rows[i].bits;
		assert_int_equal(seen_pkt_parse(&p, wire, sizeof(wire), 0, 1, NULL), 0);
		assert_int_equal(p.dirty, rows[i].dirty);
	}
}

static void kinds_of_aeth(void **state)
{
	uint8_t wire[sizeof(ack)];
	struct seen_pkt p;

	memcpy(wire, ack, sizeof(ack));
	wire[20] = 0x20 | 12;
	assert_int_equal(seen_pkt_parse(&p, wire, sizeof(wire), 0, 1, NULL), 0);
	assert_int_equal(p.fields.rnr, 12);
	assert_int_equal(p.fields.ack_credits, TB_ANY);
	wire[20] = 0x60 | 2;
	assert_int_equal(seen_pkt_parse(&p, wire, sizeof(wire), 0, 1, NULL), 0);
	assert_int_equal(p.fields.nak, 2);
}

static void short_and_unknown_packets_are_refused(void **state)
{
	uint8_t wire[sizeof(ack)];
	struct seen_pkt p;

	for (size_t len = 0; len < sizeof(ack); len++)
		assert_int_equal(seen_pkt_parse(&p, ack, len, 0, 1, NULL), -EINVAL);
	memcpy(wire, ack, sizeof(ack));
	wire[8] = 0x1f;
	assert_int_equal(seen_pkt_parse(&p, wire, sizeof(wire), 0, 1, NULL), -EINVAL);
	memcpy(wire, ack, sizeof(ack));
	wire[1] = 0x00;
	assert_int_equal(seen_pkt_parse(&p, wire, sizeof(wire), 0, 1, NULL), -EINVAL);
}

static void compares_what_is_named(void **state)
{
	static const uint8_t none[DRV_GID_BYTES];
	struct tb_pkt any = {TB_PKT_ANY}, psn = {TB_PKT_ANY, .psn = 5},
		      nak = {TB_PKT_ANY, .nak = 2}, zero = {TB_PKT_ANY, .len = 1},
		      plain = {TB_PKT_ANY, .grh = 0, .vl = 0, .sl = 0, .pad = 0},
		      gid = {TB_PKT_ANY, .dgid = none};
	struct seen_pkt p;
	char diff[128];

	seen_pkt_parse(&p, ack, sizeof(ack), 0, 1, NULL);
	assert_true(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &any, diff, sizeof(diff)));
	assert_false(seen_pkt_matches(&p, BTH_RC_SEND_ONLY, &any, diff, sizeof(diff)));
	assert_string_equal(diff, "rc_acknowledge, expected rc_send_only");
	assert_false(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &psn, diff, sizeof(diff)));
	assert_string_equal(diff, "psn 0xfffffe, expected 0x5");
	assert_false(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &nak, diff, sizeof(diff)));
	assert_string_equal(diff, "no nak, expected 2");
	assert_false(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &zero, diff, sizeof(diff)));
	assert_true(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &plain, diff, sizeof(diff)));
	assert_false(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &gid, diff, sizeof(diff)));
	assert_string_equal(diff, "dgid none, expected 0000:0000:0000:0000:0000:0000:0000:0000");
}

/* The syndromes of a NAK, of an RNR NAK, and the reserved one. */
static void an_ack_is_positive(void **state)
{
	static const uint8_t syndromes[] = {0x60 | 2, 0x20 | 12, 0x40};
	static const char *const diffs[] = {"nak 2, expected a positive ack",
					    "rnr 12, expected a positive ack",
					    "syndrome 0x40, expected a positive ack"};
	const struct tb_pkt ack_of_any = {TB_PKT_ANY, .psn = 0xfffffe},
			    nak = {TB_PKT_ANY, .nak = TB_SOME}, rnr = {TB_PKT_ANY, .rnr = 12};
	struct seen_pkt p;
	uint8_t wire[sizeof(ack)];
	char diff[128];

	memcpy(wire, ack, sizeof(ack));
	for (size_t i = 0; i < sizeof(syndromes); i++) {
		const struct tb_pkt said = {TB_PKT_ANY, .syndrome = syndromes[i]};

		wire[20] = syndromes[i];
		assert_int_equal(seen_pkt_parse(&p, wire, sizeof(wire), 0, 1, NULL), 0);
		assert_false(
			seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &ack_of_any, diff, sizeof(diff)));
		assert_string_equal(diff, diffs[i]);
		assert_true(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &said, diff, sizeof(diff)));
		assert_int_equal(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &nak, diff, sizeof(diff)),
				 i == 0);
		assert_int_equal(seen_pkt_matches(&p, BTH_RC_ACKNOWLEDGE, &rnr, diff, sizeof(diff)),
				 i == 1);
	}
}

static void lost_ones_are_skipped(void **state)
{
	struct seen_queue q = {0};
	struct seen_pkt p;

	seen_pkt_parse(&p, ack, sizeof(ack), 10, 1, "drop");
	assert_true(p.lost);
	seen_queue_left(&q, &p);
	seen_pkt_parse(&p, ack, sizeof(ack), 30, 2, NULL);
	seen_queue_left(&q, &p);
	assert_null(seen_queue_head(&q));
	assert_int_equal(q.last_ps, 10);
	assert_true(seen_queue_arrived(&q, BTH_RC_ACKNOWLEDGE, 0x41, 0xfffffe));
	assert_non_null(seen_queue_head(&q));
	assert_int_equal(seen_queue_head(&q)->time_ps, 30);
	seen_queue_take(&q);
	assert_null(seen_queue_head(&q));
	assert_int_equal(q.last_ps, 30);
	seen_queue_free(&q);
}

static void order_is_that_of_leaving(void **state)
{
	struct seen_queue q = {0};
	struct seen_pkt p;

	seen_pkt_parse(&p, ack, sizeof(ack), 0, 1, NULL);
	for (unsigned i = 0; i < 200; i++) {
		p.fields.psn = i;
		assert_int_equal(seen_queue_left(&q, &p), 0);
	}
	for (unsigned i = 200; i-- > 1;)
		assert_true(seen_queue_arrived(&q, BTH_RC_ACKNOWLEDGE, 0x41, i));
	assert_null(seen_queue_head(&q));
	assert_true(seen_queue_arrived(&q, BTH_RC_ACKNOWLEDGE, 0x41, 0));
	assert_false(seen_queue_arrived(&q, BTH_RC_ACKNOWLEDGE, 0x41, 0));
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(seen_queue_head(&q)->fields.psn, i);
		seen_queue_take(&q);
	}
	seen_queue_free(&q);
}

/* Transmissions of one packet are counted even if many others are sent again in between. */
static void transmissions_are_counted(void **state)
{
	struct seen_queue q = {0};
	struct seen_pkt p;

	for (unsigned i = 0; i < 400; i++) {
		seen_pkt_parse(&p, ack, sizeof(ack), 0, 2, NULL);
		p.fields.psn = i % 200;
		assert_int_equal(seen_queue_left(&q, &p), 0);
		assert_true(seen_queue_arrived(&q, BTH_RC_ACKNOWLEDGE, 0x41, i % 200));
		assert_int_equal(seen_queue_head(&q)->fields.transmission, i < 200 ? 2 : 3);
		seen_queue_take(&q);
	}
	seen_queue_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_an_ack),
		cmocka_unit_test(payload_is_without_pad),
		cmocka_unit_test(bits_of_nobody_are_seen),
		cmocka_unit_test(kinds_of_aeth),
		cmocka_unit_test(short_and_unknown_packets_are_refused),
		cmocka_unit_test(compares_what_is_named),
		cmocka_unit_test(an_ack_is_positive),
		cmocka_unit_test(lost_ones_are_skipped),
		cmocka_unit_test(order_is_that_of_leaving),
		cmocka_unit_test(transmissions_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
