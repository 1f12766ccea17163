// SPDX-License-Identifier: Apache-2.0
/*
 * RC traffic of every kind and size, drawn from the seed, both ways at once over queue pairs of
 * several shapes, while the wire loses, repeats, reorders, corrupts and delays packets and queue
 * pairs go to ERR and come back. The model of testbench/soak_model.h says what must come of it. Its
 * parameters are those of section sim.soak: `run soak --seed 7 -s sim.soak.messages=1000000`.
 */
#include "testbench/soak.h"

SCENARIO(soak, "random RC traffic under faults against a model of verbs", .no_qps = true,
	 .unobserved = true, .settings = {"sim.time_limit=0"})
{
	soak_run(tb);
}
