/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control and status registers, traps and interrupts of machine mode. Source: RISC-V privileged
 * specification 1.12, chapters 2 and 3.
 */
#include <errno.h>

#include "model/rv32/rv32_core.h"

enum csr {
	CSR_MSTATUS = 0x300,
	CSR_MISA = 0x301,
	CSR_MIE = 0x304,
	CSR_MTVEC = 0x305,
	CSR_MSTATUSH = 0x310,
	CSR_MCOUNTINHIBIT = 0x320,
	CSR_MHPMEVENT3 = 0x323,
	CSR_MHPMEVENT31 = 0x33f,
	CSR_MSCRATCH = 0x340,
	CSR_MEPC = 0x341,
	CSR_MCAUSE = 0x342,
	CSR_MTVAL = 0x343,
	CSR_MIP = 0x344,
	CSR_PMPCFG0 = 0x3a0,
	CSR_PMPADDR0 = 0x3b0,
	CSR_PMPADDR63 = 0x3ef,
	CSR_TSELECT = 0x7a0,
	CSR_TDATA3 = 0x7a3,
	CSR_MCYCLE = 0xb00,
	CSR_MINSTRET = 0xb02,
	CSR_MHPMCOUNTER3 = 0xb03,
	CSR_MHPMCOUNTER31 = 0xb1f,
	CSR_MCYCLEH = 0xb80,
	CSR_MINSTRETH = 0xb82,
	CSR_MHPMCOUNTER3H = 0xb83,
	CSR_MHPMCOUNTER31H = 0xb9f,
	CSR_CYCLE = 0xc00,
	CSR_TIME = 0xc01,
	CSR_INSTRET = 0xc02,
	CSR_CYCLEH = 0xc80,
	CSR_TIMEH = 0xc81,
	CSR_INSTRETH = 0xc82,
	CSR_MVENDORID = 0xf11,
	CSR_MCONFIGPTR = 0xf15,
};

enum {
	MISA_MXL_32 = 1u << 30,
	MISA_IMC = 1 << ('I' - 'A') | 1 << ('M' - 'A') | 1 << ('C' - 'A'),
	COUNTINHIBIT_CY = 1 << 0,
	COUNTINHIBIT_IR = 1 << 2,
};

static bool between(unsigned csr, unsigned first, unsigned last)
{
	return csr >= first && csr <= last;
}

/* CSRs that exist and always read as zero; writes have no effect. */
static bool reads_zero(unsigned csr)
{
	return csr == CSR_MSTATUSH || between(csr, CSR_MHPMEVENT3, CSR_MHPMEVENT31) ||
	       between(csr, CSR_PMPCFG0, CSR_PMPADDR63) || between(csr, CSR_TSELECT, CSR_TDATA3) ||
	       between(csr, CSR_MHPMCOUNTER3, CSR_MHPMCOUNTER31) ||
	       between(csr, CSR_MHPMCOUNTER3H, CSR_MHPMCOUNTER31H) ||
	       between(csr, CSR_MVENDORID, CSR_MCONFIGPTR);
}

void rv_csr_count(struct rv_core *core)
{
	uint64_t more = core->done - core->counted;

	if (!(core->mcountinhibit & COUNTINHIBIT_CY))
		core->mcycle += more;
	if (!(core->mcountinhibit & COUNTINHIBIT_IR))
		core->minstret += more;
	core->counted = core->done;
}

static int read_counter(const struct rv_core *core, unsigned csr, uint32_t *value)
{
	switch (csr) {
	case CSR_MCYCLE:
	case CSR_CYCLE:
		*value = (uint32_t)core->mcycle;
		return 0;
	case CSR_MCYCLEH:
	case CSR_CYCLEH:
		*value = (uint32_t)(core->mcycle >> 32);
		return 0;
	case CSR_MINSTRET:
	case CSR_INSTRET:
		*value = (uint32_t)core->minstret;
		return 0;
	case CSR_MINSTRETH:
	case CSR_INSTRETH:
		*value = (uint32_t)(core->minstret >> 32);
		return 0;
	case CSR_TIME:
		*value = (uint32_t)core->time;
		return 0;
	case CSR_TIMEH:
		*value = (uint32_t)(core->time >> 32);
		return 0;
	}
	if (!reads_zero(csr))
		return -ENOENT;
	*value = 0;
	return 0;
}

int rv_csr_read(const struct rv_core *core, unsigned csr, uint32_t *value)
{
	if (between(csr, CSR_PMPADDR0, CSR_PMPADDR0 + RV_PMP_ENTRIES - 1)) {
		*value = core->pmpaddr[csr - CSR_PMPADDR0];
		return 0;
	}
	switch (csr) {
	case CSR_MSTATUS:
		*value = core->mstatus | RV_MSTATUS_MPP_M;
		return 0;
	case CSR_MISA:
		*value = MISA_MXL_32 | MISA_IMC;
		return 0;
	case CSR_MIE:
		*value = core->mie;
		return 0;
	case CSR_MTVEC:
		*value = core->mtvec;
		return 0;
	case CSR_MCOUNTINHIBIT:
		*value = core->mcountinhibit;
		return 0;
	case CSR_MSCRATCH:
		*value = core->mscratch;
		return 0;
	case CSR_MEPC:
		*value = core->mepc;
		return 0;
	case CSR_MCAUSE:
		*value = core->mcause;
		return 0;
	case CSR_MTVAL:
		*value = core->mtval;
		return 0;
	case CSR_MIP:
		*value = core->mip;
		return 0;
	}
	return read_counter(core, csr, value);
}

