/* SPDX-License-Identifier: Apache-2.0 */
/* Context cache: misses, replacement, write-back, when changes of memory are seen, failures,
 * waiters. */
#include "model/engine/tests/rig.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct hca *const hca = &rig.hca;

static int start(void **state)
{
	rig_params();
	rig.params.context_cache_requester_entries = 2;
	rig.params.context_cache_responder_entries = 2;
	rig.params.context_cache_cq_entries = 1;
	rig_start();
	for (unsigned n = 0; n < 64; n++)
		for (unsigned t = FW_TABLE_QPC; t <= FW_TABLE_MPT; t++)
			icm_object_set(hca, t, n, true);
	rig_order = 0;
	return 0;
}

static int finish(void **state)
{
	rig_stop();
	return 0;
}

static uint8_t *qpc_memory(uint32_t number)
{
	return rig_at(rig_table_bus(FW_TABLE_QPC) + number * 256);
}

static int get(enum context_use use, uint32_t number, struct rig_waiter *w, uint8_t **bytes)
{
	return context_get(hca, use, number, &w->w, (void **)bytes, "test");
}

/* Returns the context, after at most one miss. */
static uint8_t *fetch(enum context_use use, uint32_t number)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint8_t *bytes = NULL;

	if (get(use, number, &w, &bytes) == -EAGAIN) {
		rig_run();
		assert_int_equal(w.woken, 1);
		assert_int_equal(get(use, number, &w, &bytes), 0);
	}
	assert_non_null(bytes);
	return bytes;
}

static void miss_then_hit(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint8_t *bytes;

	qpc_memory(5)[17] = 0x5a;
	assert_int_equal(get(CONTEXT_REQUESTER, 5, &w, &bytes), -EAGAIN);
	rig_run();
	assert_int_equal(w.woken, 1);
	assert_true(w.at_ps == rig.params.context_cache_miss_latency + RIG_READ_PS);
	assert_int_equal(get(CONTEXT_REQUESTER, 5, &w, &bytes), 0);
	assert_int_equal(bytes[17], 0x5a);
	/* a number that differs only in its high bits names the same table entry */
	assert_int_equal(get(CONTEXT_REQUESTER, 0xabc045, &w, &bytes), 0);
	assert_int_equal(bytes[17], 0x5a);
	assert_int_equal(hca->stats.context_cache_misses, 1);
	assert_int_equal(hca->stats.context_cache_hits, 2);
	assert_int_equal(rig.reads, 1);
}

static void least_recently_used_goes(void **state)
{
	fetch(CONTEXT_REQUESTER, 1);
	fetch(CONTEXT_REQUESTER, 2);
	fetch(CONTEXT_REQUESTER, 1);
	fetch(CONTEXT_REQUESTER, 3);
	assert_non_null(context_peek(hca, CONTEXT_REQUESTER, 1));
	assert_null(context_peek(hca, CONTEXT_REQUESTER, 2));
	assert_non_null(context_peek(hca, CONTEXT_REQUESTER, 3));
	assert_int_equal(rig.writes, 0);
}

static void uncached_scribble_is_seen(void **state)
{
	assert_int_equal(fetch(CONTEXT_REQUESTER, 1)[3], 0);
	qpc_memory(1)[3] = 0x77;
	assert_int_equal(fetch(CONTEXT_REQUESTER, 1)[3], 0);
	fetch(CONTEXT_REQUESTER, 2);
	fetch(CONTEXT_REQUESTER, 3);
	assert_int_equal(fetch(CONTEXT_REQUESTER, 1)[3], 0x77);
}

static void changed_line_is_written_when_it_goes(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint8_t *bytes;

	fetch(CONTEXT_REQUESTER, 1)[8] = 0x11;
	context_changed(hca, CONTEXT_REQUESTER, 1);
	fetch(CONTEXT_REQUESTER, 2);
	assert_int_equal(get(CONTEXT_REQUESTER, 3, &w, &bytes), -EAGAIN);
	while (!w.woken)
		event_core_step(&rig.core);
	/* The write is under way: memory still has the old byte, and a get has the new one without
	 * a read. */
	assert_int_equal(qpc_memory(1)[8], 0);
	assert_int_equal(get(CONTEXT_REQUESTER, 1, &w, &bytes), 0);
	assert_int_equal(bytes[8], 0x11);
	/* Changed again before the write has landed, and evicted again: memory gets the latest
	 * bytes. */
	bytes[9] = 0x22;
	context_changed(hca, CONTEXT_REQUESTER, 1);
	rig_run();
	fetch(CONTEXT_REQUESTER, 2);
	fetch(CONTEXT_REQUESTER, 3);
	rig_run();
	assert_int_equal(qpc_memory(1)[8], 0x11);
	assert_int_equal(qpc_memory(1)[9], 0x22);
	assert_null(context_peek(hca, CONTEXT_REQUESTER, 1));
	assert_int_equal(fetch(CONTEXT_REQUESTER, 1)[9], 0x22);
}

