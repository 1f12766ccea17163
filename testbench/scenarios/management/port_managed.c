/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port as its manager and its users see it, while the manager changes it: what it asks by LID and by directed
 * route, from near and from far, is the same, and the verbs say it, too. Who is told of a change finds
 * the new LID, GIDs and P_Keys in the call that tells it. Packets with wrong keys are counted, and a Set
 * of PortInfo sets the numbers.
 */
/* behaviours: IBA-14.2.5.6-portinfo MAD-3 */
#include "testbench/kernel_verbs.h"
#include "testbench/manage.h"

enum { PORT = 1, OTHER = 0x8055, WRONG = 0x8123, QKEY = 0x77, SECOND_GID = 1 };

#define PREFIX UINT64_C(0xfec0000000000000)
#define GUID   UINT64_C(0x0011750012345678)

/* What b's users find when they are told. */
static struct told {
	struct ib_event_handler handler;
	struct drv_device *dev;
	unsigned n, lid, wrong_port;
	enum ib_event_type type;
	uint16_t pkey;
	uint64_t prefix, guid;
} told;

static void hear(struct ib_event_handler *handler, struct ib_event *event)
{
	uint8_t gid[DRV_GID_BYTES] = {0};
	struct drv_port_attr now = {0};

	(void)handler;
	drv_query_port(told.dev, PORT, &now);
	drv_query_gid(told.dev, PORT, SECOND_GID, gid);
	drv_query_pkey(told.dev, PORT, 1, &told.pkey);
	told.n++;
	told.lid = now.lid;
	told.type = event->event;
	told.prefix = be64_load(gid);
	told.guid = be64_load(gid + 8);
	told.wrong_port += event->element.port_num != PORT;
}

static void heard(struct tb *tb, enum ib_event_type type)
{
	pass_time(CFG_US(100));
	expect_equal(told.n, 1);
	expect_equal(told.type, type);
	expect_equal(told.wrong_port, 0);
	told.n = 0;
}

/* The attribute of b's port, by four ways; they agree. It answers to all LIDs of its LMC, and the last one is used. */
static void all_ways(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned attr, uint32_t mod,
		     void *data)
{
	struct smp near, far, by_lid, own_lid;
	struct drv_port_attr port;
	unsigned last;

	must(drv_query_port(b->dev, PORT, &port));
	last = b->lid + (1u << port.lmc) - 1;
	ask(b, &near, .attr = attr, .mod = mod);
	ask(a, &far, .attr = attr, .mod = mod, .hops = 1);
	ask(a, &by_lid, .mgmt_class = MAD_CLASS_SUBN_LID, .attr = attr, .mod = mod, .dlid = last);
	ask(b, &own_lid, .mgmt_class = MAD_CLASS_SUBN_LID, .attr = attr, .mod = mod, .dlid = last);
	memcpy(data, smp_data_ptr(&near), smp_data_size);
	expect_true(!memcmp(data, smp_data_ptr(&far), smp_data_size));
	expect_true(!memcmp(data, smp_data_ptr(&by_lid), smp_data_size));
	expect_true(!memcmp(data, smp_data_ptr(&own_lid), smp_data_size));
}

static void node_is(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	uint8_t data[smp_data_size], gid[DRV_GID_BYTES] = {0};
	const struct node_info *node = (const void *)data;
	struct drv_device_attr attr;
	struct drv_port_attr port;

	all_ways(tb, a, b, SMP_ATTR_NODE_DESC, 0, data);
	if (in_software(b)) /* Linux's qib names the node after its host, too */
		expect_true(!strcmp((const char *)data, "QLogic 6120 of host1"));
	all_ways(tb, a, b, SMP_ATTR_NODE_INFO, 0, data);
	must(drv_query_device(b->dev, &attr));
	must(drv_query_port(b->dev, PORT, &port));
	must(drv_query_gid(b->dev, PORT, 0, gid));
	expect_equal(node_info_get_node_guid(node), attr.node_guid);
	expect_equal(node_info_get_sys_guid(node), attr.sys_image_guid);
	expect_equal(node_info_get_port_guid(node), be64_load(gid + 8));
	expect_equal(node_info_get_num_ports(node), attr.ports);
	expect_equal(node_info_get_partition_cap(node), port.pkey_count);
	expect_equal(node_info_get_device_id(node), attr.device_id);
	expect_equal(node_info_get_revision(node), attr.revision);
	expect_equal(node_info_get_local_port(node), PORT);
}

static struct port_info port_is(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	union {
		uint8_t data[smp_data_size];
		struct port_info i;
	} got;
	struct drv_port_attr attr;

	all_ways(tb, a, b, SMP_ATTR_PORT_INFO, PORT, &got);
	must(drv_query_port(b->dev, PORT, &attr));
#define SAME(member, field) expect_equal(attr.member, port_info_get_##field(&got.i))
	SAME(state, state);
	SAME(phys_state, phys_state);
	SAME(lid, lid);
	SAME(lmc, lmc);
	SAME(sm_lid, sm_lid);
	SAME(sm_sl, sm_sl);
	SAME(max_mtu, mtu_cap);
	SAME(active_mtu, neighbor_mtu);
	SAME(active_width, width_active);
	SAME(active_speed, speed_active);
	SAME(vl_cap, vl_cap);
	SAME(oper_vls, oper_vls);
	SAME(gid_count, guid_cap);
	SAME(subnet_timeout, subnet_timeout);
	SAME(cap_mask, cap_mask);
	SAME(bad_pkeys, pkey_violations);
	SAME(bad_qkeys, qkey_violations);
#undef SAME
	expect_equal(be64_load(attr.gid0), port_info_get_gid_prefix(&got.i));
	expect_true(port_info_get_width_supported(&got.i) & port_info_get_width_active(&got.i));
	expect_true(port_info_get_speed_supported(&got.i) & port_info_get_speed_active(&got.i));
	expect_that(port_info_get_oper_vls(&got.i), <=, port_info_get_vl_cap(&got.i));
	return got.i;
}

