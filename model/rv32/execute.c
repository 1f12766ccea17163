/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter. fast() runs instructions that touch only registers and RAM. slow() does one
 * instruction of any other kind (first decode, bus, CSRs, traps, debugger) at core->pc. An
 * instruction is decoded once; the result is kept, indexed by the RAM halfword it came from, until
 * fence.i.
 */
#include <string.h>

#include "model/rv32/rv32_core.h"

/* Called for each jump, and for each branch, taken or not. A program may include this file with an
 * RV_EDGE of its own (testbench/fuzz/edges.c). */
#ifndef RV_EDGE
#define RV_EDGE(from, to) ((void)0)
#endif

enum { GO_ON = -1 }; /* a value that no enum rv_stop has */

static uint32_t divide(uint32_t a, uint32_t b)
{
	if (!b)
		return UINT32_MAX;
	if (a == 1u << 31 && b == UINT32_MAX)
		return a;
	return (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t remainder_of(uint32_t a, uint32_t b)
{
	if (!b)
		return a;
	if (b == UINT32_MAX)
		return 0;
	return (uint32_t)((int32_t)a % (int32_t)b);
}

static uint32_t high_half(int64_t product)
{
	return (uint32_t)((uint64_t)product >> 32);
}

#define RD   x[i->rd]
#define RS1  x[i->rs1]
#define RS2  x[i->rs2]
#define SRS1 ((int32_t)RS1)
#define SRS2 ((int32_t)RS2)
#define IMM  ((uint32_t)i->imm)

#define ALU(name, value)                                                                           \
	case RV_OP_##name:                                                                         \
		RD = (value);                                                                      \
		break

#define BRANCH(name, condition)                                                                    \
	case RV_OP_##name:                                                                         \
		if (!(condition)) {                                                                \
			RV_EDGE(pc, pc + i->len);                                                  \
			break;                                                                     \
		}                                                                                  \
		RV_EDGE(pc, pc + IMM);                                                             \
		pc += IMM;                                                                         \
		left--;                                                                            \
		continue

#define LOAD(name, size, type)                                                                     \
	case RV_OP_##name: {                                                                       \
		uint32_t at = RS1 + IMM - base;                                                    \
		if (at > ram_size - (size))                                                        \
			goto out;                                                                  \
		RD = (type)rv_ram_get(ram + at, size);                                             \
		break;                                                                             \
	}

#define STORE(name, size)                                                                          \
	case RV_OP_##name: {                                                                       \
		uint32_t at = RS1 + IMM - base;                                                    \
		if (at > ram_size - (size))                                                        \
			goto out;                                                                  \
		rv_ram_put(ram + at, size, RS2);                                                   \
		break;                                                                             \
	}

