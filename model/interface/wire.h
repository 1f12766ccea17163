/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfiniBand packets: headers, BTH opcodes with their properties, management datagrams.
 *
 * On the wire: LRH [GRH] BTH [extended headers] payload pad ICRC VCRC; headers big-endian, both
 * CRCs low byte first. Extended headers stand in the order of enum bth_ext. A packet path tests
 * properties of the opcode's row, never lists of opcodes. Source: InfiniBand Architecture
 * Specification vol. 1, ch. 7, 8, 9, 13, 14, 16 and annexes A14 (XRC), A17. Masked atomics use
 * manufacturer opcodes; their number and format are an assumption.
 */
#ifndef MODEL_INTERFACE_WIRE_H
#define MODEL_INTERFACE_WIRE_H

#include "model/interface/contexts.h"
#include "model/interface/field.h"

/* clang-format off */

#define LRH_FIELDS(F, A, B, U, E) \
	F(lrh,  8, vl,      0, 7, 4, "virtual lane") \
	F(lrh,  8, lver,    0, 3, 0, "link version, 0") \
	F(lrh,  8, sl,      1, 7, 4, "service level") \
	F(lrh,  8, lnh,     1, 1, 0, "link next header") \
	F(lrh, 16, dlid,    2, 15, 0, "destination LID") \
	F(lrh, 16, pkt_len, 4, 10, 0, "4-byte words from LRH through ICRC") \
	F(lrh, 16, slid,    6, 15, 0, "source LID")

#define GRH_FIELDS(F, A, B, U, E) \
	F(grh, 32, ip_ver,     0, 31, 28, "6") \
	F(grh, 32, tclass,     0, 27, 20, "traffic class") \
	F(grh, 32, flow_label, 0, 19,  0, "flow label") \
	F(grh, 16, pay_len,    4, 15,  0, "bytes from BTH through ICRC") \
	F(grh,  8, next_hdr,   6,  7,  0, "0x1b: BTH follows") \
	F(grh,  8, hop_limit,  7,  7,  0, "hop limit") \
	B(grh,     sgid,       8, 16,     "source GID") \
	B(grh,     dgid,      24, 16,     "destination GID")

#define BTH_FIELDS(F, A, B, U, E) \
	F(bth,  8, opcode,    0,  7,  0, "opcode") \
	F(bth,  8, solicited, 1,  7,  7, "solicited event") \
	F(bth,  8, mig_req,   1,  6,  6, "migration state, 1 migrated") \
	F(bth,  8, pad,       1,  5,  4, "pad bytes after the payload") \
	F(bth,  8, tver,      1,  3,  0, "transport version, 0") \
	F(bth, 16, pkey,      2, 15,  0, "P_Key") \
	F(bth, 32, fecn,      4, 31, 31, "forward congestion") \
	F(bth, 32, becn,      4, 30, 30, "backward congestion") \
	F(bth, 32, dqpn,      4, 23,  0, "destination QP") \
	F(bth, 32, ack_req,   8, 31, 31, "acknowledge request") \
	F(bth, 32, psn,       8, 23,  0, "packet sequence number")

#define XRCETH_FIELDS(F, A, B, U, E) \
	F(xrceth, 32, srqn, 0, 23, 0, "SRQ at the responder")

#define DETH_FIELDS(F, A, B, U, E) \
	F(deth, 32, qkey, 0, 31, 0, "Q_Key") \
	F(deth, 32, sqpn, 4, 23, 0, "source QP")

#define RETH_FIELDS(F, A, B, U, E) \
	F(reth, 64, va,      0, 63, 0, "virtual address") \
	F(reth, 32, rkey,    8, 31, 0, "R_Key") \
	F(reth, 32, dma_len, 12, 31, 0, "bytes of the whole message")

#define ATOMICETH_FIELDS(F, A, B, U, E) \
	F(atomiceth, 64, va,        0, 63, 0, "virtual address") \
	F(atomiceth, 32, rkey,      8, 31, 0, "R_Key") \
	F(atomiceth, 64, swap_add, 12, 63, 0, "value to swap in, or to add") \
	F(atomiceth, 64, compare,  20, 63, 0, "value to compare with")

#define MASKED_CASETH_FIELDS(F, A, B, U, E) \
	F(masked_caseth, 64, va,            0, 63, 0, "virtual address") \
	F(masked_caseth, 32, rkey,          8, 31, 0, "R_Key") \
	F(masked_caseth, 64, swap,         12, 63, 0, "value to swap in") \
	F(masked_caseth, 64, compare,      20, 63, 0, "value to compare with") \
	F(masked_caseth, 64, swap_mask,    28, 63, 0, "bits that are swapped") \
	F(masked_caseth, 64, compare_mask, 36, 63, 0, "bits that are compared")

