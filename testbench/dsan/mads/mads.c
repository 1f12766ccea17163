// SPDX-License-Identifier: Apache-2.0
/* See mads.h: queue pairs, an agent's duties, MADs that come, callers that wait. */
#include "testbench/dsan/mads/mads_impl.h"

#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/mads/connections.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/drv/ops.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/engine/base/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 2 * CHAIN_BYTES, TOLD = 32 };

/* A caller should run so soon after its answer has come. */
#define GIVEN_PS UINT64_C(1000000000)

static struct special *specials;
static struct mad_call *waiting;

/* --- queue pairs --- */

struct special *mads_special_of(const struct drv_qp *qp)
{
	struct special *s = specials;

	while (s && s->qp != qp)
		s = s->next;
	return s;
}

struct special *mads_special_at(const struct checker *c, unsigned port, unsigned qpn)
{
	struct special *s = specials;

	while (s && (s->c != c || s->port != port || s->qpn != qpn))
		s = s->next;
	return s;
}

struct special *mads_special_each(struct special *last)
{
	return last ? last->next : specials;
}

/* Source: IBA 11.6.3.6, a CQ that is full loses completions; Linux ib_mad_port_open, cq_size */
static void room_check(const struct special *s)
{
	const struct made *cq = made_find(s->cq);
	char text[TEXT_BYTES], makers[CHAIN_BYTES];
	unsigned requests = 0;

	for (const struct special *o = specials; o; o = o->next)
		requests += o->cq == s->cq ? o->requests : 0;
	if (!cq || requests <= s->cq->entries)
		return;
	chain_format(&cq->made_by, makers, sizeof(makers));
	snprintf(text, sizeof(text),
		 "%u requests of QP0 and QP1 complete in a CQ of %" PRIu32 " entries, made by %s",
		 requests, s->cq->entries, makers);
	mads_tell(s, RULE_mad_agent, NULL, text);
}

void mads_queue_made(struct checker *c, const struct drv_qp *qp,
		     const struct drv_special_init *init)
{
	struct special *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	mads_queue_gone(qp);
	*s = (struct special){.next = specials,
			      .c = c,
			      .qp = qp,
			      .cq = init->cq,
			      .number = drv_qp_num(qp),
			      .port = init->port,
			      .qpn = init->qpn,
			      .requests = init->max_send_wr + init->max_recv_wr};
	specials = s;
	room_check(s);
}

static void special_free(struct special **at)
{
	struct special *s = *at;

	for (struct mad_call *call = waiting; call; call = call->next)
		if (call->s == s)
			call->s = NULL;
	while (s->leaving)
		mads_leaving_drop(&s->leaving);
	*at = s->next;
	free(s->receives);
	free(s);
}

void mads_queue_gone(const struct drv_qp *qp)
{
	for (struct special **at = &specials; *at; at = &(*at)->next) {
		if ((*at)->qp != qp)
			continue;
		special_free(at);
		return;
	}
}

void mads_forget(const struct checker *c)
{
	for (struct special **at = &specials; *at;)
		if ((*at)->c == c)
			special_free(at);
		else
			at = &(*at)->next;
}

/* Whether its requests are carried out. */
static bool works(const struct special *s)
{
	return drv_qp_state(s->qp) == IBV_QPS_RTS && !drv_is_dead(drv_device_of(s->qp));
}

struct guest_object mads_object_of(const struct special *s)
{
	return (struct guest_object){GUEST_QP, s->number};
}

/* Whether that was told of this place before: names of functions take long to find. */
static bool was_told(const struct checker *c, enum guest_rule rule, const void *pc)
{
	static struct {
		const struct checker *c;
		enum guest_rule rule;
		const void *pc;
	} told[TOLD];
	static unsigned n;

	for (unsigned i = 0; i < TOLD; i++)
		if (told[i].c == c && told[i].rule == rule && told[i].pc == pc)
			return true;
	told[n].c = c;
	told[n].rule = rule;
	told[n].pc = pc;
	n = (n + 1) % TOLD;
	return false;
}

