/* SPDX-License-Identifier: Apache-2.0 */
/* The side that listens: from the Request to the first thing that the initiator sends. */
#include "host_driver/iwarp/iw_impl.h"

static void accepted(void *arg, struct iw_stream *stream)
{
	const struct iw_stream_ops *ops;
	struct iw_cm_id *listen = arg, *id;

	ops = listen->host->net->ops;
	id = iw_create(listen->host, &listen->opt, listen->user, listen->arg);
	if (!id) {
		ops->reset(stream);
		ops->release(stream);
		return;
	}
	id->stream = stream;
	id->peer = ops->peer(stream);
	iw_state_set(id, IW_WAIT_REQ);
	ops->accept(stream, &iw_stream_user, id);
}

int iw_listen(struct iw_host *host, uint16_t port, const struct iw_options *options,
	      const struct iw_cm_user *user, void *arg, struct iw_cm_id **out)
{
	struct iw_cm_id *id = iw_create(host, options, user, arg);
	int ret;

	if (!id)
		return -ENOMEM;
	ret = host->net->ops->listen(host->net, port, accepted, id, &id->listener);
	if (ret) {
		iw_destroy(id);
		return ret;
	}
	iw_state_set(id, IW_LISTEN);
	*out = id;
	return 0;
}

/* A rejection that the user is not asked about. */
static void reject_unasked(struct iw_cm_id *id)
{
	iw_start_send(id, &(const struct mpa_start){
				  .key = MPA_REP, .rev = id->request.rev, .bits = MPA_R});
	iw_half_close(id, IW_CLOSING);
}

static void ask_user(struct iw_cm_id *id)
{
	const struct mpa_start *request = &id->request;
	const struct mpa_enhanced *e = &request->enhanced;

	iw_state_set(id, IW_WAIT_ULP);
	id->told = true;
	iw_tell(id, (struct iw_event){
			    .type = IW_EVENT_CONNECT_REQUEST,
			    .peer = id->peer,
			    .ird = request->has_enhanced ? e->ird : MPA_UNKNOWN_DEPTH,
			    .ord = request->has_enhanced ? e->ord : MPA_UNKNOWN_DEPTH,
			    .pdata = request->pdata,
			    .pdata_len = request->pdata_len,
		    });
}

size_t iw_responder_request(struct iw_cm_id *id, const uint8_t *bytes, size_t n)
{
	struct iw_terms_own own;
	size_t taken;
	int ret = mpa_start_get(&id->start_rx, bytes, n, &taken, &id->request);

	if (!ret)
		return taken;
	if (ret > 0) {
		iw_say_start(id, "got", &id->request);
		iw_terms_own(id, &own);
		ret = taken < n ? -EPROTO : iw_request_check(&own, &id->request);
	}
	if (!ret) {
		ask_user(id);
		return taken;
	}
	iw_say(id, "the Request %s", ret == -EOPNOTSUPP ? "wants markers" : "breaks a rule");
	if (ret == -EOPNOTSUPP)
		reject_unasked(id);
	else
		iw_abort(id, ret);
	return n;
}

size_t iw_responder_too_early(struct iw_cm_id *id, const uint8_t *bytes, size_t n)
{
	iw_say(id, "the initiator sends before the Reply");
	iw_abort(id, -EPROTO);
	return n;
}

/* Sends the Reply with the user's private data. */
static int reply_send(struct iw_cm_id *id, struct mpa_start *reply, const uint8_t *pdata,
		      uint16_t len)
{
	int ret;

	if (len > MPA_PDATA_MAX - (reply->has_enhanced ? MPA_ENHANCED_BYTES : 0))
		return -EINVAL;
	reply->pdata = pdata;
	reply->pdata_len = len;
	ret = iw_start_send(id, reply);
	return ret == -EPIPE ? -ECONNRESET : ret;
}

static int may_reply(const struct iw_cm_id *id)
{
	if (id->state == IW_CLOSED)
		return -ECONNRESET;
	return id->state == IW_WAIT_ULP ? 0 : -EINVAL;
}

int iw_accept(struct iw_cm_id *id, const uint8_t *pdata, uint16_t len)
{
	struct iw_terms_own own;
	struct mpa_start reply;
	int ret = may_reply(id);

	if (ret)
		return ret;
	iw_terms_own(id, &own);
	ret = iw_reply_make(&own, &id->request, &reply, &id->agreed);
	if (!ret)
		ret = reply_send(id, &reply, pdata, len);
	if (ret)
		return ret;
	iw_hold(id);
	iw_fpdu_begin(id);
	id->start_rx.have = 0;
	iw_state_set(id, id->agreed.design == IW_CLIENT_FIRST ? IW_WAIT_FPDU : IW_WAIT_RTR);
	if (iw_breaks(id, IW_BREAK_early_send))
		iw_fence_open(id);
	iw_release(id);
	return 0;
}

int iw_reject(struct iw_cm_id *id, const uint8_t *pdata, uint16_t len)
{
	struct mpa_start reply = {.key = MPA_REP, .rev = id->request.rev, .bits = MPA_R};
	int ret = may_reply(id);

	if (ret)
		return ret;
	ret = reply_send(id, &reply, pdata, len);
	if (ret)
		return ret;
	iw_hold(id);
	id->told = false; /* the user has said the last word */
	iw_half_close(id, IW_CLOSING);
	iw_release(id);
	return 0;
}

/* The Rtr frame of the proposal. */
static size_t rtr_frame(struct iw_cm_id *id, const uint8_t *bytes, size_t n)
{
	struct mpa_start rtr;
	size_t taken;
	int ret = mpa_start_get(&id->start_rx, bytes, n, &taken, &rtr);

	if (!ret)
		return taken;
	if (ret < 0 || (rtr.key != MPA_RTR && rtr.key != MPA_RTR_DUMP)) {
		iw_say(id, "no Rtr frame");
		iw_abort(id, -EPROTO);
		return n;
	}
	iw_say_start(id, "got", &rtr);
	iw_state_set(id, IW_FPDU);
	iw_tell(id, (struct iw_event){
			    .type = IW_EVENT_ESTABLISHED,
			    .ird = id->agreed.ird,
			    .ord = id->agreed.ord,
		    });
	if (id->state == IW_FPDU)
		iw_fence_open(id);
	return taken;
}

size_t iw_responder_rtr(struct iw_cm_id *id, const uint8_t *bytes, size_t n)
{
	return id->agreed.design == IW_RTR_FRAME ? rtr_frame(id, bytes, n)
						 : iw_fpdu_received(id, bytes, n);
}
