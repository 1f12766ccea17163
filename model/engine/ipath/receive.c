/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving, see ipath.h: the headers of a packet go into the header queue of context 0, its payload
 * into an eager buffer, and then the queue's tail and an interrupt. The transport checks (LID, P_Key,
 * QP) are the driver's: qib_ib_rcv().
 *
 * Assumptions: a payload that is longer than an eager buffer is dropped and counted; a packet without payload uses no eager buffer and names the next one; a packet with a
 * wrong CRC goes up without its payload, so that the driver counts it; the ICRC is not written.
 */
#include "model/engine/host/pcie.h"
#include "model/engine/ipath/ipath.h"
#include "model/engine/wire/crc.h"
#include "model/engine/wire/packet.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/sim/params/hca.h"

#include <stdlib.h>
#include <string.h>

enum {
	CONTEXT = 0,
	DWORD = 4,
	LINE = 64, /* of pcie_write_small() */
	ENTRY_MAX = 128,
};

/* --- the queues --- */

static uint32_t entry_dwords(const struct ipath *ipath)
{
	return (uint32_t)ipath_get(ipath, IPATH_RcvHdrEntSize);
}

static uint32_t queue_dwords(const struct ipath *ipath)
{
	return (uint32_t)ipath_get(ipath, IPATH_RcvHdrCnt) * entry_dwords(ipath);
}

static bool takes_packets(const struct ipath *ipath)
{
	const uint64_t control = ipath_get(ipath, IPATH_Control);

	return ipath_get(ipath, IPATH_RcvCtrl) & IPATH_RCV_ENABLE(CONTEXT) &&
	       control & IPATH_CONTROL_LINK && !(control & IPATH_CONTROL_FREEZE);
}

/* The sizes are those of a queue; a context that is enabled without has nowhere to put packets. */
static bool queue_is_set(const struct ipath *ipath)
{
	const uint32_t dwords = entry_dwords(ipath);

	return dwords * DWORD > IPATH_RHF_BYTES + LRH_BYTES + BTH_BYTES &&
	       dwords * DWORD <= ENTRY_MAX && ipath_get(ipath, IPATH_RcvHdrCnt) > 1 &&
	       ipath_get(ipath, IPATH_RcvHdrCnt) < UINT16_MAX && ipath_get(ipath, IPATH_RcvHdrAddr);
}

static void order_tell(struct ipath *ipath, const char *what)
{
	guest_error(ipath->hca, RULE_chip_register_order, guest_object(GUEST_CONTEXT, CONTEXT),
		    "%s of context %u", what, CONTEXT);
}

void ipath_rcv_address_write(struct ipath *ipath, enum ipath_register name, uint64_t value)
{
	const uint64_t ctrl = ipath_get(ipath, IPATH_RcvCtrl);

	if (!(ctrl & IPATH_RCV_ENABLE(CONTEXT)) || ipath_get(ipath, name) == value)
		return;
	if (name == IPATH_RcvHdrAddr)
		order_tell(ipath, "RcvHdrAddr is changed behind the enable");
	else if (name == IPATH_RcvHdrTailAddr && ctrl & IPATH_RCV_TAIL)
		order_tell(ipath, "RcvHdrTailAddr is changed behind the enable");
}

static int entries_compare(const void *one, const void *other)
{
	const uint32_t x = *(const uint32_t *)one, y = *(const uint32_t *)other;

	return (x > y) - (x < y);
}

