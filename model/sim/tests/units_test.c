/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/interface/macros.h"
#include "model/sim/units.h"

static void reads(enum cfg_unit unit, const char *text, uint64_t want)
{
	uint64_t value = ~want;

	if (cfg_value_parse(unit, text, &value))
		fail_msg("'%s' was refused", text);
	assert_int_equal(value, want);
}

static void refuses(enum cfg_unit unit, const char *text)
{
	uint64_t value = 77;

	if (!cfg_value_parse(unit, text, &value))
		fail_msg("'%s' was taken as %lu", text, value);
	assert_int_equal(value, 77);
}

static void times(void **state)
{
	reads(CFG_TIME, "1ps", 1);
	reads(CFG_TIME, "10ns", 10000);
	reads(CFG_TIME, "10 ns", 10000);
	reads(CFG_TIME, "1.5us", 1500000);
	reads(CFG_TIME, "0.001ns", 1);
	reads(CFG_TIME, "4.096us", 4096000);
	reads(CFG_TIMEOUT, "2s", 2000000000000);
	reads(CFG_TIME, "0", 0);
	reads(CFG_TIME, "0x10ns", 16000);
	reads(CFG_TIME, "18446744073709551615ps", UINT64_MAX);
	refuses(CFG_TIME, "18446744073709551616ps");
	refuses(CFG_TIME, "18446744073709551615ns");
	refuses(CFG_TIME, "18446744.073709551616s");
	refuses(CFG_TIME, "10");
	refuses(CFG_TIME, "ns");
	refuses(CFG_TIME, "");
	refuses(CFG_TIME, "10 MHz");
	refuses(CFG_TIME, "-1ns");
	refuses(CFG_TIME, "1.ns");
	refuses(CFG_TIME, ".5ns");
	refuses(CFG_TIME, "0.5ps");
	refuses(CFG_TIME, "1.0005ns");
	refuses(CFG_TIME, "1e3ns");
	refuses(CFG_TIME, "1 n s");
	refuses(CFG_TIME, "1ns1");
	refuses(CFG_TIME, "0x");
}

static void sizes(void **state)
{
	reads(CFG_SIZE, "4KiB", 4096);
	reads(CFG_SIZE, "1GiB", 1 << 30);
	reads(CFG_SIZE, "1.5MiB", 1572864);
	reads(CFG_SIZE, "0.25KiB", 256);
	reads(CFG_SIZE, "17B", 17);
	reads(CFG_POW2, "512B", 512);
	reads(CFG_SIZE, "4096", 4096);
	refuses(CFG_SIZE, "4KB");
	refuses(CFG_SIZE, "0.0001KiB");
	refuses(CFG_POW2, "3KiB");
	refuses(CFG_POW2, "0");
}

static void numbers(void **state)
{
	reads(CFG_COUNT, "17", 17);
	reads(CFG_COUNT, "0xFf", 255);
	reads(CFG_HEX, "0x0002c90300a00000", 0x0002c90300a00000);
	reads(CFG_COUNT2, "8", 8);
	refuses(CFG_COUNT2, "6");
	refuses(CFG_COUNT, "12a");
	refuses(CFG_COUNT, "1.5");
	refuses(CFG_COUNT, "+1");
	reads(CFG_FREQ, "250MHz", 250000000);
	reads(CFG_FREQ, "1.2GHz", 1200000000);
	refuses(CFG_FREQ, "250mHz");
	reads(CFG_RATE, "6.4Gb/s", 6400000000);
}

static void names(void **state)
{
	reads(CFG_BOOL, "true", 1);
	reads(CFG_BOOL, "off", 0);
	reads(CFG_BOOL, "1", 1);
	refuses(CFG_BOOL, "yes");
	refuses(CFG_BOOL, "2");
	reads(CFG_SPEED, "FDR10", CFG_SPEED_FDR10);
	reads(CFG_SPEED, "fdr", CFG_SPEED_FDR);
	refuses(CFG_SPEED, "FDR1");
	refuses(CFG_SPEED, "");
	reads(CFG_WIDTH, "12x", 12);
	refuses(CFG_WIDTH, "2x");
	reads(CFG_PCIE, "2.5GT/s", 2500);
	reads(CFG_PCIE, "8GT/s", 8000);
}

