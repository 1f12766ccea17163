/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A third opinion on requests: what Linux' ib_qib answered to them.
 *
 *   opinion FILE...             gives the requests of a recording to the responders of engine and
 *                               software, and compares what they do with what was recorded
 *   opinion --requests N SEED   prints N streams of requests, for a new recording
 *   opinion --translate         for the recorder: lines to bytes and back, see below
 *
 * A recording is text (transport_opinion.txt). '#' begins a comment. A stream is a queue pair that
 * begins anew, and what was done with it:
 *
 *   stream TYPE [srq] STATE     RC, UC or UD; the state in which it begins, a number of enum ibv_qp_state
 *   give OPCODE NAME VALUE...   a request came: fields of struct pair_packet that are not usual
 *   sent OPCODE NAME VALUE...   a packet went out: fields of struct pair_out
 *   done NAME VALUE...          a completion: fields of a work completion
 *   then STATE CRC              the state after the request, and the CRC-32 of the memory
 *
 * The recorder (vm/opinion.py) asks by lines: "target LID PEER_LID QPN RKEY WEAK_RKEY VA GID" says
 * where packets go to; a line "give ..." is answered with the packet in hexadecimal, from LRH to pad,
 * and "out HEX" with a line "sent ...".
 */
#include "model/engine/wire/crc.h"
#include "model/interface/macros.h"
#include "testbench/fuzz/transport.h"
#include "testbench/os/hex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_CHARS = 2 * PAIR_WIRE_MAX, INPUT_BYTES = 90 };

/* --- lines --- */

/* F(name, member, form). A field that a line leaves out is 0, or what the usual request has. */
#define GIVE_FIELDS(F)                                                                             \
	F("psn", psn, "0x%" PRIx64)                                                                \
	F("len", len, "%" PRIu64)                                                                  \
	F("ack", ack_req, "%" PRIu64)                                                              \
	F("solicited", solicited, "%" PRIu64)                                                      \
	F("key", key, "%" PRIu64)                                                                  \
	F("offset", offset, "%" PRIu64)                                                            \
	F("dma", dma_len, "%" PRIu64)                                                              \
	F("imm", imm, "%" PRIu64)                                                                  \
	F("swap", swap_add, "%" PRIu64)                                                            \
	F("compare", compare, "%" PRIu64)                                                          \
	F("pkey", pkey, "0x%" PRIx64)                                                              \
	F("qkey", qkey, "0x%" PRIx64)                                                              \
	F("grh", grh, "%" PRIu64)

#define SENT_FIELDS(F)                                                                             \
	F("psn", psn, "0x%" PRIx64)                                                                \
	F("syndrome", syndrome, "0x%" PRIx64)                                                      \
	F("msn", msn, "%" PRIu64)                                                                  \
	F("len", len, "%" PRIu64)                                                                  \
	F("content", content, "0x%" PRIx64)

#define DONE_FIELDS(F)                                                                             \
	F("id", wr_id, "%" PRIu64)                                                                 \
	F("status", status, "%" PRIu64)                                                            \
	F("opcode", opcode, "%" PRIu64)                                                            \
	F("bytes", byte_len, "%" PRIu64)                                                           \
	F("flags", wc_flags, "%" PRIu64)                                                           \
	F("imm", imm_data, "%" PRIu64)

#define NAMED(name, member, form)                                                                  \
	if (!strcmp(word, name)) {                                                                 \
		to->member = (__typeof__(to->member))value;                                        \
		return true;                                                                       \
	}

static bool give_set(struct pair_packet *to, const char *word, uint64_t value)
{
	GIVE_FIELDS(NAMED)
	return false;
}

static bool sent_set(struct pair_out *to, const char *word, uint64_t value)
{
	SENT_FIELDS(NAMED)
	return false;
}

static bool done_set(struct drv_wc *to, const char *word, uint64_t value)
{
	DONE_FIELDS(NAMED)
	return false;
}

