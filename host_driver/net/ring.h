/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a network interface: a queue pair for Ethernet frames with its memory. One ring each
 * way.
 */
#ifndef HOST_DRIVER_NET_RING_H
#define HOST_DRIVER_NET_RING_H

#include "host_driver/mlx4/mlx4.h"

enum {
	RING_SLOTS = 16,
	RING_RECV_BYTES = 3 * PLATFORM_PAGE_SIZE, /* the longest frame of any MTU */
	RING_SEND_BYTES = 128,
};

struct net_ring {
	struct drv_device *dev;
	struct drv_pd *pd;
	struct drv_mr *mr;
	struct drv_cq *cq; /* of both directions */
	struct drv_qp *qp;
	uint8_t *recv[RING_SLOTS], *send;
	uint64_t recv_bus[RING_SLOTS], send_bus;
	uint32_t sent, left; /* frames posted; those of them that have left */
};

/* Makes the rings, and fills the one for receives. On failure net_ring_destroy() is to be called. */
int net_ring_create(struct net_ring *ring, struct drv_device *dev, unsigned port);
void net_ring_destroy(struct net_ring *ring);
/* -ENOBUFS: the ring is full. At most RING_SEND_BYTES. */
int net_ring_send(struct net_ring *ring, const uint8_t *frame, size_t len);
/* Takes the next frame: *wc says its length and VLAN. NULL: there is none. The frame is valid until
 * net_ring_give_back(). */
const uint8_t *net_ring_take(struct net_ring *ring, struct drv_wc *wc);
void net_ring_give_back(struct net_ring *ring, const struct drv_wc *wc);

#endif