/* Runs up to @left instructions. Stops before the first one that needs slow(). */
static void fast(struct rv_core *core, uint64_t left)
{
	const uint32_t base = core->ram_base, ram_size = core->ram_size;
	const struct rv_insn *const insns = core->insn;
	uint8_t *const ram = core->ram;
	uint32_t *const x = core->x;
	uint32_t pc = core->pc;
	const uint64_t budget = left;

	while (left) {
		const struct rv_insn *i;
		uint32_t target;

		if (pc - base >= ram_size)
			break;
		i = &insns[(pc - base) / 2];
		switch (i->op) {
			ALU(LUI, IMM);
			ALU(AUIPC, pc + IMM);
			ALU(ADDI, RS1 + IMM);
			ALU(SLTI, SRS1 < i->imm);
			ALU(SLTIU, RS1 < IMM);
			ALU(XORI, RS1 ^ IMM);
			ALU(ORI, RS1 | IMM);
			ALU(ANDI, RS1 & IMM);
			ALU(SLLI, RS1 << IMM);
			ALU(SRLI, RS1 >> IMM);
			ALU(SRAI, (uint32_t)(SRS1 >> IMM));
			ALU(ADD, RS1 + RS2);
			ALU(SUB, RS1 - RS2);
			ALU(SLL, RS1 << (RS2 & 31));
			ALU(SLT, SRS1 < SRS2);
			ALU(SLTU, RS1 < RS2);
			ALU(XOR, RS1 ^ RS2);
			ALU(SRL, RS1 >> (RS2 & 31));
			ALU(SRA, (uint32_t)(SRS1 >> (RS2 & 31)));
			ALU(OR, RS1 | RS2);
			ALU(AND, RS1 & RS2);
			ALU(MUL, RS1 * RS2);
			ALU(MULH, high_half((int64_t)SRS1 * SRS2));
			ALU(MULHSU, high_half((int64_t)SRS1 * (int64_t)RS2));
			ALU(MULHU, (uint32_t)((uint64_t)RS1 * RS2 >> 32));
			ALU(DIV, divide(RS1, RS2));
			ALU(DIVU, RS2 ? RS1 / RS2 : UINT32_MAX);
			ALU(REM, remainder_of(RS1, RS2));
			ALU(REMU, RS2 ? RS1 % RS2 : RS1);
			BRANCH(BEQ, RS1 == RS2);
			BRANCH(BNE, RS1 != RS2);
			BRANCH(BLT, SRS1 < SRS2);
			BRANCH(BGE, SRS1 >= SRS2);
			BRANCH(BLTU, RS1 < RS2);
			BRANCH(BGEU, RS1 >= RS2);
			LOAD(LB, 1, int8_t)
			LOAD(LH, 2, int16_t)
			LOAD(LW, 4, uint32_t)
			LOAD(LBU, 1, uint32_t)
			LOAD(LHU, 2, uint32_t)
			STORE(SB, 1)
			STORE(SH, 2)
			STORE(SW, 4)
		case RV_OP_JAL:
			RD = pc + i->len;
			RV_EDGE(pc, pc + IMM);
			pc += IMM;
			left--;
			continue;
		case RV_OP_JALR:
			target = (RS1 + IMM) & ~1u;
			RD = pc + i->len;
			RV_EDGE(pc, target);
			pc = target;
			left--;
			continue;
		case RV_OP_FENCE:
			break;
		default:
			goto out;
		}
		pc += i->len;
		left--;
	}
out:
	core->pc = pc;
	core->done += budget - left;
}

static int trap(struct rv_core *core, uint32_t cause, uint32_t value)
{
	return rv_trap_enter(core, cause, value) ? GO_ON : RV_STOP_TRAP_LOOP;
}

static int retire(struct rv_core *core, unsigned len)
{
	core->pc += len;
	core->done++;
	return GO_ON;
}

static struct rv_insn *insn_at(struct rv_core *core, uint32_t pc)
{
	return rv_in_ram(core, pc, 1) ? &core->insn[(pc - core->ram_base) / 2] : NULL;
}

/* Decodes the instruction at pc in RAM. With @real, a breakpoint there is ignored. */
static int decode(struct rv_core *core, struct rv_insn *insn, bool real)
{
	uint32_t offset = core->pc - core->ram_base;
	uint32_t bits = rv_ram_get(core->ram + offset, 2);

	if (!rv_is_compressed(bits)) {
		if (!rv_in_ram(core, core->pc, 4))
			return trap(core, RV_CAUSE_FETCH_FAULT, core->pc + 2);
		bits = rv_ram_get(core->ram + offset, 4);
	}
	core->page_decoded[offset >> RV_DECODED_PAGE_LOG] = 1;
	rv_decode(bits, insn);
	if (core->calls)
		rv_calls_mark(core, insn);
	if (!real && rv_has_breakpoint(core, core->pc))
		insn->op = RV_OP_BREAKPOINT;
	return GO_ON;
}

