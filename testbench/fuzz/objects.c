/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends commands for objects that are almost correct, and uses the objects. A mailbox is the
 * context of a live object with some fields (taken from the layout's rows) set to other values. The
 * command names that object or a free number. Between commands, work is posted, doorbells are rung
 * and packets come in for whatever the contexts now say.
 */
#include "model/engine/wire/crc.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "testbench/fuzz/rig.h"

#include <string.h>

enum { STEPS_MAX = 24, FIELDS = 7, WIRE_MAX = 512, LNH_BTH = 2, PAYLOAD = 64, SPARE = 3 };

/* B(name, type of the object that the command is for, offset of its context in the mailbox) */
#define COMMANDS(B)                                                                                \
	B(SW2HW_MPT, HCA_MPT, 0)                                                                   \
	B(HW2SW_MPT, HCA_MPT, 0)                                                                   \
	B(SW2HW_CQ, HCA_CQ, 0)                                                                     \
	B(HW2SW_CQ, HCA_CQ, 0)                                                                     \
	B(MODIFY_CQ, HCA_CQ, 0)                                                                    \
	B(SW2HW_SRQ, HCA_SRQ, 0)                                                                   \
	B(HW2SW_SRQ, HCA_SRQ, 0)                                                                   \
	B(ARM_SRQ, HCA_SRQ, 0)                                                                     \
	B(SW2HW_EQ, HCA_EQ, 0)                                                                     \
	B(MAP_EQ, HCA_EQ, 0)                                                                       \
	B(RST2INIT_QP, HCA_QP, 8)                                                                  \
	B(INIT2INIT_QP, HCA_QP, 8)                                                                 \
	B(INIT2RTR_QP, HCA_QP, 8)                                                                  \
	B(RTR2RTS_QP, HCA_QP, 8)                                                                   \
	B(RTS2RTS_QP, HCA_QP, 8)                                                                   \
	B(RTS2SQD_QP, HCA_QP, 8)                                                                   \
	B(SQD2SQD_QP, HCA_QP, 8)                                                                   \
	B(SQD2RTS_QP, HCA_QP, 8)                                                                   \
	B(SQERR2RTS_QP, HCA_QP, 8)                                                                 \
	B(2ERR_QP, HCA_QP, 8)                                                                      \
	B(2RST_QP, HCA_QP, 8)                                                                      \
	B(QUERY_QP, HCA_QP, 8)                                                                     \
	B(CONF_SPECIAL_QP, HCA_QP, 8)                                                              \
	B(WRITE_MTT, HCA_MPT, 16)                                                                  \
	B(SYNC_TPT, HCA_MPT, 0)

static const struct {
	uint16_t op;
	enum hca_object type;
	unsigned at;
} commands[] = {
#define ROW(name, type, at) {HCR_##name, type, at},
	COMMANDS(ROW)
#undef ROW
};

struct objects_case {
	struct fuzz_bytes b;
};

/* --- numbers --- */

static struct drv_qp *queue_of(struct fuzz_rig *rig, unsigned choice)
{
	struct tb_end *a = &rig->tb.ends[0];
	struct drv_qp *qps[] = {a->qp[0], a->qp[1], rig->ud[0], rig->srq_qp};

	return qps[choice & 3];
}

static uint32_t live_number(struct fuzz_rig *rig, enum hca_object type, unsigned choice)
{
	struct tb_end *a = &rig->tb.ends[0];

	switch (type) {
	case HCA_QP:
		return drv_qp_num(queue_of(rig, choice));
	case HCA_CQ:
		return drv_cq_num(a->cq);
	case HCA_SRQ:
		return drv_srq_num(rig->srq);
	case HCA_MPT:
		return drv_mr_lkey(a->mr) >> 8;
	default:
		return a->dev->eqs[choice & 1].eqn;
	}
}

/* --- mailboxes --- */

static uint64_t value_of(struct fuzz_rig *rig, struct fuzz_bytes *b, uint64_t now)
{
	const unsigned choice = (unsigned)fuzz_take(b, 1);

	switch (choice & 7) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return now ^ UINT64_C(1) << (choice >> 3);
	case 3:
		return now + (choice >> 3) - 16;
	case 4:
		return choice >> 3;
	case 5:
		return live_number(rig, (enum hca_object)((choice >> 3) % 5), choice >> 6);
	case 6:
		return fuzz_take(b, 2);
	default:
		return fuzz_take(b, 8);
	}
}

