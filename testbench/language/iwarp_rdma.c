/* SPDX-License-Identifier: Apache-2.0 */
/* The words of iwarp.h for ids of librdmacm, and queues of the events that the body must expect. */
#include "testbench/language/iwarp_impl.h"

#include <stdlib.h>

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

void iwarp_rdma_free(struct drv_list *list)
{
	while (!drv_list_empty(list)) {
		struct tb_rdma_iw *rdma = container_of(list->next, struct tb_rdma_iw, link);

		iwarp_rdma_free(&rdma->requests);
		if (rdma->id)
			rdma_iw_destroy_id(rdma->id);
		while (rdma_note_first(rdma))
			rdma_note_free(rdma_note_first(rdma));
		drv_list_del(&rdma->link);
		free(rdma);
	}
}

static void rdma_event_describe(char *text, size_t room, const struct rdma_iw_event *e)
{
	snprintf(text, room, "%s status %d", rdma_event_str(e->event), e->status);
}

void iwarp_rdma_judge(struct tb *tb, const char *here, struct drv_list *list)
{
	char got[IWARP_TEXT_CHARS];

	for (struct drv_list *l = list->next; l != list; l = l->next) {
		struct tb_rdma_iw *rdma = container_of(l, struct tb_rdma_iw, link);

		iwarp_rdma_judge(tb, here, &rdma->requests);
		if (!rdma_note_first(rdma))
			continue;
		rdma_event_describe(got, sizeof(got), &rdma_note_first(rdma)->event);
		tb_fail(tb, here, "no further event of an id of librdmacm", got);
	}
}

/* --- words --- */

struct tb_rdma_iw *tb_rdma_iw_new(struct tb *tb, const char *here, struct tb_end *end)
{
	struct iw_side *side;
	struct tb_rdma_iw *rdma;

	if (!tb_go(tb, here))
		return NULL;
	side = iwarp_side(tb, end);
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
	    !iwarp_number_fits(want->pdata_len, got->private_data_len) ||
	    !iwarp_number_fits(want->responder_resources, got->responder_resources) ||
	    !iwarp_number_fits(want->initiator_depth, got->initiator_depth))
		return false;
	return !want->pdata || (got->private_data_len == strlen(want->pdata) &&
				!memcmp(got->private_data, want->pdata, got->private_data_len));
}

void tb_expect_rdma_iw(struct tb *tb, const char *here, struct tb_rdma_iw *rdma,
		       enum rdma_cm_event_type type, const struct tb_rdma_iw_event *want)
{
	const struct rdma_iw_event wanted = {.event = type, .status = (int)want->status};
	char expected[IWARP_TEXT_CHARS], got[IWARP_TEXT_CHARS];
	struct rdma_note *n;

	if (!tb_go(tb, here))
		return;
	rdma_event_describe(expected, sizeof(expected), &wanted);
	if (!iwarp_wait_for(tb, &rdma->events)) {
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
	if (!iwarp_wait_for(tb, &listener->requests)) {
		tb_fail(tb, here, "RDMA_CM_EVENT_CONNECT_REQUEST", "none for 60 s");
		return NULL;
	}
	rdma = container_of(listener->requests.next, struct tb_rdma_iw, link);
	drv_list_del(&rdma->link);
	drv_list_add(&rdma->side->rdma, &rdma->link);
	tb_expect_rdma_iw(tb, here, rdma, RDMA_CM_EVENT_CONNECT_REQUEST, want);
	return rdma;
}
