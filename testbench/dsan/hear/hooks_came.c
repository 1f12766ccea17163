// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: messages of connection management that have come. What its users are told of a message
 * must be what the message says, field by field, with its private data; and a message that comes again
 * because its answer was lost must be answered again.
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/came.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/messages.h"
#include "testbench/dsan/hear/wrote.h"
#include "testbench/dsan/mads/connections.h"

#include "host_driver/cm/cm.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"

#include <endian.h>
#include <rdma/ib_cm.h>

#include <string.h>

/* --- events of ib_cm --- */

#define HANDLER "the event for the handler"

/* In the direction from here to the peer: what the peer calls local is remote here. */
static void path_told(const struct came *came, const struct sa_path_rec *is,
		      const struct cm_path *said, const struct cm_req *req)
{
	const bool ib = is->rec_type == SA_PATH_REC_TYPE_IB;
	const struct told told[] = {
		{"the path's DLID", &is->ib.dlid, sizeof(is->ib.dlid),
		 ib ? be16toh(is->ib.dlid) : 0, ib ? cm_path_get_local_lid(said) : 0},
		{"the path's SLID", &is->ib.slid, sizeof(is->ib.slid),
		 ib ? be16toh(is->ib.slid) : 0, ib ? cm_path_get_remote_lid(said) : 0},
		{"the path's flow label", &is->flow_label, sizeof(is->flow_label),
		 be32toh(is->flow_label), cm_path_get_flow_label(said)},
		{"the path's P_Key", &is->pkey, sizeof(is->pkey), be16toh(is->pkey),
		 cm_req_get_pkey(req)},
		TOLD(is, hop_limit, cm_path_get_hop_limit(said)),
		TOLD(is, traffic_class, cm_path_get_traffic_class(said)),
		TOLD(is, sl, cm_path_get_sl(said)),
		TOLD(is, rate, cm_path_get_packet_rate(said)),
		TOLD(is, mtu, cm_req_get_path_mtu(req)),
	};

	if (!came_told(came, HANDLER, told, ARRAY_SIZE(told)))
		return;
	came_bytes_told(came, HANDLER, "the path's DGID", is->dgid.raw,
			cm_path_local_gid_cptr(said), sizeof(is->dgid), &is->dgid);
	came_bytes_told(came, HANDLER, "the path's SGID", is->sgid.raw,
			cm_path_remote_gid_cptr(said), sizeof(is->sgid), &is->sgid);
}

static void req_told(const struct came *came, const struct ib_cm_req_event_param *p)
{
	const struct cm_req *req = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, remote_ca_guid, htobe64(cm_req_get_local_ca_guid(req))),
		TOLD(p, remote_qkey, cm_req_get_local_qkey(req)),
		TOLD(p, remote_qpn, cm_req_get_local_qpn(req)),
		TOLD(p, starting_psn, cm_req_get_starting_psn(req)),
		TOLD(p, responder_resources, cm_req_get_initiator_depth(req)),
		TOLD(p, initiator_depth, cm_req_get_responder_resources(req)),
		TOLD(p, local_cm_response_timeout, cm_req_get_remote_cm_response_timeout(req)),
		TOLD(p, remote_cm_response_timeout, cm_req_get_local_cm_response_timeout(req)),
		TOLD(p, flow_control, cm_req_get_flow_control(req)),
		TOLD(p, retry_count, cm_req_get_retry_count(req)),
		TOLD(p, rnr_retry_count, cm_req_get_rnr_retry_count(req)),
		TOLD(p, srq, cm_req_get_srq(req)),
		TOLD(p, pkey, cm_req_get_pkey(req)),
	};

	if (!came_told(came, HANDLER, told, ARRAY_SIZE(told)))
		return;
	path_told(came, p->primary_path, cm_req_primary_const(req), req);
	if (p->alternate_path)
		path_told(came, p->alternate_path, cm_req_alternate_const(req), req);
}

static void rep_told(const struct came *came, const struct ib_cm_rep_event_param *p)
{
	const struct cm_rep *rep = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, remote_ca_guid, htobe64(cm_rep_get_local_ca_guid(rep))),
		TOLD(p, remote_qkey, cm_rep_get_local_qkey(rep)),
		TOLD(p, remote_qpn, cm_rep_get_local_qpn(rep)),
		TOLD(p, starting_psn, cm_rep_get_starting_psn(rep)),
		TOLD(p, responder_resources, cm_rep_get_initiator_depth(rep)),
		TOLD(p, initiator_depth, cm_rep_get_responder_resources(rep)),
		TOLD(p, target_ack_delay, cm_rep_get_target_ack_delay(rep)),
		TOLD(p, failover_accepted, cm_rep_get_failover_accepted(rep)),
		TOLD(p, flow_control, cm_rep_get_flow_control(rep)),
		TOLD(p, rnr_retry_count, cm_rep_get_rnr_retry_count(rep)),
		TOLD(p, srq, cm_rep_get_srq(rep)),
	};

	came_told(came, HANDLER, told, ARRAY_SIZE(told));
}

