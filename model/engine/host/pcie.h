/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's PCIe link as TLPs: DMA upstream, the host's accesses downstream. Times by parameters
 * [hca.pcie]: rate, MPS, MRRS, RCB, tags, overhead of a TLP, latency of the device's side; and
 * struct pcie_root. hca_mmio_*() of hca.h are implemented here.
 *
 * TLPs wait for the receiver's credits (pcie_credits.h): writes and messages, read requests, and
 * the host's writes. Completions need none: a read request waits until the device has room for
 * them.
 *
 * A write is cut at addresses that are multiples of MPS, a read at MRRS and at 4 KiB; a completer
 * answers with up to MPS bytes a completion, the first one cut to end on the RCB. Source: PCI
 * Express Base Specification 2.2.7, 2.3.1.1, 2.4.1.
 *
 * Ordering, as PCIe has it: posted writes land in order; a read request does not pass writes before
 * it, so its bytes are read after they landed; completions to the host push the device's writes
 * before them. One DMA is split into TLPs by arithmetic and has one event, at which its bytes move.
 */
#ifndef MODEL_ENGINE_PCIE_H
#define MODEL_ENGINE_PCIE_H

#include "model/engine/base/event_core.h"
#include <stdbool.h>
#include <stdint.h>

struct hca;

/* A piece of host memory, contiguous on the bus. */
struct dma_frag {
	uint64_t bus;
	uint32_t len;
};

/* Which message payload belongs to. */
enum dma_corr {
	DMA_CORR_WQE = 0,       /* and the WQE's index: requester */
	DMA_CORR_PSN = 1 << 30, /* and the PSN */
};

/*
 * One DMA. The issuer owns the memory; it stays untouched until done() has been called, exactly
 * once. Sum of the fragments' lengths is the length of buf.
 */
struct dma {
	struct event ev; /* pcie's own */
	struct hca *hca;
	void (*done)(struct dma *dma);
	uint8_t *buf;
	const struct dma_frag *frags;
	unsigned n_frags;
	uint32_t len;
	/*
	 * Read: false: done() is called when the completer returns the (last) bytes, at ready_ps
	 * they are in the device: what follows counts from there (payload). true: done() is called
	 * at ready_ps (contexts, WQEs, translations). Write: done() is called when the bytes have
	 * landed; ready_ps is that time.
	 */
	bool at_ready;
	uint64_t ready_ps;
	int status; /* 0, or -EFAULT: not mapped (a guest error has been reported); nothing, or only
		       some fragments, moved */
	const char *what;         /* for traces and guest errors: "wqe", "payload", "cqe", ... */
	uint32_t qpn;             /* on whose behalf, 0 when nobody's */
	uint32_t corr;            /* of payload, for traces: enum dma_corr */
	struct dma_frag one;      /* room for the common single fragment */
	struct dma *next, **link; /* pcie's own */
};

/* What the host's side of the link costs, in ps, and its credits, 0 for no limit: rows of
 * [host.pcie]. */
struct pcie_root {
	uint64_t posted_headers, posted_data, nonposted_headers;
	uint64_t credit_ps;
	uint64_t latency_ps, read_latency_ps, write_latency_ps;
};

struct pcie *pcie_create(struct hca *hca);
void pcie_destroy(struct pcie *pcie);
/* The host this device is plugged into; without it, the rows' defaults. */
void pcie_root_set(struct hca *hca, const struct pcie_root *root);
/* Device Control of configuration space: TLPs are cut at these from now on. */
void pcie_configure(struct hca *hca, uint32_t max_payload, uint32_t max_read_request);
/* Whether the device may use DMA and send messages. */
void pcie_master_set(struct hca *hca, bool master);

/* May be issued at any time; starts at `now`, or not before `earliest_ps` where given (0: now): the
 * time that the stage itself takes, for its place on the link is taken at once. */
void pcie_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps);
void pcie_write(struct hca *hca, struct dma *dma, uint64_t earliest_ps);
/* A read that waits until `at_ps` for something else than PCIe: it takes nothing of the link, and no
 * tag, before. */
void pcie_read_later(struct hca *hca, struct dma *dma, uint64_t at_ps);
/* Whether a read that begins at `at_ps` waits for the data of earlier ones all the same: to ask for
 * it now takes nothing from anybody, and is one event less. */
bool pcie_read_queues(const struct hca *hca, uint64_t at_ps);
/* From done() of a read that succeeded: done() is called once more, at `at_ps`. */
void pcie_done_later(struct dma *dma, uint64_t at_ps);
/* Posted write of at most 64 bytes that the pool keeps until it lands: CQE, EQE, context. done may
 * be NULL. */
void pcie_write_small(struct hca *hca, uint64_t bus, const void *bytes, uint32_t len,
		      const char *what, uint32_t qpn, void (*done)(void *arg, int status),
		      void *arg);
/* An interrupt message, ordered behind the writes before it; leaves at `earliest_ps` (0: now). */
void pcie_message(struct hca *hca, unsigned vector, uint64_t address, uint32_t data,
		  uint64_t earliest_ps);
/* The level of INTx changes: a message too. */
void pcie_intx(struct hca *hca, bool asserted, uint64_t earliest_ps);
/* Number of DMAs and host accesses under way. */
unsigned pcie_pending(const struct hca *hca);
/*
 * Drops every DMA and message under way, calling no done(): reset. The host's own accesses are on
 * the link, not in the device: they go on and meet the device as it is after the reset.
 */
void pcie_reset(struct hca *hca);

#endif
