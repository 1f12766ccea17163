/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The performance agent counts exactly what crossed the wire, in words: ten WRITEs of 64 bytes in,
 * ten ACKs out, and the MAD that asked. A Set clears the selected counters. A broken packet
 * increases an error counter, which is then cleared. Extended counters count multicast packets
 * separately.
 */
/* behaviours: IBA-16.1.3.5-portcounters */
#include "testbench/manage.h"

enum {
	N = 10,
	WRITE_WORDS = (8 + 12 + 16 + 64 + 4) / 4, /* LRH BTH RETH payload ICRC */
	ACK_WORDS = (8 + 12 + 4 + 4) / 4,         /* LRH BTH AETH ICRC */
	MAD_WORDS = (8 + 12 + 8 + 256 + 4) / 4,   /* LRH BTH DETH MAD ICRC */
};

#define ASK(...)                                                                                   \
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .dlid = b->lid, .data = &counters,           \
	    __VA_ARGS__)

struct counters {
	struct port_counters c;
	uint8_t rest[gmp_data_size - sizeof(struct port_counters)];
};

static struct port_counters_ext ask_ext(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	uint8_t data[gmp_data_size] = {0};
	struct smp answer;
	struct port_counters_ext ext;

	port_counters_ext_set_port_select((struct port_counters_ext *)(void *)data, 1);
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .dlid = b->lid, .data = data,
	    .attr = PMA_ATTR_PORT_COUNTERS_EXT);
	memcpy(&ext, smp_data_cptr(&answer), sizeof(ext));
	return ext;
}

SCENARIO(mad_counters, "performance counters are true to the wire")
{
	const struct port_counters_ext first = ask_ext(tb, a, b);
	uint64_t received = tb_stat(b, "port1", "rcv_pkts");
	struct port_counters_ext ext;
	const struct port_counters *c;
	struct counters counters = {0};
	struct smp answer;

	port_counters_set_port_select(&counters.c, 1);
	port_counters_set_counter_select(&counters.c, 0xffff);
	ASK(.attr = PMA_ATTR_PORT_COUNTERS, .method = MAD_METHOD_SET);
	c = (const void *)smp_data_cptr(&answer);
	expect_equal(port_counters_get_rcv_pkts(c), 0);
	ignore_packets();
	rdma_write(a, .wr_id = 1, .len = 64, .repeat = N);
	expect_cqes(a, N);
	ASK(.attr = PMA_ATTR_PORT_COUNTERS);
	/* sent: the answer to the Set, and ACKs; received: WRITEs, and this Get */
	expect_equal(port_counters_get_xmit_pkts(c), 1 + tb_stat(b, "responder", "acks"));
	expect_equal(port_counters_get_xmit_data(c),
		     MAD_WORDS + tb_stat(b, "responder", "acks") * ACK_WORDS);
	expect_equal(port_counters_get_rcv_pkts(c), N + 1);
	expect_equal(port_counters_get_rcv_data(c), N * WRITE_WORDS + MAD_WORDS);
	expect_equal(port_counters_get_rcv_errors(c), 0);
	inject(b, RC_SEND_ONLY, .psn = 0, .len = 8, .bad_vcrc = true);
	ASK(.attr = PMA_ATTR_PORT_COUNTERS);
	expect_equal(port_counters_get_rcv_errors(c), 1);
	expect_equal(port_counters_get_symbol_errors(c), 1);
	port_counters_set_counter_select(&counters.c, 1 << PORT_COUNTER_RCV_ERRORS);
	ASK(.attr = PMA_ATTR_PORT_COUNTERS, .method = MAD_METHOD_SET);
	expect_equal(port_counters_get_rcv_errors(c), 0);
	expect_equal(port_counters_get_symbol_errors(c), 1);
	port_counters_set_port_select(&counters.c, 9);
	ASK(.attr = PMA_ATTR_PORT_COUNTERS, .status = MAD_STATUS_BAD_VALUE);

	ext = ask_ext(tb, a, b);
	received = tb_stat(b, "port1", "rcv_pkts") - received;
	expect_equal(port_counters_ext_get_rcv_pkts(&ext) - port_counters_ext_get_rcv_pkts(&first),
		     received);
	expect_equal(port_counters_ext_get_ucast_rcv(&ext) -
			     port_counters_ext_get_ucast_rcv(&first),
		     received);
	expect_equal(port_counters_ext_get_mcast_rcv(&ext), 0);
	expect_data(b, .len = 64);
}
