/* SPDX-License-Identifier: Apache-2.0 */
/* See multicast.h. */
#include "model/engine/receive/multicast.h"

#include "model/engine/base/engine.h"
#include "model/engine/memory/icm.h"
#include "model/engine/wire/packet.h"
#include "model/engine/qp/qp.h"
#include "model/engine/receive/responder.h"
#include "model/interface/bth_ops.h"
#include "model/interface/contexts.h"
#include "model/interface/macros.h"
#include "model/interface/wire.h"

#include <stdlib.h>
#include <string.h>

enum { GID_BYTES = 16, MEMBERS_OFFSET = sizeof(struct mcg_entry) - mcg_entry_member_size };

struct multicast {
	struct hca *hca;
	/* in order of arrival; the first packet's group is being looked up */
	struct packet_queue queue;
	struct dma dma;
	struct dma_frag frags[ICM_MAX_FRAGS];
	uint8_t mgid[GID_BYTES]; /* of that packet */
	uint32_t visited; /* entries of the chain read so far: limits a chain that is circular */
	union {
		struct mcg_entry group;
		uint8_t bytes[ICM_PAGE_SIZE];
	} entry;
};

static void walk(struct multicast *mc);

static void drop(struct multicast *mc, const char *why)
{
	struct hca *hca = mc->hca;
	struct packet *pkt = packet_queue_pop(&mc->queue);

	hca->stats.multicast_unwanted++;
	HCA_TRACE(hca, TP_PKT_DISCARD, .port = pkt->port, .qpn = pkt->qpn, .corr = pkt->psn,
		  .bytes = pkt->wire, .len = pkt->len, .text = why);
	packet_free(pkt);
	if (mc->queue.first)
		walk(mc);
}

/* False for a member's own packet, if the member has asked not to get these. */
static bool is_wanted(const struct packet *pkt, const struct mcg_member *member)
{
	const struct deth *deth =
		(const void *)(pkt->wire + pkt->bth_off + pkt->op->at[BTH_EXT_DETH]);

	return !(pkt->loopback && mcg_member_get_block_loopback(member) &&
		 deth_get_sqpn(deth) == mcg_member_get_qpn(member));
}

static void deliver_one(struct hca *hca, struct packet *pkt, uint32_t qpn)
{
	struct qp *qp = qp_make(hca, qpn);
	struct packet *copy;

	if (!qp)
		return;
	copy = packet_alloc(hca);
	packet_copy(copy, pkt);
	packet_share(copy, pkt);
	copy->qpn = qpn;
	hca->stats.multicast_copies++;
	responder_request(qp, copy);
}

static void deliver(struct multicast *mc)
{
	struct packet *pkt = packet_queue_pop(&mc->queue);
	uint32_t n = mcg_entry_get_members(&mc->entry.group);
	uint32_t room = (mc->dma.len - MEMBERS_OFFSET) / (uint32_t)sizeof(struct mcg_member);

	for (uint32_t i = 0; i < n && i < room; i++) {
		const struct mcg_member *member = mcg_entry_member_const(&mc->entry.group, i);

		if (is_wanted(pkt, member))
			deliver_one(mc->hca, pkt, mcg_member_get_qpn(member));
	}
	packet_unshare(pkt);
	if (mc->queue.first)
		walk(mc);
}

static void entry_read(struct multicast *mc, uint32_t index);

static void entry_arrived(struct dma *dma)
{
	struct multicast *mc = container_of(dma, struct multicast, dma);
	const struct mcg_entry *group = &mc->entry.group;
	uint32_t next;

	if (dma->status) {
		drop(mc, "multicast table not readable");
		return;
	}
	if (mcg_entry_get_members(group) &&
	    !memcmp(mcg_entry_mgid_cptr(group), mc->mgid, GID_BYTES)) {
		deliver(mc);
		return;
	}
	next = mcg_entry_get_next_index(group);
	if (next && ++mc->visited < 1u << mc->hca->tables[FW_TABLE_MCG].log_num)
		entry_read(mc, next);
	else
		drop(mc, "no such multicast group");
}

static void entry_read(struct multicast *mc, uint32_t index)
{
	struct hca *hca = mc->hca;
	uint32_t len = hca->tables[FW_TABLE_MCG].entry_size;
	int n;

	if (!icm_object_valid(hca, FW_TABLE_MCG, index)) {
		drop(mc, "no such multicast group");
		return;
	}
	if (len > sizeof(mc->entry))
		len = sizeof(mc->entry);
	n = icm_fragments(hca, icm_entry(hca, FW_TABLE_MCG, index), len, mc->frags, ICM_MAX_FRAGS);
	if (n < 0) {
		guest_error(hca, RULE_icm_unmapped, guest_object(GUEST_MCG, index),
			    "multicast group %u is not mapped", index);
		drop(mc, "multicast table not mapped");
		return;
	}
	mc->dma = (struct dma){.done = entry_arrived,
			       .buf = mc->entry.bytes,
			       .frags = mc->frags,
			       .n_frags = (unsigned)n,
			       .len = len,
			       .at_ready = true,
			       .what = "multicast group"};
	pcie_read(hca, &mc->dma, mc->queue.first->ready_ps);
	HCA_TRACE(hca, TP_MCG_RUN, .text = mc->dma.what, .args = {mc->dma.ready_ps});
}

static void walk(struct multicast *mc)
{
	mc->visited = 0;
	packet_dgid(mc->queue.first, mc->mgid);
	entry_read(mc, mcg_hash(mc->mgid, mc->hca->log_mcg_hash));
}

void multicast_receive(struct hca *hca, struct packet *pkt)
{
	struct multicast *mc = hca->multicast;

	hca->stats.multicast_packets++;
	packet_queue_push(&mc->queue, pkt);
	if (mc->queue.first == pkt)
		walk(mc);
}

struct multicast *multicast_create(struct hca *hca)
{
	struct multicast *mc = memory_create(1, sizeof(*mc), "multicast");

	mc->hca = hca;
	return mc;
}

void multicast_reset(struct hca *hca)
{
	struct multicast *mc = hca->multicast;

	packet_queue_free(&mc->queue);
}

void multicast_destroy(struct multicast *mc)
{
	free(mc);
}