/* Each eager entry of the context has a buffer of its own: qib_setup_eagerbufs() sets them all before the enable. */
static void eager_check(struct ipath *ipath)
{
	uint32_t sorted[IPATH_EAGERS];

	memcpy(sorted, ipath->eager, sizeof(sorted));
	for (uint32_t i = 0; i < IPATH_EAGERS; i++)
		sorted[i] &= IPATH_EAGER_ADDRESS;
	qsort(sorted, IPATH_EAGERS, sizeof(*sorted), entries_compare);
	for (uint32_t i = 0; i < IPATH_EAGERS; i++) {
		if (sorted[i] && (!i || sorted[i] != sorted[i - 1]))
			continue;
		guest_error(ipath->hca, RULE_eager_entry, guest_object(GUEST_CONTEXT, CONTEXT),
			    "context %u is enabled while an eager entry %s%llx", CONTEXT,
			    sorted[i] ? "has the buffer of another one, " : "is not set, ",
			    (unsigned long long)sorted[i] << IPATH_EAGER_SHIFT);
		return;
	}
}

void ipath_rcv_ctrl_write(struct ipath *ipath, uint64_t value)
{
	uint64_t *ctrl = ipath_register(ipath, IPATH_RcvCtrl, 0);
	const uint64_t begun = value & ~*ctrl;

	*ctrl = value;
	if (begun & (IPATH_RCV_ENABLE(CONTEXT) | IPATH_RCV_TAIL) &&
	    value & IPATH_RCV_ENABLE(CONTEXT) && value & IPATH_RCV_TAIL &&
	    !ipath_get(ipath, IPATH_RcvHdrTailAddr))
		order_tell(ipath, "the tail is to be written, and RcvHdrTailAddr is not set,");
	if (!(begun & IPATH_RCV_ENABLE(CONTEXT)))
		return;
	ipath->header_head = ipath->header_tail = 0;
	ipath->eager_head = ipath->eager_tail = 0;
	ipath->interrupt_armed = false;
	if (!queue_is_set(ipath))
		guest_error(
			ipath->hca, RULE_header_queue_form, guest_object(GUEST_CONTEXT, CONTEXT),
			"context %u is enabled with %llu entries of %u dwords at %llx", CONTEXT,
			(unsigned long long)ipath_get(ipath, IPATH_RcvHdrCnt), entry_dwords(ipath),
			(unsigned long long)ipath_get(ipath, IPATH_RcvHdrAddr));
	else
		eager_check(ipath);
}

static void received_tell(struct ipath *ipath)
{
	if (!ipath->interrupt_armed ||
	    !(ipath_get(ipath, IPATH_RcvCtrl) & IPATH_RCV_INTERRUPT(CONTEXT)))
		return;
	ipath->interrupt_armed = false;
	ipath_interrupt(ipath, IPATH_INT_RECEIVED(CONTEXT));
}

uint32_t ipath_user_read(const struct ipath *ipath, enum ipath_user name)
{
	switch (name) {
	case IPATH_USER_HDR_TAIL:
		return ipath->header_tail;
	case IPATH_USER_HDR_HEAD:
		return ipath->header_head;
	case IPATH_USER_EGR_TAIL:
		return ipath->eager_tail;
	case IPATH_USER_EGR_HEAD:
		return ipath->eager_head;
	default:
		return 0;
	}
}

/* Software that is done with all packets does not look again before the next interrupt. The head that it writes is that of
 * the tail as it knows it, so it knows that this packet is the last one. */
static void emptied_check(struct ipath *ipath, bool asks)
{
	const uint32_t kept = (ipath->eager_tail + IPATH_EAGERS - ipath->eager_head) % IPATH_EAGERS;

	if (!asks && ipath_get(ipath, IPATH_RcvCtrl) & IPATH_RCV_INTERRUPT(CONTEXT))
		guest_error(ipath->hca, RULE_interrupt_not_asked,
			    guest_object(GUEST_CONTEXT, CONTEXT),
			    "head %u of the header queue, which is its tail, without a request for "
			    "an interrupt",
			    ipath->header_head);
	if (kept > 1) /* EgrIndexHead is that of the last packet */
		guest_error(ipath->hca, RULE_eager_kept, guest_object(GUEST_CONTEXT, CONTEXT),
			    "the header queue is empty, the next eager buffer is %u, and "
			    "EgrIndexHead is %u",
			    ipath->eager_tail, ipath->eager_head);
}

