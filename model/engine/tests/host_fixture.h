/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the stages between host and packet path: an HCA that has only these, a flat host
 * memory, and contexts and translations that the test lays out. Calls of other stages are recorded.
 * Each file of the engine is either used as a whole, or all of its functions that are called are
 * fakes here.
 */
#ifndef MODEL_ENGINE_TESTS_HOST_FIXTURE_H
#define MODEL_ENGINE_TESTS_HOST_FIXTURE_H

#include "model/engine/memory/context_cache.h"
#include "model/engine/complete/cqe_write.h"
#include "model/engine/chip/doorbell.h"
#include "model/engine/base/engine.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/host/interrupt.h"
#include "model/engine/host/pci_config.h"
#include "model/engine/chip/pci_function.h"
#include "model/engine/host/pcie.h"
#include "model/engine/chip/processor.h"
#include "model/engine/receive/responder.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/translate.h"
#include "model/interface/contexts.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/sim/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	MEMORY_BUS = 0x100000,
	MEMORY_SIZE = 0x40000,
	FX_CONTEXTS = 64,
	FX_RECORDS = 256,
	FX_COMMAND = 0x04, /* offset in configuration space */
	FX_MEMORY_AND_MASTER = 0x6,
	FX_FIRMWARE_PC = 0x80000010,
};

struct fixture {
	struct hca hca;
	struct event_core core;
	struct hca_params params;
	uint8_t memory[MEMORY_SIZE];

	unsigned errors;
	char last_rule[64], last_text[256];
	struct {
		unsigned vector;
		uint64_t address, at_ps;
		uint32_t data;
	} irqs[FX_RECORDS];
	unsigned n_irqs;
	bool intx;
	unsigned intx_changes;

	unsigned resets, catastrophes;
	uint32_t raised;
	uint32_t armed_cqn; /* the CQ that the responder was told of */
	struct {
		uint32_t qpn, uar;
		bool blueflame;
		uint16_t index;
		unsigned len;
		uint8_t bytes[1024];
	} rings[FX_RECORDS];
	unsigned n_rings;

	bool valid[CONTEXT_SRQ + 1][FX_CONTEXTS];
	uint8_t contexts[CONTEXT_SRQ + 1][FX_CONTEXTS][256];
	bool context_miss, translate_miss, translate_fail;
	bool flush_wait;
	void (*flushed)(void *arg, int status);
	void *flushed_arg;
	struct waiter_queue waiters;
	unsigned n_lost; /* lost completions */
	uint32_t lost_qpn;
};

static struct fixture fx;

/* --- fakes --- */

void processor_raise(struct hca *hca, uint32_t causes)
{
	fx.raised |= causes;
}

void processor_dump(const struct hca *hca, struct err_buf *errors)
{
	err_buf_set_pc(errors, FX_FIRMWARE_PC);
}

void responder_cq_armed(struct hca *hca, uint32_t cqn)
{
	fx.armed_cqn = cqn;
}

void scheduler_doorbell(struct hca *hca, uint32_t qpn, uint32_t uar)
{
	fx.rings[fx.n_rings].qpn = qpn;
	fx.rings[fx.n_rings++].uar = uar;
}

void scheduler_blueflame(struct hca *hca, uint32_t qpn, uint16_t index, const uint8_t *wqe,
			 unsigned len, uint32_t uar)
{
	fx.rings[fx.n_rings].blueflame = true;
	fx.rings[fx.n_rings].index = index;
	fx.rings[fx.n_rings].len = len;
	memcpy(fx.rings[fx.n_rings].bytes, wqe, len);
	scheduler_doorbell(hca, qpn, uar);
}

int context_get(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
		void **bytes, const char *why)
{
	if (number >= FX_CONTEXTS || !fx.valid[use][number])
		return -ENOENT;
	if (fx.context_miss) {
		waiter_queue_add(&fx.waiters, w);
		return -EAGAIN;
	}
	*bytes = fx.contexts[use][number];
	return 0;
}

void context_changed(struct hca *hca, enum context_use use, uint32_t number)
{
}

void context_flush(struct hca *hca, enum context_use use, uint32_t number, bool drop,
		   void (*done)(void *arg, int status), void *arg)
{
	fx.flushed = done;
	fx.flushed_arg = arg;
	if (!fx.flush_wait)
		done(arg, 0);
}

/* A buffer is contiguous. Its MTT address is its bus address. */
int translate_queue(struct hca *hca, uint64_t mtt_addr, unsigned log_page_size, uint64_t offset,
		    struct waiter *w, uint64_t *bus, uint32_t *contiguous, uint32_t qpn)
{
	if (fx.translate_miss) {
		waiter_queue_add(&fx.waiters, w);
		return -EAGAIN;
	}
	if (fx.translate_fail)
		return TRANSLATE_NO_PAGE;
	*bus = mtt_addr + offset;
	*contiguous = 4096 - (uint32_t)(*bus % 4096);
	return 0;
}

/* --- upward calls --- */

static void fx_soft_reset(struct hca *hca)
{
	fx.resets++;
	pcie_reset(hca);
	doorbell_reset(hca);
	cqe_write_reset(hca);
	event_queue_reset(hca);
	pci_function_reset(hca);
}

static void fx_catastrophe(struct hca *hca, void (*told)(void *hca), enum err_buf_cause code,
			   uint32_t detail, const char *text)
{
	fx.catastrophes++;
}

