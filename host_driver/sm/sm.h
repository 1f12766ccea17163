/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small subnet manager. It finds by directed-route SMPs what is at the other end of a port's
 * cable, assigns LIDs, and brings both ends to ACTIVE.
 *
 * It knows one topology: its own port, and at most one channel adapter behind it (which may be the
 * other port of the same HCA). It runs in a host thread, keeps no state after it returns, and may
 * be run again. SMPs to its own port go through MAD_IFC; those to the peer go through QP0 with one
 * hop.
 */
#ifndef HOST_DRIVER_SM_SM_H
#define HOST_DRIVER_SM_SM_H

#include "host_driver/mlx4/mlx4.h"

/* A member that is 0 has the value in brackets. */
struct sm_options {
	unsigned lid;               /* of the own port; the peer gets the next block [1] */
	unsigned lmc;               /* of both ports [0] */
	unsigned mtu;               /* largest MTU to use, enum ibv_mtu [what both ends can] */
	unsigned vls;               /* largest PortInfo VL code to use [what both ends can] */
	uint64_t link_timeout_ps;   /* how long to wait for the link to train [1 s] */
	uint64_t smp_timeout_ps;    /* for one answer [10 ms] */
	unsigned smp_retries;       /* further tries [3] */
	unsigned subnet_timeout;    /* PortInfo code [18] */
	uint64_t activate_delay_ps; /* pause before ACTIVE, so that clients see the event [0] */
};

struct sm_port {
	uint64_t node_guid, port_guid;
	unsigned port; /* number on its node */
	unsigned lid, lmc;
	enum ibv_port_state state;
	enum ibv_mtu mtu;
	unsigned vls; /* PortInfo code */
	uint64_t gid_prefix;
	unsigned rate; /* of the link, enum ib_rate */
};

struct sm_result {
	bool peer_found;
	bool peer_is_self; /* both ports of one HCA are linked */
	struct sm_port own, peer;
	unsigned smps_sent, smps_retried, smps_failed;
};

/*
 * `options` may be NULL. Returns 0 when both ends are ACTIVE and verified. -ENOLINK: there is no
 * link, and the port keeps its state; *result (which may be NULL) says so. Other -errno: an end did
 * not do what it was told; *result holds what is known. The result is set in every case.
 */
int sm_run(struct drv_device *dev, unsigned port, const struct sm_options *options,
	   struct sm_result *result);

/* Queries both ends and changes nothing: *result has their present states and LIDs. Returns as
 * sm_run(), but an end that is not ACTIVE is no error. */
int sm_discover(struct drv_device *dev, unsigned port, const struct sm_options *options,
		struct sm_result *result);

#endif
