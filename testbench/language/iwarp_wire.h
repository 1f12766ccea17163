/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by iwarp_wire.c, which judges frames and streams, and iwarp_message.c, which judges messages. */
#ifndef TESTBENCH_IWARP_WIRE_H
#define TESTBENCH_IWARP_WIRE_H

#include "testbench/language/iwarp_impl.h"

enum { IWARP_READS = 8 };

/* What a connection says it has sent, or what a scenario has sent by hand. */
struct iwarp_said {
	struct drv_list link;
	char text[200]; /* "": by hand */
	uint64_t breaks;
	uint32_t stag;
	size_t len;
	uint8_t ulpdu[];
};

/* One direction of a stream. */
struct iwarp_way {
	struct drv_list link;
	unsigned host;
	uint16_t from_port, to_port;
	bool initiator;
	uint32_t first; /* number of the first byte */
	uint32_t ack;   /* the latest one */
	/* what the peer has said of it: bytes that have arrived, and up to which there is room */
	bool acked;
	uint32_t acknowledged, room;
	uint8_t *bytes; /* all that were sent */
	uint32_t n;
	bool fin;
	struct drv_list said; /* of which the bytes have not left yet */
	uint32_t judged;      /* bytes of messages */
	uint32_t fpdus;       /* where FPDUs begin */
	bool started;         /* a Request or Reply has left */
	uint8_t start_bits, start_rev;
	/* FPDUs of the driver itself */
	unsigned sent, untagged;
	uint32_t msn[RDMAP_QUEUES];
	/* READs that wait for their response: what it has to name */
	uint8_t reads[IWARP_READS][4 + 8];
	unsigned n_reads;
	bool terminated;
	uint16_t term; /* layer, type and code of the latest TERMINATE */
};

/* Not those of host_driver/iwarp, which are judged. */
static inline uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/* iwarp_message.c */

/* Judges the next message of that direction; back: the opposite one, NULL: none yet. Bytes that it has; 0: they have not all left. *wrong: what it should have. */
size_t iwarp_message_judge(struct iwarp_way *way, struct iwarp_way *back,
			   const struct iwarp_said *said, const char **wrong);
/* Whether these 16 bits say that reason. */
bool iwarp_term_is(enum iw_term term, uint16_t bits);

#endif
