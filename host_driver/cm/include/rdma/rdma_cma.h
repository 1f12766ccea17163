/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by IP address for simulated processes: names, structures, arguments and error codes
 * of librdmacm (rdma-core 44; man 3 rdma_*), so that programs written for it compile against this
 * header. <infiniband/verbs.h> says what is around it.
 *
 * Functions return 0, or -1 with errno, unless they say otherwise. EINVAL: the id's state or an
 * argument is not right; ENODEV: the host has no device with connection management; ENOMEM. What
 * they start ends with an event of the id's channel. Each event got must be acknowledged:
 * rdma_destroy_id waits for that.
 *
 * What differs from a real machine: there is no IPoIB; a table of the fabric's addresses stands for
 * address resolution (testbench/connect.h: 11.0.N.1 of host a, 11.0.N.2 of host b, N the port, and
 * the same as ::ffff: addresses), paths come from the subnet's administration. There is one subnet:
 * no path has a GRH. Not here: RDMA_PS_IPOIB, SRQs of an id, rdma_verbs.h.
 *
 * On the wire a REQ's private data begins with the header of annex A11 (36 bytes), so 56 bytes are
 * left to rdma_connect; rdma_accept has 196, rdma_reject 148. The service id is (ps << 16) + port.
 *
 * RDMA_PS_UDP: the ids' queue pairs are of type UD and nothing is connected. rdma_connect asks by
 * SIDR_REQ (180 bytes of private data) who serves the port; rdma_accept answers with the number of
 * the own queue pair (136 bytes), without an event on that side; ESTABLISHED has in param.ud what
 * the other side needs to send to it. UNREACHABLE has the status of the SIDR_REP.
 *
 * An id of rdma_create_id without a channel has one of its own, and is synchronous: the call
 * returns when the event has come that would tell the end of what it started, 0 or -1 with its
 * errno (ECONNREFUSED: rejected). The event stays in id->event until the next call.
 */
#ifndef RDMA_RDMA_CMA_H
#define RDMA_RDMA_CMA_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rdma_cm_event_type {
	RDMA_CM_EVENT_ADDR_RESOLVED,
	RDMA_CM_EVENT_ADDR_ERROR, /* status -EHOSTUNREACH: not in the table */
	RDMA_CM_EVENT_ROUTE_RESOLVED,
	RDMA_CM_EVENT_ROUTE_ERROR, /* -ETIMEDOUT: no answer; -EINVAL: no path */
	RDMA_CM_EVENT_CONNECT_REQUEST,
	RDMA_CM_EVENT_CONNECT_RESPONSE, /* only of ids without a queue pair of rdma_create_qp */
	RDMA_CM_EVENT_CONNECT_ERROR,
	RDMA_CM_EVENT_UNREACHABLE, /* -ETIMEDOUT */
	RDMA_CM_EVENT_REJECTED,    /* status: the reason of the REJ, enum ib_cm_rej_reason */
	RDMA_CM_EVENT_ESTABLISHED,
	RDMA_CM_EVENT_DISCONNECTED,
	RDMA_CM_EVENT_DEVICE_REMOVAL,
	RDMA_CM_EVENT_MULTICAST_JOIN,
	RDMA_CM_EVENT_MULTICAST_ERROR,
	RDMA_CM_EVENT_ADDR_CHANGE,
	RDMA_CM_EVENT_TIMEWAIT_EXIT,
};

enum rdma_port_space {
	RDMA_PS_IPOIB = 0x0002,
	RDMA_PS_TCP = 0x0106,
	RDMA_PS_UDP = 0x0111,
	RDMA_PS_IB = 0x013f,
};

enum {
	RDMA_MAX_RESP_RES = 0xff, /* as many as the device has, or as the peer has asked for */
	RDMA_MAX_INIT_DEPTH = 0xff,
};

enum { RDMA_UDP_QKEY = 0x01234567 /* of all RDMA_PS_UDP */ };

enum {
	RDMA_OPTION_ID = 0,
	RDMA_OPTION_IB = 1, /* ENOSYS */
};

