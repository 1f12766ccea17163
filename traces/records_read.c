/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the file of records. See records.h. */
#include "traces/records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/sim/file.h"
#include "traces/trace_impl.h"

enum { POINTS_MAX = 1024, FIELDS_MAX = 64, NAME_MAX = 63, VERSION = 1 };

/* A field as the file describes it, and where it goes in a record here. */
struct file_field {
	uint8_t type; /* enum trace_field_type, as the file says */
	uint8_t in;   /* enum trace_field_in */
	uint8_t arg;  /* index in args[] */
	bool is_known;
};

struct file_point {
	int point; /* enum trace_point, or -1 */
	struct file_field *fields;
	unsigned count;
};

struct records {
	uint8_t *bytes;
	size_t len, first; /* first: where the first record is */
	char *name;
	FILE *err;
	struct file_point *points;
	unsigned count;
	uint64_t time_ps; /* time of the record that was read last */
	bool cut_told;
	uint8_t scratch[RECORDS_BYTES_MAX];
};

/* --- numbers and names --- */

/* Reading beyond the end gives 0 and sets bad. */
struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t take_number(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t b;

		if (c->p == c->end)
			break;
		b = *c->p++;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static const uint8_t *take_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	return p;
}

static void take_name(struct cursor *c, char name[NAME_MAX + 1])
{
	const uint64_t n = take_number(c);
	const uint8_t *p = n <= NAME_MAX ? take_bytes(c, n) : NULL;

	name[0] = 0;
	if (!p) {
		c->bad = true;
		return;
	}
	memcpy(name, p, n);
	name[n] = 0;
}

/* --- the head --- */

static int point_find(const char *name)
{
	for (int i = 0; i < TRACE_POINT_COUNT; i++)
		if (!strcmp(trace_point_rows[i].name, name))
			return i;
	return -1;
}

static int type_find(const char *name)
{
	for (int i = 0; i < TRACE_FIELD_TYPE_COUNT; i++)
		if (!strcmp(trace_field_type_name((enum trace_field_type)i), name))
			return i;
	return -1;
}

static bool same_form(unsigned a, unsigned b)
{
	return a == b || (a != TRACE_FIELD_TEXT && a != TRACE_FIELD_BYTES &&
			  b != TRACE_FIELD_TEXT && b != TRACE_FIELD_BYTES);
}

static bool field_read(struct cursor *c, const struct file_point *fp, struct file_field *ff)
{
	char name[NAME_MAX + 1], type_name[NAME_MAX + 1];
	uint8_t arg = 0;
	int type;

	take_name(c, name);
	take_name(c, type_name);
	type = type_find(type_name);
	if (c->bad || type < 0)
		return false;
	ff->type = (uint8_t)type;
	if (fp->point < 0)
		return true;
	for (const struct trace_field *f = trace_point_rows[fp->point].fields; f->name; f++) {
		if (!strcmp(f->name, name) && same_form(f->type, ff->type)) {
			ff->is_known = true;
			ff->in = f->in;
			ff->arg = arg;
		}
		arg += f->in == TRACE_IN_ARGS;
	}
	return true;
}

static int point_read(struct cursor *c, struct file_point *fp)
{
	char name[NAME_MAX + 1], unit[NAME_MAX + 1], kind[NAME_MAX + 1];
	uint64_t count;

	take_name(c, name);
	take_name(c, unit);
	take_name(c, kind);
	count = take_number(c);
	if (c->bad || count > FIELDS_MAX)
		return -EINVAL;
	fp->point = point_find(name);
	fp->fields = calloc(count + 1, sizeof(*fp->fields));
	if (!fp->fields)
		return -ENOMEM;
	fp->count = (unsigned)count;
	for (unsigned i = 0; i < fp->count; i++)
		if (!field_read(c, fp, &fp->fields[i]))
			return -EINVAL;
	return 0;
}

static int head_read(struct records *all)
{
	static const char magic[] = "hcasim records ";
	struct cursor c = {all->bytes, all->bytes + all->len, false};
	const uint8_t *p = take_bytes(&c, sizeof(magic) - 1);
	uint64_t count;
	int ret = 0;

	if (!p || memcmp(p, magic, sizeof(magic) - 1) != 0) {
		fprintf(all->err, "%s: is no file of records\n", all->name);
		return -EINVAL;
	}
	p = take_bytes(&c, 2);
	if (!p || p[0] != '0' + VERSION || p[1] != '\n') {
		fprintf(all->err, "%s: records of another version than %d: run it again\n",
			all->name, VERSION);
		return -EINVAL;
	}
	count = take_number(&c);
	if (c.bad || count > POINTS_MAX)
		ret = -EINVAL;
	all->points = ret ? NULL : calloc(count + 1, sizeof(*all->points));
	if (!ret && !all->points)
		ret = -ENOMEM;
	for (; !ret && all->count < count; all->count++)
		ret = point_read(&c, &all->points[all->count]);
	if (ret)
		fprintf(all->err, "%s: %s\n", all->name,
			ret == -EINVAL ? "its head is damaged" : strerror(-ret));
	all->first = (size_t)(c.p - all->bytes);
	return ret;
}

int records_open(struct records **out, uint8_t *bytes, size_t len, const char *name, FILE *err)
{
	struct records *all = calloc(1, sizeof(*all));
	int ret;

	if (!all) {
		free(bytes);
		return -ENOMEM;
	}
	all->bytes = bytes;
	all->len = len;
	all->err = err;
	all->name = strdup(name);
	ret = all->name ? head_read(all) : -ENOMEM;
	if (ret) {
		records_close(all);
		return ret;
	}
	*out = all;
	return 0;
}

