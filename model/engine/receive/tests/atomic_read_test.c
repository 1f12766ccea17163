/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values: InfiniBand Architecture Specification vol. 1, chapter 9. */
#include "model/engine/receive/tests/responder_world.h"

enum { ACK = 0, NAK = 3, FIRST_PSN = 0xfffffe };

static void test_operations(void **state)
{
	struct atomic_operands op = {.swap = true,
				     .swap_add = 0xaaaa5555,
				     .compare = 0x1234,
				     .swap_mask = UINT64_MAX,
				     .compare_mask = UINT64_MAX};

	assert_int_equal(atomic_result(&op, 0x1234), 0xaaaa5555);
	assert_int_equal(atomic_result(&op, 0x1235), 0x1235);
	op.compare_mask = 0xfff0;
	op.swap_mask = 0xff;
	assert_int_equal(atomic_result(&op, 0x1235), 0x1255);
	op = (struct atomic_operands){.swap_add = 1};
	assert_int_equal(atomic_result(&op, UINT64_MAX), 0);
	/* two fields of 32 bits: no carry from one into the other */
	op.compare_mask = UINT64_C(0x8000000080000000);
	assert_true(atomic_result(&op, UINT64_C(0x00000001ffffffff)) ==
		    UINT64_C(0x0000000100000000));
	op.compare_mask = 0;
	assert_true(atomic_result(&op, UINT64_C(0x00000001ffffffff)) ==
		    UINT64_C(0x0000000200000000));
}

static void test_repeats(void **state)
{
	struct rdmarc e = {0};

	rdmarc_set_psn(&e, 0xffffff);
	rdmarc_set_npsn(&e, 3);
	rdmarc_set_va(&e, 0x1000);
	rdmarc_set_rkey(&e, 7);
	rdmarc_set_length(&e, 600);
	assert_true(read_repeats(&e, 0xffffff, 0x1000, 7, 600, 256));
	assert_true(read_repeats(&e, 0, 0x1100, 7, 344, 256));
	assert_true(read_repeats(&e, 1, 0x1200, 7, 88, 256));
	assert_true(read_repeats(&e, 0, 0x1100, 7, 256, 256));
	assert_false(read_repeats(&e, 2, 0x1300, 7, 0, 256));          /* behind it */
	assert_false(read_repeats(&e, 0xfffffe, 0x0f00, 7, 600, 256)); /* before it */
	assert_false(read_repeats(&e, 1, 0x1200, 7, 89, 256));         /* too long */
	assert_false(read_repeats(&e, 1, 0x1100, 7, 88, 256));         /* another place */
	assert_false(read_repeats(&e, 0, 0x1100, 8, 344, 256));        /* another key */
}

static struct packet *read_request(uint32_t psn, uint64_t va, uint32_t rkey, uint32_t len)
{
	return with_reth(request(BTH_RC_READ_REQUEST, psn, 0, true), va, rkey, len);
}

static struct packet *atomic(uint8_t opcode, uint32_t psn, uint64_t va, uint64_t swap_add,
			     uint64_t compare)
{
	struct packet *pkt = request(opcode, psn, 0, true);
	struct atomiceth *eth = (void *)(pkt->wire + pkt->bth_off + pkt->op->at[BTH_EXT_ATOMICETH]);

	atomiceth_set_va(eth, va);
	atomiceth_set_rkey(eth, KEY_GOOD);
	atomiceth_set_swap_add(eth, swap_add);
	atomiceth_set_compare(eth, compare);
	return pkt;
}

static uint64_t original(unsigned i)
{
	return atomicacketh_get_original(resp_ext(w->sent[i], BTH_EXT_ATOMICACKETH));
}

