/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults beyond the wire, for scenarios: DMA that comes late, a masked MSI-X vector, contexts and
 * keys thrown out of the caches, commands that firmware refuses. What is asked for and does not
 * happen fails the scenario, as faults on the wire do.
 *
 *	late_read(a, "payload", CFG_US(5), .skip = 1);	the second payload read from now on
 *	fail_command(b, HCR_SW2HW_CQ, HCR_STATUS_EXCEED_LIM, 1);
 *	evict_qp(b, 0);					the next packet for it misses
 */
#ifndef TESTBENCH_HARM_H
#define TESTBENCH_HARM_H

#include "model/interface/commands.h"
#include "testbench/services.h"

/* clang-format off */

/* Of the end's DMA reads of that kind (struct hca_late_dma: what, qpn) `skip` go as usual, then `times` [1] take by_ps_ longer; others overtake them. */
#define late_read(end, what_, by_ps_, ...) \
	tb_late(tb, TB_HERE, end, &(const struct hca_late_dma){.what = what_, .by_ps = by_ps_, .times = 1, __VA_ARGS__})
/* The same for posted writes, and interrupt messages ("message"): what is written after them waits behind them. */
#define late_write(end, what_, by_ps_, ...) \
	tb_late(tb, TB_HERE, end, &(const struct hca_late_dma){.what = what_, .by_ps = by_ps_, .times = 1, .write = true, __VA_ARGS__})
void tb_late(struct tb *tb, const char *here, struct tb_end *end, const struct hca_late_dma *late);

/* The end's next `times` commands of that opcode end with that status, and are not carried out. */
#define fail_command(end, opcode, status, times) tb_fail_command(tb, TB_HERE, end, opcode, status, times)
void tb_fail_command(struct tb *tb, const char *here, struct tb_end *end, uint32_t opcode, uint8_t status, uint32_t times);

/* The vector's mask bit in the end's MSI-X table; whether its pending bit is set. */
#define mask_vector(end, vector, masked) tb_mask_vector(tb, TB_HERE, end, vector, masked)
void tb_mask_vector(struct tb *tb, const char *here, struct tb_end *end, unsigned vector, bool masked);
#define vector_pending(end, vector) tb_vector_pending(tb, TB_HERE, end, vector)
bool tb_vector_pending(struct tb *tb, const char *here, struct tb_end *end, unsigned vector);

/* Out of the end's caches now, as if others had needed the room: the context of a queue pair (by number of the pair), of any object (HCA_QP, HCA_CQ,
 * HCA_EQ, HCA_SRQ and its number), or a key with its translations. */
#define evict_qp(end, pair) tb_evict(tb, TB_HERE, end, HCA_QP, drv_qp_num((end)->qp[pair]))
#define evict(end, type, number) tb_evict(tb, TB_HERE, end, type, number)
#define evict_key(end, key) tb_evict(tb, TB_HERE, end, HCA_MPT, (key) >> 8)
void tb_evict(struct tb *tb, const char *here, struct tb_end *end, enum hca_object type, uint32_t number);

#endif
