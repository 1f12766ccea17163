/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ports of the devices have IP addresses. The address of the peer says through which port a program
 * connects, and so does its own one if it is bound; a source and a destination that belong to different
 * ports have no way. At both ends the id and its queue pair are of that port, with its GIDs and LIDs. So are
 * those of datagrams, and a question that nobody serves is answered through the port by which it came. Who
 * cannot end its own queue pair does not tell the peer that it ends; who cannot use the
 * answer rejects it.
 */
/* behaviours: IBA-A11-ip-cm-service IBA-17.2-two-ports */
#include "testbench/connect.h"
#include "testbench/harm.h"

#include <arpa/inet.h>
#include <errno.h>

enum { PORT = 12, NO_WAY = -EHOSTUNREACH, PORTS = 2 };

struct row {
	const char *name, *from, *to;
	bool binds;    /* before, else `from` is given with the destination */
	unsigned port; /* 0: no way */
};

static struct side {
	const struct row *row;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	struct ibv_cq *cq;
	struct ibv_qp_attr attr;
} client, server;

static struct sockaddr *address(const char *text, uint16_t port, struct sockaddr_in *to)
{
	*to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, text, &to->sin_addr);
	return (struct sockaddr *)to;
}

static int resolves(void *arg)
{
	const struct row *row = client.row;
	struct sockaddr_in from, to;
	struct sockaddr *source = row->from ? address(row->from, 0, &from) : NULL;

	client.channel = rdma_create_event_channel();
	if (rdma_create_id(client.channel, &client.id, NULL, RDMA_PS_TCP) ||
	    (row->binds && rdma_bind_addr(client.id, source)))
		return __LINE__;
	if (row->binds && (!client.id->verbs || !client.id->port_num))
		return __LINE__;
	return rdma_resolve_addr(client.id, row->binds ? NULL : source, address(row->to, PORT, &to),
				 IP_TIMEOUT_MS)
		       ? __LINE__
		       : 0;
}

