/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion events: each one must be counted for the CQ that it names, and the driver's own threads
 * sleep for one only when the CQ is armed and was found empty since.
 */
#ifndef TESTBENCH_DSAN_OWN_CQ_WAITS_H
#define TESTBENCH_DSAN_OWN_CQ_WAITS_H

#include "host_driver/mlx4/mlx4.h"

#include <stdint.h>

struct checker;
struct eqe;

void cq_waits_made(struct checker *c, const struct drv_cq *cq);
void cq_waits_gone(const struct drv_cq *cq, uint32_t cqn);
void cq_waits_forget(const struct checker *c);
/* It is armed now; a poll, or a look without one, has found no further completion. */
void cq_waits_armed(const struct drv_cq *cq);
void cq_waits_empty(const struct drv_cq *cq);
/* A thread waits for an event of the CQ, and has got one. */
void cq_waits_sleep(const struct drv_cq *cq, const void *pc);
void cq_waits_awake(const struct drv_cq *cq);
/* The driver has looked at an EQE; it is done with those so far. */
void cq_waits_eqe(struct checker *c, const struct eqe *e, const void *pc);
void cq_waits_eqes_end(struct checker *c, const void *pc);
/* The functions that the handler of its last event came by. */
void cq_waits_event_by(const struct checker *c, uint32_t cqn, char *text, size_t size);

#endif
