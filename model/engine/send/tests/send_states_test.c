/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a send queue. Each list of states must represent the same facts as separate flags
 * would, for every order of events. And a queue must reach each state for the reason that the
 * state's row gives.
 */
#include "model/engine/send/tests/requester_rig.h"

static int rc(void **state)
{
	rig_create(QP_ST_RC);
	return 0;
}

static int end(void **state)
{
	rig_destroy();
	return 0;
}

static const struct rig_wqe send64 = {.opcode = WQE_SEND, .sge = {{64, 0, RIG_DATA}}, .n_sge = 1};
static const struct rig_wqe read64 = {
	.opcode = WQE_RDMA_READ, .sge = {{64, 0, RIG_DATA}}, .n_sge = 1};

/* --- the lists --- */

enum { EVENTS_IN_A_ROW = 6 };

/* Facts of the work states: WQEs are being taken; a doorbell is to be checked. */
struct work_facts {
	bool begun, unchecked;
};

static void work_event(struct qp_send *send, struct work_facts *facts, unsigned event)
{
	switch (event) {
	case 0:
		send_work_ring(send);
		facts->unchecked = true;
		break;
	case 1:
		send_work_refuse(send);
		facts->unchecked = false;
		break;
	case 2: /* as scheduler_doorbell_check() does */
		send->work = SEND_WORK_BEGUN;
		*facts = (struct work_facts){.begun = true};
		break;
	default:
		send_work_end(send);
		facts->begun = false;
	}
}

/* Facts of the tail states: a doorbell has come since the last read; BlueFlame announces the end; a
 * read has found the end. */
struct tail_facts {
	bool rung, blueflame, seen;
};

static void tail_event(struct qp_send *send, struct tail_facts *facts, unsigned event)
{
	switch (event) {
	case 0: /* as scheduler_doorbell() does */
		send->tail = SEND_TAIL_RUNG;
		*facts = (struct tail_facts){.rung = true};
		break;
	case 1: /* as scheduler_blueflame() does */
		send->tail = SEND_TAIL_BLUEFLAME;
		*facts = (struct tail_facts){.blueflame = true};
		break;
	case 2:
		send_tail_begin_read(send);
		facts->rung = false;
		break;
	case 3:
	case 4:
		send_tail_set_seen(send, event == 3);
		facts->seen = event == 3 && !facts->rung;
		break;
	default:
		send_tail_end_blueflame(send);
		facts->blueflame = false;
	}
}

/* Facts of the mode states: the receiver is not ready; the timer ran out while firmware had the
 * context. */
struct mode_facts {
	bool rnr, late;
};

static void mode_event(struct qp_send *send, struct mode_facts *facts, unsigned event)
{
	switch (event) {
	case 0:
		send_mode_begin_rnr(send);
		facts->rnr = true;
		break;
	case 1:
		send_mode_end_rnr(send);
		facts->rnr = false;
		break;
	case 2:
		send_mode_begin_late(send);
		facts->late = true;
		break;
	default:
		assert_int_equal(send_mode_end_late(send), facts->late);
		facts->late = false;
	}
}

