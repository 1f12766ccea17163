/* SPDX-License-Identifier: Apache-2.0 */
/* DMA and messages: see pcie.h. The host's own accesses are in pcie_host.c. */
#include "model/engine/host/pcie.h"

#include "model/engine/base/monitor.h"
#include "model/engine/host/pcie_impl.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_pcie.h"

#include <stdlib.h>
#include <string.h>

enum {
	PCIE_PAGE = 4096, /* no request crosses a multiple of it */
	POSTED_MAX = 64,
	MSI_BYTES = 4,
};

/* A write of the pool, or a message. */
struct posted {
	struct dma dma;
	struct posted *next_free, *next_all;
	void (*done)(void *arg, int status);
	void *arg;
	uint8_t bytes[POSTED_MAX];
	/* messages */
	uint64_t address;
	uint32_t data;
	unsigned vector;
	bool asserted;
};

unsigned pcie_pending(const struct hca *hca)
{
	return hca->pcie->pending;
}

/* --- the links --- */

static bool lane_hole_fits(const struct pcie_lane *lane, uint64_t earliest, uint64_t duration)
{
	return pcie_max_ps(earliest, lane->hole_from_ps) + duration <= lane->hole_to_ps;
}

/* Reserves the link for `duration`, not before `earliest`, and returns when that begins. */
static uint64_t lane_reserve(struct pcie_lane *lane, uint64_t earliest, uint64_t duration)
{
	uint64_t start = pcie_max_ps(earliest, lane->hole_from_ps);

	if (lane_hole_fits(lane, earliest, duration)) {
		lane->hole_from_ps = start + duration;
		return start;
	}
	start = pcie_max_ps(earliest, lane->free_ps);
	if (start - lane->free_ps > lane->hole_to_ps - lane->hole_from_ps ||
	    lane->hole_to_ps < earliest) {
		lane->hole_from_ps = lane->free_ps;
		lane->hole_to_ps = start;
	}
	lane->free_ps = start + duration;
	return start;
}

static void active_add(struct hca *hca, struct dma *dma)
{
	struct pcie *pcie = hca->pcie;

	dma->hca = hca;
	dma->status = 0;
	dma->next = pcie->active;
	dma->link = &pcie->active;
	if (dma->next)
		dma->next->link = &dma->next;
	pcie->active = dma;
	pcie->pending++;
}

static void active_remove(struct dma *dma)
{
	*dma->link = dma->next;
	if (dma->next)
		dma->next->link = dma->link;
	dma->next = NULL;
	dma->link = NULL;
	dma->hca->pcie->pending--;
}

/* --- reads --- */

static void dma_finish(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);

	active_remove(dma);
	dma->done(dma);
}

static struct guest_object dma_object(const struct dma *dma)
{
	return guest_object(dma->qpn ? GUEST_QP : GUEST_NONE, dma->qpn);
}

static void __attribute__((noinline))
dma_blame(const struct dma *dma, const struct dma_frag *f, bool write)
{
	guest_error(dma->hca, RULE_dma_unmapped, dma_object(dma),
		    "dma %s of %u bytes at %llx at %llu ps, %s, qpn %x", write ? "write" : "read",
		    f->len, (unsigned long long)f->bus, (unsigned long long)hca_now(dma->hca),
		    dma->what, dma->qpn);
}

static void __attribute__((noinline))
dma_tell(const struct dma *dma, const struct dma_frag *f, const uint8_t *buf, bool write)
{
	const struct hca_monitor *m = dma->hca->monitor;

	m->dma(m->ctx, &(struct hca_dma_seen){.what = dma->what,
					      .bus = f->bus,
					      .bytes = write ? buf : NULL,
					      .len = f->len,
					      .qpn = dma->qpn,
					      .write = write});
}

