// SPDX-License-Identifier: Apache-2.0
/* Queue pairs: numbers, buffers, creation and destruction, the special QPs. State changes are in
 * qp_modify.c, posting in post.c. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "host_driver/mlx4/post.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* kept stamped behind head: a device may read so far ahead */
	SQ_HEADROOM_BYTES = 2048,
	SQ_LOG_STRIDE_MIN = 6,
	SQ_LOG_STRIDE_XRC_TARGET = 5, /* an XRC target has no send queue; Linux sets this stride */
	/* ctrl, headers in two inline segments, one data segment, ICRC; longer with Ethernet's headers */
	MLX_WQE_LOG_STRIDE = 7,
	MLX_WQE_LOG_STRIDE_ETHERNET = 8,
};

/* --- numbers --- */

static const enum drv_table qp_tables[] = {DRV_T_QPC, DRV_T_AUXC, DRV_T_ALTC, DRV_T_RDMARC,
					   DRV_T_CMPT_QP};

enum { QP_TABLES = ARRAY_SIZE(qp_tables) };

static int qp_tables_get(struct drv_device *dev, uint32_t qpn)
{
	int rc;

	for (unsigned i = 0; i < QP_TABLES; i++) {
		rc = drv_table_get(&dev->tables[qp_tables[i]], qpn);
		if (!rc)
			continue;
		while (i--)
			drv_table_put(&dev->tables[qp_tables[i]], qpn);
		return rc;
	}
	return 0;
}

static void qp_tables_put(struct drv_device *dev, uint32_t qpn)
{
	for (unsigned i = QP_TABLES; i--;)
		drv_table_put(&dev->tables[qp_tables[i]], qpn);
}

/* Special QPs are in a reserved block, so they take no number from the bitmap. */
static int qp_number(struct drv_qp *qp)
{
	struct drv_device *dev = qp->dev;
	int rc;

	if (qp->special) {
		qp->qpn = dev->special_base + 2 * qp->special_qpn + qp->port - 1;
	} else {
		rc = drv_bitmap_alloc(&dev->qps, &qp->qpn);
		if (rc)
			return rc;
		if (qp->xrc_target)
			qp->qpn |= QPN_XRC_TARGET;
	}
	rc = qp_tables_get(dev, qp->qpn);
	if (rc && !qp->special)
		drv_bitmap_free(&dev->qps, qp->qpn);
	return rc;
}

static void qp_number_free(struct drv_qp *qp)
{
	qp_tables_put(qp->dev, qp->qpn);
	if (!qp->special)
		drv_bitmap_free(&qp->dev->qps, qp->qpn);
}

/* --- sizes --- */

static unsigned max_inline_of(enum qp_service service, size_t room, unsigned wanted)
{
	unsigned n = (unsigned)room;

	while (n > wanted && drv_wqe_bytes(service, 0, n) > room)
		n--;
	return n;
}

/* The most SGEs that a queue pair of any service can have. The WQE with the longest header (masked
 * atomic on RC) has less room than the device's limit states. */
unsigned drv_max_send_sge(const struct drv_device *dev)
{
	const struct dev_cap *dc = &dev->cap;
	unsigned n = dev_cap_get_max_sq_sge(dc);

	for (enum qp_service service = QP_ST_RC; service <= QP_ST_XRC; service++)
		while (n && drv_wqe_bytes(service, n, 0) > dev_cap_get_max_sq_desc(dc))
			n--;
	return n;
}

/* The most work requests that a queue can have. A send queue also needs slots for its headroom, and
 * those are most when they are small; receive queues have the same limit, as in Linux' mlx4_ib. */
unsigned drv_max_qp_wr(const struct drv_device *dev)
{
	return (1u << dev_cap_get_log_max_qp_wqes(&dev->cap)) -
	       ((SQ_HEADROOM_BYTES >> SQ_LOG_STRIDE_MIN) + 1);
}

