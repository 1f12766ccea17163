// SPDX-License-Identifier: Apache-2.0
/* See connections.h. */
#include "testbench/dsan/mads/connections.h"

#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/wrote.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/mads/told.h"

#include "model/interface/cm.h"

#include <endian.h>
#include <rdma/ib_cm.h>

#include <stdbool.h>
#include <stdint.h>

enum {
	HOSTS = 2,
	SLOTS = 1 << 14, /* powers of two */
	KEPT = 1 << 10,
	KINDS = CM_ATTR_APR - CM_ATTR_REQ + 1,
	CM_RETRIES_MAX = 15,
	ACK_TIMEOUT_MAX = 31, /* five bits */
	FULL_MEMBER = 0x8000,
};

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

/* A REQ or REP, by the communication id of the side that is meant. */
static struct kept {
	const struct checker *c;
	uint32_t id;
	uint64_t nth, at_ps;
	struct smp mad;
} req_sent[KEPT], rep_sent[KEPT], req_came[KEPT], rep_came[KEPT];
static uint64_t kept;

/* What was to leave last, by its kind. */
static struct sent {
	unsigned count;
	uintptr_t at; /* where its sender had it */
	struct smp mad;
} sent[HOSTS][KINDS];

/* The state that each id was set to last, by its communication id; how many connections it asked for. */
static struct state {
	const struct checker *c;
	uint32_t id;
	enum ib_cm_state state;
	unsigned begun;
	const uint64_t *deadline; /* NULL: its id is gone */
} states[KEPT];

/* A message that asks for an answer, and how often it was to leave. */
static struct repeated {
	const struct checker *c;
	uint64_t tid;
	unsigned attr, begun, times;
} repeats[SLOTS];

static struct message messages[SLOTS];
static struct peer peers[SLOTS];
static bool lost; /* a slot was taken from another message */

static unsigned slot_of(const struct checker *c, uint64_t key)
{
	/* no address: which keys meet in a slot must be the same in each run */
	return (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15) >> 40) ^ c->host.platform->host) %
	       SLOTS;
}

static struct message *message_of(const struct checker *c, uint64_t tid, unsigned attr)
{
	return &messages[slot_of(c, tid ^ (uint64_t)attr << 20)];
}

static void keep(struct kept *of, const struct checker *c, uint32_t id, const struct smp *mad)
{
	of[slot_of(c, id) % KEPT] =
		(struct kept){c, id, ++kept, c->ops->now_ps(c->host.platform), *mad};
}

/* NULL: there was none, or a newer one has its place. */
static const struct kept *kept_of(const struct kept *of, const struct checker *c, uint32_t id)
{
	const struct kept *k = &of[slot_of(c, id) % KEPT];

	return k->c == c && k->id == id ? k : NULL;
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
	if (attr == CM_ATTR_REQ)
		keep(req_came, c, local, mad);
	else if (attr == CM_ATTR_REP)
		keep(rep_came, c, cm_rep_get_remote_comm_id(rep), mad);
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

/* The kind of the message that a rejection or an MRA says it is about. 0: any */
static unsigned about_of(const struct cm_rep *is)
{
	const bool mra = mad_hdr_get_attr_id(cm_rep_hdr_const(is)) == CM_ATTR_MRA;

	switch ((enum cm_message)(mra ? cm_mra_get_message_mraed((const void *)is)
				      : cm_rej_get_message_rejected((const void *)is))) {
	case CM_MESSAGE_REQ:
		return CM_ATTR_REQ;
	case CM_MESSAGE_REP:
		return CM_ATTR_REP;
	default:
		return mra ? CM_ATTR_LAP : 0;
	}
}

/* Source: IBA 12.6.6 MRA, 12.6.7 REJ: the transaction id is that of the message that they are about */
static const char *refusal_wrong(const struct checker *c, const struct cm_rep *is, uint64_t tid)
{
	static const unsigned about[] = {CM_ATTR_REQ, CM_ATTR_REP, CM_ATTR_LAP};
	const struct cm_rej *rej = (const void *)is;
	const unsigned attr = about_of(is);
	bool any = false;

	/* 12.6.7.2: who gives up in time may not know the peer's id */
	if (mad_hdr_get_attr_id(cm_rep_hdr_const(is)) == CM_ATTR_REJ &&
	    cm_rej_get_reason(rej) == CM_REASON_TIMEOUT)
		return NULL;
	for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++) {
		const struct message *m = came(c, tid, about[i]);

		if (m && (!attr || attr == about[i]) && m->local == cm_rep_get_remote_comm_id(is))
			return NULL;
		any = any || m;
	}
	if (attr && !lost && !came(c, tid, attr))
		return "has a transaction id that the message which it is about had not";
	return any ? "has another remote communication id than the peer has told" : NULL;
}

