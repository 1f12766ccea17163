/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device is removed while objects of each kind are left that every device has, and two queue pairs are members
 * of a group: removal says how many there were of each kind, and takes their memory back. Then it comes up again.
 */
#include "testbench/services.h"

enum { PDS = 2, CQS = 3, SRQS = 4, MRS = 5, QPS = 6, MEMBERS = 2, ENTRIES = 4, BYTES = 8192 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 0x19};

static void queue_pairs(struct tb *tb, struct tb_end *a, struct drv_pd *pd, struct drv_cq *cq,
			struct drv_srq *srq)
{
	static const enum ibv_qp_type types[QPS] = {IBV_QPT_UD, IBV_QPT_UD, IBV_QPT_RC,
						    IBV_QPT_UC, IBV_QPT_RC, IBV_QPT_RC};
	const struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1};

	for (unsigned i = 0; i < QPS && still_right(); i++) {
		const struct drv_qp_init init = {.type = types[i],
						 .send_cq = cq,
						 .recv_cq = cq,
						 .srq = i == QPS - 1 ? srq : NULL,
						 .cap = {.max_send_wr = ENTRIES,
							 .max_recv_wr = i == QPS - 1 ? 0 : ENTRIES,
							 .max_send_sge = 1,
							 .max_recv_sge = i < QPS - 1}};
		struct drv_qp *qp = NULL;

		must(drv_qp_create(pd, &init, &qp));
		if (!qp || i >= MEMBERS)
			continue;
		must(drv_qp_modify(qp, &attr,
				   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
		must(drv_mcast_attach(qp, group, false));
	}
}

static void make(struct tb *tb, struct tb_end *a, struct drv_device *dev, void *memory)
{
	const struct drv_srq_init srq_init = {.max_wr = ENTRIES, .max_sge = 1};
	struct drv_pd *pd = NULL;
	struct drv_cq *cq = NULL;
	struct drv_srq *srq = NULL;
	struct drv_mr *mr;

	for (unsigned i = 0; i < PDS; i++)
		must(drv_pd_alloc(dev, &pd));
	for (unsigned i = 0; i < CQS; i++)
		must(drv_cq_create(dev, ENTRIES, 0, &cq));
	if (!still_right())
		return;
	for (unsigned i = 0; i < MRS; i++)
		must(drv_mr_reg(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE, &mr));
	for (unsigned i = 0; i < SRQS; i++)
		must(drv_srq_create(pd, &srq_init, &srq));
	queue_pairs(tb, a, pd, cq, srq);
}

SCENARIO(leftovers_each, "a device that is removed says how many objects of each kind are left",
	 .bare = true)
{
	const struct drv_options options = {.log_eq_size = 8};

	for (unsigned round = 0; round < 2 && still_right(); round++) {
		const size_t used = host_pages_used(a->host), mapped = host_pages_mapped(a->host);
		void *memory = a->platform->ops->user_alloc(a->platform, BYTES);
		struct drv_device *dev;
		struct drv_leftovers left;

		expect_true(memory);
		must(drv_probe(a->platform, &options, &dev));
		if (!still_right())
			return;
		if (!round)
			make(tb, a, dev, memory);
		left = drv_remove(dev);
		a->platform->ops->user_free(a->platform, memory, BYTES);
		expect_equal(left.pds, round ? 0 : PDS);
		expect_equal(left.cqs, round ? 0 : CQS);
		expect_equal(left.srqs, round ? 0 : SRQS);
		expect_equal(left.mrs, round ? 0 : MRS);
		expect_equal(left.qps, round ? 0 : QPS);
		expect_equal(host_pages_used(a->host), used);
		expect_equal(host_pages_mapped(a->host), mapped);
	}
}
