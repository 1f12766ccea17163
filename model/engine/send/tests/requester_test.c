/* SPDX-License-Identifier: Apache-2.0 */
/* The requester from doorbell to completion. REQ-, ST-, UD-, MEM- and CRED- numbers are ids of
 * testbench/BEHAVIOURS.md. */
#include "model/engine/send/tests/requester_rig.h"

#define T_ACK_PS (UINT64_C(4096000) << RIG_ACK_CODE) /* 1.05 ms */

static int rc(void **state)
{
	rig_create(QP_ST_RC);
	return 0;
}

static int ud(void **state)
{
	rig_create(QP_ST_UD);
	return 0;
}

static int end(void **state)
{
	rig_destroy();
	return 0;
}

static const struct rig_wqe send64 = {.opcode = WQE_SEND, .sge = {{64, 0, RIG_DATA}}, .n_sge = 1};

static void one_send(void **state)
{
	rig_post(&send64);
	rig_run_us(10);
	assert_int_equal(rig->n_sent, 1);
	rig_expect(0, BTH_RC_SEND_ONLY, 0xfffffe);
	assert_int_equal(rig->sent[0].dqpn, RIG_PEER);
	assert_true(rig->sent[0].ack_req);
	assert_memory_equal(rig->sent[0].payload, rig->memory + RIG_DATA, 64);
	assert_int_equal(rig->n_cqes, 0);
	assert_int_equal(qp_table_active(&rig->hca), 1);
	rig_ack(0xfffffe);
	rig_run_us(10);
	assert_int_equal(rig->n_cqes, 1);
	rig_expect_cqe(0, 0, WQE_SEND, 0);
	/* when the QP is idle, the context holds everything */
	assert_int_equal(qp_table_active(&rig->hca), 0);
	assert_int_equal(qpc_get_next_send_psn(&rig->qpc), 0xffffff);
	assert_int_equal(qpc_get_last_acked_psn(&rig->qpc), 0xfffffe);
	assert_int_equal(qpc_get_sq_wqe_counter(&rig->qpc), 1);
	assert_int_equal(qpc_get_ssn(&rig->qpc), 1);
	rig_post(&send64);
	rig_run_us(10);
	rig_expect(1, BTH_RC_SEND_ONLY, 0xffffff);
	rig_ack(0xffffff);
	rig_expect_cqe(1, 1, WQE_SEND, 0);
	assert_int_equal(rig->n_errors, 0);
}

/* Data from three segments, the middle one inline, over a PSN wrap. The context and a translation
 * are missing at first. */
static void gathered_write(void **state)
{
	const struct rig_wqe w = {.opcode = WQE_RDMA_WRITE_IMM,
				  .va = 0x123456789,
				  .solicited = true,
				  .sge = {{1000, 0, RIG_DATA},
					  {12, 0, 0, "abcdefghijkl"},
					  {1500, 0, RIG_DATA + 5000}},
				  .n_sge = 3};
	uint8_t whole[2512];
	unsigned done = 0;

	memcpy(whole, rig->memory + RIG_DATA, 1000);
	memcpy(whole + 1000, "abcdefghijkl", 12);
	memcpy(whole + 1012, rig->memory + RIG_DATA + 5000, 1500);
	rig->miss = true;
	rig_post(&w);
	rig_run_us(1);
	rig->miss = true;
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 3);
	rig_expect(0, BTH_RC_WRITE_FIRST, 0xfffffe);
	rig_expect(1, BTH_RC_WRITE_MIDDLE, 0xffffff);
	rig_expect(2, BTH_RC_WRITE_LAST_IMM, 0);
	assert_int_equal(reth_get_va(&rig->sent[0].reth), 0x123456789);
	assert_int_equal(reth_get_dma_len(&rig->sent[0].reth), 2512);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(rig->sent[i].ack_req, i == 2);
		assert_int_equal(rig->sent[i].solicited, i == 2);
		assert_memory_equal(rig->sent[i].payload, whole + done, rig->sent[i].payload_len);
		done += rig->sent[i].payload_len;
	}
	assert_int_equal(done, 2512);
	rig_ack(0xffffff);
	assert_int_equal(rig->n_cqes, 0);
	rig_ack(0);
	rig_expect_cqe(0, 0, WQE_RDMA_WRITE_IMM, 0);
}

