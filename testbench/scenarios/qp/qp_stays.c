/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair of each service goes through all states, and is changed in each one that it can stay in:
 * the change is there afterwards, the state is the same, and the next step is taken as if nothing had been.
 * A step without any attribute is taken, too. Source: IBA table 91, and Linux qp_state_table
 */
/* behaviours: IBA-10.3.1-stays */
#include "testbench/services.h"

enum { QKEY = 0x33333333, PEER_QPN = 5, DRAINED_US = 20 };

static const struct {
	const char *name;
	enum ibv_qp_type type;
} services[] = {{"RC", IBV_QPT_RC},
		{"UC", IBV_QPT_UC},
		{"UD", IBV_QPT_UD},
		{"an XRC initiator", IBV_QPT_XRC_SEND},
		{"an XRC target", IBV_QPT_XRC_RECV}};

static bool is_datagram(const struct drv_qp *qp)
{
	return drv_qp_type(qp) == IBV_QPT_UD;
}

/* Once without a change, and once with another P_Key, Q_Key or right; each time it is another one. */
static void stays(struct tb *tb, struct drv_qp *qp, unsigned pkey_index, unsigned access)
{
	const enum ibv_qp_state state = drv_qp_state(qp);
	struct drv_qp_attr attr = {.qp_state = state,
				   .pkey_index = pkey_index,
				   .qkey = QKEY + state,
				   .qp_access_flags = access},
			   now;
	unsigned mask = is_datagram(qp) ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;

	if (state != IBV_QPS_RTS)
		mask |= IBV_QP_PKEY_INDEX;
	must(drv_qp_modify(qp, &attr, IBV_QP_STATE));
	must(drv_qp_modify(qp, &attr, IBV_QP_STATE | mask));
	must(drv_qp_query(qp, &now));
	expect_equal(now.qp_state, state);
	if (mask & IBV_QP_PKEY_INDEX)
		expect_equal(now.pkey_index, pkey_index);
	if (mask & IBV_QP_QKEY)
		expect_equal(now.qkey, QKEY + state);
	if (mask & IBV_QP_ACCESS_FLAGS)
		expect_equal(now.qp_access_flags, access);
}

static void to_init(struct tb *tb, struct drv_qp *qp, const struct drv_rc_path *path)
{
	const struct drv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .pkey_index = 1};

	if (is_datagram(qp))
		must(drv_qp_modify(qp, &attr,
				   IBV_QP_STATE | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_PKEY_INDEX));
	else
		must(drv_qp_to_init(qp, path));
}

static void to_rts(struct tb *tb, struct drv_qp *qp, const struct drv_rc_path *path)
{
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	if (!is_datagram(qp)) {
		must(drv_qp_to_rtr(qp, path));
		must(drv_qp_to_rts(qp, path));
		return;
	}
	must(drv_qp_modify(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	must(drv_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

SCENARIO(qp_stays, "a queue pair of each service is changed in each state that it can stay in",
	 .of_mlx4 = "XRC")
{
	struct drv_rc_path path = path_to(b, PEER_QPN);
	struct drv_xrcd *xrcd = new_xrcd(a);

	for_each_row(i, services) {
		struct drv_qp *qp = new_qp(a, .type = services[i].type, .xrcd = xrcd);

		name_row("%s", services[i].name);
		if (!still_right())
			return;
		to_init(tb, qp, &path);
		stays(tb, qp, 3, 0);
		to_rts(tb, qp, &path);
		stays(tb, qp, 0, IBV_ACCESS_REMOTE_WRITE);
		move_qp(qp, IBV_QPS_SQD);
		pass_time(CFG_US(DRAINED_US));
		stays(tb, qp, 2, 0);
		move_qp(qp, IBV_QPS_RTS);
		stays(tb, qp, 0, IBV_ACCESS_REMOTE_WRITE);
		move_qp(qp, IBV_QPS_ERR);
		destroy_qp(qp);
	}
	destroy_xrcd(xrcd);
}
