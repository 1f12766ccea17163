/* SPDX-License-Identifier: Apache-2.0 */
#include "host_driver/iwarp/negotiate.h"

#include <errno.h>

static uint16_t less(uint16_t a, uint16_t b)
{
	return a < b ? a : b;
}

static uint8_t wanted_bits(const struct iw_terms_own *own)
{
	return (uint8_t)((own->markers ? MPA_M : 0) | (own->crc ? MPA_C : 0));
}

void iw_request_make(const struct iw_terms_own *own, struct mpa_start *request)
{
	*request = (struct mpa_start){
		.key = MPA_REQ,
		.rev = own->rev,
		.bits = wanted_bits(own),
	};
	if (own->rev == 1) {
		if (own->design == IW_RTR_FRAME)
			request->bits |= MPA_S;
		return;
	}
	request->bits |= MPA_S;
	request->has_enhanced = true;
	request->enhanced = (struct mpa_enhanced){
		.peer_to_peer = own->design == IW_RTR_MESSAGE,
		.kinds = own->design == IW_RTR_MESSAGE ? own->kinds : 0,
		.ird = own->ird,
		.ord = own->ord,
	};
}

int iw_request_check(const struct iw_terms_own *own, const struct mpa_start *request)
{
	if (request->key != MPA_REQ || request->rev < 1 || request->rev > own->rev)
		return -EPROTO;
	return request->bits & MPA_M && !own->can_markers ? -EOPNOTSUPP : 0;
}

/*
 * The responder's depths: its ORD goes down to what the peer can take, its IRD to what the peer
 * will use. A READ that says ready to receive needs an IRD of 1. A depth that the peer has left open
 * stays as it is, and the opposite one is left open in the answer.
 */
static void responder_depths(const struct iw_terms_own *own, const struct mpa_enhanced *asked,
			     struct mpa_enhanced *reply, struct iw_agreed *agreed)
{
	agreed->ord = own->ord;
	agreed->ird = own->ird;
	if (asked->ird != MPA_UNKNOWN_DEPTH)
		agreed->ord = less(own->ord, asked->ird);
	if (asked->ord != MPA_UNKNOWN_DEPTH)
		agreed->ird = less(own->ird, asked->ord);
	if (reply->kinds & MPA_RTR_READ && !agreed->ird && own->ird_max)
		agreed->ird = 1;
	reply->ord = asked->ird == MPA_UNKNOWN_DEPTH ? MPA_UNKNOWN_DEPTH : agreed->ord;
	reply->ird = asked->ord == MPA_UNKNOWN_DEPTH ? MPA_UNKNOWN_DEPTH : agreed->ird;
}

static void reply_enhanced(const struct iw_terms_own *own, const struct mpa_enhanced *asked,
			   struct mpa_enhanced *reply, struct iw_agreed *agreed)
{
	*reply = (struct mpa_enhanced){.peer_to_peer = asked->peer_to_peer};
	agreed->design = IW_CLIENT_FIRST;
	if (asked->peer_to_peer) {
		/* If none of the asked kinds can be, the answer names those that can: the initiator
		 * then ends the connection with the reason "no matching RTR option". */
		reply->kinds = asked->kinds & own->kinds ? asked->kinds & own->kinds : own->kinds;
		agreed->design = IW_RTR_MESSAGE;
		agreed->kinds = reply->kinds;
	}
	responder_depths(own, asked, reply, agreed);
}

int iw_reply_make(const struct iw_terms_own *own, const struct mpa_start *request,
		  struct mpa_start *reply, struct iw_agreed *agreed)
{
	int ret = iw_request_check(own, request);

