// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: the layers above mlx4. Who counts as a user of what (counts.h), which objects of a process
 * a call holds, and what connections tell their queue pairs. */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/held/counts.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/held/pins.h"
#include "testbench/dsan/held/taken.h"
#include "testbench/dsan/mads/connections.h"
#include "testbench/dsan/mads/mads.h"

#include "host_driver/cm/cm.h"
#include "host_driver/core/core.h"
#include "host_driver/uverbs/uverbs.h"

#define OBJECT "the object with handle"

enum { WRITERS = 18, NAMES_BYTES = 200 };

/* --- the RDMA core: objects that count their users --- */

static void begin(struct counts *n, const struct ib_device *device, const char *call)
{
	counts_begin(n, checker_of_host(device->platform->host), call);
}

/* The result of a function that returns ERR_PTR. */
static void *made(struct counts *n, void *object)
{
	counts_made(n, IS_ERR(object) ? NULL : object);
	return object;
}

#define USES(n, object, what) counts_use(n, object, (object) ? &(object)->usecnt : NULL, what)

#define WITH_PD(type, name, pd, parameters, arguments)                                             \
	W(struct type *, name, struct ib_pd *pd, UNPACK parameters)                                \
	{                                                                                          \
		struct counts n;                                                                   \
                                                                                                   \
		begin(&n, (pd)->device, __func__);                                                 \
		USES(&n, pd, "PD");                                                                \
		return made(&n, __real_##name(pd, UNPACK arguments));                              \
	}
#define UNPACK(...) __VA_ARGS__

WITH_PD(ib_mr, ib_alloc_mr, pd, (enum ib_mr_type type, uint32_t max_num_sg), (type, max_num_sg))
WITH_PD(ib_mr, ib_reg_user_mr, pd,
	(void *start, uint64_t length, uint64_t virt_addr, unsigned access),
	(start, length, virt_addr, access))
WITH_PD(ib_mr, ib_get_dma_mr, pd, (unsigned access), (access))
WITH_PD(ib_mr, ib_reg_phys_mr, pd,
	(struct ib_phys_buf * buf, int n_bufs, int access, uint64_t *iova),
	(buf, n_bufs, access, iova))
WITH_PD(ib_mw, ib_alloc_mw, pd, (enum ib_mw_type type), (type))

/* An address takes part in the users of its GID, so that no other address gets its place. Source: Linux
 * rdma_fill_sgid_attr, rdma_hold_gid_attr */
void gid_held_check(const struct ib_device *device, const struct ib_gid_hold *hold,
		    const struct rdma_ah_attr *attr, const void *pc)
{
	struct checker *c = checker_of_host(device->platform->host);
	const struct net_port *netdev = device->netdev[attr->port_num];

	if (c && netdev && (hold->netdev != netdev || hold->index != attr->grh.sgid_index))
		c->tell(c, &(struct breach){RULE_users_differ, {0}, pc, NULL},
			"an address uses the GID of index %u, and does not count as a user of it",
			attr->grh.sgid_index);
}

W(struct ib_ah *, rdma_create_ah, struct ib_pd *pd, const struct rdma_ah_attr *attr, uint32_t flags)
{
	struct counts n;
	struct ib_ah *ah;

	begin(&n, pd->device, __func__);
	USES(&n, pd, "PD");
	ah = made(&n, __real_rdma_create_ah(pd, attr, flags));
	if (!IS_ERR(ah))
		gid_held_check(pd->device, &ah->gid, attr, INSIDE(rdma_create_ah));
	return ah;
}

/* A function that destroys an object, whose device's host is that. -EBUSY: it stays. */
#define ENDS(type, name)                                                                           \
	W(int, name, struct type *object)                                                          \
	{                                                                                          \
		struct counts n;                                                                   \
		int rc;                                                                            \
                                                                                                   \
		begin(&n, object->device, __func__);                                               \
		counts_leave(&n, object);                                                          \
		rc = __real_##name(object);                                                        \
		counts_left(&n, object, !rc);                                                      \
		return rc;                                                                         \
	}

ENDS(ib_mr, ib_dereg_mr)
ENDS(ib_mw, ib_dealloc_mw)
ENDS(ib_srq, ib_destroy_srq)
ENDS(ib_qp, ib_close_qp)
ENDS(ib_pd, ib_dealloc_pd)
ENDS(ib_cq, ib_destroy_cq)
ENDS(ib_xrcd, ib_dealloc_xrcd)

/* The last handle of a queue pair takes the queue pair with it. Source: Linux __ib_destroy_shared_qp */
W(int, ib_destroy_qp, struct ib_qp *object)
{
	const struct ib_qp *real = object->real_qp;
	struct checker *c = checker_of_host(object->device->platform->host);
	const bool last = real != object && real->usecnt == 1 && !real->domain_owned;
	const uint32_t qpn = object->qp_num;
	struct counts n;
	int rc;

	begin(&n, object->device, __func__);
	counts_leave(&n, object);
	rc = __real_ib_destroy_qp(object);
	counts_left(&n, object, !rc);
	if (!rc)
		pin_back(object);
	if (c && last && !rc && !hca_is_stopped(c->host.hca) &&
	    hca_object_valid(c->host.hca, HCA_QP, qpn))
		c->tell(c,
			&(struct breach){
				RULE_not_given_back, {GUEST_QP, qpn}, INSIDE(ib_destroy_qp), NULL},
			"the last handle of a queue pair is destroyed, and the queue pair is left");
	return rc;
}

W(int, rdma_destroy_ah, struct ib_ah *ah, uint32_t flags)
{
	struct counts n;
	int rc;

	begin(&n, ah->device, __func__);
	counts_leave(&n, ah);
	rc = __real_rdma_destroy_ah(ah, flags);
	counts_left(&n, ah, !rc);
	return rc;
}

W(struct ib_srq *, ib_create_srq, struct ib_pd *pd, struct ib_srq_init_attr *attr)
{
	struct counts n;

	begin(&n, pd->device, __func__);
	USES(&n, pd, "PD");
	if (attr->srq_type == IB_SRQT_XRC) {
		USES(&n, attr->ext.cq, "CQ");
		USES(&n, attr->ext.xrc.xrcd, "XRC domain");
	}
	return made(&n, __real_ib_create_srq(pd, attr));
}

/* Only the kernel may name memory by the reserved L_Key, and register by requests. Source: Linux mlx4_ib
 * __mlx4_ib_modify_qp: a queue pair with a uobject gets neither bit */
static void of_process_check(const struct ib_device *device, const struct ib_qp_init_attr *attr)
{
	struct checker *c = checker_of_host(device->platform->host);
	char names[ENTERED_CHARS];

	if (!c || attr->user || attr->event_handler != uv_object_event)
		return;
	entered_format(names);
	c->tell(c, &(struct breach){RULE_context_differs, {0}, NULL, NULL},
		"a queue pair of a process is made as one of the kernel, with the reserved L_Key "
		"and "
		"fast registrations; these ran last: %s",
		names);
}

W(struct ib_qp *, ib_create_qp, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	const bool target = attr->qp_type == IB_QPT_XRC_TGT;
	const struct ib_device *device = pd ? pd->device : attr->xrcd ? attr->xrcd->device : NULL;
	struct counts n;

	if (!device)
		return __real_ib_create_qp(pd, attr);
	of_process_check(device, attr);
	begin(&n, device, __func__);
	if (target) {
		USES(&n, attr->xrcd, "XRC domain");
	} else {
		USES(&n, pd, "PD");
		USES(&n, attr->send_cq, "send CQ");
		if (attr->qp_type != IB_QPT_XRC_INI)
			USES(&n, attr->recv_cq, "receive CQ");
		USES(&n, attr->srq, "SRQ");
	}
	return made(&n, __real_ib_create_qp(pd, attr));
}

W(struct ib_qp *, ib_open_qp, struct ib_xrcd *xrcd, uint32_t qp_num,
  void (*event_handler)(struct ib_event *event, void *qp_context), void *qp_context)
{
	struct counts n;
	struct ib_qp *qp;

	begin(&n, xrcd->device, __func__);
	USES(&n, xrcd, "XRC domain");
	qp = made(&n, __real_ib_open_qp(xrcd, qp_num, event_handler, qp_context));
	/* one that wants no events is there for the time of a call */
	if (!IS_ERR(qp) && !event_handler)
		pin(xrcd->device->platform->host, qp, "a handle of queue pair", qp_num, HERE);
	return qp;
}

/* A group counts as a user of its queue pair. */
static int group(struct counts *n, const struct ib_qp *qp, int rc, int more)
{
	const unsigned asked = n->of[0].before + (unsigned)(rc ? 0 : more);

	if (n->n && n->c && qp->usecnt != asked)
		n->c->tell(n->c,
			   &(struct breach){RULE_users_differ, {GUEST_QP, qp->qp_num}, NULL, NULL},
			   "%s returns %d: the users of the QP were %u and are %u, %u are right",
			   n->call, rc, n->of[0].before, qp->usecnt, asked);
	return rc;
}

W(int, ib_attach_mcast, struct ib_qp *qp, const union ib_gid *gid, uint16_t lid)
{
	struct counts n;

	begin(&n, qp->device, __func__);
	USES(&n, qp, "QP");
	return group(&n, qp, __real_ib_attach_mcast(qp, gid, lid), 1);
}

W(int, ib_detach_mcast, struct ib_qp *qp, const union ib_gid *gid, uint16_t lid)
{
	struct counts n;

	begin(&n, qp->device, __func__);
	USES(&n, qp, "QP");
	return group(&n, qp, __real_ib_detach_mcast(qp, gid, lid), -1);
}

/* --- objects of processes --- */

W(struct uv_object *, uv_object_get, struct uv_file *file, enum uv_kind kind, uint32_t handle,
  int *rc)
{
	struct uv_object *o = __real_uv_object_get(file, kind, handle, rc);

	if (o) {
		pin(file->device->platform->host, o, OBJECT, handle, HERE);
		process_object_given(o, HERE);
	}
	return o;
}

W(void, uv_object_put, struct uv_object *o)
{
	struct checker *c = o ? checker_of_host(o->file->process->host->platform->host) : NULL;
	char names[ENTERED_CHARS];

	if (o && !pin_back_in_call(o, HERE) && c) {
		entered_format(names);
		c->tell(c, &(struct breach){RULE_users_differ, {0}, HERE, NULL},
			"a call of user verbs gives back " OBJECT
			" %u, which it does not hold, so its users are counted wrong from now "
			"on; these functions ran last: %s",
			o->handle, names);
	}
	__real_uv_object_put(o);
}

W(struct uv_object *, uv_object_new, struct uv_file *file, enum uv_kind kind, void *user)
{
	struct uv_object *o = __real_uv_object_new(file, kind, user);
	struct checker *c = checker_of_host(file->process->host->platform->host);

	if (o && !o->busy && c)
		c->tell(c, &(struct breach){RULE_lock_missing, {0}, INSIDE(uv_object_new), HERE},
			"a new object stands in the list of its file, and other calls may have it "
			"before it is made");
	if (o)
		pin(file->device->platform->host, o, OBJECT, o->handle, HERE);
	return o;
}

W(int, uv_object_done, struct uv_object *object, int rc, uint32_t *handle)
{
	pin_back_in_call(object, HERE);
	return __real_uv_object_done(object, rc, handle);
}

/* What the kernel's side of an object tells of it, it tells with the library's structure. */
W(void, uv_heap_free, void *p)
{
	struct uv_process *process = p ? uv_process_current() : NULL;
	struct checker *c = process ? checker_of_host(process->host->platform->host) : NULL;
	char names[ENTERED_CHARS];

	for (struct drv_list *f = c ? process->files.next : NULL; f && f != &process->files;
	     f = f->next) {
		struct uv_file *file = container_of(f, struct uv_file, link);

		for (struct drv_list *l = file->objects.next; l != &file->objects; l = l->next) {
			const struct uv_object *o = container_of(l, struct uv_object, link);

			if (o->user != p)
				continue;
			entered_format(names);
			c->tell(c, &(struct breach){RULE_freed_in_use, {0}, HERE, NULL},
				"the library's structure of object %u is freed, and the kernel's "
				"side of it is not destroyed; these functions ran last: %s",
				o->handle, names);
		}
	}
	__real_uv_heap_free(p);
}

W(void, uv_process_exit, struct uv_process *process)
{
	entered_process_ends(true);
	__real_uv_process_exit(process);
	process_events_forget(process);
	entered_process_ends(false);
}

W(void, uv_kernel_leave, void)
{
	pins_call_ends();
	__real_uv_kernel_leave();
}

/* --- what objects of processes count on each other --- */

/* A domain counts the process's objects in it, a channel its CQs. */
static void part_begin(struct counts *n, struct uv_file *file, const char *call, uint32_t domain)
{
	begin(n, file->device, call);
	for (struct drv_list *l = file->objects.next; l != &file->objects; l = l->next) {
		struct uv_object *o = container_of(l, struct uv_object, link);

		if (o->kind == UV_XRCD && o->handle == domain)
			counts_use(n, o, &o->xrcd_users, "XRC domain");
	}
}

/* The new object is known by the process's structure, whose end is not heard of. */
static int part_made(struct counts *n, int rc, const void *object)
{
	counts_made(n, rc ? NULL : object);
	counts_freed(object);
	return rc;
}

enum { NO_DOMAIN = 0 }; /* handles begin with 1 */

W(int, uvk_create_cq, struct uv_file *file, int cqe, struct uv_channel *channel, int vector,
  bool stamped, struct ibv_cq *cq, struct drv_cq **hw)
{
	struct counts n;

	part_begin(&n, file, __func__, NO_DOMAIN);
	counts_use(&n, channel, channel ? &channel->refs : NULL, "channel");
	return part_made(&n, __real_uvk_create_cq(file, cqe, channel, vector, stamped, cq, hw), cq);
}

W(int, uvk_create_srq, struct uv_file *file, struct ibv_srq_init_attr_ex *attr, struct ibv_srq *srq,
  struct drv_srq **hw)
{
	struct counts n;

	part_begin(&n, file, __func__,
		   attr->srq_type == IBV_SRQT_XRC ? attr->xrcd->handle : NO_DOMAIN);
	return part_made(&n, __real_uvk_create_srq(file, attr, srq, hw), srq);
}

W(int, uvk_create_qp, struct uv_file *file, struct ibv_qp_init_attr_ex *attr, struct ibv_qp *qp,
  struct drv_qp **hw)
{
	struct counts n;

	part_begin(&n, file, __func__,
		   attr->qp_type == IBV_QPT_XRC_RECV ? attr->xrcd->handle : NO_DOMAIN);
	return part_made(&n, __real_uvk_create_qp(file, attr, qp, hw), qp);
}

W(int, uvk_open_qp, struct uv_file *file, const struct ibv_qp_open_attr *attr, struct ibv_qp *qp)
{
	struct counts n;

	part_begin(&n, file, __func__, attr->xrcd->handle);
	return part_made(&n, __real_uvk_open_qp(file, attr, qp), qp);
}

W(int, uvk_create_rcv_qp, struct uv_file *file, uint32_t xrcd, uint32_t *qpn)
{
	struct counts n;

	part_begin(&n, file, __func__, xrcd);
	return part_made(&n, __real_uvk_create_rcv_qp(file, xrcd, qpn), qpn);
}

/* --- connections --- */

W(int, ib_cm_init_qp_attr, struct ib_cm_id *cm_id, struct ib_qp_attr *attr, int *mask)
{
	const int rc = __real_ib_cm_init_qp_attr(cm_id, attr, mask);
	struct checker *c = checker_of_host(cm_id->device->platform->host);

	const struct cm_id *id = (const void *)cm_id;
	const void *pcs[WRITERS];
	char writers[NAMES_BYTES];
	unsigned least;

	if (rc || !c)
		return rc;
	checker_functions(pcs,
			  heap_writers(&id->qp_type, sizeof(*id) - offsetof(struct cm_id, qp_type),
				       pcs, WRITERS),
			  writers, sizeof(writers));
	connections_attributes_check(c, cm_id, attr, (unsigned)*mask, writers);
	least = connections_ack_timeout(c, cm_id, id->av.life_time);
	if (*mask & IB_QP_TIMEOUT && attr->timeout && attr->timeout < least)
		checker_report(c, &(struct breach){RULE_mad_answer, {0}, NULL, NULL},
			       "an ACK timeout of code %u, and the path's life time and the peer's "
			       "ACK delay are %u; the connection's numbers were written by %s",
			       attr->timeout, least, writers);
	return rc;
}

/* A function of the driver's would begin a new trail. */
static bool same_peer(const struct rdma_ah_attr *a, const struct rdma_ah_attr *b)
{
	return a->dlid == b->dlid && a->port_num == b->port_num &&
	       !memcmp(a->grh.dgid.raw, b->grh.dgid.raw, sizeof(a->grh.dgid.raw));
}

/* Source: IBA 12.8.2, 17.2.8; Linux cm_notify (cm_migrate) */
W(int, ib_cm_notify, struct ib_cm_id *cm_id, enum ib_event_type event)
{
	struct checker *c = checker_of_host(cm_id->device->platform->host);
	const struct cm_id *id = (const void *)cm_id;
	const struct cm_av alternate = id->alt_av;
	const int rc = __real_ib_cm_notify(cm_id, event);
	char names[ENTERED_CHARS];

	if (!c || rc || event != IB_EVENT_PATH_MIG ||
	    (id->av.port == alternate.port && same_peer(&id->av.ah, &alternate.ah)))
		return rc;
	entered_format(names);
	c->tell(c, &(struct breach){RULE_mad_differs, {0}, NULL, NULL},
		"a connection has migrated to its alternate path, and its messages still take the "
		"path that it has left; these ran last: %s",
		names);
	return rc;
}

/* --- directed routes --- */

W(bool, drv_smi_receive, struct smp *smp, unsigned port)
{
	const struct smp before = *smp;
	const bool rc = __real_drv_smi_receive(smp, port);

	mads_hop_check(&before, smp, port, rc, false, HERE);
	return rc;
}

W(bool, drv_smi_send, struct smp *smp, unsigned port)
{
	const struct smp before = *smp;
	const bool rc = __real_drv_smi_send(smp, port);

	mads_hop_check(&before, smp, port, rc, true, HERE);
	return rc;
}
