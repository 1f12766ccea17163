/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs of a scenario: driver calls, events, faults, statements. */
#include "host_driver/uverbs/include/infiniband/verbs.h"
#include "model/sim/cfg.h"
#include "testbench/dsan/checker.h"
#include "testbench/language/tb.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_CHARS = 256, EXPECT_LIMIT_S = 10 };

bool tb_must(struct tb *tb, const char *here, const char *call, int rc, int result)
{
	char expected[TEXT_CHARS], got[64];

	if (!tb_go(tb, here))
		return false;
	if (rc == result)
		return true;
	snprintf(expected, sizeof(expected), "%s gives %d", call, result);
	snprintf(got, sizeof(got), "%d (%s)", rc, rc < 0 ? strerror(-rc) : "no error");
	tb->timed_out = rc == -ETIMEDOUT;
	if (rc < 0 && !tb->failed)
		checkers_tell_refused(call, rc);
	else if (result < 0 && rc >= 0 && !tb->failed)
		checkers_tell_accepted(call, result);
	tb_fail(tb, here, expected, got);
	return false;
}

/* --- events --- */

static bool event_has_come(struct tb *tb, void *arg)
{
	return ((struct tb_events *)arg)->count != 0;
}

void tb_expect_event(struct tb *tb, const char *here, struct tb_end *end, enum ibv_event_type type)
{
	struct tb_events *ev = end->events;
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	struct drv_event came;

	if (!tb_go(tb, here))
		return;
	snprintf(expected, sizeof(expected), "event %d (%s) at %s", type, ibv_event_type_str(type),
		 end->name);
	if (!tb_wait(tb, event_has_come, ev, tb_now(tb) + CFG_S(EXPECT_LIMIT_S))) {
		tb_fail(tb, here, expected, "no event in time");
		return;
	}
	tb_event_take(ev, &came);
	if (came.type != type) {
		snprintf(got, sizeof(got), "event %d (%s)", came.type,
			 ibv_event_type_str(came.type));
		tb_fail(tb, here, expected, got);
	}
}

void tb_ignore_events(struct tb *tb, struct tb_end *end)
{
	end->events->ignore = true;
	end->events->count = 0;
}

void tb_check_events(struct tb *tb, struct tb_end *end)
{
	end->events->ignore = false;
}

/* --- faults --- */

void tb_fault(struct tb *tb, const char *here, enum fault_action action,
	      enum tb_direction direction, enum bth_opcode opcode, const struct tb_fault *fault)
{
	struct fault_rule rule = {
		.name = here,
		.match = FAULT_MATCH_HCA | (fault->any_opcode ? 0 : FAULT_MATCH_OPCODE) |
			 (fault->psn != TB_ANY ? FAULT_MATCH_PSN : 0) |
			 (fault->qpn != TB_ANY ? FAULT_MATCH_QPN : 0) |
			 (fault->transmission != TB_ANY ? FAULT_MATCH_TRANSMISSION : 0) |
			 (fault->nth ? FAULT_MATCH_NTH : 0),
		.hca = tb->ends[direction == a_to_b ? 0 : 1].host_index,
		.opcode = (uint8_t)opcode,
		.psn = (uint32_t)fault->psn,
		.qpn = (uint32_t)fault->qpn,
		.transmission = (uint32_t)fault->transmission,
		.nth = fault->nth,
		.limit = fault->times,
		.action = action,
		.offset = fault->offset,
		.mask = fault->mask,
		.fix = fault->fix,
		.copies = fault->copies,
		.gap_ps = action == FAULT_DUPLICATE ? fault->by_ps : 0,
		.delay_ps = action == FAULT_DELAY ? fault->by_ps : 0,
		.behind = fault->behind,
	};
	int rc;

	if (!tb_go(tb, here))
		return;
	rc = fault_plan_add(&tb->machine->plan, &rule);
	if (rc < 0)
		tb_failf(tb, here, "a fault that can do something (fault_plan_add gives %d)", rc);
}

void tb_plug_cable(struct tb *tb, const char *here, unsigned port, bool plugged)
{
	if (!tb_go(tb, here))
		return;
	if (port < 1 || port > tb->config->hca[0].hca_ports ||
	    port > tb->config->hca[1].hca_ports) {
		tb_failf(tb, here, "a cable between the ports %u of the hosts", port);
		return;
	}
	hca_link_set(host_hca(tb->machine->hosts[0]), port, plugged);
}

/* --- statements --- */

void tb_expect_true(struct tb *tb, const char *here, bool condition, const char *text)
{
	char got[TEXT_CHARS];

	snprintf(got, sizeof(got), "it is not so%s", tb->counters);
	if (tb_go(tb, here) && !condition)
		tb_fail(tb, here, text, got);
}

void tb_expect_that(struct tb *tb, const char *here, bool right, const char *text, int64_t x,
		    int64_t y)
{
	char got[96];

	if (!tb_go(tb, here) || right)
		return;
	snprintf(got, sizeof(got), "%" PRId64 " (0x%" PRIx64 ") and %" PRId64 " (0x%" PRIx64 ")", x,
		 x, y, y);
	tb_fail(tb, here, text, got);
}

void tb_expect_equal(struct tb *tb, const char *here, const char *what, uint64_t value,
		     uint64_t want)
{
	char expected[TEXT_CHARS], got[64];

	if (!tb_go(tb, here) || value == want)
		return;
	snprintf(expected, sizeof(expected), "%s is %" PRIu64 " (0x%" PRIx64 ")", what, want, want);
	snprintf(got, sizeof(got), "%" PRIu64 " (0x%" PRIx64 ")", value, value);
	tb_fail(tb, here, expected, got);
}

struct tb_window tb_ack_timeout(const struct tb_end *end)
{
	const struct hca_params *p = &end->tb->config->hca[end->host_index];
	const unsigned code = end->tb->setup.timeout;
	const uint64_t ps =
		ack_timeout_ps(code < p->retry_min_code ? (unsigned)p->retry_min_code : code) *
		p->retry_ack_timeout_multiplier;

	if (!code)
		tb_failf(end->tb, end->tb->here, "an ACK timeout; that of the setup is 0, never");
	return WINDOW(ps, ps + CFG_US(5));
}

struct tb_window tb_rnr_delay(const struct tb_end *end)
{
	const struct hca_params *p = &end->tb->config->hca[end->peer->host_index];
	uint64_t ps = p->retry_rnr_power ? rnr_timer_power_ps(end->tb->setup.min_rnr_timer,
							      (unsigned)p->retry_rnr_power)
					 : rnr_timer_ps(end->tb->setup.min_rnr_timer);

	ps = ps < p->retry_rnr_floor ? p->retry_rnr_floor : ps;
	return WINDOW(ps, ps + CFG_US(10));
}