#define MASKED_FAETH_FIELDS(F, A, B, U, E) \
	F(masked_faeth, 64, va,        0, 63, 0, "virtual address") \
	F(masked_faeth, 32, rkey,      8, 31, 0, "R_Key") \
	F(masked_faeth, 64, add,      12, 63, 0, "value to add") \
	F(masked_faeth, 64, boundary, 20, 63, 0, "top bit of each field")

#define AETH_FIELDS(F, A, B, U, E) \
	F(aeth, 32, syndrome, 0, 31, 24, "syndrome, see syndromes.h") \
	F(aeth, 32, msn,      0, 23,  0, "message sequence number")

#define ATOMICACKETH_FIELDS(F, A, B, U, E) \
	F(atomicacketh, 64, original, 0, 63, 0, "value before the operation")

#define IMMDT_FIELDS(F, A, B, U, E) \
	F(immdt, 32, imm, 0, 31, 0, "immediate data")

#define IETH_FIELDS(F, A, B, U, E) \
	F(ieth, 32, rkey, 0, 31, 0, "R_Key to invalidate")

#define MAD_HDR_FIELDS(F, A, B, U, E) \
	F(mad_hdr,  8, base_version,   0,  7,  0, "1") \
	F(mad_hdr,  8, mgmt_class,     1,  7,  0, "management class") \
	F(mad_hdr,  8, class_version,  2,  7,  0, "class version") \
	F(mad_hdr,  8, method,         3,  7,  0, "method, bit 7 a response") \
	F(mad_hdr, 16, status,         4, 15,  0, "status; directed route: bit 15 is the direction") \
	U(mad_hdr, 16, direction,      4, 15, 15, "directed route: 1 on the way back") \
	F(mad_hdr, 16, class_specific, 6, 15,  0, "class specific") \
	U(mad_hdr,  8, hop_pointer,    6,  7,  0, "directed route: hop pointer") \
	U(mad_hdr,  8, hop_count,      7,  7,  0, "directed route: hop count") \
	F(mad_hdr, 64, tid,            8, 63,  0, "transaction id") \
	F(mad_hdr, 16, attr_id,       16, 15,  0, "attribute") \
	F(mad_hdr, 32, attr_mod,      20, 31,  0, "attribute modifier")

#define SMP_FIELDS(F, A, B, U, E) \
	E(smp, mad_hdr, hdr,    0,        "MAD header") \
	F(smp, 64, mkey,       24, 63, 0, "M_Key") \
	F(smp, 16, dr_slid,    32, 15, 0, "directed route: source LID, 0xffff none") \
	F(smp, 16, dr_dlid,    34, 15, 0, "directed route: destination LID, 0xffff none") \
	B(smp, data,           64, 64,    "attribute") \
	B(smp, initial_path,  128, 64,    "directed route: ports on the way out") \
	B(smp, return_path,   192, 64,    "directed route: ports on the way back")

#define GMP_FIELDS(F, A, B, U, E) \
	E(gmp, mad_hdr, hdr, 0,   "MAD header") \
	B(gmp, data,        64, 192, "performance management: attribute")

#define NODE_INFO_FIELDS(F, A, B, U, E) \
	F(node_info,  8, base_version,   0,  7,  0, "1") \
	F(node_info,  8, class_version,  1,  7,  0, "1") \
	F(node_info,  8, node_type,      2,  7,  0, "1 channel adapter, 2 switch, 3 router") \
	F(node_info,  8, num_ports,      3,  7,  0, "ports") \
	F(node_info, 64, sys_guid,       4, 63,  0, "system image GUID") \
	F(node_info, 64, node_guid,     12, 63,  0, "node GUID") \
	F(node_info, 64, port_guid,     20, 63,  0, "port GUID") \
	F(node_info, 16, partition_cap, 28, 15,  0, "P_Key table size") \
	F(node_info, 16, device_id,     30, 15,  0, "device id") \
	F(node_info, 32, revision,      32, 31,  0, "revision") \
	F(node_info, 32, local_port,    36, 31, 24, "port the SMP came by") \
	F(node_info, 32, vendor_id,     36, 23,  0, "vendor id")

