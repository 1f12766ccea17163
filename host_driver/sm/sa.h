/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subnet administration of the small subnet manager (sm.h): answers SubnAdmGet(PathRecord) and
 * SubnAdmGet(ClassPortInfo) that come to QP1 of its port, from what both ends of the cable say of
 * themselves at the start. It runs in the port's agents.
 *
 * Source: IBA vol. 1, ch. 15 (PathRecord: 15.2.5.16). A Get of paths gives the first that fits, as
 * OpenSM does, when there are several (LMC, both directions of a search without source). Without
 * RMPP there is no GetTable: it is refused with "method and attribute do not go together".
 */
#ifndef HOST_DRIVER_SM_SA_H
#define HOST_DRIVER_SM_SA_H

#include "host_driver/sm/sm.h"

enum { SA_PORTS = 2, SA_LIFE_TIME = 12 /* 4.096 us * 2^12: 16.8 ms; below 18, the subnet's */ };

struct sm_sa;

/* The port is ACTIVE. 0, -ENOMEM, -EBUSY (it has one), -ENODEV, or what sm_discover gives.
 * `life_time` is the packet life time of all paths, code; 0: SA_LIFE_TIME. */
int sm_sa_start(struct drv_device *dev, unsigned port, unsigned life_time, struct sm_sa **sa);
void sm_sa_stop(struct sm_sa *sa);

#endif
