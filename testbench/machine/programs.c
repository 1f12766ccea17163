/* SPDX-License-Identifier: Apache-2.0 */
/* See programs.h. */
#include "testbench/programs.h"

#include "host_driver/mlx4/mlx4_internal.h"

#include <fcntl.h>

enum {
	ALL_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC,
	INIT_MASK = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	RTR_MASK = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	RCV_MASK = RTR_MASK | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	RTS_MASK = IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		   IBV_QP_MAX_QP_RD_ATOMIC,
	TIMEOUT = 14,
	RETRIES = 7,
	RNR_TIMER = 12,
	DEPTH = 4,
	WAIT_STEP_US = 2,
	WAIT_LIMIT_US = 10000000,
	WRITE_BYTES = 64,
};

/* The return value of a step whose verb returns a pointer. */
static int made(const void *object)
{
	return object ? 0 : -1;
}

int program_open(void *arg)
{
	struct program *p = arg;
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return -1;
	p->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	p->buf = process_memory(PROGRAM_BYTES);
	if (!p->context || !p->buf)
		return -1;
	p->pd = ibv_alloc_pd(p->context);
	p->cq = p->pd ? ibv_create_cq(p->context, PROGRAM_QUEUE, NULL, NULL, 0) : NULL;
	p->mr = p->cq ? ibv_reg_mr(p->pd, p->buf, PROGRAM_BYTES, ALL_ACCESS) : NULL;
	return made(p->mr);
}

/* --- XRC domains, SRQs --- */

int program_open_xrcd(void *arg)
{
	struct program *p = arg;
	struct ibv_xrcd_init_attr attr = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = process_open(p->file, O_CREAT),
					  .oflags = O_CREAT};

	p->xrcd = ibv_open_xrcd(p->context, &attr);
	process_close(attr.fd);
	return made(p->xrcd);
}

int program_close_xrcd(void *arg)
{
	return ibv_close_xrcd(((struct program *)arg)->xrcd);
}

int program_xrc_srq(void *arg)
{
	struct program *p = arg;
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = PROGRAM_QUEUE, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = p->pd,
		.xrcd = p->xrcd,
		.cq = p->cq,
	};

	p->srq = ibv_create_srq_ex(p->context, &attr);
	return p->srq ? ibv_get_srq_num(p->srq, &p->srq_num) : -1;
}

static struct ibv_sge all_memory(const struct program *p)
{
	return (struct ibv_sge){(uintptr_t)p->buf, PROGRAM_BYTES, p->mr->lkey};
}

int program_recv(void *arg)
{
	struct program *p = arg;
	struct ibv_sge sge = all_memory(p);
	struct ibv_recv_wr wr = {.wr_id = p->wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_srq_recv(p->srq, &wr, &bad);
}

/* --- the sender --- */

int program_sender(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_init_attr init = {.send_cq = p->cq,
					.cap = {.max_send_wr = PROGRAM_QUEUE, .max_send_sge = 1},
					.qp_type = IBV_QPT_XRC_SEND};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	p->qp = ibv_create_qp(p->pd, &init);
	if (!p->qp)
		return -1;
	p->qpn = p->qp->qp_num;
	return ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | INIT_MASK);
}

int program_connect(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_2048,
				   .dest_qp_num = p->peer_qpn,
				   .ah_attr = {.dlid = (uint16_t)p->peer_lid, .port_num = 1}};
	int rc = ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | RTR_MASK);

	if (rc)
		return rc;
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.sq_psn = PROGRAM_PSN,
		.timeout = (uint8_t)(p->timeout ? p->timeout : TIMEOUT),
		.retry_cnt = (uint8_t)(p->retry_cnt ? p->retry_cnt : RETRIES),
		.rnr_retry = RETRIES,
		.max_rd_atomic = DEPTH,
	};
	return ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | RTS_MASK);
}

static int post(struct program *p, struct ibv_send_wr *wr, uint32_t bytes)
{
	struct ibv_sge sge = {(uintptr_t)p->buf, bytes, p->mr->lkey};
	struct ibv_send_wr *bad;

	wr->wr_id = p->wr_id;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->qp_type.xrc.remote_srqn = p->remote_srqn;
	return ibv_post_send(p->qp, wr, &bad);
}

int program_send(void *arg)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	return post(arg, &wr, PROGRAM_BYTES);
}

