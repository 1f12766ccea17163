/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes an instruction into a struct rv_insn. execute.c keeps the result, so each instruction is
 * decoded only once. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/interface/macros.h"
#include "model/rv32/rv32_ops.h"

enum format { FMT_R, FMT_I, FMT_S, FMT_B, FMT_U, FMT_J, FMT_SHAMT, FMT_CSR, FMT_NONE };

static const struct row {
	uint32_t mask;
	uint32_t match;
	uint8_t op;
	uint8_t format;
} rows[] = {
#define ROW(name, format, mask, match) {mask, match, RV_OP_##name, FMT_##format},
	RV_OPS(ROW)
#undef ROW
};

static int32_t sign_extend(uint32_t value, unsigned bits)
{
	return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static uint32_t field(uint32_t bits, unsigned low, unsigned count)
{
	return (bits >> low) & ((1u << count) - 1);
}

static int32_t imm_s(uint32_t bits)
{
	return sign_extend(field(bits, 25, 7) << 5 | field(bits, 7, 5), 12);
}

static int32_t imm_b(uint32_t bits)
{
	return sign_extend(field(bits, 31, 1) << 12 | field(bits, 7, 1) << 11 |
				   field(bits, 25, 6) << 5 | field(bits, 8, 4) << 1,
			   13);
}

static int32_t imm_j(uint32_t bits)
{
	return sign_extend(field(bits, 31, 1) << 20 | field(bits, 12, 8) << 12 |
				   field(bits, 20, 1) << 11 | field(bits, 21, 10) << 1,
			   21);
}

static int32_t immediate(enum format format, uint32_t bits)
{
	switch (format) {
	case FMT_I:
		return sign_extend(field(bits, 20, 12), 12);
	case FMT_S:
		return imm_s(bits);
	case FMT_B:
		return imm_b(bits);
	case FMT_U:
		return (int32_t)(bits & 0xfffff000);
	case FMT_J:
		return imm_j(bits);
	case FMT_SHAMT:
		return (int32_t)field(bits, 20, 5);
	case FMT_CSR:
		return (int32_t)field(bits, 20, 12);
	case FMT_R:
	case FMT_NONE:
		break;
	}
	return 0;
}

void rv_decode(uint32_t bits, struct rv_insn *insn)
{
	bool compressed = rv_is_compressed(bits);
	uint32_t full = compressed ? rv_expand_compressed((uint16_t)bits) : bits;
	uint32_t rd = field(full, 7, 5);

	*insn = (struct rv_insn){.op = RV_OP_ILLEGAL, .len = compressed ? 2 : 4};
	insn->imm = (int32_t)(compressed ? bits & 0xffff : bits);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if ((full & rows[i].mask) != rows[i].match)
			continue;
		insn->op = rows[i].op;
		insn->rd = rd ? rd : RV_X_NONE;
		insn->rs1 = field(full, 15, 5);
		insn->rs2 = field(full, 20, 5);
		insn->imm = immediate(rows[i].format, full);
		return;
	}
}
