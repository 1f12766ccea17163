/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that is late on purpose: interrupts reach it some time after the device has sent them, as
 * when its processors had to wait for theirs. Drivers that order a command and an answer to its
 * interrupt meet a device that has gone on meanwhile. from: the HCA; to: irqs.
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
/* What is on its way is void. */
void late_clear(struct late *late);
/* Sends a message, or lets it join one of the same vector that is on its way. */
void late_msix(struct late *late, unsigned vector);

#endif
