/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the file of records. See records.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traces/decode.h"
#include "traces/records.h"

enum {
	HEAD_SHOWN = 64,  /* bytes that are kept of something that is not a transport packet */
	LENGTH_BYTES = 2, /* bytes of a record's length, which is at most 16383 */
	NUMBER_MAX = 10,  /* most bytes of a number */
	FIELDS_MAX = 12,  /* most fields of a record */
};

_Static_assert(RECORDS_TEXT_MAX + RECORDS_BYTES_MAX + (FIELDS_MAX + 8) * NUMBER_MAX <
		       RECORDS_RECORD_MAX,
	       "a record has room");

struct records_writer {
	struct trace_file file;
	uint64_t last_ps;
};

static uint8_t *put_number(uint8_t *p, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static uint8_t *put_name(uint8_t *p, const char *name)
{
	const size_t n = strlen(name);

	p = put_number(p, n);
	memcpy(p, name, n);
	return p + n;
}

static unsigned fields_count(const struct trace_point_row *row)
{
	unsigned n = 0;

	while (row->fields[n].name)
		n++;
	return n;
}

size_t records_put_head(uint8_t *out)
{
	static const char magic[] = "hcasim records 1\n";
	uint8_t *p = out;

	memcpy(p, magic, sizeof(magic) - 1);
	p = put_number(p + sizeof(magic) - 1, TRACE_POINT_COUNT);
	for (unsigned i = 0; i < TRACE_POINT_COUNT; i++) {
		const struct trace_point_row *row = &trace_point_rows[i];

		p = put_name(p, row->name);
		p = put_name(p, row->unit);
		p = put_name(p, trace_kind_name(row->kind));
		p = put_number(p, fields_count(row));
		for (const struct trace_field *f = row->fields; f->name; f++) {
			p = put_name(p, f->name);
			p = put_name(p, trace_field_type_name(f->type));
		}
	}
	return (size_t)(p - out);
}

/* How many bytes of a packet are kept: its headers; all of it when it is a datagram to QP 0 or 1,
 * because that one is decoded as a whole. */
static uint32_t packet_kept(const struct trace_record *r, uint32_t len)
{
	struct packet_bytes p = packet_bytes_of(r);
	struct packet_view v;

	p.len = len;
	if (!packet_view_make(&v, &p))
		return len < HEAD_SHOWN ? len : HEAD_SHOWN;
	if (v.headers > len || (bth_op_is(v.op, BTH_DATAGRAM) && bth_get_dqpn(v.bth) <= 1))
		return len;
	return v.headers;
}

static uint32_t bytes_kept(const struct trace_record *r, uint32_t len)
{
	const uint8_t *bytes = r->bytes;

	if (trace_point_kinds[r->point] == TRACE_PACKET)
		return packet_kept(r, len);
	while (len && !bytes[len - 1])
		len--;
	return len;
}

static uint8_t *put_bytes(uint8_t *p, const struct trace_record *r)
{
	const uint32_t len = r->len < RECORDS_BYTES_MAX ? r->len : RECORDS_BYTES_MAX;
	uint32_t kept;

	if (!r->bytes)
		return put_number(p, 0);
	kept = bytes_kept(r, len);
	p = put_number(p, (uint64_t)len + 1);
	p = put_number(p, kept);
	memcpy(p, r->bytes, kept);
	return p + kept;
}

static uint8_t *put_text(uint8_t *p, const char *text)
{
	size_t n;

	if (!text)
		return put_number(p, 0);
	n = strnlen(text, RECORDS_TEXT_MAX);
	p = put_number(p, n + 1);
	memcpy(p, text, n);
	p[n] = 0;
	return p + n + 1;
}

size_t records_put(uint8_t *out, const struct trace_record *r, uint64_t since_ps)
{
	uint8_t *p = put_number(out + LENGTH_BYTES, r->point);
	const uint64_t *arg = r->args;
	size_t n;

	*p++ = r->hca;
	p = put_number(p, since_ps);
	for (const struct trace_field *f = trace_point_rows[r->point].fields; f->name; f++) {
		switch (f->in) {
		case TRACE_IN_ARGS:
			p = put_number(p, *arg++);
			break;
		case TRACE_IN_TEXT:
			p = put_text(p, r->text);
			break;
		case TRACE_IN_BYTES:
			p = put_bytes(p, r);
			break;
		default:
			p = put_number(p, trace_field_value(r, f));
			break;
		}
	}
	n = (size_t)(p - out) - LENGTH_BYTES;
	out[0] = (uint8_t)(n | 0x80);
	out[1] = (uint8_t)(n >> 7);
	return (size_t)(p - out);
}

static const char file_end[] = "\001E";

size_t records_put_end(uint8_t *out)
{
	memcpy(out, file_end, sizeof(file_end) - 1);
	return sizeof(file_end) - 1;
}

/* --- the sink --- */

static int records_sink_open(void **sink, const char *path, uint32_t snap)
{
	struct records_writer *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return -ENOMEM;
	ret = trace_file_open(&w->file, path);
	if (ret) {
		free(w);
		return ret;
	}
	w->file.tail = file_end;
	trace_file_grow(&w->file, records_put_head(trace_file_room(&w->file, RECORDS_HEAD_MAX)));
	*sink = w;
	return 0;
}

static int records_sink_record(void *sink, const struct trace_record *r)
{
	struct records_writer *w = sink;
	uint8_t *out = trace_file_room(&w->file, RECORDS_RECORD_MAX);

	trace_file_grow(&w->file, records_put(out, r, r->time_ps - w->last_ps));
	w->last_ps = r->time_ps;
	return w->file.err;
}

static int records_sink_close(void *sink)
{
	struct records_writer *w = sink;
	int ret;

	trace_file_write(&w->file, file_end, sizeof(file_end) - 1);
	ret = trace_file_close(&w->file);
	free(w);
	return ret;
}

const struct trace_sink_ops trace_records_ops = {
	.name = "records",
	.file = RECORDS_FILE,
	.open = records_sink_open,
	.record = records_sink_record,
	.close = records_sink_close,
	.kinds = TRACE_KINDS_TEXT,
};
