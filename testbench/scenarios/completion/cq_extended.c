/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process reads completions of datagrams field by field. Each field is what the sender has put into the
 * packet, and changes with ibv_next_poll from one entry to the next. The same datagram, once more and read
 * by ibv_poll_cq from the same queue, gives the same values; so does a failed request, and its vendor's
 * code. No other scenario reads these fields.
 */
/* behaviours: CQ-extended IBA-4.1.3-path-bits-ud */
#include "testbench/scenarios/completion/field_by_field.h"

/* Nothing is there, or the call is wrong; neither begins. */
static int none(void *arg)
{
	struct reader *r = arg;
	struct ibv_poll_cq_attr poll = {.comp_mask = 1};

	if (ibv_start_poll(r->cq, &poll) != EINVAL)
		return __LINE__;
	poll.comp_mask = 0;
	return ibv_start_poll(r->cq, &poll) == ENOENT ? 0 : __LINE__;
}

/* Two entries in one go, and the third one by the ordinary call. */
static int read_all(void *arg)
{
	struct reader *r = arg;
	struct ibv_poll_cq_attr poll = {.comp_mask = 0};
	struct ibv_wc wc;

	if (ibv_start_poll(r->cq, &poll))
		return __LINE__;
	wc = read_entry(r->cq);
	if (!is(r, &wc, &r->small, 1) || ibv_wc_read_completion_ts(r->cq) || ibv_next_poll(r->cq))
		return __LINE__;
	wc = read_entry(r->cq);
	if (!is(r, &wc, &r->full, 2))
		return __LINE__;
	ibv_end_poll(r->cq);
	return ibv_poll_cq(ibv_cq_ex_to_cq(r->cq), 1, &wc) == 1 && is(r, &wc, &r->full, 3)
		       ? 0
		       : __LINE__;
}

/* The queue pair fails: three receives are flushed, the last of which another call reads. */
static int read_failed(void *arg)
{
	struct reader *r = arg;
	struct ibv_poll_cq_attr poll = {.comp_mask = 0};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_wc wc, last;

	if (ibv_modify_qp(r->qp, &attr, IBV_QP_STATE))
		return __LINE__;
	process_sleep_us(100);
	if (ibv_start_poll(r->cq, &poll) || r->cq->wr_id != 1 || ibv_next_poll(r->cq))
		return __LINE__;
	wc = read_entry(r->cq);
	ibv_end_poll(r->cq);
	if (ibv_poll_cq(ibv_cq_ex_to_cq(r->cq), 1, &last) != 1 || wc.wr_id != 2 || last.wr_id != 3)
		return __LINE__;
	return wc.status == IBV_WC_WR_FLUSH_ERR && last.status == wc.status &&
			       wc.qp_num == r->qpn && last.vendor_err == wc.vendor_err
		       ? none(r)
		       : __LINE__;
}

SCENARIO(cq_extended, "completions read field by field", .qps = 0, .any_packets = true, .lmc = LMC)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD);
	struct process *worker = start_worker(b);
	struct reader r = {.flags = IBV_WC_STANDARD_FLAGS};

	start_ud(x, QKEY, 0);
	run_in(worker, open_reader, &r);
	run_in(worker, none, &r);
	run_in(worker, receive, &r);
	send_three(tb, a, b, x, &r);
	run_in(worker, read_all, &r);
	run_in(worker, receive, &r);
	run_in(worker, read_failed, &r);
	run_in(worker, close_reader, &r);
	end_worker(worker);
	destroy_qp(x);
}
