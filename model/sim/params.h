/* SPDX-License-Identifier: Apache-2.0 */
/* Every parameter of a simulation, a row each; nothing else states a delay, a size or a count.
 *
 *   P(section, key, unit, default, minimum, maximum, "meaning", "source")
 *
 * A row makes a key of ini files and an entry of `hcasim config`. The section is the engine stage:
 * [hca.link] delay = 10ns, or -s hca0.link.delay=10ns. The sections hca, host and sim are the bare
 * [hca], [host] and [sim]. params.awk makes from it, when the tree is built,
 *   - the function param_<section>_<key>() of the header model/sim/params/hca_<section>.h, for code
 *     that reads the parameter (host_param_ in host_<section>.h, sim_param_ in sim_<section>.h);
 *   - the member <section>_<key> (uint64_t) of struct hca_params, host_params or sim_params, for
 *     code that fills in a configuration. Only such code includes this file.
 * Units: units.h; TIME is a cost, TIMEOUT a deadline or a period. A source begins with documented,
 * derived or assumption.
 * After a change here: build/params_ini default >configs/default.ini, and the same with ideal. */
#ifndef MODEL_SIM_PARAMS_H
#define MODEL_SIM_PARAMS_H

#include "model/sim/params/structs.h"
#include "model/sim/units.h"

/* clang-format off */

/* A device. Defaults: ConnectX-3, one FDR port, PCIe 3.0 x8; the timers as the InfiniBand
 * specification has them. */
