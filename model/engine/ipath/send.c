/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Send buffers, see ipath.h. The driver writes how long the packet is, then the packet from the LRH
 * to the pad, in rising order; the chip sends it when that many bytes are there, and appends ICRC
 * and VCRC. Two bits of host memory say of each buffer whether the driver has begun to use it once
 * more (generation) and whether it is in use.
 *
 * Assumptions: packets leave in the order in which they became complete; those on VL 15 pass others that
 * wait for the port. A packet that the port's state does not let out is dropped, and its buffer is
 * free again.
 */
#include "model/engine/host/pcie.h"
#include "model/engine/ipath/ipath.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_link.h"
#include "model/sim/units.h"

#include <string.h>

/* Linux turns the report off with one write of SendCtrl and on with the next (sendctrl_6120_mod), and its other
 * processors send meanwhile. Assumption: nothing keeps a guest's processor for a second between the two. */
#define UNREPORTED_PS CFG_S(1)

enum {
	PORT = 1,
	DATA_VL = 0, /* the port has no other, but for VL 15 */
	STATE_INIT = 2,
	STATE_ACTIVE = 4,
	PACKET_MIN = LRH_BYTES + BTH_BYTES, /* a packet that has no more than these */
	BITS = 2,                           /* of a buffer, in host memory */
	WORD_BUFFERS = 64 / BITS,
	WORDS = (IPATH_BUFFERS + WORD_BUFFERS - 1) / WORD_BUFFERS,
};

static unsigned number_of(const struct send_buffer *b)
{
	return (unsigned)(b - b->ipath->buffers);
}

static uint32_t room_of(const struct send_buffer *b)
{
	return number_of(b) < IPATH_SMALL_BUFFERS ? IPATH_SMALL_BYTES : IPATH_LARGE_BYTES;
}

/* --- which are free --- */

/* Generation in the even bit, in use in the odd one: update_send_bufs() in qib_tx.c. */
static void words_write(struct ipath *ipath)
{
	uint8_t bytes[WORDS * 8] = {0};

	if (!(ipath_get(ipath, IPATH_SendCtrl) & IPATH_SEND_AVAIL))
		return;
	ipath->unreported_ps = 0;
	for (unsigned i = 0; i < IPATH_BUFFERS; i++) {
		const struct send_buffer *b = &ipath->buffers[i];
		const unsigned at = i * BITS;

		bytes[at / 8] |=
			(uint8_t)((b->generation | (b->state != SEND_FREE) << 1) << at % 8);
	}
	pcie_write_small(ipath->hca, ipath_get(ipath, IPATH_SendPIOAvailAddr), bytes, sizeof(bytes),
			 "free send buffers", 0, NULL, NULL);
}

static void buffer_free(struct send_buffer *b)
{
	struct ipath *ipath = b->ipath;
	const unsigned n = number_of(b);

	b->state = SEND_FREE;
	*ipath_register(ipath, IPATH_SendBufErr, n / 64) &= ~IPATH_BIT(n % 64);
	words_write(ipath);
	if (ipath_get(ipath, IPATH_SendCtrl) & IPATH_SEND_INTERRUPT)
		ipath_interrupt(ipath, IPATH_INT_SEND_FREE);
}

static void buffer_left(struct event *ev)
{
	struct send_buffer *b = container_of(ev, struct send_buffer, left);

	if (!b->ipath->unreported_ps)
		b->ipath->unreported_ps = hca_now(b->ipath->hca);
	buffer_free(b);
}

static void buffer_wrong(struct send_buffer *b, uint64_t error)
{
	const unsigned n = number_of(b);

	b->state = SEND_WRONG;
	*ipath_register(b->ipath, IPATH_SendBufErr, n / 64) |= IPATH_BIT(n % 64);
	ipath_error(b->ipath, error);
}

/* --- the packet leaves --- */

