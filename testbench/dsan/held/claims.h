/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims: which live object of the device points to which memory. The device's tables are the truth;
 * they are read when an object becomes the device's, and here the question is answered the other way
 * round: whose is this page, this MTT entry, this doorbell record. So a release is judged at the
 * moment of the release, not when the device happens to use what is gone.
 */
#ifndef TESTBENCH_DSAN_HELD_CLAIMS_H
#define TESTBENCH_DSAN_HELD_CLAIMS_H

#include "model/engine/hca.h"

#include <stdbool.h>
#include <stdint.h>

struct checker;
struct claims;
struct object_memory; /* claims_impl.h */

/* What holds memory: the objects of the device, in the order of enum hca_object, and what it uses
 * besides. H(NAME, "name") */
#define HOLDER_KINDS(H)                                                                            \
	H(QP, "qpn")                                                                               \
	H(CQ, "cqn")                                                                               \
	H(EQ, "eqn")                                                                               \
	H(SRQ, "srqn")                                                                             \
	H(MPT, "mpt")                                                                              \
	H(ICM, "icm")                                                                              \
	H(FIRMWARE, "firmware area")                                                               \
	H(COMMAND, "command")

enum holder_kind {
#define H(NAME, name) HOLDER_##NAME,
	HOLDER_KINDS(H)
#undef H
		HOLDER_KIND_COUNT
};

enum claim_use {
	CLAIM_PAGE,   /* a page of its buffer, region or area */
	CLAIM_RECORD, /* its doorbell record, somewhere in the page */
};

struct claim;

struct holder {
	enum holder_kind kind;
	uint32_t number;
	bool live;           /* it is the device's */
	bool taken;          /* its memory was taken, and that was reported */
	uint32_t taken_page; /* of ICM: the page that was taken last */
	struct claim *claims;
	struct holder *hash_next;
	struct queues *queues; /* of own.c, which frees it */
	uint64_t record;       /* bus address of its doorbell record; 0: none */
	uint32_t mtt_first, mtt_count;
};

struct claim {
	struct claim *page_next, *holder_next;
	struct holder *holder;
	uint32_t page; /* of the host's memory */
	uint32_t nth;  /* CLAIM_PAGE: of the holder's pages of 4 KiB; of ICM: its page number */
	enum claim_use use;
};

struct claims *claims_create(struct checker *c);
void claims_destroy(struct claims *cl);

/* An object begins, changes or ends, as in struct hca_monitor. Returns it, while it lives, with its memory;
 * *fresh: it was not known before. */
struct holder *claims_object(struct claims *cl, enum hca_object type, uint32_t number, bool valid,
			     const struct mpt_entry *mpt, struct object_memory *m, bool *fresh);
/* As in struct hca_monitor. */
void claims_command(struct claims *cl, const struct hcr *command,
		    const struct hca_command_answer *answer);
void claims_icm_map(struct claims *cl, uint64_t va, uint64_t bus, uint64_t len);
void claims_icm_unmap(struct claims *cl, uint64_t va, uint64_t len);
void claims_forgotten(struct claims *cl, bool reset);
/* A CQ goes on in its new buffer: the device needs the old one, which has that address, no longer. Returns
 * the CQ; NULL: none has it. */
struct holder *claims_cq_resized(struct claims *cl, uintptr_t at);

/* The driver maps memory for the device, and takes it back. */
void claims_mapped(struct claims *cl, uintptr_t at, uint64_t bytes);
void claims_unmapped(struct claims *cl, uintptr_t at, uint64_t bytes, const void *pc);
/* The device reaches this memory no longer, however often it was mapped. */
void claims_taken(struct claims *cl, uintptr_t at, uint64_t bytes, const void *pc);
/* The driver stores into memory. */
void claims_store(struct claims *cl, uintptr_t at, uint64_t bytes, const void *pc);

/* The driver gives back what objects point to: a doorbell record, MTT entries, a number, the entry of
 * a number in one of the tables (FW_TABLE_*). */
void claims_record_back(struct claims *cl, uint64_t bus, const void *pc);
void claims_mtts_back(struct claims *cl, uint32_t first, uint32_t n, const void *pc);
void claims_number_back(struct claims *cl, enum hca_object type, uint32_t number, const void *pc);
void claims_entry_back(struct claims *cl, unsigned table, uint32_t number, const void *pc);

/* Calls fn for each object that is or was the device's. */
void claims_each(struct claims *cl, void (*fn)(void *arg, struct holder *h), void *arg);
/* The first claim of a page; NULL: there is none. */
const struct claim *claims_of_page(const struct claims *cl, uintptr_t at);
/* Writes what used a page last, now or before, such as "a page of qpn 40". false: nothing has. */
bool claims_last(const struct claims *cl, uintptr_t at, char *text, size_t size);
/* The object, NULL when it is not the device's. */
struct holder *claims_find(const struct claims *cl, enum holder_kind kind, uint32_t number);
const char *holder_name(const struct holder *h);

#endif
