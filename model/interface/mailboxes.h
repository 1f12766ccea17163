/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes of the HCR commands, and what their words carry: status codes, opcode and input
 * modifiers, and the fields that a QP transition takes. The commands themselves are in commands.h,
 * which only few files include, so that a new command recompiles only those files.
 *
 * A mailbox is 4096 bytes at a 4096-byte aligned bus address, big-endian. Bytes that no row
 * describes are reserved: zero on input, ignored on output. Contexts that serve as mailboxes are in
 * contexts.h. Source: Linux mlx4 cmd.c, fw.c, port.c, qp.c, mlx4_ib mad.c, main.c.
 */
#ifndef MODEL_INTERFACE_MAILBOXES_H
#define MODEL_INTERFACE_MAILBOXES_H

#include "model/interface/contexts.h"
#include "model/interface/dev_cap.h"
#include "model/interface/diag.h"
#include "model/interface/field.h"

/* What in_param or out_param of a command carries. */
enum hcr_param {
	HCR_P_NONE,
	HCR_P_IMM,
	HCR_P_MBOX,
	HCR_P_MBOX_OPT, /* mailbox unless the opcode modifier says that there is none */
};

enum hcr_flag {
	/* The driver resets the device when it fails, except HW2SW_MPT with status REG_BOUND. */
	HCR_F_CLOSING = 1 << 0,
	HCR_F_OM_PART = 1 << 1, /* the layout of the mailboxes depends on the opcode modifier */
	HCR_F_OWN_IN = 1 << 2,  /* the firmware's handler reads the input mailbox itself */
	HCR_F_OWN_OUT = 1 << 3, /* the firmware's handler writes the output mailbox itself */
};

/* A set of opcode modifiers. */
enum hcr_op_mods {
	HCR_OM_NONE = 0, /* the firmware does not execute the command */
	HCR_OM_0 = 1 << 0,
	HCR_OM_1 = 1 << 1,
	HCR_OM_2 = 1 << 2,
	HCR_OM_0_1_2 = HCR_OM_0 | HCR_OM_1 | HCR_OM_2,
	HCR_OM_0_1 = HCR_OM_0 | HCR_OM_1,
	HCR_OM_0_2 = HCR_OM_0 | HCR_OM_2,
	HCR_OM_MAD = 0xff,
};

/* clang-format off */

/* S(NAME, code, errno that the driver returns for it: name, value as Linux numbers it, meaning) */
#define HCR_STATUSES(S) \
	S(OK,             0x00, "0",      0, "done") \
	S(INTERNAL_ERR,   0x01, "EIO",    5, "internal error") \
	S(BAD_OP,         0x02, "EPERM",  1, "opcode or modifier not supported") \
	S(BAD_PARAM,      0x03, "EINVAL", 22, "parameter out of range or reserved bits set") \
	S(BAD_SYS_STATE,  0x04, "ENXIO",  6, "not in this state of the system") \
	S(BAD_RESOURCE,   0x05, "EBADF",  9, "object does not exist") \
	S(RESOURCE_BUSY,  0x06, "EBUSY",  16, "object is in use") \
	S(EXCEED_LIM,     0x08, "ENOMEM", 12, "limit exceeded") \
	S(BAD_RES_STATE,  0x09, "EBADF",  9, "object not in this state") \
	S(BAD_INDEX,      0x0a, "EBADF",  9, "index out of range") \
	S(BAD_NVMEM,      0x0b, "EFAULT", 14, "flash is damaged") \
	S(ICM_ERROR,      0x0c, "ENFILE", 23, "ICM page not mapped or overlapping") \
	S(BAD_QP_STATE,   0x10, "EINVAL", 22, "QP not in the state the transition starts from") \
	S(BAD_SEG_PARAM,  0x20, "EFAULT", 14, "memory parameters do not fit") \
	S(REG_BOUND,      0x21, "EBUSY",  16, "region has windows bound") \
	S(LAM_NOT_PRE,    0x22, "EAGAIN", 11, "local memory not present") \
	S(BAD_PKT,        0x30, "EINVAL", 22, "MAD malformed") \
	S(BAD_SIZE,       0x40, "ENOMEM", 12, "more outstanding commands, bytes or CQEs than there is room for") \
	S(MULTI_FUNC_REQ, 0x50, "EACCES", 13, "multi-function mode required; never in native mode")

