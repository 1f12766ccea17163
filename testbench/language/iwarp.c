/* SPDX-License-Identifier: Apache-2.0 */
/* The words of iwarp.h for connections, and queues of what the body must expect. */
#include "testbench/language/iwarp_impl.h"

#include "host_driver/iwarp/bytes.h"
#include "model/sim/cfg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
	RECV_BYTES = 1024,
	WAIT_S = 60,
	STREAM_S =
		30, /* longer than all tries of a segment, and than the wait for the peer's FIN */
	SAID_CHARS = 280,
	WORD_WR_ID = 1000 /* of the first work by words */
};

/* Something that the body must expect, in the order in which it came. */
struct note {
	struct drv_list link;
	struct iw_event event;
	uint8_t pdata[MPA_PDATA_MAX];
	char text[IWARP_TEXT_CHARS]; /* of a message or a receive */
};

struct work {
	struct drv_list link;
	uint64_t wr_id;
	size_t len;
	uint8_t bytes[]; /* of a receive */
};

struct tb_iw {
	struct drv_list link;
	struct iw_side *side;
	struct iw_cm_id *id; /* NULL: rejected */
	struct drv_list events, texts, receives, sends;
	uint64_t wr_id; /* of the next work */
	/* what the user does within its handlers */
	enum tb_iw_act within[IW_EVENT_COUNT], within_completion;
};

static struct note *note_add(struct tb_iwarp *all, struct drv_list *list)
{
	struct note *n = calloc(1, sizeof(*n));

	if (!n) {
		tb_failf(all->tb, all->tb->here, "memory for an event");
		return NULL;
	}
	drv_list_add(list, &n->link);
	tb_poke(all->tb);
	return n;
}

static struct note *note_first(const struct drv_list *list)
{
	return drv_list_empty(list) ? NULL : container_of(list->next, struct note, link);
}

static void note_free(struct note *n)
{
	drv_list_del(&n->link);
	free(n);
}

static void notes_free(struct drv_list *list)
{
	while (!drv_list_empty(list))
		note_free(note_first(list));
}

/* --- what connections say --- */

/* Fails if what the side says or sends is wrong. */
static void sent_right(const struct iw_side *side, const char *wrong, const char *what)
{
	struct tb *tb = side->all->tb;

	if (wrong)
		tb_failf(tb, tb->here, "%s, at %s: \"%s\"", wrong, side->end->name, what);
}

static void said(struct iw_host *host, const struct iw_cm_id *id, const char *text)
{
	struct iw_side *side = container_of(host, struct iw_side, host);
	struct tb *tb = side->all->tb;
	char line[SAID_CHARS];
	struct note *n;

	if (trace_on(tb->trace, TP_IWARP)) {
		snprintf(line, sizeof(line), "%s: %s", side->end->name, text);
		trace_emit(tb->trace, &(const struct trace_record){.time_ps = tb_now(tb),
								   .point = TP_IWARP,
								   .hca = TRACE_NO_HCA,
								   .text = line});
	}
	if (strncmp(text, "send ", 5))
		return;
	n = note_add(side->all, &side->messages);
	if (n)
		snprintf(n->text, sizeof(n->text), "%s", text + 5);
	sent_right(side, iwarp_wire_said(side, (struct iw_cm_id *)id, text + 5, NULL, 0), text);
}

static struct tb_iw *iw_new(struct iw_side *side, struct iw_cm_id *id)
{
	struct tb_iw *iw = calloc(1, sizeof(*iw));

	if (!iw)
		return NULL;
	iw->side = side;
	iw->id = id;
	drv_list_init(&iw->events);
	drv_list_init(&iw->texts);
	drv_list_init(&iw->receives);
	drv_list_init(&iw->sends);
	iw->wr_id = WORD_WR_ID;
	return iw;
}

static void event_note(struct tb_iw *iw, const struct iw_event *event)
{
	struct note *n = note_add(iw->side->all, &iw->events);

	if (!n)
		return;
	n->event = *event;
	if (event->pdata_len)
		memcpy(n->pdata, event->pdata, event->pdata_len);
	n->event.pdata = n->pdata;
	if (event->type == IW_EVENT_TERMINATE)
		sent_right(iw->side, iwarp_wire_term(iw->side, event->id, event->term, event->sent),
			   "TERMINATE");
}

