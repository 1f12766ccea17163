/* SPDX-License-Identifier: Apache-2.0 */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/socket.h"
#include "host_driver/mlx4/alloc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 128, READ_BYTES = 65536, POLLED_MAX = 1024, MSS_UNKNOWN = 1460 };

#define PS_PER_NS 1000
#define PS_PER_MS UINT64_C(1000000000)
#define NS_PER_S  UINT64_C(1000000000)

struct iw_listener {
	struct socket_net *net;
	struct iw_listener *next;
	int fd; /* -1: to be freed */
	void (*accepted)(void *arg, struct iw_stream *stream);
	void *arg;
};

struct iw_stream {
	struct socket_net *net;
	struct iw_stream *next;
	int fd; /* -1: done */
	bool connecting, released;
	bool fin, fin_sent, fin_received;
	int error; /* of connect() or send(), a number of errno.h; the poll finds the socket ready then */
	const struct iw_stream_user *user;
	void *arg;
	struct iw_address peer;
	uint8_t *data; /* not taken by the socket yet */
	size_t n_data;
};

static struct socket_net *net_of(struct iw_net *net)
{
	return (struct socket_net *)net; /* its first member */
}

static bool tells(const struct iw_stream *s)
{
	return s->fd >= 0 && !s->released && s->user;
}

static void stream_close(struct iw_stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void stream_fail(struct iw_stream *s, int error)
{
	const bool tell = tells(s);

	stream_close(s);
	if (tell)
		s->user->failed(s->arg, error);
}

static int error_of(int number)
{
	if (number == ECONNREFUSED || number == ETIMEDOUT)
		return -number;
	return number == EHOSTUNREACH || number == ENETUNREACH ? -ETIMEDOUT : -ECONNRESET;
}

static struct iw_stream *stream_make(struct socket_net *net, int fd, struct iw_address peer)
{
	struct iw_stream *s = drv_calloc(1, sizeof(*s));
	const int one = 1;

	if (!s)
		return NULL;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	s->net = net;
	s->fd = fd;
	s->peer = peer;
	s->next = net->streams;
	net->streams = s;
	return s;
}

static struct sockaddr_in address_of(struct iw_address a)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(a.port), .sin_addr.s_addr = htonl(a.ip)};
}

/* --- the stream's functions --- */

static int socket_connect(struct iw_net *net, struct iw_address to,
			  const struct iw_stream_user *user, void *arg, struct iw_stream **out)
{
	const struct sockaddr_in addr = address_of(to);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct iw_stream *s;

	if (fd < 0)
		return -errno;
	s = stream_make(net_of(net), fd, to);
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->user = user;
	s->arg = arg;
	s->connecting = true;
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) && errno != EINPROGRESS)
		s->error = errno;
	*out = s;
	return 0;
}

static int socket_listen(struct iw_net *net, uint16_t port,
			 void (*accepted)(void *arg, struct iw_stream *stream), void *arg,
			 struct iw_listener **out)
{
	const struct sockaddr_in addr =
		address_of((struct iw_address){.ip = INADDR_ANY, .port = port});
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	struct iw_listener *l = drv_calloc(1, sizeof(*l));
	int ret = fd < 0 || !l ? -ENOMEM : 0;

	if (!ret) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) || listen(fd, BACKLOG))
			ret = -errno;
	}
	if (ret) {
		if (fd >= 0)
			close(fd);
		free(l);
		return ret;
	}
	*l = (struct iw_listener){net_of(net), net_of(net)->listeners, fd, accepted, arg};
	net_of(net)->listeners = l;
	*out = l;
	return 0;
}

uint16_t socket_net_port(const struct socket_net *net)
{
	struct sockaddr_in addr = {0};
	socklen_t size = sizeof(addr);

	if (net->listeners)
		getsockname(net->listeners->fd, (struct sockaddr *)&addr, &size);
	return ntohs(addr.sin_port);
}

static void socket_unlisten(struct iw_listener *listener)
{
	close(listener->fd);
	listener->fd = -1;
}

static void socket_accept(struct iw_stream *s, const struct iw_stream_user *user, void *arg)
{
	s->user = user;
	s->arg = arg;
}

