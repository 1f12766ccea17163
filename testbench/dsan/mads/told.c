// SPDX-License-Identifier: Apache-2.0
/* See told.h. */
#include "testbench/dsan/mads/told.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/hear/wrote.h"
#include "testbench/dsan/held/heap.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/engine/base/engine.h"
#include "model/engine/wire/link_port.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"
#include "model/interface/wire.h"

#include <rdma/ib_verbs.h>
#include <stdio.h>
#include <string.h>

enum {
	HOSTS = 2,
	ANSWERS = 32, /* a power of two */
	TEXT_BYTES = 160,
	GUIDS_PER_BLOCK = 8,
	PKEYS_PER_BLOCK = 32,
	AGENT_BYTES = 3072, /* at least those of a port's agent (drv/mad.c) */
	WRITERS = 12,
	EVENTS_MAX = 3, /* of one EQE */
	SETTLED_PS =
		10 * 1000 * 1000, /* assumption: a command has ended, and its thread has gone on */
};

/* --- ports --- */

/* Answers of the device's own agents, the newest ones. */
static struct answer {
	const struct checker *c;
	unsigned port, attr;
	uint32_t mod;
	bool refused;
	uint8_t data[smp_data_size];
} answers[ANSWERS];
static uint32_t n_answers;

/* The last Set of an attribute that a subnet manager sent to a host. */
static struct last_set {
	const struct checker *c;
	unsigned port;
	uint64_t at_ps;
} pkeys_set[HOSTS], infos_set[HOSTS];

/* The LID that this Set of PortInfo gave, whether users are told of it, and when they were told last. */
static struct {
	uint32_t lid;
	bool told;
	uint64_t heard_ps;
} infos_said[HOSTS];

static void set_note(struct last_set *sets, const struct checker *c, unsigned port)
{
	sets[c->host.platform->host % HOSTS] =
		(struct last_set){c, port, c->ops->now_ps(c->host.platform)};
}

/* Whether no Set came to the port since that time. */
static bool unset_since(const struct last_set *sets, const struct checker *c, unsigned port,
			uint64_t since_ps)
{
	const struct last_set *set = &sets[c->host.platform->host % HOSTS];

	return set->c != c || set->port != port || set->at_ps < since_ps;
}

/* Whether the users have heard of the last Set of PortInfo, and had the time to act on it. */
static bool infos_heard(const struct checker *c, unsigned port)
{
	const uint64_t heard = infos_said[c->host.platform->host % HOSTS].heard_ps;

	return infos_said[c->host.platform->host % HOSTS].told &&
	       unset_since(infos_set, c, port, heard) &&
	       c->ops->now_ps(c->host.platform) - heard >= SETTLED_PS;
}

/* Whether the driver has had the time to hear of the last Set. */
static bool settled(const struct last_set *sets, const struct checker *c, unsigned port)
{
	const uint64_t now = c->ops->now_ps(c->host.platform);

	return unset_since(sets, c, port, now > SETTLED_PS ? now - SETTLED_PS + 1 : 0);
}

/* Source: Linux mlx4 mad.c, smp_snoop: another LID, or clients are to register again */
static void info_set(const struct checker *c, unsigned port, const struct port_info *pi)
{
	const unsigned host = c->host.platform->host % HOSTS;
	const uint32_t lid = port_info_get_lid(pi);

	infos_said[host].told = port_info_get_client_rereg(pi) || lid != infos_said[host].lid;
	infos_said[host].lid = lid;
	set_note(infos_set, c, port);
}

uint32_t told_mads(void)
{
	return n_answers;
}

