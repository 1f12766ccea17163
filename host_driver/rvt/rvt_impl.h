/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the transport in software, see rvt.h. Each file has a part:
 *   register.c   the hooks that each verb needs, life of a device
 *   device.c eth.c   queries, ports, events; verbs that it does not have
 *   mr.c cq.c rq.c   memory and its keys; completion queues; receive queues and SRQs
 *   qp.c post.c  queue pairs and their states; requests
 *   engine.c     one thread a port: which queue pair sends next
 *   build.c      headers of a packet
 *   requester.c response.c   the sending half of RC and UC, and what answers do to it
 *   responder.c reply.c      the receiving half of RC and UC, and its answers
 *   ud.c mcast.c datagrams, QP0 and QP1; multicast groups
 *   timer.c      ACK timeouts and RNR waits
 *   recv.c       which queue pair a packet is for
 *
 * Threads of a host are not preempted. Only hooks and waits let other threads run, so a step of the
 * protocol needs no lock.
 */
#ifndef HOST_DRIVER_RVT_IMPL_H
#define HOST_DRIVER_RVT_IMPL_H

#include "host_driver/drv/trace.h"
#include "host_driver/rvt/rvt.h"
#include "model/interface/bth_ops.h"
#include "model/interface/syndromes.h"
#include "model/interface/wire.h"

#define RVT_NEVER UINT64_MAX

enum rvt_sizes {
	RVT_MTU_MAX = 4096,
	RVT_KEY_SHIFT = 8, /* a key is the index of its region, and a variant */
	RVT_KEYS = 1 << 16,
	RVT_QPNS = 1 << 14,
	RVT_QPN_FIRST = 2,
	RVT_SGES = 32,
	RVT_READS_MAX = 16,
	RVT_PKEYS = 128,
	RVT_GIDS = 128,
	RVT_PACKETS = 64,     /* that may wait at the driver */
	RVT_PACKETS_VL15 = 4, /* of them for VL 15 alone */
	RVT_QPN_MULTICAST = 0xffffff,
	RVT_ACK_EVERY = 16, /* packets of a long message after which an ACK is asked for */
};

/* --- memory --- */

struct rvt_mr {
	struct drv_device *dev;
	struct rvt_pd *pd;
	struct drv_list link;
	uint32_t key;
	unsigned access;
	uint64_t iova, len;
	uint8_t *cpu;    /* of the first byte; NULL: pages */
	uint8_t **pages; /* of PLATFORM_PAGE_SIZE; NULL: cpu */
	bool bus_wide;   /* all bus addresses */
};

struct rvt_pd {
	struct drv_device *dev;
	struct drv_list link;
	unsigned users;
};

/* --- completion queues --- */

/* A doorbell page. Requests are posted by calls, so there is nothing behind it but its users. */
struct rvt_uar {
	struct drv_device *dev; /* first, as in every object that drv_* takes */
	unsigned users;         /* CQs */
};

struct rvt_cq {
	struct drv_device *dev;
	struct rvt_uar *uar; /* NULL: the device's own */
	void *owner;
	struct drv_list link, due; /* due: a completion event waits to be told */
	struct platform_waitq *waitq;
	void (*fn)(void *arg, struct drv_cq *cq);
	void *arg;
	struct rvt_wc {
		struct drv_wc wc;
		struct rvt_qp *qp; /* whose request it frees when it is polled */
		uint32_t requests; /* of a send: the requests of qp up to here have ended */
		bool solicited;
	} * ring;
	uint32_t cqn, entries, head, tail;
	uint32_t told; /* up to here a completion event has told of */
	unsigned events, events_seen, users;
	enum { RVT_UNARMED, RVT_ARMED_SOLICITED, RVT_ARMED } armed;
	bool polled; /* makes no events */
	bool broken; /* it has overrun */
};

/* --- receive queues --- */

struct rvt_rwqe {
	uint64_t wr_id;
	unsigned num_sge;
	struct drv_sge *sge;
};

