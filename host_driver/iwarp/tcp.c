/* SPDX-License-Identifier: Apache-2.0 */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/tcp.h"
#include "host_driver/mlx4/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TCP_MSS = 1460,
	TCP_WINDOW = 65535,
	TCP_TRIES = 6,
	TCP_PROBE = 1, /* bytes that are sent into a closed window */
	TCP_FIRST_PORT = 49152,
};

#define TCP_RTO_PS    UINT64_C(200000000000)   /* 200 ms */
#define TCP_ORPHAN_PS UINT64_C(10000000000000) /* 10 s that a peer has to send its FIN */

/* T(name, waits for) */
#define TCP_STATES(T)                                                                              \
	T(SYN_SENT, "SYN and ACK")                                                                 \
	T(SYN_RECEIVED, "ACK")                                                                     \
	T(OPEN, "data, FIN in either direction")                                                   \
	T(DEAD, "its user's release")

enum tcp_state {
#define T(name, waits) TCP_##name,
	TCP_STATES(T)
#undef T
};

struct iw_listener {
	struct tcp_host *host;
	struct iw_listener *next;
	uint16_t port;
	void (*accepted)(void *arg, struct iw_stream *stream);
	void *arg;
};

struct iw_stream {
	struct tcp_host *host;
	struct iw_stream *next;
	enum tcp_state state;
	struct iw_address peer;
	uint16_t port;
	uint16_t mss;
	const struct iw_stream_user *user;
	void *arg;
	unsigned holds; /* calls under way; the last one frees what is released and dead */
	bool released;
	/* unacknowledged and unsent bytes; the first one has the number una */
	uint8_t *data;
	size_t n_data;
	uint32_t una, nxt, rcv_nxt;
	uint32_t window; /* of the peer */
	bool fin;        /* behind the data */
	bool fin_sent, fin_acked, fin_received;
	unsigned tries;
	struct iw_timer timer;
};

static struct tcp_host *host_of(struct iw_net *net)
{
	return (struct tcp_host *)net; /* its first member */
}

static uint64_t now_ps(const struct iw_stream *s)
{
	return s->host->ops->now_ps(s->host);
}

/* a before b, of numbers that wrap */
static bool before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* --- segments out --- */

void tcp_segment_next(const struct iw_stream *s, struct tcp_segment *segment)
{
	*segment = (struct tcp_segment){
		.from_ip = s->host->ip,
		.to_ip = s->peer.ip,
		.from_port = s->port,
		.to_port = s->peer.port,
		.seq = s->nxt,
		.ack = s->rcv_nxt,
		.flags = TCP_ACK,
		.window = TCP_WINDOW,
	};
}

static void segment_send(struct iw_stream *s, uint8_t flags, uint32_t seq, const uint8_t *payload,
			 size_t n)
{
	uint8_t frame[TCP_HEADERS + TCP_MSS];
	struct tcp_host *host = s->host;
	struct tcp_segment segment;

	tcp_segment_next(s, &segment);
	segment.seq = seq;
	if (!(flags & TCP_ACK))
		segment.ack = 0;
	segment.flags = flags;
	segment.mss = flags & TCP_SYN ? TCP_MSS : 0;
	segment.ip_id = host->ip_id++;
	segment.payload = payload;
	segment.len = n;
	host->ops->send(host, frame, tcp_frame_put(frame, host->peer_mac, host->mac, &segment));
}

static void ack_send(struct iw_stream *s)
{
	segment_send(s, TCP_ACK, s->nxt, NULL, 0);
}

static void timer_start(struct iw_stream *s)
{
	s->host->ops->timer(s->host, &s->timer, now_ps(s) + (TCP_RTO_PS << s->tries));
}

static void timer_stop(struct iw_stream *s)
{
	s->tries = 0;
	s->host->ops->timer(s->host, &s->timer, IW_NEVER);
}

static void syn_send(struct iw_stream *s)
{
	segment_send(s, s->state == TCP_SYN_SENT ? TCP_SYN : TCP_SYN | TCP_ACK, s->una, NULL, 0);
	s->nxt = s->una + 1;
	timer_start(s);
}

/* Sends what is within that many bytes of those that the peer has acknowledged. */
static void data_within(struct iw_stream *s, uint32_t window)
{
	const uint32_t end = s->una + (uint32_t)s->n_data;
	size_t max = s->mss;

	if (s->state != TCP_OPEN)
		return;
	if (s->host->segment_max && s->host->segment_max < max)
		max = s->host->segment_max;
	while (before(s->nxt, end) && s->nxt - s->una < window) {
		size_t n = end - s->nxt, open = window - (s->nxt - s->una);

		n = n < max ? n : max;
		n = n < open ? n : open;
		segment_send(s, TCP_ACK | TCP_PSH, s->nxt, s->data + (s->nxt - s->una), n);
		s->nxt += (uint32_t)n;
	}
	if (s->fin && !s->fin_sent && s->nxt == end) {
		segment_send(s, TCP_ACK | TCP_FIN, s->nxt, NULL, 0);
		s->fin_sent = true;
		s->nxt++;
	}
	/* what a closed window holds back needs the timer, too: the segment that opens it may be lost */
	if ((s->nxt != s->una || s->n_data) && s->timer.due_ps == IW_NEVER)
		timer_start(s);
}

