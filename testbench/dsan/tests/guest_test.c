// SPDX-License-Identifier: Apache-2.0
/* What a guest's driver is held to, by what its processor keeps in order. The test plays claims.c,
 * checker.c and report.c; own/ is real, and nobody asks. */
#define _GNU_SOURCE
#include "testbench/dsan/guest.h"

#include "testbench/dsan/own/own_impl.h"
#include "testbench/dsan/tests/nobody_asks.h"

#include "model/engine/base/engine.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGES = 8, BYTES = PAGES * CLAIM_PAGE_SIZE };
enum { P_CQ = 1, P_SQ, P_RECORDS }; /* pages of the guest's memory */
enum { LOG_ENTRIES = 3, LOG_SENDS = 6, LOG_STRIDE = 6, QPN = 0x208, CQN = 5 };
enum { DS = 2, WQE_BYTES = DS * WQE_UNIT };
#define KERNEL  UINT64_C(0xffffffffc0201000)
#define PROGRAM UINT64_C(0x7f1234567000)

static struct hca device; /* has nothing but its monitor */
static struct checker *c;
static uint8_t *memory; /* as the guest has it */
static int memory_fd;
static struct holder qp = {.kind = HOLDER_QP, .number = QPN},
		     cq = {.kind = HOLDER_CQ, .number = CQN};
static struct claim pages[PAGES];
static struct guest_code code;
static enum guest_machine machine;
static unsigned reports;
static enum guest_rule reported;
static char place[64], said[256];

/* --- claims.c --- */

struct claims *claims_create(struct checker *of)
{
	return (struct claims *)pages; /* never looked into */
}

void claims_destroy(struct claims *cl)
{
}

const struct claim *claims_of_page(const struct claims *cl, uintptr_t at)
{
	const uintptr_t page = (at - (uintptr_t)c->host.memory) / CLAIM_PAGE_SIZE;

	return page < PAGES && pages[page].holder ? &pages[page] : NULL;
}

struct holder *claims_find(const struct claims *cl, enum holder_kind kind, uint32_t number)
{
	return kind == HOLDER_QP && number == QPN ? &qp : kind == HOLDER_CQ ? &cq : NULL;
}

void claims_each(struct claims *cl, void (*fn)(void *arg, struct holder *h), void *arg)
{
	fn(arg, &qp);
	fn(arg, &cq);
}

void claims_store(struct claims *cl, uintptr_t at, uint64_t bytes, const void *pc)
{
}

void claims_taken(struct claims *cl, uintptr_t at, uint64_t bytes, const void *pc)
{
}

bool claims_last(const struct claims *cl, uintptr_t at, char *text, size_t size)
{
	const uintptr_t page = (at - (uintptr_t)c->host.memory) / CLAIM_PAGE_SIZE;

	if (page != P_RECORDS)
		return false;
	snprintf(text, size, "the doorbell record of cqn 5");
	return true;
}

/* --- checker.c, report.c --- */

void checker_hear_device(struct checker *of)
{
}

bool checker_shadow(struct checker *of)
{
	of->shadow = calloc(BYTES / WORD, sizeof(*of->shadow));
	return of->shadow;
}

void checker_settle(struct checker *of)
{
	const uintptr_t at = of->storing.at;

	checker_stored(of, at)->value = *(const uint32_t *)at;
	own_stored(of->own, at);
}

void checker_free(struct checker *of)
{
	own_destroy(of->own);
	order_destroy(of->order);
	free(of->shadow);
	free(of);
}

void checker_report(struct checker *of, const struct breach *b, const char *format, ...)
{
	va_list ap;

	if (!of->judges(of, b))
		return;
	va_start(ap, format);
	vsnprintf(said, sizeof(said), format, ap);
	va_end(ap);
	reports++;
	reported = b->rule;
	of->place(b->pc, place, sizeof(place));
}

/* --- a guest --- */

static void watched(void *ctx, uint64_t page, bool is_watched)
{
}

