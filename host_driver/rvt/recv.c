// SPDX-License-Identifier: Apache-2.0
/* A packet that has come: its parts, its partition, and the queue pair that it is for. */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>

/* False: it is no packet of this transport. */
static bool parse(struct rvt_in *in, const uint8_t *header, uint32_t header_len,
		  const uint8_t *payload, uint32_t len)
{
	uint32_t at = LRH_BYTES, pad;
	bool grh;

	if (header_len < LRH_BYTES + BTH_BYTES)
		return false;
	in->lrh = (const struct lrh *)header;
	grh = lrh_get_lnh(in->lrh) == LNH_IBA_GLOBAL;
	if (grh) {
		in->grh = (const struct grh *)(header + at);
		at += GRH_BYTES;
	}
	if (header_len < at + BTH_BYTES)
		return false;
	in->bth = (const struct bth *)(header + at);
	in->op = bth_op_find((uint8_t)bth_get_opcode(in->bth));
	pad = bth_get_pad(in->bth);
	if (header_len < bth_op_header_bytes(in->op, grh) || len < pad || bth_get_tver(in->bth) ||
	    lrh_get_lver(in->lrh))
		return false;
	/* an opcode that is defined, with a body that it cannot have */
	if (in->op->name && !bth_op_is(in->op, BTH_PAYLOAD) && len)
		return false;
	for (unsigned i = 0; i < BTH_EXTS; i++)
		if (in->op->at[i])
			in->ext[i] = header + at + in->op->at[i];
	in->psn = bth_get_psn(in->bth);
	in->payload = payload;
	in->len = len - pad;
	return true;
}

static bool pkey_passes(struct rvt_qp *qp, struct rvt_in *in)
{
	const uint16_t pkey = (uint16_t)bth_get_pkey(in->bth);
	int i;

	if (qp->special && !qp->qpn)
		return true; /* SMPs are of no partition */
	i = rvt_pkey_find(in->port, pkey);
	in->pkey_index = i < 0 ? 0 : (unsigned)i;
	if (qp->type != IBV_QPT_UD) /* a path's: see rvt_path_accepts() */
		return true;
	if (qp->special ? i >= 0
			: rvt_pkeys_match(in->port->pkeys[qp->attr.pkey_index % RVT_PKEYS], pkey))
		return true;
	in->port->bad_pkeys++;
	return false;
}

/* A reserved opcode has a service, too; only RC answers it. */
static bool is_of_service(const struct rvt_qp *qp, const struct rvt_in *in)
{
	const uint32_t code = bth_get_opcode(in->bth);

	return in->op->name ? in->op->service == rvt_service(qp)
			    : qp->type == IBV_QPT_RC && code >> 5 == BTH_RC_SEND_FIRST >> 5;
}

static void deliver_to(struct rvt_qp *qp, struct rvt_in *in)
{
	if (!rvt_may(qp, RVT_RECEIVE) || !pkey_passes(qp, in)) {
		rvt_counters(qp)->responder_dropped++;
		return;
	}
	if (qp->type == IBV_QPT_UD) {
		rvt_datagram_came(qp, in);
		return;
	}
	if (!is_of_service(qp, in) || !rvt_path_accepts(qp, in)) {
		rvt_counters(qp)->responder_dropped++;
		return;
	}
	if (bth_op_is(in->op, BTH_RESPONSE)) {
		rvt_response_came(qp, in);
		return;
	}
	if (qp->state == IBV_QPS_RTR && !qp->established) {
		qp->established = true;
		rvt_qp_event(qp, IBV_EVENT_COMM_EST);
	}
	rvt_request_came(qp, in);
}

enum { GID_MULTICAST = 0xff };

static void deliver_group(struct rvt_device *dev, struct rvt_in *in)
{
	const uint8_t *mgid = in->grh ? grh_dgid_cptr(in->grh) : NULL;
	const uint32_t from = deth_get_sqpn((const struct deth *)in->ext[BTH_EXT_DETH]);
	const uint64_t copies = dev->counters.multicast_copies;

	/* QPN, LID and GID must all be those of a group (IBA 9.5.2) */
	if (!mgid || mgid[0] != GID_MULTICAST || lrh_get_dlid(in->lrh) < LID_MCAST_FIRST ||
	    lrh_get_dlid(in->lrh) == LID_PERMISSIVE)
		return;
	dev->counters.multicast_packets++;
	for (struct drv_list *l = dev->groups.next; l != &dev->groups; l = l->next) {
		struct rvt_group *g = container_of(l, struct rvt_group, link);

		if (memcmp(g->mgid, mgid, sizeof(g->mgid)) || g->qp->port != in->port->number ||
		    (in->looped && g->block_loopback && g->qp->qpn == from))
			continue;
		dev->counters.multicast_copies++;
		deliver_to(g->qp, in);
	}
	dev->counters.multicast_unwanted += dev->counters.multicast_copies == copies;
}

#define PREFIX_LINK_LOCAL UINT64_C(0xfe80000000000000)

/* The DGID is one of this port's, or one of them with the link-local prefix (IBA 9.6.1.2). */
static bool own_gid(const struct rvt_port *port, const uint8_t gid[DRV_GID_BYTES])
{
	for (unsigned i = 0; i < port->n_gids; i++) {
		const uint8_t *own = port->gids[i];

		if (be64_load(own + 8) && !memcmp(gid + 8, own + 8, 8) &&
		    (!memcmp(gid, own, 8) || be64_load(gid) == PREFIX_LINK_LOCAL))
			return true;
	}
	return false;
}

void rvt_deliver(struct rvt_device *dev, unsigned port, const uint8_t *header, uint32_t header_len,
		 const uint8_t *payload, uint32_t len, bool looped)
{
	struct rvt_in in = {.port = &dev->ports[port], .looped = looped};
	struct rvt_qp *qp;

	if (!parse(&in, header, header_len, payload, len))
		return;
	if (bth_get_dqpn(in.bth) == RVT_QPN_MULTICAST) {
		if (in.ext[BTH_EXT_DETH])
			deliver_group(dev, &in);
		return;
	}
	qp = rvt_qp_lookup(dev, port, bth_get_dqpn(in.bth));
	if (qp && qp->port == port && (!in.grh || own_gid(in.port, grh_dgid_cptr(in.grh))))
		deliver_to(qp, &in);
	else
		dev->counters.responder_dropped++;
}

void rvt_receive(struct drv_device *handle, unsigned port, const uint8_t *header,
		 uint32_t header_len, const uint8_t *payload, uint32_t len)
{
	struct rvt_device *dev = rvt_of(handle);

	rvt_cpu(dev, dev->limits.packet_ps);
	rvt_deliver(dev, port, header, header_len, payload, len, false);
	rvt_cqs_tell(dev);
}
