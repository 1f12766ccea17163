/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Port management change events: software hears of what a subnet manager has changed in PortInfo and
 * in the tables of GUIDs and P_Keys. Source: Linux mlx4 handle_port_mgmt_change_event.
 */
#include "fw/mad.h"

static void event_begin(struct eqe *eqe, enum port_mng_subtype subtype, uint32_t port)
{
	memset(eqe, 0, sizeof(*eqe));
	eqe_set_type(eqe, EVENT_PORT_MNG_CHG);
	eqe_set_subtype(eqe, subtype);
	eqe_port_mng_set_port(eqe_as_port_mng(eqe), port);
}

static uint32_t port_info_changes(const struct port_info *was, const struct port_info *is)
{
	uint32_t changed = 0;

	if (port_info_get_sm_lid(was) != port_info_get_sm_lid(is))
		changed |= 1u << PORT_MNG_CHANGED_SM_LID;
	if (port_info_get_gid_prefix(was) != port_info_get_gid_prefix(is))
		changed |= 1u << PORT_MNG_CHANGED_GID_PREFIX;
	if (port_info_get_lid(was) != port_info_get_lid(is))
		changed |= 1u << PORT_MNG_CHANGED_LID;
	if (port_info_get_client_rereg(is))
		changed |= 1u << PORT_MNG_CHANGED_CLIENT_REREG;
	if (port_info_get_sm_sl(was) != port_info_get_sm_sl(is))
		changed |= 1u << PORT_MNG_CHANGED_SM_SL;
	return changed;
}

void port_info_tell(uint32_t port, const struct port_info *was, const struct port_info *is)
{
	const uint32_t changed = port_info_changes(was, is);
	struct eqe_port_mng *m;
	struct eqe eqe;

	if (!changed || !fw_read(FW_PORT_EVENTS))
		return;
	event_begin(&eqe, PORT_MNG_PORT_INFO, port);
	m = eqe_as_port_mng(&eqe);
	eqe_port_mng_set_sm_lid(m, port_info_get_sm_lid(is));
	eqe_port_mng_set_lid(m, port_info_get_lid(is));
	eqe_port_mng_set_changed(m, changed);
	eqe_port_mng_set_sm_sl(m, port_info_get_sm_sl(is));
	eqe_port_mng_set_gid_prefix(m, port_info_get_gid_prefix(is));
	fw_event_post(&eqe);
}

/* `mask`: the entries of the block that have changed. */
void port_table_tell(uint32_t port, enum port_mng_subtype table, uint32_t block, uint32_t mask)
{
	struct eqe eqe;

	if (!mask || !fw_read(FW_PORT_EVENTS))
		return;
	event_begin(&eqe, table, port);
	eqe_port_mng_set_block(eqe_as_port_mng(&eqe), block);
	eqe_port_mng_set_mask(eqe_as_port_mng(&eqe), mask);
	fw_event_post(&eqe);
}
