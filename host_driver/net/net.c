// SPDX-License-Identifier: Apache-2.0
/* See net.h. */
#include "host_driver/net/net.h"

#include "host_driver/drv/trace.h"
#include "host_driver/mlx4/alloc.h"
#include "host_driver/mlx4/mad.h"
#include "host_driver/net/gid.h"
#include "host_driver/net/note.h"
#include "host_driver/net/ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	ADDRESSES = 16,
	LINK_LOCAL_PREFIX = 64,
	HOPS = 64, /* of a route without a hop limit of its own: ip_default_ttl, hop_limit */
};

struct net_port {
	struct drv_device *dev;
	unsigned port;
	struct net_ring ring;
	struct net_gids gids;
	struct neigh_table neighbours;
	struct net_address addresses[ADDRESSES];
	unsigned n_addresses;
	uint8_t mac[MAC_BYTES];
	struct platform_waitq *waitq; /* threads that wait for a neighbour */
	unsigned waiting;
	bool thread, stop;
};

static uint64_t now(const struct net_port *net)
{
	struct platform *p = drv_platform(net->dev);

	return p->ops->now_ps(p);
}

static void wake(void *arg)
{
	struct net_port *net = arg;
	struct platform *p = drv_platform(net->dev);

	p->ops->waitq_wake_all(p, net->waitq);
}

/* --- addresses --- */

static bool has_prefix(const struct net_address *a, const uint8_t *ip)
{
	const unsigned bytes = a->prefix / 8, bits = a->prefix % 8;

	return !memcmp(a->ip, ip, bytes) && (!bits || !((a->ip[bytes] ^ ip[bytes]) >> (8 - bits)));
}

static const struct net_address *address_find(const struct net_port *net, const uint8_t *ip,
					      uint16_t vlan)
{
	for (unsigned i = 0; i < net->n_addresses; i++)
		if (net->addresses[i].vlan == vlan &&
		    !memcmp(net->addresses[i].ip, ip, DRV_GID_BYTES))
			return &net->addresses[i];
	return NULL;
}

/* The own address through which a neighbour is reached. NULL: it is no neighbour. */
static const struct net_address *address_to(const struct net_port *net, const uint8_t *ip,
					    uint16_t vlan)
{
	for (unsigned i = 0; i < net->n_addresses; i++)
		if (net->addresses[i].vlan == vlan && has_prefix(&net->addresses[i], ip))
			return &net->addresses[i];
	return NULL;
}

/* --- notes --- */

/* A frame that finds no room in the ring is lost, as on the wire; its question is asked again. */
static void note_send(struct net_port *net, const struct note *n, const uint8_t *to, uint16_t vlan)
{
	uint8_t frame[NOTE_FRAME_MAX];

	net_ring_send(&net->ring, frame, note_write(n, to, vlan, frame));
}

static void ask(void *arg, const struct neigh_address *whom, const uint8_t *mac)
{
	struct net_port *net = arg;
	const struct net_address *own = address_to(net, whom->ip, whom->vlan);
	struct note n = {.question = true};

	if (!own) /* the address has been removed meanwhile */
		return;
	memcpy(n.about, own->ip, DRV_GID_BYTES);
	memcpy(n.other, whom->ip, DRV_GID_BYTES);
	memcpy(n.mac, net->mac, MAC_BYTES);
	note_send(net, &n, mac, whom->vlan);
}

static void answer(struct net_port *net, const struct note *question, uint16_t vlan)
{
	struct note n = {.solicited = true};

	memcpy(n.about, question->other, DRV_GID_BYTES);
	memcpy(n.other, question->about, DRV_GID_BYTES);
	memcpy(n.mac, net->mac, MAC_BYTES);
	note_send(net, &n, question->mac, vlan);
}

/* Tells all neighbours that the address is here. */
static void announce(struct net_port *net, const struct net_address *a)
{
	static const uint8_t all_nodes[DRV_GID_BYTES] = {0xff, 2, [15] = 1};
	const bool ipv4 = gid_is_ipv4(a->ip);
	uint8_t to[MAC_BYTES];
	struct note n = {0};

	memcpy(n.about, a->ip, DRV_GID_BYTES);
	memcpy(n.other, ipv4 ? a->ip : all_nodes, DRV_GID_BYTES);
	memcpy(n.mac, net->mac, MAC_BYTES);
	gid_multicast_mac(all_nodes, to);
	note_send(net, &n, ipv4 ? NULL : to, a->vlan);
}