/* NULL: no memory. */
static struct work *work_add(struct tb *tb, const char *here, struct tb_iw *iw,
			     struct drv_list *list, size_t len, size_t room)
{
	struct work *w = calloc(1, sizeof(*w) + room);

	if (!w) {
		tb_failf(tb, here, "memory for work");
		return NULL;
	}
	w->wr_id = iw->wr_id++;
	w->len = len;
	drv_list_add(list, &w->link);
	return w;
}

static struct work *work_first(const struct drv_list *list)
{
	return drv_list_empty(list) ? NULL : container_of(list->next, struct work, link);
}

static void work_free(struct work *w)
{
	drv_list_del(&w->link);
	free(w);
}

static void works_free(struct drv_list *list)
{
	while (!drv_list_empty(list))
		work_free(work_first(list));
}

static void receive_post(struct tb *tb, const char *here, struct tb_iw *iw)
{
	struct work *w = work_add(tb, here, iw, &iw->receives, RECV_BYTES, RECV_BYTES);

	if (w)
		tb_must(tb, here, "iw_post_recv",
			iw_post_recv(iw->id, w->wr_id, w->bytes, RECV_BYTES), 0);
}

static void send_post(struct tb *tb, const char *here, struct tb_iw *iw, struct iw_cm_id *id,
		      const char *text)
{
	struct work *w = work_add(tb, here, iw, &iw->sends, strlen(text), 0);

	if (w)
		tb_must(tb, here, "iw_post_send",
			iw_post_send(id, w->wr_id, (const uint8_t *)text, strlen(text)), 0);
}

/* Within a handler. */
static void act(struct tb_iw *iw, enum tb_iw_act *planned)
{
	struct tb *tb = iw->side->all->tb;
	const enum tb_iw_act what = *planned;
	struct iw_cm_id *id = iw->id;

	*planned = IW_DO_NOTHING;
	if (what == IW_DO_FORGET || what == IW_DO_REFUSE)
		iw->id = NULL;
	switch (what) {
	case IW_DO_NOTHING:
		break;
	case IW_DO_SEND:
		send_post(tb, tb->here, iw, id, "again");
		break;
	case IW_DO_RECV:
		receive_post(tb, tb->here, iw);
		break;
	case IW_DO_HANG_UP:
		tb_must(tb, tb->here, "iw_disconnect", iw_disconnect(id), 0);
		break;
	case IW_DO_FORGET:
		iw_destroy(id);
		break;
	case IW_DO_BREAK:
		iw_stream_break(id, true);
		break;
	case IW_DO_TAKE:
		tb_must(tb, tb->here, "iw_accept", iw_accept(id, NULL, 0), 0);
		break;
	case IW_DO_REFUSE:
		tb_must(tb, tb->here, "iw_reject", iw_reject(id, NULL, 0), 0);
		break;
	}
}

static void event_of_connection(void *arg, const struct iw_event *event)
{
	struct tb_iw *iw = arg;
	struct tb *tb = iw->side->all->tb;

	event_note(iw, event);
	if (iw->id && event->id != iw->id)
		tb_failf(tb, tb->here, "the id of the connection in its event");
	if (event->type == IW_EVENT_CLOSE && (work_first(&iw->sends) || work_first(&iw->receives)))
		tb_failf(tb, tb->here, "all work to be completed before CLOSE");
	act(iw, &iw->within[event->type]);
}

/* NULL, or what is wrong with the completion of a word's work. Work completes in its order. */
static const char *completion_wrong(const struct work *w, const struct iw_completion *c)
{
	const size_t max = w ? w->len : 0;

	if (!w || c->wr_id != w->wr_id)
		return "the first work to complete first, once";
	if (c->status && c->status != -ECANCELED && c->status != -ENOMEM)
		return "a status of 0, ECANCELED or ENOMEM";
	if (!c->receive)
		return c->status || c->len == max ? NULL : "the length that was sent";
	for (size_t i = c->len; i < max && !c->status; i++)
		if (w->bytes[i])
			return "nothing in a receive behind the message";
	return c->len <= max ? NULL : "no more bytes than the receive has";
}

