/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts and table entries that live in ICM, as the mlx4 (ConnectX-3) programming interface has
 * them: queue pair, address path, completion queue, event queue, shared receive queue, memory
 * protection, memory translation, multicast group; and the device's own responder resource entry.
 *
 * The same bytes are the mailbox of SW2HW_*, QUERY_* and the QP transitions. Fields marked "device"
 * are kept by the device and ignored on input. Source: Linux mlx4 driver (structures and their
 * use), rdma-core, the iPXE register header for names the driver does not use.
 */
#ifndef MODEL_INTERFACE_CONTEXTS_H
#define MODEL_INTERFACE_CONTEXTS_H

#include "model/interface/field.h"

/* clang-format off */

#define QP_STATES(K) \
	K(QP_STATE, RST,      0, "reset") \
	K(QP_STATE, INIT,     1, "initialised: receives may be posted, packets are dropped") \
	K(QP_STATE, RTR,      2, "ready to receive") \
	K(QP_STATE, RTS,      3, "ready to send") \
	K(QP_STATE, SQER,     4, "send queue error") \
	K(QP_STATE, SQD,      5, "send queue drained") \
	K(QP_STATE, ERR,      6, "error") \
	K(QP_STATE, SQD_BUSY, 7, "send queue draining")

#define QP_SERVICES(K) \
	K(QP_ST, RC,  0, "reliable connection") \
	K(QP_ST, UC,  1, "unreliable connection") \
	K(QP_ST, RD,  2, "reliable datagram, not offered") \
	K(QP_ST, UD,  3, "unreliable datagram") \
	K(QP_ST, XRC, 6, "extended reliable connection") \
	K(QP_ST, MLX, 7, "special QP: the driver supplies the headers (QP0, QP1)")

#define QP_PM_STATES(K) \
	K(QP_PM, ARMED,    0, "alternate path loaded, migration allowed") \
	K(QP_PM, REARM,    1, "new alternate path loaded, waits for the peer") \
	K(QP_PM, ASKED,    2, "software asks an armed QP to migrate, device (a code that the interface does not use)") \
	K(QP_PM, MIGRATED, 3, "running on the primary path")

#define QP_ROCE_MODES(K) \
	K(QP_ROCE, V1, 0, "RoCE v1") \
	K(QP_ROCE, V2, 2, "RoCE v2")

#define RSS_FUNCTIONS(K) \
	K(RSS, XOR,      0, "exclusive or of the bytes") \
	K(RSS, TOEPLITZ, 1, "Toeplitz")

/* Bits. Source: Linux include/linux/mlx4/qp.h. */
#define RSS_KINDS(K) \
	K(RSS, UDP_IPV6, 0x01, "UDP over IPv6, with its ports") \
	K(RSS, UDP_IPV4, 0x02, "UDP over IPv4, with its ports") \
	K(RSS, TCP_IPV6, 0x04, "TCP over IPv6, with its ports") \
	K(RSS, IPV6,     0x08, "IPv6") \
	K(RSS, TCP_IPV4, 0x10, "TCP over IPv4, with its ports") \
	K(RSS, IPV4,     0x20, "IPv4")

#define IB_MTUS(K) \
	K(IB_MTU, 256,  1, "256 bytes") \
	K(IB_MTU, 512,  2, "512 bytes") \
	K(IB_MTU, 1024, 3, "1024 bytes") \
	K(IB_MTU, 2048, 4, "2048 bytes") \
	K(IB_MTU, 4096, 5, "4096 bytes")

#define CQ_STATES(K) \
	K(CQ_STATE, DISARMED,        0x0, "neither armed nor fired") \
	K(CQ_STATE, ARMED_SOLICITED, 0x6, "next solicited or failed completion makes an event") \
	K(CQ_STATE, ARMED,           0x9, "next completion makes an event") \
	K(CQ_STATE, FIRED,           0xa, "event made, waits for an arm request")

#define CQ_STATUSES(K) \
	K(CQ_STATUS, OK,         0x0, "ok") \
	K(CQ_STATUS, OVERFLOW,   0x9, "a completion found no room") \
	K(CQ_STATUS, WRITE_FAIL, 0xa, "a completion could not be written")

