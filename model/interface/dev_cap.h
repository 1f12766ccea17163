/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of QUERY_DEV_CAP and its capability bits; layout dev_cap is defined by commands.h. Every
 * field that Linux mlx4 fw.c reads has a row. Fields of features that this device does not offer
 * have one too: they read 0, and the log can show them.
 */
#ifndef MODEL_INTERFACE_DEV_CAP_H
#define MODEL_INTERFACE_DEV_CAP_H

#include "model/interface/field.h"

/* clang-format off */

#define DEV_CAP_FIELDS(F, A, B, U, E) \
	F(dev_cap,  8, log_max_srq_wqes,     0x10,  7,  0, "log2 WQEs of an SRQ") \
	F(dev_cap,  8, log_max_qp_wqes,      0x11,  7,  0, "log2 WQEs of a work queue") \
	F(dev_cap,  8, log_rsvd_qps,         0x12,  3,  0, "log2 reserved QPs") \
	F(dev_cap,  8, log_max_qps,          0x13,  4,  0, "log2 QPs") \
	F(dev_cap,  8, log_rsvd_srqs,        0x14,  7,  4, "log2 reserved SRQs") \
	F(dev_cap,  8, log_max_srqs,         0x15,  4,  0, "log2 SRQs") \
	F(dev_cap,  8, log_max_cqes,         0x19,  7,  0, "log2 entries of a CQ") \
	F(dev_cap,  8, log_rsvd_cqs,         0x1a,  3,  0, "log2 reserved CQs") \
	F(dev_cap,  8, log_max_cqs,          0x1b,  4,  0, "log2 CQs") \
	F(dev_cap,  8, log_max_mpts,         0x1d,  5,  0, "log2 MPTs") \
	F(dev_cap,  8, log_rsvd_eqs,         0x1e,  3,  0, "log2 reserved EQs") \
	F(dev_cap,  8, log_max_eqs,          0x1f,  3,  0, "log2 EQs") \
	F(dev_cap,  8, log_rsvd_mtts,        0x20,  7,  4, "log2 reserved MTTs") \
	F(dev_cap,  8, log_rsvd_mpts,        0x22,  3,  0, "log2 reserved MPTs") \
	F(dev_cap, 16, num_sys_eqs,          0x26, 11,  0, "system EQs, SR-IOV") \
	F(dev_cap,  8, log_max_sra,          0x29,  5,  0, "log2 outstanding READ/atomic of a requester") \
	F(dev_cap,  8, log_max_rra,          0x2b,  5,  0, "log2 outstanding READ/atomic of a responder") \
	F(dev_cap,  8, log_max_gso,          0x2d,  4,  0, "log2 of a segmented send, 0 none") \
	F(dev_cap,  8, rss_xor,              0x2e,  5,  5, "RSS by xor") \
	F(dev_cap,  8, rss_toeplitz,         0x2e,  4,  4, "RSS by Toeplitz") \
	F(dev_cap,  8, log_rss_table,        0x2e,  3,  0, "log2 RSS table") \
	F(dev_cap,  8, log_max_rdma_global,  0x2f,  5,  0, "log2 responder resources of the device") \
	F(dev_cap,  8, srq_resize,           0x33,  0,  0, "SRQ resize") \
	F(dev_cap,  8, port_beacon,          0x34,  7,  7, "port beacon") \
	F(dev_cap,  8, ack_delay,            0x35,  4,  0, "local CA ACK delay, 4.096 us * 2^n") \
	F(dev_cap,  8, mtu,                  0x36,  7,  4, "MTU, interface revision 2") \
	F(dev_cap,  8, width,                0x36,  3,  0, "link width, interface revision 2") \
	F(dev_cap,  8, max_vl,               0x37,  7,  4, "VLs, interface revision 2") \
	F(dev_cap,  8, num_ports,            0x37,  3,  0, "ports") \
	F(dev_cap,  8, log_max_msg,          0x38,  4,  0, "log2 of the largest message") \
	F(dev_cap,  8, log_gids,             0x3b,  3,  0, "log2 GIDs, interface revision 2") \
	F(dev_cap, 16, static_rates,         0x3c, 15,  0, "static rates supported") \
	F(dev_cap,  8, cqe_timestamp,        0x3e,  7,  7, "timestamps in CQEs") \
	F(dev_cap,  8, log_pkeys,            0x3f,  3,  0, "log2 P_Keys, interface revision 2") \
	F(dev_cap, 64, flags,                0x40, 63,  0, "capability bits, enum dev_cap_flag") \
	U(dev_cap,  8, wol_port1,            0x43,  5,  5, "wake on LAN, port 1") \
	U(dev_cap,  8, wol_port2,            0x43,  6,  6, "wake on LAN, port 2") \
	F(dev_cap,  8, num_rsvd_uars,        0x48,  7,  4, "reserved UARs") \
	F(dev_cap,  8, log_uar_mib,          0x49,  5,  0, "UAR area of 1 MiB * 2^n") \
	F(dev_cap,  8, log_min_page,         0x4b,  7,  0, "log2 smallest page") \
	F(dev_cap,  8, bf,                   0x4c,  7,  7, "BlueFlame") \
	F(dev_cap,  8, log_bf_reg_size,      0x4d,  4,  0, "log2 BlueFlame register size") \
	F(dev_cap,  8, log_bf_regs_per_page, 0x4e,  5,  0, "log2 BlueFlame registers of a page") \
	F(dev_cap,  8, max_sq_sge,           0x51,  7,  0, "gather entries of a send WQE") \
	F(dev_cap, 16, max_sq_desc,          0x52, 15,  0, "bytes of a send WQE") \
	F(dev_cap,  8, max_rq_sge,           0x55,  7,  0, "scatter entries of a receive WQE") \
	F(dev_cap, 16, max_rq_desc,          0x56, 15,  0, "bytes of a receive WQE") \
	F(dev_cap,  8, user_mac,             0x5c,  2,  2, "user MAC, Ethernet") \
	F(dev_cap,  8, svlan_by_qp,          0x5d,  0,  0, "S-VLAN by QP, Ethernet") \
	F(dev_cap,  8, log_max_qp_mcg,       0x61,  7,  0, "log2 QPs of a multicast group") \
	F(dev_cap,  8, num_rsvd_mcgs,        0x62,  3,  0, "reserved multicast groups") \
	F(dev_cap,  8, log_max_mcgs,         0x63,  7,  0, "log2 multicast groups") \
	F(dev_cap,  8, num_rsvd_pds,         0x64,  7,  4, "reserved PDs") \
	F(dev_cap,  8, log_max_pds,          0x65,  5,  0, "log2 PDs") \
	F(dev_cap,  8, num_rsvd_xrcds,       0x66,  7,  4, "reserved XRC domains") \
	F(dev_cap,  8, log_max_xrcds,        0x67,  4,  0, "log2 XRC domains") \
	F(dev_cap, 32, max_counters,         0x68, 31,  0, "counters") \
	F(dev_cap, 32, ext_flags2,           0x70, 31,  0, "capability bits, enum dev_cap_ext2_flag") \
	U(dev_cap,  8, flow_statistics,      0x70,  4,  4, "flow statistics") \
	F(dev_cap,  8, dmfs_ipoib,           0x74,  7,  7, "flow steering for IPoIB") \
	F(dev_cap,  8, dmfs,                 0x76,  7,  7, "flow steering") \
	F(dev_cap,  8, dmfs_sniffer,         0x76,  5,  5, "flow sniffer") \
	F(dev_cap,  8, dmfs_log_range,       0x76,  4,  0, "log2 unicast range") \
	F(dev_cap,  8, dmfs_max_qp,          0x77,  7,  0, "QPs of a flow entry") \
	F(dev_cap,  8, sl2vl_event,          0x78,  5,  5, "SL2VL change event") \
	F(dev_cap,  8, eqe_stride,           0x7a,  7,  7, "EQE stride") \
	F(dev_cap,  8, cqe_stride,           0x7a,  6,  6, "CQE stride") \
	F(dev_cap,  8, eth_prot_ctrl,        0x7a,  5,  5, "Ethernet protocol control") \
	F(dev_cap,  8, qos_vpp,              0x7a,  4,  4, "QoS per virtual port") \
	F(dev_cap,  8, qcn,                  0x7b,  0,  0, "congestion notification, Ethernet") \
	F(dev_cap, 16, rdmarc_size,          0x80, 15,  0, "bytes of a responder resource entry") \
	F(dev_cap, 16, qpc_size,             0x82, 15,  0, "bytes of a QP context entry") \
	F(dev_cap, 16, auxc_size,            0x84, 15,  0, "bytes of an auxiliary context entry") \
	F(dev_cap, 16, altc_size,            0x86, 15,  0, "bytes of an alternate path entry") \
	F(dev_cap, 16, eqc_size,             0x88, 15,  0, "bytes of an EQ context entry") \
	F(dev_cap, 16, cqc_size,             0x8a, 15,  0, "bytes of a CQ context entry") \
	F(dev_cap, 16, srqc_size,            0x8c, 15,  0, "bytes of an SRQ context entry") \
	F(dev_cap, 16, cmpt_size,            0x8e, 15,  0, "bytes of a cMPT entry") \
	F(dev_cap, 16, mtt_size,             0x90, 15,  0, "bytes of an MTT entry, 8") \
	F(dev_cap, 16, dmpt_size,            0x92, 15,  0, "bytes of a dMPT entry") \
	F(dev_cap, 32, bmme_flags,           0x94, 31,  0, "memory management extensions, enum dev_cap_bmme_flag") \
	F(dev_cap, 32, rsvd_lkey,            0x98, 31,  0, "reserved L_Key") \
	F(dev_cap, 32, ext_flags3,           0x9c, 31,  0, "capability bits, enum dev_cap_ext3_flag") \
	F(dev_cap, 64, max_icm,              0xa0, 63,  0, "bytes of ICM") \
	F(dev_cap, 32, dmfs_qpn_base,        0xa8, 23,  0, "high rate QPNs, first") \
	F(dev_cap, 32, dmfs_qpn_range,       0xac, 23,  0, "high rate QPNs, number") \
	F(dev_cap, 32, mad_demux,            0xb0,  0,  0, "MAD_DEMUX") \
	F(dev_cap,  8, clock_to_user,        0xc1,  7,  7, "clock may be mapped to users") \
	F(dev_cap, 16, num_qp_rates,         0xcc, 15,  0, "rate limits, 0 none") \
	F(dev_cap, 16, rate_max_unit,        0xd0, 15, 14, "largest rate, unit") \
	F(dev_cap, 16, rate_max,             0xd0, 11,  0, "largest rate") \
	F(dev_cap, 16, rate_min_unit,        0xd2, 15, 14, "smallest rate, unit") \
	F(dev_cap, 16, rate_min,             0xd2, 11,  0, "smallest rate") \
	F(dev_cap, 32, health_buffer,        0xe4, 31,  0, "BAR0 offset of the crash dump, 0 none")

