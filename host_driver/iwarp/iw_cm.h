/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iWARP connections over a byte stream: an interface like Linux's iw_cm, and SEND and RECV of
 * messages of one FPDU over what it has connected. Nothing blocks: what happens is told by events.
 * No memory can be registered, so a WRITE or READ that names any byte ends with a TERMINATE.
 *
 * A call returns 0 or -errno. An id may be destroyed from its own event.
 */
#ifndef HOST_DRIVER_IWARP_IW_CM_H
#define HOST_DRIVER_IWARP_IW_CM_H

#include "host_driver/iwarp/negotiate.h"
#include "host_driver/iwarp/stream.h"

struct iw_cm_id;

/*
 * O(name, default, least, greatest, meaning). Connection options of an id; those of a listener hold
 * for what it accepts. The command line has the same names (hcasim iwarp).
 */
#define IW_OPTIONS(O)                                                                              \
	O(rev, 2, 1, 2, "highest MPA revision")                                                    \
	O(design, IW_RTR_MESSAGE, 0, IW_DESIGN_COUNT - 1,                                          \
	  "how the initiator says that it is ready: 0 its program sends first, 1 Rtr frame, "      \
	  "2 RDMAP message")                                                                       \
	O(kinds, MPA_RTR_ALL, 1, MPA_RTR_ALL,                                                      \
	  "RDMAP messages that may say it: 4 SEND, 2 WRITE, "                                      \
	  "1 READ, added up")                                                                      \
	O(crc, 1, 0, 1, "ask for CRCs")                                                            \
	O(markers, 0, 0, 1, "ask for markers in what is received")                                 \
	O(can_markers, 1, 0, 1, "can send markers; otherwise a peer that wants them is rejected")  \
	O(ird, 4, 0, MPA_UNKNOWN_DEPTH, "READs that the peer may have under way; 16383: open")     \
	O(ord, 4, 0, MPA_UNKNOWN_DEPTH, "READs under way to the peer; 16383: open")                \
	O(ird_max, 16, 0, MPA_UNKNOWN_DEPTH, "to which ird may be raised")                         \
	O(strict, 1, 0, 1,                                                                         \
	  "end the connection where a peer sends too early, or another message "                   \
	  "than it has agreed to; 0: take what can be understood, as siw does")                    \
	O(send_takes_receive, 1, 0, 1, "a SEND that says ready takes a receive; 0: it is eaten")   \
	O(fallback, 1, 0, 1, "connect again with revision 1 when the peer drops revision 2")       \
	O(stag, 1, 0, 0x7fffffff, "STag of messages without data; a card refuses 0")               \
	O(rep_ms, 10000, 1, 3600000, "wait of the initiator for the Reply")                        \
	O(req_ms, 5000, 1, 3600000, "wait of the responder for the Request")                       \
	O(rtr_ms, 10000, 1, 3600000, "wait of the responder for the message that says ready")      \
	O(close_ms, 10000, 1, 3600000, "wait for the peer's end of the stream")                    \
	O(after_reply_ms, 0, 0, 3600000,                                                           \
	  "wait of the initiator between the Reply and its first message; "                        \
	  "siw may overlook a message that comes at once")

/*
 * B(name, meaning): rules that an id breaks on purpose, so that the peer can be tested. Those of
 * the Request and Reply change the frame that this end sends; those of FPDUs change the first one.
 */
