/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that break a rule, streams that end at the wrong time, and messages after set-up.
 * row_N_...: row N of the table in the README.
 */
#include "host_driver/iwarp/tests/iw_case.h"

/* --- 7: frames out of place --- */

static void row_7_bad_requests(void **state)
{
	static const enum iw_break rows[] = {
		IW_BREAK_key_bit,     IW_BREAK_pd_513,    IW_BREAK_rev_0,   IW_BREAK_rev_3,
		IW_BREAK_byte_behind, IW_BREAK_wrong_key, IW_BREAK_rtr_key, IW_BREAK_short_enhanced,
	};

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			rig.opt[0].fallback = 0;
			rig.opt[side].breaks = UINT64_C(1) << rows[i];
			rig_connect(&rig, NULL, 0);
			/* the responder drops the stream without a word to its user; the initiator
			 * says why */
			assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY,
				     side ? -EPROTO : -ECONNRESET);
			assert_int_equal(rig.responder.n_events != 0, side);
			assert_null(rig_find(&rig.initiator, IW_EVENT_TERMINATE));
			assert_int_equal(query(&rig.initiator).state, IW_CLOSED);
			again();
		}
}

/* Both ends connect: each gets a Request where a Reply should be. */
static void row_7_both_initiate(void **state)
{
	uint8_t frame[MPA_START_BYTES + MPA_PDATA_MAX];

	raw_listen(&rig);
	iw_connect(&rig.initiator.host, (struct iw_address){.ip = 2, .port = RIG_PORT}, NULL,
		   &rig_user, &rig.initiator, NULL, 0, &rig.initiator.id);
	fake_run(&rig.fake);
	raw_send(&rig, frame, mpa_start_put(frame, &(struct mpa_start){.key = MPA_REQ, .rev = 1}));
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -EPROTO);
	assert_true(rig.raw_failed);
}

/* Half a Request: the responder waits 5 s. The other half in time, and too late. */
static void row_7_request_in_halves(void **state)
{
	uint8_t frame[MPA_START_BYTES + MPA_PDATA_MAX];
	size_t n = mpa_start_put(frame, &(struct mpa_start){.key = MPA_REQ, .rev = 1});

	raw_connect(&rig);
	raw_send(&rig, frame, 10);
	fake_pass(&rig.fake, 4 * RIG_SECOND);
	raw_send(&rig, frame + 10, n - 10);
	assert_event(&rig.responder, IW_EVENT_CONNECT_REQUEST, 0);
	again();
	raw_connect(&rig);
	raw_send(&rig, frame, 10);
	fake_pass(&rig.fake, 6 * RIG_SECOND);
	assert_true(rig.raw_failed);
	assert_int_equal(rig.responder.n_events, 0);
	assert_int_equal(rig.responder.host.ids, 1); /* the listener */
}

/* A byte that comes before the Reply, later than the Request. */
static void row_7_byte_before_reply(void **state)
{
	uint8_t frame[MPA_START_BYTES + MPA_PDATA_MAX];

	rig.no_answer = true;
	raw_connect(&rig);
	raw_send(&rig, frame, mpa_start_put(frame, &(struct mpa_start){.key = MPA_REQ, .rev = 1}));
	raw_send(&rig, "x", 1);
	assert_event(&rig.responder, IW_EVENT_CLOSE, -EPROTO);
	assert_int_equal(iw_accept(rig.responder.id, NULL, 0), -ECONNRESET);
}

/* No Reply at all: 10 s. */
static void row_7_no_reply(void **state)
{
	rig.no_answer = true;
	rig_connect(&rig, NULL, 0);
	fake_pass(&rig.fake, 9 * RIG_SECOND);
	assert_int_equal(query(&rig.initiator).state, IW_WAIT_REP);
	fake_pass(&rig.fake, 2 * RIG_SECOND);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ETIMEDOUT);
	assert_event(&rig.responder, IW_EVENT_CLOSE, -ECONNRESET);
}

/* A Reply that is not enhanced to an enhanced Request. */
static void row_7_reply_not_enhanced(void **state)
{
	rig.opt[1].breaks = IW_BREAKS_BIT(reply_without_s);
	rig_connect(&rig, NULL, 0);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -EPROTO);
}

