/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI identity, BARs, registers, doorbells and doorbell records of an mlx4 (ConnectX-3) function in
 * native mode.
 *
 * Registers are big-endian 32-bit words: the byte at the lowest address is bits 31:24. Every access
 * to BAR0 is 32 bits wide. The MSI-X table and configuration space are little-endian, as PCI has
 * them. Source: Linux mlx4 driver (reset.c, catas.c, main.c, eq.c, cmd.c, doorbell.h), rdma-core
 * libmlx4. The offsets of the error buffer and of the clear-interrupt register, and the content of
 * the error buffer, are this device's own choice; QUERY_FW tells the driver the offsets.
 */
#ifndef MODEL_INTERFACE_REGS_H
#define MODEL_INTERFACE_REGS_H

#include "model/interface/field.h"

enum hca_pci {
	HCA_PCI_VENDOR = 0x15b3,
	HCA_PCI_DEVICE = 0x1003,     /* ConnectX-3 */
	HCA_PCI_DEVICE_PRO = 0x1007, /* ConnectX-3 Pro */
	HCA_PCI_REVISION = 0x00,
	HCA_PCI_CLASS = 0x028000, /* base class, subclass, programming interface */
	HCA_PCI_SUBSYSTEM_VENDOR = 0x15b3,
	HCA_PCI_SUBSYSTEM = 0x0049,
	HCA_PCI_INTA_PIN = 1,
	/* offsets of the capabilities in configuration space, as on silicon */
	HCA_PCI_CAP_PM = 0x40,
	HCA_PCI_CAP_EXPRESS = 0x60,
	HCA_PCI_CAP_MSIX = 0x9c,
	/* On silicon these two words are the gateway to flash. The driver leaves them out when it
	 * restores configuration space. */
	HCA_PCI_GATEWAY_ADDR = 0x58,
	HCA_PCI_GATEWAY_DATA = 0x5c,
};

enum hca_bar {
	HCA_BAR_REGS = 0, /* BAR0 and BAR1: device control space, 64-bit memory */
	HCA_BAR_UAR =
		2, /* BAR2 and BAR3: UAR pages, then BlueFlame pages; 64-bit prefetchable memory */
};

enum hca_bar_sizes {
	HCA_BAR0_SIZE = 0x100000,
	HCA_LOG_UAR_MIB = 2, /* QUERY_DEV_CAP uar_sz: UAR area of 1 MiB << n */
	HCA_UAR_AREA_SIZE = 0x100000 << HCA_LOG_UAR_MIB,
	HCA_BAR2_SIZE = 2 * HCA_UAR_AREA_SIZE,
	UAR_PAGE_SIZE = 4096,
	HCA_UAR_PAGES = HCA_UAR_AREA_SIZE / UAR_PAGE_SIZE,
	HCA_UAR_EQ_PAGES = 128, /* pages for EQ doorbells; the pages behind them are for users */
	HCA_BF_OFFSET =
		HCA_UAR_AREA_SIZE, /* BlueFlame page of UAR n: HCA_BF_OFFSET + n * UAR_PAGE_SIZE */
};

enum hca_msix {
	HCA_MSIX_VECTORS = 128,
	HCA_MSIX_BAR = HCA_BAR_REGS,
	HCA_MSIX_ENTRY_SIZE = 16,
};

/* clang-format off */