int program_write(void *arg)
{
	struct program *p = arg;
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {.remote_addr = p->remote_addr, .rkey = p->rkey}};

	return post(p, &wr, WRITE_BYTES);
}

int program_wait(void *arg)
{
	struct program *p = arg;
	int n;

	for (unsigned us = 0; us < WAIT_LIMIT_US; us += WAIT_STEP_US) {
		n = ibv_poll_cq(p->cq, 1, &p->wc);
		if (n)
			return n < 0 ? -1 : (int)p->wc.status;
		process_sleep_us(WAIT_STEP_US);
	}
	return ETIMEDOUT;
}

int program_get_event(void *arg)
{
	struct program *p = arg;

	if (ibv_get_async_event(p->context, &p->event))
		return errno;
	ibv_ack_async_event(&p->event);
	return 0;
}

/* --- receive sides --- */

int program_rcv_attr(const struct program *p, struct ibv_qp_attr *attr)
{
	*attr = (struct ibv_qp_attr){
		.path_mtu = IBV_MTU_2048,
		.rq_psn = PROGRAM_PSN,
		.dest_qp_num = p->peer_qpn,
		.qp_access_flags = p->access,
		.ah_attr = {.dlid = (uint16_t)p->peer_lid, .port_num = 1},
		.max_dest_rd_atomic = DEPTH,
		.min_rnr_timer = RNR_TIMER,
		.port_num = 1,
	};
	return INIT_MASK | RCV_MASK;
}

static struct ibv_xrc_domain *domain(const struct program *p)
{
	return (struct ibv_xrc_domain *)p->xrcd;
}

int program_alloc_rcv(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr;
	int mask = program_rcv_attr(p, &attr);

	return ibv_alloc_xrc_rcv_qp(p->pd, domain(p), &attr, mask, &p->qpn);
}

int program_create_rcv(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_init_attr init = {.xrc_domain = domain(p)};
	struct ibv_qp_attr attr;
	int rc = ibv_create_xrc_rcv_qp(&init, &p->qpn);

	if (rc)
		return rc;
	program_rcv_attr(p, &attr);
	attr.qp_state = IBV_QPS_INIT;
	rc = ibv_modify_xrc_rcv_qp(domain(p), p->qpn, &attr, IBV_QP_STATE | INIT_MASK);
	if (rc)
		return rc;
	attr.qp_state = IBV_QPS_RTR;
	return ibv_modify_xrc_rcv_qp(domain(p), p->qpn, &attr, IBV_QP_STATE | RCV_MASK);
}

int program_target(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = p->xrcd};
	struct ibv_qp_attr attr;
	int rc;

	p->qp = ibv_create_qp_ex(p->context, &init);
	if (!p->qp)
		return -1;
	p->qpn = p->qp->qp_num;
	program_rcv_attr(p, &attr);
	attr.qp_state = IBV_QPS_INIT;
	rc = ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | INIT_MASK);
	if (rc)
		return rc;
	attr.qp_state = IBV_QPS_RTR;
	return ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | RCV_MASK);
}

int program_reg_rcv(void *arg)
{
	struct program *p = arg;

	return ibv_reg_xrc_rcv_qp(domain(p), p->qpn);
}

int program_unreg_rcv(void *arg)
{
	struct program *p = arg;

	return ibv_unreg_xrc_rcv_qp(domain(p), p->qpn);
}

int program_open_target(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_open_attr attr = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE,
					.qp_num = p->qpn,
					.xrcd = p->xrcd,
					.qp_type = IBV_QPT_XRC_RECV};

	p->qp = ibv_open_qp(p->context, &attr);
	return made(p->qp);
}

int program_rcv_to_error(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	return ibv_modify_xrc_rcv_qp(domain(p), p->qpn, &attr, IBV_QP_STATE);
}

unsigned driver_holds(const struct drv_device *dev)
{
	unsigned n = dev->qps.used + dev->cqs.used + dev->srqs.used + dev->mpts.used +
		     dev->pds.used + dev->xrcds.used + dev->uars.used + dev->mtt_buddy.used +
		     dev->db_records + dev->cmd.mailboxes;

	for (unsigned t = 0; t < DRV_TABLES; t++)
		n += drv_table_pages(&dev->tables[t]);
	return n;
}
