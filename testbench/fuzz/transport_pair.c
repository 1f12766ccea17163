/* SPDX-License-Identifier: Apache-2.0 */
/* See transport.h. The engine is the HCA of host b in a machine of its own; the transport in software
 * stands over the fake driver of its unit tests. */
#include "host_driver/rvt/tests/rvt_rig.h"
#include "model/engine/wire/crc.h"
#include "model/engine/wire/psn.h"
#include "model/interface/macros.h"
#include "testbench/fuzz/transport.h"
#include "traces/trace.h"

#include <inttypes.h>

enum {
	RECEIVE_BYTES = 600,
	DEPTH = 3, /* READs and atomics of the peer at a time; its own: 4, mlx4 rounds them up */
	RNR_CODE = 5,
	TIMEOUT_CODE = 11, /* 8.4 ms: longer than all steps of a stream without a wait */
	RETRIES = 2,
	SETTLE_US = 40,
	SLICE_US = 500,
	SLICES = 400,
	QUEUE = 16,
};

/* The other side's memory, as requests name it. */
#define REMOTE_VA UINT64_C(0x7000100000)
enum { REMOTE_KEY = 0x4711 };

struct side {
	struct drv_pd *pd;
	struct drv_cq *cq, *send_cq; /* two: sends and receives complete in no common order */
	struct drv_mr *mr, *weak;
	struct drv_qp *qp;
	struct drv_srq *srq;
	uint8_t *memory;
	uint64_t va;
	unsigned lid, peer_lid;
};

static struct side sides[SIDES];
static struct fuzz_rig *machine_rig;
static struct pair_kind kind;
static uint8_t own_gid[DRV_GID_BYTES]; /* of both ports, so that the same bytes come to memory */
struct pair_seen pair_seen[SIDES];
static uint64_t steps;

/* --- what came out --- */

static int packet_out(void *sink, const struct trace_record *r)
{
	const struct bth *bth = (const struct bth *)(r->bytes + LRH_BYTES);

	if (r->point == TP_PKT_OUT && r->hca == 1 && r->len >= LRH_BYTES + BTH_BYTES + CRC_BYTES &&
	    bth_get_dqpn(bth) == PAIR_PEER_QPN)
		pair_out_note(&pair_seen[HARD], r->bytes, r->len - CRC_BYTES);
	return 0;
}

static int sink_end(void *sink)
{
	return 0;
}

static void event_note(void *arg, const struct drv_event *event)
{
	struct pair_seen *seen = arg;
	const struct side *side = &sides[seen == &pair_seen[SOFT]];

	if (seen->n_events < PAIR_EVENTS && event->qp == side->qp && event->qp)
		seen->events[seen->n_events++] = event->type;
}

static enum ibv_qp_state hard_state(void)
{
	static const enum ibv_qp_state states[] = {
		[QP_STATE_RST] = IBV_QPS_RESET,    [QP_STATE_INIT] = IBV_QPS_INIT,
		[QP_STATE_RTR] = IBV_QPS_RTR,      [QP_STATE_RTS] = IBV_QPS_RTS,
		[QP_STATE_SQER] = IBV_QPS_SQE,     [QP_STATE_SQD] = IBV_QPS_SQD,
		[QP_STATE_SQD_BUSY] = IBV_QPS_SQD, [QP_STATE_ERR] = IBV_QPS_ERR,
	};
	struct qpc qpc;

	if (hca_context_read(host_hca(machine_rig->tb.ends[1].host), HCA_QP,
			     drv_qp_num(sides[HARD].qp), &qpc, sizeof(qpc)) <= 0 ||
	    qpc_get_state(&qpc) >= ARRAY_SIZE(states))
		return IBV_QPS_RESET;
	return states[qpc_get_state(&qpc)];
}

static int event_order(const void *a, const void *b)
{
	return (int)*(const enum ibv_event_type *)a - (int)*(const enum ibv_event_type *)b;
}

static void completions_note(enum pair_side which)
{
	struct pair_seen *seen = &pair_seen[which];
	const struct side *side = &sides[which];

	seen->n_wcs += drv_cq_poll(side->cq, PAIR_WCS - seen->n_wcs, &seen->wcs[seen->n_wcs]);
	seen->n_wcs += drv_cq_poll(side->send_cq, PAIR_WCS - seen->n_wcs, &seen->wcs[seen->n_wcs]);
}

static void hard_note(void)
{
	completions_note(HARD);
	pair_seen[HARD].state = hard_state();
}

