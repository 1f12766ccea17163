// SPDX-License-Identifier: Apache-2.0
/*
 * The send engines: one thread a port. Queue pairs that may have something to send stand in its
 * list; each sends one packet when it is first, and goes to the end. QP0 has a list of its own,
 * because packets on VL 15 have send buffers of their own. Some packets are kept for it, too.
 */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* time between two looks whether the packets of a queue pair have come back */
#define DONE_POLL_PS UINT64_C(1000000)

enum { CLASSES = 2 };

static unsigned class_of(const struct rvt_qp *qp)
{
	return qp->special && !qp->qpn;
}

void rvt_schedule(struct rvt_qp *qp)
{
	struct rvt_port *port = &rvt_dev(qp)->ports[qp->port];

	if (!qp->is_ready) {
		qp->is_ready = true;
		drv_list_add(&port->ready[class_of(qp)], &qp->ready);
	}
	rvt_wake(port->dev, port->waitq);
}

void rvt_unschedule(struct rvt_qp *qp)
{
	qp->is_ready = false;
	drv_list_del(&qp->ready);
}

/* --- packets --- */

static void packet_put(struct rvt_device *dev, struct rvt_packet *packet)
{
	drv_list_add(&dev->free_packets[packet->vl15], &packet->link);
}

static bool is_group(const struct rvt_packet *packet)
{
	const unsigned dlid = lrh_get_dlid((const struct lrh *)packet->bytes);

	return dlid >= LID_MCAST_FIRST && dlid != LID_PERMISSIVE;
}

/* The device loops nothing back: what this port sends to itself comes here without it. */
static void loop(struct rvt_port *port, const struct rvt_packet *packet)
{
	const bool grh = lrh_get_lnh((const struct lrh *)packet->bytes) == LNH_IBA_GLOBAL;
	const struct bth *bth =
		(const struct bth *)(packet->bytes + LRH_BYTES + (grh ? GRH_BYTES : 0));
	const uint32_t headers =
		bth_op_header_bytes(bth_op_find((uint8_t)bth_get_opcode(bth)), grh);

	rvt_deliver(port->dev, port->number, packet->bytes, headers, packet->bytes + headers,
		    packet->len - headers, true);
}

/* The driver gives a packet back. */
static void packet_done(struct rvt_packet *packet, enum rvt_sent how)
{
	struct rvt_qp *qp = packet->owner;
	struct rvt_device *dev = rvt_dev(qp);

	if (packet->last)
		rvt_unreliable_sent(qp, how);
	/* this port's members of a group get a copy */
	if (how == RVT_SENT_OK && is_group(packet))
		loop(&dev->ports[qp->port], packet);
	packet_put(dev, packet);
	qp->packets--;
	if (!qp->packets)
		rvt_wake(dev, dev->done_waitq);
	/* who waited for a packet's buffer */
	for (unsigned n = 1; n <= dev->limits.attr.ports; n++)
		rvt_wake(dev, dev->ports[n].waitq);
	rvt_cqs_tell(dev);
}

/* Answers come before requests, so that two busy sides do not wait for each other. */
static bool next_of(struct rvt_qp *qp, struct rvt_packet *packet)
{
	packet->last = false;
	if (qp->type == IBV_QPT_UD)
		return rvt_datagram_next(qp, packet);
	return rvt_reply_next(qp, packet) || rvt_requester_next(qp, packet);
}

/* The next packet of a class; NULL: there is none. */
static struct rvt_packet *packet_next(struct rvt_port *port, unsigned class)
{
	struct rvt_device *dev = port->dev;

	while (!drv_list_empty(&port->ready[class]) && !drv_list_empty(&dev->free_packets[class])) {
		struct rvt_qp *qp = container_of(port->ready[class].next, struct rvt_qp, ready);
		struct rvt_packet *packet =
			container_of(dev->free_packets[class].next, struct rvt_packet, link);

		rvt_unschedule(qp);
		if (!next_of(qp, packet))
			continue;
		drv_list_del(&packet->link);
		packet->owner = qp;
		packet->done = packet_done;
		qp->packets++;
		rvt_schedule(qp);
		return packet;
	}
	return NULL;
}

/* --- sending --- */

static bool is_own_lid(const struct rvt_port *port, unsigned lid)
{
	return port->lid && lid >> port->lmc == port->lid >> port->lmc;
}

