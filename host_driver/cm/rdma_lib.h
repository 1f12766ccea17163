/* SPDX-License-Identifier: Apache-2.0 */
/* The library's side of rdma_cm: its structures, and what its files share. */
#ifndef HOST_DRIVER_CM_RDMA_LIB_H
#define HOST_DRIVER_CM_RDMA_LIB_H

#include "host_driver/cm/cma.h"
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

#include <errno.h>

struct lib_channel {
	struct rdma_event_channel rdma;
	struct cma_channel *kernel;
};

struct lib_id {
	struct rdma_cm_id rdma;
	struct cma_id *kernel;
	struct ibv_sa_path_rec path;
	uint8_t responder_resources, initiator_depth; /* of the connection request */
	unsigned acknowledged;
	bool own_qp;                              /* the queue pair was made by rdma_create_qp */
	struct ibv_cq *own_send_cq, *own_recv_cq; /* CQs that rdma_create_qp made */
	/* the id has a channel of its own, and calls wait for their events */
	bool sync;
	/* a listener of rdma_create_ep: attributes for the queue pairs of its requests */
	struct ibv_qp_init_attr init;
	struct ibv_pd *init_pd;
	bool has_init;
};

struct lib_event {
	struct rdma_cm_event rdma;
	struct lib_id *counted; /* the id whose acknowledged events it counts for */
	uint8_t data[CMA_DATA];
};

#define LIB_CHANNEL(p) container_of(p, struct lib_channel, rdma)
#define LIB_ID(p)      container_of(p, struct lib_id, rdma)

/* Calls the kernel. 0, or -1 with errno. */
#define CALL(call)                                                                                 \
	({                                                                                         \
		int rc_;                                                                           \
		uv_kernel_enter();                                                                 \
		rc_ = (call);                                                                      \
		uv_kernel_leave();                                                                 \
		rdma_minus_one(rc_);                                                               \
	})

static inline int rdma_minus_one(int rc)
{
	if (!rc)
		return 0;
	errno = -rc;
	return -1;
}

static inline bool rdma_is_ud(const struct rdma_cm_id *id)
{
	return id->qp_type == IBV_QPT_UD;
}

struct uv_process *rdma_process_of(const struct rdma_cm_id *id);
/* Makes an id of that channel, which the kernel's side does not know yet. */
struct lib_id *rdma_id_new(struct rdma_event_channel *channel, void *context,
			   enum rdma_port_space ps);
/* Updates the id with what the kernel knows of it, once it has an address or a path. 0 or
 * -errno. */
int rdma_id_update(struct lib_id *id);
/* Change the state of a queue pair of rdma_create_qp. 0, or -1 with errno. Resources replace those
 * of the attributes; RDMA_MAX_RESP_RES keeps the kernel's values. */
int rdma_move_to_rts(struct rdma_cm_id *id, uint8_t responder_resources, uint8_t initiator_depth);
int rdma_move_to_error(struct rdma_cm_id *id);
/* Ends a call that an event answers. If the id has a channel of its own, waits for that event. 0,
 * or -1 with errno. */
int rdma_complete(struct rdma_cm_id *id);

#endif
