/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace layer: parts of the model emit records at trace points (points.h), sinks write them.
 *
 * Every sink sees records ordered by (time, order of emission). A record may be stamped in the
 * future (a packet's last bit leaves after the event that sends it), never before the last
 * trace_advance(). Bytes and text of a record are borrowed for the call only, but see bytes_stay.
 *
 * What a record carries stands in the row of its point (points.h). What a row does not name is 0 or
 * NULL. qpn is 24 bits. What the names do not say:
 *
 * - PACKET: packet: the bytes on the wire, LRH to VCRC; qpn: the QP of this HCA; known: enum
 *   trace_packet_flag; transmission: 1 for the first. A packet is emitted as PKT_OUT at the sender
 *   when its last bit leaves and as PKT_IN at the receiver when it arrives; a lost one only as
 *   PKT_OUT. fault: what the fault plan did to it. Where the plan changed the bytes, both say so.
 * - ETHERNET: frame: without preamble and FCS. ETH_OUT and ETH_IN as PKT_OUT and PKT_IN; hca: the
 *   number of the host.
 * - REG: the value of a BAR access is the number that its bytes make in address order, first byte
 *   most significant; that of config space, least significant first.
 * - HCR: mailbox: the input mailbox when posted, the output mailbox when done, NULL where there is
 *   none. event: 1 when software asks for an event.
 * - WQE: bytes as they lie in the buffer. srqn: of a receive WQE that came from an SRQ, else 0.
 *   service: enum qp_service of the QP.
 * - SPAN: the stage is busy from the record's time, which may be in the future, until `until`; a
 *   reset may end it earlier. cause of a DMA: enum dma_corr of pcie.h. LINK_TX, LINK_RX: qpn: the
 *   sender's; credits: left, in blocks of 64 bytes; wqe: of a request. traits: enum trace_trait.
 *   EQE_RUN: cqn: of a completion event.
 * - REQ_STATE, RESP_STATE: waits: 1 when the machine stops there until something comes.
 * - LEVEL: length: the new value; change: by how much it changes.
 * - CALL: a function or wait begins or ends, strictly nested on its thread.
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

/* What a sink does with a point; those behind NOTE are for waves and timelines, not for the log. */
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
	TRACE_KINDS_TEXT = (1 << TRACE_SPAN) - 1, /* what the log writes */
};

enum trace_packet_flag {
	TRACE_PACKET_WR_ID = 1 << 0, /* args[1] is valid */
	TRACE_PACKET_WQE = 1 << 1,   /* args[2] is valid */
};

/* Of a packet, in spans: its BTH opcode, and */
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
	bool bytes_stay; /* bytes are there until trace_advance() to the record's time */
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

/* Where in a record a field stands. */
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

/* What a row of points.h says. */
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
 * The index in args[] of a field of a point: r->args[TRACE_ARG(LINK_TX, credits)]. Each point has a
 * struct of its fields in args[] for this and nothing else.
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

/* One a simulation. What is public is so that a point that is off costs one load and a test. */
struct trace {
	uint32_t kinds;    /* 1 << kind of the points that somebody listens at */
	uint64_t now_ps;   /* of the last trace_advance */
	uint64_t first_ps; /* time of the earliest record held, UINT64_MAX when none is */
	struct trace_watch *watches;
	struct trace_state *state;
};

/* A sink. record() returns 0 or -errno; after its first error a sink gets no further record, and
 * trace_close() fails. */
struct trace_sink_ops {
	const char *name;
	/* path: the file to make. snap: bytes of a packet that are kept, where packets are kept as
	 * bytes. On success *sink is the sink's own object. */
	int (*open)(void **sink, const char *path, uint32_t snap);
	int (*record)(void *sink, const struct trace_record *r);
	int (*close)(void *sink); /* also after an error; frees */
	const char *file;         /* its name in the run's folder */
	uint32_t kinds;           /* 1 << kind of what it writes, 0: all */
};

