/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of arguments_test.c: bound windows, extended verbs, posting by calls, functions that the
 * device lacks. Included after that file's macros. */
#ifndef HOST_DRIVER_UVERBS_TESTS_ARGUMENTS_MORE_H
#define HOST_DRIVER_UVERBS_TESTS_ARGUMENTS_MORE_H

#include "model/interface/macros.h"
#include "model/sim/units.h"

#include <infiniband/driver.h>

static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.path_mtu = IBV_MTU_1024,
				   .dest_qp_num = 0x300,
				   .ah_attr = {.dlid = 1, .port_num = 1},
				   .min_rnr_timer = 12,
				   .port_num = 1,
				   .timeout = 14};
	static const int masks[] = {
		IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC,
	};
	int rc = 0;

	for (unsigned i = 0; i < 3 && !rc; i++) {
		attr.qp_state = (enum ibv_qp_state)(IBV_QPS_INIT + i);
		rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE | masks[i]);
	}
	return rc;
}

static enum ibv_wc_status next_status(struct ibv_cq *cq)
{
	struct platform *p = rig.host.platform;
	struct ibv_wc wc;

	for (unsigned us = 0; us < 1000; us++) {
		if (ibv_poll_cq(cq, 1, &wc) == 1)
			return wc.status;
		p->ops->sleep_ps(p, CFG_US(1));
	}
	return IBV_WC_GENERAL_ERR;
}

static struct ibv_qp *extended_qp(uint64_t ops)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = rig.cq,
		.recv_cq = rig.cq,
		.cap = {.max_send_wr = 4, .max_send_sge = 2, .max_inline_data = 16},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = rig.pd,
		.send_ops_flags = ops};

	return ibv_create_qp_ex(rig.context, &init);
}

/* A region with a bound window cannot be freed before the window. Also wrong binds. */
static void windows(void)
{
	struct ibv_pd *other_pd = ibv_alloc_pd(rig.context);
	struct ibv_mw *mw = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1),
		      *mw2 = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_2),
		      *foreign = ibv_alloc_mw(other_pd, IBV_MW_TYPE_1);
	struct ibv_mr *mr =
		ibv_reg_mr(rig.pd, rig.memory, REGION, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw_bind none = {.bind_info = {.length = 1}};
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {.mr = mr,
						 .addr = (uintptr_t)rig.memory,
						 .length = 10,
						 .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
	struct ibv_qp *qp = extended_qp(IBV_QP_EX_WITH_BIND_MW);
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW}, *bad;
	const uint32_t key = mw->rkey;

	GIVES(ibv_bind_mw(qp, mw, &bind), EINVAL); /* in RESET */
	GIVES(to_rts(qp), 0);
	GIVES(ibv_bind_mw(qp, mw2, &bind), EINVAL);
	GIVES(ibv_bind_mw(qp, mw, &none), EINVAL);
	GIVES(ibv_bind_mw(qp, foreign, &bind), EPERM);
	bind.bind_info.mw_access_flags |= IBV_ACCESS_ZERO_BASED;
	GIVES(ibv_bind_mw(qp, mw, &bind), EINVAL);
	bind.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	GIVES(ibv_post_send(qp, &wr, &bad), EINVAL); /* without a window */
	GIVES(mw->rkey == key, true);
	GIVES(ibv_bind_mw(qp, mw, &bind), 0);
	GIVES(next_status(rig.cq), IBV_WC_SUCCESS);
	GIVES(ibv_dereg_mr(mr), EBUSY);
	GIVES(ibv_dealloc_mw(mw), 0);
	/* longer than the region: the device refuses it */
	wr.bind_mw.mw = mw2;
	wr.bind_mw.rkey = ibv_inc_rkey(mw2->rkey);
	wr.bind_mw.bind_info = bind.bind_info;
	wr.bind_mw.bind_info.length = REGION + 1;
	GIVES(ibv_post_send(qp, &wr, &bad), 0);
	GIVES(next_status(rig.cq), IBV_WC_MW_BIND_ERR);
	GIVES(ibv_destroy_qp(qp), 0);
	GIVES(ibv_dealloc_mw(mw2), 0);
	GIVES(ibv_dealloc_mw(foreign), 0);
	GIVES(ibv_dereg_mr(mr), 0);
	GIVES(ibv_dealloc_pd(other_pd), 0);
}

