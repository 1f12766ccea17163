/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager allows longer packets on a port while connection management reads the port for a
 * request that has come: a little later in each round, so that some of the changes fall between the
 * reading and what is kept of it. A request for a connection with the longer packets is then taken.
 */
/* behaviours: CM-port-changes */
#include "testbench/connect.h"
#include "testbench/manage.h"

enum { SERVICE = 0x1234, ROUNDS = 50, STEP_US = 4 };

static void set_mtu(struct tb *tb, struct tb_end *a, struct tb_end *b, enum ib_mtu mtu)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1);
	info = port_info_to_set(&answer);
	port_info_set_neighbor_mtu(&info, mtu);
	port_info_set_client_rereg(&info, 1); /* the MTU alone raises no event */
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1,
	    .data = &info);
	expect_event(b, IBV_EVENT_CLIENT_REREGISTER);
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

SCENARIO(cm_port_changes, "a port changes while connection management reads it", .no_qps = true,
	 .any_packets = true)
{
	struct conn *listener, *client;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		name_row("change after %u us", i * STEP_US);
		set_mtu(tb, a, b, IB_MTU_1024);
		path.mtu = IB_MTU_1024;
		conn_request(client, .service = SERVICE, .path = &path);
		pass_time(CFG_US(1) * i * STEP_US);
		set_mtu(tb, a, b, IB_MTU_4096);
		refuse(tb, client, listener);
		path.mtu = IB_MTU_4096;
		conn_request(client, .service = SERVICE, .path = &path);
		refuse(tb, client, listener);
	}
	conn_end(client);
	conn_end(listener);
}
