/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sim/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/engine/wire/crc.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/bth_ops.h"
#include "model/interface/wire.h"

enum {
	NEEDS_BTH =
		FAULT_MATCH_OPCODE | FAULT_MATCH_QPN | FAULT_MATCH_PSN | FAULT_MATCH_TRANSMISSION,
	MATCH_ALL = NEEDS_BTH | FAULT_MATCH_HCA | FAULT_MATCH_PORT | FAULT_MATCH_NTH,
	FIRST_ROOM = 64,
};

struct fields {
	bool bth;
	uint8_t opcode;
	uint32_t qpn, psn;
};

/* Counts how often each packet was sent. An open-addressing hash table: room is a power of two, and
 * at least a quarter of the slots stay free. */
struct fault_seen {
	size_t count, room;
	struct {
		uint64_t key; /* 0: free */
		uint32_t times;
	} slot[];
};

static void fields_of_bth(struct fields *f, const uint8_t *bytes)
{
	const struct bth *bth = (const struct bth *)bytes;

	f->bth = true;
	f->opcode = bth_get_opcode(bth);
	f->qpn = bth_get_dqpn(bth);
	f->psn = bth_get_psn(bth);
}

static struct fields fields_parse(const struct fault_key *key)
{
	struct fields f = {0};
	uint32_t lnh;
	size_t at = LRH_BYTES;

