/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An id of connection management is destroyed by one thread while its handler, or the handler of a
 * connection that it has just been asked for, runs in another: the call returns when the handler has
 * returned, and not before. The same with a query to the subnet administration: the query that is canceled
 * calls back once. Connection management that ends waits for its queries, and nobody gets anything new of it
 * then. An answer that comes in time counts, though a handler holds up who looks at it until it is too late.
 */
/* behaviours: IBA-12.6.7-reject-reasons */
#include "testbench/connect.h"
#include "testbench/kernel_verbs.h"

enum { SERVICE = 7, TIMEOUT_MS = 50, CODE = 7 /* 0.5 ms, less than a slow handler takes */ };

struct listening {
	struct ib_cm_id *child;
	struct platform *platform;
	unsigned begun, ended, others; /* others: events of other kinds */
	bool refuses;
};

static int slow(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct listening *l = id->context;

	if (event->event != IB_CM_REQ_RECEIVED && event->event != IB_CM_SIDR_REQ_RECEIVED) {
		l->others++;
		return 0;
	}
	l->child = id;
	l->begun++;
	l->platform->ops->sleep_ps(l->platform, CFG_MS(1));
	l->ended++;
	return l->refuses ? -ECONNREFUSED : 0; /* then the new id goes with the handler */
}

static struct ib_cm_id *listen_slowly(struct tb *tb, struct tb_end *b, struct listening *l)
{
	struct ib_cm_id *id = kv_made(ib_create_cm_id(ib_device_of(b), slow, l));

	if (id)
		must(ib_cm_listen(id, htobe64(SERVICE)));
	return id;
}

static void ask_qp(struct tb *tb, struct conn *client)
{
	struct sa_path_rec path;
	const struct ib_cm_sidr_req_param p = {
		.path = &path, .service_id = htobe64(SERVICE), .timeout_ms = TIMEOUT_MS};

	ask_path(client->end, &path);
	if (still_right())
		must(ib_send_cm_sidr_req(client->id, &p));
}

/* `listener_first`: it is destroyed while the handler runs, else the new id is. `sidr`: b is asked for a
 * datagram service, not for a connection. */
static void destroyed(struct tb *tb, struct tb_end *a, struct tb_end *b, bool sidr,
		      bool listener_first, bool refuses)
{
	struct listening l = {.platform = b->platform, .refuses = refuses};
	struct ib_cm_id *listener = listen_slowly(tb, b, &l);
	struct conn *client = conn_new(a);
	unsigned ended;

	if (!listener || !still_right())
		return;
	if (sidr)
		ask_qp(tb, client);
	else
		conn_request(client, .service = SERVICE);
	for (unsigned i = 0; i < 1000 && !l.begun; i++)
		pass_time(CFG_US(10));
	expect_equal(l.begun, 1);
	if (!still_right())
		return;
	ib_destroy_cm_id(listener_first ? listener : l.child);
	ended = l.ended;
	pass_time(CFG_MS(2)); /* a handler that still runs goes on with an id that is gone */
	expect_equal(ended, 1);
	/* a new id that is refused is gone by now, whoever was first */
	if (!listener_first || !refuses)
		ib_destroy_cm_id(listener_first ? l.child : listener);
	if (sidr) {
		expect_cm(client, IB_CM_SIDR_REP_RECEIVED);
		expect_equal(client->last.cm.param.sidr_rep_rcvd.status, IB_SIDR_REJECT);
	} else {
		expect_cm(client, IB_CM_REJ_RECEIVED);
	}
	conn_end(client);
}

/* The client gives up while the new id is being destroyed, whose handler still runs: the id hears of nothing more. */
static void given_up(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct listening l = {.platform = b->platform};
	struct ib_cm_id *listener = listen_slowly(tb, b, &l);
	struct conn *client = conn_new(a);

	conn_request(client, .service = SERVICE);
	for (unsigned i = 0; i < 1000 && !l.begun; i++)
		pass_time(CFG_US(10));
	conn_end(client);
	expect_equal(l.ended, 0);
	if (!listener || !still_right())
		return;
	pass_time(CFG_US(100)); /* its REJ waits for the thread */
	ib_destroy_cm_id(l.child);
	expect_equal(l.ended, 1);
	pass_time(CFG_MS(2));
	expect_equal(l.others, 0);
	ib_destroy_cm_id(listener);
}

struct answered {
	unsigned calls;
	int status;
};

static void answer(int status, struct sa_path_rec *path, unsigned n, void *context)
{
	struct answered *answered = context;

	answered->calls++;
	answered->status = status;
}