#define HCA_PARAMS(P) \
	P(hca, ports, COUNT, 1, 1, 2, \
	  "ports of the device", "documented: ConnectX-3 comes with one or two") \
	P(hca, node_guid, HEX, 0, 0, UINT64_MAX - 2, \
	  "node GUID; port n has this + n; 0: 0x0002c90300a00000 + 16 * number of the device", \
	  "assumption: an OUI of the vendor") \
	P(hca, log_max_qp, COUNT, 18, 10, 24, \
	  "log2 of the QPs announced", "documented: the Linux mlx4 profile needs 18") \
	P(hca, log_max_srq, COUNT, 16, 8, 24, \
	  "log2 of the SRQs announced", "documented: the Linux mlx4 profile needs 16") \
	P(hca, log_max_cq, COUNT, 16, 8, 24, \
	  "log2 of the CQs announced", "documented: the Linux mlx4 profile needs 16") \
	P(hca, log_max_eq, COUNT, 7, 3, 10, \
	  "log2 of the EQs announced", "documented: Linux mlx4 uses at most 128") \
	P(hca, log_max_mpt, COUNT, 19, 10, 28, \
	  "log2 of the MPTs announced", "documented: the Linux mlx4 profile needs 19") \
	P(hca, log_max_msg, COUNT, 30, 24, 31, \
	  "log2 of the longest message in bytes", "documented: ConnectX-3 max_msg_sz") \
	P(hca, local_ack_delay, COUNT, 15, 0, 31, \
	  "local CA ack delay announced, 4.096 us * 2^n", "documented: ConnectX-3") \
	P(hca, log_gids, COUNT, 3, 0, 7, \
	  "log2 of a port's GID table", "assumption: short bring-up; the silicon has 7") \
	P(hca, log_pkeys, COUNT, 5, 0, 7, \
	  "log2 of a port's P_Key table", "assumption: short bring-up; the silicon has 7") \
	P(hca, msix_vectors, COUNT, 128, 2, 2048, \
	  "entries of the MSI-X table", "documented: Linux mlx4 asks for at most 128") \
	P(hca, memory, SIZE, CFG_GIB(1), CFG_MIB(64), CFG_GIB(1024), \
	  "the simulator's memory that software can make the device hold; with more it stops by a catastrophic error", \
	  "assumption: far beyond any use, and two devices leave room on a small machine") \
	P(doorbell, latency, TIME, CFG_NS(20), 0, CFG_MS(1), \
	  "BAR write at the device until the scheduler has it", \
	  "assumption: five cycles of a 250 MHz pipeline") \
	P(doorbell, blueflame, BOOL, 1, 0, 1, \
	  "BlueFlame is announced and executed", "documented: ConnectX-3 has it") \
	P(doorbell, log_bf_reg, COUNT, 9, 8, 10, \
	  "log2 of the bytes of a BlueFlame register", "documented: ConnectX-3 reports 512 bytes") \
	P(doorbell, log_bf_regs, COUNT, 3, 0, 3, \
	  "log2 of the BlueFlame registers of a page", "derived: 512-byte registers in 4 KiB") \
	P(doorbell, bf_gathers, COUNT, 64, 1, 4096, \
	  "BlueFlame buffers that can be half written at a time", \
	  "assumption: one for each of 64 posting CPUs") \
	P(scheduler, latency, TIME, CFG_NS(20), 0, CFG_MS(1), \
	  "QP becomes ready until it is picked", "assumption: five cycles of a 250 MHz pipeline") \
	P(scheduler, burst, COUNT, 4, 1, 256, \
	  "packets of one QP before the next one of the same priority has its turn", \
	  "assumption: fair between QPs") \
	P(wqe_fetch, first, COUNT, 2, 1, 64, \
	  "WQEs a DMA read takes from a send queue that was at rest", \
	  "assumption: the usual one and a look at what follows") \
	P(wqe_fetch, prefetch, COUNT, 8, 1, 64, \
	  "WQEs a DMA read takes at most; twice as many as the last one of the queue found", \
	  "derived: one QP reaches 9.9 M/s from fetched WQEs, a read under way at a time, point M26") \
	P(wqe_fetch, read_size, SIZE, CFG_KIB(2), 64, CFG_KIB(64), \
	  "bytes of WQEs a DMA read takes at most", "derived: so many WQEs of a 256-byte stride") \
	P(wqe_fetch, gap, TIME, CFG_PS(33500), 0, CFG_US(10), \
	  "DMA reads of send WQEs follow each other so long for each WQE", \
	  "fitted: 27.3 M/s WRITEs whose WQEs are read, point M64; 11.5 M/s READs, which read theirs again, M55") \
	P(wqe_fetch, reads, COUNT, 16, 1, 256, \
	  "DMA reads of send WQEs under way, all QPs together", \
	  "assumption: half the tags; gap is the limit") \
	P(wqe_fetch, entries, COUNT, 80, 1, 32768, \
	  "send WQEs held, all QPs together, least recently used goes first; with so many to be begun, others that come by BlueFlame are left to be read", \
	  "fitted: on 8 threads WRITEs hold at 8 a thread and READs at 16, not beyond, points M52 to M64") \
	P(wqe_fetch, receives, COUNT, 64, 1, 65536, \
	  "receive WQEs held, all queues together", "assumption: one for each message being received") \
	P(wqe_fetch, latency, TIME, CFG_NS(24), 0, CFG_MS(1), \
	  "WQE in the buffer until it is decoded", "assumption: six cycles of a 250 MHz pipeline") \
	P(context_cache, requester_entries, COUNT, 272, 1, 1 << 20, \
	  "QP contexts held for sending", \
	  "fitted: outbound WRITEs over 256 QPs wait for contexts, those over 144 hardly, points Q34 and Q36") \
	P(context_cache, responder_entries, COUNT, 2048, 1, 1 << 20, \
	  "QP contexts held for receiving", \
	  "derived: inbound WRITEs of 256 QPs lose nothing, point Q37") \
	P(context_cache, read_entries, COUNT, 104, 1, 1 << 20, \
	  "QP contexts whose responder resources, for READs and atomics, are held", \
	  "fitted: READs over 88 to 720 QPs, points Q02 to Q11; the program that measured leaves one in 6 of them unused, in Q11 one in 11") \
	P(context_cache, ways, COUNT, 4, 1, 64, \
	  "contexts of a set, which a hash of the number names; the least recently used goes", \
	  "assumption: usual for tables of this size") \
	P(context_cache, read_ways, COUNT, 8, 1, 64, \
	  "the same of those for READs and atomics", \
	  "fitted: 48 QPs lose nothing, 88 a third, points Q01 and Q11") \
	P(context_cache, cq_entries, COUNT, 256, 1, 1 << 20, \
	  "CQ contexts held", "assumption: as many as QP contexts") \
	P(context_cache, eq_entries, COUNT, 128, 1, 1 << 20, \
	  "EQ contexts held", "derived: every EQ that Linux mlx4 makes") \
	P(context_cache, srq_entries, COUNT, 128, 1, 1 << 20, \
	  "SRQ contexts held", "assumption: half as many as CQ contexts") \
	P(context_cache, hit_latency, TIME, CFG_NS(8), 0, CFG_MS(1), \
	  "lookup that hits", "assumption: two cycles of a 250 MHz pipeline") \
	P(context_cache, miss_latency, TIME, 0, 0, CFG_MS(1), \
	  "work of a miss beside its DMA reads", \
	  "derived: two reads, the context and then its READ resources, are the 0.87 us of points Q06 to Q08") \
	P(context_cache, misses, COUNT, 1, 1, 64, \
	  "misses served at a time", \
	  "derived: READs over 100 QPs tend to one in 0.87 us, so misses queue") \
	P(translate, mpt_entries, COUNT, 512, 1, 1 << 20, \
	  "MPTs held", "derived: completion time rises between 100 and 1,000 memory regions") \
	P(translate, mtt_entries, COUNT, 2048, 1, 1 << 22, \
	  "MTTs held, in whole lines", "derived: the rate falls between 4 MiB and 16 MiB of 4 KiB pages") \
	P(translate, mtt_line, COUNT, 8, 1, 64, \
	  "MTT entries one miss reads, aligned; a power of two", \
	  "assumption: 64 bytes, the read completion boundary") \
	P(translate, hit_latency, TIME, CFG_NS(8), 0, CFG_MS(1), \
	  "lookup that hits", "assumption: two cycles of a 250 MHz pipeline") \
	P(translate, miss_latency, TIME, CFG_NS(100), 0, CFG_MS(1), \
	  "work of a miss beside its DMA read", \
	  "fitted: a miss takes 0.59 us of rate, point R09") \
	P(translate, misses, COUNT, 1, 1, 64, \
	  "misses served at a time", \
	  "derived: a miss takes about 0.5 us of rate, so misses queue") \
	P(requester, units, COUNT, 2, 1, 16, \
	  "send processing units; one of them serves a QP", \
	  "derived: the rate doubles with a second QP and not beyond") \
	P(requester, latency, TIME, CFG_NS(40), 0, CFG_MS(1), \
	  "decoded WQE until its first packet is ready to fill", \
	  "assumption: ten cycles of a 250 MHz pipeline") \
	P(requester, wqe_gap, TIME, CFG_PS(52600), 0, CFG_US(10), \
	  "a unit is held by one WQE", "derived: 38.0 M/s inlined WRITEs on two units, point M07") \
	P(requester, line_gap, TIME, CFG_PS(38400), 0, CFG_US(10), \
	  "by one WQE, but at least so long by each 64 bytes of it, from BlueFlame or memory", \
	  "derived: 52 M lines a second on two units, points M09 and Q30 by BlueFlame, M22 by DMA reads; M11 follows") \
	P(requester, reliable_gap, TIME, CFG_NS(8), 0, CFG_US(10), \
	  "longer by a WQE of a reliable connection", "derived: 32.5 M/s RC WRITEs, point M62") \
	P(requester, packet_gap, TIME, CFG_NS(24), 0, CFG_US(10), \
	  "a unit is held by one packet", "assumption: six cycles of a 250 MHz pipeline") \
	P(requester, inflight, COUNT, 64, 1, 4096, \
	  "payload DMA reads of a unit in flight", \
	  "assumption: covers the round trip of a DMA read at full rate") \
	P(requester, window, COUNT, 32768, 1, 1 << 23, \
	  "request packets of a QP sent and not acknowledged", \
	  "assumption: well under the 2^23 PSNs of IBA 9.7.1") \
	P(requester, ack_interval, COUNT, 32, 1, 1 << 16, \
	  "packets after which a long message asks for an ACK", \
	  "assumption: IBA 9.7.5.1 leaves it to the requester") \
	P(packet, tx_latency, TIME, CFG_NS(32), 0, CFG_MS(1), \
	  "headers built and CRCs added", "assumption: eight cycles of a 250 MHz pipeline") \
	P(packet, rx_latency, TIME, CFG_NS(32), 0, CFG_MS(1), \
	  "headers parsed and checked", "assumption: eight cycles of a 250 MHz pipeline") \
	P(packet, rx_gap, TIME, CFG_PS(28200), 0, CFG_US(10), \
	  "the receive unit, which requests and responses share, is held by a packet", \
	  "derived: 35.4 M/s inbound WRITEs, point M01") \
	P(packet, rx_read_gap, TIME, CFG_PS(10600), 0, CFG_US(10), \
	  "it is held longer by a READ request", "derived: 25.8 M/s inbound READs, point M04") \
	P(packet, rx_scatter_gap, TIME, CFG_PS(18200), 0, CFG_US(10), \
	  "it is held longer by data whose place a WQE names: SEND, READ response, result of an atomic", \
	  "derived: 21.4 M/s outbound READs, point M14; 21.8 M/s inbound SENDs, point M20; 34 without data, M21") \
	P(packet, gather_gap, TIME, CFG_PS(37800), 0, CFG_US(10), \
	  "the unit that reads payload from memory, of requests and READ responses, is held by a packet", \
	  "derived: 21.8 M/s outbound WRITEs by pointer, point M12, less large_gap") \
	P(packet, small, SIZE, 32, 0, 4096, \
	  "payload up to this takes one step of the units that gather and scatter, more takes two", \
	  "assumption: the width of the path, point store; M04 and M05, M14 and M15 lie on both sides") \
	P(packet, large_gap, TIME, CFG_PS(9500), 0, CFG_US(10), \
	  "the second step", \
	  "derived: READs of 64 and of 4 bytes, points M14 and M15; inbound M04 and M05 follow") \
	P(packet, chunk, POW2, 256, 64, 4096, \
	  "bytes of payload that move at a time inside the device", \
	  "derived: READs have a step behind 256 bytes, points Q20 and Q21") \
	P(packet, rx_chunk_gap, TIME, CFG_NS(38), 0, CFG_US(10), \
	  "the receive unit is held longer by each further chunk of payload", \
	  "derived: the height of that step, points Q20 and Q21") \
	P(packet, store, TIME, 125, 0, CFG_NS(10), \
	  "a byte of a packet on the way between DMA and link, each way: stored before it goes on", \
	  "derived: latency by size, points L06 to L10, L23 to L25; 32 bytes a 250 MHz cycle") \
	P(crc, eager, BOOL, 0, 0, 1, \
	  "make and recompute both CRCs of every packet, not only where somebody can see them", \
	  "assumption: takes no simulated time") \
	P(link, speed, SPEED, CFG_SPEED_FDR, CFG_SPEED_SDR, CFG_SPEED_NDR, \
	  "highest speed of a lane", "documented: ConnectX-3 FDR") \
	P(link, width, WIDTH, 4, 1, 12, \
	  "widest link", "documented: QSFP has four lanes") \
	P(link, gap, SIZE, 72, 0, 4096, \
	  "idle bytes from one packet to the next", \
	  "fitted: QDR and FDR stay 62 to 83 bytes a packet under the wire's rate, points B03, B04, B15, M06, M13; the cause is not published") \
	P(link, delay, TIME, CFG_NS(10), 0, CFG_MS(1), \
	  "cable, one way; at most 200 km, beyond it a subnet manager gives up", \
	  "derived: two metres at 5 ns a metre") \
	P(link, mtu, POW2, 4096, 256, 4096, \
	  "largest payload a port can carry", "documented: ConnectX-3") \
	P(link, training_time, TIME, CFG_US(100), 0, CFG_MS(500), \
	  "both ends enabled until LinkUp; the subnet manager waits a second for it", \
	  "assumption: short bring-up; cables take 10 ms and more") \
	P(link, rx_buffer, SIZE, CFG_KIB(64), CFG_KIB(8), CFG_MIB(1), \
	  "receive buffer of one VL, announced as credits", \
	  "assumption: covers the round trip over switches at full rate with packets of 4 KiB") \
	P(link, tx_latency, TIME, CFG_NS(60), 0, CFG_MS(1), \
	  "transmit side of link and physical layer", "assumption: coding and serialiser") \
	P(link, rx_latency, TIME, CFG_NS(70), 0, CFG_MS(1), \
	  "receive side of link and physical layer", "assumption: deserialiser and block lock") \
	P(link, tx_window, TIMEOUT, CFG_US(2), CFG_NS(100), CFG_MS(1), \
	  "senders hold back while a port has more than this to send", \
	  "assumption: covers the round trip of a payload DMA read") \
	P(link, hoq_life, TIMEOUT, CFG_US(16777), 0, CFG_S(100), \
	  "a packet that finds no credit so long is dropped; 0: never", \
	  "derived: HOQLife 12 of IBA 14.2.5.6, 4.096 us * 2^12") \
	P(responder, latency, TIME, CFG_NS(50), 0, CFG_MS(1), \
	  "checked packet until its DMA or its response leaves", \
	  "assumption: twelve cycles of a 250 MHz pipeline") \
	P(responder, ack_latency, TIME, CFG_NS(100), 0, CFG_MS(1), \
	  "request taken until its ACK is made", "fitted: WRITE completions, points L50 and R12") \
	P(responder, ack_coalesce, COUNT, 8, 1, 4096, \
	  "request packets one ACK answers at most, where none asks", \
	  "assumption: IBA 9.7.5.1.2 allows coalescing") \
	P(responder, ack_delay, TIMEOUT, CFG_US(1), 0, CFG_MS(10), \
	  "longest wait of a coalesced ACK", \
	  "assumption: below the shortest ACK timeout, 4.096 us") \
	P(responder, ack_landed, BOOL, 0, 0, 1, \
	  "an ACK waits until the data it acknowledges is in host memory; else until its DMA has been issued, so software told by another way than a completion or a READ may look too early", \
	  "documented: an ACK says that the data is in the adapter's fault zone (IBA 9.7.5.1, o9-20), adapters send it before memory is updated (US patent 8589603); writes are posted and have no completion; 1: an adapter that reads behind them") \
	P(responder, read_dma, COUNT, 2, 1, 255, \
	  "READs of one QP whose data is being read at a time", \
	  "derived: READs of one QP fall short of what 16 outstanding would allow, point B05") \
	P(responder, read_packets, COUNT, 16, 1, 255, \
	  "packets of one QP's READ responses whose data is being read at a time", \
	  "assumption: covers the round trip of a DMA read at full rate") \
	P(responder, flush_poll, TIMEOUT, CFG_US(1), CFG_NS(100), CFG_MS(10), \
	  "doorbell record of a QP in error is read again after this, then after twice as long and so on", \
	  "assumption: drivers post a last receive right after the error and wait for its flush") \
	P(responder, flush_poll_max, TIMEOUT, CFG_MS(16), CFG_US(1), CFG_S(10), \
	  "longest such wait: the record is read at this interval as long as the queue pair is in error", \
	  "assumption: silicon flushes whatever is posted in error, however late, as Linux's ib_drain_rq needs it") \
	P(atomic_read, atomic_gap, TIME, CFG_NS(370), 0, CFG_US(10), \
	  "the atomic unit is held by one atomic", "derived: 2.7 M/s whatever the addresses") \
	P(retry, ack_timeout_multiplier, COUNT, 1, 1, 4, \
	  "the ACK timer runs 4.096 us * 2^code times this", \
	  "documented: IBA 9.7.6.1.3, between one and four; mlx4 silicon measured 2") \
	P(retry, min_code, COUNT, 0, 0, 20, \
	  "smaller ACK timeout codes count as this one; code 0 stays never", \
	  "documented: IBA has no minimum; mlx4 silicon measured 16") \
	P(retry, rnr_power, COUNT, 0, 0, 16, \
	  "0: the RNR delay is the time of its code; n: 4.096 us * 2^(code / 2 + n), code 0 as 32", \
	  "documented: IBA 9.7.5.2.8, at least the time; mlx4 silicon measured 3, points T12 to T18") \
	P(retry, rnr_floor, TIMEOUT, 0, 0, CFG_MS(10), \
	  "shortest RNR delay", \
	  "documented: IBA has none; mlx4 silicon measured 0.1 to 0.17 ms") \
	P(srq, latency, TIME, CFG_NS(16), 0, CFG_MS(1), \
	  "receive WQE taken from an SRQ, beside its DMA read", \
	  "assumption: four cycles of a 250 MHz pipeline") \
	P(srq, refresh, COUNT, 50, 0, 100, \
	  "percent of a receive queue; with fewer receives known the doorbell record is read ahead of need", \
	  "assumption: keeps credits fresh at a read every half queue") \
	P(srq, prefetch, COUNT, 8, 1, 64, \
	  "receive WQEs one DMA read takes", "assumption: as for send queues") \
	P(cqe_write, latency, TIME, CFG_NS(24), 0, CFG_MS(1), \
	  "work done until its CQE leaves for memory", \
	  "assumption: six cycles of a 250 MHz pipeline") \
	P(event_queue, latency, TIME, CFG_NS(24), 0, CFG_US(100), \
	  "event until its EQE leaves for memory", "assumption: six cycles of a 250 MHz pipeline") \
	P(interrupt, latency, TIME, CFG_NS(24), 0, CFG_US(100), \
	  "EQE written until its MSI-X message leaves", \
	  "assumption: six cycles of a 250 MHz pipeline") \
	P(interrupt, moderation, TIMEOUT, 0, 0, CFG_MS(1), \
	  "least time between two messages of a vector; a MAD is answered within 10 ms", "assumption: off") \
	P(pcie, speed, PCIE, 8000, 2500, 16000, \
	  "transfer rate of a lane", "documented: ConnectX-3 is PCIe 3.0") \
	P(pcie, lanes, COUNT2, 8, 1, 16, \
	  "lanes", "documented: ConnectX-3 is x8") \
	P(pcie, mps, POW2, 256, 128, 4096, \
	  "maximum payload of a TLP", "documented: usual setting of servers of its time") \
	P(pcie, mrrs, POW2, 512, 128, 4096, \
	  "maximum read request", "documented: PCIe default setting") \
	P(pcie, rcb, POW2, 64, 64, 128, \
	  "read completion boundary", "documented: PCIe default setting") \
	P(pcie, tags, COUNT, 32, 1, 256, \
	  "read requests outstanding", "documented: five-bit tags, PCIe default setting") \
	P(pcie, request_overhead, SIZE, 26, 0, 64, \
	  "bytes of a request TLP beside its data", \
	  "derived: Gen3 framing, sequence number, four-word header, LCRC") \
	P(pcie, completion_overhead, SIZE, 22, 0, 64, \
	  "bytes of a completion TLP beside its data", \
	  "derived: Gen3 framing, sequence number, three-word header, LCRC") \
	P(pcie, completion_headers, COUNT, 128, 1, 65536, \
	  "completions the device has room for; it asks for no more, so they take no credits", \
	  "assumption: all tags at 512 bytes a request, 128 a completion") \
	P(pcie, completion_data, SIZE, CFG_KIB(32), 128, CFG_MIB(16), \
	  "data of completions the device has room for", \
	  "assumption: all tags at 1 KiB a request") \
	P(pcie, posted_headers, COUNT, 127, 0, 127, \
	  "posted header credits the device gives the host; 0: no limit", \
	  "assumption: the most that PCIe 2.6.1 has") \
	P(pcie, posted_data, COUNT, 2047, 0, 2047, \
	  "posted data credits of 16 bytes the device gives the host; 0: no limit", \
	  "assumption: the most that PCIe 2.6.1 has") \
	P(pcie, credit_latency, TIME, CFG_NS(50), 0, CFG_MS(1), \
	  "TLP of the host at the device until its credits leave again", \
	  "assumption: as long as the device's side of the link") \
	P(pcie, device_latency, TIME, CFG_NS(50), 0, CFG_US(10), \
	  "device's side of the PCIe link, each way", "assumption: PHY and link layer") \
	P(fw, clock, FREQ, CFG_MHZ(250), CFG_MHZ(10), CFG_MHZ(4000), \
	  "clock of the embedded processor", "assumption: not published") \
	P(fw, cycles_per_instruction, COUNT, 1, 1, 64, \
	  "cycles of one instruction", "assumption: single issue, in order") \
	P(fw, ram, SIZE, CFG_MIB(1), CFG_KIB(64), CFG_MIB(64), \
	  "memory of the embedded processor", "assumption: the firmware and its tables fit") \
	P(fw, batch, COUNT, 4096, 1, 1 << 20, \
	  "instructions run at one simulated moment at most; interrupts are seen between batches and at register accesses", \
	  "assumption: 16 us at the default clock") \
	P(fw, dma_chunk, SIZE, CFG_KIB(16), CFG_KIB(4), CFG_MIB(1), \
	  "bytes the firmware's DMA helper has under way", "assumption: four pages") \
	P(fw, watchdog, TIMEOUT, CFG_MS(500), CFG_US(100), CFG_S(60), \
	  "firmware that does not report so long is dead", \
	  "assumption: under the driver's shortest command timeout") \
	P(fw, reset_time, TIME, CFG_MS(1), 0, CFG_S(10), \
	  "reset written until the firmware runs", \
	  "assumption: short bring-up; the silicon takes about a second")

