/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests bring-up commands from outside: mailbox bytes at the offsets of the mlx4 interface, and the
 * order of the commands. Then sends every opcode with arbitrary mailboxes.
 */
#include "fw/tests/fake_chip.h"
#include "model/interface/macros.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { CLOSING_OPS = 9 };

static const uint16_t closing[CLOSING_OPS] = {0x008, 0x00f, 0x014, 0x017, 0x021,
					      0x02f, 0x036, 0xff9, 0xffb};

static void query_fw_is_complete(void **state)
{
	uint8_t *o = out_box();

	chip_reset();
	assert_int_equal(cmd_box(0x004, 0, 0), 0);
	assert_int_equal(be16_load(o + 0x00), 1);
	assert_int_equal(be16_load(o + 0x0a), 3);
	assert_int_equal(o[0x0f], 4);
	assert_int_equal(be64_load(o + 0x30), 0x80a00);
	assert_int_equal(be32_load(o + 0x38), 16);
	assert_int_equal(be64_load(o + 0x50), 0x90000);
	assert_int_equal(o[0x58], 0);
	assert_int_equal(cmd_out(), BUS_OUT);
}

static void dev_cap_is_complete(void **state)
{
	uint8_t *o = out_box();

	chip_reset();
	bring_up_to_run();
	assert_int_equal(cmd_box(0x003, 0, 0), 0);
	assert_int_equal(be64_load(o + 0x40), 0x0037034f);
	assert_int_equal(be32_load(o + 0x94), 0xac2);
	assert_int_equal(o[0x13] & 0x1f, 18);
	assert_int_equal(o[0x35], 15);
	assert_int_equal(o[0x37], 2);
	assert_int_equal(o[0x49], 2);
	assert_int_equal(o[0x4b], 12);
	assert_int_equal(o[0x4c], 0x80);
	assert_int_equal(o[0x4d], 9);
	assert_int_equal(o[0x4e], 3);
	assert_int_equal(be16_load(o + 0x26), 0);
	assert_int_equal(be32_load(o + 0x70), 0);
	assert_int_equal(be64_load(o + 0x80), 0x0020010000400040);
	assert_int_equal(be64_load(o + 0x88), 0x0040004000400040);
	assert_int_equal(be32_load(o + 0x90), 0x00080040);
	assert_int_equal(be64_load(o + 0xa0), 1ull << 40);

	chip.reg[FW_BLUEFLAME / 4] = 0;
	assert_int_equal(cmd_box(0x003, 0, 0), 0);
	assert_int_equal(o[0x4c] | o[0x4d] | o[0x4e], 0);
}

static void commands_have_an_order(void **state)
{
	static const uint16_t needs_run[] = {0x003, 0x006, 0x007, 0x031, 0x043, 0xffa, 0xffc};
	static const uint16_t needs_hca[] = {0x009, 0x00b, 0x013, 0x016, 0x019, 0x024, 0x00d};

	chip_reset();
	in_box();
	for (unsigned i = 0; i < sizeof(needs_run) / 2; i++) {
		assert_int_equal(cmd_box(needs_run[i], 0, 1), 0x04);
		assert_int_equal(errors_taken(RULE_command_sequence), 1);
	}
	/* RUN_FW before its pages are mapped */
	assert_int_equal(cmd(0xff6, 0, 0, 0, 0), 0x04);
	assert_int_equal(errors_taken(RULE_command_sequence), 1);
	bring_up_to_run();
	for (unsigned i = 0; i < sizeof(needs_hca) / 2; i++) {
		assert_int_equal(cmd_box(needs_hca[i], 0, 1), 0x04);
		assert_int_equal(errors_taken(RULE_command_sequence), 1);
	}
	assert_int_equal(cmd(0xff6, 0, 0, 0, 0), 0x04);
	assert_int_equal(errors_taken(RULE_command_sequence), 1);
	assert_int_equal(all_errors_taken(), 0);
}

