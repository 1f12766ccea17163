// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: attributes of a queue pair that each layer passes on to the next one, or back from a query,
 * say the same there. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/asked/running.h"
#include "testbench/dsan/hear/hooks.h"

#include "host_driver/core/core.h"
#include "host_driver/drv/ops.h"
#include "host_driver/mlx4/connect.h"
#include "host_driver/uverbs/uverbs.h"
#include "model/interface/macros.h"

#include <limits.h>

/* Members that the structures of all layers have, and the bit of a mask that makes a modification look at
 * each. Addresses are compared where they are converted (converted.c). */
#define ATTRIBUTES(A)                                                                              \
	A(IBV_QP_STATE, qp_state)                                                                  \
	A(IBV_QP_CUR_STATE, cur_qp_state)                                                          \
	A(IBV_QP_PATH_MTU, path_mtu)                                                               \
	A(IBV_QP_PATH_MIG_STATE, path_mig_state)                                                   \
	A(IBV_QP_QKEY, qkey)                                                                       \
	A(IBV_QP_RQ_PSN, rq_psn)                                                                   \
	A(IBV_QP_SQ_PSN, sq_psn)                                                                   \
	A(IBV_QP_DEST_QPN, dest_qp_num)                                                            \
	A(IBV_QP_ACCESS_FLAGS, qp_access_flags)                                                    \
	A(IBV_QP_PKEY_INDEX, pkey_index)                                                           \
	A(IBV_QP_ALT_PATH, alt_pkey_index)                                                         \
	A(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify)                                         \
	A(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic)                                                  \
	A(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)                                           \
	A(IBV_QP_MIN_RNR_TIMER, min_rnr_timer)                                                     \
	A(IBV_QP_PORT, port_num)                                                                   \
	A(IBV_QP_TIMEOUT, timeout)                                                                 \
	A(IBV_QP_RETRY_CNT, retry_cnt)                                                             \
	A(IBV_QP_RNR_RETRY, rnr_retry)                                                             \
	A(IBV_QP_ALT_PATH, alt_port_num)                                                           \
	A(IBV_QP_ALT_PATH, alt_timeout)

static const struct {
	unsigned bit;
	const char *name;
} rows[] = {
#define A(bit, member) {bit, #member},
	ATTRIBUTES(A)
#undef A
};

struct attributes {
	uint64_t of[ARRAY_SIZE(rows)];
};

/* `from` is the structure of any layer. */
#define A(bit, member) (uint64_t)(ATTR)->member,
#define TAKE(to, from)                                                                             \
	do {                                                                                       \
		const __typeof__(*(from)) *ATTR = (from);                                          \
		*(to) = (struct attributes){{ATTRIBUTES(A)}};                                      \
	} while (0)

/* The members of `mask`: `at` says the first structure, `should` the values of the one that it came from. */
static void compare(struct checker *c, uint32_t qpn, const char *call, const void *at, size_t bytes,
		    const struct attributes *is, const struct attributes *should, unsigned mask)
{
	const struct passing p = {c, RULE_context_differs, {GUEST_QP, qpn}, call, at, bytes};

	for (size_t i = 0; c && i < ARRAY_SIZE(rows); i++)
		if (rows[i].bit & mask && is->of[i] != should->of[i]) {
			members_check(
				&p, &(struct member)MEMBER(rows[i].name, is->of[i], should->of[i]),
				1);
			return;
		}
}

/* --- modifications, from the outermost layer inwards --- */

/* A layer that was asked to modify a queue pair. */
struct modifying {
	struct running running;
	const char *call;
	struct attributes asked;
	unsigned mask;
	const struct drv_rc_path *path; /* of a step; else NULL */
};

static struct running *by_process, *by_core, *by_steps;

W(int, uvk_modify_qp, struct uv_file *file, uint32_t qp, const struct ibv_qp_attr *attr, int mask)
{
	__attribute__((cleanup(running_drop))) struct modifying m = {.call = "uvk_modify_qp",
								     .mask = (unsigned)mask};

	running_begin(&m.running, &by_process);
	TAKE(&m.asked, attr);
	return __real_uvk_modify_qp(file, qp, attr, mask);
}

W(int, uvk_modify_rcv_qp, struct uv_file *file, uint32_t xrcd, uint32_t qpn,
  const struct ibv_qp_attr *attr, int mask)
{
	__attribute__((cleanup(running_drop))) struct modifying m = {.call = "uvk_modify_rcv_qp",
								     .mask = (unsigned)mask};

	running_begin(&m.running, &by_process);
	TAKE(&m.asked, attr);
	return __real_uvk_modify_rcv_qp(file, xrcd, qpn, attr, mask);
}

