/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of connection management, shared by its files. Callers use rdma/ib_cm.h and
 * rdma/ib_sa.h.
 *
 * A device has one thread. The agents of the ports queue received MADs; the thread takes these and
 * expired timers one after the other, changes states and calls handlers. No other thread calls
 * handlers, but other threads change states when they send. No code sleeps between reading a state
 * and changing it.
 */
#ifndef HOST_DRIVER_CM_CM_H
#define HOST_DRIVER_CM_CM_H

#include "host_driver/core/core.h"
#include "host_driver/mlx4/mad.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"

#include <endian.h>
#include <rdma/ib_cm.h>

#define CM_NEVER UINT64_MAX

struct cm_device;
struct cm_id;

/* An address vector: how to reach the peer. */
struct cm_av {
	unsigned port; /* 0: none */
	uint16_t pkey_index;
	struct rdma_ah_attr ah;
	uint8_t ack_timeout; /* ACK timeout of the QP, as a code */
	/* packet life time, as a code; for a path from the peer's message an upper bound */
	uint8_t life_time;
	/* two packet life times; for a path from the peer's message with the peer's ACK delay */
	uint64_t turn_ps;
	uint8_t mtu;
};

/* The numbers of a connection, kept from its REQ until the end of its time-wait. */
struct cm_timewait {
	struct drv_list link; /* in the device's list, once the peer is known */
	struct cm_id *id;     /* NULL: the id has been destroyed */
	uint32_t local_id, remote_id, remote_qpn;
	uint64_t remote_guid;
	bool known;        /* it is in the list */
	uint64_t deadline; /* end of the time-wait; CM_NEVER: still a connection */
};

struct cm_id {
	struct ib_cm_id ib; /* must be the first member */
	struct cm_device *cm;
	struct drv_list link;   /* in the device's list */
	struct cm_id *listener; /* while its REQ is being handled */
	unsigned handlers;      /* calls of handlers, and others that hold it */
	bool destroying;
	bool established_by_user; /* the event USER_ESTABLISHED is still to be delivered */
	struct cm_timewait *timewait;
	struct cm_av av, alt_av;
	struct cm_av new_av; /* path of the LAP that is under way */

	/* the message that waits for an answer */
	struct smp request;
	uint64_t deadline, timeout_ps; /* deadline CM_NEVER: no message waits */
	unsigned retries_left, max_cm_retries;
	/* the answer to the peer's last message, sent again if that message is repeated */
	struct smp answer;
	uint64_t answered_tid; /* TID of the answered LAP */

	uint64_t tid;         /* TID of the REQ or DREQ, which either side may have sent */
	uint64_t response_ps; /* the peer's response timeout, and two packet life times */
	uint8_t response_code;
	uint8_t service_timeout;
	bool peer_to_peer;
	bool has_alternate;
	enum ib_qp_type qp_type;
	uint32_t local_qpn, remote_qpn, sq_psn, rq_psn;
	uint16_t pkey;
	uint8_t path_mtu, responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint64_t remote_delay_ps; /* ACK delay of the peer's HCA, from its REP */
	uint32_t sidr_request_id;
};

/* A received MAD. */
struct cm_work {
	struct drv_list link;
	unsigned port;
	struct drv_mad_addr from; /* where an answer goes */
	struct smp mad;
};

/* What a port has reported about itself. An event of the port makes it invalid, and it is queried
 * again. */
struct cm_port {
	bool valid, serves;
	unsigned changes; /* number of the port's events */
	union ib_gid gid;
	uint16_t pkey;
	struct ib_port_attr attr;
};

