/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the firmware sees of the chip: memory map of the embedded processor, registers and hardware
 * helpers.
 *
 * This part is hcasim's own, since a real chip's is not public. Registers are 32 bits wide,
 * little-endian like the processor, and are accessed as whole words only. Firmware starts a helper
 * and then reads its *_STATUS register; that load stalls the processor until the helper is done.
 * The helpers move bytes and quiesce hardware; none of them knows an HCR opcode.
 */
#ifndef MODEL_INTERFACE_FWREGS_H
#define MODEL_INTERFACE_FWREGS_H

#include "model/interface/diag.h"

#include <stdint.h>

enum {
	FW_RAM_BASE = 0x80000000, /* the parameter fw.ram is the size */
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
	R(TIMER_LO, 0x010, "time in nanoseconds at which FW_IRQ_TIMER is raised, low word") \
	R(TIMER_HI, 0x014, "high word; writing it sets the timer; all ones: never") \
	R(WATCHDOG, 0x018, \
	  "microseconds after which the chip takes the firmware for dead, unless the register is " \
	  "written again; time in a wfi does not count, and the end of a wfi starts the time " \
	  "again; 0: off; reads as the parameter fw.watchdog") \
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
	  "writing the status updates the HCR, clears GO last, and clears FW_IRQ_HCR; in event " \
	  "mode (E) no status is stored, and the firmware posts the command's EQE afterwards") \
	/* --- DMA helper: copies or fills; host bus or ICM addresses, any alignment --- */ \
	R(DMA_ADDR_HI, 0x060, "host bus address or ICM virtual address, high word") \
	R(DMA_ADDR_LO, 0x064, "its low word") \
	R(DMA_RAM, 0x068, "address in firmware RAM; for a fill, the byte") \
	R(DMA_LEN, 0x06c, "bytes") \
	R(DMA_CMD, 0x070, "FW_DMA_*: starts the helper") \
	R(DMA_STATUS, 0x074, \
	  "stalls until done; FW_DMA_OK, _FAULT (not mapped for the device), _NO_ICM (ICM not " \
	  "mapped)") \
	/* --- ICM map --- */ \
	R(ICM_VA_HI, 0x080, "ICM virtual address, 4 KiB aligned, high word") \
	R(ICM_VA_LO, 0x084, "its low word") \
	R(ICM_PA_HI, 0x088, "bus address, high word") \
	R(ICM_PA_LO, 0x08c, "its low word") \
	R(ICM_PAGES, 0x090, "number of 4 KiB pages") \
	R(ICM_CMD, 0x094, \
	  "FW_ICM_*: takes effect at once; the chip drops cached translations and lines of " \
	  "unmapped pages without writing them back") \
	/* --- tables, given by INIT_HCA: write all, the command last --- */ \
	R(TABLE_BASE_HI, 0x0a0, "ICM address of the table, high word") \
	R(TABLE_BASE_LO, 0x0a4, "its low word") \
	R(TABLE_LOG_NUM, 0x0a8, "log2 of the number of entries (RDMARC: of entries per QP)") \
	R(TABLE_ENTRY_SIZE, 0x0ac, "bytes per entry") \
	R(TABLE_CMD, 0x0b0, "FW_TABLE_*: latches the four registers above for that table") \
	R(HCA_CTRL, 0x0b4, \
	  "FW_CTRL_* bits: hardware behaviour that INIT_HCA chose; 0 stops the engine and " \
	  "drops all objects") \
	R(LOG_MCG_HASH, 0x0b8, "log2 of the multicast hash buckets") \
	R(LOG_UAR, 0x0bc, "log2 of the number of UAR pages") \
	R(SPECIAL_QP, 0x0c0, "first of the numbers of QP0 and QP1; 0: none") \
	/* --- objects --- */ \
	R(OBJ_NUMBER, 0x0d0, "full number (QPN 24 bits, CQN, EQN, SRQN, MPT index)") \
	R(OBJ_CMD, 0x0d4, "FW_OBJ_* command | type << 8: starts the command") \
	R(OBJ_STATUS, 0x0d8, \
	  "stalls until done; FW_OBJ_OK or _NO_ICM; after FW_OBJ_TEST 1: valid, 0: not valid") \
	/* --- events --- */ \
	R(EVENT_MAP, 0x0e0, \
	  "routes asynchronous events: event type [7:0], EQN [23:8], valid [31]") \
	R(EQE_POST, 0x0e4, \
	  "address in RAM of a 32-byte EQE (owner ignored): the chip posts it to the EQ that its " \
	  "type is routed to, and drops it if there is none") \
	R(EQE_STATUS, 0x0e8, "stalls until the EQE is written") \
	/* --- identity and limits, from parameters, read only --- */ \
	R(NUM_PORTS, 0x100, "number of ports") \
	R(GUID_HI, 0x104, "node GUID, high word; the GUID of port n is the node GUID + n") \
	R(GUID_LO, 0x108, "its low word") \
	R(LOG_MAX_MSG, 0x10c, "log2 of the longest message in bytes") \
	R(LOG_GIDS, 0x110, "log2 of the length of a GID table") \
	R(LOG_PKEYS, 0x114, "log2 of the length of a P_Key table") \
	R(LOG_MAX_QP, 0x118, "log2 of the number of QPs") \
	R(BLUEFLAME, 0x11c, "0: not offered; [7:0] log2 of the bytes of a register, [15:8] log2 of the registers per page") \
	R(MSIX_VECTORS, 0x120, "number of MSI-X vectors") \
	R(UAR_SIZE_LOG_MB, 0x124, "log2 of the UAR area in MiB") \
	R(LOCAL_ACK_DELAY, 0x128, "local CA ack delay, 5 bits") \
	R(CORE_CLOCK_MHZ, 0x12c, "frequency of the core clock in MHz") \
	R(DEVICE, 0x130, "0: ConnectX-3, 1: ConnectX-3 Pro") \
	R(PORT_EVENTS, 0x134, "1: software gets events of what a subnet manager changes") \
	R(LOG_MAX_SRQ, 0x160, "log2 of the number of SRQs") \
	R(LOG_MAX_CQ, 0x164, "log2 of the number of CQs") \
	R(LOG_MAX_EQ, 0x168, "log2 of the number of EQs") \
	R(LOG_MAX_MPT, 0x16c, "log2 of the number of MPTs") \
	/* --- diagnostics --- */ \
	R(TRACE_TEXT, 0x140, "address in RAM of a 0-terminated text for the log") \
	R(TRACE_VALUE, 0x144, "a number for the log") \
	R(GUEST_ERROR, 0x148, \
	  "number of the rule (model/interface/rules.h) that software broke; the text is at the " \
	  "address last written to GUEST_TEXT") \
	R(GUEST_TEXT, 0x14c, "address in RAM of the text for GUEST_ERROR") \
	R(GUEST_OBJECT, 0x15c, \
	  "the object for GUEST_ERROR: kind (enum guest_object_kind) in [31:24], number in [23:0]; " \
	  "kind 0: the command itself") \
	R(CATAS, 0x150, \
	  "catastrophic error: stops the chip; the value becomes dword 1 of the error buffer") \
	R(DIAG_INDEX, 0x154, "selects a diagnostic counter: FW_DIAG_*") \
	R(DIAG_COUNT, 0x158, "read only: the low word of the selected counter")
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
	FW_IRQ_HCR = 1 << 0,   /* a command is in HCR0..6 */
	FW_IRQ_TIMER = 1 << 1, /* the time in TIMER has been reached */
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
	FW_ICM_UNMAP = 2, /* skips pages that are not mapped */
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
	FW_CTRL_HOST_BIG_ENDIAN = 1 << 1, /* byte order of the operands of atomics in host memory */
	FW_CTRL_MW = 1 << 2,              /* memory windows enabled */
	FW_CTRL_UD_AV_PORT = 1 << 3,      /* address vector's port is checked */

	/* Object types are FW_TABLE_QPC .. FW_TABLE_MPT, and FW_TABLE_MCG for VALIDATE, INVALIDATE
	 * and TEST. */
	FW_OBJ_VALIDATE = 1, /* sets the valid bit; the next use reads the context from ICM */
	/* Finishes the work under way for the object, drops its cached line and private state, and
	 * clears its valid bit. */
	FW_OBJ_INVALIDATE = 2,
	FW_OBJ_WRITEBACK = 3, /* writes the cached line to ICM and keeps it */
	/* Stops work on the object at a packet boundary, until FW_OBJ_RESUME; writes its context to
	 * ICM and drops the line. */
	FW_OBJ_QUIESCE = 4,
	/* Reads the context again when it is needed, and goes on in its state; a QP in ERR starts
	 * to flush. */
	FW_OBJ_RESUME = 5,
	FW_OBJ_SYNC_ALL = 6, /* drops every cached MPT and MTT entry (type ignored) */
	FW_OBJ_TEST = 7,     /* the status is the valid bit */
	/* Of a CQ: writes a RESIZE CQE at the producer index of the old buffer, then does what
	 * FW_OBJ_QUIESCE does. Until FW_OBJ_RESUME the firmware may change the context in ICM. */
	FW_OBJ_RESIZE = 8,
	FW_OBJ_OK = 0,
	FW_OBJ_NO_ICM = 1,
};

