/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of each message went: the lines of a run's log that belong to one send WQE, from
 * the driver's post to the driver's poll, and the commands.
 *
 * Driver lines are there only when our driver ran; a point of time that did not occur (a datagram
 * has no ACK, an unsignaled WQE no CQE) is MESSAGE_NEVER, and its stage belongs to the next one.
 */
#ifndef TRACES_MESSAGES_H
#define TRACES_MESSAGES_H

#include "traces/run_files.h"

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

struct message {
	uint64_t at_ps[MESSAGE_POINT_COUNT];
	uint64_t bytes; /* of payload, from packets or a READ's length */
	uint32_t qpn, index;
	uint32_t first_psn, last_psn;
	uint32_t packets, resent; /* sent for it, and those of them sent again */
	const char *opcode;       /* of the WQE, up to a blank or comma */
	unsigned opcode_len;
	uint8_t hca;
	bool is_whole; /* its last packet has left */
	bool is_read;  /* READ or atomic: answered by a response */
	bool failed;   /* its CQE says an error */
};

struct command {
	uint64_t posted_ps, done_ps; /* done: MESSAGE_NEVER without */
	const char *name;            /* up to a blank */
	unsigned name_len;
	uint8_t hca;
};

struct messages {
	struct message *messages; /* as their WQEs were fetched */
	size_t count;
	struct command *commands; /* as posted */
	size_t command_count;
};

/* 0 or -ENOMEM. The strings are the run's. */
int messages_find(struct messages *all, const struct run_files *run);
void messages_free(struct messages *all);

/* The stage's time; false when its end or every point before it did not occur. */
bool message_stage(const struct message *m, enum message_point end, uint64_t *ps);
const char *message_stage_word(enum message_point end);
const char *message_stage_meaning(enum message_point end);

/* A line a message: its stages in ns, and their sum; then the mean. phase: only messages fetched in
 * it; NULL: in all but bring-up and tear-down. */
void messages_print(const struct messages *all, const struct run_files *run, const char *phase,
		    FILE *out);

#endif
