/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded processor: one RV32IMC hart, machine mode only, interpreted.
 *
 * Source: RISC-V unprivileged specification 20191213 (RV32I 2.1, M 2.0, C 2.0, Zicsr, Zifencei,
 * Zicntr), privileged specification 1.12 (machine mode). Where the specification leaves a choice,
 * this core chose:
 *
 * - No U or S mode: mstatus has MIE and MPIE, MPP reads as 3; mcounteren, medeleg, mideleg do not
 * exist.
 * - Misaligned loads and stores inside RAM are done in hardware. Misaligned ones outside RAM, or
 * only partly in RAM, take an address-misaligned trap (cause 4, 6).
 * - Instructions are fetched from RAM only; a fetch elsewhere takes an instruction access fault.
 * - mtval: the faulting address; the instruction bits of an illegal instruction (16 bits of a
 * compressed one); the pc of an ebreak.
 * - mcycle counts retired instructions and what rv_core_add_cycles() adds; the owner decides what a
 * cycle costs.
 * - misa is read only. mvendorid, marchid, mimpid, mhartid are 0. Trigger registers read as zero.
 * - PMP cannot be turned on: pmpaddr0..15 hold what is written, the rest and every pmpcfg read as
 * 0.
 * - A store into code takes effect at the next fence.i, and possibly before.
 * - The time CSR is the value of the last rv_core_set_time().
 *
 * No global state: cores are independent. A core is used by one thread at a time.
 */
#ifndef MODEL_RV32_RV32_H
#define MODEL_RV32_RV32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rv_core;
struct rv_gdb;

enum rv_bus_result {
	RV_BUS_OK,
	RV_BUS_FAULT, /* the instruction takes an access fault trap */
	/* not now: rv_core_run() stops before the instruction; the next call repeats the access */
	RV_BUS_WAIT,
};

/*
 * What is outside RAM. @size is 1, 2 or 4, and @addr is a multiple of it. Values are in the low
 * bytes, with zeros above. The functions may call rv_core_set_irq(), rv_core_set_time() and the
 * functions that read the core's registers, but never rv_core_run().
 */
struct rv_bus {
	void *ctx;
	int (*load)(void *ctx, uint32_t addr, unsigned size, uint32_t *value);
	int (*store)(void *ctx, uint32_t addr, unsigned size, uint32_t value);
};

enum rv_stop {
	RV_STOP_BUDGET, /* max_instructions retired */
	/* the next instruction uses the bus, and this call has already retired others; the next
	 * call executes it */
	RV_STOP_SYNC,
	RV_STOP_WAIT, /* the bus said RV_BUS_WAIT; pc is at that instruction */
	/* the core waits in a wfi (pc is after it) and mie & mip is 0; each further call gives
	 * this again until mie & mip is not 0 */
	RV_STOP_WFI,
	RV_STOP_TRAP_LOOP, /* an exception with mtvec 0, or twice at one pc with no mret between;
			      see rv_core_trap() */
	RV_STOP_DEBUG, /* breakpoint, ebreak under a debugger, or a single step is done; pc is the
			  next instruction */
};

enum rv_irq {
	RV_IRQ_MSI = 3,
	RV_IRQ_MTI = 7,
	RV_IRQ_MEI = 11,
};

/* mcause of the exceptions this core raises. */
enum rv_cause {
	RV_CAUSE_FETCH_FAULT = 1,
	RV_CAUSE_ILLEGAL = 2,
	RV_CAUSE_BREAKPOINT = 3,
	RV_CAUSE_LOAD_MISALIGNED = 4,
	RV_CAUSE_LOAD_FAULT = 5,
	RV_CAUSE_STORE_MISALIGNED = 6,
	RV_CAUSE_STORE_FAULT = 7,
	RV_CAUSE_ECALL_M = 11,
};

/*
 * Creates a core with zeroed RAM. @ram_base and @ram_size are multiples of 4, and RAM must end at
 * or below 4 GiB. @bus is copied; with NULL every access outside RAM faults. Returns NULL with
 * errno EINVAL or ENOMEM on failure.
 */
struct rv_core *rv_core_create(uint32_t ram_base, uint32_t ram_size, const struct rv_bus *bus);
void rv_core_destroy(struct rv_core *core);

/* Sets registers, CSRs, counters and waiting states to their power-on values. RAM, interrupt lines,
 * symbols and breakpoints stay. */
void rv_core_reset(struct rv_core *core, uint32_t pc);

/* RAM as little-endian bytes. A caller that writes code through the pointer must call
 * rv_core_flush_decoded(). */
uint8_t *rv_core_ram(struct rv_core *core, uint32_t *base, uint32_t *size);
void rv_core_flush_decoded(struct rv_core *core);

/* Retires at most @max_instructions; *@retired is always set. A taken trap retires nothing. */
enum rv_stop rv_core_run(struct rv_core *core, uint64_t max_instructions, uint64_t *retired);

