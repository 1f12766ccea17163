/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts of a device for a vfio-user client: one eventfd per vector. from: the HCA (struct
 * hca_env), SET_IRQS; to: the client's eventfds.
 *
 * The client handles the MSI-X table itself, and says by SET_IRQS which vectors can be delivered. A
 * vector with an eventfd is unmasked in the device's table. One without is masked, and becomes
 * pending there. If a message is on its way when the eventfd is taken away, it is kept here until
 * the next eventfd comes. INTx is level-triggered: it masks itself after a signal until the client
 * unmasks it (<linux/vfio.h>). A guest in simulated time gets its vectors and the level of INTx from
 * guest_clock instead, without that mask; its eventfds only say what can be delivered.
 *
 * The client shares the eventfds and can make one block at any moment, by clearing O_NONBLOCK
 * (which both sides share) and filling its counter. A timer interrupts such a write.
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
	void (*taker)(void *arg, unsigned vector); /* see irqs_vectors_to(); may be NULL */
	void *taker_arg;
	uint64_t signalled; /* writes to eventfds */
	timer_t alarm;      /* interrupts a write that takes too long */
	bool has_alarm;
	bool blocked; /* a write took too long: write nothing more */
};

/* Call it in the thread that will signal. */
void irqs_init(struct irqs *irqs, struct hca *hca);
void irqs_free(struct irqs *irqs);
/* Closes every eventfd and forgets kept messages. */
void irqs_clear(struct irqs *irqs);
/* After a reset of the device: forgets kept messages and masks the table. The eventfds stay. */
void irqs_device_reset(struct irqs *irqs);

/* The number of interrupts of a kind (enum vfu_irq). */
unsigned irqs_count(const struct irqs *irqs, unsigned kind);
/* The flags for GET_IRQ_INFO. */
uint32_t irqs_flags(unsigned kind);

/*
 * SET_IRQS: request[0..len), at least its fixed part. Takes over those of fds[0..n_fds) that it
 * uses and sets them to -1. 0, -EINVAL, -EOPNOTSUPP.
 */
int irqs_set(struct irqs *irqs, const uint8_t *request, uint32_t len, int *fds, unsigned n_fds);

/*
 * From now on MSI-X vectors that the client has enabled go to `taker`, not to their eventfds, and
 * INTx is not signalled: the taker asks irqs_intx_is_up().
 */
void irqs_vectors_to(struct irqs *irqs, void (*taker)(void *arg, unsigned vector), void *arg);

void irqs_msix(struct irqs *irqs, unsigned vector);
void irqs_intx(struct irqs *irqs, bool asserted);
/* The device asserts INTx, and the client wants to know. */
bool irqs_intx_is_up(const struct irqs *irqs);

#endif