/* Every sequence of events. Digit i of `row`, in base 6, selects event i. */
static void facts_are_kept(void **state)
{
	unsigned rows = 1, seen = 0;

	for (unsigned i = 0; i < EVENTS_IN_A_ROW; i++)
		rows *= 6;
	for (unsigned row = 0; row < rows; row++) {
		struct qp_send send = {0};
		struct work_facts work = {0};
		struct tail_facts tail = {0};
		struct mode_facts mode = {0};

		for (unsigned i = 0, left = row; i < EVENTS_IN_A_ROW; i++, left /= 6) {
			work_event(&send, &work, left % 4);
			tail_event(&send, &tail, left % 6);
			mode_event(&send, &mode, left % 4);
			assert_int_equal(send_work_is_begun(&send), work.begun);
			assert_int_equal(send_work_is_unchecked(&send), work.unchecked);
			assert_int_equal(send.tail == SEND_TAIL_RUNG, tail.rung);
			assert_int_equal(send_tail_is_blueflame(&send), tail.blueflame);
			assert_int_equal(send_tail_is_seen(&send), tail.seen);
			assert_int_equal(send_mode_is_rnr(&send), mode.rnr);
			seen |= 1u << send.work | 1u << (8 + send.tail) | 1u << (16 + send.mode);
		}
	}
	/* All states except RUNG_BLUEFLAME and FLUSHING have been seen. The tests of queues below
	 * reach these two. */
	assert_int_equal(seen & 0xff,
			 (1u << SEND_WORK_COUNT) - 1 - (1u << SEND_WORK_RUNG_BLUEFLAME));
	assert_int_equal(seen >> 8 & 0xff, (1u << SEND_TAIL_COUNT) - 1);
	assert_int_equal(seen >> 16, (1u << SEND_MODE_COUNT) - 1 - (1u << SEND_MODE_FLUSHING));
}

/* --- queues --- */

static struct qp_send *queue(void)
{
	struct qp *qp = qp_find(&rig->hca, RIG_QPN);

	assert_non_null(qp);
	return &qp->send;
}

/* A doorbell is checked when the context has been read. The unit stalls until then. */
static void context(void **state)
{
	rig->miss = true;
	rig_post(&send64);
	assert_int_equal(queue()->work, SEND_WORK_RUNG);
	assert_int_equal(queue()->tail, SEND_TAIL_RUNG);
	event_core_run_until(&rig->core, RIG_DMA_PS / 2);
	assert_int_equal(queue()->state, SEND_WAIT_CONTEXT);
	assert_int_equal(queue()->work, SEND_WORK_RUNG);
	event_core_run_until(&rig->core, RIG_DMA_PS * 3 / 2);
	assert_int_equal(queue()->state, SEND_WAIT_MEMORY);
	assert_int_equal(queue()->work, SEND_WORK_BEGUN);
	assert_int_equal(queue()->tail, SEND_TAIL_UNREAD);
	scheduler_doorbell(&rig->hca, RIG_QPN, RIG_UAR);
	assert_int_equal(queue()->work, SEND_WORK_BEGUN_RUNG);
	rig_run_us(10);
	assert_int_equal(rig->n_sent, 1);
	assert_int_equal(queue()->work, SEND_WORK_NONE);
	assert_int_equal(queue()->tail, SEND_TAIL_SEEN);
	assert_int_equal(queue()->state, SEND_IDLE);
	rig_ack(0xfffffe);
}

static void blueflame(void **state)
{
	const struct rig_wqe w = {.opcode = WQE_SEND, .sge = {{4, 0, 0, "abcd"}}, .n_sge = 1};
	uint8_t bytes[RIG_STRIDE];

	memcpy(bytes, rig_write_wqe(&w), sizeof(bytes));
	scheduler_blueflame(&rig->hca, RIG_QPN, 0, bytes, 64, RIG_UAR);
	assert_int_equal(queue()->work, SEND_WORK_RUNG_BLUEFLAME);
	assert_int_equal(queue()->tail, SEND_TAIL_BLUEFLAME);
	rig_run_us(10);
	/* all announced WQEs have been taken */
	assert_int_equal(queue()->work, SEND_WORK_NONE);
	assert_int_equal(queue()->tail, SEND_TAIL_UNREAD);
	rig_ack(0xfffffe);
}

/* The QP may have four READs outstanding. The fifth waits, and requester_describe() says what
 * for. */
