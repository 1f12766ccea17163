/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work queue, completion queue and event queue entries.
 *
 * A send WQE is a control segment, then further segments of multiples of 16 bytes, in this order:
 * datagram | remote address [atomic], data... Bind, fast register and local invalidate segments
 * stand alone. A receive WQE is a list of data segments; on an SRQ a next segment comes first.
 *
 * Ownership: a send WQE with index i in a queue of n is owned by the device when its owner bit
 * equals (i & n) != 0. By the same rule, applied to the consumer index, a CQE or EQE is owned by
 * software. The byte with the owner bit is written last. Source: Linux mlx4_ib,
 * include/linux/mlx4/{qp,cq,device}.h, rdma-core libmlx4 wqe.h.
 */
#ifndef MODEL_INTERFACE_QUEUES_H
#define MODEL_INTERFACE_QUEUES_H

#include "model/interface/contexts.h"

/* clang-format off */

/* Properties of a send opcode: which segments follow the control segment, and what the device does
 * with them. */
enum wqe_prop {
	WQE_P_DATAGRAM = 1 << 0,  /* datagram segment on UD */
	WQE_P_RADDR    = 1 << 1,  /* remote address segment */
	WQE_P_ATOMIC   = 1 << 2,  /* atomic segment, 16 bytes */
	WQE_P_ATOMIC32 = 1 << 3,  /* masked compare and swap segment, 32 bytes */
	WQE_P_DATA     = 1 << 4,  /* data segments */
	WQE_P_SEND     = 1 << 5,  /* a SEND on the wire */
	WQE_P_WRITE    = 1 << 6,  /* an RDMA WRITE on the wire */
	WQE_P_READ     = 1 << 7,  /* an RDMA READ on the wire */
	WQE_P_FETCH    = 1 << 8,  /* an atomic on the wire, 8 bytes come back */
	WQE_P_MASKED   = 1 << 9,  /* masked atomic */
	WQE_P_IMM      = 1 << 10, /* carries immediate data */
	WQE_P_INV      = 1 << 11, /* carries an R_Key to invalidate */
	WQE_P_LOCAL    = 1 << 12, /* done in the device, nothing on the wire */
	WQE_P_MPT      = 1 << 13, /* changes an MPT */
	WQE_P_GSO      = 1 << 14, /* segmentation, not offered */
};

/* Q(NAME, code, properties, services that may post it (enum service_mask), meaning) */
#define WQE_OPCODES(Q) \
	Q(NOP,              0x00, WQE_P_LOCAL, SVC_RC | SVC_UC | SVC_UD | SVC_XRC | SVC_MLX, "no operation") \
	Q(SEND_INV,         0x01, WQE_P_SEND | WQE_P_DATA | WQE_P_INV, SVC_RC | SVC_XRC, "send with invalidate") \
	Q(RDMA_WRITE,       0x08, WQE_P_WRITE | WQE_P_RADDR | WQE_P_DATA, SVC_RC | SVC_UC | SVC_XRC, "RDMA write") \
	Q(RDMA_WRITE_IMM,   0x09, WQE_P_WRITE | WQE_P_RADDR | WQE_P_DATA | WQE_P_IMM, SVC_RC | SVC_UC | SVC_XRC, "RDMA write with immediate") \
	Q(SEND,             0x0a, WQE_P_SEND | WQE_P_DATAGRAM | WQE_P_DATA, SVC_RC | SVC_UC | SVC_UD | SVC_XRC | SVC_MLX, "send") \
	Q(SEND_IMM,         0x0b, WQE_P_SEND | WQE_P_DATAGRAM | WQE_P_DATA | WQE_P_IMM, SVC_RC | SVC_UC | SVC_UD | SVC_XRC | SVC_MLX, "send with immediate") \
	Q(LSO,              0x0e, WQE_P_DATAGRAM | WQE_P_DATA | WQE_P_GSO, 0, "segmented send, not offered") \
	Q(RDMA_READ,        0x10, WQE_P_READ | WQE_P_RADDR | WQE_P_DATA, SVC_RC | SVC_XRC, "RDMA read") \
	Q(ATOMIC_CS,        0x11, WQE_P_FETCH | WQE_P_RADDR | WQE_P_ATOMIC | WQE_P_DATA, SVC_RC | SVC_XRC, "compare and swap") \
	Q(ATOMIC_FA,        0x12, WQE_P_FETCH | WQE_P_RADDR | WQE_P_ATOMIC | WQE_P_DATA, SVC_RC | SVC_XRC, "fetch and add") \
	Q(MASKED_ATOMIC_CS, 0x14, WQE_P_FETCH | WQE_P_RADDR | WQE_P_ATOMIC32 | WQE_P_MASKED | WQE_P_DATA, SVC_RC, "masked compare and swap") \
	Q(MASKED_ATOMIC_FA, 0x15, WQE_P_FETCH | WQE_P_RADDR | WQE_P_ATOMIC | WQE_P_MASKED | WQE_P_DATA, SVC_RC, "masked fetch and add") \
	Q(BIND_MW,          0x18, WQE_P_LOCAL | WQE_P_MPT, SVC_RC | SVC_UC | SVC_XRC, "bind memory window") \
	Q(FAST_REG,         0x19, WQE_P_LOCAL | WQE_P_MPT, SVC_RC | SVC_UC | SVC_XRC, "fast register") \
	Q(LOCAL_INV,        0x1b, WQE_P_LOCAL | WQE_P_MPT, SVC_RC | SVC_UC | SVC_XRC, "local invalidate") \
	Q(CONFIG,           0x1f, WQE_P_LOCAL, 0, "not offered")