static void zero_length(void **state)
{
	/* an entry of no bytes has the inline bit */
	const struct rig_wqe none = {.opcode = WQE_SEND},
			     empty = {.opcode = WQE_RDMA_WRITE,
				      .sge = {{UINT32_C(1) << 31, 0, RIG_DATA}},
				      .n_sge = 1};
	const struct rig_wqe read = {.opcode = WQE_RDMA_READ};

	rig_post(&none);
	rig_post(&empty);
	rig_post(&read);
	rig_run_us(20);
	rig_expect(0, BTH_RC_SEND_ONLY, 0xfffffe);
	rig_expect(1, BTH_RC_WRITE_ONLY, 0xffffff);
	rig_expect(2, BTH_RC_READ_REQUEST, 0);
	assert_int_equal(rig->sent[0].payload_len + rig->sent[1].payload_len, 0);
	/* the READ response also acknowledges the requests before it */
	rig_answer(BTH_RC_READ_RESP_ONLY, 0, aeth_syndrome(AETH_ACK, AETH_CREDIT_NONE), 3, NULL, 0,
		   0);
	assert_int_equal(rig->n_cqes, 3);
	rig_expect_cqe(2, 2, WQE_RDMA_READ, 0);
}

/* A READ of 2^31 bytes takes 2^23 PSNs at the smallest MTU, which is the most that may be
 * outstanding (IBA 9.7.1, 9.7.7). */
static void longest(void **state)
{
	const struct rig_wqe most = {.opcode = WQE_RDMA_READ,
				     .sge = {{1 << 30, 0, RIG_DATA}, {1 << 30, 0, RIG_DATA}},
				     .n_sge = 2};

	rig->params.hca_log_max_msg = 31;
	rig->params.requester_window = PSN_OUTSTANDING_MAX;
	qpc_set_mtu(&rig->qpc, IB_MTU_256);
	rig_post(&most);
	rig_post(&send64);
	rig_run_us(10);
	rig_expect(0, BTH_RC_READ_REQUEST, 0xfffffe);
	assert_int_equal(reth_get_dma_len(&rig->sent[0].reth), UINT32_C(1) << 31);
	assert_int_equal(rig->n_sent, 1); /* no PSN is left for the SEND */
	rig_answer(BTH_RC_READ_RESP_FIRST, 0xfffffe, aeth_syndrome(AETH_ACK, AETH_CREDIT_NONE), 1,
		   rig->memory, 256, 0);
	rig_run_us(10);
	rig_expect(1, BTH_RC_SEND_ONLY, 0x7ffffe);
}

/* One byte more than 2^31 is a local length error (IBA 9.7.7). */
static void too_long(void **state)
{
	const struct rig_wqe more = {
		.opcode = WQE_RDMA_READ,
		.sge = {{1 << 30, 0, RIG_DATA}, {1 << 30, 0, RIG_DATA}, {1, 0, RIG_DATA}},
		.n_sge = 3};

	rig->params.hca_log_max_msg = 31;
	rig_post(&more);
	rig_run_us(10);
	assert_int_equal(rig->n_sent, 0);
	rig_expect_cqe(0, 0, 0, CQE_SYND_LOC_LEN_ERR);
}

/* Without the inline bit, 0 bytes are 2 GiB. */
static void two_gib(void **state)
{
	const struct rig_wqe more = {
		.opcode = WQE_RDMA_WRITE, .sge = {{64, 0, RIG_DATA}, {0, 0, RIG_DATA}}, .n_sge = 2};

	rig_post(&more);
	rig_run_us(10);
	assert_int_equal(rig->n_sent, 0);
	rig_expect_cqe(0, 0, 0, CQE_SYND_LOC_LEN_ERR);
}

/* REQ-3: the time between retries; retry_cnt 3 means three. ST-3: a request posted in ERR is
 * flushed. */
