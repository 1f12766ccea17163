/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the firmware sees of the chip: memory map of the embedded processor, registers and hardware
 * helpers.
 *
 * This part is hcasim's own (a real chip's is not public). 32-bit registers, little-endian as the
 * processor is, word access only. A load from a *_STATUS register of a helper stalls the processor
 * until that helper is done: firmware starts a helper and reads its status. The helpers move bytes
 * and quiesce hardware; none of them knows an HCR opcode.
 */
#ifndef MODEL_INTERFACE_FWREGS_H
#define MODEL_INTERFACE_FWREGS_H

#include "model/interface/diag.h"

enum {
	FW_RAM_BASE = 0x80000000, /* size is the parameter fw.ram */
	FW_REG_BASE = 0x40000000,
	FW_REG_SIZE = 0x4000,
};

/* clang-format off */
/* R(NAME, offset, "meaning"); names are FW_<NAME>. */
#define FW_REGISTERS(R) \
	/* --- interrupts: the processor's is pending while CAUSE & ENABLE is not 0 --- */ \
	R(IRQ_CAUSE, 0x000, \
	  "pending causes, bits FW_IRQ_*; write 1 to clear (not HCR: cleared by HCR_DONE)") \
	R(IRQ_ENABLE, 0x004, "causes that interrupt or end a wfi") \
	R(TIME_LO, 0x008, \
	  "time since power-on in nanoseconds, low word; reading it latches the high word") \
	R(TIME_HI, 0x00c, "high word latched by TIME_LO") \
	R(TIMER_LO, 0x010, "nanoseconds at which FW_IRQ_TIMER is raised, low word") \
	R(TIMER_HI, 0x014, "high word; writing it sets the timer; all ones: never") \
	R(WATCHDOG, 0x018, \
	  "nanoseconds from now at which the chip takes the firmware for dead unless written " \
	  "again, not counted in wfi, anew from each end of a wfi; 0: off; reads as the " \
	  "parameter fw.watchdog") \
	/* --- HCR, as latched when GO was written --- */ \
	R(HCR0, 0x020, "in_param[63:32]") \
	R(HCR1, 0x024, "in_param[31:0]") \
	R(HCR2, 0x028, "input modifier") \
	R(HCR3, 0x02c, "out_param[63:32]") \
	R(HCR4, 0x030, "out_param[31:0]") \
	R(HCR5, 0x034, "token in [31:16]") \
	R(HCR6, 0x038, "opcode modifier [15:12], opcode [11:0], E bit 22, T bit 21, GO bit 23") \
	R(HCR_OUT_HI, 0x040, "out_param to return, high") \
	R(HCR_OUT_LO, 0x044, "out_param to return, low") \
	R(HCR_DONE, 0x048, \
	  "write of the status: HCR is updated, GO cleared last, FW_IRQ_HCR cleared; in event " \
	  "mode (E) no status is stored, firmware posts the command's EQE afterwards") \
	/* --- DMA helper: copies or fills; host bus or ICM addresses, any alignment --- */ \
	R(DMA_ADDR_HI, 0x060, "host bus address or ICM virtual address") \
	R(DMA_ADDR_LO, 0x064, "") \
	R(DMA_RAM, 0x068, "address in firmware RAM; for a fill: the byte") \
	R(DMA_LEN, 0x06c, "bytes") \
	R(DMA_CMD, 0x070, "FW_DMA_*: starts it") \
	R(DMA_STATUS, 0x074, \
	  "stalls until done; FW_DMA_OK, _FAULT (not mapped for the device), _NO_ICM (ICM not " \
	  "mapped)") \
	/* --- ICM map --- */ \
	R(ICM_VA_HI, 0x080, "ICM virtual address, 4 KiB aligned") \
	R(ICM_VA_LO, 0x084, "") \
	R(ICM_PA_HI, 0x088, "bus address") \
	R(ICM_PA_LO, 0x08c, "") \
	R(ICM_PAGES, 0x090, "number of 4 KiB pages") \
	R(ICM_CMD, 0x094, \
	  "FW_ICM_*: takes effect at once; cached translations and lines of unmapped pages are " \
	  "dropped, not written back") \
	/* --- tables, given by INIT_HCA: write all, the command last --- */ \
	R(TABLE_BASE_HI, 0x0a0, "ICM address of the table") \
	R(TABLE_BASE_LO, 0x0a4, "") \
	R(TABLE_LOG_NUM, 0x0a8, "log2 of the number of entries (RDMARC: entries a QP)") \
	R(TABLE_ENTRY_SIZE, 0x0ac, "bytes an entry") \
	R(TABLE_CMD, 0x0b0, "FW_TABLE_*: latches the four registers above for that table") \
	R(HCA_CTRL, 0x0b4, \
	  "FW_CTRL_* bits: hardware behaviour chosen by INIT_HCA; 0 stops the engine and " \
	  "forgets all objects") \
	R(LOG_MCG_HASH, 0x0b8, "log2 of the multicast hash buckets") \
	R(LOG_UAR, 0x0bc, "log2 of the number of UAR pages") \
	R(SPECIAL_QP, 0x0c0, "base of QP0/QP1 numbers, 0: none") \
	/* --- objects --- */ \
	R(OBJ_NUMBER, 0x0d0, "full number (QPN 24 bits, CQN, EQN, SRQN, MPT index)") \
	R(OBJ_CMD, 0x0d4, "FW_OBJ_* command | type << 8: starts it") \
	R(OBJ_STATUS, 0x0d8, \
	  "stalls until done; FW_OBJ_OK or _NO_ICM; for FW_OBJ_TEST 1 valid, 0 not") \
	/* --- events --- */ \
	R(EVENT_MAP, 0x0e0, \
	  "event type [7:0], EQN [23:8], bit 31 valid: routes asynchronous events") \
	R(EQE_POST, 0x0e4, \
	  "address in RAM of a 32-byte EQE (owner ignored): posted to the EQ its type is mapped " \
	  "to; dropped if none") \
	R(EQE_STATUS, 0x0e8, "stalls until the EQE is written") \
	/* --- identity and limits, from parameters, read only --- */ \
	R(NUM_PORTS, 0x100, "") \
	R(GUID_HI, 0x104, "node GUID; port n's is node GUID + n") \
	R(GUID_LO, 0x108, "") \
	R(LOG_MAX_MSG, 0x10c, "") \
	R(LOG_GIDS, 0x110, "log2 GID table length") \
	R(LOG_PKEYS, 0x114, "log2 P_Key table length") \
	R(LOG_MAX_QP, 0x118, "") \
	R(BLUEFLAME, 0x11c, "0: not offered; [7:0] log2 of a register, [15:8] of the registers of a page") \
	R(MSIX_VECTORS, 0x120, "") \
	R(UAR_SIZE_LOG_MB, 0x124, "log2 of the UAR area in MiB") \
	R(LOCAL_ACK_DELAY, 0x128, "local CA ack delay, 5 bits") \
	R(CORE_CLOCK_MHZ, 0x12c, "") \
	/* --- diagnostics --- */ \
	R(TRACE_TEXT, 0x140, "address in RAM of a 0-terminated text for the log") \
	R(TRACE_VALUE, 0x144, "a number for the log") \
	R(GUEST_ERROR, 0x148, \
	  "rule number (model/interface/rules.h) that software broke; text: the address last " \
	  "written to GUEST_TEXT") \
	R(GUEST_TEXT, 0x14c, "address in RAM of the text for GUEST_ERROR") \
	R(CATAS, 0x150, \
	  "catastrophic error: stops the chip, the value is dword 1 of the error buffer") \
	R(DIAG_INDEX, 0x154, "selects a diagnostic counter, FW_DIAG_*") \
	R(DIAG_COUNT, 0x158, "read only: its low word")
