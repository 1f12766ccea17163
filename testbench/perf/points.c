/* SPDX-License-Identifier: Apache-2.0 */
/* See points.h. */
#include "testbench/perf/points.h"

#include "model/interface/macros.h"
#include "model/sim/file.h"
#include "model/sim/near_name.h"

#include "testbench/perf/workloads.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum column {
	COL_ID,
	COL_PROFILE,
	COL_WORKLOAD,
	COL_PARAMS,
	COL_VALUE,
	COL_UNIT,
	COL_SOURCE,
	COLS
};

enum { FILE_BYTES_MAX = 64 << 20 };

static const char header[] = "id,profile,workload,params,value,unit,source";

struct place {
	const char *file;
	unsigned line;
	FILE *err;
};

static __attribute__((format(printf, 2, 3))) int wrong(const struct place *at, const char *format,
						       ...)
{
	va_list args;

	if (!at->err)
		return -EINVAL;
	fprintf(at->err, "%s:%u: ", at->file, at->line);
	va_start(args, format);
	vfprintf(at->err, format, args);
	va_end(args);
	fputc('\n', at->err);
	return -EINVAL;
}

/*
 * Takes one field from *text, in place: removes quotes, and turns doubled quotes into single ones.
 * Then *text points behind the comma, or is NULL at the end of the line. Returns false if the quote
 * is not closed.
 */
static bool field_take(char **text, char **field)
{
	char *in = *text, *out = in;
	bool quoted = *in == '"';

	*field = out;
	if (quoted)
		in++;
	for (; *in && (quoted || *in != ','); in++) {
		if (quoted && *in == '"') {
			if (in[1] != '"') {
				quoted = false;
				continue;
			}
			in++;
		}
		*out++ = *in;
	}
	*text = *in ? in + 1 : NULL;
	*out = 0;
	return !quoted;
}

static int number(const struct place *at, const char *key, const char *value, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	if (end == value || *end || *value == '-' || errno)
		return wrong(at, "%s: expected a number, got '%s'", key, value);
	return 0;
}

static int op_parse(const struct place *at, const char *value, enum perf_op *op)
{
	static const char *const names[] = {
		[PERF_WRITE] = "write",         [PERF_READ] = "read",         [PERF_SEND] = "send",
		[PERF_FETCH_ADD] = "fetch_add", [PERF_CMP_SWAP] = "cmp_swap",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(value, names[i])) {
			*op = (enum perf_op)i;
			return 0;
		}
	return wrong(at, "op: expected write, read, send, fetch_add or cmp_swap, got '%s'", value);
}

static int transport_parse(const struct place *at, const char *value, struct perf_params *p)
{
	p->has_transport = true;
	if (!strcmp(value, "rc"))
		p->transport = IBV_QPT_RC;
	else if (!strcmp(value, "uc"))
		p->transport = IBV_QPT_UC;
	else if (!strcmp(value, "ud"))
		p->transport = IBV_QPT_UD;
	else
		return wrong(at, "transport: expected rc, uc or ud, got '%s'", value);
	return 0;
}

static int no_parameter(const struct place *at, const char *key)
{
	static const char *const names[] = {"op", "transport", "inline",
#define N(name, meaning) #name,
					    PERF_NUMBERS(N)
#undef N
	};
	struct near_name near = {.wanted = key};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		near_name_try(&near, names[i]);
	if (near.name[0])
		return wrong(at, "no parameter '%s'; did you mean '%s'?", key, near.name);
	return wrong(at, "no parameter '%s'", key);
}

static int param_parse(const struct place *at, char *key, struct perf_params *p)
{
	static const struct {
		const char *key;
		size_t offset;
	} numbers[] = {
#define N(name, meaning) {#name, offsetof(struct perf_params, name)},
		PERF_NUMBERS(N)
#undef N
	};
	char *value = strchr(key, '=');

	if (!value)
		return wrong(at, "expected key=value, got '%s'", key);
	if (strchr(key, '.') && strchr(key, '.') < value) {
		if (p->setting_count == PERF_SETTINGS_MAX)
			return wrong(at, "more than %d settings", PERF_SETTINGS_MAX);
		p->settings[p->setting_count++] = key;
		return 0;
	}
	*value++ = 0;
	if (!strcmp(key, "op"))
		return op_parse(at, value, &p->op);
	if (!strcmp(key, "transport"))
		return transport_parse(at, value, p);
	p->has_size |= !strcmp(key, "size");
	p->has_retry_cnt |= !strcmp(key, "retry_cnt");
	p->has_min_rnr_timer |= !strcmp(key, "min_rnr_timer");
	if (!strcmp(key, "inline"))
		return number(at, key, value, &p->inlined);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(key, numbers[i].key) && strcmp(key, "inlined"))
			return number(at, key, value,
				      (uint64_t *)(void *)((char *)p + numbers[i].offset));
	return no_parameter(at, key);
}

/* Default sizes, as in perftest; a workload that polls memory needs at least one byte. */
static int size_check(const struct place *at, const struct perf_workload *workload,
		      struct perf_params *p)
{
	enum { LATENCY_BYTES = 2, RATE_BYTES = 32, BANDWIDTH_BYTES = 65536 };

	if (p->has_size && !p->size && workload->quantity != PERF_RATE)
		return wrong(at, "size: expected at least 1");
	if (!p->has_size)
		p->size = workload->quantity == PERF_TIME   ? LATENCY_BYTES
			  : workload->quantity == PERF_RATE ? RATE_BYTES
							    : BANDWIDTH_BYTES;
	return 0;
}