static struct packet *packet_of(struct ipath *ipath, const struct send_buffer *b)
{
	struct packet *pkt = packet_alloc(ipath->hca);
	const struct lrh *lrh;
	const struct bth *bth;

	memcpy(pkt->buf, b->bytes, b->length);
	pkt->wire = pkt->buf;
	pkt->len = (uint16_t)(b->length + CRC_BYTES);
	lrh = (const struct lrh *)pkt->wire;
	pkt->port = PORT;
	pkt->vl = (uint8_t)lrh_get_vl(lrh);
	pkt->cable_only = true;
	pkt->bth_off = (uint16_t)(LRH_BYTES + (lrh_get_lnh(lrh) == LNH_IBA_GLOBAL ? GRH_BYTES : 0));
	bth = (const struct bth *)(pkt->wire + pkt->bth_off);
	pkt->op = bth_op_find((uint8_t)bth_get_opcode(bth));
	pkt->psn = bth_get_psn(bth);
	pkt->qpn = bth_get_dqpn(bth);
	packet_seal(ipath->hca, pkt);
	return pkt;
}

/* The port's state does not let it out. */
static bool dropped(struct ipath *ipath, const struct packet *pkt)
{
	const unsigned state = link_port_config(ipath->hca, PORT)->logical;
	const bool management = pkt->vl == VL_MANAGEMENT;

	if (state >= (management ? STATE_INIT : STATE_ACTIVE))
		return false;
	ipath->counts[IPATH_COUNT_TxDroppedPktCnt]++;
	ipath_error(ipath, management ? IPATH_ERR_SEND_SMP : IPATH_ERR_SEND_DATA);
	return true;
}

static void buffer_send(struct ipath *ipath, struct send_buffer *b)
{
	struct packet *pkt = packet_of(ipath, b);
	uint64_t left_ps = hca_now(ipath->hca);

	HCA_TRACE(ipath->hca, TP_IPATH_SEND, .qpn = pkt->qpn, .corr = pkt->psn,
		  .args = {number_of(b), b->length});
	if (dropped(ipath, pkt)) {
		packet_free(pkt);
	} else {
		ipath->hca->stats.ipath_sent++;
		left_ps = link_port_send(ipath->hca, pkt);
	}
	b->state = SEND_LEAVING;
	event_set(ipath->hca->core, &b->left, left_ps);
}

static bool sends(const struct ipath *ipath)
{
	return ipath_get(ipath, IPATH_SendCtrl) & IPATH_SEND_ENABLE &&
	       !(ipath_get(ipath, IPATH_Control) & IPATH_CONTROL_FREEZE);
}

/* When the port takes data again; 0: now. */
static uint64_t data_waits_ps(struct ipath *ipath)
{
	const uint64_t backlog = link_port_backlog_ps(ipath->hca, PORT, DATA_VL);

	return backlog > param_link_tx_window(ipath->hca->params) ? backlog : 0;
}

void ipath_send_go_on(struct ipath *ipath)
{
	struct hca *hca = ipath->hca;

	for (unsigned q = SEND_QUEUES; q-- > 0;) {
		struct send_queue *waiting = &ipath->waiting[q];

		while (waiting->first && sends(ipath)) {
			struct send_buffer *b = waiting->first;
			const uint64_t wait_ps = q == SEND_DATA ? data_waits_ps(ipath) : 0;

			if (wait_ps) {
				event_set(hca->core, &ipath->send_turn, hca_now(hca) + wait_ps);
				return;
			}
			waiting->first = b->next;
			buffer_send(ipath, b);
		}
	}
}

static void send_turn(struct event *ev)
{
	ipath_send_go_on(container_of(ev, struct ipath, send_turn));
}

/* --- the driver writes --- */