/* --- 12: the stream --- */

static void row_12_stream(void **state)
{
	uint8_t frame[MPA_START_BYTES + MPA_PDATA_MAX];
	const size_t n =
		mpa_start_put(frame, &(struct mpa_start){.key = MPA_REQ,
							 .rev = 2,
							 .bits = MPA_S | MPA_C,
							 .has_enhanced = true,
							 .enhanced = {true, MPA_RTR_WRITE, 1, 1}});

	/* nobody listens */
	iw_connect(&rig.initiator.host, (struct iw_address){.port = 1}, NULL, &rig_user,
		   &rig.initiator, NULL, 0, &rig.initiator.id);
	fake_run(&rig.fake);
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, -ECONNREFUSED);
	again();
	/* RST in WAIT_RTR */
	raw_connect(&rig);
	raw_send(&rig, frame, n);
	assert_int_equal(query(&rig.responder).state, IW_WAIT_RTR);
	fake_reset(rig.raw);
	fake_run(&rig.fake);
	assert_event(&rig.responder, IW_EVENT_CLOSE, -ECONNRESET);
	again();
	/* half-close while the responder waits for the user, and in WAIT_RTR */
	for (unsigned i = 0; i < 2; i++) {
		rig.no_answer = i;
		raw_connect(&rig);
		raw_send(&rig, frame, n);
		fake_half_close(rig.raw);
		fake_run(&rig.fake);
		assert_event(&rig.responder, IW_EVENT_CLOSE, -ECONNRESET);
		again();
	}
}

/* A client-first connection that ends without a message ends in order. */
static void row_12_nothing_said(void **state)
{
	rig.opt[0].design = IW_CLIENT_FIRST;
	rig_connect(&rig, NULL, 0);
	assert_closes();
	assert_null(rig_find(&rig.responder, IW_EVENT_ESTABLISHED));
}

/* --- beyond set-up --- */

static void messages_need_receives_that_fit(void **state)
{
	static const uint8_t long_one[RIG_MESSAGE + 1];

	rig_connect(&rig, NULL, 0);
	iw_post_send(rig.initiator.id, 1, long_one, sizeof(long_one));
	fake_run(&rig.fake);
	assert_term(&rig.responder, IW_TERM_UNTAGGED_LONG);
	assert_int_equal(iw_post_send(rig.responder.id, 1, long_one, 1), -ENOTCONN);
	again();
	rig_connect(&rig, NULL, 0);
	for (unsigned i = 0; i < 3; i++)
		iw_post_send(rig.initiator.id, 1, long_one, 1);
	fake_run(&rig.fake);
	assert_int_equal(rig.responder.receives, 2);
	assert_term(&rig.responder, IW_TERM_UNTAGGED_NO_BUFFER);
	again();
	rig_connect(&rig, NULL, 0);
	assert_int_equal(iw_post_send(rig.initiator.id, 1, NULL, FAKE_MSS), -EMSGSIZE);
}

/* A peer that does not end its side of the stream gets an RST after close_ms. */
static void the_wait_for_the_end_is_bounded(void **state)
{
	uint8_t frame[MPA_START_BYTES + MPA_PDATA_MAX];

	raw_connect(&rig);
	raw_send(&rig, frame, mpa_start_put(frame, &(struct mpa_start){.key = MPA_REQ, .rev = 1}));
	iw_disconnect(rig.responder.id);
	fake_pass(&rig.fake, 9 * RIG_SECOND);
	assert_true(rig.raw_closed);
	assert_false(rig.raw_failed);
	fake_pass(&rig.fake, 2 * RIG_SECOND);
	assert_true(rig.raw_failed);
	assert_event(&rig.responder, IW_EVENT_CLOSE, -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(row_7_bad_requests),
		TEST(row_7_both_initiate),
		TEST(row_7_request_in_halves),
		TEST(row_7_byte_before_reply),
		TEST(row_7_no_reply),
		TEST(row_7_reply_not_enhanced),
		TEST(row_12_stream),
		TEST(row_12_nothing_said),
		TEST(messages_need_receives_that_fit),
		TEST(the_wait_for_the_end_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
