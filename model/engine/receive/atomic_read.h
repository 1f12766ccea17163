/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READs and atomics: execution, and the responder resources (RDMARC entries of the QP in ICM,
 * layout rdmarc) that let a requester ask again. from: responder; to: pcie, responder's response
 * queue. Time: [hca.atomic_read]: atomics are serialised in the device; [hca.responder] read_dma.
 *
 * The entries are a ring of 1 << rra_max; rx_resource and rx_resources of the context say which of
 * them belong to this connection.
 */
#ifndef MODEL_ENGINE_ATOMIC_READ_H
#define MODEL_ENGINE_ATOMIC_READ_H

#include <stdbool.h>
#include <stdint.h>

struct rdmarc;

/* Operands of an atomic in the order of the wire; a plain one has full masks or no boundaries. */
struct atomic_operands {
	bool swap; /* compare and swap; else fetch and add */
	uint64_t swap_add, compare, swap_mask;
	uint64_t compare_mask; /* fetch and add: top bit of each field */
};

/* What memory holds after an atomic on `old`. */
uint64_t atomic_result(const struct atomic_operands *op, uint64_t old);

/*
 * Whether a READ of [va, va + length) at psn, of `packets` response packets of mtu bytes, is a
 * repetition of the entry's, whole or from one of its packets on (IBA 9.7.5).
 */
bool read_repeats(const struct rdmarc *entry, uint32_t psn, uint64_t va, uint32_t rkey,
		  uint32_t length, uint32_t mtu);

#endif
