/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast groups. Nobody initialises the table, so an entry that was never written must read as
 * empty. Hardware keeps a valid bit for each entry, which says whether it was written.
 */
#include "fw/cmds.h"
#include "fw/objects.h"

enum { MEMBERS_OFFSET = sizeof(struct mcg_entry) - mcg_entry_member_size };

static uint32_t entry_size(void)
{
	return fw.tables[FW_TABLE_MCG].entry_size;
}

enum hcr_status cmd_read_mcg(struct fw_cmd *c)
{
	if (!object_in_table(FW_TABLE_MCG, c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	c->out_size = entry_size();
	memset(fw.out, 0, c->out_size);
	if (!object_valid(FW_TABLE_MCG, c->in_mod))
		return HCR_STATUS_OK;
	return object_read(FW_TABLE_MCG, c->in_mod, fw.out, c->out_size);
}

enum hcr_status cmd_write_mcg(struct fw_cmd *c)
{
	const struct mcg_entry *g = (const struct mcg_entry *)fw.in;
	uint32_t size = entry_size();
	enum hcr_status status;

	if (!object_in_table(FW_TABLE_MCG, c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	status = cmd_inbox(c, 0, size);
	if (status != HCR_STATUS_OK)
		return status;
	if (size >= sizeof(*g) && !reserved_clear_mcg())
		return cmd_reserved("reserved bits are set");
	if (!object_in_table(FW_TABLE_MCG, mcg_entry_get_next_index(g)))
		return HCR_STATUS_BAD_INDEX;
	if (mcg_entry_get_protocol(g) != MCG_PROTOCOL_IB ||
	    mcg_entry_get_members(g) > (size - MEMBERS_OFFSET) / sizeof(struct mcg_member))
		return HCR_STATUS_BAD_PARAM;
	status = object_write(FW_TABLE_MCG, c->in_mod, g, size);
	if (status == HCR_STATUS_OK)
		object_do(FW_TABLE_MCG, c->in_mod, FW_OBJ_VALIDATE);
	return status;
}

enum hcr_status cmd_mgid_hash(struct fw_cmd *c)
{
	c->out = mcg_hash(fw.in, init_hca_get_log_mcg_hash(&fw.hca));
	return HCR_STATUS_OK;
}
