// SPDX-License-Identifier: Apache-2.0
/*
 * The calls of the driver's interface, heard. Only hcasim-checked has this file: there the linker
 * gives each caller of drv_x() the function __wrap_drv_x(), and __real_drv_x() is the driver's own
 * (option --wrap). Calls within one file of the driver are not heard.
 */
#include "testbench/dsan/asked/ethernet.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/own/cq_waits.h"
#include "testbench/dsan/own/receives.h"
#include "testbench/dsan/device/dead.h"
#include "testbench/dsan/mads/groups.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/hear/history.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/mads/mads.h"
#include "testbench/dsan/held/taken.h"

#include "host_driver/drv/ops.h"
#include "host_driver/mlx4/mlx4_internal.h"

#include <errno.h>

/* Of an object of any driver. */
static struct platform *platform_of(const void *object)
{
	return drv_platform(drv_device_of(object));
}

enum { COUNTED = 8 };

static void users_take(const struct ask *a, const unsigned *const *users, size_t n, unsigned *were)
{
	for (size_t i = 0; i < n; i++)
		were[i] = a->c && users[i] ? *users[i] : 0;
}

/* A call that fails leaves no user. Source: Linux mlx4_ib_create_qp, ib_create_qp_user: usecnt is counted
 * when nothing can fail any more, or counted back */
static void users_check(const struct ask *a, const unsigned *const *users, size_t n,
			const unsigned *were)
{
	for (size_t i = 0; i < n; i++)
		if (a->c && users[i] && *users[i] != were[i])
			ask_report(a, RULE_users_differ, (struct guest_object){0},
				   "the call fails, and what it was to use has %u users behind it, "
				   "and had %u before",
				   *users[i], were[i]);
}

/* mlx4.h: outputs are set only on success. */
static void output_check(const struct ask *a, const void *out)
{
	char names[CHAIN_BYTES];
	struct calls now;

	if (!a->c || !out)
		return;
	chain_take(&now);
	chain_format(&now, names, sizeof(names));
	ask_report(a, RULE_not_given_back, (struct guest_object){0},
		   "the call fails, and its caller has been given an object: by %s", names);
}

/* The result of a call that makes an object, which is NULL when it makes none. Behind the call stand the
 * counts of mlx4's objects that the new one is to use: NULL for none. */
