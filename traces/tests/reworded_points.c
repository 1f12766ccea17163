/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of trace points with every word of every text in capitals. build/reworded is hcasim
 * with this table in place of points.c. It must say the same of a run as hcasim does, apart from
 * capitals, because a tool that searches a text for a word would no longer find it. wording.sh runs
 * it.
 */
#define trace_point_rows worded_rows
#include "traces/points.c"
#undef trace_point_rows

#include <ctype.h>

enum { TEXT_CHARS = 128 };

struct trace_point_row trace_point_rows[TRACE_POINT_COUNT];

static char texts[TRACE_POINT_COUNT][TEXT_CHARS];

/* Copies a text in capitals; names of fields stay as they are. */
static void capitals(char to[TEXT_CHARS], const char *text)
{
	bool in_field = false;
	unsigned i = 0;

	for (; text[i] && i < TEXT_CHARS - 1; i++) {
		in_field = text[i] == '{' || (in_field && text[i] != '}');
		to[i] = in_field ? text[i] : (char)toupper((unsigned char)text[i]);
	}
}

__attribute__((constructor)) static void reword(void)
{
	for (unsigned i = 0; i < TRACE_POINT_COUNT; i++) {
		trace_point_rows[i] = worded_rows[i];
		capitals(texts[i], worded_rows[i].text);
		trace_point_rows[i].text = texts[i];
	}
}
