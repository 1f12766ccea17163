// SPDX-License-Identifier: Apache-2.0
/* Whose entries of queues are. The test plays claims.c, objects.c, order.c and checker.c, and nobody
 * asks. */
#include "testbench/dsan/held/claims_impl.h"
#include "testbench/dsan/tests/nobody_asks.h"

#include "model/interface/queues.h"
#include "model/interface/regs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGES = 8, BYTES = PAGES * CLAIM_PAGE_SIZE };
enum { P_CQ, P_SQ, P_RECORDS, P_EQ }; /* pages of the host's memory, a queue each */
enum { LOG_ENTRIES = 3, LOG_SENDS = 6, LOG_STRIDE = 6, QPN = 0x208, CQN = 5, EQN = 2 };
#define BUS UINT64_C(0x100000000)

static _Alignas(CLAIM_PAGE_SIZE) uint8_t memory[BYTES];
static struct checker c;
static struct own *o;
static struct holder qp = {.kind = HOLDER_QP, .number = QPN},
		     cq = {.kind = HOLDER_CQ, .number = CQN},
		     eq = {.kind = HOLDER_EQ, .number = EQN};
static struct claim pages[PAGES];
static uint32_t epoch;
static unsigned reports;
static enum guest_rule reported;

const struct claim *claims_of_page(const struct claims *cl, uintptr_t at)
{
	const struct claim *k = &pages[(at - (uintptr_t)memory) / CLAIM_PAGE_SIZE];

	return k->holder ? k : NULL;
}

struct holder *claims_find(const struct claims *cl, enum holder_kind kind, uint32_t number)
{
	struct holder *const all[] = {&qp, &cq, &eq};

	for (unsigned i = 0; i < 3; i++)
		if (all[i]->kind == kind && all[i]->number == number)
			return all[i];
	return NULL;
}

void claims_each(struct claims *cl, void (*fn)(void *arg, struct holder *h), void *arg)
{
	fn(arg, &qp);
	fn(arg, &cq);
	fn(arg, &eq);
}

uint32_t order_epoch(struct order *order)
{
	return epoch;
}

const void *code_pc(uint32_t offset)
{
	return "";
}

void order_owner(struct order *order, uintptr_t at, uint32_t qpn)
{
}

void checker_report(struct checker *of, const struct breach *b, const char *format, ...)
{
	reports++;
	reported = b->rule;
}

static uintptr_t at_page(unsigned page, unsigned offset)
{
	return (uintptr_t)memory + page * CLAIM_PAGE_SIZE + offset;
}

static int begin(void **state)
{
	const struct object_memory ring = {.has_pages = true, .entries = {0, 5, LOG_ENTRIES}};
	const struct object_memory work = {.has_pages = true, .sends = {0, LOG_STRIDE, LOG_SENDS}};

	memset(memory, 0, sizeof(memory));
	c = (struct checker){.host = {.memory = memory, .bus = BUS, .bytes = BYTES}};
	c.claims = (struct claims *)memory; /* never looked into */
	c.shadow = calloc(BYTES / WORD, sizeof(*c.shadow));
	pages[P_CQ] = (struct claim){.holder = &cq, .page = P_CQ};
	pages[P_SQ] = (struct claim){.holder = &qp, .page = P_SQ};
	pages[P_EQ] = (struct claim){.holder = &eq, .page = P_EQ};
	pages[P_RECORDS] = (struct claim){.holder = &cq, .page = P_RECORDS, .use = CLAIM_RECORD};
	qp.claims = &pages[P_SQ];
	cq.claims = &pages[P_CQ];
	cq.record = BUS + P_RECORDS * CLAIM_PAGE_SIZE;
	qp.live = cq.live = eq.live = true;
	epoch = 1;
	reports = 0;
	o = own_create(&c);
	own_object(o, &cq, &ring, true);
	own_object(o, &eq, &ring, true);
	own_object(o, &qp, &work, true);
	return 0;
}

static int end(void **state)
{
	own_destroy(o);
	free(c.shadow);
	return 0;
}

static void expect_report(enum guest_rule rule)
{
	assert_int_equal(reports, 1);
	assert_int_equal(reported, rule);
	reports = 0;
}

