/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers of queues as the driver made them. A context tells the device where a queue is, how long
 * it is, and how far its entries are from each other; the driver has made a buffer for it before. Both
 * must be of one size, and what the driver writes must stand where the device looks for it.
 */
#ifndef TESTBENCH_DSAN_ASKED_BUFFERS_H
#define TESTBENCH_DSAN_ASKED_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ask;
struct checker;
struct compared;
struct qpc;

/* The driver's function that makes a buffer, and the checker's n_recent when it began. */
struct maker {
	const char *call;
	uint32_t since_recent;
};

/* It has made a buffer of so many bytes, in these pages, behind that MTT entry. */
void buffer_made(struct checker *c, uint64_t mtt_addr, size_t bytes, uint8_t *const *pages,
		 const uint64_t *bus, unsigned n, const struct maker *maker);
void buffer_gone(const struct checker *c, uint64_t mtt_addr);
void buffers_forget(const struct checker *c);

/* A context of that layout gives the device a buffer. */
struct layout;
void buffer_says(struct compared *d, const struct layout *layout, uint64_t mtt_addr,
		 uint64_t bytes);
/* So does that of a queue pair, whose send queue must be marked as the software's. */
void buffer_of_qp_says(struct compared *d, const struct qpc *q);

/* The request at `slot` was not written by this call, which wrote elsewhere in the buffer: reports
 * where. false: it did not. */
bool buffer_place_check(const struct ask *a, bool sends, uintptr_t slot);

#endif
