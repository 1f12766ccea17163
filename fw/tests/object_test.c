/* SPDX-License-Identifier: Apache-2.0 */
/* EQs, CQs, SRQs and memory keys: mailbox bytes go in; ICM bytes, buffers and object commands come
 * out. */
#include "fw/tests/fake_chip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { CQN = 0x81, SRQN = 0x42, MPT = 0x33 };

static uint8_t *cq_box(void)
{
	uint8_t *box = in_box();

	be32_store(box + 0x0c, 4u << 24 | 5); /* 16 entries, UAR 5 */
	box[0x17] = CQ_EVENT_EQN;
	be32_store(box + 0x1c, 8 * 16); /* MTT entry 16 */
	be64_store(box + 0x38, 0x3000);
	return box;
}

static void cq_make(void)
{
	mtt_set(16, 0x4000, 1);
	cq_box();
	assert_int_equal(cmd_box(0x016, 0, CQN), 0);
}

static uint8_t *cqc(void)
{
	return icm_at(ICM_CQC + CQN * 64);
}

static void all_bytes_are(const uint8_t *b, unsigned n, uint8_t value)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(b[i], value);
}

static void eq_buffer_is_initialised(void **state)
{
	uint8_t *box, *q = chip.host + BUS_QUEUE;

	chip_reset();
	bring_up();
	/* 128 EQEs fill one page. They start at byte 64 of the first of two pages that are not
	 * adjacent. */
	mtt_set(8, 0x6000, 1);
	mtt_set(9, 0x9000, 1);
	box = in_box();
	be32_store(box, 0x900);
	be16_store(box + 0x0a, 2 << 5);
	box[0x0c] = 7;
	box[0x17] = 3;
	be32_store(box + 0x1c, 64);
	assert_int_equal(cmd_box(0x013, 0, 6), 0);
	all_bytes_are(q + 0x6000, 64, 0);
	all_bytes_are(q + 0x6040, 4096 - 64, 0xcc);
	all_bytes_are(q + 0x9000, 64, 0xcc);
	all_bytes_are(q + 0x9040, 64, 0);
	assert_memory_equal(icm_at(ICM_EQC + 6 * 64), box, 64);
	assert_true(object_was(0, FW_OBJ_VALIDATE, FW_TABLE_EQC, 6));
	assert_int_equal(cmd_box(0x013, 0, 6), 0x09);
	assert_int_equal(cmd_box(0x013, 0, 32), 0x0a);
	/* returns the context, which has the device's indices */
	be32_store(icm_at(ICM_EQC + 6 * 64) + 0x2c, 0x17);
	assert_int_equal(cmd_box(0x014, 0, 6), 0);
	assert_int_equal(be32_load(out_box() + 0x2c), 0x17);
	assert_int_equal(chip.valid[FW_TABLE_EQC][6], 0);
}

static void mtt_not_present_is_reported(void **state)
{
	chip_reset();
	bring_up();
	cq_box();
	be64_store(icm_at(ICM_MTT + 8 * 16), BUS_QUEUE);
	assert_int_equal(cmd_box(0x016, 0, CQN), 0x20);
	assert_int_equal(errors_taken(RULE_mtt_not_present), 1);
	assert_int_equal(chip.valid[FW_TABLE_CQC][CQN], 0);
}

static void events_are_routed(void **state)
{
	chip_reset();
	bring_up();
	assert_int_equal(cmd(0x012, 0, CQ_EVENT_EQN, 1ull << 9 | 1ull << 0x3e, 0), 0);
	assert_int_equal(chip.event_map[9], 0x80000000 | CQ_EVENT_EQN << 8 | 9);
	assert_int_equal(chip.event_map[0x3e], 0x80000000 | CQ_EVENT_EQN << 8 | 0x3e);
	assert_int_equal(chip.event_map[10], 0);
	assert_int_equal(cmd(0x012, 0, 1u << 31 | CQ_EVENT_EQN, 1ull << 9, 0), 0);
	assert_int_equal(chip.event_map[9] >> 31, 0);
	assert_int_equal(cmd(0x012, 0, 7, 1, 0), 0x05);
	assert_int_equal(errors_taken(RULE_object_dead), 1);
	/* destroying the EQ removes its remaining event mappings */
	assert_int_equal(cmd(0x014, 1, CQ_EVENT_EQN, 0, 0), 0);
	assert_int_equal(chip.event_map[0x3e] >> 31, 0);
}