#define MAKES(a, out, call, ...)                                                                   \
	({                                                                                         \
		void *const before = *(out);                                                       \
		const unsigned *const users[] = {NULL, ##__VA_ARGS__};                             \
		unsigned were[COUNTED];                                                            \
		int result;                                                                        \
                                                                                                   \
		_Static_assert(ARRAY_SIZE(users) <= COUNTED, "more counts");                       \
		users_take(a, users, ARRAY_SIZE(users), were);                                     \
		*(out) = NULL;                                                                     \
		result = call;                                                                     \
		if (result) {                                                                      \
			output_check(a, *(out));                                                   \
			*(out) = before;                                                           \
			users_check(a, users, ARRAY_SIZE(users), were);                            \
		}                                                                                  \
		result;                                                                            \
	})
#define USERS(object) ((object) ? &(object)->users : NULL)

int hooks_made(struct ask *a, int rc, const void *object)
{
	if (!rc && !object && a->c)
		ask_report(a, RULE_call_refused, (struct guest_object){0},
			   "it returns 0, and has made no object");
	if (rc)
		taken_failed(a, a->call);
	else
		taken_made(a, object);
	return ask_result(a, rc);
}

int hooks_gone(struct ask *a, int rc, const void *object, const char *what)
{
	const struct made *made;
	bool may_be_used;

	if (rc == -EBUSY) {
		made_users_check(a, object);
		return rc;
	}
	dead_gives_back(a->c, rc, what, NULL);
	made = made_find(object);
	may_be_used = !made || made_can_be_used(made);
	if (a->c && made)
		made_leaves(a, made);
	made_remove(object);
	if (may_be_used)
		made_unused_check(a, object, what);
	taken_gone(a, a->call, object);
	if (a->c)
		heap_gone(a->c, object, what);
	return rc;
}

/* The whole of a function that destroys an object. */
#define GONE(name, object_, what)                                                                  \
	ASK a;                                                                                     \
	ask_begin(&a, ASK_OTHER, __func__, platform_of(object_), 0);                               \
	a.object = (object_);                                                                      \
	return hooks_gone(&a, __real_##name(object_), object_, what)

/* --- queues --- */

static unsigned room_of(const struct drv_qp *qp, bool sends)
{
	struct drv_qp_cap cap;

	drv_qp_cap(qp, &cap);
	return sends ? cap.max_send_wr : cap.max_recv_wr;
}

W(int, drv_post_send, struct drv_qp *qp, const struct drv_send_wr *wr,
  const struct drv_send_wr **bad)
{
	const struct drv_send_wr *stopped = NULL;
	ASK a;
	int rc;

	ask_begin(&a, ASK_SENDS, __func__, platform_of(qp), drv_qp_num(qp));
	a.dev = drv_device_of(qp);
	a.made = made_find(qp);
	a.followed = ask_follows(&a, HCA_QP, true);
	a.sends.wr = wr;
	posted_check(a.c, qp, wr);
	rc = __real_drv_post_send(qp, wr, &stopped);
	if (rc && bad)
		*bad = stopped;
	if (rc == -ENOMEM)
		asked_refused(&a, true, room_of(qp, true), a.c ? &qp->sq.tail : NULL);
	asked_sends_end(&a, wr, rc ? stopped : NULL);
	return rc;
}

W(int, drv_post_recv, struct drv_qp *qp, const struct drv_recv_wr *wr,
  const struct drv_recv_wr **bad)
{
	const struct drv_recv_wr *stopped = NULL;
	ASK a;
	int rc;

	ask_begin(&a, ASK_RECEIVES, __func__, platform_of(qp), drv_qp_num(qp));
	a.made = made_find(qp);
	a.followed = ask_follows(&a, HCA_QP, false);
	a.receives.wr = wr;
	rc = __real_drv_post_recv(qp, wr, &stopped);
	if (rc && bad)
		*bad = stopped;
	if (rc == -ENOMEM)
		asked_refused(&a, false, room_of(qp, false), a.c ? &qp->rq.tail : NULL);
	asked_receives_end(&a, wr, rc ? stopped : NULL);
	for (; wr && wr != stopped; wr = wr->next) {
		mads_receive_posted(qp, wr, __builtin_return_address(0));
		if (a.c && a.made && (a.made->special || a.made->init.type == IBV_QPT_RAW_PACKET))
			receives_posted(a.c, qp, wr);
	}
	return rc;
}

W(int, drv_post_srq_recv, struct drv_srq *srq, const struct drv_recv_wr *wr,
  const struct drv_recv_wr **bad)
{
	const struct drv_recv_wr *stopped = NULL;
	ASK a;
	int rc;

	ask_begin(&a, ASK_SRQ_RECEIVES, __func__, platform_of(srq), drv_srq_num(srq));
	a.followed = ask_follows(&a, HCA_SRQ, false);
	a.receives.wr = wr;
	rc = __real_drv_post_srq_recv(srq, wr, &stopped);
	if (rc && bad)
		*bad = stopped;
	asked_receives_end(&a, wr, rc ? stopped : NULL);
	return rc;
}

W(int, drv_cq_poll, struct drv_cq *cq, int n, struct drv_wc *wc)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_POLL, __func__, platform_of(cq), drv_cq_num(cq));
	a.dev = drv_device_of(cq);
	a.poll.cq = made_find(cq);
	asked_poll_begin(&a, n);
	rc = __real_drv_cq_poll(cq, n, wc);
	asked_poll_end(&a, rc, wc);
	polled_note(wc, rc);
	if (a.c && rc >= 0 && rc < n)
		cq_waits_empty(cq);
	if (rc > 0) {
		mads_polled(a.c, cq, rc, wc);
		receives_taken(a.c, (unsigned)rc, wc);
	}
	return rc;
}

