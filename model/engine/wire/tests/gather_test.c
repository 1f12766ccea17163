/* SPDX-License-Identifier: Apache-2.0 */
/* How long each packet occupies the unit that gathers payload for all queue pairs. */
#include "model/engine/base/engine.h"
#include "model/engine/host/pcie.h"
#include "model/engine/wire/gather.h"
#include "model/sim/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
	/* all different, so that a sum shows its parts */
	SECOND_STEP = 3,
	GATHER = 5000,
	SMALL = 32,
};

static struct event_core core;
static struct hca_params params;
static struct hca hca;
static uint64_t latest_ps; /* when the latest read began */
static unsigned later;     /* reads that had to wait */
static bool queues;        /* a read would wait for the data of earlier ones */

/* --- instead of PCIe --- */

void pcie_read(struct hca *h, struct dma *dma, uint64_t earliest_ps)
{
	latest_ps = earliest_ps > hca_now(h) ? earliest_ps : hca_now(h);
}

bool pcie_read_queues(const struct hca *h, uint64_t at_ps)
{
	return queues;
}

void pcie_read_later(struct hca *h, struct dma *dma, uint64_t at_ps)
{
	later++;
	latest_ps = at_ps;
}

static int start(void **state)
{
	params = (struct hca_params){
		.packet_large_gap = SECOND_STEP,
		.packet_gather_gap = GATHER,
		.packet_small = SMALL,
	};
	event_core_init(&core);
	hca = (struct hca){.core = &core, .params = &params};
	latest_ps = later = 0;
	queues = false;
	return 0;
}

static int finish(void **state)
{
	event_core_free(&core);
	return 0;
}

/* Reads for requests and for READ responses are issued one after the other. A read that comes when
 * the unit is free does not wait. */
static void gathered(void **state)
{
	struct dma dma = {.len = SMALL};

	gather_read(&hca, &dma, 0);
	assert_int_equal(latest_ps, 0);
	gather_read(&hca, &dma, 0);
	assert_int_equal(latest_ps, GATHER);
	dma.len = SMALL + 1;
	gather_read(&hca, &dma, 0);
	assert_int_equal(latest_ps, 2 * GATHER);
	gather_read(&hca, &dma, 0);
	assert_int_equal(latest_ps, 3 * GATHER + SECOND_STEP);
	assert_int_equal(later, 3);
	gather_read(&hca, &dma, 100 * GATHER);
	assert_int_equal(latest_ps, 100 * GATHER);
	assert_int_equal(later, 3);
	/* a later turn, but issued at once, because it would queue behind other data anyway */
	queues = true;
	gather_read(&hca, &dma, 100 * GATHER);
	assert_int_equal(latest_ps, 101 * GATHER + SECOND_STEP);
	assert_int_equal(later, 3);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, finish)
	const struct CMUnitTest tests[] = {
		T(gathered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