/* RV_BUS_OK: the access is done; else *@stop says how slow() ends. */
static int bus_result(struct rv_core *core, int result, uint32_t cause, uint32_t addr, int *stop)
{
	core->bus_busy = result == RV_BUS_WAIT;
	if (result == RV_BUS_WAIT)
		*stop = RV_STOP_WAIT;
	else if (result != RV_BUS_OK)
		*stop = trap(core, cause, addr);
	return result;
}

static int bus_load(struct rv_core *core, const struct rv_insn *i)
{
	bool narrow = i->op == RV_OP_LB || i->op == RV_OP_LBU;
	unsigned size = narrow ? 1 : i->op == RV_OP_LW ? 4 : 2;
	uint32_t addr = core->x[i->rs1] + (uint32_t)i->imm, value = 0;
	int result = RV_BUS_FAULT, stop = GO_ON;

	if (addr & (size - 1))
		return trap(core, RV_CAUSE_LOAD_MISALIGNED, addr);
	if (core->done)
		return RV_STOP_SYNC;
	if (core->bus.load)
		result = core->bus.load(core->bus.ctx, addr, size, &value);
	if (bus_result(core, result, RV_CAUSE_LOAD_FAULT, addr, &stop) != RV_BUS_OK)
		return stop;
	if (i->op == RV_OP_LB)
		value = (uint32_t)(int8_t)value;
	else if (i->op == RV_OP_LH)
		value = (uint32_t)(int16_t)value;
	core->x[i->rd] = value;
	return retire(core, i->len);
}

static int bus_store(struct rv_core *core, const struct rv_insn *i)
{
	unsigned size = i->op == RV_OP_SB ? 1 : i->op == RV_OP_SH ? 2 : 4;
	uint32_t addr = core->x[i->rs1] + (uint32_t)i->imm;
	uint32_t value = core->x[i->rs2] & (UINT32_MAX >> (32 - 8 * size));
	int result = RV_BUS_FAULT, stop = GO_ON;

	if (addr & (size - 1))
		return trap(core, RV_CAUSE_STORE_MISALIGNED, addr);
	if (core->done)
		return RV_STOP_SYNC;
	if (core->bus.store)
		result = core->bus.store(core->bus.ctx, addr, size, value);
	if (bus_result(core, result, RV_CAUSE_STORE_FAULT, addr, &stop) != RV_BUS_OK)
		return stop;
	return retire(core, i->len);
}

static int csr_access(struct rv_core *core, const struct rv_insn *i)
{
	uint32_t source = i->op >= RV_OP_CSRRWI ? i->rs1 : core->x[i->rs1];
	bool swap = i->op == RV_OP_CSRRW || i->op == RV_OP_CSRRWI;
	bool set = i->op == RV_OP_CSRRS || i->op == RV_OP_CSRRSI;
	unsigned csr = (unsigned)i->imm;
	uint32_t old, value;

	rv_csr_count(core);
	if (rv_csr_read(core, csr, &old))
		goto illegal;
	value = swap ? source : set ? old | source : old & ~source;
	if ((swap || i->rs1) && rv_csr_write(core, csr, value))
		goto illegal;
	core->x[i->rd] = old;
	return retire(core, i->len);
illegal:
	return trap(core, RV_CAUSE_ILLEGAL, rv_ram_get(core->ram + (core->pc - core->ram_base), 4));
}

static int mret(struct rv_core *core)
{
	core->mstatus = RV_MSTATUS_MPIE | (core->mstatus & RV_MSTATUS_MPIE ? RV_MSTATUS_MIE : 0);
	core->in_trap = false;
	core->pc = core->mepc;
	retire(core, 0);
	if (core->calls)
		rv_calls_mret(core);
	return GO_ON;
}

static int watched_jump(struct rv_core *core, const struct rv_insn *i)
{
	uint32_t ra = core->pc + i->len,
		 base = i->op == RV_OP_JAL_WATCHED ? core->pc : core->x[i->rs1];

	RV_EDGE(core->pc, (base + (uint32_t)i->imm) & ~1u);
	core->x[i->rd] = ra;
	core->pc = (base + (uint32_t)i->imm) & ~1u;
	retire(core, 0);
	rv_calls_jumped(core, i, ra);
	return GO_ON;
}

