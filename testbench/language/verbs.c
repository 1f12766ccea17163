// SPDX-License-Identifier: Apache-2.0
/* Verbs of a scenario: requests, completions, events, faults. */
#include "host_driver/uverbs/include/infiniband/verbs.h"
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
	tb_fail(tb, here, expected, got);
	return false;
}

/* --- completions --- */

/* 1 with *wc, 0 none in time, -errno. By polling, or arm, look again, sleep until the interrupt. */
static int next_completion(struct tb *tb, struct tb_end *end, struct drv_wc *wc,
			   uint64_t deadline_ps)
{
	for (;;) {
		int n = drv_cq_poll(end->cq, 1, wc);

		if (n)
			return n;
		if (!tb->setup.interrupts) {
			if (drv_cq_wait(end->cq, deadline_ps))
				return drv_cq_poll(end->cq, 1, wc);
			continue;
		}
		drv_cq_arm(end->cq, false);
		n = drv_cq_poll(end->cq, 1, wc);
		if (n)
			return n;
		if (drv_cq_wait_event(end->cq, deadline_ps))
			return drv_cq_poll(end->cq, 1, wc);
	}
}

static unsigned pair_of(const struct tb_end *end, uint32_t qpn)
{
	for (unsigned i = 0; i < TB_QPS_MAX && end->qp[i]; i++)
		if (drv_qp_num(end->qp[i]) == qpn)
			return i;
	return TB_QPS_MAX;
}

int tb_status_say(char *buf, size_t size, const struct tb_end *end, enum ibv_wc_status status)
{
	if (status == ANY_ERROR || status == ANY_STATUS)
		return snprintf(buf, size, "completion at %s, %s", end->name,
				status == ANY_ERROR ? "any error" : "any status");
	return snprintf(buf, size, "completion at %s, status %d (%s)", end->name, status,
			ibv_wc_status_str(status));
}

bool tb_status_is(enum ibv_wc_status want, enum ibv_wc_status got)
{
	return want == got || want == ANY_STATUS || (want == ANY_ERROR && got != IBV_WC_SUCCESS);
}

/* An error tells only whose it is, and whether of a receive. */
bool tb_opcode_is(int64_t want, const struct drv_wc *wc)
{
	if (want == TB_ANY)
		return true;
	if (wc->status)
		return !(want & IBV_WC_RECV) == wc->is_send;
	return want == (int64_t)wc->opcode;
}

bool tb_imm_is(int64_t want, const struct drv_wc *wc)
{
	return want == TB_ANY || (wc->wc_flags & IBV_WC_WITH_IMM && want == (int64_t)wc->imm_data);
}