#define WQE_CTRL_FIELDS(F, A, B, U, E) \
	F(wqe_ctrl, 32, owner,        0x0, 31, 31, "owner") \
	F(wqe_ctrl, 32, nec,          0x0, 29, 29, "no Ethernet CRC") \
	F(wqe_ctrl, 32, iip,          0x0, 28, 28, "inner IP checksum") \
	F(wqe_ctrl, 32, ilp,          0x0, 27, 27, "inner L4 checksum") \
	F(wqe_ctrl, 32, bf_index,     0x0, 23,  8, "BlueFlame: WQE index; ignored in memory") \
	F(wqe_ctrl, 32, opcode,       0x0,  4,  0, "opcode") \
	F(wqe_ctrl, 32, bf_qpn,       0x4, 31,  8, "BlueFlame: QP number; ignored in memory") \
	F(wqe_ctrl, 32, fence,        0x4,  6,  6, "wait for earlier reads and atomics") \
	F(wqe_ctrl, 32, ds,           0x4,  5,  0, "length in 16-byte units, this segment included") \
	F(wqe_ctrl, 32, xrc_srqn,     0x8, 31,  8, "XRC: SRQ at the responder") \
	U(wqe_ctrl, 32, vlan,         0x4, 31, 16, "frame: priority and VLAN of the tag to insert") \
	U(wqe_ctrl, 32, insert_vlan,  0x4, 14, 14, "frame: insert a tag of type 0x8100") \
	U(wqe_ctrl, 32, dmac_hi,      0x8, 31, 16, "frame: copy of the first bytes of its DMAC, for loopback") \
	F(wqe_ctrl, 32, strong_order, 0x8,  7,  7, "strong ordering") \
	F(wqe_ctrl, 32, tcp_udp_csum, 0x8,  5,  5, "TCP/UDP checksum offload") \
	F(wqe_ctrl, 32, ip_csum,      0x8,  4,  4, "IP checksum offload") \
	F(wqe_ctrl, 32, cqe,          0x8,  3,  2, "3 make a CQE, 0 only on error") \
	F(wqe_ctrl, 32, solicited,    0x8,  1,  1, "solicited event") \
	F(wqe_ctrl, 32, loopback,     0x8,  0,  0, "force loopback") \
	U(wqe_ctrl, 32, dmac_lo,      0xc, 31,  0, "frame: copy of the rest") \
	F(wqe_ctrl, 32, imm,          0xc, 31,  0, "immediate as on the wire, or the R_Key to invalidate")

#define WQE_MLX_CTRL_FIELDS(F, A, B, U, E) \
	F(wqe_mlx_ctrl, 32, owner,       0x0, 31, 31, "owner") \
	F(wqe_mlx_ctrl, 32, opcode,      0x0,  4,  0, "opcode") \
	F(wqe_mlx_ctrl, 32, ds,          0x4,  5,  0, "length in 16-byte units, this segment included") \
	F(wqe_mlx_ctrl, 32, vl15,        0x8, 17, 17, "send on VL15") \
	F(wqe_mlx_ctrl, 32, slr,         0x8, 16, 16, "take the SLID from the given header") \
	F(wqe_mlx_ctrl, 32, static_rate, 0x8, 15, 12, "static rate") \
	F(wqe_mlx_ctrl, 32, sl,          0x8, 11,  8, "service level") \
	F(wqe_mlx_ctrl, 32, icrc,        0x8,  4,  4, "ICRC is given; 0: the device makes it") \
	F(wqe_mlx_ctrl, 32, cqe,         0x8,  3,  2, "3 make a CQE, 0 only on error") \
	F(wqe_mlx_ctrl, 32, solicited,   0x8,  1,  1, "solicited event") \
	F(wqe_mlx_ctrl, 32, loopback,    0x8,  0,  0, "force loopback") \
	F(wqe_mlx_ctrl, 32, rlid,        0xc, 31, 16, "destination LID")

