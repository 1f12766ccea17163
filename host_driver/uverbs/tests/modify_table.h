/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes that ibv_modify_qp must and may be given, by type and transition, as test data:
 * IBA vol. 1 release 1.3, 11.2.5.2 and tables 91 to 94 (modifiable attributes by transition), and
 * what Linux' qp_state_table (drivers/infiniband/core/verbs.c) adds for XRC. Pairs of states that
 * are not listed are no transition. Transitions to RESET and to ERR take no attribute.
 *
 * One letter for each attribute, in the order of the attributes' bits: S state, c present state, n SQD
 * event, a access, p P_Key, o port, q Q_Key, v address, m MTU, t timeout, y retries, r RNR retries,
 * R RQ PSN, x reads out, A alternate path, f RNR timer, s SQ PSN, z reads in, g migration state, C
 * capacities, D destination QPN.
 */
#ifndef HOST_DRIVER_UVERBS_TESTS_MODIFY_TABLE_H
#define HOST_DRIVER_UVERBS_TESTS_MODIFY_TABLE_H

#include "model/interface/macros.h"

#include <infiniband/verbs.h>

#include <stdbool.h>

enum { ATTRS = 21, TYPES = 5 };
#define STATES (IBV_QPS_ERR + 1)

static const char attr_letters[ATTRS + 1] = "ScnapoqvmtyrRxAfszgCD";
static const enum ibv_qp_type types[TYPES] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
					      IBV_QPT_XRC_RECV};

struct transition {
	enum ibv_qp_state from, to;
	struct {
		const char *required, *optional;
	} of[TYPES]; /* in the order of `types` */
};

/* clang-format off */
static const struct transition transitions[] = {
	/*                                RC                     UC                UD            XRC initiator          XRC target */
	{IBV_QPS_RESET, IBV_QPS_INIT, {{"apo", ""},             {"apo", ""},      {"poq", ""},  {"apo", ""},           {"apo", ""}}},
	{IBV_QPS_INIT,  IBV_QPS_INIT, {{"", "apo"},             {"", "apo"},      {"", "poq"},  {"", "apo"},           {"", "apo"}}},
	{IBV_QPS_INIT,  IBV_QPS_RTR,  {{"vmRfzD", "apA"},       {"vmRD", "apA"},  {"", "pq"},   {"vmRD", "apA"},       {"vmRfzD", "apA"}}},
	{IBV_QPS_RTR,   IBV_QPS_RTS,  {{"tyrxs", "caAfg"},      {"s", "caAg"},    {"s", "cq"},  {"tyrxs", "caAg"},     {"ts", "caAfg"}}},
	{IBV_QPS_RTS,   IBV_QPS_RTS,  {{"", "caAfg"},           {"", "caAg"},     {"", "cq"},   {"", "caAg"},          {"", "caAfg"}}},
	{IBV_QPS_RTS,   IBV_QPS_SQD,  {{"", "n"},               {"", "n"},        {"", "n"},    {"", "n"},             {"", "n"}}},
	{IBV_QPS_SQD,   IBV_QPS_RTS,  {{"", "caAfg"},           {"", "caAg"},     {"", "cq"},   {"", "caAg"},          {"", "caAfg"}}},
	{IBV_QPS_SQD,   IBV_QPS_SQD,  {{"", "apovtyrxAfzg"},    {"", "apvAg"},    {"", "pq"},   {"", "apovtyrxAg"},    {"", "apovtAfzg"}}},
	{IBV_QPS_SQE,   IBV_QPS_RTS,  {{"", ""},                {"", "ca"},       {"", "cq"},   {"", ""},              {"", ""}}},
};
/* clang-format on */

/* The states that each state may go to: R reset, I INIT, r RTR, S RTS, D SQD, Q SQE, E error. */
static const char state_letters[STATES + 1] = "RIrSDQE";
static const char *const reachable[STATES] = {"RI", "RIrE", "RSE", "RSDE", "RSDE", "RSE", "RE"};

static inline unsigned attr_bits(const char *letters)
{
	unsigned mask = 0;

	for (; *letters; letters++)
		mask |= 1u << (strchr(attr_letters, *letters) - attr_letters);
	return mask;
}

/* False: there is no such transition. */
static inline bool expected_masks(unsigned type, enum ibv_qp_state from, enum ibv_qp_state to,
				  unsigned *required, unsigned *optional)
{
	*required = *optional = 0;
	if (!strchr(reachable[from], state_letters[to]))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++) {
		const struct transition *t = &transitions[i];

		if (t->from == from && t->to == to) {
			*required = attr_bits(t->of[type].required);
			*optional = attr_bits(t->of[type].optional);
		}
	}
	return true;
}

#endif
