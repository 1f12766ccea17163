/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full operation: messages in both directions, and the fence that holds the responder's messages
 * back until the initiator is ready. Only message_send() puts FPDUs into the stream; what the user
 * posts reaches it only through sends_go(), which looks at the fence.
 */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/iw_impl.h"

void iw_fpdu_begin(struct iw_cm_id *id)
{
	id->tx = (struct mpa_fpdus){.markers = id->agreed.tx_markers, .crc = id->agreed.crc};
	id->rx = (struct mpa_fpdu_rx){
		.stream = {.markers = id->agreed.rx_markers, .crc = id->agreed.crc}};
}

/* 0, or -errno with no effect. */
static int message_send(struct iw_cm_id *id, const struct rdmap_message *m)
{
	const size_t room = mpa_fpdu_room(RDMAP_HEAD_MAX + m->len);
	uint8_t *ulpdu = drv_calloc(2, room), *fpdu = ulpdu + room;
	struct mpa_fpdus tx = id->tx; /* what has not been sent does not count */
	const bool marked = tx.markers && !tx.at;
	size_t n;
	int ret = -ENOMEM;

	if (!ulpdu || !id->stream)
		goto out;
	n = iw_break_ulpdu(id, ulpdu, rdmap_put(ulpdu, m));
	n = mpa_fpdu_put(&tx, fpdu, ulpdu, n);
	iw_break_fpdu(id, fpdu, n, marked);
	ret = id->host->net->ops->send(id->stream, fpdu, n);
	if (ret)
		goto out;
	id->tx = tx;
	id->sent_fpdu = true;
	iw_say(id, "send %s, %zu bytes%s", rdmap_opcode_name(m->opcode), m->len,
	       id->agreed.crc ? "" : ", no crc");
out:
	free(ulpdu);
	return ret;
}

void iw_terminate(struct iw_cm_id *id, enum iw_term term)
{
	const struct iw_term_row *row = &iw_term_rows[term];

	iw_hold(id);
	iw_say(id, "terminate %u/%u/%u: %s", row->layer, row->type, row->code, row->meaning);
	message_send(id, &(const struct rdmap_message){
				 .opcode = RDMAP_TERMINATE,
				 .last = true,
				 .msn = 1,
				 .term = {row->layer, row->type, row->code},
			 });
	iw_half_close(id, IW_TERMINATING);
	iw_tell(id, (struct iw_event){.type = IW_EVENT_TERMINATE, .term = term, .sent = true});
	iw_release(id);
}

/* --- what says ready to receive --- */

static enum rdmap_opcode kind_opcode(uint8_t kind)
{
	if (kind == MPA_RTR_SEND)
		return RDMAP_SEND;
	return kind == MPA_RTR_WRITE ? RDMAP_WRITE : RDMAP_READ_REQUEST;
}

static uint8_t opcode_kind(enum rdmap_opcode opcode)
{
	if (opcode == RDMAP_SEND || opcode == RDMAP_SEND_SOLICITED)
		return MPA_RTR_SEND;
	if (opcode == RDMAP_READ_REQUEST)
		return MPA_RTR_READ;
	return opcode == RDMAP_WRITE ? MPA_RTR_WRITE : 0;
}

static int rtr_once(struct iw_cm_id *id, uint8_t kind)
{
	static const uint8_t four[4] = {1, 2, 3, 4};
	struct rdmap_message m = {.opcode = kind_opcode(kind), .last = true, .stag = id->opt.stag};
	int ret;

	if (m.opcode == RDMAP_SEND)
		m.msn = id->tx_msn[RDMAP_QN_SEND];
	if (m.opcode == RDMAP_READ_REQUEST) {
		m.msn = id->tx_msn[RDMAP_QN_READ];
		m.read.sink_stag = m.read.source_stag = id->opt.stag;
	}
	if (iw_breaks(id, IW_BREAK_rtr_data)) {
		m.read.len = sizeof(four);
		if (m.opcode != RDMAP_READ_REQUEST) {
			m.payload = four;
			m.len = sizeof(four);
		}
	}
	ret = message_send(id, &m);
	if (ret)
		return ret;
	if (m.opcode == RDMAP_SEND)
		id->tx_msn[RDMAP_QN_SEND]++;
	if (m.opcode == RDMAP_READ_REQUEST) {
		id->tx_msn[RDMAP_QN_READ]++;
		id->reads_out++;
	}
	return 0;
}

int iw_rtr_send(struct iw_cm_id *id, uint8_t kind)
{
	int ret;

	if (iw_breaks(id, IW_BREAK_no_rtr))
		return 0;
	if (iw_breaks(id, IW_BREAK_rtr_other_kind))
		kind = kind == MPA_RTR_WRITE ? MPA_RTR_READ : MPA_RTR_WRITE;
	ret = rtr_once(id, kind);
	return !ret && iw_breaks(id, IW_BREAK_rtr_twice) ? rtr_once(id, kind) : ret;
}

/* --- the user's messages --- */