/* clang-format off */
/* Port registers, one block per port: FW_PORT(n, REG), n from 1. */
#define FW_PORT_REGISTERS(R) \
	R(CMD, 0x000, "FW_PORT_* command to the physical layer") \
	R(PHYS_STATE, 0x004, \
	  "PortPhysicalState of the specification: 2 polling, 3 disabled, 4 training, 5 LinkUp") \
	R(LOGICAL, 0x008, \
	  "PortState, 1 down .. 4 active: decides which packets pass; the firmware sets it, and " \
	  "hardware sets 1 when the link is lost and 2 when it comes up") \
	R(LID, 0x00c, "LID [15:0], LMC [18:16]") \
	R(SMLID, 0x010, "SM LID [15:0], SM SL [19:16]") \
	R(MTU, 0x014, "active (neighbour) MTU, 1 = 256 .. 5 = 4096") \
	R(VLS, 0x018, "operational VLs, 1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7") \
	R(WIDTH, 0x01c, \
	  "read only: active [7:0], supported [15:8] (1 = 1x, 2 = 4x, 4 = 8x, 8 = 12x)") \
	R(SPEED, 0x020, \
	  "read only: active [3:0] (1 SDR, 2 DDR, 4 QDR), extended active [7:4] (1 FDR, 2 EDR), " \
	  "supported [11:8], extended supported [15:12]") \
	R(GID_PREFIX_HI, 0x024, "GID prefix, high word") \
	R(GID_PREFIX_LO, 0x028, "its low word") \
	R(SL2VL_HI, 0x02c, "VLs of SL0 to SL7, SL0 in the top nibble") \
	R(SL2VL_LO, 0x030, "VLs of SL8 to SL15, SL8 in the top nibble") \
	R(GID_INDEX, 0x034, "selects an entry of the GUID table") \
	R(GID_GUID_HI, 0x038, "GUID of that entry, high word; 0: empty") \
	R(GID_GUID_LO, 0x03c, "its low word; writing it stores the entry") \
	R(PKEY_INDEX, 0x040, "selects an entry of the P_Key table") \
	R(PKEY, 0x044, "that entry") \
	R(BAD_PKEY, 0x048, "P_Key violations since reset; a write sets the number") \
	R(BAD_QKEY, 0x04c, "Q_Key violations since reset; a write sets the number") \
	R(COUNTER_INDEX, 0x050, "selects a performance counter, FW_PC_*") \
	R(COUNTER_LO, 0x054, \
	  "low word of the counter; a read latches the high word; a write sets the counter to this value") \
	R(COUNTER_HI, 0x058, "high word that COUNTER_LO latched") \
	R(NOTE, 0x05c, \
	  "trap number (257 P_Key, 258 Q_Key) of the first key violation since 0 was written here; " \
	  "0: none; FW_IRQ_PORTn is raised with it") \
	R(NOTE_KEY, 0x060, "the key of that packet") \
	R(NOTE_LIDS, 0x064, "its SLID [31:16] and DLID [15:0]") \
	R(NOTE_SOURCE, 0x068, "its SL [31:28] and source QP [23:0], 0 if the packet does not carry it") \
	R(NOTE_DEST, 0x06c, "its destination QP [23:0]") \
	R(SELF_MAD, 0x070, \
	  "address in RAM of a MAD of 256 bytes: QP0 of this port receives it as a packet of SLID 0 " \
	  "that did not come over the wire") \
	R(VLARB_LOW_0, 0x100, \
	  "low priority VL arbitration, entries 0 and 1: VL [27:24], weight [23:16] in units of 64 bytes; " \
	  "VL [11:8], weight [7:0]; weight 0: the entry is skipped") \
	R(VLARB_LOW_1, 0x104, "entries 2 and 3") \
	R(VLARB_LOW_2, 0x108, "entries 4 and 5") \
	R(VLARB_LOW_3, 0x10c, "entries 6 and 7") \
	R(VLARB_HIGH_0, 0x110, "high priority VL arbitration, entries 0 and 1") \
	R(VLARB_HIGH_1, 0x114, "entries 2 and 3") \
	R(VLARB_HIGH_2, 0x118, "entries 4 and 5") \
	R(VLARB_HIGH_3, 0x11c, "entries 6 and 7") \
	R(VL_HIGH_LIMIT, 0x120, \
	  "what the high priority table may send before the low one, in units of 4 KiB; 0: one packet; " \
	  "255: no limit") \
	/* of an Ethernet port; all read 0 and ignore writes on another */ \
	R(TYPE, 0x080, \
	  "protocols [1:0] that the port can have, 1 InfiniBand, 2 Ethernet; the one it has [3:2]; " \
	  "that of the other end [5:4], 0 unknown; writing [3:2] changes it while the port is disabled") \
	R(ETH_INDEX, 0x084, "selects an entry of the tables of MACs, VLANs, GIDs") \
	R(ETH_MAC_HI, 0x088, "valid [31], MAC [47:32]") \
	R(ETH_MAC_LO, 0x08c, "MAC [31:0]; writing it stores the entry") \
	R(ETH_VLAN, 0x090, "valid [31], VLAN [11:0] of that entry") \
	R(ETH_GID_0, 0x094, "GID of that entry, first word") \
	R(ETH_GID_1, 0x098, "its second word") \
	R(ETH_GID_2, 0x09c, "its third word") \
	R(ETH_GID_3, 0x0a0, "its last word") \
	R(ETH_GID_VERSION, 0x0a4, "version of RoCE, 0: empty; writing it stores the entry") \
	R(ETH_MTU, 0x0a8, "longest frame that may come in, with FCS") \
	R(ETH_PAUSE, 0x0ac, \
	  "sends pause frames [0], obeys them [1]; priorities for which it sends PFC [15:8], obeys it [23:16]") \
	R(ETH_UDP_PORT, 0x0b0, "UDP port of RoCE v2") \
	R(ETH_COUNTER_INDEX, 0x0b4, "selects an Ethernet counter, FW_EC_* or fw_lane_counter_index()") \
	R(ETH_COUNTER_LO, 0x0b8, "low word of the counter; a read latches the high word") \
	R(ETH_COUNTER_HI, 0x0bc, "high word that ETH_COUNTER_LO latched") \
	R(ETH_RATE_MBPS, 0x0c0, "read only: data rate in Mb/s") \
	R(ETH_VLAN_FILTER, 0x0c4, \
	  "32 VLANs that the port lets pass to its netdev, those from 32 * ETH_INDEX on") \
	R(ETH_RX_QPN, 0x0c8, "QP that gets frames for the port's own MACs, without RoCE") \
	R(ETH_PROMISC, 0x0cc, "QP [23:0] that gets frames for other MACs; valid [31]") \
	R(ETH_MULTICAST, 0x0d0, \
	  "QP [23:0] that gets frames to groups; [31:30] 0: none, 1: those in the list, 2: all") \
	R(ETH_GROUP_HI, 0x0d4, "MAC [47:32] of a group") \
	R(ETH_GROUP_LO, 0x0d8, "MAC [31:0]; writing it adds the group to the list") \
	R(ETH_GROUP_CMD, 0x0dc, "1: empties the list of groups") \
	R(ETH_COUNTER_CMD, 0x0e0, "1: ETH_COUNTER_LO counts from here on")