static void reads(void **state)
{
	char text[160];

	for (unsigned i = 0; i < 5; i++)
		rig_post(&read64);
	rig_run_us(10);
	assert_int_equal(rig->n_sent, 4);
	assert_int_equal(queue()->state, SEND_WAIT_READS);
	requester_describe(qp_find(&rig->hca, RIG_QPN), text, sizeof(text));
	assert_string_equal(text, "send queue: state WAIT_READS waits for reads and atomics: "
				  "requester_progress; work BEGUN, tail SEEN, mode NORMAL");
}

static void window(void **state)
{
	for (unsigned i = 0; i < SEND_WINDOW + 1; i++)
		rig_post(&send64);
	rig_run_us(50);
	assert_int_equal(rig->n_sent, SEND_WINDOW);
	assert_int_equal(queue()->state, SEND_WAIT_WINDOW);
	rig_ack(0xfffffe);
	rig_run_us(10);
	assert_int_equal(rig->n_sent, SEND_WINDOW + 1);
	/* The window is full again. Whether there is one more WQE has not been checked yet. */
	assert_int_equal(queue()->state, SEND_WAIT_WINDOW);
	rig_ack(0xffffff);
	rig_run_us(10);
	assert_int_equal(queue()->state, SEND_IDLE);
}

/* The receiver is not ready, and the wait ends while firmware has the context. */
static void receiver(void **state)
{
	struct qp *qp;

	rig_post(&send64);
	rig_run_us(10);
	rig_answer(BTH_RC_ACKNOWLEDGE, 0xfffffe, aeth_syndrome(AETH_RNR_NAK, 1), 0, NULL, 0, 0);
	rig_run_us(2);
	assert_int_equal(queue()->mode, SEND_MODE_RNR);
	assert_int_equal(queue()->state, SEND_WAIT_RNR);
	qp = qp_find(&rig->hca, RIG_QPN);
	qp->quiescing = true;
	rig_run_us(1000);
	assert_int_equal(queue()->mode, SEND_MODE_RNR_LATE);
	assert_int_equal(rig->n_sent, 1);
	qp_resume(&rig->hca, RIG_QPN);
	assert_int_equal(queue()->mode, SEND_MODE_NORMAL);
	rig_run_us(10);
	assert_int_equal(rig->n_sent, 2);
}

/* The ACK timer runs out while firmware has the context. */
static void late(void **state)
{
	rig_post(&send64);
	rig_run_us(10);
	qp_find(&rig->hca, RIG_QPN)->quiescing = true;
	rig_run_us(20000);
	assert_int_equal(queue()->mode, SEND_MODE_LATE);
	assert_int_equal(rig->n_sent, 1);
	qp_resume(&rig->hca, RIG_QPN);
	assert_int_equal(queue()->mode, SEND_MODE_NORMAL);
	rig_run_us(10);
	assert_int_equal(rig->n_sent, 2);
	assert_true(rig->sent[1].resent);
}

/* A NAK moves the QP to ERR. Later requests are flushed, but not while firmware has the context. */
static void flushing(void **state)
{
	rig_post(&send64);
	rig_post(&send64);
	rig_run_us(10);
	rig_nak(0xfffffe, NAK_REM_ACCESS);
	assert_int_equal(queue()->mode, SEND_MODE_FLUSHING);
	qp_find(&rig->hca, RIG_QPN)->quiescing = true;
	rig_run_us(10);
	assert_int_equal(queue()->state, SEND_WAIT_FIRMWARE);
	assert_int_equal(rig->n_cqes, 1);
	qp_resume(&rig->hca, RIG_QPN);
	assert_int_equal(queue()->mode, SEND_MODE_FLUSHING);
	rig_run_us(10);
	rig_expect_cqe(1, 1, 0, CQE_SYND_WR_FLUSH_ERR);
	assert_null(qp_find(&rig->hca, RIG_QPN));
}

int main(void)
{
#define RC(test) cmocka_unit_test_setup_teardown(test, rc, end)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_kept),
		RC(context),
		RC(blueflame),
		RC(reads),
		RC(window),
		RC(receiver),
		RC(late),
		RC(flushing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
