/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a QP's private state, with fake halves: when it is created and freed, how it comes to
 * rest for firmware and continues, and how it goes to ERR. Contexts are real: they are read from
 * memory, which takes time, and written back.
 */
#include "model/engine/tests/rig.h"

#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/qp/qp.h"
#include "model/engine/qp/qp_path.h"
#include "model/engine/wire/link_port.h"
#include "model/interface/queues.h"

#include <stdio.h>

enum { QPN = 0x245, OTHER = 0x246, INVALID = 0x207, MANY = 500, REQUESTER = 0, RESPONDER = 1 };

static struct hca *const hca = &rig.hca;
static struct port_config port;
static bool quiet[2], idle[2], looks[2];
/* the halves settle the QP inside flush(), as one that has nothing to flush does */
static bool settles_in_flush;
static char said[1024]; /* log of what the halves were told, and of what the QP told others */
static struct {
	unsigned times;
	int status;
} done;

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	const size_t n = strlen(said);
	va_list args;

	va_start(args, format);
	vsnprintf(said + n, sizeof(said) - n, format, args);
	va_end(args);
}

#define expect_said(text)                                                                          \
	do {                                                                                       \
		assert_string_equal(said, text);                                                   \
		said[0] = 0;                                                                       \
	} while (0)

/* --- the halves --- */