static void cq_life(void **state)
{
	uint8_t *box;

	chip_reset();
	bring_up();
	cq_make();
	all_bytes_are(chip.host + BUS_QUEUE + 0x4000, 16 * 32, 0xcc);
	all_bytes_are(chip.host + BUS_QUEUE + 0x4200, 32, 0);
	assert_memory_equal(cqc(), chip.host + BUS_IN, 64);
	assert_int_equal(cmd_box(0x016, 0, CQN), 0x09);
	box = cq_box();
	box[0x17] = 9; /* no such EQ */
	assert_int_equal(cmd_box(0x016, 0, CQN + 1), 0x05);
	assert_int_equal(errors_taken(RULE_object_dead), 1);
	box = cq_box();
	box[0x05] = 1;
	assert_int_equal(cmd_box(0x016, 0, CQN + 1), 0x03);
	assert_int_equal(errors_taken(RULE_mailbox_reserved), 1);
	/* moderation */
	box = in_box();
	be16_store(box + 0x10, 16);
	be16_store(box + 0x12, 4);
	assert_int_equal(cmd_box(0x02c, 1, CQN), 0);
	assert_int_equal(be32_load(cqc() + 0x10), 0x00100004);
	assert_int_equal(be32_load(cqc() + 0x0c), 4u << 24 | 5);
	assert_true(object_was(0, FW_OBJ_RESUME, FW_TABLE_CQC, CQN));
	assert_int_equal(cmd(0x017, 1, CQN, 0, 0), 0);
	assert_true(object_was(0, FW_OBJ_INVALIDATE, FW_TABLE_CQC, CQN));
	assert_int_equal(cmd(0x017, 1, CQN, 0, 0), 0);
	assert_int_equal(errors_taken(RULE_object_dead), 1);
	assert_int_equal(cmd_box(0x018, 0, CQN), 0x05);
}

/* The slots of the new buffer must read as not valid for one round from the first index on. */
static void resize_check(uint32_t pi, uint32_t log_new)
{
	const uint8_t *old = chip.host + BUS_QUEUE + 0x4000, *new = chip.host + BUS_QUEUE + 0x10000;
	uint32_t size = 1u << log_new;
	uint8_t *box;

	chip_reset();
	bring_up();
	cq_make();
	mtt_set(32, 0x10000, 4);
	be32_store(cqc() + 0x2c, pi);
	be32_store(chip.host + 0x3000, (pi - 15) & 0xffffff);
	box = in_box();
	be32_store(box + 0x0c, log_new << 24);
	be32_store(box + 0x1c, 8 * 32);
	assert_int_equal(cmd_box(0x02c, 0, CQN), 0);
	assert_int_equal(old[(pi & 15) * 32 + 0x1f], (pi & 16 ? 0x80 : 0) | 0x16);
	for (uint32_t i = 0; i < size; i++) {
		uint32_t index = pi + 1 + i;

		assert_int_not_equal(new[(index & (size - 1)) * 32 + 0x1f] >> 7,
				     (index & size) != 0);
	}
	assert_int_equal(be32_load(cqc() + 0x0c), log_new << 24 | 5);
	assert_int_equal(be32_load(cqc() + 0x1c), 8 * 32);
	assert_int_equal(be32_load(cqc() + 0x2c), (pi + 1) & 0xffffff);
	assert_int_equal(be64_load(cqc() + 0x38), 0x3000);
	assert_true(object_was(0, FW_OBJ_RESUME, FW_TABLE_CQC, CQN));
	assert_true(object_was(1, FW_OBJ_SYNC_ALL, 0, 0));
}

static void cq_resize(void **state)
{
	resize_check(0, 8);
	resize_check(15, 6);
	resize_check(16 + 3, 4);
	resize_check(0x3f, 6);
	resize_check(0x75, 6);
	resize_check(0xffffff, 7);

	/* no free slot for the RESIZE CQE */
	be32_store(cqc() + 0x2c, 0x80);
	be32_store(chip.host + 0x3000, 0);
	assert_int_equal(cmd_box(0x02c, 0, CQN), 0x06);
	assert_int_equal(be32_load(cqc() + 0x2c), 0x80);
	assert_true(object_was(0, FW_OBJ_RESUME, FW_TABLE_CQC, CQN));
}

static uint8_t *srq_box(void)
{
	uint8_t *box = in_box();

	be32_store(box, 6u << 24 | SRQN);
	box[0x04] = 1;
	be32_store(box + 0x14, 64);
	be32_store(box + 0x18, 7);
	be64_store(box + 0x28, 0x3010);
	return box;
}

