/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BAR2: UAR pages (send, CQ arm, EQ doorbells) and BlueFlame buffers. from: pci_function; to:
 * scheduler, cqe_write, event_queue. Time: [hca.doorbell] latency. pcie adds it to the time that a
 * BAR2 write takes, so that a doorbell needs no event of its own.
 *
 * BlueFlame: a WQE is gathered from writes of 8 to 64 bytes that come in order and begin at the
 * start of a buffer. When all bytes that its control segment states have come, it goes to the
 * scheduler. A gap or an overtaking write is a guest error (blueflame_mismatch), and the WQE is
 * fetched from memory as after a send doorbell. Source: mlx4 UAR layout; libmlx4 mlx4_post_send,
 * mlx4_arm_cq; mlx4 eq.c eq_set_ci.
 */
#ifndef MODEL_ENGINE_DOORBELL_H
#define MODEL_ENGINE_DOORBELL_H

#include <stdint.h>

struct hca;

struct doorbell *doorbell_create(struct hca *hca);
void doorbell_destroy(struct doorbell *doorbell);
void doorbell_reset(struct hca *hca);
/*
 * The QP is reset. A program that is killed may have written one half of a BlueFlame WQE, and the next
 * one that gets its UAR page begins with the first buffer again: neither is an error of a driver.
 */
void doorbell_qp_gone(struct hca *hca, uint32_t qpn);
void doorbell_write(struct hca *hca, uint64_t offset, const void *bytes, unsigned size);

#endif