/* Moves all fragments, up to the first that is not mapped. */
static inline __attribute__((always_inline)) void dma_move(struct dma *dma, bool write)
{
	struct hca *hca = dma->hca;
	const struct hca_env *env = &hca->env;
	uint8_t *buf = dma->buf;

	for (unsigned i = 0; i < dma->n_frags && !dma->status; i++) {
		const struct dma_frag *f = &dma->frags[i];
		int rc;

		if (hca_is_monitored(hca))
			dma_tell(dma, f, buf, write);
		rc = write ? env->dma_write(env->ctx, f->bus, buf, f->len)
			   : env->dma_read(env->ctx, f->bus, buf, f->len);

		if (rc) {
			dma->status = -EFAULT;
			HCA_TRACE(hca, TP_DMA_FAULT, .qpn = dma->qpn, .text = dma->what,
				  .args = {f->bus, f->len});
			if (rc != -ENOMEM)
				dma_blame(dma, f, write);
		} else if (write) {
			HCA_TRACE(hca, TP_DMA_WRITE, .qpn = dma->qpn, .text = dma->what,
				  .len = f->len, .args = {f->bus, f->len});
		} else {
			HCA_TRACE(hca, TP_DMA_READ, .qpn = dma->qpn, .text = dma->what,
				  .len = f->len, .args = {f->bus, f->len});
		}
		buf += f->len;
	}
}

static void read_due(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);

	dma_move(dma, false);
	if (!dma->at_ready || dma->ready_ps <= hca_now(dma->hca)) {
		dma_finish(ev);
		return;
	}
	dma->ev.job = dma_finish;
	event_set(dma->hca->core, &dma->ev, dma->ready_ps);
}

static void write_due(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);

	dma_move(dma, true);
	dma_finish(ev);
}

/* How long the way of a posted TLP takes until it has landed, without waiting for earlier ones. */
static uint64_t posted_way_ps(const struct pcie *pcie)
{
	return param_pcie_device_latency(pcie->hca->params) + pcie->root.latency_ps +
	       pcie->root.write_latency_ps;
}

static bool master_off(struct hca *hca, struct dma *dma, uint64_t start)
{
	if (hca->pcie->master)
		return false;
	guest_error(hca, RULE_bus_master_off, dma_object(dma), "dma of %u bytes, %s, qpn %x",
		    dma->len, dma->what, dma->qpn);
	dma->status = -EFAULT;
	dma->ready_ps = start;
	dma->ev.job = dma_finish;
	event_set(hca->core, &dma->ev, start);
	return true;
}

struct read_times {
	uint64_t request_ps; /* when the next request may leave */
	uint64_t sampled_ps; /* when the completer has read the last bytes */
	uint64_t ready_ps;
};

/* Time the completions of a request take on the link. */
static uint64_t answer_ps(const struct pcie *pcie, uint64_t bus, uint32_t len)
{
	const struct hca_params *p = pcie->hca->params;
	const uint64_t first = bus & (param_pcie_rcb(p) - 1);
	const uint64_t completions = (first + len + pcie->max_payload - 1) >> pcie->log_max_payload;

	return pcie_bytes_ps(pcie, len + completions * param_pcie_completion_overhead(p));
}

/* Requests of one length that follow each other. */
struct requests {
	uint64_t start_ps; /* the first one leaves, not before */
	uint64_t step_ps;  /* from one to the next */
	uint64_t answer_ps;
	uint32_t len;
	unsigned count;
};

/* Sends requests as a group. The completions of each take longer than its request, so all
 * completions follow each other without a gap, and only the start of the first must be found. */
static void requests_send(struct pcie *pcie, const struct requests *r, struct read_times *t)
{
	struct hca *hca = pcie->hca;
	const uint64_t request = pcie->request_ps, now = hca_now(hca);
	const uint64_t way = pcie->read_way_ps;
	/* A read does not pass earlier writes: the device must see what it wrote. */
	const uint64_t first = pcie_max_ps(r->start_ps + request + way, pcie->landed_ps);
	const uint64_t answers = r->count * r->answer_ps;
	const uint64_t back = lane_reserve(&pcie->down, first + pcie->root.latency_ps, answers) +
			      param_pcie_device_latency(hca->params);

	pcie_tags_give(&pcie->tags, back + r->answer_ps, r->answer_ps, r->count);
	/* Writes may pass a request that waits, so a waiting request costs them only its own time
	 * on the link. */
	if (pcie->up_free_ps > now)
		pcie->up_free_ps += r->count * request;
	else if (r->start_ps == now)
		pcie->up_free_ps = now + r->count * request;
	t->request_ps = r->start_ps + (r->count - 1) * r->step_ps + request;
	t->sampled_ps = pcie_max_ps(t->sampled_ps, pcie_max_ps(t->request_ps + way, first));
	t->ready_ps = pcie_max_ps(t->ready_ps, back + answers);
	hca->stats.pcie_read_requests += r->count;
	hca->stats.pcie_read_bytes += (uint64_t)r->count * r->len;
}