static void header_head_write(struct ipath *ipath, uint64_t value)
{
	const uint32_t head = (uint32_t)value, size = queue_dwords(ipath);
	const uint32_t used = size ? (ipath->header_tail + size - ipath->header_head) % size : 0;
	const uint32_t freed = size ? (head + size - ipath->header_head) % size : 0;

	if (head && (head >= size || head % entry_dwords(ipath) || freed > used)) {
		guest_error(ipath->hca, RULE_header_queue_head,
			    guest_object(GUEST_CONTEXT, CONTEXT),
			    "head %u of the header queue: it was %u, the tail is %u of %u", head,
			    ipath->header_head, ipath->header_tail, size);
		return;
	}
	ipath->header_head = head;
	ipath->interrupt_armed = value & IPATH_HEAD_INTERRUPT;
	ipath->armed_since_status |= ipath->interrupt_armed;
	/* what came while the driver was at it */
	if (head != ipath->header_tail)
		received_tell(ipath);
	else if (ipath_get(ipath, IPATH_RcvCtrl) & IPATH_RCV_ENABLE(CONTEXT))
		emptied_check(ipath, ipath->interrupt_armed);
}

/* The index of the last packet whose payload software is done with; that of the next one while there is none. */
static bool eager_head_is_right(const struct ipath *ipath, uint64_t value)
{
	const uint32_t used = (ipath->eager_tail + IPATH_EAGERS - ipath->eager_head) % IPATH_EAGERS;

	return value < IPATH_EAGERS &&
	       ((uint32_t)value + IPATH_EAGERS - ipath->eager_head) % IPATH_EAGERS <= used;
}

void ipath_user_write(struct ipath *ipath, enum ipath_user name, uint64_t value)
{
	if (name == IPATH_USER_HDR_HEAD)
		header_head_write(ipath, value);
	else if (name == IPATH_USER_EGR_HEAD && eager_head_is_right(ipath, value))
		ipath->eager_head = (uint32_t)value;
	else
		guest_error(ipath->hca, RULE_header_queue_head,
			    guest_object(GUEST_CONTEXT, CONTEXT),
			    "%llu written to index %u of context %u, whose next eager buffer is %u",
			    (unsigned long long)value, name, CONTEXT, ipath->eager_tail);
}

/* --- eager buffers --- */

static uint32_t eager_bytes(uint32_t entry)
{
	const uint32_t size = entry >> IPATH_EAGER_SIZE_SHIFT;

	return size && size <= IPATH_EAGER_SIZE_MAX ? (uint32_t)IPATH_EAGER_BYTES << (size - 1) : 0;
}

void ipath_eager_write(struct ipath *ipath, uint32_t index, uint32_t value)
{
	if (value && !eager_bytes(value))
		guest_error(ipath->hca, RULE_eager_entry, guest_object(GUEST_EAGER, index),
			    "eager entry %u is written with %x, which has no size", index, value);
	ipath->eager[index] = value;
}

/* --- a packet --- */

static void overflow(struct ipath *ipath, struct packet *pkt, uint64_t error, const char *why)
{
	ipath->counts[IPATH_COUNT_RxHdrEgrOvflCnt0]++;
	ipath->hca->stats.ipath_overflows++;
	packet_drop(ipath->hca, pkt, why);
	ipath_error(ipath, error);
}

static void refuse(struct ipath *ipath, struct packet *pkt, enum ipath_counter counter,
		   const char *why)
{
	ipath->counts[counter]++;
	packet_drop(ipath->hca, pkt, why);
}

static void landed(struct dma *dma)
{
	struct packet *pkt = container_of(dma, struct packet, dma);

	pkt->hca->ipath->landing--;
	packet_free(pkt);
}

