/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection management of InfiniBand: names, arguments and errors of Linux (include/rdma/ib_cm.h,
 * drivers/infiniband/core/cm.c). It also has what Linux has dropped since: alternate paths after
 * establishment (ib_send_cm_lap, ib_send_cm_apr) and the peer-to-peer mode. Source: IBA vol. 1, ch.
 * 12; statements are cited where they are applied.
 *
 * All messages are MADs over QP1 of the port. Functions return 0 or -errno. -EINVAL means that the
 * state, a length or an argument is not right; nothing has changed then. A function sends its
 * message before it returns. An answer, a timeout or a message of the peer comes to the id's
 * handler as an event. Functions are called from host threads and from handlers.
 *
 * Handlers run in one thread for each device, one after the other. They may sleep and call any
 * function except ib_destroy_cm_id for their own id (a handler returns a value other than 0 for
 * that). They must not wait for another event of connection management.
 *
 * Times: a code n, 0 .. 31, stands for 4.096 us * 2^n. A message that needs an answer is sent
 * again, at most max_cm_retries times, each time after the peer's response timeout and two packet
 * life times. An MRA replaces the response timeout by its own service timeout. After the last retry
 * the id gets REQ_ERROR, REP_ERROR, DREQ_ERROR, LAP_ERROR or SIDR_REQ_ERROR with
 * IBV_WC_RESP_TIMEOUT_ERR. For REQ and REP the peer gets a REJ with reason "timeout".
 *
 * A connection that ends stays in TIMEWAIT for two packet life times and the ACK delay of the
 * peer's HCA, even when its id is destroyed. Until then its QPN must not be used again, and a new
 * REQ with the peer's QPN is taken for a stale connection.
 */
#ifndef RDMA_IB_CM_H
#define RDMA_IB_CM_H

#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

enum ib_cm_state {
	IB_CM_IDLE,
	IB_CM_LISTEN,
	IB_CM_REQ_SENT,
	IB_CM_REQ_RCVD,
	IB_CM_MRA_REQ_SENT,
	IB_CM_MRA_REQ_RCVD,
	IB_CM_REP_SENT,
	IB_CM_REP_RCVD,
	IB_CM_MRA_REP_SENT,
	IB_CM_MRA_REP_RCVD,
	IB_CM_ESTABLISHED,
	IB_CM_DREQ_SENT,
	IB_CM_DREQ_RCVD,
	IB_CM_TIMEWAIT,
	IB_CM_SIDR_REQ_SENT,
	IB_CM_SIDR_REQ_RCVD,
	IB_CM_STATES
};

enum ib_cm_lap_state {
	IB_CM_LAP_UNINIT, /* no alternate path is loaded */
	IB_CM_LAP_IDLE,
	IB_CM_LAP_SENT,
	IB_CM_LAP_RCVD,
	IB_CM_MRA_LAP_SENT,
	IB_CM_MRA_LAP_RCVD,
};

enum ib_cm_event_type {
	IB_CM_REQ_ERROR,
	IB_CM_REQ_RECEIVED,
	IB_CM_REP_ERROR,
	IB_CM_REP_RECEIVED,
	IB_CM_RTU_RECEIVED,
	IB_CM_USER_ESTABLISHED, /* ib_cm_notify: the first message came before the RTU */
	IB_CM_DREQ_ERROR,
	IB_CM_DREQ_RECEIVED,
	IB_CM_DREP_RECEIVED,
	IB_CM_TIMEWAIT_EXIT,
	IB_CM_MRA_RECEIVED,
	IB_CM_REJ_RECEIVED,
	IB_CM_LAP_ERROR,
	IB_CM_LAP_RECEIVED,
	IB_CM_APR_RECEIVED,
	IB_CM_SIDR_REQ_ERROR,
	IB_CM_SIDR_REQ_RECEIVED,
	IB_CM_SIDR_REP_RECEIVED,
	IB_CM_EVENTS
};

