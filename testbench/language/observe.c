/* SPDX-License-Identifier: Apache-2.0 */
/* What the body of a scenario sees of the wire and of the devices: a trace sink that fills the
 * queues of tb. */
#include "host_driver/uverbs/include/infiniband/verbs.h"
#include "testbench/language/software.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_QPN_OF_USERS = 2, GOT_CHARS = 512 };

static bool is_qp_of(const struct tb_end *end, uint32_t qpn)
{
	for (unsigned i = 0; i < TB_QPS_MAX && end->qp[i]; i++)
		if (drv_qp_num(end->qp[i]) == qpn)
			return true;
	return false;
}

static struct seen_queue *queue_of(struct tb *tb, unsigned sender, int64_t dqpn)
{
	if (dqpn < FIRST_QPN_OF_USERS)
		return &tb->directions[sender ? mads_b_to_a : mads_a_to_b];
	if (tb->setup.loopback)
		return &tb->directions[is_qp_of(&tb->ends[1], (uint32_t)dqpn) ? a_to_b : b_to_a];
	return &tb->directions[sender ? b_to_a : a_to_b];
}

/* A packet that a fault has corrupted may have any content. */
static void note_strange(struct tb *tb, struct tb_strange *strange, const struct trace_record *r)
{
	if (r->point != TP_PKT_OUT || r->text)
		return;
	if (!strange->count++) {
		strange->time_ps = r->time_ps;
		strange->len = r->len;
		strange->hca = r->hca;
	}
	tb_poke(tb);
}

/* Whether it is a LID of the end's ports: a packet from a port to itself does not cross the cable. */
static bool is_of(const struct tb *tb, const struct tb_end *end, int64_t lid)
{
	return end->lid && (lid >> tb->setup.lmc == end->lid >> tb->setup.lmc ||
			    lid >> tb->setup.lmc == end->lid_2 >> tb->setup.lmc);
}

static int see_packet(struct tb *tb, const struct trace_record *r)
{
	const bool ethernet = r->args[0] & TRACE_PACKET_ETHERNET;
	struct seen_pkt pkt;
	unsigned sender = r->hca;
	int rc;

	/* a packet that the body injects has no sender */
	if (r->text && strstr(r->text, "injected"))
		return 0;
	rc = (ethernet ? seen_frame_parse : seen_pkt_parse)(&pkt, r->bytes, r->len, r->time_ps,
							    (unsigned)r->args[3], r->text);
	if (rc) {
		if (rc != -ENOMSG) /* frames of a netdev are not the ladder's business */
			note_strange(tb, &tb->strange, r);
		return 0;
	}
	if (pkt.dirty)
		note_strange(tb, &tb->dirty, r);
	if (r->point == TP_PKT_OUT)
		return seen_queue_left(queue_of(tb, sender, pkt.fields.qpn), &pkt);
	if (!tb->setup.loopback &&
	    !(ethernet ? !memcmp(r->bytes + MAC_BYTES, tb->ends[sender].mac, MAC_BYTES)
		       : is_of(tb, &tb->ends[sender], pkt.fields.slid)))
		sender = !sender;
	if (seen_queue_arrived(queue_of(tb, sender, pkt.fields.qpn), pkt.opcode, pkt.fields.qpn,
			       pkt.fields.psn))
		tb_poke(tb);
	return 0;
}

static int observe(void *sink, const struct trace_record *r)
{
	struct tb *tb = sink;

	switch (r->point) {
	case TP_PKT_OUT:
	case TP_PKT_IN:
	case TP_PKT_DISCARD:
		tb_progress(tb);
		return r->bytes ? see_packet(tb, r) : 0;
	case TP_GUEST_ERROR:
	case TP_FW_CATAS:
		tb_poke(tb);
		return 0;
	default:
		return 0;
	}
}

static int observe_close(void *sink)
{
	return 0;
}

int tb_observe(struct tb *tb)
{
	static const struct trace_sink_ops ops = {
		.name = "scenario", .record = observe, .close = observe_close};
	int rc = trace_sink_add(tb->trace, &ops, tb,
				1u << TRACE_PACKET | 1u << TRACE_GUEST_ERROR | 1u << TRACE_FW);

	return rc ? rc
		  : trace_tail_keep(tb->trace, TB_TAIL_RECORDS,
				    1u << TRACE_PACKET | 1u << TRACE_ETHERNET);
}