static void begin(struct send_buffer *b, uint64_t pbc)
{
	const uint32_t dwords = pbc & IPATH_PBC_LENGTH;

	if (dwords && b->ipath->unreported_ps &&
	    hca_now(b->ipath->hca) - b->ipath->unreported_ps > UNREPORTED_PS)
		guest_error(b->ipath->hca, RULE_send_ctrl_dropped,
			    guest_object(GUEST_SEND_BUFFER, number_of(b)),
			    "send buffer %u is used, and SendCtrl does not let the chip report "
			    "those that have left",
			    number_of(b));
	b->generation = !b->generation;
	b->length = dwords ? (dwords - 1) * 4 : 0;
	b->filled = 0;
	b->state = SEND_FILLING;
	if (!dwords) { /* the driver measures how fast it can write: qib_verify_pioperf() */
		b->state = SEND_TRIAL;
		words_write(b->ipath);
		return;
	}
	if (b->length >= PACKET_MIN && b->length <= room_of(b) - IPATH_PBC_BYTES) {
		words_write(b->ipath);
		return;
	}
	guest_error(b->ipath->hca, RULE_send_buffer_length,
		    guest_object(GUEST_SEND_BUFFER, number_of(b)),
		    "send buffer %u of %u bytes is told that its packet has %u", number_of(b),
		    room_of(b), b->length);
	b->ipath->counts[IPATH_COUNT_TxMaxMinLenErrCnt]++;
	buffer_wrong(b, b->length < PACKET_MIN ? IPATH_ERR_SEND_MIN : IPATH_ERR_SEND_MAX);
	words_write(b->ipath);
}

/* The packet is complete. False: it is not sent. */
static bool right(struct send_buffer *b)
{
	struct ipath *ipath = b->ipath;
	const struct lrh *lrh = (const struct lrh *)b->bytes;
	const uint32_t dwords = (b->length + ICRC_BYTES) / 4;
	const uint32_t max = ipath_get(ipath, IPATH_IBCCtrl) >> IPATH_MAX_SHIFT & IPATH_MAX_MASK;

	if (lrh_get_pkt_len(lrh) != dwords) {
		guest_error(
			ipath->hca, RULE_send_buffer_length,
			guest_object(GUEST_SEND_BUFFER, number_of(b)),
			"the packet in send buffer %u has %u dwords with its ICRC, its LRH says %u",
			number_of(b), dwords, (unsigned)lrh_get_pkt_len(lrh));
		ipath->counts[IPATH_COUNT_TxLenErrCnt]++;
		buffer_wrong(b, IPATH_ERR_SEND_LENGTH);
		return false;
	}
	if (lrh_get_lnh(lrh) == LNH_IBA_GLOBAL && b->length < PACKET_MIN + GRH_BYTES) {
		guest_error(ipath->hca, RULE_send_buffer_length,
			    guest_object(GUEST_SEND_BUFFER, number_of(b)),
			    "the packet in send buffer %u has %u bytes and a GRH", number_of(b),
			    b->length);
		ipath->counts[IPATH_COUNT_TxMaxMinLenErrCnt]++;
		buffer_wrong(b, IPATH_ERR_SEND_MIN);
		return false;
	}
	if (dwords > max) {
		guest_error(ipath->hca, RULE_send_buffer_length,
			    guest_object(GUEST_SEND_BUFFER, number_of(b)),
			    "the packet in send buffer %u has %u dwords with its ICRC, IBCCtrl "
			    "allows %u",
			    number_of(b), dwords, max);
		ipath->counts[IPATH_COUNT_TxMaxMinLenErrCnt]++;
		buffer_wrong(b, IPATH_ERR_SEND_MAX);
		return false;
	}
	if (lrh_get_vl(lrh) && lrh_get_vl(lrh) != VL_MANAGEMENT) {
		guest_error(ipath->hca, RULE_send_buffer_vl,
			    guest_object(GUEST_SEND_BUFFER, number_of(b)),
			    "the packet in send buffer %u is for VL %u, the port has VL 0 and 15",
			    number_of(b), (unsigned)lrh_get_vl(lrh));
		ipath->counts[IPATH_COUNT_TxUnsupVLErrCnt]++;
		buffer_wrong(b, IPATH_ERR_SEND_VL);
		return false;
	}
	return true;
}

