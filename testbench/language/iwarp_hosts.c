/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts below the words of iwarp.h: a TCP each, its timers, and the Ethernet cable between them. */
#include "testbench/language/iwarp_impl.h"

static struct iw_side *side_of(struct tcp_host *tcp)
{
	return container_of(tcp, struct iw_side, tcp);
}

static struct event_core *core_of(const struct iw_side *side)
{
	return &side->all->tb->machine->core;
}

void iwarp_frame_send(struct iw_side *side, const uint8_t *frame, size_t n)
{
	if (ethernet_send(side->all->ethernet, side->end->index, frame, n))
		side->all->wrong(side, "memory for a frame", "a frame");
}

static void link_send(struct tcp_host *tcp, const uint8_t *frame, size_t n)
{
	struct iw_side *side = side_of(tcp);

	side->all->wrong(side, iwarp_wire_frame(side, frame, n), "a frame");
	iwarp_frame_send(side, frame, n);
}

static uint64_t link_now_ps(struct tcp_host *tcp)
{
	return core_of(side_of(tcp))->now_ps;
}

static void timers_set(struct iw_side *side)
{
	uint64_t first = IW_NEVER;

	for (const struct iw_timer *t = side->timers; t; t = t->next)
		first = t->due_ps < first ? t->due_ps : first;
	event_cancel(core_of(side), &side->due);
	if (first != IW_NEVER)
		event_set(core_of(side), &side->due, first);
}

static void link_timer(struct tcp_host *tcp, struct iw_timer *timer, uint64_t due_ps)
{
	struct iw_side *side = side_of(tcp);
	struct iw_timer **p = &side->timers;

	while (*p && *p != timer)
		p = &(*p)->next;
	if (*p)
		*p = timer->next;
	timer->due_ps = due_ps;
	timer->next = NULL;
	if (due_ps != IW_NEVER) {
		/* behind those that are there: of equal times the first one set runs first */
		for (p = &side->timers; *p;)
			p = &(*p)->next;
		*p = timer;
	}
	timers_set(side);
}

static struct iw_timer *timer_first_due(const struct iw_side *side)
{
	const uint64_t now = core_of(side)->now_ps;
	struct iw_timer *due = NULL;

	for (struct iw_timer *t = side->timers; t; t = t->next)
		if (t->due_ps <= now && (!due || t->due_ps < due->due_ps))
			due = t;
	return due;
}

static void timers_run(struct event *ev)
{
	struct iw_side *side = container_of(ev, struct iw_side, due);
	struct iw_timer *t;

	while ((t = timer_first_due(side))) {
		link_timer(&side->tcp, t, IW_NEVER);
		t->fn(t->arg);
	}
}

static const struct tcp_link_ops link_ops = {
	.send = link_send,
	.now_ps = link_now_ps,
	.timer = link_timer,
};

static void frame_arrived(void *arg, const uint8_t *frame, size_t n)
{
	struct iw_side *side = arg;

	iwarp_wire_arrived(side, frame, n);
	tcp_host_frame(&side->tcp, frame, n);
}

void iwarp_host_begin(struct iw_side *side, struct ethernet_user *user)
{
	side->due.job = timers_run;
	tcp_host_begin(&side->tcp, &link_ops, side->end->index);
	*user = (struct ethernet_user){frame_arrived, side};
}

void iwarp_host_end(struct iw_side *side)
{
	tcp_host_end(&side->tcp);
	event_cancel(core_of(side), &side->due);
}