#define WQE_DATA_FIELDS(F, A, B, U, E) \
	F(wqe_data, 32, is_inline,  0x0, 31, 31, "inline segment") \
	F(wqe_data, 32, byte_count, 0x0, 30,  0, "bytes") \
	F(wqe_data, 32, lkey,       0x4, 31,  0, "L_Key; LKEY_INVALID with 0 bytes ends a receive list") \
	F(wqe_data, 64, addr,       0x8, 63,  0, "virtual address")

#define WQE_INLINE_FIELDS(F, A, B, U, E) \
	F(wqe_inline, 32, is_inline,  0x0, 31, 31, "inline segment") \
	F(wqe_inline, 32, byte_count, 0x0, 30,  0, "bytes that follow, up to the next 64-byte boundary of the WQE")

#define WQE_RADDR_FIELDS(F, A, B, U, E) \
	F(wqe_raddr, 64, va,   0x0, 63, 0, "remote virtual address") \
	F(wqe_raddr, 32, rkey, 0x8, 31, 0, "R_Key")

#define WQE_ATOMIC_FIELDS(F, A, B, U, E) \
	F(wqe_atomic, 64, swap_add, 0x0, 63, 0, "value to swap in, or to add") \
	F(wqe_atomic, 64, compare,  0x8, 63, 0, "value to compare with") \
	U(wqe_atomic, 64, boundary, 0x8, 63, 0, "masked fetch and add: top bit of each field")

#define WQE_MASKED_CAS_FIELDS(F, A, B, U, E) \
	F(wqe_masked_cas, 64, swap,         0x00, 63, 0, "value to swap in") \
	F(wqe_masked_cas, 64, compare,      0x08, 63, 0, "value to compare with") \
	F(wqe_masked_cas, 64, swap_mask,    0x10, 63, 0, "bits that are swapped") \
	F(wqe_masked_cas, 64, compare_mask, 0x18, 63, 0, "bits that are compared")

#define WQE_DATAGRAM_FIELDS(F, A, B, U, E) \
	F(wqe_datagram, 32, loopback,    0x00, 31, 31, "force loopback") \
	F(wqe_datagram, 32, vlan,        0x00, 29, 29, "VLAN present, Ethernet") \
	F(wqe_datagram, 32, port,        0x00, 25, 24, "port") \
	F(wqe_datagram, 32, pd,          0x00, 23,  0, "protection domain") \
	F(wqe_datagram,  8, grh,         0x05,  7,  7, "send a GRH") \
	F(wqe_datagram,  8, path_bits,   0x05,  6,  0, "source path bits") \
	U(wqe_datagram,  8, smac_index,  0x05,  6,  0, "Ethernet: source MAC, index into the port's table") \
	F(wqe_datagram, 16, rlid,        0x06, 15,  0, "destination LID") \
	F(wqe_datagram,  8, mgid_index,  0x09,  6,  0, "source GID index") \
	F(wqe_datagram,  8, static_rate, 0x0a,  7,  0, "0 port rate, else ib_rate + 5") \
	F(wqe_datagram,  8, hop_limit,   0x0b,  7,  0, "GRH hop limit") \
	F(wqe_datagram, 32, sl,          0x0c, 31, 28, "service level") \
	F(wqe_datagram, 32, tclass,      0x0c, 27, 20, "GRH traffic class") \
	F(wqe_datagram, 32, flow_label,  0x0c, 19,  0, "GRH flow label") \
	B(wqe_datagram,     dgid,        0x10, 16,     "destination GID") \
	F(wqe_datagram, 32, dqpn,        0x20, 23,  0, "destination QP") \
	F(wqe_datagram, 32, qkey,        0x24, 31,  0, "Q_Key; with bit 31 set that of the QP") \
	F(wqe_datagram, 16, tci,         0x28, 15, 0,  "Ethernet: priority and VLAN, 0xffff none") \
	B(wqe_datagram,     dmac,        0x2a, 6,      "Ethernet: destination MAC")

