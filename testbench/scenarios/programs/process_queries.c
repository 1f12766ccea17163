/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program is told of the device, its ports and their tables is what the driver below has found.
 * No traffic depends on most of it, so a wrong value would never show.
 */
/* behaviours: IBA-11.2.1.2-query-hca */
#include "model/interface/dev_cap.h"
#include "model/interface/macros.h"
#include "testbench/programs.h"

#include <endian.h>
#include <infiniband/driver.h>
#include <errno.h>
#include <string.h>

enum { GIDS = 512, NO_PORT = 9, NO_RATE = 99, UNTOUCHED = 77, SYS_CHARS = 22 };

struct truth {
	struct drv_device_attr device;
	struct drv_port_attr port;
	uint8_t gid[DRV_GID_BYTES];
	unsigned mhz;
	unsigned gids; /* of all ports; over InfiniBand each has the prefix of its subnet */
};

#define DIFFER(a, b) ((uint64_t)(a) != (uint64_t)(b))

static int device_is(struct ibv_context *c, const struct drv_device_attr *d, unsigned mhz)
{
	const struct ibv_query_device_ex_input unknown = {.comp_mask = 1};
	struct ibv_device_attr_ex ex = {.comp_mask = UNTOUCHED};
	struct ibv_device_attr *is = &ex.orig_attr;

	if (ibv_query_device_ex(c, &unknown, &ex) != EINVAL || ex.comp_mask != UNTOUCHED)
		return __LINE__;
	if (ibv_query_device_ex(c, NULL, &ex) || DIFFER(ex.hca_core_clock, mhz * 1000) ||
	    DIFFER(ex.phys_port_cnt_ex, d->ports) ||
	    DIFFER(ex.device_cap_flags_ex, is->device_cap_flags))
		return __LINE__;
	if (DIFFER(be64toh(is->node_guid), d->node_guid) ||
	    DIFFER(be64toh(is->sys_image_guid), d->sys_image_guid) ||
	    DIFFER(is->vendor_id, d->vendor_id) || DIFFER(is->vendor_part_id, d->device_id) ||
	    DIFFER(is->hw_ver, d->revision) || strcmp(is->fw_ver, d->fw_version))
		return __LINE__;
	if (DIFFER(is->max_qp, d->max_qp) || DIFFER(is->max_qp_wr, d->max_qp_wr) ||
	    DIFFER(is->max_cq, d->max_cq) || DIFFER(is->max_cqe, d->max_cqe) ||
	    DIFFER(is->max_mr, d->max_mr) || DIFFER(is->max_pd, d->max_pd) ||
	    DIFFER(is->max_mw, d->max_mr) || DIFFER(is->max_srq, d->max_srq) ||
	    DIFFER(is->max_srq_wr, d->max_srq_wr) || DIFFER(is->max_srq_sge, d->max_recv_sge - 1))
		return __LINE__;
	if (is->max_sge > (int)d->max_send_sge || is->max_sge > (int)d->max_recv_sge ||
	    is->max_sge_rd != is->max_sge || DIFFER(is->max_qp_rd_atom, d->max_dest_rd_atomic) ||
	    DIFFER(is->max_qp_init_rd_atom, d->max_rd_atomic) ||
	    DIFFER(is->max_res_rd_atom, d->max_dest_rd_atomic * d->max_qp))
		return __LINE__;
	if (DIFFER(is->max_pkeys, d->pkeys[1]) ||
	    DIFFER(is->local_ca_ack_delay, d->local_ack_delay) ||
	    DIFFER(is->phys_port_cnt, d->ports) || is->atomic_cap != IBV_ATOMIC_HCA)
		return __LINE__;
	return is->device_cap_flags & IBV_DEVICE_XRC ? 0 : __LINE__;
}

