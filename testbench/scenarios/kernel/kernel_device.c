/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device of kernel verbs: its handlers of events, of which one leaves while it is called; the tables
 * of two ports that differ in length; the keys of a PD, with and without the reserved L_Key and a global
 * R_Key. When it is made it finds no memory at each place in turn, and when it goes, who had the driver's
 * events before has them again.
 */
#include "host_driver/mlx4/mad.h"
#include "model/interface/dev_cap.h"
#include "model/interface/macros.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

enum { PORTS = 2, GIDS = 3, PKEYS = 4, HANDLERS = 3, LEAVES = 1, RESERVED = 0x7f00 };

/* --- handlers --- */

static struct heard {
	struct ib_event_handler handler;
	unsigned n, port;
	enum ib_event_type type;
	struct ib_device *device;
} heard[HANDLERS];

static void hear(struct ib_event_handler *handler, struct ib_event *event)
{
	struct heard *h = container_of(handler, struct heard, handler);

	h->n++;
	h->port = event->element.port_num;
	h->type = event->event;
	h->device = event->device;
	if (h == &heard[LEAVES])
		ib_unregister_event_handler(handler);
}

static void handlers(struct tb *tb, struct tb_end *a, struct ib_device *device)
{
	for (unsigned i = 0; i < HANDLERS; i++) {
		heard[i] = (struct heard){.n = 0};
		INIT_IB_EVENT_HANDLER(&heard[i].handler, device, hear);
		must(ib_register_event_handler(&heard[i].handler));
	}
	for (unsigned times = 1; times <= PORTS && still_right(); times++) {
		const unsigned port = PORTS + 1 - times;

		pull_cable(port);
		expect_event(a, IBV_EVENT_PORT_ERR);
		for (unsigned i = 0; i < HANDLERS; i++) {
			const bool left = i == LEAVES;

			name_row("handler %u, event %u", i, times);
			expect_equal(heard[i].n, left ? 1 : times);
			expect_equal(heard[i].port, left ? PORTS : port);
			expect_equal(heard[i].type, IB_EVENT_PORT_ERR);
			expect_true(heard[i].device == device);
		}
	}
	for (unsigned i = 0; i < HANDLERS; i++)
		ib_unregister_event_handler(&heard[i].handler);
}

/* --- tables --- */

/* Makes an address handle with that GID, and destroys it. An Ethernet port has few GIDs. */
static int ah(struct kv *x, unsigned port, unsigned index, int result)
{
	struct rdma_ah_attr attr = {.dlid = 9, .port_num = (uint8_t)port, .ah_flags = IB_AH_GRH};
	struct ib_ah *made;

	if (x->end->ethernet && !result)
		return 0;
	attr.grh.sgid_index = (uint8_t)index;
	made = rdma_create_ah(x->pd, &attr, 0);
	return IS_ERR(made) ? (int)PTR_ERR(made) : rdma_destroy_ah(made, 0);
}

/* A step of the queue pair with that P_Key, at once or after a step with the first one, and back. */
static int pkey_of_qp(struct kv *x, unsigned port, unsigned index, bool later)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT,
				  .port_num = (uint8_t)port,
				  .pkey_index = later ? 0 : (uint16_t)index};
	int rc = ib_modify_qp(x->qp, &attr,
			      IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);

	if (!rc && later) {
		attr.pkey_index = (uint16_t)index;
		rc = ib_modify_qp(x->qp, &attr, IB_QP_PKEY_INDEX);
	}
	attr.qp_state = IB_QPS_RESET;
	return rc ? rc : ib_modify_qp(x->qp, &attr, IB_QP_STATE);
}

