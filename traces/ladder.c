/* SPDX-License-Identifier: Apache-2.0 */
/* Packets between two HCAs as a ladder, with time going down. A packet has a line for the time it
 * leaves. It has one for its arrival only when the port discards it. */
// clang-format off
/*
 *      12.345678  hca0 -----> hca1  rc_send_only qpn 0x41 psn 0x5 payload 64
 *      12.400000  hca0 ---X   hca1  rc_send_only qpn 0x41 psn 0x6 payload 64, fault drop
 *      13.000000  hca0 <----- hca1  rc_acknowledge qpn 0x40 psn 0x5, ack credits 31 msn 1
 */
// clang-format on
#include <inttypes.h>
#include <string.h>

#include "traces/decode.h"

static void ladder_label(struct trace_text *t, const struct trace_record *r)
{
	const struct packet_bytes p = packet_bytes_of(r);
	struct packet_view v;
	const struct aeth *aeth;

	if (r->point == TP_ETH_OUT) {
		decode_ethernet_plain(t, r->bytes, r->len);
		trace_text_add(t, " ");
		decode_ethernet_more(t, r->bytes, r->len);
		return;
	}
	if (!packet_view_make(&v, &p)) {
		trace_text_add(t, "not a transport packet");
		return;
	}
	decode_code(t, v.op->name, "opcode ", bth_get_opcode(v.bth));
	trace_text_add(t, " qpn 0x%x psn 0x%x", bth_get_dqpn(v.bth), bth_get_psn(v.bth));
	if (v.payload > 0)
		trace_text_add(t, " payload %d", v.payload);
	aeth = packet_view_ext(&v, r->len, BTH_EXT_AETH);
	if (aeth) {
		trace_text_add(t, ", ");
		decode_aeth(t, aeth);
	}
	if (r->args[3] > 1)
		trace_text_add(t, ", try %" PRIu64, r->args[3]);
}

struct ladder {
	uint64_t from_ps;
	FILE *out;
};

static void ladder_line(void *arg, const struct trace_record *r)
{
	const struct ladder *ladder = arg;
	FILE *out = ladder->out;
	const bool lost = packet_fault_is(r, FAULT_DROP);
	const char *arrow = r->hca ? (lost ? "  X---" : "<-----") : (lost ? "---X  " : "----->");
	const char *out_of = r->point == TP_PKT_OUT ? "hca" : r->point == TP_ETH_OUT ? "eth" : NULL;
	struct trace_text label = {0};

	if (r->time_ps < ladder->from_ps ||
	    (!out_of && r->point != TP_PKT_DISCARD && r->point != TP_FAULT))
		return;
	fprintf(out, "  %7" PRIu64 ".%06" PRIu64 "  ", r->time_ps / 1000000, r->time_ps % 1000000);
	if (r->point == TP_FAULT) {
		fprintf(out, "fault: %s\n", r->text ? r->text : "");
		return;
	}
	ladder_label(&label, r);
	if (out_of)
		fprintf(out, "%s0 %s %s1  %s", out_of, arrow, out_of, label.s ? label.s : "");
	else
		fprintf(out, "hca%u discards    %s", r->hca, label.s ? label.s : "");
	if (r->text)
		fprintf(out, out_of ? ", fault %s" : ": %s", r->text);
	fprintf(out, "\n");
	trace_text_free(&label);
}

void trace_ladder_print(struct trace *tr, uint64_t from_ps, FILE *out)
{
	struct ladder ladder = {from_ps, out};

	trace_recent_each(tr, ladder_line, &ladder);
}
