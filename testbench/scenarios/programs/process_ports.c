/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process is told all of each port: of the two ports, which differ, it gets the attributes, GIDs and P_Keys
 * of the one that it asks for, by both calls that tell a GID, and finds a P_Key where it stands. A port that
 * there is not, and an entry behind the last one, leave everything as it was. An event names its port.
 */
/* behaviours: IBA-11.2.1.2-query-hca */
#include "testbench/manage.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"
#include "testbench/services.h"

#include <endian.h>
#include <infiniband/driver.h>

enum {
	PORTS = 2,
	WRONG = 3,
	WRONG_PKEYS = 5,
	SM_SL = 6,
	QKEY = 0x1234,
	PKEY = 0x9234,
	PKEY_AT = 5,
	PKEYS = 128,
	GIDS = 128
};

struct truth {
	struct program p;
	unsigned port;
	struct drv_device_attr device;
	struct drv_port_attr of[PORTS + 1];
	uint16_t pkey[PKEYS]; /* the table of that port */
	uint8_t gid[GIDS][DRV_GID_BYTES];
};

static int port_is(void *arg)
{
	struct truth *t = arg;
	const struct drv_port_attr *of = &t->of[t->port];
	struct ibv_port_attr is, was;

	memset(&is, 0x77, sizeof(is));
	was = is;
	GIVES(ibv_query_port(t->p.context, PORTS + 1, &is), EINVAL);
	GIVES(ibv_query_port(t->p.context, 0, &is), EINVAL);
	if (memcmp(&is, &was, sizeof(is)) || ibv_query_port(t->p.context, (uint8_t)t->port, &is))
		return __LINE__;
	if (is.state != of->state || is.max_mtu != of->max_mtu || is.active_mtu != of->active_mtu ||
	    is.lid != of->lid || is.lmc != of->lmc || is.sm_lid != of->sm_lid ||
	    is.sm_sl != of->sm_sl || is.link_layer != IBV_LINK_LAYER_INFINIBAND)
		return __LINE__;
	if (is.gid_tbl_len != (int)of->gid_count || is.pkey_tbl_len != of->pkey_count ||
	    is.port_cap_flags != of->cap_mask || is.subnet_timeout != of->subnet_timeout)
		return __LINE__;
	if (is.max_vl_num != of->vl_cap || is.active_width != of->active_width ||
	    is.phys_state != of->phys_state || is.init_type_reply ||
	    is.active_speed !=
		    (of->active_ext_speed ? of->active_ext_speed << 4 : of->active_speed))
		return __LINE__;
	return is.max_msg_sz != t->device.max_message || is.bad_pkey_cntr != of->bad_pkeys ||
			       is.qkey_viol_cntr != of->bad_qkeys
		       ? __LINE__
		       : 0;
}

static int gids_are(void *arg)
{
	struct truth *t = arg;
	const unsigned n = t->of[t->port].gid_count;
	struct ibv_gid_entry e;
	union ibv_gid gid;

	for (unsigned i = 0; i < n; i++) {
		if (ibv_query_gid(t->p.context, (uint8_t)t->port, (int)i, &gid) ||
		    memcmp(gid.raw, t->gid[i], DRV_GID_BYTES))
			return __LINE__;
		if (ibv_query_gid_ex(t->p.context, t->port, i, &e, 0) || e.gid_index != i ||
		    e.port_num != t->port || e.gid_type != IBV_GID_TYPE_IB || e.ndev_ifindex ||
		    memcmp(e.gid.raw, t->gid[i], DRV_GID_BYTES))
			return __LINE__;
	}
	FAILS(ibv_query_gid(t->p.context, (uint8_t)t->port, (int)n, &gid), EINVAL);
	FAILS(ibv_query_gid(t->p.context, (uint8_t)t->port, -1, &gid), EINVAL);
	GIVES(ibv_query_gid_ex(t->p.context, t->port, n, &e, 0), EINVAL);
	GIVES(ibv_query_gid_ex(t->p.context, 256 + t->port, 0, &e, 0), EINVAL);
	GIVES(memcmp(gid.raw, t->gid[n - 1], DRV_GID_BYTES), 0);
	return 0;
}