static void ack_timeout(void **state)
{
	rig_post(&send64);
	rig_post(&send64);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 2);
	rig_run_us(20000);
	assert_int_equal(rig->n_sent, 2 * 4);
	for (unsigned i = 2; i < 8; i += 2) {
		uint64_t apart = rig->sent[i].at_ps - rig->sent[i - 2].at_ps;

		rig_expect(i, BTH_RC_SEND_ONLY, 0xfffffe);
		assert_true(rig->sent[i].resent);
		assert_true(apart >= T_ACK_PS && apart <= 4 * T_ACK_PS);
	}
	assert_int_equal(rig->n_cqes, 2);
	rig_expect_cqe(0, 0, 0, CQE_SYND_RETRY_EXC_ERR);
	rig_expect_cqe(1, 1, 0, CQE_SYND_WR_FLUSH_ERR);
	assert_int_equal(qpc_get_state(&rig->qpc), QP_STATE_ERR);
	rig_post(&(struct rig_wqe){.opcode = WQE_SEND, .unsignalled = true});
	rig_run_us(20);
	rig_expect_cqe(2, 2, 0, CQE_SYND_WR_FLUSH_ERR);
	assert_int_equal(rig->n_sent, 8);
	assert_int_equal(qpc_get_sq_wqe_counter(&rig->qpc), 3);
	assert_int_equal(qp_table_active(&rig->hca), 0);
}

/* REQ-5: three losses, an ACK, three losses again: no error. */
static void retries_reload(void **state)
{
	rig_post(&send64);
	rig_run_us(3500);
	assert_int_equal(rig->n_sent, 4);
	rig_ack(0xfffffe);
	rig_post(&send64);
	rig_run_us(3500);
	assert_int_equal(rig->n_sent, 8);
	rig_ack(0xffffff);
	assert_int_equal(rig->n_cqes, 2);
	rig_expect_cqe(1, 1, WQE_SEND, 0);
}

static void sequence_nak(void **state)
{
	const struct rig_wqe w = {
		.opcode = WQE_RDMA_WRITE, .sge = {{4 * RIG_MTU, 0, RIG_DATA}}, .n_sge = 1};

	rig_post(&w);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 4);
	rig_nak(0, NAK_PSN_SEQUENCE);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 6);
	rig_expect(4, BTH_RC_WRITE_MIDDLE, 0);
	rig_expect(5, BTH_RC_WRITE_LAST, 1);
	assert_memory_equal(rig->sent[4].payload, rig->memory + RIG_DATA + 2 * RIG_MTU, RIG_MTU);
	/* a late NAK for a packet that has been acknowledged: ignored */
	rig_nak(0xfffffe, NAK_PSN_SEQUENCE);
	rig_ack(5);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 6);
	rig_ack(1);
	rig_expect_cqe(0, 0, WQE_RDMA_WRITE, 0);
}

/* While a packet is being sent again, the ACK for its first transmission arrives. */
static void acknowledged_while_going_back(void **state)
{
	rig_post(&send64);
	rig_post(&send64);
	rig_run_us(20);
	rig_nak(0xfffffe, NAK_PSN_SEQUENCE);
	rig_ack(0xffffff);
	rig_run_us(20);
	assert_int_equal(rig->n_cqes, 2);
	rig_post(&send64);
	rig_run_us(20);
	rig_expect(rig->n_sent - 1, BTH_RC_SEND_ONLY, 0);
	rig_ack(0);
	assert_int_equal(rig->n_cqes, 3);
}

static void fatal_nak(void **state)
{
	static const struct {
		enum nak_code nak;
		unsigned syndrome;
	} rows[] = {
		{NAK_INVALID_REQ, 0x12},
		{NAK_REM_ACCESS, 0x13},
		{NAK_REM_OP, 0x14},
	};

	for (unsigned i = 0; i < 3; i++) {
		if (i) {
			rig_destroy();
			rig_create(QP_ST_RC);
		}
		rig_post(&send64);
		rig_post(&send64);
		rig_post(&send64);
		rig_run_us(20);
		rig_nak(0xffffff, rows[i].nak);
		rig_run_us(20);
		assert_int_equal(rig->n_cqes, 3);
		rig_expect_cqe(0, 0, WQE_SEND, 0);
		rig_expect_cqe(1, 1, 0, rows[i].syndrome);
		rig_expect_cqe(2, 2, 0, CQE_SYND_WR_FLUSH_ERR);
	}
}

/* REQ-7: RNR code 12 means a wait of 0.64 ms. rnr_retry is 2: the third RNR NAK ends the
 * request. */
