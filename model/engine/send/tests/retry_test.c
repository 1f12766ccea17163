/* SPDX-License-Identifier: Apache-2.0 */
/* Timers of many QPs; PSN arithmetic. */
#include "model/engine/send/tests/requester_rig.h"
#include "model/interface/macros.h"

enum { QPS = 300 };

/* Deadlines are set, moved and stopped at random. Each is met exactly, except those that were
 * stopped. */
static void deadlines(void **state)
{
	static struct qp qps[QPS];
	uint32_t random = 12345;
	unsigned due = 0;
	size_t footprint;

	rig_create(QP_ST_RC);
	for (unsigned i = 0; i < QPS; i++) {
		qps[i].hca = &rig->hca;
		qps[i].qpn = i;
		requester_half.init(&qps[i]);
		/* in RNR mode, so that the test can see the expiry */
		qps[i].send.mode = SEND_MODE_RNR;
		qps[i].send.turn = TURN_RING;
	}
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < QPS; i++) {
			random = random * 1664525 + 1013904223;
			if (qps[i].send.mode != SEND_MODE_RNR)
				continue;
			if (random >> 29 == 0)
				retry_set_deadline(&qps[i], EVENT_NEVER);
			else
				retry_set_deadline(&qps[i],
						   rig->core.now_ps + (random >> 8) % 5000 + 1);
		}
		event_core_run_until(&rig->core, rig->core.now_ps + 500);
		for (unsigned i = 0; i < QPS; i++) {
			if (qps[i].send.mode == SEND_MODE_RNR)
				assert_true(qps[i].send.deadline_ps > rig->core.now_ps);
			else
				assert_true(qps[i].send.deadline_ps == EVENT_NEVER);
		}
	}
	for (unsigned i = 0; i < QPS; i++)
		due += qps[i].send.mode == SEND_MODE_RNR && qps[i].send.deadline_ps != EVENT_NEVER;
	assert_in_range(due, 1, QPS - 1);
	/* moving a deadline takes no further memory and no further event */
	footprint = retry_footprint(&rig->hca);
	for (unsigned n = 0; n < 1000; n++)
		retry_set_deadline(&qps[0], rig->core.now_ps + 100000 + n);
	assert_int_equal(retry_footprint(&rig->hca), footprint);
	for (unsigned i = 0; i < QPS; i++)
		retry_forget(&qps[i]);
	assert_true(event_core_next_ps(&rig->core) == EVENT_NEVER);
	rig_destroy();
}

/* Timeout codes (IBA 9.7.6.1.3) and RNR codes, and how parameters change their times. */
static void codes(void **state)
{
	rig_create(QP_ST_RC);
	assert_true(retry_ack_timeout_ps(&rig->hca, &rig->qpc) == UINT64_C(1048576000));
	qp_path_set_ack_timeout(qpc_primary(&rig->qpc), 0);
	assert_true(retry_ack_timeout_ps(&rig->hca, &rig->qpc) == EVENT_NEVER);
	qp_path_set_ack_timeout(qpc_primary(&rig->qpc), 31);
	assert_true(retry_ack_timeout_ps(&rig->hca, &rig->qpc) == UINT64_C(4096000) * 2147483648u);
	rig->params.retry_min_code = 16;
	rig->params.retry_ack_timeout_multiplier = 2;
	qp_path_set_ack_timeout(qpc_primary(&rig->qpc), 1);
	assert_true(retry_ack_timeout_ps(&rig->hca, &rig->qpc) == UINT64_C(536870912000));
	assert_true(retry_rnr_ps(&rig->hca, 0) == UINT64_C(655360000000));
	assert_true(retry_rnr_ps(&rig->hca, 1) == UINT64_C(10000000));
	assert_true(retry_rnr_ps(&rig->hca, 25) == UINT64_C(61440000000));
	rig->params.retry_rnr_floor = UINT64_C(100000000);
	assert_true(retry_rnr_ps(&rig->hca, 1) == UINT64_C(100000000));
	rig_destroy();
}

static void psns(void **state)
{
	assert_int_equal(psn_ahead(0, 0xffffff), 1);
	assert_int_equal(psn_ahead(0xffffff, 0), 0xffffff);
	assert_int_equal(psn_ahead(5, 5), 0);
	assert_true(psn_within(1, 0xfffffe, 4));
	assert_false(psn_within(2, 0xfffffe, 4));
	assert_false(psn_within(0xfffffd, 0xfffffe, 4));
	assert_true(psn_within(0x7fffff, 0, 1 << 23));
	assert_false(psn_within(0x800000, 0, 1 << 23));
	assert_int_equal(psn_packets(0, 8), 1);
	assert_int_equal(psn_packets(256, 8), 1);
	assert_int_equal(psn_packets(257, 8), 2);
	assert_int_equal(psn_packets(INT32_MAX, 8), 1 << 23);
}

/* Going back over the PSN wrap finds the right WQE and packet. Local work requests take no PSN. */
static void rewinds(void **state)
{
	static const struct {
		uint32_t psn;
		uint16_t cursor;
		uint32_t packet;
	} rows[] = {
		{0xfffffe, 10, 0}, {0xffffff, 10, 1}, {0, 10, 2},    {1, 12, 0},
		{2, 13, 0},        {0x12, 13, 16},    {0x16, 14, 0},
	};
	struct qp qp = {0};
	struct qp_send *send = &qp.send;

	send->oldest = 10;
	send->next = 14;
	send->acked_psn = 0xfffffe;
	send->max_psn = 0x16;
	send->log_mtu = 10;
	send->window[10] = (struct send_wqe){.first_psn = 0xfffffe, .bytes = 3 * 1024 - 1};
	send->window[11] = (struct send_wqe){.first_psn = 1, .flags = SEND_LOCAL};
	send->window[12] = (struct send_wqe){.first_psn = 1, .bytes = 8, .flags = SEND_ATOMIC};
	send->window[13] =
		(struct send_wqe){.first_psn = 2, .bytes = 20 * 1024, .flags = SEND_READ};
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		retry_rewind(&qp, rows[i].psn);
		assert_int_equal(send->send_psn, rows[i].psn);
		assert_int_equal(send->cursor, rows[i].cursor);
		assert_int_equal(send->cursor_packet, rows[i].packet);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlines),
		cmocka_unit_test(codes),
		cmocka_unit_test(psns),
		cmocka_unit_test(rewinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
