// SPDX-License-Identifier: Apache-2.0
/* What SET_PORT tells of an Ethernet port, right and wrong. The test plays the rest of the checker. */
#include "testbench/dsan/asked/ethernet.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BUS = 0x1000, PORT = 1 };

static struct platform platform;
static uint32_t memory[0x1000 / sizeof(uint32_t)];
static struct checker c = {
	.host = {.platform = &platform, .memory = memory, .bus = BUS, .bytes = sizeof(memory)}};
static const struct ask ask = {.c = &c, .call = "drv_eth_set"};
static unsigned reports;
static enum guest_rule reported;

const char *ask_provider(const struct ask *a)
{
	return "mlx4_eth_set";
}

struct ask *ask_running(void)
{
	return NULL;
}

const void *wrote_find(uintptr_t at, size_t bytes)
{
	return NULL;
}

void checker_functions(const void *const *pcs, unsigned n, char *text, size_t size)
{
	*text = 0;
}

void trail_format(char *text, size_t size)
{
	*text = 0;
}

void checker_report(struct checker *of, const struct breach *b, const char *format, ...)
{
	reports++;
	reported = b->rule;
}

static void answer(uint32_t opcode, unsigned part)
{
	static const struct hca_command_answer ok;
	struct hcr h = {{0}};

	hcr_set_opcode(&h, opcode);
	hcr_set_op_mod(&h, HCR_OM_SET_PORT_ETH);
	hcr_set_in_mod(&h, part << SET_PORT_PART_SHIFT | PORT);
	hcr_set_in_param(&h, BUS);
	ethernet_command_done(&c, &h, &ok);
}

static int begin(void **state)
{
	reports = 0;
	memset(memory, 0, sizeof(memory));
	answer(HCR_INIT_HCA, 0);
	return 0;
}

static void what_was_not_given_is_missed(void **state)
{
	ethernet_general_check(&ask, PORT, &(struct drv_eth_config){.mtu = 1500});
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_command_sequence);
}

static void the_mac_is_that_which_was_asked_for(void **state)
{
	const uint8_t mac[MAC_BYTES] = {2, 0, 0, 0, 0, 1}, other[MAC_BYTES] = {2, 0, 0, 0, 0, 2};
	struct eth_mac *e = (struct eth_mac *)(void *)memory;

	eth_mac_set_valid(e, 1);
	eth_mac_set_mac(e, mac_load(mac));
	answer(HCR_SET_PORT, SET_PORT_MAC_TABLE);
	ethernet_mac_check(&ask, PORT, mac);
	assert_int_equal(reports, 0);
	ethernet_mac_check(&ask, PORT, other);
	assert_int_equal(reports, 1);
	assert_int_equal(reported, RULE_context_differs);
}

static void a_gid_has_its_version(void **state)
{
	struct drv_gid gid = {.raw = {0xfe, 0x80}, .version = 2};
	struct eth_roce *e = (struct eth_roce *)(void *)memory;

	memcpy(eth_roce_gid_ptr(e), gid.raw, sizeof(gid.raw));
	eth_roce_set_version(e, 2);
	eth_roce_set_ipv6(e, 1);
	answer(HCR_SET_PORT, SET_PORT_ROCE_TABLE);
	ethernet_gid_check(&ask, PORT, 0, &gid);
	assert_int_equal(reports, 0);
	gid.version = 1;
	ethernet_gid_check(&ask, PORT, 0, &gid);
	assert_int_equal(reports, 1);
}

static void a_vlan_passes_the_filter(void **state)
{
	static struct drv_device dev;
	struct eth_vlan *e = (struct eth_vlan *)(void *)memory;

	eth_vlan_set_valid(e, 1);
	eth_vlan_set_vid(e, 5);
	answer(HCR_SET_PORT, SET_PORT_VLAN_TABLE);
	dev.eth[PORT].vlan_users[0] = 1;
	ethernet_vlan_joined(&ask, &dev, PORT, 0, 5);
	assert_int_equal(reports, 1);
	memset(memory, 0, sizeof(memory));
	((uint8_t *)memory)[511] = 1 << 5; /* the last of 128 words */
	answer(HCR_SET_VLAN_FLTR, 0);
	dev.eth[PORT].vlan_users[0] = 2;
	ethernet_vlan_joined(&ask, &dev, PORT, 0, 5);
	assert_int_equal(reports, 1);
	ethernet_vlan_left(&ask, &dev, PORT, 0); /* and the driver still counts two */
	assert_int_equal(reports, 2);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, begin)
	const struct CMUnitTest tests[] = {
		T(what_was_not_given_is_missed),
		T(the_mac_is_that_which_was_asked_for),
		T(a_gid_has_its_version),
		T(a_vlan_passes_the_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
