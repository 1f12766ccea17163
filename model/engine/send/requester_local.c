/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work requests that are done in the device: bind, fast register, local invalidate. Each is done
 * whole in its turn of the queue, before anything behind it is begun. See requester.h,
 * memory_key.h.
 *
 * A page list is copied into the region's MTT entries by DMA, as many entries at a time as a
 * packet's buffer holds. The packet never leaves; it stands in qp_send.local from the first read
 * until the region is valid.
 */
#include "model/engine/memory/icm.h"
#include "model/engine/memory/memory_key.h"
#include "model/engine/wire/packet.h"
#include "model/engine/send/requester_impl.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/translate.h"
#include "model/interface/rows.h"

/* In qp_send.local: packet.corr is the WQE, psn how many entries have been copied, verdict why not.
 */

static void free_local(struct qp_send *send)
{
	packet_free(send->local);
	send->local = NULL;
}

void requester_local_forget(struct qp_send *send)
{
	if (send->local && !send->local->owner)
		free_local(send);
}

static void list_done(struct dma *dma)
{
	struct packet *pkt = (struct packet *)((char *)dma - offsetof(struct packet, dma));
	struct qp *qp = pkt->owner;

	pkt->owner = NULL;
	if (dma->status)
		pkt->verdict = VERDICT_BIND;
	else
		pkt->psn += dma->len / sizeof(struct mtt_entry);
	if (qp->send.flushing)
		free_local(&qp->send);
	scheduler_ready(qp, 0);
	qp_settle(qp);
}

static void list_read(struct dma *dma)
{
	struct packet *pkt = (struct packet *)((char *)dma - offsetof(struct packet, dma));

	if (dma->status) {
		list_done(dma);
		return;
	}
	dma->frags = pkt->frags;
	dma->n_frags = pkt->n_frags;
	dma->done = list_done;
	dma->what = "mtt";
	pcie_write(dma->hca, dma, 0);
}

/* The next entries of the page list are on their way to the region's. 0, or a verdict. */
static int copy_list(struct send_step *s, const struct wqe_fast_reg *reg,
		     const struct key_pages *pages)
{
	struct packet *pkt = s->send->local;
	uint32_t left = pages->entries - pkt->psn, most = PACKET_PAYLOAD / sizeof(struct mtt_entry);
	uint64_t at = (uint64_t)pkt->psn * sizeof(struct mtt_entry);
	int n;

	left = left < most ? left : most;
	n = icm_fragments(s->hca, pages->icm + at, left * (uint32_t)sizeof(struct mtt_entry),
			  pkt->frags, ICM_MAX_FRAGS);
	if (n < 0) {
		guest_error(s->hca, RULE_icm_unmapped, "qpn %06x: mtt at icm %llx of key %x",
			    s->qp->qpn, (unsigned long long)(pages->icm + at),
			    wqe_fast_reg_get_key(reg));
		return VERDICT_SEND_CONTEXT;
	}
	pkt->n_frags = (unsigned)n;
	pkt->owner = s->qp;
	pkt->dma = (struct dma){
		.hca = s->hca,
		.done = list_read,
		.buf = packet_payload(pkt),
		.frags = &pkt->dma.one,
		.n_frags = 1,
		.one = {wqe_fast_reg_get_page_list(reg) + at,
			left * (uint32_t)sizeof(struct mtt_entry)},
		.len = left * (uint32_t)sizeof(struct mtt_entry),
		.at_ready = true,
		.what = "page list",
		.qpn = s->qp->qpn,
	};
	pcie_read(s->hca, &pkt->dma, s->at_ps);
	return -EINPROGRESS;
}

static int fast_register(struct send_step *s, const struct key_user *user)
{
	const struct wqe_fast_reg *reg =
		(const struct wqe_fast_reg *)(s->r.wqe + sizeof(struct wqe_ctrl));
	struct qp_send *send = s->send;
	struct key_pages pages;
	int err;

	if (send->local && send->local->owner)
		return -EINPROGRESS;
	if (send->local && (uint16_t)send->local->corr != send->cursor)
		free_local(send);
	if (send->local && send->local->verdict)
		return send->local->verdict;
	err = memory_key_register_check(s->hca, user, reg, &send->waiter, &pages);
	if (err)
		return err;
	if (!send->local) {
		send->local = packet_alloc(s->hca);
		send->local->corr = send->cursor;
	}
	if (send->local->psn < pages.entries)
		return copy_list(s, reg, &pages);
	return memory_key_register(s->hca, user, reg, &send->waiter);
}

int requester_local_do(struct send_step *s)
{
	const uint8_t *segment = s->r.wqe + sizeof(struct wqe_ctrl);
	struct key_user user = {.qpn = s->qp->qpn, .pd = qpc_get_pd(s->qpc)};
	int err;

	switch (wqe_ctrl_get_opcode(s->r.ctrl)) {
	case WQE_LOCAL_INV:
		err = memory_key_invalidate(
			s->hca, &user, wqe_local_inv_get_key((const struct wqe_local_inv *)segment),
			&s->send->waiter);
		break;
	case WQE_BIND_MW:
		err = memory_key_bind(s->hca, &user, (const struct wqe_bind *)segment,
				      &s->send->waiter);
		break;
	default:
		/* 03 of the memory chapter: FRE gates this opcode and no other */
		if (!qpc_get_fre(s->qpc))
			return VERDICT_SEND_WQE;
		err = fast_register(s, &user);
	}
	if (err == -EAGAIN || err == -EINPROGRESS)
		return err;
	requester_local_forget(s->send);
	if (err == -EFAULT)
		return VERDICT_SEND_CONTEXT;
	return err < 0 ? VERDICT_BIND : err;
}
