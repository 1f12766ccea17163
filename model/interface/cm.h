/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams of communication management (class 7) and of subnet administration (class 3), which are
 * sent through QP1, and the codes they carry.
 *
 * Source: InfiniBand Architecture Specification vol. 1, ch. 12.6 to 12.11 (tables 106 to 120),
 * 15.2; annex A11 (RDMA IP CM service). Checked against Linux' include/rdma/ibta_vol1_c12.h and
 * Wireshark's infiniband dissector.
 */
#ifndef MODEL_INTERFACE_CM_H
#define MODEL_INTERFACE_CM_H

#include "model/interface/wire.h"

/* clang-format off */

#define CM_PATH_FIELDS(F, A, B, U, E) \
	F(cm_path, 16, local_lid,      0, 15,  0, "LID of the sender's port") \
	F(cm_path, 16, remote_lid,     2, 15,  0, "LID of the receiver's port") \
	B(cm_path,     local_gid,      4, 16,     "GID of the sender's port") \
	B(cm_path,     remote_gid,    20, 16,     "GID of the receiver's port") \
	F(cm_path, 32, flow_label,    36, 31, 12, "flow label") \
	F(cm_path, 32, packet_rate,   36,  5,  0, "static rate") \
	F(cm_path,  8, traffic_class, 40,  7,  0, "traffic class") \
	F(cm_path,  8, hop_limit,     41,  7,  0, "hop limit") \
	F(cm_path,  8, sl,            42,  7,  4, "service level") \
	F(cm_path,  8, subnet_local,  42,  3,  3, "no GRH needed") \
	F(cm_path,  8, ack_timeout,   43,  7,  3, "sender's ACK timeout, 4.096 us * 2^n")

/* The same fields, in the order of LAP. */
#define CM_LAP_PATH_FIELDS(F, A, B, U, E) \
	F(cm_lap_path, 16, local_lid,      0, 15,  0, "LID of the sender's port") \
	F(cm_lap_path, 16, remote_lid,     2, 15,  0, "LID of the receiver's port") \
	B(cm_lap_path,     local_gid,      4, 16,     "GID of the sender's port") \
	B(cm_lap_path,     remote_gid,    20, 16,     "GID of the receiver's port") \
	F(cm_lap_path, 32, flow_label,    36, 31, 12, "flow label") \
	F(cm_lap_path, 32, traffic_class, 36,  7,  0, "traffic class") \
	F(cm_lap_path,  8, hop_limit,     40,  7,  0, "hop limit") \
	F(cm_lap_path,  8, packet_rate,   41,  5,  0, "static rate") \
	F(cm_lap_path,  8, sl,            42,  7,  4, "service level") \
	F(cm_lap_path,  8, subnet_local,  42,  3,  3, "no GRH needed") \
	F(cm_lap_path,  8, ack_timeout,   43,  7,  3, "sender's ACK timeout, 4.096 us * 2^n")

#define CM_REQ_FIELDS(F, A, B, U, E) \
	E(cm_req, mad_hdr, hdr,                    0,         "MAD header") \
	F(cm_req, 32, local_comm_id,              24, 31,  0, "sender's communication id") \
	F(cm_req, 64, service_id,                 32, 63,  0, "service") \
	F(cm_req, 64, local_ca_guid,              40, 63,  0, "sender's node GUID") \
	F(cm_req, 32, local_qkey,                 52, 31,  0, "sender's Q_Key (RD)") \
	F(cm_req, 32, local_qpn,                  56, 31,  8, "sender's QP") \
	F(cm_req, 32, responder_resources,        56,  7,  0, "READs and atomics the sender serves at a time") \
	F(cm_req, 32, local_eecn,                 60, 31,  8, "sender's EE context (RD)") \
	F(cm_req, 32, initiator_depth,            60,  7,  0, "READs and atomics the sender has under way at a time") \
	F(cm_req, 32, remote_eecn,                64, 31,  8, "receiver's EE context (RD)") \
	F(cm_req, 32, remote_cm_response_timeout, 64,  7,  3, "within which the receiver answers, 4.096 us * 2^n") \
	F(cm_req, 32, transport_type,             64,  2,  1, "service of the QP, enum cm_transport") \
	F(cm_req, 32, flow_control,               64,  0,  0, "sender's HCA has end-to-end credits") \
	F(cm_req, 32, starting_psn,               68, 31,  8, "first PSN that the receiver sends") \
	F(cm_req, 32, local_cm_response_timeout,  68,  7,  3, "within which the sender answers, 4.096 us * 2^n") \
	F(cm_req, 32, retry_count,                68,  2,  0, "of the receiver's QP") \
	F(cm_req, 16, pkey,                       72, 15,  0, "P_Key") \
	F(cm_req,  8, path_mtu,                   74,  7,  4, "MTU of the path") \
	F(cm_req,  8, rdc_exists,                 74,  3,  3, "the RD channel exists") \
	F(cm_req,  8, rnr_retry_count,            74,  2,  0, "of the receiver's QP") \
	F(cm_req,  8, max_cm_retries,             75,  7,  4, "how often a CM message is sent again") \
	F(cm_req,  8, srq,                        75,  3,  3, "the sender's QP has an SRQ") \
	F(cm_req,  8, extended_transport,         75,  2,  0, "with transport type 3: 1 is XRC") \
	E(cm_req, cm_path, primary,               76,         "primary path") \
	E(cm_req, cm_path, alternate,            120,         "alternate path; zeros: none") \
	B(cm_req,     private_data,              164, 92,     "private data")

