// SPDX-License-Identifier: Apache-2.0
/* The command register: its words byte by byte, the toggle, status to errno, timeouts. */
#include "host_driver/mlx4/tests/fake.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void words(void **state)
{
	/* The command register: in_param, in_mod, out_param, token << 16, [23] GO [22] E [21] T
	 * [15:12] op_mod [11:0] op */
	static const uint8_t expected[28] = {
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x70, 0x00, 0x00, 0x00, 0x01, 0x02, 0xaa, 0xbb,
		0xcc, 0xdd, 0xee, 0xff, 0x00, 0x00, 0x12, 0x34, 0x00, 0x00, 0x00, 0xe0, 0x20, 0x21};
	const struct drv_hcr cmd = {.op = HCR_2RST_QP,
				    .op_mod = 2,
				    .in_mod = 0x102,
				    .in_param = UINT64_C(0x1122334455667000),
				    .out_param = UINT64_C(0xaabbccddeeff0000)};
	struct hcr regs;

	drv_hcr_words(&cmd, 0x1234, true, 1, &regs);
	assert_memory_equal(regs.b, expected, sizeof(expected));
}

static void pending_by_go_or_toggle(void **state)
{
	struct hcr regs = {0};

	/* after a reset T is 0, and the next command has 1 */
	assert_false(drv_hcr_pending(&regs, 1));
	assert_true(drv_hcr_pending(&regs, 0));
	hcr_set_toggle(&regs, 1);
	assert_false(drv_hcr_pending(&regs, 0)); /* the last command had T 1 and is done */
	assert_true(drv_hcr_pending(&regs, 1));
	hcr_set_go(&regs, 1);
	assert_true(drv_hcr_pending(&regs, 0));
}

static void status_to_errno(void **state)
{
	assert_int_equal(drv_status_errno(0x00), 0);
	assert_int_equal(drv_status_errno(0x02), -EPERM);
	assert_int_equal(drv_status_errno(0x03), -EINVAL);
	assert_int_equal(drv_status_errno(0x04), -ENXIO);
	assert_int_equal(drv_status_errno(0x08), -ENOMEM);
	assert_int_equal(drv_status_errno(0x0c), -ENFILE);
	assert_int_equal(drv_status_errno(0x10), -EINVAL);
	assert_int_equal(drv_status_errno(0x21), -EBUSY);
	assert_int_equal(drv_status_errno(0x77), -EIO);
}

static void polls_and_toggles(void **state)
{
	struct drv_device dev;
	struct fake f;
	uint64_t out = 0;

	fake_init(&f, &dev);
	assert_int_equal(drv_cmd_init(&dev), 0);
	f.busy_reads = 5;
	f.out_param = 0x1234567890;
	assert_int_equal(drv_cmd_imm(&dev, HCR_SET_ICM_SIZE, 0, 99, &out), 0);
	assert_int_equal(out, 0x1234567890);
	assert_int_equal(f.busy_reads, 0);
	assert_int_equal(hcr_get_toggle((struct hcr *)(void *)f.hcr), 1);
	/* polling mode: no event, token 0xffff; the word with GO is written last */
	assert_int_equal(hcr_get_event((struct hcr *)(void *)f.hcr), 0);
	assert_int_equal(hcr_get_token((struct hcr *)(void *)f.hcr), 0xffff);
	assert_int_equal(f.n_writes, 7);
	assert_int_equal(f.writes[6].offset, 0x80680 + 0x18);
	f.status = 0x06;
	out = 7;
	assert_int_equal(drv_cmd_imm(&dev, HCR_SET_ICM_SIZE, 0, 99, &out), -EBUSY);
	assert_int_equal(out, 7); /* outputs are written only on success */
	assert_int_equal(hcr_get_toggle((struct hcr *)(void *)f.hcr), 0);
	assert_int_equal(dev.cmd.mailboxes, 0);
	drv_cmd_cleanup(&dev);
	assert_int_equal(f.pages, 0);
}

static void a_silent_device_is_dead(void **state)
{
	struct drv_device dev;
	struct fake f;

	fake_init(&f, &dev);
	assert_int_equal(drv_cmd_init(&dev), 0);
	f.busy_reads = 1000000000;
	assert_int_equal(drv_cmd_plain(&dev, HCR_NOP, 0, 0), -ETIMEDOUT);
	assert_true(f.now_ps >= UINT64_C(60000000000000) && f.now_ps < UINT64_C(62000000000000));
	/* it was reset, and might write into a mailbox otherwise */
	assert_int_equal(f.writes[f.n_writes - 1].offset, BAR0_RESET);
	assert_int_equal(drv_cmd_plain(&dev, HCR_NOP, 0, 0), -EIO);
	assert_int_equal(f.commands, 1);
	drv_cmd_cleanup(&dev);
}

static void mailboxes_are_zeroed_and_freed(void **state)
{
	static const uint8_t zero[4096];
	struct drv_mailbox *a, *b;
	struct drv_device dev;
	struct fake f;
	void *page;

	fake_init(&f, &dev);
	assert_int_equal(drv_cmd_init(&dev), 0);
	a = drv_mailbox_get(&dev);
	assert_memory_equal(a->bytes, zero, sizeof(zero));
	memset(a->bytes, 0xff, 4096);
	page = a->bytes;
	drv_mailbox_put(&dev, a);
	b = drv_mailbox_get(&dev);
	assert_ptr_equal(b->bytes, page);
	assert_memory_equal(b->bytes, zero, sizeof(zero));
	assert_int_equal(b->bus % 4096, 0);
	drv_mailbox_put(&dev, b);
	drv_cmd_cleanup(&dev);
	assert_int_equal(f.pages, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(pending_by_go_or_toggle),
		cmocka_unit_test(status_to_errno),
		cmocka_unit_test(polls_and_toggles),
		cmocka_unit_test(a_silent_device_is_dead),
		cmocka_unit_test(mailboxes_are_zeroed_and_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
