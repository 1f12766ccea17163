/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet frames in words: TCP, and what iWARP puts into it. See decode.h. */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/mpa.h"
#include "host_driver/iwarp/rdmap.h"
#include "host_driver/iwarp/tcp_frame.h"
#include "traces/decode.h"

#include <ctype.h>

/* A segment taken apart as far as its bytes say. */
struct frame_view {
	struct tcp_segment tcp;
	enum mpa_key key; /* MPA_KEY_COUNT: none */
	struct mpa_start start;
	struct mpa_start_rx rx;
	bool is_message;
	struct rdmap_message message;
};

/* A segment that begins with an FPDU begins with its length, or with a marker of 0 in front. */
static bool message_view(struct frame_view *v)
{
	const uint8_t *p = v->tcp.payload;
	size_t n = v->tcp.len, len;

	if (n >= MPA_MARKER_BYTES && !get_be32(p)) {
		p += MPA_MARKER_BYTES;
		n -= MPA_MARKER_BYTES;
	}
	if (n < MPA_LENGTH_BYTES)
		return false;
	len = get_be16(p);
	if (len > n - MPA_LENGTH_BYTES)
		return false;
	return rdmap_get(p + MPA_LENGTH_BYTES, len, &v->message) == IW_TERM_NONE;
}

static bool frame_view_make(struct frame_view *v, const uint8_t *bytes, uint32_t len)
{
	size_t taken;

	*v = (struct frame_view){.key = MPA_KEY_COUNT};
	if (!bytes || tcp_frame_get(bytes, len, &v->tcp))
		return false;
	if (mpa_start_get(&v->rx, v->tcp.payload, v->tcp.len, &taken, &v->start) > 0)
		v->key = v->start.key;
	else
		v->is_message = v->tcp.len && message_view(v);
	return true;
}

static void add_lower(struct trace_text *t, const char *name)
{
	for (; *name; name++)
		trace_text_add(t, "%c", tolower((unsigned char)*name));
}

static void add_flags(struct trace_text *t, uint8_t flags)
{
	static const struct {
		uint8_t flag;
		const char *name;
	} rows[] = {{TCP_SYN, "_syn"}, {TCP_FIN, "_fin"}, {TCP_RST, "_rst"}};
	bool any = false;

	trace_text_add(t, "tcp");
	for (unsigned i = 0; i < 3; i++)
		if (flags & rows[i].flag) {
			trace_text_add(t, "%s", rows[i].name);
			any = true;
		}
	if (flags & TCP_ACK && (!any || flags & TCP_SYN))
		trace_text_add(t, "_ack");
}

void decode_ethernet_plain(struct trace_text *t, const uint8_t *bytes, uint32_t len)
{
	static const char *const keys[] = {"mpa_request", "mpa_reply", "mpa_rtr", "mpa_rtr"};
	struct frame_view v;

	if (!frame_view_make(&v, bytes, len)) {
		trace_text_add(t, "frame");
	} else if (v.key < MPA_KEY_COUNT) {
		trace_text_add(t, "%s", keys[v.key]);
	} else if (v.is_message) {
		trace_text_add(t, "rdmap_");
		add_lower(t, rdmap_opcode_name(v.message.opcode));
	} else if (v.tcp.len) {
		trace_text_add(t, "tcp_data");
	} else {
		add_flags(t, v.tcp.flags);
	}
}

static void add_start(struct trace_text *t, const struct mpa_start *s)
{
	const struct mpa_enhanced *e = &s->enhanced;

	trace_text_add(t, ", rev %u%s%s%s%s", s->rev, s->bits & MPA_M ? " markers" : "",
		       s->bits & MPA_C ? " crc" : "", s->bits & MPA_R ? " rejected" : "",
		       s->bits & MPA_S ? " s" : "");
	if (s->has_enhanced)
		trace_text_add(t, ", ird %u ord %u%s%s%s%s", e->ird, e->ord,
			       e->peer_to_peer ? " peer-to-peer" : "",
			       e->kinds & MPA_RTR_SEND ? " send" : "",
			       e->kinds & MPA_RTR_WRITE ? " write" : "",
			       e->kinds & MPA_RTR_READ ? " read" : "");
	if (s->pdata_len)
		trace_text_add(t, ", private data %u", s->pdata_len);
}

static void add_message(struct trace_text *t, const struct rdmap_message *m)
{
	trace_text_add(t, ", payload %zu", m->len);
	if (!rdmap_tagged(m->opcode))
		trace_text_add(t, " msn %u", m->msn);
	if (m->opcode == RDMAP_TERMINATE)
		trace_text_add(t, ", %u/%u/%u", m->term.layer, m->term.type, m->term.code);
}

void decode_ethernet_more(struct trace_text *t, const uint8_t *bytes, uint32_t len)
{
	struct frame_view v;

	if (!frame_view_make(&v, bytes, len)) {
		trace_text_add(t, "%u bytes", len);
		return;
	}
	trace_text_add(t, "ports %u to %u seq 0x%x", v.tcp.from_port, v.tcp.to_port, v.tcp.seq);
	if (v.tcp.flags & TCP_ACK)
		trace_text_add(t, " ack 0x%x", v.tcp.ack);
	trace_text_add(t, " length %zu", v.tcp.len);
	if (v.tcp.flags & TCP_FIN && v.tcp.len)
		trace_text_add(t, " fin");
	if (v.key < MPA_KEY_COUNT)
		add_start(t, &v.start);
	else if (v.is_message)
		add_message(t, &v.message);
}
