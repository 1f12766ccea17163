/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A send queue is drained in the middle of a long message: of a WRITE, a SEND, a READ, and of UC. The message goes
 * on to its end, and completes; then the event comes, once. What is posted then waits for RTS.
 * A queue pair that fails, is taken to ERR, is reset or goes on while it is drained does not tell of the end of the drain,
 * and tells of it when it is drained in its next life.
 */
/* behaviours: IBA-10.3.1-SQD ST-7 */
#include "testbench/services.h"

enum { MTU = 256, LONG = 16 << 10, LEN = 64, MIDDLE_US = 3, QUIET_US = 60 };

static const struct {
	const char *name;
	enum ibv_qp_type type;
	enum ibv_wr_opcode opcode;
} rows[] = {
	{"RC WRITE", IBV_QPT_RC, IBV_WR_RDMA_WRITE}, {"RC SEND", IBV_QPT_RC, IBV_WR_SEND},
	{"RC READ", IBV_QPT_RC, IBV_WR_RDMA_READ},   {"UC WRITE", IBV_QPT_UC, IBV_WR_RDMA_WRITE},
	{"UC SEND", IBV_QPT_UC, IBV_WR_SEND},
};

static const struct drv_qp_attr sqd = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = true};

static void drain(struct tb *tb, struct drv_qp *x)
{
	must(drv_qp_modify(x, &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
}

static void state_is(struct tb *tb, struct drv_qp *x, enum ibv_qp_state state, bool draining)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(x, &attr));
	expect_equal(attr.qp_state, state);
	expect_equal(attr.sq_draining, draining);
}

static void middle(struct tb *tb, struct tb_end *a, struct tb_end *b, enum ibv_qp_type type,
		   enum ibv_wr_opcode opcode)
{
	struct drv_qp *x = new_qp(a, .type = type), *y = new_qp(b, .type = type);
	struct tb_end *to = opcode == IBV_WR_RDMA_READ ? a : b;

	connect_two(x, y);
	for (unsigned round = 0; round < 2 && still_right(); round++) {
		if (opcode == IBV_WR_SEND)
			recv_on(b, y, .wr_id = 8, .len = LONG);
		send_on(a, x, .wr_id = 1, .opcode = opcode, .len = LONG);
		pass_time(CFG_US(MIDDLE_US));
		drain(tb, x);
		send_on(a, x, .wr_id = 2, .opcode = IBV_WR_RDMA_WRITE, .dst = LONG, .src = 100,
			.len = LEN);
		expect_event(a, IBV_EVENT_SQ_DRAINED);
		expect_cqe(a, .wr_id = 1, .on = x, .within_ps = 0);
		state_is(tb, x, IBV_QPS_SQD, false);
		if (opcode == IBV_WR_SEND)
			expect_cqe(b, .wr_id = 8, .on = y, .byte_len = LONG);
		expect_no_more(CFG_US(QUIET_US));
		expect_data(to, .len = LONG);
		move_qp(x, IBV_QPS_RTS);
		expect_cqe(a, .wr_id = 2, .on = x);
		expect_no_more(CFG_US(QUIET_US));
		expect_data(b, .dst = LONG, .src = 100, .len = LEN);
	}
	destroy_qp(y);
	destroy_qp(x);
}

enum end { REFUSED, ERROR, RESET, ENDS };

/* x is drained while its request waits for an answer that is lost, and comes to its end. */
static void ends(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		 struct drv_qp *y, enum end how)
{
	connect_two(x, y);
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	send_on(a, x, .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .len = LEN);
	pass_time(CFG_US(20));
	expect_data(b, .len = LEN);
	drain(tb, x);
	state_is(tb, x, IBV_QPS_SQD, true);
	if (how == REFUSED) {
		/* a request of the peer that may not be */
		send_on(b, y, .wr_id = 3, .opcode = IBV_WR_RDMA_WRITE, .len = LEN,
			.rkey = drv_mr_rkey(a->mr) + 1);
		expect_cqe(b, .wr_id = 3, .status = IBV_WC_REM_ACCESS_ERR);
		expect_event(a, IBV_EVENT_QP_ACCESS_ERR);
	} else {
		move_qp(x, how == ERROR ? IBV_QPS_ERR : IBV_QPS_RESET);
	}
	if (how != RESET)
		expect_cqe(a, .wr_id = 1, .on = x, .status = IBV_WC_WR_FLUSH_ERR);
	expect_no_more(CFG_MS(5)); /* more than the timeout */
	state_is(tb, x, how == RESET ? IBV_QPS_RESET : IBV_QPS_ERR, false);
	if (how != RESET)
		move_qp(x, IBV_QPS_RESET);
	move_qp(y, IBV_QPS_RESET);
	connect_two(x, y);
	drain(tb, x);
	expect_event(a, IBV_EVENT_SQ_DRAINED);
	move_qp(x, IBV_QPS_RESET);
	move_qp(y, IBV_QPS_RESET);
}

/* The only request under way fails; the queue is in error then, and not drained. */
static void fails(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		  struct drv_qp *y)
{
	connect_two(x, y, .rnr_retry = 1);
	send_on(a, x, .wr_id = 1, .len = LEN); /* no receive */
	pass_time(CFG_US(20));
	drain(tb, x);
	state_is(tb, x, IBV_QPS_SQD, true);
	expect_cqe(a, .wr_id = 1, .on = x, .status = IBV_WC_RNR_RETRY_EXC_ERR);
	expect_no_more(CFG_MS(5));
	state_is(tb, x, IBV_QPS_ERR, false);
	move_qp(x, IBV_QPS_RESET);
	move_qp(y, IBV_QPS_RESET);
}

/* It goes on before it was drained: nobody is told of the end of the drain. */
static void goes_on(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		    struct drv_qp *y)
{
	connect_two(x, y);
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	send_on(a, x, .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .len = LEN);
	pass_time(CFG_US(20));
	drain(tb, x);
	state_is(tb, x, IBV_QPS_SQD, true);
	move_qp(x, IBV_QPS_RTS);
	expect_cqe(a, .wr_id = 1, .on = x);
	expect_no_more(CFG_MS(5));
	move_qp(x, IBV_QPS_RESET);
	move_qp(y, IBV_QPS_RESET);
}

SCENARIO(qp_sqd_middle, "a send queue is drained in the middle of a message, or fails meanwhile",
	 .mtu = IBV_MTU_256, .timeout = 8, .any_packets = true, .settings = {"hca.link.speed=SDR"})
{
	static const char *const names[] = {"refuses a request", "to ERR", "to RESET"};
	struct drv_qp *x, *y;

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		middle(tb, a, b, rows[i].type, rows[i].opcode);
	}
	x = new_qp(a);
	y = new_qp(b);
	for (enum end how = 0; how < ENDS && still_right(); how++) {
		name_row("%s", names[how]);
		ends(tb, a, b, x, y, how);
	}
	name_row("%s", "its request fails");
	fails(tb, a, b, x, y);
	name_row("%s", "goes on");
	goes_on(tb, a, b, x, y);
	destroy_qp(y);
	destroy_qp(x);
}
