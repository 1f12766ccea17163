/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by the calls of librdmacm that do not come about: each end hears of it once, with the event, status and private data that Linux's
 * rdma_cm has for it. A rejection or an acceptance that fails leaves the request as it was: the user may answer again, either way.
 */
#include "testbench/harm.h"
#include "testbench/iwarp.h"

#define ID(rdma) tb_rdma_iw_id(rdma)

static struct tb_rdma_iw *dialled(struct tb *tb, struct tb_end *a, const struct iw_options *options)
{
	struct tb_rdma_iw *client = rdma_iw_resolved(a);

	must(rdma_iw_connect(ID(client), options, NULL, 0));
	expect_message(a_to_b, "MPA ID Req Frame");
	return client;
}

static void established(struct tb *tb, struct tb_rdma_iw *client, struct tb_rdma_iw *server)
{
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 crc s");
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_rdma_iw(client, ESTABLISHED);
	expect_rdma_iw(server, ESTABLISHED);
	must(rdma_iw_disconnect(ID(client)));
	expect_rdma_iw(server, DISCONNECTED);
	expect_rdma_iw(client, DISCONNECTED);
}

static void rejected(struct tb *tb, struct tb_rdma_iw *client, struct tb_rdma_iw *server)
{
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected");
	expect_rdma_iw(client, REJECTED, .status = -ECONNREFUSED, .pdata = "no");
	must_fail(-EINVAL, rdma_iw_accept(ID(server), NULL, 0));
	must_fail(-EINVAL, rdma_iw_reject(ID(server), NULL, 0));
	must_fail(-EINVAL, rdma_iw_disconnect(ID(server)));
	expect_that(rdma_iw_connection(ID(server)) == NULL, ==, true);
}

/* What is said too long, or finds no memory, and then is said again. */
static void answers(struct tb *tb, struct tb_end *a, struct tb_rdma_iw *listener)
{
	static const uint8_t words[MPA_PDATA_MAX + 1];

	for (unsigned n = 0; n < 8 && still_right(); n++) {
		struct tb_rdma_iw *client, *server;

		name_row("%s fails for lack of %s, then %s", n & 1 ? "accept" : "reject",
			 n & 2 ? "memory" : "room", n & 4 ? "accept" : "reject");
		client = dialled(tb, a, NULL);
		server = expect_rdma_iw_request(listener);
		if (n & 2)
			lack_memory(1);
		if (n & 1)
			must_fail(n & 2 ? -ENOMEM : -EINVAL,
				  rdma_iw_accept(ID(server), words, n & 2 ? 0 : 509));
		else
			must_fail(n & 2 ? -ENOMEM : -EINVAL,
				  rdma_iw_reject(ID(server), words, n & 2 ? 0 : 513));
		expect_equal(lack_memory(0), n & 2 ? 1 : 0);
		expect_silence(CFG_MS(1));
		if (n & 4) {
			must(rdma_iw_accept(ID(server), NULL, 0));
			established(tb, client, server);
		} else {
			must(rdma_iw_reject(ID(server), (const uint8_t *)"no", 2));
			rejected(tb, client, server);
		}
		rdma_iw_forget(server);
		rdma_iw_forget(client);
	}
}

SCENARIO(iwarp_rdma_refused, "connections of librdmacm that fail, and answers that fail",
	 .bare = true)
{
	struct tb_rdma_iw *listener, *client, *server;

	name_row("%s", "nobody listens");
	client = rdma_iw_resolved(a);
	must(rdma_iw_connect(ID(client), NULL, NULL, 0));
	expect_rdma_iw(client, REJECTED, .status = -ECONNREFUSED, .pdata_len = 0);
	must_fail(-EINVAL, rdma_iw_disconnect(ID(client)));
	listener = rdma_iw_serve(b);
	answers(tb, a, listener);

	name_row("%s", "the server does not answer");
	client = dialled(tb, a, NULL);
	server = expect_rdma_iw_request(listener);
	expect_rdma_iw(client, UNREACHABLE, .status = -ETIMEDOUT);
	expect_rdma_iw(server, DISCONNECTED, .status = -ECONNRESET);
	must_fail(-EINVAL, rdma_iw_accept(ID(server), NULL, 0));

	name_row("%s", "the client goes before the answer");
	client = dialled(tb, a, NULL);
	server = expect_rdma_iw_request(listener);
	rdma_iw_forget(client);
	expect_rdma_iw(server, DISCONNECTED, .status = -ECONNRESET);
	must_fail(-EINVAL, rdma_iw_reject(ID(server), NULL, 0));

	name_row("%s", "the server goes instead of an answer");
	client = dialled(tb, a, TB_IW_OPTIONS(.fallback = 0));
	server = expect_rdma_iw_request(listener);
	rdma_iw_forget(server);
	expect_rdma_iw(client, REJECTED, .status = -ECONNRESET);

	name_row("%s", "the server goes after its answer");
	client = dialled(tb, a, TB_IW_OPTIONS(.after_reply_ms = 100));
	server = expect_rdma_iw_request(listener);
	must(rdma_iw_accept(ID(server), NULL, 0));
	expect_message(b_to_a, "MPA ID Rep Frame");
	pass_time(CFG_MS(1));
	must_fail(-EINVAL, rdma_iw_disconnect(ID(server)));
	rdma_iw_forget(server);
	expect_rdma_iw(client, REJECTED, .status = -ECONNRESET);

	name_row("%s", "the client is not ready in time");
	client = dialled(tb, a, TB_IW_OPTIONS(.breaks = IW_BREAKS_BIT(no_rtr)));
	server = expect_rdma_iw_request(listener);
	must(rdma_iw_accept(ID(server), NULL, 0));
	expect_message(b_to_a, "MPA ID Rep Frame");
	expect_rdma_iw(client, ESTABLISHED);
	expect_rdma_iw(server, DISCONNECTED, .status = -ETIMEDOUT);
	expect_rdma_iw(client, DISCONNECTED, .status = -ECONNRESET);

	name_row("%s", "the two ends do not fit");
	rdma_iw_forget(listener);
	listener = rdma_iw_serve(b, .kinds = MPA_RTR_WRITE);
	client = dialled(tb, a, TB_IW_OPTIONS(.kinds = MPA_RTR_READ));
	server = expect_rdma_iw_request(listener);
	must(rdma_iw_accept(ID(server), NULL, 0));
	expect_message(b_to_a, "MPA ID Rep Frame");
	expect_message(a_to_b, "TERMINATE");
	expect_rdma_iw(client, CONNECT_ERROR, .status = -EPROTO);
	expect_rdma_iw(server, DISCONNECTED);

	name_row("%s", "the listener goes while a request waits");
	client = dialled(tb, a, TB_IW_OPTIONS(.kinds = MPA_RTR_WRITE));
	server = expect_rdma_iw_request(listener);
	rdma_iw_forget(listener);
	must(rdma_iw_accept(ID(server), NULL, 0));
	established(tb, client, server);
	name_row("%s", "the listener goes while the stream opens");
	listener = rdma_iw_serve(b);
	client = rdma_iw_resolved(a);
	must(rdma_iw_connect(ID(client), TB_IW_OPTIONS(.fallback = 0), NULL, 0));
	pass_time(CFG_US(6)); /* the SYN is there */
	rdma_iw_forget(listener);
	expect_message(a_to_b, "MPA ID Req Frame");
	expect_rdma_iw(client, REJECTED, .status = -ECONNRESET);
	expect_silence(CFG_S(11));
}
