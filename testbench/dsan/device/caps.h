/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver makes of the answers of QUERY_FW, QUERY_DEV_CAP and SET_ICM_SIZE: its sizes and limits,
 * and what it tells its users of them. */
#ifndef TESTBENCH_DSAN_DEVICE_CAPS_H
#define TESTBENCH_DSAN_DEVICE_CAPS_H

#include "testbench/dsan/asked/asked.h"

struct dev_cap;
struct drv_icm;
struct drv_profile;

/* Behind drv_cmd_use_events. */
void caps_contexts_check(const struct drv_device *dev);
/* The layout of ICM, as the running call has made it. */
void caps_profile_check(const struct drv_profile *p, const struct dev_cap *cap,
			const struct drv_options *options);
/* The driver has taken its sizes from the capabilities. */
void caps_taken_check(const struct drv_device *dev);
/* Memory is given to the firmware, with MAP_FA or MAP_ICM_AUX. */
void caps_memory_check(const struct drv_device *dev, const struct drv_icm *icm, unsigned opcode);
/* The driver has come up. */
void caps_used_check(const struct ask *a, const struct drv_device *dev);
/* It tells a user. */
void caps_told_check(const struct ask *a, const struct drv_device *dev,
		     const struct drv_device_attr *attr);

#endif