static void frame_came(struct net_port *net, const uint8_t *frame, const struct drv_wc *wc)
{
	/* a tag of VLAN 0 has a priority only. Source: IEEE 802.1Q 9.6 */
	const uint16_t vlan = wc->vlan ? wc->vlan : VLAN_NONE;
	struct neigh_address from = {.vlan = vlan};
	bool ours;
	struct note n;

	if (!note_read(frame, wc->byte_len, &n) || address_find(net, n.about, vlan))
		return;
	ours = n.question && address_find(net, n.other, vlan);
	memcpy(from.ip, n.about, DRV_GID_BYTES);
	if (address_to(net, n.about, vlan))
		neigh_heard(&net->neighbours, &from, n.mac,
			    ours          ? NEIGH_ASKS_US
			    : n.solicited ? NEIGH_ANSWERS
					  : NEIGH_TELLS,
			    now(net));
	if (ours)
		answer(net, &n, vlan);
}

static void net_thread(void *arg)
{
	struct net_port *net = arg;

	while (!net->stop) {
		const uint8_t *frame;
		struct drv_wc wc;
		uint64_t next;

		drv_cq_arm(net->ring.cq, false);
		while (!net->stop && (frame = net_ring_take(&net->ring, &wc))) {
			frame_came(net, frame, &wc);
			net_ring_give_back(&net->ring, &wc);
		}
		next = neigh_timers(&net->neighbours, now(net));
		if (!net->stop)
			drv_cq_wait_event(net->ring.cq, next);
	}
	net->thread = false;
}

/* --- resolution --- */

/* Waits for the answer of a neighbour. */
static int neighbour_wait(struct net_port *net, const struct neigh_address *whom,
			  uint64_t within_ps, uint8_t mac[MAC_BYTES])
{
	struct platform *p = drv_platform(net->dev);
	const uint64_t deadline =
		within_ps < UINT64_MAX - now(net) ? now(net) + within_ps : UINT64_MAX;
	const struct neigh *n;
	int rc;

	net->waiting++;
	while ((rc = neigh_lookup(&net->neighbours, whom, now(net), mac)) == -EAGAIN) {
		/* the thread has to know of the new timer */
		drv_cq_wake(net->ring.cq);
		if (net->stop)
			rc = -ENODEV;
		else if (now(net) >= deadline)
			rc = -ETIMEDOUT;
		if (rc != -EAGAIN)
			break;
		/* the answer may have come while the question left */
		n = neigh_find(&net->neighbours, whom);
		if (n && n->state == NEIGH_INCOMPLETE)
			p->ops->waitq_wait(p, net->waitq, deadline);
	}
	/* an address that was stale is probed when nothing is heard of it for a while */
	n = neigh_find(&net->neighbours, whom);
	if (n && n->state == NEIGH_DELAY)
		drv_cq_wake(net->ring.cq);
	net->waiting--;
	return rc;
}

static int resolve(struct net_port *net, unsigned sgid_index, const uint8_t *dgid,
		   uint64_t within_ps, struct net_way *way)
{
	struct neigh_address whom;
	struct drv_gid from;

	if (drv_eth_gid_get(net->dev, net->port, sgid_index, &from))
		return -EINVAL;
	if (gid_is_multicast(dgid)) {
		gid_multicast_mac(dgid, way->dmac);
		return 0;
	}
	if (from.version == 1 && gid_is_link_local(dgid)) {
		gid_to_mac(dgid, way->dmac);
		return 0;
	}
	if (gid_is_ipv4(from.raw) != gid_is_ipv4(dgid) || !address_to(net, dgid, from.vlan))
		return -ENETUNREACH;
	way->hop_limit = HOPS;
	if (address_find(net, dgid, from.vlan)) {
		memcpy(way->dmac, net->mac, MAC_BYTES);
		return 0;
	}
	whom.vlan = from.vlan;
	memcpy(whom.ip, dgid, DRV_GID_BYTES);
	return neighbour_wait(net, &whom, within_ps, way->dmac);
}

int net_resolve(struct net_port *net, unsigned sgid_index, const uint8_t dgid[DRV_GID_BYTES],
		uint64_t within_ps, struct net_way *way)
{
	struct net_way found = *way;
	int rc;

	DRV_ENTER(net->dev, "port %u, sgid_index %u", net->port, sgid_index);
	rc = DRV_LEAVE(net->dev, resolve(net, sgid_index, dgid, within_ps, &found));
	if (!rc)
		*way = found;
	return rc;
}

enum neigh_state net_neighbour(const struct net_port *net, const uint8_t ip[DRV_GID_BYTES],
			       uint16_t vlan)
{
	struct neigh_address whom = {.vlan = vlan};
	const struct neigh *n;

	memcpy(whom.ip, ip, DRV_GID_BYTES);
	n = neigh_find(&net->neighbours, &whom);
	return n ? n->state : NEIGH_NONE;
}

/* --- addresses and GIDs, for the host --- */

static int vlan_join(struct net_port *net, uint16_t vlan)
{
	unsigned index;

	return vlan == VLAN_NONE ? 0 : drv_eth_vlan_get(net->dev, net->port, vlan, &index);
}

