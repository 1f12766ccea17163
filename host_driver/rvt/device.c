// SPDX-License-Identifier: Apache-2.0
/* What a device of this transport says of itself and its ports; events; the verbs that it lacks. */
#include "host_driver/rvt/rvt_impl.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>

enum { GUIDS_PER_BLOCK = 8, PKEYS_PER_BLOCK = 32 };

/* Time between two reads of the state: link training raises no event. */
#define PORT_POLL_PS UINT64_C(1000000000)

static struct rvt_port *port_of(struct drv_device *dev, unsigned port)
{
	return port && port <= rvt_of(dev)->limits.attr.ports ? &rvt_of(dev)->ports[port] : NULL;
}

int rvt_query_device(struct drv_device *dev, struct drv_device_attr *attr)
{
	*attr = rvt_of(dev)->limits.attr;
	return 0;
}

/* --- what a port's agents hold --- */

static int pkeys_read(struct rvt_port *port)
{
	struct drv_device *dev = rvt_drv(port->dev);
	struct pkey_table table;

	for (unsigned i = 0; i < port->n_pkeys; i++) {
		int rc = i % PKEYS_PER_BLOCK ? 0
					     : drv_smp_get(dev, port->number, SMP_ATTR_PKEY_TABLE,
							   i / PKEYS_PER_BLOCK, &table);

		if (rc)
			return rc;
		port->pkeys[i] = (uint16_t)pkey_table_get(&table, i % PKEYS_PER_BLOCK);
	}
	return 0;
}

static int info_read(struct rvt_port *port, struct port_info *info)
{
	int rc = drv_smp_get(rvt_drv(port->dev), port->number, SMP_ATTR_PORT_INFO, port->number,
			     info);

	if (rc)
		return rc;
	port->active = port_info_get_state(info) == PORT_STATE_ACTIVE;
	port->mtu = rvt_mtu_bytes((enum ibv_mtu)port_info_get_neighbor_mtu(info));
	return 0;
}

static int gids_read(struct rvt_port *port, uint64_t prefix)
{
	struct drv_device *dev = rvt_drv(port->dev);
	struct guid_info guids;
	int rc = 0;

	for (unsigned i = 0; !rc && i < port->n_gids; i++) {
		if (!(i % GUIDS_PER_BLOCK))
			rc = drv_smp_get(dev, port->number, SMP_ATTR_GUID_INFO, i / GUIDS_PER_BLOCK,
					 &guids);
		be64_store(port->gids[i], prefix);
		be64_store(port->gids[i] + 8, guid_info_get(&guids, i % GUIDS_PER_BLOCK));
	}
	return rc;
}

int rvt_port_refresh(struct rvt_port *port)
{
	struct rvt_device *dev = port->dev;
	int rc = dev->hooks->get_lid(rvt_drv(dev), port->number, &port->lid, &port->lmc);
	struct port_info info;

	if (!rc)
		rc = pkeys_read(port);
	if (!rc)
		rc = info_read(port, &info);
	return rc ? rc : gids_read(port, port_info_get_gid_prefix(&info));
}

/* A limited member may only speak with a full one (IBA 10.9.3). */
bool rvt_pkeys_match(uint16_t one, uint16_t other)
{
	return one & PKEY_MEMBERS && !((one ^ other) & PKEY_MEMBERS) &&
	       (one | other) & PKEY_FULL_MEMBER;
}

int rvt_pkey_find(const struct rvt_port *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->n_pkeys; i++)
		if (rvt_pkeys_match(port->pkeys[i], pkey))
			return (int)i;
	return -ENOENT;
}

/* --- queries --- */

int rvt_query_gid(struct drv_device *dev, unsigned port, unsigned index, uint8_t gid[DRV_GID_BYTES])
{
	const struct rvt_port *p = port_of(dev, port);

	if (!p || index >= p->n_gids)
		return -EINVAL;
	memcpy(gid, p->gids[index], DRV_GID_BYTES);
	return 0;
}

int rvt_query_pkey(struct drv_device *dev, unsigned port, unsigned index, uint16_t *pkey)
{
	const struct rvt_port *p = port_of(dev, port);

	if (!p || index >= p->n_pkeys)
		return -EINVAL;
	*pkey = p->pkeys[index];
	return 0;
}

int rvt_query_port(struct drv_device *dev, unsigned port, struct drv_port_attr *attr)
{
	const struct rvt_port *p = port_of(dev, port);
	int rc;

	if (!p)
		return -EINVAL;
	rc = rvt_of(dev)->hooks->query_port_state(dev, port, attr);
	if (rc)
		return rc;
	memcpy(attr->gid0, p->gids[0], DRV_GID_BYTES);
	return 0;
}

void rvt_violations(struct drv_device *dev, unsigned port, struct rvt_violations *now)
{
	const struct rvt_port *p = port_of(dev, port);

	*now = (struct rvt_violations){.pkeys = p->bad_pkeys, .qkeys = p->bad_qkeys};
}

