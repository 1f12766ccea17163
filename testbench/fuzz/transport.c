/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two responders, one stream of requests: the engine's (in hardware) and the driver's
 * (host_driver/rvt/, in software). The first byte of an input says of which service, and whether an
 * SRQ gives the receives. The rest is a stream: requests that are right, that have one field changed,
 * that come twice or in a wrong order, of every opcode and message position. After each packet both must have answered alike, written the same bytes, made the same completions and
 * be in the same state. What may differ stands in a table, with its reason.
 */
#include "host_driver/rvt/tests/rvt_rig.h"
#include "model/engine/wire/crc.h"
#include "testbench/fuzz/rig.h"
#include "traces/trace.h"

#include <inttypes.h>

enum {
	MTU = 256,
	LOG_MTU_CODE = IBV_MTU_256,
	AREA_BYTES = 8192, /* of memory that requests reach; receives are behind it */
	RECEIVE_BYTES = 600,
	RECEIVES = 4,
	STEPS_MAX = 48,
	REPLIES_MAX = 64,
	WIRE_MAX = 4096 + 256,
	PSN_START = 0xfffff0,
	DEPTH = 3,
	RNR_CODE = 5,
	SETTLE_US = 40,
	WCS = 16,
	SEND_AND_WRITE = 4, /* requests that UC has, too: the first ones of a table */
};

/* --- what is compared --- */

struct reply {
	uint8_t opcode, syndrome; /* an ACK's credits are left out */
	uint32_t psn, msn, len;
	uint64_t content; /* a checksum of the payload, or the value of an atomic */
};

struct seen {
	struct reply replies[REPLIES_MAX];
	unsigned n;
	struct drv_wc wcs[WCS];
	int n_wcs;
	bool error; /* the queue pair is in the error state */
};

static uint64_t checksum(const uint8_t *bytes, uint32_t len)
{
	uint64_t sum = 0xcbf29ce484222325;

	while (len--)
		sum = (sum ^ *bytes++) * 0x100000001b3;
	return sum;
}

/* `len` is from the LRH to the pad. */
static void reply_note(struct seen *seen, const uint8_t *wire, uint32_t len)
{
	const struct bth *bth = (const struct bth *)(wire + LRH_BYTES);
	const struct bth_op *op = bth_op_find((uint8_t)bth_get_opcode(bth));
	const uint32_t headers = bth_op_header_bytes(op, false);
	struct reply *r;

	if (seen->n == REPLIES_MAX || len < headers)
		return;
	r = &seen->replies[seen->n++];
	*r = (struct reply){.opcode = (uint8_t)bth_get_opcode(bth),
			    .psn = bth_get_psn(bth),
			    .len = len - headers - bth_get_pad(bth)};
	if (op->at[BTH_EXT_AETH]) {
		const struct aeth *aeth =
			(const struct aeth *)((const uint8_t *)bth + op->at[BTH_EXT_AETH]);

		r->syndrome = (uint8_t)aeth_get_syndrome(aeth);
		if (aeth_syndrome_kind(r->syndrome) == AETH_ACK)
			r->syndrome = 0;
		r->msn = aeth_get_msn(aeth);
	}
	if (op->at[BTH_EXT_ATOMICACKETH])
		r->content = atomicacketh_get_original(
			(const struct atomicacketh *)((const uint8_t *)bth +
						      op->at[BTH_EXT_ATOMICACKETH]));
	else
		r->content = checksum(wire + headers, r->len);
}

/* --- the service --- */

static bool unreliable, shared; /* UC; with an SRQ */

/* RC's opcodes and UC's mean the same, and differ by this. */
static uint8_t service_opcode(uint8_t rc_opcode)
{
	return (uint8_t)(rc_opcode + (unreliable ? BTH_UC_SEND_FIRST - BTH_RC_SEND_FIRST : 0));
}

/* --- a request --- */

struct request {
	uint8_t opcode;
	uint32_t psn, len, pad_len;
	bool ack_req, solicited;
	enum { KEY_RIGHT, KEY_WRONG, KEY_WITHOUT_RIGHTS } key;
	uint64_t offset;
	uint32_t dma_len, imm;
	uint64_t swap_add, compare;
};

