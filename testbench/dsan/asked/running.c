/* SPDX-License-Identifier: Apache-2.0 */
/* See running.h. */
#include "testbench/dsan/asked/running.h"
#include "testbench/dsan/asked/asked.h"

#include "testbench/dsan/hear/wrote.h"

void running_begin(struct running *r, struct running **list)
{
	*r = (struct running){*list, list, ask_thread()};
	*list = r;
	wrote_begin();
}

void running_drop(void *call)
{
	struct running *r = call, **at = r->list;

	wrote_end();
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
}

void *running_find(struct running *list)
{
	const unsigned thread = ask_thread();

	while (list && list->thread != thread)
		list = list->next;
	return list;
}