/* Sends what the peer's window allows. */
static void data_send(struct iw_stream *s)
{
	data_within(s, s->window);
}

/* --- life --- */

static void stream_free(struct iw_stream *s)
{
	struct iw_stream **p = &s->host->streams;

	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
	s->host->ops->timer(s->host, &s->timer, IW_NEVER);
	free(s->data);
	free(s);
}

static void stream_hold(struct iw_stream *s)
{
	s->holds++;
}

static void stream_let(struct iw_stream *s)
{
	if (!--s->holds && s->released && s->state == TCP_DEAD)
		stream_free(s);
}

static bool tells(const struct iw_stream *s)
{
	return s->user && !s->released && s->state != TCP_DEAD;
}

static void stream_die(struct iw_stream *s, int error)
{
	const bool tell = tells(s);

	timer_stop(s);
	s->state = TCP_DEAD;
	if (!tell)
		return;
	if (error)
		s->user->failed(s->arg, error);
	else
		s->user->closed(s->arg);
}

static void timed_out(void *arg)
{
	struct iw_stream *s = arg;

	stream_hold(s);
	if (s->released && s->fin_acked) {
		segment_send(s, TCP_RST | TCP_ACK, s->nxt, NULL, 0);
		stream_die(s, 0);
	} else if (++s->tries > TCP_TRIES) {
		segment_send(s, TCP_RST | TCP_ACK, s->nxt, NULL, 0);
		stream_die(s, -ETIMEDOUT);
	} else if (s->state != TCP_OPEN) {
		syn_send(s);
	} else {
		s->nxt = s->una;
		s->fin_sent = false;
		data_within(s, s->window ? s->window : TCP_PROBE);
		timer_start(s);
	}
	stream_let(s);
}

static struct iw_stream *stream_make(struct tcp_host *host, struct iw_address peer, uint16_t port)
{
	struct iw_stream *s = drv_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->host = host;
	s->peer = peer;
	s->port = port;
	s->mss = TCP_MSS;
	s->window = TCP_WINDOW;
	s->una = s->nxt = host->next_seq;
	host->next_seq += 0x10000;
	s->timer = (struct iw_timer){.fn = timed_out, .arg = s, .due_ps = IW_NEVER};
	s->next = host->streams;
	host->streams = s;
	return s;
}

/* --- the stream's functions --- */

static int tcp_connect(struct iw_net *net, struct iw_address to, const struct iw_stream_user *user,
		       void *arg, struct iw_stream **out)
{
	struct tcp_host *host = host_of(net);
	struct iw_stream *s = stream_make(host, to, host->next_port);

	if (!s)
		return -ENOMEM;
	host->next_port++;
	s->user = user;
	s->arg = arg;
	s->state = TCP_SYN_SENT;
	syn_send(s);
	*out = s;
	return 0;
}

static int tcp_listen(struct iw_net *net, uint16_t port,
		      void (*accepted)(void *arg, struct iw_stream *stream), void *arg,
		      struct iw_listener **out)
{
	struct tcp_host *host = host_of(net);
	struct iw_listener *l;

	for (l = host->listeners; l; l = l->next)
		if (l->port == port)
			return -EADDRINUSE;
	l = drv_calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	*l = (struct iw_listener){host, host->listeners, port, accepted, arg};
	host->listeners = l;
	*out = l;
	return 0;
}

static void tcp_unlisten(struct iw_listener *listener)
{
	struct iw_listener **p = &listener->host->listeners;

	while (*p != listener)
		p = &(*p)->next;
	*p = listener->next;
	free(listener);
}

static void tcp_accept(struct iw_stream *s, const struct iw_stream_user *user, void *arg)
{
	s->user = user;
	s->arg = arg;
}

static int tcp_send(struct iw_stream *s, const uint8_t *bytes, size_t n)
{
	if (s->fin || s->state == TCP_DEAD)
		return -EPIPE;
	if (!n)
		return 0;
	if (bytes_append(&s->data, &s->n_data, bytes, n))
		return -ENOMEM;
	data_send(s);
	return 0;
}

static void tcp_half_close(struct iw_stream *s)
{
	if (s->fin || s->state == TCP_DEAD)
		return;
	s->fin = true;
	data_send(s);
}

