/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager writes b's P_Key table. There is an event, and the new entry can be queried. A
 * queue pair whose P_Key entry has been removed accepts no more packets, and violations are
 * counted. Packets of a limited member are accepted by full members but not by limited members.
 * The answers of QP1 have the P_Key that the table has now.
 */
/* behaviours: IBA-10.9-pkey IBA-14.2.5.7-pkeytable */
#include "testbench/manage.h"

enum { FULL = 0xffff, LIMITED = 0x7fff, OTHER = 0x8055 };

SCENARIO(mad_pkey_table, "P_Key table: changes, membership, violations")
{
	struct drv_port_attr before, after;
	uint8_t counters[gmp_data_size] = {0};
	struct smp answer;
	uint16_t pkey = 0;

	post_recv(b, .wr_id = 1, .len = 64, .repeat = 3);
	write_pkeys(a, 1, 1, FULL, OTHER);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	must(drv_query_pkey(b->dev, 1, 1, &pkey));
	expect_equal(pkey, OTHER);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 64, .pkey = LIMITED, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);
	must(drv_query_port(b->dev, 1, &before));
	inject(b, RC_SEND_ONLY, .psn = 0xffffff, .len = 64, .pkey = OTHER, .ack_req = true);
	expect_no_more(CFG_US(20)); /* the P_Key is in the table, but it is not this queue pair's */
	write_pkeys(a, 1, 1, LIMITED, OTHER);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	inject(b, RC_SEND_ONLY, .psn = 0xffffff, .len = 64, .pkey = LIMITED, .ack_req = true);
	expect_no_more(CFG_US(20)); /* from a limited member to a limited member */
	inject(b, RC_SEND_ONLY, .psn = 0xffffff, .len = 64, .pkey = FULL, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff);
	expect_cqe(b, .wr_id = 2);
	write_pkeys(a, 1, 1, OTHER);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	inject(b, RC_SEND_ONLY, .psn = 0, .len = 64, .pkey = FULL, .ack_req = true);
	expect_no_more(CFG_US(20));
	must(drv_query_port(b->dev, 1, &after));
	expect_equal(after.bad_pkeys - before.bad_pkeys, 3);
	inject(b, RC_SEND_ONLY, .psn = 0, .len = 64, .pkey = OTHER, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0);
	expect_cqe(b, .wr_id = 3);
	write_pkeys(a, 1, 1, LIMITED);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	port_counters_set_port_select((struct port_counters *)(void *)counters, 1);
	pass_time(CFG_US(100));
	check_mads();
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .attr = CM_ATTR_CLASS_PORT_INFO,
	    .dlid = b->lid);
	expect_mad(a_to_b, .qpn = QPN_GSI, .pkey = FULL);
	expect_mad(b_to_a, .qpn = QPN_GSI, .pkey = LIMITED);
	ignore_mads();
	write_pkeys(a, 1, 1, FULL);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
}
