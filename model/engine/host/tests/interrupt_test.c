/* SPDX-License-Identifier: Apache-2.0 */
/* MSI-X: an interrupt raised while its vector is masked is not lost. INTx is used when MSI-X is
 * off. */
#include "model/engine/tests/host_fixture.h"

enum { TABLE = 0x7c000, PBA = 0x7d000, CONTROL = HCA_PCI_CAP_MSIX + 2 };

static void vector_mask(unsigned vector, bool mask)
{
	const uint8_t control[4] = {mask};

	hca_mmio_write_now(&fx.hca, 0, TABLE + vector * 16 + 12, control, 4);
}

static uint8_t pba(unsigned vector)
{
	uint8_t bytes[4];

	hca_mmio_read_now(&fx.hca, 0, PBA + vector / 32 * 4, bytes, 4);
	return bytes[vector / 8 % 4] >> vector % 8 & 1;
}

static void message(void **state)
{
	fx_vector_open(5);
	interrupt_raise(&fx.hca, 5);
	assert_int_equal(fx.n_irqs, 0);
	fx_run();
	assert_int_equal(fx.n_irqs, 1);
	assert_int_equal(fx.irqs[0].vector, 5);
	assert_int_equal(fx.irqs[0].address, 0xfee00000);
	assert_int_equal(fx.irqs[0].data, 0x4005);
	/* 24 ns, 30 bytes at 126.95 ps, 50 + 100 + 150 ns */
	assert_int_equal(fx.irqs[0].at_ps, 24000 + 3808 + 300000);
	assert_int_equal(fx.hca.stats.interrupt_raised, 1);
}

static void masked_is_pending_until_unmasked(void **state)
{
	fx_vector_open(1);
	fx_vector_open(9);
	vector_mask(9, true);
	interrupt_raise(&fx.hca, 9);
	interrupt_raise(&fx.hca, 9);
	fx_run();
	assert_int_equal(fx.n_irqs, 0);
	assert_int_equal(pba(9), 1);
	assert_int_equal(pba(8), 0);
	assert_int_equal(fx.hca.stats.interrupt_masked, 1);
	vector_mask(9, false);
	fx_run();
	assert_int_equal(fx.n_irqs, 1);
	assert_int_equal(fx.irqs[0].vector, 9);
	assert_int_equal(pba(9), 0);
	vector_mask(9, true);
	vector_mask(9, false);
	fx_run();
	assert_int_equal(fx.n_irqs, 1);
}

static void function_mask(void **state)
{
	fx_vector_open(0);
	fx_vector_open(127);
	hca_config_write(&fx.hca, CONTROL, 2, 0xc000);
	interrupt_raise(&fx.hca, 0);
	interrupt_raise(&fx.hca, 127);
	fx_run();
	assert_int_equal(fx.n_irqs, 0);
	assert_int_equal(pba(127), 1);
	hca_config_write(&fx.hca, CONTROL, 2, 0x8000);
	fx_run();
	assert_int_equal(fx.n_irqs, 2);
	assert_int_equal(pba(0) + pba(127), 0);
}

static void all_vectors_are_masked_after_reset(void **state)
{
	uint8_t control[4];

	fx_vector_open(3);
	interrupt_reset(&fx.hca);
	hca_mmio_read_now(&fx.hca, 0, TABLE + 3 * 16 + 12, control, 4);
	assert_int_equal(control[0], 1);
	interrupt_raise(&fx.hca, 3);
	fx_run();
	assert_int_equal(fx.n_irqs, 0);
	assert_int_equal(pba(3), 1);
}

static void a_vector_beyond_the_table(void **state)
{
	fx_vector_open(0);
	interrupt_raise(&fx.hca, 128);
	fx_run();
	assert_int_equal(fx.n_irqs, 0);
	expect_errors(1, "object_dead");
}

static void moderated(void **state)
{
	fx.params.interrupt_moderation = 10000000;
	fx_vector_open(0);
	for (unsigned i = 0; i < 3; i++)
		interrupt_raise(&fx.hca, 0);
	fx_run();
	assert_int_equal(fx.n_irqs, 2);
	assert_int_equal(fx.irqs[1].at_ps - fx.irqs[0].at_ps, 10000000);
}

static void intx(void **state)
{
	interrupt_raise(&fx.hca, 0);
	interrupt_raise(&fx.hca, 1);
	fx_run();
	assert_int_equal(fx.n_irqs, 0);
	assert_true(fx.intx);
	assert_int_equal(fx.intx_changes, 1);
	assert_true(hca_config_read(&fx.hca, 6, 2) & 1 << 3);
	fx_bar_write32(0, 0x80804, 1);
	fx_run();
	assert_false(fx.intx);
	assert_false(hca_config_read(&fx.hca, 6, 2) & 1 << 3);
	/* Interrupt Disable keeps the line inactive, but the status bit stays set */
	hca_config_write(&fx.hca, FX_COMMAND, 2, FX_MEMORY_AND_MASTER | 1 << 10);
	interrupt_raise(&fx.hca, 0);
	fx_run();
	assert_false(fx.intx);
	assert_true(hca_config_read(&fx.hca, 6, 2) & 1 << 3);
	hca_config_write(&fx.hca, FX_COMMAND, 2, FX_MEMORY_AND_MASTER);
	fx_run();
	assert_true(fx.intx);
	pci_function_reset(&fx.hca);
	fx_run();
	assert_false(fx.intx);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fx_start, fx_finish)
	const struct CMUnitTest tests[] = {
		T(message),
		T(masked_is_pending_until_unmasked),
		T(function_mask),
		T(all_vectors_are_masked_after_reset),
		T(a_vector_beyond_the_table),
		T(moderated),
		T(intx),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
