// SPDX-License-Identifier: Apache-2.0
/* The link: commands in IBCCtrl, the state in IBCStatus, and the agents over them. */
#include "host_driver/ipath/ipath.h"

#include <errno.h>

enum { PORT = 1, LMC_SHIFT = 16, SL_SHIFT = 16 };

#define NS_PS UINT64_C(1000)

/* The longest packet: a payload of 4 KiB with all headers and its ICRC. */
enum { MAX_DWORDS = (4096 + 128) / 4, LINK_UP_INIT = 2 };

void ipath_link_command(struct ipath_device *d, unsigned command, unsigned init)
{
	ipath_write(d, IPATH_IBCCtrl,
		    (uint64_t)MAX_DWORDS << IPATH_MAX_SHIFT |
			    (uint64_t)command << IPATH_COMMAND_SHIFT |
			    (uint64_t)init << IPATH_INIT_SHIFT);
	ipath_flush_writes(d);
}

/* Reads the state of the link. */
static void status_read(struct ipath_device *d)
{
	const uint64_t status = ipath_read(d, IPATH_IBCStatus);

	d->state = (enum ibv_port_state)(IBV_PORT_DOWN + (status >> IPATH_STATUS_STATE_SHIFT & 7));
	switch (status & 0xf) {
	case IPATH_TRAINING_UP:
		d->phys = PORT_PHYS_LINK_UP;
		break;
	case IPATH_TRAINING_DISABLED:
		d->phys = PORT_PHYS_DISABLED;
		break;
	case IPATH_TRAINING_POLL:
		d->phys = PORT_PHYS_POLLING;
		break;
	default:
		d->phys = PORT_PHYS_TRAINING;
	}
}

void ipath_link_changed(struct ipath_device *d)
{
	bool active;

	status_read(d);
	active = d->state == IBV_PORT_ACTIVE;
	if (active == d->told_active)
		return;
	d->told_active = active; /* d->state may have been read before the interrupt came */
	rvt_port_event(d->rvt, PORT, active ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

/* --- hooks --- */

int ipath_set_link_state(struct drv_device *dev, unsigned port, enum rvt_link_command command)
{
	struct ipath_device *d = ipath_of(dev);

	switch (command) {
	case RVT_LINK_DOWN:
		ipath_link_command(d, 0, IPATH_INIT_DISABLE);
		break;
	case RVT_LINK_POLL:
		ipath_link_command(d, 0, LINK_UP_INIT);
		break;
	case RVT_LINK_ARM:
		ipath_link_command(d, IPATH_COMMAND_ARMED, 0);
		break;
	case RVT_LINK_ACTIVE:
		ipath_link_command(d, IPATH_COMMAND_ACTIVE, 0);
		break;
	}
	return 0;
}

int ipath_get_lid(struct drv_device *dev, unsigned port, unsigned *lid, unsigned *lmc)
{
	const uint32_t value = ipath_agents_register(ipath_of(dev)->agents, FW_PORT_LID);

	*lid = value & 0xffff;
	*lmc = value >> LMC_SHIFT & 7;
	return 0;
}

enum ibv_mtu ipath_qp_mtu(struct drv_device *dev, unsigned port, unsigned sl, enum ibv_mtu wanted)
{
	const unsigned mtu = ipath_agents_register(ipath_of(dev)->agents, FW_PORT_MTU);

	return (unsigned)wanted < mtu ? wanted : (enum ibv_mtu)mtu;
}

int ipath_query_port_state(struct drv_device *dev, unsigned port, struct drv_port_attr *attr)
{
	struct ipath_device *d = ipath_of(dev);
	struct port_info pi;
	int rc = drv_smp_get(dev, port, SMP_ATTR_PORT_INFO, port, &pi);

	if (rc)
		return rc;
	*attr = (struct drv_port_attr){
		.state = d->state,
		.phys_state = d->phys,
		.max_mtu = (enum ibv_mtu)port_info_get_mtu_cap(&pi),
		.active_mtu = (enum ibv_mtu)port_info_get_neighbor_mtu(&pi),
		.lid = port_info_get_lid(&pi),
		.lmc = port_info_get_lmc(&pi),
		.sm_lid = port_info_get_sm_lid(&pi),
		.sm_sl = port_info_get_sm_sl(&pi),
		.active_width = port_info_get_width_active(&pi),
		.active_speed = port_info_get_speed_active(&pi),
		.vl_cap = port_info_get_vl_cap(&pi),
		.oper_vls = port_info_get_oper_vls(&pi),
		.gid_count = IPATH_GIDS,
		.pkey_count = IPATH_PKEYS_HERE,
		.subnet_timeout = port_info_get_subnet_timeout(&pi),
		.bad_pkeys = port_info_get_pkey_violations(&pi),
		.bad_qkeys = port_info_get_qkey_violations(&pi),
		.cap_mask = port_info_get_cap_mask(&pi),
	};
	return 0;
}

void ipath_node_desc_changed(struct drv_device *dev, const char text[64])
{
	ipath_agents_describe(ipath_of(dev)->agents, text);
}

/* --- the agents --- */

void ipath_cast_count(struct ipath_device *d, const uint8_t *header, bool received)
{
	const unsigned dlid = lrh_get_dlid((const struct lrh *)header);
	const bool group = dlid >= LID_MCAST_FIRST && dlid != LID_PERMISSIVE;

	d->casts[(group ? IPATH_MULTICAST_XMIT : IPATH_UNICAST_XMIT) + received]++;
}

/* The chip's counters, in the order of those of the agents. They run on when software sets a counter. */
static void counters_read(struct ipath_device *d, uint64_t counted[FW_PC_COUNT])
{
	static const struct {
		uint16_t offset;
		int8_t port;
	} rows[] = {
#define IS_PORT(counter)                         counter
#define IS_OWN(counter)                          -1
#define IS_NONE(counter)                         -1
#define C(name, offset_, what, counter, meaning) {offset_, IS_##what(counter)},
		IPATH_COUNTER_ROWS(C)
#undef C
	};
	/* PortRcvErrors (IBA 16.1.3.5) is what the chip counts by causes, as qib_get_counters() in
	 * Linux adds them up */
	static const enum ipath_counter errors[] = {
		IPATH_COUNT_RxLenErrCnt, IPATH_COUNT_RxICRCErrCnt, IPATH_COUNT_RxVCRCErrCnt,
		IPATH_COUNT_RxBadFormatCnt};

	memset(counted, 0, FW_PC_COUNT * sizeof(*counted));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].port >= 0)
			counted[rows[i].port] = ipath_read(d, IPATH_COUNTERS + rows[i].offset);
	memcpy(&counted[FW_PC_UNICAST_XMIT], d->casts, sizeof(d->casts));
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		counted[FW_PC_RCV_ERRORS] += ipath_read(d, IPATH_COUNTERS + rows[errors[i]].offset);
}

