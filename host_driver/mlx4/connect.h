/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting queue pairs: the steps INIT, RTR and RTS, each with the attributes that it needs. The
 * caller must know the peer's numbers.
 */
#ifndef HOST_DRIVER_MLX4_CONNECT_H
#define HOST_DRIVER_MLX4_CONNECT_H

#include "host_driver/mlx4/mlx4.h"

/* For RC, UC and XRC. UC ignores retries, timers and READs. */
struct drv_rc_path {
	unsigned port; /* this side's port; 0: port 1 */
	unsigned pkey_index;
	unsigned access; /* enum ibv_access_flags: what the peer's requests may do */
	unsigned lid, sl, src_path_bits, static_rate;
	bool is_global;
	uint8_t dgid[DRV_GID_BYTES];
	unsigned sgid_index, hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t dmac[MAC_BYTES]; /* on an Ethernet port */
	enum ibv_mtu path_mtu;   /* 0: 4096 */
	uint32_t dest_qpn;
	uint32_t rq_psn, sq_psn;
	unsigned timeout; /* 4.096 us * 2^n; 0: never */
	unsigned retry_cnt, rnr_retry;
	unsigned min_rnr_timer;
	unsigned max_rd_atomic, max_dest_rd_atomic;
};

/* timeout 14, 7 retries of both kinds, RNR timer 12 (0.64 ms), 4 reads each way, all remote access,
 * MTU 4096, port 1. */
struct drv_rc_path drv_rc_path_default(unsigned lid, uint32_t dest_qpn);

int drv_qp_to_init(struct drv_qp *qp, const struct drv_rc_path *path);
int drv_qp_to_rtr(struct drv_qp *qp, const struct drv_rc_path *path);
int drv_qp_to_rts(struct drv_qp *qp, const struct drv_rc_path *path);
/* Makes all three steps. */
int drv_qp_connect(struct drv_qp *qp, const struct drv_rc_path *path);

/* A UD queue pair from reset to RTS. */
int drv_ud_qp_start(struct drv_qp *qp, unsigned port, unsigned pkey_index, uint32_t qkey,
		    uint32_t sq_psn);

#endif
