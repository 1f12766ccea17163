/* SPDX-License-Identifier: Apache-2.0 */
/* Out-of-band channels between processes, which take the place of TCP sockets. */
#include "model/interface/macros.h"
#include "testbench/machine/host_process.h"
#include "testbench/process.h"

#include <errno.h>
#include <stdlib.h>

enum { OOB_LATENCY_US = 20, NAME_CHARS = 64 };

struct chunk {
	struct drv_list link;
	uint64_t due_ps;
	size_t len, taken;
	uint8_t bytes[];
};

/* One end of a channel. */
struct oob {
	struct drv_list link;      /* in its process' list */
	struct drv_list name_link; /* in the list of ends that wait for their other end */
	char name[NAME_CHARS];
	struct uv_process *process;
	struct oob *peer; /* NULL: not connected yet, or closed */
	bool gone;
	struct drv_list chunks; /* data sent to this end and not read yet */
};

static struct oob *find_waiting(struct drv_list *names, const char *name)
{
	for (struct drv_list *l = names->next; l != names; l = l->next) {
		struct oob *o = container_of(l, struct oob, name_link);

		if (!strcmp(o->name, name))
			return o;
	}
	return NULL;
}

static void wake(struct oob *o)
{
	struct platform *p = o->process->host->platform;

	p->ops->waitq_wake_all(p, o->process->waitq);
}

static void wait(struct oob *o, uint64_t deadline_ps)
{
	struct platform *p = o->process->host->platform;

	p->ops->waitq_wait(p, o->process->waitq, deadline_ps);
}

struct oob *oob_open(const char *name)
{
	struct drv_list *names = host_process_current()->oob_names;
	struct oob *other = find_waiting(names, name), *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	snprintf(o->name, sizeof(o->name), "%s", name);
	o->process = uv_process_current();
	drv_list_init(&o->chunks);
	drv_list_init(&o->name_link);
	drv_list_add(&host_process_current()->oobs, &o->link);
	if (other) {
		drv_list_del(&other->name_link);
		o->peer = other;
		other->peer = o;
		wake(other);
		return o;
	}
	drv_list_add(names, &o->name_link);
	while (!o->peer && !o->gone)
		wait(o, UINT64_MAX);
	return o;
}

int oob_write(struct oob *o, const void *bytes, size_t len)
{
	struct chunk *c;

	if (!o->peer) {
		errno = EPIPE;
		return -1;
	}
	c = calloc(1, sizeof(*c) + len);
	if (!c)
		return -1;
	memcpy(c->bytes, bytes, len);
	c->len = len;
	c->due_ps = o->process->host->platform->ops->now_ps(o->process->host->platform) +
		    CFG_US(OOB_LATENCY_US);
	drv_list_add(&o->peer->chunks, &c->link);
	wake(o->peer);
	return 0;
}

static void chunk_free(struct chunk *c)
{
	drv_list_del(&c->link);
	free(c);
}

uint64_t oob_readable_ps(const struct oob *o)
{
	if (!drv_list_empty(&o->chunks))
		return container_of(o->chunks.next, struct chunk, link)->due_ps;
	return o->gone ? 0 : UINT64_MAX;
}

ssize_t oob_read_some(struct oob *o, void *bytes, size_t len)
{
	struct platform *p = o->process->host->platform;
	struct chunk *c;
	size_t n;

	while (drv_list_empty(&o->chunks)) {
		if (o->gone)
			return 0;
		wait(o, UINT64_MAX);
	}
	c = container_of(o->chunks.next, struct chunk, link);
	while (p->ops->now_ps(p) < c->due_ps)
		wait(o, c->due_ps);
	n = c->len - c->taken < len ? c->len - c->taken : len;
	memcpy(bytes, c->bytes + c->taken, n);
	c->taken += n;
	if (c->taken == c->len)
		chunk_free(c);
	return (ssize_t)n;
}

int oob_read(struct oob *o, void *bytes, size_t len)
{
	uint8_t *to = bytes;

	while (len) {
		ssize_t n = oob_read_some(o, to, len);

		if (!n) {
			errno = ECONNRESET;
			return -1;
		}
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

void oob_close(struct oob *o)
{
	if (o->peer) {
		o->peer->peer = NULL;
		o->peer->gone = true;
		wake(o->peer);
	}
	while (!drv_list_empty(&o->chunks))
		chunk_free(container_of(o->chunks.next, struct chunk, link));
	drv_list_del(&o->name_link);
	drv_list_del(&o->link);
	free(o);
}

void oob_end(struct drv_list *link)
{
	oob_close(container_of(link, struct oob, link));
}
