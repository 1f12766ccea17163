/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager allows longer packets on either port while connection management reads it for a
 * request that has come: a little later in each round, so that some of the changes fall between the
 * reading and what is kept of it. A request for a connection with the longer packets is then taken; before, and
 * when they are no longer allowed, it is refused.
 */
/* behaviours: CM-port-changes */
#include "testbench/connect.h"
#include "testbench/manage.h"

enum { SERVICE = 0x1234, ROUNDS = 50, STEP_US = 4, PORTS = 2, LIFE = 10 };

static void set_mtu(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned port,
		    enum ib_mtu mtu)
{
	struct port_info info;
	struct smp answer = {{0}};

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .port = port, .mod = port, .hops = 1);
	info = port_info_to_set(&answer);
	port_info_set_neighbor_mtu(&info, mtu);
	port_info_set_client_rereg(&info, 1); /* the MTU alone raises no event */
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .port = port,
	    .mod = port, .hops = 1, .data = &info);
	expect_event(b, IBV_EVENT_CLIENT_REREGISTER);
}

/* From a to b through that port. */
static struct sa_path_rec path_of(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned port)
{
	struct sa_path_rec path = {
		.ib = {.slid = htobe16((uint16_t)(port == 1 ? a->lid : a->lid_2)),
		       .dlid = htobe16((uint16_t)(port == 1 ? b->lid : b->lid_2))},
		.pkey = htobe16(PKEY_DEFAULT),
		.rate = IB_RATE_10_GBPS,
		.packet_life_time = LIFE,
		.reversible = 1,
		.numb_path = 1};

	must(ib_query_gid(ib_device_of(a), port, 0, &path.sgid));
	must(ib_query_gid(ib_device_of(b), port, 0, &path.dgid));
	return path;
}

/* The request reaches the user of the listener, who refuses it. */
static void refuse(struct tb *tb, struct conn *client, struct conn *listener)
{
	struct conn *server = conn_accept(listener);

	if (!still_right())
		return;
	must(ib_send_cm_rej(server->id, IB_CM_REJ_NO_RESOURCES, NULL, 0, NULL, 0));
	expect_cm(client, IB_CM_REJ_RECEIVED);
	conn_end(server);
}

/* The port does not carry packets that long any more. */
static void too_long(struct tb *tb, struct conn *client, struct sa_path_rec path)
{
	const struct ib_cm_rej_event_param *rej = &client->last.cm.param.rej_rcvd;

	path.mtu = IB_MTU_4096;
	conn_request(client, .service = SERVICE, .path = &path);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(rej->reason, IB_CM_REJ_INVALID_MTU);
	expect_equal(rej->ari_length, 1);
	expect_equal(client->last.info[0], IB_MTU_1024);
}

SCENARIO(cm_port_changes, "a port changes while connection management reads it", .no_qps = true,
	 .any_packets = true, .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	struct conn *listener, *client;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	for (unsigned i = 0; i < ROUNDS * PORTS && still_right(); i++) {
		const unsigned port = 1 + i % PORTS, us = i / PORTS * STEP_US;

		name_row("change of port %u after %u us", port, us);
		path = path_of(tb, a, b, port);
		set_mtu(tb, a, b, port, IB_MTU_1024);
		if (us % (10 * STEP_US) == 0)
			too_long(tb, client, path);
		path.mtu = IB_MTU_1024;
		conn_request(client, .service = SERVICE, .path = &path);
		pass_time(CFG_US(1) * us);
		set_mtu(tb, a, b, port, IB_MTU_4096);
		refuse(tb, client, listener);
		path.mtu = IB_MTU_4096;
		conn_request(client, .service = SERVICE, .path = &path);
		refuse(tb, client, listener);
	}
	conn_end(client);
	conn_end(listener);
}
