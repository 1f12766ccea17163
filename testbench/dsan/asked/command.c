// SPDX-License-Identifier: Apache-2.0
/* Commands and their answers: what the driver makes of an answer, against what the device said; and
 * the state of a queue pair, against what the driver takes for it. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/device/dead.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/asked/wanted.h"

#include "model/engine/base/engine.h"
#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/qp_transitions.h"
#include "model/interface/queues.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

enum { HOW_BYTES = 420, PS_PER_US = 1000000, GIVEN_UP = 16, TOKENS = 16 };

/* The event of an answer is on its way for less than this: interrupts and their handlers may be late. */
static const uint64_t on_its_way_ps = UINT64_C(10) * 1000 * PS_PER_US;

/* --- commands that were given up, and are answered later --- */

/* By event, with this token; c NULL: free. */
static struct given_up {
	const struct checker *c;
	uint32_t token;
} given_up[GIVEN_UP];
static unsigned n_given_up; /* ever */

static struct given_up *given_up_find(const struct checker *c, uint32_t token)
{
	for (struct given_up *g = given_up; g < given_up + GIVEN_UP; g++)
		if (g->c == c && g->token == token)
			return g;
	return NULL;
}

static void given_up_add(const struct ask *a)
{
	const uint32_t token = hcr_get_token(&a->command.hcr);

	if (hcr_get_event(&a->command.hcr) && !given_up_find(a->c, token))
		given_up[n_given_up++ % GIVEN_UP] = (struct given_up){a->c, token};
}

static void given_up_remove(const struct checker *c, uint32_t token)
{
	struct given_up *g = given_up_find(c, token);

	if (g)
		*g = (struct given_up){0};
}

void asked_answer_seen(struct checker *c, const struct eqe *e)
{
	const uint32_t token = eqe_cmd_get_token(eqe_as_cmd_const(e));

	asked_answer_end(c);
	if (eqe_get_type(e) != EVENT_CMD || !given_up_find(c, token))
		return;
	c->late_answer.is = true;
	c->late_answer.token = token;
	given_up_remove(c, token);
}

void asked_answer_end(struct checker *c)
{
	c->late_answer.is = false;
}

/* --- tokens --- */

/* Of the latest commands with an event. Late answers to any of them must not be taken for a newer one's. Source:
 * Linux mlx4_cmd_wait, whose contexts count in the bits above their number. */
static struct used_token {
	const struct checker *c;
	uint32_t token;
} used_tokens[TOKENS];
static unsigned n_used_tokens; /* ever */

static bool token_used(const struct checker *c, uint32_t token)
{
	for (const struct used_token *u = used_tokens; u < used_tokens + TOKENS; u++)
		if (u->c == c && u->token == token)
			return true;
	return false;
}

/* Tokens are counted anew when the driver goes from polling to events. */
static void tokens_forget(const struct checker *c)
{
	for (struct used_token *u = used_tokens; u < used_tokens + TOKENS; u++)
		if (u->c == c)
			u->c = NULL;
}

/* --- commands --- */

static bool token_under_way(const struct ask *a)
{
	for (const struct ask *other = ask_each(NULL); other; other = ask_each((struct ask *)other))
		if (other != a && other->kind == ASK_INNER && other->c == a->c &&
		    other->command.given && !other->command.done &&
		    hcr_get_event(&other->command.hcr) &&
		    hcr_get_token(&other->command.hcr) == hcr_get_token(&a->command.hcr))
			return true;
	return false;
}

