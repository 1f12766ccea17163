#include "model/sim/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Where the fields stand (IBA 7.7, 9.2). */
enum {
	LRH_BYTES = 8,
	GRH_BYTES = 40,
	BTH_BYTES = 12,
	LNH_IBA_LOCAL = 2,
	LNH_IBA_GLOBAL = 3,
	NEEDS_BTH =
		FAULT_MATCH_OPCODE | FAULT_MATCH_QPN | FAULT_MATCH_PSN | FAULT_MATCH_TRANSMISSION,
	MATCH_ALL = NEEDS_BTH | FAULT_MATCH_HCA | FAULT_MATCH_PORT | FAULT_MATCH_NTH,
	FIX_ALL = FAULT_FIX_ICRC | FAULT_FIX_VCRC,
	FIRST_ROOM = 64,
};

struct bth {
	bool present;
	uint8_t opcode;
	uint32_t qpn, psn;
};

/* How often each packet was sent: open addressing, room is a power of two, a quarter stays free. */
struct fault_seen {
	size_t count, room;
	struct {
		uint64_t key; /* 0: free */
		uint32_t times;
	} slot[];
};

static uint32_t get_24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | p[1] << 8 | p[2];
}

static struct bth bth_parse(const struct fault_key *key)
{
	struct bth bth = {0};
	unsigned int lnh;
	size_t at = LRH_BYTES;

	if (key->len < LRH_BYTES)
		return bth;
	lnh = key->wire[1] & 3;
	if (lnh == LNH_IBA_GLOBAL)
		at += GRH_BYTES;
	if (lnh < LNH_IBA_LOCAL || key->len < at + BTH_BYTES)
		return bth;
	bth.present = true;
	bth.opcode = key->wire[at];
	bth.qpn = get_24(&key->wire[at + 5]);
	bth.psn = get_24(&key->wire[at + 9]);
	return bth;
}

/* RDMA READ responses, ACK, atomic ACK of RC and XRC: an ACK that comes back over loopback may bear
 * QPN and PSN of a request. */
static bool is_response(uint8_t opcode)
{
	return (opcode & 0x1f) >= 0x0d && (opcode & 0x1f) <= 0x12;
}

void fault_plan_init(struct fault_plan *plan, uint64_t seed)
{
	memset(plan, 0, sizeof(*plan));
	rng_init(&plan->rng, seed, "fault");
}

void fault_plan_free(struct fault_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		free(plan->entries[i].transmissions);
	free(plan->entries);
	memset(plan, 0, sizeof(*plan));
}

static bool rule_is_possible(const struct fault_rule *rule)
{
	unsigned int match = rule->match;

	if (match & ~MATCH_ALL || rule->chance_ppm > 1000000 ||
	    (match & FAULT_MATCH_QPN && rule->qpn >> 24) ||
	    (match & FAULT_MATCH_PSN && rule->psn >> 24) ||
	    (match & FAULT_MATCH_TRANSMISSION && !rule->transmission) ||
	    (match & FAULT_MATCH_NTH && !rule->nth))
		return false;
	switch (rule->action) {
	case FAULT_DROP:
		return true;
	case FAULT_CORRUPT:
		return !(rule->fix & ~FIX_ALL);
	case FAULT_DUPLICATE:
		return rule->copies;
	case FAULT_DELAY:
		return rule->delay_ps;
	case FAULT_REORDER:
		return rule->behind;
	default:
		return false;
	}
}

int fault_plan_add(struct fault_plan *plan, const struct fault_rule *rule)
{
	struct fault_entry *entries;
	size_t room;

	if (!rule_is_possible(rule))
		return -EINVAL;
	if (plan->count == plan->room) {
		room = plan->room ? 2 * plan->room : 8;
		entries = realloc(plan->entries, room * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		plan->entries = entries;
		plan->room = room;
	}
	plan->entries[plan->count] = (struct fault_entry){.rule = *rule};
	return plan->count++;
}

static size_t seen_find(const struct fault_seen *seen, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15) >> 32;

	for (i &= seen->room - 1; seen->slot[i].key && seen->slot[i].key != key;)
		i = (i + 1) & (seen->room - 1);
	return i;
}

static struct fault_seen *seen_grow(struct fault_seen *old)
{
	size_t room = old ? 2 * old->room : FIRST_ROOM, i, at;
	struct fault_seen *seen = calloc(1, sizeof(*seen) + room * sizeof(seen->slot[0]));

	if (!seen)
		return NULL;
	seen->room = room;
	for (i = 0; old && i < old->room; i++) {
		if (!old->slot[i].key)
			continue;
		at = seen_find(seen, old->slot[i].key);
		seen->slot[at].key = old->slot[i].key;
		seen->slot[at].times = old->slot[i].times;
		seen->count++;
	}
	free(old);
	return seen;
}

/* How often the rule has seen the packet, this time included. */
static int count_transmission(struct fault_entry *entry, const struct fault_key *key,
			      const struct bth *bth, uint32_t *times)
{
	struct fault_seen *seen = entry->transmissions;
	uint64_t id = UINT64_C(1) << 63 | (uint64_t)(key->hca & 0xff) << 54 |
		      (uint64_t)(key->port & 0x1f) << 49 |
		      (uint64_t)is_response(bth->opcode) << 48 | (uint64_t)bth->qpn << 24 |
		      bth->psn;
	size_t at;

	if (!seen || 4 * seen->count >= 3 * seen->room) {
		seen = seen_grow(seen);
		if (!seen)
			return -ENOMEM;
		entry->transmissions = seen;
	}
	at = seen_find(seen, id);
	if (!seen->slot[at].key) {
		seen->slot[at].key = id;
		seen->count++;
	}
	*times = ++seen->slot[at].times;
	return 0;
}

