/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and addresses: every check of an access, page arithmetic, windows, what is cached and when
 * it is read again. */
#include "model/engine/tests/rig.h"

static struct hca *const hca = &rig.hca;

enum {
	INDEX = 5,
	VARIANT = 0x2a,
	KEY = INDEX << 8 | VARIANT,
	PD = 0x11,
	PAGE = 4096,
};

static int start(void **state)
{
	rig_params();
	rig_start();
	hca->ctrl = FW_CTRL_RUN | FW_CTRL_MW;
	return 0;
}

static int finish(void **state)
{
	rig_stop();
	return 0;
}

static struct mpt_entry *slot(uint32_t index)
{
	return (struct mpt_entry *)(void *)rig_at(rig_table_bus(FW_TABLE_MPT) + index * 64);
}

static void mtt_write(unsigned entry, uint64_t bus, bool present)
{
	be64_store(rig_at(rig_table_bus(FW_TABLE_MTT) + entry * 8), bus | present);
}

/* Makes a region as SW2HW_MPT leaves it. It has the MTT entries from 100 on; its page i is at bus
 * address 0x40000000 + i * 3 pages. */
static struct mpt_entry *region(uint32_t index, uint64_t va, uint64_t length, unsigned log_page)
{
	struct mpt_entry *e = slot(index);

	memset(e, 0, sizeof(*e));
	mpt_entry_set_region(e, 1);
	mpt_entry_set_access(e, 0x3f);
	mpt_entry_set_mem_key(e, (uint32_t)VARIANT << 24 | index);
	mpt_entry_set_pd(e, PD);
	mpt_entry_set_start(e, va);
	mpt_entry_set_length(e, length);
	mpt_entry_set_mtt_addr(e, 100 * 8);
	mpt_entry_set_log_page_size(e, log_page);
	for (unsigned i = 0; i < 32; i++)
		mtt_write(100 + i, 0x40000000 + ((uint64_t)i * 3 << log_page), true);
	icm_object_set(hca, FW_TABLE_MPT, index, true);
	return e;
}

static struct dma_frag frags[16];
static unsigned n_frags;

/* Repeats until the result is not -EAGAIN. `tries` counts the misses. */
static unsigned tries;

static int translate(struct access a)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	int rc;

	tries = 0;
	do {
		n_frags = 0;
		rc = translate_access(hca, &a, &w.w, frags, &n_frags, 16);
		if (rc == -EAGAIN) {
			assert_int_equal(n_frags, 0);
			rig_run();
			tries++;
			assert_int_equal(w.woken, tries);
		}
	} while (rc == -EAGAIN);
	return rc;
}

