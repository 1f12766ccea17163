/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device is removed while it has objects of the kinds that every device has, with work in them: completions that
 * nobody has polled, receives, memberships of a group, pages of a region. Removal says how many there were, tells of
 * each completion that goes, and leaves no memory. Then the device comes up again, and has none of them.
 */
/* behaviours: HCA-leftovers */
#include "testbench/services.h"

enum { PDS = 2, CQS = 3, SRQS = 2, MRS = 3, QPS = 5, ENTRIES = 4, BYTES = 8192, QKEY = 5 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 9};

struct objects {
	struct drv_device *dev;
	uint8_t *memory;
	uint64_t bus;
	struct drv_pd *pds[PDS];
	struct drv_cq *cqs[CQS];
	struct drv_srq *srqs[SRQS];
	struct drv_mr *mrs[MRS];
	struct drv_qp *qps[QPS];
};

static void make(struct tb *tb, struct objects *o)
{
	static const enum ibv_qp_type types[QPS] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_UD,
						    IBV_QPT_RC};
	const struct drv_srq_init shared = {.max_wr = ENTRIES, .max_sge = 1};
	uint64_t pages[BYTES / PLATFORM_PAGE_SIZE];

	for (unsigned i = 0; i < BYTES / PLATFORM_PAGE_SIZE; i++)
		pages[i] = o->bus + i * PLATFORM_PAGE_SIZE;
	for (unsigned i = 0; i < PDS; i++)
		must(drv_pd_alloc(o->dev, &o->pds[i]));
	for (unsigned i = 0; i < CQS; i++)
		must(drv_cq_create(o->dev, ENTRIES, 0, &o->cqs[i]));
	for (unsigned i = 0; i < SRQS && still_right(); i++)
		must(drv_srq_create(o->pds[i], &shared, &o->srqs[i]));
	for (unsigned i = 0; i < MRS && still_right(); i++)
		must(drv_mr_reg_pages(o->pds[i % PDS], pages, BYTES / PLATFORM_PAGE_SIZE, 0, BYTES,
				      IBV_ACCESS_LOCAL_WRITE, &o->mrs[i]));
	for (unsigned i = 0; i < QPS && still_right(); i++) {
		const bool shares = i == QPS - 1;
		const struct drv_qp_init init = {.type = types[i],
						 .send_cq = o->cqs[i % CQS],
						 .recv_cq = o->cqs[(i + 1) % CQS],
						 .srq = shares ? o->srqs[1] : NULL,
						 .cap = {.max_send_wr = ENTRIES,
							 .max_recv_wr = shares ? 0 : ENTRIES,
							 .max_send_sge = 1,
							 .max_recv_sge = shares ? 0 : 1}};

		must(drv_qp_create(o->pds[i % PDS], &init, &o->qps[i]));
	}
}

/* Receives that wait, and completions that nobody polls. */
static void work(struct tb *tb, const struct objects *o)
{
	const struct drv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	const struct drv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	const struct drv_recv_wr wr = {.wr_id = 1};

	for (unsigned i = 2; i < QPS - 1; i++) {
		must(drv_qp_modify(o->qps[i], &init,
				   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
		must(drv_mcast_attach(o->qps[i], group, false));
	}
	must(drv_post_recv(o->qps[2], &wr, NULL));
	must(drv_post_srq_recv(o->srqs[1], &wr, NULL));
	must(drv_qp_modify(o->qps[0], &init,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	must(drv_post_recv(o->qps[0], &wr, NULL));
	must(drv_post_recv(o->qps[0], &wr, NULL));
	must(drv_qp_modify(o->qps[0], &err, IBV_QP_STATE));
	/* the event of its last receive, of which nobody has asked to hear */
	must(drv_qp_modify(o->qps[QPS - 1], &init,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	must(drv_qp_modify(o->qps[QPS - 1], &err, IBV_QP_STATE));
	pass_time(CFG_US(20));
}

static void discarded(void *arg, struct drv_cq *cq, const struct drv_wc *wc)
{
	*(unsigned *)arg += wc->wr_id == 1 && wc->status == IBV_WC_WR_FLUSH_ERR;
}

static void left_are(struct tb *tb, const struct drv_leftovers *left, bool any)
{
	expect_equal(left->pds, any ? PDS : 0);
	expect_equal(left->cqs, any ? CQS : 0);
	expect_equal(left->srqs, any ? SRQS : 0);
	expect_equal(left->mrs, any ? MRS : 0);
	expect_equal(left->qps, any ? QPS : 0);
}

SCENARIO(leftovers_common, "a device is removed with objects that every device has, and their work",
	 .bare = true)
{
	const struct platform_ops *ops = a->platform->ops;
	struct objects o = {0};
	struct drv_leftovers left;
	unsigned used, mapped, heard = 0;

	o.memory = ops->pages_alloc(a->platform, BYTES, &o.bus);
	used = host_pages_used(a->host);
	mapped = host_pages_mapped(a->host);
	expect_true(o.memory);
	for (unsigned round = 0; round < 2 && still_right(); round++) {
		must(drv_probe(a->platform, NULL, &o.dev));
		if (!still_right())
			return;
		drv_discard_register(o.dev, discarded, &heard);
		if (!round)
			make(tb, &o);
		if (!round && still_right())
			work(tb, &o);
		left = drv_remove(o.dev);
		expect_equal(heard, 2);
		left_are(tb, &left, !round);
		expect_equal(host_pages_used(a->host), used);
		expect_equal(host_pages_mapped(a->host), mapped);
	}
	ops->pages_free(a->platform, o.memory, BYTES);
}
