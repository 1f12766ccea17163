/* SPDX-License-Identifier: Apache-2.0 */
/* What happens before and after the body of a scenario. Bring-up: hosts, ports to ACTIVE, connected
 * queue pairs. Tear-down of all these. */
#include "host_driver/net/net.h"
#include "model/sim/cfg.h"
#include "testbench/services.h"
#include "testbench/language/software.h"
#include "testbench/language/tb.h"
#include "testbench/machine/holds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	LIDS_OF_PORT = 256,
	SETTLE_US = 100,
	STALE_US = 20, /* an interrupt and its handler */
	LINK_LIMIT_S = 5,
	FIRST_EVENTS = 16,
	NETWORK = 11,
	PREFIX = 96 + 24, /* of 11.0.1.0 */
};

static bool events_grow(struct tb_events *ev)
{
	const unsigned room = ev->room ? 2 * ev->room : FIRST_EVENTS;
	struct drv_event *ring = malloc(room * sizeof(*ring));

	if (!ring)
		return false;
	for (unsigned i = 0; i < ev->count; i++)
		ring[i] = ev->ring[(ev->first + i) % ev->room];
	free(ev->ring);
	ev->ring = ring;
	ev->room = room;
	ev->first = 0;
	return true;
}

void tb_event_came(void *arg, const struct drv_event *event)
{
	struct tb_events *ev = arg;

	if (ev->ignore)
		return;
	if (ev->count == ev->room && !events_grow(ev)) {
		tb_failf(ev->tb, ev->tb->here, "memory for %u events", ev->count + 1);
		return;
	}
	ev->ring[(ev->first + ev->count++) % ev->room] = *event;
	tb_poke(ev->tb);
}

bool tb_event_take(struct tb_events *ev, struct drv_event *event)
{
	if (!ev->count)
		return false;
	*event = ev->ring[ev->first];
	ev->first = (ev->first + 1) % ev->room;
	ev->count--;
	return true;
}

/* The driver discards a completion. */
static void completion_discarded(void *arg, struct drv_cq *cq, const struct drv_wc *wc)
{
	struct tb_discards *d = arg;

	if (drv_cq_owner(cq) || d->ignore)
		return;
	if (!d->count++) {
		d->here = d->tb->here;
		d->wc = *wc;
	}
}

/* The device of host i, also if no end of the scenario uses it. */
static struct drv_device **device_of(struct tb *tb, unsigned host)
{
	return tb->setup.loopback && host ? &tb->other_dev : &tb->ends[host].dev;
}

void tb_bring_up(struct tb *tb, const char *here, struct tb_end *end)
{
	struct drv_device **dev = device_of(tb, end->index);
	struct platform *p = host_platform(tb->machine->hosts[end->index]);

	if (!tb_go(tb, here) || tb_is_outside(end))
		return;
	tb_progress(tb);
	if (!tb_must(tb, here, "drv_probe", drv_probe(p, NULL, dev), 0))
		return;
	tb->events[end->index].ignore = true;
	drv_event_register(*dev, tb_event_came, &tb->events[end->index]);
	drv_discard_register(*dev, completion_discarded, &tb->discards[end->index]);
	if (tb->setup.loopback)
		tb->ends[1].dev = tb->ends[0].dev;
}

/* Brings both ends of one cable to ACTIVE. A second port that is Ethernet's has no subnet manager. */
static bool activate_port(struct tb *tb, const char *here, unsigned port)
{
	const struct sm_options options = {.lid = 1 + (port - 1) * LIDS_OF_PORT,
					   .lmc = tb->setup.lmc};
	struct drv_port_attr attr;

	if (!drv_port_is_ethernet(tb->ends[0].dev, port) &&
	    !tb_must(tb, here, "sm_run", sm_run(tb->ends[0].dev, port, &options, NULL), 0))
		return false;
	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct tb_end *end = &tb->ends[i];

		if (!tb_must(tb, here, "drv_port_wait",
			     drv_port_wait(end->dev, port, IBV_PORT_ACTIVE,
					   tb_now(tb) + CFG_S(LINK_LIMIT_S)),
			     0) ||
		    !tb_must(tb, here, "drv_query_port", drv_query_port(end->dev, port, &attr), 0))
			return false;
		*(port == 1 ? &end->lid : &end->lid_2) = attr.lid;
	}
	return true;
}

/* The network interface: host a has 11.0.1.1, host b 11.0.1.2, as with start_cm(). */
static void interface_up(struct tb *tb, const char *here, struct tb_end *end)
{
	const struct net_address ipv4 = {
		.ip = {[10] = 0xff, 0xff, NETWORK, 0, 1, (uint8_t)(end->host_index + 1)},
		.prefix = PREFIX,
		.vlan = VLAN_NONE};

	if (tb_must(tb, here, "net_open", net_open(end->dev, 1, &end->net), 0))
		tb_must(tb, here, "net_address_add", net_address_add(end->net, &ipv4), 0);
}

