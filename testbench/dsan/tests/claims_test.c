// SPDX-License-Identifier: Apache-2.0
/* Which releases and stores are reported. The test plays the device and checker.c. */
#include "testbench/dsan/held/claims_impl.h"

#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/fwregs.h"
#include "model/interface/mailboxes.h"
#include "model/interface/regs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { PAGES = 64, BYTES = PAGES * CLAIM_PAGE_SIZE };
/* pages of the host's memory */
enum { P_MTT = 1, P_CQC = 2, P_MPT = 3, P_RECORDS = 4, P_MAILBOX = 5, P_CQ = 8, P_OTHER = 16 };
#define BUS UINT64_C(0x100000000)

static _Alignas(CLAIM_PAGE_SIZE) uint8_t memory[BYTES];
static struct checker c;
static struct claims *cl;
static unsigned reports;
static enum guest_rule reported;
static struct cqc cqcs[4];
static struct mpt_entry mpts[4];
static struct qpc network; /* QP 1 */
static bool mpt_valid;

/* --- the device: ICM addresses are table << 32 | offset, and each table has one page --- */

static const struct {
	unsigned page;
	size_t entry;
} tables[FW_TABLE_COUNT] = {
	[FW_TABLE_CQC] = {P_CQC, sizeof(struct cqc)},
	[FW_TABLE_MPT] = {P_MPT, sizeof(struct mpt_entry)},
	[FW_TABLE_MTT] = {P_MTT, sizeof(struct mtt_entry)},
	[FW_TABLE_CMPT] = {P_CQC, 1},
	[FW_TABLE_QPC] = {P_CQC, 1},
	[FW_TABLE_ALTC] = {P_CQC, 1},
	[FW_TABLE_AUXC] = {P_CQC, 1},
};

uint64_t hca_icm_address(const struct hca *hca, unsigned table, uint64_t index)
{
	return (uint64_t)table << 32 | (index * tables[table].entry) % CLAIM_PAGE_SIZE;
}

bool hca_icm_find(const struct hca *hca, uint64_t va, unsigned *table, uint64_t *index)
{
	*table = (unsigned)(va >> 32);
	*index = (uint32_t)va / tables[*table].entry;
	return true;
}

int hca_icm_bus(const struct hca *hca, uint64_t va, uint64_t *bus)
{
	*bus = BUS + tables[va >> 32].page * CLAIM_PAGE_SIZE + (uint32_t)va;
	return 0;
}

bool hca_object_valid(const struct hca *hca, enum hca_object type, uint32_t number)
{
	return mpt_valid;
}

int hca_context_read(struct hca *hca, enum hca_object type, uint32_t number, void *buf, size_t size)
{
	const void *from = type == HCA_CQ ? (const void *)&cqcs[number] : &mpts[number];
	const size_t len = type == HCA_CQ ? sizeof(struct cqc) : sizeof(struct mpt_entry);

	if (type == HCA_QP) {
		memcpy(buf, &network, sizeof(network));
		return sizeof(network);
	}
	memcpy(buf, from, len);
	return (int)len;
}

/* --- checker.c --- */

void checker_report(struct checker *of, const struct breach *b, const char *format, ...)
{
	reports++;
	reported = b->rule;
}

static uintptr_t at_page(unsigned page)
{
	return (uintptr_t)memory + page * CLAIM_PAGE_SIZE;
}

static void object_is(enum hca_object type, uint32_t number, bool valid,
		      const struct mpt_entry *mpt)
{
	struct object_memory m;
	bool fresh;

	claims_object(cl, type, number, valid, mpt, &m, &fresh);
}

static void mtt_set(unsigned index, unsigned page)
{
	struct mtt_entry *e = (struct mtt_entry *)(void *)at_page(P_MTT) + index;

	mtt_entry_set_addr(e, BUS + page * CLAIM_PAGE_SIZE);
	mtt_entry_set_present(e, 1);
}

