/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HCR commands this firmware executes. What a command's parameters are stands in
 * model/interface/commands.h; here is who executes it, and when it may.
 */
#ifndef FW_CMDS_H
#define FW_CMDS_H

#include "fw/fw.h"
#include "model/interface/commands.h"

/* Opcode modifiers, as a set. */
enum fw_op_mods { OM_0 = 1 << 0, OM_1 = 1 << 1, OM_2 = 1 << 2, OM_MAD = 0xff };

/*
 * X(NAME, state needed, opcode modifiers, bytes of the input mailbox, of the output mailbox,
 * handler) Bytes 0 of a mailbox: the handler moves what it needs itself.
 */
/* clang-format off */
#define FW_COMMANDS(X) \
	X(QUERY_FW,        RESET, OM_0, 0, sizeof(struct query_fw), cmd_query_fw) \
	X(MAP_FA,          RESET, OM_0, 0, 0, cmd_map_fa) \
	X(UNMAP_FA,        RESET, OM_0, 0, 0, cmd_unmap_fa) \
	X(RUN_FW,          RESET, OM_0, 0, 0, cmd_run_fw) \
	X(NOP,             RUN, OM_0, 0, 0, cmd_nop) \
	X(MOD_STAT_CFG,    RUN, OM_0 | OM_2, 0, sizeof(struct port_guid), cmd_mod_stat_cfg) \
	X(QUERY_DEV_CAP,   RUN, OM_0, 0, sizeof(struct dev_cap), cmd_query_dev_cap) \
	X(QUERY_ADAPTER,   RUN, OM_0, 0, sizeof(struct query_adapter), cmd_query_adapter) \
	X(QUERY_PORT,      RUN, OM_0, 0, sizeof(struct query_port), cmd_query_port) \
	X(SET_NODE,        RUN, OM_0, sizeof(struct set_node), 0, cmd_set_node) \
	X(SET_ICM_SIZE,    RUN, OM_0, 0, 0, cmd_set_icm_size) \
	X(MAP_ICM_AUX,     RUN, OM_0, 0, 0, cmd_map_icm_aux) \
	X(UNMAP_ICM_AUX,   RUN, OM_0, 0, 0, cmd_unmap_icm_aux) \
	X(MAP_ICM,         RUN, OM_0, 0, 0, cmd_map_icm) \
	X(UNMAP_ICM,       RUN, OM_0, 0, 0, cmd_unmap_icm) \
	X(INIT_HCA,        RUN, OM_0, sizeof(struct init_hca), 0, cmd_init_hca) \
	X(CLOSE_HCA,       HCA, OM_0 | OM_1, 0, 0, cmd_close_hca) \
	X(QUERY_HCA,       HCA, OM_0, 0, sizeof(struct init_hca), cmd_query_hca) \
	X(MAP_EQ,          HCA, OM_0, 0, 0, cmd_map_eq) \
	X(SW2HW_EQ,        HCA, OM_0, sizeof(struct eqc), 0, cmd_sw2hw_eq) \
	X(HW2SW_EQ,        HCA, OM_0 | OM_1, 0, sizeof(struct eqc), cmd_hw2sw_eq) \
	X(QUERY_EQ,        HCA, OM_0, 0, sizeof(struct eqc), cmd_query_eq) \
	X(SW2HW_MPT,       HCA, OM_0, sizeof(struct mpt_entry), 0, cmd_sw2hw_mpt) \
	X(HW2SW_MPT,       HCA, OM_0 | OM_1, 0, sizeof(struct mpt_entry), cmd_hw2sw_mpt) \
	X(QUERY_MPT,       HCA, OM_0, 0, sizeof(struct mpt_entry), cmd_query_mpt) \
	X(WRITE_MTT,       HCA, OM_0, 0, 0, cmd_write_mtt) \
	X(SYNC_TPT,        HCA, OM_0, 0, 0, cmd_sync_tpt) \
	X(SW2HW_CQ,        HCA, OM_0 | OM_1, sizeof(struct cqc), 0, cmd_sw2hw_cq) \
	X(HW2SW_CQ,        HCA, OM_0 | OM_1, 0, sizeof(struct cqc), cmd_hw2sw_cq) \
	X(QUERY_CQ,        HCA, OM_0, 0, sizeof(struct cqc), cmd_query_cq) \
	X(MODIFY_CQ,       HCA, OM_0 | OM_1, sizeof(struct cqc), 0, cmd_modify_cq) \
	X(SW2HW_SRQ,       HCA, OM_0, sizeof(struct srqc), 0, cmd_sw2hw_srq) \
	X(HW2SW_SRQ,       HCA, OM_0 | OM_1, 0, sizeof(struct srqc), cmd_hw2sw_srq) \
	X(QUERY_SRQ,       HCA, OM_0, 0, sizeof(struct srqc), cmd_query_srq) \
	X(ARM_SRQ,         HCA, OM_0, 0, 0, cmd_arm_srq) \
	X(RST2INIT_QP,     HCA, OM_0, sizeof(struct qp_mbox), 0, cmd_rst2init_qp) \
	X(INIT2INIT_QP,    HCA, OM_0, sizeof(struct qp_mbox), 0, cmd_modify_qp) \
	X(INIT2RTR_QP,     HCA, OM_0, sizeof(struct qp_mbox), 0, cmd_modify_qp) \
	X(RTR2RTS_QP,      HCA, OM_0, sizeof(struct qp_mbox), 0, cmd_modify_qp) \
	X(RTS2RTS_QP,      HCA, OM_0, sizeof(struct qp_mbox), 0, cmd_modify_qp) \
	X(SQERR2RTS_QP,    HCA, OM_0, sizeof(struct qp_mbox), 0, cmd_modify_qp) \
	X(RTS2SQD_QP,      HCA, OM_0, 0, 0, cmd_modify_qp) \
	X(SQD2SQD_QP,      HCA, OM_0, sizeof(struct qp_mbox), 0, cmd_modify_qp) \
	X(SQD2RTS_QP,      HCA, OM_0, sizeof(struct qp_mbox), 0, cmd_modify_qp) \
	X(2ERR_QP,         HCA, OM_0, 0, 0, cmd_modify_qp) \
	X(2RST_QP,         HCA, OM_0 | OM_2, 0, 0, cmd_2rst_qp) \
	X(QUERY_QP,        HCA, OM_0, 0, sizeof(struct qp_mbox), cmd_query_qp) \
	X(CONF_SPECIAL_QP, HCA, OM_0, 0, 0, cmd_conf_special_qp) \
	X(INIT_PORT,       HCA, OM_0, 0, 0, cmd_init_port) \
	X(CLOSE_PORT,      HCA, OM_0, 0, 0, cmd_close_port) \
	X(SET_PORT,        HCA, OM_0, sizeof(struct set_port), 0, cmd_set_port) \
	X(MAD_IFC,         HCA, OM_MAD, sizeof(struct mad_ifc), MAD_BYTES, cmd_mad_ifc) \
	X(READ_MCG,        HCA, OM_0, 0, 0, cmd_read_mcg) \
	X(WRITE_MCG,       HCA, OM_0, 0, 0, cmd_write_mcg) \
	X(DIAG_RPRT,       HCA, OM_2, 0, sizeof(struct diag_rprt), cmd_diag_rprt) \
	X(MGID_HASH,       HCA, OM_0, sizeof(struct gid), 0, cmd_mgid_hash)
