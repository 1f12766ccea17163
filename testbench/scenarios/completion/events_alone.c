/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a port where nothing else happens, each completion tells its CQ's event by itself: those that the
 * requester makes without a packet (memory that it may not read, a datagram that is too long), those of a
 * peer that does not answer, of a NAK, of a message that nobody acknowledges, of requests that are flushed
 * by a change of the state, and of a request that is posted to a queue pair in error.
 */
/* behaviours: CQ-wait */
#include "testbench/services.h"

enum { LEN = 64, QKEY = 0x1234, TIMEOUT = 6 /* 262 us */, MTU = 256, TOO_LONG = 4097 };

struct alone {
	struct drv_cq *cq; /* of all queue pairs of a */
	struct drv_qp *rc, *peer, *uc, *uc_peer, *ud;
	struct drv_ah_attr ah;
};

/* The event, and then the completion. Nobody looks at the CQ before. */
static void told(struct tb *tb, struct tb_end *a, const struct alone *s, enum ibv_wc_status status)
{
	must(drv_cq_wait_event(s->cq, tb_now(tb) + CFG_MS(8)));
	expect_cqe(a, .cq = s->cq, .status = status);
	pass_time(CFG_US(50));
	expect_empty(s->cq);
	must(drv_cq_arm(s->cq, false));
}

static void connect_again(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct alone *s)
{
	move_qp(s->rc, IBV_QPS_RESET);
	move_qp(s->peer, IBV_QPS_RESET);
	connect_two(s->rc, s->peer, .timeout = TIMEOUT, .retry_cnt = 1, .rnr_retry = 0);
}

static void requester_fails(struct tb *tb, struct tb_end *a, struct tb_end *b,
			    const struct alone *s)
{
	phase("without a packet");
	send_on(a, s->rc, .len = LEN, .lkey = 0x12345600);
	told(tb, a, s, IBV_WC_LOC_PROT_ERR);
	send_on(a, s->rc, .len = LEN); /* to a queue pair in error */
	told(tb, a, s, IBV_WC_WR_FLUSH_ERR);
	send_on(a, s->uc, .len = LEN, .lkey = 0x12345600);
	told(tb, a, s, IBV_WC_LOC_PROT_ERR);
	send_on(a, s->ud, .len = TOO_LONG, .ah = &s->ah, .remote_qpn = 0x123, .qkey = QKEY);
	told(tb, a, s, IBV_WC_LOC_LEN_ERR);
	connect_again(tb, a, b, s);
}

static void peer_refuses(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct alone *s)
{
	phase("by a NAK, and without one");
	rdma_write(a, .len = 0, .unsignaled = true); /* another queue pair may do what it wants */
	rdma_write(a, .len = 0);
	expect_cqe(a);
	send_on(a, s->rc, .opcode = IBV_WR_RDMA_WRITE, .len = LEN, .rkey = 0x12345600);
	told(tb, a, s, IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	connect_again(tb, a, b, s);
	send_on(a, s->rc, .len = LEN); /* no receive */
	told(tb, a, s, IBV_WC_RNR_RETRY_EXC_ERR);
	connect_again(tb, a, b, s);
	move_qp(s->peer, IBV_QPS_RESET);
	send_on(a, s->rc, .len = LEN);
	told(tb, a, s, IBV_WC_RETRY_EXC_ERR);
	connect_again(tb, a, b, s);
}

static void goes_well(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct alone *s)
{
	phase("with success");
	send_on(a, s->rc, .opcode = IBV_WR_RDMA_WRITE, .len = LEN);
	told(tb, a, s, IBV_WC_SUCCESS);
	send_on(a, s->rc, .opcode = IBV_WR_RDMA_READ, .len = LEN);
	told(tb, a, s, IBV_WC_SUCCESS);
	must(drv_qp_modify(
		s->ud, &(struct drv_qp_attr){.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE},
		IBV_QP_STATE | IBV_QP_CUR_STATE));
	send_on(a, s->ud, .len = LEN, .ah = &s->ah, .remote_qpn = 0x123, .qkey = QKEY);
	told(tb, a, s, IBV_WC_SUCCESS);
	expect_data(a, .len = LEN);
	expect_data(b, .len = LEN);
}

static void flushed(struct tb *tb, struct tb_end *a, const struct alone *s)
{
	phase("by the state");
	recv_on(a, s->rc, .len = LEN);
	pass_time(CFG_US(50));
	expect_empty(s->cq);
	move_qp(s->rc, IBV_QPS_ERR);
	told(tb, a, s, IBV_WC_WR_FLUSH_ERR);
	recv_on(a, s->rc, .len = LEN);
	told(tb, a, s, IBV_WC_WR_FLUSH_ERR);
}

SCENARIO(events_alone, "a completion tells its event where nothing else happens",
	 .any_packets = true)
{
	struct alone s = {.cq = new_cq(a, 64, 0), .ah = ah_to(b)};

	s.rc = new_qp(a, .send_cq = s.cq, .recv_cq = s.cq);
	s.uc = new_qp(a, .type = IBV_QPT_UC, .send_cq = s.cq, .recv_cq = s.cq);
	s.ud = new_qp(a, .type = IBV_QPT_UD, .send_cq = s.cq, .recv_cq = s.cq);
	s.peer = new_qp(b);
	s.uc_peer = new_qp(b, .type = IBV_QPT_UC);
	connect_two(s.uc, s.uc_peer);
	start_ud(s.ud, QKEY, 1);
	connect_two(s.rc, s.peer, .timeout = TIMEOUT, .retry_cnt = 1, .rnr_retry = 0);
	if (!still_right())
		return;
	must(drv_cq_arm(s.cq, false));
	requester_fails(tb, a, b, &s);
	peer_refuses(tb, a, b, &s);
	goes_well(tb, a, b, &s);
	flushed(tb, a, &s);
	destroy_qp(s.uc_peer);
	destroy_qp(s.peer);
	destroy_qp(s.ud);
	destroy_qp(s.uc);
	destroy_qp(s.rc);
	destroy_cq(s.cq);
}
