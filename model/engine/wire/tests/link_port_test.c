/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Link ports: training and the cable, the time of a packet, credits, virtual lanes, loopback, and
 * what a port does with packets that it may not send or accept. All files of the room are real; the
 * receiver of the packets that arrive is a fake.
 */
#include "model/engine/base/engine.h"
#include "model/engine/wire/crc.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/link_impl.h"
#include "model/engine/wire/packet.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/interface/wire.h"
#include "model/sim/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
	FS_PER_BYTE = 250000, /* four lanes at QDR: 32 Gbit/s */
	TRAINING = 1000000,
	DELAY = 50000,
	TX_LATENCY = 3000,
	RX_LATENCY = 7000,
	WAY = TX_LATENCY + DELAY + RX_LATENCY,
	CREDIT_WAY = DELAY + RX_LATENCY, /* how long returned credits take */
	GAP_BYTES = 4,
	PAYLOAD = 64,
	LEN = 8 + 12 + 16 + PAYLOAD + 6, /* LRH, BTH, RETH, CRCs: two blocks of credits */
	ROOM = 4 * CREDIT_BYTES,         /* room for two such packets */
	MANAGEMENT_SL = 5,
	OTHER_SL = 1, /* on VL 1 */
	LOG = 256,
};

static struct event_core core;
static struct device {
	struct hca_params params;
	struct hca hca;
	unsigned changes; /* number of port_changed calls */
} a, b;
static struct {
	struct packet *pkt;
	const struct hca *hca;
	uint64_t at_ps;
} arrivals[LOG];
static unsigned n_arrivals;

/* --- the rooms above --- */

static void packet_arrived(struct hca *hca, struct packet *pkt)
{
	assert_true(n_arrivals < LOG);
	arrivals[n_arrivals].pkt = pkt;
	arrivals[n_arrivals].hca = hca;
	arrivals[n_arrivals++].at_ps = core.now_ps;
}

static void port_changed(struct hca *hca, unsigned port)
{
	assert_int_equal(port, 1);
	container_of(hca, struct device, hca)->changes++;
}

static const struct hca_calls calls = {.packet_came = packet_receive,
				       .packet_arrived = packet_arrived,
				       .port_changed = port_changed};

/* --- two devices and a cable --- */

static void device_start(struct device *d, unsigned index)
{
	d->params = (struct hca_params){
		.hca_memory = UINT64_MAX,
		.hca_ports = 1,
		.link_speed = CFG_SPEED_QDR,
		.link_width = 4,
		.link_delay = DELAY,
		.link_tx_latency = TX_LATENCY,
		.link_rx_latency = RX_LATENCY,
		.link_gap = GAP_BYTES,
		.link_rx_buffer = ROOM,
		.link_training_time = TRAINING,
	};
	d->hca = (struct hca){.index = index,
			      .core = &core,
			      .params = &d->params,
			      .calls = &calls,
			      .ctrl = FW_CTRL_RUN};
	d->changes = 0;
	memory_init(&d->hca);
	d->hca.packets = packet_pool_create(&d->hca);
	d->hca.ports[0] = link_port_create(&d->hca, 1);
}

static struct port_config *port_of(struct device *d)
{
	return link_port_config(&d->hca, 1);
}

static int start(void **state)
{
	event_core_init(&core);
	device_start(&a, 0);
	device_start(&b, 1);
	hca_link(&a.hca, 1, &b.hca, 1, NULL);
	n_arrivals = 0;
	return 0;
}

static void run_for(uint64_t ps)
{
	event_core_run_until(&core, core.now_ps + ps);
}

