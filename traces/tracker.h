/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records belong to one message: the tracker takes the records of a run in their order, while
 * it runs (timeline.json) or from its file of records (stages, diff, report), and finds for each
 * send WQE the points of time from the driver's post to the driver's poll.
 *
 * What is known of a QP or CQ at a record is what the records before it said. A point of time that
 * did not occur (a datagram has no ACK, an unsignaled WQE no CQE, and a driver of a guest is not
 * traced) is MESSAGE_NEVER, and its stage belongs to the next one.
 */
#ifndef TRACES_TRACKER_H
#define TRACES_TRACKER_H

#include "traces/trace.h"

/* M(point of time, word of the stage that ends with it, what the stage is); in the order in which
 * they occur */
#define MESSAGE_POINTS(M)                                                                          \
	M(POSTED, "post", "begins when the driver posts")                                          \
	M(DOORBELL, "doorbell", "the driver writes the WQE; the doorbell crosses PCIe")            \
	M(PICKED, "schedule", "until a processing unit takes the QP")                              \
	M(WQE, "wqe", "context and WQE are brought into the device")                               \
	M(FIRST_OUT, "first_packet", "keys, addresses, payload by DMA, serialisation")             \
	M(LAST_OUT, "more_packets", "the rest of the message's packets")                           \
	M(RESENT, "retry", "until the last packet left again, after losses or RNR")                \
	M(ARRIVED, "wire", "the last packet crosses the cable")                                    \
	M(ANSWERED, "respond", "the responder's work, until its ACK or last response has left")    \
	M(ANSWER, "return", "the answer crosses the cable")                                        \
	M(CQE, "completion", "response payload and CQE are written to host memory")                \
	M(EQE, "event", "an EQE is written to host memory")                                        \
	M(POLLED, "poll", "interrupt, and the driver takes the CQE")

enum message_point {
#define M(name, word, meaning) MESSAGE_##name,
	MESSAGE_POINTS(M)
#undef M
		MESSAGE_POINT_COUNT
};

#define MESSAGE_NEVER UINT64_MAX

enum { MESSAGE_NAME_CHARS = 24 };

struct message {
	uint64_t at_ps[MESSAGE_POINT_COUNT];
	uint64_t bytes;  /* of payload, from packets or a READ's length */
	uint64_t number; /* in the order in which their WQEs were fetched */
	uint32_t qpn, index;
	uint32_t first_psn, last_psn;
	uint32_t packets, resent;        /* sent for it, and those of them sent again */
	char opcode[MESSAGE_NAME_CHARS]; /* of the WQE */
	uint8_t hca;
	bool has_left; /* its first packet has, with first_psn */
	bool is_whole; /* its last packet has left */
	bool is_read;  /* READ or atomic: answered by a response */
	bool failed;   /* its CQE says an error */
	uint8_t holds; /* of the tracker's lists */
	void *user;    /* the user's own */
};

struct command {
	uint64_t posted_ps, done_ps; /* done: MESSAGE_NEVER without */
	uint32_t opcode;
	char name[MESSAGE_NAME_CHARS];
	uint8_t hca;
};

/* What the tracker tells its user; each may be NULL. */
struct tracker_ops {
	/* Room for one more message, zeroed, that the user frees when it wants to, but not before
	 * over(). NULL without memory. */
	struct message *(*begin)(void *user);
	/* The tracker has forgotten the message: nothing more happens to it. */
	void (*over)(void *user, struct message *m);
	/* A command is posted, or done: then its done_ps is the record's. 0 or -errno. */
	int (*command)(void *user, const struct command *command, bool is_done);
};

struct tracker;

/* NULL without memory. */
struct tracker *tracker_new(const struct tracker_ops *ops, void *user);
/* 0 or -errno. */
int tracker_record(struct tracker *t, const struct trace_record *r);
/* Every message that is not over is now. */
void tracker_free(struct tracker *t);

/* Messages of a QP that are not completed: the i-th, the oldest being 0; the one with this index;
 * the newest one that has left and begins at this PSN or before it. NULL when there is none. */
struct message *tracker_open(struct tracker *t, unsigned hca, uint32_t qpn, size_t i);
struct message *tracker_by_index(struct tracker *t, unsigned hca, uint32_t qpn, uint32_t index);
struct message *tracker_by_psn(struct tracker *t, unsigned hca, uint32_t qpn, uint32_t psn);

#endif
