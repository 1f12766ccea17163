/* SPDX-License-Identifier: Apache-2.0 */
/* The events of librdmacm for every end of a connection, over fake streams. */
#include "host_driver/iwarp/rdma_iw.h"
#include "host_driver/iwarp/tests/iw_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { EVENTS = 8 };

static struct rig rig;

static struct side {
	struct rdma_iw_id *id, *listener;
	enum rdma_cm_event_type events[EVENTS];
	int status[EVENTS];
	unsigned n, pdata_len;
	struct rdma_iw_event last;
	bool reject, silent, destroy_in_event;
} client, server;

static void note(struct side *side, const struct rdma_iw_event *event)
{
	assert_in_range(side->n, 0, EVENTS - 1);
	side->events[side->n] = event->event;
	side->status[side->n++] = event->status;
	side->last = *event;
	side->pdata_len = event->private_data_len;
}

static void handler(void *arg, const struct rdma_iw_event *event)
{
	struct side *side = arg;

	note(side, event);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		side->id = event->id;
		if (side->reject)
			assert_int_equal(rdma_iw_reject(side->id, (const uint8_t *)"no", 2), 0);
		else if (!side->silent)
			assert_int_equal(rdma_iw_accept(side->id, (const uint8_t *)"yes", 3), 0);
	}
	if (event->event == RDMA_CM_EVENT_DISCONNECTED && side->destroy_in_event) {
		rdma_iw_destroy_id(side->id);
		side->id = NULL;
	}
}

static int begin(void **state)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	rig_begin(&rig);
	assert_int_equal(rdma_iw_create_id(&rig.responder.host, handler, &server, &server.listener),
			 0);
	assert_int_equal(rdma_iw_create_id(&rig.initiator.host, handler, &client, &client.id), 0);
	return 0;
}

static int end(void **state)
{
	if (client.id)
		rdma_iw_destroy_id(client.id);
	if (server.id)
		rdma_iw_destroy_id(server.id);
	rdma_iw_destroy_id(server.listener);
	return rig_end(&rig) ? -1 : 0;
}

static void resolve(void)
{
	const struct iw_address to = {.ip = 2, .port = RIG_PORT};

	assert_int_equal(rdma_iw_connect(client.id, NULL, NULL, 0), -EINVAL);
	assert_int_equal(rdma_iw_resolve_route(client.id), -EINVAL);
	assert_int_equal(rdma_iw_resolve_addr(client.id, to), 0);
	assert_int_equal(rdma_iw_resolve_addr(client.id, to), -EINVAL);
	assert_int_equal(rdma_iw_resolve_route(client.id), 0);
	assert_int_equal(client.events[0], RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(client.events[1], RDMA_CM_EVENT_ROUTE_RESOLVED);
	client.n = 0;
}

static void dial(const struct iw_options *options)
{
	resolve();
	assert_int_equal(rdma_iw_connect(client.id, options, (const uint8_t *)"hello", 5), 0);
	assert_int_equal(rdma_iw_connect(client.id, options, NULL, 0), -EINVAL);
	fake_run(&rig.fake);
}

static void assert_got(const struct side *side, unsigned n, enum rdma_cm_event_type type)
{
	assert_int_equal(side->n, n);
	assert_string_equal(rdma_event_str(side->events[n - 1]), rdma_event_str(type));
}

static void connect_and_disconnect(void **state)
{
	assert_int_equal(rdma_iw_listen(server.listener, RIG_PORT, NULL), 0);
	dial(NULL);
	assert_got(&client, 1, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(client.pdata_len, 3);
	assert_int_equal(server.events[0], RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_got(&server, 2, RDMA_CM_EVENT_ESTABLISHED);
	server.destroy_in_event = true;
	assert_int_equal(rdma_iw_disconnect(client.id), 0);
	fake_run(&rig.fake);
	assert_got(&client, 2, RDMA_CM_EVENT_DISCONNECTED);
	assert_got(&server, 3, RDMA_CM_EVENT_DISCONNECTED);
	assert_null(server.id);
	assert_int_equal(rdma_iw_disconnect(client.id), -EINVAL);
}

/* The server's program learns of the connection when it has accepted, as with Linux's drivers. */
static void client_first(void **state)
{
	struct iw_options options = iw_options_default;

	options.design = IW_CLIENT_FIRST;
	assert_int_equal(rdma_iw_listen(server.listener, RIG_PORT, NULL), 0);
	dial(&options);
	assert_got(&client, 1, RDMA_CM_EVENT_ESTABLISHED);
	assert_got(&server, 2, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(iw_post_send(rdma_iw_connection(client.id), 1, NULL, 0), 0);
	rig.responder.id = NULL;
	fake_run(&rig.fake);
	assert_got(&server, 3, RDMA_CM_EVENT_DISCONNECTED); /* it has posted no receive */
}

static void rejected(void **state)
{
	server.reject = true;
	assert_int_equal(rdma_iw_listen(server.listener, RIG_PORT, NULL), 0);
	dial(NULL);
	assert_got(&client, 1, RDMA_CM_EVENT_REJECTED);
	assert_int_equal(client.pdata_len, 2);
	assert_got(&server, 1, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_int_equal(rdma_iw_accept(server.id, NULL, 0), -EINVAL);
}

static void nobody_listens(void **state)
{
	dial(NULL);
	assert_got(&client, 1, RDMA_CM_EVENT_REJECTED);
	assert_int_equal(client.status[0], -ECONNREFUSED);
}

static void no_answer(void **state)
{
	server.silent = true;
	assert_int_equal(rdma_iw_listen(server.listener, RIG_PORT, NULL), 0);
	dial(NULL);
	fake_pass(&rig.fake, 11 * RIG_SECOND);
	assert_got(&client, 1, RDMA_CM_EVENT_UNREACHABLE);
	assert_got(&server, 2, RDMA_CM_EVENT_DISCONNECTED);
	assert_int_equal(rdma_iw_accept(server.id, NULL, 0), -EINVAL);
}

static void bad_reply(void **state)
{
	struct iw_options options = iw_options_default;

	options.breaks = IW_BREAKS_BIT(key_bit);
	assert_int_equal(rdma_iw_listen(server.listener, RIG_PORT, &options), 0);
	dial(NULL);
	assert_got(&client, 1, RDMA_CM_EVENT_CONNECT_ERROR);
	assert_got(&server, 2, RDMA_CM_EVENT_DISCONNECTED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(connect_and_disconnect), TEST(client_first), TEST(rejected),
		TEST(nobody_listens),         TEST(no_answer),    TEST(bad_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
