/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which packets a connected QP takes, by the path they came on: source LID, port, P_Key; and
 * automatic path migration. From: requester, responder, both with the packets they get; qp
 * (software asks for migration). No time of its own.
 *
 * States: MIGRATED: one path, all packets say MigReq 1. REARM: software has loaded an alternate
 * path; packets say 0, and the first that comes with 0 arms the QP. ARMED: a packet with MigReq 1
 * that came on the alternate path, retries that are used up, or software let the QP migrate: the
 * alternate path becomes the primary one, and event PATH_MIG says so. What asks for a path that is
 * not the alternate one, or that can not be used, changes nothing: event PATH_MIG_FAILED.
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
 * Whether a packet for this QP of service RC, UC or XRC came on its path; migrates when it asks for
 * it. Another service's: always. The context may have changed, and is to be looked up again.
 */
bool qp_path_accepts(struct qp *qp, enum context_use use, struct qpc *qpc,
		     const struct packet *pkt);
/* The same partition, and not limited members on both sides (IBA 10.9.3). */
static inline bool qp_path_pkeys_meet(uint32_t a, uint32_t b)
{
	return ((a ^ b) & ~(uint32_t)PKEY_FULL_MEMBER) == 0 && (a & ~(uint32_t)PKEY_FULL_MEMBER) &&
	       ((a | b) & PKEY_FULL_MEMBER);
}

/* An ARMED QP whose alternate path can be used migrates: true. False: nothing is changed, and
 * nothing told. */
bool qp_path_migrate(struct qp *qp, enum context_use use, struct qpc *qpc);
/* Software has asked for migration (QP_PM_ASKED, set by firmware): done, or refused by event. */
void qp_path_asked(struct qp *qp, struct qpc *qpc);

#endif
