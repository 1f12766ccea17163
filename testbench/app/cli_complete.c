/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion for bash and zsh, made from the rows of the command line. What an argument can be
 * follows from the words that the rows use for it: FILE is a file, NAME is a scenario.
 */
#include "testbench/app/cli_impl.h"
#include "model/interface/macros.h"

#include "model/sim/cfg.h"
#include "testbench/app/catalog.h"
#include "testbench/perf/workloads.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_CHARS = 256 };

/* What can stand in a place of the command line. */
enum kinds {
	FILES = 1,
	SCENARIOS = 2,
	PARAMETERS = 4,
	COMMANDS = 8,
	WORKLOADS = 16,
};

struct candidates {
	unsigned kinds;
	char words[WORDS_CHARS]; /* and these, separated by blanks */
};

/* --- what the rows say --- */

static unsigned kinds_of(const char *word, size_t len, bool option)
{
	static const struct {
		const char *word;
		unsigned option, argument; /* the word can mean different things */
	} meanings[] = {
		/* clang-format off */
		{"FILE", FILES, FILES},
		{"ELF", FILES, FILES},
		{"DIR", FILES, FILES},
		{"PATH", FILES, FILES},
		{"SOCKET", FILES, FILES},
		{"SECTION", PARAMETERS, 0},
		{"NAME", 0, SCENARIOS},
		{"A", 0, SCENARIOS | FILES},
		{"WORKLOAD", 0, WORKLOADS},
		{"COMMAND", 0, COMMANDS},
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (strlen(meanings[i].word) == len && !strncmp(word, meanings[i].word, len))
			return option ? meanings[i].option : meanings[i].argument;
	return 0;
}

/* Reads the first argument that `text` describes: alternatives between bars, of which those in
 * lower case are typed as they are. */
static struct candidates candidates_of(const char *text, bool option)
{
	struct candidates c = {0};
	size_t at = 0;

	while (text && *text && *text != ' ') {
		const size_t len = strcspn(text, "|[]. =,");

		c.kinds |= kinds_of(text, len, option);
		if (islower((unsigned char)*text) && strchr("|]", text[len]))
			at += (size_t)snprintf(c.words + at, sizeof(c.words) - at, "%.*s ",
					       (int)len, text);
		text += len;
		/* what comes after a dot, as in FILE.ini, is no alternative */
		if (*text == '.' || *text == '=')
			text += strcspn(text, "|] ");
		else if (*text && *text != ' ')
			text++;
	}
	return c;
}

/* --- the lists, one word a line --- */

typedef void list_fn(FILE *out);

static void list_scenarios(FILE *out)
{
	char *text = NULL, *line, *rest;
	size_t size = 0;
	FILE *all = open_memstream(&text, &size);

	if (!all)
		return;
	catalog_print(all);
	fclose(all);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(out, "%.*s\n", (int)strcspn(line, " "), line);
	free(text);
}

static void list_parameters(FILE *out)
{
	cfg_print_names(out);
}

static void list_commands(FILE *out)
{
	const struct cli_command_row *c;

	for (size_t i = 0; (c = cli_command_row(i)); i++)
		fprintf(out, "%s\n", c->word);
}

static void list_workloads(FILE *out)
{
#define W(name, ...) fprintf(out, "%s\n", #name);
	PERF_WORKLOADS(W)
#undef W
}

static const struct list {
	unsigned kind;
	const char *name;
	list_fn *print;
} lists[] = {
	{SCENARIOS, "scenarios", list_scenarios},
	{PARAMETERS, "parameters", list_parameters},
	{COMMANDS, "commands", list_commands},
	{WORKLOADS, "workloads", list_workloads},
};

#define FOR_EACH_LIST(l)                                                                           \
	for (const struct list *l = lists; l < lists + sizeof(lists) / sizeof(*l); l++)

/* --- bash --- */

/* The function of the script that offers them: files or not, the lists' names, the words. */
static void bash_offer(FILE *out, const char *pattern, const char *text, bool option)
{
	const struct candidates c = candidates_of(text, option);

	fprintf(out, "\t%s) _hcasim_offer %s", pattern, c.kinds & FILES ? "files" : "-");
	fprintf(out, " %s \"", c.kinds & PARAMETERS ? "=" : "-");
	FOR_EACH_LIST(l)
		if (c.kinds & l->kind)
			fprintf(out, "$_hcasim_%s ", l->name);
	fprintf(out, "%s\";;\n", c.words);
}

/* Values of options, then names of options, then arguments: the first pattern that fits counts. */
static void bash_command(FILE *out, const struct cli_command_row *c)
{
	const struct cli_option_row *o;
	char pattern[128];

	for (size_t i = 0; (o = cli_option_row(i)); i++) {
		if (!o->value || !(o->commands & 1u << c->command))
			continue;
		if (o->letter)
			snprintf(pattern, sizeof(pattern), "%s:--%s:*|%s:-%c:*", c->word, o->name,
				 c->word, o->letter);
		else
			snprintf(pattern, sizeof(pattern), "%s:--%s%s:*", c->word, o->name,
				 *o->value == '[' ? "=" : "");
		bash_offer(out, pattern, o->value, true);
	}
	fprintf(out, "\t%s:*:-*) _hcasim_offer - - \"", c->word);
	for (size_t i = 0; (o = cli_option_row(i)); i++)
		if (o->commands & 1u << c->command)
			fprintf(out, "--%s ", o->name);
	fprintf(out, "\";;\n");
	snprintf(pattern, sizeof(pattern), "%s:*", c->word);
	bash_offer(out, pattern, c->arguments, false);
}

void cli_complete_bash(FILE *out)
{
	const struct cli_command_row *c;

	fprintf(out, "# bash completion of hcasim, printed by: hcasim help --as bash\n");
	FOR_EACH_LIST(l) {
		fprintf(out, "_hcasim_%s='\n", l->name);
		l->print(out);
		fprintf(out, "'\n");
	}
	fprintf(out, "\n# FILES: files to offer files too; SUFFIX: goes behind each word; WORDS\n"
		     "_hcasim_offer()\n{\n"
		     "\tmapfile -t COMPREPLY < <(compgen -W \"$3\" -- \"$cur\")\n"
		     "\tif [ \"$2\" = = ]; then\n"
		     "\t\tCOMPREPLY=(\"${COMPREPLY[@]/%%/=}\"); compopt -o nospace\n"
		     "\tfi\n"
		     "\tif [ \"$1\" = files ]; then\n"
		     "\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
		     "\t\tcompopt -o filenames\n"
		     "\tfi\n"
		     "}\n\n"
		     "_hcasim()\n{\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		     "\tCOMPREPLY=()\n"
		     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		     "\t\t_hcasim_offer - - \"$_hcasim_commands --help --version\"; return\n"
		     "\tfi\n"
		     "\t# bash makes = a word of its own\n"
		     "\tif [ \"$cur\" = = ]; then\n\t\tprev=$prev=; cur=\n"
		     "\telif [ \"$prev\" = = ]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}=\n\tfi\n"
		     "\tcase ${COMP_WORDS[1]}:$prev:$cur in\n");
	for (size_t i = 0; (c = cli_command_row(i)); i++)
		bash_command(out, c);
	fprintf(out, "\tesac\n}\ncomplete -F _hcasim hcasim\n");
}

/* --- zsh --- */

/* Text within the single quotes and brackets of a specification of _arguments. */
static void zsh_quote(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* ":message:action" */
static void zsh_action(FILE *out, const char *text, bool option)
{
	const struct candidates c = candidates_of(text, option);

	fputc(':', out);
	zsh_quote(out, text);
	fputc(':', out);
	if (!c.kinds && !c.words[0])
		return;
	fprintf(out, "{_alternative%s", c.kinds & FILES ? " files\\:file\\:_files" : "");
	FOR_EACH_LIST(l)
		if (c.kinds & l->kind)
			fprintf(out, " \"%s\\:%s\\:compadd%s -a _hcasim_%s\"", l->name, l->name,
				l->kind == PARAMETERS ? " -S =" : "", l->name);
	if (c.words[0])
		fprintf(out, " \"words\\:word\\:(%s)\"", c.words);
	fputc('}', out);
}

static void zsh_option(FILE *out, const struct cli_option_row *o)
{
	const bool may_lack = o->value && *o->value == '[';

	fputs(" \\\n\t\t", out);
	if (o->letter)
		fprintf(out, "'*'{-%c,--%s}'[", o->letter, o->name);
	else
		fprintf(out, "'*--%s%s[", o->name, may_lack ? "=-" : "");
	zsh_quote(out, o->meaning);
	fputc(']', out);
	if (o->value) {
		if (may_lack)
			fputc(':', out);
		zsh_action(out, o->value, true);
	}
	fputc('\'', out);
}

static void zsh_command(FILE *out, const struct cli_command_row *c)
{
	const struct cli_option_row *o;

	fprintf(out, "\t%s)\n\t\t_arguments", c->word);
	for (size_t i = 0; (o = cli_option_row(i)); i++)
		if (o->commands & 1u << c->command)
			zsh_option(out, o);
	if (c->most) {
		fputs(" \\\n\t\t'*", out);
		zsh_action(out, c->arguments, false);
		fputc('\'', out);
	}
	fputs("\n\t\t;;\n", out);
}

void cli_complete_zsh(FILE *out)
{
	const struct cli_command_row *c;

	fprintf(out,
		"#compdef hcasim\n# zsh completion of hcasim, printed by: hcasim help --as zsh\n");
	FOR_EACH_LIST(l) {
		fprintf(out, "_hcasim_%s=(\n", l->name);
		l->print(out);
		fprintf(out, ")\n");
	}
	fprintf(out, "_hcasim()\n{\n\tlocal -a commands=(\n");
	for (size_t i = 0; (c = cli_command_row(i)); i++) {
		fprintf(out, "\t\t'%s:", c->word);
		zsh_quote(out, c->meaning);
		fprintf(out, "'\n");
	}
	fprintf(out,
		"\t)\n"
		"\tif ((CURRENT == 2)); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
		"\tshift words\n\t((CURRENT--))\n"
		"\tcase $words[1] in\n");
	for (size_t i = 0; (c = cli_command_row(i)); i++)
		zsh_command(out, c);
	fprintf(out, "\tesac\n}\n_hcasim \"$@\"\n");
}
