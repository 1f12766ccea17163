// SPDX-License-Identifier: Apache-2.0
/* See groups.h. */
#include "testbench/dsan/mads/groups.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/chain.h"

#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 2, ENTRIES = GIVEN_GROUPS, PLACES = 16, NAMES_BYTES = 200 };

struct member {
	uint32_t qpn;
	bool block;
};

struct group {
	struct group *next;
	uint8_t gid[DRV_GID_BYTES];
	bool hashed;
	uint32_t bucket;
	struct member members[MCG_MEMBERS_MAX];
	unsigned n;
};

/* Of a host. */
static struct table {
	struct group *groups;
	struct mcg_entry *entries[ENTRIES];
	unsigned calls;          /* under way */
	const void *pcs[PLACES]; /* where the newest call gave commands */
	unsigned n_pcs;
} tables[HOSTS];

static struct table *table_of(const struct checker *c)
{
	return &tables[c->host.platform->host % HOSTS];
}

static struct group *group_of(struct table *t, const uint8_t *gid)
{
	struct group *g = t->groups;

	while (g && memcmp(g->gid, gid, sizeof(g->gid)))
		g = g->next;
	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		abort();
	memcpy(g->gid, gid, sizeof(g->gid));
	g->next = t->groups;
	t->groups = g;
	return g;
}

static void forget(struct table *t)
{
	while (t->groups) {
		struct group *g = t->groups;

		t->groups = g->next;
		free(g);
	}
	for (unsigned i = 0; i < ENTRIES; i++) {
		free(t->entries[i]);
		t->entries[i] = NULL;
	}
}

void groups_begin(const struct ask *a)
{
	struct table *t = a->c ? table_of(a->c) : NULL;

	if (!t)
		return;
	t->calls++;
	t->n_pcs = 0;
}

void groups_leave(const struct checker *c)
{
	if (c)
		table_of(c)->calls--;
}

void groups_command(const struct checker *c, const void *pc)
{
	struct table *t = c ? table_of(c) : NULL;

	if (t && t->n_pcs < PLACES)
		t->pcs[t->n_pcs++] = pc;
}

/* Source: Linux mlx4_qp_detach_common: the place that becomes free is cleared */
static void rest_check(struct checker *c, uint32_t index, const struct mcg_entry *e)
{
	const struct table *t = table_of(c);
	char names[NAMES_BYTES];

	for (unsigned i = mcg_entry_get_members(e); i < MCG_MEMBERS_MAX; i++) {
		if (!mcg_member_get_qpn(mcg_entry_member_const(e, i)))
			continue;
		checker_functions(t->pcs, t->n_pcs, names, sizeof(names));
		checker_report(
			c, &(struct breach){RULE_group_differs, {GUEST_MCG, index}, NULL, NULL},
			"an entry with %u members still names qpn %06x in place %u; "
			"entries were read and written by %s",
			(unsigned)mcg_entry_get_members(e),
			(unsigned)mcg_member_get_qpn(mcg_entry_member_const(e, i)), i, names);
		return;
	}
}

void groups_written(struct checker *c, const struct hcr *command)
{
	struct mcg_entry **at = &table_of(c)->entries[hcr_get_in_mod(command) % ENTRIES];
	struct mcg_entry e;

	if (hcr_get_opcode(command) != HCR_WRITE_MCG ||
	    !checker_read(c, hcr_get_in_param(command), &e, sizeof(e)))
		return;
	if (!*at)
		*at = malloc(sizeof(**at));
	if (!*at)
		abort();
	**at = e;
	rest_check(c, hcr_get_in_mod(command), &e);
}

void groups_answered(const struct checker *c, const struct hcr *command,
		     const struct hca_command_answer *answer)
{
	uint8_t gid[DRV_GID_BYTES];
	struct group *g;

	if (hcr_get_opcode(command) == HCR_INIT_HCA)
		forget(table_of(c));
	if (hcr_get_opcode(command) != HCR_MGID_HASH || answer->status ||
	    !checker_read(c, hcr_get_in_param(command), gid, sizeof(gid)))
		return;
	g = group_of(table_of(c), gid);
	g->hashed = true;
	g->bucket = (uint32_t)answer->out_param & 0xffff;
}

/* --- what the device finds --- */

static const struct mcg_entry *chain_next(const struct table *t, const struct mcg_entry *e)
{
	const uint32_t next = mcg_entry_get_next_index(e);

	return next ? t->entries[next % ENTRIES] : NULL;
}