void told_mad(const struct checker *c, unsigned port, const struct smp *in, const struct smp *out)
{
	const struct mad_hdr *h = smp_hdr_const(in);
	struct answer *a;

	if (mad_hdr_get_method(h) == MAD_METHOD_SET &&
	    mad_hdr_get_attr_id(h) == SMP_ATTR_PKEY_TABLE)
		set_note(pkeys_set, c, port);
	if (mad_hdr_get_method(h) == MAD_METHOD_SET && mad_hdr_get_attr_id(h) == SMP_ATTR_PORT_INFO)
		info_set(c, port, (const void *)smp_data_cptr(in));
	if (mad_hdr_get_method(h) != MAD_METHOD_GET ||
	    mad_hdr_get_mgmt_class(h) != MAD_CLASS_SUBN_LID)
		return;
	a = &answers[n_answers++ % ANSWERS];
	*a = (struct answer){.c = c,
			     .port = port,
			     .attr = mad_hdr_get_attr_id(h),
			     .mod = mad_hdr_get_attr_mod(h),
			     .refused =
				     mad_hdr_get_status(smp_hdr_const(out)) & (SMP_DIRECTION - 1)};
	memcpy(a->data, smp_data_cptr(out), sizeof(a->data));
}

/* The newest answer since then that is about that; `mod` UINT32_MAX: any modifier. */
static const void *answer_find(const struct checker *c, uint32_t since, unsigned port,
			       unsigned attr, uint32_t mod)
{
	for (uint32_t n = n_answers; n != since && n_answers - n < ANSWERS; n--) {
		const struct answer *a = &answers[(n - 1) % ANSWERS];

		if (a->c == c && a->port == port && a->attr == attr && !a->refused &&
		    (mod == UINT32_MAX || a->mod == mod))
			return a->data;
	}
	return NULL;
}

bool told_pkey_at(const struct checker *c, unsigned port, unsigned index, uint64_t since_ps,
		  uint16_t *pkey)
{
	const struct port_config *p = link_port_config(c->host.hca, port);

	if (!settled(pkeys_set, c, port) || !unset_since(pkeys_set, c, port, since_ps) ||
	    index >= ARRAY_SIZE(p->pkeys))
		return false;
	*pkey = p->pkeys[index];
	return true;
}

/* Who has stored that P_Key last, among what the port's agent keeps. */
static void keepers_of(const struct drv_mad_agent *agent, uint16_t pkey, char *names, size_t size)
{
	const void *pcs[WRITERS];
	unsigned n = 0;

	for (uintptr_t at = (uintptr_t)agent; at < (uintptr_t)agent + AGENT_BYTES;
	     at += sizeof(pkey))
		if (heap_writers((void *)at, sizeof(pkey), pcs + n, WRITERS - n) &&
		    !memcmp((void *)at, &pkey, sizeof(pkey)))
			n += heap_writers((void *)at, sizeof(pkey), pcs + n, WRITERS - n);
	checker_functions(pcs, n, names, size);
}

/* Source: IBA 10.9.1.2: a GSI packet has a P_Key of the port's table; Linux mlx4 build_mlx_header and
 * the users of ib_mad, which ask for the first one */
void told_pkey_is_current(struct compared *cmp, unsigned port, uint16_t pkey)
{
	const struct checker *c = cmp->ask->c;
	const struct port_config *p = link_port_config(c->host.hca, port);
	const struct drv_mad_agent *agent =
		cmp->ask->dev && port <= DRV_PORTS_MAX ? cmp->ask->dev->agents[port] : NULL;
	char names[TEXT_BYTES], text[2 * TEXT_BYTES];

	if (!settled(pkeys_set, c, port) || pkey == p->pkeys[0])
		return;
	keepers_of(agent, pkey, names, sizeof(names));
	snprintf(text, sizeof(text),
		 "the P_Key of the packet, which is not the first of the port's, and was kept by "
		 "%s,",
		 *names ? names : "nobody");
	bytes_differ(cmp, text, (const void *)cmp->from, BTH_BYTES);
}

unsigned told_manager_lid(const struct checker *c, unsigned port, unsigned *sl)
{
	const struct port_info *pi = answer_find(c, n_answers > ANSWERS ? n_answers - ANSWERS : 0,
						 port, SMP_ATTR_PORT_INFO, UINT32_MAX);

	*sl = pi ? port_info_get_sm_sl(pi) : 0;
	return pi ? port_info_get_sm_lid(pi) : 0;
}