W(int, ib_modify_qp, struct ib_qp *qp, const struct ib_qp_attr *attr, unsigned mask)
{
	__attribute__((cleanup(running_drop))) struct modifying m = {.call = "ib_modify_qp",
								     .mask = mask};
	const struct modifying *above = running_find(by_process);
	int rc;

	running_begin(&m.running, &by_core);
	TAKE(&m.asked, attr);
	if (above)
		compare(checker_of_host(qp->device->platform->host), qp->qp_num, above->call, attr,
			sizeof(*attr), &m.asked, &above->asked, above->mask);
	rc = __real_ib_modify_qp(qp, attr, mask);
	if (!rc && mask & IB_QP_AV && !(mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET))
		gid_held_check(qp->device, &qp->real_qp->gid, &attr->ah_attr, INSIDE(ib_modify_qp));
	return rc;
}

/* The address of a step is that of its path. */
static void way_check(struct checker *c, const struct drv_qp *qp, const struct drv_qp_attr *attr,
		      const struct modifying *m)
{
	const struct drv_ah_attr *to = &attr->ah_attr;
	const struct drv_rc_path *p = m->path;

	MEMBERS_CHECK((&(struct passing){c,
					 RULE_context_differs,
					 {GUEST_QP, drv_qp_num(qp)},
					 m->call,
					 attr,
					 sizeof(*attr)}),
		      MEMBER("dlid", to->dlid, p->lid), MEMBER("sl", to->sl, p->sl),
		      MEMBER("src_path_bits", to->src_path_bits, p->src_path_bits),
		      MEMBER("static_rate", to->static_rate, p->static_rate),
		      MEMBER("is_global", to->is_global, p->is_global),
		      MEMBER("sgid_index", to->sgid_index, p->sgid_index),
		      MEMBER("hop_limit", to->hop_limit, p->hop_limit),
		      MEMBER("traffic_class", to->traffic_class, p->traffic_class),
		      MEMBER("flow_label", to->flow_label, p->flow_label),
		      MEMBER("dgid, first half", be64_load(to->dgid), be64_load(p->dgid)),
		      MEMBER("dgid, second half", be64_load(to->dgid + 8), be64_load(p->dgid + 8)),
		      MEMBER("dmac, last bytes", be32_load(to->dmac + 2), be32_load(p->dmac + 2)));
}

void attributes_modify(struct checker *c, const struct drv_qp *qp, const struct drv_qp_attr *attr,
		       unsigned mask)
{
	const struct modifying *above = running_find(by_core);
	struct attributes is;

	if (!above)
		above = running_find(by_steps);
	if (!above)
		return;
	TAKE(&is, attr);
	compare(c, drv_qp_num(qp), above->call, attr, sizeof(*attr), &is, &above->asked,
		mask & above->mask);
	if (c && above->path && mask & IBV_QP_AV)
		way_check(c, qp, attr, above);
}

/* --- the steps of a connection --- */

enum {
	STEPS = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MTU |
		IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
		IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC
};

static struct attributes of_path(const struct drv_rc_path *path)
{
	const struct drv_qp_attr attr = {
		.port_num = path->port ? path->port : 1,
		.pkey_index = path->pkey_index,
		.qp_access_flags = path->access,
		.path_mtu = path->path_mtu ? path->path_mtu : IBV_MTU_4096,
		.dest_qp_num = path->dest_qpn,
		.rq_psn = path->rq_psn,
		.sq_psn = path->sq_psn,
		.max_rd_atomic = path->max_rd_atomic,
		.max_dest_rd_atomic = path->max_dest_rd_atomic,
		.min_rnr_timer = path->min_rnr_timer,
		.timeout = path->timeout,
		.retry_cnt = path->retry_cnt,
		.rnr_retry = path->rnr_retry,
	};
	struct attributes a;

	TAKE(&a, &attr);
	return a;
}

/* The step `real`, with what its caller asks for. */
static int step(const char *call, int (*real)(struct drv_qp *qp, const struct drv_rc_path *path),
		struct drv_qp *qp, const struct drv_rc_path *path)
{
	__attribute__((cleanup(running_drop))) struct modifying m = {
		.call = call, .asked = of_path(path), .mask = STEPS, .path = path};

	running_begin(&m.running, &by_steps);
	return real(qp, path);
}

