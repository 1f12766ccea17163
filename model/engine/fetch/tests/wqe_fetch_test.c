/* SPDX-License-Identifier: Apache-2.0 */
/* Send WQEs: where they are in the buffer, what they contain, who owns them. Also receive WQEs. */
#include "model/engine/base/keep.h"
#include "model/engine/send/tests/requester_rig.h"
#include "model/interface/macros.h"

/* The layout of mlx4: the RQ comes first if its stride is larger, otherwise the SQ; without an RQ
 * the SQ is at the start. */
static void geometry(void **state)
{
	struct qpc c = {0};
	struct wqe_geometry sq, rq;

	qpc_set_db_rec_addr(&c, 0x1000);
	qpc_set_log_sq_size(&c, 7);
	qpc_set_log_sq_stride(&c, 2);
	qpc_set_log_rq_size(&c, 4);
	qpc_set_log_rq_stride(&c, 2);
	wqe_geometry_send(&c, &sq);
	wqe_geometry_receive(&c, &rq);
	assert_int_equal(sq.offset, 0);
	assert_int_equal(sq.stride, 64);
	assert_int_equal(sq.count, 128);
	assert_int_equal(rq.offset, 128 * 64);
	assert_int_equal(rq.stride, 64);
	assert_int_equal(rq.count, 16);
	qpc_set_log_rq_stride(&c, 5);
	qpc_set_page_offset(&c, 3);
	wqe_geometry_send(&c, &sq);
	wqe_geometry_receive(&c, &rq);
	assert_int_equal(rq.offset, 3 * 64);
	assert_int_equal(sq.offset, 3 * 64 + 16 * 512);
	qpc_set_page_offset(&c, 0);
	qpc_set_db_rec_addr(&c, 0);
	qpc_set_rq_size_stride(&c, QPC_NO_RQ_SIZE_STRIDE);
	wqe_geometry_send(&c, &sq);
	assert_int_equal(sq.offset, 0);
}

static void data_segment(uint8_t *at, uint32_t count, uint32_t lkey, uint64_t addr)
{
	be32_store(at, count);
	be32_store(at + 4, lkey);
	be64_store(at + 8, addr);
}

/* An inline segment over a 64-byte boundary, a pointer segment behind it, and a zero-length segment
 * as libmlx4 writes it. */
static void segments(void **state)
{
	uint8_t wqe[128] = {0};
	struct send_request r;
	struct send_segment s;
	const char *why;
	unsigned at;

	be32_store(wqe, WQE_SEND);
	be32_store(wqe + 4, 7);
	be32_store(wqe + 16, 0x80000000u | 44); /* ends at byte 64 */
	be32_store(wqe + 64, 0x80000000u | 5);  /* padded to byte 80 */
	data_segment(wqe + 80, 0x80000000u, 0, 0);
	data_segment(wqe + 96, 1000, 0x1234, 0x5678);
	assert_int_equal(send_request_parse(wqe, 128, QP_ST_RC, &r, &why), 0);
	assert_int_equal(r.bytes, 44 + 5 + 1000);
	at = r.data;
	assert_true(send_segment_next(&r, &at, &s) && s.is_inline && s.len == 44 &&
		    s.bytes == wqe + 20);
	assert_true(send_segment_next(&r, &at, &s) && s.is_inline && s.len == 5 &&
		    s.bytes == wqe + 68);
	assert_true(send_segment_next(&r, &at, &s) && s.len == 0);
	assert_true(send_segment_next(&r, &at, &s) && !s.is_inline && s.len == 1000 &&
		    s.lkey == 0x1234 && s.addr == 0x5678);
	assert_false(send_segment_next(&r, &at, &s));
}

