/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Management datagrams: MAD_IFC to the device's own agents, QP0 and QP1 of each port, and the
 * agents that answer requests from the wire.
 *
 * The agents of a port are one host thread. Requests that arrive are executed by MAD_IFC, and the
 * answer is sent back. A response goes to the caller of drv_mad_call() that waits for its
 * transaction id. Directed-route SMPs follow the SMI rules of a channel adapter (IBA 14.2.2).
 */
#ifndef HOST_DRIVER_MLX4_MAD_H
#define HOST_DRIVER_MLX4_MAD_H

#include "host_driver/mlx4/mlx4.h"
#include "model/interface/wire.h"

struct drv_mad_addr {
	unsigned dlid, sl, path_bits; /* LID_PERMISSIVE: directed route */
	uint32_t qpn, qkey;           /* of the receiver */
	struct drv_ah_attr ah;        /* on an Ethernet port, in place of the LIDs */
};

/* Where a MAD came from, for MAD_IFC. NULL: the request is the host's own, and keys are not
 * checked. */
struct drv_mad_source {
	unsigned slid, sl, path_bits, pkey_index;
	uint32_t src_qp, my_qpn; /* my_qpn 0 or 1 */
	bool has_grh;
	uint8_t grh[GRH_BYTES];
};

/* in and out have MAD_BYTES. 0: the device has answered; the answer has its own status. */
int drv_mad_ifc(struct drv_device *dev, unsigned port, const struct drv_mad_source *source,
		const void *in, void *out);
/* A Get of an SMP attribute of this host's own port; `data` has 64 bytes. -EIO: the MAD's status is
 * not 0. */
int drv_smp_get(struct drv_device *dev, unsigned port, enum smp_attr attr, uint32_t attr_mod,
		void *data);

/* Sends one MAD from QP `qpn` (0 or 1) of the port. What the send queue has no room for waits in
 * the agent, in order, as in Linux's ib_mad. -ENODEV while the port has no agents. */
int drv_mad_send(struct drv_device *dev, unsigned port, unsigned qpn, const struct drv_mad_addr *to,
		 const void *mad);
/* Sends a request (its transaction id is set here) and waits for the answer: 0 or -ETIMEDOUT. No
 * retries. */
int drv_mad_call(struct drv_device *dev, unsigned port, unsigned qpn, const struct drv_mad_addr *to,
		 void *request, void *response, uint64_t timeout_ps);

/* MADs that the port's agents do not handle (traps, SA and CM requests, SMInfo) are given to `fn`,
 * in the agents' thread. NULL: they are dropped. `fn` may send, but must not wait for an answer.
 * `from`: where an answer goes. */
typedef void drv_mad_handler(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
			     const struct drv_mad_addr *from, const struct smp *mad);
void drv_mad_register(struct drv_device *dev, unsigned port, drv_mad_handler *fn, void *arg);
/* The same for the requests of one class, which the handler above then does not get. -EBUSY: the
 * class already has a handler; -ENOSPC: too many handlers; -ENODEV: the port has no agents. */
int drv_mad_serve(struct drv_device *dev, unsigned port, unsigned mgmt_class, drv_mad_handler *fn,
		  void *arg);
/* When it returns, no call of the handler is under way. */
void drv_mad_unserve(struct drv_device *dev, unsigned port, unsigned mgmt_class);

int drv_agent_start(struct drv_device *dev, unsigned port);
void drv_agent_stop(struct drv_device *dev, unsigned port);

/* The SMI of a channel adapter. true: the packet goes on, and its hop pointer has been moved;
 * false: it is discarded. */
bool drv_smi_send(struct smp *smp, unsigned port); /* the host sends the packet */
bool drv_smi_receive(struct smp *smp,
		     unsigned port); /* the packet has come in; true: it is for this node */

/* --- what a provider has for the agents --- */

struct drv_special_init {
	unsigned port, qpn; /* 0 or 1 */
	struct drv_cq *cq;
	unsigned max_send_wr, max_recv_wr;
};

/* A datagram of QP0 or QP1: `length` bytes at a bus address. */
struct drv_special_send {
	uint64_t wr_id;
	unsigned dlid, sl, path_bits, vl;
	uint32_t dqpn, qkey;
	uint16_t pkey;
	uint64_t addr;
	uint32_t lkey, length;
	const struct drv_ah_attr *ah; /* on an Ethernet port, in place of the LIDs; else NULL */
};

int drv_special_create(struct drv_pd *pd, const struct drv_special_init *init, struct drv_qp **qp);
int drv_special_send(struct drv_qp *qp, const struct drv_special_send *send);
/* Where the agent of a port is kept; NULL: there is no such port. */
struct drv_mad_agent **drv_agent_slot(struct drv_device *dev, unsigned port);
/* Raises an asynchronous event. Any context. */
void drv_notify(struct drv_device *dev, const struct drv_event *event);
/* Ends a wait for an event of the CQ. */
void drv_cq_wake(struct drv_cq *cq);

#endif
