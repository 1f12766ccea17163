/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sim/cfg.h"

#include "model/interface/macros.h"
#include "model/sim/file.h"
#include "model/sim/near_name.h"

#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_CHARS = NEAR_NAME_CHARS, MESSAGE_CHARS = 512, INI_BYTES_MAX = 16 << 20 };

struct row {
	const char *section, *key;
	enum cfg_unit unit;
	uint64_t def, min, max;
	const char *meaning, *source;
	size_t offset;
};

#define ROW(type, section, key, unit, def, min, max, meaning, source)                              \
	{#section, #key,   CFG_##unit,                                                             \
	 def,      min,    max,                                                                    \
	 meaning,  source, offsetof(struct type, section##_##key)},
#define HCA_ROW(...)  ROW(hca_params, __VA_ARGS__)
#define HOST_ROW(...) ROW(host_params, __VA_ARGS__)
#define SIM_ROW(...)  ROW(sim_params, __VA_ARGS__)
static const struct row hca_rows[] = {HCA_PARAMS(HCA_ROW)};
static const struct row host_rows[] = {HOST_PARAMS(HOST_ROW)};
static const struct row sim_rows[] = {SIM_PARAMS(SIM_ROW)};
#undef SIM_ROW
#undef HOST_ROW
#undef HCA_ROW
#undef ROW

enum {
	ALL = 0, /* scope [hca]; scope 1 + n is [hca<n>] */
	MAX_INSTANCES = CFG_HCAS > CFG_HOSTS ? CFG_HCAS : CFG_HOSTS,
	SCOPES = 1 + MAX_INSTANCES,
};

static const struct group {
	const char *name;
	const struct row *rows;
	size_t count;
	unsigned int instances; /* 0: there is only one instance, and its section has no number */
	size_t offset, size;    /* of one instance, in struct config */
} groups[] = {
	{"sim", sim_rows, ARRAY_SIZE(sim_rows), 0, offsetof(struct config, sim),
	 sizeof(struct sim_params)},
	{"hca", hca_rows, ARRAY_SIZE(hca_rows), CFG_HCAS, offsetof(struct config, hca),
	 sizeof(struct hca_params)},
	{"host", host_rows, ARRAY_SIZE(host_rows), CFG_HOSTS, offsetof(struct config, host),
	 sizeof(struct host_params)},
};

enum { GROUPS = ARRAY_SIZE(groups), MAX_ROWS = 256 };

_Static_assert(ARRAY_SIZE(hca_rows) <= MAX_ROWS, "MAX_ROWS");
_Static_assert(ARRAY_SIZE(host_rows) <= MAX_ROWS, "MAX_ROWS");

/* What a section name refers to: [hca1.link] is group hca, scope 2, section link. */
struct place {
	const struct group *group;
	unsigned int scope;
	const char *section;
};

static unsigned int instances(const struct group *g)
{
	return g->instances ? g->instances : 1;
}

static uint64_t *value_of(struct config *cfg, const struct group *g, const struct row *row,
			  unsigned int n)
{
	return (uint64_t *)((char *)cfg + g->offset + n * g->size + row->offset);
}

static uint64_t value_in(const struct config *cfg, const struct group *g, const struct row *row,
			 unsigned int n)
{
	return *value_of((struct config *)cfg, g, row, n);
}

static void each_row_of_group(const struct group *g, struct config *cfg,
			      void (*set)(const struct row *row, uint64_t *value))
{
	unsigned int n;
	size_t i;

	for (n = 0; n < instances(g); n++)
		for (i = 0; i < g->count; i++)
			set(&g->rows[i], value_of(cfg, g, &g->rows[i], n));
}

static void each_row(struct config *cfg, void (*set)(const struct row *row, uint64_t *value))
{
	unsigned int i;

	for (i = 0; i < GROUPS; i++)
		each_row_of_group(&groups[i], cfg, set);
}

static void set_default(const struct row *row, uint64_t *value)
{
	*value = row->def;
}

static void set_ideal(const struct row *row, uint64_t *value)
{
	if (row->unit == CFG_TIME)
		*value = row->min;
}

void cfg_defaults(struct config *cfg)
{
	memset(cfg, 0, sizeof(*cfg)); /* clears the unused instances too */
	each_row(cfg, set_default);
}

void cfg_make_ideal(struct config *cfg)
{
	each_row(cfg, set_ideal);
}

uint64_t cfg_node_guid(const struct hca_params *hca, unsigned int n)
{
	uint64_t guid = hca->hca_node_guid;

	return guid ? guid : UINT64_C(0x0002c90300a00000) + 16 * n;
}

static __attribute__((format(printf, 2, 3))) int complain(char message[MESSAGE_CHARS],
							  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, MESSAGE_CHARS, format, args);
	va_end(args);
	return -EINVAL;
}

static int unknown(const char *what, const char *where, const struct near_name *s,
		   char message[MESSAGE_CHARS])
{
	if (s->name[0])
		return complain(message, "%s: expected a known %s, got '%s'; did you mean '%s'?",
				where, what, s->wanted, s->name);
	return complain(message, "%s: expected a known %s, got '%s'; hcasim config names all",
			where, what, s->wanted);
}

static void section_name(const struct group *g, const struct row *row, unsigned int scope,
			 char name[NAME_CHARS])
{
	char number[12] = "";

	if (scope != ALL)
		snprintf(number, sizeof(number), "%u", scope - 1);
	if (!strcmp(row->section, g->name))
		snprintf(name, NAME_CHARS, "%s%s", g->name, number);
	else
		snprintf(name, NAME_CHARS, "%s%s.%s", g->name, number, row->section);
}

static bool place_find(const char *name, struct place *place)
{
	char candidate[NAME_CHARS];
	const struct group *g;
	unsigned int scope;
	size_t i;

	for (g = groups; g < groups + GROUPS; g++)
		for (i = 0; i < g->count; i++)
			for (scope = 0; scope <= g->instances; scope++) {
				section_name(g, &g->rows[i], scope, candidate);
				if (strcmp(candidate, name))
					continue;
				*place = (struct place){g, scope, g->rows[i].section};
				return true;
			}
	return false;
}

static int place_parse(const char *name, struct place *place, char message[MESSAGE_CHARS])
{
	struct near_name s = {.wanted = name};
	char candidate[NAME_CHARS];
	const struct group *g;
	unsigned int scope;
	size_t i;

	if (place_find(name, place))
		return 0;
	for (g = groups; g < groups + GROUPS; g++)
		for (i = 0; i < g->count; i++)
			for (scope = 0; scope <= g->instances; scope++) {
				section_name(g, &g->rows[i], scope, candidate);
				near_name_try(&s, candidate);
			}
	return unknown("section", name, &s, message);
}

static const struct row *row_find(const struct place *place, const char *key)
{
	const struct group *g = place->group;
	size_t i;

	for (i = 0; i < g->count; i++)
		if (!strcmp(g->rows[i].section, place->section) && !strcmp(g->rows[i].key, key))
			return &g->rows[i];
	return NULL;
}

/* name is section.key as the user wrote it, for messages. */
static int row_parse(const struct place *place, const char *key, const char *name,
		     const struct row **row, char message[MESSAGE_CHARS])
{
	struct near_name s = {.wanted = key};
	const struct group *g = place->group;
	size_t i;

	*row = row_find(place, key);
	if (*row)
		return 0;
	for (i = 0; i < g->count; i++)
		if (!strcmp(g->rows[i].section, place->section))
			near_name_try(&s, g->rows[i].key);
	return unknown("key", name, &s, message);
}

static int row_value_parse(const struct row *row, const char *name, const char *text,
			   uint64_t *value, char message[MESSAGE_CHARS])
{
	char min[CFG_VALUE_CHARS], max[CFG_VALUE_CHARS];
	uint64_t v;

	if (cfg_value_parse(row->unit, text, &v))
		return complain(message, "%s: expected %s, got '%s'", name,
				cfg_unit_expects(row->unit), text);
	if (v < row->min || v > row->max)
		return complain(message, "%s: expected %s to %s, got '%s'", name,
				cfg_value_format(row->unit, row->min, min),
				cfg_value_format(row->unit, row->max, max), text);
	*value = v;
	return 0;
}

/* The setting has no section. Finds sections that have this key, to suggest one. */
static int incomplete(const char *setting, const char *key, char message[MESSAGE_CHARS])
{
	const struct group *g;
	size_t i;

	for (g = groups; g < groups + GROUPS; g++)
		for (i = 0; i < g->count; i++) {
			char section[NAME_CHARS];

			if (strcmp(g->rows[i].key, key))
				continue;
			section_name(g, &g->rows[i], ALL, section);
			return complain(
				message,
				"expected section.key=value, got '%s'; did you mean '%s.%s'?",
				setting, section, key);
		}
	return complain(message, "expected section.key=value, got '%s'", setting);
}

static void print_complaint(FILE *err, const char *where, const char *message)
{
	if (err)
		fprintf(err, "%s: %s\n", where, message);
}

int cfg_set(struct config *cfg, const char *setting, const char *where, FILE *err)
{
	char name[NAME_CHARS] = "", message[MESSAGE_CHARS], *key;
	const char *equals = strchr(setting, '=');
	const struct row *row;
	struct place place;
	unsigned int n;
	uint64_t value;
	int rc;

	if (equals && equals - setting < NAME_CHARS)
		memcpy(name, setting, equals - setting);
	key = strrchr(name, '.');
	if (!key) {
		rc = incomplete(setting, name, message);
		goto out;
	}
	*key++ = 0;
	rc = place_parse(name, &place, message);
	if (rc)
		goto out;
	key[-1] = '.';
	rc = row_parse(&place, key, name, &row, message);
	if (rc)
		goto out;
	rc = row_value_parse(row, name, equals + 1, &value, message);
	if (rc)
		goto out;
	for (n = 0; n < instances(place.group); n++)
		if (place.scope == ALL || place.scope == 1 + n)
			*value_of(cfg, place.group, row, n) = value;
out:
	if (rc)
		print_complaint(err, where, message);
	return rc;
}

/* Debian builds libinih so that the handler gets no line number. The lines are therefore counted
 * where they are read. The same code removes comments and indentation, because libinih would take
 * an indented line for a continuation of the value before it. */
struct ini {
	struct config cfg;
	char *text, *next, *end; /* the whole text, its unread part, and its end */
	unsigned int line;
	bool bad;
	char message[MESSAGE_CHARS];
	unsigned int line_of[GROUPS][SCOPES][MAX_ROWS]; /* 0: not set in this file */
};

static void ini_line_check(struct ini *ini, char *s, int room)
{
	struct place place;
	char *end = strchr(s, ']');

	s[strcspn(s, "#;\r\n")] = 0;
	/* libinih would ignore what follows the bracket. */
	if (*s == '[' && end && end < s + strlen(s) && !end[1 + strspn(end + 1, " \t")]) {
		*end = 0;
		ini->bad = place_parse(s + 1, &place, ini->message);
		*end = ']';
	} else if (*s == '[' || (*s && !strchr(s, '='))) {
		complain(ini->message, "expected [section] or key = value, got '%.*s'", 80, s);
		ini->bad = true;
	} else if ((int)strlen(s) + 2 > room) {
		complain(ini->message, "expected a line of at most %d characters, got %zu",
			 room - 2, strlen(s));
		ini->bad = true;
	}
}

static char *ini_read(char *line, int room, void *stream)
{
	struct ini *ini = stream;
	char *s = ini->next + strspn(ini->next, " \t"), *end = s + strcspn(s, "\n");

	if (ini->bad || ini->next == ini->end)
		return NULL;
	ini->line++;
	if (end < ini->end && *end != '\n') {
		complain(ini->message, "expected text, got a zero byte");
		ini->bad = true;
		return NULL;
	}
	ini->next = end + (end < ini->end);
	*end = 0;
	ini_line_check(ini, s, room);
	if (ini->bad)
		return NULL;
	snprintf(line, room, "%s\n", s);
	return line;
}

static int ini_set(struct ini *ini, const char *section, const char *key, const char *text)
{
	char name[2 * NAME_CHARS];
	const struct row *row;
	struct place place;
	unsigned int n, *line;
	uint64_t value;
	size_t g, i;

	snprintf(name, sizeof(name), "%s%s%s", section, *section ? "." : "", key);
	if (!*section)
		return complain(ini->message, "%s: expected a [section] before it, got none", name);
	if (place_parse(section, &place, ini->message) ||
	    row_parse(&place, key, name, &row, ini->message) ||
	    row_value_parse(row, name, text, &value, ini->message))
		return -EINVAL;
	g = place.group - groups;
	i = row - place.group->rows;
	line = &ini->line_of[g][place.scope][i];
	if (*line)
		return complain(ini->message,
				"%s: expected once in a file, got it again after line %u", name,
				*line);
	*line = ini->line;
	for (n = 0; n < instances(place.group); n++)
		if (place.scope == 1 + n || (place.scope == ALL && !ini->line_of[g][1 + n][i]))
			*value_of(&ini->cfg, place.group, row, n) = value;
	return 0;
}

static int ini_handle(void *user, const char *section, const char *key, const char *text)
{
	struct ini *ini = user;

	if (!ini->bad)
		ini->bad = ini_set(ini, section, key, text);
	return !ini->bad;
}

int cfg_load_ini(struct config *cfg, const char *path, FILE *err)
{
	struct ini *ini = calloc(1, sizeof(*ini));
	int rc, syntax;
	size_t length;

	if (!ini)
		return -ENOMEM;
	ini->cfg = *cfg;
	rc = file_text(&ini->text, &length, path, FILE_ANY, INI_BYTES_MAX, err);
	if (rc)
		goto free_ini;
	ini->next = ini->text;
	ini->end = ini->text + length;
	syntax = ini_parse_stream(ini_read, ini, ini_handle, ini);
	if (!ini->bad && syntax) {
		complain(ini->message, "expected [section] or key = value, got neither");
		ini->bad = true;
		if (syntax > 0)
			ini->line = syntax;
	}
	if (ini->bad) {
		rc = -EINVAL;
		if (err)
			fprintf(err, "%s:%u: %s\n", path, ini->line, ini->message);
	} else {
		*cfg = ini->cfg;
	}
free_ini:
	free(ini->text);
	free(ini);
	return rc;
}

static void save_row(const struct row *row, uint64_t value, FILE *out)
{
	char text[CFG_VALUE_CHARS], min[CFG_VALUE_CHARS], max[CFG_VALUE_CHARS];

	fprintf(out, "# %s", row->meaning);
	if (row->unit != CFG_BOOL && row->max != UINT64_MAX)
		fprintf(out, " [%s .. %s]", cfg_value_format(row->unit, row->min, min),
			cfg_value_format(row->unit, row->max, max));
	fprintf(out, "\n# %s\n%s = %s\n", row->source, row->key,
		cfg_value_format(row->unit, value, text));
}

static bool row_is_common(const struct config *cfg, const struct group *g, const struct row *row)
{
	unsigned int n;

	for (n = 1; n < instances(g); n++)
		if (value_in(cfg, g, row, n) != value_in(cfg, g, row, 0))
			return false;
	return true;
}

/* Writes the rows of one section: either those that all instances agree on, or one instance's
 * own. */
static void save_section(const struct config *cfg, const struct group *g, const struct row *first,
			 unsigned int scope, FILE *out)
{
	const struct row *row, *end = g->rows + g->count;
	char name[NAME_CHARS];
	bool begun = false;

	for (row = first; row < end && !strcmp(row->section, first->section); row++) {
		if (row_is_common(cfg, g, row) != (scope == ALL))
			continue;
		section_name(g, row, scope, name);
		if (!begun)
			fprintf(out, "\n[%s]\n", name);
		begun = true;
		save_row(row, value_in(cfg, g, row, scope == ALL ? 0 : scope - 1), out);
	}
}

int cfg_save(const struct config *cfg, FILE *out)
{
	const struct group *g;
	unsigned int scope;
	size_t i;

	fprintf(out, "# hcasim configuration. [hca...] is both devices, [hca0...] the first alone; "
		     "so for [host...].\n");
	for (g = groups; g < groups + GROUPS; g++)
		for (i = 0; i < g->count; i++)
			if (!i || strcmp(g->rows[i].section, g->rows[i - 1].section))
				for (scope = 0; scope <= g->instances; scope++)
					save_section(cfg, g, &g->rows[i], scope, out);
	return ferror(out) || fflush(out) ? -EIO : 0;
}

int cfg_print_rows(FILE *out)
{
	char name[NAME_CHARS], def[CFG_VALUE_CHARS], min[CFG_VALUE_CHARS], max[CFG_VALUE_CHARS];
	char range[2 * CFG_VALUE_CHARS + 2];
	const struct group *g;
	const struct row *row;

	for (g = groups; g < groups + GROUPS; g++)
		for (row = g->rows; row < g->rows + g->count; row++) {
			section_name(g, row, ALL, name);
			snprintf(range, sizeof(range), "%s..%s",
				 cfg_value_format(row->unit, row->min, min),
				 cfg_value_format(row->unit, row->max, max));
			fprintf(out, "%-18s %-22s %-8s %-18s %-22s %s (%s)\n", name, row->key,
				cfg_unit_name(row->unit),
				cfg_value_format(row->unit, row->def, def), range, row->meaning,
				row->source);
		}
	return ferror(out) || fflush(out) ? -EIO : 0;
}

void cfg_print_names(FILE *out)
{
	char name[NAME_CHARS];

	for (const struct group *g = groups; g < groups + GROUPS; g++)
		for (const struct row *row = g->rows; row < g->rows + g->count; row++) {
			section_name(g, row, ALL, name);
			fprintf(out, "%s.%s\n", name, row->key);
		}
}
