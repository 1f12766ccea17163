// SPDX-License-Identifier: Apache-2.0
/* See caps.h. */
#include "testbench/dsan/device/caps.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/threads/threads.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/engine/base/engine.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <inttypes.h>

enum {
	NAMES = 200,
	EQS_MOST = 128,
	CONTEXTS_MOST = 64, /* a context's token changes by so many each time */
	MIB = 0x100000,
	/* Source: Linux mlx4_ib_query_device: MLX4_IB_SQ_MAX_SPARE, of 2048 bytes and one */
	SPARE_MOST = 33,
	/* Source: Linux mlx4_ib_query_device: max_sge_rd, MLX4_MAX_FAST_REG_PAGES */
	SGE_READ_MOST = 30,
	FAST_REG_PAGES = 511,
	UNLIMITED = 32,
	/* Source: Linux mlx4_init_qp_table: special QPs begin behind the reserved ones and 256 more */
	BEFORE_SPECIAL = 256 + 1,
	MSIX_SIZE_SHIFT = 16,
	MSIX_SIZES = 0x7ff,
};

/* `at`: where the driver keeps it, so that who has set it can be told; NULL: it is computed. */
static void kept_differs(const struct ask *a, uint32_t opcode, const char *what,
			 const struct member *wrong, const void *at)
{
	char names[NAMES], set[NAMES] = "";
	const void *setter = at ? threads_setter(at) : NULL;

	if (!wrong || !a->c)
		return;
	trail_format(names, sizeof(names));
	if (setter)
		checker_functions(&setter, 1, set, sizeof(set));
	checker_report(a->c,
		       &(struct breach){RULE_command_answer, {GUEST_COMMAND, opcode}, NULL, NULL},
		       "the driver's %s%s is 0x%" PRIx64 ", and 0x%" PRIx64
		       " is what the device's answer gives%s%s; in %s by %s",
		       what, wrong->name, wrong->is, wrong->asked, *set ? "; it was set by " : "",
		       set, ask_provider(a), names);
}

