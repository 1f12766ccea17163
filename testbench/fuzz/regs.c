/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses to configuration space and both BARs, with any offset, size and value, mostly near
 * existing registers. Rings doorbells of live objects with any index, while requests are in
 * progress and after. Writes BlueFlame pages. Masks, changes and uses MSI-X entries. The device may
 * end in any state.
 */
#include "model/interface/macros.h"
#include "testbench/fuzz/rig.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 128, CONFIG_BYTES = 4096, BURST = 64 };

static const uint32_t near[] = {BAR0_HCR,       BAR0_RESET,   BAR0_OWNERSHIP,
				BAR0_SEMAPHORE, BAR0_CLR_INT, 0};

static void no_answer(void *arg, const void *bytes, unsigned size)
{
}

static uint64_t offset_of(struct fuzz_bytes *b, unsigned bar, unsigned how)
{
	if (bar == 2)
		return fuzz_take(b, how & 32 ? 4 : 2) * (how & 64 ? 1 : 8);
	if (how & 32)
		return fuzz_take(b, 3);
	return near[how % (ARRAY_SIZE(near))] +
	       (how & 64 ? fuzz_take(b, 1) : 4 * (fuzz_take(b, 1) % 8));
}

static void put(struct hca *hca, uint64_t page, unsigned at, const void *bytes, unsigned size)
{
	hca_mmio_write(hca, HCA_BAR_UAR, page * UAR_PAGE_SIZE + at, bytes, size);
}

/* Rings a doorbell of a live object, or of a number close to one. */
static void ring(struct fuzz_rig *rig, struct fuzz_bytes *b, unsigned how)
{
	struct tb_end *a = &rig->tb.ends[0];
	struct hca *hca = host_hca(a->host);
	const uint32_t qpn[] = {drv_qp_num(a->qp[0]), drv_qp_num(a->qp[1]), drv_qp_num(rig->ud[0]),
				drv_qp_num(rig->srq_qp)};
	uint64_t page = how & 64 ? fuzz_take(b, 1) : a->dev->verbs.page;
	struct cq_arm_db arm = {0};
	struct send_db send = {0};
	struct eq_db eq = {0};

	switch (how & 3) {
	case 0:
		send_db_set_qpn(&send,
				qpn[how >> 2 & 3] ^ (uint32_t)(how & 32 ? fuzz_take(b, 1) : 0));
		put(hca, page, UAR_SEND_DB, send.b, sizeof(send.b));
		break;
	case 1:
		cq_arm_db_set_cqn(&arm, drv_cq_num(a->cq) ^ (how & 32));
		cq_arm_db_set_ci(&arm, (uint32_t)fuzz_take(b, 3));
		arm.b[0] ^= (uint8_t)fuzz_take(b, 1);
		put(hca, page, UAR_CQ_ARM, arm.b, sizeof(arm.b));
		break;
	case 2:
		eq.b[0] = (uint8_t)fuzz_take(b, 1);
		eq.b[3] = (uint8_t)fuzz_take(b, 1);
		put(hca, how >> 2 & 3, UAR_EQ_DB + 8 * (how >> 4 & 3), eq.b, sizeof(eq.b));
		break;
	default: {
		uint8_t wqe[BURST] = {0};
		const uint8_t *some;
		size_t n = fuzz_take_some(b, BURST, &some);

		memcpy(wqe, some, n);
		hca_mmio_write(hca, HCA_BAR_UAR,
			       HCA_BF_OFFSET + page * UAR_PAGE_SIZE + (how & 4 ? 256 : 0), wqe,
			       BURST);
		break;
	}
	}
}

/* The MSI-X table: address, data and mask of the vectors in use. */
static void vector(struct hca *hca, struct fuzz_bytes *b, unsigned how)
{
	uint8_t bytes[4];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)fuzz_take(b, 1);
	hca_mmio_write(hca, HCA_BAR_REGS,
		       BAR0_MSIX_TABLE + (how & 3) * HCA_MSIX_ENTRY_SIZE + (how >> 2 & 3) * 4,
		       bytes, sizeof(bytes));
}

/* Runs in a thread, because the write to the doorbell takes simulated host time. */
static void post(struct fuzz_rig *rig, void *arg)
{
	unsigned how = *(const unsigned *)arg;
	struct tb_end *a = &rig->tb.ends[0];
	struct drv_sge sge = {tb_va(a, a->src), how & 8 ? 9000 : 64, drv_mr_lkey(a->mr)};
	const struct drv_send_wr wr = {.opcode = how & 16 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .remote_addr = tb_va(a->peer, a->peer->dst),
				       .rkey = drv_mr_rkey(a->peer->mr)};

	drv_post_send(a->qp[how & 1], &wr, NULL);
}

static void access_once(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	unsigned how = (unsigned)fuzz_take(b, 1), what = (unsigned)fuzz_take(b, 1), size;
	struct hca *hca = host_hca(rig->machine.hosts[0]);
	unsigned bar = what & 1 ? 2 : 0;
	uint8_t bytes[BURST] = {0};
	const uint8_t *some;
	size_t some_size;
	uint64_t at;

	if ((what >> 1 & 7) == 7) {
		size = 1u << (what >> 4) % 3;
		at = fuzz_take(b, 2) % CONFIG_BYTES / size * size;
		if (what & 128)
			hca_config_write(hca, (unsigned)at, size, (uint32_t)fuzz_take(b, size));
		else
			hca_config_read(hca, (unsigned)at, size);
		return;
	}
	at = offset_of(b, bar, how);
	size = what & 64 ? 1 + (unsigned)fuzz_take(b, 1) % BURST : what & 32 ? 8 : 4;
	if (at % BURST + size > BURST)
		size = BURST - (unsigned)(at % BURST);
	some_size = fuzz_take_some(b, what & 128 ? size : 0, &some);
	memcpy(bytes, some, some_size);
	switch (what >> 1 & 7) {
	case 3:
		ring(rig, b, how);
		break;
	case 4:
		vector(hca, b, how);
		break;
	case 5:
		fuzz_rig_call(rig, post, &how, CFG_MS(1));
		break;
	case 0:
		hca_mmio_read(hca, bar, at, size, no_answer, NULL);
		break;
	case 1:
		hca_mmio_read_now(hca, bar, at, bytes, size);
		break;
	case 2:
		hca_mmio_write_now(hca, bar, at, bytes, size);
		break;
	default:
		hca_mmio_write(hca, bar, at, bytes, size);
		break;
	}
}

int fuzz_input(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, data + size};
	struct fuzz_rig *rig = fuzz_rig_get();

	for (unsigned n = 0; n < STEPS_MAX && fuzz_more(&b); n++) {
		access_once(rig, &b);
		fuzz_rig_pass(rig, CFG_NS(fuzz_take(&b, 1) * 20));
	}
	fuzz_rig_pass(rig, CFG_MS(5));
	if (rig->inputs % 8 == 0)
		fuzz_rig_spoil();
	return 0;
}