static void halves_are_cached_apart(void **state)
{
	fetch(CONTEXT_REQUESTER, 1)[4] = 0x33;
	context_changed(hca, CONTEXT_REQUESTER, 1);
	/* The responder's first use needs a read of its own, but gets the requester's bytes. */
	assert_int_equal(fetch(CONTEXT_RESPONDER, 1)[4], 0x33);
	assert_int_equal(hca->stats.context_cache_misses, 2);
	fetch(CONTEXT_RESPONDER, 2);
	fetch(CONTEXT_RESPONDER, 3);
	fetch(CONTEXT_RESPONDER, 4);
	assert_int_equal(hca->stats.context_cache_misses, 5);
	/* The requester's use is still cached. */
	assert_int_equal(fetch(CONTEXT_REQUESTER, 1)[4], 0x33);
	assert_int_equal(hca->stats.context_cache_misses, 5);
	assert_int_equal(fetch(CONTEXT_RESPONDER, 1)[4], 0x33);
	assert_int_equal(hca->stats.context_cache_misses, 6);
}

static void misses_are_served_one_by_one_in_order(void **state)
{
	struct rig_waiter w[4] = {RIG_WAITER, RIG_WAITER, RIG_WAITER, RIG_WAITER};
	uint64_t one = rig.params.context_cache_miss_latency + RIG_READ_PS;
	uint8_t *bytes;

	assert_int_equal(get(CONTEXT_REQUESTER, 1, &w[0], &bytes), -EAGAIN);
	assert_int_equal(get(CONTEXT_REQUESTER, 9, &w[1], &bytes), -EAGAIN);
	assert_int_equal(get(CONTEXT_REQUESTER, 1, &w[2], &bytes), -EAGAIN);
	assert_int_equal(get(CONTEXT_REQUESTER, 1, &w[3], &bytes), -EAGAIN);
	rig_run();
	assert_int_equal(rig.reads, 2);
	assert_int_equal(w[0].order, 1);
	assert_int_equal(w[2].order, 2);
	assert_int_equal(w[3].order, 3);
	assert_int_equal(w[1].order, 4);
	assert_true(w[3].at_ps == one && w[1].at_ps == 2 * one);
	assert_int_equal(hca->stats.context_cache_miss_waits, 1);
	assert_true(hca->stats.context_cache_miss_ps == 2 * one);
	rig_waiters_done(w, 4);
}

/* Misses for sending, receiving and completions do not wait for each other. Only those for
 * receiving stall the receive unit. */
static void ends_do_not_wait_for_each_other(void **state)
{
	struct rig_waiter w[3] = {RIG_WAITER, RIG_WAITER, RIG_WAITER};
	uint64_t one = rig.params.context_cache_miss_latency + RIG_READ_PS;
	uint64_t before;
	uint8_t *bytes;

	assert_int_equal(get(CONTEXT_REQUESTER, 1, &w[0], &bytes), -EAGAIN);
	assert_int_equal(get(CONTEXT_CQ, 9, &w[1], &bytes), -EAGAIN);
	rig_run();
	assert_true(w[0].at_ps == one && w[1].at_ps == one);
	assert_true(rig.stalled_ps == 0);
	before = hca_now(hca);
	assert_int_equal(get(CONTEXT_READS, 2, &w[2], &bytes), -EAGAIN);
	rig_run();
	/* reads the context, and then its responder resources */
	assert_true(w[2].at_ps - before == one + RIG_READ_PS);
	assert_true(rig.stalled_ps == one + RIG_READ_PS);
	assert_int_equal(rig.reads, 4);
	rig_waiters_done(w, 3);
}