/* A host. */
#define HOST_PARAMS(P) \
	P(host, memory, SIZE, CFG_GIB(8), CFG_MIB(64), CFG_GIB(1024), \
	  "physical memory; only touched pages take room", \
	  "derived: the ICM tables of the Linux mlx4 profile, and data") \
	P(host, poll_interval, TIMEOUT, CFG_NS(20), 1, CFG_MS(1), \
	  "period at which polling code looks at memory", \
	  "assumption: a loop of some 50 cycles") \
	P(host, poll_backoff, TIMEOUT, CFG_US(1), CFG_NS(1), CFG_MS(1), \
	  "longest pause of a simulated process that looks at several CQs in vain; it begins with poll_interval and doubles", \
	  "none: a compromise of the simulator; one CQ is seen at once") \
	P(host, catas_poll, TIMEOUT, CFG_S(5), CFG_US(1), CFG_S(1000), \
	  "period at which a kernel with RDMA objects reads the device's error buffer", \
	  "MLX4_CATAS_POLL_INTERVAL of Linux' mlx4_core: 5 s") \
	P(host, wake_latency, TIME, CFG_NS(50), 0, CFG_MS(1), \
	  "device's write in memory until a polling CPU can see it", \
	  "assumption: one coherence miss") \
	P(host, interrupt_latency, TIME, CFG_NS(1500), 0, CFG_MS(1), \
	  "MSI-X message in the host until its handler's first instruction", \
	  "assumption: an idle server CPU that does not sleep") \
	P(host, schedule_latency, TIME, CFG_NS(2000), 0, CFG_MS(1), \
	  "thread woken until it runs", "assumption: a context switch on an idle CPU") \
	P(host, mmio_write, TIME, CFG_NS(10), 0, CFG_US(100), \
	  "the CPU is held by a register write", \
	  "assumption: posted, the store buffer takes it") \
	P(host, wc_write, TIME, CFG_NS(30), 0, CFG_MS(1), \
	  "the CPU is held by 64 write-combined bytes (BlueFlame)", \
	  "fitted: one thread's rate of two-line WQEs, point M25") \
	P(host, post_cost, TIME, CFG_NS(60), 0, CFG_MS(1), \
	  "the CPU is held by building one send", "assumption: some 150 instructions") \
	P(host, receive_cost, TIME, CFG_NS(30), 0, CFG_MS(1), \
	  "the CPU is held by building one receive", \
	  "assumption: as taking a completion; no data is copied and no register written") \
	P(host, poll_cost, TIME, CFG_NS(30), 0, CFG_MS(1), \
	  "the CPU is held by taking one completion", "assumption: some 80 instructions") \
	P(pcie, posted_headers, COUNT, 32, 0, 127, \
	  "posted header credits the root complex gives the device; 0: no limit", \
	  "documented: x8 port of an Intel Xeon, C5500/C3500 datasheet, volume 1, table 76") \
	P(pcie, posted_data, COUNT, 160, 0, 2047, \
	  "posted data credits of 16 bytes the root complex gives the device; 0: no limit", \
	  "documented: the same table") \
	P(pcie, nonposted_headers, COUNT, 36, 0, 127, \
	  "non-posted header credits the root complex gives the device; 0: no limit", \
	  "documented: the same table; reads have no data, so its data credits do not matter") \
	P(pcie, credit_latency, TIME, CFG_NS(20), 0, CFG_US(10), \
	  "TLP at the root complex until its credits leave again", \
	  "assumption: credits cover the round trip; a host where they do not takes less than the wire brings") \
	P(pcie, latency, TIME, CFG_NS(100), 0, CFG_US(10), \
	  "root complex's side of the PCIe link, each way", \
	  "assumption: PHY, link layer and I/O fabric") \
	P(pcie, read_latency, TIME, CFG_NS(300), 0, CFG_US(100), \
	  "DMA read at the root complex until its data is there", \
	  "derived: 560 ns for 64 bytes on PCIe 3.0 x8, less both sides of the link") \
	P(pcie, write_latency, TIME, CFG_NS(150), 0, CFG_US(10), \
	  "DMA write at the root complex until memory has it", "assumption: half a read")

