/* SPDX-License-Identifier: Apache-2.0 */
/* Between cma.c, cma_connect.c and cma_ud.c. */
#ifndef HOST_DRIVER_CM_CMA_IMPL_H
#define HOST_DRIVER_CM_CMA_IMPL_H

#include "host_driver/cm/cma.h"

/* For the process; 0 or -ENOMEM. `listener`: of a CONNECT_REQUEST. */
int cma_event(struct cma_id *id, struct cma_id *listener, enum rdma_cm_event_type type, int status,
	      const union cma_param *param);
/* Host order. */
uint16_t cma_port(const struct sockaddr_storage *addr);
uint64_t cma_service_id(const struct cma_id *id, const struct sockaddr_storage *addr);
/* The header of annex A11, and behind it the caller's private data, into the zeroed data of a
 * message. */
void cma_data_fill(const struct cma_id *id, const void *private_data, unsigned len, uint8_t *data);
/* Of an id whose program uses datagrams: SIDR. */
int cma_ud_handler(struct ib_cm_id *ib, const struct ib_cm_event *event);
int cma_ud_connect(struct cma_id *id, const struct rdma_conn_param *param);
int cma_ud_reply(struct cma_id *id, enum ib_cm_sidr_status status,
		 const struct rdma_conn_param *param);
/* ib_cm's handler of a listener; its context is the struct cma_id. */
int cma_listen_handler(struct ib_cm_id *ib, const struct ib_cm_event *event);

#endif
