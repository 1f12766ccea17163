// SPDX-License-Identifier: Apache-2.0
/* Work requests of QP0 and QP1, which bring the headers of their packet along. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/mads/mads.h"
#include "testbench/dsan/mads/told.h"

#include "model/engine/wire/link_port.h"
#include "model/interface/bth_ops.h"
#include "model/interface/ethernet.h"
#include "model/interface/macros.h"
#include "model/interface/wire.h"

#include <stdio.h>
#include <string.h>

enum {
	VLAN_ID = 0xfff,
	TEXT_BYTES = 160,
	HEADERS_MAX = 128,
	TRANSPORT_BYTES = BTH_BYTES + sizeof(struct deth)
};

/* HEADER_SAYS(compared, layout, header, field, what was asked for) */
#define HEADER_SAYS(c, type, at, field, asked)                                                     \
	do {                                                                                       \
		const uint64_t is_ = type##_get_##field(at), asked_ = (asked);                     \
                                                                                                   \
		if (is_ != asked_)                                                                 \
			header_differs(c, &layout_##type, #field, is_, asked_);                    \
	} while (0)

/* The headers, which inline segments hold up to the first one that is none; `at`: of that one.
 * Returns their length. */
static size_t headers_copy(const uint8_t *wqe, size_t end, uint8_t *headers, size_t *at)
{
	size_t used = 0;

	*at = sizeof(struct wqe_mlx_ctrl);
	while (*at + sizeof(struct wqe_inline) <= end) {
		const struct wqe_inline *s = (const void *)(wqe + *at);
		const size_t n = wqe_inline_get_byte_count(s);

		if (!wqe_inline_get_is_inline(s) || n > HEADERS_MAX - used)
			break;
		memcpy(headers + used, wqe + *at + sizeof(*s), n);
		used += n;
		*at += (sizeof(*s) + n + WQE_UNIT - 1) & ~(size_t)(WQE_UNIT - 1);
	}
	return used;
}

/* Source: IBA 7.6.6 SL-to-VL mapping; VL 15 has no SL */
static unsigned lane_of(const struct compared *c, const struct drv_special_send *send)
{
	const struct made *qp = c->ask->made;

	if (send->vl == VL_MANAGEMENT || !qp || !qp->port)
		return send->vl;
	return link_port_config(c->ask->c->host.hca, qp->port)->sl2vl[send->sl & 0xf];
}

/* Source: IBA 7.7 (LRH), 9.2 (BTH), 9.3.1 (DETH); the device fills in the rest of the SLID */
static void local_route_says(struct compared *c, const uint8_t *headers, size_t bytes,
			     const struct drv_special_send *send)
{
	const struct lrh *lrh = (const void *)headers;

	HEADER_SAYS(c, lrh, lrh, vl, lane_of(c, send));
	HEADER_SAYS(c, lrh, lrh, sl, send->sl);
	HEADER_SAYS(c, lrh, lrh, lnh, LNH_IBA_LOCAL);
	HEADER_SAYS(c, lrh, lrh, dlid, send->dlid);
	HEADER_SAYS(c, lrh, lrh, pkt_len, (bytes + send->length + ICRC_BYTES) / 4);
	HEADER_SAYS(c, lrh, lrh, slid,
		    send->dlid == LID_PERMISSIVE ? LID_PERMISSIVE : send->path_bits);
}

static void transport_says(struct compared *c, const uint8_t *headers,
			   const struct drv_special_send *send)
{
	const struct bth *bth = (const void *)headers;
	const struct deth *deth = (const void *)(headers + BTH_BYTES);
	struct made *qp = c->ask->made;

	HEADER_SAYS(c, bth, bth, opcode, 0x64); /* UD SEND only */
	HEADER_SAYS(c, bth, bth, pkey, send->pkey);
	HEADER_SAYS(c, bth, bth, dqpn, send->dqpn);
	HEADER_SAYS(c, deth, deth, qkey, send->qkey);
	if (!qp)
		return;
	HEADER_SAYS(c, deth, deth, sqpn, qp->special_qpn);
	/* Source: IBA 9.8.2.1: each packet has the next PSN */
	if (qp->psn_known)
		HEADER_SAYS(c, bth, bth, psn, qp->psn);
	qp->psn_known = true;
	qp->psn = psn_add(bth_get_psn(bth), 1);
}

static void ip_says(struct compared *c, const uint8_t *l3, enum roce_kind kind,
		    const struct drv_ah_attr *ah)
{
	const struct grh *grh = (const void *)l3; /* an IPv6 header has the same fields */
	const struct ipv4_hdr *ip = (const void *)l3;

	if (kind == ROCE_V2_IPV4) {
		HEADER_SAYS(c, ipv4_hdr, ip, tos, ah->traffic_class);
		HEADER_SAYS(c, ipv4_hdr, ip, ttl, ah->hop_limit);
		/* Source: Linux ib_ud_header_init and build_mlx_header: IP_DF */
		HEADER_SAYS(c, ipv4_hdr, ip, df, 1);
		if (ip_sum(l3, sizeof(*ip), 0) != 0xffff)
			bytes_differ(c, "the checksum of the packet's IPv4 header",
				     (const void *)c->from, sizeof(*ip));
		return;
	}
	HEADER_SAYS(c, grh, grh, tclass, ah->traffic_class);
	HEADER_SAYS(c, grh, grh, flow_label, ah->flow_label);
	HEADER_SAYS(c, grh, grh, hop_limit, ah->hop_limit);
}

/* A frame without a tag, or with one that has a priority only, is of no VLAN. Source: IEEE 802.1Q 9.6 */
static bool on_another_vlan(const struct compared *c, const struct drv_ah_attr *ah, uint16_t tag)
{
	const struct made *qp = c->ask->made;
	struct drv_gid own;

	if (!qp || !c->ask->dev || drv_eth_gid_get(c->ask->dev, qp->port, ah->sgid_index, &own))
		return false;
	return (tag == VLAN_NONE ? 0 : tag & VLAN_ID) != (own.vlan == VLAN_NONE ? 0 : own.vlan);
}

/* The sender in the frame is the port, with the GID that the address names. Source: IBA A17.5.2;
 * Linux build_mlx_header: eth_hdr.smac, sgid, MLX4_ROCEV2_QP1_SPORT */
static void sender_says(struct compared *c, const uint8_t *headers, const struct roce_places *at,
			const struct drv_ah_attr *ah)
{
	const struct made *qp = c->ask->made;
	const struct udp_hdr *udp = (const void *)(headers + at->bth_off - sizeof(struct udp_hdr));
	uint8_t mac[MAC_BYTES], gid[DRV_GID_BYTES];
	struct drv_gid own;

	if (at->kind == ROCE_V2_IPV4 || at->kind == ROCE_V2_IPV6)
		HEADER_SAYS(c, udp_hdr, udp, sport, ROCE_UDP_SPORT_BASE);
	if (!qp || !c->ask->dev)
		return;
	drv_eth_mac(c->ask->dev, qp->port, mac);
	if (memcmp(headers + MAC_BYTES, mac, MAC_BYTES))
		bytes_differ(c, "the source MAC in the packet's header", (const void *)c->from,
			     2 * MAC_BYTES);
	if (drv_eth_gid_get(c->ask->dev, qp->port, ah->sgid_index, &own))
		return;
	roce_sgid(headers, at, gid);
	if (memcmp(gid, own.raw, sizeof(gid)))
		bytes_differ(c, "the source GID in the packet's header", (const void *)c->from,
			     sizeof(gid));
}

/* Source: IBA A17.3 (frames of RoCE); Linux build_mlx_header */
static void ethernet_says(struct compared *c, const uint8_t *headers, size_t n,
			  const struct drv_special_send *send)
{
	/* a frame has an ICRC and an FCS behind its data, and none is shorter than others */
	const size_t bytes = n + send->length + ICRC_BYTES + FCS_BYTES;
	const struct drv_ah_attr *ah = send->ah;
	struct roce_places at;
	uint8_t gid[DRV_GID_BYTES];
	const char *why = roce_find(headers, n, bytes < ETHERNET_MIN ? ETHERNET_MIN : bytes,
				    ROCE_UDP_PORT, &at);
	char text[TEXT_BYTES];

	if (why || (size_t)at.bth_off + TRANSPORT_BYTES != n ||
	    (size_t)at.end + FCS_BYTES != bytes) {
		snprintf(text, sizeof(text), "the packet's header (%s), which",
			 why ? why : "its lengths are not those of the datagram");
		bytes_differ(c, text, (const void *)c->from, n);
		return;
	}
	roce_dgid(headers, &at, gid);
	if (memcmp(headers, ah->dmac, MAC_BYTES))
		bytes_differ(c, "the destination MAC in the packet's header", (const void *)c->from,
			     MAC_BYTES);
	else if (memcmp(gid, ah->dgid, sizeof(gid)))
		bytes_differ(c, "the destination GID in the packet's header", (const void *)c->from,
			     sizeof(gid));
	else if (on_another_vlan(c, ah, at.vlan))
		bytes_differ(c, "the VLAN in the packet's header", (const void *)c->from,
			     2 * MAC_BYTES + sizeof(struct vlan_tag));
	else if (vlan_priority(at.vlan) != ah->sl)
		bytes_differ(c, "the priority in the packet's header", (const void *)c->from,
			     sizeof(struct vlan_tag));
	else
		ip_says(c, headers + at.l3_off, at.kind, ah);
	sender_says(c, headers, &at, ah);
}

/* The last segment is the place of the ICRC, which the device fills in. Source: Linux
 * build_mlx_header, mlx4_ib_post_send: set_mlx_icrc_seg */
static void icrc_says(struct compared *c, const uint8_t *wqe, size_t at, size_t end)
{
	const struct wqe_inline *s = (const void *)(wqe + at);

	if (at + sizeof(*s) + ICRC_BYTES > end || end - at > WQE_UNIT) {
		bytes_differ(c, "the segment of the ICRC", wqe, end);
		return;
	}
	SAYS(c, wqe_inline, s, is_inline, 1);
	SAYS(c, wqe_inline, s, byte_count, ICRC_BYTES);
	if (be32_load(wqe + at + sizeof(*s)))
		bytes_differ(c, "the place of the ICRC", wqe + at + sizeof(*s), ICRC_BYTES);
}

void mads_request_says(struct compared *c, const uint8_t *wqe, const struct drv_special_send *send)
{
	const struct wqe_mlx_ctrl *ctrl = (const void *)wqe;
	const size_t end = (size_t)wqe_mlx_ctrl_get_ds(ctrl) * WQE_UNIT;
	uint8_t headers[HEADERS_MAX];
	size_t at;
	const size_t n = headers_copy(wqe, end, headers, &at);
	const struct wqe_data *data = (const void *)(wqe + at);

	SAYS(c, wqe_mlx_ctrl, ctrl, opcode, WQE_SEND);
	SAYS(c, wqe_mlx_ctrl, ctrl, cqe, WQE_CQE_ALWAYS);
	if (n < TRANSPORT_BYTES + LRH_BYTES || at + sizeof(*data) > end) {
		bytes_differ(c, "the row of segments", wqe, end);
		return;
	}
	SAYS(c, wqe_data, data, byte_count, send->length);
	SAYS(c, wqe_data, data, lkey, send->lkey);
	SAYS(c, wqe_data, data, addr, send->addr);
	icrc_says(c, wqe, at + sizeof(*data), end);
	transport_says(c, headers + n - TRANSPORT_BYTES, send);
	if (send->ah) {
		ethernet_says(c, headers, n, send);
		return;
	}
	SAYS(c, wqe_mlx_ctrl, ctrl, vl15, send->vl == VL_MANAGEMENT);
	SAYS(c, wqe_mlx_ctrl, ctrl, slr, send->dlid == LID_PERMISSIVE);
	SAYS(c, wqe_mlx_ctrl, ctrl, sl, send->sl);
	SAYS(c, wqe_mlx_ctrl, ctrl, rlid, send->dlid);
	local_route_says(c, headers, n, send);
	if (c->ask->made && c->ask->made->special_qpn)
		told_pkey_is_current(c, c->ask->made->port, send->pkey);
}