/* Source: IBA 12.11, SIDR_REP: it has the number of its question */
static const char *found_wrong(const struct checker *c, const struct cm_rep *is, uint64_t tid)
{
	const struct message *m = came(c, tid, CM_ATTR_SIDR_REQ);

	if (!m)
		return lost ? NULL
			    : "has a transaction id that the message which it answers had not";
	/* the number is where other messages have the first communication id */
	return cm_rep_get_local_comm_id(is) == m->local
		       ? NULL
		       : "has another number than the question that it answers";
}

static struct sent *sent_of(const struct checker *c, unsigned attr)
{
	return attr - CM_ATTR_REQ < KINDS
		       ? &sent[c->host.platform->host % HOSTS][attr - CM_ATTR_REQ]
		       : NULL;
}

const struct smp *connections_sent(const struct checker *c, unsigned attr)
{
	const struct sent *s = sent_of(c, attr);

	return s && s->count ? &s->mad : NULL;
}

unsigned connections_sent_count(const struct checker *c, unsigned attr)
{
	const struct sent *s = sent_of(c, attr);

	return s ? s->count : 0;
}

unsigned connections_writers(const struct checker *c, unsigned attr, const void **pcs, unsigned max)
{
	const struct sent *s = sent_of(c, attr);
	unsigned n = 0;

	for (size_t i = 0; s && i < sizeof(s->mad) && n < max; i += WORD) {
		const void *pc = wrote_find(s->at + i, WORD);

		if (pc && (!n || pcs[n - 1] != pc))
			pcs[n++] = pc;
	}
	return n;
}

static void sent_note(const struct checker *c, const struct smp *mad)
{
	struct sent *s = sent_of(c, mad_hdr_get_attr_id(smp_hdr_const(mad)));

	if (!s)
		return;
	s->count++;
	s->at = (uintptr_t)mad;
	s->mad = *mad;
}

/* How often it was to leave so far, if it is one that asks for an answer; else 0. An id that
 * asks for a new connection does so with the same transaction id. */
static unsigned times_of(const struct checker *c, const struct smp *mad)
{
	const unsigned attr = mad_hdr_get_attr_id(smp_hdr_const(mad));
	const uint64_t tid = mad_hdr_get_tid(smp_hdr_const(mad));
	struct repeated *r = &repeats[slot_of(c, tid ^ (uint64_t)attr << 20)];
	const unsigned begun =
		states[slot_of(c, cm_rep_get_local_comm_id((const void *)mad)) % KEPT].begun;

	if (attr != CM_ATTR_REQ && attr != CM_ATTR_REP && attr != CM_ATTR_DREQ &&
	    attr != CM_ATTR_LAP && attr != CM_ATTR_SIDR_REQ)
		return 0;
	if (r->c != c || r->tid != tid || r->attr != attr || r->begun != begun)
		*r = (struct repeated){c, tid, attr, begun, 0};
	return ++r->times;
}

/* Source: IBA 12.7.27 Max CM Retries: four bits. A REP answers each REQ of its own retries, too. */
static bool too_often(unsigned times, unsigned attr)
{
	return times == 1 + (attr == CM_ATTR_REP ? 2 * (CM_RETRIES_MAX + 1) : CM_RETRIES_MAX + 1);
}

void connections_state(const struct checker *c, uint32_t id, enum ib_cm_state state,
		       const uint64_t *deadline)
{
	struct state *s = &states[slot_of(c, id) % KEPT];

	*s = (struct state){c, id, state, s->begun + (state == IB_CM_REQ_SENT), deadline};
}

/* A timer that is set behind the message may undo the end of the wait for its answer. */
static bool timer_is_off(const struct checker *c, const struct smp *mad, unsigned attr)
{
	const uint32_t id = cm_rep_get_local_comm_id((const void *)mad);
	const struct state *s = &states[slot_of(c, id) % KEPT];
	const void *taker;

	/* connection management may free an id by itself: its memory must still be there */
	return (attr == CM_ATTR_REQ || attr == CM_ATTR_REP || attr == CM_ATTR_DREQ) && s->c == c &&
	       s->id == id && s->deadline && heap_takers(s->deadline, &taker, 1) &&
	       *s->deadline == UINT64_MAX;
}

/* An answer, or what follows an RTU, may come before the call that sends goes on: it must find the state that it
 * belongs to. Source: Linux ib_send_cm_req, ib_send_cm_rep, ib_send_cm_dreq, under the id's lock; IBA 12.9.5 */
