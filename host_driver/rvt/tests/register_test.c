/* SPDX-License-Identifier: Apache-2.0 */
/* Registration: NULL is the transport's own entry, another one bypasses it; missing hooks are refused
 * by the name of the verb and of the hook. */
#include "host_driver/rvt/tests/rvt_rig.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Registers with these and takes it back; the words of a refusal. */
static const char *refusal(const struct drv_ops *own, const struct rvt_hooks *hooks)
{
	static char err[128];
	struct drv_device *dev;

	err[0] = 0;
	if (!rvt_register(&rig.p, own, hooks, &rig_limits, NULL, &dev, err, sizeof(err)))
		rvt_unregister(dev);
	return err;
}

static void each_missing_hook_is_named(void **state)
{
	static const struct {
		size_t at;
		const char *words;
	} rows[] = {
		{offsetof(struct rvt_hooks, query_port_state),
		 "query_port: hook query_port_state is missing"},
		{offsetof(struct rvt_hooks, set_link_state),
		 "port_up: hook set_link_state is missing"},
		{offsetof(struct rvt_hooks, get_lid), "port_up: hook get_lid is missing"},
		{offsetof(struct rvt_hooks, qp_mtu), "qp_modify: hook qp_mtu is missing"},
		{offsetof(struct rvt_hooks, flush_qp), "qp_create: hook flush_qp is missing"},
		{offsetof(struct rvt_hooks, do_send), "special_send: hook do_send is missing"},
		{offsetof(struct rvt_hooks, process_mad), "port_up: hook process_mad is missing"},
		{offsetof(struct rvt_hooks, make_qpn), ""},
		{offsetof(struct rvt_hooks, node_desc_changed), ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rvt_hooks hooks = rig_hooks;

		memset((char *)&hooks + rows[i].at, 0, sizeof(void *));
		assert_string_equal(refusal(&rig_own, &hooks), rows[i].words);
	}
}

static int other_modify(struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask)
{
	return -EDOM;
}

/* A driver with its own entry needs no hook for it. */
static void an_own_entry_needs_no_hook(void **state)
{
	struct drv_ops own = rig_own;
	struct rvt_hooks hooks = rig_hooks;

	hooks.qp_mtu = NULL;
	own.qp_modify = other_modify;
	assert_string_equal(refusal(&own, &hooks), "");
}

static void the_end_is_the_drivers(void **state)
{
	struct drv_ops own = rig_own;

	own.remove = NULL;
	assert_string_equal(refusal(&own, &rig_hooks), "remove: the driver must have its own");
	own = rig_own;
	own.abandon = NULL;
	assert_string_equal(refusal(&own, &rig_hooks), "abandon: the driver must have its own");
}

static void marker(void)
{
}

/* As a driver that moves to the transport entry by entry: each one alone is its own, in turn. */
static void each_entry_can_be_overridden(void **state)
{
	static const struct {
		const char *name;
		size_t at;
	} rows[] = {
#define ROW(result, name_, parameters, device, arguments) {#name_, offsetof(struct drv_ops, name_)},
		DRV_OPS(ROW)
#undef ROW
	};
	void (*const mark)(void) = marker;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct drv_ops own = rig_own, want = rvt_ops;
		struct drv_device *dev;
		char err[128] = "";

		want.remove = rig_own.remove;
		want.abandon = rig_own.abandon;
		memcpy((char *)&own + rows[i].at, &mark, sizeof(mark));
		memcpy((char *)&want + rows[i].at, &mark, sizeof(mark));
		assert_int_equal(rvt_register(&rig.p, &own, &rig_hooks, &rig_limits, NULL, &dev,
					      err, sizeof(err)),
				 0);
		if (memcmp(&rvt_of(dev)->ops, &want, sizeof(want)))
			fail_msg("%s: the table is not as the driver gave it", rows[i].name);
		rvt_unregister(dev);
	}
}

static void an_own_entry_bypasses(void **state)
{
	struct drv_ops own = rig_own;

	drv_remove(rig.dev);
	own.qp_modify = other_modify;
	rig_start_with(&own, &rig_hooks);
	{
		const struct drv_qp_init init = {
			.type = IBV_QPT_RC, .send_cq = rig.cq, .recv_cq = rig.cq};
		struct drv_qp *qp;

		assert_int_equal(drv_qp_create(rig.pd, &init, &qp), 0);
		assert_int_equal(drv_qp_modify(qp, &(struct drv_qp_attr){0}, IBV_QP_STATE), -EDOM);
	}
}

static void what_it_lacks_is_refused(void **state)
{
	const struct drv_qp_init xrc = {
		.type = IBV_QPT_XRC_SEND, .send_cq = rig.cq, .recv_cq = rig.cq};
	struct drv_qp *rc = rig_qp(IBV_QPT_RC), *qp;
	struct drv_xrcd *xrcd;
	struct drv_mr *mr;
	struct drv_mw *mw;

	assert_int_equal(drv_xrcd_alloc(rig.dev, &xrcd), -EOPNOTSUPP);
	assert_int_equal(drv_qp_create(rig.pd, &xrc, &qp), -EOPNOTSUPP);
	assert_int_equal(drv_mw_alloc(rig.pd, IBV_MW_TYPE_1, &mw), -EOPNOTSUPP);
	assert_int_equal(drv_mr_alloc_fast(rig.pd, 4, &mr), -EOPNOTSUPP);
	assert_int_equal(rig_post(rc, IBV_WR_SEND_WITH_INV, 4), -EINVAL);
	assert_int_equal(rig_post(rc, IBV_WR_REG_MR, 4), -EINVAL);
	assert_int_equal(drv_cq_moderate(rig.cq, 4, 4), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_missing_hook_is_named, rig_start, rig_end),
		cmocka_unit_test_setup_teardown(an_own_entry_needs_no_hook, rig_start, rig_end),
		cmocka_unit_test_setup_teardown(the_end_is_the_drivers, rig_start, rig_end),
		cmocka_unit_test_setup_teardown(each_entry_can_be_overridden, rig_start, rig_end),
		cmocka_unit_test_setup_teardown(an_own_entry_bypasses, rig_start, rig_end),
		cmocka_unit_test_setup_teardown(what_it_lacks_is_refused, rig_start, rig_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
