/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for librdmacm that uses pthreads, semaphores, a condition variable, poll() and
 * eventfd() runs unchanged; its threads are scheduled identically in each run. A process that is
 * killed in the middle leaves nothing behind.
 */
#include "testbench/connect.h"

#define PROGRAM "testbench/programs/conn_ping.c"

SCENARIO(posix_threads, "a program with threads, written for librdmacm, runs unchanged",
	 .no_qps = true, .any_packets = true)
{
	struct process *server, *client;

	start_cm();
	server = start_program(b, PROGRAM);
	client = start_program(a, PROGRAM, "11.0.1.2");
	expect_exit(client, 0);
	expect_exit(server, 0);

	server = start_program(b, PROGRAM);
	client = start_program(a, PROGRAM, "11.0.1.2");
	pass_time(CFG_US(200));
	kill_process(client);
	kill_process(server);
	expect_exit(client, PROCESS_KILLED);
	expect_exit(server, PROCESS_KILLED);
}
