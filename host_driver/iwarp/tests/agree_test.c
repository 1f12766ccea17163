/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two ends agree upon: kinds, CRCs, markers, revisions, depths, private data. row_N_...: row N
 * of the table in the README.
 */
#include "host_driver/iwarp/tests/iw_case.h"

/* --- 1: kinds, CRC, markers, client first --- */

static void row_1_kinds_crc_markers(void **state)
{
	static const uint8_t kinds[] = {MPA_RTR_WRITE, MPA_RTR_READ, MPA_RTR_SEND, 0};

	for (unsigned i = 0; i < 4 * 4 * 4 * 3; i++) {
		const uint8_t kind = kinds[i % 4];
		const unsigned crc = i / 4 % 4, markers = i / 16 % 4;

		rig.fake.piece = (const size_t[]){0, 1, 7}[i / 64];
		rig.opt[0].kinds = kind ? kind : MPA_RTR_ALL;
		rig.opt[0].design = kind ? IW_RTR_MESSAGE : IW_CLIENT_FIRST;
		rig.opt[0].crc = crc & 1;
		rig.opt[1].crc = crc >> 1;
		rig.opt[0].markers = markers & 1;
		rig.opt[1].markers = markers >> 1;
		rig_connect(&rig, NULL, 0);
		assert_connected();
		assert_int_equal(query(&rig.initiator).agreed.crc, crc != 0);
		assert_int_equal(query(&rig.responder).agreed.crc, crc != 0);
		assert_int_equal(query(&rig.responder).agreed.tx_markers, markers & 1);
		assert_int_equal(query(&rig.responder).agreed.rx_markers, markers >> 1);
		/* client first: the responder may not send before it has got something */
		assert_int_equal(query(&rig.responder).state, kind ? IW_FPDU : IW_WAIT_FPDU);
		assert_int_equal(query(&rig.responder).fence_open, kind != 0);
		assert_int_equal(query(&rig.initiator).reads_out, 0);
		/* a SEND takes a receive and completes with no data */
		assert_int_equal(rig.responder.receives, kind == MPA_RTR_SEND);
		assert_talks();
		assert_closes();
		again();
	}
}

/* A SEND that says ready may be eaten: it takes no receive, but its message number is used. */
static void row_1_send_is_eaten(void **state)
{
	rig.opt[0].kinds = MPA_RTR_SEND;
	rig.opt[1].send_takes_receive = 0;
	rig.post_receives = 1;
	rig_connect(&rig, NULL, 0);
	assert_int_equal(rig.responder.receives, 0);
	assert_talks();
}

/* Without a receive the SEND has no place. */
static void row_1_send_without_receive(void **state)
{
	rig.opt[0].kinds = MPA_RTR_SEND;
	rig.post_receives = 0;
	rig_connect(&rig, NULL, 0);
	assert_term(&rig.responder, IW_TERM_UNTAGGED_NO_BUFFER);
	assert_int_equal(rig.initiator.flushed, 4);
}

/* A peer without markers is one that rejects whoever wants them. */
static void row_1_markers_refused(void **state)
{
	rig.opt[0].markers = 1;
	rig.opt[1].can_markers = 0;
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ECONNREFUSED);
	assert_int_equal(rig.responder.n_events, 0);
	again();
	rig.opt[1].markers = 1;
	rig.opt[0].can_markers = 0;
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -EPROTO);
}

/* --- 2: revisions --- */

static void row_2_revisions(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		const unsigned mine = 1 + (i & 1), its = 1 + (i >> 1);

		rig.opt[0].rev = mine;
		rig.opt[0].design = mine == 2 ? IW_RTR_MESSAGE : IW_CLIENT_FIRST;
		rig.opt[1].rev = its;
		rig_connect(&rig, (const uint8_t *)"hello", 5);
		assert_connected();
		assert_int_equal(query(&rig.initiator).agreed.rev, mine == 2 && its == 2 ? 2 : 1);
		assert_int_equal(rig.responder.pdata_len, 5);
		assert_talks();
		assert_closes();
		again();
	}
}

/* --- 3: kinds that do not match --- */

