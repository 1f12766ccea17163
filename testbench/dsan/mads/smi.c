// SPDX-License-Identifier: Apache-2.0
/* Directed routes: what the SMI of a channel adapter makes of a MAD, against IBA 14.2.2. */
#include "testbench/dsan/mads/mads_impl.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/threads/threads_impl.h"

#include <string.h>

enum { HOPS_MAX = 63, HOSTS = 2 };

/* C14-9, C14-13: what the hop pointer must be; -1: the MAD does not go on. A channel adapter is an end of
 * the way, and passes nothing on. */
static int pointer_asked(const struct smp *smp, unsigned port, bool leaves)
{
	const struct mad_hdr *h = smp_hdr_const(smp);
	const int pointer = (int)mad_hdr_get_hop_pointer(h), count = (int)mad_hdr_get_hop_count(h);

	if (count > HOPS_MAX)
		return -1;
	if (mad_hdr_get_direction(h))
		return leaves ? (pointer == count + 1 ? count : -1) : (pointer <= 1 ? 0 : -1);
	if (!leaves)
		return pointer == count ? count + 1 : -1;
	return count && !pointer && smp_initial_path_cptr(smp)[1] == port ? 1 : -1;
}

bool mads_smi_takes(const struct smp *smp, unsigned port, bool leaves)
{
	return !mads_is_directed(smp) || pointer_asked(smp, port, leaves) >= 0;
}

/* Whether anything else than the hop pointer and the step of the return path differs. */
static bool others_change(const struct smp *before, const struct smp *after, bool returns)
{
	const unsigned count = mad_hdr_get_hop_count(smp_hdr_const(before));
	struct smp was = *before;

	mad_hdr_set_hop_pointer(smp_hdr(&was), mad_hdr_get_hop_pointer(smp_hdr_const(after)));
	if (returns)
		smp_return_path_ptr(&was)[count] = smp_return_path_cptr(after)[count];
	return memcmp(&was, after, sizeof(was));
}

void mads_hop_check(const struct smp *before, const struct smp *after, unsigned port, bool goes_on,
		    bool leaves, const void *pc)
{
	const struct runner *r = runner_now();
	const int asked = pointer_asked(before, port, leaves);
	const unsigned pointer = mad_hdr_get_hop_pointer(smp_hdr_const(after));
	const unsigned count = mad_hdr_get_hop_count(smp_hdr_const(before));
	const bool returns = !leaves && count && !mad_hdr_get_direction(smp_hdr_const(before));
	const char *call = leaves ? "drv_smi_send" : "drv_smi_receive";

	if (!r || !r->c)
		return;
	if (goes_on != (asked >= 0))
		r->c->tell(r->c, &(struct breach){RULE_mad_differs, {GUEST_PORT, port}, pc, NULL},
			   "%s %s a directed MAD with hop pointer %u of %u, direction %u", call,
			   goes_on ? "lets pass" : "drops",
			   (unsigned)mad_hdr_get_hop_pointer(smp_hdr_const(before)), count,
			   (unsigned)mad_hdr_get_direction(smp_hdr_const(before)));
	else if (goes_on && pointer != (unsigned)asked)
		r->c->tell(r->c, &(struct breach){RULE_mad_differs, {GUEST_PORT, port}, pc, NULL},
			   "%s makes the hop pointer of a directed MAD %u, %d is right", call,
			   pointer, asked);
	else if (goes_on && returns && smp_return_path_cptr(after)[count] != port)
		r->c->tell(r->c, &(struct breach){RULE_mad_differs, {GUEST_PORT, port}, pc, NULL},
			   "%s does not write port %u into the return path of a directed MAD", call,
			   port);
	else if (goes_on && others_change(before, after, returns))
		r->c->tell(r->c, &(struct breach){RULE_mad_differs, {GUEST_PORT, port}, pc, NULL},
			   "%s changes more of a directed MAD than its hop pointer and one step of "
			   "the return path",
			   call);
}

