/* SPDX-License-Identifier: Apache-2.0 */
/* BAR2: which write is which doorbell, and BlueFlame lines into WQEs. */
#include "model/engine/tests/host_fixture.h"

enum { UAR = 130, PAGE = UAR * 4096, BF_PAGE = 0x400000 + UAR * 4096, QPN = 0x48 };

static void send(void **state)
{
	uint8_t wide[8] = {0};

	fx_bar_write32(2, PAGE + 0x14, QPN << 8);
	assert_int_equal(fx.n_rings, 1);
	assert_int_equal(fx.rings[0].qpn, QPN);
	assert_int_equal(fx.rings[0].uar, UAR);
	be32_store(wide + 4, 0x49 << 8);
	hca_mmio_write_now(&fx.hca, 2, PAGE + 0x10, wide, 8);
	assert_int_equal(fx.rings[1].qpn, 0x49);
	assert_int_equal(fx.errors, 0);
	hca_mmio_write_now(&fx.hca, 2, PAGE + 0x14, wide, 2);
	expect_errors(1, "register_size");
	fx_bar_write32(2, PAGE + 0x18, 0);
	expect_errors(2, "register_unknown");
	assert_int_equal(fx.n_rings, 2);
}

static void send_takes_the_latency_of_its_row(void **state)
{
	const uint8_t db[4] = {0, 0, QPN, 0};

	hca_mmio_write(&fx.hca, 2, PAGE + 0x14, db, 4);
	/* 30 bytes; 100 and 50 ns of PCIe; 20 ns in the device */
	event_core_run_until(&fx.core, 3808 + 150000 + 20000 - 1);
	assert_int_equal(fx.n_rings, 0);
	event_core_run_until(&fx.core, 3808 + 150000 + 20000);
	assert_int_equal(fx.n_rings, 1);
}

/* Makes CQ 7 armed, with UAR as its user page. Returns its context. */
static struct cqc *cq(void)
{
	struct cqc *cqc = (struct cqc *)fx.contexts[CONTEXT_CQ][7];

	fx.valid[CONTEXT_CQ][7] = true;
	cqc_set_log_size(cqc, 4);
	cqc_set_usr_page(cqc, UAR);
	return cqc;
}

static void cq_arm(void **state)
{
	const struct cqc *cqc = cq();
	const uint8_t both[8] = {0x12, 0, 0, 7, 0, 0, 0, 0}; /* sn 1, next completion of any kind */

	hca_mmio_write_now(&fx.hca, 2, PAGE + 0x20, both, 8);
	assert_int_equal(cqc_get_state(cqc), CQ_STATE_ARMED);
	assert_int_equal(fx.hca.stats.doorbell_cq_arms, 1);
	assert_int_equal(fx.armed_cqn, 7);
	assert_int_equal(fx.errors, 0);
}

static void cq_arm_by_a_32_bit_host(void **state)
{
	const struct cqc *cqc = cq();

	fx_bar_write32(2, PAGE + 0x20, 0x11000007); /* next solicited completion */
	assert_int_equal(fx.hca.stats.doorbell_cq_arms, 0);
	fx_bar_write32(2, PAGE + 4096 + 0x20, 0x12000009);
	fx_bar_write32(2, PAGE + 0x24, 0);
	assert_int_equal(cqc_get_state(cqc), CQ_STATE_ARMED_SOLICITED);
	assert_int_equal(fx.errors, 0);
	fx_bar_write32(2, PAGE + 0x24, 0);
	expect_errors(1, "register_size");
}

static void eq(void **state)
{
	struct eqc *eqc = (struct eqc *)fx.contexts[CONTEXT_EQ][9];

	fx.valid[CONTEXT_EQ][9] = true;
	eqc_set_log_size(eqc, 4);
	eqc_set_producer_index(eqc, 3);
	/* EQN 9 = page 2, second of four */
	fx_bar_write32(2, 2 * 4096 + 0x808, 0x80000003);
	assert_int_equal(eqc_get_consumer_index(eqc), 3);
	assert_int_equal(eqc_get_state(eqc), EQ_STATE_ARMED);
	fx_bar_write32(2, 2 * 4096 + 0x820, 0);
	expect_errors(1, "register_unknown");
}

/* Makes a WQE of 5 x 16 bytes with index 0x1234. Software copies it as 128 bytes. */
static void wqe_make(uint8_t wqe[128])
{
	for (unsigned i = 0; i < 128; i++)
		wqe[i] = (uint8_t)(i * 7);
	be32_store(wqe, 0x8012340a);
	be32_store(wqe + 4, QPN << 8 | 5);
}