/*
 * Whether the completions of requests that wait for their tags still follow each other without a
 * gap, because the link to the device is still busy with earlier completions when each could begin.
 */
static bool answers_queue(const struct pcie *pcie, const struct requests *r)
{
	const uint64_t way = pcie->request_ps + pcie->read_way_ps;
	const uint64_t first =
		pcie_max_ps(r->start_ps + way, pcie->landed_ps) + pcie->root.latency_ps;
	const uint64_t later = (r->count - 1) * r->step_ps;
	const uint64_t last =
		pcie_max_ps(r->start_ps + later + way, pcie->landed_ps) + pcie->root.latency_ps;

	return r->step_ps > pcie->request_ps && !lane_hole_fits(&pcie->down, first, r->answer_ps) &&
	       first <= pcie->down.free_ps &&
	       last <= pcie->down.free_ps + (r->count - 1) * r->answer_ps;
}

/* Takes tags for as many of the `r->count` requests as can be timed as a group, and reduces
 * `r->count` to that. It is at least one; that one may have to wait for its tag. */
static void tags_find(struct pcie *pcie, struct requests *r)
{
	struct pcie_tag_run *run = &pcie->tags.runs[pcie->tags.first];
	unsigned free = run->count;

	if (r->count > run->count)
		r->count = run->count;
	r->step_ps = pcie->request_ps;
	if (run->free_ps > r->start_ps) {
		pcie->hca->stats.pcie_tag_stall_ps += run->free_ps - r->start_ps;
		r->start_ps = run->free_ps;
		r->step_ps = run->step_ps;
		if (r->count > 1 && !answers_queue(pcie, r))
			r->count = 1;
		pcie->hca->stats.pcie_tag_stalls += r->count;
	} else if (r->count > 1 && run->step_ps) {
		free = (unsigned)((r->start_ps - run->free_ps) / run->step_ps) + 1;
		if (r->count > free)
			r->count = free;
	}
	pcie_tags_take(&pcie->tags, run, r->count);
}

/* For when there are fewer credits than tags: delays the request until it has its credit. */
static void __attribute__((noinline)) nonposted_wait(struct pcie *pcie, struct requests *r)
{
	const struct pcie_tlps one = {r->start_ps, r->start_ps + pcie->request_ps, 0, 1};

	r->start_ps += pcie_credits_wait(pcie, &pcie->nonposted, &one) - one.end_ps;
}

static void read_fragment(struct pcie *pcie, const struct dma_frag *f, struct read_times *t)
{
	uint64_t bus = f->bus;
	uint32_t left = f->len;

	while (left) {
		struct requests r = {.start_ps = pcie_max_ps(t->request_ps, pcie->up_free_ps),
				     .len = PCIE_PAGE - (uint32_t)(bus & (PCIE_PAGE - 1)),
				     .count = 1};

		if (r.len > pcie->max_read_request)
			r.len = pcie->max_read_request;
		if (r.len > left)
			r.len = left;
		r.answer_ps = answer_ps(pcie, bus, r.len);
		if (r.len == pcie->row_request && !(bus & (r.len - 1)) &&
		    r.answer_ps >= pcie->request_ps)
			r.count = left / r.len;
		else if (!pcie->row_request)
			nonposted_wait(pcie, &r);
		tags_find(pcie, &r);
		requests_send(pcie, &r, t);
		bus += (uint64_t)r.len * r.count;
		left -= r.len * r.count;
	}
}

static void __attribute__((noinline))
trace_dma(struct hca *hca, enum trace_point point, const struct dma *dma, uint64_t start)
{
	HCA_TRACE_AT(hca, point, start, .qpn = dma->qpn, .corr = dma->corr, .text = dma->what,
		     .args = {dma->ready_ps, dma->len});
}

