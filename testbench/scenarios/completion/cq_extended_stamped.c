/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process reads from an extended queue with timestamps when each entry was written: after the message was
 * posted, one after the other, and before the program looks at the clock. SLID and SL are then 0, because
 * the timestamp is in their place, and all other fields are as ever.
 */
/* behaviours: CQ-extended */
#include "testbench/scenarios/completion/field_by_field.h"

static int read_stamped(void *arg)
{
	struct reader *r = arg;
	struct ibv_poll_cq_attr poll = {.comp_mask = 0};
	struct ibv_values_ex now = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	uint64_t first, second;
	struct ibv_wc wc;

	r->full.slid = r->full.sl = 0; /* the timestamp is in their place */
	if (ibv_query_rt_values_ex(r->p.context, &now) || ibv_start_poll(r->cq, &poll))
		return __LINE__;
	first = ibv_wc_read_completion_ts(r->cq);
	if (ibv_next_poll(r->cq))
		return __LINE__;
	wc = read_entry(r->cq);
	if (!is(r, &wc, &r->full, 2))
		return __LINE__;
	second = ibv_wc_read_completion_ts(r->cq);
	if (ibv_next_poll(r->cq) || ibv_next_poll(r->cq) != ENOENT)
		return __LINE__;
	ibv_end_poll(r->cq);
	return first > r->posted && second > first && (uint64_t)now.raw_clock.tv_nsec > second
		       ? 0
		       : __LINE__;
}

SCENARIO(cq_extended_stamped, "completions read with their timestamps", .qps = 0,
	 .any_packets = true, .lmc = LMC, .of_mlx4 = "timestamps of completions")
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD);
	struct process *worker = start_worker(b);
	struct reader r = {.flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};

	start_ud(x, QKEY, 0);
	run_in(worker, open_reader, &r);
	run_in(worker, receive, &r);
	send_three(tb, a, b, x, &r);
	run_in(worker, read_stamped, &r);
	run_in(worker, close_reader, &r);
	end_worker(worker);
	destroy_qp(x);
}
