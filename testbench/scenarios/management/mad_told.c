/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host is told when the second of its ports is managed, by its own host or by the other one: each
 * event names that port, comes once, and only if something was changed. A LID that differs from the last one in
 * its upper byte alone is another LID. Clients may be asked to register again with the same LID, or together
 * with a new one: both are told. The same Set once more tells nothing, nor does one that
 * is refused. A port that goes down and comes up begins without a LID, so the one that it had before is
 * another LID, and its agents send with the P_Key that the port then has. Source: Linux mlx4 smp_snoop
 */
/* behaviours: MAD-3 */
#include "testbench/kernel_verbs.h"
#include "testbench/manage.h"

enum { PORT = 2, LID = 0x31, OTHER = 0x8055, SECOND_GID = 1, GIDS_OF_BLOCK = 8, ANSWER_MS = 100 };

/* Events of each kind, and those of another port. */
static struct heard {
	struct ib_event_handler handler;
	unsigned lid, rereg, pkey, gid, other_port;
} heard;

static void hear(struct ib_event_handler *handler, struct ib_event *event)
{
	(void)handler;
	heard.lid += event->event == IB_EVENT_LID_CHANGE;
	heard.rereg += event->event == IB_EVENT_CLIENT_REREGISTER;
	heard.pkey += event->event == IB_EVENT_PKEY_CHANGE;
	heard.gid += event->event == IB_EVENT_GID_CHANGE;
	heard.other_port += event->element.port_num != PORT;
}

static void told(struct tb *tb, unsigned lid, unsigned rereg, unsigned pkey, unsigned gid)
{
	pass_time(CFG_US(100));
	expect_equal(heard.lid, lid);
	expect_equal(heard.rereg, rereg);
	expect_equal(heard.pkey, pkey);
	expect_equal(heard.gid, gid);
	expect_equal(heard.other_port, 0);
	heard.lid = heard.rereg = heard.pkey = heard.gid = 0;
}

/* `from` sends it: the port's own host without a hop, or the other one. */
static void say(struct tb *tb, struct tb_end *from, unsigned hops, unsigned method, unsigned attr,
		uint32_t mod, void *data, unsigned status)
{
	struct smp answer;

	ask(from, &answer, .method = method, .attr = attr, .port = PORT, .mod = mod, .hops = hops,
	    .data = data, .status = status);
	expect_equal(mad_hdr_get_direction(smp_hdr(&answer)), 1);
	if (hops)
		expect_equal(smp_return_path_ptr(&answer)[1], PORT);
	memcpy(data, smp_data_ptr(&answer), smp_data_size);
}

/* The transaction ids of two agents differ in their upper half, so that an answer to one is not taken for that
 * of another. Source: Linux ib_mad, hi_tid */
static void ids_differ(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	uint32_t upper[4];

	for (unsigned i = 0; i < 4; i++) {
		const struct drv_mad_addr to = {.dlid = LID_PERMISSIVE, .qpn = QPN_SMI};
		struct smp request = mad_of(MAD_CLASS_SUBN_DR, MAD_METHOD_GET, SMP_ATTR_NODE_INFO),
			   answer;

		must(drv_mad_call(i & 2 ? a->dev : b->dev, 1 + (i & 1), QPN_SMI, &to, &request,
				  &answer, CFG_MS(ANSWER_MS)));
		upper[i] = (uint32_t)(mad_hdr_get_tid(smp_hdr(&request)) >> 32);
		for (unsigned k = 0; k < i; k++)
			expect_true(upper[k] != upper[i]);
	}
}

static void infos(struct tb *tb, struct tb_end *b, struct tb_end *from, unsigned hops)
{
	static const struct {
		const char *name;
		unsigned lid, rereg, mtu;
		bool told;
	} rows[] = {{"another LID", LID, 0, IBV_MTU_4096, true},
		    {"the same LID", LID, 0, IBV_MTU_4096, false},
		    {"register again", LID, 1, IBV_MTU_4096, false},
		    {"only the upper byte", LID + 0x100, 0, IBV_MTU_4096, true},
		    {"both", LID + 0x200, 1, IBV_MTU_4096, true},
		    {"only the upper byte, and back", LID + 0x400, 0, IBV_MTU_4096, true},
		    {"the same LID as before", LID + 0x400, 0, IBV_MTU_4096, false}};
	struct drv_port_attr now;
	struct port_info info = {{0}};

	for_each_row(i, rows) {
		struct port_info set;

		name_row("%s, %u hops", rows[i].name, hops);
		say(tb, from, hops, MAD_METHOD_GET, SMP_ATTR_PORT_INFO, PORT, &info, 0);
		told(tb, 0, 0, 0, 0);
		set = info;
		port_info_set_state(&set, PORT_STATE_NOP);
		port_info_set_phys_state(&set, PORT_PHYS_NOP);
		port_info_set_lid(&set, rows[i].lid);
		port_info_set_client_rereg(&set, rows[i].rereg);
		say(tb, from, hops, MAD_METHOD_SET, SMP_ATTR_PORT_INFO, PORT, &set, 0);
		told(tb, rows[i].told, rows[i].rereg, 0, 0);
		must(drv_query_port(b->dev, PORT, &now));
		expect_equal(now.lid, rows[i].lid);
		set = info;
		port_info_set_lid(&set, 0xc000);
		port_info_set_client_rereg(&set, 1);
		say(tb, from, hops, MAD_METHOD_SET, SMP_ATTR_PORT_INFO, PORT, &set,
		    MAD_STATUS_BAD_VALUE);
		told(tb, 0, 0, 0, 0);
	}
	name_row("%s", "");
}

