// SPDX-License-Identifier: Apache-2.0
/* Completions: what drv_cq_poll() returns, against what the device wrote. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"

#include <inttypes.h>
#include <string.h>

enum { NAMES_BYTES = 200 };

/* Who has stored it; else the rest of the completion. */
static const void *writer_of(const struct drv_wc *wc, const void *at, size_t bytes)
{
	const void *pc = wrote_find((uintptr_t)at, bytes);

	return pc ? pc : wrote_find((uintptr_t)wc, sizeof(*wc));
}

static void wc_differs(const struct ask *a, const struct drv_wc *wc, const char *field,
		       const void *at, size_t bytes, uint64_t is, uint64_t should)
{
	char names[NAMES_BYTES];

	ask_names(a, names, sizeof(names));
	checker_report(a->c,
		       &(struct breach){RULE_completion_differs,
					{GUEST_CQ, a->number},
					writer_of(wc, at, bytes),
					NULL},
		       "%s is 0x%" PRIx64 ", the device's CQE says 0x%" PRIx64 ", %s", field, is,
		       should, names);
}

/* The poll returns it, and who posted the request may have kept it wrongly. */
static void wr_id_differs(const struct ask *a, const struct drv_wc *wc,
			  const struct own_taken *taken)
{
	const struct entered_lately *posted = wc->is_send     ? &a->c->sends_posted
					      : taken->shared ? &a->c->shared_posted
							      : &a->c->receives_posted;
	char names[NAMES_BYTES], by[NAMES_BYTES];

	ask_names(a, names, sizeof(names));
	entered_lately_format(posted, by, sizeof(by));
	checker_report(a->c,
		       &(struct breach){RULE_completion_differs,
					{GUEST_CQ, a->number},
					writer_of(wc, &wc->wr_id, sizeof(wc->wr_id)),
					NULL},
		       "wr_id is 0x%" PRIx64 ", and that of the request is 0x%" PRIx64
		       "; the newest post came by %s; %s",
		       wc->wr_id, taken->wr_id, by, names);
}

/* WC(ask, completion, member, what the CQE says): false when they differ */
#define WC(a, wc, member, should)                                                                  \
	((uint64_t)(wc)->member == (uint64_t)(should) ||                                           \
	 (wc_differs(a, wc, #member, &(wc)->member, sizeof((wc)->member), (uint64_t)(wc)->member,  \
		     (uint64_t)(should)),                                                          \
	  false))

#define SYNDROME_CASE(name, code, wc, wc_name)                                                     \
	case code:                                                                                 \
		return wc;

static int status_of(const struct cqe *e)
{
	if (cqe_get_opcode(e) != CQE_OP_ERROR)
		return IBV_WC_SUCCESS;
	switch (cqe_err_get_syndrome(cqe_as_err_const(e))) {
		CQE_SYNDROMES(SYNDROME_CASE)
	default:
		return IBV_WC_GENERAL_ERR;
	}
}

static const struct {
	enum wqe_opcode op;
	enum ibv_wc_opcode wc;
} sends[] = {
	{WQE_RDMA_WRITE, IBV_WC_RDMA_WRITE},
	{WQE_RDMA_WRITE_IMM, IBV_WC_RDMA_WRITE},
	{WQE_SEND, IBV_WC_SEND},
	{WQE_SEND_IMM, IBV_WC_SEND},
	{WQE_SEND_INV, IBV_WC_SEND},
	{WQE_RDMA_READ, IBV_WC_RDMA_READ},
	{WQE_ATOMIC_CS, IBV_WC_COMP_SWAP},
	{WQE_ATOMIC_FA, IBV_WC_FETCH_ADD},
	{WQE_MASKED_ATOMIC_CS, IBV_WC_MASKED_COMP_SWAP},
	{WQE_MASKED_ATOMIC_FA, IBV_WC_MASKED_FETCH_ADD},
	{WQE_BIND_MW, IBV_WC_BIND_MW},
	{WQE_FAST_REG, IBV_WC_REG_MR},
	{WQE_LOCAL_INV, IBV_WC_LOCAL_INV},
	{WQE_NOP, IBV_WC_NOP},
};

static bool send_matches(const struct ask *a, const struct drv_wc *wc, const struct cqe *e)
{
	const uint32_t op = cqe_get_opcode(e);

	for (size_t i = 0; i < ARRAY_SIZE(sends); i++)
		if ((uint32_t)sends[i].op == op && !WC(a, wc, opcode, sends[i].wc))
			return false;
	return WC(a, wc, wc_flags,
		  op == WQE_RDMA_WRITE_IMM || op == WQE_SEND_IMM ? IBV_WC_WITH_IMM : 0) &&
	       (op != WQE_RDMA_READ || WC(a, wc, byte_len, cqe_get_byte_cnt(e))) &&
	       (op < WQE_ATOMIC_CS || op > WQE_MASKED_ATOMIC_FA || WC(a, wc, byte_len, 8));
}