static void seen_print(const char *who, const struct pair_seen *s)
{
	fprintf(stderr, "  %s: state %d, verb returns %d\n", who, s->state, s->rc);
	for (unsigned i = 0; i < s->n; i++)
		fprintf(stderr,
			"    packet %s psn %06x syndrome %02x msn %u len %u dma length %u, ack_req "
			"%d, solicited %d, content %" PRIx64 "\n",
			bth_op_find(s->out[i].opcode)->name, s->out[i].psn, s->out[i].syndrome,
			s->out[i].msn, s->out[i].len, s->out[i].dma_len, s->out[i].ack_req,
			s->out[i].solicited, s->out[i].content);
	for (int i = 0; i < s->n_wcs; i++)
		fprintf(stderr, "    completion of %u: status %d, opcode %d, %u bytes, flags %x\n",
			(unsigned)s->wcs[i].wr_id, s->wcs[i].status, s->wcs[i].opcode,
			s->wcs[i].byte_len, s->wcs[i].wc_flags);
	for (unsigned i = 0; i < s->n_events; i++)
		fprintf(stderr, "    event %d\n", s->events[i]);
}

static void seen_end(void)
{
	for (unsigned i = 0; i < SIDES; i++)
		qsort(pair_seen[i].events, pair_seen[i].n_events, sizeof(*pair_seen[i].events),
		      event_order);
	steps++;
	if (!getenv("TRANSPORT_SHOW"))
		return;
	fprintf(stderr, "step %" PRIu64 "\n", steps);
	seen_print("engine", &pair_seen[HARD]);
	seen_print("rvt", &pair_seen[SOFT]);
}

static void seen_begin(void)
{
	pair_seen[HARD] = pair_seen[SOFT] = (struct pair_seen){0};
}

/* --- steps --- */

/* What the transport in software does is looked at while its packets stand in send buffers. */
static void soft_settle(void)
{
	do {
		rig.n_sent = rig.done = 0;
		rig.hold = true;
		rvt_send_ready(rig.dev, 1);
		rig_run();
		for (unsigned i = 0; i < rig.n_sent; i++)
			pair_out_note(&pair_seen[SOFT], rig.sent[i]->bytes, rig.sent[i]->len);
		rig_leave();
	} while (rig.n_sent);
	completions_note(SOFT);
	pair_seen[SOFT].state = drv_qp_state(sides[SOFT].qp);
}

static void hard_settle(void)
{
	fuzz_rig_pass(machine_rig, CFG_US(SETTLE_US));
	hard_note();
}

static struct pair_target target_of(const struct side *side)
{
	struct pair_target to = {
		.lid = side->lid,
		.peer_lid = side->peer_lid,
		.qpn = drv_qp_num(side->qp),
		.rkey = drv_mr_rkey(side->mr),
		.weak_rkey = drv_mr_rkey(side->weak),
		.va = side->va,
	};

	memcpy(to.gid, own_gid, sizeof(to.gid));
	return to;
}

void pair_give(const struct pair_packet *p)
{
	const uint32_t headers = bth_op_header_bytes(bth_op_find(p->opcode), p->grh);
	const struct pair_target hard = target_of(&sides[HARD]), soft = target_of(&sides[SOFT]);
	uint8_t wire[PAIR_WIRE_MAX];
	uint32_t len = pair_packet_build(p, &hard, wire);

	seen_begin();
	len += crc_make(wire, len);
	hca_inject(host_hca(machine_rig->tb.ends[1].host), 1, wire, len);
	hard_settle();
	len = pair_packet_build(p, &soft, wire);
	rvt_receive(rig.dev, 1, wire, headers, wire + headers, len - headers);
	soft_settle();
	seen_end();
}

static uint32_t lkey_of(const struct side *side, enum pair_key key)
{
	const uint32_t value = drv_mr_lkey(key == KEY_WITHOUT_RIGHTS ? side->weak : side->mr);

	return key == KEY_WRONG ? value ^ PAIR_WRONG_KEY : value;
}

static int post(enum pair_side which, const struct pair_request *r)
{
	const struct side *side = &sides[which];
	const struct drv_ah_attr ah = {.dlid = side->peer_lid, .port_num = 1};
	const bool swap = r->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	const struct drv_sge sge = {side->va + r->offset, r->len, lkey_of(side, r->key)};
	const struct drv_send_wr wr = {
		.wr_id = r->imm,
		.opcode = r->opcode,
		.send_flags = r->flags,
		.sg_list = &sge,
		.num_sge = 1,
		.imm_data = r->imm,
		.remote_addr = REMOTE_VA + r->offset,
		.rkey = REMOTE_KEY,
		.compare_add = swap ? r->compare : r->swap_add,
		.swap = r->swap_add,
		.ah = kind.type == IBV_QPT_UD ? &ah : NULL,
		.remote_qpn = PAIR_PEER_QPN,
		.remote_qkey = PAIR_QKEY,
	};

	return drv_post_send(side->qp, &wr, NULL);
}

