// SPDX-License-Identifier: Apache-2.0
/* MADs that leave: what was asked for, against what the device is given. */
#include "testbench/dsan/mads/mads_impl.h"

#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/mads/connections.h"
#include "testbench/dsan/mads/told.h"

#include "host_driver/drv/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mads_leaving_drop(struct leaving **at)
{
	struct leaving *l = *at;

	*at = l->next;
	free(l);
}

void mads_leaving_add(struct special *s, const struct leaving *l)
{
	struct leaving **at = &s->leaving, *added = malloc(sizeof(*added));

	if (!added)
		abort();
	while (*at)
		at = &(*at)->next;
	*added = *l;
	added->next = NULL;
	chain_take(&added->by);
	*at = added;
}

/* --- answers --- */

/* The newest request with that transaction id; NULL: none came. */
static const struct came *request_of(const struct special *s, const struct smp *mad)
{
	const struct mad_hdr *h = smp_hdr_const(mad);

	for (unsigned n = s->n_came; n-- && s->n_came - n <= CAME;) {
		const struct mad_hdr *r = smp_hdr_const(&s->came[n % CAME].mad);

		if (mad_hdr_get_tid(r) == mad_hdr_get_tid(h) &&
		    mad_hdr_get_mgmt_class(r) == mad_hdr_get_mgmt_class(h))
			return &s->came[n % CAME];
	}
	return NULL;
}

/* An answer must not look like the request. Messages of a connection do: all have method Send. */
static bool lacks_response_bit(const struct mad_hdr *h, const struct mad_hdr *request)
{
	return mad_hdr_get_attr_id(h) == mad_hdr_get_attr_id(request) &&
	       mad_hdr_get_method(h) == mad_hdr_get_method(request) &&
	       (mad_hdr_get_method(h) == MAD_METHOD_GET ||
		mad_hdr_get_method(h) == MAD_METHOD_SET ||
		mad_hdr_get_method(h) == MAD_METHOD_GET_TABLE);
}

/* A Set is answered by a GetResp. */
static bool is_answer_of(const struct mad_hdr *h, const struct mad_hdr *request)
{
	const uint32_t method = mad_hdr_get_method(h) & ~(uint32_t)MAD_RESPONSE_BIT;

	return mad_hdr_get_attr_id(h) == mad_hdr_get_attr_id(request) &&
	       mad_hdr_get_attr_mod(h) == mad_hdr_get_attr_mod(request) &&
	       method == (mad_hdr_get_method(request) == MAD_METHOD_SET
				  ? MAD_METHOD_GET
				  : mad_hdr_get_method(request));
}

/* A scenario may send what it likes. Source: IBA 13.4.6.4 TransactionID, 13.5.4 response generation */
static void answer_check(struct special *s, const struct drv_mad_addr *to, const struct smp *mad,
			 const void *pc)
{
	const struct came *request = request_of(s, mad);
	const struct mad_hdr *h = smp_hdr_const(mad);
	const char *wrong = NULL;
	char text[2 * MAD_NAME_BYTES], name[MAD_NAME_BYTES];

	if (!mads_is_response(mad)) {
		if (request && lacks_response_bit(h, smp_hdr_const(&request->mad)))
			wrong = "answers a request and has its method, without the response bit";
	} else if (!request) {
		wrong = "is an answer with a transaction id that no request had";
	} else if (!is_answer_of(h, smp_hdr_const(&request->mad))) {
		wrong = "is an answer with another attribute, modifier or method than its request";
	} else if (!drv_port_is_ethernet(drv_device_of(s->qp), s->port) &&
		   (to->dlid != request->slid || to->qpn != request->src_qp)) {
		wrong = "is an answer, and goes to another LID or queue pair than its request came "
			"from";
	}
	if (!wrong && mad_hdr_get_mgmt_class(h) == MAD_CLASS_CM)
		wrong = connections_wrong(s->c, mad);
	if (!wrong || !checker_in_driver(pc))
		return;
	snprintf(text, sizeof(text), "a MAD (%s) %s", mads_name(mad, name, sizeof(name)), wrong);
	mads_tell(s, RULE_mad_answer, pc, text);
}