#define QUERY_FW_FIELDS(F, A, B, U, E) \
	F(query_fw, 16, fw_pages,      0x00, 15,  0, "4 KiB pages wanted for the firmware area") \
	F(query_fw, 16, major,         0x02, 15,  0, "version, major") \
	F(query_fw, 16, subminor,      0x04, 15,  0, "version, subminor") \
	F(query_fw, 16, minor,         0x06, 15,  0, "version, minor") \
	F(query_fw,  8, function,      0x09,  7,  0, "function") \
	F(query_fw, 16, cmd_if_rev,    0x0a, 15,  0, "command interface revision") \
	F(query_fw,  8, log_max_cmd,   0x0f,  7,  0, "log2 outstanding commands") \
	F(query_fw, 64, clr_int,       0x20, 63,  0, "offset of the clear-interrupt register") \
	F(query_fw,  8, clr_int_bar,   0x28,  7,  6, "BAR number / 2 of the clear-interrupt register") \
	F(query_fw, 64, err_buf,       0x30, 63,  0, "offset of the error buffer") \
	F(query_fw, 32, err_buf_size,  0x38, 31,  0, "size of the error buffer in dwords") \
	F(query_fw,  8, err_buf_bar,   0x3c,  7,  6, "BAR number / 2 of the error buffer") \
	F(query_fw, 64, comm,          0x40, 63,  0, "offset of the SR-IOV channel") \
	F(query_fw,  8, comm_bar,      0x48,  7,  6, "BAR number / 2 of the SR-IOV channel") \
	F(query_fw, 64, clock,         0x50, 63,  0, "offset of the clock") \
	F(query_fw,  8, clock_bar,     0x58,  7,  6, "BAR number / 2 of the clock")

#define VPM_ENTRY_FIELDS(F, A, B, U, E) \
	A(vpm_entry, 64, va,       0x0, 63, 12, "ICM address, MAP_ICM only") \
	A(vpm_entry, 64, pa,       0x8, 63, 12, "bus address") \
	F(vpm_entry, 64, log_size, 0x8,  4,  0, "log2 of the size in 4 KiB pages")

#define VPM_LIST_FIELDS(F, A, B, U, E) \
	B(vpm_list, entry, 0x000, 0x1000, "entries of 16 bytes, layout vpm_entry")

#define QUERY_PORT_FIELDS(F, A, B, U, E) \
	F(query_port,  8, link_up,          0x00,  7,  7, "link is up") \
	F(query_port,  8, dmfs_optimized,   0x00,  5,  5, "flow steering optimised") \
	F(query_port,  8, default_sense,    0x00,  4,  4, "senses the link type by default") \
	F(query_port,  8, suggested_eth,    0x00,  3,  3, "suggests Ethernet") \
	F(query_port,  8, types,            0x00,  1,  0, "1: InfiniBand, 2: Ethernet, 3: both") \
	F(query_port,  8, ib_mtu,           0x01,  3,  0, "largest MTU; 5: 4096 bytes") \
	F(query_port, 16, eth_mtu,          0x02, 15,  0, "Ethernet MTU") \
	F(query_port,  8, ib_speeds,        0x04,  3,  0, "link speeds") \
	F(query_port,  8, eth_speed,        0x05,  7,  0, "Ethernet speed") \
	F(query_port,  8, ib_widths,        0x06,  3,  0, "link widths; 1: 1x, 2: 4x") \
	F(query_port,  8, log_gids,         0x07,  7,  4, "log2 GID table") \
	F(query_port,  8, log_pkeys,        0x07,  3,  0, "log2 P_Key table") \
	F(query_port,  8, log_vlans,        0x0a,  7,  4, "log2 VLANs") \
	F(query_port,  8, log_macs,         0x0a,  3,  0, "log2 MACs") \
	F(query_port,  8, traffic_classes,  0x0b,  7,  4, "Ethernet traffic classes") \
	F(query_port,  8, max_vl,           0x0b,  3,  0, "VLs") \
	F(query_port, 64, mac,              0x10, 47,  0, "default MAC") \
	F(query_port, 32, transceiver,      0x18, 31, 24, "transceiver type") \
	F(query_port, 32, vendor_oui,       0x18, 23,  0, "transceiver OUI") \
	F(query_port, 16, wavelength,       0x1c, 15,  0, "wavelength") \
	F(query_port, 64, transceiver_code, 0x20, 63,  0, "transceiver code")

#define QUERY_ADAPTER_FIELDS(F, A, B, U, E) \
	F(query_adapter,  8, inta_pin,       0x10,  7, 0, "interrupt pin, bit of the clear-interrupt register") \
	F(query_adapter, 16, vsd_signature1, 0x20, 15, 0, "0x5ad: there is a board id string at 0x40") \
	U(query_adapter, 16, vsd_signature2, 0xfe, 15, 0, "also 0x5ad") \
	B(query_adapter,     board_id,       0x40, 64,    "board id string, if both signatures are there") \
	B(query_adapter,     psid,           0xf0, 16,    "PSID, if a signature is missing; the bytes of each 4-byte word are reversed")