/* clang-format on */

enum fw_port_register {
#define R(name, offset, meaning) FW_PORT_##name = offset,
	FW_PORT_REGISTERS(R)
#undef R
};
enum {
	FW_TYPE_IB = 1,
	FW_TYPE_ETH = 2,
	FW_TYPE_NOW_SHIFT = 2,
	FW_TYPE_PEER_SHIFT = 4,
	FW_ETH_PAUSE_TX = 1 << 0,
	FW_ETH_PAUSE_RX = 1 << 1,
	FW_ETH_PFC_TX_SHIFT = 8,
	FW_ETH_PFC_RX_SHIFT = 16,
	FW_ETH_MCAST_SHIFT = 30,
	FW_ETH_MCAST_NONE = 0,
	FW_ETH_MCAST_LIST = 1,
	FW_ETH_MCAST_ALL = 2,
};
#define FW_ETH_PROMISC_ON (1u << 31)
enum { FW_PORT_BASE = 0x1000, FW_PORT_STRIDE = 0x400 };
#define FW_PORT(n, reg) (FW_PORT_BASE + ((n)-1) * FW_PORT_STRIDE + FW_PORT_##reg)

enum {
	FW_PORT_UP = 1,      /* leave Disabled: poll, train */
	FW_PORT_DOWN = 2,    /* link down, to polling */
	FW_PORT_DISABLE = 3, /* physical state Disabled */
};

