/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of packets, in order of arrival. A packet stands in at most one: they are linked by
 * packet.next. A queue of zeros is empty. Its owner frees what is left with packet_queue_free().
 */
#ifndef PACKET_QUEUE_H
#define PACKET_QUEUE_H

#include <stddef.h>

#include "model/engine/wire/packet.h"

struct packet_queue {
	struct packet *first; /* NULL: the queue is empty */
	struct packet *last;  /* means nothing while the queue is empty */
};

static inline void packet_queue_push(struct packet_queue *q, struct packet *pkt)
{
	pkt->next = NULL;
	if (q->first)
		q->last->next = pkt;
	else
		q->first = pkt;
	q->last = pkt;
}

/* NULL when the queue is empty. */
static inline struct packet *packet_queue_pop(struct packet_queue *q)
{
	struct packet *pkt = q->first;

	if (pkt) {
		q->first = pkt->next;
		pkt->next = NULL;
	}
	return pkt;
}

/* NULL when the queue is empty. */
static inline struct packet *packet_queue_last(const struct packet_queue *q)
{
	return q->first ? q->last : NULL;
}

/* Does nothing when the packet does not stand in the queue. */
void packet_queue_remove(struct packet_queue *q, struct packet *pkt);
/* Appends all of `from` to `to`. */
void packet_queue_move(struct packet_queue *to, struct packet_queue *from);
/* Frees the packets of the queue. */
void packet_queue_free(struct packet_queue *q);

#endif