static bool state_is_old(const struct checker *c, const struct smp *mad, unsigned attr)
{
	static const struct {
		unsigned attr;
		enum ib_cm_state state;
	} asking[] = {{CM_ATTR_REQ, IB_CM_REQ_SENT},
		      {CM_ATTR_REP, IB_CM_REP_SENT},
		      {CM_ATTR_RTU, IB_CM_ESTABLISHED},
		      {CM_ATTR_DREQ, IB_CM_DREQ_SENT},
		      {CM_ATTR_SIDR_REQ, IB_CM_SIDR_REQ_SENT}};
	const uint32_t id = cm_rep_get_local_comm_id((const void *)mad);
	const struct state *s = &states[slot_of(c, id) % KEPT];

	if (s->c != c || s->id != id || s->state == IB_CM_IDLE)
		return false;
	for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++)
		if (asking[i].attr == attr)
			return s->state != asking[i].state;
	return false;
}

const char *connections_wrong(const struct checker *c, const struct smp *mad)
{
	const struct mad_hdr *h = smp_hdr_const(mad);
	const struct cm_rep *is = (const void *)mad;
	const struct cm_dreq *dreq = (const void *)mad;
	const unsigned attr = mad_hdr_get_attr_id(h);
	const uint64_t tid = mad_hdr_get_tid(h);
	const struct peer *peer;
	const unsigned times = times_of(c, mad);

	sent_note(c, mad);
	if (attr == CM_ATTR_REQ || attr == CM_ATTR_REP)
		keep(attr == CM_ATTR_REQ ? req_sent : rep_sent, c, cm_rep_get_local_comm_id(is),
		     mad);
	if (too_often(times, attr))
		return "leaves once more, though it was sent and repeated as often as a message "
		       "may be: its retries are not counted";
	if (times <= 1 && state_is_old(c, mad, attr))
		return "leaves before its connection is in the state in which the answer is "
		       "expected: an answer that comes at once is dropped";
	if (times == 1 && timer_is_off(c, mad, attr))
		return "leaves before the timer of its answer is set, which may undo the end of "
		       "that timer by an answer that comes at once";
	for (size_t i = 0; i < sizeof(answering) / sizeof(answering[0]); i++)
		if (answering[i].attr == attr)
			return answer_wrong(c, is, tid, answering[i].answers, answering[i].knows);
	if (attr == CM_ATTR_REJ || attr == CM_ATTR_MRA)
		return refusal_wrong(c, is, tid);
	if (attr == CM_ATTR_SIDR_REP)
		return found_wrong(c, is, tid);
	if (attr != CM_ATTR_DREQ)
		return NULL;
	peer = &peers[slot_of(c, cm_dreq_get_remote_comm_id(dreq))];
	if (peer->c != c || peer->id != cm_dreq_get_remote_comm_id(dreq) ||
	    peer->qpn == cm_dreq_get_remote_qpn(dreq))
		return NULL;
	return "names another queue pair than the peer has told";
}

/* --- attributes of the queue pair --- */

/* What both sides have agreed on, as one of them has it. Source: IBA 12.7, the fields of REQ and REP;
 * Linux cm_format_req, cm_format_rep, cm_rep_handler, cm_init_qp_rtr_attr */
struct agreed {
	bool peer, depths; /* the peer is known; so are the depths */
	uint32_t dest_qpn, sq_psn, rq_psn;
	unsigned mtu, retry_cnt, rnr_retry, initiator_depth, responder_resources, pkey;
	bool has_rq_psn, has_delay;
	unsigned ack_delay;
	uint64_t since_ps; /* when the REQ came or left */
};

static struct agreed agreed_active(const struct cm_req *req, const struct cm_rep *rep)
{
	return (struct agreed){.peer = true,
			       .depths = true,
			       .has_rq_psn = true,
			       .has_delay = true,
			       .ack_delay = cm_rep_get_target_ack_delay(rep),
			       .dest_qpn = cm_rep_get_local_qpn(rep),
			       .sq_psn = cm_rep_get_starting_psn(rep),
			       .rq_psn = cm_req_get_starting_psn(req),
			       .mtu = cm_req_get_path_mtu(req),
			       .pkey = cm_req_get_pkey(req),
			       .retry_cnt = cm_req_get_retry_count(req),
			       .rnr_retry = cm_rep_get_rnr_retry_count(rep),
			       .initiator_depth = cm_rep_get_responder_resources(rep),
			       .responder_resources = cm_rep_get_initiator_depth(rep)};
}