#define WQE_BIND_FIELDS(F, A, B, U, E) \
	F(wqe_bind, 32, remote_atomic, 0x00, 31, 31, "remote atomic") \
	F(wqe_bind, 32, remote_write,  0x00, 30, 30, "remote write") \
	F(wqe_bind, 32, remote_read,   0x00, 29, 29, "remote read") \
	F(wqe_bind, 32, type2,         0x04, 31, 31, "type 2 window") \
	F(wqe_bind, 32, zero_based,    0x04, 30, 30, "zero based addresses") \
	F(wqe_bind, 32, new_rkey,      0x08, 31,  0, "new R_Key of the window") \
	F(wqe_bind, 32, lkey,          0x0c, 31,  0, "L_Key of the region") \
	F(wqe_bind, 64, addr,          0x10, 63,  0, "first virtual address") \
	F(wqe_bind, 64, length,        0x18, 63,  0, "bytes, 0 unbinds")

#define WQE_LOCAL_INV_FIELDS(F, A, B, U, E) \
	F(wqe_local_inv, 32, key, 0x08, 31, 0, "L_Key or R_Key to invalidate")

#define WQE_FAST_REG_FIELDS(F, A, B, U, E) \
	F(wqe_fast_reg, 32, remote_atomic,     0x00, 31, 31, "remote atomic") \
	F(wqe_fast_reg, 32, remote_write,      0x00, 30, 30, "remote write") \
	F(wqe_fast_reg, 32, remote_read,       0x00, 29, 29, "remote read") \
	F(wqe_fast_reg, 32, local_write,       0x00, 28, 28, "local write") \
	F(wqe_fast_reg, 32, local_read,        0x00, 27, 27, "local read") \
	F(wqe_fast_reg, 32, fbo_enable,        0x00, 26, 26, "first byte offset enable") \
	F(wqe_fast_reg, 32, length64,          0x00, 25, 25, "64-bit length") \
	F(wqe_fast_reg, 32, bind_enable,       0x00, 21, 21, "windows may be bound") \
	F(wqe_fast_reg, 32, block_mode,        0x00, 20, 20, "block mode") \
	F(wqe_fast_reg, 32, mtt_rep,           0x00, 19, 16, "MTT repeat") \
	F(wqe_fast_reg, 32, key,               0x04, 31,  0, "key, its low byte is the new variant") \
	F(wqe_fast_reg, 64, page_list,         0x08, 63,  0, "bus address of the page list (mtt_entry)") \
	F(wqe_fast_reg, 64, start,             0x10, 63,  0, "first virtual address") \
	F(wqe_fast_reg, 64, length,            0x18, 63,  0, "bytes") \
	F(wqe_fast_reg, 32, first_byte_offset, 0x20, 31,  0, "offset of the first byte in the first page") \
	F(wqe_fast_reg, 32, log_page_size,     0x24, 20,  0, "log2 page size")

#define SRQ_NEXT_FIELDS(F, A, B, U, E) \
	F(srq_next, 16, next_wqe_index, 0x2, 15, 0, "slot of the receive after this one")

#define CQE_RECV_OPCODES(K) \
	K(CQE_RECV, WRITE_IMM, 0x00, "RDMA write with immediate received") \
	K(CQE_RECV, SEND,      0x01, "send received") \
	K(CQE_RECV, SEND_IMM,  0x02, "send with immediate received") \
	K(CQE_RECV, SEND_INV,  0x03, "send with invalidate received")

/* Bits of csum_status. Source: Linux include/linux/mlx4/cq.h. */
#define CQE_CSUMS(K) \
	K(CQE_CSUM, IPV4,          0x0040, "IPv4 without options") \
	K(CQE_CSUM, IPV4_FRAGMENT, 0x0080, "a fragment") \
	K(CQE_CSUM, IPV6,          0x0100, "IPv6") \
	K(CQE_CSUM, IPV4_OPTIONS,  0x0200, "IPv4 with options") \
	K(CQE_CSUM, TCP,           0x0400, "TCP") \
	K(CQE_CSUM, UDP,           0x0800, "UDP") \
	K(CQE_CSUM, IP_OK,         0x1000, "the checksum of the IP header is right")

