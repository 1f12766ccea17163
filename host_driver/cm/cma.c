// SPDX-License-Identifier: Apache-2.0
/* Ids of rdma_cm: creation and destruction, channels, addresses and routes. cma_connect.c connects
 * them. */
#include "host_driver/cm/cma_impl.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_FIRST = 32768, PORT_LAST = 60999, BACKLOG = 1024, TIMEOUT_MAX = 31 };

/* --- addresses --- */

static size_t addr_bytes(const struct sockaddr *addr)
{
	return addr->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
	       : addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					     : 0;
}

/* The address bytes of a socket address, and their number. */
static const uint8_t *addr_of(const struct sockaddr_storage *s, size_t *len)
{
	if (s->ss_family == AF_INET) {
		*len = 4;
		return (const uint8_t *)&((const struct sockaddr_in *)s)->sin_addr;
	}
	*len = 16;
	return (const uint8_t *)&((const struct sockaddr_in6 *)s)->sin6_addr;
}

static bool same_addr(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	size_t n, m;
	const uint8_t *x = addr_of(a, &n), *y = addr_of(b, &m);

	return a->ss_family == b->ss_family && !memcmp(x, y, n);
}

static bool is_any(const struct sockaddr_storage *a)
{
	static const uint8_t zeros[16];
	size_t n;
	const uint8_t *x = addr_of(a, &n);

	return !memcmp(x, zeros, n);
}

/* IPv4 and IPv6 addresses have the port at the same offset. */
uint16_t cma_port(const struct sockaddr_storage *a)
{
	return ntohs(((const struct sockaddr_in *)a)->sin_port);
}

static void set_port(struct sockaddr_storage *a, uint16_t port)
{
	((struct sockaddr_in *)a)->sin_port = htons(port);
}

int cma_addr_add(struct ib_device *device, const struct sockaddr *addr, const union ib_gid *gid,
		 unsigned port, bool own)
{
	struct cm_device *cm = cm_of(device);
	struct cma_addr *a;

	if (!cm)
		return -ENODEV;
	if (!addr_bytes(addr))
		return -EAFNOSUPPORT;
	a = drv_calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	memcpy(&a->addr, addr, addr_bytes(addr));
	set_port(&a->addr, 0);
	a->gid = *gid;
	a->port = port;
	a->own = own;
	drv_list_add(&cm->addrs, &a->link);
	return 0;
}

void cma_addr_clear(struct cm_device *cm)
{
	while (!drv_list_empty(&cm->addrs)) {
		struct cma_addr *a = container_of(cm->addrs.next, struct cma_addr, link);

		drv_list_del(&a->link);
		free(a);
	}
}

/* Finds the address `wanted`. If that is NULL, finds one of this host's own addresses of that
 * family and port (0: any port). */
static const struct cma_addr *addr_find(struct cm_device *cm, const struct sockaddr_storage *wanted,
					int family, unsigned port)
{
	for (struct drv_list *l = cm->addrs.next; l != &cm->addrs; l = l->next) {
		const struct cma_addr *a = container_of(l, struct cma_addr, link);

		if (wanted ? same_addr(&a->addr, wanted)
			   : a->own && a->addr.ss_family == family && (!port || a->port == port))
			return a;
	}
	return NULL;
}

/* The first device of the host that has connection management, or NULL. */
static struct cm_device *device_of_host(const struct uv_host *host)
{
	for (unsigned i = 0; i < host->n_devices; i++)
		if (cm_of(host->devices[i]))
			return cm_of(host->devices[i]);
	return NULL;
}

static struct cm_device *device_of(const struct cma_id *id)
{
	return device_of_host(id->channel->process->host);
}

bool cma_addr_is_foreign(const struct uv_host *host, const struct sockaddr *addr)
{
	struct cm_device *cm = device_of_host(host);
	struct sockaddr_storage wanted = {0};
	const struct cma_addr *a;

	if (!cm || !addr_bytes(addr))
		return false;
	memcpy(&wanted, addr, addr_bytes(addr));
	a = addr_find(cm, &wanted, 0, 0);
	return a && !a->own;
}

/* --- ports --- */

static bool port_in_use(struct cm_device *cm, const struct cma_id *id,
			const struct sockaddr_storage *addr, uint16_t port)
{
	for (struct drv_list *l = cm->bound.next; l != &cm->bound; l = l->next) {
		const struct cma_id *other = container_of(l, struct cma_id, bound);

		if (other->reuse_addr && id->reuse_addr && other->state != CMA_LISTEN)
			continue;
		if (other != id && other->ps == id->ps && cma_port(&other->src) == port &&
		    (is_any(&other->src) || is_any(addr) || same_addr(&other->src, addr)))
			return true;
	}
	return false;
}

