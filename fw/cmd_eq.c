/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/cmds.h"
#include "fw/objects.h"

static struct fw_buffer eq_buffer(const struct eqc *q)
{
	return (struct fw_buffer){
		.mtt_addr = eqc_get_mtt_addr(q),
		.log_page = eqc_get_log_page_size(q) + 12,
		.offset = eqc_get_page_offset(q) * 32,
	};
}

static enum hcr_status eq_check(uint32_t eqn, const struct eqc *q)
{
	uint32_t state = eqc_get_state(q);

	if (!reserved_clear_eqc())
		return cmd_reserved("reserved bits are set");
	if (!object_in_table(FW_TABLE_EQC, eqn))
		return HCR_STATUS_BAD_INDEX;
	if (object_valid(FW_TABLE_EQC, eqn))
		return HCR_STATUS_BAD_RES_STATE;
	if (state != EQ_STATE_DISARMED && state != EQ_STATE_ARMED && state != EQ_STATE_FIRED &&
	    state != EQ_STATE_ALWAYS_ARMED)
		return HCR_STATUS_BAD_PARAM;
	if ((eqc_get_intr(q) && eqc_get_intr(q) >= fw_read(FW_MSIX_VECTORS)) ||
	    eqc_get_log_page_size(q) + 12 > FW_LOG_MAX_PAGE || eqc_get_log_size(q) > FW_LOG_MAX_CQE)
		return HCR_STATUS_BAD_PARAM;
	return HCR_STATUS_OK;
}

enum hcr_status cmd_sw2hw_eq(struct fw_cmd *c)
{
	struct eqc *q = (struct eqc *)fw.in;
	struct fw_buffer b = eq_buffer(q);
	enum hcr_status status = eq_check(c->in_mod, q);

	if (status == HCR_STATUS_OK)
		status = buffer_fill(&b, 0, (uint32_t)EQE_SIZE << eqc_get_log_size(q),
				     CQE_INIT_BYTE);
	if (status != HCR_STATUS_OK)
		return status;
	eqc_set_status(q, EQ_STATUS_OK);
	eqc_set_consumer_index(q, 0);
	eqc_set_producer_index(q, 0);
	return object_make(FW_TABLE_EQC, c->in_mod, q, sizeof(*q));
}

static void route(uint32_t type, uint32_t eqn, bool valid)
{
	fw_write(FW_EVENT_MAP, type | eqn << 8 | (uint32_t)valid << 31);
	fw.event_eqn[type] = (uint16_t)eqn;
	fw.event_types &= ~(UINT64_C(1) << type);
	fw.event_types |= (uint64_t)valid << type;
}

enum hcr_status cmd_hw2sw_eq(struct fw_cmd *c)
{
	bool mapped = false;

	if (!object_in_table(FW_TABLE_EQC, c->in_mod) || !object_valid(FW_TABLE_EQC, c->in_mod))
		return cmd_no_object(GUEST_EQ, c->in_mod, "no such EQ");
	for (uint32_t type = 0; type < FW_EVENT_TYPES; type++)
		if (fw.event_types >> type & 1 && fw.event_eqn[type] == c->in_mod) {
			mapped = true;
			route(type, 0, false);
		}
	/* Linux mlx4_cleanup_eq_table: MAP_EQ takes the events away first */
	if (mapped)
		fw_guest_error(RULE_object_in_use, GUEST_EQ, c->in_mod,
			       "events are still mapped to this EQ");
	object_end(FW_TABLE_EQC, c->in_mod, fw.out, sizeof(struct eqc), c->out_size);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_query_eq(struct fw_cmd *c)
{
	if (!object_in_table(FW_TABLE_EQC, c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	if (!object_valid(FW_TABLE_EQC, c->in_mod))
		return cmd_no_object(GUEST_EQ, c->in_mod, "no such EQ");
	return object_query(FW_TABLE_EQC, c->in_mod, fw.out, sizeof(struct eqc));
}

enum hcr_status cmd_map_eq(struct fw_cmd *c)
{
	bool unmap = c->in_mod >> MAP_EQ_UNMAP_SHIFT;
	uint32_t eqn = c->in_mod & MAP_EQ_EQN_MASK;

	if (c->in_mod & ~(1u << MAP_EQ_UNMAP_SHIFT | MAP_EQ_EQN_MASK))
		return cmd_reserved("reserved bits of the modifier are set");
	if (!object_in_table(FW_TABLE_EQC, eqn))
		return HCR_STATUS_BAD_INDEX;
	if (!unmap && !object_valid(FW_TABLE_EQC, eqn))
		return cmd_no_object(GUEST_EQ, eqn, "no such EQ");
	for (uint32_t type = 0; type < FW_EVENT_TYPES; type++)
		if (c->in >> type & 1)
			route(type, unmap ? 0 : eqn, !unmap);
	return HCR_STATUS_OK;
}