/* clang-format on */

enum fw_register {
#define R(name, offset, meaning) FW_##name = offset,
	FW_REGISTERS(R)
#undef R
};

/* What DIAG_INDEX selects. */
enum fw_diag_counter {
#define D(name, stat) FW_DIAG_##name,
	DIAG_COUNTERS(D)
#undef D
		FW_DIAG_COUNTERS_END
};

enum {
	FW_IRQ_HCR = 1 << 0,   /* a command stands in HCR0..6 */
	FW_IRQ_TIMER = 1 << 1, /* */
	FW_IRQ_PORT1 = 1 << 2, /* the physical state of port 1 changed; port 2 is the next bit */
	FW_IRQ_PORT2 = 1 << 3,

	FW_DMA_READ = 1,      /* host bus -> RAM */
	FW_DMA_WRITE = 2,     /* RAM -> host bus */
	FW_DMA_FILL = 3,      /* byte -> host bus */
	FW_DMA_ICM_READ = 5,  /* ICM -> RAM; sees what FW_OBJ_WRITEBACK wrote */
	FW_DMA_ICM_WRITE = 6, /* RAM -> ICM */
	FW_DMA_ICM_FILL = 7,
	FW_DMA_OK = 0,
	FW_DMA_FAULT = 1,
	FW_DMA_NO_ICM = 2,

