/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/machine/ethernet.h"

#include "host_driver/iwarp/tcp_frame.h"
#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "traces/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	ETH_OVERHEAD = 8 + 4 + 12, /* preamble, FCS, gap */
	ETH_PORT = 1,
	BITS = 8,
};

#define PS_PER_S UINT64_C(1000000000000)

struct frame {
	struct event arrival;
	struct ethernet *e;
	struct frame *next; /* under way */
	unsigned from;
	const char *fault;
	size_t n;
	uint8_t bytes[];
};

struct planned {
	struct planned *next;
	unsigned host;
	struct tb_eth_fault fault;
	unsigned seen;
};

struct ethernet {
	struct machine *machine;
	struct ethernet_user users[MACHINE_HOSTS];
	uint64_t free_ps[MACHINE_HOSTS]; /* when the last frame of a host has left */
	struct frame *frames;
	struct planned *planned;
};

struct ethernet *ethernet_create(struct machine *m, const struct ethernet_user users[MACHINE_HOSTS])
{
	struct ethernet *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->machine = m;
	memcpy(e->users, users, sizeof(e->users));
	return e;
}

static void frame_free(struct frame *f)
{
	struct frame **p = &f->e->frames;

	while (*p != f)
		p = &(*p)->next;
	*p = f->next;
	event_cancel(&f->e->machine->core, &f->arrival);
	free(f);
}

static void planned_free(struct planned **p)
{
	struct planned *done = *p;

	*p = done->next;
	free(done);
}

void ethernet_destroy(struct ethernet *e)
{
	if (!e)
		return;
	while (e->frames)
		frame_free(e->frames);
	while (e->planned)
		planned_free(&e->planned);
	free(e);
}

int ethernet_fault(struct ethernet *e, unsigned host, const struct tb_eth_fault *fault)
{
	struct planned *new = calloc(1, sizeof(*new)), **p = &e->planned;

	if (!new)
		return -ENOMEM;
	*new = (struct planned){.host = host, .fault = *fault};
	while (*p)
		p = &(*p)->next;
	*p = new;
	return 0;
}

unsigned ethernet_faults_left(const struct ethernet *e)
{
	unsigned n = 0;

	for (const struct planned *p = e->planned; p; p = p->next)
		n++;
	return n;
}

unsigned ethernet_under_way(const struct ethernet *e)
{
	unsigned n = 0;

	for (const struct frame *f = e->frames; f; f = f->next)
		n++;
	return n;
}

static bool is_kind(const struct tcp_segment *s, enum tb_eth_kind kind)
{
	switch (kind) {
	case ETH_SYN:
		return s->flags & TCP_SYN;
	case ETH_FIN:
		return s->flags & TCP_FIN;
	case ETH_DATA:
		return s->len;
	default:
		return true;
	}
}

/* What happens to this frame: the first plan whose turn it is. */
static int fault_take(struct ethernet *e, unsigned host, const uint8_t *frame, size_t n)
{
	struct tcp_segment segment;
	int action = 0;

	if (tcp_frame_get(frame, n, &segment))
		return 0;
	for (struct planned **p = &e->planned; *p && !action;) {
		struct planned *plan = *p;

		if (plan->host == host && is_kind(&segment, plan->fault.kind) &&
		    ++plan->seen >= plan->fault.nth) {
			action = (int)plan->fault.action;
			planned_free(p);
		} else {
			p = &plan->next;
		}
	}
	return action;
}

static void emit(struct ethernet *e, enum trace_point point, unsigned host, uint64_t time_ps,
		 const struct frame *f)
{
	if (trace_on(e->machine->trace, point))
		trace_emit(e->machine->trace, &(const struct trace_record){
						      .time_ps = time_ps,
						      .point = point,
						      .hca = (uint8_t)host,
						      .port = ETH_PORT,
						      .bytes = f->bytes,
						      .len = (uint32_t)f->n,
						      .text = f->fault,
					      });
}

static void arrived(struct event *ev)
{
	struct frame *f = container_of(ev, struct frame, arrival);
	struct ethernet *e = f->e;
	const struct ethernet_user *user = &e->users[!f->from];

	emit(e, TP_ETH_IN, !f->from, e->machine->core.now_ps, f);
	user->frame(user->arg, f->bytes, f->n);
	frame_free(f);
}

static int frame_go(struct ethernet *e, unsigned host, const uint8_t *bytes, size_t n,
		    const char *fault, bool lost)
{
	const struct sim_params *params = &e->machine->config->sim;
	const uint64_t now = e->machine->core.now_ps,
		       took = (n + ETH_OVERHEAD) * BITS * PS_PER_S / params->ethernet_rate;
	struct frame *f = calloc(1, sizeof(*f) + n);

	if (!f)
		return -ENOMEM;
	f->e = e;
	f->from = host;
	f->fault = fault;
	f->n = n;
	memcpy(f->bytes, bytes, n);
	if (e->free_ps[host] < now)
		e->free_ps[host] = now;
	e->free_ps[host] += took;
	emit(e, TP_ETH_OUT, host, e->free_ps[host], f);
	if (lost) {
		free(f);
		return 0;
	}
	f->next = e->frames;
	e->frames = f;
	f->arrival.job = arrived;
	event_set(&e->machine->core, &f->arrival, e->free_ps[host] + params->ethernet_cable_delay);
	return 0;
}

int ethernet_send(struct ethernet *e, unsigned host, const uint8_t *frame, size_t n)
{
	const int action = fault_take(e, host, frame, n);
	int ret =
		frame_go(e, host, frame, n, action == ETH_DROP ? "drop" : NULL, action == ETH_DROP);

	if (!ret && action == ETH_DUPLICATE)
		ret = frame_go(e, host, frame, n, "duplicate", false);
	return ret;
}