static struct guest_object object_of(unsigned port)
{
	return (struct guest_object){GUEST_PORT, port};
}

static void port_tell(const struct ask *a, unsigned port, const void *at, size_t bytes,
		      const char *text)
{
	checker_report(a->c,
		       &(struct breach){RULE_port_differs, object_of(port),
					wrote_find((uintptr_t)at, bytes), NULL},
		       "%s, in %s", text, ask_provider(a));
}

void told_kept_check(struct checker *c, unsigned port, const struct ib_port_attr *kept)
{
	const struct port_config *p = link_port_config(c->host.hca, port);

	if (unset_since(infos_set, c, port, 0) || !infos_heard(c, port) ||
	    (kept->lid == p->lid && kept->active_mtu == p->mtu && kept->sm_lid == p->sm_lid))
		return;
	checker_report(c,
		       &(struct breach){RULE_port_differs, object_of(port),
					wrote_find((uintptr_t)kept, sizeof(*kept)), NULL},
		       "of a port is kept: LID %u, MTU %u, manager's LID %u; since its last change "
		       "it has LID %u, MTU %u, manager's LID %u",
		       kept->lid, kept->active_mtu, kept->sm_lid, p->lid, p->mtu, p->sm_lid);
}

void told_block_check(const struct ask *a, uint32_t since, unsigned port, unsigned attr,
		      unsigned index)
{
	const bool is_gid = attr == SMP_ATTR_GUID_INFO;
	const unsigned block = index / (is_gid ? GUIDS_PER_BLOCK : PKEYS_PER_BLOCK);
	const struct answer *last = &answers[(n_answers - 1) % ANSWERS];
	char text[TEXT_BYTES];

	if (n_answers == since || last->c != a->c || last->port != port || last->attr != attr ||
	    !last->refused || last->mod == block)
		return;
	snprintf(text, sizeof(text),
		 "%s %u is in block %u of its table, and block %u was asked for",
		 is_gid ? "GID" : "P_Key", index, block, last->mod);
	port_tell(a, port, last->data, sizeof(last->data), text);
}

void told_gid_check(const struct ask *a, uint32_t since, unsigned port, unsigned index,
		    const uint8_t *gid)
{
	const struct guid_info *guids =
		answer_find(a->c, since, port, SMP_ATTR_GUID_INFO, index / GUIDS_PER_BLOCK);
	const struct port_info *pi = answer_find(a->c, since, port, SMP_ATTR_PORT_INFO, UINT32_MAX);
	char text[TEXT_BYTES];

	if (!guids || !pi) {
		snprintf(text, sizeof(text),
			 "GID %u is returned, and %s of port %u was not asked from the device",
			 index, pi ? "its block of GUIDInfo" : "PortInfo", port);
		port_tell(a, port, gid, DRV_GID_BYTES, text);
	} else if (be64_load(gid) != port_info_get_gid_prefix(pi) ||
		   be64_load(gid + 8) != guid_info_get(guids, index % GUIDS_PER_BLOCK)) {
		snprintf(text, sizeof(text),
			 "GID %u is not the prefix and the GUID that the device answered", index);
		port_tell(a, port, gid, DRV_GID_BYTES, text);
	}
}

void told_pkey_check(const struct ask *a, uint32_t since, unsigned port, unsigned index,
		     const uint16_t *pkey)
{
	const struct pkey_table *keys =
		answer_find(a->c, since, port, SMP_ATTR_PKEY_TABLE, index / PKEYS_PER_BLOCK);
	char text[TEXT_BYTES];

	if (keys && pkey_table_get(keys, index % PKEYS_PER_BLOCK) == *pkey)
		return;
	snprintf(text, sizeof(text), "P_Key %u is returned as 0x%x, %s", index, *pkey,
		 keys ? "and the device answered another one"
		      : "and its block was not asked from the device");
	port_tell(a, port, pkey, sizeof(*pkey), text);
}