static void ignore_direction(struct tb *tb, enum tb_direction direction, bool ignore)
{
	seen_queue_clear(&tb->directions[direction]);
	tb->directions[direction].ignore = ignore;
}

void tb_ignore_packets(struct tb *tb, bool ignore)
{
	ignore_direction(tb, a_to_b, ignore);
	ignore_direction(tb, b_to_a, ignore);
}

void tb_ignore_mads(struct tb *tb, bool ignore)
{
	ignore_direction(tb, mads_a_to_b, ignore);
	ignore_direction(tb, mads_b_to_a, ignore);
}

/* --- optional packets --- */

void tb_allow_pkt(struct tb *tb, const char *here, enum tb_direction direction,
		  enum bth_opcode opcode, const struct tb_pkt *pkt)
{
	struct tb_allowed *allowed;

	if (!tb_go(tb, here))
		return;
	allowed = malloc(sizeof(*allowed));
	if (!allowed) {
		tb_failf(tb, here, "memory for a packet that may come");
		return;
	}
	*allowed = (struct tb_allowed){.next = tb->allowed,
				       .direction = direction,
				       .opcode = (uint8_t)opcode,
				       .pkt = *pkt};
	tb->allowed = allowed;
}

static void take_allowed(struct tb *tb, enum tb_direction direction);

void tb_forbid_pkts(struct tb *tb, const char *here, enum tb_direction direction)
{
	if (!tb_go(tb, here))
		return;
	take_allowed(tb, direction);
	for (struct tb_allowed **p = &tb->allowed; *p;) {
		struct tb_allowed *allowed = *p;

		if (allowed->direction != direction) {
			p = &allowed->next;
			continue;
		}
		*p = allowed->next;
		free(allowed);
	}
}

static bool is_allowed(const struct tb *tb, enum tb_direction direction,
		       const struct seen_pkt *seen)
{
	char diff[GOT_CHARS];

	for (const struct tb_allowed *a = tb->allowed; a; a = a->next)
		if (a->direction == direction &&
		    seen_pkt_matches(seen, a->opcode, &a->pkt, diff, sizeof(diff)))
			return true;
	return false;
}

/* Removes optional packets from the head of the queue. */
static void take_allowed(struct tb *tb, enum tb_direction direction)
{
	struct seen_queue *q = &tb->directions[direction];

	for (const struct seen_pkt *seen; (seen = seen_queue_head(q));) {
		if (!is_allowed(tb, direction, seen) &&
		    tb_merged(tb, q, seen, 0, NULL) != TB_MERGED_EXTRA)
			return;
		seen_queue_take(q);
	}
}

/* --- expected packets --- */

struct awaited {
	enum tb_direction direction;
	uint8_t opcode;
	const struct tb_pkt *want;
	bool merged; /* a later answer stands for it */
	char diff[GOT_CHARS / 2];
};

/* True when the head of the queue is the wanted packet, or one that is not optional. */
static bool packet_has_come(struct tb *tb, void *arg)
{
	struct awaited *w = arg;
	struct seen_queue *q = &tb->directions[w->direction];

	for (const struct seen_pkt *seen; (seen = seen_queue_head(q));) {
		if (seen_pkt_matches(seen, w->opcode, w->want, w->diff, sizeof(w->diff))) {
			w->diff[0] = 0;
			return true;
		}
		switch (tb_merged(tb, q, seen, w->opcode, w->want)) {
		case TB_MERGED_INTO:
			w->merged = true;
			return true;
		case TB_MERGED_NOT:
			if (!is_allowed(tb, w->direction, seen))
				return true;
			break;
		case TB_MERGED_EXTRA:
			break;
		}
		seen_queue_take(q);
	}
	return false;
}

static const char *direction_name(enum tb_direction direction)
{
	static const char *const names[] = {"a_to_b", "b_to_a", "mads_a_to_b", "mads_b_to_a"};

	return names[direction];
}

