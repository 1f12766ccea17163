/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receive buffer of an Ethernet port is small, and PCIe behind it slower than the cable. Without
 * pause the port loses frames, and the requester has to send them again. With a pause of all traffic,
 * and then with one of a priority alone, nothing is lost: the sender waits instead.
 */
#include "testbench/services.h"

enum { BYTES = 512 << 10 };

/* The sender of frames obeys, the receiver sends: the other directions are off, or of other priorities. */
static void set(struct tb *tb, struct tb_end *sender, struct tb_end *receiver, bool pause,
		unsigned pfc, unsigned other)
{
	struct drv_eth_config config;

	drv_eth_get(sender->dev, 1, &config);
	config.pause_tx = false;
	config.pause_rx = pause;
	config.pfc_tx = other;
	config.pfc_rx = pfc;
	must(drv_eth_set(sender->dev, 1, &config));
	config.pause_tx = pause;
	config.pause_rx = false;
	config.pfc_tx = pfc;
	config.pfc_rx = other;
	must(drv_eth_set(receiver->dev, 1, &config));
}

static void write_all(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	rdma_write(a, .wr_id = 1, .len = BYTES);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = BYTES);
}

SCENARIO(roce_pause, "a port without pause loses frames; with pause or PFC the sender waits",
	 .settings = {"hca.port1.type=eth", "hca1.pcie.speed=2.5GT/s", "hca1.pcie.lanes=2",
		      "hca1.ethernet.rx_buffer=64KiB", "hca1.ethernet.pause_above=12KiB",
		      "hca1.ethernet.pause_below=6KiB"},
	 .memory = BYTES, .any_packets = true)
{
	uint64_t lost, resent;

	write_all(tb, a, b);
	pass_time(CFG_MS(1)); /* what was sent twice is still under way */
	lost = tb_stat(b, "port1", "rx_no_buffer");
	resent = tb_stat(a, "retry", "retransmitted");
	expect_that(lost, >, 0);
	expect_that(resent, >=, lost);
	expect_stat(b, port1, tx_pause, 0);

	set(tb, a, b, true, 0, 0);
	write_all(tb, a, b);
	expect_stat(b, port1, rx_no_buffer, lost);
	expect_stat(a, retry, retransmitted, resent);
	expect_that(tb_stat(b, "port1", "tx_pause"), >, 0);
	expect_that(tb_stat(a, "port1", "tx_waited"), >, 0);

	/* a pause of all traffic is obeyed, and frames of one priority ask for a pause of it alone */
	set(tb, a, b, true, 0, 1 << 3);
	write_all(tb, a, b);
	expect_stat(b, port1, rx_no_buffer, lost);
	expect_stat(a, retry, retransmitted, resent);

	set(tb, a, b, false, 1 << 0, 1 << 3);
	write_all(tb, a, b);
	expect_stat(b, port1, rx_no_buffer, lost);
	expect_stat(a, retry, retransmitted, resent);
}
