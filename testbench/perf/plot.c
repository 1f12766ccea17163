/* SPDX-License-Identifier: Apache-2.0 */
/* See plot.h. */
#include "testbench/perf/plot.h"

#include "model/interface/macros.h"
#include "model/sim/file.h"
#include "testbench/os/child.h"
#include "testbench/perf/workloads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEY_CHARS = 512, PATH_CHARS = 4096, CURVES_MAX = 64, QUANTITIES_MAX = 3 };

/* The points of a curve differ only in these keys. */
struct plot {
	const char *name, *title, *x_label, *y_label;
	double (*x)(const struct perf_params *params);
	const char *free_keys[4];
	bool quantities[QUANTITIES_MAX];
};

static double x_size(const struct perf_params *p)
{
	return (double)p->size;
}

static double x_qps(const struct perf_params *p)
{
	return (double)p->qps;
}

static double x_window(const struct perf_params *p)
{
	return p->window ? (double)p->window : (double)p->outstanding;
}

static double x_regions(const struct perf_params *p)
{
	return p->mr_size ? (double)(p->mrs ? p->mrs : 1) * (double)p->mr_size / (1 << 20) : 0;
}

static const struct plot plots[] = {
	{"latency_by_size",
	 "latency by size",
	 "bytes",
	 "us",
	 x_size,
	 {"size"},
	 {[PERF_TIME] = true}},
	{"bandwidth_by_size",
	 "bandwidth by size",
	 "bytes",
	 "MiB/s",
	 x_size,
	 {"size"},
	 {[PERF_BANDWIDTH] = true}},
	{"rate_by_size",
	 "rate by size",
	 "bytes",
	 "million a second",
	 x_size,
	 {"size", "window"},
	 {[PERF_RATE] = true}},
	{"rate_by_qps",
	 "rate by number of queue pairs",
	 "queue pairs",
	 "million a second",
	 x_qps,
	 {"qps", "threads"},
	 {[PERF_RATE] = true}},
	{"rate_by_regions",
	 "rate by memory in regions",
	 "MiB",
	 "million a second",
	 x_regions,
	 {"mrs", "mr_size"},
	 {[PERF_RATE] = true}},
	{"latency_by_regions",
	 "completion by memory in regions",
	 "MiB",
	 "us",
	 x_regions,
	 {"mrs", "mr_size"},
	 {[PERF_TIME] = true}},
	{"rate_by_outstanding",
	 "rate by window of a thread",
	 "requests",
	 "million a second",
	 x_window,
	 {"window", "outstanding"},
	 {[PERF_RATE] = true}},
};

enum { CURVE_PLOTS = ARRAY_SIZE(plots), PLOTS = CURVE_PLOTS + 1 };

static const char scatter_name[] = "published_simulated";

const char *perf_plot_name(unsigned n)
{
	return n < CURVE_PLOTS ? plots[n].name : n < PLOTS ? scatter_name : NULL;
}

/* --- curves --- */

static bool is_free(const struct plot *plot, const char *pair)
{
	for (unsigned i = 0; i < 4 && plot->free_keys[i]; i++) {
		const size_t n = strlen(plot->free_keys[i]);

		if (!strncmp(pair, plot->free_keys[i], n) && pair[n] == '=')
			return true;
	}
	return false;
}

static void append(char *key, const char *text, size_t n)
{
	const size_t used = strlen(key);

	snprintf(key + used, KEY_CHARS - used, "%s%.*s", used ? " " : "", (int)n, text);
}

/* The parameters that all points of a curve share. */
static void curve_key(const struct plot *plot, const struct perf_point *point, char *key)
{
	key[0] = 0;
	append(key, point->profile, strlen(point->profile));
	append(key, point->workload_name, strlen(point->workload_name));
	for (const char *pair = point->params_text; *pair;) {
		const size_t n = strcspn(pair, ";");

		if (!is_free(plot, pair))
			append(key, pair, n);
		pair += n + (pair[n] == ';');
	}
}

static bool belongs(const struct plot *plot, const struct perf_result *r)
{
	return r->valid && plot->quantities[r->point->workload->quantity] &&
	       plot->x(&r->point->params) > 0;
}

struct curve {
	char key[KEY_CHARS];
	unsigned points;
};

static unsigned curves_find(const struct perf_results *results, const struct plot *plot,
			    struct curve *curves)
{
	unsigned n = 0;

	for (size_t i = 0; i < results->count; i++) {
		char key[KEY_CHARS];
		unsigned at = 0;

		if (!belongs(plot, &results->results[i]))
			continue;
		curve_key(plot, results->results[i].point, key);
		while (at < n && strcmp(curves[at].key, key))
			at++;
		if (at == CURVES_MAX)
			continue;
		if (at == n) {
			strcpy(curves[n].key, key);
			curves[n++].points = 0;
		}
		curves[at].points++;
	}
	return n;
}

static void curve_data(const struct perf_results *results, const struct plot *plot,
		       const struct curve *curve, unsigned number, FILE *out)
{
	fprintf(out, "$c%u << END\n", number);
	for (size_t i = 0; i < results->count; i++) {
		const struct perf_result *r = &results->results[i];
		char key[KEY_CHARS];
		double unit;

		if (!belongs(plot, r))
			continue;
		curve_key(plot, r->point, key);
		if (strcmp(key, curve->key))
			continue;
		unit = perf_unit_factor(r->point->workload, r->point->unit);
		fprintf(out, "%.10g %.10g %.10g\n", plot->x(&r->point->params),
			r->point->published / unit, r->simulated / unit);
	}
	fprintf(out, "END\n");
}

