/* SPDX-License-Identifier: Apache-2.0 */
/* Every parameter of a simulation, one row each. No delay, size or count is stated elsewhere.
 *
 *   P(section, key, unit, default, minimum, maximum, "meaning", "source")
 *
 * A row makes a key of ini files and an entry of `hcasim config`. The section is the engine stage:
 * [hca.link] delay = 10ns, or -s hca0.link.delay=10ns. The sections hca, host and sim are the bare
 * [hca], [host] and [sim]. When the tree is built, params.awk makes from it
 *   - the function param_<section>_<key>() of the header model/sim/params/hca_<section>.h, for code
 *     that reads the parameter (host_param_ in host_<section>.h, sim_param_ in sim_<section>.h);
 *   - the member <section>_<key> (uint64_t) of struct hca_params, host_params or sim_params, for
 *     code that fills in a configuration. Only such code includes this file.
 * Units: units.h; TIME is a cost, TIMEOUT a deadline or a period. A source begins with documented,
 * derived or assumption.
 * After a change here, run build/params_ini default >configs/default.ini, and the same for ideal. */
#ifndef MODEL_SIM_PARAMS_H
#define MODEL_SIM_PARAMS_H

#include "model/sim/params/structs.h"
#include "model/sim/units.h"

/* clang-format off */

/* A device. Defaults: ConnectX-3, one FDR port, PCIe 3.0 x8; the timers as the InfiniBand
 * specification has them. */