static int begin(void **state)
{
	const struct object_memory entries = {.has_pages = true, .entries = {0, 5, LOG_ENTRIES}};
	const struct object_memory work = {.has_pages = true, .sends = {0, LOG_STRIDE, LOG_SENDS}};

	memory_fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(memory_fd, BYTES), 0);
	assert_int_equal(fcntl(memory_fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	c = guest_checker_create(&device, NULL, NULL);
	assert_true(guest_checker_watch(c, watched, NULL));
	guest_checker_mapped(c, 0, BYTES, memory_fd, 0);
	pages[P_CQ] = (struct claim){.holder = &cq, .page = P_CQ};
	pages[P_SQ] = (struct claim){.holder = &qp, .page = P_SQ};
	pages[P_RECORDS] = (struct claim){.holder = &cq, .page = P_RECORDS, .use = CLAIM_RECORD};
	qp.claims = &pages[P_SQ];
	cq.claims = &pages[P_CQ];
	cq.record = P_RECORDS * CLAIM_PAGE_SIZE;
	qp.live = cq.live = true;
	own_object(c->own, &cq, &entries, true);
	own_object(c->own, &qp, &work, true);
	code = (struct guest_code){.pc = KERNEL};
	machine = GUEST_X86_64;
	reports = 0;
	return 0;
}

static int end(void **state)
{
	guest_checker_destroy(c);
	munmap(memory, BYTES);
	close(memory_fd);
	return 0;
}

static void expect_report(enum guest_rule rule)
{
	assert_int_equal(reports, 1);
	assert_int_equal(reported, rule);
	reports = 0;
}

static void store(uint64_t address, uint32_t value)
{
	memcpy(memory + address, &value, sizeof(value));
	guest_checker_access(c, address, sizeof(value), true, &code, machine);
}

static void load(uint64_t address)
{
	guest_checker_access(c, address, WORD, false, &code, machine);
}

static void wmb(void)
{
	code.store_fences++;
}

static void rmb(void)
{
	code.load_fences++;
}

/* Work request 0: its body, and its owner bit as it is right in a new queue. */
enum { WQE = P_SQ * CLAIM_PAGE_SIZE };

static void body(void)
{
	struct wqe_ctrl ctrl = {{0}};
	uint32_t word;

	wqe_ctrl_set_ds(&ctrl, DS);
	memcpy(&word, ctrl.b + WORD, sizeof(word));
	store(WQE + WORD, word);
	store(WQE + WQE_UNIT, 1);
}

static void owner(void)
{
	store(WQE, 0);
}

static void device_fetches(void)
{
	order_wqe(c->order, &(struct hca_wqe_seen){.qpn = QPN, .bus = WQE, .bytes = memory + WQE});
}

static void ring(void)
{
	struct send_db db = {{0}};

	send_db_set_qpn(&db, QPN);
	guest_checker_register(c, HCA_BAR_UAR, UINT64_C(200) * UAR_PAGE_SIZE + UAR_SEND_DB, db.b,
			       sizeof(db), &code, machine);
}

enum { ENTRY = P_CQ * CLAIM_PAGE_SIZE, OWNER = ENTRY + CQE_SIZE - WORD };

static void complete(void)
{
	struct cqe e = {{0}};
	const struct hca_dma_seen dma = {.what = "cqe",
					 .bus = ENTRY,
					 .bytes = (uint8_t *)&e,
					 .len = CQE_SIZE,
					 .write = true};

	cqe_set_my_qpn(&e, QPN);
	cqe_set_is_send(&e, 1);
	memcpy(memory + ENTRY, &e, sizeof(e));
	order_dma(c->order, &dma);
	own_dma(c->own, &dma);
}

/* --- tests --- */

static void a_work_request_of_the_kernel(void **state)
{
	body();
	wmb();
	owner();
	wmb();
	ring();
	device_fetches();
	assert_int_equal(reports, 0);
}

static void a_barrier_is_missing_before_the_owner_bit(void **state)
{
	body();
	rmb();
	owner();
	expect_report(RULE_order_wqe_body);
	assert_string_equal(place, "code 0xffffffffc0201000");
}

static void a_barrier_is_missing_before_the_doorbell(void **state)
{
	body();
	wmb();
	owner();
	ring();
	device_fetches();
	expect_report(RULE_order_doorbell);
}

/* x86 keeps stores in their order, and libibverbs relies on it. */
/* A test's refusals, and those of what a device may lack, are none of the driver's mistakes. */
static void a_refused_command(void **state)
{
	static const struct {
		uint32_t opcode;
		struct hca_command_answer answer;
		bool told;
	} rows[] = {
		{HCR_SW2HW_MPT, {.status = HCR_STATUS_OK}, false},
		{HCR_SW2HW_MPT, {.status = HCR_STATUS_BAD_PARAM}, true},
		{HCR_SW2HW_CQ, {.status = HCR_STATUS_ICM_ERROR}, true},
		{HCR_SW2HW_CQ, {.status = HCR_STATUS_BAD_PARAM, .planned = true}, false},
		{HCR_HW2SW_MPT, {.status = HCR_STATUS_REG_BOUND}, false},
		{HCR_RTR2RTS_QP, {.status = HCR_STATUS_BAD_QP_STATE}, false},
		{0xfff, {.status = HCR_STATUS_BAD_OP}, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct hcr command = {{0}};

		hcr_set_opcode(&command, rows[i].opcode);
		c->watcher->command_done(c, &command, &rows[i].answer);
		if (rows[i].told)
			expect_report(RULE_command_refused);
		assert_int_equal(reports, 0);
	}
}

static void a_program_needs_none_on_x86(void **state)
{
	code.pc = PROGRAM;
	body();
	owner();
	ring();
	device_fetches();
	assert_int_equal(reports, 0);
}

static void a_program_needs_one_elsewhere(void **state)
{
	code.pc = PROGRAM;
	machine = GUEST_AARCH64;
	body();
	owner();
	expect_report(RULE_order_wqe_body);
}

static void the_order_of_the_program_always_counts(void **state)
{
	code.pc = PROGRAM;
	owner();
	body();
	/* the posted request is the device's, and so is each byte of it */
	assert_int_equal(reported, RULE_device_memory_written);
	reports = 0;
	device_fetches();
	expect_report(RULE_order_wqe_body);
}

/* Its barriers are no instructions on x86. */
static void a_network_interface(void **state)
{
	const struct object_memory frames = {
		.has_pages = true, .sends = {0, LOG_STRIDE, LOG_SENDS}, .frames = true};

	own_object(c->own, &qp, &frames, true);
	body();
	owner();
	ring();
	device_fetches();
	assert_int_equal(reports, 0);
	machine = GUEST_AARCH64;
	body();
	owner();
	device_fetches();
	expect_report(RULE_order_wqe_body);
}

static void a_completion(void **state)
{
	complete();
	load(OWNER);
	load(ENTRY);
	assert_int_equal(reports, 0);
}

static void a_completion_is_read_before_its_owner_bit(void **state)
{
	complete();
	load(ENTRY);
	expect_report(RULE_order_entry);
}

static void a_completion_elsewhere(void **state)
{
	machine = GUEST_AARCH64;
	complete();
	load(OWNER);
	rmb();
	load(ENTRY);
	assert_int_equal(reports, 0);
	complete();
	load(OWNER);
	load(ENTRY);
	expect_report(RULE_order_entry);
}

/* Linux has no barrier there. What is given back must not be read any more. */
static void a_completion_is_given_back(void **state)
{
	complete();
	load(OWNER);
	load(ENTRY);
	store(P_RECORDS * CLAIM_PAGE_SIZE, htobe32(1));
	assert_int_equal(reports, 0);
	assert_int_equal(own_completions_waiting(c->own, CQN), 0);
	load(ENTRY);
	expect_report(RULE_entry_not_owned);
}

/* mlx4_en sets the owner bits of a CQ that is the device's already. */
static void a_new_cq_is_filled(void **state)
{
	store(OWNER, 0x80);
	assert_int_equal(reports, 0);
	complete();
	store(OWNER + CQE_SIZE, 0x80);
	expect_report(RULE_device_memory_written);
}

static void armed(uint32_t sequence)
{
	struct cq_arm_db db = {{0}};

	cq_arm_db_set_cqn(&db, CQN);
	cq_arm_db_set_sn(&db, sequence);
	guest_checker_register(c, HCA_BAR_UAR, UINT64_C(200) * UAR_PAGE_SIZE + UAR_CQ_ARM, db.b,
			       sizeof(db), &code, machine);
}

/* A program may not have taken the event that the kernel's handler has seen. */
static void a_cq_is_armed_with_a_wrong_number(void **state)
{
	code.pc = PROGRAM;
	armed(2);
	assert_int_equal(reports, 0);
	code.pc = KERNEL;
	armed(1);
	assert_int_equal(reports, 0);
	armed(2);
	expect_report(RULE_arm_record);
}

static void only_memory_that_stays_is_looked_into(void **state)
{
	const int fd = memfd_create("shrinks", MFD_CLOEXEC);
	const uint32_t *seen = (const uint32_t *)((uint8_t *)c->host.memory + BYTES);
	const uint32_t value = 0x600d;

	memcpy(memory, &value, sizeof(value));
	assert_int_equal(*(const uint32_t *)c->host.memory, value);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	assert_int_equal(pwrite(fd, &value, sizeof(value), 0), sizeof(value));
	guest_checker_mapped(c, BYTES, BYTES, fd, 0);
	assert_int_equal(*seen, 0);
	guest_checker_mapped(c, BYTES, BYTES, memory_fd, 0);
	assert_int_equal(*seen, value);
	guest_checker_unmapped(c, BYTES, BYTES);
	assert_int_equal(*seen, 0);
	close(fd);
}

static void what_stays_mapped_is_told(void **state)
{
	const struct guest_range ranges[] = {
		{.start = CLAIM_PAGE_SIZE, .size = CLAIM_PAGE_SIZE},
		{.start = P_RECORDS * CLAIM_PAGE_SIZE, .size = CLAIM_PAGE_SIZE}};

	guest_checker_mastering(c, true, NULL, 0);
	guest_checker_mastering(c, false, NULL, 0);
	assert_int_equal(reports, 0);
	guest_checker_mastering(c, true, NULL, 0);
	guest_checker_mastering(c, false, ranges, ARRAY_SIZE(ranges));
	expect_report(RULE_not_given_back);
	assert_non_null(strstr(said, "8192 bytes stay mapped for it, from 0x1000 on"));
	assert_non_null(strstr(said, "the doorbell record of cqn 5"));
}

/* Without an IOMMU the whole memory is mapped before the driver comes. */
static void without_an_iommu_nothing_is_given_back(void **state)
{
	const struct guest_range all = {.size = BYTES};

	guest_checker_mastering(c, true, &all, 1);
	guest_checker_mastering(c, false, &all, 1);
	assert_int_equal(reports, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
		T(a_work_request_of_the_kernel),
		T(a_barrier_is_missing_before_the_owner_bit),
		T(a_barrier_is_missing_before_the_doorbell),
		T(a_refused_command),
		T(a_program_needs_none_on_x86),
		T(a_program_needs_one_elsewhere),
		T(the_order_of_the_program_always_counts),
		T(a_network_interface),
		T(a_completion),
		T(a_completion_is_read_before_its_owner_bit),
		T(a_completion_elsewhere),
		T(a_completion_is_given_back),
		T(a_new_cq_is_filled),
		T(a_cq_is_armed_with_a_wrong_number),
		T(only_memory_that_stays_is_looked_into),
		T(what_stays_mapped_is_told),
		T(without_an_iommu_nothing_is_given_back),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
