// SPDX-License-Identifier: Apache-2.0
/* WQEs of special QPs. Touches no device, takes no time. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/bth_ops.h"

#include <string.h>

enum { UD_SEND_ONLY = 0x64, HEADERS_MAX = LRH_BYTES + GRH_BYTES + BTH_BYTES + sizeof(struct deth) };

static size_t headers_fill(const struct drv_mlx_wqe *w, uint8_t *buf)
{
	const unsigned transport = BTH_BYTES + sizeof(struct deth) + w->length + ICRC_BYTES;
	struct lrh *lrh = (struct lrh *)(void *)buf;
	struct grh *grh = (struct grh *)(void *)(buf + LRH_BYTES);
	size_t at = LRH_BYTES;
	struct deth *deth;
	struct bth *bth;

	lrh_set_vl(lrh, w->vl);
	lrh_set_sl(lrh, w->sl);
	lrh_set_lnh(lrh, w->has_grh ? LNH_IBA_GLOBAL : LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, w->dlid);
	lrh_set_pkt_len(lrh, (LRH_BYTES + (w->has_grh ? GRH_BYTES : 0) + transport) / 4);
	/* the device replaces the high bits by the port's LID */
	lrh_set_slid(lrh, w->dlid == LID_PERMISSIVE ? LID_PERMISSIVE : w->path_bits);
	if (w->has_grh) {
		grh_set_ip_ver(grh, GRH_IP_VER);
		grh_set_tclass(grh, w->tclass);
		grh_set_flow_label(grh, w->flow_label);
		grh_set_pay_len(grh, transport);
		grh_set_next_hdr(grh, GRH_NEXT_BTH);
		grh_set_hop_limit(grh, w->hop_limit);
		memcpy(grh_sgid_ptr(grh), w->sgid, DRV_GID_BYTES);
		memcpy(grh_dgid_ptr(grh), w->dgid, DRV_GID_BYTES);
		at += GRH_BYTES;
	}
	bth = (struct bth *)(void *)(buf + at);
	bth_set_opcode(bth, UD_SEND_ONLY);
	bth_set_pkey(bth, w->pkey);
	bth_set_dqpn(bth, w->dqpn);
	bth_set_psn(bth, w->psn);
	at += BTH_BYTES;
	deth = (struct deth *)(void *)(buf + at);
	deth_set_qkey(deth, w->qkey);
	deth_set_sqpn(deth, w->qpn);
	return at + sizeof(*deth);
}

static size_t inline_segment(uint8_t *wqe, size_t at, const uint8_t *data, size_t n)
{
	struct wqe_inline *head = (struct wqe_inline *)(void *)(wqe + at);

	memset(head, 0, sizeof(*head));
	wqe_inline_set_is_inline(head, 1);
	wqe_inline_set_byte_count(head, (uint32_t)n);
	at += sizeof(*head);
	memcpy(wqe + at, data, n);
	at += n;
	while (at % WQE_UNIT)
		wqe[at++] = 0;
	return at;
}

unsigned drv_mlx_wqe_build(const struct drv_mlx_wqe *w, void *wqe, unsigned owner)
{
	const size_t first_room =
		WQE_CHUNK - sizeof(struct wqe_mlx_ctrl) - sizeof(struct wqe_inline);
	static const uint8_t icrc[ICRC_BYTES];
	uint8_t headers[HEADERS_MAX] = {0};
	const size_t n = headers_fill(w, headers);
	const size_t first = n < first_room ? n : first_room;
	struct wqe_mlx_ctrl ctrl = {0};
	struct wqe_data data = {0};
	size_t at = inline_segment(wqe, sizeof(ctrl), headers, first);

	if (n > first)
		at = inline_segment(wqe, at, headers + first, n - first);
	wqe_data_set_byte_count(&data, w->length);
	wqe_data_set_lkey(&data, w->lkey);
	wqe_data_set_addr(&data, w->addr);
	memcpy((uint8_t *)wqe + at, &data, sizeof(data));
	at = inline_segment(wqe, at + sizeof(data), icrc, sizeof(icrc));
	wqe_mlx_ctrl_set_owner(&ctrl, owner);
	wqe_mlx_ctrl_set_opcode(&ctrl, WQE_SEND);
	wqe_mlx_ctrl_set_ds(&ctrl, (uint32_t)(at / WQE_UNIT));
	wqe_mlx_ctrl_set_vl15(&ctrl, w->vl == VL_MANAGEMENT);
	wqe_mlx_ctrl_set_slr(&ctrl, w->dlid == LID_PERMISSIVE);
	wqe_mlx_ctrl_set_sl(&ctrl, w->sl);
	wqe_mlx_ctrl_set_cqe(&ctrl, WQE_CQE_ALWAYS);
	wqe_mlx_ctrl_set_rlid(&ctrl, w->dlid);
	memcpy(wqe, &ctrl, sizeof(ctrl));
	return (unsigned)(at / WQE_UNIT);
}
