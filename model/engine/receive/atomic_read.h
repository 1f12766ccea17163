/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READs and atomics: their execution, and the responder resources (RDMARC entries of the QP in ICM,
 * layout rdmarc), from which repeated requests are answered. from: responder; to: pcie, responder's
 * response queue. Time: [hca.atomic_read]: atomics are serialised in the device; [hca.responder]
 * read_dma.
 *
 * The entries form a ring of 1 << rra_max. The context's rx_resource and rx_resources say which of
 * them belong to this connection.
 */
#ifndef MODEL_ENGINE_ATOMIC_READ_H
#define MODEL_ENGINE_ATOMIC_READ_H

#include <stdbool.h>
#include <stdint.h>

struct rdmarc;

/* Operands of an atomic in wire order. An unmasked one has full masks, or no field boundaries. */
struct atomic_operands {
	bool swap; /* compare and swap; else fetch and add */
	uint64_t swap_add, compare, swap_mask;
	uint64_t compare_mask; /* fetch and add: top bit of each field */
};

/* The value in memory after an atomic on `old`. */
uint64_t atomic_result(const struct atomic_operands *op, uint64_t old);

/* Whether a READ of [va, va + length) at psn repeats the READ of this entry, from its start or from
 * one of its response packets of mtu bytes on (IBA 9.7.5). */
bool read_repeats(const struct rdmarc *entry, uint32_t psn, uint64_t va, uint32_t rkey,
		  uint32_t length, uint32_t mtu);

#endif
