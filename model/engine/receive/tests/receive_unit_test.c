/* SPDX-License-Identifier: Apache-2.0 */
/* The receive unit: how long a packet occupies it, the order of packets, and who gets each
 * packet. */
#include "model/engine/base/engine.h"
#include "model/engine/qp/qp.h"
#include "model/engine/receive/multicast.h"
#include "model/engine/receive/receive_unit.h"
#include "model/engine/receive/responder.h"
#include "model/engine/send/requester.h"
#include "model/engine/wire/packet.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/sim/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
	/* all different, so that a sum shows its parts */
	RX = 1000,
	RX_READ = 10,
	SCATTER = 200,
	SECOND_STEP = 3,
	CHUNK = 40,
	LATENCY = 70000,
	STORE = 2,
	SMALL = 32,
	CHUNK_BYTES = 256,

	QPN = 0x45,
	OTHER_QPN = 0x46, /* there is no such QP */
	SPECIAL_QP = 0x40,
	LOG = 16,
};

enum taker { REQUESTER, RESPONDER, MULTICAST, DROPPED };

static struct event_core core;
static struct hca_params params;
static struct hca hca;
static struct qp qp;
static struct handed {
	const struct packet *pkt;
	enum taker taker;
	uint32_t qpn;
	uint64_t at_ps;
} handed[LOG];
static unsigned n_handed, n_freed;
static const char *dropped_because;

/* --- who gets packets --- */

static void note(const struct packet *pkt, enum taker taker)
{
	assert_true(n_handed < LOG);
	handed[n_handed++] = (struct handed){pkt, taker, pkt->qpn, core.now_ps};
}

struct qp *qp_make(struct hca *h, uint32_t qpn)
{
	qp.qpn = qpn;
	return qpn == OTHER_QPN ? NULL : &qp;
}

void requester_response(struct qp *to, struct packet *pkt)
{
	assert_ptr_equal(to, &qp);
	note(pkt, REQUESTER);
}

void responder_request(struct qp *to, struct packet *pkt)
{
	assert_ptr_equal(to, &qp);
	note(pkt, RESPONDER);
}

void multicast_receive(struct hca *h, struct packet *pkt)
{
	note(pkt, MULTICAST);
}

void packet_drop(struct hca *h, struct packet *pkt, const char *why)
{
	dropped_because = why;
	note(pkt, DROPPED);
}

void packet_free(struct packet *pkt)
{
	n_freed++;
}

uint64_t packet_traits(const struct packet *pkt)
{
	return 0;
}

/* --- the unit alone --- */

static int start(void **state)
{
	params = (struct hca_params){
		.packet_rx_gap = RX,
		.packet_rx_read_gap = RX_READ,
		.packet_rx_scatter_gap = SCATTER,
		.packet_large_gap = SECOND_STEP,
		.packet_rx_chunk_gap = CHUNK,
		.packet_rx_latency = LATENCY,
		.packet_store = STORE,
		.packet_small = SMALL,
		.packet_chunk = CHUNK_BYTES,
	};
	event_core_init(&core);
	hca = (struct hca){.core = &core, .params = &params};
	hca.receive_unit = receive_unit_create(&hca);
	n_handed = n_freed = 0;
	dropped_because = NULL;
	return 0;
}

static int finish(void **state)
{
	receive_unit_reset(&hca);
	receive_unit_destroy(hca.receive_unit);
	assert_int_equal(core.count, 0);
	event_core_free(&core);
	return 0;
}

static struct packet packet(uint8_t opcode, uint32_t payload)
{
	return (struct packet){
		.op = bth_op_find(opcode), .payload_len = (uint16_t)payload, .qpn = QPN, .port = 1};
}

static void expect_handed(unsigned n, const struct packet *pkt, uint64_t at_ps)
{
	assert_true(n < n_handed);
	assert_ptr_equal(handed[n].pkt, pkt);
	assert_int_equal(handed[n].at_ps, at_ps);
}

