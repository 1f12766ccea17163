/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong arguments, at least one for each function. Each call returns the error that man 3 ibv_* or
 * the kernel states, and leaves everything that process, kernel and driver hold unchanged.
 */
#include "host_driver/uverbs/tests/arguments_cover.h"
#include "host_driver/uverbs/tests/unwind_rig.h"
#include "model/interface/macros.h"
#include "traces/trace.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { MANY = 64, NO_SUCH = 0x7fffff };

static unsigned checks;
static struct names seen; /* functions that were seen to refuse something */

static void check(const char *text, long got, long want)
{
	checks++;
	if (want)
		names_of_text(&seen, text);
	if (got == want)
		return;
	if (rig.wrongs < CASES_MAX)
		snprintf(rig.wrong[rig.wrongs], TEXT, "%s: %ld instead of %ld", text, got, want);
	rig.wrongs++;
}

/* Checks that everything that is held is as before. */
static void unchanged(const struct held *before, const char *when)
{
	struct held after;

	look(&after);
	check(when, memcmp(before, &after, sizeof(after)), 0);
}

#define GIVES(call, want)      check(#call, (call), want)
#define FAILS(call, error)     (errno = 0, check(#call, (call) ? -1 : errno, error))
#define MINUS_ONE(call, error) (errno = 0, check(#call, (call) == -1 ? errno : 0, error))
#define KERNEL(call, error)    check(#call, IS_ERR(call) ? -PTR_ERR(call) : 0, error)

#include "host_driver/uverbs/tests/arguments_more.h"

static void devices(void)
{
	struct ibv_port_attr port;
	struct ibv_async_event event;
	union ibv_gid gid;
	__be16 pkey;

	rig.no_process = true;
	FAILS(ibv_get_device_list(NULL), ENOSYS);
	FAILS(ibv_open_device(rig.context->device), ENOSYS);
	rig.no_process = false;
	GIVES(ibv_query_port(rig.context, 0, &port), EINVAL);
	GIVES(ibv_query_port(rig.context, 9, &port), EINVAL);
	MINUS_ONE(ibv_query_gid(rig.context, 1, MANY * MANY, &gid), EINVAL);
	MINUS_ONE(ibv_query_gid(rig.context, 0, 0, &gid), EINVAL);
	MINUS_ONE(ibv_query_pkey(rig.context, 1, -1, &pkey), EINVAL);
	GIVES(ibv_get_pkey_index(rig.context, 1, 0x3412), -1);
	uv_set_nonblock(&rig.process, rig.context->async_fd, true);
	MINUS_ONE(ibv_get_async_event(rig.context, &event), EAGAIN);
	GIVES(uv_close(&rig.process, rig.context->async_fd), EINVAL);
	GIVES(uv_close(&rig.process, MANY), EBADF);
	MINUS_ONE(uv_open(&rig.process, "nobody has it", 0), ENOENT);
}