/* The length of additional information, of which there is no more than fits. */
static uint64_t info_bytes(uint64_t said, size_t room)
{
	return said < room ? said : room;
}

static void rej_told(const struct came *came, const struct ib_cm_rej_event_param *p)
{
	const struct cm_rej *rej = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, reason, cm_rej_get_reason(rej)),
		TOLD(p, ari_length, info_bytes(cm_rej_get_info_length(rej), cm_rej_ari_size)),
		TOLD(p, ari, (uint64_t)(uintptr_t)cm_rej_ari_cptr(rej)),
	};

	came_told(came, HANDLER, told, ARRAY_SIZE(told));
}

static void lap_told(const struct came *came, const struct sa_path_rec *is)
{
	const struct cm_lap_path *said = cm_lap_alternate_const((const void *)came->mad);
	const struct told told[] = {
		{"the path's DLID", &is->ib.dlid, sizeof(is->ib.dlid), be16toh(is->ib.dlid),
		 cm_lap_path_get_local_lid(said)},
		{"the path's SLID", &is->ib.slid, sizeof(is->ib.slid), be16toh(is->ib.slid),
		 cm_lap_path_get_remote_lid(said)},
		{"the path's flow label", &is->flow_label, sizeof(is->flow_label),
		 be32toh(is->flow_label), cm_lap_path_get_flow_label(said)},
		TOLD(is, hop_limit, cm_lap_path_get_hop_limit(said)),
		TOLD(is, traffic_class, cm_lap_path_get_traffic_class(said)),
		TOLD(is, sl, cm_lap_path_get_sl(said)),
		TOLD(is, rate, cm_lap_path_get_packet_rate(said)),
	};

	if (!came_told(came, HANDLER, told, ARRAY_SIZE(told)))
		return;
	came_bytes_told(came, HANDLER, "the path's DGID", is->dgid.raw,
			cm_lap_path_local_gid_cptr(said), sizeof(is->dgid), &is->dgid);
	came_bytes_told(came, HANDLER, "the path's SGID", is->sgid.raw,
			cm_lap_path_remote_gid_cptr(said), sizeof(is->sgid), &is->sgid);
}

static void apr_told(const struct came *came, const struct ib_cm_apr_event_param *p)
{
	const struct cm_apr *apr = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, ap_status, cm_apr_get_ap_status(apr)),
		TOLD(p, info_len, info_bytes(cm_apr_get_info_length(apr), cm_apr_info_size)),
		TOLD(p, apr_info, (uint64_t)(uintptr_t)cm_apr_info_cptr(apr)),
	};

	came_told(came, HANDLER, told, ARRAY_SIZE(told));
}

static void sidr_req_told(const struct came *came, const struct ib_cm_sidr_req_event_param *p)
{
	const struct cm_sidr_req *req = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, service_id, htobe64(cm_sidr_req_get_service_id(req))),
		TOLD(p, pkey, cm_sidr_req_get_pkey(req)),
	};

	came_told(came, HANDLER, told, ARRAY_SIZE(told));
}

static void sidr_rep_told(const struct came *came, const struct ib_cm_sidr_rep_event_param *p)
{
	const struct cm_sidr_rep *rep = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, status, cm_sidr_rep_get_status(rep)),
		TOLD(p, qkey, cm_sidr_rep_get_qkey(rep)),
		TOLD(p, qpn, cm_sidr_rep_get_qpn(rep)),
		TOLD(p, info_len,
		     info_bytes(cm_sidr_rep_get_info_length(rep), cm_sidr_rep_info_size)),
		TOLD(p, info, (uint64_t)(uintptr_t)cm_sidr_rep_info_cptr(rep)),
	};

	came_told(came, HANDLER, told, ARRAY_SIZE(told));
}

