/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rig for tests of connection management: two linked hosts that are up, each with a process,
 * subnet administration and connection management; failures that can be armed (the nth allocation
 * or the nth command, on any host); and a snapshot of everything that is held. The simulation runs
 * once, in one host thread; the tests judge its results afterwards.
 */
#ifndef HOST_DRIVER_CM_TESTS_CM_RIG_H
#define HOST_DRIVER_CM_TESTS_CM_RIG_H

#include "host_driver/cm/cma.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "host_driver/sm/sa.h"
#include "testbench/tests/failure.h"
#include "testbench/tests/machine_rig.h"
#include "traces/trace.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { HOSTS = 2, RIG_PORT = 1, TEXT = 200, WRONGS_MAX = 32, LINK_S = 5 };

#define RIG_S  UINT64_C(1000000000000)
#define RIG_MS UINT64_C(1000000000)

struct rig {
	struct machine machine;
	struct platform *p[HOSTS];
	struct drv_device *drv[HOSTS];
	struct ib_device *ib[HOSTS];
	struct uv_host host[HOSTS];
	struct uv_process process[HOSTS];
	struct sm_sa *sa;
	union ib_gid gid[HOSTS];
	unsigned who; /* the host whose process is running */
	/* results */
	bool set_up, clean;
	struct drv_leftovers left[HOSTS];
	char wrong[WRONGS_MAX][TEXT];
	unsigned wrongs, checks, failures[KINDS];
	void (*run)(void);
};

static struct rig rig; /* platform functions have no argument for a context, so it is global */

/* --- failures --- */

static inline void arm(enum failing kind, unsigned nth)
{
	failure.kind = kind;
	failure.nth = nth;
	failure.count = 0;
	failure.fired = false;
	failure.armed = true;
}

/* --- processes --- */

struct uv_process *uv_process_current(void)
{
	return &rig.process[rig.who];
}

void uv_kernel_enter(void)
{
}

void uv_kernel_leave(void)
{
}

static bool processes_start(void)
{
	for (unsigned i = 0; i < HOSTS; i++)
		if (uv_process_init(&rig.process[i], &rig.host[i]))
			return false;
	return true;
}

static void processes_end(void)
{
	for (unsigned i = 0; i < HOSTS; i++)
		uv_process_exit(&rig.process[i]);
}

/* --- everything that is held --- */

struct held {
	unsigned objects[HOSTS], ids[HOSTS], qps[HOSTS], cqs[HOSTS], pds[HOSTS], uars[HOSTS],
		mtts[HOSTS], db_records[HOSTS], mailboxes[HOSTS], files[HOSTS], bound[HOSTS],
		queries[HOSTS];
};

static unsigned length(const struct drv_list *head)
{
	unsigned n = 0;

	for (const struct drv_list *l = head->next; l != head; l = l->next)
		n++;
	return n;
}

static void look(struct held *h)
{
	memset(h, 0, sizeof(*h));
	for (unsigned i = 0; i < HOSTS; i++) {
		const struct drv_device *dev = rig.drv[i];
		const struct cm_device *cm = cm_of(rig.ib[i]);

		h->objects[i] = ib_device_objects(rig.ib[i]);
		h->qps[i] = dev->qps.used;
		h->cqs[i] = dev->cqs.used;
		h->pds[i] = dev->pds.used;
		h->uars[i] = dev->uars.used;
		h->mtts[i] = dev->mtt_buddy.used;
		h->db_records[i] = dev->db_records;
		h->mailboxes[i] = dev->cmd.mailboxes;
		h->files[i] = rig.host[i].files;
		if (!cm)
			continue;
		h->ids[i] = length(&cm->ids);
		h->bound[i] = length(&cm->bound);
		h->queries[i] = length(&cm->queries);
	}
}

static void wrong(const char *text, long got, long want)
{
	if (rig.wrongs < WRONGS_MAX)
		snprintf(rig.wrong[rig.wrongs], TEXT, "%s: %ld instead of %ld", text, got, want);
	rig.wrongs++;
}

static void check(const char *text, long got, long want)
{
	rig.checks++;
	if (got != want)
		wrong(text, got, want);
}

static void unchanged(const struct held *before, const char *when, unsigned nth)
{
	static const char *const kinds[KINDS] = {"allocation", "command"};
	const unsigned *was = (const void *)before, *is;
	struct held after;
	char text[TEXT / 2];

	look(&after);
	is = (const void *)&after;
	for (size_t i = 0; i < sizeof(after) / sizeof(*is); i++) {
		snprintf(text, sizeof(text), "%s, %s %u, word %zu", when, kinds[failure.kind], nth,
			 i);
		check(text, is[i], was[i]);
	}
}