void rv_core_set_irq(struct rv_core *core, enum rv_irq irq, bool level);
void rv_core_set_time(struct rv_core *core, uint64_t time);
void rv_core_add_cycles(struct rv_core *core, uint64_t cycles);
void rv_core_wake(struct rv_core *core); /* ends the wait of a wfi without an interrupt */

/* x0..x31; a write to x0 is dropped. @n above 31 reads 0. */
uint32_t rv_core_reg(const struct rv_core *core, unsigned n);
void rv_core_set_reg(struct rv_core *core, unsigned n, uint32_t value);
uint32_t rv_core_pc(const struct rv_core *core);
void rv_core_set_pc(struct rv_core *core,
		    uint32_t pc); /* also forgets an access that waits on the bus */
/* Reads any CSR without side effects. 0, or -ENOENT if the core has no CSR of that number. */
int rv_core_csr(const struct rv_core *core, unsigned csr, uint32_t *value);

struct rv_trap {
	uint32_t pc;
	uint32_t cause; /* enum rv_cause */
	uint32_t value; /* as mtval */
};

/* The last exception raised (interrupts are not counted), even when RV_STOP_TRAP_LOOP kept the core
 * from taking it. */
struct rv_trap rv_core_trap(const struct rv_core *core);
const char *rv_cause_name(uint32_t cause);

/*
 * Loads 32-bit little-endian RISC-V ELF executables at their physical addresses. Errors are -errno,
 * with one line in @err that names the file and says what is wrong; RAM is then unchanged.
 */
struct rv_extent {
	uint32_t first;
	uint32_t last; /* inclusive */
	uint32_t entry;
};

int rv_elf_extent(const char *path, struct rv_extent *extent, char *err, size_t err_size);
int rv_core_load_elf(struct rv_core *core, const char *path, uint32_t *entry, char *err,
		     size_t err_size);

/* NULL when no code symbol covers @pc. Strings live until the next load or until the core is
 * destroyed. */
const char *rv_core_symbol(const struct rv_core *core, uint32_t pc, uint32_t *offset);
int rv_core_symbol_addr(const struct rv_core *core, const char *name, uint32_t *addr);

/*
 * Writes one line a frame: "#0 80000010 name+0x10\n". The frames are pc, then ra, then each word up
 * the stack that looks like a return address (it points right after a call, in a known function).
 * May show a frame that has already returned; never misses one whose ra was saved. Returns what
 * snprintf() does.
 */
int rv_core_backtrace(const struct rv_core *core, char *buf, size_t size);

/*
 * Reports functions that begin (enter) and end, strictly nested, by symbol name. `done` is the
 * number of instructions retired in this rv_core_run(); `depth` is the depth of the function, from
 * 0. A tail call ends one function and begins the next. A trap or interrupt counts as a function
 * until its mret. The first report is the function at pc. NULL stops the reports and reports no
 * ends; code that nobody watches runs at full speed.
 */
struct rv_call_watch {
	void *ctx;
	/* caller: the function that runs on after this one ends, "" for none */
	void (*called)(void *ctx, bool enter, const char *function, const char *caller,
		       unsigned depth, uint64_t done);
};
int rv_core_watch_calls(struct rv_core *core, const struct rv_call_watch *watch);

/*
 * Debugging, as used by gdb.c. Under a debugger an ebreak stops the core; when the core is run
 * again, the ebreak traps. Breakpoints are kept outside RAM, so RAM never changes.
 */
void rv_core_set_debugged(struct rv_core *core, bool debugged);
int rv_core_add_breakpoint(struct rv_core *core,
			   uint32_t addr); /* 0, -EINVAL (odd, not in RAM), -ENOSPC */
void rv_core_remove_breakpoint(struct rv_core *core, uint32_t addr);
void rv_core_clear_breakpoints(struct rv_core *core);
void rv_core_set_step(struct rv_core *core); /* the next run stops after one instruction, or the
						entry of a trap */

/*
 * The gdb remote stub, on 127.0.0.1. The owner, around each batch:
 *
 *	if (rv_gdb_poll(gdb))
 *		killed = rv_gdb_serve(gdb, RV_STOP_DEBUG);
 *	stop = rv_core_run(...);
 *	if (stop == RV_STOP_DEBUG || stop == RV_STOP_TRAP_LOOP)
 *		killed = rv_gdb_serve(gdb, stop);
 *
 * The debugger reads and writes RAM and registers; the bus is hidden from it, since reading may
 * have side effects.
 */
int rv_gdb_listen(struct rv_core *core, uint16_t port,
		  struct rv_gdb **gdb); /* port 0: any free one */
uint16_t rv_gdb_port(const struct rv_gdb *gdb);
int rv_gdb_wait(struct rv_gdb *gdb); /* blocks until a debugger is there; then serve it before the
					first batch */
bool rv_gdb_poll(
	struct rv_gdb *gdb); /* never blocks; true: a debugger came, or asked the core to halt */
/* Blocks until the debugger resumes, steps or detaches (0), or kills (-ECANCELED). 0 at once if
 * nobody is there. */
int rv_gdb_serve(struct rv_gdb *gdb, enum rv_stop why);
void rv_gdb_close(struct rv_gdb *gdb);

#endif
