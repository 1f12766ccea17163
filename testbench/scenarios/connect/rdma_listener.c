/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a listener of rdma_cm takes, and what it leaves. It rejects requests whose private data does
 * not begin with the header of annex A11, datagram questions for a connected service, and with
 * RDMA_OPTION_ID_AFONLY the other family. When it is destroyed, the requests that nobody has taken
 * are rejected, also one whose client has gone meanwhile, and what waits for other ids stays. The
 * host without connection management has no channels.
 */
/* behaviours: IBA-A11-ip-cm-service IBA-A11-service-id */
#include "testbench/connect.h"

#include <arpa/inet.h>

enum { PORT = 5, MAPPED = 10, WAITING = 2, TIMEOUT_MS = 10 };

struct listening {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *other;
};

static struct sockaddr *address(bool six, const char *text, struct sockaddr_storage *to)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;

	*to = (struct sockaddr_storage){0};
	if (six) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(PORT);
		if (text) {
			memset(&v6->sin6_addr.s6_addr[MAPPED], 0xff, 2);
			inet_pton(AF_INET, text, &v6->sin6_addr.s6_addr[MAPPED + 2]);
		}
	} else {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(PORT);
		if (text)
			inet_pton(AF_INET, text, &v4->sin_addr);
	}
	return (struct sockaddr *)to;
}

/* --- the server --- */

static int has_no_channel(void *arg)
{
	struct rdma_cm_id *id;

	errno = 0;
	if (rdma_create_event_channel() || errno != ENODEV)
		return __LINE__;
	errno = 0;
	return rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) != -1 || errno != ENODEV;
}

static int listen_with(struct listening *l, bool six, int af_only)
{
	struct sockaddr_storage any;

	l->channel = rdma_create_event_channel();
	return !l->channel || rdma_create_id(l->channel, &l->listener, NULL, RDMA_PS_TCP) ||
	       rdma_bind_addr(l->listener, address(six, NULL, &any)) ||
	       rdma_set_option(l->listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &af_only,
			       sizeof(af_only)) ||
	       rdma_listen(l->listener, 0);
}

static int only_ipv4(void *arg)
{
	return listen_with(arg, false, 1);
}

static int only_ipv6(void *arg)
{
	return listen_with(arg, true, 1);
}

static int any_family(void *arg)
{
	return listen_with(arg, false, 0);
}

static int beside_other(void *arg)
{
	struct listening *l = arg;

	return listen_with(l, false, 0) || ip_resolve(l->channel, IP_A, PORT, NULL, &l->other);
}

/* Takes the one request that waits, and rejects it with a word. */
static int rejects(void *arg)
{
	struct listening *l = arg;
	struct rdma_cm_id *id;

	return ip_next(l->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &id) ||
	       rdma_reject(id, "taken", 5) || rdma_destroy_id(id);
}

static int ends(void *arg)
{
	struct listening *l = arg;

	if (rdma_destroy_id(l->listener))
		return __LINE__;
	rdma_destroy_event_channel(l->channel);
	return 0;
}

/* The other id hears of its address after the listener is gone. */
static int ends_before_other(void *arg)
{
	struct listening *l = arg;

	if (rdma_destroy_id(l->listener) ||
	    ip_next(l->channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) || rdma_destroy_id(l->other))
		return __LINE__;
	rdma_destroy_event_channel(l->channel);
	return 0;
}

/* --- the client: returns 0 if the listener has rejected it without the word, else 1 --- */

static int connect_by(bool six)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_storage to, from;
	struct rdma_cm_event *event;
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;
	int rc;

	address(six, IP_A, &from);
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, (struct sockaddr *)&from, address(six, IP_B, &to),
			      IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	    ntohs(rdma_get_src_port(id)) != PORT || rdma_resolve_route(id, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) || ip_make_qp(id, &cq, 2) ||
	    rdma_connect(id, NULL) || rdma_get_cm_event(channel, &event))
		return -1;
	rc = event->event == RDMA_CM_EVENT_REJECTED && event->status == IB_CM_REJ_CONSUMER_DEFINED
		     ? !memcmp(event->param.conn.private_data, "taken", 5)
		     : -1;
	rdma_ack_cm_event(event);
	rdma_destroy_qp(id);
	return rdma_destroy_id(id) || ibv_destroy_cq(cq) ? -1 : rc;
}

