/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that expect completions: a single one, a set in any order, or none. */
#include "host_driver/uverbs/include/infiniband/verbs.h"
#include "testbench/language/tb.h"
#include "testbench/services.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_CHARS = 512 };

/* --- waiting --- */

/* Polls; then sleeps until an entry is written to the CQ, and polls again. */
static int poll_until(struct drv_cq *cq, struct drv_wc *wc, uint64_t deadline_ps)
{
	int n;

	while (!(n = drv_cq_poll(cq, 1, wc)))
		if (drv_cq_wait(cq, deadline_ps))
			return drv_cq_poll(cq, 1, wc);
	return n;
}

/* Arms the CQ, polls again, and sleeps until the interrupt. */
static int poll_by_interrupt(struct drv_cq *cq, struct drv_wc *wc, uint64_t deadline_ps)
{
	int n;

	while (!(n = drv_cq_poll(cq, 1, wc))) {
		drv_cq_arm(cq, false);
		n = drv_cq_poll(cq, 1, wc);
		if (n)
			return n;
		if (drv_cq_wait_event(cq, deadline_ps))
			return drv_cq_poll(cq, 1, wc);
	}
	return n;
}

/* Returns false if no completion arrives in time; this fails the run. */
static bool await_completion(struct tb *tb, const char *here, struct tb_end *end,
			     const struct tb_cqe *want, struct drv_wc *wc, const char *expected)
{
	const uint64_t deadline_ps = tb_now(tb) + want->within_ps;
	char got[TEXT_CHARS];
	int n;

	if (tb->setup.interrupts && !want->cq)
		n = poll_by_interrupt(end->cq, wc, deadline_ps);
	else
		n = poll_until(want->cq ? want->cq : end->cq, wc, deadline_ps);
	if (n > 0)
		return true;
	snprintf(got, sizeof(got), n ? "drv_cq_poll gives %d" : "no completion in time", n);
	tb_fail(tb, here, expected, got);
	return false;
}

/* --- comparing --- */

/* F(member of struct tb_cqe, member of struct drv_wc): numbers that are compared as they are. */
#define NUMBERS(F)                                                                                 \
	F(wr_id, wr_id)                                                                            \
	F(byte_len, byte_len)                                                                      \
	F(vendor_err, vendor_err)                                                                  \
	F(src_qp, src_qp)                                                                          \
	F(slid, slid)                                                                              \
	F(sl, sl)                                                                                  \
	F(flags, wc_flags)                                                                         \
	F(pkey_index, pkey_index)                                                                  \
	F(path_bits, dlid_path_bits)

/* The number of the connected pair, TB_QPS_MAX for any other queue pair. */
static unsigned pair_of(const struct tb_end *end, uint32_t qpn)
{
	for (unsigned i = 0; i < TB_QPS_MAX && end->qp[i]; i++)
		if (drv_qp_num(end->qp[i]) == qpn)
			return i;
	return TB_QPS_MAX;
}

static bool status_matches(enum ibv_wc_status want, enum ibv_wc_status got)
{
	return want == got || want == ANY_STATUS || (want == ANY_ERROR && got != IBV_WC_SUCCESS);
}

/* The opcode of a completion with an error only tells whether it is a send or a receive. */
static bool opcode_matches(int64_t want, const struct drv_wc *wc)
{
	if (want == TB_ANY)
		return true;
	if (wc->status)
		return !(want & IBV_WC_RECV) == wc->is_send;
	return want == (int64_t)wc->opcode;
}

/* A value that is valid only if the completion has this flag. */
static bool flagged_matches(int64_t want, const struct drv_wc *wc, unsigned flag, uint32_t got)
{
	return want == TB_ANY || (wc->wc_flags & flag && want == (int64_t)got);
}

static bool matches(const struct tb_end *end, const struct tb_cqe *want, const struct drv_wc *wc)
{
	bool right = status_matches(want->status, wc->status) && opcode_matches(want->opcode, wc) &&
		     flagged_matches(want->imm, wc, IBV_WC_WITH_IMM, wc->imm_data) &&
		     flagged_matches(want->inv_rkey, wc, IBV_WC_WITH_INV, wc->invalidated_rkey) &&
		     (want->qp == TB_ANY || want->qp == pair_of(end, wc->qp_num)) &&
		     (!want->on || drv_qp_num(want->on) == wc->qp_num) &&
		     (!want->srq || wc->status || drv_srq_num(want->srq) == wc->srq_num);

#define F(member, of) right = right && (want->member == TB_ANY || want->member == (int64_t)wc->of);
	NUMBERS(F)
#undef F
	return right;
}

/* --- telling --- */

/* Text that is built piece by piece. What does not fit is cut off. */
struct text {
	char chars[TEXT_CHARS];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->chars + text->len, sizeof(text->chars) - text->len, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof(text->chars) - text->len)
		text->len += (size_t)n;
}

