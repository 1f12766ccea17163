/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread still has an event of an id that another thread destroys or takes to another channel.
 * Both calls wait until the event has been acknowledged, and not longer, so that no thread ever
 * has an event whose id is gone, even if it takes it while the id is being destroyed. Only synchronous ids
 * store their event in themselves.
 */
/* behaviours: IBA-A11-ip-cm-service */
#include "testbench/connect.h"

enum { PORT = 5, LATE_US = 10000, TOLERANCE_US = 1000 };

static void acknowledges(void *arg)
{
	process_sleep_us(LATE_US);
	rdma_ack_cm_event(arg);
}

/* An id with an event that a thread acknowledges later. */
static struct rdma_cm_id *with_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (ip_resolve(channel, IP_B, PORT, NULL, &id) || rdma_get_cm_event(channel, &event) ||
	    event->event != RDMA_CM_EVENT_ADDR_RESOLVED || id->event ||
	    process_thread("acknowledges", acknowledges, event))
		return NULL;
	return id;
}

static void acknowledges_later(void *arg)
{
	process_sleep_us(2 * LATE_US);
	rdma_ack_cm_event(arg);
}

/* The id ends with the last of its events, not with the first. */
static int two_events(struct rdma_event_channel *channel)
{
	const uint64_t begun = process_now_ns();
	struct rdma_cm_id *id = with_event(channel);
	struct rdma_cm_event *event;
	uint64_t us;

	if (!id || rdma_resolve_route(id, IP_TIMEOUT_MS) || rdma_get_cm_event(channel, &event) ||
	    event->event != RDMA_CM_EVENT_ROUTE_RESOLVED ||
	    process_thread("acknowledges_later", acknowledges_later, event) || rdma_destroy_id(id))
		return __LINE__;
	us = (process_now_ns() - begun) / 1000;
	return us < 2 * LATE_US || us > 2 * LATE_US + TOLERANCE_US ? __LINE__ : 0;
}

static uint64_t us_since(uint64_t begun_ns)
{
	return (process_now_ns() - begun_ns) / 1000;
}

static bool was_late(uint64_t begun_ns)
{
	return us_since(begun_ns) >= LATE_US && us_since(begun_ns) < LATE_US + TOLERANCE_US;
}

struct meanwhile {
	struct rdma_event_channel *channel;
	bool taken;
};

/* What an Ethernet port has to do is done at once, so there is nothing left to take. */
static void takes(void *arg)
{
	struct meanwhile *m = arg;
	struct rdma_cm_event *event;

	process_sleep_us(1);
	m->taken = process_poll(m->channel->fd, 1) == 1 && !rdma_get_cm_event(m->channel, &event);
	if (!m->taken)
		return;
	process_sleep_us(LATE_US);
	rdma_ack_cm_event(event);
}

/* A thread takes an event of the id while the kernel waits for the query of the id, whose end has begun. */
static int taken_meanwhile(struct rdma_event_channel *channel, bool *taken)
{
	struct meanwhile m = {.channel = channel};
	struct rdma_cm_id *id;
	uint64_t begun;

	if (ip_resolve(channel, IP_B, PORT, NULL, &id) || process_poll(channel->fd, 1) != 1 ||
	    rdma_resolve_route(id, IP_TIMEOUT_MS) || process_thread("takes", takes, &m))
		return __LINE__;
	begun = process_now_ns();
	if (rdma_destroy_id(id))
		return __LINE__;
	*taken = m.taken;
	if (m.taken != (us_since(begun) >= LATE_US))
		return __LINE__;
	process_sleep_us(2 * LATE_US); /* the thread has ended */
	return 0;
}

static int program(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_cm_id *id = channel && other ? with_event(channel) : NULL;
	uint64_t begun = process_now_ns();

	if (!id || rdma_destroy_id(id) || !was_late(begun) || two_events(channel))
		return __LINE__;
	id = with_event(channel);
	begun = process_now_ns();
	if (!id || rdma_migrate_id(id, other) || !was_late(begun) || id->event)
		return __LINE__;
	rdma_destroy_event_channel(channel);
	begun = process_now_ns();
	if (rdma_destroy_id(id) || us_since(begun) >= TOLERANCE_US || taken_meanwhile(other, arg))
		return __LINE__;
	rdma_destroy_event_channel(other);
	return 0;
}

SCENARIO(rdma_acknowledged, "ids that end while a thread still has their event", .no_qps = true,
	 .any_packets = true)
{
	bool taken = false;

	start_cm();
	expect_exit(start_process(a, program, &taken), 0);
	expect_equal(taken, !a->ethernet);
}