static void differs(const struct ask *a, uint32_t opcode, const char *what,
		    const struct member *wrong)
{
	kept_differs(a, opcode, what, wrong, NULL);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static unsigned log2_up(uint64_t n)
{
	unsigned log = 0;

	while (UINT64_C(1) << log < n)
		log++;
	return log;
}

/* --- the layout of ICM --- */

/* How many entries a table has is the driver's choice, unless an option says it. */
struct row {
	enum drv_table table;
	const char *name;
	unsigned option, log_most, entry_bytes;
};

static void row_check(const struct ask *a, const struct drv_profile *p, const struct row *row)
{
	const unsigned log_num = p->log_num[row->table];
	const uint64_t bytes = (uint64_t)row->entry_bytes << log_num;
	const struct member said[] = {
		{"log_num, more than the device can,", log_num > row->log_most, false},
		{"log_num", log_num, row->option ? least(row->option, row->log_most) : log_num},
		{"entry_bytes", p->entry_bytes[row->table], row->entry_bytes},
		{"base, below its size,", p->base[row->table] & (bytes - 1), 0},
		{"end, behind all,", p->base[row->table] + bytes > p->total, false},
	};

	differs(a, HCR_QUERY_DEV_CAP, row->name, member_differs(said, ARRAY_SIZE(said)));
}

static bool overlap(const struct drv_profile *p, const struct row *a, const struct row *b)
{
	const uint64_t from = p->base[a->table], to = p->base[b->table];

	return from < to + ((uint64_t)b->entry_bytes << p->log_num[b->table]) &&
	       to < from + ((uint64_t)a->entry_bytes << p->log_num[a->table]);
}

void caps_profile_check(const struct drv_profile *p, const struct dev_cap *cap,
			const struct drv_options *o)
{
	const unsigned log_qps = dev_cap_get_log_max_qps(cap);
	const struct row rows[] = {
		{DRV_T_CMPT_QP, "table of cMPTs: ", CMPT_TYPE_SHIFT + 2, CMPT_TYPE_SHIFT + 2,
		 dev_cap_get_cmpt_size(cap)},
		{DRV_T_RDMARC, "table of RDMARC: ", o->log_qps, log_qps,
		 dev_cap_get_rdmarc_size(cap) << DRV_LOG_RD_PER_QP},
		{DRV_T_QPC, "table of QPC: ", o->log_qps, log_qps, dev_cap_get_qpc_size(cap)},
		{DRV_T_AUXC, "table of AUXC: ", o->log_qps, log_qps, dev_cap_get_auxc_size(cap)},
		{DRV_T_ALTC, "table of ALTC: ", o->log_qps, log_qps, dev_cap_get_altc_size(cap)},
		{DRV_T_SRQC, "table of SRQC: ", o->log_srqs, dev_cap_get_log_max_srqs(cap),
		 dev_cap_get_srqc_size(cap)},
		{DRV_T_CQC, "table of CQC: ", o->log_cqs, dev_cap_get_log_max_cqs(cap),
		 dev_cap_get_cqc_size(cap)},
		{DRV_T_EQC, "table of EQC: ", 0, dev_cap_get_log_max_eqs(cap),
		 dev_cap_get_eqc_size(cap)},
		{DRV_T_DMPT, "table of dMPTs: ", o->log_mpts, dev_cap_get_log_max_mpts(cap),
		 dev_cap_get_dmpt_size(cap)},
		{DRV_T_MTT, "table of MTTs: ", o->log_mtts, UNLIMITED, dev_cap_get_mtt_size(cap)},
		{DRV_T_MCG, "table of groups: ", 0, UNLIMITED, 1u << DRV_LOG_MCG_SIZE},
	};
	const struct ask *a = ask_taker();

	for (size_t i = 0; a && a->c && i < ARRAY_SIZE(rows); i++) {
		row_check(a, p, &rows[i]);
		for (size_t k = 0; k < i; k++)
			if (overlap(p, &rows[i], &rows[k]))
				differs(a, HCR_QUERY_DEV_CAP, rows[i].name,
					&(struct member){"base, where another table is,",
							 p->base[rows[i].table], 0});
	}
}

/* --- memory of the firmware --- */

void caps_memory_check(const struct drv_device *dev, const struct drv_icm *icm, unsigned opcode)
{
	const struct ask *a = ask_taker();
	uint64_t pages = 0;
	struct member said = {"pages given", 0, 0};

	for (unsigned i = 0; i < icm->n; i++)
		pages += icm->segs[i].bytes / PLATFORM_PAGE_SIZE;
	said.is = pages;
	if (!a || !a->c || opcode == HCR_MAP_ICM)
		return;
	said.asked = opcode == HCR_MAP_FA ? query_fw_get_fw_pages(&dev->fw) : a->c->given.aux_pages;
	if (said.is < said.asked)
		differs(a, opcode, "number of ", &said);
}

/* As many commands at a time as the firmware takes, and no more than have tokens of their own. */
void caps_contexts_check(const struct drv_device *dev)
{
	const struct ask *a = ask_taker();
	const uint64_t can = UINT64_C(1) << query_fw_get_log_max_cmd(&dev->fw);
	const struct member said[] = {
		{"commands at a time", dev->cmd.n_contexts, least(can, CONTEXTS_MOST)},
	};

	if (a && a->c)
		kept_differs(a, HCR_QUERY_FW, "", member_differs(said, ARRAY_SIZE(said)),
			     &dev->cmd.n_contexts);
}

/* --- sizes and limits --- */

static unsigned eqs_of(const struct ask *a, const struct drv_device *dev)
{
	const struct dev_cap *cap = &a->c->given.cap;
	const unsigned vectors = dev->options.comp_vectors ? dev->options.comp_vectors : 1;
	const uint32_t control = hca_config_peek(a->c->host.hca, dev->msix_cap & ~3u);
	/* Source: Linux mlx4_make_profile: the reserved ones are among the most */
	uint64_t n = least(vectors + 1, least(1u << dev_cap_get_log_max_eqs(cap), EQS_MOST) -
						given_reserved_eqs(cap));

	n = least(n, (control >> MSIX_SIZE_SHIFT & MSIX_SIZES) + 1);
	return (unsigned)least(n, dev->p->msix_vectors);
}

static void sizes_check(const struct ask *a, const struct drv_device *dev,
			const struct dev_cap *cap)
{
	const bool bf = dev_cap_get_bf(cap) && !dev->options.no_blueflame;
	const struct member said[] = {
		{"ports", dev->ports, dev_cap_get_num_ports(cap)},
		{"reserved_eqs", dev->reserved_eqs, given_reserved_eqs(cap)},
		{"uar_bytes", dev->uar_bytes, (uint64_t)MIB << dev_cap_get_log_uar_mib(cap)},
		{"bf_buf_bytes", dev->bf_buf_bytes,
		 bf ? (1u << dev_cap_get_log_bf_reg_size(cap)) / 2 : 0},
	};
	const void *const at[] = {&dev->ports, &dev->reserved_eqs, &dev->uar_bytes,
				  &dev->bf_buf_bytes};
	const struct member *wrong = member_differs(said, ARRAY_SIZE(said));

	kept_differs(a, HCR_QUERY_DEV_CAP, "", wrong, wrong ? at[wrong - said] : NULL);
}

void caps_taken_check(const struct drv_device *dev)
{
	const struct ask *a = ask_taker();

	if (a && a->c && a->c->given.has_cap)
		sizes_check(a, dev, &a->c->given.cap);
}

static void numbers_check(const struct ask *a, const struct drv_device *dev,
			  const struct dev_cap *cap)
{
	const uint32_t reserved = 1u << dev_cap_get_log_rsvd_qps(cap);
	const struct member said[] = {
		{"n_eqs", dev->n_eqs, eqs_of(a, dev)},
		{"special_base", dev->special_base,
		 UINT64_C(1) << log2_up(reserved + BEFORE_SPECIAL)},
	};
	const void *const at[] = {&dev->n_eqs, &dev->special_base};
	const struct member *wrong = member_differs(said, ARRAY_SIZE(said));

	kept_differs(a, HCR_QUERY_DEV_CAP, "", wrong, wrong ? at[wrong - said] : NULL);
}

void caps_used_check(const struct ask *a, const struct drv_device *dev)
{
	if (a->c && a->c->given.has_cap)
		numbers_check(a, dev, &a->c->given.cap);
}

/* --- what it tells --- */

/* Source: Linux mlx4_ib_query_device */
static void limits_check(const struct ask *a, const struct drv_device *dev,
			 const struct dev_cap *cap, const struct drv_device_attr *attr)
{
	const struct member said[] = {
		{"ports", attr->ports, dev_cap_get_num_ports(cap)},
		{"max_qp", attr->max_qp,
		 (1u << dev->profile.log_num[DRV_T_QPC]) - dev->special_base - DRV_SPECIAL_QPS},
		{"max_qp_wr", attr->max_qp_wr,
		 (1u << dev_cap_get_log_max_qp_wqes(cap)) - SPARE_MOST},
		{"max_recv_sge", attr->max_recv_sge, dev_cap_get_max_rq_sge(cap)},
		{"max_send_sge, more than the device can,",
		 attr->max_send_sge > dev_cap_get_max_sq_sge(cap), false},
		{"max_cq", attr->max_cq,
		 (1u << dev->profile.log_num[DRV_T_CQC]) - (1u << dev_cap_get_log_rsvd_cqs(cap))},
		{"max_cqe", attr->max_cqe, (1u << dev_cap_get_log_max_cqes(cap)) - 1},
		{"max_mr", attr->max_mr,
		 (1u << dev->profile.log_num[DRV_T_DMPT]) - (1u << dev_cap_get_log_rsvd_mpts(cap))},
		{"max_pd", attr->max_pd, 1u << DRV_LOG_PDS},
		{"max_srq", attr->max_srq,
		 (1u << dev->profile.log_num[DRV_T_SRQC]) - (1u << dev_cap_get_log_rsvd_srqs(cap))},
		{"max_srq_wr", attr->max_srq_wr, (1u << dev_cap_get_log_max_srq_wqes(cap)) - 1},
		{"max_xrcd", attr->max_xrcd,
		 dev_cap_get_flags(cap) & cap_bit(DEV_CAP_XRC) ? 1u << DRV_LOG_XRCDS : 0},
		{"max_rd_atomic", attr->max_rd_atomic, 1u << dev_cap_get_log_max_sra(cap)},
		{"max_dest_rd_atomic", attr->max_dest_rd_atomic, 1u << DRV_LOG_RD_PER_QP},
		{"max_sge_rd", attr->max_sge_rd, SGE_READ_MOST},
		{"max_fast_reg_page_list_len", attr->max_fast_reg_page_list_len, FAST_REG_PAGES},
		{"comp_vectors", attr->comp_vectors, eqs_of(a, dev) - 1},
		{"local_ack_delay", attr->local_ack_delay, dev_cap_get_ack_delay(cap)},
		{"max_message", attr->max_message, UINT64_C(1) << dev_cap_get_log_max_msg(cap)},
		{"flags", attr->flags, dev_cap_get_flags(cap)},
		{"bmme_flags", attr->bmme_flags, dev_cap_get_bmme_flags(cap)},
		{"reserved_lkey", attr->reserved_lkey, dev_cap_get_rsvd_lkey(cap)},
	};

	differs(a, HCR_QUERY_DEV_CAP, "", member_differs(said, ARRAY_SIZE(said)));
}

void caps_told_check(const struct ask *a, const struct drv_device *dev,
		     const struct drv_device_attr *attr)
{
	if (!a->c || !a->c->given.has_cap)
		return;
	limits_check(a, dev, &a->c->given.cap, attr);
	for (unsigned port = 1; port <= dev->ports; port++) {
		const struct query_port *q = &dev->port_cap[port];
		const struct member said[] = {
			{"gids", attr->gids[port], 1u << query_port_get_log_gids(q)},
			{"pkeys", attr->pkeys[port], 1u << query_port_get_log_pkeys(q)},
		};

		differs(a, HCR_QUERY_PORT, "", member_differs(said, ARRAY_SIZE(said)));
	}
}
