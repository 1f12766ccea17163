// SPDX-License-Identifier: Apache-2.0
/* Contexts: what the mailbox of a command says, against what the driver was asked for. Judged when GO
 * is written, so the caller of the driver is still there. */
#include "testbench/dsan/asked/context.h"
#include "testbench/dsan/asked/buffers.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/hear/chain.h"

#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/fwregs.h"
#include "model/interface/mailboxes.h"
#include "model/interface/qp_transitions.h"
#include "model/interface/queues.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LOG_PAGE_MIN = 12, LOG_HUGE_PAGE = 21, HCR_MBOX_BYTES = 4096 };

/* --- completion and shared receive queues --- */

static void memory_says(struct compared *c, const struct layout *layout, const void *context,
			uint64_t mtt_addr, uint64_t record)
{
	if (!mtt_addr)
		field_differs(c, layout, "mtt_addr", context, 0, ASKED_SOME);
	if (!record)
		field_differs(c, layout, "db_rec_addr", context, 0, ASKED_SOME);
}

/* Completions of a vector go to the vector's event queue, which is not that of asynchronous events. */
static void vector_says(struct compared *c, const struct cqc *q, int vector)
{
	struct checker *checker = c->ask->c;
	const unsigned eqn = cqc_get_comp_eqn(q);
	unsigned *learned;

	if (vector < 0 || vector >= FUNCTION_VECTORS)
		return;
	if (checker->async_eqn_known && eqn == checker->async_eqn)
		bytes_differ(c, "cqc.comp_eqn, the EQ of asynchronous events,",
			     q->b + layout_field(&layout_cqc, "comp_eqn")->offset, 1);
	learned = &checker->vector_eqn[vector];
	if (!*learned)
		*learned = eqn;
	SAYS(c, cqc, q, comp_eqn, *learned);
	for (int v = 0; v < FUNCTION_VECTORS; v++)
		if (v != vector && eqn && checker->vector_eqn[v] == eqn)
			bytes_differ(c, "cqc.comp_eqn, the EQ of another vector,",
				     q->b + layout_field(&layout_cqc, "comp_eqn")->offset, 1);
}

static void cq_says(struct compared *c, const struct ask *a, uint32_t opcode, uintptr_t at)
{
	const struct cqc *q = (const void *)at;

	if (a->cq.moderates) {
		SAYS(c, cqc, q, max_count, a->cq.max_count);
		SAYS(c, cqc, q, period, a->cq.period_us);
		return;
	}
	buffer_says(c, &layout_cqc, cqc_get_mtt_addr(q), (uint64_t)CQE_SIZE << cqc_get_log_size(q));
	SAYS(c, cqc, q, log_size, log2_up((uint64_t)a->cq.entries + 1));
	if (opcode != HCR_SW2HW_CQ) {
		if (!cqc_get_mtt_addr(q))
			field_differs(c, &layout_cqc, "mtt_addr", q, 0, ASKED_SOME);
		return;
	}
	record_is_clear(c, cqc_get_db_rec_addr(q));
	memory_says(c, &layout_cqc, q, cqc_get_mtt_addr(q), cqc_get_db_rec_addr(q));
	SAYS(c, cqc, q, timestamp, a->cq.stamped);
	page_says(c, &layout_cqc, q, cqc_get_usr_page(q), a->cq.uar);
	SAYS(c, cqc, q, collapsed, 0);
	vector_says(c, q, a->cq.vector);
}

static void srq_says(struct compared *c, const struct ask *a, uintptr_t at, uint32_t number)
{
	const struct srqc *q = (const void *)at;
	struct made *pd = made_find(a->region.pd);
	const struct drv_srq_init *init = a->srq;

	buffer_says(c, &layout_srqc, srqc_get_mtt_addr(q),
		    UINT64_C(16) << (srqc_get_log_stride(q) + srqc_get_log_size(q)));
	SAYS(c, srqc, q, srqn, number);
	SAYS(c, srqc, q, log_size, log2_up((uint64_t)init->max_wr + 1));
	/* Source: Linux mlx4_ib_create_srq: at least 32 bytes */
	if (!srqc_get_log_stride(q) ||
	    16u << srqc_get_log_stride(q) <
		    sizeof(struct srq_next) + init->max_sge * sizeof(struct wqe_data))
		bytes_differ(c, "srqc.log_stride, too small for the scatter list,",
			     q->b + layout_field(&layout_srqc, "log_stride")->offset, 1);
	SAYS(c, srqc, q, cqn, init->cq ? drv_cq_num(init->cq) : 0);
	memory_says(c, &layout_srqc, q, srqc_get_mtt_addr(q), srqc_get_db_rec_addr(q));
	xrc_domain_says(c, &layout_srqc, q, srqc_get_xrcd(q), made_find(init->xrcd));
	domain_says(c, &layout_srqc, q, srqc_get_pd(q), pd);
}

