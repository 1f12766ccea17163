/* SPDX-License-Identifier: Apache-2.0 */
/* What the owner of a core relies on: stop reasons, the bus, interrupts, breakpoints, and two cores
 * at once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "model/rv32/rv32.h"
#include "model/rv32/tests/beside.h"

enum { BASE = 0x1000, SIZE = 0x2000, DEVICE = 0x40000000, ALWAYS_FAULT = 0x50000000 };
enum { A0 = 10, A1 = 11 };

/* Encodings as the assembler produces them. */
enum {
	NOP = 0x00000013,
	ADDI_A1_1 = 0x00158593, /* addi a1,a1,1 */
	LW_A1_A0 = 0x00052583,  /* lw a1,0(a0) */
	LB_A1_A0 = 0x00050583,  /* lb a1,0(a0) */
	SH_A1_A0 = 0x00b51023,  /* sh a1,0(a0) */
	WFI = 0x10500073,
	EBREAK = 0x00100073,
	ECALL = 0x00000073,
	JUMP_SELF = 0x0000006f,
	CSRW_MIE_A0 = 0x30451073,
	CSRW_MTVEC_A0 = 0x30551073,
	CSRSI_MSTATUS_8 = 0x30046073,
	MRET = 0x30200073,
};

struct device {
	struct rv_core *core;
	int waits; /* the next this many accesses are answered RV_BUS_WAIT */
	int loads;
	int stores;
	uint32_t value;
	unsigned size;
	bool raises;
};

static int device_load(void *ctx, uint32_t addr, unsigned size, uint32_t *value)
{
	struct device *device = ctx;

	if (addr >= ALWAYS_FAULT)
		return RV_BUS_FAULT;
	if (device->waits) {
		device->waits--;
		return RV_BUS_WAIT;
	}
	device->loads++;
	device->size = size;
	*value = device->value;
	return RV_BUS_OK;
}

static int device_store(void *ctx, uint32_t addr, unsigned size, uint32_t value)
{
	struct device *device = ctx;

	if (device->waits) {
		device->waits--;
		return RV_BUS_WAIT;
	}
	device->stores++;
	device->size = size;
	device->value = value;
	if (device->raises)
		rv_core_set_irq(device->core, RV_IRQ_MEI, true);
	return RV_BUS_OK;
}

static struct rv_core *make(struct device *device, const uint32_t *code, size_t count)
{
	const struct rv_bus bus = {device, device_load, device_store};
	struct rv_core *core = rv_core_create(BASE, SIZE, &bus);

	assert_non_null(core);
	for (size_t i = 0; i < count; i++)
		for (unsigned b = 0; b < 4; b++)
			rv_core_ram(core, NULL, NULL)[4 * i + b] = (uint8_t)(code[i] >> (8 * b));
	rv_core_set_reg(core, A0, DEVICE);
	device->core = core;
	return core;
}

