/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What applications do, at both ends and on every kind of queue pair: requests of every opcode with
 * keys, addresses and lengths that are correct or almost correct; multicast, rates, memory windows
 * and fast registration; SRQ limits; path changes and path migration.
 */
#include "model/interface/macros.h"
#include "testbench/fuzz/rig.h"

#include <string.h>

enum { STEPS_MAX = 48, QUEUES = 5, LENGTH = 4096, QKEY = 1 };

static const enum ibv_wr_opcode opcodes[] = {
	IBV_WR_SEND,
	IBV_WR_SEND_WITH_IMM,
	IBV_WR_SEND_WITH_INV,
	IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
	IBV_WR_MASKED_ATOMIC_CMP_AND_SWP,
	IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD,
	IBV_WR_REG_MR,
	IBV_WR_BIND_MW,
	IBV_WR_LOCAL_INV,
};

struct verbs_case {
	struct fuzz_bytes b;
};

static struct drv_qp *queue_of(struct fuzz_rig *rig, struct tb_end *end, unsigned choice)
{
	struct drv_qp *qps[QUEUES] = {end->qp[0], end->qp[1], rig->ud[end->index],
				      end->index ? rig->peer_qp : rig->srq_qp, rig->uc[end->index]};

	return qps[choice % QUEUES];
}

/* A key of that end: of its region, its fast-registration region, its window, or of nothing. */
static uint32_t key_of(struct fuzz_rig *rig, struct tb_end *end, unsigned choice)
{
	switch (choice & 7) {
	case 1:
		return drv_mr_rkey(rig->fast[end->index]);
	case 2:
		return drv_mw_rkey(rig->mw[end->index]);
	case 3:
		return drv_mr_rkey(end->mr) ^ 1u << (choice >> 3);
	default:
		return drv_mr_rkey(end->mr);
	}
}

static void address_of(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b,
		       struct drv_ah_attr *ah)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);

	*ah = (struct drv_ah_attr){
		.dlid = end->peer->lid,
		.port_num = 1,
		.static_rate = how & 1 ? how >> 4 : 0,
		.is_global = how & 2,
		.hop_limit = 1,
	};
	if (how & 4) { /* the multicast group */
		ah->dlid = 0xc000 + (how >> 3 & 1);
		ah->is_global = true;
		memcpy(ah->dgid, fuzz_mgid, sizeof(ah->dgid));
	} else if (how & 8) {
		ah->dlid = end->lid; /* the sender itself */
	}
}

static void request_post(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	const unsigned queue = (unsigned)fuzz_take(b, 1), how = (unsigned)fuzz_take(b, 1),
		       keys = (unsigned)fuzz_take(b, 1), size = (unsigned)fuzz_take(b, 1),
		       at = (unsigned)fuzz_take(b, 1);
	struct drv_qp *qp = queue_of(rig, end, queue);
	struct drv_ah_attr ah;
	const struct drv_sge sge = {.addr = tb_va(end, at & 128 ? end->dst : end->src) + (at & 127),
				    .length = size & 128 ? (size & 127) * 64 : size,
				    .lkey = key_of(rig, end, keys)};
	struct drv_send_wr wr = {
		.opcode = opcodes[how % (ARRAY_SIZE(opcodes))],
		.send_flags = IBV_SEND_SIGNALED | (how & 0x40 ? IBV_SEND_FENCE : 0) |
			      (how & 0x80 ? IBV_SEND_SOLICITED : 0),
		.sg_list = &sge,
		.num_sge = size != 127,
		.imm_data = size,
		.remote_addr = tb_va(end->peer, end->peer->dst) + (at & 126) * 4,
		.rkey = key_of(rig, end->peer, keys >> 4),
		/* mostly the key of a fast-registration region: an end that loses its ordinary
		 * region can do little more */
		.invalidate_rkey =
			keys >> 6 == 3
				? key_of(rig, end->peer, keys >> 4)
				: drv_mr_rkey(
					  rig->fast[how & 0x20 ? end->index : end->peer->index]),
		.compare_add = fuzz_take(b, 1),
		.swap = size,
		.compare_add_mask = at & 1 ? UINT64_MAX : 0x8080,
		.swap_mask = UINT64_MAX,
		.ah = &ah,
		.remote_qpn = at & 64 ? 0xffffff : drv_qp_num(rig->ud[end->peer->index]),
		.remote_qkey = QKEY,
		.bind_mw = rig->mw[end->index],
		.bind_mr = end->mr,
		.bind_addr = tb_va(end, end->dst) + (at & 127),
		.bind_length = size * 16,
		.bind_access = keys >> 2,
		.reg_mr = rig->fast[end->index],
		.reg_iova = tb_va(end, end->dst),
		.reg_length = size * 32,
		.reg_access = keys >> 2,
	};

	address_of(rig, end, b, &ah);
	drv_post_send(qp, &wr, NULL);
}

