// SPDX-License-Identifier: Apache-2.0
/* Messages that no client should send. The server returns an error or closes the connection, and
 * logs a line. The other guest does not notice. */
#define _GNU_SOURCE
#include "model/vfio_user/tests/client.h"

#include "model/interface/macros.h"
#include "model/sim/rng.h"

#include <sched.h>

enum { FUZZ_MESSAGES = 6000, FUZZ_BYTES = 64, CLOSED = -1 };

/* The first device's client has been disconnected. The second device's client is as before. */
static void assert_only_closed(unsigned lines)
{
	turn(8);
	assert_false(vfu_server_has_client(bench.server, &bench.devices[0]));
	assert_int_equal(bench.log_lines[0], lines);
	assert_true(vfu_server_has_client(bench.server, &bench.devices[1]));
	assert_int_equal(bench.log_lines[1], 1); /* the line of its connection */
	assert_query_fw(&bench.clients[1]);
	assert_query_fw(join(0));
}

static void begin(void)
{
	join(1);
	bench.clients[0].fd = dial(0);
}

static void another_version_is_refused(void **state)
{
	begin();
	/* lines: connected, refused, disconnected */
	assert_int_equal(greet(&bench.clients[0], 1, "{}", NULL), EOPNOTSUPP);
	assert_true(await(&bench.clients[0])->closed);
	assert_only_closed(3);
}

static void version_data_must_end(void **state)
{
	const uint8_t b[] = {0, 0, 0, 0, '{', '}'};

	begin();
	assert_int_equal(ask(&bench.clients[0], C_VERSION, b, sizeof(b), NULL, 0, NULL), EINVAL);
	assert_true(await(&bench.clients[0])->closed);
	assert_only_closed(3);
}

static void version_comes_first_and_once(void **state)
{
	uint8_t b[16] = {16};

	begin();
	assert_int_equal(ask(&bench.clients[0], C_INFO, b, sizeof(b), NULL, 0, NULL), CLOSED);
	assert_only_closed(2);
	assert_int_equal(greet(&bench.clients[0], 0, "{}", NULL), CLOSED);
}

/* After these headers the server cannot know where the next message begins. */
static void impossible_headers_close(void **state)
{
	static const struct {
		uint32_t size, flags;
	} headers[] = {{0, 0},     {15, 0}, {0x7fffffff, 0}, {UINT32_MAX, 0},
		       {16384, 0}, {16, 1}, {16, 0x21},      {16, 0xffffffff}};
	struct client *c = &bench.clients[0];

	join(1);
	for (unsigned i = 0; i < ARRAY_SIZE(headers); i++) {
		uint8_t h[16] = {0};

		join(0);
		bench.log_lines[0] = 0;
		put(h + 2, 2, C_INFO);
		put(h + 4, 4, headers[i].size);
		put(h + 8, 4, headers[i].flags);
		send_raw(c, h, sizeof(h), NULL, 0);
		assert_true(await(c)->closed);
		assert_only_closed(1);
	}
}

static void a_client_may_go_in_the_middle(void **state)
{
	struct client *c = &bench.clients[0];

	join(1);
	for (unsigned cut = 1; cut < 48; cut += 5) {
		uint8_t m[48] = {0};
		int fd;

		join(0);
		bench.log_lines[0] = 0;
		fd = c->memfd;
		put(m + 2, 2, C_MAP);
		put(m + 4, 4, sizeof(m));
		send_raw(c, m, cut, &fd, 1);
		turn(3);
		hang_up(c);
		assert_only_closed(1);
	}
}

static void short_and_long_requests_are_refused(void **state)
{
	static const struct {
		unsigned command;
		uint32_t least, most;
	} rows[] = {
		{C_MAP, 32, 32},   {C_UNMAP, 24, 24},  {C_INFO, 16, 8192},  {C_REGION, 32, 8192},
		{C_IRQ, 16, 8192}, {C_READ, 16, 16},   {C_WRITE, 16, 8192}, {C_SET_IRQS, 20, 8192},
		{C_RESET, 0, 0},   {C_MULTI, 8, 8192},
	};
	struct client *c = join(0);
	uint8_t b[4096];

	memset(b, 0xff, sizeof(b));
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		for (uint32_t len = 0; len < rows[i].least; len++)
			assert_int_equal(ask(c, rows[i].command, b, len, NULL, 0, NULL), EINVAL);
		if (rows[i].most < sizeof(b))
			assert_int_equal(
				ask(c, rows[i].command, b, rows[i].most + 1, NULL, 0, NULL),
				EINVAL);
		if (rows[i].command != C_INFO && rows[i].least)
			assert_int_equal(ask(c, rows[i].command, b, rows[i].least, NULL, 0, NULL),
					 EINVAL);
	}
	/* the log is not flooded */
	assert_true(bench.log_lines[0] < 20);
	assert_query_fw(c);
}

static void unknown_commands_are_refused(void **state)
{
	static const unsigned commands[] = {0, 6, 11, 12, 14, 16, 17, 18, 19, 0xffff};
	struct client *c = join(0);
	uint8_t b[32] = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(commands); i++)
		assert_int_equal(ask(c, commands[i], b, sizeof(b), NULL, 0, NULL), EOPNOTSUPP);
	assert_query_fw(c);
}

