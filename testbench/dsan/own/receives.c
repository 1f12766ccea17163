// SPDX-License-Identifier: Apache-2.0
/* See receives.h. Source: Linux ib_mad_recv_done, mlx4_en_process_rx_cq: what has come is used, then the
 * receive is posted again. */
#include "testbench/dsan/own/receives.h"

#include "testbench/dsan/bucket.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/chain.h"

#include <stdbool.h>

enum {
	PIECE = 512, /* divides the memory of each receive, and no two are in the same */
	BITS = 14,
	SLOTS = 1 << BITS,
	QUEUES = 16
};

/* Queue pairs that have posted. */
static struct queue {
	const struct checker *c; /* NULL: free */
	uint32_t qpn;
} queues[QUEUES];

/* A piece of a receive's memory; its place in the table follows from its address. */
static struct piece {
	const struct checker *c; /* NULL: the slot was never used */
	uintptr_t at;
	uint32_t qpn;
	uint64_t wr_id;
	bool posted;
	struct calls by;
} pieces[SLOTS];

static struct piece *find(const struct checker *c, uintptr_t at)
{
	size_t i = bucket_number(at / PIECE, BITS);

	for (unsigned n = 0; n < SLOTS; n++, i = (i + 1) % SLOTS)
		if (!pieces[i].c || (pieces[i].c == c && pieces[i].at == at / PIECE))
			return &pieces[i];
	return NULL;
}

static struct queue *queue_of(const struct checker *c, uint32_t qpn)
{
	for (unsigned i = 0; i < QUEUES; i++)
		if (queues[i].c == c && queues[i].qpn == qpn)
			return &queues[i];
	return NULL;
}

/* Of a queue pair that finds no room nothing is known. */
static bool is_followed(const struct checker *c, uint32_t qpn)
{
	struct queue *q = queue_of(c, qpn);

	if (!q)
		q = queue_of(NULL, 0);
	if (q)
		*q = (struct queue){c, qpn};
	return q;
}

void receives_posted(struct checker *c, const struct drv_qp *qp, const struct drv_recv_wr *wr)
{
	struct calls by;

	if (!is_followed(c, drv_qp_num(qp)))
		return;
	chain_take(&by);
	for (unsigned i = 0; i < wr->num_sge; i++) {
		const uintptr_t at = checker_address(c, wr->sg_list[i].addr);

		for (uint32_t n = 0; at && n < wr->sg_list[i].length; n += PIECE) {
			struct piece *p = find(c, at + n);

			if (p)
				*p = (struct piece){
					c, (at + n) / PIECE, drv_qp_num(qp), wr->wr_id, true, by};
		}
	}
}

static void back(const struct checker *c, uint32_t qpn, const uint64_t *wr_id)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (pieces[i].c == c && pieces[i].qpn == qpn &&
		    (!wr_id || pieces[i].wr_id == *wr_id))
			pieces[i].posted = false;
}

void receives_taken(const struct checker *c, unsigned n, const struct drv_wc *wc)
{
	for (unsigned i = 0; i < n; i++)
		if (!wc[i].is_send && queue_of(c, wc[i].qp_num))
			back(c, wc[i].qp_num, &wc[i].wr_id);
}

void receives_gone(const struct checker *c, uint32_t qpn)
{
	for (unsigned i = 0; i < QUEUES; i++)
		if (queues[i].c == c && (!qpn || queues[i].qpn == qpn)) {
			back(c, queues[i].qpn, NULL);
			queues[i] = (struct queue){NULL, 0};
		}
}

void receives_load(struct checker *c, uintptr_t at, const void *pc)
{
	const struct piece *p = find(c, at);
	char names[CHAIN_BYTES], reads[CHAIN_BYTES];
	struct calls now;

	if (!p || !p->c || !p->posted)
		return;
	chain_take(&now);
	chain_format(&now, reads, sizeof(reads));
	chain_format(&p->by, names, sizeof(names));
	c->tell(c, &(struct breach){RULE_entry_not_owned, {GUEST_QP, p->qpn}, pc, NULL},
		"memory of a receive is read that is the device's, by %s; it was posted by %s",
		reads, names);
}