/* What the driver does not know from the device, or in another form. Source: mlx4_ib */
static int limits_are(struct ibv_context *c, const struct drv_device_attr *d)
{
	static const struct {
		unsigned cap, flag;
	} caps[] = {
		{DEV_CAP_BAD_PKEY_CNT, IBV_DEVICE_BAD_PKEY_CNTR},
		{DEV_CAP_BAD_QKEY_CNT, IBV_DEVICE_BAD_QKEY_CNTR},
		{DEV_CAP_APM, IBV_DEVICE_AUTO_PATH_MIG},
		{DEV_CAP_UD_AV_PORT, IBV_DEVICE_UD_AV_PORT_ENFORCE},
		{DEV_CAP_XRC, IBV_DEVICE_XRC},
		{DEV_CAP_MEM_WINDOW, IBV_DEVICE_MEM_WINDOW},
		{DEV_CAP_MEM_WINDOW, IBV_DEVICE_MEM_WINDOW_TYPE_2B},
	};
	const unsigned always = IBV_DEVICE_CHANGE_PHY_PORT | IBV_DEVICE_PORT_ACTIVE_EVENT |
				IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
				IBV_DEVICE_MEM_MGT_EXTENSIONS;
	const unsigned sge = d->max_send_sge < d->max_recv_sge ? d->max_send_sge : d->max_recv_sge;
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr *is = &ex.orig_attr;

	memset(&ex, 0x77, sizeof(ex));
	if (ibv_query_device_ex(c, NULL, &ex) || ex.comp_mask || DIFFER(is->max_sge, sge) ||
	    is->max_mr_size != UINT64_MAX || is->page_size_cap != 0xfffff000)
		return __LINE__;
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		if (DIFFER(!!(is->device_cap_flags & caps[i].flag), d->flags >> caps[i].cap & 1))
			return __LINE__;
	if ((is->device_cap_flags & always) != always)
		return __LINE__;
	if (is->max_mcast_grp < 1 || is->max_mcast_qp_attach < 1 || is->max_ah < 1 ||
	    is->max_total_mcast_qp_attach != is->max_mcast_grp * is->max_mcast_qp_attach)
		return __LINE__;
	if (is->max_ee || is->max_rdd || is->max_ee_rd_atom || is->max_raw_ipv6_qp || is->max_fmr)
		return __LINE__;
	return ex.completion_timestamp_mask == (UINT64_C(1) << 48) - 1 &&
			       ex.cq_mod_caps.max_cq_count == UINT16_MAX &&
			       ex.cq_mod_caps.max_cq_period == UINT16_MAX
		       ? 0
		       : __LINE__;
}

static int names_are(struct ibv_context *c, const struct drv_device_attr *d)
{
	if (DIFFER(be64toh(ibv_get_device_guid(c->device)), d->node_guid) ||
	    strcmp(ibv_get_device_name(c->device), c->device->name) ||
	    c->num_comp_vectors != (int)d->comp_vectors)
		return __LINE__;
	if (strncmp(c->device->ibdev_path, "/sys/class/infiniband/", SYS_CHARS) ||
	    strcmp(c->device->ibdev_path + SYS_CHARS, c->device->name) ||
	    strcmp(c->device->dev_name, "uverbs0") ||
	    strcmp(c->device->dev_path, "/sys/class/infiniband_verbs/uverbs0"))
		return __LINE__;
	if (strcmp(ibv_node_type_str(IBV_NODE_CA), "InfiniBand channel adapter") ||
	    strcmp(ibv_node_type_str(IBV_NODE_SWITCH), "unknown") ||
	    !strcmp(ibv_port_state_str(IBV_PORT_ACTIVE), ibv_port_state_str(IBV_PORT_DOWN)))
		return __LINE__;
	return 0;
}

/* What a simulated process does not have. */
static int absent(struct ibv_context *c)
{
	char text[8];

	errno = 0;
	return ibv_get_device_index(c->device) == -1 && !ibv_fork_init() &&
			       ibv_is_fork_initialized() == IBV_FORK_UNNEEDED &&
			       ibv_read_sysfs_file("/", "x", text, sizeof(text)) == -1 &&
			       errno == ENOENT
		       ? 0
		       : __LINE__;
}