/* Hands the socket what it takes, and then the FIN. */
static void stream_push(struct iw_stream *s)
{
	ssize_t n;

	if (s->error)
		return;
	while (s->n_data && s->fd >= 0) {
		n = send(s->fd, s->data, s->n_data, MSG_NOSIGNAL);
		if (n < 0) {
			/* the socket has told its error now; its user hears of it after the poll */
			if (errno != EAGAIN && errno != EINTR)
				s->error = errno;
			return;
		}
		s->n_data -= (size_t)n;
		memmove(s->data, s->data + n, s->n_data);
	}
	if (s->fin && !s->fin_sent && s->fd >= 0 && !s->connecting) {
		shutdown(s->fd, SHUT_WR);
		s->fin_sent = true;
	}
}

static int socket_send(struct iw_stream *s, const uint8_t *bytes, size_t n)
{
	if (s->fin || s->fd < 0)
		return -EPIPE;
	if (!n)
		return 0;
	if (bytes_append(&s->data, &s->n_data, bytes, n))
		return -ENOMEM;
	stream_push(s);
	return 0;
}

static void socket_half_close(struct iw_stream *s)
{
	s->fin = true;
	stream_push(s);
}

static void socket_reset(struct iw_stream *s)
{
	const struct linger now = {.l_onoff = 1};

	if (s->fd >= 0)
		setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	stream_close(s);
}

static void socket_release(struct iw_stream *s)
{
	socket_half_close(s);
	s->released = true;
}

static unsigned socket_mss(const struct iw_stream *s)
{
	int mss;
	socklen_t n = sizeof(mss);

	return getsockopt(s->fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &n) ? MSS_UNKNOWN : (unsigned)mss;
}

static struct iw_address socket_peer(const struct iw_stream *s)
{
	return s->peer;
}

static uint64_t socket_now_ps(struct iw_net *net)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec) * PS_PER_NS;
}

static void socket_timer(struct iw_net *net, struct iw_timer *timer, uint64_t due_ps)
{
	struct iw_timer **p = &net_of(net)->timers;

	while (*p && *p != timer)
		p = &(*p)->next;
	if (*p)
		*p = timer->next;
	timer->due_ps = due_ps;
	if (due_ps == IW_NEVER)
		return;
	timer->next = net_of(net)->timers;
	net_of(net)->timers = timer;
}

static const struct iw_stream_ops socket_ops = {
	.connect = socket_connect,
	.listen = socket_listen,
	.unlisten = socket_unlisten,
	.accept = socket_accept,
	.send = socket_send,
	.half_close = socket_half_close,
	.reset = socket_reset,
	.release = socket_release,
	.mss = socket_mss,
	.peer = socket_peer,
	.now_ps = socket_now_ps,
	.timer = socket_timer,
};

/* --- what happens --- */

static void connect_end(struct iw_stream *s)
{
	int error = s->error;
	socklen_t n = sizeof(error);

	if (!error)
		getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n);
	s->connecting = false;
	if (error) {
		stream_fail(s, error_of(error));
		return;
	}
	if (tells(s))
		s->user->up(s->arg);
	stream_push(s); /* what has waited for it */
}

/* Both directions are done. */
static void close_if_over(struct iw_stream *s)
{
	const bool tell = tells(s);

	if (s->fd < 0 || !s->fin_sent || !s->fin_received || s->n_data)
		return;
	stream_close(s);
	if (tell)
		s->user->closed(s->arg);
}

static void readable(struct iw_stream *s)
{
	static uint8_t bytes[READ_BYTES];
	const ssize_t n = recv(s->fd, bytes, sizeof(bytes), 0);

	if (n > 0) {
		if (tells(s))
			s->user->received(s->arg, bytes, (size_t)n);
	} else if (!n) {
		s->fin_received = true;
		if (tells(s))
			s->user->peer_closed(s->arg);
	} else if (errno != EAGAIN && errno != EINTR) {
		stream_fail(s, error_of(errno));
	}
}

