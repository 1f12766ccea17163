/* SPDX-License-Identifier: Apache-2.0 */
/* Memory keys. The entry in ICM is the only copy: memory re-registration changes it there. */
#include "fw/cmds.h"
#include "fw/objects.h"

enum { WRITE_MTT_HEAD = 16 };

/* A key has bits above the index. */
static bool key_is_of(const struct mpt_entry *m, uint32_t index)
{
	return object_address(FW_TABLE_MPT, mpt_entry_get_mem_key_index(m)) ==
	       object_address(FW_TABLE_MPT, index);
}

/* The first dword tells the kind: region or window, valid or only allocated. */
static enum hcr_status mpt_check(uint32_t index, const struct mpt_entry *m)
{
	uint32_t status = mpt_entry_get_status(m);
	bool paged =
		mpt_entry_get_region(m) && !mpt_entry_get_physical(m) && status != MPT_STATUS_FREE;
	uint32_t log_page = mpt_entry_get_log_page_size(m);

	if (!reserved_clear_mpt() || mpt_entry_get_vf(m))
		return cmd_reserved("reserved bits are set");
	if (!object_in_table(FW_TABLE_MPT, index))
		return HCR_STATUS_BAD_INDEX;
	if (object_valid(FW_TABLE_MPT, index))
		return HCR_STATUS_BAD_RES_STATE;
	if (status != MPT_STATUS_HW && status != MPT_STATUS_FREE && status != MPT_STATUS_SW)
		return HCR_STATUS_BAD_PARAM;
	if (!key_is_of(m, index))
		return HCR_STATUS_BAD_PARAM;
	if (paged && (log_page < 12 || log_page > FW_LOG_MAX_PAGE))
		return HCR_STATUS_BAD_PARAM;
	if (!mpt_entry_get_region(m) && !init_hca_get_windows(&fw.hca))
		return HCR_STATUS_BAD_PARAM;
	return HCR_STATUS_OK;
}

enum hcr_status cmd_sw2hw_mpt(struct fw_cmd *c)
{
	struct mpt_entry *m = (struct mpt_entry *)fw.in;
	enum hcr_status status = mpt_check(c->in_mod, m);

	if (status != HCR_STATUS_OK)
		return status;
	if (mpt_entry_get_status(m) == MPT_STATUS_SW)
		mpt_entry_set_status(m, MPT_STATUS_HW);
	mpt_entry_set_win_cnt(m, 0);
	return object_make(FW_TABLE_MPT, c->in_mod, m, sizeof(*m));
}

/*
 * Reads the entry of a key that exists. After HW2SW_MPT software may have made the entry valid in
 * its slot (memory re-registration); hardware learns of that only when the key is used.
 */
static enum hcr_status mpt_find(uint32_t index, struct mpt_entry *m)
{
	enum hcr_status status;

	if (!object_in_table(FW_TABLE_MPT, index))
		return cmd_no_object(GUEST_MPT, index, "the index is beyond the table");
	status = object_query(FW_TABLE_MPT, index, m, sizeof(*m));
	if (object_valid(FW_TABLE_MPT, index))
		return status;
	if (status != HCR_STATUS_OK || mpt_entry_get_status(m) != MPT_STATUS_HW ||
	    !key_is_of(m, index))
		return cmd_no_object(GUEST_MPT, index, "no such key");
	return HCR_STATUS_OK;
}

/* The entry stays in its slot, with its key and all other fields; software owns it now. */
enum hcr_status cmd_hw2sw_mpt(struct fw_cmd *c)
{
	struct mpt_entry m;
	enum hcr_status status = mpt_find(c->in_mod, &m);

	if (status == HCR_STATUS_BAD_RESOURCE)
		return status;
	if (status == HCR_STATUS_OK && mpt_entry_get_region(&m) && mpt_entry_get_win_cnt(&m))
		return HCR_STATUS_REG_BOUND;
	object_do(FW_TABLE_MPT, c->in_mod, FW_OBJ_INVALIDATE);
	if (status != HCR_STATUS_OK)
		return status;
	mpt_entry_set_status(&m, MPT_STATUS_SW);
	memcpy(fw.out, &m, sizeof(m));
	return object_write(FW_TABLE_MPT, c->in_mod, &m, sizeof(m));
}

enum hcr_status cmd_query_mpt(struct fw_cmd *c)
{
	return mpt_find(c->in_mod, (struct mpt_entry *)fw.out);
}

enum hcr_status cmd_sync_tpt(struct fw_cmd *c)
{
	object_do(FW_TABLE_MPT, 0, FW_OBJ_SYNC_ALL);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_write_mtt(struct fw_cmd *c)
{
	const struct write_mtt *w = (const struct write_mtt *)fw.in;
	uint32_t bytes = c->in_mod * FW_MTT_SIZE;
	uint64_t offset;
	enum hcr_status status;

	if (!c->in_mod || c->in_mod > WRITE_MTT_ENTRIES_MAX)
		return HCR_STATUS_BAD_PARAM;
	status = cmd_inbox(c, 0, WRITE_MTT_HEAD + bytes);
	if (status != HCR_STATUS_OK)
		return status;
	offset = write_mtt_get_offset(w);
	if (offset % FW_MTT_SIZE || offset >> (FW_LOG_MTTS + 3) ||
	    (offset + bytes - 1) >> (FW_LOG_MTTS + 3))
		return HCR_STATUS_BAD_PARAM;
	if (fw_icm_write(fw.tables[FW_TABLE_MTT].base + offset, write_mtt_entry_cptr(w), bytes))
		return HCR_STATUS_ICM_ERROR;
	return HCR_STATUS_OK;
}