/* Room for private data and additional information in each message, in bytes. */
enum ib_cm_data_size {
	IB_CM_REQ_PRIVATE_DATA_SIZE = 92,
	IB_CM_MRA_PRIVATE_DATA_SIZE = 222,
	IB_CM_REJ_PRIVATE_DATA_SIZE = 148,
	IB_CM_REP_PRIVATE_DATA_SIZE = 196,
	IB_CM_RTU_PRIVATE_DATA_SIZE = 224,
	IB_CM_DREQ_PRIVATE_DATA_SIZE = 220,
	IB_CM_DREP_PRIVATE_DATA_SIZE = 224,
	IB_CM_REJ_ARI_LENGTH = 72,
	IB_CM_LAP_PRIVATE_DATA_SIZE = 168,
	IB_CM_APR_PRIVATE_DATA_SIZE = 148,
	IB_CM_APR_INFO_LENGTH = 72,
	IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE = 216,
	IB_CM_SIDR_REP_PRIVATE_DATA_SIZE = 136,
	IB_CM_SIDR_REP_INFO_LENGTH = 72,
};

/* Reasons of a REJ; the values are those on the wire. */
enum ib_cm_rej_reason {
	IB_CM_REJ_NO_QP = 1,
	IB_CM_REJ_NO_EEC = 2,
	IB_CM_REJ_NO_RESOURCES = 3,
	IB_CM_REJ_TIMEOUT = 4,
	IB_CM_REJ_UNSUPPORTED = 5,
	IB_CM_REJ_INVALID_COMM_ID = 6,
	IB_CM_REJ_INVALID_COMM_INSTANCE = 7,
	IB_CM_REJ_INVALID_SERVICE_ID = 8,
	IB_CM_REJ_INVALID_TRANSPORT_TYPE = 9,
	IB_CM_REJ_STALE_CONN = 10,
	IB_CM_REJ_RDC_NOT_EXIST = 11,
	IB_CM_REJ_INVALID_GID = 12,
	IB_CM_REJ_INVALID_LID = 13,
	IB_CM_REJ_INVALID_SL = 14,
	IB_CM_REJ_INVALID_TRAFFIC_CLASS = 15,
	IB_CM_REJ_INVALID_HOP_LIMIT = 16,
	IB_CM_REJ_INVALID_PACKET_RATE = 17,
	IB_CM_REJ_INVALID_ALT_GID = 18,
	IB_CM_REJ_INVALID_ALT_LID = 19,
	IB_CM_REJ_INVALID_ALT_SL = 20,
	IB_CM_REJ_INVALID_ALT_TRAFFIC_CLASS = 21,
	IB_CM_REJ_INVALID_ALT_HOP_LIMIT = 22,
	IB_CM_REJ_INVALID_ALT_PACKET_RATE = 23,
	IB_CM_REJ_PORT_CM_REDIRECT = 24,
	IB_CM_REJ_PORT_REDIRECT = 25,
	IB_CM_REJ_INVALID_MTU = 26,
	IB_CM_REJ_INSUFFICIENT_RESP_RESOURCES = 27,
	IB_CM_REJ_CONSUMER_DEFINED = 28,
	IB_CM_REJ_INVALID_RNR_RETRY = 29,
	IB_CM_REJ_DUPLICATE_LOCAL_COMM_ID = 30,
	IB_CM_REJ_INVALID_CLASS_VERSION = 31,
	IB_CM_REJ_INVALID_FLOW_LABEL = 32,
	IB_CM_REJ_INVALID_ALT_FLOW_LABEL = 33,
};

enum ib_cm_apr_status {
	IB_CM_APR_SUCCESS,
	IB_CM_APR_INVALID_COMM_ID,
	IB_CM_APR_UNSUPPORTED,
	IB_CM_APR_REJECT,
	IB_CM_APR_REDIRECT,
	IB_CM_APR_IS_CURRENT,
	IB_CM_APR_INVALID_QPN_EECN,
	IB_CM_APR_INVALID_LID,
	IB_CM_APR_INVALID_GID,
	IB_CM_APR_INVALID_FLOW_LABEL,
	IB_CM_APR_INVALID_TCLASS,
	IB_CM_APR_INVALID_HOP_LIMIT,
	IB_CM_APR_INVALID_PACKET_RATE,
	IB_CM_APR_INVALID_SL,
};

