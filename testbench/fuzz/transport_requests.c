/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of requests for two responders: requests that are right, that have one field changed, that
 * come twice or in a wrong order, of every opcode and message position; datagrams, too, with GRH and
 * to multicast groups. After each packet both must have shown the same. What may differ stands in a
 * table, with its reason.
 */
#include "model/engine/wire/psn.h"
#include "testbench/fuzz/transport.h"

enum {
	SEND_AND_WRITE = 4, /* requests that UC has, too: the first ones of a table */
	AFTER_ERROR = 3,    /* packets that a queue pair in the error state still gets */
};

static const struct pair_kind *kind;
static struct pair_packet stream[PAIR_STEPS_MAX];

/* RC's opcodes and UC's mean the same, and differ by this. */
static uint8_t service_opcode(uint8_t rc_opcode)
{
	return (uint8_t)(rc_opcode +
			 (kind->type == IBV_QPT_UC ? BTH_UC_SEND_FIRST - BTH_RC_SEND_FIRST : 0));
}

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
	return single[choice % (kind->type == IBV_QPT_RC ? sizeof(single) / sizeof(*single)
							 : SEND_AND_WRITE)];
}

static uint32_t length_next(const struct bth_op *op, struct fuzz_bytes *b)
{
	const uint32_t some = (uint32_t)fuzz_take(b, 1) % PAIR_MTU + 1;

	if (!bth_op_is(op, BTH_PAYLOAD))
		return 0;
	if (bth_op_is(op, BTH_ONLY) || bth_op_is(op, BTH_LAST))
		return some;
	return PAIR_MTU;
}

/* A right request, from the plan. */
static struct pair_packet request_next(struct plan *plan, struct fuzz_bytes *b)
{
	struct pair_packet r = {.opcode = service_opcode(opcode_next(plan, b)),
				.pkey = PKEY_DEFAULT,
				.ack_req = kind->type == IBV_QPT_RC};
	const struct bth_op *op = bth_op_find(r.opcode);

	r.psn = plan->psn;
	r.len = length_next(op, b);
	r.offset = fuzz_take(b, 1) * 8;
	r.imm = (uint32_t)fuzz_take(b, 1);
	r.dma_len = r.opcode == BTH_RC_READ_REQUEST ? (uint32_t)fuzz_take(b, 1) * 4
		    : bth_op_is(op, BTH_ONLY)       ? r.len
						    : PAIR_MTU * plan->left + 1;
	r.swap_add = fuzz_take(b, 1);
	r.compare = 0;
	plan->psn = psn_add(plan->psn, r.opcode == BTH_RC_READ_REQUEST && r.dma_len
					       ? (r.dma_len - 1) / PAIR_MTU + 1
					       : 1);
	return r;
}

static struct pair_packet datagram_next(struct plan *plan, struct fuzz_bytes *b)
{
	const unsigned choice = (unsigned)fuzz_take(b, 1);
	struct pair_packet r = {
		.opcode = choice & 1 ? BTH_UD_SEND_ONLY_IMM : BTH_UD_SEND_ONLY,
		.pkey = PKEY_DEFAULT,
		.qkey = PAIR_QKEY,
		.solicited = choice >> 1 & 1,
		.grh = choice >> 2 & 1   ? GRH_RIGHT
		       : choice >> 3 & 1 ? GRH_GROUP
					 : GRH_NONE,
		.psn = plan->psn,
		.len = (uint32_t)fuzz_take(b, 2) % 700,
		.imm = (uint32_t)fuzz_take(b, 1),
	};

	plan->psn = psn_add(plan->psn, 1);
	return r;
}

/* --- one field of it is changed --- */

static void request_change(struct pair_packet *r, unsigned how, unsigned by)
{
	static const uint16_t pkeys[] = {0x7fff, 0x8001, 0, 0x8000};

	switch (how) {
	case 1:
		r->psn = psn_add(r->psn, 1 + by % 4);
		break;
	case 2:
		r->psn = (r->psn - 1 - by % 6) & PSN_MASK;
		break;
	case 3:
		r->key = by & 1 ? KEY_WRONG : KEY_WITHOUT_RIGHTS;
		r->qkey ^= 1u << by % 32;
		break;
	case 4:
		r->len = by * 2 % (PAIR_MTU + 8);
		break;
	case 5:
		r->opcode = kind->type == IBV_QPT_UD ? (uint8_t)by : service_opcode(by & 0x1f);
		break;
	case 6:
		r->offset = by & 1 ? PAIR_AREA - 8 + by % 16 : r->offset + by % 8;
		break;
	case 7:
		r->dma_len = by & 1 ? r->dma_len + 1 : UINT32_C(1) << (by % 32);
		break;
	case 8:
		r->ack_req = false;
		break;
	case 11:
		r->pkey = pkeys[by % 4];
		break;
	case 12:
		/* the window's far ends: half of all numbers are behind the expected one */
		r->psn = (r->psn + (1u << 23) - 2 + by % 4) & PSN_MASK;
		break;
	case 13:
		r->grh = kind->type == IBV_QPT_UD ? (by % 4 ? by % 4 + 1 : GRH_NONE) : GRH_RIGHT;
		break;
	case 14:
		r->solicited = true;
		break;
	default:
		break;
	}
}

