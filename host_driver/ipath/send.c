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

/* time between two checks whether the thread has ended, or is to end */
#define STOP_POLL_PS UINT64_C(1000000)
#define AVAIL_PS     (1000 * STOP_POLL_PS)

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

/* A free buffer among [first, first + count), in turn; -EAGAIN: there is none. */
static int buffer_take(struct ipath_device *d, unsigned first, unsigned count, unsigned *next)
{
	for (unsigned i = 0; i < count; i++) {
		const unsigned n = first + (*next + i) % count;

		if (d->sent[n].packet || !has_left(d, n))
			continue;
		*next = (*next + i + 1) % count;
		return (int)n;
	}
	return -EAGAIN;
}

static int buffer_for(struct ipath_device *d, const struct rvt_packet *packet)
{
	unsigned turn = 0;

	if (packet->vl15)
		return buffer_take(d, IPATH_SMALL_BUFFERS - IPATH_VL15_BUFFERS, IPATH_VL15_BUFFERS,
				   &turn);
	if (packet->len <= IPATH_SMALL_BYTES - IPATH_PBC_BYTES)
		return buffer_take(d, 0, IPATH_SMALL_BUFFERS - IPATH_VL15_BUFFERS, &d->next_small);
	return buffer_take(d, IPATH_SMALL_BUFFERS, IPATH_LARGE_BUFFERS, &d->next_large);
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
	const int n = buffer_for(d, packet);

	if (n < 0) {
		d->wanted = true;
		return n;
	}
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

/* Gives back, in their order, the packets whose buffers are free. */
static void give_back(struct ipath_device *d)
{
	bool freed = false;

	while (!drv_list_empty(&d->launched)) {
		struct rvt_packet *packet = container_of(d->launched.next, struct rvt_packet, link);
		const int n = buffer_of(d, packet);

		if (!has_left(d, (unsigned)n))
			break;
		drv_list_del(&packet->link);
		d->sent[n].packet = NULL;
		ipath_cast_count(d, packet->bytes, false);
		packet->done(packet, d->state == IBV_PORT_DOWN ? RVT_SENT_LINK_DOWN : RVT_SENT_OK);
		freed = true;
	}
	if (freed && d->wanted) {
		d->wanted = false;
		rvt_send_ready(d->rvt, 1);
	}
}

/* The chip writes the bits of all buffers whenever one changes. */
static void sent_thread(void *arg)
{
	struct ipath_device *d = arg;
	struct platform *p = d->p;

	while (!d->stop) {
		give_back(d);
		if (d->stop)
			break;
		if (drv_list_empty(&d->launched))
			p->ops->waitq_wait(p, d->sent_waitq, UINT64_MAX);
		else
			p->ops->wait_write(p, d->avail, IPATH_AVAIL_BYTES,
					   p->ops->now_ps(p) + AVAIL_PS);
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
		d->p->ops->sleep_ps(d->p, STOP_POLL_PS);
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
		p->ops->sleep_ps(p, STOP_POLL_PS);
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