static int take_port(struct cm_device *cm, struct cma_id *id, struct sockaddr_storage *addr)
{
	uint16_t port = cma_port(addr);

	if (port && port_in_use(cm, id, addr, port))
		return -EADDRINUSE;
	for (unsigned i = PORT_FIRST; !port && i <= PORT_LAST; i++) {
		cm->last_port = (uint16_t)(cm->last_port >= PORT_FIRST && cm->last_port < PORT_LAST
						   ? cm->last_port + 1
						   : PORT_FIRST);
		if (!port_in_use(cm, id, addr, cm->last_port))
			port = cm->last_port;
	}
	if (!port)
		return -EADDRNOTAVAIL;
	set_port(addr, port);
	id->src = *addr;
	id->cm = cm;
	drv_list_del(&id->bound);
	drv_list_add(&cm->bound, &id->bound);
	return 0;
}

int cma_bind(struct cma_id *id, const struct sockaddr *addr)
{
	struct cm_device *cm = device_of(id);
	struct sockaddr_storage src = {0};
	const struct cma_addr *own = NULL;
	int rc;

	if (id->state != CMA_IDLE)
		return -EINVAL;
	if (!addr_bytes(addr))
		return -EAFNOSUPPORT;
	if (!cm)
		return -ENODEV;
	memcpy(&src, addr, addr_bytes(addr));
	if (!is_any(&src)) {
		own = addr_find(cm, &src, 0, 0);
		if (!own || !own->own)
			return -EADDRNOTAVAIL;
	}
	rc = take_port(cm, id, &src);
	if (rc)
		return rc;
	if (own) {
		id->port = own->port;
		id->path.sgid = own->gid;
	}
	id->state = CMA_ADDR_BOUND;
	return 0;
}

/* --- events --- */

/* Queues an event for the process. -ENOMEM: there is no event. */
int cma_event(struct cma_id *id, struct cma_id *listener, enum rdma_cm_event_type type, int status,
	      const union cma_param *param)
{
	struct uv_process *process = id->channel->process;
	struct platform *p = process->host->platform;
	struct cma_event *e;

	if (id->destroying)
		return 0;
	e = drv_calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->id = id;
	e->listener = listener;
	e->type = type;
	e->status = status;
	if (param) {
		e->param = *param;
		if (param->conn.private_data_len > CMA_DATA)
			e->param.conn.private_data_len = CMA_DATA;
		if (param->conn.private_data)
			memcpy(e->data, param->conn.private_data, e->param.conn.private_data_len);
		e->param.conn.private_data = param->conn.private_data ? e->data : NULL;
	}
	drv_list_add(&id->channel->uv->events, &e->link);
	p->ops->waitq_wake_all(p, process->waitq);
	return 0;
}

struct cma_event *cma_take(struct cma_channel *channel)
{
	struct cma_event *e;

	if (drv_list_empty(&channel->uv->events))
		return NULL;
	e = container_of(channel->uv->events.next, struct cma_event, link);
	drv_list_del(&e->link);
	(e->listener ? e->listener : e->id)->reported++;
	if (e->listener)
		e->listener->pending--;
	return e;
}

/* Drops events of the id that the process has not taken. Connection requests among them are
 * destroyed. */
static void events_drop(struct cma_id *id)
{
	struct drv_list *head = &id->channel->uv->events, *l = head->next;

	while (l != head) {
		struct cma_event *e = container_of(l, struct cma_event, link);
		struct cma_id *child = e->listener == id ? e->id : NULL;

		l = l->next;
		if (e->id != id && !child)
			continue;
		if (e->listener && !child)
			e->listener->pending--;
		drv_list_del(&e->link);
		free(e);
		if (child) {
			cma_destroy(child, NULL);
			/* destroying the child dropped its events, too: begin again */
			l = head->next;
		}
	}
}

/* --- life --- */

void cma_migrate(struct cma_id *id, struct cma_channel *channel)
{
	struct drv_list *head = &id->channel->uv->events, *l = head->next;
	struct platform *p = channel->process->host->platform;

	while (l != head) {
		struct cma_event *e = container_of(l, struct cma_event, link);

		l = l->next;
		if (e->id != id && e->listener != id)
			continue;
		drv_list_del(&e->link);
		drv_list_add(&channel->uv->events, &e->link);
		if (e->listener == id) {
			cma_migrate(e->id, channel);
			l = head->next; /* migrating the child moved its events, too: begin again */
		}
	}
	id->channel->ids--;
	id->channel = channel;
	channel->ids++;
	p->ops->waitq_wake_all(p, channel->process->waitq);
}