#define TOLD(name, member, form)                                                                   \
	if (from->member != usual->member)                                                         \
		printf(" " name " " form, (uint64_t)from->member);

static const struct pair_packet usual_request = {.pkey = PKEY_DEFAULT, .qkey = PAIR_QKEY};

static void give_print(const struct pair_packet *from)
{
	const struct pair_packet *usual = &usual_request;
	const char *name = bth_op_find(from->opcode)->name;

	if (name)
		printf("give %s", name);
	else
		printf("give 0x%02x", from->opcode);
	GIVE_FIELDS(TOLD)
	printf("\n");
}

static void sent_print(const struct pair_out *from)
{
	static const struct pair_out none, *usual = &none;

	printf("sent %s", bth_op_find(from->opcode)->name);
	SENT_FIELDS(TOLD)
	printf("\n");
}

/* Where a line is, for messages. */
struct place {
	const char *path;
	unsigned line;
};

static void __attribute__((noreturn)) wrong(const struct place *at, const char *what)
{
	fprintf(stderr, "%s:%u: expected %s\n", at->path, at->line, what);
	exit(2);
}

static uint64_t number(const struct place *at, const char *word)
{
	char *end;
	uint64_t v;

	if (!word)
		wrong(at, "a number");
	v = strtoull(word, &end, 0);
	if (end == word || *end)
		wrong(at, "a number");
	return v;
}

static uint8_t opcode(const struct place *at, const char *word)
{
	for (unsigned i = 0; word && i < ARRAY_SIZE(bth_ops); i++)
		if (bth_ops[i].name && !strcmp(bth_ops[i].name, word))
			return (uint8_t)i;
	return (uint8_t)number(at, word);
}

/* The words after the first, which are names and values; `set` is one of those above. */
#define FIELDS(at, rest, to, set)                                                                  \
	for (const char *name_; (name_ = strtok_r(NULL, " \n", rest));)                            \
		if (!set(to, name_, number(at, strtok_r(NULL, " \n", rest))))                      \
	wrong(at, "the name of a field")

static struct pair_packet give_read(const struct place *at, char **rest)
{
	struct pair_packet p = usual_request;

	p.opcode = opcode(at, strtok_r(NULL, " \n", rest));
	FIELDS(at, rest, &p, give_set);
	return p;
}

static void sent_read(const struct place *at, char **rest, struct pair_seen *seen)
{
	struct pair_out *out = &seen->out[seen->n++];

	if (seen->n == PAIR_PACKETS_MAX)
		wrong(at, "fewer packets");
	*out = (struct pair_out){.opcode = opcode(at, strtok_r(NULL, " \n", rest))};
	FIELDS(at, rest, out, sent_set);
}

static void done_read(const struct place *at, char **rest, struct pair_seen *seen)
{
	if (seen->n_wcs == PAIR_WCS)
		wrong(at, "fewer completions");
	FIELDS(at, rest, &seen->wcs[seen->n_wcs], done_set);
	seen->n_wcs++;
}

/* --- what may differ --- */

static struct pair_kind kind;

/* One of ours and ib_qib after the same request. */
struct met {
	enum pair_side side;
	const struct pair_packet *request;
	const struct pair_seen *ours, *theirs;
};

/* Whether all that was sent is one NAK of that code. */
static bool is_nak(const struct pair_seen *seen, unsigned code)
{
	return seen->n == 1 && seen->out[0].opcode == BTH_RC_ACKNOWLEDGE &&
	       seen->out[0].syndrome == aeth_syndrome(AETH_NAK, code);
}

static bool is_fatal_nak(const struct pair_seen *seen)
{
	return is_nak(seen, NAK_INVALID_REQ) || is_nak(seen, NAK_REM_ACCESS) ||
	       is_nak(seen, NAK_REM_OP);
}

static bool is_ack(const struct pair_seen *seen)
{
	return seen->n == 1 && seen->out[0].opcode == BTH_RC_ACKNOWLEDGE && !seen->out[0].syndrome;
}

