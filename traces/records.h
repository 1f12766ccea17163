/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of records of a run, run.records, which tools read. It holds every record of the kinds
 * that the log shows, as fields instead of text, in the order of the log: record n makes line n.
 *
 * The file describes its own content, so a reader needs no table of the writer's version: it finds
 * points and fields by their names, takes those that it knows, and leaves out the others.
 *
 *	head     "hcasim records 1\n", where 1 is the version of this format
 *		 number of points; for each: its name, unit and kind; number of fields; for each:
 *		 its name and type
 *	record   length of what follows, at least 2; number of the point in the head, from 0; HCA,
 *		 one byte, 0xff for none; ps since the record before; the fields in the order of the
 *		 head
 *	end      length 1, the byte 'E'; a run that is killed leaves a file without it
 *
 * A number is unsigned and has 7 bits in each byte, the least significant first; bit 7 is set in
 * all bytes but the last. A name is its length and its characters. A field depends on its type:
 *
 *	TEXT     its length plus 1, its characters, a zero byte; or 0 for none
 *	BYTES    how many there are plus 1, how many of them follow, and those; or 0 for none. The
 *		 bytes that do not follow are zero, or payload of a packet, which nobody decodes.
 *	others   a number; for SIGNED the two's complement of 64 bits
 */
#ifndef TRACES_RECORDS_H
#define TRACES_RECORDS_H

#include <stddef.h>

#include "traces/trace.h"

#define RECORDS_FILE "run.records"

enum {
	RECORDS_TEXT_MAX = 4096,  /* of a record; longer ones are cut */
	RECORDS_BYTES_MAX = 8192, /* of a record; more are cut off */
};

/* --- records.c: the writer. Each function returns how many bytes it has written to out. --- */

/* Room that the head needs, and that any one record needs. */
enum { RECORDS_HEAD_MAX = 1 << 14, RECORDS_RECORD_MAX = 1 << 14 };

size_t records_put_head(uint8_t *out);
/* since_ps: the time since the record before. */
size_t records_put(uint8_t *out, const struct trace_record *r, uint64_t since_ps);
size_t records_put_end(uint8_t *out);

/* --- records_read.c: the reader. It works on bytes in memory. --- */

struct records;

/* Takes over the bytes, which come from malloc(), even when it fails. name: the file's name for
 * errors; an error is one line to err. 0 or -errno. */
int records_open(struct records **all, uint8_t *bytes, size_t len, const char *name, FILE *err);
/* The same for a file. */
int records_load(struct records **all, const char *path, FILE *err);
void records_close(struct records *all);

/*
 * Reads the next record. *at is 0 before the first call, and each call advances it; *place is where
 * the record is in the file. The record's text and bytes are valid until the next call with these
 * records. Returns 1; 0 at the end; or -errno after printing one line. A file without its end stops
 * after its last whole record, and one line to err says so.
 */
int records_next(struct records *all, size_t *at, size_t *place, struct trace_record *r);
/* Whether records_next() has reached the end of the data without finding the file's end. */
bool records_are_cut(const struct records *all);
/* Reads once more the record at a place that records_next() gave. The caller must set time_ps. */
void records_at(struct records *all, size_t place, struct trace_record *r);

#endif
