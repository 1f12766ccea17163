// SPDX-License-Identifier: Apache-2.0
/* Which orders of stores, loads and barriers are reported. The test plays the kernel and checker.c. */
#include "testbench/dsan/checker_impl.h"

#include "model/interface/queues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 65536, WQE = 0, RECORD = 4096, RECEIVE = 8192, MAILBOX = 12288, CQE = 16384 };
#define BUS UINT64_C(0x100000000)

static _Alignas(4096) uint8_t memory[BYTES];
static struct checker c;
static unsigned thread, reports;
static enum guest_rule reported;

struct kernel_thread *kernel_thread_self(struct kernel *kernel)
{
	return (struct kernel_thread *)(uintptr_t)thread;
}

unsigned kernel_thread_number(const struct kernel_thread *t)
{
	return (unsigned)(uintptr_t)t;
}

uint32_t code_offset(const void *pc)
{
	return (uint32_t)(uintptr_t)pc;
}

const void *code_pc(uint32_t offset)
{
	return (const void *)(uintptr_t)offset;
}

void checker_report(struct checker *of, const struct breach *b, const char *format, ...)
{
	reports++;
	reported = b->rule;
}

static int begin(void **state)
{
	memset(memory, 0, sizeof(memory));
	c = (struct checker){.host = {.memory = memory, .bus = BUS, .bytes = BYTES}};
	c.shadow = calloc(BYTES / WORD, sizeof(*c.shadow));
	c.order = order_create(&c);
	thread = 1;
	reports = 0;
	return 0;
}

static int end(void **state)
{
	order_destroy(c.order);
	free(c.shadow);
	return 0;
}

static void store(unsigned at, uint32_t value)
{
	order_store(c.order, (uintptr_t)memory + at, WORD, "");
	memcpy(memory + at, &value, WORD);
	checker_stored(&c, (uintptr_t)memory + at)->value = value;
}

static void load(unsigned at)
{
	order_load(c.order, (uintptr_t)memory + at, WORD, "");
}

static void wmb(void)
{
	order_fence(c.order, CALLOUT_FENCE_STORES);
}

static void rmb(void)
{
	order_fence(c.order, CALLOUT_FENCE_LOADS);
}

static void ring(void)
{
	order_trigger(c.order, "");
}

static void dma(const char *what, unsigned at, uint32_t len, bool write)
{
	order_dma(c.order, &(struct hca_dma_seen){.what = what,
						  .bus = BUS + at,
						  .bytes = memory,
						  .len = len,
						  .write = write});
}

/* The device finds a WQE of 32 bytes. */
/* A WQE of that many units of 16 bytes. */
static void device_takes(unsigned units)
{
	struct wqe_ctrl ctrl = {{0}};

	wqe_ctrl_set_ds(&ctrl, units);
	order_wqe(c.order, &(struct hca_wqe_seen){.bus = BUS + WQE, .bytes = &ctrl});
}

static void device_takes_wqe(void)
{
	device_takes(2);
}

static void a_right_post_is_not_reported(void **state)
{
	store(WQE + 16, 1);
	store(WQE + 8, 1);
	wmb();
	store(WQE, 2);
	store(WQE + 4, 3); /* bf_qpn */
	wmb();
	ring();
	device_takes_wqe();
	assert_int_equal(reports, 0);
}

static void a_body_without_barrier(void **state)
{
	store(WQE + 16, 1);
	store(WQE, 2);
	wmb();
	ring();
	device_takes_wqe();
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_order_wqe_body);
}

/* It stands beside bf_qpn, and is a part of the body all the same. */
static void a_size_without_barrier(void **state)
{
	store(WQE + 16, 1);
	wmb();
	store(WQE + 4, 1);
	store(WQE, 2);
	wmb();
	ring();
	device_takes_wqe();
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_order_wqe_body);
}

static void a_body_behind_the_owner_bit(void **state)
{
	store(WQE, 2);
	wmb();
	store(WQE + 16, 1);
	wmb();
	ring();
	device_takes_wqe();
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_order_wqe_body);
}

/* The first word of each further chunk is stored last. */
static void a_chunk(void **state)
{
	static const struct {
		bool barrier, last; /* before the first word; it is */
		unsigned reports;
	} rows[] = {{true, true, 0}, {false, true, 1}, {true, false, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		reports = 0;
		if (!rows[i].last)
			store(WQE + 64, 1);
		if (!rows[i].last && rows[i].barrier)
			wmb();
		store(WQE + 80, 1);
		store(WQE + 68, 1);
		if (rows[i].barrier)
			wmb();
		if (rows[i].last)
			store(WQE + 64, 1);
		wmb();
		store(WQE, 2);
		wmb();
		ring();
		device_takes(6);
		assert_int_equal(reports, rows[i].reports);
		assert_true(!reports || reported == RULE_order_wqe_body);
	}
}

static void a_doorbell_without_barrier(void **state)
{
	store(WQE + 16, 1);
	wmb();
	store(WQE, 2);
	ring();
	device_takes_wqe();
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_order_doorbell);
}