static void complete(struct iw_cm_id *id, struct iw_work *work, bool receive, int status,
		     uint32_t len)
{
	drv_list_del(&work->link);
	if (!id->destroyed && id->user->completed)
		id->user->completed(id->arg, id,
				    &(const struct iw_completion){
					    .wr_id = work->wr_id,
					    .receive = receive,
					    .status = status,
					    .len = len,
				    });
	free(work);
}

void iw_flush(struct iw_cm_id *id, bool tell)
{
	struct drv_list *const queues[] = {&id->sends, &id->receives};

	for (unsigned q = 0; q < 2; q++)
		while (!drv_list_empty(queues[q])) {
			struct iw_work *work = container_of(queues[q]->next, struct iw_work, link);

			if (tell) {
				complete(id, work, q, -ECANCELED, 0);
			} else {
				drv_list_del(&work->link);
				free(work);
			}
		}
}

static void sends_go(struct iw_cm_id *id)
{
	iw_hold(id);
	while (id->fence_open && !drv_list_empty(&id->sends) && id->stream) {
		struct iw_work *work = container_of(id->sends.next, struct iw_work, link);
		int ret = message_send(id, &(const struct rdmap_message){
						   .opcode = RDMAP_SEND,
						   .last = true,
						   .msn = id->tx_msn[RDMAP_QN_SEND],
						   .payload = work->bytes,
						   .len = work->len,
					   });

		if (!ret)
			id->tx_msn[RDMAP_QN_SEND]++;
		complete(id, work, false, ret, (uint32_t)work->len);
	}
	iw_release(id);
}

void iw_fence_open(struct iw_cm_id *id)
{
	id->fence_open = true;
	sends_go(id);
}

static bool may_post(const struct iw_cm_id *id)
{
	return id->state == IW_FPDU || id->state == IW_WAIT_FPDU || id->state == IW_WAIT_RTR;
}

int iw_ulpdu_send(struct iw_cm_id *id, const uint8_t *ulpdu, size_t n)
{
	struct mpa_fpdus tx = id->tx;
	uint8_t *fpdu;
	int ret;

	if (!may_post(id) || !id->stream)
		return -ENOTCONN;
	fpdu = drv_calloc(1, mpa_fpdu_room(n));
	if (!fpdu)
		return -ENOMEM;
	ret = id->host->net->ops->send(id->stream, fpdu, mpa_fpdu_put(&tx, fpdu, ulpdu, n));
	if (!ret) {
		id->tx = tx;
		id->sent_fpdu = true;
	}
	free(fpdu);
	return ret;
}

int iw_post_send(struct iw_cm_id *id, uint64_t wr_id, const uint8_t *bytes, size_t n)
{
	struct iw_work *work;

	if (!may_post(id))
		return -ENOTCONN;
	if (DDP_UNTAGGED_BYTES + n >
	    mpa_mulpdu(id->host->net->ops->mss(id->stream), id->tx.markers))
		return -EMSGSIZE;
	work = drv_calloc(1, sizeof(*work) + n);
	if (!work)
		return -ENOMEM;
	work->wr_id = wr_id;
	work->len = n;
	if (n)
		memcpy(work->bytes, bytes, n);
	drv_list_add(&id->sends, &work->link);
	sends_go(id);
	return 0;
}

int iw_post_recv(struct iw_cm_id *id, uint64_t wr_id, uint8_t *buffer, size_t n)
{
	struct iw_work *work;

	if (id->state == IW_CLOSED || id->state == IW_CLOSING || id->state == IW_TERMINATING)
		return -ENOTCONN;
	work = drv_calloc(1, sizeof(*work));
	if (!work)
		return -ENOMEM;
	work->wr_id = wr_id;
	work->buffer = buffer;
	work->len = n;
	drv_list_add(&id->receives, &work->link);
	return 0;
}

/* --- what comes --- */

static enum iw_term got_send(struct iw_cm_id *id, const struct rdmap_message *m)
{
	struct iw_work *work;

	if (m->opcode == RDMAP_SEND_INVALIDATE || m->opcode == RDMAP_SEND_SOLICITED_INVALIDATE)
		return IW_TERM_REMOTE_INVALIDATE;
	if (m->msn != id->rx_msn[RDMAP_QN_SEND])
		return IW_TERM_UNTAGGED_MSN;
	if (m->mo != id->rx_mo)
		return IW_TERM_UNTAGGED_MO;
	if (drv_list_empty(&id->receives))
		return IW_TERM_UNTAGGED_NO_BUFFER;
	work = container_of(id->receives.next, struct iw_work, link);
	if (m->len > work->len - id->rx_mo)
		return IW_TERM_UNTAGGED_LONG;
	if (m->len)
		memcpy(work->buffer + id->rx_mo, m->payload, m->len);
	id->rx_mo += (uint32_t)m->len;
	if (m->last) {
		const uint32_t len = id->rx_mo;

		id->rx_msn[RDMAP_QN_SEND]++;
		id->rx_mo = 0;
		complete(id, work, true, 0, len);
	}
	return IW_TERM_NONE;
}

