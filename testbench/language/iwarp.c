/* SPDX-License-Identifier: Apache-2.0 */
/* The words of iwarp.h: two hosts with a TCP each, and queues of what the body must expect. */
#include "testbench/iwarp.h"

#include "host_driver/iwarp/tcp.h"
#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "testbench/language/tb.h"
#include "testbench/machine/ethernet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { TEXT_CHARS = 1100, RECV_BYTES = 1024, WAIT_S = 60, SAID_CHARS = 280 };

/* Something that the body must expect, in the order in which it came. */
struct note {
	struct drv_list link;
	struct iw_event event;
	uint8_t pdata[MPA_PDATA_MAX];
	char text[TEXT_CHARS]; /* of a message or a receive */
};

/* An event of librdmacm. */
struct rdma_note {
	struct drv_list link;
	struct rdma_iw_event event;
	uint8_t pdata[MPA_PDATA_MAX];
};

enum { RDMA_EVENTS = RDMA_CM_EVENT_TIMEWAIT_EXIT + 1 };

struct tb_rdma_iw {
	struct drv_list link;
	struct iw_side *side;
	struct rdma_iw_id *id; /* NULL: destroyed */
	struct drv_list events;
	struct drv_list requests; /* struct tb_rdma_iw that no word has taken */
	enum tb_iw_act within[RDMA_EVENTS];
};

struct receive {
	struct drv_list link;
	uint8_t bytes[RECV_BYTES];
};

struct tb_iw {
	struct drv_list link;
	struct iw_side *side;
	struct iw_cm_id *id; /* NULL: rejected */
	struct drv_list events, texts, receives;
	/* what the user does within its handlers */
	enum tb_iw_act within[IW_EVENT_COUNT], within_completion;
};

struct iw_side {
	struct tb_iwarp *all;
	struct tb_end *end;
	struct tcp_host tcp;
	struct iw_host host;
	struct iw_cm_id *listener;
	struct drv_list messages; /* that it has sent */
	struct drv_list requests; /* struct tb_iw that no word has taken */
	struct drv_list connections;
	struct drv_list rdma; /* struct tb_rdma_iw */
	enum tb_iw_act within_request;
	struct iw_timer *timers;
	struct event due;
};

struct tb_iwarp {
	struct tb *tb;
	struct ethernet *ethernet;
	struct iw_side sides[TB_ENDS];
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

/* --- what TCP needs --- */

static struct iw_side *side_of(struct tcp_host *tcp)
{
	return container_of(tcp, struct iw_side, tcp);
}

static struct event_core *core_of(const struct iw_side *side)
{
	return &side->all->tb->machine->core;
}

static void link_send(struct tcp_host *tcp, const uint8_t *frame, size_t n)
{
	struct iw_side *side = side_of(tcp);
	const char *wrong = ethernet_frame_wrong(frame, n);

	if (wrong)
		tb_failf(side->all->tb, side->all->tb->here, "%s in each frame of %s", wrong,
			 side->end->name);
	if (ethernet_send(side->all->ethernet, side->end->index, frame, n))
		tb_failf(side->all->tb, side->all->tb->here, "memory for a frame");
}

static uint64_t link_now_ps(struct tcp_host *tcp)
{
	return core_of(side_of(tcp))->now_ps;
}

static void timers_set(struct iw_side *side)
{
	uint64_t first = IW_NEVER;

	for (const struct iw_timer *t = side->timers; t; t = t->next)
		first = t->due_ps < first ? t->due_ps : first;
	event_cancel(core_of(side), &side->due);
	if (first != IW_NEVER)
		event_set(core_of(side), &side->due, first);
}

static void link_timer(struct tcp_host *tcp, struct iw_timer *timer, uint64_t due_ps)
{
	struct iw_side *side = side_of(tcp);
	struct iw_timer **p = &side->timers;

	while (*p && *p != timer)
		p = &(*p)->next;
	if (*p)
		*p = timer->next;
	timer->due_ps = due_ps;
	timer->next = NULL;
	if (due_ps != IW_NEVER) {
		/* behind those that are there: of equal times the first one set runs first */
		for (p = &side->timers; *p;)
			p = &(*p)->next;
		*p = timer;
	}
	timers_set(side);
}

static struct iw_timer *timer_first_due(const struct iw_side *side)
{
	const uint64_t now = core_of(side)->now_ps;
	struct iw_timer *due = NULL;

