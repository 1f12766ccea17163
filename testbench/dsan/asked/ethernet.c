// SPDX-License-Identifier: Apache-2.0
/* See ethernet.h. Source of what a port begins with: Linux mlx4_en_set_port_*, mlx4_ib_update_gids. */
#include "testbench/dsan/asked/ethernet.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/hear/trail.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <inttypes.h>

enum { HOSTS = 2, PORTS = 3, FRAME_HEADERS = 18, MBOX = 4096, NAMES = 200, FILTER_WORDS = 128 };

/* The newest mailboxes that the device has taken. */
struct box {
	bool given;
	uint8_t bytes[MBOX];
};

static struct box configs[HOSTS];

static struct port {
	struct box general, receivers, macs, vlans, gids, filter;
	bool typed; /* the table of GIDs is one of RoCE addresses */
	struct {
		unsigned users, vid;
	} joined[DRV_ETH_TABLE];
} ports[HOSTS][PORTS];

static struct port *port_of(const struct checker *c, unsigned port)
{
	return &ports[c->host.platform->host % HOSTS][port % PORTS];
}

#define KEEP(c, command, box)                                                                      \
	((box)->given = checker_read(c, hcr_get_in_param(command), (box)->bytes, MBOX))

static void part_keep(struct checker *c, const struct hcr *command)
{
	const uint32_t modifier = hcr_get_in_mod(command);
	struct port *p = port_of(c, modifier & 0xff);

	switch (modifier >> SET_PORT_PART_SHIFT) {
	case SET_PORT_GENERAL:
		KEEP(c, command, &p->general);
		break;
	case SET_PORT_RQP_CALC:
		KEEP(c, command, &p->receivers);
		break;
	case SET_PORT_MAC_TABLE:
		KEEP(c, command, &p->macs);
		break;
	case SET_PORT_VLAN_TABLE:
		KEEP(c, command, &p->vlans);
		break;
	case SET_PORT_GID_TABLE:
		p->typed = false;
		KEEP(c, command, &p->gids);
		break;
	case SET_PORT_ROCE_TABLE:
		p->typed = true;
		KEEP(c, command, &p->gids);
		break;
	default:
		break;
	}
}

void ethernet_command_done(struct checker *c, const struct hcr *command,
			   const struct hca_command_answer *answer)
{
	const uint32_t opcode = hcr_get_opcode(command);

	if (answer->status || !c->host.platform)
		return;
	if (opcode == HCR_INIT_HCA) {
		memset(ports[c->host.platform->host % HOSTS], 0, sizeof(ports[0]));
		configs[c->host.platform->host % HOSTS].given = false;
	} else if (opcode == HCR_SET_PORT && hcr_get_op_mod(command) == HCR_OM_SET_PORT_ETH)
		part_keep(c, command);
	else if (opcode == HCR_SET_VLAN_FLTR)
		KEEP(c, command, &port_of(c, hcr_get_in_mod(command))->filter);
	else if (opcode == HCR_CONFIG_DEV && hcr_get_op_mod(command) == HCR_OM_CONFIG_DEV_SET)
		KEEP(c, command, &configs[c->host.platform->host % HOSTS]);
}

static void says(const struct ask *a, unsigned port, const char *what, bool given,
		 const struct member *said, size_t n)
{
	const struct member *wrong = given ? member_differs(said, n) : NULL;
	char names[NAMES];

	if (given && !wrong)
		return;
	trail_format(names, sizeof(names));
	if (!given)
		checker_report(
			a->c,
			&(struct breach){RULE_command_sequence, {GUEST_PORT, port}, NULL, NULL},
			"no command was given for the %s, in %s by %s", what, ask_provider(a),
			names);
	else
		checker_report(
			a->c,
			&(struct breach){RULE_context_differs, {GUEST_PORT, port}, NULL, NULL},
			"the %s that was given has %s 0x%" PRIx64 ", and 0x%" PRIx64
			" was asked for, in %s by %s",
			what, wrong->name, wrong->is, wrong->asked, ask_provider(a), names);
}

static bool is_judged(const struct ask *a, unsigned port)
{
	return a->c && port && port < PORTS;
}