#define PORT_INFO_FIELDS(F, A, B, U, E) \
	F(port_info, 64, mkey,              0, 63,  0, "M_Key") \
	F(port_info, 64, gid_prefix,        8, 63,  0, "GID prefix") \
	F(port_info, 16, lid,              16, 15,  0, "base LID") \
	F(port_info, 16, sm_lid,           18, 15,  0, "LID of the master SM") \
	F(port_info, 32, cap_mask,         20, 31,  0, "capability mask, enum port_cap") \
	F(port_info, 16, diag_code,        24, 15,  0, "diagnostic code") \
	F(port_info, 16, mkey_lease,       26, 15,  0, "M_Key lease period in s") \
	F(port_info,  8, local_port,       28,  7,  0, "port the SMP came by") \
	F(port_info,  8, width_enabled,    29,  7,  0, "link widths enabled; 0xff all supported") \
	F(port_info,  8, width_supported,  30,  7,  0, "link widths supported") \
	F(port_info,  8, width_active,     31,  7,  0, "link width") \
	F(port_info,  8, speed_supported,  32,  7,  4, "link speeds supported") \
	F(port_info,  8, state,            32,  3,  0, "port state; Set: 0 no change") \
	F(port_info,  8, phys_state,       33,  7,  4, "physical state; Set: 0 no change") \
	F(port_info,  8, down_default,     33,  3,  0, "physical state after link down") \
	F(port_info,  8, mkey_protect,     34,  7,  6, "M_Key protection") \
	F(port_info,  8, lmc,              34,  2,  0, "LID mask control") \
	F(port_info,  8, speed_active,     35,  7,  4, "link speed") \
	F(port_info,  8, speed_enabled,    35,  3,  0, "link speeds enabled; 0xf all supported") \
	F(port_info,  8, neighbor_mtu,     36,  7,  4, "MTU in use") \
	F(port_info,  8, sm_sl,            36,  3,  0, "SL to the master SM") \
	F(port_info,  8, vl_cap,           37,  7,  4, "data VLs: 1 VL0, 2 two, 3 four, 4 eight, 5 fifteen") \
	F(port_info,  8, init_type,        37,  3,  0, "initialisation asked for") \
	F(port_info,  8, vl_high_limit,    38,  7,  0, "high priority limit") \
	F(port_info,  8, vlarb_high_cap,   39,  7,  0, "high priority arbitration entries") \
	F(port_info,  8, vlarb_low_cap,    40,  7,  0, "low priority arbitration entries") \
	F(port_info,  8, init_reply,       41,  7,  4, "initialisation done") \
	F(port_info,  8, mtu_cap,          41,  3,  0, "largest MTU") \
	F(port_info,  8, vl_stall,         42,  7,  5, "VL stall count, switch") \
	F(port_info,  8, hoq_life,         42,  4,  0, "head of queue life, switch") \
	F(port_info,  8, oper_vls,         43,  7,  4, "data VLs in use, as vl_cap") \
	F(port_info,  8, part_enforce_in,  43,  3,  3, "partition enforcement inbound, switch") \
	F(port_info,  8, part_enforce_out, 43,  2,  2, "partition enforcement outbound, switch") \
	F(port_info,  8, filter_raw_in,    43,  1,  1, "raw filter inbound, switch") \
	F(port_info,  8, filter_raw_out,   43,  0,  0, "raw filter outbound, switch") \
	F(port_info, 16, mkey_violations,  44, 15,  0, "M_Key violations") \
	F(port_info, 16, pkey_violations,  46, 15,  0, "P_Key violations") \
	F(port_info, 16, qkey_violations,  48, 15,  0, "Q_Key violations") \
	F(port_info,  8, guid_cap,         50,  7,  0, "GUID table size") \
	F(port_info,  8, client_rereg,     51,  7,  7, "clients are to register again") \
	F(port_info,  8, subnet_timeout,   51,  4,  0, "subnet timeout, 4.096 us * 2^n") \
	F(port_info,  8, resp_time,        52,  4,  0, "response time, 4.096 us * 2^n") \
	F(port_info,  8, local_phy_errors, 53,  7,  4, "local physical error threshold") \
	F(port_info,  8, overrun_errors,   53,  3,  0, "overrun error threshold") \
	F(port_info, 16, max_credit_hint,  54, 15,  0, "credit hint") \
	F(port_info, 32, round_trip,       56, 23,  0, "link round trip latency, 4 ns; 0xffffff not measured") \
	F(port_info, 16, cap_mask2,        60, 15,  0, "capability mask 2") \
	F(port_info,  8, ext_speed_active, 62,  7,  4, "extended link speed") \
	F(port_info,  8, ext_speed_supported, 62, 3, 0, "extended link speeds supported") \
	F(port_info,  8, ext_speed_enabled, 63, 4,  0, "extended link speeds enabled")

#define GUID_INFO_FIELDS(F, A, B, U, E) \
	B(guid_info, guid, 0, 64, "8 GUIDs of a block")

#define PKEY_TABLE_FIELDS(F, A, B, U, E) \
	B(pkey_table, pkey, 0, 64, "32 P_Keys of a block")

#define SL2VL_FIELDS(F, A, B, U, E) \
	B(sl2vl, vls, 0, 8, "VL of SL 2k in the high, of 2k + 1 in the low nibble of byte k")

#define VLARB_FIELDS(F, A, B, U, E) \
	B(vlarb, entry, 0, 64, "32 pairs: VL, weight in 64-byte units")

#define NODE_DESC_FIELDS(F, A, B, U, E) \
	B(node_desc, text, 0, 64, "node description, UTF-8")

