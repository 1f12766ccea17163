// SPDX-License-Identifier: Apache-2.0
/* See ring.h. */
#include "host_driver/net/ring.h"

#include <errno.h>

#define WR_SEND (UINT64_C(1) << 63)

static int memory(struct net_ring *r)
{
	struct platform *p = drv_platform(r->dev);

	for (unsigned i = 0; i < RING_SLOTS; i++) {
		r->recv[i] = p->ops->pages_alloc(p, RING_RECV_BYTES, &r->recv_bus[i]);
		if (!r->recv[i])
			return -ENOMEM;
	}
	r->send = p->ops->pages_alloc(p, PLATFORM_PAGE_SIZE, &r->send_bus);
	return r->send ? 0 : -ENOMEM;
}

static int recv_post(struct net_ring *r, unsigned slot)
{
	const struct drv_sge sge = {
		.addr = r->recv_bus[slot], .length = RING_RECV_BYTES, .lkey = drv_mr_lkey(r->mr)};
	const struct drv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};

	return drv_post_recv(r->qp, &wr, NULL);
}

static int qp_start(struct net_ring *r, unsigned port)
{
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = port};
	int rc = drv_qp_modify(r->qp, &attr, IBV_QP_STATE | IBV_QP_PORT);

	attr.qp_state = IBV_QPS_RTR;
	if (!rc)
		rc = drv_qp_modify(r->qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!rc)
		rc = drv_qp_modify(r->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	for (unsigned i = 0; !rc && i < RING_SLOTS; i++)
		rc = recv_post(r, i);
	return rc;
}

int net_ring_create(struct net_ring *r, struct drv_device *dev, unsigned port)
{
	struct drv_qp_init init = {.type = IBV_QPT_RAW_PACKET,
				   .sq_sig_all = true,
				   .cap = {.max_send_wr = RING_SLOTS,
					   .max_recv_wr = RING_SLOTS,
					   .max_send_sge = 1,
					   .max_recv_sge = 1}};
	int rc;

	*r = (struct net_ring){.dev = dev};
	rc = memory(r);
	if (!rc)
		rc = drv_pd_alloc(dev, &r->pd);
	if (!rc)
		rc = drv_mr_reg_dma(r->pd, IBV_ACCESS_LOCAL_WRITE, &r->mr);
	if (!rc)
		rc = drv_cq_create(dev, 2 * RING_SLOTS, 0, &r->cq);
	if (!rc) {
		drv_cq_set_owner(r->cq, r);
		init.send_cq = init.recv_cq = r->cq;
		rc = drv_qp_create(r->pd, &init, &r->qp);
	}
	return rc ? rc : qp_start(r, port);
}

void net_ring_destroy(struct net_ring *r)
{
	struct platform *p = drv_platform(r->dev);

	if (r->qp)
		drv_qp_destroy(r->qp);
	if (r->cq)
		drv_cq_destroy(r->cq);
	if (r->mr)
		drv_mr_dereg(r->mr);
	if (r->pd)
		drv_pd_free(r->pd);
	for (unsigned i = 0; i < RING_SLOTS && r->recv[i]; i++)
		p->ops->pages_free(p, r->recv[i], RING_RECV_BYTES);
	if (r->send)
		p->ops->pages_free(p, r->send, PLATFORM_PAGE_SIZE);
}

int net_ring_send(struct net_ring *r, const uint8_t *frame, size_t len)
{
	const size_t at = r->sent % RING_SLOTS * RING_SEND_BYTES;
	const struct drv_sge sge = {
		.addr = r->send_bus + at, .length = (uint32_t)len, .lkey = drv_mr_lkey(r->mr)};
	const struct drv_send_wr wr = {
		.wr_id = WR_SEND, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1};
	int rc;

	if (r->sent - r->left >= RING_SLOTS)
		return -ENOBUFS;
	/* The slot is taken before the doorbell, where other senders may run. */
	memcpy(r->send + at, frame, len);
	r->sent++;
	rc = drv_post_send(r->qp, &wr, NULL);
	if (rc)
		r->sent--;
	return rc;
}

const uint8_t *net_ring_take(struct net_ring *r, struct drv_wc *wc)
{
	while (drv_cq_poll(r->cq, 1, wc) > 0) {
		if (wc->wr_id & WR_SEND)
			r->left++;
		else if (wc->status == IBV_WC_SUCCESS)
			return r->recv[wc->wr_id];
		else if (wc->status != IBV_WC_WR_FLUSH_ERR)
			net_ring_give_back(r, wc);
	}
	return NULL;
}

void net_ring_give_back(struct net_ring *r, const struct drv_wc *wc)
{
	recv_post(r, (unsigned)wc->wr_id);
}