/* CQ n: 2 pages from `page`, MTT entries from `mtt`, record n of the page of records. */
static void cq_begin(unsigned n, unsigned page, unsigned mtt, unsigned record)
{
	cqcs[n] = (struct cqc){{0}};
	cqc_set_log_size(&cqcs[n], 8);
	cqc_set_mtt_addr(&cqcs[n], mtt * sizeof(struct mtt_entry));
	cqc_set_db_rec_addr(&cqcs[n], BUS + P_RECORDS * CLAIM_PAGE_SIZE + record * 8);
	mtt_set(mtt, page);
	mtt_set(mtt + 1, page + 1);
	object_is(HCA_CQ, n, true, NULL);
}

static int begin(void **state)
{
	memset(memory, 0, sizeof(memory));
	c = (struct checker){.host = {.memory = memory, .bus = BUS, .bytes = BYTES}};
	cl = claims_create(&c);
	reports = 0;
	mpt_valid = false;
	claims_mapped(cl, (uintptr_t)memory, BYTES);
	claims_icm_map(cl, (uint64_t)FW_TABLE_MTT << 32, BUS + P_MTT * CLAIM_PAGE_SIZE,
		       CLAIM_PAGE_SIZE);
	claims_icm_map(cl, (uint64_t)FW_TABLE_MPT << 32, BUS + P_MPT * CLAIM_PAGE_SIZE,
		       CLAIM_PAGE_SIZE);
	cq_begin(1, P_CQ, 8, 1);
	return 0;
}

static int end(void **state)
{
	claims_destroy(cl);
	return 0;
}

static void unmap(unsigned page)
{
	claims_unmapped(cl, at_page(page), CLAIM_PAGE_SIZE, "");
}

static void expect_report(enum guest_rule rule)
{
	assert_int_equal(reports, 1);
	assert_int_equal(reported, rule);
	reports = 0;
}

static void a_queue_is_freed_while_it_lives(void **state)
{
	unmap(P_OTHER);
	assert_int_equal(reports, 0);
	unmap(P_CQ + 1);
	expect_report(RULE_memory_taken);
	unmap(P_RECORDS);
	expect_report(RULE_memory_taken);
}

/* Software that polls frees the old buffer of a resized CQ before the command has ended. */
static void a_cq_lets_its_old_buffer_go(void **state)
{
	claims_cq_resized(cl, at_page(P_OTHER));
	claims_unmapped(cl, at_page(P_CQ), CLAIM_PAGE_SIZE, NULL);
	expect_report(RULE_memory_taken);
	claims_cq_resized(cl, at_page(P_CQ));
	claims_unmapped(cl, at_page(P_CQ), CLAIM_PAGE_SIZE, NULL);
	claims_mtts_back(cl, 8, 2, NULL);
	assert_int_equal(reports, 0);
}

/* As a guest's checker does: memory has no pointers, and nobody counts mappings. */
static bool read_bus(void *ctx, uint64_t bus, void *buf, size_t len)
{
	if (bus - BUS > BYTES - len)
		return false;
	memcpy(buf, memory + (bus - BUS), len);
	return true;
}

static void a_guest_takes_memory_back(void **state)
{
	claims_destroy(cl);
	c = (struct checker){.host = {.bytes = UINT64_C(1) << 34, .read = read_bus}};
	cl = claims_create(&c);
	cq_begin(1, P_CQ, 8, 1);
	claims_taken(cl, BUS + P_OTHER * CLAIM_PAGE_SIZE, CLAIM_PAGE_SIZE, NULL);
	assert_int_equal(reports, 0);
	/* two pages of one object are one report */
	claims_taken(cl, BUS + P_CQ * CLAIM_PAGE_SIZE, 2 * CLAIM_PAGE_SIZE, NULL);
	expect_report(RULE_memory_taken);
	claims_taken(cl, BUS + P_RECORDS * CLAIM_PAGE_SIZE, CLAIM_PAGE_SIZE, NULL);
	expect_report(RULE_memory_taken);
	object_is(HCA_CQ, 1, false, NULL);
	claims_taken(cl, BUS + P_CQ * CLAIM_PAGE_SIZE, 2 * CLAIM_PAGE_SIZE, NULL);
	assert_int_equal(reports, 0);
	/* beyond what is followed */
	claims_taken(cl, UINT64_MAX - CLAIM_PAGE_SIZE + 1, CLAIM_PAGE_SIZE, NULL);
	assert_int_equal(reports, 0);
}

