/* SPDX-License-Identifier: Apache-2.0 */
/* See row.h. */
#include "testbench/perf/row.h"

#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "testbench/os/place.h"
#include "testbench/perf/world.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_CHARS = 4096, ERROR_CHARS = 512, WALL_LIMIT_S = 300 };

struct row {
	const struct perf_point *point;
	int fd;
	struct config config;
	struct machine machine;
	struct tb tb;
	struct perf_world world;
};

/* --- configuration: default < profile < -c < -s < many machines < the row --- */

/* `name` is a profile's name, or a path. */
static int load(struct config *config, const char *folder, const char *name)
{
	char path[PATH_CHARS], file[PATH_CHARS];
	int rc;

	if (strchr(name, '/') || strstr(name, ".ini"))
		return cfg_load_ini(config, name, stderr);
	if (snprintf(file, sizeof(file), "%s/%s.ini", folder, name) >= (int)sizeof(file))
		return -ENAMETOOLONG;
	rc = place_find(PLACE_DATA, file, path, sizeof(path), stderr);
	return rc ? rc : cfg_load_ini(config, path, stderr);
}

static int set(struct config *config, const struct perf_point *point, const char *key,
	       uint64_t value)
{
	char text[128], where[PATH_CHARS];

	if (!value)
		return 0;
	snprintf(text, sizeof(text), "%s=%llu", key, (unsigned long long)value);
	snprintf(where, sizeof(where), "%s:%u", point->file, point->line);
	return cfg_set(config, text, where, stderr);
}

static int row_parameters(struct config *config, const struct perf_point *point)
{
	const struct perf_params *p = &point->params;
	char where[PATH_CHARS];
	int rc = set(config, point, "hca.pcie.mps", p->mps);

	if (!rc)
		rc = set(config, point, "hca.pcie.mrrs", p->mrrs);
	if (!rc && p->mtu > config->hca[0].link_mtu)
		rc = set(config, point, "hca.link.mtu", p->mtu);
	snprintf(where, sizeof(where), "%s:%u", point->file, point->line);
	for (unsigned i = 0; i < p->setting_count && !rc; i++)
		rc = cfg_set(config, p->settings[i], where, stderr);
	return rc;
}

static int configure(struct config *config, const struct perf_point *point,
		     const struct perf_row_options *o)
{
	int rc;

	cfg_defaults(config);
	rc = load(config, "configs", o->profile ? o->profile : point->profile);
	for (size_t i = 0; i < o->run->inis && !rc; i++)
		rc = cfg_load_ini(config, o->run->ini[i], stderr);
	for (size_t i = 0; i < o->run->setting_count && !rc; i++)
		rc = cfg_set(config, o->run->settings[i], "-s", stderr);
	if (!rc && o->run->seed)
		rc = set(config, point, "sim.seed", strtoull(o->run->seed, NULL, 10));
	if (!rc && point->workload->many && config->sim.perf_many_machines)
		rc = load(config, "testbench/perf", "many_machines");
	if (!rc)
		rc = row_parameters(config, point);
	config->sim.sim_time_limit = 0;
	return rc;
}

int perf_row_check(const struct perf_point *point, const struct perf_row_options *options)
{
	struct config *config = malloc(sizeof(*config));
	int rc = config ? configure(config, point, options) : -ENOMEM;

	free(config);
	return rc;
}

/* --- the run --- */

static void end(struct row *row, double result)
{
	FILE *out = fdopen(row->fd, "w");

	if (!out || fwrite(&result, sizeof(result), 1, out) != 1 || tb_stats_write(&row->tb, out) ||
	    fclose(out))
		perf_fail(&row->world, "the result cannot be written");
	fflush(NULL);
	_exit(0);
}

static void body(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct row *row = container_of(tb, struct row, tb);
	struct perf_world *world = &row->world;
	double result;

	perf_bring_up(world);
	result = row->point->workload->run(world);
	if (tb->machine->guest_errors)
		perf_fail(world, "guest error %s: %s", tb->machine->guest_error_notes[0].name,
			  tb->machine->guest_error_notes[0].text);
	end(row, result * perf_unit_factor(row->point->workload, row->point->unit));
}

static const struct scenario scenario = {
	.interface = SCENARIO_INTERFACE,
	.name = "perf",
	.shows = "a published measurement",
	.body = body,
	.setup = {TB_SETUP_DEFAULTS, .bare = true, .unobserved = true, .any_packets = true},
};

void perf_row_run(const struct perf_point *point, const struct perf_row_options *options, int fd)
{
	struct row *row = calloc(1, sizeof(*row));
	char fw[PATH_CHARS], err[ERROR_CHARS];
	struct machine_options machine = {.fw_path = fw};

	if (!row)
		_exit(1);
	row->point = point;
	row->fd = fd;
	row->world = (struct perf_world){.tb = &row->tb, .point = point, .p = &point->params};
	alarm(WALL_LIMIT_S);
	if (configure(&row->config, point, options) ||
	    place_firmware(options->run->fw, fw, sizeof(fw)))
		_exit(2);
	machine.config = &row->config;
	machine.trace = trace_create();
	if (!machine.trace || machine_create(&row->machine, &machine, err, sizeof(err)))
		perf_fail(&row->world, "%s", machine.trace ? err : "no memory");
	if (tb_create(&row->tb, &scenario, &row->machine, machine.trace, &row->config))
		perf_fail(&row->world, "no memory");
	kernel_thread_start(row->machine.kernel, "perf", tb_run, &row->tb);
	machine_run(&row->machine);
	perf_fail(&row->world, "no event is left, and there is no result");
}