static void interface_down(struct tb *tb, struct tb_end *end)
{
	if (end->net && end->host_index == end->index)
		net_close(end->net);
	end->net = NULL;
}

/* The same of Ethernet ports: no subnet manager, the link alone decides. */
static void activate_ethernet(struct tb *tb, const char *here)
{
	struct drv_event event;

	for (unsigned i = 0; i < TB_ENDS; i++)
		if (!tb_is_outside(&tb->ends[i]) && tb->config->sim.ethernet_roce != CFG_ROCE_V1 &&
		    tb->config->hca[i].hca_device != CFG_DEVICE_CX3PRO) {
			tb_failf(tb, here,
				 "hca.device=cx3pro, as sim.ethernet.roce asks for RoCE v2");
			return;
		}

	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct tb_end *end = &tb->ends[i];

		if (tb_is_outside(end))
			continue;
		if (!tb_go(tb, here) || !tb_must(tb, here, "drv_port_wait",
						 drv_port_wait(end->dev, 1, IBV_PORT_ACTIVE,
							       tb_now(tb) + CFG_S(LINK_LIMIT_S)),
						 0))
			return;
		end->ethernet = true;
		drv_eth_mac(end->dev, 1, end->mac);
		if (end->host_index == i && !end->net)
			interface_up(tb, here, end);
		else if (end->host_index != i)
			end->net = tb->ends[end->host_index].net;
		end->gid_index = tb_gid_index(tb);
		tb_must(tb, here, "drv_query_gid",
			drv_query_gid(end->dev, 1, end->gid_index, end->gid), 0);
	}
	tb_pass_time(tb, here, CFG_US(SETTLE_US));
	for (unsigned i = 0; i < TB_ENDS; i++) {
		tb->events[i].ignore = false;
		while (tb_event_take(&tb->events[i], &event))
			;
	}
}

/* Drops the port events that bring-up causes. */
static void check_events_again(struct tb_events *ev)
{
	struct drv_event event;

	ev->ignore = false;
	for (unsigned n = ev->count; n && tb_event_take(ev, &event); n--)
		if (!event.port)
			tb_event_came(ev, &event);
}

void tb_activate_ports(struct tb *tb, const char *here)
{
	if (tb->config->hca[0].port1_type == CFG_PORT_ETH) {
		activate_ethernet(tb, here);
		return;
	}
	for (unsigned port = 1;
	     port <= tb->config->hca[0].hca_ports && port <= tb->config->hca[1].hca_ports; port++)
		if (!tb_go(tb, here) || !activate_port(tb, here, port))
			return;
	tb_pass_time(tb, here, CFG_US(SETTLE_US));
	for (unsigned i = 0; i < TB_ENDS; i++)
		check_events_again(&tb->events[i]);
}

void tb_make_objects(struct tb *tb, const char *here, struct tb_end *end)
{
	const struct tb_setup *s = &tb->setup;
	struct drv_qp_init init = {
		.type = s->type,
		.cap = {.max_send_wr = s->queue,
			.max_recv_wr = s->queue,
			.max_send_sge = s->sges,
			.max_recv_sge = s->recv_sges,
			.max_inline_data = s->inline_bytes},
	};

	if (!tb_go(tb, here))
		return;
	if (tb_is_outside(end)) {
		tb_failf(tb, here,
			 "a device at host %s; with hca0.port1.wire the other end of the cable is "
			 "outside",
			 end->name);
		return;
	}
	if (s->qps > TB_QPS_MAX) {
		tb_failf(tb, here, "at most %d connected pairs, got %u", TB_QPS_MAX, s->qps);
		return;
	}
	if (!tb_must(tb, here, "memory for an end", tb_memory_create(end, s->memory), 0) ||
	    !tb_must(tb, here, "drv_pd_alloc", drv_pd_alloc(end->dev, &end->pd), 0) ||
	    !tb_must(tb, here, "drv_mr_reg",
		     drv_mr_reg_iova(end->pd, end->src, 2 * s->memory, tb_va(end, end->src),
				     s->mr_access, &end->mr),
		     0) ||
	    !tb_must(tb, here, "drv_cq_create",
		     drv_cq_create(end->dev, 2 * s->queue * (s->qps ? s->qps : 1),
				   s->interrupts ? 0 : DRV_CQ_POLLED, &end->cq),
		     0))
		return;
	init.send_cq = init.recv_cq = end->cq;
	for (unsigned i = 0; i < s->qps; i++)
		if (!tb_must(tb, here, "drv_qp_create", drv_qp_create(end->pd, &init, &end->qp[i]),
			     0))
			return;
}

static void connect_pair(struct tb *tb, const char *here, unsigned pair)
{
	struct tb_end *a = &tb->ends[0], *b = &tb->ends[1];

	if (tb_go(tb, here))
		tb_connect_two(tb, here, a, a->qp[pair], b, b->qp[pair]);
}

void tb_connect(struct tb *tb, const char *here)
{
	for (unsigned pair = 0; pair < tb->setup.qps; pair++)
		connect_pair(tb, here, pair);
}

