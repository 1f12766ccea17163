// SPDX-License-Identifier: Apache-2.0
/* See link.h. */
#include "testbench/dsan/own/link.h"

#include "host_driver/mlx4/mlx4.h"
#include "model/interface/ipath.h"
#include "testbench/dsan/asked/asked.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/chain.h"

#include <endian.h>
#include <string.h>

enum { STATE_MASK = 7, STATE_ACTIVE = 3 };

void link_begin(struct link_told *l)
{
	*l = (struct link_told){0};
}

void link_handler_begins(struct link_told *l)
{
	l->in_handler = true;
	l->looked = false;
	l->thread = ask_thread();
}

void link_read(struct link_told *l, uint64_t offset, const uint8_t *bytes, size_t size,
	       const void *pc)
{
	uint64_t status;

	if (offset != IPATH_IBCStatus || size != sizeof(status) || !l->in_handler ||
	    l->thread != ask_thread())
		return;
	memcpy(&status, bytes, sizeof(status));
	l->looked = true;
	l->active = (le64toh(status) >> IPATH_STATUS_STATE_SHIFT & STATE_MASK) == STATE_ACTIVE;
	l->pc = pc;
	chain_take(&l->by);
}

void link_event(void *link_told, const struct drv_event *event)
{
	struct link_told *l = link_told;

	if (event->type == IBV_EVENT_PORT_ACTIVE || event->type == IBV_EVENT_PORT_ERR)
		l->told = event->type == IBV_EVENT_PORT_ACTIVE;
	l->fn(l->arg, event);
}

void link_handler_ends(struct checker *c, struct link_told *l)
{
	char names[CHAIN_BYTES];

	l->in_handler = false;
	if (l->told == l->active)
		l->late = false;
	if ((!l->looked && !l->late) || l->told == l->active)
		return;
	/* the link may have changed behind the handler's own look, and its interrupt comes next */
	l->late = !l->late;
	if (l->late)
		return;
	l->told = l->active;
	if (!l->fn)
		return;
	chain_format(&l->by, names, sizeof(names));
	c->tell(c, &(struct breach){RULE_event_differs, {0}, l->pc, NULL},
		"the link %s, and the handler that has looked at it tells nobody; by %s",
		l->active ? "has become active" : "is no longer active", names);
}
