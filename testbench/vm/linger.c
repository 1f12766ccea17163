/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into the ping-pong programs where packets are lost. Each of them ends when its own
 * completions are there; when the last acknowledgement it sent was lost, the peer's next try finds
 * no QP, and after the last try the peer fails, on silicon too. This holds the first QP that is
 * destroyed for LINGER seconds, a few of the peer's timeouts.
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
