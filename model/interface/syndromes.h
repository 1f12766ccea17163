/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AETH syndromes, RNR timer codes, credit codes, and the one table that says what follows from the
 * verdict of a check.
 *
 * A syndrome byte: bit 7 zero; bits 6:5 kind; bits 4:0 credit code (ACK), timer code (RNR NAK) or
 * NAK code. Source: InfiniBand Architecture Specification vol. 1, 9.7.5.1 (AETH), tables 45 and 46
 * (timer and credit codes), 9.9 (error behaviour). Where the specification leaves the choice to the
 * implementation, the row says so.
 */
#ifndef MODEL_INTERFACE_SYNDROMES_H
#define MODEL_INTERFACE_SYNDROMES_H

#include "model/interface/field.h"
#include "model/interface/queues.h"

/* clang-format off */

#define AETH_KINDS(K) \
	K(AETH, ACK,      0, "acknowledge, with a credit code") \
	K(AETH, RNR_NAK,  1, "receiver not ready, with a timer code") \
	K(AETH, RESERVED, 2, "reserved") \
	K(AETH, NAK,      3, "negative acknowledge, with a NAK code")

/* N(NAME, code, CQE syndrome of the requester (NONE: it resends), verdict of the requester,
 * meaning) */
#define NAK_CODES(N) \
	N(PSN_SEQUENCE, 0, NONE,            NAK_PSN_SEQUENCE, "a packet is missing; resend from the PSN named") \
	N(INVALID_REQ,  1, REM_INV_REQ_ERR, NAK_INVALID_REQ,  "invalid request") \
	N(REM_ACCESS,   2, REM_ACCESS_ERR,  NAK_REM_ACCESS,   "remote access error") \
	N(REM_OP,       3, REM_OP_ERR,      NAK_REM_OP,       "remote operational error") \
	N(INVALID_RD,   4, REM_INV_REQ_ERR, NAK_INVALID_REQ,  "invalid RD request; RC does not send it")

/* What a verdict does to the state of the QP whose check gave it. */
#define VERDICT_STATES(K) \
	K(VERDICT_QP, KEEP, 0, "the state stays") \
	K(VERDICT_QP, ERR,  1, "error") \
	K(VERDICT_QP, SQ,   2, "RC and XRC: error; UC and UD: send queue error")

/* What the responder of an unreliable service (UC, UD) does after a verdict. It never answers. */
#define VERDICT_UNRELIABLES(K) \
	K(VERDICT_UR, DROP,     0, "the QP drops the message and uses its receive again; a receive from an SRQ completes with the syndrome of the row") \
	K(VERDICT_UR, COMPLETE, 1, "the receive completes with the syndrome of the row, and the QP takes the state of the row")

/*
 * Kind and code of the answer of a reliable responder.
 * NONE: no packet. ACK: an acknowledge with credits. RNR: an RNR NAK with the QP's timer. Others: that NAK code.
 */
#define VERDICT_REPLIES(K) \
	K(VERDICT_REPLY, NONE, 0, "no answer") \
	K(VERDICT_REPLY, ACK,  1, "acknowledge") \
	K(VERDICT_REPLY, RNR,  2, "RNR NAK") \
	K(VERDICT_REPLY, NAK,  3, "NAK with a code")

/*
 * V(NAME, reply, NAK code, CQE syndrome of the responder's receive, CQE syndrome of the requester,
 * state, event, unreliable, meaning)
 *
 * The responder writes a CQE only when the message had taken a receive. OF_NAK: the requester's
 * syndrome follows from the NAK code. Event 0: none. The side whose check gave the verdict raises
 * the event.
 */