/* --- what is to leave --- */

void mads_asked(struct checker *c, unsigned port, unsigned qpn, const struct drv_mad_addr *to,
		const struct smp *mad, const void *pc)
{
	struct special *s = mads_special_at(c, port, qpn);
	struct leaving l = {.mad = *mad, .has_to = true, .to = *to, .exact = true};

	if (!s)
		return;
	answer_check(s, to, mad, pc);
	mads_leaving_add(s, &l);
}

static struct leaving **leaving_find(struct special *s, const struct smp *mad,
				     bool (*fits)(const struct leaving *l, const struct smp *mad))
{
	struct leaving **at = &s->leaving;

	while (*at && !fits(*at, mad))
		at = &(*at)->next;
	return at;
}

/* The SMI changes the hop pointer and the direction on the way. */
static bool is_it(const struct leaving *l, const struct smp *mad)
{
	struct smp is = *mad, asked = l->live ? *l->live : l->mad;

	if (!l->exact && mads_is_directed(&is)) {
		mad_hdr_set_hop_pointer(smp_hdr(&is), 0);
		mad_hdr_set_hop_pointer(smp_hdr(&asked), 0);
		mad_hdr_set_direction(smp_hdr(&is), 0);
		mad_hdr_set_direction(smp_hdr(&asked), 0);
	}
	return !memcmp(&is, &asked, sizeof(is));
}

static bool is_like_it(const struct leaving *l, const struct smp *mad)
{
	const struct mad_hdr *asked = smp_hdr_const(l->live ? l->live : &l->mad);
	const struct mad_hdr *is = smp_hdr_const(mad);

	return mad_hdr_get_tid(asked) == mad_hdr_get_tid(is) ||
	       (mad_hdr_get_attr_id(asked) == mad_hdr_get_attr_id(is) &&
		mad_hdr_get_mgmt_class(asked) == mad_hdr_get_mgmt_class(is));
}

void mads_asked_end(struct checker *c, unsigned port, unsigned qpn, const struct smp *mad, int rc)
{
	struct special *s = mads_special_at(c, port, qpn);
	struct leaving **at = s ? leaving_find(s, mad, is_it) : NULL;

	if (!at || !*at)
		return;
	if (rc)
		mads_leaving_drop(at);
	else
		(*at)->must = true;
}

static void address_check(const struct special *s, const struct leaving *l,
			  const struct drv_special_send *send, const void *pc)
{
	const struct {
		const char *name;
		uint32_t is, asked;
	} fields[] = {
		{"DLID", send->dlid, l->to.dlid},
		{"SL", send->sl, l->to.sl},
		{"path bits", send->path_bits, l->to.path_bits},
		{"destination QP", send->dqpn, l->to.qpn},
		{"Q_Key", send->qkey, l->to.qkey},
	};
	char text[MAD_NAME_BYTES];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !send->ah; i++) {
		if (fields[i].is == fields[i].asked)
			continue;
		snprintf(text, sizeof(text), "a MAD has the %s 0x%x, and was to have 0x%x",
			 fields[i].name, fields[i].is, fields[i].asked);
		mads_tell(s, RULE_mad_differs, pc, text);
		return;
	}
	if (send->ah && memcmp(send->ah, &l->to.ah, sizeof(*send->ah)))
		mads_tell(s, RULE_mad_differs, pc,
			  "a MAD has another address of its Ethernet port than the one asked for");
}

/* Source: IBA 14.2.2, C14-9 and C14-13 */
static void route_check(const struct special *s, const struct smp *mad, const void *pc)
{
	const struct mad_hdr *h = smp_hdr_const(mad);
	const unsigned should = mad_hdr_get_direction(h) ? mad_hdr_get_hop_count(h) : 1;
	char text[MAD_NAME_BYTES];

	if (mads_is_response(mad) != (bool)mad_hdr_get_direction(h)) {
		mads_tell(s, RULE_mad_differs, pc,
			  "the direction of a directed MAD does not fit its method");
		return;
	}
	if (mad_hdr_get_hop_pointer(h) == should)
		return;
	snprintf(text, sizeof(text), "a directed MAD leaves with hop pointer %u, and not with %u",
		 (unsigned)mad_hdr_get_hop_pointer(h), should);
	mads_tell(s, RULE_mad_differs, pc, text);
}

