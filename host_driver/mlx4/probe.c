// SPDX-License-Identifier: Apache-2.0
/*
 * Bring-up and tear-down: a table of steps in the order of the Linux driver. A step that fails
 * undoes what it did itself; then the steps before it are undone from the last to the first.
 * Removal undoes all steps in the same way.
 */
#include "host_driver/mlx4/mad.h"
#include "host_driver/mlx4/pci.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	EQS_MAX = 128,
	INIT_HCA_VERSION = 2,
	CACHE_LINE_LOG = 6,
	/* limits of Linux' mlx4: a READ WQE of 512 bytes without its two segments, and a page of
	 * entries without one */
	MAX_SGE_RD = 30,
	MAX_FAST_REG_PAGES = 511,
};

struct stage {
	const char *name;
	int (*up)(struct drv_device *dev);
	void (*down)(struct drv_device *dev); /* NULL: nothing to undo */
	bool quiet_down; /* sends nothing to the device, so it is done for a dead one, too */
};

/* --- firmware --- */

static int firmware_up(struct drv_device *dev)
{
	struct mod_stat_cfg cfg = {0};
	int rc = drv_cmd_out(dev, HCR_QUERY_FW, 0, 0, &dev->fw, sizeof(dev->fw));

	if (rc)
		return rc;
	if (query_fw_get_cmd_if_rev(&dev->fw) != HCR_CMD_IF_REV)
		return -ENODEV;
	rc = drv_icm_alloc(dev, query_fw_get_fw_pages(&dev->fw), &dev->fa);
	if (rc)
		return rc;
	rc = drv_icm_map(dev, &dev->fa, HCR_MAP_FA, 0);
	if (rc)
		goto free_fa;
	rc = drv_cmd_plain(dev, HCR_RUN_FW, 0, 0);
	if (rc)
		goto unmap_fa;
	mod_stat_cfg_set_log_pg_sz_m(&cfg, 1);
	/* a failure is only a warning */
	drv_cmd_in(dev, HCR_MOD_STAT_CFG, 0, HCR_OM_STAT_CFG_SET, &cfg, sizeof(cfg));
	return 0;

unmap_fa:
	drv_cmd_plain(dev, HCR_UNMAP_FA, 0, 0);
free_fa:
	drv_icm_free(dev, &dev->fa);
	return rc;
}

static void firmware_down(struct drv_device *dev)
{
	drv_cmd_plain(dev, HCR_UNMAP_FA, 0, 0);
	drv_icm_free(dev, &dev->fa);
}

/* --- capabilities --- */

static int port_caps(struct drv_device *dev, unsigned port)
{
	struct port_guid guid;
	int rc = drv_cmd_out(dev, HCR_QUERY_PORT, port, 0, &dev->port_cap[port],
			     sizeof(dev->port_cap[port]));

	if (rc)
		return rc;
	/* the physical id is only for display, so a failure does not matter */
	drv_cmd_out(dev, HCR_MOD_STAT_CFG, port << MOD_STAT_CFG_PORT_SHIFT, HCR_OM_STAT_CFG_PORT_ID,
		    &guid, sizeof(guid));
	return 0;
}

static void caps_use(struct drv_device *dev)
{
	const uint32_t rsvd_eqs = 1u << dev_cap_get_log_rsvd_eqs(&dev->cap);
	const uint32_t uar_eqs = UAR_EQS_PER_PAGE * dev_cap_get_num_rsvd_uars(&dev->cap);
	const uint32_t can = 1u << dev_cap_get_log_max_eqs(&dev->cap);
	const uint32_t max_eqs = can < EQS_MAX ? can : EQS_MAX; /* as many as INIT_HCA names */

	dev->reserved_eqs = rsvd_eqs > uar_eqs ? rsvd_eqs : uar_eqs;
	dev->uar_bytes = UINT64_C(0x100000) << dev_cap_get_log_uar_mib(&dev->cap);
	dev->bf_buf_bytes = 0;
	if (dev_cap_get_bf(&dev->cap) && !dev->options.no_blueflame)
		dev->bf_buf_bytes = (1u << dev_cap_get_log_bf_reg_size(&dev->cap)) / 2;
	dev->n_eqs = (dev->options.comp_vectors ? dev->options.comp_vectors : 1) + 1;
	if (dev->n_eqs > max_eqs - dev->reserved_eqs)
		dev->n_eqs = max_eqs - dev->reserved_eqs;
}