/* INIT_HCA inbox and QUERY_HCA outbox */
#define INIT_HCA_FIELDS(F, A, B, U, E) \
	F(init_hca,  8, version,          0x000,  7,  0, "version of this layout, always 2") \
	F(init_hca, 64, global_caps,      0x004, 63,  0, "QUERY_HCA: global capabilities") \
	F(init_hca, 16, clock_mhz,        0x00c, 15,  0, "QUERY_HCA: core clock in MHz") \
	F(init_hca,  8, log_cacheline,    0x00e,  7,  5, "log2 of the host's cache line - 4") \
	F(init_hca,  8, cacheline_valid,  0x00e,  4,  4, "the cache line size is valid, always 1") \
	F(init_hca,  8, phv_check,        0x00e,  1,  1, "QUERY_HCA: PHV") \
	F(init_hca, 32, ud_av_check,      0x014,  0,  0, "the port of UD address vectors is checked") \
	F(init_hca, 32, host_be,          0x014,  1,  1, "the host is big-endian (for atomics in its memory)") \
	F(init_hca, 32, qos,              0x014,  2,  2, "QoS") \
	F(init_hca, 32, ipoib_csum,       0x014,  3,  3, "IPoIB checksums") \
	F(init_hca, 32, counters,         0x014,  4,  4, "counters") \
	F(init_hca, 32, dmfs,             0x014,  6,  6, "flow steering") \
	F(init_hca, 32, rss_ip_frag,      0x014, 13, 13, "RSS of IP fragments") \
	F(init_hca, 32, recoverable,      0x018, 31, 31, "recoverable error events") \
	A(init_hca, 64, qpc_base,         0x030, 63,  5, "ICM address of the QP contexts") \
	F(init_hca,  8, log_qps,          0x037,  4,  0, "log2 QPs") \
	A(init_hca, 64, srqc_base,        0x048, 63,  5, "ICM address of the SRQ contexts") \
	F(init_hca,  8, log_srqs,         0x04f,  4,  0, "log2 SRQs") \
	A(init_hca, 64, cqc_base,         0x050, 63,  5, "ICM address of the CQ contexts") \
	F(init_hca,  8, log_cqs,          0x057,  4,  0, "log2 CQs") \
	F(init_hca, 32, cqe_64b,          0x058, 30, 30, "64-byte CQEs") \
	F(init_hca, 32, eqe_64b,          0x058, 29, 29, "64-byte EQEs") \
	F(init_hca,  8, eqe_stride,       0x05b,  5,  4, "log2 EQE stride - 5") \
	F(init_hca,  8, cqe_stride,       0x05b,  1,  0, "log2 CQE stride - 5") \
	F(init_hca, 64, altc_base,        0x060, 63,  0, "ICM address of the alternate paths") \
	F(init_hca, 64, auxc_base,        0x070, 63,  0, "ICM address of the auxiliary contexts") \
	A(init_hca, 64, eqc_base,         0x080, 63,  5, "ICM address of the EQ contexts") \
	F(init_hca,  8, log_eqs,          0x087,  4,  0, "log2 EQs") \
	F(init_hca, 16, num_sys_eqs,      0x08a, 11,  0, "system EQs") \
	A(init_hca, 64, rdmarc_base,      0x090, 63,  5, "ICM address of the responder resources") \
	F(init_hca,  8, log_rd_per_qp,    0x097,  2,  0, "log2 of the responder resources of each QP") \
	F(init_hca, 64, mcg_base,         0x0c0, 63,  0, "ICM address of the multicast groups") \
	F(init_hca,  8, log_mcg_size,     0x0d3,  4,  0, "log2 bytes of a multicast group") \
	F(init_hca,  8, log_mcg_hash,     0x0d7,  4,  0, "log2 hash buckets") \
	F(init_hca,  8, uc_steering,      0x0d8,  3,  3, "unicast steering") \
	F(init_hca,  8, mcg_hash_fn,      0x0d8,  2,  0, "hash function, always 0") \
	F(init_hca,  8, log_mcgs,         0x0db,  4,  0, "log2 multicast groups, overflow included") \
	F(init_hca, 64, dmpt_base,        0x0f0, 63,  0, "ICM address of the MPTs") \
	F(init_hca,  8, windows,          0x0f8,  7,  7, "memory windows enabled") \
	F(init_hca,  8, log_mpts,         0x0fb,  5,  0, "log2 MPTs") \
	F(init_hca, 64, mtt_base,         0x100, 63,  0, "ICM address of the MTTs") \
	F(init_hca, 64, cmpt_base,        0x108, 63,  0, "ICM address of the cMPTs") \
	F(init_hca,  8, log_uars,         0x12a,  3,  0, "log2 UAR pages") \
	F(init_hca,  8, log_uar_page,     0x12b,  7,  0, "log2 UAR page size - 12") \
	B(init_hca,     driver_version,   0x140, 64,     "driver version, if the capability for it is there") \
	F(init_hca, 64, dmfs_base,        0x1d0, 63,  0, "ICM address of the flow table") \
	F(init_hca,  8, dmfs_log_entry,   0x1e3,  4,  0, "log2 bytes of a flow entry") \
	F(init_hca,  8, dmfs_a0_mode,     0x1e8,  7,  6, "A0 steering") \
	F(init_hca,  8, dmfs_log_table,   0x1eb,  4,  0, "log2 flow entries") \
	F(init_hca,  8, dmfs_eth_bits,    0x1f1,  7,  0, "flow steering, Ethernet bits") \
	F(init_hca,  8, dmfs_eth_addrs,   0x1f2,  7,  0, "flow steering, Ethernet addresses") \
	F(init_hca,  8, dmfs_ib_bits,     0x1f5,  7,  0, "flow steering, InfiniBand bits") \
	F(init_hca,  8, dmfs_ib_addrs,    0x1f6,  7,  0, "flow steering, InfiniBand addresses")

