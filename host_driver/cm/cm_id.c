// SPDX-License-Identifier: Apache-2.0
/* Ids of connection management: states, handlers and timers. Also the time-wait records, which stay
 * for a while after a connection has ended. */
#include "host_driver/cm/cm.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- names --- */

static const char *const state_names[IB_CM_STATES] = {
	[IB_CM_IDLE] = "IDLE",
	[IB_CM_LISTEN] = "LISTEN",
	[IB_CM_REQ_SENT] = "REQ_SENT",
	[IB_CM_REQ_RCVD] = "REQ_RCVD",
	[IB_CM_MRA_REQ_SENT] = "MRA_REQ_SENT",
	[IB_CM_MRA_REQ_RCVD] = "MRA_REQ_RCVD",
	[IB_CM_REP_SENT] = "REP_SENT",
	[IB_CM_REP_RCVD] = "REP_RCVD",
	[IB_CM_MRA_REP_SENT] = "MRA_REP_SENT",
	[IB_CM_MRA_REP_RCVD] = "MRA_REP_RCVD",
	[IB_CM_ESTABLISHED] = "ESTABLISHED",
	[IB_CM_DREQ_SENT] = "DREQ_SENT",
	[IB_CM_DREQ_RCVD] = "DREQ_RCVD",
	[IB_CM_TIMEWAIT] = "TIMEWAIT",
	[IB_CM_SIDR_REQ_SENT] = "SIDR_REQ_SENT",
	[IB_CM_SIDR_REQ_RCVD] = "SIDR_REQ_RCVD",
};

static const char *const event_names[IB_CM_EVENTS] = {
	[IB_CM_REQ_ERROR] = "REQ_ERROR",
	[IB_CM_REQ_RECEIVED] = "REQ_RECEIVED",
	[IB_CM_REP_ERROR] = "REP_ERROR",
	[IB_CM_REP_RECEIVED] = "REP_RECEIVED",
	[IB_CM_RTU_RECEIVED] = "RTU_RECEIVED",
	[IB_CM_USER_ESTABLISHED] = "USER_ESTABLISHED",
	[IB_CM_DREQ_ERROR] = "DREQ_ERROR",
	[IB_CM_DREQ_RECEIVED] = "DREQ_RECEIVED",
	[IB_CM_DREP_RECEIVED] = "DREP_RECEIVED",
	[IB_CM_TIMEWAIT_EXIT] = "TIMEWAIT_EXIT",
	[IB_CM_MRA_RECEIVED] = "MRA_RECEIVED",
	[IB_CM_REJ_RECEIVED] = "REJ_RECEIVED",
	[IB_CM_LAP_ERROR] = "LAP_ERROR",
	[IB_CM_LAP_RECEIVED] = "LAP_RECEIVED",
	[IB_CM_APR_RECEIVED] = "APR_RECEIVED",
	[IB_CM_SIDR_REQ_ERROR] = "SIDR_REQ_ERROR",
	[IB_CM_SIDR_REQ_RECEIVED] = "SIDR_REQ_RECEIVED",
	[IB_CM_SIDR_REP_RECEIVED] = "SIDR_REP_RECEIVED",
};

const char *ib_cm_state_name(enum ib_cm_state state)
{
	return (unsigned)state < IB_CM_STATES ? state_names[state] : "unknown";
}

const char *ib_cm_event_name(enum ib_cm_event_type event)
{
	return (unsigned)event < IB_CM_EVENTS ? event_names[event] : "unknown";
}

#define REASON_TEXT(prefix, name, code, meaning) [code] = meaning,

const char *ib_cm_reject_msg(enum ib_cm_rej_reason reason)
{
	static const char *const texts[] = {CM_REASONS(REASON_TEXT)};

	if ((unsigned)reason >= ARRAY_SIZE(texts) || !texts[reason])
		return "unrecognized reason";
	return texts[reason];
}

/* --- states --- */

void cm_set_state(struct cm_id *id, enum ib_cm_state state)
{
	struct ib_device *device = id->ib.device;

	if (device->platform->ops->trace_on(device->platform)) {
		core_trace(device, true, "cm_state", "id %08x, %s to %s", cm_local(id),
			   ib_cm_state_name(id->ib.state), ib_cm_state_name(state));
		core_trace(device, false, "cm_state", "%d", 0);
	}
	id->ib.state = state;
}

void cm_cancel(struct cm_id *id)
{
	id->deadline = CM_NEVER;
}