/* --- differences --- */

/* How many things are wrong with a request for memory. */
static unsigned errors_of(const struct pair_packet *r)
{
	const bool atomic = pair_is(r, BTH_ATOMIC), write = pair_is(r, BTH_WRITE);
	const uint64_t bytes = atomic ? 8 : r->dma_len;

	if (!pair_is(r, BTH_START) || (!atomic && !write && !pair_is(r, BTH_READ)))
		return 0;
	return (r->key != KEY_RIGHT || r->offset + bytes > PAIR_MEMORY) +
	       (atomic && r->offset % 8) + (write && r->len > r->dma_len) +
	       (write && pair_is(r, BTH_ONLY) && r->len < r->dma_len) +
	       (write && !pair_is(r, BTH_ONLY) && r->len != PAIR_MTU);
}

/* A responder may acknowledge a request that does not ask for it (IBA 9.7.5.1.2). */
void transport_requests_unasked(struct pair_seen *seen, const struct pair_packet *r)
{
	const struct pair_out *last = seen->n ? &seen->out[seen->n - 1] : NULL;

	if (!r->ack_req && last && last->opcode == BTH_RC_ACKNOWLEDGE && !last->syndrome)
		seen->n--;
}

/*
 * D(name, when, what, "reason", "source"): what may differ. `when` says of a request whether it is
 * such a one. A stream ends with it, because the two go different ways from there.
 */
#define DIFFERENCES(D)                                                                             \
	D(INVALIDATE, pair_is(r, BTH_INV), PACKETS,                                                \
	  "the transport in software has no SEND with invalidate, and calls it invalid",           \
	  "Linux sw/rdmavt has no IB_WR_SEND_WITH_INV for qib")                                    \
	D(RESPONSE, pair_is(r, BTH_RESPONSE), PACKETS,                                             \
	  "a response that answers no request is the requester's matter, which drops it",          \
	  "Linux qib_rc_rcv_resp() leaves what it does not wait for; IBA 9.7.6 (assumption)")      \
	D(TWO_ERRORS, errors_of(r) > 1, PACKETS,                                                   \
	  "of two errors in one request either may be found first",                                \
	  "IBA 9.7.4.1 gives the checks no order (assumption)")

const char *transport_requests_allowed(const struct pair_packet *r, enum difference what)
{
#define DIFFERENCE(name, when, what_, reason, source)                                              \
	if (what == (what_) && (when))                                                             \
		return reason;
	DIFFERENCES(DIFFERENCE)
#undef DIFFERENCE
	return NULL;
}

/* The whole stream, so that a reader can follow it. */
static void complain(enum difference difference, unsigned step)
{
	for (unsigned i = 0; i <= step; i++) {
		const struct pair_packet *r = &stream[i];

		fprintf(stderr,
			"  %02x %s, psn %06x, %u bytes, dma length %u, offset %u, key %d, ack_req "
			"%d, pkey %04x, qkey %x, grh %d\n",
			r->opcode, bth_op_find(r->opcode)->name, r->psn, r->len, r->dma_len,
			(unsigned)r->offset, r->key, r->ack_req, r->pkey, r->qkey, r->grh);
	}
	pair_complain(difference);
}

unsigned transport_requests_make(const struct pair_kind *of, struct fuzz_bytes *b,
				 struct pair_packet *requests)
{
	struct plan plan = {.psn = PAIR_PSN};
	struct pair_packet last = {.pkey = PKEY_DEFAULT, .psn = PAIR_PSN, .qkey = PAIR_QKEY};
	unsigned n = 0;

	kind = of;
	last.opcode =
		kind->type == IBV_QPT_UD ? BTH_UD_SEND_ONLY : service_opcode(BTH_RC_SEND_ONLY);
	for (; n < PAIR_STEPS_MAX && fuzz_more(b); n++) {
		const unsigned how = (unsigned)fuzz_take(b, 1), by = (unsigned)fuzz_take(b, 1);
		/* the last one again, or any one before it */
		struct pair_packet request = how % 16 == 9              ? last
					     : how % 16 == 10 && n      ? requests[by % n]
					     : kind->type == IBV_QPT_UD ? datagram_next(&plan, b)
									: request_next(&plan, b);

		request_change(&request, how % 16, by);
		last = requests[n] = request;
	}
	return n;
}

void transport_requests(struct fuzz_rig *rig, const struct pair_kind *of, struct fuzz_bytes *b)
{
	const unsigned n = transport_requests_make(of, b, stream);
	unsigned after_error = 0;

	pair_begin(rig, kind);
	for (unsigned step = 0; step < n; step++) {
		const struct pair_packet *request = &stream[step];
		enum difference d;

		pair_give(request);
		transport_requests_unasked(&pair_seen[HARD], request);
		transport_requests_unasked(&pair_seen[SOFT], request);
		d = pair_compare();
		if (d != SAME && !transport_requests_allowed(request, d))
			complain(d, step);
		if (d != SAME ||
		    (pair_seen[HARD].state == IBV_QPS_ERR && after_error++ == AFTER_ERROR))
			break;
	}
}