static void memory(void)
{
	static char elsewhere[16];
	struct ibv_mr stale = {.context = rig.context, .handle = NO_SUCH};
	struct ibv_mw window = {.context = rig.context, .handle = NO_SUCH, .type = IBV_MW_TYPE_2};
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, rig.memory, REGION, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mw_bind bind = {.wr_id = 1};

	GIVES(ibv_dealloc_pd(rig.pd), EBUSY);
	FAILS(ibv_reg_mr(rig.pd, rig.memory, 0, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	FAILS(ibv_reg_mr(rig.pd, rig.memory, REGION, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	FAILS(ibv_reg_mr(rig.pd, rig.memory, REGION, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	FAILS(ibv_reg_mr(rig.pd, rig.memory, REGION, IBV_ACCESS_ON_DEMAND), EINVAL);
	FAILS(ibv_reg_mr(rig.pd, elsewhere, sizeof(elsewhere), IBV_ACCESS_LOCAL_WRITE), EFAULT);
	FAILS(ibv_reg_mr_iova(rig.pd, rig.memory, REGION, 8, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	GIVES(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	GIVES(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, rig.pd, NULL, 0, 0), IBV_REREG_MR_ERR_CMD);
	GIVES(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE),
	      IBV_REREG_MR_ERR_CMD);
	GIVES(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_ON_DEMAND),
	      IBV_REREG_MR_ERR_CMD);
	GIVES(errno, EINVAL);
	GIVES(ibv_rereg_mr(&stale, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
	      IBV_REREG_MR_ERR_CMD);
	GIVES(ibv_rereg_mr(mr, 1 << 9, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	GIVES(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig.memory, 1, 0),
	      IBV_REREG_MR_ERR_CMD);
	GIVES(errno, EOPNOTSUPP);
	GIVES(ibv_dereg_mr(&stale), EINVAL);
	/* a handle of another kind of object */
	stale.handle = rig.pd->handle;
	GIVES(ibv_dereg_mr(&stale), EINVAL);
	FAILS(ibv_alloc_mw(rig.pd, (enum ibv_mw_type)7), EINVAL);
	GIVES(ibv_dealloc_mw(&window), EINVAL);
	GIVES(ibv_bind_mw(rig.qp, &window, &bind), EINVAL);
	ibv_dereg_mr(mr);
}

static void completions(void)
{
	struct ibv_cq *cq = ibv_create_cq(rig.context, 10, NULL, rig.channel, 0), *got;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(rig.context);
	void *context;

	GIVES(ibv_destroy_comp_channel(rig.channel), EBUSY);
	FAILS(ibv_create_cq(rig.context, 0, NULL, NULL, 0), EINVAL);
	FAILS(ibv_create_cq(rig.context, -1, NULL, NULL, 0), EINVAL);
	FAILS(ibv_create_cq(rig.context, 1 << 30, NULL, NULL, 0), EINVAL);
	FAILS(ibv_create_cq(rig.context, 1, NULL, NULL, MANY), EINVAL);
	GIVES(ibv_resize_cq(cq, 0), EINVAL);
	GIVES(ibv_resize_cq(cq, 1 << 30), EINVAL);
	GIVES(ibv_destroy_cq(rig.cq), EBUSY);
	uv_set_nonblock(&rig.process, channel->fd, true);
	MINUS_ONE(ibv_get_cq_event(channel, &got, &context), EAGAIN);
	ibv_destroy_cq(cq);
	ibv_destroy_comp_channel(channel);
}

static void domains(void)
{
	struct ibv_xrcd_init_attr attr = {.comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1};
	const int both = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct ibv_xrcd *xrcd;

	FAILS(ibv_open_xrcd(rig.context, &attr), EINVAL);
	attr.comp_mask = IBV_XRCD_INIT_ATTR_RESERVED;
	FAILS(ibv_open_xrcd(rig.context, &attr), EOPNOTSUPP);
	attr.comp_mask = (uint32_t)both;
	attr.fd = MANY;
	FAILS(ibv_open_xrcd(rig.context, &attr), EBADF);
	attr.fd = rig.channel->fd;
	FAILS(ibv_open_xrcd(rig.context, &attr), EBADF);
	attr.fd = uv_open(&rig.process, "file", O_CREAT);
	FAILS(ibv_open_xrcd(rig.context, &attr), EAGAIN);
	attr.oflags = O_CREAT;
	xrcd = ibv_open_xrcd(rig.context, &attr);
	attr.oflags = O_CREAT | O_EXCL;
	FAILS(ibv_open_xrcd(rig.context, &attr), EINVAL);
	ibv_close_xrcd(xrcd);
	uv_close(&rig.process, attr.fd);
	GIVES(ibv_close_xrcd(rig.xrcd), EBUSY);
}

static void shared_queues(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 0, .max_sge = 1}};
	struct ibv_srq_init_attr_ex ex = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq stale = {.context = rig.context, .handle = NO_SUCH};
	struct ibv_sge sge[MANY] = {{0}};
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = MANY}, *bad = NULL;
	struct ibv_srq_attr attr = {.max_wr = 5, .srq_limit = 1000};
	uint32_t number = 77;

	FAILS(ibv_create_srq(rig.pd, &init), EINVAL);
	init.attr.max_wr = 1 << 30;
	FAILS(ibv_create_srq(rig.pd, &init), EINVAL);
	FAILS(ibv_create_srq_ex(rig.context, &ex), EINVAL);
	ex.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
	ex.pd = rig.pd;
	ex.srq_type = IBV_SRQT_XRC;
	FAILS(ibv_create_srq_ex(rig.context, &ex), EINVAL);
	ex.comp_mask |= IBV_SRQ_INIT_ATTR_RESERVED;
	FAILS(ibv_create_srq_ex(rig.context, &ex), EOPNOTSUPP);
	FAILS(ibv_create_xrc_srq(rig.pd, NULL, rig.cq, &init), EINVAL);
	GIVES(ibv_modify_srq(rig.srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
	GIVES(ibv_modify_srq(rig.srq, &attr, IBV_SRQ_LIMIT), EINVAL);
	GIVES(ibv_query_srq(&stale, &attr), EINVAL);
	GIVES(ibv_destroy_srq(&stale), EINVAL);
	GIVES(ibv_get_srq_num(rig.srq, &number), EOPNOTSUPP);
	GIVES(number, 77);
	GIVES(ibv_post_srq_recv(rig.srq, &wr, &bad), EINVAL);
	GIVES(bad == &wr, true);
}

static void addresses(void)
{
	struct ibv_ah_attr attr = {.dlid = 1};
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH};
	struct ibv_grh grh = {0};

	FAILS(ibv_create_ah(rig.pd, &attr), EINVAL);
	attr.port_num = 1;
	attr.sl = 16;
	FAILS(ibv_create_ah(rig.pd, &attr), EINVAL);
	attr.sl = 0;
	attr.is_global = 1;
	attr.grh.sgid_index = 255;
	FAILS(ibv_create_ah(rig.pd, &attr), EINVAL);
	GIVES(ibv_init_ah_from_wc(rig.context, 1, &wc, &grh, &attr), -1);
	GIVES(ibv_create_ah_from_wc(rig.pd, &wc, &grh, 1) == NULL, true);
}

static void creation(void)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.send_cq = rig.cq,
					.cap = {.max_send_wr = 1, .max_send_sge = 1}};
	struct ibv_qp_init_attr_ex ex = {.qp_type = IBV_QPT_RC};
	struct ibv_qp_open_attr open = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD,
					.qp_num = rig.target->qp_num,
					.xrcd = rig.xrcd,
					.qp_type = IBV_QPT_XRC_RECV};

	FAILS(ibv_create_qp(rig.pd, &init), EINVAL);
	init.recv_cq = rig.cq;
	init.qp_type = (enum ibv_qp_type)99;
	FAILS(ibv_create_qp(rig.pd, &init), EINVAL);
	init.qp_type = IBV_QPT_XRC_RECV;
	FAILS(ibv_create_qp(rig.pd, &init), EINVAL);
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_wr = 1 << 24;
	FAILS(ibv_create_qp(rig.pd, &init), EINVAL);
	init.cap.max_send_wr = 1;
	init.cap.max_send_sge = 1000;
	FAILS(ibv_create_qp(rig.pd, &init), EINVAL);
	GIVES(init.cap.max_send_sge, 1000);
	FAILS(ibv_create_qp_ex(rig.context, &ex), EINVAL);
	ex.comp_mask = 1u << 20;
	FAILS(ibv_create_qp_ex(rig.context, &ex), EOPNOTSUPP);
	ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	ex.create_flags = 1;
	FAILS(ibv_create_qp_ex(rig.context, &ex), EINVAL);
	FAILS(ibv_open_qp(rig.context, &open), EINVAL);
	open.comp_mask |= IBV_QP_OPEN_ATTR_TYPE;
	open.qp_num++;
	FAILS(ibv_open_qp(rig.context, &open), EINVAL);
	open.comp_mask |= IBV_QP_OPEN_ATTR_RESERVED;
	FAILS(ibv_open_qp(rig.context, &open), EOPNOTSUPP);
}

static void states(void)
{
	const union ibv_gid group = {.raw = {0xff}}, unicast = {.raw = {0xfe}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 9};
	struct ibv_qp stale = {.context = rig.context, .handle = NO_SUCH};
	struct ibv_qp_init_attr init;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad_send = NULL;
	struct ibv_recv_wr rwr = {.num_sge = -1}, *bad_recv = NULL;
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	GIVES(ibv_modify_qp(rig.qp, &attr, mask & ~IBV_QP_PORT), EINVAL);
	GIVES(ibv_modify_qp(rig.qp, &attr, mask | IBV_QP_SQ_PSN), EINVAL);
	GIVES(ibv_modify_qp(rig.qp, &attr, mask), EINVAL);
	attr.port_num = 1;
	attr.pkey_index = 60000;
	GIVES(ibv_modify_qp(rig.qp, &attr, mask), EINVAL);
	attr.qp_state = IBV_QPS_RTS;
	GIVES(ibv_modify_qp(rig.qp, &attr, IBV_QP_STATE), EINVAL);
	attr.qp_state = (enum ibv_qp_state)12;
	GIVES(ibv_modify_qp(rig.qp, &attr, IBV_QP_STATE), EINVAL);
	GIVES(rig.qp->state, IBV_QPS_RESET);
	GIVES(ibv_query_qp(&stale, &attr, 0, &init), EINVAL);
	GIVES(ibv_destroy_qp(&stale), EINVAL);
	GIVES(ibv_attach_mcast(rig.qp, &group, 0), EINVAL); /* an RC queue pair */
	GIVES(ibv_attach_mcast(rig.ud, &unicast, 0), EINVAL);
	GIVES(ibv_detach_mcast(rig.ud, &group, 0), EINVAL);
	GIVES(ibv_attach_mcast(rig.ud, &group, 0), 0);
	GIVES(ibv_destroy_qp(rig.ud), EBUSY);
	GIVES(ibv_detach_mcast(rig.ud, &group, 0), 0);
	GIVES(ibv_post_send(rig.qp, &wr, &bad_send), EINVAL);
	GIVES(bad_send == &wr, true);
	GIVES(ibv_post_recv(rig.qp, &rwr, &bad_recv), EINVAL);
	GIVES(bad_recv == &rwr, true);
	/* a target has no send queue, and its handle has no queue at all */
	GIVES(ibv_post_send(rig.target, &wr, &bad_send), EINVAL);
}

static void receive_qps(void)
{
	struct ibv_xrc_domain *domain = (struct ibv_xrc_domain *)rig.xrcd;
	struct ibv_qp_init_attr init = {0};
	struct ibv_qp_attr attr = {
		.path_mtu = IBV_MTU_1024, .ah_attr = {.dlid = 1, .port_num = 1}, .port_num = 1};
	const int mask = IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV |
			 IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER;
	uint32_t qpn = 77;

	for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1)
		if (mask & bit)
			GIVES(ibv_alloc_xrc_rcv_qp(rig.pd, domain, &attr, mask & ~bit, &qpn),
			      EINVAL);
	GIVES(ibv_alloc_xrc_rcv_qp(rig.pd, domain, &attr, mask | 1 << 25, &qpn), EINVAL);
	GIVES(ibv_alloc_xrc_rcv_qp(NULL, domain, &attr, mask, &qpn), EINVAL);
	attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	GIVES(ibv_alloc_xrc_rcv_qp(rig.pd, domain, &attr, mask, &qpn), EINVAL);
	attr.qp_access_flags = 0;
	attr.path_mig_state = IBV_MIG_ARMED;
	GIVES(ibv_alloc_xrc_rcv_qp(rig.pd, domain, &attr, mask | IBV_QP_PATH_MIG_STATE, &qpn),
	      EINVAL);
	attr.path_mtu = (enum ibv_mtu)9;
	GIVES(ibv_alloc_xrc_rcv_qp(rig.pd, domain, &attr, mask, &qpn), EINVAL);
	GIVES(ibv_create_xrc_rcv_qp(&init, &qpn), EINVAL);
	GIVES(ibv_modify_xrc_rcv_qp(domain, NO_SUCH, &attr, IBV_QP_STATE), EINVAL);
	GIVES(ibv_query_xrc_rcv_qp(domain, NO_SUCH, &attr, 0, NULL), EINVAL);
	GIVES(ibv_reg_xrc_rcv_qp(domain, NO_SUCH), EINVAL);
	/* this process has not registered */
	GIVES(ibv_unreg_xrc_rcv_qp(domain, rig.target->qp_num), EINVAL);
	GIVES(ibv_close_xrc_domain(domain), EBUSY);
	FAILS(ibv_open_xrc_domain(rig.context, MANY, O_CREAT), EBADF);
	GIVES(qpn, 77);
}

static void kernel_verbs(void)
{
	struct ib_device *ib = rig.host.devices[0];
	struct ib_pd *pd = ib_alloc_pd(ib, 0);
	struct ib_xrcd *xrcd = ib_alloc_xrcd(ib);
	struct ib_cq_init_attr cq_attr = {.cqe = 10};
	struct ib_cq *cq = ib_create_cq(ib, NULL, NULL, NULL, &cq_attr);
	struct ib_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1},
					    .srq_type = IB_SRQT_XRC,
					    .ext = {.cq = cq, .xrc.xrcd = xrcd}};
	struct ib_srq *srq = ib_create_srq(pd, &srq_attr);
	struct ib_qp_init_attr qp_attr = {.qp_type = IB_QPT_RC, .send_cq = cq, .recv_cq = cq};
	struct rdma_ah_attr ah = {.port_num = 3};
	union ib_gid gid;
	uint16_t pkey;

	KERNEL(ib_alloc_pd(ib, 1 << 5), EINVAL);
	GIVES(ib_dealloc_pd(pd), -EBUSY);
	GIVES(ib_dealloc_xrcd(xrcd), -EBUSY);
	GIVES(ib_destroy_cq(cq), -EBUSY);
	cq_attr.comp_vector = MANY;
	KERNEL(ib_create_cq(ib, NULL, NULL, NULL, &cq_attr), EINVAL);
	qp_attr.srq = srq; /* an SRQ for XRC */
	KERNEL(ib_create_qp(pd, &qp_attr), EINVAL);
	qp_attr.qp_type = IB_QPT_GSI;
	KERNEL(ib_create_qp(pd, &qp_attr), EINVAL);
	KERNEL(ib_open_qp(xrcd, NO_SUCH, NULL, NULL), EINVAL);
	KERNEL(ib_get_dma_mr(pd, 1 << 20), EINVAL);
	KERNEL(ib_alloc_mw(pd, (enum ib_mw_type)0), EINVAL);
	KERNEL(rdma_create_ah(pd, &ah, 0), EINVAL);
	srq_attr.ext.cq = NULL;
	KERNEL(ib_create_srq(pd, &srq_attr), EINVAL);
	GIVES(ib_resize_cq(cq, 0), -EINVAL);
	GIVES(ib_query_gid(ib, 1, -1, &gid), -EINVAL);
	GIVES(ib_query_pkey(ib, 1, 1 << 20, &pkey), -EINVAL);
	GIVES(ib_device_destroy(ib), -EBUSY);
	GIVES(ib_destroy_srq(srq), 0);
	GIVES(ib_destroy_cq(cq), 0);
	GIVES(ib_dealloc_xrcd(xrcd), 0);
	GIVES(ib_dealloc_pd(pd), 0);
}