/* Linux says a size of both queues, and has the memory of one. */
static void a_ring_of_a_network_interface(void **state)
{
	struct object_memory m;

	network = (struct qpc){{0}};
	qpc_set_service(&network, QP_ST_MLX);
	qpc_set_mtu(&network, QPC_MTU_FRAME);
	qpc_set_log_rq_size(&network, 10);
	qpc_set_log_rq_stride(&network, 2);
	qpc_set_db_rec_addr(&network, BUS + P_RECORDS * CLAIM_PAGE_SIZE);
	qpc_set_mtt_addr(&network, 8 * sizeof(struct mtt_entry));
	assert_true(object_read(NULL, HCA_QP, 1, NULL, &m));
	assert_true(m.frames);
	assert_int_equal(m.mtt_count, 16);
	qpc_set_mtu(&network, 3);
	assert_true(object_read(NULL, HCA_QP, 1, NULL, &m));
	assert_false(m.frames);
	assert_int_equal(m.mtt_count, 17);
}

static unsigned watches[PAGES]; /* 1: the page is watched */

static void page_watched(void *ctx, uint64_t page, bool watched)
{
	watches[page] = watched;
}

static void mailbox_given(unsigned page, bool done)
{
	struct hcr command = {{0}};
	const struct hca_command_answer answer = {0};

	hcr_set_opcode(&command, HCR_SW2HW_CQ);
	hcr_set_in_param(&command, BUS + page * CLAIM_PAGE_SIZE);
	claims_command(cl, &command, done ? &answer : NULL);
}

/* Pages of queues and records are, those of regions are not; a page that has been a mailbox stays so. */
static void pages_are_watched(void **state)
{
	struct mpt_entry *e = &mpts[1];

	*e = (struct mpt_entry){{0}};
	mpt_entry_set_region(e, 1);
	mpt_entry_set_remote_write(e, 1);
	mpt_entry_set_mtt_size(e, 4);
	mpt_entry_set_mtt_addr(e, 20 * sizeof(struct mtt_entry));
	mpt_entry_set_log_page_size(e, 12);
	mpt_entry_set_length(e, 100);
	mtt_set(20, P_OTHER);
	memset(watches, 0, sizeof(watches));
	c.watch.page = page_watched;
	object_is(HCA_CQ, 1, false, NULL);
	cq_begin(1, P_CQ, 8, 1);
	cq_begin(2, P_CQ + 2, 10, 2);
	assert_true(watches[P_CQ] && watches[P_CQ + 1] && watches[P_CQ + 2] && watches[P_RECORDS]);
	object_is(HCA_MPT, 1, true, e);
	assert_non_null(claims_of_page(cl, at_page(P_OTHER)));
	assert_false(watches[P_OTHER]);
	object_is(HCA_CQ, 1, false, NULL);
	assert_false(watches[P_CQ] || watches[P_CQ + 1]);
	/* the other CQ's record is in the same page */
	assert_true(watches[P_RECORDS]);
	mailbox_given(P_MAILBOX, false);
	assert_true(watches[P_MAILBOX]);
	mailbox_given(P_MAILBOX, true);
	assert_true(watches[P_MAILBOX]);
}

static void a_piece_of_icm_is_freed(void **state)
{
	claims_icm_map(cl, UINT64_C(64) << 32, BUS + P_OTHER * CLAIM_PAGE_SIZE,
		       4 * CLAIM_PAGE_SIZE);
	for (unsigned i = 0; i < 4; i++)
		unmap(P_OTHER + i);
	expect_report(RULE_memory_taken);
	unmap(P_MTT);
	expect_report(RULE_memory_taken);
}

static void a_queue_is_freed_behind_its_command(void **state)
{
	object_is(HCA_CQ, 1, false, NULL);
	unmap(P_CQ);
	unmap(P_CQ + 1);
	unmap(P_RECORDS);
	assert_int_equal(reports, 0);
}