	FW_ICM_MAP = 1,
	FW_ICM_UNMAP = 2, /* pages that are not mapped are passed over */
	FW_ICM_UNMAP_ALL = 3,
	FW_ICM_LOOKUP = 4, /* ICM_PA_* = bus address of ICM_VA_*; 0 when not mapped */

	FW_TABLE_QPC = 0,
	FW_TABLE_CQC,
	FW_TABLE_EQC,
	FW_TABLE_SRQC,
	FW_TABLE_MPT,
	FW_TABLE_MTT,
	FW_TABLE_RDMARC,
	FW_TABLE_MCG,
	FW_TABLE_ALTC,
	FW_TABLE_AUXC,
	FW_TABLE_CMPT,
	FW_TABLE_COUNT,

	FW_CTRL_RUN = 1 << 0,             /* the engine works */
	FW_CTRL_HOST_BIG_ENDIAN = 1 << 1, /* atomics' operands in host memory */
	FW_CTRL_MW = 1 << 2,              /* memory windows enabled */
	FW_CTRL_UD_AV_PORT = 1 << 3,      /* address vector's port is checked */

	/* Object types are FW_TABLE_QPC .. FW_TABLE_MPT, and FW_TABLE_MCG for VALIDATE, INVALIDATE
	 * and TEST. */
	FW_OBJ_VALIDATE = 1, /* valid bit set; the next use reads the context from ICM */
	/* finishes what is under way for it, drops the cached line and private state, clears the
	 * valid bit */
	FW_OBJ_INVALIDATE = 2,
	FW_OBJ_WRITEBACK = 3, /* the cached line is written to ICM and kept */
	/* stops work on it at a packet boundary, writes the context back to ICM and drops the line;
	 * until FW_OBJ_RESUME */
	FW_OBJ_QUIESCE = 4,
	/* reads the context again when needed and goes on from its state; a QP in ERR starts to
	 * flush */
	FW_OBJ_RESUME = 5,
	FW_OBJ_SYNC_ALL = 6, /* drops every cached MPT and MTT entry (type ignored) */
	FW_OBJ_TEST = 7,     /* status tells the valid bit */
	/* CQ: RESIZE CQE at the producer index of the old buffer, then as FW_OBJ_QUIESCE: until
	 * FW_OBJ_RESUME the context in ICM is firmware's */
	FW_OBJ_RESIZE = 8,
	FW_OBJ_OK = 0,
	FW_OBJ_NO_ICM = 1,
};

/* clang-format off */
/* Port registers, one block a port: FW_PORT(n, REG), n from 1. */
#define FW_PORT_REGISTERS(R) \
	R(CMD, 0x000, "FW_PORT_* command to the physical layer") \
	R(PHYS_STATE, 0x004, \
	  "PortPhysicalState of the specification: 2 polling, 3 disabled, 4 training, 5 LinkUp") \
	R(LOGICAL, 0x008, \
	  "PortState 1 down .. 4 active: which packets pass; set by firmware, hardware sets 1 " \
	  "when the link is lost and 2 when it comes up") \
	R(LID, 0x00c, "LID [15:0], LMC [18:16]") \
	R(SMLID, 0x010, "SM LID [15:0], SM SL [19:16]") \
	R(MTU, 0x014, "active (neighbour) MTU, 1 = 256 .. 5 = 4096") \
	R(VLS, 0x018, "operational VLs, 1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7") \
	R(WIDTH, 0x01c, \
	  "read only: active [7:0], supported [15:8] (1 = 1x, 2 = 4x, 4 = 8x, 8 = 12x)") \
	R(SPEED, 0x020, \
	  "read only: active [3:0] (1 SDR, 2 DDR, 4 QDR), extended active [7:4] (1 FDR, 2 EDR), " \
	  "supported [11:8], extended supported [15:12]") \
	R(GID_PREFIX_HI, 0x024, "") \
	R(GID_PREFIX_LO, 0x028, "") \
	R(SL2VL_HI, 0x02c, "SL0 in the top nibble") \
	R(SL2VL_LO, 0x030, "SL8 in the top nibble") \
	R(GID_INDEX, 0x034, "selects an entry of the GUID table") \
	R(GID_GUID_HI, 0x038, "that entry; GUID 0: empty") \
	R(GID_GUID_LO, 0x03c, "writing it stores the entry") \
	R(PKEY_INDEX, 0x040, "selects an entry of the P_Key table") \
	R(PKEY, 0x044, "that entry") \
	R(BAD_PKEY, 0x048, "P_Key violations since reset; write to set") \
	R(BAD_QKEY, 0x04c, "Q_Key violations; write to set") \
	R(COUNTER_INDEX, 0x050, "selects a performance counter, FW_PC_*") \
	R(COUNTER_LO, 0x054, \
	  "its low word; reading latches the high word; writing sets the counter to this value") \
	R(COUNTER_HI, 0x058, "") \
	R(NOTE, 0x05c, \
	  "trap number of the first key violation noted since it was written 0 (257 P_Key, 258 " \
	  "Q_Key), 0: none; FW_IRQ_PORTn is raised with it") \
	R(NOTE_KEY, 0x060, "the key of that packet") \
	R(NOTE_LIDS, 0x064, "its SLID [31:16] and DLID [15:0]") \
	R(NOTE_SOURCE, 0x068, "its SL [31:28] and source QP [23:0], 0 when it does not say") \
	R(NOTE_DEST, 0x06c, "its destination QP [23:0]") \
	R(SELF_MAD, 0x070, \
	  "address in RAM of a MAD of 256 bytes: a packet of SLID 0 to QP0 of this port, which " \
	  "no wire carries")