/* What the stream is at: a plan of the next right request, so that most packets mean something. */
struct plan {
	uint32_t psn;
	uint32_t left; /* packets of the message that has begun */
	bool write;
};

static uint8_t opcode_next(struct plan *plan, struct fuzz_bytes *b)
{
	static const uint8_t single[] = {
		BTH_RC_SEND_ONLY,    BTH_RC_SEND_ONLY_IMM, BTH_RC_WRITE_ONLY, BTH_RC_WRITE_ONLY_IMM,
		BTH_RC_READ_REQUEST, BTH_RC_COMPARE_SWAP,  BTH_RC_FETCH_ADD,  BTH_RC_READ_REQUEST,
	};
	const unsigned choice = (unsigned)fuzz_take(b, 1);

	if (plan->left > 1) {
		plan->left--;
		return plan->write ? BTH_RC_WRITE_MIDDLE : BTH_RC_SEND_MIDDLE;
	}
	if (plan->left) {
		plan->left = 0;
		return (uint8_t)((plan->write ? BTH_RC_WRITE_LAST : BTH_RC_SEND_LAST) +
				 (choice & 1));
	}
	if (choice & 0x80) {
		plan->write = choice & 1;
		plan->left = 1 + (choice >> 1 & 1);
		return plan->write ? BTH_RC_WRITE_FIRST : BTH_RC_SEND_FIRST;
	}
	return single[choice % (unreliable ? SEND_AND_WRITE : sizeof(single) / sizeof(*single))];
}

static uint32_t length_next(const struct bth_op *op, const struct plan *plan, struct fuzz_bytes *b)
{
	const uint32_t some = (uint32_t)fuzz_take(b, 1) % MTU + 1;

	if (!bth_op_is(op, BTH_PAYLOAD))
		return 0;
	if (bth_op_is(op, BTH_ONLY) || bth_op_is(op, BTH_LAST))
		return some;
	return MTU;
}

/* A right request, from the plan. */
static struct request request_next(struct plan *plan, struct fuzz_bytes *b)
{
	struct request r = {.opcode = service_opcode(opcode_next(plan, b)), .ack_req = !unreliable};
	const struct bth_op *op = bth_op_find(r.opcode);

	r.psn = plan->psn;
	r.len = length_next(op, plan, b);
	r.offset = fuzz_take(b, 1) * 8;
	r.imm = (uint32_t)fuzz_take(b, 1);
	r.dma_len = r.opcode == BTH_RC_READ_REQUEST ? (uint32_t)fuzz_take(b, 1) * 4
		    : bth_op_is(op, BTH_ONLY)       ? r.len
						    : MTU * plan->left + 1;
	r.swap_add = fuzz_take(b, 1);
	r.compare = 0;
	plan->psn = psn_add(plan->psn, r.opcode == BTH_RC_READ_REQUEST && r.dma_len
					       ? (r.dma_len - 1) / MTU + 1
					       : 1);
	return r;
}

/* One field of it is changed, in one of these ways. */
static void request_change(struct request *r, unsigned how, unsigned by)
{
	switch (how) {
	case 1:
		r->psn = psn_add(r->psn, 1 + by % 4);
		break;
	case 2:
		r->psn = (r->psn - 1 - by % 6) & PSN_MASK;
		break;
	case 3:
		r->key = by & 1 ? KEY_WRONG : KEY_WITHOUT_RIGHTS;
		break;
	case 4:
		r->len = by * 2 % (MTU + 8);
		break;
	case 5:
		r->opcode = service_opcode(by & 0x1f);
		break;
	case 6:
		r->offset = by & 1 ? AREA_BYTES - 8 + by % 16 : r->offset + by % 8;
		break;
	case 7:
		r->dma_len = by & 1 ? r->dma_len + 1 : UINT32_C(1) << (by % 32);
		break;
	case 8:
		r->ack_req = false;
		break;
	default:
		break;
	}
}

static bool is_response(const struct request *r)
{
	return bth_op_is(bth_op_find(r->opcode), BTH_RESPONSE);
}

/* --- the two sides --- */

