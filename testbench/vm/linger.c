/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into the ping-pong programs, for runs in which packets are lost. Each of these programs
 * ends as soon as it has its own completions. If the last acknowledgement that it sent was lost,
 * the peer tries again, finds no QP any more, and fails after its last try; so it does with silicon
 * too. Therefore the first QP that a program destroys is kept for LINGER seconds, a few of the
 * peer's timeouts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

int ibv_destroy_qp(void *qp);

int ibv_destroy_qp(void *qp)
{
	static bool lingered;
	int (*destroy)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "ibv_destroy_qp");
	const char *seconds = getenv("LINGER");

	if (!lingered && seconds)
		sleep((unsigned)strtoul(seconds, NULL, 10));
	lingered = true;
	return destroy ? destroy(qp) : ENOSYS;
}