static void unknown_is_bad_op(void **state)
{
	chip_reset();
	bring_up();
	assert_int_equal(cmd(0x0ff, 0, 0, 0, 0), 0x02);
	assert_int_equal(cmd(0x203, 0, 0, 0, 0), 0x02);
	assert_int_equal(cmd(0x003, 1, 0, BUS_IN, BUS_OUT), 0x02);
	assert_int_equal(cmd(0x003, 0, 0, BUS_IN, BUS_OUT + 8), 0x03);
	assert_int_equal(errors_taken(RULE_mailbox_reserved), 1);
	assert_int_equal(cmd(0x003, 0, 0, BUS_IN, 1ull << 40), 0x03);
}

static void closing_commands_never_fail(void **state)
{
	for (unsigned to = 0; to < 3; to++) {
		for (unsigned i = 0; i < CLOSING_OPS; i++) {
			chip_reset();
			if (to == 1)
				bring_up_to_run();
			if (to == 2)
				bring_up();
			memset(in_box(), 0xff, 4096);
			assert_int_equal(cmd(closing[i], 1, 0x7f, 0x123456789000, 0), 0);
			assert_int_equal(cmd(closing[i], 0, 0xffffffff, ~0ull, ~0ull), 0);
		}
	}
	/* after UNMAP_FA the firmware no longer runs */
	chip_reset();
	bring_up_to_run();
	assert_int_equal(cmd(0xffe, 0, 0, 0, 0), 0);
	assert_int_equal(cmd_box(0x003, 0, 0), 0x04);
}

static void closing_with_bad_outbox_still_closes(void **state)
{
	chip_reset();
	bring_up();
	assert_int_equal(cmd(0x014, 0, CQ_EVENT_EQN, 0, 0x123), 0);
	assert_true(object_was(0, FW_OBJ_INVALIDATE, FW_TABLE_EQC, CQ_EVENT_EQN));
}

static void icm_is_mapped(void **state)
{
	uint8_t *box;

	chip_reset();
	bring_up_to_run();
	box = in_box();
	be64_store(box, 0x300000);
	be64_store(box + 8, 0x40000 + 2);
	be64_store(box + 16, 0x304000);
	be64_store(box + 24, 0x80000);
	assert_int_equal(cmd(0xffa, 0, 2, BUS_IN, 0), 0);
	assert_int_equal(chip.icm[0x300], 0x40000);
	assert_int_equal(chip.icm[0x303], 0x43000);
	assert_int_equal(chip.icm[0x304], 0x80000);
	assert_int_equal(chip.icm[0x305], 1);
	assert_int_equal(cmd(0xff9, 0, 64, 0xfffffffffffff000, 0), 0);
	assert_int_equal(chip.reg[FW_ICM_PAGES / 4], 0);
	/* a range with both mapped pages and pages that were never mapped */
	assert_int_equal(cmd(0xff9, 0, 64, 0x303000, 0), 0);
	assert_int_equal(chip.icm[0x302], 0x42000);
	assert_int_equal(chip.icm[0x303], 1);
	assert_int_equal(chip.icm[0x304], 1);
	assert_int_equal(all_errors_taken(), 0);
}

static void bad_page_lists_map_nothing(void **state)
{
	uint8_t *box;

	chip_reset();
	bring_up_to_run();
	box = in_box();
	be64_store(box, 0x300000);
	be64_store(box + 8, 0x40000);
	be64_store(box + 16, 0x301000);
	be64_store(box + 24, 0x80000 | 0x20);
	assert_int_equal(cmd(0xffa, 0, 2, BUS_IN, 0), 0x03);
	assert_int_equal(errors_taken(RULE_mailbox_reserved), 1);
	assert_int_equal(chip.icm[0x300], 1);
	be64_store(box + 24, 0x80000 | 31);
	assert_int_equal(cmd(0xffa, 0, 2, BUS_IN, 0), 0x40);
	/* beyond the address space of ICM, and of the bus */
	be64_store(box + 24, 0x80000);
	be64_store(box + 16, 0xfffffffffffff000);
	assert_int_equal(cmd(0xffa, 0, 2, BUS_IN, 0), 0x40);
	be64_store(box + 16, (1ull << 40) - 4096);
	be64_store(box + 24, 0x80000 | 1);
	assert_int_equal(cmd(0xffa, 0, 2, BUS_IN, 0), 0x40);
	be64_store(box + 16, 0x301000);
	be64_store(box + 24, 0xfffffffffffff000 | 1);
	assert_int_equal(cmd(0xffa, 0, 2, BUS_IN, 0), 0x40);
	assert_int_equal(cmd(0xffa, 0, 257, BUS_IN, 0), 0x03);
	assert_int_equal(cmd(0xffa, 0, 0, BUS_IN, 0), 0x03);
	assert_int_equal(chip.icm[0x300], 1);
}

