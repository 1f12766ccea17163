// SPDX-License-Identifier: Apache-2.0
/*
 * Send buffers. The CPU writes a packet into one; the chip sends it and says in host memory that the
 * buffer is free again, by two bits: its generation, which changes when the driver begins to use it,
 * and whether it is in use (update_send_bufs() in qib_tx.c of Linux).
 */
#include "host_driver/ipath/ipath.h"
#include "host_driver/mlx4/barriers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64, WIDE = 8, HALF = 4, AVAIL_BITS = 2, FLUSH_POLLS = 1000 };

/* time between two looks whether a queue pair's packets have left */
#define FLUSH_POLL_PS UINT64_C(1000000)
/* how long the thread sleeps when the chip tells nothing */
#define AVAIL_PS UINT64_C(1000000000)

static uint64_t buffer_at(unsigned n)
{
	return n < IPATH_SMALL_BUFFERS ? IPATH_SEND + n * (uint64_t)IPATH_SMALL_STRIDE
				       : IPATH_SEND_LARGE + (n - IPATH_SMALL_BUFFERS) *
								    (uint64_t)IPATH_LARGE_STRIDE;
}

/* Whether the chip is done with a buffer that the driver has written. */
static bool has_left(const struct ipath_device *d, unsigned n)
{
	const unsigned bits = d->avail[n / 4] >> (n % 4 * AVAIL_BITS) & 3;

	return bits == (unsigned)d->sent[n].generation;
}

/* Packets on VL 15 have buffers of their own. */
static const struct {
	unsigned first, count;
} ranges[] = {
	[IPATH_SMALL] = {0, IPATH_SMALL_BUFFERS - IPATH_VL15_BUFFERS},
	[IPATH_LARGE] = {IPATH_SMALL_BUFFERS, IPATH_LARGE_BUFFERS},
	[IPATH_VL15] = {IPATH_SMALL_BUFFERS - IPATH_VL15_BUFFERS, IPATH_VL15_BUFFERS},
};

static enum ipath_kind kind_for(const struct rvt_packet *packet)
{
	if (packet->vl15)
		return IPATH_VL15;
	return packet->len <= IPATH_SMALL_BYTES - IPATH_PBC_BYTES ? IPATH_SMALL : IPATH_LARGE;
}

/* A free buffer of a kind, in turn; -EAGAIN: there is none. */
static int buffer_find(const struct ipath_device *d, enum ipath_kind kind)
{
	for (unsigned i = 0; i < ranges[kind].count; i++) {
		const unsigned n = ranges[kind].first + (d->next[kind] + i) % ranges[kind].count;

		if (!d->sent[n].packet && has_left(d, n))
			return (int)n;
	}
	return -EAGAIN;
}

/* In rising order: the length, quadwords up to a line, whole lines, quadwords, a last dword. */
static void buffer_write(struct ipath_device *d, unsigned n, const struct rvt_packet *packet)
{
	struct platform *p = d->p;
	const uint64_t to = buffer_at(n) + IPATH_PBC_BYTES;
	const uint8_t *bytes = packet->bytes;
	uint32_t i = 0;

	ipath_write(d, buffer_at(n), packet->len / 4 + 1);
	while (i < packet->len) {
		const bool line = !((to + i) % LINE) && packet->len - i >= LINE;
		const unsigned size = packet->len - i >= WIDE ? WIDE : HALF;

		if (line)
			p->ops->mmio_copy64(p, 0, to + i, bytes + i);
		else
			p->ops->mmio_write(p, 0, to + i, bytes + i, size);
		i += line ? LINE : size;
	}
}

int ipath_do_send(struct drv_device *dev, unsigned port, struct rvt_packet *packet)
{
	struct ipath_device *d = ipath_of(dev);
	const enum ipath_kind kind = kind_for(packet);
	const int n = buffer_find(d, kind);

	d->wanted[kind] = n < 0;
	if (n < 0) {
		d->p->ops->waitq_wake_all(d->p, d->sent_waitq);
		return n;
	}
	d->next[kind] = ((unsigned)n - ranges[kind].first + 1) % ranges[kind].count;
	d->sent[n].packet = packet;
	d->sent[n].generation = !d->sent[n].generation;
	drv_list_add(&d->launched, &packet->link);
	buffer_write(d, (unsigned)n, packet);
	d->p->ops->waitq_wake_all(d->p, d->sent_waitq);
	return 0;
}

/* --- what has left --- */

static int buffer_of(const struct ipath_device *d, const struct rvt_packet *packet)
{
	for (unsigned n = 0; n < IPATH_BUFFERS; n++)
		if (d->sent[n].packet == packet)
			return (int)n;
	return -ENOENT;
}

/* The first packet that has left: a packet on VL 15 passes data that waits for credits. */
static struct rvt_packet *next_left(const struct ipath_device *d)
{
	bool waits[2] = {false};

	for (struct drv_list *l = d->launched.next; l != &d->launched; l = l->next) {
		struct rvt_packet *packet = container_of(l, struct rvt_packet, link);

		if (!waits[packet->vl15] && has_left(d, (unsigned)buffer_of(d, packet)))
			return packet;
		waits[packet->vl15] = true;
	}
	return NULL;
}

