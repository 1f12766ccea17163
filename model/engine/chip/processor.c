/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded processor's core and its time: see processor.h.
 *
 * The core runs in batches inside an event. A batch ends before an access to a register, so that
 * the access happens at the time the instructions before it have taken; a core in wfi or stalled by
 * a helper has no event at all.
 */
#include "model/engine/chip/processor_impl.h"
#include "model/engine/chip/pci_function.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_fw.h"
#include "model/sim/units.h"

#include <stdlib.h>
#include <string.h>

enum {
	PS_PER_S_LOG_SAFE = 1000000, /* ps of a cycle at 1 MHz */
	PS_PER_NS = 1000,
	BACKTRACE_BYTES = 2048,
	REG_RA = 1, /* x1 and x2 of the RISC-V calling convention */
	REG_SP = 2,
};

static uint64_t instructions_ps(const struct hca *hca, uint64_t n)
{
	const struct hca_params *p = hca->params;

	return n * param_fw_cycles_per_instruction(p) * PS_PER_S_LOG_SAFE /
	       (param_fw_clock(p) / 1000000);
}

uint8_t *processor_ram(struct processor *p, uint32_t addr, uint32_t len)
{
	uint32_t base, size;
	uint8_t *ram = rv_core_ram(p->core, &base, &size);

	if (addr < base || addr - base > size || len > size - (addr - base))
		return NULL;
	return ram + (addr - base);
}

const uint8_t *processor_memory(const struct hca *hca, uint32_t addr, uint32_t len)
{
	return processor_ram(hca->processor, addr, len);
}

/* Lets a sleeping or waiting core go on, not before `earliest_ps`. */
static void resume(struct processor *p, uint64_t earliest_ps)
{
	p->sleeping = p->waiting = false;
	event_set(p->hca->core, &p->step, earliest_ps > p->free_ps ? earliest_ps : p->free_ps);
}

void processor_irq_update(struct processor *p)
{
	bool level = p->cause & p->enable;

	rv_core_set_irq(p->core, RV_IRQ_MEI, level);
	if (level && p->sleeping) {
		rv_core_wake(p->core);
		processor_watchdog_start(p);
		resume(p, hca_now(p->hca) + jitter_draw_ps(&p->wake_jitter));
	}
}

void processor_raise(struct hca *hca, uint32_t causes)
{
	hca->processor->cause |= causes;
	processor_irq_update(hca->processor);
}

void processor_helper_start(struct fw_helper *helper)
{
	helper->busy = true;
}

void processor_helper_done(struct processor *p, struct fw_helper *helper, uint32_t status)
{
	helper->busy = false;
	helper->status = status;
	if (p->waiting)
		resume(p, hca_now(p->hca));
}

void processor_halt(struct hca *hca)
{
	struct processor *p = hca->processor;

	p->halted = true;
	event_cancel(hca->core, &p->step);
	event_cancel(hca->core, &p->timer);
	event_cancel(hca->core, &p->watchdog);
}

void processor_dump(const struct hca *hca, struct err_buf *errors)
{
	const struct rv_core *core = hca->processor->core;
	const struct rv_trap trap = rv_core_trap(core);

	err_buf_set_pc(errors, rv_core_pc(core));
	err_buf_set_mcause(errors, trap.cause);
	err_buf_set_mepc(errors, trap.pc);
	err_buf_set_mtval(errors, trap.value);
	err_buf_set_ra(errors, rv_core_reg(core, REG_RA));
	err_buf_set_sp(errors, rv_core_reg(core, REG_SP));
}

static void backtrace_trace(struct processor *p)
{
	struct hca *hca = p->hca;
	char text[BACKTRACE_BYTES], *line, *rest = text;

	if (!hca_traces(hca, TP_FW_TEXT))
		return;
	rv_core_backtrace(p->core, text, sizeof(text));
	while ((line = strsep(&rest, "\n")))
		if (*line)
			HCA_TRACE(hca, TP_FW_TEXT, .text = line);
}

static void firmware_trapped(struct processor *p)
{
	struct rv_trap trap = rv_core_trap(p->core);
	uint32_t offset = 0;
	const char *symbol = rv_core_symbol(p->core, trap.pc, &offset);

	backtrace_trace(p);
	hca_catastrophe(p->hca, ERR_BUF_TRAP, trap.cause,
			"firmware trapped: %s, value %x, at pc %x %s+%x", rv_cause_name(trap.cause),
			trap.value, trap.pc, symbol ? symbol : "unknown", offset);
}