/* Opcodes for both sides. A completed send reports the opcode of its WQE instead. */
#define CQE_OPCODES(K) \
	K(CQE_OP, RESIZE, 0x16, "the CQ goes on in its new buffer") \
	K(CQE_OP, ERROR,  0x1e, "failed, layout cqe_err")

/* S(NAME, code, ibv_wc_status number, its name) */
#define CQE_SYNDROMES(S) \
	S(LOC_LEN_ERR,       0x01,  1, "IBV_WC_LOC_LEN_ERR") \
	S(LOC_QP_OP_ERR,     0x02,  2, "IBV_WC_LOC_QP_OP_ERR") \
	S(LOC_PROT_ERR,      0x04,  4, "IBV_WC_LOC_PROT_ERR") \
	S(WR_FLUSH_ERR,      0x05,  5, "IBV_WC_WR_FLUSH_ERR") \
	S(MW_BIND_ERR,       0x06,  6, "IBV_WC_MW_BIND_ERR") \
	S(BAD_RESP_ERR,      0x10,  7, "IBV_WC_BAD_RESP_ERR") \
	S(LOC_ACCESS_ERR,    0x11,  8, "IBV_WC_LOC_ACCESS_ERR") \
	S(REM_INV_REQ_ERR,   0x12,  9, "IBV_WC_REM_INV_REQ_ERR") \
	S(REM_ACCESS_ERR,    0x13, 10, "IBV_WC_REM_ACCESS_ERR") \
	S(REM_OP_ERR,        0x14, 11, "IBV_WC_REM_OP_ERR") \
	S(RETRY_EXC_ERR,     0x15, 12, "IBV_WC_RETRY_EXC_ERR") \
	S(RNR_RETRY_EXC_ERR, 0x16, 13, "IBV_WC_RNR_RETRY_EXC_ERR") \
	S(REM_ABORT_ERR,     0x22, 16, "IBV_WC_REM_ABORT_ERR")

#define CQE_ERR_FIELDS(F, A, B, U, E) \
	F(cqe_err, 32, my_qpn,    0x00, 23, 0, "QP number") \
	F(cqe_err, 32, srqn,      0x08, 23, 0, "XRC receive: SRQ number") \
	F(cqe_err, 16, wqe_index, 0x18, 15, 0, "WQE index, SRQ: slot") \
	F(cqe_err,  8, vendor,    0x1a,  7, 0, "vendor syndrome") \
	F(cqe_err,  8, syndrome,  0x1b,  7, 0, "syndrome") \
	F(cqe_err,  8, owner,     0x1f,  7, 7, "owner") \
	F(cqe_err,  8, is_send,   0x1f,  6, 6, "completion of the send queue") \
	F(cqe_err,  8, opcode,    0x1f,  4, 0, "CQE_OP_ERROR")

#define CQE_FIELDS(F, A, B, U, E) \
	E(cqe, cqe_err, as_err,     0x00,         "the entry read as a failed completion") \
	F(cqe, 32, dife,            0x00, 31, 31, "data integrity error") \
	F(cqe, 32, vlan,            0x00, 30, 29, "VLAN present") \
	F(cqe, 32, loopback,        0x00, 28, 28, "came by forced loopback") \
	F(cqe, 32, my_qpn,          0x00, 23,  0, "QP number") \
	F(cqe, 32, imm,             0x04, 31,  0, "immediate as on the wire, or invalidated R_Key") \
	U(cqe, 32, rss_hash,        0x04, 31,  0, "frame: hash of its flow") \
	U(cqe, 32, pkey_index,      0x04,  6,  0, "UD without immediate: P_Key index") \
	F(cqe, 32, grh,             0x08, 31, 31, "a GRH came") \
	F(cqe, 32, path_bits,       0x08, 30, 24, "destination path bits") \
	F(cqe, 32, rqpn,            0x08, 23,  0, "UD: source QP; XRC: SRQ number") \
	F(cqe, 16, sl,              0x0c, 15, 12, "service level") \
	U(cqe, 16, priority,        0x0c, 15, 13, "Ethernet: priority") \
	U(cqe, 16, vid,             0x0c, 11,  0, "Ethernet: VLAN") \
	U(cqe, 32, ts_high,         0x0c, 31,  0, "CQ with timestamps: [47:16]") \
	F(cqe, 16, slid,            0x0e, 15,  0, "UD: source LID") \
	U(cqe, 16, smac_hi,         0x0e, 15,  0, "UD, Ethernet: source MAC, first 2 bytes") \
	U(cqe, 32, smac_lo,         0x10, 31,  0, "UD, Ethernet: source MAC, the rest") \
	F(cqe, 16, csum_status,     0x10, 15,  0, "frame: what its checksums are, enum cqe_csum") \
	F(cqe,  8, ipv6_ext,        0x12,  7,  0, "IPv6 extension mask") \
	F(cqe,  8, l4_flags,        0x13,  7,  0, "L4 checksum and bad FCS flags") \
	F(cqe, 32, byte_cnt,        0x14, 31,  0, "bytes") \
	F(cqe, 16, wqe_index,       0x18, 15,  0, "WQE index, SRQ: slot") \
	F(cqe, 16, checksum,        0x1a, 15,  0, "frame of TCP or UDP: 0xffff, its checksum is right") \
	F(cqe,  8, ts_mid,          0x1d,  7,  0, "CQ with timestamps: [15:8]") \
	F(cqe,  8, ts_low,          0x1e,  7,  0, "CQ with timestamps: [7:0]") \
	F(cqe,  8, owner,           0x1f,  7,  7, "owner") \
	F(cqe,  8, is_send,         0x1f,  6,  6, "completion of the send queue") \
	F(cqe,  8, inline_scatter,  0x1f,  5,  5, "data stands in the entry") \
	F(cqe,  8, opcode,          0x1f,  4,  0, "opcode")

