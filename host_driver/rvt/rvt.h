/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport in software, for devices that only send and receive packets. A driver of such a device
 * registers with its own entries of the operations table and with hooks. An entry that it leaves
 * NULL is the transport's own; an entry that it fills bypasses the transport.
 *
 *   verbs (drv_*) -> operations table -> the driver's own entry, or the transport's
 *   the transport -> hooks -> the driver -> device
 *   device -> the driver -> upcalls (rvt_receive, rvt_port_event, rvt_send_ready) -> the transport
 *
 * The transport has the objects, the states of queue pairs, requester and responder of RC, UC and
 * UD, SRQs, multicast and the queues of QP0 and QP1. Source of the split: Linux sw/rdmavt; there the
 * packet protocol stands in each driver, here it stands once.
 */
#ifndef HOST_DRIVER_RVT_RVT_H
#define HOST_DRIVER_RVT_RVT_H

#include "host_driver/drv/ops.h"
#include "host_driver/mlx4/alloc.h"
#include "host_driver/mlx4/mad.h"

enum {
	RVT_PACKET_BYTES = 4096 + 128, /* the largest payload with all its headers */
	RVT_PORTS_MAX = DRV_PORTS_MAX,
};

/* --- packets to send --- */

enum rvt_sent {
	RVT_SENT_OK,        /* the packet is on the wire */
	RVT_SENT_FLUSHED,   /* flush_qp() took it back */
	RVT_SENT_LINK_DOWN, /* the link's state did not let it out */
};

/*
 * One packet from the LRH to the payload's pad, without CRCs. While the driver has it, its bytes do
 * not change. The driver gives it back by done(), once, in the order in which it was sent; those on
 * VL 15 have an order of their own.
 */
struct rvt_packet {
	struct drv_list link; /* for the use of its present holder */
	void (*done)(struct rvt_packet *packet, enum rvt_sent how);
	void *owner;  /* the transport's */
	uint32_t qpn; /* of the queue pair that sends it */
	uint32_t len; /* a multiple of 4 */
	bool vl15;
	bool last; /* the transport's: the message ends with it */
	_Alignas(8) uint8_t bytes[RVT_PACKET_BYTES];
};

/* --- hooks: what the transport needs of the driver --- */

enum rvt_link_command { RVT_LINK_DOWN, RVT_LINK_POLL, RVT_LINK_ARM, RVT_LINK_ACTIVE };

/*
 * H(name, result, (parameters)). The transport holds none of its locks when it calls a hook. do_send
 * may spend CPU time, but calls no upcall and no done() before it returns.
 *
 *   query_port_state  fills *attr; state, LID, MTU and violations are those of now
 *   set_link_state    returns at once; the state is true when rvt_port_event() has come
 *   get_lid           the port's base LID and LMC
 *   qp_mtu            the path MTU of a queue pair: at most what the caller wants
 *   make_qpn          a number for a new queue pair. Optional: without it the transport counts
 *   flush_qp          may sleep. Afterwards no packet of the queue pair is in a send buffer, and
 *                     done() has been called for each
 *   do_send           0: the packet is taken; -EAGAIN: there is no send buffer, nothing is taken,
 *                     and rvt_send_ready() comes later. Packets on VL 15 have buffers of their own
 *   process_mad       executes a request for the port's agents: *out is the answer. -EINVAL: there
 *                     is none
 *   node_desc_changed the node description has another text. Optional
 */
/* clang-format off */
#define RVT_HOOKS(H) \
	H(query_port_state, int, (struct drv_device *dev, unsigned port, struct drv_port_attr *attr)) \
	H(set_link_state, int, (struct drv_device *dev, unsigned port, enum rvt_link_command command)) \
	H(get_lid, int, (struct drv_device *dev, unsigned port, unsigned *lid, unsigned *lmc)) \
	H(qp_mtu, enum ibv_mtu, (struct drv_device *dev, unsigned port, unsigned sl, enum ibv_mtu wanted)) \
	H(make_qpn, int, (struct drv_device *dev, enum ibv_qp_type type, unsigned port, uint32_t *qpn)) \
	H(flush_qp, void, (struct drv_device *dev, uint32_t qpn)) \
	H(do_send, int, (struct drv_device *dev, unsigned port, struct rvt_packet *packet)) \
	H(process_mad, int, (struct drv_device *dev, unsigned port, const struct drv_mad_source *source, const void *in, void *out)) \
	H(node_desc_changed, void, (struct drv_device *dev, const char text[64]))
/* clang-format on */

struct rvt_hooks {
#define RVT_HOOK_MEMBER(name, result, parameters) result(*name) parameters;
	RVT_HOOKS(RVT_HOOK_MEMBER)
#undef RVT_HOOK_MEMBER
};

/* What the device is, and what the transport costs. */
struct rvt_limits {
	struct drv_device_attr attr; /* the answer of drv_query_device() */
	enum ibv_mtu max_mtu;
	uint64_t packet_ps; /* CPU time of the transport for each packet, sent or received */
	uint64_t post_ps;   /* CPU time of one request posted */
};

/*
 * Makes a device of the driver's own entries and hooks; both must live as long as it. `driver` is
 * what rvt_driver() gives back. -EINVAL, with one line in err[]: an entry that is left to the
 * transport needs a hook that is missing.
 */
int rvt_register(struct platform *p, const struct drv_ops *own, const struct rvt_hooks *hooks,
		 const struct rvt_limits *limits, void *driver, struct drv_device **dev, char *err,
		 size_t err_size);
/* Starts the send engines and timers. The hooks are called from now on. */
int rvt_start(struct drv_device *dev);
/* Stops them and destroys the objects that are left; they are counted. dev is gone afterwards. */
struct drv_leftovers rvt_unregister(struct drv_device *dev);

void *rvt_driver(struct drv_device *dev);
/* Gives the node another description, as the modify_device of an operating system does. */
int rvt_describe(struct drv_device *dev, const char text[64]);

/* Packets that had a wrong key, since the device was made. The driver's agent tells them, and its manager sets them. */
struct rvt_violations {
	uint32_t pkeys, qkeys;
};
void rvt_violations(struct drv_device *dev, unsigned port, struct rvt_violations *now);

/* --- upcalls: what the driver tells the transport --- */

/*
 * A packet has come. `header` begins with the LRH and holds the extended headers too; `payload` has
 * `len` bytes with its pad. Both are valid only during the call. In interrupt context. Packets with
 * wrong CRCs are not given to the transport.
 */
void rvt_receive(struct drv_device *dev, unsigned port, const uint8_t *header, uint32_t header_len,
		 const uint8_t *payload, uint32_t len);
/* The port has changed, or what it is told by its subnet manager. Any context. */
void rvt_port_event(struct drv_device *dev, unsigned port, enum ibv_event_type type);
/* There are send buffers again, after do_send() said -EAGAIN. Any context. */
void rvt_send_ready(struct drv_device *dev, unsigned port);

/* The transport's own entries. */
extern const struct drv_ops rvt_ops;

#endif