static void tcp_reset(struct iw_stream *s)
{
	if (s->state == TCP_DEAD)
		return;
	segment_send(s, TCP_RST | TCP_ACK, s->nxt, NULL, 0);
	s->user = NULL;
	stream_die(s, 0);
}

static void tcp_release(struct iw_stream *s)
{
	stream_hold(s);
	tcp_half_close(s);
	s->released = true;
	s->user = NULL;
	if (s->state != TCP_DEAD && s->fin_acked)
		s->host->ops->timer(s->host, &s->timer, now_ps(s) + TCP_ORPHAN_PS);
	stream_let(s);
}

static unsigned tcp_mss(const struct iw_stream *s)
{
	return s->mss;
}

static struct iw_address tcp_peer(const struct iw_stream *s)
{
	return s->peer;
}

static uint64_t tcp_now_ps(struct iw_net *net)
{
	return host_of(net)->ops->now_ps(host_of(net));
}

static void tcp_timer(struct iw_net *net, struct iw_timer *timer, uint64_t due_ps)
{
	host_of(net)->ops->timer(host_of(net), timer, due_ps);
}

static const struct iw_stream_ops tcp_ops = {
	.connect = tcp_connect,
	.listen = tcp_listen,
	.unlisten = tcp_unlisten,
	.accept = tcp_accept,
	.send = tcp_send,
	.half_close = tcp_half_close,
	.reset = tcp_reset,
	.release = tcp_release,
	.mss = tcp_mss,
	.peer = tcp_peer,
	.now_ps = tcp_now_ps,
	.timer = tcp_timer,
};

/* --- segments in --- */

/* The peer's ACK: what it covers is done. */
static void ack_take(struct iw_stream *s, const struct tcp_segment *in)
{
	uint32_t n;

	if (before(in->ack, s->una) || before(s->nxt, in->ack))
		return;
	s->window = in->window;
	n = in->ack - s->una;
	if (!n) {
		if (!s->window)
			s->tries = 0; /* it is there, and has no room */
		data_send(s);
		return;
	}
	if (s->fin_sent && n > s->n_data) {
		s->fin_acked = true;
		s->una++;
		n--;
	}
	s->n_data -= n;
	memmove(s->data, s->data + n, s->n_data);
	s->una += n;
	timer_stop(s);
	data_send(s);
}

static void data_take(struct iw_stream *s, const struct tcp_segment *in)
{
	uint32_t old = s->rcv_nxt - in->seq; /* bytes that are here already */
	size_t n = in->len;

	if (before(s->rcv_nxt, in->seq)) {
		ack_send(s); /* something before it is missing */
		return;
	}
	if (!n && !(in->flags & TCP_FIN))
		return;
	/* all of it, the FIN perhaps too; nothing comes behind a FIN */
	if (old > n || s->fin_received) {
		ack_send(s);
		return;
	}
	n -= old;
	s->rcv_nxt += (uint32_t)n;
	if (in->flags & TCP_FIN) {
		s->fin_received = true;
		s->rcv_nxt++;
	}
	ack_send(s);
	if (n && tells(s))
		s->user->received(s->arg, in->payload + old, n);
	if (s->fin_received && in->flags & TCP_FIN && tells(s))
		s->user->peer_closed(s->arg);
}

static void open_take(struct iw_stream *s, const struct tcp_segment *in)
{
	if (in->flags & TCP_SYN) {
		ack_send(s); /* the ACK of its SYN was lost */
		return;
	}
	if (!(in->flags & TCP_ACK)) /* all have it from now on */
		return;
	ack_take(s, in);
	data_take(s, in);
	if (s->state == TCP_OPEN && s->fin_acked && s->fin_received)
		stream_die(s, 0);
	else if (s->released && s->fin_acked && s->timer.due_ps == IW_NEVER)
		s->host->ops->timer(s->host, &s->timer, now_ps(s) + TCP_ORPHAN_PS);
}

static void opened(struct iw_stream *s, const struct tcp_segment *in)
{
	s->una++;
	timer_stop(s);
	s->window = in->window;
	s->state = TCP_OPEN;
}

static void syn_sent_take(struct iw_stream *s, const struct tcp_segment *in)
{
	if ((in->flags & (TCP_SYN | TCP_ACK)) != (TCP_SYN | TCP_ACK) || in->ack != s->nxt)
		return;
	s->rcv_nxt = in->seq + 1;
	if (in->mss && in->mss < s->mss)
		s->mss = in->mss;
	opened(s, in);
	ack_send(s);
	if (tells(s))
		s->user->up(s->arg);
}

static struct iw_listener *listener_find(struct tcp_host *host, uint16_t port)
{
	struct iw_listener *l = host->listeners;

	while (l && l->port != port)
		l = l->next;
	return l;
}