void pcie_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	const uint64_t start = pcie_max_ps(earliest_ps, hca_now(hca));
	struct read_times t = {start, start, start};
	uint64_t late_ps;

	active_add(hca, dma);
	if (master_off(hca, dma, start))
		return;
	for (unsigned i = 0; i < dma->n_frags; i++)
		read_fragment(hca->pcie, &dma->frags[i], &t);
	dma->ready_ps = t.ready_ps;
	dma->ev.job = read_due;
	late_ps = hca->pcie->disturbed ? pcie_read_late_ps(hca->pcie, dma) : 0;
	if (late_ps) {
		/* other reads pass it: PCIe lets completions of different requests pass each other
		 * */
		dma->ready_ps += late_ps;
		if (hca_traces(hca, TP_DMA_READ_RUN))
			trace_dma(hca, TP_DMA_READ_RUN, dma, start);
		event_set(hca->core, &dma->ev, t.sampled_ps + late_ps);
		return;
	}
	if (hca_traces(hca, TP_DMA_READ_RUN))
		trace_dma(hca, TP_DMA_READ_RUN, dma, start);
	event_lane_set(hca->core, &hca->pcie->reads, &dma->ev, t.sampled_ps);
}

bool pcie_read_queues(const struct hca *hca, uint64_t at_ps)
{
	const struct pcie *pcie = hca->pcie;

	return at_ps + pcie->request_ps + pcie->read_way_ps + pcie->root.latency_ps <=
	       pcie->down.free_ps;
}

static void read_begins(struct event *ev)
{
	struct dma *dma = container_of(ev, struct dma, ev);

	active_remove(dma);
	pcie_read(dma->hca, dma, 0);
}

void pcie_read_later(struct hca *hca, struct dma *dma, uint64_t at_ps)
{
	active_add(hca, dma);
	dma->ev.job = read_begins;
	event_set(hca->core, &dma->ev, at_ps);
}

void pcie_done_later(struct dma *dma, uint64_t at_ps)
{
	active_add(dma->hca, dma);
	dma->ev.job = dma_finish;
	event_set(dma->hca->core, &dma->ev, at_ps);
}

/* --- writes and messages --- */

/* Sends posted TLPs with `data` bytes in total, not before `start`, and sets landed_ps to when they
 * land. */
static void posted_land(struct pcie *pcie, uint64_t start, uint64_t data, uint64_t tlps)
{
	const struct hca_params *p = pcie->hca->params;
	uint64_t end;

	start = pcie_max_ps(start, pcie->up_free_ps);
	end = start + pcie_bytes_ps(pcie, data + tlps * param_pcie_request_overhead(p));
	pcie->up_free_ps =
		pcie_credits_wait(pcie, &pcie->posted, &(struct pcie_tlps){start, end, data, tlps});
	pcie->landed_ps = pcie_max_ps(pcie->landed_ps, pcie->up_free_ps + posted_way_ps(pcie));
}

void pcie_write(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	struct pcie *pcie = hca->pcie;
	const uint64_t start = pcie_max_ps(earliest_ps, hca_now(hca));
	uint64_t bytes = 0, tlps = 0;

	active_add(hca, dma);
	if (master_off(hca, dma, start))
		return;
	for (unsigned i = 0; i < dma->n_frags; i++) {
		const struct dma_frag *f = &dma->frags[i];
		uint64_t first = f->bus & (pcie->max_payload - 1);

		bytes += f->len;
		tlps += (first + f->len + pcie->max_payload - 1) >> pcie->log_max_payload;
	}
	hca->stats.pcie_write_bytes += bytes;
	hca->stats.pcie_write_tlps += tlps;
	posted_land(pcie, start, bytes, tlps);
	if (pcie->disturbed)
		pcie_write_late(pcie, dma, pcie->up_free_ps + posted_way_ps(pcie));
	dma->ready_ps = pcie->landed_ps;
	dma->ev.job = write_due;
	if (hca_traces(hca, TP_DMA_WRITE_RUN))
		trace_dma(hca, TP_DMA_WRITE_RUN, dma, start);
	event_lane_set(hca->core, &pcie->writes, &dma->ev, dma->ready_ps);
}

static struct posted *posted_take(struct hca *hca)
{
	struct pcie *pcie = hca->pcie;
	struct posted *w = pcie->posted_free;

	if (w) {
		pcie->posted_free = w->next_free;
		return w;
	}
	w = memory_take(hca, sizeof(*w), "writes to memory");
	w->next_all = pcie->posted_all;
	pcie->posted_all = w;
	return w;
}

