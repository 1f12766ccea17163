/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals of waves.vcd, one row each: W(stage, signal, bits, each, point, from). The scope of a
 * signal is named hca<n>.<stage>; a stage is a file of model/engine/.
 *
 * Rows with the same stage and signal are one signal that has more than one source. The rows of a
 * stage must stand together.
 * bits: the width of the value; TEXT: it is a string; EVENT: it is a moment.
 * each: ONE: one signal; PORT: one for each port, p1_<signal>; LANE: one for each port and virtual
 * lane, p1_<signal>_vl0.
 * from: ARGn, QPN, CORR, NAME (text) or CALLER (bytes): that field of the record. OPEN: how many
 * spans of the point are under way; BUSY: whether any is. MOMENT: the record itself. SUM: the sum
 * of ARG0 of all records so far.
 */
#ifndef TRACES_SIGNALS_H
#define TRACES_SIGNALS_H

/* clang-format off */
#define WAVE_SIGNALS(W)                                                                            \
	W(doorbell, send, EVENT, ONE, DOORBELL_SEND, MOMENT)                                       \
	W(doorbell, blueflame, EVENT, ONE, DOORBELL_BLUEFLAME, MOMENT)                             \
	W(doorbell, cq_arm, EVENT, ONE, DOORBELL_CQ_ARM, MOMENT)                                   \
	W(doorbell, eq_ci, EVENT, ONE, DOORBELL_EQ_CI, MOMENT)                                     \
	W(doorbell, qpn, 24, ONE, DOORBELL_SEND, QPN)                                              \
	W(doorbell, qpn, 24, ONE, DOORBELL_BLUEFLAME, QPN)                                         \
	W(doorbell, cqn, 24, ONE, DOORBELL_CQ_ARM, ARG0)                                           \
	W(scheduler, queue, 16, PORT, SCHED_QUEUE, ARG0)                                           \
	W(scheduler, pick, EVENT, ONE, SCHED_PICK, MOMENT)                                         \
	W(scheduler, qpn, 24, ONE, SCHED_PICK, QPN)                                                \
	W(scheduler, wqe, 16, ONE, SCHED_PICK, CORR)                                               \
	W(wqe_fetch, busy, 1, ONE, WQE_READ_RUN, BUSY)                                             \
	W(wqe_fetch, busy, 1, ONE, RWQE_READ_RUN, BUSY)                                            \
	W(wqe_fetch, reads, 8, ONE, WQE_READ_RUN, OPEN)                                            \
	W(wqe_fetch, receive_reads, 8, ONE, RWQE_READ_RUN, OPEN)                                   \
	W(wqe_fetch, send, EVENT, ONE, WQE_SEND, MOMENT)                                           \
	W(wqe_fetch, receive, EVENT, ONE, WQE_RECV, MOMENT)                                        \
	W(wqe_fetch, qpn, 24, ONE, WQE_SEND, QPN)                                                  \
	W(wqe_fetch, qpn, 24, ONE, WQE_RECV, QPN)                                                  \
	W(wqe_fetch, wqe, 16, ONE, WQE_SEND, CORR)                                                 \
	W(wqe_fetch, wqe, 16, ONE, WQE_RECV, CORR)                                                 \
	W(context_cache, busy, 1, ONE, CACHE_RUN, BUSY)                                            \
	W(context_cache, misses, 8, ONE, CACHE_RUN, OPEN)                                          \
	W(context_cache, kind, TEXT, ONE, CACHE_RUN, NAME)                                         \
	W(context_cache, number, 24, ONE, CACHE_RUN, CORR)                                         \
	W(context_cache, write_back, EVENT, ONE, CACHE_WRITEBACK, MOMENT)                          \
	W(translate, busy, 1, ONE, TRANSLATE_RUN, BUSY)                                            \
	W(translate, misses, 8, ONE, TRANSLATE_RUN, OPEN)                                          \
	W(translate, kind, TEXT, ONE, TRANSLATE_RUN, NAME)                                         \
	W(translate, key, 32, ONE, TRANSLATE_MISS, ARG0)                                           \
	W(translate, deny, EVENT, ONE, TRANSLATE_DENY, MOMENT)                                     \
	W(requester, busy, 1, ONE, UNIT_RUN, BUSY)                                                 \
	W(requester, units, 8, ONE, UNIT_RUN, OPEN)                                                \
	W(requester, qpn, 24, ONE, UNIT_RUN, QPN)                                                  \
	W(requester, wqe, 16, ONE, UNIT_RUN, CORR)                                                 \
	W(requester, psn, 24, ONE, UNIT_RUN, ARG3)                                                 \
	W(requester, state_qpn, 24, ONE, REQ_STATE, QPN)                                           \
	W(requester, state, TEXT, ONE, REQ_STATE, NAME)                                            \
	W(retry, start, EVENT, ONE, TIMER_START, MOMENT)                                           \
	W(retry, expire, EVENT, ONE, TIMER_EXPIRE, MOMENT)                                         \
	W(retry, again, EVENT, ONE, REQ_RETRY, MOMENT)                                             \
	W(retry, qpn, 24, ONE, TIMER_START, QPN)                                                   \
	W(retry, qpn, 24, ONE, TIMER_EXPIRE, QPN)                                                  \
	W(retry, qpn, 24, ONE, REQ_RETRY, QPN)                                                     \
	W(retry, psn, 24, ONE, REQ_RETRY, CORR)                                                    \
	W(retry, state, TEXT, ONE, REQ_RETRY, NAME)                                                \
	W(retry, state, TEXT, ONE, TIMER_START, NAME)                                              \
	W(retry, deadline, 64, ONE, TIMER_START, ARG0)                                             \
	W(qp, qpn, 24, ONE, QP_STATE, QPN)                                                         \
	W(qp, state, TEXT, ONE, QP_STATE, NAME)                                                    \
	W(link_port, tx_busy, 1, PORT, LINK_TX, BUSY)                                              \
	W(link_port, tx_qpn, 24, PORT, LINK_TX, QPN)                                               \
	W(link_port, tx_psn, 24, PORT, LINK_TX, CORR)                                              \
	W(link_port, tx_opcode, TEXT, PORT, LINK_TX, NAME)                                         \
	W(link_port, tx_bytes, 16, PORT, LINK_TX, ARG4)                                            \
	W(link_port, rx_busy, 1, PORT, LINK_RX, BUSY)                                              \
	W(link_port, rx_qpn, 24, PORT, LINK_RX, QPN)                                               \
	W(link_port, rx_psn, 24, PORT, LINK_RX, CORR)                                              \
	W(link_port, rx_opcode, TEXT, PORT, LINK_RX, NAME)                                         \
	W(link_port, rx_bytes, 16, PORT, LINK_RX, ARG4)                                            \
	W(link_port, drop, EVENT, PORT, PKT_DISCARD, MOMENT)                                       \
	W(link_port, fault, EVENT, PORT, FAULT, MOMENT)                                            \
	W(link_port, state, TEXT, PORT, LINK_STATE, NAME)                                          \
	W(link_port, credits, 16, LANE, LINK_TX, ARG2)                                             \
	W(link_port, queue, 32, LANE, LINK_QUEUE, SUM)                                             \
	W(packet, busy, 1, ONE, PACKET_RUN, BUSY)                                                  \
	W(packet, checks, 8, ONE, PACKET_RUN, OPEN)                                                \
	W(packet, qpn, 24, ONE, PACKET_RUN, QPN)                                                   \
	W(packet, psn, 24, ONE, PACKET_RUN, CORR)                                                  \
	W(packet, opcode, TEXT, ONE, PACKET_RUN, NAME)                                             \
	W(multicast, busy, 1, ONE, MCG_RUN, BUSY)                                                  \
	W(multicast, reads, 8, ONE, MCG_RUN, OPEN)                                                 \
	W(responder, busy, 1, ONE, RESP_RUN, BUSY)                                                 \
	W(responder, requests, 8, ONE, RESP_RUN, OPEN)                                             \
	W(responder, qpn, 24, ONE, RESP_RUN, QPN)                                                  \
	W(responder, psn, 24, ONE, RESP_RUN, CORR)                                                 \
	W(responder, opcode, TEXT, ONE, RESP_RUN, NAME)                                            \
	W(responder, state_qpn, 24, ONE, RESP_STATE, QPN)                                          \
	W(responder, state, TEXT, ONE, RESP_STATE, NAME)                                           \
	W(atomic_read, busy, 1, ONE, ATOMIC_RUN, BUSY)                                             \
	W(atomic_read, atomics, 8, ONE, ATOMIC_RUN, OPEN)                                          \
	W(atomic_read, qpn, 24, ONE, RESP_RESOURCE, QPN)                                           \
	W(atomic_read, psn, 24, ONE, RESP_RESOURCE, CORR)                                          \
	W(atomic_read, state, TEXT, ONE, RESP_RESOURCE, NAME)                                      \
	W(srq, busy, 1, ONE, RECORD_RUN, BUSY)                                                     \
	W(srq, record_reads, 8, ONE, RECORD_RUN, OPEN)                                             \
	W(srq, qpn, 24, ONE, RECORD_RUN, QPN)                                                      \
	W(srq, srqn, 24, ONE, SRQ_STATE, ARG0)                                                     \
	W(srq, state, TEXT, ONE, SRQ_STATE, NAME)                                                  \
	W(cqe_write, busy, 1, ONE, CQE_RUN, BUSY)                                                  \
	W(cqe_write, queue, 8, ONE, CQE_RUN, OPEN)                                                 \
	W(cqe_write, qpn, 24, ONE, CQE_RUN, QPN)                                                   \
	W(cqe_write, cqn, 24, ONE, CQE_RUN, ARG1)                                                  \
	W(cqe_write, index, 32, ONE, CQE_RUN, ARG2)                                                \
	W(cqe_write, written, EVENT, ONE, CQE_WRITE, MOMENT)                                       \
	W(event_queue, busy, 1, ONE, EQE_RUN, BUSY)                                                \
	W(event_queue, queue, 8, ONE, EQE_RUN, OPEN)                                               \
	W(event_queue, eqn, 24, ONE, EQE_RUN, ARG1)                                                \
	W(event_queue, type, 8, ONE, EQE_RUN, ARG4)                                                \
	W(event_queue, cqn, 24, ONE, EQE_RUN, ARG3)                                                \
	W(event_queue, written, EVENT, ONE, EQE_WRITE, MOMENT)                                     \
	W(interrupt, busy, 1, ONE, IRQ_RUN, BUSY)                                                  \
	W(interrupt, queue, 8, ONE, IRQ_RUN, OPEN)                                                 \
	W(interrupt, vector, 16, ONE, IRQ_RUN, ARG1)                                               \
	W(interrupt, pending, EVENT, ONE, IRQ_PEND, MOMENT)                                        \
	W(pcie, busy, 1, ONE, DMA_READ_RUN, BUSY)                                                  \
	W(pcie, busy, 1, ONE, DMA_WRITE_RUN, BUSY)                                                 \
	W(pcie, busy, 1, ONE, BAR_RUN, BUSY)                                                       \
	W(pcie, reads, 8, ONE, DMA_READ_RUN, OPEN)                                                 \
	W(pcie, read, TEXT, ONE, DMA_READ_RUN, NAME)                                               \
	W(pcie, read_bytes, 32, ONE, DMA_READ_RUN, ARG1)                                           \
	W(pcie, writes, 8, ONE, DMA_WRITE_RUN, OPEN)                                               \
	W(pcie, write, TEXT, ONE, DMA_WRITE_RUN, NAME)                                             \
	W(pcie, write_bytes, 32, ONE, DMA_WRITE_RUN, ARG1)                                         \
	W(pcie, qpn, 24, ONE, DMA_READ_RUN, QPN)                                                   \
	W(pcie, qpn, 24, ONE, DMA_WRITE_RUN, QPN)                                                  \
	W(pcie, host_accesses, 8, ONE, BAR_RUN, OPEN)                                              \
	W(pcie, bar, 3, ONE, BAR_RUN, ARG1)                                                        \
	W(pcie, offset, 32, ONE, BAR_RUN, ARG2)                                                    \
	W(processor, busy, 1, ONE, FW_RUN, BUSY)                                                   \
	W(processor, state, TEXT, ONE, FW_CALL, NAME)                                              \
	W(processor, state, TEXT, ONE, FW_RETURN, CALLER)                                          \
	W(processor, depth, 8, ONE, FW_CALL, CORR)                                                 \
	W(processor, depth, 8, ONE, FW_RETURN, CORR)                                               \
	W(processor, command, EVENT, ONE, HCR_POST, MOMENT)                                        \
	W(processor, done, EVENT, ONE, HCR_DONE, MOMENT)                                           \
	W(processor, opcode, 12, ONE, HCR_POST, ARG0)
/* clang-format on */

#endif
