/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work requests that the device executes without sending a packet: bind, fast register, local
 * invalidate. Each is executed completely in its turn of the queue, before the next WQE is started.
 * See requester.h, memory_key.h.
 *
 * A page list is copied into the region's MTT entries by DMA, LIST_ENTRIES at a time.
 * qp_send.page_list holds it from the first read until the region is valid.
 */
#include "model/engine/memory/icm.h"
#include "model/engine/memory/memory_key.h"
#include "model/engine/send/requester_impl.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/translate.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"

enum { LIST_ENTRIES = 512 };

/* A page list that is being copied. */
struct page_list {
	struct dma dma;
	struct qp *qp;
	bool under_way; /* the DMA is under way */
	uint16_t wqe;
	uint8_t verdict; /* why the list cannot be copied; 0: it can */
	uint32_t copied; /* entries copied so far */
	unsigned n_frags;
	struct dma_frag frags[ICM_MAX_FRAGS]; /* the MTT entries that are written next */
	struct mtt_entry entries[LIST_ENTRIES];
};

_Static_assert(sizeof(((struct page_list *)0)->entries) <= ICM_PAGE_SIZE,
	       "what is written at once crosses one page boundary at most");

void requester_local_drop(struct qp *qp)
{
	memory_give(qp->hca, qp->send.page_list, sizeof(struct page_list));
	qp->send.page_list = NULL;
}

bool requester_local_is_quiet(const struct qp *qp)
{
	const struct page_list *list = qp->send.page_list;

	return !list || !list->under_way;
}

void requester_local_forget(struct qp *qp)
{
	if (requester_local_is_quiet(qp))
		requester_local_drop(qp);
}

static void page_list_done(struct dma *dma)
{
	struct page_list *list = container_of(dma, struct page_list, dma);
	struct qp *qp = list->qp;

	list->under_way = false;
	if (dma->status)
		list->verdict = VERDICT_BIND;
	else
		list->copied += dma->len / sizeof(struct mtt_entry);
	if (qp->send.mode == SEND_MODE_FLUSHING)
		requester_local_drop(qp);
	scheduler_ready(qp, 0);
	qp_settle(qp);
}

static void page_list_read(struct dma *dma)
{
	struct page_list *list = container_of(dma, struct page_list, dma);

	if (dma->status) {
		page_list_done(dma);
		return;
	}
	dma->frags = list->frags;
	dma->n_frags = list->n_frags;
	dma->done = page_list_done;
	dma->what = "mtt";
	pcie_write(dma->hca, dma, 0);
}

/* Starts to copy the next entries of the page list to the region's MTT entries. -EINPROGRESS, or a
 * verdict. */
static int page_list_copy(struct send_step *s, const struct wqe_fast_reg *reg,
			  const struct key_pages *pages)
{
	struct page_list *list = s->send->page_list;
	uint32_t left = pages->entries - list->copied;
	uint32_t len =
		(left < LIST_ENTRIES ? left : LIST_ENTRIES) * (uint32_t)sizeof(struct mtt_entry);
	uint64_t at = (uint64_t)list->copied * sizeof(struct mtt_entry);
	int n = icm_fragments(s->hca, pages->icm + at, len, list->frags, ICM_MAX_FRAGS);

	if (n < 0) {
		guest_error(s->hca, RULE_icm_unmapped, guest_object(GUEST_QP, s->qp->qpn),
			    "qpn %06x: mtt at icm %llx of key %x", s->qp->qpn,
			    (unsigned long long)(pages->icm + at), wqe_fast_reg_get_key(reg));
		return VERDICT_SEND_CONTEXT;
	}
	list->n_frags = (unsigned)n;
	list->under_way = true;
	list->dma = (struct dma){
		.hca = s->hca,
		.done = page_list_read,
		.buf = (uint8_t *)list->entries,
		.frags = &list->dma.one,
		.n_frags = 1,
		.one = {wqe_fast_reg_get_page_list(reg) + at, len},
		.len = len,
		.at_ready = true,
		.what = "page list",
		.qpn = s->qp->qpn,
	};
	pcie_read(s->hca, &list->dma, s->at_ps);
	return -EINPROGRESS;
}

/* The page list of this WQE, copied as far as it has got. A list that is left from another WQE is
 * freed. */
static struct page_list *page_list_get(struct send_step *s)
{
	struct page_list *list = s->send->page_list;

	if (list && list->wqe != s->send->cursor) {
		requester_local_drop(s->qp);
		list = NULL;
	}
	if (!list) {
		list = memory_take(s->hca, sizeof(*list), "page lists");
		list->qp = s->qp;
		list->wqe = s->send->cursor;
		s->send->page_list = list;
	}
	return list;
}

static int local_fast_register(struct send_step *s, const struct key_user *user)
{
	const struct wqe_fast_reg *reg =
		(const struct wqe_fast_reg *)(s->r.wqe + sizeof(struct wqe_ctrl));
	struct qp_send *send = s->send;
	const struct page_list *list;
	struct key_pages pages;
	int err;

	if (!requester_local_is_quiet(s->qp))
		return -EINPROGRESS;
	list = page_list_get(s);
	if (list->verdict)
		return list->verdict;
	err = memory_key_register_check(s->hca, user, reg, &send->waiter, &pages);
	if (err)
		return err;
	if (list->copied < pages.entries)
		return page_list_copy(s, reg, &pages);
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
		/* the FRE bit of the context allows this opcode; no other opcode depends on it */
		if (!qpc_get_fre(s->qpc))
			return VERDICT_SEND_WQE;
		err = local_fast_register(s, &user);
	}
	if (err == -EAGAIN || err == -EINPROGRESS)
		return err;
	requester_local_forget(s->qp);
	if (err == -EFAULT)
		return VERDICT_SEND_CONTEXT;
	return err < 0 ? VERDICT_BIND : err;
}
