/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that the driver issues first: firmware, capabilities, identity. */
#include "fw/cmds.h"
#include "fw/port.h"
#include "model/interface/regs.h"

enum hcr_status cmd_nop(struct fw_cmd *c)
{
	return HCR_STATUS_OK;
}

enum hcr_status cmd_query_fw(struct fw_cmd *c)
{
	struct query_fw *q = (struct query_fw *)fw.out;

	query_fw_set_fw_pages(q, FW_AREA_PAGES);
	query_fw_set_major(q, FW_VERSION_MAJOR);
	query_fw_set_minor(q, FW_VERSION_MINOR);
	query_fw_set_subminor(q, FW_VERSION_SUBMINOR);
	query_fw_set_cmd_if_rev(q, HCR_CMD_IF_REV);
	query_fw_set_log_max_cmd(q, FW_LOG_MAX_CMD);
	query_fw_set_clr_int(q, BAR0_CLR_INT);
	query_fw_set_clr_int_bar(q, HCA_BAR_REGS / 2);
	query_fw_set_err_buf(q, BAR0_ERR_BUF);
	query_fw_set_err_buf_size(q, BAR0_ERR_BUF_SIZE / 4);
	query_fw_set_err_buf_bar(q, HCA_BAR_REGS / 2);
	query_fw_set_clock(q, BAR0_CLOCK);
	query_fw_set_clock_bar(q, HCA_BAR_REGS / 2);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_run_fw(struct fw_cmd *c)
{
	if (fw.state != FW_STATE_RESET || fw.fa_pages < FW_AREA_PAGES) {
		fw_guest_error(RULE_command_sequence, GUEST_NONE, 0,
			       fw.state != FW_STATE_RESET
				       ? "RUN_FW: firmware is running"
				       : "RUN_FW before MAP_FA gave it its pages");
		return HCR_STATUS_BAD_SYS_STATE;
	}
	fw.state = FW_STATE_RUN;
	return HCR_STATUS_OK;
}

static void dev_cap_limits(struct dev_cap *d)
{
	dev_cap_set_log_max_srq_wqes(d, FW_LOG_MAX_WQE);
	dev_cap_set_log_max_qp_wqes(d, FW_LOG_MAX_WQE);
	dev_cap_set_log_rsvd_qps(d, FW_LOG_RSVD_QPS);
	dev_cap_set_log_max_qps(d, fw_read(FW_LOG_MAX_QP));
	dev_cap_set_log_rsvd_srqs(d, FW_LOG_RSVD_SRQS);
	dev_cap_set_log_max_srqs(d, fw_read(FW_LOG_MAX_SRQ));
	dev_cap_set_log_max_cqes(d, FW_LOG_MAX_CQE);
	dev_cap_set_cqe_timestamp(d, 1);
	dev_cap_set_clock_to_user(d, 1);
	dev_cap_set_log_rsvd_cqs(d, FW_LOG_RSVD_CQS);
	dev_cap_set_log_max_cqs(d, fw_read(FW_LOG_MAX_CQ));
	dev_cap_set_log_max_mpts(d, fw_read(FW_LOG_MAX_MPT));
	dev_cap_set_log_rsvd_eqs(d, FW_LOG_RSVD_EQS);
	dev_cap_set_log_max_eqs(d, fw_read(FW_LOG_MAX_EQ));
	dev_cap_set_log_rsvd_mtts(d, FW_LOG_RSVD_MTTS);
	dev_cap_set_log_rsvd_mpts(d, FW_LOG_RSVD_MPTS);
	dev_cap_set_log_max_sra(d, FW_LOG_MAX_RDMA);
	dev_cap_set_log_max_rra(d, FW_LOG_MAX_RDMA);
	dev_cap_set_log_max_rdma_global(d, 20);
	dev_cap_set_ack_delay(d, fw_read(FW_LOCAL_ACK_DELAY));
	dev_cap_set_num_ports(d, fw.num_ports);
	dev_cap_set_log_max_msg(d, fw_read(FW_LOG_MAX_MSG));
	dev_cap_set_static_rates(d, 0xffff);
	dev_cap_set_max_sq_sge(d, 62);
	dev_cap_set_max_sq_desc(d, 1008);
	dev_cap_set_max_rq_sge(d, 32);
	dev_cap_set_max_rq_desc(d, 512);
	dev_cap_set_log_max_qp_mcg(d, 8);
	dev_cap_set_log_max_mcgs(d, FW_LOG_MAX_MCG);
	dev_cap_set_log_max_pds(d, 17);
	dev_cap_set_log_max_xrcds(d, 16);
}

enum { LOG_RSS_TABLE = 8 }; /* most QPs that one spreads its frames over */

/* Ports of different protocols need DPDP; asking for the other end's protocol needs SENSE. */
static void ethernet_features(struct dev_cap *d)
{
	uint32_t types = 0, all = 0;

	for (uint32_t port = 1; port <= fw.num_ports; port++) {
		const uint32_t type = fw_read(FW_PORT(port, TYPE));

		all |= type;
		types |= 1u << (type & (FW_TYPE_IB | FW_TYPE_ETH));
	}
	if (!(all & FW_TYPE_ETH))
		return;
	dev_cap_set_flags(
		d, dev_cap_get_flags(d) | cap_bit(DEV_CAP_IBOE) | cap_bit(DEV_CAP_UC_LOOPBACK) |
			   ((types & (types - 1)) || types >> 3 ? cap_bit(DEV_CAP_DPDP) : 0) |
			   (types >> 3 ? cap_bit(DEV_CAP_SENSE) : 0));
	dev_cap_set_rss_xor(d, 1);
	dev_cap_set_rss_toeplitz(d, 1);
	dev_cap_set_log_rss_table(d, LOG_RSS_TABLE);
	if (fw_read(FW_DEVICE))
		dev_cap_set_bmme_flags(
			d, dev_cap_get_bmme_flags(d) |
				   (uint32_t)(cap_bit(BMME_ROCE_V1_V2) | cap_bit(BMME_CONFIG_DEV)));
}

static void dev_cap_features(struct dev_cap *d)
{
	const uint32_t bf = fw_read(FW_BLUEFLAME);

	dev_cap_set_flags(d, cap_bit(DEV_CAP_RC) | cap_bit(DEV_CAP_UC) | cap_bit(DEV_CAP_UD) |
				     cap_bit(DEV_CAP_XRC) | cap_bit(DEV_CAP_SRQ) |
				     cap_bit(DEV_CAP_BAD_PKEY_CNT) | cap_bit(DEV_CAP_BAD_QKEY_CNT) |
				     cap_bit(DEV_CAP_MEM_WINDOW) | cap_bit(DEV_CAP_APM) |
				     cap_bit(DEV_CAP_ATOMIC) | cap_bit(DEV_CAP_UD_AV_PORT) |
				     cap_bit(DEV_CAP_UD_MCAST) |
				     (fw_read(FW_PORT_EVENTS) ? cap_bit(DEV_CAP_PORT_MNG_CHG) : 0));
	dev_cap_set_bmme_flags(d, (uint32_t)(cap_bit(BMME_TYPE2_WIN_2B) | cap_bit(BMME_LOCAL_INV) |
					     cap_bit(BMME_REMOTE_INV) | cap_bit(BMME_TYPE2_WIN) |
					     cap_bit(BMME_FAST_REG)));
	ethernet_features(d);
	dev_cap_set_num_rsvd_uars(d, 1);
	dev_cap_set_log_uar_mib(d, fw_read(FW_UAR_SIZE_LOG_MB));
	dev_cap_set_log_min_page(d, 12);
	dev_cap_set_bf(d, !!bf);
	dev_cap_set_log_bf_reg_size(d, bf & 0xff);
	dev_cap_set_log_bf_regs_per_page(d, bf >> 8 & 0xff);
}

static void dev_cap_entries(struct dev_cap *d)
{
	dev_cap_set_rdmarc_size(d, FW_RDMARC_SIZE);
	dev_cap_set_qpc_size(d, FW_QPC_SIZE);
	dev_cap_set_auxc_size(d, FW_AUXC_SIZE);
	dev_cap_set_altc_size(d, FW_ALTC_SIZE);
	dev_cap_set_eqc_size(d, FW_EQC_SIZE);
	dev_cap_set_cqc_size(d, FW_CQC_SIZE);
	dev_cap_set_srqc_size(d, FW_SRQC_SIZE);
	dev_cap_set_cmpt_size(d, FW_CMPT_SIZE);
	dev_cap_set_mtt_size(d, FW_MTT_SIZE);
	dev_cap_set_dmpt_size(d, FW_DMPT_SIZE);
	dev_cap_set_max_icm(d, UINT64_C(1) << FW_LOG_MAX_ICM);
}

enum hcr_status cmd_query_dev_cap(struct fw_cmd *c)
{
	struct dev_cap *d = (struct dev_cap *)fw.out;