static void watchdog_job(struct event *ev)
{
	struct processor *p = container_of(ev, struct processor, watchdog);
	uint32_t offset = 0, pc = rv_core_pc(p->core);
	const char *symbol = rv_core_symbol(p->core, pc, &offset);

	backtrace_trace(p);
	hca_catastrophe(p->hca, ERR_BUF_WATCHDOG, 0,
			"firmware did not serve its watchdog, at pc %x %s+%x%s", pc,
			symbol ? symbol : "unknown", offset,
			p->waiting ? ", waiting for a helper" : "");
}

void processor_watchdog_start(struct processor *p)
{
	if (p->watchdog_us)
		event_set(p->hca->core, &p->watchdog,
			  hca_now(p->hca) + CFG_US((uint64_t)p->watchdog_us));
	else
		event_cancel(p->hca->core, &p->watchdog);
}

static void timer_job(struct event *ev)
{
	struct processor *p = container_of(ev, struct processor, timer);

	processor_raise(p->hca, FW_IRQ_TIMER);
}

/* Lets the debugger control the core. Returns false if the debugger has killed the firmware. */
static bool debug_serve(struct processor *p, enum rv_stop why)
{
	if (rv_gdb_serve(p->gdb, why) != -ECANCELED)
		return true;
	hca_catastrophe(p->hca, ERR_BUF_FIRMWARE, 0, "firmware was killed by the debugger");
	return false;
}

static void fw_called(void *ctx, bool enter, const char *function, const char *caller,
		      unsigned depth, uint64_t done)
{
	struct processor *p = ctx;

	HCA_TRACE_AT(p->hca, enter ? TP_FW_CALL : TP_FW_RETURN,
		     hca_now(p->hca) + instructions_ps(p->hca, done), .text = function,
		     .corr = depth, .bytes = caller, .len = (uint32_t)strlen(caller));
}

static void calls_watch(struct processor *p, bool on)
{
	const struct rv_call_watch watch = {.ctx = p, .called = fw_called};

	if (rv_core_watch_calls(p->core, on ? &watch : NULL))
		memory_missing("calls of the firmware");
	p->watched = on;
}

static void step_job(struct event *ev)
{
	struct processor *p = container_of(ev, struct processor, step);
	struct hca *hca = p->hca;
	uint64_t retired;
	enum rv_stop stop;

	if (p->gdb && (rv_gdb_poll(p->gdb) || p->gdb_first)) {
		p->gdb_first = false;
		if (!debug_serve(p, RV_STOP_DEBUG))
			return;
	}
	if (p->watched != hca_traces(hca, TP_FW_CALL))
		calls_watch(p, !p->watched);
	rv_core_set_time(p->core, hca_now(hca) / PS_PER_NS);
	stop = rv_core_run(p->core, param_fw_batch(hca->params), &retired);
	rv_core_add_cycles(p->core, retired * (param_fw_cycles_per_instruction(hca->params) - 1));
	hca->stats.fw_instructions += retired;
	p->free_ps = hca_now(hca) + instructions_ps(hca, retired);
	HCA_TRACE(hca, TP_FW_RUN, .args = {p->free_ps, retired});
	if (p->halted || event_is_set(&p->step))
		return;
	if (p->gdb && (stop == RV_STOP_DEBUG || stop == RV_STOP_TRAP_LOOP)) {
		if (debug_serve(p, stop))
			resume(p, hca_now(hca));
		return;
	}
	switch (stop) {
	case RV_STOP_WAIT:
		p->waiting = true;
		break;
	case RV_STOP_WFI:
		p->sleeping = true;
		event_cancel(hca->core, &p->watchdog);
		processor_irq_update(p);
		break;
	case RV_STOP_TRAP_LOOP:
		firmware_trapped(p);
		break;
	default:
		resume(p, hca_now(hca));
	}
}

void processor_jitter(struct hca *hca, uint64_t seed)
{
	jitter_init(&hca->processor->wake_jitter, hca, seed, "firmware",
		    param_fw_jitter(hca->params));
}

int processor_debug(struct hca *hca, unsigned port)
{
	struct processor *p = hca->processor;
	const int rc = rv_gdb_listen(p->core, (uint16_t)port, &p->gdb);

	return rc ? rc : rv_gdb_port(p->gdb);
}

