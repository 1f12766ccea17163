/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two hosts whose streams are joined without any network: bytes arrive in pieces of a chosen size,
 * and time goes on only when the test says so. All that a stream has sent stays in a record.
 */
#ifndef HOST_DRIVER_IWARP_TESTS_FAKE_STREAM_H
#define HOST_DRIVER_IWARP_TESTS_FAKE_STREAM_H

#include "host_driver/iwarp/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_HOSTS = 2, FAKE_STREAMS = 16, FAKE_MSS = 1460 };

struct fake_net;

struct iw_listener {
	struct fake_net *fake;
	uint16_t port;
	bool used;
	void (*accepted)(void *arg, struct iw_stream *stream);
	void *arg;
};

struct iw_stream {
	struct fake_net *fake;
	unsigned host;
	bool used, up, released, fin, fin_told, ended, dead;
	int error; /* to be told */
	uint16_t port;
	const struct iw_stream_user *user;
	void *arg;
	struct iw_stream *peer;
	uint8_t *sent; /* everything, in order */
	size_t n_sent, n_arrived;
};

struct fake_host {
	struct iw_net net; /* first */
	struct fake_net *fake;
	unsigned index;
	struct iw_listener listener;
	struct iw_timer *timers;
};

struct fake_net {
	struct fake_host hosts[FAKE_HOSTS];
	struct iw_stream streams[FAKE_STREAMS];
	unsigned n_streams;
	uint64_t now_ps;
	size_t piece; /* bytes that arrive at once; 0: all that is there */
	bool stop;    /* nothing arrives */
};

static inline struct iw_stream *fake_stream_make(struct fake_net *fake, unsigned host)
{
	struct iw_stream *s = &fake->streams[fake->n_streams];

	if (fake->n_streams == FAKE_STREAMS)
		return NULL;
	fake->n_streams++;
	*s = (struct iw_stream){.fake = fake, .host = host, .used = true};
	return s;
}

static inline int fake_connect(struct iw_net *net, struct iw_address to,
			       const struct iw_stream_user *user, void *arg, struct iw_stream **out)
{
	struct fake_host *host = (struct fake_host *)net;
	struct iw_stream *s = fake_stream_make(host->fake, host->index);

	if (!s)
		return -ENOMEM;
	s->port = to.port;
	s->user = user;
	s->arg = arg;
	*out = s;
	return 0;
}

static inline int fake_listen(struct iw_net *net, uint16_t port,
			      void (*accepted)(void *arg, struct iw_stream *stream), void *arg,
			      struct iw_listener **out)
{
	struct fake_host *host = (struct fake_host *)net;

	if (host->listener.used)
		return -EADDRINUSE;
	host->listener = (struct iw_listener){
		.fake = host->fake, .port = port, .used = true, .accepted = accepted, .arg = arg};
	*out = &host->listener;
	return 0;
}

static inline void fake_unlisten(struct iw_listener *listener)
{
	listener->used = false;
}

static inline void fake_accept(struct iw_stream *s, const struct iw_stream_user *user, void *arg)
{
	s->user = user;
	s->arg = arg;
}

static inline int fake_send(struct iw_stream *s, const uint8_t *bytes, size_t n)
{
	uint8_t *sent;

	if (s->fin || s->dead || s->ended)
		return -EPIPE;
	if (!n)
		return 0;
	sent = realloc(s->sent, s->n_sent + n);
	if (!sent)
		return -ENOMEM;
	memcpy(sent + s->n_sent, bytes, n);
	s->sent = sent;
	s->n_sent += n;
	return 0;
}

static inline void fake_half_close(struct iw_stream *s)
{
	s->fin = true;
}

static inline void fake_reset(struct iw_stream *s)
{
	s->dead = true;
	if (s->peer && !s->peer->dead && !s->peer->ended)
		s->peer->error = -ECONNRESET;
}

static inline void fake_release(struct iw_stream *s)
{
	s->released = true;
	s->fin = true;
}

static inline unsigned fake_mss(const struct iw_stream *s)
{
	return FAKE_MSS;
}

static inline struct iw_address fake_peer(const struct iw_stream *s)
{
	return (struct iw_address){.ip = 1 + !s->host, .port = 1};
}

static inline uint64_t fake_now_ps(struct iw_net *net)
{
	return ((struct fake_host *)net)->fake->now_ps;
}

static inline void fake_timer(struct iw_net *net, struct iw_timer *timer, uint64_t due_ps)
{
	struct fake_host *host = (struct fake_host *)net;
	struct iw_timer **p = &host->timers;

	while (*p && *p != timer)
		p = &(*p)->next;
	if (*p)
		*p = timer->next;
	timer->due_ps = due_ps;
	if (due_ps == IW_NEVER)
		return;
	timer->next = host->timers;
	host->timers = timer;
}

