/* SPDX-License-Identifier: Apache-2.0 */
/* See refusals.h. */
#include "testbench/machine/refusals.h"

#include "testbench/dsan/checker.h"
#include "testbench/machine.h"
#include "traces/trace.h"

static int record(void *sink, const struct trace_record *r)
{
	struct machine *m = sink;
	const uint8_t status = (uint8_t)r->args[TRACE_ARG(HCR_DONE, status)];
	const struct act *act;
	struct refusal *at;

	if (r->point != TP_HCR_DONE || !status || m->failed)
		return 0;
	act = acts_command(host_acts(m->hosts[r->hca]), guest_object(GUEST_NONE, 0));
	at = &m->refusals.kept[m->refusals.count++ % REFUSALS_KEPT];
	*at = (struct refusal){
		.host = r->hca,
		.time_ps = r->time_ps,
		.opcode = (uint32_t)r->args[TRACE_ARG(HCR_DONE, opcode)],
		.op_mod = (uint32_t)r->args[TRACE_ARG(HCR_DONE, op_mod)],
		.in_mod = (uint32_t)r->args[TRACE_ARG(HCR_DONE, in_mod)],
		.status = status,
		.act = act ? *act : (struct act){0},
	};
	checkers_ran(r->hca, &at->ran);
	return 0;
}

static int end(void *sink)
{
	return 0;
}

int refusals_listen(struct machine *m, struct trace *trace)
{
	static const struct trace_sink_ops ops = {
		.name = "refusals", .record = record, .close = end};

	return trace_sink_add(trace, &ops, m, 1u << TRACE_HCR);
}
