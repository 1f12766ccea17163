// SPDX-License-Identifier: Apache-2.0
/* What the driver was asked for, against what it gives to the device. The test plays own.c and
 * checker.c, and the driver. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/held/claims_impl.h"
#include "testbench/dsan/held/taken.h"

#include "model/interface/commands.h"
#include "model/interface/mailboxes.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 4096, QPN = 0x208, CQN = 5, KEY = 0x1234 };
#define BUS UINT64_C(0x100000000)

static _Alignas(4096) uint8_t memory[BYTES];
static struct checker c;
static struct platform platform;
static struct ask ask;
static struct cqe cqe;
static uint64_t wr_id;
static bool shared, entries_match = true;
static unsigned waiting;
static unsigned reports;
static enum guest_rule reported;
static char text[256];

/* --- what the test plays --- */

struct checker *checker_of_host(unsigned host)
{
	return &c;
}

void checker_report(struct checker *of, const struct breach *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	reports++;
	reported = b->rule;
}

void checker_storers(const struct checker *of, uintptr_t from, uintptr_t to, uint32_t since,
		     char *names, size_t size)
{
	*names = 0;
}

void checker_functions_add(const void *pc, char *names, size_t size)
{
}

void checker_functions(const void *const *pcs, unsigned n, char *names, size_t size)
{
	*names = 0;
}

bool checker_in_mlx4(const void *pc)
{
	return false;
}

void checker_recent_calls(const struct checker *of, uint32_t since, struct calls *calls)
{
	calls->n = 0;
}

void checker_recent(const struct checker *of, uint32_t since, char *names, size_t size)
{
	*names = 0;
}

void checker_settle(struct checker *of)
{
}

bool checker_in_driver(const void *pc)
{
	return false;
}

const void *code_pc(uint32_t offset)
{
	return "";
}

uint32_t code_offset(const void *pc)
{
	return 0;
}

uint32_t own_eq_arms(const struct own *o, uint32_t eqn)
{
	return 1;
}

void own_eq_served(struct own *o, uint32_t eqn, uint32_t arms, const void *handler)
{
}

bool own_follows(const struct own *o, enum hca_object type, uint32_t number, bool sends)
{
	return true;
}

bool own_completion_take(struct own *o, uint32_t cqn, struct own_taken *taken)
{
	*taken = (struct own_taken){.entry = cqe, .has_id = true, .wr_id = wr_id, .shared = shared};
	return true;
}

bool own_was_resized(const struct own *o, uint32_t cqn)
{
	return false;
}

unsigned own_completions_of(const struct own *o, uint32_t cqn, uint32_t qpn)
{
	return waiting;
}

void own_completions_discard(struct own *o, uint32_t cqn, uint32_t qpn, unsigned *of_srq)
{
	*of_srq = 0;
}

unsigned own_completions_waiting(const struct own *o, uint32_t cqn)
{
	return waiting;
}

void own_completion_waiting(const struct own *o, uint32_t cqn, uint32_t nth, struct own_taken *is)
{
	*is = (struct own_taken){.entry = cqe};
}

unsigned own_open(const struct own *o, uint32_t qpn, bool sends)
{
	return waiting;
}

void own_tell_waits(struct own *o)
{
}

void own_blueflame_end(struct own *o, uint32_t qpn)
{
}

uintptr_t own_next_send(const struct own *o, uint32_t qpn)
{
	return 0;
}

bool own_entries_match(const struct own *o, uint32_t cqn, unsigned *nth)
{
	*nth = 0;
	return entries_match;
}

/* --- tests --- */

static int begin(void **state)
{
	memset(memory, 0, sizeof(memory));
	c = (struct checker){
		.host = {.memory = memory, .bus = BUS, .bytes = BYTES, .platform = &platform}};
	c.shadow = calloc(BYTES / WORD, sizeof(*c.shadow));
	platform.msix_vectors = 2;
	reports = 0;
	return 0;
}

static int end(void **state)
{
	ask_drop(&ask);
	taken_forget(&c);
	free(c.shadow);
	return 0;
}

static void expect_report(enum guest_rule rule, const char *says)
{
	assert_int_equal(reports, 1);
	assert_int_equal(reported, rule);
	assert_non_null(strstr(text, says));
	reports = 0;
}

