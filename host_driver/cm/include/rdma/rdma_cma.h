/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by IP address for simulated processes: names, structures, arguments and error codes
 * of librdmacm (rdma-core 44; man 3 rdma_*), so that programs written for it compile against this
 * header. <infiniband/verbs.h> describes simulated processes.
 *
 * Functions return 0, or -1 with errno, unless they say otherwise. EINVAL: the id's state or an
 * argument is not right; ENODEV: the host has no device with connection management; ENOMEM. What a
 * function starts ends with an event on the id's channel. Each event that was taken must be
 * acknowledged: rdma_destroy_id waits for that.
 *
 * Differences from a real machine: there is no IPoIB. A table of the fabric's addresses takes the
 * place of address resolution (testbench/connect.h: port N of host a has 11.0.N.1, port N of host b
 * has 11.0.N.2, and the same as ::ffff: addresses). Paths come from the subnet's administration.
 * There is one subnet, so no path has a GRH. These are missing: RDMA_PS_IPOIB, SRQs of an id,
 * rdma_verbs.h.
 *
 * On the wire a REQ's private data begins with the header of annex A11 (36 bytes), so 56 bytes are
 * left to rdma_connect. rdma_accept has 196, rdma_reject 148. The service id is (ps << 16) + port.
 *
 * RDMA_PS_UDP: the ids' queue pairs are of type UD, and nothing is connected. rdma_connect sends a
 * SIDR_REQ (180 bytes of private data), which asks who serves the port. rdma_accept answers with
 * the number of its own queue pair (136 bytes), and gets no event. On the other side the event
 * ESTABLISHED has in param.ud what that side needs to send. UNREACHABLE has the status of the
 * SIDR_REP.
 *
 * An id that rdma_create_id makes without a channel has a channel of its own, and is synchronous: a
 * call returns when the event has come that ends what the call started. It returns 0, or -1 with
 * the event's errno (ECONNREFUSED: rejected). The event stays in id->event until the next call.
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
	RDMA_CM_EVENT_ADDR_ERROR, /* status -EHOSTUNREACH: the address is not in the table */
	RDMA_CM_EVENT_ROUTE_RESOLVED,
	RDMA_CM_EVENT_ROUTE_ERROR, /* -ETIMEDOUT: no answer; -EINVAL: no path */
	RDMA_CM_EVENT_CONNECT_REQUEST,
	RDMA_CM_EVENT_CONNECT_RESPONSE, /* only for ids without a queue pair of rdma_create_qp */
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

enum { RDMA_UDP_QKEY = 0x01234567 /* Q_Key of all queue pairs of RDMA_PS_UDP */ };

enum {
	RDMA_OPTION_ID = 0,
	RDMA_OPTION_IB = 1, /* ENOSYS */
};

enum {
	RDMA_OPTION_ID_TOS = 0, /* uint8_t: QoS class of the path in the query */
	/* int: other ids with this option may use the same port, but not listeners */
	RDMA_OPTION_ID_REUSEADDR = 1,
	RDMA_OPTION_ID_AFONLY = 2,      /* int: a listener accepts only its own address family */
	RDMA_OPTION_ID_ACK_TIMEOUT = 3, /* uint8_t: code of the queue pair's ACK timeout */
};

struct rdma_event_channel {
	int fd; /* a descriptor of the process; readable when there is an event */
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
	struct ibv_context *verbs; /* NULL until the device is known */
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
	uint8_t retry_count;     /* 0 .. 7; for rdma_connect */
	uint8_t rnr_retry_count; /* 0 .. 7 */
	/* this and qp_num: for ids without a queue pair of rdma_create_qp */
	uint8_t srq;
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
	struct rdma_cm_id *listen_id; /* for CONNECT_REQUEST, whose id is new */
	enum rdma_cm_event_type event;
	int status; /* 0, -errno, or a reason */
	union {
		/* private data: all bytes that the message has room for */
		struct rdma_conn_param conn;
		struct rdma_ud_param ud;
	} param;
};

