/*
 * Responder resources: READs and atomics that a requester may ask for again, kept in the QP's RDMARC entries in ICM.
 * from: responder; to: pcie. Time: [hca.atomic_read]: atomics are serialised in the device.
 */
#ifndef MODEL_ENGINE_ATOMIC_READ_H
#define MODEL_ENGINE_ATOMIC_READ_H

#include <stdbool.h>
#include <stdint.h>

struct qp;
struct packet;
struct waiter;

/* Executes a READ or atomic request (new or duplicate) whose access has been checked; responses go through the responder's response queue. 0, -EAGAIN, verdict < 0. */
int atomic_read_execute(struct qp *qp, struct packet *request, bool duplicate, struct waiter *w);

#endif
