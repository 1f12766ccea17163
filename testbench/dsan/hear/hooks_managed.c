// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: management datagrams, ports, multicast groups. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/ethernet.h"
#include "testbench/dsan/device/dead.h"
#include "testbench/dsan/own/cq_waits.h"
#include "testbench/dsan/mads/groups.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/mads/mads.h"
#include "testbench/dsan/mads/timeouts.h"
#include "testbench/dsan/held/taken.h"
#include "testbench/dsan/mads/told.h"

#include "host_driver/drv/ops.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "host_driver/net/net.h"
#include "host_driver/sm/sm.h"
#include "model/interface/commands.h"

/* Completions come until a queue pair is reset, and the driver finds whose they are in its table. Source:
 * Linux destroy_qp_common: mlx4_qp_remove behind 2RST_QP */
static void reset_given(struct checker *c, const struct hcr *command)
{
	const uint32_t qpn = hcr_get_in_mod(command);
	const struct drv_device *dev = c->dead.dev;

	if (hcr_get_opcode(command) == HCR_2RST_QP && dev && dev->qp_table &&
	    !dev->qp_table[qpn & drv_table_mask(dev, DRV_T_QPC)])
		checker_report(c, &(struct breach){RULE_object_in_use, {GUEST_QP, qpn}, NULL, NULL},
			       "the queue pair was taken out of the driver's table before its "
			       "reset: completions that come until then are nobody's");
}

static void command_given(struct checker *c, const struct hcr *command)
{
	reset_given(c, command);
	mads_ifc_given(c, command);
	groups_written(c, command);
	told_command(c, command);
}

static void command_done(struct checker *c, const struct hcr *command,
			 const struct hca_command_answer *answer)
{
	mads_ifc_done(c, command, answer);
	groups_answered(c, command, answer);
	queried_done(c, command, answer);
	ethernet_command_done(c, command, answer);
}

static void eqe_looked_at(struct checker *c, const struct eqe *e, const void *pc)
{
	asked_answer_seen(c, e);
	told_eqe(c, e, pc);
	cq_waits_eqe(c, e, pc);
}

static void eqes_end(struct checker *c, const void *pc)
{
	asked_answer_end(c);
	told_eqes_end(c, pc);
	cq_waits_eqes_end(c, pc);
}

const struct watcher hooks_watcher = {
	.call_ends = hooks_call_ends,
	.command = command_given,
	.command_done = command_done,
	.eqe = eqe_looked_at,
	.eqes_end = eqes_end,
};

/* --- MADs --- */

W(int, drv_mad_send, struct drv_device *dev, unsigned port, unsigned qpn,
  const struct drv_mad_addr *to, const void *mad)
{
	struct checker *c = checker_of_host(drv_platform(dev)->host);
	int rc;

	if (c)
		mads_asked(c, port, qpn, to, mad, HERE);
	rc = __real_drv_mad_send(dev, port, qpn, to, mad);
	if (c)
		mads_asked_end(c, port, qpn, mad, rc);
	return rc;
}

W(int, drv_mad_call, struct drv_device *dev, unsigned port, unsigned qpn,
  const struct drv_mad_addr *to, void *request, void *response, uint64_t timeout_ps)
{
	__attribute__((cleanup(mads_call_drop))) struct mad_call call;
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	mads_call(&call, a.c, port, qpn, to, request, response);
	if (a.c)
		timeouts_call(a.c, request, timeout_ps);
	if (a.c && qpn == QPN_SMI)
		mads_managed(a.c, port, request, HERE);
	rc = __real_drv_mad_call(dev, port, qpn, to, request, response, timeout_ps);
	if (a.c && qpn == QPN_SMI && !rc)
		mads_managed_end(a.c, port, response, HERE);
	mads_call_end(&call, &a, rc);
	return rc;
}

W(int, sm_run, struct drv_device *dev, unsigned port, const struct sm_options *options,
  struct sm_result *result)
{
	struct checker *c = checker_of_host(drv_platform(dev)->host);
	const int rc = __real_sm_run(dev, port, options, result);

	if (c && !rc)
		mads_swept(c, port, INSIDE(sm_run));
	return rc;
}

