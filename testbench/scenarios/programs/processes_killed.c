/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes die at random moments: while they open, register, connect, post, poll or close.
 * Whatever they were doing, shortly after their last thread has ended nothing of them is left in
 * kernel, driver, firmware and ICM, and the surviving processes go on. sim.seed decides when they
 * die.
 */
#include "model/sim/cfg.h"
#include "model/sim/rng.h"
#include "testbench/programs.h"

enum { DEATHS = 40, LATEST_US = 700, SEND_QUEUE = 8, INLINE = 64, BURST = 4 };

struct victim {
	struct program p;
	struct ibv_qp *rc;
	struct ibv_comp_channel *channel;
};

static int connect_self(struct victim *v, uint32_t lid)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .path_mtu = IBV_MTU_4096,
				   .dest_qp_num = v->rc->qp_num,
				   .ah_attr = {.dlid = (uint16_t)lid, .port_num = 1},
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = 1,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
				   .timeout = 10,
				   .retry_cnt = 3,
				   .rnr_retry = 3,
				   .max_rd_atomic = 4};
	int rc = ibv_modify_qp(
		v->rc, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	attr.qp_state = IBV_QPS_RTR;
	if (!rc)
		rc = ibv_modify_qp(v->rc, &attr,
				   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					   IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	if (!rc)
		rc = ibv_modify_qp(v->rc, &attr,
				   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					   IBV_QP_MAX_QP_RD_ATOMIC);
	return rc;
}

/* Sends to itself through the HCA: with BlueFlame and doorbells, posts receives, sleeps on the
 * channel. */
static int traffic(struct victim *v)
{
	struct ibv_sge sge = {(uintptr_t)v->p.buf, INLINE, v->p.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE},
			   *bad;
	struct ibv_recv_wr rwr = {.sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	for (unsigned done = 0; done < 2 * BURST;) {
		if (!done)
			for (unsigned i = 0; i < BURST; i++)
				if (ibv_post_recv(v->rc, &rwr, &bad_recv) ||
				    ibv_post_send(v->rc, &wr, &bad))
					return -1;
		if (ibv_req_notify_cq(v->p.cq, 0))
			return -1;
		while (ibv_poll_cq(v->p.cq, 1, &wc) > 0)
			done++;
		if (done < 2 * BURST) {
			if (ibv_get_cq_event(v->channel, &cq, &context))
				return -1;
			ibv_ack_cq_events(cq, 1);
		}
	}
	return 0;
}

static int live_once(struct victim *v)
{
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = SEND_QUEUE,
						.max_recv_wr = SEND_QUEUE,
						.max_send_sge = 1,
						.max_recv_sge = 1,
						.max_inline_data = INLINE},
					.qp_type = IBV_QPT_RC};
	struct ibv_port_attr port;

	if (program_open(&v->p))
		return 1;
	v->channel = ibv_create_comp_channel(v->p.context);
	ibv_destroy_cq(v->p.cq);
	v->p.cq = ibv_create_cq(v->p.context, PROGRAM_QUEUE, NULL, v->channel, 0);
	init.send_cq = init.recv_cq = v->p.cq;
	v->rc = ibv_create_qp(v->p.pd, &init);
	if (!v->rc || ibv_query_port(v->p.context, 1, &port) || connect_self(v, port.lid))
		return 2;
	v->p.peer_lid = port.lid;
	v->p.peer_qpn = v->rc->qp_num;
	if (program_open_xrcd(&v->p) || program_xrc_srq(&v->p) || program_alloc_rcv(&v->p) ||
	    program_target(&v->p) || program_create_rcv(&v->p) || traffic(v))
		return 3;
	return ibv_close_device(v->p.context);
}

static int live(void *arg)
{
	for (;;) {
		struct victim v = {.p = {.file = "domain"}};
		int rc = live_once(&v);

		if (rc)
			return rc;
	}
}

SCENARIO(processes_killed, "processes die at random moments; nothing of them is left",
	 .no_qps = true, .any_packets = true)
{
	struct ib_device *kernel = ib_device_of(a);
	struct process *survivor = start_worker(a);
	struct program s = {.file = "domain"};
	struct rng rng;
	unsigned before, objects;

	if (!still_right())
		return;
	rng_init(&rng, tb_machine(tb)->config->sim.sim_seed, "processes_killed");
	run_in(survivor, program_open, &s);
	before = driver_holds(a->dev);
	objects = ib_device_objects(kernel);
	for (unsigned i = 0; i < DEATHS && still_right(); i++) {
		struct process *two[2] = {start_process(a, live, NULL),
					  start_process(a, live, NULL)};

		for (unsigned k = 0; k < 2; k++) {
			pass_time(CFG_NS(1 + rng_below(&rng, LATEST_US * 1000)));
			kill_process(two[k]);
		}
		for (unsigned k = 0; k < 2; k++)
			expect_exit(two[k], PROCESS_KILLED);
		expect_equal(driver_holds(a->dev), before);
		expect_equal(ib_device_objects(kernel), objects);
	}
	/* a process that dies in the middle of a BlueFlame write leaves the rest of it unwritten */
	if (tb_machine(tb)->guest_errors)
		expect_guest_error(a, blueflame_mismatch);
	/* the surviving process has its domain to itself */
	run_in(survivor, program_open_xrcd, &s);
	run_in(survivor, program_xrc_srq, &s);
	end_worker(survivor);
}
