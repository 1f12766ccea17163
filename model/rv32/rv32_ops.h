/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions, one row each: name, operand format, mask and match of the 32-bit encoding.
 * Compressed instructions are expanded to these first. Source: RISC-V unprivileged specification,
 * chapter 24 (listings).
 */
#ifndef MODEL_RV32_RV32_OPS_H
#define MODEL_RV32_RV32_OPS_H

#define RV_OPS(X)                                                                                  \
	X(LUI, U, 0x0000007f, 0x00000037)                                                          \
	X(AUIPC, U, 0x0000007f, 0x00000017)                                                        \
	X(JAL, J, 0x0000007f, 0x0000006f)                                                          \
	X(JALR, I, 0x0000707f, 0x00000067)                                                         \
	X(BEQ, B, 0x0000707f, 0x00000063)                                                          \
	X(BNE, B, 0x0000707f, 0x00001063)                                                          \
	X(BLT, B, 0x0000707f, 0x00004063)                                                          \
	X(BGE, B, 0x0000707f, 0x00005063)                                                          \
	X(BLTU, B, 0x0000707f, 0x00006063)                                                         \
	X(BGEU, B, 0x0000707f, 0x00007063)                                                         \
	X(LB, I, 0x0000707f, 0x00000003)                                                           \
	X(LH, I, 0x0000707f, 0x00001003)                                                           \
	X(LW, I, 0x0000707f, 0x00002003)                                                           \
	X(LBU, I, 0x0000707f, 0x00004003)                                                          \
	X(LHU, I, 0x0000707f, 0x00005003)                                                          \
	X(SB, S, 0x0000707f, 0x00000023)                                                           \
	X(SH, S, 0x0000707f, 0x00001023)                                                           \
	X(SW, S, 0x0000707f, 0x00002023)                                                           \
	X(ADDI, I, 0x0000707f, 0x00000013)                                                         \
	X(SLTI, I, 0x0000707f, 0x00002013)                                                         \
	X(SLTIU, I, 0x0000707f, 0x00003013)                                                        \
	X(XORI, I, 0x0000707f, 0x00004013)                                                         \
	X(ORI, I, 0x0000707f, 0x00006013)                                                          \
	X(ANDI, I, 0x0000707f, 0x00007013)                                                         \
	X(SLLI, SHAMT, 0xfe00707f, 0x00001013)                                                     \
	X(SRLI, SHAMT, 0xfe00707f, 0x00005013)                                                     \
	X(SRAI, SHAMT, 0xfe00707f, 0x40005013)                                                     \
	X(ADD, R, 0xfe00707f, 0x00000033)                                                          \
	X(SUB, R, 0xfe00707f, 0x40000033)                                                          \
	X(SLL, R, 0xfe00707f, 0x00001033)                                                          \
	X(SLT, R, 0xfe00707f, 0x00002033)                                                          \
	X(SLTU, R, 0xfe00707f, 0x00003033)                                                         \
	X(XOR, R, 0xfe00707f, 0x00004033)                                                          \
	X(SRL, R, 0xfe00707f, 0x00005033)                                                          \
	X(SRA, R, 0xfe00707f, 0x40005033)                                                          \
	X(OR, R, 0xfe00707f, 0x00006033)                                                           \
	X(AND, R, 0xfe00707f, 0x00007033)                                                          \
	X(MUL, R, 0xfe00707f, 0x02000033)                                                          \
	X(MULH, R, 0xfe00707f, 0x02001033)                                                         \
	X(MULHSU, R, 0xfe00707f, 0x02002033)                                                       \
	X(MULHU, R, 0xfe00707f, 0x02003033)                                                        \
	X(DIV, R, 0xfe00707f, 0x02004033)                                                          \
	X(DIVU, R, 0xfe00707f, 0x02005033)                                                         \
	X(REM, R, 0xfe00707f, 0x02006033)                                                          \
	X(REMU, R, 0xfe00707f, 0x02007033)                                                         \
	X(FENCE, NONE, 0x0000707f, 0x0000000f)                                                     \
	X(FENCE_I, NONE, 0x0000707f, 0x0000100f)                                                   \
	X(CSRRW, CSR, 0x0000707f, 0x00001073)                                                      \
	X(CSRRS, CSR, 0x0000707f, 0x00002073)                                                      \
	X(CSRRC, CSR, 0x0000707f, 0x00003073)                                                      \
	X(CSRRWI, CSR, 0x0000707f, 0x00005073)                                                     \
	X(CSRRSI, CSR, 0x0000707f, 0x00006073)                                                     \
	X(CSRRCI, CSR, 0x0000707f, 0x00007073)                                                     \
	X(ECALL, NONE, 0xffffffff, 0x00000073)                                                     \
	X(EBREAK, NONE, 0xffffffff, 0x00100073)                                                    \
	X(MRET, NONE, 0xffffffff, 0x30200073)                                                      \
	X(WFI, NONE, 0xffffffff, 0x10500073)

enum rv_op {
	RV_OP_UNDECODED, /* 0, the value of zeroed memory */
	RV_OP_ILLEGAL,
	RV_OP_BREAKPOINT, /* a debugger's breakpoint replaces the instruction */
	/* jumps that may be calls or returns, while somebody watches calls; slow() does them */
	RV_OP_JAL_WATCHED,
	RV_OP_JALR_WATCHED,
#define RV_OP_ENUM(name, format, mask, match) RV_OP_##name,
	RV_OPS(RV_OP_ENUM)
#undef RV_OP_ENUM
};

/* A decoded instruction. For some formats @imm is the CSR number or the encoding of an illegal
 * instruction. */
struct rv_insn {
	uint8_t op;
	uint8_t len; /* bytes */
	uint8_t rd;  /* RV_X_NONE for x0 */
	uint8_t rs1; /* or the 5-bit immediate of CSRRWI.. */
	uint8_t rs2;
	int32_t imm;
};

/* Instructions whose destination is x0 write to this spare register instead, so x0 stays zero. */
enum { RV_X_NONE = 32 };

/* @bits: 32 bits at the pc, of which a compressed instruction uses the low half. */
void rv_decode(uint32_t bits, struct rv_insn *insn);
/* The 32-bit instruction with the same effect, or 0 (an illegal encoding) if RV32IMC does not
 * define one. */
uint32_t rv_expand_compressed(uint16_t bits);

static inline bool rv_is_compressed(uint32_t bits)
{
	return (bits & 3) != 3;
}

#endif
