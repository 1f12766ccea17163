// SPDX-License-Identifier: Apache-2.0
/* Send WQEs, receive lists and MLX WQEs, byte by byte; doorbell and BlueFlame. */
#include "host_driver/mlx4/mad.h"
#include "host_driver/mlx4/post.h"
#include "host_driver/mlx4/tests/fake.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct bench {
	struct fake f;
	struct drv_device dev;
	struct drv_pd pd;
	struct drv_qp qp;
	uint64_t wr_id[64];
};

static void bench_init(struct bench *b, enum qp_service service, unsigned log_stride)
{
	fake_init(&b->f, &b->dev);
	b->dev.verbs = (struct drv_uar){.dev = &b->dev, .page = 129};
	b->dev.uar_bytes = 0x400000;
	b->pd = (struct drv_pd){.dev = &b->dev, .pdn = 0x1234};
	b->qp = (struct drv_qp){.dev = &b->dev,
				.uar = &b->dev.verbs,
				.pd = &b->pd,
				.service = service,
				.state = IBV_QPS_RTS,
				.qpn = 0x20a,
				.port = 1,
				.max_inline = 200,
				.spare = 17};
	b->qp.sq = (struct drv_wq){.entries = 64,
				   .log_stride = log_stride,
				   .max_sge = 4,
				   .max_post = 47,
				   .wr_id = b->wr_id};
	fake_buf(&b->f, &b->qp.buf, (64u << log_stride) / PLATFORM_PAGE_SIZE);
	drv_sq_init(&b->qp);
}

static void bench_free(struct bench *b)
{
	for (unsigned i = 0; i < b->qp.buf.n; i++)
		free(b->qp.buf.pages[i]);
	free(b->qp.buf.pages);
	free(b->qp.buf.bus);
}

static void rc_send(void **state)
{
	static const uint8_t expected[32] = {0x80, 0, 0,    0x0a, 0,    0,    0,    0x02,
					     0,    0, 0,    0x0c, 0,    0,    0,    0,
					     0,    0, 0x20, 0,    0x00, 0xab, 0xcd, 0x01,
					     0,    0, 0x7f, 0x12, 0x34, 0x56, 0x78, 0x9a};
	const struct drv_sge sge = {UINT64_C(0x7f123456789a), 0x2000, 0xabcd01};
	const struct drv_send_wr wr = {.opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1};
	uint8_t wqe[128];
	struct bench b;

	bench_init(&b, QP_ST_RC, 7);
	memset(wqe, 0xee, sizeof(wqe));
	assert_int_equal(drv_wqe_build(&b.qp, &wr, wqe, 0), 2);
	assert_memory_equal(wqe, expected, sizeof(expected));
	bench_free(&b);
}

static void rc_write_inline_over_a_boundary(void **state)
{
	uint8_t data[60], wqe[128],
		expected[112] = {
			0x00, 0,    0,    0x09, 0,    0,    0,    0x47, 0,
			0,    0,    0x02, 0xde, 0xad, 0xbe, 0xef, /* ctrl: fence, solicited, imm */
			0,    0,    0x7f, 0,    0,    0,    0x10, 0,    0,
			0,    0x55, 0x66, 0,    0,    0,    0, /* remote address */
			0x80, 0,    0,    28,
		};
	const struct drv_sge sge[2] = {{(uintptr_t)data, 20, 0}, {(uintptr_t)data + 20, 40, 0}};
	const struct drv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				       .send_flags = IBV_SEND_INLINE | IBV_SEND_FENCE |
						     IBV_SEND_SOLICITED,
				       .sg_list = sge,
				       .num_sge = 2,
				       .imm_data = 0xdeadbeef,
				       .remote_addr = UINT64_C(0x7f0000001000),
				       .rkey = 0x5566};
	struct bench b;

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	memcpy(expected + 36, data, 28);
	memcpy(expected + 64, (uint8_t[]){0x80, 0, 0, 32}, 4);
	memcpy(expected + 68, data + 28, 32);
	bench_init(&b, QP_ST_RC, 7);
	memset(wqe, 0xee, sizeof(wqe));
	/* the second round of the queue: owner bit 0 belongs to the device's next round */
	assert_int_equal(drv_wqe_build(&b.qp, &wr, wqe, 64), 7);
	assert_memory_equal(wqe, expected, sizeof(expected));
	bench_free(&b);
}