static int has_way(void *arg)
{
	return ip_next(client.channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

static int has_no_way(void *arg)
{
	return ip_next(client.channel, RDMA_CM_EVENT_ADDR_ERROR, NULL) == NO_WAY ? 0 : __LINE__;
}

static int looks(struct side *s)
{
	struct ibv_qp_init_attr init;

	return ibv_query_qp(s->id->qp, &s->attr, ~0, &init) ? __LINE__ : 0;
}

static int connects(void *arg)
{
	if (rdma_resolve_route(client.id, IP_TIMEOUT_MS) ||
	    ip_next(client.channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) ||
	    ip_make_qp(client.id, &client.cq, 2) || looks(&client) ||
	    client.attr.port_num != client.row->port)
		return __LINE__;
	return rdma_connect(client.id, NULL) ? __LINE__ : 0;
}

static int is_connected(void *arg)
{
	return ip_next(client.channel, RDMA_CM_EVENT_ESTABLISHED, NULL) ? __LINE__ : looks(&client);
}

static int cannot_leave(void *arg)
{
	errno = 0;
	return rdma_disconnect(client.id) != -1 || !errno ? __LINE__ : 0;
}

static int leaves(void *arg)
{
	if (client.id->qp) {
		if (rdma_disconnect(client.id))
			return __LINE__;
		rdma_destroy_qp(client.id);
	}
	if (rdma_destroy_id(client.id) || (client.cq && ibv_destroy_cq(client.cq)))
		return __LINE__;
	rdma_destroy_event_channel(client.channel);
	client.cq = NULL;
	return 0;
}

static int listens(void *arg)
{
	server.channel = rdma_create_event_channel();
	return ip_listen(server.channel, PORT, 1, &server.listener) ? __LINE__ : 0;
}

static int accepts(void *arg)
{
	return ip_next(server.channel, RDMA_CM_EVENT_CONNECT_REQUEST, &server.id) ||
			       ip_make_qp(server.id, &server.cq, 2) || rdma_accept(server.id, NULL)
		       ? __LINE__
		       : looks(&server);
}

static int ends(void *arg)
{
	if (ip_next(server.channel, RDMA_CM_EVENT_ESTABLISHED, NULL) ||
	    ip_next(server.channel, RDMA_CM_EVENT_DISCONNECTED, NULL))
		return __LINE__;
	rdma_destroy_qp(server.id);
	if (rdma_destroy_id(server.id) || ibv_destroy_cq(server.cq))
		return __LINE__;
	server.cq = NULL;
	return 0;
}

static unsigned lid_of(const struct tb_end *end, unsigned port)
{
	return port == 1 ? end->lid : end->lid_2;
}

/* --- a connection that cannot be finished --- */

static int is_dead(struct side *s)
{
	struct ibv_qp_init_attr init;

	return !ibv_query_qp(s->id->qp, &s->attr, IBV_QP_STATE, &init) &&
	       s->attr.qp_state == IBV_QPS_ERR;
}

static int cannot_finish(void *arg)
{
	int status = ip_next(client.channel, RDMA_CM_EVENT_CONNECT_ERROR, NULL);

	return !status || status == IP_OTHER_EVENT || !is_dead(&client) ? __LINE__ : 0;
}

static int goes(void *arg)
{
	rdma_destroy_qp(client.id);
	return leaves(NULL);
}

/* It hears of that, and its queue pair has ended. */
static int is_rejected(void *arg)
{
	if (ip_next(server.channel, RDMA_CM_EVENT_REJECTED, NULL) != IB_CM_REJ_CONSUMER_DEFINED ||
	    !is_dead(&server))
		return __LINE__;
	rdma_destroy_qp(server.id);
	if (rdma_destroy_id(server.id) || ibv_destroy_cq(server.cq))
		return __LINE__;
	server.cq = NULL;
	return 0;
}

/* The answer has come, and the client's queue pair cannot be moved for it. */
static void unfinished(struct tb *tb, struct tb_end *a, struct process *x, struct process *y,
		       const struct row *row)
{
	phase("a connection that cannot be finished");
	client.row = row;
	run_in(x, resolves, NULL);
	run_in(x, has_way, NULL);
	run_in(x, connects, NULL);
	fail_command(a, HCR_INIT2RTR_QP, HCR_STATUS_BAD_RES_STATE, 1);
	run_in(y, accepts, NULL);
	run_in(x, cannot_finish, NULL);
	run_in(y, is_rejected, NULL);
	run_in(x, goes, NULL);
}

/* --- datagrams --- */

static struct rdma_ud_param found; /* what the client was told */

static int make_ud(struct side *s)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	return rdma_create_qp(s->id, NULL, &init);
}

static int serves_ud(void *arg)
{
	struct sockaddr_in any;

	server.channel = rdma_create_event_channel();
	return rdma_create_id(server.channel, &server.listener, NULL, RDMA_PS_UDP) ||
			       rdma_bind_addr(server.listener, address("0.0.0.0", PORT, &any)) ||
			       rdma_listen(server.listener, 1)
		       ? __LINE__
		       : 0;
}

static int asks_at(uint16_t port)
{
	struct sockaddr_in to;

	client.channel = rdma_create_event_channel();
	return rdma_create_id(client.channel, &client.id, NULL, RDMA_PS_UDP) ||
			       rdma_resolve_addr(client.id, NULL,
						 address(client.row->to, port, &to),
						 IP_TIMEOUT_MS) ||
			       ip_next(client.channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
			       rdma_resolve_route(client.id, IP_TIMEOUT_MS) ||
			       ip_next(client.channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) ||
			       make_ud(&client) || rdma_connect(client.id, NULL)
		       ? __LINE__
		       : 0;
}

static int asks(void *arg)
{
	return asks_at(PORT);
}

static int ends_ud(struct side *s)
{
	rdma_destroy_qp(s->id);
	return rdma_destroy_id(s->id) ? __LINE__ : 0;
}

/* Nobody serves that number: the answer comes back by the port that asks, and at once. */
static int asks_in_vain(void *arg)
{
	if (asks_at(PORT + 1) ||
	    ip_next(client.channel, RDMA_CM_EVENT_UNREACHABLE, NULL) != IB_SIDR_UNSUPPORTED ||
	    ends_ud(&client))
		return __LINE__;
	rdma_destroy_event_channel(client.channel);
	return 0;
}

static int answers(void *arg)
{
	if (ip_next(server.channel, RDMA_CM_EVENT_CONNECT_REQUEST, &server.id) ||
	    server.id->port_num != client.row->port)
		return __LINE__;
	if (make_ud(&server) || looks(&server) || server.attr.port_num != client.row->port)
		return __LINE__;
	return rdma_accept(server.id, NULL) ? __LINE__ : 0;
}

static int hears(void *arg)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(client.channel, &event) || event->event != RDMA_CM_EVENT_ESTABLISHED)
		return __LINE__;
	found = event->param.ud;
	return rdma_ack_cm_event(event) ? __LINE__ : looks(&client);
}

static int client_ends_ud(void *arg)
{
	int rc = ends_ud(&client);

	rdma_destroy_event_channel(client.channel);
	return rc;
}

static int server_ends_ud(void *arg)
{
	return ends_ud(&server);
}

static void ask_through(struct tb *tb, struct tb_end *b, struct process *x, struct process *y,
			const struct row *row)
{
	client.row = row;
	run_in(x, asks_in_vain, NULL);
	run_in(x, asks, NULL);
	run_in(y, answers, NULL);
	run_in(x, hears, NULL);
	if (!still_right())
		return;
	expect_equal(client.id->port_num, row->port);
	expect_equal(client.attr.port_num, row->port);
	expect_equal(found.ah_attr.port_num, row->port);
	expect_equal(found.ah_attr.dlid, lid_of(b, row->port));
	expect_equal(found.qp_num, server.id->qp->qp_num);
	run_in(x, client_ends_ud, NULL);
	run_in(y, server_ends_ud, NULL);
}

