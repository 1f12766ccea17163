// SPDX-License-Identifier: Apache-2.0
/* Completion entries: parsing, errors, retiring, the RESIZE entry, cleaning. */
#include "host_driver/mlx4/tests/fake.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct bench {
	struct fake f;
	struct drv_device dev;
	struct drv_cq cq;
	struct drv_qp a, b;
	struct drv_qp *qps[256];
	uint64_t record, wr_id[16];
};

static void put(struct bench *t, uint32_t index, uint32_t qpn, uint8_t last, uint16_t wqe_index)
{
	uint8_t *e = t->cq.buf.pages[0] + (index & (t->cq.entries - 1)) * 32;

	memset(e, 0, 32);
	e[1] = (uint8_t)(qpn >> 16);
	e[2] = (uint8_t)(qpn >> 8);
	e[3] = (uint8_t)qpn;
	e[0x18] = (uint8_t)(wqe_index >> 8);
	e[0x19] = (uint8_t)wqe_index;
	e[0x1f] = (uint8_t)(last | (index & t->cq.entries ? 0x80 : 0));
}

static void bench_init(struct bench *t, uint32_t ci)
{
	memset(t, 0, sizeof(*t));
	fake_init(&t->f, &t->dev);
	t->dev.qp_table = t->qps;
	t->dev.tables[DRV_T_QPC].entries = 256;
	t->cq = (struct drv_cq){.dev = &t->dev, .entries = 8, .ci = ci};
	t->cq.db.record = &t->record;
	fake_buf(&t->f, &t->cq.buf, 1);
	/* all entries belong to the device: they have the owner bit of the next round */
	for (unsigned i = 0; i < 8; i++)
		t->cq.buf.pages[0][i * 32 + 31] = (ci + ((i - ci) & 7)) & 8 ? 0 : 0x80;
	t->a = (struct drv_qp){.dev = &t->dev, .qpn = 0x301, .has_rq = true};
	t->a.sq = t->a.rq = (struct drv_wq){.entries = 16, .wr_id = t->wr_id};
	t->b = t->a;
	t->b.qpn = 0x302;
	t->qps[1] = &t->a;
	t->qps[2] = &t->b;
	for (unsigned i = 0; i < 16; i++)
		t->wr_id[i] = 100 + i;
}

static void buf_free(struct drv_buf *buf)
{
	for (unsigned i = 0; i < buf->n; i++)
		free(buf->pages[i]);
	free(buf->pages);
	free(buf->bus);
}

static void parses_receives(void **state)
{
	static const uint8_t ud[32] = {0,    0,    0x03, 0x01, 0,    0, 0, 0x05, 0x83, 0,   0x12,
				       0x34, 0x70, 0,    0xab, 0xcd, 0, 0, 0,    0,    0,   0,
				       1,    0x28, 0,    7,    0,    0, 0, 0,    0,    0x01};
	struct drv_wc wc;

	drv_cqe_parse((const struct cqe *)(const void *)ud, &wc);
	assert_int_equal(wc.status, 0);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.qp_num, 0x301);
	assert_int_equal(wc.byte_len, 296);
	assert_int_equal(wc.src_qp, 0x1234);
	assert_int_equal(wc.slid, 0xabcd);
	assert_int_equal(wc.sl, 7);
	assert_int_equal(wc.dlid_path_bits, 3);
	assert_int_equal(wc.pkey_index, 5);
	assert_int_equal(wc.wc_flags, IBV_WC_GRH);
}

static void parses_immediate_and_invalidate(void **state)
{
	uint8_t e[32] = {0, 0, 3, 1, 0xde, 0xad, 0xbe, 0xef};
	struct drv_wc wc;

	e[31] = 0x00;
	drv_cqe_parse((const struct cqe *)(const void *)e, &wc);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.imm_data, 0xdeadbeef);
	e[31] = 0x82;
	drv_cqe_parse((const struct cqe *)(const void *)e, &wc);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
	e[31] = 0x03;
	drv_cqe_parse((const struct cqe *)(const void *)e, &wc);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, 0xdeadbeef);
}

static void parses_errors(void **state)
{
	static const struct {
		uint8_t syndrome;
		int status;
	} rows[] = {{0x01, 1},  {0x02, 2},  {0x04, 4},  {0x05, 5},  {0x06, 6},
		    {0x10, 7},  {0x11, 8},  {0x12, 9},  {0x13, 10}, {0x14, 11},
		    {0x15, 12}, {0x16, 13}, {0x22, 16}, {0x7e, 21}};
	uint8_t e[32] = {0, 0, 3, 1};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct drv_wc wc;

		e[0x1a] = 0x99;
		e[0x1b] = rows[i].syndrome;
		e[0x1f] = 0xde;
		drv_cqe_parse((const struct cqe *)(const void *)e, &wc);
		assert_int_equal(wc.status, rows[i].status);
		assert_int_equal(wc.vendor_err, 0x99);
		assert_true(wc.is_send);
	}
}