#define MAKE(device, ...)                                                                          \
	make(device, (const uint32_t[]){__VA_ARGS__},                                              \
	     sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void expect_run(struct rv_core *core, uint64_t max, enum rv_stop stop, uint64_t retired,
		       uint32_t pc)
{
	uint64_t n = 99;

	assert_int_equal(rv_core_run(core, max, &n), stop);
	assert_int_equal(n, retired);
	assert_int_equal(rv_core_pc(core), pc);
}

static void budget_is_exact(void **state)
{
	struct device device = {0};
	struct rv_core *core = MAKE(&device, ADDI_A1_1, ADDI_A1_1, ADDI_A1_1, JUMP_SELF);

	expect_run(core, 0, RV_STOP_BUDGET, 0, BASE);
	expect_run(core, 2, RV_STOP_BUDGET, 2, BASE + 8);
	expect_run(core, 10, RV_STOP_BUDGET, 10, BASE + 12);
	assert_int_equal(rv_core_reg(core, A1), 3);
	rv_core_destroy(core);
}

static void bus_access_stops_first(void **state)
{
	struct device device = {.value = 0x80};
	struct rv_core *core = MAKE(&device, NOP, LB_A1_A0, SH_A1_A0, NOP, JUMP_SELF);

	expect_run(core, 100, RV_STOP_SYNC, 1, BASE + 4);
	assert_int_equal(device.loads, 0);
	expect_run(core, 100, RV_STOP_SYNC, 1, BASE + 8);
	assert_int_equal(device.loads, 1);
	assert_int_equal(device.size, 1);
	assert_int_equal(rv_core_reg(core, A1), 0xffffff80);
	expect_run(core, 2, RV_STOP_BUDGET, 2, BASE + 16);
	assert_int_equal(device.stores, 1);
	assert_int_equal(device.size, 2);
	assert_int_equal(device.value, 0xff80);
	rv_core_destroy(core);
}

static void busy_bus_repeats_access(void **state)
{
	struct device device = {.waits = 2, .value = 7};
	struct rv_core *core = MAKE(&device, LW_A1_A0, NOP, JUMP_SELF);

	expect_run(core, 100, RV_STOP_WAIT, 0, BASE);
	expect_run(core, 100, RV_STOP_WAIT, 0, BASE);
	expect_run(core, 1, RV_STOP_BUDGET, 1, BASE + 4);
	assert_int_equal(device.loads, 1);
	assert_int_equal(rv_core_reg(core, A1), 7);
	rv_core_destroy(core);
}

/* An interrupt does not abort an access that waits on the bus. */
static void busy_bus_holds_interrupt(void **state)
{
	struct device device = {.value = 7};
	struct rv_core *core =
		MAKE(&device, CSRW_MIE_A0, CSRW_MTVEC_A0, CSRSI_MSTATUS_8, LW_A1_A0, NOP);
	uint32_t mepc;

	rv_core_set_reg(core, A0, DEVICE | 1 << RV_IRQ_MEI);
	expect_run(core, 3, RV_STOP_BUDGET, 3, BASE + 12);
	device.waits = 1;
	expect_run(core, 1, RV_STOP_WAIT, 0, BASE + 12);
	rv_core_set_irq(core, RV_IRQ_MEI, true);
	expect_run(core, 1, RV_STOP_BUDGET, 1, DEVICE | 0x800);
	assert_int_equal(device.loads, 1);
	assert_int_equal(rv_core_csr(core, 0x341, &mepc), 0);
	assert_int_equal(mepc, BASE + 16);
	rv_core_destroy(core);
}

/* An interrupt line that the device raises during a store takes effect before the next
 * instruction. */
static void interrupt_from_store(void **state)
{
	struct device device = {.raises = true};
	struct rv_core *core =
		MAKE(&device, CSRW_MIE_A0, CSRSI_MSTATUS_8, SH_A1_A0, ADDI_A1_1, JUMP_SELF);
	uint32_t mcause;

	rv_core_set_reg(core, A0, DEVICE | 1 << RV_IRQ_MEI);
	expect_run(core, 2, RV_STOP_BUDGET, 2, BASE + 8);
	expect_run(core, 1, RV_STOP_BUDGET, 1, 0);
	assert_int_equal(rv_core_csr(core, 0x342, &mcause), 0);
	assert_int_equal(mcause, 0x8000000b);
	assert_int_equal(rv_core_reg(core, A1), 0);
	rv_core_destroy(core);
}

static void fault_is_taken_once(void **state)
{
	struct device device = {0};
	struct rv_core *core = MAKE(&device, LW_A1_A0);
	struct rv_trap trap;

	rv_core_set_reg(core, A0, ALWAYS_FAULT);
	expect_run(core, 100, RV_STOP_TRAP_LOOP, 0, BASE);
	trap = rv_core_trap(core);
	assert_int_equal(trap.pc, BASE);
	assert_int_equal(trap.cause, RV_CAUSE_LOAD_FAULT);
	assert_int_equal(trap.value, ALWAYS_FAULT);
	assert_string_equal(rv_cause_name(trap.cause), "load access fault");
	rv_core_destroy(core);
}

static void handler_that_traps_is_fatal(void **state)
{
	struct device device = {0};
	struct rv_core *core = MAKE(&device, CSRW_MTVEC_A0, ECALL, NOP, 0xffffffff);

	rv_core_set_reg(core, A0, BASE + 8);
	expect_run(core, 100, RV_STOP_TRAP_LOOP, 3, BASE + 12);
	assert_int_equal(rv_core_trap(core).cause, RV_CAUSE_ILLEGAL);
	assert_int_equal(rv_core_trap(core).value, 0xffffffff);
	rv_core_destroy(core);
}

/* A handler that returns without moving mepc takes the same ecall again and again. Because it
 * executes mret each time, this is no trap loop. */
static void handler_that_returns_is_fine(void **state)
{
	struct device device = {0};
	struct rv_core *core = MAKE(&device, CSRW_MTVEC_A0, ECALL, MRET);

	rv_core_set_reg(core, A0, BASE + 8);
	expect_run(core, 6, RV_STOP_BUDGET, 6, BASE + 4);
	rv_core_destroy(core);
}

static void fetch_needs_ram(void **state)
{
	struct device device = {0};
	struct rv_core *core = MAKE(&device, NOP);
	uint8_t *ram = rv_core_ram(core, NULL, NULL);

	rv_core_set_pc(core, DEVICE);
	expect_run(core, 10, RV_STOP_TRAP_LOOP, 0, DEVICE);
	assert_int_equal(rv_core_trap(core).cause, RV_CAUSE_FETCH_FAULT);
	/* RAM ends in the middle of a 32-bit instruction. */
	ram[SIZE - 2] = 0x13;
	rv_core_set_pc(core, BASE + SIZE - 2);
	expect_run(core, 10, RV_STOP_TRAP_LOOP, 0, BASE + SIZE - 2);
	assert_int_equal(rv_core_trap(core).value, BASE + SIZE);
	rv_core_destroy(core);
}

static void wfi_waits_for_enabled_interrupt(void **state)
{
	struct device device = {0};
	struct rv_core *core = MAKE(&device, CSRW_MIE_A0, WFI, NOP, WFI, NOP);

	rv_core_set_reg(core, A0, 1 << RV_IRQ_MTI);
	expect_run(core, 100, RV_STOP_WFI, 2, BASE + 8);
	rv_core_set_irq(core, RV_IRQ_MSI, true);
	expect_run(core, 100, RV_STOP_WFI, 0, BASE + 8);
	rv_core_set_irq(core, RV_IRQ_MTI, true);
	expect_run(core, 1, RV_STOP_BUDGET, 1, BASE + 12);
	rv_core_set_irq(core, RV_IRQ_MTI, false);
	expect_run(core, 100, RV_STOP_WFI, 1, BASE + 16);
	rv_core_wake(core);
	expect_run(core, 1, RV_STOP_BUDGET, 1, BASE + 20);
	rv_core_destroy(core);
}

static void counters_and_time(void **state)
{
	struct device device = {0};
	struct rv_core *core = MAKE(&device, NOP, NOP, 0xc0102573 /* csrr a0,time */);
	uint32_t value;

	rv_core_set_time(core, 0x1122334455667788);
	expect_run(core, 3, RV_STOP_BUDGET, 3, BASE + 12);
	assert_int_equal(rv_core_reg(core, A0), 0x55667788);
	rv_core_add_cycles(core, 10);
	assert_int_equal(rv_core_csr(core, 0xb00, &value), 0);
	assert_int_equal(value, 13);
	assert_int_equal(rv_core_csr(core, 0xb02, &value), 0);
	assert_int_equal(value, 3);
	assert_int_equal(rv_core_csr(core, 0x100, &value), -ENOENT);
	rv_core_reset(core, BASE);
	assert_int_equal(rv_core_csr(core, 0xb00, &value), 0);
	assert_int_equal(value, 0);
	rv_core_destroy(core);
}

static void breakpoints_and_steps(void **state)
{
	struct device device = {.value = 5, .waits = 1};
	struct rv_core *core = MAKE(&device, ADDI_A1_1, ADDI_A1_1, LW_A1_A0, JUMP_SELF);

	assert_int_equal(rv_core_add_breakpoint(core, BASE + 1), -EINVAL);
	assert_int_equal(rv_core_add_breakpoint(core, DEVICE), -EINVAL);
	assert_int_equal(rv_core_add_breakpoint(core, BASE + 4), 0);
	assert_int_equal(rv_core_add_breakpoint(core, BASE + 8), 0);
	expect_run(core, 100, RV_STOP_DEBUG, 1, BASE + 4);
	expect_run(core, 100, RV_STOP_DEBUG, 1, BASE + 8);
	expect_run(core, 100, RV_STOP_WAIT, 0, BASE + 8);
	expect_run(core, 2, RV_STOP_BUDGET, 2, BASE + 12);
	assert_int_equal(rv_core_reg(core, A1), 5);
	rv_core_set_pc(core, BASE);
	rv_core_set_step(core);
	expect_run(core, 100, RV_STOP_DEBUG, 1, BASE + 4);
	rv_core_remove_breakpoint(core, BASE + 8);
	expect_run(core, 1, RV_STOP_BUDGET, 1, BASE + 8);
	/* RAM was never changed. */
	assert_int_equal(rv_core_ram(core, NULL, NULL)[4], ADDI_A1_1 & 0xff);
	rv_core_destroy(core);
}

static void ebreak_under_debugger(void **state)
{
	struct device device = {0};
	struct rv_core *core = MAKE(&device, CSRW_MTVEC_A0, EBREAK, JUMP_SELF);

	rv_core_set_reg(core, A0, BASE + 8);
	rv_core_set_debugged(core, true);
	expect_run(core, 100, RV_STOP_DEBUG, 1, BASE + 4);
	expect_run(core, 1, RV_STOP_BUDGET, 1, BASE + 8);
	assert_int_equal(rv_core_trap(core).cause, RV_CAUSE_BREAKPOINT);
	rv_core_destroy(core);
}

static void cores_are_apart(void **state)
{
	struct device da = {.value = 1}, db = {.value = 2};
	struct rv_core *a = MAKE(&da, LW_A1_A0, JUMP_SELF);
	struct rv_core *b = MAKE(&db, ADDI_A1_1, LW_A1_A0, JUMP_SELF);

	rv_core_set_irq(a, RV_IRQ_MEI, true);
	expect_run(a, 5, RV_STOP_BUDGET, 5, BASE + 4);
	expect_run(b, 5, RV_STOP_SYNC, 1, BASE + 4);
	expect_run(b, 5, RV_STOP_BUDGET, 5, BASE + 8);
	assert_int_equal(rv_core_reg(a, A1), 1);
	assert_int_equal(rv_core_reg(b, A1), 2);
	rv_core_destroy(a);
	rv_core_destroy(b);
}

static void create_checks_ram(void **state)
{
	assert_null(rv_core_create(0, 0, NULL));
	assert_null(rv_core_create(2, 4096, NULL));
	assert_null(rv_core_create(0xfffff000, 0x2000, NULL));
	assert_int_equal(errno, EINVAL);
	rv_core_destroy(NULL);
}

static void backtrace_names_callers(void **state)
{
	struct rv_core *core = rv_core_create(0x80000000, 1 << 20, NULL);
	char path[PATH_MAX], err[256], text[1024];
	uint32_t entry, in_inner, offset;
	uint64_t n;

	assert_int_equal(
		rv_core_load_elf(core, beside(path, "debuggee.elf"), &entry, err, sizeof(err)), 0);
	assert_int_equal(rv_core_symbol_addr(core, "in_inner", &in_inner), 0);
	assert_int_equal(rv_core_symbol_addr(core, "nowhere", &offset), -ENOENT);
	rv_core_reset(core, entry);
	assert_int_equal(rv_core_add_breakpoint(core, in_inner), 0);
	assert_int_equal(rv_core_run(core, 1000, &n), RV_STOP_DEBUG);
	assert_string_equal(rv_core_symbol(core, in_inner, &offset), "inner");
	assert_int_equal(offset, 4);
	assert_true(rv_core_backtrace(core, text, sizeof(text)) < (int)sizeof(text));
	assert_non_null(strstr(text, " inner+0x4\n#1 "));
	assert_non_null(strstr(text, " middle+0x"));
	assert_non_null(strstr(text, " outer+0x"));
	assert_non_null(strstr(text, " _start+0x"));
	assert_true(strstr(text, "middle") < strstr(text, "outer"));
	/* As with snprintf(): the text is cut and terminated, and the whole length is returned. */
	assert_true(rv_core_backtrace(core, text, 8) > 8);
	assert_int_equal(strlen(text), 7);
	assert_true(rv_core_backtrace(core, NULL, 0) > 8);
	rv_core_destroy(core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(budget_is_exact),
		cmocka_unit_test(bus_access_stops_first),
		cmocka_unit_test(busy_bus_repeats_access),
		cmocka_unit_test(busy_bus_holds_interrupt),
		cmocka_unit_test(interrupt_from_store),
		cmocka_unit_test(fault_is_taken_once),
		cmocka_unit_test(handler_that_traps_is_fatal),
		cmocka_unit_test(handler_that_returns_is_fine),
		cmocka_unit_test(fetch_needs_ram),
		cmocka_unit_test(wfi_waits_for_enabled_interrupt),
		cmocka_unit_test(counters_and_time),
		cmocka_unit_test(breakpoints_and_steps),
		cmocka_unit_test(ebreak_under_debugger),
		cmocka_unit_test(cores_are_apart),
		cmocka_unit_test(create_checks_ram),
		cmocka_unit_test(backtrace_names_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
