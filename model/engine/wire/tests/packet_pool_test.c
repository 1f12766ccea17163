/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of packets: copies, buffer space, and memory that is given back. */
#include "model/engine/wire/tests/packet_rig.h"

static void copies_share_the_buffer_of_the_port(void **state)
{
	struct packet *pkt = build(BTH_UD_SEND_ONLY, true, 64), *copies[2];

	pkt->rx_buffered = true;
	for (unsigned i = 0; i < 2; i++) {
		copies[i] = packet_alloc(&hca);
		packet_copy(copies[i], pkt);
		packet_share(copies[i], pkt);
		assert_false(copies[i]->rx_buffered);
		assert_int_equal(copies[i]->len, pkt->len);
		assert_memory_equal(copies[i]->wire, pkt->wire, pkt->len);
		assert_ptr_not_equal(copies[i]->wire, pkt->wire);
	}
	packet_free(copies[0]);
	packet_unshare(pkt);
	assert_int_equal(packet_pool_in_use(&hca), 2);
	assert_int_equal(n_credits, 0);
	packet_free(copies[1]);
	assert_int_equal(packet_pool_in_use(&hca), 0);
	assert_int_equal(n_credits, 1);
}

static void pool_keeps_and_gives_back(void **state)
{
	enum { MANY = 100 };
	struct packet *pkts[MANY];
	size_t footprint;

	for (unsigned i = 0; i < MANY; i++) {
		pkts[i] = packet_alloc(&hca);
		pkts[i]->psn = pkts[i]->corr = 1;
		pkts[i]->owner = &pkts[i];
	}
	footprint = packet_pool_footprint(&hca);
	assert_true(footprint >= MANY * sizeof(struct packet));
	packet_pool_trim(&hca); /* does nothing while packets are in use */
	assert_int_equal(packet_pool_footprint(&hca), footprint);
	for (unsigned i = 0; i < MANY; i++)
		packet_free(pkts[i]);
	/* packets that are used again look like new ones, and take no further memory */
	for (unsigned i = 0; i < MANY; i++) {
		pkts[i] = packet_alloc(&hca);
		assert_int_equal(pkts[i]->psn | pkts[i]->corr, 0);
		assert_null(pkts[i]->owner);
	}
	assert_int_equal(packet_pool_footprint(&hca), footprint);
	for (unsigned i = 0; i < MANY; i++)
		packet_free(pkts[i]);
	packet_pool_trim(&hca);
	assert_true(packet_pool_footprint(&hca) < sizeof(struct packet));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, rig_start, rig_finish)
	const struct CMUnitTest tests[] = {
		T(copies_share_the_buffer_of_the_port),
		T(pool_keeps_and_gives_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