static void receiver_not_ready(void **state)
{
	const uint8_t rnr = aeth_syndrome(AETH_RNR_NAK, 12);

	rig_post(&send64);
	rig_run_us(20);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t at = rig->core.now_ps;

		rig_answer(BTH_RC_ACKNOWLEDGE, 0xfffffe, rnr, 0, NULL, 0, 0);
		rig_run_us(630);
		assert_int_equal(rig->n_sent, 1 + i);
		rig_run_us(30);
		assert_int_equal(rig->n_sent, 2 + i);
		assert_true(rig->sent[1 + i].at_ps - at >= UINT64_C(640000000));
		rig_expect(1 + i, BTH_RC_SEND_ONLY, 0xfffffe);
	}
	rig_answer(BTH_RC_ACKNOWLEDGE, 0xfffffe, rnr, 0, NULL, 0, 0);
	rig_expect_cqe(0, 0, 0, CQE_SYND_RNR_RETRY_EXC_ERR);
	rig_run_us(20);
}

static void rnr_for_ever(void **state)
{
	qpc_set_rnr_retry(&rig->qpc, 7);
	rig_post(&send64);
	for (unsigned i = 0; i < 20; i++) {
		rig_run_us(700);
		assert_int_equal(rig->n_sent, 1 + i);
		rig_answer(BTH_RC_ACKNOWLEDGE, 0xfffffe, aeth_syndrome(AETH_RNR_NAK, 12), 0, NULL,
			   0, 0);
	}
	assert_int_equal(rig->n_cqes, 0);
	rig_ack(0xfffffe);
	rig_run_us(700);
	rig_expect_cqe(0, 0, WQE_SEND, 0);
}

/* REQ-9: the second of three responses is lost, over the PSN wrap. */
static void read_response_lost(void **state)
{
	const struct rig_wqe w = {.opcode = WQE_RDMA_READ,
				  .va = 0x9000,
				  .sge = {{1500, 0, RIG_DATA}, {1000, 0, RIG_DATA + 4096}},
				  .n_sge = 2};
	const uint8_t good = aeth_syndrome(AETH_ACK, AETH_CREDIT_NONE);
	uint8_t data[2500];

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 13 + (i >> 7));
	rig_post(&w);
	rig_post(&send64);
	rig_run_us(20);
	rig_expect(0, BTH_RC_READ_REQUEST, 0xfffffe);
	rig_expect(1, BTH_RC_SEND_ONLY, 1);
	rig_answer(BTH_RC_READ_RESP_FIRST, 0xfffffe, good, 1, data, RIG_MTU, 0);
	rig_answer(BTH_RC_READ_RESP_LAST, 0, good, 1, data + 2 * RIG_MTU, 452, 0);
	rig_ack(1); /* acknowledges the same PSN once more */
	rig_run_us(20);
	assert_int_equal(rig->n_cqes, 0);
	assert_int_equal(rig->n_sent, 4);
	rig_expect(2, BTH_RC_READ_REQUEST, 0xffffff);
	assert_int_equal(reth_get_va(&rig->sent[2].reth), 0x9000 + RIG_MTU);
	assert_int_equal(reth_get_dma_len(&rig->sent[2].reth), 2500 - RIG_MTU);
	rig_expect(3, BTH_RC_SEND_ONLY, 1);
	rig->miss = true;
	rig_answer(BTH_RC_READ_RESP_FIRST, 0xffffff, good, 1, data + RIG_MTU, RIG_MTU, 0);
	rig_answer(BTH_RC_READ_RESP_LAST, 0, good, 1, data + 2 * RIG_MTU, 452, 0);
	rig_ack(1);
	rig_run_us(20);
	assert_int_equal(rig->n_cqes, 2);
	rig_expect_cqe(0, 0, WQE_RDMA_READ, 0);
	assert_int_equal(cqe_get_byte_cnt(&rig->cqes[0]), 2500);
	assert_memory_equal(rig->memory + RIG_DATA, data, 1500);
	assert_memory_equal(rig->memory + RIG_DATA + 4096, data + 1500, 1000);
}

static void bad_responses(void **state)
{
	const struct rig_wqe w = {
		.opcode = WQE_RDMA_READ, .sge = {{2000, 0, RIG_DATA}}, .n_sge = 1};

	rig_post(&w);
	rig_run_us(20);
	rig_answer(BTH_RC_READ_RESP_ONLY, 0xfffffe, aeth_syndrome(AETH_ACK, 31), 1, rig->memory,
		   1000, 0);
	rig_run_us(20);
	rig_expect_cqe(0, 0, 0, CQE_SYND_BAD_RESP_ERR);
	assert_int_equal(qpc_get_state(&rig->qpc), QP_STATE_ERR);
}