void cm_deliver(struct cm_id *id, struct ib_cm_event *event)
{
	struct cm_id *listener = id->listener;
	struct cm_device *cm = id->cm;
	int rc;

	if (id->destroying)
		return;
	CORE_ENTER(cm->device, "id %08x, %s", cm_local(id), ib_cm_event_name(event->event));
	id->handlers++;
	if (listener)
		listener->handlers++;
	rc = id->ib.cm_handler(&id->ib, event);
	CORE_LEAVE(cm->device, rc);
	id->listener = NULL;
	if (listener)
		listener->handlers--;
	id->handlers--;
	if (rc && !id->destroying) {
		id->destroying = true;
		cm_id_end(id);
	}
	cm->p->ops->waitq_wake_all(cm->p, cm->gone);
}

void cm_id_hold(struct cm_id *id)
{
	id->handlers++;
}

void cm_id_let_go(struct cm_id *id)
{
	id->handlers--;
	id->cm->p->ops->waitq_wake_all(id->cm->p, id->cm->gone);
}

static void cm_deliver_simple(struct cm_id *id, enum ib_cm_event_type type)
{
	struct ib_cm_event event = {.event = type};

	if (type != IB_CM_USER_ESTABLISHED && type != IB_CM_TIMEWAIT_EXIT)
		event.param.send_status = IBV_WC_RESP_TIMEOUT_ERR;
	cm_deliver(id, &event);
}

/* --- finding --- */

struct cm_id *cm_id_find(struct cm_device *cm, uint32_t local_id)
{
	for (struct drv_list *l = cm->ids.next; l != &cm->ids; l = l->next) {
		struct cm_id *id = container_of(l, struct cm_id, link);

		if (cm_local(id) == local_id)
			return id->destroying ? NULL : id;
	}
	return NULL;
}

struct cm_id *cm_id_find_pair(struct cm_device *cm, uint32_t local_id, uint32_t remote_id)
{
	struct cm_id *id = cm_id_find(cm, local_id);

	return id && cm_remote(id) == remote_id ? id : NULL;
}

struct cm_id *cm_find_listener(struct cm_device *cm, uint64_t service_id)
{
	for (struct drv_list *l = cm->ids.next; l != &cm->ids; l = l->next) {
		struct cm_id *id = container_of(l, struct cm_id, link);

		if (id->ib.state == IB_CM_LISTEN && !id->destroying &&
		    be64toh(id->ib.service_id) == service_id)
			return id;
	}
	return NULL;
}

/* --- life --- */

struct cm_id *cm_id_new(struct cm_device *cm, ib_cm_handler handler, void *context)
{
	struct cm_id *id = drv_calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->cm = cm;
	id->deadline = CM_NEVER;
	if (!++cm->last_id)
		cm->last_id++;
	id->ib = (struct ib_cm_id){.cm_handler = handler,
				   .context = context,
				   .device = cm->device,
				   .state = IB_CM_IDLE,
				   .local_id = htobe32(cm->last_id),
				   .remote_cm_qpn = QPN_GSI};
	drv_list_add(&cm->ids, &id->link);
	return id;
}

struct ib_cm_id *ib_create_cm_id(struct ib_device *device, ib_cm_handler cm_handler, void *context)
{
	struct cm_id *id;

	if (!cm_of(device))
		return ERR_PTR(-ENODEV);
	id = cm_id_new(cm_of(device), cm_handler, context);
	return id ? &id->ib : ERR_PTR(-ENOMEM);
}