static int caps_up(struct drv_device *dev)
{
	int rc = drv_cmd_out(dev, HCR_QUERY_DEV_CAP, 0, 0, &dev->cap, sizeof(dev->cap));

	if (rc)
		return rc;
	dev->ports = dev_cap_get_num_ports(&dev->cap);
	if (!dev->ports || dev->ports > DRV_PORTS_MAX ||
	    dev_cap_get_log_min_page(&dev->cap) > DRV_LOG_PAGE ||
	    dev_cap_get_mtt_size(&dev->cap) != sizeof(struct mtt_entry))
		return -ENODEV;
	for (unsigned port = 1; port <= dev->ports; port++) {
		rc = port_caps(dev, port);
		if (rc)
			return rc;
	}
	caps_use(dev);
	return 0;
}

/* --- ICM --- */

static int aux_up(struct drv_device *dev)
{
	uint64_t pages;
	int rc = drv_profile_make(&dev->profile, &dev->cap, &dev->options);

	if (rc)
		return rc;
	rc = drv_cmd_imm(dev, HCR_SET_ICM_SIZE, 0, dev->profile.total, &pages);
	if (rc)
		return rc;
	rc = drv_icm_alloc(dev, pages ? (unsigned)pages : 1, &dev->aux);
	if (rc)
		return rc;
	rc = drv_icm_map(dev, &dev->aux, HCR_MAP_ICM_AUX, 0);
	if (rc)
		drv_icm_free(dev, &dev->aux);
	return rc;
}

static void aux_down(struct drv_device *dev)
{
	drv_cmd_plain(dev, HCR_UNMAP_ICM_AUX, 0, 0);
	drv_icm_free(dev, &dev->aux);
}

/* Number of entries whose chunks stay mapped. */
static uint32_t table_reserved(const struct drv_device *dev, enum drv_table t)
{
	const struct dev_cap *cap = &dev->cap;

	switch (t) {
	case DRV_T_CMPT_SRQ:
	case DRV_T_SRQC:
		return 1u << dev_cap_get_log_rsvd_srqs(cap);
	case DRV_T_CMPT_CQ:
	case DRV_T_CQC:
		return 1u << dev_cap_get_log_rsvd_cqs(cap);
	case DRV_T_CMPT_EQ:
		return 1u << dev->profile.log_num[DRV_T_EQC];
	case DRV_T_EQC:
		return DRV_EQC_MAPPED;
	case DRV_T_MTT:
		return 1u << dev_cap_get_log_rsvd_mtts(cap);
	case DRV_T_DMPT:
		return 1u << dev_cap_get_log_rsvd_mpts(cap);
	case DRV_T_MCG:
		return 1u << DRV_LOG_MCGS;
	default:
		return 1u << dev_cap_get_log_rsvd_qps(cap);
	}
}

static int table_up(struct drv_device *dev, enum drv_table t)
{
	const struct drv_profile *profile = &dev->profile;
	static const enum drv_table cmpt_of[] = {[CMPT_QP] = DRV_T_QPC,
						 [CMPT_SRQ] = DRV_T_SRQC,
						 [CMPT_CQ] = DRV_T_CQC,
						 [CMPT_EQ] = DRV_T_EQC};
	uint64_t base = profile->base[t];
	unsigned bytes = profile->entry_bytes[t];
	uint32_t entries = UINT32_C(1) << profile->log_num[t];

	if (t <= DRV_T_CMPT_EQ) {
		const unsigned type = (unsigned)(t - DRV_T_CMPT_QP);

		bytes = profile->entry_bytes[DRV_T_CMPT_QP];
		base = profile->base[DRV_T_CMPT_QP] + ((uint64_t)type * bytes << CMPT_TYPE_SHIFT);
		entries = UINT32_C(1) << profile->log_num[cmpt_of[type]];
	} else if (t == DRV_T_EQC) {
		entries = DRV_EQC_MAPPED; /* Linux also maps pages beyond the announced end */
	}
	return drv_table_init(dev, &dev->tables[t], base, bytes, entries, table_reserved(dev, t));
}

static void tables_down(struct drv_device *dev)
{
	for (unsigned t = DRV_TABLES; t--;)
		if (dev->tables[t].chunks)
			drv_table_cleanup(&dev->tables[t], true);
}

static int tables_up(struct drv_device *dev)
{
	for (unsigned t = 0; t < DRV_TABLES; t++) {
		int rc = table_up(dev, (enum drv_table)t);

		if (rc) {
			tables_down(dev);
			return rc;
		}
	}
	return 0;
}

/* --- INIT_HCA --- */

