// SPDX-License-Identifier: Apache-2.0
/* A release is judged when it happens: what the driver unmaps, frees or gives back must not belong to a
 * live object of the device. See claims.h. */
#include "testbench/dsan/held/claims_impl.h"

#include "model/interface/contexts.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"

void claims_mapped(struct claims *cl, uintptr_t at, uint64_t bytes)
{
	if (!checker_has(cl->c, at))
		return;
	for (uint32_t p = claims_page(cl, at); p <= claims_page(cl, at + bytes - 1); p++)
		cl->mapped[p]++;
}

/* Of an object's buffer or region the first page that goes is reported. Each page of ICM belongs to
 * other objects, so of ICM the first page of each piece is. */
static bool is_told(const struct claim *k)
{
	struct holder *h = k->holder;
	bool told = k->use == CLAIM_PAGE && h->taken;

	if (h->kind == HOLDER_ICM) {
		told = told && k->nth == h->taken_page + 1;
		h->taken_page = k->nth;
	}
	return told;
}

static bool may_move_data(struct hca *hca, uint32_t qpn, uint32_t pd)
{
	struct qpc c;

	if (hca_context_read(hca, HCA_QP, qpn, &c, sizeof(c)) <= 0 || qpc_get_pd(&c) != pd)
		return false;
	switch (qpc_get_state(&c)) {
	case QP_STATE_RTR:
	case QP_STATE_RTS:
	case QP_STATE_SQER:
	case QP_STATE_SQD:
		return true;
	default:
		return false;
	}
}

/*
 * What a work request has registered is used by the queue pairs of its protection domain. When the
 * connection is lost and they are all in error, Linux unmaps the memory first and deregisters the
 * region afterwards (xprtrdma: frwr_mr_release; rdma_rw_ctx_destroy unmaps alone).
 */
static bool nobody_can_use(const struct claims *cl, const struct holder *h)
{
	struct hca *hca = cl->c->host.hca;
	struct mpt_entry e;

	if (h->kind != HOLDER_MPT ||
	    hca_context_read(hca, HCA_MPT, h->number, &e, sizeof(e)) <= 0 || !mpt_entry_get_fre(&e))
		return false;
	for (unsigned i = 0; i < CLAIM_BUCKETS; i++)
		for (const struct holder *qp = cl->buckets[i]; qp; qp = qp->hash_next)
			if (qp->live && qp->kind == HOLDER_QP &&
			    may_move_data(hca, qp->number, mpt_entry_get_pd(&e)))
				return false;
	return true;
}

static void page_taken(struct claims *cl, uint32_t page, const void *pc)
{
	const struct claim *k = cl->pages[page];
	const uint64_t bus = cl->c->host.bus + (uint64_t)page * CLAIM_PAGE_SIZE;

	while (k && (is_told(k) || nobody_can_use(cl, k->holder)))
		k = k->page_next;
	if (!k)
		return;
	k->holder->taken |= k->use == CLAIM_PAGE;
	if (k->use == CLAIM_RECORD)
		checker_report(
			cl->c,
			&(struct breach){RULE_memory_taken, holder_object(k->holder), pc, NULL},
			"page %llx has the doorbell record of %s %x", (unsigned long long)bus,
			holder_name(k->holder), k->holder->number);
	else
		checker_report(
			cl->c,
			&(struct breach){RULE_memory_taken, holder_object(k->holder), pc, NULL},
			"page %llx is page %u of %s %x", (unsigned long long)bus, k->nth,
			holder_name(k->holder), k->holder->number);
}

void claims_unmapped(struct claims *cl, uintptr_t at, uint64_t bytes, const void *pc)
{
	if (!checker_has(cl->c, at))
		return;
	for (uint32_t p = claims_page(cl, at); p <= claims_page(cl, at + bytes - 1); p++)
		if (cl->mapped[p] && !--cl->mapped[p])
			page_taken(cl, p, pc);
}

void claims_taken(struct claims *cl, uintptr_t at, uint64_t bytes, const void *pc)
{
	if (!checker_has(cl->c, at) || !checker_has(cl->c, at + bytes - 1))
		return;
	for (uint32_t p = claims_page(cl, at); p <= claims_page(cl, at + bytes - 1); p++)
		page_taken(cl, p, pc);
}

void claims_record_back(struct claims *cl, uint64_t bus, const void *pc)
{
	const uintptr_t at = checker_address(cl->c, bus);
	const struct claim *k = at ? claims_of_page(cl, at) : NULL;

	while (k && (k->use != CLAIM_RECORD || k->holder->record != bus))
		k = k->page_next;
	if (k)
		checker_report(
			cl->c,
			&(struct breach){RULE_memory_taken, holder_object(k->holder), pc, NULL},
			"the doorbell record of %s %x was given back", holder_name(k->holder),
			k->holder->number);
}

void claims_mtts_back(struct claims *cl, uint32_t first, uint32_t n, const void *pc)
{
	for (uint32_t i = first; i < first + n && i < CLAIM_MTTS; i++) {
		const struct holder *h = cl->mtts[i];

		if (!h)
			continue;
		checker_report(cl->c,
			       &(struct breach){RULE_memory_taken, holder_object(h), pc, NULL},
			       "mtt %x of %s %x was given back", i, holder_name(h), h->number);
		return;
	}
}

void claims_number_back(struct claims *cl, enum hca_object type, uint32_t number, const void *pc)
{
	const struct holder *h = claims_find(cl, (enum holder_kind)type,
					     object_index(cl->c->host.hca, type, number));

	if (h)
		checker_report(cl->c,
			       &(struct breach){RULE_number_taken, holder_object(h), pc, NULL},
			       "%s %x", holder_name(h), h->number);
}

void claims_entry_back(struct claims *cl, unsigned table, uint32_t number, const void *pc)
{
	static const struct {
		unsigned table;
		enum hca_object type;
	} tables[] = {{FW_TABLE_QPC, HCA_QP}, {FW_TABLE_ALTC, HCA_QP},  {FW_TABLE_AUXC, HCA_QP},
		      {FW_TABLE_CQC, HCA_CQ}, {FW_TABLE_SRQC, HCA_SRQ}, {FW_TABLE_EQC, HCA_EQ},
		      {FW_TABLE_MPT, HCA_MPT}};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (tables[i].table == table)
			claims_number_back(cl, tables[i].type, number, pc);
}
