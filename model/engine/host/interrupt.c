/* SPDX-License-Identifier: Apache-2.0 */
/* See interrupt.h. */
#include "model/engine/host/interrupt.h"

#include "model/engine/base/engine.h"
#include "model/engine/host/pci_config.h"
#include "model/engine/host/pcie.h"
#include "model/interface/regs.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_interrupt.h"

#include <stdlib.h>
#include <string.h>

/* An entry of the MSI-X table: PCI 3.0, 6.8.2. */
enum {
	ENTRY_ADDRESS = 0,
	ENTRY_ADDRESS_HIGH = 4,
	ENTRY_DATA = 8,
	ENTRY_CONTROL = 12,
	ENTRY_MASKED = 1,
};

struct vector {
	struct event ev; /* moderation: the time at which the next message may leave */
	struct hca *hca;
	uint64_t last_ps; /* time of the latest message */
	uint8_t entry[HCA_MSIX_ENTRY_SIZE];
	bool sent, pending;
};

struct interrupt {
	struct hca *hca;
	bool enabled, function_masked;
	bool intx_off, intx_pending, intx_level;
	struct vector vectors[HCA_MSIX_VECTORS];
};

static uint32_t le32(const uint8_t *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

unsigned interrupt_vectors(const struct hca *hca)
{
	const unsigned device = pci_config_identity(hca)->vectors_max;

	return param_hca_msix_vectors(hca->params) < device
		       ? (unsigned)param_hca_msix_vectors(hca->params)
		       : device;
}

static bool masked(const struct interrupt *interrupt, const struct vector *v)
{
	return interrupt->function_masked || v->entry[ENTRY_CONTROL] & ENTRY_MASKED;
}

static void message_send(struct hca *hca, struct vector *v)
{
	unsigned number = (unsigned)(v - hca->interrupt->vectors);

	v->pending = false;
	v->sent = true;
	v->last_ps = hca_now(hca);
	hca->stats.interrupt_raised++;
	HCA_TRACE(hca, TP_IRQ_RAISE, .args = {number});
	pcie_message(hca, number,
		     le32(v->entry + ENTRY_ADDRESS) | (uint64_t)le32(v->entry + ENTRY_ADDRESS_HIGH)
							      << 32,
		     le32(v->entry + ENTRY_DATA),
		     hca_now(hca) + param_interrupt_latency(hca->params));
	/* The message has been reserved last, so this is its landing time: everything sent before
	 * it lands earlier. */
	HCA_TRACE(hca, TP_IRQ_RUN, .args = {hca_writes_landed_ps(hca), number});
}

/* A message is wanted. Sends it now if that is allowed. Otherwise it is sent when the vector is
 * unmasked, or when the moderation time is over. */
static void vector_deliver(struct hca *hca, struct vector *v)
{
	uint64_t moderation = param_interrupt_moderation(hca->params);

	if (event_is_set(&v->ev))
		return;
	if (masked(hca->interrupt, v)) {
		if (!v->pending) {
			hca->stats.interrupt_masked++;
			HCA_TRACE(hca, TP_IRQ_PEND,
				  .args = {(uint64_t)(v - hca->interrupt->vectors)});
		}
		v->pending = true;
		return;
	}
	if (moderation && v->sent && v->last_ps + moderation > hca_now(hca)) {
		event_set(hca->core, &v->ev, v->last_ps + moderation);
		return;
	}
	message_send(hca, v);
}

static void moderation_over(struct event *ev)
{
	struct vector *v = (struct vector *)(void *)ev;

	if (v->hca->interrupt->enabled)
		vector_deliver(v->hca, v);
}

struct interrupt *interrupt_create(struct hca *hca)
{
	struct interrupt *interrupt = memory_create(1, sizeof(*interrupt), "interrupts");

	interrupt->hca = hca;
	for (unsigned i = 0; i < HCA_MSIX_VECTORS; i++) {
		interrupt->vectors[i].hca = hca;
		interrupt->vectors[i].ev.job = moderation_over;
		interrupt->vectors[i].entry[ENTRY_CONTROL] = ENTRY_MASKED;
	}
	return interrupt;
}

void interrupt_destroy(struct interrupt *interrupt)
{
	if (!interrupt)
		return;
	for (unsigned i = 0; i < HCA_MSIX_VECTORS; i++)
		event_cancel(interrupt->hca->core, &interrupt->vectors[i].ev);
	free(interrupt);
}

/* Sets the interrupt line if an INTx interrupt is pending, unless MSI-X is used or the command
 * register forbids it. */
static void intx_update(struct hca *hca)
{
	struct interrupt *interrupt = hca->interrupt;
	bool level = interrupt->intx_pending && !interrupt->enabled && !interrupt->intx_off;

	if (level == interrupt->intx_level)
		return;
	interrupt->intx_level = level;
	pcie_intx(hca, level, hca_now(hca) + (level ? param_interrupt_latency(hca->params) : 0));
}

void interrupt_reset(struct hca *hca)
{
	struct interrupt *interrupt = hca->interrupt;

	for (unsigned i = 0; i < HCA_MSIX_VECTORS; i++) {
		struct vector *v = &interrupt->vectors[i];

		event_cancel(hca->core, &v->ev);
		memset(v->entry, 0, sizeof(v->entry));
		v->entry[ENTRY_CONTROL] = ENTRY_MASKED;
		v->pending = v->sent = false;
	}
	interrupt->intx_pending = false;
	intx_update(hca);
}

void interrupt_raise(struct hca *hca, unsigned vector)
{
	struct interrupt *interrupt = hca->interrupt;

	if (!interrupt->enabled) {
		interrupt->intx_pending = true;
		intx_update(hca);
		return;
	}
	if (vector >= interrupt_vectors(hca)) {
		guest_error(hca, RULE_object_dead, guest_object(GUEST_VECTOR, vector),
			    "an event queue names interrupt vector %u, the device has %u", vector,
			    interrupt_vectors(hca));
		return;
	}
	vector_deliver(hca, &interrupt->vectors[vector]);
}

static void pending_deliver(struct hca *hca, struct vector *v)
{
	if (v->pending && hca->interrupt->enabled && !masked(hca->interrupt, v))
		vector_deliver(hca, v);
}

void interrupt_table_write(struct hca *hca, uint32_t offset, const void *bytes, unsigned size)
{
	const uint8_t *b = bytes;
	struct vector *v = &hca->interrupt->vectors[offset / HCA_MSIX_ENTRY_SIZE];

	memcpy(v->entry + offset % HCA_MSIX_ENTRY_SIZE, b, size);
	memset(v->entry + ENTRY_CONTROL + 1, 0, HCA_MSIX_ENTRY_SIZE - ENTRY_CONTROL - 1);
	v->entry[ENTRY_CONTROL] &= ENTRY_MASKED;
	pending_deliver(hca, v);
}

void interrupt_table_read(struct hca *hca, uint32_t offset, void *bytes, unsigned size)
{
	const struct vector *v = &hca->interrupt->vectors[offset / HCA_MSIX_ENTRY_SIZE];

	memcpy(bytes, v->entry + offset % HCA_MSIX_ENTRY_SIZE, size);
}

void interrupt_pba_read(struct hca *hca, uint32_t offset, void *bytes, unsigned size)
{
	uint8_t *b = bytes;

	for (unsigned i = 0; i < size; i++) {
		const struct vector *v = &hca->interrupt->vectors[(offset + i) * 8];

		b[i] = 0;
		for (unsigned bit = 0; bit < 8; bit++)
			b[i] |= (uint8_t)(v[bit].pending << bit);
	}
}

void interrupt_vector_look(const struct hca *hca, unsigned vector, bool *is_masked,
			   bool *is_pending)
{
	const struct vector *v = &hca->interrupt->vectors[vector];

	*is_masked = masked(hca->interrupt, v);
	*is_pending = v->pending;
}

void interrupt_control(struct hca *hca, bool enabled, bool function_masked)
{
	struct interrupt *interrupt = hca->interrupt;
	bool changed =
		enabled != interrupt->enabled || function_masked != interrupt->function_masked;

	interrupt->enabled = enabled;
	interrupt->function_masked = function_masked;
	if (!changed)
		return;
	intx_update(hca);
	for (unsigned i = 0; i < interrupt_vectors(hca); i++)
		pending_deliver(hca, &interrupt->vectors[i]);
}

void interrupt_intx_control(struct hca *hca, bool disabled)
{
	hca->interrupt->intx_off = disabled;
	intx_update(hca);
}

void interrupt_clear_intx(struct hca *hca)
{
	hca->interrupt->intx_pending = false;
	intx_update(hca);
}

bool interrupt_intx_pending(const struct hca *hca)
{
	return hca->interrupt->intx_pending && !hca->interrupt->enabled;
}
