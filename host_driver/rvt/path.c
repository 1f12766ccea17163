// SPDX-License-Identifier: Apache-2.0
/*
 * The path of a connected queue pair, and automatic path migration (IBA 17.2.8).
 *
 * Software loads an alternate path and asks for REARM. MigReq of the packets is then 0, and a packet
 * of the peer with MigReq 0 arms the queue pair. An armed queue pair moves to the alternate path when
 * software asks for it, when a packet with MigReq 1 comes on that path, or when retries are used up.
 */
#include "host_driver/rvt/rvt_impl.h"
#include "model/interface/macros.h"
#include "model/interface/static_rates.h"

#include <errno.h>

enum { SDR_MBPS = 2500 };

bool rvt_path_slower(struct rvt_qp *qp, const struct drv_ah_attr *ah)
{
	static const unsigned rates[] = {
#define R(code, mbps, multiple, speed, lanes) [code] = mbps,
		STATIC_RATES(R)
#undef R
	};
	static const unsigned lanes[] = {[LINK_WIDTH_1X] = 1,
					 [LINK_WIDTH_4X] = 4,
					 [LINK_WIDTH_8X] = 8,
					 [LINK_WIDTH_12X] = 12};
	const unsigned rate = ah->static_rate < ARRAY_SIZE(rates) ? rates[ah->static_rate] : 0;
	struct drv_port_attr port;

	if (!rate || rvt_dev(qp)->hooks->query_port_state(qp->dev, qp->port, &port))
		return false;
	/* a speed's code is the multiple of SDR, up to QDR, the fastest of these devices */
	return port.active_width < ARRAY_SIZE(lanes) &&
	       rate < port.active_speed * SDR_MBPS * lanes[port.active_width];
}

/* The packet's addresses are those that the queue pair sends with, exchanged (IBA 9.6.1.5). */
static bool came_on(const struct rvt_in *in, const struct drv_ah_attr *ah)
{
	if (lrh_get_slid(in->lrh) != ah->dlid || ah->is_global != !!in->grh ||
	    lrh_get_dlid(in->lrh) != rvt_path_lid(in->port, ah))
		return false;
	return !in->grh || (!memcmp(grh_sgid_cptr(in->grh), ah->dgid, DRV_GID_BYTES) &&
			    !memcmp(grh_dgid_cptr(in->grh),
				    in->port->gids[ah->sgid_index % RVT_GIDS], DRV_GID_BYTES));
}

/* The partition and the addresses are those of a path. */
static bool fits(const struct rvt_in *in, unsigned port, unsigned pkey_index,
		 const struct drv_ah_attr *ah, bool *bad_pkey)
{
	*bad_pkey = !rvt_pkeys_match(in->port->pkeys[pkey_index % RVT_PKEYS],
				     (uint16_t)bth_get_pkey(in->bth));
	return !*bad_pkey && port == in->port->number && came_on(in, ah);
}

/* By what is known of the port: who asks it lets other threads run, and a step of a timer does not. */
static bool usable(const struct rvt_qp *qp, unsigned port, unsigned pkey_index)
{
	const struct rvt_port *p = &rvt_dev(qp)->ports[port];

	return p->active && p->pkeys[pkey_index % RVT_PKEYS] & PKEY_MEMBERS;
}

bool rvt_path_migrate(struct rvt_qp *qp)
{
	struct drv_qp_attr *a = &qp->attr;

	if (a->path_mig_state != IBV_MIG_ARMED || !usable(qp, a->alt_port_num, a->alt_pkey_index))
		return false;
	a->ah_attr = a->alt_ah_attr;
	a->pkey_index = a->alt_pkey_index;
	a->timeout = a->alt_timeout;
	a->port_num = qp->port = a->alt_port_num;
	a->path_mig_state = IBV_MIG_MIGRATED;
	rvt_qp_event(qp, IBV_EVENT_PATH_MIG);
	return true;
}

bool rvt_path_accepts(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct drv_qp_attr *a = &qp->attr;
	const bool asks = bth_get_mig_req(in->bth);
	bool bad_pkey;

	if (a->path_mig_state == IBV_MIG_ARMED && asks) {
		if (fits(in, a->alt_port_num, a->alt_pkey_index, &a->alt_ah_attr, &bad_pkey) &&
		    rvt_path_migrate(qp))
			return true;
		in->port->bad_pkeys += bad_pkey;
		rvt_qp_event(qp, IBV_EVENT_PATH_MIG_ERR);
		return false;
	}
	if (!fits(in, qp->port, a->pkey_index, &a->ah_attr, &bad_pkey)) {
		in->port->bad_pkeys += bad_pkey;
		return false;
	}
	if (a->path_mig_state == IBV_MIG_REARM && !asks)
		a->path_mig_state = IBV_MIG_ARMED;
	return true;
}

/* Only a packet of the peer arms a queue pair. */
int rvt_path_state_check(const struct rvt_qp *qp, enum ibv_mig_state to)
{
	const enum ibv_mig_state from = qp->attr.path_mig_state;
	const bool sends = qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD;

	return to == IBV_MIG_REARM || to == from ||
			       (to == IBV_MIG_MIGRATED && from == IBV_MIG_ARMED && sends)
		       ? 0
		       : -EINVAL;
}

void rvt_path_state_set(struct rvt_qp *qp, enum ibv_mig_state to)
{
	if (to == IBV_MIG_MIGRATED && qp->attr.path_mig_state == IBV_MIG_ARMED) {
		if (!rvt_path_migrate(qp))
			rvt_qp_event(qp, IBV_EVENT_PATH_MIG_ERR);
	} else {
		qp->attr.path_mig_state = to;
	}
}
