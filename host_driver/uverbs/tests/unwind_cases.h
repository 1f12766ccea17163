/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that unwind_test.c lets fail: for each, what must exist before the call, and what
 * undoes it. */
#ifndef HOST_DRIVER_UVERBS_TESTS_UNWIND_CASES_H
#define HOST_DRIVER_UVERBS_TESTS_UNWIND_CASES_H

#include "host_driver/uverbs/tests/unwind_rig.h"

#include <fcntl.h>

enum { LID = 1 };

/* --- cases: prepare, the call under test, what undoes it --- */

struct test_case {
	const char *name;
	int (*prepare)(void);
	int (*call)(void);
	void (*undo)(void); /* undoes a call that succeeded */
	void (*tidy)(void); /* removes what prepare() has made */
};

/* Notes the object. Returns 0, or the errno if there is none. */
static int made(void *object)
{
	rig.made = object;
	return object ? 0 : errno ? errno : -1;
}

static int call_device_list(void)
{
	return made(ibv_get_device_list(NULL));
}

static void undo_device_list(void)
{
	ibv_free_device_list(rig.made);
}

static int call_open_device(void)
{
	return made(ibv_open_device(rig.context->device));
}

static void undo_open_device(void)
{
	ibv_close_device(rig.made);
}

static int call_alloc_pd(void)
{
	return made(ibv_alloc_pd(rig.context));
}

static void undo_alloc_pd(void)
{
	ibv_dealloc_pd(rig.made);
}

static int call_reg_mr(void)
{
	return made(ibv_reg_mr(rig.pd, rig.memory, REGION, IBV_ACCESS_LOCAL_WRITE));
}

static void undo_reg_mr(void)
{
	ibv_dereg_mr(rig.made);
}

static int call_mw_1(void)
{
	return made(ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1));
}

static int call_mw_2(void)
{
	return made(ibv_alloc_mw(rig.pd, IBV_MW_TYPE_2));
}

static void undo_mw(void)
{
	ibv_dealloc_mw(rig.made);
}

static int call_channel(void)
{
	return made(ibv_create_comp_channel(rig.context));
}

static void undo_channel(void)
{
	ibv_destroy_comp_channel(rig.made);
}

static int call_cq(void)
{
	return made(ibv_create_cq(rig.context, 100, NULL, rig.channel, 0));
}

static void undo_cq(void)
{
	ibv_destroy_cq(rig.made);
}

static int prepare_resize(void)
{
	rig.made = ibv_create_cq(rig.context, 10, NULL, NULL, 0);
	return rig.made ? 0 : -1;
}

static int call_resize(void)
{
	return ibv_resize_cq(rig.made, 500);
}

static int call_srq(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 20, .max_sge = 2}};

	return made(ibv_create_srq(rig.pd, &attr));
}

static int call_xrc_srq(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 20, .max_sge = 2}};

	return made(ibv_create_xrc_srq(rig.pd, (struct ibv_xrc_domain *)rig.xrcd, rig.cq, &attr));
}

static void undo_srq(void)
{
	ibv_destroy_srq(rig.made);
}

static int call_srq_limit(void)
{
	struct ibv_srq_attr attr = {.srq_limit = 5};

	return ibv_modify_srq(rig.srq, &attr, IBV_SRQ_LIMIT);
}

static void undo_srq_limit(void)
{
	struct ibv_srq_attr attr = {.srq_limit = 0};

	ibv_modify_srq(rig.srq, &attr, IBV_SRQ_LIMIT);
}

static int call_query_srq(void)
{
	struct ibv_srq_attr attr;

	return ibv_query_srq(rig.srq, &attr);
}

static int make_qp(enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = rig.cq,
		.recv_cq = rig.cq,
		.srq = srq,
		.cap = {.max_send_wr = 4,
			.max_recv_wr = srq || type == IBV_QPT_XRC_SEND ? 0 : 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = type};

	rig.qp = ibv_create_qp(rig.pd, &init);
	return made(rig.qp);
}

static int call_rc(void)
{
	return make_qp(IBV_QPT_RC, NULL);
}

