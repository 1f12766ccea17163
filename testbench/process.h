/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated processes: programs on a simulated host that use <infiniband/verbs.h>. The functions
 * that a process can call (memory, descriptors, sockets, time) are below, under "for the process".
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
 * A process that is killed stops where it is, even in the middle of posting a request; but a call
 * into the kernel is completed first. Whether a process is killed or exits, all its objects are
 * destroyed and its memory is freed. A scenario fails if a process, context, XRC domain or file
 * still exists at its end.
 */
#ifndef TESTBENCH_PROCESS_H
#define TESTBENCH_PROCESS_H

#include "host_driver/uverbs/process.h"
#include "testbench/scenario.h"

#include <sys/types.h>

struct process;

enum { PROCESS_KILLED = -1000 }; /* the exit status of a process that was killed */

/* --- for scenarios --- */

/* Starts a process. `main` runs in its first thread; the return value is the exit status. */
#define start_process(end, main, arg) tb_start_process(tb, TB_HERE, end, #main, main, arg)
struct process *tb_start_process(struct tb *tb, const char *here, struct tb_end *end,
				 const char *name, int (*main)(void *arg), void *arg);
/* Waits until the process and all it had are gone. `process` is invalid afterwards. */
#define expect_exit(process, status) tb_expect_exit(tb, TB_HERE, process, status)
void tb_expect_exit(struct tb *tb, const char *here, struct process *p, int status);
/*
 * Compiles an unchanged program and runs its main() as a process. `build` lists the source files
 * and any compiler options, separated by single spaces. Further arguments become argv[1] and so on.
 * See testbench/machine/posix.h.
 *
 *	start_program(b, "rc_pingpong.c pingpong.c -Iccan", "-n", "10");
 *	start_program(a, "rc_pingpong.c pingpong.c -Iccan", "-n", "10", "b");
 */
#define start_program(end, build, ...)                                                             \
	tb_start_program(                                                                          \
		tb, TB_HERE, end,                                                                  \
		&(struct tb_program){.argv = (const char *const[]){build, ##__VA_ARGS__, NULL}})
struct tb_program {
	const char *const *argv; /* argv[0] is `build` of start_program(); NULL-terminated */
	int (*main)(int argc, char *argv[]);
};
struct process *tb_start_program(struct tb *tb, const char *here, struct tb_end *end,
				 struct tb_program *program);
/* True once the process and all it had are gone. It still needs expect_exit() or await_exit(). */
bool has_exited(const struct process *p);
/* Like expect_exit(), but accepts and returns any exit status, also PROCESS_KILLED. INT_MIN if the
 * run has failed. */
#define await_exit(process) tb_await_exit(tb, TB_HERE, process)
int tb_await_exit(struct tb *tb, const char *here, struct process *p);
/* A worker is a process that executes functions for the body, one at a time. run_in runs fn(arg) in
 * it, waits, and expects 0 as the result; run_in_expect expects another result. end_worker makes the
 * worker exit. kill_process works on a worker too. */
#define start_worker(end)                      tb_start_worker(tb, TB_HERE, end)
#define run_in(worker, fn, arg)                tb_run_in(tb, TB_HERE, worker, #fn, fn, arg, 0)
#define run_in_expect(worker, fn, arg, result) tb_run_in(tb, TB_HERE, worker, #fn, fn, arg, result)
#define end_worker(worker)                     tb_end_worker(tb, TB_HERE, worker)
struct process *tb_start_worker(struct tb *tb, const char *here, struct tb_end *end);
void tb_run_in(struct tb *tb, const char *here, struct process *worker, const char *name,
	       int (*fn)(void *arg), void *arg, int result);
void tb_end_worker(struct tb *tb, const char *here, struct process *worker);
/* Kills the process now, whatever it is doing. */
#define kill_process(process) tb_kill_process(tb, TB_HERE, process)
void tb_kill_process(struct tb *tb, const char *here, struct process *p);
/* The kernel verbs device of the end's host. It is created at the first call and removed at
 * tear-down. NULL if the run has failed. */
#define ib_device_of(end) tb_ib_device(tb, TB_HERE, end)
struct ib_device *tb_ib_device(struct tb *tb, const char *here, struct tb_end *end);
/* The kernel's part of user verbs on that host; all its processes share it. */
struct uv_host *tb_uv_host(struct tb *tb, struct tb_end *end);

/* --- for the process: all functions act on the calling process --- */

/* Whole pages, zeroed, that ibv_reg_mr accepts. NULL: none left. */
void *process_memory(size_t bytes);
void process_memory_free(void *addr);
/* Starts another thread. It ends at the latest when main returns. 0 or -ENOMEM. */
int process_thread(const char *name, void (*fn)(void *arg), void *arg);
/* The same. However the thread ends, ended(arg) is called; the returned pointer is invalid after
 * that. NULL: no memory. */
struct process_thread;
struct process_thread *process_spawn(const char *name, void (*fn)(void *arg),
				     void (*ended)(void *arg), void *arg);
/* Ends the calling thread. */
__attribute__((noreturn)) void process_thread_end(void);
/* Ends the thread in its present wait or, if it is not waiting, in its next one. */
void process_thread_cancel(struct process_thread *thread);
/* The arg of the calling thread if it was started with fn; else NULL. */
void *process_thread_arg(void (*fn)(void *arg));
/* Ends the process with that status. */
__attribute__((noreturn)) void process_exit(int status);

void process_sleep_us(uint64_t us);
uint64_t process_now_ns(void);

/* Like open(2), -1 with errno. Files have no content, only a name, and exist only while they are
 * open. */
int process_open(const char *path, int flags);
/* 0; or -1 with errno EBADF, or EINVAL if fd belongs to a channel or context. */
int process_close(int fd);
/* Sets or clears O_NONBLOCK of a channel's or context's descriptor. */
int process_nonblock(int fd, bool on);
/* Like poll(2) with POLLIN on one descriptor: 1, or 0 after the timeout (timeout_ms -1: never), or
 * -1 with errno EBADF. */
int process_poll(int fd, int timeout_ms);

/*
 * An out-of-band channel: a stream of bytes between two processes on any hosts, like a TCP
 * connection. The first two callers that open the same name are connected; the first one waits for
 * the second.
 */
struct oob;
struct oob *oob_open(const char *name);
/* 0; or -1 with errno EPIPE if the other process has ended. Bytes arrive in order, OOB_LATENCY_US
 * later. */
int oob_write(struct oob *o, const void *bytes, size_t len);
/* Waits for `len` bytes and returns 0; or -1 with errno ECONNRESET if the other end closed before. */
int oob_read(struct oob *o, void *bytes, size_t len);
/* Waits for at least one byte, and returns how many it read: at most `len`, and all from the same
 * oob_write(). 0: the other end has closed. */
ssize_t oob_read_some(struct oob *o, void *bytes, size_t len);
/* Closes this end. The end of the process does so too. */
void oob_close(struct oob *o);
/* The time at which the channel becomes readable, that is, has bytes or is closed by the other end.
 * A time up to now: it is readable. UINT64_MAX: the time is not known yet; the process' waitq is
 * woken when it is. */
uint64_t oob_readable_ps(const struct oob *o);

#endif
