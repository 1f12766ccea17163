// SPDX-License-Identifier: Apache-2.0
#include "traces/trace.h"

const struct trace_point_row trace_point_rows[TRACE_POINT_COUNT] = {
#define TP(name, unit, kind, format, meaning)                                                      \
	[TP_##name] = {#name, #unit, format, meaning, TRACE_##kind},
	TRACE_POINTS(TP)
#undef TP
};
