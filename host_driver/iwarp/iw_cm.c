/* SPDX-License-Identifier: Apache-2.0 */
/* The life of an id: its stream, its timer, its state, its end. */
#include "host_driver/iwarp/iw_impl.h"

#include <stdarg.h>
#include <stdio.h>

#define PS_PER_MS UINT64_C(1000000000)

const struct iw_options iw_options_default = {
#define O(name, value, least, greatest, meaning) .name = value,
	IW_OPTIONS(O)
#undef O
};

const char *iw_state_name(enum iw_state state)
{
	static const char *const names[IW_STATE_COUNT] = {
#define S(name, waits, who) #name,
		IW_STATES(S)
#undef S
	};
	return names[state];
}

const char *iw_event_name(enum iw_event_type type)
{
	static const char *const names[IW_EVENT_COUNT] = {
#define E(name, meaning) #name,
		IW_EVENTS(E)
#undef E
	};
	return names[type];
}

void iw_say(struct iw_cm_id *id, const char *format, ...)
{
	char text[200];
	va_list ap;

	if (!id->host->said)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	id->host->said(id->host, id, text);
}

static void kinds_text(char *text, size_t room, const struct mpa_enhanced *e)
{
	snprintf(text, room, " ird %u ord %u%s%s%s%s", e->ird, e->ord,
		 e->peer_to_peer ? " peer-to-peer" : "", e->kinds & MPA_RTR_SEND ? " send" : "",
		 e->kinds & MPA_RTR_WRITE ? " write" : "", e->kinds & MPA_RTR_READ ? " read" : "");
}

void iw_say_start(struct iw_cm_id *id, const char *way, const struct mpa_start *start)
{
	char enhanced[80] = "";

	if (!id->host->said)
		return;
	if (start->has_enhanced)
		kinds_text(enhanced, sizeof(enhanced), &start->enhanced);
	iw_say(id, "%s %s rev %u%s%s%s%s%s, private data %u", way, mpa_keys[start->key], start->rev,
	       start->bits & MPA_M ? " markers" : "", start->bits & MPA_C ? " crc" : "",
	       start->bits & MPA_R ? " rejected" : "", start->bits & MPA_S ? " s" : "", enhanced,
	       start->pdata_len);
}

void iw_hold(struct iw_cm_id *id)
{
	id->holds++;
}

void iw_release(struct iw_cm_id *id)
{
	if (--id->holds)
		return;
	id->host->ids--;
	free(id);
}

static void timer_set(struct iw_cm_id *id, uint64_t due_ps)
{
	id->host->net->ops->timer(id->host->net, &id->timer, due_ps);
}

/* How long a state may last; 0: for ever. */
static uint32_t state_ms(const struct iw_cm_id *id)
{
	switch (id->state) {
	case IW_WAIT_REP:
		return id->opt.rep_ms;
	case IW_REPLIED:
		return id->opt.after_reply_ms;
	case IW_WAIT_REQ:
		return id->opt.req_ms;
	case IW_WAIT_RTR:
		return id->opt.rtr_ms;
	case IW_TERMINATING:
	case IW_CLOSING:
		return id->opt.close_ms;
	default:
		return 0;
	}
}

void iw_state_set(struct iw_cm_id *id, enum iw_state state)
{
	uint32_t ms;

	if (id->state == state)
		return;
	iw_say(id, "%s -> %s", iw_state_name(id->state), iw_state_name(state));
	id->state = state;
	ms = state_ms(id);
	timer_set(id, ms ? id->host->net->ops->now_ps(id->host->net) + ms * PS_PER_MS : IW_NEVER);
}

void iw_tell(struct iw_cm_id *id, struct iw_event event)
{
	event.id = id;
	iw_say(id, "event %s status %d", iw_event_name(event.type), event.status);
	if (!id->destroyed)
		id->user->event(id->arg, &event);
}