static int finish(void **state)
{
	/* packets that still wait arrive when there is room */
	for (unsigned i = 0; i < n_arrivals; i++) {
		if (arrivals[i].pkt)
			packet_free(arrivals[i].pkt);
		run_for(CFG_MS(1));
	}
	n_arrivals = 0;
	assert_int_equal(packet_pool_in_use(&a.hca), 0);
	assert_int_equal(packet_pool_in_use(&b.hca), 0);
	link_port_destroy(a.hca.ports[0]);
	link_port_destroy(b.hca.ports[0]);
	packet_pool_destroy(a.hca.packets);
	packet_pool_destroy(b.hca.packets);
	memory_free(&a.hca);
	memory_free(&b.hca);
	assert_int_equal(core.count, 0);
	event_core_free(&core);
	return 0;
}

static void state_set(struct device *d, unsigned logical)
{
	port_of(d)->logical = (uint8_t)logical;
	link_port_logical_changed(&d->hca, 1);
}

/* What firmware and a subnet manager set. */
static void configure(struct device *d, uint16_t lid)
{
	struct port_config *c = port_of(d);

	c->lid = lid;
	c->oper_vls = 2; /* VL 0 and 1 */
	c->sl2vl[OTHER_SL] = 1;
	c->sl2vl[MANAGEMENT_SL] = VL_MANAGEMENT;
	state_set(d, LOGICAL_ACTIVE);
}

static int start_active(void **state)
{
	start(state);
	link_port_command(&a.hca, 1, FW_PORT_UP);
	link_port_command(&b.hca, 1, FW_PORT_UP);
	run_for(TRAINING);
	configure(&a, 1);
	configure(&b, 2);
	return 0;
}

static uint64_t send_by(struct device *d, uint8_t opcode, unsigned sl, uint16_t dlid, uint32_t psn)
{
	const struct packet_path path = {.port = 1, .sl = (uint8_t)sl, .dlid = dlid};
	const struct packet_headers h = {
		.opcode = opcode, .psn = psn, .dest_qpn = sl == MANAGEMENT_SL ? 0 : 0x45};
	struct packet *pkt = packet_alloc(&d->hca);

	packet_build(&d->hca, pkt, &path, &h,
		     bth_op_is(bth_op_find(opcode), BTH_PAYLOAD) ? PAYLOAD : 0);
	packet_seal(&d->hca, pkt);
	return link_port_send(&d->hca, pkt);
}

static uint64_t send(struct device *d, uint16_t dlid, uint32_t psn)
{
	return send_by(d, BTH_RC_WRITE_ONLY, 0, dlid, psn);
}

static void receiver_frees(unsigned n)
{
	packet_free(arrivals[n].pkt);
	arrivals[n].pkt = NULL;
}

static void expect_arrival(unsigned n, const struct device *d, uint32_t psn, uint64_t at_ps)
{
	assert_true(n < n_arrivals);
	assert_ptr_equal(arrivals[n].hca, &d->hca);
	assert_int_equal(arrivals[n].pkt->psn, psn);
	assert_int_equal(arrivals[n].at_ps, at_ps);
}

static uint64_t serialise_ps(unsigned bytes)
{
	return (uint64_t)(bytes + LINK_DELIMITERS) * FS_PER_BYTE / 1000;
}