static void hard_post(struct fuzz_rig *r, void *arg)
{
	pair_seen[HARD].rc = post(HARD, arg);
}

/* In a thread of the host, because it may sleep. */
static void hard_call(void (*fn)(struct fuzz_rig *r, void *arg), void *arg)
{
	if (!fuzz_rig_call(machine_rig, fn, arg, CFG_S(1)))
		abort();
}

void pair_post(const struct pair_request *request)
{
	seen_begin();
	hard_call(hard_post, (void *)(uintptr_t)request);
	hard_settle();
	pair_seen[SOFT].rc = post(SOFT, request);
	soft_settle();
	seen_end();
}

static int modify(enum pair_side which, enum ibv_qp_state state)
{
	const struct drv_qp_attr attr = {.qp_state = state,
					 .cur_qp_state = pair_seen[which].state,
					 .en_sqd_async_notify = true};
	const unsigned mask =
		IBV_QP_STATE | (state == IBV_QPS_SQD   ? (unsigned)IBV_QP_EN_SQD_ASYNC_NOTIFY
				: state == IBV_QPS_RTS ? (unsigned)IBV_QP_CUR_STATE
						       : 0);

	return drv_qp_modify(sides[which].qp, &attr, mask);
}

static void hard_modify(struct fuzz_rig *r, void *arg)
{
	pair_seen[HARD].rc = modify(HARD, *(const enum ibv_qp_state *)arg);
}

void pair_modify(enum ibv_qp_state state)
{
	const enum ibv_qp_state from = pair_seen[HARD].state;

	seen_begin();
	pair_seen[HARD].state = pair_seen[SOFT].state = from;
	hard_call(hard_modify, &state);
	hard_settle();
	pair_seen[SOFT].rc = modify(SOFT, state);
	soft_settle();
	seen_end();
}

static bool seen_nothing(const struct pair_seen *seen)
{
	return !seen->n && !seen->n_wcs && !seen->n_events;
}

void pair_wait(void)
{
	const uint64_t limit = rig.now_ps + CFG_US(SLICE_US) * SLICES;
	const uint64_t *now_ps = &machine_rig->machine.core.now_ps;
	uint64_t slice_end = *now_ps;

	seen_begin();
	/* the machine's clock stands at its last event */
	for (unsigned i = 0; i < SLICES && seen_nothing(&pair_seen[HARD]); i++) {
		slice_end += CFG_US(SLICE_US);
		fuzz_rig_pass(machine_rig, slice_end - *now_ps);
		hard_note();
	}
	hard_settle();
	for (uint64_t next; seen_nothing(&pair_seen[SOFT]);) {
		next = rvt_timer_step(rvt_of(rig.dev));
		if (next > limit)
			break;
		rig.now_ps = next > rig.now_ps ? next : rig.now_ps;
		soft_settle();
	}
	soft_settle();
	seen_end();
}

/* --- both begin anew --- */

static struct drv_rc_path path_of(const struct side *side)
{
	struct drv_rc_path path = drv_rc_path_default(side->peer_lid, PAIR_PEER_QPN);

	path.path_mtu = IBV_MTU_256;
	path.rq_psn = path.sq_psn = PAIR_PSN;
	path.max_dest_rd_atomic = DEPTH;
	path.min_rnr_timer = RNR_CODE;
	path.timeout = TIMEOUT_CODE;
	path.retry_cnt = path.rnr_retry = RETRIES;
	return path;
}

static void receives_post(const struct side *side)
{
	for (unsigned i = 0; i < PAIR_RECEIVES; i++) {
		const struct drv_sge sge = {side->va + PAIR_AREA + i * PAIR_RECEIVE_STRIDE,
					    RECEIVE_BYTES, drv_mr_lkey(side->mr)};
		const struct drv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		rig_must(side->srq ? drv_post_srq_recv(side->srq, &wr, NULL)
				   : drv_post_recv(side->qp, &wr, NULL));
	}
}

/* A queue pair of this input's kind, and its SRQ. What the last input had goes. */
static void qp_make(struct side *side)
{
	const struct drv_srq_init of_srq = {.max_wr = 8, .max_sge = 1};
	struct drv_qp_init init = {.type = kind.type,
				   .send_cq = side->send_cq,
				   .recv_cq = side->cq,
				   .cap = {QUEUE, 8, 1, 1, 0},
				   .sq_sig_all = true};

	if (side->qp)
		rig_must(drv_qp_destroy(side->qp));
	if (side->srq)
		rig_must(drv_srq_destroy(side->srq));
	side->srq = NULL;
	if (kind.shared) {
		rig_must(drv_srq_create(side->pd, &of_srq, &side->srq));
		init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	}
	init.srq = side->srq;
	rig_must(drv_qp_create(side->pd, &init, &side->qp));
}

