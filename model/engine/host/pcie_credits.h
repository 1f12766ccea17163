/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow control credits that the receiver of PCIe TLPs grants for one type of TLP: PCI Express Base
 * Specification 2.6.1. Sending a TLP takes one header credit, and one data credit for each 16 bytes
 * of data. The credits are back after a round trip, plus the time in which the receiver empties its
 * buffer and reports that, counted from when the TLP's last byte leaves.
 *
 * TLPs are not counted one by one. The model assumes that credits come back evenly, as many in each
 * round trip as there are in total, so TLPs that lack credits leave evenly and not in bursts. The
 * scarcer kind of credit decides, header or data. TLPs that take longer on the link than their
 * credits take to come back never wait.
 */
#ifndef MODEL_ENGINE_PCIE_CREDITS_H
#define MODEL_ENGINE_PCIE_CREDITS_H

#include <stdint.h>

enum { PCIE_CREDIT_BYTES = 16 };

struct pcie_credits {
	uint64_t header_ps, data_ps; /* between two returned credits; 0: never run out */
	uint64_t round_ps;           /* from the last byte sent until the credits are back */
	uint64_t due_ps;             /* when all credits are back */
	uint64_t enough;             /* a TLP with at least so many bytes of data never waits */
};

/* TLPs of one type that leave in a row. */
struct pcie_tlps {
	uint64_t start_ps, end_ps; /* when they would leave if they waited for no credits */
	uint64_t data, count;
};

/*
 * Time from one returned credit to the next, of `count` credits (0: no limit), when a TLP takes
 * tlp_ps on the link. Returns 0 when nobody ever waits: the link takes at least as long, least_ps,
 * to send what one credit allows.
 */
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