/* Two waiters each need a QP and an SRQ at the same time, and the cache has room for one of each.
 * What was read for one of them stays until it has used it. */
static void what_was_read_stays_until_it_is_used(void **state)
{
	struct rig_waiter w[2] = {RIG_WAITER, RIG_WAITER};
	unsigned done = 0, rounds = 0;

	rig_stop();
	rig_params();
	rig.params.context_cache_responder_entries = 1;
	rig.params.context_cache_srq_entries = 1;
	rig_start();
	w[0].woken = w[1].woken = 1;
	for (unsigned n = 0; n < 2; n++) {
		icm_object_set(hca, FW_TABLE_QPC, n, true);
		icm_object_set(hca, FW_TABLE_SRQC, n, true);
	}
	while (done < 2 && rounds++ < 20) {
		for (unsigned n = 0; n < 2; n++) {
			uint8_t *bytes;

			if (!w[n].woken)
				continue;
			w[n].woken = 0;
			if (get(CONTEXT_RESPONDER, n, &w[n], &bytes) ||
			    get(CONTEXT_SRQ, n, &w[n], &bytes))
				continue;
			waiter_done(&w[n].w);
			done++;
		}
		if (done < 2)
			event_core_step(&rig.core);
	}
	assert_int_equal(done, 2);
	assert_int_equal(hca->stats.context_cache_misses, 4);
	/* both have used their contexts, so the next one evicts them */
	icm_object_set(hca, FW_TABLE_SRQC, 2, true);
	fetch(CONTEXT_SRQ, 2);
	assert_null(context_peek(hca, CONTEXT_SRQ, 0));
	assert_null(context_peek(hca, CONTEXT_SRQ, 1));
}

/* 64 lines in sets of four. The hash spreads numbers unevenly, so some are evicted before the cache
 * is full; each set keeps four. */
static void sets_fill_unevenly(void **state)
{
	unsigned kept = 0;

	rig_stop();
	rig_params();
	rig.params.context_cache_requester_entries = 64;
	rig.params.context_cache_ways = 4;
	rig_start();
	for (unsigned n = 0; n < 64; n++) {
		icm_object_set(hca, FW_TABLE_QPC, n, true);
		fetch(CONTEXT_REQUESTER, n);
	}
	for (unsigned n = 0; n < 64; n++)
		kept += context_peek(hca, CONTEXT_REQUESTER, n) != NULL;
	assert_in_range(kept, 32, 63);
	assert_int_equal(hca->stats.context_cache_evictions, 64 - kept);
}

static void more_misses_at_a_time(void **state)
{
	struct rig_waiter RIG_DONE a = RIG_WAITER, RIG_DONE b = RIG_WAITER;
	uint8_t *bytes;

	rig.params.context_cache_misses = 2;
	get(CONTEXT_REQUESTER, 1, &a, &bytes);
	get(CONTEXT_REQUESTER, 2, &b, &bytes);
	rig_run();
	assert_true(a.at_ps == b.at_ps && a.order < b.order);
}

static void unmapped_icm_is_a_guest_error(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint8_t *bytes;

	icm_unmap(hca, 0, 1);
	assert_int_equal(
		context_get(hca, CONTEXT_REQUESTER, 7, &w.w, (void **)&bytes, "send doorbell"),
		-EFAULT);
	assert_string_equal(rig.last_rule, "icm_unmapped");
	assert_non_null(strstr(rig.last_text, "qpc 7"));
	assert_non_null(strstr(rig.last_text, "700"));
	assert_non_null(strstr(rig.last_text, "send doorbell"));
	assert_int_equal(rig.guest_errors, 1);
	assert_int_equal(hca->rule_count[RULE_icm_unmapped], 1);
	assert_null(w.w.in);
}