/* --- regions and windows --- */

static void rights_say(struct compared *c, const struct mpt_entry *e, unsigned access)
{
	SAYS(c, mpt_entry, e, local_read, 1);
	SAYS(c, mpt_entry, e, local_write, !!(access & IBV_ACCESS_LOCAL_WRITE));
	SAYS(c, mpt_entry, e, remote_read, !!(access & IBV_ACCESS_REMOTE_READ));
	SAYS(c, mpt_entry, e, remote_write, !!(access & IBV_ACCESS_REMOTE_WRITE));
	SAYS(c, mpt_entry, e, remote_atomic, !!(access & IBV_ACCESS_REMOTE_ATOMIC));
	SAYS(c, mpt_entry, e, bind_enable, !!(access & IBV_ACCESS_MW_BIND));
}

/* The bus address of a page of the region. */
static uint64_t bus_asked(const struct ask *a)
{
	return a->c->host.bus + ((uintptr_t)a->region.addr - (uintptr_t)a->c->host.memory);
}

static uint64_t page_asked(const struct ask *a, uint64_t nth, unsigned log_page)
{
	const uint64_t mask = ~((UINT64_C(1) << log_page) - 1);

	if (a->region.pages)
		return a->region.pages[nth];
	return (bus_asked(a) & mask) + (nth << log_page);
}

/* The device takes the place in a page from the region's address. */
static void page_size_says(const struct compared *c, const struct ask *a, unsigned log_page)
{
	const uint64_t mask = (UINT64_C(1) << log_page) - 1,
		       huge_mask = (UINT64_C(1) << LOG_HUGE_PAGE) - 1,
		       between = bus_asked(a) ^ a->region.iova;

	if (a->region.pages)
		return;
	if (a->region.access & IBV_ACCESS_HUGETLB && !(between & huge_mask) &&
	    log_page != LOG_HUGE_PAGE)
		ask_report(a, RULE_context_differs, c->object,
			   "the region has pages of 2^%u bytes, and was asked to have huge pages, "
			   "which its memory and its address allow",
			   log_page);
	if (between & mask)
		ask_report(a, RULE_context_differs, c->object,
			   "the region has pages of 2^%u bytes, and its address 0x%" PRIx64
			   " has another place in such a page than the memory's, 0x%" PRIx64,
			   log_page, a->region.iova, bus_asked(a));
}

/* The translations are those of the memory that is registered, page by page. */
static void pages_say(struct compared *c, const struct ask *a, const struct mpt_entry *e)
{
	const unsigned log_page = mpt_entry_get_log_page_size(e);
	const uint64_t mask = (UINT64_C(1) << log_page) - 1;
	const uint64_t pages = ((a->region.iova & mask) + a->region.len + mask) >> log_page;
	struct compared mtt = *c;
	uint64_t bus;

	for (uint64_t i = 0; i < pages && !c->differs; i++) {
		const uint64_t index = mpt_entry_get_mtt_addr(e) / sizeof(struct mtt_entry) + i;
		const struct mtt_entry *t;

		if (hca_icm_bus(a->c->host.hca,
				hca_icm_address(a->c->host.hca, FW_TABLE_MTT, index), &bus) ||
		    !checker_address(a->c, bus))
			return;
		t = (const void *)checker_address(a->c, bus);
		mtt.from = (uintptr_t)t;
		mtt.to = mtt.from + sizeof(*t);
		SAYS(&mtt, mtt_entry, t, present, 1);
		SAYS(&mtt, mtt_entry, t, addr, page_asked(a, i, log_page));
		c->differs = mtt.differs;
	}
}

