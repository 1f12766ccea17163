// SPDX-License-Identifier: Apache-2.0
/* See checker.h: hears what there is to hear, and hands it on to the parts. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/held/claims_impl.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/device/dead.h"
#include "testbench/dsan/device/function.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/own/late.h"
#include "testbench/dsan/own/receives.h"
#include "testbench/dsan/held/taken.h"
#include "testbench/dsan/threads/threads_impl.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/hear/history.h"
#include "testbench/dsan/hear/wrote.h"

#include "model/engine/base/engine.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HOSTS = 2 };

/* platform_ops name the host by a struct platform alone. */
static struct checker *checkers[HOSTS];

static struct checker *checker_of(const struct platform *p)
{
	return checkers[p->host];
}

struct checker *checker_of_software(unsigned host)
{
	return host < HOSTS ? checkers[host] : NULL;
}

struct checker *checker_of_host(unsigned host)
{
	struct checker *c = checker_of_software(host);

	return c && !c->memory_only ? c : NULL;
}

void checkers_made(unsigned host, struct guest_object object, struct ran *made, struct ran *changed)
{
	const struct checker *c = checker_of_host(host);

	made->n = changed->n = 0;
	if (c)
		history_find(c, object, made, changed);
}

static void ran_add(struct ran *ran, const void *pc)
{
	for (unsigned i = 0; i < ran->n; i++)
		if (ran->pc[i] == pc)
			return;
	if (pc && ran->n < RAN_MAX)
		ran->pc[ran->n++] = pc;
}

void checkers_set(unsigned host, enum guest_rule rule, struct ran *set)
{
	const struct checker *c = checker_of_host(host);
	const struct runner *r = runner_now();

	set->n = 0;
	if (c && rule == RULE_icm_unmapped)
		history_table_find(c, set);
	else if (c && r)
		setters_take(r, set);
}

void checkers_wrote(unsigned host, struct guest_object qp, struct ran *wrote)
{
	const struct checker *c = checker_of_host(host);
	const struct fetched *f = c ? &c->fetched[qp.number % ARRAY_SIZE(c->fetched)] : NULL;

	wrote->n = 0;
	if (!f || f->qpn != qp.number)
		return;
	for (uintptr_t at = f->at; at < f->at + f->bytes && checker_has(c, at); at += WQE_CHUNK)
		ran_add(wrote, checker_stored(c, at)->pc);
	for (uintptr_t at = f->at; at < f->at + f->bytes && checker_has(c, at); at += WORD)
		ran_add(wrote, checker_stored(c, at)->pc);
}

/* --- the driver --- */

/* A store's call-out comes before the store. The next thing that is heard comes behind it. */
static void store_ends(struct checker *c)
{
	const uintptr_t end = c->storing.at + c->storing.bytes;

	for (uintptr_t w = c->storing.at & ~(uintptr_t)(WORD - 1); w < end; w += WORD)
		checker_stored(c, w)->value = *(const uint32_t *)w;
	c->storing.bytes = 0;
	c->storing.ends = true;
	own_stored(c->own, c->storing.at);
	c->storing.ends = false;
}

static inline void came_by(struct checker *c, const void *pc)
{
	const uint32_t at = code_offset(pc);

	if (c->recent[(c->n_recent - 1) % RECENT] != at)
		c->recent[c->n_recent++ % RECENT] = at;
	trail_note(pc);
}

static inline void heard(struct checker *c)
{
	if (c->storing.bytes)
		store_ends(c);
}

void checker_settle(struct checker *c)
{
	heard(c);
}

static void on_load(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	struct checker *c = ctx;

	heard(c);
	if (!checker_has(c, at))
		return;
	came_by(c, pc);
	order_load(c->order, at, bytes, pc);
	own_load(c->own, at, bytes, pc);
	receives_load(c, at, pc);
}

static void on_store(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	struct checker *c = ctx;

	heard(c);
	if (!checker_has(c, at))
		return;
	came_by(c, pc);
	order_store(c->order, at, bytes, pc);
	claims_store(c->claims, at, bytes, pc);
	own_store(c->own, at, bytes, pc);
	if (c->late)
		late_store(c->late, at, bytes, c->ops->now_ps(c->host.platform));
	c->storing.at = at;
	c->storing.bytes = bytes;
	c->storing.thread = ask_thread();
}

