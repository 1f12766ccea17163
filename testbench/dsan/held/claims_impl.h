/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by claims.c (who holds what), releases.c (what the driver takes back meanwhile) and objects.c (what an
 * object of the device points to). */
#ifndef TESTBENCH_DSAN_HELD_CLAIMS_IMPL_H
#define TESTBENCH_DSAN_HELD_CLAIMS_IMPL_H

#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/held/claims.h"

enum {
	CLAIM_PAGE_SIZE = 4096,
	CLAIM_MTTS = 1 << 28, /* those beyond are not looked at */
	CLAIM_BUCKETS = 1 << 14,
};

struct claims {
	struct checker *c;
	struct claim **pages; /* of the host's memory: the first claim of each */
	struct claim_last {
		const char *holder; /* its kind; NULL: nobody's */
		uint32_t number;
		enum claim_use use;
	} * last;             /* of the host's memory: whose each was last */
	uint16_t *mapped;     /* of the host's memory: how often the driver has mapped each */
	struct holder **mtts; /* by index: whose it is. Only what is used takes memory */
	struct claim *free;
	struct holder *buckets[CLAIM_BUCKETS];
};

static inline uint32_t claims_page(const struct claims *cl, uintptr_t at)
{
	return (uint32_t)((at - (uintptr_t)cl->c->host.memory) / CLAIM_PAGE_SIZE);
}

/* For a report. */
struct guest_object holder_object(const struct holder *h);

/* A ring of entries in a queue's buffer; log_stride 0: there is none. */
struct ring_shape {
	uint64_t offset; /* from the beginning of the first page */
	unsigned log_stride, log_count;
};

/* The memory that an object of the device points to. */
struct object_memory {
	bool has_pages;
	uint64_t mtt_addr; /* of the first MTT entry, as in contexts */
	uint64_t start;    /* bytes from the first page to the first byte */
	uint64_t bytes;
	unsigned log_page;
	uint32_t mtt_count; /* entries that it owns */
	uint64_t record;    /* bus address of its doorbell record; 0: none */
	struct ring_shape entries, sends, receives; /* of a CQ or EQ; of a QP */
	bool no_prefetch; /* the device does not read ahead in the send queue */
	bool frames;      /* a queue pair of a network interface */
	/* A queue pair whose receives are those of an SRQ. xrc: each completion names the SRQ; srq: it is
	 * always `srqn`. */
	bool srq, xrc;
	uint32_t srqn;
};

/* Reads it from the object's context. false: the object is not valid, or cannot be read. mpt: as in
 * struct hca_monitor. */
bool object_read(struct hca *hca, enum hca_object type, uint32_t number,
		 const struct mpt_entry *mpt, struct object_memory *m);
/* Two numbers of one object, such as a QPN with and without QPN_XRC_TARGET, have one index. */
uint32_t object_index(const struct hca *hca, enum hca_object type, uint32_t number);
/* The ICM address of the nth entry that must be mapped while the object lives; false: there are no
 * more. *what is the table's name. */
bool object_needs(const struct hca *hca, enum hca_object type, uint32_t number, unsigned nth,
		  uint64_t *va, const char **what);

#endif