static int sq_size(struct drv_qp *qp, const struct drv_qp_cap *cap)
{
	const struct dev_cap *dc = &qp->dev->cap;
	const uint32_t max_desc = dev_cap_get_max_sq_desc(dc), max_sge = drv_max_send_sge(qp->dev);
	const size_t wanted = drv_wqe_bytes(qp->service, cap->max_send_sge, cap->max_inline_data);
	struct drv_wq *sq = &qp->sq;
	size_t room;

	if (cap->max_send_wr > drv_max_qp_wr(qp->dev) || cap->max_send_sge > max_sge ||
	    wanted > max_desc)
		return -EINVAL;
	sq->log_stride = drv_log2_up(wanted);
	if (sq->log_stride < SQ_LOG_STRIDE_MIN)
		sq->log_stride = SQ_LOG_STRIDE_MIN;
	if (qp->xrc_target)
		sq->log_stride = SQ_LOG_STRIDE_XRC_TARGET;
	if (qp->special)
		sq->log_stride = mlx4_port_is_ethernet(qp->dev, qp->port)
					 ? MLX_WQE_LOG_STRIDE_ETHERNET
					 : MLX_WQE_LOG_STRIDE;
	qp->spare = (SQ_HEADROOM_BYTES >> sq->log_stride) + 1;
	sq->entries = UINT32_C(1) << drv_log2_up((uint64_t)cap->max_send_wr + qp->spare);
	sq->max_post = sq->entries - qp->spare;
	room = (size_t)1 << sq->log_stride;
	if (room > max_desc)
		room = max_desc;
	sq->max_sge = cap->max_send_sge;
	while (!qp->special && !qp->xrc_target && sq->max_sge < max_sge &&
	       drv_wqe_bytes(qp->service, sq->max_sge + 1, 0) <= room)
		sq->max_sge++;
	if (!qp->special && !qp->xrc_target)
		qp->max_inline = max_inline_of(qp->service, room, cap->max_inline_data);
	return 0;
}

static int rq_size(struct drv_qp *qp, const struct drv_qp_cap *cap)
{
	struct drv_wq *rq = &qp->rq;

	if (!qp->has_rq)
		return cap->max_recv_wr ? -EINVAL : 0;
	if (cap->max_recv_wr > drv_max_qp_wr(qp->dev) ||
	    cap->max_recv_sge > dev_cap_get_max_rq_sge(&qp->dev->cap))
		return -EINVAL;
	rq->entries = UINT32_C(1) << drv_log2_up(cap->max_recv_wr ? cap->max_recv_wr : 1);
	rq->max_sge = 1u << drv_log2_up(cap->max_recv_sge ? cap->max_recv_sge : 1);
	rq->log_stride = drv_log2_up(rq->max_sge * sizeof(struct wqe_data));
	rq->max_post = rq->entries;
	return 0;
}

static int qp_buffer(struct drv_qp *qp, const struct drv_qp_cap *cap)
{
	struct drv_device *dev = qp->dev;
	size_t sq_bytes, rq_bytes;
	int rc = sq_size(qp, cap);

	if (!rc)
		rc = rq_size(qp, cap);
	if (rc)
		return rc;
	sq_bytes = (size_t)qp->sq.entries << qp->sq.log_stride;
	rq_bytes = qp->has_rq ? (size_t)qp->rq.entries << qp->rq.log_stride : 0;
	/* the device derives the order of the two queues from their strides */
	if (qp->has_rq && qp->rq.log_stride > qp->sq.log_stride)
		qp->sq.offset = rq_bytes;
	else
		qp->rq.offset = sq_bytes;
	rc = -ENOMEM;
	qp->sq.wr_id = drv_calloc(qp->sq.entries, sizeof(*qp->sq.wr_id));
	qp->rq.wr_id = drv_calloc(qp->has_rq ? qp->rq.entries : 1, sizeof(*qp->rq.wr_id));
	if (!qp->sq.wr_id || !qp->rq.wr_id)
		goto free_ids;
	rc = drv_buf_alloc(dev, sq_bytes + rq_bytes, &qp->buf);
	if (rc)
		goto free_ids;
	if (qp->has_rq)
		rc = drv_db_alloc(dev, &qp->db);
	if (rc)
		goto free_buf;
	return 0;

free_buf:
	drv_buf_free(dev, &qp->buf);
free_ids:
	free(qp->sq.wr_id);
	free(qp->rq.wr_id);
	return rc;
}