/* a field that a test names replaces its default */
#pragma GCC diagnostic ignored "-Woverride-init"
#define ACCESS(va_, len_, ...)                                                                     \
	((struct access){.key = KEY,                                                               \
			 .va = (va_),                                                              \
			 .len = (len_),                                                            \
			 .pd = PD,                                                                 \
			 .rights = ACCESS_LOCAL_WRITE,                                             \
			 .qpn = 0x45,                                                              \
			 ##__VA_ARGS__})

static void translates_pages(void **state)
{
	region(INDEX, 0x7000, 4 * PAGE, 12);
	assert_int_equal(translate(ACCESS(0x7800, PAGE)), 0);
	assert_int_equal(n_frags, 2);
	assert_true(frags[0].bus == 0x40000800 && frags[0].len == 0x800);
	assert_true(frags[1].bus == 0x40003000 && frags[1].len == 0x800);
	/* one miss for the MPT, one for entries 100 and 101, which are in the same line of 8 */
	assert_int_equal(tries, 2);
	assert_int_equal(translate(ACCESS(0x7000, 1)), 0);
	assert_int_equal(tries, 0);
	assert_int_equal(hca->stats.translate_mpt_misses, 1);
	assert_int_equal(hca->stats.translate_mtt_misses, 1);
	/* Entry 104 is in the next line. */
	region(INDEX, 0x7000, 5 * PAGE, 12);
	translate_drop_key(hca, INDEX);
	assert_int_equal(translate(ACCESS(0x7000, 5 * PAGE)), 0);
	assert_int_equal(tries, 3);
	assert_int_equal(n_frags, 5);
}

static void start_need_not_be_at_a_page(void **state)
{
	/* The region begins at byte 0x234 of its first page: index = (va - (start rounded down)) >>
	 * 12. */
	region(INDEX, 0x7fff00001234, 2 * PAGE, 12);
	assert_int_equal(translate(ACCESS(0x7fff00002000, 16)), 0);
	assert_true(frags[0].bus == 0x40003000);
	assert_int_equal(translate(ACCESS(0x7fff00001234, 16)), 0);
	assert_true(frags[0].bus == 0x40000234);
	assert_int_equal(translate(ACCESS(0x7fff00003233, 1)), 0);
	assert_true(frags[0].bus == 0x40006233);
	assert_int_equal(translate(ACCESS(0x7fff00003233, 2)), TRANSLATE_BAD_RANGE);
}

static void page_sizes(void **state)
{
	for (unsigned log = 12; log <= 31; log++) {
		uint64_t page = UINT64_C(1) << log, at = 0x100000000;

		region(INDEX, at, 4 * page, log);
		translate_drop_all(hca);
		assert_int_equal(translate(ACCESS(at + 2 * page - 3, 5)), 0);
		assert_int_equal(n_frags, 2);
		assert_true(frags[0].bus == 0x40000000 + 3 * page + page - 3);
		assert_int_equal(frags[0].len, 3);
		assert_true(frags[1].bus == 0x40000000 + 6 * page);
		assert_int_equal(frags[1].len, 2);
	}
	mpt_entry_set_log_page_size(slot(INDEX), 11);
	translate_drop_all(hca);
	assert_int_equal(translate(ACCESS(0x100000000, 5)), TRANSLATE_BAD_KEY);
	mpt_entry_set_log_page_size(slot(INDEX), 32);
	translate_drop_all(hca);
	assert_int_equal(translate(ACCESS(0x100000000, 5)), TRANSLATE_BAD_KEY);
}

static void first_byte_offset_moves_the_pages(void **state)
{
	struct mpt_entry *e = region(INDEX, 0x5000, PAGE, 12);

	mpt_entry_set_fbo_enable(e, 1);
	mpt_entry_set_first_byte_offset(e, 0x100);
	assert_int_equal(translate(ACCESS(0x5000, PAGE)), 0);
	assert_int_equal(n_frags, 2);
	assert_true(frags[0].bus == 0x40000100 && frags[0].len == 0xf00);
	assert_true(frags[1].bus == 0x40003000 && frags[1].len == 0x100);
}

static void joins_what_is_contiguous(void **state)
{
	struct access a = ACCESS(0x7000, 3 * PAGE);
	struct rig_waiter RIG_DONE w = RIG_WAITER;

	region(INDEX, 0x7000, 3 * PAGE, 12);
	mtt_write(101, 0x40001000, true);
	assert_int_equal(translate(a), 0);
	assert_int_equal(n_frags, 2);
	assert_int_equal(frags[0].len, 2 * PAGE);
	/* Appends to the fragments that are there, and joins them. Without room it takes all of its
	 * fragments back. */
	frags[0] = (struct dma_frag){0x3ffffff0, 16};
	n_frags = 1;
	assert_int_equal(translate_access(hca, &a, &w.w, frags, &n_frags, 1), -ENOSPC);
	assert_int_equal(n_frags, 1);
	assert_int_equal(frags[0].len, 16);
	assert_int_equal(translate_access(hca, &a, &w.w, frags, &n_frags, 2), 0);
	assert_int_equal(n_frags, 2);
	assert_int_equal(frags[0].len, 2 * PAGE + 16);
}

static void keys(void **state)
{
	region(INDEX, 0, PAGE, 12);
	assert_int_equal(translate(ACCESS(0, 1)), 0);
	assert_int_equal(translate(ACCESS(0, 1, .key = KEY ^ 1)), TRANSLATE_BAD_KEY);
	assert_int_equal(translate(ACCESS(0, 1, .key = 6 << 8 | VARIANT)), TRANSLATE_BAD_KEY);
	/* The index is taken modulo the table, but the whole key is compared. */
	assert_int_equal(translate(ACCESS(0, 1, .key = (INDEX + 64) << 8 | VARIANT)),
			 TRANSLATE_BAD_KEY);
	mpt_entry_set_mem_key(slot(INDEX), (uint32_t)VARIANT << 24 | (INDEX + 64));
	translate_drop_key(hca, INDEX);
	assert_int_equal(translate(ACCESS(0, 1, .key = (INDEX + 64) << 8 | VARIANT)), 0);
	assert_int_equal(rig.guest_errors, 0);
}

static void free_key_gives_no_access(void **state)
{
	mpt_entry_set_status(region(INDEX, 0, PAGE, 12), MPT_STATUS_FREE);
	assert_int_equal(translate(ACCESS(0, 1)), TRANSLATE_BAD_KEY);
}

static void protection_domains(void **state)
{
	region(INDEX, 0, PAGE, 12);
	assert_int_equal(translate(ACCESS(0, 1, .pd = PD + 1)), TRANSLATE_BAD_PD);
	assert_int_equal(translate_check(hca, &ACCESS(0, 1), NULL), 0);
	assert_int_equal(translate_check(hca, &ACCESS(0, 1, .pd = PD + 1), NULL), TRANSLATE_BAD_PD);
}

static void rights(void **state)
{
	/* Access bits of the first word: local read 10, local write 11, remote read 12, remote
	 * write 13, remote atomic 14. */
	static const unsigned right[] = {ACCESS_LOCAL_READ, ACCESS_LOCAL_WRITE, ACCESS_REMOTE_READ,
					 ACCESS_REMOTE_WRITE, ACCESS_REMOTE_ATOMIC};
	struct mpt_entry *e = region(INDEX, 0, PAGE, 12);

	for (unsigned bit = 0; bit < 5; bit++) {
		be32_store(e->b, 1u << 8 | 1u << (10 + bit));
		translate_drop_key(hca, INDEX);
		for (unsigned want = 0; want < 5; want++)
			assert_int_equal(translate(ACCESS(0, 1, .rights = right[want])),
					 want == bit ? 0 : TRANSLATE_BAD_RIGHT);
	}
	be32_store(e->b, 1u << 8 | 1u << 10 | 1u << 11);
	translate_drop_key(hca, INDEX);
	assert_int_equal(translate(ACCESS(0, 1, .rights = ACCESS_LOCAL_READ | ACCESS_LOCAL_WRITE)),
			 0);
	assert_int_equal(translate(ACCESS(0, 1, .rights = ACCESS_LOCAL_READ | ACCESS_REMOTE_READ)),
			 TRANSLATE_BAD_RIGHT);
}

static void ranges(void **state)
{
	region(INDEX, 0x10010, 100, 12);
	assert_int_equal(translate(ACCESS(0x10010, 100)), 0);
	assert_int_equal(translate(ACCESS(0x10010 + 99, 1)), 0);
	assert_int_equal(translate(ACCESS(0x1000f, 1)), TRANSLATE_BAD_RANGE);
	assert_int_equal(translate(ACCESS(0x1000f, 10)), TRANSLATE_BAD_RANGE);
	assert_int_equal(translate(ACCESS(0x10010 + 100, 1)), TRANSLATE_BAD_RANGE);
	assert_int_equal(translate(ACCESS(0x10010 + 50, 51)), TRANSLATE_BAD_RANGE);
	assert_int_equal(translate(ACCESS(0x10010, 0xffffffff)), TRANSLATE_BAD_RANGE);
}

static void the_end_of_the_address_space(void **state)
{
	uint64_t last = UINT64_MAX - (PAGE - 1);

	region(INDEX, last, PAGE, 12);
	assert_int_equal(translate(ACCESS(UINT64_MAX, 1)), 0);
	assert_true(frags[0].bus == 0x40000fff);
	assert_int_equal(translate(ACCESS(last, PAGE)), 0);
	assert_int_equal(translate(ACCESS(UINT64_MAX, 2)), TRANSLATE_BAD_RANGE);
	/* A region that would continue at address 0: an access may not cross the end of the address
	 * space. */
	mpt_entry_set_length(slot(INDEX), 2 * PAGE);
	translate_drop_key(hca, INDEX);
	assert_int_equal(translate(ACCESS(UINT64_MAX, 2)), TRANSLATE_BAD_RANGE);
}

static void physical_region(void **state)
{
	struct mpt_entry *e = region(INDEX, 0, UINT64_MAX, 12);

	mpt_entry_set_physical(e, 1);
	mpt_entry_set_mtt_addr(e, 0);
	assert_int_equal(translate(ACCESS(0x123456789, 0x10000)), 0);
	assert_int_equal(tries, 1);
	assert_int_equal(n_frags, 1);
	assert_true(frags[0].bus == 0x123456789 && frags[0].len == 0x10000);
	assert_int_equal(translate(ACCESS(UINT64_MAX, 2)), TRANSLATE_BAD_RANGE);
	assert_int_equal(hca->stats.translate_mtt_misses, 0);
}

static void page_not_present(void **state)
{
	region(INDEX, 0, 4 * PAGE, 12);
	mtt_write(102, 0x40006000, false);
	assert_int_equal(translate(ACCESS(0, 2 * PAGE)), 0);
	assert_int_equal(translate(ACCESS(PAGE, 2 * PAGE)), TRANSLATE_NO_PAGE);
	assert_int_equal(n_frags, 0);
	assert_string_equal(rig.last_rule, "mtt_not_present");
	assert_non_null(strstr(rig.last_text, "mpt 5, entry 2 "));
	assert_non_null(strstr(rig.last_text, "qpn 000045"));
	assert_int_equal(rig.guest_errors, 1);
	/* Software writes the entry: it is read again. */
	mtt_write(102, 0x40006000, true);
	assert_int_equal(translate(ACCESS(PAGE, 2 * PAGE)), 0);
}

static void unmapped_tables(void **state)
{
	region(INDEX, 0, PAGE, 12);
	icm_unmap(hca, (uint64_t)FW_TABLE_MTT << 20, 16);
	assert_int_equal(translate(ACCESS(0, 1)), -EFAULT);
	assert_string_equal(rig.last_rule, "icm_unmapped");
	icm_unmap(hca, (uint64_t)FW_TABLE_MPT << 20, 16);
	translate_drop_range(hca, (uint64_t)FW_TABLE_MPT << 20, 16 * PAGE);
	assert_int_equal(translate(ACCESS(0, 1)), -EFAULT);
	assert_int_equal(rig.guest_errors, 2);
}

static void failed_read_is_told(void **state)
{
	region(INDEX, 0, PAGE, 12);
	rig.hole = rig_table_bus(FW_TABLE_MPT);
	rig.hole_end = rig.hole + PAGE;
	assert_int_equal(translate(ACCESS(0, 1)), -EFAULT);
	assert_int_equal(tries, 1);
	rig.hole_end = 0;
	assert_int_equal(translate(ACCESS(0, 1)), 0);
}

/* After HW2SW_MPT software changes the entry in place and sets its status back, without a command.
 * It counts as valid after SYNC_TPT. */
static void reregistered_in_place(void **state)
{
	struct mpt_entry *e = region(INDEX, 0, PAGE, 12);

	assert_int_equal(translate(ACCESS(0, 1)), 0);
	translate_mpt_set(hca, INDEX, false);
	/* Firmware has not written the slot yet, so its status still says valid. */
	assert_int_equal(translate(ACCESS(0, 1, .rights = ACCESS_REMOTE_READ)), TRANSLATE_BAD_KEY);
	assert_int_equal(rig.guest_errors, 0);
	assert_int_equal(translate(ACCESS(0, 1)), TRANSLATE_BAD_KEY);
	assert_string_equal(rig.last_rule, "object_after_hw2sw");
	mpt_entry_set_status(e, MPT_STATUS_SW);
	translate_sync(hca);
	assert_int_equal(translate(ACCESS(0, 1)), TRANSLATE_BAD_KEY);
	assert_int_equal(rig.guest_errors, 2);
	mpt_entry_set_start(e, 0x9000);
	mpt_entry_set_status(e, MPT_STATUS_HW);
	assert_int_equal(translate(ACCESS(0x9000, 1)), TRANSLATE_BAD_KEY);
	translate_sync(hca);
	assert_int_equal(translate(ACCESS(0x9000, 1)), 0);
	assert_int_equal(translate(ACCESS(0, 1)), TRANSLATE_BAD_RANGE);
	assert_true(icm_object_valid(hca, FW_TABLE_MPT, INDEX));
}

static void never_registered_slot_is_not_read(void **state)
{
	region(INDEX, 0, PAGE, 12);
	icm_object_set(hca, FW_TABLE_MPT, INDEX, false);
	/* A slot of all zeroes means "hardware owns it", so memory alone does not make it valid. */
	assert_int_equal(translate(ACCESS(0, 1)), TRANSLATE_BAD_KEY);
	assert_int_equal(rig.reads, 0);
}

/* Two regions whose MTT entries share a line of ICM. The entries of the second one are written
 * after the line was read for the first. */
static void neighbours_entries_are_not_stale(void **state)
{
	region(INDEX, 0, PAGE, 12);
	assert_int_equal(translate(ACCESS(0, 1)), 0);
	region(6, 0, PAGE, 12);
	mpt_entry_set_mtt_addr(slot(6), 103 * 8);
	mtt_write(103, 0x77000000, true);
	assert_int_equal(translate(ACCESS(0, 1, .key = 6 << 8 | VARIANT)), 0);
	assert_true(frags[0].bus == 0x77000000);
}

static void window(uint32_t index, uint64_t va, uint64_t length)
{
	struct mpt_entry *e = slot(index);

	memset(e, 0, sizeof(*e));
	mpt_entry_set_access(e, 0xc); /* remote read and write, in bits 15:10 */
	mpt_entry_set_mem_key(e, (uint32_t)VARIANT << 24 | index);
	mpt_entry_set_pd(e, PD);
	mpt_entry_set_start(e, va);
	mpt_entry_set_length(e, length);
	mpt_entry_set_lkey(e, KEY);
	icm_object_set(hca, FW_TABLE_MPT, index, true);
}

#define WINDOW(va, len, ...)                                                                       \
	ACCESS(va, len, .key = 7 << 8 | VARIANT, .rights = ACCESS_REMOTE_WRITE, ##__VA_ARGS__)

static void windows(void **state)
{
	region(INDEX, 0x7000, 4 * PAGE, 12);
	window(7, 0x8000, PAGE);
	assert_int_equal(translate(WINDOW(0x8010, 16)), 0);
	assert_true(frags[0].bus == 0x40003010);
	assert_int_equal(translate(WINDOW(0x7ff0, 16)), TRANSLATE_BAD_RANGE);
	assert_int_equal(translate(WINDOW(0x8010, 16, .rights = ACCESS_REMOTE_ATOMIC)),
			 TRANSLATE_BAD_RIGHT);
	assert_int_equal(translate(WINDOW(0x8010, 16, .pd = 9)), TRANSLATE_BAD_PD);
	/* A window of type 2 is bound to one QP. */
	mpt_entry_set_bound_to_qp(slot(7), 1);
	mpt_entry_set_qpn(slot(7), 0x45);
	translate_drop_key(hca, 7);
	assert_int_equal(translate(WINDOW(0x8010, 16)), 0);
	assert_int_equal(translate(WINDOW(0x8010, 16, .qpn = 0x46)), TRANSLATE_BAD_KEY);
	/* The region under the window is given back to software. */
	mpt_entry_set_status(slot(INDEX), MPT_STATUS_SW);
	translate_drop_key(hca, INDEX);
	assert_int_equal(translate(WINDOW(0x8010, 16)), TRANSLATE_BAD_KEY);
}

static void window_needs_the_feature_and_a_bindable_region(void **state)
{
	region(INDEX, 0x7000, 4 * PAGE, 12);
	window(7, 0x8000, 0);
	assert_int_equal(translate(WINDOW(0x8000, 1)), TRANSLATE_BAD_RANGE);
	window(7, 0x8000, PAGE);
	translate_drop_all(hca);
	mpt_entry_set_bind_enable(slot(INDEX), 0);
	assert_int_equal(translate(WINDOW(0x8000, 1)), TRANSLATE_BAD_KEY);
	mpt_entry_set_bind_enable(slot(INDEX), 1);
	translate_drop_all(hca);
	hca->ctrl &= ~(uint32_t)FW_CTRL_MW;
	assert_int_equal(translate(WINDOW(0x8000, 1)), TRANSLATE_BAD_KEY);
}

static void queue_buffers(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint32_t contiguous;
	uint64_t bus;

	for (unsigned i = 0; i < 4; i++)
		mtt_write(200 + i, 0x50000000 + (3 - i) * 0x2000, true);
	/* pages of 8 KiB: log_page_size is 1 in the context */
	assert_int_equal(translate_queue(hca, 200 * 8, 1, 0x3ff0, &w.w, &bus, &contiguous, 0x45),
			 -EAGAIN);
	rig_run();
	assert_int_equal(w.woken, 1);
	assert_int_equal(translate_queue(hca, 200 * 8, 1, 0x3ff0, &w.w, &bus, &contiguous, 0x45),
			 0);
	assert_true(bus == 0x50000000 + 2 * 0x2000 + 0x1ff0);
	assert_int_equal(contiguous, 0x10);
	/* The buffer is given back, and another queue uses it. */
	mtt_write(201, 0x60000000, true);
	translate_drop_queue(hca, 200 * 8);
	assert_int_equal(translate_queue(hca, 200 * 8, 1, 0x2000, &w.w, &bus, &contiguous, 0x45),
			 -EAGAIN);
	rig_run();
	assert_int_equal(translate_queue(hca, 200 * 8, 1, 0x2000, &w.w, &bus, &contiguous, 0x45),
			 0);
	assert_true(bus == 0x60000000);
	mtt_write(202, 0, false);
	translate_drop_queues(hca);
	translate_queue(hca, 200 * 8, 1, 0x4000, &w.w, &bus, &contiguous, 0x45);
	rig_run();
	assert_int_equal(translate_queue(hca, 200 * 8, 1, 0x4000, &w.w, &bus, &contiguous, 0x45),
			 TRANSLATE_NO_PAGE);
	assert_string_equal(rig.last_rule, "mtt_not_present");
}

static void changed_entry_is_written_through(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	struct mpt *mpt;

	region(INDEX, 0, PAGE, 12);
	assert_int_equal(translate(ACCESS(0, 1)), 0);
	assert_int_equal(translate_mpt_get(hca, KEY, &w.w, &mpt), 0);
	mpt_entry_set_length(mpt_bytes(mpt), 10);
	mpt_entry_set_win_cnt(mpt_bytes(mpt), 3);
	translate_mpt_changed(hca, KEY);
	assert_int_equal(mpt_entry_get_win_cnt(slot(INDEX)), 3);
	assert_int_equal(translate(ACCESS(0, 11)), TRANSLATE_BAD_RANGE);
}

static void small_cache_still_gets_there(void **state)
{
	finish(NULL);
	rig.params.translate_mpt_entries = 1;
	rig.params.translate_mtt_entries = 1;
	rig.params.translate_mtt_line = 1;
	rig_start();
	region(INDEX, 0, 8 * PAGE, 12);
	for (unsigned page = 0; page < 7; page++) {
		assert_int_equal(translate(ACCESS(page * PAGE + 1, PAGE)), 0);
		assert_true(frags[1].bus == 0x40000000 + (page + 1) * 3 * PAGE);
	}
	/* each access needs two lines, and the cache has room for one */
	assert_int_equal(hca->stats.translate_mtt_misses, 14);
}

/* Many users need more lines each than the cache holds. Each line is read once for each user, and
 * all of them finish. */
static void everyone_keeps_what_was_read_for_him(void **state)
{
	enum { USERS = 8, PAGES = 3 };
	struct rig_waiter w[USERS] = {0};
	unsigned done = 0, rounds = 0;

	finish(NULL);
	rig.params.translate_mpt_entries = 1;
	rig.params.translate_mtt_entries = 1;
	rig.params.translate_mtt_line = 1;
	rig_start();
	for (unsigned i = 0; i < USERS; i++) {
		region(INDEX + i, 0, PAGES * PAGE, 12);
		w[i].w.wake = rig_wake;
		w[i].woken = 1;
	}
	while (done < USERS && rounds++ < 100) {
		for (unsigned i = 0; i < USERS; i++) {
			struct access access = ACCESS(0, PAGES * PAGE);
			unsigned n = 0;

			access.key = (INDEX + i) << 8 | (KEY & 0xff);
			if (!w[i].woken)
				continue;
			w[i].woken = 0;
			if (translate_access(hca, &access, &w[i].w, frags, &n, 16) == -EAGAIN)
				continue;
			assert_int_equal(n, PAGES);
			waiter_done(&w[i].w);
			done++;
		}
		rig_run();
	}
	assert_int_equal(done, USERS);
	assert_int_equal(hca->stats.translate_mpt_misses, USERS);
	assert_int_equal(hca->stats.translate_mtt_misses, USERS * PAGES);
}

static void misses_of_both_kinds_queue(void **state)
{
	struct rig_waiter RIG_DONE a = RIG_WAITER, RIG_DONE b = RIG_WAITER;
	uint64_t one = rig.params.translate_miss_latency + RIG_READ_PS, bus;
	uint32_t contiguous;
	unsigned n = 0;

	region(INDEX, 0, PAGE, 12);
	translate_access(hca, &ACCESS(0, 1), &a.w, frags, &n, 16);
	translate_queue(hca, 200 * 8, 0, 0, &b.w, &bus, &contiguous, 0x45);
	rig_run();
	assert_true(a.at_ps == one && b.at_ps == 2 * one);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, start, finish)
	const struct CMUnitTest tests[] = {
		T(translates_pages),
		T(start_need_not_be_at_a_page),
		T(page_sizes),
		T(first_byte_offset_moves_the_pages),
		T(joins_what_is_contiguous),
		T(keys),
		T(free_key_gives_no_access),
		T(protection_domains),
		T(rights),
		T(ranges),
		T(the_end_of_the_address_space),
		T(physical_region),
		T(page_not_present),
		T(unmapped_tables),
		T(failed_read_is_told),
		T(reregistered_in_place),
		T(never_registered_slot_is_not_read),
		T(neighbours_entries_are_not_stale),
		T(windows),
		T(window_needs_the_feature_and_a_bindable_region),
		T(queue_buffers),
		T(changed_entry_is_written_through),
		T(small_cache_still_gets_there),
		T(everyone_keeps_what_was_read_for_him),
		T(misses_of_both_kinds_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