	dev_cap_limits(d);
	dev_cap_features(d);
	dev_cap_entries(d);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_query_adapter(struct fw_cmd *c)
{
	static const char board_id[] = "hcasim";
	struct query_adapter *q = (struct query_adapter *)fw.out;

	query_adapter_set_inta_pin(q, HCA_PCI_INTA_PIN);
	query_adapter_set_vsd_signature1(q, VSD_SIGNATURE);
	query_adapter_set_vsd_signature2(q, VSD_SIGNATURE);
	memcpy(query_adapter_board_id_ptr(q), board_id, sizeof(board_id));
	return HCR_STATUS_OK;
}

static enum hcr_status stat_cfg_set(struct fw_cmd *c)
{
	const struct mod_stat_cfg *m = (const struct mod_stat_cfg *)fw.in;
	enum hcr_status status = cmd_inbox(c, 0, sizeof(*m));

	c->out_size = 0;
	if (status != HCR_STATUS_OK)
		return status;
	/* The device has pages of 4 KiB only. */
	if (mod_stat_cfg_get_log_pg_sz_m(m) && mod_stat_cfg_get_log_pg_sz(m))
		return HCR_STATUS_BAD_PARAM;
	return HCR_STATUS_OK;
}

enum hcr_status cmd_mod_stat_cfg(struct fw_cmd *c)
{
	struct port_guid *g = (struct port_guid *)fw.out;
	uint32_t port = c->in_mod >> MOD_STAT_CFG_PORT_SHIFT & 0xff;

	if (c->op_mod == HCR_OM_STAT_CFG_SET)
		return stat_cfg_set(c);
	if (!port_exists(port))
		return HCR_STATUS_BAD_PARAM;
	port_guid_set_guid_hi(g, (uint32_t)(port_guid(port) >> 32));
	port_guid_set_guid_lo(g, (uint32_t)port_guid(port));
	return HCR_STATUS_OK;
}

enum hcr_status cmd_set_node(struct fw_cmd *c)
{
	memcpy(&fw.description, fw.in, sizeof(fw.description));
	return HCR_STATUS_OK;
}
