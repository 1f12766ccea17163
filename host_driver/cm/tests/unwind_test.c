/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole connection by rdma_cm, from the event channels to the end, and the same for datagrams
 * with ids that make their own CQs. The nth allocation or the nth command fails on any host, for
 * all n. Either everything still goes well (a message is lost and sent again), or a call or an
 * event reports the failure. When the processes have ended, nothing of the connection is left.
 * Single functions of ib_cm are tested, too: right after a failure everything is as before the
 * call.
 */
#include "host_driver/cm/tests/cm_rig.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/macros.h"

#include <errno.h>

enum { SERVICE_PORT = 5, NTH_MAX = 400, EVENT_S = 30, POLL_MS = 20, TIMEOUT_MS = 100 };

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
};

static struct side sides[HOSTS];
static enum rdma_port_space ps;
static unsigned ended_well;

static void be(unsigned who)
{
	rig.who = who;
}

/* The channels do not block, because an event may have been lost for want of memory. */
static int next(unsigned who, enum rdma_cm_event_type wanted)
{
	const uint64_t deadline = rig_now() + EVENT_S * RIG_S;
	struct rdma_cm_event *event;
	bool right;

	be(who);
	while (rdma_get_cm_event(sides[who].channel, &event)) {
		if (errno != EAGAIN || rig_now() > deadline)
			return -1;
		rig_sleep(POLL_MS * RIG_MS);
		be(who);
	}
	right = event->event == wanted;
	if (wanted == RDMA_CM_EVENT_CONNECT_REQUEST && right)
		sides[who].id = event->id;
	rdma_ack_cm_event(event);
	return right ? 0 : -1;
}

static int open_channel(unsigned who)
{
	be(who);
	sides[who].channel = rdma_create_event_channel();
	if (!sides[who].channel)
		return -1;
	return uv_set_nonblock(&rig.process[who], sides[who].channel->fd, true);
}

