/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of records of a run, run.records: what tools read. It holds every record of the kinds
 * that the log shows, as fields instead of text, in the order of the log: record n makes line n.
 *
 * The file says itself what is in it, so that a reader needs no table of the writer's version: it
 * finds points and fields by their names, takes those it knows, and leaves out the others.
 *
 *	head     "hcasim records 1\n", the 1 being the version of this format
 *		 number of points; for each: its name, unit and kind; number of fields; for each:
 *		 its name and type
 *	record   length of the rest, at least 2; number of the point in the head, from 0; HCA, one
 *		 byte, 0xff for none; ps since the record before; the fields in the order of the head
 *	end      length 1, the byte 'E'; a run that is killed leaves a file without it
 *
 * A number is unsigned, 7 bits a byte, the least significant first, bit 7 set in all but the last
 * byte. A name is its length and its characters. A field is, by its type,
 *
 *	TEXT     its length plus 1, its characters, a zero byte; or 0 for none
 *	BYTES    their number plus 1, how many of them follow, those; or 0 for none. What does not
 *		 follow is zero, or payload of a packet, which nobody decodes.
 *	others   a number; of SIGNED the two's complement of 64 bits
 */
#ifndef TRACES_RECORDS_H
#define TRACES_RECORDS_H

#include <stddef.h>

#include "traces/trace.h"

#define RECORDS_FILE "run.records"

enum {
	RECORDS_TEXT_MAX = 4096,  /* of a record, longer ones are cut */
	RECORDS_BYTES_MAX = 8192, /* likewise */
};

/* --- records.c: the writer. Each returns the number of bytes it has put into out. */

/* Room for the head, and for any one record. */
enum { RECORDS_HEAD_MAX = 1 << 14, RECORDS_RECORD_MAX = 1 << 14 };

size_t records_put_head(uint8_t *out);
/* since_ps: since the record before. */
size_t records_put(uint8_t *out, const struct trace_record *r, uint64_t since_ps);
size_t records_put_end(uint8_t *out);

/* --- records_read.c: the reader, over bytes in memory. */

struct records;

/* Takes over the bytes, from malloc(), also when it fails. name: of the file, for errors, which are
 * one line to err. 0 or -errno. */
int records_open(struct records **all, uint8_t *bytes, size_t len, const char *name, FILE *err);
/* The same of a file. */
int records_load(struct records **all, const char *path, FILE *err);
void records_close(struct records *all);

/*
 * The next record behind *at, which is 0 at first and then moves on; *place is where it stands. Its
 * text and bytes stay until the next call with these records. 1, 0 at the end, or -errno with its
 * line printed. A file without its end ends with its last whole record, and a line on err says so.
 */
int records_next(struct records *all, size_t *at, size_t *place, struct trace_record *r);
/* Whether records_next() has come to the end of a file without its end. */
bool records_are_cut(const struct records *all);
/* Once more the record at a place that records_next() has given; time_ps is the caller's. */
void records_at(struct records *all, size_t place, struct trace_record *r);

#endif