static void formats(void **state)
{
	char buf[CFG_VALUE_CHARS];

	assert_string_equal(cfg_value_format(CFG_TIME, 0, buf), "0ps");
	assert_string_equal(cfg_value_format(CFG_TIME, 1500, buf), "1500ps");
	assert_string_equal(cfg_value_format(CFG_TIME, 100000000, buf), "100us");
	assert_string_equal(cfg_value_format(CFG_SIZE, 4096, buf), "4KiB");
	assert_string_equal(cfg_value_format(CFG_SIZE, 4097, buf), "4097B");
	assert_string_equal(cfg_value_format(CFG_HEX, 255, buf), "0xff");
	assert_string_equal(cfg_value_format(CFG_BOOL, 0, buf), "false");
	assert_string_equal(cfg_value_format(CFG_SPEED, CFG_SPEED_EDR, buf), "EDR");
	assert_string_equal(cfg_value_format(CFG_WIDTH, 4, buf), "4x");
	assert_string_equal(cfg_value_format(CFG_TIME, UINT64_MAX, buf), "18446744073709551615ps");
}

/* IBA: 4x carries 8, 16, 32, 40, 54.54, 100, 200 or 400 Gb/s of data; one lane carries a
 * quarter. */
static void link_speeds(void **state)
{
	static const uint64_t mbps[] = {2000, 4000, 8000, 10000, 13636, 25000, 50000, 100000};

	assert_int_equal(CFG_SPEED_COUNT, ARRAY_SIZE(mbps));
	for (enum cfg_link_speed i = 0; i < CFG_SPEED_COUNT; i++)
		assert_int_equal(cfg_link_speed_mbps(i), mbps[i]);
}

/* A text keeps its number, reads back, and needs one of the names before its colon. */
static void texts(void **state)
{
	char buf[CFG_VALUE_CHARS], longest[CFG_VALUE_CHARS + 8];
	uint64_t a, b;

	reads(CFG_WIRE, "cable", 0);
	assert_string_equal(cfg_value_format(CFG_WIRE, 0, buf), "cable");
	assert_int_equal(cfg_value_parse(CFG_WIRE, " dgram:/a b,/c:d ", &a), 0);
	assert_string_equal(cfg_text(a), "dgram:/a b,/c:d");
	assert_string_equal(cfg_value_format(CFG_WIRE, a, buf), "dgram:/a b,/c:d");
	assert_int_equal(cfg_value_parse(CFG_WIRE, "replay:x", &b), 0);
	assert_true(a && b && a != b);
	reads(CFG_WIRE, "dgram:/a b,/c:d", a);
	refuses(CFG_WIRE, "");
	refuses(CFG_WIRE, "dgram");
	refuses(CFG_WIRE, "dgram:");
	refuses(CFG_WIRE, "cable:x");
	refuses(CFG_WIRE, "tap:x");
	refuses(CFG_WIRE, "replay:a;b");
	refuses(CFG_WIRE, "replay:a#b");
	refuses(CFG_WIRE, "replay:a\nb");
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "replay:", 7);
	longest[CFG_VALUE_CHARS] = 0;
	refuses(CFG_WIRE, longest);
	longest[CFG_VALUE_CHARS - 1] = 0;
	assert_int_equal(cfg_value_parse(CFG_WIRE, longest, &a), 0);
	assert_string_equal(cfg_value_format(CFG_WIRE, a, buf), longest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times), cmocka_unit_test(sizes),   cmocka_unit_test(numbers),
		cmocka_unit_test(names), cmocka_unit_test(formats), cmocka_unit_test(link_speeds),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