/* The INIT_HCA mailbox that Linux sends on a machine with 4 GiB, whatever QUERY_DEV_CAP said. */
static void linux_box(uint8_t *box)
{
	box[0x00] = 2;
	box[0x0e] = 0x50;
	be32_store(box + 0x14, 1);
	be64_store(box + 0x30, 0x108000000 + 18);
	be64_store(box + 0x48, 0x112000000 + 16);
	be64_store(box + 0x50, 0x112800000 + 16);
	be64_store(box + 0x60, 0x110000000);
	be64_store(box + 0x70, 0x10c000000);
	be64_store(box + 0x80, 0x113800000 + 7);
	be64_store(box + 0x90, 0x100000000 + 4);
	be64_store(box + 0xc0, 0x113000000);
	box[0xd3] = 10;
	box[0xd7] = 12;
	box[0xdb] = 13;
	be64_store(box + 0xf0, 0x10e000000);
	box[0xf8] = 0x80;
	box[0xfb] = 19;
	be64_store(box + 0x100, 0x111000000);
	box[0x12a] = 10;
}

static void init_hca_takes_linux_profile(void **state)
{
	uint8_t *o = out_box(), *box;

	chip_reset();
	bring_up_to_run();
	linux_box(box = in_box());
	assert_int_equal(cmd(0x007, 0, 0, BUS_IN, 0), 0);
	assert_int_equal(chip.table_log[FW_TABLE_QPC], 18);
	assert_int_equal(chip.table_log[FW_TABLE_MPT], 19);
	assert_int_equal(chip.table_log[FW_TABLE_RDMARC], 4);
	assert_int_equal(chip.reg[FW_HCA_CTRL / 4], FW_CTRL_RUN | FW_CTRL_MW | FW_CTRL_UD_AV_PORT);
	assert_int_equal(chip.reg[FW_LOG_MCG_HASH / 4], 12);
	assert_int_equal(cmd(0x007, 0, 0, BUS_IN, 0), 0x04);
	assert_int_equal(errors_taken(RULE_command_sequence), 1);
	assert_int_equal(cmd_box(0x00b, 0, 0), 0);
	be16_store(box + 0x0c, 250);
	assert_memory_equal(o, box, 0x200);
	assert_int_equal(cmd(0x008, 0, 0, 0, 0), 0);
	assert_int_equal(chip.reg[FW_HCA_CTRL / 4], 0);
	assert_int_equal(cmd(0x007, 0, 0, BUS_IN, 0), 0);
	assert_int_equal(all_errors_taken(), 0);
}

/* A table that begins in another one, at its begin and at its last entry; and one that begins behind it. */
static void tables_that_meet(void **state)
{
	static const struct {
		unsigned at;
		uint64_t base;
		unsigned errors;
	} rows[] = {
		{0x70, 0x110000000, 2}, /* auxiliary contexts: each begins in the other */
		{0x48, 0x112800000 + 0xffc0 * 64 + 16, 1}, /* SRQ contexts: within those of CQs */
		{0x60, 0x113800000 + (64 << 7), 0}, /* alternate paths: behind the EQ contexts */
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t *box;

		chip_reset();
		bring_up_to_run();
		linux_box(box = in_box());
		be64_store(box + rows[i].at, rows[i].base);
		assert_int_equal(cmd(0x007, 0, 0, BUS_IN, 0), 0);
		assert_int_equal(errors_taken(RULE_icm_overlap), rows[i].errors);
		assert_int_equal(all_errors_taken(), 0);
	}
}