enum ib_cm_sidr_status {
	IB_SIDR_SUCCESS,
	IB_SIDR_UNSUPPORTED,
	IB_SIDR_REJECT,
	IB_SIDR_NO_QP,
	IB_SIDR_REDIRECT,
	IB_SIDR_UNSUPPORTED_VERSION,
};

struct ib_cm_id;

struct ib_cm_req_event_param {
	struct ib_cm_id *listen_id; /* NULL: a REQ for a peer-to-peer id itself */
	unsigned port;
	/* in the direction to the peer; alternate_path NULL: none */
	struct sa_path_rec *primary_path, *alternate_path;
	__be64 remote_ca_guid;
	uint32_t remote_qkey, remote_qpn;
	enum ib_qp_type qp_type; /* the type that this side's QP must have */
	uint32_t starting_psn;
	/* Values for this side's QP: how many READs and atomics the peer has outstanding at most,
	 * and how many it serves. */
	uint8_t responder_resources, initiator_depth;
	uint8_t local_cm_response_timeout, remote_cm_response_timeout; /* codes */
	uint8_t flow_control, retry_count, rnr_retry_count, srq;
	uint16_t pkey;
};

struct ib_cm_rep_event_param {
	__be64 remote_ca_guid;
	uint32_t remote_qkey, remote_qpn, starting_psn;
	uint8_t responder_resources, initiator_depth; /* as above */
	uint8_t target_ack_delay;                     /* code */
	uint8_t failover_accepted;                    /* enum cm_failover */
	uint8_t flow_control, rnr_retry_count, srq;
};

struct ib_cm_rej_event_param {
	enum ib_cm_rej_reason reason;
	void *ari;
	uint8_t ari_length;
};

struct ib_cm_mra_event_param {
	uint8_t service_timeout; /* code */
};

struct ib_cm_lap_event_param {
	struct sa_path_rec *alternate_path;
};

struct ib_cm_apr_event_param {
	enum ib_cm_apr_status ap_status;
	void *apr_info;
	uint8_t info_len;
};

struct ib_cm_sidr_req_event_param {
	struct ib_cm_id *listen_id;
	__be64 service_id;
	unsigned port;
	uint16_t pkey;
};

struct ib_cm_sidr_rep_event_param {
	enum ib_cm_sidr_status status;
	uint32_t qkey, qpn;
	void *info;
	uint8_t info_len;
};

/* Its pointers are valid only while the handler runs. */
struct ib_cm_event {
	enum ib_cm_event_type event;
	union {
		struct ib_cm_req_event_param req_rcvd;
		struct ib_cm_rep_event_param rep_rcvd;
		struct ib_cm_rej_event_param rej_rcvd;
		struct ib_cm_mra_event_param mra_rcvd;
		struct ib_cm_lap_event_param lap_rcvd;
		struct ib_cm_apr_event_param apr_rcvd;
		struct ib_cm_sidr_req_event_param sidr_req_rcvd;
		struct ib_cm_sidr_rep_event_param sidr_rep_rcvd;
		enum ibv_wc_status send_status; /* of errors */
	} param;
	void *private_data; /* NULL: the message has none */
	/* the room in the message; the message does not say how much of it is used */
	uint8_t private_data_len;
};

/* A REQ or SIDR_REQ comes with a new id, which has the listener's handler and context. The
 * listener's handler gets the event. If a handler returns a value other than 0, the id is
 * destroyed, which rejects or disconnects. */
typedef int (*ib_cm_handler)(struct ib_cm_id *cm_id, const struct ib_cm_event *event);

struct ib_cm_id {
	ib_cm_handler cm_handler;
	void *context;
	struct ib_device *device;
	__be64 service_id;
	enum ib_cm_state state;
	enum ib_cm_lap_state lap_state;
	__be32 local_id, remote_id;
	uint32_t remote_cm_qpn; /* always 1 */
};

