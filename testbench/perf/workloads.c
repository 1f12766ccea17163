/* SPDX-License-Identifier: Apache-2.0 */
/* See workloads.h. */
#include "testbench/perf/workloads.h"

#include "model/interface/macros.h"
#include "testbench/perf/world.h"

#include <string.h>

static const struct perf_workload workloads[] = {
#define W(name, quantity, many, run, meaning) {#name, meaning, PERF_##quantity, many, run},
	PERF_WORKLOADS(W)
#undef W
};

static const struct {
	enum perf_quantity quantity;
	const char *name;
	double factor;
} units[] = {
	{PERF_TIME, "us", 1},
	{PERF_TIME, "ns", 1e3},
	{PERF_TIME, "ms", 1e-3},
	{PERF_TIME, "s", 1e-6},
	{PERF_BANDWIDTH, "MiB/s", 1},
	{PERF_BANDWIDTH, "MB/s", 1}, /* perftest's name for MiB/s */
	{PERF_BANDWIDTH, "GiB/s", 1.0 / 1024},
	{PERF_BANDWIDTH, "GB/s", 1048576e-9},
	{PERF_BANDWIDTH, "Gb/s", 8 * 1048576e-9},
	{PERF_RATE, "Mops", 1},
	{PERF_RATE, "M/s", 1},
	{PERF_RATE, "kops", 1e3},
};

const struct perf_workload *perf_workload_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(workloads); i++)
		if (!strcmp(name, workloads[i].name))
			return &workloads[i];
	return NULL;
}

double perf_unit_factor(const struct perf_workload *workload, const char *unit)
{
	for (unsigned i = 0; i < ARRAY_SIZE(units); i++)
		if (units[i].quantity == workload->quantity && !strcmp(unit, units[i].name))
			return units[i].factor;
	return 0;
}

const char *perf_units(const struct perf_workload *workload)
{
	switch (workload->quantity) {
	case PERF_TIME:
		return "us, ns, ms or s";
	case PERF_BANDWIDTH:
		return "MiB/s, MB/s, GiB/s, GB/s or Gb/s";
	case PERF_RATE:
		return "Mops, M/s or kops";
	}
	return "";
}