static int by_ipv4(void *arg)
{
	return connect_by(false);
}

static int by_ipv6(void *arg)
{
	return connect_by(true);
}

/* --- the body --- */

static void families(struct tb *tb, struct process *server, struct tb_end *a)
{
	struct listening l;
	struct process *client;

	phase("one family");
	run_in(server, only_ipv4, &l);
	expect_exit(start_process(a, by_ipv6, NULL), 0);
	client = start_process(a, by_ipv4, NULL);
	run_in(server, rejects, &l);
	expect_exit(client, 1);
	run_in(server, ends, &l);
	run_in(server, only_ipv6, &l);
	expect_exit(start_process(a, by_ipv4, NULL), 0);
	client = start_process(a, by_ipv6, NULL);
	run_in(server, rejects, &l);
	expect_exit(client, 1);
	run_in(server, ends, &l);
}

/* The header's first bytes: the version, and 4 or 6. */
static void headers(struct tb *tb, struct process *server, struct tb_end *a)
{
	static const struct {
		const char *name, *data;
		bool taken;
	} rows[] = {{"neither IPv4 nor IPv6", "\x01\x50", false},
		    {"another version", "\x11\x40", false},
		    {"a later revision of the same version", "\x01\x40", true}};
	const uint64_t service = (uint64_t)RDMA_PS_TCP << 16 | PORT;
	struct conn *c = conn_new(a);
	struct ib_cm_sidr_req_param datagram = {.service_id = htobe64(service),
						.timeout_ms = TIMEOUT_MS};
	struct sa_path_rec path;
	struct listening l;

	phase("headers");
	run_in(server, any_family, &l);
	ask_path(a, &path);
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		conn_request(c, .service = service, .path = &path, .data = rows[i].data);
		if (rows[i].taken)
			run_in(server, rejects, &l);
		expect_cm(c, IB_CM_REJ_RECEIVED);
		expect_equal(c->last.cm.param.rej_rcvd.reason, IB_CM_REJ_CONSUMER_DEFINED);
		expect_equal(!memcmp(c->last.data, "taken", 5), rows[i].taken);
	}
	datagram.path = &path;
	must(ib_send_cm_sidr_req(c->id, &datagram));
	expect_cm(c, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(c->last.cm.param.sidr_rep_rcvd.status, IB_SIDR_REJECT);
	conn_end(c);
	run_in(server, ends, &l);
}

static void destroyed(struct tb *tb, struct process *server, struct tb_end *a)
{
	struct process *clients[WAITING] = {0};
	struct listening l;

	phase("requests that nobody has taken");
	run_in(server, beside_other, &l);
	clients[0] = start_process(a, by_ipv4, NULL);
	clients[1] = start_process(a, by_ipv6, NULL);
	pass_time(CFG_MS(TIMEOUT_MS));
	run_in(server, ends_before_other, &l);
	for (unsigned i = 0; i < WAITING; i++)
		expect_exit(clients[i], 0);
}

/* Its end waits behind the request, for the same id, and goes with it. */
static void destroyed_after_client(struct tb *tb, struct process *server, struct tb_end *a)
{
	struct process *client;
	struct listening l;

	phase("a request whose client has gone");
	run_in(server, any_family, &l);
	client = start_process(a, by_ipv4, NULL);
	pass_time(CFG_MS(TIMEOUT_MS));
	kill_process(client);
	expect_exit(client, PROCESS_KILLED);
	pass_time(CFG_MS(TIMEOUT_MS));
	run_in(server, ends, &l);
}

SCENARIO(rdma_listener, "what a listener of rdma_cm rejects by itself", .no_qps = true,
	 .any_packets = true)
{
	struct process *server;

	expect_exit(start_process(b, has_no_channel, NULL), 0);
	start_cm();
	server = start_worker(b);
	families(tb, server, a);
	headers(tb, server, a);
	destroyed(tb, server, a);
	destroyed_after_client(tb, server, a);
	end_worker(server);
}
