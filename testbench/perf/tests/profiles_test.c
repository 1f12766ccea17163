/* SPDX-License-Identifier: Apache-2.0 */
/* All profiles describe the same silicon. They differ in link, fabric, host and a few PCIe
 * settings. Of the HCA only the timers differ: default.ini has those of the specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/interface/macros.h"
#include "model/sim/cfg.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const profiles[] = {"cx3_qdr", "cx3_fdr", "cx3_fdr_apt", "cx3_40g",
				       "mlx4_timers"};

static const struct row {
	const char *section, *key;
	size_t offset;
} rows[] = {
#define R(section, key, ...) {#section, #key, offsetof(struct hca_params, section##_##key)},
	HCA_PARAMS(R)
#undef R
};

static void load(struct config *config, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "configs/%s.ini", name);
	cfg_defaults(config);
	assert_int_equal(cfg_load_ini(config, path, stderr), 0);
}

/* Parameters that differed in the laboratories. */
static bool is_of_the_lab(const struct row *row)
{
	static const char *const free_keys[][2] = {
		{"link", "speed"}, {"link", "width"}, {"link", "mtu"},
		{"link", "delay"}, {"pcie", "mps"},   {"pcie", "mrrs"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(free_keys); i++)
		if (!strcmp(row->section, free_keys[i][0]) && !strcmp(row->key, free_keys[i][1]))
			return true;
	return false;
}

static uint64_t value(const struct config *config, unsigned hca, const struct row *row)
{
	return *(const uint64_t *)(const void *)((const char *)&config->hca[hca] + row->offset);
}

static void hca_is_one(void **state)
{
	struct config base, timers, profile;

	cfg_defaults(&base);
	load(&timers, "mlx4_timers");
	for (unsigned n = 0; n < ARRAY_SIZE(profiles); n++) {
		load(&profile, profiles[n]);
		for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
			const bool timer = !strcmp(rows[i].section, "retry");
			const struct config *same = timer ? &timers : &base;

			if (is_of_the_lab(&rows[i]))
				continue;
			for (unsigned h = 0; h < CFG_HCAS; h++)
				if (value(&profile, h, &rows[i]) != value(same, 0, &rows[i]))
					fail_msg("%s: hca%u.%s.%s", profiles[n], h, rows[i].section,
						 rows[i].key);
		}
	}
}

/* Both sides of a profile are equal. many_machines.ini sets what differs between sides. */
static void both_sides_are_alike(void **state)
{
	struct config profile;

	for (unsigned n = 0; n < ARRAY_SIZE(profiles); n++) {
		load(&profile, profiles[n]);
		assert_memory_equal(&profile.hca[0], &profile.hca[1], sizeof(profile.hca[0]));
		assert_memory_equal(&profile.host[0], &profile.host[1], sizeof(profile.host[0]));
	}
}

static void silicon_has_its_timers(void **state)
{
	struct config spec, timers;

	load(&spec, "default");
	load(&timers, "mlx4_timers");
	assert_int_equal(spec.hca[0].retry_ack_timeout_multiplier, 1);
	assert_int_equal(spec.hca[0].retry_rnr_power, 0);
	assert_int_equal(timers.hca[0].retry_ack_timeout_multiplier, 2);
	assert_int_equal(timers.hca[0].retry_min_code, 16);
	assert_int_equal(timers.hca[0].retry_rnr_power, 3);
}

/* many_machines.ini stands for many machines, which are never busy, but as far away as one. So it
 * changes no latency of the profile. */
static void many_machines_keep_latencies(void **state)
{
	struct config profile, many;

	load(&profile, "cx3_fdr_apt");
	many = profile;
	assert_int_equal(cfg_load_ini(&many, "testbench/perf/many_machines.ini", stderr), 0);
	assert_memory_equal(&profile.hca[0], &many.hca[0], sizeof(many.hca[0]));
	assert_memory_equal(&profile.host[0], &many.host[0], sizeof(many.host[0]));
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		if (strstr(rows[i].key, "latency"))
			assert_int_equal(value(&profile, 1, &rows[i]), value(&many, 1, &rows[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hca_is_one),
		cmocka_unit_test(both_sides_are_alike),
		cmocka_unit_test(silicon_has_its_timers),
		cmocka_unit_test(many_machines_keep_latencies),
	};

	return cmocka_run_group_tests_name("profiles", tests, NULL, NULL);
}
