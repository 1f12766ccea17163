/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose the memory of a receive is: that of the driver's own queue pairs, which it reads itself. From the
 * call that posts it until its completion is taken it is the device's.
 */
#ifndef TESTBENCH_DSAN_OWN_RECEIVES_H
#define TESTBENCH_DSAN_OWN_RECEIVES_H

#include "host_driver/mlx4/mlx4.h"

#include <stdint.h>

struct checker;

void receives_posted(struct checker *c, const struct drv_qp *qp, const struct drv_recv_wr *wr);
void receives_taken(const struct checker *c, unsigned n, const struct drv_wc *wc);
/* The queue pair has gone; 0: all of them. */
void receives_gone(const struct checker *c, uint32_t qpn);
void receives_load(struct checker *c, uintptr_t at, const void *pc);

#endif
