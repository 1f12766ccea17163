/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads for `make bench`, each with two lengths: the difference between the two is the cost of the
 * load itself, without startup and shutdown. The list of scenarios hides them, and their packets
 * are not observed.
 */
#include "testbench/scenario.h"

#include <unistd.h>

enum {
	MESSAGE = 1 << 20,
	PACKETS = MESSAGE / 4096,
	SHORT = 4,
	LONG = SHORT + 32,
	RACE = SHORT + 800,
	MANY = 10000000 / PACKETS / SHORT * SHORT + SHORT, /* 10 M packets */
	IDLE_S = 10,
	QPS = 1024
};

static void write_messages(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned n)
{
	for (unsigned i = 0; i < n && still_right(); i += SHORT) {
		rdma_write(a, .wr_id = i, .len = MESSAGE, .repeat = SHORT);
		expect_cqes(a, SHORT);
	}
	expect_data(b, .len = MESSAGE);
}

SCENARIO(bench_write_short, "1024 packets of RC WRITE", .hidden = true, .unobserved = true,
	 .memory = MESSAGE)
{
	write_messages(tb, a, b, SHORT);
}

SCENARIO(bench_write_long, "9216 packets of RC WRITE", .hidden = true, .unobserved = true,
	 .memory = MESSAGE)
{
	write_messages(tb, a, b, LONG);
	expect_stat(a, requester, packets, LONG * PACKETS);
}

/* Runs long enough to be measured by a clock. */
SCENARIO(bench_write_race, "205824 packets of RC WRITE", .hidden = true, .unobserved = true,
	 .memory = MESSAGE)
{
	write_messages(tb, a, b, RACE);
	expect_stat(a, requester, packets, RACE * PACKETS);
}

/* Returns the resident memory of this process, in KiB. */
static double resident_kib(struct tb *tb)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	expect_true(f && fscanf(f, "%*u %lu", &pages) == 1);
	if (f)
		fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

SCENARIO(bench_memory, "what 10 M packets of RC WRITE leave in memory", .hidden = true,
	 .unobserved = true, .memory = MESSAGE)
{
	double before;

	write_messages(tb, a, b, LONG);
	before = resident_kib(tb);
	write_messages(tb, a, b, MANY);
	tb_figure(tb, "grown_kib", resident_kib(tb) - before);
	expect_stat(a, requester, packets, (uint64_t)(LONG + MANY) * PACKETS);
}

SCENARIO(bench_idle_short, "two trained HCAs, no time", .hidden = true, .unobserved = true)
{
	pass_time(CFG_MS(1));
}

SCENARIO(bench_idle_long, "two trained HCAs, 10 s", .hidden = true, .unobserved = true)
{
	pass_time(CFG_MS(1));
	pass_time(CFG_S(IDLE_S));
}

static size_t footprint(struct tb *tb)
{
	return hca_footprint(host_hca(tb_machine(tb)->hosts[0]));
}

/* Queue pairs that are created but not yet connected. */
SCENARIO(bench_qps, "what 1024 created queue pairs cost the simulator", .hidden = true,
	 .unobserved = true, .no_qps = true)
{
	const struct drv_qp_init shape = {
		.type = IBV_QPT_RC,
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct drv_qp_init init = shape;
	struct drv_qp *qp[QPS] = {NULL};
	size_t before;

	must(drv_pd_alloc(a->dev, &a->pd));
	must(drv_cq_create(a->dev, 64, DRV_CQ_POLLED, &a->cq));
	if (!still_right())
		return;
	init.send_cq = init.recv_cq = a->cq;
	before = footprint(tb);
	for (unsigned i = 0; i < QPS && still_right(); i++) {
		struct drv_rc_path path = drv_rc_path_default(b->lid, 1);

		must(drv_qp_create(a->pd, &init, &qp[i]));
		must(drv_qp_to_init(qp[i], &path));
	}
	tb_figure(tb, "qp_bytes", (double)(footprint(tb) - before) / QPS);
	for (unsigned i = 0; i < QPS && still_right(); i++)
		must(drv_qp_destroy(qp[i]));
}
