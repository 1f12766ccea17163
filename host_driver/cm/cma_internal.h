/* SPDX-License-Identifier: Apache-2.0 */
/* Between cma.c and cma_connect.c. */
#ifndef HOST_DRIVER_CM_CMA_INTERNAL_H
#define HOST_DRIVER_CM_CMA_INTERNAL_H

#include "host_driver/cm/cma.h"

/* For the process; 0 or -ENOMEM. `listener`: of a CONNECT_REQUEST. */
int cma_event(struct cma_id *id, struct cma_id *listener, enum rdma_cm_event_type type, int status,
	      const struct rdma_conn_param *conn);
/* Host order. */
uint16_t cma_port(const struct sockaddr_storage *addr);
uint64_t cma_service_id(const struct cma_id *id, const struct sockaddr_storage *addr);
/* ib_cm's handler of a listener; its context is the struct cma_id. */
int cma_listen_handler(struct ib_cm_id *ib, const struct ib_cm_event *event);

#endif