/* Runs in a thread that cannot be killed, before the contexts of the process are closed. */
static void process_exit(struct uv_process *process)
{
	struct cma_process *p = process->rdma;

	while (!drv_list_empty(&p->ids))
		cma_destroy(container_of(p->ids.prev, struct cma_id, link), NULL);
	while (!drv_list_empty(&p->channels))
		cma_channel_destroy(container_of(p->channels.next, struct cma_channel, link));
	process->rdma = NULL;
	free(p);
}

static struct cma_process *cma_process_of(struct uv_process *process)
{
	struct cma_process *p = process->rdma;

	if (p)
		return p;
	p = drv_calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	drv_list_init(&p->channels);
	drv_list_init(&p->ids);
	ib_sa_register_client(&p->client);
	process->rdma = p;
	process->rdma_exit = process_exit;
	return p;
}

int cma_channel_create(struct uv_process *process, struct cma_channel **out)
{
	struct cma_process *p = cma_process_of(process);
	struct cma_channel *c = p ? drv_calloc(1, sizeof(*c)) : NULL;
	int rc;

	if (!c)
		return -ENOMEM;
	rc = uv_channel_create(process, UV_FD_CHANNEL, &c->uv);
	if (rc) {
		free(c);
		return rc;
	}
	c->process = process;
	drv_list_add(&p->channels, &c->link);
	*out = c;
	return 0;
}

int cma_channel_destroy(struct cma_channel *c)
{
	if (c->ids)
		return -EBUSY;
	drv_list_del(&c->link);
	uv_channel_put(c->uv);
	free(c);
	return 0;
}

int cma_create(struct cma_channel *channel, enum rdma_port_space ps, void *user,
	       struct cma_id **out)
{
	struct cma_id *id;

	if (ps != RDMA_PS_TCP && ps != RDMA_PS_IB && ps != RDMA_PS_UDP)
		return -EPROTONOSUPPORT;
	id = drv_calloc(1, sizeof(*id));
	if (!id)
		return -ENOMEM;
	id->channel = channel;
	id->ps = ps;
	id->user = user;
	id->ud = ps == RDMA_PS_UDP;
	id->qkey = id->ud ? RDMA_UDP_QKEY : 0;
	drv_list_init(&id->bound);
	drv_list_add(&cma_process_of(channel->process)->ids, &id->link);
	channel->ids++;
	*out = id;
	return 0;
}

int cma_destroy(struct cma_id *id, unsigned *reported)
{
	struct platform *p = id->channel->process->host->platform;

	id->destroying = true;
	if (id->query)
		ib_sa_cancel_query(id->query_number, id->query);
	while (id->query || id->resolving)
		p->ops->waitq_wait(p, id->cm->gone, CM_NEVER);
	if (id->ib)
		ib_destroy_cm_id(id->ib);
	events_drop(id);
	drv_list_del(&id->bound);
	drv_list_del(&id->link);
	id->channel->ids--;
	if (reported)
		*reported = id->reported;
	free(id);
	return 0;
}

int cma_set_option(struct cma_id *id, int level, int name, const void *value, size_t len)
{
	const bool byte = name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT;
	uint8_t small = 0;
	int number = 0;

	if (level != RDMA_OPTION_ID)
		return -ENOSYS;
	if (len != (byte ? sizeof(small) : sizeof(number)))
		return -EINVAL;
	memcpy(byte ? (void *)&small : &number, value, len);
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		id->tos = small;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (id->ud || small > TIMEOUT_MAX)
			return -EINVAL;
		id->ack_timeout = small;
		id->ack_timeout_set = true;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		if (id->state != CMA_IDLE)
			return -EINVAL;
		id->reuse_addr = number;
		return 0;
	case RDMA_OPTION_ID_AFONLY:
		if (id->state != CMA_IDLE && id->state != CMA_ADDR_BOUND)
			return -EINVAL;
		id->af_only = number;
		return 0;
	default:
		return -ENOSYS;
	}
}

/* --- resolving --- */