/* A SEND of one piece, as a driver writes it. */
static void wqe_write(void)
{
	struct wqe_ctrl *ctrl = (struct wqe_ctrl *)(void *)memory;
	struct wqe_data *data = (struct wqe_data *)(void *)(memory + sizeof(*ctrl));

	wqe_ctrl_set_opcode(ctrl, WQE_SEND);
	wqe_ctrl_set_ds(ctrl, 2);
	wqe_ctrl_set_fence(ctrl, 1);
	wqe_data_set_byte_count(data, 64);
	wqe_data_set_lkey(data, KEY);
	wqe_data_set_addr(data, 0x1000);
}

static const struct drv_sge sge = {.addr = 0x1000, .length = 64, .lkey = KEY};
static const struct drv_send_wr send = {.wr_id = 7,
					.opcode = IBV_WR_SEND,
					.send_flags = IBV_SEND_FENCE,
					.sg_list = &sge,
					.num_sge = 1};

static void post(void)
{
	ask_begin(&ask, ASK_SENDS, "drv_post_send", &platform, QPN);
	ask.followed = true;
	ask.sends.wr = &send;
}

static void a_request_says_what_was_posted(void **state)
{
	uint64_t id = 0;

	wqe_write();
	post();
	assert_true(asked_send_given(&c, QPN, (uintptr_t)memory, &id));
	asked_send_rung(&c, QPN);
	asked_sends_end(&ask, &send, NULL);
	assert_int_equal(reports, 0);
	assert_int_equal(id, 7);
}

static void a_field_that_differs(void **state)
{
	uint64_t id;

	wqe_write();
	wqe_ctrl_set_fence((struct wqe_ctrl *)(void *)memory, 0);
	post();
	asked_send_given(&c, QPN, (uintptr_t)memory, &id);
	expect_report(RULE_request_differs, "wqe_ctrl.fence is 0x0, asked for 0x1");
}

static void a_request_without_owner_or_doorbell(void **state)
{
	uint64_t id;

	wqe_write();
	post();
	asked_sends_end(&ask, &send, NULL);
	expect_report(RULE_request_not_given, "the owner bits of 0");
	asked_send_given(&c, QPN, (uintptr_t)memory, &id);
	asked_sends_end(&ask, &send, NULL);
	expect_report(RULE_request_not_given, "the doorbell was rung behind 0");
	asked_sends_end(&ask, &send, &send);
	expect_report(RULE_request_not_given, "0 sends were posted");
}

static void a_receive(void **state)
{
	const struct drv_recv_wr wr = {.wr_id = 9, .sg_list = &sge, .num_sge = 1};
	struct wqe_data *data = (struct wqe_data *)(void *)memory;
	uint64_t id;

	wqe_data_set_byte_count(data, 64);
	wqe_data_set_addr(data, 0x1000);
	ask_begin(&ask, ASK_RECEIVES, "drv_post_recv", &platform, QPN);
	ask.followed = true;
	ask.receives.wr = &wr;
	asked_receive_given(&c, false, QPN, (uintptr_t)memory, sizeof(*data), &id);
	expect_report(RULE_request_differs, "wqe_data.lkey");
	asked_receive_given(&c, false, QPN, (uintptr_t)memory, sizeof(*data), &id);
	asked_receives_end(&ask, &wr, NULL);
	expect_report(RULE_request_not_given, "counts 2");
}

static void arming(void **state)
{
	ask_begin(&ask, ASK_ARM, "drv_cq_arm", &platform, CQN);
	asked_arm_end(&ask);
	expect_report(RULE_arm_differs, "no arm doorbell");
	asked_cq_armed(&c, CQN + 1, CQ_ARM_NEXT, NULL);
	expect_report(RULE_arm_differs, "asked for cqn 5");
	asked_cq_armed(&c, CQN, CQ_ARM_SOLICITED, NULL);
	expect_report(RULE_arm_differs, "asked for all completions");
	asked_cq_armed(&c, CQN, CQ_ARM_NEXT, NULL);
	asked_arm_end(&ask);
	assert_int_equal(reports, 0);
}

