/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by cma.c, cma_connect.c, cma_roce.c and cma_ud.c only. */
#ifndef HOST_DRIVER_CM_CMA_IMPL_H
#define HOST_DRIVER_CM_CMA_IMPL_H

#include "host_driver/cm/cma.h"

/* Queues an event for the process. `listener`: for a CONNECT_REQUEST. 0 or -ENOMEM. */
int cma_event(struct cma_id *id, struct cma_id *listener, enum rdma_cm_event_type type, int status,
	      const union cma_param *param);
/* The port number in host byte order. */
uint16_t cma_port(const struct sockaddr_storage *addr);
uint64_t cma_service_id(const struct cma_id *id, const struct sockaddr_storage *addr);
/* Fills the private data of a message, which is zeroed: the header of annex A11, then the caller's
 * private data. */
void cma_data_fill(const struct cma_id *id, const void *private_data, unsigned len, uint8_t *data);
/* ib_cm's handler of an id for datagrams (SIDR). */
int cma_ud_handler(struct ib_cm_id *ib, const struct ib_cm_event *event);
int cma_ud_connect(struct cma_id *id, const struct rdma_conn_param *param);
int cma_ud_reply(struct cma_id *id, enum ib_cm_sidr_status status,
		 const struct rdma_conn_param *param);
/* ib_cm's handler of a listener; its context is the struct cma_id. */
int cma_listen_handler(struct ib_cm_id *ib, const struct ib_cm_event *event);

/* --- cma_roce.c: Ethernet ports --- */

/* Asks for the MAC of id->dst. The event comes later. */
int cma_roce_resolve_addr(struct cma_id *id, int timeout_ms);
int cma_roce_resolve_route(struct cma_id *id);

#endif
