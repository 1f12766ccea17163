/* SPDX-License-Identifier: Apache-2.0 */
#include "host_driver/iwarp/rdma_iw.h"
#include "host_driver/mlx4/alloc.h"

#include <errno.h>
#include <stdlib.h>

enum id_state {
	ID_IDLE,
	ID_ADDR_RESOLVED,
	ID_ROUTE_RESOLVED,
	ID_CONNECTING, /* rdma_connect, or a request that waits for an answer */
	ID_CONNECTED,
	ID_LISTENING,
	ID_OVER,
};

struct rdma_iw_id {
	struct iw_host *host;
	rdma_iw_handler *handler;
	void *arg;
	enum id_state state;
	struct iw_address to;
	struct iw_cm_id *iw; /* NULL: none yet, or gone */
	unsigned holds;
	bool destroyed;
};

static void id_hold(struct rdma_iw_id *id)
{
	id->holds++;
}

static void id_let(struct rdma_iw_id *id)
{
	if (--id->holds)
		return;
	id->host->ids--;
	free(id);
}

static void tell(struct rdma_iw_id *id, struct rdma_iw_event event)
{
	event.id = id;
	if (!id->destroyed)
		id->handler(id->arg, &event);
}

static void tell_plain(struct rdma_iw_id *id, enum rdma_cm_event_type type)
{
	tell(id, (struct rdma_iw_event){.event = type});
}

static struct rdma_iw_id *id_make(struct iw_host *host, rdma_iw_handler *handler, void *arg)
{
	struct rdma_iw_id *id = drv_calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	*id = (struct rdma_iw_id){.host = host, .handler = handler, .arg = arg, .holds = 1};
	host->ids++;
	return id;
}

/* What the end of connect means, as Linux's rdma_cm has it. */
static enum rdma_cm_event_type reply_event(int status)
{
	switch (status) {
	case 0:
		return RDMA_CM_EVENT_ESTABLISHED;
	case -ECONNRESET:
	case -ECONNREFUSED:
		return RDMA_CM_EVENT_REJECTED;
	case -ETIMEDOUT:
		return RDMA_CM_EVENT_UNREACHABLE;
	default:
		return RDMA_CM_EVENT_CONNECT_ERROR;
	}
}

static void established(struct rdma_iw_id *id, const struct iw_event *event)
{
	if (id->state != ID_CONNECTING)
		return;
	id->state = ID_CONNECTED;
	tell(id, (struct rdma_iw_event){
			 .event = RDMA_CM_EVENT_ESTABLISHED,
			 .private_data = event->pdata,
			 .private_data_len = event->pdata_len,
			 .responder_resources = event->ird,
			 .initiator_depth = event->ord,
		 });
}

static void replied(struct rdma_iw_id *id, const struct iw_event *event)
{
	if (!event->status) {
		established(id, event);
		return;
	}
	id->state = ID_OVER;
	tell(id, (struct rdma_iw_event){
			 .event = reply_event(event->status),
			 .status = event->status,
			 .private_data = event->pdata,
			 .private_data_len = event->pdata_len,
		 });
}

static void connection_event(void *arg, const struct iw_event *event)
{
	struct rdma_iw_id *id = arg;

	id_hold(id);
	switch (event->type) {
	case IW_EVENT_CONNECT_REPLY:
		replied(id, event);
		break;
	case IW_EVENT_ESTABLISHED:
		established(id, event);
		break;
	case IW_EVENT_CLOSE:
		id->state = ID_OVER;
		tell(id, (struct rdma_iw_event){.event = RDMA_CM_EVENT_DISCONNECTED,
						.status = event->status});
		break;
	default: /* the queue pair's affair */
		break;
	}
	id_let(id);
}

static const struct iw_cm_user connection_user = {.event = connection_event};