static struct drv_qp *soft_qp, *hard_qp;
static struct drv_srq *soft_srq, *hard_srq;
static struct drv_mr *soft_weak, *hard_weak;
static struct seen hard_seen;
static uint32_t peer_qpn;
static uint64_t packets;

static int packet_out(void *sink, const struct trace_record *r)
{
	const struct bth *bth = (const struct bth *)(r->bytes + LRH_BYTES);

	if (r->point == TP_PKT_OUT && r->hca == 1 && r->len > LRH_BYTES + BTH_BYTES + CRC_BYTES &&
	    bth_get_dqpn(bth) == peer_qpn)
		reply_note(&hard_seen, r->bytes, r->len - CRC_BYTES);
	return 0;
}

static int sink_end(void *sink)
{
	return 0;
}

/* The headers and payload of a request; its length to the pad. */
static uint32_t request_build(const struct request *r, uint8_t *wire, uint32_t dqpn, uint32_t dlid,
			      uint32_t slid, uint64_t va, uint32_t key)
{
	const struct bth_op *op = bth_op_find(r->opcode);
	struct lrh *lrh = (struct lrh *)wire;
	struct bth *bth = (struct bth *)(wire + LRH_BYTES);
	uint8_t *ext = (uint8_t *)bth;
	const uint32_t headers = bth_op_header_bytes(op, false), pad = -r->len & 3;

	memset(wire, 0, headers + r->len + pad);
	lrh_set_lnh(lrh, LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, dlid);
	lrh_set_slid(lrh, slid);
	lrh_set_pkt_len(lrh, (headers + r->len + pad + ICRC_BYTES) / 4);
	bth_set_opcode(bth, r->opcode);
	bth_set_mig_req(bth, 1);
	bth_set_pkey(bth, PKEY_DEFAULT);
	bth_set_dqpn(bth, dqpn);
	bth_set_psn(bth, r->psn);
	bth_set_ack_req(bth, r->ack_req);
	bth_set_pad(bth, pad);
	if (op->at[BTH_EXT_RETH]) {
		struct reth *reth = (struct reth *)(ext + op->at[BTH_EXT_RETH]);

		reth_set_va(reth, va + r->offset);
		reth_set_rkey(reth, key);
		reth_set_dma_len(reth, r->dma_len);
	}
	if (op->at[BTH_EXT_ATOMICETH]) {
		struct atomiceth *eth = (struct atomiceth *)(ext + op->at[BTH_EXT_ATOMICETH]);

		atomiceth_set_va(eth, va + r->offset);
		atomiceth_set_rkey(eth, key);
		atomiceth_set_swap_add(eth, r->swap_add);
		atomiceth_set_compare(eth, r->compare);
	}
	if (op->at[BTH_EXT_IMMDT])
		immdt_set_imm((struct immdt *)(ext + op->at[BTH_EXT_IMMDT]), r->imm);
	for (uint32_t i = 0; i < r->len; i++)
		wire[headers + i] = (uint8_t)(r->psn * 31 + i);
	return headers + r->len + pad;
}

static uint32_t key_of(const struct request *r, struct drv_mr *right, struct drv_mr *weak)
{
	return r->key == KEY_RIGHT            ? drv_mr_rkey(right)
	       : r->key == KEY_WITHOUT_RIGHTS ? drv_mr_rkey(weak)
					      : drv_mr_rkey(right) ^ 0x80;
}

static void hard_give(struct fuzz_rig *fuzz, const struct request *r)
{
	struct tb_end *b = &fuzz->tb.ends[1];
	uint8_t wire[WIRE_MAX];
	uint32_t len = request_build(r, wire, drv_qp_num(hard_qp), b->lid, b->peer->lid,
				     tb_va(b, b->dst), key_of(r, b->mr, hard_weak));
	struct qpc qpc;

	hard_seen.n = 0;
	len += crc_make(wire, len);
	hca_inject(host_hca(b->host), 1, wire, len);
	fuzz_rig_pass(fuzz, CFG_US(SETTLE_US));
	hard_seen.n_wcs = drv_cq_poll(b->cq, WCS, hard_seen.wcs);
	hard_seen.error = hca_context_read(host_hca(b->host), HCA_QP, drv_qp_num(hard_qp), &qpc,
					   sizeof(qpc)) > 0 &&
			  qpc_get_state(&qpc) == QP_STATE_ERR;
}