static enum iw_term got_read_request(struct iw_cm_id *id, const struct rdmap_message *m)
{
	if (m->msn != id->rx_msn[RDMAP_QN_READ])
		return IW_TERM_UNTAGGED_MSN;
	if (!id->agreed.ird)
		return IW_TERM_UNTAGGED_NO_BUFFER;
	if (m->read.len)
		return IW_TERM_REMOTE_STAG; /* no memory is registered */
	id->rx_msn[RDMAP_QN_READ]++;
	/* a peer whose response does not come would wait for ever */
	return message_send(id,
			    &(const struct rdmap_message){
				    .opcode = RDMAP_READ_RESPONSE,
				    .last = true,
				    .stag = m->read.sink_stag,
				    .to = m->read.sink_to,
			    })
		       ? IW_TERM_LOCAL
		       : IW_TERM_NONE;
}

static enum iw_term got_read_response(struct iw_cm_id *id, const struct rdmap_message *m)
{
	if (!id->reads_out)
		return IW_TERM_RDMAP_OPCODE;
	if (m->len)
		return IW_TERM_TAGGED_BOUNDS;
	id->reads_out--;
	return IW_TERM_NONE;
}

static enum iw_term got_terminate(struct iw_cm_id *id, const struct rdmap_message *m)
{
	iw_say(id, "peer terminates %u/%u/%u", m->term.layer, m->term.type, m->term.code);
	iw_half_close(id, IW_TERMINATING);
	iw_tell(id, (struct iw_event){
			    .type = IW_EVENT_TERMINATE,
			    .term = iw_term_find(m->term.layer, m->term.type, m->term.code),
		    });
	return IW_TERM_NONE;
}

/* IW_TERM_NONE, or why the stream must end. */
static enum iw_term message_take(struct iw_cm_id *id, const struct rdmap_message *m)
{
	switch (m->opcode) {
	case RDMAP_WRITE:
		return m->len ? IW_TERM_TAGGED_STAG : IW_TERM_NONE;
	case RDMAP_READ_REQUEST:
		return got_read_request(id, m);
	case RDMAP_READ_RESPONSE:
		return got_read_response(id, m);
	case RDMAP_TERMINATE:
		return got_terminate(id, m);
	default:
		return got_send(id, m);
	}
}

/* Whether the first message is what the two ends agreed upon. */
static bool rtr_right(const struct iw_cm_id *id, const struct rdmap_message *m)
{
	return opcode_kind(m->opcode) & id->agreed.kinds && !m->len && !m->read.len && m->last;
}

/* The message that says ready. A SEND may be eaten, and then takes no receive. */
static enum iw_term rtr_take(struct iw_cm_id *id, const struct rdmap_message *m)
{
	if (m->opcode == RDMAP_TERMINATE)
		return message_take(id, m);
	if (!rtr_right(id, m) && id->opt.strict)
		return IW_TERM_MPA_RTR;
	if (m->opcode == RDMAP_SEND && !m->len && !id->opt.send_takes_receive) {
		id->rx_msn[RDMAP_QN_SEND]++;
		return IW_TERM_NONE;
	}
	return message_take(id, m);
}

static enum iw_term first_fpdu(struct iw_cm_id *id, const struct rdmap_message *m)
{
	enum iw_term term = id->state == IW_WAIT_RTR ? rtr_take(id, m) : message_take(id, m);

	if (term || (id->state != IW_WAIT_RTR && id->state != IW_WAIT_FPDU))
		return term;
	iw_state_set(id, IW_FPDU);
	iw_tell(id, (struct iw_event){
			    .type = IW_EVENT_ESTABLISHED,
			    .ird = id->agreed.ird,
			    .ord = id->agreed.ord,
		    });
	if (id->state == IW_FPDU)
		iw_fence_open(id);
	return IW_TERM_NONE;
}

static void fpdu_take(struct iw_cm_id *id)
{
	struct rdmap_message m;
	enum iw_term term = rdmap_get(mpa_ulpdu(&id->rx), id->rx.len, &m);

	iw_say(id, "got %s, %zu bytes", rdmap_opcode_name(m.opcode), m.len);
	if (!term)
		term = id->state == IW_FPDU ? message_take(id, &m) : first_fpdu(id, &m);
	if (term)
		iw_terminate(id, term);
}

size_t iw_fpdu_received(struct iw_cm_id *id, const uint8_t *bytes, size_t n)
{
	size_t taken;

	if (id->initiator && !id->sent_fpdu && id->opt.strict &&
	    id->agreed.design != IW_RTR_FRAME) {
		iw_say(id, "the responder sends before it has received an FPDU");
		iw_abort(id, -EPROTO);
		return n;
	}
	switch (mpa_fpdu_get(&id->rx, bytes, n, &taken)) {
	case MPA_FPDU:
		fpdu_take(id);
		break;
	case MPA_BAD_CRC:
		iw_terminate(id, IW_TERM_MPA_CRC);
		break;
	case MPA_BAD_MARKER:
		iw_terminate(id, IW_TERM_MPA_MARKER);
		break;
	case MPA_MORE:
		break;
	}
	return taken;
}