	if (key->ethernet) {
		struct roce_places at_frame;

		if (roce_find(key->wire, key->len, key->len, ROCE_UDP_PORT, &at_frame))
			return f;
		fields_of_bth(&f, key->wire + at_frame.bth_off);
		return f;
	}
	if (key->len < LRH_BYTES)
		return f;
	lnh = lrh_get_lnh((const struct lrh *)key->wire);
	if (lnh == LNH_IBA_GLOBAL)
		at += GRH_BYTES;
	else if (lnh != LNH_IBA_LOCAL)
		return f;
	if (key->len < at + BTH_BYTES)
		return f;
	fields_of_bth(&f, key->wire + at);
	return f;
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
		return (unsigned int)rule->fix <= FAULT_FIX_BOTH;
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

/* Whether the packet is a response. On loopback an ACK may carry the same QPN and PSN as a request,
 * so the two must be counted apart. */
static bool is_response(uint8_t opcode)
{
	return bth_op_is(bth_op_find(opcode), BTH_RESPONSE);
}

/* Counts the packet and tells how often the rule has now seen it, this time included. */
static int count_transmission(struct fault_entry *entry, const struct fault_key *key,
			      const struct fields *f, uint32_t *times)
{
	struct fault_seen *seen = entry->transmissions;
	uint64_t id = UINT64_C(1) << 63 | (uint64_t)(key->hca & 0xff) << 54 |
		      (uint64_t)(key->port & 0x1f) << 49 | (uint64_t)is_response(f->opcode) << 48 |
		      (uint64_t)f->qpn << 24 | f->psn;
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
			 const struct fields *f)
{
	unsigned int match = rule->match;

	return !(match & FAULT_MATCH_HCA && key->hca != rule->hca) &&
	       !(match & FAULT_MATCH_PORT && key->port != rule->port) &&
	       !(match & NEEDS_BTH && !f->bth) &&
	       !(match & FAULT_MATCH_OPCODE && f->opcode != rule->opcode) &&
	       !(match & FAULT_MATCH_QPN && f->qpn != rule->qpn) &&
	       !(match & FAULT_MATCH_PSN && f->psn != rule->psn);
}

/* How many bytes of a packet a corruption may touch. The CRCs that are recomputed afterwards are
 * left out, since recomputing would undo the corruption. */
static size_t corruptible(enum fault_fix fix, const struct fault_key *key)
{
	static const size_t fixed[] = {
		[FAULT_FIX_VCRC] = VCRC_BYTES,
		[FAULT_FIX_BOTH] = CRC_BYTES,
	};

	const size_t more = key->ethernet && fix != FAULT_FIX_NONE ? FCS_BYTES - VCRC_BYTES : 0;

	return key->len > fixed[fix] + more ? key->len - fixed[fix] - more : 0;
}

static bool can_corrupt(const struct fault_rule *rule, const struct fault_key *key)
{
	return (rule->mask ? rule->offset : 0) < corruptible(rule->fix, key);
}

/* 1: the rule fires; 0: it does not; or -errno. */
static int entry_try(struct fault_plan *plan, struct fault_entry *entry,
		     const struct fault_key *key, const struct fields *f)
{
	const struct fault_rule *rule = &entry->rule;
	uint32_t times;

	if (!fields_match(rule, key, f))
		return 0;
	entry->seen++;
	if (rule->match & FAULT_MATCH_TRANSMISSION) {
		if (count_transmission(entry, key, f, &times))
			return -ENOMEM;
		if (times != rule->transmission)
			return 0;
	}
	entry->nth++;
	if (rule->match & FAULT_MATCH_NTH && entry->nth != rule->nth)
		return 0;
	if (rule->action == FAULT_CORRUPT && !can_corrupt(rule, key))
		return 0;
	if (rule->limit && entry->fired >= rule->limit)
		return 0;
	return !rule->chance_ppm || rng_chance(&plan->rng, rule->chance_ppm);
}

static void corrupt(struct fault_plan *plan, const struct fault_rule *rule,
		    const struct fault_key *key)
{
	uint64_t bit;

	if (rule->mask) {
		key->wire[rule->offset] ^= rule->mask;
	} else {
		bit = rng_below(&plan->rng, 8 * corruptible(rule->fix, key));
		key->wire[bit / 8] ^= 1 << bit % 8;
	}
}

/* The FCS takes the place of the VCRC. */
static void fix_frame(const struct fault_key *key, enum fault_fix fix)
{
	struct roce_places at;

	if (fix == FAULT_FIX_BOTH && !roce_find(key->wire, key->len, key->len, ROCE_UDP_PORT, &at))
		roce_crcs_make(key->wire, key->len, &at);
	else if (fix != FAULT_FIX_NONE && key->len > FCS_BYTES)
		frame_fcs_make(key->wire, key->len);
}

static void fix_crcs(const struct fault_key *key, enum fault_fix fix)
{
	size_t end = key->len - VCRC_BYTES;
	uint16_t vcrc;
	bool icrc = key->len >= LRH_BYTES + CRC_BYTES &&
		    lrh_get_lnh((const struct lrh *)key->wire) >= LNH_IBA_LOCAL;

	if (key->ethernet) {
		fix_frame(key, fix);
		return;
	}
	if (fix == FAULT_FIX_BOTH && icrc) {
		crc_make(key->wire, key->len - CRC_BYTES);
	} else if (fix != FAULT_FIX_NONE) {
		vcrc = crc_vcrc(key->wire, end);
		key->wire[end] = vcrc;
		key->wire[end + 1] = vcrc >> 8;
	}
}

static void verdict_add(const struct fault_rule *rule, struct fault_verdict *out)
{
	switch (rule->action) {
	case FAULT_DROP:
		out->drop = true;
		break;
	case FAULT_CORRUPT:
		out->corrupted = true;
		break;
	case FAULT_DUPLICATE:
		out->duplicates += rule->copies;
		if (out->duplicate_gap_ps < rule->gap_ps)
			out->duplicate_gap_ps = rule->gap_ps;
		break;
	case FAULT_DELAY:
		out->delay_ps += rule->delay_ps;
		break;
	case FAULT_REORDER:
		if (out->hold < rule->behind)
			out->hold = rule->behind;
		break;
	default:
		break;
	}
}

/* Applies the rules that fire. Called only after all rules have been tried, so that each of them
 * sees the packet as it was sent. */
static int fire(struct fault_plan *plan, const struct fault_key *key, struct fault_verdict *out)
{
	enum fault_action strongest = FAULT_ACTION_COUNT;
	enum fault_fix fix = FAULT_FIX_BOTH;
	struct fault_entry *entry;
	int fired = 0;
	size_t i;

	for (i = 0; i < plan->count; i++) {
		entry = &plan->entries[i];
		if (!entry->fires)
			continue;
		fired++;
		entry->fired++;
		plan->fired[entry->rule.action]++;
		verdict_add(&entry->rule, out);
		if (entry->rule.action < strongest)
			strongest = entry->rule.action;
		if (!out->rule)
			out->rule = entry->rule.name;
		if (entry->rule.action != FAULT_CORRUPT)
			continue;
		corrupt(plan, &entry->rule, key);
		if (entry->rule.fix < fix)
			fix = entry->rule.fix;
	}
	if (out->corrupted)
		fix_crcs(key, fix);
	if (fired)
		out->text = fault_action_name(strongest);
	return fired;
}

int fault_plan_apply(struct fault_plan *plan, const struct fault_key *key,
		     struct fault_verdict *out)
{
	struct fault_verdict verdict = {0};
	struct fields fields;
	int rc, fired = 0;
	size_t i;

	if (plan->count) {
		fields = fields_parse(key);
		for (i = 0; i < plan->count; i++) {
			rc = entry_try(plan, &plan->entries[i], key, &fields);
			if (rc < 0)
				return rc;
			plan->entries[i].fires = rc;
		}
		fired = fire(plan, key, &verdict);
	}
	*out = verdict;
	return fired;
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