#define CM_MRA_FIELDS(F, A, B, U, E) \
	E(cm_mra, mad_hdr, hdr,         0,         "MAD header") \
	F(cm_mra, 32, local_comm_id,   24, 31,  0, "sender's communication id") \
	F(cm_mra, 32, remote_comm_id,  28, 31,  0, "receiver's communication id") \
	F(cm_mra,  8, message_mraed,   32,  7,  6, "which message came, enum cm_message") \
	F(cm_mra,  8, service_timeout, 33,  7,  3, "within which the answer comes, 4.096 us * 2^n") \
	B(cm_mra,     private_data,    34, 222,    "private data")

#define CM_REJ_FIELDS(F, A, B, U, E) \
	E(cm_rej, mad_hdr, hdr,          0,         "MAD header") \
	F(cm_rej, 32, local_comm_id,    24, 31,  0, "sender's communication id; 0 none") \
	F(cm_rej, 32, remote_comm_id,   28, 31,  0, "receiver's communication id") \
	F(cm_rej,  8, message_rejected, 32,  7,  6, "which message, enum cm_message") \
	F(cm_rej,  8, info_length,      33,  7,  1, "bytes of additional information") \
	F(cm_rej, 16, reason,           34, 15,  0, "enum cm_reason") \
	B(cm_rej,     ari,              36, 72,     "additional reject information") \
	B(cm_rej,     private_data,    108, 148,    "private data")

#define CM_REP_FIELDS(F, A, B, U, E) \
	E(cm_rep, mad_hdr, hdr,            0,         "MAD header") \
	F(cm_rep, 32, local_comm_id,      24, 31,  0, "sender's communication id") \
	F(cm_rep, 32, remote_comm_id,     28, 31,  0, "receiver's communication id") \
	F(cm_rep, 32, local_qkey,         32, 31,  0, "sender's Q_Key (RD)") \
	F(cm_rep, 32, local_qpn,          36, 31,  8, "sender's QP") \
	F(cm_rep, 32, local_eecn,         40, 31,  8, "sender's EE context (RD)") \
	F(cm_rep, 32, starting_psn,       44, 31,  8, "first PSN that the receiver sends") \
	F(cm_rep,  8, responder_resources, 48, 7,  0, "READs and atomics the sender serves at a time") \
	F(cm_rep,  8, initiator_depth,    49,  7,  0, "READs and atomics the sender has under way at a time") \
	F(cm_rep,  8, target_ack_delay,   50,  7,  3, "ACK delay of the sender's HCA, 4.096 us * 2^n") \
	F(cm_rep,  8, failover_accepted,  50,  2,  1, "what becomes of the alternate path, enum cm_failover") \
	F(cm_rep,  8, flow_control,       50,  0,  0, "sender's HCA has end-to-end credits") \
	F(cm_rep,  8, rnr_retry_count,    51,  7,  5, "of the receiver's QP") \
	F(cm_rep,  8, srq,                51,  4,  4, "the sender's QP has an SRQ") \
	F(cm_rep, 64, local_ca_guid,      52, 63,  0, "sender's node GUID") \
	B(cm_rep,     private_data,       60, 196,    "private data")

