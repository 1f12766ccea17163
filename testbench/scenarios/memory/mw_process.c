/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process binds windows of both types over parts of one region, each with rights and a length of its own
 * and the type 2 with a key of its own choice. What a window allows succeeds, what it does not allow is
 * refused, through a queue pair that the next step connects anew. While a window is bound, each try to
 * deregister the region is refused without effect; then it goes. A process that dies with bound windows
 * leaves nothing.
 */
/* behaviours: MEM-7 IBA-10.6.7-type2 */
#include "testbench/programs.h"

enum { BYTES = 256 * 1024, AT = 4096, LONG = 100000, SHORT = 512, WORD = 8, KEY_TAG = 0xa5 };

struct windows {
	struct program p;
	uint8_t *mem;
	struct ibv_mr *mr;
	struct ibv_mw *one, *two;
	struct ibv_qp *qp[2]; /* connected to each other in one port */
	bool dies, stands;
};

static int modify(struct ibv_qp *qp, const struct ibv_qp *peer, uint32_t lid)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_READ |
						      IBV_ACCESS_REMOTE_WRITE |
						      IBV_ACCESS_REMOTE_ATOMIC};
	int rc = ibv_modify_qp(
		qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_4096,
				    .dest_qp_num = peer->qp_num,
				    .rq_psn = PROGRAM_PSN,
				    .max_dest_rd_atomic = 1,
				    .min_rnr_timer = 12,
				    .ah_attr = {.dlid = (uint16_t)lid, .port_num = 1}};
	if (!rc)
		rc = ibv_modify_qp(qp, &attr,
				   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					   IBV_QP_MIN_RNR_TIMER);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .sq_psn = PROGRAM_PSN,
				    .timeout = 14,
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .max_rd_atomic = 1};
	return rc ? rc
		  : ibv_modify_qp(qp, &attr,
				  IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int connect_pair(struct windows *w)
{
	struct ibv_qp_init_attr init = {
		.send_cq = w->p.cq,
		.recv_cq = w->p.cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	for (unsigned i = 0; i < 2; i++) {
		if (w->qp[i] && ibv_destroy_qp(w->qp[i]))
			return __LINE__;
		w->qp[i] = ibv_create_qp(w->p.pd, &init);
		if (!w->qp[i])
			return __LINE__;
	}
	for (unsigned i = 0; i < 2; i++)
		if (modify(w->qp[i], w->qp[!i], w->p.peer_lid))
			return __LINE__;
	return 0;
}

/* One request, and the status of its completion. */
static int request(struct windows *w, unsigned from, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(w->qp[from], wr, &bad) ? -1 : program_wait(&w->p);
}

static int access_by(struct windows *w, enum ibv_wr_opcode opcode, uint64_t at, uint32_t len,
		     uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)w->p.buf, len, w->p.mr->lkey};
	struct ibv_send_wr wr = {.opcode = opcode, .sg_list = &sge, .num_sge = 1};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)w->mem + at;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 3;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)w->mem + at;
		wr.wr.rdma.rkey = rkey;
	}
	return request(w, 0, &wr);
}

/* The peer's queue pair tells of an access that is refused. */
static int refused(struct windows *w, enum ibv_wr_opcode opcode, uint64_t at, uint32_t len,
		   uint32_t rkey)
{
	struct ibv_async_event event;

	if (access_by(w, opcode, at, len, rkey) != IBV_WC_REM_ACCESS_ERR)
		return __LINE__;
	if (ibv_get_async_event(w->p.context, &event) ||
	    event.event_type != IBV_EVENT_QP_ACCESS_ERR)
		return __LINE__;
	ibv_ack_async_event(&event);
	return connect_pair(w);
}

static int bind_one(struct windows *w)
{
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {.mr = w->mr,
						 .addr = (uintptr_t)w->mem + AT,
						 .length = LONG,
						 .mw_access_flags = IBV_ACCESS_REMOTE_WRITE |
								    IBV_ACCESS_REMOTE_ATOMIC}};
	const uint32_t before = w->one->rkey;

	if (ibv_bind_mw(w->qp[1], w->one, &bind) || program_wait(&w->p))
		return __LINE__;
	return w->one->rkey == before ? __LINE__ : 0;
}

