/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of librdmacm that find no memory, and ids that end. A call that finds none has no effect, and does what it should when it is made again. An
 * id is destroyed in each of its states, from outside and from its own events, and nothing of it is told or left afterwards.
 */
#include "testbench/harm.h"
#include "testbench/iwarp.h"

#define ID(rdma) tb_rdma_iw_id(rdma)

/* Calls, with one allocation more each time that succeeds, until it finds all the memory. */
#define IN_STEPS(call)                                                                             \
	for (unsigned nth_ = 1, more_ = 1; more_ && still_right(); nth_++) {                       \
		int ret_;                                                                          \
                                                                                                   \
		lack_memory(nth_);                                                                 \
		ret_ = (call);                                                                     \
		more_ = lack_memory(0);                                                            \
		expect_equal(ret_, more_ ? -ENOMEM : 0);                                           \
	}

static void without_memory(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_rdma_iw *listener = rdma_iw_new(b), *client = rdma_iw_resolved(a), *server;

	name_row("%s", "no memory");
	IN_STEPS(rdma_iw_listen(ID(listener), TB_IW_PORT, NULL));
	IN_STEPS(rdma_iw_connect(ID(client), NULL, (const uint8_t *)"hello", 5));
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_rdma_iw_request(listener, .pdata = "hello");
	IN_STEPS(rdma_iw_accept(ID(server), (const uint8_t *)"yes", 3));
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_rdma_iw(client, ESTABLISHED, .pdata = "yes");
	expect_rdma_iw(server, ESTABLISHED);
	must(rdma_iw_disconnect(ID(server)));
	expect_rdma_iw(client, DISCONNECTED);
	expect_rdma_iw(server, DISCONNECTED);
	rdma_iw_forget(client);
	rdma_iw_forget(server);
	rdma_iw_forget(listener);
}

/* A port that is taken, and then is free. */
static void port_taken(struct tb *tb, struct tb_end *b)
{
	struct tb_rdma_iw *first = rdma_iw_serve(b), *second = rdma_iw_new(b);

	name_row("%s", "a port that is taken");
	must_fail(-EADDRINUSE, rdma_iw_listen(ID(second), TB_IW_PORT, NULL));
	rdma_iw_forget(first);
	must(rdma_iw_listen(ID(second), TB_IW_PORT, NULL));
	rdma_iw_forget(second);
}

/* Before and while the client connects. */
static void client_goes(struct tb *tb, struct tb_end *a)
{
	struct tb_rdma_iw *client = rdma_iw_new(a);

	name_row("%s", "the client goes before it is connected");
	rdma_iw_forget(client);
	client = rdma_iw_resolved(a);
	rdma_iw_forget(client);
	client = rdma_iw_resolved(a);
	must(rdma_iw_connect(ID(client), NULL, NULL, 0));
	rdma_iw_forget(client);
	client = rdma_iw_new(a);
	rdma_iw_within(client, ADDR_RESOLVED, IW_DO_FORGET);
	must(rdma_iw_resolve_addr(ID(client), (struct iw_address){.port = TB_IW_PORT}));
	expect_rdma_iw(client, ADDR_RESOLVED);
	expect_silence(CFG_MS(1));
}

static void within_request(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const enum tb_iw_act acts[] = {IW_DO_TAKE, IW_DO_REFUSE, IW_DO_FORGET};

	for (unsigned n = 0; n < 3 && still_right(); n++) {
		struct tb_rdma_iw *listener = rdma_iw_serve(b), *client = rdma_iw_resolved(a);
		struct tb_rdma_iw *server;

		name_row("act %u within CONNECT_REQUEST", acts[n]);
		rdma_iw_within(listener, CONNECT_REQUEST, acts[n]);
		must(rdma_iw_connect(ID(client), TB_IW_OPTIONS(.fallback = 0), NULL, 0));
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_rdma_iw_request(listener);
		if (n < 2)
			expect_message(b_to_a, n ? "MPA ID Rep Frame rev 2 rejected"
						 : "MPA ID Rep Frame rev 2 crc");
		if (n) {
			expect_rdma_iw(client, REJECTED,
				       .status = n == 1 ? -ECONNREFUSED : -ECONNRESET);
		} else {
			expect_message(a_to_b, "WRITE, 0 bytes");
			expect_rdma_iw(client, ESTABLISHED);
			expect_rdma_iw(server, ESTABLISHED);
			rdma_iw_forget(client);
			expect_rdma_iw(server, DISCONNECTED, .status = -ECONNRESET);
		}
		rdma_iw_forget(listener);
	}
}

/* One end acts within ESTABLISHED, where the client's program sends first within accept itself; or within DISCONNECTED. */
static void within_others(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for (unsigned n = 0; n < 16 && still_right(); n++) {
		const bool first = n & 1, of_server = n & 2, forget = n & 4, at_end = n & 8;
		struct tb_rdma_iw *listener = rdma_iw_serve(b), *client = rdma_iw_resolved(a);
		struct tb_rdma_iw *server, *actor, *other;

		name_row("%s, the %s %s within %s", first ? "client first" : "rtr message",
			 of_server ? "server" : "client", forget ? "goes" : "disconnects",
			 at_end ? "DISCONNECTED" : "ESTABLISHED");
		must(rdma_iw_connect(
			ID(client),
			TB_IW_OPTIONS(.design = first ? IW_CLIENT_FIRST : IW_RTR_MESSAGE), NULL,
			0));
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_rdma_iw_request(listener);
		actor = of_server ? server : client;
		other = of_server ? client : server;
		if (at_end)
			rdma_iw_within(actor, DISCONNECTED, forget ? IW_DO_FORGET : IW_DO_NOTHING);
		else
			rdma_iw_within(actor, ESTABLISHED, forget ? IW_DO_FORGET : IW_DO_HANG_UP);
		must(rdma_iw_accept(ID(server), NULL, 0));
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		if (of_server && first && !at_end && forget) {
			/* the Reply and the RST come together */
			expect_rdma_iw(server, ESTABLISHED);
			expect_rdma_iw(client, ESTABLISHED);
			expect_rdma_iw(client, DISCONNECTED, .status = -ECONNRESET);
			rdma_iw_forget(client);
			rdma_iw_forget(listener);
			continue;
		}
		if (!first)
			expect_message(a_to_b, "WRITE, 0 bytes");
		expect_rdma_iw(client, ESTABLISHED);
		expect_rdma_iw(server, ESTABLISHED);
		if (at_end)
			must(rdma_iw_disconnect(ID(client)));
		expect_rdma_iw(other, DISCONNECTED, .status = !at_end && forget ? -ECONNRESET : 0);
		if (at_end || !forget)
			expect_rdma_iw(actor, DISCONNECTED);
		if (ID(actor))
			rdma_iw_forget(actor);
		rdma_iw_forget(other);
		rdma_iw_forget(listener);
	}
}

SCENARIO(iwarp_rdma_objects, "ids of librdmacm without memory, and their ends", .bare = true)
{
	without_memory(tb, a, b);
	port_taken(tb, b);
	client_goes(tb, a);
	within_request(tb, a, b);
	within_others(tb, a, b);
	expect_silence(CFG_S(11));
}
