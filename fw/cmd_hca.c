/* SPDX-License-Identifier: Apache-2.0 */
/* INIT_HCA sets the addresses of the tables in ICM and starts the engine; CLOSE_HCA stops it. */
#include "fw/cmds.h"
#include "fw/port.h"

enum {
	INIT_HCA_VERSION = 2,
	LOG_QPS_MIN = 3,
	LOG_CMPTS = 26, /* 4 types of 2^24 */
	LOG_MCG_SIZE_MIN = 9,
	LOG_MCG_SIZE_MAX = 12,
	LOG_UARS_PER_MIB = 8,
};

static void table_set(unsigned table, uint64_t base, uint32_t log_num, uint32_t entry_size)
{
	fw.tables[table] = (struct fw_table){base, log_num, entry_size};
	fw_write(FW_TABLE_BASE_HI, (uint32_t)(base >> 32));
	fw_write(FW_TABLE_BASE_LO, (uint32_t)base);
	fw_write(FW_TABLE_LOG_NUM, log_num);
	fw_write(FW_TABLE_ENTRY_SIZE, entry_size);
	fw_write(FW_TABLE_CMD, table);
}

static void tables_set(const struct init_hca *h)
{
	uint32_t qps = init_hca_get_log_qps(h);

	table_set(FW_TABLE_QPC, init_hca_get_qpc_base(h), qps, FW_QPC_SIZE);
	table_set(FW_TABLE_CQC, init_hca_get_cqc_base(h), init_hca_get_log_cqs(h), FW_CQC_SIZE);
	table_set(FW_TABLE_EQC, init_hca_get_eqc_base(h), init_hca_get_log_eqs(h), FW_EQC_SIZE);
	table_set(FW_TABLE_SRQC, init_hca_get_srqc_base(h), init_hca_get_log_srqs(h), FW_SRQC_SIZE);
	table_set(FW_TABLE_MPT, init_hca_get_dmpt_base(h), init_hca_get_log_mpts(h), FW_DMPT_SIZE);
	table_set(FW_TABLE_MTT, init_hca_get_mtt_base(h), FW_LOG_MTTS, FW_MTT_SIZE);
	table_set(FW_TABLE_RDMARC, init_hca_get_rdmarc_base(h), init_hca_get_log_rd_per_qp(h),
		  FW_RDMARC_SIZE);
	table_set(FW_TABLE_MCG, init_hca_get_mcg_base(h), init_hca_get_log_mcgs(h),
		  1u << init_hca_get_log_mcg_size(h));
	table_set(FW_TABLE_ALTC, init_hca_get_altc_base(h), qps, FW_ALTC_SIZE);
	table_set(FW_TABLE_AUXC, init_hca_get_auxc_base(h), qps, FW_AUXC_SIZE);
	table_set(FW_TABLE_CMPT, init_hca_get_cmpt_base(h), LOG_CMPTS, FW_CMPT_SIZE);
}

static uint64_t table_bytes(uint32_t table)
{
	const struct fw_table *t = &fw.tables[table];
	const uint64_t bytes = (uint64_t)t->entry_size << t->log_num;

	if (table == FW_TABLE_MTT)
		return t->entry_size;
	return table == FW_TABLE_RDMARC ? bytes << fw.tables[FW_TABLE_QPC].log_num : bytes;
}

/*
 * No entry of one table lies in another table. Of the MTTs software does not say how many there are,
 * and an RDMA queue pair has a row of responder resources. Source: Linux mlx4_make_profile, which
 * gives each table a range of its own.
 */
static void places_check(void)
{
	static const char *const within[FW_TABLE_COUNT] = {
		[FW_TABLE_QPC] = "the QP contexts begin within another table",
		[FW_TABLE_CQC] = "the CQ contexts begin within another table",
		[FW_TABLE_EQC] = "the EQ contexts begin within another table",
		[FW_TABLE_SRQC] = "the SRQ contexts begin within another table",
		[FW_TABLE_MPT] = "the MPTs begin within another table",
		[FW_TABLE_MTT] = "the MTTs begin within another table",
		[FW_TABLE_RDMARC] = "the responder resources begin within another table",
		[FW_TABLE_MCG] = "the multicast groups begin within another table",
		[FW_TABLE_ALTC] = "the alternate paths begin within another table",
		[FW_TABLE_AUXC] = "the auxiliary contexts begin within another table",
		[FW_TABLE_CMPT] = "the cMPTs begin within another table",
	};

	for (uint32_t table = 0; table < FW_TABLE_COUNT; table++)
		for (uint32_t other = 0; other < FW_TABLE_COUNT; other++) {
			const uint64_t base = fw.tables[table].base, from = fw.tables[other].base;

			if (table != other && base >= from && base - from < table_bytes(other))
				fw_guest_error(RULE_icm_overlap, GUEST_NONE, 0, within[table]);
		}
}

