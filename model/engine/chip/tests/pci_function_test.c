/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI function: configuration space as the PCI specifications describe it, and BAR0 as mlx4
 * drivers use it. */
#include "model/engine/host/pcie_impl.h"
#include "model/engine/tests/host_fixture.h"

static uint32_t cfg(unsigned offset, unsigned size)
{
	return hca_config_read(&fx.hca, offset, size);
}

static void cfg_set(unsigned offset, unsigned size, uint32_t value)
{
	hca_config_write(&fx.hca, offset, size, value);
}

static unsigned capability(uint8_t id)
{
	unsigned at = cfg(0x34, 1);

	while (at && cfg(at, 1) != id)
		at = cfg(at + 1, 1);
	return at;
}

static void identity(void **state)
{
	assert_int_equal(cfg(0, 4), 0x100315b3);
	assert_int_equal(cfg(0x0a, 2), 0x0280);
	assert_int_equal(cfg(0x0e, 1), 0); /* type 0, one function */
	assert_int_equal(cfg(0x3d, 1), 1);
	assert_true(cfg(0x06, 2) & 1 << 4);
	cfg_set(0, 4, 0);
	assert_int_equal(cfg(0, 2), 0x15b3);
	assert_int_equal(cfg(0x100, 4), 0);
	assert_int_equal(cfg(0x01, 2), 0); /* not aligned */
}

static void bars_are_sized_by_writing_ones(void **state)
{
	cfg_set(0x10, 4, 0xffffffff);
	cfg_set(0x14, 4, 0xffffffff);
	cfg_set(0x18, 4, 0xffffffff);
	cfg_set(0x1c, 4, 0xffffffff);
	cfg_set(0x20, 4, 0xffffffff);
	cfg_set(0x30, 4, 0xffffffff);
	assert_int_equal(cfg(0x10, 4), 0xfff00004); /* 1 MiB, 64-bit, not prefetchable */
	assert_int_equal(cfg(0x14, 4), 0xffffffff);
	assert_int_equal(cfg(0x18, 4), 0xff80000c); /* 8 MiB, 64-bit, prefetchable */
	assert_int_equal(cfg(0x1c, 4), 0xffffffff);
	assert_int_equal(cfg(0x20, 4), 0);
	assert_int_equal(cfg(0x30, 4), 0);
	cfg_set(0x10, 4, 0xe0000000);
	assert_int_equal(cfg(0x10, 4), 0xe0000004);
}

static void capabilities(void **state)
{
	const unsigned pm = capability(0x01), exp = capability(0x10), msix = capability(0x11);

	assert_int_not_equal(pm, 0);
	assert_int_not_equal(exp, 0);
	assert_int_not_equal(msix, 0);
	assert_int_equal(cfg(msix + 2, 2), 127);
	assert_int_equal(cfg(msix + 4, 4), 0x7c000);
	assert_int_equal(cfg(msix + 8, 4), 0x7d000);
	cfg_set(msix + 2, 2, 0xffff);
	assert_int_equal(cfg(msix + 2, 2), 0xc07f);
	/* endpoint, version 2; 8 GT/s (3) x 8; MPS 256 (1), MRRS 512 (2) */
	assert_int_equal(cfg(exp + 2, 2), 0x0002);
	assert_int_equal(cfg(exp + 4, 4) & 7, 1);
	assert_int_equal(cfg(exp + 8, 2) >> 5 & 7, 1);
	assert_int_equal(cfg(exp + 8, 2) >> 12 & 7, 2);
	assert_int_equal(cfg(exp + 0x0c, 4) & 0x3ff, 0x083);
	assert_int_equal(cfg(exp + 0x12, 2) & 0x3ff, 0x083);
	assert_int_equal(cfg(exp + 0x2c, 4), 0xe); /* 2.5, 5, 8 GT/s */
}

