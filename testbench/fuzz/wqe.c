/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of queues. The input is written to the send queue, the receive queue, doorbell records,
 * or as a BlueFlame line, of a connected queue pair. Then the doorbell is rung.
 */
#include "testbench/fuzz/rig.h"

#include <string.h>

enum { STEPS_MAX = 16, PIECE_MAX = 255 };

struct wqe_case {
	struct fuzz_bytes b;
};

static struct drv_qp *queue_of(struct fuzz_rig *rig, struct tb_end *end, unsigned choice)
{
	struct drv_qp *qps[] = {end->qp[0], end->qp[1], rig->ud[end->index],
				end->index ? rig->peer_qp : rig->srq_qp};

	return qps[choice & 3];
}

static void ring(struct tb_end *end, uint32_t qpn)
{
	struct send_db db = {{0}};

	send_db_set_qpn(&db, qpn);
	drv_raw_mmio_write(end->dev, HCA_BAR_UAR,
			   (uint64_t)end->dev->verbs.page * UAR_PAGE_SIZE + UAR_SEND_DB, db.b,
			   sizeof(db.b));
}

/* Lets the driver write a correct request, then changes some of its bytes. */
static void change_good_one(struct tb_end *end, struct drv_qp *qp, struct fuzz_bytes *b)
{
	const struct drv_sge sge = {tb_va(end, end->src), 1 + (uint32_t)fuzz_take(b, 1) * 32,
				    drv_mr_lkey(end->mr)};
	const struct drv_ah_attr ah = {.dlid = end->peer->lid, .port_num = 1};
	struct drv_send_wr wr = {
		.opcode = (enum ibv_wr_opcode)(fuzz_take(b, 1) % 16),
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.remote_addr = tb_va(end->peer, end->peer->dst),
		.rkey = drv_mr_rkey(end->peer->mr),
		.ah = &ah,
		.remote_qpn = 1,
		.remote_qkey = 1,
		.reg_mr = end->mr,
		.bind_mr = end->mr,
	};
	uint8_t *wqe =
		drv_buf_at(&qp->buf, qp->sq.offset + (size_t)(qp->sq.head & (qp->sq.entries - 1)) *
							     ((size_t)1 << qp->sq.log_stride));

	if (wr.opcode == IBV_WR_REG_MR || wr.opcode == IBV_WR_BIND_MW)
		wr.opcode = IBV_WR_SEND;
	drv_post_send(qp, &wr, NULL);
	for (unsigned n = fuzz_take(b, 1) & 7; n; n--) {
		unsigned at = (unsigned)fuzz_take(b, 1) % (1u << qp->sq.log_stride);

		wqe[at] = (uint8_t)fuzz_take(b, 1);
	}
}

static void step(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	unsigned how = (unsigned)fuzz_take(b, 1);
	struct tb_end *end = &rig->tb.ends[how & 1];
	struct drv_qp *qp = queue_of(rig, end, how >> 1);
	const uint8_t *bytes;
	size_t n, at;

	switch (how >> 3 & 7) {
	case 0: /* anywhere in the buffer */
	case 1:
		at = fuzz_take(b, 2) % ((size_t)qp->buf.n * PLATFORM_PAGE_SIZE);
		n = fuzz_take_some(b, (size_t)fuzz_take(b, 1), &bytes);
		for (size_t i = 0; i < n; i++)
			*(uint8_t *)drv_buf_at(
				&qp->buf, (at + i) % ((size_t)qp->buf.n * PLATFORM_PAGE_SIZE)) =
				bytes[i];
		ring(end, drv_qp_num(qp));
		break;
	case 2: /* at the head of the send queue */
		at = qp->sq.offset + (size_t)(qp->sq.head & (qp->sq.entries - 1)) *
					     ((size_t)1 << qp->sq.log_stride);
		n = fuzz_take_some(b, (size_t)1 << qp->sq.log_stride, &bytes);
		memcpy(drv_buf_at(&qp->buf, at), bytes, n);
		qp->sq.head++;
		ring(end, drv_qp_num(qp));
		break;
	case 3: /* doorbell record */
		if (qp->db.record)
			for (unsigned i = 0; i < 4; i++)
				((uint8_t *)qp->db.record)[i] = (uint8_t)fuzz_take(b, 1);
		break;
	case 4: /* BlueFlame */
		n = fuzz_take_some(b, 64, &bytes);
		if (n >= 4)
			hca_mmio_write(host_hca(end->host), HCA_BAR_UAR,
				       (uint64_t)(end->dev->verbs.bf_offset +
						  end->dev->verbs.page * 512u) &
					       ~63ull,
				       bytes, n > 8 ? (unsigned)n & ~7u : 4);
		break;
	case 5:
		ring(end, (uint32_t)fuzz_take(b, 3));
		break;
	default:
		change_good_one(end, qp, b);
		break;
	}
}

static void steps(struct fuzz_rig *rig, void *arg)
{
	struct wqe_case *c = arg;

	for (unsigned n = 0; n < STEPS_MAX && fuzz_more(&c->b) && !rig->given_up; n++) {
		step(rig, &c->b);
		tb_pass_time(&rig->tb, "fuzz", CFG_US(fuzz_take(&c->b, 1)));
	}
	tb_pass_time(&rig->tb, "fuzz", CFG_MS(3));
	fuzz_rig_reconnect(rig);
}

int fuzz_input(const uint8_t *data, size_t size)
{
	static struct wqe_case c;
	struct fuzz_rig *rig = fuzz_rig_get();

	c.b = (struct fuzz_bytes){data, data + size};
	fuzz_rig_call(rig, steps, &c, CFG_S(60));
	return 0;
}
