/* SPDX-License-Identifier: Apache-2.0 */
/* The contracts of the hooks and of the upcalls, each over a fake driver. */
#include "host_driver/rvt/tests/rvt_rig.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct lrh *lrh_of(unsigned i)
{
	return (const struct lrh *)rig.sent[i]->bytes;
}

/* --- do_send, rvt_send_ready --- */

static void packets_leave_in_order_and_come_back_once(void **state)
{
	struct drv_qp *qp = rig_qp(IBV_QPT_UC);

	rig.hold = true;
	assert_int_equal(rig_post(qp, IBV_WR_SEND, 3000), 0);
	rig_run();
	assert_int_equal(rig.n_sent, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(bth_get_psn(rig_bth(i)), i);
	assert_int_equal(drv_cq_outstanding(rig.cq), 0); /* the last one has not left */
	rig_leave();
	assert_int_equal(drv_cq_outstanding(rig.cq), 1);
	assert_int_equal(rvt_qp_of(qp)->packets, 0);
}

static void without_buffers_it_waits_to_be_told(void **state)
{
	struct drv_qp *qp = rig_qp(IBV_QPT_RC);

	rig.full = true;
	assert_int_equal(rig_post(qp, IBV_WR_SEND, 64), 0);
	rig_run();
	assert_int_equal(rig.tries, 1);
	rig_run();
	assert_int_equal(rig.tries, 1); /* nobody has told it */
	rig.full = false;
	rvt_send_ready(rig.dev, 1);
	rig_run();
	assert_int_equal(rig.tries, 2);
	assert_int_equal(rig.n_sent, 1);
	assert_int_equal(bth_get_psn(rig_bth(0)), 0);
}

/* What the packet is: from the LRH to the pad, without CRCs. */
static void the_packet_ends_with_its_pad(void **state)
{
	struct drv_qp *qp = rig_qp(IBV_QPT_RC);

	assert_int_equal(rig_post(qp, IBV_WR_SEND, 5), 0);
	rig_run();
	assert_int_equal(rig.sent[0]->len, LRH_BYTES + BTH_BYTES + 8);
	assert_int_equal(bth_get_pad(rig_bth(0)), 3);
	assert_int_equal(lrh_get_pkt_len(lrh_of(0)) * 4, rig.sent[0]->len + ICRC_BYTES);
	assert_int_equal(bth_get_opcode(rig_bth(0)), BTH_RC_SEND_ONLY);
	assert_int_equal(bth_get_dqpn(rig_bth(0)), RIG_PEER_QPN);
}

/* --- get_lid, qp_mtu, make_qpn --- */

static void the_lid_is_the_drivers(void **state)
{
	struct drv_qp *qp = rig_qp(IBV_QPT_RC);

	rig_post(qp, IBV_WR_SEND, 4);
	rig_run();
	assert_int_equal(lrh_get_slid(lrh_of(0)), RIG_LID);
	assert_int_equal(lrh_get_dlid(lrh_of(0)), RIG_PEER_LID);
}

static void the_mtu_is_the_smaller_one(void **state)
{
	struct drv_qp *qp;

	rig.mtu = IBV_MTU_256; /* the queue pair asks for 4096 */
	qp = rig_qp(IBV_QPT_RC);
	rig_post(qp, IBV_WR_RDMA_WRITE, 600);
	rig_run();
	assert_int_equal(rig.n_sent, 3);
	assert_int_equal(rig.sent[0]->len,
			 bth_op_header_bytes(bth_op_find(BTH_RC_WRITE_FIRST), false) + 256);
}

static void the_driver_may_choose_numbers(void **state)
{
	struct rvt_hooks with = rig_hooks;
	const struct drv_qp_init init = {.type = IBV_QPT_RC, .send_cq = rig.cq, .recv_cq = rig.cq};
	struct drv_qp *qp;

	drv_remove(rig.dev);
	with.make_qpn = rig_make_qpn;
	rig_start_with(&rig_own, &with);
	rig.next_qpn = 0x123;
	{
		const struct drv_qp_init again = {
			.type = init.type, .send_cq = rig.cq, .recv_cq = rig.cq};

		assert_int_equal(drv_qp_create(rig.pd, &again, &qp), 0);
		assert_int_equal(drv_qp_num(qp), 0x123);
		assert_int_equal(drv_qp_create(rig.pd, &again, &qp), -EINVAL); /* it is in use */
	}
}

/* --- flush_qp --- */

static void a_reset_flushes(void **state)
{
	struct drv_qp *qp = rig_qp(IBV_QPT_RC);

	rig.hold = true;
	rig_post(qp, IBV_WR_RDMA_WRITE, 3000);
	rig_run();
	assert_int_equal(rvt_qp_of(qp)->packets, 3);
	assert_int_equal(
		drv_qp_modify(qp, &(struct drv_qp_attr){.qp_state = IBV_QPS_RESET}, IBV_QP_STATE),
		0);
	assert_int_equal(rig.flushes, 1);
	assert_int_equal(rvt_qp_of(qp)->packets, 0);
	rig_run();
	assert_int_equal(rig.n_sent, 3); /* nothing more */
}

static void a_packet_that_waits_is_taken_back(void **state)
{
	struct drv_qp *qp = rig_qp(IBV_QPT_RC);

	rig.full = true;
	rig_post(qp, IBV_WR_SEND, 64);
	rig_run();
	assert_int_equal(drv_qp_destroy(qp), 0);
	assert_int_equal(rig.flushes, 0); /* the driver never had it */
	rig.full = false;
	rvt_send_ready(rig.dev, 1);
	rig_run();
	assert_int_equal(rig.n_sent, 0);
}

/* --- query_port_state, set_link_state, process_mad, node_desc_changed, rvt_port_event --- */

static void the_port_is_the_drivers(void **state)
{
	struct drv_port_attr attr;
	uint16_t pkey;
	uint8_t gid[DRV_GID_BYTES];

	assert_int_equal(drv_query_port(rig.dev, 1, &attr), 0);
	assert_int_equal(attr.state, IBV_PORT_ACTIVE);
	assert_int_equal(attr.lid, RIG_LID);
	assert_int_equal(drv_query_port(rig.dev, 2, &attr), -EINVAL);
	/* by process_mad */
	assert_int_equal(drv_query_pkey(rig.dev, 1, 0, &pkey), 0);
	assert_int_equal(pkey, PKEY_DEFAULT);
	assert_int_equal(drv_query_gid(rig.dev, 1, 0, gid), 0);
	assert_int_equal(be64_load(gid + 8), RIG_GUID);
	rig.link = RVT_LINK_POLL;
	assert_int_equal(drv_port_down(rig.dev, 1), 0);
	assert_int_equal(rig.link, RVT_LINK_DOWN);
}

static void port_events_are_passed_on(void **state)
{
	rvt_port_event(rig.dev, 1, IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(rig.events, 1);
	assert_int_equal(rig.event.type, IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(rig.event.port, 1);
}

static void a_description_is_passed_on(void **state)
{
	static const char text[64] = "node a";

	assert_int_equal(rvt_describe(rig.dev, text), 0);
	assert_string_equal(rig.description, "node a");
}

/* --- rvt_receive --- */

static void a_packet_executes_and_is_answered(void **state)
{
	struct drv_qp *qp = rig_qp(IBV_QPT_RC);
	struct drv_wc wc;

	rig_post_recv(qp, 0x1000, 64);
	memcpy(rig.memory + 0x4000, "0123456789", 10);
	rig_give(qp, (struct rvt_headers){.opcode = BTH_RC_SEND_ONLY, .ack_req = true},
		 rig.memory + 0x4000, 10);
	assert_memory_equal(rig.memory + 0x1000, "0123456789", 10);
	assert_int_equal(drv_cq_poll(rig.cq, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.byte_len, 10);
	rig_run();
	assert_int_equal(rig.n_sent, 1);
	assert_int_equal(bth_get_opcode(rig_bth(0)), BTH_RC_ACKNOWLEDGE);
}

static void strangers_are_dropped(void **state)
{
	uint8_t bytes[LRH_BYTES + BTH_BYTES] = {0};
	struct drv_qp *qp = rig_qp(IBV_QPT_RC);

	rvt_receive(rig.dev, 1, bytes, 4, NULL, 0);             /* too short */
	rvt_receive(rig.dev, 1, bytes, sizeof(bytes), NULL, 0); /* QP0, which nobody has */
	lrh_set_lnh((struct lrh *)bytes, LNH_IBA_GLOBAL);
	rvt_receive(rig.dev, 1, bytes, sizeof(bytes), NULL, 0); /* no room for its GRH */
	rig_give(qp, (struct rvt_headers){.opcode = BTH_UC_SEND_ONLY}, NULL, 4);
	rig_give(qp, (struct rvt_headers){.opcode = 0x1f}, NULL, 4);
	rig_run();
	assert_int_equal(drv_qp_state(qp) == IBV_QPS_RTS || rig.n_sent, true);
}

/* --- timers --- */

static void the_timeout_is_exact(void **state)
{
	struct drv_qp *qp = rig_qp(IBV_QPT_RC); /* timeout code 14 */
	const uint64_t timeout = ack_timeout_ps(14);

	rig_post(qp, IBV_WR_SEND, 4);
	rig_run();
	assert_int_equal(rvt_timer_step(rvt_of(rig.dev)), timeout);
	rig.now_ps = timeout - 1;
	rig_run();
	assert_int_equal(rig.n_sent, 1);
	rig.now_ps = timeout;
	rig_run();
	assert_int_equal(rig.n_sent, 2);
	assert_int_equal(bth_get_psn(rig_bth(1)), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_start, rig_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_leave_in_order_and_come_back_once),
		TEST(without_buffers_it_waits_to_be_told),
		TEST(the_packet_ends_with_its_pad),
		TEST(the_lid_is_the_drivers),
		TEST(the_mtu_is_the_smaller_one),
		TEST(the_driver_may_choose_numbers),
		TEST(a_reset_flushes),
		TEST(a_packet_that_waits_is_taken_back),
		TEST(the_port_is_the_drivers),
		TEST(port_events_are_passed_on),
		TEST(a_description_is_passed_on),
		TEST(a_packet_executes_and_is_answered),
		TEST(strangers_are_dropped),
		TEST(the_timeout_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