static void sleeping_it_does_not_answer(void **state)
{
	const unsigned pm = capability(0x01);
	uint8_t bytes[4];

	cfg_set(pm + 4, 2, 1); /* D1 is not supported */
	assert_int_equal(cfg(pm + 4, 2) & 3, 0);
	cfg_set(pm + 4, 2, 3);
	assert_int_equal(cfg(pm + 4, 2) & 3, 3);
	assert_false(fx.hca.pcie->master);
	fx_bar_write32(0, 0x80680, 0x12345678);
	hca_mmio_read_now(&fx.hca, 0, 0x80680, bytes, 4);
	assert_int_equal(be32_load(bytes), 0xffffffff);
	cfg_set(pm + 4, 2, 0);
	assert_int_equal(fx_bar_read32(0, 0x80680), 0);
	assert_true(fx.hca.pcie->master);
}

static void memory_decoding_off(void **state)
{
	cfg_set(FX_COMMAND, 2, 0x4);
	assert_int_equal(fx_bar_read32(0, 0x8069c), 0xffffffff);
	expect_errors(1, "register_unknown");
}

/* Writes a command as Linux does: dwords 0 to 5, then dword 6 with GO. */
static void command_post(uint32_t last)
{
	for (uint32_t i = 0; i < 6; i++)
		fx_bar_write32(0, 0x80680 + 4 * i, 0x11111111 * (i + 1));
	fx_bar_write32(0, 0x80698, last);
}

static void a_command(void **state)
{
	uint32_t hcr[7];

	command_post(0x00a01004); /* GO, toggle, op modifier 1, opcode 4 */
	assert_int_equal(fx.raised, FW_IRQ_HCR);
	hcr_latched(&fx.hca, hcr);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(hcr[i], 0x11111111 * (i + 1));
	assert_int_equal(hcr[6], 0x00a01004);

	fx_bar_write32(0, 0x80680, 0xdead); /* refused: a command is pending */
	expect_errors(1, "hcr_busy");
	assert_int_equal(fx_bar_read32(0, 0x80680), 0x11111111);

	hcr_done(&fx.hca, 0x0102030405060708, 0x03);
	assert_int_equal(fx_bar_read32(0, 0x80698), 0x03201004); /* the toggle bit is unchanged */
	assert_int_equal(fx_bar_read32(0, 0x8068c), 0x01020304);
	assert_int_equal(fx_bar_read32(0, 0x80690), 0x05060708);
	fx_bar_write32(0, 0x80680, 5);
	assert_int_equal(fx_bar_read32(0, 0x80680), 5);
	assert_int_equal(fx.errors, 1);
}

static void a_command_in_event_mode_stores_no_status(void **state)
{
	command_post(0x00c00031);
	hcr_done(&fx.hca, 0, 0x03);
	assert_int_equal(fx_bar_read32(0, 0x80698), 0x00400031);
}

/* Two commands with an event in a row may not have the same token. A polled command between them ends
 * the row: Linux counts its tokens anew when it goes from polling back to events. */
static void token_of_a_row(void **state)
{
	enum { EVENT = 0x00c00031, POLLED = 0x00800031, TOGGLE = 0x00200000 };

	command_post(EVENT);
	hcr_done(&fx.hca, 0, 0);
	command_post(POLLED | TOGGLE);
	hcr_done(&fx.hca, 0, 0);
	command_post(EVENT);
	hcr_done(&fx.hca, 0, 0);
	assert_int_equal(fx.errors, 0);
	command_post(EVENT | TOGGLE);
	expect_errors(1, "command_token");
}

static void ownership(void **state)
{
	assert_int_equal(fx_bar_read32(0, 0x8069c), 0);
	assert_int_equal(fx_bar_read32(0, 0x8069c), 1);
	fx_bar_write32(0, 0x8069c, 0);
	assert_int_equal(fx_bar_read32(0, 0x8069c), 0);
	pci_function_reset(&fx.hca);
	assert_int_equal(fx_bar_read32(0, 0x8069c), 0);
}