static void row_3_no_common_kind(void **state)
{
	rig.opt[0].kinds = MPA_RTR_SEND;
	rig.opt[1].kinds = MPA_RTR_WRITE;
	rig_connect(&rig, NULL, 0);
	assert_term(&rig.initiator, IW_TERM_MPA_RTR);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -EPROTO);
	assert_null(rig_find(&rig.responder, IW_EVENT_ESTABLISHED));
	assert_event(&rig.responder, IW_EVENT_CLOSE, 0);
}

/* Only READ is offered and the Reply names WRITE too: READ is sent. */
static void row_3_reply_names_more(void **state)
{
	rig.opt[0].kinds = MPA_RTR_READ;
	rig.opt[1].breaks = IW_BREAKS_BIT(reply_write_too);
	rig_connect(&rig, NULL, 0);
	assert_connected();
	assert_int_equal(query(&rig.initiator).agreed.kinds, MPA_RTR_READ);
	assert_talks();
}

/* --- 4: depths --- */

static void row_4_depths(void **state)
{
	static const uint16_t depths[] = {0, 1, 2, 16, MPA_UNKNOWN_DEPTH};
	enum { N = sizeof(depths) / sizeof(depths[0]) };

	for (unsigned i = 0; i < N * N * N * N; i++) {
		const uint16_t ird = depths[i % N], ord = depths[i / N % N];
		const uint16_t its_ird = depths[i / N / N % N], its_ord = depths[i / N / N / N];
		struct iw_query a, b;

		rig.opt[0].ird = ird;
		rig.opt[0].ord = ord;
		rig.opt[1].ird = its_ird;
		rig.opt[1].ord = its_ord;
		rig.opt[0].kinds = MPA_RTR_WRITE;
		rig_connect(&rig, NULL, 0);
		assert_connected();
		a = query(&rig.initiator);
		b = query(&rig.responder);
		if (ird != MPA_UNKNOWN_DEPTH && its_ord != MPA_UNKNOWN_DEPTH) {
			assert_int_equal(b.agreed.ord, ird < its_ord ? ird : its_ord);
			assert_int_equal(a.agreed.ird, b.agreed.ord);
		}
		if (ird == MPA_UNKNOWN_DEPTH) {
			assert_int_equal(a.agreed.ird, ird);
			assert_int_equal(b.agreed.ord, its_ord);
		}
		if (ord != MPA_UNKNOWN_DEPTH && its_ird != MPA_UNKNOWN_DEPTH) {
			assert_int_equal(b.agreed.ird, ord < its_ird ? ord : its_ird);
			assert_int_equal(a.agreed.ord, b.agreed.ird);
		}
		again();
	}
}

/* A READ that says ready: the responder raises its IRD of 0 to 1, or cannot. */
static void row_4_read_needs_depth(void **state)
{
	rig.opt[0].kinds = MPA_RTR_READ;
	rig.opt[1].ird = 0;
	rig_connect(&rig, NULL, 0);
	assert_connected();
	assert_int_equal(query(&rig.responder).agreed.ird, 1);
	assert_talks();
	again();
	rig.opt[0].kinds = MPA_RTR_READ;
	rig.opt[0].ord = 0;
	rig_connect(&rig, NULL, 0);
	assert_connected();
	assert_int_equal(query(&rig.initiator).agreed.ord, 1);
	again();
	rig.opt[0].kinds = MPA_RTR_READ;
	rig.opt[1].ird = rig.opt[1].ird_max = 0;
	rig_connect(&rig, NULL, 0);
	assert_term(&rig.initiator, IW_TERM_MPA_IRD);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -EPROTO);
}

/* A responder whose ORD is above what the initiator can be raised to. */
static void row_4_ord_too_high(void **state)
{
	rig.opt[1].breaks = IW_BREAKS_BIT(reply_ord);
	rig_connect(&rig, NULL, 0);
	assert_term(&rig.initiator, IW_TERM_MPA_IRD);
}

/* --- 8: fallback --- */