#define EQ_STATES(K) \
	K(EQ_STATE, DISARMED,     0x0, "events are written, no interrupt") \
	K(EQ_STATE, ARMED,        0x9, "next event interrupts") \
	K(EQ_STATE, FIRED,        0xa, "interrupt raised, waits for an arm request") \
	K(EQ_STATE, ALWAYS_ARMED, 0xb, "every event interrupts")

#define EQ_STATUSES(K) \
	K(EQ_STATUS, OK,         0x0, "ok") \
	K(EQ_STATUS, OVERFLOW,   0x9, "an event found no room") \
	K(EQ_STATUS, WRITE_FAIL, 0xa, "an event could not be written")

#define SRQ_STATES(K) \
	K(SRQ_STATE, OK,    0x0, "in use") \
	K(SRQ_STATE, ERROR, 0xf, "error")

#define MPT_STATUSES(K) \
	K(MPT_STATUS, HW,   0x0, "owned by hardware: valid") \
	K(MPT_STATUS, FREE, 0x3, "key allocated, no access until registered or bound") \
	K(MPT_STATUS, SW,   0xf, "owned by software")

#define MCG_PROTOCOLS(K) \
	K(MCG_PROTOCOL, IB, 0, "InfiniBand group")

#define QP_PATH_FIELDS(F, A, B, U, E) \
	F(qp_path,  8, force_loopback, 0x00,  7,  7, "force loopback") \
	F(qp_path,  8, cv,             0x00,  6,  6, "C-VLAN, Ethernet") \
	F(qp_path,  8, sv,             0x00,  5,  5, "S-VLAN, Ethernet") \
	F(qp_path,  8, vlan_control,   0x01,  7,  0, "VLAN control, Ethernet") \
	F(qp_path,  8, no_pkey_check,  0x02,  7,  0, "P_Key check disabled") \
	F(qp_path,  8, pkey_index,     0x03,  6,  0, "index into the port's P_Key table") \
	F(qp_path,  8, counter_index,  0x04,  7,  0, "counter; 0xff: none") \
	F(qp_path,  8, grh,            0x05,  7,  7, "send a GRH") \
	F(qp_path,  8, path_bits,      0x05,  6,  0, "source path bits") \
	U(qp_path,  8, smac_index,     0x05,  6,  0, "source MAC, index into the port's table, Ethernet") \
	F(qp_path, 16, rlid,           0x06, 15,  0, "remote LID") \
	F(qp_path,  8, ack_timeout,    0x08,  7,  3, "local ACK timeout of 4.096 us * 2^n; 0: never") \
	F(qp_path,  8, link_type,      0x08,  2,  0, "link type; 0: InfiniBand, 1: Ethernet") \
	F(qp_path,  8, mgid_index,     0x09,  6,  0, "source GID index in the port's table") \
	F(qp_path,  8, static_rate,    0x0a,  7,  0, "0: the port's rate, otherwise ib_rate + 5") \
	F(qp_path,  8, hop_limit,      0x0b,  7,  0, "GRH hop limit") \
	F(qp_path, 32, tclass,         0x0c, 27, 20, "GRH traffic class") \
	F(qp_path, 32, flow_label,     0x0c, 19,  0, "GRH flow label") \
	B(qp_path,     rgid,           0x10, 16,     "remote GID") \
	U(qp_path,  8, sched_queue,    0x20,  7,  0, "whole byte: 0x83 | (port - 1) << 6 | SL << 2; for QP0 0x3f | (port - 1) << 6") \
	F(qp_path,  8, sched_one,      0x20,  7,  7, "1 except for QP0") \
	F(qp_path,  8, port,           0x20,  6,  6, "port - 1") \
	F(qp_path,  8, sl,             0x20,  5,  2, "service level") \
	U(qp_path,  8, priority,       0x20,  5,  3, "priority, Ethernet") \
	F(qp_path,  8, sched_low,      0x20,  1,  0, "always 3") \
	F(qp_path,  8, vlan_index,     0x21,  7,  0, "VLAN index, Ethernet") \
	F(qp_path,  8, feup,           0x22,  7,  0, "force user priority, Ethernet") \
	F(qp_path,  8, fvl_rx,         0x23,  7,  0, "force VLAN on receive, Ethernet") \
	B(qp_path,     dmac,           0x26,  6,     "destination MAC, Ethernet")