#define assert_counter(d, counter, value)                                                          \
	assert_int_equal(port_of(d)->counters[FW_PC_##counter], value)

/* --- the physical layer --- */

static void trained_when_both_want(void **state)
{
	assert_int_equal(port_of(&a)->phys, PHYS_DISABLED);
	link_port_command(&a.hca, 1, FW_PORT_UP);
	run_for(10 * TRAINING);
	assert_int_equal(port_of(&a)->phys, PHYS_POLLING);
	assert_int_equal(a.changes, 1);
	link_port_command(&b.hca, 1, FW_PORT_UP);
	assert_int_equal(port_of(&a)->phys, PHYS_TRAINING);
	assert_int_equal(port_of(&b)->phys, PHYS_TRAINING);
	assert_false(link_port_is_quiet(&b.hca, 1));
	run_for(TRAINING - 1);
	assert_int_equal(port_of(&a)->phys, PHYS_TRAINING);
	run_for(1);
	for (struct device *d = &a; d; d = d == &a ? &b : NULL) {
		assert_int_equal(port_of(d)->phys, PHYS_LINK_UP);
		assert_int_equal(port_of(d)->logical, LOGICAL_INIT);
		assert_int_equal(d->changes, 3);
		assert_true(link_port_is_quiet(&d->hca, 1));
	}
}

/* The port that could be faster uses the rate of the slower one. */
static void both_take_what_both_can(void **state)
{
	b.params.link_speed = CFG_SPEED_FDR;
	b.params.link_width = 1;
	link_port_command(&a.hca, 1, FW_PORT_UP);
	link_port_command(&b.hca, 1, FW_PORT_UP);
	run_for(TRAINING);
	for (struct device *d = &a; d; d = d == &a ? &b : NULL) {
		assert_int_equal(link_port_speed(&d->hca, 1) & 0xf, 4); /* QDR */
		assert_int_equal(link_port_width(&d->hca, 1) & 0xff, 1);
		configure(d, d == &a ? 1 : 2);
	}
	send(&b, 1, 0);
	run_for(CFG_MS(1));
	expect_arrival(0, &a, 0, TRAINING + 4 * serialise_ps(LEN) + WAY);
}

static void cable_pulled_and_plugged(void **state)
{
	const unsigned changes = b.changes;

	for (unsigned i = 0; i < 3; i++)
		send(&a, 2, i); /* there are no credits for the third */
	hca_link_set(&b.hca, 1, false);
	for (struct device *d = &a; d; d = d == &a ? &b : NULL) {
		assert_int_equal(port_of(d)->phys, PHYS_POLLING);
		assert_int_equal(port_of(d)->logical, LOGICAL_DOWN);
		assert_counter(d, LINK_DOWNED, 1);
	}
	assert_int_equal(b.changes, changes + 1);
	assert_counter(&a, XMIT_DISCARDS, 1);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 0); /* packets on the wire are lost */
	assert_int_equal(b.hca.stats.link_port_rx_dropped, 2);
	send(&a, 2, 3);
	assert_counter(&a, XMIT_DISCARDS, 2);
	hca_link_set(&b.hca, 1, true);
	run_for(TRAINING);
	assert_int_equal(port_of(&a)->logical, LOGICAL_INIT);
	configure(&a, 1);
	configure(&b, 2);
	/* the ports have all their credits again */
	for (unsigned i = 0; i < 2; i++)
		send(&a, 2, 10 + i);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 2);
	assert_int_equal(arrivals[0].pkt->psn, 10);
}

static void disabled_port_stays_down(void **state)
{
	link_port_command(&b.hca, 1, FW_PORT_DISABLE);
	assert_int_equal(port_of(&b)->phys, PHYS_DISABLED);
	assert_int_equal(port_of(&a)->phys, PHYS_POLLING);
	hca_link_set(&a.hca, 1, false);
	hca_link_set(&a.hca, 1, true);
	run_for(2 * TRAINING);
	assert_int_equal(port_of(&a)->phys, PHYS_POLLING);
	link_port_command(&b.hca, 1, FW_PORT_UP);
	run_for(TRAINING);
	assert_int_equal(port_of(&a)->phys, PHYS_LINK_UP);
}

/* --- the way of a packet --- */

