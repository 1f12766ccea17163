// SPDX-License-Identifier: Apache-2.0
/* Verbs of a scenario: requests, completions, events, faults. */
#include "host_driver/uverbs/include/infiniband/verbs.h"
#include "testbench/tb.h"

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

/* --- requests --- */

static enum ibv_wr_opcode with_imm(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND ? IBV_WR_SEND_WITH_IMM : IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool lands_here(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static uint64_t remote_address(const struct tb_end *end, const struct tb_wr *wr)
{
	if (wr->remote_addr)
		return wr->remote_addr;
	if (wr->opcode == IBV_WR_RDMA_READ)
		return tb_va(end->peer, end->peer->src) + wr->src;
	if (lands_here(wr->opcode))
		return tb_va(end->peer, end->peer->dst) + wr->target;
	return tb_va(end->peer, end->peer->dst) + wr->dst;
}

/* Inline data is taken by the CPU, by its pointer. */
static uint64_t local_address(const struct tb_end *end, const struct tb_wr *wr)
{
	if (wr->inlined)
		return (uintptr_t)end->src + wr->src;
	return lands_here(wr->opcode) ? tb_va(end, end->dst) + wr->dst
				      : tb_va(end, end->src) + wr->src;
}

static unsigned flags_of(const struct tb_wr *wr)
{
	return (wr->unsignaled ? 0 : IBV_SEND_SIGNALED) | (wr->solicited ? IBV_SEND_SOLICITED : 0) |
	       (wr->fence ? IBV_SEND_FENCE : 0) | (wr->inlined ? IBV_SEND_INLINE : 0);
}

static bool is_pair(struct tb *tb, const char *here, struct tb_end *end, unsigned pair)
{
	if (pair < TB_QPS_MAX && end->qp[pair])
		return true;
	tb_failf(tb, here, "a queue pair %u of %s; the setup has %u", pair, end->name,
		 tb->setup.no_qps ? 0 : tb->setup.qps);
	return false;
}

void tb_post(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr)
{
	unsigned n = wr->repeat ? wr->repeat : 1;
	struct drv_send_wr *list;
	struct drv_sge sge;

	if (!tb_go(tb, here) || !is_pair(tb, here, end, wr->qp))
		return;
	list = calloc(n, sizeof(*list));
	if (!list) {
		tb_failf(tb, here, "memory for %u work requests", n);
		return;
	}
	sge = (struct drv_sge){
		.addr = local_address(end, wr),
		.length = wr->len,
		.lkey = wr->lkey ? wr->lkey : drv_mr_lkey(end->mr),
	};
	for (unsigned i = 0; i < n; i++)
		list[i] = (struct drv_send_wr){
			.next = i + 1 < n ? &list[i + 1] : NULL,
			.wr_id = wr->wr_id + i,
			.opcode = wr->with_imm ? with_imm(wr->opcode) : wr->opcode,
			.send_flags = flags_of(wr),
			.sg_list = &sge,
			.num_sge = wr->len ? 1 : 0,
			.imm_data = wr->imm,
			.remote_addr = remote_address(end, wr),
			.rkey = wr->rkey ? wr->rkey : drv_mr_rkey(end->peer->mr),
			.compare_add = wr->compare,
			.swap = wr->swap,
		};
	if (tb_must(tb, here, "drv_post_send", drv_post_send(end->qp[wr->qp], list, NULL),
		    wr->result) &&
	    !wr->result)
		tb->payload_bytes += (uint64_t)wr->len * n;
	free(list);
}

void tb_post_recv(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr)
{
	struct drv_sge sge;
	struct drv_recv_wr recv;
	unsigned n = wr->repeat ? wr->repeat : 1;

	for (unsigned i = 0; i < n && tb_go(tb, here) && is_pair(tb, here, end, wr->qp); i++) {
		sge = (struct drv_sge){
			.addr = tb_va(end, end->dst) + wr->dst,
			.length = wr->len,
			.lkey = wr->lkey ? wr->lkey : drv_mr_lkey(end->mr),
		};
		recv = (struct drv_recv_wr){
			.wr_id = wr->wr_id + i, .sg_list = &sge, .num_sge = wr->len ? 1 : 0};
		tb_must(tb, here, "drv_post_recv", drv_post_recv(end->qp[wr->qp], &recv, NULL),
			wr->result);
	}
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

static void describe(char *buf, size_t size, const struct tb_end *end, const struct tb_cqe *want)
{
	int n = snprintf(buf, size, "completion at %s, status %d (%s)", end->name, want->status,
			 ibv_wc_status_str(want->status));

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

static bool differs(int64_t want, int64_t got)
{
	return want != TB_ANY && want != got;
}

void tb_expect_cqe(struct tb *tb, const char *here, struct tb_end *end, const struct tb_cqe *want)
{
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	struct drv_wc wc = {0};
	int n;

	if (!tb_go(tb, here))
		return;
	describe(expected, sizeof(expected), end, want);
	n = next_completion(tb, end, &wc, tb_now(tb) + want->within_ps);
	if (n <= 0) {
		snprintf(got, sizeof(got), n ? "drv_cq_poll gives %d" : "no completion in time", n);
		tb_fail(tb, here, expected, got);
		return;
	}
	if (wc.status != want->status || differs(want->wr_id, (int64_t)wc.wr_id) ||
	    (want->qp != TB_ANY && differs(want->qp, pair_of(end, wc.qp_num))) ||
	    differs(want->vendor_err, wc.vendor_err) ||
	    (!wc.status &&
	     (differs(want->opcode, wc.opcode) || differs(want->byte_len, wc.byte_len) ||
	      differs(want->imm, wc.imm_data)))) {
		snprintf(got, sizeof(got),
			 "status %d (%s), wr_id %" PRIu64
			 ", opcode %d, byte_len %u, imm %u, qp %u, vendor_err %u",
			 wc.status, ibv_wc_status_str(wc.status), wc.wr_id, wc.opcode, wc.byte_len,
			 wc.imm_data, pair_of(end, wc.qp_num), wc.vendor_err);
		tb_fail(tb, here, expected, got);
	}
}

void tb_expect_cqes(struct tb *tb, const char *here, struct tb_end *end, unsigned n)
{
	const struct tb_cqe want = {.wr_id = TB_ANY,
				    .opcode = TB_ANY,
				    .byte_len = TB_ANY,
				    .imm = TB_ANY,
				    .qp = TB_ANY,
				    .vendor_err = TB_ANY,
				    .within_ps = CFG_S(EXPECT_LIMIT_S)};

	for (unsigned i = 0; i < n && tb_right(tb); i++)
		tb_expect_cqe(tb, here, end, &want);
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

/* --- statements --- */

void tb_expect_true(struct tb *tb, const char *here, bool condition, const char *text)
{
	if (tb_go(tb, here) && !condition)
		tb_fail(tb, here, text, "it is not so");
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
	unsigned code = end->tb->setup.timeout;
	uint64_t ps =
		ack_timeout_ps(code < p->retry_min_code ? (unsigned)p->retry_min_code : code) *
		p->retry_ack_timeout_multiplier;

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
