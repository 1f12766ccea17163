/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The byte stream that iWARP needs: TCP, or what a test puts in its place. tcp.c is a small TCP
 * over a simulated Ethernet link, socket.c is the machine's own TCP. Files of this folder that are
 * not a stream know nothing of simulation or sockets.
 *
 * Nothing here blocks. A stream tells its user what has happened through struct iw_stream_user.
 * The user may call any function of the stream from there, release() too.
 */
#ifndef HOST_DRIVER_IWARP_STREAM_H
#define HOST_DRIVER_IWARP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IW_NEVER UINT64_MAX

/* IPv4, in host order. */
struct iw_address {
	uint32_t ip;
	uint16_t port;
};

struct iw_net;
struct iw_stream;
struct iw_listener;

struct iw_stream_user {
	/* connect() has succeeded */
	void (*up)(void *arg);
	/* the next bytes, in order; the pointer is valid during the call only */
	void (*received)(void *arg, const uint8_t *bytes, size_t n);
	/* the peer has sent its last byte */
	void (*peer_closed)(void *arg);
	/* both directions have ended in order */
	void (*closed)(void *arg);
	/* nothing more comes or goes: -ECONNREFUSED, -ETIMEDOUT, -ECONNRESET */
	void (*failed)(void *arg, int error);
};

/* The user embeds one wherever something can be due, and sets fn and arg once. */
struct iw_timer {
	uint64_t due_ps; /* IW_NEVER or 0: not set */
	void (*fn)(void *arg);
	void *arg;
	struct iw_timer *next; /* of the net's */
};

struct iw_stream_ops {
	/* up() or failed() follows, never before this returns. -errno: none does. */
	int (*connect)(struct iw_net *net, struct iw_address to, const struct iw_stream_user *user,
		       void *arg, struct iw_stream **stream);
	/* accepted() gets each new stream, which is up, and says by accept() who uses it. */
	int (*listen)(struct iw_net *net, uint16_t port,
		      void (*accepted)(void *arg, struct iw_stream *stream), void *arg,
		      struct iw_listener **listener);
	void (*unlisten)(struct iw_listener *listener);
	void (*accept)(struct iw_stream *stream, const struct iw_stream_user *user, void *arg);
	/* Takes all bytes or fails: -ENOMEM, -EPIPE after half_close(). */
	int (*send)(struct iw_stream *stream, const uint8_t *bytes, size_t n);
	/* The last byte has been sent; the peer may go on. */
	void (*half_close)(struct iw_stream *stream);
	/* Ends both directions at once. Nothing is told afterwards. */
	void (*reset)(struct iw_stream *stream);
	/* The user is gone: nothing is told afterwards. What was sent still leaves. */
	void (*release)(struct iw_stream *stream);
	/* Bytes that a segment carries at most. */
	unsigned (*mss)(const struct iw_stream *stream);
	struct iw_address (*peer)(const struct iw_stream *stream);
	uint64_t (*now_ps)(struct iw_net *net);
	/* Sets, moves or (IW_NEVER) clears a timer. */
	void (*timer)(struct iw_net *net, struct iw_timer *timer, uint64_t due_ps);
};

/* One a host. A stream embeds it in what it needs. */
struct iw_net {
	const struct iw_stream_ops *ops;
};

#endif