static void malformed(void **state)
{
	static const struct {
		uint32_t opcode, ds, service, first;
		int result;
	} rows[] = {
		{WQE_SEND, 2, QP_ST_RC, 100, 0},
		{WQE_SEND, 0, QP_ST_RC, 100, -EINVAL},              /* size 0 */
		{WQE_SEND, 9, QP_ST_RC, 100, -EINVAL},              /* beyond the stride */
		{0x1c, 2, QP_ST_RC, 100, -EINVAL},                  /* no such opcode */
		{WQE_LSO, 4, QP_ST_UD, 100, -EINVAL},               /* not offered */
		{WQE_RDMA_READ, 2, QP_ST_UC, 100, -EINVAL},         /* UC-3 */
		{WQE_RDMA_WRITE, 1, QP_ST_RC, 100, -EINVAL},        /* no remote address */
		{WQE_SEND, 3, QP_ST_UD, 100, -EINVAL},              /* no address vector */
		{WQE_SEND, 8, QP_ST_RC, 0x80000000u | 45, -EINVAL}, /* over the 64-byte boundary */
		{WQE_SEND, 2, QP_ST_RC, 0x80000000u | 13, -EINVAL}, /* longer than the WQE */
		{WQE_NOP, 0, QP_ST_RC, 0, -EINVAL},                 /* a slot of zeros */
		{WQE_NOP, 1, QP_ST_RC, 0, 0},
		{WQE_SEND, 1, QP_ST_RC, 0, 0}, /* no data at all */
	};
	uint8_t wqe[128];
	struct send_request r;
	const char *why;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(wqe, 0, sizeof(wqe));
		be32_store(wqe, rows[i].opcode);
		be32_store(wqe + 4, rows[i].ds);
		be32_store(wqe + 16, rows[i].first);
		assert_int_equal(send_request_parse(wqe, 128, rows[i].service, &r, &why),
				 rows[i].result);
		assert_int_equal(!why, !rows[i].result);
	}
}

/* QP1 with a GRH: 72 bytes of headers in two inline segments, 256 bytes of MAD, and room for the
 * ICRC. */
static void mlx(void **state)
{
	uint8_t wqe[256] = {0}, given[72], headers[MLX_HEADERS_MAX];
	struct send_request r;
	const char *why;

	for (unsigned i = 0; i < sizeof(given); i++)
		given[i] = (uint8_t)(i + 1);
	be32_store(wqe, WQE_SEND);
	be32_store(wqe + 4, 8);
	be32_store(wqe + 16, 0x80000000u | 44);
	memcpy(wqe + 20, given, 44);
	be32_store(wqe + 64, 0x80000000u | 28);
	memcpy(wqe + 68, given + 44, 28);
	data_segment(wqe + 96, 256, 0x100, 0x2000);
	be32_store(wqe + 112, 0x80000004u);
	assert_int_equal(send_request_parse(wqe, 256, QP_ST_MLX, &r, &why), 0);
	assert_int_equal(send_request_mlx_headers(&r, headers, &why), 72);
	assert_memory_equal(headers, given, 72);
	assert_int_equal(r.bytes, 256);
	assert_int_equal(r.data, 96);
	/* the last segment is not counted */
	be32_store(wqe + 4, 7);
	assert_int_equal(send_request_parse(wqe, 256, QP_ST_MLX, &r, &why), 0);
	assert_int_equal(send_request_mlx_headers(&r, headers, &why), -EINVAL);
	/* software has given the ICRC */
	be32_store(wqe + 8, 1 << 4);
	assert_int_equal(send_request_parse(wqe, 256, QP_ST_MLX, &r, &why), 0);
	assert_int_equal(send_request_mlx_headers(&r, headers, &why), 72);
}

static unsigned woken;

static void wake(struct waiter *w)
{
	woken++;
}

/* A WQE that has been posted again is read again. During one message it is kept. */
static void receives(void **state)
{
	const struct receive_slot slot = {.qpn = 9, .offset = 64, .stride = 64, .posted = 1};
	struct waiter w = {.wake = wake};
	const uint8_t *wqe;

	rig_create(QP_ST_RC);
	woken = 0;
	rig->memory[RIG_SQ + 64] = 1;
	assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, false, &w, &wqe), -EAGAIN);
	rig_run_us(1);
	assert_int_equal(woken, 1);
	assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, false, &w, &wqe), 0);
	assert_int_equal(wqe[0], 1);
	rig->memory[RIG_SQ + 64] = 2;
	assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, true, &w, &wqe), 0);
	assert_int_equal(wqe[0], 1);
	assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, false, &w, &wqe), -EAGAIN);
	rig_run_us(1);
	assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, false, &w, &wqe), 0);
	assert_int_equal(wqe[0], 2);
	rig_destroy();
}