static struct send_queue *queue_of(const struct send_buffer *b)
{
	const bool management = lrh_get_vl((const struct lrh *)b->bytes) == VL_MANAGEMENT;

	return &b->ipath->waiting[management ? SEND_MANAGEMENT : SEND_DATA];
}

static void complete(struct send_buffer *b)
{
	struct send_queue *waiting = queue_of(b);

	if (!right(b))
		return;
	b->state = SEND_WAITING;
	b->next = NULL;
	if (waiting->first)
		waiting->last->next = b;
	else
		waiting->first = b;
	waiting->last = b;
	if (waiting == &b->ipath->waiting[SEND_MANAGEMENT] || !event_is_set(&b->ipath->send_turn))
		ipath_send_go_on(b->ipath);
}

static void fill(struct send_buffer *b, uint32_t in, const void *bytes, unsigned size)
{
	if (in != IPATH_PBC_BYTES + b->filled || size > b->length - b->filled) {
		guest_error(b->ipath->hca, RULE_send_buffer_order,
			    guest_object(GUEST_SEND_BUFFER, number_of(b)),
			    "%u bytes at %u of send buffer %u, which has %u of the %u bytes of its "
			    "packet",
			    size, in, number_of(b), b->filled, b->length);
		buffer_wrong(b, IPATH_ERR_ARM_LAUNCH);
		return;
	}
	memcpy(b->bytes + b->filled, bytes, size);
	b->filled += size;
	if (b->filled == b->length)
		complete(b);
}

static void buffer_write(struct send_buffer *b, uint32_t in, const void *bytes, unsigned size)
{
	switch (b->state) {
	case SEND_FREE:
		if (in || size != IPATH_PBC_BYTES) {
			guest_error(
				b->ipath->hca, RULE_send_buffer_order,
				guest_object(GUEST_SEND_BUFFER, number_of(b)),
				"%u bytes at %u of send buffer %u before the length of its packet",
				size, in, number_of(b));
			return;
		}
		begin(b, ipath_load(bytes, size));
		return;
	case SEND_FILLING:
		fill(b, in, bytes, size);
		return;
	case SEND_WAITING:
	case SEND_LEAVING:
		guest_error(b->ipath->hca, RULE_send_buffer_busy,
			    guest_object(GUEST_SEND_BUFFER, number_of(b)),
			    "%u bytes at %u of send buffer %u, whose packet has not left", size, in,
			    number_of(b));
		return;
	case SEND_TRIAL:
	case SEND_WRONG:
		return; /* until it is disarmed */
	}
}

void ipath_send_write(struct ipath *ipath, uint64_t offset, const void *bytes, unsigned size)
{
	const bool large = offset >= IPATH_SEND_LARGE;
	const uint64_t from = offset - (large ? IPATH_SEND_LARGE : IPATH_SEND);
	const uint32_t stride = large ? IPATH_LARGE_STRIDE : IPATH_SMALL_STRIDE;
	const uint64_t n = from / stride + (large ? IPATH_SMALL_BUFFERS : 0);
	const uint32_t in = (uint32_t)(from % stride);

	if (n >= (large ? IPATH_BUFFERS : IPATH_SMALL_BUFFERS) ||
	    in + size > room_of(&ipath->buffers[n]))
		guest_error(ipath->hca, RULE_register_unknown, guest_object(GUEST_NONE, 0),
			    "write of %u bytes at bar0 %llx", size, (unsigned long long)offset);
	else
		buffer_write(&ipath->buffers[n], in, bytes, size);
}

/* --- control --- */

static void disarm(struct ipath *ipath, unsigned n)
{
	struct send_buffer *b = &ipath->buffers[n];

	if (n < IPATH_BUFFERS &&
	    (b->state == SEND_FILLING || b->state == SEND_TRIAL || b->state == SEND_WRONG))
		buffer_free(b);
}

