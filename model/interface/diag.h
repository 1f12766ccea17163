/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnostic counters: what DIAG_RPRT returns, what the engine counts, and what the register
 * DIAG_COUNT of the firmware reads. Source: Linux mlx4_ib main.c (diag_basic, diag_ext, diag_device_only).
 */
#ifndef MODEL_INTERFACE_DIAG_H
#define MODEL_INTERFACE_DIAG_H

/* clang-format off */

/*
 * Work requests that completed in error. The engine counts them when it writes the CQE.
 * D(X, name, offset in the output of DIAG_RPRT, syndrome of the CQE, 1: of a send, 0: of a receive,
 *   "meaning"); X is passed through to D.
 */
#define DIAG_COMPLETIONS(D, X) \
	D(X, rq_lle,   0x000, LOC_LEN_ERR,     0, "receives completed with a local length error") \
	D(X, sq_lle,   0x004, LOC_LEN_ERR,     1, "sends completed with a local length error") \
	D(X, rq_lqpoe, 0x008, LOC_QP_OP_ERR,   0, "receives completed with a local QP operation error") \
	D(X, sq_lqpoe, 0x00c, LOC_QP_OP_ERR,   1, "sends completed with a local QP operation error") \
	D(X, rq_lpe,   0x018, LOC_PROT_ERR,    0, "receives completed with a local protection error") \
	D(X, sq_lpe,   0x01c, LOC_PROT_ERR,    1, "sends completed with a local protection error") \
	D(X, rq_wrfe,  0x020, WR_FLUSH_ERR,    0, "receives flushed") \
	D(X, sq_wrfe,  0x024, WR_FLUSH_ERR,    1, "sends flushed") \
	D(X, sq_mwbe,  0x02c, MW_BIND_ERR,     1, "memory window binds failed") \
	D(X, sq_bre,   0x034, BAD_RESP_ERR,    1, "sends completed with a bad response error") \
	D(X, sq_rire,  0x044, REM_INV_REQ_ERR, 1, "sends completed with a remote invalid request error") \
	D(X, rq_rire,  0x048, REM_INV_REQ_ERR, 0, "receives completed with a remote invalid request error") \
	D(X, sq_rae,   0x04c, REM_ACCESS_ERR,  1, "sends completed with a remote access error") \
	D(X, rq_rae,   0x050, REM_ACCESS_ERR,  0, "receives completed with an access error of the remote side") \
	D(X, sq_roe,   0x054, REM_OP_ERR,      1, "sends completed with a remote operation error") \
	D(X, sq_tree,  0x05c, RETRY_EXC_ERR,   1, "sends whose transport retries were exceeded") \
	D(X, sq_rree,  0x064, RNR_RETRY_EXC_ERR, 1, "sends whose RNR retries were exceeded")

/*
 * What stages count themselves.
 * D(X, name, offset in the output of DIAG_RPRT, member of struct hca_stats, "meaning")
 */
#define DIAG_STAGES(D, X) \
	D(X, rq_rnr,    0x068, responder_rnr_naks,        "RNR NAKs sent") \
	D(X, sq_rnr,    0x06c, retry_rnr_waits,           "RNR NAKs received") \
	D(X, rq_oos,    0x100, responder_out_of_sequence, "requests ahead of the expected PSN") \
	D(X, sq_oos,    0x104, retry_sequence_naks,       "PSN sequence error NAKs received") \
	D(X, rq_dup,    0x130, responder_duplicates,      "duplicate requests") \
	D(X, sq_to,     0x134, retry_ack_timeouts,        "ACK timer expiries") \
	D(X, num_cqovf, 0x1a0, cqe_write_overruns,        "CQ overruns")

/* clang-format on */

#define DIAG_COMPLETION(D, name, offset, syndrome, send, meaning) D(name, diag_##name)
#define DIAG_STAGE(D, name, offset, stat, meaning)                D(name, stat)

/* All counters that the firmware reads: D(name, member of struct hca_stats). */
#define DIAG_COUNTERS(D) DIAG_COMPLETIONS(DIAG_COMPLETION, D) DIAG_STAGES(DIAG_STAGE, D)

#endif
