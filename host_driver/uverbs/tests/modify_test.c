// SPDX-License-Identifier: Apache-2.0
/*
 * ibv_modify_qp, compared with modify_table.h. First only the kernel's check: all types, all pairs
 * of states, the required attributes and the required and optional attributes, each with up to
 * three bits inverted. Then real queue pairs: each is brought to each state, every attribute is
 * left out or added in turn, and each valid transition is made.
 */
#include "host_driver/uverbs/tests/modify_table.h"
#include "host_driver/uverbs/tests/unwind_rig.h"
#include "model/interface/macros.h"
#include "traces/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static unsigned kernel_checks, calls, steps;

static void wrong(const char *what, unsigned type, enum ibv_qp_state from, enum ibv_qp_state to,
		  unsigned mask)
{
	if (rig.wrongs < CASES_MAX)
		snprintf(rig.wrong[rig.wrongs], TEXT, "%s: type %d, %c to %c, mask %06x", what,
			 types[type], state_letters[from], state_letters[to], mask);
	rig.wrongs++;
}

/* --- the kernel's check --- */

static void check_one(unsigned type, enum ibv_qp_state from, enum ibv_qp_state to, unsigned mask)
{
	unsigned required, optional;
	const bool known = expected_masks(type, from, to, &required, &optional);
	const bool right = known && (mask & required) == required &&
			   !(mask & ~(required | optional | IBV_QP_STATE));

	kernel_checks++;
	if (ib_modify_qp_is_ok((enum ib_qp_state)from, (enum ib_qp_state)to,
			       (enum ib_qp_type)types[type], mask) != right)
		wrong(right ? "refused" : "taken", type, from, to, mask);
}

static void check_around(unsigned type, enum ibv_qp_state from, enum ibv_qp_state to, unsigned mask)
{
	check_one(type, from, to, mask);
	for (unsigned i = 0; i < ATTRS; i++) {
		check_one(type, from, to, mask ^ 1u << i);
		for (unsigned j = 0; j < i; j++) {
			check_one(type, from, to, mask ^ 1u << i ^ 1u << j);
			for (unsigned k = 0; k < j; k++)
				check_one(type, from, to, mask ^ 1u << i ^ 1u << j ^ 1u << k);
		}
	}
}

/* --- real queue pairs --- */

static const struct ibv_qp_attr good = {.path_mtu = IBV_MTU_1024,
					.path_mig_state = IBV_MIG_MIGRATED,
					.qkey = 1,
					.dest_qp_num = 0x300,
					.ah_attr = {.dlid = 1, .port_num = 1},
					.alt_ah_attr = {.dlid = 1, .port_num = 1},
					.max_dest_rd_atomic = 1,
					.max_rd_atomic = 1,
					.min_rnr_timer = 12,
					.port_num = 1,
					.timeout = 14,
					.retry_cnt = 7,
					.rnr_retry = 7,
					.alt_port_num = 1,
					.alt_timeout = 14};

static int go(enum ibv_qp_state to, unsigned mask)
{
	struct ibv_qp_attr a = good;

	a.qp_state = to;
	a.cur_qp_state = rig.qp->state;
	calls++;
	return ibv_modify_qp(rig.qp, &a, (int)(mask | IBV_QP_STATE));
}

static struct ibv_qp *make(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = rig.cq,
		.recv_cq = rig.cq,
		.cap = {.max_send_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type,
		.comp_mask = type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD,
		.pd = rig.pd,
		.xrcd = rig.xrcd};

	return ibv_create_qp_ex(rig.context, &init);
}

/* Brings the queue pair to a state, beginning with RESET. Only the device can bring it to SQE. */
static bool bring_to(unsigned type, enum ibv_qp_state state)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
						IBV_QPS_SQD};
	unsigned required, optional;

	if (go(IBV_QPS_RESET, 0))
		return false;
	if (state == IBV_QPS_ERR)
		return bring_to(type, IBV_QPS_INIT) && !go(IBV_QPS_ERR, 0);
	for (size_t i = 0; i < ARRAY_SIZE(way) && rig.qp->state != state; i++) {
		expected_masks(type, rig.qp->state, way[i], &required, &optional);
		if (go(way[i], required))
			return false;
	}
	return rig.qp->state == state;
}

/* Attributes that an XRC queue pair accepts and ignores: the manual page of ibv_modify_qp lists
 * them. */
static unsigned ignored(unsigned type)
{
	switch (types[type]) {
	case IBV_QPT_XRC_SEND:
		return attr_bits("zf");
	case IBV_QPT_XRC_RECV:
		return attr_bits("xyr");
	default:
		return 0;
	}
}

static void try_transition(unsigned type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	unsigned required, optional;
	const bool known = expected_masks(type, from, to, &required, &optional);

	for (unsigned bit = 2; bit < 1u << ATTRS; bit <<= 1) {
		if (known && bit & (optional | ignored(type)))
			continue;
		if (go(to, required ^ bit) != EINVAL || rig.qp->state != from)
			wrong("not refused", type, from, to, required ^ bit);
	}
	if (!known) {
		if (go(to, 0) != EINVAL)
			wrong("is none", type, from, to, 0);
		return;
	}
	for (unsigned bit = 2; bit < 1u << ATTRS; bit <<= 1)
		if (bit & optional && from == to && go(to, required | bit))
			wrong("is optional", type, from, to, required | bit);
	if (go(to, required) || rig.qp->state != to)
		wrong("not gone", type, from, to, required);
	steps++;
	if (!bring_to(type, from))
		wrong("not brought back", type, from, to, 0);
}

static void run(void)
{
	for (unsigned type = 0; type < TYPES; type++)
		for (enum ibv_qp_state from = 0; from < STATES; from++)
			for (enum ibv_qp_state to = 0; to < STATES; to++) {
				unsigned required, optional;

				expected_masks(type, from, to, &required, &optional);
				check_around(type, from, to, required);
				check_around(type, from, to, required | optional | IBV_QP_STATE);
			}
	for (unsigned type = 0; type < TYPES; type++) {
		rig.qp = make(types[type]);
		for (enum ibv_qp_state from = 0; rig.qp && from < STATES; from++) {
			if (from == IBV_QPS_SQE)
				continue;
			if (!bring_to(type, from)) {
				wrong("not reached", type, from, from, 0);
				continue;
			}
			for (enum ibv_qp_state to = 0; to < STATES; to++)
				try_transition(type, from, to);
		}
		if (!rig.qp || ibv_destroy_qp(rig.qp))
			wrong("no queue pair", type, 0, 0, 0);
	}
}

static void attributes_are_checked_as_the_tables_say(void **state)
{
	assert_true(rig.set_up);
	for (unsigned i = 0; i < rig.wrongs && i < CASES_MAX; i++)
		print_error("%s\n", rig.wrong[i]);
	assert_int_equal(rig.wrongs, 0);
	print_message("%u masks; %u calls, %u transitions of real queue pairs\n", kernel_checks,
		      calls, steps);
	/* 5 types, 49 pairs, and twice 1 + 21 + 210 + 1330 masks */
	assert_int_equal(kernel_checks, 5 * 49 * 2 * 1562);
	/* 22 transitions for each type, without the three from SQE */
	assert_int_equal(steps, 5 * 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_are_checked_as_the_tables_say),
		cmocka_unit_test(nothing_is_left),
	};

	return rig_main(run, tests, ARRAY_SIZE(tests));
}
