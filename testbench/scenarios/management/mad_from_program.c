/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever knows the Q_Key of the GSI may ask an agent, also from a queue pair of his own. The answer
 * goes to the queue pair that has asked. Source: Linux agent_send_response, which sends to wc->src_qp. A
 * message that is shorter than a datagram of management is none, and has no answer.
 */
/* behaviours: IBA-13.5-answer-to-sender */
#include "testbench/manage.h"

#include <string.h>

enum { GRH = 40, TID = 77 };

static void question_write(void *at)
{
	struct smp mad = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO);

	mad_hdr_set_tid(smp_hdr(&mad), TID);
	memcpy(at, &mad, sizeof(mad));
}

SCENARIO(mad_from_program, "a queue pair of a program asks an agent, and gets the answer")
{
	static const uint32_t cut[] = {24, MAD_BYTES - GRH, MAD_BYTES - 4, MAD_BYTES - 1};
	const struct drv_ah_attr ah = ah_to(b);
	struct drv_qp *qp = new_qp(a, .type = IBV_QPT_UD);
	const struct mad_hdr *answer = (const void *)(a->dst + GRH);

	ignore_packets();
	if (!still_right())
		return;
	start_ud(qp, QKEY_GSI, 0);
	recv_on(a, qp, .wr_id = 1, .len = GRH + MAD_BYTES);
	memset(a->loose, 1, GRH + MAD_BYTES);
	question_write(a->src);
	for (unsigned i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		send_on(a, qp, .wr_id = 3, .len = cut[i], .ah = &ah, .remote_qpn = QPN_GSI,
			.qkey = QKEY_GSI);
		expect_cqe(a, .wr_id = 3);
		expect_no_more(CFG_US(100));
	}
	send_on(a, qp, .wr_id = 2, .len = MAD_BYTES, .ah = &ah, .remote_qpn = QPN_GSI,
		.qkey = QKEY_GSI);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(a, .wr_id = 1, .on = qp);
	expect_equal(mad_hdr_get_tid(answer), TID);
	expect_equal(mad_hdr_get_method(answer), MAD_METHOD_GET_RESP);
	expect_equal(mad_hdr_get_attr_id(answer), PMA_ATTR_CLASS_PORT_INFO);
	expect_equal(mad_hdr_get_status(answer), 0);
	destroy_qp(qp);
}
