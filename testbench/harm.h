/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults other than those on the wire, for scenarios: late DMA, a masked MSI-X vector, contexts and
 * keys evicted from the caches, commands that firmware refuses. As with faults on the wire, the
 * scenario fails if a requested fault does not happen.
 *
 *	late_read(a, "payload", CFG_US(5), .skip = 1);	the second payload read from now on
 *	fail_command(b, HCR_SW2HW_CQ, HCR_STATUS_EXCEED_LIM, 1);
 *	evict_qp(b, 0);					the next packet for this QP misses the cache
 */
#ifndef TESTBENCH_HARM_H
#define TESTBENCH_HARM_H

#include "model/interface/commands.h"
#include "testbench/services.h"

#include <errno.h>

/* The nth allocation of the driver from now on that the calling thread makes finds no memory; 0: none.
 * Pages and wait queues are allocations, too. Returns whether the one asked for before has come. A process
 * may call it, too. */
bool lack_memory(unsigned nth);
/* The same of all threads but the calling one, such as those that hear of messages. */
bool lack_memory_elsewhere(unsigned nth);
/*
 * In a process, whose function returns an int: makes that call again and again, each time with one
 * allocation more that succeeds, until none fails any more; each twice, because what a call that has
 * failed may keep is not allocated again. Each call that finds no memory must be refused
 * with ENOMEM; `made` says whether it was not. The function returns its line if that is not so.
 */
#define MADE_WITHOUT_MEMORY(made)                                                                  \
	do {                                                                                       \
		for (unsigned nth_ = 2;; nth_++) {                                                 \
			bool made_;                                                                \
                                                                                                   \
			errno = 0;                                                                 \
			lack_memory(nth_ / 2);                                                     \
			made_ = (made);                                                            \
			if (!lack_memory(0)) {                                                     \
				if (!made_)                                                        \
					return __LINE__;                                           \
				break;                                                             \
			}                                                                          \
			if (made_ || errno != ENOMEM)                                              \
				return __LINE__;                                                   \
		}                                                                                  \
	} while (0)

/* clang-format off */

/* Delays DMA reads of the end's device. Of the reads that match (struct hca_late_dma: what, qpn) the first `skip` are not delayed; the next `times` [1]
 * take by_ps_ longer, and other reads overtake them. */
#define late_read(end, what_, by_ps_, ...) \
	tb_late(tb, TB_HERE, end, &(const struct hca_late_dma){.what = what_, .by_ps = by_ps_, .times = 1, __VA_ARGS__})
/* The same for posted writes and interrupt messages ("message"). Later writes wait behind a delayed one. */
#define late_write(end, what_, by_ps_, ...) \
	tb_late(tb, TB_HERE, end, &(const struct hca_late_dma){.what = what_, .by_ps = by_ps_, .times = 1, .write = true, __VA_ARGS__})
void tb_late(struct tb *tb, const char *here, struct tb_end *end, const struct hca_late_dma *late);

/* The end's next `times` commands with that opcode are not executed and return that status. */
#define fail_command(end, opcode, status, times) tb_fail_command(tb, TB_HERE, end, opcode, status, times)
void tb_fail_command(struct tb *tb, const char *here, struct tb_end *end, uint32_t opcode, uint8_t status, uint32_t times);
/* The nth command of the end from now on, whatever it is, is not executed and returns that status; 0: none. Returns whether the one asked for
 * before has come. */
#define refuse_command(end, nth, status) tb_refuse_command(tb, TB_HERE, end, nth, status)
bool tb_refuse_command(struct tb *tb, const char *here, struct tb_end *end, uint32_t nth, uint8_t status);

/* mask_vector() sets or clears the vector's mask bit in the end's MSI-X table. vector_pending() tells whether its pending bit is set. */
#define mask_vector(end, vector, masked) tb_mask_vector(tb, TB_HERE, end, vector, masked)
void tb_mask_vector(struct tb *tb, const char *here, struct tb_end *end, unsigned vector, bool masked);
#define vector_pending(end, vector) tb_vector_pending(tb, TB_HERE, end, vector)
bool tb_vector_pending(struct tb *tb, const char *here, struct tb_end *end, unsigned vector);

/* Evicts from the end's caches now, as if the space were needed for other entries: evict_qp() the context of the queue pair of a connected pair,
 * evict() the context of any object (HCA_QP, HCA_CQ, HCA_EQ or HCA_SRQ, and its number), evict_key() a key and its translations. */
#define evict_qp(end, pair) tb_evict(tb, TB_HERE, end, HCA_QP, drv_qp_num((end)->qp[pair]))
#define evict(end, type, number) tb_evict(tb, TB_HERE, end, type, number)
#define evict_key(end, key) tb_evict(tb, TB_HERE, end, HCA_MPT, (key) >> 8)
void tb_evict(struct tb *tb, const char *here, struct tb_end *end, enum hca_object type, uint32_t number);

#endif