static int call_rc_srq(void)
{
	return make_qp(IBV_QPT_RC, rig.srq);
}

static int call_ud(void)
{
	return make_qp(IBV_QPT_UD, NULL);
}

static int call_xrc_send(void)
{
	return make_qp(IBV_QPT_XRC_SEND, NULL);
}

static int call_target(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = rig.xrcd};

	rig.qp = ibv_create_qp_ex(rig.context, &init);
	return made(rig.qp);
}

static int call_open_qp(void)
{
	struct ibv_qp_open_attr attr = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE,
					.qp_num = rig.target->qp_num,
					.xrcd = rig.xrcd,
					.qp_type = IBV_QPT_XRC_RECV};

	rig.qp = ibv_open_qp(rig.context, &attr);
	return made(rig.qp);
}

static void undo_qp(void)
{
	ibv_destroy_qp(rig.qp);
}

static struct ibv_qp_attr attr = {.path_mtu = IBV_MTU_1024,
				  .dest_qp_num = 0x300,
				  .ah_attr = {.dlid = LID, .port_num = 1},
				  .max_dest_rd_atomic = 1,
				  .max_rd_atomic = 1,
				  .min_rnr_timer = 12,
				  .port_num = 1,
				  .timeout = 14,
				  .retry_cnt = 7,
				  .rnr_retry = 7};

enum {
	INIT_MASK = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	RTR_MASK = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	RTS_MASK = IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		   IBV_QP_MAX_QP_RD_ATOMIC,
};

static int to_state(enum ibv_qp_state state, int mask)
{
	attr.qp_state = state;
	return ibv_modify_qp(rig.qp, &attr, IBV_QP_STATE | mask);
}

static int call_init(void)
{
	return to_state(IBV_QPS_INIT, INIT_MASK);
}

static int call_rtr(void)
{
	return to_state(IBV_QPS_RTR, RTR_MASK);
}

static int call_rts(void)
{
	return to_state(IBV_QPS_RTS, RTS_MASK);
}

static int call_error(void)
{
	return to_state(IBV_QPS_ERR, 0);
}

static int prepare_in_init(void)
{
	return call_rc() || call_init();
}

static int prepare_in_rtr(void)
{
	return prepare_in_init() || call_rtr();
}

static int call_query_qp(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	return ibv_query_qp(rig.qp, &a, IBV_QP_STATE, &init);
}

static const union ibv_gid group = {.raw = {0xff, 0x12, [15] = 5}};

