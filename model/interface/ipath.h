/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programming interface of the QLogic 6120, as the Linux driver ib_qib uses it: registers,
 * counters, send buffers, receive contexts, the serial EEPROM. Registers are 64 bits wide and
 * little-endian.
 *
 * Sources: Linux 6.1 drivers/infiniband/hw/qib, files qib_6120_regs.h (offsets, bits), qib_iba6120.c
 * (use), qib_common.h (header queue, EEPROM). No manual of the chip is public: what the driver does
 * not show is an assumption, and said to be one.
 */
#ifndef MODEL_INTERFACE_IPATH_H
#define MODEL_INTERFACE_IPATH_H

#include <stdint.h>

enum {
	IPATH_PCI_VENDOR = 0x1fc1,
	IPATH_PCI_DEVICE = 0x0010,
	IPATH_PCI_REVISION = 1,
	IPATH_PCI_CLASS = 0x0c0600, /* InfiniBand controller */
	IPATH_PCIE_MT_S = 2500,     /* PCIe 1.1 */

	/* BAR0. Where its parts begin is read from registers, so these are this device's choice. */
	IPATH_BAR_BYTES = 0x400000,
	IPATH_REGISTERS_END = 0x400,
	IPATH_COUNTERS = 0x12000, /* qib_6120_regs.h LBIntCnt */
	IPATH_COUNTERS_END = 0x12200,
	IPATH_EAGER = 0x14000, /* RcvEgrArray0 */
	IPATH_TID = 0x54000,   /* RcvTIDArray0 */
	IPATH_USER = 0x90000,  /* user registers, IPATH_ALIGN bytes a context */
	IPATH_SEND = 0x100000, /* PIOBuf0_MA */
	IPATH_SEND_LARGE = 0x180000,
	/* MSI-X with one vector; the card has MSI, and the driver takes either (qib_pcie_params). */
	IPATH_MSIX_TABLE = 0x200000,
	IPATH_MSIX_PBA = 0x201000,

	IPATH_ALIGN = 4096, /* of what a process can map: register PageAlign */
	IPATH_CONTEXTS = 5, /* RcvCtrl has five enable bits; context 0 is the kernel's */
	/* Assumptions: the registers' fields allow up to 511 and 15 buffers, and SendCtrl can
	 * disarm 128; eager indices have 12 bits. */
	IPATH_SMALL_BUFFERS = 112,
	IPATH_LARGE_BUFFERS = 8,
	IPATH_BUFFERS = IPATH_SMALL_BUFFERS + IPATH_LARGE_BUFFERS,
	IPATH_SMALL_BYTES = 2176, /* 2,048 and headers of 128 */
	IPATH_LARGE_BYTES = 4224,
	IPATH_SMALL_STRIDE = IPATH_ALIGN,     /* qib_getsendbuf_range */
	IPATH_LARGE_STRIDE = 2 * IPATH_ALIGN, /* the size rounded up */
	IPATH_EAGERS = 2048,                  /* of a context */
	IPATH_TIDS = 512,
};

/* clang-format off */

/*
 * R(name, offset, count, kind, value at reset, "meaning")
 *   CONST  software only reads it
 *   STORE  a read gives what was written; nothing else happens
 *   ACTION the device acts on a write, or makes the value at a read
 */