static int ebreak(struct rv_core *core)
{
	if (core->debugged && !core->over_breakpoint)
		return RV_STOP_DEBUG;
	return trap(core, RV_CAUSE_BREAKPOINT, core->pc);
}

static int slow(struct rv_core *core)
{
	struct rv_insn *i = insn_at(core, core->pc);

	if (!i)
		return trap(core, RV_CAUSE_FETCH_FAULT, core->pc);
	switch (i->op) {
	case RV_OP_UNDECODED:
		return decode(core, i, false);
	case RV_OP_BREAKPOINT:
		return RV_STOP_DEBUG;
	case RV_OP_JAL_WATCHED:
	case RV_OP_JALR_WATCHED:
		return watched_jump(core, i);
	case RV_OP_LB:
	case RV_OP_LH:
	case RV_OP_LW:
	case RV_OP_LBU:
	case RV_OP_LHU:
		return bus_load(core, i);
	case RV_OP_SB:
	case RV_OP_SH:
	case RV_OP_SW:
		return bus_store(core, i);
	case RV_OP_FENCE_I:
		retire(core, i->len);
		rv_core_flush_decoded(core);
		return GO_ON;
	case RV_OP_ECALL:
		return trap(core, RV_CAUSE_ECALL_M, 0);
	case RV_OP_EBREAK:
		return ebreak(core);
	case RV_OP_MRET:
		return mret(core);
	case RV_OP_WFI:
		core->waiting = true;
		return retire(core, i->len);
	case RV_OP_ILLEGAL:
		return trap(core, RV_CAUSE_ILLEGAL, (uint32_t)i->imm);
	}
	return csr_access(core, i);
}

/* Runs one instruction, or enters its trap. Ignores a breakpoint at pc. */
static int run_one(struct rv_core *core)
{
	struct rv_insn *insn = insn_at(core, core->pc);
	uint64_t done = core->done;
	int stop = insn ? decode(core, insn, true) : GO_ON;

	if (stop == GO_ON) {
		fast(core, 1);
		if (core->done == done)
			stop = slow(core);
	}
	if (insn)
		insn->op = RV_OP_UNDECODED;
	if (stop == RV_STOP_WAIT || stop == RV_STOP_SYNC)
		return stop;
	core->over_breakpoint = false;
	if (stop == GO_ON && core->step)
		stop = RV_STOP_DEBUG;
	core->step = false;
	return stop;
}

static enum rv_stop run(struct rv_core *core, uint64_t max)
{
	for (;;) {
		uint32_t irq = core->bus_busy ? 0 : rv_irq_due(core);
		int stop = GO_ON;

		core->waiting = core->waiting && !(core->mie & core->mip);
		if (core->waiting)
			return RV_STOP_WFI;
		if (irq) {
			rv_irq_enter(core, irq);
			core->over_breakpoint = false;
			if (core->step) {
				core->step = false;
				return RV_STOP_DEBUG;
			}
		}
		if (core->done >= max)
			return RV_STOP_BUDGET;
		if (core->step || core->over_breakpoint) {
			stop = run_one(core);
		} else {
			fast(core, max - core->done);
			if (core->done < max)
				stop = slow(core);
		}
		if (stop != GO_ON)
			return (enum rv_stop)stop;
	}
}

enum rv_stop rv_core_run(struct rv_core *core, uint64_t max_instructions, uint64_t *retired)
{
	enum rv_stop stop;

	core->done = 0;
	core->counted = 0;
	if (core->calls)
		rv_calls_begin(core);
	stop = run(core, max_instructions);
	rv_csr_count(core);
	*retired = core->done;
	if (stop == RV_STOP_DEBUG)
		core->over_breakpoint = true;
	return stop;
}