/* Both are in ERR, and the same receives have ended with errors; the statuses may be others. */
static bool both_failed(const struct met *m)
{
	if (m->ours->state != IBV_QPS_ERR || m->theirs->state != IBV_QPS_ERR ||
	    m->ours->n_wcs != m->theirs->n_wcs)
		return false;
	for (int i = 0; i < m->ours->n_wcs; i++)
		if (m->ours->wcs[i].wr_id != m->theirs->wcs[i].wr_id ||
		    !m->ours->wcs[i].status != !m->theirs->wcs[i].status)
			return false;
	return true;
}

/* The payload is not one that the opcode may have. */
static bool payload_is_wrong(const struct pair_packet *r)
{
	const bool last = pair_is(r, BTH_LAST), only = pair_is(r, BTH_ONLY);

	return last || only ? r->len > PAIR_MTU || (last && !r->len) : r->len != PAIR_MTU;
}

static bool is_refused(const struct met *m)
{
	return m->ours->state == IBV_QPS_ERR && is_nak(m->ours, NAK_INVALID_REQ) &&
	       m->theirs->state != IBV_QPS_ERR;
}

static bool immediate_counts(const struct met *m)
{
	return kind.type == IBV_QPT_UD && pair_is(m->request, BTH_IMM) && m->ours->n_wcs == 1 &&
	       m->theirs->n_wcs == 1 &&
	       m->theirs->wcs[0].byte_len == m->ours->wcs[0].byte_len + sizeof(struct immdt);
}

/*
 * D(name, when, what, "reason", "source"): what may differ, `m` is a struct met. A row that no request
 * of the recording needs is an error, so none stands here for nothing.
 */
#define DIFFERENCES(D)                                                                             \
	D(NO_NAK, both_failed(m) && is_fatal_nak(m->ours) && !m->theirs->n, PACKETS,               \
	  "ib_qib puts the queue pair into ERR before it sends the NAK, and in ERR it sends none", \
	  "Linux qib_rc.c nack_inv and nack_acc, qib_send_rc_ack(); IBA 9.7.5.2.2 wants the NAK")  \
	D(WRITE_SHORT, is_refused(m) && pair_is(m->request, BTH_WRITE), PACKETS,                   \
	  "ib_qib takes a WRITE that ends before its DMA length",                                  \
	  "Linux qib_rc.c send_last: looks for more bytes only; IBA 9.7.4.1.6")                    \
	D(PAYLOAD, is_refused(m) && payload_is_wrong(m->request), PACKETS,                         \
	  "ib_qib does not look whether a last packet is empty, a middle one is padded, or an "    \
	  "only or last one is longer than the MTU",                                               \
	  "Linux qib_rc.c send_last, with a note that it should; IBA 9.7.4.1.6")                   \
	D(ACK_BEFORE,                                                                              \
	  is_ack(m->ours) && is_ack(m->theirs) && m->ours->out[0].msn == m->theirs->out[0].msn,    \
	  PACKETS,                                                                                 \
	  "the ACK of a duplicate may name any PSN up to the last one; ib_qib names the one "      \
	  "before the next READ or atomic",                                                        \
	  "Linux qib_rc_rcv_error(), for a requester of Mellanox; IBA 9.7.5.1.2")                  \
	D(READ_OF_LESS, m->side == HARD && m->request->opcode == BTH_RC_READ_REQUEST, PACKETS,     \
	  "ib_qib leaves a duplicate READ that does not end where the first one ended without an " \
	  "answer; the engine answers what lies within the first one, as rxe does",                \
	  "Linux qib_rc_rcv_error(), rxe duplicate_request()")                                     \
	D(NAK_AGAIN, is_nak(m->theirs, NAK_PSN_SEQUENCE) && !m->ours->n, PACKETS,                  \
	  "a duplicate lets ib_qib forget that it has sent a NAK for the gap",                     \
	  "Linux qib_rc_rcv_error(): r_nak_state; IBA 9.7.5.2.2")                                  \
	D(OTHER_SERVICE, kind.type == IBV_QPT_RC && !bth_code_is_reliable(m->request->opcode),     \
	  COMPLETIONS, "ib_qib takes an opcode of another service for a wrong one of RC",          \
	  "Linux qib_rc_rcv(): NAK unknown opcodes; rxe check_type_state() drops it")              \
	D(RECEIVE_KEPT, kind.type == IBV_QPT_UC && m->ours->n_wcs && !m->theirs->n_wcs,            \
	  COMPLETIONS,                                                                             \
	  "ib_qib keeps the receive of a broken message, and then measures the next SEND by the "  \
	  "length of the WRITE that came between",                                                 \
	  "Linux qib_uc_rcv(): r_len after RVT_R_REWIND_SGE")                                      \
	D(IMMEDIATE, immediate_counts(m), COMPLETIONS,                                             \
	  "ib_qib counts the immediate data of a datagram as data", "Linux 6.1 qib_ud_rcv()")      \
	D(DGID, kind.type == IBV_QPT_UD && m->request->grh == GRH_OTHER, COMPLETIONS,              \
	  "ib_qib does not look at the DGID of a datagram", "Linux qib_ud_rcv(); IBA 9.6.1.2")

