/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream for two requesters: requests to post, and the answers of a responder that is played here.
 * Answers are right, have one field changed, come twice, in a wrong order or not at all; time passes,
 * so that ACK timeouts and RNR waits end; the state of the queue pair is changed. After each step both
 * must have sent the same packets and made the same completions. What may differ stands in a table,
 * with its reason.
 */
#include "model/engine/wire/psn.h"
#include "testbench/fuzz/transport.h"

enum {
	OPEN_MAX = 14,     /* requests that are posted and not answered */
	MESSAGE_MAX = 900, /* bytes */
	RNR_FIRST = 18,    /* timers from 5 to 123 ms: they end in a wait only */
	RNR_CODES = 10,
	PSN_HALF = 1 << 23,
	/* what is done to an answer: 1 to 13 change a field of it */
	ANSWER_RIGHT = 14, /* nothing */
	ANSWER_AGAIN = 19, /* it is the last one once more */
	ANSWER_WAYS = 24,
	/* a step's first byte: of which kind it is */
	MODIFY_FIRST = 0xf0,
	MODIFY_ERR = 0xf4,
};

/* A request as the responder knows it. */
struct asked {
	enum ibv_wr_opcode opcode;
	uint32_t first, last, len;
};

/* The responder that is played: what it has been asked, and what it has answered. */
static struct script {
	struct asked asked[PAIR_STEPS_MAX];
	unsigned n, answered;
	uint32_t next_psn; /* of the next request */
	uint32_t sent_psn; /* after the last packet that has come from the requester */
	uint32_t una;      /* the oldest PSN that is not answered */
	bool anew;         /* a READ has been asked for again from `una` on */
	bool credits;      /* it gives credits in all its ACKs, or in none (IBA 9.7.7.2.1) */
} script;

enum step_kind { STEP_POST, STEP_ANSWER, STEP_WAIT, STEP_MODIFY };

static struct step {
	enum step_kind kind;
	struct pair_request request;
	struct pair_packet answer;
	enum ibv_qp_state state;
} stream[PAIR_STEPS_MAX];

static const struct pair_kind *kind;

static bool is_fetch(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static uint32_t packets_of(uint32_t bytes)
{
	return bytes ? (bytes - 1) / PAIR_MTU + 1 : 1;
}

/* --- requests --- */

static struct pair_request request_next(struct fuzz_bytes *b)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_RDMA_READ,
	};
	const unsigned choice = (unsigned)fuzz_take(b, 1), how = (unsigned)fuzz_take(b, 1);
	struct pair_request r = {
		.opcode = opcodes[choice % 8],
		.len = (uint32_t)fuzz_take(b, 2) % MESSAGE_MAX,
		.offset = PAIR_ZEROED + choice / 8 * 64,
		.imm = script.n,
		.swap_add = choice,
		.compare = how,
		.key = how % 32 == 31 ? KEY_WRONG : KEY_RIGHT,
	};

	if (kind->type == IBV_QPT_UD)
		r.opcode = choice & 1 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
	else if (kind->type == IBV_QPT_UC && is_fetch(r.opcode))
		r.opcode = IBV_WR_RDMA_WRITE;
	if (is_fetch(r.opcode) && r.opcode != IBV_WR_RDMA_READ)
		r.len = 8;
	r.flags = (how & 1 ? (unsigned)IBV_SEND_SOLICITED : 0) |
		  (how >> 1 & 1 ? (unsigned)IBV_SEND_FENCE : 0);
	return r;
}

static void post(const struct pair_request *r)
{
	struct asked *asked = &script.asked[script.n];

	pair_post(r);
	if (pair_seen[HARD].rc)
		return;
	*asked = (struct asked){.opcode = r->opcode, .first = script.next_psn, .len = r->len};
	asked->last = psn_add(asked->first, packets_of(r->len) - 1);
	script.next_psn = psn_add(asked->last, 1);
	script.n++;
}

/* --- answers --- */

static struct asked *asked_at(uint32_t psn)
{
	for (unsigned i = script.answered; i < script.n; i++)
		if (psn_diff(psn, script.asked[i].first) >= 0 &&
		    psn_diff(psn, script.asked[i].last) <= 0)
			return &script.asked[i];
	return NULL;
}