/* --- what a subnet manager gives --- */

/* What the own port got last, and the one at the other end of its cable. */
static struct managed {
	const struct checker *c;
	uint32_t lid, n; /* n 0: none */
	bool has_pkey;
	uint16_t pkey;         /* the first one of its table */
	struct calls asked_by; /* for the table */
} managed[HOSTS][DRV_PORTS_MAX + 1][2];

/* The end that a manager in the driver asks, or NULL. */
static struct managed *managed_of(struct checker *c, unsigned port, const struct smp *request,
				  const void *pc)
{
	const unsigned hops = mad_hdr_get_hop_count(smp_hdr_const(request));
	struct managed *end;

	if (!checker_in_driver(pc) || !mads_is_directed(request) || hops > 1 ||
	    port > DRV_PORTS_MAX)
		return NULL;
	end = &managed[c->host.platform->host % HOSTS][port][hops];
	if (end->c != c)
		*end = (struct managed){.c = c};
	return end;
}

/* Source: IBA 14.2.5.6 PortInfo:LID, LMC; 4.1.3: a LID names one port of the subnet */
static void lid_given(struct checker *c, unsigned port, struct managed *is, bool peer,
		      const struct port_info *pi, const void *pc)
{
	const struct managed *other = is + (peer ? -1 : 1);

	is->lid = port_info_get_lid(pi);
	is->n = 1U << port_info_get_lmc(pi);
	/* a sweep begins at the own port; until the other one has its next LID, they may be the same */
	if (peer && other->c == c && is->lid && is->lid < other->lid + other->n &&
	    other->lid < is->lid + is->n)
		c->tell(c, &(struct breach){RULE_mad_differs, {GUEST_PORT, port}, pc, NULL},
			"both ends of a link get LID 0x%x",
			is->lid > other->lid ? is->lid : other->lid);
}

void mads_managed(struct checker *c, unsigned port, const struct smp *request, const void *pc)
{
	const struct mad_hdr *h = smp_hdr_const(request);
	const struct port_info *pi = (const void *)smp_data_cptr(request);
	struct managed *is = managed_of(c, port, request, pc);

	if (!is || mad_hdr_get_method(h) != MAD_METHOD_SET ||
	    mad_hdr_get_attr_id(h) != SMP_ATTR_PORT_INFO)
		return;
	lid_given(c, port, is, mad_hdr_get_hop_count(h), pi, pc);
}

void mads_managed_end(struct checker *c, unsigned port, const struct smp *answer, const void *pc)
{
	const struct mad_hdr *h = smp_hdr_const(answer);
	struct managed *is = managed_of(c, port, answer, pc);

	if (!is || mad_hdr_get_attr_id(h) != SMP_ATTR_PKEY_TABLE || mad_hdr_get_attr_mod(h) ||
	    mad_hdr_get_status(h) & (SMP_DIRECTION - 1))
		return;
	is->has_pkey = true;
	is->pkey = (uint16_t)pkey_table_get((const void *)smp_data_cptr(answer), 0);
	chain_take(&is->asked_by);
}

/* Agents and connections use the first P_Key of the table. Source: IBA 10.9.2; OpenSM osm_pkey_mgr */
void mads_swept(struct checker *c, unsigned port, const void *pc)
{
	const struct managed *ends = managed[c->host.platform->host % HOSTS][port];
	char names[CHAIN_BYTES];

	for (unsigned hops = 0; hops < 2; hops++) {
		if (ends[hops].c != c || !ends[hops].has_pkey || ends[hops].pkey == PKEY_DEFAULT)
			continue;
		chain_format(&ends[hops].asked_by, names, sizeof(names));
		c->tell(c, &(struct breach){RULE_mad_differs, {GUEST_PORT, port}, pc, NULL},
			"a port is managed, and its first P_Key is 0x%04x, not the default one; "
			"its table was asked for by %s",
			ends[hops].pkey, names);
	}
}
