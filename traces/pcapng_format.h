/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the pcapng and ERF formats, and the reader. Source: draft-ietf-opsawg-pcapng, Endace
 * ERF types. */
#ifndef TRACES_PCAPNG_FORMAT_H
#define TRACES_PCAPNG_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum pcapng_block {
	PCAPNG_SECTION = 0x0a0d0d0a,
	PCAPNG_INTERFACE = 1,
	PCAPNG_PACKET = 6,
};

enum pcapng_option {
	PCAPNG_OPT_COMMENT = 1,
	PCAPNG_OPT_PACKET_FLAGS = 2,
	PCAPNG_OPT_IF_NAME = 2,
	PCAPNG_OPT_USERAPPL = 4,
	PCAPNG_OPT_IF_TSRESOL = 9,
	PCAPNG_OPT_IF_FCSLEN = 13,
};

enum pcapng_facts {
	PCAPNG_MAGIC = 0x1a2b3c4d,
	PCAPNG_LINKTYPE_ETHERNET = 1,
	PCAPNG_LINKTYPE_ERF = 197,
	PCAPNG_TSRESOL = 9, /* power of ten: times are in nanoseconds */
	PCAPNG_PS = 1000,   /* picoseconds in a nanosecond */
	PCAPNG_TSRESOL_PS = 12,
	PCAPNG_INBOUND = 1,
	PCAPNG_OUTBOUND = 2,
	PCAPNG_PACKET_HEAD = 28,    /* bytes of an enhanced packet block before the packet */
	PCAPNG_BLOCK_MAX = 1 << 20, /* a longer block counts as damage */
	ERF_HEADER = 16,
	ERF_TYPE_INFINIBAND = 21,
	ERF_FLAG_INTERFACE = 3,
	ERF_FLAG_VARYING = 4,
	ERF_PACKET_MAX = 8192,     /* LRH.PktLen counts to 2047 words */
	ETHERNET_FRAME_MAX = 9622, /* ETHERNET_MAX of model/interface/ethernet.h and a VLAN tag */
};

#define PCAPNG_PAD(n) (((n) + 3) & ~(size_t)3)

struct pcapng_packet {
	uint32_t interface;
	bool ethernet;        /* else InfiniBand */
	uint8_t fcs;          /* bytes of FCS at the end of a frame: 0 or 4 */
	char name[32];        /* of the interface */
	uint64_t time_ps;     /* converted from the resolution of the file */
	uint32_t flags;       /* low two bits: PCAPNG_INBOUND, PCAPNG_OUTBOUND, 0 unknown */
	const uint8_t *bytes; /* LRH to VCRC, or a frame; valid until the next call */
	uint32_t len;         /* number of bytes that the capture has */
	uint32_t wire_len;    /* bytes on the wire; more than len when the capture has cut it */
	char comment[256];
};

struct pcapng_reader;

/* On an error it prints to err and returns -errno. */
int pcapng_reader_open(struct pcapng_reader **out, const char *path, FILE *err);
/* The reader skips Ethernet frames without FCS, which no HCA has sent, unless this was called. */
void pcapng_reader_ethernet(struct pcapng_reader *rd);
/* 1: a packet; 0: end of the file; -errno, after printing to err: the rest cannot be read. Packets
 * of other types are skipped. */
int pcapng_reader_next(struct pcapng_reader *rd, struct pcapng_packet *pkt, FILE *err);
void pcapng_reader_close(struct pcapng_reader *rd);

#endif
