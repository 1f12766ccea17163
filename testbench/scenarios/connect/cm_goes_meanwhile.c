/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An id is destroyed while a message for it is looked at: a listener while it is a REQ, one end of a connection
 * while it is a LAP. The P_Key table is read for both, which takes its time, and the moment moves on from
 * round to round. The peer hears what it must, and nobody uses what is gone.
 */
/* behaviours: IBA-12.6.7-reject-reasons */
#include "testbench/connect.h"
#include "testbench/kernel_verbs.h"
#include "testbench/manage.h"

enum {
	SERVICE = 7,
	PARTITION = 0x8012,
	INDEX_A = 1,
	INDEX_B = 3,
	PORT = 1,
	ROUNDS = 40,
	STEP_US = 2
};

static int refuses(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return -ECONNREFUSED;
}

static void listener_goes(struct tb *tb, struct conn *client, const struct sa_path_rec *path,
			  uint64_t after_ps)
{
	struct ib_cm_id *listener =
		kv_made(ib_create_cm_id(ib_device_of(client->end->peer), refuses, NULL));

	if (!listener)
		return;
	must(ib_cm_listen(listener, htobe64(SERVICE + 1)));
	conn_request(client, .service = SERVICE + 1, .path = path);
	pass_time(after_ps);
	ib_destroy_cm_id(listener);
	expect_cm(client, IB_CM_REJ_RECEIVED);
}

static void end_goes(struct tb *tb, struct tb_end *a, struct conn *listener,
		     const struct sa_path_rec *path, uint64_t after_ps)
{
	struct conn *client = conn_new(a),
		    *server = conn_establish(client, listener, .service = SERVICE, .path = path);

	if (!still_right())
		return;
	must(ib_send_cm_lap(client->id, path, NULL, 0));
	pass_time(after_ps);
	server->count = 0; /* it may have heard of the LAP */
	conn_end(server);
	expect_cm(client, IB_CM_DREQ_RECEIVED);
	must(ib_send_cm_drep(client->id, NULL, 0));
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	conn_end(client);
}

SCENARIO(cm_goes_meanwhile, "ids are destroyed while messages for them are looked at",
	 .no_qps = true, .any_packets = true)
{
	struct conn *listener, *client;
	struct sa_path_rec path;

	write_pkeys(a, PORT, 0, PKEY_DEFAULT, [INDEX_A] = PARTITION);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
	write_pkeys(a, PORT, 1, PKEY_DEFAULT, [INDEX_B] = PARTITION);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	path.pkey = htobe16(PARTITION);
	phase("a listener");
	for (unsigned i = 0; i < ROUNDS && still_right(); i++)
		listener_goes(tb, client, &path, i * CFG_US(STEP_US));
	phase("an end of a connection");
	for (unsigned i = 0; i < ROUNDS && still_right(); i++)
		end_goes(tb, a, listener, &path, i * CFG_US(STEP_US));
	conn_end(client);
	conn_end(listener);
}