	for (struct iw_timer *t = side->timers; t; t = t->next)
		if (t->due_ps <= now && (!due || t->due_ps < due->due_ps))
			due = t;
	return due;
}

static void timers_run(struct event *ev)
{
	struct iw_side *side = container_of(ev, struct iw_side, due);
	struct iw_timer *t;

	while ((t = timer_first_due(side))) {
		link_timer(&side->tcp, t, IW_NEVER);
		t->fn(t->arg);
	}
}

static const struct tcp_link_ops link_ops = {
	.send = link_send,
	.now_ps = link_now_ps,
	.timer = link_timer,
};

static void frame_arrived(void *arg, const uint8_t *frame, size_t n)
{
	struct iw_side *side = arg;

	tcp_host_frame(&side->tcp, frame, n);
}

/* --- what connections say --- */

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
}

static void receive_post(struct tb *tb, const char *here, struct tb_iw *iw)
{
	struct receive *r = calloc(1, sizeof(*r));

	if (!r) {
		tb_failf(tb, here, "memory for a receive");
		return;
	}
	drv_list_add(&iw->receives, &r->link);
	tb_must(tb, here, "iw_post_recv", iw_post_recv(iw->id, 0, r->bytes, sizeof(r->bytes)), 0);
}

/* Within a handler. */
static void act(struct tb_iw *iw, enum tb_iw_act *planned)
{
	static const char again[] = "again";
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
		tb_must(tb, tb->here, "iw_post_send",
			iw_post_send(id, 0, (const uint8_t *)again, strlen(again)), 0);
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

	event_note(iw, event);
	act(iw, &iw->within[event->type]);
}

static void completed(void *arg, struct iw_cm_id *id, const struct iw_completion *c)
{
	struct tb_iw *iw = arg;
	struct receive *r;
	struct note *n;

	if (c->receive) {
		r = container_of(iw->receives.next, struct receive, link);
		drv_list_del(&r->link);
		n = c->status ? NULL : note_add(iw->side->all, &iw->texts);
		if (n)
			snprintf(n->text, sizeof(n->text), "%.*s", (int)c->len, r->bytes);
		free(r);
	}
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
	act(iw, &within);
}

static const struct iw_cm_user listener_user = {.event = event_of_listener};

/* --- what ids of librdmacm say --- */

static struct tb_rdma_iw *rdma_new(struct iw_side *side, struct rdma_iw_id *id)
{
	struct tb_rdma_iw *rdma = calloc(1, sizeof(*rdma));

	if (!rdma)
		return NULL;
	rdma->side = side;
	rdma->id = id;
	drv_list_init(&rdma->events);
	drv_list_init(&rdma->requests);
	return rdma;
}

static void rdma_act(struct tb_rdma_iw *rdma, enum tb_iw_act what)
{
	struct tb *tb = rdma->side->all->tb;
	struct rdma_iw_id *id = rdma->id;

	switch (what) {
	case IW_DO_TAKE:
		tb_must(tb, tb->here, "rdma_iw_accept", rdma_iw_accept(id, NULL, 0), 0);
		break;
	case IW_DO_REFUSE:
		tb_must(tb, tb->here, "rdma_iw_reject", rdma_iw_reject(id, NULL, 0), 0);
		break;
	case IW_DO_HANG_UP:
		tb_must(tb, tb->here, "rdma_iw_disconnect", rdma_iw_disconnect(id), 0);
		break;
	case IW_DO_FORGET:
		rdma->id = NULL;
		rdma_iw_destroy_id(id);
		break;
	default: /* no call of rdma_iw.h */
		break;
	}
}