static unsigned first_difference(const struct smp *a, const struct smp *b)
{
	unsigned i = 0;

	while (i < sizeof(*a) && ((const uint8_t *)a)[i] == ((const uint8_t *)b)[i])
		i++;
	return i;
}

static void nobody_asked(struct special *s, const struct smp *mad, const void *pc)
{
	struct leaving **at = leaving_find(s, mad, is_like_it);
	char text[2 * MAD_NAME_BYTES], name[MAD_NAME_BYTES];

	mads_name(mad, name, sizeof(name));
	if (!*at)
		snprintf(text, sizeof(text), "a MAD is sent that nobody has asked for (%s)", name);
	else
		snprintf(text, sizeof(text),
			 "a MAD is sent (%s), and from byte %u on it is another one than was asked "
			 "for",
			 name, first_difference(mad, (*at)->live ? (*at)->live : &(*at)->mad));
	mads_tell(s, RULE_mad_differs, pc, text);
	if (*at)
		mads_leaving_drop(at);
}

/* Source: Linux ib_send_mad: each send has its own buffer until it is completed */
static void buffer_check(const struct special *s, const struct drv_special_send *send,
			 const void *pc)
{
	for (const struct special *o = mads_special_each(NULL); o; o = o->next) {
		for (uint32_t i = o->first; o->c == s->c && i != o->sent; i++) {
			if (send->addr - o->open[i % OPEN_SENDS].bus >=
			    o->open[i % OPEN_SENDS].bytes)
				continue;
			mads_tell(s, RULE_mad_agent, pc,
				  "a MAD is written into the memory of one that has not left yet");
			return;
		}
	}
}

void mads_sent(const struct drv_qp *qp, const struct drv_special_send *send, const void *pc)
{
	struct special *s = mads_special_of(qp);
	const uintptr_t memory = s ? checker_address(s->c, send->addr) : 0;
	struct leaving **at;
	struct smp mad;
	unsigned sl;

	if (!s || !memory || send->length != sizeof(mad))
		return;
	checker_settle(s->c);
	buffer_check(s, send, pc);
	s->open[s->sent % OPEN_SENDS].bus = send->addr;
	s->open[s->sent % OPEN_SENDS].bytes = send->length;
	s->sent++;
	memcpy(&mad, (const void *)memory, sizeof(mad));
	if (send->dqpn == QPN_GSI && send->qkey != QKEY_GSI)
		mads_tell(s, RULE_mad_agent, pc, "a MAD to QP1 has another Q_Key than 0x80010000");
	at = leaving_find(s, &mad, is_it);
	if (!*at) {
		nobody_asked(s, &mad, pc);
		return;
	}
	if ((*at)->has_to)
		address_check(s, *at, send, pc);
	else if ((*at)->to_manager &&
		 (send->dlid != told_manager_lid(s->c, s->port, &sl) || send->sl != sl))
		mads_tell(
			s, RULE_mad_differs, pc,
			"a trap goes to another LID, or on another SL, than PortInfo says for the "
			"subnet manager");
	if (!(*at)->exact && mads_is_directed(&mad))
		route_check(s, &mad, pc);
	mads_leaving_drop(at);
}

void mads_send_refused(const struct drv_qp *qp, const struct drv_special_send *send)
{
	struct special *s = mads_special_of(qp);

	if (!s || !s->sent || s->open[(s->sent - 1) % OPEN_SENDS].bus != send->addr)
		return;
	s->sent--;
	s->open[s->sent % OPEN_SENDS].bus = 0;
	s->open[s->sent % OPEN_SENDS].bytes = 0;
}