static void completed(void *arg, struct iw_cm_id *id, const struct iw_completion *c)
{
	struct tb_iw *iw = arg;
	struct tb *tb = iw->side->all->tb;
	struct work *w = work_first(c->receive ? &iw->receives : &iw->sends);
	const char *wrong = c->wr_id < WORD_WR_ID ? NULL : completion_wrong(w, c);
	struct note *n;

	if (wrong)
		tb_failf(tb, tb->here, "%s", wrong);
	if (wrong || c->wr_id < WORD_WR_ID)
		return;
	n = c->receive && !c->status ? note_add(iw->side->all, &iw->texts) : NULL;
	if (n)
		snprintf(n->text, sizeof(n->text), "%.*s", (int)c->len, w->bytes);
	work_free(w);
	act(iw, &iw->within_completion);
}

static const struct iw_cm_user connection_user = {
	.event = event_of_connection,
	.completed = completed,
};

static void event_of_listener(void *arg, const struct iw_event *event)
{
	struct iw_side *side = arg;
	struct tb_iw *iw = iw_new(side, event->id);
	enum tb_iw_act within = side->within_request;

	if (!iw) {
		iw_destroy(event->id);
		return;
	}
	drv_list_add(&side->requests, &iw->link);
	iw_user_set(event->id, &connection_user, iw);
	event_note(iw, event);
	sent_right(side, iwarp_wire_peer(side, event->id, event->peer), "CONNECT_REQUEST");
	act(iw, &within);
}

static const struct iw_cm_user listener_user = {.event = event_of_listener};

/* --- begin and end --- */

struct iw_side *iwarp_side(struct tb *tb, const struct tb_end *end)
{
	struct ethernet_user users[TB_ENDS];
	struct tb_iwarp *all = tb->iwarp;

	if (all)
		return &all->sides[end->index];
	all = calloc(1, sizeof(*all));
	if (!all)
		return NULL;
	all->tb = tb;
	all->wrong = sent_right;
	drv_list_init(&all->ways);
	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct iw_side *side = &all->sides[i];

		side->all = all;
		side->end = &tb->ends[i];
		drv_list_init(&side->messages);
		drv_list_init(&side->requests);
		drv_list_init(&side->connections);
		drv_list_init(&side->rdma);
		iwarp_host_begin(side, &users[i]);
		side->host = (struct iw_host){.net = &side->tcp.net, .said = said};
	}
	all->ethernet = ethernet_create(tb->machine, users);
	if (!all->ethernet) {
		free(all);
		return NULL;
	}
	tb->iwarp = all;
	return &all->sides[end->index];
}

static void iw_free(struct tb_iw *iw)
{
	if (iw->id)
		iw_destroy(iw->id);
	notes_free(&iw->events);
	notes_free(&iw->texts);
	works_free(&iw->receives);
	works_free(&iw->sends);
	drv_list_del(&iw->link);
	free(iw);
}

static void connections_free(struct drv_list *list)
{
	while (!drv_list_empty(list))
		iw_free(container_of(list->next, struct tb_iw, link));
}

static void side_end(struct iw_side *side)
{
	iwarp_rdma_free(&side->rdma);
	connections_free(&side->connections);
	connections_free(&side->requests);
	if (side->listener)
		iw_destroy(side->listener);
	side->listener = NULL;
}

void tb_iwarp_end(struct tb *tb)
{
	struct tb_iwarp *all = tb->iwarp;

	if (!all)
		return;
	for (unsigned i = 0; i < TB_ENDS; i++)
		side_end(&all->sides[i]);
	for (unsigned i = 0; i < TB_ENDS; i++) {
		iwarp_host_end(&all->sides[i]);
		notes_free(&all->sides[i].messages);
	}
	ethernet_destroy(all->ethernet);
	iwarp_wire_free(all);
	free(all);
	tb->iwarp = NULL;
}

/* --- what is left --- */

static void event_describe(char *text, size_t room, const struct iw_event *e)
{
	int n = snprintf(text, room, "%s status %d", iw_event_name(e->type), e->status);

	if (e->type == IW_EVENT_TERMINATE)
		snprintf(text + n, room - (size_t)n, " %s: %s", e->sent ? "sent" : "came",
			 e->term < IW_TERM_COUNT ? iw_term_rows[e->term].meaning : "unknown");
}

static void connections_judge(struct tb *tb, const char *here, struct drv_list *list)
{
	char got[IWARP_TEXT_CHARS];

	for (struct drv_list *l = list->next; l != list; l = l->next) {
		const struct tb_iw *iw = container_of(l, struct tb_iw, link);

		if (note_first(&iw->texts))
			tb_fail(tb, here, "no further receive", note_first(&iw->texts)->text);
		if (!note_first(&iw->events))
			continue;
		event_describe(got, sizeof(got), &note_first(&iw->events)->event);
		tb_fail(tb, here, "no further event of an iwarp connection", got);
	}
}

