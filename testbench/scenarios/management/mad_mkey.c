/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port with an M_Key. A manager without the key cannot write anything; at protection level 1 it
 * reads everything except the key, at level 2 nothing. Violations are counted. The host itself
 * needs no key.
 */
/* behaviours: IBA-14.2.4-mkey */
#include "testbench/manage.h"

enum { KEY = 0x1234567 };

static struct port_info *info_of(struct smp *smp)
{
	return (void *)smp_data_ptr(smp);
}

#define SET(...)                                                                                   \
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1, \
	    .data = &info, __VA_ARGS__)
#define GET(...) ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1, __VA_ARGS__)

SCENARIO(mad_mkey, "M_Key: protection of SMPs")
{
	struct drv_port_attr attr;
	struct port_info info;
	struct smp answer;

	GET();
	info = port_info_to_set(&answer);
	port_info_set_mkey(&info, KEY);
	port_info_set_mkey_protect(&info, 1);
	SET();
	GET();
	expect_equal(port_info_get_mkey(info_of(&answer)), 0); /* the key is hidden */
	expect_equal(port_info_get_lid(info_of(&answer)), b->lid);
	GET(.mkey = KEY);
	expect_equal(port_info_get_mkey(info_of(&answer)), KEY);
	SET(.silent = true);
	SET(.mkey = KEY + 1, .silent = true);
	GET(.mkey = KEY);
	expect_equal(port_info_get_mkey_violations(info_of(&answer)), 2);
	port_info_set_mkey_protect(&info, 2);
	SET(.mkey = KEY);
	GET(.silent = true);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1, .silent = true);
	GET(.mkey = KEY);
	expect_equal(port_info_get_mkey_protect(info_of(&answer)), 2);
	must(drv_query_port(b->dev, 1, &attr));
	port_info_set_mkey(&info, 0);
	port_info_set_mkey_protect(&info, 0);
	SET(.mkey = KEY);
	GET();
}