static void a_completion(void **state)
{
	struct drv_wc wc = {.wr_id = 3, .qp_num = QPN, .is_send = true, .opcode = IBV_WC_SEND};

	wr_id = 3;
	memset(&cqe, 0, sizeof(cqe));
	cqe_set_my_qpn(&cqe, QPN);
	cqe_set_is_send(&cqe, 1);
	cqe_set_opcode(&cqe, WQE_SEND);
	ask_begin(&ask, ASK_POLL, "drv_cq_poll", &platform, CQN);
	asked_entries_back(&c, CQN, 0, 1);
	asked_poll_end(&ask, 1, &wc);
	assert_int_equal(reports, 0);
	cqe_set_opcode(&cqe, WQE_RDMA_READ);
	asked_poll_end(&ask, 1, &wc);
	expect_report(RULE_completion_differs, "opcode");
	cqe_set_opcode(&cqe, WQE_SEND);
	wr_id = 4;
	asked_poll_end(&ask, 1, &wc);
	expect_report(RULE_completion_differs, "wr_id");
	wr_id = 3;
	asked_poll_end(&ask, 0, &wc);
	expect_report(RULE_completion_differs, "1 were given back");
	ask_drop(&ask);
	ask_begin(&ask, ASK_POLL, "drv_cq_poll", &platform, CQN);
	asked_poll_end(&ask, 1, &wc);
	expect_report(RULE_completion_differs, "no consumer index");
}

static void a_slot_of_an_srq_that_is_kept(void **state)
{
	const struct drv_wc wc = {
		.wr_id = 3, .is_send = true, .opcode = IBV_WC_SEND, .qp_num = QPN};

	shared = true;
	ask_begin(&ask, ASK_POLL, "drv_cq_poll", &platform, CQN);
	asked_entries_back(&c, CQN, 0, 1);
	ask.poll.slots = 1;
	asked_poll_end(&ask, 1, &wc);
	assert_int_equal(reports, 0);
	ask.poll.slots = 0;
	asked_poll_end(&ask, 1, &wc);
	shared = false;
	expect_report(RULE_not_given_back, "1 receives");
}

static void the_cleaning_of_a_cq(void **state)
{
	waiting = 2;
	ask_begin(&ask, ASK_POLL, "drv_cq_clean", &platform, CQN);
	asked_entries_back(&c, CQN, 5, 7);
	asked_clean_end(&ask, 0x40);
	assert_int_equal(reports, 0);
	entries_match = false;
	asked_clean_end(&ask, 0x40);
	expect_report(RULE_completion_differs, "not as the device wrote it");
	waiting = 3;
	asked_clean_end(&ask, 0x40);
	expect_report(RULE_completion_differs, "3 completions");
	waiting = 0;
	entries_match = true;
}

static void a_command(uint32_t opcode, uint32_t modifier)
{
	struct hcr hcr = {0};

	hcr_set_in_param(&hcr, BUS);
	hcr_set_in_mod(&hcr, modifier);
	hcr_set_opcode(&hcr, opcode);
	asked_command(&c, &hcr);
}

static void an_attribute_without_its_option_bit(void **state)
{
	const struct drv_qp_attr attr = {.min_rnr_timer = 12};
	struct qp_mbox *mbox = (struct qp_mbox *)(void *)memory;

	ask_begin(&ask, ASK_QP_MODIFY, "drv_qp_modify", &platform, QPN);
	ask.made = made_add(&ask, &attr); /* any address */
	ask.made->init.type = IBV_QPT_RC;
	ask.modify.attr = &attr;
	ask.modify.mask = IBV_QP_MIN_RNR_TIMER;
	qpc_set_local_qpn(qp_mbox_context(mbox), QPN);
	qpc_set_min_rnr_timer(qp_mbox_context(mbox), 12);
	qpc_set_state(qp_mbox_context(mbox), QP_STATE_RTS);
	qpc_set_pm_state(qp_mbox_context(mbox), QP_PM_MIGRATED);
	qp_mbox_set_opt_mask(mbox, QP_OPT_BIT_MIN_RNR);
	a_command(HCR_RTS2RTS_QP, QPN);
	assert_int_equal(reports, 0);
	qp_mbox_set_opt_mask(mbox, 0);
	a_command(HCR_RTS2RTS_QP, QPN);
	expect_report(RULE_context_differs, "qp_mbox.opt_mask");
	made_remove(&attr);
}