static void atomics(void **state)
{
	static const uint8_t cas[16] = {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1};
	static const uint8_t faa[16] = {0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0};
	const struct drv_sge sge = {0x1000, 8, 5};
	struct drv_send_wr wr = {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .compare_add = 1,
				 .swap = 2};
	uint8_t wqe[128];
	struct bench b;

	bench_init(&b, QP_ST_RC, 7);
	assert_int_equal(drv_wqe_build(&b.qp, &wr, wqe, 0), 4);
	assert_int_equal(wqe[3], 0x11);
	assert_memory_equal(wqe + 32, cas, 16);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.compare_add = 9;
	assert_int_equal(drv_wqe_build(&b.qp, &wr, wqe, 0), 4);
	assert_int_equal(wqe[3], 0x12);
	assert_memory_equal(wqe + 32, faa, 16);
	wr.opcode = IBV_WR_MASKED_ATOMIC_CMP_AND_SWP;
	assert_int_equal(drv_wqe_build(&b.qp, &wr, wqe, 0), 5);
	bench_free(&b);
}

static void ud_datagram(void **state)
{
	static const uint8_t expected[48] = {
		0x01, 0x00, 0x12, 0x34, 0,  0x83, 0x00, 0x07, 0, 2,    0,    64,
		0x51, 0x20, 0x00, 0x99, 1,  2,    3,    4,    5, 6,    7,    8,
		9,    10,   11,   12,   13, 14,   15,   16,   0, 0xab, 0xcd, 0xef,
		0x11, 0x22, 0x33, 0x44, 0,  0,    0,    0,    0, 0,    0,    0};
	const struct drv_ah_attr ah = {
		.dlid = 7,
		.sl = 5,
		.src_path_bits = 3,
		.port_num = 1,
		.is_global = true,
		.dgid = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		.sgid_index = 2,
		.hop_limit = 64,
		.traffic_class = 0x12,
		.flow_label = 0x99};
	const struct drv_sge sge = {0x1000, 8, 5};
	struct drv_send_wr wr = {.opcode = IBV_WR_SEND,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .ah = &ah,
				 .remote_qpn = 0xabcdef,
				 .remote_qkey = 0x11223344};
	uint8_t wqe[128];
	struct bench b;

	bench_init(&b, QP_ST_UD, 7);
	assert_int_equal(drv_wqe_build(&b.qp, &wr, wqe, 0), 5);
	assert_memory_equal(wqe + 16, expected, sizeof(expected));
	wr.opcode = IBV_WR_RDMA_WRITE;
	assert_int_equal(drv_wqe_build(&b.qp, &wr, wqe, 0), -EINVAL);
	bench_free(&b);
}

static void receive_lists_end(void **state)
{
	static const uint8_t end[16] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	const struct drv_sge sge[2] = {{0x1000, 8, 5}, {0x2000, 16, 6}};
	const struct drv_recv_wr wr = {.sg_list = sge, .num_sge = 2};
	uint8_t wqe[64];

	memset(wqe, 0xee, sizeof(wqe));
	drv_recv_sges(wqe, 64, &wr);
	assert_int_equal(wqe[3], 8);
	assert_int_equal(wqe[16 + 7], 6);
	assert_memory_equal(wqe + 32, end, 16);
	memset(wqe, 0xee, sizeof(wqe));
	drv_recv_sges(wqe, 32, &wr);
	assert_int_equal(wqe[32], 0xee); /* the stride ends the list, so no terminator is written */
}

static void sizes(void **state)
{
	assert_int_equal(drv_wqe_bytes(QP_ST_RC, 1, 0), 80);
	assert_int_equal(drv_wqe_bytes(QP_ST_UC, 2, 0), 64);
	assert_int_equal(drv_wqe_bytes(QP_ST_UD, 1, 0), 80);
	assert_int_equal(drv_wqe_bytes(QP_ST_UC, 0, 28), 64); /* ends at the 64-byte boundary */
	/* one byte beyond it needs a further segment header */
	assert_int_equal(drv_wqe_bytes(QP_ST_UC, 0, 29), 80);
	assert_int_equal(drv_wqe_bytes(QP_ST_RC, 0, 120), 192); /* two whole chunks */
}