/* Sets a counter so that the next instruction reads @value. The instruction that writes has not
 * been counted yet, so this makes up for it. */
static void write_counter(struct rv_core *core, uint64_t *counter, unsigned inhibit, bool high,
			  uint32_t value)
{
	uint64_t now =
		high ? (uint64_t)value << 32 | (uint32_t)*counter : (*counter >> 32) << 32 | value;

	*counter = now - (core->mcountinhibit & inhibit ? 0 : 1);
}

int rv_csr_write(struct rv_core *core, unsigned csr, uint32_t value)
{
	if (between(csr, CSR_PMPADDR0, CSR_PMPADDR0 + RV_PMP_ENTRIES - 1)) {
		core->pmpaddr[csr - CSR_PMPADDR0] = value;
		return 0;
	}
	switch (csr) {
	case CSR_MSTATUS:
		core->mstatus = value & (RV_MSTATUS_MIE | RV_MSTATUS_MPIE);
		return 0;
	case CSR_MISA:
	case CSR_MIP:
		return 0;
	case CSR_MIE:
		core->mie = value & RV_IRQ_MASK;
		return 0;
	case CSR_MTVEC:
		core->mtvec = value & ~2u;
		return 0;
	case CSR_MCOUNTINHIBIT:
		core->mcountinhibit = value & (COUNTINHIBIT_CY | COUNTINHIBIT_IR);
		return 0;
	case CSR_MSCRATCH:
		core->mscratch = value;
		return 0;
	case CSR_MEPC:
		core->mepc = value & ~1u;
		return 0;
	case CSR_MCAUSE:
		core->mcause = value;
		return 0;
	case CSR_MTVAL:
		core->mtval = value;
		return 0;
	case CSR_MCYCLE:
	case CSR_MCYCLEH:
		write_counter(core, &core->mcycle, COUNTINHIBIT_CY, csr == CSR_MCYCLEH, value);
		return 0;
	case CSR_MINSTRET:
	case CSR_MINSTRETH:
		write_counter(core, &core->minstret, COUNTINHIBIT_IR, csr == CSR_MINSTRETH, value);
		return 0;
	}
	return reads_zero(csr) && csr < CSR_CYCLE ? 0 : -ENOENT;
}

int rv_core_csr(const struct rv_core *core, unsigned csr, uint32_t *value)
{
	return rv_csr_read(core, csr, value);
}

uint32_t rv_irq_due(const struct rv_core *core)
{
	uint32_t due = core->mstatus & RV_MSTATUS_MIE ? core->mie & core->mip : 0;

	if (due & 1 << RV_IRQ_MEI)
		return RV_IRQ_MEI;
	if (due & 1 << RV_IRQ_MSI)
		return RV_IRQ_MSI;
	return due ? RV_IRQ_MTI : 0;
}

static void enter(struct rv_core *core, uint32_t cause, uint32_t value, uint32_t target)
{
	core->mepc = core->pc;
	core->mcause = cause;
	core->mtval = value;
	core->mstatus = core->mstatus & RV_MSTATUS_MIE ? RV_MSTATUS_MPIE : 0;
	core->pc = target;
	if (core->calls)
		rv_calls_trap(core);
}

void rv_irq_enter(struct rv_core *core, uint32_t irq)
{
	uint32_t base = core->mtvec & ~3u;

	enter(core, 1u << 31 | irq, 0, base + (core->mtvec & 1 ? 4 * irq : 0));
}

bool rv_trap_enter(struct rv_core *core, uint32_t cause, uint32_t value)
{
	bool again = core->in_trap && core->trap.pc == core->pc && core->trap.cause == cause;

	core->trap = (struct rv_trap){core->pc, cause, value};
	if (again || !core->mtvec)
		return false;
	core->in_trap = true;
	enter(core, cause, value, core->mtvec & ~3u);
	return true;
}

const char *rv_cause_name(uint32_t cause)
{
	switch (cause) {
	case RV_CAUSE_FETCH_FAULT:
		return "instruction access fault";
	case RV_CAUSE_ILLEGAL:
		return "illegal instruction";
	case RV_CAUSE_BREAKPOINT:
		return "breakpoint";
	case RV_CAUSE_LOAD_MISALIGNED:
		return "load address misaligned";
	case RV_CAUSE_LOAD_FAULT:
		return "load access fault";
	case RV_CAUSE_STORE_MISALIGNED:
		return "store address misaligned";
	case RV_CAUSE_STORE_FAULT:
		return "store access fault";
	case RV_CAUSE_ECALL_M:
		return "environment call";
	}
	return "unknown";
}