/* False: it must wait. */
static bool packet_send(struct rvt_port *port, struct rvt_packet *packet)
{
	struct rvt_device *dev = port->dev;
	const unsigned dlid = lrh_get_dlid((const struct lrh *)packet->bytes);

	rvt_cpu(dev, dev->limits.packet_ps);
	if (is_own_lid(port, dlid)) {
		loop(port, packet);
		packet->done(packet, RVT_SENT_OK);
		return true;
	}
	port->ready_told[packet->vl15] = false;
	if (dev->hooks->do_send(rvt_drv(dev), port->number, packet)) {
		port->stalled[packet->vl15] = packet;
		return false;
	}
	return true;
}

/* Sends what there is. True: something was sent. */
static bool class_send(struct rvt_port *port, unsigned class)
{
	struct rvt_packet *packet = port->stalled[class];

	if (packet && !port->ready_told[class])
		return false;
	port->stalled[class] = NULL;
	if (!packet)
		packet = packet_next(port, class);
	return packet && packet_send(port, packet);
}

bool rvt_engine_step(struct rvt_port *port)
{
	struct rvt_device *dev = port->dev;
	bool more = false;

	rvt_cqs_tell(dev);
	for (unsigned class = CLASSES; class -- > 0 && !dev->stop;) {
		more |= class_send(port, class);
		/* what the driver has told meanwhile */
		more |= port->stalled[class] && port->ready_told[class];
	}
	return more || !drv_list_empty(&dev->due);
}

static void engine(void *arg)
{
	struct rvt_port *port = arg;
	struct rvt_device *dev = port->dev;
	struct platform *p = dev->base.p;

	while (!dev->stop)
		if (!rvt_engine_step(port) && !dev->stop)
			p->ops->waitq_wait(p, port->waitq, UINT64_MAX);
	port->thread = false;
}

void rvt_send_ready(struct drv_device *handle, unsigned port)
{
	struct rvt_device *dev = rvt_of(handle);

	for (unsigned class = 0; class < CLASSES; class ++)
		dev->ports[port].ready_told[class] = true;
	rvt_wake(dev, dev->ports[port].waitq);
}

static void stalled_drop(struct rvt_port *port, const struct rvt_qp *qp)
{
	for (unsigned class = 0; class < CLASSES; class ++) {
		struct rvt_packet *packet = port->stalled[class];

		if (!packet || packet->owner != qp)
			continue;
		port->stalled[class] = NULL;
		packet->done(packet, RVT_SENT_FLUSHED);
	}
}

void rvt_quiesce(struct rvt_qp *qp)
{
	struct rvt_device *dev = rvt_dev(qp);
	struct platform *p = dev->base.p;

	stalled_drop(&dev->ports[qp->port], qp);
	while (qp->packets) {
		dev->hooks->flush_qp(qp->dev, qp->qpn);
		stalled_drop(&dev->ports[qp->port], qp);
		if (qp->packets)
			p->ops->waitq_wait(p, dev->done_waitq, rvt_now(dev) + DONE_POLL_PS);
	}
	rvt_unschedule(qp);
}

/* --- life --- */

int rvt_engines_start(struct rvt_device *dev)
{
	struct platform *p = dev->base.p;
	char name[16];

	dev->packets = calloc(RVT_PACKETS, sizeof(*dev->packets));
	if (!dev->packets)
		return -ENOMEM;
	for (unsigned i = 0; i < RVT_PACKETS; i++) {
		dev->packets[i].vl15 = i < RVT_PACKETS_VL15;
		packet_put(dev, &dev->packets[i]);
	}
	for (unsigned n = 1; n <= dev->limits.attr.ports; n++) {
		dev->ports[n].thread = true;
		snprintf(name, sizeof(name), "rvt%u.%u", p->host, n);
		p->ops->thread_start(p, name, engine, &dev->ports[n]);
	}
	return 0;
}

void rvt_engines_stop(struct rvt_device *dev)
{
	struct platform *p = dev->base.p;

	dev->stop = true;
	for (unsigned n = 1; n <= dev->limits.attr.ports; n++) {
		while (dev->ports[n].thread) {
			rvt_wake(dev, dev->ports[n].waitq);
			p->ops->sleep_ps(p, PLATFORM_END_POLL_PS);
		}
	}
	free(dev->packets);
	dev->packets = NULL;
}