static void qp_buffer_free(struct drv_qp *qp)
{
	drv_db_free(qp->dev, &qp->db);
	drv_buf_free(qp->dev, &qp->buf);
	free(qp->sq.wr_id);
	free(qp->rq.wr_id);
}

/* --- creation --- */

static void qp_users(struct drv_qp *qp, int n)
{
	qp->pd->users += (unsigned)n;
	if (qp->send_cq)
		qp->send_cq->users += (unsigned)n;
	if (qp->recv_cq)
		qp->recv_cq->users += (unsigned)n;
	if (qp->srq)
		qp->srq->users += (unsigned)n;
	if (qp->xrcd)
		qp->xrcd->users += (unsigned)n;
	qp->uar->users += (unsigned)n;
}

static int qp_finish(const struct drv_qp *model, const struct drv_qp_cap *cap, struct drv_qp **out)
{
	struct drv_device *dev = model->dev;
	struct drv_qp *qp = drv_calloc(1, sizeof(*qp));
	int rc;

	if (!qp)
		return -ENOMEM;
	*qp = *model;
	rc = qp_buffer(qp, cap);
	if (rc)
		goto free_qp;
	rc = qp_number(qp);
	if (rc)
		goto free_buffer;
	dev->qp_table[qp->qpn & drv_table_mask(dev, DRV_T_QPC)] = qp;
	drv_list_add(&dev->qp_list, &qp->link);
	qp_users(qp, 1);
	*out = qp;
	return 0;

free_buffer:
	qp_buffer_free(qp);
free_qp:
	free(qp);
	return rc;
}

static int service_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return QP_ST_RC;
	case IBV_QPT_UC:
		return QP_ST_UC;
	case IBV_QPT_UD:
		return QP_ST_UD;
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return QP_ST_XRC;
	case IBV_QPT_RAW_PACKET:
		return QP_ST_MLX;
	}
	return -EINVAL;
}

static int qp_create(struct drv_pd *pd, const struct drv_qp_init *init, struct drv_qp **out)
{
	const int service = service_of(init->type);
	const bool target = init->type == IBV_QPT_XRC_RECV;
	/* the device wants two CQs for each QP, although XRC does not need both */
	struct drv_cq *send_cq = !target ? init->send_cq : init->xrcd ? init->xrcd->cq : NULL;
	const struct drv_qp qp = {
		.dev = pd->dev,
		.uar = init->uar ? init->uar : &pd->dev->verbs,
		.pd = pd,
		.send_cq = send_cq,
		.recv_cq = service == QP_ST_XRC ? send_cq : init->recv_cq,
		.srq = service == QP_ST_XRC ? NULL : init->srq,
		.xrcd = target ? init->xrcd : NULL,
		.service = (enum qp_service)service,
		.type = init->type,
		.state = IBV_QPS_RESET,
		.port = 1,
		.sq_sig_all = init->sq_sig_all,
		.user = init->user,
		.has_rq = !init->srq && service != QP_ST_XRC,
		.xrc_target = target,
	};

	if (service < 0)
		return service;
	if (!send_cq || (service != QP_ST_XRC && !init->recv_cq))
		return -EINVAL;
	return qp_finish(&qp, &init->cap, out);
}

int mlx4_qp_create(struct drv_pd *pd, const struct drv_qp_init *init, struct drv_qp **qp)
{
	DRV_ENTER(pd->dev, "type %d, %u sends, %u receives", init->type, init->cap.max_send_wr,
		  init->cap.max_recv_wr);
	return DRV_LEAVE(pd->dev, qp_create(pd, init, qp));
}