static void rates_and_names(void)
{
	static const struct {
		enum ibv_rate rate;
		int mult, mbps;
	} some[] = {{IBV_RATE_2_5_GBPS, 1, 2500},
		    {IBV_RATE_40_GBPS, 16, 40000},
		    {IBV_RATE_14_GBPS, -1, 14062},
		    {IBV_RATE_1200_GBPS, 480, 1275000}};

	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		GIVES(ibv_rate_to_mult(some[i].rate), some[i].mult);
		GIVES(ibv_rate_to_mbps(some[i].rate), some[i].mbps);
		GIVES(mbps_to_ibv_rate(some[i].mbps), some[i].rate);
	}
	GIVES(mult_to_ibv_rate(16), IBV_RATE_40_GBPS);
	GIVES(ibv_rate_to_mult((enum ibv_rate)99), -1);
	GIVES(ibv_rate_to_mbps(IBV_RATE_MAX), -1);
	GIVES(mult_to_ibv_rate(5) == IBV_RATE_MAX, true);
	GIVES(mult_to_ibv_rate(-1) == IBV_RATE_MAX, true);
	GIVES(mbps_to_ibv_rate(1) == IBV_RATE_MAX, true);
	GIVES(!strcmp(ibv_wc_status_str((enum ibv_wc_status)99), "unknown"), true);
	GIVES(!strcmp(ibv_node_type_str((enum ibv_node_type)99), "unknown"), true);
	GIVES(!strcmp(ibv_port_state_str((enum ibv_port_state)99), "unknown"), true);
	GIVES(!strcmp(ibv_event_type_str((enum ibv_event_type)99), "unrecognized event"), true);
	GIVES(!ibv_is_qpt_supported(1 << IBV_QPT_RC, IBV_QPT_UD), true);
}

static void extended_devices(void)
{
	const struct ibv_query_device_ex_input input = {.comp_mask = 1};
	struct ibv_device_attr_ex attr = {.comp_mask = 77};
	enum ibv_gid_type_sysfs type;
	struct ibv_gid_entry entry;
	char text[8];

	GIVES(ibv_query_device_ex(rig.context, &input, &attr), EINVAL);
	GIVES(attr.comp_mask, 77);
	GIVES(ibv_query_gid_ex(rig.context, 1, 0, &entry, 1), EINVAL);
	GIVES(ibv_query_gid_ex(rig.context, 300, 0, &entry, 0), EINVAL);
	GIVES(ibv_query_gid_ex(rig.context, 1, 1000, &entry, 0), EINVAL);
	GIVES(ibv_query_gid_table(rig.context, &entry, 1, 1), -EINVAL);
	GIVES(ibv_query_gid_table(rig.context, &entry, 0, 0), -EINVAL);
	MINUS_ONE(ibv_query_gid_type(rig.context, 9, 0, &type), EINVAL);
	MINUS_ONE(ibv_read_sysfs_file("/", "x", text, sizeof(text)), ENOENT);
}