static void syn_received_take(struct iw_stream *s, const struct tcp_segment *in)
{
	struct iw_listener *l = listener_find(s->host, s->port);

	if (in->flags & TCP_SYN) {
		syn_send(s);
		return;
	}
	if (!(in->flags & TCP_ACK) || in->ack != s->nxt)
		return;
	opened(s, in);
	if (!l) {
		tcp_reset(s);
		return;
	}
	s->released = false;
	l->accepted(l->arg, s);
	open_take(s, in);
}

/* A peer that is done and gone answers a repeated FIN by RST: the end was in order. */
static int rst_error(const struct iw_stream *s)
{
	if (s->fin_sent && s->fin_received)
		return 0;
	return s->state == TCP_SYN_SENT ? -ECONNREFUSED : -ECONNRESET;
}

/* A RST counts when it answers the SYN, or is the next that the peer can send. One that is only near
 * that may come from somebody who guesses; a peer that means it answers the ACK by a RST that counts.
 * Source: RFC 9293 section 3.10.7.3 and 3.10.7.4. */
static void rst_take(struct iw_stream *s, const struct tcp_segment *in)
{
	const bool answers = in->flags & TCP_ACK && in->ack == s->nxt;

	if (s->state == TCP_SYN_SENT ? answers : in->seq == s->rcv_nxt)
		stream_die(s, rst_error(s));
	else if (s->state != TCP_SYN_SENT && in->seq - s->rcv_nxt < TCP_WINDOW)
		ack_send(s);
}

static void stream_take(struct iw_stream *s, const struct tcp_segment *in)
{
	stream_hold(s);
	if (in->flags & TCP_RST)
		rst_take(s, in);
	else if (s->state == TCP_SYN_SENT)
		syn_sent_take(s, in);
	else if (s->state == TCP_SYN_RECEIVED)
		syn_received_take(s, in);
	else
		open_take(s, in);
	stream_let(s);
}

static struct iw_stream *stream_find(struct tcp_host *host, const struct tcp_segment *in)
{
	struct iw_stream *s = host->streams;

	while (s && (s->state == TCP_DEAD || s->port != in->to_port ||
		     s->peer.port != in->from_port || s->peer.ip != in->from_ip))
		s = s->next;
	return s;
}

/* Nobody is there. */
static void refuse(struct tcp_host *host, const struct tcp_segment *in)
{
	uint8_t frame[TCP_HEADERS > ETH_FRAME_MIN ? TCP_HEADERS : ETH_FRAME_MIN];
	const struct tcp_segment rst = {
		.from_ip = host->ip,
		.to_ip = in->from_ip,
		.from_port = in->to_port,
		.to_port = in->from_port,
		.seq = in->flags & TCP_ACK ? in->ack : 0,
		.ack = in->seq + (uint32_t)in->len + !!(in->flags & (TCP_SYN | TCP_FIN)),
		.flags = TCP_RST | TCP_ACK,
		.ip_id = host->ip_id++,
	};

	host->ops->send(host, frame, tcp_frame_put(frame, host->peer_mac, host->mac, &rst));
}

static void syn_take(struct tcp_host *host, const struct tcp_segment *in)
{
	struct iw_stream *s;

	s = stream_make(host, (struct iw_address){in->from_ip, in->from_port}, in->to_port);
	if (!s)
		return;
	s->state = TCP_SYN_RECEIVED;
	s->released = true; /* until a listener has it */
	s->rcv_nxt = in->seq + 1;
	if (in->mss && in->mss < s->mss)
		s->mss = in->mss;
	syn_send(s);
}

void tcp_host_frame(struct tcp_host *host, const uint8_t *frame, size_t n)
{
	struct tcp_segment in;
	struct iw_stream *s;

	if (tcp_frame_get(frame, n, &in) || in.to_ip != host->ip)
		return;
	s = stream_find(host, &in);
	if (s)
		stream_take(s, &in);
	else if (in.flags & TCP_RST)
		return;
	else if ((in.flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && listener_find(host, in.to_port))
		syn_take(host, &in);
	else
		refuse(host, &in);
}

void tcp_host_begin(struct tcp_host *host, const struct tcp_link_ops *ops, unsigned index)
{
	*host = (struct tcp_host){
		.net.ops = &tcp_ops,
		.ops = ops,
		.ip = 0x0b000101 + index, /* as the HCA's first port, see testbench/connect.h */
		.mac = {2, 0, 0, 0, 0, (uint8_t)(1 + index)},
		.peer_mac = {2, 0, 0, 0, 0, (uint8_t)(2 - index)},
		.next_port = TCP_FIRST_PORT,
		/* numbers wrap early in the first connection */
		.next_seq = index ? 0xffffffc0 : 0xfffffff0,
	};
}

void tcp_host_end(struct tcp_host *host)
{
	while (host->streams)
		stream_free(host->streams);
	while (host->listeners)
		tcp_unlisten(host->listeners);
}