/* The index wraps at 24 bits, and the owner bit changes with each round of the ring. */
static void polls_over_the_wrap(void **state)
{
	struct drv_wc wc[8];
	struct bench t;

	bench_init(&t, 0xfffffe);
	assert_int_equal(mlx4_cq_poll(&t.cq, 8, wc), 0);
	for (uint32_t i = 0; i < 5; i++)
		put(&t, 0xfffffe + i, 0x301, 0x01, (uint16_t)i);
	assert_int_equal(mlx4_cq_poll(&t.cq, 8, wc), 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(wc[i].wr_id, 100 + i);
	assert_int_equal(mlx4_cq_poll(&t.cq, 8, wc), 0);
	assert_memory_equal(&t.record, ((uint8_t[]){0, 0, 0, 3}), 4);
	buf_free(&t.cq.buf);
}

/* One signalled completion also retires the unsignalled sends before it, over the 16-bit wrap,
 * too. */
static void send_completion_retires_up_to_its_index(void **state)
{
	struct drv_wc wc;
	struct bench t;

	bench_init(&t, 0);
	t.a.sq.tail = 0xfffe;
	t.a.sq.head = 0x10003;
	put(&t, 0, 0x301, 0x4a, 0x0001);
	assert_int_equal(mlx4_cq_poll(&t.cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 101);
	assert_int_equal(t.a.sq.tail, 0x10002);
	buf_free(&t.cq.buf);
}

static void unknown_qp_is_an_error(void **state)
{
	struct drv_wc wc;
	struct bench t;

	bench_init(&t, 0);
	put(&t, 0, 0x3ff, 0x01, 0);
	assert_int_equal(mlx4_cq_poll(&t.cq, 1, &wc), -EINVAL);
	buf_free(&t.cq.buf);
}

static void resize_entry_switches_buffers(void **state)
{
	struct drv_wc wc[4];
	struct bench t;

	bench_init(&t, 6);
	put(&t, 6, 0x301, 0x01, 0);
	/* RESIZE is at index 7; the new buffer of 16 entries continues with index 8 */
	put(&t, 7, 0, 0x16, 0);
	t.cq.new_entries = 16;
	fake_buf(&t.f, &t.cq.new_buf, 1);
	for (unsigned i = 0; i < 16; i++)
		t.cq.new_buf.pages[0][i * 32 + 31] = i < 8 ? 0 : 0x80;
	memset(t.cq.new_buf.pages[0] + 8 * 32, 0, 32);
	t.cq.new_buf.pages[0][8 * 32 + 2] = 0x03;
	t.cq.new_buf.pages[0][8 * 32 + 3] = 0x02;
	t.cq.new_buf.pages[0][8 * 32 + 31] = 0x01;
	assert_int_equal(mlx4_cq_poll(&t.cq, 4, wc), 2);
	assert_int_equal(wc[0].qp_num, 0x301);
	assert_int_equal(wc[1].qp_num, 0x302);
	assert_int_equal(t.cq.entries, 16);
	assert_int_equal(t.cq.ci, 9);
	buf_free(&t.cq.buf);
}

static void clean_removes_only_one_qps_entries(void **state)
{
	struct drv_wc wc[8];
	struct bench t;

	bench_init(&t, 5);
	for (uint32_t i = 5; i < 11; i++)
		put(&t, i, i & 1 ? 0x301 : 0x302, 0x01, 0);
	drv_cq_clean(&t.cq, &t.a);
	assert_int_equal(t.cq.ci, 8);
	assert_int_equal(mlx4_cq_poll(&t.cq, 8, wc), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(wc[i].qp_num, 0x302);
	buf_free(&t.cq.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_receives),
		cmocka_unit_test(parses_immediate_and_invalidate),
		cmocka_unit_test(parses_errors),
		cmocka_unit_test(polls_over_the_wrap),
		cmocka_unit_test(send_completion_retires_up_to_its_index),
		cmocka_unit_test(unknown_qp_is_an_error),
		cmocka_unit_test(resize_entry_switches_buffers),
		cmocka_unit_test(clean_removes_only_one_qps_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
