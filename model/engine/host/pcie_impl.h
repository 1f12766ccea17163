/* SPDX-License-Identifier: Apache-2.0 */
/* State of the PCIe link, shared by pcie.c (the device's DMA), pcie_host.c (the host's accesses)
 * and pcie_setup.c (values derived from parameters). */
#ifndef MODEL_ENGINE_PCIE_IMPL_H
#define MODEL_ENGINE_PCIE_IMPL_H

#include "model/engine/base/engine.h"
#include "model/engine/base/jitter.h"
#include "model/engine/host/pcie.h"
#include "model/engine/host/pcie_credits.h"
#include "model/engine/host/pcie_tags.h"

enum {
	PCIE_FRACTION_BITS = 16,
};

struct host_access;
struct posted;

/*
 * Occupancy of one direction of the link. It is not kept for each TLP: only the time from which the
 * link is free, and the longest idle gap before that, which a TLP that is due earlier may fill.
 */
struct pcie_lane {
	uint64_t free_ps, hole_from_ps, hole_to_ps;
};

struct pcie {
	struct hca *hca;
	struct pcie_root root;
	uint64_t byte_time;  /* ps << PCIE_FRACTION_BITS */
	uint64_t request_ps; /* time a read request takes on the link */
	uint32_t max_payload, max_read_request;
	bool master;          /* bus master enabled and in power state D0 */
	uint32_t row_request; /* size of read requests that can be timed as a group; 0: none can */
	unsigned log_max_payload;
	uint64_t read_way_ps; /* from when a read request has left until its bytes are read */
	uint64_t up_free_ps;
	struct pcie_credits posted, nonposted;
	struct pcie_credits host_posted; /* of the host's writes */
	struct pcie_lane down;
	uint64_t landed_ps;  /* when the latest posted write lands */
	uint64_t host_ps;    /* when the root complex has put the host's last access on the link */
	uint64_t arrived_ps; /* when the host's last access reaches the device */
	struct pcie_tags tags;

	struct event_lane reads, writes;
	struct dma *active;
	unsigned pending;
	bool disturbed; /* some DMA or message may take longer than usual, for one of these: */
	struct hca_late_dma late; /* late.times: how many are still to be delayed */
	struct jitter read_jitter, write_jitter, interrupt_jitter;
	struct hca_late_judge judge;
	struct posted *posted_free, *posted_all;
	struct host_access *access_free, *access_all;
};

static inline uint64_t pcie_max_ps(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t pcie_bytes_ps(const struct pcie *pcie, uint64_t bytes)
{
	return (bytes * pcie->byte_time) >> PCIE_FRACTION_BITS;
}

/* When the TLPs have left: later than t->end_ps if they wait for credits. */
static inline uint64_t pcie_credits_wait(struct pcie *pcie, struct pcie_credits *credits,
					 const struct pcie_tlps *t)
{
	uint64_t end;

	if (t->data >= t->count * credits->enough)
		return t->end_ps;
	end = pcie_credits_take(credits, t);
	if (end != t->end_ps) {
		pcie->hca->stats.pcie_credit_stalls++;
		pcie->hca->stats.pcie_credit_stall_ps += end - t->end_ps;
	}
	return end;
}

/* --- pcie_late.c --- */

/* How long hca_dma_late() asks to delay this DMA or message; 0: not at all. */
uint64_t pcie_late_by(struct pcie *pcie, const struct dma *dma, bool write);
/* How much longer a read takes; other reads overtake it. */
uint64_t pcie_read_late_ps(struct pcie *pcie, const struct dma *dma);
/* The write that has been reserved last takes longer. It would land at own_ps if no other write
 * were before it. Later ones do not overtake it. */
void pcie_write_late(struct pcie *pcie, const struct dma *dma, uint64_t own_ps);
/* How much longer a write by the host to this offset of a BAR is on its way. */
uint64_t pcie_register_late_ps(struct pcie *pcie, uint64_t offset);

/* Cancels and frees the host's accesses: the device goes away. */
void pcie_host_destroy(struct pcie *pcie);

#endif