W(int, drv_cq_arm, struct drv_cq *cq, bool solicited_only)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_ARM, __func__, platform_of(cq), drv_cq_num(cq));
	a.arm.solicited = solicited_only;
	rc = __real_drv_cq_arm(cq, solicited_only);
	if (!rc)
		asked_arm_end(&a);
	if (!rc && a.c)
		cq_waits_armed(cq);
	return rc;
}

/* --- queue pairs --- */

W(int, drv_qp_create, struct drv_pd *pd, const struct drv_qp_init *init, struct drv_qp **qp)
{
	struct made *m;
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, platform_of(pd), 0);
	rc = MAKES(&a, qp, __real_drv_qp_create(pd, init, qp), &pd->users, USERS(init->send_cq),
		   USERS(init->recv_cq), USERS(init->srq), USERS(init->xrcd), USERS(init->uar));
	if (hooks_made(&a, rc, rc ? NULL : *qp))
		return rc;
	history_made(a.c, GUEST_QP, drv_qp_num(*qp));
	m = made_add(&a, *qp);
	m->init = *init;
	if (init->type == IBV_QPT_XRC_SEND) { /* it has no receives. Source: IBA A14.2.2.2 */
		m->init.recv_cq = init->send_cq;
		m->init.srq = NULL;
		m->init.xrcd = NULL;
	}
	m->pd = pd;
	m->port = 1;
	return rc;
}

W(int, drv_special_create, struct drv_pd *pd, const struct drv_special_init *init,
  struct drv_qp **qp)
{
	struct made *m;
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, platform_of(pd), 0);
	rc = MAKES(&a, qp, __real_drv_special_create(pd, init, qp));
	if (hooks_made(&a, rc, rc ? NULL : *qp))
		return rc;
	history_made(a.c, GUEST_QP, drv_qp_num(*qp));
	m = made_add(&a, *qp);
	m->special = true;
	m->special_qpn = init->qpn;
	m->init.sq_sig_all = true;
	m->init.send_cq = m->init.recv_cq = init->cq;
	m->pd = pd;
	m->port = init->port;
	if (a.c)
		mads_queue_made(a.c, *qp, init);
	return rc;
}

W(int, drv_special_send, struct drv_qp *qp, const struct drv_special_send *send)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_SENDS, __func__, platform_of(qp), drv_qp_num(qp));
	a.followed = ask_follows(&a, HCA_QP, true);
	a.dev = drv_device_of(qp);
	a.made = made_find(qp);
	a.sends.special = send;
	a.sends.says = mads_request_says;
	mads_sent(qp, send, __builtin_return_address(0));
	rc = __real_drv_special_send(qp, send);
	if (rc)
		mads_send_refused(qp, send);
	else
		asked_sends_end(&a, NULL, NULL);
	return rc;
}

W(int, drv_qp_modify, struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_QP_MODIFY, __func__, platform_of(qp), drv_qp_num(qp));
	a.dev = drv_device_of(qp);
	a.made = made_find(qp);
	a.modify.attr = attr;
	a.modify.mask = mask;
	a.modify.before = drv_qp_state(qp);
	mads_modify(qp, attr, mask, __builtin_return_address(0));
	attributes_modify(a.c, qp, attr, mask);
	if (a.made)
		a.made->psn_known = false;
	rc = __real_drv_qp_modify(qp, attr, mask);
	if (!rc)
		asked_modified(&a);
	history_changed(a.c, GUEST_QP, a.number);
	asked_modify_end(&a, rc);
	ask_result(&a, rc);
	if (!rc && a.c && a.made && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET) {
		checker_recent_calls(a.c, a.since_recent, &a.made->reset_by);
		asked_reset_end(&a, a.made->init.recv_cq);
		asked_reset_end(&a, a.made->init.send_cq);
	}
	return rc;
}

