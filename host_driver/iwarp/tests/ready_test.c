/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the initiator says that it is ready, and that the responder waits for it. row_N_...: row N of
 * the table in the README.
 */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/tests/iw_case.h"

enum { GREETING_FPDU = 2 + DDP_UNTAGGED_BYTES + 8 + IW_CRC_BYTES };

/* --- 5: the fence --- */

/*
 * Bytes that say ready, cut in every way, in front of a message or not: before the last of them has
 * come the responder has sent its Reply only, or the response to a READ. What its user has posted
 * follows behind.
 */
static void row_5_no_early_byte(void **state)
{
	static const uint8_t kinds[] = {MPA_RTR_WRITE, MPA_RTR_READ, MPA_RTR_SEND};

	for (unsigned i = 0; i < 3 * 2 * 2; i++) {
		uint8_t bytes[256], frame[MPA_START_BYTES + MPA_PDATA_MAX];
		const bool glued = i / 3 % 2, markers = i / 6;
		size_t n, rtr, reply;

		rig.greet = true;
		rig.opt[0].kinds = kinds[i % 3];
		rig.opt[1].markers = markers;
		/* what a right initiator sends, taken from a connection */
		rig_connect(&rig, NULL, 0);
		rtr = rig.fake.streams[0].n_sent;
		if (glued)
			iw_post_send(rig.initiator.id, 1, (const uint8_t *)"glued", 5);
		n = rig.fake.streams[0].n_sent - (MPA_START_BYTES + MPA_ENHANCED_BYTES);
		rtr -= MPA_START_BYTES + MPA_ENHANCED_BYTES;
		memcpy(frame, rig.fake.streams[0].sent, MPA_START_BYTES + MPA_ENHANCED_BYTES);
		memcpy(bytes, rig.fake.streams[0].sent + MPA_START_BYTES + MPA_ENHANCED_BYTES, n);
		for (size_t cut = 0; cut < n; cut++) {
			again();
			rig.greet = true;
			rig.opt[1].markers = markers;
			raw_connect(&rig);
			raw_send(&rig, frame, MPA_START_BYTES + MPA_ENHANCED_BYTES);
			reply = rig.raw_len;
			assert_int_equal(query(&rig.responder).sends, 1);
			raw_send(&rig, bytes, cut);
			if (cut < rtr) {
				assert_int_equal(rig.raw_len, reply);
				assert_false(query(&rig.responder).fence_open);
				assert_null(rig_find(&rig.responder, IW_EVENT_ESTABLISHED));
			}
			raw_send(&rig, bytes + cut, n - cut);
			assert_event(&rig.responder, IW_EVENT_ESTABLISHED, 0);
			assert_int_equal(rig.responder.sends, 1);
			/* the response to a READ is in front of the greeting */
			if (kinds[i % 3] == MPA_RTR_READ)
				assert_int_equal(rig.raw_got[reply + 3] & 0xf, RDMAP_READ_RESPONSE);
			assert_int_equal(rig.raw_got[rig.raw_len - GREETING_FPDU + 3] & 0xf,
					 RDMAP_SEND);
			assert_int_equal(rig.responder.receives,
					 glued + (kinds[i % 3] == MPA_RTR_SEND));
		}
		again();
	}
}

/* What was posted behind the fence is flushed when the connection goes. */
static void row_5_fence_is_flushed(void **state)
{
	rig.greet = true;
	rig.opt[0].breaks = IW_BREAKS_BIT(no_rtr);
	rig_connect(&rig, NULL, 0);
	fake_pass(&rig.fake, 11 * RIG_SECOND);
	assert_int_equal(rig.responder.sends, 0);
	assert_int_equal(rig.responder.flushed, 3);
	assert_int_equal(rig.initiator.receives, 0);
}

/* A responder that does not wait is found out. */
static void row_5_early_sender(void **state)
{
	rig.greet = true;
	rig.opt[0].design = IW_CLIENT_FIRST;
	rig.opt[1].breaks = IW_BREAKS_BIT(early_send);
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -EPROTO);
	again();
	rig.greet = true;
	rig.opt[0].design = IW_CLIENT_FIRST;
	rig.opt[0].strict = 0;
	rig.opt[1].breaks = IW_BREAKS_BIT(early_send);
	rig_connect(&rig, NULL, 0);
	assert_connected();
	assert_int_equal(rig.initiator.last_len, 8);
}

/* --- 6: wrong messages instead of the agreed one --- */