void asked_command_given(struct checker *c, const struct hcr *command)
{
	struct ask *a = ask_taker();

	if (hcr_get_event(command))
		given_up_remove(c, hcr_get_token(command));
	if (!a || a->kind != ASK_INNER || a->c != c)
		return;
	for (struct ask *around = a; around && around->kind == ASK_INNER;
	     around = ask_around(around))
		around->command.inside = true;
	a->command.given = true;
	a->command.done = false;
	a->command.hcr = *command;
	a->command.given_ps = hca_now(c->host.hca);
	chain_take(&a->command.by);
	wanted_given(a);
	if (!hcr_get_event(command)) {
		tokens_forget(c);
		return;
	}
	if (token_under_way(a))
		wanted_same_token(a, "another command is under way with the same token");
	else if (token_used(c, hcr_get_token(command)))
		wanted_same_token(a, "one of the latest commands had the same token");
	used_tokens[n_used_tokens++ % TOKENS] = (struct used_token){c, hcr_get_token(command)};
}

void asked_command_done(struct checker *c, const struct hcr *command,
			const struct hca_command_answer *answer)
{
	for (struct ask *a = ask_each(NULL); a; a = ask_each(a)) {
		if (a->kind != ASK_INNER || a->c != c || !a->command.given || a->command.done ||
		    hcr_get_opcode(&a->command.hcr) != hcr_get_opcode(command) ||
		    hcr_get_token(&a->command.hcr) != hcr_get_token(command))
			continue;
		a->command.done = true;
		a->command.done_ps = hca_now(c->host.hca);
		a->command.answer = *answer;
		return;
	}
}

static struct guest_object command_of(const struct ask *a)
{
	return (struct guest_object){GUEST_COMMAND, hcr_get_opcode(&a->command.hcr)};
}

/* What the driver may have got wrong, when it does not see the end of a command. */
static void how_given(const struct ask *a, char *text, size_t size)
{
	const struct hcr *h = &a->command.hcr;
	char names[CHAIN_BYTES], lack[CHAIN_BYTES] = "";

	if (hcr_get_event(h))
		given_event_lack(a->c, lack, sizeof(lack));
	chain_format(&a->command.by, names, sizeof(names));
	snprintf(text, size, "it was given with event bit %u, token 0x%04x, toggle %u, by %s%s",
		 (unsigned)hcr_get_event(h), (unsigned)hcr_get_token(h),
		 (unsigned)hcr_get_toggle(h), names, lack);
}

static bool closes(const struct ask *a)
{
	const struct hcr_row *row = hcr_row_find(hcr_get_opcode(&a->command.hcr));

	return row && row->flags & HCR_F_CLOSING;
}

/* The time that the driver gives the command was over, or nearly, when the answer came. */
static bool answered_late(const struct ask *a)
{
	const struct wanted *w = &a->command.wants;

	return w->known && w->timeout_ps && hcr_get_event(&a->command.hcr) &&
	       a->command.done_ps + on_its_way_ps >= w->begun_ps + w->timeout_ps;
}

static void result_check(const struct ask *a, int rc)
{
	const struct hcr_status_row *status = hcr_status_find(a->command.answer.status);
	const int right = status ? -status->errno_value : -EIO;
	char how[HOW_BYTES] = "";

	/* a driver may take an object for gone although the device refuses to give it back */
	if (rc == right || (!rc && closes(a)))
		return;
	if (rc == -ETIMEDOUT && answered_late(a))
		return;
	if (rc == -ETIMEDOUT)
		how_given(a, how, sizeof(how));
	ask_report(a, RULE_command_answer, command_of(a),
		   "the device answered %s (%d) %" PRIu64 " us ago, and the driver returns %d%s%s",
		   status ? status->name : "an unknown status", right,
		   (hca_now(a->c->host.hca) - a->command.done_ps) / PS_PER_US, rc, *how ? "; " : "",
		   how);
}

/* The device has a command that it does not answer, so it may still have the command register. */
static bool device_hangs(const struct checker *c)
{
	for (struct ask *a = ask_each(NULL); a; a = ask_each(a))
		if (a->c == c && a->kind == ASK_INNER && a->command.given && !a->command.done)
			return true;
	return false;
}

/* The device has refused to give an object back, so it goes on using the object's memory until it is reset.
 * Source: Linux mlx4_enter_error_state: the reset is first, then users are told */