#define NOTICE_FIELDS(F, A, B, U, E) \
	F(notice, 32, generic,     0, 31, 31, "generic") \
	F(notice, 32, type,        0, 30, 24, "0 fatal, 1 urgent, 2 security, 3 subnet management, 4 informational") \
	F(notice, 32, producer,    0, 23,  0, "producer type, or vendor id") \
	F(notice, 16, trap_number, 4, 15,  0, "trap number, or device id") \
	F(notice, 16, issuer_lid,  6, 15,  0, "LID of the issuer") \
	F(notice, 16, toggle,      8, 15, 15, "toggle") \
	F(notice, 16, count,       8, 14,  0, "count") \
	B(notice,     details,    10, 54,     "details")

/* Details of a trap (14.2.5.1): trap 256 is a wrong M_Key, trap 257 a wrong P_Key, trap 258 a wrong
 * Q_Key. */
#define NOTICE_MKEY_FIELDS(F, A, B, U, E) \
	F(notice_mkey, 16, lid,       2, 15,  0, "SLID of the packet") \
	F(notice_mkey, 16, dr_slid,   4, 15,  0, "DrSLID") \
	F(notice_mkey,  8, method,    6,  7,  0, "method") \
	F(notice_mkey, 16, attr_id,   8, 15,  0, "attribute") \
	F(notice_mkey, 32, attr_mod, 10, 31,  0, "modifier") \
	F(notice_mkey, 64, mkey,     14, 63,  0, "the wrong M_Key") \
	F(notice_mkey,  8, directed, 23,  7,  7, "directed route") \
	F(notice_mkey,  8, hops,     23,  5,  0, "hop count") \
	B(notice_mkey,     path,     24, 30,     "return path")

#define NOTICE_KEY_FIELDS(F, A, B, U, E) \
	F(notice_key, 16, lid1,  2, 15,  0, "SLID of the packet") \
	F(notice_key, 16, lid2,  4, 15,  0, "DLID") \
	F(notice_key, 32, key,   6, 31,  0, "the wrong P_Key or Q_Key") \
	F(notice_key, 32, sl,   10, 31, 28, "SL") \
	F(notice_key, 32, qp1,  10, 23,  0, "source QP") \
	F(notice_key, 32, qp2,  14, 23,  0, "destination QP") \
	B(notice_key,     gid1, 18, 16,     "SGID") \
	B(notice_key,     gid2, 34, 16,     "DGID")

#define CLASS_PORT_INFO_FIELDS(F, A, B, U, E) \
	F(class_port_info,  8, base_version,  0,  7,  0, "1") \
	F(class_port_info,  8, class_version, 1,  7,  0, "1") \
	F(class_port_info, 16, cap_mask,      2, 15,  0, "capability mask") \
	F(class_port_info, 32, cap_mask2,     4, 31,  5, "capability mask 2") \
	F(class_port_info, 32, resp_time,     4,  4,  0, "response time, 4.096 us * 2^n") \
	B(class_port_info,     redirect_gid,  8, 16,     "redirect GID") \
	F(class_port_info, 32, redirect_tclass, 24, 31, 24, "redirect traffic class") \
	F(class_port_info, 32, redirect_sl,  24, 23, 20, "redirect SL") \
	F(class_port_info, 32, redirect_flow, 24, 19, 0, "redirect flow label") \
	F(class_port_info, 16, redirect_lid, 28, 15,  0, "redirect LID") \
	F(class_port_info, 16, redirect_pkey, 30, 15, 0, "redirect P_Key") \
	F(class_port_info, 32, redirect_qp,  32, 23,  0, "redirect QP") \
	F(class_port_info, 32, redirect_qkey, 36, 31, 0, "redirect Q_Key") \
	B(class_port_info,     trap_gid,     40, 16,     "trap GID") \
	F(class_port_info, 32, trap_tclass,  56, 31, 24, "trap traffic class") \
	F(class_port_info, 32, trap_sl,      56, 23, 20, "trap SL") \
	F(class_port_info, 32, trap_flow,    56, 19,  0, "trap flow label") \
	F(class_port_info, 16, trap_lid,     60, 15,  0, "trap LID") \
	F(class_port_info, 16, trap_pkey,    62, 15,  0, "trap P_Key") \
	F(class_port_info, 32, trap_hop_limit, 64, 31, 24, "trap hop limit") \
	F(class_port_info, 32, trap_qp,      64, 23,  0, "trap QP") \
	F(class_port_info, 32, trap_qkey,    68, 31,  0, "trap Q_Key")