static void fx_completion_lost(struct hca *hca, uint32_t qpn)
{
	fx.n_lost++;
	fx.lost_qpn = qpn;
}

static const struct hca_calls fx_calls = {
	.bar_write = pci_function_write,
	.bar_read = pci_function_read,
	.completion_lost = fx_completion_lost,
	.catastrophe = fx_catastrophe,
	.soft_reset = fx_soft_reset,
};

/* --- host memory --- */

static int fx_dma_read(void *ctx, uint64_t bus, void *buf, size_t len)
{
	if (bus < MEMORY_BUS || bus + len > MEMORY_BUS + MEMORY_SIZE)
		return -EFAULT;
	memcpy(buf, fx.memory + (bus - MEMORY_BUS), len);
	return 0;
}

static int fx_dma_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	if (bus < MEMORY_BUS || bus + len > MEMORY_BUS + MEMORY_SIZE)
		return -EFAULT;
	memcpy(fx.memory + (bus - MEMORY_BUS), buf, len);
	return 0;
}

static void fx_irq(void *ctx, unsigned vector, uint64_t address, uint32_t data)
{
	fx.irqs[fx.n_irqs].vector = vector;
	fx.irqs[fx.n_irqs].address = address;
	fx.irqs[fx.n_irqs].at_ps = fx.core.now_ps;
	fx.irqs[fx.n_irqs++].data = data;
}

static void fx_intx(void *ctx, bool asserted)
{
	fx.intx = asserted;
	fx.intx_changes++;
}

static void fx_guest_error(void *ctx, const struct guest_error *error)
{
	fx.errors++;
	strncpy(fx.last_rule, error->name, sizeof(fx.last_rule) - 1);
	strncpy(fx.last_text, error->text, sizeof(fx.last_text) - 1);
}

/* --- the HCA --- */

static inline int fx_start(void **state)
{
#define P(section, key, unit, def, ...) .section##_##key = (def),
	static const struct hca_params defaults = {HCA_PARAMS(P)};
#undef P
	struct hca *hca = &fx.hca;

	memset(&fx, 0, sizeof(fx));
	fx.params = defaults;
	event_core_init(&fx.core);
	hca->params = &fx.params;
	hca->core = &fx.core;
	hca->calls = &fx_calls;
	hca->env = (struct hca_env){.dma_read = fx_dma_read,
				    .dma_write = fx_dma_write,
				    .irq_raise = fx_irq,
				    .intx = fx_intx,
				    .guest_error = fx_guest_error};
	for (unsigned table = 0; table < FW_TABLE_COUNT; table++)
		hca->tables[table].log_num = 6; /* FX_CONTEXTS */
	hca->pcie = pcie_create(hca);
	hca->config = pci_config_create(pci_function_identity(hca->params));
	hca->pci = pci_function_create(hca);
	hca->interrupt = interrupt_create(hca);
	hca->doorbell = doorbell_create(hca);
	hca->event_queue = event_queue_create(hca);
	hca->cqe_write = cqe_write_create(hca);
	pci_function_reset(hca);
	pci_config_reset(hca);
	hca_config_write(hca, FX_COMMAND, 2, FX_MEMORY_AND_MASTER);
	return 0;
}

static inline int fx_finish(void **state)
{
	struct hca *hca = &fx.hca;

	cqe_write_destroy(hca->cqe_write);
	event_queue_destroy(hca->event_queue);
	doorbell_destroy(hca->doorbell);
	interrupt_destroy(hca->interrupt);
	pci_function_destroy(hca->pci);
	pci_config_destroy(hca->config);
	pcie_destroy(hca->pcie);
	event_core_free(&fx.core);
	return 0;
}

static inline void fx_run(void)
{
	while (fx.core.count)
		event_core_step(&fx.core);
}

/* What the stage has waited for is there now. */
static inline void fx_there(void)
{
	fx.context_miss = fx.translate_miss = false;
	waiter_queue_wake(&fx.waiters);
}

static inline void fx_bar_write32(unsigned bar, uint64_t offset, uint32_t value)
{
	uint8_t bytes[4];

	be32_store(bytes, value);
	hca_mmio_write_now(&fx.hca, bar, offset, bytes, sizeof(bytes));
}

static inline uint32_t fx_bar_read32(unsigned bar, uint64_t offset)
{
	uint8_t bytes[4];

	hca_mmio_read_now(&fx.hca, bar, offset, bytes, sizeof(bytes));
	return be32_load(bytes);
}

/* Enables MSI-X and opens vector `vector` with a message of its own. */
static inline void fx_vector_open(unsigned vector)
{
	const uint8_t entry[16] = {0x00, 0x00, 0xe0, 0xfe, 0, 0, 0, 0, (uint8_t)vector, 0x40};
	const unsigned control = HCA_PCI_CAP_MSIX + 2;

	for (unsigned i = 0; i < sizeof(entry); i += 4)
		hca_mmio_write_now(&fx.hca, 0, 0x7c000 + vector * 16 + i, entry + i, 4);
	hca_config_write(&fx.hca, control, 2, 0x8000);
}

#define expect_errors(n, rule)                                                                     \
	do {                                                                                       \
		assert_int_equal(fx.errors, n);                                                    \
		if (n)                                                                             \
			assert_string_equal(fx.last_rule, rule);                                   \
	} while (0)

#endif