#define SET_PORT_FIELDS(F, A, B, U, E) \
	F(set_port, 32, change_mtu,     0x00, 22, 22, "the MTU is to be changed") \
	F(set_port, 32, change_vl,      0x00, 21, 21, "the VLs are to be changed") \
	F(set_port, 32, change_pkeys,   0x00, 20, 20, "the P_Key table size is to be changed") \
	F(set_port, 32, change_gids,    0x00, 19, 19, "the GID table size is to be changed") \
	F(set_port, 32, set_sys_guid,   0x00, 18, 18, "the system image GUID is to be changed") \
	F(set_port, 32, set_node_guid,  0x00, 17, 17, "the node GUID is to be changed") \
	F(set_port, 32, set_guid0,      0x00, 16, 16, "the port GUID is to be changed") \
	F(set_port, 32, mtu,            0x00, 15, 12, "largest MTU; 5: 4096 bytes") \
	F(set_port, 32, vl_cap,         0x00,  7,  4, "VLs: 1, 2, 4, 8") \
	F(set_port, 32, reset_cap_mask, 0x00,  1,  1, "reset the capability mask") \
	F(set_port, 32, reset_qkey,     0x00,  0,  0, "reset the Q_Key violation counter") \
	F(set_port, 32, cap_mask,       0x04, 31,  0, "PortInfo capability mask") \
	F(set_port, 64, sys_guid,       0x08, 63,  0, "system image GUID") \
	F(set_port, 64, guid0,          0x10, 63,  0, "port GUID") \
	F(set_port, 64, node_guid,      0x18, 63,  0, "node GUID") \
	F(set_port, 16, pkeys,          0x28, 15,  0, "P_Key table size") \
	F(set_port, 16, gids,           0x2a, 15,  0, "GID table size")

/* SET_PORT with opcode modifier 1: of an Ethernet port, by part (enum set_port_part). Source: Linux
 * mlx4 port.c, en_port.h, mlx4.h. */
#define ETH_GENERAL_FIELDS(F, A, B, U, E) \
	F(eth_general,  8, ignore_fcs_valid, 0x02, 1, 1, "ignore_fcs is to be set") \
	F(eth_general,  8, user_mtu_valid, 0x02,  5,  5, "user_mtu is to be set") \
	F(eth_general,  8, user_mac_valid, 0x02,  6,  6, "user_mac is to be set") \
	F(eth_general,  8, roce_valid,     0x03,  4,  4, "roce_mode is to be set") \
	F(eth_general,  8, pptx_valid,     0x03,  2,  2, "pause and PFC that it sends are to be set") \
	F(eth_general,  8, pprx_valid,     0x03,  1,  1, "pause and PFC that it obeys are to be set") \
	F(eth_general,  8, mtu_valid,      0x03,  0,  0, "mtu is to be set") \
	F(eth_general,  8, roce_mode,      0x04,  7,  4, "0: v1, 1: v1.5, 2: v1 and v2, 3: v2") \
	F(eth_general,  8, ignore_fcs,     0x04,  0,  0, "frames with a wrong FCS are passed on") \
	F(eth_general, 16, mtu,            0x06, 15,  0, "longest frame, with FCS") \
	F(eth_general,  8, pptx,           0x08,  7,  7, "sends pause frames") \
	F(eth_general,  8, pfctx,          0x09,  7,  0, "priorities for which it sends PFC") \
	F(eth_general,  8, pprx,           0x0c,  7,  7, "obeys pause frames") \
	F(eth_general,  8, pfcrx,          0x0d,  7,  0, "priorities for which it obeys PFC") \
	F(eth_general,  8, phv,            0x14,  7,  7, "PHV") \
	F(eth_general, 16, user_mtu,       0x1a, 15,  0, "MTU that the host shows") \
	B(eth_general,     user_mac,       0x1e,  6,     "MAC that the host shows")

#define ETH_RQP_FIELDS(F, A, B, U, E) \
	F(eth_rqp, 32, base_qpn,  0x00, 23,  0, "QP of the first MAC") \
	F(eth_rqp,  8, macs,      0x05,  7,  0, "log2 of the MACs that have a QP each") \
	F(eth_rqp,  8, vlans,     0x06,  7,  0, "log2 of the VLANs") \
	F(eth_rqp,  8, prios,     0x07,  7,  0, "log2 of the priorities") \
	F(eth_rqp,  8, mac_miss,  0x0b,  7,  0, "index for another MAC") \
	F(eth_rqp,  8, intra_no_vlan, 0x0c, 7, 0, "index for a loopback frame without VLAN") \
	F(eth_rqp,  8, no_vlan,   0x0d,  7,  0, "index for a frame without VLAN") \
	F(eth_rqp,  8, intra_vlan_miss, 0x0e, 7, 0, "index for a loopback frame of another VLAN") \
	F(eth_rqp,  8, vlan_miss, 0x0f,  7,  0, "index for another VLAN") \
	F(eth_rqp,  8, no_vlan_prio, 0x13, 7, 0, "priority of a frame without VLAN") \
	F(eth_rqp, 32, promisc_on, 0x14, 31, 31, "frames to other MACs are received") \
	F(eth_rqp, 32, promisc,   0x14, 23,  0, "by this QP") \
	F(eth_rqp, 32, mcast_mode, 0x18, 31, 30, "frames to groups: 0 none, 1 those of SET_MCAST_FLTR, 2 all") \
	F(eth_rqp, 32, mcast,     0x18, 23,  0, "are received by this QP")

