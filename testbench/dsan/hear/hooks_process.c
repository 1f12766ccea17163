// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: what a program may rely on when its threads share objects. An event that was taken names its
 * object, counts for it when it is acknowledged, and holds up its destruction until then. An object that
 * one call destroys is given to no other call.
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/held/counts.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/held/pins.h"
#include "testbench/dsan/threads/threads.h"

#include "host_driver/cm/rdma_lib.h"
#include "host_driver/uverbs/lib.h"
#include "host_driver/uverbs/uverbs.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>

enum {
	TAKEN = 256,
	DYING = 64,
	NAMES_BYTES = 240,
	NO_OBJECT = 4096,
	QUEUERS = 8,
	TEXT_CHARS = 200
};

static struct checker *checker_of(const struct ibv_context *context)
{
	return checker_of_host(uv_process_of(context)->host->platform->host);
}

static void tell(struct checker *c, enum guest_rule rule, const char *call, const char *what)
{
	char names[ENTERED_CHARS];

	if (!c)
		return;
	entered_format(names);
	c->tell(c, &(struct breach){rule, {0}, NULL, NULL}, "%s: %s; it came by %s", call, what,
		names);
}

/* --- the lock of XRC domains --- */

W(void, uv_domains_lock, struct uv_host *host)
{
	struct checker *c = checker_of_host(host->platform->host);

	locks_want(c, &host->domains_busy, HERE);
	__real_uv_domains_lock(host);
	locks_got(c, &host->domains_busy, HERE);
}

W(void, uv_domains_unlock, struct uv_host *host)
{
	locks_back(checker_of_host(host->platform->host), &host->domains_busy, HERE);
	__real_uv_domains_unlock(host);
}

W(void, uv_host_cleanup, struct uv_host *host)
{
	locks_forget(&host->domains_busy);
	__real_uv_host_cleanup(host);
}

/* --- events that were taken, and not acknowledged yet --- */

static struct taken_events {
	const struct uv_process *process;
	const void *object;
	unsigned n;
} taken[TAKEN];

static void taken_add(const struct uv_process *process, const void *object, int more)
{
	struct taken_events *free_place = NULL;

	for (unsigned i = 0; i < TAKEN; i++) {
		if (taken[i].n && taken[i].object == object) {
			taken[i].n = (unsigned)((int)taken[i].n + more);
			return;
		}
		if (!taken[i].n)
			free_place = &taken[i];
	}
	if (free_place && more > 0)
		*free_place = (struct taken_events){process, object, (unsigned)more};
}

/* Its program may have been killed with events that it had taken. */
void process_events_forget(const struct uv_process *process)
{
	for (unsigned i = 0; i < TAKEN; i++)
		if (taken[i].process == process)
			taken[i] = (struct taken_events){0};
}

static unsigned taken_of(const void *object)
{
	for (unsigned i = 0; i < TAKEN; i++)
		if (taken[i].object == object)
			return taken[i].n;
	return 0;
}

/* Source: IBA 11.6.3: affiliated events; ibv_get_async_event(3) */
static bool is_about_port(uint32_t type)
{
	switch (type) {
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return true;
	default:
		return false;
	}
}

/* Where the events of its object are counted that were acknowledged; NULL: it has none. */
static uint32_t *acknowledged(const struct ibv_async_event *event)
{
	const uint32_t type = (uint32_t)event->event_type;

	if (type & IBV_XRC_QP_EVENT_FLAG || is_about_port(type) ||
	    (uintptr_t)event->element.qp < NO_OBJECT)
		return NULL;
	if (type == IBV_EVENT_CQ_ERR)
		return &event->element.cq->async_events_completed;
	if (type == IBV_EVENT_SRQ_ERR || type == IBV_EVENT_SRQ_LIMIT_REACHED)
		return &event->element.srq->events_completed;
	return &event->element.qp->events_completed;
}

/* A function that reads no memory is not noted as entered, so those that know the kinds are named here. */
static void tell_kind(struct checker *c, const char *call, const struct ibv_async_event *event,
		      const char *what)
{
	const uint32_t type = (uint32_t)event->event_type;
	const bool of_srq = type == IBV_EVENT_SRQ_ERR || type == IBV_EVENT_SRQ_LIMIT_REACHED;
	char text[TEXT_CHARS];

	snprintf(text, sizeof(text), "%s: is_of_%s decides for type %u", what,
		 type == IBV_EVENT_CQ_ERR ? "cq"
		 : of_srq                 ? "srq"
					  : "qp",
		 type);
	tell(c, RULE_event_differs, call, text);
}

