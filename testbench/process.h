/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated processes: programs on a simulated host that use <infiniband/verbs.h>. What a process
 * finds around it stands under "for the process": memory, descriptors, sockets, time.
 *
 *	static int server(void *arg) { ... ibv_get_device_list(NULL) ... return 0; }
 *
 *	SCENARIO(example, "what it shows", .no_qps = true, .any_packets = true)
 *	{
 *		struct process *p = start_process(b, server, NULL);
 *
 *		expect_exit(p, 0);
 *	}
 *
 * A process that is killed stops where it is, even in the middle of posting; a call of the kernel
 * ends first. What it had is destroyed and freed in either case. A scenario fails when a process is
 * still there at its end, or when a context, domain or file is.
 */
#ifndef TESTBENCH_PROCESS_H
#define TESTBENCH_PROCESS_H

#include "host_driver/uverbs/process.h"
#include "testbench/scenario.h"

#include <sys/types.h>

struct process;

enum { PROCESS_KILLED = -1000 }; /* the exit status of one that was killed */

/* --- for scenarios --- */

/* `main` runs in a thread of the process; what it returns is its exit status. */
#define start_process(end, main, arg) tb_start_process(tb, TB_HERE, end, #main, main, arg)
struct process *tb_start_process(struct tb *tb, const char *here, struct tb_end *end,
				 const char *name, int (*main)(void *arg), void *arg);
/* Waits until everything of it is gone; it is not to be used afterwards. */
#define expect_exit(process, status) tb_expect_exit(tb, TB_HERE, process, status)
void tb_expect_exit(struct tb *tb, const char *here, struct process *p, int status);
/*
 * A program as it is, main() and all, as the process' main: `build` has its source files, and
 * options of the compiler if need be, with one space between; further arguments are argv[1] and so
 * on. See testbench/machine/posix.h.
 *
 *	start_program(b, "rc_pingpong.c pingpong.c -Iccan", "-n", "10");
 *	start_program(a, "rc_pingpong.c pingpong.c -Iccan", "-n", "10", "b");
 */
#define start_program(end, build, ...)                                                             \
	tb_start_program(                                                                          \
		tb, TB_HERE, end,                                                                  \
		&(struct tb_program){.argv = (const char *const[]){build, ##__VA_ARGS__, NULL}})
struct tb_program {
	const char *const *argv; /* [0]: what it is built from; NULL-terminated */
	int (*main)(int argc, char *argv[]);
};
struct process *tb_start_program(struct tb *tb, const char *here, struct tb_end *end,
				 struct tb_program *program);
/* Everything of it is gone; it still is to be awaited. */
bool has_exited(const struct process *p);
/* Its status, without a word on which; PROCESS_KILLED. INT_MIN after a failure. */
#define await_exit(process) tb_await_exit(tb, TB_HERE, process)
int tb_await_exit(struct tb *tb, const char *here, struct process *p);
/* A process that does what the body tells it, step by step: run_in runs fn(arg) in it, waits, and
 * expects 0; run_in_expect another result. end_worker lets it end; it can be killed too. */
#define start_worker(end)                      tb_start_worker(tb, TB_HERE, end)
#define run_in(worker, fn, arg)                tb_run_in(tb, TB_HERE, worker, #fn, fn, arg, 0)
#define run_in_expect(worker, fn, arg, result) tb_run_in(tb, TB_HERE, worker, #fn, fn, arg, result)
#define end_worker(worker)                     tb_end_worker(tb, TB_HERE, worker)
struct process *tb_start_worker(struct tb *tb, const char *here, struct tb_end *end);
void tb_run_in(struct tb *tb, const char *here, struct process *worker, const char *name,
	       int (*fn)(void *arg), void *arg, int result);
void tb_end_worker(struct tb *tb, const char *here, struct process *worker);
/* At once, wherever it is. */
#define kill_process(process) tb_kill_process(tb, TB_HERE, process)
void tb_kill_process(struct tb *tb, const char *here, struct process *p);
/* The kernel's verbs of that end's host: made at first use, gone at tear-down. NULL after a
 * failure.
 */
#define ib_device_of(end) tb_ib_device(tb, TB_HERE, end)
struct ib_device *tb_ib_device(struct tb *tb, const char *here, struct tb_end *end);
/* What the processes of that host share. */
struct uv_host *tb_uv_host(struct tb *tb, struct tb_end *end);

/* --- for the process; the calling one unless said --- */

/* Zeroed whole pages that ibv_reg_mr takes. NULL: none left. */
void *process_memory(size_t bytes);
void process_memory_free(void *addr);
/* A further thread of the process. It ends when main returns. -ENOMEM. */
int process_thread(const char *name, void (*fn)(void *arg), void *arg);
/* The same; ended(arg) in whichever way it ends, after which it is gone. NULL: no memory. */
struct process_thread;
struct process_thread *process_spawn(const char *name, void (*fn)(void *arg),
				     void (*ended)(void *arg), void *arg);
/* Ends the calling one. */
__attribute__((noreturn)) void process_thread_end(void);
/* Ends where it waits, or waits next. */
void process_thread_cancel(struct process_thread *thread);
/* What the calling thread was started with, if it runs fn. */
void *process_thread_arg(void (*fn)(void *arg));
/* Ends the process with that status. */
__attribute__((noreturn)) void process_exit(int status);

void process_sleep_us(uint64_t us);
uint64_t process_now_ns(void);

/* -1 with errno as open(2); files are names without content, as long as one has them open. */
int process_open(const char *path, int flags);
/* 0 or -1 with errno EBADF, EINVAL (of a channel or context). */
int process_close(int fd);
/* O_NONBLOCK of a channel's or context's descriptor. */
int process_nonblock(int fd, bool on);
/* As poll(2) of one descriptor for reading: 1, or 0 after the timeout (-1: none); -1 with EBADF. */
int process_poll(int fd, int timeout_ms);

/*
 * The out-of-band channel: a stream of bytes between two processes of any hosts, as TCP would be.
 * The first two ends that open a name are connected; who comes first waits.
 */
struct oob;
struct oob *oob_open(const char *name);
/* 0, or -1 when the other process has ended (EPIPE). Bytes arrive in order, OOB_LATENCY_US later.
 */
int oob_write(struct oob *o, const void *bytes, size_t len);
/* All `len` bytes: 0; -1: the other end closed before (ECONNRESET). */
int oob_read(struct oob *o, void *bytes, size_t len);
/* At least one, at most `len` bytes, never of two writes: how many; 0: the other end has closed. */
ssize_t oob_read_some(struct oob *o, void *bytes, size_t len);
/* At the latest when the process ends. */
void oob_close(struct oob *o);
/* When there is something to read or the other end has closed: now or before; UINT64_MAX: not known
 * yet. The process' waitq is woken then. */
uint64_t oob_readable_ps(const struct oob *o);

#endif