#define VERDICTS_RESPONDER(V) \
	V(OK,             ACK,  PSN_SEQUENCE, NONE,            NONE,   KEEP, 0,                        COMPLETE, "the request is correct") \
	V(DUPLICATE,      ACK,  PSN_SEQUENCE, NONE,            NONE,   KEEP, 0,                        DROP,     "the PSN is older than the expected one: the responder answers again, but does not execute again") \
	V(DUPLICATE_GONE, NONE, PSN_SEQUENCE, NONE,            NONE,   KEEP, 0,                        DROP,     "a duplicate READ or atomic that the responder no longer remembers") \
	V(DROP,           NONE, PSN_SEQUENCE, NONE,            NONE,   KEEP, 0,                        DROP,     "no QP, port or state here takes the packet: ignored") \
	V(PSN_SEQUENCE,   NAK,  PSN_SEQUENCE, NONE,            OF_NAK, KEEP, 0,                        DROP,     "the PSN is ahead of the expected one") \
	V(RNR,            RNR,  PSN_SEQUENCE, NONE,            NONE,   KEEP, 0,                        DROP,     "no receive is posted") \
	V(OPCODE_ORDER,   NAK,  INVALID_REQ,  REM_INV_REQ_ERR, OF_NAK, ERR,  EVENT_WQ_INVAL_REQ_ERROR, DROP,     "first, middle and last packets come in a wrong order") \
	V(OPCODE_BAD,     NAK,  INVALID_REQ,  REM_INV_REQ_ERR, OF_NAK, ERR,  EVENT_WQ_INVAL_REQ_ERROR, DROP,     "the QP does not support the opcode") \
	V(PAYLOAD_LENGTH, NAK,  INVALID_REQ,  REM_INV_REQ_ERR, OF_NAK, ERR,  EVENT_WQ_INVAL_REQ_ERROR, DROP,     "the payload does not fit the position in the message, the MTU or the DMA length") \
	V(MISALIGNED,     NAK,  INVALID_REQ,  NONE,            OF_NAK, ERR,  EVENT_WQ_INVAL_REQ_ERROR, DROP,     "the address of an atomic is not a multiple of 8") \
	V(TOO_MANY_READS, NAK,  INVALID_REQ,  NONE,            OF_NAK, ERR,  EVENT_WQ_INVAL_REQ_ERROR, DROP,     "there are more READ and atomic requests than responder resources") \
	V(XRC_SRQ,        NAK,  INVALID_REQ,  NONE,            OF_NAK, ERR,  EVENT_WQ_INVAL_REQ_ERROR, DROP,     "XRC: the SRQ does not exist or belongs to another domain") \
	V(RECV_LENGTH,    NAK,  INVALID_REQ,  LOC_LEN_ERR,     OF_NAK, ERR,  0,                        DROP,     "the SEND is larger than the receive") \
	V(REM_ACCESS,     NAK,  REM_ACCESS,   LOC_ACCESS_ERR,  OF_NAK, ERR,  EVENT_WQ_ACCESS_ERROR,    DROP,     "the R_Key, range, rights or protection domain do not allow the access") \
	V(REM_INVALIDATE, NAK,  REM_ACCESS,   LOC_ACCESS_ERR,  OF_NAK, ERR,  EVENT_WQ_ACCESS_ERROR,    COMPLETE, "a SEND with invalidate names a key that must not be invalidated; the NAK code is this device's choice") \
	V(RECV_WQE,       NAK,  REM_OP,       LOC_QP_OP_ERR,   OF_NAK, ERR,  0,                        COMPLETE, "the receive WQE is malformed or cannot be read") \
	V(RECV_PROT,      NAK,  REM_OP,       LOC_PROT_ERR,    OF_NAK, ERR,  0,                        COMPLETE, "the L_Key of a receive does not allow the access") \
	V(RECV_CQ,        NAK,  REM_OP,       NONE,            OF_NAK, ERR,  EVENT_WQ_CATAS_ERROR,     COMPLETE, "the completion could not be written") \
	V(RECV_SRQ,       NAK,  REM_OP,       NONE,            OF_NAK, ERR,  EVENT_WQ_CATAS_ERROR,     COMPLETE, "the SRQ is in error") \
	V(CONTEXT,        NAK,  REM_OP,       NONE,            OF_NAK, ERR,  EVENT_WQ_CATAS_ERROR,     COMPLETE, "the context or a responder resource cannot be reached in ICM")

#define VERDICTS_REQUESTER(V) \
	V(SEND_LENGTH,    NONE, PSN_SEQUENCE, NONE, LOC_LEN_ERR,       SQ,  0, DROP, "the message is larger than the path or the port allows") \
	V(SEND_WQE,       NONE, PSN_SEQUENCE, NONE, LOC_QP_OP_ERR,     SQ,  0, DROP, "the send WQE is malformed or not allowed on this service") \
	V(SEND_PROT,      NONE, PSN_SEQUENCE, NONE, LOC_PROT_ERR,      SQ,  0, DROP, "the L_Key of a send does not allow the access") \
	V(FLUSHED,        NONE, PSN_SEQUENCE, NONE, WR_FLUSH_ERR,      KEEP, 0, DROP, "the work request is behind one that failed") \
	V(BIND,           NONE, PSN_SEQUENCE, NONE, MW_BIND_ERR,       SQ,  0, DROP, "a bind, fast register or local invalidate is not allowed") \
	V(BAD_RESPONSE,   NONE, PSN_SEQUENCE, NONE, BAD_RESP_ERR,      ERR, 0, DROP, "a response has a wrong kind or length") \
	V(RESP_PROT,      NONE, PSN_SEQUENCE, NONE, LOC_PROT_ERR,      ERR, 0, DROP, "the L_Key does not allow a READ or atomic response to be written") \
	V(RETRY_EXCEEDED, NONE, PSN_SEQUENCE, NONE, RETRY_EXC_ERR,     ERR, 0, DROP, "all transport retries are used up") \
	V(RNR_EXCEEDED,   NONE, PSN_SEQUENCE, NONE, RNR_RETRY_EXC_ERR, ERR, 0, DROP, "all RNR retries are used up") \
	V(SEND_CQ,        NONE, PSN_SEQUENCE, NONE, NONE,              ERR, EVENT_WQ_CATAS_ERROR, DROP, "the completion could not be written") \
	V(SEND_CONTEXT,   NONE, PSN_SEQUENCE, NONE, NONE,              ERR, EVENT_WQ_CATAS_ERROR, DROP, "the context or the work queue cannot be reached in memory") \
	V(NAK_PSN_SEQUENCE, NONE, PSN_SEQUENCE, NONE, OF_NAK,           KEEP, 0, DROP, "a PSN sequence NAK came: resend") \
	V(NAK_INVALID_REQ, NONE, INVALID_REQ,  NONE, OF_NAK,            ERR, 0, DROP, "an invalid request NAK came") \
	V(NAK_REM_ACCESS, NONE, REM_ACCESS,    NONE, OF_NAK,            ERR, 0, DROP, "a remote access NAK came") \
	V(NAK_REM_OP,     NONE, REM_OP,        NONE, OF_NAK,            ERR, 0, DROP, "a remote operational NAK came")