#define CM_RTU_FIELDS(F, A, B, U, E) \
	E(cm_rtu, mad_hdr, hdr,        0,         "MAD header") \
	F(cm_rtu, 32, local_comm_id,  24, 31,  0, "sender's communication id") \
	F(cm_rtu, 32, remote_comm_id, 28, 31,  0, "receiver's communication id") \
	B(cm_rtu,     private_data,   32, 224,    "private data")

#define CM_DREQ_FIELDS(F, A, B, U, E) \
	E(cm_dreq, mad_hdr, hdr,        0,         "MAD header") \
	F(cm_dreq, 32, local_comm_id,  24, 31,  0, "sender's communication id") \
	F(cm_dreq, 32, remote_comm_id, 28, 31,  0, "receiver's communication id") \
	F(cm_dreq, 32, remote_qpn,     32, 31,  8, "receiver's QP") \
	B(cm_dreq,     private_data,   36, 220,    "private data")

#define CM_DREP_FIELDS(F, A, B, U, E) \
	E(cm_drep, mad_hdr, hdr,        0,         "MAD header") \
	F(cm_drep, 32, local_comm_id,  24, 31,  0, "sender's communication id") \
	F(cm_drep, 32, remote_comm_id, 28, 31,  0, "receiver's communication id") \
	B(cm_drep,     private_data,   32, 224,    "private data")

#define CM_LAP_FIELDS(F, A, B, U, E) \
	E(cm_lap, mad_hdr, hdr,                    0,         "MAD header") \
	F(cm_lap, 32, local_comm_id,              24, 31,  0, "sender's communication id") \
	F(cm_lap, 32, remote_comm_id,             28, 31,  0, "receiver's communication id") \
	F(cm_lap, 32, remote_qpn,                 36, 31,  8, "receiver's QP") \
	F(cm_lap, 32, remote_cm_response_timeout, 36,  7,  3, "within which the receiver answers, 4.096 us * 2^n") \
	E(cm_lap, cm_lap_path, alternate,         44,         "the new alternate path") \
	B(cm_lap,     private_data,               88, 168,    "private data")

#define CM_APR_FIELDS(F, A, B, U, E) \
	E(cm_apr, mad_hdr, hdr,        0,         "MAD header") \
	F(cm_apr, 32, local_comm_id,  24, 31,  0, "sender's communication id") \
	F(cm_apr, 32, remote_comm_id, 28, 31,  0, "receiver's communication id") \
	F(cm_apr,  8, info_length,    32,  7,  0, "bytes of additional information") \
	F(cm_apr,  8, ap_status,      33,  7,  0, "enum cm_ap_status") \
	B(cm_apr,     info,           36, 72,     "additional information") \
	B(cm_apr,     private_data,  108, 148,    "private data")

#define CM_SIDR_REQ_FIELDS(F, A, B, U, E) \
	E(cm_sidr_req, mad_hdr, hdr,       0,         "MAD header") \
	F(cm_sidr_req, 32, request_id,    24, 31,  0, "sender's request id") \
	F(cm_sidr_req, 16, pkey,          28, 15,  0, "P_Key") \
	F(cm_sidr_req, 64, service_id,    32, 63,  0, "service") \
	B(cm_sidr_req,     private_data,  40, 216,    "private data")

#define CM_SIDR_REP_FIELDS(F, A, B, U, E) \
	E(cm_sidr_rep, mad_hdr, hdr,       0,         "MAD header") \
	F(cm_sidr_rep, 32, request_id,    24, 31,  0, "that of the request") \
	F(cm_sidr_rep,  8, status,        28,  7,  0, "enum cm_sidr_status") \
	F(cm_sidr_rep,  8, info_length,   29,  7,  0, "bytes of additional information") \
	F(cm_sidr_rep, 32, qpn,           32, 31,  8, "QP of the service") \
	F(cm_sidr_rep, 64, service_id,    36, 63,  0, "service") \
	F(cm_sidr_rep, 32, qkey,          44, 31,  0, "its Q_Key") \
	B(cm_sidr_rep,     info,          48, 72,     "additional information") \
	B(cm_sidr_rep,     private_data, 120, 136,    "private data")

