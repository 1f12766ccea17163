/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager gives each port a second GID. A REQ may come from it and go to it as with the
 * first one, and the path that the server hears of says so. A GID of the peer is none of the own
 * ones: a path that begins there is refused at once, and one that ends at a GID of nobody by the
 * peer.
 */
/* behaviours: IBA-12.9-qp-attributes IBA-14.2.5-tables */
#include "testbench/connect.h"
#include "testbench/manage.h"

enum { SERVICE = 7, PORT = 1, SECOND = 1, OTHER = 0x100, NOBODY = 0x40 };

/* Writes the second entry of the table of a port; `hops` 0: of a's own. */
static void add_gid(struct tb *tb, struct tb_end *a, struct tb_end *of, unsigned hops)
{
	struct guid_info guids;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_GUID_INFO, .hops = hops);
	memcpy(&guids, smp_data_cptr(&answer), sizeof(guids));
	guid_info_set(&guids, SECOND, guid_info_get(&guids, 0) + OTHER);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_GUID_INFO, .hops = hops,
	    .data = &guids);
	expect_event(of, IBV_EVENT_GID_CHANGE);
}

static union ib_gid gid_of(struct tb *tb, struct tb_end *end, int index)
{
	union ib_gid gid = {{0}};

	must(ib_query_gid(ib_device_of(end), PORT, index, &gid));
	return gid;
}

static void connect_by(struct tb *tb, struct conn *listener, struct tb_end *a,
		       const struct sa_path_rec *path)
{
	struct conn *client = conn_new(a);
	struct conn *server = conn_establish(client, listener, .service = SERVICE, .path = path);

	if (!still_right())
		return;
	expect_true(!memcmp(listener->last.path.sgid.raw, path->dgid.raw, sizeof(path->dgid.raw)));
	expect_true(!memcmp(listener->last.path.dgid.raw, path->sgid.raw, sizeof(path->sgid.raw)));
	conn_recv(server);
	conn_send(client);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
}

SCENARIO(cm_gids, "connections by the second GID of a port", .no_qps = true, .any_packets = true)
{
	static const struct {
		const char *name;
		int from, to;
	} rows[] = {{"to the second", 0, SECOND},
		    {"from the second", SECOND, 0},
		    {"from the second to the second", SECOND, SECOND}};
	struct sa_path_rec path = {0}, other;
	struct ib_cm_req_param req;
	struct conn *listener, *client;

	add_gid(tb, a, a, 0);
	add_gid(tb, a, b, 1);
	start_cm();
	listener = conn_listen(b, SERVICE);
	ask_path(a, &path);
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		other = path;
		other.sgid = gid_of(tb, a, rows[i].from);
		other.dgid = gid_of(tb, b, rows[i].to);
		connect_by(tb, listener, a, &other);
	}
	name_row("%s", "nobody's");
	client = conn_new(a);
	other = path;
	other.dgid.raw[15] ^= NOBODY;
	conn_request(client, .service = SERVICE, .path = &other);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(client->last.cm.param.rej_rcvd.reason, IB_CM_REJ_INVALID_GID);
	other.sgid = gid_of(tb, b, SECOND);
	conn_req_param(client, &req, .service = SERVICE, .path = &other);
	if (!still_right())
		return;
	must_fail(-EINVAL, ib_send_cm_req(client->id, &req));
	conn_end(client);
	conn_end(listener);
}
