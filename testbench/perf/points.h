/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Published measurements: a CSV file with one row per point,
 *
 *	id,profile,workload,params,value,unit,source
 *
 * params is key=value;key=value. workloads.h defines the workloads, the rows below the keys. A key
 * with a dot is a parameter of the simulation (hca.link.delay=1us).
 */
#ifndef TESTBENCH_PERF_POINTS_H
#define TESTBENCH_PERF_POINTS_H

#include "host_driver/mlx4/ibv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* N(key, "meaning"): numeric keys, as members of struct perf_params. 0 or absent: the workload's
 * default. `inlined` has the key `inline`, which is a keyword of C. */
#define PERF_NUMBERS(N)                                                                            \
	N(size, "message size in bytes")                                                           \
	N(inlined, "_lat workloads: largest size sent inline; others: 0 or 1")                     \
	N(mtu, "path MTU in bytes")                                                                \
	N(mps, "PCIe maximum payload size in bytes")                                               \
	N(mrrs, "PCIe maximum read request size in bytes")                                         \
	N(tx_depth, "requests kept posted")                                                        \
	N(outstanding, "READs and atomics in flight per QP")                                       \
	N(threads, "host threads that post")                                                       \
	N(qps, "queue pairs, all threads together")                                                \
	N(window, "each thread asks for one completion per this many requests")                    \
	N(batch, "WQEs per doorbell")                                                              \
	N(mrs, "memory regions from which the targets are drawn")                                  \
	N(mr_size, "size of a memory region in bytes")                                             \
	N(random, "1: random targets within the region")                                           \
	N(addresses, "8-byte words that the atomics use, in pages of 2 MiB")                       \
	N(timeout, "ACK timeout code")                                                             \
	N(retry_cnt, "retries before a request fails")                                             \
	N(min_rnr_timer, "RNR timer code")

enum perf_op { PERF_WRITE, PERF_READ, PERF_SEND, PERF_FETCH_ADD, PERF_CMP_SWAP };
enum { PERF_SETTINGS_MAX = 16, PERF_WORDS_MAX = 16 };

struct perf_params {
#define N(key, meaning) uint64_t key;
	PERF_NUMBERS(N)
#undef N
	bool has_size, has_retry_cnt, has_min_rnr_timer;
	enum perf_op op;
	bool has_transport;
	enum ibv_qp_type transport;
	const char *settings[PERF_SETTINGS_MAX]; /* section.key=value */
	unsigned setting_count;
};

struct perf_workload;

struct perf_point {
	char *id, *profile, *workload_name, *params_text, *unit, *source;
	const struct perf_workload *workload;
	struct perf_params params;
	double published; /* NAN: none */
	const char *file;
	unsigned line;
};

struct perf_points {
	struct perf_point *points;
	size_t count;
	char *text; /* holds all strings */
	char *file;
};

/* 0; or -EINVAL or -errno after one line "FILE:LINE: error" to err. */
int perf_points_load(struct perf_points *points, const char *path, FILE *err);
/* The same from a text, which is freed with the points. `name` is used as the file's name. */
int perf_points_parse(struct perf_points *points, const char *name, char *text, FILE *err);
/* ask.c: makes points from a workload's name and n words of the form KEY=VALUE,VALUE...: one point
 * for each combination of values, without a published value, with the profile `default`. */
int perf_points_ask(struct perf_points *points, const char *workload, const char *const *words,
		    unsigned n, FILE *err);
void perf_points_free(struct perf_points *points);

#endif