static int prepare_group(void)
{
	attr.qkey = 1;
	return call_ud() || to_state(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

static int call_attach(void)
{
	return ibv_attach_mcast(rig.qp, &group, 0);
}

static void undo_attach(void)
{
	ibv_detach_mcast(rig.qp, &group, 0);
}

static int prepare_attached(void)
{
	return prepare_group() || call_attach();
}

static int call_detach(void)
{
	return ibv_detach_mcast(rig.qp, &group, 0);
}

/* For a detach that failed: the queue pair is still in the group. */
static void tidy_attached(void)
{
	ibv_detach_mcast(rig.qp, &group, 0);
	ibv_destroy_qp(rig.qp);
}

static int call_xrcd_private(void)
{
	return made(ibv_open_xrc_domain(rig.context, -1, O_CREAT));
}

static int prepare_fd(void)
{
	rig.fd = uv_open(&rig.process, "domain", O_CREAT);
	return rig.fd < 0;
}

static int call_xrcd_file(void)
{
	return made(ibv_open_xrc_domain(rig.context, rig.fd, O_CREAT));
}

static void undo_xrcd(void)
{
	ibv_close_xrcd(rig.made);
}

static void tidy_fd(void)
{
	uv_close(&rig.process, rig.fd);
}

static int call_alloc_rcv(void)
{
	return ibv_alloc_xrc_rcv_qp(rig.pd, rig.made, &attr, INIT_MASK | RTR_MASK, &rig.qpn);
}

static int call_create_rcv(void)
{
	struct ibv_qp_init_attr init = {.xrc_domain = rig.made};

	return ibv_create_xrc_rcv_qp(&init, &rig.qpn);
}

static void undo_create_rcv(void)
{
	ibv_unreg_xrc_rcv_qp(rig.made, rig.qpn);
}

/* Registers for the target by its number: a second registration of the same kernel QP. */
static int call_reg_rcv(void)
{
	return ibv_reg_xrc_rcv_qp((struct ibv_xrc_domain *)rig.xrcd, rig.target->qp_num);
}

static void undo_reg_rcv(void)
{
	ibv_unreg_xrc_rcv_qp((struct ibv_xrc_domain *)rig.xrcd, rig.target->qp_num);
}

static int prepare_rcv(void)
{
	return call_xrcd_private() || call_create_rcv();
}

static int call_modify_rcv(void)
{
	attr.qp_state = IBV_QPS_INIT;
	return ibv_modify_xrc_rcv_qp(rig.made, rig.qpn, &attr, IBV_QP_STATE | INIT_MASK);
}

static int call_query_rcv(void)
{
	struct ibv_qp_attr a;

	return ibv_query_xrc_rcv_qp((struct ibv_xrc_domain *)rig.xrcd, rig.target->qp_num, &a, 0,
				    NULL);
}

static void tidy_rcv(void)
{
	undo_create_rcv();
	undo_xrcd();
}

static int call_ah(void)
{
	return made(ibv_create_ah(rig.pd, &attr.ah_attr));
}

static void undo_ah(void)
{
	ibv_destroy_ah(rig.made);
}

static int call_query_port(void)
{
	struct ibv_port_attr a;

	return ibv_query_port(rig.context, 1, &a);
}

static int call_query_gid(void)
{
	union ibv_gid gid;

	return ibv_query_gid(rig.context, 1, 0, &gid) ? errno : 0;
}

static int call_query_pkey(void)
{
	__be16 pkey;

	return ibv_query_pkey(rig.context, 1, 0, &pkey) ? errno : 0;
}

static int prepare_mr(void)
{
	return call_reg_mr();
}

static int call_rereg(void)
{
	return ibv_rereg_mr(rig.made, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
		       ? errno
		       : 0;
}

static int call_cq_ex(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 10, .channel = rig.channel, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};

	return made(ibv_create_cq_ex(rig.context, &init));
}

static int call_moderate(void)
{
	struct ibv_modify_cq_attr a = {.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {2, 10}};

	return ibv_modify_cq(rig.cq, &a);
}

static int call_query_device_ex(void)
{
	struct ibv_device_attr_ex a;

	return ibv_query_device_ex(rig.context, NULL, &a);
}

static int call_gid_table(void)
{
	struct ibv_gid_entry entries[32];
	ssize_t n = ibv_query_gid_table(rig.context, entries, 32, 0);

	return n < 0 ? (int)-n : 0;
}

static int call_rc_ops(void)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = rig.cq,
		.recv_cq = rig.cq,
		.cap = {.max_send_wr = 20, .max_send_sge = 1, .max_inline_data = 16},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = rig.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_LOCAL_INV};

	rig.qp = ibv_create_qp_ex(rig.context, &init);
	return made(rig.qp);
}

static int prepare_ops_rts(void)
{
	return call_rc_ops() || call_init() || call_rtr() || call_rts();
}

/* More requests than fit on the stack. The queue pair keeps the memory of built requests. */
static int call_wr_list(void)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(rig.qp);
	char text[8] = "seven..";

	ibv_wr_start(qpx);
	for (unsigned i = 0; i < 10; i++) {
		ibv_wr_send(qpx);
		ibv_wr_set_inline_data(qpx, text, sizeof(text));
	}
	return ibv_wr_complete(qpx);
}

static int prepare_wr_list(void)
{
	bool armed = failure.armed;
	int rc;

	/* Builds the list once, so that its memory exists. Then the queue pair goes back to RTS. */
	failure.armed = false;
	rc = prepare_ops_rts() || call_wr_list() || to_state(IBV_QPS_RESET, 0) || call_init() ||
	     call_rtr() || call_rts();
	failure.armed = armed;
	return rc;
}