static void receive_post(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);
	struct drv_qp *qp = queue_of(rig, end, how);
	const struct drv_sge sge = {.addr = tb_va(end, end->dst),
				    .length = (how >> 3) * LENGTH / 16,
				    .lkey = key_of(rig, end, (unsigned)fuzz_take(b, 1))};
	const struct drv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

	if (qp == rig->srq_qp)
		drv_post_srq_recv(rig->srq, &wr, NULL);
	else
		drv_post_recv(qp, &wr, NULL);
}

/* --- paths and states --- */

static void change_path(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1), value = (unsigned)fuzz_take(b, 1);
	struct drv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_RTS,
		.alt_ah_attr = {.dlid = end->peer->lid ^ (value & 1),
				.port_num = 1,
				.static_rate = value >> 4,
				.is_global = value & 2},
		.alt_port_num = 1,
		.alt_timeout = 4,
		.path_mig_state = value & 4 ? IBV_MIG_REARM : IBV_MIG_MIGRATED,
		.min_rnr_timer = value & 31,
		.qp_access_flags = value & 15,
	};
	unsigned mask = IBV_QP_STATE;

	mask |= how & 8 ? IBV_QP_ALT_PATH : 0;
	mask |= how & 16 ? IBV_QP_PATH_MIG_STATE : 0;
	mask |= how & 32 ? IBV_QP_MIN_RNR_TIMER : 0;
	mask |= how & 64 ? IBV_QP_ACCESS_FLAGS : 0;
	drv_qp_modify(queue_of(rig, end, how), &attr, mask);
}

static void change_state(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);
	const struct drv_qp_attr attr = {.qp_state = how & 64    ? IBV_QPS_SQD
						     : how & 128 ? IBV_QPS_ERR
								 : IBV_QPS_RTS,
					 .en_sqd_async_notify = true};

	drv_qp_modify(queue_of(rig, end, how), &attr,
		      IBV_QP_STATE | (how & 32 ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0));
}

static void join_or_leave(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);
	struct drv_qp *qp = queue_of(rig, end, how & 8 ? how : 2);
	uint8_t mgid[DRV_GID_BYTES];

	memcpy(mgid, fuzz_mgid, sizeof(mgid));
	mgid[15] ^= (uint8_t)(how >> 5);
	if (how & 16)
		drv_mcast_detach(qp, mgid);
	else
		drv_mcast_attach(qp, mgid, how & 4);
}

static void step(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);
	struct tb_end *end = &rig->tb.ends[how >> 7];
	struct drv_wc wc[8];

	switch (how & 15) {
	case 0:
		receive_post(rig, end, b);
		break;
	case 1:
		change_path(rig, end, b);
		break;
	case 2:
		change_state(rig, end, b);
		break;
	case 3:
		drv_srq_arm(rig->srq, how >> 4 & 7);
		break;
	case 4:
		join_or_leave(rig, end, b);
		break;
	case 5:
		drv_cq_arm(end->cq, how & 16);
		drv_cq_poll(end->cq, 8, wc);
		break;
	case 6:
		drv_mr_rereg_access(end->mr, (unsigned)fuzz_take(b, 1) & 31);
		break;
	case 7:
		tb_pass_time(&rig->tb, "fuzz", CFG_US(fuzz_take(b, 1)));
		break;
	default:
		request_post(rig, end, b);
		break;
	}
}

static void steps(struct fuzz_rig *rig, void *arg)
{
	struct verbs_case *c = arg;

	for (unsigned n = 0; n < STEPS_MAX && fuzz_more(&c->b) && !rig->given_up; n++)
		step(rig, &c->b);
	tb_pass_time(&rig->tb, "fuzz", CFG_MS(3));
	fuzz_rig_reconnect(rig);
}

int fuzz_input(const uint8_t *data, size_t size)
{
	static struct verbs_case c;
	struct fuzz_rig *rig = fuzz_rig_get();

	c.b = (struct fuzz_bytes){data, data + size};
	fuzz_rig_call(rig, steps, &c, CFG_S(60));
	if (rig->inputs % 32 == 0)
		fuzz_rig_spoil();
	return 0;
}
