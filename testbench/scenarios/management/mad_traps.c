/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wrong M_Key, Q_Key or P_Key makes the port send a trap to its subnet manager, with the details
 * in the notice. The trap is repeated after the subnet timeout until it is repressed, and only one
 * trap is outstanding at a time. A port without a subnet manager sends no trap.
 */
/* behaviours: IBA-13.4.9-trap IBA-14.3-traps */
#include "testbench/manage.h"

enum {
	QKEY = 0x1111,
	PORT = 1,
	TIMEOUT_CODE = 10,
	TRAP_MKEY = 256,
	TRAP_PKEY,
	TRAP_QKEY,
	MANAGER_SL = 3
};

#define MKEY UINT64_C(0x1122334455667788)

struct manager {
	struct drv_device *dev;
	unsigned traps, other_sl, b_lid;
	bool represses;
	struct smp last;
};

static void heard(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		  const struct drv_mad_addr *from, const struct smp *mad)
{
	struct manager *m = arg;
	const struct drv_mad_addr to = {.dlid = wc->slid};
	struct smp answer = *mad;

	if (qpn != QPN_SMI || mad_hdr_get_method(smp_hdr_const(mad)) != MAD_METHOD_TRAP)
		return;
	m->traps++;
	m->other_sl += wc->sl != MANAGER_SL;
	m->last = *mad;
	mad_hdr_set_method(smp_hdr(&answer), MAD_METHOD_TRAP_REPRESS);
	smp_set_mkey(&answer, MKEY);
	if (m->represses)
		drv_mad_send(m->dev, port, QPN_SMI, &to, &answer);
}

static const uint8_t *notice(struct tb *tb, struct manager *m, unsigned traps, unsigned number)
{
	const struct notice *n = (const void *)smp_data_cptr(&m->last);

	pass_time(CFG_US(200));
	expect_equal(m->traps, traps);
	expect_equal(m->other_sl, 0);
	expect_equal(mad_hdr_get_mgmt_class(smp_hdr(&m->last)), MAD_CLASS_SUBN_LID);
	expect_equal(mad_hdr_get_attr_id(smp_hdr(&m->last)), SMP_ATTR_NOTICE);
	expect_equal(notice_get_trap_number(n), number);
	expect_equal(notice_get_issuer_lid(n), m->b_lid);
	return notice_details_cptr(n);
}

static void set_port(struct tb *tb, struct tb_end *a, struct tb_end *b, uint64_t mkey,
		     unsigned protect)
{
	struct smp answer;
	struct port_info info;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = 1, .mkey = MKEY);
	info = port_info_to_set(&answer);
	port_info_set_mkey(&info, mkey);
	port_info_set_mkey_protect(&info, protect);
	port_info_set_subnet_timeout(&info, TIMEOUT_CODE);
	port_info_set_sm_sl(&info, MANAGER_SL);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = PORT,
	    .hops = 1, .mkey = MKEY, .data = &info);
}

SCENARIO(mad_traps, "traps of wrong keys: told to the manager, again until repressed",
	 .of_mlx4 = "traps of its agents")
{
	const uint64_t again = UINT64_C(4096000) << TIMEOUT_CODE;
	struct drv_qp *y = new_qp(b, .type = IBV_QPT_UD);
	struct manager m = {.dev = a->dev, .b_lid = b->lid, .represses = true};
	const struct notice_mkey *bad_mkey;
	const struct notice_key *bad_key;
	struct smp answer;

	ignore_packets();
	start_ud(y, QKEY, 0);
	if (!still_right())
		return;
	drv_mad_register(a->dev, PORT, heard, &m);
	set_port(tb, a, b, MKEY, 2);

	phase("a wrong M_Key");
	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_LID, .attr = SMP_ATTR_NODE_INFO, .mod = 7,
	    .dlid = b->lid, .mkey = 5, .silent = true);
	bad_mkey = (const void *)notice(tb, &m, 1, TRAP_MKEY);
	expect_equal(notice_mkey_get_lid(bad_mkey), a->lid);
	expect_equal(notice_mkey_get_method(bad_mkey), MAD_METHOD_GET);
	expect_equal(notice_mkey_get_attr_id(bad_mkey), SMP_ATTR_NODE_INFO);
	expect_equal(notice_mkey_get_attr_mod(bad_mkey), 7);
	expect_equal(notice_mkey_get_mkey(bad_mkey), 5);
	pass_time(5 * again); /* the trap is repressed */
	expect_equal(m.traps, 1);

	phase("a wrong Q_Key, not repressed at first");
	m.represses = false;
	inject(b, UD_SEND_ONLY, .qpn = drv_qp_num(y), .qkey = QKEY + 1, .src_qpn = 0x123, .len = 8);
	bad_key = (const void *)notice(tb, &m, 2, TRAP_QKEY);
	expect_equal(notice_key_get_key(bad_key), QKEY + 1);
	expect_equal(notice_key_get_lid1(bad_key), a->lid);
	expect_equal(notice_key_get_lid2(bad_key), b->lid);
	expect_equal(notice_key_get_qp1(bad_key), 0x123);
	expect_equal(notice_key_get_qp2(bad_key), drv_qp_num(y));
	inject(b, UD_SEND_ONLY, .qpn = drv_qp_num(y), .qkey = QKEY + 2, .src_qpn = 0x124, .len = 8);
	notice(tb, &m, 2, TRAP_QKEY); /* only one trap at a time */
	pass_time(2 * again + again / 2);
	expect_equal(m.traps, 4);
	m.represses = true;
	pass_time(2 * again);
	notice(tb, &m, 5, TRAP_QKEY);

	phase("a wrong P_Key");
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .pkey = 0x8123, .len = 8);
	bad_key = (const void *)notice(tb, &m, 6, TRAP_PKEY);
	expect_equal(notice_key_get_key(bad_key), 0x8123);
	expect_equal(notice_key_get_qp2(bad_key), drv_qp_num(b->qp[0]));

	phase("the manager's port is told too, and nobody when there is none");
	set_port(tb, a, b, 0, 0);
	drv_mad_register(a->dev, PORT, NULL, NULL);
	destroy_qp(y);
}
