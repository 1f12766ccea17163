/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of the messages of iWARP. Each message that a connection says it has sent is made here once more, from what it says and from the
 * RFCs, and compared with the bytes that have left. A rule that is broken on purpose must be broken there, and no other.
 */
#include "testbench/language/iwarp_wire.h"

#include <stdio.h>

enum {
	START = 20, /* key, bits, revision, length */
	START_MAX = START + 4,
	KEY = 16,
	BITS = 16,
	REVISION = 17,
	LENGTH = 18,
	FIRST = 20, /* A, B and IRD */
	SECOND = 22,
	HALF = 10,
	EVERY = 512,
	CUT = 5, /* bytes of a ULPDU that is too short */
	TAGGED = 14,
	UNTAGGED = 18,
	READ = 28,
	TERMINATE = 4,
	HEAD_MAX = UNTAGGED + READ,
	QN = 6,
	MSN = 10,
};

/* Source: RFC 5040 figure 4. */
static const struct opcode {
	const char *name;
	uint8_t number;
	int qn; /* -1: tagged */
} opcodes[] = {
	{"WRITE", 0, -1},
	{"READ_REQUEST", 1, 1},
	{"READ_RESPONSE", 2, -1},
	{"SEND", 3, 0},
	{"SEND_INVALIDATE", 4, 0},
	{"SEND_SOLICITED", 5, 0},
	{"SEND_SOLICITED_INVALIDATE", 6, 0},
	{"TERMINATE", 7, 2},
};

/* Layer, type and code. Source: the registries of RFC 6580. */
static const uint16_t terms[IW_TERM_COUNT] = {
	[IW_TERM_LOCAL] = 0x0000,
	[IW_TERM_REMOTE_STAG] = 0x0100,
	[IW_TERM_REMOTE_BOUNDS] = 0x0101,
	[IW_TERM_REMOTE_ACCESS] = 0x0102,
	[IW_TERM_REMOTE_STREAM] = 0x0103,
	[IW_TERM_REMOTE_WRAP] = 0x0104,
	[IW_TERM_REMOTE_INVALIDATE] = 0x0109,
	[IW_TERM_RDMAP_VERSION] = 0x0205,
	[IW_TERM_RDMAP_OPCODE] = 0x0206,
	[IW_TERM_RDMAP_STREAM] = 0x0207,
	[IW_TERM_RDMAP_GLOBAL] = 0x0208,
	[IW_TERM_RDMAP_OTHER] = 0x02ff,
	[IW_TERM_TAGGED_STAG] = 0x1100,
	[IW_TERM_TAGGED_BOUNDS] = 0x1101,
	[IW_TERM_TAGGED_STREAM] = 0x1102,
	[IW_TERM_TAGGED_WRAP] = 0x1103,
	[IW_TERM_TAGGED_VERSION] = 0x1104,
	[IW_TERM_UNTAGGED_QN] = 0x1201,
	[IW_TERM_UNTAGGED_NO_BUFFER] = 0x1202,
	[IW_TERM_UNTAGGED_MSN] = 0x1203,
	[IW_TERM_UNTAGGED_MO] = 0x1204,
	[IW_TERM_UNTAGGED_LONG] = 0x1205,
	[IW_TERM_UNTAGGED_VERSION] = 0x1206,
	[IW_TERM_MPA_LOST] = 0x2001,
	[IW_TERM_MPA_CRC] = 0x2002,
	[IW_TERM_MPA_MARKER] = 0x2003,
	[IW_TERM_MPA_START] = 0x2004,
	[IW_TERM_MPA_LOCAL] = 0x2005,
	[IW_TERM_MPA_IRD] = 0x2006,
	[IW_TERM_MPA_RTR] = 0x2007,
};