/* The receives are there before a packet can come: they are posted in INIT. */
static void to_init(const struct side *side)
{
	const struct drv_rc_path path = path_of(side);
	const struct drv_qp_attr ud = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = PAIR_QKEY};

	if (kind.type == IBV_QPT_UD)
		rig_must(drv_qp_modify(side->qp, &ud,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       IBV_QP_QKEY));
	else
		rig_must(drv_qp_to_init(side->qp, &path));
	receives_post(side);
	if (kind.type == IBV_QPT_UD)
		rig_must(drv_mcast_attach(side->qp, fuzz_mgid, false));
}

static void to_rtr(const struct side *side)
{
	const struct drv_rc_path path = path_of(side);
	const struct drv_qp_attr ud = {.qp_state = IBV_QPS_RTR};

	rig_must(kind.type == IBV_QPT_UD ? drv_qp_modify(side->qp, &ud, IBV_QP_STATE)
					 : drv_qp_to_rtr(side->qp, &path));
}

static void to_rts(const struct side *side)
{
	const struct drv_rc_path path = path_of(side);
	const struct drv_qp_attr ud = {.qp_state = IBV_QPS_RTS, .sq_psn = PAIR_PSN};

	rig_must(kind.type == IBV_QPT_UD
			 ? drv_qp_modify(side->qp, &ud, IBV_QP_STATE | IBV_QP_SQ_PSN)
			 : drv_qp_to_rts(side->qp, &path));
}

/* A memory key that is wrong brings the send queue of UC and UD into SQE. */
static const struct pair_request bad_send = {.opcode = IBV_WR_SEND, .key = KEY_WRONG, .len = 8};

/* From RESET on the shortest way into the state of the input. */
static void to_state(enum pair_side which)
{
	const enum ibv_qp_state to = kind.state;
	const struct side *side = &sides[which];

	if (to == IBV_QPS_RESET)
		return;
	to_init(side);
	if (to == IBV_QPS_ERR)
		modify(which, IBV_QPS_ERR);
	if (to == IBV_QPS_INIT || to == IBV_QPS_ERR)
		return;
	to_rtr(side);
	if (to == IBV_QPS_RTR)
		return;
	to_rts(side);
	if (to == IBV_QPS_SQD)
		modify(which, IBV_QPS_SQD);
	if (to == IBV_QPS_SQE)
		rig_must(post(which, &bad_send));
}

static void memory_begin(const struct side *side)
{
	memset(side->memory, 0, PAIR_MEMORY);
	for (unsigned i = PAIR_ZEROED; i < PAIR_AREA; i++)
		side->memory[i] = (uint8_t)(i * 7 + (i >> 8));
}

static void begin(enum pair_side which)
{
	struct side *side = &sides[which];

	if (side->qp && drv_qp_type(side->qp) == IBV_QPT_UD &&
	    drv_qp_state(side->qp) != IBV_QPS_RESET)
		drv_mcast_detach(side->qp, fuzz_mgid);
	qp_make(side);
	memory_begin(side);
	to_state(which);
}

static void hard_make(struct fuzz_rig *r)
{
	struct tb_end *b = &r->tb.ends[1];

	sides[HARD] = (struct side){.pd = b->pd,
				    .cq = b->cq,
				    .mr = b->mr,
				    .memory = b->dst,
				    .va = tb_va(b, b->dst),
				    .lid = b->lid,
				    .peer_lid = b->peer->lid};
	rig_must(drv_mr_reg_iova(b->pd, b->dst, PAIR_AREA, sides[HARD].va, IBV_ACCESS_LOCAL_WRITE,
				 &sides[HARD].weak));
	rig_must(drv_cq_create(b->dev, PAIR_WCS, 0, &sides[HARD].send_cq));
	rig_must(drv_query_gid(b->dev, 1, 0, own_gid));
	drv_event_register(b->dev, event_note, &pair_seen[HARD]);
}

static void hard_begin(struct fuzz_rig *r, void *arg)
{
	if (!sides[HARD].pd)
		hard_make(r);
	begin(HARD);
}

