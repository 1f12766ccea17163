// SPDX-License-Identifier: Apache-2.0
/* XRC domains, which processes share through a file, and XRC receive QPs, which have a number but
 * no handle. */
#include "host_driver/uverbs/uverbs.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* --- domains --- */

static struct uv_domain *domain_find(const struct uv_file *file, const struct uv_inode *inode)
{
	const struct uv_host *host = file->process->host;

	for (struct drv_list *l = host->xrcds.next; l != &host->xrcds; l = l->next) {
		struct uv_domain *d = container_of(l, struct uv_domain, link);

		if (inode && d->inode == inode && d->device == file->device)
			return d;
	}
	return NULL;
}

static int domain_create(struct uv_file *file, struct uv_inode *inode, struct uv_domain **out)
{
	struct uv_domain *d = drv_calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	d->xrcd = ib_alloc_xrcd(file->device);
	if (IS_ERR(d->xrcd)) {
		rc = (int)PTR_ERR(d->xrcd);
		free(d);
		return rc;
	}
	d->device = file->device;
	d->inode = inode;
	d->xrcd->inode = inode;
	drv_list_add(&file->process->host->xrcds, &d->link);
	if (inode)
		inode->refs++;
	*out = d;
	return 0;
}

static int domain_open(struct uv_file *file, int fd, int oflags, struct uv_domain **out)
{
	struct uv_inode *inode = NULL;
	struct uv_domain *d;
	struct uv_fd *f;

	if (fd != -1) {
		f = uv_fd_find(file->process, fd, UV_FD_INODE);
		if (!f)
			return -EBADF;
		inode = f->inode;
	}
	d = domain_find(file, inode);
	if (!d && inode && !(oflags & O_CREAT))
		return -EAGAIN;
	if (d && oflags & O_EXCL)
		return -EINVAL;
	if (!d) {
		int rc = domain_create(file, inode, &d);

		if (rc)
			return rc;
	}
	d->opens++;
	*out = d;
	return 0;
}

int uvk_open_xrcd(struct uv_file *file, int fd, int oflags, uint32_t *handle)
{
	struct uv_object *o = uv_object_new(file, UV_XRCD, NULL);
	int rc;

	if (!o)
		return -ENOMEM;
	uv_domains_lock(file->process->host);
	rc = domain_open(file, fd, oflags, &o->domain);
	uv_domains_unlock(file->process->host);
	return uv_object_done(o, rc, handle);
}

static int domain_close(struct uv_domain *d)
{
	int rc;

	if (d->opens > 1) {
		d->opens--;
		return 0;
	}
	rc = ib_dealloc_xrcd(d->xrcd);
	if (rc)
		return rc;
	if (d->inode)
		uv_inode_put(d->inode);
	drv_list_del(&d->link);
	free(d);
	return 0;
}

int uvk_xrcd_destroy(struct uv_object *o)
{
	struct uv_host *host = o->file->process->host;
	int rc;

	if (o->xrcd_users)
		return -EBUSY;
	uv_domains_lock(host);
	rc = domain_close(o->domain);
	uv_domains_unlock(host);
	return rc;
}

/* --- receive QPs by number --- */

static struct uv_object *registration_find(struct uv_file *file, const struct uv_object *xrcd,
					   uint32_t qpn)
{
	for (struct drv_list *l = file->objects.next; l != &file->objects; l = l->next) {
		struct uv_object *o = container_of(l, struct uv_object, link);

		if (o->kind == UV_XRC_RCV && !o->busy && o->xrcd == xrcd && o->qp->qp_num == qpn)
			return o;
	}
	return NULL;
}

int uvk_alloc_rcv_qp(struct uv_file *file, uint32_t pd, uint32_t xrcd,
		     const struct ibv_qp_attr *attr, int mask, uint32_t *qpn)
{
	struct ib_qp_attr a;
	int rc = 0;
	struct uv_object *p = uv_object_get(file, UV_PD, pd, &rc);
	struct uv_object *x = uv_object_get(file, UV_XRCD, xrcd, &rc);

	if (!rc) {
		uv_attr_to_ib(attr, &a);
		rc = ib_alloc_xrc_rcv_qp(x->domain->xrcd, &a, (unsigned)mask, qpn);
	}
	uv_object_put(x);
	uv_object_put(p);
	return rc;
}