#define QPC_FIELDS(F, A, B, U, E) \
	F(qpc, 32, state,           0x00, 31, 28, "QP state (input: the new state, ignored)") \
	F(qpc, 32, service,         0x00, 19, 16, "service type") \
	F(qpc, 32, rss,             0x00, 13, 13, "receive side scaling, Ethernet") \
	F(qpc, 32, pm_state,        0x00, 12, 11, "path migration state") \
	F(qpc, 32, pd,              0x04, 23,  0, "protection domain") \
	F(qpc,  8, mtu,             0x08,  7,  5, "path MTU; 1: 256 bytes, 5: 4096 bytes") \
	F(qpc,  8, log_msg_max,     0x08,  4,  0, "log2 of the largest message") \
	U(qpc,  8, rq_size_stride,  0x09,  7,  0, "both RQ sizes in one byte; without an RQ 0xfc, which has no meaning") \
	F(qpc,  8, log_rq_size,     0x09,  6,  3, "log2 RQ entries") \
	F(qpc,  8, log_rq_stride,   0x09,  2,  0, "log2 RQ stride / 16") \
	F(qpc,  8, sq_no_prefetch,  0x0a,  7,  7, "SQ must not be prefetched") \
	F(qpc,  8, log_sq_size,     0x0a,  6,  3, "log2 SQ entries") \
	F(qpc,  8, log_sq_stride,   0x0a,  2,  0, "log2 SQ stride / 16") \
	F(qpc,  8, roce_mode,       0x0b,  7,  6, "RoCE mode") \
	F(qpc,  8, rlkey,           0x0b,  4,  4, "reserved L_Key allowed") \
	F(qpc, 32, usr_page,        0x0c, 23,  0, "UAR index, 4 KiB units") \
	F(qpc, 32, local_qpn,       0x10, 23,  0, "QP number") \
	F(qpc, 32, remote_qpn,      0x14, 23,  0, "peer's QP number") \
	E(qpc, qp_path, primary,    0x18,         "primary path") \
	E(qpc, qp_path, alternate,  0x44,         "alternate path") \
	F(qpc, 32, ack_req_freq,    0x70, 31, 28, "an ACK is requested at least every 2^n packets") \
	F(qpc, 32, sra_max,         0x70, 23, 21, "log2 of the READs and atomics outstanding as requester") \
	F(qpc, 32, retry_cnt,       0x70, 18, 16, "transport retries") \
	F(qpc, 32, rnr_retry,       0x70, 15, 13, "RNR retries; 7: without limit") \
	F(qpc, 32, fre,             0x70, 11, 11, "fast register allowed") \
	F(qpc, 32, cur_rnr_retry,   0x70, 10,  8, "RNR retries left, device") \
	F(qpc, 32, cur_retry_cnt,   0x70,  7,  5, "transport retries left, device") \
	F(qpc, 32, send_limited,    0x74, 31, 31, "the responder gives end-to-end credits, device (in bytes that the interface reserves)") \
	F(qpc, 32, send_limit,      0x74, 23,  0, "SSN that the responder's credits reach, device") \
	F(qpc, 32, sqd_event,       0x74, 30, 30, "SQ_DRAINED event wanted, device (in bytes that the interface reserves)") \
	F(qpc, 32, next_send_psn,   0x78, 23,  0, "next PSN to send") \
	F(qpc, 32, cqn_send,        0x7c, 23,  0, "CQ of the send queue") \
	F(qpc, 16, roce_entropy,    0x80, 15,  0, "RoCE v2 source port") \
	F(qpc, 32, last_acked_psn,  0x88, 23,  0, "newest acknowledged PSN, device") \
	F(qpc, 32, ssn,             0x8c, 23,  0, "send sequence number, device") \
	F(qpc, 32, rra_max,         0x90, 23, 21, "log2 responder resources") \
	F(qpc, 32, rre,             0x90, 15, 15, "remote read enable") \
	F(qpc, 32, rwe,             0x90, 14, 14, "remote write enable") \
	F(qpc, 32, rae,             0x90, 13, 13, "remote atomic enable") \
	F(qpc, 32, page_offset,     0x90, 11,  6, "start of the work queues in the first page, 64-byte units") \
	F(qpc, 32, ric,             0x90,  4,  4, "credits are invalid, because the QP uses an SRQ") \
	F(qpc, 32, fpp,             0x90,  3,  3, "fixed port, Ethernet") \
	F(qpc, 32, min_rnr_timer,   0x94, 28, 24, "RNR NAK timer code") \
	F(qpc, 32, next_rcv_psn,    0x94, 23,  0, "next PSN expected") \
	F(qpc, 32, xrcd,            0x98, 15,  0, "XRC domain") \
	F(qpc, 32, cqn_recv,        0x9c, 23,  0, "CQ of the receive queue") \
	A(qpc, 64, db_rec_addr,     0xa0, 63,  2, "address of the RQ doorbell record; 0: no RQ") \
	F(qpc, 32, qkey,            0xa8, 31,  0, "Q_Key") \
	F(qpc, 32, srq,             0xac, 24, 24, "receives come from an SRQ") \
	F(qpc, 32, srqn,            0xac, 23,  0, "SRQ number") \
	F(qpc, 32, msn,             0xb0, 23,  0, "message sequence number, device") \
	F(qpc, 16, rq_wqe_counter,  0xb4, 15,  0, "RQ index, device") \
	F(qpc, 16, sq_wqe_counter,  0xb6, 15,  0, "SQ index, device") \
	F(qpc, 16, rate_limit,      0xbc, 15,  0, "rate limit; 0: none") \
	F(qpc,  8, qos_vport,       0xbf,  7,  0, "QoS virtual port") \
	F(qpc, 32, vlan_keep,       0xc0, 30, 30, "VLAN tags of received frames stay, Ethernet") \
	F(qpc, 32, scatter_fcs,     0xc0, 29, 29, "scatter FCS, Ethernet") \
	F(qpc, 32, inline_scatter,  0xc0, 25, 25, "inline scatter receive") \
	F(qpc, 32, header_separate, 0xc0, 24, 24, "header separation") \
	F(qpc, 32, base_mkey,       0xc4, 31,  0, "RSS / base key") \
	F(qpc,  8, log_page_size,   0xc8,  5,  0, "log2 page size - 12 of the work queues") \
	A(qpc, 64, mtt_addr,        0xc8, 39,  3, "byte offset of the first MTT entry") \
	F(qpc, 32, rx_in_message,   0xd0, 31, 31, "between first and last packet of a SEND or WRITE, device") \
	F(qpc, 32, rx_has_receive,  0xd0, 30, 30, "a receive is taken and not completed, device") \
	F(qpc, 32, rx_nak_sent,     0xd0, 29, 29, "a NAK was sent, and the expected PSN has not come since, device") \
	F(qpc, 32, rx_established,  0xd0, 28, 28, "the event communication established was reported, device") \
	F(qpc, 32, rx_record_read,  0xd0, 27, 27, "receive doorbell record was read since reset, device") \
	F(qpc, 32, rx_last_wqe,     0xd0, 26, 26, "the event last WQE reached was reported, device") \
	F(qpc, 32, rx_opcode,       0xd0, 23, 16, "BTH opcode of the message's newest packet, device") \
	F(qpc, 32, rx_receive,      0xd0, 15,  0, "index or slot of the receive that was taken, device") \
	F(qpc, 32, rx_rkey,         0xd4, 31,  0, "WRITE: R_Key, device") \
	F(qpc, 64, rx_va,           0xd8, 63,  0, "WRITE: address of the next packet, device") \
	F(qpc, 32, rx_left,         0xe0, 31,  0, "WRITE: bytes still to come, device") \
	F(qpc, 32, rx_bytes,        0xe4, 31,  0, "bytes received of the present message, device") \
	F(qpc, 32, rx_resource,     0xe8, 31, 24, "slot of the responder resource that is used next, device") \
	F(qpc, 32, rx_srqn,         0xe8, 23,  0, "SRQ of the receive that was taken, device") \
	F(qpc,  8, rx_resources,    0xec,  7,  0, "responder resources used since reset, device") \
	F(qpc, 16, rx_rq_posted,    0xee, 15,  0, "value of the receive doorbell record when it was read last, device")