static void run(void)
{
	static void (*const groups[])(void) = {devices,          memory,          completions,
					       domains,          shared_queues,   addresses,
					       creation,         states,          receive_qps,
					       kernel_verbs,     windows,         rates_and_names,
					       extended_devices, extended_queues, posting_by_calls,
					       kernel_owned_qp,  absent};
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = rig.cq,
		.recv_cq = rig.cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct held before;

	rig.qp = ibv_create_qp(rig.pd, &init);
	init.qp_type = IBV_QPT_UD;
	rig.ud = ibv_create_qp(rig.pd, &init);
	look(&before);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		char when[32];

		groups[i]();
		snprintf(when, sizeof(when), "held after group %zu", i);
		unchanged(&before, when);
	}
}

static void wrong_arguments_are_refused(void **state)
{
	assert_true(rig.set_up);
	for (unsigned i = 0; i < rig.wrongs && i < CASES_MAX; i++)
		print_error("%s\n", rig.wrong[i]);
	assert_int_equal(rig.wrongs, 0);
	assert_true(checks > 110);
}

static void every_function_has_one(void **state)
{
	unsigned declared;

	assert_int_equal(uncovered(&seen, &declared), 0);
	assert_true(declared > 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_arguments_are_refused),
		cmocka_unit_test(every_function_has_one),
		cmocka_unit_test(nothing_is_left),
	};

	return rig_main(run, tests, ARRAY_SIZE(tests));
}
