/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's accesses on the PCIe link: hca_mmio_*() of hca.h. from: the host; to: bar_write
 * and bar_read of calls.h.
 * Accesses reach the device in order, reads after writes. The answer to a read arrives after the
 * device's earlier posted writes.
 */
#include "model/engine/host/pcie_impl.h"
#include "model/interface/regs.h"
#include "model/sim/params/hca_doorbell.h"
#include "model/sim/params/hca_pcie.h"

#include <stdlib.h>
#include <string.h>

enum { HOST_ACCESS_MAX = 64 };

struct host_access {
	struct event ev;
	struct hca *hca;
	struct host_access *next_free, *next_all;
	uint64_t offset;
	unsigned bar, size;
	void (*done)(void *arg, const void *bytes, unsigned size);
	void *arg;
	uint8_t bytes[HOST_ACCESS_MAX];
};

/* The host's accesses have priority on the link: they delay what is already scheduled on it. */
static void lane_charge(struct pcie_lane *lane, uint64_t now, uint64_t duration)
{
	if (lane->free_ps > now)
		lane->free_ps += duration;
}

static struct host_access *access_take(struct hca *hca, unsigned bar, uint64_t offset,
				       unsigned size)
{
	struct pcie *pcie = hca->pcie;
	struct host_access *a = pcie->access_free;

	if (a) {
		pcie->access_free = a->next_free;
	} else {
		a = memory_take(hca, sizeof(*a), "accesses of the host");
		a->next_all = pcie->access_all;
		pcie->access_all = a;
	}
	a->hca = hca;
	a->bar = bar;
	a->offset = offset;
	a->size = size;
	pcie->pending++;
	return a;
}

static void access_give(struct host_access *a)
{
	struct pcie *pcie = a->hca->pcie;

	a->next_free = pcie->access_free;
	pcie->access_free = a;
	pcie->pending--;
}

/* Puts the access on the link; arrived() runs when it reaches the device. */
static void access_send(struct host_access *a, void (*arrived)(struct event *ev), uint64_t bytes)
{
	struct pcie *pcie = a->hca->pcie;
	const struct hca_params *p = a->hca->params;
	const uint64_t now = hca_now(a->hca);
	const uint64_t duration = pcie_bytes_ps(pcie, bytes + param_pcie_request_overhead(p));
	const uint64_t start = pcie_max_ps(pcie->host_ps, now);
	uint64_t end = start + duration, at;

	if (!a->done) /* posted */
		end = pcie_credits_wait(pcie, &pcie->host_posted,
					&(struct pcie_tlps){start, end, a->size, 1});
	pcie->host_ps = end;
	lane_charge(&pcie->down, now, duration);
	at = end + pcie->root.latency_ps + param_pcie_device_latency(p);
	if (a->bar == HCA_BAR_UAR && !a->done)
		at += param_doorbell_latency(p);
	if (pcie->disturbed && !a->done)
		at += pcie_register_late_ps(pcie, a->offset);
	pcie->arrived_ps = pcie_max_ps(pcie->arrived_ps, at);
	a->ev.job = arrived;
	HCA_TRACE(a->hca, TP_BAR_RUN, .text = a->done ? "read" : "write",
		  .args = {pcie->arrived_ps, a->bar, a->offset});
	event_set(a->hca->core, &a->ev, pcie->arrived_ps);
}

static void host_write_due(struct event *ev)
{
	struct host_access *a = (struct host_access *)(void *)ev;
	uint8_t bytes[HOST_ACCESS_MAX];
	struct hca *hca = a->hca;
	uint64_t offset = a->offset;
	unsigned bar = a->bar, size = a->size;

	memcpy(bytes, a->bytes, size);
	access_give(a);
	hca->calls->bar_write(hca, bar, offset, bytes, size);
}

static void host_read_back(struct event *ev)
{
	struct host_access *a = (struct host_access *)(void *)ev;
	uint8_t bytes[HOST_ACCESS_MAX];
	void (*done)(void *arg, const void *bytes, unsigned size) = a->done;
	void *arg = a->arg;
	unsigned size = a->size;

	memcpy(bytes, a->bytes, size);
	access_give(a);
	done(arg, bytes, size);
}

static void host_read_due(struct event *ev)
{
	struct host_access *a = (struct host_access *)(void *)ev;
	struct pcie *pcie = a->hca->pcie;
	const struct hca_params *p = a->hca->params;

	a->hca->calls->bar_read(a->hca, a->bar, a->offset, a->bytes, a->size);
	pcie->up_free_ps = pcie_max_ps(pcie->up_free_ps, hca_now(a->hca)) +
			   pcie_bytes_ps(pcie, a->size + param_pcie_completion_overhead(p));
	a->ev.job = host_read_back;
	event_set(a->hca->core, &a->ev,
		  pcie_max_ps(pcie->landed_ps, pcie->up_free_ps + param_pcie_device_latency(p) +
						       pcie->root.latency_ps));
}

void hca_mmio_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
		    unsigned size)
{
	struct host_access *a = access_take(hca, bar, offset, size);

	memcpy(a->bytes, bytes, size);
	a->done = NULL;
	access_send(a, host_write_due, size);
}

void hca_mmio_read(struct hca *hca, unsigned bar, uint64_t offset, unsigned size,
		   void (*done)(void *arg, const void *bytes, unsigned size), void *arg)
{
	struct host_access *a = access_take(hca, bar, offset, size);

	a->done = done;
	a->arg = arg;
	access_send(a, host_read_due, 0);
}

void hca_mmio_write_now(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
			unsigned size)
{
	hca->calls->bar_write(hca, bar, offset, bytes, size);
}

void hca_mmio_read_now(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size)
{
	hca->calls->bar_read(hca, bar, offset, bytes, size);
}

uint64_t hca_writes_landed_ps(const struct hca *hca)
{
	return hca->pcie->landed_ps;
}

void pcie_host_destroy(struct pcie *pcie)
{
	while (pcie->access_all) {
		struct host_access *a = pcie->access_all;

		pcie->access_all = a->next_all;
		event_cancel(pcie->hca->core, &a->ev);
		free(a);
	}
}