#define IW_BREAKS(B)                                                                               \
	B(key_bit, "Request or Reply: one bit of the key is wrong")                                \
	B(pd_513, "Request or Reply: the length of private data says 513")                         \
	B(rev_0, "Request or Reply: revision 0")                                                   \
	B(rev_3, "Request or Reply: revision 3")                                                   \
	B(short_enhanced, "Request or Reply: enhanced data of 3 bytes")                            \
	B(byte_behind, "Request or Reply: one byte follows at once")                               \
	B(half_start, "Request or Reply: only the first 10 bytes are sent")                        \
	B(wrong_key, "Request has the key of a Reply, a Reply that of a Request")                  \
	B(rtr_key, "Request or Reply has the key of the Rtr frame")                                \
	B(reply_without_a, "Reply: flag A is missing")                                             \
	B(reply_without_s, "Reply: not enhanced, revision 1")                                      \
	B(reply_no_kind, "Reply: flags B, C and D are missing")                                    \
	B(reply_write_too, "Reply: names WRITE besides what was asked")                            \
	B(reply_ord, "Reply: ORD 255")                                                             \
	B(early_send, "responder: sends without waiting for the peer to be ready")                 \
	B(no_rtr, "initiator: nothing says ready")                                                 \
	B(rtr_twice, "initiator: says ready twice")                                                \
	B(rtr_other_kind, "initiator: another message than was agreed says ready")                 \
	B(rtr_data, "initiator: the message that says ready has 4 bytes of data")                  \
	B(rtr_frame_anyway, "initiator: sends an Rtr frame that nobody has agreed to")             \
	B(rtr_dump_spelling, "initiator: spells the Rtr frame as the proposal's hex dump does")    \
	B(bad_crc, "first FPDU: wrong CRC")                                                        \
	B(bad_marker, "first FPDU with a marker: wrong pointer")                                   \
	B(bad_length, "first FPDU: a ULPDU of 5 bytes")                                            \
	B(ddp_version, "first FPDU: DDP version 3")                                                \
	B(rdmap_version, "first FPDU: RDMAP version 3")                                            \
	B(bad_opcode, "first FPDU: RDMAP opcode 15")                                               \
	B(bad_qn, "first untagged FPDU: queue number 3")                                           \
	B(bad_msn, "first untagged FPDU: message number 9")

enum iw_break {
#define B(name, meaning) IW_BREAK_##name,
	IW_BREAKS(B)
#undef B
		IW_BREAK_COUNT
};

#define IW_BREAKS_BIT(name) (UINT64_C(1) << IW_BREAK_##name)

struct iw_options {
#define O(name, value, least, greatest, meaning) uint32_t name;
	IW_OPTIONS(O)
#undef O
	uint64_t breaks; /* IW_BREAKS_BIT() */
};

extern const struct iw_options iw_options_default;

/* S(name, waits for, who moves it on) */
#define IW_STATES(S)                                                                               \
	S(IDLE, "nothing", "connect or listen")                                                    \
	S(LISTEN, "streams", "a peer that connects")                                               \
	S(CONNECTING, "the stream", "its up or failed")                                            \
	S(WAIT_REP, "the Reply", "the peer, or rep_ms")                                            \
	S(REPLIED, "the time to say that it is ready", "after_reply_ms")                           \
	S(WAIT_REQ, "the Request", "the peer, or req_ms")                                          \
	S(WAIT_ULP, "accept or reject", "the user")                                                \
	S(WAIT_FPDU, "the first FPDU", "the peer's program")                                       \
	S(WAIT_RTR, "what says that the initiator is ready", "the peer, or rtr_ms")                \
	S(FPDU, "messages", "both")                                                                \
	S(TERMINATING, "the end of the stream", "the peer, or close_ms")                           \
	S(CLOSING, "the end of the stream", "the peer, or close_ms")                               \
	S(CLOSED, "nothing", "destroy")

enum iw_state {
#define S(name, waits, who) IW_##name,
	IW_STATES(S)
#undef S
		IW_STATE_COUNT
};

const char *iw_state_name(enum iw_state state);

/* E(name, meaning) */
#define IW_EVENTS(E)                                                                               \
	E(CONNECT_REQUEST, "a Request has come; id is new and waits for accept or reject")         \
	E(CONNECT_REPLY, "the end of connect; status 0: connected")                                \
	E(ESTABLISHED, "an accepted connection may send")                                          \
	E(DISCONNECT, "the peer has ended its direction of the stream")                            \
	E(CLOSE, "the connection is gone; status: why, 0 when in order")                           \
	E(TERMINATE, "a TERMINATE was sent or has come; CLOSE follows")

