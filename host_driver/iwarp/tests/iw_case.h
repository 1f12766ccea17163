/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test of connection set-up: two ends over streams that deliver all at once, byte by byte, or in
 * other pieces; or one end against bytes that the test makes. IW_TALK=1 prints what the ends say.
 */
#ifndef HOST_DRIVER_IWARP_TESTS_IW_CASE_H
#define HOST_DRIVER_IWARP_TESTS_IW_CASE_H

#include "host_driver/iwarp/tests/iw_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct rig rig;

static inline int begin(void **state)
{
	rig_begin(&rig);
	return 0;
}

static inline int end(void **state)
{
	return rig_end(&rig) ? -1 : 0;
}

static inline struct iw_query query(const struct rig_side *side)
{
	struct iw_query q;

	iw_query(side->id, &q);
	return q;
}

static inline void again(void)
{
	assert_int_equal(rig_end(&rig), 0);
	rig_begin(&rig);
}

static inline void assert_event(const struct rig_side *side, enum iw_event_type type, int status)
{
	const struct iw_event *event = rig_find(side, type);

	if (!event)
		fail_msg("no event %s", iw_event_name(type));
	assert_int_equal(event->status, status);
}

static inline void assert_term(const struct rig_side *sent, enum iw_term term)
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

static inline void assert_connected(void)
{
	assert_event(&rig.initiator, IW_EVENT_CONNECT_REPLY, 0);
	assert_int_equal(query(&rig.initiator).state, IW_FPDU);
}

/* One message in each direction; the initiator's first one opens a client-first connection. */
static inline void assert_talks(void)
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

static inline void assert_closes(void)
{
	assert_int_equal(iw_disconnect(rig.initiator.id), 0);
	fake_run(&rig.fake);
	assert_event(&rig.responder, IW_EVENT_DISCONNECT, 0);
	assert_event(&rig.responder, IW_EVENT_CLOSE, 0);
	assert_event(&rig.initiator, IW_EVENT_CLOSE, 0);
	assert_int_equal(query(&rig.initiator).state, IW_CLOSED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
