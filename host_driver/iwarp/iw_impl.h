/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the connection manager. iw_cm.c has the life of an id, iw_initiator.c and iw_responder.c
 * the two sides of set-up, iw_fpdu.c what follows, iw_break.c the rules that are broken on purpose.
 */
#ifndef HOST_DRIVER_IWARP_IW_IMPL_H
#define HOST_DRIVER_IWARP_IW_IMPL_H

#include "host_driver/iwarp/iw_cm.h"
#include "host_driver/mlx4/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct iw_work {
	struct drv_list link;
	uint64_t wr_id;
	uint8_t *buffer; /* of a receive */
	size_t len;
	uint8_t bytes[]; /* of a send */
};

struct iw_cm_id {
	struct iw_host *host;
	const struct iw_cm_user *user;
	void *arg;
	struct iw_options opt;
	enum iw_state state;
	bool initiator;
	bool told;      /* the user knows of the connection: it gets CLOSE */
	bool fell_back; /* to revision 1 */
	unsigned holds;
	bool destroyed;

	struct iw_stream *stream;
	struct iw_listener *listener;
	struct iw_address peer;
	struct iw_timer timer; /* of the state */

	uint8_t pdata[MPA_PDATA_MAX]; /* to be sent */
	uint16_t pdata_len;
	struct mpa_start_rx start_rx;
	struct mpa_start request; /* sent by an initiator, received by a responder */
	struct mpa_start reply;   /* received by an initiator */
	struct iw_agreed agreed;

	struct mpa_fpdus tx;
	struct mpa_fpdu_rx rx;
	bool fence_open; /* the user's messages may leave */
	bool sent_fpdu;
	uint32_t tx_msn[RDMAP_QUEUES], rx_msn[RDMAP_QUEUES];
	uint32_t rx_mo; /* of the SEND that is coming in */
	unsigned reads_out;
	struct drv_list sends, receives; /* struct iw_work */
	uint64_t broken;                 /* IW_BREAKS_BIT() that have struck */
};

/* iw_cm.c. Between hold and release an id stays, whatever the user does. */
void iw_hold(struct iw_cm_id *id);
void iw_release(struct iw_cm_id *id);
struct iw_cm_id *iw_create(struct iw_host *host, const struct iw_options *options,
			   const struct iw_cm_user *user, void *arg);
extern const struct iw_stream_user iw_stream_user;
void iw_state_set(struct iw_cm_id *id, enum iw_state state);
__attribute__((format(printf, 2, 3))) void iw_say(struct iw_cm_id *id, const char *format, ...);
void iw_say_start(struct iw_cm_id *id, const char *way, const struct mpa_start *start);
void iw_tell(struct iw_cm_id *id, struct iw_event event);
void iw_terms_own(const struct iw_cm_id *id, struct iw_terms_own *own);
/* Sends a Request, Reply or Rtr frame, after iw_break.c has had its way with it. */
int iw_start_send(struct iw_cm_id *id, const struct mpa_start *start);
/* The stream ends at once; the user is told, if it knows of the connection. Flushes. */
void iw_abort(struct iw_cm_id *id, int status);
/* Ends the own direction, and waits in that state for the peer's. */
void iw_half_close(struct iw_cm_id *id, enum iw_state state);
/* The stream is gone. */
void iw_gone(struct iw_cm_id *id, int status);

/* iw_initiator.c */
void iw_initiator_up(struct iw_cm_id *id);
size_t iw_initiator_reply(struct iw_cm_id *id, const uint8_t *bytes, size_t n);
/* The time after the Reply is over: says that this end is ready, and tells the user. */
void iw_initiator_ready(struct iw_cm_id *id);
/* Bytes that come before it has said so. */
size_t iw_initiator_too_early(struct iw_cm_id *id, const uint8_t *bytes, size_t n);
/* The stream has ended before the user is connected, or the time has. */
void iw_initiator_failed(struct iw_cm_id *id, int error);

/* iw_responder.c */
size_t iw_responder_request(struct iw_cm_id *id, const uint8_t *bytes, size_t n);
size_t iw_responder_too_early(struct iw_cm_id *id, const uint8_t *bytes, size_t n);
size_t iw_responder_rtr(struct iw_cm_id *id, const uint8_t *bytes, size_t n);

/* iw_fpdu.c */
void iw_fpdu_begin(struct iw_cm_id *id);
size_t iw_fpdu_received(struct iw_cm_id *id, const uint8_t *bytes, size_t n);
int iw_rtr_send(struct iw_cm_id *id, uint8_t kind);
void iw_fence_open(struct iw_cm_id *id);
void iw_terminate(struct iw_cm_id *id, enum iw_term term);
void iw_flush(struct iw_cm_id *id, bool tell);

/* iw_break.c */
static inline bool iw_breaks(const struct iw_cm_id *id, enum iw_break which)
{
	return id->opt.breaks >> which & 1;
}

/* Returns the new length; what is beyond the frame has room. */
size_t iw_break_start(struct iw_cm_id *id, uint8_t *frame, size_t n);
/* The ULPDU and then the FPDU that is about to leave; returns the ULPDU's length. */
size_t iw_break_ulpdu(struct iw_cm_id *id, uint8_t *ulpdu, size_t n);
void iw_break_fpdu(struct iw_cm_id *id, uint8_t *fpdu, size_t n, bool marked);

#endif