static int stops(void *arg)
{
	if (rdma_destroy_id(server.listener))
		return __LINE__;
	rdma_destroy_event_channel(server.channel);
	return 0;
}

/* The addresses of the fabric: the third number is the port, the last one the host. */
static uint32_t ip_of(const struct tb_end *end, unsigned port)
{
	return htonl(11u << 24 | port << 8 | (end->host_index + 1));
}

static void side_is(struct tb *tb, const struct side *s, const struct tb_end *here, unsigned port)
{
	const struct rdma_addr *addr = &s->id->route.addr;
	union ib_gid gid = {{0}}, peer = {{0}};

	must(drv_query_gid(here->dev, port, 0, gid.raw));
	must(drv_query_gid(here->peer->dev, port, 0, peer.raw));
	expect_equal(s->id->port_num, port);
	expect_equal(addr->src_sin.sin_addr.s_addr, ip_of(here, port));
	expect_equal(addr->dst_sin.sin_addr.s_addr, ip_of(here->peer, port));
	expect_true(!memcmp(addr->addr.ibaddr.sgid.raw, gid.raw, sizeof(gid.raw)));
	expect_true(!memcmp(addr->addr.ibaddr.dgid.raw, peer.raw, sizeof(peer.raw)));
	expect_equal(be16toh(addr->addr.ibaddr.pkey), 0xffff);
	expect_equal(s->id->route.num_paths, 1);
	expect_equal(be16toh(s->id->route.path_rec->slid), lid_of(here, port));
	expect_equal(be16toh(s->id->route.path_rec->dlid), lid_of(here->peer, port));
	expect_equal(s->attr.port_num, port);
	expect_equal(s->attr.ah_attr.port_num, port);
	expect_equal(s->attr.ah_attr.dlid, lid_of(here->peer, port));
}

/* The queue pair cannot be moved to the error state, so the peer hears nothing yet. */
static void refused_to_leave(struct tb *tb, struct tb_end *a, struct process *x)
{
	struct ib_cm_counters before = {0}, after = {0};

	must(ib_cm_query_counters(ib_device_of(a), &before));
	fail_command(a, HCR_2ERR_QP, HCR_STATUS_BAD_RES_STATE, 1);
	run_in(x, cannot_leave, NULL);
	must(ib_cm_query_counters(ib_device_of(a), &after));
	expect_equal(after.tx_msgs[IB_CM_MSG_DREQ], before.tx_msgs[IB_CM_MSG_DREQ]);
}

static void connect_through(struct tb *tb, struct tb_end *a, struct tb_end *b, struct process *x,
			    struct process *y, const struct row *row)
{
	client.row = row;
	run_in(x, resolves, NULL);
	if (!row->port) {
		run_in(x, has_no_way, NULL);
		run_in(x, leaves, NULL);
		return;
	}
	run_in(x, has_way, NULL);
	if (still_right())
		expect_equal(client.id->port_num, row->port);
	run_in(x, connects, NULL);
	run_in(y, accepts, NULL);
	if (still_right())
		side_is(tb, &server, b, row->port);
	run_in(x, is_connected, NULL);
	if (still_right())
		side_is(tb, &client, a, row->port);
	refused_to_leave(tb, a, x);
	run_in(x, leaves, NULL);
	run_in(y, ends, NULL);
}

SCENARIO(rdma_ports, "connections by IP address through both ports", .no_qps = true,
	 .any_packets = true, .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	static const struct row rows[] = {
		{"to port 1", NULL, "11.0.1.2", false, 1},
		{"to port 2", NULL, "11.0.2.2", false, 2},
		{"from port 2 to port 2", "11.0.2.1", "11.0.2.2", false, 2},
		{"bound to port 2", "11.0.2.1", "11.0.2.2", true, 2},
		{"from port 1 to port 2", "11.0.1.1", "11.0.2.2", false, 0},
		{"bound to port 2, to port 1", "11.0.2.1", "11.0.1.2", true, 0},
		{"from any address to port 2", "0.0.0.0", "11.0.2.2", false, 2},
		{"to nobody", NULL, "11.0.2.9", false, 0}};
	struct process *x, *y;

	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	start_cm();
	x = start_worker(a);
	y = start_worker(b);
	run_in(y, listens, NULL);
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		connect_through(tb, a, b, x, y, &rows[i]);
	}
	name_row("%s", "");
	unfinished(tb, a, x, y, &rows[1]);
	run_in(y, stops, NULL);
	phase("datagrams");
	run_in(y, serves_ud, NULL);
	for (unsigned i = 0; i < PORTS; i++) {
		name_row("%s", rows[i].name);
		ask_through(tb, b, x, y, &rows[i]);
	}
	run_in(y, stops, NULL);
	end_worker(x);
	end_worker(y);
}
