/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of transitions, compared with table 91 of IBA vol. 1 (11.2.5.2), which is written
 * here a second time by type. Without one required attribute a transition is refused, and with one
 * attribute that is neither required nor optional, too. Pairs of states that are no transition are
 * refused.
 */
#include "host_driver/core/include/rdma/ib_verbs.h"
#include "model/interface/macros.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { STATES = IB_QPS_ERR + 1, ATTRS = 21 };

/* The letters of attributes: S state, c cur_state, n sqd notify, a access, p pkey, o port, q qkey,
 * v AV, m MTU, t timeout, y retry, r rnr retry, R rq psn, x rd atomic, A alt path, f rnr timer, s sq
 * psn, z dest rd atomic, g migration, C cap, D dest qpn. */
static unsigned bits(const char *text)
{
	static const char names[ATTRS + 1] = "ScnapoqvmtyrRxAfszgCD";
	unsigned mask = 0;

	for (; *text; text++)
		for (unsigned i = 0; i < ATTRS; i++)
			if (names[i] == *text)
				mask |= 1u << i;
	return mask;
}

struct expected {
	enum ib_qp_type type;
	enum ib_qp_state from, to;
	const char *required, *optional;
};

static const struct expected table[] = {
	{IB_QPT_RC, IB_QPS_RESET, IB_QPS_INIT, "poa", ""},
	{IB_QPT_RC, IB_QPS_INIT, IB_QPS_INIT, "", "poa"},
	{IB_QPT_RC, IB_QPS_INIT, IB_QPS_RTR, "vmDRzf", "Aap"},
	{IB_QPT_RC, IB_QPS_RTR, IB_QPS_RTS, "styrx", "cAafg"},
	{IB_QPT_RC, IB_QPS_RTS, IB_QPS_RTS, "", "cAafg"},
	{IB_QPT_RC, IB_QPS_RTS, IB_QPS_SQD, "", "n"},
	{IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS, "", "cAafg"},
	{IB_QPT_RC, IB_QPS_SQD, IB_QPS_SQD, "", "ovtyrxzAapfg"},
	{IB_QPT_UC, IB_QPS_RESET, IB_QPS_INIT, "poa", ""},
	{IB_QPT_UC, IB_QPS_INIT, IB_QPS_RTR, "vmDR", "Aap"},
	{IB_QPT_UC, IB_QPS_RTR, IB_QPS_RTS, "s", "cAag"},
	{IB_QPT_UC, IB_QPS_SQD, IB_QPS_SQD, "", "vAapg"},
	{IB_QPT_UC, IB_QPS_SQE, IB_QPS_RTS, "", "ca"},
	{IB_QPT_UD, IB_QPS_RESET, IB_QPS_INIT, "poq", ""},
	{IB_QPT_UD, IB_QPS_INIT, IB_QPS_RTR, "", "pq"},
	{IB_QPT_UD, IB_QPS_RTR, IB_QPS_RTS, "s", "cq"},
	{IB_QPT_UD, IB_QPS_RTS, IB_QPS_RTS, "", "cq"},
	{IB_QPT_UD, IB_QPS_SQD, IB_QPS_SQD, "", "pq"},
	{IB_QPT_UD, IB_QPS_SQE, IB_QPS_RTS, "", "cq"},
	{IB_QPT_XRC_INI, IB_QPS_INIT, IB_QPS_RTR, "vmDR", "Aap"},
	{IB_QPT_XRC_INI, IB_QPS_RTR, IB_QPS_RTS, "styrx", "cAag"},
	{IB_QPT_XRC_TGT, IB_QPS_INIT, IB_QPS_RTR, "vmDRzf", "Aap"},
	{IB_QPT_XRC_TGT, IB_QPS_RTR, IB_QPS_RTS, "st", "cAafg"},
	{IB_QPT_GSI, IB_QPS_RESET, IB_QPS_INIT, "pq", ""},
	{IB_QPT_GSI, IB_QPS_RTR, IB_QPS_RTS, "s", "cq"},
};

static bool ok(const struct expected *e, unsigned mask)
{
	return ib_modify_qp_is_ok(e->from, e->to, e->type, mask | IB_QP_STATE);
}

static void attributes_of_transitions(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct expected *e = &table[i];
		const unsigned required = bits(e->required), optional = bits(e->optional);

		if (!ok(e, required) || !ok(e, required | optional))
			fail_msg("row %zu: the right attributes are refused", i);
		for (unsigned bit = 1; bit < 1u << ATTRS; bit <<= 1) {
			if (bit == IB_QP_STATE)
				continue;
			if (required & bit && ok(e, required & ~bit))
				fail_msg("row %zu: goes without %x", i, bit);
			if (!((required | optional) & bit) && ok(e, required | bit))
				fail_msg("row %zu: takes %x", i, bit);
		}
	}
}

/* The states that each state may go to: R reset, I init, r RTR, S RTS, D SQD, Q SQE, E error. */
static void pairs_of_states(void **state)
{
	static const char *const to[STATES] = {"RI", "RIrE", "RSE", "RSDE", "RSDE", "RSE", "RE"};
	static const char names[STATES + 1] = "RIrSDQE";
	/* all attributes that an RC transition requires, so that only the pair of states decides */
	static const char *const needs[STATES][STATES] = {
		[IB_QPS_RESET][IB_QPS_INIT] = "poa",
		[IB_QPS_INIT][IB_QPS_RTR] = "vmDRzf",
		[IB_QPS_RTR][IB_QPS_RTS] = "styrx",
	};

	for (unsigned f = 0; f < STATES; f++)
		for (unsigned t = 0; t < STATES; t++) {
			const char *need = needs[f][t];
			bool want = false;

			for (const char *p = to[f]; *p; p++)
				want |= *p == names[t];
			if (ib_modify_qp_is_ok((enum ib_qp_state)f, (enum ib_qp_state)t, IB_QPT_RC,
					       IB_QP_STATE | (need ? bits(need) : 0)) != want)
				fail_msg("%c to %c: %s", names[f], names[t],
					 want ? "refused" : "taken");
		}
}

static void the_callers_state_counts_where_the_device_may_have_left_it(void **state)
{
	assert_false(ib_modify_qp_is_ok(IB_QPS_INIT, IB_QPS_ERR, IB_QPT_RC,
					IB_QP_STATE | IB_QP_CUR_STATE));
	assert_true(ib_modify_qp_is_ok(IB_QPS_SQE, IB_QPS_RTS, IB_QPT_UD,
				       IB_QP_STATE | IB_QP_CUR_STATE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_of_transitions),
		cmocka_unit_test(pairs_of_states),
		cmocka_unit_test(the_callers_state_counts_where_the_device_may_have_left_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