/* The entry of the packet, then the tail. DMA writes land in this order. */
static void entry_write(struct ipath *ipath, const struct packet *pkt, uint32_t headers,
			uint32_t flags)
{
	struct hca *hca = ipath->hca;
	const uint64_t to = ipath_get(ipath, IPATH_RcvHdrAddr) + ipath->header_tail * DWORD;
	const struct lrh *lrh = (const struct lrh *)pkt->wire;
	uint8_t entry[ENTRY_MAX];
	uint32_t len = IPATH_RHF_BYTES + headers;

	ipath_store(entry, DWORD,
		    (uint32_t)lrh_get_pkt_len(lrh) | IPATH_RHF_PLAIN << IPATH_RHF_TYPE_SHIFT |
			    ipath->eager_tail << IPATH_RHF_EAGER_SHIFT);
	ipath_store(entry + DWORD, DWORD, flags);
	memcpy(entry + IPATH_RHF_BYTES, pkt->wire, headers);
	for (uint32_t at = 0; at < len; at += LINE)
		pcie_write_small(hca, to + at, entry + at, len - at < LINE ? len - at : LINE,
				 "packet header", pkt->qpn, NULL, NULL);
	HCA_TRACE(hca, TP_IPATH_RECEIVE, .port = pkt->port, .qpn = pkt->qpn, .corr = pkt->psn,
		  .args = {ipath->header_tail, ipath->eager_tail, pkt->payload_len, flags});
	ipath->header_tail = (ipath->header_tail + entry_dwords(ipath)) % queue_dwords(ipath);
}

static void tail_write(struct ipath *ipath)
{
	uint8_t tail[DWORD];

	ipath_store(tail, DWORD, ipath->header_tail);
	if (ipath_get(ipath, IPATH_RcvCtrl) & IPATH_RCV_TAIL)
		pcie_write_small(ipath->hca, ipath_get(ipath, IPATH_RcvHdrTailAddr), tail,
				 sizeof(tail), "header queue tail", 0, NULL, NULL);
	received_tell(ipath);
}

static bool headers_full(const struct ipath *ipath)
{
	return (ipath->header_tail + entry_dwords(ipath)) % queue_dwords(ipath) ==
	       ipath->header_head;
}

/* The payload, with its pad, to the next eager buffer. False: the packet is gone. */
static bool payload_write(struct ipath *ipath, struct packet *pkt, uint32_t bytes)
{
	const uint32_t entry = ipath->eager[ipath->eager_tail];
	struct dma *dma = &pkt->dma;

	if ((ipath->eager_tail + 1) % IPATH_EAGERS == ipath->eager_head) {
		ipath->counts[IPATH_COUNT_RxTIDFullErrCnt]++;
		overflow(ipath, pkt, IPATH_ERR_EAGER_FULL, "no eager buffer");
		return false;
	}
	if (eager_bytes(entry) && bytes > eager_bytes(entry)) {
		/* the sender's fault, and none of the driver */
		refuse(ipath, pkt, IPATH_COUNT_RxMaxMinLenErrCnt, "longer than an eager buffer");
		return false;
	}
	if (!eager_bytes(entry)) {
		guest_error(ipath->hca, RULE_eager_entry,
			    guest_object(GUEST_EAGER, ipath->eager_tail),
			    "a packet of %u bytes came for eager entry %u, which is not set", bytes,
			    ipath->eager_tail);
		refuse(ipath, pkt, IPATH_COUNT_RxTIDValidErrCnt, "no valid eager buffer");
		ipath_error(ipath, IPATH_ERR_BAD_TID);
		return false;
	}
	dma->hca = ipath->hca;
	dma->done = landed;
	dma->buf = pkt->wire + pkt->payload_off;
	dma->one = (struct dma_frag){(uint64_t)(entry & IPATH_EAGER_ADDRESS) << IPATH_EAGER_SHIFT,
				     bytes};
	dma->frags = &dma->one;
	dma->n_frags = 1;
	dma->len = bytes;
	dma->what = "payload";
	dma->qpn = pkt->qpn;
	dma->corr = DMA_CORR_PSN | pkt->psn;
	pcie_write(ipath->hca, dma,
		   hca_now(ipath->hca) + param_packet_rx_latency(ipath->hca->params) +
			   pkt->len * param_packet_store(ipath->hca->params));
	return true;
}