/* Precedes the private data of a REQ, when the service is an IP service (annex A11). */
#define CM_IP_FIELDS(F, A, B, U, E) \
	F(cm_ip,  8, major,     0,  7,  4, "major version, 0") \
	F(cm_ip,  8, minor,     0,  3,  0, "minor version, 0") \
	F(cm_ip,  8, ipv,       1,  7,  4, "4 or 6") \
	F(cm_ip, 16, src_port,  2, 15,  0, "source port") \
	B(cm_ip,     src,       4, 16,     "source address; IPv4 in the last 4 bytes") \
	B(cm_ip,     dst,      20, 16,     "destination address")

#define SA_MAD_FIELDS(F, A, B, U, E) \
	E(sa_mad, mad_hdr, hdr,          0,         "MAD header") \
	F(sa_mad,  8, rmpp_version,     24,  7,  0, "RMPP version") \
	F(sa_mad,  8, rmpp_type,        25,  7,  0, "RMPP type") \
	F(sa_mad,  8, rmpp_resp_time,   26,  7,  3, "RMPP response time") \
	F(sa_mad,  8, rmpp_flags,       26,  2,  0, "bit 0 active, 1 first, 2 last") \
	F(sa_mad,  8, rmpp_status,      27,  7,  0, "RMPP status") \
	F(sa_mad, 32, rmpp_segment,     28, 31,  0, "segment") \
	F(sa_mad, 32, rmpp_length,      32, 31,  0, "payload length") \
	F(sa_mad, 64, sm_key,           36, 63,  0, "SM_Key") \
	F(sa_mad, 16, attribute_offset, 44, 15,  0, "bytes from record to record, 8-byte words") \
	F(sa_mad, 64, component_mask,   48, 63,  0, "which fields of the record are said") \
	B(sa_mad,     data,             56, 200,    "records")

#define PATH_RECORD_FIELDS(F, A, B, U, E) \
	F(path_record, 64, service_id,     0, 63,  0, "service") \
	B(path_record,     dgid,           8, 16,     "destination GID") \
	B(path_record,     sgid,          24, 16,     "source GID") \
	F(path_record, 16, dlid,          40, 15,  0, "destination LID") \
	F(path_record, 16, slid,          42, 15,  0, "source LID") \
	F(path_record, 32, raw_traffic,   44, 31, 31, "raw packets") \
	F(path_record, 32, flow_label,    44, 27,  8, "flow label") \
	F(path_record, 32, hop_limit,     44,  7,  0, "hop limit") \
	F(path_record,  8, traffic_class, 48,  7,  0, "traffic class") \
	F(path_record,  8, reversible,    49,  7,  7, "the way back is the same") \
	F(path_record,  8, numb_path,     49,  6,  0, "how many paths at most") \
	F(path_record, 16, pkey,          50, 15,  0, "P_Key") \
	F(path_record, 16, qos_class,     52, 15,  4, "QoS class") \
	F(path_record, 16, sl,            52,  3,  0, "service level") \
	F(path_record,  8, mtu_selector,  54,  7,  6, "enum sa_selector") \
	F(path_record,  8, mtu,           54,  5,  0, "MTU") \
	F(path_record,  8, rate_selector, 55,  7,  6, "enum sa_selector") \
	F(path_record,  8, rate,          55,  5,  0, "static rate") \
	F(path_record,  8, life_selector, 56,  7,  6, "enum sa_selector") \
	F(path_record,  8, life_time,     56,  5,  0, "packet life time, 4.096 us * 2^n") \
	F(path_record,  8, preference,    57,  7,  0, "0 is best")

#define CM_LAYOUTS(L) \
	L(cm_path,      44, CM_PATH_FIELDS,     "path of a REQ") \
	L(cm_lap_path,  44, CM_LAP_PATH_FIELDS, "path of a LAP") \
	L(cm_req,      256, CM_REQ_FIELDS,      "request for communication") \
	L(cm_mra,      256, CM_MRA_FIELDS,      "message receipt acknowledgement") \
	L(cm_rej,      256, CM_REJ_FIELDS,      "reject") \
	L(cm_rep,      256, CM_REP_FIELDS,      "reply to a request for communication") \
	L(cm_rtu,      256, CM_RTU_FIELDS,      "ready to use") \
	L(cm_dreq,     256, CM_DREQ_FIELDS,     "request for communication release") \
	L(cm_drep,     256, CM_DREP_FIELDS,     "reply to a request for communication release") \
	L(cm_lap,      256, CM_LAP_FIELDS,      "load alternate path") \
	L(cm_apr,      256, CM_APR_FIELDS,      "alternate path response") \
	L(cm_sidr_req, 256, CM_SIDR_REQ_FIELDS, "service id resolution request") \
	L(cm_sidr_rep, 256, CM_SIDR_REP_FIELDS, "service id resolution reply") \
	L(cm_ip,        36, CM_IP_FIELDS,       "IP addresses in a REQ") \
	L(sa_mad,      256, SA_MAD_FIELDS,      "subnet administration MAD") \
	L(path_record,  64, PATH_RECORD_FIELDS, "PathRecord")