static void a_vector_that_the_host_has_not(void **state)
{
	struct eqc *eqc = (struct eqc *)(void *)memory;

	ask_begin(&ask, ASK_OTHER, "drv_probe", &platform, 0);
	eqc_set_mtt_addr(eqc, 8);
	eqc_set_intr(eqc, 1);
	a_command(HCR_SW2HW_EQ, 1);
	assert_int_equal(reports, 0);
	a_command(HCR_SW2HW_EQ, 2);
	expect_report(RULE_context_differs, "the vector of another EQ");
	eqc_set_intr(eqc, 2);
	a_command(HCR_SW2HW_EQ, 2);
	expect_report(RULE_context_differs, "a vector that the host has not");
}

static void what_is_taken_must_be_given_back(void **state)
{
	int object;

	ask_begin(&ask, ASK_OTHER, "drv_cq_create", &platform, 0);
	taken_add(TAKEN_RECORD, memory, 0, "");
	taken_add(TAKEN_MEMORY, memory, 0, "");
	taken_back(TAKEN_MEMORY, memory, 0, "");
	taken_failed(&ask, "drv_cq_create");
	expect_report(RULE_not_given_back, "drv_cq_create failed, and a doorbell record");
	taken_add(TAKEN_NUMBER, &object, 3, "");
	taken_made(&ask, &object);
	ask_drop(&ask);
	ask_begin(&ask, ASK_OTHER, "drv_cq_destroy", &platform, 0);
	taken_back(TAKEN_NUMBER, &object, 4, "");
	taken_gone(&ask, "drv_cq_destroy", &object);
	expect_report(RULE_not_given_back, "drv_cq_destroy returned, and a number");
	taken_gone(&ask, "drv_cq_destroy", &object);
	assert_int_equal(reports, 0);
}

static void what_is_shared_belongs_to_no_object(void **state)
{
	struct ask inner;

	ask_begin(&ask, ASK_OTHER, "drv_cq_create", &platform, 0);
	ask_begin(&inner, ASK_INNER, "drv_table_get", &platform, 0);
	taken_add(TAKEN_PAGES, memory, 0, "");
	taken_inner_end(&inner, 0, true);
	ask_drop(&inner);
	taken_failed(&ask, "drv_cq_create");
	assert_int_equal(reports, 0);
}

static void a_part_that_fails_keeps_nothing(void **state)
{
	struct ask inner;

	ask_begin(&ask, ASK_OTHER, "drv_cq_create", &platform, 0);
	ask_begin(&inner, ASK_INNER, "drv_table_get", &platform, 0);
	taken_add(TAKEN_PAGES, memory, 0, "");
	taken_inner_end(&inner, -1, true);
	expect_report(RULE_not_given_back, "drv_table_get failed");
	ask_drop(&inner);
	taken_failed(&ask, "drv_cq_create");
	assert_int_equal(reports, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_request_says_what_was_posted, begin, end),
		cmocka_unit_test_setup_teardown(a_field_that_differs, begin, end),
		cmocka_unit_test_setup_teardown(a_request_without_owner_or_doorbell, begin, end),
		cmocka_unit_test_setup_teardown(a_receive, begin, end),
		cmocka_unit_test_setup_teardown(arming, begin, end),
		cmocka_unit_test_setup_teardown(a_completion, begin, end),
		cmocka_unit_test_setup_teardown(a_slot_of_an_srq_that_is_kept, begin, end),
		cmocka_unit_test_setup_teardown(the_cleaning_of_a_cq, begin, end),
		cmocka_unit_test_setup_teardown(a_part_that_fails_keeps_nothing, begin, end),
		cmocka_unit_test_setup_teardown(an_attribute_without_its_option_bit, begin, end),
		cmocka_unit_test_setup_teardown(a_vector_that_the_host_has_not, begin, end),
		cmocka_unit_test_setup_teardown(what_is_taken_must_be_given_back, begin, end),
		cmocka_unit_test_setup_teardown(what_is_shared_belongs_to_no_object, begin, end),
	};

	return cmocka_run_group_tests_name("asked", tests, NULL, NULL);
}
