/* SPDX-License-Identifier: Apache-2.0 */
#include "host_driver/iwarp/mpa.h"
#include "host_driver/iwarp/bytes.h"

#include <errno.h>

/* Enhanced data, two big-endian words (RFC 6581 section 5). */
enum {
	ENHANCED_A = 0x8000,     /* first word: peer to peer */
	ENHANCED_SEND = 0x4000,  /* first word: B */
	ENHANCED_WRITE = 0x8000, /* second word: C */
	ENHANCED_READ = 0x4000,  /* second word: D */
	ENHANCED_DEPTH = 0x3fff,
};

const char mpa_keys[MPA_KEY_COUNT][MPA_KEY_BYTES + 1] = {
#define F(name, key) key,
	MPA_KEYS(F)
#undef F
};

static void enhanced_put(uint8_t *p, const struct mpa_enhanced *e)
{
	put_be16(p, (uint16_t)((e->ird & ENHANCED_DEPTH) | (e->peer_to_peer ? ENHANCED_A : 0) |
			       (e->kinds & MPA_RTR_SEND ? ENHANCED_SEND : 0)));
	put_be16(p + 2, (uint16_t)((e->ord & ENHANCED_DEPTH) |
				   (e->kinds & MPA_RTR_WRITE ? ENHANCED_WRITE : 0) |
				   (e->kinds & MPA_RTR_READ ? ENHANCED_READ : 0)));
}

static void enhanced_get(const uint8_t *p, struct mpa_enhanced *e)
{
	const uint16_t first = get_be16(p), second = get_be16(p + 2);

	*e = (struct mpa_enhanced){
		.peer_to_peer = first & ENHANCED_A,
		.kinds = (uint8_t)((first & ENHANCED_SEND ? MPA_RTR_SEND : 0) |
				   (second & ENHANCED_WRITE ? MPA_RTR_WRITE : 0) |
				   (second & ENHANCED_READ ? MPA_RTR_READ : 0)),
		.ird = first & ENHANCED_DEPTH,
		.ord = second & ENHANCED_DEPTH,
	};
}

size_t mpa_start_put(uint8_t frame[static MPA_START_BYTES + MPA_PDATA_MAX],
		     const struct mpa_start *start)
{
	uint8_t *p = frame + MPA_START_BYTES;

	memcpy(frame, mpa_keys[start->key], MPA_KEY_BYTES);
	frame[16] = start->bits;
	frame[17] = start->rev;
	if (start->has_enhanced) {
		enhanced_put(p, &start->enhanced);
		p += MPA_ENHANCED_BYTES;
	}
	if (start->pdata_len)
		memcpy(p, start->pdata, start->pdata_len);
	p += start->pdata_len;
	put_be16(frame + 18, (uint16_t)(p - frame - MPA_START_BYTES));
	return (size_t)(p - frame);
}

static enum mpa_key key_find(const uint8_t *bytes)
{
	enum mpa_key key = MPA_REQ;

	while (key < MPA_KEY_COUNT && memcmp(bytes, mpa_keys[key], MPA_KEY_BYTES))
		key++;
	return key;
}

/* Adds to what is there until `want` bytes are; true when they are. */
static bool start_fill(struct mpa_start_rx *rx, size_t want, const uint8_t *bytes, size_t n,
		       size_t *taken)
{
	size_t some = want - rx->have;

	if (some > n - *taken)
		some = n - *taken;
	if (some)
		memcpy(rx->bytes + rx->have, bytes + *taken, some);
	rx->have += some;
	*taken += some;
	return rx->have == want;
}

int mpa_start_get(struct mpa_start_rx *rx, const uint8_t *bytes, size_t n, size_t *taken,
		  struct mpa_start *start)
{
	const uint8_t *frame = rx->bytes, *pdata = frame + MPA_START_BYTES;

	*taken = 0;
	if (rx->have < MPA_START_BYTES && !start_fill(rx, MPA_START_BYTES, bytes, n, taken))
		return 0;
	*start = (struct mpa_start){
		.key = key_find(frame),
		.bits = frame[16],
		.rev = frame[17],
		.length = get_be16(frame + 18),
	};
	if (start->key == MPA_KEY_COUNT || start->length > MPA_PDATA_MAX)
		return -EPROTO;
	if (!start_fill(rx, MPA_START_BYTES + start->length, bytes, n, taken))
		return 0;
	start->pdata = pdata;
	start->pdata_len = start->length;
	if (!(start->bits & MPA_S) || start->rev != 2)
		return 1;
	if (start->length < MPA_ENHANCED_BYTES)
		return -EPROTO;
	start->has_enhanced = true;
	enhanced_get(pdata, &start->enhanced);
	start->pdata += MPA_ENHANCED_BYTES;
	start->pdata_len -= MPA_ENHANCED_BYTES;
	return 1;
}

