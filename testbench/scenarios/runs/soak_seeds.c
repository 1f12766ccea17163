/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Soak runs that once found defects: the settings and the seed that failed, with the defect in the
 * comment. The random choices change whenever the soak itself changes, so these are also simply
 * many small soaks.
 */
#include "testbench/soak/soak.h"

#define ONLY_LOSSES                                                                                \
	"sim.soak.duplicate_ppm=0", "sim.soak.reorder_ppm=0", "sim.soak.corrupt_ppm=0",            \
		"sim.soak.delay_ppm=0"

SCENARIO(soak_half_sent, "a message half sent while older ones are sent again", .no_qps = true,
	 .unobserved = true,
	 .settings = {"sim.time_limit=0", ONLY_LOSSES, "sim.soak.state_changes=0"})
{
	soak_run(tb);
}

/* A loss that empties a lane of the link; WQEs that were read too far the second time, and a
 * doorbell that was lost by it. */
SCENARIO(soak_one_pair, "one queue pair under losses", .no_qps = true, .unobserved = true,
	 .settings = {"sim.time_limit=0", ONLY_LOSSES, "sim.soak.qps=1", "sim.seed=3"})
{
	soak_run(tb);
}

SCENARIO(soak_error_state, "responses that come while a queue pair is taken to ERR", .no_qps = true,
	 .unobserved = true,
	 .settings = {"sim.time_limit=0", "sim.soak.drop_ppm=0", "sim.soak.duplicate_ppm=0",
		      "sim.soak.reorder_ppm=0", "sim.soak.corrupt_ppm=10000",
		      "sim.soak.delay_ppm=0"})
{
	soak_run(tb);
}

/* A queue pair whose context arrives while there is no room for payload reads. */
SCENARIO(soak_slow_contexts, "few contexts, and room for one payload read", .no_qps = true,
	 .unobserved = true,
	 .settings = {"sim.time_limit=0", "hca.context_cache.miss_latency=2us",
		      "hca.context_cache.requester_entries=4", "hca.requester.inflight=1"})
{
	soak_run(tb);
}

/* READs that are repeated while new ones arrive; two units that read the same send queue. */
SCENARIO(soak_repeats, "all faults, many queue pairs to ERR and back", .no_qps = true,
	 .unobserved = true,
	 .settings = {"sim.time_limit=0", "sim.soak.corrupt_ppm=10000", "sim.seed=16",
		      "sim.soak.messages=5000", "sim.soak.state_changes=100"})
{
	soak_run(tb);
}

/* Queue pairs that kept a prefetched WQE while they needed another one; a unit that was told of a
 * WQE for which it no longer waited. */
SCENARIO(soak_one_wqe, "one send WQE held, one read at a time", .no_qps = true, .unobserved = true,
	 .settings = {"sim.time_limit=0", "hca.wqe_fetch.entries=1", "hca.wqe_fetch.reads=1",
		      "sim.seed=6"})
{
	soak_run(tb);
}

/* Latencies that are never the same; interrupts that come late. */
SCENARIO(soak_jitter, "all faults, with sim.jitter", .no_qps = true, .unobserved = true,
	 .settings = {"sim.time_limit=0", "sim.jitter=on"})
{
	soak_run(tb);
}

/* Units that waited for a WQE or a translation for ever, because the context of their queue pair
 * was evicted meanwhile. */
SCENARIO(soak_one_context, "one context and one send WQE held", .no_qps = true, .unobserved = true,
	 .settings = {"sim.time_limit=0", "hca.wqe_fetch.entries=1",
		      "hca.context_cache.requester_entries=1"})
{
	soak_run(tb);
}