/* The query is on its way when it is canceled. */
static void canceled(struct tb *tb, struct tb_end *b)
{
	struct ib_device *device = ib_device_of(b);
	struct sa_path_rec path = {.numb_path = 1, .reversible = 1};
	struct ib_sa_client client;
	struct ib_sa_query *query;
	struct answered answered = {0};
	int number;

	ib_sa_register_client(&client);
	number = ib_sa_path_rec_get(&client, device, 1, &path, 0, TIMEOUT_MS, 0, answer, &answered,
				    &query);
	expect_that(number, >, 0);
	if (!still_right())
		return;
	ib_sa_cancel_query(number, query);
	pass_time(CFG_MS(TIMEOUT_MS));
	expect_equal(answered.calls, 1);
	expect_equal(answered.status, -ECANCELED);
	ib_sa_unregister_client(&client);
}

struct detaching {
	struct ib_device *device;
	int rc;
	bool done;
};

static void detaches(void *arg)
{
	struct detaching *d = arg;

	d->rc = ib_cm_detach(d->device);
	d->done = true;
}

/* Connection management ends while nobody answers a query of it. */
static void ends(struct tb *tb, struct tb_end *b)
{
	struct detaching d = {.device = ib_device_of(b)};
	struct sa_path_rec path = {.numb_path = 1, .reversible = 1};
	struct answered answered = {0};
	struct ib_cm_counters counters;
	struct ib_sa_client client;
	struct ib_sa_query *query;

	ib_sa_register_client(&client);
	lose_mad(b_to_a);
	expect_that(ib_sa_path_rec_get(&client, d.device, 1, &path, 0, TIMEOUT_MS, 0, answer,
				       &answered, &query),
		    >, 0);
	if (!still_right())
		return;
	pass_time(CFG_MS(1)); /* it has been asked */
	b->platform->ops->thread_start(b->platform, "detaches", detaches, &d);
	pass_time(CFG_MS(1));
	expect_true(!d.done);
	must_fail(-ENODEV, (int)PTR_ERR(ib_create_cm_id(d.device, NULL, NULL)));
	must_fail(-ENODEV, ib_cm_query_counters(d.device, &counters));
	must_fail(-ENODEV, ib_sa_path_rec_get(&client, d.device, 1, &path, 0, TIMEOUT_MS, 0, answer,
					      &answered, &query));
	pass_time(2 * CFG_MS(TIMEOUT_MS));
	expect_true(d.done && !d.rc);
	expect_equal(answered.calls, 1);
	expect_equal(answered.status, -ECANCELED);
	ib_sa_unregister_client(&client);
	must(ib_cm_attach(d.device));
}

static void answered_meanwhile(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct listening l = {.platform = b->platform, .refuses = true};
	struct ib_cm_id *slow_listener = listen_slowly(tb, b, &l), *id;
	struct conn *listener = conn_listen(a, SERVICE), *holds_up = conn_new(a),
		    *client = conn_new(b);
	struct ib_cm_rep_param rep = {.qp_num = 1};
	struct ib_cm_req_param slow_req, req;
	struct sa_path_rec path, back;

	ask_path(a, &back);
	ask_path(b, &path);
	path.packet_life_time = 0;
	conn_req_param(holds_up, &slow_req, .service = SERVICE, .path = &back);
	conn_req_param(client, &req, .service = SERVICE, .path = &path, .response_timeout = CODE,
		       .no_retries = true);
	if (!still_right())
		return;
	must(ib_send_cm_req(holds_up->id, &slow_req));
	must(ib_send_cm_req(client->id, &req));
	expect_cm(listener, IB_CM_REQ_RECEIVED);
	if (!still_right())
		return;
	id = listener->last.id;
	must(ib_send_cm_rep(id, &rep));
	expect_equal(l.ended, 0);
	expect_cm(client, IB_CM_REP_RECEIVED);
	expect_equal(l.ended, 1);
	expect_cm(holds_up, IB_CM_REJ_RECEIVED);
	ib_destroy_cm_id(id);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	conn_end(client);
	conn_end(holds_up);
	conn_end(listener);
	if (slow_listener)
		ib_destroy_cm_id(slow_listener);
}

SCENARIO(cm_handler_runs, "ids of connection management are destroyed while their handlers run",
	 .no_qps = true, .any_packets = true)
{
	start_cm();
	for (unsigned sidr = 0; sidr < 2; sidr++) {
		phase(sidr ? "the listener of a service" : "the listener");
		destroyed(tb, a, b, sidr, true, false);
		phase("the listener, whose handler refuses");
		destroyed(tb, a, b, sidr, true, true);
		phase("the new id");
		destroyed(tb, a, b, sidr, false, false);
		phase("the new id, whose handler refuses");
		destroyed(tb, a, b, sidr, false, true);
	}
	phase("the new id, whose client gives up");
	given_up(tb, a, b);
	phase("a query");
	canceled(tb, b);
	phase("an answer meanwhile");
	answered_meanwhile(tb, a, b);
	if (b->ethernet) /* it asks no subnet administration */
		return;
	phase("connection management");
	ends(tb, b);
}