static void side_judge(struct tb *tb, const char *here, struct iw_side *side)
{
	if (note_first(&side->messages))
		tb_fail(tb, here, "no further iwarp message", note_first(&side->messages)->text);
	connections_judge(tb, here, &side->connections);
	connections_judge(tb, here, &side->requests);
	iwarp_rdma_judge(tb, here, &side->rdma);
	if (iwarp_wire_left(side))
		tb_failf(tb, here, "%s of %s", iwarp_wire_left(side), side->end->name);
}

static bool streams_gone(const struct tb_iwarp *all)
{
	return !all->sides[0].tcp.streams && !all->sides[1].tcp.streams;
}

void tb_iwarp_judge(struct tb *tb, const char *here)
{
	struct tb_iwarp *all = tb->iwarp;

	if (!all)
		return;
	if (ethernet_faults_left(all->ethernet))
		tb_fail(tb, here, "every fault of the Ethernet cable to happen", NULL);
	for (unsigned i = 0; i < TB_ENDS; i++)
		side_judge(tb, here, &all->sides[i]);
	/* the ids go without a word, then the streams by themselves, and nothing of them may be left */
	for (unsigned i = 0; i < TB_ENDS; i++)
		side_end(&all->sides[i]);
	for (unsigned s = 0; s < STREAM_S && !streams_gone(all); s++)
		tb_pass_time(tb, here, CFG_S(1));
	if (!streams_gone(all))
		tb_failf(tb, here, "no stream left");
	for (unsigned i = 0; i < TB_ENDS; i++) {
		if (all->sides[i].host.ids)
			tb_failf(tb, here, "no iwarp connection left at %s, got %u",
				 tb->ends[i].name, all->sides[i].host.ids);
		iwarp_host_end(&all->sides[i]);
		if (all->sides[i].timers)
			tb_failf(tb, here, "no timer left at %s", tb->ends[i].name);
	}
}

/* --- words --- */

void tb_iw_serve(struct tb *tb, const char *here, struct tb_end *end,
		 const struct iw_options *options)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = iwarp_side(tb, end);
	if (!side) {
		tb_failf(tb, here, "memory for iwarp");
		return;
	}
	if (side->listener)
		iw_destroy(side->listener);
	side->listener = NULL;
	tb_must(tb, here, "iw_listen",
		iw_listen(&side->host, TB_IW_PORT, options, &listener_user, side, &side->listener),
		0);
}

struct tb_iw *tb_iw_dial(struct tb *tb, const char *here, struct tb_end *end,
			 const struct iw_options *options, const void *pdata, uint16_t len)
{
	struct iw_side *side;
	struct iw_address to;
	struct tb_iw *iw;

	if (!tb_go(tb, here))
		return NULL;
	side = iwarp_side(tb, end);
	iw = side ? iw_new(side, NULL) : NULL;
	if (!iw) {
		tb_failf(tb, here, "memory for a connection");
		return NULL;
	}
	drv_list_add(&side->connections, &iw->link);
	to = (struct iw_address){side->all->sides[!end->index].tcp.ip, TB_IW_PORT};
	tb_must(tb, here, "iw_connect",
		iw_connect(&side->host, to, options, &connection_user, iw, pdata, len, &iw->id), 0);
	return iw;
}

struct iw_cm_id *tb_iw_id(struct tb_iw *iw)
{
	return iw->id;
}

void tb_iw_refuse(struct tb *tb, const char *here, struct tb_iw *iw, const void *pdata,
		  uint16_t len)
{
	if (!tb_go(tb, here))
		return;
	tb_must(tb, here, "iw_reject", iw_reject(iw->id, pdata, len), 0);
	iw->id = NULL;
}

void tb_iw_send(struct tb *tb, const char *here, struct tb_iw *iw, const char *text)
{
	if (tb_go(tb, here))
		send_post(tb, here, iw, iw->id, text);
}

void tb_iw_recv(struct tb *tb, const char *here, struct tb_iw *iw)
{
	if (tb_go(tb, here))
		receive_post(tb, here, iw);
}

void tb_iw_forget(struct tb *tb, const char *here, struct tb_iw *iw)
{
	if (!tb_go(tb, here))
		return;
	iw_destroy(iw->id);
	iw->id = NULL;
}

