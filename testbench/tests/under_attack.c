/* SPDX-License-Identifier: Apache-2.0 */
/*
 * under_attack HCASIM SECONDS [SEED] runs `hcasim serve` with two guests. The hostile guest
 * (hostile.h) does one act after another, in whole rounds. The good guest reads a register and lets
 * its queue pair do work, in turn and without a pause. The test prints the longest time that each
 * of the two took.
 *
 * It fails when the good guest gets wrong service or none, or when serve exits, complains about the
 * good guest, uses too much memory, or does not end on SIGTERM. It also fails when a pause is
 * longer than STOP_MS of the environment. VERBOSE=1 prints each act, and each pause of more than 20
 * ms with the machine's share of it.
 */
#define _GNU_SOURCE
#include "host_driver/mlx4/connect.h"
#include "host_driver/mlx4/mlx4.h"
#include "testbench/tests/hostile.h"
#include "testbench/tests/serve_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PATH = 200,
	GUEST = 1, /* the good one; 0 is the hostile one */
	END_S = 20,
	RESIDENT_MAX_MIB = 1024,
	FIRST_S = 10,
	LONG_NS = 20000000,
	LOOK = 64, /* accesses */
};

static const uint64_t ns_per_s = 1000000000, stuck_ps = UINT64_C(10000000000000);
static char folder[] = "/tmp/under_attack_XXXXXX";
static char sockets[2][PATH], said[PATH];
static pid_t server, attacker;
static bool verbose;
static uint64_t began_ns;

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "under_attack: %s\n", why);
	if (attacker > 0)
		kill(attacker, SIGKILL);
	if (server > 0)
		kill(server, SIGKILL);
	exit(1);
}

static void lost(void)
{
	fail("the good guest's connection is gone");
}

/* --- serve --- */

static void serve_start(const char *hcasim)
{
	char traces[PATH];

	if (!mkdtemp(folder))
		fail("no folder");
	for (unsigned i = 0; i < 2; i++)
		snprintf(sockets[i], PATH, "%s/%u.sock", folder, i);
	snprintf(said, PATH, "%s/said", folder);
	snprintf(traces, PATH, "%s/serve", folder);
	server = fork();
	if (!server) {
		int out = open(said, O_CREAT | O_WRONLY | O_TRUNC, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out, 1);
		execl(hcasim, hcasim, "serve", "--socket", sockets[0], "--socket", sockets[1],
		      "--trace", "none", "-o", traces, NULL);
		_exit(127);
	}
	for (uint64_t start = guest_wall_ns(); access(sockets[1], F_OK); usleep(1000))
		if (guest_wall_ns() - start > FIRST_S * ns_per_s)
			fail("serve does not listen");
}

static long resident_mib(void)
{
	char path[PATH], line[PATH];
	long kib = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)server);
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in))
		sscanf(line, "VmHWM: %ld", &kib);
	if (in)
		fclose(in);
	return kib / 1024;
}

/* Checks that serve has not complained about the good guest, which has done nothing wrong. */
static void said_check(void)
{
	FILE *in = fopen(said, "r");
	char line[1024];

	while (in && fgets(line, sizeof(line), in))
		if (strstr(line, "hca1 guest error") || strstr(line, "hca1 catastrophic")) {
			fputs(line, stderr);
			fail("serve complains of the good guest");
		}
	if (in)
		fclose(in);
}

static void serve_end(void)
{
	const uint64_t start = guest_wall_ns();
	int status;

	kill(server, SIGTERM);
	while (!waitpid(server, &status, WNOHANG)) {
		if (guest_wall_ns() - start > END_S * ns_per_s)
			fail("serve does not end by SIGTERM");
		usleep(1000);
	}
	server = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail("serve ended by a fault");
}

/* --- the hostile guest --- */

static void act_once(enum hostile_act act, uint64_t seed)
{
	const uint64_t start = guest_wall_ns();
	int status;
	pid_t pid = fork();

	if (!pid)
		hostile_do(sockets[0], act, seed);
	waitpid(pid, &status, 0);
	if (verbose)
		printf("%.1f s: %s for %.3f s, status %x\n", (double)(start - began_ns) / 1e9,
		       hostile_name(act), (double)(guest_wall_ns() - start) / 1e9,
		       (unsigned)status);
	fflush(stdout);
	if (WIFEXITED(status) && WEXITSTATUS(status)) {
		fprintf(stderr, "under_attack: %s: the device is not to be had any more\n",
			hostile_name(act));
		exit(1);
	}
	/* gives the server time to see that its client has gone and to reset the device */
	usleep(2000);
}

/* Runs whole rounds of acts, at least one. */
static void attack(uint64_t seed, uint64_t seconds)
{
	const uint64_t end = guest_wall_ns() + seconds * ns_per_s;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	do
		for (unsigned act = 0; act < HOSTILE_ACT_COUNT; act++)
			act_once((enum hostile_act)act, seed++);
	while (guest_wall_ns() < end);
	exit(0);
}

/* --- the good guest --- */

struct longest {
	const char *what;
	uint64_t ns, count;
};

