/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a neighbour, one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "host_driver/net/neigh.h"

#define SECONDS(n) (UINT64_C(1000000000000) * (n))

static const struct neigh_address ip = {.ip = {[10] = 0xff, 0xff, 11, 0, 1, 2}, .vlan = VLAN_NONE};
static const uint8_t mac[MAC_BYTES] = {2, 0, 0, 0, 0, 1}, other[MAC_BYTES] = {2, 0, 0, 0, 0, 2};

static struct {
	struct neigh_table table;
	unsigned asked_all, asked_one, changed;
	uint8_t got[MAC_BYTES];
} f;

static void on_ask(void *arg, const struct neigh_address *asked, const uint8_t *to)
{
	assert_memory_equal(asked, &ip, sizeof(ip));
	if (to)
		f.asked_one++;
	else
		f.asked_all++;
}

static void ask_nothing(void *arg, const struct neigh_address *asked, const uint8_t *to)
{
}

static void on_change(void *arg)
{
	f.changed++;
}

static int begin(void **state)
{
	memset(&f, 0, sizeof(f));
	f.table.ask = on_ask;
	f.table.changed = on_change;
	return 0;
}

static int lookup(uint64_t now)
{
	return neigh_lookup(&f.table, &ip, now, f.got);
}

static enum neigh_state state_is(void)
{
	return neigh_find(&f.table, &ip)->state;
}

static void make_reachable(uint64_t now)
{
	assert_int_equal(lookup(now), -EAGAIN);
	neigh_heard(&f.table, &ip, mac, NEIGH_ANSWERS, now);
	assert_int_equal(state_is(), NEIGH_REACHABLE);
}

static void answered(void **state)
{
	assert_int_equal(lookup(0), -EAGAIN);
	assert_int_equal(lookup(1), -EAGAIN);
	assert_int_equal(f.asked_all, 1);
	neigh_heard(&f.table, &ip, mac, NEIGH_ANSWERS, 2);
	assert_int_equal(f.changed, 1);
	assert_int_equal(lookup(3), 0);
	assert_memory_equal(f.got, mac, MAC_BYTES);
}

/* Three questions, a second between them; then it has failed, and the next lookup begins again. */
static void silent(void **state)
{
	assert_int_equal(lookup(0), -EAGAIN);
	assert_int_equal(neigh_timers(&f.table, SECONDS(1) - 1), SECONDS(1));
	assert_int_equal(f.asked_all, 1);
	assert_int_equal(neigh_timers(&f.table, SECONDS(1)), SECONDS(2));
	assert_int_equal(neigh_timers(&f.table, SECONDS(2)), SECONDS(3));
	assert_int_equal(f.asked_all, 3);
	assert_int_equal(neigh_timers(&f.table, SECONDS(3)), UINT64_MAX);
	assert_int_equal(state_is(), NEIGH_FAILED);
	assert_int_equal(f.changed, 1);
	assert_int_equal(f.asked_all, 3);
	assert_int_equal(lookup(SECONDS(4)), -EAGAIN);
	assert_int_equal(f.asked_all, 4);
	/* an answer to an earlier question comes late */
	neigh_heard(&f.table, &ip, mac, NEIGH_ANSWERS, SECONDS(4));
	assert_int_equal(lookup(SECONDS(4)), 0);
}

static void ages(void **state)
{
	make_reachable(0);
	assert_int_equal(neigh_timers(&f.table, SECONDS(30) - 1), SECONDS(30));
	assert_int_equal(neigh_timers(&f.table, SECONDS(30)), UINT64_MAX);
	assert_int_equal(state_is(), NEIGH_STALE);
	assert_int_equal(lookup(SECONDS(40)), 0);
	assert_int_equal(state_is(), NEIGH_DELAY);
	assert_int_equal(f.asked_one, 0);
	assert_int_equal(neigh_timers(&f.table, SECONDS(45)), SECONDS(46));
	assert_int_equal(state_is(), NEIGH_PROBE);
	assert_int_equal(f.asked_one, 1);
	neigh_heard(&f.table, &ip, mac, NEIGH_ANSWERS, SECONDS(45));
	assert_int_equal(state_is(), NEIGH_REACHABLE);
}

static void dies(void **state)
{
	make_reachable(0);
	neigh_timers(&f.table, SECONDS(30));
	lookup(SECONDS(30));
	for (unsigned i = 35; i < 38; i++)
		neigh_timers(&f.table, SECONDS(i));
	assert_int_equal(f.asked_one, 3);
	assert_int_equal(lookup(SECONDS(37)), 0);
	neigh_timers(&f.table, SECONDS(38));
	assert_int_equal(state_is(), NEIGH_FAILED);
	assert_int_equal(lookup(SECONDS(38)), -EAGAIN);
	assert_int_equal(f.asked_all, 2);
}

static void moves(void **state)
{
	make_reachable(0);
	neigh_heard(&f.table, &ip, mac, NEIGH_TELLS, 1); /* nothing new */
	assert_int_equal(state_is(), NEIGH_REACHABLE);
	neigh_heard(&f.table, &ip, other, NEIGH_TELLS, 2); /* it says so itself, unasked */
	assert_int_equal(state_is(), NEIGH_STALE);
	assert_int_equal(lookup(3), 0);
	assert_memory_equal(f.got, other, MAC_BYTES);
	neigh_heard(&f.table, &ip, mac, NEIGH_ANSWERS, 4);
	assert_int_equal(lookup(5), 0);
	assert_memory_equal(f.got, mac, MAC_BYTES);
}

/* Nobody has asked for it. */
static void stranger(void **state)
{
	neigh_heard(&f.table, &ip, mac, NEIGH_ANSWERS, 0);
	neigh_heard(&f.table, &ip, mac, NEIGH_TELLS, 0);
	assert_null(neigh_find(&f.table, &ip));
	assert_int_equal(neigh_timers(&f.table, SECONDS(1)), UINT64_MAX);
}

/* Who asks this host will be sent to, so its address is kept. An address of another VLAN is another one. */
static void asks_us(void **state)
{
	struct neigh_address tagged = ip;

	tagged.vlan = 5;
	neigh_heard(&f.table, &ip, mac, NEIGH_ASKS_US, 0);
	assert_int_equal(state_is(), NEIGH_STALE);
	assert_null(neigh_find(&f.table, &tagged));
	assert_int_equal(lookup(1), 0);
	assert_memory_equal(f.got, mac, MAC_BYTES);
	assert_int_equal(f.asked_all, 0);
}

/* A full table gives up the entry that was used longest ago, but none that is waited for. */
static void full(void **state)
{
	struct neigh_address many = {.vlan = VLAN_NONE};

	f.table.ask = ask_nothing;
	for (unsigned i = 0; i < NEIGH_MAX; i++) {
		many.ip[15] = (uint8_t)i;
		assert_int_equal(neigh_lookup(&f.table, &many, i, f.got), -EAGAIN);
	}
	many.ip[15] = NEIGH_MAX;
	assert_int_equal(neigh_lookup(&f.table, &many, 100, f.got), -ENOBUFS);
	many.ip[15] = 5;
	neigh_heard(&f.table, &many, mac, NEIGH_ANSWERS, 100);
	many.ip[15] = NEIGH_MAX;
	assert_int_equal(neigh_lookup(&f.table, &many, 101, f.got), -EAGAIN);
	many.ip[15] = 5;
	assert_null(neigh_find(&f.table, &many));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest tests[] = {T(answered), T(silent),   T(ages),    T(dies),
					   T(moves),    T(stranger), T(asks_us), T(full)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