void tb_iw_within(struct tb *tb, const char *here, struct tb_iw *iw, enum iw_event_type type,
		  enum tb_iw_act what)
{
	if (tb_go(tb, here))
		iw->within[type] = what;
}

void tb_iw_within_completion(struct tb *tb, const char *here, struct tb_iw *iw, enum tb_iw_act what)
{
	if (tb_go(tb, here))
		iw->within_completion = what;
}

void tb_iw_within_request(struct tb *tb, const char *here, struct tb_end *end, enum tb_iw_act what)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = iwarp_side(tb, end);
	if (side)
		side->within_request = what;
}

void tb_inject_ddp(struct tb *tb, const char *here, struct tb_iw *iw, unsigned opcode,
		   const struct tb_ddp *ddp)
{
	enum { CONTROL, OPCODE, QN = 6, TAGGED = 0x80, RDMAP_SHIFT = 6 };
	const bool known = opcode < RDMAP_OPCODE_COUNT;
	const bool tagged = ddp->tagged == TB_ANY ? known && rdmap_tagged(opcode) : ddp->tagged;
	uint8_t ulpdu[RDMAP_HEAD_MAX + IWARP_TEXT_CHARS];
	size_t n;

	if (!tb_go(tb, here))
		return;
	n = rdmap_put(ulpdu, &(const struct rdmap_message){
				     .opcode = tagged                           ? RDMAP_WRITE
					       : known && !rdmap_tagged(opcode) ? opcode
										: RDMAP_SEND,
				     .last = ddp->last,
				     .stag = 1,
				     .msn = ddp->msn,
				     .mo = ddp->mo,
				     /* none is another one's, nor its order of bytes */
				     .read = {.sink_stag = 0x10111213,
					      .sink_to = 0x2021222324252627,
					      .len = ddp->read_len,
					      .source_stag = 0x30313233,
					      .source_to = 0x4041424344454647},
				     .term = {(uint8_t)(ddp->term >> 12),
					      (uint8_t)(ddp->term >> 8 & 0xf), (uint8_t)ddp->term},
				     .payload = (const uint8_t *)ddp->text,
				     .len = ddp->text ? strlen(ddp->text) : 0,
			     });
	ulpdu[CONTROL] = (uint8_t)((ulpdu[CONTROL] & ~3) | ddp->ddp);
	ulpdu[OPCODE] = (uint8_t)(ddp->rdmap << RDMAP_SHIFT | opcode);
	if (!tagged && ddp->qn != TB_ANY)
		put_be32(ulpdu + QN, (uint32_t)ddp->qn);
	n -= ddp->cut;
	tb_must(tb, here, "iw_ulpdu_send", iw_ulpdu_send(iw->id, ulpdu, n), 0);
	sent_right(iw->side, iwarp_wire_said(iw->side, iw->id, NULL, ulpdu, n), "by hand");
}

void tb_inject_segment(struct tb *tb, const char *here, struct tb_iw *iw,
		       const struct tb_segment *segment)
{
	uint8_t frame[TCP_HEADERS + IWARP_TEXT_CHARS];
	struct tcp_host *tcp = &iw->side->tcp;
	struct tcp_segment s;

	if (!tb_go(tb, here))
		return;
	tcp_segment_next(iw_stream_of(iw->id), &s);
	s.seq += (uint32_t)segment->seq;
	s.ack += (uint32_t)segment->ack;
	s.flags = segment->flags;
	s.window = segment->window;
	s.mss = segment->mss;
	s.payload = (const uint8_t *)segment->text;
	s.len = segment->text ? strlen(segment->text) : 0;
	iwarp_frame_send(iw->side, frame, tcp_frame_put(frame, tcp->peer_mac, tcp->mac, &s));
}

static bool has_some(struct tb *tb, void *list)
{
	return !drv_list_empty(list);
}

bool iwarp_wait_for(struct tb *tb, struct drv_list *list)
{
	return tb_wait(tb, has_some, list, tb_now(tb) + CFG_S(WAIT_S));
}

bool iwarp_number_fits(int64_t want, int64_t got)
{
	return want == TB_ANY || want == got;
}

static bool event_fits(const struct iw_event *got, enum iw_event_type type,
		       const struct tb_iw_event *want)
{
	if (got->type != type || got->status != want->status ||
	    !iwarp_number_fits(want->pdata_len, got->pdata_len) ||
	    !iwarp_number_fits(want->ird, got->ird) || !iwarp_number_fits(want->ord, got->ord))
		return false;
	if (want->pdata && (got->pdata_len != strlen(want->pdata) ||
			    memcmp(got->pdata, want->pdata, got->pdata_len)))
		return false;
	return type != IW_EVENT_TERMINATE || (got->term == want->term && got->sent == want->sent);
}

