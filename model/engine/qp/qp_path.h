/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a connected QP accepts a packet, by the path it came on (source LID, port,
 * P_Key), and does automatic path migration. Callers: requester and responder, for each packet they
 * get; qp, when software asks for migration. Takes no simulated time.
 *
 * MIGRATED: the QP has one path, and all its packets carry MigReq 1.
 *
 * REARM: software has loaded an alternate path. The QP sends MigReq 0; the first packet with MigReq
 * 0 that it receives makes it ARMED.
 *
 * ARMED: the QP migrates when a packet with MigReq 1 comes on the alternate path, when its retries
 * are used up, or when software asks for it. The alternate path then becomes the primary one, and
 * the event PATH_MIG is posted. A request to migrate to any other path, or to one that cannot be
 * used, changes nothing and posts PATH_MIG_FAILED.
 *
 * Source: IBA 17.2.8, 9.6.1.5.
 */
#ifndef MODEL_ENGINE_QP_PATH_H
#define MODEL_ENGINE_QP_PATH_H

#include "model/engine/memory/context_cache.h"
#include "model/interface/wire.h"

struct hca;
struct packet;
struct packet_path;
struct qp;
struct qp_path;
struct qpc;

/*
 * Whether the packet came on the path of this QP. Migrates the QP when the packet asks for it.
 * Always true for services other than RC, UC and XRC. The context may have changed: the caller
 * looks it up again.
 */
bool qp_path_accepts(struct qp *qp, enum context_use use, struct qpc *qpc,
		     const struct packet *pkt);
/* Both P_Keys name the same partition, and at least one is of a full member (IBA 10.9.3). */
static inline bool qp_path_pkeys_meet(uint32_t a, uint32_t b)
{
	return ((a ^ b) & ~(uint32_t)PKEY_FULL_MEMBER) == 0 && (a & ~(uint32_t)PKEY_FULL_MEMBER) &&
	       ((a | b) & PKEY_FULL_MEMBER);
}

/* Migrates an ARMED QP whose alternate path can be used, and returns true. Otherwise returns false:
 * nothing has changed, and no event is posted. */
bool qp_path_migrate(struct qp *qp, enum context_use use, struct qpc *qpc);
/* Software has asked for migration (firmware has set QP_PM_ASKED): migrates, or posts
 * PATH_MIG_FAILED. */
void qp_path_asked(struct qp *qp, struct qpc *qpc);

#endif