static void extended_queues(void)
{
	struct ibv_cq_init_attr_ex init = {.cqe = 10};
	struct ibv_modify_cq_attr moderate = {.attr_mask = 0};
	struct ibv_poll_cq_attr poll = {.comp_mask = 1};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig.context, &init);
	struct ibv_cq *plain = ibv_cq_ex_to_cq(cq);

	GIVES(ibv_start_poll(cq, &poll), EINVAL);
	poll.comp_mask = 0;
	GIVES(ibv_start_poll(cq, &poll), ENOENT);
	GIVES(ibv_next_poll(cq), ENOENT);
	GIVES(ibv_modify_cq(plain, &moderate), EINVAL);
	moderate.attr_mask = IBV_CQ_ATTR_MODERATE | IBV_CQ_ATTR_RESERVED;
	GIVES(ibv_modify_cq(plain, &moderate), EINVAL);
	GIVES(ibv_destroy_cq(plain), 0);
	init.comp_mask = 1 << 5;
	FAILS(ibv_create_cq_ex(rig.context, &init), EINVAL);
	init.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	FAILS(ibv_create_cq_ex(rig.context, &init), EOPNOTSUPP);
	init.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	init.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	FAILS(ibv_create_cq_ex(rig.context, &init), EOPNOTSUPP);
	init.comp_mask = 0;
	init.wc_flags = IBV_WC_EX_WITH_CVLAN;
	FAILS(ibv_create_cq_ex(rig.context, &init), EOPNOTSUPP);
	init.wc_flags = 0;
	init.cqe = 0;
	FAILS(ibv_create_cq_ex(rig.context, &init), EINVAL);
	init.cqe = UINT32_MAX;
	FAILS(ibv_create_cq_ex(rig.context, &init), EINVAL);
}

/* A list with only this call in it. */
#define LIST(qpx, call, error)                                                                     \
	(ibv_wr_start(qpx), (call), check(#call " ibv_wr_complete()", ibv_wr_complete(qpx), error))
/* A setter for which there is no request. */
#define ALONE(qpx, call)         LIST(qpx, call, EINVAL)
#define WITH(qpx, op, call, err) LIST(qpx, (ibv_wr_##op, (call)), err)

static void posting_by_calls(void)
{
	struct ibv_qp *plain = extended_qp(0), *qp = extended_qp(IBV_QP_EX_WITH_SEND);
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_UD,
					   .send_cq = rig.cq,
					   .recv_cq = rig.cq,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = rig.pd,
					   .send_ops_flags = IBV_QP_EX_WITH_RDMA_READ};
	struct ibv_qp_ex *none = ibv_qp_to_qp_ex(plain), *q = ibv_qp_to_qp_ex(qp);
	const struct ibv_mw_bind_info info = {.length = 0};
	const struct ibv_sge sges[MANY] = {{0}};
	char text[1000] = "long";
	const struct ibv_data_buf bufs[2] = {{text, 16}, {text, 1000}};

	FAILS(ibv_create_qp_ex(rig.context, &init), EOPNOTSUPP);
	GIVES(ibv_qp_to_qp_ex(rig.qp) == NULL, true);
	LIST(none, ibv_wr_send(none), EINVAL);
	LIST(none, ibv_wr_send_imm(none, 0), EINVAL);
	LIST(none, ibv_wr_send_inv(none, 0), EINVAL);
	LIST(none, ibv_wr_rdma_write(none, 0, 0), EINVAL);
	LIST(none, ibv_wr_rdma_write_imm(none, 0, 0, 0), EINVAL);
	LIST(none, ibv_wr_rdma_read(none, 0, 0), EINVAL);
	LIST(none, ibv_wr_atomic_cmp_swp(none, 0, 0, 0, 0), EINVAL);
	LIST(none, ibv_wr_atomic_fetch_add(none, 0, 0, 0), EINVAL);
	LIST(none, ibv_wr_bind_mw(none, NULL, 0, &info), EINVAL);
	LIST(none, ibv_wr_local_inv(none, 0), EINVAL);
	ALONE(q, ibv_wr_set_sge(q, 0, 0, 0));
	ALONE(q, ibv_wr_set_sge_list(q, 1, sges));
	ALONE(q, ibv_wr_set_inline_data(q, text, 1));
	ALONE(q, ibv_wr_set_inline_data_list(q, 1, bufs));
	ALONE(q, ibv_wr_set_ud_addr(q, NULL, 0, 0));
	ALONE(q, ibv_wr_set_xrc_srqn(q, 0));
	LIST(q, ibv_wr_send(q), EINVAL); /* in RESET */
	GIVES(to_rts(qp), 0);
	WITH(q, send(q), ibv_wr_set_sge_list(q, MANY, sges), EINVAL);
	WITH(q, send(q), ibv_wr_set_inline_data_list(q, 2, bufs), EINVAL);
	WITH(q, send(q), ibv_wr_set_inline_data(q, text, 1000), EINVAL);
	GIVES(ibv_destroy_qp(qp), 0);
	GIVES(ibv_destroy_qp(plain), 0);
}

/* A QP of ibv_alloc_xrc_rcv_qp is known only by its number: it cannot be queried, destroyed or
 * opened. */
static void kernel_owned_qp(void)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(rig.context, -1, O_CREAT);
	struct ibv_qp_attr attr = {.path_mtu = IBV_MTU_1024,
				   .ah_attr = {.dlid = 1, .port_num = 1},
				   .port_num = 1,
				   .qp_state = IBV_QPS_ERR};
	struct ibv_qp_open_attr open = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE,
					.xrcd = (struct ibv_xrcd *)domain,
					.qp_type = IBV_QPT_XRC_RECV};
	const int mask = IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV |
			 IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER;
	uint32_t qpn = 0;

	GIVES(ibv_alloc_xrc_rcv_qp(rig.pd, domain, &attr, mask, &qpn), 0);
	open.qp_num = qpn;
	GIVES(ibv_modify_xrc_rcv_qp(domain, qpn, &attr, IBV_QP_STATE), EINVAL);
	GIVES(ibv_query_xrc_rcv_qp(domain, qpn, &attr, 0, NULL), EINVAL);
	GIVES(ibv_reg_xrc_rcv_qp(domain, qpn), EINVAL);
	GIVES(ibv_unreg_xrc_rcv_qp(domain, qpn), EINVAL);
	FAILS(ibv_open_qp(rig.context, &open), EINVAL);
	GIVES(ibv_close_xrc_domain(domain), 0);
}