static int pkeys_are(void *arg)
{
	struct truth *t = arg;
	const unsigned n = t->of[t->port].pkey_count;
	__be16 pkey = 0;

	for (unsigned i = 0; i < n; i++)
		if (ibv_query_pkey(t->p.context, (uint8_t)t->port, (int)i, &pkey) ||
		    be16toh(pkey) != t->pkey[i])
			return __LINE__;
	FAILS(ibv_query_pkey(t->p.context, (uint8_t)t->port, (int)n, &pkey), EINVAL);
	GIVES(be16toh(pkey), t->pkey[n - 1]);
	GIVES(ibv_get_pkey_index(t->p.context, (uint8_t)t->port, htobe16(PKEY)),
	      t->port == 1 ? PKEY_AT : -1);
	GIVES(ibv_get_pkey_index(t->p.context, (uint8_t)t->port, htobe16(0xffff)), 0);
	/* the same keys of other members */
	GIVES(ibv_get_pkey_index(t->p.context, (uint8_t)t->port, htobe16(PKEY & 0x7fff)), -1);
	GIVES(ibv_get_pkey_index(t->p.context, (uint8_t)t->port, htobe16(0x7fff)), -1);
	return 0;
}

/* The cable's other end has gone. */
static int port_lost(void *arg)
{
	const struct truth *t = arg;
	struct ibv_async_event event;

	if (ibv_get_async_event(t->p.context, &event) || event.event_type != IBV_EVENT_PORT_ERR ||
	    event.element.port_num != (int)t->port)
		return __LINE__;
	ibv_ack_async_event(&event);
	return process_poll(t->p.context->async_fd, 0);
}

/* The manager of port 1 is reached by a service level of its own. */
static void set_sm_sl(struct tb *tb, struct tb_end *a)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	info = port_info_to_set(&answer);
	port_info_set_sm_sl(&info, SM_SL);
	port_info_set_client_rereg(&info, 1);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1,
	    .data = &info);
	expect_event(a, IBV_EVENT_CLIENT_REREGISTER);
}

/* Port 1 has a P_Key that port 2 has not. */
static void add_pkey(struct tb *tb, struct tb_end *a)
{
	uint8_t keys[64];
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PKEY_TABLE);
	memcpy(keys, smp_data_cptr(&answer), sizeof(keys));
	be16_store(keys + 2 * PKEY_AT, PKEY);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PKEY_TABLE, .data = keys);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
}

/* Datagrams with a wrong Q_Key, and some with a wrong P_Key: port 1 counts each kind. */
static void violate(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(b, .type = IBV_QPT_UD), *y = new_qp(a, .type = IBV_QPT_UD);
	const struct drv_ah_attr ah = ah_to(a);

	start_ud(x, QKEY, 0);
	start_ud(y, QKEY + 1, 0);
	send_on(b, x, .len = 16, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY,
		.repeat = WRONG);
	expect_cqes(b, WRONG);
	for (unsigned i = 0; i < WRONG_PKEYS; i++)
		inject(a, UD_SEND_ONLY, .qpn = drv_qp_num(y), .qkey = QKEY + 1, .pkey = 0x8001,
		       .len = 24);
	pass_time(CFG_US(50));
	destroy_qp(y);
	destroy_qp(x);
}

SCENARIO(process_ports, "a process is told all of each of two ports", .qps = 0, .any_packets = true,
	 .lmc = 2, .settings = {"hca.ports=2"})
{
	static const unsigned ports[] = {1, 2};
	struct process *worker = start_worker(a);
	static struct truth t;

	t = (struct truth){.p = {.file = "domain"}};
	must(drv_query_device(a->dev, &t.device));
	add_pkey(tb, a);
	set_sm_sl(tb, a);
	violate(tb, a, b);
	run_in(worker, program_open, &t.p);
	for_each_row(i, ports) {
		struct drv_port_attr *of = &t.of[ports[i]];

		name_row("port %u", ports[i]);
		t.port = ports[i];
		must(drv_query_port(a->dev, t.port, of));
		expect_equal(of->bad_qkeys, t.port == 1 ? WRONG : 0);
		expect_equal(of->bad_pkeys, t.port == 1 ? WRONG_PKEYS : 0);
		expect_equal(of->sm_sl, t.port == 1 ? SM_SL : 0);
		expect_that(of->gid_count, <=, GIDS);
		expect_that(of->pkey_count, <=, PKEYS);
		for (unsigned k = 0; k < of->gid_count && still_right(); k++)
			must(drv_query_gid(a->dev, t.port, k, t.gid[k]));
		for (unsigned k = 0; k < of->pkey_count && still_right(); k++)
			must(drv_query_pkey(a->dev, t.port, k, &t.pkey[k]));
		run_in(worker, port_is, &t);
		run_in(worker, gids_are, &t);
		run_in(worker, pkeys_are, &t);
	}
	name_row("%s", "");
	ignore_events(a);
	ignore_events(b);
	for (t.port = PORTS; t.port; t.port--) {
		must(drv_port_down(b->dev, t.port));
		run_in(worker, port_lost, &t);
	}
	end_worker(worker);
}