static int make_qp(unsigned who)
{
	struct side *s = &sides[who];
	struct ibv_qp_init_attr attr = {
		.qp_type = s->id->qp_type,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	be(who);
	if (ps == RDMA_PS_UDP)
		return rdma_create_qp(s->id, NULL, &attr);
	s->cq = ibv_create_cq(s->id->verbs, 2, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = s->cq;
	return s->cq ? rdma_create_qp(s->id, NULL, &attr) : -1;
}

static int connect_both(void)
{
	struct sockaddr_in to = rig_addr(1, SERVICE_PORT), any = {.sin_family = AF_INET};
	struct rdma_cm_id *listener;

	any.sin_port = to.sin_port;
	if (open_channel(1) || rdma_create_id(sides[1].channel, &listener, NULL, ps) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&any) || rdma_listen(listener, 2))
		return -1;
	if (open_channel(0) || rdma_create_id(sides[0].channel, &sides[0].id, NULL, ps) ||
	    rdma_resolve_addr(sides[0].id, NULL, (struct sockaddr *)&to, TIMEOUT_MS) ||
	    next(0, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(sides[0].id, TIMEOUT_MS) ||
	    next(0, RDMA_CM_EVENT_ROUTE_RESOLVED) || make_qp(0) || rdma_connect(sides[0].id, NULL))
		return -1;
	if (next(1, RDMA_CM_EVENT_CONNECT_REQUEST) || make_qp(1) || rdma_accept(sides[1].id, NULL))
		return -1;
	return next(0, RDMA_CM_EVENT_ESTABLISHED) ||
	       (ps == RDMA_PS_TCP && next(1, RDMA_CM_EVENT_ESTABLISHED));
}

static int disconnect_both(void)
{
	be(0);
	if (ps == RDMA_PS_UDP)
		goto destroy;
	if (rdma_disconnect(sides[0].id) || next(1, RDMA_CM_EVENT_DISCONNECTED))
		return -1;
	be(1);
	if (rdma_disconnect(sides[1].id) || next(0, RDMA_CM_EVENT_DISCONNECTED))
		return -1;
destroy:
	for (unsigned i = 0; i < HOSTS; i++) {
		be(i);
		rdma_destroy_qp(sides[i].id);
		if (rdma_destroy_id(sides[i].id))
			return -1;
	}
	return 0;
}

/* Makes cached port data invalid, so that it is queried again: these are more commands that can
 * fail. */
static void forget(void)
{
	for (unsigned i = 0; i < HOSTS; i++)
		cm_of(rig.ib[i])->ports[RIG_PORT].valid = false;
}

/* Runs one connection in which the nth operation fails. False: there was no nth operation. */
static bool connection(enum failing kind, unsigned nth)
{
	struct held before;
	int rc;

	look(&before);
	memset(sides, 0, sizeof(sides));
	forget();
	arm(kind, nth);
	rc = connect_both();
	if (!rc)
		rc = disconnect_both();
	failure.armed = false;
	if (rc && !failure.fired)
		wrong("a connection fails by itself", (long)nth, 0);
	rig.failures[kind] += failure.fired;
	ended_well += failure.fired && !rc;
	processes_end();
	rig_sleep(POLL_MS * RIG_MS); /* lets the other side's manager finish */
	unchanged(&before, "after a connection", nth);
	if (!processes_start())
		wrong("processes", 0, 0);
	return failure.fired;
}

static void connections(enum rdma_port_space space)
{
	ps = space;
	/* A first run without failures: it makes what the driver keeps for later use. */
	connection(FAIL_ALLOCATION, 0);
	for (enum failing kind = 0; kind < KINDS; kind++)
		for (unsigned nth = 1; nth < NTH_MAX && connection(kind, nth); nth++)
			;
}

/* --- single functions --- */

static int nothing(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return 0;
}

static struct ib_cm_id *one_id;
static struct sa_path_rec one_path;

static int call_create(void)
{
	struct ib_cm_id *id = ib_create_cm_id(rig.ib[0], nothing, NULL);

	if (IS_ERR(id))
		return (int)PTR_ERR(id);
	ib_destroy_cm_id(id);
	return 0;
}

static int call_req(void)
{
	const struct ib_cm_req_param p = {.primary_path = &one_path,
					  .service_id = htobe64(1),
					  .qp_num = 5,
					  .qp_type = IB_QPT_RC,
					  .remote_cm_response_timeout = 14,
					  .local_cm_response_timeout = 14};
	int rc = ib_send_cm_req(one_id, &p);

	if (!rc)
		rc = ib_send_cm_rej(one_id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
	return rc;
}

static int call_sidr(void)
{
	const struct ib_cm_sidr_req_param p = {
		.path = &one_path, .service_id = htobe64(1), .timeout_ms = 1};
	int rc = ib_send_cm_sidr_req(one_id, &p);

	while (!rc && one_id->state != IB_CM_IDLE)
		rig_sleep(RIG_MS);
	return rc;
}

static int call_attach(void)
{
	int rc = ib_cm_detach(rig.ib[0]) ? -EBUSY : ib_cm_attach(rig.ib[0]);
	const bool armed = failure.armed;

	failure.armed = false;
	if (rc)
		check("ib_cm_attach again", ib_cm_attach(rig.ib[0]), 0);
	for (unsigned of = 0; of < HOSTS; of++) {
		struct sockaddr_in a = rig_addr(of, 0);

		cma_addr_add(rig.ib[0], (struct sockaddr *)&a, &rig.gid[of], RIG_PORT, !of);
	}
	failure.armed = armed;
	return rc;
}

static void single(const char *name, int (*call)(void), bool needs_id)
{
	struct held before;

	for (enum failing kind = 0; kind < KINDS; kind++)
		for (unsigned nth = 1; nth < NTH_MAX; nth++) {
			int rc;

			if (needs_id)
				one_id = ib_create_cm_id(rig.ib[0], nothing, NULL);
			look(&before);
			forget();
			arm(kind, nth);
			rc = call();
			failure.armed = false;
			if (rc) {
				/* the other side's manager may still answer a message */
				rig_sleep(RIG_MS);
				unchanged(&before, name, nth);
			}
			if (needs_id) {
				check("it is idle", one_id->state, IB_CM_IDLE);
				ib_destroy_cm_id(one_id);
			}
			rig.failures[kind] += rc != 0;
			if (!failure.fired && rc)
				wrong(name, rc, 0);
			if (!failure.fired)
				break;
		}
}

static void run(void)
{
	one_path = (struct sa_path_rec){.sgid = rig.gid[0],
					.dgid = rig.gid[1],
					.pkey = htobe16(0xffff),
					.mtu = IBV_MTU_1024,
					.packet_life_time = 10,
					.ib = {.dlid = htobe16(2), .slid = htobe16(1)}};
	connections(RDMA_PS_TCP);
	connections(RDMA_PS_UDP);
	single("ib_create_cm_id", call_create, false);
	single("ib_send_cm_req", call_req, true);
	single("ib_send_cm_sidr_req", call_sidr, true);
	single("ib_cm_attach", call_attach, false);
}

static void every_failure_was_tried(void **state)
{
	print_message("%u failed allocations, %u failed commands, %u connections in spite of it, "
		      "%u checks\n",
		      rig.failures[FAIL_ALLOCATION], rig.failures[FAIL_COMMAND], ended_well,
		      rig.checks);
	assert_true(rig.failures[FAIL_ALLOCATION] > 120);
	assert_true(rig.failures[FAIL_COMMAND] > 35);
	assert_true(ended_well > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_was_wrong),
		cmocka_unit_test(every_failure_was_tried),
		cmocka_unit_test(nothing_is_left),
	};

	return rig_main(run, tests, ARRAY_SIZE(tests));
}