W(int, drv_mad_ifc, struct drv_device *dev, unsigned port, const struct drv_mad_source *source,
  const void *in, void *out)
{
	struct mad_ifc_asked mad = {.port = port, .source = source};
	struct smp request;
	ASK a;
	int rc;

	memcpy(mad.in, in, sizeof(mad.in));
	memcpy(&request, in, sizeof(request));
	ask_begin(&a, ASK_MAD_IFC, __func__, drv_platform(dev), 0);
	a.mad = &mad;
	if (a.c)
		mads_ifc_begin(a.c, &mad, HERE);
	rc = __real_drv_mad_ifc(dev, port, source, in, out);
	if (!a.c)
		return rc;
	mads_ifc_end(&a, rc, out);
	if (!rc)
		told_mad(a.c, port, &request, out);
	return rc;
}

W(int, drv_cq_wait_event, struct drv_cq *cq, uint64_t deadline_ps)
{
	int rc;

	mads_sleeps(cq, HERE);
	cq_waits_sleep(cq, HERE);
	rc = __real_drv_cq_wait_event(cq, deadline_ps);
	if (!rc)
		cq_waits_awake(cq);
	return rc;
}

/* --- ports --- */

W(int, drv_query_port, struct drv_device *dev, unsigned port, struct drv_port_attr *attr)
{
	const uint32_t since = told_mads();
	struct drv_eth_config eth;
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = ask_result(&a, __real_drv_query_port(dev, port, attr));
	if (rc || !a.c)
		return rc;
	if (drv_port_is_ethernet(dev, port)) {
		drv_eth_get(dev, port, &eth);
		told_frame_check(&a, port, attr, eth.mtu);
	} else {
		told_port_check(&a, since, port, attr);
	}
	return rc;
}

W(int, drv_query_gid, struct drv_device *dev, unsigned port, unsigned index,
  uint8_t gid[DRV_GID_BYTES])
{
	const uint32_t since = told_mads();
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = ask_result(&a, __real_drv_query_gid(dev, port, index, gid));
	if (!a.c || drv_port_is_ethernet(dev, port))
		return rc;
	if (rc)
		told_block_check(&a, since, port, SMP_ATTR_GUID_INFO, index);
	else
		told_gid_check(&a, since, port, index, gid);
	return rc;
}

W(int, drv_query_pkey, struct drv_device *dev, unsigned port, unsigned index, uint16_t *pkey)
{
	const uint32_t since = told_mads();
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = ask_result(&a, __real_drv_query_pkey(dev, port, index, pkey));
	if (!a.c || drv_port_is_ethernet(dev, port))
		return rc;
	if (rc)
		told_block_check(&a, since, port, SMP_ATTR_PKEY_TABLE, index);
	else
		told_pkey_check(&a, since, port, index, pkey);
	return rc;
}

/* --- Ethernet ports --- */

W(int, drv_eth_init, struct drv_device *dev, unsigned port)
{
	const int rc = __real_drv_eth_init(dev, port);

	if (!rc)
		ethernet_up_check(dev, port);
	return rc;
}

W(int, drv_eth_roce_port, struct drv_device *dev)
{
	const int rc = __real_drv_eth_roce_port(dev);

	if (!rc)
		ethernet_roce_port_check(dev);
	return rc;
}

W(int, drv_eth_mac_set, struct drv_device *dev, unsigned port, const uint8_t mac[MAC_BYTES])
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = ask_result(&a, __real_drv_eth_mac_set(dev, port, mac));
	if (!rc)
		ethernet_mac_check(&a, port, mac);
	return rc;
}

W(int, drv_eth_set, struct drv_device *dev, unsigned port, const struct drv_eth_config *config)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = ask_result(&a, __real_drv_eth_set(dev, port, config));
	if (!rc)
		ethernet_general_check(&a, port, config);
	return rc;
}

W(int, drv_eth_receive, struct drv_device *dev, unsigned port, const struct drv_qp *qp)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = ask_result(&a, __real_drv_eth_receive(dev, port, qp));
	if (!rc)
		ethernet_receive_check(&a, port, qp ? qp->qpn : 0);
	return rc;
}

/* Threads that add an address: how often each has joined its VLAN, and how many GIDs it has entered. */
static struct joining {
	const struct kernel_thread *thread; /* NULL: none */
	struct checker *c;
	int vlans, gids;
} joining[DEVICES];

static struct joining *joining_of(const struct kernel_thread *thread)
{
	for (unsigned i = 0; i < DEVICES; i++)
		if (joining[i].thread == thread)
			return &joining[i];
	return NULL;
}

static void joining_note(struct checker *c, int vlans, int gids)
{
	struct joining *j = joining_of(kernel_thread_running());

	if (j) {
		j->c = c;
		j->vlans += vlans;
		j->gids += gids;
	}
}