#define IPATH_REGISTERS(R) \
	R(Revision, 0x000, 1, CONST, IPATH_REVISION, "of the chip and the board") \
	R(Control, 0x008, 1, ACTION, 0, "reset, freeze, link controller") \
	R(PageAlign, 0x010, 1, CONST, IPATH_ALIGN, "distance of user registers and of small send buffers") \
	R(PortCnt, 0x018, 1, CONST, IPATH_CONTEXTS, "number of receive contexts") \
	R(DebugPortSelect, 0x020, 1, STORE, 0, "diagnostics") \
	R(SendRegBase, 0x030, 1, CONST, 0, "offset of the send registers") \
	R(UserRegBase, 0x038, 1, CONST, IPATH_USER, "offset of the user registers") \
	R(CntrRegBase, 0x040, 1, CONST, IPATH_COUNTERS, "offset of the counters") \
	R(Scratch, 0x048, 1, STORE, 0, "for reads that wait for earlier writes") \
	R(IntBlocked, 0x060, 1, STORE, 0, "diagnostics") \
	R(IntMask, 0x068, 1, ACTION, 0, "interrupts that are delivered") \
	R(IntStatus, 0x070, 1, CONST, 0, "interrupts that are pending") \
	R(IntClear, 0x078, 1, ACTION, 0, "1: clears it; afterwards what is pending interrupts again") \
	R(ErrMask, 0x080, 1, ACTION, 0, "errors that set IntStatus.Error") \
	R(ErrStatus, 0x088, 1, CONST, 0, "errors") \
	R(ErrClear, 0x090, 1, ACTION, 0, "1: clears it") \
	R(HwErrMask, 0x098, 1, STORE, 0, "errors of the hardware that are reported") \
	R(HwErrStatus, 0x0a0, 1, CONST, 0, "errors of the hardware: none here") \
	R(HwErrClear, 0x0a8, 1, ACTION, 0, "1: clears it") \
	R(HwDiagCtrl, 0x0b0, 1, STORE, 0, "bit 61: counters can be written") \
	R(IBCStatus, 0x0c0, 1, ACTION, 0, "state of the link") \
	R(IBCCtrl, 0x0c8, 1, ACTION, 0, "commands to the link, and its limits") \
	R(EXTStatus, 0x0d0, 1, ACTION, 0, "memory test, inputs of the GPIO pins") \
	R(EXTCtrl, 0x0d8, 1, ACTION, 0, "lights, output enables of the GPIO pins") \
	R(GPIOOut, 0x0e0, 1, ACTION, 0, "outputs of the GPIO pins") \
	R(GPIOMask, 0x0e8, 1, STORE, 0, "pins that interrupt") \
	R(GPIOStatus, 0x0f0, 1, CONST, 0, "pins that have interrupted: none here") \
	R(GPIOClear, 0x0f8, 1, ACTION, 0, "1: clears it") \
	R(RcvCtrl, 0x100, 1, ACTION, 0, "enables of the receive contexts") \
	R(RcvBTHQP, 0x108, 1, STORE, 0, "QPN of the vendor's own protocol") \
	R(RcvHdrSize, 0x110, 1, STORE, 0, "dwords of the header of that protocol") \
	R(RcvHdrCnt, 0x118, 1, STORE, 0, "entries of a header queue") \
	R(RcvHdrEntSize, 0x120, 1, STORE, 0, "dwords of an entry") \
	R(RcvTIDBase, 0x128, 1, CONST, IPATH_TID, "offset of the expected buffers") \
	R(RcvTIDCnt, 0x130, 1, CONST, IPATH_TIDS, "expected buffers of a context") \
	R(RcvEgrBase, 0x138, 1, CONST, IPATH_EAGER, "offset of the eager buffers") \
	R(RcvEgrCnt, 0x140, 1, CONST, IPATH_EAGERS, "eager buffers of a context") \
	R(RcvBufBase, 0x148, 1, STORE, 0, "diagnostics") \
	R(RcvBufSize, 0x150, 1, STORE, 0, "diagnostics") \
	R(RxIntMemBase, 0x158, 1, STORE, 0, "diagnostics") \
	R(RxIntMemSize, 0x160, 1, STORE, 0, "diagnostics") \
	R(RcvPartitionKey, 0x168, 1, STORE, 0, "P_Keys of the vendor's own protocol") \
	R(RcvPktLEDCnt, 0x178, 1, STORE, 0, "light of received packets") \
	R(SendCtrl, 0x1c0, 1, ACTION, 0, "enables sending; disarms a buffer; aborts") \
	R(SendPIOBufBase, 0x1c8, 1, CONST, IPATH_SEND | (uint64_t)IPATH_SEND_LARGE << 32, "offsets of the small and the large send buffers") \
	R(SendPIOSize, 0x1d0, 1, CONST, IPATH_SMALL_BYTES | (uint64_t)IPATH_LARGE_BYTES << 32, "their sizes") \
	R(SendPIOBufCnt, 0x1d8, 1, CONST, IPATH_SMALL_BUFFERS | (uint64_t)IPATH_LARGE_BUFFERS << 32, "their numbers") \
	R(SendPIOAvailAddr, 0x1e0, 1, ACTION, 0, "host memory that says which send buffers are free") \
	R(SendBufErr, 0x240, 2, CONST, 0, "a bit a buffer: it was used wrongly, and waits to be disarmed") \
	R(RcvHdrAddr, 0x280, IPATH_CONTEXTS, STORE, 0, "header queue of a context") \
	R(RcvHdrTailAddr, 0x300, IPATH_CONTEXTS, STORE, 0, "host memory where its tail is written") \
	R(SerdesCfg0, 0x3c0, 1, STORE, 0, "of the link's lanes") \
	R(SerdesCfg1, 0x3c8, 1, STORE, 0, "of the link's lanes") \
	R(SerdesStat, 0x3d0, 1, CONST, 0, "of the link's lanes") \
	R(XGXSCfg, 0x3d8, 1, STORE, 0, "of the link's lanes")

