/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection management rejects a REQ by itself, before a user sees it: the reason that it gives must be
 * true of the REQ and of the port that it came to (IBA 12.6.7.2).
 */
#ifndef TESTBENCH_DSAN_MADS_REJECTS_H
#define TESTBENCH_DSAN_MADS_REJECTS_H

#include <rdma/ib_cm.h>

#include <stdint.h>

struct checker;
struct cm_device;
struct cm_req;

/* The MTU is that of the port, enum ib_mtu; pc is in the function that rejects. */
void rejects_check(struct checker *c, const struct cm_device *cm, const struct cm_req *req,
		   enum ib_cm_rej_reason reason, unsigned port_mtu, const void *pc);

#endif
