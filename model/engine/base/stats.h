/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of one HCA, as rows: S(stage, counter, "meaning"). They become members of struct
 * hca_stats named <stage>_<counter>, and keys `<hca>.<stage>.<counter>` of stats.json.
 */
#ifndef MODEL_ENGINE_STATS_H
#define MODEL_ENGINE_STATS_H

#include "model/interface/diag.h"

#include <stdint.h>

/* A row of DIAG_COMPLETIONS is a counter, too. */
#define DIAG_STAT(S, name, offset, syndrome, send, meaning) S(diag, name, meaning)

/* clang-format off */
#define HCA_STATS(S) \
	S(doorbell, sends, "send doorbells rung") \
	S(doorbell, blueflames, "work requests taken from BlueFlame buffers") \
	S(doorbell, cq_arms, "CQ arm doorbells") \
	S(doorbell, eq_updates, "EQ doorbells") \
	S(scheduler, stalls, "times a unit stood still while the context of its QP was read") \
	S(scheduler, stall_ps, "time they stood still") \
	S(wqe_fetch, reads, "DMA reads of send WQEs") \
	S(wqe_fetch, hits, "send WQEs found prefetched") \
	S(wqe_fetch, evictions, "send WQEs that made room for others") \
	S(wqe_fetch, waits, "WQE reads that waited for an earlier one") \
	S(wqe_fetch, receives, "DMA reads of receive WQEs") \
	S(wqe_fetch, receive_hits, "receive WQEs found prefetched") \
	S(context_cache, hits, "contexts found in the cache") \
	S(context_cache, misses, "contexts read from ICM") \
	S(context_cache, requester_misses, "of them QP contexts for sending") \
	S(context_cache, responder_misses, "of them QP contexts for receiving") \
	S(context_cache, read_misses, \
	  "of them QP contexts for the responder resources of READs and atomics") \
	S(context_cache, evictions, "contexts that made room for others") \
	S(context_cache, miss_waits, "misses that waited for an earlier one") \
	S(context_cache, miss_ps, "time of the misses' reads") \
	S(context_cache, writebacks, "contexts written back to ICM") \
	S(translate, mpt_hits, "MPT entries found in the cache") \
	S(translate, mpt_misses, "MPT entries read from ICM") \
	S(translate, mpt_evictions, "MPT entries that made room for others") \
	S(translate, mtt_hits, "MTT entries found in the cache") \
	S(translate, mtt_misses, "MTT lines read from ICM") \
	S(translate, mtt_evictions, "MTT lines that made room for others") \
	S(translate, miss_waits, "misses that waited for an earlier one") \
	S(translate, miss_ps, "time of the misses' reads") \
	S(requester, wqes, "send work requests started") \
	S(requester, packets, "request packets built") \
	S(requester, completed, "send work requests completed") \
	S(requester, errors, "send work requests completed in error, flushes not counted") \
	S(packet, rx_waits, "packets that waited for the receive unit") \
	S(packet, rx_stall_ps, "time the receive unit stood still while contexts were read") \
	S(retry, retransmitted, "request packets sent again") \
	S(retry, ack_timeouts, "ACK timer expiries") \
	S(retry, rnr_waits, "RNR NAKs that started a wait") \
	S(retry, sequence_naks, "PSN sequence error NAKs received") \
	S(multicast, packets, "multicast packets whose group was looked up, own ones included") \
	S(multicast, copies, "copies given to member QPs") \
	S(multicast, unwanted, "multicast packets of no local group") \
	S(responder, packets, "request packets accepted") \
	S(responder, duplicates, "duplicate requests") \
	S(responder, out_of_sequence, "requests ahead of the expected PSN") \
	S(responder, acks, "ACKs sent") \
	S(responder, naks, "NAKs sent, RNR NAKs not counted") \
	S(responder, rnr_naks, "RNR NAKs sent") \
	S(responder, read_responses, "READ response packets sent") \
	S(responder, dropped, "packets silently dropped by transport rules") \
	S(atomic_read, atomics, "atomic operations done") \
	S(atomic_read, replays, "atomic results returned again") \
	S(srq, taken, "receives taken from SRQs") \
	S(srq, limits, "SRQ limit events") \
	S(cqe_write, cqes, "CQEs written") \
	S(cqe_write, overruns, "CQ overruns") \
	S(event_queue, eqes, "EQEs written") \
	S(event_queue, overruns, "EQ overruns") \
	S(interrupt, raised, "MSI-X messages sent") \
	S(interrupt, masked, "vectors that became pending while masked") \
	S(link_port, tx_packets, "packets put on the wire, all ports") \
	S(link_port, rx_packets, "packets received, all ports") \
	S(link_port, rx_dropped, "packets dropped on reception: CRC, length, address, state") \
	S(link_port, credit_stalls, "packets that waited for credits") \
	S(link_port, rate_waits, "packets that waited for their path's static rate") \
	S(pcie, read_requests, "memory read TLPs sent") \
	S(pcie, read_bytes, "bytes read") \
	S(pcie, write_tlps, "memory write TLPs sent") \
	S(pcie, write_bytes, "bytes written") \
	S(pcie, tag_stalls, "read requests that waited for a tag") \
	S(pcie, tag_stall_ps, "time reads waited for tags") \
	S(pcie, credit_stalls, \
	  "TLPs in a row that waited for flow control credits, the host's writes too") \
	S(pcie, credit_stall_ps, "time they waited") \
	DIAG_COMPLETIONS(DIAG_STAT, S) \
	S(ipath, sent, "packets sent from send buffers") \
	S(ipath, received, "packets written to the header queue") \
	S(ipath, overflows, "packets that the header queue or the eager buffers had no room for") \
	S(outside, sent, "frames that left the simulation") \
	S(outside, lost, "frames that found nobody outside") \
	S(outside, received, "frames that came into the simulation") \
	S(outside, refused, "frames from outside too short or too long for Ethernet") \
	S(fw, commands, "HCR commands executed") \
	S(fw, instructions, "instructions retired by the embedded processor")
/* clang-format on */

struct hca_stats {
#define S(stage, counter, meaning) uint64_t stage##_##counter;
	HCA_STATS(S)
#undef S
};

#endif