	if (ret)
		return ret;
	*reply = (struct mpa_start){
		.key = MPA_REP,
		.rev = request->rev,
		.bits = wanted_bits(own),
	};
	*agreed = (struct iw_agreed){
		.rev = request->rev,
		.design = IW_CLIENT_FIRST,
		.tx_markers = request->bits & MPA_M,
		.rx_markers = own->markers,
		.crc = own->crc || request->bits & MPA_C,
		.ird = own->ird,
		.ord = own->ord,
	};
	/* RFC 5044: the Reply has C where the Request has it */
	if (agreed->crc)
		reply->bits |= MPA_C;
	if (request->has_enhanced) {
		reply->bits |= MPA_S;
		reply->has_enhanced = true;
		reply_enhanced(own, &request->enhanced, &reply->enhanced, agreed);
	} else if (request->rev == 1 && request->bits & MPA_S && own->design == IW_RTR_FRAME) {
		reply->bits |= MPA_S;
		agreed->design = IW_RTR_FRAME;
	}
	return 0;
}

/* The kind of message that the initiator will send: WRITE before READ before SEND. */
static uint8_t kind_choose(uint8_t kinds)
{
	if (kinds & MPA_RTR_WRITE)
		return MPA_RTR_WRITE;
	return kinds & MPA_RTR_READ ? MPA_RTR_READ : kinds & MPA_RTR_SEND;
}

static enum iw_term initiator_depths(const struct iw_terms_own *own,
				     const struct mpa_enhanced *reply, struct iw_agreed *agreed)
{
	agreed->ird = own->ird;
	agreed->ord = own->ord;
	if (reply->ord != MPA_UNKNOWN_DEPTH) {
		if (reply->ord > own->ird_max)
			return IW_TERM_MPA_IRD;
		agreed->ird = reply->ord;
	}
	if (reply->ird != MPA_UNKNOWN_DEPTH)
		agreed->ord = less(own->ord, reply->ird);
	return IW_TERM_NONE;
}

static enum iw_term read_enhanced(const struct iw_terms_own *own, const struct mpa_enhanced *asked,
				  const struct mpa_enhanced *reply, struct iw_agreed *agreed)
{
	enum iw_term term = initiator_depths(own, reply, agreed);

	agreed->design = IW_CLIENT_FIRST;
	if (term || !asked->peer_to_peer)
		return term;
	if (!reply->peer_to_peer)
		return IW_TERM_MPA_RTR;
	agreed->kinds = kind_choose(reply->kinds & own->kinds);
	if (!agreed->kinds)
		return IW_TERM_MPA_RTR;
	agreed->design = IW_RTR_MESSAGE;
	if (agreed->kinds != MPA_RTR_READ || agreed->ord)
		return IW_TERM_NONE;
	/* the READ needs a place: the own ORD may be raised to 1 where the peer's IRD has it */
	if (reply->ird == MPA_UNKNOWN_DEPTH || !reply->ird)
		return IW_TERM_MPA_IRD;
	agreed->ord = 1;
	return IW_TERM_NONE;
}

int iw_reply_read(const struct iw_terms_own *own, const struct mpa_start *request,
		  const struct mpa_start *reply, struct iw_agreed *agreed, enum iw_term *term)
{
	*agreed = (struct iw_agreed){
		.rev = reply->rev,
		.design = IW_CLIENT_FIRST,
		.tx_markers = reply->bits & MPA_M,
		.rx_markers = own->markers,
		.crc = own->crc || reply->bits & MPA_C,
		.ird = own->ird,
		.ord = own->ord,
	};
	*term = IW_TERM_MPA_START;
	if (reply->key != MPA_REP || reply->rev < 1 || reply->rev > 2 ||
	    (reply->bits & MPA_M && !own->can_markers) ||
	    request->has_enhanced != reply->has_enhanced)
		return -EPROTO;
	if (!request->has_enhanced) {
		if (reply->bits & request->bits & MPA_S)
			agreed->design = IW_RTR_FRAME;
		return 0;
	}
	*term = read_enhanced(own, &request->enhanced, &reply->enhanced, agreed);
	return *term ? -EPROTO : 0;
}
