// SPDX-License-Identifier: Apache-2.0
/* See context.h. */
#include "testbench/dsan/asked/context.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/hear/chain.h"

/* A new queue begins with index 0. Source: Linux create_qp_common, mlx4_ib_create_cq: *db.db = 0 */
void record_is_clear(const struct compared *c, uint64_t bus)
{
	const uintptr_t at = checker_address(c->ask->c, bus);

	if (at && *(const uint32_t *)at)
		ask_report(c->ask, RULE_context_differs, c->object,
			   "the doorbell record of a new queue still holds 0x%x",
			   be32_load((const uint8_t *)at));
}

/* The doorbell page is that of the process, or the kernel's: each is learned from the first context. */
void page_says(struct compared *c, const struct layout *layout, const void *context, uint32_t is,
	       const struct drv_uar *uar)
{
	struct checker *checker = c->ask->c;
	struct made *made = made_find(uar);
	char names[CHAIN_BYTES] = "";
	uint32_t should = is;

	if (made) {
		should = pdn_learn(made, is);
	} else if (!uar) {
		if (!checker->kernel_page)
			chain_take(&checker->kernel_page_by);
		if (!checker->kernel_page)
			checker->kernel_page = is;
		should = checker->kernel_page;
	}
	given_page_check(checker, c->object, is);
	if (is != should && !uar) {
		chain_format(&checker->kernel_page_by, names, sizeof(names));
		ask_report(c->ask, RULE_context_differs, c->object,
			   "usr_page is 0x%x, and it was 0x%x in the first context of the kernel, "
			   "which came by %s",
			   is, should, names);
	} else if (is != should)
		field_differs(c, layout, "usr_page", context, is, should);
	else if (made && is == checker->kernel_page)
		bytes_differ(c, "usr_page of a process, which is the page of the kernel,",
			     (const uint8_t *)context + layout_field(layout, "usr_page")->offset,
			     4);
}

/* Domain 0 is reserved. Source: Linux mlx4_init_pd_table: mlx4_pd_alloc gives none below
 * num_reserved_pds */
void domain_says(struct compared *c, const struct layout *layout, const void *context, uint32_t is,
		 struct made *pd)
{
	if (!pd)
		return;
	if (!is)
		field_differs(c, layout, "pd", context, 0, ASKED_SOME);
	else if (is != pdn_learn(pd, is))
		field_differs(c, layout, "pd", context, is, pdn_learn(pd, is));
}

/* So is XRC domain 0. Source: Linux mlx4_init_xrcd_table: reserved_xrcds + 1 */
void xrc_domain_says(struct compared *c, const struct layout *layout, const void *context,
		     uint32_t is, struct made *xrcd)
{
	if (!xrcd && is)
		field_differs(c, layout, "xrcd", context, is, 0);
	else if (xrcd && !is)
		field_differs(c, layout, "xrcd", context, 0, ASKED_SOME);
	else if (xrcd && is != pdn_learn(xrcd, is))
		field_differs(c, layout, "xrcd", context, is, pdn_learn(xrcd, is));
}