W(int, drv_eth_gid_set, struct drv_device *dev, unsigned port, unsigned index,
  const struct drv_gid *gid)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = ask_result(&a, __real_drv_eth_gid_set(dev, port, index, gid));
	if (!rc)
		ethernet_gid_check(&a, port, index, gid);
	/* a GID that the device does not give back may stay */
	if (!rc || !gid)
		joining_note(a.c, 0, gid ? 1 : -1);
	return rc;
}

W(int, drv_eth_vlan_get, struct drv_device *dev, unsigned port, unsigned vid, unsigned *index)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = ask_result(&a, __real_drv_eth_vlan_get(dev, port, vid, index));
	if (!rc) {
		ethernet_vlan_joined(&a, dev, port, *index, vid);
		joining_note(a.c, 1, 0);
	}
	return rc;
}

W(void, drv_eth_vlan_put, struct drv_device *dev, unsigned port, unsigned index)
{
	ASK a;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	__real_drv_eth_vlan_put(dev, port, index);
	ethernet_vlan_left(&a, dev, port, index);
	joining_note(a.c, -1, 0);
}

/* What is found is what was looked for. */
W(int, drv_eth_gid_find, const struct drv_device *dev, unsigned port, const uint8_t *raw,
  unsigned version, uint16_t vlan)
{
	struct checker *c = checker_of_host(dev->p->host);
	const int index = __real_drv_eth_gid_find(dev, port, raw, version, vlan);
	struct drv_gid is;

	if (c && index >= 0 &&
	    (drv_eth_gid_get(dev, port, (unsigned)index, &is) || is.version != version ||
	     is.vlan != vlan || memcmp(is.raw, raw, sizeof(is.raw))))
		c->tell(c,
			&(struct breach){RULE_port_differs,
					 {GUEST_PORT, port},
					 INSIDE(drv_eth_gid_find),
					 NULL},
			"a GID of RoCE v%u with VLAN 0x%x is looked up, and entry %d is found, of "
			"v%u with "
			"VLAN 0x%x",
			version, vlan, index, is.version, is.vlan);
	return index;
}

/* An address that cannot be added joins no VLAN, and none of its GIDs is entered. Source: Linux 8021q,
 * vlan_vid_del behind a failure; gid.h */
W(int, net_address_add, struct net_port *net, const struct net_address *address)
{
	struct joining *j = joining_of(NULL);
	int rc;

	if (j)
		*j = (struct joining){.thread = kernel_thread_running()};
	rc = __real_net_address_add(net, address);
	if (j && rc && j->c && (j->vlans || j->gids > 0))
		j->c->tell(
			j->c,
			&(struct breach){RULE_not_given_back, {0}, INSIDE(net_address_add), NULL},
			"an address is refused with %d, and has joined its VLAN %d times more "
			"than it has left it, and entered %d GIDs that it has not taken back",
			rc, j->vlans, j->gids);
	if (j)
		j->thread = NULL;
	return rc;
}

/* --- groups --- */

struct group_call {
	struct checker *c;
};

static void group_call_drop(struct group_call *call)
{
	groups_leave(call->c);
}

/* What a group takes belongs to the table of groups. */
static int group_change(struct ask *a, int rc, struct drv_qp *qp, const uint8_t *mgid, bool block,
			bool attach)
{
	if (rc)
		taken_failed(a, a->call);
	else
		taken_made(a, NULL);
	if (!rc && a->c && !qp->dev->dead)
		groups_end(a, mgid, drv_qp_num(qp), block, attach, qp->dev->mcgs.used);
	return ask_result(a, rc);
}

W(int, drv_mcast_attach, struct drv_qp *qp, const uint8_t mgid[DRV_GID_BYTES], bool block_loopback)
{
	__attribute__((cleanup(group_call_drop))) struct group_call call = {NULL};
	ASK a;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(drv_device_of(qp)), drv_qp_num(qp));
	call.c = a.c;
	groups_begin(&a);
	return group_change(&a, __real_drv_mcast_attach(qp, mgid, block_loopback), qp, mgid,
			    block_loopback, true);
}

W(int, drv_mcast_detach, struct drv_qp *qp, const uint8_t mgid[DRV_GID_BYTES])
{
	__attribute__((cleanup(group_call_drop))) struct group_call call = {NULL};
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(drv_device_of(qp)), drv_qp_num(qp));
	call.c = a.c;
	groups_begin(&a);
	rc = group_change(&a, __real_drv_mcast_detach(qp, mgid), qp, mgid, false, false);
	dead_gives_back(a.c, rc, "a multicast group", INSIDE(drv_mcast_detach));
	return rc;
}
