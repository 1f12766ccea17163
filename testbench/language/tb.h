/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internal state of one run of one scenario, which the verbs of scenario.h use. Only for the
 * test bench.
 */
#ifndef TESTBENCH_TB_H
#define TESTBENCH_TB_H

#include "host_driver/sm/sa.h"
#include "host_driver/uverbs/process.h"
#include "testbench/language/ladder_match.h"
#include "testbench/scenario.h"
#include "traces/trace.h"

#include <stdio.h>

enum {
	TB_TAIL_RECORDS = 96,
	TB_DIRECTIONS = 4, /* two for packets and two for MADs */
	TB_FAILURE_CHARS = 1024,
	TB_ROW_CHARS = 128
};

struct tb_events {
	struct tb *tb;
	struct drv_event *ring;
	unsigned room, first, count;
	bool ignore;
};

/* Completions of a host that were discarded unpolled with their queue pair or CQ. Those of kernel
 * verbs and processes are not counted. */
struct tb_discards {
	struct tb *tb;
	unsigned count;
	bool ignore;
	const char *here; /* the verb that was running at the first one */
	struct drv_wc wc;
};

/* Sums over both devices at the beginning of a phase. */
struct tb_totals {
	uint64_t time_ps, packets, resent, payload_bytes;
};

/* Optional packets: see allow_pkt(). */
struct tb_allowed {
	struct tb_allowed *next;
	enum tb_direction direction;
	uint8_t opcode;
	struct tb_pkt pkt;
};

struct tb_phase {
	const char *text;
	struct tb_totals begin, end;
};

struct tb {
	const struct scenario *scenario;
	struct tb_setup setup;
	struct machine *machine;
	struct trace *trace;
	const struct config *config;
	struct tb_end ends[TB_ENDS];
	struct tb_events events[TB_ENDS];     /* by host */
	struct tb_discards discards[TB_ENDS]; /* by host */
	struct drv_device *other_dev;         /* loopback: that of host 1 */
	struct uv_host uv[TB_ENDS]; /* by host: kernel verbs and processes, when there are any */
	struct drv_list processes;  /* of both hosts */
	struct sm_sa *sa[DRV_PORTS_MAX]; /* of host 0, after start_cm() */
	struct tb_iwarp *iwarp;          /* NULL: no word of iwarp.h has been used */
	struct drv_list oob_names;       /* out-of-band channels that wait for their other end */
	struct seen_queue directions[TB_DIRECTIONS];
	struct tb_allowed *allowed;
	struct tb_strange { /* what devices have sent that is not a valid packet */
		uint64_t time_ps;
		size_t len;
		unsigned hca, count;
	} strange,        /* the first of them */
		dirty;    /* valid ones with bits set that are nobody's */
	bool faults_done; /* the plan's faults have been checked: the body sends no more packets */

	/* the host thread that runs the body */
	struct kernel_thread *thread;
	bool waiting;
	struct event deadline;

	const char *here; /* source line of the current verb */
	bool failed;
	bool refused;                /* it failed because a device lacks something */
	bool timed_out;              /* the current verb has waited in vain */
	bool in_body;                /* the scenario's function runs; the first failure ends it */
	char counters[TB_ROW_CHARS]; /* what tb_stat() has read since the last verb */
	char row[TB_ROW_CHARS];      /* name of the current row in for_each_row() */
	char failure[TB_FAILURE_CHARS]; /* where, what was expected, what came instead */
	char *told; /* guest errors, refused commands and what waits, as they were printed with it */
	size_t told_size;
	bool done;
	unsigned guest_errors_taken[MACHINE_HOSTS]; /* index of the first note that is not taken */
	unsigned catastrophes_taken[MACHINE_HOSTS];
	uint64_t payload_bytes;  /* of messages that completed successfully */
	uint64_t *stats_at_body; /* of both devices, one after the other */
	struct tb_phase *phases;
	unsigned phases_count;
	char *ladder; /* what show_ladder() took, for the account */
	size_t ladder_size;
	FILE *report;  /* failures */
	FILE *account; /* the account of the run: phases, counters, progress */
	bool progress;
	uint64_t progress_packets, progress_wall_ns;
	/* Called at the first failure, before anything is taken down. */
	void (*on_failure)(struct tb *tb);
	void *on_failure_arg;
	/* Called before a failure is printed: guest errors that another program finds in the same run, as
	 * text that free() frees; NULL: none. */
	char *(*explain)(const struct tb *tb);
	char *explained;
	/* Called in the scenario's thread at power-on and again before the body. */
	void (*on_begin)(struct tb *tb, bool body);
	void *on_begin_arg;
};

/* 0 or -ENOMEM. The trace may be NULL when the scenario is unobserved. */
int tb_create(struct tb *tb, const struct scenario *scenario, struct machine *machine,
	      struct trace *trace, const struct config *config);
void tb_destroy(struct tb *tb);
/* The host thread: set-up, body, final checks, tear-down, end of the simulation. */
void tb_run(void *tb);