/* A transport in software has one data VL, and gives to its own port without the device. */
static bool can_be_seen(struct tb *tb, const char *here, enum tb_direction direction,
			const struct tb_pkt *want)
{
	struct tb_end *from = &tb->ends[direction == b_to_a || direction == mads_b_to_a];

	if (!tb_in_software(from))
		return true;
	if (want->dlid != TB_ANY && is_of(tb, from, want->dlid))
		tb_lacks(tb, here, from, "packets on the way to its own port");
	else if (want->vl > 0 && want->vl < VL_MANAGEMENT)
		tb_lacks(tb, here, from, "VL %" PRId64, want->vl);
	return !tb->failed;
}

void tb_expect_pkt(struct tb *tb, const char *here, enum tb_direction direction,
		   struct tb_window window, enum bth_opcode opcode, const struct tb_pkt *want)
{
	struct awaited awaited = {.direction = direction, .opcode = (uint8_t)opcode, .want = want};
	struct seen_queue *q = &tb->directions[direction];
	const struct seen_pkt *seen;
	char expected[GOT_CHARS], got[GOT_CHARS];
	uint64_t since;
	size_t n;

	if (!tb_go(tb, here) || !can_be_seen(tb, here, direction, want))
		return;
	n = (size_t)snprintf(expected, sizeof(expected), "%s ", direction_name(direction));
	pkt_describe(expected + n, sizeof(expected) - n, (uint8_t)opcode, want);
	if (!tb_wait(tb, packet_has_come, &awaited, tb_now(tb) + CFG_S(10))) {
		tb_fail(tb, here, expected,
			q->ignore ? "packets of that direction are ignored"
				  : "no packet in that direction for 10 s");
		return;
	}
	if (awaited.merged)
		return;
	seen = seen_queue_head(q); /* also skips lost packets, which sets last_ps */
	since = seen->time_ps - q->last_ps;
	if (awaited.diff[0]) {
		n = (size_t)snprintf(got, sizeof(got), "%s: ", awaited.diff);
		pkt_describe(got + n, sizeof(got) - n, seen->opcode, &seen->fields);
		tb_fail(tb, here, expected, got);
		return;
	}
	if (since < window.from_ps || since > window.to_ps) {
		n = strlen(expected);
		snprintf(expected + n, sizeof(expected) - n,
			 ", %" PRIu64 " to %" PRIu64 " ns after the one before",
			 window.from_ps / 1000, window.to_ps / 1000);
		snprintf(got, sizeof(got), "it came after %" PRIu64 " ns", since / 1000);
		tb_fail(tb, here, expected, got);
		return;
	}
	seen_queue_take(q);
}

/* --- expected guest errors --- */

/* The first guest error of that host that no verb has taken; NULL: none. */
static const struct guest_error_note *next_note(struct tb *tb, unsigned host)
{
	const struct machine *m = tb->machine;
	unsigned *next = &tb->guest_errors_taken[host];

	while (*next < m->guest_errors_kept && m->guest_error_notes[*next].host != host)
		++*next;
	return *next < m->guest_errors_kept ? &m->guest_error_notes[*next] : NULL;
}

static void describe_note(char *buf, size_t size, const struct guest_error_note *note)
{
	snprintf(buf, size, "%s of hca%u at %" PRIu64 ".%06" PRIu64 " us: %s", note->name,
		 note->host, note->time_ps / 1000000, note->time_ps % 1000000, note->text);
}

static bool guest_error_has_come(struct tb *tb, void *arg)
{
	return next_note(tb, ((struct tb_end *)arg)->host_index) != NULL;
}

/* Takes all further errors of the same rule too, because a device may report it any number of
 * times. */
void tb_expect_guest_error(struct tb *tb, const char *here, struct tb_end *end, const char *rule)
{
	char expected[GOT_CHARS], got[GOT_CHARS];
	const struct guest_error_note *note;

	if (!tb_go(tb, here))
		return;
	snprintf(expected, sizeof(expected), "guest error %s at %s", rule, end->name);
	if (!tb_wait(tb, guest_error_has_come, end, tb_now(tb) + CFG_S(10))) {
		tb_fail(tb, here, expected, "none for 10 s");
		return;
	}
	note = next_note(tb, end->host_index);
	if (strcmp(note->name, rule)) {
		describe_note(got, sizeof(got), note);
		tb_fail(tb, here, expected, got);
		return;
	}
	for (; note && !strcmp(note->name, rule); note = next_note(tb, end->host_index))
		tb->guest_errors_taken[end->host_index]++;
}

