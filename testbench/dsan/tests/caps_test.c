// SPDX-License-Identifier: Apache-2.0
/* What the driver makes of the device's capabilities, right and wrong. */
#include "testbench/dsan/asked/asked.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/device/caps.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct checker c;
static struct ask ask = {.c = &c, .call = "drv_probe"};
static unsigned reports;
static struct dev_cap cap;
static const struct drv_options options;
static struct drv_profile profile;

struct ask *ask_taker(void)
{
	return &ask;
}

const char *ask_provider(const struct ask *a)
{
	return "mlx4_probe";
}

uint32_t given_reserved_eqs(const struct dev_cap *of)
{
	return 0;
}

uint32_t hca_config_peek(const struct hca *hca, unsigned offset)
{
	return 0;
}

const void *wrote_find(uintptr_t at, size_t bytes)
{
	return NULL;
}

void checker_functions(const void *const *pcs, unsigned n, char *text, size_t size)
{
	*text = 0;
}

const void *threads_setter(const void *at)
{
	return NULL;
}

void trail_format(char *text, size_t size)
{
	*text = 0;
}

void checker_report(struct checker *of, const struct breach *b, const char *format, ...)
{
	reports++;
	assert_int_equal(b->rule, RULE_command_answer);
}

static int begin(void **state)
{
	reports = 0;
	dev_cap_set_log_max_qps(&cap, 10);
	dev_cap_set_log_max_srqs(&cap, 8);
	dev_cap_set_log_max_cqs(&cap, 9);
	dev_cap_set_log_max_eqs(&cap, 5);
	dev_cap_set_log_max_mpts(&cap, 12);
	dev_cap_set_cmpt_size(&cap, 64);
	dev_cap_set_rdmarc_size(&cap, 32);
	dev_cap_set_qpc_size(&cap, 256);
	dev_cap_set_auxc_size(&cap, 256);
	dev_cap_set_altc_size(&cap, 64);
	dev_cap_set_srqc_size(&cap, 128);
	dev_cap_set_cqc_size(&cap, 128);
	dev_cap_set_eqc_size(&cap, 64);
	dev_cap_set_dmpt_size(&cap, 64);
	dev_cap_set_mtt_size(&cap, 8);
	dev_cap_set_max_icm(&cap, UINT64_C(1) << 40);
	return drv_profile_make(&profile, &cap, &options);
}

static void a_right_layout_is_not_reported(void **state)
{
	caps_profile_check(&profile, &cap, &options);
	assert_int_equal(reports, 0);
}

static void tables_do_not_overlap(void **state)
{
	profile.base[DRV_T_CQC] = profile.base[DRV_T_SRQC];
	caps_profile_check(&profile, &cap, &options);
	assert_true(reports);
}

static void a_table_has_as_many_entries_as_the_device_can(void **state)
{
	profile.log_num[DRV_T_QPC]++;
	caps_profile_check(&profile, &cap, &options);
	assert_true(reports);
}

static void the_firmware_gets_its_pages(void **state)
{
	static struct drv_icm_seg seg = {.bytes = 2 * PLATFORM_PAGE_SIZE};
	const struct drv_icm icm = {.segs = &seg, .n = 1};
	struct drv_device dev = {0};

	c.given.aux_pages = 2;
	caps_memory_check(&dev, &icm, HCR_MAP_ICM_AUX);
	assert_int_equal(reports, 0);
	c.given.aux_pages = 3;
	caps_memory_check(&dev, &icm, HCR_MAP_ICM_AUX);
	assert_int_equal(reports, 1);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, begin)
	const struct CMUnitTest tests[] = {
		T(a_right_layout_is_not_reported),
		T(tables_do_not_overlap),
		T(a_table_has_as_many_entries_as_the_device_can),
		T(the_firmware_gets_its_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
