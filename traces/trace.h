/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace layer: parts of the model emit records at trace points (points.h), and sinks write
 * them.
 *
 * Every sink gets the records ordered by time; records of the same time are in the order in which
 * they were emitted. The time of a record may be in the future (the last bit of a packet leaves
 * after the event that sends the packet), but is never before the last trace_advance(). A sink may
 * use the bytes and text of a record during the call only, but see bytes_stay.
 *
 * The row of a point (points.h) says what its records hold. Members of a record that the row does
 * not name are 0 or NULL. A qpn has 24 bits. What the names of the fields do not tell:
 *
 * - PACKET: packet: the bytes on the wire, LRH to VCRC. qpn: the QP of this HCA. known: enum
 *   trace_packet_flag. transmission: 1 for the first. A packet is emitted as PKT_OUT by the sender
 *   when its last bit leaves, and as PKT_IN by the receiver when it arrives; a packet that is lost
 *   is emitted as PKT_OUT only. fault: what the fault plan did to the packet. When the plan changed
 *   its bytes, both records have a fault.
 * - ETHERNET: frame: without preamble and FCS. ETH_OUT and ETH_IN are emitted as PKT_OUT and PKT_IN
 *   are. hca: the number of the host.
 * - REG: the value of a BAR access is the number that its bytes make in the order of their
 *   addresses, the first byte being the most significant. In the value of an access to
 *   configuration space the first byte is the least significant.
 * - HCR: mailbox: the input mailbox when the command is posted, the output mailbox when it is done;
 *   NULL when there is none. event: 1 when software asks for an event.
 * - WQE: the bytes are as they are in the queue's buffer. srqn: the SRQ that a receive WQE came
 *   from, else 0. service: enum qp_service of the QP.
 * - SPAN: the stage is busy from the record's time, which may be in the future, until `until`; a
 *   reset may end it earlier. cause of a DMA: enum dma_corr of pcie.h. LINK_TX, LINK_RX: qpn: that
 *   of the sender; credits: those that are left, in blocks of 64 bytes; wqe: that of a request.
 *   traits: enum trace_trait. EQE_RUN: cqn: that of a completion event.
 * - REQ_STATE, RESP_STATE: waits: 1 when the state machine stops there until something comes.
 * - LEVEL: length: the new value. change: the difference from the value before.
 * - CALL: a function or a wait begins or ends. On each thread they are strictly nested.
 */
#ifndef TRACES_TRACE_H
#define TRACES_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "traces/points.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a sink does with a point. The kinds after NOTE are for waves and timelines; they are not in
 * the log. */
#define TRACE_KINDS(K)                                                                             \
	K(PACKET)                                                                                  \
	K(REG)                                                                                     \
	K(HCR)                                                                                     \
	K(DOORBELL)                                                                                \
	K(WQE)                                                                                     \
	K(CQE)                                                                                     \
	K(EQE)                                                                                     \
	K(IRQ)                                                                                     \
	K(DMA)                                                                                     \
	K(STATE)                                                                                   \
	K(DRV)                                                                                     \
	K(FW)                                                                                      \
	K(FAULT)                                                                                   \
	K(GUEST_ERROR)                                                                             \
	K(ETHERNET)                                                                                \
	K(NOTE)                                                                                    \
	K(SPAN)                                                                                    \
	K(LEVEL)                                                                                   \
	K(CALL)

enum trace_kind {
#define K(name) TRACE_##name,
	TRACE_KINDS(K)
#undef K
};

enum {
	TRACE_KINDS_TEXT = (1 << TRACE_SPAN) - 1, /* the kinds that the log has */
};

enum trace_packet_flag {
	TRACE_PACKET_WR_ID = 1 << 0,    /* args[1] is valid */
	TRACE_PACKET_WQE = 1 << 1,      /* args[2] is valid */
	TRACE_PACKET_ETHERNET = 1 << 2, /* the bytes are an Ethernet frame with FCS */
};

/* The field `traits` of a packet's span: the packet's BTH opcode in the low byte, and these
 * bits. */
enum trace_trait {
	TRACE_TRAIT_OPCODE = 0xff,
	TRACE_TRAIT_INSIDE = 1 << 8, /* it never leaves the HCA */
	TRACE_TRAIT_NAK = 1 << 9,    /* a NAK or RNR NAK */
};