static bool fields_match(const struct fault_rule *rule, const struct fault_key *key,
			 const struct bth *bth)
{
	unsigned int match = rule->match;

	return !(match & FAULT_MATCH_HCA && key->hca != rule->hca) &&
	       !(match & FAULT_MATCH_PORT && key->port != rule->port) &&
	       !(match & NEEDS_BTH && !bth->present) &&
	       !(match & FAULT_MATCH_OPCODE && bth->opcode != rule->opcode) &&
	       !(match & FAULT_MATCH_QPN && bth->qpn != rule->qpn) &&
	       !(match & FAULT_MATCH_PSN && bth->psn != rule->psn);
}

/* 1: it fires, 0: it does not. */
static int entry_try(struct fault_plan *plan, struct fault_entry *entry,
		     const struct fault_key *key, const struct bth *bth)
{
	const struct fault_rule *rule = &entry->rule;
	uint32_t times;

	if (!fields_match(rule, key, bth))
		return 0;
	entry->seen++;
	if (rule->match & FAULT_MATCH_TRANSMISSION) {
		if (count_transmission(entry, key, bth, &times))
			return -ENOMEM;
		if (times != rule->transmission)
			return 0;
	}
	entry->nth++;
	if (rule->match & FAULT_MATCH_NTH && entry->nth != rule->nth)
		return 0;
	if (rule->action == FAULT_CORRUPT && (rule->mask ? rule->offset : 0) >= key->len)
		return 0;
	if (rule->limit && entry->fired >= rule->limit)
		return 0;
	return !rule->chance_ppm || rng_chance(&plan->rng, rule->chance_ppm);
}

static void verdict_flip(struct fault_plan *plan, const struct fault_rule *rule, size_t len,
			 struct fault_verdict *out)
{
	uint32_t offset = rule->offset;
	uint8_t mask = rule->mask;
	uint64_t bit;

	if (!mask) {
		bit = rng_below(&plan->rng, 8 * len);
		offset = bit / 8;
		mask = 1 << bit % 8;
	}
	out->fix = out->flips ? out->fix & rule->fix : rule->fix;
	if (out->flips == FAULT_MAX_FLIPS)
		return;
	out->flip[out->flips].offset = offset;
	out->flip[out->flips].mask = mask;
	out->flips++;
}

static void verdict_add(struct fault_plan *plan, struct fault_entry *entry, size_t len,
			struct fault_verdict *out)
{
	const struct fault_rule *rule = &entry->rule;

	if (!out->actions)
		out->name = rule->name;
	entry->fired++;
	plan->fired[rule->action]++;
	out->actions |= 1u << rule->action;
	switch (rule->action) {
	case FAULT_CORRUPT:
		verdict_flip(plan, rule, len, out);
		break;
	case FAULT_DUPLICATE:
		out->copies += rule->copies;
		if (out->gap_ps < rule->gap_ps)
			out->gap_ps = rule->gap_ps;
		break;
	case FAULT_DELAY:
		out->delay_ps += rule->delay_ps;
		break;
	case FAULT_REORDER:
		if (out->behind < rule->behind) {
			out->behind = rule->behind;
			out->hold_ps = rule->hold_ps;
		}
		break;
	default:
		break;
	}
}

int fault_plan_apply(struct fault_plan *plan, const struct fault_key *key,
		     struct fault_verdict *out)
{
	struct fault_verdict verdict = {0};
	struct bth bth;
	size_t i;
	int rc;

	if (plan->count) {
		bth = bth_parse(key);
		for (i = 0; i < plan->count; i++) {
			rc = entry_try(plan, &plan->entries[i], key, &bth);
			if (rc < 0)
				return rc;
			if (rc)
				verdict_add(plan, &plan->entries[i], key->len, &verdict);
		}
	}
	*out = verdict;
	return 0;
}

void fault_verdict_flip(const struct fault_verdict *verdict, uint8_t *wire, size_t len)
{
	unsigned int i;

	for (i = 0; i < verdict->flips; i++)
		if (verdict->flip[i].offset < len)
			wire[verdict->flip[i].offset] ^= verdict->flip[i].mask;
}

size_t fault_plan_unused(const struct fault_plan *plan, FILE *out)
{
	const struct fault_entry *entry;
	size_t i, unused = 0;

	for (i = 0; i < plan->count; i++) {
		entry = &plan->entries[i];
		if (entry->fired)
			continue;
		unused++;
		if (out)
			fprintf(out,
				"fault rule %zu (%s, %s) never fired: %" PRIu64
				" packets had its fields, %" PRIu64 " were of its transmission\n",
				i, entry->rule.name ? entry->rule.name : "no name",
				fault_action_name(entry->rule.action), entry->seen, entry->nth);
	}
	return unused;
}

const char *fault_action_name(enum fault_action action)
{
	static const char *const names[FAULT_ACTION_COUNT] = {
		[FAULT_DROP] = "drop",           [FAULT_CORRUPT] = "corrupt",
		[FAULT_DUPLICATE] = "duplicate", [FAULT_DELAY] = "delay",
		[FAULT_REORDER] = "reorder",
	};

	return (unsigned int)action < FAULT_ACTION_COUNT ? names[action] : "unknown";
}
