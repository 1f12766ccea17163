/* SPDX-License-Identifier: Apache-2.0 */
/* The send queue for code that builds WQEs itself: post.c for work requests, mad.c for MADs. */
#ifndef HOST_DRIVER_MLX4_POST_H
#define HOST_DRIVER_MLX4_POST_H

#include "host_driver/mlx4/mlx4_internal.h"

void *drv_sq_slot(const struct drv_qp *qp, uint32_t index);
/* Sets owner bits and stamps of a queue that the device has not used yet (after RST). */
void drv_sq_init(struct drv_qp *qp);
bool drv_sq_full(const struct drv_qp *qp);
/* Gives the WQE at head to the device. Only its owner bit is missing. */
void drv_sq_commit(struct drv_qp *qp, uint64_t wr_id);
void drv_sq_doorbell(struct drv_qp *qp);

#endif
