/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts for codes: each code has its own text, and what is no code has the one for that. Programs print
 * them when something fails, so no traffic depends on them.
 */
/* behaviours: IBA-11.2.1.2-query-hca */
#include "model/interface/cm.h"
#include "model/interface/macros.h"
#include "testbench/connect.h"

enum { NO_CODE = 999 };

static void differ(struct tb *tb, const char *const *texts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			expect_true(texts[i] && texts[k] && strcmp(texts[i], texts[k]));
}

static void reasons(struct tb *tb)
{
#define ROW(prefix, name, code, meaning) {code, meaning},
	static const struct {
		unsigned code;
		const char *text;
	} rows[] = {CM_REASONS(ROW)};
	static const unsigned none[] = {0, 36, 100, NO_CODE};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_true(!strcmp(ib_cm_reject_msg((enum ib_cm_rej_reason)rows[i].code),
				    rows[i].text));
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		expect_true(!strcmp(ib_cm_reject_msg((enum ib_cm_rej_reason)none[i]),
				    "unrecognized reason"));
}

static void events(struct tb *tb)
{
	const char *texts[RDMA_CM_EVENT_TIMEWAIT_EXIT + 1];

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++)
		texts[i] = rdma_event_str((enum rdma_cm_event_type)i);
	differ(tb, texts, ARRAY_SIZE(texts));
	expect_true(!strcmp(texts[RDMA_CM_EVENT_ESTABLISHED], "RDMA_CM_EVENT_ESTABLISHED"));
	expect_true(!strcmp(rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT + 1), "UNKNOWN EVENT"));
}

static void async_events(struct tb *tb)
{
	const char *texts[IB_EVENT_GID_CHANGE + 1];

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		texts[i] = ib_event_msg((enum ib_event_type)i);
		expect_true(!strcmp(texts[i], ibv_event_type_str((enum ibv_event_type)i)));
	}
	differ(tb, texts, ARRAY_SIZE(texts));
	expect_true(!strcmp(texts[IB_EVENT_CQ_ERR], "CQ error"));
	expect_true(!strcmp(texts[IB_EVENT_PATH_MIG_ERR], "path migration failed"));
	expect_true(!strcmp(ib_event_msg(IB_EVENT_GID_CHANGE + 1), "unrecognized event"));
}

static void statuses(struct tb *tb)
{
	/* Linux has another text than rdma-core for the others */
	static const unsigned same[] = {
		IB_WC_SUCCESS,        IB_WC_LOC_LEN_ERR,      IB_WC_LOC_QP_OP_ERR,
		IB_WC_LOC_PROT_ERR,   IB_WC_MW_BIND_ERR,      IB_WC_BAD_RESP_ERR,
		IB_WC_LOC_ACCESS_ERR, IB_WC_REM_INV_REQ_ERR,  IB_WC_REM_ACCESS_ERR,
		IB_WC_REM_OP_ERR,     IB_WC_RETRY_EXC_ERR,    IB_WC_RNR_RETRY_EXC_ERR,
		IB_WC_FATAL_ERR,      IB_WC_RESP_TIMEOUT_ERR, IB_WC_GENERAL_ERR};
	/* Source: rdma-core ibv_wc_status_str */
	static const struct {
		enum ibv_wc_status status;
		const char *text;
	} own[] = {
		{IBV_WC_LOC_EEC_OP_ERR, "local EE context operation error"},
		{IBV_WC_WR_FLUSH_ERR, "Work Request Flushed Error"},
		{IBV_WC_LOC_RDD_VIOL_ERR, "local RDD violation error"},
		{IBV_WC_REM_INV_RD_REQ_ERR, "remote invalid RD request"},
		{IBV_WC_REM_ABORT_ERR, "aborted error"},
		{IBV_WC_INV_EECN_ERR, "invalid EE context number"},
		{IBV_WC_INV_EEC_STATE_ERR, "invalid EE context state"},
	};
	const char *kernel[IB_WC_GENERAL_ERR + 1], *user[IBV_WC_GENERAL_ERR + 1];

	for (unsigned i = 0; i < ARRAY_SIZE(kernel); i++)
		kernel[i] = ib_wc_status_msg((enum ib_wc_status)i);
	for (unsigned i = 0; i < ARRAY_SIZE(user); i++)
		user[i] = ibv_wc_status_str((enum ibv_wc_status)i);
	differ(tb, kernel, ARRAY_SIZE(kernel));
	differ(tb, user, ARRAY_SIZE(user));
	expect_true(!strcmp(kernel[IB_WC_SUCCESS], "success"));
	for (unsigned i = 0; i < ARRAY_SIZE(same); i++)
		expect_true(!strcmp(kernel[same[i]], user[same[i]]));
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		expect_true(!strcmp(user[own[i].status], own[i].text));
	expect_true(!strcmp(ibv_wc_status_str((enum ibv_wc_status)NO_CODE), "unknown"));
	expect_true(!strcmp(ib_wc_status_msg((enum ib_wc_status)NO_CODE), "unrecognized status"));
	expect_true(!strcmp(ib_wc_status_msg(IB_WC_GENERAL_ERR + 1), "unrecognized status"));
}

/* Source: rdma-core ibv_port_state_str */
static void port_states(struct tb *tb)
{
	static const char *const texts[] = {
		[IBV_PORT_NOP] = "no state change (NOP)",
		[IBV_PORT_DOWN] = "down",
		[IBV_PORT_INIT] = "init",
		[IBV_PORT_ARMED] = "armed",
		[IBV_PORT_ACTIVE] = "active",
		[IBV_PORT_ACTIVE_DEFER] = "active defer",
		[IBV_PORT_ACTIVE_DEFER + 1] = "unknown",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++)
		expect_true(!strcmp(ibv_port_state_str((enum ibv_port_state)i), texts[i]));
}

SCENARIO(code_names, "each code has its own text", .no_qps = true)
{
	reasons(tb);
	events(tb);
	statuses(tb);
	async_events(tb);
	port_states(tb);
}