static void doorbell_and_blueflame(void **state)
{
	const uint8_t db[4] = {0, 0x02, 0x0a, 0};
	uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	const struct drv_sge sge = {(uintptr_t)data, 8, 5};
	struct drv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1};
	struct bench b;

	bench_init(&b, QP_ST_RC, 7);
	b.dev.bf_buf_bytes = 256;
	assert_int_equal(mlx4_post_send(&b.qp, &wr, NULL), 0);
	assert_int_equal(b.f.n_writes, 1);
	assert_int_equal(b.f.writes[0].bar, 2);
	assert_int_equal(b.f.writes[0].offset, 129 * 4096 + 0x14);
	assert_memory_equal(b.f.writes[0].bytes, db, 4);
	wr.send_flags = IBV_SEND_INLINE;
	for (unsigned i = 1; i <= 2; i++) {
		assert_int_equal(mlx4_post_send(&b.qp, &wr, NULL), 0);
		assert_int_equal(b.f.n_writes, 1 + i);
		assert_int_equal(b.f.writes[i].size, 64);
		assert_int_equal(b.f.writes[i].offset, 0x400000 + 129 * 4096 + (i == 2 ? 256 : 0));
		/* owner, index, opcode; QPN, size. The same bytes are in memory. */
		assert_memory_equal(b.f.writes[i].bytes,
				    ((uint8_t[]){0, 0, (uint8_t)i, 0x0a, 0, 0x02, 0x0a, 0x02}), 8);
		assert_memory_equal(b.f.writes[i].bytes, b.qp.buf.pages[0] + i * 128, 64);
	}
	bench_free(&b);
}

/* Each send and each receive takes the CPU time that its option states. */
static void costs(void **state)
{
	struct drv_send_wr second = {.opcode = IBV_WR_SEND};
	const struct drv_send_wr first = {.next = &second, .opcode = IBV_WR_SEND};
	struct drv_recv_wr last = {.wr_id = 2}, recv = {.next = &last};
	uint64_t record = 0;
	uint64_t wr_id[8];
	struct bench b;

	bench_init(&b, QP_ST_RC, 7);
	b.qp.has_rq = true;
	b.qp.rq = (struct drv_wq){
		.entries = 8, .log_stride = 4, .max_sge = 1, .offset = 4096, .wr_id = wr_id};
	b.qp.db.record = &record;
	b.dev.options.post_cost_ps = 1000;
	b.dev.options.receive_cost_ps = 7;
	assert_int_equal(mlx4_post_send(&b.qp, &first, NULL), 0);
	assert_int_equal(b.f.now_ps, 2000);
	assert_int_equal(mlx4_post_recv(&b.qp, &recv, NULL), 0);
	assert_int_equal(b.f.now_ps, 2014);
	bench_free(&b);
}

static void owner_bits_over_the_wrap(void **state)
{
	const struct drv_sge sge = {0x1000, 8, 5};
	const struct drv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1};
	struct bench b;

	bench_init(&b, QP_ST_RC, 7);
	for (unsigned i = 0; i < 130; i++) {
		const uint8_t *wqe = b.qp.buf.pages[i % 64 / 32] + i % 32 * 128;

		/* an entry that is not posted must have the opposite owner bit; the device owns bit
		 * == ((i & 64) != 0) */
		assert_int_not_equal(wqe[0] >> 7, !!(i & 64));
		assert_int_equal(mlx4_post_send(&b.qp, &wr, NULL), 0);
		assert_int_equal(wqe[0] >> 7, !!(i & 64));
		b.qp.sq.tail++;
	}
	b.qp.sq.tail -= 47;
	assert_int_equal(mlx4_post_send(&b.qp, &wr, NULL), -ENOMEM);
	bench_free(&b);
}

