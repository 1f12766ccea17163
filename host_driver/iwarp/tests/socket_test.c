/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams over the TCP of this machine, at the loopback address. The other end is a plain socket of the
 * test with small buffers. The kernel chooses the ports. No result depends on how fast things go.
 */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SMALL = 4096, MUCH = 600000, SOME = 1000, STREAMS = 60, STEP_MS = 20, PATIENCE_S = 30 };

#define PS_PER_MS UINT64_C(1000000000)

enum call { UP, RECEIVED, PEER_CLOSED, CLOSED, FAILED, CALLS };
enum act { NOTHING, RELEASE, RESET, HALF_CLOSE };

/* Who uses a stream, and what it does within one of its calls. */
struct user {
	struct iw_stream *stream;
	unsigned told[CALLS];
	int error;
	size_t got;
	enum call within;
	enum act act;
};

static struct socket_net net;
static const struct iw_stream_ops *ops;
static struct user user;
static uint8_t pattern[MUCH];
/* the other end */
static int peer_listens, peer;

static void do_act(struct user *u, enum act act)
{
	if (act == HALF_CLOSE)
		ops->half_close(u->stream);
	if (act == RESET)
		ops->reset(u->stream);
	if (act == RESET || act == RELEASE)
		ops->release(u->stream);
}

static void told(struct user *u, enum call call)
{
	u->told[call]++;
	if (u->act && u->within == call)
		do_act(u, u->act);
}

static void up(void *arg)
{
	told(arg, UP);
}

static void received(void *arg, const uint8_t *bytes, size_t n)
{
	struct user *u = arg;

	assert_in_range(n, 1, MUCH - u->got);
	assert_memory_equal(bytes, pattern + u->got, n);
	u->got += n;
	told(u, RECEIVED);
}

static void peer_closed(void *arg)
{
	told(arg, PEER_CLOSED);
}

static void closed(void *arg)
{
	told(arg, CLOSED);
}

static void failed(void *arg, int error)
{
	((struct user *)arg)->error = error;
	told(arg, FAILED);
}

static const struct iw_stream_user stream_user = {up, received, peer_closed, closed, failed};

static void serve(void)
{
	socket_net_serve(&net, STEP_MS);
}

/* What is on its way arrives: twice nothing has happened within some milliseconds. */
static void settle(void)
{
	for (unsigned i = 0; i < 4; i++)
		socket_net_serve(&net, 1);
}

static int small_socket(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = SMALL;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	return fd;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in at;
	socklen_t n = sizeof(at);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	return ntohs(at.sin_port);
}

static struct iw_address local(uint16_t port)
{
	return (struct iw_address){INADDR_LOOPBACK, port};
}

static int peer_bind(void)
{
	const struct sockaddr_in any = {.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = small_socket();

	assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof(any)), 0);
	return fd;
}

