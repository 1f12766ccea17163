/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subnet administration of the small subnet manager (sm.h). It answers SubnAdmGet(PathRecord) and
 * SubnAdmGet(ClassPortInfo) that come to QP1 of its port. The answers are made from what both ends
 * of the cable said about themselves when it was started. It runs in the port's agents.
 *
 * A Get of paths returns the first path that fits, as OpenSM does, where there are several (LMC, or
 * a search without a source in both directions). There is no RMPP and therefore no GetTable: it is
 * refused with "method and attribute do not go together".
 *
 * Source: IBA vol. 1, ch. 15 (PathRecord: 15.2.5.16).
 */
#ifndef HOST_DRIVER_SM_SA_H
#define HOST_DRIVER_SM_SA_H

#include "host_driver/sm/sm.h"

enum { SA_PORTS = 2, SA_LIFE_TIME = 12 /* 4.096 us * 2^12: 16.8 ms; below 18, the subnet's */ };

struct sm_sa;

/* Starts it. The port must be ACTIVE. `life_time` is the code of the packet life time of all paths;
 * 0: SA_LIFE_TIME. 0, -ENOMEM, -EBUSY (the port has one already), -ENODEV, or an error of
 * sm_discover(). */
int sm_sa_start(struct drv_device *dev, unsigned port, unsigned life_time, struct sm_sa **sa);
void sm_sa_stop(struct sm_sa *sa);

#endif