static void set_field(struct fuzz_rig *rig, struct fuzz_bytes *b, const struct layout *l,
		      uint8_t *bytes)
{
	const unsigned i = l->n ? (unsigned)fuzz_take(b, 1) % l->n : 0;
	const struct field_row *row = &l->rows[i];

	if (!l->n)
		return;
	if (row->kind == FIELD_KIND_LAYOUT && row->inner != l && row->inner->n)
		set_field(rig, b, row->inner, bytes + row->offset);
	else if (row->kind == FIELD_KIND_BYTES)
		bytes[row->offset + fuzz_take(b, 1) % row->size] = (uint8_t)fuzz_take(b, 1);
	else if (row->kind != FIELD_KIND_LAYOUT)
		layout_set(l, i, bytes, value_of(rig, b, layout_get(l, i, bytes)));
}

static void command(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	const unsigned n = (unsigned)fuzz_take(b, 1) % (ARRAY_SIZE(commands));
	const unsigned how = (unsigned)fuzz_take(b, 1);
	const enum hca_object type = commands[n].type;
	const struct hcr_row *row = hcr_row_find(commands[n].op);
	const uint32_t live = live_number(rig, type, how);
	uint8_t mailbox[HCR_MBOX_SIZE] = {0}, out[HCR_MBOX_SIZE];
	struct drv_raw_cmd cmd = {
		.op = commands[n].op,
		.op_mod = how >> 2 & 3,
		.in_mod = how & 16 ? live + (how >> 5) % SPARE + 1 : live,
		.timeout_ps = CFG_S(1),
		.out = row->out == HCR_P_MBOX || row->out == HCR_P_MBOX_OPT ? out : NULL,
	};

	cmd.out_len = cmd.out ? sizeof(out) : 0;
	if (commands[n].op == HCR_WRITE_MTT)
		cmd.in_mod = how & 7;
	if (row->in == HCR_P_MBOX || row->in == HCR_P_MBOX_OPT) {
		hca_context_read(host_hca(rig->tb.ends[0].host), type,
				 type == HCA_MPT ? live << 8 : live, mailbox + commands[n].at, 256);
		for (unsigned k = fuzz_take(b, 1) & FIELDS; k; k--)
			set_field(rig, b, row->in_layout, mailbox);
		cmd.in = mailbox;
		cmd.in_len = sizeof(mailbox);
	} else {
		cmd.in_param = fuzz_take(b, 2);
	}
	drv_cmd(rig->tb.ends[0].dev, &cmd);
}

/* --- use --- */

static void packet(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	struct tb_end *a = &rig->tb.ends[0];
	const unsigned opcode = (unsigned)fuzz_take(b, 1), how = (unsigned)fuzz_take(b, 1);
	const struct bth_op *op = bth_op_find((uint8_t)opcode);
	const uint32_t qpn = drv_qp_num(queue_of(rig, how)), payload = how & 4 ? PAYLOAD : 0;
	uint8_t wire[WIRE_MAX] = {0};
	struct lrh *lrh = (struct lrh *)(void *)wire;
	struct bth *bth = (struct bth *)(void *)(wire + LRH_BYTES);
	struct qpc qpc = {0};
	size_t len;

	if (!op->props)
		return;
	hca_context_read(host_hca(a->host), HCA_QP, qpn, &qpc, sizeof(qpc));
	lrh_set_lnh(lrh, LNH_BTH);
	lrh_set_dlid(lrh, a->lid);
	lrh_set_slid(lrh, a->peer->lid);
	bth_set_opcode(bth, opcode);
	bth_set_pkey(bth, 0xffff);
	bth_set_mig_req(bth, how >> 3 & 1);
	bth_set_dqpn(bth, qpn);
	bth_set_psn(bth, bth_op_is(op, BTH_RESPONSE) ? qpc_get_next_send_psn(&qpc) - (how >> 5)
						     : qpc_get_next_rcv_psn(&qpc) - (how >> 6));
	bth_set_ack_req(bth, how >> 4 & 1);
	for (unsigned k = fuzz_take(b, 1) & 31; k; k--)
		wire[LRH_BYTES + BTH_BYTES + k] = (uint8_t)fuzz_take(b, 1);
	if (bth_op_has(op, BTH_EXT_RETH)) {
		struct reth *reth = (struct reth *)((uint8_t *)bth + op->at[BTH_EXT_RETH]);

		reth_set_va(reth, tb_va(a, a->dst));
		reth_set_rkey(reth, drv_mr_rkey(a->mr));
		reth_set_dma_len(reth, payload);
	}
	if (bth_op_has(op, BTH_EXT_DETH))
		deth_set_qkey((struct deth *)((uint8_t *)bth + op->at[BTH_EXT_DETH]), 1);
	len = bth_op_header_bytes(op, false) + (bth_op_is(op, BTH_PAYLOAD) ? payload : 0);
	lrh_set_pkt_len(lrh, (unsigned)(len + ICRC_BYTES) / 4);
	len += (size_t)crc_make(wire, (unsigned)len);
	hca_inject(host_hca(a->host), 1, wire, len);
}