bool iwarp_term_is(enum iw_term term, uint16_t bits)
{
	if (term < IW_TERM_COUNT)
		return terms[term] == bits;
	for (unsigned t = IW_TERM_NONE + 1; t < IW_TERM_COUNT; t++)
		if (terms[t] == bits)
			return false;
	return true;
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

static bool breaks(const struct iwarp_said *said, enum iw_break which)
{
	return said->breaks >> which & 1;
}

/* --- Requests, Replies and Rtr frames --- */

/* The word is next: it is passed. */
static bool word(const char **text, const char *w)
{
	const size_t n = strlen(w);

	if (strncmp(*text, w, n) || ((*text)[n] != ' ' && (*text)[n] != ','))
		return false;
	*text += n;
	return true;
}

static unsigned number(const char **text, const char *w)
{
	unsigned v = 0;
	int n = 0;

	if (!strncmp(*text, w, strlen(w)) && sscanf(*text + strlen(w), "%u%n", &v, &n) == 1)
		*text += strlen(w) + (size_t)n;
	return v;
}

/* What says its frame: the bytes before the private data, whose number is returned. */
static unsigned start_make(const char *text, uint8_t frame[START_MAX])
{
	unsigned pdata, first = 0, second = 0;
	bool enhanced;

	memset(frame, 0, START_MAX);
	memcpy(frame, text, KEY);
	text += KEY;
	frame[REVISION] = (uint8_t)number(&text, " rev ");
	frame[BITS] |= word(&text, " markers") ? 0x80 : 0;
	frame[BITS] |= word(&text, " crc") ? 0x40 : 0;
	frame[BITS] |= word(&text, " rejected") ? 0x20 : 0;
	frame[BITS] |= word(&text, " s") ? 0x10 : 0;
	enhanced = !strncmp(text, " ird", 4);
	first |= number(&text, " ird ");
	second |= number(&text, " ord ");
	first |= word(&text, " peer-to-peer") ? 0x8000 : 0;
	first |= word(&text, " send") ? 0x4000 : 0;
	second |= word(&text, " write") ? 0x8000 : 0;
	second |= word(&text, " read") ? 0x4000 : 0;
	pdata = number(&text, ", private data ");
	put16(frame + LENGTH, pdata + (enhanced ? 4 : 0));
	put16(frame + FIRST, first);
	put16(frame + SECOND, second);
	return pdata;
}

/* The rules that are broken in a Request or Reply of n bytes; returns its length then. */
static size_t start_break(const struct iwarp_way *way, const struct iwarp_said *said,
			  uint8_t *frame, size_t n)
{
	const bool enhanced = frame[BITS] & 0x10 && frame[REVISION] == 2;
	const bool reply = !way->initiator;

	if (breaks(said, IW_BREAK_key_bit))
		frame[3] ^= 1;
	if (breaks(said, IW_BREAK_wrong_key))
		memcpy(frame, reply ? "MPA ID Req Frame" : "MPA ID Rep Frame", KEY);
	if (breaks(said, IW_BREAK_rtr_key))
		memcpy(frame, "MPA ID Rtr Frame", KEY);
	if (breaks(said, IW_BREAK_rev_0))
		frame[REVISION] = 0;
	if (breaks(said, IW_BREAK_rev_3))
		frame[REVISION] = 3;
	if (breaks(said, IW_BREAK_pd_513))
		put16(frame + LENGTH, 513);
	if (enhanced && breaks(said, IW_BREAK_short_enhanced)) {
		put16(frame + LENGTH, 3);
		n = START + 3;
	}
	if (enhanced && reply && breaks(said, IW_BREAK_reply_without_a))
		frame[FIRST] &= 0x7f;
	if (enhanced && reply && breaks(said, IW_BREAK_reply_no_kind)) {
		frame[FIRST] &= 0xbf;
		frame[SECOND] &= 0x3f;
	}
	if (enhanced && reply && breaks(said, IW_BREAK_reply_write_too))
		frame[SECOND] |= 0x80;
	if (enhanced && reply && breaks(said, IW_BREAK_reply_ord))
		put16(frame + SECOND, (frame[SECOND] & 0xc0U) << 8 | 255);
	if (enhanced && reply && breaks(said, IW_BREAK_reply_without_s)) {
		frame[BITS] &= 0xef;
		frame[REVISION] = 1;
		put16(frame + LENGTH, 0);
		n = START;
	}
	n += breaks(said, IW_BREAK_byte_behind);
	return breaks(said, IW_BREAK_half_start) ? HALF : n;
}

/* Whether a Reply fits its Request: CRCs if either end wants them, no higher revision, S as there. Source: RFC 5044 section 7.1.1. */
static bool reply_fits(const struct iwarp_way *back, const uint8_t *reply)
{
	const unsigned bits = reply[BITS], asked = back->start_bits;

	return reply[REVISION] == back->start_rev &&
	       (bits & 0x20 ||
		((bits & 0x40) >= (asked & 0x40) && (bits & 0x10) <= (asked & 0x10)));
}

static size_t start_judge(struct iwarp_way *way, struct iwarp_way *back,
			  const struct iwarp_said *said, const char **wrong)
{
	const uint8_t *got = way->bytes + way->judged;
	uint8_t frame[START_MAX];
	unsigned pdata = start_make(said->text, frame);
	size_t n = START + (frame[BITS] & 0x10 && frame[REVISION] == 2 ? 4 : 0), compared = n;

	n += pdata;
	if (!way->started) {
		way->start_bits = frame[BITS];
		way->start_rev = frame[REVISION];
		if (!way->initiator && back && !said->breaks && !reply_fits(back, frame))
			*wrong = "a Reply that fits the Request";
		n = start_break(way, said, frame, n);
	}
	if (way->n - way->judged < n)
		return 0;
	way->started = true;
	way->fpdus = way->judged + (uint32_t)n;
	if (memcmp(got, frame, compared < n ? compared : n))
		*wrong = "the bytes of RFC 5044 and RFC 6581";
	return n;
}

/* --- FPDUs --- */

struct fpdu {
	uint8_t body[2 + 0xffff + 3]; /* length, ULPDU, padding */
	size_t n, want;
	bool crc_right, markers_right, marked; /* marked: one in front */
};

/* RFC 5044 section 4.4, bit by bit. */
static uint32_t crc_of(const uint8_t *bytes, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static bool crc_is(const uint8_t *p, uint32_t crc)
{
	return p[0] == (crc & 0xff) && p[1] == (crc >> 8 & 0xff) && p[2] == (crc >> 16 & 0xff) &&
	       p[3] == crc >> 24;
}

/* The FPDU that is next; returns the bytes that it has in the stream, 0: it is not there whole. */
static size_t fpdu_read(const struct iwarp_way *way, bool markers, bool crc, struct fpdu *f)
{
	const uint8_t *from = way->bytes + way->judged;
	const size_t there = way->n - way->judged, at = way->judged - way->fpdus;
	size_t begin = 0, i = 0;

	f->n = f->want = 0;
	f->markers_right = true;
	f->marked = markers && at % EVERY == 0;
	for (; i + 4 <= there; i += 4) {
		if (markers && (at + i) % EVERY == 0) {
			f->markers_right &=
				!be16(from + i) && be16(from + i + 2) == (f->n ? i - begin : 0);
			continue;
		}
		if (!f->n) {
			begin = i;
			f->want = (2 + be16(from + i) + 3) & ~(size_t)3;
		} else if (f->n == f->want) {
			f->crc_right = crc_is(from + i, crc ? crc_of(from, i) : 0);
			return i + 4;
		}
		memcpy(f->body + f->n, from + i, 4);
		f->n += 4;
	}
	return 0;
}

static const struct opcode *opcode_of(const char *text)
{
	const size_t n = strcspn(text, ",");

	for (unsigned i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
		if (strlen(opcodes[i].name) == n && !strncmp(text, opcodes[i].name, n))
			return &opcodes[i];
	return NULL;
}

/* The headers of the message, as they should be; returns their length. */
static size_t headers_make(struct iwarp_way *way, struct iwarp_way *back,
			   const struct iwarp_said *said, const struct opcode *op, uint8_t *head)
{
	const bool first = !way->sent;

	memset(head, 0, HEAD_MAX);
	head[0] = (uint8_t)(op->qn < 0 ? 0xc0 : 0x40);
	head[0] |= first && breaks(said, IW_BREAK_ddp_version) ? 3 : 1;
	head[1] = (uint8_t)(first && breaks(said, IW_BREAK_rdmap_version) ? 0xc0 : 0x40);
	head[1] |= first && breaks(said, IW_BREAK_bad_opcode) ? 0xf : op->number;
	if (op->qn < 0) {
		put32(head + 2, said->stag);
		if (!strcmp(op->name, "READ_RESPONSE") && back && back->n_reads) {
			memcpy(head + 2, back->reads[0], sizeof(back->reads[0]));
			memmove(back->reads, back->reads + 1,
				--back->n_reads * sizeof(back->reads[0]));
		}
		return TAGGED;
	}
	put32(head + QN, (uint32_t)op->qn);
	put32(head + MSN, way->msn[op->qn]++);
	if (!way->untagged && breaks(said, IW_BREAK_bad_qn))
		put32(head + QN, 3);
	if (!way->untagged && breaks(said, IW_BREAK_bad_msn))
		put32(head + MSN, 9);
	way->untagged++;
	if (!strcmp(op->name, "READ_REQUEST")) {
		put32(head + UNTAGGED, said->stag);
		put32(head + UNTAGGED + 12, breaks(said, IW_BREAK_rtr_data) ? 4 : 0);
		put32(head + UNTAGGED + 16, said->stag);
		return UNTAGGED + READ;
	}
	return strcmp(op->name, "TERMINATE") ? UNTAGGED : UNTAGGED + TERMINATE;
}

static const char *message_wrong(struct iwarp_way *way, struct iwarp_way *back,
				 const struct iwarp_said *said, const struct fpdu *f, bool crc)
{
	const struct opcode *op = opcode_of(said->text);
	const uint8_t *ulpdu = f->body + 2;
	const size_t len = be16(f->body);
	const bool first = !way->sent;
	const bool bad_marker = first && f->marked && breaks(said, IW_BREAK_bad_marker);
	const bool bad_crc = (first && breaks(said, IW_BREAK_bad_crc)) || (bad_marker && crc);
	uint8_t head[HEAD_MAX];
	unsigned payload = 0;
	size_t n;

	if (!op || sscanf(said->text + strlen(op->name), ", %u bytes", &payload) != 1)
		return "a message that there is";
	if (!strstr(said->text, ", no crc") != crc)
		return "CRCs as both ends have agreed";
	n = headers_make(way, back, said, op, head);
	way->sent++;
	if (op->qn == 2) /* judged by the event */
		memcpy(head + UNTAGGED, ulpdu + UNTAGGED, 2);
	if (f->markers_right == bad_marker)
		return bad_marker ? "a wrong marker" : "right markers";
	if (f->crc_right == bad_crc)
		return bad_crc ? "a wrong CRC" : "a right CRC";
	if (first && breaks(said, IW_BREAK_bad_length))
		return len == CUT && !memcmp(ulpdu, head, CUT) ? NULL : "a ULPDU of 5 bytes";
	if (len != n + payload)
		return "the length of its ULPDU";
	return memcmp(ulpdu, head, n) ? "the headers of RFC 5040 and RFC 5041" : NULL;
}

/* What the other end has to know of a message that is right or was sent by hand. */
static void message_note(struct iwarp_way *way, const struct fpdu *f)
{
	const uint8_t *ulpdu = f->body + 2;
	const size_t len = be16(f->body);
	const uint8_t opcode = ulpdu[1] & 0xf;

	if (len == UNTAGGED + READ && opcode == 1 && way->n_reads < IWARP_READS)
		memcpy(way->reads[way->n_reads++], ulpdu + UNTAGGED, sizeof(way->reads[0]));
	if (len >= UNTAGGED + TERMINATE && opcode == 7) {
		way->terminated = true;
		way->term = be16(ulpdu + UNTAGGED);
	}
}

static size_t fpdu_judge(struct iwarp_way *way, struct iwarp_way *back,
			 const struct iwarp_said *said, const char **wrong)
{
	static struct fpdu f;
	const bool markers = back && back->start_bits & 0x80;
	const bool crc = (way->start_bits | (back ? back->start_bits : 0)) & 0x40;
	const size_t n = fpdu_read(way, markers, crc, &f);

	if (!n)
		return 0;
	if (said->text[0])
		*wrong = message_wrong(way, back, said, &f, crc);
	else if (!f.markers_right || !f.crc_right || be16(f.body) != said->len ||
		 memcmp(f.body + 2, said->ulpdu, said->len))
		*wrong = "its bytes";
	for (size_t i = 2 + be16(f.body); i < f.n; i++)
		if (f.body[i])
			*wrong = "padding of zeros";
	message_note(way, &f);
	return n;
}

size_t iwarp_message_judge(struct iwarp_way *way, struct iwarp_way *back,
			   const struct iwarp_said *said, const char **wrong)
{
	return strncmp(said->text, "MPA ID", strlen("MPA ID"))
		       ? fpdu_judge(way, back, said, wrong)
		       : start_judge(way, back, said, wrong);
}