static void row_8_fallback(void **state)
{
	rig.opt[1].rev = 1;
	rig_connect(&rig, NULL, 0);
	assert_connected();
	assert_int_equal(query(&rig.initiator).agreed.rev, 1);
	assert_int_equal(rig.fake.n_streams, 4);
	again();
	/* none after a reject */
	rig.opt[1].rev = 1;
	rig.reject = true;
	rig.opt[0].rev = 1;
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ECONNREFUSED);
	assert_int_equal(rig.fake.n_streams, 2);
	again();
	rig.reject = true;
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ECONNREFUSED);
	assert_int_equal(rig.fake.n_streams, 2);
	again();
	/* none twice: revision 1 is dropped too */
	rig.opt[0].breaks = IW_BREAKS_BIT(key_bit);
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ECONNRESET);
	assert_int_equal(rig.fake.n_streams, 4);
	again();
	rig.opt[0].fallback = 0;
	rig.opt[1].rev = 1;
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ECONNRESET);
	assert_int_equal(rig.fake.n_streams, 2);
}

/* --- 9: private data --- */

static void row_9_private_data(void **state)
{
	uint8_t mine[MPA_PDATA_MAX + 1], its[MPA_PDATA_MAX + 1];

	memset(mine, 0x11, sizeof(mine));
	memset(its, 0x22, sizeof(its));
	rig.answer = its;
	rig.answer_len = 508;
	rig_connect(&rig, mine, 508);
	assert_connected();
	assert_int_equal(rig.responder.pdata_len, 508);
	assert_memory_equal(rig.responder.pdata, mine, 508);
	assert_int_equal(rig.initiator.pdata_len, 508);
	assert_memory_equal(rig.initiator.pdata, its, 508);
	again();
	/* a rejection has no enhanced data */
	rig.reject = true;
	rig.answer = its;
	rig.answer_len = 512;
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ECONNREFUSED);
	assert_int_equal(rig.initiator.pdata_len, 512);
	assert_memory_equal(rig.initiator.pdata, its, 512);
	again();
	assert_int_equal(iw_connect(&rig.initiator.host, (struct iw_address){0}, NULL, &rig_user,
				    &rig.initiator, mine, 509, &rig.initiator.id),
			 -EINVAL);
	rig.no_answer = true;
	rig_connect(&rig, NULL, 0);
	assert_int_equal(iw_accept(rig.responder.id, its, 509), -EINVAL);
	assert_int_equal(iw_accept(rig.responder.id, its, 508), 0);
	assert_int_equal(iw_accept(rig.responder.id, its, 508), -EINVAL);
}

/* --- 10: what went wrong between cards --- */

static void row_10_reply_without_a(void **state)
{
	rig.opt[1].breaks = IW_BREAKS_BIT(reply_without_a);
	rig_connect(&rig, NULL, 0);
	assert_term(&rig.initiator, IW_TERM_MPA_RTR);
	again();
	rig.opt[1].breaks = IW_BREAKS_BIT(reply_no_kind);
	rig_connect(&rig, NULL, 0);
	assert_term(&rig.initiator, IW_TERM_MPA_RTR);
}

/* A WRITE where a READ was agreed. */
static void row_10_write_for_read(void **state)
{
	rig.opt[0].kinds = MPA_RTR_READ;
	rig.opt[0].breaks = IW_BREAKS_BIT(rtr_other_kind);
	rig_connect(&rig, NULL, 0);
	assert_term(&rig.responder, IW_TERM_MPA_RTR);
}

/* The STag of a message without data must not be checked; the default is not 0, which a card
 * refuses. */
static void row_10_stag(void **state)
{
	static const uint32_t stags[] = {0, 1, 0x7fffffff};

	assert_int_equal(iw_options_default.stag, 1);
	for (unsigned i = 0; i < 6; i++) {
		rig.opt[0].kinds = i & 1 ? MPA_RTR_READ : MPA_RTR_WRITE;
		rig.opt[0].stag = stags[i / 2];
		rig_connect(&rig, NULL, 0);
		assert_talks();
		again();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(row_1_kinds_crc_markers),
		TEST(row_1_send_is_eaten),
		TEST(row_1_send_without_receive),
		TEST(row_1_markers_refused),
		TEST(row_2_revisions),
		TEST(row_3_no_common_kind),
		TEST(row_3_reply_names_more),
		TEST(row_4_depths),
		TEST(row_4_read_needs_depth),
		TEST(row_4_ord_too_high),
		TEST(row_8_fallback),
		TEST(row_9_private_data),
		TEST(row_10_reply_without_a),
		TEST(row_10_write_for_read),
		TEST(row_10_stag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
