/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packet sequence numbers and sequence numbers of messages: arithmetic modulo 2^24. psn_add() and
 * psn_diff() (signed) are in wire.h.
 *
 * The packets outstanding on a QP may span 2^23 PSNs (one READ of 2^31 bytes at an MTU of 256). A
 * signed difference is ambiguous over such a span, so the requester measures all PSNs as unsigned
 * distances from its oldest unacknowledged PSN. Source: IBA 9.7.1, 9.7.2.
 */
#ifndef MODEL_ENGINE_PSN_H
#define MODEL_ENGINE_PSN_H

#include "model/interface/wire.h"

enum { PSN_OUTSTANDING_MAX = 1 << 23 };

/* How far `psn` is ahead of `base`: 0 .. 2^24 - 1. */
static inline uint32_t psn_ahead(uint32_t psn, uint32_t base)
{
	return (psn - base) & PSN_MASK;
}

/* Whether psn is one of the n that begin with base. */
static inline bool psn_within(uint32_t psn, uint32_t base, uint32_t n)
{
	return psn_ahead(psn, base) < n;
}

/* Packets of a message of so many bytes: a message without data is one packet. */
static inline uint32_t psn_packets(uint32_t bytes, unsigned log_mtu)
{
	return bytes ? (uint32_t)(((uint64_t)bytes + (1u << log_mtu) - 1) >> log_mtu) : 1;
}

#endif
