/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs of RC, UC and UD get requests of each service, with the right PSN, Q_Key and memory. What is not of
 * their own service is dropped in silence: it takes no receive, writes nothing, is not answered, and does not move
 * the PSN. So is a reserved opcode of UC and UD. Then a message of their own comes as if nothing had been.
 */
/* behaviours: IBA-9.6.1 */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { QKEY = 0x1234, LEN = 32, PSN = 0xfffffe, GRH_AREA = 40, QPS = 3, FAR = 4096 };

static const struct {
	enum ibv_qp_type type;
	enum bth_opcode send;
} services[QPS] = {
	{IBV_QPT_RC, BTH_RC_SEND_ONLY},
	{IBV_QPT_UC, BTH_UC_SEND_ONLY},
	{IBV_QPT_UD, BTH_UD_SEND_ONLY},
};

static const struct {
	unsigned service; /* that has it */
	enum bth_opcode opcode;
	bool reserved;
} requests[] = {
	{0, BTH_RC_SEND_ONLY, false},     {0, BTH_RC_SEND_FIRST, false},
	{0, BTH_RC_WRITE_ONLY, false},    {0, BTH_RC_READ_REQUEST, false},
	{0, BTH_RC_FETCH_ADD, false},     {0, BTH_RC_ACKNOWLEDGE, false},
	{1, BTH_UC_SEND_ONLY, false},     {1, BTH_UC_SEND_ONLY_IMM, false},
	{1, BTH_UC_WRITE_ONLY, false},    {1, (enum bth_opcode)0x3f, true},
	{2, BTH_UD_SEND_ONLY, false},     {2, BTH_UD_SEND_ONLY_IMM, false},
	{2, (enum bth_opcode)0x7f, true},
};

static void request(struct tb *tb, struct tb_end *b, struct drv_qp *qp, enum bth_opcode opcode)
{
	const bool send = opcode == BTH_RC_SEND_ONLY || opcode == BTH_UC_SEND_ONLY ||
			  opcode == BTH_UD_SEND_ONLY || opcode == BTH_UC_SEND_ONLY_IMM ||
			  opcode == BTH_UD_SEND_ONLY_IMM || opcode == BTH_RC_WRITE_ONLY ||
			  opcode == BTH_UC_WRITE_ONLY || opcode == BTH_RC_SEND_FIRST;

	tb_inject(tb, TB_HERE, b, opcode,
		  &(const struct tb_inject){TB_INJECT_ANY, .qpn = drv_qp_num(qp), .psn = PSN,
					    .qkey = QKEY, .va = tb_va(b, b->dst + FAR),
					    .rkey = drv_mr_rkey(b->mr), .dma_len = LEN,
					    .len = send ? LEN : 0, .ack_req = true});
}

SCENARIO(other_services, "requests of another service than the queue pair's are dropped in silence",
	 .any_packets = true)
{
	struct drv_qp *x[QPS], *y[QPS];

	for (unsigned i = 0; i < QPS; i++) {
		x[i] = new_qp(a, .type = services[i].type);
		y[i] = new_qp(b, .type = services[i].type);
		if (services[i].type == IBV_QPT_UD)
			start_ud(y[i], QKEY, 1);
		else
			connect_two(x[i], y[i], .x_psn = PSN);
		recv_on(b, y[i], .wr_id = i, .dst = i * 1000, .len = GRH_AREA + LEN);
	}
	if (!still_right())
		return;
	for (unsigned i = 0; i < QPS; i++) {
		const unsigned at = services[i].type == IBV_QPT_UD ? GRH_AREA : 0;

		for_each_row(r, requests) {
			name_row("opcode 0x%x to queue pair %u", requests[r].opcode, i);
			if (requests[r].service == i && !requests[r].reserved)
				continue;
			request(tb, b, y[i], requests[r].opcode);
			expect_no_more(CFG_US(20));
		}
		request(tb, b, y[i], services[i].send);
		expect_cqe(b, .wr_id = i, .on = y[i], .byte_len = at + LEN);
		expect_data(b, .dst = i * 1000 + at, .len = LEN);
		ignore_data(b, .dst = i * 1000, .len = at); /* a GRH, on an Ethernet port */
	}
	for (unsigned i = QPS; i--;) {
		destroy_qp(y[i]);
		destroy_qp(x[i]);
	}
}
