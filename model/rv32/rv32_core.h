/* SPDX-License-Identifier: Apache-2.0 */
/* The internals of a core, for the files of this folder only. */
#ifndef MODEL_RV32_RV32_CORE_H
#define MODEL_RV32_RV32_CORE_H

#include "model/rv32/rv32.h"
#include "model/rv32/rv32_ops.h"

enum { RV_BREAKPOINTS_MAX = 64, RV_DECODED_PAGE_LOG = 12, RV_PMP_ENTRIES = 16 };

enum { RV_CALLS_MAX = 64 };

/* A function that is running, and where it returns to. */
struct rv_frame {
	const char *name;
	uint32_t function, ra;
	bool trap; /* ends with mret */
};

struct rv_calls {
	struct rv_call_watch watch;
	unsigned depth;
	struct rv_frame frame[RV_CALLS_MAX];
};

enum rv_mstatus {
	RV_MSTATUS_MIE = 1 << 3,
	RV_MSTATUS_MPIE = 1 << 7,
	RV_MSTATUS_MPP_M = 3 << 11,
};

enum {
	RV_IRQ_MASK = 1 << RV_IRQ_MSI | 1 << RV_IRQ_MTI | 1 << RV_IRQ_MEI,
};

struct rv_symbol {
	const char *name;
	uint32_t addr;
	uint32_t size; /* 0: up to the next symbol of code */
	bool code;
};

struct rv_symbols {
	struct rv_symbol *row; /* by address */
	size_t count;
	char *names;
};

struct rv_core {
	uint32_t x[RV_X_NONE + 1];
	uint32_t pc;

	uint32_t ram_base;
	uint32_t ram_size;
	uint8_t *ram;
	struct rv_insn *insn;  /* one for each halfword of RAM */
	uint8_t *page_decoded; /* page of RAM has entries in insn */
	struct rv_bus bus;

	uint64_t done;    /* retired in this rv_core_run() */
	uint64_t counted; /* how many of them are in mcycle and minstret */

	uint32_t mstatus; /* MIE and MPIE only */
	uint32_t mie;
	uint32_t mip;
	uint32_t mtvec;
	uint32_t mscratch;
	uint32_t mepc;
	uint32_t mcause;
	uint32_t mtval;
	uint32_t mcountinhibit;
	uint32_t pmpaddr[RV_PMP_ENTRIES];
	uint64_t mcycle;
	uint64_t minstret;
	uint64_t time;

	struct rv_trap trap;
	bool in_trap;  /* an exception was taken, and no mret since */
	bool waiting;  /* in a wfi */
	bool bus_busy; /* the access at pc was answered RV_BUS_WAIT */

	bool debugged;
	bool step;
	bool over_breakpoint; /* a breakpoint already stopped the core at pc */
	uint32_t breakpoint[RV_BREAKPOINTS_MAX];
	unsigned breakpoints;

	struct rv_symbols symbols;
	struct rv_calls *calls; /* NULL: nobody watches */
};

/* Functions of calls.c, called only while core->calls is set. */
/* Marks a jump that may be a call or a return, so that slow() executes it. */
void rv_calls_mark(const struct rv_core *core, struct rv_insn *insn);
void rv_calls_begin(struct rv_core *core); /* before anything runs */
/* After the jump: pc is the target, ra what a call wrote. */
void rv_calls_jumped(struct rv_core *core, const struct rv_insn *insn, uint32_t ra);
void rv_calls_trap(struct rv_core *core);
void rv_calls_mret(struct rv_core *core);
void rv_calls_reset(struct rv_core *core);

/* Brings mcycle and minstret up to date. */
void rv_csr_count(struct rv_core *core);
/* -ENOENT: no such CSR (or, for a write, a read-only one). The counters must be up to date. */
int rv_csr_read(const struct rv_core *core, unsigned csr, uint32_t *value);
int rv_csr_write(struct rv_core *core, unsigned csr, uint32_t value);

/* The interrupt to take now, or 0. */
uint32_t rv_irq_due(const struct rv_core *core);
void rv_irq_enter(struct rv_core *core, uint32_t irq);
/* False: not taken, RV_STOP_TRAP_LOOP. */
bool rv_trap_enter(struct rv_core *core, uint32_t cause, uint32_t value);

bool rv_has_breakpoint(const struct rv_core *core, uint32_t addr);
void rv_symbols_free(struct rv_symbols *symbols);

static inline bool rv_in_ram(const struct rv_core *core, uint32_t addr, uint32_t size)
{
	uint32_t offset = addr - core->ram_base;

	return offset < core->ram_size && core->ram_size - offset >= size;
}

static inline uint32_t rv_ram_get(const uint8_t *p, unsigned size)
{
	uint32_t value = p[0];

	if (size >= 2)
		value |= (uint32_t)p[1] << 8;
	if (size == 4)
		value |= (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	return value;
}

static inline void rv_ram_put(uint8_t *p, unsigned size, uint32_t value)
{
	for (unsigned i = 0; i < size; i++)
		p[i] = (uint8_t)(value >> (8 * i));
}

#endif