/* The original value is stored in the host's byte order, which is little-endian here. */
static void atomic_result(void **state)
{
	const struct rig_wqe w = {.opcode = WQE_ATOMIC_FA,
				  .va = 0x8000,
				  .operand = {5},
				  .sge = {{8, 0, RIG_DATA}},
				  .n_sge = 1};
	const uint64_t original = UINT64_C(0x0102030405060708);

	rig_post(&w);
	rig_run_us(20);
	rig_expect(0, BTH_RC_FETCH_ADD, 0xfffffe);
	rig_answer(BTH_RC_ATOMIC_ACKNOWLEDGE, 0xfffffe, aeth_syndrome(AETH_ACK, 31), 1, NULL, 0,
		   original);
	rig_run_us(20);
	rig_expect_cqe(0, 0, WQE_ATOMIC_FA, 0);
	assert_memory_equal(rig->memory + RIG_DATA, &original, 8);
}

/* sra_max 2: four READs may be outstanding. A fenced request waits for all of them. */
static void reads_and_fence(void **state)
{
	const struct rig_wqe read = {
		.opcode = WQE_RDMA_READ, .sge = {{8, 0, RIG_DATA}}, .n_sge = 1};
	const struct rig_wqe fenced = {.opcode = WQE_SEND, .fence = true};
	const uint8_t good = aeth_syndrome(AETH_ACK, 31);

	for (unsigned i = 0; i < 5; i++)
		rig_post(&read);
	rig_post(&fenced);
	rig_run_us(30);
	assert_int_equal(rig->n_sent, 4);
	rig_answer(BTH_RC_READ_RESP_ONLY, 0xfffffe, good, 1, rig->memory, 8, 0);
	rig_run_us(30);
	assert_int_equal(rig->n_sent, 5);
	for (uint32_t psn = 0xffffff; psn != 3; psn = psn_add(psn, 1)) {
		assert_int_equal(rig->n_sent, 5);
		rig_answer(BTH_RC_READ_RESP_ONLY, psn, good, 1, rig->memory, 8, 0);
		rig_run_us(30);
	}
	assert_int_equal(rig->n_sent, 6);
	rig_expect(5, BTH_RC_SEND_ONLY, 3);
	rig_ack(3);
	assert_int_equal(rig->n_cqes, 6);
}

/* MEM-1 at the sender: earlier requests complete well, later ones are flushed. */
static void bad_lkey(void **state)
{
	const struct rig_wqe bad = {
		.opcode = WQE_SEND, .sge = {{64, 0x1100, RIG_DATA}}, .n_sge = 1};

	rig_post(&send64);
	rig_post(&bad);
	rig_post(&send64);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 1);
	assert_int_equal(rig->n_cqes, 0);
	rig_ack(0xfffffe);
	rig_run_us(20);
	assert_int_equal(rig->n_cqes, 3);
	rig_expect_cqe(0, 0, WQE_SEND, 0);
	rig_expect_cqe(1, 1, 0, CQE_SYND_LOC_PROT_ERR);
	rig_expect_cqe(2, 2, 0, CQE_SYND_WR_FLUSH_ERR);
}

static void malformed(void **state)
{
	uint8_t *wqe = rig_write_wqe(&send64);

	be32_store(wqe, WQE_LSO);
	scheduler_doorbell(&rig->hca, RIG_QPN, RIG_UAR);
	rig_run_us(20);
	rig_expect_cqe(0, 0, 0, CQE_SYND_LOC_QP_OP_ERR);
	assert_string_equal(rig->rule, "wqe_malformed");
	assert_int_equal(rig->n_errors, 1);
}

/* CRED-3: without credits one SEND leaves, and asks for an ACK. WRITEs are not limited and take no
 * credit. Credit code 1 at MSN 1 allows one more SEND. */