static void one_behind_the_other(void **state)
{
	const uint64_t now = core.now_ps, gap = GAP_BYTES * FS_PER_BYTE / 1000;

	assert_int_equal(send(&a, 2, 1), now + serialise_ps(LEN) + TX_LATENCY);
	send(&a, 2, 2);
	assert_int_equal(link_port_backlog_ps(&a.hca, 1, 0), 2 * (serialise_ps(LEN) + gap));
	assert_false(link_port_is_quiet(&b.hca, 1));
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 2);
	expect_arrival(0, &b, 1, now + serialise_ps(LEN) + WAY);
	expect_arrival(1, &b, 2, now + 2 * serialise_ps(LEN) + gap + WAY);
	assert_int_equal(arrivals[0].pkt->len, LEN);
	assert_true(link_port_is_quiet(&b.hca, 1));
	assert_counter(&a, XMIT_PKTS, 2);
	assert_counter(&a, XMIT_DATA, 2 * (LEN - VCRC_BYTES) / 4);
	assert_counter(&b, RCV_PKTS, 2);
	assert_counter(&b, RCV_DATA, 2 * (LEN - VCRC_BYTES) / 4);
	assert_int_equal(link_port_backlog_ps(&a.hca, 1, 0), 0);
}

static void what_a_state_lets_pass(void **state)
{
	b.params.link_rx_buffer = 1024; /* room for management packets */
	/* Initialize: only management packets pass */
	state_set(&a, LOGICAL_INIT);
	state_set(&b, LOGICAL_INIT);
	send(&a, 2, 1);
	send_by(&a, BTH_UD_SEND_ONLY, MANAGEMENT_SL, LID_PERMISSIVE, 2);
	run_for(CFG_MS(1));
	assert_counter(&a, XMIT_DISCARDS, 1);
	assert_int_equal(n_arrivals, 1);
	assert_int_equal(arrivals[0].pkt->psn, 2);
	/* Armed: sends no data, but receives it, and then becomes Active */
	state_set(&b, LOGICAL_ARMED);
	send(&b, 1, 3);
	assert_counter(&b, XMIT_DISCARDS, 1);
	state_set(&a, LOGICAL_ACTIVE);
	b.changes = 0;
	send(&a, 2, 4);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 2);
	assert_int_equal(port_of(&b)->logical, LOGICAL_ACTIVE);
	assert_int_equal(b.changes, 1);
	/* a receiver below Armed accepts no data */
	state_set(&b, LOGICAL_INIT);
	send(&a, 2, 5);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 2);
	assert_int_equal(b.hca.stats.link_port_rx_dropped, 1);
}

/* --- credits --- */

static void waits_for_credits(void **state)
{
	uint64_t from;

	for (unsigned i = 0; i < 4; i++)
		send(&a, 2, i);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 2);
	assert_int_equal(a.hca.stats.link_port_credit_stalls, 2);
	assert_int_equal(link_port_backlog_ps(&a.hca, 1, 0), 2 * LEN * FS_PER_BYTE / 1000);
	assert_int_equal(link_port_backlog_ps(&a.hca, 1, 1),
			 0); /* another lane waits for nothing */
	assert_false(link_port_is_quiet(&a.hca, 1));
	from = core.now_ps;
	receiver_frees(0);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 3);
	expect_arrival(2, &b, 2, from + CREDIT_WAY + serialise_ps(LEN) + WAY);
	/* Counts units of the time of four bytes. The packet has waited since it was sent, at the
	 * beginning. */
	assert_counter(&a, XMIT_WAIT,
		       (from + CREDIT_WAY - TRAINING) * 1000 / (4 * (uint64_t)FS_PER_BYTE));
	receiver_frees(2);
	run_for(CFG_MS(1));
	assert_int_equal(arrivals[3].pkt->psn, 3);
	assert_true(link_port_is_quiet(&a.hca, 1));
}

/* A virtual lane without credits does not delay others. */
static void lanes_have_their_own_credits(void **state)
{
	for (unsigned i = 0; i < 3; i++)
		send(&a, 2, i);
	send_by(&a, BTH_RC_WRITE_ONLY, OTHER_SL, 2, 7);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 3);
	assert_int_equal(arrivals[2].pkt->psn, 7);
	assert_int_equal(arrivals[2].pkt->vl, 1);
}