/* No sink, every point off. NULL when there is no memory. */
struct trace *trace_create(void);

/*
 * Opens the sinks of a list such as "log,pcapng" (NULL or "": none) with their files in dir, which
 * must exist, and turns the points on that one of them writes. On an error prints one line to err,
 * leaves no file of this call, and returns -errno
 * (-EINVAL: unknown name).
 */
int trace_open(struct trace *tr, const char *list, const char *dir, FILE *err);

/* Of packets that trace_open() has written as bytes this many are kept, from the first on; at the
 * beginning all. */
void trace_snap(struct trace *tr, uint32_t bytes);

/* Adds a sink of the caller's; its open() is not called. Turns on the points of the kinds in mask
 * (1 << kind), 0: all. */
int trace_sink_add(struct trace *tr, const struct trace_sink_ops *ops, void *sink, uint32_t kinds);

/* From now on the points of these kinds (1 << kind) are on, no others; a sink still writes only its
 * own. What is held is written all the same. */
void trace_listen(struct trace *tr, uint32_t kinds);

/* Writes what is held, closes the sinks, frees tr. 0, or the first error of any sink (which was
 * printed to stderr). */
int trace_close(struct trace *tr);

/*
 * Writes what all sinks of the process have in their buffers: when it ends in another way than by
 * trace_close(). From a signal's handler too. What has happened until then is in the files; of
 * timeline.json and waves.vcd the ends of what was under way are missing.
 */
void trace_rescue(void);

/* `make bench` compares with a build that has no trace points; what only they need asks this. */
#ifdef TRACE_ABSENT
#define TRACE_BUILT false
#else
#define TRACE_BUILT true
#endif

/* True when somebody listens at this point: ask before work is done for a record. tr may be NULL.
 */
static inline bool trace_on(const struct trace *tr, enum trace_point point)
{
	return TRACE_BUILT && __builtin_expect(tr && tr->kinds >> trace_point_kinds[point] & 1, 0);
}

/*
 * Stands inside an object with many points on its way, so that each of them that is off costs it
 * one comparison with memory of its own.
 */
struct trace_watch {
	uint32_t kinds; /* of the trace */
	struct trace_watch *next;
};

/* Keeps watch->kinds right until trace_unwatch(). tr may be NULL: nothing is ever on. */
void trace_watch(struct trace *tr, struct trace_watch *watch);
void trace_unwatch(struct trace *tr, struct trace_watch *watch);

void trace_emit(struct trace *tr, const struct trace_record *r);
void trace_release(struct trace *tr, uint64_t now_ps);

/* No later record will be earlier than now_ps. To be called whenever simulated time goes on. */
static inline void trace_advance(struct trace *tr, uint64_t now_ps)
{
	if (!tr)
		return;
	if (__builtin_expect(tr->first_ps <= now_ps, 0))
		trace_release(tr, now_ps);
	tr->now_ps = now_ps;
}

/*
 * Keeps the last n records of these kinds (1 << kind, 0: all) for failure output, and turns their
 * points on. Of bytes the first 128 are kept.
 */
int trace_tail_keep(struct trace *tr, uint32_t n, uint32_t kinds);
/* Prints the packets and fault plan actions among them as a ladder between hca0 (left) and hca1
 * (right), from that time on. */
void trace_ladder_print(struct trace *tr, uint64_t from_ps, FILE *out);

/*
 * Checks a capture as this simulator writes them: structure, lengths, pads, opcodes, both CRCs
 * recomputed from the bytes; packets whose comment has fault= may be wrong. Verbose prints a line a
 * packet. A file named .vcd or .json is checked as waves.vcd or timeline.json: form, order of
 * times, nesting of functions, complete chains. One named .records is read as run.records, verbose
 * prints the log that its records make. 0: right, 1: wrong packets (printed) or records without
 * their end, 2: unreadable file.
 */
int trace_check_file(const char *path, bool verbose, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