enum {
	RDMA_OPTION_ID_TOS = 0,         /* uint8_t; the QoS class of the path that is asked for */
	RDMA_OPTION_ID_REUSEADDR = 1,   /* int; others that say so too may have the port, but for
					 listeners */
	RDMA_OPTION_ID_AFONLY = 2,      /* int; a listener takes its own address family only */
	RDMA_OPTION_ID_ACK_TIMEOUT = 3, /* uint8_t; code of the queue pair's timeout */
};

struct rdma_event_channel {
	int fd; /* of the process; readable when an event waits */
};

struct ibv_sa_path_rec {
	union ibv_gid dgid, sgid;
	__be16 dlid, slid;
	int raw_traffic;
	__be32 flow_label;
	uint8_t hop_limit, traffic_class;
	int reversible;
	uint8_t numb_path;
	__be16 pkey;
	uint8_t sl, mtu_selector, mtu, rate_selector, rate, packet_life_time_selector,
		packet_life_time, preference;
};

struct rdma_ib_addr {
	union ibv_gid sgid, dgid;
	__be16 pkey;
};

struct rdma_addr {
	union {
		struct sockaddr src_addr;
		struct sockaddr_in src_sin;
		struct sockaddr_in6 src_sin6;
		struct sockaddr_storage src_storage;
	};
	union {
		struct sockaddr dst_addr;
		struct sockaddr_in dst_sin;
		struct sockaddr_in6 dst_sin6;
		struct sockaddr_storage dst_storage;
	};
	union {
		struct rdma_ib_addr ibaddr;
	} addr;
};

struct rdma_route {
	struct rdma_addr addr;
	struct ibv_sa_path_rec *path_rec;
	int num_paths;
};

struct rdma_cm_event;

struct rdma_cm_id {
	struct ibv_context *verbs; /* set once the device is known */
	struct rdma_event_channel *channel;
	void *context;
	struct ibv_qp *qp;
	struct rdma_route route;
	enum rdma_port_space ps;
	uint8_t port_num;
	struct rdma_cm_event *event;
	struct ibv_comp_channel *send_cq_channel;
	struct ibv_cq *send_cq;
	struct ibv_comp_channel *recv_cq_channel;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	enum ibv_qp_type qp_type;
};

struct rdma_addrinfo;

struct rdma_conn_param {
	const void *private_data;
	uint8_t private_data_len;
	uint8_t responder_resources, initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;     /* 0 .. 7; of rdma_connect */
	uint8_t rnr_retry_count; /* 0 .. 7 */
	uint8_t srq;             /* these two of ids without a queue pair of rdma_create_qp */
	uint32_t qp_num;
};

struct rdma_ud_param {
	const void *private_data;
	uint8_t private_data_len;
	struct ibv_ah_attr ah_attr;
	uint32_t qp_num, qkey;
};

struct rdma_cm_event {
	struct rdma_cm_id *id;
	struct rdma_cm_id *listen_id; /* CONNECT_REQUEST: id is a new one */
	enum rdma_cm_event_type event;
	int status; /* 0, -errno, or a reason */
	union {
		struct rdma_conn_param conn; /* private data: all that the message has room for */
		struct rdma_ud_param ud;
	} param;
};

/* NULL with errno: ENODEV, ENOMEM, EMFILE. */
struct rdma_event_channel *rdma_create_event_channel(void);
/* Its ids are gone and its events acknowledged. */
void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/* EPROTONOSUPPORT: not RDMA_PS_TCP, RDMA_PS_UDP or RDMA_PS_IB. `channel` NULL: synchronous. */
int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps);
/* Its queue pair is the caller's: destroyed before, or kept. Waits until its events are
 * acknowledged. */
int rdma_destroy_id(struct rdma_cm_id *id);

/* Its events come through that channel from now on (NULL: it is synchronous). Waits until those
 * that were got are acknowledged. */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);
/* EINVAL: the length, or it is too late; ENOSYS: another option. */
int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);