static void stream_serve(struct iw_stream *s, short events)
{
	if (s->connecting) {
		if (events)
			connect_end(s);
		return;
	}
	if (events & POLLOUT)
		stream_push(s);
	if (s->error)
		stream_fail(s, error_of(s->error));
	else if (events & (POLLIN | POLLHUP | POLLERR) && !s->fin_received)
		readable(s);
	else if (events & (POLLHUP | POLLERR) && !s->fin_sent)
		stream_fail(s, -ECONNRESET);
	close_if_over(s);
}

static void listener_serve(struct iw_listener *l)
{
	struct sockaddr_in from;
	socklen_t n = sizeof(from);
	const int fd = accept(l->fd, (struct sockaddr *)&from, &n);
	struct iw_stream *s;

	if (fd < 0)
		return;
	s = stream_make(l->net, fd,
			(struct iw_address){ntohl(from.sin_addr.s_addr), ntohs(from.sin_port)});
	if (s)
		l->accepted(l->arg, s);
	else
		close(fd);
}

/* --- the loop --- */

static void sweep(struct socket_net *net)
{
	for (struct iw_stream **p = &net->streams; *p;) {
		struct iw_stream *s = *p;

		if (s->fd >= 0 || !s->released) {
			p = &s->next;
			continue;
		}
		*p = s->next;
		free(s->data);
		free(s);
	}
	for (struct iw_listener **p = &net->listeners; *p;) {
		struct iw_listener *l = *p;

		if (l->fd >= 0) {
			p = &l->next;
			continue;
		}
		*p = l->next;
		free(l);
	}
}

static void timers_run(struct socket_net *net)
{
	const uint64_t now = socket_now_ps(&net->net);
	struct iw_timer *due;

	do {
		due = NULL;
		for (struct iw_timer *t = net->timers; t; t = t->next)
			if (t->due_ps <= now && (!due || t->due_ps < due->due_ps))
				due = t;
		if (due) {
			socket_timer(&net->net, due, IW_NEVER);
			due->fn(due->arg);
		}
	} while (due);
}

static int wait_ms(struct socket_net *net, int ms)
{
	const uint64_t now = socket_now_ps(&net->net);

	for (const struct iw_timer *t = net->timers; t; t = t->next) {
		const uint64_t left =
			t->due_ps > now ? (t->due_ps - now + PS_PER_MS - 1) / PS_PER_MS : 0;

		if (ms < 0 || left < (uint64_t)ms)
			ms = (int)left;
	}
	return ms;
}

static short wants(const struct iw_stream *s)
{
	if (s->connecting)
		return POLLOUT;
	return (short)((s->fin_received ? 0 : POLLIN) | (s->n_data ? POLLOUT : 0));
}

bool socket_net_serve(struct socket_net *net, int ms)
{
	static struct pollfd polled[POLLED_MAX];
	static struct iw_stream *streams[POLLED_MAX];
	static struct iw_listener *listeners[POLLED_MAX];
	unsigned n = 0, first;

	sweep(net);
	for (struct iw_listener *l = net->listeners; l && n < POLLED_MAX; l = l->next) {
		listeners[n] = l;
		polled[n++] = (struct pollfd){.fd = l->fd, .events = POLLIN};
	}
	first = n;
	for (struct iw_stream *s = net->streams; s && n < POLLED_MAX; s = s->next) {
		streams[n] = s;
		polled[n++] = (struct pollfd){.fd = s->fd, .events = wants(s)};
	}
	if (!n && !net->timers)
		return false;
	if (poll(polled, n, wait_ms(net, ms)) > 0) {
		for (unsigned i = first; i < n; i++)
			if (polled[i].revents && streams[i]->fd >= 0)
				stream_serve(streams[i], polled[i].revents);
		for (unsigned i = 0; i < first; i++)
			if (polled[i].revents && listeners[i]->fd >= 0)
				listener_serve(listeners[i]);
	}
	timers_run(net);
	sweep(net);
	return true;
}

void socket_net_begin(struct socket_net *net)
{
	*net = (struct socket_net){.net.ops = &socket_ops};
}

void socket_net_end(struct socket_net *net)
{
	for (struct iw_stream *s = net->streams; s; s = s->next) {
		stream_fail(s, -ECONNRESET);
		s->released = true;
	}
	for (struct iw_listener *l = net->listeners; l; l = l->next)
		if (l->fd >= 0)
			socket_unlisten(l);
	sweep(net);
}