/* In a QP context with rss, from RSS_CONTEXT_AT on, over both paths: the QP gives each frame to one
 * of several others. Source: Linux include/linux/mlx4/qp.h, mlx4/en_rx.c. */
#define RSS_CONTEXT_FIELDS(F, A, B, U, E) \
	F(rss_context, 32, log_size,    0x00, 31, 24, "log2 of the QPs") \
	F(rss_context, 32, base_qpn,    0x00, 23,  0, "first QP") \
	F(rss_context, 32, default_qpn, 0x04, 23,  0, "QP of frames that are not hashed") \
	F(rss_context,  8, function,    0x0a,  7,  0, "enum rss_function") \
	F(rss_context,  8, kinds,       0x0b,  7,  0, "what is hashed, enum rss_kind") \
	B(rss_context,     key,         0x0c, 40,     "key of Toeplitz") \
	F(rss_context, 32, udp_qpn,     0x34, 23,  0, "first QP of UDP")

#define CQC_FIELDS(F, A, B, U, E) \
	F(cqc, 32, status,          0x00, 31, 28, "status") \
	F(cqc, 32, timestamp,       0x00, 19, 19, "timestamps in CQEs") \
	F(cqc, 32, collapsed,       0x00, 18, 18, "every CQE goes to slot 0") \
	F(cqc, 32, ignore_overrun,  0x00, 17, 17, "overrun is not checked") \
	F(cqc, 32, state,           0x00, 11,  8, "arm state") \
	F(cqc, 16, page_offset,     0x0a, 11,  5, "start in the first page, 32-byte units") \
	F(cqc, 32, log_size,        0x0c, 28, 24, "log2 entries") \
	F(cqc, 32, usr_page,        0x0c, 23,  0, "UAR index") \
	F(cqc, 16, period,          0x10, 15,  0, "moderation period in us; 0: off") \
	F(cqc, 16, max_count,       0x12, 15,  0, "moderation count; 0: off") \
	F(cqc,  8, comp_eqn,        0x17,  7,  0, "EQ of completion events") \
	F(cqc,  8, log_page_size,   0x18,  5,  0, "log2 page size - 12") \
	A(cqc, 64, mtt_addr,        0x18, 39,  3, "byte offset of the first MTT entry") \
	F(cqc, 32, last_notified,   0x20, 23,  0, "producer index of the last event, device") \
	F(cqc, 32, solicit_pi,      0x24, 23,  0, "producer index of the last solicited CQE, device") \
	F(cqc, 32, consumer_index,  0x28, 23,  0, "consumer index, device") \
	F(cqc, 32, producer_index,  0x2c, 23,  0, "producer index, device") \
	A(cqc, 64, db_rec_addr,     0x38, 63,  3, "address of the doorbell record {set_ci, arm}")