/* Messages that end at or before this PSN. */
static uint32_t messages_to(uint32_t psn)
{
	uint32_t n = 0;

	while (n < script.n && psn_diff(script.asked[n].last, psn) <= 0)
		n++;
	return n;
}

static uint8_t read_opcode(bool first, bool last)
{
	return first && last ? BTH_RC_READ_RESP_ONLY
	       : first       ? BTH_RC_READ_RESP_FIRST
	       : last        ? BTH_RC_READ_RESP_LAST
			     : BTH_RC_READ_RESP_MIDDLE;
}

static void read_answer(struct pair_packet *p, const struct asked *asked)
{
	const uint32_t left = asked->len - (uint32_t)psn_diff(p->psn, asked->first) * PAIR_MTU;

	p->opcode = read_opcode(p->psn == asked->first || script.anew, left <= PAIR_MTU);
	p->len = left < PAIR_MTU ? left : PAIR_MTU;
	script.anew = false;
}

/* An ACK of one or more packets, up to the next READ or atomic. */
static void plain_answer(struct pair_packet *p, unsigned further)
{
	uint32_t n = 1;

	while (n < 1 + further % 8 && psn_diff(psn_add(script.una, n), script.sent_psn) < 0 &&
	       asked_at(psn_add(script.una, n)) &&
	       !is_fetch(asked_at(psn_add(script.una, n))->opcode))
		n++;
	p->psn = psn_add(script.una, n - 1);
}

static uint8_t ack_syndrome(unsigned code)
{
	return aeth_syndrome(AETH_ACK,
			     script.credits ? code % AETH_CREDIT_NONE : (uint32_t)AETH_CREDIT_NONE);
}

/* The right answer to the oldest packet; an ACK once more, when everything is answered. */
static struct pair_packet answer_next(struct fuzz_bytes *b)
{
	const unsigned further = (unsigned)fuzz_take(b, 1), code = (unsigned)fuzz_take(b, 1) % 8;
	const struct asked *asked = asked_at(script.una);
	struct pair_packet p = {.opcode = BTH_RC_ACKNOWLEDGE,
				.pkey = PKEY_DEFAULT,
				.compare = UINT64_C(0x0102030405060708) * (further + 1),
				.psn = script.una};

	if (!asked || psn_diff(script.una, script.sent_psn) >= 0)
		p.psn = (script.una - 1) & PSN_MASK;
	else if (asked->opcode == IBV_WR_RDMA_READ)
		read_answer(&p, asked);
	else if (is_fetch(asked->opcode))
		p.opcode = BTH_RC_ATOMIC_ACKNOWLEDGE;
	else
		plain_answer(&p, further);
	p.syndrome = ack_syndrome(code);
	p.msn = messages_to(p.psn);
	return p;
}

/* One field of it is changed. */
static void answer_change(struct pair_packet *p, unsigned how, unsigned by)
{
	switch (how) {
	case 1:
		p->psn = psn_add(p->psn, 1 + by % 4);
		break;
	case 2:
		p->psn = (p->psn - 1 - by % 6) & PSN_MASK;
		break;
	case 3:
		p->psn = (p->psn + PSN_HALF - 2 + by % 4) & PSN_MASK;
		break;
	case 4:
		p->opcode = BTH_RC_ACKNOWLEDGE;
		p->len = 0;
		p->syndrome = aeth_syndrome(AETH_NAK, by % 6);
		break;
	case 5:
		p->opcode = BTH_RC_ACKNOWLEDGE;
		p->len = 0;
		p->syndrome = aeth_syndrome(AETH_RNR_NAK, RNR_FIRST + by % RNR_CODES);
		break;
	case 6:
		p->opcode = (uint8_t)(BTH_RC_READ_RESP_FIRST + by % 6);
		break;
	case 7:
		p->len = by * 2 % (PAIR_MTU + 8);
		break;
	case 8:
		p->syndrome = ack_syndrome(by);
		break;
	case 9:
		p->msn = by & 1 ? p->msn + by / 2 : p->msn - by / 2;
		break;
	case 10:
		p->syndrome = aeth_syndrome(AETH_RESERVED, by);
		break;
	case 11:
		p->pkey = by & 1 ? 0x7fff : 0x8001;
		break;
	case 12:
		p->opcode = BTH_RC_ACKNOWLEDGE;
		p->len = 0;
		p->psn = psn_add(p->psn, by % 8);
		break;
	case 13:
		/* in READ responses, too */
		p->syndrome = aeth_syndrome_kind(by) == AETH_ACK ? ack_syndrome(by)
			      : aeth_syndrome_kind(by) == AETH_RNR_NAK
				      ? aeth_syndrome(AETH_RNR_NAK, RNR_FIRST + by % RNR_CODES)
				      : (uint8_t)by;
		break;
	default:
		break;
	}
}

