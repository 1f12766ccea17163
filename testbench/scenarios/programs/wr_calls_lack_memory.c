/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory lacks at each place where a list of calls asks for some: for a request, its entries, its inline
 * bytes, and for all of them when they are posted. The list is refused with ENOMEM and posts nothing, and
 * built again it posts each of its requests once. What is wrong after the first error does not count.
 */
/* behaviours: POST-calls FAULT-no-memory */
#include "testbench/harm.h"
#include "testbench/scenarios/programs/by_calls.h"

#include <stdlib.h>

enum { LONG = 10 };

/* Memory lacks for the first request; what is wrong after that does not count. */
static int first_error(struct by_calls *x)
{
	ibv_wr_start(x->calls);
	lack_memory(1);
	ibv_wr_rdma_write(x->calls, x->mr->rkey, at(x, HALF + 4000));
	if (!lack_memory(0))
		return __LINE__;
	ibv_wr_send(x->calls);
	return ibv_wr_complete(x->calls) == ENOMEM ? nothing_else(x) : __LINE__;
}

/* More than fit on the stack of the one who posts them, with inline bytes and without. */
static bool long_list(struct by_calls *x)
{
	int rc;

	ibv_wr_start(x->calls);
	for (unsigned i = 0; i < LONG; i++) {
		if (i % 2) {
			any_write(x, 100 + i, HALF + 6000 + 16 * i);
			ibv_wr_set_inline_data(x->calls, x->image + 300 + i, 8);
		} else {
			right_write(x, 100 + i, HALF + 6000 + 16 * i);
		}
	}
	rc = ibv_wr_complete(x->calls);
	if (rc)
		errno = rc;
	return !rc;
}

static int lacks_memory(struct by_calls *x)
{
	MADE_WITHOUT_MEMORY(long_list(x));
	for (unsigned i = 0; i < LONG; i++) {
		memcpy(x->image + HALF + 6000 + 16 * i, x->image + (i % 2 ? 300 : 100) + i, 8);
		if (IS(x, 0, .wr_id = 100 + i, .opcode = IBV_WC_RDMA_WRITE))
			return __LINE__;
	}
	return nothing_else(x);
}

static int program(void *arg)
{
	struct by_calls *x = calloc(1, sizeof(*x));
	int rc;

	*x = (struct by_calls){.type = IBV_QPT_RC, .ops = IBV_QP_EX_WITH_RDMA_WRITE};
	rc = open_by_calls(x);
	if (!rc)
		rc = first_error(x);
	if (!rc)
		rc = lacks_memory(x);
	if (!rc)
		rc = close_by_calls(x);
	free(x);
	return rc;
}

SCENARIO(wr_calls_lack_memory, "a list of calls finds no memory at each place in turn",
	 .no_qps = true, .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