static void tables(struct tb *tb, struct tb_end *b, struct tb_end *from, unsigned hops)
{
	const uint64_t guid = UINT64_C(0x0002c903aabbcc00) + hops;
	struct pkey_table pkeys = {{0}};
	struct guid_info guids = {{0}};
	uint8_t gid[DRV_GID_BYTES] = {0};
	uint16_t pkey = 0;

	say(tb, from, hops, MAD_METHOD_GET, SMP_ATTR_PKEY_TABLE, 0, &pkeys, 0);
	told(tb, 0, 0, 0, 0);
	pkey_table_set(&pkeys, 1, OTHER + hops);
	say(tb, from, hops, MAD_METHOD_SET, SMP_ATTR_PKEY_TABLE, 0, &pkeys, 0);
	told(tb, 0, 0, 1, 0);
	must(drv_query_pkey(b->dev, PORT, 1, &pkey));
	expect_equal(pkey, OTHER + hops);
	say(tb, from, hops, MAD_METHOD_SET, SMP_ATTR_PKEY_TABLE, 0x1fff, &pkeys,
	    MAD_STATUS_BAD_VALUE);
	told(tb, 0, 0, 0, 0);
	say(tb, from, hops, MAD_METHOD_GET, SMP_ATTR_GUID_INFO, 0, &guids, 0);
	guid_info_set(&guids, SECOND_GID, guid);
	say(tb, from, hops, MAD_METHOD_SET, SMP_ATTR_GUID_INFO, 0, &guids, 0);
	told(tb, 0, 0, 0, 1);
	must(drv_query_gid(b->dev, PORT, SECOND_GID, gid));
	expect_equal(be64_load(gid + 8), guid);
	/* those of another block, too */
	memset(&guids, 0, sizeof(guids));
	guid_info_set(&guids, SECOND_GID, guid + 0x40);
	say(tb, from, hops, MAD_METHOD_SET, SMP_ATTR_GUID_INFO, 1, &guids, 0);
	told(tb, 0, 0, 0, 1);
	must(drv_query_gid(b->dev, PORT, GIDS_OF_BLOCK + SECOND_GID, gid));
	expect_equal(be64_load(gid + 8), guid + 0x40);
}

static void set_lid(struct tb *tb, struct tb_end *b, unsigned lid)
{
	struct port_info info = {{0}};

	say(tb, b, 0, MAD_METHOD_GET, SMP_ATTR_PORT_INFO, PORT, &info, 0);
	port_info_set_state(&info, PORT_STATE_NOP);
	port_info_set_phys_state(&info, PORT_PHYS_NOP);
	port_info_set_lid(&info, lid);
	say(tb, b, 0, MAD_METHOD_SET, SMP_ATTR_PORT_INFO, PORT, &info, 0);
}

/* The port has another P_Key in its first place when it goes down. Coming up it has the default one, with
 * which its QP1 sends. The first port has another one all the time. */
static void comes_up(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_mad_addr to = {.qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct smp request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO),
		   answer;
	struct pkey_table pkeys = {{0}};
	struct drv_port_attr now;
	struct sm_result sm;
	unsigned before;

	say(tb, b, 0, MAD_METHOD_GET, SMP_ATTR_PKEY_TABLE, 0, &pkeys, 0);
	pkey_table_set(&pkeys, 0, OTHER + 7);
	say(tb, b, 0, MAD_METHOD_SET, SMP_ATTR_PKEY_TABLE, 0, &pkeys, 0);
	write_pkeys(b, 1, 0, OTHER + 9);
	must(drv_query_port(b->dev, PORT, &now));
	before = now.lid;
	must(drv_port_down(b->dev, PORT));
	must(drv_port_up(b->dev, PORT));
	pass_time(CFG_MS(1));
	heard = (struct heard){.handler = heard.handler};
	must(drv_query_port(b->dev, PORT, &now));
	expect_equal(now.lid, 0);
	set_lid(tb, b, before);
	told(tb, 1, 0, 0, 0);
	set_lid(tb, b, before);
	told(tb, 0, 0, 0, 0);
	must(sm_run(a->dev, PORT, &(const struct sm_options){.lid = 40}, &sm));
	must(drv_port_wait(b->dev, PORT, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1)));
	pass_time(CFG_MS(1));
	must(drv_query_port(b->dev, PORT, &now));
	to.dlid = now.lid;
	check_mads();
	must(drv_mad_call(a->dev, PORT, QPN_GSI, &to, &request, &answer, CFG_MS(ANSWER_MS)));
	expect_mad(a_to_b, .pkey = PKEY_DEFAULT);
	expect_mad(b_to_a, .pkey = PKEY_DEFAULT);
}

SCENARIO(mad_told, "the host is told of what is set at its second port, and of nothing else",
	 .no_qps = true, .any_packets = true,
	 .settings = {"hca.ports=2", "hca.port2.type=ib", "hca.log_gids=4"})
{
	struct sm_result sm;

	ignore_events(a);
	ignore_events(b);
	must(sm_run(a->dev, PORT, &(const struct sm_options){.lid = 40}, &sm));
	must(drv_port_wait(b->dev, PORT, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1)));
	pass_time(CFG_MS(1));
	heard = (struct heard){.lid = 0};
	INIT_IB_EVENT_HANDLER(&heard.handler, ib_device_of(b), hear);
	must(ib_register_event_handler(&heard.handler));
	ids_differ(tb, a, b);
	phase("the other host");
	infos(tb, b, a, 1);
	tables(tb, b, a, 1);
	phase("its own host");
	infos(tb, b, b, 0);
	tables(tb, b, b, 0);
	phase("up again");
	comes_up(tb, a, b);
	ib_unregister_event_handler(&heard.handler);
}