static void blueflame(void **state)
{
	uint8_t wqe[128];

	wqe_make(wqe);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE, wqe, 64);
	assert_int_equal(fx.n_rings, 0);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 64, wqe + 64, 64);
	assert_int_equal(fx.n_rings, 1);
	assert_true(fx.rings[0].blueflame);
	assert_int_equal(fx.rings[0].qpn, QPN);
	assert_int_equal(fx.rings[0].index, 0x1234);
	assert_int_equal(fx.rings[0].uar, UAR);
	assert_int_equal(fx.rings[0].len, 128);
	assert_memory_equal(fx.rings[0].bytes, wqe, 80);
	assert_int_equal(fx.hca.stats.doorbell_blueflames, 1);
}

static void blueflame_by_eights_in_the_second_buffer(void **state)
{
	uint8_t wqe[128];

	wqe_make(wqe);
	for (unsigned i = 0; i < 128; i += 8)
		hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 256 + i, wqe + i, 8);
	assert_int_equal(fx.n_rings, 1);
	assert_memory_equal(fx.rings[0].bytes, wqe, 80);
	/* writes the same buffer again, which software must not */
	assert_int_equal(fx.errors, 0);
	for (unsigned i = 0; i < 128; i += 8)
		hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 256 + i, wqe + i, 8);
	assert_int_equal(fx.n_rings, 2);
	expect_errors(1, "blueflame_buffer");
}

static void a_missing_line_is_fetched_from_memory(void **state)
{
	uint8_t wqe[128];

	wqe_make(wqe);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE, wqe, 32);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 64, wqe + 64, 32);
	expect_errors(1, "blueflame_mismatch");
	assert_int_equal(fx.n_rings, 1);
	assert_false(fx.rings[0].blueflame);
	assert_int_equal(fx.rings[0].qpn, QPN);
	/* begins a new WQE in a buffer whose last one was never completed */
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE, wqe, 64);
	expect_errors(2, "blueflame_buffer");
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE, wqe, 64);
	expect_errors(4, "blueflame_mismatch");
	assert_int_equal(fx.n_rings, 2);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 64, wqe + 64, 64);
	assert_true(fx.rings[2].blueflame);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 512 + 64, wqe, 64);
	expect_errors(5, "blueflame_mismatch");
	assert_int_equal(fx.n_rings, 3);
}

/* A program was killed between two lines, and its QP is reset. Another one gets the page. */
static void a_killed_program_leaves_nothing(void **state)
{
	uint8_t wqe[128];

	wqe_make(wqe);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE, wqe, 64);
	doorbell_qp_gone(&fx.hca, QPN + 1);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE, wqe, 64);
	expect_errors(2, "blueflame_mismatch");
	assert_int_equal(fx.n_rings, 1);
	doorbell_qp_gone(&fx.hca, QPN);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE, wqe, 64);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 64, wqe + 64, 64);
	assert_int_equal(fx.errors, 2);
	assert_int_equal(fx.n_rings, 2);
	assert_true(fx.rings[1].blueflame);
}

/* One of two QPs on a page is reset: the turn of the other one is known still. */
static void the_other_qp_keeps_its_turn(void **state)
{
	uint8_t wqe[128], other[128];

	wqe_make(wqe);
	wqe_make(other);
	be32_store(other + 4, (QPN + 1) << 8 | 5);
	for (unsigned at = 0; at < 128; at += 64)
		hca_mmio_write_now(&fx.hca, 2, BF_PAGE + at, wqe + at, 64);
	for (unsigned at = 0; at < 128; at += 64)
		hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 256 + at, other + at, 64);
	assert_int_equal(fx.n_rings, 2);
	assert_int_equal(fx.errors, 0);
	doorbell_qp_gone(&fx.hca, QPN);
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE + 256, other, 64);
	expect_errors(1, "blueflame_buffer");
}

static void blueflame_off(void **state)
{
	uint8_t line[64] = {0};

	fx.params.doorbell_blueflame = 0;
	hca_mmio_write_now(&fx.hca, 2, BF_PAGE, line, 64);
	expect_errors(1, "register_unknown");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fx_start, fx_finish)
	const struct CMUnitTest tests[] = {
		T(send),
		T(send_takes_the_latency_of_its_row),
		T(cq_arm),
		T(cq_arm_by_a_32_bit_host),
		T(eq),
		T(blueflame),
		T(blueflame_by_eights_in_the_second_buffer),
		T(a_missing_line_is_fetched_from_memory),
		T(a_killed_program_leaves_nothing),
		T(the_other_qp_keeps_its_turn),
		T(blueflame_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