/* The descriptor that comes next. */
static int fd_next(void)
{
	const int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static void dial(struct user *u, uint16_t port)
{
	const int fd = fd_next(), small = SMALL;

	assert_int_equal(ops->connect(&net.net, local(port), &stream_user, u, &u->stream), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	for (unsigned i = 0; i < CALLS; i++)
		assert_int_equal(u->told[i], 0);
}

/* A stream that is up, and the peer's socket. */
static void open_pair(void)
{
	dial(&user, port_of(peer_listens));
	while (!user.told[UP])
		serve();
	peer = accept(peer_listens, NULL, NULL);
	assert_true(peer >= 0);
}

static void peer_resets(void)
{
	const struct linger now = {.l_onoff = 1};

	setsockopt(peer, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(peer);
	peer = -1;
}

/* The peer reads that many bytes, slowly. */
static void peer_reads(size_t n)
{
	uint8_t bytes[SOME];

	for (size_t at = 0; at < n;) {
		const ssize_t got = recv(peer, bytes, n - at < SOME ? n - at : SOME, MSG_DONTWAIT);

		if (got < 0) {
			assert_int_equal(errno, EAGAIN);
			serve();
			continue;
		}
		assert_true(got > 0);
		assert_memory_equal(bytes, pattern + at, got);
		at += (size_t)got;
	}
}

/* 0: FIN has come; else the error. */
static int peer_end(void)
{
	uint8_t bytes[SOME];
	ssize_t got;

	do {
		serve();
		got = recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (got > 0 || (got < 0 && errno == EAGAIN));
	return got ? errno : 0;
}

static void assert_told(const struct user *u, unsigned ups, unsigned fins, unsigned ends,
			unsigned fails)
{
	assert_int_equal(u->told[UP], ups);
	assert_int_equal(u->told[PEER_CLOSED], fins);
	assert_int_equal(u->told[CLOSED], ends);
	assert_int_equal(u->told[FAILED], fails);
}

static int begin(void **state)
{
	alarm(PATIENCE_S);
	for (size_t i = 0; i < MUCH; i++)
		pattern[i] = (uint8_t)(i * 7 + i / 251);
	memset(&user, 0, sizeof(user));
	socket_net_begin(&net);
	ops = net.net.ops;
	peer = -1;
	peer_listens = peer_bind();
	return listen(peer_listens, STREAMS);
}

static int end(void **state)
{
	drv_calloc_fails = NULL;
	if (peer >= 0)
		close(peer);
	close(peer_listens);
	socket_net_end(&net);
	return socket_net_serve(&net, 0) ? -1 : 0; /* nothing is left */
}

/* --- connect --- */

static void refused(void **state)
{
	const int silent = peer_bind();

	for (unsigned n = 0; n < 3; n++) {
		memset(&user, 0, sizeof(user));
		dial(&user, port_of(silent));
		if (n)
			assert_int_equal(ops->send(user.stream, pattern, SOME), 0);
		if (n == 2)
			ops->half_close(user.stream);
		while (!user.told[FAILED])
			serve();
		assert_int_equal(user.error, -ECONNREFUSED);
		assert_int_equal(ops->send(user.stream, pattern, 1), -EPIPE);
		settle();
		assert_told(&user, 0, 0, 0, 1);
		ops->release(user.stream);
		assert_false(socket_net_serve(&net, 0));
	}
	close(silent);
}

/* connect() itself says so: there is no way to a broadcast address. */
static void unreachable(void **state)
{
	const struct iw_address all = {.ip = INADDR_BROADCAST, .port = 1};

	assert_int_equal(ops->connect(&net.net, all, &stream_user, &user, &user.stream), 0);
	assert_int_equal(ops->send(user.stream, pattern, SOME), 0);
	assert_told(&user, 0, 0, 0, 0);
	while (!user.told[FAILED])
		serve();
	assert_told(&user, 0, 0, 0, 1);
	assert_int_equal(user.error, -ETIMEDOUT);
	ops->release(user.stream);
}

/* What is sent, and the end, before the stream is up. */
static void before_up(void **state)
{
	for (unsigned n = 0; n < 4; n++) {
		memset(&user, 0, sizeof(user));
		dial(&user, port_of(peer_listens));
		if (n & 1)
			assert_int_equal(ops->send(user.stream, pattern, SOME), 0);
		do_act(&user, n & 2 ? RELEASE : HALF_CLOSE);
		assert_int_equal(ops->send(user.stream, pattern, 1), -EPIPE);
		serve();
		peer = accept(peer_listens, NULL, NULL);
		peer_reads(n & 1 ? SOME : 0);
		assert_int_equal(peer_end(), 0);
		close(peer);
		peer = -1;
		if (n & 2) {
			while (socket_net_serve(&net, STEP_MS))
				continue;
			assert_told(&user, 0, 0, 0, 0);
			continue;
		}
		while (!user.told[CLOSED])
			serve();
		assert_told(&user, 1, 1, 1, 0);
		ops->release(user.stream);
		serve();
	}
}

/* --- data --- */

static void address_and_mss(void **state)
{
	open_pair();
	assert_int_equal(ops->peer(user.stream).ip, INADDR_LOOPBACK);
	assert_int_equal(ops->peer(user.stream).port, port_of(peer_listens));
	assert_in_range(ops->mss(user.stream), 500, 65535);
	assert_int_equal(ops->send(user.stream, NULL, 0), 0);
	/* one byte by itself */
	assert_int_equal(send(peer, pattern, 1, 0), 1);
	while (!user.got)
		serve();
	assert_told(&user, 1, 0, 0, 0);
	ops->release(user.stream);
}

/* A peer that reads slowly gets each byte once, in several sends, and then the FIN. Its own bytes come before and after. */
static void much_to_a_slow_peer(void **state)
{
	for (unsigned n = 0; n < 2; n++) {
		memset(&user, 0, sizeof(user));
		open_pair();
		for (size_t at = 0; at < MUCH; at += MUCH / 3)
			assert_int_equal(ops->send(user.stream, pattern + at, MUCH / 3), 0);
		do_act(&user, n ? RELEASE : HALF_CLOSE);
		assert_int_equal(ops->send(user.stream, pattern, 1), -EPIPE);
		assert_int_equal(send(peer, pattern, 10, 0), 10);
		peer_reads(MUCH);
		assert_int_equal(peer_end(), 0);
		assert_int_equal(send(peer, pattern + 10, 10, 0), 10);
		close(peer);
		peer = -1;
		if (n) {
			while (socket_net_serve(&net, STEP_MS))
				continue;
			assert_told(&user, 1, 0, 0, 0);
			assert_int_equal(user.got, 0);
			continue;
		}
		while (!user.told[CLOSED])
			serve();
		assert_told(&user, 1, 1, 1, 0);
		assert_int_equal(user.got, 20);
		ops->release(user.stream);
	}
}

static void much_from_the_peer(void **state)
{
	open_pair();
	for (size_t at = 0; at < MUCH;) {
		const ssize_t n = send(peer, pattern + at, MUCH - at, MSG_DONTWAIT);

		if (n > 0)
			at += (size_t)n;
		serve();
	}
	while (user.got < MUCH)
		serve();
	assert_told(&user, 1, 0, 0, 0);
	ops->release(user.stream);
}

/* --- the end --- */

/* The peer's FIN comes first: this end still sends, also what did not fit at once. */
static void peer_ends_first(void **state)
{
	for (unsigned n = 0; n < 2; n++) {
		memset(&user, 0, sizeof(user));
		open_pair();
		shutdown(peer, SHUT_WR);
		while (!user.told[PEER_CLOSED])
			serve();
		settle();
		assert_told(&user, 1, 1, 0, 0);
		assert_int_equal(ops->send(user.stream, pattern, n ? MUCH : SOME), 0);
		ops->half_close(user.stream);
		settle();
		assert_int_equal(user.told[CLOSED], !n);
		peer_reads(n ? MUCH : SOME);
		assert_int_equal(peer_end(), 0);
		while (!user.told[CLOSED])
			serve();
		settle();
		assert_told(&user, 1, 1, 1, 0);
		ops->release(user.stream);
		close(peer);
	}
	peer = -1;
}

/* This end is done first: the peer's bytes still come. */
static void this_end_first(void **state)
{
	open_pair();
	ops->half_close(user.stream);
	ops->half_close(user.stream);
	assert_int_equal(peer_end(), 0);
	assert_told(&user, 1, 0, 0, 0);
	assert_int_equal(send(peer, pattern, SOME, 0), SOME);
	while (user.got < SOME)
		serve();
	settle();
	assert_told(&user, 1, 0, 0, 0);
	shutdown(peer, SHUT_WR);
	while (!user.told[CLOSED])
		serve();
	assert_told(&user, 1, 1, 1, 0);
	ops->release(user.stream);
}

/* A reset of this end while bytes wait: the peer gets the RST, and the user nothing. */
static void reset_with_data(void **state)
{
	for (unsigned n = 0; n < 3; n++) {
		memset(&user, 0, sizeof(user));
		open_pair();
		if (n)
			assert_int_equal(ops->send(user.stream, pattern, MUCH), 0);
		if (n == 2)
			ops->half_close(user.stream);
		ops->reset(user.stream);
		assert_int_equal(ops->send(user.stream, pattern, 1), -EPIPE);
		assert_int_equal(peer_end(), ECONNRESET);
		assert_told(&user, 1, 0, 0, 0);
		ops->release(user.stream);
		assert_false(socket_net_serve(&net, 0));
		close(peer);
	}
	peer = -1;
}

/* A reset of the peer, in each state that the two directions can have. */
static void peer_resets_in_each_state(void **state)
{
	for (unsigned n = 0; n < 8; n++) {
		const bool waits = n & 1, fin = n & 2, peer_fin = n & 4;

		if (fin && peer_fin && !waits)
			continue; /* over */
		memset(&user, 0, sizeof(user));
		open_pair();
		if (waits)
			assert_int_equal(ops->send(user.stream, pattern, MUCH), 0);
		if (peer_fin) {
			shutdown(peer, SHUT_WR);
			while (!user.told[PEER_CLOSED])
				serve();
		}
		if (fin)
			ops->half_close(user.stream);
		settle();
		assert_told(&user, 1, peer_fin, 0, 0);
		peer_resets();
		while (!user.told[FAILED])
			serve();
		settle();
		assert_told(&user, 1, peer_fin, 0, 1);
		assert_int_equal(user.error, -ECONNRESET);
		ops->release(user.stream);
	}
	assert_false(socket_net_serve(&net, 0));
}

/* Its user resets or releases a stream within each call: nothing follows, and nothing is left. */
static void ends_within(void **state)
{
	static const enum act acts[] = {RELEASE, RESET};

	for (unsigned n = 0; n < 2 * CALLS; n++) {
		const enum call within = n / 2;

		memset(&user, 0, sizeof(user));
		user.within = within;
		user.act = acts[n % 2];
		open_pair();
		if (within == RECEIVED)
			assert_int_equal(send(peer, pattern, SOME, 0), SOME);
		if (within == CLOSED)
			ops->half_close(user.stream);
		if (within == FAILED)
			peer_resets();
		else
			shutdown(peer, SHUT_WR);
		while (socket_net_serve(&net, STEP_MS))
			continue;
		assert_told(&user, 1, within == PEER_CLOSED || within == CLOSED, within == CLOSED,
			    within == FAILED);
		assert_int_equal(user.got, within == RECEIVED ? SOME : 0);
		if (peer >= 0)
			close(peer);
	}
	peer = -1;
	/* it ends its own direction when the peer has */
	memset(&user, 0, sizeof(user));
	user.within = PEER_CLOSED;
	user.act = HALF_CLOSE;
	open_pair();
	shutdown(peer, SHUT_WR);
	while (!user.told[CLOSED])
		serve();
	assert_told(&user, 1, 1, 1, 0);
	ops->release(user.stream);
}

/* The same while bytes wait for a peer that does not read: they still leave, unless the stream is reset. */
static void ends_within_with_data(void **state)
{
	static const enum act acts[] = {RELEASE, RESET, HALF_CLOSE};

	for (unsigned n = 0; n < 6; n++) {
		const bool at_fin = n % 2;

		memset(&user, 0, sizeof(user));
		user.within = at_fin ? PEER_CLOSED : RECEIVED;
		user.act = acts[n / 2];
		open_pair();
		assert_int_equal(ops->send(user.stream, pattern, MUCH), 0);
		if (at_fin)
			shutdown(peer, SHUT_WR);
		else
			assert_int_equal(send(peer, pattern, SOME, 0), SOME);
		while (!user.told[user.within])
			serve();
		settle();
		if (user.act == RESET) {
			assert_int_equal(peer_end(), ECONNRESET);
		} else {
			peer_reads(MUCH);
			assert_int_equal(peer_end(), 0);
			shutdown(peer, SHUT_WR);
		}
		while (user.act == HALF_CLOSE && !user.told[CLOSED])
			serve();
		if (user.act == HALF_CLOSE)
			ops->release(user.stream);
		while (socket_net_serve(&net, STEP_MS))
			continue;
		assert_told(&user, 1, at_fin || user.act == HALF_CLOSE, user.act == HALF_CLOSE, 0);
		assert_int_equal(user.got, at_fin ? 0 : SOME);
		close(peer);
	}
	peer = -1;
}

/* Who still uses a stream when the net ends hears of it once. */
static void net_ends(void **state)
{
	struct iw_timer timer = {.due_ps = IW_NEVER};

	ops->timer(&net.net, &timer, 1);
	ops->timer(&net.net, &timer, IW_NEVER);
	open_pair();
	socket_net_end(&net);
	assert_told(&user, 1, 0, 0, 1);
	assert_int_equal(user.error, -ECONNRESET);
}

/* --- listen --- */

static struct user users[2 * STREAMS];
static unsigned n_accepted;
static enum act accept_act;
static struct iw_listener *unlisten_within;

static void accepted(void *arg, struct iw_stream *stream)
{
	struct user *u = &users[STREAMS + n_accepted++];

	assert_ptr_equal(arg, &net);
	u->stream = stream;
	if (accept_act)
		do_act(u, accept_act);
	else
		ops->accept(stream, &stream_user, u);
	if (unlisten_within)
		ops->unlisten(unlisten_within);
	unlisten_within = NULL;
}

static struct iw_listener *listens(uint16_t *port)
{
	const int fd = fd_next();
	struct iw_listener *listener;

	memset(users, 0, sizeof(users));
	n_accepted = 0;
	accept_act = NOTHING;
	assert_int_equal(ops->listen(&net.net, 0, accepted, &net, &listener), 0);
	*port = port_of(fd);
	return listener;
}

/* Each of many streams carries its own bytes, in both directions. */
static void many_streams(void **state)
{
	struct iw_listener *listener, *second;
	unsigned whole;
	uint16_t port;

	listener = listens(&port);
	assert_int_equal(socket_net_port(&net), port);
	assert_int_equal(ops->listen(&net.net, port, accepted, &net, &second), -EADDRINUSE);
	for (unsigned i = 0; i < STREAMS; i++)
		assert_int_equal(ops->connect(&net.net, local(port), &stream_user, &users[i],
					      &users[i].stream),
				 0);
	while (n_accepted < STREAMS)
		serve();
	for (unsigned i = 0; i < 2 * STREAMS; i++)
		assert_int_equal(ops->send(users[i].stream, pattern, SOME + i), 0);
	do {
		serve();
		whole = 0;
		for (unsigned i = 0; i < 2 * STREAMS; i++)
			whole += users[i].got >= SOME;
	} while (whole < 2 * STREAMS);
	settle();
	for (unsigned i = 0; i < STREAMS; i++) {
		struct user *other = NULL;

		for (unsigned n = STREAMS; n < 2 * STREAMS; n++)
			if (users[n].got == SOME + i)
				other = &users[n];
		assert_non_null(other);
		assert_int_equal(users[i].got, SOME + (other - users));
		assert_int_equal(ops->peer(other->stream).ip, INADDR_LOOPBACK);
		assert_told(&users[i], 1, 0, 0, 0);
		ops->half_close(users[i].stream);
		ops->half_close(other->stream);
	}
	for (unsigned i = 0; i < 2 * STREAMS; i++) {
		while (!users[i].told[CLOSED])
			serve();
		assert_told(&users[i], i < STREAMS, 1, 1, 0);
		ops->release(users[i].stream);
	}
	ops->unlisten(listener);
	assert_false(socket_net_serve(&net, 0));
	assert_int_equal(socket_net_port(&net), 0);
}

/* Nobody listens at a port. That it is bound keeps the system from giving it to the caller, who
 * would then have called itself. */
static void nobody_listens(void **state)
{
	const int fd = peer_bind();

	dial(&user, port_of(fd));
	while (!user.told[FAILED])
		serve();
	assert_int_equal(user.error, -ECONNREFUSED);
	ops->release(user.stream);
	close(fd);
}

/* A new stream ends within accepted(), or the listener does. */
static void ends_within_accepted(void **state)
{
	for (unsigned n = 0; n < 3; n++) {
		struct iw_listener *listener;
		uint16_t port;

		listener = listens(&port);
		accept_act = n ? (n == 1 ? RELEASE : RESET) : NOTHING;
		unlisten_within = n ? NULL : listener;
		memset(&user, 0, sizeof(user));
		dial(&user, port);
		while (n && !user.told[n == 1 ? PEER_CLOSED : FAILED])
			serve();
		while (!n && !n_accepted)
			serve();
		assert_int_equal(n_accepted, 1);
		do_act(&user, RESET);
		if (n)
			ops->unlisten(listener);
		else
			do_act(&users[STREAMS], RESET);
		while (socket_net_serve(&net, STEP_MS))
			continue;
	}
}

/* --- memory --- */

static unsigned lacks_at;

static bool lacks(void)
{
	return lacks_at && !--lacks_at;
}

/* Each call that finds no memory has no effect. */
static void no_memory(void **state)
{
	struct iw_listener *listener;
	const int fd = fd_next();
	uint16_t port;

	drv_calloc_fails = lacks;
	lacks_at = 1;
	assert_int_equal(ops->connect(&net.net, local(1), &stream_user, &user, &user.stream),
			 -ENOMEM);
	lacks_at = 1;
	assert_int_equal(ops->listen(&net.net, 0, accepted, &net, &listener), -ENOMEM);
	assert_int_equal(fd_next(), fd);
	assert_false(socket_net_serve(&net, 0));
	open_pair();
	for (unsigned n = 0; n < 2; n++) {
		lacks_at = 1;
		assert_int_equal(ops->send(user.stream, pattern + SOME, MUCH - SOME), -ENOMEM);
		lacks_at = 0;
		if (!n)
			assert_int_equal(ops->send(user.stream, pattern, SOME), 0);
	}
	assert_int_equal(ops->send(user.stream, pattern + SOME, MUCH - SOME), 0);
	lacks_at = 1; /* bytes wait */
	assert_int_equal(ops->send(user.stream, pattern, 1), -ENOMEM);
	peer_reads(MUCH);
	do_act(&user, RESET);
	/* a stream that finds no memory is closed, and the next one is not */
	listener = listens(&port);
	for (unsigned n = 0; n < 2; n++) {
		memset(&user, 0, sizeof(user));
		dial(&user, port);
		lacks_at = !n;
		while (n ? !n_accepted : !user.told[PEER_CLOSED] && !user.told[FAILED])
			serve();
		assert_int_equal(n_accepted, n);
		do_act(&user, RESET);
	}
	do_act(&users[STREAMS], RELEASE);
	ops->unlisten(listener);
}

/* --- timers --- */

enum { TIMERS = 6 };

static struct timer {
	struct iw_timer timer;
	struct timer *sets, *clears; /* sets: to the time at which this one was due */
	uint64_t due_ps, at_ps;      /* at_ps: when it ran */
} timers[TIMERS];

static struct timer *ran[2 * TIMERS];
static unsigned n_ran;

static void timer_runs(void *arg)
{
	struct timer *t = arg;

	assert_in_range(n_ran, 0, 2 * TIMERS - 1);
	ran[n_ran++] = t;
	t->at_ps = ops->now_ps(&net.net);
	if (t->sets)
		ops->timer(&net.net, &t->sets->timer, t->due_ps);
	if (t->clears)
		ops->timer(&net.net, &t->clears->timer, IW_NEVER);
	t->sets = t->clears = NULL;
}

static void timers_in_order(void **state)
{
	static const unsigned ms[TIMERS] = {9, 3, 12, 6, 0, 1};
	static const unsigned order[] = {4, 5, 1, 1, 3, 5, 0};
	const uint64_t start = ops->now_ps(&net.net);

	n_ran = 0;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < TIMERS; i++) {
			timers[i].timer.fn = timer_runs;
			timers[i].timer.arg = &timers[i];
			timers[i].due_ps = start + (round ? ms[i] : 50 + i) * PS_PER_MS;
			/* the second time each is moved */
			ops->timer(&net.net, &timers[i].timer, timers[i].due_ps);
		}
	timers[1].sets = &timers[1]; /* itself again */
	timers[3].sets = &timers[5];
	timers[0].clears = &timers[2];
	while (n_ran < sizeof(order) / sizeof(order[0]))
		assert_true(socket_net_serve(&net, -1));
	for (unsigned i = 0; i < n_ran; i++)
		assert_ptr_equal(ran[i], &timers[order[i]]);
	for (unsigned i = 0; i < 2; i++)
		assert_true(timers[i].at_ps >= start + ms[i] * PS_PER_MS);
	assert_false(socket_net_serve(&net, -1));
	assert_int_equal(n_ran, sizeof(order) / sizeof(order[0]));
	/* those that are late run in order, too, and at once */
	n_ran = 0;
	for (unsigned i = 0; i < TIMERS; i++)
		ops->timer(&net.net, &timers[i].timer, start + ms[i]);
	assert_true(socket_net_serve(&net, -1));
	assert_int_equal(n_ran, TIMERS);
	for (unsigned i = 1; i < TIMERS; i++)
		assert_true(ms[ran[i - 1] - timers] < ms[ran[i] - timers]);
}

enum { OWN = 3 };

static struct own {
	struct iw_timer timer;
	unsigned index;
} * own[OWN];
static unsigned frees, freed, ran_set;

static void own_runs(void *arg)
{
	const unsigned index = ((struct own *)arg)->index;

	ran_set |= 1u << index;
	if (index != frees)
		return;
	ops->timer(&net.net, &own[freed]->timer, IW_NEVER);
	memset(own[freed], 0xa5, sizeof(*own[freed]));
	free(own[freed]);
	own[freed] = NULL;
}

/* Several are due at once, and one of them frees itself or another one. */
static void timers_freed_within(void **state)
{
	for (unsigned n = 0; n < OWN * OWN * 2; n++) {
		const uint64_t start = ops->now_ps(&net.net) - OWN;

		frees = n / 2 % OWN;
		freed = n / 2 / OWN;
		ran_set = 0;
		for (unsigned i = 0; i < OWN; i++) {
			const unsigned at = n % 2 ? OWN - 1 - i : i;

			own[at] = calloc(1, sizeof(*own[at]));
			assert_non_null(own[at]);
			*own[at] = (struct own){{.fn = own_runs, .arg = own[at]}, at};
			ops->timer(&net.net, &own[at]->timer, start + at);
		}
		assert_true(socket_net_serve(&net, -1));
		assert_int_equal(ran_set, freed > frees ? 7 & ~(1u << freed) : 7);
		for (unsigned i = 0; i < OWN; i++)
			free(own[i]);
		assert_false(socket_net_serve(&net, -1));
	}
}

/* A wait ends when its time is over, also where a timer is due later. */
static void waits_end(void **state)
{
	const uint64_t start = ops->now_ps(&net.net), later = start + 3600 * 1000 * PS_PER_MS;

	n_ran = 0;
	timers[0] = (struct timer){.timer = {.fn = timer_runs, .arg = &timers[0]}};
	ops->timer(&net.net, &timers[0].timer, later);
	assert_true(socket_net_serve(&net, 5));
	assert_true(ops->now_ps(&net.net) >= start + 4 * PS_PER_MS);
	assert_int_equal(n_ran, 0);
	ops->timer(&net.net, &timers[0].timer, IW_NEVER);
	assert_false(socket_net_serve(&net, -1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refused),
		TEST(unreachable),
		TEST(before_up),
		TEST(address_and_mss),
		TEST(much_to_a_slow_peer),
		TEST(much_from_the_peer),
		TEST(peer_ends_first),
		TEST(this_end_first),
		TEST(reset_with_data),
		TEST(peer_resets_in_each_state),
		TEST(ends_within),
		TEST(ends_within_with_data),
		TEST(net_ends),
		TEST(many_streams),
		TEST(nobody_listens),
		TEST(ends_within_accepted),
		TEST(no_memory),
		TEST(timers_in_order),
		TEST(timers_freed_within),
		TEST(waits_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