/* clang-format on */

enum fw_port_register {
#define R(name, offset, meaning) FW_PORT_##name = offset,
	FW_PORT_REGISTERS(R)
#undef R
};
enum { FW_PORT_BASE = 0x1000, FW_PORT_STRIDE = 0x400 };
#define FW_PORT(n, reg) (FW_PORT_BASE + ((n)-1) * FW_PORT_STRIDE + FW_PORT_##reg)

enum {
	FW_PORT_UP = 1,      /* leave Disabled: poll, train */
	FW_PORT_DOWN = 2,    /* link down, to polling */
	FW_PORT_DISABLE = 3, /* physical state Disabled */
};

/* clang-format off */
/* Performance counters, in the order of PortCounters; 64 bits inside.
 * P(NAME, field name in stats, "meaning") */
#define FW_PORT_COUNTERS(P) \
	P(SYMBOL_ERROR, symbol_errors, "minor link errors") \
	P(LINK_RECOVERY, link_recoveries, "times the link recovered") \
	P(LINK_DOWNED, link_downed, "times the link failed and went down") \
	P(RCV_ERRORS, rcv_errors, "packets received with an error: CRC, length, malformed") \
	P(RCV_REMOTE_PHYS, rcv_remote_physical_errors, "packets received with the EBP delimiter") \
	P(RCV_SWITCH_RELAY, rcv_switch_relay_errors, "0 on an HCA") \
	P(XMIT_DISCARDS, xmit_discards, "packets discarded by the sender: port down, HOQ life") \
	P(XMIT_CONSTRAINT, xmit_constraint_errors, \
	  "packets not sent: partition or raw packet checks") \
	P(RCV_CONSTRAINT, rcv_constraint_errors, "packets discarded by those checks on reception") \
	P(LOCAL_INTEGRITY, local_link_integrity_errors, \
	  "times minor link errors passed their threshold") \
	P(BUFFER_OVERRUN, excessive_buffer_overrun_errors, \
	  "times buffers overran too often in a row") \
	P(VL15_DROPPED, vl15_dropped, "SMPs dropped for want of a buffer") \
	P(XMIT_DATA, xmit_data, \
	  "data sent, 4-byte words from LRH up to and without the VCRC; link packets not counted") \
	P(RCV_DATA, rcv_data, "data received") \
	P(XMIT_PKTS, xmit_pkts, "packets sent") \
	P(RCV_PKTS, rcv_pkts, "packets received") \
	P(XMIT_WAIT, xmit_wait, "ticks with data to send and no credit") \
	P(UNICAST_XMIT, unicast_xmit_pkts, "packets sent to one port") \
	P(UNICAST_RCV, unicast_rcv_pkts, "packets received for this port alone") \
	P(MULTICAST_XMIT, multicast_xmit_pkts, "packets sent to a group") \
	P(MULTICAST_RCV, multicast_rcv_pkts, "packets received for a group")
/* clang-format on */

enum fw_port_counter {
#define P(name, field, meaning) FW_PC_##name,
	FW_PORT_COUNTERS(P)
#undef P
		FW_PC_COUNT
};

#endif