int mlx4_special_create(struct drv_pd *pd, const struct drv_special_init *init, struct drv_qp **out)
{
	const struct drv_qp qp = {
		.dev = pd->dev,
		.uar = &pd->dev->verbs,
		.pd = pd,
		.send_cq = init->cq,
		.recv_cq = init->cq,
		.service = QP_ST_MLX,
		.state = IBV_QPS_RESET,
		.port = init->port,
		.sq_sig_all = true,
		.has_rq = true,
		.special = true,
		.special_qpn = init->qpn,
	};
	const struct drv_qp_cap cap = {.max_send_wr = init->max_send_wr,
				       .max_recv_wr = init->max_recv_wr,
				       .max_send_sge = 1,
				       .max_recv_sge = 1};

	return qp_finish(&qp, &cap, out);
}

static int qp_destroy(struct drv_qp *qp)
{
	struct drv_device *dev = qp->dev;
	int rc = 0;

	if (qp->state != IBV_QPS_RESET)
		rc = mlx4_qp_modify(qp, &(struct drv_qp_attr){.qp_state = IBV_QPS_RESET},
				    IBV_QP_STATE);
	dev->qp_table[qp->qpn & drv_table_mask(dev, DRV_T_QPC)] = NULL;
	qp_number_free(qp);
	qp_buffer_free(qp);
	qp_users(qp, -1);
	drv_list_del(&qp->link);
	free(qp);
	return rc;
}

int mlx4_qp_destroy(struct drv_qp *qp)
{
	struct drv_device *dev = qp->dev;

	DRV_ENTER(dev, "qpn %06x", qp->qpn);
	return DRV_LEAVE(dev, qp_destroy(qp));
}

void mlx4_qp_set_owner(struct drv_qp *qp, void *owner)
{
	qp->owner = owner;
}

void *mlx4_qp_owner(const struct drv_qp *qp)
{
	return qp->owner;
}

struct drv_qp *mlx4_qp_find(struct drv_device *dev, uint32_t qpn)
{
	struct drv_qp *qp = dev->qp_table[qpn & drv_table_mask(dev, DRV_T_QPC)];

	return qp && qp->qpn == qpn ? qp : NULL;
}

uint32_t mlx4_qp_num(const struct drv_qp *qp)
{
	return qp->qpn;
}

enum ibv_qp_state mlx4_qp_state(const struct drv_qp *qp)
{
	return qp->state;
}

enum ibv_qp_type mlx4_qp_type(const struct drv_qp *qp)
{
	return qp->type;
}

/* --- bring-up --- */

/* The block of special QPs begins at the first power of two that leaves room for the reserved QPs
 * and 256 more. */
int drv_qps_init(struct drv_device *dev)
{
	const uint32_t qps = dev->tables[DRV_T_QPC].entries;
	const uint32_t reserved = UINT32_C(1) << dev_cap_get_log_rsvd_qps(&dev->cap);
	int rc;

	dev->special_base = UINT32_C(1) << drv_log2_up(reserved + 256 + 1);
	rc = drv_bitmap_init(&dev->qps, qps, DRV_QPN_MASK, dev->special_base + DRV_SPECIAL_QPS,
			     qps > 2 * DRV_TOP_QPS ? DRV_TOP_QPS : 0);
	if (rc)
		return rc;
	dev->qp_table = drv_calloc(qps, sizeof(*dev->qp_table));
	if (!dev->qp_table) {
		rc = -ENOMEM;
		goto free_bitmap;
	}
	rc = drv_cmd_plain(dev, HCR_CONF_SPECIAL_QP, dev->special_base, 0);
	if (rc)
		goto free_table;
	return 0;

free_table:
	free(dev->qp_table);
	dev->qp_table = NULL;
free_bitmap:
	drv_bitmap_cleanup(&dev->qps);
	return rc;
}

void drv_qps_cleanup(struct drv_device *dev)
{
	if (!dev->qp_table)
		return;
	drv_cmd_plain(dev, HCR_CONF_SPECIAL_QP, 0, 0);
	free(dev->qp_table);
	dev->qp_table = NULL;
	drv_bitmap_cleanup(&dev->qps);
}