static void row_6_wrong_rtr(void **state)
{
	static const struct {
		enum iw_break which;
		uint8_t kind;
		enum iw_term term; /* of the strict responder */
	} rows[] = {
		{IW_BREAK_rtr_other_kind, MPA_RTR_WRITE, IW_TERM_MPA_RTR},
		{IW_BREAK_rtr_other_kind, MPA_RTR_READ, IW_TERM_MPA_RTR},
		{IW_BREAK_rtr_other_kind, MPA_RTR_SEND, IW_TERM_MPA_RTR},
		{IW_BREAK_rtr_data, MPA_RTR_WRITE, IW_TERM_MPA_RTR},
		{IW_BREAK_rtr_data, MPA_RTR_READ, IW_TERM_MPA_RTR},
		{IW_BREAK_rtr_data, MPA_RTR_SEND, IW_TERM_MPA_RTR},
		{IW_BREAK_bad_crc, MPA_RTR_WRITE, IW_TERM_MPA_CRC},
		{IW_BREAK_bad_length, MPA_RTR_WRITE, IW_TERM_MPA_MARKER},
		{IW_BREAK_ddp_version, MPA_RTR_WRITE, IW_TERM_TAGGED_VERSION},
		{IW_BREAK_ddp_version, MPA_RTR_READ, IW_TERM_UNTAGGED_VERSION},
		{IW_BREAK_rdmap_version, MPA_RTR_WRITE, IW_TERM_RDMAP_VERSION},
		{IW_BREAK_bad_opcode, MPA_RTR_WRITE, IW_TERM_RDMAP_OPCODE},
		{IW_BREAK_bad_qn, MPA_RTR_READ, IW_TERM_UNTAGGED_QN},
		{IW_BREAK_bad_msn, MPA_RTR_READ, IW_TERM_UNTAGGED_MSN},
		{IW_BREAK_bad_msn, MPA_RTR_SEND, IW_TERM_UNTAGGED_MSN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig.greet = true;
		rig.opt[0].kinds = rows[i].kind;
		rig.opt[0].breaks = UINT64_C(1) << rows[i].which;
		rig_connect(&rig, NULL, 0);
		assert_term(&rig.responder, rows[i].term);
		assert_null(rig_find(&rig.responder, IW_EVENT_ESTABLISHED));
		assert_event(&rig.responder, IW_EVENT_CLOSE, 0);
		assert_int_equal(rig.responder.sends, 0); /* the greeting has not left */
		again();
	}
}

static void row_6_wrong_marker(void **state)
{
	rig.opt[1].markers = 1;
	rig.opt[0].breaks = IW_BREAKS_BIT(bad_marker);
	rig_connect(&rig, NULL, 0);
	assert_term(&rig.responder, IW_TERM_MPA_MARKER);
}

/* A tolerant responder takes another kind as the first FPDU, as siw does. */
static void row_6_tolerant(void **state)
{
	rig.opt[0].kinds = MPA_RTR_READ;
	rig.opt[0].breaks = IW_BREAKS_BIT(rtr_other_kind);
	rig.opt[1].strict = 0;
	rig_connect(&rig, NULL, 0);
	assert_talks();
}

/* Twice: the second one is an ordinary message. */
static void row_6_twice(void **state)
{
	static const uint8_t kinds[] = {MPA_RTR_WRITE, MPA_RTR_READ, MPA_RTR_SEND};

	for (unsigned i = 0; i < 3; i++) {
		rig.opt[0].kinds = kinds[i];
		rig.opt[0].breaks = IW_BREAKS_BIT(rtr_twice);
		rig.post_receives = 3;
		rig_connect(&rig, NULL, 0);
		assert_talks();
		assert_int_equal(query(&rig.initiator).reads_out, 0);
		again();
	}
}

static void row_6_none_at_all(void **state)
{
	rig.opt[0].breaks = IW_BREAKS_BIT(no_rtr);
	rig_connect(&rig, NULL, 0);
	fake_pass(&rig.fake, 9 * RIG_SECOND);
	assert_int_equal(query(&rig.responder).state, IW_WAIT_RTR);
	fake_pass(&rig.fake, 2 * RIG_SECOND);
	assert_event(&rig.responder, IW_EVENT_CLOSE, -ETIMEDOUT);
}

/* after_reply_ms: nothing leaves before, and the connection is told when it is over. */
static void row_6_late(void **state)
{
	rig.greet = true;
	rig.opt[0].after_reply_ms = 3000;
	rig_connect(&rig, NULL, 0);
	fake_pass(&rig.fake, 2 * RIG_SECOND);
	assert_int_equal(query(&rig.initiator).state, IW_REPLIED);
	assert_int_equal(query(&rig.responder).state, IW_WAIT_RTR);
	assert_null(rig_find(&rig.initiator, IW_EVENT_CONNECT_REPLY));
	fake_pass(&rig.fake, 2 * RIG_SECOND);
	assert_connected();
	assert_int_equal(rig.initiator.last_len, 8);
	again();
	/* the responder does not wait so long */
	rig.opt[0].after_reply_ms = 11000;
	rig_connect(&rig, NULL, 0);
	fake_pass(&rig.fake, 10 * RIG_SECOND);
	assert_event(&rig.responder, IW_EVENT_CLOSE, -ETIMEDOUT);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ECONNRESET);
	again();
	/* the responder does not wait at all: an error, or, where it is tolerated, there is nothing to wait for */
	for (uint32_t strict = 0; strict < 2; strict++) {
		rig.opt[0].after_reply_ms = 3000;
		rig.opt[0].strict = strict;
		rig.opt[1].strict = 0;
		rig.no_answer = true;
		rig_connect(&rig, NULL, 0);
		rig_receives(&rig.responder, 1);
		iw_options_of(rig.responder.id)->breaks = IW_BREAKS_BIT(early_send);
		iw_accept(rig.responder.id, NULL, 0);
		fake_run(&rig.fake);
		iw_post_send(rig.responder.id, 1, (const uint8_t *)"early", 5);
		fake_run(&rig.fake);
		assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, strict ? -EPROTO : 0);
		assert_int_equal(rig.initiator.last_len, strict ? 0 : 5);
		again();
	}
}

