/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run left behind, read back: run.records and packets.pcapng of its folder, or a golden
 * trace, as items in the order of the log.
 *
 * An item belongs to a class (a row below) and, with its HCA and a number (of the CQ, EQ or BAR),
 * to a stream. The order within a stream is what software or the wire saw; between streams it is a
 * matter of time only, so that runs are compared stream by stream.
 */
#ifndef TRACES_RUN_FILES_H
#define TRACES_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "traces/trace.h"

/* C(name, word on the command line, what it is called) */
#define RUN_CLASSES(C)                                                                             \
	C(OUT, "out", "packets out")                                                               \
	C(IN, "in", "packets in")                                                                  \
	C(DISCARD, "discards", "packets discarded")                                                \
	C(REGISTER, "registers", "register accesses")                                              \
	C(COMMAND, "commands", "commands")                                                         \
	C(WQE, "wqes", "WQEs")                                                                     \
	C(CQE, "completions", "completions")                                                       \
	C(EQE, "events", "events")                                                                 \
	C(IRQ, "interrupts", "interrupts")                                                         \
	C(ETHERNET, "ethernet", "Ethernet frames")                                                 \
	C(GUEST_ERROR, "rules", "guest errors")                                                    \
	C(FAULT, "faults", "faults")                                                               \
	C(OTHER, "other", "other lines")

enum run_class {
#define C(name, word, text) RUN_##name,
	RUN_CLASSES(C)
#undef C
		RUN_CLASS_COUNT
};

enum {
	RUN_COMPARED = (1 << RUN_OTHER) - 1, /* every class but OTHER */
	RUN_PACKETS = 1 << RUN_OUT | 1 << RUN_IN,
	RUN_NO_HCA = 0xff
};

struct run_item {
	uint64_t time_ps;
	uint64_t key;     /* of its stream: class, HCA, number */
	const char *text; /* of a golden trace; else NULL */
	size_t place;     /* of the record, when there is no text */
	uint32_t number;  /* of the line in the log or the golden trace, from 1 */
	uint32_t packet;  /* of a packet: its number in the capture, from 0 */
	uint32_t hash;    /* of a packet's bytes, when known */
	uint32_t phase;   /* index into phases */
	uint8_t class;
	uint8_t hca;
	bool has_hash;
};

struct records;
struct trace_text;

struct run_files {
	char *path;
	bool golden; /* a text, not a folder: no times */
	struct run_item *items;
	size_t count;
	char **phases;      /* [0] is before the first */
	uint64_t *phase_ps; /* when it begins */
	unsigned phase_count;
	struct records *records; /* of a folder */
	/* of a golden trace: what it holds */
	uint32_t classes;
	char phase[64];   /* empty: all */
	char *text, *end; /* that the items point into, and where it ends */
};

enum { RUN_RECORDS = 1, RUN_CAPTURE = 2 };

/* Which of RUN_RECORDS, RUN_CAPTURE a folder has; both for a golden trace; 0: neither, no folder, or
 * one of an older hcasim, printed to err. */
unsigned run_files_sources(const char *path, FILE *err);
/* Reads a folder, or a golden trace. Without RUN_RECORDS in sources the items are the packets
 * alone; without RUN_CAPTURE their bytes are not known. by_qp: packets and WQEs make a stream a QP.
 * 0 or -errno, printed to err. */
int run_files_read(struct run_files *run, const char *path, unsigned sources, bool by_qp,
		   FILE *err);
void run_files_free(struct run_files *run);

/* The record of an item, which is none of a golden trace; its text and bytes stay until the next
 * call. */
void run_item_record(const struct run_files *run, const struct run_item *item,
		     struct trace_record *r);
/* What the log says of an item behind time, HCA and unit, and its whole line: made in t. */
const char *run_item_text(const struct run_files *run, const struct run_item *item,
			  struct trace_text *t);
const char *run_item_line(const struct run_files *run, const struct run_item *item,
			  struct trace_text *t);

/* Writes what is compared, of these classes and this phase (NULL: all), as a golden trace. */
void run_files_print(const struct run_files *run, uint32_t classes, const char *phase, FILE *out);

/* A text as a golden trace keeps it: a long one as its beginning and a hash of all. */
enum { RUN_SHORT_CHARS = 256 };
void run_text_short(const char *text, char *buf, size_t size);
uint32_t run_bytes_hash(const uint8_t *bytes, uint32_t len);

/* Indices of the items of these classes and this phase (NULL: all) sorted by stream, then order.
 * Repeated reads of one register, as software polls, stand once, with the last value. The caller
 * frees; NULL without memory. */
uint32_t *run_files_streams(const struct run_files *run, uint32_t classes, const char *phase,
			    size_t *count);

/* Classes of a list such as "out,in,completions"; 0 when a word is none. */
uint32_t run_classes_parse(const char *list);
const char *run_class_text(enum run_class class);
/* "packets out, hca0" */
void run_stream_name(uint64_t key, char *buf, size_t size);

#endif
