// SPDX-License-Identifier: Apache-2.0
/* The file of a context: finds its objects by handle, decides which call may use them, and destroys
 * all of them when the file is closed. */
#include "host_driver/uverbs/uverbs.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>

int uvk_open(struct uv_process *process, struct ib_device *device, struct uv_file **out)
{
	struct uv_file *file;
	int rc;

	if (drv_is_dead(device->drv))
		return -ENODEV;
	file = drv_calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->process = process;
	file->device = device;
	file->next_handle = 1;
	drv_list_init(&file->objects);
	drv_list_init(&file->channels);
	rc = drv_uar_alloc(device->drv, &file->uar);
	if (rc)
		goto free_file;
	rc = uv_channel_create(process, UV_FD_ASYNC, &file->async);
	if (rc)
		goto free_uar;
	INIT_IB_EVENT_HANDLER(&file->port_events, device, uv_port_event);
	ib_register_event_handler(&file->port_events);
	drv_list_add(&process->files, &file->link);
	process->host->files++;
	*out = file;
	return 0;

free_uar:
	drv_uar_free(file->uar);
free_file:
	free(file);
	return rc;
}

/* --- objects --- */

struct uv_object *uv_object_new(struct uv_file *file, enum uv_kind kind, void *user)
{
	struct uv_object *o = drv_calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->file = file;
	o->kind = kind;
	o->user = user;
	o->busy = true;
	o->handle = file->next_handle++;
	drv_list_init(&o->comp_events);
	drv_list_init(&o->async_events);
	drv_list_init(&o->groups);
	drv_list_add(&file->objects, &o->link);
	return o;
}

static void object_free(struct uv_object *o)
{
	uv_events_drop(o);
	drv_list_del(&o->link);
	free(o);
}

int uv_object_done(struct uv_object *o, int rc, uint32_t *handle)
{
	if (rc) {
		object_free(o);
		return rc;
	}
	o->busy = false;
	*handle = o->handle;
	return 0;
}

static struct uv_object *object_find(struct uv_file *file, enum uv_kind kind, uint32_t handle)
{
	for (struct drv_list *l = file->objects.prev; l != &file->objects; l = l->prev) {
		struct uv_object *o = container_of(l, struct uv_object, link);

		if (o->handle == handle)
			return o->kind == kind ? o : NULL;
	}
	return NULL;
}

struct uv_object *uv_object_get(struct uv_file *file, enum uv_kind kind, uint32_t handle, int *rc)
{
	struct uv_object *o;

	if (*rc)
		return NULL;
	o = object_find(file, kind, handle);
	if (!o || o->busy) {
		*rc = o ? -EBUSY : -EINVAL;
		return NULL;
	}
	o->users++;
	return o;
}

void uv_object_put(struct uv_object *o)
{
	if (o)
		o->users--;
}

int uvk_destroy(struct uv_file *file, enum uv_kind kind, uint32_t handle,
		struct uv_reported *reported)
{
	struct uv_object *o = object_find(file, kind, handle);
	int rc;

	if (!o)
		return -EINVAL;
	if (o->busy || o->users)
		return -EBUSY;
	o->busy = true;
	rc = uvk_object_destroy(o, false);
	o->busy = false;
	if (rc)
		return rc;
	if (reported)
		*reported =
			(struct uv_reported){.comp = o->comp_reported, .async = o->async_reported};
	object_free(o);
	return 0;
}

/* --- the end --- */

/* Destroys objects, newest first. Objects that others still use are left for the next round.
 * Returns whether any was destroyed. */
static bool destroy_round(struct uv_file *file)
{
	struct drv_list *l = file->objects.prev;
	bool any = false;

	while (l != &file->objects) {
		struct uv_object *o = container_of(l, struct uv_object, link);

		l = l->prev;
		if (uvk_object_destroy(o, true))
			continue;
		object_free(o);
		any = true;
	}
	return any;
}

void uvk_close(struct uv_file *file)
{
	while (!drv_list_empty(&file->objects))
		if (!destroy_round(file))
			break;
	drv_list_del(&file->link);
	/* its process may end, and nobody takes events any more */
	ib_unregister_event_handler(&file->port_events);
	/* an object that the device refuses to destroy keeps the objects that it uses */
	if (!drv_list_empty(&file->objects)) {
		file->process->kept++;
		return;
	}
	while (!drv_list_empty(&file->channels))
		uv_channel_put(container_of(file->channels.next, struct uv_channel, link));
	uv_channel_put(file->async);
	drv_uar_free(file->uar);
	file->process->host->files--;
	free(file);
}