/* An entry of the table of parts MAC, VLAN, GID and ROCE. */
#define ETH_MAC_FIELDS(F, A, B, U, E) \
	F(eth_mac, 64, valid, 0, 63, 63, "the entry is in use") \
	F(eth_mac, 64, mac,   0, 47,  0, "MAC")

#define ETH_VLAN_FIELDS(F, A, B, U, E) \
	F(eth_vlan, 32, valid, 0, 31, 31, "the entry is in use") \
	F(eth_vlan, 32, vid,   0, 11,  0, "VLAN")

#define ETH_ROCE_FIELDS(F, A, B, U, E) \
	B(eth_roce,    gid,     0x00, 16,   "GID") \
	F(eth_roce, 8, ipv6,    0x1a, 0, 0, "RoCE v2 over IPv6; 0: over IPv4") \
	F(eth_roce, 8, version, 0x1b, 1, 0, "2: RoCE v2, 0: v1")

#define CONFIG_DEV_FIELDS(F, A, B, U, E) \
	F(config_dev, 32, update_roce_port, 0x00, 3, 3, "roce_port is to be set") \
	F(config_dev, 32, update_vxlan_port, 0x00, 0, 0, "vxlan_port is to be set") \
	F(config_dev, 16, vxlan_port,   0x10, 15, 0, "UDP port of VXLAN") \
	F(config_dev, 16, roce_entropy, 0x14, 15, 0, "RoCE v2 source port") \
	F(config_dev, 16, roce_port,    0x16, 15, 0, "UDP port of RoCE v2")

#define VLAN_FILTER_FIELDS(F, A, B, U, E) \
	B(vlan_filter, words, 0x000, 512, "128 words; word 127 - n has VLANs 32n (bit 0) to 32n + 31")

/*
 * Counters of an Ethernet port. A group has one for each lane: priorities 0 to 7, then frames
 * without a VLAN tag. Groups of sent frames have a tenth one, for loopback. The counters of octets
 * and of frames stand in threes. Counters of frames by size are not modelled: they stay 0. Source:
 * Linux mlx4/en_port.h, struct mlx4_en_stat_out_mbox.
 */
#define ETH_STATS_FIELDS(F, A, B, U, E) \
	B(eth_stats,     rx_broadcast,  0x2d0, 72,    "received frames to all, by lane") \
	B(eth_stats,     rx_multicast,  0x318, 72,    "received frames to groups, by lane") \
	B(eth_stats,     rx_bytes,      0x3b8, 200,   "bytes received, every third word, by lane") \
	B(eth_stats,     rx_frames,     0x480, 200,   "frames received, every third word, by lane") \
	F(eth_stats, 64, rx_control,    0x558, 63, 0, "MAC control frames received") \
	B(eth_stats,     tx_broadcast,  0x8b8, 72,    "sent frames to all, by lane") \
	B(eth_stats,     tx_multicast,  0x908, 72,    "sent frames to groups, by lane") \
	B(eth_stats,     tx_bytes,      0x9b8, 200,   "bytes sent, every third word, by lane") \
	B(eth_stats,     tx_frames,     0xa98, 200,   "frames sent, every third word, by lane") \
	F(eth_stats, 32, rx_crc,        0xb8c, 31, 0, "received frames with a wrong FCS") \
	F(eth_stats, 32, rx_dropped,    0xb98, 31, 0, "received frames lost") \
	F(eth_stats, 32, rx_overflow,   0xb9c, 31, 0, "of them because the buffer was full") \
	F(eth_stats, 32, rx_bad_length, 0xba0, 31, 0, "of them because of their length") \
	F(eth_stats, 32, rx_good,       0xba4, 31, 0, "received frames without an error")

#define MOD_STAT_CFG_FIELDS(F, A, B, U, E) \
	F(mod_stat_cfg, 8, log_pg_sz_m, 0x02, 7, 0, "the page size is to be changed") \
	F(mod_stat_cfg, 8, log_pg_sz,   0x03, 7, 0, "log2 page size - 12")

#define PORT_GUID_FIELDS(F, A, B, U, E) \
	F(port_guid, 32, guid_hi, 0x14, 31, 0, "physical port id, high") \
	F(port_guid, 32, guid_lo, 0x1c, 31, 0, "physical port id, low")

