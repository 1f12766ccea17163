/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directed-route SMPs before any port has a LID: to the own node (no hop) and to the other end (one
 * hop). The answers carry the return path, the direction bit, and the hop pointer at its final
 * value, and are sent to the permissive LID because there is no other. A route with one hop too
 * many ends at an adapter and gets no answer. Nor does one that claims more hops than a path has room for.
 */
/* behaviours: MAD-1 */
#include "testbench/manage.h"

enum { LINK_US = 5000, TOO_MANY = 200 };

static struct smp request_make(void)
{
	struct smp smp = mad_of(MAD_CLASS_SUBN_DR, MAD_METHOD_GET, SMP_ATTR_NODE_DESC);

	mad_hdr_set_hop_count(smp_hdr(&smp), TOO_MANY);
	mad_hdr_set_hop_pointer(smp_hdr(&smp), TOO_MANY);
	return smp;
}

SCENARIO(mad_directed, "directed-route SMPs, before any LID", .bare = true)
{
	const struct node_info *node;
	struct drv_device_attr attr;
	struct drv_port_attr port;
	struct smp answer, request;

	bring_up(a);
	bring_up(b);
	ignore_packets();
	pass_time(CFG_US(LINK_US));
	must(drv_query_port(b->dev, 1, &port));
	expect_equal(port.lid, 0);
	expect_equal(port.state, IBV_PORT_INIT);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	node = (const void *)smp_data_cptr(&answer);
	must(drv_query_device(b->dev, &attr));
	expect_equal(node_info_get_node_guid(node), attr.node_guid);
	expect_equal(node_info_get_node_type(node), 1);
	expect_equal(node_info_get_local_port(node), 1);
	expect_equal(mad_hdr_get_direction(smp_hdr(&answer)), 1);
	expect_equal(mad_hdr_get_hop_count(smp_hdr(&answer)), 1);
	expect_equal(mad_hdr_get_hop_pointer(smp_hdr(&answer)), 0);
	expect_equal(smp_return_path_cptr(&answer)[1], 1);
	expect_equal(smp_get_dr_slid(&answer), LID_PERMISSIVE);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 0);
	must(drv_query_device(a->dev, &attr));
	expect_equal(node_info_get_node_guid(node), attr.node_guid);
	expect_equal(mad_hdr_get_direction(smp_hdr(&answer)), 1);
	expect_equal(mad_hdr_get_hop_count(smp_hdr(&answer)), 0);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 2, .silent = true);
	check_packets();
	check_mads();
	request = request_make();
	inject(b, UD_SEND_ONLY, .qpn = QPN_SMI, .slid = LID_PERMISSIVE, .dlid = LID_PERMISSIVE,
	       .vl = VL_MANAGEMENT, .payload = (const void *)&request, .len = sizeof(request));
	expect_no_more(CFG_US(100));
	ignore_mads();
	ignore_packets();
	ask(a, &answer, .attr = SMP_ATTR_NODE_DESC, .hops = 1);
	expect_true(smp_data_cptr(&answer)[0] != 0);
	activate_ports();
	take_down(b);
	take_down(a);
}
