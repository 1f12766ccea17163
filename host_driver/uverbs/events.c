// SPDX-License-Identifier: Apache-2.0
/* Events for processes. Interrupt context queues them, the library takes them, and an object that
 * is destroyed takes its events with it. */
#include "host_driver/uverbs/uverbs.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>

int uv_channel_create(struct uv_process *process, enum uv_fd_kind kind, struct uv_channel **out)
{
	struct uv_channel *c = drv_calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->fd = uv_fd_alloc(process, kind);
	if (c->fd < 0) {
		free(c);
		return -EMFILE;
	}
	c->process = process;
	c->refs = 1;
	drv_list_init(&c->events);
	drv_list_init(&c->link);
	process->fds[c->fd].channel = c;
	*out = c;
	return 0;
}

int uvk_create_channel(struct uv_file *file, struct uv_channel **channel)
{
	int rc = uv_channel_create(file->process, UV_FD_CHANNEL, channel);

	if (!rc)
		drv_list_add(&file->channels, &(*channel)->link);
	return rc;
}

int uvk_destroy_channel(struct uv_file *file, struct uv_channel *channel)
{
	if (channel->refs > 1)
		return -EBUSY;
	uv_channel_put(channel);
	return 0;
}

static void event_free(struct uv_event *e)
{
	drv_list_del(&e->link);
	drv_list_del(&e->object);
	free(e);
}

void uv_channel_put(struct uv_channel *c)
{
	if (--c->refs)
		return;
	while (!drv_list_empty(&c->events))
		event_free(container_of(c->events.next, struct uv_event, link));
	drv_list_del(&c->link);
	c->process->fds[c->fd].kind = UV_FD_FREE;
	free(c);
}

bool uv_channel_take(struct uv_channel *c, struct uv_event *event)
{
	struct uv_event *e;

	if (drv_list_empty(&c->events))
		return false;
	e = container_of(c->events.next, struct uv_event, link);
	*event = *e;
	if (e->counter)
		++*e->counter;
	event_free(e);
	return true;
}

static void events_free(struct drv_list *of_object)
{
	while (!drv_list_empty(of_object))
		event_free(container_of(of_object->next, struct uv_event, object));
}

void uv_events_drop(struct uv_object *o)
{
	events_free(&o->comp_events);
	events_free(&o->async_events);
}

/* Queues an event. Without memory the event is lost, as it is in Linux. */
static void queue(struct uv_channel *c, const struct uv_event *event, struct drv_list *of_object)
{
	struct platform *p = c->process->host->platform;
	struct uv_event *e = drv_calloc(1, sizeof(*e));

	if (!e)
		return;
	*e = *event;
	drv_list_init(&e->object);
	if (of_object)
		drv_list_add(of_object, &e->object);
	drv_list_add(&c->events, &e->link);
	p->ops->waitq_wake_all(p, c->process->waitq);
}

void uv_comp_handler(struct ib_cq *cq, void *context)
{
	struct uv_object *o = context;

	if (o->channel)
		queue(o->channel,
		      &(struct uv_event){.element = o->user, .counter = &o->comp_reported},
		      &o->comp_events);
}

void uv_object_event(struct ib_event *event, void *context)
{
	struct uv_object *o = context;
	struct uv_event e = {.element = o->user, .type = (uint32_t)event->event};

	if (o->kind == UV_XRC_RCV) {
		e.element = NULL;
		e.number = event->element.qp->qp_num;
		e.type |= IBV_XRC_QP_EVENT_FLAG;
	} else {
		e.counter = &o->async_reported;
	}
	queue(o->file->async, &e, &o->async_events);
}

void uv_port_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct uv_file *file = container_of(handler, struct uv_file, port_events);

	queue(file->async,
	      &(struct uv_event){.number = event->element.port_num, .type = (uint32_t)event->event},
	      NULL);
}
