/* SPDX-License-Identifier: Apache-2.0 */
/* See requester_wqe.h. */
#include "model/engine/send/requester_wqe.h"

#include "model/interface/rows.h"

#include <errno.h>
#include <string.h>

/* A gather entry that counts no bytes means 2 GiB: an empty one has the inline bit as well
 * (assumption, from rdma-core's set_data_seg, which writes 0x80000000 for an entry of length 0). */
static uint32_t gather_bytes(const struct wqe_data *data)
{
	const uint32_t n = wqe_data_get_byte_count(data);

	return n || wqe_data_get_is_inline(data) ? n : UINT32_C(1) << 31;
}

bool send_segment_next(const struct send_request *r, unsigned *at, struct send_segment *segment)
{
	const struct wqe_data *data = (const struct wqe_data *)(r->wqe + *at);

	if (*at + sizeof(struct wqe_inline) > r->len)
		return false;
	segment->is_inline = wqe_data_get_is_inline(data);
	segment->len = gather_bytes(data);
	if (segment->is_inline) {
		unsigned end;

		segment->bytes = r->wqe + *at + sizeof(struct wqe_inline);
		segment->lkey = 0;
		segment->addr = 0;
		end = *at + (unsigned)sizeof(struct wqe_inline) + segment->len;
		*at = (end + WQE_UNIT - 1) / WQE_UNIT * WQE_UNIT;
		return true;
	}
	segment->bytes = NULL;
	segment->lkey = wqe_data_get_lkey(data);
	segment->addr = wqe_data_get_addr(data);
	*at += sizeof(struct wqe_data);
	return true;
}

/* Checks the data segments, so that send_segment_next() can rely on them, and adds up their
 * bytes. */
static const char *check_data(struct send_request *r)
{
	unsigned at = r->data;

	r->bytes = 0;
	while (at < r->len) {
		const struct wqe_data *data = (const struct wqe_data *)(r->wqe + at);
		uint32_t n = gather_bytes(data);

		r->bytes += n;
		if (!wqe_data_get_is_inline(data)) {
			at += sizeof(struct wqe_data);
			continue;
		}
		if (n > WQE_CHUNK - sizeof(struct wqe_inline) - at % WQE_CHUNK)
			return "an inline segment crosses a 64-byte boundary";
		if (at + sizeof(struct wqe_inline) + n > r->len)
			return "an inline segment is longer than the work request";
		at = (at + (unsigned)sizeof(struct wqe_inline) + n + WQE_UNIT - 1) / WQE_UNIT *
		     WQE_UNIT;
	}
	return NULL;
}

/* Finds the segments between control and data. The offset of the data; 0: the WQE is too short. */
static unsigned take_segments(struct send_request *r, unsigned service)
{
	unsigned at = sizeof(struct wqe_ctrl);

	if (r->op->props & WQE_P_DATAGRAM && service == QP_ST_UD) {
		r->datagram = (const struct wqe_datagram *)(r->wqe + at);
		at += sizeof(struct wqe_datagram);
	}
	if (r->op->props & WQE_P_RADDR) {
		r->raddr = (const struct wqe_raddr *)(r->wqe + at);
		at += sizeof(struct wqe_raddr);
	}
	if (r->op->props & WQE_P_MPT)
		at += wqe_ctrl_get_opcode(r->ctrl) == WQE_FAST_REG ? sizeof(struct wqe_fast_reg)
								   : sizeof(struct wqe_bind);
	if (r->op->props & (WQE_P_ATOMIC | WQE_P_ATOMIC32)) {
		r->atomic = r->wqe + at;
		at += r->op->props & WQE_P_ATOMIC32 ? sizeof(struct wqe_masked_cas)
						    : sizeof(struct wqe_atomic);
	}
	return at <= r->len ? at : 0;
}

int send_request_parse(const uint8_t *wqe, unsigned len, unsigned service, struct send_request *r,
		       const char **why)
{
	memset(r, 0, sizeof(*r));
	r->wqe = wqe;
	r->ctrl = (const struct wqe_ctrl *)wqe;
	r->len = wqe_ctrl_get_ds(r->ctrl) * WQE_UNIT;
	r->op = wqe_op_find(wqe_ctrl_get_opcode(r->ctrl));
	*why = NULL;
	if (!r->op->name)
		*why = "unknown opcode";
	else if (!(r->op->services & 1u << service))
		*why = "opcode is not for this service";
	else if (r->len < sizeof(struct wqe_ctrl))
		/* A slot of zeros is a NOP of size 0. Linux's post_nop_wqe() sets the size. */
		*why = wqe_ctrl_get_opcode(r->ctrl) == WQE_NOP
			       ? "size 0, as if nothing was ever written there"
			       : "size 0";
	else if (r->op->props & WQE_P_LOCAL && !(r->op->props & WQE_P_MPT))
		return 0; /* NOP: nothing behind the control segment counts */
	else if (r->len > len)
		*why = "larger than the stride";
	else if (!(r->data = take_segments(r, service)))
		*why = "segments are missing";
	else if (r->op->props & WQE_P_DATA)
		*why = check_data(r);
	if (!*why && r->op->props & WQE_P_FETCH && r->bytes != sizeof(uint64_t))
		*why = "the result of an atomic takes 8 bytes";
	return *why ? -EINVAL : 0;
}

int send_request_mlx_headers(struct send_request *r, uint8_t headers[MLX_HEADERS_MAX],
			     const char **why)
{
	struct send_segment s = {0};
	unsigned at = r->data, n = 0, last = 0;

	while (send_segment_next(r, &at, &s) && s.is_inline) {
		if (n + s.len > MLX_HEADERS_MAX) {
			*why = "headers are too long";
			return -EINVAL;
		}
		memcpy(headers + n, s.bytes, s.len);
		n += s.len;
		last = s.len;
		r->data = at;
		r->bytes -= s.len;
	}
	/* The placeholder of the ICRC comes after the payload. In a WQE without payload, the loop
	 * above has copied it as the last inline segment. */
	if (r->data >= r->len && last == ICRC_BYTES) {
		n -= ICRC_BYTES;
	} else {
		for (at = r->data; send_segment_next(r, &at, &s);)
			last = s.is_inline ? s.len : 0;
		if (last == ICRC_BYTES) {
			r->len -= WQE_UNIT;
			r->bytes -= ICRC_BYTES;
		} else if (!wqe_mlx_ctrl_get_icrc(
				   (const struct wqe_mlx_ctrl *)(const void *)r->wqe)) {
			*why = "the segment of 4 bytes for the ICRC is missing at its end";
			return -EINVAL;
		}
	}
	if (n < LRH_BYTES + BTH_BYTES) {
		*why = "headers are missing";
		return -EINVAL;
	}
	return (int)n;
}