/* --- a device's connection management --- */

/* From now on serves class 7 on QP1 of every port. Linux does this when its module finds a device.
 * -EBUSY: it is attached already; -ENOMEM; -ENODEV: no port is up. */
int ib_cm_attach(struct ib_device *device);
/* -EBUSY: ids are left. Connections in TIMEWAIT are forgotten. */
int ib_cm_detach(struct ib_device *device);

/* Indices of the counters: the message's attribute, counted from REQ. */
enum ib_cm_message {
	IB_CM_MSG_REQ,
	IB_CM_MSG_MRA,
	IB_CM_MSG_REJ,
	IB_CM_MSG_REP,
	IB_CM_MSG_RTU,
	IB_CM_MSG_DREQ,
	IB_CM_MSG_DREP,
	IB_CM_MSG_SIDR_REQ,
	IB_CM_MSG_SIDR_REP,
	IB_CM_MSG_LAP,
	IB_CM_MSG_APR,
	IB_CM_MSGS
};

/* The counters of Linux' sysfs: cm_tx_msgs, cm_tx_retries, cm_rx_msgs, cm_rx_duplicates. */
struct ib_cm_counters {
	unsigned tx_msgs[IB_CM_MSGS], tx_retries[IB_CM_MSGS], rx_msgs[IB_CM_MSGS],
		rx_duplicates[IB_CM_MSGS];
	unsigned ids, timewaits; /* number that exist now */
};
/* -ENODEV: not attached. */
int ib_cm_query_counters(struct ib_device *device, struct ib_cm_counters *counters);

const char *ib_cm_state_name(enum ib_cm_state state);
const char *ib_cm_event_name(enum ib_cm_event_type event);
const char *ib_cm_reject_msg(enum ib_cm_rej_reason reason);

/* --- ids --- */

/* ERR_PTR(-ENODEV): not attached; -ENOMEM. */
struct ib_cm_id *ib_create_cm_id(struct ib_device *device, ib_cm_handler cm_handler, void *context);
/* Waits until no handler of the id runs. Ends what is under way: with a REJ before establishment,
 * with a DREQ or DREP after it. */
void ib_destroy_cm_id(struct ib_cm_id *cm_id);

#define IB_SERVICE_ID_AGN_MASK  UINT64_C(0xff00000000000000) /* host order */
#define IB_CM_ASSIGN_SERVICE_ID UINT64_C(0x0200000000000000) /* a free service id is assigned */

/* -EBUSY: the service has a listener. -EINVAL: the state, or an id of the range that is
 * assigned. */
int ib_cm_listen(struct ib_cm_id *cm_id, __be64 service_id);

struct ib_cm_req_param {
	const struct sa_path_rec *primary_path;
	const struct sa_path_rec *alternate_path; /* NULL: none */
	__be64 service_id;
	uint32_t qp_num;
	enum ib_qp_type qp_type; /* RC, UC, XRC_INI */
	uint32_t starting_psn;
	const void *private_data;
	uint8_t private_data_len;
	bool peer_to_peer; /* the other side also sends a REQ for the same service */
	uint8_t flow_control;
	uint8_t responder_resources, initiator_depth;
	uint8_t remote_cm_response_timeout, local_cm_response_timeout; /* codes */
	uint8_t retry_count, rnr_retry_count;                          /* 0 .. 7 */
	uint8_t max_cm_retries;                                        /* 0 .. 15 */
	uint8_t srq;
};

/* Only in IDLE. -EINVAL also for: a path whose source is not a port of the device, a P_Key that it
 * does not have, alternate and primary path with different P_Keys or MTUs. */
int ib_send_cm_req(struct ib_cm_id *cm_id, const struct ib_cm_req_param *param);

struct ib_cm_rep_param {
	uint32_t qp_num, starting_psn;
	const void *private_data;
	uint8_t private_data_len;
	uint8_t responder_resources, initiator_depth;
	uint8_t failover_accepted, flow_control, rnr_retry_count, srq;
};

