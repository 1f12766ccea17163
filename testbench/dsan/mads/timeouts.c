// SPDX-License-Identifier: Apache-2.0
/* See timeouts.h. */
#include "testbench/dsan/mads/timeouts.h"

#include "testbench/dsan/checker_impl.h"

#include "host_driver/mlx4/mad.h"
#include "model/interface/cm.h"

#include <stddef.h>

enum { ASKED = 32, PS_PER_US = 1000000 };

/* The newest questions of all hosts. */
static struct asked {
	const struct checker *c;
	uint64_t timeout_ps;
	const void *pc;
} asked[ASKED];
static unsigned n_asked;

void timeouts_asked(const struct checker *c, uint64_t timeout_ps, const void *pc)
{
	asked[n_asked++ % ASKED] = (struct asked){c, timeout_ps, pc};
}

void timeouts_call(struct checker *c, const struct smp *request, uint64_t timeout_ps)
{
	const struct asked *last = NULL;

	if (mad_hdr_get_mgmt_class(smp_hdr_const(request)) != MAD_CLASS_SUBN_ADM ||
	    mad_hdr_get_attr_id(smp_hdr_const(request)) != SA_ATTR_PATH_RECORD)
		return;
	for (unsigned i = 0; i < ASKED; i++) {
		const struct asked *a = &asked[(n_asked - 1 - i) % ASKED];

		if (a->c != c)
			continue;
		if (a->timeout_ps == timeout_ps)
			return;
		if (!last)
			last = a;
	}
	if (last)
		timeouts_is(c, timeout_ps, last->timeout_ps, last->pc);
}

void timeouts_is(struct checker *c, uint64_t is_ps, uint64_t asked_ps, const void *pc)
{
	if (is_ps == asked_ps)
		return;
	checker_report(c, &(struct breach){RULE_mad_differs, {0}, pc, NULL},
		       "the driver waits %llu us for an answer, and its user said %llu us",
		       (unsigned long long)(is_ps / PS_PER_US),
		       (unsigned long long)(asked_ps / PS_PER_US));
}