static struct agreed agreed_passive(const struct cm_req *req, const struct cm_rep *rep)
{
	struct agreed a = {.peer = true,
			   .depths = rep,
			   .has_rq_psn = rep,
			   .dest_qpn = cm_req_get_local_qpn(req),
			   .sq_psn = cm_req_get_starting_psn(req),
			   .mtu = cm_req_get_path_mtu(req),
			   .pkey = cm_req_get_pkey(req),
			   .retry_cnt = cm_req_get_retry_count(req),
			   .rnr_retry = cm_req_get_rnr_retry_count(req)};

	if (!rep)
		return a;
	a.rq_psn = cm_rep_get_starting_psn(rep);
	a.initiator_depth = cm_rep_get_initiator_depth(rep);
	a.responder_resources = cm_rep_get_responder_resources(rep);
	return a;
}

static struct agreed agreed_of(const struct checker *c, uint32_t ours, uint32_t theirs)
{
	const struct kept *asked = kept_of(req_sent, c, ours),
			  *answered = kept_of(rep_sent, c, ours);
	const struct kept *answer = kept_of(rep_came, c, ours),
			  *request = kept_of(req_came, c, theirs);
	const struct cm_rep *rep = answer ? (const void *)&answer->mad : NULL;
	struct agreed a = {0};

	if (asked && (!answered || answered->nth < asked->nth) &&
	    (!request || request->nth < asked->nth)) {
		if (!rep || answer->nth < asked->nth || cm_rep_get_local_comm_id(rep) != theirs)
			return a;
		a = agreed_active((const void *)&asked->mad, rep);
		a.since_ps = asked->at_ps;
	} else if (request) {
		if (answered && (answered->nth < request->nth ||
				 cm_rep_get_remote_comm_id((const void *)&answered->mad) != theirs))
			answered = NULL;
		a = agreed_passive((const void *)&request->mad,
				   answered ? (const void *)&answered->mad : NULL);
		a.since_ps = request->at_ps;
	}
	return a;
}

/* Source: IBA 12.7.34 Local ACK Timeout: two packet life times and the ACK delay of the peer's HCA */
unsigned connections_ack_timeout(const struct checker *c, const struct ib_cm_id *id,
				 unsigned life_time)
{
	const struct agreed a = agreed_of(c, be32toh(id->local_id), be32toh(id->remote_id));
	unsigned code = 0;

	if (!a.has_delay)
		return 0;
	while (code < ACK_TIMEOUT_MAX &&
	       UINT64_C(1) << code < (UINT64_C(1) << a.ack_delay) + (UINT64_C(2) << life_time))
		code++;
	return code;
}

void connections_attributes_check(struct checker *c, const struct ib_cm_id *id,
				  const struct ib_qp_attr *attr, unsigned mask, const char *writers)
{
	const struct agreed a = agreed_of(c, be32toh(id->local_id), be32toh(id->remote_id));
	const unsigned both = IB_QP_PKEY_INDEX | IB_QP_PORT;
	uint16_t pkey = 0;
	const bool has_pkey = (mask & both) == both &&
			      told_pkey_at(c, attr->port_num, attr->pkey_index, a.since_ps, &pkey);
	const struct {
		unsigned mask;
		const char *name;
		uint32_t is, asked;
		bool known;
	} said[] = {
		{IB_QP_DEST_QPN, "dest_qp_num", attr->dest_qp_num, a.dest_qpn, true},
		{IB_QP_PATH_MTU, "path_mtu", (uint32_t)attr->path_mtu, a.mtu, true},
		{IB_QP_RQ_PSN, "rq_psn", attr->rq_psn, a.rq_psn, a.has_rq_psn},
		{IB_QP_SQ_PSN, "sq_psn", attr->sq_psn, a.sq_psn, true},
		{IB_QP_RETRY_CNT, "retry_cnt", attr->retry_cnt, a.retry_cnt, true},
		{IB_QP_RNR_RETRY, "rnr_retry", attr->rnr_retry, a.rnr_retry, true},
		{IB_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", attr->max_rd_atomic, a.initiator_depth,
		 a.depths},
		{IB_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", attr->max_dest_rd_atomic,
		 a.responder_resources, a.depths},
		{IB_QP_PKEY_INDEX, "an index with the P_Key", pkey | FULL_MEMBER,
		 a.pkey | FULL_MEMBER, has_pkey},
	};

	for (size_t i = 0; a.peer && i < sizeof(said) / sizeof(said[0]); i++) {
		if (!(mask & said[i].mask) || !said[i].known || said[i].is == said[i].asked)
			continue;
		c->tell(c, &(struct breach){RULE_mad_answer, {0}, NULL, NULL},
			"connection management says %s %u for the queue pair of a connection, and "
			"its REQ and REP say %u; the connection's numbers were written by %s, "
			"ib_cm_init_qp_attr",
			said[i].name, said[i].is, said[i].asked, writers);
		return;
	}
}