/* clang-format on */

/* A command as taken from the HCR. Its mailboxes are fw.in and fw.out. */
struct fw_cmd {
	uint32_t op, op_mod, in_mod, token;
	bool event;
	uint64_t in;       /* immediate, or bus address of the mailbox */
	uint64_t out;      /* the same; a handler of a command with immediate output sets it */
	uint32_t out_size; /* bytes of fw.out that go to the output mailbox on success */
};

#define FW_COMMAND_HANDLER(name, state, op_mods, in_size, out_size, handler)                       \
	enum hcr_status handler(struct fw_cmd *c);
FW_COMMANDS(FW_COMMAND_HANDLER)

/* Executes the command that stands in the HCR. */
void hcr_serve(void);
/* Further bytes of the input mailbox to fw.in. */
enum hcr_status cmd_inbox(const struct fw_cmd *c, uint32_t offset, uint32_t size);

/* Something in the mailbox or in a modifier is set that must not be: the verdict. */
enum hcr_status cmd_reserved(const char *what);
/* The command names an object that is not there: the verdict. */
enum hcr_status cmd_no_object(const char *what);
/* True when a mailbox in fw.in has no bit set outside of the rows of its layout. */
bool reserved_clear_init_hca(void);
bool reserved_clear_set_port(void);
bool reserved_clear_mpt(void);
bool reserved_clear_eqc(void);
bool reserved_clear_cqc(void);
bool reserved_clear_srqc(void);
bool reserved_clear_qp(void);
bool reserved_clear_mcg(void);

#endif
