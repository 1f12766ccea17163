// SPDX-License-Identifier: Apache-2.0
/* See neigh.h. */
#include "host_driver/net/neigh.h"

#include <errno.h>
#include <string.h>

#define S(n) (UINT64_C(1000000000000) * (n))

#define RETRANS_PS   S(1)  /* between two questions: retrans_time */
#define REACHABLE_PS S(30) /* base_reachable_time, without its random part */
#define DELAY_PS     S(5)  /* delay_probe_time */

enum { TRIES = 3 }; /* mcast_solicit, ucast_solicit */

const char *neigh_state_name(enum neigh_state state)
{
	static const char *const names[] = {
#define S_NAME(name, waits, mover) #name,
		NEIGH_STATES(S_NAME)
#undef S_NAME
	};

	return names[state];
}

static struct neigh *find(struct neigh_table *t, const struct neigh_address *address)
{
	for (unsigned i = 0; i < NEIGH_MAX; i++) {
		struct neigh *n = &t->entries[i];

		if (n->state != NEIGH_NONE && n->address.vlan == address->vlan &&
		    !memcmp(n->address.ip, address->ip, NEIGH_IP_BYTES))
			return n;
	}
	return NULL;
}

const struct neigh *neigh_find(const struct neigh_table *t, const struct neigh_address *address)
{
	return find((struct neigh_table *)t, address);
}

static void state_set(struct neigh *n, enum neigh_state state, uint64_t due_ps)
{
	n->state = state;
	n->due_ps = due_ps;
	n->tries = 0;
}

/* Asks once more, and waits for the answer. */
static void ask(struct neigh_table *t, struct neigh *n, uint64_t now_ps)
{
	n->tries++;
	n->due_ps = now_ps + RETRANS_PS;
	t->ask(t->arg, &n->address, n->state == NEIGH_PROBE ? n->mac : NULL);
}

/* A free entry, or the one that has not been used for the longest time; entries that somebody waits
 * for stay. NULL: all are waited for. */
static struct neigh *make(struct neigh_table *t, const struct neigh_address *address,
			  uint64_t now_ps)
{
	struct neigh *oldest = NULL;

	for (unsigned i = 0; i < NEIGH_MAX; i++) {
		struct neigh *n = &t->entries[i];

		if (n->state == NEIGH_NONE) {
			oldest = n;
			break;
		}
		if (n->state != NEIGH_INCOMPLETE && (!oldest || n->used_ps < oldest->used_ps))
			oldest = n;
	}
	if (oldest)
		*oldest = (struct neigh){
			.address = *address, .due_ps = UINT64_MAX, .used_ps = now_ps};
	return oldest;
}

int neigh_lookup(struct neigh_table *t, const struct neigh_address *address, uint64_t now_ps,
		 uint8_t mac[MAC_BYTES])
{
	struct neigh *n = find(t, address);

	if (!n)
		n = make(t, address, now_ps);
	if (!n)
		return -ENOBUFS;
	n->used_ps = now_ps;
	switch (n->state) {
	case NEIGH_NONE:
	case NEIGH_FAILED:
		state_set(n, NEIGH_INCOMPLETE, now_ps);
		ask(t, n, now_ps);
		return -EAGAIN;
	case NEIGH_INCOMPLETE:
		return -EAGAIN;
	case NEIGH_STALE: /* it is used at once, and asked later if nothing is heard of it */
		state_set(n, NEIGH_DELAY, now_ps + DELAY_PS);
		break;
	default:
		break;
	}
	memcpy(mac, n->mac, MAC_BYTES);
	return 0;
}

void neigh_heard(struct neigh_table *t, const struct neigh_address *address,
		 const uint8_t mac[MAC_BYTES], enum neigh_news news, uint64_t now_ps)
{
	struct neigh *n = find(t, address);
	bool known;

	if (!n && news == NEIGH_ASKS_US)
		n = make(t, address, now_ps);
	if (!n)
		return;
	known = n->state != NEIGH_NONE && n->state != NEIGH_INCOMPLETE &&
		n->state != NEIGH_FAILED && !memcmp(n->mac, mac, MAC_BYTES);
	if (known && news != NEIGH_ANSWERS)
		return;
	memcpy(n->mac, mac, MAC_BYTES);
	if (news == NEIGH_ANSWERS)
		state_set(n, NEIGH_REACHABLE, now_ps + REACHABLE_PS);
	else
		state_set(n, NEIGH_STALE, UINT64_MAX);
	t->changed(t->arg);
}

static void time_over(struct neigh_table *t, struct neigh *n, uint64_t now_ps)
{
	switch (n->state) {
	case NEIGH_REACHABLE:
		state_set(n, NEIGH_STALE, UINT64_MAX);
		return;
	case NEIGH_DELAY:
		state_set(n, NEIGH_PROBE, now_ps);
		ask(t, n, now_ps);
		return;
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		if (n->tries < TRIES) {
			ask(t, n, now_ps);
			return;
		}
		state_set(n, NEIGH_FAILED, UINT64_MAX);
		t->changed(t->arg);
		return;
	default:
		return;
	}
}

uint64_t neigh_timers(struct neigh_table *t, uint64_t now_ps)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < NEIGH_MAX; i++) {
		struct neigh *n = &t->entries[i];

		if (n->state == NEIGH_NONE)
			continue;
		if (n->due_ps <= now_ps)
			time_over(t, n, now_ps);
		if (n->due_ps < next)
			next = n->due_ps;
	}
	return next;
}