static bool catastrophe_has_come(struct tb *tb, void *arg)
{
	const unsigned host = ((struct tb_end *)arg)->host_index;

	return tb->machine->catastrophes_of[host] > tb->catastrophes_taken[host];
}

void tb_expect_catastrophe(struct tb *tb, const char *here, struct tb_end *end)
{
	if (!tb_go(tb, here))
		return;
	if (!tb_wait(tb, catastrophe_has_come, end, tb_now(tb) + CFG_S(10)))
		tb_failf(tb, here, "a catastrophic error of %s", end->name);
	else
		tb->catastrophes_taken[end->host_index]++;
}

/* --- what is left over --- */

static void judge_strange(struct tb *tb, const char *here, const struct tb_strange *strange,
			  const char *expected, const char *are)
{
	char got[GOT_CHARS];

	if (!strange->count)
		return;
	snprintf(got, sizeof(got),
		 "%u of hca%u that %s; the first at %" PRIu64 ".%06" PRIu64 " us, %zu bytes",
		 strange->count, strange->hca, are, strange->time_ps / 1000000,
		 strange->time_ps % 1000000, strange->len);
	tb_fail(tb, here, expected, got);
}

/* `over`: nothing is in flight, so a packet that has not arrived yet will never arrive. */
static void judge_packets(struct tb *tb, const char *here, bool over)
{
	char got[GOT_CHARS];

	for (unsigned i = 0; i < TB_DIRECTIONS; i++) {
		struct seen_queue *q = &tb->directions[i];
		const struct seen_pkt *seen;
		size_t n = (size_t)snprintf(got, sizeof(got), "%s ",
					    direction_name((enum tb_direction)i));

		take_allowed(tb, (enum tb_direction)i);
		seen = over ? seen_queue_first(q) : seen_queue_head(q);
		if (!seen)
			continue;
		pkt_describe(got + n, sizeof(got) - n, seen->opcode, &seen->fields);
		n = strlen(got);
		if (!seen->arrived)
			snprintf(got + n, sizeof(got) - n, ", which never arrives");
		tb_fail(tb, here, "no further packet", got);
	}
	if (!tb->setup.any_packets)
		judge_strange(tb, here, &tb->strange, "packets that are whole", "are none");
	judge_strange(tb, here, &tb->dirty, "packets whose pad and reserved bits are 0",
		      "have others");
}

static void judge_events(struct tb *tb, const char *here)
{
	char got[GOT_CHARS];

	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct tb_events *ev = &tb->events[i];

		if (!ev->count)
			continue;
		snprintf(got, sizeof(got), "event %d (%s) at host %u", ev->ring[ev->first].type,
			 ibv_event_type_str(ev->ring[ev->first].type), i);
		tb_fail(tb, here, "no further event", got);
	}
}

static void judge_discards(struct tb *tb)
{
	char got[GOT_CHARS];

	for (unsigned i = 0; i < TB_ENDS; i++) {
		const struct tb_discards *d = &tb->discards[i];

		if (!d->count)
			continue;
		snprintf(got, sizeof(got),
			 "%u at host %u; the first: wr_id %" PRIu64 ", status %d (%s), qpn 0x%x",
			 d->count, i, d->wc.wr_id, d->wc.status, ibv_wc_status_str(d->wc.status),
			 d->wc.qp_num);
		tb_fail(tb, d->here,
			"no completion thrown away unseen (expect_discarded() takes them)", got);
	}
}