/* Gives back the packets whose buffers are free, those of each lane in their order. */
static void give_back(struct ipath_device *d)
{
	for (struct rvt_packet *packet; (packet = next_left(d));) {
		drv_list_del(&packet->link);
		d->sent[buffer_of(d, packet)].packet = NULL;
		ipath_cast_count(d, packet->bytes, false);
		packet->done(packet, d->state == IBV_PORT_DOWN ? RVT_SENT_LINK_DOWN : RVT_SENT_OK);
	}
}

/* Tells of buffers that were wanted and are free now. The buffer of a packet that was taken back becomes free
 * when the chip has sent the packet. */
static void tell_ready(struct ipath_device *d)
{
	bool ready = false;

	for (enum ipath_kind kind = 0; kind < IPATH_KINDS; kind++) {
		if (!d->wanted[kind] || buffer_find(d, kind) < 0)
			continue;
		d->wanted[kind] = false;
		ready = true;
	}
	if (ready)
		rvt_send_ready(d->rvt, 1);
}

static bool waits_for_chip(const struct ipath_device *d)
{
	bool waits = !drv_list_empty(&d->launched);

	for (enum ipath_kind kind = 0; kind < IPATH_KINDS; kind++)
		waits |= d->wanted[kind];
	return waits;
}

/* The chip writes the bits of all buffers whenever one changes. */
static void sent_thread(void *arg)
{
	struct ipath_device *d = arg;
	struct platform *p = d->p;

	while (!d->stop) {
		give_back(d);
		tell_ready(d);
		if (d->stop)
			break;
		if (waits_for_chip(d))
			p->ops->wait_write(p, d->avail, IPATH_AVAIL_BYTES,
					   p->ops->now_ps(p) + AVAIL_PS);
		else
			p->ops->waitq_wait(p, d->sent_waitq, UINT64_MAX);
	}
	d->thread = false;
}

static bool holds(const struct ipath_device *d, uint32_t qpn)
{
	for (struct drv_list *l = d->launched.next; l != &d->launched; l = l->next)
		if (container_of(l, struct rvt_packet, link)->qpn == qpn)
			return true;
	return false;
}

/* Gives back what the chip has not sent, of one queue pair or (NULL) of all. */
static void take_back(struct ipath_device *d, const uint32_t *qpn)
{
	struct drv_list *next;

	for (struct drv_list *l = d->launched.next; l != &d->launched; l = next) {
		struct rvt_packet *packet = container_of(l, struct rvt_packet, link);
		const int n = buffer_of(d, packet);

		next = l->next;
		if (qpn && packet->qpn != *qpn)
			continue;
		drv_list_del(&packet->link);
		d->sent[n].packet = NULL;
		ipath_write(d, IPATH_SendCtrl,
			    IPATH_SEND_ENABLE | IPATH_SEND_AVAIL | IPATH_SEND_DISARM |
				    (uint64_t)n << IPATH_SEND_BUFFER_SHIFT);
		packet->done(packet, RVT_SENT_FLUSHED);
		next = d->launched.next; /* the write has let others run */
	}
}

void ipath_flush_qp(struct drv_device *dev, uint32_t qpn)
{
	struct ipath_device *d = ipath_of(dev);

	for (unsigned n = 0; n < FLUSH_POLLS && holds(d, qpn) && !d->stop; n++) {
		d->p->ops->sleep_ps(d->p, FLUSH_POLL_PS);
		give_back(d);
	}
	/* a chip that may not write to memory tells nothing any more */
	take_back(d, &qpn);
}

/* --- life --- */

int ipath_send_init(struct ipath_device *d)
{
	struct platform *p = d->p;

	drv_list_init(&d->launched);
	d->sent_waitq = p->ops->waitq_create(p);
	d->avail = p->ops->pages_alloc(p, PLATFORM_PAGE_SIZE, &d->avail_bus);
	if (!d->sent_waitq || !d->avail)
		return -ENOMEM;
	memset(d->avail, 0, PLATFORM_PAGE_SIZE);
	return 0;
}

void ipath_send_start(struct ipath_device *d)
{
	struct platform *p = d->p;
	char name[16];

	ipath_write(d, IPATH_SendPIOAvailAddr, d->avail_bus);
	for (unsigned n = 0; n < IPATH_BUFFERS; n++)
		ipath_write(d, IPATH_SendCtrl,
			    IPATH_SEND_DISARM | (uint64_t)n << IPATH_SEND_BUFFER_SHIFT);
	ipath_write(d, IPATH_SendCtrl, IPATH_SEND_ENABLE | IPATH_SEND_AVAIL);
	ipath_flush_writes(d);
	d->thread = true;
	snprintf(name, sizeof(name), "pio%u", p->host);
	p->ops->thread_start(p, name, sent_thread, d);
}

void ipath_send_stop(struct ipath_device *d)
{
	struct platform *p = d->p;

	d->stop = true;
	while (d->thread) {
		p->ops->waitq_wake_all(p, d->sent_waitq);
		p->ops->sleep_ps(p, PLATFORM_END_POLL_PS);
	}
	ipath_write(d, IPATH_SendCtrl, IPATH_SEND_ABORT);
	ipath_flush_writes(d);
	take_back(d, NULL); /* nothing is written any more */
}

void ipath_send_cleanup(struct ipath_device *d)
{
	struct platform *p = d->p;

	if (d->avail)
		p->ops->pages_free(p, d->avail, PLATFORM_PAGE_SIZE);
	if (d->sent_waitq)
		p->ops->waitq_destroy(p, d->sent_waitq);
}