static void fields_told(const struct came *came, const struct ib_cm_event *event)
{
	const struct cm_mra *mra = (const void *)came->mad;

	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		req_told(came, &event->param.req_rcvd);
		break;
	case IB_CM_REP_RECEIVED:
		rep_told(came, &event->param.rep_rcvd);
		break;
	case IB_CM_REJ_RECEIVED:
		rej_told(came, &event->param.rej_rcvd);
		break;
	case IB_CM_MRA_RECEIVED:
		came_told(came, HANDLER,
			  &TOLD(&event->param.mra_rcvd, service_timeout,
				cm_mra_get_service_timeout(mra)),
			  1);
		break;
	case IB_CM_LAP_RECEIVED:
		lap_told(came, event->param.lap_rcvd.alternate_path);
		break;
	case IB_CM_APR_RECEIVED:
		apr_told(came, &event->param.apr_rcvd);
		break;
	case IB_CM_SIDR_REQ_RECEIVED:
		sidr_req_told(came, &event->param.sidr_req_rcvd);
		break;
	case IB_CM_SIDR_REP_RECEIVED:
		sidr_rep_told(came, &event->param.sidr_rep_rcvd);
		break;
	default:
		break;
	}
}

/* Source: Linux cm_format_req_event, cm_format_rep_event, cm_rej_handler and their neighbours */
static void event_check(const struct came *came, const struct ib_cm_event *event)
{
	const struct came_kind *kind = came_kind(came_attr(came));
	const struct told told[] = {
		TOLD(event, event, kind->event),
		TOLD(event, private_data, (uintptr_t)came_data(came, kind)),
		TOLD(event, private_data_len, kind->room),
	};

	/* the message ends what the id had under way, and is not told itself */
	if (event->event == IB_CM_REQ_ERROR)
		return;
	if (came_told(came, HANDLER, told, ARRAY_SIZE(told)))
		fields_told(came, event);
}

/* A peer's queue pair has one connection here, until its time-wait has ended. Source: IBA 12.9.8.3.1 */
static void stale_check(const struct came *came, const struct cm_id *id)
{
	const uint64_t guid = cm_req_get_local_ca_guid((const struct cm_req *)came->mad);
	const struct drv_list *all = &id->cm->timewaits;
	unsigned connections = 0;

	for (const struct drv_list *l = all->next; l != all; l = l->next) {
		const struct cm_timewait *tw = container_of(l, struct cm_timewait, link);

		connections += tw->remote_qpn == id->remote_qpn && tw->remote_guid == guid;
	}
	if (connections > 1)
		came->c->tell(came->c, &(struct breach){RULE_event_differs, {0}, NULL, NULL},
			      "the handler is told of a REQ whose queue pair 0x%x has a connection "
			      "here already, or its time-wait: it is stale",
			      id->remote_qpn);
}

enum { HANDLER_RUNS = 16 };

/* The handlers of ids that run now. */
static struct handler_run {
	const struct kernel_thread *thread;
	const struct cm_id *id, *listener;
} handler_runs[HANDLER_RUNS];

W(void, cm_deliver, struct cm_id *id, struct ib_cm_event *event)
{
	const struct came *came = came_of(id->cm->p);
	struct handler_run *run = handler_runs;

	if (came->mad)
		event_check(came, event);
	if (came->mad && event->event == IB_CM_REQ_RECEIVED)
		stale_check(came, id);
	while (run < handler_runs + HANDLER_RUNS - 1 && run->id)
		run++;
	*run = (struct handler_run){kernel_thread_running(), id, id->listener};
	__real_cm_deliver(id, event);
	run->id = NULL;
}

/* A handler that wants an end of its id returns another value than 0. Source: Linux ib_destroy_cm_id */
void handlers_destroy_check(const struct cm_id *id, const void *pc)
{
	struct checker *c = checker_of_host(id->cm->p->host);

	for (unsigned i = 0; c && i < HANDLER_RUNS; i++) {
		const struct handler_run *run = &handler_runs[i];

		if (run->id && run->thread == kernel_thread_running() &&
		    (run->id == id || run->listener == id))
			c->tell(c, &(struct breach){RULE_lock_misused, {0}, pc, NULL},
				"a handler destroys the id of connection management that it runs "
				"for, and so it waits for its own end");
	}
}

/* --- messages that come again --- */

static struct cm_id *id_of(struct cm_device *cm, const struct smp *mad)
{
	/* the two ids are at the same offset in all messages but a REQ */
	const struct cm_rep *is = (const void *)mad;

	return cm_id_find_pair(cm, cm_rep_get_remote_comm_id(is), cm_rep_get_local_comm_id(is));
}

/* The answer that this message needs although it tells its receiver nothing new; 0: it needs none, or
 * that is not known. Source: IBA 12.9.8.7 and the tables of 12.9.7; Linux cm_dreq_handler,
 * cm_dup_rep_handler, cm_lap_handler */