W(int, drv_qp_to_init, struct drv_qp *qp, const struct drv_rc_path *path)
{
	return step("drv_qp_to_init", __real_drv_qp_to_init, qp, path);
}

W(int, drv_qp_to_rtr, struct drv_qp *qp, const struct drv_rc_path *path)
{
	return step("drv_qp_to_rtr", __real_drv_qp_to_rtr, qp, path);
}

W(int, drv_qp_to_rts, struct drv_qp *qp, const struct drv_rc_path *path)
{
	return step("drv_qp_to_rts", __real_drv_qp_to_rts, qp, path);
}

W(int, drv_qp_connect, struct drv_qp *qp, const struct drv_rc_path *path)
{
	return step("drv_qp_connect", __real_drv_qp_connect, qp, path);
}

W(int, drv_ud_qp_start, struct drv_qp *qp, unsigned port, unsigned pkey_index, uint32_t qkey,
  uint32_t sq_psn)
{
	const struct drv_qp_attr attr = {
		.port_num = port, .pkey_index = pkey_index, .qkey = qkey, .sq_psn = sq_psn};
	__attribute__((cleanup(running_drop))) struct modifying m = {
		.call = "drv_ud_qp_start",
		.mask = IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY | IBV_QP_SQ_PSN};

	TAKE(&m.asked, &attr);
	running_begin(&m.running, &by_steps);
	return __real_drv_ud_qp_start(qp, port, pkey_index, qkey, sq_psn);
}

/* --- queries, from the innermost layer outwards --- */

/* What the layer below has answered. */
struct query {
	struct running running;
	struct attributes answer;
	bool answered;
};

static struct running *queries, *core_queries, *process_queries;

W(int, drv_qp_query, struct drv_qp *qp, struct drv_qp_attr *attr)
{
	__attribute__((cleanup(running_drop))) struct running query;
	struct checker *c = checker_of_host(drv_platform(drv_device_of(qp))->host);
	struct query *above = running_find(core_queries);
	int rc;

	running_begin(&query, &queries);
	queried_begin(qp);
	rc = __real_drv_qp_query(qp, attr);
	if (!rc && c)
		queried_check(c, qp, attr);
	if (above && !rc) {
		TAKE(&above->answer, attr);
		above->answered = true;
	}
	return rc;
}

W(int, ib_query_qp, struct ib_qp *qp, struct ib_qp_attr *attr, unsigned mask,
  struct ib_qp_init_attr *init)
{
	__attribute__((cleanup(running_drop))) struct query q = {.answered = false};
	struct query *above = running_find(process_queries);
	struct attributes is;
	int rc;

	running_begin(&q.running, &core_queries);
	rc = __real_ib_query_qp(qp, attr, mask, init);
	if (rc)
		return rc;
	TAKE(&is, attr);
	if (q.answered)
		compare(checker_of_host(qp->device->platform->host), qp->qp_num, "ib_query_qp",
			attr, sizeof(*attr), &is, &q.answer, UINT_MAX);
	if (above) {
		above->answer = is;
		above->answered = true;
	}
	return 0;
}

static void process_compare(const struct uv_file *file, const struct query *q,
			    const struct ibv_qp_attr *attr, const char *call)
{
	struct attributes is;

	TAKE(&is, attr);
	if (q->answered)
		compare(checker_of_host(file->device->platform->host), 0, call, attr, sizeof(*attr),
			&is, &q->answer, UINT_MAX);
}

W(int, uvk_query_qp, struct uv_file *file, uint32_t qp, struct ibv_qp_attr *attr,
  struct ibv_qp_cap *cap)
{
	__attribute__((cleanup(running_drop))) struct query q = {.answered = false};
	int rc;

	running_begin(&q.running, &process_queries);
	rc = __real_uvk_query_qp(file, qp, attr, cap);
	if (!rc)
		process_compare(file, &q, attr, "uvk_query_qp");
	return rc;
}

W(int, uvk_query_rcv_qp, struct uv_file *file, uint32_t xrcd, uint32_t qpn,
  struct ibv_qp_attr *attr, struct ibv_qp_cap *cap)
{
	__attribute__((cleanup(running_drop))) struct query q = {.answered = false};
	int rc;

	running_begin(&q.running, &process_queries);
	rc = __real_uvk_query_rcv_qp(file, xrcd, qpn, attr, cap);
	if (!rc)
		process_compare(file, &q, attr, "uvk_query_rcv_qp");
	return rc;
}
