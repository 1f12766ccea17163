/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "traces/trace_impl.h"

/* True when n more characters and the terminator fit. */
static bool text_room(struct trace_text *t, size_t n)
{
	size_t room = t->room ? t->room : 256;
	char *s;

	while (room < t->len + n + 1)
		room *= 2;
	if (room == t->room)
		return true;
	s = realloc(t->s, room);
	if (!s)
		return false;
	t->s = s;
	t->room = room;
	return true;
}

void trace_text_add(struct trace_text *t, const char *format, ...)
{
	va_list ap;
	int n;

	if (!text_room(t, 128))
		return;
	va_start(ap, format);
	n = vsnprintf(t->s + t->len, t->room - t->len, format, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n >= t->room - t->len && text_room(t, (size_t)n)) {
		va_start(ap, format);
		n = vsnprintf(t->s + t->len, t->room - t->len, format, ap);
		va_end(ap);
	}
	if (n >= 0 && (size_t)n < t->room - t->len)
		t->len += (size_t)n;
	else
		t->s[t->len] = 0;
}

void trace_text_hex(struct trace_text *t, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	if (!text_room(t, 2 * n))
		return;
	for (size_t i = 0; i < n; i++) {
		t->s[t->len++] = digits[bytes[i] >> 4];
		t->s[t->len++] = digits[bytes[i] & 15];
	}
	t->s[t->len] = 0;
}

void trace_text_time(struct trace_text *t, uint64_t ps)
{
	trace_text_add(t, "%" PRIu64 ".%06" PRIu64, ps / 1000000, ps % 1000000);
}

void trace_text_free(struct trace_text *t)
{
	free(t->s);
	*t = (struct trace_text){0};
}