enum {
#define D(name, when, what, reason, source) DIFFERENCE_##name,
	DIFFERENCES(D)
#undef D
		DIFFERENCES_N
};

static const char *const reasons[] = {
#define D(name, when, what, reason, source) reason " (" source ")",
	DIFFERENCES(D)
#undef D
};

/* The row that allows it, or -1. */
static int difference_find(const struct met *m, enum difference found)
{
#define D(name, when, what, reason, source)                                                        \
	if (found == (what) && (when))                                                             \
		return DIFFERENCE_##name;
	DIFFERENCES(D)
#undef D
	return -1;
}

static const char *const types[] = {[IBV_QPT_RC] = "RC", [IBV_QPT_UC] = "UC", [IBV_QPT_UD] = "UD"};

/* --- the judge --- */

/* What was recorded about the last request. */
static struct {
	struct pair_packet request;
	struct pair_seen seen;
	uint32_t memory;
	struct place at;
} said;

static struct {
	unsigned streams, requests, answers, differing, wrong, skipped;
} count;

static bool given;  /* a request of this stream has been given */
static bool parted; /* in this stream a difference was allowed: they go different ways from there */
static unsigned uses[DIFFERENCES_N];

/* Both sides leave the GRHs out, because GIDs differ from device to device. */
static uint32_t memory_crc(enum pair_side which)
{
	uint8_t copy[PAIR_MEMORY];

	memcpy(copy, pair_memory(which), sizeof(copy));
	for (unsigned i = 0; kind.type == IBV_QPT_UD && i < PAIR_RECEIVES; i++)
		memset(copy + PAIR_AREA + i * PAIR_RECEIVE_STRIDE, 0, GRH_BYTES);
	return ~crc32_more(UINT32_MAX, copy, sizeof(copy));
}

static void seen_tell(const char *who, const struct pair_seen *seen, uint32_t memory)
{
	printf("--- %s\n", who);
	for (unsigned i = 0; i < seen->n; i++)
		sent_print(&seen->out[i]);
	for (int i = 0; i < seen->n_wcs; i++) {
		static const struct drv_wc none, *usual = &none;
		const struct drv_wc *from = &seen->wcs[i];

		printf("done");
		DONE_FIELDS(TOLD)
		printf("\n");
	}
	printf("then %d 0x%08x\n", seen->state, memory);
}