#define EQC_FIELDS(F, A, B, U, E) \
	F(eqc, 32, status,          0x00, 31, 28, "status") \
	F(eqc, 32, collapsed,       0x00, 18, 18, "every EQE goes to slot 0") \
	F(eqc, 32, ignore_overrun,  0x00, 17, 17, "overrun is not checked") \
	F(eqc, 32, state,           0x00, 11,  8, "arm state") \
	F(eqc, 16, page_offset,     0x0a, 11,  5, "start in the first page, 32-byte units") \
	F(eqc,  8, log_size,        0x0c,  4,  0, "log2 entries") \
	F(eqc, 16, period,          0x10, 15,  0, "moderation period in us; 0: off") \
	F(eqc, 16, max_count,       0x12, 15,  0, "moderation count; 0: off") \
	F(eqc, 16, intr,            0x16,  9,  0, "MSI-X vector") \
	F(eqc,  8, log_page_size,   0x18,  5,  0, "log2 page size - 12") \
	A(eqc, 64, mtt_addr,        0x18, 39,  3, "byte offset of the first MTT entry") \
	F(eqc, 32, consumer_index,  0x28, 23,  0, "consumer index, device") \
	F(eqc, 32, producer_index,  0x2c, 23,  0, "producer index, device")

#define SRQC_FIELDS(F, A, B, U, E) \
	F(srqc, 32, state,          0x00, 31, 28, "state, device") \
	F(srqc, 32, log_size,       0x00, 27, 24, "log2 entries") \
	F(srqc, 32, srqn,           0x00, 23,  0, "SRQ number") \
	F(srqc,  8, log_stride,     0x04,  2,  0, "log2 stride / 16") \
	F(srqc, 16, xrcd,           0x06, 15,  0, "XRC domain") \
	F(srqc, 32, page_offset,    0x08, 31, 26, "start in the first page, 64-byte units") \
	F(srqc, 32, cqn,            0x08, 23,  0, "CQ of an XRC SRQ, otherwise 0") \
	F(srqc,  8, log_page_size,  0x10,  5,  0, "log2 page size - 12") \
	A(srqc, 64, mtt_addr,       0x10, 39,  3, "byte offset of the first MTT entry") \
	F(srqc, 32, pd,             0x18, 23,  0, "protection domain of the receive buffers") \
	F(srqc, 16, limit,          0x1c, 15,  0, "limit watermark; 0: disarmed") \
	F(srqc, 16, wqe_cnt,        0x1e, 15,  0, "receives available, device") \
	F(srqc, 16, wqe_counter,    0x22, 15,  0, "receives consumed, device") \
	F(srqc, 16, next_wqe,       0x24, 15,  0, "slot of the next receive, device (in bytes that the interface reserves)") \
	A(srqc, 64, db_rec_addr,    0x28, 63,  2, "address of the doorbell record")

