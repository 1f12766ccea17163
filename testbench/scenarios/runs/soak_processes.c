/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes of two hosts communicate in pairs, over RC, or over XRC with each kind of receive QP,
 * while packets are lost or delayed. They die at random moments: while they open, connect, post,
 * poll or close, alone or together with their peer. A survivor finds that its peer has died and
 * either ends or goes on; all data are checked. When all are dead, kernel, driver, firmware and ICM
 * hold exactly what they held before.
 *
 *	build/hcasim run soak_processes --seed 5 -s sim.soak.deaths=1000
 */
#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "model/sim/rng.h"
#include "testbench/programs.h"
#include "testbench/language/tb.h"

#include <fcntl.h>

enum {
	SLOTS = 4,
	LATEST_US = 400,
	ALL_DEAD_EVERY = 16,
	BUF = 32768,
	RECV_AT = 0, /* offsets in the buffer */
	WRITE_AT = 8192,
	READ_AT = 16384,
	LOCAL_AT = 24576,
	COUNTER_AT = BUF - 8,
	MESSAGE = 8000,
	ROUNDS = 12,
	DEPTH = 8,
	DELAY_US = 20,
	FINDS_OUT_MS = 60, /* time to notice a dead peer: retries take 8 * 4.2 ms */
	TIMEOUT = 10,
	COMPLETION_US = 2000000,
	STEP_US = 5,
	GONE = 1, /* exit status: the peer has died */
	ALL_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND,
};

/* How the two are connected: RC, or XRC to a receive QP made in one of three ways. */
enum kind { KIND_RC, KIND_XRC_TARGET, KIND_XRC_ALLOC, KIND_XRC_CREATE, KINDS };
enum order { ORDER_SEND, ORDER_WRITE, ORDER_READ, ORDER_ADD, ORDERS, ORDER_END };

struct side {
	uint32_t kind, lid, qpn, rkey, srqn;
	uint64_t addr;
	uint32_t pattern;
};

struct order_message {
	uint32_t order, len, pattern;
};

struct talker {
	unsigned slot;
	bool client;
	uint64_t seed;
};

struct talk {
	const struct talker *who;
	struct rng rng;
	struct program p; /* context, PD, CQ, domain, SRQ, QP */
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint8_t *buf;
	struct oob *oob;
	struct side mine, theirs;
	uint64_t added;
};

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)
#define TRY(call)                                                                                  \
	do {                                                                                       \
		int try_rc = (call);                                                               \
		if (try_rc)                                                                        \
			return try_rc;                                                             \
	} while (0)

/* --- data --- */

static void fill(uint8_t *at, uint32_t len, uint32_t pattern)
{
	for (uint32_t i = 0; i < len; i++)
		at[i] = (uint8_t)(pattern + i * 7);
}

static bool is_filled(const uint8_t *at, uint32_t len, uint32_t pattern)
{
	for (uint32_t i = 0; i < len; i++)
		if (at[i] != (uint8_t)(pattern + i * 7))
			return false;
	return true;
}

/* --- the other side --- */

static int tell(struct talk *t, const void *bytes, size_t len)
{
	return oob_write(t->oob, bytes, len) ? GONE : 0;
}

static int hear(struct talk *t, void *bytes, size_t len)
{
	return oob_read(t->oob, bytes, len) ? GONE : 0;
}

/* --- opening --- */

