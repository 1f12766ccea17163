/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the rows of points.h, and access to a record's values by the names of their
 * fields. */
#include "traces/trace.h"

#define ARG(name, type) {#name, TRACE_FIELD_##type, TRACE_IN_ARGS},
#define QPN             {"qpn", TRACE_FIELD_HEX, TRACE_IN_QPN},
#define CORR(name)      {#name, TRACE_FIELD_DEC, TRACE_IN_CORR},
#define PORT            {"port", TRACE_FIELD_DEC, TRACE_IN_PORT},
#define TEXT(name)      {#name, TRACE_FIELD_TEXT, TRACE_IN_TEXT},
#define BYTES(name)     {#name, TRACE_FIELD_BYTES, TRACE_IN_BYTES},

const struct trace_point_row trace_point_rows[TRACE_POINT_COUNT] = {
#define TP(name, unit, kind, fields, text, meaning)                                                \
	[TP_##name] = {#name,                                                                      \
		       #unit,                                                                      \
		       text,                                                                       \
		       meaning,                                                                    \
		       (const struct trace_field[]){fields{NULL, 0, 0}},                           \
		       TRACE_##kind},
	TRACE_POINTS(TP)
#undef TP
};

/* Checks that the arguments of each row fit into a record. */
#undef ARG
#undef QPN
#undef CORR
#undef PORT
#undef TEXT
#undef BYTES
#define TP(name, unit, kind, fields, text, meaning)                                                \
	_Static_assert(sizeof(struct trace_args_##name) <=                                         \
			       sizeof(((struct trace_record *)NULL)->args),                        \
		       #name " has too many arguments");
TRACE_POINTS(TP)
#undef TP

const char *trace_kind_name(enum trace_kind kind)
{
	static const char *const names[] = {
#define K(name) #name,
		TRACE_KINDS(K)
#undef K
	};

	return names[kind];
}

const char *trace_field_type_name(enum trace_field_type type)
{
	static const char *const names[] = {
#define T(name, unit) #name,
		TRACE_FIELD_TYPES(T)
#undef T
	};

	return names[type];
}

uint64_t trace_field_value(const struct trace_record *r, const struct trace_field *field)
{
	const struct trace_field *f = trace_point_rows[r->point].fields;
	unsigned arg = 0;

	switch (field->in) {
	case TRACE_IN_QPN:
		return r->qpn;
	case TRACE_IN_CORR:
		return r->corr;
	case TRACE_IN_PORT:
		return r->port;
	case TRACE_IN_ARGS:
		for (; f != field; f++)
			arg += f->in == TRACE_IN_ARGS;
		return r->args[arg];
	default:
		return 0;
	}
}
