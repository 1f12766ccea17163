/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs of services.h: objects, requests, completions. */
#include "model/sim/cfg.h"
#include "testbench/services.h"

#include "host_driver/uverbs/include/infiniband/verbs.h"
#include "testbench/language/tb.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_CHARS = 320, PORT = 1, HOP_LIMIT = 64 };

/* --- objects --- */

struct drv_qp *tb_new_qp(struct tb *tb, const char *here, struct tb_end *end,
			 const struct drv_qp_init *init)
{
	struct drv_qp_init in = *init;
	struct drv_qp *qp = NULL;

#define DEFAULT(member, value) in.member = in.member ? in.member : (value)
#define NONE(member)           in.member = in.member == TB_NONE ? 0 : in.member
	if (!tb_go(tb, here))
		return NULL;
	if (in.type != IBV_QPT_XRC_RECV)
		DEFAULT(send_cq, end->cq);
	if (in.type != IBV_QPT_XRC_RECV && in.type != IBV_QPT_XRC_SEND)
		DEFAULT(recv_cq, end->cq);
	if (in.type != IBV_QPT_XRC_RECV) {
		DEFAULT(cap.max_send_wr, tb->setup.queue);
		DEFAULT(cap.max_send_sge, 1);
	}
	if (!in.srq && in.type != IBV_QPT_XRC_RECV && in.type != IBV_QPT_XRC_SEND) {
		DEFAULT(cap.max_recv_wr, tb->setup.queue);
		DEFAULT(cap.max_recv_sge, 1);
	}
	NONE(cap.max_send_wr);
	NONE(cap.max_send_sge);
	NONE(cap.max_recv_wr);
	NONE(cap.max_recv_sge);
#undef DEFAULT
#undef NONE
	return tb_must(tb, here, "drv_qp_create", drv_qp_create(end->pd, &in, &qp), 0) ? qp : NULL;
}

struct drv_srq *tb_new_srq(struct tb *tb, const char *here, struct tb_end *end,
			   const struct drv_srq_init *init)
{
	struct drv_srq_init in = *init;
	struct drv_srq *srq = NULL;

	if (!tb_go(tb, here))
		return NULL;
	if (!in.max_wr)
		in.max_wr = tb->setup.queue;
	if (in.xrcd && !in.cq)
		in.cq = end->cq;
	return tb_must(tb, here, "drv_srq_create", drv_srq_create(end->pd, &in, &srq), 0) ? srq
											  : NULL;
}

struct drv_cq *tb_new_cq(struct tb *tb, const char *here, struct tb_end *end, unsigned entries,
			 int vector)
{
	struct drv_cq *cq = NULL;

	if (!tb_go(tb, here))
		return NULL;
	return tb_must(tb, here, "drv_cq_create", drv_cq_create(end->dev, entries, vector, &cq), 0)
		       ? cq
		       : NULL;
}

struct drv_xrcd *tb_new_xrcd(struct tb *tb, const char *here, struct tb_end *end)
{
	struct drv_xrcd *xrcd = NULL;

	if (!tb_go(tb, here))
		return NULL;
	return tb_must(tb, here, "drv_xrcd_alloc", drv_xrcd_alloc(end->dev, &xrcd), 0) ? xrcd
										       : NULL;
}

void tb_destroy_qp(struct tb *tb, const char *here, struct drv_qp *qp)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_qp_destroy", drv_qp_destroy(qp), 0);
}

void tb_destroy_srq(struct tb *tb, const char *here, struct drv_srq *srq)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_srq_destroy", drv_srq_destroy(srq), 0);
}

void tb_destroy_cq(struct tb *tb, const char *here, struct drv_cq *cq)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_cq_destroy", drv_cq_destroy(cq), 0);
}

void tb_destroy_xrcd(struct tb *tb, const char *here, struct drv_xrcd *xrcd)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_xrcd_free", drv_xrcd_free(xrcd), 0);
}

static uint32_t or_else(int64_t said, uint32_t otherwise)
{
	return said == TB_ANY ? otherwise : (uint32_t)said;
}

/* One of the two queue pairs to connect. */
struct half {
	struct tb_end *end;
	struct drv_qp *qp;
	int64_t path_bits, psn, access, rd_atomic, dest_rd_atomic;
	uint32_t psn_of_setup;
};

/* The driver makes an entry for each version of RoCE from the MAC, setup.c those of IPv4. */
unsigned tb_gid_index(const struct tb *tb)
{
	static const uint8_t index[CFG_ROCE_COUNT] = {
		[CFG_ROCE_V1] = 0, [CFG_ROCE_V2_IPV6] = 1, [CFG_ROCE_V2_IPV4] = 3};

	return index[tb->config->sim.ethernet_roce];
}

enum roce_kind tb_roce_kind(const struct tb *tb)
{
	static const uint8_t kinds[CFG_ROCE_COUNT] = {[CFG_ROCE_V1] = ROCE_V1,
						      [CFG_ROCE_V2_IPV4] = ROCE_V2_IPV4,
						      [CFG_ROCE_V2_IPV6] = ROCE_V2_IPV6};

	return (enum roce_kind)kinds[tb->config->sim.ethernet_roce];
}