/* The answer was a right one: the next is of what follows. */
static void answered(const struct pair_packet *p)
{
	if (psn_diff(p->psn, script.una) >= 0)
		script.una = psn_add(p->psn, 1);
	while (script.answered < script.n &&
	       psn_diff(script.asked[script.answered].last, script.una) < 0)
		script.answered++;
}

/* What the requester has sent in the last step. */
static void sent_note(void)
{
	for (unsigned i = 0; i < pair_seen[HARD].n; i++) {
		const struct pair_out *out = &pair_seen[HARD].out[i];
		const bool read = out->opcode == BTH_RC_READ_REQUEST;
		const uint32_t end = psn_add(out->psn, read ? packets_of(out->dma_len) : 1);

		if (bth_op_is(bth_op_find(out->opcode), BTH_RESPONSE))
			continue;
		if (psn_diff(end, script.sent_psn) > 0)
			script.sent_psn = end;
		script.anew |= read && out->psn == script.una;
	}
}

/* --- differences --- */

/* In SQD the engine has sent a message from its first packet on, and the software has not. */
static bool begins_in_sqd(void)
{
	const struct pair_seen *h = &pair_seen[HARD], *s = &pair_seen[SOFT];

	return h->state == IBV_QPS_SQD && h->n > s->n &&
	       !memcmp(h->out, s->out, s->n * sizeof(*s->out)) &&
	       bth_op_is(bth_op_find(h->out[s->n].opcode), BTH_START);
}

/* In SQD the software is drained, and the engine holds a request that waits for a credit. */
static bool drained_before(void)
{
	const struct pair_seen *h = &pair_seen[HARD], *s = &pair_seen[SOFT];

	return s->n_events == h->n_events + 1 && s->events[h->n_events] == IBV_EVENT_SQ_DRAINED &&
	       script.answered < script.n;
}

/* In SQD the memory of a request cannot be read; the software has not come to it. */
static bool fails_in_sqd(void)
{
	return pair_seen[SOFT].state == IBV_QPS_SQD && pair_seen[HARD].state == IBV_QPS_ERR;
}

/* D(name, when, what, "reason", "source"), as in transport_requests.c. */
#define DIFFERENCES(D)                                                                             \
	D(BEGUN, begins_in_sqd(), PACKETS,                                                         \
	  "a request that waits for a credit has begun for the engine, which has read it; for "    \
	  "the software it begins with its first packet",                                          \
	  "IBA 10.3.1.5: requests begun before SQD are finished; it does not say what begins one") \
	D(BEGUN_WRONG, fails_in_sqd(), COMPLETIONS,                                                \
	  "as above: the engine has looked at the memory of a request that waits for a credit",    \
	  "IBA 10.3.1.5")                                                                          \
	D(DRAINED, drained_before(), EVENTS, "as above: nothing has begun, so all is done",        \
	  "IBA 10.3.1.5")                                                                          \
	D(RESET_TO_ERR, s->kind == STEP_MODIFY && kind->state == IBV_QPS_RESET, RETURNS,           \
	  "the transport in software has the verbs layer's table of states in itself; over mlx4 "  \
	  "the layer above has it, and the device takes 2ERR_QP in every state",                   \
	  "IBA 10.3.1 lets every state go to Error, Linux ib_modify_qp_is_ok() all but RESET")

static const char *allowed(const struct step *s, enum difference what)
{
#define DIFFERENCE(name, when, what_, reason, source)                                              \
	if (what == (what_) && (when))                                                             \
		return reason;
	DIFFERENCES(DIFFERENCE)
#undef DIFFERENCE
	return NULL;
}