/* --- 11: the Rtr frame of 2007 --- */

static void row_11_rtr_frame(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		rig.greet = true;
		rig.opt[0].rev = 1;
		rig.opt[0].design = rig.opt[1].design = IW_RTR_FRAME;
		rig.opt[0].breaks = i ? IW_BREAKS_BIT(rtr_dump_spelling) : 0;
		rig.fake.piece = i;
		rig_connect(&rig, NULL, 0);
		assert_connected();
		assert_int_equal(query(&rig.initiator).agreed.design, IW_RTR_FRAME);
		assert_event(&rig.responder, IW_EVENT_ESTABLISHED, 0);
		assert_memory_equal(rig.fake.streams[0].sent + MPA_START_BYTES,
				    i ? "MPA ID RtR Frame" : "MPA ID Rtr Frame", 16);
		assert_int_equal(rig.initiator.last_len, 8);
		assert_closes();
		again();
	}
}

/* New against old: S = 0 in the Reply. So it is against a responder of RFC 6581, to which S means
 * something else in revision 2 and nothing in revision 1. */
static void row_11_new_against_old(void **state)
{
	static const unsigned revs[] = {1, 2};

	for (unsigned i = 0; i < 2; i++) {
		rig.opt[0].rev = 1;
		rig.opt[0].design = IW_RTR_FRAME;
		rig.opt[1].rev = revs[i];
		rig_connect(&rig, NULL, 0);
		assert_connected();
		assert_int_equal(query(&rig.initiator).agreed.design, IW_CLIENT_FIRST);
		assert_int_equal(rig.fake.streams[0].n_sent, MPA_START_BYTES);
		assert_talks();
		again();
	}
	/* old against new */
	rig.opt[0].rev = 1;
	rig.opt[0].design = IW_CLIENT_FIRST;
	rig.opt[1].design = IW_RTR_FRAME;
	rig_connect(&rig, NULL, 0);
	assert_connected();
	assert_int_equal(query(&rig.responder).state, IW_WAIT_FPDU);
	assert_talks();
}

/* A responder waits for the Rtr frame; an FPDU is none. */
static void row_11_frame_missing(void **state)
{
	rig.opt[0].rev = 1;
	rig.opt[0].design = rig.opt[1].design = IW_RTR_FRAME;
	rig.opt[0].breaks = IW_BREAKS_BIT(no_rtr);
	rig_connect(&rig, NULL, 0);
	iw_post_send(rig.initiator.id, 1, (const uint8_t *)"an FPDU", 7);
	fake_run(&rig.fake);
	assert_event(&rig.responder, IW_EVENT_CLOSE, -EPROTO);
}

/* The objection to it: an old responder reads "MP" as the length of an FPDU, and waits for 19,792
 * bytes. */
static void row_11_frame_to_old(void **state)
{
	rig.opt[0].rev = 1;
	rig.opt[0].design = IW_CLIENT_FIRST;
	rig.opt[0].breaks = IW_BREAKS_BIT(rtr_frame_anyway);
	rig.opt[1].rev = 1;
	rig_connect(&rig, NULL, 0);
	assert_connected();
	iw_post_send(rig.initiator.id, 1, (const uint8_t *)"lost", 4);
	fake_run(&rig.fake);
	assert_int_equal(query(&rig.responder).state, IW_WAIT_FPDU);
	assert_int_equal(rig.responder.receives, 0);
	assert_int_equal(get_be16(rig.fake.streams[0].sent + MPA_START_BYTES), 19792);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(row_5_no_early_byte), TEST(row_5_fence_is_flushed), TEST(row_5_early_sender),
		TEST(row_6_wrong_rtr),     TEST(row_6_wrong_marker),     TEST(row_6_tolerant),
		TEST(row_6_twice),         TEST(row_6_none_at_all),      TEST(row_6_late),
		TEST(row_11_rtr_frame),    TEST(row_11_new_against_old), TEST(row_11_frame_missing),
		TEST(row_11_frame_to_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