#define MAD_IFC_FIELDS(F, A, B, U, E) \
	B(mad_ifc,     mad,        0x000, 256,    "MAD as on the wire") \
	F(mad_ifc, 32, my_qpn,     0x100, 23,  0, "receiving QP, 0 or 1") \
	F(mad_ifc, 32, rqpn,       0x108, 23,  0, "source QP") \
	F(mad_ifc,  8, sl,         0x10c,  7,  4, "service level") \
	F(mad_ifc,  8, grh,        0x10d,  7,  7, "the MAD came with a GRH") \
	F(mad_ifc,  8, path_bits,  0x10d,  6,  0, "destination path bits") \
	F(mad_ifc, 16, pkey_index, 0x112, 15,  0, "P_Key index") \
	B(mad_ifc,     grh_bytes,  0x140, 40,     "GRH")

#define WRITE_MTT_FIELDS(F, A, B, U, E) \
	F(write_mtt, 64, offset, 0x00, 63, 0, "byte offset of the first entry") \
	B(write_mtt,     entry,  0x10, 0xff0, "entries, layout mtt_entry")

#define GID_FIELDS(F, A, B, U, E) \
	F(gid, 64, prefix, 0x0, 63, 0, "GID prefix") \
	F(gid, 64, guid,   0x8, 63, 0, "interface id")

#define SET_NODE_FIELDS(F, A, B, U, E) \
	B(set_node, description, 0x00, 64, "node description")

#define QP_MBOX_FIELDS(F, A, B, U, E) \
	F(qp_mbox, 32, opt_mask, 0x00, 31, 0, "which fields are taken, enum qp_opt") \
	E(qp_mbox, qpc, context, 0x08,        "QP context")

/* Rows of DIAG_COMPLETIONS and DIAG_STAGES. */
#define DIAG_COMPLETION_FIELD(F, name, offset, syndrome, send, meaning) F(diag_rprt, 32, name, offset, 31, 0, meaning)
#define DIAG_STAGE_FIELD(F, name, offset, stat, meaning) F(diag_rprt, 32, name, offset, 31, 0, meaning)

#define DIAG_RPRT_FIELDS(F, A, B, U, E) \
	DIAG_COMPLETIONS(DIAG_COMPLETION_FIELD, F) \
	DIAG_STAGES(DIAG_STAGE_FIELD, F) \
	F(diag_rprt, 32, rq_udsdprd, 0x118, 31, 0, "UD packets dropped because no receive was posted; not counted here")

#define COMMAND_LAYOUTS(L) \
	L(query_fw,      0x100,  QUERY_FW_FIELDS,      "QUERY_FW output") \
	L(vpm_entry,     0x10,   VPM_ENTRY_FIELDS,     "pages given to the device") \
	L(vpm_list,      0x1000, VPM_LIST_FIELDS,      "MAP_FA, MAP_ICM, MAP_ICM_AUX input") \
	L(dev_cap,       0x100,  DEV_CAP_FIELDS,       "QUERY_DEV_CAP output") \
	L(query_port,    0x100,  QUERY_PORT_FIELDS,    "QUERY_PORT output") \
	L(query_adapter, 0x100,  QUERY_ADAPTER_FIELDS, "QUERY_ADAPTER output") \
	L(init_hca,      0x200,  INIT_HCA_FIELDS,      "INIT_HCA input, QUERY_HCA output") \
	L(set_port,      0x100,  SET_PORT_FIELDS,      "SET_PORT input") \
	L(eth_general,   0x100,  ETH_GENERAL_FIELDS,   "SET_PORT input, Ethernet, general") \
	L(eth_rqp,       0x100,  ETH_RQP_FIELDS,       "SET_PORT input, Ethernet, receive QPs") \
	L(eth_mac,       8,      ETH_MAC_FIELDS,       "entry of the table of MACs") \
	L(eth_vlan,      4,      ETH_VLAN_FIELDS,      "entry of the table of VLANs") \
	L(eth_roce,      0x20,   ETH_ROCE_FIELDS,      "entry of the table of RoCE addresses") \
	L(config_dev,    0x80,   CONFIG_DEV_FIELDS,    "CONFIG_DEV input and output") \
	L(vlan_filter,   0x200,  VLAN_FILTER_FIELDS,   "SET_VLAN_FLTR input") \
	L(eth_stats,     0xbb0,  ETH_STATS_FIELDS,     "DUMP_ETH_STATS output") \
	L(mod_stat_cfg,  0x100,  MOD_STAT_CFG_FIELDS,  "MOD_STAT_CFG input, opcode modifier 0") \
	L(port_guid,     0x100,  PORT_GUID_FIELDS,     "MOD_STAT_CFG output, opcode modifier 2") \
	L(mad_ifc,       0x200,  MAD_IFC_FIELDS,       "MAD_IFC input") \
	L(write_mtt,     0x1000, WRITE_MTT_FIELDS,     "WRITE_MTT input") \
	L(gid,           0x10,   GID_FIELDS,           "GID; MGID_HASH input") \
	L(set_node,      0x40,   SET_NODE_FIELDS,      "SET_NODE input") \
	L(qp_mbox,       0x100,  QP_MBOX_FIELDS,       "QP transition input, QUERY_QP output") \
	L(diag_rprt,     0x200,  DIAG_RPRT_FIELDS,     "DIAG_RPRT output")