static void software_reset(void **state)
{
	const uint8_t linux_way[4] = {0, 0, 0, 1}, ipxe_way[4] = {1, 0, 0, 1};

	command_post(0x00a00004);
	assert_int_equal(fx_bar_read32(0, 0xf03fc), 0);
	hca_mmio_write(&fx.hca, 0, 0xf0010, linux_way, 4);
	fx_run();
	assert_int_equal(fx.resets, 1);
	/* the command register has its power-on value, and memory is not decoded */
	assert_int_equal(cfg(FX_COMMAND, 2), 0);
	assert_int_equal(fx_bar_read32(0, 0x80680), UINT32_MAX);
	expect_errors(1, "config_not_restored");
	cfg_set(FX_COMMAND, 2, FX_MEMORY_AND_MASTER);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(fx_bar_read32(0, 0x80680 + 4 * i), 0);
	hca_mmio_write_now(&fx.hca, 0, 0xf0010, ipxe_way, 4);
	fx_run();
	assert_int_equal(fx.resets, 2);
	cfg_set(FX_COMMAND, 2, FX_MEMORY_AND_MASTER);
	fx_bar_write32(0, 0xf0010, 0x01000000);
	fx_run();
	assert_int_equal(fx.resets, 2);
	assert_int_equal(fx.errors, 1);
}

static void wrong_accesses(void **state)
{
	uint8_t bytes[8] = {0};

	hca_mmio_write_now(&fx.hca, 0, 0x80680, bytes, 8);
	expect_errors(1, "register_size");
	hca_mmio_read_now(&fx.hca, 0, 0x80682, bytes, 2);
	expect_errors(2, "register_size");
	memset(bytes, 0xff, sizeof(bytes));
	hca_mmio_read_now(&fx.hca, 0, 0x1000, bytes, 4);
	expect_errors(3, "register_unknown");
	assert_int_equal(be32_load(bytes), 0);
	fx_bar_write32(0, 0x80a00, 1);
	expect_errors(4, "register_unknown");
	hca_mmio_read_now(&fx.hca, 2, 0x20, bytes, 4);
	expect_errors(5, "register_unknown");
	hca_mmio_read_now(&fx.hca, 0, 0x7c000, bytes, 2);
	expect_errors(6, "register_unknown");
}

/* Bus mastering is cleared under a running HCA. Who clears memory decoding, too, such as QEMU before it
 * resets the function, breaks no rule. */
static void bus_master_cleared(void **state)
{
	fx.hca.ctrl |= FW_CTRL_RUN;
	cfg_set(FX_COMMAND, 2, 0);
	cfg_set(FX_COMMAND, 2, FX_MEMORY_AND_MASTER);
	assert_int_equal(fx.errors, 0);
	cfg_set(FX_COMMAND, 2, FX_MEMORY_AND_MASTER & ~4u);
	expect_errors(1, "bus_master_off");
	fx.hca.ctrl &= ~(uint32_t)FW_CTRL_RUN;
}

static void error_buffer(void **state)
{
	assert_int_equal(fx_bar_read32(0, 0x80a00), 0);
	error_buffer_set(&fx.hca, 2, 0x1234);
	assert_int_equal(fx_bar_read32(0, 0x80a00), 2);
	assert_int_equal(fx_bar_read32(0, 0x80a04), FX_FIRMWARE_PC);
	assert_int_equal(fx_bar_read32(0, 0x80a20), 0x1234);
	pci_function_reset(&fx.hca);
	assert_int_equal(fx_bar_read32(0, 0x80a00), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fx_start, fx_finish)
	const struct CMUnitTest tests[] = {
		T(identity),
		T(bars_are_sized_by_writing_ones),
		T(capabilities),
		T(sleeping_it_does_not_answer),
		T(memory_decoding_off),
		T(a_command),
		T(a_command_in_event_mode_stores_no_status),
		T(token_of_a_row),
		T(ownership),
		T(software_reset),
		T(wrong_accesses),
		T(bus_master_cleared),
		T(error_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