/* Of what was copied, those who made it in this call are to blame, not the copy. */
static void on_copied(void *ctx, uintptr_t at, uintptr_t from, size_t bytes)
{
	struct checker *c = ctx;
	const struct ask *ask = ask_now(c);

	if (!checker_has(c, at))
		return;
	c->copied.at = at;
	c->copied.from = from;
	c->copied.bytes = bytes;
	c->copied.since = ask ? ask->since_wrote : 0;
	for (uintptr_t w = at & ~(uintptr_t)(WORD - 1); w < at + bytes; w += WORD) {
		const void *pc = wrote_find_since(from + (w - at), WORD, c->copied.since);

		if (pc)
			checker_stored(c, w)->pc = pc;
	}
}

static void on_fence(void *ctx, unsigned fence, const void *pc)
{
	struct checker *c = ctx;

	heard(c);
	order_fence(c->order, fence);
	if (c->late && fence & CALLOUT_FENCE_STORES)
		late_fence(c->late);
}

/* Registers, too, may be written in another order: Linux mlx4_cmd_post writes those words with
 * __raw_writel. */
static void check_hcr_order(struct checker *c, unsigned offset, const void *pc)
{
	if (!ask_taker()) /* a scenario writes */
		return;
	if (offset != sizeof(c->hcr) - WORD)
		c->hcr_epoch = order_epoch(c->order);
	else if (c->hcr_epoch == order_epoch(c->order))
		checker_report(c, &(struct breach){RULE_order_doorbell, {0}, pc, NULL},
			       "a parameter in the command register");
}

/* The last word has GO. */
static void hcr_written(struct checker *c, unsigned offset, const void *bytes, unsigned size,
			const void *pc)
{
	check_hcr_order(c, offset, pc);
	memcpy(c->hcr + offset, bytes, size);
	c->hcr_by[offset / WORD] = wrote_find((uintptr_t)bytes, size);
	if (!offset && ask_taker())
		locks_read(c, (uintptr_t)c->hcr, pc);
	if (offset + size != sizeof(c->hcr) || !hcr_get_go((const struct hcr *)c->hcr))
		return;
	if (ask_taker()) /* not a scenario's */
		locks_write(c, (uintptr_t)c->hcr, "the command register", pc);
	c->hcr_lock = (struct lock_hold){0};
	if (ask_taker() && !hcr_get_event((const struct hcr *)c->hcr))
		c->hcr_lock = locks_newest();
	function_command(c, pc);
	asked_command(c, (const struct hcr *)c->hcr);
}

/* The words of the command register that an answer is read from. */
static bool is_answer(uint64_t offset)
{
	return offset - BAR0_HCR - layout_field(&layout_hcr, "out_param")->offset <
	       sizeof(uint64_t);
}

/* The table of MSI-X is little-endian, the registers are big-endian. */
static uint32_t register_value(uint64_t offset, const uint8_t *bytes)
{
	return offset - BAR0_MSIX_TABLE < HCA_MSIX_VECTORS * HCA_MSIX_ENTRY_SIZE
		       ? (uint32_t)(bytes[0] | bytes[1] << 8 | bytes[2] << 16) | (uint32_t)bytes[3]
											 << 24
		       : be32_load(bytes);
}

static void op_mmio_write(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
			  unsigned size)
{
	struct checker *c = checker_of(p);

	heard(c);
	came_by(c, __builtin_return_address(0));
	if (bar == HCA_BAR_REGS && size == WORD) {
		dead_register(c, offset);
		function_register(c, offset, register_value(offset, bytes),
				  __builtin_return_address(0));
	}
	if (bar == HCA_BAR_UAR)
		own_register(c->own, offset, bytes, __builtin_return_address(0));
	else if (offset - BAR0_HCR < sizeof(c->hcr) && size <= sizeof(c->hcr) - (offset - BAR0_HCR))
		hcr_written(c, (unsigned)(offset - BAR0_HCR), bytes, size,
			    __builtin_return_address(0));
	if (bar == HCA_BAR_UAR || offset == BAR0_HCR + sizeof(struct hcr) - size)
		order_trigger(c->order, __builtin_return_address(0));
	if (c->late)
		late_register(c->late);
	c->ops->mmio_write(p, bar, offset, bytes, size);
}

static void op_mmio_read(struct platform *p, unsigned bar, uint64_t offset, void *bytes,
			 unsigned size)
{
	struct checker *c = checker_of(p);

	heard(c);
	came_by(c, __builtin_return_address(0));
	c->ops->mmio_read(p, bar, offset, bytes, size);
	if (bar != HCA_BAR_REGS || size != WORD)
		return;
	if (is_answer(offset) && ask_taker())
		locks_answer(c, c->hcr_lock, "the answer in the command register",
			     __builtin_return_address(0));
	/* the next holder of the lock reads this word, too */
	if (offset == BAR0_HCR + sizeof(c->hcr) - WORD && ask_taker())
		locks_answer(c, (struct lock_hold){c->hcr_lock.lock, 0},
			     "the status in the command register", __builtin_return_address(0));
	dead_register_read(c, offset, register_value(offset, bytes));
	function_register_read(c, offset, register_value(offset, bytes),
			       __builtin_return_address(0));
}

