/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that the host gives to the device: firmware area, auxiliary area, ICM. */
#include "fw/cmds.h"

enum {
	ENTRY_BYTES = sizeof(struct vpm_entry),
	LOG_CHUNK_MAX = 16, /* pages of one entry: 256 MiB */
	LOG_AUX_SHARE = 30, /* the device wants one auxiliary page per 2^this bytes of ICM */
};

#define ICM_END (UINT64_C(1) << FW_LOG_MAX_ICM)

/* Checks one entry of the list. The caller checks the sum of the pages, or the map of ICM. */
static enum hcr_status entry_check(const struct vpm_entry *e, bool has_va)
{
	uint64_t va = be64_load(e->b), pa = be64_load(e->b + 8);
	uint64_t bytes = (uint64_t)ICM_PAGE_SIZE << vpm_entry_get_log_size(e);

	if (pa & (ICM_PAGE_SIZE - 1) & ~UINT64_C(0x1f))
		return cmd_reserved("a page list entry has reserved bits set in its bus address");
	if (has_va ? va & (ICM_PAGE_SIZE - 1) : va != 0)
		return cmd_reserved("a page list entry has reserved bits set in its ICM address");
	if (vpm_entry_get_log_size(e) > LOG_CHUNK_MAX || va > ICM_END - bytes || pa + bytes < pa)
		return HCR_STATUS_BAD_SIZE;
	return HCR_STATUS_OK;
}

static void chunk_map(const struct vpm_entry *e)
{
	uint64_t va = vpm_entry_get_va(e), pa = vpm_entry_get_pa(e);

	fw_write(FW_ICM_VA_HI, (uint32_t)(va >> 32));
	fw_write(FW_ICM_VA_LO, (uint32_t)va);
	fw_write(FW_ICM_PA_HI, (uint32_t)(pa >> 32));
	fw_write(FW_ICM_PA_LO, (uint32_t)pa);
	fw_write(FW_ICM_PAGES, 1u << vpm_entry_get_log_size(e));
	fw_write(FW_ICM_CMD, FW_ICM_MAP);
}

/* Reads and checks the whole list and counts its pages. Nothing is mapped unless all entries are
 * correct. */
static enum hcr_status list_read(struct fw_cmd *c, bool has_va, uint32_t *pages)
{
	const struct vpm_list *list = (const struct vpm_list *)fw.in;
	enum hcr_status status;
	uint64_t sum = 0;

	if (!c->in_mod || c->in_mod > VPM_ENTRIES_MAX)
		return HCR_STATUS_BAD_PARAM;
	status = cmd_inbox(c, 0, c->in_mod * ENTRY_BYTES);
	for (uint32_t i = 0; status == HCR_STATUS_OK && i < c->in_mod; i++) {
		const struct vpm_entry *e = vpm_list_at_const(list, i);

		status = entry_check(e, has_va);
		sum += UINT64_C(1) << vpm_entry_get_log_size(e);
	}
	*pages = (uint32_t)sum;
	return status;
}

enum hcr_status cmd_map_fa(struct fw_cmd *c)
{
	enum hcr_status status;
	uint32_t pages;

	if (fw.state != FW_STATE_RESET) {
		fw_guest_error(RULE_command_sequence, GUEST_NONE, 0,
			       "MAP_FA while firmware is running");
		return HCR_STATUS_BAD_SYS_STATE;
	}
	status = list_read(c, false, &pages);
	if (status == HCR_STATUS_OK)
		fw.fa_pages += pages;
	return status;
}

enum hcr_status cmd_unmap_fa(struct fw_cmd *c)
{
	if (fw.state == FW_STATE_HCA)
		fw_guest_error(RULE_command_sequence, GUEST_NONE, 0, "UNMAP_FA before CLOSE_HCA");
	else
		fw.state = FW_STATE_RESET;
	fw.fa_pages = 0;
	return HCR_STATUS_OK;
}

enum hcr_status cmd_set_icm_size(struct fw_cmd *c)
{
	if (c->in > ICM_END)
		return HCR_STATUS_EXCEED_LIM;
	fw.aux_wanted = (uint32_t)(c->in >> LOG_AUX_SHARE) + 1;
	c->out = fw.aux_wanted;
	return HCR_STATUS_OK;
}

enum hcr_status cmd_map_icm_aux(struct fw_cmd *c)
{
	enum hcr_status status;
	uint32_t pages;

	if (!fw.aux_wanted) {
		fw_guest_error(RULE_command_sequence, GUEST_NONE, 0,
			       "MAP_ICM_AUX before SET_ICM_SIZE");
		return HCR_STATUS_BAD_SYS_STATE;
	}
	status = list_read(c, false, &pages);
	if (status == HCR_STATUS_OK)
		fw.aux_pages += pages;
	return status;
}

enum hcr_status cmd_unmap_icm_aux(struct fw_cmd *c)
{
	if (fw.state == FW_STATE_HCA)
		fw_guest_error(RULE_command_sequence, GUEST_NONE, 0,
			       "UNMAP_ICM_AUX before CLOSE_HCA");
	fw.aux_pages = 0;
	return HCR_STATUS_OK;
}

/* Pages beyond the announced size are legal: the driver maps the whole EQ context table that real
 * devices have. */
enum hcr_status cmd_map_icm(struct fw_cmd *c)
{
	const struct vpm_list *list = (const struct vpm_list *)fw.in;
	uint32_t pages;
	enum hcr_status status;

	if (!fw.aux_pages) {
		fw_guest_error(RULE_command_sequence, GUEST_NONE, 0, "MAP_ICM before MAP_ICM_AUX");
		return HCR_STATUS_BAD_SYS_STATE;
	}
	status = list_read(c, true, &pages);
	if (status != HCR_STATUS_OK)
		return status;
	for (uint32_t i = 0; i < c->in_mod; i++)
		chunk_map(vpm_list_at_const(list, i));
	return HCR_STATUS_OK;
}

enum hcr_status cmd_unmap_icm(struct fw_cmd *c)
{
	uint64_t room = c->in < ICM_END ? (ICM_END - c->in) / ICM_PAGE_SIZE : 0;

	if (c->in & (ICM_PAGE_SIZE - 1))
		cmd_reserved("the address is not that of a page");
	hca_unmap_check(c->in, min_u32(c->in_mod, (uint32_t)room));
	fw_write(FW_ICM_VA_HI, (uint32_t)(c->in >> 32));
	fw_write(FW_ICM_VA_LO, (uint32_t)c->in & ~(ICM_PAGE_SIZE - 1u));
	fw_write(FW_ICM_PAGES, min_u32(c->in_mod, (uint32_t)room));
	fw_write(FW_ICM_CMD, FW_ICM_UNMAP);
	return HCR_STATUS_OK;
}