static void soft_give(const struct request *r, struct seen *seen)
{
	uint8_t wire[WIRE_MAX];
	const uint32_t len = request_build(r, wire, drv_qp_num(soft_qp), RIG_LID, RIG_PEER_LID, 0,
					   key_of(r, rig.mr, soft_weak));
	const uint32_t headers = bth_op_header_bytes(bth_op_find(r->opcode), false);

	*seen = (struct seen){0};
	rig.n_sent = rig.done = 0;
	rig.hold = true;
	rvt_receive(rig.dev, 1, wire, headers, wire + headers, len - headers);
	rig_run();
	for (unsigned i = 0; i < rig.n_sent; i++)
		reply_note(seen, rig.sent[i]->bytes, rig.sent[i]->len);
	rig_leave();
	seen->n_wcs = drv_cq_poll(rig.cq, WCS, seen->wcs);
	seen->error = drv_qp_state(soft_qp) == IBV_QPS_ERR;
}

/* --- both begin anew --- */

static struct drv_rc_path path_of(unsigned lid, uint32_t qpn)
{
	struct drv_rc_path path = drv_rc_path_default(lid, qpn);

	path.path_mtu = (enum ibv_mtu)LOG_MTU_CODE;
	path.rq_psn = PSN_START;
	path.max_dest_rd_atomic = DEPTH;
	path.min_rnr_timer = RNR_CODE;
	return path;
}

static void receives_post(struct drv_qp *qp, struct drv_srq *srq, uint64_t va, uint32_t lkey)
{
	for (unsigned i = 0; i < RECEIVES; i++) {
		const struct drv_sge sge = {va + AREA_BYTES + i * 1024u, RECEIVE_BYTES, lkey};
		const struct drv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		rig_must(srq ? drv_post_srq_recv(srq, &wr, NULL) : drv_post_recv(qp, &wr, NULL));
	}
}

/* A queue pair of this input's kind, and its SRQ. What the last input had goes. */
static void qp_make(struct drv_pd *pd, struct drv_cq *cq, struct drv_qp **qp, struct drv_srq **srq)
{
	const struct drv_srq_init of_srq = {.max_wr = 8, .max_sge = 1};
	struct drv_qp_init init = {.type = unreliable ? IBV_QPT_UC : IBV_QPT_RC,
				   .send_cq = cq,
				   .recv_cq = cq,
				   .cap = {8, 8, 1, 1, 0}};

	if (*qp)
		rig_must(drv_qp_destroy(*qp));
	if (*srq)
		rig_must(drv_srq_destroy(*srq));
	*srq = NULL;
	if (shared) {
		rig_must(drv_srq_create(pd, &of_srq, srq));
		init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	}
	init.srq = *srq;
	rig_must(drv_qp_create(pd, &init, qp));
}

static void begin_hard(struct fuzz_rig *r, void *arg)
{
	struct tb_end *b = &r->tb.ends[1];
	const struct drv_rc_path path = path_of(b->peer->lid, peer_qpn);
	struct drv_wc wc;

	if (!hard_qp)
		rig_must(drv_mr_reg_iova(b->pd, b->dst, AREA_BYTES, tb_va(b, b->dst),
					 IBV_ACCESS_LOCAL_WRITE, &hard_weak));
	qp_make(b->pd, b->cq, &hard_qp, &hard_srq);
	rig_must(drv_qp_connect(hard_qp, &path));
	while (drv_cq_poll(b->cq, 1, &wc) > 0)
		;
	memset(b->dst, 0, 2 * AREA_BYTES);
	receives_post(hard_qp, hard_srq, tb_va(b, b->dst), drv_mr_lkey(b->mr));
}

static void make_soft(void)
{
	rig_start(NULL);
	rig_must(drv_mr_dereg(rig.mr));
	rig_must(drv_mr_reg_iova(rig.pd, rig.memory, 2 * AREA_BYTES, 0,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
				 &rig.mr));
	rig_must(drv_mr_reg_iova(rig.pd, rig.memory, AREA_BYTES, 0, IBV_ACCESS_LOCAL_WRITE,
				 &soft_weak));
}

