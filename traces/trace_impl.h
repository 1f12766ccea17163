/* SPDX-License-Identifier: Apache-2.0 */
/* Only for traces/: the output file, the text buffer, and the functions that sinks and tools
 * share. */
#ifndef TRACES_TRACE_IMPL_H
#define TRACES_TRACE_IMPL_H

#include <stddef.h>

#include "traces/trace.h"

/* ---- trace_file.c: an output file with a large buffer, which keeps its first error. ---- */

struct trace_file {
	int fd;
	int err; /* 0 or -errno */
	uint8_t *buf;
	size_t len;
	const char *tail;        /* text that completes a file which is not closed; NULL: none */
	struct trace_file *next; /* in the list of open files */
};

enum {
	TRACE_FILE_BUFFER = 1 << 18,
	TRACE_FILE_RESERVE_MAX = 1 << 16,
};

int trace_file_open(struct trace_file *f, const char *path);
void trace_file_flush(struct trace_file *f);
/* Returns room for n <= TRACE_FILE_RESERVE_MAX bytes at the end of the file. What is written there
 * becomes part of the file with trace_file_grow(). */
static inline uint8_t *trace_file_room(struct trace_file *f, size_t n)
{
	if (f->len + n > TRACE_FILE_BUFFER)
		trace_file_flush(f);
	return f->buf + f->len;
}

static inline void trace_file_grow(struct trace_file *f, size_t n)
{
	f->len += n;
}

/* The same, but the room is part of the file from now on and must be filled at once. */
static inline uint8_t *trace_file_reserve(struct trace_file *f, size_t n)
{
	uint8_t *p = trace_file_room(f, n);

	trace_file_grow(f, n);
	return p;
}

void trace_file_write(struct trace_file *f, const void *bytes, size_t n);
/* Returns the first error that the file ever had. */
int trace_file_close(struct trace_file *f);
/* See trace_rescue(). */
void trace_files_rescue(void);

/* ---- text.c: a line of text that grows; when there is no memory, it is cut. ---- */

struct trace_text {
	char *s; /* terminated; NULL while nothing has been added */
	size_t len, room;
};

void trace_text_add(struct trace_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void trace_text_hex(struct trace_text *t, const uint8_t *bytes, size_t n);
void trace_text_free(struct trace_text *t);
/* Adds a time in microseconds with picosecond digits: "12.345678". */
void trace_text_time(struct trace_text *t, uint64_t ps);

/* ---- log.c ---- */

extern const struct trace_sink_ops trace_log_ops;
/* Makes the record's line in the log, with its end of line; or only what follows time, HCA and
 * unit. */
void trace_log_line(struct trace_text *t, const struct trace_record *r);
void trace_log_text(struct trace_text *t, const struct trace_record *r);
/* Makes the text of the point's row, with the values of the record. */
void trace_text_record(struct trace_text *t, const struct trace_record *r);

/* ---- pcapng.c, vcd.c, timeline.c, records.c ---- */

extern const struct trace_sink_ops trace_pcapng_ops, trace_vcd_ops, trace_timeline_ops,
	trace_records_ops;

/* ---- check_views.c: checks a view as trace_check_file() does. ---- */
int trace_check_view(const char *path, bool is_timeline, FILE *out);

/* ---- tail.c: a sink in memory ---- */

struct trace_tail;
struct trace_tail *trace_tail_new(uint32_t n);
extern const struct trace_sink_ops trace_tail_ops;
/* Calls each() for the kept records, oldest first. */
void trace_tail_each(const struct trace_tail *tail,
		     void (*each)(void *arg, const struct trace_record *r), void *arg);

/* ---- trace.c ---- */

/* Calls each() for the records of the tail and then for those still held, in order. Does nothing
 * when no tail is kept. */
void trace_recent_each(struct trace *tr, void (*each)(void *arg, const struct trace_record *r),
		       void *arg);

#endif