#define CM_ATTRIBUTES(K) \
	K(CM_ATTR, CLASS_PORT_INFO, 0x0001, "ClassPortInfo") \
	K(CM_ATTR, REQ,             0x0010, "REQ") \
	K(CM_ATTR, MRA,             0x0011, "MRA") \
	K(CM_ATTR, REJ,             0x0012, "REJ") \
	K(CM_ATTR, REP,             0x0013, "REP") \
	K(CM_ATTR, RTU,             0x0014, "RTU") \
	K(CM_ATTR, DREQ,            0x0015, "DREQ") \
	K(CM_ATTR, DREP,            0x0016, "DREP") \
	K(CM_ATTR, SIDR_REQ,        0x0017, "SIDR_REQ") \
	K(CM_ATTR, SIDR_REP,        0x0018, "SIDR_REP") \
	K(CM_ATTR, LAP,             0x0019, "LAP") \
	K(CM_ATTR, APR,             0x001a, "APR")

/* Transport service types (table 106). */
#define CM_TRANSPORTS(K) \
	K(CM_TRANSPORT, RC,       0, "RC") \
	K(CM_TRANSPORT, UC,       1, "UC") \
	K(CM_TRANSPORT, RD,       2, "RD") \
	K(CM_TRANSPORT, EXTENDED, 3, "see extended transport type")

/* Which message an MRA or REJ refers to. */
#define CM_MESSAGES(K) \
	K(CM_MESSAGE, REQ,   0, "REQ") \
	K(CM_MESSAGE, REP,   1, "REP") \
	K(CM_MESSAGE, OTHER, 2, "none of them; MRA: LAP")

/* Reasons of a REJ (table 109). The additional information is in brackets. */
#define CM_REASONS(K) \
	K(CM_REASON, NO_QP,                 1, "no QP available") \
	K(CM_REASON, NO_EEC,                2, "no EE context available") \
	K(CM_REASON, NO_RESOURCES,          3, "no resources available") \
	K(CM_REASON, TIMEOUT,               4, "timeout (node GUID)") \
	K(CM_REASON, UNSUPPORTED,           5, "unsupported request") \
	K(CM_REASON, INVALID_COMM_ID,       6, "invalid communication id") \
	K(CM_REASON, INVALID_COMM_INSTANCE, 7, "invalid communication instance") \
	K(CM_REASON, INVALID_SERVICE_ID,    8, "invalid service id") \
	K(CM_REASON, INVALID_TRANSPORT,     9, "invalid transport service type") \
	K(CM_REASON, STALE_CONN,           10, "stale connection") \
	K(CM_REASON, RDC_NOT_EXIST,        11, "RDC does not exist") \
	K(CM_REASON, INVALID_GID,          12, "primary remote port GID rejected (the right one)") \
	K(CM_REASON, INVALID_LID,          13, "primary remote port LID rejected (the right one)") \
	K(CM_REASON, INVALID_SL,           14, "invalid primary SL") \
	K(CM_REASON, INVALID_TCLASS,       15, "invalid primary traffic class") \
	K(CM_REASON, INVALID_HOP_LIMIT,    16, "invalid primary hop limit") \
	K(CM_REASON, INVALID_RATE,         17, "invalid primary packet rate") \
	K(CM_REASON, INVALID_ALT_GID,      18, "alternate remote port GID rejected") \
	K(CM_REASON, INVALID_ALT_LID,      19, "alternate remote port LID rejected") \
	K(CM_REASON, INVALID_ALT_SL,       20, "invalid alternate SL") \
	K(CM_REASON, INVALID_ALT_TCLASS,   21, "invalid alternate traffic class") \
	K(CM_REASON, INVALID_ALT_HOP_LIMIT, 22, "invalid alternate hop limit") \
	K(CM_REASON, INVALID_ALT_RATE,     23, "invalid alternate packet rate") \
	K(CM_REASON, PORT_CM_REDIRECT,     24, "port and CM redirection") \
	K(CM_REASON, PORT_REDIRECT,        25, "port redirection") \
	K(CM_REASON, INVALID_MTU,          26, "invalid path MTU (the largest)") \
	K(CM_REASON, INSUFFICIENT_RESP,    27, "insufficient responder resources") \
	K(CM_REASON, CONSUMER_DEFINED,     28, "the consumer rejects") \
	K(CM_REASON, INVALID_RNR_RETRY,    29, "RNR retry count rejected") \
	K(CM_REASON, DUPLICATE_COMM_ID,    30, "duplicate local communication id") \
	K(CM_REASON, INVALID_CLASS_VERSION, 31, "unsupported class version (the supported one)") \
	K(CM_REASON, INVALID_FLOW_LABEL,   32, "invalid primary flow label") \
	K(CM_REASON, INVALID_ALT_FLOW_LABEL, 33, "invalid alternate flow label")