/* The stream is no longer this id's. */
static void stream_drop(struct iw_cm_id *id, bool reset)
{
	struct iw_stream *stream = id->stream;

	if (!stream)
		return;
	id->stream = NULL;
	if (reset)
		id->host->net->ops->reset(stream);
	id->host->net->ops->release(stream);
}

void iw_gone(struct iw_cm_id *id, int status)
{
	const bool told = id->told;

	stream_drop(id, false);
	if (id->state == IW_CLOSED)
		return;
	iw_state_set(id, IW_CLOSED);
	id->told = false;
	iw_flush(id, true);
	if (told)
		iw_tell(id, (struct iw_event){.type = IW_EVENT_CLOSE, .status = status});
	else if (!id->initiator)
		iw_destroy(id); /* nobody knows of it */
}

void iw_abort(struct iw_cm_id *id, int status)
{
	stream_drop(id, true);
	iw_gone(id, status);
}

void iw_half_close(struct iw_cm_id *id, enum iw_state state)
{
	iw_state_set(id, state);
	iw_flush(id, true);
	if (id->stream)
		id->host->net->ops->half_close(id->stream);
}

static void timed_out(void *arg)
{
	struct iw_cm_id *id = arg;

	iw_hold(id);
	iw_say(id, "time is over in %s", iw_state_name(id->state));
	if (id->state == IW_REPLIED)
		iw_initiator_ready(id);
	else if (id->state == IW_WAIT_REP)
		iw_initiator_failed(id, -ETIMEDOUT);
	else
		iw_abort(id, -ETIMEDOUT);
	iw_release(id);
}

struct iw_cm_id *iw_create(struct iw_host *host, const struct iw_options *options,
			   const struct iw_cm_user *user, void *arg)
{
	struct iw_cm_id *id = drv_calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->host = host;
	id->opt = options ? *options : iw_options_default;
	id->user = user;
	id->arg = arg;
	id->holds = 1;
	id->timer = (struct iw_timer){.fn = timed_out, .arg = id, .due_ps = IW_NEVER};
	drv_list_init(&id->sends);
	drv_list_init(&id->receives);
	for (unsigned q = 0; q < RDMAP_QUEUES; q++)
		id->tx_msn[q] = id->rx_msn[q] = 1;
	host->ids++;
	return id;
}

void iw_destroy(struct iw_cm_id *id)
{
	if (id->destroyed)
		return;
	id->destroyed = true;
	timer_set(id, IW_NEVER);
	if (id->listener)
		id->host->net->ops->unlisten(id->listener);
	id->listener = NULL;
	stream_drop(id, id->state != IW_CLOSED && id->state != IW_CLOSING);
	iw_flush(id, false);
	id->state = IW_CLOSED;
	iw_release(id);
}

void iw_user_set(struct iw_cm_id *id, const struct iw_cm_user *user, void *arg)
{
	id->user = user;
	id->arg = arg;
}

struct iw_options *iw_options_of(struct iw_cm_id *id)
{
	return &id->opt;
}

void iw_terms_own(const struct iw_cm_id *id, struct iw_terms_own *own)
{
	*own = (struct iw_terms_own){
		.rev = (uint8_t)id->opt.rev,
		.design = id->opt.design,
		.kinds = (uint8_t)id->opt.kinds,
		.markers = id->opt.markers,
		.crc = id->opt.crc,
		.can_markers = id->opt.can_markers,
		.ird = (uint16_t)id->opt.ird,
		.ord = (uint16_t)id->opt.ord,
		.ird_max = (uint16_t)id->opt.ird_max,
	};
}

int iw_start_send(struct iw_cm_id *id, const struct mpa_start *start)
{
	uint8_t frame[MPA_START_BYTES + MPA_PDATA_MAX + 1];
	size_t n = iw_break_start(id, frame, mpa_start_put(frame, start));
	int ret = id->host->net->ops->send(id->stream, frame, n);

	if (!ret)
		iw_say_start(id, "send", start);
	return ret;
}