/* R(NAME, offset in BAR0, bytes, access of software, meaning) */
#define BAR0_REGS(R) \
	R(MSIX_TABLE, 0x7c000, 0x800, "rw", "MSI-X table, little-endian, 16 bytes a vector") \
	R(MSIX_PBA,   0x7d000, 0x010, "r",  "MSI-X pending bits, little-endian") \
	R(HCR,        0x80680, 0x01c, "rw", "command register, layout hcr") \
	R(OWNERSHIP,  0x8069c, 0x004, "rw", "a read that returns 0 makes the reader the owner of the device; writing 0 gives it back") \
	R(CLR_INT,    0x80800, 0x008, "w",  "clears INTx: bit (pin mod 32) of the dword at +4 for a pin below 32, else of the dword at +0") \
	R(ERR_BUF,    0x80a00, 0x040, "r",  "catastrophic error buffer, layout err_buf; its first dword is 0 while there is no error") \
	R(CLOCK,      0x90000, 0x008, "r",  "core clock: cycles since power-on, the more significant dword first; it has a page of its own that users may map") \
	R(RESET,      0xf0010, 0x004, "w",  "bit 0 resets the device") \
	R(SEMAPHORE,  0xf03fc, 0x004, "r",  "flash semaphore; 0: free; a reset releases it")

#define HCR_FIELDS(F, A, B, U, E) \
	F(hcr, 64, in_param,  0x00, 63,  0, "bus address of the input mailbox, or the immediate input") \
	F(hcr, 32, in_mod,    0x08, 31,  0, "input modifier") \
	F(hcr, 64, out_param, 0x0c, 63,  0, "bus address of the output mailbox, or the immediate output") \
	F(hcr, 16, token,     0x14, 15,  0, "the device returns it in the completion event") \
	F(hcr, 32, status,    0x18, 31, 24, "status, set by the device") \
	F(hcr, 32, go,        0x18, 23, 23, "set by software, cleared by the device") \
	F(hcr, 32, event,     0x18, 22, 22, "the device reports the completion by an event") \
	F(hcr, 32, toggle,    0x18, 21, 21, "stays as written; 0 after reset") \
	F(hcr, 32, op_mod,    0x18, 15, 12, "opcode modifier") \
	F(hcr, 32, opcode,    0x18, 11,  0, "opcode")

#define ERR_BUF_CAUSES(K) \
	K(ERR_BUF, NONE,     0, "no error") \
	K(ERR_BUF, TRAP,     1, "the firmware trapped") \
	K(ERR_BUF, WATCHDOG, 2, "the firmware did not write its watchdog in time") \
	K(ERR_BUF, EQ_OVERFLOW, 3, "an EQ overflowed; events are lost") \
	K(ERR_BUF, FIRMWARE, 4, "the firmware stopped the chip") \
	K(ERR_BUF, INJECTED, 5, "a fault plan stopped the chip") \
	K(ERR_BUF, MEMORY,   6, "the simulator has no memory left for this device")

#define ERR_BUF_FIELDS(F, A, B, U, E) \
	F(err_buf, 32, cause,  0x00, 31, 0, "what failed; not 0 after an error") \
	F(err_buf, 32, pc,     0x04, 31, 0, "program counter of the firmware") \
	F(err_buf, 32, mcause, 0x08, 31, 0, "cause of its last trap; 0: none") \
	F(err_buf, 32, mtval,  0x0c, 31, 0, "value of its last trap") \
	F(err_buf, 32, ra,     0x10, 31, 0, "return address") \
	F(err_buf, 32, sp,     0x14, 31, 0, "stack pointer") \
	F(err_buf, 32, opcode, 0x18, 31, 0, "opcode of the HCR command in execution; 0: none") \
	F(err_buf, 32, in_mod, 0x1c, 31, 0, "its input modifier") \
	F(err_buf, 32, detail, 0x20, 31, 0, "number of the EQ that overflowed, or the firmware's own reason") \
	F(err_buf, 32, mepc,   0x24, 31, 0, "program counter at its last trap") \
	B(err_buf,     more,   0x28, 0x18,  "reserved")

#define SEND_DB_FIELDS(F, A, B, U, E) \
	F(send_db, 32, qpn, 0x0, 31, 8, "number of the QP whose send queue has work")

#define CQ_ARM_CMDS(K) \
	K(CQ_ARM, NONE,      0, "not armed") \
	K(CQ_ARM, SOLICITED, 1, "the next solicited or failed completion") \
	K(CQ_ARM, NEXT,      2, "the next completion") \
	K(CQ_ARM, N,         3, "after n completions; not used")

