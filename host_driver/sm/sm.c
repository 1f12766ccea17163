// SPDX-License-Identifier: Apache-2.0
/* See sm.h. */
#include "host_driver/sm/sm.h"
#include "host_driver/drv/trace.h"
#include "host_driver/mlx4/mad.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <string.h>

#define MS_PS           UINT64_C(1000000000)
#define LINK_TIMEOUT_PS (1000 * MS_PS)
#define LINK_POLL_PS    (MS_PS / 10)
#define SMP_TIMEOUT_PS  (10 * MS_PS)

enum {
	SMP_RETRIES = 3,
	SUBNET_TIMEOUT = 18,
	LID_FIRST = 1,
	LID_LAST = 0xbfff,
	LMC_MAX = 7,
	SLS = 16
};

struct sm {
	struct drv_device *dev;
	unsigned port;
	struct sm_options o;
	struct sm_result *result;
};

/* One end of the cable. Our own is reached by MAD_IFC, the other one by an SMP of one hop. */
struct sm_end {
	struct sm *sm;
	struct sm_port *port;
	bool remote;
	struct port_info info;
};

/* --- SMPs --- */

static void smp_fill(const struct sm_end *end, enum mad_method method, enum smp_attr attr,
		     uint32_t mod, const void *data, struct smp *smp)
{
	struct mad_hdr *hdr = smp_hdr(smp);

	memset(smp, 0, sizeof(*smp));
	mad_hdr_set_base_version(hdr, MAD_BASE_VERSION);
	mad_hdr_set_mgmt_class(hdr, MAD_CLASS_SUBN_DR);
	mad_hdr_set_class_version(hdr, 1);
	mad_hdr_set_method(hdr, method);
	mad_hdr_set_attr_id(hdr, attr);
	mad_hdr_set_attr_mod(hdr, mod);
	smp_set_dr_slid(smp, LID_PERMISSIVE);
	smp_set_dr_dlid(smp, LID_PERMISSIVE);
	if (end->remote) {
		mad_hdr_set_hop_count(hdr, 1);
		smp_initial_path_ptr(smp)[1] = (uint8_t)end->sm->port;
	}
	if (data)
		memcpy(smp_data_ptr(smp), data, smp_data_size);
}

static int smp_exchange(struct sm_end *end, struct smp *smp)
{
	const struct drv_mad_addr to = {.dlid = LID_PERMISSIVE, .qpn = QPN_SMI};
	struct sm *sm = end->sm;
	struct smp response;
	int rc = -ETIMEDOUT;

	for (unsigned i = 0; rc == -ETIMEDOUT && i <= sm->o.smp_retries; i++) {
		sm->result->smps_sent++;
		if (i)
			sm->result->smps_retried++;
		rc = drv_mad_call(sm->dev, sm->port, QPN_SMI, &to, smp, &response,
				  sm->o.smp_timeout_ps);
	}
	if (!rc)
		*smp = response;
	return rc;
}

/* `data` has 64 bytes. With Set they are written; afterwards they hold the answer. */
static int smp_do(struct sm_end *end, enum mad_method method, enum smp_attr attr, uint32_t mod,
		  void *data)
{
	struct smp smp;
	int rc;

	smp_fill(end, method, attr, mod, method == MAD_METHOD_SET ? data : NULL, &smp);
	rc = smp_exchange(end, &smp);
	if (!rc && mad_hdr_get_status(smp_hdr(&smp)) & (SMP_DIRECTION - 1))
		rc = -EIO;
	if (rc) {
		end->sm->result->smps_failed++;
		return rc;
	}
	memcpy(data, smp_data_ptr(&smp), smp_data_size);
	return 0;
}

/* --- what is there --- */

