/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's side of rdma_cm: ids by IP address above ib_cm, their events on the way to a
 * process, and the table that replaces address resolution. The library's side (rdma_cma.c) calls
 * these functions between uv_kernel_enter and uv_kernel_leave. They return 0 or -errno.
 */
#ifndef HOST_DRIVER_CM_CMA_H
#define HOST_DRIVER_CM_CMA_H

#include "host_driver/cm/cm.h"
#include "host_driver/uverbs/uverbs.h"

#include <rdma/rdma_cma.h>

enum { CMA_DATA = IB_CM_RTU_PRIVATE_DATA_SIZE, CMA_CONNECT_DATA = 56, CMA_UD_DATA = 180 };

/* Private data is at the same offset in both. */
union cma_param {
	struct rdma_conn_param conn;
	struct rdma_ud_param ud;
};

enum cma_state {
	CMA_IDLE,
	CMA_ADDR_BOUND,
	CMA_ADDR_QUERY, /* Ethernet: the peer's MAC is being asked for */
	CMA_ADDR_RESOLVED,
	CMA_ROUTE_QUERY,
	CMA_ROUTE_RESOLVED,
	CMA_CONNECT, /* from rdma_connect or the CONNECT_REQUEST on */
	CMA_DISCONNECT,
	CMA_LISTEN,
};

/* An entry of the address table. */
struct cma_addr {
	struct drv_list link;
	struct sockaddr_storage addr; /* port 0 */
	union ib_gid gid;
	unsigned port; /* the port of this host through which it is reached */
	bool own;
};

struct cma_channel {
	struct drv_list link; /* in the process' list */
	struct uv_process *process;
	struct uv_channel *uv; /* its descriptor; its events are struct cma_event */
	unsigned ids;
};

struct cma_id {
	struct drv_list link;  /* in the process' list */
	struct drv_list bound; /* in the device's list, while the id is bound to a port */
	struct cma_channel *channel;
	struct cm_device *cm; /* NULL: no address yet */
	struct ib_cm_id *ib;
	/* the library's structure; NULL: the process has not taken its CONNECT_REQUEST yet */
	void *user;
	enum cma_state state;
	enum rdma_port_space ps;
	struct sockaddr_storage src, dst;
	unsigned port;
	struct sa_path_rec path;    /* before the route is known only its GIDs are set */
	bool resolving;             /* the thread of CMA_ADDR_QUERY exists */
	uint64_t resolve_within_ps; /* how long it waits for a neighbour */
	struct ib_sa_query *query;
	int query_number;
	unsigned backlog, pending;
	uint32_t qp_num, psn;
	/* the most that the connection request allows */
	uint8_t responder_resources, initiator_depth;
	uint32_t qkey; /* for datagrams */
	bool srq, destroying, ud;
	unsigned reported; /* events that the process has taken */
	/* options */
	uint8_t tos, ack_timeout;
	bool ack_timeout_set, reuse_addr, af_only;
};

/* An event that is queued for a process. param's private data points to `data`. */
struct cma_event {
	struct drv_list link;
	struct cma_id *id, *listener;
	enum rdma_cm_event_type type;
	int status;
	union cma_param param;
	uint8_t data[CMA_DATA];
};

/* What a process has of rdma_cm. Made when the process first uses it, freed when the process
 * ends. */
struct cma_process {
	struct drv_list channels, ids;
	struct ib_sa_client client;
	/* used by the library's side */
	struct ibv_context *verbs;
	struct ibv_pd *pd;
};

/* --- the address table; its device must have connection management --- */

/* 0, -ENOMEM or -ENODEV. */
int cma_addr_add(struct ib_device *device, const struct sockaddr *addr, const union ib_gid *gid,
		 unsigned port, bool own);

/* The version of RoCE that connections have on Ethernet ports (Linux: default_roce_mode of configfs).
 * Before that it is 2 if the device has it. -EINVAL: the device lacks it. */
int cma_set_roce_version(struct ib_device *device, unsigned version);
/* The path between two GIDs over Ethernet, for which nobody has to be asked but the neighbour. Errors as
 * ib_resolve_eth_dmac(). */
int cma_roce_path(struct ib_device *device, unsigned port, const union ib_gid *sgid,
		  const union ib_gid *dgid, unsigned version, struct sa_path_rec *path);

/* Whether the table has the address, and it belongs to another host. */
bool cma_addr_is_foreign(const struct uv_host *host, const struct sockaddr *addr);

/* --- for the library --- */

int cma_channel_create(struct uv_process *process, struct cma_channel **channel);
/* -EBUSY: ids still use it. */
int cma_channel_destroy(struct cma_channel *channel);
int cma_create(struct cma_channel *channel, enum rdma_port_space ps, void *user,
	       struct cma_id **id);
/* *reported: how many of its events the process has taken. */
int cma_destroy(struct cma_id *id, unsigned *reported);
int cma_bind(struct cma_id *id, const struct sockaddr *addr);
/* timeout_ms: for the answer of a neighbour; only on an Ethernet port. */
int cma_resolve_addr(struct cma_id *id, const struct sockaddr *src, const struct sockaddr *dst,
		     int timeout_ms);
int cma_resolve_route(struct cma_id *id, int timeout_ms);
int cma_listen(struct cma_id *id, int backlog);
int cma_connect(struct cma_id *id, const struct rdma_conn_param *param);
/* `param` NULL: sends the RTU of the connecting side. */
int cma_accept(struct cma_id *id, const struct rdma_conn_param *param);
int cma_reject(struct cma_id *id, const void *data, uint8_t len);
int cma_disconnect(struct cma_id *id);
int cma_notify(struct cma_id *id, enum ib_event_type event);
int cma_init_qp_attr(struct cma_id *id, struct ib_qp_attr *attr, int *mask);
int cma_set_option(struct cma_id *id, int level, int name, const void *value, size_t len);
/* Moves an id to another channel, with the events that have not been taken. */
void cma_migrate(struct cma_id *id, struct cma_channel *channel);
/* Takes the first event; the caller frees it. NULL: there is none. */
struct cma_event *cma_take(struct cma_channel *channel);

#endif
