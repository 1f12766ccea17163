/* SPDX-License-Identifier: Apache-2.0 */
/* See qp_path.h. */
#include "model/engine/qp/qp_path.h"

#include "model/engine/memory/context_cache.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/qp/qp.h"
#include "model/interface/queues.h"
#include "model/interface/wire.h"
#include "model/sim/params/hca.h"

#include <string.h>

static const struct bth *bth_of(const struct packet *pkt)
{
	return (const struct bth *)(const void *)(pkt->wire + pkt->bth_off);
}

static uint32_t path_pkey(struct hca *hca, const struct qp_path *path)
{
	return link_port_config(hca, qp_path_get_port(path) + 1)
		->pkeys[qp_path_get_pkey_index(path)];
}

enum { GUID_AT = 8 }; /* in a GID */

static const uint64_t link_local = 0xfe80000000000000; /* the prefix that every port answers to */

static bool gid_is(const uint8_t *gid, uint64_t prefix, uint64_t guid)
{
	const uint64_t its = be64_load(gid);

	return be64_load(gid + GUID_AT) == guid && (its == prefix || its == link_local);
}

/* A path with a GRH accepts only packets with a GRH that carries the path's two GIDs (IBA 9.6.1.2).
 * */
static bool __attribute__((noinline, cold))
grh_fits(struct hca *hca, const struct packet *pkt, const struct qp_path *path)
{
	const struct port_config *port = link_port_config(hca, qp_path_get_port(path) + 1);
	const struct grh *grh = (const struct grh *)(const void *)(pkt->wire + pkt->l3_off);
	const uint8_t *peer = qp_path_rgid_cptr(path);

	return qp_path_get_grh(path) && pkt->l3_off &&
	       gid_is(grh_dgid_cptr(grh), port->gid_prefix,
		      port->guids[qp_path_get_mgid_index(path) % PORT_MAX_GIDS]) &&
	       gid_is(grh_sgid_cptr(grh), be64_load(peer), be64_load(peer + GUID_AT));
}

/* The DLID, known to be one of the port's own LIDs, has the path bits that the path sends from. */
static bool path_bits_fit(const struct port_config *port, const struct lrh *lrh,
			  const struct qp_path *path)
{
	return __builtin_expect(!port->lmc, 1) ||
	       !((lrh_get_dlid(lrh) ^ qp_path_get_path_bits(path)) & ((1u << port->lmc) - 1));
}

/* On an Ethernet port: both GIDs are those the QP sends with, source and destination
 * exchanged. MACs are not compared (assumption: a MAC belongs to the network between the ends, and
 * changes when a router or an address changes). */
static bool __attribute__((noinline, cold))
frame_fits(struct hca *hca, const struct packet *pkt, const struct qp_path *path)
{
	const struct eth_port *eth = link_port_config(hca, pkt->port)->eth;
	uint8_t sgid[16], dgid[16];

	packet_sgid(pkt, sgid);
	packet_dgid(pkt, dgid);
	return !memcmp(sgid, qp_path_rgid_cptr(path), sizeof(sgid)) &&
	       !memcmp(dgid, eth->gids[qp_path_get_mgid_index(path)].gid, sizeof(dgid));
}

/* The packet came in at the path's port, and its addresses are those the QP sends with, source and
 * destination exchanged (IBA 9.6.1.5). */
static bool came_on(struct hca *hca, const struct packet *pkt, const struct qp_path *path)
{
	const struct lrh *lrh = (const struct lrh *)(const void *)pkt->wire;

	if (__builtin_expect(pkt->ethernet, 0))
		return pkt->port == qp_path_get_port(path) + 1 && frame_fits(hca, pkt, path);
	return pkt->port == qp_path_get_port(path) + 1 &&
	       lrh_get_slid(lrh) == qp_path_get_rlid(path) &&
	       path_bits_fit(link_port_config(hca, pkt->port), lrh, path) &&
	       (__builtin_expect(!(pkt->l3_off | qp_path_get_grh(path)), 1) ||
		grh_fits(hca, pkt, path));
}

static bool usable(struct hca *hca, const struct qp_path *path)
{
	unsigned port = qp_path_get_port(path) + 1;

	return port <= param_hca_ports(hca->params) && qp_path_get_rlid(path) &&
	       link_port_config(hca, port)->logical == PORT_STATE_ACTIVE &&
	       path_pkey(hca, path) & ~(uint32_t)PKEY_FULL_MEMBER;
}

static void refused(struct qp *qp, const char *why)
{
	HCA_TRACE(qp->hca, TP_QP_STATE, .qpn = qp->qpn, .text = why);
	event_queue_qp(qp->hca, EVENT_PATH_MIG_FAILED, qp->qpn);
}

bool qp_path_migrate(struct qp *qp, enum context_use use, struct qpc *qpc)
{
	if (qpc_get_pm_state(qpc) != QP_PM_ARMED || !usable(qp->hca, qpc_alternate_const(qpc)))
		return false;
	*qpc_primary(qpc) = *qpc_alternate_const(qpc);
	qpc_set_pm_state(qpc, QP_PM_MIGRATED);
	context_changed(qp->hca, use, qp->qpn);
	HCA_TRACE(qp->hca, TP_QP_STATE, .qpn = qp->qpn, .text = "migrated to the alternate path");
	qp_path_changed(qp, qpc);
	event_queue_qp(qp->hca, EVENT_PATH_MIG, qp->qpn);
	return true;
}

void qp_path_asked(struct qp *qp, struct qpc *qpc)
{
	qpc_set_pm_state(qpc, QP_PM_ARMED);
	context_changed(qp->hca, CONTEXT_REQUESTER, qp->qpn);
	if (!qp_path_migrate(qp, CONTEXT_REQUESTER, qpc))
		refused(qp, "migration asked for, the alternate path can not be used");
}

static void __attribute__((noinline)) rearmed(struct qp *qp, enum context_use use, struct qpc *qpc)
{
	qpc_set_pm_state(qpc, QP_PM_ARMED);
	context_changed(qp->hca, use, qp->qpn);
	HCA_TRACE(qp->hca, TP_QP_STATE, .qpn = qp->qpn, .text = "armed for migration");
}

/* For a QP in REARM or ARMED: the two ends are agreeing on the path. */
static bool __attribute__((noinline))
accepts_moving(struct qp *qp, enum context_use use, struct qpc *qpc, const struct packet *pkt)
{
	unsigned state = qpc_get_pm_state(qpc);
	bool asks = bth_get_mig_req(bth_of(pkt));

	if (state == QP_PM_ARMED && asks) {
		if (came_on(qp->hca, pkt, qpc_alternate_const(qpc)) &&
		    qp_path_pkeys_meet(bth_get_pkey(bth_of(pkt)),
				       path_pkey(qp->hca, qpc_alternate_const(qpc))) &&
		    qp_path_migrate(qp, use, qpc))
			return true;
		refused(qp, "the peer asks for migration to another path");
		return false;
	}
	if (!came_on(qp->hca, pkt, qpc_primary_const(qpc)))
		return false;
	if (state == QP_PM_REARM && !asks)
		rearmed(qp, use, qpc);
	return true;
}

bool qp_path_accepts(struct qp *qp, enum context_use use, struct qpc *qpc, const struct packet *pkt)
{
	unsigned service = qpc_get_service(qpc);

	if (service != QP_ST_RC && service != QP_ST_UC && service != QP_ST_XRC)
		return true;
	if (qpc_get_pm_state(qpc) != QP_PM_MIGRATED)
		return accepts_moving(qp, use, qpc, pkt);
	return came_on(qp->hca, pkt, qpc_primary_const(qpc));
}
