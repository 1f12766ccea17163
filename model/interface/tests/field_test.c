/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets and bit positions, written here a second time as literal bytes and independent of the
 * rows. Each line states which bytes a field's value makes in an otherwise zero object. The
 * accessor, and the generic access by row, must make the same bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/interface/commands.h"
#include "model/interface/rows.h"

static void check_row(const struct layout *l, const char *field, const uint8_t *bytes,
		      uint64_t value)
{
	for (unsigned int i = 0; i < l->n; i++) {
		uint8_t copy[4096];

		if (strcmp(l->rows[i].name, field))
			continue;
		assert_int_equal(layout_get(l, i, bytes), value);
		memset(copy, 0, sizeof(copy));
		layout_set(l, i, copy, value);
		assert_memory_equal(copy, bytes, l->size);
		return;
	}
	fail_msg("no row %s.%s", l->name, field);
}

/* Sets the value in a zero object: exactly these bytes must appear at `at`. Then sets the value in
 * an object of all ones, and clears it. */
#define CHECK(layout, field, value, at, ...)                                                       \
	do {                                                                                       \
		const uint8_t want[] = {__VA_ARGS__};                                              \
		struct layout got, all, expect;                                                    \
                                                                                                   \
		memset(&got, 0, sizeof(got));                                                      \
		memset(&expect, 0, sizeof(expect));                                                \
		memcpy(expect.b + (at), want, sizeof(want));                                       \
		layout##_set_##field(&got, value);                                                 \
		assert_memory_equal(got.b, expect.b, sizeof(got.b));                               \
		assert_true(layout##_get_##field(&got) == (value));                                \
		check_row(&layout_##layout, #field, got.b, value);                                 \
		memset(&all, 0xff, sizeof(all));                                                   \
		layout##_set_##field(&all, 0);                                                     \
		assert_true(layout##_get_##field(&all) == 0);                                      \
		layout##_set_##field(&all, (__typeof__(layout##_get_##field(&all)))UINT64_MAX);    \
		memset(&expect, 0xff, sizeof(expect));                                             \
		assert_memory_equal(all.b, expect.b, sizeof(all.b));                               \
	} while (0)

static void test_hcr_and_doorbells(void **state)
{
	CHECK(hcr, in_param, UINT64_C(0x0123456789abcdef), 0x00, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab,
	      0xcd, 0xef);
	CHECK(hcr, in_mod, 0x1f, 0x08, 0, 0, 0, 0x1f);
	CHECK(hcr, out_param, UINT64_C(0x1000), 0x0c, 0, 0, 0, 0, 0, 0, 0x10, 0);
	CHECK(hcr, token, 0xbeef, 0x14, 0xbe, 0xef, 0, 0);
	CHECK(hcr, status, 0x02, 0x18, 0x02, 0, 0, 0);
	CHECK(hcr, go, 1, 0x18, 0, 0x80, 0, 0);
	CHECK(hcr, event, 1, 0x18, 0, 0x40, 0, 0);
	CHECK(hcr, toggle, 1, 0x18, 0, 0x20, 0, 0);
	CHECK(hcr, op_mod, 2, 0x18, 0, 0, 0x20, 0);
	CHECK(hcr, opcode, 0xffa, 0x18, 0, 0, 0x0f, 0xfa);
	CHECK(send_db, qpn, 0x80004b, 0, 0x80, 0x00, 0x4b, 0);
	CHECK(cq_arm_db, sn, 3, 0, 0x30, 0, 0, 0);
	CHECK(cq_arm_db, cmd, 2, 0, 0x02, 0, 0, 0);
	CHECK(cq_arm_db, cqn, 0x80, 0, 0, 0, 0, 0x80);
	CHECK(cq_arm_db, ci, 0x123456, 4, 0, 0x12, 0x34, 0x56);
	CHECK(eq_db, arm, 1, 0, 0x80, 0, 0, 0);
	CHECK(cq_dbrec, set_ci, 0xfffffe, 0, 0, 0xff, 0xff, 0xfe);
	CHECK(cq_dbrec, arm_sn, 1, 4, 0x10, 0, 0, 0);
	CHECK(cq_dbrec, arm_cmd, 1, 4, 0x01, 0, 0, 0);
	CHECK(rq_dbrec, counter, 0xffff, 0, 0, 0, 0xff, 0xff);
}

static void test_registers(void **state)
{
	assert_int_equal(BAR0_HCR, 0x80680);
	assert_int_equal(BAR0_OWNERSHIP, 0x8069c);
	assert_int_equal(BAR0_RESET, 0xf0010);
	assert_int_equal(BAR0_SEMAPHORE, 0xf03fc);
	assert_int_equal(BAR0_MSIX_TABLE, 0x7c000);
	assert_int_equal(BAR0_MSIX_PBA, 0x7d000);
	assert_int_equal(BAR0_MSIX_TABLE_SIZE, 128 * 16);
	assert_int_equal(BAR0_MSIX_PBA_SIZE, 128 / 8);
	assert_string_equal(bar0_reg_find(0x80698)->name, "HCR");
	assert_string_equal(bar0_reg_find(0x8069c)->name, "OWNERSHIP");
	assert_null(bar0_reg_find(0x806a0));
	assert_int_equal(eq_db_offset(0), 0x800);
	assert_int_equal(eq_db_offset(4), 0x1800);
	assert_int_equal(eq_db_offset(11), 0x2818);
	assert_int_equal(HCA_BAR2_SIZE, 8 << 20);
	assert_true(HCA_UAR_PAGES > HCA_UAR_EQ_PAGES);
}

static void test_qpc(void **state)
{
	assert_int_equal(sizeof(struct qpc), 0xf8);
	CHECK(qpc, state, 3, 0x00, 0x30, 0, 0, 0);
	CHECK(qpc, service, 7, 0x00, 0, 0x07, 0, 0);
	CHECK(qpc, pm_state, 3, 0x00, 0, 0, 0x18, 0);
	CHECK(qpc, pd, 0x8001, 0x04, 0, 0, 0x80, 0x01);
	CHECK(qpc, mtu, 5, 0x08, 0xa0);
	CHECK(qpc, log_msg_max, 30, 0x08, 0x1e);
	CHECK(qpc, log_rq_size, 9, 0x09, 0x48);
	CHECK(qpc, log_rq_stride, 2, 0x09, 0x02);
	CHECK(qpc, sq_no_prefetch, 1, 0x0a, 0x80);
	CHECK(qpc, log_sq_size, 7, 0x0a, 0x38);
	CHECK(qpc, log_sq_stride, 6, 0x0a, 0x06);
	CHECK(qpc, rlkey, 1, 0x0b, 0x10);
	CHECK(qpc, usr_page, 129, 0x0c, 0, 0, 0, 129);
	CHECK(qpc, local_qpn, 0xabcdef, 0x10, 0, 0xab, 0xcd, 0xef);
	CHECK(qpc, remote_qpn, 1, 0x14, 0, 0, 0, 1);
	CHECK(qpc, ack_req_freq, 8, 0x70, 0x80, 0, 0, 0);
	CHECK(qpc, sra_max, 4, 0x70, 0, 0x80, 0, 0);
	CHECK(qpc, retry_cnt, 7, 0x70, 0, 0x07, 0, 0);
	CHECK(qpc, rnr_retry, 7, 0x70, 0, 0, 0xe0, 0);
	CHECK(qpc, fre, 1, 0x70, 0, 0, 0x08, 0);
	CHECK(qpc, next_send_psn, 0xfffffe, 0x78, 0, 0xff, 0xff, 0xfe);
	CHECK(qpc, cqn_send, 0x81, 0x7c, 0, 0, 0, 0x81);
	CHECK(qpc, last_acked_psn, 5, 0x88, 0, 0, 0, 5);
	CHECK(qpc, rra_max, 2, 0x90, 0, 0x40, 0, 0);
	CHECK(qpc, rre, 1, 0x90, 0, 0, 0x80, 0);
	CHECK(qpc, rwe, 1, 0x90, 0, 0, 0x40, 0);
	CHECK(qpc, rae, 1, 0x90, 0, 0, 0x20, 0);
	CHECK(qpc, page_offset, 0x3f, 0x90, 0, 0, 0x0f, 0xc0);
	CHECK(qpc, ric, 1, 0x90, 0, 0, 0, 0x10);
	CHECK(qpc, min_rnr_timer, 0x1f, 0x94, 0x1f, 0, 0, 0);
	CHECK(qpc, next_rcv_psn, 0x800000, 0x94, 0, 0x80, 0, 0);
	CHECK(qpc, xrcd, 0x1234, 0x98, 0, 0, 0x12, 0x34);
	CHECK(qpc, cqn_recv, 0x82, 0x9c, 0, 0, 0, 0x82);
	CHECK(qpc, qkey, 0x80010000, 0xa8, 0x80, 0x01, 0, 0);
	CHECK(qpc, srq, 1, 0xac, 1, 0, 0, 0);
	CHECK(qpc, srqn, 0x40, 0xac, 0, 0, 0, 0x40);
	CHECK(qpc, sq_wqe_counter, 0x102, 0xb6, 1, 2);
	CHECK(qpc, log_page_size, 9, 0xc8, 9, 0, 0, 0);
}

static void test_qp_path(void **state)
{
	struct qpc c = {{0}};

	assert_int_equal(sizeof(struct qp_path), 0x2c);
	CHECK(qp_path, pkey_index, 0x7f, 0x03, 0x7f);
	CHECK(qp_path, grh, 1, 0x05, 0x80);
	CHECK(qp_path, path_bits, 3, 0x05, 0x03);
	CHECK(qp_path, rlid, 0xc001, 0x06, 0xc0, 0x01);
	CHECK(qp_path, ack_timeout, 14, 0x08, 0x70);
	CHECK(qp_path, mgid_index, 1, 0x09, 1);
	CHECK(qp_path, static_rate, 12, 0x0a, 12);
	CHECK(qp_path, hop_limit, 0xff, 0x0b, 0xff);
	CHECK(qp_path, tclass, 0xa5, 0x0c, 0x0a, 0x50, 0, 0);
	CHECK(qp_path, flow_label, 0x12345, 0x0c, 0, 0x01, 0x23, 0x45);
	CHECK(qp_path, sched_queue, 0x83, 0x20, 0x83);
	CHECK(qp_path, port, 1, 0x20, 0x40);
	CHECK(qp_path, sl, 15, 0x20, 0x3c);
	assert_int_equal(qp_path_rgid_cptr(qpc_primary(&c)) - c.b, 0x18 + 0x10);
	assert_ptr_equal(qpc_primary(&c), c.b + 0x18);
	assert_ptr_equal(qpc_alternate_const(&c), c.b + 0x44);
}

/* Addresses are not shifted, and other fields in the same word keep their values. */
static void test_addresses(void **state)
{
	struct qpc c = {{0}};
	struct vpm_entry v = {{0}};
	struct mtt_entry m = {{0}};
	struct init_hca h = {{0}};
	struct mpt_entry p = {{0}};

	qpc_set_log_page_size(&c, 0x15);
	qpc_set_mtt_addr(&c, UINT64_C(0xa98765432f));
	assert_memory_equal(c.b + 0xc8, "\x15\0\0\xa9\x87\x65\x43\x28", 8);
	assert_true(qpc_get_mtt_addr(&c) == UINT64_C(0xa987654328));
	assert_int_equal(qpc_get_log_page_size(&c), 0x15);
	qpc_set_db_rec_addr(&c, UINT64_C(0x1234567889abcdee));
	assert_memory_equal(c.b + 0xa0, "\x12\x34\x56\x78\x89\xab\xcd\xec", 8);

	vpm_entry_set_log_size(&v, 6);
	vpm_entry_set_pa(&v, UINT64_C(0x123456000));
	assert_memory_equal(v.b + 8, "\0\0\0\x01\x23\x45\x60\x06", 8);
	assert_true(vpm_entry_get_pa(&v) == UINT64_C(0x123456000));

	mtt_entry_set_addr(&m, UINT64_C(0x7fff000));
	mtt_entry_set_present(&m, 1);
	assert_memory_equal(m.b, "\0\0\0\0\x07\xff\xf0\x01", 8);

	init_hca_set_log_qps(&h, 18);
	init_hca_set_qpc_base(&h, UINT64_C(0x108000000));
	assert_memory_equal(h.b + 0x30, "\0\0\0\x01\x08\0\0\x12", 8);
	assert_true(init_hca_get_qpc_base(&h) == UINT64_C(0x108000000));

	mpt_entry_set_mtt_addr(&p, UINT64_C(0x0102030408));
	assert_memory_equal(p.b + 0x2c, "\0\0\0\x01\x02\x03\x04\x08", 8);
}

static void test_cq_eq_srq_mpt(void **state)
{
	CHECK(cqc, status, 9, 0x00, 0x90, 0, 0, 0);
	CHECK(cqc, ignore_overrun, 1, 0x00, 0, 0x02, 0, 0);
	CHECK(cqc, state, 0xa, 0x00, 0, 0, 0x0a, 0);
	CHECK(cqc, page_offset, 0x7f, 0x0a, 0x0f, 0xe0);
	CHECK(cqc, log_size, 22, 0x0c, 22, 0, 0, 0);
	CHECK(cqc, usr_page, 130, 0x0c, 0, 0, 0, 130);
	CHECK(cqc, period, 16, 0x10, 0, 16);
	CHECK(cqc, comp_eqn, 5, 0x17, 5);
	CHECK(cqc, log_page_size, 3, 0x18, 3);
	CHECK(cqc, consumer_index, 0xffffff, 0x28, 0, 0xff, 0xff, 0xff);
	CHECK(cqc, producer_index, 1, 0x2c, 0, 0, 0, 1);
	CHECK(eqc, state, 9, 0x00, 0, 0, 0x09, 0);
	CHECK(eqc, log_size, 9, 0x0c, 9);
	CHECK(eqc, intr, 127, 0x16, 0, 127);
	CHECK(eqc, producer_index, 2, 0x2c, 0, 0, 0, 2);
	CHECK(srqc, log_size, 8, 0x00, 0x08, 0, 0, 0);
	CHECK(srqc, srqn, 0x41, 0x00, 0, 0, 0, 0x41);
	CHECK(srqc, log_stride, 1, 0x04, 1);
	CHECK(srqc, xrcd, 3, 0x06, 0, 3);
	CHECK(srqc, cqn, 0x99, 0x08, 0, 0, 0, 0x99);
	CHECK(srqc, log_page_size, 4, 0x10, 4);
	CHECK(srqc, pd, 7, 0x18, 0, 0, 0, 7);
	CHECK(srqc, limit, 16, 0x1c, 0, 16);
	CHECK(mpt_entry, status, 0xf, 0x00, 0xf0, 0, 0, 0);
	CHECK(mpt_entry, mio, 1, 0x00, 0, 0x02, 0, 0);
	CHECK(mpt_entry, access, 0x3f, 0x00, 0, 0, 0xfc, 0);
	CHECK(mpt_entry, remote_atomic, 1, 0x00, 0, 0, 0x40, 0);
	CHECK(mpt_entry, local_write, 1, 0x00, 0, 0, 0x08, 0);
	CHECK(mpt_entry, physical, 1, 0x00, 0, 0, 0x02, 0);
	CHECK(mpt_entry, region, 1, 0x00, 0, 0, 0x01, 0);
	CHECK(mpt_entry, bound_to_qp, 1, 0x04, 0, 0, 0, 0x80);
	CHECK(mpt_entry, mem_key, 0x12345678, 0x08, 0x12, 0x34, 0x56, 0x78);
	CHECK(mpt_entry, rae, 1, 0x0c, 0x10, 0, 0, 0);
	CHECK(mpt_entry, fre, 1, 0x0c, 0x08, 0, 0, 0);
	CHECK(mpt_entry, en_inv, 3, 0x0c, 0x03, 0, 0, 0);
	CHECK(mpt_entry, pd, 0x1ffff, 0x0c, 0, 0x01, 0xff, 0xff);
	CHECK(mpt_entry, length, UINT64_MAX, 0x18, 255, 255, 255, 255, 255, 255, 255, 255);
	CHECK(mpt_entry, log_page_size, 12, 0x38, 0, 0, 0, 12);
	CHECK(mcg_entry, next_index, 0x1001, 0x00, 0, 0x04, 0x00, 0x40);
	CHECK(mcg_entry, members, 248, 0x04, 0, 0, 0, 248);
	CHECK(mcg_member, block_loopback, 1, 0, 0x40, 0, 0, 0);
	assert_int_equal(MCG_MEMBERS_MAX, 248);
	assert_int_equal(mem_key_of_key(0x00012345), 0x45000123);
	assert_int_equal(key_of_mem_key(0x45000123), 0x00012345);
}

static void test_mailboxes(void **state)
{
	CHECK(query_fw, cmd_if_rev, 3, 0x0a, 0, 3);
	CHECK(query_fw, minor, 42, 0x06, 0, 42);
	CHECK(query_fw, log_max_cmd, 4, 0x0f, 4);
	CHECK(query_fw, err_buf_bar, 1, 0x3c, 0x40);
	CHECK(dev_cap, log_rsvd_srqs, 6, 0x14, 0x60);
	CHECK(dev_cap, log_rsvd_mtts, 4, 0x20, 0x40);
	CHECK(dev_cap, num_ports, 2, 0x37, 2);
	CHECK(dev_cap, flags, UINT64_C(0x0037034f), 0x40, 0, 0, 0, 0, 0x00, 0x37, 0x03, 0x4f);
	CHECK(dev_cap, num_rsvd_uars, 1, 0x48, 0x10);
	CHECK(dev_cap, bf, 1, 0x4c, 0x80);
	CHECK(dev_cap, max_sq_desc, 1008, 0x52, 0x03, 0xf0);
	CHECK(dev_cap, mtt_size, 8, 0x90, 0, 8);
	CHECK(dev_cap, dmpt_size, 64, 0x92, 0, 64);
	CHECK(dev_cap, bmme_flags, 0xac2, 0x94, 0, 0, 0x0a, 0xc2);
	CHECK(dev_cap, max_icm, UINT64_C(1) << 40, 0xa0, 0, 0, 1, 0, 0, 0, 0, 0);
	CHECK(query_port, types, 1, 0x00, 1);
	CHECK(query_port, log_gids, 3, 0x07, 0x30);
	CHECK(query_port, log_pkeys, 5, 0x07, 0x05);
	CHECK(query_port, max_vl, 8, 0x0b, 8);
	CHECK(init_hca, log_cacheline, 2, 0x0e, 0x40);
	CHECK(init_hca, cacheline_valid, 1, 0x0e, 0x10);
	CHECK(init_hca, host_be, 1, 0x14, 0, 0, 0, 2);
	CHECK(init_hca, log_rd_per_qp, 4, 0x97, 4);
	CHECK(init_hca, windows, 1, 0xf8, 0x80);
	CHECK(init_hca, log_mpts, 19, 0xfb, 19);
	CHECK(init_hca, log_uars, 10, 0x12a, 10);
	CHECK(set_port, change_mtu, 1, 0, 0, 0x40, 0, 0);
	CHECK(set_port, mtu, 5, 0, 0, 0, 0x50, 0);
	CHECK(set_port, vl_cap, 8, 0, 0, 0, 0, 0x80);
	CHECK(mad_ifc, rqpn, 1, 0x108, 0, 0, 0, 1);
	CHECK(mad_ifc, pkey_index, 2, 0x112, 0, 2);
	CHECK(qp_mbox, opt_mask, 0x10000, 0, 0, 1, 0, 0);
	assert_int_equal(HCR_MAP_ICM, 0xffa);
	assert_int_equal(HCR_2RST_QP, 0x021);
	assert_int_equal(HCR_QUERY_PORT, 0x043);
	assert_string_equal(hcr_row_find(0x00d)->name, "SW2HW_MPT");
	assert_ptr_equal(hcr_row_find(0x00d)->in_layout, &layout_mpt_entry);
	assert_null(hcr_row_find(0x0ff));
	assert_string_equal(hcr_status_find(0x21)->errno_name, "EBUSY");
	assert_int_equal(QP_OPT_BIT_SCHED_QUEUE, 0x10000);
}

static void test_queue_entries(void **state)
{
	CHECK(wqe_ctrl, owner, 1, 0, 0x80, 0, 0, 0);
	CHECK(wqe_ctrl, bf_index, 0x1234, 0, 0, 0x12, 0x34, 0);
	CHECK(wqe_ctrl, opcode, 0x1b, 0, 0, 0, 0, 0x1b);
	CHECK(wqe_ctrl, bf_qpn, 0x4b, 4, 0, 0, 0x4b, 0);
	CHECK(wqe_ctrl, fence, 1, 4, 0, 0, 0, 0x40);
	CHECK(wqe_ctrl, ds, 0x3f, 4, 0, 0, 0, 0x3f);
	CHECK(wqe_ctrl, xrc_srqn, 0x50, 8, 0, 0, 0x50, 0);
	CHECK(wqe_ctrl, strong_order, 1, 8, 0, 0, 0, 0x80);
	CHECK(wqe_ctrl, cqe, 3, 8, 0, 0, 0, 0x0c);
	CHECK(wqe_ctrl, solicited, 1, 8, 0, 0, 0, 0x02);
	CHECK(wqe_mlx_ctrl, vl15, 1, 8, 0, 0x02, 0, 0);
	CHECK(wqe_mlx_ctrl, slr, 1, 8, 0, 0x01, 0, 0);
	CHECK(wqe_mlx_ctrl, sl, 5, 8, 0, 0, 0x05, 0);
	CHECK(wqe_mlx_ctrl, rlid, 7, 12, 0, 7, 0, 0);
	CHECK(wqe_data, is_inline, 1, 0, 0x80, 0, 0, 0);
	CHECK(wqe_data, lkey, 0x100, 4, 0, 0, 1, 0);
	CHECK(wqe_raddr, rkey, 0x700, 8, 0, 0, 7, 0);
	CHECK(wqe_datagram, port, 2, 0, 0x02, 0, 0, 0);
	CHECK(wqe_datagram, rlid, 2, 6, 0, 2);
	CHECK(wqe_datagram, sl, 3, 0x0c, 0x30, 0, 0, 0);
	CHECK(wqe_datagram, dqpn, 1, 0x20, 0, 0, 0, 1);
	CHECK(wqe_bind, remote_read, 1, 0, 0x20, 0, 0, 0);
	CHECK(wqe_bind, type2, 1, 4, 0x80, 0, 0, 0);
	CHECK(wqe_fast_reg, local_write, 1, 0, 0x10, 0, 0, 0);
	CHECK(wqe_fast_reg, log_page_size, 12, 0x24, 0, 0, 0, 12);
	CHECK(srq_next, next_wqe_index, 3, 2, 0, 3);
	CHECK(cqe, my_qpn, 0x800041, 0, 0, 0x80, 0, 0x41);
	CHECK(cqe, grh, 1, 8, 0x80, 0, 0, 0);
	CHECK(cqe, sl, 2, 0x0c, 0x20, 0);
	CHECK(cqe, slid, 0xffff, 0x0e, 0xff, 0xff);
	CHECK(cqe, byte_cnt, 296, 0x14, 0, 0, 1, 0x28);
	CHECK(cqe, wqe_index, 9, 0x18, 0, 9);
	CHECK(cqe, owner, 1, 0x1f, 0x80);
	CHECK(cqe, is_send, 1, 0x1f, 0x40);
	CHECK(cqe, opcode, 0x1e, 0x1f, 0x1e);
	CHECK(cqe_err, vendor, 0x77, 0x1a, 0x77);
	CHECK(cqe_err, syndrome, 0x15, 0x1b, 0x15);
	CHECK(eqe, type, 0x0a, 0x01, 0x0a);
	CHECK(eqe, subtype, 4, 0x03, 4);
	CHECK(eqe, owner, 1, 0x1f, 0x80);
	CHECK(eqe_cmd, token, 0x55, 0x06, 0, 0x55);
	CHECK(eqe_cmd, status, 2, 0x0f, 2);
	CHECK(eqe_cmd, out_param, 1, 0x10, 0, 0, 0, 0, 0, 0, 0, 1);
	CHECK(eqe_port, port, 2, 0x0c, 0x20, 0, 0, 0);
	CHECK(eqe_port_mng, gid_prefix, 1, 0x14, 0, 0, 0, 0, 0, 0, 0, 1);
	assert_int_equal(cqe_syndrome_find(0x16)->syndrome, 0x16);
	assert_null(cqe_syndrome_find(0x03));
	assert_ptr_equal(event_row_find(0x0a)->layout, &layout_eqe_cmd);
	assert_null(wqe_op_find(0x1e)->name);
	assert_true(wqe_op_find(0x15)->props & WQE_P_MASKED);
}

static void test_wire(void **state)
{
	const struct smp m = {{0}};

	CHECK(lrh, vl, 15, 0, 0xf0);
	CHECK(lrh, lnh, 3, 1, 0x03);
	CHECK(lrh, pkt_len, 0x7ff, 4, 0x07, 0xff);
	CHECK(grh, ip_ver, 6, 0, 0x60, 0, 0, 0);
	CHECK(grh, next_hdr, 0x1b, 6, 0x1b);
	CHECK(bth, solicited, 1, 1, 0x80);
	CHECK(bth, mig_req, 1, 1, 0x40);
	CHECK(bth, pad, 3, 1, 0x30);
	CHECK(bth, dqpn, 1, 4, 0, 0, 0, 1);
	CHECK(bth, ack_req, 1, 8, 0x80, 0, 0, 0);
	CHECK(bth, psn, 0xfffffe, 8, 0, 0xff, 0xff, 0xfe);
	CHECK(reth, dma_len, 4096, 12, 0, 0, 0x10, 0);
	CHECK(aeth, syndrome, 0x61, 0, 0x61, 0, 0, 0);
	CHECK(aeth, msn, 2, 0, 0, 0, 0, 2);
	CHECK(deth, sqpn, 1, 4, 0, 0, 0, 1);
	CHECK(atomiceth, swap_add, 1, 12, 0, 0, 0, 0, 0, 0, 0, 1);
	CHECK(atomiceth, compare, 1, 20, 0, 0, 0, 0, 0, 0, 0, 1);
	CHECK(mad_hdr, method, 0x81, 3, 0x81);
	CHECK(mad_hdr, hop_pointer, 1, 6, 1);
	CHECK(mad_hdr, hop_count, 1, 7, 1);
	CHECK(mad_hdr, attr_mod, 1, 20, 0, 0, 0, 1);
	CHECK(smp, dr_slid, 0xffff, 32, 0xff, 0xff);
	CHECK(node_info, vendor_id, 0x2c9, 36, 0, 0, 2, 0xc9);
	CHECK(node_info, local_port, 1, 36, 1);
	CHECK(port_info, cap_mask, 0x02, 20, 0, 0, 0, 2);
	CHECK(port_info, state, 4, 32, 4);
	CHECK(port_info, speed_supported, 7, 32, 0x70);
	CHECK(port_info, phys_state, 5, 33, 0x50);
	CHECK(port_info, lmc, 1, 34, 1);
	CHECK(port_info, speed_active, 4, 35, 0x40);
	CHECK(port_info, neighbor_mtu, 5, 36, 0x50);
	CHECK(port_info, vl_cap, 4, 37, 0x40);
	CHECK(port_info, mtu_cap, 5, 41, 5);
	CHECK(port_info, oper_vls, 4, 43, 0x40);
	CHECK(port_info, guid_cap, 8, 50, 8);
	CHECK(port_info, subnet_timeout, 18, 51, 18);
	CHECK(port_info, ext_speed_active, 1, 62, 0x10);
	CHECK(port_counters, rcv_pkts, 9, 36, 0, 0, 0, 9);
	CHECK(port_counters, vl15_dropped, 1, 22, 0, 1);
	CHECK(port_counters_ext, rcv_pkts, 1, 32, 0, 0, 0, 0, 0, 0, 0, 1);
	assert_int_equal(smp_data_cptr(&m) - m.b, 64);
	assert_int_equal(psn_diff(1, 0xffffff), 2);
	assert_int_equal(psn_diff(0xffffff, 1), -2);
	assert_int_equal(psn_add(0xfffffe, 3), 1);
}

static void test_sl2vl(void **state)
{
	struct sl2vl t = {{0}};

	sl2vl_set(&t, 2, 7);
	sl2vl_set(&t, 3, 15);
	assert_int_equal(t.b[1], 0x7f);
	assert_int_equal(sl2vl_get(&t, 2), 7);
	assert_int_equal(sl2vl_get(&t, 3), 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hcr_and_doorbells),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_qpc),
		cmocka_unit_test(test_qp_path),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_cq_eq_srq_mpt),
		cmocka_unit_test(test_mailboxes),
		cmocka_unit_test(test_queue_entries),
		cmocka_unit_test(test_wire),
		cmocka_unit_test(test_sl2vl),
	};

	return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
