// SPDX-License-Identifier: Apache-2.0
/* Where a datagram of an Ethernet port has come from. */
#include "host_driver/mlx4/mlx4.h"
#include "model/interface/queues.h"
#include "model/interface/wire.h"

#include <errno.h>

enum { IPV4_AT = UD_GRH_AREA - IPV4_BYTES, HOPS_BACK = 0xff };

static void ipv4_gid(uint32_t address, uint8_t gid[DRV_GID_BYTES])
{
	memset(gid, 0, DRV_GID_BYTES);
	be16_store(gid + 10, 0xffff);
	be32_store(gid + 12, address);
}

/* Either header may begin with the digit 6, so that of IPv4 is known by its checksum (Linux
 * ib_get_rdma_header_version). */
unsigned drv_eth_grh_parse(const uint8_t *area, uint8_t sgid[DRV_GID_BYTES],
			   uint8_t dgid[DRV_GID_BYTES])
{
	const struct grh *grh = (const struct grh *)(const void *)area;
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(const void *)(area + IPV4_AT);

	if (ipv4_hdr_get_version(ip) == IPV4_VERSION &&
	    ip_sum(area + IPV4_AT, IPV4_BYTES, 0) == 0xffff) {
		ipv4_gid(ipv4_hdr_get_saddr(ip), sgid);
		ipv4_gid(ipv4_hdr_get_daddr(ip), dgid);
		return 2;
	}
	memcpy(sgid, grh_sgid_cptr(grh), DRV_GID_BYTES);
	memcpy(dgid, grh_dgid_cptr(grh), DRV_GID_BYTES);
	return grh_get_next_hdr(grh) == IP_PROTOCOL_UDP ? 2 : 1;
}

int drv_eth_gid_find(const struct drv_device *dev, unsigned port, const uint8_t raw[DRV_GID_BYTES],
		     unsigned version, uint16_t vlan)
{
	struct drv_gid gid;

	for (unsigned i = 0; i < DRV_ETH_TABLE; i++)
		if (!drv_eth_gid_get(dev, port, i, &gid) && gid.version == version &&
		    gid.vlan == vlan && !memcmp(gid.raw, raw, DRV_GID_BYTES))
			return (int)i;
	return -ENOENT;
}

int drv_eth_way_back(const struct drv_device *dev, unsigned port, const struct drv_wc *wc,
		     const uint8_t *area, struct drv_ah_attr *ah)
{
	struct drv_ah_attr back = {
		.sl = wc->sl, .port_num = port, .is_global = true, .hop_limit = HOPS_BACK};
	uint8_t own[DRV_GID_BYTES];
	const unsigned version = drv_eth_grh_parse(area, back.dgid, own);
	/* a tag of VLAN 0 has a priority only. Source: IEEE 802.1Q 9.6 */
	const int index =
		drv_eth_gid_find(dev, port, own, version, wc->vlan ? wc->vlan : VLAN_NONE);

	if (index < 0)
		return index;
	back.sgid_index = (unsigned)index;
	memcpy(back.dmac, wc->smac, MAC_BYTES);
	*ah = back;
	return 0;
}