static void test_read(void **state)
{
	static const uint8_t opcodes[] = {BTH_RC_READ_RESP_FIRST, BTH_RC_READ_RESP_MIDDLE,
					  BTH_RC_READ_RESP_MIDDLE, BTH_RC_READ_RESP_LAST};
	unsigned n = 0;

	for (unsigned i = 0; i < 1000; i++)
		*at(WORLD_DATA + i) = (uint8_t)(i * 7);
	/* the answer to the WRITE must come after the READ's responses */
	responder_request(&w->qp, read_request(FIRST_PSN, WORLD_DATA, KEY_GOOD, 1000));
	responder_request(&w->qp, with_reth(request(BTH_RC_WRITE_ONLY, 2, 8, true),
					    WORLD_DATA + 4096, KEY_GOOD, 8));
	run();
	assert_int_equal(w->n_sent, 5);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(bth_get_opcode(resp_bth(w->sent[i])), opcodes[i]);
		assert_int_equal(w->sent[i]->psn, (FIRST_PSN + i) & PSN_MASK);
		for (unsigned k = 0; k < w->sent[i]->payload_len; k++, n++)
			assert_int_equal(packet_payload(w->sent[i])[k], (uint8_t)(n * 7));
	}
	assert_int_equal(n, 1000);
	assert_int_equal(aeth_get_msn(sent_aeth(0)), 1);
	assert_response(4, BTH_RC_ACKNOWLEDGE, 2, ACK, 0);
	assert_int_equal(aeth_get_msn(sent_aeth(4)), 2);
	assert_int_equal(qpc_get_next_rcv_psn(&w->qpc), 3);
	assert_true(responder_half.is_idle(&w->qp));
}

static void test_read_again(void **state)
{
	give(read_request(FIRST_PSN, WORLD_DATA, KEY_GOOD, 1000));
	assert_int_equal(w->n_sent, 4);
	*at(WORLD_DATA + 512) = 0x77;
	give(read_request(0, WORLD_DATA + 512, KEY_GOOD, 488));
	assert_int_equal(w->n_sent, 6);
	assert_response(4, BTH_RC_READ_RESP_FIRST, 0, ACK, 0);
	assert_response(5, BTH_RC_READ_RESP_LAST, 1, ACK, 0);
	assert_int_equal(packet_payload(w->sent[4])[0], 0x77);
	/* outside the range of the first READ: dropped */
	give(read_request(0, WORLD_DATA + 512, KEY_GOOD, 489));
	give(read_request(FIRST_PSN - 1, WORLD_DATA, KEY_GOOD, 8));
	assert_int_equal(w->n_sent, 6);
	assert_int_equal(qpc_get_msn(&w->qpc), 1);
}

static void test_read_zero_length(void **state)
{
	give(read_request(FIRST_PSN, 0, KEY_BAD, 0));
	assert_response(0, BTH_RC_READ_RESP_ONLY, FIRST_PSN, ACK, 0);
	assert_int_equal(w->sent[0]->payload_len, 0);
	assert_int_equal(qpc_get_next_rcv_psn(&w->qpc), 0xffffff);
}

static void test_read_refused(void **state)
{
	give(read_request(FIRST_PSN, WORLD_DATA, KEY_BAD, 8));
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, NAK, 2);
	assert_int_equal(w->events[0], EVENT_WQ_ACCESS_ERROR);
}

static void test_too_many_reads(void **state)
{
	/* four resources; the fifth request comes before any is answered */
	for (unsigned i = 0; i < 5; i++)
		responder_request(&w->qp, read_request(FIRST_PSN + i, WORLD_DATA, KEY_GOOD, 8));
	run();
	assert_int_equal(w->n_sent, 5);
	assert_response(3, BTH_RC_READ_RESP_ONLY, FIRST_PSN + 3, ACK, 0);
	assert_response(4, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 4, NAK, 1);
	assert_int_equal(w->errors, 1);
}

static void test_atomics(void **state)
{
	uint64_t value = 40;

	memcpy(at(WORLD_DATA), &value, sizeof(value)); /* host memory is little-endian */
	give(atomic(BTH_RC_FETCH_ADD, FIRST_PSN, WORLD_DATA, 2, 0));
	give(atomic(BTH_RC_COMPARE_SWAP, FIRST_PSN + 1, WORLD_DATA, 99, 42));
	memcpy(&value, at(WORLD_DATA), sizeof(value));
	assert_int_equal(value, 99);
	assert_response(0, BTH_RC_ATOMIC_ACKNOWLEDGE, FIRST_PSN, ACK, 0);
	assert_int_equal(original(0), 40);
	assert_int_equal(original(1), 42);
	/* repeated: the same original value, and memory is not changed again */
	give(atomic(BTH_RC_FETCH_ADD, FIRST_PSN, WORLD_DATA, 2, 0));
	memcpy(&value, at(WORLD_DATA), sizeof(value));
	assert_int_equal(value, 99);
	assert_response(2, BTH_RC_ATOMIC_ACKNOWLEDGE, FIRST_PSN, ACK, 0);
	assert_int_equal(original(2), 40);
	assert_int_equal(w->hca.stats.atomic_read_atomics, 2);
}

