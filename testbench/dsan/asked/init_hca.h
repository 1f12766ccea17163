/* SPDX-License-Identifier: Apache-2.0 */
/* What INIT_HCA says, against the tables that the driver has made and what the device can. */
#ifndef TESTBENCH_DSAN_ASKED_INIT_HCA_H
#define TESTBENCH_DSAN_ASKED_INIT_HCA_H

struct ask;
struct drv_device;
struct init_hca;

void init_hca_says(const struct ask *a, const struct drv_device *dev, const struct init_hca *h);

#endif