/* A packet of the vendor's own protocol: no process here speaks it. */
static bool is_vendors(const struct ipath *ipath, const struct packet *pkt)
{
	return ipath_get(ipath, IPATH_RcvBTHQP) &&
	       pkt->qpn == (ipath_get(ipath, IPATH_RcvBTHQP) & QPN_MULTICAST);
}

static void deliver(struct ipath *ipath, struct packet *pkt)
{
	const uint32_t headers = pkt->payload_off;
	const uint32_t bytes = pkt->len - headers - (uint32_t)CRC_BYTES;
	const bool has_payload = bytes > 0;

	if (headers_full(ipath)) {
		overflow(ipath, pkt, IPATH_ERR_HEADERS_FULL, "the header queue is full");
		return;
	}
	if (has_payload && !payload_write(ipath, pkt, bytes))
		return;
	ipath->hca->stats.ipath_received++;
	entry_write(ipath, pkt, headers, 0);
	if (has_payload) {
		ipath->eager_tail = (ipath->eager_tail + 1) % IPATH_EAGERS;
		ipath->landing++;
	} else {
		packet_free(pkt);
	}
	tail_write(ipath);
}

/* Packets that the driver can make nothing of; a packet of an unknown opcode is not one of them. */
static bool has_headers(struct packet *pkt, const struct ipath *ipath)
{
	if (!pkt->payload_off && pkt->bth_off)
		pkt->payload_off = (uint16_t)(pkt->bth_off + BTH_BYTES);
	return pkt->payload_off && pkt->payload_off + CRC_BYTES <= pkt->len &&
	       pkt->payload_off + (unsigned)IPATH_RHF_BYTES <= entry_dwords(ipath) * DWORD;
}

void ipath_receive(struct hca *hca, struct packet *pkt)
{
	struct ipath *ipath = hca->ipath;
	const char *why = NULL;
	int err;

	if (!takes_packets(ipath) || !queue_is_set(ipath)) {
		refuse(ipath, pkt, IPATH_COUNT_RxDroppedPktCnt, "no context takes packets");
		return;
	}
	err = packet_parse(hca, pkt, &why);
	if (err == -EBADMSG)
		refuse(ipath, pkt, IPATH_COUNT_RxLenErrCnt, why);
	else if (!has_headers(pkt, ipath))
		refuse(ipath, pkt, IPATH_COUNT_RxBadFormatCnt, why);
	else if (is_vendors(ipath, pkt))
		refuse(ipath, pkt, IPATH_COUNT_RxDroppedPktCnt, "for the vendor's own protocol");
	else
		deliver(ipath, pkt);
}

void ipath_receive_bad(struct hca *hca, struct packet *pkt, unsigned bad)
{
	struct ipath *ipath = hca->ipath;
	const bool vcrc = bad & CRC_BAD_VCRC;

	ipath->counts[vcrc ? IPATH_COUNT_RxVCRCErrCnt : IPATH_COUNT_RxICRCErrCnt]++;
	if (takes_packets(ipath) && queue_is_set(ipath) && !headers_full(ipath) &&
	    pkt->len >= LRH_BYTES + BTH_BYTES + (int)CRC_BYTES) {
		entry_write(ipath, pkt, LRH_BYTES + BTH_BYTES,
			    vcrc ? (uint32_t)IPATH_RHF_VCRC : IPATH_RHF_ICRC);
		tail_write(ipath);
	}
	packet_drop(hca, pkt, vcrc ? "vcrc" : "icrc");
	ipath_error(ipath, vcrc ? IPATH_ERR_VCRC : IPATH_ERR_ICRC);
}