struct cm_device {
	struct ib_device *device;
	struct platform *p;
	uint64_t guid;
	unsigned ack_delay;
	struct drv_list ids, timewaits, works;
	struct platform_waitq *waitq; /* the device's thread waits here */
	/* threads wait here for a handler or for the device's thread to end */
	struct platform_waitq *gone;
	unsigned threads;
	bool stop;
	uint32_t last_id;
	uint64_t last_service_id;
	struct cm_port ports[DRV_PORTS_MAX + 1];
	struct ib_event_handler port_events;
	struct ib_cm_counters counters;
	/* path queries: sa_query.c */
	struct drv_list queries;
	struct platform_waitq *sa_waitq;
	int last_query;
	/* the layer above: cma.c */
	struct drv_list addrs, bound;
	uint16_t last_port;
	uint32_t last_psn;
	unsigned roce_version; /* of connections by IP address on Ethernet ports */
};

static inline struct cm_id *cm_id_of(struct ib_cm_id *id)
{
	return container_of(id, struct cm_id, ib);
}

static inline struct cm_device *cm_of(const struct ib_device *device)
{
	return device->cm;
}

static inline uint64_t cm_now(const struct cm_device *cm)
{
	return cm->p->ops->now_ps(cm->p);
}

/* 4.096 us * 2^code. */
static inline uint64_t cm_time_ps(unsigned code)
{
	return UINT64_C(4096000) << (code & 31);
}

/* --- cm.c --- */

void cm_wake(struct cm_device *cm);
/* Starts a thread of the device. At its end the thread calls cm_thread_ends(), which decreases
 * cm->threads. */
void cm_thread_start(struct cm_device *cm, const char *name, void (*fn)(void *arg));
void cm_thread_ends(struct cm_device *cm);

/* --- cm_id.c --- */

/* NULL: no memory. */
struct cm_id *cm_id_new(struct cm_device *cm, ib_cm_handler handler, void *context);
/* Ends the id and whatever it has under way. None of its handlers may be running. */
void cm_id_end(struct cm_id *id);
/* NULL: there is no such id, or it is being destroyed. */
struct cm_id *cm_id_find(struct cm_device *cm, uint32_t local_id);
struct cm_id *cm_id_find_pair(struct cm_device *cm, uint32_t local_id, uint32_t remote_id);
struct cm_id *cm_find_listener(struct cm_device *cm, uint64_t service_id);
/* The ids in host byte order. */
static inline uint32_t cm_local(const struct cm_id *id)
{
	return be32toh(id->ib.local_id);
}

static inline uint32_t cm_remote(const struct cm_id *id)
{
	return be32toh(id->ib.remote_id);
}

void cm_set_state(struct cm_id *id, enum ib_cm_state state);
/* Calls the handler. The handler may destroy the id. */
void cm_deliver(struct cm_id *id, struct ib_cm_event *event);
/* Nobody destroys the id between the two. Behind them it goes, if `destroying` is set. */
void cm_id_hold(struct cm_id *id);
void cm_id_let_go(struct cm_id *id);
/* No message of the id waits for an answer any more. */
void cm_cancel(struct cm_id *id);

int cm_timewait_new(struct cm_id *id);
/* Stores the peer's numbers in the time-wait record, and adds it to the device's list. */
void cm_timewait_known(struct cm_id *id, uint32_t remote_id, uint64_t guid, uint32_t qpn);
void cm_enter_timewait(struct cm_id *id);
void cm_reset_to_idle(struct cm_id *id);
void cm_timewait_free(struct cm_timewait *tw);
struct cm_timewait *cm_timewait_by_remote_id(struct cm_device *cm, uint32_t remote_id,
					     uint64_t guid);
struct cm_timewait *cm_timewait_by_qpn(struct cm_device *cm, uint32_t qpn, uint64_t guid);
/* Handles what has timed out: messages of ids, and time-waits. Returns whether there was
 * anything. */
bool cm_expire(struct cm_device *cm);
uint64_t cm_next_deadline(const struct cm_device *cm);

/* --- cm_send.c --- */