static void refused_check(const struct ask *a)
{
	const struct dead *d = &a->c->dead;
	char names[HOW_BYTES];

	if (!a->command.answer.status || !closes(a) || !d->told ||
	    d->told_ps < a->command.done_ps || a->c->function.reset_ps < d->told_ps)
		return;
	chain_format(&d->told_by, names, sizeof(names));
	ask_report(a, RULE_device_dead, command_of(a),
		   "the device, which has refused the command, is reset after its death was told: "
		   "by %s",
		   names);
}

/* What the device was to give back it has lost in its reset. */
static bool ended_by_reset(const struct ask *a)
{
	return closes(a) && a->c->function.reset_ps > a->command.wants.begun_ps;
}

int asked_command_end(struct ask *a, int rc, const uint64_t *out)
{
	if (a->c && !a->command.given && rc == -ETIMEDOUT && !device_hangs(a->c) &&
	    !a->c->function.hung)
		ask_report(
			a, RULE_command_answer, (struct guest_object){0},
			"the driver returns %d, and has given no command: it waits for a command "
			"register that is free, see the toggle",
			rc);
	if (!a->c || !a->command.given)
		return rc;
	if (a->command.done) {
		refused_check(a);
		result_check(a, rc);
	} else if (!rc && !ended_by_reset(a)) {
		ask_report(a, RULE_command_answer, command_of(a),
			   "the driver returns 0, and the device has not answered yet");
	} else {
		a->c->function.hung = true;
	}
	if (rc == -ETIMEDOUT) {
		wanted_timed_out(a);
		given_up_add(a);
		dead_timeout_check(a);
	}
	if (a->command.done && !rc && out && *out != a->command.answer.out_param)
		ask_report(a, RULE_command_answer, command_of(a),
			   "the device answered 0x%" PRIx64 ", and the driver returns 0x%" PRIx64,
			   a->command.answer.out_param, *out);
	if (a->command.done && !rc)
		wanted_answered(a);
	if (rc) {
		wanted_failed(a);
		trail_refused(rc);
	}
	if (a->command.done)
		ask_refusal(a, rc);
	return rc;
}

void asked_command_skipped(const struct ask *a)
{
	if (a->c && !a->command.inside)
		ask_report(a, RULE_command_answer,
			   (struct guest_object){GUEST_COMMAND, a->command.wants.op},
			   "the driver returns 0, and has not given the command");
}

static void answered_tell(const struct ask *a)
{
	const uint64_t now = hca_now(a->c->host.hca);
	char how[HOW_BYTES];

	how_given(a, how, sizeof(how));
	ask_report(a, RULE_command_answer, command_of(a),
		   "the device answered %" PRIu64 " us ago, and the driver still waits; %s",
		   (now - a->command.done_ps) / PS_PER_US, how);
}

void checkers_tell_waits(bool in_vain)
{
	for (unsigned host = 0; in_vain && host < 2; host++) {
		struct checker *c = checker_of_host(host);

		if (c && c->own)
			own_tell_waits(c->own);
		if (c)
			dead_tell_waits(c);
	}
	for (struct ask *a = ask_each(NULL); a; a = ask_each(a)) {
		if (!a->c || a->kind != ASK_INNER || !a->command.given)
			continue;
		if (!dead_tell_waiter(a) && a->command.done && in_vain)
			answered_tell(a);
	}
}

/* --- queue pairs --- */

static const uint8_t device_states[] = {
	[IBV_QPS_RESET] = QP_STATE_RST, [IBV_QPS_INIT] = QP_STATE_INIT,
	[IBV_QPS_RTR] = QP_STATE_RTR,   [IBV_QPS_RTS] = QP_STATE_RTS,
	[IBV_QPS_SQD] = QP_STATE_SQD,   [IBV_QPS_SQE] = QP_STATE_SQER,
	[IBV_QPS_ERR] = QP_STATE_ERR,
};

unsigned asked_device_state(enum ibv_qp_state state)
{
	return (unsigned)state < ARRAY_SIZE(device_states) ? device_states[state] : UINT_MAX;
}

