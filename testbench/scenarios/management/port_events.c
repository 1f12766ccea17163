/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that has port management change events tells of what a subnet manager writes: PortInfo, the
 * P_Keys and the GIDs beyond the first. Each change is told once, by the device alone and not by the
 * agent as well; a Set that changes nothing is not told. The new values can be asked for at once.
 */
/* behaviours: MAD-8 */
#include "testbench/manage.h"

enum { NEW_LID = 77, OTHER = 0x8055, SECOND_GID = 1 };

#define OTHER_PREFIX UINT64_C(0xfec0000000000102)

#define SET(...) ask(a, &answer, .method = MAD_METHOD_SET, .hops = 1, .data = __VA_ARGS__)

static void pkeys(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	uint16_t pkey = 0;

	write_pkeys(a, 1, 1, PKEY_DEFAULT, OTHER);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	must(drv_query_pkey(b->dev, 1, 1, &pkey));
	expect_equal(pkey, OTHER);
	write_pkeys(a, 1, 1, PKEY_DEFAULT, OTHER);
	expect_no_more(CFG_US(20));
}

static void gids(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const uint64_t guid = UINT64_C(0x0002c903aabbccdd);
	struct guid_info table = {{0}};
	uint8_t gid[DRV_GID_BYTES] = {0};
	struct smp answer;

	guid_info_set(&table, SECOND_GID, guid);
	SET(&table, .attr = SMP_ATTR_GUID_INFO);
	expect_event(b, IBV_EVENT_GID_CHANGE);
	must(drv_query_gid(b->dev, 1, SECOND_GID, gid));
	expect_equal(be64_load(gid + 8), guid);
	SET(&table, .attr = SMP_ATTR_GUID_INFO);
	expect_no_more(CFG_US(20));
}

static void port_info(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_port_attr now;
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1);
	info = port_info_to_set(&answer);
	SET(&info, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	expect_no_more(CFG_US(20));
	port_info_set_lid(&info, NEW_LID);
	SET(&info, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	expect_event(b, IBV_EVENT_LID_CHANGE);
	must(drv_query_port(b->dev, 1, &now));
	expect_equal(now.lid, NEW_LID);
	port_info_set_client_rereg(&info, 1);
	SET(&info, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	expect_event(b, IBV_EVENT_CLIENT_REREGISTER);
	/* together with another change, each is told */
	port_info_set_lid(&info, NEW_LID + 1);
	SET(&info, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	expect_event(b, IBV_EVENT_LID_CHANGE);
	expect_event(b, IBV_EVENT_CLIENT_REREGISTER);
	must(drv_query_port(b->dev, 1, &now));
	expect_equal(now.lid, NEW_LID + 1);
	b->lid = NEW_LID + 1;
	port_info_set_client_rereg(&info, 0);
	port_info_set_gid_prefix(&info, OTHER_PREFIX);
	SET(&info, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	expect_event(b, IBV_EVENT_GID_CHANGE);
	must(drv_query_port(b->dev, 1, &now));
	expect_equal(be64_load(now.gid0), OTHER_PREFIX);
	/* of another manager users hear when it asks them to register again */
	port_info_set_sm_sl(&info, port_info_get_sm_sl(&info) ^ 1);
	SET(&info, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	expect_no_more(CFG_US(20));
	must(drv_query_port(b->dev, 1, &now));
	expect_equal(now.sm_sl, port_info_get_sm_sl(&info));
}

SCENARIO(port_events, "the device tells of PortInfo, P_Keys and GIDs that a subnet manager sets",
	 .settings = {"hca.port_events=on"}, .any_packets = true,
	 .of_mlx4 = "port management change events")
{
	pkeys(tb, a, b);
	gids(tb, a, b);
	port_info(tb, a, b);
	reconnect(0);
	rdma_write(a, .wr_id = 1, .len = 64);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 64);
}
