/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that are broken on purpose: bytes are changed after the right ones have been made. */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/iw_impl.h"

enum {
	AT_BITS = 16, /* in a Request or Reply */
	AT_REV = 17,
	AT_LENGTH = 18,
	AT_FIRST = 20,  /* enhanced data: A, B, IRD */
	AT_SECOND = 22, /* C, D, ORD */
	HALF = 10,
	FLAG_A = 0x80, /* in the first byte of its word */
	FLAG_B = 0x40,
	FLAGS_CD = 0xc0,
	FLAG_C = 0x80,
};

static void break_key(struct iw_cm_id *id, uint8_t *frame)
{
	if (iw_breaks(id, IW_BREAK_key_bit))
		frame[3] ^= 1;
	if (iw_breaks(id, IW_BREAK_wrong_key))
		memcpy(frame, mpa_keys[id->initiator ? MPA_REP : MPA_REQ], MPA_KEY_BYTES);
	if (iw_breaks(id, IW_BREAK_rtr_key))
		memcpy(frame, mpa_keys[MPA_RTR], MPA_KEY_BYTES);
}

static size_t break_enhanced(struct iw_cm_id *id, uint8_t *frame, size_t n)
{
	if (iw_breaks(id, IW_BREAK_short_enhanced)) {
		put_be16(frame + AT_LENGTH, MPA_ENHANCED_BYTES - 1);
		return MPA_START_BYTES + MPA_ENHANCED_BYTES - 1;
	}
	if (id->initiator)
		return n;
	if (iw_breaks(id, IW_BREAK_reply_without_a))
		frame[AT_FIRST] &= (uint8_t)~FLAG_A;
	if (iw_breaks(id, IW_BREAK_reply_no_kind)) {
		frame[AT_FIRST] &= (uint8_t)~FLAG_B;
		frame[AT_SECOND] &= (uint8_t)~FLAGS_CD;
	}
	if (iw_breaks(id, IW_BREAK_reply_write_too))
		frame[AT_SECOND] |= FLAG_C;
	if (iw_breaks(id, IW_BREAK_reply_ord)) {
		frame[AT_SECOND] &= FLAGS_CD;
		frame[AT_SECOND + 1] = 255;
	}
	if (!iw_breaks(id, IW_BREAK_reply_without_s))
		return n;
	frame[AT_BITS] &= (uint8_t)~MPA_S;
	frame[AT_REV] = 1;
	put_be16(frame + AT_LENGTH, 0);
	return MPA_START_BYTES;
}

size_t iw_break_start(struct iw_cm_id *id, uint8_t *frame, size_t n)
{
	if (!id->opt.breaks || id->state == IW_FPDU) /* not the Rtr frame */
		return n;
	break_key(id, frame);
	if (iw_breaks(id, IW_BREAK_rev_0))
		frame[AT_REV] = 0;
	if (iw_breaks(id, IW_BREAK_rev_3))
		frame[AT_REV] = 3;
	if (iw_breaks(id, IW_BREAK_pd_513))
		put_be16(frame + AT_LENGTH, MPA_PDATA_MAX + 1);
	if (frame[AT_BITS] & MPA_S && frame[AT_REV] == 2)
		n = break_enhanced(id, frame, n);
	if (iw_breaks(id, IW_BREAK_byte_behind))
		frame[n++] = 0;
	return iw_breaks(id, IW_BREAK_half_start) ? HALF : n;
}

/* True the first time. */
static bool strikes(struct iw_cm_id *id, enum iw_break which)
{
	const uint64_t bit = UINT64_C(1) << which;

	if (!iw_breaks(id, which) || id->broken & bit)
		return false;
	id->broken |= bit;
	return true;
}

size_t iw_break_ulpdu(struct iw_cm_id *id, uint8_t *ulpdu, size_t n)
{
	const bool tagged = ulpdu[0] & 0x80;

	if (!id->opt.breaks)
		return n;
	if (strikes(id, IW_BREAK_ddp_version))
		ulpdu[0] |= 3;
	if (strikes(id, IW_BREAK_rdmap_version))
		ulpdu[1] |= 0xc0;
	if (strikes(id, IW_BREAK_bad_opcode))
		ulpdu[1] |= 0xf;
	if (!tagged && strikes(id, IW_BREAK_bad_qn))
		put_be32(ulpdu + 6, 3);
	if (!tagged && strikes(id, IW_BREAK_bad_msn))
		put_be32(ulpdu + 10, 9);
	return strikes(id, IW_BREAK_bad_length) ? 5 : n;
}

void iw_break_fpdu(struct iw_cm_id *id, uint8_t *fpdu, size_t n, bool marked)
{
	if (strikes(id, IW_BREAK_bad_crc))
		fpdu[n - 1] ^= 0xff;
	if (marked && strikes(id, IW_BREAK_bad_marker))
		fpdu[3] ^= 4;
}