W(int, ibv_get_async_event, struct ibv_context *context, struct ibv_async_event *event)
{
	const int rc = __real_ibv_get_async_event(context, event);
	const uint32_t type = rc ? 0 : (uint32_t)event->event_type;

	if (rc)
		return rc;
	if (acknowledged(event))
		taken_add(uv_process_of(context), event->element.qp, 1);
	else if (!(type & IBV_XRC_QP_EVENT_FLAG) && !is_about_port(type))
		tell_kind(checker_of(context), "ibv_get_async_event", event,
			  "the event is about an object, and names none");
	return 0;
}

W(void, ibv_ack_async_event, struct ibv_async_event *event)
{
	const uint32_t *count = acknowledged(event);
	const uint32_t before = count ? *count : 0;
	struct ibv_context *context = NULL;

	/* all three begin with it */
	if (count)
		context = event->element.qp->context;
	__real_ibv_ack_async_event(event);
	if (!count)
		return;
	taken_add(uv_process_of(context), event->element.qp, -1);
	if (*count != before + 1)
		tell_kind(checker_of(context), "ibv_ack_async_event", event,
			  "the event is acknowledged, and does not count for its object, whose "
			  "destruction will wait for it for ever");
}

W(int, ibv_get_cq_event, struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	const int rc = __real_ibv_get_cq_event(channel, cq, cq_context);

	if (!rc)
		taken_add(uv_process_of((*cq)->context), *cq, 1);
	return rc;
}

W(void, ibv_ack_cq_events, struct ibv_cq *cq, unsigned nevents)
{
	taken_add(uv_process_of(cq->context), cq, -(int)nevents);
	__real_ibv_ack_cq_events(cq, nevents);
}

static int destroyed(struct checker *c, const char *call, const void *object, int rc)
{
	if (!rc && taken_of(object))
		tell(c, RULE_users_differ, call,
		     "the object is destroyed, and the program has events of it that it has not "
		     "acknowledged, so a thread of it still uses the object");
	return rc;
}

/* A program may try to destroy what it still uses; its library knows what it has made. */
static int verbs_destroyed(struct checker *c, const char *call, const void *object, int rc,
			   const void *pc)
{
	if (c && rc == EBUSY && checker_in_driver(pc))
		c->tell(c, &(struct breach){RULE_not_given_back, {0}, pc, NULL},
			"the library calls %s for an object that others still use: it is refused, "
			"and the object is left",
			call);
	return destroyed(c, call, object, rc);
}

/* Source: ibv_destroy_cq(3), ibv_get_async_event(3): destruction waits until all is acknowledged */
W(int, ibv_destroy_cq, struct ibv_cq *cq)
{
	struct checker *c = checker_of(cq->context);

	return verbs_destroyed(c, "ibv_destroy_cq", cq, __real_ibv_destroy_cq(cq), HERE);
}

W(int, ibv_destroy_srq, struct ibv_srq *srq)
{
	struct checker *c = checker_of(srq->context);

	return verbs_destroyed(c, "ibv_destroy_srq", srq, __real_ibv_destroy_srq(srq), HERE);
}

W(int, ibv_destroy_qp, struct ibv_qp *qp)
{
	struct checker *c = checker_of(qp->context);

	return verbs_destroyed(c, "ibv_destroy_qp", qp, __real_ibv_destroy_qp(qp), HERE);
}

/* An event of rdma_cm counts for its id, a connection request for its listener. */
static const struct lib_id *counted_of(const struct rdma_cm_event *event)
{
	return container_of(event, const struct lib_event, rdma)->counted;
}

W(int, rdma_get_cm_event, struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	const int rc = __real_rdma_get_cm_event(channel, event);

	if (!rc)
		taken_add(LIB_CHANNEL(channel)->kernel->process, counted_of(*event), 1);
	return rc;
}

W(int, rdma_ack_cm_event, struct rdma_cm_event *event)
{
	if (event)
		taken_add(NULL, counted_of(event), -1);
	return __real_rdma_ack_cm_event(event);
}

/* Source: rdma_destroy_id(3): waits until all events of the id are acknowledged */
W(int, rdma_destroy_id, struct rdma_cm_id *rdma)
{
	const struct lib_id *id = LIB_ID(rdma);
	struct checker *c = checker_of_host(id->kernel->channel->process->host->platform->host);

	return destroyed(c, "rdma_destroy_id", id, __real_rdma_destroy_id(rdma));
}

/* --- how many were taken, as the destruction tells --- */

static void counted_check(struct checker *c, const char *call, const void *reported, size_t bytes)
{
	char text[TEXT_CHARS];

	if (!c || threads_stored(reported, bytes))
		return;
	snprintf(text, sizeof(text),
		 "%s counts the events that were taken, lets others run, and only then ends the "
		 "object: an event that is taken meanwhile is not waited for",
		 call);
	tell(c, RULE_wait_unchecked, call, text);
}

W(int, uvk_destroy, struct uv_file *file, enum uv_kind kind, uint32_t handle,
  struct uv_reported *reported)
{
	struct checker *c = checker_of_host(file->device->platform->host);
	const int rc = __real_uvk_destroy(file, kind, handle, reported);

