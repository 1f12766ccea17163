// SPDX-License-Identifier: Apache-2.0
/* See init_hca.h. Source of the fixed values: Linux mlx4_INIT_HCA. */
#include "testbench/dsan/asked/init_hca.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <inttypes.h>

enum {
	VERSION = 2,
	LOG_CACHELINE = 2, /* of 64 bytes, in units of 16 */
	LOG_READS = 4,     /* of the responder resources of a queue pair */
	UAR_UNIT = 0x100000,
};

static void said_check(const struct ask *a, const struct init_hca *h, const struct member *said,
		       size_t n)
{
	const struct member *wrong = member_differs(said, n);

	if (wrong)
		checker_report(a->c,
			       &(struct breach){RULE_context_differs,
						{GUEST_COMMAND, HCR_INIT_HCA},
						wrote_find((uintptr_t)h, sizeof(*h)),
						NULL},
			       "init_hca.%s is 0x%" PRIx64 ", and 0x%" PRIx64
			       " is what the device can or the driver has made for it",
			       wrong->name, wrong->is, wrong->asked);
}

static uint64_t base_of(const struct drv_device *dev, enum drv_table t)
{
	return dev->tables[t].virt;
}

static unsigned log_of(const struct drv_device *dev, enum drv_table t)
{
	return dev->profile.log_num[t];
}

static bool can(const struct drv_device *dev, unsigned bit)
{
	return dev_cap_get_flags(&dev->cap) & cap_bit(bit);
}

/* Where the tables are for the device is where the driver maps memory for them. */
static void tables_say(const struct ask *a, const struct drv_device *dev, const struct init_hca *h)
{
	const struct member said[] = {
		{"qpc_base", init_hca_get_qpc_base(h), base_of(dev, DRV_T_QPC)},
		{"log_qps", init_hca_get_log_qps(h), log_of(dev, DRV_T_QPC)},
		{"srqc_base", init_hca_get_srqc_base(h), base_of(dev, DRV_T_SRQC)},
		{"log_srqs", init_hca_get_log_srqs(h), log_of(dev, DRV_T_SRQC)},
		{"cqc_base", init_hca_get_cqc_base(h), base_of(dev, DRV_T_CQC)},
		{"log_cqs", init_hca_get_log_cqs(h), log_of(dev, DRV_T_CQC)},
		{"eqc_base", init_hca_get_eqc_base(h), base_of(dev, DRV_T_EQC)},
		{"log_eqs", init_hca_get_log_eqs(h), log_of(dev, DRV_T_EQC)},
		{"dmpt_base", init_hca_get_dmpt_base(h), base_of(dev, DRV_T_DMPT)},
		{"log_mpts", init_hca_get_log_mpts(h), log_of(dev, DRV_T_DMPT)},
		{"altc_base", init_hca_get_altc_base(h), base_of(dev, DRV_T_ALTC)},
		{"auxc_base", init_hca_get_auxc_base(h), base_of(dev, DRV_T_AUXC)},
		{"mtt_base", init_hca_get_mtt_base(h), base_of(dev, DRV_T_MTT)},
		{"cmpt_base", init_hca_get_cmpt_base(h), base_of(dev, DRV_T_CMPT_QP)},
		{"rdmarc_base", init_hca_get_rdmarc_base(h), base_of(dev, DRV_T_RDMARC)},
		{"mcg_base", init_hca_get_mcg_base(h), base_of(dev, DRV_T_MCG)},
		{"log_mcgs", init_hca_get_log_mcgs(h), log_of(dev, DRV_T_MCG)},
	};

	said_check(a, h, said, ARRAY_SIZE(said));
}

void init_hca_says(const struct ask *a, const struct drv_device *dev, const struct init_hca *h)
{
	const struct member said[] = {
		{"version", init_hca_get_version(h), VERSION},
		{"log_cacheline", init_hca_get_log_cacheline(h), LOG_CACHELINE},
		{"cacheline_valid", init_hca_get_cacheline_valid(h), 1},
		{"ud_av_check", init_hca_get_ud_av_check(h), can(dev, DEV_CAP_UD_AV_PORT)},
		{"host_be", init_hca_get_host_be(h), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__},
		{"log_rd_per_qp", init_hca_get_log_rd_per_qp(h), LOG_READS},
		{"log_mcg_size", init_hca_get_log_mcg_size(h),
		 drv_log2_up(dev->profile.entry_bytes[DRV_T_MCG])},
		/* a hash table that leaves entries for its chains. Source: Linux mlx4_make_profile */
		{"log_mcg_hash", init_hca_get_log_mcg_hash(h), log_of(dev, DRV_T_MCG) - 1u},
		{"windows", init_hca_get_windows(h), can(dev, DEV_CAP_MEM_WINDOW)},
		{"log_uar_page", init_hca_get_log_uar_page(h), 0},
		{"pages of doorbells", (uint64_t)UAR_PAGE_SIZE << init_hca_get_log_uars(h),
		 (uint64_t)UAR_UNIT << dev_cap_get_log_uar_mib(&dev->cap)},
	};

	if (!a->c)
		return;
	tables_say(a, dev, h);
	said_check(a, h, said, ARRAY_SIZE(said));
}