unsigned mpa_mulpdu(unsigned emss, bool markers)
{
	unsigned overhead = MPA_LENGTH_BYTES + IW_CRC_BYTES + emss % 4;

	if (markers)
		overhead += MPA_MARKER_BYTES * ((emss + MPA_MARKER_EVERY - 1) / MPA_MARKER_EVERY);
	return emss < overhead + MPA_MULPDU_MIN ? MPA_MULPDU_MIN : emss - overhead;
}

/* Length field, ULPDU and padding. */
static size_t padded(size_t ulpdu)
{
	return (MPA_LENGTH_BYTES + ulpdu + 3) & ~(size_t)3;
}

size_t mpa_fpdu_room(size_t n)
{
	size_t plain = padded(n) + IW_CRC_BYTES;

	return plain + MPA_MARKER_BYTES * (plain / (MPA_MARKER_EVERY - MPA_MARKER_BYTES) + 1);
}

static bool marker_due(const struct mpa_fpdus *s)
{
	return s->markers && s->at % MPA_MARKER_EVERY == 0;
}

/* Copies n bytes, a multiple of 4, and puts markers between them. start: where the length field is.
 */
static uint8_t *put_marked(struct mpa_fpdus *tx, uint8_t *to, uint8_t **start, const uint8_t *bytes,
			   size_t n)
{
	for (size_t i = 0; i < n; i += 4) {
		if (marker_due(tx)) {
			put_be32(to, *start ? (uint32_t)(to - *start) : 0);
			to += MPA_MARKER_BYTES;
			tx->at += MPA_MARKER_BYTES;
		}
		if (!*start)
			*start = to;
		memcpy(to, bytes + i, 4);
		to += 4;
		tx->at += 4;
	}
	return to;
}

size_t mpa_fpdu_put(struct mpa_fpdus *tx, uint8_t *fpdu, const uint8_t *ulpdu, size_t n)
{
	const size_t body = padded(n), head = n < 2 ? n : 2;
	uint8_t *start = NULL, *p = fpdu, word[4] = {0};

	put_be16(word, (uint16_t)n);
	if (head)
		memcpy(word + MPA_LENGTH_BYTES, ulpdu, head);
	p = put_marked(tx, p, &start, word, 4);
	if (n > head) {
		const size_t rest = n - head, whole = rest & ~(size_t)3;

		p = put_marked(tx, p, &start, ulpdu + head, whole);
		if (body - 4 > whole) {
			memset(word, 0, sizeof(word));
			memcpy(word, ulpdu + head + whole, rest - whole);
			p = put_marked(tx, p, &start, word, 4);
		}
	}
	if (marker_due(tx)) {
		put_be32(p, (uint32_t)(p - start));
		p += MPA_MARKER_BYTES;
		tx->at += MPA_MARKER_BYTES;
	}
	/* RFC 5044 sends the CRC low byte first, as iSCSI does */
	{
		const uint32_t crc = htole32(tx->crc ? iw_crc32c(0, fpdu, (size_t)(p - fpdu)) : 0);

		memcpy(p, &crc, sizeof(crc));
	}
	tx->at += IW_CRC_BYTES;
	return (size_t)(p - fpdu) + IW_CRC_BYTES;
}

static bool marker_right(const struct mpa_fpdu_rx *rx)
{
	return !get_be16(rx->word) && get_be16(rx->word + 2) == rx->raw % 0x10000;
}

static enum mpa_verdict fpdu_end(struct mpa_fpdu_rx *rx)
{
	uint32_t crc;

	memcpy(&crc, rx->word, sizeof(crc));
	if (rx->stream.crc && le32toh(crc) != rx->sum)
		return MPA_BAD_CRC;
	rx->words = rx->want = rx->raw = 0;
	rx->sum = 0;
	return MPA_FPDU;
}

/* One whole word of the stream. */
static enum mpa_verdict fpdu_word(struct mpa_fpdu_rx *rx)
{
	const bool marker = marker_due(&rx->stream);

	rx->stream.at += 4;
	if (marker && !marker_right(rx))
		return MPA_BAD_MARKER;
	if (!marker && rx->words && rx->words == rx->want)
		return fpdu_end(rx);
	if (rx->stream.crc)
		rx->sum = iw_crc32c(rx->sum, rx->word, 4);
	if (marker) {
		if (rx->words)
			rx->raw += MPA_MARKER_BYTES;
		return MPA_MORE;
	}
	if (!rx->words) {
		rx->len = get_be16(rx->word);
		rx->want = (uint32_t)(padded(rx->len) / 4);
	}
	memcpy(rx->ulpdu + 4 * rx->words++, rx->word, 4);
	rx->raw += 4;
	return MPA_MORE;
}

enum mpa_verdict mpa_fpdu_get(struct mpa_fpdu_rx *rx, const uint8_t *bytes, size_t n, size_t *taken)
{
	enum mpa_verdict verdict = MPA_MORE;

	for (*taken = 0; *taken < n && verdict == MPA_MORE;) {
		rx->word[rx->have++] = bytes[(*taken)++];
		if (rx->have < sizeof(rx->word))
			continue;
		rx->have = 0;
		verdict = fpdu_word(rx);
	}
	return verdict;
}