#define CM_FAILOVERS(K) \
	K(CM_FAILOVER, ACCEPTED,    0, "the alternate path is accepted") \
	K(CM_FAILOVER, UNSUPPORTED, 1, "failover is not supported") \
	K(CM_FAILOVER, REJECTED,    2, "the alternate path is rejected")

/* Status of an APR (table 117). */
#define CM_AP_STATUSES(K) \
	K(CM_AP, SUCCESS,          0, "loaded") \
	K(CM_AP, INVALID_COMM_ID,  1, "invalid communication id") \
	K(CM_AP, UNSUPPORTED,      2, "alternate paths are not supported") \
	K(CM_AP, REJECTED,         3, "failover port rejected") \
	K(CM_AP, REDIRECT,         4, "redirection") \
	K(CM_AP, IS_CURRENT,       5, "the alternate path is the current one") \
	K(CM_AP, INVALID_QPN_EECN, 6, "QPN does not match the communication ids") \
	K(CM_AP, INVALID_LID,      7, "remote port LID rejected") \
	K(CM_AP, INVALID_GID,      8, "remote port GID rejected") \
	K(CM_AP, INVALID_FLOW,     9, "flow label rejected") \
	K(CM_AP, INVALID_TCLASS,  10, "traffic class rejected") \
	K(CM_AP, INVALID_HOP_LIMIT, 11, "hop limit rejected") \
	K(CM_AP, INVALID_RATE,    12, "packet rate rejected") \
	K(CM_AP, INVALID_SL,      13, "SL rejected")

/* Status of a SIDR_REP (12.11). */
#define CM_SIDR_STATUSES(K) \
	K(CM_SIDR, SUCCESS,     0, "QPN and Q_Key are valid") \
	K(CM_SIDR, UNSUPPORTED, 1, "service id is not supported") \
	K(CM_SIDR, REJECT,      2, "rejected by the service provider") \
	K(CM_SIDR, NO_QP,       3, "no QP available") \
	K(CM_SIDR, REDIRECT,    4, "request is redirected") \
	K(CM_SIDR, UNSUPPORTED_VERSION, 5, "class version is not supported")

#define SA_ATTRIBUTES(K) \
	K(SA_ATTR, CLASS_PORT_INFO, 0x0001, "ClassPortInfo") \
	K(SA_ATTR, PATH_RECORD,     0x0035, "PathRecord")

/* MAD status of subnet administration, bits 15..8 (ch. 15). */
#define SA_STATUSES(K) \
	K(SA_STATUS, NO_RESOURCES, 0x0100, "no resources") \
	K(SA_STATUS, REQ_INVALID,  0x0200, "the request is not valid") \
	K(SA_STATUS, NO_RECORDS,   0x0300, "no record fits") \
	K(SA_STATUS, TOO_MANY,     0x0400, "more than one record fits") \
	K(SA_STATUS, INVALID_GID,  0x0500, "the requester's GID is not valid") \
	K(SA_STATUS, INSUFFICIENT, 0x0600, "a component is missing")

#define SA_SELECTORS(K) \
	K(SA_SELECT, GREATER, 0, "more than the value") \
	K(SA_SELECT, LESS,    1, "less than the value") \
	K(SA_SELECT, EXACTLY, 2, "the value") \
	K(SA_SELECT, BEST,    3, "the largest there is")