struct rvt_rq {
	struct rvt_rwqe *ring;
	struct drv_sge *sges;
	uint32_t entries, head, tail; /* entries: a power of two */
	uint32_t polled;              /* completions of them that have been polled */
	uint32_t max_post;
	unsigned max_sge;
};

struct rvt_srq {
	struct drv_device *dev;
	void *owner;
	struct drv_list link;
	struct rvt_pd *pd;
	struct rvt_rq rq;
	uint32_t srqn;
	unsigned limit, users;
};

/* --- queue pairs --- */

struct rvt_swqe {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned flags;
	bool signaled;
	unsigned num_sge;
	struct drv_sge *sge; /* max_send_sge of them */
	uint8_t *in_line;    /* max_inline_data bytes */
	uint32_t length;
	uint32_t imm;
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap;
	struct drv_ah_attr ah;
	uint32_t remote_qpn, remote_qkey;
	/* set when it begins to be sent */
	bool begun;
	uint32_t first_psn, last_psn, ssn;
	uint32_t response_psn; /* READ: the next response */
};

/* Why the requester does not send; the log shows the name. */
#define RVT_WAITS(W)                                                                               \
	W(NOTHING, "no request")                                                                   \
	W(STATE, "the state of the queue pair")                                                    \
	W(FENCE, "READs and atomics before a fence")                                               \
	W(FETCHES, "a READ or atomic in flight, there are as many as allowed")                     \
	W(RNR, "the RNR timer")                                                                    \
	W(CREDIT, "credits of the responder")                                                      \
	W(EARLIER, "the requests before one that cannot be sent")                                  \
	W(BUFFER, "a packet buffer")

enum rvt_wait {
#define RVT_WAIT_ENUM(name, why) RVT_WAIT_##name,
	RVT_WAITS(RVT_WAIT_ENUM)
#undef RVT_WAIT_ENUM
};

struct rvt_requester {
	struct rvt_swqe *ring;
	struct drv_sge *sges;
	uint8_t *in_line;
	/* requests: posted up to head, sent up to cur, completed up to tail; polled: slots given
	 * back by the user's polls */
	uint32_t entries, head, cur, tail, polled, max_post;
	uint32_t next_psn; /* of the next request that begins */
	uint32_t psn;      /* of the next packet; within ring[cur] when that has begun */
	uint32_t sent_psn; /* after the last packet that was ever sent */
	uint32_t una_psn;  /* the oldest one that is not acknowledged */
	uint32_t ssn, limit_ssn;
	bool no_credits;  /* the responder does not count credits */
	bool asked_again; /* a READ response was missing, and its rest has been asked for again */
	unsigned fetches; /* READs and atomics without their responses */
	unsigned retries, rnr_retries;
	uint64_t timeout_at_ps, rnr_until_ps;
	bool draining; /* SQD: the event is still to come */
	enum rvt_wait wait;
};

/* A READ or atomic at the responder. Those that are answered stay for duplicates. */
struct rvt_fetch {
	bool atomic, due,
		again; /* due: its answer is still to be sent; again: and one has gone before */
	uint8_t opcode;
	uint32_t psn, last_psn, msn;
	uint32_t next; /* the PSN of the response to send next */
	uint64_t va, value;
	uint32_t rkey, length, first_psn;
	uint64_t asked_va; /* by the first request; a duplicate may ask for its end alone */
	uint32_t asked_rkey, asked_length;
};

struct rvt_responder {
	uint32_t psn, msn;
	enum { RVT_IN_NONE, RVT_IN_SEND, RVT_IN_WRITE } message;
	bool has_rwqe;
	struct rvt_rwqe rwqe;
	struct drv_sge rwqe_sges[RVT_SGES];
	uint32_t offset; /* bytes of the message so far */
	uint64_t va;     /* WRITE */
	uint32_t rkey, length;
	bool lost; /* UC: packets of this message were lost */
	/* READs and atomics: those from kept to head are known */
	struct rvt_fetch fetches[RVT_READS_MAX + 1];
	uint32_t head, kept;
	/* an acknowledgement to send: that of psn - 1, or a NAK */
	bool ack_due, nak_due;
	bool nak_sent; /* until the expected PSN comes */
	uint8_t nak_syndrome;
	uint32_t nak_psn;
	uint32_t ack_psn, ack_msn;
};