static void a_page_is_mapped_twice(void **state)
{
	claims_mapped(cl, at_page(P_CQ), CLAIM_PAGE_SIZE);
	unmap(P_CQ);
	assert_int_equal(reports, 0);
	unmap(P_CQ);
	expect_report(RULE_memory_taken);
}

static void a_reset_ends_all_claims(void **state)
{
	claims_forgotten(cl, false);
	unmap(P_CQ);
	assert_int_equal(reports, 0);
	unmap(P_MTT);
	expect_report(RULE_memory_taken);
	claims_forgotten(cl, true);
	unmap(P_MPT);
	assert_int_equal(reports, 0);
}

static void two_objects_share_nothing(void **state)
{
	cq_begin(2, P_OTHER, 10, 2);
	assert_int_equal(reports, 0);
	cq_begin(3, P_OTHER + 2, 11, 3);
	expect_report(RULE_mtt_shared);
	cq_begin(3, P_OTHER + 2, 10, 3); /* both entries */
	expect_report(RULE_mtt_shared);
	object_is(HCA_CQ, 3, false, NULL);
	cq_begin(3, P_OTHER + 2, 12, 2);
	expect_report(RULE_record_shared);
}

/* CQ 2 has MTT entries of its own, and one of them has a page of CQ 1, or none that the device reaches. */
static void a_queue_has_its_own_pages(void **state)
{
	cq_begin(2, P_CQ + 1, 10, 2);
	expect_report(RULE_page_not_own);
	object_is(HCA_CQ, 2, false, NULL);
	cq_begin(2, BYTES / CLAIM_PAGE_SIZE - 1, 10, 2);
	expect_report(RULE_page_not_own);
	object_is(HCA_CQ, 2, true, NULL); /* changed, and not given anew */
	object_is(HCA_CQ, 1, false, NULL);
	object_is(HCA_CQ, 2, false, NULL);
	cq_begin(2, P_CQ, 10, 2);
	assert_int_equal(reports, 0);
}

static void software_writes_its_part_of_icm(void **state)
{
	struct mpt_entry *e = (void *)at_page(P_MPT);

	(void)state;
	mpt_entry_set_status(e, MPT_STATUS_SW);
	claims_store(cl, at_page(P_MTT) + 12 * sizeof(struct mtt_entry), 8, "");
	claims_store(cl, at_page(P_MPT), 4, "");
	assert_int_equal(reports, 0);
	mpt_entry_set_status(e, MPT_STATUS_HW);
	claims_store(cl, at_page(P_MPT), 4, "");
	expect_report(RULE_device_memory_written);
	c.guest = true; /* Linux does it: mlx4_mr_rereg_mem_write */
	claims_store(cl, at_page(P_MPT), 4, "");
	assert_int_equal(reports, 0);
	claims_store(cl, at_page(P_MTT) + 9 * sizeof(struct mtt_entry), 8, "");
	expect_report(RULE_device_memory_written);
	mpt_valid = true;
	claims_store(cl, at_page(P_MPT), 4, "");
	expect_report(RULE_device_memory_written);
}

static const struct hca_command_answer done; /* status 0 */

static void a_mailbox_is_the_devices_while_its_command_runs(void **state)
{
	struct hcr command = {{0}};

	hcr_set_opcode(&command, HCR_SW2HW_CQ);
	hcr_set_in_param(&command, BUS + P_MAILBOX * CLAIM_PAGE_SIZE);
	claims_command(cl, &command, NULL);
	claims_store(cl, at_page(P_MAILBOX) + 8, 4, "");
	expect_report(RULE_device_memory_written);
	claims_command(cl, &command, &done);
	claims_store(cl, at_page(P_MAILBOX) + 8, 4, "");
	unmap(P_MAILBOX);
	assert_int_equal(reports, 0);
}

