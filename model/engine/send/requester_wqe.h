/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a send WQE apart. Pure functions of its bytes; its layout: queues.h. The segment behind an
 * inline segment begins at the next 16-byte boundary. An inline segment does not cross a 64-byte
 * boundary: software splits it there.
 */
#ifndef MODEL_ENGINE_REQUESTER_WQE_H
#define MODEL_ENGINE_REQUESTER_WQE_H

#include "model/interface/queues.h"

struct wqe_op;

/* A WQE taken apart. Pointers point into it. */
struct send_request {
	const uint8_t *wqe;
	unsigned len; /* bytes, ds * 16 */
	const struct wqe_op *op;
	const struct wqe_ctrl *ctrl;
	const struct wqe_datagram *datagram; /* UD */
	const struct wqe_raddr *raddr;
	const uint8_t *atomic; /* struct wqe_atomic or wqe_masked_cas */
	unsigned data;         /* offset of the first data segment */
	uint64_t bytes;        /* of all data segments; on an MLX QP without the headers and the
				  ICRC that the WQE holds */
};

/* One data segment. */
struct send_segment {
	bool is_inline;
	const uint8_t *bytes; /* inline */
	uint32_t lkey;
	uint64_t addr;
	uint32_t len;
};

/* 0, or -EINVAL with *why: the hardware cannot execute it. `service`: enum qp_service. */
int send_request_parse(const uint8_t *wqe, unsigned len, unsigned service, struct send_request *r,
		       const char **why);
/* The segment at *at, which moves behind it; false at the end. The WQE has been parsed. */
bool send_segment_next(const struct send_request *r, unsigned *at, struct send_segment *segment);

enum { MLX_HEADERS_MAX = 128 };
/*
 * MLX: the headers from the leading inline segments, ICRC placeholder left out; `r->data` then
 * points to the payload. Their length, or -EINVAL.
 */
int send_request_mlx_headers(struct send_request *r, uint8_t headers[MLX_HEADERS_MAX],
			     const char **why);

#endif