/* NULL with errno: ENODEV, ENOMEM, EMFILE. */
struct rdma_event_channel *rdma_create_event_channel(void);
/* Its ids must have been destroyed and its events acknowledged. */
void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/* EPROTONOSUPPORT: not RDMA_PS_TCP, RDMA_PS_UDP or RDMA_PS_IB. `channel` NULL: the id is
 * synchronous. */
int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps);
/* The caller must have destroyed the id's queue pair before, or keeps it. Waits until the id's
 * events have been acknowledged. */
int rdma_destroy_id(struct rdma_cm_id *id);

/* From now on the id's events come through that channel (NULL: the id becomes synchronous). Waits
 * until the events that were taken have been acknowledged. */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);
/* EINVAL: the length, or it is too late for the option; ENOSYS: another option. */
int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);

/* Makes a synchronous id from the result of rdma_getaddrinfo(). It is bound and, unless it is a
 * listener's, has a route. With `qp_init_attr` it gets a queue pair; a listener's id gets one for
 * each request that rdma_get_request() returns. */
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr);
void rdma_destroy_ep(struct rdma_cm_id *id);
/* For a synchronous listener: waits for the next request. Returns the request's id, with its event
 * in id->event. */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);

/* EADDRNOTAVAIL: not an address of this host; EADDRINUSE; EAFNOSUPPORT: neither IPv4 nor IPv6. Port
 * 0: a free port. */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
/* `src_addr` may be NULL. The event ADDR_RESOLVED or ADDR_ERROR follows. Errors as above. */
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
		      int timeout_ms);
/* Only after ADDR_RESOLVED. The event ROUTE_RESOLVED or ROUTE_ERROR follows. */
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);

/*
 * Makes a queue pair and moves it to INIT, or if its type is UD to RTS. `pd` NULL: uses a PD of the
 * id's context that the process has for this. CQs that are not given are made, each with a channel,
 * and are destroyed with the queue pair. EINVAL: the id has no device yet or already has a queue
 * pair, the type is not the id's, or as ibv_create_qp.
 */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
/* The same with the attributes of ibv_create_qp_ex(). The PD is used if IBV_QP_INIT_ATTR_PD is
 * set. */
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr);
void rdma_destroy_qp(struct rdma_cm_id *id);

/* Only after ROUTE_RESOLVED. The event ESTABLISHED, REJECTED, UNREACHABLE or CONNECT_ERROR follows.
 * Without a queue pair of rdma_create_qp the event CONNECT_RESPONSE follows, which rdma_establish()
 * answers. `param` NULL: as many resources as the device has, and retry counts of 7. */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
/* Only after CONNECT_RESPONSE, when the caller's queue pair is in RTS. No event follows. */
int rdma_establish(struct rdma_cm_id *id);
/* Events CONNECT_REQUEST follow. At most `backlog` of them (0: 1024) wait to be taken; further
 * requests are rejected. */
int rdma_listen(struct rdma_cm_id *id, int backlog);
/* The event ESTABLISHED, REJECTED or UNREACHABLE follows. `param` NULL: the values of the
 * request. */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
/* For IBV_EVENT_COMM_EST of the queue pair; other events: EINVAL. */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);
/* Moves the queue pair to ERR. The event DISCONNECTED follows, on the peer's side, too. */
int rdma_disconnect(struct rdma_cm_id *id);

/* Sleeps until there is an event. EAGAIN: there is none, and the descriptor does not block. */
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int rdma_ack_cm_event(struct rdma_cm_event *event);

/* In network byte order; 0: none. */
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
	RAI_NUMERICHOST = 1 << 1, /* always assumed */
	RAI_NOROUTE = 1 << 2,
	RAI_FAMILY = 1 << 3, /* use ai_family of the hints */
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

/* `node` is a numeric address, or NULL with RAI_PASSIVE for any address. `service` is a numeric
 * port, or NULL. Returns 0; EAI_NONAME: not numeric; -1 with errno EINVAL: both are missing, or
 * ENOMEM. */
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res);
void rdma_freeaddrinfo(struct rdma_addrinfo *res);

/* The attributes that the queue pair needs for qp_attr->qp_state, for ids without a queue pair of
 * rdma_create_qp. */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask);

#ifdef __cplusplus
}
#endif

#endif