static void begin_soft(void)
{
	const struct drv_rc_path path = path_of(RIG_PEER_LID, peer_qpn);
	struct drv_wc wc;

	if (!soft_qp)
		make_soft();
	qp_make(rig.pd, rig.cq, &soft_qp, &soft_srq);
	rig_must(drv_qp_connect(soft_qp, &path));
	while (drv_cq_poll(rig.cq, 1, &wc) > 0)
		;
	memset(rig.memory, 0, 2 * AREA_BYTES);
	receives_post(soft_qp, soft_srq, 0, drv_mr_lkey(rig.mr));
}

/* How many things are wrong with a request for memory. */
static unsigned errors_of(const struct request *r)
{
	const struct bth_op *op = bth_op_find(r->opcode);
	const bool atomic = bth_op_is(op, BTH_ATOMIC), write = bth_op_is(op, BTH_WRITE);
	const uint64_t bytes = atomic ? 8 : r->dma_len;

	if (!bth_op_is(op, BTH_START) || (!atomic && !write && !bth_op_is(op, BTH_READ)))
		return 0;
	return (r->key != KEY_RIGHT || r->offset + bytes > 2 * AREA_BYTES) +
	       (atomic && r->offset % 8) + (write && r->len > r->dma_len) +
	       (write && bth_op_is(op, BTH_ONLY) && r->len < r->dma_len) +
	       (write && !bth_op_is(op, BTH_ONLY) && r->len != MTU);
}

/* --- differences --- */

enum difference { SAME, REPLIES, COMPLETIONS, STATES, MEMORY };

static const char *const difference_names[] = {"none", "replies", "completions", "states",
					       "memory"};

/* A responder may acknowledge a request that does not ask for it (IBA 9.7.5.1.2). */
static void unasked_drop(struct seen *seen, const struct request *r)
{
	const struct reply *last = &seen->replies[seen->n - 1];

	if (!r->ack_req && seen->n && last->opcode == BTH_RC_ACKNOWLEDGE && !last->syndrome)
		seen->n--;
}

static enum difference compare(const struct seen *h, const struct seen *s, const uint8_t *memory)
{
	if (h->n != s->n || memcmp(h->replies, s->replies, h->n * sizeof(*h->replies)))
		return REPLIES;
	if (h->n_wcs != s->n_wcs)
		return COMPLETIONS;
	for (int i = 0; i < h->n_wcs; i++)
		if (h->wcs[i].wr_id != s->wcs[i].wr_id || h->wcs[i].status != s->wcs[i].status ||
		    (h->wcs[i].status == IBV_WC_SUCCESS &&
		     (h->wcs[i].byte_len != s->wcs[i].byte_len ||
		      h->wcs[i].opcode != s->wcs[i].opcode ||
		      h->wcs[i].imm_data != s->wcs[i].imm_data)))
			return COMPLETIONS;
	if (h->error != s->error)
		return STATES;
	return memcmp(memory, rig.memory, 2 * AREA_BYTES) ? MEMORY : SAME;
}

/*
 * D(name, when, what, "reason", "source"): an answer that may differ. `when` says of a request
 * whether it is such a one. A stream ends with it, because the two go different ways from there.
 */
#define DIFFERENCES(D)                                                                             \
	D(INVALIDATE, bth_op_is(bth_op_find(r->opcode), BTH_INV), REPLIES,                         \
	  "the transport in software has no SEND with invalidate, and calls it invalid",           \
	  "Linux sw/rdmavt has no IB_WR_SEND_WITH_INV for qib")                                    \
	D(RESPONSE, is_response(r), REPLIES,                                                       \
	  "a response that answers no request is the requester's matter, which drops it",          \
	  "IBA 9.9.2.4.2")                                                                         \
	D(TWO_ERRORS, errors_of(r) > 1, REPLIES,                                                   \
	  "of two errors in one request either may be found first",                                \
	  "IBA 9.7.4.1 gives the checks no order")

