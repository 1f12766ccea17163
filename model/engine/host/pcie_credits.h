/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow control credits that a receiver of PCIe TLPs gives its sender for one type of them: PCI
 * Express Base Specification 2.6.1. A TLP takes a header credit, and one for each 16 bytes of its
 * data, when it is sent; they are back a round trip, and the time the receiver takes to empty its
 * buffer and to say so, after its last byte has left.
 *
 * TLPs are not counted one by one: credits come back evenly, so many in each round trip as there
 * are, so that TLPs beyond them leave evenly instead of in bursts. What is scarcer counts, headers
 * or data. TLPs that take longer on the link than their credits take to come back wait for none.
 */
#ifndef MODEL_ENGINE_PCIE_CREDITS_H
#define MODEL_ENGINE_PCIE_CREDITS_H

#include <stdint.h>

enum { PCIE_CREDIT_BYTES = 16 };

struct pcie_credits {
	uint64_t header_ps, data_ps; /* from one that comes back to the next; 0: never run out */
	uint64_t round_ps;           /* last byte sent until the credits are back */
	uint64_t due_ps;             /* all of them are back */
	uint64_t enough;             /* bytes of data of a TLP that waits for none */
};

/* TLPs of one type that leave in a row. */
struct pcie_tlps {
	uint64_t start_ps, end_ps; /* without waiting for credits */
	uint64_t data, count;
};

/* One of `count` credits, 0 for no limit, is back so long after another; a TLP takes tlp_ps. 0: the
 * link takes longer than that for what a credit stands for, least_ps, so nobody ever waits. */
static inline uint64_t pcie_credit_ps(uint64_t count, uint64_t round_ps, uint64_t tlp_ps,
				      uint64_t least_ps)
{
	const uint64_t ps = count ? (round_ps + tlp_ps) / count : 0;

	return ps > least_ps ? ps : 0;
}

static inline uint64_t pcie_credits_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* When the TLPs have left. */
static inline uint64_t pcie_credits_take(struct pcie_credits *c, const struct pcie_tlps *t)
{
	const uint64_t data = (t->data + PCIE_CREDIT_BYTES - 1) / PCIE_CREDIT_BYTES;

	c->due_ps = pcie_credits_max(c->due_ps, t->start_ps) +
		    pcie_credits_max(t->count * c->header_ps, data * c->data_ps);
	return pcie_credits_max(c->due_ps, t->end_ps + c->round_ps) - c->round_ps;
}

#endif
