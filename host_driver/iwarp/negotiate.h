/* SPDX-License-Identifier: Apache-2.0 */
/* What two ends agree upon by Request and Reply (RFC 5044 section 7.1, RFC 6581 sections 5 and 9).
 */
#ifndef HOST_DRIVER_IWARP_NEGOTIATE_H
#define HOST_DRIVER_IWARP_NEGOTIATE_H

#include "host_driver/iwarp/mpa.h"
#include "host_driver/iwarp/rdmap.h"

/* How the initiator says that it is ready to receive, so that the responder may send first. */
#define IW_DESIGNS(D)                                                                              \
	D(CLIENT_FIRST, "client-first", "the initiator's program sends first (RFC 5044)")          \
	D(RTR_FRAME, "rtr-frame", "an Rtr frame follows the Reply (proposal of 2007)")             \
	D(RTR_MESSAGE, "rtr-message", "the first FPDU is an RDMAP message (RFC 6581)")

enum iw_design {
#define D(name, word, meaning) IW_##name,
	IW_DESIGNS(D)
#undef D
		IW_DESIGN_COUNT
};

/* What one end wants or can. */
struct iw_terms_own {
	uint8_t rev;           /* highest revision: 1 or 2 */
	enum iw_design design; /* asked for; a responder of RTR_FRAME understands S of revision 1 */
	uint8_t kinds;         /* MPA_RTR_* that it can */
	bool markers, crc;     /* it wants them */
	bool can_markers;      /* it can send markers */
	uint16_t ird, ord;     /* MPA_UNKNOWN_DEPTH: not negotiated here */
	uint16_t ird_max;      /* to which its IRD may be raised */
};

/* What holds for the connection. */
struct iw_agreed {
	uint8_t rev;
	enum iw_design design;
	uint8_t kinds; /* initiator: the one that it will send; responder: those it will take */
	bool tx_markers, rx_markers, crc;
	uint16_t ird, ord;
};

/* The initiator's Request. */
void iw_request_make(const struct iw_terms_own *own, struct mpa_start *request);

/*
 * The responder's answer to a Request, with the depths that the user gave to accept in own. 0;
 * -EPROTO: not a Request that it may answer: the stream is to be closed. -EOPNOTSUPP: markers are
 * wanted that it cannot send: to be rejected.
 */
int iw_reply_make(const struct iw_terms_own *own, const struct mpa_start *request,
		  struct mpa_start *reply, struct iw_agreed *agreed);

/* The initiator reads an accepting Reply. 0; -EPROTO: the Reply does not fit the Request, the stream
 * is to be closed, with *term the reason: IW_TERM_MPA_START, or what a TERMINATE shall say. */
int iw_reply_read(const struct iw_terms_own *own, const struct mpa_start *request,
		  const struct mpa_start *reply, struct iw_agreed *agreed, enum iw_term *term);

/* Which Requests a responder reads at all: see iw_reply_make(). */
int iw_request_check(const struct iw_terms_own *own, const struct mpa_start *request);

#endif