/* The chunks of ICM that hold reserved entries stay while the HCA runs; of the SRQ contexts, the first 64. */
static void reserved_entries_stay(void **state)
{
	const uint32_t pages = 4, bytes = pages * 4096;
	uint64_t srqs;
	uint8_t *box;

	chip_reset();
	bring_up_to_run();
	linux_box(box = in_box());
	srqs = be64_load(box + 0x48) & ~UINT64_C(0x1f);
	assert_int_equal(cmd(0x007, 0, 0, BUS_IN, 0), 0);
	assert_int_equal(cmd(0xff9, 0, pages, srqs + bytes, 0), 0);
	assert_int_equal(all_errors_taken(), 0);
	assert_int_equal(cmd(0xff9, 0, pages, srqs, 0), 0);
	assert_int_equal(errors_taken(RULE_icm_unmapped), 1);
	assert_int_equal(cmd(0x008, 0, 0, 0, 0), 0);
	assert_int_equal(cmd(0xff9, 0, pages, srqs, 0), 0);
	assert_int_equal(all_errors_taken(), 0);
}

static void init_hca_refuses(void **state)
{
	static const struct {
		unsigned at;
		uint8_t value, status;
		unsigned errors;
	} bad[] = {
		{0x00, 1, 0x03, 0},    /* version */
		{0x20, 1, 0x03, 1},    /* reserved */
		{0x1ff, 1, 0x03, 1},   /* reserved */
		{0x58, 0x40, 0x03, 0}, /* 64-byte CQEs */
		{0x58, 0x20, 0x03, 0}, /* 64-byte EQEs */
		{0x17, 0x41, 0x03, 0}, /* flow steering */
		{0x37, 19, 0x08, 0},   /* QPs */
		{0x87, 11, 0x08, 0},   /* EQs */
		{0xdb, 14, 0x08, 0},   /* multicast groups */
		{0x12b, 1, 0x03, 0},   /* UAR pages of 8 KiB */
		{0xd3, 8, 0x03, 0},    /* multicast groups of 256 bytes */
	};

	chip_reset();
	bring_up_to_run();
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		uint8_t *box = in_box();

		linux_box(box);
		box[bad[i].at] = bad[i].value;
		assert_int_equal(cmd(0x007, 0, 0, BUS_IN, 0), bad[i].status);
		assert_int_equal(errors_taken(RULE_mailbox_reserved), bad[i].errors);
		assert_int_equal(chip.reg[FW_HCA_CTRL / 4], 0);
	}
}

static void event_mode_posts_completion(void **state)
{
	const uint8_t *e = (const uint8_t *)&chip.eqe[0];

	chip_reset();
	bring_up();
	chip.reg[FW_HCR2 / 4] = 0x1f;
	chip.reg[FW_HCR5 / 4] = 0x12340000;
	chip.reg[FW_HCR6 / 4] = 3u << 22 | 0x031;
	chip.reg[FW_IRQ_CAUSE / 4] |= FW_IRQ_HCR;
	assert_true(fw_poll());
	assert_int_equal(chip.eqes, 1);
	assert_int_equal(e[1], 0x0a);
	assert_int_equal(be16_load(e + 6), 0x1234);
	assert_int_equal(e[0x0f], 0);
	assert_false(fw_poll());

	/* An event carries an immediate result, and an error. */
	chip.reg[FW_HCR0 / 4] = 0;
	chip.reg[FW_HCR1 / 4] = 0x80000000;
	chip.reg[FW_HCR6 / 4] = 3u << 22 | 0xffd;
	chip.reg[FW_IRQ_CAUSE / 4] |= FW_IRQ_HCR;
	fw_poll();
	assert_int_equal(be64_load((const uint8_t *)&chip.eqe[1] + 0x10), 3);
	chip.reg[FW_HCR6 / 4] = 3u << 22 | 0x0ff;
	chip.reg[FW_IRQ_CAUSE / 4] |= FW_IRQ_HCR;
	fw_poll();
	assert_int_equal(((const uint8_t *)&chip.eqe[2])[0x0f], 2);
}

