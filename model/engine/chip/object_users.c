/* SPDX-License-Identifier: Apache-2.0 */
/* See object_users.h. */
#include "model/engine/chip/object_users.h"

#include "model/engine/base/engine.h"
#include "model/engine/memory/context_cache.h"
#include "model/engine/memory/icm.h"
#include "model/interface/contexts.h"
#include "model/interface/macros.h"

#include <string.h>

/* A context of the user may name one of the other kind of object. */
struct user_row {
	uint8_t of, user; /* FW_TABLE_ */
	enum context_use use;
	enum guest_object_kind kind;
	bool (*names)(const void *context, uint32_t number);
};

static bool qp_names_cq(const void *context, uint32_t cqn)
{
	return qpc_get_cqn_send(context) == cqn || qpc_get_cqn_recv(context) == cqn;
}

static bool qp_names_srq(const void *context, uint32_t srqn)
{
	return qpc_get_srq(context) && qpc_get_srqn(context) == srqn;
}

static bool cq_names_eq(const void *context, uint32_t eqn)
{
	return cqc_get_comp_eqn(context) == eqn;
}

static const struct user_row user_rows[] = {
	{FW_TABLE_CQC, FW_TABLE_QPC, CONTEXT_REQUESTER, GUEST_QP, qp_names_cq},
	{FW_TABLE_SRQC, FW_TABLE_QPC, CONTEXT_REQUESTER, GUEST_QP, qp_names_srq},
	{FW_TABLE_EQC, FW_TABLE_CQC, CONTEXT_CQ, GUEST_CQ, cq_names_eq},
};

/* The bytes in the cache, or those in ICM, copied to buf. NULL: not reachable. */
static const void *look(struct hca *hca, const struct user_row *row, uint32_t number,
			uint8_t buf[sizeof(struct qpc)])
{
	const void *cached = context_peek(hca, row->use, number);
	struct dma_frag frags[ICM_MAX_FRAGS];
	const uint32_t len = row->user == FW_TABLE_QPC ? sizeof(struct qpc) : sizeof(struct cqc);
	uint32_t at = 0;
	int n;

	if (cached)
		return cached;
	n = icm_fragments(hca, icm_entry(hca, row->user, number), len, frags, ICM_MAX_FRAGS);
	for (int i = 0; i < n; at += frags[i++].len)
		if (hca->env.dma_read(hca->env.ctx, frags[i].bus, buf + at, frags[i].len))
			return NULL;
	return n > 0 ? buf : NULL;
}

static const enum guest_object_kind kinds[] = {
	[FW_TABLE_CQC] = GUEST_CQ, [FW_TABLE_EQC] = GUEST_EQ, [FW_TABLE_SRQC] = GUEST_SRQ};

static void tell_users(struct hca *hca, const struct user_row *row, uint32_t number)
{
	uint8_t buf[sizeof(struct qpc)];

	for (uint32_t user = 0; icm_object_next(hca, row->user, &user); user++) {
		const void *context = look(hca, row, user, buf);

		if (!context || !row->names(context, number))
			continue;
		guest_error(hca, RULE_object_in_use, guest_object(kinds[row->of], number),
			    "%s 0x%x still uses it", row->kind == GUEST_QP ? "qp" : "cq", user);
		return;
	}
}

void object_users_tell(struct hca *hca, unsigned type, uint32_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(user_rows); i++)
		if (user_rows[i].of == type)
			tell_users(hca, &user_rows[i], number);
}