/* The rate that results from width and speed. */
static unsigned rate_of(const struct port_info *info)
{
	static const struct {
		unsigned lanes, speed, ext_speed, rate;
	} rates[] = {
		{1, LINK_SPEED_SDR, 0, IB_RATE_2_5_GBPS},
		{1, LINK_SPEED_DDR, 0, IB_RATE_5_GBPS},
		{1, LINK_SPEED_QDR, 0, IB_RATE_10_GBPS},
		{4, LINK_SPEED_SDR, 0, IB_RATE_10_GBPS},
		{4, LINK_SPEED_DDR, 0, IB_RATE_20_GBPS},
		{4, LINK_SPEED_QDR, 0, IB_RATE_40_GBPS},
		{8, LINK_SPEED_SDR, 0, IB_RATE_20_GBPS},
		{8, LINK_SPEED_DDR, 0, IB_RATE_40_GBPS},
		{8, LINK_SPEED_QDR, 0, IB_RATE_80_GBPS},
		{12, LINK_SPEED_SDR, 0, IB_RATE_30_GBPS},
		{12, LINK_SPEED_DDR, 0, IB_RATE_60_GBPS},
		{12, LINK_SPEED_QDR, 0, IB_RATE_120_GBPS},
		{1, 0, LINK_EXT_SPEED_FDR, IB_RATE_14_GBPS},
		{4, 0, LINK_EXT_SPEED_FDR, IB_RATE_56_GBPS},
		{8, 0, LINK_EXT_SPEED_FDR, IB_RATE_112_GBPS},
		{12, 0, LINK_EXT_SPEED_FDR, IB_RATE_168_GBPS},
		{1, 0, LINK_EXT_SPEED_EDR, IB_RATE_25_GBPS},
		{4, 0, LINK_EXT_SPEED_EDR, IB_RATE_100_GBPS},
		{8, 0, LINK_EXT_SPEED_EDR, IB_RATE_200_GBPS},
		{12, 0, LINK_EXT_SPEED_EDR, IB_RATE_300_GBPS},
	};
	static const unsigned lanes[] = {[LINK_WIDTH_1X] = 1,
					 [LINK_WIDTH_4X] = 4,
					 [LINK_WIDTH_8X] = 8,
					 [LINK_WIDTH_12X] = 12};
	const unsigned width = port_info_get_width_active(info),
		       ext = port_info_get_ext_speed_active(info),
		       speed = ext ? 0 : port_info_get_speed_active(info);

	for (size_t i = 0; width <= LINK_WIDTH_12X && i < ARRAY_SIZE(rates); i++)
		if (rates[i].lanes == lanes[width] && rates[i].speed == speed &&
		    rates[i].ext_speed == ext)
			return rates[i].rate;
	return IB_RATE_2_5_GBPS;
}

static int info_get(struct sm_end *end)
{
	int rc = smp_do(end, MAD_METHOD_GET, SMP_ATTR_PORT_INFO, end->port->port, &end->info);

	if (rc)
		return rc;
	end->port->lid = port_info_get_lid(&end->info);
	end->port->lmc = port_info_get_lmc(&end->info);
	end->port->state = (enum ibv_port_state)port_info_get_state(&end->info);
	end->port->mtu = (enum ibv_mtu)port_info_get_neighbor_mtu(&end->info);
	end->port->vls = port_info_get_oper_vls(&end->info);
	end->port->gid_prefix = port_info_get_gid_prefix(&end->info);
	end->port->rate = rate_of(&end->info);
	return 0;
}

static int end_discover(struct sm_end *end)
{
	struct node_info node;
	int rc = smp_do(end, MAD_METHOD_GET, SMP_ATTR_NODE_INFO, 0, &node);

	if (rc)
		return rc;
	end->port->node_guid = node_info_get_node_guid(&node);
	end->port->port_guid = node_info_get_port_guid(&node);
	/* the SMP to our own port goes through no wire, so its answer need not name the port */
	end->port->port = end->remote ? node_info_get_local_port(&node) : end->sm->port;
	return info_get(end);
}

/* There is no event for training, so this queries PortInfo until the port leaves DOWN. */
static int link_wait(struct sm_end *own)
{
	struct platform *p = drv_platform(own->sm->dev);
	const uint64_t deadline = p->ops->now_ps(p) + own->sm->o.link_timeout_ps;
	int rc;

	for (;;) {
		rc = info_get(own);
		if (rc || own->port->state >= IBV_PORT_INIT)
			return rc;
		if (p->ops->now_ps(p) >= deadline)
			return -ENOLINK;
		p->ops->sleep_ps(p, LINK_POLL_PS);
	}
}