/* clang-format off */
#define HALF(name, n)                                                                              \
	static void name##_init(struct qp *qp) { say(#name " init; "); }                           \
	static void name##_drop(struct qp *qp) { say(#name " drop; "); }                           \
	static void name##_invalidate(struct qp *qp) { say(#name " invalidate; "); }               \
	static void name##_flush(struct qp *qp, unsigned state)                                    \
	{                                                                                          \
		say(#name " flush %u; ", state);                                                   \
		if (settles_in_flush)                                                              \
			qp_settle(qp);                                                             \
	}                                                                                          \
	static void name##_resume(struct qp *qp, unsigned state)                                   \
	{                                                                                          \
		assert_false(qp_is_stopped(qp));                                                   \
		say(#name " resume %u; ", state);                                                  \
	}                                                                                          \
	static bool name##_is_quiet(const struct qp *qp) { return quiet[n]; }                      \
	static bool name##_is_idle(const struct qp *qp) { return idle[n]; }                        \
	static bool name##_only_looks(const struct qp *qp) { return looks[n]; }
/* clang-format on */

HALF(requester, REQUESTER)
HALF(responder, RESPONDER)

static void requester_reload(struct qp *qp, const struct qpc *qpc)
{
	say("requester reload %u; ", qpc_get_state(qpc));
}

static void requester_path_changed(struct qp *qp, const struct qpc *qpc)
{
	say("requester path to %u; ", qp_path_get_rlid(qpc_primary_const(qpc)));
}

#define HALF_FUNCTIONS(name)                                                                       \
	.init = name##_init, .drop = name##_drop, .invalidate = name##_invalidate,                 \
	.flush = name##_flush, .resume = name##_resume, .is_quiet = name##_is_quiet,               \
	.is_idle = name##_is_idle, .only_looks = name##_only_looks

static const struct qp_half requester = {HALF_FUNCTIONS(requester), .reload = requester_reload,
					 .path_changed = requester_path_changed};
/* functions that are NULL are not needed */
static const struct qp_half responder = {HALF_FUNCTIONS(responder)};

/* --- what a QP tells others --- */

void event_queue_qp(struct hca *h, uint8_t type, uint32_t qpn)
{
	say("event %02x of %x; ", type, qpn);
}

void cqe_write_purge_qp(struct hca *h, uint32_t qpn)
{
	say("purge %x; ", qpn);
}

static void at_rest(void *arg, int status)
{
	assert_ptr_equal(arg, &done);
	done.times++;
	done.status = status;
	say("at rest; ");
}

/* --- the device --- */

static struct qpc *in_memory(uint32_t qpn)
{
	return (struct qpc *)(void *)rig_at(rig_table_bus(FW_TABLE_QPC) + qpn % 64 * 256);
}

static int start(void **state)
{
	rig_params();
	rig_start();
	port = (struct port_config){.logical = 4, .pkeys = {0xffff}};
	hca->port_configs[0] = hca->port_configs[1] = &port;
	hca->qps = qp_table_create(&requester, &responder);
	for (uint32_t n = 0; n < 64; n++)
		icm_object_set(hca, FW_TABLE_QPC, n, n != INVALID % 64);
	for (uint32_t qpn = QPN; qpn <= OTHER; qpn++) {
		qpc_set_local_qpn(in_memory(qpn), qpn);
		qpc_set_state(in_memory(qpn), QP_STATE_RTS);
		qpc_set_service(in_memory(qpn), QP_ST_RC);
		qpc_set_pm_state(in_memory(qpn), QP_PM_MIGRATED);
	}
	memset(quiet, true, sizeof(quiet));
	memset(idle, false, sizeof(idle));
	memset(looks, false, sizeof(looks));
	settles_in_flush = false;
	memset(&done, 0, sizeof(done));
	said[0] = 0;
	return 0;
}

static int finish(void **state)
{
	context_cache_reset(hca);
	qp_table_reset(hca);
	assert_int_equal(qp_table_active(hca), 0);
	qp_table_destroy(hca->qps);
	rig_stop();
	return 0;
}

/* Makes the state of QPN, and waits until its context has been read. */
static struct qp *qp_with_context(void)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	struct qp *qp = qp_make(hca, QPN);
	struct qpc *qpc;

	assert_int_equal(qp_context(qp, false, &w.w, &qpc), -EAGAIN);
	rig_run();
	assert_int_equal(qp_context(qp, false, &w.w, &qpc), 0);
	said[0] = 0;
	return qp;
}

static unsigned state_now(struct qp *qp)
{
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	struct qpc *qpc = NULL;

	assert_int_equal(qp_context(qp, false, &w.w, &qpc), 0);
	return qpc_get_state(qpc);
}

/* --- made, found, settled --- */

static void made_and_settled(void **state)
{
	struct qp *qp;

	assert_null(qp_find(hca, QPN));
	assert_null(qp_make(hca, INVALID));
	expect_said("");
	qp = qp_make(hca, QPN);
	expect_said("requester init; responder init; ");
	assert_int_equal(qp->qpn, QPN);
	assert_ptr_equal(qp_make(hca, QPN), qp);
	assert_ptr_equal(qp_find(hca, QPN), qp);
	/* numbers that share a table entry are still different QPs */
	assert_null(qp_find(hca, QPN + 64));
	expect_said("");
	idle[REQUESTER] = true;
	qp_settle(qp);
	assert_ptr_equal(qp_find(hca, QPN), qp);
	/* a held QP stays until its last release */
	qp_hold(qp);
	qp_hold(qp);
	idle[RESPONDER] = true;
	qp_settle(qp);
	qp_release(qp);
	expect_said("");
	assert_ptr_equal(qp_find(hca, QPN), qp);
	qp_release(qp);
	expect_said("requester drop; responder drop; ");
	assert_null(qp_find(hca, QPN));
	assert_int_equal(qp_table_active(hca), 0);
}

static void many(void **state)
{
	static struct qp *qps[MANY];
	size_t footprint;

	for (uint32_t i = 0; i < MANY; i++) {
		/* an XRC target's number may differ from another QP's in bit 23 only */
		const uint32_t qpn = (i / 2 + 1) * 64 | (i & 1) << 23;

		qps[i] = qp_make(hca, qpn);
		assert_non_null(qps[i]);
	}
	assert_int_equal(qp_table_active(hca), MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_ptr_equal(qp_find(hca, (i / 2 + 1) * 64 | (i & 1) << 23), qps[i]);
	footprint = qp_table_footprint(hca);
	assert_true(footprint >= MANY * sizeof(struct qp));
	assert_true(sizeof(struct qp) <= QP_STATE_MAX);
	idle[REQUESTER] = idle[RESPONDER] = true;
	for (uint32_t i = 0; i < MANY; i += 2)
		qp_settle(qps[i]);
	assert_int_equal(qp_table_active(hca), MANY / 2);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(!qp_find(hca, (i / 2 + 1) * 64 | (i & 1) << 23) == !(i & 1));
	/* the memory of freed states is used again, until it is given back to the process */
	assert_int_equal(qp_table_footprint(hca), footprint);
	qp_make(hca, 64);
	assert_int_equal(qp_table_footprint(hca), footprint);
	qp_table_trim(hca);
	assert_int_equal(qp_table_footprint(hca), footprint - (MANY / 2 - 1) * sizeof(struct qp));
	said[0] = 0;
	qp_table_reset(hca);
	assert_int_equal(qp_table_active(hca), 0);
	assert_non_null(strstr(said, "requester drop; responder drop; requester drop;"));
}

/* The device is busy with a QP unless both of its halves only poll for work that software posts. */
static void only_looks(void **state)
{
	struct qp *qp = qp_make(hca, OTHER);

	qp_make(hca, QPN);
	assert_int_equal(qp_table_first_busy(hca), QPN);
	looks[REQUESTER] = true;
	assert_false(qp_only_looks(qp));
	assert_int_equal(qp_table_first_busy(hca), QPN);
	looks[RESPONDER] = true;
	assert_true(qp_only_looks(qp));
	assert_int_equal(qp_table_first_busy(hca), 0);
}

/* --- rest --- */

static void quiesced_and_resumed(void **state)
{
	struct qp *qp = qp_with_context();
	struct rig_waiter RIG_DONE w = RIG_WAITER;
	struct qpc *qpc;

	assert_int_equal(qp_context(qp, false, &w.w, &qpc), 0);
	qpc_set_next_send_psn(qpc, 0x777777);
	context_changed(hca, CONTEXT_REQUESTER, QPN);
	quiet[RESPONDER] = false;
	qp_quiesce(hca, QPN, at_rest, &done);
	assert_true(qp_is_stopped(qp));
	rig_run();
	expect_said("");
	quiet[RESPONDER] = true;
	qp_settle(qp);
	expect_said(""); /* the context is still being written */
	rig_run();
	expect_said("at rest; ");
	assert_int_equal(done.status, 0);
	assert_int_equal(qpc_get_next_send_psn(in_memory(QPN)), 0x777777);
	/* nothing is settled while firmware has the context */
	idle[REQUESTER] = idle[RESPONDER] = true;
	qp_settle(qp);
	assert_ptr_equal(qp_find(hca, QPN), qp);
	idle[REQUESTER] = false;
	qpc_set_state(in_memory(QPN), QP_STATE_SQD);
	qp_resume(hca, QPN);
	assert_true(qp_is_stopped(qp)); /* until the context has been read */
	expect_said("");
	rig_run();
	assert_int_equal(QP_STATE_SQD, 5);
	expect_said("requester reload 5; requester resume 5; responder resume 5; ");
	assert_false(qp_is_stopped(qp));
	assert_int_equal(done.times, 1);
}

static void rest_without_state(void **state)
{
	qp_quiesce(hca, INVALID, at_rest, &done);
	expect_said("at rest; ");
	qp_invalidate(hca, INVALID, at_rest, &done);
	expect_said("at rest; ");
	qp_resume(hca, INVALID);
	expect_said("");
	/* a valid QP gets a state, in which packets that come meanwhile wait */
	qp_quiesce(hca, QPN, at_rest, &done);
	expect_said("requester init; responder init; at rest; ");
	assert_true(qp_is_stopped(qp_find(hca, QPN)));
}

static void context_that_can_not_be_written(void **state)
{
	struct qp *qp = qp_with_context();

	context_changed(hca, CONTEXT_REQUESTER, QPN);
	rig.hole = rig_table_bus(FW_TABLE_QPC);
	rig.hole_end = rig.hole + 0x10000;
	qp_quiesce(hca, QPN, at_rest, &done);
	rig_run();
	expect_said("at rest; ");
	assert_int_equal(done.status, -EFAULT);
	assert_true(qp_is_stopped(qp));
}

static void invalidated(void **state)
{
	struct qp *qp = qp_with_context();

	qpc_set_state(in_memory(QPN), QP_STATE_INIT);
	context_changed(hca, CONTEXT_REQUESTER, QPN);
	quiet[REQUESTER] = false;
	qp_invalidate(hca, QPN, at_rest, &done);
	qp_settle(qp);
	expect_said("");
	quiet[REQUESTER] = true;
	qp_settle(qp);
	expect_said("purge 245; requester invalidate; responder invalidate; at rest; ");
	assert_null(qp_find(hca, QPN));
	rig_run();
	assert_int_equal(rig.writes, 0); /* the context is dropped without being written */
	assert_int_equal(qpc_get_state(in_memory(QPN)), QP_STATE_INIT);
}

/* Firmware has meanwhile given the table entry to another QP. */
static void resumed_without_context(void **state)
{
	qp_quiesce(hca, QPN, at_rest, &done);
	said[0] = 0;
	qpc_set_local_qpn(in_memory(QPN), QPN + 64);
	idle[REQUESTER] = idle[RESPONDER] = true;
	qp_resume(hca, QPN);
	rig_run();
	expect_said("requester resume 0; responder resume 0; requester drop; responder drop; ");
	assert_null(qp_find(hca, QPN));
}

/* --- error --- */

static void error_waits_for_the_context(void **state)
{
	struct qp *qp = qp_make(hca, QPN);

	said[0] = 0;
	qp_error(qp, QP_STATE_ERR, EVENT_WQ_CATAS_ERROR);
	expect_said("");
	idle[REQUESTER] = idle[RESPONDER] = true;
	qp_settle(qp); /* the QP is not freed before the error has been handled */
	assert_ptr_equal(qp_find(hca, QPN), qp);
	idle[REQUESTER] = false;
	rig_run();
	expect_said("event 05 of 245; requester flush 6; responder flush 6; ");
	assert_int_equal(state_now(qp), QP_STATE_ERR);
}

static void error_once(void **state)
{
	struct qp *qp = qp_with_context();

	qp_error(qp, QP_STATE_SQER, 0);
	expect_said("requester flush 4; responder flush 4; ");
	qp_error(qp, QP_STATE_SQER, EVENT_WQ_CATAS_ERROR);
	expect_said("");
	qp_error(qp, QP_STATE_ERR, EVENT_WQ_CATAS_ERROR);
	expect_said("event 05 of 245; requester flush 6; responder flush 6; ");
	qp_error(qp, QP_STATE_ERR, EVENT_WQ_CATAS_ERROR);
	qp_error(qp, QP_STATE_SQER, EVENT_WQ_CATAS_ERROR);
	expect_said("");
	assert_int_equal(state_now(qp), QP_STATE_ERR);
}

/* Code that reports an error holds the QP and uses it afterwards. A flush with nothing to do must
 * not free it. */
static void flush_settles_nothing(void **state)
{
	struct qp *qp = qp_with_context();

	settles_in_flush = true;
	idle[REQUESTER] = idle[RESPONDER] = true;
	qp_hold(qp);
	qp_error(qp, QP_STATE_ERR, 0);
	expect_said("requester flush 6; responder flush 6; ");
	assert_ptr_equal(qp_find(hca, QPN), qp);
	qp_release(qp);
	expect_said("requester drop; responder drop; ");
}

/* If nobody holds the QP, it is freed after both halves have been flushed, not between them. */
static void both_are_flushed_first(void **state)
{
	struct qp *qp = qp_with_context();

	settles_in_flush = true;
	idle[REQUESTER] = idle[RESPONDER] = true;
	qp_error(qp, QP_STATE_SQER, 0);
	expect_said("requester flush 4; responder flush 4; requester drop; responder drop; ");
	assert_null(qp_find(hca, QPN));
}

static void error_comes_before_rest(void **state)
{
	qp_error(qp_make(hca, QPN), QP_STATE_ERR, EVENT_WQ_CATAS_ERROR);
	said[0] = 0;
	qp_quiesce(hca, QPN, at_rest, &done);
	rig_run();
	expect_said("event 05 of 245; requester flush 6; responder flush 6; at rest; ");
	assert_int_equal(qpc_get_state(in_memory(QPN)), QP_STATE_ERR);
}

static void invalidation_forgets_the_error(void **state)
{
	qp_error(qp_make(hca, QPN), QP_STATE_ERR, EVENT_WQ_CATAS_ERROR);
	said[0] = 0;
	qp_invalidate(hca, QPN, at_rest, &done);
	rig_run();
	expect_said("purge 245; requester invalidate; responder invalidate; at rest; ");
}

static void lost_completion(void **state)
{
	qp_completion_lost(hca, INVALID);
	rig_run();
	expect_said("");
	idle[REQUESTER] = idle[RESPONDER] = true;
	qp_completion_lost(hca, QPN);
	rig_run();
	expect_said("requester init; responder init; event 05 of 245; requester flush 6; "
		    "responder flush 6; requester drop; responder drop; ");
}

/* --- paths --- */

static void alternate_path(struct qpc *qpc, uint16_t lid)
{
	qp_path_set_rlid(qpc_alternate(qpc), lid);
	qpc_set_pm_state(qpc, QP_PM_ASKED);
}

static void migrated_when_asked(void **state)
{
	qp_quiesce(hca, QPN, at_rest, &done);
	alternate_path(in_memory(QPN), 0x55);
	said[0] = 0;
	qp_resume(hca, QPN);
	rig_run();
	expect_said(
		"requester path to 85; event 01 of 245; requester reload 3; requester resume 3; "
		"responder resume 3; ");
}

static void refused_when_unusable(void **state)
{
	qp_quiesce(hca, QPN, at_rest, &done);
	alternate_path(in_memory(QPN), 0x55);
	port.logical = 2;
	said[0] = 0;
	qp_resume(hca, QPN);
	rig_run();
	expect_said(
		"event 07 of 245; requester reload 3; requester resume 3; responder resume 3; ");
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, finish)
	const struct CMUnitTest tests[] = {
		T(made_and_settled),
		T(many),
		T(only_looks),
		T(quiesced_and_resumed),
		T(rest_without_state),
		T(context_that_can_not_be_written),
		T(invalidated),
		T(resumed_without_context),
		T(error_waits_for_the_context),
		T(error_once),
		T(flush_settles_nothing),
		T(both_are_flushed_first),
		T(error_comes_before_rest),
		T(invalidation_forgets_the_error),
		T(lost_completion),
		T(migrated_when_asked),
		T(refused_when_unusable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