#define PORT_COUNTERS_FIELDS(F, A, B, U, E) \
	F(port_counters,  8, port_select,        1,  7, 0, "port") \
	F(port_counters, 16, counter_select,     2, 15, 0, "Set: bit for each counter to write, enum port_counter") \
	F(port_counters, 16, symbol_errors,      4, 15, 0, "symbol errors") \
	F(port_counters,  8, link_recoveries,    6,  7, 0, "link error recoveries") \
	F(port_counters,  8, link_downed,        7,  7, 0, "link downed") \
	F(port_counters, 16, rcv_errors,         8, 15, 0, "packets received with errors") \
	F(port_counters, 16, rcv_remote_phys,   10, 15, 0, "packets received with bad end delimiter") \
	F(port_counters, 16, rcv_switch_relay,  12, 15, 0, "switch relay errors") \
	F(port_counters, 16, xmit_discards,     14, 15, 0, "packets discarded on the way out") \
	F(port_counters,  8, xmit_constraint,   16,  7, 0, "constraint errors, out") \
	F(port_counters,  8, rcv_constraint,    17,  7, 0, "constraint errors, in") \
	F(port_counters,  8, counter_select2,   18,  7, 0, "Set: bit 0 XmitWait") \
	F(port_counters,  8, local_integrity,   19,  7, 4, "local link integrity errors") \
	F(port_counters,  8, buffer_overruns,   19,  3, 0, "excessive buffer overruns") \
	F(port_counters, 16, vl15_dropped,      22, 15, 0, "packets dropped on VL15") \
	F(port_counters, 32, xmit_data,         24, 31, 0, "4-byte words sent") \
	F(port_counters, 32, rcv_data,          28, 31, 0, "4-byte words received") \
	F(port_counters, 32, xmit_pkts,         32, 31, 0, "packets sent") \
	F(port_counters, 32, rcv_pkts,          36, 31, 0, "packets received") \
	F(port_counters, 32, xmit_wait,         40, 31, 0, "ticks waited for credits")

#define PORT_COUNTERS_EXT_FIELDS(F, A, B, U, E) \
	F(port_counters_ext,  8, port_select,     1,  7, 0, "port") \
	F(port_counters_ext, 16, counter_select,  2, 15, 0, "Set: bit for each counter to write") \
	F(port_counters_ext, 64, xmit_data,       8, 63, 0, "4-byte words sent") \
	F(port_counters_ext, 64, rcv_data,       16, 63, 0, "4-byte words received") \
	F(port_counters_ext, 64, xmit_pkts,      24, 63, 0, "packets sent") \
	F(port_counters_ext, 64, rcv_pkts,       32, 63, 0, "packets received") \
	F(port_counters_ext, 64, ucast_xmit,     40, 63, 0, "unicast packets sent") \
	F(port_counters_ext, 64, ucast_rcv,      48, 63, 0, "unicast packets received") \
	F(port_counters_ext, 64, mcast_xmit,     56, 63, 0, "multicast packets sent") \
	F(port_counters_ext, 64, mcast_rcv,      64, 63, 0, "multicast packets received")

#define WIRE_LAYOUTS(L) \
	L(lrh,               8, LRH_FIELDS,               "local route header") \
	L(grh,              40, GRH_FIELDS,               "global route header") \
	L(bth,              12, BTH_FIELDS,               "base transport header") \
	L(xrceth,            4, XRCETH_FIELDS,            "XRC extended transport header") \
	L(deth,              8, DETH_FIELDS,              "datagram extended transport header") \
	L(reth,             16, RETH_FIELDS,              "RDMA extended transport header") \
	L(atomiceth,        28, ATOMICETH_FIELDS,         "atomic extended transport header") \
	L(masked_caseth,    44, MASKED_CASETH_FIELDS,     "masked compare and swap header") \
	L(masked_faeth,     28, MASKED_FAETH_FIELDS,      "masked fetch and add header") \
	L(aeth,              4, AETH_FIELDS,              "ACK extended transport header") \
	L(atomicacketh,      8, ATOMICACKETH_FIELDS,      "atomic ACK extended transport header") \
	L(immdt,             4, IMMDT_FIELDS,             "immediate data") \
	L(ieth,              4, IETH_FIELDS,              "invalidate extended transport header") \
	L(mad_hdr,          24, MAD_HDR_FIELDS,           "MAD header") \
	L(smp,             256, SMP_FIELDS,               "subnet management packet") \
	L(gmp,             256, GMP_FIELDS,               "general management packet") \
	L(node_info,        64, NODE_INFO_FIELDS,         "NodeInfo") \
	L(port_info,        64, PORT_INFO_FIELDS,         "PortInfo") \
	L(guid_info,        64, GUID_INFO_FIELDS,         "GUIDInfo") \
	L(pkey_table,       64, PKEY_TABLE_FIELDS,        "P_KeyTable") \
	L(sl2vl,            64, SL2VL_FIELDS,             "SLtoVLMappingTable") \
	L(vlarb,            64, VLARB_FIELDS,             "VLArbitrationTable") \
	L(node_desc,        64, NODE_DESC_FIELDS,         "NodeDescription") \
	L(notice,           64, NOTICE_FIELDS,            "Notice") \
	L(notice_mkey,      54, NOTICE_MKEY_FIELDS,       "Notice details of trap 256") \
	L(notice_key,       50, NOTICE_KEY_FIELDS,        "Notice details of traps 257 and 258") \
	L(class_port_info,  72, CLASS_PORT_INFO_FIELDS,   "ClassPortInfo") \
	L(port_counters,    44, PORT_COUNTERS_FIELDS,     "PortCounters") \
	L(port_counters_ext, 72, PORT_COUNTERS_EXT_FIELDS, "PortCountersExtended")