static void event_of_rdma(void *arg, const struct rdma_iw_event *event)
{
	struct tb_rdma_iw *listener = arg, *rdma = arg;
	const enum tb_iw_act what = rdma->within[event->event];
	struct rdma_note *n = calloc(1, sizeof(*n));

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		rdma = rdma_new(listener->side, event->id);
	if (!n || !rdma) {
		tb_failf(listener->side->all->tb, listener->side->all->tb->here,
			 "memory for an event");
		free(n);
		return;
	}
	if (rdma != listener) {
		drv_list_add(&listener->requests, &rdma->link);
		rdma_iw_set_context(event->id, rdma);
	}
	listener->within[event->event] = IW_DO_NOTHING;
	n->event = *event;
	if (event->private_data_len)
		memcpy(n->pdata, event->private_data, event->private_data_len);
	drv_list_add(&rdma->events, &n->link);
	tb_poke(rdma->side->all->tb);
	rdma_act(rdma, what);
}

static struct rdma_note *rdma_note_first(const struct tb_rdma_iw *rdma)
{
	return drv_list_empty(&rdma->events)
		       ? NULL
		       : container_of(rdma->events.next, struct rdma_note, link);
}

static void rdma_note_free(struct rdma_note *n)
{
	drv_list_del(&n->link);
	free(n);
}

/* --- begin and end --- */

static struct iw_side *side_get(struct tb *tb, const struct tb_end *end)
{
	struct ethernet_user users[TB_ENDS];
	struct tb_iwarp *all = tb->iwarp;

	if (all)
		return &all->sides[end->index];
	all = calloc(1, sizeof(*all));
	if (!all)
		return NULL;
	all->tb = tb;
	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct iw_side *side = &all->sides[i];

		side->all = all;
		side->end = &tb->ends[i];
		side->due.job = timers_run;
		drv_list_init(&side->messages);
		drv_list_init(&side->requests);
		drv_list_init(&side->connections);
		drv_list_init(&side->rdma);
		tcp_host_begin(&side->tcp, &link_ops, i);
		side->host = (struct iw_host){.net = &side->tcp.net, .said = said};
		users[i] = (struct ethernet_user){frame_arrived, side};
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
	while (!drv_list_empty(&iw->receives)) {
		struct receive *r = container_of(iw->receives.next, struct receive, link);

		drv_list_del(&r->link);
		free(r);
	}
	drv_list_del(&iw->link);
	free(iw);
}

static void connections_free(struct drv_list *list)
{
	while (!drv_list_empty(list))
		iw_free(container_of(list->next, struct tb_iw, link));
}

static void rdma_list_free(struct drv_list *list)
{
	while (!drv_list_empty(list)) {
		struct tb_rdma_iw *rdma = container_of(list->next, struct tb_rdma_iw, link);

		rdma_list_free(&rdma->requests);
		if (rdma->id)
			rdma_iw_destroy_id(rdma->id);
		while (rdma_note_first(rdma))
			rdma_note_free(rdma_note_first(rdma));
		drv_list_del(&rdma->link);
		free(rdma);
	}
}

static void side_end(struct iw_side *side)
{
	rdma_list_free(&side->rdma);
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
		tcp_host_end(&all->sides[i].tcp);
		notes_free(&all->sides[i].messages);
		event_cancel(&tb->machine->core, &all->sides[i].due);
	}
	ethernet_destroy(all->ethernet);
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
	char got[TEXT_CHARS];

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

static void rdma_event_describe(char *text, size_t room, const struct rdma_iw_event *e)
{
	snprintf(text, room, "%s status %d", rdma_event_str(e->event), e->status);
}