int rvt_counter(const struct drv_device *dev, const char *stage, const char *counter,
		uint64_t *value)
{
	static const struct {
		const char *stage, *counter;
		size_t at;
	} rows[] = {
#define RVT_COUNTER_ROW(stage_, counter_)                                                          \
	{#stage_, #counter_, offsetof(struct rvt_counters, stage_##_##counter_)},
		RVT_COUNTERS(RVT_COUNTER_ROW)
#undef RVT_COUNTER_ROW
	};
	const struct rvt_device *d = (const struct rvt_device *)(const void *)dev;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].stage, stage) || strcmp(rows[i].counter, counter))
			continue;
		memcpy(value, (const uint8_t *)&d->counters + rows[i].at, sizeof(*value));
		return 0;
	}
	return -ENOENT;
}

static int port_wait(struct drv_device *handle, unsigned port, enum ibv_port_state state,
		     uint64_t deadline_ps)
{
	struct rvt_device *dev = rvt_of(handle);
	struct rvt_port *p = port_of(handle, port);
	struct platform *platform = dev->base.p;

	for (;;) {
		const unsigned events = p ? p->events : 0;
		struct drv_port_attr attr;
		uint64_t now;
		int rc = p ? dev->hooks->query_port_state(handle, port, &attr) : -EINVAL;

		if (rc || attr.state == state)
			return rc;
		now = rvt_now(dev);
		if (now >= deadline_ps)
			return -ETIMEDOUT;
		if (events == p->events)
			platform->ops->waitq_wait(platform, dev->port_waitq,
						  deadline_ps - now < PORT_POLL_PS
							  ? deadline_ps
							  : now + PORT_POLL_PS);
	}
}

int rvt_port_wait(struct drv_device *dev, unsigned port, enum ibv_port_state state,
		  uint64_t deadline_ps)
{
	DRV_ENTER(dev, "port %u, state %d", port, state);
	return DRV_LEAVE(dev, port_wait(dev, port, state, deadline_ps));
}

int rvt_port_up(struct drv_device *dev, unsigned port)
{
	struct rvt_port *p = port_of(dev, port);
	int rc = p ? rvt_port_refresh(p) : -EINVAL;

	if (!rc)
		rc = drv_agent_start(dev, port);
	return rc ? rc : rvt_of(dev)->hooks->set_link_state(dev, port, RVT_LINK_POLL);
}

int rvt_port_down(struct drv_device *dev, unsigned port)
{
	if (!port_of(dev, port))
		return -EINVAL;
	drv_agent_stop(dev, port);
	return rvt_of(dev)->hooks->set_link_state(dev, port, RVT_LINK_DOWN);
}

int rvt_describe(struct drv_device *dev, const char text[64])
{
	const struct rvt_hooks *hooks = rvt_of(dev)->hooks;

	if (!hooks->node_desc_changed)
		return rvt_refuse(dev, "describe");
	hooks->node_desc_changed(dev, text);
	return 0;
}

/* --- agents --- */

int rvt_mad_ifc(struct drv_device *dev, unsigned port, const struct drv_mad_source *source,
		const void *in, void *out)
{
	const struct mad_hdr *hdr = in;
	const unsigned mgmt_class = mad_hdr_get_mgmt_class(hdr);
	struct rvt_port *p = port_of(dev, port);
	int rc = p ? rvt_of(dev)->hooks->process_mad(dev, port, source, in, out) : -EINVAL;

	/* a subnet manager may have changed what the port has copies of, also what no event tells of */
	if (!rc && mad_hdr_get_method(hdr) == MAD_METHOD_SET &&
	    (mgmt_class == MAD_CLASS_SUBN_LID || mgmt_class == MAD_CLASS_SUBN_DR))
		rvt_port_refresh(p);
	return rc;
}

struct drv_mad_agent **rvt_agent_slot(struct drv_device *dev, unsigned port)
{
	struct rvt_port *p = port_of(dev, port);

	return p ? &p->agent : NULL;
}

/* --- events --- */

void rvt_event(struct rvt_device *dev, const struct drv_event *event)
{
	DRV_ENTER(rvt_drv(dev), "event %d", event->type);
	if (dev->event_fn)
		dev->event_fn(dev->event_arg, event);
	DRV_LEAVE(rvt_drv(dev), 0);
}

void rvt_notify(struct drv_device *dev, const struct drv_event *event)
{
	if (event->port)
		rvt_port_event(dev, event->port, event->type);
	else
		rvt_event(rvt_of(dev), event);
}

void rvt_port_event(struct drv_device *handle, unsigned port, enum ibv_event_type type)
{
	struct rvt_device *dev = rvt_of(handle);
	const struct drv_event event = {.type = type, .port = port};

	rvt_port_refresh(&dev->ports[port]);
	dev->ports[port].events++;
	rvt_wake(dev, dev->port_waitq);
	rvt_wake(dev, dev->ports[port].waitq);
	rvt_event(dev, &event);
}