static void terminal(const char *svg, FILE *out)
{
	fprintf(out,
		"set terminal svg size 1000,600 dynamic background rgb 'white'\n"
		"set output '%s'\nset grid\nset key below noenhanced\n",
		svg);
}

static bool curves_program(const struct perf_results *results, const struct plot *plot,
			   const char *svg, FILE *out)
{
	struct curve *curves = calloc(CURVES_MAX, sizeof(*curves));
	const unsigned n = curves ? curves_find(results, plot, curves) : 0;
	unsigned drawn = 0;

	for (unsigned i = 0; i < n; i++) {
		if (curves[i].points < 2)
			continue;
		if (!drawn++) {
			terminal(svg, out);
			fprintf(out,
				"set title '%s: published (points), simulated (lines)'\n"
				"set xlabel '%s'\nset ylabel '%s'\nset logscale x 2\n"
				"%s\n",
				plot->title, plot->x_label, plot->y_label,
				plot->quantities[PERF_TIME] ? "set logscale y"
							    : "set yrange [0:*]");
		}
		curve_data(results, plot, &curves[i], i, out);
	}
	for (unsigned i = 0, k = 0; i < n; i++) {
		if (curves[i].points < 2)
			continue;
		k++;
		fprintf(out,
			"%s $c%u using 1:2 with points pt 7 lc %u title \"%s\", \\\n"
			"     '' using 1:3 smooth unique with linespoints pt 0 lc %u notitle%s\n",
			k == 1 ? "plot" : "    ", i, k, curves[i].key, k, k == drawn ? "" : ", \\");
	}
	free(curves);
	return drawn > 0;
}

/* All points in one plot: a perfect one lies on the line. */
static bool scatter_program(const struct perf_results *results, const char *svg, FILE *out)
{
	unsigned points[PERF_CATEGORIES] = {0}, drawn = 0;

	for (unsigned c = 0; c < PERF_CATEGORIES; c++) {
		for (size_t i = 0; i < results->count; i++) {
			const struct perf_result *r = &results->results[i];

			if (!r->valid || isnan(r->point->published) ||
			    perf_category_of(r->point) != c)
				continue;
			if (!points[c]++)
				fprintf(out, "$c%u << END\n", c);
			fprintf(out, "%.10g %.10g %s\n", r->point->published,
				r->simulated / r->point->published, r->point->id);
		}
		if (points[c])
			fprintf(out, "END\n");
		drawn += points[c];
	}
	terminal(svg, out);
	fprintf(out, "set title 'simulated over published'\n"
		     "set xlabel 'published (us, ms, MiB/s, millions a second)'\n"
		     "set ylabel 'simulated / published'\nset logscale x\nset yrange [0:2]\n"
		     "plot 1 lc 'black' notitle");
	for (unsigned c = 0; c < PERF_CATEGORIES; c++)
		if (points[c])
			fprintf(out, ", $c%u using 1:2 with points pt 7 lc %u title '%s'", c, c + 1,
				perf_category_name((enum perf_category)c));
	fprintf(out, "\n");
	return drawn > 0;
}

bool perf_plot_program(const struct perf_results *results, unsigned n, const char *svg, FILE *out)
{
	if (n < CURVE_PLOTS)
		return curves_program(results, &plots[n], svg, out);
	return n < PLOTS && scatter_program(results, svg, out);
}

/* --- gnuplot --- */

static int gnuplot_run(const char *program)
{
	int status;
	pid_t pid;

	children_begin();
	pid = child_start();
	if (!pid) {
		execlp("gnuplot", "gnuplot", program, (char *)NULL);
		_exit(127);
	}
	pid = pid < 0 ? -errno : child_wait(pid, &status);
	children_end();
	if (pid < 0)
		return pid;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static int plot_one(const struct perf_results *results, unsigned n, const char *dir, FILE *err)
{
	const char *name = n < CURVE_PLOTS ? plots[n].name : scatter_name;
	char program[PATH_CHARS], svg[PATH_CHARS];
	struct file_out f;
	bool drawn;
	int rc;

	snprintf(program, sizeof(program), "%s/%s.gnuplot", dir, name);
	snprintf(svg, sizeof(svg), "%s/%s.svg", dir, name);
	rc = file_create(&f, program, err);
	if (rc)
		return rc;
	drawn = perf_plot_program(results, n, svg, f.out);
	rc = file_finish(&f, 0, err);
	if (rc)
		return rc;
	if (!drawn) {
		unlink(program);
		return 0;
	}
	rc = gnuplot_run(program);
	if (rc)
		fprintf(err,
			rc == -ENOENT ? "%s: gnuplot is not there (Debian: gnuplot-nox)\n"
				      : "%s: gnuplot fails\n",
			program);
	return rc;
}

int perf_plot(const struct perf_results *results, const char *dir, FILE *err)
{
	int rc = 0;

	if (mkdir(dir, 0777) && errno != EEXIST) {
		rc = -errno;
		fprintf(err, "%s: %s\n", dir, strerror(-rc));
	}
	fflush(NULL);
	for (unsigned n = 0; n < PLOTS && !rc; n++)
		rc = plot_one(results, n, dir, err);
	return rc;
}