/*
 * C(name, offset from IPATH_COUNTERS, what counts: PORT, the port's counter FW_PC_...; OWN, the
 * chip's; NONE, never counts here; FW_PC_... or 0, "meaning")
 */
#define IPATH_COUNTER_ROWS(C) \
	C(LBIntCnt, 0x000, OWN, 0, "interrupts") \
	C(LBFlowStallCnt, 0x008, NONE, 0, "times the host bus had no credits") \
	C(TxUnsupVLErrCnt, 0x018, OWN, 0, "packets to send on a VL that is not in use") \
	C(TxDataPktCnt, 0x020, PORT, FW_PC_XMIT_PKTS, "packets sent") \
	C(TxFlowPktCnt, 0x028, NONE, 0, "flow control packets sent") \
	C(TxDwordCnt, 0x030, PORT, FW_PC_XMIT_DATA, "dwords sent") \
	C(TxLenErrCnt, 0x038, OWN, 0, "packets to send whose LRH and PBC differ") \
	C(TxMaxMinLenErrCnt, 0x040, OWN, 0, "packets to send that are too long or too short") \
	C(TxUnderrunCnt, 0x048, NONE, 0, "") \
	C(TxFlowStallCnt, 0x050, PORT, FW_PC_XMIT_WAIT, "ticks in which packets waited for credits") \
	C(TxDroppedPktCnt, 0x058, OWN, 0, "packets that the link's state did not let out") \
	C(RxDroppedPktCnt, 0x060, OWN, 0, "packets that no context takes") \
	C(RxDataPktCnt, 0x068, PORT, FW_PC_RCV_PKTS, "packets received") \
	C(RxFlowPktCnt, 0x070, NONE, 0, "flow control packets received") \
	C(RxDwordCnt, 0x078, PORT, FW_PC_RCV_DATA, "dwords received") \
	C(RxLenErrCnt, 0x080, OWN, 0, "packets whose LRH gives a wrong length") \
	C(RxMaxMinLenErrCnt, 0x088, OWN, 0, "packets whose payload is longer than an eager buffer") \
	C(RxICRCErrCnt, 0x090, OWN, 0, "packets with a wrong ICRC") \
	C(RxVCRCErrCnt, 0x098, OWN, 0, "packets with a wrong VCRC") \
	C(RxFlowCtrlErrCnt, 0x0a0, NONE, 0, "") \
	C(RxBadFormatCnt, 0x0a8, OWN, 0, "packets that are no transport packets") \
	C(RxLinkProblemCnt, 0x0b0, NONE, 0, "") \
	C(RxEBPCnt, 0x0b8, PORT, FW_PC_RCV_REMOTE_PHYS, "packets that the sender marked as bad") \
	C(RxLPCRCErrCnt, 0x0c0, NONE, 0, "") \
	C(RxBufOvflCnt, 0x0c8, NONE, 0, "") \
	C(RxTIDFullErrCnt, 0x0d0, OWN, 0, "packets for which no eager buffer was left") \
	C(RxTIDValidErrCnt, 0x0d8, OWN, 0, "packets for an eager entry that is not valid") \
	C(RxPKeyMismatchCnt, 0x0e0, NONE, 0, "") \
	C(RxHdrEgrOvflCnt0, 0x0e8, OWN, 0, "packets that context 0 had no room for") \
	C(RxHdrEgrOvflCnt1, 0x0f0, NONE, 0, "") \
	C(RxHdrEgrOvflCnt2, 0x0f8, NONE, 0, "") \
	C(RxHdrEgrOvflCnt3, 0x100, NONE, 0, "") \
	C(RxHdrEgrOvflCnt4, 0x108, NONE, 0, "") \
	C(IBStatusChangeCnt, 0x140, OWN, 0, "changes of the link's state") \
	C(IBLinkErrRecoveryCnt, 0x148, PORT, FW_PC_LINK_RECOVERY, "times the link recovered") \
	C(IBLinkDownedCnt, 0x150, PORT, FW_PC_LINK_DOWNED, "times the link went down") \
	C(IBSymbolErrCnt, 0x158, PORT, FW_PC_SYMBOL_ERROR, "minor errors of the link") \
	C(PcieRetryBufDiagQwordCnt, 0x170, NONE, 0, "")

