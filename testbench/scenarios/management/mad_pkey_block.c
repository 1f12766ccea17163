/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager writes the second block of b's P_Key table. Its entries can be queried, and the
 * MADs of QP1 keep the P_Key at the beginning of the table.
 */
/* behaviours: IBA-14.2.5.7-pkeytable-blocks */
#include "testbench/manage.h"

#include <errno.h>

enum { FULL = 0xffff, OTHER = 0x8055, PKEYS_PER_BLOCK = 32 };

static void write_block(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t pkey)
{
	struct pkey_table block = {{0}};
	struct smp answer;

	for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++)
		pkey_table_set(&block, i, pkey ? pkey + i : 0);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PKEY_TABLE, .mod = 1, .hops = 1,
	    .data = &block);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
}

SCENARIO(mad_pkey_block, "P_Key table: the second block does not change what MADs carry",
	 .settings = {"hca.log_pkeys=6"}, .of_mlx4 = "P_Key table of more than one block")
{
	struct smp answer;
	uint16_t pkey = 0;

	write_block(tb, a, b, OTHER);
	for (unsigned i = 0; i < PKEYS_PER_BLOCK && still_right(); i++) {
		must(drv_query_pkey(b->dev, 1, PKEYS_PER_BLOCK + i, &pkey));
		expect_equal(pkey, OTHER + i);
	}
	must_fail(-EINVAL, drv_query_pkey(b->dev, 1, 2 * PKEYS_PER_BLOCK, &pkey));
	pass_time(CFG_US(100));
	check_mads();
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .attr = CM_ATTR_CLASS_PORT_INFO,
	    .dlid = b->lid);
	expect_mad(a_to_b, .qpn = QPN_GSI, .pkey = FULL);
	expect_mad(b_to_a, .qpn = QPN_GSI, .pkey = FULL);
	ignore_mads();
	write_block(tb, a, b, 0);
}