void told_port_check(const struct ask *a, uint32_t since, unsigned port,
		     const struct drv_port_attr *attr)
{
	const struct port_info *pi = answer_find(a->c, since, port, SMP_ATTR_PORT_INFO, UINT32_MAX);
	const bool extended = pi && port_info_get_cap_mask(pi) & 1u << PORT_CAP_EXT_SPEEDS;
	char text[TEXT_BYTES];
#define SAID(member, field)                                                                        \
	{                                                                                          \
#member, &attr->member, (uint32_t)attr->member, port_info_get_##field(pi)          \
	}
	const struct {
		const char *name;
		const void *at;
		uint32_t is, should;
	} said[] = {
		SAID(state, state),
		SAID(phys_state, phys_state),
		SAID(max_mtu, mtu_cap),
		SAID(active_mtu, neighbor_mtu),
		SAID(lid, lid),
		SAID(lmc, lmc),
		SAID(sm_lid, sm_lid),
		SAID(sm_sl, sm_sl),
		SAID(active_width, width_active),
		SAID(active_speed, speed_active),
		SAID(vl_cap, vl_cap),
		SAID(oper_vls, oper_vls),
		SAID(subnet_timeout, subnet_timeout),
		SAID(cap_mask, cap_mask),
		SAID(bad_pkeys, pkey_violations),
		SAID(bad_qkeys, qkey_violations),
		{"active_ext_speed", &attr->active_ext_speed, attr->active_ext_speed,
		 extended ? port_info_get_ext_speed_active(pi) : 0},
	};
#undef SAID

	if (!pi) {
		port_tell(a, port, attr, sizeof(*attr),
			  "attributes are returned, and PortInfo of that port was not asked from "
			  "the device");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		if (said[i].is == said[i].should)
			continue;
		snprintf(text, sizeof(text), "%s is 0x%x, PortInfo says 0x%x", said[i].name,
			 said[i].is, said[i].should);
		port_tell(a, port, said[i].at, sizeof(unsigned), text);
		return;
	}
	told_gid_check(a, since, port, 0, attr->gid0);
}

/* Source: Linux rdma/ib_addr.h, iboe_get_mtu: GRH, UDP, BTH, XRCETH, AtomicETH and ICRC must fit, too */
void told_frame_check(const struct ask *a, unsigned port, const struct drv_port_attr *attr,
		      unsigned frame_mtu)
{
	const unsigned headers = 40 + 8 + 12 + 4 + 28 + 4, is = 128u << attr->active_mtu;
	char text[TEXT_BYTES];

	if ((is + headers <= frame_mtu || attr->active_mtu <= IBV_MTU_256) &&
	    (2 * is + headers > frame_mtu || attr->active_mtu >= IBV_MTU_4096))
		return;
	snprintf(text, sizeof(text),
		 "active_mtu is %u bytes, and should be the longest that fits, with %u bytes of "
		 "headers, into a frame of %u",
		 is, headers, frame_mtu);
	port_tell(a, port, &attr->active_mtu, sizeof(attr->active_mtu), text);
}

/* The capability mask is written back. Source: Linux mlx4_SET_PORT, dev->caps.ib_port_def_cap */
static void set_port_check(struct checker *c, const struct hcr *command)
{
	const unsigned port = hcr_get_in_mod(command);
	const struct port_info *pi = answer_find(c, n_answers > ANSWERS ? n_answers - ANSWERS : 0,
						 port, SMP_ATTR_PORT_INFO, UINT32_MAX);
	char names[CHAIN_BYTES];
	struct set_port mbox;
	struct calls now;

	if (!pi || !checker_read(c, hcr_get_in_param(command), &mbox, sizeof(mbox)) ||
	    set_port_get_cap_mask(&mbox) == port_info_get_cap_mask(pi))
		return;
	chain_take(&now);
	chain_format(&now, names, sizeof(names));
	checker_report(c, &(struct breach){RULE_context_differs, object_of(port), NULL, NULL},
		       "SET_PORT has the capability mask 0x%x, and PortInfo says 0x%x, by %s",
		       (unsigned)set_port_get_cap_mask(&mbox), (unsigned)port_info_get_cap_mask(pi),
		       names);
}