/* A shared receive that its QP has given up is read again: its slot may have gone round the list of
 * the SRQ since. A QP's own receive stays posted, so its bytes stay good. */
static void receives_given_up(void **state)
{
	for (unsigned shared = 0; shared <= 1; shared++) {
		const struct receive_slot slot = {
			.qpn = 9, .offset = 64, .stride = 64, .posted = 1, .shared = shared};
		struct waiter w = {.wake = wake};
		const uint8_t *wqe;

		rig_create(QP_ST_RC);
		assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, false, &w, &wqe), -EAGAIN);
		rig_run_us(1);
		waiter_done(&w);
		rig->memory[RIG_SQ + 64] = 2;
		assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, false, &w, &wqe),
				 shared ? -EAGAIN : 0);
		rig_run_us(1);
		assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, shared == 0, &w, &wqe), 0);
		assert_int_equal(wqe[0], shared ? 2 : 0);
		rig_destroy();
	}
}

/* Makes a device that holds at most four receive WQEs. All four are read for QPs 0 to 3, which have
 * not taken them yet. */
static void receives_full(struct waiter w[4])
{
	const uint8_t *wqe;

	rig_create(QP_ST_RC);
	wqe_fetch_destroy(rig->hca.wqe_fetch);
	rig->params.wqe_fetch_receives = 4;
	rig->hca.wqe_fetch = wqe_fetch_create(&rig->hca);
	woken = 0;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(wqe_fetch_receive(&rig->hca,
						   &(struct receive_slot){
							   .qpn = i, .stride = 64, .posted = 1},
						   false, &w[i], &wqe),
				 -EAGAIN);
	rig_run_us(1);
	assert_int_equal(woken, 4);
}

static unsigned takes;

/* Woken when there is room: takes the receive of QP 4. */
static void wake_and_take(struct waiter *w)
{
	const struct receive_slot slot = {.qpn = 4, .stride = 64, .posted = 1};
	const uint8_t *wqe;

	takes++;
	assert_int_equal(wqe_fetch_receive(&rig->hca, &slot, false, w, &wqe),
			 takes == 1 ? -EAGAIN : 0);
}

/* Room for one WQE wakes the waiter that has waited longest. If a woken waiter does not take the
 * room, the next one is woken. */
static void room_for_one_wakes_one(void **state)
{
	const struct receive_slot slots[] = {{.qpn = 0, .stride = 64, .posted = 1},
					     {.qpn = 4, .stride = 64, .posted = 1},
					     {.qpn = 5, .stride = 64, .posted = 1},
					     {.qpn = 6, .stride = 64, .posted = 1}};
	struct waiter w[7] = {{0}};
	const uint8_t *wqe;

	for (unsigned i = 0; i < 7; i++)
		w[i].wake = i == 4 ? wake_and_take : wake;
	receives_full(w);
	takes = 0;
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(
			wqe_fetch_receive(&rig->hca, &slots[i], false, &w[slots[i].qpn], &wqe),
			-EAGAIN);
	assert_int_equal(wqe_fetch_receive(&rig->hca, &slots[0], false, &w[0], &wqe), 0);
	event_core_step(rig->hca.core);
	assert_int_equal(takes, 1);
	assert_int_equal(woken, 4);
	rig_run_us(1);
	/* QP 4 has taken what it read, so there is room again. QP 5 is woken and does not take it,
	 * so QP 6 is woken, too. */
	assert_int_equal(takes, 2);
	assert_int_equal(woken, 6);
	rig_destroy();
}