#define HCA_PARAMS(P) \
	P(hca, ports, COUNT, 1, 1, 2, \
	  "number of ports of the device", \
	  "documented: ConnectX-3 comes with one or two") \
	P(hca, personality, PERSONALITY, CFG_PERSONALITY_mlx4, 0, CFG_PERSONALITY_COUNT - 1, \
	  "what the device is to its host: mlx4 (ConnectX-3, with the transport in hardware), ipath (QLogic 6120, which leaves the transport to its driver; for guests of serve), or outside (no host: hca1 is that when hca0.port1.wire is no cable)", \
	  "assumption: mlx4 is what the host driver of scenarios drives") \
	P(hca, device, DEVICE, CFG_DEVICE_CX3, 0, CFG_DEVICE_COUNT - 1, \
	  "chip of an mlx4 device: cx3 (ConnectX-3, 15b3:1003) or cx3pro (ConnectX-3 Pro, 15b3:1007, which has RoCE v2)", \
	  "assumption: cx3 is the older and simpler one") \
	P(hca, node_guid, HEX, 0, 0, UINT64_MAX - 2, \
	  "node GUID; port n has this value + n; 0 stands for 0x0002c90300a00000 + 16 * number of the device", \
	  "assumption: the vendor's OUI") \
	P(hca, log_max_qp, COUNT, 18, 10, 24, \
	  "log2 of the number of QPs that the device announces", \
	  "documented: the Linux mlx4 profile needs 18") \
	P(hca, log_max_srq, COUNT, 16, 8, 24, \
	  "log2 of the number of SRQs that the device announces", \
	  "documented: the Linux mlx4 profile needs 16") \
	P(hca, log_max_cq, COUNT, 16, 8, 24, \
	  "log2 of the number of CQs that the device announces", \
	  "documented: the Linux mlx4 profile needs 16") \
	P(hca, log_max_eq, COUNT, 7, 3, 10, \
	  "log2 of the number of EQs that the device announces", \
	  "documented: Linux mlx4 uses at most 128") \
	P(hca, log_max_mpt, COUNT, 19, 10, 24, \
	  "log2 of the number of MPTs that the device announces", \
	  "documented: the Linux mlx4 profile needs 19") \
	P(hca, log_max_msg, COUNT, 30, 24, 31, \
	  "log2 of the longest message, in bytes", \
	  "documented: ConnectX-3 max_msg_sz") \
	P(hca, local_ack_delay, COUNT, 15, 0, 31, \
	  "local CA ACK delay that the device announces, as a code n: 4.096 us * 2^n", \
	  "documented: ConnectX-3") \
	P(hca, log_gids, COUNT, 3, 0, 7, \
	  "log2 of the number of entries of a port's GID table", \
	  "assumption: 3 makes bring-up short; silicon has 7") \
	P(hca, log_pkeys, COUNT, 5, 0, 7, \
	  "log2 of the number of entries of a port's P_Key table", \
	  "assumption: 5 makes bring-up short; silicon has 7") \
	P(hca, port_events, BOOL, 0, 0, 1, \
	  "the device tells of changes of PortInfo, GUIDs and P_Keys by port management change events; without them the driver looks at the management datagrams that it passes on", \
	  "documented: Linux mlx4, MLX4_DEV_CAP_FLAG_PORT_MNG_CHG_EV; assumption: off, as in older firmware") \
	P(hca, msix_vectors, COUNT, 128, 2, 2048, \
	  "number of entries of the MSI-X table", \
	  "documented: Linux mlx4 asks for at most 128") \
	P(hca, memory, SIZE, CFG_GIB(1), CFG_MIB(64), CFG_GIB(1024), \
	  "memory of the simulator that software can make the device use; beyond it the device stops with a catastrophic error", \
	  "assumption: far more than any use needs, and two devices still fit on a small machine") \
	P(doorbell, latency, TIME, CFG_NS(20), 0, CFG_MS(1), \
	  "time from the arrival of a BAR write at the device until the scheduler has it", \
	  "assumption: five cycles of a 250 MHz pipeline") \
	P(doorbell, blueflame, BOOL, 1, 0, 1, \
	  "the device announces and executes BlueFlame", \
	  "documented: ConnectX-3 has it") \
	P(doorbell, log_bf_reg, COUNT, 9, 8, 10, \
	  "log2 of the size of a BlueFlame register, in bytes", \
	  "documented: ConnectX-3 reports 512 bytes") \
	P(doorbell, log_bf_regs, COUNT, 3, 0, 3, \
	  "log2 of the number of BlueFlame registers per page", \
	  "derived: 512-byte registers in 4 KiB") \
	P(doorbell, bf_gathers, COUNT, 64, 1, 4096, \
	  "number of BlueFlame buffers that can be partly written at the same time", \
	  "assumption: one for each of 64 posting CPUs") \
	P(scheduler, latency, TIME, CFG_NS(20), 0, CFG_MS(1), \
	  "time from when a QP becomes ready until the scheduler picks it", \
	  "assumption: five cycles of a 250 MHz pipeline") \
	P(scheduler, burst, COUNT, 4, 1, 256, \
	  "packets that one QP may send before the next QP of the same priority has its turn", \
	  "assumption: keeps QPs fair to each other") \
	P(wqe_fetch, first, COUNT, 2, 1, 64, \
	  "WQEs that one DMA read takes from a send queue that was idle", \
	  "assumption: the usual one WQE, and the one behind it") \
	P(wqe_fetch, prefetch, COUNT, 8, 1, 64, \
	  "most WQEs that one DMA read takes; each read takes twice as many as the last read of the queue found", \
	  "derived: one QP reaches 9.9 M/s from fetched WQEs with one read at a time, point M26") \
	P(wqe_fetch, read_size, SIZE, CFG_KIB(2), 64, CFG_KIB(64), \
	  "most bytes of WQEs that one DMA read takes", \
	  "derived: fits wqe_fetch.prefetch WQEs of a 256-byte stride") \
	P(wqe_fetch, gap, TIME, CFG_PS(33500), 0, CFG_US(10), \
	  "time per WQE from one DMA read of send WQEs to the next", \
	  "fitted: 27.3 M/s WRITEs whose WQEs are read, point M64; 11.5 M/s READs, whose WQEs are read again for the response, M55") \
	P(wqe_fetch, reads, COUNT, 16, 1, 256, \
	  "DMA reads of send WQEs that may be under way at the same time, all QPs together", \
	  "assumption: half the tags; wqe_fetch.gap sets the rate") \
	P(wqe_fetch, entries, COUNT, 80, 1, 32768, \
	  "send WQEs that the device holds, all QPs together; the least recently used one makes room; while as many wait to start, further BlueFlame WQEs are not kept and are read later", \
	  "fitted: with 8 threads WRITEs keep their rate at 8 WQEs per thread and READs at 16, not beyond, points M52 to M64") \
	P(wqe_fetch, receives, COUNT, 64, 1, 65536, \
	  "receive WQEs that the device holds, all queues together", \
	  "assumption: one for each message that is being received") \
	P(wqe_fetch, latency, TIME, CFG_NS(24), 0, CFG_MS(1), \
	  "time from a WQE's arrival in the buffer until it is decoded", \
	  "assumption: six cycles of a 250 MHz pipeline") \
	P(context_cache, requester_entries, COUNT, 272, 1, 1 << 20, \
	  "number of QP contexts cached for sending", \
	  "fitted: outbound WRITEs over 256 QPs wait for contexts, those over 144 hardly do, points Q34 and Q36") \
	P(context_cache, responder_entries, COUNT, 2048, 1, 1 << 20, \
	  "number of QP contexts cached for receiving", \
	  "derived: inbound WRITEs of 256 QPs lose no rate, point Q37") \
	P(context_cache, read_entries, COUNT, 104, 1, 1 << 20, \
	  "number of QPs whose responder resources, for READs and atomics, are cached", \
	  "fitted: READs over 88 to 720 QPs, points Q02 to Q11; the program that measured them leaves 1 QP in 6 unused, in Q11 1 in 11") \
	P(context_cache, ways, COUNT, 4, 1, 64, \
	  "contexts per set of the context cache; a hash of the number selects the set, and the least recently used context of the set makes room", \
	  "assumption: usual for caches of this size") \
	P(context_cache, read_ways, COUNT, 8, 1, 64, \
	  "entries per set of the cache of responder resources", \
	  "fitted: 48 QPs lose no rate, 88 QPs lose a third, points Q01 and Q11") \
	P(context_cache, cq_entries, COUNT, 256, 1, 1 << 20, \
	  "number of CQ contexts cached", \
	  "assumption: as many as QP contexts") \
	P(context_cache, eq_entries, COUNT, 128, 1, 1 << 20, \
	  "number of EQ contexts cached", \
	  "derived: holds every EQ that Linux mlx4 makes") \
	P(context_cache, srq_entries, COUNT, 128, 1, 1 << 20, \
	  "number of SRQ contexts cached", \
	  "assumption: half as many as CQ contexts") \
	P(context_cache, hit_latency, TIME, CFG_NS(8), 0, CFG_MS(1), \
	  "time of a lookup that hits", \
	  "assumption: two cycles of a 250 MHz pipeline") \
	P(context_cache, miss_latency, TIME, 0, 0, CFG_MS(1), \
	  "time that a miss takes besides its DMA reads", \
	  "derived: the two reads, of the context and of its responder resources, are the 0.87 us of points Q06 to Q08") \
	P(context_cache, misses, COUNT, 1, 1, 64, \
	  "misses that the cache serves at the same time", \
	  "derived: READs over 100 and more QPs tend to one per 0.87 us, so misses queue") \
	P(translate, mpt_entries, COUNT, 512, 1, 1 << 20, \
	  "number of MPTs cached", \
	  "derived: completion time rises between 100 and 1,000 memory regions") \
	P(translate, mtt_entries, COUNT, 2048, 1, 1 << 22, \
	  "number of MTTs cached, in whole lines", \
	  "derived: the rate falls between 4 MiB and 16 MiB of 4 KiB pages") \
	P(translate, mtt_line, COUNT, 8, 1, 64, \
	  "MTT entries that a miss reads, aligned to their number; a power of two", \
	  "assumption: 64 bytes, the read completion boundary") \
	P(translate, hit_latency, TIME, CFG_NS(8), 0, CFG_MS(1), \
	  "time of a lookup that hits", \
	  "assumption: two cycles of a 250 MHz pipeline") \
	P(translate, miss_latency, TIME, CFG_NS(100), 0, CFG_MS(1), \
	  "time that a miss takes besides its DMA read", \
	  "fitted: a miss costs 0.59 us of the rate, point R09") \
	P(translate, misses, COUNT, 1, 1, 64, \
	  "misses that the cache serves at the same time", \
	  "derived: a miss costs about 0.5 us of the rate, so misses queue") \
	P(requester, units, COUNT, 2, 1, 16, \
	  "number of send units; one unit at a time serves a QP", \
	  "derived: the rate doubles with a second QP, and does not rise further") \
	P(requester, latency, TIME, CFG_NS(40), 0, CFG_MS(1), \
	  "time from a decoded WQE until its first packet can be filled", \
	  "assumption: ten cycles of a 250 MHz pipeline") \
	P(requester, wqe_gap, TIME, CFG_PS(52600), 0, CFG_US(10), \
	  "time that a WQE occupies a send unit", \
	  "derived: 38.0 M/s inlined WRITEs on two units, point M07") \
	P(requester, line_gap, TIME, CFG_PS(38400), 0, CFG_US(10), \
	  "least time that a WQE occupies a send unit, per 64 bytes of the WQE, whether from BlueFlame or from memory", \
	  "derived: 52 M lines per second on two units, points M09 and Q30 by BlueFlame, M22 by DMA reads; M11 follows") \
	P(requester, reliable_gap, TIME, CFG_NS(8), 0, CFG_US(10), \
	  "time that a WQE of a reliable connection occupies a send unit in addition", \
	  "derived: 32.5 M/s RC WRITEs, point M62") \
	P(requester, packet_gap, TIME, CFG_NS(24), 0, CFG_US(10), \
	  "time that a packet occupies a send unit", \
	  "assumption: six cycles of a 250 MHz pipeline") \
	P(requester, inflight, COUNT, 64, 1, 4096, \
	  "DMA reads of payload that a send unit may have under way", \
	  "assumption: covers the round trip of a DMA read at full rate") \
	P(requester, window, COUNT, 32768, 1, 1 << 23, \
	  "request packets of a QP that may be sent and not yet acknowledged", \
	  "assumption: well below the 2^23 PSNs of IBA 9.7.1") \
	P(requester, ack_interval, COUNT, 32, 1, 1 << 16, \
	  "number of packets after which a long message requests an ACK", \
	  "assumption: IBA 9.7.5.1 leaves the choice to the requester") \
	P(packet, tx_latency, TIME, CFG_NS(32), 0, CFG_MS(1), \
	  "time to build a packet's headers and add its CRCs", \
	  "assumption: eight cycles of a 250 MHz pipeline") \
	P(packet, rx_latency, TIME, CFG_NS(32), 0, CFG_MS(1), \
	  "time to parse and check a packet's headers", \
	  "assumption: eight cycles of a 250 MHz pipeline") \
	P(packet, rx_gap, TIME, CFG_PS(28200), 0, CFG_US(10), \
	  "time that a packet occupies the receive unit, which requests and responses share", \
	  "derived: 35.4 M/s inbound WRITEs, point M01") \
	P(packet, rx_read_gap, TIME, CFG_PS(10600), 0, CFG_US(10), \
	  "time that a READ request occupies the receive unit in addition", \
	  "derived: 25.8 M/s inbound READs, point M04") \
	P(packet, rx_scatter_gap, TIME, CFG_PS(18200), 0, CFG_US(10), \
	  "time that data for an address from a WQE (SEND, READ response, atomic result) occupies the receive unit in addition", \
	  "derived: 21.4 M/s outbound READs, point M14; 21.8 M/s inbound SENDs, point M20; 34 M/s without data, M21") \
	P(packet, gather_gap, TIME, CFG_PS(37800), 0, CFG_US(10), \
	  "time that a packet occupies the unit that reads payload from memory, for requests and READ responses", \
	  "derived: 21.8 M/s outbound WRITEs from memory, point M12, less packet.large_gap") \
	P(packet, small, SIZE, 32, 0, 4096, \
	  "largest payload that takes one step of the gather and scatter units; a larger one takes two steps", \
	  "assumption: the width of the path, as in packet.store; points M04 and M05, M14 and M15 lie on either side") \
	P(packet, large_gap, TIME, CFG_PS(9500), 0, CFG_US(10), \
	  "time of the second step", \
	  "derived: READs of 64 and of 4 bytes, points M14 and M15; inbound M04 and M05 follow") \
	P(packet, chunk, POW2, 256, 64, 4096, \
	  "bytes of payload that move together inside the device", \
	  "derived: the rate of READs falls by a step beyond 256 bytes, points Q20 and Q21") \
	P(packet, rx_chunk_gap, TIME, CFG_NS(38), 0, CFG_US(10), \
	  "time that each further chunk of payload occupies the receive unit", \
	  "derived: the height of the step at 256 bytes, points Q20 and Q21") \
	P(packet, store, TIME, 125, 0, CFG_NS(10), \
	  "time per byte of a packet between DMA and link, in each direction, because a packet is stored before it goes on", \
	  "derived: latency by message size, points L06 to L10, L23 to L25; 32 bytes per 250 MHz cycle") \
	P(crc, eager, BOOL, 0, 0, 1, \
	  "make and check both CRCs of every packet, not only where the result can be seen", \
	  "assumption: takes no simulated time") \
	P(link, speed, SPEED, CFG_SPEED_FDR, CFG_SPEED_SDR, CFG_SPEED_NDR, \
	  "highest speed of a lane", \
	  "documented: ConnectX-3 FDR") \
	P(link, width, WIDTH, 4, 1, 12, \
	  "largest number of lanes of the link", \
	  "documented: QSFP has four lanes") \
	P(link, gap, SIZE, 72, 0, 4096, \
	  "idle bytes from one packet to the next", \
	  "fitted: QDR and FDR stay 62 to 83 bytes per packet below the rate of the wire, points B03, B04, B15, M06, M13; no published cause") \
	P(link, delay, TIME, CFG_NS(10), 0, CFG_MS(1), \
	  "delay of the cable, one way; at most 200 km, because a subnet manager gives up beyond it", \
	  "derived: two metres at 5 ns a metre") \
	P(link, mtu, POW2, 4096, 256, 4096, \
	  "largest payload of a packet that a port can carry", \
	  "documented: ConnectX-3") \
	P(link, training_time, TIME, CFG_US(100), 0, CFG_MS(500), \
	  "time from when both ends are enabled until LinkUp; the subnet manager waits one second for it", \
	  "assumption: makes bring-up short; real cables take 10 ms and more") \
	P(link, rx_buffer, SIZE, CFG_KIB(64), CFG_KIB(8), CFG_MIB(1), \
	  "receive buffer of one VL, which the port announces as credits", \
	  "assumption: covers the round trip through switches at full rate with packets of 4 KiB") \
	P(link, tx_latency, TIME, CFG_NS(60), 0, CFG_MS(1), \
	  "time in the transmit side of the link and physical layer", \
	  "assumption: coding and serialiser") \
	P(link, rx_latency, TIME, CFG_NS(70), 0, CFG_MS(1), \
	  "time in the receive side of the link and physical layer", \
	  "assumption: deserialiser and block lock") \
	P(link, tx_window, TIMEOUT, CFG_US(2), CFG_NS(100), CFG_MS(1), \
	  "senders wait while a port has packets queued for longer than this, or their virtual lane has", \
	  "assumption: covers the round trip of a payload DMA read") \
	P(link, hoq_life, TIMEOUT, CFG_US(16777), 0, CFG_S(100), \
	  "a packet that waits this long for credits is dropped; 0: never", \
	  "derived: HOQLife 12 of IBA 14.2.5.6, 4.096 us * 2^12") \
	P(port1, type, PORT_TYPE, CFG_PORT_IB, 0, CFG_PORT_TYPE_COUNT - 1, \
	  "protocol of port 1: ib (InfiniBand), eth (Ethernet, for RoCE), or auto (the driver chooses, and can ask what the other end has)", \
	  "documented: VPI cards have both; ib is the first in QUERY_PORT") \
	P(port1, wire, WIRE, 0, 0, UINT64_MAX, \
	  "other end of the cable of an Ethernet port 1: cable (the other device), dgram:OWN,PEER (frames cross a pair of datagram sockets; for serve), or replay:FILE (the frames that came to this port in that packets.pcapng come again); see model/wire/README.md", \
	  "assumption: two devices and a cable are what scenarios are about") \
	P(port2, type, PORT_TYPE, CFG_PORT_IB, 0, CFG_PORT_TYPE_COUNT - 1, \
	  "protocol of port 2", \
	  "documented: as for port 1") \
	P(port2, wire, WIRE, 0, 0, UINT64_MAX, \
	  "the same for port 2", \
	  "assumption: as for port 1") \
	P(ethernet, rate, RATE, UINT64_C(40000000000), UINT64_C(1000000000), UINT64_C(400000000000), \
	  "data rate of an Ethernet port; the slower end of a cable sets it", \
	  "documented: ConnectX-3 has 10 and 40 Gb/s Ethernet") \
	P(ethernet, rx_buffer, SIZE, CFG_KIB(256), CFG_KIB(16), CFG_MIB(16), \
	  "receive buffer of an Ethernet port; a frame that does not fit is lost", \
	  "assumption: 50 us at 40 Gb/s") \
	P(ethernet, pause_above, SIZE, CFG_KIB(128), CFG_KIB(1), CFG_MIB(16), \
	  "a port that may send pause frames sends one when its receive buffer holds more than this", \
	  "assumption: half of the buffer, so that what is under way still fits") \
	P(ethernet, pause_below, SIZE, CFG_KIB(64), 0, CFG_MIB(16), \
	  "and it lets the other end go on when the buffer holds no more than this", \
	  "assumption: a quarter of the buffer") \
	P(ethernet, pause_quanta, COUNT, 0xffff, 1, 0xffff, \
	  "time in a pause frame, in units of 512 bit times", \
	  "assumption: the longest; the port ends the pause itself") \
	P(responder, latency, TIME, CFG_NS(50), 0, CFG_MS(1), \
	  "time from a checked packet until its DMA or its response leaves", \
	  "assumption: twelve cycles of a 250 MHz pipeline") \
	P(responder, ack_latency, TIME, CFG_NS(100), 0, CFG_MS(1), \
	  "time from accepting a request until its ACK is made", \
	  "fitted: WRITE completions, points L50 and R12") \
	P(responder, ack_coalesce, COUNT, 8, 1, 4096, \
	  "most request packets that one ACK answers, where no packet requests an ACK", \
	  "assumption: IBA 9.7.5.1.2 allows coalescing") \
	P(responder, ack_delay, TIMEOUT, CFG_US(1), 0, CFG_MS(10), \
	  "longest time that a coalesced ACK waits", \
	  "assumption: below the shortest ACK timeout, 4.096 us") \
	P(responder, ack_landed, BOOL, 0, 0, 1, \
	  "1: an ACK waits until the data that it acknowledges is in host memory; 0: only until the DMA write has been issued, so software that does not wait for a completion or a READ may look too early", \
	  "documented: an ACK says that the data is in the adapter's fault zone (IBA 9.7.5.1, o9-20); adapters send it before memory is updated (US patent 8589603), because PCIe writes are posted; 1 is an adapter that reads back behind its writes") \
	P(responder, read_dma, COUNT, 2, 1, 255, \
	  "READs of one QP whose data may be read from memory at the same time", \
	  "derived: READs of one QP stay below the rate that 16 outstanding ones would allow, point B05") \
	P(responder, read_packets, COUNT, 16, 1, 255, \
	  "packets of one QP's READ responses whose data may be read from memory at the same time", \
	  "assumption: covers the round trip of a DMA read at full rate") \
	P(responder, flush_poll, TIMEOUT, CFG_US(1), CFG_NS(100), CFG_MS(10), \
	  "the device reads the doorbell record of a QP in error again after this time, then after twice as long, and so on", \
	  "assumption: drivers post one more receive right after the error and wait until it is flushed") \
	P(responder, flush_poll_max, TIMEOUT, CFG_MS(16), CFG_US(1), CFG_S(10), \
	  "longest of these times; the device reads the record at this interval as long as the QP is in error", \
	  "assumption: silicon flushes any receive that is posted in error, however late; Linux's ib_drain_rq needs it") \
	P(atomic_read, atomic_gap, TIME, CFG_NS(370), 0, CFG_US(10), \
	  "time that one atomic operation occupies the atomic unit", \
	  "derived: 2.7 M/s, whatever the addresses") \
	P(retry, ack_timeout_multiplier, COUNT, 1, 1, 4, \
	  "the ACK timer runs for 4.096 us * 2^code times this", \
	  "documented: IBA 9.7.6.1.3 allows one to four; 2 was measured on mlx4 silicon") \
	P(retry, min_code, COUNT, 0, 0, 20, \
	  "a smaller ACK timeout code counts as this one; code 0 still means never", \
	  "documented: IBA has no minimum; 16 was measured on mlx4 silicon") \
	P(retry, rnr_power, COUNT, 0, 0, 16, \
	  "0: the RNR delay is the time of its code; n: it is 4.096 us * 2^(code / 2 + n), with code 0 as 32", \
	  "documented: IBA 9.7.5.2.8 demands at least the time of the code; 3 was measured on mlx4 silicon, points T12 to T18") \
	P(retry, rnr_floor, TIMEOUT, 0, 0, CFG_MS(10), \
	  "shortest RNR delay", \
	  "documented: IBA has no minimum; 0.1 to 0.17 ms was measured on mlx4 silicon") \
	P(srq, latency, TIME, CFG_NS(16), 0, CFG_MS(1), \
	  "time to take a receive WQE from an SRQ, besides its DMA read", \
	  "assumption: four cycles of a 250 MHz pipeline") \
	P(srq, refresh, COUNT, 50, 0, 100, \
	  "percent of a receive queue; while the device knows of fewer posted receives, it reads the doorbell record before it needs to", \
	  "assumption: keeps credits up to date with one read per half queue") \
	P(srq, prefetch, COUNT, 8, 1, 64, \
	  "receive WQEs that one DMA read takes", \
	  "assumption: as for send queues") \
	P(cqe_write, latency, TIME, CFG_NS(24), 0, CFG_MS(1), \
	  "time from the end of the work until its CQE leaves for memory", \
	  "assumption: six cycles of a 250 MHz pipeline") \
	P(event_queue, latency, TIME, CFG_NS(24), 0, CFG_US(100), \
	  "time from an event until its EQE leaves for memory", \
	  "assumption: six cycles of a 250 MHz pipeline") \
	P(interrupt, latency, TIME, CFG_NS(24), 0, CFG_US(100), \
	  "time from when the EQE is written until its MSI-X message leaves", \
	  "assumption: six cycles of a 250 MHz pipeline") \
	P(interrupt, moderation, TIMEOUT, 0, 0, CFG_MS(1), \
	  "least time between two messages of a vector; at most 1 ms, because a MAD is answered within 10 ms", \
	  "assumption: off") \
	P(pcie, speed, PCIE, 8000, 2500, 16000, \
	  "transfer rate of a PCIe lane", \
	  "documented: ConnectX-3 is PCIe 3.0") \
	P(pcie, lanes, COUNT2, 8, 1, 16, \
	  "number of PCIe lanes", \
	  "documented: ConnectX-3 is x8") \
	P(pcie, mps, POW2, 256, 128, 4096, \
	  "largest payload of a TLP", \
	  "documented: the usual setting of servers of its time") \
	P(pcie, mrrs, POW2, 512, 128, 4096, \
	  "largest read request", \
	  "documented: the default setting of PCIe") \
	P(pcie, rcb, POW2, 64, 64, 128, \
	  "read completion boundary", \
	  "documented: the default setting of PCIe") \
	P(pcie, tags, COUNT, 32, 1, 256, \
	  "read requests that may be outstanding", \
	  "documented: five-bit tags, the default setting of PCIe") \
	P(pcie, request_overhead, SIZE, 26, 0, 64, \
	  "bytes of a request TLP besides its data", \
	  "derived: Gen3 framing, sequence number, four-word header, LCRC") \
	P(pcie, completion_overhead, SIZE, 22, 0, 64, \
	  "bytes of a completion TLP besides its data", \
	  "derived: Gen3 framing, sequence number, three-word header, LCRC") \
	P(pcie, completion_headers, COUNT, 128, 1, 65536, \
	  "completions for which the device has room; it requests no more data than that, so completions need no credits", \
	  "assumption: all tags, with 512 bytes per request and 128 per completion") \
	P(pcie, completion_data, SIZE, CFG_KIB(32), 128, CFG_MIB(16), \
	  "completion data for which the device has room", \
	  "assumption: all tags, with 1 KiB per request") \
	P(pcie, posted_headers, COUNT, 127, 0, 127, \
	  "posted header credits that the device gives to the host; 0: no limit", \
	  "assumption: the maximum of PCIe 2.6.1") \
	P(pcie, posted_data, COUNT, 2047, 0, 2047, \
	  "posted data credits of 16 bytes that the device gives to the host; 0: no limit", \
	  "assumption: the maximum of PCIe 2.6.1") \
	P(pcie, credit_latency, TIME, CFG_NS(50), 0, CFG_MS(1), \
	  "time from the arrival of a host's TLP at the device until its credits are returned", \
	  "assumption: as long as the device's side of the link takes") \
	P(pcie, device_latency, TIME, CFG_NS(50), 0, CFG_US(10), \
	  "time in the device's side of the PCIe link, in each direction", \
	  "assumption: PHY and link layer") \
	P(fw, clock, FREQ, CFG_MHZ(250), CFG_MHZ(10), CFG_MHZ(4000), \
	  "clock of the embedded processor", \
	  "assumption: not published") \
	P(fw, cycles_per_instruction, COUNT, 1, 1, 64, \
	  "cycles that one instruction takes", \
	  "assumption: single issue, in order") \
	P(fw, ram, SIZE, CFG_MIB(1), CFG_KIB(64), CFG_MIB(64), \
	  "memory of the embedded processor", \
	  "assumption: holds the firmware and its tables") \
	P(fw, batch, COUNT, 4096, 1, 1 << 20, \
	  "most instructions that run at one moment of simulated time; the processor sees interrupts between batches and at register accesses", \
	  "assumption: 16 us at the default clock") \
	P(fw, dma_chunk, SIZE, CFG_KIB(16), CFG_KIB(4), CFG_MIB(1), \
	  "bytes that the firmware's DMA helper may have under way", \
	  "assumption: four pages") \
	P(fw, watchdog, TIMEOUT, CFG_MS(500), CFG_US(100), CFG_S(60), \
	  "the firmware is taken for dead when it does not report for this long", \
	  "assumption: shorter than the driver's shortest command timeout") \
	P(fw, jitter, TIME, CFG_US(20), 0, CFG_MS(10), \
	  "with sim.jitter: most time that the processor takes longer, at random, until it begins with what it was woken for, such as a command", \
	  "assumption: it has other tasks and caches; as long as a short command takes") \
	P(fw, reset_time, TIME, CFG_MS(1), 0, CFG_S(10), \
	  "time from the write to the reset register until the firmware runs", \
	  "assumption: makes bring-up short; silicon takes about one second")

