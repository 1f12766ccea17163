/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for completions as perftest's ib_send_lat -e does, repeatedly. One completion channel
 * serves two CQs; an event is taken, its CQ is armed, and then the CQ of interest is polled once,
 * whichever CQ the event named. This works only if each event announces a new completion. An event
 * for a completion that an earlier event announced makes the program poll an empty CQ, and a
 * missing event makes it sleep for ever. mlx4 and rdma-core arm with the index of the last poll, so
 * the entry that an event has just announced is always beyond that index. Each side pauses for a
 * random time at every step.
 */
/* behaviours: CQ-1 */
#include "testbench/process.h"

#include "model/sim/rng.h"

#include <infiniband/verbs.h>

enum { RUNS = 60, ROUNDS = 40, SIGNALED = 8, SIZE = 64, DAWDLE_US = 6 };
enum failure { FINE, NO_OBJECTS, NO_CONNECTION, NO_EVENT, NOTHING_RECEIVED, NOTHING_SENT, BAD };

struct address {
	uint32_t lid, qpn;
};

struct side {
	bool client;
	struct rng rng;
	struct oob *oob;
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_qp *qp;
};

static void dawdle(struct side *s)
{
	const uint64_t us = rng_below(&s->rng, DAWDLE_US);

	if (us)
		process_sleep_us(us);
}

static int meet(struct side *s)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 2 * SIGNALED,
						.max_recv_wr = ROUNDS,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct address mine, peer;
	struct ibv_port_attr port;

	s->send_cq = ibv_create_cq(s->context, ROUNDS, NULL, s->channel, 0);
	s->recv_cq = ibv_create_cq(s->context, ROUNDS, NULL, s->channel, 0);
	init.send_cq = s->send_cq;
	init.recv_cq = s->recv_cq;
	s->qp = ibv_create_qp(s->pd, &init);
	if (!s->qp || ibv_query_port(s->context, 1, &port) ||
	    ibv_modify_qp(s->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return NO_OBJECTS;
	mine = (struct address){port.lid, s->qp->qp_num};
	if (oob_write(s->oob, &mine, sizeof(mine)) || oob_read(s->oob, &peer, sizeof(peer)))
		return NO_CONNECTION;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = peer.qpn,
				    .max_dest_rd_atomic = 1,
				    .min_rnr_timer = 12,
				    .ah_attr = {.dlid = (uint16_t)peer.lid, .port_num = 1}};
	if (ibv_modify_qp(s->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return NO_CONNECTION;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .timeout = 14,
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .max_rd_atomic = 1};
	return ibv_modify_qp(s->qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)
		       ? NO_CONNECTION
		       : FINE;
}

static int part(struct side *s)
{
	return ibv_destroy_qp(s->qp) || ibv_destroy_cq(s->send_cq) || ibv_destroy_cq(s->recv_cq)
		       ? NO_OBJECTS
		       : FINE;
}

static int receive_one(struct side *s)
{
	struct ibv_sge sge = {(uintptr_t)s->mr->addr, SIZE, s->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(s->qp, &wr, &bad);
}

static int send_one(struct side *s, bool signaled)
{
	struct ibv_sge sge = {(uintptr_t)s->mr->addr, SIZE, s->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = signaled ? IBV_SEND_SIGNALED : 0},
			   *bad;

	return ibv_post_send(s->qp, &wr, &bad);
}

/* Takes an event of any CQ and arms that CQ; then polls `cq` once, which must hold a completion. */
static bool completed(struct side *s, struct ibv_cq *cq)
{
	struct ibv_cq *of;
	struct ibv_wc wc;
	void *context;

	if (ibv_get_cq_event(s->channel, &of, &context))
		return false;
	ibv_ack_cq_events(of, 1);
	dawdle(s);
	if (ibv_req_notify_cq(of, 0))
		return false;
	dawdle(s);
	return ibv_poll_cq(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS;
}

static int play(struct side *s)
{
	unsigned sent = 0, received = 0;

	while (sent < ROUNDS || received < ROUNDS) {
		if (received < ROUNDS && (sent || !s->client)) {
			if (!completed(s, s->recv_cq))
				return NOTHING_RECEIVED;
			received++;
		}
		if (sent == ROUNDS)
			continue;
		dawdle(s);
		sent++;
		if (send_one(s, sent % SIGNALED == 0))
			return BAD;
		if (sent % SIGNALED == 0 && !completed(s, s->send_cq))
			return NOTHING_SENT;
	}
	return FINE;
}

static int run_once(struct side *s)
{
	char ready;
	int rc = meet(s);

	for (unsigned i = 0; i < ROUNDS && !rc; i++)
		rc = receive_one(s) ? BAD : FINE;
	if (!rc && (ibv_req_notify_cq(s->send_cq, 0) || ibv_req_notify_cq(s->recv_cq, 0)))
		rc = NO_EVENT;
	if (!rc && (oob_write(s->oob, "r", 1) || oob_read(s->oob, &ready, 1)))
		rc = NO_CONNECTION;
	if (!rc)
		rc = play(s);
	/* neither side leaves before the other one has its last acknowledgement */
	if (!rc && (oob_write(s->oob, "d", 1) || oob_read(s->oob, &ready, 1)))
		rc = NO_CONNECTION;
	return rc ? rc : part(s);
}

static int side_main(bool client)
{
	struct side s = {.client = client};
	struct ibv_device **list = ibv_get_device_list(NULL);
	void *buf = process_memory(SIZE);
	int rc = FINE;

	rng_init(&s.rng, client, "send_lat_events");
	if (!list || !list[0] || !buf)
		return NO_OBJECTS;
	s.context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	s.channel = ibv_create_comp_channel(s.context);
	s.pd = ibv_alloc_pd(s.context);
	s.mr = ibv_reg_mr(s.pd, buf, SIZE, IBV_ACCESS_LOCAL_WRITE);
	s.oob = oob_open("send_lat_events");
	for (unsigned i = 0; i < RUNS && !rc; i++)
		rc = run_once(&s);
	oob_close(s.oob);
	if (!rc && (ibv_dereg_mr(s.mr) || ibv_dealloc_pd(s.pd) ||
		    ibv_destroy_comp_channel(s.channel) || ibv_close_device(s.context)))
		rc = NO_OBJECTS;
	return rc;
}

static int client_main(void *arg)
{
	return side_main(true);
}

static int server_main(void *arg)
{
	return side_main(false);
}

SCENARIO(send_lat_events, "an event is taken, its CQ armed, and then polled once: perftest with -e",
	 .no_qps = true, .any_packets = true, .timeout = 60)
{
	struct process *server = start_process(b, server_main, NULL);
	struct process *client = start_process(a, client_main, NULL);

	expect_exit(client, FINE);
	expect_exit(server, FINE);
}
