/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rig of unwind_test.c: a process in one host thread, failures that can be armed (the nth
 * allocation or the nth command), and a snapshot of everything that process, kernel and driver
 * hold.
 */
#ifndef HOST_DRIVER_UVERBS_TESTS_UNWIND_RIG_H
#define HOST_DRIVER_UVERBS_TESTS_UNWIND_RIG_H

#include "host_driver/mlx4/mlx4_internal.h"
#include "host_driver/uverbs/lib.h"
#include "model/engine/memory/icm.h"
#include "model/interface/fwregs.h"
#include "testbench/tests/failure.h"
#include "testbench/tests/machine_rig.h"

#include "traces/trace.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { REGION = 8192, TEXT = 240, NTH_MAX = 1000, CASES_MAX = 64, HW_NUMBERS = 8192 };

struct rig {
	struct machine machine;
	struct drv_device *drv;
	struct uv_host host;
	struct uv_process process, *other; /* other: runs in its place; NULL: none */
	/* objects that the cases use */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_xrcd *xrcd;
	struct ibv_qp *target;
	void *memory;
	int fd;
	/* objects that the cases make */
	void *made;
	struct ibv_qp *qp;
	uint32_t qpn;
	/* results */
	char wrong[CASES_MAX][TEXT];
	unsigned cases, failures[KINDS], wrongs;
	struct drv_leftovers left;
	bool clean, set_up, no_process;
	void (*run)(void);
	struct ibv_qp *ud;
};

static struct rig rig; /* platform functions have no argument for a context, so it is global */

/* --- the process --- */

struct uv_process *uv_process_current(void)
{
	return rig.no_process ? NULL : rig.other ? rig.other : &rig.process;
}

void uv_kernel_enter(void)
{
}

void uv_kernel_leave(void)
{
}

/* --- everything that is held --- */

struct held {
	unsigned mpts, pds, xrcds, cqs, srqs, qps, mcgs, uars, mtts, db_records, mailboxes, icm;
	size_t pages_used, pages_mapped;
	unsigned objects, pd_users, cq_users, srq_users, xrcd_users, target_users;
	unsigned hw_qps, hw_cqs, hw_srqs, hw_mpts; /* valid contexts in the device */
	unsigned uv_objects, heap, files, fds, domains, inodes, channels, event_handlers;
};

static unsigned length(const struct drv_list *head)
{
	unsigned n = 0;

	for (const struct drv_list *l = head->next; l != head; l = l->next)
		n++;
	return n;
}

static struct uv_object *object_of(enum uv_kind kind, uint32_t handle)
{
	int rc = 0;
	struct uv_object *o = uv_object_get(UV_CONTEXT(rig.context)->file, kind, handle, &rc);

	uv_object_put(o);
	return o;
}

/* Object numbers are given out upwards from the reserved ones. Tests do not come near
 * HW_NUMBERS. */
static unsigned hw_objects(unsigned table)
{
	const struct hca *hca = host_hca(rig.machine.hosts[0]);
	unsigned n = 0;

	for (uint32_t i = 0; i < HW_NUMBERS; i++)
		n += icm_object_valid(hca, table, i);
	return n;
}