void mads_tell(const struct special *s, enum guest_rule rule, const void *pc, const char *text)
{
	char names[CHAIN_BYTES], before[ENTERED_CHARS];
	struct calls now;

	if (was_told(s->c, rule, pc))
		return;
	chain_take(&now);
	chain_format(&now, names, sizeof(names));
	entered_format(before);
	checker_report(s->c, &(struct breach){rule, mads_object_of(s), pc, NULL},
		       "%s, by %s; these ran before it: %s", text, names, before);
}

const char *mads_name(const struct smp *mad, char *text, size_t size)
{
	const struct mad_hdr *h = smp_hdr_const(mad);

	snprintf(text, size, "class 0x%02x, method 0x%02x, attribute 0x%04x, tid 0x%" PRIx64,
		 (unsigned)mad_hdr_get_mgmt_class(h), (unsigned)mad_hdr_get_method(h),
		 (unsigned)mad_hdr_get_attr_id(h), (uint64_t)mad_hdr_get_tid(h));
	return text;
}

bool mads_is_directed(const struct smp *mad)
{
	return mad_hdr_get_mgmt_class(smp_hdr_const(mad)) == MAD_CLASS_SUBN_DR;
}

bool mads_is_response(const struct smp *mad)
{
	return mad_hdr_get_method(smp_hdr_const(mad)) & MAD_RESPONSE_BIT;
}

/* --- an agent's duties --- */

/* Source: IBA 10.2.5, the well-known Q_Key of QP1; Linux ib_mad_port_start, IB_QP1_QKEY */
void mads_modify(const struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask,
		 const void *pc)
{
	const struct special *s = mads_special_of(qp);

	if (s && s->qpn == QPN_GSI && mask & IBV_QP_QKEY && attr->qkey != QKEY_GSI)
		mads_tell(s, RULE_mad_agent, pc, "QP1 gets another Q_Key than 0x80010000");
}

static struct receive *receive_of(struct special *s, uint64_t wr_id, bool open)
{
	for (unsigned i = 0; i < s->n_receives; i++)
		if (s->receives[i].open == open && (!open || s->receives[i].wr_id == wr_id))
			return &s->receives[i];
	return NULL;
}

/* Source: Linux ib_mad_post_receive_mads: each receive has its own buffer */
static bool is_taken(const struct special *s, uint64_t bus, unsigned bytes)
{
	for (const struct special *o = specials; o; o = o->next)
		for (unsigned i = 0; o->c == s->c && i < o->n_receives; i++)
			if (o->receives[i].open && o->receives[i].bus < bus + bytes &&
			    bus < o->receives[i].bus + UD_GRH_AREA + MAD_BYTES)
				return true;
	return false;
}

