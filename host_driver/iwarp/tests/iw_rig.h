/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An initiator at host 0 and a responder at host 1 over fake streams, with what their users were
 * told; or one of them, with the test as the other end of the stream (raw).
 */
#ifndef HOST_DRIVER_IWARP_TESTS_IW_RIG_H
#define HOST_DRIVER_IWARP_TESTS_IW_RIG_H

#include "host_driver/iwarp/iw_cm.h"
#include "host_driver/iwarp/tests/fake_stream.h"
#include "model/interface/macros.h"

#include <stdio.h>

enum { RIG_PORT = 7471, RIG_EVENTS = 16, RIG_MESSAGE = 64, RIG_RECEIVES = 8 };
#define RIG_SECOND UINT64_C(1000000000000)

struct rig_side {
	struct rig *rig;
	struct iw_host host;
	struct iw_cm_id *id; /* NULL: none */
	struct iw_event events[RIG_EVENTS];
	unsigned n_events;
	uint8_t pdata[MPA_PDATA_MAX];
	uint16_t pdata_len;
	unsigned receives, sends; /* completions in order */
	unsigned flushed;
	uint32_t last_len; /* of the last receive */
	uint8_t buffers[RIG_RECEIVES][RIG_MESSAGE];
};

struct rig {
	struct fake_net fake;
	struct rig_side initiator, responder;
	struct iw_cm_id *listener;
	struct iw_options opt[2]; /* initiator, responder */
	/* what the responder's user does with a request */
	bool reject, greet, no_answer;
	unsigned post_receives;
	const uint8_t *answer;
	uint16_t answer_len;
	/* the test's own end of a stream */
	struct iw_stream *raw;
	uint8_t raw_got[4096];
	size_t raw_len;
	bool raw_closed, raw_failed;
	bool talk; /* print what is said */
};

static inline void rig_completed(void *arg, struct iw_cm_id *id, const struct iw_completion *c)
{
	struct rig_side *side = arg;

	if (c->status)
		side->flushed++;
	else if (c->receive)
		side->receives++, side->last_len = c->len;
	else
		side->sends++;
}

static inline void rig_receives(struct rig_side *side, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		iw_post_recv(side->id, i, side->buffers[i], RIG_MESSAGE);
}

static inline void rig_event(void *arg, const struct iw_event *event)
{
	struct rig_side *side = arg;
	struct rig *rig = side->rig;

	if (side->n_events < RIG_EVENTS)
		side->events[side->n_events++] = *event;
	if (event->pdata_len) {
		memcpy(side->pdata, event->pdata, event->pdata_len);
		side->pdata_len = event->pdata_len;
	}
	if (event->type != IW_EVENT_CONNECT_REQUEST)
		return;
	side->id = event->id;
	if (rig->no_answer)
		return;
	if (rig->reject) {
		iw_reject(side->id, rig->answer, rig->answer_len);
		side->id = NULL;
		return;
	}
	rig_receives(side, rig->post_receives);
	iw_accept(side->id, rig->answer, rig->answer_len);
	if (rig->greet)
		iw_post_send(side->id, 77, (const uint8_t *)"greeting", 8);
}

static const struct iw_cm_user rig_user = {.event = rig_event, .completed = rig_completed};

static inline void rig_said(struct iw_host *host, const struct iw_cm_id *id, const char *text)
{
	struct rig_side *side = container_of(host, struct rig_side, host);

	if (side->rig->talk)
		printf("# %s: %s\n", side == &side->rig->initiator ? "initiator" : "responder",
		       text);
}

/* Both sides have the defaults; the test changes rig->opt. */
static inline void rig_begin(struct rig *rig)
{
	struct rig_side *sides[] = {&rig->initiator, &rig->responder};

	memset(rig, 0, sizeof(*rig));
	fake_begin(&rig->fake);
	rig->talk = getenv("IW_TALK");
	for (unsigned i = 0; i < 2; i++) {
		sides[i]->rig = rig;
		sides[i]->host = (struct iw_host){.net = &rig->fake.hosts[i].net, .said = rig_said};
		rig->opt[i] = iw_options_default;
	}
	rig->post_receives = 2;
}

static inline void rig_listen(struct rig *rig)
{
	if (iw_listen(&rig->responder.host, RIG_PORT, &rig->opt[1], &rig_user, &rig->responder,
		      &rig->listener))
		abort();
}

/* Listens, connects and lets everything arrive. */
static inline void rig_connect(struct rig *rig, const uint8_t *pdata, uint16_t len)
{
	if (!rig->listener)
		rig_listen(rig);
	if (iw_connect(&rig->initiator.host, (struct iw_address){.ip = 2, .port = RIG_PORT},
		       &rig->opt[0], &rig_user, &rig->initiator, pdata, len, &rig->initiator.id))
		abort();
	rig_receives(&rig->initiator, 4);
	fake_run(&rig->fake);
}

/* Nothing of either side may be left; 0 when so. */
static inline unsigned rig_end(struct rig *rig)
{
	unsigned left;

	if (rig->initiator.id)
		iw_destroy(rig->initiator.id);
	if (rig->responder.id)
		iw_destroy(rig->responder.id);
	if (rig->listener)
		iw_destroy(rig->listener);
	fake_pass(&rig->fake, 100 * RIG_SECOND);
	left = rig->initiator.host.ids + rig->responder.host.ids;
	fake_end(&rig->fake);
	return left;
}

static inline const struct iw_event *rig_find(const struct rig_side *side, enum iw_event_type type)
{
	for (unsigned i = 0; i < side->n_events; i++)
		if (side->events[i].type == type)
			return &side->events[i];
	return NULL;
}

/* --- the test as one end --- */

static inline void raw_received(void *arg, const uint8_t *bytes, size_t n)
{
	struct rig *rig = arg;

	if (n > sizeof(rig->raw_got) - rig->raw_len)
		n = sizeof(rig->raw_got) - rig->raw_len;
	memcpy(rig->raw_got + rig->raw_len, bytes, n);
	rig->raw_len += n;
}

static inline void raw_up(void *arg)
{
}

static inline void raw_peer_closed(void *arg)
{
	((struct rig *)arg)->raw_closed = true;
}

static inline void raw_closed(void *arg)
{
}

static inline void raw_failed(void *arg, int error)
{
	((struct rig *)arg)->raw_failed = true;
}

static const struct iw_stream_user raw_user = {
	.up = raw_up,
	.received = raw_received,
	.peer_closed = raw_peer_closed,
	.closed = raw_closed,
	.failed = raw_failed,
};

static inline void raw_accepted(void *arg, struct iw_stream *stream)
{
	struct rig *rig = arg;

	rig->raw = stream;
	fake_accept(stream, &raw_user, rig);
}

/* The test plays the initiator against the responder. */
static inline void raw_connect(struct rig *rig)
{
	rig_listen(rig);
	fake_connect(&rig->fake.hosts[0].net, (struct iw_address){.port = RIG_PORT}, &raw_user, rig,
		     &rig->raw);
	fake_run(&rig->fake);
}

/* The test plays the responder. */
static inline void raw_listen(struct rig *rig)
{
	struct iw_listener *listener;

	fake_listen(&rig->fake.hosts[1].net, RIG_PORT, raw_accepted, rig, &listener);
}

static inline void raw_send(struct rig *rig, const void *bytes, size_t n)
{
	fake_send(rig->raw, bytes, n);
	fake_run(&rig->fake);
}

#endif