static inline void look(struct held *h)
{
	const struct drv_device *dev = rig.drv;
	const struct ib_device *ib = rig.host.devices[0];
	const struct uv_file *file = UV_CONTEXT(rig.context)->file;
	const struct host *host = rig.machine.hosts[0];

	memset(h, 0, sizeof(*h));
	h->mpts = dev->mpts.used;
	h->pds = dev->pds.used;
	h->xrcds = dev->xrcds.used;
	h->cqs = dev->cqs.used;
	h->srqs = dev->srqs.used;
	h->qps = dev->qps.used;
	h->mcgs = dev->mcgs.used;
	h->uars = dev->uars.used;
	h->mtts = dev->mtt_buddy.used;
	h->db_records = dev->db_records;
	h->mailboxes = dev->cmd.mailboxes;
	for (unsigned t = 0; t < DRV_TABLES; t++)
		h->icm += drv_table_pages(&dev->tables[t]);
	h->pages_used = host_pages_used(host);
	h->pages_mapped = host_pages_mapped(host);
	h->objects = ib_device_objects(ib);
	h->pd_users = object_of(UV_PD, rig.pd->handle)->pd->usecnt;
	h->cq_users = object_of(UV_CQ, rig.cq->handle)->cq->usecnt;
	h->srq_users = object_of(UV_SRQ, rig.srq->handle)->srq->usecnt;
	h->xrcd_users = object_of(UV_XRCD, rig.xrcd->handle)->xrcd_users * 100 +
			object_of(UV_XRCD, rig.xrcd->handle)->domain->xrcd->usecnt;
	h->target_users = object_of(UV_QP, rig.target->handle)->qp->real_qp->usecnt;
	h->hw_qps = hw_objects(FW_TABLE_QPC);
	h->hw_cqs = hw_objects(FW_TABLE_CQC);
	h->hw_srqs = hw_objects(FW_TABLE_SRQC);
	h->hw_mpts = hw_objects(FW_TABLE_MPT);
	h->uv_objects = length(&file->objects);
	h->channels = length(&file->channels) * 100 + (unsigned)rig.channel->refcnt;
	h->heap = length(&rig.process.heap);
	h->files = length(&rig.process.files) * 100 + rig.host.files;
	for (unsigned fd = 0; fd < UV_FDS_MAX; fd++)
		h->fds += rig.process.fds[fd].kind != UV_FD_FREE;
	h->domains = length(&rig.host.xrcds);
	h->inodes = length(&rig.host.inodes);
	h->event_handlers = length(&ib->event_handlers);
}

/* --- the one run of the simulation; the tests judge its results afterwards --- */

static bool stand(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 10, .max_sge = 1}};
	struct ibv_qp_init_attr_ex target = {.qp_type = IBV_QPT_XRC_RECV,
					     .comp_mask = IBV_QP_INIT_ATTR_XRCD};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	rig.memory = uv_pages_alloc(&rig.process, REGION);
	rig.context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	rig.pd = ibv_alloc_pd(rig.context);
	rig.channel = ibv_create_comp_channel(rig.context);
	rig.cq = ibv_create_cq(rig.context, 50, NULL, NULL, 0);
	rig.srq = ibv_create_srq(rig.pd, &srq);
	rig.xrcd = (struct ibv_xrcd *)ibv_open_xrc_domain(rig.context, -1, O_CREAT);
	if (!rig.memory || !rig.pd || !rig.cq || !rig.srq || !rig.xrcd)
		return false;
	target.xrcd = rig.xrcd;
	rig.target = ibv_create_qp_ex(rig.context, &target);
	return rig.target &&
	       !ibv_modify_qp(rig.target, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static void host_thread(void *arg)
{
	struct platform *p = host_platform(rig.machine.hosts[0]);
	struct drv_options options = {.log_eq_size = 10};

	failure.real = p->ops;
	failure.ops = *p->ops;
	failure.ops.pages_alloc = failing_pages;
	failure.ops.waitq_create = failing_waitq;
	failure.ops.dma_map = failing_map;
	failure.ops.mmio_write = failing_write;
	p->ops = &failure.ops;
	if (!uv_host_init(&rig.host, p) && !drv_probe(p, &options, &rig.drv) &&
	    !ib_device_create(rig.drv, "mlx4_0", NULL, NULL, &rig.host.devices[0])) {
		rig.host.n_devices = 1;
		rig.set_up = !uv_process_init(&rig.process, &rig.host) && stand();
		if (rig.set_up)
			rig.run();
		uv_process_exit(&rig.process);
		rig.clean = uv_host_is_clean(&rig.host) && !ib_device_destroy(rig.host.devices[0]);
		rig.left = drv_remove(rig.drv);
		uv_host_cleanup(&rig.host);
	}
	p->ops = failure.real;
	machine_stop(&rig.machine);
}

static void nothing_is_left(void **state)
{
	static const struct drv_leftovers none;

	assert_true(rig.clean);
	assert_memory_equal(&rig.left, &none, sizeof(none));
	assert_int_equal(host_pages_used(rig.machine.hosts[0]), 0);
	assert_int_equal(host_pages_mapped(rig.machine.hosts[0]), 0);
	assert_int_equal(rig.machine.guest_errors, 0);
	assert_int_equal(rig.machine.catastrophes, 0);
}

static int rig_main(void (*run)(void), const struct CMUnitTest *tests, size_t n)
{
	rig.run = run;
	return machine_tests_run(&rig.machine, host_thread, tests, n);
}

#endif