void ethernet_general_check(const struct ask *a, unsigned port, const struct drv_eth_config *asked)
{
	const struct port *p = is_judged(a, port) ? port_of(a->c, port) : NULL;
	const struct eth_general *g = p ? (const void *)p->general.bytes : NULL;

	if (!g)
		return;
	says(a, port, "general part", p->general.given,
	     (const struct member[]){
		     {"mtu_valid", eth_general_get_mtu_valid(g), 1},
		     {"pptx_valid", eth_general_get_pptx_valid(g), 1},
		     {"pprx_valid", eth_general_get_pprx_valid(g), 1},
		     {"mtu", eth_general_get_mtu(g), asked->mtu + FRAME_HEADERS},
		     {"pptx", eth_general_get_pptx(g), asked->pause_tx && !asked->pfc_tx},
		     {"pprx", eth_general_get_pprx(g), asked->pause_rx && !asked->pfc_rx},
		     {"pfctx", eth_general_get_pfctx(g), asked->pfc_tx},
		     {"pfcrx", eth_general_get_pfcrx(g), asked->pfc_rx},
	     },
	     8);
}

/* Source: Linux mlx4_SET_PORT_qpn_calc */
void ethernet_receive_check(const struct ask *a, unsigned port, uint32_t qpn)
{
	const struct port *p = is_judged(a, port) ? port_of(a->c, port) : NULL;
	const struct eth_rqp *r = p ? (const void *)p->receivers.bytes : NULL;

	if (r)
		says(a, port, "queue pair for frames", p->receivers.given,
		     (const struct member[]){
			     {"base_qpn", eth_rqp_get_base_qpn(r), qpn},
			     {"mcast", eth_rqp_get_mcast(r), qpn},
			     {"mcast_mode, is it on", !!eth_rqp_get_mcast_mode(r), !!qpn}},
		     3);
}

void ethernet_qp_gone(const struct ask *a, uint32_t qpn)
{
	char names[CHAIN_BYTES];
	struct calls now;

	for (unsigned port = 1; a->c && port < PORTS; port++) {
		const struct port *p = port_of(a->c, port);
		const struct eth_rqp *r = (const void *)p->receivers.bytes;

		if (!p->receivers.given || !eth_rqp_get_mcast_mode(r) ||
		    eth_rqp_get_base_qpn(r) != qpn)
			continue;
		chain_take(&now);
		chain_format(&now, names, sizeof(names));
		checker_report(a->c,
			       &(struct breach){RULE_object_in_use, {GUEST_QP, qpn}, NULL, NULL},
			       "the queue pair is destroyed, and port %u still gives its frames to "
			       "it; by %s",
			       port, names);
	}
}

void ethernet_mac_check(const struct ask *a, unsigned port, const uint8_t mac[MAC_BYTES])
{
	const struct port *p = is_judged(a, port) ? port_of(a->c, port) : NULL;
	const struct eth_mac *e = p ? (const void *)p->macs.bytes : NULL;

	if (e)
		says(a, port, "table of MACs", p->macs.given,
		     (const struct member[]){{"valid", eth_mac_get_valid(e), 1},
					     {"mac", eth_mac_get_mac(e), mac_load(mac)}},
		     2);
}

void ethernet_gid_check(const struct ask *a, unsigned port, unsigned index,
			const struct drv_gid *gid)
{
	static const struct drv_gid none;
	const struct port *p = is_judged(a, port) ? port_of(a->c, port) : NULL;
	const uint8_t *is, *raw = gid ? gid->raw : none.raw;
	const struct eth_roce *e;
	bool v2;

	if (!p || index >= DRV_ETH_TABLE)
		return;
	e = (const void *)(p->gids.bytes + index * sizeof(*e));
	is = p->typed ? e->b : p->gids.bytes + (size_t)index * DRV_GID_BYTES;
	v2 = p->typed && gid && gid->version == 2;
	says(a, port, "table of GIDs", p->gids.given,
	     (const struct member[]){
		     {"a GID whose first half is", be64_load(is), be64_load(raw)},
		     {"a GID whose second half is", be64_load(is + 8), be64_load(raw + 8)},
		     {"version", p->typed ? eth_roce_get_version(e) : 0, v2 ? 2 : 0},
		     {"ipv6", p->typed ? eth_roce_get_ipv6(e) : 0, v2 && !gid_is_ipv4(raw)},
	     },
	     4);
}

/* The filter has the VLANs of the table and no others. */
static void filter_check(const struct ask *a, unsigned port, const struct port *p)
{
	unsigned in_filter = 0, in_table = 0;

	for (unsigned i = 0; i < FILTER_WORDS * sizeof(uint32_t); i++)
		in_filter += (unsigned)__builtin_popcount(p->filter.bytes[i]);
	for (unsigned i = 0; i < DRV_ETH_TABLE; i++)
		in_table += eth_vlan_get_valid(
			(const struct eth_vlan *)(const void *)(p->vlans.bytes +
								i * sizeof(struct eth_vlan)));
	says(a, port, "table of VLANs", p->vlans.given,
	     (const struct member[]){{"a filter with so many VLANs:", in_filter, in_table}}, 1);
}