/* An answer that a schedule holds back would count for the next connection, which has the same numbers. */
static void wait_for_held(struct tb *tb, const char *here)
{
	const uint64_t calm = holds_calm_ps(tb->machine->holds);

	if (calm && tb_now(tb) < calm + CFG_US(STALE_US))
		tb_pass_time(tb, here, CFG_US(STALE_US));
}

void tb_reconnect(struct tb *tb, const char *here, unsigned pair)
{
	wait_for_held(tb, here);
	for (unsigned i = 0; i < TB_ENDS; i++) {
		const struct drv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

		if (!tb_go(tb, here) ||
		    !tb_must(tb, here, "drv_qp_modify to RESET",
			     drv_qp_modify(tb->ends[i].qp[pair], &attr, IBV_QP_STATE), 0))
			return;
	}
	connect_pair(tb, here, pair);
}

/* --- tear-down --- */

static void destroy_objects(struct tb *tb, const char *here, struct tb_end *end)
{
	for (unsigned i = tb->setup.qps; i-- > 0;) {
		if (end->qp[i])
			tb_must(tb, here, "drv_qp_destroy", drv_qp_destroy(end->qp[i]), 0);
		end->qp[i] = NULL;
	}
	if (end->cq)
		tb_must(tb, here, "drv_cq_destroy", drv_cq_destroy(end->cq), 0);
	if (end->mr)
		tb_must(tb, here, "drv_mr_dereg", drv_mr_dereg(end->mr), 0);
	if (end->pd)
		tb_must(tb, here, "drv_pd_free", drv_pd_free(end->pd), 0);
	end->cq = NULL;
	end->mr = NULL;
	end->pd = NULL;
	tb_memory_destroy(end);
}

static void judge_removal(struct tb *tb, const char *here, unsigned host,
			  const struct drv_leftovers *left)
{
	char got[200];
	unsigned objects = left->pds + left->xrcds + left->mrs + left->mws + left->cqs +
			   left->srqs + left->qps;
	size_t used = host_pages_used(tb->machine->hosts[host]),
	       mapped = host_pages_mapped(tb->machine->hosts[host]);

	if (!(objects | left->mtts | left->icm_pages | left->db_records | left->mailboxes |
	      left->failed_commands) &&
	    !used && !mapped)
		return;
	snprintf(got, sizeof(got),
		 "%u objects, %u mtts, %u icm pages, %u doorbell records, %u mailboxes, %u failed "
		 "commands, %zu pages used, %zu mapped",
		 objects, left->mtts, left->icm_pages, left->db_records, left->mailboxes,
		 left->failed_commands, used, mapped);
	tb_fail(tb, here, host ? "nothing left at host 1" : "nothing left at host 0", got);
}

void tb_take_down(struct tb *tb, const char *here, struct tb_end *end)
{
	struct drv_device **dev = device_of(tb, end->index);
	struct drv_leftovers left;

	if (!tb_go(tb, here))
		return;
	for (unsigned i = 0; i < TB_ENDS; i++)
		tb->events[i].ignore = true;
	tb_processes_down(tb, here, end);
	destroy_objects(tb, here, end);
	if (!*dev)
		return;
	interface_down(tb, end);
	left = drv_remove(*dev);
	*dev = NULL;
	if (tb->setup.loopback && end->index)
		end->dev = NULL;
	judge_removal(tb, here, end->index, &left);
}

void tb_abandon(struct tb *tb, const char *here, struct tb_end *end)
{
	struct drv_leftovers left;

	if (!tb_go(tb, here))
		return;
	drv_declare_dead(end->dev);
	tb_processes_abandon(tb, here, end);
	drv_event_register(end->dev, NULL, NULL);
	interface_down(tb, end);
	left = drv_abandon(end->dev);
	tb_expect_equal(tb, here, "mailboxes of a dead device", left.mailboxes, 0);
	memset(end->qp, 0, sizeof(end->qp));
	end->cq = NULL;
	end->mr = NULL;
	end->pd = NULL;
	end->dev = NULL;
	tb_memory_destroy(end);
	tb_expect_equal(tb, here, "pages mapped for a dead device", host_pages_mapped(end->host),
			0);
	tb_expect_equal(tb, here, "pages used by a dead device", host_pages_used(end->host), 0);
}

void tb_judge_removed(struct tb *tb, const char *here)
{
	for (unsigned i = 0; i < TB_ENDS; i++)
		if (*device_of(tb, i) && tb_go(tb, here))
			tb_failf(tb, here,
				 "the device of host %s is removed: take_down() is missing",
				 tb->ends[i].name);
}

void tb_give_up(struct tb *tb)
{
	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct drv_device **dev = device_of(tb, i);

		if (!*dev)
			continue;
		drv_event_register(*dev, NULL, NULL);
		drv_discard_register(*dev, NULL, NULL);
		interface_down(tb, &tb->ends[i]);
		drv_abandon(*dev);
		*dev = NULL;
	}
}