/* Bit numbers; bit n of the field is cap_bit(n). */
#define DEV_CAP_FLAGS(K) \
	K(DEV_CAP, RC,            0, "RC") \
	K(DEV_CAP, UC,            1, "UC") \
	K(DEV_CAP, UD,            2, "UD") \
	K(DEV_CAP, XRC,           3, "XRC") \
	K(DEV_CAP, SRQ,           6, "SRQ") \
	K(DEV_CAP, IPOIB_CSUM,    7, "IPoIB checksum offload") \
	K(DEV_CAP, BAD_PKEY_CNT,  8, "bad P_Key counter") \
	K(DEV_CAP, BAD_QKEY_CNT,  9, "bad Q_Key counter") \
	K(DEV_CAP, DPDP,         12, "dual protocol") \
	K(DEV_CAP, BLH,          15, "big LSO header") \
	K(DEV_CAP, MEM_WINDOW,   16, "memory windows, type 1") \
	K(DEV_CAP, APM,          17, "automatic path migration") \
	K(DEV_CAP, ATOMIC,       18, "atomics") \
	K(DEV_CAP, RAW_MCAST,    19, "raw multicast") \
	K(DEV_CAP, UD_AV_PORT,   20, "UD address vector port enforced") \
	K(DEV_CAP, UD_MCAST,     21, "UD multicast") \
	K(DEV_CAP, IBOE,         30, "RoCE") \
	K(DEV_CAP, UC_LOOPBACK,  32, "unicast loopback") \
	K(DEV_CAP, FCS_KEEP,     34, "FCS kept") \
	K(DEV_CAP, WOL_PORT1,    37, "wake on LAN, port 1") \
	K(DEV_CAP, WOL_PORT2,    38, "wake on LAN, port 2") \
	K(DEV_CAP, UDP_RSS,      40, "RSS over UDP") \
	K(DEV_CAP, VEP_UC_STEER, 41, "unicast steering") \
	K(DEV_CAP, VEP_MC_STEER, 42, "multicast steering") \
	K(DEV_CAP, COUNTERS,     48, "counters") \
	K(DEV_CAP, RSS_IP_FRAG,  52, "RSS of IP fragments") \
	K(DEV_CAP, SET_ETH_SCHED, 53, "Ethernet scheduler") \
	K(DEV_CAP, SENSE,        55, "link type sensing") \
	K(DEV_CAP, PORT_MNG_CHG, 59, "event PORT_MNG_CHG") \
	K(DEV_CAP, EQE_64B,      61, "64-byte EQEs") \
	K(DEV_CAP, CQE_64B,      62, "64-byte CQEs")