#define MPT_ENTRY_FIELDS(F, A, B, U, E) \
	F(mpt_entry, 32, status,          0x00, 31, 28, "ownership") \
	F(mpt_entry, 32, mio,             0x00, 17, 17, "memory I/O") \
	F(mpt_entry, 32, bind_enable,     0x00, 15, 15, "windows may be bound to it") \
	F(mpt_entry, 32, remote_atomic,   0x00, 14, 14, "remote atomic access") \
	F(mpt_entry, 32, remote_write,    0x00, 13, 13, "remote write access") \
	F(mpt_entry, 32, remote_read,     0x00, 12, 12, "remote read access") \
	F(mpt_entry, 32, local_write,     0x00, 11, 11, "local write access") \
	F(mpt_entry, 32, local_read,      0x00, 10, 10, "local read access") \
	U(mpt_entry, 32, access,          0x00, 15, 10, "the six access bits") \
	F(mpt_entry, 32, physical,        0x00,  9,  9, "addresses are bus addresses, no MTT") \
	F(mpt_entry, 32, region,          0x00,  8,  8, "1: region, 0: window") \
	F(mpt_entry, 32, qpn,             0x04, 31,  8, "QP that a window of type 2 is bound to") \
	F(mpt_entry, 32, bound_to_qp,     0x04,  7,  7, "type 2 window") \
	F(mpt_entry, 32, mem_key,         0x08, 31,  0, "key as {variant, index}") \
	U(mpt_entry, 32, mem_key_variant, 0x08, 31, 24, "variant byte of the key") \
	U(mpt_entry, 32, mem_key_index,   0x08, 23,  0, "MPT index of the key") \
	F(mpt_entry, 32, rae,             0x0c, 28, 28, "remote access enable, with fre") \
	F(mpt_entry, 32, fre,             0x0c, 27, 27, "fast register enable") \
	F(mpt_entry, 32, en_inv,          0x0c, 25, 24, "invalidate enable, local and remote") \
	F(mpt_entry, 32, vf,              0x0c, 23, 17, "virtual function") \
	F(mpt_entry, 32, pd,              0x0c, 16,  0, "protection domain") \
	F(mpt_entry, 64, start,           0x10, 63,  0, "first virtual address") \
	F(mpt_entry, 64, length,          0x18, 63,  0, "bytes; 0: the window is not bound") \
	F(mpt_entry, 32, lkey,            0x20, 31,  0, "window: key of the region under it") \
	F(mpt_entry, 32, win_cnt,         0x24, 23,  0, "windows bound, device") \
	F(mpt_entry,  8, fbo_enable,      0x29,  7,  7, "first byte offset enable; bound window: addresses count from 0, device") \
	F(mpt_entry,  8, mtt_rep,         0x2b,  3,  0, "MTT repeat") \
	A(mpt_entry, 64, mtt_addr,        0x2c, 39,  3, "byte offset of the first MTT entry") \
	F(mpt_entry, 32, mtt_size,        0x34, 31,  0, "MTT entries owned (fast register regions)") \
	F(mpt_entry, 32, log_page_size,   0x38, 20,  0, "log2 page size, 12..31") \
	F(mpt_entry, 32, first_byte_offset, 0x3c, 20, 0, "offset of the first byte in the first page")