/* A packet that has credits waits behind one that has none. */
static void small_does_not_pass_large(void **state)
{
	send(&a, 2, 0);
	send_by(&a, BTH_RC_ACKNOWLEDGE, 0, 2, 1); /* one block */
	send(&a, 2, 2);
	send_by(&a, BTH_RC_ACKNOWLEDGE, 0, 2, 3);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 2);
	receiver_frees(1);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 3);
	assert_int_equal(arrivals[2].pkt->psn, 2);
	receiver_frees(2);
	run_for(CFG_MS(1));
	assert_int_equal(arrivals[3].pkt->psn, 3);
}

/* More credits return at the same time than there are slots. They are added together, and none is
 * lost. */
static void credits_come_back_whole(void **state)
{
	enum { PACKETS = 2 * RETURN_SLOTS };

	b.params.link_rx_buffer = PACKETS * 2 * CREDIT_BYTES;
	link_port_command(&a.hca, 1, FW_PORT_UP);
	link_port_command(&b.hca, 1, FW_PORT_UP);
	run_for(TRAINING);
	configure(&a, 1);
	configure(&b, 2);
	for (unsigned round = 0; round < 3; round++) {
		n_arrivals = 0;
		for (unsigned i = 0; i < PACKETS; i++)
			send(&a, 2, i);
		run_for(CFG_MS(1));
		assert_int_equal(n_arrivals, PACKETS);
		for (unsigned i = 0; i < PACKETS; i++)
			receiver_frees(i);
		run_for(CREDIT_WAY);
	}
	n_arrivals = 0;
	assert_int_equal(a.hca.stats.link_port_credit_stalls, 0);
	for (unsigned i = 0; i <= PACKETS; i++)
		send(&a, 2, i);
	run_for(CFG_MS(1));
	/* and no more packets leave than there is room for */
	assert_int_equal(n_arrivals, PACKETS);
	assert_int_equal(a.hca.stats.link_port_credit_stalls, 1);
}

static void head_of_a_queue_lives_so_long(void **state)
{
	a.params.link_hoq_life = 5 * WAY;
	for (unsigned i = 0; i < 3; i++)
		send(&a, 2, i);
	run_for(5 * WAY - 1);
	assert_counter(&a, XMIT_DISCARDS, 0);
	run_for(1);
	assert_counter(&a, XMIT_DISCARDS, 1);
	assert_int_equal(packet_pool_in_use(&a.hca), 2);
	assert_true(link_port_is_quiet(&a.hca, 1));
}

/* --- loopback --- */

static void loops_back(void **state)
{
	const uint64_t now = core.now_ps;

	for (unsigned i = 0; i < 3; i++)
		send(&a, 1, i);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 2); /* the port's own buffer has room for two */
	expect_arrival(0, &a, 0, now + serialise_ps(LEN));
	expect_arrival(1, &a, 1, now + 2 * serialise_ps(LEN));
	assert_true(arrivals[0].pkt->loopback);
	receiver_frees(0); /* credits inside the port are back at once */
	run_for(serialise_ps(LEN));
	assert_int_equal(n_arrivals, 3);
	assert_counter(&a, XMIT_PKTS, 0);
	assert_counter(&a, RCV_PKTS, 0);
}

/* --- what the receiving end refuses --- */

static void management_has_no_credits(void **state)
{
	b.params.link_rx_buffer = 1024; /* room for two */
	for (unsigned i = 0; i < 3; i++)
		send_by(&a, BTH_UD_SEND_ONLY, MANAGEMENT_SL, LID_PERMISSIVE, i);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 2);
	assert_counter(&b, VL15_DROPPED, 1);
	receiver_frees(0);
	send_by(&a, BTH_UD_SEND_ONLY, MANAGEMENT_SL, LID_PERMISSIVE, 3);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 3);
	assert_counter(&b, VL15_DROPPED, 1);
}