static void tables(struct tb *tb, struct kv *x)
{
	struct drv_device_attr *attrs = &x->device->attrs;
	const struct drv_device_attr kept = *attrs;
	union ib_gid gid;
	uint16_t pkey;

	for (unsigned small = 1; small <= PORTS && still_right(); small++) {
		name_row("port %u has the shorter tables", small);
		attrs->gids[small] = GIDS;
		attrs->pkeys[small] = PKEYS;
		for (unsigned port = 1; port <= PORTS; port++) {
			const int beyond = port == small ? -EINVAL : 0;

			must(ib_query_gid(x->device, port, GIDS - 1, &gid));
			must_fail(beyond, ib_query_gid(x->device, port, GIDS, &gid));
			must(ib_query_pkey(x->device, port, PKEYS - 1, &pkey));
			must_fail(beyond, ib_query_pkey(x->device, port, PKEYS, &pkey));
			must(ah(x, port, GIDS - 1, 0));
			must_fail(beyond, ah(x, port, GIDS, beyond));
			for (unsigned later = 0; later < 2; later++) {
				must(pkey_of_qp(x, port, PKEYS - 1, later));
				must_fail(beyond, pkey_of_qp(x, port, PKEYS, later));
			}
		}
		*attrs = kept;
	}
}

/* --- keys --- */

static void keys(struct tb *tb, struct ib_device *device)
{
	const struct drv_device_attr kept = device->attrs;

	for (unsigned i = 0; i < 4; i++) {
		const bool reserved = i & 1, global = i & 2;
		struct ib_pd *pd;

		name_row("%s L_Key, %s R_Key", reserved ? "the reserved" : "an own",
			 global ? "a global" : "no");
		device->attrs.bmme_flags &= ~cap_bit(BMME_RESERVED_LKEY);
		if (reserved) {
			device->attrs.bmme_flags |= cap_bit(BMME_RESERVED_LKEY);
			device->attrs.reserved_lkey = RESERVED;
		}
		pd = kv_made(ib_alloc_pd(device, global ? IB_PD_UNSAFE_GLOBAL_RKEY : 0));
		device->attrs = kept;
		if (!pd)
			return;
		if (reserved)
			expect_equal(pd->local_dma_lkey, RESERVED);
		else
			expect_equal(pd->local_dma_lkey, pd->__internal_mr->lkey);
		expect_equal(pd->unsafe_global_rkey, global ? pd->__internal_mr->rkey : 0);
		expect_equal(pd->usecnt, 0);
		must(ib_dealloc_pd(pd));
	}
}

/* --- life --- */

static unsigned events_told;

static void event_told(void *arg, const struct drv_event *event)
{
	unsigned *told = arg;

	*told += event->type == IBV_EVENT_SM_CHANGE && event->port == PORTS;
}

static void life(struct tb *tb, struct tb_end *end)
{
	const struct drv_event event = {.type = IBV_EVENT_SM_CHANGE, .port = PORTS};
	struct ib_device *device;
	int rc = 0;

	events_told = 0;
	for (unsigned nth = 1; still_right(); nth++) {
		lack_memory(nth);
		rc = ib_device_create(end->dev, "other_7", event_told, &events_told, &device);
		if (!lack_memory(0))
			break;
		expect_equal(rc, -ENOMEM);
	}
	must(rc);
	if (!still_right())
		return;
	expect_true(!strcmp(device->name, "other_7"));
	expect_equal(device->phys_port_cnt, PORTS);
	drv_notify(end->dev, &event);
	expect_equal(events_told, 1);
	must(ib_device_destroy(device));
	drv_notify(end->dev, &event);
	expect_equal(events_told, 2);
	drv_event_register(end->dev, NULL, NULL);
}

SCENARIO(kernel_device, "kernel verbs: handlers of events, tables of two ports, keys of a PD",
	 .no_qps = true, .any_packets = true, .settings = {"hca.ports=2"})
{
	struct kv x;

	if (!kv_open(a, &x))
		return;
	phase("keys");
	keys(tb, x.device);
	phase("tables");
	tables(tb, &x);
	phase("handlers");
	ignore_events(b);
	handlers(tb, a, x.device);
	phase("life");
	life(tb, b);
	kv_close(&x);
}
