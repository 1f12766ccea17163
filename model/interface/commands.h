/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HCR commands of the mlx4 (ConnectX-3) interface in native mode. The registers that carry a command
 * are layout hcr in regs.h, and the mailboxes are in mailboxes.h. Source: Linux mlx4 cmd.c, fw.c,
 * port.c, qp.c, mlx4_ib mad.c, main.c; iPXE for the names of commands that Linux does not use.
 */
#ifndef MODEL_INTERFACE_COMMANDS_H
#define MODEL_INTERFACE_COMMANDS_H

#include "model/interface/mailboxes.h"

/* clang-format off */

/*
 * C(NAME, opcode, input, output, layout of the input, layout of the output, flags,
 *   state of the firmware that the command needs (FW_STATE_), opcode modifiers (HCR_OM_),
 *   firmware's handler (cmd_), "input modifier", "meaning")
 * Rows ascend by opcode. Commands with handler none are answered with status BAD_OP.
 */
#define HCR_COMMANDS(C) \
	C(SYS_EN,          0x001, NONE, NONE, none, none, 0, RESET, NONE, none, \
	  "", "enables the system; no driver issues it") \
	C(SYS_DIS,         0x002, NONE, NONE, none, none, 0, RESET, NONE, none, \
	  "", "disables the system; no driver issues it") \
	C(QUERY_DEV_CAP,   0x003, NONE, MBOX, none, dev_cap, 0, RUN, 0, query_dev_cap, \
	  "0", "returns the capabilities and limits of the device") \
	C(QUERY_FW,        0x004, NONE, MBOX, none, query_fw, 0, RESET, 0, query_fw, \
	  "0", "returns the firmware version and where registers lie in the BARs") \
	C(QUERY_DDR,       0x005, NONE, MBOX, none, none, 0, RESET, NONE, none, \
	  "", "returns the local memory; no driver issues it") \
	C(QUERY_ADAPTER,   0x006, NONE, MBOX, none, query_adapter, 0, RUN, 0, query_adapter, \
	  "0", "returns the interrupt pin and the board id") \
	C(INIT_HCA,        0x007, MBOX, NONE, init_hca, none, 0, RUN, 0, init_hca, \
	  "0", "gives the device the address and size of each table in ICM, and starts it") \
	C(CLOSE_HCA,       0x008, NONE, NONE, none, none, HCR_F_CLOSING, HCA, 0_1, close_hca, \
	  "0; opcode modifier 1: the host panics", "undoes INIT_HCA") \
	C(INIT_PORT,       0x009, NONE, NONE, none, none, 0, HCA, 0, init_port, \
	  "port", "brings a port up") \
	C(CLOSE_PORT,      0x00a, NONE, NONE, none, none, 0, HCA, 0, close_port, \
	  "port", "brings a port down") \
	C(QUERY_HCA,       0x00b, NONE, MBOX, none, init_hca, 0, HCA, 0, query_hca, \
	  "0", "returns what INIT_HCA set") \
	C(SET_PORT,        0x00c, MBOX, NONE, set_port, none, HCR_F_OM_PART, HCA, 0_1, set_port, \
	  "[15:8] enum set_port_part, [7:0] port; opcode modifier 0: InfiniBand, 1: Ethernet", "sets the attributes of a port") \
	C(SW2HW_MPT,       0x00d, MBOX, NONE, mpt_entry, none, 0, HCA, 0, sw2hw_mpt, \
	  "MPT index", "gives an MPT to the device") \
	C(QUERY_MPT,       0x00e, NONE, MBOX, none, mpt_entry, 0, HCA, 0, query_mpt, \
	  "MPT index", "reads an MPT") \
	C(HW2SW_MPT,       0x00f, NONE, MBOX_OPT, none, mpt_entry, HCR_F_CLOSING, HCA, 0_1, hw2sw_mpt, \
	  "MPT index; opcode modifier 1: no output mailbox", "takes an MPT back from the device") \
	C(READ_MTT,        0x010, NONE, MBOX, none, write_mtt, 0, RESET, NONE, none, \
	  "count", "reads MTTs; no driver issues it") \
	C(WRITE_MTT,       0x011, MBOX, NONE, write_mtt, none, HCR_F_OWN_IN, HCA, 0, write_mtt, \
	  "count", "writes MTTs; Linux does not issue it") \
	C(MAP_EQ,          0x012, IMM, NONE, none, none, 0, HCA, 0, map_eq, \
	  "[31] unmap, [9:0] EQN", "routes event types to an EQ") \
	C(SW2HW_EQ,        0x013, MBOX, NONE, eqc, none, 0, HCA, 0, sw2hw_eq, \
	  "EQN", "gives an EQ to the device") \
	C(HW2SW_EQ,        0x014, NONE, MBOX_OPT, none, eqc, HCR_F_CLOSING, HCA, 0_1, hw2sw_eq, \
	  "EQN; opcode modifier 1: no output mailbox", "takes an EQ back from the device") \
	C(QUERY_EQ,        0x015, NONE, MBOX, none, eqc, 0, HCA, 0, query_eq, \
	  "EQN", "reads an EQ context") \
	C(SW2HW_CQ,        0x016, MBOX, NONE, cqc, none, 0, HCA, 0_1, sw2hw_cq, \
	  "CQN; opcode modifier 1: software has initialised the buffer", "gives a CQ to the device") \
	C(HW2SW_CQ,        0x017, NONE, MBOX_OPT, none, cqc, HCR_F_CLOSING, HCA, 0_1, hw2sw_cq, \
	  "CQN; opcode modifier 1: no output mailbox", "takes a CQ back from the device") \
	C(QUERY_CQ,        0x018, NONE, MBOX, none, cqc, 0, HCA, 0, query_cq, \
	  "CQN", "reads a CQ context") \
	C(RST2INIT_QP,     0x019, MBOX, NONE, qp_mbox, none, 0, HCA, 0, rst2init_qp, \
	  "QPN", "moves a QP from RESET to INIT") \
	C(INIT2RTR_QP,     0x01a, MBOX, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "QPN", "moves a QP from INIT to RTR (ready to receive)") \
	C(RTR2RTS_QP,      0x01b, MBOX, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "QPN", "moves a QP from RTR to RTS (ready to send)") \
	C(RTS2RTS_QP,      0x01c, MBOX, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "QPN", "modifies a QP in RTS") \
	C(SQERR2RTS_QP,    0x01d, MBOX, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "QPN", "moves a QP from SQER (send queue error) to RTS") \
	C(2ERR_QP,         0x01e, MBOX_OPT, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "QPN", "moves a QP from any state to ERR; the device ignores the mailbox") \
	C(RTS2SQD_QP,      0x01f, MBOX_OPT, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "[31] post an event when drained, [23:0] QPN", "drains the send queue of a QP: RTS to SQD") \
	C(SQD2RTS_QP,      0x020, MBOX, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "QPN", "moves a QP from SQD (send queue drained) to RTS") \
	C(2RST_QP,         0x021, NONE, NONE, none, none, HCR_F_CLOSING, HCA, 0_2, 2rst_qp, \
	  "QPN; opcode modifier 2: no mailbox", "moves a QP from any state to RESET") \
	C(QUERY_QP,        0x022, NONE, MBOX, none, qp_mbox, 0, HCA, 0, query_qp, \
	  "QPN", "reads a QP context") \
	C(CONF_SPECIAL_QP, 0x023, NONE, NONE, none, none, 0, HCA, 0, conf_special_qp, \
	  "base QPN; 0 disables both", "sets the numbers of QP0 and QP1") \
	C(MAD_IFC,         0x024, MBOX, MBOX, mad_ifc, none, 0, HCA, MAD, mad_ifc, \
	  "[31:16] SLID, [15:0] port; opcode modifier: enum mad_ifc_om", "gives a MAD to the agents of the device and returns their answer") \
	C(READ_MCG,        0x025, NONE, MBOX, none, mcg_entry, HCR_F_OWN_OUT, HCA, 0, read_mcg, \
	  "index", "reads a multicast group") \
	C(WRITE_MCG,       0x026, MBOX, NONE, mcg_entry, none, HCR_F_OWN_IN, HCA, 0, write_mcg, \
	  "index", "writes a multicast group") \
	C(MGID_HASH,       0x027, MBOX, IMM, gid, none, 0, HCA, 0, mgid_hash, \
	  "0", "returns the hash of a multicast GID") \
	C(QUERY_DEBUG_MSG, 0x02a, NONE, MBOX, none, none, 0, RESET, NONE, none, \
	  "", "no driver issues it") \
	C(SET_DEBUG_MSG,   0x02b, MBOX, NONE, none, none, 0, RESET, NONE, none, \
	  "", "no driver issues it") \
	C(MODIFY_CQ,       0x02c, MBOX, NONE, cqc, none, 0, HCA, 0_1, modify_cq, \
	  "CQN; opcode modifier 0: resize, 1: moderation", "resizes a CQ or sets its moderation") \
	C(INIT2INIT_QP,    0x02d, MBOX, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "QPN", "modifies a QP in INIT") \
	C(ACCESS_MEM,      0x02e, MBOX, MBOX, none, none, 0, RESET, NONE, none, \
	  "", "for virtual functions; not issued in native mode") \
	C(SYNC_TPT,        0x02f, NONE, NONE, none, none, HCR_F_CLOSING, HCA, 0, sync_tpt, \
	  "0", "drops all cached MPTs and MTTs") \
	C(DIAG_RPRT,       0x030, NONE, MBOX, none, diag_rprt, 0, HCA, 2, diag_rprt, \
	  "port, or 0 for the device; opcode modifier 2", "returns the diagnostic counters") \
	C(NOP,             0x031, NONE, NONE, none, none, 0, RUN, 0, nop, \
	  "0x1f", "does nothing; the driver tests its event path with it") \
	C(SUSPEND_QP,      0x032, NONE, NONE, none, none, 0, RESET, NONE, none, \
	  "QPN", "no driver issues it") \
	C(UNSUSPEND_QP,    0x033, NONE, NONE, none, none, 0, RESET, NONE, none, \
	  "QPN", "no driver issues it") \
	C(MOD_STAT_CFG,    0x034, MBOX, MBOX_OPT, mod_stat_cfg, port_guid, HCR_F_OM_PART | HCR_F_OWN_IN, RUN, 0_2, mod_stat_cfg, \
	  "opcode modifier 0: 0; 2: port << 8", "sets the static configuration (opcode modifier 0), or returns the physical port id (2)") \
	C(SW2HW_SRQ,       0x035, MBOX, NONE, srqc, none, 0, HCA, 0, sw2hw_srq, \
	  "SRQN", "gives an SRQ to the device") \
	C(HW2SW_SRQ,       0x036, NONE, MBOX_OPT, none, srqc, HCR_F_CLOSING, HCA, 0_1, hw2sw_srq, \
	  "SRQN; opcode modifier 1: no output mailbox", "takes an SRQ back from the device") \
	C(QUERY_SRQ,       0x037, NONE, MBOX, none, srqc, 0, HCA, 0, query_srq, \
	  "SRQN", "reads an SRQ context") \
	C(SQD2SQD_QP,      0x038, MBOX, NONE, qp_mbox, none, 0, HCA, 0, modify_qp, \
	  "QPN", "modifies a QP in SQD") \
	C(CONFIG_DEV,      0x03a, MBOX, MBOX_OPT, config_dev, config_dev, HCR_F_OM_PART | HCR_F_OWN_IN, HCA, 0_1, config_dev, \
	  "0; opcode modifier 0: set, 1: get", "configures the device: the UDP port of RoCE v2") \
	C(ACCESS_REG,      0x03b, MBOX, MBOX, none, none, 0, RESET, NONE, none, \
	  "0", "reads or writes an Ethernet register") \
	C(ARM_SRQ,         0x040, IMM, NONE, none, none, 0, HCA, 0, arm_srq, \
	  "SRQN", "sets the limit of an SRQ that raises an event") \
	C(QUERY_PORT,      0x043, NONE, MBOX, none, query_port, 0, RUN, 0, query_port, \
	  "port", "returns the capabilities of a port") \
	C(SET_VLAN_FLTR,   0x047, MBOX, NONE, vlan_filter, none, 0, HCA, 0, set_vlan_fltr, \
	  "port", "sets which VLANs an Ethernet port receives") \
	C(SET_MCAST_FLTR,  0x048, IMM, NONE, none, none, 0, HCA, 0_1_2, set_mcast_fltr, \
	  "port; input parameter: MAC, or bit 63 empties the list; opcode modifier 0: list, 1: off, 2: on", "sets which groups an Ethernet port receives") \
	C(DUMP_ETH_STATS,  0x049, NONE, MBOX, none, eth_stats, 0, HCA, 0, dump_eth_stats, \
	  "[8] begin at 0 again, [7:0] port", "returns the counters of an Ethernet port") \
	C(SENSE_PORT,      0x04d, NONE, IMM, none, none, 0, RUN, 0, sense_port, \
	  "port", "returns the protocol of the other end: 1 InfiniBand, 2 Ethernet, 0 unknown") \
	C(HW_HEALTH_CHECK, 0x050, NONE, NONE, none, none, 0, HCA, 0, nop, \
	  "0", "tests the hardware; the Ethernet driver issues it") \
	C(QUERY_IF_STAT,   0x054, NONE, MBOX, none, none, 0, RESET, NONE, none, \
	  "counter", "reads a counter; needs a capability that this device does not announce") \
	C(SET_IF_STAT,     0x055, NONE, MBOX, none, none, 0, RESET, NONE, none, \
	  "counter", "sets a counter; needs a capability that this device does not announce") \
	C(QUERY_FUNC,      0x056, NONE, MBOX, none, none, 0, RESET, NONE, none, \
	  "function", "reads a function; issued only with system EQs") \
	C(GET_OP_REQ,      0x059, NONE, MBOX, none, none, 0, RESET, NONE, none, \
	  "", "fetches a request of the firmware; issued only after event OP_REQUIRED") \
	C(SET_NODE,        0x05a, MBOX, NONE, set_node, none, 0, RUN, 0, set_node, \
	  "1", "sets the node description") \
	C(VIRT_PORT_MAP,   0x05c, MBOX, NONE, none, none, 0, RESET, NONE, none, \
	  "", "maps ports for bonding") \
	C(UPDATE_QP,       0x061, MBOX, NONE, none, none, 0, RESET, NONE, none, \
	  "QPN", "updates a QP for Ethernet and SR-IOV") \
	C(MAD_DEMUX,       0x203, MBOX, MBOX, none, none, HCR_F_OM_PART, RESET, NONE, none, \
	  "1", "controls which MADs the device answers; needs a capability that this device does not announce") \
	C(RUN_FW,          0xff6, NONE, NONE, none, none, 0, RESET, 0, run_fw, \
	  "0", "starts the firmware") \
	C(DISABLE_LAM,     0xff7, NONE, NONE, none, none, 0, RESET, NONE, none, \
	  "", "disables local memory; no driver issues it") \
	C(ENABLE_LAM,      0xff8, NONE, MBOX, none, none, 0, RESET, NONE, none, \
	  "", "enables local memory; no driver issues it") \
	C(UNMAP_ICM,       0xff9, IMM, NONE, none, none, HCR_F_CLOSING, RUN, 0, unmap_icm, \
	  "number of 4 KiB pages", "takes pages back from ICM; legal also where nothing is mapped") \
	C(MAP_ICM,         0xffa, MBOX, NONE, vpm_list, none, HCR_F_OWN_IN, RUN, 0, map_icm, \
	  "number of entries", "gives pages to ICM") \
	C(UNMAP_ICM_AUX,   0xffb, NONE, NONE, none, none, HCR_F_CLOSING, RUN, 0, unmap_icm_aux, \
	  "0", "takes the auxiliary pages back") \
	C(MAP_ICM_AUX,     0xffc, MBOX, NONE, vpm_list, none, HCR_F_OWN_IN, RUN, 0, map_icm_aux, \
	  "number of entries", "gives auxiliary pages to the device") \
	C(SET_ICM_SIZE,    0xffd, IMM, IMM, none, none, 0, RUN, 0, set_icm_size, \
	  "0", "announces how many bytes of ICM the driver will map; returns how many auxiliary pages the device wants") \
	C(UNMAP_FA,        0xffe, NONE, NONE, none, none, HCR_F_CLOSING, RESET, 0, unmap_fa, \
	  "0", "takes the firmware area back") \
	C(MAP_FA,          0xfff, MBOX, NONE, vpm_list, none, HCR_F_OWN_IN, RESET, 0, map_fa, \
	  "number of entries", "gives the firmware area to the device")

/* clang-format on */

#define HCR_OP_ENUM(name, code, ...) HCR_##name = (code),
enum hcr_op { HCR_COMMANDS(HCR_OP_ENUM) };

#endif