/* The entry of a group, as the device walks its chain; NULL: it finds none. */
static const struct mcg_entry *entry_find(const struct table *t, const struct group *g)
{
	const struct mcg_entry *e = t->entries[g->bucket % ENTRIES];

	for (unsigned n = 0; e && n < ENTRIES && mcg_entry_get_members(e);
	     e = chain_next(t, e), n++)
		if (!memcmp(mcg_entry_mgid_cptr(e), g->gid, sizeof(g->gid)))
			return e;
	return NULL;
}

static unsigned times_in(const struct mcg_entry *e, const struct member *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < mcg_entry_get_members(e) && i < MCG_MEMBERS_MAX; i++)
		n += mcg_member_get_qpn(mcg_entry_member_const(e, i)) == m->qpn &&
		     mcg_member_get_block_loopback(mcg_entry_member_const(e, i)) == m->block;
	return n;
}

static void tell(const struct ask *a, enum guest_rule rule, uint32_t index, const char *text)
{
	const struct table *t = table_of(a->c);
	char names[NAMES_BYTES];

	checker_functions(t->pcs, t->n_pcs, names, sizeof(names));
	checker_report(a->c, &(struct breach){rule, {GUEST_MCG, index}, NULL, NULL},
		       "behind %s %s; entries were read and written by %s", ask_provider(a), text,
		       names);
}

/* Source: IBA 10.5.2.1: a packet of a group is delivered once to each attached queue pair */
static bool group_check(const struct ask *a, const struct table *t, const struct group *g)
{
	const struct mcg_entry *e = entry_find(t, g);
	const unsigned is = e ? mcg_entry_get_members(e) : 0;
	char text[NAMES_BYTES];

	if (is != g->n) {
		snprintf(text, sizeof(text),
			 "the device finds %u members of a group that has %u attached queue pairs",
			 is, g->n);
		tell(a, RULE_group_differs, g->bucket, text);
		return false;
	}
	for (unsigned i = 0; i < g->n; i++) {
		if (times_in(e, &g->members[i]) == 1)
			continue;
		snprintf(text, sizeof(text),
			 "qpn %06x, which is attached to a group, stands in it %u times",
			 g->members[i].qpn, times_in(e, &g->members[i]));
		tell(a, RULE_group_differs, g->bucket, text);
		return false;
	}
	return true;
}

/* Entries with members behind the buckets to which chains lead. */
static unsigned numbers_linked(const struct table *t)
{
	static uint8_t seen[ENTRIES];
	unsigned n = 0;

	memset(seen, 0, sizeof(seen));
	for (const struct group *g = t->groups; g; g = g->next) {
		const struct mcg_entry *e = g->hashed ? t->entries[g->bucket % ENTRIES] : NULL;

		while (e && mcg_entry_get_members(e)) {
			uint8_t *next = &seen[mcg_entry_get_next_index(e) % ENTRIES];

			e = *next ? NULL : chain_next(t, e);
			n += e && mcg_entry_get_members(e);
			*next = 1;
		}
	}
	return n;
}

/* --- calls --- */

static void member_change(struct group *g, uint32_t qpn, bool block, bool attach)
{
	unsigned i = 0;

	while (i < g->n && g->members[i].qpn != qpn)
		i++;
	if (attach && i == g->n && g->n < MCG_MEMBERS_MAX)
		g->members[g->n++] = (struct member){qpn, block};
	else if (!attach && i < g->n)
		g->members[i] = g->members[--g->n];
}

void groups_end(const struct ask *a, const uint8_t gid[DRV_GID_BYTES], uint32_t qpn, bool block,
		bool attach, unsigned numbers)
{
	struct table *t = a->c ? table_of(a->c) : NULL;
	char text[NAMES_BYTES];

	if (!t)
		return;
	member_change(group_of(t, gid), qpn, block, attach);
	/* another thread may have changed a part of what it will */
	if (t->calls > 1)
		return;
	for (const struct group *g = t->groups; g; g = g->next)
		if (g->hashed && !group_check(a, t, g))
			return;
	if (numbers == numbers_linked(t))
		return;
	snprintf(text, sizeof(text), "%u entries are given out, and chains lead to %u", numbers,
		 numbers_linked(t));
	tell(a, RULE_not_given_back, 0, text);
}

void groups_qp_gone(const struct ask *a, uint32_t qpn)
{
	struct table *t = a->c ? table_of(a->c) : NULL;
	char names[CHAIN_BYTES];
	struct calls now;

	for (struct group *g = t ? t->groups : NULL; g; g = g->next) {
		const unsigned n = g->n;

		member_change(g, qpn, false, false);
		if (g->n == n)
			continue;
		chain_take(&now);
		chain_format(&now, names, sizeof(names));
		checker_report(a->c,
			       &(struct breach){RULE_object_in_use, {GUEST_QP, qpn}, NULL, NULL},
			       "the queue pair is destroyed, and it is attached to a multicast "
			       "group; by %s",
			       names);
	}
}
