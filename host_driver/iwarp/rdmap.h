/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDMAP messages in DDP segments (RFC 5040, RFC 5041): the headers that connection set-up needs,
 * made and read. A segment is the ULPDU of one FPDU.
 */
#ifndef HOST_DRIVER_IWARP_RDMAP_H
#define HOST_DRIVER_IWARP_RDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* O(name, number, tagged, queue): queue is the untagged buffer's, 0 for tagged messages. */
#define RDMAP_OPCODES(O)                                                                           \
	O(WRITE, 0, true, 0)                                                                       \
	O(READ_REQUEST, 1, false, RDMAP_QN_READ)                                                   \
	O(READ_RESPONSE, 2, true, 0)                                                               \
	O(SEND, 3, false, RDMAP_QN_SEND)                                                           \
	O(SEND_INVALIDATE, 4, false, RDMAP_QN_SEND)                                                \
	O(SEND_SOLICITED, 5, false, RDMAP_QN_SEND)                                                 \
	O(SEND_SOLICITED_INVALIDATE, 6, false, RDMAP_QN_SEND)                                      \
	O(TERMINATE, 7, false, RDMAP_QN_TERMINATE)

enum { RDMAP_QN_SEND, RDMAP_QN_READ, RDMAP_QN_TERMINATE, RDMAP_QUEUES };

enum rdmap_opcode {
#define O(name, number, tagged, queue) RDMAP_##name = number,
	RDMAP_OPCODES(O)
#undef O
		RDMAP_OPCODE_COUNT
};

/*
 * Why a stream ends, as a TERMINATE says it: T(name, layer, type, code, meaning). Layer 0 is RDMAP,
 * 1 DDP, 2 MPA (the lower layer). Source: RFC 5040 section 4.8, RFC 5041 section 6.2, RFC 5044
 * section 8, RFC 6581 section 8; RFC 6580 has all in one registry.
 */
#define IW_TERMS(T)                                                                                \
	T(LOCAL, 0, 0, 0, "local catastrophic error")                                              \
	T(REMOTE_STAG, 0, 1, 0, "invalid stag")                                                    \
	T(REMOTE_BOUNDS, 0, 1, 1, "base or bounds violation")                                      \
	T(REMOTE_ACCESS, 0, 1, 2, "access rights violation")                                       \
	T(REMOTE_STREAM, 0, 1, 3, "stag not associated with the stream")                           \
	T(REMOTE_WRAP, 0, 1, 4, "tagged offset wraps")                                             \
	T(REMOTE_INVALIDATE, 0, 1, 9, "stag cannot be invalidated")                                \
	T(RDMAP_VERSION, 0, 2, 5, "invalid rdmap version")                                         \
	T(RDMAP_OPCODE, 0, 2, 6, "unexpected opcode")                                              \
	T(RDMAP_STREAM, 0, 2, 7, "catastrophic, the stream")                                       \
	T(RDMAP_GLOBAL, 0, 2, 8, "catastrophic, the whole device")                                 \
	T(RDMAP_OTHER, 0, 2, 0xff, "unspecified")                                                  \
	T(TAGGED_STAG, 1, 1, 0, "tagged buffer: invalid stag")                                     \
	T(TAGGED_BOUNDS, 1, 1, 1, "tagged buffer: base or bounds violation")                       \
	T(TAGGED_STREAM, 1, 1, 2, "tagged buffer: stag not associated with the stream")            \
	T(TAGGED_WRAP, 1, 1, 3, "tagged buffer: tagged offset wraps")                              \
	T(TAGGED_VERSION, 1, 1, 4, "tagged buffer: invalid ddp version")                           \
	T(UNTAGGED_QN, 1, 2, 1, "untagged buffer: invalid queue number")                           \
	T(UNTAGGED_NO_BUFFER, 1, 2, 2, "untagged buffer: none available")                          \
	T(UNTAGGED_MSN, 1, 2, 3, "untagged buffer: message number out of range")                   \
	T(UNTAGGED_MO, 1, 2, 4, "untagged buffer: invalid message offset")                         \
	T(UNTAGGED_LONG, 1, 2, 5, "untagged buffer: message too long")                             \
	T(UNTAGGED_VERSION, 1, 2, 6, "untagged buffer: invalid ddp version")                       \
	T(MPA_LOST, 2, 0, 1, "tcp connection closed, terminated or lost")                          \
	T(MPA_CRC, 2, 0, 2, "crc error")                                                           \
	T(MPA_MARKER, 2, 0, 3, "marker and ulpdu length do not match")                             \
	T(MPA_START, 2, 0, 4, "invalid mpa request or reply frame")                                \
	T(MPA_LOCAL, 2, 0, 5, "local catastrophic error of mpa")                                   \
	T(MPA_IRD, 2, 0, 6, "insufficient ird resources")                                          \
	T(MPA_RTR, 2, 0, 7, "no matching rtr option")

enum iw_term {
	IW_TERM_NONE,
#define T(name, layer, type, code, meaning) IW_TERM_##name,
	IW_TERMS(T)
#undef T
		IW_TERM_COUNT
};

struct iw_term_row {
	uint8_t layer, type, code;
	const char *meaning;
};

extern const struct iw_term_row iw_term_rows[IW_TERM_COUNT];
/* IW_TERM_COUNT: no such code. */
enum iw_term iw_term_find(uint8_t layer, uint8_t type, uint8_t code);

enum {
	DDP_VERSION = 1,
	RDMAP_VERSION = 1,
	DDP_TAGGED_BYTES = 14,
	DDP_UNTAGGED_BYTES = 18,
	RDMAP_READ_BYTES = 28,
	RDMAP_TERM_BYTES = 4,
	RDMAP_HEAD_MAX = DDP_UNTAGGED_BYTES + RDMAP_READ_BYTES,
};

struct rdmap_message {
	enum rdmap_opcode opcode;
	bool last; /* segment of its message */
	uint32_t stag;
	uint64_t to;
	uint32_t invalidate, qn, msn, mo;
	struct rdmap_read {
		uint32_t sink_stag;
		uint64_t sink_to;
		uint32_t len, source_stag;
		uint64_t source_to;
	} read;
	struct {
		uint8_t layer, type, code;
	} term;
	const uint8_t *payload;
	size_t len;
};

const char *rdmap_opcode_name(enum rdmap_opcode opcode);
bool rdmap_tagged(enum rdmap_opcode opcode);

/* Writes a segment with the versions, T bit and queue number of its opcode; returns its length. The
 * payload is copied behind the headers. */
size_t rdmap_put(uint8_t *ulpdu, const struct rdmap_message *m);

/* Reads a segment. IW_TERM_NONE, or what is wrong with its headers. Numbers of messages and STags
 * are not looked at. */
enum iw_term rdmap_get(const uint8_t *ulpdu, size_t n, struct rdmap_message *m);

#endif