/* V(NAME, code, layout of its data, meaning) */
#define EVENT_TYPES(V) \
	V(COMP,               0x00, eqe_cq,       "CQ completion; routed by the CQ context, not by MAP_EQ") \
	V(PATH_MIG,           0x01, eqe_qp,       "path migrated") \
	V(COMM_EST,           0x02, eqe_qp,       "communication established") \
	V(SQ_DRAINED,         0x03, eqe_qp,       "send queue drained") \
	V(CQ_ERROR,           0x04, eqe_cq,       "CQ error") \
	V(WQ_CATAS_ERROR,     0x05, eqe_qp,       "QP fatal") \
	V(EEC_CATAS_ERROR,    0x06, eqe_none,     "EE context fatal") \
	V(PATH_MIG_FAILED,    0x07, eqe_qp,       "path migration failed") \
	V(LOCAL_CATAS_ERROR,  0x08, eqe_none,     "device fatal") \
	V(PORT_CHANGE,        0x09, eqe_port,     "port up or down") \
	V(CMD,                0x0a, eqe_cmd,      "command completed") \
	V(ECC_DETECT,         0x0e, eqe_none,     "ECC error") \
	V(EQ_OVERFLOW,        0x0f, eqe_none,     "an EQ overflowed") \
	V(WQ_INVAL_REQ_ERROR, 0x10, eqe_qp,       "invalid request received") \
	V(WQ_ACCESS_ERROR,    0x11, eqe_qp,       "remote access violation received") \
	V(SRQ_CATAS_ERROR,    0x12, eqe_srq,      "SRQ fatal") \
	V(SRQ_QP_LAST_WQE,    0x13, eqe_qp,       "last receive of an SRQ's QP consumed") \
	V(SRQ_LIMIT,          0x14, eqe_srq,      "SRQ limit reached") \
	V(COMM_CHANNEL,       0x18, eqe_none,     "SR-IOV channel") \
	V(OP_REQUIRED,        0x1a, eqe_none,     "driver's operation required") \
	V(FATAL_WARNING,      0x1b, eqe_warning,  "temperature") \
	V(FLR,                0x1c, eqe_none,     "function level reset") \
	V(PORT_MNG_CHG,       0x1d, eqe_port_mng, "port management change") \
	V(RECOVERABLE_ERROR,  0x3e, eqe_port_mng, "bad or unsupported cable")

#define PORT_CHANGE_SUBTYPES(K) \
	K(PORT_CHANGE, DOWN,   1, "port down") \
	K(PORT_CHANGE, ACTIVE, 4, "port active")

#define PORT_MNG_SUBTYPES(K) \
	K(PORT_MNG, GUID_INFO,  0x14, "GUID table changed") \
	K(PORT_MNG, PORT_INFO,  0x15, "PortInfo changed") \
	K(PORT_MNG, PKEY_TABLE, 0x16, "P_Key table changed") \
	K(PORT_MNG, SL2VL,      0x17, "SL to VL map changed")