#define DEV_CAP_EXT2_FLAGS(K) \
	K(DEV_CAP2, UPDATE_QP,        16, "UPDATE_QP") \
	K(DEV_CAP2, UPDATE_QP_SRC_LB, 18, "UPDATE_QP source check loopback") \
	K(DEV_CAP2, SRC_CHECK_LB,     19, "loopback source check") \
	K(DEV_CAP2, FSM,              20, "FSM") \
	K(DEV_CAP2, VF80,             21, "80 virtual functions") \
	K(DEV_CAP2, SW_CQ_INIT,       23, "software may initialise the CQ buffer") \
	K(DEV_CAP2, VLAN_CONTROL,     26, "VLAN control")

#define DEV_CAP_EXT3_FLAGS(K) \
	K(DEV_CAP3, BACKPLANE_AN,      0, "backplane autonegotiation") \
	K(DEV_CAP3, RECOVERABLE_ERROR, 7, "recoverable error event") \
	K(DEV_CAP3, DRIVER_VERSION,    8, "driver version string") \
	K(DEV_CAP3, VXLAN,            11, "VXLAN") \
	K(DEV_CAP3, ETS_CFG,          13, "ETS configuration") \
	K(DEV_CAP3, DIAG_PER_PORT,    17, "diagnostic counters by port") \
	K(DEV_CAP3, MAC_REASSIGN,     22, "MAC reassign")

#define DEV_CAP_BMME_FLAGS(K) \
	K(BMME, TYPE2_WIN_2B,    1, "type 2 windows are 2B") \
	K(BMME, LOCAL_INV,       6, "local invalidate") \
	K(BMME, REMOTE_INV,      7, "remote invalidate") \
	K(BMME, TYPE2_WIN,       9, "type 2 windows") \
	K(BMME, RESERVED_LKEY,  10, "reserved L_Key") \
	K(BMME, FAST_REG,       11, "fast register") \
	K(BMME, SKIP_VLAN,      14, "skip outer VLAN") \
	K(BMME, PHV,            15, "PHV") \
	K(BMME, ROCE_V1_V2,     19, "RoCE v1 and v2") \
	K(BMME, PORT_REMAP,     24, "port remap") \
	K(BMME, IGNORE_FCS,     26, "ignore FCS") \
	K(BMME, VSD_INIT2RTR,   28, "VSD at INIT2RTR") \
	K(BMME, CONFIG_DEV,     29, "CONFIG_DEV")

/* clang-format on */

#endif
