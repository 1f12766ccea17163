/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An id is destroyed while a message for it is looked at: a listener while it is a REQ, one end of a connection
 * while it is a LAP. The P_Key table is read for both, which takes its time, and the moment moves on from
 * round to round. The peer hears what it must, and nobody uses what is gone. In the same way the subnet manager
 * moves to another LID while the port is looked at: the next question goes there. Two threads that ask at about the
 * same time, when the port has changed, both find it as it is now.
 */
/* behaviours: IBA-12.6.7-reject-reasons IBA-15.2.5.16-path-record */
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
	STEP_US = 2,
	NOBODY = 0x77, /* a LID */
	TRY_MS = 1
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

/* --- a subnet manager that moves --- */

static struct asker {
	struct platform *platform;
	struct ib_device *device;
	uint64_t after_ps;
	struct ib_sa_client client;
	struct ib_sa_query *query;
	bool answered;
} asker;

static void path_came(int status, struct sa_path_rec *path, unsigned num, void *arg)
{
	((struct asker *)arg)->answered = true;
}

static void ask_later(void *arg)
{
	struct asker *k = arg;
	struct sa_path_rec rec = {.numb_path = 1};

	k->platform->ops->sleep_ps(k->platform, k->after_ps);
	ib_sa_path_rec_get(&k->client, k->device, PORT, &rec, IB_SA_PATH_REC_NUMB_PATH, TRY_MS,
			   GFP_KERNEL, path_came, k, &k->query);
}

/* Tells the port at the other end of a's cable where the subnet manager is. */
static void manager_moves(struct tb *tb, struct tb_end *a, unsigned lid)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = 1);
	info = port_info_to_set(&answer);
	port_info_set_sm_lid(&info, lid);
	port_info_set_client_rereg(&info, 1);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = PORT,
	    .hops = 1, .data = &info);
}

static void manager_comes(struct tb *tb, struct tb_end *a, struct tb_end *b, uint64_t after_ps)
{
	struct sa_path_rec path;

	manager_moves(tb, a, NOBODY);
	asker = (struct asker){b->platform, ib_device_of(b), .after_ps = after_ps};
	b->platform->ops->thread_start(b->platform, "asks", ask_later, &asker);
	manager_moves(tb, a, a->lid);
	pass_time(CFG_MS(10));
	expect_true(asker.answered);
	ask_path(b, &path);
}

/* --- two threads that need the port's attributes --- */

static struct first {
	struct ib_cm_id *id;
	const struct ib_cm_sidr_req_param *ask;
	int rc;
	bool done;
} first;

static void first_asks(void *arg)
{
	struct first *f = arg;

	f->rc = ib_send_cm_sidr_req(f->id, f->ask);
	f->done = true;
}

static int hears(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return 0;
}

/* The partition moves to the other place of the table from round to round. Who goes by the table of before does
 * not find it. */
static void both_ask(struct tb *tb, struct tb_end *a, const struct sa_path_rec *path,
		     unsigned round)
{
	const struct ib_cm_sidr_req_param ask = {
		.path = path, .service_id = htobe64(SERVICE + 2), .timeout_ms = TRY_MS};
	struct ib_cm_id *id = kv_made(ib_create_cm_id(ib_device_of(a), hears, NULL));

	first = (struct first){.id = kv_made(ib_create_cm_id(ib_device_of(a), hears, NULL)),
			       .ask = &ask};
	if (!id || !first.id)
		return;
	if (round % 2)
		write_pkeys(a, PORT, 0, PARTITION, PKEY_DEFAULT);
	else
		write_pkeys(a, PORT, 0, PKEY_DEFAULT, PARTITION);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
	pass_time(CFG_US(100));
	a->platform->ops->thread_start(a->platform, "first", first_asks, &first);
	pass_time(round * CFG_US(STEP_US));
	must(ib_send_cm_sidr_req(id, &ask));
	for (unsigned i = 0; i < 1000 && !first.done; i++)
		pass_time(CFG_US(10));
	expect_true(first.done);
	expect_equal(first.rc, 0);
	pass_time(CFG_MS(TRY_MS));
	ib_destroy_cm_id(first.id);
	ib_destroy_cm_id(id);
}

SCENARIO(cm_goes_meanwhile,
	 "ids are destroyed while messages for them are looked at, and the manager moves",
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
	phase("two ask");
	for (unsigned i = 0; i < ROUNDS && still_right(); i++)
		both_ask(tb, a, &path, i);
	write_pkeys(a, PORT, 0, PKEY_DEFAULT, [INDEX_A] = PARTITION);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
	phase("a subnet manager");
	ignore_events(b);
	for (unsigned i = 0; i < ROUNDS && still_right(); i++)
		manager_comes(tb, a, b, i * CFG_US(STEP_US));
}