W(int, drv_qp_destroy, struct drv_qp *qp)
{
	const struct made *m = made_find(qp);
	const struct drv_cq *sends = m ? m->init.send_cq : NULL;
	const struct drv_cq *receives = m ? m->init.recv_cq : NULL;
	const unsigned port = m && m->special && !m->special_qpn ? m->port : 0;
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, platform_of(qp), drv_qp_num(qp));
	a.object = qp;
	a.dev = drv_device_of(qp);
	history_about(GUEST_QP, a.number);
	mads_queue_gone(qp);
	rc = hooks_gone(&a, __real_drv_qp_destroy(qp), qp, "a QP");
	if (!rc && port)
		asked_port_check(&a, port, false);
	receives_gone(a.c, a.number);
	if (!rc && !drv_is_dead(a.dev)) {
		groups_qp_gone(&a, a.number);
		ethernet_qp_gone(&a, a.number);
	}
	if (!rc) {
		asked_reset_end(&a, receives);
		asked_reset_end(&a, sends);
	}
	return rc;
}

/* --- completion and shared receive queues --- */

static void cq_asked(struct ask *a, const char *call, struct drv_device *dev, unsigned entries,
		     int vector)
{
	ask_begin(a, ASK_CQ, call, drv_platform(dev), 0);
	a->cq.entries = entries;
	a->cq.vector = vector;
}

static int cq_made(struct ask *a, int rc, struct drv_cq *const *cq, const struct drv_uar *uar)
{
	struct made *made;

	if (hooks_made(a, rc, rc ? NULL : *cq))
		return rc;
	made = made_add(a, *cq);
	made->uar = uar;
	made->stamped = a->cq.stamped;
	history_made(a->c, GUEST_CQ, drv_cq_num(*cq));
	if (a->c)
		cq_waits_made(a->c, *cq);
	return rc;
}

W(int, drv_cq_create, struct drv_device *dev, unsigned entries, int vector, struct drv_cq **cq)
{
	ASK a;

	cq_asked(&a, __func__, dev, entries, vector);
	return cq_made(&a, MAKES(&a, cq, __real_drv_cq_create(dev, entries, vector, cq)), cq, NULL);
}

W(int, drv_cq_create_on, struct drv_device *dev, struct drv_uar *uar, unsigned entries, int vector,
  struct drv_cq **cq)
{
	ASK a;

	cq_asked(&a, __func__, dev, entries, vector);
	a.cq.uar = uar;
	return cq_made(
		&a,
		MAKES(&a, cq, __real_drv_cq_create_on(dev, uar, entries, vector, cq), USERS(uar)),
		cq, uar);
}

W(int, drv_cq_create_stamped, struct drv_device *dev, struct drv_uar *uar, unsigned entries,
  int vector, struct drv_cq **cq)
{
	ASK a;

	cq_asked(&a, __func__, dev, entries, vector);
	a.cq.stamped = true;
	a.cq.uar = uar;
	return cq_made(&a,
		       MAKES(&a, cq, __real_drv_cq_create_stamped(dev, uar, entries, vector, cq),
			     USERS(uar)),
		       cq, uar);
}

W(int, drv_cq_resize, struct drv_cq *cq, unsigned entries)
{
	ASK a;
	int rc;

	cq_asked(&a, __func__, drv_device_of(cq), entries, DRV_CQ_POLLED);
	history_about(GUEST_CQ, drv_cq_num(cq));
	rc = hooks_made(&a, __real_drv_cq_resize(cq, entries), cq);
	if (!rc)
		history_changed(a.c, GUEST_CQ, drv_cq_num(cq));
	if (!rc)
		cq_was_resized(&a, cq);
	return rc;
}

W(int, drv_cq_moderate, struct drv_cq *cq, unsigned max_count, unsigned period_us)
{
	ASK a;

	cq_asked(&a, __func__, drv_device_of(cq), 0, DRV_CQ_POLLED);
	a.cq.moderates = true;
	a.cq.max_count = max_count;
	a.cq.period_us = period_us;
	return ask_result(&a, __real_drv_cq_moderate(cq, max_count, period_us));
}

