/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's PCIe link, modelled as TLPs: DMA upstream, the host's accesses downstream. Times
 * come from the parameters [hca.pcie] (rate, MPS, MRRS, RCB, tags, overhead of a TLP, latency of
 * the device's side) and from struct pcie_root. pcie_host.c implements hca_mmio_*() of hca.h.
 *
 * Writes and messages, read requests, and the host's writes wait for the receiver's credits
 * (pcie_credits.h). Completions need no credits: a read request is not sent until the device has
 * room for its completions.
 *
 * A write is split at addresses that are multiples of MPS, a read at MRRS and at 4 KiB. A completer
 * returns up to MPS bytes in a completion, and cuts the first one so that it ends on the RCB.
 * Source: PCI Express Base Specification 2.2.7, 2.3.1.1, 2.4.1.
 *
 * Ordering is that of PCIe. Posted writes land in order. A read request does not pass earlier
 * writes, so its bytes are read after those have landed. A completion to the host arrives after the
 * device's earlier writes. The times of a DMA's TLPs are computed; there is one event for the whole
 * DMA, and its bytes move at that event.
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

/* What a payload DMA belongs to, for traces. */
enum dma_corr {
	DMA_CORR_WQE = 0,       /* or'ed with the WQE's index: requester */
	DMA_CORR_PSN = 1 << 30, /* or'ed with the PSN */
};

/* One DMA. The issuer owns this memory and must not touch it until done() is called, which happens
 * exactly once. The fragments' lengths add up to the length of buf. */
struct dma {
	struct event ev; /* pcie's own */
	struct hca *hca;
	void (*done)(struct dma *dma);
	uint8_t *buf;
	const struct dma_frag *frags;
	unsigned n_frags;
	uint32_t len;
	/*
	 * When done() of a read is called. False: when the completer reads the last bytes from
	 * memory; they reach the device later, at ready_ps, from which the caller counts its next
	 * step (payload). True: at ready_ps (contexts, WQEs, translations). A write's done() is
	 * called when the bytes have landed, and ready_ps is that time.
	 */
	bool at_ready;
	uint64_t ready_ps;
	int status; /* 0, or -EFAULT: an address is not mapped (reported as a guest error), and only
		       the fragments before it have moved */
	const char *what;         /* for traces and guest errors: "wqe", "payload", "cqe", ... */
	uint32_t qpn;             /* on whose behalf, 0 when nobody's */
	uint32_t corr;            /* of payload, for traces: see enum dma_corr */
	struct dma_frag one;      /* storage for the common case of one fragment */
	struct dma *next, **link; /* pcie's own */
};

/* Latencies of the host's side of the link, in ps, and its credits (0: no limit): the rows of
 * [host.pcie]. */
struct pcie_root {
	uint64_t posted_headers, posted_data, nonposted_headers;
	uint64_t credit_ps;
	uint64_t latency_ps, read_latency_ps, write_latency_ps;
	/* what pcie_jitter() adds at most */
	uint64_t read_jitter_ps, write_jitter_ps, interrupt_jitter_ps;
};

struct pcie *pcie_create(struct hca *hca);
void pcie_destroy(struct pcie *pcie);
/* Sets the values of the host that the device is plugged into. Until then the defaults of
 * [host.pcie] apply. */
void pcie_root_set(struct hca *hca, const struct pcie_root *root);
/* hca_jitter() of DMA and messages, with the root's bounds. */
void pcie_jitter(struct hca *hca, uint64_t seed);
/* Device Control in configuration space was written: new TLPs are split at these sizes. */
void pcie_configure(struct hca *hca, uint32_t max_payload, uint32_t max_read_request);
/* Whether the device may use DMA and send messages. */
void pcie_master_set(struct hca *hca, bool master);

/* Starts a DMA now, or at `earliest_ps` if that is later (0: now). Its place on the link is
 * reserved at once, so `earliest_ps` should only cover the time that the calling stage takes. */
void pcie_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps);
void pcie_write(struct hca *hca, struct dma *dma, uint64_t earliest_ps);
/* A read that waits until `at_ps` for something other than PCIe. Until then it reserves no link
 * time and no tag. */
void pcie_read_later(struct hca *hca, struct dma *dma, uint64_t at_ps);
/* Whether the data of a read that begins at `at_ps` would wait behind the data of earlier reads
 * anyway. Then it can be issued now: that delays nobody else and saves an event. */
bool pcie_read_queues(const struct hca *hca, uint64_t at_ps);
/* Called from done() of a read that succeeded: done() is then called once more, at `at_ps`. */
void pcie_done_later(struct dma *dma, uint64_t at_ps);
/* Posted write of at most 64 bytes, which are copied: CQE, EQE, context. done may be NULL. */
void pcie_write_small(struct hca *hca, uint64_t bus, const void *bytes, uint32_t len,
		      const char *what, uint32_t qpn, void (*done)(void *arg, int status),
		      void *arg);
/* Sends an interrupt message, ordered behind earlier writes, not before `earliest_ps` (0: now). */
void pcie_message(struct hca *hca, unsigned vector, uint64_t address, uint32_t data,
		  uint64_t earliest_ps);
/* Sends the message that changes the level of INTx. */
void pcie_intx(struct hca *hca, bool asserted, uint64_t earliest_ps);
/* Number of DMAs and host accesses under way. */
unsigned pcie_pending(const struct hca *hca);
/* Reset: drops every DMA and message under way without calling done(). The host's own accesses are
 * on the link, not in the device: they continue, and reach the device after its reset. */
void pcie_reset(struct hca *hca);

#endif
