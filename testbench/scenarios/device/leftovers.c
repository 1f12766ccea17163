/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device is removed while it has objects of each kind that hang on each other: an SRQ and queue pairs
 * of XRC domains, a queue pair in a multicast group, a window that is bound to a region. Removal takes
 * them back in an order that the device allows, says how many there were, and leaves no memory. So does
 * the removal of a device that has died.
 */
/* behaviours: HCA-leftovers */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { ENTRIES = 4, BYTES = 8192, RESET_BIT = 1, QKEY = 0x11, EXECUTED_US = 100, DIED_S = 5 };
enum { PDS = 2, XRCDS = 3, CQS = 4, SRQS = 5, MRS = 6, MWS = 7, QPS = 8 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 9};

struct objects {
	unsigned char *memory;
	struct drv_device *dev;
	struct drv_pd *pds[PDS];
	struct drv_xrcd *xrcds[XRCDS];
	struct drv_cq *cqs[CQS];
	struct drv_srq *srqs[SRQS];
	struct drv_mr *mrs[MRS];
	struct drv_mw *mws[MWS];
	struct drv_qp *qps[QPS];
};

/* A bind needs a queue pair that may send, and no peer. */
static void to_rts(struct tb *tb, struct drv_qp *qp)
{
	const struct drv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1},
				 rtr = {.qp_state = IBV_QPS_RTR,
					.path_mtu = IBV_MTU_1024,
					.dest_qp_num = 1,
					.ah_attr = {.dlid = 1, .port_num = 1}},
				 rts = {.qp_state = IBV_QPS_RTS, .timeout = 1};

	must(drv_qp_modify(qp, &init,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	must(drv_qp_modify(qp, &rtr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER));
	must(drv_qp_modify(qp, &rts,
			   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void join(struct tb *tb, struct drv_qp *qp)
{
	const struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	must(drv_qp_modify(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	must(drv_mcast_attach(qp, group, false));
}

static void bind(struct tb *tb, const struct objects *o, struct drv_qp *qp)
{
	const struct drv_send_wr wr = {.opcode = IBV_WR_BIND_MW,
				       .send_flags = IBV_SEND_SIGNALED,
				       .bind_mw = o->mws[0],
				       .bind_mr = o->mrs[0],
				       .bind_addr = (uintptr_t)o->memory,
				       .bind_length = BYTES,
				       .bind_access = IBV_ACCESS_REMOTE_READ};
	const struct drv_send_wr *bad;
	struct drv_wc wc = {0};

	must(drv_post_send(qp, &wr, &bad));
	pass_time(CFG_US(EXECUTED_US));
	expect_equal(drv_cq_poll(o->cqs[0], 1, &wc), 1);
	expect_equal(wc.status, IBV_WC_SUCCESS);
}

static const enum ibv_qp_type types[QPS] = {IBV_QPT_RC,       IBV_QPT_UD,       IBV_QPT_XRC_SEND,
					    IBV_QPT_XRC_RECV, IBV_QPT_XRC_RECV, IBV_QPT_RC,
					    IBV_QPT_UC,       IBV_QPT_UD};

static void queues_make(struct tb *tb, struct objects *o)
{
	for (unsigned i = 0; i < SRQS && still_right(); i++) {
		const struct drv_srq_init init = {.max_wr = ENTRIES,
						  .max_sge = 1,
						  .xrcd = i < XRCDS ? o->xrcds[i] : NULL,
						  .cq = i < XRCDS ? o->cqs[i] : NULL};

		must(drv_srq_create(o->pds[i % PDS], &init, &o->srqs[i]));
	}
	for (unsigned i = 0; i < QPS && still_right(); i++) {
		const bool target = types[i] == IBV_QPT_XRC_RECV, shares = i == QPS - 1;
		const unsigned sends = target ? 0 : 1,
			       receives = sends && !shares && types[i] != IBV_QPT_XRC_SEND;
		const struct drv_qp_init init = {.type = types[i],
						 .send_cq = target ? NULL : o->cqs[i % CQS],
						 .recv_cq = target ? NULL : o->cqs[(i + 1) % CQS],
						 .srq = shares ? o->srqs[SRQS - 1] : NULL,
						 .xrcd = target ? o->xrcds[i % XRCDS] : NULL,
						 .cap = {.max_send_wr = sends * ENTRIES,
							 .max_recv_wr = receives * ENTRIES,
							 .max_send_sge = sends,
							 .max_recv_sge = receives}};

		must(drv_qp_create(o->pds[i % PDS], &init, &o->qps[i]));
	}
}

static void make(struct tb *tb, struct tb_end *a, struct objects *o)
{
	for (unsigned i = 0; i < PDS; i++)
		must(drv_pd_alloc(o->dev, &o->pds[i]));
	for (unsigned i = 0; i < XRCDS; i++)
		must(drv_xrcd_alloc(o->dev, &o->xrcds[i]));
	for (unsigned i = 0; i < CQS; i++)
		must(drv_cq_create(o->dev, ENTRIES, 0, &o->cqs[i]));
	for (unsigned i = 0; i < MRS && still_right(); i++)
		must(drv_mr_reg(o->pds[i % PDS], o->memory, BYTES,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, &o->mrs[i]));
	for (unsigned i = 0; i < MWS && still_right(); i++)
		must(drv_mw_alloc(o->pds[i % PDS], IBV_MW_TYPE_2, &o->mws[i]));
	if (still_right())
		queues_make(tb, o);
	if (!still_right())
		return;
	to_rts(tb, o->qps[0]);
	bind(tb, o, o->qps[0]);
	join(tb, o->qps[1]);
}

static void counts_are(struct tb *tb, const struct drv_leftovers *left)
{
	expect_equal(left->pds, PDS);
	expect_equal(left->xrcds, XRCDS);
	expect_equal(left->cqs, CQS);
	expect_equal(left->srqs, SRQS);
	expect_equal(left->mrs, MRS);
	expect_equal(left->mws, MWS);
	expect_equal(left->qps, QPS);
	expect_equal(left->mailboxes, 0);
	expect_equal(left->failed_commands, 0);
}

SCENARIO(leftovers, "a device is removed with objects of each kind, which hang on each other",
	 .bare = true, .of_mlx4 = "count of what is left over", .settings = {"sim.time_limit=100s"})
{
	const struct drv_options options = {.log_eq_size = 8};

	for (unsigned dies = 0; dies < 2 && still_right(); dies++) {
		struct drv_leftovers left;
		struct objects o = {0};
		unsigned used, mapped;

		name_row("%s", dies ? "the device has died" : "the device lives");
		used = host_pages_used(a->host);
		mapped = host_pages_mapped(a->host);
		o.memory = a->platform->ops->user_alloc(a->platform, BYTES);
		must(drv_probe(a->platform, &options, &o.dev));
		expect_true(o.memory);
		if (!still_right())
			return;
		make(tb, a, &o);
		if (dies) {
			drv_raw_mmio_write32(o.dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
			pass_time(CFG_S(DIED_S));
		}
		left = dies ? drv_abandon(o.dev) : drv_remove(o.dev);
		a->platform->ops->user_free(a->platform, o.memory, BYTES);
		counts_are(tb, &left);
		expect_equal(host_pages_used(a->host), used);
		expect_equal(host_pages_mapped(a->host), mapped);
	}
}
