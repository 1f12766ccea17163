/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iWARP connections as librdmacm tells of them: ids of RDMA_PS_TCP that resolve, connect, listen,
 * accept, reject and disconnect, with the events of <rdma/rdma_cma.h>. It stands on iw_cm.h as
 * Linux's rdma_cm stands on iw_cm. Nothing blocks; events come by a call.
 *
 * A call returns 0 or -errno; -EINVAL: the id's state is not right for it. An id may be destroyed
 * from its own event.
 */
#ifndef HOST_DRIVER_IWARP_RDMA_IW_H
#define HOST_DRIVER_IWARP_RDMA_IW_H

#include "host_driver/iwarp/iw_cm.h"

#include <rdma/rdma_cma.h>

struct rdma_iw_id;

struct rdma_iw_event {
	enum rdma_cm_event_type event;
	int status;
	struct rdma_iw_id *id;       /* CONNECT_REQUEST: new */
	const uint8_t *private_data; /* during the call only */
	uint16_t private_data_len;
	uint16_t responder_resources, initiator_depth; /* for rdma_connect or rdma_accept here */
};

/* An id's user; arg is the id's, for CONNECT_REQUEST the listener's. */
typedef void rdma_iw_handler(void *arg, const struct rdma_iw_event *event);

int rdma_iw_create_id(struct iw_host *host, rdma_iw_handler *handler, void *arg,
		      struct rdma_iw_id **id);
void rdma_iw_destroy_id(struct rdma_iw_id *id);
/* For the id of a CONNECT_REQUEST. */
void rdma_iw_set_context(struct rdma_iw_id *id, void *arg);

/* ADDR_RESOLVED, then ROUTE_RESOLVED follow at once: there is one Ethernet link. */
int rdma_iw_resolve_addr(struct rdma_iw_id *id, struct iw_address to);
int rdma_iw_resolve_route(struct rdma_iw_id *id);
/* ESTABLISHED, REJECTED, UNREACHABLE or CONNECT_ERROR follows. `options` NULL: the defaults. */
int rdma_iw_connect(struct rdma_iw_id *id, const struct iw_options *options, const uint8_t *pdata,
		    uint16_t len);
int rdma_iw_listen(struct rdma_iw_id *id, uint16_t port, const struct iw_options *options);
/* ESTABLISHED follows: at once where the client's program sends first, as in Linux; else when the
 * client is ready. Or DISCONNECTED. */
int rdma_iw_accept(struct rdma_iw_id *id, const uint8_t *pdata, uint16_t len);
int rdma_iw_reject(struct rdma_iw_id *id, const uint8_t *pdata, uint16_t len);
/* DISCONNECTED follows, at the peer too. */
int rdma_iw_disconnect(struct rdma_iw_id *id);

/* The connection, for iw_post_send() and iw_post_recv(); NULL: none. */
struct iw_cm_id *rdma_iw_connection(struct rdma_iw_id *id);

#endif