#define MTT_ENTRY_FIELDS(F, A, B, U, E) \
	A(mtt_entry, 64, addr,    0x0, 63,  3, "page bus address") \
	F(mtt_entry, 64, present, 0x0,  0,  0, "present")

#define MCG_MEMBER_FIELDS(F, A, B, U, E) \
	F(mcg_member, 32, block_loopback, 0x0, 30, 30, "the QP's own packets are not delivered to it") \
	F(mcg_member, 32, qpn,            0x0, 23,  0, "QP number")

#define MCG_ENTRY_FIELDS(F, A, B, U, E) \
	F(mcg_entry, 32, next_index, 0x00, 31,  6, "next entry of the chain; 0: end") \
	F(mcg_entry, 32, protocol,   0x04, 31, 30, "0 InfiniBand") \
	F(mcg_entry, 32, members,    0x04, 23,  0, "number of members") \
	B(mcg_entry,     mgid,       0x10, 16,     "multicast GID") \
	B(mcg_entry,     member,     0x20, 0x3e0,  "members, 4 bytes each")

/* Private to the device. A QP has 1 << rra_max entries, at rdmarc_base + ((qpn << log_rd_per_qp) + slot) * 32. */
#define RDMARC_FIELDS(F, A, B, U, E) \
	F(rdmarc, 32, valid,         0x00, 31, 31, "entry in use") \
	F(rdmarc, 32, failed,        0x00, 30, 30, "request was refused, nothing to repeat") \
	F(rdmarc, 32, npsn,          0x00, 23,  0, "PSNs taken by its response") \
	F(rdmarc, 32, opcode,        0x04, 31, 24, "BTH opcode of the request") \
	F(rdmarc, 32, psn,           0x04, 23,  0, "PSN of the request") \
	F(rdmarc, 32, msn,           0x08, 23,  0, "MSN of its response") \
	F(rdmarc, 32, rkey,          0x0c, 31,  0, "R_Key") \
	F(rdmarc, 64, va,            0x10, 63,  0, "virtual address") \
	F(rdmarc, 64, atomic_result, 0x18, 63,  0, "atomic: original value, as on the wire") \
	U(rdmarc, 32, length,        0x1c, 31,  0, "READ: bytes")

#define CONTEXT_LAYOUTS(L) \
	L(qp_path,    0x2c,  QP_PATH_FIELDS,    "address path") \
	L(qpc,        0xf8,  QPC_FIELDS,        "queue pair context") \
	L(rss_context, 0x38, RSS_CONTEXT_FIELDS, "part of a queue pair context that spreads frames") \
	L(cqc,        0x40,  CQC_FIELDS,        "completion queue context") \
	L(eqc,        0x40,  EQC_FIELDS,        "event queue context") \
	L(srqc,       0x30,  SRQC_FIELDS,       "shared receive queue context") \
	L(mpt_entry,  0x40,  MPT_ENTRY_FIELDS,  "memory protection entry") \
	L(mtt_entry,  0x08,  MTT_ENTRY_FIELDS,  "memory translation entry") \
	L(mcg_member, 0x04,  MCG_MEMBER_FIELDS, "multicast group member") \
	L(mcg_entry,  0x400, MCG_ENTRY_FIELDS,  "multicast group entry") \
	L(rdmarc,     0x20,  RDMARC_FIELDS,     "responder resource entry")

