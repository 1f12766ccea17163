/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware as it is built, on the core it is built for: it starts, sleeps, serves the commands
 * of a bring-up, and enters its trap vector when it fails.
 */
#include "fw/tests/fake_chip.h"
#include "model/rv32/rv32.h"

#include <setjmp.h>
#include <stdarg.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { RAM_BYTES = 64 << 10, INSTRUCTIONS_MAX = 2000000 };

static struct rv_core *core;
static uint64_t instructions; /* retired by the last command */

static int bus_load(void *ctx, uint32_t addr, unsigned size, uint32_t *value)
{
	if (size != 4 || addr < FW_REG_BASE || addr - FW_REG_BASE >= FW_REG_SIZE)
		return RV_BUS_FAULT;
	*value = fw_read(addr - FW_REG_BASE);
	return RV_BUS_OK;
}

static int bus_store(void *ctx, uint32_t addr, unsigned size, uint32_t value)
{
	if (size != 4 || addr < FW_REG_BASE || addr - FW_REG_BASE >= FW_REG_SIZE)
		return RV_BUS_FAULT;
	fw_write(addr - FW_REG_BASE, value);
	return RV_BUS_OK;
}

/* Runs until the firmware waits again. */
static void core_run(void)
{
	instructions = 0;
	for (;;) {
		uint64_t retired;
		enum rv_stop stop;

		rv_core_set_irq(core, RV_IRQ_MEI,
				chip.reg[FW_IRQ_CAUSE / 4] & chip.reg[FW_IRQ_ENABLE / 4]);
		stop = rv_core_run(core, INSTRUCTIONS_MAX, &retired);
		instructions += retired;
		if (stop == RV_STOP_WFI &&
		    !(chip.reg[FW_IRQ_CAUSE / 4] & chip.reg[FW_IRQ_ENABLE / 4]))
			return;
		if (stop != RV_STOP_SYNC && stop != RV_STOP_WFI) {
			fprintf(stderr, "core stopped: %d at %x\n", (int)stop, rv_core_pc(core));
			fail();
		}
		if (instructions > INSTRUCTIONS_MAX)
			fail_msg("firmware does not come to rest");
	}
}

static void firmware_path(char *path, size_t size)
{
	char self[4096] = {0};

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(path, size, "%s/../hcasim-fw.elf", dirname(self));
}

static int power_on(void **state)
{
	const struct rv_bus bus = {.load = bus_load, .store = bus_store};
	char path[4200], err[200] = "";
	uint32_t entry, base, size;

	firmware_path(path, sizeof(path));
	core = rv_core_create(FW_RAM_BASE, RAM_BYTES, &bus);
	if (rv_core_load_elf(core, path, &entry, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		return -1;
	}
	chip_power_on();
	chip.reg[FW_WATCHDOG / 4] = 1000000;
	chip.ram = rv_core_ram(core, &base, &size);
	chip.serve = core_run;
	rv_core_reset(core, entry);
	core_run();
	return 0;
}

static int power_off(void **state)
{
	rv_core_destroy(core);
	return 0;
}

static void it_sleeps(void **state)
{
	assert_int_equal(chip.reg[FW_IRQ_ENABLE / 4],
			 FW_IRQ_HCR | FW_IRQ_TIMER | FW_IRQ_PORT1 | FW_IRQ_PORT2);
	assert_int_equal(chip.reg[FW_WATCHDOG / 4],
			 1000000); /* the chip counts only while the firmware is awake */
	assert_int_equal(chip.port[1].guids[0], 0x0002c90300112232);
	assert_int_equal(chip.port[0].pkeys[0], 0xffff);
	core_run();
	assert_true(instructions < 50);
}

static void it_serves_a_bring_up(void **state)
{
	bring_up();
	assert_int_equal(chip.valid[FW_TABLE_EQC][CQ_EVENT_EQN], 1);
	assert_int_equal(chip.host[BUS_QUEUE], 0xcc);
	assert_int_equal(chip.host[BUS_QUEUE + 1023], 0xcc);
	assert_int_equal(chip.host[BUS_QUEUE + 1024], 0);
	assert_int_equal(cmd_box(0x003, 0, 0), 0);
	assert_int_equal(be64_load(out_box() + 0x40), 0x0037034f);
	assert_int_equal(cmd(0x031, 0, 0x1f, 0, 0), 0);
	assert_true(instructions < 1500);
	assert_int_equal(all_errors_taken(), 0);
}

/* After a restart, what the first run left in memory does not matter. */
static void it_restarts(void **state)
{
	uint32_t entry;

	assert_int_equal(rv_core_symbol_addr(core, "_start", &entry), 0);
	bring_up();
	memset(chip.valid, 0, sizeof(chip.valid));
	rv_core_reset(core, entry);
	chip.reg[FW_WATCHDOG / 4] = 1000000;
	core_run();
	assert_int_equal(cmd_box(0x003, 0, 0), 0x04);
	bring_up();
}

static void a_trap_is_told(void **state)
{
	uint32_t victim, offset;
	uint64_t retired;

	assert_int_equal(rv_core_symbol_addr(core, "hcr_serve", &victim), 0);
	memset(chip.ram + (victim - FW_RAM_BASE), 0, 4);
	rv_core_flush_decoded(core);
	chip.reg[FW_IRQ_CAUSE / 4] |= FW_IRQ_HCR;
	rv_core_set_irq(core, RV_IRQ_MEI, true);
	for (unsigned i = 0; i < 100 && !chip.reg[FW_CATAS / 4]; i++)
		rv_core_run(core, 10000, &retired);
	assert_int_equal(chip.reg[FW_CATAS / 4], victim);
	assert_string_equal(rv_core_symbol(core, rv_core_trap(core).pc, &offset), "hcr_serve");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_sleeps, power_on, power_off),
		cmocka_unit_test_setup_teardown(it_serves_a_bring_up, power_on, power_off),
		cmocka_unit_test_setup_teardown(it_restarts, power_on, power_off),
		cmocka_unit_test_setup_teardown(a_trap_is_told, power_on, power_off),
	};

	return cmocka_run_group_tests_name("fw boot", tests, NULL, NULL);
}