enum iw_event_type {
#define E(name, meaning) IW_EVENT_##name,
	IW_EVENTS(E)
#undef E
		IW_EVENT_COUNT
};

const char *iw_event_name(enum iw_event_type type);

struct iw_event {
	enum iw_event_type type;
	int status; /* 0 or -errno */
	struct iw_cm_id *id;
	struct iw_address peer; /* CONNECT_REQUEST */
	uint16_t ird, ord;      /* CONNECT_REQUEST: as the peer says them; else agreed */
	const uint8_t *pdata;   /* CONNECT_REQUEST, CONNECT_REPLY: during the call only */
	uint16_t pdata_len;
	enum iw_term term; /* TERMINATE; IW_TERM_COUNT: a code that is not registered */
	bool sent;         /* TERMINATE: by this end */
};

struct iw_completion {
	uint64_t wr_id;
	bool receive;
	int status; /* -ECANCELED: flushed */
	uint32_t len;
};

struct iw_cm_user {
	/* arg is the id's, for CONNECT_REQUEST the listener's */
	void (*event)(void *arg, const struct iw_event *event);
	void (*completed)(void *arg, struct iw_cm_id *id, const struct iw_completion *completion);
};

/* One a host. */
struct iw_host {
	struct iw_net *net;
	/* What crosses the stream, and how states change, in words; NULL: nobody listens. */
	void (*said)(struct iw_host *host, const struct iw_cm_id *id, const char *text);
	/* That exist, those of rdma_iw.h too, also those that are destroyed and not yet gone. */
	unsigned ids;
};

/* `options` NULL: the defaults. Private data: at most 512 bytes, 508 with revision 2. */
int iw_connect(struct iw_host *host, struct iw_address to, const struct iw_options *options,
	       const struct iw_cm_user *user, void *arg, const uint8_t *pdata, uint16_t len,
	       struct iw_cm_id **id);
int iw_listen(struct iw_host *host, uint16_t port, const struct iw_options *options,
	      const struct iw_cm_user *user, void *arg, struct iw_cm_id **id);
/* What the user gets from now on: for the id of a CONNECT_REQUEST. */
void iw_user_set(struct iw_cm_id *id, const struct iw_cm_user *user, void *arg);
struct iw_options *iw_options_of(struct iw_cm_id *id);
/* -ECONNRESET: the peer is gone. -EINVAL: no Request waits, or too much private data. */
int iw_accept(struct iw_cm_id *id, const uint8_t *pdata, uint16_t len);
int iw_reject(struct iw_cm_id *id, const uint8_t *pdata, uint16_t len);
/* Ends the own direction; CLOSE follows. */
int iw_disconnect(struct iw_cm_id *id);
/* Flushes without completions, resets a stream that is still open, tells nothing more. */
void iw_destroy(struct iw_cm_id *id);

/* For tests: resets the stream, or ends the own direction, as if TCP had done so by itself. */
void iw_stream_break(struct iw_cm_id *id, bool reset);
/* For tests: sends these bytes as the ULPDU of an FPDU, whatever they are. -ENOTCONN. */
int iw_ulpdu_send(struct iw_cm_id *id, const uint8_t *ulpdu, size_t n);
/* NULL: it has none. */
struct iw_stream *iw_stream_of(struct iw_cm_id *id);

/* The bytes are copied. Before the peer may be sent to, a SEND waits. -EMSGSIZE: more than one
 * FPDU. -ENOTCONN. */
int iw_post_send(struct iw_cm_id *id, uint64_t wr_id, const uint8_t *bytes, size_t n);
/* Also before the connection. The buffer is the user's until the completion. */
int iw_post_recv(struct iw_cm_id *id, uint64_t wr_id, uint8_t *buffer, size_t n);

struct iw_query {
	enum iw_state state;
	struct iw_agreed agreed;
	unsigned reads_out;       /* places of ORD that are in use */
	bool fence_open;          /* the peer may be sent to */
	unsigned sends, receives; /* that wait */
};

void iw_query(const struct iw_cm_id *id, struct iw_query *query);

#endif