struct rvt_qp {
	struct drv_device *dev;
	void *owner;
	struct drv_list link, ready;
	struct rvt_pd *pd;
	struct rvt_cq *send_cq, *recv_cq;
	struct rvt_srq *srq;
	enum ibv_qp_type type;
	bool special; /* QP0 and QP1 of a port; qpn is 0 or 1 */
	enum ibv_qp_state state;
	uint32_t qpn;
	unsigned port;
	struct drv_qp_cap cap;
	struct drv_qp_attr attr; /* as set */
	unsigned mtu;            /* RC, UC: bytes */
	bool sq_sig_all, user, is_ready, last_told;
	bool established; /* a packet has come in RTR, and the event was raised */
	unsigned packets; /* at the driver, or on their way to it */
	struct rvt_requester req;
	struct rvt_responder resp;
	struct rvt_rq rq;
};

struct rvt_group {
	struct drv_list link;
	uint8_t mgid[DRV_GID_BYTES];
	struct rvt_qp *qp;
	bool block_loopback;
};

/* --- counters: C(stage, counter), those of model/engine/base/stats.h that a transport has --- */

/* clang-format off */
#define RVT_COUNTERS(C)                                                                            \
	C(requester, packets)                                                                      \
	C(retry, retransmitted) C(retry, ack_timeouts) C(retry, rnr_waits) C(retry, sequence_naks) \
	C(multicast, packets) C(multicast, copies) C(multicast, unwanted)                          \
	C(responder, packets) C(responder, duplicates) C(responder, out_of_sequence)               \
	C(responder, acks) C(responder, naks) C(responder, rnr_naks)                               \
	C(responder, read_responses) C(responder, dropped)                                         \
	C(atomic_read, atomics) C(atomic_read, replays)                                            \
	C(srq, taken) C(srq, limits)                                                               \
	C(cqe_write, cqes) C(cqe_write, overruns)
/* clang-format on */

struct rvt_counters {
#define RVT_COUNTER_MEMBER(stage, counter) uint64_t stage##_##counter;
	RVT_COUNTERS(RVT_COUNTER_MEMBER)
#undef RVT_COUNTER_MEMBER
};

/* --- the device --- */

struct rvt_port {
	struct rvt_device *dev;
	unsigned number;
	struct platform_waitq *waitq;
	struct drv_list ready[2];      /* queue pairs with something to send; QP0's is [1] */
	struct rvt_packet *stalled[2]; /* -EAGAIN */
	bool ready_told[2];            /* the driver has send buffers again, since the last try */
	bool thread;
	struct rvt_qp *special[2];
	struct drv_mad_agent *agent;
	/* as its agents have them */
	unsigned lid, lmc;
	uint16_t pkeys[RVT_PKEYS];
	uint8_t gids[RVT_GIDS][DRV_GID_BYTES];
	unsigned n_pkeys, n_gids;
	bool active;
	unsigned mtu; /* bytes */
	unsigned events;
	unsigned bad_pkeys, bad_qkeys;
};

struct rvt_device {
	struct drv_base base; /* first */
	struct drv_ops ops;   /* the driver's own entries, and the transport's for the rest */
	const struct rvt_hooks *hooks;
	struct rvt_limits limits;
	struct rvt_counters counters;
	void *driver;
	struct drv_list pd_list, mr_list, cq_list, srq_list, qp_list, groups;
	struct rvt_mr **keys;
	struct rvt_qp **qps;
	uint8_t *key_variants;
	uint32_t key_last, qpn_last, cqn_last, srqn_last;
	struct drv_list due; /* CQs with an event to tell */
	struct rvt_port ports[RVT_PORTS_MAX + 1];
	struct drv_list free_packets[2]; /* QP0's are [1] */
	struct rvt_packet *packets;
	struct platform_waitq *port_waitq, *done_waitq, *timer_waitq;
	void (*event_fn)(void *arg, const struct drv_event *event);
	void *event_arg;
	void (*softirq_fn)(void *arg);
	void *softirq_arg;
	void (*discard_fn)(void *arg, struct drv_cq *cq, const struct drv_wc *wc);
	void *discard_arg;
	uint64_t timer_at_ps; /* the timer's thread sleeps until then */
	bool stop, dead, timer_thread;
};

