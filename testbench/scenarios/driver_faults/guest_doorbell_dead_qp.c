/* SPDX-License-Identifier: Apache-2.0 */
/* The send doorbell is rung for a queue pair in RESET, for a queue pair that never existed, and for
 * an XRC target in RTS, which has no send queue. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

static void ring(struct tb_end *end, uint32_t qpn)
{
	struct send_db db = {{0}};

	send_db_set_qpn(&db, qpn);
	drv_raw_mmio_write(end->dev, HCA_BAR_UAR,
			   (uint64_t)end->dev->verbs.page * UAR_PAGE_SIZE + UAR_SEND_DB, db.b,
			   sizeof(db.b));
}

SCENARIO(guest_doorbell_dead_qp,
	 "rule doorbell_dead_qp: doorbells for a queue pair in RESET and for none at all")
{
	const struct drv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	const struct drv_rc_path path = path_to(b, drv_qp_num(b->qp[0]));
	struct drv_xrcd *xrcd = new_xrcd(a);
	struct drv_qp *target = new_qp(a, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);

	must(drv_qp_modify(a->qp[0], &reset, IBV_QP_STATE));
	ring(a, drv_qp_num(a->qp[0]));
	expect_guest_error(a, doorbell_dead_qp);
	ring(a, drv_qp_num(a->qp[0]) + 1000);
	expect_guest_error(a, doorbell_dead_qp);
	must(drv_qp_connect(target, &path));
	ring(a, drv_qp_num(target));
	expect_guest_error(a, doorbell_dead_qp);
	destroy_qp(target);
	destroy_xrcd(xrcd);
	reconnect(0);
	rdma_write(a, .wr_id = 8, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 8);
	expect_data(b, .len = 64);
}