W(int, drv_cq_destroy, struct drv_cq *cq)
{
	const uint32_t cqn = drv_cq_num(cq);
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, platform_of(cq), cqn);
	a.object = cq;
	history_about(GUEST_CQ, cqn);
	rc = hooks_gone(&a, __real_drv_cq_destroy(cq), cq, "a CQ");
	if (rc != -EBUSY)
		cq_waits_gone(cq, cqn);
	return rc;
}

W(int, drv_srq_create, struct drv_pd *pd, const struct drv_srq_init *init, struct drv_srq **srq)
{
	struct made *m;
	ASK a;
	int rc;

	ask_begin(&a, ASK_SRQ_CREATE, __func__, platform_of(pd), 0);
	a.region.pd = pd;
	a.srq = init;
	rc = MAKES(&a, srq, __real_drv_srq_create(pd, init, srq), &pd->users, USERS(init->xrcd),
		   USERS(init->cq));
	if (hooks_made(&a, rc, rc ? NULL : *srq))
		return rc;
	history_made(a.c, GUEST_SRQ, drv_srq_num(*srq));
	m = made_add(&a, *srq);
	m->pd = pd;
	m->cq = init->cq;
	m->xrcd = init->xrcd;
	return rc;
}

W(int, drv_srq_destroy, struct drv_srq *srq)
{
	ASK a;

	ask_begin(&a, ASK_OTHER, __func__, platform_of(srq), drv_srq_num(srq));
	a.object = srq;
	history_about(GUEST_SRQ, a.number);
	return hooks_gone(&a, __real_drv_srq_destroy(srq), srq, "an SRQ");
}

/* --- memory --- */

W(int, drv_pd_alloc, struct drv_device *dev, struct drv_pd **pd)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = MAKES(&a, pd, __real_drv_pd_alloc(dev, pd));
	if (!hooks_made(&a, rc, rc ? NULL : *pd))
		made_add(&a, *pd);
	return rc;
}

W(int, drv_pd_free, struct drv_pd *pd)
{
	GONE(drv_pd_free, pd, "a PD");
}

static void region_asked(struct ask *a, const char *call, struct drv_pd *pd, unsigned access)
{
	ask_begin(a, ASK_REGION, call, platform_of(pd), 0);
	a->region.pd = pd;
	a->region.access = access;
}

static int region_made(struct ask *a, int rc, struct drv_mr *const *mr)
{
	struct made *m;

	if (hooks_made(a, rc, rc ? NULL : *mr))
		return rc;
	m = made_add(a, *mr);
	m->pd = a->region.pd;
	m->key = drv_mr_lkey(*mr);
	history_made(a->c, GUEST_MPT, m->key >> 8);
	return rc;
}

W(int, drv_mr_reg_iova, struct drv_pd *pd, void *addr, uint64_t len, uint64_t iova, unsigned access,
  struct drv_mr **mr)
{
	ASK a;

	region_asked(&a, __func__, pd, access);
	a.region.addr = addr;
	a.region.len = len;
	a.region.iova = iova;
	return region_made(
		&a,
		MAKES(&a, mr, __real_drv_mr_reg_iova(pd, addr, len, iova, access, mr), &pd->users),
		mr);
}

W(int, drv_mr_reg, struct drv_pd *pd, void *addr, uint64_t len, unsigned access, struct drv_mr **mr)
{
	ASK a;

	region_asked(&a, __func__, pd, access);
	a.region.addr = addr;
	a.region.len = len;
	a.region.iova = (uintptr_t)addr;
	return region_made(
		&a, MAKES(&a, mr, __real_drv_mr_reg(pd, addr, len, access, mr), &pd->users), mr);
}

