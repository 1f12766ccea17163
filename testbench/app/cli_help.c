/* SPDX-License-Identifier: Apache-2.0 */
/* The help as text and as a man page, both made from the rows of the command line. */
#include "testbench/app/cli_impl.h"
#include "model/interface/macros.h"

#include "testbench/app/tools.h"
#include "testbench/version.h"

#include <stdlib.h>
#include <string.h>

static const char purpose[] = "simulates two linked InfiniBand HCAs: registers, packets and time";
static const char notes[] =
	"NAME is a scenario. Where a run is wanted, DIR is its folder, and NAME means the folder "
	"of its last run.\n"
	"hcasim COMMAND --help prints the options of a command.\n"
	"Exit status: 0 passed, 1 a scenario or check failed, 2 wrong input.\n";

static void option_text(const struct cli_option_row *option, char *buf, size_t size)
{
	const char *value = option->value;

	if (!value)
		snprintf(buf, size, "--%s", option->name);
	else if (*value == '[')
		snprintf(buf, size, "--%s[=%s", option->name, value + 1);
	else
		snprintf(buf, size, "--%s %s", option->name, value);
}

/* What a command takes besides its options. */
static void print_words(FILE *out, const struct cli_command_row *c)
{
	if (c->command == CLI_PERF)
		perf_help(out);
	if (c->command == CLI_STAGES)
		tool_stages_help(out);
}

/* --- text --- */

static void help_of(FILE *out, const struct cli_command_row *c)
{
	const struct cli_option_row *o;
	char text[64], letter[8];

	fprintf(out, "hcasim %s%s%s\n  %s\n\n", c->word, *c->arguments ? " " : "", c->arguments,
		c->meaning);
	for (size_t i = 0; (o = cli_option_row(i)); i++) {
		if (!(o->commands & 1u << c->command))
			continue;
		option_text(o, text, sizeof(text));
		snprintf(letter, sizeof(letter), o->letter ? "-%c," : "   ", o->letter);
		fprintf(out, "  %s %-32s %s\n", letter, text, o->meaning);
	}
	print_words(out, c);
}

void cli_help(FILE *out, const char *word)
{
	const struct cli_command_row *c;

	if (!word)
		fprintf(out, "hcasim %s.\n\n", purpose);
	for (size_t i = 0; (c = cli_command_row(i)); i++)
		if (!word)
			fprintf(out, "  hcasim %-8s%-24s %s\n", c->word, c->arguments, c->meaning);
		else if (!strcmp(word, c->word))
			help_of(out, c);
	if (!word)
		fprintf(out, "\n%s", notes);
}

/* --- man page --- */

/* roff takes a backslash, a hyphen, and a dot or quote at the start of a line for its own. */
static void print_roff(FILE *out, const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
		start = *text == '\n';
	}
}

static void man_option(FILE *out, const struct cli_option_row *o)
{
	char text[64];

	option_text(o, text, sizeof(text));
	fputs(".TP\n.B ", out);
	if (o->letter)
		fprintf(out, "\\-%c, ", o->letter);
	print_roff(out, text);
	fputc('\n', out);
	print_roff(out, o->meaning);
	fputc('\n', out);
}

static void man_options(FILE *out, const struct cli_command_row *c)
{
	const struct cli_option_row *o;

	for (size_t i = 0; (o = cli_option_row(i)); i++)
		if (o->commands != CLI_EVERY_COMMAND && o->commands & 1u << c->command)
			man_option(out, o);
}

/* A table that another part prints as text keeps its lines. */
static void man_words(FILE *out, const struct cli_command_row *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *table = open_memstream(&text, &size);

	if (!table)
		return;
	print_words(table, c);
	fclose(table);
	if (size) {
		fputs(".PP\n.nf\n", out);
		print_roff(out, text + strspn(text, "\n"));
		fputs(".fi\n", out);
	}
	free(text);
}

static void man_commands(FILE *out)
{
	const struct cli_command_row *c;

	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; (c = cli_command_row(i)); i++) {
		fputs(".SS \"hcasim ", out);
		print_roff(out, c->word);
		fputs(*c->arguments ? " " : "", out);
		print_roff(out, c->arguments);
		fputs("\"\n", out);
		print_roff(out, c->meaning);
		fputc('\n', out);
		man_options(out, c);
		man_words(out, c);
	}
}

static void man_every_command(FILE *out)
{
	const struct cli_option_row *o;

	fputs(".SH OPTIONS OF EVERY COMMAND\n", out);
	for (size_t i = 0; (o = cli_option_row(i)); i++)
		if (o->commands == CLI_EVERY_COMMAND)
			man_option(out, o);
}

static void man_files(FILE *out)
{
	static const struct {
		const char *path, *meaning;
	} files[] = {
		{"hcasim-traces/NAME/", "what a run writes, in the working directory"},
		{"share/hcasim/configs/", "profiles for --config and --profile"},
		{"share/hcasim/testbench/scenarios/", "the source of every scenario"},
		{"share/hcasim/hcasim_cm.lua",
		 "makes Wireshark decode connection management (wireshark -X lua_script:FILE)"},
		{"include/hcasim/", "the headers that scenario files include"},
	};

	fputs(".SH FILES\nPaths that begin with share or include are below the prefix of the "
	      "installation.\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		fputs(".TP\n.I ", out);
		print_roff(out, files[i].path);
		fputc('\n', out);
		print_roff(out, files[i].meaning);
		fputc('\n', out);
	}
}

/* A paragraph for each line. */
static void man_notes(FILE *out)
{
	for (const char *line = notes; *line; line += strcspn(line, "\n") + 1)
		fprintf(out, ".PP\n%.*s\n", (int)strcspn(line, "\n"), line);
}

static void man_page(FILE *out)
{
	fprintf(out, ".TH HCASIM 1 \"\" \"hcasim %s\" \"User Commands\"\n", BUILD_VERSION);
	fputs(".SH NAME\nhcasim \\- ", out);
	print_roff(out, purpose);
	fputs("\n.SH SYNOPSIS\n.B hcasim\n.I COMMAND\n.RI [ ARGUMENT .\\|.\\|.]\n"
	      ".RI [ OPTION .\\|.\\|.]\n.SH DESCRIPTION\n",
	      out);
	man_notes(out);
	man_commands(out);
	man_every_command(out);
	man_files(out);
}

void cli_help_as(FILE *out, enum cli_help_form form, const char *word)
{
	switch (form) {
	case CLI_HELP_TEXT:
		cli_help(out, word);
		break;
	case CLI_HELP_MAN:
		man_page(out);
		break;
	case CLI_HELP_BASH:
		cli_complete_bash(out);
		break;
	case CLI_HELP_ZSH:
		cli_complete_zsh(out);
		break;
	}
}