struct drv_rc_path path_to(const struct tb_end *to, uint32_t qpn)
{
	struct drv_rc_path path = drv_rc_path_default(to->lid, qpn);

	if (!to->ethernet)
		return path;
	path.is_global = true;
	path.hop_limit = HOP_LIMIT;
	path.sgid_index = to->gid_index;
	memcpy(path.dgid, to->gid, DRV_GID_BYTES);
	memcpy(path.dmac, to->mac, MAC_BYTES);
	return path;
}

struct drv_ah_attr ah_to(const struct tb_end *to)
{
	struct drv_ah_attr ah = {.dlid = to->lid, .port_num = PORT};

	if (!to->ethernet)
		return ah;
	ah.is_global = true;
	ah.hop_limit = HOP_LIMIT;
	ah.sgid_index = to->gid_index;
	memcpy(ah.dgid, to->gid, DRV_GID_BYTES);
	memcpy(ah.dmac, to->mac, MAC_BYTES);
	return ah;
}

static void connect_half(struct tb *tb, const char *here, const struct tb_path *p,
			 const struct half *own, const struct half *other)
{
	const struct tb_setup *s = &tb->setup;
	const unsigned port = or_else(p->port, PORT);
	const uint32_t lid = port == PORT ? other->end->lid : other->end->lid_2;
	struct drv_rc_path path;

	if (!tb_go(tb, here))
		return;
	path = path_to(other->end, drv_qp_num(other->qp));
	path.lid = lid + or_else(other->path_bits, 0);
	path.port = port;
	path.src_path_bits = or_else(own->path_bits, 0);
	path.pkey_index = or_else(p->pkey_index, 0);
	path.sl = or_else(p->sl, 0);
	path.static_rate = or_else(p->static_rate, 0);
	path.access = or_else(own->access, or_else(p->access, path.access));
	path.path_mtu = (enum ibv_mtu)or_else(p->mtu, s->mtu);
	path.sq_psn = or_else(own->psn, own->psn_of_setup);
	path.rq_psn = or_else(other->psn, other->psn_of_setup);
	path.timeout = or_else(p->timeout, s->timeout);
	path.retry_cnt = or_else(p->retry_cnt, s->retry_cnt);
	path.rnr_retry = or_else(p->rnr_retry, s->rnr_retry);
	path.min_rnr_timer = or_else(p->min_rnr_timer, s->min_rnr_timer);
	path.max_rd_atomic = or_else(own->rd_atomic, s->max_rd_atomic);
	path.max_dest_rd_atomic = or_else(own->dest_rd_atomic, s->max_rd_atomic);
	if (!own->end->ethernet && p->grh) {
		path.is_global = true;
		path.hop_limit = HOP_LIMIT;
		if (!tb_must(tb, here, "drv_query_gid",
			     drv_query_gid(other->end->dev, port, 0, path.dgid), 0))
			return;
	}
	tb_must(tb, here, "drv_qp_connect", drv_qp_connect(own->qp, &path), 0);
}

void tb_connect_ends(struct tb *tb, const char *here, struct tb_end *x_end, struct drv_qp *x,
		     struct tb_end *y_end, struct drv_qp *y, const struct tb_path *p)
{
	const struct half x_half = {.end = x_end,
				    .qp = x,
				    .path_bits = p->x_path_bits,
				    .psn = p->x_psn,
				    .access = p->x_access,
				    .rd_atomic = p->x_rd_atomic,
				    .dest_rd_atomic = p->x_dest_rd_atomic,
				    .psn_of_setup = tb->setup.a_psn};
	const struct half y_half = {.end = y_end,
				    .qp = y,
				    .path_bits = p->y_path_bits,
				    .psn = p->y_psn,
				    .access = p->y_access,
				    .rd_atomic = p->y_rd_atomic,
				    .dest_rd_atomic = p->y_dest_rd_atomic,
				    .psn_of_setup = tb->setup.b_psn};

	for (unsigned i = 0; i < TB_DIRECTIONS; i++)
		seen_queue_forget(&tb->directions[i]);
	connect_half(tb, here, p, &x_half, &y_half);
	connect_half(tb, here, p, &y_half, &x_half);
}

void tb_connect_two(struct tb *tb, const char *here, struct tb_end *x_end, struct drv_qp *x,
		    struct tb_end *y_end, struct drv_qp *y)
{
	tb_connect_ends(tb, here, x_end, x, y_end, y, &(const struct tb_path){TB_PATH_ANY});
}

void tb_start_ud(struct tb *tb, const char *here, struct drv_qp *qp, uint32_t qkey, uint32_t psn)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_ud_qp_start", drv_ud_qp_start(qp, PORT, 0, qkey, psn), 0);
}

void tb_move_qp(struct tb *tb, const char *here, struct drv_qp *qp, enum ibv_qp_state state)
{
	const struct drv_qp_attr attr = {.qp_state = state};

	if (!tb_go(tb, here))
		return;
	tb_must(tb, here, "drv_qp_modify", drv_qp_modify(qp, &attr, IBV_QP_STATE), 0);
	for (unsigned i = 0; i < TB_DIRECTIONS && state == IBV_QPS_RESET; i++)
		seen_queue_forget(&tb->directions[i]);
}
