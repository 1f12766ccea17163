/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads back what a run has written: run.records and packets.pcapng of its folder, or a golden
 * trace. The result is a list of items in the order of the log.
 *
 * An item belongs to a class (a row below). Class, HCA and a number (of the CQ, EQ or BAR) together
 * determine its stream. Software or the wire saw the items of one stream in their order. The order
 * of items of different streams depends only on timing, so runs are compared stream by stream.
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
	RUN_COMPARED = (1 << RUN_OTHER) - 1, /* every class except OTHER */
	RUN_PACKETS = 1 << RUN_OUT | 1 << RUN_IN,
	RUN_NO_HCA = 0xff
};

struct run_item {
	uint64_t time_ps;
	uint64_t key;     /* its stream: class, HCA, number */
	const char *text; /* only of a golden trace; else NULL */
	size_t place;     /* where its record is, when text is NULL */
	uint32_t number;  /* its line in the log or the golden trace, from 1 */
	uint32_t packet;  /* of a packet: its number in the capture, from 0 */
	uint32_t hash;    /* of a packet: hash of its bytes, when known */
	uint32_t phase;   /* index into phases */
	uint8_t class;
	uint8_t hca;
	bool has_hash;
};

struct records;
struct trace_text;

struct run_files {
	char *path;
	bool golden; /* it is a golden trace: a text, not a folder; it has no times */
	struct run_item *items;
	size_t count;
	char **phases;      /* phases[0] is the time before the first phase */
	uint64_t *phase_ps; /* when each phase begins */
	unsigned phase_count;
	struct records *records; /* only of a folder */
	/* for a golden trace: what it has */
	uint32_t classes;
	char phase[64];   /* empty: all phases */
	char *text, *end; /* the text that items point into, and its end */
};

enum { RUN_RECORDS = 1, RUN_CAPTURE = 2 };

/* Returns which of RUN_RECORDS and RUN_CAPTURE a folder has; for a golden trace both. 0 after
 * printing to err: it has neither, is no folder, or is from an older hcasim. */
unsigned run_files_sources(const char *path, FILE *err);
/* Reads a folder or a golden trace. Without RUN_RECORDS in sources the items are the packets only;
 * without RUN_CAPTURE the bytes of packets are not known. by_qp: packets and WQEs have a stream for
 * each QP. 0, or -errno after printing to err. */
int run_files_read(struct run_files *run, const char *path, unsigned sources, bool by_qp,
		   FILE *err);
void run_files_free(struct run_files *run);

/* The record of an item; not for items of a golden trace. Its text and bytes are valid until the
 * next call. */
void run_item_record(const struct run_files *run, const struct run_item *item,
		     struct trace_record *r);
/* Makes in t what the log says about an item after time, HCA and unit, or the item's whole line. */
const char *run_item_text(const struct run_files *run, const struct run_item *item,
			  struct trace_text *t);
const char *run_item_line(const struct run_files *run, const struct run_item *item,
			  struct trace_text *t);

/* Writes the items of these classes and this phase (NULL: all) as a golden trace. */
void run_files_print(const struct run_files *run, uint32_t classes, const char *phase, FILE *out);

/* Shortens a text as a golden trace does: of a long text only its beginning and a hash of all of it
 * remain. */
enum { RUN_SHORT_CHARS = 256 };
void run_text_short(const char *text, char *buf, size_t size);
uint32_t run_bytes_hash(const uint8_t *bytes, uint32_t len);

/* Returns the indices of the items of these classes and this phase (NULL: all), sorted by stream
 * and then by order. When software polls a register, only the last of its reads in a row is
 * included. The caller frees the result; NULL: no memory. */
uint32_t *run_files_streams(const struct run_files *run, uint32_t classes, const char *phase,
			    size_t *count);

/* The classes of a list such as "out,in,completions"; 0 when a word is not a class. */
uint32_t run_classes_parse(const char *list);
const char *run_class_text(enum run_class class);
/* For example "packets out, hca0". */
void run_stream_name(uint64_t key, char *buf, size_t size);

#endif