/* Bit numbers in opt_mask; QP_OPT_BIT_x is the mask. O(NAME, bit, meaning) */
#define QP_OPTS(O) \
	O(ALT_PATH,       0, "alternate path, whole") \
	O(RRE,            1, "remote read enable") \
	O(RAE,            2, "remote atomic enable") \
	O(RWE,            3, "remote write enable") \
	O(PKEY_INDEX,     4, "P_Key index of the primary path") \
	O(QKEY,           5, "Q_Key") \
	O(MIN_RNR,        6, "RNR NAK timer") \
	O(PRIMARY_PATH,   7, "primary path without P_Key index, ACK timeout, schedule queue") \
	O(SRA_MAX,        8, "READs and atomics outstanding as requester") \
	O(RRA_MAX,        9, "responder resources") \
	O(PM_STATE,      10, "path migration state") \
	O(RETRY_COUNT,   12, "transport retries") \
	O(RNR_RETRY,     13, "RNR retries") \
	O(ACK_TIMEOUT,   14, "ACK timeout of the primary path") \
	O(SCHED_QUEUE,   16, "port and SL of the primary path") \
	O(COUNTER_INDEX, 20, "counter") \
	O(VLAN_STRIP,    21, "VLAN stripping")

/* Parts of an Ethernet port that SET_PORT sets: bits [15:8] of the input modifier. */
#define SET_PORT_PARTS(K) \
	K(SET_PORT, GENERAL,    0x0, "MTU, pause, RoCE mode") \
	K(SET_PORT, RQP_CALC,   0x1, "which QP receives which frames") \
	K(SET_PORT, MAC_TABLE,  0x2, "the port's MACs") \
	K(SET_PORT, VLAN_TABLE, 0x3, "the port's VLANs") \
	K(SET_PORT, PRIO_MAP,   0x4, "priorities of VLAN tags") \
	K(SET_PORT, GID_TABLE,  0x5, "GIDs of RoCE v1") \
	K(SET_PORT, PRIO2TC,    0x8, "traffic class of each priority") \
	K(SET_PORT, SCHEDULER,  0x9, "weight of each traffic class") \
	K(SET_PORT, ROCE_TABLE, 0xd, "GIDs of RoCE v1 and v2")

/* Fields without a bit in opt_mask, grouped by the transition that always takes them. */
#define QP_GROUPS(K) \
	K(QP_TAKE, NOTHING,  0, "only what the mask names") \
	K(QP_TAKE, ALL,      1, "the whole context except the device's own fields") \
	K(QP_TAKE, RECV,     2, "MTU, largest message, remote QPN, next receive PSN") \
	K(QP_TAKE, SEND_PSN, 3, "next send PSN")

/* Opt bits that have a meaning on a service; the others are ignored. Y(service, mask) */
#define QP_SERVICE_OPTS(Y) \
	Y(RC,  QP_OPT_ALL) \
	Y(XRC, QP_OPT_ALL) \
	Y(UC,  QP_OPT_ALL & ~(QP_OPT_BIT_MIN_RNR | QP_OPT_BIT_SRA_MAX | QP_OPT_BIT_RRA_MAX | QP_OPT_BIT_RETRY_COUNT | \
			      QP_OPT_BIT_RNR_RETRY | QP_OPT_BIT_ACK_TIMEOUT)) \
	Y(UD,  QP_OPT_DATAGRAM) \
	Y(MLX, QP_OPT_DATAGRAM)

/* Bits of query_port.types. */
#define PORT_TYPES(K) \
	K(PORT_TYPE, IB,  1, "InfiniBand") \
	K(PORT_TYPE, ETH, 2, "Ethernet")

#define COMMAND_CODES(T) \
	T(port_type,         PORT_TYPES) \
	T(dev_cap_flag,      DEV_CAP_FLAGS) \
	T(dev_cap_ext2_flag, DEV_CAP_EXT2_FLAGS) \
	T(dev_cap_ext3_flag, DEV_CAP_EXT3_FLAGS) \
	T(dev_cap_bmme_flag, DEV_CAP_BMME_FLAGS) \
	T(set_port_part,     SET_PORT_PARTS) \
	T(qp_take,           QP_GROUPS)

/* clang-format on */

#define HCR_STATUS_ENUM(name, code, errno_name, errno_value, meaning) HCR_STATUS_##name = (code),
enum hcr_status { HCR_STATUSES(HCR_STATUS_ENUM) };

COMMAND_LAYOUTS(LAYOUT_DEFINE)
COMMAND_CODES(CODES_DEFINE)

#define QP_OPT_ENUM(name, bit, meaning)     QP_OPT_##name = (bit),
#define QP_OPT_BIT_ENUM(name, bit, meaning) QP_OPT_BIT_##name = 1 << (bit),
enum qp_opt { QP_OPTS(QP_OPT_ENUM) };