static void judge_completions(struct tb *tb, const char *here)
{
	char got[GOT_CHARS];

	judge_discards(tb);
	for (unsigned i = 0; i < TB_ENDS && !tb->failed; i++) {
		struct tb_end *end = &tb->ends[i];
		struct drv_wc wc;
		int n = end->cq ? drv_cq_poll(end->cq, 1, &wc) : 0;

		if (!n)
			continue;
		if (n < 0)
			snprintf(got, sizeof(got),
				 "one of no queue pair at %s (drv_cq_poll gives %d)", end->name, n);
		else
			snprintf(got, sizeof(got),
				 "wr_id %" PRIu64 " status %d (%s), qpn 0x%x at %s", wc.wr_id,
				 wc.status, ibv_wc_status_str(wc.status), wc.qp_num, end->name);
		tb_fail(tb, here, "no further completion", got);
	}
}

void tb_expect_discarded(struct tb *tb, const char *here, struct tb_end *end, unsigned n)
{
	struct tb_discards *d = &tb->discards[end->host_index];
	char expected[GOT_CHARS], got[GOT_CHARS];

	if (!tb_go(tb, here))
		return;
	if (d->count != n) {
		snprintf(expected, sizeof(expected), "%u completions thrown away unseen at %s", n,
			 end->name);
		snprintf(got, sizeof(got), "%u", d->count);
		tb_fail(tb, here, expected, got);
	}
	d->count = 0;
}

void tb_ignore_discarded(struct tb *tb, struct tb_end *end)
{
	struct tb_discards *d = &tb->discards[end->host_index];

	d->ignore = true;
	d->count = 0;
}

static void judge_guest_errors(struct tb *tb, const char *here)
{
	struct machine *m = tb->machine;
	char got[GOT_CHARS];

	for (unsigned host = 0; host < MACHINE_HOSTS; host++) {
		const struct guest_error_note *note = next_note(tb, host);

		if (note) {
			describe_note(got, sizeof(got), note);
			tb_fail(tb, here, "no further guest error", got);
		}
		if (m->catastrophes_of[host] > tb->catastrophes_taken[host]) {
			snprintf(got, sizeof(got), "one of hca%u", host);
			tb_fail(tb, here, "no catastrophic error", got);
		}
	}
	if (m->guest_errors > m->guest_errors_kept) {
		snprintf(got, sizeof(got), "%u more, which are not kept",
			 m->guest_errors - m->guest_errors_kept);
		tb_failf(tb, here, "at most %u guest errors, got %s", m->guest_errors_kept, got);
	}
}

/* Checks that each fault has happened as often as requested. */
static void judge_faults(struct tb *tb)
{
	const struct fault_plan *plan = &tb->machine->plan;
	char got[GOT_CHARS];

	for (unsigned i = 0; i < MACHINE_HOSTS; i++) {
		const struct hca *hca = host_hca(tb->machine->hosts[i]);

		if (hca_dma_late_left(hca) || hca_command_fail_left(hca))
			tb_failf(tb, tb->here, "every late DMA and failing command of host %u", i);
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct fault_entry *e = &plan->entries[i];
		const uint32_t wanted = e->rule.limit ? e->rule.limit : 1;

		if (e->fired >= wanted)
			continue;
		snprintf(got, sizeof(got),
			 "%s (%s) fired %" PRIu64 " of %u times: %" PRIu64
			 " packets had its fields, %" PRIu64 " were of its transmission",
			 fault_action_name(e->rule.action), e->rule.name ? e->rule.name : "no name",
			 e->fired, wanted, e->seen, e->nth);
		tb_fail(tb, tb->here, "every fault to happen", got);
	}
}

void tb_judge_leftovers(struct tb *tb)
{
	judge_guest_errors(tb, tb->here);
	judge_packets(tb, tb->here, true);
	judge_events(tb, tb->here);
	judge_completions(tb, tb->here);
	tb_iwarp_judge(tb, tb->here);
	if (tb->failed || tb->faults_done)
		return;
	tb->faults_done = true;
	judge_faults(tb);
}

void tb_expect_no_more(struct tb *tb, const char *here, uint64_t ps)
{
	tb_pass_time(tb, here, ps);
	if (!tb_go(tb, here))
		return;
	judge_guest_errors(tb, here);
	judge_packets(tb, here, false);
	judge_events(tb, here);
	judge_completions(tb, here);
}
