/* SPDX-License-Identifier: Apache-2.0 */
/* See roce_crc.h. */
#include "model/engine/wire/roce_crc.h"

#include "model/engine/wire/crc.h"
#include "model/interface/wire.h"

#include <string.h>

enum {
	LRH_AS_ONES = 8,
	HEAD_MAX = LRH_AS_ONES + GRH_BYTES + sizeof(struct udp_hdr) + BTH_BYTES,
	UDP_CHECKSUM_AT = 6,
	BTH_RESERVED_AT = 4,
};

static void store_crc(uint8_t *p, uint32_t crc)
{
	p[0] = (uint8_t)crc;
	p[1] = (uint8_t)(crc >> 8);
	p[2] = (uint8_t)(crc >> 16);
	p[3] = (uint8_t)(crc >> 24);
}

static uint32_t load_crc(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* GRH and IPv6: TClass, FlowLabel, HopLmt. */
static void mask_ipv6(uint8_t *l3)
{
	l3[0] |= 0x0f;
	l3[1] = l3[2] = l3[3] = 0xff;
	l3[7] = 0xff;
}

static void mask_ipv4(uint8_t *l3)
{
	l3[1] = 0xff;           /* TOS */
	l3[8] = 0xff;           /* TTL */
	l3[10] = l3[11] = 0xff; /* checksum */
}

uint32_t roce_icrc(const uint8_t *frame, const struct roce_places *at)
{
	const size_t l3 = roce_l3_bytes(at->kind), head = LRH_AS_ONES + l3 + BTH_BYTES;
	uint8_t masked[HEAD_MAX];
	uint32_t crc;

	memset(masked, 0xff, LRH_AS_ONES);
	memcpy(masked + LRH_AS_ONES, frame + at->l3_off, l3 + BTH_BYTES);
	if (at->kind == ROCE_V2_IPV4)
		mask_ipv4(masked + LRH_AS_ONES);
	else
		mask_ipv6(masked + LRH_AS_ONES);
	if (at->kind != ROCE_V1)
		memset(masked + head - BTH_BYTES - sizeof(struct udp_hdr) + UDP_CHECKSUM_AT, 0xff,
		       2);
	masked[head - BTH_BYTES + BTH_RESERVED_AT] = 0xff;
	crc = crc32_more(UINT32_MAX, masked, head);
	return ~crc32_more(crc, frame + at->bth_off + BTH_BYTES,
			   at->end - ICRC_BYTES - at->bth_off - (size_t)BTH_BYTES);
}

uint32_t frame_fcs(const uint8_t *frame, size_t len_without_fcs)
{
	return ~crc32_more(UINT32_MAX, frame, len_without_fcs);
}

void frame_fcs_make(uint8_t *frame, size_t len)
{
	store_crc(frame + len - FCS_BYTES, frame_fcs(frame, len - FCS_BYTES));
}

void roce_crcs_make(uint8_t *frame, size_t len, const struct roce_places *at)
{
	if (at->kind != ROCE_NONE)
		store_crc(frame + at->end - ICRC_BYTES, roce_icrc(frame, at));
	frame_fcs_make(frame, len);
}

bool frame_fcs_is_right(const uint8_t *frame, size_t len)
{
	return len > FCS_BYTES &&
	       load_crc(frame + len - FCS_BYTES) == frame_fcs(frame, len - FCS_BYTES);
}

bool roce_icrc_is_right(const uint8_t *frame, const struct roce_places *at)
{
	return load_crc(frame + at->end - ICRC_BYTES) == roce_icrc(frame, at);
}
