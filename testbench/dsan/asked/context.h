/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that a driver hands to the device, against what it was asked for: context.c judges each
 * command, context_qp.c those of queue pairs, context_parts.c what contexts have in common. */
#ifndef TESTBENCH_DSAN_ASKED_CONTEXT_H
#define TESTBENCH_DSAN_ASKED_CONTEXT_H

#include "testbench/dsan/asked/asked_impl.h"

#include "model/interface/regs.h"
#include "model/interface/rows.h"

/* In a report of a field that is 0 and must not be. */
#define ASKED_SOME UINT64_MAX

static inline unsigned log2_up(uint64_t n)
{
	return n <= 1 ? 0 : 64u - (unsigned)__builtin_clzll(n - 1);
}

/* --- context_parts.c --- */

/* The doorbell record at that bus address belongs to a new queue. */
void record_is_clear(const struct compared *c, uint64_t bus);
/* `is` is what the context says: its doorbell page, protection domain, XRC domain. */
void page_says(struct compared *c, const struct layout *layout, const void *context, uint32_t is,
	       const struct drv_uar *uar);
void domain_says(struct compared *c, const struct layout *layout, const void *context, uint32_t is,
		 struct made *pd);
void xrc_domain_says(struct compared *c, const struct layout *layout, const void *context,
		     uint32_t is, struct made *xrcd);

/* --- context_qp.c --- */

/* A transition with a context in its mailbox, at `at`. */
void qp_context_says(struct compared *c, struct ask *a, uint32_t opcode, uintptr_t at);
/* A transition itself, without its mailbox. */
void qp_transition_says(const struct ask *a, const struct hcr *command);

#endif