static void soft_make(void)
{
	struct side *side = &sides[SOFT];

	rig_start(NULL);
	*side = (struct side){.pd = rig.pd,
			      .cq = rig.cq,
			      .memory = rig.memory,
			      .lid = RIG_LID,
			      .peer_lid = RIG_PEER_LID};
	rig_must(drv_cq_create(rig.dev, PAIR_WCS, 0, &side->send_cq));
	rig_must(drv_mr_dereg(rig.mr));
	rig_must(drv_mr_reg_iova(rig.pd, rig.memory, PAIR_MEMORY, 0,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
				 &rig.mr));
	rig_must(drv_mr_reg_iova(rig.pd, rig.memory, PAIR_AREA, 0, IBV_ACCESS_LOCAL_WRITE,
				 &side->weak));
	side->mr = rig.mr;
	memcpy(rvt_of(rig.dev)->ports[1].gids[0], own_gid, DRV_GID_BYTES);
	drv_event_register(rig.dev, event_note, &pair_seen[SOFT]);
}

/* The machine is another one every so often. */
static void machine_note(struct fuzz_rig *r)
{
	static const struct trace_sink_ops ops = {
		.name = "packets", .record = packet_out, .close = sink_end};

	if (r == machine_rig && r->inputs != 1)
		return;
	machine_rig = r;
	sides[HARD] = (struct side){0};
	rig_must(trace_sink_add(r->machine.trace, &ops, NULL, 0));
}

void pair_begin(struct fuzz_rig *r, const struct pair_kind *of)
{
	machine_note(r);
	kind = *of;
	hard_call(hard_begin, NULL);
	if (!sides[SOFT].pd)
		soft_make();
	begin(SOFT);
	hard_settle();
	soft_settle();
}

/* --- what differs --- */

bool pair_is(const struct pair_packet *packet, enum bth_prop prop)
{
	return bth_op_is(bth_op_find(packet->opcode), prop);
}

static bool completions_equal(const struct drv_wc *a, const struct drv_wc *b)
{
	return a->wr_id == b->wr_id && a->status == b->status &&
	       (a->status != IBV_WC_SUCCESS ||
		(a->opcode == b->opcode && a->wc_flags == b->wc_flags &&
		 a->imm_data == b->imm_data &&
		 ((a->opcode != IBV_WC_RECV && a->opcode != IBV_WC_RECV_RDMA_WITH_IMM &&
		   a->opcode != IBV_WC_RDMA_READ) ||
		  a->byte_len == b->byte_len)));
}

enum difference pair_compare_seen(const struct pair_seen *a, const struct pair_seen *b)
{
	if (a->n != b->n || memcmp(a->out, b->out, a->n * sizeof(*a->out)))
		return PACKETS;
	if (a->n_wcs != b->n_wcs)
		return COMPLETIONS;
	for (int i = 0; i < a->n_wcs; i++)
		if (!completions_equal(&a->wcs[i], &b->wcs[i]))
			return COMPLETIONS;
	return a->state != b->state ? STATES : SAME;
}

static bool events_equal(const struct pair_seen *a, const struct pair_seen *b)
{
	return a->n_events == b->n_events &&
	       !memcmp(a->events, b->events, a->n_events * sizeof(*a->events));
}

enum difference pair_compare(void)
{
	const struct pair_seen *h = &pair_seen[HARD], *s = &pair_seen[SOFT];
	const enum difference d = h->rc != s->rc ? RETURNS : pair_compare_seen(h, s);

	if (d != SAME && d != STATES)
		return d;
	if (!events_equal(h, s))
		return EVENTS;
	if (d != SAME)
		return d;
	return memcmp(sides[HARD].memory, sides[SOFT].memory, PAIR_MEMORY) ? MEMORY : SAME;
}

const uint8_t *pair_memory(enum pair_side which)
{
	return sides[which].memory;
}

void pair_complain(enum difference difference)
{
	static const char *const names[] = {"nothing", "packets", "completions", "events",
					    "states",  "memory",  "returns"};
	static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	seen_print("engine", &pair_seen[HARD]);
	seen_print("rvt", &pair_seen[SOFT]);
	for (unsigned i = 0; difference == MEMORY && i < PAIR_MEMORY; i++)
		if (sides[HARD].memory[i] != sides[SOFT].memory[i]) {
			fprintf(stderr, "  memory differs from byte %u on\n", i);
			break;
		}
	fprintf(stderr, "transport: %s differ after packet %" PRIu64 " of %s%s, begun in %s\n",
		names[difference], steps,
		kind.type == IBV_QPT_RC   ? "RC"
		: kind.type == IBV_QPT_UC ? "UC"
					  : "UD",
		kind.shared ? " with an SRQ" : "", states[kind.state]);
	abort();
}
