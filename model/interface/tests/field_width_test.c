/* SPDX-License-Identifier: Apache-2.0 */
/* Which bits belong to a field: all ones set in a zero object must make exactly these bytes. They
 * are written here independently of the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/interface/commands.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/wire.h"

#define BITS(layout, field, at, ...)                                                               \
	do {                                                                                       \
		const uint8_t want[] = {__VA_ARGS__};                                              \
		struct layout got, expect;                                                         \
                                                                                                   \
		memset(&got, 0, sizeof(got));                                                      \
		memset(&expect, 0, sizeof(expect));                                                \
		memcpy(expect.b + (at), want, sizeof(want));                                       \
		layout##_set_##field(&got, (__typeof__(layout##_get_##field(&got)))UINT64_MAX);    \
		assert_memory_equal(got.b, expect.b, sizeof(got.b));                               \
	} while (0)

static void test_registers(void **state)
{
	BITS(hcr, status, 0x18, 0xff);
	BITS(hcr, go, 0x19, 0x80);
	BITS(hcr, op_mod, 0x1a, 0xf0);
	BITS(hcr, opcode, 0x1a, 0x0f, 0xff);
	BITS(send_db, qpn, 0, 0xff, 0xff, 0xff);
	BITS(cq_arm_db, sn, 0, 0x30);
	BITS(cq_arm_db, cmd, 0, 0x07);
	BITS(cq_arm_db, cqn, 1, 0xff, 0xff, 0xff);
	BITS(eq_db, ci, 1, 0xff, 0xff, 0xff);
	BITS(cq_dbrec, set_ci, 1, 0xff, 0xff, 0xff);
	BITS(rq_dbrec, counter, 2, 0xff, 0xff);
}

static void test_contexts(void **state)
{
	BITS(qpc, state, 0x00, 0xf0);
	BITS(qpc, service, 0x01, 0x0f);
	BITS(qpc, pm_state, 0x02, 0x18);
	BITS(qpc, pd, 0x05, 0xff, 0xff, 0xff);
	BITS(qpc, mtu, 0x08, 0xe0);
	BITS(qpc, log_msg_max, 0x08, 0x1f);
	BITS(qpc, log_rq_size, 0x09, 0x78);
	BITS(qpc, log_sq_stride, 0x0a, 0x07);
	BITS(qpc, sra_max, 0x71, 0xe0);
	BITS(qpc, retry_cnt, 0x71, 0x07);
	BITS(qpc, rnr_retry, 0x72, 0xe0);
	BITS(qpc, cur_rnr_retry, 0x72, 0x07);
	BITS(qpc, cur_retry_cnt, 0x73, 0xe0);
	BITS(qpc, next_send_psn, 0x79, 0xff, 0xff, 0xff);
	BITS(qpc, rra_max, 0x91, 0xe0);
	BITS(qpc, page_offset, 0x92, 0x0f, 0xc0);
	BITS(qpc, min_rnr_timer, 0x94, 0x1f);
	BITS(qpc, next_rcv_psn, 0x95, 0xff, 0xff, 0xff);
	BITS(qpc, xrcd, 0x9a, 0xff, 0xff);
	BITS(qpc, db_rec_addr, 0xa0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc);
	BITS(qpc, log_page_size, 0xc8, 0x3f);
	BITS(qpc, mtt_addr, 0xcb, 0xff, 0xff, 0xff, 0xff, 0xf8);
	BITS(qp_path, pkey_index, 0x03, 0x7f);
	BITS(qp_path, ack_timeout, 0x08, 0xf8);
	BITS(qp_path, tclass, 0x0c, 0x0f, 0xf0);
	BITS(qp_path, flow_label, 0x0d, 0x0f, 0xff, 0xff);
	BITS(qp_path, sl, 0x20, 0x3c);
	BITS(cqc, status, 0x00, 0xf0);
	BITS(cqc, state, 0x02, 0x0f);
	BITS(cqc, log_size, 0x0c, 0x1f);
	BITS(cqc, usr_page, 0x0d, 0xff, 0xff, 0xff);
	BITS(cqc, mtt_addr, 0x1b, 0xff, 0xff, 0xff, 0xff, 0xf8);
	BITS(cqc, db_rec_addr, 0x38, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf8);
	BITS(eqc, log_size, 0x0c, 0x1f);
	BITS(eqc, intr, 0x16, 0x03, 0xff);
	BITS(eqc, mtt_addr, 0x1b, 0xff, 0xff, 0xff, 0xff, 0xf8);
	BITS(srqc, log_size, 0x00, 0x0f);
	BITS(srqc, log_stride, 0x04, 0x07);
	BITS(srqc, cqn, 0x09, 0xff, 0xff, 0xff);
	BITS(srqc, mtt_addr, 0x13, 0xff, 0xff, 0xff, 0xff, 0xf8);
	BITS(mpt_entry, status, 0x00, 0xf0);
	BITS(mpt_entry, access, 0x02, 0xfc);
	BITS(mpt_entry, en_inv, 0x0c, 0x03);
	BITS(mpt_entry, pd, 0x0d, 0x01, 0xff, 0xff);
	BITS(mpt_entry, mtt_addr, 0x2f, 0xff, 0xff, 0xff, 0xff, 0xf8);
	BITS(mpt_entry, log_page_size, 0x39, 0x1f, 0xff, 0xff);
	BITS(mcg_entry, next_index, 0x00, 0xff, 0xff, 0xff, 0xc0);
	BITS(mcg_entry, members, 0x05, 0xff, 0xff, 0xff);
	BITS(mcg_member, qpn, 1, 0xff, 0xff, 0xff);
}

static void test_mailboxes(void **state)
{
	BITS(vpm_entry, va, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0);
	BITS(vpm_entry, log_size, 0xf, 0x1f);
	BITS(dev_cap, log_rsvd_qps, 0x12, 0x0f);
	BITS(dev_cap, log_max_qps, 0x13, 0x1f);
	BITS(dev_cap, log_rsvd_srqs, 0x14, 0xf0);
	BITS(dev_cap, log_max_mpts, 0x1d, 0x3f);
	BITS(dev_cap, log_rsvd_mpts, 0x22, 0x0f);
	BITS(dev_cap, ack_delay, 0x35, 0x1f);
	BITS(dev_cap, num_ports, 0x37, 0x0f);
	BITS(dev_cap, log_uar_mib, 0x49, 0x3f);
	BITS(dev_cap, log_bf_reg_size, 0x4d, 0x1f);
	BITS(dev_cap, log_max_pds, 0x65, 0x3f);
	BITS(query_port, types, 0x00, 0x03);
	BITS(query_port, log_gids, 0x07, 0xf0);
	BITS(query_port, log_pkeys, 0x07, 0x0f);
	BITS(query_port, mac, 0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
	BITS(init_hca, log_cacheline, 0x0e, 0xe0);
	BITS(init_hca, qpc_base, 0x30, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe0);
	BITS(init_hca, log_qps, 0x37, 0x1f);
	BITS(init_hca, log_rd_per_qp, 0x97, 0x07);
	BITS(init_hca, log_mpts, 0xfb, 0x3f);
	BITS(init_hca, log_uars, 0x12a, 0x0f);
	BITS(set_port, mtu, 0x02, 0xf0);
	BITS(set_port, vl_cap, 0x03, 0xf0);
	BITS(mad_ifc, my_qpn, 0x101, 0xff, 0xff, 0xff);
	BITS(mad_ifc, sl, 0x10c, 0xf0);
}

static void test_queues(void **state)
{
	BITS(wqe_ctrl, opcode, 3, 0x1f);
	BITS(wqe_ctrl, bf_index, 1, 0xff, 0xff);
	BITS(wqe_ctrl, ds, 7, 0x3f);
	BITS(wqe_ctrl, xrc_srqn, 8, 0xff, 0xff, 0xff);
	BITS(wqe_ctrl, cqe, 11, 0x0c);
	BITS(wqe_mlx_ctrl, static_rate, 10, 0xf0);
	BITS(wqe_mlx_ctrl, sl, 10, 0x0f);
	BITS(wqe_mlx_ctrl, rlid, 12, 0xff, 0xff);
	BITS(wqe_data, byte_count, 0, 0x7f, 0xff, 0xff, 0xff);
	BITS(wqe_datagram, port, 0, 0x03);
	BITS(wqe_datagram, pd, 1, 0xff, 0xff, 0xff);
	BITS(wqe_datagram, path_bits, 5, 0x7f);
	BITS(wqe_datagram, sl, 12, 0xf0);
	BITS(wqe_datagram, tclass, 12, 0x0f, 0xf0);
	BITS(wqe_fast_reg, mtt_rep, 1, 0x0f);
	BITS(cqe, my_qpn, 1, 0xff, 0xff, 0xff);
	BITS(cqe, path_bits, 8, 0x7f);
	BITS(cqe, sl, 12, 0xf0);
	BITS(cqe, opcode, 0x1f, 0x1f);
	BITS(cqe_err, my_qpn, 1, 0xff, 0xff, 0xff);
	BITS(eqe_cq, cqn, 5, 0xff, 0xff, 0xff);
	BITS(eqe_port, port, 12, 0xf0);
	BITS(eqe, owner, 0x1f, 0x80);
}

static void test_wire(void **state)
{
	BITS(lrh, vl, 0, 0xf0);
	BITS(lrh, lver, 0, 0x0f);
	BITS(lrh, lnh, 1, 0x03);
	BITS(lrh, pkt_len, 4, 0x07, 0xff);
	BITS(grh, tclass, 0, 0x0f, 0xf0);
	BITS(grh, flow_label, 1, 0x0f, 0xff, 0xff);
	BITS(bth, pad, 1, 0x30);
	BITS(bth, tver, 1, 0x0f);
	BITS(bth, dqpn, 5, 0xff, 0xff, 0xff);
	BITS(bth, psn, 9, 0xff, 0xff, 0xff);
	BITS(aeth, msn, 1, 0xff, 0xff, 0xff);
	BITS(xrceth, srqn, 1, 0xff, 0xff, 0xff);
	BITS(node_info, vendor_id, 37, 0xff, 0xff, 0xff);
	BITS(port_info, state, 32, 0x0f);
	BITS(port_info, phys_state, 33, 0xf0);
	BITS(port_info, mkey_protect, 34, 0xc0);
	BITS(port_info, lmc, 34, 0x07);
	BITS(port_info, neighbor_mtu, 36, 0xf0);
	BITS(port_info, oper_vls, 43, 0xf0);
	BITS(port_info, subnet_timeout, 51, 0x1f);
	BITS(port_info, ext_speed_enabled, 63, 0x1f);
	BITS(port_counters, buffer_overruns, 19, 0x0f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers), cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_mailboxes), cmocka_unit_test(test_queues),
		cmocka_unit_test(test_wire),
	};

	return cmocka_run_group_tests_name("field_width", tests, NULL, NULL);
}