/* clang-format off */
/* Performance counters, in the order of PortCounters; each has 64 bits in the device.
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
	P(VL15_DROPPED, vl15_dropped, "SMPs dropped because there was no buffer") \
	P(XMIT_DATA, xmit_data, \
	  "data sent, in 4-byte words from the LRH up to the VCRC, which is not counted; link packets do not count") \
	P(RCV_DATA, rcv_data, "data received") \
	P(XMIT_PKTS, xmit_pkts, "packets sent") \
	P(RCV_PKTS, rcv_pkts, "packets received") \
	P(XMIT_WAIT, xmit_wait, "ticks in which there were data to send but no credits") \
	P(UNICAST_XMIT, unicast_xmit_pkts, "packets sent to one port") \
	P(UNICAST_RCV, unicast_rcv_pkts, "packets received for this port alone") \
	P(MULTICAST_XMIT, multicast_xmit_pkts, "packets sent to a group") \
	P(MULTICAST_RCV, multicast_rcv_pkts, "packets received for a group")
/* clang-format on */

/* Counters of an Ethernet port; each has 64 bits in the device. E(NAME, field name in stats,
 * "meaning") */
/* clang-format off */
#define FW_ETH_COUNTERS(E) \
	E(RX_FRAMES, rx_frames, "frames received, without those that are counted as lost below") \
	E(RX_BYTES, rx_bytes, "bytes of them, with FCS") \
	E(RX_MULTICAST, rx_multicast, "of them to groups or to all") \
	E(RX_NO_BUFFER, rx_no_buffer, "frames lost because the receive buffer was full") \
	E(RX_BAD_FCS, rx_bad_fcs, "frames with a wrong FCS") \
	E(RX_BAD_LENGTH, rx_bad_length, "frames shorter than 64 bytes or longer than the MTU") \
	E(RX_BAD_ICRC, rx_bad_icrc, "RoCE packets with a wrong ICRC") \
	E(RX_FILTERED, rx_filtered, "frames for another address, or that nobody takes") \
	E(RX_CNP, rx_cnp, "congestion notifications, which this device does not act upon") \
	E(RX_PAUSE, rx_pause, "pause and PFC frames received") \
	E(TX_FRAMES, tx_frames, "frames sent") \
	E(TX_BYTES, tx_bytes, "bytes of them, with FCS") \
	E(TX_MULTICAST, tx_multicast, "of them to groups or to all") \
	E(TX_PAUSE, tx_pause, "pause and PFC frames sent") \
	E(TX_WAITED, tx_waited, "frames that waited for the end of a pause")