/* clang-format on */

enum ipath_register {
#define R(name, offset, count, kind, reset, meaning) IPATH_##name = (offset),
	IPATH_REGISTERS(R)
#undef R
};

enum ipath_counter {
#define C(name, offset, what, port, meaning) IPATH_COUNT_##name,
	IPATH_COUNTER_ROWS(C)
#undef C
		IPATH_COUNTS
};

#define IPATH_BIT(n) (UINT64_C(1) << (n))

/* Revision: chip 4.1, architecture, software 2, board 2 (QLE7140). From revision 4.2 on the driver
 * counts some errors by GPIO pins (qib_setup_6120_interrupt). */
#define IPATH_REVISION (1 | 4 << 8 | 2 << 16 | 2 << 24 | (uint64_t)2 << 32)

#define IPATH_CONTROL_RESET  IPATH_BIT(0)
#define IPATH_CONTROL_FREEZE IPATH_BIT(1)
#define IPATH_CONTROL_LINK   IPATH_BIT(2)

#define IPATH_INT_RECEIVED(context) IPATH_BIT(12 + (context))
#define IPATH_INT_SEND_FREE         IPATH_BIT(29)
#define IPATH_INT_ERROR             IPATH_BIT(31)

#define IPATH_ERR_FORMAT       IPATH_BIT(0)
#define IPATH_ERR_VCRC         IPATH_BIT(1)
#define IPATH_ERR_ICRC         IPATH_BIT(2)
#define IPATH_ERR_LONG         IPATH_BIT(5)
#define IPATH_ERR_EAGER_FULL   IPATH_BIT(12)
#define IPATH_ERR_HEADERS_FULL IPATH_BIT(13)
#define IPATH_ERR_BAD_TID      IPATH_BIT(14)
#define IPATH_ERR_SEND_MIN     IPATH_BIT(29)
#define IPATH_ERR_SEND_MAX     IPATH_BIT(30)
#define IPATH_ERR_SEND_LENGTH  IPATH_BIT(32)
#define IPATH_ERR_SEND_SMP     IPATH_BIT(33) /* dropped */
#define IPATH_ERR_SEND_DATA    IPATH_BIT(34) /* dropped */
#define IPATH_ERR_ARM_LAUNCH   IPATH_BIT(35)
#define IPATH_ERR_SEND_VL      IPATH_BIT(37)
#define IPATH_ERR_LINK_STATE   IPATH_BIT(48)

#define IPATH_DIAG_COUNTERS IPATH_BIT(61)

/* IBCStatus */
enum {
	IPATH_TRAINING_DISABLED = 0x0,
	IPATH_TRAINING_UP = 0x1,
	IPATH_TRAINING_POLL = 0x2,
	IPATH_TRAINING_CONFIG = 0x8,
	IPATH_STATUS_STATE_SHIFT = 4, /* down 0, initialize 1, armed 2, active 3 */
};
#define IPATH_STATUS_READY   IPATH_BIT(30)
#define IPATH_STATUS_CREDITS IPATH_BIT(31)

