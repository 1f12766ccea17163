/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by the calls of librdmacm. Private data and depths of each end have values of their own and arrive at the other end; what is not
 * negotiated is told as open. Both ends hear ESTABLISHED once and DISCONNECTED once, whoever ends it. A call whose state is not right changes nothing.
 */
#include "testbench/iwarp.h"

#define ID(rdma) tb_rdma_iw_id(rdma)

static const struct row {
	const char *name;
	uint32_t rev, design;
	const char *first; /* message of the client behind the Reply */
	unsigned asked_resources, asked_depth;
	unsigned resources, depth, its_resources, its_depth;
} rows[] = {
	{"rdma message", 2, IW_RTR_MESSAGE, "WRITE, 0 bytes", 3, 5, 5, 3, 3, 5},
	{"rtr frame", 1, IW_RTR_FRAME, "MPA ID Rtr Frame", 16383, 16383, 5, 3, 6, 7},
	{"client first", 2, IW_CLIENT_FIRST, NULL, 3, 5, 5, 3, 3, 5},
	{"client first, revision 1", 1, IW_CLIENT_FIRST, NULL, 16383, 16383, 5, 3, 6, 7},
};

/* Nothing but what is right now. */
static void refused(struct tb *tb, struct tb_rdma_iw *rdma, bool may_connect, bool may_answer)
{
	must_fail(-EINVAL, rdma_iw_resolve_addr(ID(rdma), (struct iw_address){.port = 1}));
	must_fail(-EINVAL, rdma_iw_resolve_route(ID(rdma)));
	must_fail(-EINVAL, rdma_iw_listen(ID(rdma), 1, NULL));
	if (!may_connect)
		must_fail(-EINVAL, rdma_iw_connect(ID(rdma), NULL, NULL, 0));
	if (may_answer)
		return;
	must_fail(-EINVAL, rdma_iw_accept(ID(rdma), NULL, 0));
	must_fail(-EINVAL, rdma_iw_reject(ID(rdma), NULL, 0));
}

static void play(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct row *row,
		 bool server_ends)
{
	struct tb_rdma_iw *client = rdma_iw_resolved(a), *server, *listener;
	uint8_t buffer[8];

	listener = rdma_iw_serve(b, .ird = 6, .ord = 7, .design = row->design);
	refused(tb, client, true, false);
	refused(tb, listener, false, false);
	must_fail(-EINVAL, rdma_iw_disconnect(ID(client)));
	must_fail(-EINVAL, rdma_iw_disconnect(ID(listener)));
	must(rdma_iw_connect(
		ID(client),
		TB_IW_OPTIONS(.rev = row->rev, .design = row->design, .ird = 5, .ord = 3),
		(const uint8_t *)"hello", 5));
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_rdma_iw_request(listener, .pdata = "hello",
					.responder_resources = row->asked_resources,
					.initiator_depth = row->asked_depth);
	refused(tb, client, false, true);
	refused(tb, server, false, true);
	must_fail(-EINVAL, rdma_iw_disconnect(ID(server)));
	must(iw_post_recv(rdma_iw_connection(ID(server)), 1, buffer, sizeof(buffer)));
	must(rdma_iw_accept(ID(server), (const uint8_t *)"welcome", 7));
	expect_message(b_to_a, "MPA ID Rep Frame");
	expect_rdma_iw(client, ESTABLISHED, .pdata = "welcome",
		       .responder_resources = row->resources, .initiator_depth = row->depth);
	if (row->first)
		expect_message(a_to_b, row->first);
	expect_rdma_iw(server, ESTABLISHED, .pdata_len = 0,
		       .responder_resources = row->its_resources,
		       .initiator_depth = row->its_depth);
	refused(tb, client, false, false);
	refused(tb, server, false, false);
	must(iw_post_send(rdma_iw_connection(ID(client)), 1, (const uint8_t *)"data", 4));
	expect_message(a_to_b, "SEND, 4 bytes");
	pass_time(CFG_US(20));
	expect_equal(memcmp(buffer, "data", 4), 0);
	must(rdma_iw_disconnect(ID(server_ends ? server : client)));
	must_fail(-ENOTCONN, rdma_iw_disconnect(ID(server_ends ? server : client)));
	expect_rdma_iw(server, DISCONNECTED);
	expect_rdma_iw(client, DISCONNECTED);
	refused(tb, client, false, false);
	refused(tb, server, false, false);
	must_fail(-EINVAL, rdma_iw_disconnect(ID(client)));
	rdma_iw_forget(client);
	rdma_iw_forget(listener);
	rdma_iw_forget(server);
}

SCENARIO(iwarp_rdma_connect, "private data and depths by the calls of librdmacm", .bare = true)
{
	for_each_row(i, rows) {
		for (unsigned n = 0; n < 2 && still_right(); n++) {
			name_row("%s, the %s ends it", rows[i].name, n ? "server" : "client");
			play(tb, a, b, &rows[i], n);
		}
	}
	expect_silence(CFG_S(11));
}
