// SPDX-License-Identifier: Apache-2.0
/* Registration: the hooks that each entry of the transport needs, and the life of a device. */
#include "host_driver/rvt/rvt_impl.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* --- hooks --- */

enum rvt_hook {
#define RVT_HOOK_ENUM(name, result, parameters) HOOK_##name,
	RVT_HOOKS(RVT_HOOK_ENUM)
#undef RVT_HOOK_ENUM
		HOOKS
};

static const struct {
	const char *name;
	size_t at; /* in struct rvt_hooks */
} hook_rows[] = {
#define RVT_HOOK_ROW(name, result, parameters)                                                     \
	[HOOK_##name] = {#name, offsetof(struct rvt_hooks, name)},
	RVT_HOOKS(RVT_HOOK_ROW)
#undef RVT_HOOK_ROW
};

#define BIT(hook) (1u << HOOK_##hook)

/* Which hooks the transport's own entry of a verb uses: N(entry, hooks). */
#define NEEDS(N)                                                                                   \
	N(query_port, BIT(query_port_state))                                                       \
	N(port_wait, BIT(query_port_state))                                                        \
	N(port_up, BIT(set_link_state) | BIT(get_lid) | BIT(process_mad))                          \
	N(port_down, BIT(set_link_state))                                                          \
	N(query_gid, BIT(process_mad))                                                             \
	N(query_pkey, BIT(process_mad))                                                            \
	N(notify, BIT(get_lid) | BIT(process_mad))                                                 \
	N(mad_ifc, BIT(process_mad))                                                               \
	N(qp_create, BIT(flush_qp))                                                                \
	N(qp_modify, BIT(qp_mtu) | BIT(flush_qp))                                                  \
	N(qp_destroy, BIT(flush_qp))                                                               \
	N(special_create, BIT(flush_qp))                                                           \
	N(special_send, BIT(do_send))                                                              \
	N(post_send, BIT(do_send) | BIT(get_lid))

static const struct {
	const char *name;
	size_t at; /* in struct drv_ops */
	unsigned hooks;
} need_rows[] = {
#define NEED_ROW(entry, hooks_) {#entry, offsetof(struct drv_ops, entry), hooks_},
	NEEDS(NEED_ROW)
#undef NEED_ROW
};

/* Whether a structure of function pointers has one at that place. */
static bool is_set(const void *functions, size_t at)
{
	void (*fn)(void);

	memcpy(&fn, (const char *)functions + at, sizeof(fn));
	return fn != NULL;
}

static int hooks_check(const struct drv_ops *own, const struct rvt_hooks *hooks, char *err,
		       size_t err_size)
{
	for (unsigned i = 0; i < ARRAY_SIZE(need_rows); i++) {
		if (is_set(own, need_rows[i].at))
			continue;
		for (unsigned h = 0; h < HOOKS; h++) {
			if (!(need_rows[i].hooks >> h & 1) || is_set(hooks, hook_rows[h].at))
				continue;
			snprintf(err, err_size, "%s: hook %s is missing", need_rows[i].name,
				 hook_rows[h].name);
			return -EINVAL;
		}
	}
	if (own->remove && own->abandon)
		return 0;
	snprintf(err, err_size, "%s: the driver must have its own",
		 own->remove ? "abandon" : "remove");
	return -EINVAL;
}

/* --- the table --- */

/* Only the driver knows how its device goes away. */
#define rvt_remove  NULL
#define rvt_abandon NULL

const struct drv_ops rvt_ops = {
#define RVT_ENTRY(result, name, parameters, device, arguments) .name = rvt_##name,
	DRV_OPS(RVT_ENTRY)
#undef RVT_ENTRY
};

static void table_fill(struct drv_ops *table, const struct drv_ops *own)
{
#define FILL(result, name, parameters, device, arguments)                                          \
	table->name = own->name ? own->name : rvt_ops.name;
	DRV_OPS(FILL)
#undef FILL
}

/* --- life --- */

static void device_free(struct rvt_device *dev)
{
	struct platform *p = dev->base.p;
	struct platform_waitq *queues[] = {dev->port_waitq, dev->done_waitq, dev->timer_waitq,
					   dev->ports[1].waitq, dev->ports[2].waitq};

	for (unsigned i = 0; i < ARRAY_SIZE(queues); i++)
		if (queues[i])
			p->ops->waitq_destroy(p, queues[i]);
	free(dev->keys);
	free(dev->key_variants);
	free(dev->qps);
	free(dev);
}

static int device_init(struct rvt_device *dev)
{
	struct platform *p = dev->base.p;

	drv_list_init(&dev->pd_list);
	drv_list_init(&dev->mr_list);
	drv_list_init(&dev->cq_list);
	drv_list_init(&dev->srq_list);
	drv_list_init(&dev->qp_list);
	drv_list_init(&dev->groups);
	drv_list_init(&dev->due);
	drv_list_init(&dev->free_packets[0]);
	drv_list_init(&dev->free_packets[1]);
	dev->keys = drv_calloc(RVT_KEYS, sizeof(*dev->keys));
	dev->key_variants = drv_calloc(RVT_KEYS, 1);
	dev->qps = drv_calloc(RVT_QPNS, sizeof(*dev->qps));
	dev->port_waitq = p->ops->waitq_create(p);
	dev->done_waitq = p->ops->waitq_create(p);
	dev->timer_waitq = p->ops->waitq_create(p);
	if (!dev->keys || !dev->key_variants || !dev->qps || !dev->port_waitq || !dev->done_waitq ||
	    !dev->timer_waitq)
		return -ENOMEM;
	for (unsigned n = 1; n <= dev->limits.attr.ports; n++) {
		struct rvt_port *port = &dev->ports[n];

		port->dev = dev;
		port->number = n;
		drv_list_init(&port->ready[0]);
		drv_list_init(&port->ready[1]);
		port->n_pkeys = dev->limits.attr.pkeys[n];
		port->n_gids = dev->limits.attr.gids[n];
		port->waitq = p->ops->waitq_create(p);
		if (!port->waitq)
			return -ENOMEM;
	}
	return 0;
}

int rvt_register(struct platform *p, const struct drv_ops *own, const struct rvt_hooks *hooks,
		 const struct rvt_limits *limits, void *driver, struct drv_device **out, char *err,
		 size_t err_size)
{
	struct rvt_device *dev;
	int rc = hooks_check(own, hooks, err, err_size);

	if (rc)
		return rc;
	dev = drv_calloc(1, sizeof(*dev));
	if (!dev)
		return -ENOMEM;
	dev->base.p = p;
	table_fill(&dev->ops, own);
	dev->base.ops = &dev->ops;
	dev->hooks = hooks;
	dev->limits = *limits;
	dev->driver = driver;
	dev->qpn_last = RVT_QPN_FIRST - 1;
	rc = device_init(dev);
	if (rc) {
		device_free(dev);
		return rc;
	}
	*out = rvt_drv(dev);
	return 0;
}

int rvt_start(struct drv_device *handle)
{
	struct rvt_device *dev = rvt_of(handle);
	int rc = rvt_engines_start(dev);

	return rc ? rc : rvt_timer_start(dev);
}

#define DESTROY_ALL(dev, list, type, destroy, count)                                               \
	while (!drv_list_empty(&(dev)->list)) {                                                    \
		(count)++;                                                                         \
		destroy((void *)container_of((dev)->list.next, type, link));                       \
	}

struct drv_leftovers rvt_unregister(struct drv_device *handle)
{
	struct rvt_device *dev = rvt_of(handle);
	struct drv_leftovers left = {0};

	DESTROY_ALL(dev, qp_list, struct rvt_qp, rvt_qp_destroy, left.qps);
	DESTROY_ALL(dev, srq_list, struct rvt_srq, rvt_srq_destroy, left.srqs);
	DESTROY_ALL(dev, cq_list, struct rvt_cq, rvt_cq_destroy, left.cqs);
	DESTROY_ALL(dev, mr_list, struct rvt_mr, rvt_mr_dereg, left.mrs);
	DESTROY_ALL(dev, pd_list, struct rvt_pd, rvt_pd_free, left.pds);
	rvt_timer_stop(dev);
	rvt_engines_stop(dev);
	device_free(dev);
	return left;
}

void *rvt_driver(struct drv_device *dev)
{
	return rvt_of(dev)->driver;
}
