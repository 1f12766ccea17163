/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts of a device as a vfio-user client sets them up: an event file descriptor a vector.
 * from: the HCA (struct hca_env), SET_IRQS; to: the client's descriptors.
 *
 * The client keeps the MSI-X table from us and tells by SET_IRQS which vectors can be delivered: a
 * vector with a descriptor is unmasked in the device's table, one without is masked and pends
 * there. A message that was on its way when its descriptor was taken is kept here and delivered
 * when the next one comes. INTx is level-triggered and masks itself when it has signalled, until
 * the client unmasks it: <linux/vfio.h>.
 *
 * The client has the descriptors too, and can make one block at any moment: it clears O_NONBLOCK,
 * which belongs to what is open and not to who has it, and fills the counter. A timer interrupts
 * such a write.
 */
#ifndef MODEL_VFIO_USER_IRQS_H
#define MODEL_VFIO_USER_IRQS_H

#include "model/interface/regs.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct hca;

struct irq_line {
	int fd; /* -1: none */
	bool latched;
};

struct irqs {
	struct hca *hca;
	struct irq_line msix[HCA_MSIX_VECTORS];
	int intx_fd, error_fd, request_fd;
	bool intx_level, intx_masked;
	uint64_t signalled; /* event file descriptors written */
	timer_t alarm;      /* goes off while a write takes too long */
	bool has_alarm;
	bool blocked; /* one took too long: nothing is written any more */
};

/* In the thread that will signal. */
void irqs_init(struct irqs *irqs, struct hca *hca);
void irqs_free(struct irqs *irqs);
/* Closes every descriptor, forgets what is latched. */
void irqs_clear(struct irqs *irqs);
/* The device was reset: what was latched is void, its table is masked; descriptors stay. */
void irqs_device_reset(struct irqs *irqs);

/* Interrupts of a kind (enum vfu_irq), 0 when there are none. */
unsigned irqs_count(const struct irqs *irqs, unsigned kind);
/* What GET_IRQ_INFO says. */
uint32_t irqs_flags(unsigned kind);

/*
 * SET_IRQS: request[0..len), at least its fixed part. Takes over those of fds[0..n_fds) that it
 * uses and sets them to -1. 0, -EINVAL, -EOPNOTSUPP.
 */
int irqs_set(struct irqs *irqs, const uint8_t *request, uint32_t len, int *fds, unsigned n_fds);

void irqs_msix(struct irqs *irqs, unsigned vector);
void irqs_intx(struct irqs *irqs, bool asserted);

#endif
