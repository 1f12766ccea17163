/* SPDX-License-Identifier: Apache-2.0 */
#include "host_driver/iwarp/rdmap.h"
#include "host_driver/iwarp/bytes.h"

/* Places in a DDP segment (RFC 5041 section 4), and of what RDMAP puts behind it (RFC 5040 section
 * 4). */
enum {
	DDP_CONTROL = 0,
	DDP_TAGGED = 0x80,
	DDP_LAST = 0x40,
	DDP_VERSION_MASK = 3,
	DDP_RDMAP = 1, /* the byte that RDMAP has */
	RDMAP_VERSION_SHIFT = 6,
	RDMAP_OPCODE_MASK = 0xf,
	DDP_STAG = 2, /* tagged */
	DDP_TO = 6,
	DDP_INVALIDATE = 2, /* untagged */
	DDP_QN = 6,
	DDP_MSN = 10,
	DDP_MO = 14,
	READ_SINK_STAG = 0, /* READ request, behind the untagged header */
	READ_SINK_TO = 4,
	READ_LEN = 12,
	READ_SOURCE_STAG = 16,
	READ_SOURCE_TO = 20,
};

static const struct opcode_row {
	const char *name;
	bool tagged;
	uint8_t qn;
} opcode_rows[RDMAP_OPCODE_COUNT] = {
#define O(name, number, tagged, queue) [number] = {#name, tagged, queue},
	RDMAP_OPCODES(O)
#undef O
};

const struct iw_term_row iw_term_rows[IW_TERM_COUNT] = {[IW_TERM_NONE] = {.meaning = "none"},
#define T(name, layer, type, code, meaning) [IW_TERM_##name] = {layer, type, code, meaning},
							IW_TERMS(T)
#undef T
};

enum iw_term iw_term_find(uint8_t layer, uint8_t type, uint8_t code)
{
	enum iw_term t = IW_TERM_NONE + 1;

	for (; t < IW_TERM_COUNT; t++) {
		const struct iw_term_row *row = &iw_term_rows[t];

		if (row->layer == layer && row->type == type && row->code == code)
			break;
	}
	return t;
}

const char *rdmap_opcode_name(enum rdmap_opcode opcode)
{
	return opcode < RDMAP_OPCODE_COUNT ? opcode_rows[opcode].name : "unknown";
}

bool rdmap_tagged(enum rdmap_opcode opcode)
{
	return opcode_rows[opcode].tagged;
}

static uint8_t *put_read(uint8_t *p, const struct rdmap_read *read)
{
	put_be32(p + READ_SINK_STAG, read->sink_stag);
	put_be64(p + READ_SINK_TO, read->sink_to);
	put_be32(p + READ_LEN, read->len);
	put_be32(p + READ_SOURCE_STAG, read->source_stag);
	put_be64(p + READ_SOURCE_TO, read->source_to);
	return p + RDMAP_READ_BYTES;
}

size_t rdmap_put(uint8_t *ulpdu, const struct rdmap_message *m)
{
	const struct opcode_row *row = &opcode_rows[m->opcode];
	uint8_t *p = ulpdu;

	p[DDP_CONTROL] =
		(uint8_t)((row->tagged ? DDP_TAGGED : 0) | (m->last ? DDP_LAST : 0) | DDP_VERSION);
	p[DDP_RDMAP] = (uint8_t)(RDMAP_VERSION << RDMAP_VERSION_SHIFT | m->opcode);
	if (row->tagged) {
		put_be32(p + DDP_STAG, m->stag);
		put_be64(p + DDP_TO, m->to);
		p += DDP_TAGGED_BYTES;
	} else {
		put_be32(p + DDP_INVALIDATE, m->invalidate);
		put_be32(p + DDP_QN, row->qn);
		put_be32(p + DDP_MSN, m->msn);
		put_be32(p + DDP_MO, m->mo);
		p += DDP_UNTAGGED_BYTES;
	}
	if (m->opcode == RDMAP_READ_REQUEST)
		p = put_read(p, &m->read);
	if (m->opcode == RDMAP_TERMINATE) {
		put_be32(p, (uint32_t)m->term.layer << 28 | (uint32_t)m->term.type << 24 |
				    (uint32_t)m->term.code << 16);
		p += RDMAP_TERM_BYTES;
	}
	if (m->len)
		memcpy(p, m->payload, m->len);
	return (size_t)(p - ulpdu) + m->len;
}

