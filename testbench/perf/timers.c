/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers that run only when something is missing: the peer's response, or the receive at the peer.
 */
#include "testbench/perf/world.h"

enum { DEAD_QPN = 0xfffff0, PROBE_BYTES = 8 };

static const struct perf_shape shape = {.type = IBV_QPT_RC, .qps = 1, .depth = 16, .receives = 1};

static void send_one(struct perf_thread *t)
{
	perf_post(t,
		  &(struct perf_request){
			  .op = PERF_SEND, .size = PROBE_BYTES, .signaled = true, .qp = t->qps[0]});
}

double perf_ack_timeout(struct perf_world *world)
{
	struct perf_thread *t = perf_thread_create(world, 0, 0, &shape);
	struct drv_wc wc;
	uint64_t before;

	perf_connect_dead(t, DEAD_QPN);
	before = perf_now(t);
	send_one(t);
	perf_must(world, drv_cq_wait(t->send_cq, UINT64_MAX), "drv_cq_wait");
	if (drv_cq_poll(t->send_cq, 1, &wc) != 1 || wc.status != IBV_WC_RETRY_EXC_ERR)
		perf_fail(world, "the request did not end with its retries exceeded");
	return (double)(perf_now(t) - before) / 1e6;
}

/* --- the wire, as hca0 sees it --- */

struct rnr_watch {
	struct tb *tb;
	uint64_t nak_ps, resent_ps;
};

static int watch_record(void *arg, const struct trace_record *r)
{
	struct rnr_watch *watch = arg;
	struct seen_pkt pkt;

	if (r->hca || !r->bytes ||
	    seen_pkt_parse(&pkt, r->bytes, r->len, r->time_ps, (unsigned)r->args[3], r->text))
		return 0;
	if (r->point == TP_PKT_IN && pkt.opcode == BTH_RC_ACKNOWLEDGE && !watch->nak_ps)
		watch->nak_ps = r->time_ps;
	if (r->point == TP_PKT_OUT && pkt.opcode == BTH_RC_SEND_ONLY && watch->nak_ps &&
	    !watch->resent_ps) {
		watch->resent_ps = r->time_ps;
		tb_poke(watch->tb);
	}
	return 0;
}

static int watch_close(void *arg)
{
	return 0;
}

static bool is_resent(struct tb *tb, void *arg)
{
	return ((struct rnr_watch *)arg)->resent_ps != 0;
}

double perf_rnr_delay(struct perf_world *world)
{
	static const struct trace_sink_ops ops = {
		.name = "rnr", .record = watch_record, .close = watch_close};
	struct rnr_watch watch = {.tb = world->tb};
	struct perf_thread *a = perf_thread_create(world, 0, 0, &shape);

	perf_connect(a, perf_thread_create(world, 1, 0, &shape));
	perf_must(world, trace_sink_add(world->tb->trace, &ops, &watch, 1u << TRACE_PACKET),
		  "trace_sink_add");
	send_one(a);
	tb_wait(world->tb, is_resent, &watch, EVENT_NEVER);
	return (double)(watch.resent_ps - watch.nak_ps) / 1e6;
}