static void init_hca_fill(const struct drv_device *dev, struct init_hca *h)
{
	const struct drv_profile *p = &dev->profile;

	memset(h, 0, sizeof(*h));
	init_hca_set_version(h, INIT_HCA_VERSION);
	init_hca_set_log_cacheline(h, CACHE_LINE_LOG - 4);
	init_hca_set_cacheline_valid(h, 1);
	init_hca_set_ud_av_check(h, !!(dev_cap_get_flags(&dev->cap) & cap_bit(DEV_CAP_UD_AV_PORT)));
	init_hca_set_host_be(h, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	init_hca_set_qpc_base(h, p->base[DRV_T_QPC]);
	init_hca_set_log_qps(h, p->log_num[DRV_T_QPC]);
	init_hca_set_srqc_base(h, p->base[DRV_T_SRQC]);
	init_hca_set_log_srqs(h, p->log_num[DRV_T_SRQC]);
	init_hca_set_cqc_base(h, p->base[DRV_T_CQC]);
	init_hca_set_log_cqs(h, p->log_num[DRV_T_CQC]);
	init_hca_set_altc_base(h, p->base[DRV_T_ALTC]);
	init_hca_set_auxc_base(h, p->base[DRV_T_AUXC]);
	init_hca_set_eqc_base(h, p->base[DRV_T_EQC]);
	init_hca_set_log_eqs(h, p->log_num[DRV_T_EQC]);
	init_hca_set_rdmarc_base(h, p->base[DRV_T_RDMARC]);
	init_hca_set_log_rd_per_qp(h, DRV_LOG_RD_PER_QP);
	init_hca_set_mcg_base(h, p->base[DRV_T_MCG]);
	init_hca_set_log_mcg_size(h, DRV_LOG_MCG_SIZE);
	init_hca_set_log_mcg_hash(h, DRV_LOG_MCGS - 1);
	init_hca_set_log_mcgs(h, DRV_LOG_MCGS);
	init_hca_set_dmpt_base(h, p->base[DRV_T_DMPT]);
	init_hca_set_windows(h, !!(dev_cap_get_flags(&dev->cap) & cap_bit(DEV_CAP_MEM_WINDOW)));
	init_hca_set_log_mpts(h, p->log_num[DRV_T_DMPT]);
	init_hca_set_mtt_base(h, p->base[DRV_T_MTT]);
	init_hca_set_cmpt_base(h, p->base[DRV_T_CMPT_QP]);
	init_hca_set_log_uars(h, drv_log2_up(dev->uar_bytes / UAR_PAGE_SIZE));
}

static int hca_up(struct drv_device *dev)
{
	struct init_hca h;
	int rc;

	init_hca_fill(dev, &h);
	rc = drv_cmd_in(dev, HCR_INIT_HCA, 0, 0, &h, sizeof(h));
	if (rc)
		return rc;
	rc = drv_cmd_out(dev, HCR_QUERY_ADAPTER, 0, 0, &dev->adapter, sizeof(dev->adapter));
	if (rc)
		drv_cmd_plain(dev, HCR_CLOSE_HCA, 0, 0);
	return rc;
}

static void hca_down(struct drv_device *dev)
{
	drv_cmd_plain(dev, HCR_CLOSE_HCA, 0, 0);
}

/* --- events, ports --- */

static void eqs_down(struct drv_device *dev)
{
	drv_eqs_cleanup(dev, true);
}

/* Switches to event mode, and checks that a completion event and its interrupt arrive. */
static int events_up(struct drv_device *dev)
{
	int rc;

	if (dev->options.poll_commands)
		return 0;
	rc = drv_cmd_use_events(dev, 1u << query_fw_get_log_max_cmd(&dev->fw));
	if (rc)
		return rc;
	rc = drv_cmd_plain(dev, HCR_NOP, HCR_NOP_IM, 0);
	if (rc)
		drv_cmd_use_polling(dev);
	return rc;
}

static void ports_down(struct drv_device *dev)
{
	for (unsigned port = 1; port <= dev->ports; port++)
		drv_cmd_plain(dev, HCR_CLOSE_PORT, port, 0);
}

static int baseline_up(struct drv_device *dev)
{
	dev->icm_pages_base = 0;
	for (unsigned t = 0; t < DRV_TABLES; t++)
		dev->icm_pages_base += drv_table_pages(&dev->tables[t]);
	dev->mtts_base = dev->mtt_buddy.used;
	return 0;
}

static void agents_down(struct drv_device *dev)
{
	for (unsigned port = 1; port <= dev->ports; port++)
		drv_agent_stop(dev, port);
}

static int agents_up(struct drv_device *dev)
{
	int rc = 0;

	for (unsigned port = 1; port <= dev->ports && !rc && !dev->options.no_ports; port++)
		rc = drv_agent_start(dev, port);
	if (rc)
		agents_down(dev);
	return rc;
}

static const struct stage stages[] = {
	{"pci", drv_pci_enable, drv_pci_disable, false},
	{"ownership", drv_pci_own, drv_pci_disown, false},
	{"reset", drv_pci_reset, NULL, false},
	{"commands", drv_cmd_init, drv_cmd_cleanup, true},
	{"firmware", firmware_up, firmware_down, true},
	{"capabilities", caps_up, NULL, false},
	{"icm aux", aux_up, aux_down, true},
	{"icm tables", tables_up, tables_down, true},
	{"init hca", hca_up, hca_down, true},
	{"msi-x", drv_msix_enable, drv_msix_disable, false},
	{"uar", drv_uars_init, drv_uars_cleanup, true},
	{"memory", drv_mrs_init, drv_mrs_cleanup, true},
	{"event queues", drv_eqs_init, eqs_down, true},
	{"command events", events_up, drv_cmd_use_polling, true},
	{"cqs", drv_cqs_init, drv_cqs_cleanup, true},
	{"srqs", drv_srqs_init, drv_srqs_cleanup, true},
	{"qps", drv_qps_init, drv_qps_cleanup, true},
	{"multicast", drv_mcgs_init, drv_mcgs_cleanup, true},
	{"ethernet tables", drv_eths_init, drv_eths_cleanup, true},
	{"ports", drv_ports_init, ports_down, true},
	{"baseline", baseline_up, NULL, false},
	{"agents", agents_up, agents_down, true},
};

enum { STAGES = ARRAY_SIZE(stages) };

static void stages_down(struct drv_device *dev)
{
	while (dev->stages) {
		const struct stage *s = &stages[--dev->stages];

		if (s->down && (!dev->dead || s->quiet_down))
			s->down(dev);
	}
}

static int stages_up(struct drv_device *dev)
{
	for (; dev->stages < STAGES; dev->stages++) {
		const struct stage *s = &stages[dev->stages];
		int rc;

		DRV_ENTER(dev, "%s", s->name);
		rc = s->up(dev);
		DRV_LEAVE(dev, rc);
		if (rc) {
			stages_down(dev);
			return rc;
		}
	}
	return 0;
}

int mlx4_probe(struct platform *p, const struct drv_options *options, struct drv_device **out)
{
	struct drv_device *dev = drv_calloc(1, sizeof(*dev));
	int rc = -ENOMEM;

	if (!dev)
		return -ENOMEM;
	dev->ops = &mlx4_ops;
	dev->p = p;
	if (options)
		dev->options = *options;
	drv_list_init(&dev->pd_list);
	drv_list_init(&dev->xrcd_list);
	drv_list_init(&dev->mr_list);
	drv_list_init(&dev->mw_list);
	drv_list_init(&dev->cq_list);
	drv_list_init(&dev->srq_list);
	drv_list_init(&dev->qp_list);
	drv_list_init(&dev->db_list);
	dev->port_waitq = p->ops->waitq_create(p);
	if (!dev->port_waitq)
		goto free_dev;
	rc = stages_up(dev);
	if (rc)
		goto free_waitq;
	*out = dev;
	return 0;

free_waitq:
	p->ops->waitq_destroy(p, dev->port_waitq);
free_dev:
	free(dev);
	return rc;
}

/* --- removal --- */

#define DESTROY_ALL(dev, list, type, destroy, count)                                               \
	while (!drv_list_empty(&(dev)->list)) {                                                    \
		(count)++;                                                                         \
		destroy(container_of((dev)->list.next, type, link));                               \
	}

static void leftovers_destroy(struct drv_device *dev, struct drv_leftovers *left)
{
	DESTROY_ALL(dev, qp_list, struct drv_qp, mlx4_qp_destroy, left->qps);
	DESTROY_ALL(dev, srq_list, struct drv_srq, mlx4_srq_destroy, left->srqs);
	/* also destroys the domain's own CQ, which is not counted */
	DESTROY_ALL(dev, xrcd_list, struct drv_xrcd, mlx4_xrcd_free, left->xrcds);
	DESTROY_ALL(dev, cq_list, struct drv_cq, mlx4_cq_destroy, left->cqs);
	DESTROY_ALL(dev, mw_list, struct drv_mw, mlx4_mw_free, left->mws);
	DESTROY_ALL(dev, mr_list, struct drv_mr, mlx4_mr_dereg, left->mrs);
	DESTROY_ALL(dev, pd_list, struct drv_pd, mlx4_pd_free, left->pds);
}

struct drv_leftovers mlx4_remove(struct drv_device *dev)
{
	struct platform *p = dev->p;
	struct drv_leftovers left = {0};
	unsigned pages = 0;

	DRV_ENTER(dev, "%s", "");
	dev->closing = true;
	drv_catas_unwatch(dev);
	agents_down(dev);
	for (unsigned t = 0; t < DRV_TABLES; t++)
		pages += drv_table_pages(&dev->tables[t]);
	left.icm_pages = pages - dev->icm_pages_base;
	left.mtts = dev->mtt_buddy.used - dev->mtts_base;
	left.db_records = dev->db_records;
	left.mailboxes = dev->cmd.mailboxes;
	leftovers_destroy(dev, &left);
	stages_down(dev);
	left.failed_commands = dev->failed_commands;
	DRV_LEAVE(dev, 0);
	p->ops->waitq_destroy(p, dev->port_waitq);
	free(dev);
	return left;
}

struct drv_leftovers mlx4_abandon(struct drv_device *dev)
{
	dev->dead = true;
	return mlx4_remove(dev);
}

/* --- query --- */

int mlx4_query_device(struct drv_device *dev, struct drv_device_attr *attr)
{
	const struct dev_cap *cap = &dev->cap;

	*attr = (struct drv_device_attr){
		.node_guid = dev->node.node_guid,
		.sys_image_guid = dev->node.sys_guid,
		.vendor_id = dev->node.vendor_id,
		.device_id = dev->node.device_id,
		.revision = dev->node.revision,
		.ports = dev->ports,
		.max_qp = dev->tables[DRV_T_QPC].entries - dev->special_base - DRV_SPECIAL_QPS,
		.max_qp_wr = drv_max_qp_wr(dev),
		.max_send_sge = drv_max_send_sge(dev),
		.max_recv_sge = dev_cap_get_max_rq_sge(cap),
		.max_cq = dev->tables[DRV_T_CQC].entries - (1u << dev_cap_get_log_rsvd_cqs(cap)),
		.max_cqe = (1u << dev_cap_get_log_max_cqes(cap)) - 1,
		.max_mr = dev->tables[DRV_T_DMPT].entries - (1u << dev_cap_get_log_rsvd_mpts(cap)),
		.max_pd = 1u << DRV_LOG_PDS,
		.max_srq = dev->tables[DRV_T_SRQC].entries - (1u << dev_cap_get_log_rsvd_srqs(cap)),
		.max_srq_wr = (1u << dev_cap_get_log_max_srq_wqes(cap)) - 1,
		.max_xrcd = dev_cap_get_flags(cap) & cap_bit(DEV_CAP_XRC) ? 1u << DRV_LOG_XRCDS : 0,
		.max_rd_atomic = 1u << dev_cap_get_log_max_sra(cap),
		.max_dest_rd_atomic = 1u << DRV_LOG_RD_PER_QP,
		.max_sge_rd = MAX_SGE_RD,
		.max_fast_reg_page_list_len = MAX_FAST_REG_PAGES,
		.comp_vectors = dev->n_eqs - 1,
		.local_ack_delay = dev_cap_get_ack_delay(cap),
		.max_message = UINT64_C(1) << dev_cap_get_log_max_msg(cap),
		.flags = dev_cap_get_flags(cap),
		.bmme_flags = dev_cap_get_bmme_flags(cap),
		.reserved_lkey = dev_cap_get_rsvd_lkey(cap),
	};
	for (unsigned port = 1; port <= dev->ports; port++) {
		attr->gids[port] = 1u << query_port_get_log_gids(&dev->port_cap[port]);
		attr->pkeys[port] = 1u << query_port_get_log_pkeys(&dev->port_cap[port]);
	}
	snprintf(attr->fw_version, sizeof(attr->fw_version), "%u.%u.%u",
		 query_fw_get_major(&dev->fw), query_fw_get_minor(&dev->fw),
		 query_fw_get_subminor(&dev->fw));
	return 0;
}

int mlx4_query_clock(struct drv_device *dev, unsigned *mhz)
{
	struct init_hca hca;
	int rc = drv_cmd_out(dev, HCR_QUERY_HCA, 0, 0, &hca, sizeof(hca));

	if (!rc)
		*mhz = init_hca_get_clock_mhz(&hca);
	return rc;
}
