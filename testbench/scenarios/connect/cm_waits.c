/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each side waits as long as the other has said in the REQ, and as often as the REQ says: the server for
 * its RTU, either side for a DREP or an APR. The two times differ, and so do the ACK delays of the devices,
 * on which the time-wait of the client depends. That of the server depends on the ACK timeout that the
 * client has stated for its path.
 */
/* behaviours: IBA-12.9-retries IBA-12.9-timewait */
#include "testbench/connect.h"

enum { SERVICE = 7, LIFE = 11 };

#define UNIT_PS       UINT64_C(4096000)
#define CODE_PS(code) (UNIT_PS << (code))

struct row {
	const char *name;
	unsigned remote, local, retries;
};

/* What a call that lasted `ps` has come to. */
#define expect_lasted(c, begun, ps)                                                                \
	do {                                                                                       \
		expect_that((c)->last.time_ps, >, (begun) + (ps)-CFG_US(100));                     \
		expect_that((c)->last.time_ps, <, (begun) + (ps) + CFG_MS(1));                     \
	} while (0)

static unsigned delay_of(struct tb *tb, struct tb_end *end)
{
	struct drv_device_attr device = {0};

	must(drv_query_device(end->dev, &device));
	return device.local_ack_delay;
}

/* The ACK timeout that an end states: the least code that covers twice the life time and its delay. */
static unsigned ack_timeout(unsigned delay)
{
	unsigned code = 0;

	while (1u << code < (1u << delay) + (2u << LIFE))
		code++;
	return code;
}

static void request(struct tb *tb, struct conn *client, const struct row *row,
		    const struct sa_path_rec *path)
{
	struct ib_cm_req_param req;

	conn_req_param(client, &req, .service = SERVICE, .path = path);
	if (!still_right())
		return;
	req.remote_cm_response_timeout = (uint8_t)row->remote;
	req.local_cm_response_timeout = (uint8_t)row->local;
	req.max_cm_retries = (uint8_t)row->retries;
	must(ib_send_cm_req(client->id, &req));
}

static struct conn *connect_as(struct tb *tb, struct conn *client, struct conn *listener,
			       const struct row *row, const struct sa_path_rec *path)
{
	struct conn *server;

	request(tb, client, row, path);
	server = conn_accept(listener);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	if (!still_right())
		return server;
	must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	return server;
}

/* Nobody answers its LAP, and nobody its DREQ. */
static void waits(struct tb *tb, struct conn *c, const struct sa_path_rec *path, uint64_t answer_ps,
		  uint64_t timewait_ps, unsigned retries)
{
	const enum tb_direction out = c->end->index ? b_to_a : a_to_b;
	uint64_t begun = tb_now(tb);
	unsigned before, after;
	struct ib_cm_counters counters;

	if (!still_right())
		return;
	lose_mad(out, .times = retries + 1);
	must(ib_send_cm_lap(c->id, path, NULL, 0));
	expect_cm(c, IB_CM_LAP_ERROR);
	expect_lasted(c, begun, (retries + 1) * answer_ps);
	must(ib_cm_query_counters(ib_device_of(c->end), &counters));
	before = counters.tx_retries[IB_CM_MSG_DREQ];
	lose_mad(out, .times = retries + 1);
	begun = tb_now(tb);
	must(ib_send_cm_dreq(c->id, NULL, 0));
	expect_cm(c, IB_CM_DREQ_ERROR);
	expect_lasted(c, begun, (retries + 1) * answer_ps);
	expect_state(c, IB_CM_TIMEWAIT);
	begun = c->last.time_ps;
	expect_cm(c, IB_CM_TIMEWAIT_EXIT);
	expect_lasted(c, begun, timewait_ps);
	expect_state(c, IB_CM_IDLE);
	must(ib_cm_query_counters(ib_device_of(c->end), &counters));
	after = counters.tx_retries[IB_CM_MSG_DREQ];
	expect_equal(after - before, retries);
}

SCENARIO(cm_waits, "each side of a connection waits as long as the other has said", .no_qps = true,
	 .any_packets = true, .settings = {"hca0.local_ack_delay=13", "hca1.local_ack_delay=15"})
{
	static const struct row rows[] = {{"the server may take longer", 17, 12, 1},
					  {"the client may take longer", 13, 18, 2}};
	struct conn *listener, *client, *server;
	struct sa_path_rec path, back;
	const uint64_t back_ps = CODE_PS(ack_timeout(delay_of(tb, a))),
		       delay_b_ps = CODE_PS(delay_of(tb, b));
	uint64_t begun;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	ask_path(b, &back);
	path.packet_life_time = back.packet_life_time = LIFE;
	for_each_row(i, rows) {
		const uint64_t client_ps = CODE_PS(rows[i].remote) + 2 * CODE_PS(LIFE),
			       server_ps = CODE_PS(rows[i].local) + back_ps;
		const unsigned tries = rows[i].retries + 1;

		name_row("%s, no REP", rows[i].name);
		lose_mad(a_to_b, .times = tries);
		begun = tb_now(tb);
		request(tb, client, &rows[i], &path);
		expect_cm(client, IB_CM_REQ_ERROR);
		expect_lasted(client, begun, tries * client_ps);

		name_row("%s, no RTU", rows[i].name);
		request(tb, client, &rows[i], &path);
		server = conn_accept(listener);
		begun = tb_now(tb);
		conn_reply(server);
		expect_cm(server, IB_CM_REP_ERROR);
		if (!still_right())
			return;
		expect_lasted(server, begun, tries * server_ps);
		expect_cm(client, IB_CM_REP_RECEIVED);
		expect_cm(client, IB_CM_REJ_RECEIVED);
		conn_end(server);

		name_row("%s, the client asks", rows[i].name);
		server = connect_as(tb, client, listener, &rows[i], &path);
		waits(tb, client, &path, client_ps, 2 * CODE_PS(LIFE) + delay_b_ps,
		      rows[i].retries);
		must(ib_send_cm_dreq(server->id, NULL, 0));
		expect_cm(server, IB_CM_DREP_RECEIVED);
		expect_cm(server, IB_CM_TIMEWAIT_EXIT);
		conn_end(server);

		name_row("%s, the server asks", rows[i].name);
		server = connect_as(tb, client, listener, &rows[i], &path);
		if (!still_right())
			return;
		waits(tb, server, &back, server_ps, back_ps, rows[i].retries);
		conn_end(server);
		must(ib_send_cm_dreq(client->id, NULL, 0));
		expect_cm(client, IB_CM_DREP_RECEIVED);
		expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	}
	conn_end(client);
	conn_end(listener);
}