/* A driver that comes up knows nothing of what was said to the one before it. */
static void answers_forget(const struct checker *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		if (answers[i].c == c)
			answers[i].c = NULL;
}

void told_command(struct checker *c, const struct hcr *command)
{
	if (hcr_get_opcode(command) == HCR_RUN_FW)
		answers_forget(c);
	if (hcr_get_opcode(command) == HCR_SET_PORT && !hcr_get_op_mod(command))
		set_port_check(c, command);
}

/* --- events --- */

/* What the EQE says that was looked at last, until its users are told. */
static struct expected {
	bool of_port_info;
	enum ibv_event_type types[EVENTS_MAX]; /* in this order */
	unsigned n, told;
	unsigned port; /* 0: an event of an object */
	uint32_t number;
	const void *pc;
	struct calls by; /* that told the newest of them */
} expected[HOSTS];

static struct expected *expected_of(const struct checker *c)
{
	return &expected[c->host.platform->host % HOSTS];
}

/* Source: Linux mlx4_eq_int, mlx4_ib_qp_event, mlx4_ib_event */
static const struct {
	uint32_t eqe;
	enum hca_object kind;
	enum ibv_event_type type;
} events[] = {
	{EVENT_PATH_MIG, HCA_QP, IBV_EVENT_PATH_MIG},
	{EVENT_COMM_EST, HCA_QP, IBV_EVENT_COMM_EST},
	{EVENT_SQ_DRAINED, HCA_QP, IBV_EVENT_SQ_DRAINED},
	{EVENT_WQ_CATAS_ERROR, HCA_QP, IBV_EVENT_QP_FATAL},
	{EVENT_PATH_MIG_FAILED, HCA_QP, IBV_EVENT_PATH_MIG_ERR},
	{EVENT_WQ_INVAL_REQ_ERROR, HCA_QP, IBV_EVENT_QP_REQ_ERR},
	{EVENT_WQ_ACCESS_ERROR, HCA_QP, IBV_EVENT_QP_ACCESS_ERR},
	{EVENT_SRQ_QP_LAST_WQE, HCA_QP, IBV_EVENT_QP_LAST_WQE_REACHED},
	{EVENT_CQ_ERROR, HCA_CQ, IBV_EVENT_CQ_ERR},
	{EVENT_SRQ_CATAS_ERROR, HCA_SRQ, IBV_EVENT_SRQ_ERR},
	{EVENT_SRQ_LIMIT, HCA_SRQ, IBV_EVENT_SRQ_LIMIT_REACHED},
};

/* Source: Linux handle_port_mgmt_change_event: each change of one write is told */
static const struct {
	unsigned bit;
	enum ibv_event_type type;
} info_events[] = {
	{PORT_MNG_CHANGED_LID, IBV_EVENT_LID_CHANGE},
	{PORT_MNG_CHANGED_GID_PREFIX, IBV_EVENT_GID_CHANGE},
	{PORT_MNG_CHANGED_CLIENT_REREG, IBV_EVENT_CLIENT_REREGISTER},
};

static void info_expects(struct expected *x, uint32_t changed)
{
	x->of_port_info = true;
	for (size_t i = 0; i < ARRAY_SIZE(info_events); i++)
		if (changed & 1u << info_events[i].bit)
			x->types[x->n++] = info_events[i].type;
}