static void describe(struct text *text, const struct tb_end *end, const struct tb_cqe *want)
{
	text->len = 0;
	add(text, "completion at %s, ", end->name);
	if (want->status == ANY_ERROR || want->status == ANY_STATUS)
		add(text, want->status == ANY_ERROR ? "any error" : "any status");
	else
		add(text, "status %d (%s)", want->status, ibv_wc_status_str(want->status));
#define F(member, of)                                                                              \
	if (want->member != TB_ANY)                                                                \
		add(text, ", " #member " %" PRId64, want->member);
	NUMBERS(F)
	F(opcode, opcode)
	F(imm, imm_data)
	F(inv_rkey, invalidated_rkey)
	F(qp, qp_num)
#undef F
	if (want->on)
		add(text, ", qpn %06x", drv_qp_num(want->on));
	if (want->srq)
		add(text, ", srqn %06x", drv_srq_num(want->srq));
}

/* Prints status, wr_id and queue pair, and those other members that are not 0 or were expected. */
static void describe_got(struct text *text, const struct tb_end *end, const struct tb_cqe *want,
			 const struct drv_wc *wc)
{
	const unsigned pair = pair_of(end, wc->qp_num);

	text->len = 0;
	add(text, "status %d (%s), wr_id %" PRIu64 ", opcode %d", wc->status,
	    ibv_wc_status_str(wc->status), wc->wr_id, wc->opcode);
#define F(member, of)                                                                              \
	if (strcmp(#member, "wr_id") && (wc->of || want->member != TB_ANY))                        \
		add(text, ", " #member " %" PRId64, (int64_t)wc->of);
	NUMBERS(F)
	F(imm, imm_data)
	F(inv_rkey, invalidated_rkey)
#undef F
	if (pair < TB_QPS_MAX)
		add(text, ", qp %u", pair);
	add(text, ", qpn %06x", wc->qp_num);
	if (wc->srq_num || want->srq)
		add(text, ", srqn %06x", wc->srq_num);
}

static void fail(struct tb *tb, const char *here, const struct tb_end *end,
		 const struct tb_cqe *want, const struct drv_wc *wc)
{
	struct text expected, got;

	describe(&expected, end, want);
	describe_got(&got, end, want, wc);
	tb_fail(tb, here, expected.chars, got.chars);
}

/* --- one after the other --- */

void tb_expect_cqe(struct tb *tb, const char *here, struct tb_end *end, const struct tb_cqe *want)
{
	struct drv_wc wc = {0};
	struct text expected;

	if (!tb_go(tb, here))
		return;
	describe(&expected, end, want);
	if (await_completion(tb, here, end, want, &wc, expected.chars) && !matches(end, want, &wc))
		fail(tb, here, end, want, &wc);
}

void tb_expect_cqes(struct tb *tb, const char *here, struct tb_end *end, unsigned n)
{
	const struct tb_cqe want = CQE();

	for (unsigned i = 0; i < n && tb_right(tb); i++)
		tb_expect_cqe(tb, here, end, &want);
}

void tb_expect_empty(struct tb *tb, const char *here, struct drv_cq *cq)
{
	char got[TEXT_CHARS];
	struct drv_wc wc;
	int n;

	if (!tb_go(tb, here))
		return;
	n = drv_cq_poll(cq, 1, &wc);
	if (!n)
		return;
	if (n < 0)
		snprintf(got, sizeof(got), "drv_cq_poll gives %d", n);
	else
		snprintf(got, sizeof(got), "wr_id %" PRIu64 " status %d", wc.wr_id, wc.status);
	tb_fail(tb, here, "no completion", got);
}

/* --- in any order --- */

/* n expected completions, the n that arrived, and which of these matches which. */
struct pairing {
	const struct tb_end *end;
	const struct tb_cqe *want;
	unsigned n;
	struct drv_wc *wc; /* those that arrived */
	unsigned *want_of; /* for each that arrived, the index of its want; n: none yet */
	bool *tried;       /* already tried in the current search */
};

static void pairing_free(struct pairing *p)
{
	free(p->wc);
	free(p->want_of);
	free(p->tried);
}

static bool pairing_make(struct pairing *p)
{
	p->wc = calloc(p->n + 1, sizeof(*p->wc));
	p->want_of = calloc(p->n + 1, sizeof(*p->want_of));
	p->tried = calloc(p->n + 1, sizeof(*p->tried));
	for (unsigned i = 0; p->want_of && i < p->n; i++)
		p->want_of[i] = p->n;
	return p->wc && p->want_of && p->tried;
}

/* Finds a completion for one want. Another want may have to take a different completion for that:
 * Kuhn's algorithm. */
static bool pair_up(struct pairing *p, unsigned want)
{
	for (unsigned i = 0; i < p->n; i++) {
		if (p->tried[i] || !matches(p->end, &p->want[want], &p->wc[i]))
			continue;
		p->tried[i] = true;
		if (p->want_of[i] == p->n || pair_up(p, p->want_of[i])) {
			p->want_of[i] = want;
			return true;
		}
	}
	return false;
}

/* Returns p->n if each want has a completion, else the index of the first one without. */
static unsigned pair_up_all(struct pairing *p)
{
	unsigned left = p->n;

	for (unsigned want = p->n; want-- > 0;) {
		memset(p->tried, 0, p->n * sizeof(*p->tried));
		if (!pair_up(p, want))
			left = want;
	}
	return left;
}

static const struct drv_wc *first_unpaired(const struct pairing *p)
{
	unsigned i = 0;

	while (i + 1 < p->n && p->want_of[i] != p->n)
		i++;
	return &p->wc[i];
}

void tb_expect_cqes_of(struct tb *tb, const char *here, struct tb_end *end,
		       const struct tb_cqe *want, unsigned n)
{
	struct pairing p
		__attribute__((cleanup(pairing_free))) = {.end = end, .want = want, .n = n};
	char expected[TEXT_CHARS];
	unsigned left;

	if (!tb_go(tb, here))
		return;
	if (!pairing_make(&p)) {
		tb_failf(tb, here, "memory for %u completions", n);
		return;
	}
	snprintf(expected, sizeof(expected), "%u completions at %s", n, end->name);
	for (unsigned i = 0; i < n; i++)
		if (!await_completion(tb, here, end, want, &p.wc[i], expected))
			return;
	left = pair_up_all(&p);
	if (left < n)
		fail(tb, here, end, &want[left], first_unpaired(&p));
}
