/* SPDX-License-Identifier: Apache-2.0 */
/* See sweep.h. */
#include "testbench/app/sweep.h"

#include "model/sim/cfg.h"
#include "testbench/app/catalog.h"
#include "testbench/os/child.h"
#include "testbench/os/outdir.h"
#include "testbench/os/place.h"
#include "testbench/app/sweep_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BAR_CHARS = 30, NAME_CHARS = 200, VALUES_MAX = 64, CELLS_MAX = 10000, ARGS_MAX = 1200 };

struct sweep {
	const struct run_options *run;
	const struct sweep_options *options;
	char runs[OUTDIR_CHARS]; /* the cells' folders are below it */
	char *keys[SWEEP_VARY_MAX];
	char *values[SWEEP_VARY_MAX][VALUES_MAX];
	unsigned value_count[SWEEP_VARY_MAX];
	struct sweep_cell *cells;
	unsigned cell_count, done, failed, running;
};

/* --- the matrix --- */

/* Checks every value before anything runs. */
static int vary_parse(struct sweep *s, unsigned v, struct config *scratch)
{
	char *text = strdup(s->options->vary[v]), *value, *rest;

	if (!text)
		return -ENOMEM;
	s->keys[v] = text;
	value = strchr(text, '=');
	if (!value || !value[1]) {
		fprintf(stderr, "--vary: expected section.key=value,value, got '%s'\n", text);
		return -EINVAL;
	}
	*value = 0;
	rest = value + 1;
	for (unsigned i = 0; i < v; i++)
		if (!strcmp(s->keys[i], text)) {
			fprintf(stderr, "--vary: %s is given twice\n", text);
			return -EINVAL;
		}
	while ((value = strsep(&rest, ","))) {
		char setting[512];

		if (s->value_count[v] == VALUES_MAX) {
			fprintf(stderr, "--vary: expected at most %d values\n", VALUES_MAX);
			return -EINVAL;
		}
		snprintf(setting, sizeof(setting), "%s=%s", text, value);
		if (cfg_set(scratch, setting, "--vary", stderr))
			return -EINVAL;
		for (unsigned i = 0; i < s->value_count[v]; i++)
			if (!strcmp(s->values[v][i], value)) {
				fprintf(stderr, "--vary: %s: %s is given twice\n", text, value);
				return -EINVAL;
			}
		s->values[v][s->value_count[v]++] = value;
	}
	return 0;
}

static void cell_make(struct sweep *s, unsigned n)
{
	struct sweep_cell *cell = &s->cells[n];
	unsigned rest = n;
	size_t at = 0;

	/* the last parameter changes fastest */
	for (unsigned v = s->options->varies; v-- > 0;) {
		cell->values[v] = s->values[v][rest % s->value_count[v]];
		rest /= s->value_count[v];
	}
	for (unsigned v = 0; v < s->options->varies && at < NAME_CHARS; v++)
		at += (size_t)snprintf(cell->name + at, sizeof(cell->name) - at, "%s%s=%s",
				       v ? "+" : "", s->keys[v], cell->values[v]);
	if (at >= NAME_CHARS)
		snprintf(cell->name, sizeof(cell->name), "cell%u", n);
}

static const char *scenario_name(const struct sweep *s)
{
	const char *slash = strrchr(s->run->scenario, '/');

	return slash ? slash + 1 : s->run->scenario;
}

static void cell_dir(const struct sweep *s, const struct sweep_cell *cell, char *buf, size_t size)
{
	snprintf(buf, size, "%s/sweep/%s/%s", s->runs, scenario_name(s), cell->name);
}

static int matrix_make(struct sweep *s)
{
	size_t len = strlen(s->run->scenario);
	struct config scratch;
	unsigned n = 1;

	if (!catalog_find(s->run->scenario) &&
	    strcmp(s->run->scenario + (len < 2 ? 0 : len - 2), ".c")) {
		catalog_complain(s->run->scenario, stderr);
		return -ENOENT;
	}
	for (unsigned i = 0; i < s->options->shows; i++)
		if (counters_check(s->options->show[i], stderr))
			return -EINVAL;
	if (s->run->dir && outdir_file_check(s->run->dir, stderr))
		return -EINVAL;
	cfg_defaults(&scratch);
	for (unsigned v = 0; v < s->options->varies; v++) {
		if (vary_parse(s, v, &scratch))
			return -EINVAL;
		n *= s->value_count[v];
		if (n > CELLS_MAX) {
			fprintf(stderr, "--vary: expected at most %d combinations\n", CELLS_MAX);
			return -EINVAL;
		}
	}
	s->cells = calloc(n, sizeof(*s->cells));
	if (!s->cells)
		return -ENOMEM;
	for (s->cell_count = 0; s->cell_count < n; s->cell_count++)
		cell_make(s, s->cell_count);
	return place_runs(s->runs, sizeof(s->runs) - 512);
}

/* --- the command of a cell --- */

struct command {
	const char *args[ARGS_MAX];
	unsigned n;
	char dir[OUTDIR_CHARS + 512], exe[OUTDIR_CHARS + 16], settings[SWEEP_VARY_MAX][512];
};

static void add(struct command *c, const char *option, const char *value)
{
	if (!value)
		return;
	c->args[c->n++] = option;
	c->args[c->n++] = value;
}

