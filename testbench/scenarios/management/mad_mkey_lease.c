/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease of an M_Key. A manager that has lost the key cannot read a protected port until the lease has run out
 * since the first wrong key; then it reads the key and manages the port again. A right key in between ends that time, and
 * a lease of 0 never ends. The key stays as it was. Source: InfiniBand specification, volume 1, 14.2.4.1
 */
/* behaviours: IBA-14.2.4-mkey */
#include "testbench/manage.h"

enum { KEY = 0x1234567, LEASE_S = 2, BIT_MS = 100 };

#define GET(...) ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1, __VA_ARGS__)

static const struct port_info *info_of(const struct smp *smp)
{
	return (const void *)smp_data_cptr(smp);
}

static void protect(struct tb *tb, struct tb_end *a, unsigned lease)
{
	struct port_info info;
	struct smp answer;

	GET(.mkey = KEY);
	info = port_info_to_set(&answer);
	port_info_set_mkey(&info, KEY);
	port_info_set_mkey_protect(&info, 2);
	port_info_set_mkey_lease(&info, lease);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1,
	    .mkey = KEY, .data = &info);
	expect_equal(port_info_get_mkey_lease(info_of(&answer)), lease);
}

SCENARIO(mad_mkey_lease, "a port is read without its M_Key when the lease has run out")
{
	struct smp answer;

	phase("it runs out");
	protect(tb, a, LEASE_S);
	pass_time(CFG_S(LEASE_S + 1)); /* nobody has tried */
	GET(.silent = true);
	pass_time(CFG_S(LEASE_S) - CFG_MS(BIT_MS));
	GET(.silent = true);
	pass_time(CFG_MS(BIT_MS));
	GET();
	expect_equal(port_info_get_mkey(info_of(&answer)), KEY);
	expect_equal(port_info_get_mkey_protect(info_of(&answer)), 0);
	expect_equal(port_info_get_mkey_violations(info_of(&answer)), 2);
	phase("the key comes in between");
	protect(tb, a, LEASE_S);
	GET(.silent = true);
	pass_time(CFG_S(LEASE_S) - CFG_MS(BIT_MS));
	GET(.mkey = KEY);
	pass_time(CFG_MS(BIT_MS));
	GET(.silent = true);
	pass_time(CFG_S(LEASE_S) - CFG_MS(BIT_MS));
	GET(.silent = true);
	phase("for ever");
	protect(tb, a, 0);
	GET(.silent = true);
	pass_time(CFG_S(2 * LEASE_S));
	GET(.silent = true);
	GET(.mkey = KEY);
}
