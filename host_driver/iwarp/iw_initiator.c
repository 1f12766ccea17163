/* SPDX-License-Identifier: Apache-2.0 */
/* The side that connects: from the Request to the message that says ready to receive. */
#include "host_driver/iwarp/iw_impl.h"

static int stream_connect(struct iw_cm_id *id)
{
	int ret = id->host->net->ops->connect(id->host->net, id->peer, &iw_stream_user, id,
					      &id->stream);

	if (!ret)
		iw_state_set(id, IW_CONNECTING);
	return ret;
}

int iw_connect(struct iw_host *host, struct iw_address to, const struct iw_options *options,
	       const struct iw_cm_user *user, void *arg, const uint8_t *pdata, uint16_t len,
	       struct iw_cm_id **out)
{
	struct iw_cm_id *id;
	int ret;

	id = iw_create(host, options, user, arg);
	if (!id)
		return -ENOMEM;
	ret = -EINVAL;
	if (len > MPA_PDATA_MAX - (id->opt.rev == 2 ? MPA_ENHANCED_BYTES : 0))
		goto destroy;
	if (len)
		memcpy(id->pdata, pdata, len);
	id->pdata_len = len;
	id->initiator = true;
	id->peer = to;
	ret = stream_connect(id);
	if (ret)
		goto destroy;
	*out = id;
	return 0;
destroy:
	iw_destroy(id);
	return ret;
}

void iw_initiator_up(struct iw_cm_id *id)
{
	struct iw_terms_own own;
	int ret;

	iw_terms_own(id, &own);
	iw_request_make(&own, &id->request);
	id->request.pdata = id->pdata;
	id->request.pdata_len = id->pdata_len;
	id->start_rx.have = 0;
	iw_state_set(id, IW_WAIT_REP);
	ret = iw_start_send(id, &id->request);
	if (ret)
		iw_initiator_failed(id, ret);
}

static void reply_tell(struct iw_cm_id *id, int status, const struct mpa_start *reply)
{
	struct iw_event event = {
		.type = IW_EVENT_CONNECT_REPLY,
		.status = status,
		.ird = id->agreed.ird,
		.ord = id->agreed.ord,
	};

	if (reply) {
		event.pdata = reply->pdata;
		event.pdata_len = reply->pdata_len;
	}
	iw_tell(id, event);
}

/* Once, and only where a peer has dropped revision 2 without a word. */
static bool fall_back(struct iw_cm_id *id, int error)
{
	struct iw_stream *stream = id->stream;

	if (error != -ECONNRESET || id->opt.rev != 2 || !id->opt.fallback || id->fell_back)
		return false;
	id->fell_back = true;
	id->opt.rev = 1;
	id->opt.design = IW_CLIENT_FIRST;
	if (stream) {
		id->stream = NULL;
		id->host->net->ops->reset(stream);
		id->host->net->ops->release(stream);
	}
	iw_say(id, "again with revision 1");
	return !stream_connect(id);
}

void iw_initiator_failed(struct iw_cm_id *id, int error)
{
	if (id->state == IW_WAIT_REP && fall_back(id, error))
		return;
	iw_abort(id, error);
	reply_tell(id, error, NULL);
}

static void reply_refused(struct iw_cm_id *id, const struct mpa_start *reply)
{
	/* RFC 5044 leaves the stream open; as in Linux nobody uses it further */
	iw_half_close(id, IW_CLOSING);
	reply_tell(id, -ECONNREFUSED, reply);
}

/* Sends what says that this end is ready. */
static int ready_send(struct iw_cm_id *id)
{
	const bool frame =
		id->agreed.design == IW_RTR_FRAME || iw_breaks(id, IW_BREAK_rtr_frame_anyway);

	if (frame && !iw_breaks(id, IW_BREAK_no_rtr))
		return iw_start_send(id, &(const struct mpa_start){
						 .key = iw_breaks(id, IW_BREAK_rtr_dump_spelling)
								? MPA_RTR_DUMP
								: MPA_RTR,
						 .rev = 1,
						 .bits = id->agreed.crc ? MPA_C : 0,
					 });
	return id->agreed.design == IW_RTR_MESSAGE ? iw_rtr_send(id, id->agreed.kinds) : 0;
}

void iw_initiator_ready(struct iw_cm_id *id)
{
	int ret;

	iw_state_set(id, IW_FPDU);
	ret = ready_send(id);
	if (ret) {
		iw_initiator_failed(id, ret);
		return;
	}
	id->told = true;
	reply_tell(id, 0, &id->reply);
	if (id->state == IW_FPDU)
		iw_fence_open(id);
}

size_t iw_initiator_too_early(struct iw_cm_id *id, const uint8_t *bytes, size_t n)
{
	iw_say(id, "the responder sends before it has received an FPDU");
	if (id->opt.strict) {
		iw_initiator_failed(id, -EPROTO);
		return n;
	}
	iw_initiator_ready(id);
	return id->state == IW_FPDU ? iw_fpdu_received(id, bytes, n) : n;
}

/* behind: bytes that came with the Reply. The responder may not send yet. */
static void connected(struct iw_cm_id *id, size_t behind)
{
	iw_fpdu_begin(id);
	if (id->opt.after_reply_ms || (behind && id->opt.strict))
		iw_state_set(id, IW_REPLIED);
	else
		iw_initiator_ready(id);
}

size_t iw_initiator_reply(struct iw_cm_id *id, const uint8_t *bytes, size_t n)
{
	struct iw_terms_own own;
	struct mpa_start *reply = &id->reply;
	enum iw_term term = IW_TERM_MPA_START;
	size_t taken;
	int ret = mpa_start_get(&id->start_rx, bytes, n, &taken, reply);

	if (!ret)
		return taken;
	if (ret > 0) {
		iw_say_start(id, "got", reply);
		if (reply->key == MPA_REP && reply->rev <= 2 && reply->bits & MPA_R) {
			reply_refused(id, reply);
			return taken;
		}
		iw_terms_own(id, &own);
		ret = iw_reply_read(&own, &id->request, reply, &id->agreed, &term);
	}
	if (!ret) {
		connected(id, n - taken);
		return taken;
	}
	if (term == IW_TERM_MPA_START) {
		iw_say(id, "the Reply breaks a rule");
		iw_abort(id, ret);
	} else {
		/* the Reply is right, but the two ends do not fit: FPDUs can be sent */
		iw_fpdu_begin(id);
		iw_terminate(id, term);
	}
	reply_tell(id, -EPROTO, NULL);
	return n;
}