static const struct test_case cases[] = {
	{"get_device_list", NULL, call_device_list, undo_device_list, NULL},
	{"open_device", NULL, call_open_device, undo_open_device, NULL},
	{"query_port", NULL, call_query_port, NULL, NULL},
	{"query_gid", NULL, call_query_gid, NULL, NULL},
	{"query_pkey", NULL, call_query_pkey, NULL, NULL},
	{"alloc_pd", NULL, call_alloc_pd, undo_alloc_pd, NULL},
	{"reg_mr", NULL, call_reg_mr, undo_reg_mr, NULL},
	{"rereg_mr", prepare_mr, call_rereg, NULL, undo_reg_mr},
	{"query_device_ex", NULL, call_query_device_ex, NULL, NULL},
	{"query_gid_table", NULL, call_gid_table, NULL, NULL},
	{"create_cq_ex", NULL, call_cq_ex, undo_cq, NULL},
	{"modify_cq", NULL, call_moderate, NULL, NULL},
	{"create_qp_ex with operations", NULL, call_rc_ops, undo_qp, NULL},
	{"wr_complete", prepare_wr_list, call_wr_list, NULL, undo_qp},
	{"alloc_mw type 1", NULL, call_mw_1, undo_mw, NULL},
	{"alloc_mw type 2", NULL, call_mw_2, undo_mw, NULL},
	{"create_comp_channel", NULL, call_channel, undo_channel, NULL},
	{"create_cq", NULL, call_cq, undo_cq, NULL},
	{"resize_cq", prepare_resize, call_resize, NULL, undo_cq},
	{"create_srq", NULL, call_srq, undo_srq, NULL},
	{"create_xrc_srq", NULL, call_xrc_srq, undo_srq, NULL},
	{"modify_srq", NULL, call_srq_limit, undo_srq_limit, NULL},
	{"query_srq", NULL, call_query_srq, NULL, NULL},
	{"create_ah", NULL, call_ah, undo_ah, NULL},
	{"create_qp RC", NULL, call_rc, undo_qp, NULL},
	{"create_qp RC with SRQ", NULL, call_rc_srq, undo_qp, NULL},
	{"create_qp UD", NULL, call_ud, undo_qp, NULL},
	{"create_qp XRC_SEND", NULL, call_xrc_send, undo_qp, NULL},
	{"create_qp_ex XRC_RECV", NULL, call_target, undo_qp, NULL},
	{"open_qp", NULL, call_open_qp, undo_qp, NULL},
	{"modify_qp INIT", call_rc, call_init, NULL, undo_qp},
	{"modify_qp RTR", prepare_in_init, call_rtr, NULL, undo_qp},
	{"modify_qp RTS", prepare_in_rtr, call_rts, NULL, undo_qp},
	{"modify_qp ERR", prepare_in_rtr, call_error, NULL, undo_qp},
	{"query_qp", prepare_in_init, call_query_qp, NULL, undo_qp},
	{"attach_mcast", prepare_group, call_attach, undo_attach, undo_qp},
	{"detach_mcast", prepare_attached, call_detach, NULL, tidy_attached},
	{"open_xrcd private", NULL, call_xrcd_private, undo_xrcd, NULL},
	{"open_xrcd of a file", prepare_fd, call_xrcd_file, undo_xrcd, tidy_fd},
	{"alloc_xrc_rcv_qp", call_xrcd_private, call_alloc_rcv, NULL, undo_xrcd},
	{"create_xrc_rcv_qp", call_xrcd_private, call_create_rcv, undo_create_rcv, undo_xrcd},
	{"reg_xrc_rcv_qp", NULL, call_reg_rcv, undo_reg_rcv, NULL},
	{"modify_xrc_rcv_qp", prepare_rcv, call_modify_rcv, NULL, tidy_rcv},
	{"query_xrc_rcv_qp", NULL, call_query_rcv, NULL, NULL},
};

#endif