void cm_fill_header(struct smp *smp, enum cm_attr attr, uint64_t tid);
/* Sends to the peer of an AV, once. 0 or -errno. */
int cm_post(struct cm_device *cm, const struct cm_av *av, const struct smp *smp);
/* Sends the id's request, and sets its timer and retries. If this fails, no timer runs. */
int cm_post_request(struct cm_id *id, uint64_t timeout_ps, unsigned retries);
/* Sends to the sender of a MAD. */
int cm_reply(struct cm_device *cm, const struct cm_work *work, const struct smp *smp);
/* -EINVAL: more data than there is room for, or a length without data. */
int cm_check_data(const void *data, unsigned len, unsigned room);
void cm_fill_rej(struct cm_id *id, struct smp *smp, enum ib_cm_rej_reason reason, const void *ari,
		 uint8_t ari_length, const void *data, uint8_t len);
void cm_fill_dreq(struct cm_id *id, struct smp *smp, const void *data, uint8_t len);
/* Rejects a message for an id that does not exist. */
void cm_issue_rej(struct cm_device *cm, const struct cm_work *work, enum ib_cm_rej_reason reason,
		  enum cm_message rejected, const void *ari, uint8_t ari_length);
uint64_t cm_guid_be(const struct cm_device *cm);

/* --- cm_path.c --- */

/* May sleep. -EINVAL: there is no such port. */
int cm_port_get(struct cm_device *cm, unsigned port, const struct cm_port **out);
/* Makes an AV from a local path. -EINVAL: its source GID or P_Key is not one of this device. May
 * sleep. */
int cm_av_from_path(struct cm_device *cm, const struct sa_path_rec *path, struct cm_av *av);
/* Makes an AV from a path in the peer's message, in the direction to the peer. -EINVAL: the P_Key
 * is not in the port's table. */
int cm_av_from_msg(struct cm_device *cm, unsigned port, const struct cm_path *path, uint16_t pkey,
		   uint8_t mtu, struct cm_av *av);
int cm_av_from_lap(struct cm_device *cm, unsigned port, const struct cm_lap_path *path,
		   uint16_t pkey, uint8_t mtu, struct cm_av *av);
/* The way back to the sender of a message. */
void cm_ah_from_sender(unsigned port, const struct drv_mad_addr *from, struct rdma_ah_attr *ah);
void cm_av_from_sender(unsigned port, const struct drv_mad_addr *from, struct cm_av *av);
bool cm_av_same_peer(const struct cm_av *a, const struct cm_av *b);
/* Adds what a path on an Ethernet port has in place of LIDs. */
void cm_path_add_roce(const struct cm_device *cm, const struct cm_av *av, struct sa_path_rec *path);
/* The port with that GID; 0: none. May sleep. */
unsigned cm_port_of_gid(struct cm_device *cm, const uint8_t gid[16]);
void cm_path_to_msg(const struct sa_path_rec *path, const struct cm_av *av, struct cm_path *out);
void cm_path_to_lap(const struct sa_path_rec *path, const struct cm_av *av,
		    struct cm_lap_path *out);
/* Makes a path record, in the direction from here to the peer. */
void cm_path_from_msg(const struct cm_path *in, uint16_t pkey, uint8_t mtu,
		      struct sa_path_rec *path);
void cm_path_from_lap(const struct cm_lap_path *in, uint16_t pkey, uint8_t mtu,
		      struct sa_path_rec *path);
/* The smallest ACK timeout code (of a QP) that covers two packet life times and the HCA's delay. */
uint8_t cm_ack_timeout(unsigned ack_delay, unsigned life_time);

/* --- who takes what came --- */

void cm_received(struct cm_device *cm, struct cm_work *work);
void cm_req_came(struct cm_device *cm, struct cm_work *work);
void cm_lap_came(struct cm_device *cm, struct cm_work *work);
void cm_apr_came(struct cm_device *cm, struct cm_work *work);
void cm_sidr_req_came(struct cm_device *cm, struct cm_work *work);
void cm_sidr_rep_came(struct cm_device *cm, struct cm_work *work);
/* Ends SIDR_REQ_RCVD when the user has not answered. */
void cm_sidr_refuse(struct cm_id *id);

/* --- cma.c --- */

void cma_addr_clear(struct cm_device *cm);

/* --- sa_query.c --- */

int cm_sa_start(struct cm_device *cm);
void cm_sa_stop(struct cm_device *cm);

#endif