#define LRH_NEXT_HEADERS(K) \
	K(LNH, RAW,       0, "raw") \
	K(LNH, IPV6,      1, "raw, IPv6") \
	K(LNH, IBA_LOCAL, 2, "BTH") \
	K(LNH, IBA_GLOBAL, 3, "GRH")

#define MAD_METHODS(K) \
	K(MAD_METHOD, GET,           0x01, "Get") \
	K(MAD_METHOD, SET,           0x02, "Set") \
	K(MAD_METHOD, SEND,          0x03, "Send") \
	K(MAD_METHOD, TRAP,          0x05, "Trap") \
	K(MAD_METHOD, REPORT,        0x06, "Report") \
	K(MAD_METHOD, TRAP_REPRESS,  0x07, "TrapRepress") \
	K(MAD_METHOD, GET_TABLE,     0x12, "GetTable") \
	K(MAD_METHOD, DELETE,        0x15, "Delete") \
	K(MAD_METHOD, GET_RESP,      0x81, "GetResp") \
	K(MAD_METHOD, REPORT_RESP,   0x86, "ReportResp") \
	K(MAD_METHOD, GET_TABLE_RESP, 0x92, "GetTableResp") \
	K(MAD_METHOD, DELETE_RESP,   0x95, "DeleteResp")

#define MAD_CLASSES(K) \
	K(MAD_CLASS, SUBN_LID, 0x01, "subnet management, LID routed") \
	K(MAD_CLASS, SUBN_ADM, 0x03, "subnet administration") \
	K(MAD_CLASS, PERF,     0x04, "performance management") \
	K(MAD_CLASS, BM,       0x05, "baseboard management") \
	K(MAD_CLASS, DEV_MGMT, 0x06, "device management") \
	K(MAD_CLASS, CM,       0x07, "communication management") \
	K(MAD_CLASS, SNMP,     0x08, "SNMP tunnelling") \
	K(MAD_CLASS, VENDOR1,  0x09, "vendor") \
	K(MAD_CLASS, VENDOR2,  0x0a, "vendor") \
	K(MAD_CLASS, CC,       0x21, "congestion control") \
	K(MAD_CLASS, SUBN_DR,  0x81, "subnet management, directed route")

#define SMP_ATTRIBUTES(K) \
	K(SMP_ATTR, NOTICE,     0x0002, "Notice") \
	K(SMP_ATTR, NODE_DESC,  0x0010, "NodeDescription") \
	K(SMP_ATTR, NODE_INFO,  0x0011, "NodeInfo") \
	K(SMP_ATTR, SWITCH_INFO, 0x0012, "SwitchInfo") \
	K(SMP_ATTR, GUID_INFO,  0x0014, "GUIDInfo") \
	K(SMP_ATTR, PORT_INFO,  0x0015, "PortInfo") \
	K(SMP_ATTR, PKEY_TABLE, 0x0016, "P_KeyTable") \
	K(SMP_ATTR, SL2VL,      0x0017, "SLtoVLMappingTable") \
	K(SMP_ATTR, VLARB,      0x0018, "VLArbitrationTable") \
	K(SMP_ATTR, SM_INFO,    0x0020, "SMInfo") \
	K(SMP_ATTR, VENDOR_DIAG, 0x0030, "VendorDiag") \
	K(SMP_ATTR, LED_INFO,   0x0031, "LedInfo") \
	K(SMP_ATTR, EXT_PORT_INFO, 0xff90, "vendor's extended port information")

#define PMA_ATTRIBUTES(K) \
	K(PMA_ATTR, CLASS_PORT_INFO,   0x0001, "ClassPortInfo") \
	K(PMA_ATTR, PORT_SAMPLES_CTRL, 0x0010, "PortSamplesControl") \
	K(PMA_ATTR, PORT_SAMPLES,      0x0011, "PortSamplesResult") \
	K(PMA_ATTR, PORT_COUNTERS,     0x0012, "PortCounters") \
	K(PMA_ATTR, PORT_COUNTERS_EXT, 0x001d, "PortCountersExtended")