static int port_is(struct ibv_context *c, const struct drv_port_attr *p)
{
	struct ibv_port_attr is;

	if (!ibv_query_port(c, NO_PORT, &is) || ibv_query_port(c, 1, &is))
		return __LINE__;
	if (DIFFER(is.state, IBV_PORT_ACTIVE) || DIFFER(is.lid, p->lid) ||
	    DIFFER(is.sm_lid, p->sm_lid) || DIFFER(is.lmc, p->lmc) ||
	    DIFFER(is.active_mtu, IBV_MTU_4096) || DIFFER(is.max_mtu, IBV_MTU_4096))
		return __LINE__;
	return is.link_layer == IBV_LINK_LAYER_INFINIBAND ? 0 : __LINE__;
}

static int tables_are(struct ibv_context *c, const struct truth *t)
{
	struct ibv_gid_entry table[GIDS], one;
	enum ibv_gid_type_sysfs type;
	union ibv_gid gid;
	__be16 pkey;
	ssize_t n;

	if (ibv_query_gid(c, 1, 0, &gid) || memcmp(gid.raw, t->gid, sizeof(t->gid)) ||
	    !ibv_query_gid(c, NO_PORT, 0, &gid) || errno != EINVAL)
		return __LINE__;
	if (ibv_query_gid_ex(c, 1, 0, &one, 0) || one.gid_index || one.port_num != 1 ||
	    one.gid_type != IBV_GID_TYPE_IB || memcmp(one.gid.raw, t->gid, sizeof(t->gid)) ||
	    ibv_query_gid_ex(c, 1, 0, &one, 1) != EINVAL ||
	    ibv_query_gid_ex(c, UINT8_MAX + 2, 0, &one, 0) != EINVAL || one.port_num != 1)
		return __LINE__;
	n = ibv_query_gid_table(c, table, GIDS, 0);
	if (n != (ssize_t)t->gids || memcmp(table[0].gid.raw, t->gid, sizeof(t->gid)) ||
	    table[n - 1].port_num != t->device.ports ||
	    table[n - 1].gid_index != t->device.gids[t->device.ports] - 1 ||
	    ibv_query_gid_table(c, table, (size_t)n, 0) != n ||
	    ibv_query_gid_table(c, table, (size_t)n - 1, 0) != -EINVAL ||
	    ibv_query_gid_table(c, table, GIDS, 1) != -EINVAL)
		return __LINE__;
	if (ibv_query_gid_type(c, 1, 0, &type) || type != IBV_GID_TYPE_SYSFS_IB_ROCE_V1)
		return __LINE__;
	if (ibv_query_pkey(c, 1, 0, &pkey) || pkey != htobe16(0xffff) ||
	    ibv_get_pkey_index(c, 1, pkey) || ibv_get_pkey_index(c, 1, htobe16(0x7abc)) != -1 ||
	    !ibv_query_pkey(c, 1, -1, &pkey) || errno != EINVAL)
		return __LINE__;
	return 0;
}