/* Only in REQ_RCVD and MRA_REQ_SENT. */
int ib_send_cm_rep(struct ib_cm_id *cm_id, const struct ib_cm_rep_param *param);
/* Only in REP_RCVD and MRA_REP_SENT. */
int ib_send_cm_rtu(struct ib_cm_id *cm_id, const void *private_data, uint8_t private_data_len);
/* Only in ESTABLISHED. If the DREQ cannot be sent (-ENOMEM: QP1 is full; -ENODEV), the connection
 * ends nevertheless, in TIMEWAIT. */
int ib_send_cm_dreq(struct ib_cm_id *cm_id, const void *private_data, uint8_t private_data_len);
/* Only in DREQ_RCVD. */
int ib_send_cm_drep(struct ib_cm_id *cm_id, const void *private_data, uint8_t private_data_len);

/* IB_EVENT_COMM_EST of the id's QP: REP_SENT and MRA_REP_RCVD become ESTABLISHED, and the event
 * USER_ESTABLISHED follows. -EISCONN: it is established already. IB_EVENT_PATH_MIG: the alternate
 * path becomes the path. -EINVAL: another event or state. Any context. */
int ib_cm_notify(struct ib_cm_id *cm_id, enum ib_event_type event);

/* Only between a REQ or REP and establishment. `ari` has at most IB_CM_REJ_ARI_LENGTH bytes. */
int ib_send_cm_rej(struct ib_cm_id *cm_id, enum ib_cm_rej_reason reason, const void *ari,
		   uint8_t ari_length, const void *private_data, uint8_t private_data_len);

/* With this bit the MRA is not sent now, but when the peer repeats its message. */
enum { IB_CM_MRA_FLAG_DELAY = 0x80 };
/* Sends an MRA, which asks the peer to wait longer. Only in REQ_RCVD, in REP_RCVD, and in
 * ESTABLISHED with LAP_RCVD. */
int ib_send_cm_mra(struct ib_cm_id *cm_id, uint8_t service_timeout, const void *private_data,
		   uint8_t private_data_len);

/* Only in ESTABLISHED with no LAP under way. The new path's source must be a port of the device. */
int ib_send_cm_lap(struct ib_cm_id *cm_id, const struct sa_path_rec *alternate_path,
		   const void *private_data, uint8_t private_data_len);
int ib_send_cm_apr(struct ib_cm_id *cm_id, enum ib_cm_apr_status status, const void *info,
		   uint8_t info_length, const void *private_data, uint8_t private_data_len);

/*
 * Returns the attributes that the QP needs for attr->qp_state (INIT, RTR or RTS), and their mask.
 * INIT is possible from REQ_SENT and REQ_RCVD on. RTR and RTS need the peer's values, so they are
 * possible from REQ_RCVD or REP_RCVD on. For an established connection with a new alternate path,
 * RTS returns that path and REARM. rq_psn is that of this side's REQ or REP; a caller that moves to
 * RTR before the REP must set it itself. Access: remote write, and READ and atomics if responder
 * resources are not 0.
 */
int ib_cm_init_qp_attr(struct ib_cm_id *cm_id, struct ib_qp_attr *attr, int *mask);

struct ib_cm_sidr_req_param {
	const struct sa_path_rec *path;
	__be64 service_id;
	unsigned long timeout_ms; /* time until it is sent again */
	const void *private_data;
	uint8_t private_data_len;
	uint8_t max_cm_retries;
	uint16_t pkey;
};
/* Only in IDLE. */
int ib_send_cm_sidr_req(struct ib_cm_id *cm_id, const struct ib_cm_sidr_req_param *param);

struct ib_cm_sidr_rep_param {
	uint32_t qp_num, qkey;
	enum ib_cm_sidr_status status;
	const void *info;
	uint8_t info_length;
	const void *private_data;
	uint8_t private_data_len;
};
/* Only in SIDR_REQ_RCVD. The id is then in IDLE. */
int ib_send_cm_sidr_rep(struct ib_cm_id *cm_id, const struct ib_cm_sidr_rep_param *param);

#endif