static int bytes_read(uint8_t **bytes, size_t *len, FILE *in)
{
	struct stat st;

	if (fstat(fileno(in), &st))
		return -errno;
	*bytes = malloc((size_t)st.st_size + 1);
	if (!*bytes)
		return -ENOMEM;
	*len = fread(*bytes, 1, (size_t)st.st_size, in);
	return ferror(in) ? -EIO : 0;
}

int records_load(struct records **all, const char *path, FILE *err)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	FILE *in;
	int ret = file_open(&in, path, FILE_REGULAR, err);

	if (ret)
		return ret;
	ret = bytes_read(&bytes, &len, in);
	fclose(in);
	if (!ret)
		return records_open(all, bytes, len, path, err);
	free(bytes);
	fprintf(err, "%s: %s\n", path, strerror(-ret));
	return ret;
}

void records_close(struct records *all)
{
	if (!all)
		return;
	for (unsigned i = 0; all->points && i <= all->count; i++)
		free(all->points[i].fields);
	free(all->points);
	free(all->name);
	free(all->bytes);
	free(all);
}

/* --- records --- */

static void take_text(struct cursor *c, const char **text)
{
	const uint64_t n = take_number(c);
	const uint8_t *p;

	*text = NULL;
	if (!n)
		return;
	p = n <= RECORDS_TEXT_MAX + 1 ? take_bytes(c, n) : NULL;
	if (p && strnlen((const char *)p, n) == n - 1)
		*text = (const char *)p;
	else
		c->bad = true;
}

static void take_data(struct cursor *c, struct records *all, struct trace_record *r)
{
	const uint64_t len = take_number(c);
	const uint64_t kept = len ? take_number(c) : 0;
	const uint8_t *p;

	r->bytes = NULL;
	r->len = 0;
	if (!len)
		return;
	p = len <= RECORDS_BYTES_MAX + 1 && kept < len ? take_bytes(c, kept) : NULL;
	if (!p) {
		c->bad = true;
		return;
	}
	r->len = (uint32_t)(len - 1);
	r->bytes = p;
	if (kept == r->len)
		return;
	memcpy(all->scratch, p, kept);
	memset(all->scratch + kept, 0, r->len - kept);
	r->bytes = all->scratch;
}

static void take_value(struct cursor *c, const struct file_field *ff, struct trace_record *r)
{
	const uint64_t v = take_number(c);

	if (!ff->is_known)
		return;
	switch (ff->in) {
	case TRACE_IN_ARGS:
		r->args[ff->arg] = v;
		return;
	case TRACE_IN_QPN:
		r->qpn = (uint32_t)v;
		c->bad |= v > UINT32_MAX;
		return;
	case TRACE_IN_CORR:
		r->corr = (uint32_t)v;
		c->bad |= v > UINT32_MAX;
		return;
	default:
		r->port = (uint8_t)v;
		c->bad |= v > UINT8_MAX;
		return;
	}
}

static void field_take(struct cursor *c, struct records *all, const struct file_field *ff,
		       struct trace_record *r)
{
	struct trace_record unknown = {0};
	struct trace_record *to = ff->is_known ? r : &unknown;

	if (ff->type == TRACE_FIELD_TEXT)
		take_text(c, &to->text);
	else if (ff->type == TRACE_FIELD_BYTES)
		take_data(c, all, to);
	else
		take_value(c, ff, r);
}

/* Reads the body of a record. r->time_ps becomes the time since the record before. Returns whether
 * this program knows the record's point. */
static bool body_take(struct cursor *c, struct records *all, struct trace_record *r)
{
	const uint64_t number = take_number(c);
	const uint8_t *hca = take_bytes(c, 1);
	const struct file_point *fp;

	*r = (struct trace_record){.hca = hca ? *hca : 0, .time_ps = take_number(c)};
	if (c->bad || number >= all->count) {
		c->bad = true;
		return false;
	}
	fp = &all->points[number];
	r->point = fp->point < 0 ? 0 : (enum trace_point)fp->point;
	for (unsigned i = 0; i < fp->count; i++)
		field_take(c, all, &fp->fields[i], r);
	c->bad |= c->p != c->end;
	return fp->point >= 0;
}

static int damaged(const struct records *all, size_t at)
{
	fprintf(all->err, "%s: the record at byte %zu is damaged\n", all->name, at);
	return -EINVAL;
}

/* There is no whole record at this place: the writer was killed, or the file was cut. */
static int is_cut(struct records *all, size_t at)
{
	if (!all->cut_told)
		fprintf(all->err, "%s: ends at byte %zu without its end, read up to there\n",
			all->name, at);
	all->cut_told = true;
	return 0;
}

bool records_are_cut(const struct records *all)
{
	return all->cut_told;
}

int records_next(struct records *all, size_t *at, size_t *place, struct trace_record *r)
{
	if (!*at) {
		*at = all->first;
		all->time_ps = 0;
	}
	for (;;) {
		struct cursor c = {all->bytes + *at, all->bytes + all->len, false};
		const uint64_t n = take_number(&c);
		const uint8_t *body = take_bytes(&c, n);
		bool is_known;

		if (c.bad)
			return is_cut(all, *at);
		if (n == 1 && *body == 'E' && c.p == c.end)
			return 0;
		*place = (size_t)(body - all->bytes);
		c = (struct cursor){body, body + n, false};
		is_known = body_take(&c, all, r);
		if (c.bad || r->time_ps > UINT64_MAX - all->time_ps)
			return damaged(all, *at);
		*at = *place + n;
		all->time_ps += r->time_ps;
		r->time_ps = all->time_ps;
		if (is_known)
			return 1;
	}
}

void records_at(struct records *all, size_t place, struct trace_record *r)
{
	/* records_next() found this record whole, and the record itself tells where it ends */
	struct cursor c = {all->bytes + place, all->bytes + all->len, false};

	body_take(&c, all, r);
}
