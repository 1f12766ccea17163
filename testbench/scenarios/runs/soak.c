/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traffic of every kind and size over RC, XRC, UC and UD, with shared receives and memory windows,
 * in both directions at once, chosen at random by the seed. Meanwhile the wire loses, repeats,
 * reorders, corrupts and delays packets, and queue pairs go to ERR, SQD and SQE and come back. The
 * model in testbench/soak/soak_model.h predicts the results. The parameters are in section
 * sim.soak: `run soak --seed 7 -s sim.soak.messages=1000000`.
 */
#include "testbench/soak/soak.h"

SCENARIO(soak, "random traffic of all services under faults against a model of verbs",
	 .no_qps = true, .unobserved = true, .settings = {"sim.time_limit=0"})
{
	soak_run(tb);
}