const char *asked_state_name(enum ibv_qp_state state)
{
	const char *name = code_name(&code_table_qp_state, asked_device_state(state));

	return name ? name : "no state that there is";
}

/* The device may go on to an error by itself, or still drain. */
static bool may_follow(unsigned is, unsigned asked)
{
	return is == asked || is == QP_STATE_ERR || is == QP_STATE_SQER ||
	       (asked == QP_STATE_SQD && is == QP_STATE_SQD_BUSY);
}

static void device_state_check(const struct ask *a, enum ibv_qp_state asked)
{
	struct hca *hca = a->c->host.hca;
	unsigned is = QP_STATE_RST;
	struct qpc context;

	if (hca_object_valid(hca, HCA_QP, a->number) &&
	    hca_context_read(hca, HCA_QP, a->number, &context, sizeof(context)) > 0)
		is = qpc_get_state(&context);
	if (!may_follow(is, asked_device_state(asked)))
		ask_report(a, RULE_qp_state_differs, (struct guest_object){GUEST_QP, a->number},
			   "the driver says that it is in %s now, and for the device it is in %s",
			   asked_state_name(asked), code_name(&code_table_qp_state, is));
}

/* What must be given, for which services. Source: IBA table 91; Linux qp_state_table */
static const struct needed {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	unsigned mask;
} needed[] = {
	{IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT,
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPT_UC, IBV_QPS_RESET, IBV_QPS_INIT,
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
	{IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER},
	{IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN},
	{IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
	 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		 IBV_QP_MAX_QP_RD_ATOMIC},
	{IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN},
	{IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN},
};

static void needed_check(const struct ask *a, enum ibv_qp_state asked)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const struct needed *n = &needed[i];

		if (n->type == a->made->init.type && !a->made->special &&
		    n->from == a->modify.before && n->to == asked &&
		    (a->modify.mask & n->mask) != n->mask)
			ask_report(a, RULE_qp_transition,
				   (struct guest_object){GUEST_QP, a->number},
				   "attributes 0x%x are needed and were not given, and the driver "
				   "does not refuse",
				   n->mask & ~a->modify.mask);
	}
}

void asked_port_check(const struct ask *a, unsigned port, bool up)
{
	if (a->c && given_port_is_open(a->c, port) != up && !(a->dev && drv_is_dead(a->dev)))
		ask_report(a, RULE_command_sequence, (struct guest_object){GUEST_PORT, port},
			   up ? "QP0 receives, and INIT_PORT was not given for its port"
			      : "QP0 is reset, and CLOSE_PORT was not given for its port");
}

void asked_rights_end(const struct ask *a)
{
	if (a->c && !a->c->given.synced)
		ask_report(a, RULE_context_differs, (struct guest_object){GUEST_MPT, a->number},
			   "its MPT was changed in memory, and SYNC_TPT was not given");
}

void asked_modify_end(struct ask *a, int rc)
{
	const bool moves = a->modify.mask & IBV_QP_STATE;
	const enum ibv_qp_state asked = moves ? a->modify.attr->qp_state : a->modify.before;
	enum ibv_qp_state says;

	if (!a->c || !a->made)
		return;
	checker_settle(a->c);
	says = drv_qp_state(a->made->object);
	if (!rc && moves && a->made->special && !a->made->special_qpn &&
	    (asked == IBV_QPS_RTR || asked == IBV_QPS_RESET))
		asked_port_check(a, a->made->port, asked == IBV_QPS_RTR);
	if (!rc && moves) {
		device_state_check(a, asked);
		needed_check(a, asked);
	}
	if (rc != -EIO && rc != -ETIMEDOUT && says != (rc ? a->modify.before : asked))
		ask_report(a, RULE_qp_state_differs, (struct guest_object){GUEST_QP, a->number},
			   "the call ended with %d, and the driver says that it is in %s", rc,
			   asked_state_name(says));
}
