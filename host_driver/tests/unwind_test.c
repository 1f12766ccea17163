// SPDX-License-Identifier: Apache-2.0
/*
 * Bring-up on the simulated machine, with the nth allocation failing. Each failure is reported and
 * leaves no page allocated. Without a failure the driver comes up, destroys its objects and leaves
 * nothing. The simulation runs once; the tests judge its results afterwards.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/sim/cfg.h"
#include "testbench/machine.h"
#include "traces/trace.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { POINTS_MAX = 64 };

struct point {
	unsigned nth;
	int rc;
	size_t used, mapped;
};

struct unwind {
	struct machine machine;
	struct platform_ops ops;
	const struct platform_ops *real;
	unsigned allocations, fail_at; /* fail_at 0: no allocation fails */
	unsigned total;                /* allocations of a whole bring-up */
	struct point points[POINTS_MAX];
	unsigned n_points;
	struct drv_leftovers left;
	int probe_rc;
};

/* Platform functions have no argument for a context, so it is global: one test for each process. */
static struct unwind test;

static void *failing_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	if (++test.allocations == test.fail_at)
		return NULL;
	return test.real->pages_alloc(p, bytes, bus);
}

static const struct drv_options options = {.log_eq_size = 10};

static int bring_up_and_down(struct platform *p, unsigned fail_at, struct point *point)
{
	struct drv_device *dev;

	test.allocations = 0;
	test.fail_at = fail_at;
	point->nth = fail_at;
	point->rc = drv_probe(p, &options, &dev);
	if (!point->rc) {
		test.fail_at = 0;
		test.left = drv_remove(dev);
	}
	point->used = host_pages_used(test.machine.hosts[0]);
	point->mapped = host_pages_mapped(test.machine.hosts[0]);
	return point->rc;
}

/* Tries every allocation at first (firmware, ICM), then only some of the many pages of queues and
 * MAD buffers. */
static void host_thread(void *arg)
{
	struct platform *p = host_platform(test.machine.hosts[0]);
	struct point whole;

	test.real = p->ops;
	test.ops = *p->ops;
	test.ops.pages_alloc = failing_alloc;
	p->ops = &test.ops;
	test.probe_rc = bring_up_and_down(p, 0, &whole);
	test.total = test.allocations;
	test.points[test.n_points++] = whole;
	for (unsigned n = 1; n <= test.total && test.n_points < POINTS_MAX - 1;
	     n += n < 30 ? 1 : test.total / 24)
		bring_up_and_down(p, n, &test.points[test.n_points++]);
	bring_up_and_down(p, test.total, &test.points[test.n_points++]);
	p->ops = test.real;
	machine_stop(&test.machine);
}

static void comes_up_and_leaves_nothing(void **state)
{
	static const struct drv_leftovers none;

	assert_int_equal(test.probe_rc, 0);
	assert_memory_equal(&test.left, &none, sizeof(none));
	assert_int_equal(test.machine.guest_errors, 0);
	assert_int_equal(test.machine.catastrophes, 0);
}

/* If a large chunk of ICM cannot be allocated, smaller pieces are used. In this case bring-up
 * succeeds. */
static void every_failure_unwinds(void **state)
{
	unsigned failures = 0;

	for (unsigned i = 0; i < test.n_points; i++) {
		const struct point *pt = &test.points[i];

		if (pt->rc) {
			assert_int_equal(pt->rc, -ENOMEM);
			failures++;
		}
		if (pt->used || pt->mapped)
			print_error("allocation %u of %u: %zu pages used, %zu mapped\n", pt->nth,
				    test.total, pt->used, pt->mapped);
		assert_int_equal(pt->used, 0);
		assert_int_equal(pt->mapped, 0);
	}
	assert_true(failures > 20);
}

int main(void)
{
	static struct config config;
	struct trace *trace = trace_create();
	const char *build = getenv("O");
	char fw_path[512];
	const struct machine_options mo = {.config = &config, .fw_path = fw_path, .trace = trace};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_up_and_leaves_nothing),
		cmocka_unit_test(every_failure_unwinds),
	};
	char err[256];
	int rc;

	snprintf(fw_path, sizeof(fw_path), "%s/fw/hcasim-fw.elf", build ? build : "build");
	cfg_defaults(&config);
	config.sim.sim_time_limit = 0;
	if (machine_create(&test.machine, &mo, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	kernel_thread_start(test.machine.kernel, "host0", host_thread, NULL);
	if (machine_run(&test.machine) != KERNEL_STOPPED)
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	machine_destroy(&test.machine);
	trace_close(trace);
	return rc;
}