static void port_expects(struct expected *x, const struct eqe *e)
{
	const struct eqe_port_mng *m = eqe_as_port_mng_const(e);

	if (eqe_get_type(e) == EVENT_PORT_CHANGE) {
		x->types[0] = eqe_get_subtype(e) == PORT_CHANGE_ACTIVE ? IBV_EVENT_PORT_ACTIVE
								       : IBV_EVENT_PORT_ERR;
		x->port = eqe_port_get_port(eqe_as_port_const(e));
		x->n = 1;
		return;
	}
	x->port = eqe_port_mng_get_port(m);
	switch (eqe_get_subtype(e)) {
	case PORT_MNG_GUID_INFO:
		x->types[x->n++] = IBV_EVENT_GID_CHANGE;
		break;
	case PORT_MNG_PKEY_TABLE:
		x->types[x->n++] = IBV_EVENT_PKEY_CHANGE;
		break;
	case PORT_MNG_PORT_INFO:
		info_expects(x, eqe_port_mng_get_changed(m));
		break;
	default:
		break;
	}
}

static uint32_t number_of(const struct eqe *e, enum hca_object kind)
{
	return kind == HCA_QP   ? eqe_qp_get_qpn(eqe_as_qp_const(e))
	       : kind == HCA_CQ ? eqe_cq_get_cqn(eqe_as_cq_const(e))
				: eqe_srq_get_srqn(eqe_as_srq_const(e));
}

void told_eqe(struct checker *c, const struct eqe *e, const void *pc)
{
	struct expected *x = expected_of(c);
	const uint32_t type = eqe_get_type(e);

	told_eqes_end(c, pc);
	*x = (struct expected){.pc = pc};
	if (!c->dead.fn)
		return;
	if (type == EVENT_PORT_CHANGE || type == EVENT_PORT_MNG_CHG) {
		port_expects(x, e);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (events[i].eqe != type)
			continue;
		x->types[0] = events[i].type;
		x->number = number_of(e, events[i].kind);
		/* one that is on its way out may be unknown to the driver */
		x->n = hca_object_valid(c->host.hca, events[i].kind, x->number);
	}
}

static uint32_t event_number(const struct drv_event *event)
{
	return event->qp    ? drv_qp_num(event->qp)
	       : event->cq  ? drv_cq_num(event->cq)
	       : event->srq ? drv_srq_num(event->srq)
			    : 0;
}

void told_event(struct checker *c, const struct drv_event *event)
{
	struct expected *x = expected_of(c);
	const bool more = x->told < x->n;
	char names[CHAIN_BYTES], says[TEXT_BYTES] = "no other event";
	struct calls now;

	if (event->type == IBV_EVENT_LID_CHANGE || event->type == IBV_EVENT_CLIENT_REREGISTER)
		infos_said[c->host.platform->host % HOSTS].heard_ps =
			c->ops->now_ps(c->host.platform);
	if (more && event->type == x->types[x->told] && event->port == x->port &&
	    event_number(event) == x->number) {
		x->told++;
		chain_take(&x->by);
		return;
	}
	if (!more &&
	    (!x->of_port_info || event->port != x->port || event->type != IBV_EVENT_LID_CHANGE))
		return;
	if (more)
		snprintf(says, sizeof(says), "event %d", x->types[x->told]);
	x->told = x->n;
	chain_take(&now);
	chain_format(&now, names, sizeof(names));
	checker_report(c, &(struct breach){RULE_event_differs, {0}, x->pc, NULL},
		       "users are told event %d of port %u, number 0x%x; the EQE says %s of "
		       "port %u, number 0x%x; by %s",
		       event->type, event->port, event_number(event), says, x->port, x->number,
		       names);
}

void told_eqes_end(struct checker *c, const void *pc)
{
	struct expected *x = expected_of(c);
	char names[CHAIN_BYTES] = "";

	x->of_port_info = false;
	if (x->told == x->n)
		return;
	if (x->told)
		chain_format(&x->by, names, sizeof(names));
	checker_report(c, &(struct breach){RULE_event_differs, {0}, x->pc, pc},
		       "users are not told of an EQE, event %d of port %u, number 0x%x%s%s",
		       x->types[x->told], x->port, x->number,
		       x->told ? "; what it says before was told by " : "", names);
	x->told = x->n;
}