static uint32_t op_config_read(struct platform *p, unsigned offset, unsigned size)
{
	struct checker *c = checker_of(p);
	const uint32_t value = c->ops->config_read(p, offset, size);

	came_by(c, __builtin_return_address(0));
	function_config_read(c, offset, value, __builtin_return_address(0));
	return value;
}

static void op_config_write(struct platform *p, unsigned offset, unsigned size, uint32_t value)
{
	struct checker *c = checker_of(p);

	came_by(c, __builtin_return_address(0));
	dead_config(c);
	function_config(c, offset, value, __builtin_return_address(0));
	c->ops->config_write(p, offset, size, value);
}

static void interrupt(void *arg)
{
	const struct interrupt *i = arg;
	struct own *own = i->c->own;
	const unsigned eq = i->c->eq_of_vector[i - i->c->interrupts]; /* 0: none */
	const uint32_t arms = eq ? own_eq_arms(own, eq - 1) : 0;

	threads_interrupt(arg);
	if (eq)
		own_eq_served(own, eq - 1, arms, (const char *)i->handler + 1);
}

static int op_irq_request(struct platform *p, unsigned vector, void (*handler)(void *arg),
			  void *arg)
{
	struct checker *c = checker_of(p);
	struct interrupt *i = vector < FUNCTION_VECTORS ? &c->interrupts[vector] : NULL;
	int rc;

	if (!i)
		return c->ops->irq_request(p, vector, handler, arg);
	*i = (struct interrupt){c, handler, arg};
	rc = c->ops->irq_request(p, vector, interrupt, i);
	if (!rc) {
		heap_handler(arg, true);
		function_handler(checker_of(p), vector, 1);
		taken_add(TAKEN_HANDLER, p, vector, __builtin_return_address(0));
	}
	return rc;
}

static void op_irq_free(struct platform *p, unsigned vector)
{
	function_handler(checker_of(p), vector, -1);
	taken_back(TAKEN_HANDLER, p, vector, __builtin_return_address(0));
	checker_of(p)->ops->irq_free(p, vector);
	if (vector < FUNCTION_VECTORS)
		heap_handler(checker_of(p)->interrupts[vector].arg, false);
}

static void op_mmio_copy64(struct platform *p, unsigned bar, uint64_t offset, const void *line)
{
	struct checker *c = checker_of(p);

	heard(c);
	came_by(c, __builtin_return_address(0));
	order_trigger(c->order, __builtin_return_address(0));
	if (bar == HCA_BAR_UAR && offset >= HCA_BF_OFFSET)
		own_blueflame(c->own, offset, line);
	if (bar == HCA_BAR_UAR && offset >= HCA_BF_OFFSET)
		asked_send_rung(c, wqe_ctrl_get_bf_qpn(line));
	c->ops->mmio_copy64(p, bar, offset, line);
}

/* Memory for the device that the driver takes, and not a scenario. */
static void taken_of_driver(const struct checker *c, enum taken_kind kind, const void *of,
			    uint64_t number, const void *pc)
{
	if (checker_hears(pc))
		taken_add_of(c, kind, of, number, pc);
}

static void *op_pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	struct checker *c = checker_of(p);
	void *at = c->ops->pages_alloc(p, bytes, bus);

	if (at) {
		claims_mapped(c->claims, (uintptr_t)at, bytes);
		taken_of_driver(c, TAKEN_PAGES, at, bytes, __builtin_return_address(0));
	} else {
		trail_refused(-ENOMEM);
	}
	return at;
}

static struct platform_waitq *op_waitq_create(struct platform *p)
{
	struct checker *c = checker_of(p);
	struct platform_waitq *q = c->ops->waitq_create(p);

	if (q)
		taken_of_driver(c, TAKEN_QUEUE, q, 0, __builtin_return_address(0));
	return q;
}

static void op_waitq_destroy(struct platform *p, struct platform_waitq *q)
{
	taken_back(TAKEN_QUEUE, q, 0, __builtin_return_address(0));
	threads_queue_destroy(p, q, __builtin_return_address(0));
}