#define VERDICTS(V) VERDICTS_RESPONDER(V) VERDICTS_REQUESTER(V)

#define SYNDROME_CODES(T) \
	T(aeth_kind,          AETH_KINDS) \
	T(verdict_qp,         VERDICT_STATES) \
	T(verdict_unreliable, VERDICT_UNRELIABLES) \
	T(verdict_reply,      VERDICT_REPLIES)

/* clang-format on */

SYNDROME_CODES(CODES_DEFINE)

#define NAK_ENUM(name, code, cqe, verdict, meaning) NAK_##name = (code),
enum nak_code { NAK_CODES(NAK_ENUM) };

#define VERDICT_ENUM(name, reply, nak, resp_cqe, req_cqe, state, event, unreliable, meaning)       \
	VERDICT_##name,
enum verdict { VERDICTS(VERDICT_ENUM) VERDICT_COUNT };

struct verdict_row {
	const char *name;
	const char *meaning;
	enum verdict_reply reply;
	enum nak_code nak; /* sent when reply is VERDICT_REPLY_NAK, received in NAK_* */
	/* CQE_SYND_NONE: no CQE, or a successful one for VERDICT_OK */
	enum cqe_syndrome responder_cqe;
	enum cqe_syndrome
		requester_cqe; /* CQE_SYND_NONE: none; it resends, or the row is the responder's */
	enum verdict_qp qp;
	enum event_type event; /* 0: none */
	enum verdict_unreliable unreliable;
};

/* In wire_rows.c, which firmware does not link. */
extern const struct verdict_row verdict_rows[VERDICT_COUNT];

static inline const struct verdict_row *verdict_find(enum verdict v)
{
	return &verdict_rows[v];
}

enum aeth_facts {
	AETH_CODE_MASK = 0x1f,
	AETH_KIND_SHIFT = 5,
	AETH_CREDIT_NONE = 31, /* gives no credits: the responder does not count credits (SRQ) */
};

static inline uint8_t aeth_syndrome(enum aeth_kind kind, uint32_t code)
{
	return (uint8_t)(kind << AETH_KIND_SHIFT | (code & AETH_CODE_MASK));
}

static inline enum aeth_kind aeth_syndrome_kind(uint32_t syndrome)
{
	return (enum aeth_kind)((syndrome >> AETH_KIND_SHIFT) & 3);
}

static inline uint32_t aeth_syndrome_code(uint32_t syndrome)
{
	return syndrome & AETH_CODE_MASK;
}

/* The verdict of a requester that receives this NAK code. An unknown code is a bad response. */
static inline enum verdict nak_requester_verdict(uint32_t code)
{
	switch (code) {
#define NAK_CASE(name, value, cqe, verdict, meaning)                                               \
	case value:                                                                                \
		return VERDICT_##verdict;
		NAK_CODES(NAK_CASE)
#undef NAK_CASE
	default:
		return VERDICT_BAD_RESPONSE;
	}
}

/* Time of an RNR NAK timer code (0..31) in ps: 10 us .. 655.36 ms. */
static inline uint64_t rnr_timer_ps(uint32_t code)
{
	/* in units of 10 us */
	static const uint32_t units[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return units[code & AETH_CODE_MASK] * UINT64_C(10000000);
}

/* The timer as mlx4 silicon implements it: a power of two for each pair of codes. */
static inline uint64_t rnr_timer_power_ps(uint32_t code, unsigned power)
{
	const uint32_t step = code & AETH_CODE_MASK ? code & AETH_CODE_MASK : AETH_CODE_MASK + 1;

	return UINT64_C(4096000) << (step / 2 + power);
}

/* The number of receives that a credit code (0..30) stands for. */
static inline uint32_t credit_decode(uint32_t code)
{
	static const uint16_t credits[31] = {
		0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
		48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
		2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
	};

	return code < 31 ? credits[code] : 0;
}

/* The largest credit code that stands for no more than `free` receives. There are two codes for
 * each power of two. */
static inline uint32_t credit_encode(uint32_t free)
{
	uint32_t log, code;

	if (free < 3)
		return free;
	log = 31u - (uint32_t)__builtin_clz(free);
	code = 2 * log + (free >> (log - 1) & 1);
	return code < 30 ? code : 30;
}

/* Local ACK timeout (0..31) in ps: 4.096 us * 2^code; 0 means never and gives 0. */
static inline uint64_t ack_timeout_ps(uint32_t code)
{
	return code ? UINT64_C(4096000) << (code & 0x1f) : 0;
}

#endif