/* Each verb calls this first. False if the run has failed already; else records `here`. */
bool tb_go(struct tb *tb, const char *here);
/* Fails the run. The first failure is printed, with the ladder so far. `expected` and `got` are one
 * line each; `got` may be NULL. */
void tb_fail(struct tb *tb, const char *here, const char *expected, const char *got);
__attribute__((format(printf, 3, 4))) void tb_failf(struct tb *tb, const char *here,
						    const char *format, ...);
/* The user has ended a run that may hang: prints what explains it, the guest errors so far and what both
 * devices and the driver wait for. */
void tb_interrupted(struct tb *tb);

/* told.c: what explains a failure, as text. Guest errors that no verb has taken, each with its rule, its
 * object and the driver's calls. Nothing when there are none. */
void tb_tell_guest_errors(struct tb *tb, FILE *out);
/* Whether that prints anything. */
bool tb_has_guest_errors(const struct tb *tb);
/* The last commands that a device refused; after a wait in vain, what both devices wait for. */
void tb_tell_waits(struct tb *tb, FILE *out);
/* The program has crashed or does not go on, in these calls: they, the rule if they are in the driver, and
 * the guest errors before it. */
void tb_tell_crash(struct tb *tb, const struct calls *calls, enum guest_rule rule, FILE *out);
/* Whether the innermost of these calls that is not a library's is in the driver; for driver_endless, also not
 * the checker's. */
bool tb_in_driver(const struct calls *calls, enum guest_rule rule);
/* How many guest errors came after the failure. */
void tb_tell_consequences(struct tb *tb, FILE *out);
/* Prints calls of the driver and the scenario, one function a line, the innermost first, at most
 * `room` of them, with `label` before the first. */
void tb_tell_calls(const struct calls *calls, const char *label, unsigned room, FILE *out);

/* Sleeps until ready() or the deadline. Returns whether it is ready. ready() is only called again
 * after tb_poke(). */
bool tb_wait(struct tb *tb, bool (*ready)(struct tb *tb, void *arg), void *arg,
	     uint64_t deadline_ps);
/* The same for conditions without a tb_poke(): calls ready() repeatedly, for `ps` at most. */
bool tb_wait_polling(struct tb *tb, bool (*ready)(struct tb *tb, void *arg), void *arg,
		     uint64_t ps);
/* Something has happened that the body may be waiting for. Any context. */
void tb_poke(struct tb *tb);

/* observe.c: the trace sink. */
int tb_observe(struct tb *tb);
/* At the end of the body: checks that the queues are empty. */
void tb_judge_leftovers(struct tb *tb);

/* processes.c: checks that no process and nothing of a process is left; ends kernel verbs. */
void tb_processes_down(struct tb *tb, const char *here, struct tb_end *end);
/* connect.c: ends connection management of that host, and subnet administration. */
void tb_stop_cm(struct tb *tb, const char *here, struct tb_end *end);
/* After the host's device is dead: kills its processes and ends kernel verbs. The body must still
 * await the processes. */
void tb_processes_abandon(struct tb *tb, const char *here, struct tb_end *end);

/* iwarp.c: at the end of the body nothing may be left, and then the connections go. */
void tb_iwarp_judge(struct tb *tb, const char *here);
/* Frees all that the words of iwarp.h have made, if they have been used. */
void tb_iwarp_end(struct tb *tb);

/* setup.c: records an event of the driver; arg is the host's struct tb_events. */
void tb_event_came(void *arg, const struct drv_event *event);
/* Takes the oldest event; false: none. */
bool tb_event_take(struct tb_events *ev, struct drv_event *event);
/* A scenario without the usual tear-down has removed the devices that it brought up. */
void tb_judge_removed(struct tb *tb, const char *here);
/* After a failure: frees what the drivers hold, without commands to the devices. */
void tb_give_up(struct tb *tb);

/* services.c: on Ethernet ports, what sim.ethernet.roce says: which RoCE, and the entry of the GID
 * tables that queue pairs use. */
enum roce_kind tb_roce_kind(const struct tb *tb);
unsigned tb_gid_index(const struct tb *tb);

/* areas.c */
/* Allows the range to hold anything, until a verb expects data there. */
void tb_memory_loose(struct tb_end *end, uint64_t at, size_t len);
int tb_memory_create(struct tb_end *end, size_t bytes);
void tb_memory_destroy(struct tb_end *end);
void tb_memory_judge(struct tb_end *end);

/* account.c */
void tb_phase_end(struct tb *tb);
void tb_account_print(struct tb *tb);
int tb_stats_write(const struct tb *tb, FILE *out);
/* Stores both devices; returns how many. */
unsigned tb_devices(const struct tb *tb, const struct hca *hcas[static MACHINE_HOSTS]);
/* Writes the scenario's name, verdict and phases as JSON. 0 or -EIO. */
int tb_account_write(struct tb *tb, bool passed, FILE *out);
void tb_progress(struct tb *tb);
void tb_progress_clear(struct tb *tb);

#endif