/* --- configuration --- */

static unsigned least(unsigned a, unsigned b, unsigned limit)
{
	const unsigned n = a < b ? a : b;

	return limit && limit < n ? limit : n;
}

/* Gives the fields in which 0 means "do not change" that value. */
static void info_no_change(struct port_info *info)
{
	port_info_set_state(info, PORT_STATE_NOP);
	port_info_set_phys_state(info, PORT_PHYS_NOP);
	port_info_set_down_default(info, 0);
	port_info_set_width_enabled(info, 0);
	port_info_set_speed_enabled(info, 0);
	port_info_set_ext_speed_enabled(info, 0);
	port_info_set_client_rereg(info, 0);
}

static int pkeys_set(struct sm_end *end)
{
	struct pkey_table table;
	int rc = smp_do(end, MAD_METHOD_GET, SMP_ATTR_PKEY_TABLE, 0, &table);

	if (rc || pkey_table_get(&table, 0) == PKEY_DEFAULT)
		return rc;
	pkey_table_set(&table, 0, PKEY_DEFAULT);
	return smp_do(end, MAD_METHOD_SET, SMP_ATTR_PKEY_TABLE, 0, &table);
}

/* With fewer VLs than the port has, no SL may be on one that is not in use. */
static int sl2vl_write(struct sm_end *end, unsigned vls)
{
	const unsigned count = vls > 1 ? 1u << (vls - 1) : 1; /* 15 of code 5 need no table */
	struct sl2vl table = {0};

	if (vls >= port_info_get_vl_cap(&end->info))
		return 0;
	for (unsigned sl = 0; sl < SLS; sl++)
		sl2vl_set(&table, sl, sl % count);
	return smp_do(end, MAD_METHOD_SET, SMP_ATTR_SL2VL, 0, &table);
}

static int end_configure(struct sm_end *end, unsigned lid, unsigned sm_lid, unsigned mtu,
			 unsigned vls)
{
	const struct sm_options *o = &end->sm->o;
	struct port_info info = end->info;
	int rc;

	info_no_change(&info);
	port_info_set_lid(&info, lid);
	port_info_set_lmc(&info, o->lmc);
	port_info_set_sm_lid(&info, sm_lid);
	port_info_set_sm_sl(&info, 0);
	port_info_set_neighbor_mtu(&info, mtu);
	port_info_set_oper_vls(&info, vls);
	port_info_set_subnet_timeout(&info, o->subnet_timeout);
	rc = smp_do(end, MAD_METHOD_SET, SMP_ATTR_PORT_INFO, end->port->port, &info);
	if (!rc)
		rc = sl2vl_write(end, vls);
	return rc ? rc : pkeys_set(end);
}

static int end_state(struct sm_end *end, enum port_state state)
{
	struct port_info info;
	int rc = info_get(end);

	if (rc || port_info_get_state(&end->info) >= (uint32_t)state)
		return rc;
	info = end->info;
	info_no_change(&info);
	port_info_set_state(&info, state);
	rc = smp_do(end, MAD_METHOD_SET, SMP_ATTR_PORT_INFO, end->port->port, &info);
	return rc ? rc : info_get(end);
}

static int end_verify(struct sm_end *end, unsigned lid, unsigned mtu, unsigned vls)
{
	int rc = info_get(end);

	if (rc)
		return rc;
	return end->port->state == IBV_PORT_ACTIVE && end->port->lid == lid &&
			       end->port->lmc == end->sm->o.lmc &&
			       (unsigned)end->port->mtu == mtu && end->port->vls == vls
		       ? 0
		       : -EPROTO;
}