static void rig_sleep(uint64_t ps)
{
	rig.p[0]->ops->sleep_ps(rig.p[0], ps);
}

static uint64_t rig_now(void)
{
	return rig.p[0]->ops->now_ps(rig.p[0]);
}

/* --- the one run of the simulation --- */

static struct sockaddr_in rig_addr(unsigned host, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, host ? "11.0.1.2" : "11.0.1.1", &a.sin_addr);
	return a;
}

static bool host_up(unsigned i)
{
	struct drv_options options = {.log_eq_size = 10};

	rig.p[i]->ops = &failure.ops;
	if (drv_probe(rig.p[i], &options, &rig.drv[i]) ||
	    ib_device_create(rig.drv[i], "mlx4_0", NULL, NULL, &rig.ib[i]) ||
	    uv_host_init(&rig.host[i], rig.p[i]))
		return false;
	rig.host[i].devices[0] = rig.ib[i];
	rig.host[i].n_devices = 1;
	return true;
}

static bool tables_fill(void)
{
	for (unsigned at = 0; at < HOSTS; at++)
		for (unsigned of = 0; of < HOSTS; of++) {
			struct sockaddr_in a = rig_addr(of, 0);

			if (cma_addr_add(rig.ib[at], (struct sockaddr *)&a, &rig.gid[of], RIG_PORT,
					 at == of))
				return false;
		}
	return true;
}

static bool stand(void)
{
	for (unsigned i = 0; i < HOSTS; i++)
		if (!host_up(i))
			return false;
	if (sm_run(rig.drv[0], RIG_PORT, NULL, NULL) ||
	    drv_port_wait(rig.drv[1], RIG_PORT, IBV_PORT_ACTIVE, rig_now() + LINK_S * RIG_S) ||
	    sm_sa_start(rig.drv[0], RIG_PORT, 0, &rig.sa))
		return false;
	for (unsigned i = 0; i < HOSTS; i++)
		if (ib_cm_attach(rig.ib[i]) || ib_query_gid(rig.ib[i], RIG_PORT, 0, &rig.gid[i]))
			return false;
	return tables_fill() && processes_start();
}

static void host_thread(void *arg)
{
	for (unsigned i = 0; i < HOSTS; i++)
		rig.p[i] = host_platform(rig.machine.hosts[i]);
	failure.real = rig.p[0]->ops;
	failure.ops = *failure.real;
	failure.ops.pages_alloc = failing_pages;
	failure.ops.waitq_create = failing_waitq;
	failure.ops.mmio_write = failing_write;
	rig.set_up = stand();
	if (rig.set_up) {
		rig.run();
		processes_end();
		rig.clean = true;
		for (unsigned i = 0; i < HOSTS; i++)
			rig.clean &= !ib_cm_detach(rig.ib[i]) && uv_host_is_clean(&rig.host[i]);
		sm_sa_stop(rig.sa);
		for (unsigned i = 0; i < HOSTS; i++) {
			rig.clean &= !ib_device_destroy(rig.ib[i]);
			rig.left[i] = drv_remove(rig.drv[i]);
			uv_host_cleanup(&rig.host[i]);
			rig.p[i]->ops = failure.real;
		}
	}
	machine_stop(&rig.machine);
}

static void nothing_is_left(void **state)
{
	static const struct drv_leftovers none;

	assert_true(rig.set_up);
	assert_true(rig.clean);
	for (unsigned i = 0; i < HOSTS; i++) {
		assert_memory_equal(&rig.left[i], &none, sizeof(none));
		assert_int_equal(host_pages_used(rig.machine.hosts[i]), 0);
		assert_int_equal(host_pages_mapped(rig.machine.hosts[i]), 0);
	}
	assert_int_equal(rig.machine.guest_errors, 0);
	assert_int_equal(rig.machine.catastrophes, 0);
}

static void nothing_was_wrong(void **state)
{
	assert_true(rig.set_up);
	for (unsigned i = 0; i < rig.wrongs && i < WRONGS_MAX; i++)
		print_error("%s\n", rig.wrong[i]);
	assert_int_equal(rig.wrongs, 0);
}

static int rig_main(void (*run)(void), const struct CMUnitTest *tests, size_t n)
{
	rig.run = run;
	return machine_tests_run(&rig.machine, host_thread, tests, n);
}

#endif