static void op_pages_free(struct platform *p, void *addr, size_t bytes)
{
	struct checker *c = checker_of(p);

	heard(c);
	claims_unmapped(c->claims, (uintptr_t)addr, bytes, __builtin_return_address(0));
	own_freed(c->own, (uintptr_t)addr, bytes, __builtin_return_address(0));
	taken_back(TAKEN_PAGES, addr, bytes, __builtin_return_address(0));
	c->ops->pages_free(p, addr, bytes);
}

/* A program may free memory that it has registered. At the end of a process the driver itself gives the
 * pages back, and the regions must be gone. Source: Linux ib_umem_get pins the pages of a region until
 * ib_umem_release */
static void op_user_free(struct platform *p, void *addr, size_t bytes)
{
	struct checker *c = checker_of(p);

	if (entered_process_is_ending())
		claims_unmapped(c->claims, (uintptr_t)addr, bytes, __builtin_return_address(0));
	c->ops->user_free(p, addr, bytes);
}

static uint64_t op_dma_map(struct platform *p, void *addr, size_t bytes)
{
	struct checker *c = checker_of(p);
	const uint64_t bus = c->ops->dma_map(p, addr, bytes);

	if (bus) {
		claims_mapped(c->claims, (uintptr_t)addr, bytes);
		c->maps_unheard |= !checker_hears(__builtin_return_address(0));
		taken_of_driver(c, TAKEN_MAPPING, p, bus, __builtin_return_address(0));
	} else {
		trail_refused(-ENOMEM);
	}
	return bus;
}

static void op_dma_unmap(struct platform *p, uint64_t bus, size_t bytes)
{
	struct checker *c = checker_of(p);

	heard(c);
	if (!c->maps_unheard && checker_hears(__builtin_return_address(0)) &&
	    !taken_is(TAKEN_MAPPING, p, bus)) {
		checker_report(
			c, &(struct breach){RULE_not_taken, {0}, __builtin_return_address(0), NULL},
			"bus address 0x%llx, of which no mapping is left", (unsigned long long)bus);
		return;
	}
	claims_unmapped(c->claims, checker_address(c, bus), bytes, __builtin_return_address(0));
	taken_back(TAKEN_MAPPING, p, bus, __builtin_return_address(0));
	c->ops->dma_unmap(p, bus, bytes);
}

/* --- the device --- */

/* The firmware writes the entry behind which a CQ goes on in its new buffer: its last byte makes it
 * valid. Software that polls may take it, and free the old buffer, before the command has ended. */
static bool ends_buffer(const struct hca_dma_seen *dma)
{
	struct cqe last = {0};

	if (!dma->write || strcmp(dma->what, "firmware") || dma->len != 1 ||
	    dma->bus % CQE_SIZE != CQE_OWNER_OFFSET)
		return false;
	memcpy(last.b + CQE_OWNER_OFFSET, dma->bytes, 1);
	return cqe_get_opcode(&last) == CQE_OP_RESIZE;
}

static void on_dma(void *ctx, const struct hca_dma_seen *dma)
{
	struct checker *c = ctx;
	struct holder *cq;

	heard(c);
	if (c->order)
		order_dma(c->order, dma);
	if (c->own)
		own_dma(c->own, dma);
	if (c->late && dma->write && checker_address(c, dma->bus))
		late_device_writes(c->late, checker_address(c, dma->bus), dma->len);
	if (ends_buffer(dma)) {
		cq = claims_cq_resized(c->claims, checker_address(c, dma->bus));
		if (cq)
			own_buffer_changes(cq);
	}
}

static void on_wqe(void *ctx, const struct hca_wqe_seen *wqe)
{
	struct checker *c = ctx;
	const size_t says = (size_t)wqe_ctrl_get_ds(wqe->bytes) * WQE_UNIT;
	const size_t bytes = says > WQE_CHUNK ? says : WQE_CHUNK;

	heard(c);
	c->fetched[wqe->qpn % ARRAY_SIZE(c->fetched)] =
		(struct fetched){wqe->qpn, checker_address(c, wqe->bus), bytes};
	if (c->order)
		order_wqe(c->order, wqe);
	if (c->own)
		own_wqe(c->own, wqe);
}

static void on_object(void *ctx, enum hca_object type, uint32_t number, bool valid,
		      const struct mpt_entry *mpt)
{
	struct checker *c = ctx;
	struct object_memory m;
	struct holder *h;
	bool fresh;

	heard(c);
	h = claims_object(c->claims, type, number, valid, mpt, &m, &fresh);
	if (h && c->own)
		own_object(c->own, h, &m, fresh);
}