static void absent(void)
{
	struct ibv_qp_rate_limit_attr limit = {.rate_limit = 1};
	struct ibv_parent_domain_init_attr parent = {.pd = rig.pd};
	struct ibv_alloc_dm_attr dm = {.length = 64};
	struct ibv_td_init_attr td = {0};
	struct ibv_ece ece = {.vendor_id = 1};

	FAILS(ibv_alloc_dm(rig.context, &dm), EOPNOTSUPP);
	FAILS(ibv_create_flow(rig.qp, NULL), EOPNOTSUPP);
	GIVES(ibv_destroy_flow(NULL), EOPNOTSUPP);
	GIVES(ibv_free_dm(NULL), EOPNOTSUPP);
	GIVES(ibv_memcpy_to_dm(NULL, 0, NULL, 0), EOPNOTSUPP);
	GIVES(ibv_memcpy_from_dm(NULL, NULL, 0, 0), EOPNOTSUPP);
	FAILS(ibv_reg_dm_mr(rig.pd, NULL, 0, 0, 0), EOPNOTSUPP);
	GIVES(ibv_advise_mr(rig.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0), EOPNOTSUPP);
	FAILS(ibv_alloc_null_mr(rig.pd), EOPNOTSUPP);
	FAILS(ibv_reg_dmabuf_mr(rig.pd, 0, 1, 0, 3, 0), EOPNOTSUPP);
	FAILS(ibv_alloc_td(rig.context, &td), EOPNOTSUPP);
	GIVES(ibv_dealloc_td(NULL), EOPNOTSUPP);
	FAILS(ibv_alloc_parent_domain(rig.context, &parent), EOPNOTSUPP);
	GIVES(ibv_modify_qp_rate_limit(rig.qp, &limit), EOPNOTSUPP);
	GIVES(ibv_set_ece(rig.qp, &ece), EOPNOTSUPP);
	GIVES(ibv_query_ece(rig.qp, &ece), EOPNOTSUPP);
	GIVES(!ibv_query_qp_data_in_order(rig.qp, IBV_WR_SEND, 0), true);
}

#endif