static void mlx_wqe(void **state)
{
	/* ctrl with VL15 and SLR, LRH of 72 words, BTH SEND only, DETH, 256 bytes by pointer, room
	 * for the ICRC */
	static const uint8_t expected[80] = {
		0x80, 0, 0,    0x0a, 0,    0,    0,    5,    0,    0x03, 0, 0x0c, 0xff, 0xff,
		0,    0, 0x80, 0,    0,    28,   0xf0, 0x02, 0xff, 0xff, 0, 0x48, 0xff, 0xff,
		0x64, 0, 0xff, 0xff, 0,    0,    0,    0,    0,    0,    0, 3,    0,    0,
		0,    0, 0,    0,    0,    0,    0,    0,    1,    0,    0, 0,    0,    0x77,
		0,    0, 0,    1,    0x23, 0x45, 0x60, 0,    0x80, 0,    0, 4,    0,    0,
		0,    0, 0,    0,    0,    0,    0,    0,    0,    0};
	struct drv_mlx_wqe w = {.dlid = 0xffff,
				.vl = 15,
				.pkey = 0xffff,
				.psn = 3,
				.addr = UINT64_C(0x123456000),
				.lkey = 0x77,
				.length = 256};
	uint8_t wqe[128];

	memset(wqe, 0xee, sizeof(wqe));
	assert_int_equal(drv_mlx_wqe_build(&w, wqe, 1), 5);
	assert_memory_equal(wqe, expected, sizeof(expected));
	/* QP1 with a GRH: 68 bytes of headers, 44 before the boundary and 24 after it */
	w.qpn = 1;
	w.dlid = 9;
	w.path_bits = 1;
	w.vl = 2;
	w.sl = 4;
	w.qkey = 0x80010000;
	w.dqpn = 1;
	w.has_grh = true;
	assert_int_equal(drv_mlx_wqe_build(&w, wqe, 0), 8);
	assert_memory_equal(wqe + 4, ((uint8_t[]){0, 0, 0, 8, 0, 0, 0x04, 0x0c, 0, 9, 0, 0}), 12);
	assert_memory_equal(wqe + 16,
			    ((uint8_t[]){0x80, 0, 0, 44, 0x20, 0x43, 0, 9, 0, 0x52, 0, 1, 0x60, 0,
					 0, 0, 1, 0x18, 0x1b}),
			    19);
	assert_memory_equal(wqe + 64, ((uint8_t[]){0x80, 0, 0, 24}), 4);
	assert_memory_equal(wqe + 72, ((uint8_t[]){0x64, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 0,
						   0,    3, 0x80, 1,    0, 0, 0, 0, 0, 1}),
			    20);
}

/* IBA 14.2.2: hop pointer and return path in a subnet of two nodes, out and back. */
static void smi_rules(void **state)
{
	struct smp s = {0};
	struct mad_hdr *h = smp_hdr(&s);

	mad_hdr_set_hop_count(h, 1);
	smp_initial_path_ptr(&s)[1] = 2;
	assert_false(drv_smi_send(&s, 1)); /* refused: the path leaves by the other port */
	assert_true(drv_smi_send(&s, 2));
	assert_int_equal(mad_hdr_get_hop_pointer(h), 1);
	assert_true(drv_smi_receive(&s, 1));
	assert_int_equal(mad_hdr_get_hop_pointer(h), 2);
	assert_int_equal(smp_return_path_ptr(&s)[1], 1);
	mad_hdr_set_direction(h, 1);
	assert_true(drv_smi_send(&s, 1));
	assert_int_equal(mad_hdr_get_hop_pointer(h), 1);
	assert_true(drv_smi_receive(&s, 2));
	assert_int_equal(mad_hdr_get_hop_pointer(h), 0);
	/* a channel adapter does not forward */
	mad_hdr_set_direction(h, 0);
	mad_hdr_set_hop_count(h, 3);
	mad_hdr_set_hop_pointer(h, 1);
	assert_false(drv_smi_receive(&s, 1));
	mad_hdr_set_hop_count(h, 64);
	mad_hdr_set_hop_pointer(h, 64);
	assert_false(drv_smi_receive(&s, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rc_send),
		cmocka_unit_test(rc_write_inline_over_a_boundary),
		cmocka_unit_test(atomics),
		cmocka_unit_test(ud_datagram),
		cmocka_unit_test(receive_lists_end),
		cmocka_unit_test(sizes),
		cmocka_unit_test(doorbell_and_blueflame),
		cmocka_unit_test(costs),
		cmocka_unit_test(owner_bits_over_the_wrap),
		cmocka_unit_test(mlx_wqe),
		cmocka_unit_test(smi_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