/* Where it came from. On an Ethernet port the entry has MAC and VLAN in the place of SLID and SL; of XRC
 * nobody asks for them. Source: Linux mlx4_ib_poll_one, use_tunnel_data and is_eth */
static bool source_matches(const struct ask *a, const struct drv_wc *wc, const struct cqe *e)
{
	const struct drv_qp *qp =
		a->dev ? a->dev->qp_table[cqe_get_my_qpn(e) & drv_table_mask(a->dev, DRV_T_QPC)]
		       : NULL;

	if (!ask_on_ethernet(a, 1) && !ask_on_ethernet(a, 2))
		return WC(a, wc, sl, cqe_get_sl(e)) && WC(a, wc, slid, cqe_get_slid(e)) &&
		       WC(a, wc, dlid_path_bits, cqe_get_path_bits(e));
	if (!qp || !ask_on_ethernet(a, qp->port) || qp->service == QP_ST_XRC)
		return true;
	return WC(a, wc, slid, 0) && WC(a, wc, dlid_path_bits, 0) &&
	       WC(a, wc, vlan, cqe_get_vlan(e) ? cqe_get_vid(e) : VLAN_NONE) &&
	       WC(a, wc, sl, cqe_get_vlan(e) ? cqe_get_priority(e) : 0);
}

static bool receive_matches(const struct ask *a, const struct drv_wc *wc, const struct cqe *e)
{
	const uint32_t op = cqe_get_opcode(e);
	const bool imm = op == CQE_RECV_WRITE_IMM || op == CQE_RECV_SEND_IMM;
	const unsigned flags = (imm ? IBV_WC_WITH_IMM : 0) |
			       (op == CQE_RECV_SEND_INV ? IBV_WC_WITH_INV : 0) |
			       (cqe_get_grh(e) ? IBV_WC_GRH : 0);

	return WC(a, wc, opcode,
		  op == CQE_RECV_WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV) &&
	       WC(a, wc, byte_len, cqe_get_byte_cnt(e)) && WC(a, wc, wc_flags, flags) &&
	       (!imm || WC(a, wc, imm_data, cqe_get_imm(e))) &&
	       (op != CQE_RECV_SEND_INV || WC(a, wc, invalidated_rkey, cqe_get_imm(e))) &&
	       WC(a, wc, src_qp, cqe_get_rqpn(e)) && (wc->timestamp || source_matches(a, wc, e));
}

/* Only a CQ with timestamps has any, and an error has no room for one. */
static bool stamp_matches(const struct ask *a, const struct drv_wc *wc, const struct cqe *e)
{
	const uint64_t stamp =
		(uint64_t)cqe_get_ts_high(e) << 16 | cqe_get_ts_mid(e) << 8 | cqe_get_ts_low(e);
	const bool has = a->poll.cq ? a->poll.cq->stamped : wc->timestamp;

	return WC(a, wc, timestamp, has && wc->status == IBV_WC_SUCCESS ? stamp : 0);
}

static void completion_matches(const struct ask *a, const struct drv_wc *wc,
			       const struct own_taken *taken)
{
	const struct cqe *e = &taken->entry;

	if (!WC(a, wc, qp_num, cqe_get_my_qpn(e)) || !WC(a, wc, is_send, cqe_get_is_send(e)) ||
	    !WC(a, wc, status, status_of(e)))
		return;
	if (taken->has_id && wc->wr_id != taken->wr_id) {
		wr_id_differs(a, wc, taken);
		return;
	}
	if (!stamp_matches(a, wc, e))
		return;
	if (wc->status != IBV_WC_SUCCESS)
		WC(a, wc, vendor_err, cqe_err_get_vendor(cqe_as_err_const(e)));
	else if (wc->is_send)
		send_matches(a, wc, e);
	else
		receive_matches(a, wc, e);
}

static struct guest_object cq_of(const struct ask *a)
{
	return (struct guest_object){GUEST_CQ, a->number};
}

static void slots_check(const struct ask *a, unsigned shared)
{
	if (a->poll.slots < shared)
		ask_report(a, RULE_not_given_back, cq_of(a),
			   "%u receives of shared receive queues were completed, and %u slots "
			   "were given back",
			   shared, a->poll.slots);
}