#define PORT_MNG_CHANGES(K) \
	K(PORT_MNG_CHANGED, SM_LID,        0, "bit: SM LID") \
	K(PORT_MNG_CHANGED, GID_PREFIX,    1, "bit: GID prefix") \
	K(PORT_MNG_CHANGED, LID,           2, "bit: LID") \
	K(PORT_MNG_CHANGED, CLIENT_REREG,  3, "bit: client reregister") \
	K(PORT_MNG_CHANGED, SM_SL,         4, "bit: SM SL")

#define CQ_ERROR_SYNDROMES(K) \
	K(CQ_ERROR, OVERRUN, 1, "CQ overrun") \
	K(CQ_ERROR, ACCESS,  2, "CQ access violation")

/* The data of an event, at its place in the 32-byte entry. */
#define EQE_NONE_FIELDS(F, A, B, U, E) \
	B(eqe_none, data, 0x04, 24, "event data")

#define EQE_CQ_FIELDS(F, A, B, U, E) \
	F(eqe_cq, 32, cqn,      0x04, 23, 0, "CQ number") \
	F(eqe_cq,  8, syndrome, 0x0f,  7, 0, "CQ_ERROR: what failed")

#define EQE_QP_FIELDS(F, A, B, U, E) \
	F(eqe_qp, 32, qpn, 0x04, 23, 0, "QP number")

#define EQE_SRQ_FIELDS(F, A, B, U, E) \
	F(eqe_srq, 32, srqn, 0x04, 23, 0, "SRQ number")

#define EQE_CMD_FIELDS(F, A, B, U, E) \
	F(eqe_cmd, 16, token,     0x06, 15, 0, "token of the command") \
	F(eqe_cmd,  8, status,    0x0f,  7, 0, "status of the command") \
	F(eqe_cmd, 64, out_param, 0x10, 63, 0, "immediate output")

#define EQE_PORT_FIELDS(F, A, B, U, E) \
	F(eqe_port, 32, port, 0x0c, 31, 28, "port number")

#define EQE_WARNING_FIELDS(F, A, B, U, E) \
	F(eqe_warning, 16, temperature, 0x04, 15, 0, "temperature") \
	F(eqe_warning, 16, threshold,   0x06, 15, 0, "threshold")

#define EQE_PORT_MNG_FIELDS(F, A, B, U, E) \
	F(eqe_port_mng,  8, port,       0x07,  7, 0, "port number") \
	F(eqe_port_mng, 32, block,      0x08, 31, 0, "tables: block number") \
	F(eqe_port_mng, 32, mask,       0x0c, 31, 0, "tables: changed entries") \
	U(eqe_port_mng, 16, sm_lid,     0x08, 15, 0, "PortInfo: SM LID") \
	U(eqe_port_mng, 16, lid,        0x0a, 15, 0, "PortInfo: LID") \
	U(eqe_port_mng, 32, changed,    0x0c, 31, 0, "PortInfo: what changed") \
	F(eqe_port_mng,  8, sm_sl,      0x13,  7, 0, "PortInfo: SM SL") \
	F(eqe_port_mng, 64, gid_prefix, 0x14, 63, 0, "PortInfo: GID prefix") \
	U(eqe_port_mng, 64, sl2vl,      0x08, 63, 0, "SL2VL: the map")

#define EQE_FIELDS(F, A, B, U, E) \
	E(eqe, eqe_cq,       as_cq,       0x00, "the entry read as a CQ event") \
	E(eqe, eqe_qp,       as_qp,       0x00, "the entry read as a QP event") \
	E(eqe, eqe_srq,      as_srq,      0x00, "the entry read as an SRQ event") \
	E(eqe, eqe_cmd,      as_cmd,      0x00, "the entry read as a command completion") \
	E(eqe, eqe_port,     as_port,     0x00, "the entry read as a port change") \
	E(eqe, eqe_warning,  as_warning,  0x00, "the entry read as a warning") \
	E(eqe, eqe_port_mng, as_port_mng, 0x00, "the entry read as a port management change") \
	F(eqe, 8, type,      0x01, 7, 0, "event type") \
	F(eqe, 8, subtype,   0x03, 7, 0, "event subtype") \
	B(eqe,    data,      0x04, 24,   "event data") \
	F(eqe, 8, slave,     0x1c, 7, 0, "slave") \
	F(eqe, 8, owner,     0x1f, 7, 7, "owner")