static void region_says(struct compared *c, const struct ask *a, uintptr_t at)
{
	const struct mpt_entry *e = (const void *)at;
	struct made *pd = made_find(a->region.pd);
	const unsigned log_page = mpt_entry_get_log_page_size(e);

	SAYS(c, mpt_entry, e, region, 1);
	SAYS(c, mpt_entry, e, mio, 1); /* Source: Linux MLX4_MPT_FLAG_MIO */
	SAYS(c, mpt_entry, e, en_inv, 3);
	SAYS(c, mpt_entry, e, fre, a->region.fast);
	SAYS(c, mpt_entry, e, physical, a->region.physical);
	domain_says(c, &layout_mpt_entry, e, mpt_entry_get_pd(e), pd);
	if (a->region.fast) {
		SAYS(c, mpt_entry, e, status, MPT_STATUS_FREE);
		SAYS(c, mpt_entry, e, rae, 1);
		/* Source: Linux mlx4_mr_enable: 1 << mr->mtt.order */
		SAYS(c, mpt_entry, e, mtt_size, UINT64_C(1) << log2_up(a->region.max_pages));
		return;
	}
	rights_say(c, e, a->region.access);
	if (a->region.physical) {
		SAYS(c, mpt_entry, e, length, UINT64_MAX);
		return;
	}
	SAYS(c, mpt_entry, e, start, a->region.iova);
	SAYS(c, mpt_entry, e, length, a->region.len);
	if (log_page < LOG_PAGE_MIN || (log_page > LOG_PAGE_MIN && a->region.pages))
		SAYS(c, mpt_entry, e, log_page_size, LOG_PAGE_MIN);
	else
		pages_say(c, a, e);
	page_size_says(c, a, log_page);
}

static void window_says(struct compared *c, const struct ask *a, uintptr_t at)
{
	const struct mpt_entry *e = (const void *)at;
	struct made *pd = made_find(a->region.pd);
	const bool type2 = a->region.type == IBV_MW_TYPE_2;

	SAYS(c, mpt_entry, e, region, 0);
	SAYS(c, mpt_entry, e, bound_to_qp, type2);
	if (type2) {
		SAYS(c, mpt_entry, e, status, MPT_STATUS_FREE);
		SAYS(c, mpt_entry, e, en_inv, 3);
	}
	domain_says(c, &layout_mpt_entry, e, mpt_entry_get_pd(e), pd);
}

/* Rights are changed in the entry itself, in ICM. */
static void rights_changed_say(struct compared *c, const struct ask *a)
{
	struct hca *hca = a->c->host.hca;
	uint64_t bus;

	if (hca_icm_bus(hca, hca_icm_address(hca, FW_TABLE_MPT, a->number), &bus) ||
	    !checker_address(a->c, bus))
		return;
	c->from = checker_address(a->c, bus);
	c->to = c->from + sizeof(struct mpt_entry);
	c->object = (struct guest_object){GUEST_MPT, a->number};
	rights_say(c, (const void *)c->from, a->region.access);
	if (mpt_entry_get_status((const void *)c->from) != MPT_STATUS_HW)
		field_differs(c, &layout_mpt_entry, "status", (const void *)c->from,
			      mpt_entry_get_status((const void *)c->from), MPT_STATUS_HW);
}

/* --- all --- */

/* Whether a command changes the state of a queue pair, with a context in its mailbox. */
static bool is_transition(uint32_t opcode)
{
	const struct hcr_row *row = hcr_row_find(opcode);

	return row && row->in_layout == &layout_qp_mbox;
}

/* Events of a type go to one EQ. Completions are not among them: bit 0. */
static void events_note(struct checker *c, const struct hcr *command)
{
	const uint32_t modifier = hcr_get_in_mod(command);

	if (modifier >> 31)
		return;
	c->async_eqn = modifier & 0xff;
	c->async_eqn_known = true;
	memset(c->vector_eqn, 0, sizeof(c->vector_eqn));
}

static void vector_differs(struct compared *c, const struct eqc *q)
{
	char by[CHAIN_BYTES], text[CHAIN_BYTES + 80];

	chain_format(&c->ask->c->function.msix_by, by, sizeof(by));
	snprintf(text, sizeof(text),
		 "eqc.intr, a vector that the host has not (MSI-X was switched on by %s),", by);
	bytes_differ(c, text, q->b + layout_field(&layout_eqc, "intr")->offset, 2);
}

