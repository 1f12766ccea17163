/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expands compressed instructions to the 32-bit instructions they stand for. Source: RISC-V
 * unprivileged specification, chapter 16 (C extension). Hints (a destination of x0, a shift by 0)
 * expand to instructions without effect. Reserved encodings, encodings of other extensions (F, D,
 * RV64) and shifts by 32 or more give 0.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/rv32/rv32_ops.h"

enum { X0 = 0, RA = 1, SP = 2 };

enum opcode {
	LOAD = 0x03,
	OP_IMM = 0x13,
	STORE = 0x23,
	OP = 0x33,
	LUI = 0x37,
	BRANCH = 0x63,
	JALR = 0x67,
	JAL = 0x6f,
	SYSTEM = 0x73,
};

/* Takes @count bits of @bits, starting at bit @from, and moves them to bit @to. */
static uint32_t move(uint32_t bits, unsigned from, unsigned count, unsigned to)
{
	return ((bits >> from) & ((1u << count) - 1)) << to;
}

static uint32_t sign(uint32_t value, unsigned bits)
{
	return (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
}

static uint32_t enc_i(enum opcode opcode, unsigned funct3, unsigned rd, unsigned rs1, uint32_t imm)
{
	return imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t enc_r(unsigned funct7, unsigned funct3, unsigned rd, unsigned rs1, unsigned rs2)
{
	return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | OP;
}

static uint32_t enc_sw(unsigned rs1, unsigned rs2, uint32_t imm)
{
	return move(imm, 5, 7, 25) | rs2 << 20 | rs1 << 15 | 2 << 12 | move(imm, 0, 5, 7) | STORE;
}

static uint32_t enc_branch(unsigned funct3, unsigned rs1, uint32_t imm)
{
	return move(imm, 12, 1, 31) | move(imm, 5, 6, 25) | rs1 << 15 | funct3 << 12 |
	       move(imm, 1, 4, 8) | move(imm, 11, 1, 7) | BRANCH;
}

static uint32_t enc_jal(unsigned rd, uint32_t imm)
{
	return move(imm, 20, 1, 31) | move(imm, 1, 10, 21) | move(imm, 11, 1, 20) |
	       move(imm, 12, 8, 12) | rd << 7 | JAL;
}

static uint32_t imm_6(uint32_t c)
{
	return sign(move(c, 12, 1, 5) | move(c, 2, 5, 0), 6);
}

static uint32_t imm_jump(uint32_t c)
{
	return sign(move(c, 12, 1, 11) | move(c, 11, 1, 4) | move(c, 9, 2, 8) | move(c, 8, 1, 10) |
			    move(c, 7, 1, 6) | move(c, 6, 1, 7) | move(c, 3, 3, 1) |
			    move(c, 2, 1, 5),
		    12);
}

static uint32_t imm_branch(uint32_t c)
{
	return sign(move(c, 12, 1, 8) | move(c, 10, 2, 3) | move(c, 5, 2, 6) | move(c, 3, 2, 1) |
			    move(c, 2, 1, 5),
		    9);
}

static uint32_t quadrant0(uint32_t c)
{
	unsigned rd = 8 + move(c, 2, 3, 0), rs1 = 8 + move(c, 7, 3, 0);
	uint32_t word = move(c, 10, 3, 3) | move(c, 6, 1, 2) | move(c, 5, 1, 6);
	uint32_t sp4 = move(c, 11, 2, 4) | move(c, 7, 4, 6) | move(c, 6, 1, 2) | move(c, 5, 1, 3);

	switch (c >> 13) {
	case 0: /* C.ADDI4SPN */
		return sp4 ? enc_i(OP_IMM, 0, rd, SP, sp4) : 0;
	case 2: /* C.LW */
		return enc_i(LOAD, 2, rd, rs1, word);
	case 6: /* C.SW */
		return enc_sw(rs1, rd, word);
	}
	return 0;
}

/* C.SRLI, C.SRAI, C.ANDI, C.SUB, C.XOR, C.OR, C.AND */
static uint32_t arithmetic(uint32_t c)
{
	static const uint8_t funct3[4] = {0, 4, 6, 7};
	unsigned rd = 8 + move(c, 7, 3, 0), rs2 = 8 + move(c, 2, 3, 0);
	unsigned kind = move(c, 10, 2, 0), which = move(c, 5, 2, 0);
	bool bit12 = move(c, 12, 1, 0);

	if (kind == 2)
		return enc_i(OP_IMM, 7, rd, rd, imm_6(c));
	if (bit12)
		return 0;
	if (kind == 3)
		return enc_r(which ? 0 : 0x20, funct3[which], rd, rd, rs2);
	return enc_i(OP_IMM, 5, rd, rd, (kind == 1 ? 0x400 : 0) | move(c, 2, 5, 0));
}

static uint32_t addi16sp_or_lui(uint32_t c, unsigned rd)
{
	uint32_t sp16 = sign(move(c, 12, 1, 9) | move(c, 6, 1, 4) | move(c, 5, 1, 6) |
				     move(c, 3, 2, 7) | move(c, 2, 1, 5),
			     10);

	if (!imm_6(c))
		return 0;
	if (rd == SP)
		return enc_i(OP_IMM, 0, SP, SP, sp16);
	return imm_6(c) << 12 | rd << 7 | LUI;
}

static uint32_t quadrant1(uint32_t c)
{
	unsigned rd = move(c, 7, 5, 0), rs1 = 8 + move(c, 7, 3, 0);

	switch (c >> 13) {
	case 0: /* C.ADDI, C.NOP */
		return enc_i(OP_IMM, 0, rd, rd, imm_6(c));
	case 1: /* C.JAL */
		return enc_jal(RA, imm_jump(c));
	case 2: /* C.LI */
		return enc_i(OP_IMM, 0, rd, X0, imm_6(c));
	case 3:
		return addi16sp_or_lui(c, rd);
	case 4:
		return arithmetic(c);
	case 5: /* C.J */
		return enc_jal(X0, imm_jump(c));
	case 6: /* C.BEQZ */
		return enc_branch(0, rs1, imm_branch(c));
	default: /* C.BNEZ */
		return enc_branch(1, rs1, imm_branch(c));
	}
}

/* C.JR, C.MV, C.EBREAK, C.JALR, C.ADD */
static uint32_t jump_or_move(uint32_t c, unsigned rd, unsigned rs2)
{
	bool bit12 = move(c, 12, 1, 0);

	if (rs2)
		return enc_r(0, 0, rd, bit12 ? rd : X0, rs2);
	if (rd)
		return enc_i(JALR, 0, bit12 ? RA : X0, rd, 0);
	return bit12 ? enc_i(SYSTEM, 0, X0, X0, 1) : 0;
}

static uint32_t quadrant2(uint32_t c)
{
	unsigned rd = move(c, 7, 5, 0), rs2 = move(c, 2, 5, 0);
	uint32_t load = move(c, 12, 1, 5) | move(c, 4, 3, 2) | move(c, 2, 2, 6);
	uint32_t store = move(c, 9, 4, 2) | move(c, 7, 2, 6);

	switch (c >> 13) {
	case 0: /* C.SLLI */
		return move(c, 12, 1, 0) ? 0 : enc_i(OP_IMM, 1, rd, rd, rs2);
	case 2: /* C.LWSP */
		return rd ? enc_i(LOAD, 2, rd, SP, load) : 0;
	case 4:
		return jump_or_move(c, rd, rs2);
	case 6: /* C.SWSP */
		return enc_sw(SP, rs2, store);
	}
	return 0;
}

uint32_t rv_expand_compressed(uint16_t bits)
{
	switch (bits & 3) {
	case 0:
		return quadrant0(bits);
	case 1:
		return quadrant1(bits);
	case 2:
		return quadrant2(bits);
	}
	return 0;
}