/* --- how long --- */

/* How long a packet occupies the unit: until the next packet has its turn. */
static uint64_t held_by(uint8_t opcode, uint32_t payload)
{
	static struct packet pkt, behind;

	pkt = behind = packet(opcode, payload);
	receive_unit_take(&hca, &pkt);
	receive_unit_take(&hca, &behind);
	event_core_run_until(&core, 10 * RX);
	assert_int_equal(n_handed, 2);
	return handed[1].at_ps;
}

static void held(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t payload;
		uint64_t held;
	} rows[] = {
		/* the packet itself names the destination of its data */
		{BTH_RC_WRITE_ONLY, SMALL, RX},
		{BTH_RC_WRITE_ONLY, CHUNK_BYTES + 1, RX + CHUNK},
		/* a WQE names the destination, but there is no data */
		{BTH_UD_SEND_ONLY, 0, RX},
		{BTH_RC_SEND_ONLY, 0, RX},
		{BTH_RC_READ_RESP_ONLY, 0, RX},
		{BTH_UD_SEND_ONLY, 1, RX + SCATTER},
		{BTH_UD_SEND_ONLY, SMALL, RX + SCATTER},
		{BTH_UD_SEND_ONLY, SMALL + 1, RX + SCATTER + SECOND_STEP},
		{BTH_RC_READ_RESP_ONLY, SMALL, RX + SCATTER},
		{BTH_RC_READ_RESP_ONLY, CHUNK_BYTES, RX + SCATTER + SECOND_STEP},
		{BTH_RC_READ_RESP_ONLY, CHUNK_BYTES + 1, RX + SCATTER + SECOND_STEP + CHUNK},
		{BTH_RC_ATOMIC_ACKNOWLEDGE, 0, RX + SCATTER},
		{BTH_RC_READ_REQUEST, 0, RX + RX_READ},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t is;

		finish(NULL);
		start(NULL);
		is = held_by(rows[i].opcode, rows[i].payload);
		if (is != rows[i].held)
			fail_msg("row %u: held for %llu, expected %llu", i, (unsigned long long)is,
				 (unsigned long long)rows[i].held);
	}
}

/* --- order --- */

static void one_after_the_other(void **state)
{
	struct packet p[4];

	for (unsigned i = 0; i < 4; i++) {
		p[i] = packet(BTH_RC_WRITE_ONLY, SMALL);
		p[i].len = (uint16_t)(60 + i);
	}
	for (unsigned i = 0; i < 3; i++)
		receive_unit_take(&hca, &p[i]);
	assert_int_equal(n_handed, 1);
	event_core_run_until(&core, 10 * RX);
	assert_int_equal(n_handed, 3);
	for (unsigned i = 0; i < 3; i++) {
		expect_handed(i, &p[i], i * RX);
		/* parsing overlaps with the unit's work on earlier packets */
		assert_int_equal(p[i].ready_ps, i * RX + LATENCY + (60 + i) * STORE);
	}
	assert_int_equal(hca.stats.packet_rx_waits, 2);
	/* the unit is free again: a packet that comes now does not wait */
	receive_unit_take(&hca, &p[3]);
	expect_handed(3, &p[3], 10 * RX);
	assert_int_equal(hca.stats.packet_rx_waits, 2);
}

static void stands_still_for_a_context(void **state)
{
	struct packet first = packet(BTH_RC_WRITE_ONLY, SMALL), second = first, third = first;

	receive_unit_take(&hca, &first);
	receive_unit_take(&hca, &second); /* its turn is at RX */
	event_core_run_until(&core, RX / 2);
	receive_unit_stall(&hca);
	receive_unit_stall(&hca); /* a second context */
	event_core_run_until(&core, 3 * RX);
	assert_int_equal(n_handed, 1);
	receive_unit_take(&hca, &third);
	receive_unit_go_on(&hca);
	event_core_run_until(&core, 4 * RX);
	assert_int_equal(n_handed, 1);
	receive_unit_go_on(&hca);
	event_core_run_until(&core, 10 * RX);
	assert_int_equal(n_handed, 3);
	expect_handed(1, &second, 4 * RX);
	expect_handed(2, &third, 5 * RX);
	assert_int_equal(hca.stats.packet_rx_stall_ps, 4 * RX - RX / 2);
}

