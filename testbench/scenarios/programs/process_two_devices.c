/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with two devices: the second one is that of the other host, whose driver works for any thread. A
 * process gets both in its list, each with names and a GUID of its own, and has them open at once: each
 * context tells of its own device and port, hears of events of its own port alone, and ends without the
 * other, and with the events that it has not taken. A file names one XRC domain of each device. A domain and a PD of different contexts make no receive
 * QP, not even if the handles of both contexts are the same numbers.
 */
/* behaviours: PROCESS-two-devices */
#include "testbench/manage.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>

enum { DEVICES = 2, NAME_CHARS = 64 };

struct two {
	struct ibv_device *device[DEVICES];
	struct program p[DEVICES];
	struct drv_device_attr truth[DEVICES];
	unsigned lid[DEVICES];
	unsigned hears;  /* which one */
	unsigned pieces; /* in the beginning */
};

/* What the library has of the process' heap. */
static unsigned pieces(void)
{
	const struct drv_list *heap = &uv_process_current()->heap;
	unsigned n = 0;

	for (const struct drv_list *l = heap->next; l != heap; l = l->next)
		n++;
	return n;
}

static int open_both(void *arg)
{
	struct two *t = arg;
	int n = 0;
	struct ibv_device **list;

	t->pieces = pieces();
	list = ibv_get_device_list(NULL);
	ibv_free_device_list(list);
	GIVES(pieces(), t->pieces);
	list = ibv_get_device_list(&n);
	if (!list || n != DEVICES || list[DEVICES])
		return __LINE__;
	for (unsigned i = 0; i < DEVICES; i++) {
		struct program *p = &t->p[i];
		char name[NAME_CHARS];

		t->device[i] = list[i];
		snprintf(name, sizeof(name), "uverbs%u", i);
		if (strcmp(list[i]->dev_name, name))
			return __LINE__;
		snprintf(name, sizeof(name), "/sys/class/infiniband_verbs/uverbs%u", i);
		if (strcmp(list[i]->dev_path, name) ||
		    be64toh(ibv_get_device_guid(list[i])) != t->truth[i].node_guid)
			return __LINE__;
		p->context = ibv_open_device(list[i]);
		p->pd = p->context ? ibv_alloc_pd(p->context) : NULL;
		p->cq = p->pd ? ibv_create_cq(p->context, 4, NULL, NULL, 0) : NULL;
		if (!p->cq)
			return __LINE__;
	}
	ibv_free_device_list(list);
	return 0;
}

static int tells(void *arg)
{
	struct two *t = arg;

	for (unsigned i = 0; i < DEVICES; i++) {
		struct ibv_device_attr device;
		struct ibv_port_attr port;

		if (t->p[i].context->device != t->device[i] ||
		    ibv_query_device(t->p[i].context, &device) ||
		    ibv_query_port(t->p[i].context, 1, &port))
			return __LINE__;
		if (be64toh(device.node_guid) != t->truth[i].node_guid || port.lid != t->lid[i])
			return __LINE__;
	}
	return 0;
}

/* Only one of them has an event. */
static int hears(void *arg)
{
	const struct two *t = arg;
	struct ibv_async_event event;

	if (process_poll(t->p[!t->hears].context->async_fd, 0) ||
	    ibv_get_async_event(t->p[t->hears].context, &event) ||
	    event.event_type != IBV_EVENT_CLIENT_REREGISTER || event.element.port_num != 1)
		return __LINE__;
	return process_poll(t->p[t->hears].context->async_fd, 0) ? __LINE__ : 0;
}

static int domains(void *arg)
{
	struct two *t = arg;
	struct ibv_xrc_domain *domain[DEVICES];
	struct ibv_qp_attr attr;
	const int fd = process_open("domain", O_CREAT);
	uint32_t qpn[DEVICES] = {0};
	int mask;

	REFUSED(ibv_open_xrc_domain(t->p[0].context, fd, 0), EAGAIN);
	domain[0] = ibv_open_xrc_domain(t->p[0].context, fd, O_CREAT | O_EXCL);
	if (!domain[0])
		return __LINE__;
	REFUSED(ibv_open_xrc_domain(t->p[1].context, fd, 0), EAGAIN);
	domain[1] = ibv_open_xrc_domain(t->p[1].context, fd, O_CREAT | O_EXCL);
	if (!domain[1] || domain[0]->handle != domain[1]->handle ||
	    t->p[0].pd->handle != t->p[1].pd->handle)
		return __LINE__;
	mask = program_rcv_attr(&t->p[0], &attr);
	for (unsigned i = 0; i < DEVICES; i++) {
		struct ibv_qp_init_attr init = {.xrc_domain = domain[i]};

		GIVES(ibv_alloc_xrc_rcv_qp(t->p[i].pd, domain[!i], &attr, mask, &qpn[i]), EINVAL);
		GIVES(ibv_create_xrc_rcv_qp(&init, &qpn[i]), 0);
		if (i == 0)
			GIVES(ibv_reg_xrc_rcv_qp(domain[1], qpn[0]), EINVAL);
	}
	for (unsigned i = 0; i < DEVICES; i++) {
		GIVES(ibv_close_xrc_domain(domain[i]), EBUSY);
		GIVES(ibv_unreg_xrc_rcv_qp(domain[i], qpn[i]), 0);
		GIVES(ibv_close_xrc_domain(domain[i]), 0);
		REFUSED(ibv_open_xrc_domain(t->p[i].context, fd, 0), EAGAIN);
	}
	return process_close(fd);
}

static int close_one(struct program *p)
{
	return ibv_destroy_cq(p->cq) || ibv_dealloc_pd(p->pd) || ibv_close_device(p->context);
}

static int close_both(void *arg)
{
	struct two *t = arg;
	struct ibv_port_attr port;

	if (close_one(&t->p[0]) || ibv_query_port(t->p[1].context, 1, &port) ||
	    port.lid != t->lid[1])
		return __LINE__;
	return close_one(&t->p[1]) || pieces() != t->pieces ? __LINE__ : 0;
}

/* Clients of the port are to register again. */
static void tell(struct tb *tb, struct tb_end *end)
{
	struct port_info info;
	struct smp answer;

	ask(end, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	info = port_info_to_set(&answer);
	port_info_set_client_rereg(&info, 1);
	ask(end, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1,
	    .data = &info);
	expect_event(end, IBV_EVENT_CLIENT_REREGISTER);
}

SCENARIO(process_two_devices, "a process has two devices, and takes neither for the other",
	 .no_qps = true, .any_packets = true)
{
	struct tb_end *const ends[DEVICES] = {a, b};
	struct uv_host *uv = tb_uv_host(tb, a);
	struct process *worker;
	static struct two t;

	t = (struct two){.hears = 0};
	for_each_row(i, ends) {
		must(drv_query_device(ends[i]->dev, &t.truth[i]));
		t.lid[i] = ends[i]->lid;
	}
	ib_device_of(a);
	uv->devices[1] = ib_device_of(b);
	uv->n_devices = DEVICES;
	worker = start_worker(a);
	run_in(worker, open_both, &t);
	run_in(worker, tells, &t);
	for_each_row(i, ends) {
		t.hears = (unsigned)i;
		tell(tb, ends[i]);
		run_in(worker, hears, &t);
	}
	run_in(worker, domains, &t);
	/* nobody takes these */
	for (unsigned i = 0; i < 2 * DEVICES; i++)
		tell(tb, ends[i % DEVICES]);
	run_in(worker, close_both, &t);
	end_worker(worker);
}