int processor_debug_wait(struct hca *hca)
{
	struct processor *p = hca->processor;
	int rc = rv_gdb_wait(p->gdb);

	p->gdb_first = !rc;
	return rc;
}

void processor_debug_poll(struct hca *hca)
{
	struct processor *p = hca->processor;

	if (p->gdb && !p->halted && rv_gdb_poll(p->gdb))
		debug_serve(p, RV_STOP_DEBUG);
}

bool processor_is_quiet(const struct hca *hca)
{
	const struct processor *p = hca->processor;

	return p->halted || (p->sleeping && !(p->cause & FW_IRQ_HCR) && !p->dma.helper.busy &&
			     !p->object.helper.busy && !p->eqe.busy);
}

size_t processor_footprint(const struct hca *hca)
{
	const struct processor *p = hca->processor;
	uint32_t base, size;

	/* Counts firmware's RAM, but not the core's decoded instructions, which take about as many
	 * bytes as the RAM that holds code. */
	rv_core_ram(p->core, &base, &size);
	return sizeof(*p) + size + p->image_size + p->dma.chunk +
	       p->dma.room * sizeof(*p->dma.frags);
}

void processor_abort_helpers(struct hca *hca)
{
	struct processor *p = hca->processor;

	if (p->dma.helper.busy)
		processor_helper_done(p, &p->dma.helper, FW_DMA_FAULT);
	if (p->object.helper.busy)
		processor_helper_done(p, &p->object.helper, FW_OBJ_NO_ICM);
	if (p->eqe.busy)
		processor_helper_done(p, &p->eqe, 0);
}

static int image_keep(struct processor *p, const char *elf, char *err, size_t err_size)
{
	struct rv_extent extent;
	const uint8_t *bytes;
	int rc = rv_elf_extent(elf, &extent, err, err_size);

	if (!rc)
		rc = rv_core_load_elf(p->core, elf, &p->entry, err, err_size);
	if (rc)
		return rc;
	p->image_base = extent.first;
	p->image_size = extent.last - extent.first + 1;
	bytes = processor_ram(p, p->image_base, p->image_size);
	p->image = memory_create(1, p->image_size, "a processor");
	memcpy(p->image, bytes, p->image_size);
	return 0;
}

struct processor *processor_create(struct hca *hca, const char *elf, char *err, size_t err_size)
{
	struct processor *p = memory_create(1, sizeof(*p), "a processor");
	struct rv_bus bus = {.ctx = p, .load = processor_load, .store = processor_store};

	p->hca = hca;
	p->step.job = step_job;
	p->timer.job = timer_job;
	p->watchdog.job = watchdog_job;
	p->object.waiter.wake = processor_object_wake;
	processor_dma_create(p);
	p->core = rv_core_create(FW_RAM_BASE, (uint32_t)param_fw_ram(hca->params) & ~3u, &bus);
	if (!p->core)
		memory_missing("a processor");
	if (image_keep(p, elf, err, err_size)) {
		processor_destroy(p);
		return NULL;
	}
	return p;
}

void processor_destroy(struct processor *p)
{
	if (!p)
		return;
	event_cancel(p->hca->core, &p->step);
	event_cancel(p->hca->core, &p->timer);
	event_cancel(p->hca->core, &p->watchdog);
	if (p->gdb)
		rv_gdb_close(p->gdb);
	rv_core_destroy(p->core);
	processor_dma_destroy(p);
	free(p->image);
	free(p);
}

void processor_reset(struct hca *hca)
{
	struct processor *p = hca->processor;
	uint32_t base, size;
	uint8_t *ram = rv_core_ram(p->core, &base, &size);

	processor_halt(hca);
	p->halted = p->sleeping = p->waiting = false;
	p->watchdog_us = 0;
	p->cause = p->enable = p->time_hi = 0;
	memset(p->reg, 0, sizeof(p->reg));
	memset(p->ports, 0, sizeof(p->ports));
	p->dma.helper = p->object.helper = p->eqe = (struct fw_helper){0};
	memset(ram, 0, size);
	memcpy(ram + (p->image_base - base), p->image, p->image_size);
	rv_core_reset(p->core, p->entry);
	rv_core_set_irq(p->core, RV_IRQ_MEI, false);
	p->free_ps = hca_now(hca) + param_fw_reset_time(hca->params);
	event_set(hca->core, &p->step, p->free_ps);
}