void tb_expect_iw(struct tb *tb, const char *here, struct tb_iw *iw, enum iw_event_type type,
		  const struct tb_iw_event *want)
{
	const struct iw_event wanted = {
		.type = type, .status = (int)want->status, .term = want->term, .sent = want->sent};
	char expected[IWARP_TEXT_CHARS], got[IWARP_TEXT_CHARS];
	struct note *n;

	if (!tb_go(tb, here))
		return;
	event_describe(expected, sizeof(expected), &wanted);
	if (!iwarp_wait_for(tb, &iw->events)) {
		tb_fail(tb, here, expected, "no event for 60 s");
		return;
	}
	n = note_first(&iw->events);
	if (!event_fits(&n->event, type, want)) {
		event_describe(got, sizeof(got), &n->event);
		snprintf(got + strlen(got), sizeof(got) - strlen(got),
			 ", ird %u ord %u, private data %u", n->event.ird, n->event.ord,
			 n->event.pdata_len);
		tb_fail(tb, here, expected, got);
		return;
	}
	note_free(n);
}

struct tb_iw *tb_expect_iw_request(struct tb *tb, const char *here, struct tb_end *end,
				   const struct tb_iw_event *want)
{
	struct iw_side *side;
	struct tb_iw *iw;

	if (!tb_go(tb, here))
		return NULL;
	side = iwarp_side(tb, end);
	if (!side || !iwarp_wait_for(tb, &side->requests)) {
		tb_fail(tb, here, "CONNECT_REQUEST", "none for 60 s");
		return NULL;
	}
	iw = container_of(side->requests.next, struct tb_iw, link);
	drv_list_del(&iw->link);
	drv_list_add(&side->connections, &iw->link);
	tb_expect_iw(tb, here, iw, IW_EVENT_CONNECT_REQUEST, want);
	return iw;
}

/* The next text of the list begins so, or is equal. */
static void expect_text(struct tb *tb, const char *here, struct drv_list *list, const char *what,
			const char *text, size_t compared)
{
	char expected[IWARP_TEXT_CHARS];
	struct note *n;

	snprintf(expected, sizeof(expected), "%s \"%s\"", what, text);
	if (!iwarp_wait_for(tb, list)) {
		tb_fail(tb, here, expected, "none for 60 s");
		return;
	}
	n = note_first(list);
	if (strncmp(n->text, text, compared))
		tb_fail(tb, here, expected, n->text);
	else
		note_free(n);
}

void tb_expect_iw_text(struct tb *tb, const char *here, struct tb_iw *iw, const char *text)
{
	if (tb_go(tb, here))
		expect_text(tb, here, &iw->texts, "a receive of", text, IWARP_TEXT_CHARS);
}

void tb_expect_message(struct tb *tb, const char *here, enum tb_direction direction,
		       const char *text)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = iwarp_side(tb, &tb->ends[direction == b_to_a]);
	if (side)
		expect_text(tb, here, &side->messages, direction == b_to_a ? "b_to_a" : "a_to_b",
			    text, strlen(text));
}

void tb_expect_silence(struct tb *tb, const char *here, uint64_t ps)
{
	tb_pass_time(tb, here, ps);
	for (unsigned i = 0; i < TB_ENDS && tb->iwarp && tb_go(tb, here); i++)
		side_judge(tb, here, &tb->iwarp->sides[i]);
}

void tb_break_stream(struct tb *tb, const char *here, struct tb_iw *iw, bool reset)
{
	if (tb_go(tb, here))
		iw_stream_break(iw->id, reset);
}

void tb_eth_fault(struct tb *tb, const char *here, enum tb_direction direction,
		  const struct tb_eth_fault *fault)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = iwarp_side(tb, &tb->ends[direction == b_to_a]);
	if (!side || ethernet_fault(side->all->ethernet, side->end->index, fault))
		tb_failf(tb, here, "memory for a fault");
}

void tb_cut_segments(struct tb *tb, const char *here, struct tb_end *end, unsigned bytes)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = iwarp_side(tb, end);
	if (side)
		side->tcp.segment_max = (uint16_t)bytes;
}