static void complain(enum difference difference, unsigned step)
{
	for (unsigned i = 0; i <= step; i++) {
		const struct step *s = &stream[i];

		switch (s->kind) {
		case STEP_POST:
			fprintf(stderr, "  post opcode %d, %u bytes, flags %x, key %d, id %u\n",
				s->request.opcode, s->request.len, s->request.flags, s->request.key,
				s->request.imm);
			break;
		case STEP_ANSWER:
			fprintf(stderr,
				"  %s, psn %06x, syndrome %02x, msn %u, %u bytes, pkey %04x\n",
				bth_op_find(s->answer.opcode)->name, s->answer.psn,
				s->answer.syndrome, s->answer.msn, s->answer.len, s->answer.pkey);
			break;
		case STEP_WAIT:
			fprintf(stderr, "  wait\n");
			break;
		case STEP_MODIFY:
			fprintf(stderr, "  to state %d\n", s->state);
			break;
		}
	}
	pair_complain(difference);
}

/* --- a stream --- */

static enum step_kind kind_next(unsigned byte)
{
	static const enum step_kind kinds[] = {STEP_POST, STEP_POST,   STEP_POST,   STEP_ANSWER,
					       STEP_WAIT, STEP_ANSWER, STEP_ANSWER, STEP_ANSWER};

	const bool full = script.n - script.answered >= OPEN_MAX, rc = kind->type == IBV_QPT_RC;
	const enum step_kind step = kinds[byte % 8];

	/* not 0 and 0xff, which random inputs have most */
	if (byte >= MODIFY_FIRST && byte <= MODIFY_ERR)
		return STEP_MODIFY;
	if (step == STEP_WAIT || (step == STEP_ANSWER && rc))
		return step;
	return !full ? STEP_POST : rc ? STEP_ANSWER : STEP_WAIT;
}

static enum ibv_qp_state state_next(unsigned byte)
{
	const enum ibv_qp_state now = pair_seen[HARD].state;

	if (byte == MODIFY_ERR)
		return IBV_QPS_ERR;
	return now == IBV_QPS_RTS ? IBV_QPS_SQD : IBV_QPS_RTS;
}

static void step_make(struct step *s, const struct step *last, struct fuzz_bytes *b)
{
	const unsigned byte = (unsigned)fuzz_take(b, 1),
		       how = (unsigned)fuzz_take(b, 1) % ANSWER_WAYS,
		       by = (unsigned)fuzz_take(b, 1);

	*s = (struct step){.kind = kind_next(byte)};
	switch (s->kind) {
	case STEP_POST:
		s->request = request_next(b);
		post(&s->request);
		break;
	case STEP_ANSWER:
		if (how >= ANSWER_AGAIN && last) {
			s->answer = last->answer;
		} else {
			s->answer = answer_next(b);
			answer_change(&s->answer, how, by);
		}
		pair_give(&s->answer);
		if (!how || (how >= ANSWER_RIGHT && how < ANSWER_AGAIN))
			answered(&s->answer);
		break;
	case STEP_WAIT:
		pair_wait();
		break;
	case STEP_MODIFY:
		s->state = state_next(byte);
		pair_modify(s->state);
		break;
	}
	sent_note();
}

void transport_answers(struct fuzz_rig *rig, const struct pair_kind *of, struct fuzz_bytes *b)
{
	const struct step *last = NULL;

	kind = of;
	script = (struct script){.next_psn = PAIR_PSN,
				 .sent_psn = PAIR_PSN,
				 .una = PAIR_PSN,
				 .credits = fuzz_take(b, 1) & 1};
	pair_begin(rig, kind);
	for (unsigned i = 0; i < PAIR_STEPS_MAX && fuzz_more(b); i++) {
		enum difference d;

		step_make(&stream[i], last, b);
		if (stream[i].kind == STEP_ANSWER)
			last = &stream[i];
		d = pair_compare();
		if (d != SAME && !allowed(&stream[i], d))
			complain(d, i);
		if (d != SAME || pair_seen[HARD].state == IBV_QPS_ERR)
			break;
	}
}