static void request(void *arg, const struct iw_event *event)
{
	struct rdma_iw_id *listener = arg, *id;

	id = id_make(listener->host, listener->handler, listener->arg);
	if (!id) {
		iw_destroy(event->id);
		return;
	}
	id->iw = event->id;
	id->state = ID_CONNECTING;
	iw_user_set(event->id, &connection_user, id);
	id_hold(id);
	tell(id, (struct rdma_iw_event){
			 .event = RDMA_CM_EVENT_CONNECT_REQUEST,
			 .private_data = event->pdata,
			 .private_data_len = event->pdata_len,
			 .responder_resources = event->ord, /* what the peer will use of ours */
			 .initiator_depth = event->ird,
		 });
	id_let(id);
}

static const struct iw_cm_user listener_user = {.event = request};

int rdma_iw_create_id(struct iw_host *host, rdma_iw_handler *handler, void *arg,
		      struct rdma_iw_id **id)
{
	struct rdma_iw_id *new = id_make(host, handler, arg);

	if (!new)
		return -ENOMEM;
	*id = new;
	return 0;
}

void rdma_iw_destroy_id(struct rdma_iw_id *id)
{
	id->destroyed = true;
	if (id->iw)
		iw_destroy(id->iw);
	id->iw = NULL;
	id_let(id);
}

void rdma_iw_set_context(struct rdma_iw_id *id, void *arg)
{
	id->arg = arg;
}

int rdma_iw_resolve_addr(struct rdma_iw_id *id, struct iw_address to)
{
	if (id->state != ID_IDLE)
		return -EINVAL;
	id->to = to;
	id->state = ID_ADDR_RESOLVED;
	tell_plain(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	return 0;
}

int rdma_iw_resolve_route(struct rdma_iw_id *id)
{
	if (id->state != ID_ADDR_RESOLVED)
		return -EINVAL;
	id->state = ID_ROUTE_RESOLVED;
	tell_plain(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return 0;
}

int rdma_iw_connect(struct rdma_iw_id *id, const struct iw_options *options, const uint8_t *pdata,
		    uint16_t len)
{
	int ret;

	if (id->state != ID_ROUTE_RESOLVED)
		return -EINVAL;
	ret = iw_connect(id->host, id->to, options, &connection_user, id, pdata, len, &id->iw);
	if (!ret)
		id->state = ID_CONNECTING;
	return ret;
}

int rdma_iw_listen(struct rdma_iw_id *id, uint16_t port, const struct iw_options *options)
{
	int ret;

	if (id->state != ID_IDLE)
		return -EINVAL;
	ret = iw_listen(id->host, port, options, &listener_user, id, &id->iw);
	if (!ret)
		id->state = ID_LISTENING;
	return ret;
}

int rdma_iw_accept(struct rdma_iw_id *id, const uint8_t *pdata, uint16_t len)
{
	struct iw_query query;
	int ret;

	if (id->state != ID_CONNECTING || !id->iw)
		return -EINVAL;
	id_hold(id);
	ret = iw_accept(id->iw, pdata, len);
	if (!ret) {
		iw_query(id->iw, &query);
		if (query.state == IW_WAIT_FPDU)
			established(id, &(const struct iw_event){.ird = query.agreed.ird,
								 .ord = query.agreed.ord});
	}
	id_let(id);
	return ret;
}

int rdma_iw_reject(struct rdma_iw_id *id, const uint8_t *pdata, uint16_t len)
{
	int ret;

	if (id->state != ID_CONNECTING || !id->iw)
		return -EINVAL;
	ret = iw_reject(id->iw, pdata, len);
	if (ret)
		return ret;
	id->iw = NULL; /* it goes by itself */
	id->state = ID_OVER;
	return 0;
}

int rdma_iw_disconnect(struct rdma_iw_id *id)
{
	return id->state == ID_CONNECTED ? iw_disconnect(id->iw) : -EINVAL;
}

struct iw_cm_id *rdma_iw_connection(struct rdma_iw_id *id)
{
	return id->iw;
}