static void srq_life(void **state)
{
	uint8_t *c = icm_at(ICM_SRQC + SRQN * 64);

	chip_reset();
	bring_up();
	be16_store(srq_box() + 0x1c, 99); /* a device field */
	assert_int_equal(cmd_box(0x035, 0, SRQN), 0);
	assert_int_equal(be16_load(c + 0x1c), 0);
	assert_int_equal(be32_load(c + 0x18), 7);
	assert_int_equal(cmd(0x040, 0, SRQN, 12, 0), 0);
	assert_int_equal(be16_load(c + 0x1c), 12);
	assert_true(object_was(0, FW_OBJ_RESUME, FW_TABLE_SRQC, SRQN));
	be16_store(c + 0x22, 0xfffe);
	be32_store(chip.host + 0x3010, 3);
	assert_int_equal(cmd_box(0x037, 0, SRQN), 0);
	assert_int_equal(be16_load(out_box() + 0x1c), 12);
	assert_int_equal(be16_load(out_box() + 0x1e), 5);
	assert_int_equal(cmd(0x040, 0, SRQN, 0x10000, 0), 0x03);
	assert_int_equal(cmd(0x036, 1, SRQN, 0, 0), 0);
	assert_int_equal(cmd(0x040, 0, SRQN, 1, 0), 0x05);
	srq_box();
	assert_int_equal(cmd_box(0x035, 0, SRQN + 1), 0x03); /* another number in the mailbox */
	srq_box()[0x24] = 1;                                 /* reserved */
	assert_int_equal(cmd_box(0x035, 0, SRQN), 0x03);
	assert_int_equal(errors_taken(RULE_mailbox_reserved), 2);
	be32_store(srq_box() + 0x08, 0x77);
	assert_int_equal(cmd_box(0x035, 0, SRQN), 0x05); /* no such CQ */
}

static uint8_t *mpt_box(uint32_t first)
{
	uint8_t *box = in_box();

	be32_store(box, first);
	be32_store(box + 0x08, 0xab000000 | 0x500 | MPT); /* the bits above the index rotate */
	be32_store(box + 0x0c, 3u << 24 | 9);
	be64_store(box + 0x10, 0x7f0000001000);
	be64_store(box + 0x18, 0x2000);
	be64_store(box + 0x2c, 8 * 40);
	be32_store(box + 0x38, 12);
	return box;
}

static void mpt_life(void **state)
{
	uint8_t *slot = icm_at(ICM_MPT + MPT * 64), box[64];

	chip_reset();
	bring_up();
	memcpy(box, mpt_box(0xf0020d00), 64);
	assert_int_equal(cmd_box(0x00d, 0, MPT), 0);
	assert_int_equal(be32_load(slot), 0x00020d00);
	assert_memory_equal(slot + 4, box + 4, 60);
	assert_int_equal(cmd_box(0x00d, 0, MPT), 0x09);
	assert_int_equal(cmd_box(0x00e, 0, MPT), 0);
	assert_memory_equal(out_box(), slot, 64);
	/* a region with bound windows cannot be given up */
	be32_store(slot + 0x24, 1);
	assert_int_equal(cmd(0x00f, 1, MPT, 0, 0), 0x21);
	assert_int_equal(chip.valid[FW_TABLE_MPT][MPT], 1);
	be32_store(slot + 0x24, 0);
	assert_int_equal(cmd(0x00f, 1, MPT, 0, 0), 0);
	assert_int_equal(be32_load(slot), 0xf0020d00);
	assert_memory_equal(slot + 4, box + 4, 60);
	assert_int_equal(chip.valid[FW_TABLE_MPT][MPT], 0);
	assert_int_equal(cmd(0x00f, 1, MPT, 0, 0), 0);
	assert_int_equal(errors_taken(RULE_object_dead), 1);
	/* re-registered in place; not used until it is given back */
	slot[0] = 0;
	assert_int_equal(cmd(0x02f, 0, 0, 0, 0), 0);
	assert_true(object_was(0, FW_OBJ_SYNC_ALL, 0, 0));
	assert_int_equal(cmd_box(0x00f, 0, MPT), 0);
	assert_int_equal(slot[0], 0xf0);
	assert_memory_equal(out_box(), slot, 64);
	assert_int_equal(all_errors_taken(), 0);
}