void asked_poll_begin(struct ask *a, int n)
{
	if (a->c && n > 0)
		a->poll.waiting = own_completions_waiting(a->c->own, a->number);
}

/* The driver has no such queue pair, so the completion is nobody's: it is taken and not returned. */
static bool nobodys(const struct ask *a, const struct cqe *e)
{
	return a->dev && !a->dev->qp_table[cqe_get_my_qpn(e) & drv_table_mask(a->dev, DRV_T_QPC)];
}

/* Those that the poll has given back, against those that it returns. Returns how many were nobody's. */
static unsigned taken_match(const struct ask *a, int given, int result, const struct drv_wc *wc)
{
	unsigned shared = 0, unknown = 0;
	struct own_taken taken;
	int nth = 0;

	for (int i = 0; i < given && own_completion_take(a->c->own, a->number, &taken); i++) {
		shared += taken.shared;
		if (nobodys(a, &taken.entry))
			unknown++;
		else if (nth < result)
			completion_matches(a, &wc[nth++], &taken);
	}
	slots_check(a, shared);
	return unknown;
}

void asked_poll_end(struct ask *a, int result, const struct drv_wc *wc)
{
	const int returned = result > 0 ? result : 0;
	unsigned unknown;
	int given;

	if (!a->c)
		return;
	checker_settle(a->c);
	given = own_was_resized(a->c->own, a->number) ? returned : (int)(a->poll.to - a->poll.from);
	if (!result && a->poll.waiting)
		ask_report(a, RULE_completion_differs, cq_of(a),
			   "no completion was returned, and the device has written %u that nobody "
			   "has taken",
			   a->poll.waiting);
	if (result && !a->poll.index)
		ask_report(a, RULE_completion_differs, cq_of(a),
			   "%d completions were returned, and no consumer index was written",
			   returned);
	unknown = taken_match(a, given, result, wc);
	if (result > 0 && wc[0].status != IBV_WC_SUCCESS)
		checker_recent_calls(a->c, a->since_recent, &a->c->errors_polled);
	if (a->poll.index && given - (int)unknown != returned)
		ask_report(a, RULE_completion_differs, cq_of(a),
			   "%d completions were returned, and %d were given back to the device",
			   returned, given - (int)unknown);
}

void asked_resize_end(struct ask *a,
		      const struct cqe *(*entry)(const struct drv_cq *cq, uint32_t nth),
		      const struct drv_cq *cq)
{
	const unsigned n = a->c ? own_completions_waiting(a->c->own, drv_cq_num(cq)) : 0;
	struct own_taken should;

	for (unsigned i = 0; i < n; i++) {
		struct cqe is = *entry(cq, i);

		own_completion_waiting(a->c->own, drv_cq_num(cq), i, &should);
		cqe_set_owner(&should.entry, cqe_get_owner(&is));
		if (!memcmp(&is, &should.entry, sizeof(is)))
			continue;
		ask_report(
			a, RULE_completion_differs, (struct guest_object){GUEST_CQ, drv_cq_num(cq)},
			"of %u completions that wait, number %u does not stand in the new buffer "
			"where the next polls look",
			n, i);
		return;
	}
}

void asked_clean_end(struct ask *a, uint32_t qpn)
{
	const unsigned n = a->c ? own_completions_of(a->c->own, a->number, qpn) : 0;
	unsigned given, shared, nth;

	if (!a->c)
		return;
	checker_settle(a->c);
	given = a->poll.to - a->poll.from;
	own_completions_discard(a->c->own, a->number, qpn, &shared);
	slots_check(a, shared);
	if (own_was_resized(a->c->own, a->number))
		return;
	if (given != n)
		ask_report(a, RULE_completion_differs, cq_of(a),
			   "%u completions of qpn %06x were to be removed, and %u entries were "
			   "given back to the device",
			   n, qpn, given);
	else if (!own_entries_match(a->c->own, a->number, &nth))
		ask_report(a, RULE_completion_differs, cq_of(a),
			   "of the completions that stay in the CQ, number %u is not as the device "
			   "wrote it",
			   nth);
}

void asked_reset_end(struct ask *a, const struct drv_cq *cq)
{
	const unsigned n =
		a->c && cq ? own_completions_of(a->c->own, drv_cq_num(cq), a->number) : 0;

	if (n)
		ask_report(a, RULE_completion_left, (struct guest_object){GUEST_CQ, drv_cq_num(cq)},
			   "%u completions of qpn %06x, which was reset", n, a->number);
}