/* Masks of opt_mask. */
#define QP_OPT_OR(name, bit, meaning) | 1 << (bit)
enum qp_opt_mask {
	QP_OPTS(QP_OPT_BIT_ENUM)
	/* all of them */
	QP_OPT_ALL = 0 QP_OPTS(QP_OPT_OR),
	QP_OPT_ACCESS = QP_OPT_BIT_RRE | QP_OPT_BIT_RAE | QP_OPT_BIT_RWE,
	QP_OPT_RTS = QP_OPT_ACCESS | QP_OPT_BIT_ALT_PATH | QP_OPT_BIT_QKEY | QP_OPT_BIT_MIN_RNR |
		     QP_OPT_BIT_PM_STATE,
	QP_OPT_DATAGRAM = QP_OPT_BIT_PKEY_INDEX | QP_OPT_BIT_QKEY | QP_OPT_BIT_SCHED_QUEUE |
			  QP_OPT_BIT_COUNTER_INDEX,
};

#define QP_SERVICE_OPT_CASE(service, mask)                                                         \
	case QP_ST_##service:                                                                      \
		return (uint32_t)(mask);

/* Opt bits that have a meaning on a service type. */
static inline uint32_t qp_service_opts(uint32_t service)
{
	switch (service) {
		QP_SERVICE_OPTS(QP_SERVICE_OPT_CASE)
	default:
		return 0;
	}
}

enum hcr_facts {
	HCR_DWORDS = 7,
	HCR_MBOX_SIZE = 4096,
	HCR_CMD_IF_REV = 3,
	HCR_TOKEN_POLL = 0xffff, /* what the driver puts into token when it polls */
	HCR_NOP_IM = 0x1f,
	VPM_ENTRIES_MAX = HCR_MBOX_SIZE / 16,
	WRITE_MTT_ENTRIES_MAX = write_mtt_entry_size / 8,
	VSD_SIGNATURE = 0x5ad,
};

/* Opcode modifiers. */
enum hcr_op_mod {
	HCR_OM_NO_OUTBOX = 1,        /* HW2SW_* */
	HCR_OM_2RST_NO_MBOX = 2,     /* 2RST_QP */
	HCR_OM_CLOSE_PANIC = 1,      /* CLOSE_HCA */
	HCR_OM_SW_CQ_INIT = 1,       /* SW2HW_CQ: software initialised the buffer */
	HCR_OM_CQ_RESIZE = 0,        /* MODIFY_CQ */
	HCR_OM_CQ_MODERATE = 1,      /* MODIFY_CQ */
	HCR_OM_STAT_CFG_SET = 0,     /* MOD_STAT_CFG */
	HCR_OM_STAT_CFG_PORT_ID = 2, /* MOD_STAT_CFG */
	HCR_OM_DIAG_QUERY = 2,       /* DIAG_RPRT */
	HCR_OM_SET_PORT_IB = 0,      /* SET_PORT */
	HCR_OM_SET_PORT_ETH = 1,     /* SET_PORT */
	HCR_OM_CONFIG_DEV_SET = 0,   /* CONFIG_DEV */
	HCR_OM_CONFIG_DEV_GET = 1,   /* CONFIG_DEV */
	HCR_OM_MCAST_CONFIG = 0,     /* SET_MCAST_FLTR */
	HCR_OM_MCAST_DISABLE = 1,    /* SET_MCAST_FLTR */
	HCR_OM_MCAST_ENABLE = 2,     /* SET_MCAST_FLTR */
};

enum mad_ifc_om {
	MAD_IFC_IGNORE_MKEY = 1 << 0,
	MAD_IFC_IGNORE_BKEY = 1 << 1,
	MAD_IFC_EXT_INFO = 1 << 2, /* the data at 0x100 of the mailbox is valid */
	MAD_IFC_NET_VIEW = 1 << 3, /* multi-function only */
};

/* Input modifiers that consist of several fields. */
enum hcr_in_mod {
	MAP_EQ_EQN_MASK = 0x3ff,
	MAP_EQ_UNMAP_SHIFT = 31,
	RTS2SQD_EVENT_SHIFT = 31,
	MAD_IFC_SLID_SHIFT = 16,
	MAD_IFC_PORT_MASK = 0xffff,
	MOD_STAT_CFG_PORT_SHIFT = 8,
	SET_PORT_PORT_MASK = 0xff,
	SET_PORT_PART_SHIFT = 8,
};

/* Bit of a capability field, and of the MAP_EQ event mask. */
static inline uint64_t cap_bit(unsigned int n)
{
	return UINT64_C(1) << n;
}

static inline struct vpm_entry *vpm_list_at(struct vpm_list *l, unsigned int n)
{
	return (struct vpm_entry *)(void *)(l->b + 16 * n);
}

static inline const struct vpm_entry *vpm_list_at_const(const struct vpm_list *l, unsigned int n)
{
	return (const struct vpm_entry *)(const void *)(l->b + 16 * n);
}

#endif