	if (!rc && reported)
		counted_check(c, "uvk_destroy", reported, sizeof(*reported));
	return rc;
}

W(int, cma_destroy, struct cma_id *id, unsigned *reported)
{
	const struct uv_process *process = id->channel->process;
	struct checker *c = checker_of_host(process->host->platform->host);
	const int rc = __real_cma_destroy(id, reported);

	rdma_backlogs_check(process, INSIDE(cma_destroy));
	if (!rc && reported)
		counted_check(c, "cma_destroy", reported, sizeof(*reported));
	return rc;
}

/* --- events that were not taken --- */

static bool is_about(const struct uv_event *e, const struct uv_object *o)
{
	return e->counter == &o->comp_reported || e->counter == &o->async_reported;
}

void __real_uv_events_drop(struct uv_object *o);
/* A place in the driver's function, for a report. */

static void events_left_check(struct checker *c, const struct uv_channel *channel,
			      const struct uv_object *o)
{
	const void *pcs[QUEUERS];
	char names[NAMES_BYTES];

	for (const struct drv_list *l = channel->events.next; l != &channel->events; l = l->next) {
		const struct uv_event *e = container_of(l, struct uv_event, link);

		if (!is_about(e, o))
			continue;
		checker_functions(pcs, heap_takers(e, pcs, QUEUERS), names, sizeof(names));
		c->tell(c, &(struct breach){RULE_freed_in_use, {0}, INSIDE(uv_events_drop), NULL},
			"the object with handle %u is destroyed, and an event of it is left in a "
			"channel; it was queued by %s",
			o->handle, names);
		return;
	}
}

/* Source: Linux ib_uverbs_release_ucq, ib_uverbs_release_uevent */
W(void, uv_events_drop, struct uv_object *o)
{
	struct uv_file *file = o->file;
	struct checker *c = checker_of_host(file->device->platform->host);

	__real_uv_events_drop(o);
	if (c && file->async)
		events_left_check(c, file->async, o);
	for (struct drv_list *l = file->channels.next; c && l != &file->channels; l = l->next)
		events_left_check(c, container_of(l, struct uv_channel, link), o);
}

/* --- objects that are being destroyed --- */

static struct dying {
	const struct uv_object *object;
	const void *pc; /* who destroys it */
} dying[DYING];

static void dying_end(struct dying **at)
{
	if (*at)
		(*at)->object = NULL;
}

/* Source: Linux uverbs_try_lock_object: exclusive for destruction, shared for use */
W(int, uvk_object_destroy, struct uv_object *object, bool process_ends)
{
	__attribute__((cleanup(dying_end))) struct dying *at = NULL;
	struct checker *c = checker_of_host(object->file->device->platform->host);
	struct uv_channel *channel = object->channel;
	struct uv_object *domain = object->xrcd;
	struct counts n;
	int rc;

	counts_begin(&n, c, __func__);
	counts_use(&n, domain, domain ? &domain->xrcd_users : NULL, "XRC domain");
	counts_use(&n, channel, channel ? &channel->refs : NULL, "channel");
	for (unsigned i = 0; i < n.n; i++)
		n.of[i].more = -1;
	for (unsigned i = 0; i < DYING && !at; i++)
		if (!dying[i].object)
			at = &dying[i];
	if (at)
		*at = (struct dying){object, HERE};
	if (c && !process_ends && pins_held(object))
		c->tell(c, &(struct breach){RULE_freed_in_use, {0}, HERE, NULL},
			"the object with handle %u is destroyed while another call uses it",
			object->handle);
	rc = __real_uvk_object_destroy(object, process_ends);
	counts_left(&n, object, !rc);
	return rc;
}

void process_object_given(const struct uv_object *object, const void *pc)
{
	struct checker *c = checker_of_host(object->file->device->platform->host);

	for (unsigned i = 0; i < DYING && c; i++)
		if (dying[i].object == object)
			c->tell(c, &(struct breach){RULE_freed_in_use, {0}, dying[i].pc, pc},
				"the object with handle %u is given to a call while another one "
				"destroys it",
				object->handle);
}

/* --- contexts --- */

/* Source: Linux ib_uverbs_release_file: each file of a process is released once, whatever is left of it */
W(void, uvk_close, struct uv_file *file)
{
	struct checker *c = checker_of_host(file->device->platform->host);
	const struct drv_list *files = &file->process->files;

	__real_uvk_close(file);
	for (const struct drv_list *l = files->next; c && l != files; l = l->next)
		if (container_of(l, struct uv_file, link) == file)
			c->tell(c,
				&(struct breach){RULE_not_given_back, {0}, INSIDE(uvk_close), HERE},
				"a context that was closed stands in the list of its process, "
				"whose end closes it for ever");
}
