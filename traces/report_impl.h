/* SPDX-License-Identifier: Apache-2.0 */
/* Inside report*.c only: packets joined from where they left and where they arrived, and texts that
 * stand once. */
#ifndef TRACES_REPORT_IMPL_H
#define TRACES_REPORT_IMPL_H

#include "traces/report.h"

enum { REPORT_FILE_MAX = 1 << 20 };

/* --- texts by number */

struct report_texts {
	struct {
		char *text;
		size_t len;
	} * texts;
	uint32_t *table; /* numbers plus 1, by hash */
	uint32_t count, room;
	int err;
};

uint32_t report_text(struct report_texts *texts, const char *text, size_t len);
void report_texts_free(struct report_texts *texts);

/* --- packets in the order in which they left. */

struct report_packet {
	uint64_t out_ps, in_ps; /* in: MESSAGE_NEVER when it did not arrive */
	uint32_t op, note;      /* texts */
	uint32_t qpn, from;     /* to and of which QP */
	uint32_t psn, payload, wqe;
	uint16_t flags; /* enum report_flag */
	uint8_t hca;    /* that sent it */
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