/* clang-format on */

enum fw_eth_counter {
#define E(name, field, meaning) FW_EC_##name,
	FW_ETH_COUNTERS(E)
#undef E
		FW_EC_COUNT
};

/* Counters of each lane and direction. C(NAME, "meaning") */
/* clang-format off */
#define FW_LANE_COUNTERS(C) \
	C(FRAMES, "frames without an error") \
	C(BYTES, "bytes of them, with FCS") \
	C(MULTICAST, "of them to groups, without those to all") \
	C(BROADCAST, "of them to all")
/* clang-format on */

enum fw_lane_counter {
#define C(name, meaning) FW_LC_##name,
	FW_LANE_COUNTERS(C)
#undef C
		FW_LC_COUNT
};

/* A lane is the priority of the VLAN tag, or one more for frames without a tag. */
enum { FW_ETH_LANES = 9, FW_ETH_UNTAGGED = 8, FW_ETH_RX = 0, FW_ETH_TX = 1 };
enum { FW_LANE_COUNTER_COUNT = 2 * FW_ETH_LANES * FW_LC_COUNT };

static inline uint32_t fw_lane_counter_index(uint32_t direction, uint32_t lane,
					     enum fw_lane_counter counter)
{
	return FW_EC_COUNT + (direction * FW_ETH_LANES + lane) * FW_LC_COUNT + counter;
}

/* Tables of an Ethernet port. Source: Linux mlx4 (MLX4_MAX_MAC_NUM, MLX4_MAX_VLAN_NUM,
 * MLX4_MAX_PORT_GIDS; mlx4/port.c for the valid bits). */
enum { ETH_TABLE_SIZE = 128 };
#define ETH_MAC_VALID  (UINT64_C(1) << 63)
#define ETH_MAC_MASK   UINT64_C(0xffffffffffff)
#define ETH_VLAN_VALID (UINT32_C(1) << 31)

enum fw_port_counter {
#define P(name, field, meaning) FW_PC_##name,
	FW_PORT_COUNTERS(P)
#undef P
		FW_PC_COUNT
};

#endif
