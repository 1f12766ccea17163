/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of packets: what is not on the path of every packet. */
#include "model/engine/wire/packet_queue.h"

void packet_queue_remove(struct packet_queue *q, struct packet *pkt)
{
	struct packet *before = NULL;

	for (struct packet *p = q->first; p; before = p, p = p->next) {
		if (p != pkt)
			continue;
		if (before)
			before->next = p->next;
		else
			q->first = p->next;
		if (q->last == p)
			q->last = before;
		p->next = NULL;
		return;
	}
}

void packet_queue_move(struct packet_queue *to, struct packet_queue *from)
{
	if (!from->first)
		return;
	*(to->first ? &to->last->next : &to->first) = from->first;
	to->last = from->last;
	from->first = NULL;
}

void packet_queue_free(struct packet_queue *q)
{
	struct packet *pkt;

	while ((pkt = packet_queue_pop(q)))
		packet_free(pkt);
}