static void on_command(void *ctx, const struct hcr *command,
		       const struct hca_command_answer *answer)
{
	struct checker *c = ctx;

	heard(c);
	claims_command(c->claims, command, answer);
	if (!answer)
		return;
	asked_command_done(c, command, answer);
	given_command_done(c, command, answer);
	if (c->watcher)
		c->watcher->command_done(c, command, answer);
}

static void on_icm_map(void *ctx, uint64_t va, uint64_t bus, uint64_t len)
{
	struct checker *c = ctx;

	claims_icm_map(c->claims, va, bus, len);
}

static void on_icm_unmap(void *ctx, uint64_t va, uint64_t len)
{
	struct checker *c = ctx;

	claims_icm_unmap(c->claims, va, len);
}

static void on_sync(void *ctx)
{
}

static void on_forgotten(void *ctx, bool reset)
{
	struct checker *c = ctx;

	claims_forgotten(c->claims, reset);
	if (reset)
		report_texts_forget(c);
}

void checker_hear_device(struct checker *c)
{
	c->monitor = (struct hca_monitor){.ctx = c,
					  .dma = on_dma,
					  .wqe = on_wqe,
					  .object = on_object,
					  .command = on_command,
					  .icm_map = on_icm_map,
					  .icm_unmap = on_icm_unmap,
					  .sync = on_sync,
					  .forgotten = on_forgotten};
	hca_monitor_set(c->host.hca, &c->monitor);
}

/* --- life --- */

void checker_hear_platform(struct checker *c, struct platform_ops *ops)
{
	threads_hear(c, c->host.platform);
	c->ops = c->host.platform->ops;
	*ops = *c->ops;
	c->host.platform->ops = ops;
	checkers[c->host.platform->host] = c;
}

static void hear(struct checker *c, const struct checker_host *host)
{
	static struct platform_ops ops; /* one kind of host */

	checker_hear_platform(c, &ops);
	ops.mmio_write = op_mmio_write;
	ops.mmio_read = op_mmio_read;
	ops.config_read = op_config_read;
	ops.config_write = op_config_write;
	ops.irq_request = op_irq_request;
	ops.irq_free = op_irq_free;
	ops.mmio_copy64 = op_mmio_copy64;
	ops.pages_alloc = op_pages_alloc;
	ops.pages_free = op_pages_free;
	ops.user_free = op_user_free;
	ops.waitq_create = op_waitq_create;
	ops.waitq_destroy = op_waitq_destroy;
	ops.dma_map = op_dma_map;
	ops.dma_unmap = op_dma_unmap;
	checker_hear_device(c);
	c->listener = (struct callout_listener){.ctx = c,
						.load = on_load,
						.store = on_store,
						.fence = on_fence,
						.copied = on_copied};
	callouts_watch(host->memory, host->bytes);
	callout_listen(&c->listener);
}

static size_t shadow_bytes(const struct checker *c)
{
	return c->host.bytes / WORD * sizeof(struct stored);
}

bool checker_shadow(struct checker *c)
{
	/* only what the driver touches takes memory */
	void *shadow = mmap(NULL, shadow_bytes(c), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	c->shadow = shadow == MAP_FAILED ? NULL : shadow;
	return c->shadow;
}

void checker_free(struct checker *c)
{
	late_destroy(c->late);
	own_destroy(c->own);
	claims_destroy(c->claims);
	order_destroy(c->order);
	if (c->shadow)
		munmap(c->shadow, shadow_bytes(c));
	reports_free(c);
	free(c);
}

struct checker *checker_new(const struct checker_host *host)
{
	struct checker *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->host = *host;
	c->tell = checker_report;
	c->place = report_place;
	return c;
}

struct checker *checker_create(const struct checker_host *host)
{
	struct checker *c = checker_new(host);

	if (!c)
		return NULL;
	c->order = order_create(c);
	c->claims = claims_create(c);
	c->own = own_create(c);
	if (host->order != CFG_ORDER_PROGRAM)
		c->late = late_create(host->order, host->seed);
	if (!c->order || !c->claims || !c->own || !checker_shadow(c) ||
	    (host->order != CFG_ORDER_PROGRAM && !c->late)) {
		checker_free(c);
		return NULL;
	}
	hear(c, host);
	return c;
}

void checker_destroy(struct checker *c)
{
	if (!c)
		return;
	callout_leave(&c->listener);
	taken_forget(c);
	c->host.platform->ops = c->ops;
	threads_leave(c->host.platform);
	checkers[c->host.platform->host] = NULL;
	checker_free(c);
}

void checker_device_reads(struct checker *c, uint64_t bus, void *bytes, size_t len, uint64_t now_ps)
{
	if (c->late)
		late_device_reads(c->late, checker_address(c, bus), bytes, len, now_ps);
}