/* A host. */
#define HOST_PARAMS(P) \
	P(host, memory, SIZE, CFG_GIB(8), CFG_MIB(64), CFG_GIB(1024), \
	  "physical memory of the host; only pages that are used take memory of the simulator", \
	  "derived: holds the ICM tables of the Linux mlx4 profile, and data") \
	P(host, largest_piece, SIZE, CFG_GIB(1024), CFG_KIB(4), CFG_GIB(1024), \
	  "most contiguous memory that the driver gets at once; it asks for smaller pieces when there is no larger one", \
	  "assumption: the memory of the host is not fragmented; 4KiB: Linux's page allocator has single pages left") \
	P(host, memory_order, MEMORY_ORDER, CFG_ORDER_PROGRAM, CFG_ORDER_PROGRAM, CFG_ORDER_ADVERSARIAL, \
	  "when stores of the driver become visible to the device: at once in program order, late in order (x86), or late and swapped where no write barrier stands between them (arm64, adversarial); only in hcasim-checked", \
	  "x86: stores are not reordered; arm64: stores are ordered by DMB; adversarial: assumption") \
	P(host, high_numbers, BOOL, 1, 0, 1, \
	  "whether the driver gives out numbers and keys with their high bits set, as after millions of objects; only in hcasim-checked", \
	  "a number that is kept in too few bits is then another one; Linux mlx4_bitmap_alloc: the high bits change each time the search wraps") \
	P(host, poll_interval, TIMEOUT, CFG_NS(20), 1, CFG_MS(1), \
	  "period at which polling code looks at memory", \
	  "assumption: a loop of some 50 cycles") \
	P(host, poll_backoff, TIMEOUT, CFG_US(1), CFG_NS(1), CFG_MS(1), \
	  "longest pause of a simulated process that polls several CQs and finds nothing; the pause begins with host.poll_interval and doubles", \
	  "assumption: saves time of the simulator; a process that polls one CQ sees its CQE at once") \
	P(host, catas_poll, TIMEOUT, CFG_S(5), CFG_US(1), CFG_S(1000), \
	  "period at which a kernel with RDMA objects reads the device's error buffer", \
	  "documented: MLX4_CATAS_POLL_INTERVAL of Linux mlx4_core is 5 s") \
	P(host, wake_latency, TIME, CFG_NS(50), 0, CFG_MS(1), \
	  "time from the device's write to memory until a polling CPU can see it", \
	  "assumption: one coherence miss") \
	P(host, interrupt_latency, TIME, CFG_NS(1500), 0, CFG_MS(1), \
	  "time from the arrival of an MSI-X message at the host until the first instruction of its handler", \
	  "assumption: an idle server CPU that does not sleep") \
	P(host, schedule_latency, TIME, CFG_NS(2000), 0, CFG_MS(1), \
	  "time from waking a thread until it runs", \
	  "assumption: a context switch on an idle CPU") \
	P(host, schedule_jitter, TIME, CFG_US(20), 0, CFG_MS(10), \
	  "with sim.jitter: most time by which a woken thread runs later, at random", \
	  "assumption: its CPU leaves the sleep state C1E, or runs something else that cannot be preempted for as long") \
	P(host, mmio_write, TIME, CFG_NS(10), 0, CFG_US(100), \
	  "time that a register write occupies the CPU", \
	  "assumption: the write is posted, and the store buffer takes it") \
	P(host, write_hold, TIME, 0, 0, CFG_US(100), \
	  "time for which a thread stands still behind each register write, while others and interrupt handlers go on; 0: not", \
	  "assumption: it is preempted there, or the write was not posted; for tests of drivers") \
	P(host, wc_write, TIME, CFG_NS(30), 0, CFG_MS(1), \
	  "time that 64 write-combined bytes (BlueFlame) occupy the CPU", \
	  "fitted: the rate of one thread with two-line WQEs, point M25") \
	P(host, post_cost, TIME, CFG_NS(60), 0, CFG_MS(1), \
	  "time that building one send occupies the CPU", \
	  "assumption: about 150 instructions") \
	P(host, packet_cost, TIME, CFG_NS(400), 0, CFG_MS(1), \
	  "time that a transport in software (hca.personality=ipath) takes for one packet, sent or received; stores into the device come on top", \
	  "assumption: about 1,000 instructions") \
	P(host, receive_cost, TIME, CFG_NS(30), 0, CFG_MS(1), \
	  "time that building one receive occupies the CPU", \
	  "assumption: as long as taking a completion; no data is copied and no register is written") \
	P(host, poll_cost, TIME, CFG_NS(30), 0, CFG_MS(1), \
	  "time that taking one completion occupies the CPU", \
	  "assumption: about 80 instructions") \
	P(pcie, posted_headers, COUNT, 32, 0, 127, \
	  "posted header credits that the root complex gives to the device; 0: no limit", \
	  "documented: x8 port of an Intel Xeon, C5500/C3500 datasheet, volume 1, table 76") \
	P(pcie, posted_data, COUNT, 160, 0, 2047, \
	  "posted data credits of 16 bytes that the root complex gives to the device; 0: no limit", \
	  "documented: x8 port of an Intel Xeon, C5500/C3500 datasheet, volume 1, table 76") \
	P(pcie, nonposted_headers, COUNT, 36, 0, 127, \
	  "non-posted header credits that the root complex gives to the device; 0: no limit", \
	  "documented: x8 port of an Intel Xeon, C5500/C3500 datasheet, volume 1, table 76; reads carry no data, so data credits do not matter") \
	P(pcie, credit_latency, TIME, CFG_NS(20), 0, CFG_US(10), \
	  "time from the arrival of a TLP at the root complex until its credits are returned", \
	  "assumption: short enough that credits cover the round trip; a host with less room takes less than the wire brings") \
	P(pcie, latency, TIME, CFG_NS(100), 0, CFG_US(10), \
	  "time in the root complex's side of the PCIe link, in each direction", \
	  "assumption: PHY, link layer and I/O fabric") \
	P(pcie, read_latency, TIME, CFG_NS(300), 0, CFG_US(100), \
	  "time from the arrival of a DMA read at the root complex until its data is there", \
	  "derived: 560 ns for 64 bytes on PCIe 3.0 x8, less both sides of the link") \
	P(pcie, write_latency, TIME, CFG_NS(150), 0, CFG_US(10), \
	  "time from the arrival of a DMA write at the root complex until memory has it", \
	  "assumption: half the time of a read") \
	P(pcie, read_jitter, TIME, CFG_NS(500), 0, CFG_MS(1), \
	  "with sim.jitter: most time that a DMA read takes longer, at random; other reads overtake it", \
	  "assumption: it waits for a refresh of the memory (350 ns for DDR4 of 8 Gb) and for the IOMMU's tables") \
	P(pcie, write_jitter, TIME, CFG_NS(500), 0, CFG_MS(1), \
	  "with sim.jitter: most time that a DMA write takes longer, at random, until memory has it; later writes do not overtake it", \
	  "assumption: the same causes as for a read") \
	P(pcie, interrupt_jitter, TIME, CFG_US(10), 0, CFG_MS(10), \
	  "with sim.jitter: most time by which an MSI-X message reaches its CPU later, at random", \
	  "assumption: a CPU needs some 10 us to leave the sleep state C1E, and may have switched interrupts off for as long")

