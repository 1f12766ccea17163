/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rv32run FILE.elf [--max-instructions N] [--gdb PORT]: runs a bare executable until it writes its
 * symbol `tohost`. A value of 1 is a pass; (n << 1) | 1 means that test n failed (the convention of
 * the RISC-V ISA suites).
 *
 * The machine has RAM around the segments (whole 4 KiB pages, plus 2 MiB after the last segment)
 * and an interruptor at 0x02000000 with the layout of the SiFive CLINT: msip at 0, mtimecmp at
 * 0x4000, mtime at 0xbff8. mtime advances by one for each instruction; a wfi skips ahead to
 * mtimecmp.
 *
 * Exit status: 0 pass, 1 fail (one line says why), 2 unusable input.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/rv32/rv32.h"

enum { PASS = 0, FAIL = 1, BAD_INPUT = 2 };
enum { BATCH = 4096, RAM_BEHIND = 2 << 20, RAM_MAX = 1 << 30, PAGE = 4096 };
enum { CLINT = 0x02000000, MSIP = CLINT, MTIMECMP = CLINT + 0x4000, MTIME = CLINT + 0xbff8 };

struct machine {
	const char *path;
	uint64_t max_instructions;
	int gdb_port; /* -1: none */
	struct rv_core *core;
	struct rv_gdb *gdb;
	uint32_t tohost;
	uint64_t retired;
	uint64_t mtime;
	uint64_t mtimecmp;
};

/* The word at @addr of a 64-bit register (bit 2 of @addr selects the half). */
static uint32_t get_half(uint64_t value, uint32_t addr)
{
	return (uint32_t)(addr & 4 ? value >> 32 : value);
}

static void set_half(uint64_t *value, uint32_t addr, uint32_t word)
{
	*value = addr & 4 ? (uint64_t)word << 32 | (uint32_t)*value : (*value >> 32) << 32 | word;
}

static int clint_load(void *ctx, uint32_t addr, unsigned size, uint32_t *value)
{
	struct machine *machine = ctx;
	uint32_t mip = 0;

	if (size != 4)
		return RV_BUS_FAULT;
	rv_core_csr(machine->core, 0x344, &mip);
	if (addr == MSIP)
		*value = mip >> RV_IRQ_MSI & 1;
	else if (addr == MTIMECMP || addr == MTIMECMP + 4)
		*value = get_half(machine->mtimecmp, addr);
	else if (addr == MTIME || addr == MTIME + 4)
		*value = get_half(machine->mtime, addr);
	else
		return RV_BUS_FAULT;
	return RV_BUS_OK;
}

static int clint_store(void *ctx, uint32_t addr, unsigned size, uint32_t value)
{
	struct machine *machine = ctx;

	if (size != 4)
		return RV_BUS_FAULT;
	if (addr == MSIP)
		rv_core_set_irq(machine->core, RV_IRQ_MSI, value & 1);
	else if (addr == MTIMECMP || addr == MTIMECMP + 4)
		set_half(&machine->mtimecmp, addr, value);
	else if (addr == MTIME || addr == MTIME + 4)
		set_half(&machine->mtime, addr, value);
	else
		return RV_BUS_FAULT;
	rv_core_set_irq(machine->core, RV_IRQ_MTI, machine->mtime >= machine->mtimecmp);
	return RV_BUS_OK;
}

static void set_time(struct machine *machine, uint64_t mtime)
{
	machine->mtime = mtime;
	rv_core_set_time(machine->core, mtime);
	rv_core_set_irq(machine->core, RV_IRQ_MTI, mtime >= machine->mtimecmp);
}

static int machine_create(struct machine *machine)
{
	const struct rv_bus bus = {machine, clint_load, clint_store};
	struct rv_extent extent;
	char err[512];
	uint64_t end;
	uint32_t base;

	if (rv_elf_extent(machine->path, &extent, err, sizeof(err)))
		goto bad;
	base = extent.first & ~(uint32_t)(PAGE - 1);
	end = (((uint64_t)extent.last + PAGE) & ~(uint64_t)(PAGE - 1)) + RAM_BEHIND;
	end = end > UINT32_MAX ? (uint64_t)UINT32_MAX + 1 - PAGE : end;
	if (extent.last >= end || end - base > RAM_MAX) {
		snprintf(err, sizeof(err),
			 "%s: segments from 0x%08x to 0x%08x are outside memory (at most %d MiB)",
			 machine->path, extent.first, extent.last, RAM_MAX >> 20);
		goto bad;
	}
	machine->core = rv_core_create(base, (uint32_t)(end - base), &bus);
	if (!machine->core) {
		snprintf(err, sizeof(err), "%s: no memory for %llu bytes of RAM", machine->path,
			 (unsigned long long)(end - base));
		goto bad;
	}
	if (rv_core_load_elf(machine->core, machine->path, &extent.entry, err, sizeof(err)))
		goto bad;
	if (rv_core_symbol_addr(machine->core, "tohost", &machine->tohost) || machine->tohost % 4 ||
	    machine->tohost < base || machine->tohost > end - 8) {
		snprintf(err, sizeof(err), "%s: no symbol tohost in memory", machine->path);
		goto bad;
	}
	rv_core_reset(machine->core, extent.entry);
	machine->mtimecmp = UINT64_MAX;
	return PASS;
bad:
	fprintf(stderr, "rv32run: %s\n", err);
	return BAD_INPUT;
}