/* A context that arrives while the unit is still busy causes no delay. */
static void goes_on_when_it_is_free(void **state)
{
	struct packet first = packet(BTH_RC_WRITE_ONLY, SMALL), second = first;

	receive_unit_take(&hca, &first);
	receive_unit_stall(&hca);
	receive_unit_take(&hca, &second);
	event_core_run_until(&core, RX / 4);
	receive_unit_go_on(&hca);
	event_core_run_until(&core, 10 * RX);
	expect_handed(1, &second, RX);
}

static void reset_forgets(void **state)
{
	struct packet p[4];

	for (unsigned i = 0; i < 4; i++)
		p[i] = packet(BTH_RC_WRITE_ONLY, SMALL);
	for (unsigned i = 0; i < 3; i++)
		receive_unit_take(&hca, &p[i]);
	receive_unit_stall(&hca);
	receive_unit_reset(&hca);
	assert_int_equal(n_freed, 2);
	assert_int_equal(core.count, 0);
	/* after the reset the unit is neither stalled nor busy */
	receive_unit_take(&hca, &p[3]);
	expect_handed(1, &p[3], 0);
}

/* --- who gets a packet --- */

static void to_its_queue_pair(void **state)
{
	static const struct {
		uint8_t opcode;
		uint8_t port;
		uint32_t qpn;
		enum taker taker;
		uint32_t real_qpn;
	} rows[] = {
		{BTH_RC_WRITE_ONLY, 1, QPN, RESPONDER, QPN},
		{BTH_UD_SEND_ONLY, 2, QPN, RESPONDER, QPN},
		{BTH_RC_READ_REQUEST, 1, QPN, RESPONDER, QPN},
		{BTH_RC_ACKNOWLEDGE, 1, QPN, REQUESTER, QPN},
		{BTH_RC_READ_RESP_ONLY, 1, QPN, REQUESTER, QPN},
		{BTH_RC_ATOMIC_ACKNOWLEDGE, 1, QPN, REQUESTER, QPN},
		{BTH_UD_SEND_ONLY, 1, QPN_MULTICAST, MULTICAST, QPN_MULTICAST},
		{BTH_RC_WRITE_ONLY, 1, OTHER_QPN, DROPPED, OTHER_QPN},
		/* management: QP0 and QP1 of each port */
		{BTH_UD_SEND_ONLY, 1, 0, RESPONDER, SPECIAL_QP},
		{BTH_UD_SEND_ONLY, 2, 0, RESPONDER, SPECIAL_QP + 1},
		{BTH_UD_SEND_ONLY, 1, 1, RESPONDER, SPECIAL_QP + 2},
		{BTH_UD_SEND_ONLY, 2, 1, RESPONDER, SPECIAL_QP + 3},
	};

	hca.special_qp = SPECIAL_QP;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct packet pkt = packet(rows[i].opcode, 0);

		pkt.port = rows[i].port;
		pkt.qpn = rows[i].qpn;
		n_handed = 0;
		receive_unit_reset(&hca);
		receive_unit_take(&hca, &pkt);
		expect_handed(0, &pkt, 0);
		if (handed[0].taker != rows[i].taker || handed[0].qpn != rows[i].real_qpn)
			fail_msg("row %u: taken by %u as qpn 0x%x", i, handed[0].taker,
				 handed[0].qpn);
	}
	assert_string_equal(dropped_because, "no such qp");
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, finish)
	const struct CMUnitTest tests[] = {
		T(held),
		T(one_after_the_other),
		T(stands_still_for_a_context),
		T(goes_on_when_it_is_free),
		T(reset_forgets),
		T(to_its_queue_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