static void command_make(struct command *c, const struct sweep *s, const struct sweep_cell *cell)
{
	const struct run_options *run = s->run;

	c->n = 0;
	if (place_executable(c->exe, sizeof(c->exe)))
		strcpy(c->exe, "hcasim");
	cell_dir(s, cell, c->dir, sizeof(c->dir));
	c->args[c->n++] = c->exe;
	add(c, "run", run->scenario);
	for (size_t i = 0; i < run->inis; i++)
		add(c, "-c", run->ini[i]);
	for (size_t i = 0; i < run->setting_count; i++)
		add(c, "-s", run->settings[i]);
	for (unsigned v = 0; v < s->options->varies; v++) {
		snprintf(c->settings[v], sizeof(c->settings[v]), "%s=%s", s->keys[v],
			 cell->values[v]);
		add(c, "-s", c->settings[v]);
	}
	add(c, "--seed", run->seed);
	add(c, "--fw", run->fw);
	if (run->no_dmi)
		c->args[c->n++] = "--no-dmi";
	add(c, "--trace", run->traces);
	add(c, "-o", c->dir);
	c->args[c->n] = NULL;
}

static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=./,:@%";

	if (strspn(word, plain) == strlen(word) && *word) {
		printf("%s", word);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		if (*word == '\'')
			printf("'\\''");
		else
			putchar(*word);
	putchar('\'');
}

static void list_cells(const struct sweep *s, struct command *c)
{
	for (unsigned i = 0; i < s->cell_count; i++) {
		command_make(c, s, &s->cells[i]);
		for (unsigned a = 0; a < c->n; a++) {
			if (a)
				putchar(' ');
			print_word(c->args[a]);
		}
		putchar('\n');
	}
}

/* --- running --- */

static void progress(const struct sweep *s)
{
	unsigned full = s->done * BAR_CHARS / s->cell_count;

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K[");
	for (unsigned i = 0; i < BAR_CHARS; i++)
		fputc(i < full ? '#' : '.', stderr);
	fprintf(stderr, "] %u of %u cells, %u running", s->done, s->cell_count, s->running);
	if (s->failed)
		fprintf(stderr, ", %u failed", s->failed);
}

/* What a cell prints goes to its own file beside its folder, which the run empties. */
static int cell_start(struct sweep *s, struct command *c, struct sweep_cell *cell)
{
	char out[OUTDIR_CHARS + 600];
	struct outdir dir;

	command_make(c, s, cell);
	outdir_name(&dir, "%s", c->dir);
	if (outdir_create(&dir, stderr))
		return -EIO;
	outdir_release(&dir);
	snprintf(out, sizeof(out), "%s/out.txt", c->dir);
	fflush(NULL);
	cell->pid = child_start();
	if (cell->pid < 0) {
		const int rc = -errno;

		perror("fork");
		return rc;
	}
	if (!cell->pid) {
		int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		int none = open("/dev/null", O_RDONLY);

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0 ||
		    dup2(none, STDIN_FILENO) < 0)
			_exit(EXIT_FAILED);
		execv(c->exe, (char *const *)c->args);
		_exit(EXIT_FAILED);
	}
	s->running++;
	return 0;
}

static int cell_wait(struct sweep *s)
{
	int status;
	pid_t pid = child_wait(0, &status);

	if (pid < 0)
		return pid;
	for (unsigned i = 0; i < s->cell_count; i++)
		if (s->cells[i].pid == pid) {
			s->cells[i].status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
			s->failed += s->cells[i].status != 0;
			s->done++;
			s->running--;
		}
	return 0;
}

static int run_cells(struct sweep *s, struct command *c)
{
	unsigned next = 0;
	int ret = 0;

	children_begin();
	progress(s);
	while (s->running || (!ret && next < s->cell_count)) {
		if (!ret && next < s->cell_count && s->running < s->options->jobs) {
			ret = cell_start(s, c, &s->cells[next++]);
			continue;
		}
		if (cell_wait(s)) {
			ret = -EINTR;
			break;
		}
		progress(s);
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	children_end();
	return ret;
}

static enum exit_status judge(struct sweep *s)
{
	const struct sweep_table table = {
		.keys = s->keys,
		.varies = s->options->varies,
		.show = s->options->show,
		.shows = s->options->shows,
		.cells = s->cells,
		.cell_count = s->cell_count,
	};
	bool good = true;

	for (unsigned i = 0; i < s->cell_count; i++) {
		struct sweep_cell *cell = &s->cells[i];
		char dir[OUTDIR_CHARS + 512];

		cell_dir(s, cell, dir, sizeof(dir));
		sweep_cell_read(&table, cell, dir);
		good &= cell->passed;
	}
	sweep_table_print(&table, stdout);
	for (unsigned i = 0; i < s->cell_count; i++) {
		char dir[OUTDIR_CHARS + 512];

		cell_dir(s, &s->cells[i], dir, sizeof(dir));
		if (!s->cells[i].passed)
			sweep_cell_complain(&s->cells[i], dir, stderr);
	}
	if (s->run->dir && sweep_table_csv(&table, s->run->dir))
		good = false;
	return good ? EXIT_RIGHT : EXIT_FAILED;
}

enum exit_status sweep(const struct run_options *run, const struct sweep_options *options)
{
	struct sweep *s = calloc(1, sizeof(*s));
	struct command *c = calloc(1, sizeof(*c));
	enum exit_status status = EXIT_INPUT;

	if (!s || !c) {
		fprintf(stderr, "hcasim: out of memory\n");
		goto out;
	}
	s->run = run;
	s->options = options;
	if (matrix_make(s))
		goto out;
	if (options->how == SWEEP_LIST) {
		list_cells(s, c);
		status = EXIT_RIGHT;
	} else if (options->how == SWEEP_COLLECT || !run_cells(s, c)) {
		status = judge(s);
	}
out:
	for (unsigned v = 0; s && v < options->varies; v++)
		free(s->keys[v]);
	free(s ? s->cells : NULL);
	free(s);
	free(c);
	return status;
}