static uint32_t tohost(const struct machine *machine)
{
	uint32_t base;
	const uint8_t *p = rv_core_ram(machine->core, &base, NULL) + machine->tohost - base;

	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static int fail_at_pc(const struct machine *machine, const char *what)
{
	uint32_t pc = rv_core_pc(machine->core), offset = 0;
	const char *name = rv_core_symbol(machine->core, pc, &offset);

	printf("%s: fail: %s; pc 0x%08x (%s+0x%x) after %llu instructions\n", machine->path, what,
	       pc, name ? name : "?", offset, (unsigned long long)machine->retired);
	return FAIL;
}

static int verdict(const struct machine *machine, uint32_t value)
{
	if (value == 1) {
		printf("%s: pass\n", machine->path);
		return PASS;
	}
	if (value & 1)
		printf("%s: fail: test %u\n", machine->path, value >> 1);
	else
		printf("%s: fail: tohost 0x%08x is neither a pass nor the number of a test\n",
		       machine->path, value);
	return FAIL;
}

static int fail_trap(const struct machine *machine)
{
	struct rv_trap trap = rv_core_trap(machine->core);
	char what[128];

	snprintf(what, sizeof(what), "%s (value 0x%08x) at 0x%08x without a handler",
		 rv_cause_name(trap.cause), trap.value, trap.pc);
	return fail_at_pc(machine, what);
}

/* The exit status, or -1 to run on. */
static int stopped(struct machine *machine, enum rv_stop stop)
{
	switch (stop) {
	case RV_STOP_WFI:
		if (machine->mtimecmp == UINT64_MAX)
			rv_core_wake(machine->core);
		else if (machine->mtime < machine->mtimecmp)
			set_time(machine, machine->mtimecmp);
		else
			rv_core_wake(machine->core);
		break;
	case RV_STOP_DEBUG:
		if (rv_gdb_serve(machine->gdb, stop))
			return fail_at_pc(machine, "killed by the debugger");
		break;
	case RV_STOP_TRAP_LOOP:
		if (machine->gdb)
			rv_gdb_serve(machine->gdb, stop);
		return fail_trap(machine);
	case RV_STOP_BUDGET:
	case RV_STOP_SYNC:
	case RV_STOP_WAIT:
		break;
	}
	return -1;
}

static int machine_run(struct machine *machine)
{
	while (machine->retired < machine->max_instructions) {
		uint64_t left = machine->max_instructions - machine->retired, n;
		enum rv_stop stop;
		int status;

		if (machine->gdb && rv_gdb_poll(machine->gdb) &&
		    rv_gdb_serve(machine->gdb, RV_STOP_DEBUG))
			return fail_at_pc(machine, "killed by the debugger");
		stop = rv_core_run(machine->core, left < BATCH ? left : BATCH, &n);
		machine->retired += n;
		set_time(machine, machine->mtime + n);
		if (tohost(machine))
			return verdict(machine, tohost(machine));
		status = stopped(machine, stop);
		if (status >= 0)
			return status;
	}
	return fail_at_pc(machine, "tohost not written");
}

static bool parse_number(const char *text, unsigned long long max, unsigned long long *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *value <= max;
}

static int parse(struct machine *machine, int argc, char **argv)
{
	unsigned long long value;

	for (int i = 1; i < argc; i++) {
		bool limit = !strcmp(argv[i], "--max-instructions");

		if (limit || !strcmp(argv[i], "--gdb")) {
			if (++i == argc ||
			    !parse_number(argv[i], limit ? UINT64_MAX : 65535, &value))
				return -EINVAL;
			if (limit)
				machine->max_instructions = value;
			else
				machine->gdb_port = (int)value;
		} else if (argv[i][0] == '-' || machine->path) {
			return -EINVAL;
		} else {
			machine->path = argv[i];
		}
	}
	return machine->path ? 0 : -EINVAL;
}

static int machine_debug(struct machine *machine)
{
	if (machine->gdb_port < 0)
		return 0;
	if (rv_gdb_listen(machine->core, (uint16_t)machine->gdb_port, &machine->gdb))
		return -EIO;
	fprintf(stderr, "rv32run: gdb: target remote 127.0.0.1:%u\n", rv_gdb_port(machine->gdb));
	if (rv_gdb_wait(machine->gdb))
		return -EIO;
	return 0;
}

int main(int argc, char **argv)
{
	struct machine machine = {.max_instructions = 200000000, .gdb_port = -1};
	int status;

	if (parse(&machine, argc, argv)) {
		fprintf(stderr, "usage: rv32run FILE.elf [--max-instructions N] [--gdb PORT]\n");
		return BAD_INPUT;
	}
	status = machine_create(&machine);
	if (!status && machine_debug(&machine))
		status = BAD_INPUT;
	if (!status)
		status = machine_run(&machine);
	rv_gdb_close(machine.gdb);
	rv_core_destroy(machine.core);
	return status;
}
