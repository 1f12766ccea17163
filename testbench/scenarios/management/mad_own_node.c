/* SPDX-License-Identifier: Apache-2.0 */
/* A manager on this node sets attributes of its own port, by a directed route of no hops and by its
 * own LID. The host is notified as when another manager sets them, and reads them again. */
/* behaviours: MAD-7 */
#include "testbench/manage.h"

enum { FULL = 0xffff, OTHER = 0x8055, LID = 9, GUIDS = 2 };

static void write_own_pkeys(struct tb *tb, struct tb_end *a, unsigned mgmt_class, uint32_t second)
{
	struct pkey_table table = {{0}};
	struct smp answer;
	uint16_t pkey = 0;

	pkey_table_set(&table, 0, FULL);
	pkey_table_set(&table, 1, second);
	ask(a, &answer, .mgmt_class = mgmt_class, .method = MAD_METHOD_SET,
	    .attr = SMP_ATTR_PKEY_TABLE, .data = &table,
	    .dlid = mgmt_class == MAD_CLASS_SUBN_LID ? a->lid : 0);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
	must(drv_query_pkey(a->dev, 1, 1, &pkey));
	expect_equal(pkey, second);
}

static void write_lid(struct tb *tb, struct tb_end *a, const struct port_info *was, unsigned lid)
{
	struct port_info info = *was;
	struct smp answer;

	port_info_set_lid(&info, lid);
	port_info_set_state(&info, 0);
	port_info_set_phys_state(&info, 0);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1,
	    .data = &info);
	expect_event(a, IBV_EVENT_LID_CHANGE);
}

SCENARIO(mad_own_node, "Sets of the own node's attributes are told to the host")
{
	struct guid_info guids = {{0}};
	struct smp answer;
	struct port_info was;

	write_own_pkeys(tb, a, MAD_CLASS_SUBN_DR, OTHER);
	write_own_pkeys(tb, a, MAD_CLASS_SUBN_LID, OTHER + 1);
	ask(a, &answer, .attr = SMP_ATTR_GUID_INFO);
	memcpy(&guids, smp_data_cptr(&answer), sizeof(guids));
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_GUID_INFO, .data = &guids);
	expect_event(a, IBV_EVENT_GID_CHANGE);
	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	memcpy(&was, smp_data_cptr(&answer), sizeof(was));
	write_lid(tb, a, &was, LID);
	write_lid(tb, a, &was, a->lid);
	/* a Get, or a Set that is refused, notifies nobody */
	ask(a, &answer, .attr = SMP_ATTR_PKEY_TABLE);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PKEY_TABLE, .mod = 0x7fff,
	    .data = &guids, .status = MAD_STATUS_BAD_VALUE);
	write_own_pkeys(tb, a, MAD_CLASS_SUBN_DR, 0);
}
