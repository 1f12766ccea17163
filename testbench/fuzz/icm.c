/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's tables are pages of host memory, and a guest may write anything into them. Here
 * contexts, translations, RDMA and multicast entries of objects in use change while requests are in
 * progress. The caches are so small that the device soon reads what was written.
 */
#include "model/engine/base/engine.h"
#include "model/engine/memory/icm.h"
#include "testbench/fuzz/rig.h"
#include "testbench/machine/host_impl.h"

#include <string.h>

enum { STEPS_MAX = 32, ENTRY_BYTES = 256, PIECE_MAX = 64, QUEUES = 5 };

static const char *const settings[] = {
	"hca.context_cache.requester_entries=2", "hca.context_cache.responder_entries=2",
	"hca.context_cache.read_entries=2",      "hca.context_cache.cq_entries=1",
	"hca.context_cache.eq_entries=1",        "hca.context_cache.srq_entries=1",
	"hca.translate.mpt_entries=2",           NULL};

struct icm_case {
	struct fuzz_bytes b;
};

static struct drv_qp *queue_of(struct fuzz_rig *rig, struct tb_end *end, unsigned choice)
{
	struct drv_qp *qps[QUEUES] = {end->qp[0], end->qp[1], rig->ud[end->index],
				      end->index ? rig->peer_qp : rig->srq_qp, rig->uc[end->index]};

	return qps[choice % QUEUES];
}

/* Mostly the number of a live object. */
static uint32_t number_of(struct fuzz_rig *rig, struct tb_end *end, unsigned table,
			  struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);

	switch (how & 128 ? FW_TABLE_COUNT : table) {
	case FW_TABLE_QPC:
	case FW_TABLE_ALTC:
	case FW_TABLE_AUXC:
		return drv_qp_num(queue_of(rig, end, how));
	case FW_TABLE_CQC:
		return drv_cq_num(end->cq);
	case FW_TABLE_EQC:
		return end->dev->eqs[how & 1].eqn;
	case FW_TABLE_SRQC:
		return drv_srq_num(rig->srq);
	case FW_TABLE_MPT:
		return drv_mr_lkey(end->mr) >> 8;
	case FW_TABLE_RDMARC:
		return drv_qp_num(queue_of(rig, end, how)) << 4;
	default:
		return (uint32_t)fuzz_take(b, 2);
	}
}

static void scribble(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	const unsigned table = (unsigned)fuzz_take(b, 1) % FW_TABLE_COUNT;
	const struct hca *hca = host_hca(end->host);
	const uint64_t va = icm_entry(hca, table, number_of(rig, end, table, b)) +
			    fuzz_take(b, 1) % ENTRY_BYTES;
	const unsigned how = (unsigned)fuzz_take(b, 1);
	uint8_t now[PIECE_MAX];
	const uint8_t *bytes;
	uint64_t bus;
	size_t n = fuzz_take_some(b, 1 + how % 8, &bytes);

	if (icm_translate(hca, va, &bus) || host_memory_read(&end->host->memory, bus, now, n))
		return;
	for (size_t i = 0; i < n; i++)
		now[i] = (uint8_t)(how & 64 ? now[i] ^ bytes[i] : bytes[i]);
	host_memory_write(&end->host->memory, bus, now, n);
}

static void work(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);
	const struct drv_sge sge = {tb_va(end, end->src), how >> 3 == 31 ? 9000 : 8,
				    drv_mr_lkey(end->mr)};
	const struct drv_ah_attr ah = {.dlid = end->peer->lid, .port_num = 1};
	const struct drv_send_wr wr = {
		.opcode = (enum ibv_wr_opcode)((how >> 3) % (IBV_WR_ATOMIC_FETCH_AND_ADD + 1)),
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.remote_addr = tb_va(end->peer, end->peer->dst),
		.rkey = drv_mr_rkey(end->peer->mr),
		.ah = &ah,
		.remote_qpn = drv_qp_num(rig->ud[end->peer->index]),
		.remote_qkey = 1,
	};
	const struct drv_recv_wr recv = {.sg_list = &sge, .num_sge = 1};
	struct drv_qp *qp = queue_of(rig, end, how);

	drv_post_send(qp, &wr, NULL);
	if (qp == rig->srq_qp)
		drv_post_srq_recv(rig->srq, &recv, NULL);
	else
		drv_post_recv(qp, &recv, NULL);
}

/* Reads through the driver, which does not trust what it reads either. */
static void look(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b)
{
	struct drv_qp_attr attr;
	struct drv_wc wc[8];

	drv_cq_arm(end->cq, false);
	drv_cq_poll(end->cq, 8, wc);
	drv_qp_query(queue_of(rig, end, (unsigned)fuzz_take(b, 1)), &attr);
}

static void steps(struct fuzz_rig *rig, void *arg)
{
	struct icm_case *c = arg;

	for (unsigned n = 0; n < STEPS_MAX && fuzz_more(&c->b) && !rig->given_up; n++) {
		const unsigned how = (unsigned)fuzz_take(&c->b, 1);
		struct tb_end *end = &rig->tb.ends[how >> 7];

		switch (how & 7) {
		case 0:
		case 1:
		case 2:
			scribble(rig, end, &c->b);
			break;
		case 3:
			tb_pass_time(&rig->tb, "fuzz", CFG_US(fuzz_take(&c->b, 1)));
			break;
		case 4:
			look(rig, end, &c->b);
			break;
		default:
			work(rig, end, &c->b);
			break;
		}
	}
	tb_pass_time(&rig->tb, "fuzz", CFG_MS(3));
}

int fuzz_input(const uint8_t *data, size_t size)
{
	static struct icm_case c;
	struct fuzz_rig *rig;

	fuzz_rig_settings = settings;
	rig = fuzz_rig_get();
	c.b = (struct fuzz_bytes){data, data + size};
	fuzz_rig_call(rig, steps, &c, CFG_S(60));
	if (rig->inputs % 16 == 0)
		fuzz_rig_spoil();
	return 0;
}