static enum iw_term get_read(struct rdmap_message *m)
{
	const uint8_t *p = m->payload;

	if (m->len != RDMAP_READ_BYTES || !m->last)
		return IW_TERM_UNTAGGED_LONG;
	m->read = (struct rdmap_read){
		.sink_stag = get_be32(p + READ_SINK_STAG),
		.sink_to = get_be64(p + READ_SINK_TO),
		.len = get_be32(p + READ_LEN),
		.source_stag = get_be32(p + READ_SOURCE_STAG),
		.source_to = get_be64(p + READ_SOURCE_TO),
	};
	m->payload += RDMAP_READ_BYTES;
	m->len = 0;
	return IW_TERM_NONE;
}

static enum iw_term get_term(struct rdmap_message *m)
{
	if (m->len < RDMAP_TERM_BYTES)
		return IW_TERM_RDMAP_OTHER;
	m->term.layer = m->payload[0] >> 4;
	m->term.type = m->payload[0] & 0xf;
	m->term.code = m->payload[1];
	m->payload += RDMAP_TERM_BYTES;
	m->len -= RDMAP_TERM_BYTES;
	return IW_TERM_NONE;
}

static enum iw_term get_untagged(const uint8_t *ulpdu, struct rdmap_message *m)
{
	m->invalidate = get_be32(ulpdu + DDP_INVALIDATE);
	m->qn = get_be32(ulpdu + DDP_QN);
	m->msn = get_be32(ulpdu + DDP_MSN);
	m->mo = get_be32(ulpdu + DDP_MO);
	if (m->qn >= RDMAP_QUEUES || m->qn != opcode_rows[m->opcode].qn)
		return IW_TERM_UNTAGGED_QN;
	if (m->qn != RDMAP_QN_SEND && m->mo)
		return IW_TERM_UNTAGGED_MO;
	if (m->opcode == RDMAP_READ_REQUEST)
		return get_read(m);
	return m->opcode == RDMAP_TERMINATE ? get_term(m) : IW_TERM_NONE;
}

enum iw_term rdmap_get(const uint8_t *ulpdu, size_t n, struct rdmap_message *m)
{
	const bool tagged = n && ulpdu[DDP_CONTROL] & DDP_TAGGED;
	const size_t head = tagged ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES;

	*m = (struct rdmap_message){.opcode = RDMAP_OPCODE_COUNT};
	if (n < head)
		return IW_TERM_MPA_MARKER; /* the ULPDU's length cannot be right */
	if ((ulpdu[DDP_CONTROL] & DDP_VERSION_MASK) != DDP_VERSION)
		return tagged ? IW_TERM_TAGGED_VERSION : IW_TERM_UNTAGGED_VERSION;
	if (ulpdu[DDP_RDMAP] >> RDMAP_VERSION_SHIFT != RDMAP_VERSION)
		return IW_TERM_RDMAP_VERSION;
	m->opcode = ulpdu[DDP_RDMAP] & RDMAP_OPCODE_MASK;
	m->last = ulpdu[DDP_CONTROL] & DDP_LAST;
	m->payload = ulpdu + head;
	m->len = n - head;
	if (m->opcode >= RDMAP_OPCODE_COUNT || opcode_rows[m->opcode].tagged != tagged)
		return IW_TERM_RDMAP_OPCODE;
	if (!tagged)
		return get_untagged(ulpdu, m);
	m->stag = get_be32(ulpdu + DDP_STAG);
	m->to = get_be64(ulpdu + DDP_TO);
	return IW_TERM_NONE;
}