#define MAD_STATUSES(K) \
	K(MAD_STATUS, OK,              0x0000, "ok") \
	K(MAD_STATUS, BUSY,            0x0001, "busy") \
	K(MAD_STATUS, REDIRECT,        0x0002, "redirect") \
	K(MAD_STATUS, BAD_VERSION,     0x0004, "class or version not supported") \
	K(MAD_STATUS, BAD_METHOD,      0x0008, "method not supported") \
	K(MAD_STATUS, BAD_METHOD_ATTR, 0x000c, "method and attribute do not go together") \
	K(MAD_STATUS, BAD_VALUE,       0x001c, "attribute or modifier has an invalid value")

#define PORT_STATES(K) \
	K(PORT_STATE, NOP,    0, "no change") \
	K(PORT_STATE, DOWN,   1, "down") \
	K(PORT_STATE, INIT,   2, "initialise: only VL15") \
	K(PORT_STATE, ARMED,  3, "armed: receives data, sends none") \
	K(PORT_STATE, ACTIVE, 4, "active")

#define PORT_PHYS_STATES(K) \
	K(PORT_PHYS, NOP,       0, "no change") \
	K(PORT_PHYS, SLEEP,     1, "sleep") \
	K(PORT_PHYS, POLLING,   2, "polling") \
	K(PORT_PHYS, DISABLED,  3, "disabled") \
	K(PORT_PHYS, TRAINING,  4, "configuration training") \
	K(PORT_PHYS, LINK_UP,   5, "link up") \
	K(PORT_PHYS, RECOVERY,  6, "link error recovery") \
	K(PORT_PHYS, PHY_TEST,  7, "test")

#define LINK_WIDTHS(K) \
	K(LINK_WIDTH, 1X,  1, "1x") \
	K(LINK_WIDTH, 4X,  2, "4x") \
	K(LINK_WIDTH, 8X,  4, "8x") \
	K(LINK_WIDTH, 12X, 8, "12x")

#define LINK_SPEEDS(K) \
	K(LINK_SPEED, SDR, 1, "2.5 Gb/s a lane") \
	K(LINK_SPEED, DDR, 2, "5 Gb/s a lane") \
	K(LINK_SPEED, QDR, 4, "10 Gb/s a lane")

#define LINK_EXT_SPEEDS(K) \
	K(LINK_EXT_SPEED, FDR, 1, "14.0625 Gb/s a lane") \
	K(LINK_EXT_SPEED, EDR, 2, "25.78125 Gb/s a lane") \
	K(LINK_EXT_SPEED, HDR, 4, "53.125 Gb/s a lane") \
	K(LINK_EXT_SPEED, NDR, 8, "106.25 Gb/s a lane")

/* Bit numbers of the PortInfo capability mask. */
#define PORT_CAPS(K) \
	K(PORT_CAP, SM,             1, "IsSM") \
	K(PORT_CAP, NOTICE,         2, "IsNoticeSupported") \
	K(PORT_CAP, TRAP,           3, "IsTrapSupported") \
	K(PORT_CAP, AUTO_MIGR,      5, "IsAutomaticMigrationSupported") \
	K(PORT_CAP, SL_MAP,         6, "IsSLMappingSupported") \
	K(PORT_CAP, MKEY_NVRAM,     7, "IsMKeyNVRAM") \
	K(PORT_CAP, PKEY_NVRAM,     8, "IsPKeyNVRAM") \
	K(PORT_CAP, LED_INFO,       9, "IsLEDInfoSupported") \
	K(PORT_CAP, SM_DISABLED,   10, "IsSMdisabled") \
	K(PORT_CAP, SYS_GUID,      11, "IsSystemImageGUIDSupported") \
	K(PORT_CAP, EXT_SPEEDS,    14, "IsExtendedSpeedsSupported") \
	K(PORT_CAP, CM,            16, "IsCommunicationManagementSupported") \
	K(PORT_CAP, SNMP,          17, "IsSNMPTunnelingSupported") \
	K(PORT_CAP, REINIT,        18, "IsReinitSupported") \
	K(PORT_CAP, DEV_MGMT,      19, "IsDeviceManagementSupported") \
	K(PORT_CAP, VENDOR_CLASS,  20, "IsVendorClassSupported") \
	K(PORT_CAP, DR_NOTICE,     21, "IsDRNoticeSupported") \
	K(PORT_CAP, CAP_NOTICE,    22, "IsCapabilityMaskNoticeSupported") \
	K(PORT_CAP, BOOT_MGMT,     23, "IsBootManagementSupported") \
	K(PORT_CAP, CLIENT_REREG,  25, "IsClientReregistrationSupported") \
	K(PORT_CAP, OTHER_LOCAL,   26, "IsOtherLocalChangesNoticeSupported")