static int bind_two(struct windows *w)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};

	wr.bind_mw.mw = w->two;
	wr.bind_mw.rkey = (w->two->rkey & ~0xffu) | KEY_TAG;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){.mr = w->mr,
							 .addr = (uintptr_t)w->mem + 2 * AT + WORD,
							 .length = SHORT,
							 .mw_access_flags = IBV_ACCESS_REMOTE_READ};
	if (request(w, 1, &wr))
		return __LINE__;
	w->two->rkey = wr.bind_mw.rkey;
	return 0;
}

static int use_one(struct windows *w)
{
	if (bind_one(w))
		return __LINE__;
	if (access_by(w, IBV_WR_RDMA_WRITE, AT + LONG - SHORT, SHORT, w->one->rkey) ||
	    memcmp(w->mem + AT + LONG - SHORT, w->p.buf, SHORT))
		return __LINE__;
	if (access_by(w, IBV_WR_ATOMIC_FETCH_AND_ADD, AT + 2 * WORD, WORD, w->one->rkey))
		return __LINE__;
	if (refused(w, IBV_WR_RDMA_READ, AT, WORD, w->one->rkey))
		return __LINE__;
	if (refused(w, IBV_WR_RDMA_WRITE, AT + LONG - WORD, 2 * WORD, w->one->rkey))
		return __LINE__;
	return refused(w, IBV_WR_RDMA_WRITE, AT, WORD, w->one->rkey ^ 1) ? __LINE__ : 0;
}

static int use_two(struct windows *w)
{
	if (bind_two(w) || access_by(w, IBV_WR_RDMA_READ, 2 * AT + WORD, SHORT, w->two->rkey))
		return __LINE__;
	return 0;
}

/* Each of the two windows alone holds the region. */
static int let_go(struct windows *w)
{
	struct ibv_send_wr inv = {.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = w->two->rkey};

	for (unsigned i = 0; i < 2; i++)
		if (ibv_dereg_mr(w->mr) != EBUSY)
			return __LINE__;
	if (ibv_dealloc_mw(w->one) || ibv_dereg_mr(w->mr) != EBUSY)
		return __LINE__;
	if (request(w, 1, &inv) || ibv_dereg_mr(w->mr) || ibv_dealloc_mw(w->two))
		return __LINE__;
	return ibv_destroy_qp(w->qp[0]) || ibv_destroy_qp(w->qp[1]) ? __LINE__ : 0;
}

static int windows_main(void *arg)
{
	struct windows *w = arg;

	if (program_open(&w->p))
		return __LINE__;
	w->mem = process_memory(BYTES);
	w->mr = w->mem ? ibv_reg_mr(w->p.pd, w->mem, BYTES,
				    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)
		       : NULL;
	w->one = ibv_alloc_mw(w->p.pd, IBV_MW_TYPE_1);
	w->two = ibv_alloc_mw(w->p.pd, IBV_MW_TYPE_2);
	memset(w->p.buf, 0x5a, PROGRAM_BYTES);
	if (!w->mr || !w->one || !w->two || connect_pair(w) || use_one(w) || use_two(w))
		return __LINE__;
	w->stands = true;
	if (w->dies)
		process_sleep_us(CFG_S(100) / CFG_US(1));
	if (let_go(w))
		return __LINE__;
	return ibv_dereg_mr(w->p.mr) || ibv_destroy_cq(w->p.cq) || ibv_dealloc_pd(w->p.pd) ||
	       ibv_close_device(w->p.context);
}

SCENARIO(mw_process, "a process binds windows, lets them go, or dies with them", .no_qps = true,
	 .any_packets = true)
{
	struct windows lives = {.p = {.peer_lid = b->lid}};
	struct windows dies = {.p = {.peer_lid = b->lid}, .dies = true};
	struct process *p;

	expect_exit(start_process(b, windows_main, &lives), 0);
	p = start_process(b, windows_main, &dies);
	while (still_right() && !dies.stands && !has_exited(p))
		pass_time(CFG_US(10));
	kill_process(p);
	expect_exit(p, PROCESS_KILLED);
}
