/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hcasim serve: offers HCAs to virtual machines over vfio-user until SIGINT, SIGTERM or `hcasim ctl
 * SOCKET quit`.
 */
#ifndef TESTBENCH_SERVE_H
#define TESTBENCH_SERVE_H

#include "model/interface/rules.h"
#include "testbench/app/run.h"

enum { SERVE_SOCKETS_MAX = 2 };

struct serve_options {
	const char *sockets[SERVE_SOCKETS_MAX];
	unsigned socket_count;
	/* of the guests whose clocks lead; none: the wall clock leads */
	const char *clocks[SERVE_SOCKETS_MAX];
	unsigned clock_count;
	bool check;      /* the guests' drivers are watched: testbench/dsan/guest.h */
	const char *ctl; /* path of the control socket, or NULL */
	/* with clocks: guests and devices are held at this time, and at each guest error of a rule */
	bool stops_at, stops_on;
	uint64_t stop_at_ps;
	enum guest_rule stop_on;
};

/*
 * One HCA per socket; with hca0.port1.wire or hca0.port2.wire there is only one. Two HCAs are linked port to port; the two ports of a single HCA are linked to
 * each other. One clock: its guest has all HCAs; two clocks: a guest for each HCA. Uses ini, settings, seed, traces, dir and fw of `run`. Errors go to stderr;
 * connections, guest errors and the report go to stdout.
 */
enum exit_status serve(const struct run_options *run, const struct serve_options *options);

#endif