static const char *allowed(const struct request *r, enum difference what)
{
#define DIFFERENCE(name, when, what_, reason, source)                                              \
	if (what == (what_) && (when))                                                             \
		return reason;
	DIFFERENCES(DIFFERENCE)
#undef DIFFERENCE
	return NULL;
}

static void seen_print(const char *who, const struct seen *s)
{
	fprintf(stderr, "  %s: %s\n", who, s->error ? "error state" : "no error");
	for (unsigned i = 0; i < s->n; i++)
		fprintf(stderr,
			"    reply %s psn %06x syndrome %02x msn %u len %u content %" PRIx64 "\n",
			bth_op_find(s->replies[i].opcode)->name, s->replies[i].psn,
			s->replies[i].syndrome, s->replies[i].msn, s->replies[i].len,
			s->replies[i].content);
	for (int i = 0; i < s->n_wcs; i++)
		fprintf(stderr, "    completion of %u: status %d, opcode %d, %u bytes\n",
			(unsigned)s->wcs[i].wr_id, s->wcs[i].status, s->wcs[i].opcode,
			s->wcs[i].byte_len);
}

static struct request stream[STEPS_MAX];

/* The whole stream, so that a reader can follow it. */
static void complain(enum difference d, const struct seen *s, unsigned step)
{
	fprintf(stderr, "transport: %s differ after packet %" PRIu64 "; its stream of %s%s:\n",
		difference_names[d], packets, unreliable ? "UC" : "RC", shared ? ", SRQ" : "");
	for (unsigned i = 0; i <= step; i++) {
		const struct request *r = &stream[i];

		fprintf(stderr,
			"  %02x %s, psn %06x, %u bytes, dma length %u, offset %u, key %d, ack_req "
			"%d\n",
			r->opcode, bth_op_find(r->opcode)->name, r->psn, r->len, r->dma_len,
			(unsigned)r->offset, r->key, r->ack_req);
	}
	seen_print("engine", &hard_seen);
	seen_print("rvt", s);
}

static void sink_add(struct fuzz_rig *r)
{
	static const struct trace_sink_ops ops = {
		.name = "replies", .record = packet_out, .close = sink_end};

	rig_must(trace_sink_add(r->machine.trace, &ops, NULL, 0));
	hard_qp = NULL;
	hard_srq = NULL;
}

int fuzz_input(const uint8_t *data, size_t size)
{
	static struct fuzz_rig *known;
	struct fuzz_bytes b = {data, data + size};
	struct fuzz_rig *r = fuzz_rig_get();
	struct plan plan = {.psn = PSN_START};
	struct request last = {.opcode = BTH_RC_SEND_ONLY, .psn = PSN_START};

	if (r != known || r->inputs == 1) {
		known = r;
		peer_qpn = drv_qp_num(r->tb.ends[0].qp[1]);
		sink_add(r);
	}
	{
		const unsigned kind = (unsigned)fuzz_take(&b, 1);

		unreliable = kind & 1;
		shared = kind >> 1 & 1;
	}
	last.opcode = service_opcode(BTH_RC_SEND_ONLY);
	begin_soft();
	if (!fuzz_rig_call(r, begin_hard, NULL, CFG_S(1)))
		abort();
	for (unsigned step = 0; step < STEPS_MAX && fuzz_more(&b); step++) {
		const unsigned how = (unsigned)fuzz_take(&b, 1), by = (unsigned)fuzz_take(&b, 1);
		/* the last one again, or any one before it */
		struct request request = how % 16 == 9            ? last
					 : how % 16 == 10 && step ? stream[by % step]
								  : request_next(&plan, &b);
		enum difference d;
		struct seen soft;

		request_change(&request, how % 16, by);
		last = stream[step] = request;
		packets++;
		hard_give(r, &request);
		soft_give(&request, &soft);
		unasked_drop(&hard_seen, &request);
		unasked_drop(&soft, &request);
		d = compare(&hard_seen, &soft, r->tb.ends[1].dst);
		if (d == SAME && !soft.error)
			continue;
		if (d != SAME && !allowed(&request, d)) {
			complain(d, &soft, step);
			abort();
		}
		break;
	}
	return 0;
}