int iw_disconnect(struct iw_cm_id *id)
{
	if (id->state != IW_FPDU && id->state != IW_WAIT_FPDU && id->state != IW_WAIT_RTR)
		return -ENOTCONN;
	iw_hold(id);
	iw_half_close(id, IW_CLOSING);
	iw_release(id);
	return 0;
}

void iw_stream_break(struct iw_cm_id *id, bool reset)
{
	if (!id->stream)
		return;
	if (reset)
		stream_drop(id, true);
	else
		id->host->net->ops->half_close(id->stream);
}

struct iw_stream *iw_stream_of(struct iw_cm_id *id)
{
	return id->stream;
}

void iw_query(const struct iw_cm_id *id, struct iw_query *query)
{
	*query = (struct iw_query){
		.state = id->state,
		.agreed = id->agreed,
		.reads_out = id->reads_out,
		.fence_open = id->fence_open,
	};
	for (const struct drv_list *l = id->sends.next; l != &id->sends; l = l->next)
		query->sends++;
	for (const struct drv_list *l = id->receives.next; l != &id->receives; l = l->next)
		query->receives++;
}

/* --- what the stream says --- */

static size_t discard(struct iw_cm_id *id, const uint8_t *bytes, size_t n)
{
	return n;
}

/* Who takes what comes in each state; returns how many bytes it has taken, at least one. */
static size_t (*const takers[IW_STATE_COUNT])(struct iw_cm_id *id, const uint8_t *bytes,
					      size_t n) = {
	[IW_WAIT_REP] = iw_initiator_reply,
	[IW_REPLIED] = iw_initiator_too_early,
	[IW_WAIT_REQ] = iw_responder_request,
	[IW_WAIT_ULP] = iw_responder_too_early,
	[IW_WAIT_FPDU] = iw_fpdu_received,
	[IW_WAIT_RTR] = iw_responder_rtr,
	[IW_FPDU] = iw_fpdu_received,
	[IW_TERMINATING] = discard,
	[IW_CLOSING] = discard,
	[IW_CLOSED] = discard,
};

static void received(void *arg, const uint8_t *bytes, size_t n)
{
	struct iw_cm_id *id = arg;

	iw_hold(id);
	while (n && id->stream) {
		size_t taken = takers[id->state](id, bytes, n);

		bytes += taken;
		n -= taken;
	}
	iw_release(id);
}

static void up(void *arg)
{
	struct iw_cm_id *id = arg;

	iw_hold(id);
	iw_initiator_up(id);
	iw_release(id);
}

static void peer_closed(void *arg)
{
	struct iw_cm_id *id = arg;

	iw_hold(id);
	switch (id->state) {
	case IW_WAIT_REP:
	case IW_REPLIED:
		iw_initiator_failed(id, -ECONNRESET);
		break;
	case IW_FPDU:
	case IW_WAIT_FPDU: /* a client that had nothing to say */
		/* this end has nothing more to say either */
		iw_half_close(id, IW_CLOSING);
		iw_tell(id, (struct iw_event){.type = IW_EVENT_DISCONNECT});
		break;
	case IW_TERMINATING:
	case IW_CLOSING:
	case IW_CLOSED:
		break; /* closed() follows */
	default:
		iw_abort(id, -ECONNRESET);
	}
	iw_release(id);
}

static void closed(void *arg)
{
	struct iw_cm_id *id = arg;

	iw_hold(id);
	iw_gone(id, 0);
	iw_release(id);
}

static void failed(void *arg, int error)
{
	struct iw_cm_id *id = arg;

	iw_hold(id);
	iw_say(id, "stream failed: %s", strerror(-error));
	if (id->state == IW_CONNECTING || id->state == IW_WAIT_REP || id->state == IW_REPLIED)
		iw_initiator_failed(id, error);
	else
		iw_gone(id, error);
	iw_release(id);
}

const struct iw_stream_user iw_stream_user = {
	.up = up,
	.received = received,
	.peer_closed = peer_closed,
	.closed = closed,
	.failed = failed,
};