void mads_receive_posted(const struct drv_qp *qp, const struct drv_recv_wr *wr, const void *pc)
{
	struct special *s = mads_special_of(qp);
	struct receive *r;
	unsigned bytes = 0;

	if (!s)
		return;
	for (unsigned i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	if (bytes < UD_GRH_AREA + MAD_BYTES)
		mads_tell(s, RULE_mad_agent, pc, "a receive has no room for a GRH and a MAD");
	if (wr->num_sge && is_taken(s, wr->sg_list[0].addr, bytes))
		mads_tell(s, RULE_mad_agent, pc,
			  "a receive is posted into the memory of another one");
	r = receive_of(s, 0, false);
	if (!r) {
		s->receives = realloc(s->receives, (s->n_receives + 1) * sizeof(*s->receives));
		if (!s->receives)
			abort();
		r = &s->receives[s->n_receives++];
	}
	*r = (struct receive){wr->wr_id, wr->num_sge ? wr->sg_list[0].addr : 0, true};
	if (++s->posted > s->most)
		s->most = s->posted;
}

/* Source: Linux ib_mad_recv_done: posts as many receives as completed */
static void receives_check(const struct special *s, const void *pc)
{
	char names[CHAIN_BYTES];

	if (s->posted >= s->most || was_told(s->c, RULE_mad_agent, pc))
		return;
	chain_format(&s->takers, names, sizeof(names));
	checker_report(s->c, &(struct breach){RULE_mad_agent, mads_object_of(s), pc, NULL},
		       "of %u receives, %u are posted when the agent sleeps: the others were not "
		       "posted again; completions were taken by %s",
		       s->most, s->posted, names);
}

static void leavings_check(const struct special *s, const void *pc)
{
	char name[MAD_NAME_BYTES], names[CHAIN_BYTES];

	if (s->first != s->sent)
		return;
	for (const struct leaving *l = s->leaving; l; l = l->next) {
		if (!l->must)
			continue;
		chain_format(&l->by, names, sizeof(names));
		checker_report(s->c, &(struct breach){RULE_mad_lost, mads_object_of(s), pc, NULL},
			       "a MAD was to be sent (%s), no send is open, and it was not sent; "
			       "asked for by %s",
			       mads_name(&l->mad, name, sizeof(name)), names);
		return;
	}
}

void mads_sleeps(const struct drv_cq *cq, const void *pc)
{
	for (const struct special *s = specials; s; s = s->next) {
		if (s->cq != cq || !works(s))
			continue;
		receives_check(s, pc);
		leavings_check(s, pc);
	}
}

/* --- MADs that come --- */

static void response_came(const struct special *s, const struct smp *mad)
{
	const uint64_t tid = mad_hdr_get_tid(smp_hdr_const(mad));

	if (!mads_smi_takes(mad, s->port, false))
		return;
	for (struct mad_call *call = waiting; call; call = call->next) {
		if (call->s != s || call->came ||
		    mad_hdr_get_tid(smp_hdr_const(call->request)) != tid)
			continue;
		call->came = true;
		call->came_ps = hca_now(s->c->host.hca);
		call->answer = *mad;
		return;
	}
}

static void mad_came(struct special *s, const struct drv_wc *wc, const uint8_t *area)
{
	const struct smp *mad = (const void *)(area + UD_GRH_AREA);
	struct came *came;
	struct leaving forwarded = {.mad = *mad, .exact = true, .to_manager = true};

	if (mad_hdr_get_base_version(smp_hdr_const(mad)) != MAD_BASE_VERSION)
		return;
	if (mads_is_response(mad)) {
		response_came(s, mad);
		return;
	}
	if (mad_hdr_get_mgmt_class(smp_hdr_const(mad)) == MAD_CLASS_CM)
		connections_came(s->c, mad);
	came = &s->came[s->n_came++ % CAME];
	*came = (struct came){.mad = *mad,
			      .slid = wc->slid,
			      .sl = wc->sl,
			      .path_bits = wc->dlid_path_bits,
			      .pkey_index = wc->pkey_index,
			      .has_grh = wc->wc_flags & IBV_WC_GRH,
			      .src_qp = wc->src_qp};
	memcpy(came->grh, area, sizeof(came->grh));
	/* a trap of the port itself goes to the subnet manager */
	if (mad_hdr_get_method(smp_hdr_const(mad)) == MAD_METHOD_TRAP && !wc->slid && !s->qpn)
		mads_leaving_add(s, &forwarded);
}

void mads_polled(const struct checker *c, const struct drv_cq *cq, int n, const struct drv_wc *wc)
{
	struct special *s = specials;

	while (s && (s->c != c || s->cq != cq))
		s = s->next;
	if (!s)
		return;
	for (int i = 0; i < n; i++) {
		struct receive *r;
		uintptr_t memory;

		for (s = specials; s && (s->c != c || s->number != wc[i].qp_num); s = s->next)
			;
		if (!s)
			continue;
		chain_take(&s->takers);
		if (wc[i].is_send) {
			s->first += s->first != s->sent;
			continue;
		}
		r = receive_of(s, wc[i].wr_id, true);
		if (!r)
			continue;
		r->open = false;
		s->posted--;
		memory = checker_address(s->c, r->bus);
		if (memory && wc[i].status == IBV_WC_SUCCESS &&
		    wc[i].byte_len >= UD_GRH_AREA + MAD_BYTES)
			mad_came(s, &wc[i], (const void *)memory);
	}
}

/* --- callers that wait --- */

void mads_call(struct mad_call *call, struct checker *c, unsigned port, unsigned qpn,
	       const struct drv_mad_addr *to, const struct smp *request, const void *response)
{
	struct leaving l = {.live = request, .has_to = true, .to = *to};

	*call = (struct mad_call){.next = waiting, .request = request, .response = response};
	waiting = call;
	call->s = c ? mads_special_at(c, port, qpn) : NULL;
	call->may_leave = mads_smi_takes(request, port, true);
	if (call->s)
		mads_leaving_add(call->s, &l);
}

void mads_call_drop(struct mad_call *call)
{
	struct mad_call **at = &waiting;

	while (*at && *at != call)
		at = &(*at)->next;
	if (*at)
		*at = call->next;
	for (struct leaving **l = call->s ? &call->s->leaving : NULL; l && *l; l = &(*l)->next) {
		if ((*l)->live != call->request)
			continue;
		mads_leaving_drop(l);
		return;
	}
}

static bool has_left(const struct mad_call *call)
{
	const struct leaving *l = call->s->leaving;

	while (l && l->live != call->request)
		l = l->next;
	return !l;
}

static void tid_check(struct mad_call *call, const struct ask *a)
{
	struct special *s = call->s;
	const uint64_t tid = mad_hdr_get_tid(smp_hdr_const(call->request));

	for (unsigned n = s->n_tids; n-- && s->n_tids - n <= TIDS;) {
		if (s->tids[n % TIDS] != tid)
			continue;
		ask_report(a, RULE_mad_answer, mads_object_of(s),
			   "a request has the transaction id 0x%" PRIx64
			   ", which one of the %u requests before it had",
			   tid, TIDS);
		return;
	}
	s->tids[s->n_tids++ % TIDS] = tid;
}

static bool is_answer(const struct mad_call *call)
{
	struct smp is = *call->response, came = call->answer;

	mad_hdr_set_hop_pointer(smp_hdr(&is), 0);
	mad_hdr_set_hop_pointer(smp_hdr(&came), 0);
	return call->came && !memcmp(&is, &came, sizeof(is));
}

void mads_call_end(struct mad_call *call, struct ask *a, int rc)
{
	const struct smp *request = call->request;
	char name[MAD_NAME_BYTES];
	const void *pc;

	if (!call->s || !works(call->s))
		return;
	/* a directed route without hops goes to the device, not on the wire */
	if (mads_is_directed(request) && !mad_hdr_get_hop_count(smp_hdr_const(request)))
		return;
	mads_name(request, name, sizeof(name));
	tid_check(call, a);
	if (!rc && !is_answer(call)) {
		pc = wrote_find((uintptr_t)call->response, sizeof(*call->response));
		checker_report(a->c,
			       &(struct breach){RULE_mad_answer, mads_object_of(call->s), pc, NULL},
			       "drv_mad_call gives its caller (%s) %s", name,
			       call->came ? "another MAD than the answer that came"
					  : "an answer, and none with its transaction id came");
	} else if (call->came && hca_now(a->c->host.hca) - call->came_ps > GIVEN_PS) {
		ask_report(a, RULE_mad_lost, mads_object_of(call->s),
			   "the answer (%s) came %" PRIu64
			   " us before its caller went on, with %d: see what mad_call waits for, "
			   "and whether give_response wakes it",
			   name, (hca_now(a->c->host.hca) - call->came_ps) / 1000000, rc);
	} else if (rc && call->may_leave && !has_left(call) && call->s->first == call->s->sent) {
		ask_report(a, RULE_mad_lost, mads_object_of(call->s),
			   "a request (%s) was not sent, and the call ends with %d", name, rc);
	}
}
