/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection between the last GIDs of two ports, in a partition whose P_Key stands at the end of both
 * tables: by the first port, and by the second one, whose entries are others. Each side finds port and
 * index, also when it is sent to them by the peer's REQ. What is at the end of the first port's table is
 * not at the second one.
 */
/* behaviours: IBA-12.9-qp-attributes IBA-14.2.5-tables IBA-12.6.5-partition */
#include "testbench/connect.h"
#include "testbench/manage.h"

enum { SERVICE = 0x1234, PARTITION = 0x8010, PORTS = 2, GID_STEP = 0x100 };

/* Gets or sets an attribute of one of the end's own ports. */
static void own(struct tb *tb, struct tb_end *end, unsigned port, enum mad_method method,
		enum smp_attr attr, uint32_t mod, void *data)
{
	struct smp answer;

	ask(end, &answer, .method = method, .attr = attr, .port = port, .mod = mod, .data = data);
	if (still_right())
		memcpy(data, smp_data_cptr(&answer), smp_data_size);
}

/* Gives the last entries of both tables of a port, and returns the GID. */
static union ib_gid fill_ends(struct tb *tb, struct tb_end *end, unsigned port)
{
	struct ib_port_attr attr = {0};
	struct guid_info guids = {{0}};
	struct pkey_table pkeys = {{0}};
	union ib_gid gid = {{0}};

	must(ib_query_port(ib_device_of(end), port, &attr));
	must(ib_query_gid(ib_device_of(end), port, 0, &gid));
	expect_that(attr.gid_tbl_len, >=, 2);
	expect_that(attr.pkey_tbl_len, >=, 2);
	if (!still_right())
		return gid;
	own(tb, end, port, MAD_METHOD_GET, SMP_ATTR_GUID_INFO, ((uint32_t)attr.gid_tbl_len - 1) / 8,
	    &guids);
	guid_info_set(&guids, ((unsigned)attr.gid_tbl_len - 1) % 8,
		      be64toh(gid.global.interface_id) + GID_STEP * port);
	own(tb, end, port, MAD_METHOD_SET, SMP_ATTR_GUID_INFO, ((uint32_t)attr.gid_tbl_len - 1) / 8,
	    &guids);
	own(tb, end, port, MAD_METHOD_GET, SMP_ATTR_PKEY_TABLE,
	    ((uint32_t)attr.pkey_tbl_len - 1) / 32, &pkeys);
	pkey_table_set(&pkeys, ((unsigned)attr.pkey_tbl_len - 1) % 32, PARTITION + port);
	own(tb, end, port, MAD_METHOD_SET, SMP_ATTR_PKEY_TABLE,
	    ((uint32_t)attr.pkey_tbl_len - 1) / 32, &pkeys);
	must(ib_query_gid(ib_device_of(end), port, attr.gid_tbl_len - 1, &gid));
	return gid;
}

static void expect_ends(struct tb *tb, struct conn *c, unsigned port)
{
	struct ib_port_attr attr = {0};
	struct ib_qp_attr qp = {0};

	must(ib_query_port(ib_device_of(c->end), port, &attr));
	must(ib_query_qp(c->qp, &qp, 0, NULL));
	expect_equal(qp.port_num, port);
	expect_equal(qp.pkey_index + 1, attr.pkey_tbl_len);
}

static void connect_by(struct tb *tb, struct tb_end *a, struct conn *listener,
		       const struct sa_path_rec *path, unsigned port)
{
	struct conn *client = conn_new(a), *server;

	conn_request(client, .service = SERVICE, .path = path);
	server = conn_accept(listener);
	if (!still_right())
		return;
	expect_equal(listener->last.cm.param.req_rcvd.port, port);
	expect_true(!memcmp(listener->last.path.sgid.raw, path->dgid.raw, 16));
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	conn_move(client, IB_QPS_INIT);
	conn_move(client, IB_QPS_RTR);
	conn_move(client, IB_QPS_RTS);
	if (!still_right())
		return;
	expect_ends(tb, client, port);
	expect_ends(tb, server, port);
	must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	conn_move(server, IB_QPS_RTS);
	conn_recv(server);
	conn_send(client);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
}

SCENARIO(cm_table_ends, "connections by the last GID and the last P_Key of each port",
	 .no_qps = true, .any_packets = true, .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	struct sa_path_rec path, other[PORTS + 1];
	struct ib_cm_req_param req;
	struct conn *listener, *client;

	ignore_events(a);
	ignore_events(b);
	start_cm();
	ask_path(a, &path);
	if (!still_right())
		return;
	for (unsigned port = 1; port <= PORTS; port++) {
		other[port] = path;
		other[port].ib.slid = htobe16((uint16_t)(port == 1 ? a->lid : a->lid_2));
		other[port].ib.dlid = htobe16((uint16_t)(port == 1 ? b->lid : b->lid_2));
		other[port].sgid = fill_ends(tb, a, port);
		other[port].dgid = fill_ends(tb, b, port);
		other[port].pkey = htobe16((uint16_t)(PARTITION + port));
	}
	listener = conn_listen(b, SERVICE);
	for (unsigned port = PORTS; port; port--) {
		name_row("port %u", port);
		connect_by(tb, a, listener, &other[port], port);
	}
	/* the other port's P_Key, and a GID of nobody */
	client = conn_new(a);
	for (unsigned port = 1; port <= PORTS && still_right(); port++) {
		name_row("refused, port %u", port);
		other[0] = other[port];
		other[0].pkey = other[PORTS + 1 - port].pkey;
		conn_req_param(client, &req, .service = SERVICE, .path = &other[0]);
		must_fail(-EINVAL, ib_send_cm_req(client->id, &req));
		other[0] = other[port];
		other[0].sgid.raw[8] ^= 1;
		must_fail(-EINVAL, ib_send_cm_req(client->id, &req));
	}
	name_row("%s", "");
	conn_end(client);
	conn_end(listener);
}
