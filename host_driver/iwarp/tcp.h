/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small TCP for simulated hosts, as a stream (stream.h) over an Ethernet link. It has the MSS
 * option, cumulative ACKs, a window of 64 KiB, FIN with half-close, RST, and a fixed timeout of
 * 200 ms that doubles, six times. It probes a window that stays closed. A segment out of order is
 * dropped. It has no SACK, scaling, timestamps, congestion control or TIME-WAIT; Linux's TCP is the
 * other stream (socket.h).
 */
#ifndef HOST_DRIVER_IWARP_TCP_H
#define HOST_DRIVER_IWARP_TCP_H

#include "host_driver/iwarp/stream.h"
#include "host_driver/iwarp/tcp_frame.h"

struct tcp_host;

/* What it needs from the machine. */
struct tcp_link_ops {
	void (*send)(struct tcp_host *host, const uint8_t *frame, size_t n);
	uint64_t (*now_ps)(struct tcp_host *host);
	/* sets, moves or (IW_NEVER) clears a timer */
	void (*timer)(struct tcp_host *host, struct iw_timer *timer, uint64_t due_ps);
};

struct tcp_host {
	struct iw_net net; /* first */
	const struct tcp_link_ops *ops;
	uint32_t ip;
	uint8_t mac[ETH_ADDRESS], peer_mac[ETH_ADDRESS];
	uint16_t segment_max; /* bytes in a segment; 0: the MSS */
	uint16_t next_port, ip_id;
	uint32_t next_seq; /* first one of the next connection */
	struct iw_stream *streams;
	struct iw_listener *listeners;
};

/* index: 0 or 1; ops and further members are the caller's. */
void tcp_host_begin(struct tcp_host *host, const struct tcp_link_ops *ops, unsigned index);
/* Frees streams and listeners without a word. */
void tcp_host_end(struct tcp_host *host);
/* For tests: the segment without data that this stream would send now. */
void tcp_segment_next(const struct iw_stream *stream, struct tcp_segment *segment);
/* A frame has arrived. What is not for this host, or damaged, is dropped. */
void tcp_host_frame(struct tcp_host *host, const uint8_t *frame, size_t n);

#endif
