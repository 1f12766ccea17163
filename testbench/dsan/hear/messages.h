/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of connection management, for the hooks that compare them: hooks_cm.c with what their sender
 * was asked to say, hooks_came.c with what their receiver tells of them.
 */
#ifndef TESTBENCH_DSAN_HEAR_MESSAGES_H
#define TESTBENCH_DSAN_HEAR_MESSAGES_H

#include "host_driver/cm/cm.h"
#include "model/interface/rules.h"

#include <stddef.h>
#include <stdint.h>

struct checker;

enum { MESSAGE_NAMES_BYTES = 200 };

/* A message as its sender has written it. */
struct message {
	struct checker *c; /* NULL: nothing is judged */
	const struct smp *mad;
	const char *name;
	bool gone; /* it stood on the sender's stack: `mad` is a copy */
};

struct said {
	const char *field;
	uint64_t is, asked;
};

/* The message in an id, once it has been sent. */
struct message message_of(const struct ib_cm_id *cm_id, bool answer, unsigned attr,
			  const char *name, int rc);
/* What it says, against what it should; the first difference is reported. */
void message_fields_check(const struct message *m, const struct said *said, size_t n);
/* The first `n` of `room` bytes must be those; behind them stand zeros. */
void message_bytes_check(const struct message *m, const char *what, const void *is,
			 const void *asked, size_t n, size_t room);
/* The message ends with these `len` bytes of private data, behind which zeros stand. */
#define MESSAGE_DATA_CHECK(m, type, data, len)                                                     \
	message_bytes_check(m, "private data", type##_private_data_cptr((const void *)(m)->mad),   \
			    data, len, type##_private_data_size)
/* The running thread destroys the id, at `pc`: not within a handler of it, which would wait for itself. */
void handlers_destroy_check(const struct cm_id *id, const void *pc);

#endif
