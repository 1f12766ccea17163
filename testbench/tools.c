// SPDX-License-Identifier: Apache-2.0
/* See tools.h. */
#include "testbench/tools.h"

#include "traces/messages.h"
#include "traces/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum exit_status tool_diff(const struct compare_options *options)
{
	return (enum exit_status)compare_runs(options, stdout);
}

static int read_run(struct run_files *run, const struct compare_options *options, unsigned needs)
{
	unsigned sources = run_files_sources(options->a, stderr);

	if (!sources)
		return -1;
	if ((sources & needs) != needs) {
		fprintf(stderr, "%s: has no %s\n", options->a,
			needs & ~sources & RUN_LOG ? "run.log" : "packets.pcapng");
		return -1;
	}
	return run_files_read(run, options->a, sources, options->by_qp, stderr);
}

enum exit_status tool_golden(const struct compare_options *options)
{
	struct run_files run;

	if (read_run(&run, options, RUN_LOG | RUN_CAPTURE))
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

	if (read_run(&run, options, RUN_LOG))
		return EXIT_INPUT;
	if (!messages_find(&all, &run)) {
		messages_print(&all, &run, options->phase, stdout);
		messages_free(&all);
		status = EXIT_RIGHT;
	}
	run_files_free(&run);
	return status;
}

enum exit_status tool_report(const char *dir)
{
	char path[4096];
	FILE *out;
	int rc;

	if (!run_files_sources(dir, stderr))
		return EXIT_INPUT;
	snprintf(path, sizeof(path), "%s/report.html", dir);
	out = fopen(path, "w");
	if (!out) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return EXIT_INPUT;
	}
	rc = report_write(dir, out, stderr);
	if (fclose(out) && !rc) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		rc = -EIO;
	}
	if (rc) {
		unlink(path);
		return EXIT_INPUT;
	}
	printf("%s\n", path);
	return EXIT_RIGHT;
}
