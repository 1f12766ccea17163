/* SPDX-License-Identifier: Apache-2.0 */
/* See members.h. */
#include "testbench/dsan/asked/members.h"

#include "testbench/dsan/hear/wrote.h"

#include <inttypes.h>
#include <stdio.h>

enum { PLACES = 12, NAMES_BYTES = 160, VALUES_BYTES = 80 };

const struct member *member_differs(const struct member *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (m[i].is != m[i].asked)
			return &m[i];
	return NULL;
}

static void fillers(const struct passing *p, char *names, size_t size)
{
	const void *pcs[PLACES];
	unsigned n = 0;

	for (size_t i = 0; i < p->bytes && n < PLACES; i += sizeof(uint64_t)) {
		const void *pc = wrote_find((uintptr_t)p->at + i, sizeof(uint64_t));

		if (pc && (!n || pcs[n - 1] != pc))
			pcs[n++] = pc;
	}
	checker_functions(pcs, n, names, size);
}

static void report(const struct passing *p, const char *name, const char *values)
{
	char names[NAMES_BYTES];

	fillers(p, names, sizeof(names));
	p->c->tell(p->c, &(struct breach){p->rule, p->object, NULL, NULL}, "%s was given %s%s%s%s",
		   p->call, name, values, *names ? "; filled by " : "", names);
}

void members_check(const struct passing *p, const struct member *m, size_t n)
{
	const struct member *wrong = p->c ? member_differs(m, n) : NULL;
	char values[VALUES_BYTES];

	if (!wrong)
		return;
	snprintf(values, sizeof(values), " 0x%" PRIx64 ", and passes on 0x%" PRIx64, wrong->asked,
		 wrong->is);
	report(p, wrong->name, values);
}

void pointer_check(const struct passing *p, const char *name, const void *is, const void *asked)
{
	if (p->c && is != asked)
		report(p, name, ", and passes on another one");
}