static unsigned answer_due(struct cm_device *cm, const struct smp *mad)
{
	const struct cm_dreq *dreq = (const void *)mad;
	const unsigned attr = mad_hdr_get_attr_id(smp_hdr_const(mad));
	struct cm_id *id;

	if (attr != CM_ATTR_DREQ && attr != CM_ATTR_REP && attr != CM_ATTR_LAP)
		return 0;
	id = id_of(cm, mad);
	if (attr == CM_ATTR_DREQ && !id)
		return CM_ATTR_DREP;
	if (!id)
		return 0;
	if (attr == CM_ATTR_DREQ)
		return id->ib.state == IB_CM_TIMEWAIT &&
				       cm_dreq_get_remote_qpn(dreq) == id->local_qpn
			       ? CM_ATTR_DREP
			       : 0;
	if (id->ib.state != IB_CM_ESTABLISHED ||
	    mad_hdr_get_attr_id(smp_hdr_const(&id->answer)) !=
		    (attr == CM_ATTR_REP ? CM_ATTR_RTU : CM_ATTR_APR))
		return 0;
	if (attr == CM_ATTR_LAP &&
	    (mad_hdr_get_tid(smp_hdr_const(mad)) != id->answered_tid ||
	     (id->ib.lap_state != IB_CM_LAP_UNINIT && id->ib.lap_state != IB_CM_LAP_IDLE)))
		return 0;
	return attr == CM_ATTR_REP ? CM_ATTR_RTU : CM_ATTR_APR;
}

static void answered_check(const struct came *came, unsigned due, unsigned before)
{
	char names[ENTERED_CHARS];

	if (!due || connections_sent_count(came->c, due) != before)
		return;
	entered_format(names);
	came->c->tell(came->c, &(struct breach){RULE_mad_lost, {0}, NULL, NULL},
		      "a %s came again, so its answer was lost, and it is not answered again: its "
		      "sender will "
		      "repeat it until it gives up; these ran last: %s",
		      due == CM_ATTR_DREP  ? "DREQ"
		      : due == CM_ATTR_RTU ? "REP"
					   : "LAP",
		      names);
}

/* --- timers --- */

/* The id that waits for an answer, and until when. */
struct waits {
	const struct cm_id *id;
	uint32_t local;
	enum ib_cm_state state;
	enum ib_cm_lap_state lap;
	uint64_t deadline;
};

static struct waits waits_of(struct cm_device *cm, const struct smp *mad)
{
	/* the id that the sender calls remote is at the same offset in all messages but REQ and SIDR REQ */
	const uint32_t local = cm_rep_get_remote_comm_id((const void *)mad);
	const unsigned attr = mad_hdr_get_attr_id(smp_hdr_const(mad));
	const struct cm_id *id;

	if (attr != CM_ATTR_REP && attr != CM_ATTR_RTU && attr != CM_ATTR_DREP &&
	    attr != CM_ATTR_REJ && attr != CM_ATTR_APR && attr != CM_ATTR_DREQ)
		return (struct waits){0};
	id = cm_id_find(cm, local);
	return id ? (struct waits){id, local, id->ib.state, id->ib.lap_state, id->deadline}
		  : (struct waits){0};
}

/* When the answer, or the end of the connection, has moved the id on, nothing is sent again any more. Source:
 * IBA 12.9.7; Linux cm_rep_handler, cm_rtu_handler, cm_drep_handler, cm_apr_handler, cm_dreq_handler:
 * ib_cancel_mad */
static void timer_check(const struct came *came, struct cm_device *cm, const struct waits *before)
{
	char names[ENTERED_CHARS];

	if (!before->id || before->deadline == CM_NEVER ||
	    cm_id_find(cm, before->local) != before->id ||
	    (before->id->ib.state == before->state && before->id->ib.lap_state == before->lap) ||
	    before->id->deadline != before->deadline)
		return;
	entered_format(names);
	came->c->tell(
		came->c, &(struct breach){RULE_mad_lost, {0}, NULL, NULL},
		"a message has come that ends the wait for an answer, and the timer goes on: "
		"what was sent will be sent again, until the connection is given up; these ran "
		"last: %s",
		names);
}

static void handled_end(struct came **came)
{
	(*came)->mad = NULL;
	wrote_end();
}

W(void, cm_received, struct cm_device *cm, struct cm_work *work)
{
	__attribute__((cleanup(handled_end))) struct came *came = came_of(cm->p);
	const bool roce = rdma_protocol_roce(cm->device, work->port);
	struct waits waits;
	unsigned due, before;

	wrote_begin();
	*came = (struct came){checker_of_host(cm->p->host), &work->mad};
	if (!came->c || !came_kind(came_attr(came))) {
		came->mad = NULL;
		__real_cm_received(cm, work);
		return;
	}
	due = roce ? 0 : answer_due(cm, &work->mad);
	before = connections_sent_count(came->c, due);
	waits = waits_of(cm, &work->mad);
	__real_cm_received(cm, work);
	answered_check(came, due, before);
	timer_check(came, cm, &waits);
}