/* Each EQ has a vector of its own. */
static void eq_says(struct compared *c, uintptr_t at, uint32_t eqn)
{
	const struct eqc *q = (const void *)at;
	struct checker *checker = c->ask->c;
	const unsigned vector = eqc_get_intr(q);

	buffer_says(c, &layout_eqc, eqc_get_mtt_addr(q), (uint64_t)EQE_SIZE << eqc_get_log_size(q));
	if (vector >= checker->host.platform->msix_vectors)
		vector_differs(c, q);
	else if (vector < FUNCTION_VECTORS && checker->eq_of_vector[vector])
		bytes_differ(c, "eqc.intr, the vector of another EQ,",
			     q->b + layout_field(&layout_eqc, "intr")->offset, 2);
	else if (vector < FUNCTION_VECTORS)
		checker->eq_of_vector[vector] = eqn + 1;
}

static void eq_goes(struct checker *c, uint32_t eqn)
{
	for (unsigned v = 0; v < FUNCTION_VECTORS; v++)
		if (c->eq_of_vector[v] == eqn + 1)
			c->eq_of_vector[v] = 0;
}

static void device_forgets(struct checker *c)
{
	memset(c->eq_of_vector, 0, sizeof(c->eq_of_vector));
	memset(c->vector_eqn, 0, sizeof(c->vector_eqn));
	c->kernel_page = 0;
	c->async_eqn_known = false;
}

void asked_command(struct checker *c, const struct hcr *command)
{
	struct ask *a = ask_now(c);
	const uintptr_t at = checker_address(c, hcr_get_in_param(command));
	const uint32_t opcode = hcr_get_opcode(command),
		       number = hcr_get_in_mod(command) & 0xffffff;
	struct compared d = {.ask = a,
			     .rule = RULE_context_differs,
			     .object = {GUEST_COMMAND, opcode},
			     .from = at,
			     .to = at + HCR_MBOX_BYTES};

	if (opcode == HCR_MAP_EQ)
		events_note(c, command);
	else if (opcode == HCR_HW2SW_EQ)
		eq_goes(c, number);
	else if (opcode == HCR_INIT_HCA || opcode == HCR_CLOSE_HCA)
		device_forgets(c);
	asked_command_given(c, command);
	if (!ask_is_raw())
		given_command(c, command);
	if (!ask_is_raw() && c->watcher && c->watcher->command)
		c->watcher->command(c, command);
	if (!a)
		return;
	if (a->kind == ASK_QP_MODIFY && a->made && number == a->number &&
	    qp_transition_find(opcode))
		qp_transition_says(a, command);
	if (a->kind == ASK_CQ && opcode == HCR_MODIFY_CQ &&
	    hcr_get_op_mod(command) != (a->cq.moderates ? HCR_OM_CQ_MODERATE : HCR_OM_CQ_RESIZE))
		ask_report(a, RULE_context_differs, (struct guest_object){GUEST_CQ, number},
			   "MODIFY_CQ has opcode modifier %u", (unsigned)hcr_get_op_mod(command));
	if (a->kind == ASK_REGION_RIGHTS && opcode == HCR_SYNC_TPT)
		rights_changed_say(&d, a);
	if (!at)
		return;
	if (a->kind == ASK_QP_MODIFY && is_transition(opcode)) {
		d.object = (struct guest_object){GUEST_QP, a->number};
		qp_context_says(&d, a, opcode, at);
	} else if (a->kind == ASK_CQ && (opcode == HCR_SW2HW_CQ || opcode == HCR_MODIFY_CQ)) {
		d.object = (struct guest_object){GUEST_CQ, number};
		cq_says(&d, a, opcode, at);
	} else if (a->kind == ASK_SRQ_CREATE && opcode == HCR_SW2HW_SRQ) {
		d.object = (struct guest_object){GUEST_SRQ, number};
		srq_says(&d, a, at, number);
	} else if (a->kind == ASK_REGION && opcode == HCR_SW2HW_MPT) {
		d.object = (struct guest_object){GUEST_MPT, number};
		region_says(&d, a, at);
	} else if (a->kind == ASK_WINDOW && opcode == HCR_SW2HW_MPT) {
		d.object = (struct guest_object){GUEST_MPT, number};
		window_says(&d, a, at);
	} else if (opcode == HCR_SW2HW_EQ) {
		d.object = (struct guest_object){GUEST_EQ, number};
		eq_says(&d, at, number);
	}
}
