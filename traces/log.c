/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes run.log, the log for driver engineers. Each record is one line:
 *
 *	    12.345678 hca0 doorbell      send doorbell qpn 0x41 uar 5
 *
 * The line has microseconds with picosecond digits, HCA, unit, and what happened.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/decode.h"

struct log {
	struct trace_file file;
	struct trace_text line;
};

static void field_text(struct trace_text *t, const struct trace_record *r,
		       const struct trace_field *f)
{
	const uint64_t v = trace_field_value(r, f);

	switch (f->type) {
	case TRACE_FIELD_TEXT:
		trace_text_add(t, "%s", r->text ? r->text : "");
		break;
	case TRACE_FIELD_HEX:
		trace_text_add(t, "0x%" PRIx64, v);
		break;
	case TRACE_FIELD_SIGNED:
		trace_text_add(t, "%" PRId64, (int64_t)v);
		break;
	case TRACE_FIELD_TIME:
		trace_text_time(t, v);
		break;
	default:
		trace_text_add(t, "%" PRIu64, v);
		break;
	}
}

void trace_text_record(struct trace_text *t, const struct trace_record *r)
{
	const struct trace_point_row *row = &trace_point_rows[r->point];
	const char *s = row->text;

	while (*s) {
		size_t plain = strcspn(s, "{"), n;

		trace_text_add(t, "%.*s", (int)plain, s);
		s += plain;
		if (!*s)
			return;
		n = strcspn(++s, "}");
		for (const struct trace_field *f = row->fields; f->name; f++)
			if (!strncmp(f->name, s, n) && !f->name[n])
				field_text(t, r, f);
		s += n + (s[n] == '}');
	}
}

static void packet_line(struct trace_text *t, const struct trace_record *r)
{
	const uint64_t *args = r->args;
	const struct packet_bytes p = packet_bytes_of(r);
	struct packet_view v;

	trace_text_add(t, " port %u", r->port);
	decode_packet(t, &p);
	if (r->point != TP_PKT_DISCARD && packet_view_make(&v, &p) && packet_source(&v, r))
		trace_text_add(t, ", from 0x%x", r->qpn);
	if (args[TRACE_ARG(PKT_OUT, known)] & TRACE_PACKET_WR_ID)
		trace_text_add(t, ", wr_id %" PRIu64, args[TRACE_ARG(PKT_OUT, wr_id)]);
	if (args[TRACE_ARG(PKT_OUT, known)] & TRACE_PACKET_WQE)
		trace_text_add(t, ", wqe %" PRIu64, args[TRACE_ARG(PKT_OUT, wqe)]);
	if (args[TRACE_ARG(PKT_OUT, transmission)] > 1)
		trace_text_add(t, ", try %" PRIu64, args[TRACE_ARG(PKT_OUT, transmission)]);
	if (r->text)
		trace_text_add(t, r->point == TP_PKT_DISCARD ? ", %s" : ", fault %s", r->text);
}

static void ethernet_line(struct trace_text *t, const struct trace_record *r)
{
	trace_text_add(t, " port %u ", r->port);
	decode_ethernet_plain(t, r->bytes, r->bytes ? r->len : 0);
	trace_text_add(t, ", ");
	decode_ethernet_more(t, r->bytes, r->bytes ? r->len : 0);
	if (r->text)
		trace_text_add(t, ", fault %s", r->text);
}

void trace_log_text(struct trace_text *t, const struct trace_record *r)
{
	trace_text_record(t, r);
	switch (trace_point_rows[r->point].kind) {
	case TRACE_PACKET:
		packet_line(t, r);
		break;
	case TRACE_ETHERNET:
		ethernet_line(t, r);
		break;
	case TRACE_REG:
		decode_reg(t, r);
		break;
	case TRACE_HCR:
		decode_hcr(t, r);
		break;
	case TRACE_WQE:
		decode_wqe(t, r);
		break;
	case TRACE_CQE:
		decode_cqe(t, r);
		break;
	case TRACE_EQE:
		decode_eqe(t, r);
		break;
	default:
		break;
	}
	/* the text of the driver or firmware may contain line ends, also at its end */
	while (t->len && t->s[t->len - 1] == '\n')
		t->s[--t->len] = 0;
	for (size_t i = 0; i < t->len; i++)
		if (t->s[i] == '\n' || t->s[i] == '\r')
			t->s[i] = ' ';
}

void trace_log_line(struct trace_text *t, const struct trace_record *r)
{
	const bool is_ethernet = trace_point_rows[r->point].kind == TRACE_ETHERNET;

	trace_text_add(t, "%7" PRIu64 ".%06" PRIu64 " ", r->time_ps / 1000000,
		       r->time_ps % 1000000);
	if (r->hca == TRACE_NO_HCA)
		trace_text_add(t, "     ");
	else
		trace_text_add(t, is_ethernet ? "eth%u " : "hca%u ", r->hca);
	trace_text_add(t, "%-13s ", trace_point_rows[r->point].unit);
	trace_log_text(t, r);
	trace_text_add(t, "\n");
}

static int log_open(void **sink, const char *path, uint32_t snap)
{
	struct log *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	ret = trace_file_open(&s->file, path);
	if (ret) {
		free(s);
		return ret;
	}
	*sink = s;
	return 0;
}

static int log_record(void *sink, const struct trace_record *r)
{
	struct log *s = sink;

	s->line.len = 0;
	trace_log_line(&s->line, r);
	trace_file_write(&s->file, s->line.s, s->line.len);
	return s->file.err;
}

static int log_close(void *sink)
{
	struct log *s = sink;
	int ret = trace_file_close(&s->file);

	trace_text_free(&s->line);
	free(s);
	return ret;
}

const struct trace_sink_ops trace_log_ops = {
	.name = "log",
	.file = "run.log",
	.open = log_open,
	.record = log_record,
	.close = log_close,
	.kinds = TRACE_KINDS_TEXT,
};