/* IBCCtrl */
enum {
	IPATH_INIT_SHIFT = 16,
	IPATH_INIT_DISABLE = 1,
	IPATH_COMMAND_SHIFT = 18,
	IPATH_COMMAND_DOWN = 1,
	IPATH_COMMAND_ARMED = 2,
	IPATH_COMMAND_ACTIVE = 3,
	IPATH_COMMAND_MASK = 3,
	IPATH_MAX_SHIFT = 20, /* longest packet to send, with its ICRC, in dwords */
	IPATH_MAX_MASK = 0x7ff,
};

/* EXTStatus and EXTCtrl; the EEPROM hangs on two GPIO pins. */
#define IPATH_EXT_MEMORY_TESTED IPATH_BIT(14)
enum { IPATH_GPIO_SHIFT = 48, IPATH_GPIO_MASK = 0xffff, IPATH_SCL = 1 << 0, IPATH_SDA = 1 << 1 };

/* RcvCtrl */
#define IPATH_RCV_ENABLE(context)    IPATH_BIT(context)
#define IPATH_RCV_INTERRUPT(context) IPATH_BIT(16 + (context))
#define IPATH_RCV_TAIL               IPATH_BIT(31)

/* SendCtrl */
#define IPATH_SEND_ABORT     IPATH_BIT(0)
#define IPATH_SEND_INTERRUPT IPATH_BIT(1)
#define IPATH_SEND_AVAIL     IPATH_BIT(2)
#define IPATH_SEND_ENABLE    IPATH_BIT(3)
#define IPATH_SEND_DISARM    IPATH_BIT(31)
enum { IPATH_SEND_BUFFER_SHIFT = 16, IPATH_SEND_BUFFER_MASK = 0x7f };

/* The first quadword of a send buffer: dwords of the packet, and one for itself. */
enum { IPATH_PBC_BYTES = 8, IPATH_PBC_LENGTH = 0x7ff };

/* An eager entry: address / 2 KiB, and the code of its size. */
enum {
	IPATH_EAGER_SHIFT = 11,
	IPATH_EAGER_ADDRESS = 0x1fffffff,
	IPATH_EAGER_SIZE_SHIFT = 29, /* 1: 2 KiB, 2: 4 KiB, ... */
	IPATH_EAGER_SIZE_MAX = 6,
	IPATH_EAGER_BYTES = 2048, /* of size 1 */
};

/* User registers of a context, in their order. */
enum ipath_user {
	IPATH_USER_HDR_TAIL,
	IPATH_USER_HDR_HEAD,
	IPATH_USER_EGR_TAIL,
	IPATH_USER_EGR_HEAD,
	IPATH_USER_REGISTERS
};
#define IPATH_HEAD_INTERRUPT IPATH_BIT(32) /* in HDR_HEAD: interrupt at the next packet */

/* An entry of the header queue: two dwords, then the packet's headers. */
enum {
	IPATH_RHF_BYTES = 8,
	IPATH_RHF_TYPE_SHIFT = 11,
	IPATH_RHF_PLAIN = 2, /* a packet that is not of the vendor's own protocol */
	IPATH_RHF_EAGER_SHIFT = 16,
	/* second dword */
	IPATH_RHF_VCRC = 0x40000000,
	IPATH_RHF_LENGTH = 0x10000000,
};
#define IPATH_RHF_ICRC UINT32_C(0x80000000)

/* The EEPROM: struct qib_flash of qib_common.h. */
enum {
	IPATH_EEPROM_BYTES = 128,
	IPATH_EEPROM_VERSION = 0x00,
	IPATH_EEPROM_CHECKSUM = 0x01,
	IPATH_EEPROM_LENGTH = 0x02,
	IPATH_EEPROM_GUID = 0x03,
	IPATH_EEPROM_GUIDS = 0x0b,
	IPATH_EEPROM_SERIAL = 0x0c,
	IPATH_EEPROM_MADE = 0x18,
	IPATH_EEPROM_TESTED = 0x20,
	IPATH_EEPROM_COMMENT = 0x2e,
	IPATH_EEPROM_USED = 0x52,
};

#endif