static void the_firmware_area_is_unmapped_first(void **state)
{
	struct hcr command = {{0}};
	struct vpm_entry *e = (struct vpm_entry *)(void *)at_page(P_MAILBOX);

	vpm_entry_set_pa(e, BUS + P_OTHER * CLAIM_PAGE_SIZE);
	vpm_entry_set_log_size(e, 1);
	hcr_set_opcode(&command, HCR_MAP_FA);
	hcr_set_in_mod(&command, 1);
	hcr_set_in_param(&command, BUS + P_MAILBOX * CLAIM_PAGE_SIZE);
	claims_command(cl, &command, &done);
	unmap(P_OTHER + 1);
	expect_report(RULE_memory_taken);
	hcr_set_opcode(&command, HCR_UNMAP_FA);
	claims_command(cl, &command, &done);
	unmap(P_OTHER);
	assert_int_equal(reports, 0);
}

static void qp_changes(unsigned state, unsigned pd)
{
	network = (struct qpc){{0}};
	qpc_set_mtt_addr(&network, 40 * sizeof(struct mtt_entry));
	qpc_set_state(&network, state);
	qpc_set_pd(&network, pd);
	mtt_set(40, P_CQ + 4);
	object_is(HCA_QP, 1, true, NULL);
}

static void a_region_that_work_requests_register(void **state)
{
	struct mpt_entry *e = &mpts[1];

	qp_changes(QP_STATE_RTS, 7);

	*e = (struct mpt_entry){{0}};
	mpt_entry_set_region(e, 1);
	mpt_entry_set_fre(e, 1);
	mpt_entry_set_pd(e, 7);
	mpt_entry_set_mtt_size(e, 4);
	mpt_entry_set_mtt_addr(e, 20 * sizeof(struct mtt_entry));
	mpt_entry_set_log_page_size(e, 12);
	mpt_entry_set_length(e, 100);
	mtt_set(20, P_OTHER);
	object_is(HCA_MPT, 1, true, e);
	unmap(P_OTHER); /* for local use only */
	assert_int_equal(reports, 0);
	mpt_entry_set_remote_write(e, 1);
	mtt_set(20, P_OTHER + 1);
	object_is(HCA_MPT, 1, true, e);
	/* no queue pair of its protection domain can use it: one is in error, the other in another */
	qp_changes(QP_STATE_ERR, 7);
	claims_taken(cl, at_page(P_OTHER + 1), CLAIM_PAGE_SIZE, NULL);
	qp_changes(QP_STATE_RTS, 8);
	claims_taken(cl, at_page(P_OTHER + 1), CLAIM_PAGE_SIZE, NULL);
	assert_int_equal(reports, 0);
	qp_changes(QP_STATE_RTS, 7);
	unmap(P_OTHER + 1);
	expect_report(RULE_memory_taken);
	mpt_entry_set_status(e, MPT_STATUS_FREE);
	mtt_set(20, P_OTHER + 2);
	object_is(HCA_MPT, 1, true, e);
	unmap(P_OTHER + 2);
	assert_int_equal(reports, 0);
	claims_store(cl, at_page(P_MTT) + 23 * sizeof(struct mtt_entry), 8, "");
	expect_report(RULE_device_memory_written);
}

static void icm_is_unmapped_under_an_object(void **state)
{
	claims_icm_unmap(cl, (uint64_t)FW_TABLE_MPT << 32, CLAIM_PAGE_SIZE);
	assert_int_equal(reports, 0);
	claims_icm_unmap(cl, (uint64_t)FW_TABLE_MTT << 32, CLAIM_PAGE_SIZE);
	expect_report(RULE_icm_unmapped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
		T(a_queue_is_freed_while_it_lives),
		T(a_cq_lets_its_old_buffer_go),
		T(a_guest_takes_memory_back),
		T(pages_are_watched),
		T(a_ring_of_a_network_interface),
		T(a_piece_of_icm_is_freed),
		T(a_queue_is_freed_behind_its_command),
		T(a_page_is_mapped_twice),
		T(a_reset_ends_all_claims),
		T(two_objects_share_nothing),
		T(a_queue_has_its_own_pages),
		T(software_writes_its_part_of_icm),
		T(a_mailbox_is_the_devices_while_its_command_runs),
		T(the_firmware_area_is_unmapped_first),
		T(a_region_that_work_requests_register),
		T(icm_is_unmapped_under_an_object),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