#define CQ_ARM_DB_FIELDS(F, A, B, U, E) \
	F(cq_arm_db, 32, sn,  0x0, 29, 28, "arm sequence number") \
	F(cq_arm_db, 32, cmd, 0x0, 26, 24, "kind of completion to wait for") \
	F(cq_arm_db, 32, cqn, 0x0, 23,  0, "CQ number") \
	F(cq_arm_db, 32, ci,  0x4, 23,  0, "consumer index")

#define EQ_DB_FIELDS(F, A, B, U, E) \
	F(eq_db, 32, arm, 0x0, 31, 31, "arm request") \
	F(eq_db, 32, ci,  0x0, 23,  0, "consumer index")

#define CQ_DBREC_FIELDS(F, A, B, U, E) \
	F(cq_dbrec, 32, set_ci,  0x0, 23,  0, "consumer index") \
	F(cq_dbrec, 32, arm_sn,  0x4, 29, 28, "arm sequence number") \
	F(cq_dbrec, 32, arm_cmd, 0x4, 26, 24, "kind of completion to wait for") \
	F(cq_dbrec, 32, arm_ci,  0x4, 23,  0, "consumer index at arming")

#define RQ_DBREC_FIELDS(F, A, B, U, E) \
	F(rq_dbrec, 32, counter, 0x0, 15, 0, "receives posted since reset, modulo 2^16; for RQ and SRQ")

#define REG_LAYOUTS(L) \
	L(hcr,       0x1c, HCR_FIELDS,       "command register") \
	L(err_buf,   0x40, ERR_BUF_FIELDS,   "catastrophic error buffer") \
	L(send_db,   0x04, SEND_DB_FIELDS,   "send doorbell") \
	L(cq_arm_db, 0x08, CQ_ARM_DB_FIELDS, "CQ arm doorbell") \
	L(eq_db,     0x04, EQ_DB_FIELDS,     "EQ doorbell") \
	L(cq_dbrec,  0x08, CQ_DBREC_FIELDS,  "CQ doorbell record") \
	L(rq_dbrec,  0x04, RQ_DBREC_FIELDS,  "RQ or SRQ doorbell record")

#define REG_CODES(T) \
	T(err_buf_cause, ERR_BUF_CAUSES) \
	T(cq_arm_cmd,    CQ_ARM_CMDS)

/* clang-format on */

#define BAR0_ENUM(name, offset, size, access, meaning)                                             \
	BAR0_##name = (offset), BAR0_##name##_SIZE = (size),
enum bar0_reg { BAR0_REGS(BAR0_ENUM) };

REG_LAYOUTS(LAYOUT_DEFINE)
REG_CODES(CODES_DEFINE)

/* Doorbells in a UAR page. The CQ arm doorbell is one 64-bit write, or 0x20 then 0x24 on a 32-bit
 * host. */
enum uar_page {
	UAR_SEND_DB = 0x14,
	UAR_CQ_ARM = 0x20,
	UAR_EQ_DB = 0x800,
	UAR_EQ_DB_STRIDE = 8,
	UAR_EQS_PER_PAGE = 4,
};

/*
 * BlueFlame: software copies the whole WQE, control segment first, to a buffer in 64-byte units. A
 * register has two buffers, which are used in turn. The WQE is also in the send queue. The copy has
 * the WQE's index in dword 0 [23:8] and the QPN in dword 1 [31:8].
 */
enum blueflame {
	BF_UNIT = 64,
};

/* BAR2 offset of the doorbell of an EQ. */
static inline uint32_t eq_db_offset(uint32_t eqn)
{
	return eqn / UAR_EQS_PER_PAGE * UAR_PAGE_SIZE + UAR_EQ_DB +
	       eqn % UAR_EQS_PER_PAGE * UAR_EQ_DB_STRIDE;
}

#endif