static int make_rc(struct talk *t)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.send_cq = t->p.cq,
					.recv_cq = t->p.cq,
					.cap = {.max_send_wr = DEPTH,
						.max_recv_wr = DEPTH,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL_ACCESS & 0xf};

	t->p.qp = ibv_create_qp(t->p.pd, &init);
	MUST(t->p.qp);
	t->p.qpn = t->p.qp->qp_num;
	MUST(!ibv_modify_qp(t->p.qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	return 0;
}

/* Makes further objects that carry no traffic but must be cleaned up. */
static int make_more(struct talk *t)
{
	static const union ibv_gid group = {.raw = {0xff, 0x12, [15] = 3}};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
					.send_cq = t->p.cq,
					.recv_cq = t->p.cq,
					.cap = {.max_send_wr = 1, .max_send_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1};
	struct ibv_qp *ud;

	t->mw = ibv_alloc_mw(t->p.pd, rng_below(&t->rng, 2) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	ud = ibv_create_qp(t->p.pd, &init);
	MUST(t->mw && ud);
	MUST(!ibv_modify_qp(ud, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	MUST(!ibv_attach_mcast(ud, &group, 0));
	return 0;
}

static int make_all(struct talk *t)
{
	const bool xrc = t->mine.kind != KIND_RC;
	struct ibv_port_attr port;

	MUST(!program_open(&t->p));
	t->mr = ibv_reg_mr(t->p.pd, t->buf, BUF, ALL_ACCESS);
	MUST(t->mr && !ibv_query_port(t->p.context, 1, &port));
	if (rng_below(&t->rng, 2))
		TRY(make_more(t));
	if (!xrc)
		TRY(make_rc(t));
	else if (t->who->client)
		MUST(!program_sender(&t->p));
	else
		MUST(!program_open_xrcd(&t->p) && !program_xrc_srq(&t->p));
	t->mine.lid = port.lid;
	t->mine.qpn = t->p.qpn;
	t->mine.srqn = t->p.srq_num;
	t->mine.rkey = t->mr->rkey;
	t->mine.addr = (uintptr_t)t->buf;
	t->mine.pattern = (uint32_t)rng_next(&t->rng);
	fill(t->buf + READ_AT, MESSAGE, t->mine.pattern);
	return 0;
}

static int connect_rc(struct talk *t)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_2048,
				   .dest_qp_num = t->theirs.qpn,
				   .rq_psn = PROGRAM_PSN,
				   .ah_attr = {.dlid = (uint16_t)t->theirs.lid, .port_num = 1},
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = 12};

	MUST(!ibv_modify_qp(t->p.qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .sq_psn = PROGRAM_PSN,
				    .timeout = TIMEOUT,
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .max_rd_atomic = 4};
	MUST(!ibv_modify_qp(t->p.qp, &attr,
			    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
	return 0;
}

/* The server's queue pair is ready before the client is told of it. */
static int connect_all(struct talk *t)
{
	static int (*const receive_qp[KINDS])(void *) = {NULL, program_target, program_alloc_rcv,
							 program_create_rcv};

	if (t->who->client) {
		TRY(make_all(t));
		TRY(tell(t, &t->mine, sizeof(t->mine)));
	}
	TRY(hear(t, &t->theirs, sizeof(t->theirs)));
	if (!t->who->client) {
		t->mine.kind = t->theirs.kind;
		TRY(make_all(t));
	}
	t->p.peer_lid = t->theirs.lid;
	t->p.peer_qpn = t->theirs.qpn;
	t->p.remote_srqn = t->theirs.srqn;
	if (t->mine.kind == KIND_RC)
		TRY(connect_rc(t));
	else if (t->who->client)
		MUST(!program_connect(&t->p));
	else
		MUST(!receive_qp[t->mine.kind](&t->p));
	t->mine.qpn = t->p.qpn;
	return t->who->client ? 0 : tell(t, &t->mine, sizeof(t->mine));
}

/* --- orders --- */

/* Returns the status of the next completion, or -1 if none comes. */
static int completion(struct talk *t, struct ibv_wc *wc)
{
	for (unsigned us = 0; us < COMPLETION_US; us += STEP_US) {
		int n = ibv_poll_cq(t->p.cq, 1, wc);

		if (n)
			return n < 0 ? -1 : (int)wc->status;
		process_sleep_us(STEP_US);
	}
	return -1;
}

static int post(struct talk *t, const struct order_message *m)
{
	struct ibv_sge sge = {(uintptr_t)t->buf + LOCAL_AT, m->len, t->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED,
				 .qp_type.xrc.remote_srqn = t->theirs.srqn};
	struct ibv_send_wr *bad;

	switch (m->order) {
	case ORDER_SEND:
		wr.opcode = IBV_WR_SEND;
		break;
	case ORDER_WRITE:
		wr.opcode = IBV_WR_RDMA_WRITE;
		wr.wr.rdma.remote_addr = t->theirs.addr + WRITE_AT;
		wr.wr.rdma.rkey = t->theirs.rkey;
		break;
	case ORDER_READ:
		wr.opcode = IBV_WR_RDMA_READ;
		wr.wr.rdma.remote_addr = t->theirs.addr + READ_AT;
		wr.wr.rdma.rkey = t->theirs.rkey;
		break;
	default:
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = t->theirs.addr + COUNTER_AT;
		wr.wr.atomic.rkey = t->theirs.rkey;
		wr.wr.atomic.compare_add = m->len;
		sge.length = 8;
	}
	return ibv_post_send(t->p.qp, &wr, &bad);
}

static int judge_answer(struct talk *t, const struct order_message *m)
{
	uint64_t word;

	if (m->order == ORDER_READ)
		MUST(is_filled(t->buf + LOCAL_AT, m->len, t->theirs.pattern));
	if (m->order != ORDER_ADD)
		return 0;
	memcpy(&word, t->buf + LOCAL_AT, sizeof(word));
	MUST(word == t->added);
	t->added += m->len;
	return 0;
}

static int client_round(struct talk *t)
{
	struct order_message m = {.order = (uint32_t)rng_below(&t->rng, ORDERS),
				  .len = (uint32_t)(1 + rng_below(&t->rng, MESSAGE)),
				  .pattern = (uint32_t)rng_next(&t->rng)};
	struct ibv_wc wc;
	uint8_t word = 0;
	int status;

	fill(t->buf + LOCAL_AT, m.order == ORDER_ADD ? 8 : m.len, m.pattern);
	TRY(tell(t, &m, sizeof(m)));
	TRY(hear(t, &word, 1));
	MUST(!post(t, &m));
	status = completion(t, &wc);
	/* an error is expected only when the peer has died */
	if (status)
		return hear(t, &word, 1) == GONE && status > 0 ? GONE : __LINE__;
	TRY(judge_answer(t, &m));
	TRY(tell(t, &word, 1));
	return hear(t, &word, 1);
}

static int server_round(struct talk *t, bool *end)
{
	struct ibv_sge sge = {(uintptr_t)t->buf + RECV_AT, MESSAGE, t->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct order_message m;
	struct ibv_wc wc;
	uint8_t word = 0;

	TRY(hear(t, &m, sizeof(m)));
	*end = m.order == ORDER_END;
	if (*end)
		return 0;
	if (m.order == ORDER_SEND)
		MUST(!(t->p.srq ? ibv_post_srq_recv(t->p.srq, &wr, &bad)
				: ibv_post_recv(t->p.qp, &wr, &bad)));
	TRY(tell(t, &word, 1));
	TRY(hear(t, &word, 1));
	if (m.order == ORDER_SEND) {
		MUST(!completion(t, &wc) && wc.byte_len == m.len);
		MUST(is_filled(t->buf + RECV_AT, m.len, m.pattern));
	}
	if (m.order == ORDER_WRITE)
		MUST(is_filled(t->buf + WRITE_AT, m.len, m.pattern));
	return tell(t, &word, 1);
}

/* --- sessions --- */

/* Binds a window, which stays bound to the region during the conversation. */
static int bind_window(struct talk *t)
{
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {.mr = t->mr,
						 .addr = (uintptr_t)t->buf,
						 .length = MESSAGE,
						 .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
	struct ibv_wc wc;

	if (!t->mw || t->mw->type != IBV_MW_TYPE_1 || t->mine.kind != KIND_RC)
		return 0;
	MUST(!ibv_bind_mw(t->p.qp, t->mw, &bind));
	MUST(!completion(t, &wc));
	return 0;
}

static int talk(struct talk *t)
{
	bool end = false;

	TRY(connect_all(t));
	TRY(bind_window(t));
	if (!t->who->client) {
		while (!end)
			TRY(server_round(t, &end));
		return 0;
	}
	for (uint64_t n = rng_below(&t->rng, ROUNDS); n; n--)
		TRY(client_round(t));
	return tell(t, &(struct order_message){.order = ORDER_END}, sizeof(struct order_message));
}

/* Destroys the queue pairs explicitly first, or leaves all objects to the kernel. */
static int close_all(struct talk *t)
{
	if (t->p.qp && rng_below(&t->rng, 2))
		MUST(!ibv_destroy_qp(t->p.qp));
	MUST(!ibv_close_device(t->p.context));
	process_memory_free(t->p.buf);
	process_memory_free(t->buf);
	oob_close(t->oob);
	return 0;
}

static int live(void *arg)
{
	struct talk t = {.who = arg};
	char name[32], file[32];

	rng_init(&t.rng, t.who->seed, t.who->client ? "client" : "server");
	snprintf(name, sizeof(name), "slot %u", t.who->slot);
	/* two slots share a domain */
	snprintf(file, sizeof(file), "domain %u", t.who->slot / 2);
	for (;;) {
		t.p = (struct program){
			.file = file, .access = ALL_ACCESS & 0xf, .timeout = TIMEOUT};
		t.mine = (struct side){.kind = (uint32_t)rng_below(&t.rng, KINDS)};
		t.mw = NULL;
		t.added = 0;
		t.buf = process_memory(BUF);
		t.oob = oob_open(name);
		MUST(t.buf && t.oob);
		TRY(talk(&t));
		TRY(close_all(&t));
	}
}

/* --- deaths --- */

struct soak {
	struct tb_end *end[2]; /* the server's and the client's */
	struct rng rng;
	struct talker talker[SLOTS][2];
	struct process *process[SLOTS][2];
	unsigned before[2], objects[2];
};

static void add_faults(struct tb *tb)
{
	const struct sim_params *p = &tb->config->sim;
	const struct fault_rule rules[] = {
		{.action = FAULT_DROP, .chance_ppm = (uint32_t)p->soak_drop_ppm},
		{.action = FAULT_DELAY,
		 .chance_ppm = (uint32_t)p->soak_delay_ppm,
		 .delay_ps = CFG_US(DELAY_US)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].chance_ppm)
			expect_true(fault_plan_add(&tb->machine->plan, &rules[i]) >= 0);
}

static void start_pair(struct tb *tb, struct soak *s, unsigned slot)
{
	for (unsigned k = 0; k < 2; k++) {
		s->talker[slot][k] =
			(struct talker){.slot = slot, .client = k, .seed = rng_next(&s->rng)};
		s->process[slot][k] = start_process(s->end[k], live, &s->talker[slot][k]);
	}
}

/* Both processes are gone: each was killed, or found out that its peer had died. A process that
 * waits for the next conversation, to which nobody comes, must be killed too. */
static void await_pair(struct tb *tb, struct soak *s, unsigned slot, const bool killed[2])
{
	for (unsigned k = 0; k < 2; k++) {
		struct process *p = s->process[slot][k];
		bool dies = killed[k];

		for (unsigned ms = 0; still_right() && !has_exited(p); ms++) {
			pass_time(CFG_MS(1));
			if (ms < FINDS_OUT_MS)
				continue;
			kill_process(p);
			dies = true;
		}
		expect_equal(await_exit(p), dies ? PROCESS_KILLED : GONE);
	}
}

static void all_die(struct tb *tb, struct soak *s)
{
	for (unsigned i = 0; i < 2 * SLOTS; i++)
		kill_process(s->process[i / 2][i % 2]);
	for (unsigned i = 0; i < SLOTS; i++)
		await_pair(tb, s, i, (const bool[2]){true, true});
	for (unsigned k = 0; k < 2; k++) {
		expect_equal(driver_holds(s->end[k]->dev), s->before[k]);
		expect_equal(ib_device_objects(ib_device_of(s->end[k])), s->objects[k]);
	}
}

SCENARIO(soak_processes, "processes in conversation die at random moments", .no_qps = true,
	 .any_packets = true, .unobserved = true, .settings = {"sim.time_limit=0"})
{
	struct soak s = {.end = {b, a}};
	const uint64_t deaths = tb->config->sim.soak_deaths;

	rng_init(&s.rng, tb->config->sim.sim_seed, "soak_processes");
	for (unsigned k = 0; k < 2; k++) {
		s.objects[k] = ib_device_objects(ib_device_of(s.end[k]));
		s.before[k] = driver_holds(s.end[k]->dev);
	}
	add_faults(tb);
	for (unsigned i = 0; i < SLOTS; i++)
		start_pair(tb, &s, i);
	for (uint64_t n = 0; n < deaths && still_right(); n++) {
		const unsigned slot = (unsigned)rng_below(&s.rng, SLOTS);
		const uint64_t who = 1 + rng_below(&s.rng, 3);
		const bool killed[2] = {who & 1, who & 2};

		pass_time(CFG_NS(1 + rng_below(&s.rng, LATEST_US * 1000)));
		for (unsigned k = 0; k < 2; k++)
			if (killed[k])
				kill_process(s.process[slot][k]);
		await_pair(tb, &s, slot, killed);
		start_pair(tb, &s, slot);
		if (n % ALL_DEAD_EVERY != ALL_DEAD_EVERY - 1)
			continue;
		all_die(tb, &s);
		for (unsigned i = 0; i < SLOTS; i++)
			start_pair(tb, &s, i);
	}
	all_die(tb, &s);
	fault_plan_free(&tb->machine->plan);
	fault_plan_init(&tb->machine->plan, tb->config->sim.sim_seed);
}