#define QUEUE_LAYOUTS(L) \
	L(wqe_ctrl,       16, WQE_CTRL_FIELDS,       "control segment") \
	L(wqe_mlx_ctrl,   16, WQE_MLX_CTRL_FIELDS,   "control segment of a special QP") \
	L(wqe_data,       16, WQE_DATA_FIELDS,       "data segment") \
	L(wqe_inline,      4, WQE_INLINE_FIELDS,     "head of an inline segment") \
	L(wqe_raddr,      16, WQE_RADDR_FIELDS,      "remote address segment") \
	L(wqe_atomic,     16, WQE_ATOMIC_FIELDS,     "atomic segment") \
	L(wqe_masked_cas, 32, WQE_MASKED_CAS_FIELDS, "masked compare and swap segment") \
	L(wqe_datagram,   48, WQE_DATAGRAM_FIELDS,   "datagram segment") \
	L(wqe_bind,       32, WQE_BIND_FIELDS,       "bind segment") \
	L(wqe_local_inv,  32, WQE_LOCAL_INV_FIELDS,  "local invalidate segment") \
	L(wqe_fast_reg,   48, WQE_FAST_REG_FIELDS,   "fast register segment") \
	L(srq_next,       16, SRQ_NEXT_FIELDS,       "next segment of an SRQ receive") \
	L(cqe_err,        32, CQE_ERR_FIELDS,        "failed completion") \
	L(cqe,            32, CQE_FIELDS,            "completion") \
	L(eqe_none,       32, EQE_NONE_FIELDS,       "event without a layout of its own") \
	L(eqe_cq,         32, EQE_CQ_FIELDS,         "CQ event") \
	L(eqe_qp,         32, EQE_QP_FIELDS,         "QP event") \
	L(eqe_srq,        32, EQE_SRQ_FIELDS,        "SRQ event") \
	L(eqe_cmd,        32, EQE_CMD_FIELDS,        "command completion event") \
	L(eqe_port,       32, EQE_PORT_FIELDS,       "port change event") \
	L(eqe_warning,    32, EQE_WARNING_FIELDS,    "warning event") \
	L(eqe_port_mng,   32, EQE_PORT_MNG_FIELDS,   "port management change event") \
	L(eqe,            32, EQE_FIELDS,            "event")

#define QUEUE_CODES(T) \
	T(cqe_recv_opcode,     CQE_RECV_OPCODES) \
	T(cqe_opcode,          CQE_OPCODES) \
	T(cqe_csum,            CQE_CSUMS) \
	T(port_change_subtype, PORT_CHANGE_SUBTYPES) \
	T(port_mng_subtype,    PORT_MNG_SUBTYPES) \
	T(port_mng_change,     PORT_MNG_CHANGES) \
	T(cq_error_syndrome,   CQ_ERROR_SYNDROMES)

/* clang-format on */

#define WQE_OPCODE_ENUM(name, code, props, services, meaning) WQE_##name = (code),
enum wqe_opcode { WQE_OPCODES(WQE_OPCODE_ENUM) };

#define CQE_SYNDROME_ENUM(name, code, wc, wc_name) CQE_SYND_##name = (code),
enum cqe_syndrome { CQE_SYND_NONE = 0, CQE_SYNDROMES(CQE_SYNDROME_ENUM) };

#define EVENT_TYPE_ENUM(name, code, layout, meaning) EVENT_##name = (code),
enum event_type { EVENT_TYPES(EVENT_TYPE_ENUM) };

QUEUE_LAYOUTS(LAYOUT_DEFINE)
QUEUE_CODES(CODES_DEFINE)

enum queue_facts {
	WQE_UNIT = 16, /* unit of ds */
	/* no inline segment crosses a chunk boundary; software stamps the first dword of a chunk */
	WQE_CHUNK = 64,
	WQE_CQE_ALWAYS = 3,   /* value of wqe_ctrl.cqe that asks for a CQE */
	WQE_OPCODES_MAX = 32, /* opcodes are 5 bits */
	CQE_SIZE = 32,
	EQE_SIZE = 32,
	/* real hardware fills a new CQ with this; bit 7 of the last byte gives each CQE to the
	 * device */
	CQE_INIT_BYTE = 0xcc,
	CQE_OWNER_OFFSET = 0x1f,
	CQE_CVLAN = 1,               /* value of cqe.vlan: a tag of type 0x8100 */
	UD_GRH_AREA = 40,            /* bytes reserved before the data of every UD receive */
	QUEUE_INDEX_MASK = 0xffffff, /* consumer and producer indices of CQs and EQs */
};

#endif