/* A synchronous id by what rdma_getaddrinfo() says: bound and, but for a listener's, with a route.
 * With `qp_init_attr` it gets a queue pair, a listener's id one for each that rdma_get_request()
 * gives. */
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr);
void rdma_destroy_ep(struct rdma_cm_id *id);
/* Of a synchronous listener: the id of the next request, its event in id->event. */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);

/* EADDRNOTAVAIL: no address of this host; EADDRINUSE; EAFNOSUPPORT: neither IPv4 nor IPv6. Port 0:
 * a free one. */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
/* `src_addr` may be NULL. ADDR_RESOLVED or ADDR_ERROR follows. Errors as above. */
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
		      int timeout_ms);
/* ROUTE_RESOLVED or ROUTE_ERROR follows. After ADDR_RESOLVED. */
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);

/* To INIT; of type UD to RTS. `pd` NULL: one of the id's context that the process has for this. CQs
 * that are not given are made, each with a channel, and go with the queue pair. EINVAL: no device
 * yet, a queue pair already, not the id's type, or as ibv_create_qp. */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
/* With what ibv_create_qp_ex() can say besides; the PD where IBV_QP_INIT_ATTR_PD says so. */
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr);
void rdma_destroy_qp(struct rdma_cm_id *id);

/* After ROUTE_RESOLVED: ESTABLISHED, REJECTED, UNREACHABLE or CONNECT_ERROR follows; without a
 * queue pair of rdma_create_qp CONNECT_RESPONSE, which rdma_establish() answers. `param` NULL: as
 * many resources as the device has, retry counts 7. */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
/* After CONNECT_RESPONSE, with the own queue pair in RTS. No event follows. */
int rdma_establish(struct rdma_cm_id *id);
/* CONNECT_REQUESTs follow, at most `backlog` (0: 1024) of them not got yet; others are rejected. */
int rdma_listen(struct rdma_cm_id *id, int backlog);
/* ESTABLISHED, REJECTED or UNREACHABLE follows. `param` NULL: what the request asks for. */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
/* IBV_EVENT_COMM_EST of the queue pair; else EINVAL. */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);
/* The queue pair goes to ERR; DISCONNECTED follows, at the peer too. */
int rdma_disconnect(struct rdma_cm_id *id);

/* Sleeps until there is one; EAGAIN: the descriptor does not block and there is none. */
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int rdma_ack_cm_event(struct rdma_cm_event *event);

/* Network order; 0: none. */
__be16 rdma_get_src_port(struct rdma_cm_id *id);
__be16 rdma_get_dst_port(struct rdma_cm_id *id);

static inline struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.src_addr;
}

static inline struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.dst_addr;
}

const char *rdma_event_str(enum rdma_cm_event_type event);

enum {
	RAI_PASSIVE = 1 << 0,     /* for rdma_bind_addr: ai_src_addr */
	RAI_NUMERICHOST = 1 << 1, /* there are no others here */
	RAI_NOROUTE = 1 << 2,
	RAI_FAMILY = 1 << 3, /* ai_family of the hints counts */
};

struct rdma_addrinfo {
	int ai_flags, ai_family, ai_qp_type, ai_port_space;
	socklen_t ai_src_len, ai_dst_len;
	struct sockaddr *ai_src_addr, *ai_dst_addr;
	char *ai_src_canonname, *ai_dst_canonname;
	size_t ai_route_len, ai_connect_len;
	void *ai_route, *ai_connect;
	struct rdma_addrinfo *ai_next;
};

/* `node` is an address in digits, or NULL with RAI_PASSIVE: any; `service` a port in digits, or
 * NULL. 0; EAI_NONAME: not such; -1 with errno: EINVAL: neither, ENOMEM. */
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res);
void rdma_freeaddrinfo(struct rdma_addrinfo *res);

/* What the queue pair must be given for qp_attr->qp_state, for ids without one of rdma_create_qp.
 */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask);

#ifdef __cplusplus
}
#endif

#endif
