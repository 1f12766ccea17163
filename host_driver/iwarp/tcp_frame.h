/* SPDX-License-Identifier: Apache-2.0 */
/* One TCP segment in IPv4 in Ethernet, as bytes (RFC 791, RFC 9293). No IP options, no fragments. */
#ifndef HOST_DRIVER_IWARP_TCP_FRAME_H
#define HOST_DRIVER_IWARP_TCP_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ETH_ADDRESS = 6,
	ETH_HEADER = 14,
	ETH_FRAME_MIN = 60, /* without the FCS, which no capture has */
	IP_HEADER = 20,
	TCP_HEADER = 20,
	TCP_MSS_OPTION = 4,
	TCP_HEADERS = ETH_HEADER + IP_HEADER + TCP_HEADER + TCP_MSS_OPTION,
	TCP_FIN = 1,
	TCP_SYN = 2,
	TCP_RST = 4,
	TCP_PSH = 8,
	TCP_ACK = 16,
};

struct tcp_segment {
	uint32_t from_ip, to_ip;
	uint16_t from_port, to_port;
	uint32_t seq, ack;
	uint8_t flags;
	uint16_t window;
	uint16_t mss; /* of a SYN; 0: no option */
	uint16_t ip_id;
	const uint8_t *payload;
	size_t len;
};

/* Makes a frame; returns its length. room: TCP_HEADERS + len, at least ETH_FRAME_MIN. */
size_t tcp_frame_put(uint8_t *frame, const uint8_t to[ETH_ADDRESS], const uint8_t from[ETH_ADDRESS],
		     const struct tcp_segment *s);
/* NULL, or what is wrong: also a wrong checksum. */
const char *tcp_frame_get(const uint8_t *frame, size_t n, struct tcp_segment *s);

#endif