static void describe(char *buf, size_t size, const struct tb_end *end, const struct tb_cqe *want)
{
	int n = tb_status_say(buf, size, end, want->status);

#define SAY(member)                                                                                \
	if (want->member != TB_ANY && n > 0 && (size_t)n < size)                                   \
		n += snprintf(buf + n, size - (size_t)n, ", " #member " %" PRId64, want->member);
	SAY(wr_id)
	SAY(opcode)
	SAY(byte_len)
	SAY(imm)
	SAY(qp)
	SAY(vendor_err)
#undef SAY
}

static void describe_got(char *buf, size_t size, const struct tb_end *end, const struct drv_wc *wc)
{
	snprintf(buf, size,
		 "status %d (%s), wr_id %" PRIu64
		 ", opcode %d, byte_len %u, imm %u, qp %u, vendor_err %u",
		 wc->status, ibv_wc_status_str(wc->status), wc->wr_id, wc->opcode, wc->byte_len,
		 wc->imm_data, pair_of(end, wc->qp_num), wc->vendor_err);
}

static bool differs(int64_t want, int64_t got)
{
	return want != TB_ANY && want != got;
}

static bool cqe_matches(const struct tb_end *end, const struct tb_cqe *want,
			const struct drv_wc *wc)
{
	return tb_status_is(want->status, wc->status) &&
	       !differs(want->wr_id, (int64_t)wc->wr_id) &&
	       (want->qp == TB_ANY || !differs(want->qp, pair_of(end, wc->qp_num))) &&
	       !differs(want->vendor_err, wc->vendor_err) && tb_opcode_is(want->opcode, wc) &&
	       !differs(want->byte_len, wc->byte_len) && tb_imm_is(want->imm, wc);
}

/* False, and the run has failed, when none comes in time. */
static bool await_completion(struct tb *tb, const char *here, struct tb_end *end, struct drv_wc *wc,
			     uint64_t within_ps, const char *expected)
{
	char got[TEXT_CHARS];
	int n = next_completion(tb, end, wc, tb_now(tb) + within_ps);

	if (n > 0)
		return true;
	snprintf(got, sizeof(got), n ? "drv_cq_poll gives %d" : "no completion in time", n);
	tb_fail(tb, here, expected, got);
	return false;
}

void tb_expect_cqe(struct tb *tb, const char *here, struct tb_end *end, const struct tb_cqe *want)
{
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	struct drv_wc wc = {0};

	if (!tb_go(tb, here))
		return;
	describe(expected, sizeof(expected), end, want);
	if (!await_completion(tb, here, end, &wc, want->within_ps, expected) ||
	    cqe_matches(end, want, &wc))
		return;
	describe_got(got, sizeof(got), end, &wc);
	tb_fail(tb, here, expected, got);
}

void tb_expect_cqes(struct tb *tb, const char *here, struct tb_end *end, unsigned n)
{
	const struct tb_cqe want = CQE();

	for (unsigned i = 0; i < n && tb_right(tb); i++)
		tb_expect_cqe(tb, here, end, &want);
}

/* --- completions in any order --- */

/* A way to give each want one of those that came: Kuhn's augmenting paths. */
struct pairing {
	unsigned n, *of_got; /* the want that has it, n: none */
	bool *tried;
	bool (*matches)(const void *arg, unsigned want, unsigned got);
	const void *arg;
};

static bool pair_up(struct pairing *p, unsigned want)
{
	for (unsigned got = 0; got < p->n; got++) {
		if (p->tried[got] || !p->matches(p->arg, want, got))
			continue;
		p->tried[got] = true;
		if (p->of_got[got] == p->n || pair_up(p, p->of_got[got])) {
			p->of_got[got] = want;
			return true;
		}
	}
	return false;
}

bool tb_pair_all(unsigned n, bool (*matches)(const void *arg, unsigned want, unsigned got),
		 const void *arg, unsigned *want, unsigned *got)
{
	struct pairing p = {.n = n,
			    .of_got = calloc(n + 1, sizeof(*p.of_got)),
			    .tried = calloc(n + 1, sizeof(*p.tried)),
			    .matches = matches,
			    .arg = arg};
	bool all = p.of_got && p.tried;

	for (unsigned i = 0; i < n && p.of_got; i++)
		p.of_got[i] = n;
	*want = *got = 0;
	for (unsigned i = n; p.of_got && p.tried && i-- > 0;) {
		memset(p.tried, 0, n * sizeof(*p.tried));
		if (pair_up(&p, i))
			continue;
		all = false;
		*want = i;
	}
	while (!all && p.of_got && *got + 1 < n && p.of_got[*got] != n)
		++*got;
	free(p.of_got);
	free(p.tried);
	return all;
}

struct came {
	const struct tb_end *end;
	const struct tb_cqe *want;
	struct drv_wc *wc;
};

static void came_free(struct came *came)
{
	free(came->wc);
}

static bool came_matches(const void *arg, unsigned want, unsigned got)
{
	const struct came *came = arg;

	return cqe_matches(came->end, &came->want[want], &came->wc[got]);
}

void tb_expect_cqes_of(struct tb *tb, const char *here, struct tb_end *end,
		       const struct tb_cqe *want, unsigned n)
{
	struct came came __attribute__((cleanup(came_free))) = {.end = end, .want = want};
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	unsigned no_want, no_got;

	if (!tb_go(tb, here))
		return;
	came.wc = calloc(n + 1, sizeof(*came.wc));
	if (!came.wc) {
		tb_failf(tb, here, "memory for %u completions", n);
		return;
	}
	snprintf(expected, sizeof(expected), "%u completions at %s", n, end->name);
	for (unsigned i = 0; i < n; i++)
		if (!await_completion(tb, here, end, &came.wc[i], want->within_ps, expected))
			return;
	if (tb_pair_all(n, came_matches, &came, &no_want, &no_got))
		return;
	describe(expected, sizeof(expected), end, &want[no_want]);
	describe_got(got, sizeof(got), end, &came.wc[no_got]);
	tb_fail(tb, here, expected, got);
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