static void mpt_kinds(void **state)
{
	uint8_t *slot = icm_at(ICM_MPT + MPT * 64);

	chip_reset();
	bring_up();
	/* a key for fast registration exists, and is free */
	be32_store(mpt_box(0x30020100) + 0x38, 0);
	assert_int_equal(cmd_box(0x00d, 0, MPT), 0);
	assert_int_equal(be32_load(slot), 0x30020100);
	assert_int_equal(cmd(0x00f, 1, MPT, 0, 0), 0);
	/* window of type 1 */
	mpt_box(0);
	assert_int_equal(cmd_box(0x00d, 0, MPT), 0);
	assert_int_equal(cmd(0x00f, 1, MPT, 0, 0), 0);
	/* page size, status, index */
	be32_store(mpt_box(0xf0000d00) + 0x38, 11);
	assert_int_equal(cmd_box(0x00d, 0, MPT), 0x03);
	mpt_box(0x70000d00);
	assert_int_equal(cmd_box(0x00d, 0, MPT), 0x03);
	mpt_box(0xf0000d00);
	assert_int_equal(cmd_box(0x00d, 0, MPT + 1), 0x03);
	assert_int_equal(cmd_box(0x00d, 0, 0x100 + MPT), 0x0a);
	assert_int_equal(all_errors_taken(), 0);
	be32_store(mpt_box(0xf0000d00) + 0x28, 1u << 30);
	assert_int_equal(cmd_box(0x00d, 0, MPT), 0x03);
	assert_int_equal(errors_taken(RULE_mailbox_reserved), 1);
}

static void mtts_are_written(void **state)
{
	uint8_t *box;

	chip_reset();
	bring_up();
	box = in_box();
	be64_store(box, 8 * 100);
	be64_store(box + 0x10, 0x111000 + 1);
	be64_store(box + 0x18, 0x222000 + 1);
	assert_int_equal(cmd(0x011, 0, 2, BUS_IN, 0), 0);
	assert_int_equal(be64_load(icm_at(ICM_MTT + 800)), 0x111001);
	assert_int_equal(be64_load(icm_at(ICM_MTT + 808)), 0x222001);
	assert_int_equal(cmd(0x011, 0, 511, BUS_IN, 0), 0x03);
	be64_store(box, 0x40000000);
	assert_int_equal(cmd(0x011, 0, 2, BUS_IN, 0), 0x0c);
}

static void multicast_groups(void **state)
{
	uint8_t *box, *o = out_box();
	uint64_t hash;

	chip_reset();
	bring_up();
	assert_int_equal(cmd_box(0x025, 0, 3), 0);
	all_bytes_are(o, 1024, 0);
	box = in_box();
	be32_store(box, 40 << 6);
	be32_store(box + 4, 2);
	memset(box + 0x10, 0xff, 16);
	be32_store(box + 0x20, 0x40000123);
	be32_store(box + 0x24, 0x45);
	assert_int_equal(cmd_box(0x026, 0, 3), 0);
	assert_int_equal(cmd_box(0x025, 0, 3), 0);
	assert_memory_equal(o, box, 1024);
	assert_memory_equal(icm_at(ICM_MCG + 3 * 1024), box, 1024);
	be32_store(box + 4, 249);
	assert_int_equal(cmd_box(0x026, 0, 3), 0x03);
	be32_store(box, 64 << 6);
	assert_int_equal(cmd_box(0x026, 0, 3), 0x0a);
	assert_int_equal(cmd_box(0x025, 0, 64), 0x0a);
	/* any hash function will do, as long as it is below the number of buckets and
	 * deterministic */
	box = in_box();
	box[0] = 0xff;
	box[15] = 1;
	assert_int_equal(cmd_box(0x027, 0, 0), 0);
	hash = cmd_out();
	assert_true(hash < 32);
	assert_int_equal(cmd_box(0x027, 0, 0), 0);
	assert_int_equal(cmd_out(), hash);
	box[15] = 2;
	assert_int_equal(cmd_box(0x027, 0, 0), 0);
	assert_int_not_equal(cmd_out(), hash);
	/* the table is empty again after a restart of the device */
	assert_int_equal(cmd(0x008, 0, 0, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eq_buffer_is_initialised),
		cmocka_unit_test(mtt_not_present_is_reported),
		cmocka_unit_test(events_are_routed),
		cmocka_unit_test(cq_life),
		cmocka_unit_test(cq_resize),
		cmocka_unit_test(srq_life),
		cmocka_unit_test(mpt_life),
		cmocka_unit_test(mpt_kinds),
		cmocka_unit_test(mtts_are_written),
		cmocka_unit_test(multicast_groups),
	};

	return cmocka_run_group_tests_name("fw objects", tests, NULL, NULL);
}