static void rdma_judge(struct tb *tb, const char *here, struct drv_list *list)
{
	char got[TEXT_CHARS];

	for (struct drv_list *l = list->next; l != list; l = l->next) {
		struct tb_rdma_iw *rdma = container_of(l, struct tb_rdma_iw, link);

		rdma_judge(tb, here, &rdma->requests);
		if (!rdma_note_first(rdma))
			continue;
		rdma_event_describe(got, sizeof(got), &rdma_note_first(rdma)->event);
		tb_fail(tb, here, "no further event of an id of librdmacm", got);
	}
}

static void side_judge(struct tb *tb, const char *here, struct iw_side *side)
{
	if (note_first(&side->messages))
		tb_fail(tb, here, "no further iwarp message", note_first(&side->messages)->text);
	connections_judge(tb, here, &side->connections);
	connections_judge(tb, here, &side->requests);
	rdma_judge(tb, here, &side->rdma);
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
	/* the ids go without a word, and then nothing of them may be left */
	for (unsigned i = 0; i < TB_ENDS; i++)
		side_end(&all->sides[i]);
	for (unsigned i = 0; i < TB_ENDS; i++)
		if (all->sides[i].host.ids)
			tb_failf(tb, here, "no iwarp connection left at %s, got %u",
				 tb->ends[i].name, all->sides[i].host.ids);
}

/* --- words --- */

void tb_iw_serve(struct tb *tb, const char *here, struct tb_end *end,
		 const struct iw_options *options)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = side_get(tb, end);
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
	side = side_get(tb, end);
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
	side = side_get(tb, end);
	if (side)
		side->within_request = what;
}

void tb_inject_ddp(struct tb *tb, const char *here, struct tb_iw *iw, unsigned opcode,
		   const struct tb_ddp *ddp)
{
	enum { CONTROL, OPCODE, QN = 6, TAGGED = 0x80, RDMAP_SHIFT = 6 };
	const bool known = opcode < RDMAP_OPCODE_COUNT;
	const bool tagged = ddp->tagged == TB_ANY ? known && rdmap_tagged(opcode) : ddp->tagged;
	uint8_t ulpdu[RDMAP_HEAD_MAX + TEXT_CHARS];
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
				     .payload = (const uint8_t *)ddp->text,
				     .len = ddp->text ? strlen(ddp->text) : 0,
			     });
	ulpdu[CONTROL] = (uint8_t)((ulpdu[CONTROL] & ~3) | ddp->ddp);
	ulpdu[OPCODE] = (uint8_t)(ddp->rdmap << RDMAP_SHIFT | opcode);
	if (!tagged && ddp->qn != TB_ANY)
		ulpdu[QN + 3] = (uint8_t)ddp->qn;
	tb_must(tb, here, "iw_ulpdu_send", iw_ulpdu_send(iw->id, ulpdu, n), 0);
}

void tb_inject_segment(struct tb *tb, const char *here, struct tb_iw *iw,
		       const struct tb_segment *segment)
{
	uint8_t frame[TCP_HEADERS + TEXT_CHARS];
	struct tcp_host *tcp = &iw->side->tcp;
	struct tcp_segment s;

	if (!tb_go(tb, here))
		return;
	tcp_segment_next(iw_stream_of(iw->id), &s);
	s.seq += (uint32_t)segment->seq;
	s.ack += (uint32_t)segment->ack;
	s.flags = segment->flags;
	s.window = segment->window;
	s.payload = (const uint8_t *)segment->text;
	s.len = segment->text ? strlen(segment->text) : 0;
	link_send(tcp, frame, tcp_frame_put(frame, tcp->peer_mac, tcp->mac, &s));
}

static bool has_some(struct tb *tb, void *list)
{
	return !drv_list_empty(list);
}

static bool wait_for(struct tb *tb, struct drv_list *list)
{
	return tb_wait(tb, has_some, list, tb_now(tb) + CFG_S(WAIT_S));
}

static bool number_fits(int64_t want, int64_t got)
{
	return want == TB_ANY || want == got;
}

