/* SPDX-License-Identifier: Apache-2.0 */
/* Only for report*.c: packets, each joined from the records of its leaving and its arrival, and a
 * table that stores each text once. */
#ifndef TRACES_REPORT_IMPL_H
#define TRACES_REPORT_IMPL_H

#include "traces/report.h"

enum { REPORT_FILE_MAX = 1 << 20 };

/* --- texts, each with a number --- */

struct report_texts {
	struct {
		char *text;
		size_t len;
	} * texts;
	uint32_t *table; /* a hash table of numbers plus 1 */
	uint32_t count, room;
	int err;
};

uint32_t report_text(struct report_texts *texts, const char *text, size_t len);
void report_texts_free(struct report_texts *texts);

/* --- packets, in the order in which they left --- */

struct report_packet {
	uint64_t out_ps, in_ps; /* in_ps: MESSAGE_NEVER when it did not arrive */
	uint32_t op, note;      /* numbers of texts */
	uint32_t qpn, from;     /* the QP that it goes to, and the QP that it comes from */
	uint32_t psn, payload, wqe;
	uint16_t flags; /* enum report_flag */
	uint8_t hca;    /* the sender */
};

struct report_packets {
	struct report_packet *packets;
	size_t count, room;
};

/* 0 or -ENOMEM. */
int report_packets_find(struct report_packets *all, struct report_texts *texts,
			const struct run_files *run);
void report_packets_free(struct report_packets *all);

#endif