/* Bit numbers of PortCounters.CounterSelect. */
#define PORT_COUNTER_BITS(K) \
	K(PORT_COUNTER, SYMBOL_ERRORS,    0, "symbol_errors") \
	K(PORT_COUNTER, LINK_RECOVERIES,  1, "link_recoveries") \
	K(PORT_COUNTER, LINK_DOWNED,      2, "link_downed") \
	K(PORT_COUNTER, RCV_ERRORS,       3, "rcv_errors") \
	K(PORT_COUNTER, RCV_REMOTE_PHYS,  4, "rcv_remote_phys") \
	K(PORT_COUNTER, RCV_SWITCH_RELAY, 5, "rcv_switch_relay") \
	K(PORT_COUNTER, XMIT_DISCARDS,    6, "xmit_discards") \
	K(PORT_COUNTER, XMIT_CONSTRAINT,  7, "xmit_constraint") \
	K(PORT_COUNTER, RCV_CONSTRAINT,   8, "rcv_constraint") \
	K(PORT_COUNTER, LOCAL_INTEGRITY,  9, "local_integrity") \
	K(PORT_COUNTER, BUFFER_OVERRUNS, 10, "buffer_overruns") \
	K(PORT_COUNTER, VL15_DROPPED,    11, "vl15_dropped") \
	K(PORT_COUNTER, XMIT_DATA,       12, "xmit_data") \
	K(PORT_COUNTER, RCV_DATA,        13, "rcv_data") \
	K(PORT_COUNTER, XMIT_PKTS,       14, "xmit_pkts") \
	K(PORT_COUNTER, RCV_PKTS,        15, "rcv_pkts")

#define WIRE_CODES(T) \
	T(lnh,              LRH_NEXT_HEADERS) \
	T(mad_method,       MAD_METHODS) \
	T(mad_class,        MAD_CLASSES) \
	T(smp_attr,         SMP_ATTRIBUTES) \
	T(pma_attr,         PMA_ATTRIBUTES) \
	T(mad_status,       MAD_STATUSES) \
	T(port_state,       PORT_STATES) \
	T(port_phys_state,  PORT_PHYS_STATES) \
	T(link_width,       LINK_WIDTHS) \
	T(link_speed,       LINK_SPEEDS) \
	T(link_ext_speed,   LINK_EXT_SPEEDS) \
	T(port_cap,         PORT_CAPS) \
	T(port_counter,     PORT_COUNTER_BITS)

/* clang-format on */

WIRE_LAYOUTS(LAYOUT_DEFINE)
WIRE_CODES(CODES_DEFINE)

enum wire_facts {
	LRH_BYTES = 8,
	GRH_BYTES = 40,
	BTH_BYTES = 12,
	ICRC_BYTES = 4,
	VCRC_BYTES = 2,
	CRC_BYTES = ICRC_BYTES + VCRC_BYTES,
	GRH_IP_VER = 6,
	GRH_NEXT_BTH = 0x1b,
	PSN_MASK = 0xffffff,
	MSN_MASK = 0xffffff,
	LID_PERMISSIVE = 0xffff,
	LID_MCAST_FIRST = 0xc000,
	VL_MANAGEMENT = 15,
	PKEY_DEFAULT = 0xffff,
	PKEY_FULL_MEMBER = 0x8000,
	QPN_SMI = 0,
	QPN_GSI = 1,
	MAD_BYTES = 256,
	MAD_BASE_VERSION = 1,
	MAD_RESPONSE_BIT = 0x80,
	SMP_DIRECTION = 0x8000,
	SMP_HOPS_MAX = 63,
};

#define QKEY_GSI UINT32_C(0x80010000)

static inline uint64_t guid_info_get(const struct guid_info *g, unsigned int n)
{
	return be64_load(g->b + 8 * n);
}

static inline void guid_info_set(struct guid_info *g, unsigned int n, uint64_t guid)
{
	be64_store(g->b + 8 * n, guid);
}

static inline uint32_t pkey_table_get(const struct pkey_table *t, unsigned int n)
{
	return be16_load(t->b + 2 * n);
}

static inline void pkey_table_set(struct pkey_table *t, unsigned int n, uint32_t pkey)
{
	be16_store(t->b + 2 * n, (uint16_t)pkey);
}

static inline uint32_t sl2vl_get(const struct sl2vl *t, unsigned int sl)
{
	return sl & 1 ? t->b[sl / 2] & 0xfu : t->b[sl / 2] >> 4;
}

static inline void sl2vl_set(struct sl2vl *t, unsigned int sl, uint32_t vl)
{
	uint8_t *b = &t->b[sl / 2];

	*b = (uint8_t)(sl & 1 ? (*b & 0xf0) | (vl & 0xf) : (*b & 0x0f) | (vl & 0xf) << 4);
}

static inline void vlarb_set(struct vlarb *t, unsigned int n, uint32_t vl, uint32_t weight)
{
	t->b[2 * n] = vl & 0xf;
	t->b[2 * n + 1] = (uint8_t)weight;
}

/* a - b, modulo 2^24: -2^23 .. 2^23 - 1. */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & PSN_MASK;
}

#endif