/* A waiter that gives up its receive, or whose queue is dropped, leaves the room to others. */
static void receive_that_nobody_takes(void **state)
{
	struct receive_slot other = {.qpn = 4, .stride = 64, .posted = 1};
	struct waiter w[4], next = {.wake = wake};
	const uint8_t *wqe;

	for (unsigned i = 0; i < 4; i++)
		w[i] = (struct waiter){.wake = wake};
	receives_full(w);
	assert_int_equal(wqe_fetch_receive(&rig->hca, &other, false, &next, &wqe), -EAGAIN);
	waiter_done(&w[2]);
	rig_run_us(1);
	assert_int_equal(woken, 5);
	assert_int_equal(wqe_fetch_receive(&rig->hca, &other, false, &next, &wqe), -EAGAIN);
	rig_run_us(1);
	assert_int_equal(wqe_fetch_receive(&rig->hca, &other, false, &next, &wqe), 0);
	/* the same for a queue that is dropped */
	woken = 0;
	other.qpn = 5;
	assert_int_equal(wqe_fetch_receive(&rig->hca, &other, false, &next, &wqe), -EAGAIN);
	rig_run_us(1);
	assert_int_equal(woken, 1);
	other.qpn = 6;
	assert_int_equal(wqe_fetch_receive(&rig->hca, &other, false, &w[2], &wqe), -EAGAIN);
	wqe_fetch_drop(&rig->hca, 5);
	rig_run_us(1);
	assert_int_equal(woken, 2);
	rig_destroy();
}

/* A read for an earlier WQE also fetches the bytes of later ones, before these are posted. They
 * must be read again, or the response of a READ would go where the WQE of the last lap says. */
static void posted_after_the_read(void **state)
{
	const struct rig_wqe old = {.opcode = WQE_RDMA_READ, .va = 1, .n_sge = 1};
	const struct rig_wqe new = {.opcode = WQE_RDMA_READ, .va = 2, .n_sge = 1};
	struct waiter w = {.wake = wake};
	const uint8_t *wqe;
	struct qp *qp;
	unsigned len;

	rig_create(QP_ST_RC);
	qp = qp_make(&rig->hca, RIG_QPN);
	assert_non_null(qp);
	for (unsigned i = 0; i < RIG_WQES; i++)
		rig_write_wqe(&old);
	rig_write_wqe(&new);
	/* fetches the first WQE of the second lap, for a response; this also reads the WQEs after
	 * it */
	assert_int_equal(wqe_fetch_send(qp, &rig->qpc, RIG_WQES, WQE_NEED_AGAIN, &w, &wqe, &len),
			 -EAGAIN);
	rig_run_us(1);
	assert_int_equal(wqe_fetch_send(qp, &rig->qpc, RIG_WQES, WQE_NEED_AGAIN, &w, &wqe, &len),
			 0);
	assert_int_equal(be64_load(wqe + 16), 2);
	rig_write_wqe(&new);
	assert_int_equal(
		wqe_fetch_send(qp, &rig->qpc, RIG_WQES + 1, WQE_NEED_AGAIN, &w, &wqe, &len),
		-EAGAIN);
	rig_run_us(1);
	assert_int_equal(
		wqe_fetch_send(qp, &rig->qpc, RIG_WQES + 1, WQE_NEED_AGAIN, &w, &wqe, &len), 0);
	assert_int_equal(be64_load(wqe + 16), 2);
	/* Software has changed a WQE that is in flight. It is used as it is; the device does not
	 * read it again and again. */
	assert_int_equal(
		wqe_fetch_send(qp, &rig->qpc, RIG_WQES + 2, WQE_NEED_AGAIN, &w, &wqe, &len),
		-EAGAIN);
	rig_run_us(1);
	assert_int_equal(
		wqe_fetch_send(qp, &rig->qpc, RIG_WQES + 2, WQE_NEED_AGAIN, &w, &wqe, &len), 0);
	assert_int_equal(be64_load(wqe + 16), 1);
	rig_destroy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(geometry),
		cmocka_unit_test(segments),
		cmocka_unit_test(malformed),
		cmocka_unit_test(posted_after_the_read),
		cmocka_unit_test(mlx),
		cmocka_unit_test(receives),
		cmocka_unit_test(receives_given_up),
		cmocka_unit_test(room_for_one_wakes_one),
		cmocka_unit_test(receive_that_nobody_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