static void posted_give(struct pcie *pcie, struct posted *w)
{
	w->next_free = pcie->posted_free;
	pcie->posted_free = w;
}

static void posted_done(struct dma *dma)
{
	struct posted *w = (struct posted *)(void *)dma;
	void (*done)(void *arg, int status) = w->done;
	void *arg = w->arg;
	int status = dma->status;

	posted_give(dma->hca->pcie, w);
	if (done)
		done(arg, status);
}

void pcie_write_small(struct hca *hca, uint64_t bus, const void *bytes, uint32_t len,
		      const char *what, uint32_t qpn, void (*done)(void *arg, int status),
		      void *arg)
{
	struct posted *w = posted_take(hca);

	memcpy(w->bytes, bytes, len);
	w->done = done;
	w->arg = arg;
	w->dma = (struct dma){.done = posted_done,
			      .buf = w->bytes,
			      .len = len,
			      .what = what,
			      .qpn = qpn,
			      .n_frags = 1,
			      .one = {bus, len}};
	w->dma.frags = &w->dma.one;
	pcie_write(hca, &w->dma, 0);
}

static void message_due(struct event *ev)
{
	struct posted *w = (struct posted *)(void *)ev;
	struct hca *hca = w->dma.hca;

	hca->env.irq_raise(hca->env.ctx, w->vector, w->address, w->data);
	dma_finish(ev);
}

static void intx_due(struct event *ev)
{
	struct posted *w = (struct posted *)(void *)ev;
	struct hca *hca = w->dma.hca;

	hca->env.intx(hca->env.ctx, w->asserted);
	dma_finish(ev);
}

/* delay_ps: from when the message has landed until it takes effect. */
static void message_send(struct hca *hca, struct posted *w, void (*due)(struct event *ev),
			 uint64_t bytes, uint64_t earliest_ps, uint64_t delay_ps)
{
	struct pcie *pcie = hca->pcie;

	w->done = NULL;
	w->dma = (struct dma){.done = posted_done, .what = "message", .ev = {.job = due}};
	active_add(hca, &w->dma);
	posted_land(pcie, pcie_max_ps(earliest_ps, hca_now(hca)), bytes, 1);
	pcie->landed_ps += pcie_late_by(pcie, &w->dma, true);
	event_set(hca->core, &w->dma.ev, pcie->landed_ps + delay_ps);
}

void pcie_message(struct hca *hca, unsigned vector, uint64_t address, uint32_t data,
		  uint64_t earliest_ps)
{
	struct posted *w;

	if (!hca->pcie->master) {
		guest_error(hca, RULE_bus_master_off, guest_object(GUEST_VECTOR, vector),
			    "interrupt message of vector %u", vector);
		return;
	}
	w = posted_take(hca);
	w->vector = vector;
	w->address = address;
	w->data = data;
	message_send(hca, w, message_due, MSI_BYTES, earliest_ps,
		     jitter_draw_ps(&hca->pcie->interrupt_jitter));
}

void pcie_intx(struct hca *hca, bool asserted, uint64_t earliest_ps)
{
	struct posted *w = posted_take(hca);

	w->asserted = asserted;
	message_send(hca, w, intx_due, 0, earliest_ps, 0);
}

/* --- reset --- */

void pcie_reset(struct hca *hca)
{
	struct pcie *pcie = hca->pcie;

	while (pcie->active) {
		struct dma *dma = pcie->active;

		event_cancel(hca->core, &dma->ev);
		active_remove(dma);
		if (dma->done == posted_done)
			posted_give(pcie, (struct posted *)(void *)dma);
	}
	pcie->up_free_ps = pcie->landed_ps = 0;
	pcie->down = (struct pcie_lane){0};
	pcie->posted.due_ps = pcie->nonposted.due_ps = 0;
	pcie_tags_reset(&pcie->tags, pcie->tags.total, 0);
}

void pcie_destroy(struct pcie *pcie)
{
	if (!pcie)
		return;
	pcie_reset(pcie->hca);
	while (pcie->posted_all) {
		struct posted *w = pcie->posted_all;

		pcie->posted_all = w->next_all;
		free(w);
	}
	pcie_host_destroy(pcie);
	free(pcie);
}