static void work(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	struct tb_end *a = &rig->tb.ends[0];
	const unsigned how = (unsigned)fuzz_take(b, 1);
	struct drv_qp *qp = queue_of(rig, how);
	const struct drv_sge sge = {tb_va(a, a->dst), 1 + (uint32_t)fuzz_take(b, 1) * 32,
				    drv_mr_lkey(a->mr)};
	const struct drv_ah_attr ah = {
		.dlid = a->peer->lid, .port_num = 1, .static_rate = how >> 5};
	const struct drv_send_wr wr = {
		.opcode = (enum ibv_wr_opcode)((how >> 3) % (IBV_WR_ATOMIC_FETCH_AND_ADD + 1)),
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.remote_addr = tb_va(a->peer, a->peer->dst),
		.rkey = drv_mr_rkey(a->peer->mr),
		.ah = &ah,
		.remote_qpn = drv_qp_num(rig->ud[1]),
		.remote_qkey = 1,
	};
	const struct drv_recv_wr recv = {.sg_list = &sge, .num_sge = 1};

	if (how & 4)
		drv_post_send(qp, &wr, NULL);
	else if (qp == rig->srq_qp)
		drv_post_srq_recv(rig->srq, &recv, NULL);
	else
		drv_post_recv(qp, &recv, NULL);
}

/* Posts work at b, whose objects are unchanged: its packets meet the changed objects of a. */
static void peer_work(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	struct tb_end *peer = &rig->tb.ends[1];
	const struct drv_sge sge = {tb_va(peer, peer->src), 1 + (uint32_t)fuzz_take(b, 1) * 64,
				    drv_mr_lkey(peer->mr)};
	const struct drv_send_wr wr = {
		.opcode = (enum ibv_wr_opcode)(fuzz_take(b, 1) % (IBV_WR_RDMA_READ + 1)),
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.remote_addr = tb_va(peer->peer, peer->peer->dst),
		.rkey = drv_mr_rkey(peer->peer->mr),
	};

	drv_post_send(peer->qp[fuzz_take(b, 1) % FUZZ_QPS], &wr, NULL);
}

static void steps(struct fuzz_rig *rig, void *arg)
{
	struct objects_case *c = arg;

	for (unsigned n = 0; n < STEPS_MAX && fuzz_more(&c->b) && !rig->given_up; n++) {
		struct drv_wc wc[8];

		switch (fuzz_take(&c->b, 1) & 7) {
		case 0:
		case 1:
		case 2:
			command(rig, &c->b);
			break;
		case 3:
		case 4:
			packet(rig, &c->b);
			break;
		case 5:
			work(rig, &c->b);
			break;
		case 6:
			peer_work(rig, &c->b);
			break;
		default:
			drv_cq_arm(rig->tb.ends[0].cq, false);
			drv_cq_poll(rig->tb.ends[0].cq, 8, wc);
			break;
		}
	}
}

int fuzz_input(const uint8_t *data, size_t size)
{
	static struct objects_case c;
	struct fuzz_rig *rig = fuzz_rig_get();

	c.b = (struct fuzz_bytes){data, data + size};
	fuzz_rig_call(rig, steps, &c, CFG_S(60));
	fuzz_rig_pass(rig, CFG_MS(1));
	if (rig->tb.ends[0].dev->dead || rig->inputs % 32 == 0)
		fuzz_rig_spoil();
	return 0;
}