static int sm_configure(struct sm *sm, struct sm_end *own, struct sm_end *peer)
{
	struct platform *p = drv_platform(sm->dev);
	const unsigned block = 1u << sm->o.lmc, lid = (sm->o.lid + block - 1) & ~(block - 1);
	const unsigned mtu = least(port_info_get_mtu_cap(&own->info),
				   port_info_get_mtu_cap(&peer->info), sm->o.mtu);
	const unsigned vls = least(port_info_get_vl_cap(&own->info),
				   port_info_get_vl_cap(&peer->info), sm->o.vls);
	int rc = end_configure(own, lid, lid, mtu, vls);

	if (!rc)
		rc = end_configure(peer, lid + block, lid, mtu, vls);
	/* neither end may send data before the other is at least armed */
	if (!rc)
		rc = end_state(own, PORT_STATE_ARMED);
	if (!rc)
		rc = end_state(peer, PORT_STATE_ARMED);
	if (!rc && sm->o.activate_delay_ps)
		p->ops->sleep_ps(p, sm->o.activate_delay_ps);
	if (!rc)
		rc = end_state(peer, PORT_STATE_ACTIVE);
	if (!rc)
		rc = end_state(own, PORT_STATE_ACTIVE);
	if (!rc)
		rc = end_verify(own, lid, mtu, vls);
	return rc ? rc : end_verify(peer, lid + block, mtu, vls);
}

static int sm_look(struct sm *sm, struct sm_end *own, struct sm_end *peer)
{
	int rc = end_discover(own);

	if (!rc)
		rc = link_wait(own);
	if (!rc)
		rc = end_discover(peer);
	if (rc)
		return rc;
	sm->result->peer_found = true;
	sm->result->peer_is_self = own->port->node_guid == peer->port->node_guid;
	return 0;
}

/* Whether there are two blocks of unicast LIDs; the first one begins at a multiple of its size. */
static bool has_room(const struct sm_options *o)
{
	const unsigned block = 1u << o->lmc, first = (o->lid + block - 1) / block;

	return o->lid <= LID_LAST && first + 2 <= (LID_LAST + 1) / block;
}

static int sm_start(struct sm *sm, struct drv_device *dev, unsigned port,
		    const struct sm_options *options, struct sm_result *result)
{
	*sm = (struct sm){.dev = dev, .port = port, .result = result};
	if (options)
		sm->o = *options;
	memset(result, 0, sizeof(*result));
	sm->o.lid = sm->o.lid ? sm->o.lid : LID_FIRST;
	sm->o.link_timeout_ps = sm->o.link_timeout_ps ? sm->o.link_timeout_ps : LINK_TIMEOUT_PS;
	sm->o.smp_timeout_ps = sm->o.smp_timeout_ps ? sm->o.smp_timeout_ps : SMP_TIMEOUT_PS;
	sm->o.smp_retries = sm->o.smp_retries ? sm->o.smp_retries : SMP_RETRIES;
	sm->o.subnet_timeout = sm->o.subnet_timeout ? sm->o.subnet_timeout : SUBNET_TIMEOUT;
	return !port || port > DRV_PORTS_MAX || sm->o.lmc > LMC_MAX || !has_room(&sm->o) ? -EINVAL
											 : 0;
}

int sm_run(struct drv_device *dev, unsigned port, const struct sm_options *options,
	   struct sm_result *result)
{
	struct sm_result scratch;
	struct sm sm;
	struct sm_end own, peer;
	int rc = sm_start(&sm, dev, port, options, result ? result : &scratch);

	if (rc)
		return rc;
	own = (struct sm_end){.sm = &sm, .port = &sm.result->own};
	peer = (struct sm_end){.sm = &sm, .port = &sm.result->peer, .remote = true};
	DRV_ENTER(dev, "port %u", port);
	rc = sm_look(&sm, &own, &peer);
	return DRV_LEAVE(dev, rc ? rc : sm_configure(&sm, &own, &peer));
}

int sm_discover(struct drv_device *dev, unsigned port, const struct sm_options *options,
		struct sm_result *result)
{
	struct sm sm;
	struct sm_end own, peer;
	int rc = sm_start(&sm, dev, port, options, result);

	if (rc)
		return rc;
	own = (struct sm_end){.sm = &sm, .port = &result->own};
	peer = (struct sm_end){.sm = &sm, .port = &result->peer, .remote = true};
	DRV_ENTER(dev, "port %u", port);
	return DRV_LEAVE(dev, sm_look(&sm, &own, &peer));
}