void rvt_event_register(struct drv_device *dev,
			void (*fn)(void *arg, const struct drv_event *event), void *arg)
{
	rvt_of(dev)->event_fn = fn;
	rvt_of(dev)->event_arg = arg;
}

void rvt_softirq_register(struct drv_device *dev, void (*fn)(void *arg), void *arg)
{
	rvt_of(dev)->softirq_fn = fn;
	rvt_of(dev)->softirq_arg = arg;
}

void rvt_discard_register(struct drv_device *dev,
			  void (*fn)(void *arg, struct drv_cq *cq, const struct drv_wc *wc),
			  void *arg)
{
	rvt_of(dev)->discard_fn = fn;
	rvt_of(dev)->discard_arg = arg;
}

/* --- a dead device --- */

void rvt_declare_dead(struct drv_device *handle)
{
	struct rvt_device *dev = rvt_of(handle);

	dev->dead = true;
	for (struct drv_list *l = dev->qp_list.next; l != &dev->qp_list; l = l->next)
		rvt_qp_error(container_of(l, struct rvt_qp, link));
}

bool rvt_is_dead(const struct drv_device *dev)
{
	return ((const struct rvt_device *)(const void *)dev)->dead;
}

void rvt_fatal(struct drv_device *dev)
{
	const struct drv_event event = {.type = IBV_EVENT_DEVICE_FATAL};

	rvt_declare_dead(dev);
	rvt_event(rvt_of(dev), &event);
}

/* There is no error buffer that could be read: no device of this transport has firmware. */
int rvt_catas_watch(struct drv_device *dev, uint64_t period_ps)
{
	return 0;
}

int rvt_catas_check(struct drv_device *dev, uint32_t words[16])
{
	return 0;
}

/* --- doorbell pages --- */

int rvt_uar_alloc(struct drv_device *dev, struct drv_uar **out)
{
	struct rvt_uar *uar = drv_calloc(1, sizeof(*uar));

	if (!uar)
		return -ENOMEM;
	uar->dev = dev;
	*out = (struct drv_uar *)(void *)uar;
	return 0;
}

int rvt_uar_free(struct drv_uar *handle)
{
	struct rvt_uar *uar = (struct rvt_uar *)(void *)handle;

	if (uar->users)
		return -EBUSY;
	free(uar);
	return 0;
}

/* --- what the transport does not have, as Linux rdmavt does not --- */

int rvt_refuse(struct drv_device *dev, const char *verb)
{
	struct platform *p = drv_platform(dev);

	if (p->ops->refused)
		p->ops->refused(p, verb);
	return -EOPNOTSUPP;
}

/* LACKS(name, parameters, device): the verb fails with -EOPNOTSUPP. */
#define LACKS(name, parameters, device)                                                            \
	int rvt_##name parameters                                                                  \
	{                                                                                          \
		return rvt_refuse(device, #name);                                                  \
	}

LACKS(xrcd_alloc, (struct drv_device * dev, struct drv_xrcd **xrcd), dev)
LACKS(xrcd_free, (struct drv_xrcd * xrcd), drv_device_of(xrcd))
LACKS(mw_alloc, (struct drv_pd * pd, enum ibv_mw_type type, struct drv_mw **mw), drv_device_of(pd))
LACKS(mw_free, (struct drv_mw * mw), drv_device_of(mw))
LACKS(mr_alloc_fast, (struct drv_pd * pd, unsigned max_pages, struct drv_mr **mr),
      drv_device_of(pd))
LACKS(mr_fast_set, (struct drv_mr * mr, void *addr, uint64_t len), drv_device_of(mr))
LACKS(mr_fast_page, (struct drv_mr * mr, unsigned index, uint64_t bus), drv_device_of(mr))
LACKS(query_clock, (struct drv_device * dev, unsigned *mhz), dev)
LACKS(cq_create_stamped,
      (struct drv_device * dev, struct drv_uar *uar, unsigned entries, int vector,
       struct drv_cq **cq),
      dev)
LACKS(cq_moderate, (struct drv_cq * cq, unsigned max_count, unsigned period_us), drv_device_of(cq))
LACKS(cmd, (struct drv_device * dev, struct drv_raw_cmd *cmd), dev)

uint32_t rvt_mw_rkey(const struct drv_mw *mw)
{
	rvt_refuse(drv_device_of(mw), "mw_rkey");
	return 0;
}

uint64_t rvt_clock_read(struct drv_device *dev)
{
	rvt_refuse(dev, "clock_read");
	return 0;
}

uint32_t rvt_raw_mmio_read32(struct drv_device *dev, unsigned bar, uint64_t offset)
{
	rvt_refuse(dev, "raw_mmio_read32");
	return 0;
}

void rvt_raw_mmio_write32(struct drv_device *dev, unsigned bar, uint64_t offset, uint32_t value)
{
	rvt_refuse(dev, "raw_mmio_write32");
}

void rvt_raw_mmio_write(struct drv_device *dev, unsigned bar, uint64_t offset, const void *bytes,
			unsigned size)
{
	rvt_refuse(dev, "raw_mmio_write");
}
