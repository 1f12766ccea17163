/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pause storm: a broken neighbour sends one pause after the other, and the port obeys. Nothing leaves,
 * the transport's retries run out, and only the counters say why. A port that does not obey pause is
 * not hurt by the same storm. When the storm is over, the port works again.
 */
#include "testbench/scenarios/ethernet/control.h"

enum { LEN = 64, TIMEOUT = 8 /* 1 ms */, RETRIES = 3, STORM_MS = 20 };

/* A pause lasts 839 us at most, so one each half millisecond leaves no gap. */
static void storm(struct tb *tb, struct tb_end *end)
{
	for (unsigned i = 0; i < 2 * STORM_MS; i++) {
		inject_pause(tb, end, 0, QUANTA_MAX);
		pass_time(CFG_US(500));
	}
}

SCENARIO(roce_pause_storm,
	 "a pause storm: retries run out; counters say why; without pause no harm",
	 .settings = {"hca.port1.type=eth"}, .timeout = TIMEOUT, .retry_cnt = RETRIES,
	 .any_packets = true)
{
	uint64_t paused, sent;

	obey(tb, a, true, 0);
	paused = tb_stat(a, "port1", "rx_pause");
	sent = tb_stat(a, "port1", "tx_frames");
	inject_pause(tb, a, 0, QUANTA_MAX);
	rdma_write(a, .wr_id = 1, .len = LEN);
	storm(tb, a);
	expect_stat(a, port1, rx_pause, paused + 2 * STORM_MS + 1);
	expect_stat(a, port1, tx_frames, sent);
	expect_that(tb_stat(a, "port1", "tx_waited"), >, 0);
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_RETRY_EXC_ERR);
	pass_time(CFG_MS(1)); /* what has waited leaves, and reaches b */
	ignore_data(b, .len = LEN);

	obey(tb, a, false, 0);
	reconnect(0);
	rdma_write(a, .wr_id = 2, .dst = 4096, .len = LEN);
	storm(tb, a);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .dst = 4096, .len = LEN);
}
