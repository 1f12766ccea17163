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
static struct tb_eth_fault fault_take(struct ethernet *e, unsigned host, const uint8_t *frame,
				      size_t n)
{
	struct tcp_segment segment;
	struct tb_eth_fault fault = {0};

	if (tcp_frame_get(frame, n, &segment))
		return fault;
	for (struct planned **p = &e->planned; *p && !fault.action;) {
		struct planned *plan = *p;

		if (plan->host == host && is_kind(&segment, plan->fault.kind) &&
		    ++plan->seen >= plan->fault.nth) {
			fault = plan->fault;
			planned_free(p);
		} else {
			p = &plan->next;
		}
	}
	return fault;
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
		    const struct tb_eth_fault *fault)
{
	static const char *const names[] = {[ETH_DROP] = "drop",
					    [ETH_DUPLICATE] = "duplicate",
					    [ETH_DELAY] = "delay",
					    [ETH_CORRUPT] = "corrupt"};
	const struct sim_params *params = &e->machine->config->sim;
	const uint64_t now = e->machine->core.now_ps,
		       took = (n + ETH_OVERHEAD) * BITS * PS_PER_S / params->ethernet_rate;
	struct frame *f = calloc(1, sizeof(*f) + n);

	if (!f)
		return -ENOMEM;
	f->e = e;
	f->from = host;
	f->fault = names[fault->action];
	f->n = n;
	memcpy(f->bytes, bytes, n);
	if (fault->action == ETH_CORRUPT && fault->at < n)
		f->bytes[fault->at] ^= 1;
	if (e->free_ps[host] < now)
		e->free_ps[host] = now;
	e->free_ps[host] += took;
	emit(e, TP_ETH_OUT, host, e->free_ps[host], f);
	if (fault->action == ETH_DROP) {
		free(f);
		return 0;
	}
	f->next = e->frames;
	e->frames = f;
	f->arrival.job = arrived;
	event_set(&e->machine->core, &f->arrival,
		  e->free_ps[host] + params->ethernet_cable_delay + fault->by);
	return 0;
}

/* The sum of RFC 1071 over some bytes, by another way than that of host_driver/iwarp: byte by byte, in place. 0xffff: right. */
static unsigned sum_of(const uint8_t *bytes, size_t n, unsigned sum)
{
	for (size_t i = 0; i < n; i++) {
		sum += (unsigned)bytes[i] << (i % 2 ? 0 : BITS);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

const char *ethernet_frame_wrong(const uint8_t *frame, size_t n)
{
	enum { MAC = 14, TOTAL = 2, PROTOCOL = 9, ADDRESSES = 12, ADDRESSES_BYTES = 8 };
	const uint8_t *ip = frame + MAC;
	const size_t total = (size_t)(ip[TOTAL] << BITS | ip[TOTAL + 1]), head = 4 * (ip[0] & 0xf);

	if (total < head || total > n - MAC)
		return "a right length of the IP packet";
	if (sum_of(ip, head, 0) != 0xffff)
		return "a right checksum of IP";
	/* the pseudo header of TCP */
	if (sum_of(ip + head, total - head,
		   sum_of(ip + ADDRESSES, ADDRESSES_BYTES,
			  ip[PROTOCOL] + (unsigned)(total - head))) != 0xffff)
		return "a right checksum of TCP";
	return NULL;
}

int ethernet_send(struct ethernet *e, unsigned host, const uint8_t *frame, size_t n)
{
	const struct tb_eth_fault fault = fault_take(e, host, frame, n), none = {0};
	int ret = frame_go(e, host, frame, n, fault.action == ETH_DUPLICATE ? &none : &fault);

	if (!ret && fault.action == ETH_DUPLICATE)
		ret = frame_go(e, host, frame, n, &fault);
	return ret;
}
