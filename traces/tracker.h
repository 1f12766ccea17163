/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out which records belong to one message. The tracker takes the records of a run in their
 * order, either during the run (timeline.json) or from the run's file of records (stages, diff,
 * report). For each send WQE it finds the points of time from the driver's post to the driver's
 * poll.
 *
 * At each record, the tracker knows about a QP or CQ only what the records before it said. A point
 * of time that did not occur is MESSAGE_NEVER: a datagram has no ACK, an unsignaled WQE has no CQE,
 * and the driver of a guest is not traced. The time of its stage then counts for the next stage.
 */
#ifndef TRACES_TRACKER_H
#define TRACES_TRACKER_H

#include "traces/trace.h"

/* M(point of time, word for the stage that ends with it, what the stage is), in the order in which
 * the points occur. */
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
	uint64_t bytes;  /* of payload: that of its packets, or the length of a READ */
	uint64_t number; /* counts messages in the order in which their WQEs were fetched */
	uint32_t qpn, index;
	uint32_t first_psn, last_psn;
	uint32_t packets, resent;        /* packets sent for it; of these, retransmissions */
	char opcode[MESSAGE_NAME_CHARS]; /* of the WQE */
	uint8_t hca;
	bool has_left; /* its first packet has left, with PSN first_psn */
	bool is_whole; /* its last packet has left */
	bool is_read;  /* a READ or atomic, which is answered by a response */
	bool failed;   /* its CQE reports an error */
	uint8_t holds; /* how many of the tracker's lists it is in */
	void *user;    /* for the tracker's user */
};

struct command {
	uint64_t posted_ps, done_ps; /* done: MESSAGE_NEVER when it is not done */
	uint32_t opcode;
	char name[MESSAGE_NAME_CHARS];
	uint8_t hca;
};

/* The callbacks of the tracker's user; each may be NULL. */
struct tracker_ops {
	/* Allocates a message of zeros. The user frees it when it likes, but not before over().
	 * NULL: no memory. */
	struct message *(*begin)(void *user);
	/* The tracker has forgotten the message: nothing more will happen to it. */
	void (*over)(void *user, struct message *m);
	/* A command has been posted; or it is done, and done_ps is the record's time. 0 or
	 * -errno. */
	int (*command)(void *user, const struct command *command, bool is_done);
};

struct tracker;

/* NULL: no memory. */
struct tracker *tracker_new(const struct tracker_ops *ops, void *user);
/* 0 or -errno. */
int tracker_record(struct tracker *t, const struct trace_record *r);
/* Calls over() for every message that the tracker still has. */
void tracker_free(struct tracker *t);

/* Messages of a QP that have not completed: the i-th, counted from the oldest, 0; the one with this
 * WQE index; the newest one that has left and begins at this PSN or before it. NULL: there is
 * none. */
struct message *tracker_open(struct tracker *t, unsigned hca, uint32_t qpn, size_t i);
struct message *tracker_by_index(struct tracker *t, unsigned hca, uint32_t qpn, uint32_t index);
struct message *tracker_by_psn(struct tracker *t, unsigned hca, uint32_t qpn, uint32_t psn);

#endif