int cma_resolve_addr(struct cma_id *id, const struct sockaddr *src, const struct sockaddr *dst,
		     int timeout_ms)
{
	struct cm_device *cm = device_of(id);
	const struct cma_addr *to, *from;
	struct sockaddr_storage own = {0};
	int rc;

	if (id->state != CMA_IDLE && id->state != CMA_ADDR_BOUND)
		return -EINVAL;
	if (!addr_bytes(dst) || (src && src->sa_family != dst->sa_family))
		return -EAFNOSUPPORT;
	if (src && id->state == CMA_IDLE) {
		rc = cma_bind(id, src);
		if (rc)
			return rc;
	}
	if (!cm)
		return -ENODEV;
	memset(&id->dst, 0, sizeof(id->dst));
	memcpy(&id->dst, dst, addr_bytes(dst));
	to = addr_find(cm, &id->dst, 0, 0);
	from = addr_find(cm, NULL, dst->sa_family, id->port ? id->port : to ? to->port : 0);
	if (!to && from && !rdma_protocol_roce(cm->device, from->port))
		from = NULL;
	if (!from || (to && from->port != to->port))
		return cma_event(id, NULL, RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH, NULL);
	if (id->state == CMA_IDLE || is_any(&id->src)) {
		own = from->addr;
		set_port(&own, id->state == CMA_IDLE ? 0 : cma_port(&id->src));
		rc = take_port(cm, id, &own);
		if (rc)
			return rc;
	}
	id->port = from->port;
	id->path.sgid = from->gid;
	if (rdma_protocol_roce(cm->device, id->port))
		return cma_roce_resolve_addr(id, timeout_ms);
	id->path.dgid = to->gid;
	rc = cma_event(id, NULL, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
	if (!rc)
		id->state = CMA_ADDR_RESOLVED;
	return rc;
}

static void path_came(int status, struct sa_path_rec *path, unsigned n, void *context)
{
	struct cma_id *id = context;
	struct cm_device *cm = id->cm;

	id->state = status ? CMA_ADDR_RESOLVED : CMA_ROUTE_RESOLVED;
	if (!status)
		id->path = *path;
	cma_event(id, NULL, status ? RDMA_CM_EVENT_ROUTE_ERROR : RDMA_CM_EVENT_ROUTE_RESOLVED,
		  status, NULL);
	id->query = NULL;
	cm->p->ops->waitq_wake_all(cm->p, cm->gone);
}

int cma_resolve_route(struct cma_id *id, int timeout_ms)
{
	struct sa_path_rec rec = {.sgid = id->path.sgid,
				  .dgid = id->path.dgid,
				  .pkey = htobe16(PKEY_DEFAULT),
				  .numb_path = 1,
				  .reversible = 1,
				  .qos_class = htobe16(id->tos),
				  .service_id = htobe64(cma_service_id(id, &id->dst))};
	int rc;

	if (id->state != CMA_ADDR_RESOLVED || timeout_ms <= 0)
		return -EINVAL;
	if (rdma_protocol_roce(id->cm->device, id->port))
		return cma_roce_resolve_route(id);
	rc = ib_sa_path_rec_get(
		&cma_process_of(id->channel->process)->client, id->cm->device, id->port, &rec,
		IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_PKEY |
			IB_SA_PATH_REC_NUMB_PATH | IB_SA_PATH_REC_REVERSIBLE |
			IB_SA_PATH_REC_SERVICE_ID | (id->tos ? IB_SA_PATH_REC_QOS_CLASS : 0),
		(unsigned long)timeout_ms, GFP_KERNEL, path_came, id, &id->query);
	if (rc < 0)
		return rc;
	id->query_number = rc;
	id->state = CMA_ROUTE_QUERY;
	return 0;
}

/* --- listening --- */

int cma_listen(struct cma_id *id, int backlog)
{
	struct ib_cm_id *ib;
	int rc;

	if (id->state == CMA_IDLE) {
		const struct sockaddr_in any = {.sin_family = AF_INET};

		rc = cma_bind(id, (const struct sockaddr *)&any);
		if (rc)
			return rc;
	}
	if (id->state != CMA_ADDR_BOUND)
		return -EINVAL;
	ib = ib_create_cm_id(id->cm->device, cma_listen_handler, id);
	if (IS_ERR(ib))
		return (int)PTR_ERR(ib);
	rc = ib_cm_listen(ib, htobe64(cma_service_id(id, &id->src)));
	if (rc) {
		ib_destroy_cm_id(ib);
		return rc == -EBUSY ? -EADDRINUSE : rc;
	}
	id->ib = ib;
	id->backlog = backlog > 0 && backlog < BACKLOG ? (unsigned)backlog : BACKLOG;
	id->state = CMA_LISTEN;
	return 0;
}