/* Bit numbers of the component mask of a PathRecord. */
#define PATH_COMPONENTS(K) \
	K(PATH_COMP, SERVICE_ID_HIGH, 0, "service id, top 8 bits") \
	K(PATH_COMP, SERVICE_ID, 1, "service id, other bits") \
	K(PATH_COMP, DGID,       2, "destination GID") \
	K(PATH_COMP, SGID,       3, "source GID") \
	K(PATH_COMP, DLID,       4, "destination LID") \
	K(PATH_COMP, SLID,       5, "source LID") \
	K(PATH_COMP, RAW,        6, "raw packets") \
	K(PATH_COMP, FLOW_LABEL, 8, "flow label") \
	K(PATH_COMP, HOP_LIMIT,  9, "hop limit") \
	K(PATH_COMP, TCLASS,    10, "traffic class") \
	K(PATH_COMP, REVERSIBLE, 11, "reversible") \
	K(PATH_COMP, NUMB_PATH, 12, "how many") \
	K(PATH_COMP, PKEY,      13, "P_Key") \
	K(PATH_COMP, QOS_CLASS, 14, "QoS class") \
	K(PATH_COMP, SL,        15, "SL") \
	K(PATH_COMP, MTU_SELECTOR, 16, "MTU selector") \
	K(PATH_COMP, MTU,       17, "MTU") \
	K(PATH_COMP, RATE_SELECTOR, 18, "rate selector") \
	K(PATH_COMP, RATE,      19, "rate") \
	K(PATH_COMP, LIFE_SELECTOR, 20, "packet life time selector") \
	K(PATH_COMP, LIFE,      21, "packet life time") \
	K(PATH_COMP, PREFERENCE, 22, "preference")

/* Static rates of PathRecord and address vectors. */
#define IB_RATES(K) \
	K(IB_RATE, 2_5_GBPS, 2, "2.5 Gb/s") \
	K(IB_RATE, 10_GBPS,  3, "10 Gb/s") \
	K(IB_RATE, 30_GBPS,  4, "30 Gb/s") \
	K(IB_RATE, 5_GBPS,   5, "5 Gb/s") \
	K(IB_RATE, 20_GBPS,  6, "20 Gb/s") \
	K(IB_RATE, 40_GBPS,  7, "40 Gb/s") \
	K(IB_RATE, 60_GBPS,  8, "60 Gb/s") \
	K(IB_RATE, 80_GBPS,  9, "80 Gb/s") \
	K(IB_RATE, 120_GBPS, 10, "120 Gb/s") \
	K(IB_RATE, 14_GBPS,  11, "14 Gb/s") \
	K(IB_RATE, 56_GBPS,  12, "56 Gb/s") \
	K(IB_RATE, 112_GBPS, 13, "112 Gb/s") \
	K(IB_RATE, 168_GBPS, 14, "168 Gb/s") \
	K(IB_RATE, 25_GBPS,  15, "25 Gb/s") \
	K(IB_RATE, 100_GBPS, 16, "100 Gb/s") \
	K(IB_RATE, 200_GBPS, 17, "200 Gb/s") \
	K(IB_RATE, 300_GBPS, 18, "300 Gb/s")

#define CM_CODES(T) \
	T(cm_attr,        CM_ATTRIBUTES) \
	T(cm_transport,   CM_TRANSPORTS) \
	T(cm_message,     CM_MESSAGES) \
	T(cm_reason,      CM_REASONS) \
	T(cm_failover,    CM_FAILOVERS) \
	T(cm_ap_status,   CM_AP_STATUSES) \
	T(cm_sidr_status, CM_SIDR_STATUSES) \
	T(sa_attr,        SA_ATTRIBUTES) \
	T(sa_status,      SA_STATUSES) \
	T(sa_selector,    SA_SELECTORS) \
	T(path_component, PATH_COMPONENTS) \
	T(ib_rate,        IB_RATES)

/* clang-format on */

CM_LAYOUTS(LAYOUT_DEFINE)
CM_CODES(CODES_DEFINE)

enum cm_facts {
	CM_CLASS_VERSION = 2,
	SA_CLASS_VERSION = 2,
	CM_EXTENDED_XRC = 1,
	CM_IP_V4 = 12, /* offset of an IPv4 address in its 16 bytes */
};

#endif