enum {
	TRACE_NO_HCA = 0xff, /* hca of a record that belongs to none, such as a scenario's text */
};

struct trace_record {
	uint64_t time_ps;
	enum trace_point point;
	uint8_t hca;
	uint8_t port; /* from 1 */
	uint32_t qpn;
	uint32_t corr;
	uint64_t args[6];
	const void *bytes;
	uint32_t len;    /* of bytes */
	bool bytes_stay; /* the bytes stay valid until trace_advance() to the record's time */
	const char *text;
};

/* T(name, unit) */
#define TRACE_FIELD_TYPES(T)                                                                       \
	T(DEC, "")                                                                                 \
	T(HEX, "")                                                                                 \
	T(SIGNED, "")                                                                              \
	T(LENGTH, "bytes")                                                                         \
	T(PS, "ps")                                                                                \
	T(TIME, "ps")                                                                              \
	T(TEXT, "")                                                                                \
	T(BYTES, "")

enum trace_field_type {
#define T(name, unit) TRACE_FIELD_##name,
	TRACE_FIELD_TYPES(T)
#undef T
		TRACE_FIELD_TYPE_COUNT
};

/* The member of a record that a field is stored in. */
enum trace_field_in {
	TRACE_IN_ARGS,
	TRACE_IN_QPN,
	TRACE_IN_CORR,
	TRACE_IN_PORT,
	TRACE_IN_TEXT,
	TRACE_IN_BYTES,
};

struct trace_field {
	const char *name;
	uint8_t type, in; /* enum trace_field_type, enum trace_field_in */
};

/* The content of a row of points.h. */
struct trace_point_row {
	const char *name, *unit, *text, *meaning;
	const struct trace_field *fields; /* the last has no name */
	enum trace_kind kind;
};

extern const struct trace_point_row trace_point_rows[TRACE_POINT_COUNT];

const char *trace_kind_name(enum trace_kind kind);
const char *trace_field_type_name(enum trace_field_type type);

/* The value of a field of the record's row; 0 of TEXT and BYTES. */
uint64_t trace_field_value(const struct trace_record *r, const struct trace_field *field);

/*
 * The index in args[] of a field of a point, for example r->args[TRACE_ARG(LINK_TX, credits)]. The
 * struct that each point has for its fields in args[] serves this macro only.
 */
#define TRACE_ARG(point, field) (offsetof(struct trace_args_##point, field) / sizeof(uint64_t))

#define ARG(name, type) uint64_t name;
#define QPN
#define CORR(name)
#define PORT
#define TEXT(name)
#define BYTES(name)
#define TP(name, unit, kind, fields, text, meaning)                                                \
	struct trace_args_##name {                                                                 \
		fields                                                                             \
	};
TRACE_POINTS(TP)
#undef TP
#undef ARG
#undef QPN
#undef CORR
#undef PORT
#undef TEXT
#undef BYTES

struct trace_watch;

static const uint8_t trace_point_kinds[TRACE_POINT_COUNT] = {
#define TP(name, unit, kind, fields, text, meaning) TRACE_##kind,
	TRACE_POINTS(TP)
#undef TP
};

/* One for each simulation. The members are public so that a point that is off costs only a load and
 * a test. */
struct trace {
	uint32_t kinds;    /* 1 << kind, for the points that somebody listens to */
	uint64_t now_ps;   /* the time of the last trace_advance() */
	uint64_t first_ps; /* the time of the earliest record that is held; UINT64_MAX: none is */
	struct trace_watch *watches;
	struct trace_state *state;
};

/* A sink. record() returns 0 or -errno. After its first error a sink gets no further records, and
 * trace_close() fails. */
struct trace_sink_ops {
	const char *name;
	/* path: the file to create. snap: how many bytes of a packet to keep, for sinks that keep
	 * packets as bytes. On success *sink is the sink's own object. */
	int (*open)(void **sink, const char *path, uint32_t snap);
	int (*record)(void *sink, const struct trace_record *r);
	int (*close)(void *sink); /* also called after an error; frees the sink */
	const char *file;         /* its name in the run's folder */
	uint32_t kinds;           /* 1 << kind, for what the sink writes; 0: everything */
};

