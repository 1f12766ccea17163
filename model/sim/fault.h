/* SPDX-License-Identifier: Apache-2.0 */
/* Faults on the wire. A plan is a list of rules. The link asks the plan about each packet that
 * leaves a port. The plan corrupts bytes itself; the link does everything else that the verdict
 * says.
 *
 * A rule checks a packet in these steps: the packet's fields, its transmission number, the number
 * of the match, whether the offset of a corruption lies in the packet, chance, limit. It fires when
 * all of them hold. Each step counts only the packets that passed the step before. */
#ifndef MODEL_SIM_FAULT_H
#define MODEL_SIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/sim/rng.h"

/* The members of a rule that a packet is compared with. Without any bit, every packet matches. The
 * last five match only packets that have a BTH. */
enum fault_match {
	FAULT_MATCH_HCA = 1 << 0,
	FAULT_MATCH_PORT = 1 << 1,
	FAULT_MATCH_OPCODE = 1 << 2,
	FAULT_MATCH_QPN = 1 << 3,
	FAULT_MATCH_PSN = 1 << 4,
	FAULT_MATCH_TRANSMISSION = 1 << 5,
	FAULT_MATCH_NTH = 1 << 6,
};

/* Strongest first. */
enum fault_action {
	FAULT_DROP,
	FAULT_CORRUPT,
	FAULT_REORDER,
	FAULT_DELAY,
	FAULT_DUPLICATE,
	FAULT_ACTION_COUNT,
};

/* Which CRCs are recomputed after a corruption: none; the VCRC, as after a faulty switch; or both,
 * as if the data was wrong before it was sent. */
enum fault_fix {
	FAULT_FIX_NONE,
	FAULT_FIX_VCRC,
	FAULT_FIX_BOTH,
};

struct fault_rule {
	const char *name; /* for reports, or NULL; lives as long as the plan */

	unsigned int match; /* of enum fault_match */
	unsigned int hca;   /* the packet leaves this device */
	unsigned int port;
	uint8_t opcode; /* of the BTH, all eight bits */
	uint32_t qpn;   /* destination QP of the BTH */
	uint32_t psn;   /* of the BTH */
	/* 1: the first packet of this (device, port, QPN, PSN, request or response) that the
	 * rule saw, 2: the first repetition, ... */
	uint32_t transmission;
	uint32_t nth;        /* 1: first packet that matches, ... */
	uint32_t chance_ppm; /* in a million; 0: always */
	uint32_t limit;      /* fires at most this often; 0: no limit */

	enum fault_action action;
	/* CORRUPT */
	uint32_t offset; /* byte from the LRH */
	/* XORed to the byte; 0: flips a random bit outside the recomputed CRCs, and offset is
	 * unused */
	uint8_t mask;
	enum fault_fix fix;
	/* DUPLICATE */
	uint32_t copies;
	uint64_t gap_ps; /* from the packet to its first copy, and between copies */
	/* DELAY */
	uint64_t delay_ps;
	/* REORDER: holds the packet until this many later packets of the port have passed */
	uint32_t behind;
};

/* wire[0..len) is the packet from LRH to VCRC, with valid CRCs. */
struct fault_key {
	unsigned int hca;
	unsigned int port;
	uint8_t *wire;
	size_t len;
	bool ethernet; /* a frame; else an InfiniBand packet */
};

/* What happens to the packet. When several rules fire, drop wins, delays and duplicates add up, and
 * the longest gap and hold apply. After several corruptions only the CRCs that each of them fixes
 * are recomputed. */
struct fault_verdict {
	bool drop;
	bool corrupted; /* wire has been changed */
	uint32_t duplicates;
	uint64_t duplicate_gap_ps;
	uint64_t delay_ps;
	uint32_t hold;
	/* for traces: the strongest action, named as in fault_action_name; NULL: no rule fired */
	const char *text;
	const char *rule; /* name of the first rule that fired */
};

struct fault_seen;

struct fault_plan {
	struct rng rng;
	size_t count, room;
	struct fault_entry {
		struct fault_rule rule;
		uint64_t seen;  /* packets whose fields matched */
		uint64_t nth;   /* of those, packets with the right transmission number */
		uint64_t fired; /* times the rule fired */
		struct fault_seen *transmissions;
		bool fires; /* on the current packet */
	} * entries;
	uint64_t fired[FAULT_ACTION_COUNT];
};

void fault_plan_init(struct fault_plan *plan, uint64_t seed);
void fault_plan_free(struct fault_plan *plan);

/* The number of the rule, which entries[] and fault_plan_unused() use. -EINVAL for a rule that can
 * have no effect, or -ENOMEM. */
int fault_plan_add(struct fault_plan *plan, const struct fault_rule *rule);

/* The number of rules that fired, with the verdict in *out. On -ENOMEM the packet is unchanged.
 * Costs almost nothing without rules. */
int fault_plan_apply(struct fault_plan *plan, const struct fault_key *key,
		     struct fault_verdict *out);

/* How many rules never fired; prints a line for each to out (or NULL). */
size_t fault_plan_unused(const struct fault_plan *plan, FILE *out);

const char *fault_action_name(enum fault_action action);

#endif
