/* SPDX-License-Identifier: Apache-2.0 */
/* Old verbs, kept for users' scenario files. Nothing in this tree uses them. */
#include "testbench/language/tb.h"
#include "testbench/services.h"

#include <stdlib.h>

/* These verbs have always polled. Naming the CQ makes the new ones poll too. */
static struct tb_cqe cqe_of(const struct tb_end *end, const struct tb_wc *wc)
{
	return (struct tb_cqe){
		.wr_id = wc->wr_id,
		.opcode = wc->opcode,
		.byte_len = wc->byte_len,
		.imm = wc->imm,
		.qp = TB_ANY,
		.vendor_err = wc->vendor_err,
		.src_qp = wc->src_qp,
		.slid = wc->slid,
		.sl = wc->sl,
		.flags = wc->flags,
		.pkey_index = wc->pkey_index,
		.path_bits = wc->path_bits,
		.inv_rkey = wc->inv_rkey,
		.on = wc->qp,
		.srq = wc->srq,
		.cq = wc->cq ? wc->cq : end->cq,
		.status = wc->status,
		.within_ps = wc->within_ps,
	};
}

void tb_expect_wc(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wc *wc)
{
	const struct tb_cqe want = cqe_of(end, wc);

	tb_expect_cqe(tb, here, end, &want);
}

/* A cleanup function, because a failure may end the body inside the verb. */
static void cqes_free(struct tb_cqe **cqes)
{
	free(*cqes);
}

void tb_expect_wcs_of(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wc *wcs,
		      unsigned n)
{
	struct tb_cqe *want __attribute__((cleanup(cqes_free))) = calloc(n + 1, sizeof(*want));

	if (!want) {
		tb_failf(tb, here, "memory for %u completions", n);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		want[i] = cqe_of(end, &wcs[i]);
	tb_expect_cqes_of(tb, here, end, want, n);
}

void tb_ignore_data(struct tb *tb, struct tb_end *end, const struct tb_data *d)
{
	tb_ignore_range(tb, tb->here, end, d);
}