static void accesses_stay_in_their_region(void **state)
{
	static const struct {
		uint32_t region, count;
		uint64_t offset;
	} wrong[] = {
		{0, 4, 0x100000},   {0, 4, 0xffffd}, {0, 0, 0},    {0, 4, UINT64_MAX - 1},
		{2, 8, 0x800000},   {1, 4, 0},       {6, 4, 0},    {7, 4, 4094},
		{8, 4, 0},          {9, 4, 0},       {0, 4097, 0}, {7, UINT32_MAX, 0},
		{UINT32_MAX, 4, 0},
	};
	struct client *c = join(0);
	uint8_t b[32];

	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		put(b, 8, wrong[i].offset);
		put(b + 8, 4, wrong[i].region);
		put(b + 12, 4, wrong[i].count);
		assert_int_equal(ask(c, C_READ, b, 16, NULL, 0, NULL), EINVAL);
		assert_int_equal(ask(c, C_WRITE, b, 20, NULL, 0, NULL), EINVAL);
	}
	assert_query_fw(c);
}

static void descriptors_are_not_collected(void **state)
{
	struct client *c = join(0);
	int fds[40], before = dup(0);
	uint8_t b[32] = {16};

	close(before);
	for (unsigned i = 0; i < 40; i++)
		fds[i] = c->memfd;
	assert_int_equal(ask(c, C_INFO, b, 16, fds, 1, NULL), EINVAL);
	assert_int_equal(ask(c, C_MAP, b, 32, fds, 2, NULL), EINVAL);
	assert_int_equal(ask(c, C_SET_IRQS, b, 20, fds, 16, NULL), EINVAL);
	while (releaser_backlog(bench.devices[0].releaser))
		sched_yield();
	fds[0] = dup(0);
	close(fds[0]);
	assert_int_equal(fds[0], before);
	fds[0] = c->memfd;
	bench.log_lines[0] = 0;
	assert_int_equal(ask(c, C_INFO, b, 16, fds, 17, NULL), CLOSED);
	assert_int_equal(bench.log_lines[0], 1);
	join(0);
	assert_query_fw(&bench.clients[0]);
}

/* A client that sends requests and does not read the answers delays only itself. */
static void a_client_that_does_not_read_waits(void **state)
{
	struct client *c = join(0), *other = join(1);
	uint8_t m[32] = {0};
	unsigned sent = 0;

	put(m + 2, 2, C_READ);
	put(m + 4, 4, sizeof(m));
	put(m + 24, 4, R_CONFIG);
	put(m + 28, 4, 4096);
	for (unsigned i = 0; i < 100000; i++) {
		if (send(c->fd, m, sizeof(m), MSG_DONTWAIT) != sizeof(m))
			break;
		sent++;
		turn(1);
	}
	assert_true(sent > 10 && sent < 100000);
	assert_query_fw(other);
	for (unsigned i = 0; i < sent; i++) {
		struct answer *a = await(c);

		assert_false(a->closed);
		assert_int_equal(a->len, 16 + 4096);
	}
	assert_query_fw(c);
}

/* Whatever is sent, the server keeps running and the other guest's memory is unchanged. */
static void random_messages_hurt_nobody(void **state)
{
	struct client *c = join(0), *other = join(1);
	struct rng rng;

	rng_init(&rng, 1, "fuzz");
	for (unsigned i = 0; i < FUZZ_MESSAGES; i++) {
		uint8_t m[16 + FUZZ_BYTES] = {0};
		uint32_t len = (uint32_t)rng_below(&rng, FUZZ_BYTES);
		unsigned n = (unsigned)rng_below(&rng, 3);
		const int fds[2] = {c->memfd, c->memfd};

		for (unsigned k = 0; k < len; k++)
			m[16 + k] = rng_below(&rng, 3) ? 0 : (uint8_t)rng_next(&rng);
		put(m + 2, 2, 2 + rng_below(&rng, 15));
		put(m + 4, 4, rng_below(&rng, 500) ? 16 + len : rng_next(&rng));
		put(m + 8, 4, rng_below(&rng, 2) ? NO_REPLY : 0);
		if (!vfu_server_has_client(bench.server, &bench.devices[0])) {
			c = join(0);
			continue;
		}
		send_raw(c, m, 16 + len, fds, n);
		turn(2);
		while (recv(c->fd, m, sizeof(m), MSG_DONTWAIT) > 0)
			;
	}
	assert_query_fw(other);
	hang_up(c);
	turn(4);
	assert_query_fw(join(0));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_up, bench_down)
	const struct CMUnitTest tests[] = {
		T(another_version_is_refused),    T(version_data_must_end),
		T(version_comes_first_and_once),  T(impossible_headers_close),
		T(a_client_may_go_in_the_middle), T(short_and_long_requests_are_refused),
		T(unknown_commands_are_refused),  T(accesses_stay_in_their_region),
		T(descriptors_are_not_collected), T(a_client_that_does_not_read_waits),
		T(random_messages_hurt_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