/* The device completes work request `index`, in slot `slot` of the CQ. */
static void complete(unsigned slot, uint32_t index)
{
	struct cqe *e = (struct cqe *)at_page(P_CQ, slot * CQE_SIZE);

	memset(e, 0, sizeof(*e));
	cqe_set_my_qpn(e, QPN);
	cqe_set_wqe_index(e, index);
	cqe_set_is_send(e, 1);
	own_dma(o, &(struct hca_dma_seen){.what = "cqe",
					  .bus = BUS + P_CQ * CLAIM_PAGE_SIZE + slot * CQE_SIZE,
					  .bytes = e,
					  .len = CQE_SIZE,
					  .write = true});
}

static void look(unsigned slot)
{
	own_load(o, at_page(P_CQ, slot * CQE_SIZE), 4, "");
}

static void consumer_index(uint32_t ci)
{
	cq_dbrec_set_set_ci((struct cq_dbrec *)at_page(P_RECORDS, 0), ci);
	own_stored(o, at_page(P_RECORDS, 0));
}

static void post(unsigned index)
{
	struct wqe_ctrl *ctrl = (struct wqe_ctrl *)at_page(P_SQ, index % 64 * 64);

	own_store(o, (uintptr_t)ctrl + 16, 4, "");
	wqe_ctrl_set_owner(ctrl, !!(index & 64));
	own_store(o, (uintptr_t)ctrl, 4, "");
	own_stored(o, (uintptr_t)ctrl);
}

static void ring(uint32_t qpn)
{
	struct send_db db = {{0}};

	send_db_set_qpn(&db, qpn);
	own_register(o, UINT64_C(200) * UAR_PAGE_SIZE + UAR_SEND_DB, db.b, "");
}

static void an_entry_that_was_not_written(void **state)
{
	own_load(o, at_page(P_CQ, CQE_SIZE - 4), 4, ""); /* the owner bit may be looked at */
	assert_int_equal(reports, 0);
	look(0);
	expect_report(RULE_entry_not_owned);
	complete(0, 0);
	look(0);
	assert_int_equal(reports, 0);
}

static void an_entry_that_was_given_back(void **state)
{
	complete(0, 0);
	complete(1, 1);
	look(0);
	epoch++;
	consumer_index(1);
	look(1);
	assert_int_equal(reports, 0);
	look(0);
	expect_report(RULE_entry_not_owned);
}

static void an_entry_is_written(void **state)
{
	complete(0, 0);
	own_store(o, at_page(P_CQ, 0), 4, "");
	assert_int_equal(reports, 0);
	own_store(o, at_page(P_CQ, CQE_SIZE), 4, "");
	expect_report(RULE_device_memory_written);
}

static void a_consumer_index_without_barrier(void **state)
{
	complete(0, 0);
	look(0);
	consumer_index(1);
	expect_report(RULE_order_index);
}

static void a_consumer_index_too_far(void **state)
{
	complete(0, 0);
	consumer_index(2);
	expect_report(RULE_cq_consumer_index);
	consumer_index(1);
	assert_int_equal(reports, 0);
}

static void an_event_queues_index(void **state)
{
	struct eq_db db = {{0}};

	eq_db_set_ci(&db, 1);
	own_register(o, eq_db_offset(EQN), db.b, "");
	expect_report(RULE_eq_consumer_index);
}

static void a_work_request_in_use(void **state)
{
	struct wqe_ctrl *ctrl = (struct wqe_ctrl *)at_page(P_SQ, 0);

	post(0);
	own_store(o, (uintptr_t)ctrl + 4, 4, ""); /* bf_qpn */
	assert_int_equal(reports, 0);
	own_store(o, (uintptr_t)ctrl + 16, 4, "");
	expect_report(RULE_device_memory_written);
	complete(0, 0);
	own_store(o, (uintptr_t)ctrl + 16, 4, "");
	expect_report(RULE_device_memory_written); /* nobody has looked at the completion */
	look(0);
	own_store(o, (uintptr_t)ctrl + 16, 4, "");
	assert_int_equal(reports, 0);
}

/* 64 slots of 64 bytes: 33 must stay free. */
static void a_queue_too_full(void **state)
{
	for (unsigned i = 0; i < 31; i++)
		post(i);
	ring(QPN);
	assert_int_equal(reports, 0);
	post(31);
	ring(QPN);
	expect_report(RULE_headroom);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
		T(an_entry_that_was_not_written), T(an_entry_that_was_given_back),
		T(an_entry_is_written),           T(a_consumer_index_without_barrier),
		T(a_consumer_index_too_far),      T(an_event_queues_index),
		T(a_work_request_in_use),         T(a_queue_too_full),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