/* What waits to be sent is given up. */
static void abort_waiting(struct ipath *ipath)
{
	for (unsigned q = 0; q < SEND_QUEUES; q++) {
		struct send_queue *waiting = &ipath->waiting[q];

		while (waiting->first) {
			struct send_buffer *b = waiting->first;

			waiting->first = b->next;
			buffer_free(b);
		}
	}
}

static bool any_free(const struct ipath *ipath)
{
	for (unsigned i = 0; i < IPATH_BUFFERS; i++)
		if (ipath->buffers[i].state == SEND_FREE)
			return true;
	return false;
}

/* The chip writes to that address at once. */
static void ctrl_check(struct ipath *ipath, uint64_t value)
{
	if (value & IPATH_SEND_AVAIL && !ipath_get(ipath, IPATH_SendPIOAvailAddr))
		guest_error(ipath->hca, RULE_chip_register_order, guest_object(GUEST_NONE, 0),
			    "SendCtrl lets the chip report free send buffers, and SendPIOAvailAddr "
			    "is not set");
}

void ipath_send_ctrl_write(struct ipath *ipath, uint64_t value)
{
	uint64_t *ctrl = ipath_register(ipath, IPATH_SendCtrl, 0);
	const uint64_t kept = IPATH_SEND_INTERRUPT | IPATH_SEND_AVAIL | IPATH_SEND_ENABLE;
	const uint64_t begun = value & ~*ctrl;

	ctrl_check(ipath, value);
	*ctrl = value & kept;
	if (value & IPATH_SEND_DISARM)
		disarm(ipath, value >> IPATH_SEND_BUFFER_SHIFT & IPATH_SEND_BUFFER_MASK);
	if (value & IPATH_SEND_ABORT)
		abort_waiting(ipath);
	if (begun & IPATH_SEND_AVAIL)
		words_write(ipath);
	if (begun & IPATH_SEND_INTERRUPT && any_free(ipath))
		ipath_interrupt(ipath, IPATH_INT_SEND_FREE);
	if (begun & IPATH_SEND_ENABLE)
		ipath_send_go_on(ipath);
}

void ipath_send_avail_write(struct ipath *ipath, uint64_t value)
{
	if (ipath_get(ipath, IPATH_SendCtrl) & IPATH_SEND_AVAIL &&
	    ipath_get(ipath, IPATH_SendPIOAvailAddr) != (value & ~(uint64_t)0x3f))
		guest_error(ipath->hca, RULE_chip_register_order, guest_object(GUEST_NONE, 0),
			    "SendPIOAvailAddr is changed while the chip reports free send buffers");
	*ipath_register(ipath, IPATH_SendPIOAvailAddr, 0) = value & ~(uint64_t)0x3f;
}

void ipath_send_create(struct ipath *ipath)
{
	ipath->send_turn.job = send_turn;
	for (unsigned i = 0; i < IPATH_BUFFERS; i++) {
		ipath->buffers[i].ipath = ipath;
		ipath->buffers[i].left.job = buffer_left;
	}
}

void ipath_send_reset(struct ipath *ipath)
{
	memset(ipath->waiting, 0, sizeof(ipath->waiting));
	ipath->unreported_ps = 0;
	event_cancel(ipath->hca->core, &ipath->send_turn);
	for (unsigned i = 0; i < IPATH_BUFFERS; i++) {
		event_cancel(ipath->hca->core, &ipath->buffers[i].left);
		ipath->buffers[i].state = SEND_FREE;
		ipath->buffers[i].generation = false;
	}
}

unsigned ipath_send_busy(const struct ipath *ipath)
{
	unsigned n = 0;

	for (unsigned i = 0; i < IPATH_BUFFERS; i++)
		n += ipath->buffers[i].state == SEND_WAITING ||
		     ipath->buffers[i].state == SEND_LEAVING;
	return n;
}