/* Each rate there and back. Source: IBA 9.11.1, static rate control: multiples of 2.5 Gb/s. */
static int rates_are(void)
{
	static const struct {
		enum ibv_rate rate;
		int mult, mbps;
	} rates[] = {
		{IBV_RATE_2_5_GBPS, 1, 2500},       {IBV_RATE_5_GBPS, 2, 5000},
		{IBV_RATE_10_GBPS, 4, 10000},       {IBV_RATE_20_GBPS, 8, 20000},
		{IBV_RATE_30_GBPS, 12, 30000},      {IBV_RATE_40_GBPS, 16, 40000},
		{IBV_RATE_60_GBPS, 24, 60000},      {IBV_RATE_80_GBPS, 32, 80000},
		{IBV_RATE_120_GBPS, 48, 120000},    {IBV_RATE_28_GBPS, 11, 28125},
		{IBV_RATE_50_GBPS, 20, 53125},      {IBV_RATE_400_GBPS, 160, 425000},
		{IBV_RATE_600_GBPS, 240, 637500},   {IBV_RATE_800_GBPS, 320, 850000},
		{IBV_RATE_1200_GBPS, 480, 1275000},
	};
	/* encoded with 66 bits for 64: no multiples of the base rate */
	static const struct {
		enum ibv_rate rate;
		int mbps;
	} odd[] = {
		{IBV_RATE_14_GBPS, 14062},   {IBV_RATE_56_GBPS, 56250},
		{IBV_RATE_112_GBPS, 112500}, {IBV_RATE_168_GBPS, 168750},
		{IBV_RATE_25_GBPS, 25781},   {IBV_RATE_100_GBPS, 103125},
		{IBV_RATE_200_GBPS, 206250}, {IBV_RATE_300_GBPS, 309375},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		if (ibv_rate_to_mult(rates[i].rate) != rates[i].mult ||
		    mult_to_ibv_rate(rates[i].mult) != rates[i].rate ||
		    ibv_rate_to_mbps(rates[i].rate) != rates[i].mbps ||
		    mbps_to_ibv_rate(rates[i].mbps) != rates[i].rate)
			return __LINE__;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		if (ibv_rate_to_mult(odd[i].rate) != -1 ||
		    ibv_rate_to_mbps(odd[i].rate) != odd[i].mbps ||
		    mbps_to_ibv_rate(odd[i].mbps) != odd[i].rate)
			return __LINE__;
	if (ibv_rate_to_mult((enum ibv_rate)NO_RATE) != -1 ||
	    ibv_rate_to_mbps((enum ibv_rate)NO_RATE) != -1 ||
	    ibv_rate_to_mult(IBV_RATE_MAX) != -1 || ibv_rate_to_mbps(IBV_RATE_MAX) != -1)
		return __LINE__;
	return mult_to_ibv_rate(-1) == IBV_RATE_MAX && mbps_to_ibv_rate(1) == IBV_RATE_MAX
		       ? 0
		       : __LINE__;
}

static int clock_runs(struct ibv_context *c)
{
	struct ibv_values_ex early = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK}, late = early;

	if (ibv_query_rt_values_ex(c, &early))
		return __LINE__;
	process_sleep_us(1);
	if (ibv_query_rt_values_ex(c, &late) || late.comp_mask != IBV_VALUES_MASK_RAW_CLOCK ||
	    late.raw_clock.tv_nsec <= early.raw_clock.tv_nsec)
		return __LINE__;
	/* what it does not know, it does not tell */
	late.comp_mask = IBV_VALUES_MASK_RAW_CLOCK | IBV_VALUES_MASK_RESERVED;
	if (ibv_query_rt_values_ex(c, &late) || late.comp_mask != IBV_VALUES_MASK_RAW_CLOCK)
		return __LINE__;
	late.comp_mask = 0;
	return ibv_query_rt_values_ex(c, &late) || late.comp_mask ? __LINE__ : 0;
}

static int program(void *arg)
{
	const struct truth *t = arg;
	int rc, n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *c = list ? ibv_open_device(list[0]) : NULL;

	if (!c || n != 1 || list[n])
		return __LINE__;
	ibv_free_device_list(list);
	rc = device_is(c, &t->device, t->mhz);
	if (!rc)
		rc = limits_are(c, &t->device);
	if (!rc)
		rc = names_are(c, &t->device);
	if (!rc)
		rc = absent(c);
	if (!rc)
		rc = port_is(c, &t->port);
	if (!rc)
		rc = tables_are(c, t);
	if (!rc)
		rc = rates_are();
	if (!rc)
		rc = clock_runs(c);
	return rc ? rc : ibv_close_device(c) ? __LINE__ : 0;
}

SCENARIO(process_queries, "a program is told what the driver knows of device, port and tables",
	 .no_qps = true)
{
	struct truth t = {.gids = 0};

	must(drv_query_device(a->dev, &t.device));
	must(drv_query_port(a->dev, 1, &t.port));
	must(drv_query_clock(a->dev, &t.mhz));
	for (unsigned port = 1; port <= t.device.ports; port++)
		t.gids += t.device.gids[port];
	must(drv_query_gid(a->dev, 1, 0, t.gid));
	expect_exit(start_process(a, program, &t), 0);
}