static void failed_read_tells_every_waiter(void **state)
{
	struct rig_waiter RIG_DONE a = RIG_WAITER, RIG_DONE b = RIG_WAITER, RIG_DONE c = RIG_WAITER;
	uint8_t *bytes;

	rig.hole = rig_table_bus(FW_TABLE_QPC);
	rig.hole_end = rig.hole + 0x1000;
	assert_int_equal(get(CONTEXT_REQUESTER, 7, &a, &bytes), -EAGAIN);
	assert_int_equal(get(CONTEXT_RESPONDER, 7, &b, &bytes), -EAGAIN);
	rig_run();
	assert_int_equal(a.woken, 1);
	assert_int_equal(b.woken, 1);
	assert_int_equal(get(CONTEXT_REQUESTER, 7, &a, &bytes), -EFAULT);
	assert_int_equal(get(CONTEXT_RESPONDER, 7, &b, &bytes), -EFAULT);
	/* no further report: the DMA has already reported it */
	assert_int_equal(hca->rule_count[RULE_icm_unmapped], 0);
	/* Software has repaired the mapping: the next get reads again. */
	rig.hole_end = 0;
	assert_int_equal(get(CONTEXT_REQUESTER, 7, &c, &bytes), -EAGAIN);
	rig_run();
	assert_int_equal(get(CONTEXT_REQUESTER, 7, &c, &bytes), 0);
}

static void lost_write_back_is_reported(void **state)
{
	fetch(CONTEXT_CQ, 1)[0] = 1;
	context_changed(hca, CONTEXT_CQ, 1);
	icm_unmap(hca, (uint64_t)FW_TABLE_CQC << 20, 1);
	context_evict(hca, CONTEXT_CQ, 1);
	rig_run();
	assert_string_equal(rig.last_rule, "icm_unmapped");
	assert_non_null(strstr(rig.last_text, "cqc 1 can not be written back"));
	assert_null(context_peek(hca, CONTEXT_CQ, 1));
}

static int flush_status;
static unsigned flushes;

static void flushed(void *arg, int status)
{
	flush_status = status;
	flushes++;
	assert_ptr_equal(arg, &flushes);
}

static void flush_ends_in_memory(void **state)
{
	uint8_t *bytes;

	flushes = 0;
	context_flush(hca, CONTEXT_REQUESTER, 1, true, flushed, &flushes);
	assert_int_equal(flushes, 1);
	bytes = fetch(CONTEXT_REQUESTER, 1);
	bytes[0] = 0xaa;
	context_changed(hca, CONTEXT_REQUESTER, 1);
	context_flush(hca, CONTEXT_REQUESTER, 1, true, flushed, &flushes);
	assert_int_equal(flushes, 1);
	/* A change during the flush is flushed, too. */
	bytes[1] = 0xbb;
	context_changed(hca, CONTEXT_REQUESTER, 1);
	rig_run();
	assert_int_equal(flushes, 2);
	assert_int_equal(flush_status, 0);
	assert_int_equal(qpc_memory(1)[0], 0xaa);
	assert_int_equal(qpc_memory(1)[1], 0xbb);
	assert_int_equal(rig.writes, 2);
	assert_null(context_peek(hca, CONTEXT_REQUESTER, 1));
}

static void flush_into_a_hole_fails(void **state)
{
	flushes = 0;
	fetch(CONTEXT_REQUESTER, 1)[0] = 1;
	context_changed(hca, CONTEXT_REQUESTER, 1);
	icm_unmap(hca, 0, 16);
	context_flush(hca, CONTEXT_REQUESTER, 1, true, flushed, &flushes);
	rig_run();
	assert_int_equal(flushes, 1);
	assert_int_equal(flush_status, -EFAULT);
	assert_null(context_peek(hca, CONTEXT_REQUESTER, 1));
}

static void object_that_goes_while_it_is_read(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint8_t *bytes;

	assert_int_equal(get(CONTEXT_REQUESTER, 1, &w, &bytes), -EAGAIN);
	context_drop(hca, CONTEXT_REQUESTER, 1);
	icm_object_set(hca, FW_TABLE_QPC, 1, false);
	rig_run();
	assert_int_equal(w.woken, 1);
	assert_int_equal(get(CONTEXT_REQUESTER, 1, &w, &bytes), -ENOENT);
	assert_null(context_peek(hca, CONTEXT_REQUESTER, 1));
}

static void range_drops_what_lies_in_it(void **state)
{
	fetch(CONTEXT_REQUESTER, 1)[0] = 1;
	context_changed(hca, CONTEXT_REQUESTER, 1);
	fetch(CONTEXT_REQUESTER, 16);
	context_drop_range(hca, 0, 0x1000);
	rig_run();
	assert_null(context_peek(hca, CONTEXT_REQUESTER, 1));
	assert_non_null(context_peek(hca, CONTEXT_REQUESTER, 16));
	assert_int_equal(rig.writes, 0);
}