/* Source: Linux mlx4_init_icm_table, which counts as a user of the chunks with reserved entries. */
void hca_unmap_check(uint64_t va, uint32_t pages)
{
	static const struct {
		uint8_t table, log_reserved;
		const char *what;
	} own[] = {
		{FW_TABLE_QPC, FW_LOG_RSVD_QPS, "UNMAP_ICM takes reserved QP contexts"},
		{FW_TABLE_ALTC, FW_LOG_RSVD_QPS, "UNMAP_ICM takes reserved alternate paths"},
		{FW_TABLE_AUXC, FW_LOG_RSVD_QPS, "UNMAP_ICM takes reserved auxiliary contexts"},
		{FW_TABLE_CQC, FW_LOG_RSVD_CQS, "UNMAP_ICM takes reserved CQ contexts"},
		{FW_TABLE_EQC, FW_LOG_RSVD_EQS, "UNMAP_ICM takes reserved EQ contexts"},
		{FW_TABLE_SRQC, FW_LOG_RSVD_SRQS, "UNMAP_ICM takes reserved SRQ contexts"},
		{FW_TABLE_MPT, FW_LOG_RSVD_MPTS, "UNMAP_ICM takes reserved MPTs"},
		{FW_TABLE_MTT, FW_LOG_RSVD_MTTS, "UNMAP_ICM takes reserved MTTs"},
	};

	if (fw.state != FW_STATE_HCA)
		return;
	for (uint32_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		const struct fw_table *t = &fw.tables[own[i].table];
		const uint64_t end = t->base + ((uint64_t)t->entry_size << own[i].log_reserved);

		if (va < end && t->base < va + (uint64_t)pages * ICM_PAGE_SIZE)
			fw_guest_error(RULE_icm_unmapped, GUEST_NONE, 0, own[i].what);
	}
}

/* INIT_HCA must not ask for a feature that QUERY_DEV_CAP does not offer. */
static bool features_offered(const struct init_hca *h)
{
	return !init_hca_get_ipoib_csum(h) && !init_hca_get_counters(h) && !init_hca_get_dmfs(h) &&
	       !init_hca_get_rss_ip_frag(h) && !init_hca_get_recoverable(h) &&
	       !init_hca_get_cqe_64b(h) && !init_hca_get_eqe_64b(h) &&
	       !init_hca_get_cqe_stride(h) && !init_hca_get_eqe_stride(h) &&
	       !init_hca_get_num_sys_eqs(h) && !init_hca_get_uc_steering(h) &&
	       !init_hca_get_mcg_hash_fn(h) && !init_hca_get_log_uar_page(h);
}

static enum hcr_status sizes_check(const struct init_hca *h)
{
	uint32_t log_mcg = init_hca_get_log_mcg_size(h);

	if (init_hca_get_log_qps(h) > fw_read(FW_LOG_MAX_QP) ||
	    init_hca_get_log_cqs(h) > fw_read(FW_LOG_MAX_CQ) ||
	    init_hca_get_log_srqs(h) > fw_read(FW_LOG_MAX_SRQ) ||
	    init_hca_get_log_mpts(h) > fw_read(FW_LOG_MAX_MPT) ||
	    init_hca_get_log_eqs(h) > fw_read(FW_LOG_MAX_EQ) ||
	    init_hca_get_log_mcgs(h) > FW_LOG_MAX_MCG ||
	    init_hca_get_log_uars(h) > fw_read(FW_UAR_SIZE_LOG_MB) + LOG_UARS_PER_MIB)
		return HCR_STATUS_EXCEED_LIM;
	if (init_hca_get_version(h) != INIT_HCA_VERSION || init_hca_get_log_qps(h) < LOG_QPS_MIN ||
	    log_mcg < LOG_MCG_SIZE_MIN || log_mcg > LOG_MCG_SIZE_MAX ||
	    init_hca_get_log_mcg_hash(h) > init_hca_get_log_mcgs(h))
		return HCR_STATUS_BAD_PARAM;
	return HCR_STATUS_OK;
}

enum hcr_status cmd_init_hca(struct fw_cmd *c)
{
	const struct init_hca *h = (const struct init_hca *)fw.in;
	enum hcr_status status;

	if (fw.state == FW_STATE_HCA || fw.aux_pages < fw.aux_wanted || !fw.aux_wanted) {
		fw_guest_error(RULE_command_sequence, GUEST_NONE, 0,
			       fw.state == FW_STATE_HCA ? "INIT_HCA twice"
							: "INIT_HCA before MAP_ICM_AUX");
		return HCR_STATUS_BAD_SYS_STATE;
	}
	if (!reserved_clear_init_hca())
		return cmd_reserved("reserved bits are set");
	status = sizes_check(h);
	if (status != HCR_STATUS_OK)
		return status;
	if (!features_offered(h))
		return HCR_STATUS_BAD_PARAM;
	fw.hca = *h;
	tables_set(h);
	places_check();
	fw_write(FW_LOG_MCG_HASH, init_hca_get_log_mcg_hash(h));
	fw_write(FW_LOG_UAR, init_hca_get_log_uars(h));
	fw_write(FW_HCA_CTRL, FW_CTRL_RUN |
				      (init_hca_get_host_be(h) ? FW_CTRL_HOST_BIG_ENDIAN : 0) |
				      (init_hca_get_windows(h) ? FW_CTRL_MW : 0) |
				      (init_hca_get_ud_av_check(h) ? FW_CTRL_UD_AV_PORT : 0));
	fw.state = FW_STATE_HCA;
	return HCR_STATUS_OK;
}

enum hcr_status cmd_query_hca(struct fw_cmd *c)
{
	struct init_hca *h = (struct init_hca *)fw.out;

	*h = fw.hca;
	init_hca_set_clock_mhz(h, fw_read(FW_CORE_CLOCK_MHZ));
	return HCR_STATUS_OK;
}

enum hcr_status cmd_close_hca(struct fw_cmd *c)
{
	for (uint32_t n = 1; n <= fw.num_ports; n++)
		port_close(n);
	for (uint32_t type = 0; type < FW_EVENT_TYPES; type++)
		if (fw.event_types >> type & 1)
			fw_write(FW_EVENT_MAP, type);
	fw.event_types = 0;
	fw_write(FW_SPECIAL_QP, 0);
	fw_write(FW_HCA_CTRL, 0);
	fw.state = FW_STATE_RUN;
	return HCR_STATUS_OK;
}