static void judge_one(enum pair_side which)
{
	static const char *const names[] = {[HARD] = "engine", [SOFT] = "host_driver/rvt"};
	struct pair_seen *ours = &pair_seen[which];
	enum difference d = pair_compare_seen(ours, &said.seen);
	int row;

	if (d == SAME && memory_crc(which) != said.memory)
		d = MEMORY;
	if (d == SAME)
		return;
	row = difference_find(&(struct met){which, &said.request, ours, &said.seen}, d);
	parted = true;
	if (row >= 0) {
		uses[row]++;
		count.differing++;
		return;
	}
	count.wrong++;
	printf("%s:%u: ib_qib and %s differ\n", said.at.path, said.at.line, names[which]);
	give_print(&said.request);
	seen_tell("ib_qib", &said.seen, said.memory);
	seen_tell(names[which], ours, memory_crc(which));
}

static void judge(void)
{
	if (!given)
		return;
	given = false;
	if (parted) {
		count.skipped++;
		return;
	}
	count.requests++;
	count.answers += said.seen.n;
	pair_give(&said.request);
	for (unsigned i = 0; i < SIDES; i++)
		transport_requests_unasked(&pair_seen[i], &said.request);
	transport_requests_unasked(&said.seen, &said.request);
	judge_one(HARD);
	judge_one(SOFT);
}

static void stream_begin(const struct place *at, char **rest)
{
	const char *word = strtok_r(NULL, " \n", rest);

	kind = (struct pair_kind){.type = 0};
	for (unsigned i = 0; word && i < ARRAY_SIZE(types); i++)
		if (types[i] && !strcmp(word, types[i]))
			kind.type = (enum ibv_qp_type)i;
	if (!kind.type)
		wrong(at, "RC, UC or UD");
	word = strtok_r(NULL, " \n", rest);
	kind.shared = word && !strcmp(word, "srq");
	if (kind.shared)
		word = strtok_r(NULL, " \n", rest);
	kind.state = (enum ibv_qp_state)number(at, word);
	pair_begin(fuzz_rig_get(), &kind);
	parted = false;
	count.streams++;
}

static void line_judge(const struct place *at, char *line)
{
	char *rest = NULL;
	const char *word = strtok_r(line, " \n", &rest);

	if (!word || *word == '#')
		return;
	if (!strcmp(word, "stream")) {
		judge();
		stream_begin(at, &rest);
	} else if (!strcmp(word, "give")) {
		judge();
		memset(&said, 0, sizeof(said));
		said.at = *at;
		said.request = give_read(at, &rest);
		given = true;
	} else if (!strcmp(word, "sent")) {
		sent_read(at, &rest, &said.seen);
	} else if (!strcmp(word, "done")) {
		done_read(at, &rest, &said.seen);
	} else if (!strcmp(word, "then")) {
		said.seen.state = (enum ibv_qp_state)number(at, strtok_r(NULL, " \n", &rest));
		said.memory = (uint32_t)number(at, strtok_r(NULL, " \n", &rest));
	} else {
		wrong(at, "stream, give, sent, done or then");
	}
}

static void file_judge(const char *path)
{
	struct place at = {path, 0};
	FILE *in = fopen(path, "r");
	char line[LINE_CHARS];

	if (!in) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	while (fgets(line, sizeof(line), in)) {
		at.line++;
		line_judge(&at, line);
	}
	judge();
	fclose(in);
}

static int tell(void)
{
	printf("%u streams, %u requests, %u answers of ib_qib; %u differ as the table allows, %u "
	       "otherwise; "
	       "%u requests came after a difference\n",
	       count.streams, count.requests, count.answers, count.differing, count.wrong,
	       count.skipped);
	for (unsigned i = 0; i < DIFFERENCES_N; i++) {
		printf("%4u  %s\n", uses[i], reasons[i]);
		/* a row that nothing needs says something that is not so */
		count.wrong += !uses[i];
	}
	return count.wrong || !count.requests;
}

/* --- for the recorder --- */

/* Without what its opcode does not have: a line is shorter then. */
static struct pair_packet shortened(struct pair_packet p)
{
	const struct bth_op *op = bth_op_find(p.opcode);