/* Creates a trace without sinks and with every point off. NULL: no memory. */
struct trace *trace_create(void);

/*
 * Opens the sinks of a list such as "log,pcapng" (NULL or "": none), with their files in the
 * existing folder dir, and turns on the points that any of them writes. On an error it prints one
 * line to err, removes the files that this call has created, and returns -errno (-EINVAL: unknown
 * name).
 */
int trace_open(struct trace *tr, const char *list, const char *dir, FILE *err);

/* Sets how many bytes of a packet the sinks keep that trace_open() opens afterwards; counted from
 * the packet's start. Without this call they keep whole packets. */
void trace_snap(struct trace *tr, uint32_t bytes);

/* Adds a sink of the caller's own; its open() is not called. Turns on the points of the kinds in
 * `kinds` (1 << kind; 0: all). */
int trace_sink_add(struct trace *tr, const struct trace_sink_ops *ops, void *sink, uint32_t kinds);

/* Turns on the points of these kinds (1 << kind) and turns off all others. A sink still writes only
 * its own kinds. Records that are held are written even so. */
void trace_listen(struct trace *tr, uint32_t kinds);

/* Writes the records that are held, closes the sinks, and frees tr. 0, or the first error of any
 * sink (which has been printed to stderr). */
int trace_close(struct trace *tr);

/*
 * Writes out the buffers of all sinks of the process, when the process ends without trace_close().
 * May be called from a signal handler. The files then have everything that has happened so far,
 * except that timeline.json and waves.vcd lack the ends of what was under way.
 */
void trace_rescue(void);

/* For code that only trace points need: `make bench` compares with a build that has no trace
 * points. */
#ifdef TRACE_ABSENT
#define TRACE_BUILT false
#else
#define TRACE_BUILT true
#endif

/* True when somebody listens to this point. Ask before doing work for a record. tr may be NULL. */
static inline bool trace_on(const struct trace *tr, enum trace_point point)
{
	return TRACE_BUILT && __builtin_expect(tr && tr->kinds >> trace_point_kinds[point] & 1, 0);
}

/*
 * A copy of the trace's kinds inside an object that passes many points. Each point that is off then
 * costs one comparison with the object's own memory.
 */
struct trace_watch {
	uint32_t kinds; /* a copy of the trace's */
	struct trace_watch *next;
};

/* Keeps watch->kinds up to date until trace_unwatch(). tr may be NULL: then no point is ever on. */
void trace_watch(struct trace *tr, struct trace_watch *watch);
void trace_unwatch(struct trace *tr, struct trace_watch *watch);

void trace_emit(struct trace *tr, const struct trace_record *r);
void trace_release(struct trace *tr, uint64_t now_ps);

/* No later record will be earlier than now_ps. Must be called whenever simulated time advances. */
static inline void trace_advance(struct trace *tr, uint64_t now_ps)
{
	if (!tr)
		return;
	if (__builtin_expect(tr->first_ps <= now_ps, 0))
		trace_release(tr, now_ps);
	tr->now_ps = now_ps;
}

/*
 * Keeps the last n records of these kinds (1 << kind; 0: all) to show when a run fails, and turns
 * their points on. Of a record's bytes the first 128 are kept.
 */
int trace_tail_keep(struct trace *tr, uint32_t n, uint32_t kinds);
/* Prints the packets and the actions of the fault plan among the kept records, from that time on,
 * as a ladder between hca0 (left) and hca1 (right). */
void trace_ladder_print(struct trace *tr, uint64_t from_ps, FILE *out);

/*
 * Checks a file of a run as this simulator writes it.
 *
 * A capture: structure, lengths, pads and opcodes, and both CRCs, which are recomputed from the
 * bytes. Packets whose comment has fault= may be wrong. Verbose prints one line for each packet.
 *
 * A file named .vcd or .json is checked as waves.vcd or timeline.json: form, order of times,
 * nesting of functions, complete chains. A file named .records is read as run.records; verbose
 * prints the log that its records make.
 *
 * 0: right; 1: wrong packets (which are printed) or a file of records without its end; 2:
 * unreadable file.
 */
int trace_check_file(const char *path, bool verbose, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