/* Time that a process was ready to run but had no processor: proc(5), schedstat. */
static uint64_t waited_ns(const char *pid)
{
	unsigned long long ran, waited = 0;
	char path[PATH];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%s/schedstat", pid);
	in = fopen(path, "r");
	if (in && fscanf(in, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (in)
		fclose(in);
	return waited;
}

/* Such time of the good guest and of serve together, since the last call. */
static uint64_t machine_ns(void)
{
	static uint64_t before;
	char pid[16];
	uint64_t now, since;

	snprintf(pid, sizeof(pid), "%d", (int)server);
	now = waited_ns("self") + waited_ns(pid);
	since = now - before;
	before = now;
	return since;
}

struct good {
	struct guest guest;
	struct drv_device *dev;
	struct drv_pd *pd;
	struct drv_cq *cq;
	struct drv_qp *qp;
	struct drv_mr *mr;
	struct longest reads, rounds;
};

static void note(struct longest *l, uint64_t start)
{
	const uint64_t ns = guest_wall_ns() - start;

	l->count++;
	if (ns > l->ns)
		l->ns = ns;
	if (ns > LONG_NS && verbose)
		printf("%.1f s: %s took %.1f ms, the machine had no processor for %.1f ms lately\n",
		       (double)(start - began_ns) / 1e9, l->what, (double)ns / 1e6,
		       (double)machine_ns() / 1e6);
	else if (verbose && l->count % LOOK == 0)
		machine_ns();
}

static void good_start(struct good *g)
{
	const struct drv_options options = {.poll_commands = true, .no_ports = true};
	const struct drv_qp_init init = {.type = IBV_QPT_RC, .cap = {16, 1, 1, 1, 0}};
	struct drv_qp_init with_cq = init;
	struct drv_rc_path path;
	void *memory;

	if (guest_open(&g->guest, sockets[GUEST], lost) ||
	    drv_probe(&g->guest.platform, &options, &g->dev) || drv_pd_alloc(g->dev, &g->pd) ||
	    drv_cq_create(g->dev, 16, DRV_CQ_POLLED, &g->cq))
		fail("the good guest's device does not come up");
	with_cq.send_cq = with_cq.recv_cq = g->cq;
	if (drv_qp_create(g->pd, &with_cq, &g->qp))
		fail("no queue pair");
	path = drv_rc_path_default(1, drv_qp_num(g->qp));
	memory = g->guest.platform.ops->user_alloc(&g->guest.platform, 4096);
	if (drv_qp_connect(g->qp, &path) || drv_mr_alloc_fast(g->pd, 1, &g->mr) ||
	    drv_mr_fast_set(g->mr, memory, 4096))
		fail("no queue pair that is ready");
	g->reads.what = "register read";
	g->rounds.what = "doorbell to completion";
}

static void complete(struct good *g, const struct drv_send_wr *wr)
{
	const struct drv_send_wr *bad;
	struct platform *p = &g->guest.platform;
	const uint64_t start = guest_wall_ns();
	struct drv_wc wc;

	if (drv_post_send(g->qp, wr, &bad))
		fail("a work request is not taken");
	if (drv_cq_wait(g->cq, p->ops->now_ps(p) + stuck_ps) || drv_cq_poll(g->cq, 1, &wc) != 1)
		fail("a work request is not done");
	if (wc.status != IBV_WC_SUCCESS || wc.wr_id != wr->wr_id)
		fail("a work request is done wrong");
	note(&g->rounds, start);
}

/* Reads a register, then validates and invalidates a region with work requests. */
static void good_round(struct good *g, uint64_t id)
{
	const uint64_t start = guest_wall_ns();
	struct drv_send_wr wr = {.wr_id = id,
				 .opcode = IBV_WR_REG_MR,
				 .send_flags = IBV_SEND_SIGNALED,
				 .reg_mr = g->mr,
				 .reg_access = IBV_ACCESS_LOCAL_WRITE};

	drv_raw_mmio_read32(g->dev, GUEST_BAR0, 0x80698);
	note(&g->reads, start);
	complete(g, &wr);
	wr = (struct drv_send_wr){.wr_id = id + 1,
				  .opcode = IBV_WR_LOCAL_INV,
				  .send_flags = IBV_SEND_SIGNALED,
				  .invalidate_rkey = drv_mr_lkey(g->mr)};
	complete(g, &wr);
}

static void tell(const struct longest *l)
{
	printf("%s: %llu, the longest took %.3f ms\n", l->what, (unsigned long long)l->count,
	       (double)l->ns / 1e6);
}

/* Raises the priority, if the system allows it, so that the hostile guest does not keep this one
 * from the processor. */
static void hurry(void)
{
	if (setpriority(PRIO_PROCESS, 0, -20))
		printf("no priority: what else runs here may be felt\n");
}

int main(int argc, char **argv)
{
	const uint64_t seconds = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	const char *stop_ms = getenv("STOP_MS");
	static struct good g;
	uint64_t id = 0;
	int status = 0;

	if (!seconds) {
		fprintf(stderr, "under_attack HCASIM SECONDS [SEED]\n");
		return 2;
	}
	verbose = getenv("VERBOSE");
	began_ns = guest_wall_ns();
	setlinebuf(stdout);
	serve_start(argv[1]);
	good_start(&g);
	fflush(stdout);
	attacker = fork();
	if (!attacker)
		attack(seed, seconds);
	hurry();
	for (; id % 256 || !waitpid(attacker, &status, WNOHANG); id += 2)
		good_round(&g, id);
	attacker = 0;
	if (status)
		fail("the hostile guest came to nothing");
	tell(&g.reads);
	tell(&g.rounds);
	printf("serve took %ld MiB at most\n", resident_mib());
	if (resident_mib() > RESIDENT_MAX_MIB)
		fail("serve takes too much memory");
	if (stop_ms && g.reads.ns > strtoull(stop_ms, NULL, 10) * 1000000)
		fail("a register read took too long");
	if (stop_ms && g.rounds.ns > strtoull(stop_ms, NULL, 10) * 1000000)
		fail("a work request took too long");
	serve_end();
	said_check();
	return 0;
}