static void port_set(struct tb *tb, struct tb_end *a, const struct port_info *info)
{
	struct port_info set = *info;
	struct smp answer;

	port_info_set_state(&set, PORT_STATE_NOP);
	port_info_set_phys_state(&set, PORT_PHYS_NOP);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = PORT,
	    .hops = 1, .data = &set);
}

static void infos(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		unsigned lid, lmc, sm_lid, sm_sl, mtu, timeout;
		uint64_t prefix;
	} rows[] = {{0x340, 4, 0x1234, 3, IBV_MTU_1024, 9, PREFIX},
		    {0x180, 7, 0xbfff, 15, IBV_MTU_2048, 31, PREFIX | 0x5678},
		    {0xbff8, 3, 1, 0, IBV_MTU_4096, 0, PREFIX}};

	for_each_row(i, rows) {
		struct port_info info = port_is(tb, a, b);

		name_row("LID 0x%x", rows[i].lid);
		port_info_set_lid(&info, rows[i].lid);
		port_info_set_lmc(&info, rows[i].lmc);
		port_info_set_sm_lid(&info, rows[i].sm_lid);
		port_info_set_sm_sl(&info, rows[i].sm_sl);
		port_info_set_neighbor_mtu(&info, rows[i].mtu);
		port_info_set_subnet_timeout(&info, rows[i].timeout);
		port_info_set_gid_prefix(&info, rows[i].prefix);
		port_set(tb, a, &info);
		b->lid = rows[i].lid;
		heard(tb, IB_EVENT_LID_CHANGE);
		expect_equal(told.lid, rows[i].lid);
		expect_equal(told.prefix, rows[i].prefix);
		info = port_is(tb, a, b);
		expect_equal(port_info_get_lmc(&info), rows[i].lmc);
		expect_equal(port_info_get_sm_sl(&info), rows[i].sm_sl);
		expect_equal(port_info_get_subnet_timeout(&info), rows[i].timeout);
		expect_equal(port_info_get_neighbor_mtu(&info), rows[i].mtu);
		node_is(tb, a, b);
	}
	name_row("%s", "");
}

static void tables(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct guid_info guids;
	struct smp answer;

	for (unsigned i = 1; i < 3 && still_right(); i++) {
		write_pkeys(a, PORT, 1, PKEY_DEFAULT, OTHER + i);
		heard(tb, IB_EVENT_PKEY_CHANGE);
		expect_equal(told.pkey, OTHER + i);
		all_ways(tb, a, b, SMP_ATTR_GUID_INFO, 0, &guids);
		guid_info_set(&guids, SECOND_GID, GUID + i);
		ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_GUID_INFO, .hops = 1,
		    .data = &guids);
		heard(tb, IB_EVENT_GID_CHANGE);
		expect_equal(told.guid, GUID + i);
	}
}

/* Some of each kind; then the manager sets both numbers. */
static void violations(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *u = new_qp(b, .type = IBV_QPT_UD);
	struct port_info before = port_is(tb, a, b), after;

	start_ud(u, QKEY, 0);
	for (unsigned round = 0; round < 2 && still_right(); round++) {
		inject(b, UD_SEND_ONLY, .qpn = drv_qp_num(u), .qkey = QKEY + 1, .len = 8);
		for (unsigned i = 0; i < 2; i++)
			inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .pkey = WRONG, .len = 8);
		pass_time(CFG_US(20));
		after = port_is(tb, a, b);
		expect_equal(port_info_get_pkey_violations(&after),
			     port_info_get_pkey_violations(&before) + 2);
		expect_equal(port_info_get_qkey_violations(&after),
			     port_info_get_qkey_violations(&before) + 1);
		port_info_set_pkey_violations(&after, 7 * round);
		port_info_set_qkey_violations(&after, 0);
		port_set(tb, a, &after);
		before = port_is(tb, a, b);
		expect_equal(port_info_get_pkey_violations(&before), 7 * round);
		expect_equal(port_info_get_qkey_violations(&before), 0);
	}
	destroy_qp(u);
}

SCENARIO(port_managed, "a port that its manager changes, as both and those who are told see it")
{
	struct port_info first;

	ignore_packets();
	ignore_events(b);
	first = port_is(tb, a, b);
	node_is(tb, a, b);
	told = (struct told){.dev = b->dev};
	INIT_IB_EVENT_HANDLER(&told.handler, ib_device_of(b), hear);
	ib_register_event_handler(&told.handler);
	phase("keys");
	violations(tb, a, b);
	phase("PortInfo");
	infos(tb, a, b);
	phase("tables");
	tables(tb, a, b);
	b->lid = port_info_get_lid(&first);
	port_set(tb, a, &first);
	heard(tb, IB_EVENT_LID_CHANGE);
	ib_unregister_event_handler(&told.handler);
}