static void test_atomic_before_write(void **state)
{
	responder_request(&w->qp, atomic(BTH_RC_FETCH_ADD, FIRST_PSN, WORLD_DATA, 5, 0));
	responder_request(&w->qp, with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN + 1, 8, true),
					    WORLD_DATA, KEY_GOOD, 8));
	run();
	assert_int_equal(original(0), 0);
	assert_int_equal(*at(WORLD_DATA), (uint8_t)((FIRST_PSN + 1) * 31u + 1));
	assert_response(1, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 1, ACK, 0);
}

/* An atomic under way keeps the half busy, because its eight bytes come back to the QP. */
static void test_atomic_is_under_way(void **state)
{
	responder_request(&w->qp, atomic(BTH_RC_FETCH_ADD, FIRST_PSN, WORLD_DATA, 5, 0));
	assert_int_equal(w->qp.receive.atomics, 1);
	assert_false(responder_half.is_quiet(&w->qp));
	run();
	assert_int_equal(w->qp.receive.atomics, 0);
	assert_true(responder_half.is_quiet(&w->qp));
}

/* The same for an atomic behind a READ that waits for its translation. */
static void test_atomic_behind_read(void **state)
{
	w->delay = true;
	responder_request(&w->qp, read_request(FIRST_PSN, WORLD_DATA, KEY_GOOD, 8));
	responder_request(&w->qp, atomic(BTH_RC_FETCH_ADD, FIRST_PSN + 1, WORLD_DATA, 5, 0));
	assert_int_equal(w->qp.receive.atomics, 1);
	assert_null(w->qp.receive.out.first);
	assert_false(responder_is_quiet(&w->qp));
	run();
	assert_int_equal(w->n_sent, 2);
	assert_true(responder_is_quiet(&w->qp));
}

static void test_atomic_misaligned(void **state)
{
	give(atomic(BTH_RC_FETCH_ADD, FIRST_PSN, WORLD_DATA + 4, 5, 0));
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, NAK, 1);
	assert_int_equal(*at(WORLD_DATA + 4), 0);
}

static void test_ring_keeps_the_newest(void **state)
{
	for (unsigned i = 0; i < 5; i++)
		give(atomic(BTH_RC_FETCH_ADD, FIRST_PSN + i, WORLD_DATA, 1, 0));
	assert_int_equal(w->n_sent, 5);
	/* its resource has been taken by the fifth */
	give(atomic(BTH_RC_FETCH_ADD, FIRST_PSN, WORLD_DATA, 1, 0));
	assert_int_equal(w->n_sent, 5);
	give(atomic(BTH_RC_FETCH_ADD, FIRST_PSN + 1, WORLD_DATA, 1, 0));
	assert_int_equal(w->n_sent, 6);
	assert_int_equal(original(5), 1);
	assert_int_equal(*at(WORLD_DATA), 5);
}

static void test_no_entry_of_another_connection(void **state)
{
	give(atomic(BTH_RC_FETCH_ADD, FIRST_PSN, WORLD_DATA, 1, 0));
	/* after a reset of the QP the entry is still in ICM, but the context is new */
	memset(w->qpc.b + 0xd0, 0, 0x28);
	give(atomic(BTH_RC_FETCH_ADD, FIRST_PSN, WORLD_DATA, 1, 0));
	assert_int_equal(w->n_sent, 1);
}

/* The page is unmapped between the check and the read. */
static void test_read_dma_fails(void **state)
{
	responder_request(&w->qp, read_request(FIRST_PSN, WORLD_DATA, KEY_GOOD, 1000));
	w->qp.receive.out.first->frags[0].bus = 0;
	run();
	assert_int_equal(w->n_sent, 1);
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, NAK, 3);
	assert_int_equal(w->errors, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_operations),
		T(test_repeats),
		T(test_read),
		T(test_read_again),
		T(test_read_zero_length),
		T(test_read_refused),
		T(test_too_many_reads),
		T(test_atomics),
		T(test_atomic_before_write),
		T(test_atomic_is_under_way),
		T(test_atomic_behind_read),
		T(test_atomic_misaligned),
		T(test_ring_keeps_the_newest),
		T(test_no_entry_of_another_connection),
		T(test_read_dma_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