static void port_id_and_adapter(void **state)
{
	uint8_t *o = out_box();

	chip_reset();
	bring_up_to_run();
	assert_int_equal(cmd_box(0x034, 2, 2 << 8), 0);
	assert_int_equal(be32_load(o + 0x14), 0x0002c903);
	assert_int_equal(be32_load(o + 0x1c), 0x00112232);
	assert_int_equal(cmd_box(0x034, 2, 3 << 8), 0x03);
	in_box()[2] = 1;
	assert_int_equal(cmd_box(0x034, 0, 0), 0);
	assert_int_equal(cmd_box(0x006, 0, 0), 0);
	assert_int_equal(be16_load(o + 0x20), 0x5ad);
	assert_int_equal(be16_load(o + 0xfe), 0x5ad);
	assert_string_equal((const char *)o + 0x40, "hcasim");
	assert_int_equal(cmd_box(0x043, 0, 1), 0);
	assert_int_equal(o[0x00], 1);
	assert_int_equal(o[0x01], 5);
	assert_int_equal(o[0x06], 3);
	assert_int_equal(o[0x07], 0x35);
	assert_int_equal(o[0x0b], 8);
	chip.port[0].reg[FW_PORT_PHYS_STATE / 4] = 5;
	assert_int_equal(cmd_box(0x043, 0, 1), 0);
	assert_int_equal(o[0x00], 0x81);
	assert_int_equal(cmd_box(0x043, 0, 3), 0x0a);
	assert_int_equal(cmd_box(0x043, 0, 0), 0x0a);
}

static uint32_t random_next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Any opcode with any mailbox gives a known status. The sanitizers find memory errors. */
static void any_mailbox_is_survived(void **state)
{
	uint32_t seed = 1;

	chip_reset();
	for (unsigned round = 0; round < 60000; round++) {
		uint8_t *box = in_box();
		uint32_t op = random_next(&seed) % 0x70, density = random_next(&seed) % 64;

		if (round % 2000 == 0) {
			chip_reset();
			bring_up();
			/* MTT entries that are present, at random pages */
			for (unsigned i = 0; i < 0x2000; i += 8)
				be64_store(icm_at(ICM_MTT + i),
					   BUS_QUEUE + (random_next(&seed) & 0xff000) + 1);
		}
		for (unsigned i = 0; i < density * 8; i++)
			box[random_next(&seed) % 0x200] = (uint8_t)random_next(&seed);
		/* CLOSE_HCA is left out, so that the other commands find a running device */
		if (op == 0x008)
			continue;
		assert_int_not_equal(cmd(op, random_next(&seed) % 3,
					 random_next(&seed) >> (random_next(&seed) & 31), BUS_IN,
					 BUS_OUT),
				     ~0u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(query_fw_is_complete),
		cmocka_unit_test(dev_cap_is_complete),
		cmocka_unit_test(commands_have_an_order),
		cmocka_unit_test(unknown_is_bad_op),
		cmocka_unit_test(closing_commands_never_fail),
		cmocka_unit_test(closing_with_bad_outbox_still_closes),
		cmocka_unit_test(icm_is_mapped),
		cmocka_unit_test(bad_page_lists_map_nothing),
		cmocka_unit_test(init_hca_takes_linux_profile),
		cmocka_unit_test(tables_that_meet),
		cmocka_unit_test(reserved_entries_stay),
		cmocka_unit_test(init_hca_refuses),
		cmocka_unit_test(event_mode_posts_completion),
		cmocka_unit_test(port_id_and_adapter),
		cmocka_unit_test(any_mailbox_is_survived),
	};

	return cmocka_run_group_tests_name("fw commands", tests, NULL, NULL);
}