/* T(table, list): an enum of that name, and code_table_<name> in rows.h */
#define CONTEXT_CODES(T) \
	T(qp_state,     QP_STATES) \
	T(qp_service,   QP_SERVICES) \
	T(qp_pm_state,  QP_PM_STATES) \
	T(qp_roce_mode, QP_ROCE_MODES) \
	T(ib_mtu,       IB_MTUS) \
	T(rss_function, RSS_FUNCTIONS) \
	T(rss_kind,     RSS_KINDS) \
	T(cq_state,     CQ_STATES) \
	T(cq_status,    CQ_STATUSES) \
	T(eq_state,     EQ_STATES) \
	T(eq_status,    EQ_STATUSES) \
	T(srq_state,    SRQ_STATES) \
	T(mpt_status,   MPT_STATUSES) \
	T(mcg_protocol, MCG_PROTOCOLS)

/* clang-format on */

CONTEXT_LAYOUTS(LAYOUT_DEFINE)
CONTEXT_CODES(CODES_DEFINE)

/* Sets of service types. */
enum service_mask {
	SVC_RC = 1 << QP_ST_RC,
	SVC_UC = 1 << QP_ST_UC,
	SVC_UD = 1 << QP_ST_UD,
	SVC_XRC = 1 << QP_ST_XRC,
	SVC_MLX = 1 << QP_ST_MLX,
};

enum context_sizes {
	ICM_PAGE_SIZE = 4096,
	MCG_MEMBERS_MAX = mcg_entry_member_size / 4,
	RSS_CONTEXT_AT = 0x3c, /* in the context of a QP with rss */
	QPC_MTU_FRAME = 7,     /* mtu of a QP that sends Ethernet frames (Linux mlx4_en, raw QPs) */
	QPC_NO_RQ_SIZE_STRIDE = 0xfc, /* rq_size_stride as Linux writes it for a QP without RQ */
	QPN_MASK = 0xffffff,
	QPN_XRC_TARGET = 1 << 23, /* set in the number of every XRC target QP */
	LKEY_INVALID = 0x100,     /* ends a receive list; never names a region */
	CMPT_TYPE_SHIFT = 24, /* cMPT of (type, number): base + ((type << 24) + number) * size */
};

enum cmpt_type { CMPT_QP = 0, CMPT_SRQ = 1, CMPT_CQ = 2, CMPT_EQ = 3 };

static inline uint32_t ib_mtu_bytes(enum ib_mtu mtu)
{
	return 128u << mtu;
}

static inline struct mcg_member *mcg_entry_member(struct mcg_entry *g, unsigned int n)
{
	return (struct mcg_member *)(void *)(mcg_entry_member_ptr(g) + 4 * n);
}

static inline const struct mcg_member *mcg_entry_member_const(const struct mcg_entry *g,
							      unsigned int n)
{
	return (const struct mcg_member *)(const void *)(mcg_entry_member_cptr(g) + 4 * n);
}

/* The bucket of a multicast GID among 1 << log buckets (log <= 16). Software has no hash of its
 * own; it asks the device with MGID_HASH. */
static inline uint32_t mcg_hash(const uint8_t *gid, unsigned int log)
{
	uint32_t h = 0;

	for (unsigned int i = 0; i < 16; i += 2)
		h ^= be16_load(gid + i);
	return (h ^ h >> log) & ((1u << log) - 1);
}

/* Converts an lkey or rkey, {index, variant}, to the MPT's form, {variant, index}. */
static inline uint32_t mem_key_of_key(uint32_t key)
{
	return key << 24 | key >> 8;
}

static inline uint32_t key_of_mem_key(uint32_t mem_key)
{
	return mem_key << 8 | mem_key >> 24;
}

/* A QP has a receive queue of its own unless it uses an SRQ, is XRC, or has no doorbell record
 * address. */
static inline bool qpc_has_rq(const struct qpc *c)
{
	return !qpc_get_srq(c) && qpc_get_service(c) != QP_ST_XRC && qpc_get_db_rec_addr(c) != 0;
}

static inline const struct rss_context *qpc_rss_context(const struct qpc *c)
{
	return (const struct rss_context *)(const void *)(c->b + RSS_CONTEXT_AT);
}

/* A QP whose messages are Ethernet frames, such as a ring of a network interface. QP1 has the same
 * service; that the MTU tells them apart is an assumption, from what Linux writes for each. */
static inline bool qpc_has_frames(const struct qpc *c)
{
	return qpc_get_service(c) == QP_ST_MLX && qpc_get_mtu(c) == QPC_MTU_FRAME;
}

#endif