static inline struct rvt_device *rvt_of(struct drv_device *dev)
{
	return (struct rvt_device *)(void *)dev;
}

static inline struct drv_device *rvt_drv(struct rvt_device *dev)
{
	return (struct drv_device *)(void *)dev;
}

/* An object of this transport behind its handle. */
#define RVT_OBJECT(kind)                                                                           \
	static inline struct rvt_##kind *rvt_##kind##_of(const struct drv_##kind *handle)          \
	{                                                                                          \
		return (struct rvt_##kind *)(uintptr_t)handle;                                     \
	}                                                                                          \
	static inline struct drv_##kind *drv_##kind##_handle(struct rvt_##kind *object)            \
	{                                                                                          \
		return (struct drv_##kind *)(void *)object;                                        \
	}
RVT_OBJECT(pd)
RVT_OBJECT(mr)
RVT_OBJECT(cq)
RVT_OBJECT(srq)
RVT_OBJECT(qp)

static inline struct rvt_device *rvt_dev(const void *object)
{
	return rvt_of(drv_device_of(object));
}

static inline uint64_t rvt_now(struct rvt_device *dev)
{
	return dev->base.p->ops->now_ps(dev->base.p);
}

static inline struct rvt_counters *rvt_counters(const void *object)
{
	return &rvt_dev(object)->counters;
}

static inline void rvt_cpu(struct rvt_device *dev, uint64_t ps)
{
	if (ps)
		dev->base.p->ops->cpu_ps(dev->base.p, ps);
}

static inline void rvt_wake(struct rvt_device *dev, struct platform_waitq *q)
{
	dev->base.p->ops->waitq_wake_all(dev->base.p, q);
}

/* The transport's entries of the table. */
#define RVT_OP(result, name, parameters, device, arguments) result rvt_##name parameters;
DRV_OPS(RVT_OP)
#undef RVT_OP

/* --- mr.c --- */

enum rvt_way { RVT_TO_MEMORY, RVT_FROM_MEMORY };

/* The region of a key, when it allows the access to [va, va + len); NULL otherwise. */
struct rvt_mr *rvt_mr_find(struct rvt_device *dev, const struct rvt_pd *pd, uint32_t key,
			   uint64_t va, uint64_t len, unsigned access);
/* Copies between memory and a buffer. -EACCES: the key does not allow it, nothing was copied. */
int rvt_mr_copy(struct rvt_device *dev, const struct rvt_pd *pd, uint32_t key, uint64_t va,
		void *bytes, uint32_t len, unsigned access, enum rvt_way way);
/* The same for bytes [offset, offset + len) of a list. -EMSGSIZE: the list is shorter. */
int rvt_sges_copy(struct rvt_device *dev, const struct rvt_pd *pd, const struct drv_sge *sge,
		  unsigned n, uint32_t offset, void *bytes, uint32_t len, enum rvt_way way);
uint64_t rvt_sges_bytes(const struct drv_sge *sge, unsigned n);

/* --- cq.c --- */

/* Adds a completion. `qp`: whose request is freed when it is polled, NULL: none is. */
void rvt_cq_add(struct rvt_cq *cq, struct rvt_qp *qp, const struct drv_wc *wc, bool solicited);
/* Removes what a queue pair has in it. */
void rvt_cq_clean(struct rvt_cq *cq, struct rvt_qp *qp);
/* Calls the functions of those CQs that have an event to tell. */
void rvt_cqs_tell(struct rvt_device *dev);

/* --- rq.c --- */

int rvt_rq_init(struct rvt_rq *rq, unsigned max_wr, unsigned max_sge);
void rvt_rq_cleanup(struct rvt_rq *rq);
int rvt_rq_post(struct rvt_rq *rq, const struct drv_recv_wr *wr);
static inline uint32_t rvt_rq_count(const struct rvt_rq *rq)
{
	return rq->head - rq->tail;
}
/* Takes the next receive of a queue pair, its own or its SRQ's, as resp.rwqe. False: there is
 * none. */
bool rvt_rwqe_take(struct rvt_qp *qp);
/* The domain whose keys count for receives: an SRQ has its own (IBA 10.2.9.1). */
static inline const struct rvt_pd *rvt_receive_pd(const struct rvt_qp *qp)
{
	return qp->srq ? qp->srq->pd : qp->pd;
}

/* --- qp.c --- */

/* What a queue pair does in each state. */
enum rvt_may {
	RVT_POST_RECV = 1 << 0,
	RVT_POST_SEND = 1 << 1,
	RVT_RECEIVE = 1 << 2, /* takes requests */
	RVT_SEND = 1 << 3,    /* sends, and takes responses */
	RVT_BEGIN = 1 << 4,   /* begins requests */
	RVT_FLUSH_SEND = 1 << 5,
	RVT_FLUSH_RECV = 1 << 6,
};
bool rvt_may(const struct rvt_qp *qp, enum rvt_may what);
struct rvt_qp *rvt_qp_lookup(struct rvt_device *dev, unsigned port, uint32_t qpn);
/* To the error state, and what is posted is flushed. */
void rvt_qp_error(struct rvt_qp *qp);
/* The send queue's error state of unreliable services. */
void rvt_qp_send_error(struct rvt_qp *qp);
void rvt_qp_flush(struct rvt_qp *qp);
void rvt_qp_event(struct rvt_qp *qp, enum ibv_event_type type);
unsigned rvt_mtu_bytes(enum ibv_mtu mtu);
enum qp_service rvt_service(const struct rvt_qp *qp);

/* --- device.c --- */

void rvt_event(struct rvt_device *dev, const struct drv_event *event);
/* Notes that a verb is refused, because the transport lacks it. -EOPNOTSUPP. */
int rvt_refuse(struct drv_device *dev, const char *verb);
/* Reads what the port's agents hold. */
int rvt_port_refresh(struct rvt_port *port);
enum { PKEY_MEMBERS = 0x7fff }; /* the number of a partition, without the bit of full members */
bool rvt_pkeys_match(uint16_t one, uint16_t other);
int rvt_pkey_find(const struct rvt_port *port, uint16_t pkey);
/* The LID of this port that a path begins at. */
static inline unsigned rvt_path_lid(const struct rvt_port *port, const struct drv_ah_attr *ah)
{
	return port->lid | (ah->src_path_bits & ((1u << port->lmc) - 1));
}

/* --- engine.c --- */

int rvt_engines_start(struct rvt_device *dev);
void rvt_engines_stop(struct rvt_device *dev);
/* Tells what is due, and sends a packet of each class. False: there was nothing to do. */
bool rvt_engine_step(struct rvt_port *port);
/* The queue pair may have something to send. */
void rvt_schedule(struct rvt_qp *qp);
void rvt_unschedule(struct rvt_qp *qp);
/* Waits until the driver has no packet of the queue pair. */
void rvt_quiesce(struct rvt_qp *qp);

/* --- path.c --- */

struct rvt_in;
/* Whether the path's static rate is below the rate of the queue pair's port. */
bool rvt_path_slower(struct rvt_qp *qp, const struct drv_ah_attr *ah);
/* Whether a packet for a connected queue pair came on its path. It may arm the queue pair, or move
 * it to its alternate path. */
bool rvt_path_accepts(struct rvt_qp *qp, const struct rvt_in *in);
/* Moves an armed queue pair to its alternate path, and tells. False: it has none, or cannot. */
bool rvt_path_migrate(struct rvt_qp *qp);
/* What software asks for by IBV_QP_PATH_MIG_STATE. 0 or -EINVAL. */
int rvt_path_state_check(const struct rvt_qp *qp, enum ibv_mig_state to);
void rvt_path_state_set(struct rvt_qp *qp, enum ibv_mig_state to);

/* --- build.c --- */

struct rvt_headers {
	uint8_t opcode;
	const struct drv_ah_attr *ah;
	uint16_t pkey;
	uint32_t dqpn, psn;
	bool solicited, ack_req;
	/* extended headers as the opcode has them */
	uint32_t imm;
	uint64_t va;
	uint32_t rkey, dma_len;
	uint64_t swap_add, compare;
	uint32_t qkey, sqpn;
	uint8_t syndrome;
	uint32_t msn;
	uint64_t original;
};

/* Writes the headers; returns the place of the payload, whose length is `payload`. */
uint8_t *rvt_build(const struct rvt_qp *qp, struct rvt_packet *packet, const struct rvt_headers *h,
		   uint32_t payload);

/* --- the halves of a queue pair. *_next: makes the next packet; false: there is none --- */

bool rvt_requester_next(struct rvt_qp *qp, struct rvt_packet *packet);
bool rvt_reply_next(struct rvt_qp *qp, struct rvt_packet *packet);
bool rvt_datagram_next(struct rvt_qp *qp, struct rvt_packet *packet);
void rvt_requester_reset(struct rvt_qp *qp);
void rvt_responder_reset(struct rvt_qp *qp);
/* The driver has given back the last packet of an unreliable message. */
void rvt_unreliable_sent(struct rvt_qp *qp, enum rvt_sent how);
/* The oldest request ends with that status. */
void rvt_request_end(struct rvt_qp *qp, enum ibv_wc_status status, uint32_t byte_len);
/* A requester's verdict: the request fails, and the queue pair goes where the row says. */
void rvt_request_fail(struct rvt_qp *qp, enum ibv_wc_status status);
void rvt_restart(struct rvt_qp *qp, uint32_t psn);
/* Takes one of the retries; a new path has all of them again. False: there was none, and the oldest
 * request has failed. */
bool rvt_retry_take(struct rvt_qp *qp);
void rvt_drained_check(struct rvt_qp *qp);
static inline struct rvt_swqe *rvt_swqe_at(const struct rvt_qp *qp, uint32_t index)
{
	return &qp->req.ring[index & (qp->req.entries - 1)];
}
static inline bool rvt_is_fetch(const struct rvt_swqe *w)
{
	return w->opcode == IBV_WR_RDMA_READ || w->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       w->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* --- receiving --- */

/* A packet whose parts are known. */
struct rvt_in {
	struct rvt_port *port;
	const struct lrh *lrh;
	const struct grh *grh; /* NULL: none */
	const struct bth *bth;
	const uint8_t *ext[BTH_EXTS]; /* extended headers; NULL: none */
	const struct bth_op *op;
	uint32_t psn;
	const uint8_t *payload;
	uint32_t len; /* without pad */
	unsigned pkey_index;
	bool looped; /* from this port to itself */
};

void rvt_deliver(struct rvt_device *dev, unsigned port, const uint8_t *header, uint32_t header_len,
		 const uint8_t *payload, uint32_t len, bool looped);
void rvt_request_came(struct rvt_qp *qp, const struct rvt_in *in);
void rvt_response_came(struct rvt_qp *qp, const struct rvt_in *in);
void rvt_datagram_came(struct rvt_qp *qp, const struct rvt_in *in);
/* The first READ or atomic whose answer is due; NULL: there is none. */
struct rvt_fetch *rvt_fetch_due(struct rvt_qp *qp);
/* Completes resp.rwqe. */
void rvt_receive_end(struct rvt_qp *qp, const struct rvt_in *in, enum ibv_wc_status status,
		     uint32_t byte_len);

/* --- timer.c --- */

int rvt_timer_start(struct rvt_device *dev);
void rvt_timer_stop(struct rvt_device *dev);
/* Runs what is due; the next deadline. */
uint64_t rvt_timer_step(struct rvt_device *dev);
/* A deadline of the queue pair has changed. */
void rvt_timer_changed(struct rvt_qp *qp);
void rvt_timeout(struct rvt_qp *qp);

/* --- mcast.c --- */

void rvt_groups_drop(struct rvt_qp *qp);

#endif
