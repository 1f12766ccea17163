/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection set-up, row by row of the table in the README (row_N_...): two ends over streams
 * that deliver all at once, byte by byte, or in other pieces; or one end against bytes that the
 * test makes. IW_TALK=1 prints what the ends say.
 */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/tests/iw_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { GREETING_FPDU = 2 + DDP_UNTAGGED_BYTES + 8 + IW_CRC_BYTES };

static struct rig rig;

static int begin(void **state)
{
	rig_begin(&rig);
	return 0;
}

static int end(void **state)
{
	return rig_end(&rig) ? -1 : 0;
}

static struct iw_query query(const struct rig_side *side)
{
	struct iw_query q;

	iw_query(side->id, &q);
	return q;
}

static void again(void)
{
	assert_int_equal(rig_end(&rig), 0);
	rig_begin(&rig);
}

static void assert_event(const struct rig_side *side, enum iw_event_type type, int status)
{
	const struct iw_event *event = rig_find(side, type);

	if (!event)
		fail_msg("no event %s", iw_event_name(type));
	assert_int_equal(event->status, status);
}

static void assert_term(const struct rig_side *sent, enum iw_term term)
{
	const struct rig_side *got = sent == &rig.initiator ? &rig.responder : &rig.initiator;
	const struct iw_event *event = rig_find(sent, IW_EVENT_TERMINATE);

	if (!event)
		fail_msg("no TERMINATE sent, %s expected", iw_term_rows[term].meaning);
	assert_true(event->sent);
	assert_string_equal(iw_term_rows[event->term].meaning, iw_term_rows[term].meaning);
	event = rig_find(got, IW_EVENT_TERMINATE);
	if (!event)
		fail_msg("no TERMINATE came, %s expected", iw_term_rows[term].meaning);
	assert_false(event->sent);
	assert_int_equal(event->term, term);
}

static void assert_connected(void)
{
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, 0);
	assert_int_equal(query(&rig.initiator).state, IW_FPDU);
}

/* One message in each direction; the initiator's first one opens a client-first connection. */
static void assert_talks(void)
{
	const unsigned receives = rig.responder.receives;

	assert_int_equal(iw_post_send(rig.initiator.id, 1, (const uint8_t *)"ping", 4), 0);
	fake_run(&rig.fake);
	assert_int_equal(rig.responder.receives, receives + 1);
	assert_event(&rig.responder, IW_EVENT_ESTABLISHED, 0);
	assert_true(query(&rig.responder).fence_open);
	assert_int_equal(iw_post_send(rig.responder.id, 2, (const uint8_t *)"pong!", 5), 0);
	fake_run(&rig.fake);
	assert_true(rig.initiator.receives);
	assert_int_equal(rig.initiator.last_len, 5);
	assert_memory_equal(rig.initiator.buffers[0], "pong!", 5);
}

static void assert_closes(void)
{
	assert_int_equal(iw_disconnect(rig.initiator.id), 0);
	fake_run(&rig.fake);
	assert_event(&rig.responder, IW_EVENT_DISCONNECT, 0);
	assert_event(&rig.responder, IW_EVENT_CLOSE, 0);
	assert_event(&rig.initiator, IW_EVENT_CLOSE, 0);
	assert_int_equal(query(&rig.initiator).state, IW_CLOSED);
}

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

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
		TEST(row_5_no_early_byte),
		TEST(row_5_fence_is_flushed),
		TEST(row_5_early_sender),
		TEST(row_6_wrong_rtr),
		TEST(row_6_wrong_marker),
		TEST(row_6_tolerant),
		TEST(row_6_twice),
		TEST(row_6_none_at_all),
		TEST(row_7_bad_requests),
		TEST(row_7_both_initiate),
		TEST(row_7_request_in_halves),
		TEST(row_7_byte_before_reply),
		TEST(row_7_no_reply),
		TEST(row_7_reply_not_enhanced),
		TEST(row_8_fallback),
		TEST(row_9_private_data),
		TEST(row_10_reply_without_a),
		TEST(row_10_write_for_read),
		TEST(row_10_stag),
		TEST(row_11_rtr_frame),
		TEST(row_11_new_against_old),
		TEST(row_11_frame_missing),
		TEST(row_11_frame_to_old),
		TEST(row_12_stream),
		TEST(row_12_nothing_said),
		TEST(messages_need_receives_that_fit),
		TEST(the_wait_for_the_end_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
