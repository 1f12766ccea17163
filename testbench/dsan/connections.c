// SPDX-License-Identifier: Apache-2.0
/* See connections.h. */
#include "testbench/dsan/connections.h"

#include "testbench/dsan/checker_impl.h"

#include "model/interface/cm.h"

#include <stdbool.h>
#include <stdint.h>

enum { SLOTS = 1 << 14 }; /* a power of two */

/* A message that came, by its transaction id; a peer, by its communication id. A newer one takes the
 * slot of an older one with the same hash. */
struct message {
	const struct checker *c;
	uint64_t tid;
	unsigned attr;
	uint32_t local, remote; /* communication ids as its sender has them */
};

struct peer {
	const struct checker *c;
	uint32_t id, qpn;
};

static struct message messages[SLOTS];
static struct peer peers[SLOTS];
static bool lost; /* a slot was taken from another message */

static unsigned slot_of(const struct checker *c, uint64_t key)
{
	return (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15) >> 40) ^ (uintptr_t)c / 64) % SLOTS;
}

static struct message *message_of(const struct checker *c, uint64_t tid, unsigned attr)
{
	return &messages[slot_of(c, tid ^ (uint64_t)attr << 20)];
}

void connections_came(const struct checker *c, const struct smp *mad)
{
	const struct mad_hdr *h = smp_hdr_const(mad);
	/* the two ids are at the same offset in all messages; a REQ has one only */
	const struct cm_rep *rep = (const void *)mad;
	const struct cm_req *req = (const void *)mad;
	const unsigned attr = mad_hdr_get_attr_id(h);
	struct message *m = message_of(c, mad_hdr_get_tid(h), attr);
	const uint32_t local = cm_rep_get_local_comm_id(rep);

	lost = lost || (m->c && (m->c != c || m->tid != mad_hdr_get_tid(h) || m->attr != attr));
	*m = (struct message){c, mad_hdr_get_tid(h), attr, local, cm_rep_get_remote_comm_id(rep)};
	if (attr == CM_ATTR_REQ)
		peers[slot_of(c, local)] = (struct peer){c, local, cm_req_get_local_qpn(req)};
	else if (attr == CM_ATTR_REP)
		peers[slot_of(c, local)] = (struct peer){c, local, cm_rep_get_local_qpn(rep)};
}

static const struct message *came(const struct checker *c, uint64_t tid, unsigned attr)
{
	const struct message *m = message_of(c, tid, attr);

	return m->c == c && m->tid == tid && m->attr == attr ? m : NULL;
}

/* Which messages answer which. Source: IBA 12.9.5, tables of the state machine; 12.6 TransactionID of
 * each message is that of the one it answers */
static const struct {
	unsigned attr, answers;
	bool knows; /* the receiver has told its communication id before: both ids are repeated */
} answering[] = {
	{CM_ATTR_REP, CM_ATTR_REQ, false},
	{CM_ATTR_RTU, CM_ATTR_REP, true},
	{CM_ATTR_DREP, CM_ATTR_DREQ, true},
	{CM_ATTR_APR, CM_ATTR_LAP, true},
};

static const char *answer_wrong(const struct checker *c, const struct cm_rep *is, uint64_t tid,
				unsigned answers, bool knows)
{
	const struct message *m = came(c, tid, answers);

	if (!m)
		return lost ? NULL
			    : "has a transaction id that the message which it answers had not";
	if (cm_rep_get_remote_comm_id(is) != m->local)
		return "has another remote communication id than the peer has told";
	if (knows && cm_rep_get_local_comm_id(is) != m->remote)
		return "has another local communication id than the peer has been told";
	return NULL;
}

/* A rejection or an MRA may be about any message with that transaction id. */
static const char *refusal_wrong(const struct checker *c, const struct cm_rep *is, uint64_t tid)
{
	static const unsigned about[] = {CM_ATTR_REQ, CM_ATTR_REP, CM_ATTR_LAP};
	const struct cm_rej *rej = (const void *)is;
	bool any = false;

	/* 12.6.7.2: who gives up in time may not know the peer's id */
	if (mad_hdr_get_attr_id(cm_rep_hdr_const(is)) == CM_ATTR_REJ &&
	    cm_rej_get_reason(rej) == CM_REASON_TIMEOUT)
		return NULL;
	for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++) {
		const struct message *m = came(c, tid, about[i]);

		if (m && m->local == cm_rep_get_remote_comm_id(is))
			return NULL;
		any = any || m;
	}
	return any ? "has another remote communication id than the peer has told" : NULL;
}

const char *connections_wrong(const struct checker *c, const struct smp *mad)
{
	const struct mad_hdr *h = smp_hdr_const(mad);
	const struct cm_rep *is = (const void *)mad;
	const struct cm_dreq *dreq = (const void *)mad;
	const unsigned attr = mad_hdr_get_attr_id(h);
	const uint64_t tid = mad_hdr_get_tid(h);
	const struct peer *peer;

	for (size_t i = 0; i < sizeof(answering) / sizeof(answering[0]); i++)
		if (answering[i].attr == attr)
			return answer_wrong(c, is, tid, answering[i].answers, answering[i].knows);
	if (attr == CM_ATTR_REJ || attr == CM_ATTR_MRA)
		return refusal_wrong(c, is, tid);
	if (attr != CM_ATTR_DREQ)
		return NULL;
	peer = &peers[slot_of(c, cm_dreq_get_remote_comm_id(dreq))];
	if (peer->c != c || peer->id != cm_dreq_get_remote_comm_id(dreq) ||
	    peer->qpn == cm_dreq_get_remote_qpn(dreq))
		return NULL;
	return "names another queue pair than the peer has told";
}