/* A request for the performance agent, which reads and sets counters. */
static bool counters_process(struct ipath_device *d, unsigned slid, void *mad, bool own)
{
	uint64_t *counters = ipath_agents_counters(d->agents);
	uint64_t counted[FW_PC_COUNT];
	bool answered;

	counters_read(d, counted);
	for (unsigned n = 0; n < FW_PC_COUNT; n++)
		counters[n] = counted[n] - d->counted_from[n];
	answered = ipath_agents_process(d->agents, slid, mad, own);
	for (unsigned n = 0; n < FW_PC_COUNT; n++)
		d->counted_from[n] = counted[n] - counters[n];
	return answered;
}

/* A request for the subnet agent, which reads and sets the numbers of wrong keys. */
static bool smp_process(struct ipath_device *d, unsigned slid, void *mad, bool own)
{
	struct rvt_violations now, *from = &d->violated_from;
	bool answered;

	rvt_violations(d->rvt, PORT, &now);
	ipath_agents_violations(d->agents, now.pkeys - from->pkeys, now.qkeys - from->qkeys);
	answered = ipath_agents_process(d->agents, slid, mad, own);
	from->pkeys = now.pkeys - ipath_agents_register(d->agents, FW_PORT_BAD_PKEY);
	from->qkeys = now.qkeys - ipath_agents_register(d->agents, FW_PORT_BAD_QKEY);
	return answered;
}

static void wishes_execute(struct ipath_device *d)
{
	unsigned state;

	switch (ipath_agents_wish(d->agents, &state)) {
	case IPATH_WISH_UP:
		ipath_link_command(d, 0, LINK_UP_INIT);
		return;
	case IPATH_WISH_DOWN:
		ipath_link_command(d, IPATH_COMMAND_DOWN, 0);
		return;
	case IPATH_WISH_DISABLE:
		ipath_link_command(d, 0, IPATH_INIT_DISABLE);
		return;
	case IPATH_WISH_NONE:
		break;
	}
	if (state == IBV_PORT_ARMED)
		ipath_link_command(d, IPATH_COMMAND_ARMED, 0);
	else if (state == IBV_PORT_ACTIVE)
		ipath_link_command(d, IPATH_COMMAND_ACTIVE, 0);
}

int ipath_process_mad(struct drv_device *dev, unsigned port, const struct drv_mad_source *source,
		      const void *in, void *out)
{
	struct ipath_device *d = ipath_of(dev);
	uint8_t mad[MAD_BYTES];
	const struct mad_hdr *hdr = (const struct mad_hdr *)mad;
	const unsigned slid = source ? source->slid : 0;
	bool answered;

	memcpy(mad, in, sizeof(mad));
	status_read(d);
	ipath_agents_port(d->agents, d->state, d->phys, d->p->ops->now_ps(d->p) / NS_PS);
	answered = mad_hdr_get_mgmt_class(hdr) == MAD_CLASS_PERF
			   ? counters_process(d, slid, mad, !source)
			   : smp_process(d, slid, mad, !source);
	wishes_execute(d);
	if (!answered)
		return -EINVAL;
	memcpy(out, mad, sizeof(mad));
	return 0;
}