static bool event_fits(const struct iw_event *got, enum iw_event_type type,
		       const struct tb_iw_event *want)
{
	if (got->type != type || got->status != want->status ||
	    !number_fits(want->pdata_len, got->pdata_len) || !number_fits(want->ird, got->ird) ||
	    !number_fits(want->ord, got->ord))
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
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	struct note *n;

	if (!tb_go(tb, here))
		return;
	event_describe(expected, sizeof(expected), &wanted);
	if (!wait_for(tb, &iw->events)) {
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
	side = side_get(tb, end);
	if (!side || !wait_for(tb, &side->requests)) {
		tb_fail(tb, here, "CONNECT_REQUEST", "none for 60 s");
		return NULL;
	}
	iw = container_of(side->requests.next, struct tb_iw, link);
	drv_list_del(&iw->link);
	drv_list_add(&side->connections, &iw->link);
	tb_expect_iw(tb, here, iw, IW_EVENT_CONNECT_REQUEST, want);
	return iw;
}

struct tb_rdma_iw *tb_rdma_iw_new(struct tb *tb, const char *here, struct tb_end *end)
{
	struct iw_side *side;
	struct tb_rdma_iw *rdma;

	if (!tb_go(tb, here))
		return NULL;
	side = side_get(tb, end);
	rdma = side ? rdma_new(side, NULL) : NULL;
	if (!rdma) {
		tb_failf(tb, here, "memory for an id of librdmacm");
		return NULL;
	}
	drv_list_add(&side->rdma, &rdma->link);
	tb_must(tb, here, "rdma_iw_create_id",
		rdma_iw_create_id(&side->host, event_of_rdma, rdma, &rdma->id), 0);
	return rdma;
}

struct rdma_iw_id *tb_rdma_iw_id(struct tb_rdma_iw *rdma)
{
	return rdma->id;
}

struct tb_rdma_iw *tb_rdma_iw_serve(struct tb *tb, const char *here, struct tb_end *end,
				    const struct iw_options *options)
{
	struct tb_rdma_iw *rdma = tb_rdma_iw_new(tb, here, end);

	if (rdma)
		tb_must(tb, here, "rdma_iw_listen", rdma_iw_listen(rdma->id, TB_IW_PORT, options),
			0);
	return rdma;
}

struct tb_rdma_iw *tb_rdma_iw_resolved(struct tb *tb, const char *here, struct tb_end *end)
{
	struct tb_rdma_iw *rdma = tb_rdma_iw_new(tb, here, end);
	struct iw_address to = {.port = TB_IW_PORT};

	if (!rdma)
		return NULL;
	to.ip = rdma->side->all->sides[!end->index].tcp.ip;
	tb_must(tb, here, "rdma_iw_resolve_addr", rdma_iw_resolve_addr(rdma->id, to), 0);
	tb_expect_rdma_iw(tb, here, rdma, RDMA_CM_EVENT_ADDR_RESOLVED, TB_RDMA_IW_EVENT());
	tb_must(tb, here, "rdma_iw_resolve_route", rdma_iw_resolve_route(rdma->id), 0);
	tb_expect_rdma_iw(tb, here, rdma, RDMA_CM_EVENT_ROUTE_RESOLVED, TB_RDMA_IW_EVENT());
	return rdma;
}

void tb_rdma_iw_forget(struct tb *tb, const char *here, struct tb_rdma_iw *rdma)
{
	if (tb_go(tb, here))
		rdma_act(rdma, IW_DO_FORGET);
}

void tb_rdma_iw_within(struct tb *tb, const char *here, struct tb_rdma_iw *rdma,
		       enum rdma_cm_event_type type, enum tb_iw_act what)
{
	if (tb_go(tb, here))
		rdma->within[type] = what;
}

static bool rdma_event_fits(const struct rdma_iw_event *got, const struct rdma_iw_id *id,
			    enum rdma_cm_event_type type, const struct tb_rdma_iw_event *want)
{
	if (got->event != type || got->status != want->status || (id && got->id != id) ||
	    !number_fits(want->pdata_len, got->private_data_len) ||
	    !number_fits(want->responder_resources, got->responder_resources) ||
	    !number_fits(want->initiator_depth, got->initiator_depth))
		return false;
	return !want->pdata || (got->private_data_len == strlen(want->pdata) &&
				!memcmp(got->private_data, want->pdata, got->private_data_len));
}

void tb_expect_rdma_iw(struct tb *tb, const char *here, struct tb_rdma_iw *rdma,
		       enum rdma_cm_event_type type, const struct tb_rdma_iw_event *want)
{
	const struct rdma_iw_event wanted = {.event = type, .status = (int)want->status};
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	struct rdma_note *n;

	if (!tb_go(tb, here))
		return;
	rdma_event_describe(expected, sizeof(expected), &wanted);
	if (!wait_for(tb, &rdma->events)) {
		tb_fail(tb, here, expected, "no event for 60 s");
		return;
	}
	n = rdma_note_first(rdma);
	n->event.private_data = n->pdata;
	if (!rdma_event_fits(&n->event, rdma->id, type, want)) {
		rdma_event_describe(got, sizeof(got), &n->event);
		snprintf(got + strlen(got), sizeof(got) - strlen(got),
			 ", responder resources %u, initiator depth %u, private data %u",
			 n->event.responder_resources, n->event.initiator_depth,
			 n->event.private_data_len);
		tb_fail(tb, here, expected, got);
		return;
	}
	rdma_note_free(n);
}

struct tb_rdma_iw *tb_expect_rdma_iw_request(struct tb *tb, const char *here,
					     struct tb_rdma_iw *listener,
					     const struct tb_rdma_iw_event *want)
{
	struct tb_rdma_iw *rdma;

	if (!tb_go(tb, here))
		return NULL;
	if (!wait_for(tb, &listener->requests)) {
		tb_fail(tb, here, "RDMA_CM_EVENT_CONNECT_REQUEST", "none for 60 s");
		return NULL;
	}
	rdma = container_of(listener->requests.next, struct tb_rdma_iw, link);
	drv_list_del(&rdma->link);
	drv_list_add(&rdma->side->rdma, &rdma->link);
	tb_expect_rdma_iw(tb, here, rdma, RDMA_CM_EVENT_CONNECT_REQUEST, want);
	return rdma;
}

/* The next text of the list begins so, or is equal. */
static void expect_text(struct tb *tb, const char *here, struct drv_list *list, const char *what,
			const char *text, size_t compared)
{
	char expected[TEXT_CHARS];
	struct note *n;

	snprintf(expected, sizeof(expected), "%s \"%s\"", what, text);
	if (!wait_for(tb, list)) {
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
		expect_text(tb, here, &iw->texts, "a receive of", text, TEXT_CHARS);
}

void tb_expect_message(struct tb *tb, const char *here, enum tb_direction direction,
		       const char *text)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = side_get(tb, &tb->ends[direction == b_to_a]);
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

void tb_eth_fault(struct tb *tb, const char *here, enum tb_direction direction,
		  const struct tb_eth_fault *fault)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = side_get(tb, &tb->ends[direction == b_to_a]);
	if (!side || ethernet_fault(side->all->ethernet, side->end->index, fault))
		tb_failf(tb, here, "memory for a fault");
}

void tb_cut_segments(struct tb *tb, const char *here, struct tb_end *end, unsigned bytes)
{
	struct iw_side *side;

	if (!tb_go(tb, here))
		return;
	side = side_get(tb, end);
	if (side)
		side->tcp.segment_max = (uint16_t)bytes;
}

void tb_break_stream(struct tb *tb, const char *here, struct tb_iw *iw, bool reset)
{
	if (tb_go(tb, here))
		iw_stream_break(iw->id, reset);
}
