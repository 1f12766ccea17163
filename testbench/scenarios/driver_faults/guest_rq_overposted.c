/* SPDX-License-Identifier: Apache-2.0 */
/* The doorbell record of a receive queue counts more receives than the queue holds. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

enum { TOO_MANY = 5000 };

SCENARIO(guest_rq_overposted,
	 "rule rq_overposted: a receive doorbell record that counts more than the queue holds")
{
	struct rq_dbrec *record = b->qp[0]->db.record;

	post_recv(b, .wr_id = 1, .len = 64);
	rq_dbrec_set_counter(record, rq_dbrec_get_counter(record) + TOO_MANY);
	post_send(a, .wr_id = 7, .len = 64);
	expect_guest_error(b, rq_overposted);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 7);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);
}
