/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workloads, one row each: W(name, quantity, many, run, "what is timed").
 *
 * many: only hca0 is under test. If the profile sets sim.perf.many_machines, the other side stands
 * for many machines and uses testbench/perf/many_machines.ini on top of the profile.
 */
#ifndef TESTBENCH_PERF_WORKLOADS_H
#define TESTBENCH_PERF_WORKLOADS_H

#include <stdbool.h>

enum {
	PERF_THREADS_MAX = 64,
	PERF_QPS_MAX = 4096,
	PERF_DEPTH_MAX = 8192,
	PERF_BATCH_MAX = 256,
};

/* clang-format off */
#define PERF_WORKLOADS(W) \
	W(write_lat, TIME, false, perf_ping_pong, "WRITE there and back, half the round trip, median") \
	W(send_lat, TIME, false, perf_ping_pong, "SEND there and back, half the round trip, median") \
	W(read_lat, TIME, false, perf_round_trip, "READ posted until its completion, median") \
	W(atomic_lat, TIME, false, perf_round_trip, "atomic posted until its completion, median") \
	W(write_completion, TIME, false, perf_round_trip, "WRITE posted until its completion, mean") \
	W(read_completion, TIME, false, perf_round_trip, "READ posted until its completion, mean") \
	W(echo_rtt, TIME, false, perf_ping_pong, "unsignalled WRITE there and back, both CPUs poll memory") \
	W(write_bw, BANDWIDTH, false, perf_bandwidth, "one QP that keeps tx_depth WRITEs posted") \
	W(read_bw, BANDWIDTH, false, perf_bandwidth, "one QP that keeps tx_depth READs posted") \
	W(send_bw, BANDWIDTH, false, perf_bandwidth, "one QP that keeps tx_depth SENDs posted") \
	W(write_bw_bidir, BANDWIDTH, false, perf_bandwidth, "write_bw both ways, the sum") \
	W(read_bw_bidir, BANDWIDTH, false, perf_bandwidth, "read_bw both ways, the sum") \
	W(send_bw_bidir, BANDWIDTH, false, perf_bandwidth, "send_bw both ways, the sum") \
	W(out_rate, RATE, true, perf_rate, "requests that one HCA sends") \
	W(in_rate, RATE, true, perf_rate, "requests that one HCA receives") \
	W(sym_read_rate, RATE, false, perf_symmetric, "READs of an HCA that both sends and answers them") \
	W(ack_timeout, TIME, false, perf_ack_timeout, "SEND to a dead peer until its error completion") \
	W(rnr_delay, TIME, false, perf_rnr_delay, "RNR NAK until the resend")
/* clang-format on */

/* Results are in us, MiB/s and millions per second. */
enum perf_quantity { PERF_TIME, PERF_BANDWIDTH, PERF_RATE };

struct perf_world;

struct perf_workload {
	const char *name, *meaning;
	enum perf_quantity quantity;
	bool many;
	/* Runs in a host thread with both HCAs up. Returns the result, or calls perf_fail(). */
	double (*run)(struct perf_world *world);
};

const struct perf_workload *perf_workload_find(const char *name);
/* The factor from a result to that unit; 0: the workload has no such unit. */
double perf_unit_factor(const struct perf_workload *workload, const char *unit);
const char *perf_units(const struct perf_workload *workload);

#endif
