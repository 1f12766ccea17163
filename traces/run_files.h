/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run left behind, read back: run.log and packets.pcapng of its folder, or a golden trace,
 * as items in the order of the log.
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
	const char *line; /* the whole line */
	const char *unit; /* in it, padded with blanks; NULL in a golden trace */
	const char *text; /* in it, behind the unit */
	uint32_t number;  /* of the line in its file, from 1 */
	uint32_t packet;  /* of a packet: its number in the capture, from 0 */
	uint32_t hash;    /* of a packet's bytes, when known */
	uint32_t phase;   /* index into phases */
	uint8_t class;
	uint8_t hca;
	bool has_hash;
};

struct run_files {
	char *path;
	bool golden; /* a text, not a folder: no times */
	struct run_item *items;
	size_t count;
	const char **phases; /* [0] is before the first */
	uint64_t *phase_ps;  /* when it begins */
	unsigned phase_count;
	/* of a golden trace: what it holds */
	uint32_t classes;
	char phase[64]; /* empty: all */
	char *text, *end; /* that the items point into, and where it ends */
};

enum { RUN_LOG = 1, RUN_CAPTURE = 2 };

/* Which of RUN_LOG, RUN_CAPTURE a folder has; both for a golden trace; 0: neither, or no folder,
 * printed to err. */
unsigned run_files_sources(const char *path, FILE *err);
/* Reads a folder, or a golden trace. Without RUN_LOG in sources the items are the packets alone;
 * without RUN_CAPTURE their bytes are not known. by_qp: packets and WQEs make a stream a QP. 0 or
 * -errno, printed to err. */
int run_files_read(struct run_files *run, const char *path, unsigned sources, bool by_qp,
		   FILE *err);
void run_files_free(struct run_files *run);

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

/* The number behind key, such as "qpn ", at the beginning of a word of the text; false without. */
bool run_field(const char *text, const char *key, uint64_t *value);

#endif