static const struct iw_stream_ops fake_ops = {
	.connect = fake_connect,
	.listen = fake_listen,
	.unlisten = fake_unlisten,
	.accept = fake_accept,
	.send = fake_send,
	.half_close = fake_half_close,
	.reset = fake_reset,
	.release = fake_release,
	.mss = fake_mss,
	.peer = fake_peer,
	.now_ps = fake_now_ps,
	.timer = fake_timer,
};

static inline void fake_begin(struct fake_net *fake)
{
	memset(fake, 0, sizeof(*fake));
	for (unsigned i = 0; i < FAKE_HOSTS; i++) {
		fake->hosts[i].net.ops = &fake_ops;
		fake->hosts[i].fake = fake;
		fake->hosts[i].index = i;
	}
}

static inline void fake_end(struct fake_net *fake)
{
	for (unsigned i = 0; i < fake->n_streams; i++)
		free(fake->streams[i].sent);
}

static inline bool fake_tellable(const struct iw_stream *s)
{
	return !s->released && !s->dead && !s->ended;
}

static inline bool fake_join(struct iw_stream *s)
{
	struct iw_listener *listener = &s->fake->hosts[!s->host].listener;
	struct iw_stream *other = NULL;

	if (s->up || s->dead || s->released || s->ended || s->peer)
		return false;
	if (listener->used && listener->port == s->port)
		other = fake_stream_make(s->fake, !s->host);
	if (!other) {
		s->ended = true;
		s->user->failed(s->arg, -ECONNREFUSED);
		return true;
	}
	s->up = other->up = true;
	s->peer = other;
	other->peer = s;
	listener->accepted(listener->arg, other);
	if (fake_tellable(s))
		s->user->up(s->arg);
	return true;
}

/* The next piece from s arrives at its peer. */
static inline bool fake_arrive(struct iw_stream *s)
{
	struct iw_stream *peer = s->peer;
	size_t n = s->n_sent - s->n_arrived;
	uint8_t *piece;

	if (!peer || s->dead || !n)
		return false;
	if (s->fake->piece && n > s->fake->piece)
		n = s->fake->piece;
	/* in memory of its own, so that a sanitizer sees who reads beyond it */
	piece = malloc(n);
	memcpy(piece, s->sent + s->n_arrived, n);
	s->n_arrived += n;
	if (fake_tellable(peer))
		peer->user->received(peer->arg, piece, n);
	free(piece);
	return true;
}

static inline bool fake_finish(struct iw_stream *s)
{
	struct iw_stream *peer = s->peer;

	if (s->error) {
		int error = s->error;

		s->error = 0;
		if (!fake_tellable(s))
			return false;
		s->ended = true;
		s->user->failed(s->arg, error);
		return true;
	}
	if (!peer || s->dead || !s->fin || s->fin_told || s->n_arrived < s->n_sent)
		return false;
	s->fin_told = true;
	if (fake_tellable(peer))
		peer->user->peer_closed(peer->arg);
	if (!peer->fin_told)
		return true;
	if (fake_tellable(s)) {
		s->ended = true;
		s->user->closed(s->arg);
	}
	if (fake_tellable(peer)) {
		peer->ended = true;
		peer->user->closed(peer->arg);
	}
	return true;
}

/* Until nothing moves. */
static inline void fake_run(struct fake_net *fake)
{
	bool moved = true;

	while (moved && !fake->stop) {
		moved = false;
		for (unsigned i = 0; i < fake->n_streams; i++) {
			struct iw_stream *s = &fake->streams[i];

			moved |= fake_join(s);
			moved |= fake_arrive(s);
			moved |= fake_finish(s);
		}
	}
}

/* Runs, and then lets that much time pass, timer by timer. */
static inline void fake_pass(struct fake_net *fake, uint64_t ps)
{
	const uint64_t end = fake->now_ps + ps;

	for (;;) {
		struct iw_timer *due = NULL;
		struct iw_net *net = NULL;

		fake_run(fake);
		for (unsigned i = 0; i < FAKE_HOSTS; i++)
			for (struct iw_timer *t = fake->hosts[i].timers; t; t = t->next)
				if (t->due_ps <= end && (!due || t->due_ps < due->due_ps)) {
					due = t;
					net = &fake->hosts[i].net;
				}
		if (!due)
			break;
		fake->now_ps = due->due_ps;
		fake_timer(net, due, IW_NEVER);
		due->fn(due->arg);
	}
	fake->now_ps = end;
}

#endif