/* Makes the object that stands for the process' registration. It holds a handle of the RDMA
 * core. */
static int registration_add(struct uv_object *x, struct uv_object *o, struct ib_qp *qp)
{
	uint32_t handle;

	if (IS_ERR(qp))
		return uv_object_done(o, (int)PTR_ERR(qp), &handle);
	o->qp = qp;
	o->xrcd = x;
	x->xrcd_users++;
	return uv_object_done(o, 0, &handle);
}

int uvk_create_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t *qpn)
{
	struct ib_qp_init_attr init = {
		.event_handler = uv_object_event, .qp_type = IB_QPT_XRC_TGT, .user = true};
	int rc = 0;
	struct uv_object *x = uv_object_get(file, UV_XRCD, xrcd, &rc), *o;

	if (rc)
		return rc;
	o = uv_object_new(file, UV_XRC_RCV, NULL);
	if (!o) {
		rc = -ENOMEM;
	} else {
		init.qp_context = o;
		init.xrcd = x->domain->xrcd;
		rc = registration_add(x, o, ib_create_qp(NULL, &init));
	}
	if (!rc)
		*qpn = o->qp->qp_num;
	uv_object_put(x);
	return rc;
}

/* Opens the QP of that number for the time of one call, without an event handler. */
static struct ib_qp *borrow(struct uv_object *x, uint32_t qpn)
{
	return ib_open_qp(x->domain->xrcd, qpn, NULL, NULL);
}

int uvk_modify_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t qpn,
		      const struct ibv_qp_attr *attr, int mask)
{
	struct ib_qp_attr a;
	struct ib_qp *qp;
	int rc = 0;
	struct uv_object *x = uv_object_get(file, UV_XRCD, xrcd, &rc);

	if (rc)
		return rc;
	qp = borrow(x, qpn);
	rc = IS_ERR(qp) ? (int)PTR_ERR(qp) : 0;
	if (!rc) {
		uv_attr_to_ib(attr, &a);
		rc = ib_modify_qp(qp, &a, (unsigned)mask);
		ib_destroy_qp(qp);
	}
	uv_object_put(x);
	return rc;
}

int uvk_query_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t qpn, struct ibv_qp_attr *attr,
		     struct ibv_qp_cap *cap)
{
	struct ib_qp_attr a;
	struct ib_qp *qp;
	int rc = 0;
	struct uv_object *x = uv_object_get(file, UV_XRCD, xrcd, &rc);

	if (rc)
		return rc;
	qp = borrow(x, qpn);
	rc = IS_ERR(qp) ? (int)PTR_ERR(qp) : 0;
	if (!rc) {
		rc = ib_query_qp(qp, &a, 0, NULL);
		ib_destroy_qp(qp);
	}
	if (!rc) {
		uv_attr_from_ib(&a, attr);
		*cap = attr->cap;
	}
	uv_object_put(x);
	return rc;
}

int uvk_reg_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t qpn)
{
	int rc = 0;
	struct uv_object *x = uv_object_get(file, UV_XRCD, xrcd, &rc), *o;

	if (rc)
		return rc;
	if (registration_find(file, x, qpn))
		goto put;
	o = uv_object_new(file, UV_XRC_RCV, NULL);
	rc = o ? registration_add(x, o, ib_open_qp(x->domain->xrcd, qpn, uv_object_event, o))
	       : -ENOMEM;
put:
	uv_object_put(x);
	return rc;
}

int uvk_unreg_rcv_qp(struct uv_file *file, uint32_t xrcd, uint32_t qpn)
{
	int rc = 0;
	struct uv_object *x = uv_object_get(file, UV_XRCD, xrcd, &rc), *o;

	if (rc)
		return rc;
	o = registration_find(file, x, qpn);
	rc = o ? uvk_destroy(file, UV_XRC_RCV, o->handle, NULL) : -EINVAL;
	uv_object_put(x);
	return rc;
}
