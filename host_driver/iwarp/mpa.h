/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPA, Marker PDU Aligned framing (RFC 5044), with enhanced connection set-up (RFC 6581): the
 * frames that begin a connection, and the frames of full operation (FPDUs) with their markers and
 * CRC. No state but that of one direction of one stream.
 */
#ifndef HOST_DRIVER_IWARP_MPA_H
#define HOST_DRIVER_IWARP_MPA_H

#include "host_driver/iwarp/crc32c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- Request, Reply, and the Rtr frame that was proposed in 2007 --- */

enum {
	MPA_KEY_BYTES = 16,
	MPA_START_BYTES = 20, /* key, bits, revision, length of private data */
	MPA_PDATA_MAX = 512,
	MPA_ENHANCED_BYTES = 4,     /* they begin the private data where S and revision 2 say so */
	MPA_UNKNOWN_DEPTH = 0x3fff, /* IRD or ORD that is not negotiated here */
	MPA_M = 0x80,               /* the sender wants markers in what it receives */
	MPA_C = 0x40,               /* it wants CRCs in both directions */
	MPA_R = 0x20,               /* Reply: rejected */
	MPA_S = 0x10, /* revision 2: the private data is enhanced; revision 1: an Rtr frame follows */
};

/* F(name, key): the second spelling of Rtr is in the hex dump of the proposal, the first one in its
 * text. Both are understood, the first one is sent. */
#define MPA_KEYS(F)                                                                                \
	F(REQ, "MPA ID Req Frame")                                                                 \
	F(REP, "MPA ID Rep Frame")                                                                 \
	F(RTR, "MPA ID Rtr Frame")                                                                 \
	F(RTR_DUMP, "MPA ID RtR Frame")

enum mpa_key {
#define F(name, key) MPA_##name,
	MPA_KEYS(F)
#undef F
		MPA_KEY_COUNT /* no such key */
};

extern const char mpa_keys[MPA_KEY_COUNT][MPA_KEY_BYTES + 1];

/* The kinds of first message by which an initiator says that it is ready to receive. */
enum {
	MPA_RTR_SEND = 4,
	MPA_RTR_WRITE = 2,
	MPA_RTR_READ = 1,
	MPA_RTR_ALL = 7,
};

struct mpa_enhanced {
	bool peer_to_peer; /* A */
	uint8_t kinds;     /* MPA_RTR_*: B, C, D */
	uint16_t ird, ord;
};

struct mpa_start {
	enum mpa_key key;
	uint8_t bits, rev;
	uint16_t length;   /* of all private data, as the frame says */
	bool has_enhanced; /* S, revision 2, and 4 bytes are there */
	struct mpa_enhanced enhanced;
	uint16_t pdata_len; /* without the enhanced ones */
	const uint8_t *pdata;
};

/* The whole frame; returns its length. has_enhanced says whether enhanced data go first; bits and
 * rev are written as they are. */
size_t mpa_start_put(uint8_t frame[static MPA_START_BYTES + MPA_PDATA_MAX],
		     const struct mpa_start *start);

/* Collects one frame from a stream. */
struct mpa_start_rx {
	uint8_t bytes[MPA_START_BYTES + MPA_PDATA_MAX];
	size_t have;
};

/*
 * Takes bytes until the frame is whole: 1 with *start, whose pdata points into rx; 0: more is
 * needed; -EPROTO: an unknown key, more than 512 bytes of private data, enhanced data of less than
 * 4 bytes. *taken: how many were used.
 */
int mpa_start_get(struct mpa_start_rx *rx, const uint8_t *bytes, size_t n, size_t *taken,
		  struct mpa_start *start);

/* --- FPDUs --- */

enum {
	MPA_MARKER_EVERY = 512,
	MPA_MARKER_BYTES = 4,
	MPA_LENGTH_BYTES = 2,
	MPA_ULPDU_MAX = 0xffff,
	MPA_MULPDU_MIN = 128,
	/* an FPDU with a marker every 512 bytes and one in front */
	MPA_FPDU_MAX = (MPA_LENGTH_BYTES + MPA_ULPDU_MAX + 3 + IW_CRC_BYTES) / 508 * 512 + 1024,
};

/* The largest ULPDU that fits into one segment. */
unsigned mpa_mulpdu(unsigned emss, bool markers);

/* One direction of one stream, from the first byte of the first FPDU on. */
struct mpa_fpdus {
	bool markers, crc;
	uint64_t at; /* bytes of the stream so far, markers too */
};

/* Makes one FPDU; returns its length. room: mpa_fpdu_room(n). */
size_t mpa_fpdu_put(struct mpa_fpdus *tx, uint8_t *fpdu, const uint8_t *ulpdu, size_t n);
size_t mpa_fpdu_room(size_t n);

enum mpa_verdict {
	MPA_MORE, /* the FPDU is not whole yet */
	MPA_FPDU, /* ulpdu and len are set */
	MPA_BAD_CRC,
	MPA_BAD_MARKER, /* marker and ULPDU length do not match */
};

struct mpa_fpdu_rx {
	struct mpa_fpdus stream;
	uint8_t word[4]; /* collected so far; everything here is a multiple of 4 */
	unsigned have;
	uint32_t words, want; /* of the FPDU, without markers */
	uint32_t raw;         /* bytes since the length field, with markers */
	uint32_t sum;
	uint16_t len;
	uint8_t ulpdu[MPA_LENGTH_BYTES + MPA_ULPDU_MAX + 3]; /* behind the length field */
};

/* Takes bytes until one FPDU is whole or something is wrong. *taken: how many were used. After a
 * bad verdict the direction must not be used again. */
enum mpa_verdict mpa_fpdu_get(struct mpa_fpdu_rx *rx, const uint8_t *bytes, size_t n,
			      size_t *taken);

static inline const uint8_t *mpa_ulpdu(const struct mpa_fpdu_rx *rx)
{
	return rx->ulpdu + MPA_LENGTH_BYTES;
}

#endif