/* The simulation. */
#define SIM_PARAMS(P) \
	P(sim, seed, COUNT, 1, 0, UINT64_MAX, \
	  "seed of every random number of the run", \
	  "assumption: any value will do") \
	P(sim, jitter, BOOL, 0, 0, 1, \
	  "DMA, interrupts, firmware and wake-ups of threads take longer each time, at random by sim.seed, within the bounds of the parameters *_jitter of [host.pcie], jitter of [hca.fw] and schedule_jitter of [host]", \
	  "assumption: off, so that a time in a trace can be computed; on, a driver's races show in some runs, as they do on silicon") \
	P(sim, run_ahead, BOOL, 1, 0, 1, \
	  "1: the engine runs ahead to the next event of a SystemC process; 0: each event of the engine is one step of SystemC", \
	  "assumption: traces are equal with both") \
	P(sim, time_limit, TIMEOUT, CFG_S(60), 0, CFG_S(1000000), \
	  "simulated time after which the run fails; 0: no limit", \
	  "assumption: longer than any scenario") \
	P(sim, pace, COUNT, 100, 1, 10000, \
	  "serve: highest speed of simulated time, in percent of the wall clock", \
	  "assumption: a guest's timers and the device's run at the same speed") \
	P(sim, pace_lag, TIMEOUT, CFG_MS(1), 0, CFG_S(10), \
	  "serve: most simulated time that is made up for after the simulation fell behind the wall clock", \
	  "assumption: far shorter than an ACK timeout, so that no timer expires early") \
	P(sim, pace_slice, TIMEOUT, CFG_US(30), CFG_US(1), CFG_MS(10), \
	  "serve: wall time of simulation after which the server looks at its sockets again", \
	  "assumption: a register read is to be answered within 100 us") \
	P(sim, pace_lead, TIMEOUT, CFG_US(100), 0, CFG_MS(10), \
	  "serve: how far ahead of the wall clock the work under way in a device may be simulated", \
	  "assumption: longer than a small message takes, far shorter than any timer of a connection") \
	P(sim, pace_linger, TIMEOUT, CFG_US(100), 0, CFG_MS(10), \
	  "serve: how long the thread stays awake after a message of a guest", \
	  "assumption: a guest that reads one register soon reads another; waking up takes 30 us") \
	P(sim, pace_priority, COUNT, 1, 0, 99, \
	  "serve: real-time priority (round robin) of the thread, where the system grants it; 0: none", \
	  "assumption: a device answers quickly however busy the machine is") \
	P(sim, guest_quantum_min, TIMEOUT, CFG_NS(100), CFG_NS(1), CFG_MS(1), \
	  "serve --guest-clock: a guest stops for events of the device at most this often", \
	  "assumption: a tenth of the latency of the shortest message") \
	P(sim, guest_quantum_max, TIMEOUT, CFG_MS(1), CFG_NS(1), CFG_S(1), \
	  "serve --guest-clock: longest time that a guest runs without looking at the device", \
	  "assumption: costs little, and hcasim ctl acts soon") \
	P(ethernet, cable_delay, TIME, CFG_US(5), 0, CFG_S(1), \
	  "iwarp: time that a frame takes on the Ethernet cable between the hosts", \
	  "assumption: one switch and two short cables") \
	P(ethernet, rate, RATE, UINT64_C(10000000000), 1000000, UINT64_C(400000000000), \
	  "iwarp: speed of the Ethernet cable between the hosts", \
	  "documented: cards with iWARP began at 10 Gb/s") \
	P(ethernet, roce, ROCE, CFG_ROCE_V1, 0, CFG_ROCE_COUNT - 1, \
	  "what the queue pairs of scenarios use on ports with hca.portN.type=eth: v1, or with hca.device=cx3pro v2_ipv4 or v2_ipv6", \
	  "assumption: every device has v1") \
	P(pcapng, snaplen, SIZE, CFG_KIB(16), 128, CFG_KIB(16), \
	  "bytes of each packet that packets.pcapng keeps; the CRCs of a packet that is cut cannot be checked", \
	  "documented: no packet is longer than 8 KiB, no frame longer than 9,618 bytes; 128 bytes hold all headers of any packet") \
	P(perf, many_machines, BOOL, 0, 0, 1, \
	  "perf: the other side of out_rate and in_rate stands for many machines", \
	  "documented: set for measurements that were made with many machines") \
	P(many, qps, COUNT, 4096, 16, 65536, \
	  "number of queue pairs of the scenario many_qps", \
	  "assumption: takes a few seconds; the device must bear 65,536") \
	P(soak, messages, COUNT, 2000, 1, 1000000000, \
	  "work requests that the scenario soak posts, both directions together", \
	  "assumption: takes a few seconds") \
	P(soak, qps, COUNT, 8, 1, 256, \
	  "number of queue pairs of the scenario soak", \
	  "assumption: each shape of queue pair occurs twice") \
	P(soak, state_changes, COUNT, 400, 0, 1000000000, \
	  "number of messages after which the next queue pair is taken to ERR and connected again; 0: never", \
	  "assumption: happens a few times in a short run") \
	P(soak, deaths, COUNT, 32, 1, 1000000000, \
	  "number of moments at which the scenario soak_processes kills a process", \
	  "assumption: takes a few seconds") \
	P(soak, drop_ppm, COUNT, 10000, 0, 100000, \
	  "packets that are lost, per million", \
	  "assumption: the protocol must bear it") \
	P(soak, duplicate_ppm, COUNT, 10000, 0, 500000, \
	  "packets that arrive twice, per million", \
	  "assumption: as many as are lost") \
	P(soak, reorder_ppm, COUNT, 10000, 0, 500000, \
	  "packets that later ones overtake, per million", \
	  "assumption: as many as are lost") \
	P(soak, corrupt_ppm, COUNT, 2000, 0, 100000, \
	  "packets that arrive with a wrong bit, per million", \
	  "assumption: fewer than are lost") \
	P(soak, delay_ppm, COUNT, 10000, 0, 500000, \
	  "packets that arrive late, per million", \
	  "assumption: as many as are lost")

/* clang-format on */

#endif