W(int, drv_mr_reg_pages, struct drv_pd *pd, const uint64_t *pages, unsigned n, uint64_t iova,
  uint64_t len, unsigned access, struct drv_mr **mr)
{
	ASK a;

	region_asked(&a, __func__, pd, access);
	a.region.pages = pages;
	a.region.len = len;
	a.region.iova = iova;
	return region_made(&a,
			   MAKES(&a, mr,
				 __real_drv_mr_reg_pages(pd, pages, n, iova, len, access, mr),
				 &pd->users),
			   mr);
}

W(int, drv_mr_reg_dma, struct drv_pd *pd, unsigned access, struct drv_mr **mr)
{
	ASK a;

	region_asked(&a, __func__, pd, access);
	a.region.physical = true;
	return region_made(&a, MAKES(&a, mr, __real_drv_mr_reg_dma(pd, access, mr), &pd->users),
			   mr);
}

W(int, drv_mr_alloc_fast, struct drv_pd *pd, unsigned max_pages, struct drv_mr **mr)
{
	ASK a;

	region_asked(&a, __func__, pd, 0);
	a.region.fast = true;
	a.region.max_pages = max_pages;
	return region_made(
		&a, MAKES(&a, mr, __real_drv_mr_alloc_fast(pd, max_pages, mr), &pd->users), mr);
}

W(int, drv_mr_fast_set, struct drv_mr *mr, void *addr, uint64_t len)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, platform_of(mr), 0);
	a.object = mr;
	if (hooks_made(&a, rc = __real_drv_mr_fast_set(mr, addr, len), mr))
		return rc;
	page_list_check(&a, mr, addr, len);
	return 0;
}

W(int, drv_mr_dereg, struct drv_mr *mr)
{
	GONE(drv_mr_dereg, mr, "a region");
}

W(int, drv_mr_rereg_access, struct drv_mr *mr, unsigned access)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_REGION_RIGHTS, __func__, platform_of(mr), drv_mr_lkey(mr) >> 8);
	a.region.access = access;
	rc = ask_result(&a, __real_drv_mr_rereg_access(mr, access));
	if (!rc && !drv_is_dead(drv_device_of(mr)))
		asked_rights_end(&a);
	return rc;
}

W(int, drv_mw_alloc, struct drv_pd *pd, enum ibv_mw_type type, struct drv_mw **mw)
{
	struct made *m;
	ASK a;
	int rc;

	ask_begin(&a, ASK_WINDOW, __func__, platform_of(pd), 0);
	a.region.pd = pd;
	a.region.type = type;
	rc = MAKES(&a, mw, __real_drv_mw_alloc(pd, type, mw), &pd->users);
	if (hooks_made(&a, rc, rc ? NULL : *mw))
		return rc;
	m = made_add(&a, *mw);
	m->pd = pd;
	m->window_type = type;
	m->key = drv_mw_rkey(*mw);
	return rc;
}

W(int, drv_mw_free, struct drv_mw *mw)
{
	GONE(drv_mw_free, mw, "a window");
}

W(int, drv_xrcd_alloc, struct drv_device *dev, struct drv_xrcd **xrcd)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = MAKES(&a, xrcd, __real_drv_xrcd_alloc(dev, xrcd));
	if (!hooks_made(&a, rc, rc ? NULL : *xrcd))
		made_add(&a, *xrcd);
	return rc;
}

W(int, drv_xrcd_free, struct drv_xrcd *xrcd)
{
	GONE(drv_xrcd_free, xrcd, "an XRC domain");
}

W(int, drv_uar_alloc, struct drv_device *dev, struct drv_uar **uar)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = MAKES(&a, uar, __real_drv_uar_alloc(dev, uar));
	if (!hooks_made(&a, rc, rc ? NULL : *uar))
		made_add(&a, *uar);
	return rc;
}

W(int, drv_uar_free, struct drv_uar *uar)
{
	const void *pc = HERE;
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, platform_of(uar), 0);
	a.object = uar;
	rc = hooks_gone(&a, __real_drv_uar_free(uar), uar, "a doorbell page");
	if (rc == -EBUSY)
		made_page_stays(&a, uar, pc);
	return rc;
}