static void vlan_check(const struct ask *a, unsigned port, unsigned index, unsigned vid)
{
	const struct port *p = port_of(a->c, port);
	const struct eth_vlan *e = (const void *)(p->vlans.bytes + index * sizeof(*e));
	const uint8_t *word = p->filter.bytes + (FILTER_WORDS - 1 - vid / 32) * sizeof(uint32_t);

	says(a, port, "table of VLANs", p->vlans.given,
	     (const struct member[]){{"valid", eth_vlan_get_valid(e), 1},
				     {"vid", eth_vlan_get_vid(e), vid},
				     {"a filter with", be32_load(word) >> vid % 32 & 1, 1}},
	     3);
	if (be32_load(word) >> vid % 32 & 1)
		filter_check(a, port, p);
}

/* Source: Linux __mlx4_register_vlan, __mlx4_unregister_vlan: table->refs[i] */
static void vlan_users_check(const struct ask *a, const struct drv_device *dev, unsigned port,
			     unsigned index)
{
	const unsigned should = port_of(a->c, port)->joined[index].users;
	const unsigned is = dev->eth[port].vlan_users[index];
	char names[NAMES];

	if (is == should)
		return;
	trail_format(names, sizeof(names));
	checker_report(a->c, &(struct breach){RULE_users_differ, {GUEST_PORT, port}, NULL, NULL},
		       "the VLAN of entry %u counts %u users, and has %u, in %s by %s", index, is,
		       should, ask_provider(a), names);
}

void ethernet_vlan_joined(const struct ask *a, const struct drv_device *dev, unsigned port,
			  unsigned index, unsigned vid)
{
	struct port *p = is_judged(a, port) ? port_of(a->c, port) : NULL;

	if (!p || index >= DRV_ETH_TABLE || vid >= FILTER_WORDS * 32)
		return;
	p->joined[index].users++;
	p->joined[index].vid = vid;
	vlan_check(a, port, index, vid);
	vlan_users_check(a, dev, port, index);
}

/* The device may have refused the command, and the caller can do nothing about it. */
static void vlan_left_check(const struct ask *a, unsigned port, unsigned index)
{
	const struct port *p = port_of(a->c, port);
	const struct eth_vlan *e = (const void *)(p->vlans.bytes + index * sizeof(*e));

	if (!a->refused.rc)
		says(a, port, "table of VLANs", p->vlans.given,
		     (const struct member[]){{"valid", eth_vlan_get_valid(e), 0}}, 1);
}

void ethernet_vlan_left(const struct ask *a, const struct drv_device *dev, unsigned port,
			unsigned index)
{
	struct port *p = is_judged(a, port) ? port_of(a->c, port) : NULL;

	if (!p || index >= DRV_ETH_TABLE || !p->joined[index].users)
		return;
	if (--p->joined[index].users)
		vlan_check(a, port, index, p->joined[index].vid);
	else
		vlan_left_check(a, port, index);
	vlan_users_check(a, dev, port, index);
}

void ethernet_up_check(const struct drv_device *dev, unsigned port)
{
	static const struct drv_eth_config standard = {.mtu = 4200};
	const struct ask *a = ask_running();
	struct drv_gid gid = {.version = 1};
	uint8_t mac[MAC_BYTES];

	if (!a)
		return;
	mac_store(mac, query_port_get_mac(&dev->port_cap[port]));
	gid_from_mac(mac, VLAN_NONE, gid.raw);
	ethernet_general_check(a, port, &standard);
	ethernet_mac_check(a, port, mac);
	ethernet_gid_check(a, port, 0, &gid);
	gid.version = 2;
	if (dev_cap_get_bmme_flags(&dev->cap) & (uint32_t)cap_bit(BMME_ROCE_V1_V2))
		ethernet_gid_check(a, port, 1, &gid);
}

/* Source: Linux mlx4_config_roce_v2_port */
void ethernet_roce_port_check(const struct drv_device *dev)
{
	const struct ask *a = ask_running();
	const struct box *box;
	const struct config_dev *d;

	if (!a || !a->c ||
	    !(dev_cap_get_bmme_flags(&dev->cap) & (uint32_t)cap_bit(BMME_ROCE_V1_V2)))
		return;
	box = &configs[a->c->host.platform->host % HOSTS];
	d = (const void *)box->bytes;
	says(a, 1, "UDP port of RoCE", box->given,
	     (const struct member[]){
		     {"update_roce_port", config_dev_get_update_roce_port(d), 1},
		     {"roce_port", config_dev_get_roce_port(d), ROCE_UDP_PORT},
	     },
	     2);
}