static void credits(void **state)
{
	const struct rig_wqe write = {.opcode = WQE_RDMA_WRITE};
	const struct rig_wqe big = {
		.opcode = WQE_SEND, .sge = {{3 * RIG_MTU, 0, RIG_DATA}}, .n_sge = 1};

	rig_post(&send64);
	rig_run_us(20);
	rig_answer(BTH_RC_ACKNOWLEDGE, 0xfffffe, aeth_syndrome(AETH_ACK, 1), 1, NULL, 0, 0);
	assert_int_equal(qpc_get_send_limit(&rig->qpc), 2);
	rig_post(&write);  /* message 2 */
	rig_post(&send64); /* message 3 */
	rig_post(&write);  /* message 4 */
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 4);
	rig_answer(BTH_RC_ACKNOWLEDGE, 1, aeth_syndrome(AETH_ACK, 0), 4, NULL, 0, 0);
	rig_post(&big);    /* message 5: beyond the limit of 4 */
	rig_post(&send64); /* message 6 */
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 5);
	rig_expect(4, BTH_RC_SEND_FIRST, 2);
	assert_true(rig->sent[4].ack_req);
	rig_answer(BTH_RC_ACKNOWLEDGE, 2, aeth_syndrome(AETH_ACK, 0), 4, NULL, 0, 0);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 7);
	rig_answer(BTH_RC_ACKNOWLEDGE, 4, aeth_syndrome(AETH_ACK, 1), 5, NULL, 0, 0);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 8);
	rig_ack(5);
	assert_int_equal(rig->n_cqes, 6);
}

/* Time from the first to the second of three packets posted together. Each has `bytes` inline. */
static uint64_t spacing_ps(uint32_t bytes)
{
	static const char text[] = "12345678901234567890123456789012345678901234567890";
	const struct rig_wqe w = {.opcode = WQE_SEND,
				  .sge = {{bytes < 40 ? bytes : 40, 0, 0, text},
					  {bytes < 40 ? 0 : bytes - 40, 0, 0, text}},
				  .n_sge = bytes <= 40 ? 1 : 2};
	const unsigned first = rig->n_sent;

	for (unsigned i = 0; i < 3; i++)
		rig_post(&w);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, first + 3);
	return rig->sent[first + 1].ready_ps - rig->sent[first].ready_ps;
}

/* A WQE occupies a unit for the work on it, or for the time of its 64-byte lines if that is
 * longer. */
static void lines(void **state)
{
	rig->params.requester_wqe_gap = 50000;
	rig->params.requester_reliable_gap = 5000;
	rig->params.requester_line_gap = 40000;
	rig->params.requester_packet_gap = 1000;
	assert_int_equal(spacing_ps(40), 55000);
	assert_int_equal(spacing_ps(60), 80000);
	rig->params.requester_line_gap = 20000;
	assert_int_equal(spacing_ps(60), 55000);
}

/* UD-3: a datagram that is too long fails. ST-5: that takes the QP to SQE. */
static void datagrams(void **state)
{
	struct wqe_datagram av = {0};
	struct rig_wqe w = send64;

	wqe_datagram_set_rlid(&av, 2);
	wqe_datagram_set_dqpn(&av, 0x777);
	wqe_datagram_set_qkey(&av, 0x11);
	w.datagram = &av;
	rig_post(&w);
	rig_run_us(20);
	rig_expect(0, BTH_UD_SEND_ONLY, 0xfffffe);
	assert_int_equal(rig->sent[0].dqpn, 0x777);
	rig_expect_cqe(0, 0, WQE_SEND, 0);
	assert_int_equal(qp_table_active(&rig->hca), 0);
	w.sge[0].len = 2049;
	rig_post(&w);
	rig_post(&w);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 1);
	rig_expect_cqe(1, 1, 0, CQE_SYND_LOC_LEN_ERR);
	rig_expect_cqe(2, 2, 0, CQE_SYND_WR_FLUSH_ERR);
	assert_int_equal(qpc_get_state(&rig->qpc), QP_STATE_SQER);
}

int main(void)
{
#define RC(test) cmocka_unit_test_setup_teardown(test, rc, end)
	const struct CMUnitTest tests[] = {
		RC(one_send),        RC(gathered_write),
		RC(zero_length),     RC(longest),
		RC(too_long),        RC(two_gib),
		RC(ack_timeout),     RC(retries_reload),
		RC(sequence_nak),    RC(acknowledged_while_going_back),
		RC(fatal_nak),       RC(receiver_not_ready),
		RC(rnr_for_ever),    RC(read_response_lost),
		RC(bad_responses),   RC(atomic_result),
		RC(reads_and_fence), RC(bad_lkey),
		RC(malformed),       RC(credits),
		RC(lines),           cmocka_unit_test_setup_teardown(datagrams, ud, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