static void send_mad(struct device *d, unsigned method, uint64_t tid)
{
	const struct packet_path path = {.port = 1, .sl = MANAGEMENT_SL, .dlid = LID_PERMISSIVE};
	const struct packet_headers h = {.opcode = BTH_UD_SEND_ONLY};
	struct packet *pkt = packet_alloc(&d->hca);
	struct mad_hdr *mad;

	packet_build(&d->hca, pkt, &path, &h, PAYLOAD);
	mad = (struct mad_hdr *)packet_payload(pkt);
	memset(mad, 0, PAYLOAD);
	mad_hdr_set_mgmt_class(mad, MAD_CLASS_SUBN_LID);
	mad_hdr_set_method(mad, method);
	mad_hdr_set_tid(mad, tid);
	packet_seal(&d->hca, pkt);
	link_port_send(&d->hca, pkt);
	run_for(CFG_MS(1));
}

/* For who asks why nothing goes on. */
static void knows_what_it_was_asked(void **state)
{
	const struct port_asked *asked = &port_of(&b)->asked;

	b.params.link_rx_buffer = 1 << 20;
	send_mad(&a, MAD_METHOD_TRAP, 1);
	assert_false(asked->waits);
	send_mad(&a, MAD_METHOD_SET, 2);
	assert_true(asked->waits);
	assert_int_equal(asked->tid, 2);
	assert_int_equal(asked->method, MAD_METHOD_SET);
	send_mad(&b, MAD_METHOD_GET_RESP, 1);
	send_mad(&b, MAD_METHOD_GET, 2);
	assert_true(asked->waits);
	send_mad(&b, MAD_METHOD_GET_RESP, 2);
	assert_false(asked->waits);
}

static void checks_crcs(void **state)
{
	uint8_t wire[LEN];

	send(&a, 2, 1);
	run_for(CFG_MS(1));
	packet_need_crcs(arrivals[0].pkt);
	memcpy(wire, arrivals[0].pkt->wire, LEN);
	wire[LEN - 1] ^= 1;
	hca_inject(&b.hca, 1, wire, LEN);
	assert_counter(&b, SYMBOL_ERROR, 1);
	assert_counter(&b, RCV_ERRORS, 1);
	/* Wrong data with a right VCRC: changed before the last hop. */
	wire[LEN - 1] ^= 1;
	wire[LEN - CRC_BYTES - 1] ^= 1;
	wire[LEN - 2] = (uint8_t)crc_vcrc(wire, LEN - VCRC_BYTES);
	wire[LEN - 1] = (uint8_t)(crc_vcrc(wire, LEN - VCRC_BYTES) >> 8);
	hca_inject(&b.hca, 1, wire, LEN);
	assert_counter(&b, SYMBOL_ERROR, 1);
	assert_counter(&b, RCV_ERRORS, 2);
	assert_int_equal(n_arrivals, 1);
	memcpy(wire, arrivals[0].pkt->wire, LEN);
	hca_inject(&b.hca, 1, wire, LEN);
	assert_int_equal(n_arrivals, 2);
	/* an injected packet has taken no credits, so it returns none */
	receiver_frees(1);
	send(&a, 2, 2);
	send(&a, 2, 3);
	run_for(CFG_MS(1));
	assert_int_equal(n_arrivals, 3);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, finish)
#define A(test) cmocka_unit_test_setup_teardown(test, start_active, finish)
	const struct CMUnitTest tests[] = {
		T(trained_when_both_want),
		T(both_take_what_both_can),
		A(cable_pulled_and_plugged),
		A(disabled_port_stays_down),
		A(one_behind_the_other),
		A(what_a_state_lets_pass),
		A(waits_for_credits),
		A(lanes_have_their_own_credits),
		A(small_does_not_pass_large),
		T(credits_come_back_whole),
		A(head_of_a_queue_lives_so_long),
		A(loops_back),
		A(management_has_no_credits),
		A(knows_what_it_was_asked),
		A(checks_crcs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