static void leased_line_stays(void **state)
{
	void *bytes;

	fetch(CONTEXT_REQUESTER, 1);
	assert_int_equal(context_lease(hca, CONTEXT_REQUESTER, 1, NULL, &bytes, "test"), 0);
	fetch(CONTEXT_REQUESTER, 2);
	fetch(CONTEXT_REQUESTER, 3);
	fetch(CONTEXT_REQUESTER, 4);
	assert_non_null(context_peek(hca, CONTEXT_REQUESTER, 1));
	assert_ptr_equal(context_peek(hca, CONTEXT_REQUESTER, 1), bytes);
	context_lease_end(bytes);
	fetch(CONTEXT_REQUESTER, 5);
	assert_null(context_peek(hca, CONTEXT_REQUESTER, 1));
}

/* Dropping it would leave a pointer to bytes of another context, so it is a bug. */
static void leased_line_is_not_dropped(void **state)
{
	void *bytes;
	int status;
	pid_t pid;

	fetch(CONTEXT_REQUESTER, 1);
	pid = fork();
	if (!pid) {
		signal(SIGABRT, SIG_DFL);
		fclose(stderr);
		context_lease(hca, CONTEXT_REQUESTER, 1, NULL, &bytes, "test");
		context_drop(hca, CONTEXT_REQUESTER, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	context_drop(hca, CONTEXT_REQUESTER, 1);
	assert_null(context_peek(hca, CONTEXT_REQUESTER, 1));
}

static void held_object_waits(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint8_t *bytes;

	context_hold(hca, CONTEXT_CQ, 3);
	assert_int_equal(get(CONTEXT_CQ, 3, &w, &bytes), -EAGAIN);
	rig_run();
	assert_int_equal(w.woken, 0);
	rig_at(rig_table_bus(FW_TABLE_CQC) + 3 * 64)[5] = 0x44;
	context_release(hca);
	assert_int_equal(w.woken, 1);
	assert_int_equal(fetch(CONTEXT_CQ, 3)[5], 0x44);
}

static void reset_forgets_waiters(void **state)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	uint8_t *bytes;

	get(CONTEXT_REQUESTER, 1, &w, &bytes);
	event_core_free(&rig.core); /* as pcie_reset() does: no DMA completes */
	event_core_init(&rig.core);
	context_cache_reset(hca);
	assert_null(w.w.in);
	assert_int_equal(fetch(CONTEXT_REQUESTER, 1)[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(miss_then_hit, start, finish),
		cmocka_unit_test_setup_teardown(least_recently_used_goes, start, finish),
		cmocka_unit_test_setup_teardown(uncached_scribble_is_seen, start, finish),
		cmocka_unit_test_setup_teardown(changed_line_is_written_when_it_goes, start,
						finish),
		cmocka_unit_test_setup_teardown(halves_are_cached_apart, start, finish),
		cmocka_unit_test_setup_teardown(misses_are_served_one_by_one_in_order, start,
						finish),
		cmocka_unit_test_setup_teardown(ends_do_not_wait_for_each_other, start, finish),
		cmocka_unit_test_setup_teardown(sets_fill_unevenly, start, finish),
		cmocka_unit_test_setup_teardown(more_misses_at_a_time, start, finish),
		cmocka_unit_test_setup_teardown(unmapped_icm_is_a_guest_error, start, finish),
		cmocka_unit_test_setup_teardown(failed_read_tells_every_waiter, start, finish),
		cmocka_unit_test_setup_teardown(lost_write_back_is_reported, start, finish),
		cmocka_unit_test_setup_teardown(flush_ends_in_memory, start, finish),
		cmocka_unit_test_setup_teardown(flush_into_a_hole_fails, start, finish),
		cmocka_unit_test_setup_teardown(object_that_goes_while_it_is_read, start, finish),
		cmocka_unit_test_setup_teardown(range_drops_what_lies_in_it, start, finish),
		cmocka_unit_test_setup_teardown(what_was_read_stays_until_it_is_used, start,
						finish),
		cmocka_unit_test_setup_teardown(leased_line_stays, start, finish),
		cmocka_unit_test_setup_teardown(leased_line_is_not_dropped, start, finish),
		cmocka_unit_test_setup_teardown(held_object_waits, start, finish),
		cmocka_unit_test_setup_teardown(reset_forgets_waiters, start, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
