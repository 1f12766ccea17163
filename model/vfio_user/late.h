/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delays interrupts to a guest on purpose, as on a busy machine where the guest's processors must
 * wait. A driver that depends on quick interrupts then meets a device that has gone on. from: the
 * HCA; to: irqs.
 */
#ifndef MODEL_VFIO_USER_LATE_H
#define MODEL_VFIO_USER_LATE_H

#include "model/engine/base/event_core.h"
#include "model/interface/regs.h"

struct irqs;
struct late;

struct late_vector {
	struct event event; /* first: cast back. Set: an interrupt is on its way */
	struct late *late;
	unsigned vector;
};

struct late {
	struct event_core *core;
	struct irqs *irqs;
	uint64_t delay_ps; /* 0: at once */
	struct late_vector vectors[HCA_MSIX_VECTORS];
};

void late_init(struct late *late, struct event_core *core, struct irqs *irqs);
/* Forgets the interrupts that are on their way. */
void late_clear(struct late *late);
/* Sends a message; it is merged with one of the same vector that is on its way. */
void late_msix(struct late *late, unsigned vector);

#endif
