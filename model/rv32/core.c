/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, resets and destroys a core; accessors for its registers; what its owner and a debugger
 * can set. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/rv32/rv32_core.h"

static size_t pages(const struct rv_core *core)
{
	return (core->ram_size >> RV_DECODED_PAGE_LOG) + 1;
}

struct rv_core *rv_core_create(uint32_t ram_base, uint32_t ram_size, const struct rv_bus *bus)
{
	struct rv_core *core;

	if (!ram_size || ram_base % 4 || ram_size % 4 || ram_size - 1 > UINT32_MAX - ram_base) {
		errno = EINVAL;
		return NULL;
	}
	core = calloc(1, sizeof(*core));
	if (!core)
		return NULL;
	core->ram_base = ram_base;
	core->ram_size = ram_size;
	core->ram = calloc(1, ram_size);
	core->insn = calloc(ram_size / 2, sizeof(*core->insn));
	core->page_decoded = calloc(pages(core), 1);
	if (!core->ram || !core->insn || !core->page_decoded) {
		rv_core_destroy(core);
		errno = ENOMEM;
		return NULL;
	}
	if (bus)
		core->bus = *bus;
	rv_core_reset(core, ram_base);
	return core;
}

void rv_core_destroy(struct rv_core *core)
{
	if (!core)
		return;
	rv_symbols_free(&core->symbols);
	free(core->calls);
	free(core->page_decoded);
	free(core->insn);
	free(core->ram);
	free(core);
}

void rv_core_reset(struct rv_core *core, uint32_t pc)
{
	memset(core->x, 0, sizeof(core->x));
	core->mstatus = 0;
	core->mie = 0;
	core->mtvec = 0;
	core->mscratch = 0;
	core->mepc = 0;
	core->mcause = 0;
	core->mtval = 0;
	core->mcountinhibit = 0;
	memset(core->pmpaddr, 0, sizeof(core->pmpaddr));
	core->mcycle = 0;
	core->minstret = 0;
	core->trap = (struct rv_trap){0};
	core->in_trap = false;
	core->waiting = false;
	core->step = false;
	rv_core_set_pc(core, pc);
	rv_core_flush_decoded(core);
	if (core->calls)
		rv_calls_reset(core);
}

uint8_t *rv_core_ram(struct rv_core *core, uint32_t *base, uint32_t *size)
{
	if (base)
		*base = core->ram_base;
	if (size)
		*size = core->ram_size;
	return core->ram;
}

void rv_core_flush_decoded(struct rv_core *core)
{
	const size_t per_page = (1u << RV_DECODED_PAGE_LOG) / 2, all = core->ram_size / 2;

	for (size_t page = 0; page < pages(core); page++) {
		size_t first = page * per_page;
		size_t count = all - first < per_page ? all - first : per_page;

		if (!core->page_decoded[page])
			continue;
		memset(&core->insn[first], 0, count * sizeof(*core->insn));
		core->page_decoded[page] = 0;
	}
}

void rv_core_set_irq(struct rv_core *core, enum rv_irq irq, bool level)
{
	uint32_t bit = 1u << irq & RV_IRQ_MASK;

	core->mip = level ? core->mip | bit : core->mip & ~bit;
}

void rv_core_set_time(struct rv_core *core, uint64_t time)
{
	core->time = time;
}

void rv_core_add_cycles(struct rv_core *core, uint64_t cycles)
{
	if (!(core->mcountinhibit & 1))
		core->mcycle += cycles;
}

void rv_core_wake(struct rv_core *core)
{
	core->waiting = false;
}

uint32_t rv_core_reg(const struct rv_core *core, unsigned n)
{
	return n < 32 ? core->x[n] : 0;
}

void rv_core_set_reg(struct rv_core *core, unsigned n, uint32_t value)
{
	if (n && n < 32)
		core->x[n] = value;
}

uint32_t rv_core_pc(const struct rv_core *core)
{
	return core->pc;
}

void rv_core_set_pc(struct rv_core *core, uint32_t pc)
{
	core->pc = pc & ~1u;
	core->bus_busy = false;
	core->over_breakpoint = false;
}

struct rv_trap rv_core_trap(const struct rv_core *core)
{
	return core->trap;
}

void rv_core_set_debugged(struct rv_core *core, bool debugged)
{
	core->debugged = debugged;
}

void rv_core_set_step(struct rv_core *core)
{
	core->step = true;
}

bool rv_has_breakpoint(const struct rv_core *core, uint32_t addr)
{
	for (unsigned i = 0; i < core->breakpoints; i++)
		if (core->breakpoint[i] == addr)
			return true;
	return false;
}

static void forget_decoded(struct rv_core *core, uint32_t addr)
{
	core->insn[(addr - core->ram_base) / 2].op = RV_OP_UNDECODED;
}

int rv_core_add_breakpoint(struct rv_core *core, uint32_t addr)
{
	if (addr & 1 || !rv_in_ram(core, addr, 2))
		return -EINVAL;
	if (rv_has_breakpoint(core, addr))
		return 0;
	if (core->breakpoints == RV_BREAKPOINTS_MAX)
		return -ENOSPC;
	core->breakpoint[core->breakpoints++] = addr;
	forget_decoded(core, addr);
	return 0;
}

void rv_core_remove_breakpoint(struct rv_core *core, uint32_t addr)
{
	for (unsigned i = 0; i < core->breakpoints; i++) {
		if (core->breakpoint[i] != addr)
			continue;
		core->breakpoint[i] = core->breakpoint[--core->breakpoints];
		forget_decoded(core, addr);
		return;
	}
}

void rv_core_clear_breakpoints(struct rv_core *core)
{
	while (core->breakpoints)
		rv_core_remove_breakpoint(core, core->breakpoint[0]);
}