/* Tells the peer that the id ends, if the id's state requires it (12.9). */
static void tell_end(struct cm_id *id)
{
	const uint64_t guid = cm_guid_be(id->cm);
	struct smp smp;

	switch (id->ib.state) {
	case IB_CM_SIDR_REQ_RCVD:
		cm_sidr_refuse(id);
		break;
	case IB_CM_REQ_SENT:
	case IB_CM_MRA_REQ_RCVD:
		cm_fill_rej(id, &smp, IB_CM_REJ_TIMEOUT, &guid, sizeof(guid), NULL, 0);
		cm_post(id->cm, &id->av, &smp);
		break;
	case IB_CM_REQ_RCVD:
	case IB_CM_MRA_REQ_SENT:
	case IB_CM_REP_RCVD:
	case IB_CM_MRA_REP_SENT:
		ib_send_cm_rej(&id->ib, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
		break;
	case IB_CM_REP_SENT:
	case IB_CM_MRA_REP_RCVD:
		ib_send_cm_rej(&id->ib, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
		break;
	case IB_CM_ESTABLISHED:
		cm_fill_dreq(id, &smp, NULL, 0);
		cm_post(id->cm, &id->av, &smp);
		cm_enter_timewait(id);
		break;
	case IB_CM_DREQ_SENT:
		cm_enter_timewait(id);
		break;
	case IB_CM_DREQ_RCVD:
		ib_send_cm_drep(&id->ib, NULL, 0);
		break;
	default:
		break;
	}
}

void cm_id_end(struct cm_id *id)
{
	cm_cancel(id);
	tell_end(id);
	if (id->timewait && id->ib.state == IB_CM_TIMEWAIT)
		id->timewait->id = NULL; /* the record stays until the time-wait is over */
	else if (id->timewait)
		cm_timewait_free(id->timewait);
	drv_list_del(&id->link);
	cm_wake(id->cm);
	free(id);
}

void ib_destroy_cm_id(struct ib_cm_id *cm_id)
{
	struct cm_id *id = cm_id_of(cm_id);
	struct cm_device *cm = id->cm;

	CORE_ENTER(cm->device, "id %08x, %s", cm_local(id), ib_cm_state_name(cm_id->state));
	id->destroying = true;
	while (id->handlers)
		cm->p->ops->waitq_wait(cm->p, cm->gone, CM_NEVER);
	cm_id_end(id);
	CORE_LEAVE(cm->device, 0);
}

int ib_cm_listen(struct ib_cm_id *cm_id, __be64 service_id)
{
	struct cm_device *cm = cm_of(cm_id->device);
	uint64_t number = be64toh(service_id);

	if (cm_id->state != IB_CM_IDLE ||
	    ((number & IB_SERVICE_ID_AGN_MASK) == IB_CM_ASSIGN_SERVICE_ID &&
	     number != IB_CM_ASSIGN_SERVICE_ID))
		return -EINVAL;
	if (number == IB_CM_ASSIGN_SERVICE_ID)
		number |= ++cm->last_service_id;
	else if (cm_find_listener(cm, number))
		return -EBUSY;
	cm_id->service_id = htobe64(number);
	cm_set_state(cm_id_of(cm_id), IB_CM_LISTEN);
	return 0;
}

/* --- what is left of connections --- */

int cm_timewait_new(struct cm_id *id)
{
	struct cm_timewait *tw = drv_calloc(1, sizeof(*tw));

	if (!tw)
		return -ENOMEM;
	*tw = (struct cm_timewait){.id = id, .local_id = cm_local(id), .deadline = CM_NEVER};
	drv_list_init(&tw->link);
	id->timewait = tw;
	return 0;
}

void cm_timewait_known(struct cm_id *id, uint32_t remote_id, uint64_t guid, uint32_t qpn)
{
	struct cm_timewait *tw = id->timewait;

	tw->remote_id = remote_id;
	tw->remote_guid = guid;
	tw->remote_qpn = qpn;
	if (!tw->known)
		drv_list_add(&id->cm->timewaits, &tw->link);
	tw->known = true;
}

void cm_timewait_free(struct cm_timewait *tw)
{
	if (tw->id)
		tw->id->timewait = NULL;
	drv_list_del(&tw->link);
	free(tw);
}

/* Starts the time-wait: two packet life times, and the ACK delay of the peer's HCA. */
void cm_enter_timewait(struct cm_id *id)
{
	struct cm_timewait *tw = id->timewait;

	cm_cancel(id);
	cm_set_state(id, IB_CM_TIMEWAIT);
	id->ib.lap_state = IB_CM_LAP_UNINIT;
	if (!tw->known)
		drv_list_add(&id->cm->timewaits, &tw->link);
	tw->known = true;
	tw->deadline = cm_now(id->cm) + id->av.turn_ps + id->remote_delay_ps;
	cm_wake(id->cm);
}

void cm_reset_to_idle(struct cm_id *id)
{
	cm_cancel(id);
	cm_set_state(id, IB_CM_IDLE);
	id->ib.remote_id = 0;
	id->established_by_user = false;
	if (id->timewait)
		cm_timewait_free(id->timewait);
}

struct cm_timewait *cm_timewait_by_remote_id(struct cm_device *cm, uint32_t remote_id,
					     uint64_t guid)
{
	for (struct drv_list *l = cm->timewaits.next; l != &cm->timewaits; l = l->next) {
		struct cm_timewait *tw = container_of(l, struct cm_timewait, link);

		if (tw->remote_id == remote_id && tw->remote_guid == guid)
			return tw;
	}
	return NULL;
}

struct cm_timewait *cm_timewait_by_qpn(struct cm_device *cm, uint32_t qpn, uint64_t guid)
{
	for (struct drv_list *l = cm->timewaits.next; l != &cm->timewaits; l = l->next) {
		struct cm_timewait *tw = container_of(l, struct cm_timewait, link);

		if (tw->remote_qpn == qpn && tw->remote_guid == guid)
			return tw;
	}
	return NULL;
}

/* --- timers --- */

/* The peer has not answered. Tells the peer, gives up the connection, and delivers the error. */
static void give_up(struct cm_id *id)
{
	const uint64_t guid = cm_guid_be(id->cm);
	struct smp smp;

	switch (id->ib.state) {
	case IB_CM_REQ_SENT:
	case IB_CM_MRA_REQ_RCVD:
		cm_fill_rej(id, &smp, IB_CM_REJ_TIMEOUT, &guid, sizeof(guid), NULL, 0);
		cm_post(id->cm, &id->av, &smp);
		cm_reset_to_idle(id);
		cm_deliver_simple(id, IB_CM_REQ_ERROR);
		break;
	case IB_CM_REP_SENT:
	case IB_CM_MRA_REP_RCVD:
		cm_fill_rej(id, &smp, IB_CM_REJ_TIMEOUT, &guid, sizeof(guid), NULL, 0);
		cm_post(id->cm, &id->av, &smp);
		cm_reset_to_idle(id);
		cm_deliver_simple(id, IB_CM_REP_ERROR);
		break;
	case IB_CM_DREQ_SENT:
		cm_enter_timewait(id);
		cm_deliver_simple(id, IB_CM_DREQ_ERROR);
		break;
	case IB_CM_SIDR_REQ_SENT:
		cm_set_state(id, IB_CM_IDLE);
		cm_deliver_simple(id, IB_CM_SIDR_REQ_ERROR);
		break;
	case IB_CM_ESTABLISHED:
		id->ib.lap_state = IB_CM_LAP_IDLE;
		cm_deliver_simple(id, IB_CM_LAP_ERROR);
		break;
	default:
		break;
	}
}

static void request_expired(struct cm_id *id)
{
	struct cm_device *cm = id->cm;

	id->deadline = CM_NEVER;
	if (!id->retries_left) {
		give_up(id);
		return;
	}
	id->retries_left--;
	cm->counters.tx_retries[mad_hdr_get_attr_id(smp_hdr(&id->request)) - CM_ATTR_REQ]++;
	/* the answer may come before the call returns, and ends the wait for it */
	id->deadline = cm_now(cm) + id->timeout_ps;
	cm_post(cm, &id->av, &id->request);
}

static bool expire_ids(struct cm_device *cm, uint64_t now)
{
	for (struct drv_list *l = cm->ids.next; l != &cm->ids; l = l->next) {
		struct cm_id *id = container_of(l, struct cm_id, link);

		if (id->destroying)
			continue;
		if (id->established_by_user) {
			id->established_by_user = false;
			cm_deliver_simple(id, IB_CM_USER_ESTABLISHED);
			return true;
		}
		if (id->deadline <= now) {
			request_expired(id);
			return true;
		}
	}
	return false;
}

bool cm_expire(struct cm_device *cm)
{
	const uint64_t now = cm_now(cm);

	for (struct drv_list *l = cm->timewaits.next; l != &cm->timewaits; l = l->next) {
		struct cm_timewait *tw = container_of(l, struct cm_timewait, link);
		struct cm_id *id = tw->id;

		if (tw->deadline > now)
			continue;
		cm_timewait_free(tw);
		if (id && !id->destroying) {
			cm_set_state(id, IB_CM_IDLE);
			id->ib.remote_id = 0;
			cm_deliver_simple(id, IB_CM_TIMEWAIT_EXIT);
		}
		return true;
	}
	return expire_ids(cm, now);
}

uint64_t cm_next_deadline(const struct cm_device *cm)
{
	uint64_t next = CM_NEVER;

	for (const struct drv_list *l = cm->timewaits.next; l != &cm->timewaits; l = l->next) {
		const struct cm_timewait *tw = container_of(l, struct cm_timewait, link);

		next = tw->deadline < next ? tw->deadline : next;
	}
	for (const struct drv_list *l = cm->ids.next; l != &cm->ids; l = l->next) {
		const struct cm_id *id = container_of(l, struct cm_id, link);

		if (!id->destroying)
			next = id->deadline < next ? id->deadline : next;
	}
	return next;
}