static void vlan_leave(struct net_port *net, uint16_t vlan)
{
	const int index =
		vlan == VLAN_NONE ? -ENOENT : drv_eth_vlan_index(net->dev, net->port, vlan);

	if (index >= 0)
		drv_eth_vlan_put(net->dev, net->port, (unsigned)index);
}

int net_address_add(struct net_port *net, const struct net_address *address)
{
	int rc;

	if (address_find(net, address->ip, address->vlan))
		return -EEXIST;
	if (net->n_addresses == ADDRESSES)
		return -ENOSPC;
	rc = vlan_join(net, address->vlan);
	if (rc)
		return rc;
	rc = net_gids_add(&net->gids, address->ip, address->vlan);
	if (rc) {
		vlan_leave(net, address->vlan);
		return rc;
	}
	net->addresses[net->n_addresses++] = *address;
	announce(net, address);
	return 0;
}

static void address_drop(struct net_port *net, const uint8_t *ip, uint16_t vlan)
{
	struct net_address *a = (struct net_address *)address_find(net, ip, vlan);

	if (!a) /* another thread has removed it meanwhile */
		return;
	*a = net->addresses[--net->n_addresses];
	vlan_leave(net, vlan);
}

/* An address whose GIDs the device does not give back stays, and can be removed the next time. */
int net_address_remove(struct net_port *net, const uint8_t ip[DRV_GID_BYTES], uint16_t vlan)
{
	const struct net_address *a = address_find(net, ip, vlan);
	int rc;

	/* the first one belongs to the MAC */
	if (!a || a == net->addresses)
		return -EADDRNOTAVAIL;
	rc = net_gids_remove(&net->gids, ip, vlan);
	if (!rc)
		address_drop(net, ip, vlan);
	return rc;
}

/* The link-local address of the MAC; its GIDs are the driver's. */
static struct net_address address_of_mac(const uint8_t mac[MAC_BYTES])
{
	struct net_address a = {.prefix = LINK_LOCAL_PREFIX, .vlan = VLAN_NONE};

	gid_from_mac(mac, VLAN_NONE, a.ip);
	return a;
}

int net_mac_set(struct net_port *net, const uint8_t mac[MAC_BYTES])
{
	int rc = drv_eth_mac_set(net->dev, net->port, mac);

	if (rc)
		return rc;
	memcpy(net->mac, mac, MAC_BYTES);
	net->addresses[0] = address_of_mac(mac);
	for (unsigned i = 0; i < net->n_addresses; i++)
		announce(net, &net->addresses[i]);
	return 0;
}

void net_gid_hold(struct net_port *net, unsigned index)
{
	net->gids.holds[index]++;
}

void net_gid_put(struct net_port *net, unsigned index)
{
	net->gids.holds[index]--;
}

/* --- life --- */

/* The thread and all who wait must have left before what they use is freed. */
static void thread_end(struct net_port *net)
{
	struct platform *p = drv_platform(net->dev);

	net->stop = true;
	while (net->thread || net->waiting) {
		drv_cq_wake(net->ring.cq);
		wake(net);
		p->ops->sleep_ps(p, PLATFORM_END_POLL_PS);
	}
}

static void net_free(struct net_port *net)
{
	struct platform *p = drv_platform(net->dev);

	net_ring_destroy(&net->ring);
	if (net->waitq)
		p->ops->waitq_destroy(p, net->waitq);
	free(net);
}

int net_open(struct drv_device *dev, unsigned port, struct net_port **out)
{
	struct platform *p = drv_platform(dev);
	struct net_port *net;
	char name[16];
	int rc;

	if (!drv_port_is_ethernet(dev, port))
		return -ENODEV;
	net = drv_calloc(1, sizeof(*net));
	if (!net)
		return -ENOMEM;
	net->dev = net->gids.dev = dev;
	net->port = net->gids.port = port;
	net->neighbours.ask = ask;
	net->neighbours.changed = wake;
	net->neighbours.arg = net;
	drv_eth_mac(dev, port, net->mac);
	net->addresses[net->n_addresses++] = address_of_mac(net->mac);
	rc = net_ring_create(&net->ring, dev, port);
	net->waitq = p->ops->waitq_create(p);
	if (!rc && !net->waitq)
		rc = -ENOMEM;
	if (!rc)
		rc = drv_eth_receive(dev, port, net->ring.qp);
	if (rc) {
		net_free(net);
		return rc;
	}
	net->thread = true;
	snprintf(name, sizeof(name), "net%u.%u", p->host, port);
	p->ops->thread_start(p, name, net_thread, net);
	*out = net;
	return 0;
}

void net_close(struct net_port *net)
{
	thread_end(net);
	drv_eth_receive(net->dev, net->port, NULL);
	while (net->n_addresses > 1) {
		const struct net_address last = net->addresses[net->n_addresses - 1];

		if (net_address_remove(net, last.ip, last.vlan))
			address_drop(net, last.ip, last.vlan);
	}
	net_free(net);
}
