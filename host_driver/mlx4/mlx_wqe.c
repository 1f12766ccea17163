// SPDX-License-Identifier: Apache-2.0
/* WQEs of special QPs. Touches no device, takes no time. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/bth_ops.h"

#include <string.h>

enum {
	UD_SEND_ONLY = 0x64,
	L2_MAX = sizeof(struct eth_hdr) + sizeof(struct vlan_tag),
	HEADERS_MAX = L2_MAX + GRH_BYTES + sizeof(struct udp_hdr) + BTH_BYTES + sizeof(struct deth),
};

static size_t grh_fill(const struct drv_mlx_wqe *w, unsigned next, unsigned bytes, uint8_t *buf)
{
	struct grh *grh = (struct grh *)(void *)buf;

	grh_set_ip_ver(grh, GRH_IP_VER);
	grh_set_tclass(grh, w->tclass);
	grh_set_flow_label(grh, w->flow_label);
	grh_set_pay_len(grh, bytes);
	grh_set_next_hdr(grh, next);
	grh_set_hop_limit(grh, w->hop_limit);
	memcpy(grh_sgid_ptr(grh), w->sgid, DRV_GID_BYTES);
	memcpy(grh_dgid_ptr(grh), w->dgid, DRV_GID_BYTES);
	return sizeof(*grh);
}

/* `transport`: the bytes from the BTH to the end of the ICRC. */
static size_t infiniband_fill(const struct drv_mlx_wqe *w, unsigned transport, uint8_t *buf)
{
	struct lrh *lrh = (struct lrh *)(void *)buf;

	lrh_set_vl(lrh, w->vl);
	lrh_set_sl(lrh, w->sl);
	lrh_set_lnh(lrh, w->has_grh ? LNH_IBA_GLOBAL : LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, w->dlid);
	lrh_set_pkt_len(lrh, (LRH_BYTES + (w->has_grh ? GRH_BYTES : 0) + transport) / 4);
	/* the device replaces the high bits by the port's LID */
	lrh_set_slid(lrh, w->dlid == LID_PERMISSIVE ? LID_PERMISSIVE : w->path_bits);
	if (!w->has_grh)
		return LRH_BYTES;
	return LRH_BYTES + grh_fill(w, GRH_NEXT_BTH, transport, buf + LRH_BYTES);
}

static size_t ipv4_fill(const struct drv_mlx_wqe *w, unsigned bytes, uint8_t *buf)
{
	struct ipv4_hdr *ip = (struct ipv4_hdr *)(void *)buf;

	ipv4_hdr_set_version(ip, IPV4_VERSION);
	ipv4_hdr_set_ihl(ip, sizeof(*ip) / 4);
	ipv4_hdr_set_tos(ip, w->tclass);
	ipv4_hdr_set_total_len(ip, (uint32_t)sizeof(*ip) + bytes);
	ipv4_hdr_set_df(ip, 1);
	ipv4_hdr_set_ttl(ip, w->hop_limit);
	ipv4_hdr_set_protocol(ip, IP_PROTOCOL_UDP);
	ipv4_hdr_set_saddr(ip, be32_load(w->sgid + 12));
	ipv4_hdr_set_daddr(ip, be32_load(w->dgid + 12));
	ipv4_hdr_set_checksum(ip, (uint16_t)~ip_sum(buf, sizeof(*ip), 0));
	return sizeof(*ip);
}

static size_t udp_fill(unsigned transport, uint8_t *buf)
{
	struct udp_hdr *udp = (struct udp_hdr *)(void *)buf;

	udp_hdr_set_sport(udp, ROCE_UDP_SPORT_BASE);
	udp_hdr_set_dport(udp, ROCE_UDP_PORT);
	udp_hdr_set_len(udp, (uint32_t)sizeof(*udp) + transport);
	return sizeof(*udp);
}

static size_t tag_fill(const struct drv_mlx_wqe *w, uint8_t *buf)
{
	const uint16_t vlan = w->from.vlan == VLAN_NONE ? 0 : w->from.vlan;
	struct vlan_tag *tag = (struct vlan_tag *)(void *)buf;

	if (w->from.vlan == VLAN_NONE && !w->sl)
		return 0;
	vlan_tag_set_tpid(tag, ETH_TYPE_VLAN);
	vlan_tag_set_tci(tag, w->sl << VLAN_PRIORITY_SHIFT | vlan);
	return sizeof(*tag);
}

/* Linux has a second QP1 for RoCE v2; the device takes the version from the headers. */
static size_t ethernet_fill(const struct drv_mlx_wqe *w, unsigned transport, uint8_t *buf)
{
	const unsigned udp = sizeof(struct udp_hdr) + transport;
	const bool v2 = w->from.version == 2, ipv4 = v2 && gid_is_ipv4(w->sgid);
	size_t at = 2 * MAC_BYTES;

	memcpy(buf, w->dmac, MAC_BYTES);
	memcpy(buf + MAC_BYTES, w->smac, MAC_BYTES);
	at += tag_fill(w, buf + at);
	be16_store(buf + at, ipv4 ? ETH_TYPE_IPV4 : v2 ? ETH_TYPE_IPV6 : ETH_TYPE_ROCE);
	at += 2;
	if (!v2)
		return at + grh_fill(w, GRH_NEXT_BTH, transport, buf + at);
	at += ipv4 ? ipv4_fill(w, udp, buf + at) : grh_fill(w, IP_PROTOCOL_UDP, udp, buf + at);
	return at + udp_fill(transport, buf + at);
}

static size_t headers_fill(const struct drv_mlx_wqe *w, uint8_t *buf)
{
	const unsigned transport = BTH_BYTES + sizeof(struct deth) + w->length + ICRC_BYTES;
	size_t at = w->from.version ? ethernet_fill(w, transport, buf)
				    : infiniband_fill(w, transport, buf);
	struct bth *bth = (struct bth *)(void *)(buf + at);
	struct deth *deth;

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

/* The size of an inline segment with n bytes of data. */
static size_t inline_bytes(size_t n)
{
	return n ? (sizeof(struct wqe_inline) + n + WQE_UNIT - 1) & ~(size_t)(WQE_UNIT - 1) : 0;
}

static void inline_segment(uint8_t *wqe, size_t at, const uint8_t *data, size_t n)
{
	const size_t head = sizeof(struct wqe_inline);

	if (!n)
		return;
	memcpy(wqe + at + head, data, n);
	for (size_t end = head + n; end < inline_bytes(n); end++)
		wqe[at + end] = 0;
	drv_wqe_put_count(wqe, at, (uint32_t)n, true);
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
	const size_t second_at = sizeof(ctrl) + inline_bytes(first);
	const size_t data_at = second_at + inline_bytes(n - first);
	struct wqe_data *data = (struct wqe_data *)(void *)((uint8_t *)wqe + data_at);
	const size_t icrc_at = data_at + sizeof(*data), at = icrc_at + inline_bytes(sizeof(icrc));

	/* from the last to the first, so that the first word of each chunk is stored last */
	inline_segment(wqe, icrc_at, icrc, sizeof(icrc));
	wqe_data_set_lkey(data, w->lkey);
	wqe_data_set_addr(data, w->addr);
	drv_wqe_put_count(wqe, data_at, w->length, false);
	inline_segment(wqe, second_at, headers + first, n - first);
	inline_segment(wqe, sizeof(ctrl), headers, first);
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
