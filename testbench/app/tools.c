/* SPDX-License-Identifier: Apache-2.0 */
/* See tools.h. */
#include "testbench/app/tools.h"

#include "model/sim/file.h"
#include "testbench/os/place.h"
#include "traces/messages.h"
#include "traces/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_CHARS = 4096 };

/* The folder of a run. A name that is no folder is a scenario, and stands for traces/NAME. */
static const char *run_folder(const char *name, char buf[PATH_CHARS])
{
	char runs[PATH_CHARS / 2];

	if (!name || strchr(name, '/') || !access(name, F_OK) || place_runs(runs, sizeof(runs)))
		return name;
	snprintf(buf, PATH_CHARS, "%s/%s", runs, name);
	return access(buf, F_OK) ? name : buf;
}

enum exit_status tool_diff(const struct compare_options *options)
{
	struct compare_options o = *options;
	char a[PATH_CHARS], b[PATH_CHARS];

	o.a = run_folder(o.a, a);
	o.b = run_folder(o.b, b);
	return (enum exit_status)compare_runs(&o, stdout);
}

static int read_run(struct run_files *run, const struct compare_options *options, unsigned needs)
{
	char buf[PATH_CHARS];
	const char *dir = run_folder(options->a, buf);
	unsigned sources = run_files_sources(dir, stderr);

	if (!sources)
		return -1;
	if ((sources & needs) != needs) {
		fprintf(stderr, "%s: has no %s\n", dir,
			needs & ~sources & RUN_RECORDS ? "run.records" : "packets.pcapng");
		return -1;
	}
	return run_files_read(run, dir, sources, options->by_qp, stderr);
}

enum exit_status tool_golden(const struct compare_options *options)
{
	struct run_files run;

	if (read_run(&run, options, RUN_RECORDS | RUN_CAPTURE))
		return EXIT_INPUT;
	run_files_print(&run, options->classes ? options->classes : RUN_COMPARED, options->phase,
			stdout);
	run_files_free(&run);
	return EXIT_RIGHT;
}

enum exit_status tool_stages(const struct compare_options *options)
{
	struct run_files run;
	struct messages all;
	enum exit_status status = EXIT_INPUT;

	if (read_run(&run, options, RUN_RECORDS))
		return EXIT_INPUT;
	if (run.golden)
		fprintf(stderr, "%s: not the folder of a run\n", run.path);
	else if (!messages_find(&all, &run)) {
		messages_print(&all, &run, options->phase, stdout);
		messages_free(&all);
		status = EXIT_RIGHT;
	}
	run_files_free(&run);
	return status;
}

void tool_stages_help(FILE *out)
{
	fprintf(out, "\nThe stages of a message, in order:\n");
	for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++)
		fprintf(out, "  %-18s %s\n", message_stage_word(s), message_stage_meaning(s));
}

enum exit_status tool_report(const char *name)
{
	char path[PATH_CHARS + 16], buf[PATH_CHARS];
	const char *dir = run_folder(name, buf);
	struct file_out f;
	int rc, written;

	if (!run_files_sources(dir, stderr))
		return EXIT_INPUT;
	snprintf(path, sizeof(path), "%s/report.html", dir);
	if (file_create(&f, path, stderr))
		return EXIT_INPUT;
	rc = report_write(dir, f.out, stderr);
	written = file_finish(&f, 0, stderr);
	if (rc || written) {
		unlink(path);
		return EXIT_INPUT;
	}
	printf("%s\n", path);
	return EXIT_RIGHT;
}