static int params_check(const struct place *at, const struct perf_params *p)
{
	if (p->mtu && (p->mtu < 256 || p->mtu > 4096 || (p->mtu & (p->mtu - 1))))
		return wrong(at, "mtu: expected 256, 512, 1024, 2048 or 4096");
	if (p->size > UINT32_C(1) << 30)
		return wrong(at, "size: expected at most 1 GiB");
	if (p->threads > PERF_THREADS_MAX || p->qps > PERF_QPS_MAX)
		return wrong(at, "expected at most %d threads and %d qps", PERF_THREADS_MAX,
			     PERF_QPS_MAX);
	if (p->random > 1)
		return wrong(at, "random: expected 0 or 1");
	if (p->timeout > 31 || p->min_rnr_timer > 31 || p->retry_cnt > 7)
		return wrong(at, "timeout and min_rnr_timer are at most 31, retry_cnt 7");
	if (p->window > PERF_DEPTH_MAX / 2 || p->tx_depth > PERF_DEPTH_MAX ||
	    p->batch > PERF_BATCH_MAX || p->outstanding > 128)
		return wrong(at,
			     "expected window <= %d, tx_depth <= %d, batch <= %d, "
			     "outstanding <= 128",
			     PERF_DEPTH_MAX / 2, PERF_DEPTH_MAX, PERF_BATCH_MAX);
	if (p->mr_size > UINT64_C(1) << 32 || p->mrs > 1000000 || p->addresses > 1 << 26)
		return wrong(at, "expected mr_size <= 4 GiB, mrs <= 1000000, addresses <= 2^26");
	return 0;
}

static int params_parse(const struct place *at, char *text, struct perf_params *p)
{
	char *save = NULL;

	*p = (struct perf_params){.transport = IBV_QPT_RC};
	for (char *key = strtok_r(text, ";", &save); key; key = strtok_r(NULL, ";", &save)) {
		int rc = param_parse(at, key, p);

		if (rc)
			return rc;
	}
	return params_check(at, p);
}

static int point_parse(const struct place *at, char *line, struct perf_point *point)
{
	char *fields[COLS], *end;

	for (unsigned i = 0; i < COLS; i++) {
		if (!line)
			return wrong(at, "expected %d fields (%s), got %u", COLS, header, i);
		if (!field_take(&line, &fields[i]))
			return wrong(at, "a quote is not closed");
	}
	if (line)
		return wrong(at, "expected %d fields (%s), got more", COLS, header);
	*point = (struct perf_point){
		.id = fields[COL_ID],
		.profile = fields[COL_PROFILE],
		.workload_name = fields[COL_WORKLOAD],
		.unit = fields[COL_UNIT],
		.source = fields[COL_SOURCE],
		.file = at->file,
		.line = at->line,
	};
	if (!*point->id)
		return wrong(at, "expected an id");
	point->published = *fields[COL_VALUE] ? strtod(fields[COL_VALUE], &end) : NAN;
	if (*fields[COL_VALUE] && (*end || !isfinite(point->published) || point->published <= 0))
		return wrong(at, "%s: expected a value above 0 or none, got '%s'", point->id,
			     fields[COL_VALUE]);
	point->workload = perf_workload_find(point->workload_name);
	if (!point->workload)
		return wrong(at, "%s: no workload '%s'", point->id, point->workload_name);
	if (!perf_unit_factor(point->workload, point->unit))
		return wrong(at, "%s: %s is in %s, got '%s'", point->id, point->workload_name,
			     perf_units(point->workload), point->unit);
	point->params_text = strdup(fields[COL_PARAMS]);
	if (!point->params_text)
		return -ENOMEM;
	if (params_parse(at, fields[COL_PARAMS], &point->params))
		return -EINVAL;
	return size_check(at, point->workload, &point->params);
}

static int lines_parse(struct perf_points *points, FILE *err)
{
	struct place at = {.file = points->file, .err = err};
	char *next;

	for (char *line = points->text; line; line = next) {
		struct perf_point *grown;
		int rc;

		at.line++;
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		line[strcspn(line, "\r")] = 0;
		if (!*line || *line == '#' || !strcmp(line, header))
			continue;
		grown = realloc(points->points, (points->count + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		points->points = grown;
		grown[points->count] = (struct perf_point){.line = 0};
		rc = point_parse(&at, line, &grown[points->count]);
		if (rc) {
			free(grown[points->count].params_text);
			return rc;
		}
		points->count++;
	}
	return 0;
}

int perf_points_parse(struct perf_points *points, const char *name, char *text, FILE *err)
{
	int rc = -ENOMEM;

	*points = (struct perf_points){.file = strdup(name), .text = text};
	if (points->file)
		rc = lines_parse(points, err);
	if (!rc && !points->count) {
		rc = -EINVAL;
		if (err)
			fprintf(err, "%s: no points\n", name);
	}
	if (rc)
		perf_points_free(points);
	return rc;
}

int perf_points_load(struct perf_points *points, const char *path, FILE *err)
{
	char *text;
	size_t len;
	int rc = file_text(&text, &len, path, FILE_ANY, FILE_BYTES_MAX, err);

	if (rc)
		return rc;
	if (strlen(text) == len)
		return perf_points_parse(points, path, text, err);
	if (err)
		fprintf(err, "%s: expected text, got a zero byte\n", path);
	free(text);
	return -EINVAL;
}

void perf_points_free(struct perf_points *points)
{
	for (size_t i = 0; i < points->count; i++)
		free(points->points[i].params_text);
	free(points->points);
	free(points->text);
	free(points->file);
	*points = (struct perf_points){.count = 0};
}
