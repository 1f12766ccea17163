/* SPDX-License-Identifier: Apache-2.0 */
/* Each GID and each P_Key of a port, beyond the first block of its table, is what the port's agent says. */
/* behaviours: IBA-14.2.5-tables */
#include "testbench/manage.h"

enum { PORT = 1, GUIDS_PER_BLOCK = 8, PKEYS_PER_BLOCK = 32, PREFIX_BYTES = 8 };

static void gids_match(struct tb *tb, struct tb_end *a, const struct drv_port_attr *attr)
{
	for (unsigned i = 0; i < attr->gid_count && still_right(); i++) {
		uint8_t gid[DRV_GID_BYTES];
		struct smp answer;

		name_row("GID %u", i);
		must(drv_query_gid(a->dev, PORT, i, gid));
		ask(a, &answer, .attr = SMP_ATTR_GUID_INFO, .mod = i / GUIDS_PER_BLOCK);
		expect_true(!memcmp(gid, attr->gid0, PREFIX_BYTES));
		expect_true(!memcmp(gid + PREFIX_BYTES,
				    smp_data_ptr(&answer) + i % GUIDS_PER_BLOCK * 8, 8));
	}
}

SCENARIO(port_tables, "all entries of the GID table and the P_Key table of a port",
	 .settings = {"hca.log_gids=5", "hca.log_pkeys=6"},
	 .of_mlx4 = "GID table of more than one block")
{
	struct drv_port_attr attr;

	must(drv_query_port(a->dev, PORT, &attr));
	expect_true(attr.gid_count > GUIDS_PER_BLOCK);
	expect_true(attr.pkey_count > PKEYS_PER_BLOCK);
	gids_match(tb, a, &attr);
	for (unsigned i = 0; i < attr.pkey_count && still_right(); i++) {
		struct smp answer;
		uint16_t pkey;

		name_row("P_Key %u", i);
		must(drv_query_pkey(a->dev, PORT, i, &pkey));
		ask(a, &answer, .attr = SMP_ATTR_PKEY_TABLE, .mod = i / PKEYS_PER_BLOCK);
		expect_equal(pkey, be16_load(smp_data_ptr(&answer) + i % PKEYS_PER_BLOCK * 2));
	}
}
