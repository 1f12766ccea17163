/* SPDX-License-Identifier: Apache-2.0 */
/* See software.h. */
#include "testbench/language/software.h"

#include "model/interface/macros.h"
#include "model/interface/wire.h"

#include <stdarg.h>
#include <string.h>

enum { WHAT_CHARS = 96 };

bool tb_in_software(const struct tb_end *end)
{
	return strcmp(hca_personality(host_hca(end->host)), "ipath") == 0;
}

bool tb_is_outside(const struct tb_end *end)
{
	return strcmp(hca_personality(host_hca(end->host)), "outside") == 0;
}

void tb_lacks(struct tb *tb, const char *here, const struct tb_end *end, const char *format, ...)
{
	char what[WHAT_CHARS];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	tb->here = here;
	end->platform->ops->refused(end->platform, what);
	tb_go(tb, here);
}

static bool is_ack(const struct seen_pkt *seen)
{
	return seen->opcode == BTH_RC_ACKNOWLEDGE && seen->fields.nak == TB_ANY &&
	       seen->fields.rnr == TB_ANY;
}

static bool wants_ack(uint8_t opcode, const struct tb_pkt *want)
{
	return opcode == BTH_RC_ACKNOWLEDGE && want->nak == TB_ANY && want->rnr == TB_ANY &&
	       want->syndrome == TB_ANY && want->psn != TB_ANY;
}

enum tb_merged tb_merged(const struct tb *tb, struct seen_queue *q, const struct seen_pkt *seen,
			 uint8_t opcode, const struct tb_pkt *want)
{
	const bool wanted = want && wants_ack(opcode, want);
	int32_t ahead;

	if (!tb_in_software(&tb->ends[0]) && !tb_in_software(&tb->ends[1]))
		return TB_MERGED_NOT;
	if (!wanted)
		return is_ack(seen) && q->acked == seen->fields.psn ? TB_MERGED_EXTRA
								    : TB_MERGED_NOT;
	ahead = psn_diff((uint32_t)seen->fields.psn, (uint32_t)want->psn);
	if (ahead < 0)
		return is_ack(seen) ? TB_MERGED_EXTRA : TB_MERGED_NOT;
	if (!ahead || !bth_op_is(bth_op_find(seen->opcode), BTH_RESPONSE))
		return TB_MERGED_NOT;
	q->acked = seen->fields.psn;
	return TB_MERGED_INTO;
}