	if (!op->at[BTH_EXT_RETH])
		p.dma_len = 0;
	if (!op->at[BTH_EXT_RETH] && !op->at[BTH_EXT_ATOMICETH])
		p.offset = p.key = 0;
	if (!op->at[BTH_EXT_ATOMICETH])
		p.swap_add = p.compare = 0;
	if (!op->at[BTH_EXT_IMMDT])
		p.imm = 0;
	if (!op->at[BTH_EXT_DETH])
		p.qkey = usual_request.qkey;
	return p;
}

static void requests_print(unsigned n, uint64_t seed)
{
	static const struct pair_kind kinds[] = {
		{IBV_QPT_RC, false, IBV_QPS_RTS}, {IBV_QPT_RC, false, IBV_QPS_RTS},
		{IBV_QPT_RC, true, IBV_QPS_RTS},  {IBV_QPT_RC, false, IBV_QPS_SQD},
		{IBV_QPT_RC, false, IBV_QPS_RTR}, {IBV_QPT_UD, false, IBV_QPS_RTS},
	};
	struct pair_packet stream[PAIR_STEPS_MAX];
	uint8_t bytes[INPUT_BYTES];

	for (unsigned i = 0; i < n; i++) {
		const struct pair_kind *k = &kinds[i % ARRAY_SIZE(kinds)];
		struct fuzz_bytes b = {bytes, bytes + sizeof(bytes)};
		unsigned steps;

		for (size_t j = 0; j < sizeof(bytes); j++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			bytes[j] = (uint8_t)(seed >> 56);
		}
		steps = transport_requests_make(k, &b, stream);
		printf("stream %s%s %d\n", types[k->type], k->shared ? " srq" : "", k->state);
		for (unsigned j = 0; j < steps; j++) {
			const struct pair_packet p = shortened(stream[j]);

			give_print(&p);
		}
	}
}

static void target_read(const struct place *at, char **rest, struct pair_target *to)
{
	const char *gid;

	to->lid = (unsigned)number(at, strtok_r(NULL, " \n", rest));
	to->peer_lid = (unsigned)number(at, strtok_r(NULL, " \n", rest));
	to->qpn = (uint32_t)number(at, strtok_r(NULL, " \n", rest));
	to->rkey = (uint32_t)number(at, strtok_r(NULL, " \n", rest));
	to->weak_rkey = (uint32_t)number(at, strtok_r(NULL, " \n", rest));
	to->va = number(at, strtok_r(NULL, " \n", rest));
	gid = strtok_r(NULL, " \n", rest);
	if (!gid || hex_read(gid, to->gid, sizeof(to->gid)) != sizeof(to->gid))
		wrong(at, "a GID of 32 digits");
}

static void translate(void)
{
	struct place at = {"input", 0};
	struct pair_target to = {0};
	char line[LINE_CHARS];
	uint8_t wire[PAIR_WIRE_MAX];

	while (fgets(line, sizeof(line), stdin)) {
		char *rest = NULL;
		const char *word = strtok_r(line, " \n", &rest);
		struct pair_seen seen = {0};

		at.line++;
		if (word && !strcmp(word, "target")) {
			target_read(&at, &rest, &to);
		} else if (word && !strcmp(word, "give")) {
			const struct pair_packet p = give_read(&at, &rest);
			const uint32_t len = pair_packet_build(&p, &to, wire);

			for (uint32_t i = 0; i < len; i++)
				printf("%02x", wire[i]);
			printf("\n");
		} else if (word && !strcmp(word, "out")) {
			const char *hex = strtok_r(NULL, " \n", &rest);

			pair_out_note(&seen, wire,
				      hex ? (uint32_t)hex_read(hex, wire, sizeof(wire)) : 0);
			if (!seen.n)
				wrong(&at, "a packet of RC, UC or UD");
			sent_print(&seen.out[0]);
		} else {
			wrong(&at, "target, give or out");
		}
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--requests")) {
		requests_print((unsigned)strtoul(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--translate")) {
		translate();
		return 0;
	}
	for (int i = 1; i < argc; i++)
		file_judge(argv[i]);
	return tell();
}