/* A device that reads ahead takes it before the doorbell: nothing is wrong with that. */
static void a_wqe_taken_before_its_doorbell(void **state)
{
	ring();
	wmb();
	store(WQE + 16, 1);
	wmb();
	store(WQE, 2);
	device_takes_wqe();
	assert_int_equal(reports, 0);
}

/* The barrier of one thread orders nothing of another. */
static void a_barrier_of_another_thread(void **state)
{
	store(WQE + 16, 1);
	thread = 2;
	wmb();
	thread = 1;
	store(WQE, 2);
	wmb();
	ring();
	device_takes_wqe();
	assert_int_equal(reported, RULE_order_wqe_body);
	assert_int_equal(reports, 1);
}

/* What a scenario has written over the driver's store is not the driver's. */
static void a_wqe_that_somebody_else_wrote(void **state)
{
	store(WQE + 16, 1);
	store(WQE, 2);
	memory[WQE] ^= 0x80;
	device_takes_wqe();
	assert_int_equal(reports, 0);
}

static void a_receive(void **state)
{
	store(RECEIVE, 1);
	wmb();
	store(RECORD, 1);
	dma("doorbell record", RECORD, 4, false);
	dma("receive wqe", RECEIVE, 16, false);
	assert_int_equal(reports, 0);
	store(RECEIVE, 2);
	store(RECORD, 2);
	dma("doorbell record", RECORD, 4, false);
	dma("receive wqe", RECEIVE, 16, false);
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_order_receive);
}

/* Many are posted before the device takes the first one: each was counted by a store of its own. */
static void receives_ahead(void **state)
{
	store(RECEIVE, 1);
	wmb();
	store(RECORD, 1);
	dma("doorbell record", RECORD, 4, false);
	for (unsigned i = 1; i < 4; i++) {
		store(RECEIVE + 16 * i, 1);
		if (i != 2)
			wmb();
		store(RECORD, 1 + i);
		wmb();
	}
	dma("doorbell record", RECORD, 4, false);
	dma("receive wqe", RECEIVE, 16, false);
	dma("receive wqe", RECEIVE + 16, 16, false);
	assert_int_equal(reports, 0);
	dma("receive wqe", RECEIVE + 32, 16, false);
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_order_receive);
	dma("receive wqe", RECEIVE + 48, 16, false);
	assert_int_equal(reports, 1);
}

static void a_mailbox(void **state)
{
	store(MAILBOX, 1);
	wmb();
	ring();
	dma("firmware", MAILBOX, 64, false);
	assert_int_equal(reports, 0);
	store(MAILBOX + 60, 1);
	ring();
	dma("firmware", MAILBOX, 64, false);
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_order_doorbell);
}

static void an_entry(void **state)
{
	dma("cqe", CQE, CQE_SIZE, true);
	load(CQE + 28);
	rmb();
	load(CQE);
	load(CQE + 28);
	load(CQE + 4);
	assert_int_equal(reports, 0);
	dma("cqe", CQE, CQE_SIZE, true);
	load(CQE + 28);
	wmb(); /* of the wrong kind */
	load(CQE);
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_order_entry);
	dma("eqe", CQE, EQE_SIZE, true);
	load(CQE); /* before the owner bit */
	assert_int_equal(reports, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_right_post_is_not_reported, begin, end),
		cmocka_unit_test_setup_teardown(a_body_without_barrier, begin, end),
		cmocka_unit_test_setup_teardown(a_size_without_barrier, begin, end),
		cmocka_unit_test_setup_teardown(a_body_behind_the_owner_bit, begin, end),
		cmocka_unit_test_setup_teardown(a_chunk, begin, end),
		cmocka_unit_test_setup_teardown(a_doorbell_without_barrier, begin, end),
		cmocka_unit_test_setup_teardown(a_wqe_taken_before_its_doorbell, begin, end),
		cmocka_unit_test_setup_teardown(a_barrier_of_another_thread, begin, end),
		cmocka_unit_test_setup_teardown(a_wqe_that_somebody_else_wrote, begin, end),
		cmocka_unit_test_setup_teardown(a_receive, begin, end),
		cmocka_unit_test_setup_teardown(receives_ahead, begin, end),
		cmocka_unit_test_setup_teardown(a_mailbox, begin, end),
		cmocka_unit_test_setup_teardown(an_entry, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