/* The simulation. */
#define SIM_PARAMS(P) \
	P(sim, seed, COUNT, 1, 0, UINT64_MAX, \
	  "seed of every random number of the run", "assumption: any will do") \
	P(sim, run_ahead, BOOL, 1, 0, 1, \
	  "the engine runs ahead to the next foreign event; off: an event is a SystemC step", \
	  "assumption: traces are equal either way") \
	P(sim, time_limit, TIMEOUT, CFG_S(60), 0, CFG_S(1000000), \
	  "simulated time after which the run fails; 0: none", \
	  "assumption: longer than any scenario") \
	P(sim, pace, COUNT, 100, 1, 10000, \
	  "serve: simulated time passes at most at so many hundredths of the wall clock's speed", \
	  "assumption: a guest's timers and the device's go alike") \
	P(sim, pace_lag, TIMEOUT, CFG_MS(1), 0, CFG_S(10), \
	  "serve: how much simulated time that could not follow the wall clock makes good at most", \
	  "assumption: far below an ACK timeout, so that none expires in a hurry") \
	P(sim, pace_slice, TIMEOUT, CFG_US(30), CFG_US(1), CFG_MS(10), \
	  "serve: wall time of simulation after which the sockets are looked at again", \
	  "assumption: a register read is to be answered within 100 us") \
	P(sim, pace_lead, TIMEOUT, CFG_US(100), 0, CFG_MS(10), \
	  "serve: how far before the wall clock what the device has under way may be simulated", \
	  "assumption: longer than a small message takes, far below any timer of a connection") \
	P(sim, pace_linger, TIMEOUT, CFG_US(100), 0, CFG_MS(10), \
	  "serve: how long after a message of a guest the thread does not sleep", \
	  "assumption: a guest that reads one register reads another; to be woken takes 30 us") \
	P(sim, pace_priority, COUNT, 1, 0, 99, \
	  "serve: real-time priority (round robin) where the system grants it; 0: none", \
	  "assumption: a device is quick however busy the machine is") \
	P(pcapng, snaplen, SIZE, CFG_KIB(8), 128, CFG_KIB(8), \
	  "bytes of a packet that packets.pcapng keeps; CRCs of one that is cut cannot be judged from it", \
	  "documented: no packet is longer; 128 hold all headers of any") \
	P(perf, many_machines, BOOL, 0, 0, 1, \
	  "perf: the other side of out_rate and in_rate stands for many machines", \
	  "documented: where the measurement was made so") \
	P(many, qps, COUNT, 4096, 16, 65536, \
	  "queue pairs of the scenario many_qps", \
	  "assumption: a few seconds; the device is to bear 65,536") \
	P(soak, messages, COUNT, 2000, 1, 1000000000, \
	  "work requests the scenario soak posts, both directions together", \
	  "assumption: a few seconds") \
	P(soak, qps, COUNT, 8, 1, 256, \
	  "queue pairs of the scenario soak", \
	  "assumption: every shape of queue pair comes twice") \
	P(soak, state_changes, COUNT, 400, 0, 1000000000, \
	  "messages from one queue pair taken to ERR and connected again to the next; 0: none", \
	  "assumption: a few in a short run") \
	P(soak, deaths, COUNT, 32, 1, 1000000000, \
	  "moments at which the scenario soak_processes kills", \
	  "assumption: a few seconds") \
	P(soak, drop_ppm, COUNT, 10000, 0, 100000, \
	  "packets lost, in a million", \
	  "assumption: what the protocol must bear") \
	P(soak, duplicate_ppm, COUNT, 10000, 0, 500000, \
	  "packets that come twice, in a million", \
	  "assumption: as losses") \
	P(soak, reorder_ppm, COUNT, 10000, 0, 500000, \
	  "packets overtaken by later ones, in a million", \
	  "assumption: as losses") \
	P(soak, corrupt_ppm, COUNT, 2000, 0, 100000, \
	  "packets with a wrong bit, in a million", \
	  "assumption: rarer than losses") \
	P(soak, delay_ppm, COUNT, 10000, 0, 500000, \
	  "packets that come late, in a million", \
	  "assumption: as losses")

/* clang-format on */

#endif
