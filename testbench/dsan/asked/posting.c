/* SPDX-License-Identifier: Apache-2.0 */
/* See posting.h. */
#include "testbench/dsan/asked/posting.h"
#include "testbench/dsan/asked/asked.h"

#include "testbench/dsan/hear/wrote.h"

void posting_begin(struct posting *p, struct posting **list, const void *qp, const void *wr)
{
	*p = (struct posting){*list, list, ask_thread(), qp, wr};
	*list = p;
	wrote_begin();
}

void posting_drop(struct posting *p)
{
	struct posting **at = p->list;

	wrote_end();
	while (*at && *at != p)
		at = &(*at)->next;
	if (*at)
		*at = p->next;
}

struct posting *posting_find(struct posting *list)
{
	const unsigned thread = ask_thread();

	while (list && list->thread != thread)
		list = list->next;
	return list;
}
