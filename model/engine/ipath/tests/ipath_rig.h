/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices of the personality ipath on one cable, each with host memory and a driver that does
 * what ib_qib does, in its order: brings the chip up, reads the EEPROM, commands the link, sends
 * packets by its send buffers and takes them from its header queue. Include it once, in the file of
 * the test.
 */
#ifndef MODEL_ENGINE_IPATH_RIG_H
#define MODEL_ENGINE_IPATH_RIG_H

#include "model/engine/hca.h"
#include "model/interface/ipath.h"
#include "model/interface/rows.h"
#include "model/interface/rules.h"
#include "model/interface/wire.h"
#include "model/sim/fault.h"
#include "model/sim/params.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	/* host memory of a device, from bus address BUS on */
	BUS = 0x1000000,
	AVAIL = BUS,
	TAIL = BUS + 0x1000,
	QUEUE = BUS + 0x2000,
	BUFFERS = BUS + 0x60000,
	BUFFER_BYTES = 4096,
	MEMORY = 0x60000 + IPATH_EAGERS * BUFFER_BYTES,

	COMMAND = 4, /* of configuration space */
	MEMORY_AND_MASTER = 6,
	MSIX_CONTROL = 0x9e,
	MSIX_ON = 0x8000,
	ENTRY_DWORDS = 32,
	QUEUE_ENTRIES = IPATH_EAGERS,
	MAX_DWORDS = (2048 + 128) / 4,
	EAGER_2K = 1,
	EAGER_4K = 2,
};

struct side {
	struct hca *hca;
	struct hca_params params;
	uint8_t memory[MEMORY];
	unsigned interrupts, errors;
	char rule[64];
	uint32_t head; /* of the header queue, as the driver has it */
	uint64_t control, send_ctrl;
	unsigned next_buffer;
};

static struct rig {
	struct event_core core;
	struct host_params host;
	struct fault_plan plan;
	struct side a, b;
} rig;

static uint8_t *at(struct side *s, uint64_t bus)
{
	return s->memory + (bus - BUS);
}

static int rig_read(void *ctx, uint64_t bus, void *buf, size_t len)
{
	if (bus < BUS || bus + len > BUS + MEMORY)
		return -EFAULT;
	memcpy(buf, at(ctx, bus), len);
	return 0;
}

static int rig_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	if (bus < BUS || bus + len > BUS + MEMORY)
		return -EFAULT;
	memcpy(at(ctx, bus), buf, len);
	return 0;
}

static void rig_irq(void *ctx, unsigned vector, uint64_t address, uint32_t data)
{
	struct side *s = ctx;

	assert_int_equal(vector, 0);
	s->interrupts++;
}

static void rig_error(void *ctx, const struct guest_error *error)
{
	struct side *s = ctx;

	s->errors++;
	strncpy(s->rule, error->name, sizeof(s->rule) - 1);
}

static inline void run(uint64_t ps)
{
	event_core_run_until(&rig.core, rig.core.now_ps + ps);
}

/* --- registers --- */

static inline void wr_size(struct side *s, uint64_t offset, uint64_t value, unsigned size)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	hca_mmio_write_now(s->hca, 0, offset, bytes, size);
}

static inline void wr(struct side *s, uint64_t offset, uint64_t value)
{
	wr_size(s, offset, value, 8);
}

static inline uint64_t rd(struct side *s, uint64_t offset)
{
	uint8_t bytes[8];
	uint64_t value = 0;

	hca_mmio_read_now(s->hca, 0, offset, bytes, 8);
	for (unsigned i = 0; i < 8; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

static inline uint64_t user(enum ipath_user name)
{
	return IPATH_USER + name * 8u;
}

static inline uint32_t mem32(struct side *s, uint64_t bus)
{
	uint32_t value;

	memcpy(&value, at(s, bus), 4);
	return value;
}

/* --- the EEPROM: one of the two lines is let go, or held low --- */

static inline unsigned lines(struct side *s, bool scl, bool sda)
{
	wr(s, IPATH_EXTCtrl,
	   (uint64_t)((scl ? 0 : IPATH_SCL) | (sda ? 0 : IPATH_SDA)) << IPATH_GPIO_SHIFT);
	wr(s, IPATH_GPIOOut, 0);
	return rd(s, IPATH_EXTStatus) >> IPATH_GPIO_SHIFT;
}

static inline void i2c_start(struct side *s)
{
	lines(s, true, true);
	lines(s, true, false);
	lines(s, false, false);
}

static inline void i2c_stop(struct side *s)
{
	lines(s, false, false);
	lines(s, true, false);
	lines(s, true, true);
}

static inline bool i2c_give(struct side *s, uint8_t byte)
{
	bool acknowledged;

	for (int bit = 7; bit >= 0; bit--) {
		lines(s, false, byte >> bit & 1);
		lines(s, true, byte >> bit & 1);
		lines(s, false, byte >> bit & 1);
	}
	lines(s, false, true);
	acknowledged = !(lines(s, true, true) & IPATH_SDA);
	lines(s, false, true);
	return acknowledged;
}

static inline uint8_t i2c_take(struct side *s, bool last)
{
	uint8_t byte = 0;

	for (unsigned bit = 0; bit < 8; bit++) {
		byte = (uint8_t)(byte << 1 | !!(lines(s, true, true) & IPATH_SDA));
		lines(s, false, true);
	}
	if (last) {
		lines(s, true, true);
		i2c_stop(s);
	} else {
		lines(s, false, false);
		lines(s, true, false);
		lines(s, false, false);
		lines(s, false, true);
	}
	return byte;
}

static inline void eeprom_read(struct side *s, uint8_t from, uint8_t *to, unsigned count)
{
	i2c_start(s);
	assert_true(i2c_give(s, (uint8_t)(from << 1 | 1)));
	while (count--)
		*to++ = i2c_take(s, !count);
}

/* --- bring-up --- */

static inline void side_create(struct side *s, unsigned index)
{
	const struct hca_env env = {.ctx = s,
				    .dma_read = rig_read,
				    .dma_write = rig_write,
				    .irq_raise = rig_irq,
				    .guest_error = rig_error};
	char err[256] = "";

	s->params = (struct hca_params){
#define P(section, key, unit, def, ...) .section##_##key = (def),
		HCA_PARAMS(P)
#undef P
	};
	s->params.hca_personality = CFG_PERSONALITY_ipath;
	s->hca = hca_create(index, &s->params, &rig.host, &rig.core, &env, NULL, NULL, err,
			    sizeof(err));
	assert_string_equal(err, "");
	hca_config_write(s->hca, COMMAND, 2, MEMORY_AND_MASTER);
}

static inline void message_open(struct side *s)
{
	wr_size(s, IPATH_MSIX_TABLE, 0xfee00000, 4);
	wr_size(s, IPATH_MSIX_TABLE + 8, 0x41, 4);
	wr_size(s, IPATH_MSIX_TABLE + 12, 0, 4);
	hca_config_write(s->hca, MSIX_CONTROL, 2, MSIX_ON);
}

static inline void send_ctrl(struct side *s, uint64_t bits)
{
	wr(s, IPATH_SendCtrl, s->send_ctrl | bits);
	wr(s, IPATH_Scratch, 0);
}

static inline void link_command(struct side *s, unsigned command, unsigned init)
{
	wr(s, IPATH_IBCCtrl,
	   (uint64_t)MAX_DWORDS << IPATH_MAX_SHIFT | (uint64_t)command << IPATH_COMMAND_SHIFT |
		   (uint64_t)init << IPATH_INIT_SHIFT);
	wr(s, IPATH_Scratch, 0);
}

/* As qib_init_one() does, in its order. */
static inline void bring_up(struct side *s)
{
	assert_int_equal(rd(s, IPATH_Revision), IPATH_REVISION);
	message_open(s);
	wr(s, IPATH_HwDiagCtrl, 0);
	assert_true(rd(s, IPATH_EXTStatus) & IPATH_EXT_MEMORY_TESTED);
	wr(s, IPATH_HwErrClear, ~UINT64_C(0));
	wr(s, IPATH_HwErrMask, ~UINT64_C(0));
	wr(s, IPATH_ErrClear, ~UINT64_C(0));
	wr(s, IPATH_ErrMask, ~UINT64_C(0));
	wr(s, IPATH_IntClear, ~UINT64_C(0));
	wr(s, IPATH_RcvBTHQP, 0x656b78);
	wr(s, IPATH_RcvHdrEntSize, ENTRY_DWORDS);
	wr(s, IPATH_RcvHdrSize, 9);
	wr(s, IPATH_RcvHdrCnt, QUEUE_ENTRIES);
	wr(s, IPATH_SendPIOAvailAddr, AVAIL);
	assert_int_equal(rd(s, IPATH_SendPIOAvailAddr), AVAIL);
	for (unsigned i = 0; i < IPATH_EAGERS; i++)
		wr_size(s, IPATH_EAGER + i * 8,
			(BUFFERS + i * BUFFER_BYTES) >> IPATH_EAGER_SHIFT |
				(uint32_t)EAGER_4K << IPATH_EAGER_SIZE_SHIFT,
			4);
	wr(s, IPATH_Control, 0);
	link_command(s, 0, IPATH_INIT_DISABLE);
	wr(s, IPATH_SerdesCfg0, rd(s, IPATH_SerdesCfg0) | 0x1000);
	wr(s, IPATH_Control, IPATH_CONTROL_LINK);
	s->send_ctrl = IPATH_SEND_ENABLE | IPATH_SEND_AVAIL;
	send_ctrl(s, 0);
	wr(s, IPATH_RcvHdrTailAddr, TAIL);
	wr(s, IPATH_RcvHdrAddr, QUEUE);
	wr(s, IPATH_RcvCtrl, IPATH_RCV_ENABLE(0) | IPATH_RCV_INTERRUPT(0) | IPATH_RCV_TAIL);
	wr(s, user(IPATH_USER_EGR_HEAD), rd(s, user(IPATH_USER_EGR_TAIL)));
	wr(s, user(IPATH_USER_HDR_HEAD), rd(s, user(IPATH_USER_HDR_TAIL)) | IPATH_HEAD_INTERRUPT);
	for (unsigned i = 0; i < IPATH_BUFFERS; i++)
		wr(s, IPATH_SendCtrl, IPATH_SEND_DISARM | (uint64_t)i << IPATH_SEND_BUFFER_SHIFT);
	send_ctrl(s, IPATH_SEND_ABORT);
	wr(s, IPATH_IntMask, ~UINT64_C(0));
	wr(s, IPATH_IntClear, 0);
	run(CFG_US(10));
	assert_int_not_equal(s->interrupts, 0); /* else the driver calls the card unusable */
}

/* Handles the interrupts that wait, as qib_6120intr() does; the causes that it found. */
static inline uint64_t interrupt_handle(struct side *s)
{
	const uint64_t causes = rd(s, IPATH_IntStatus);

	if (causes & IPATH_INT_ERROR) {
		const uint64_t errors = rd(s, IPATH_ErrStatus);

		wr(s, IPATH_ErrClear, errors);
		if (errors & IPATH_ERR_LINK_STATE)
			rd(s, IPATH_IBCStatus);
	}
	wr(s, IPATH_IntClear, causes);
	return causes;
}

static inline unsigned link_state(struct side *s)
{
	return rd(s, IPATH_IBCStatus) >> IPATH_STATUS_STATE_SHIFT & 7;
}

/* Both ports from Initialize to Active, as a subnet manager has it done. */
static inline void link_up(void)
{
	struct side *sides[] = {&rig.a, &rig.b};

	run(CFG_MS(5));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(link_state(sides[i]), 1);
		link_command(sides[i], IPATH_COMMAND_ARMED, 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		link_command(sides[i], IPATH_COMMAND_ACTIVE, 0);
		interrupt_handle(sides[i]);
		assert_int_equal(link_state(sides[i]), 3);
	}
}

/* --- packets --- */

/* A UD SEND of `payload` bytes, a multiple of 4, from LRH to payload; its length. */
static inline uint32_t datagram(uint8_t *to, uint32_t payload, uint32_t psn)
{
	const uint32_t headers = LRH_BYTES + BTH_BYTES + 8;
	struct lrh *lrh = (struct lrh *)to;
	struct bth *bth = (struct bth *)(to + LRH_BYTES);

	memset(to, 0, headers);
	lrh_set_lnh(lrh, LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, 2);
	lrh_set_slid(lrh, 1);
	lrh_set_pkt_len(lrh, (headers + payload + ICRC_BYTES) / 4);
	bth_set_opcode(bth, BTH_UD_SEND_ONLY);
	bth_set_pkey(bth, PKEY_DEFAULT);
	bth_set_dqpn(bth, 0x123);
	bth_set_psn(bth, psn);
	for (uint32_t i = 0; i < payload; i++)
		to[headers + i] = (uint8_t)(i * 7 + psn);
	return headers + payload;
}

static inline uint64_t buffer_at(unsigned n)
{
	return n < IPATH_SMALL_BUFFERS ? IPATH_SEND + n * (uint64_t)IPATH_SMALL_STRIDE
				       : IPATH_SEND_LARGE + (n - IPATH_SMALL_BUFFERS) *
								    (uint64_t)IPATH_LARGE_STRIDE;
}

/* Writes a packet into a send buffer as qib_pio_copy() does: quadwords, then a last dword. */
static inline void buffer_fill(struct side *s, unsigned n, const uint8_t *packet, uint32_t len)
{
	const uint64_t to = buffer_at(n);
	uint32_t i;

	wr(s, to, len / 4 + 1);
	for (i = 0; i + 8 <= len; i += 8)
		hca_mmio_write_now(s->hca, 0, to + IPATH_PBC_BYTES + i, packet + i, 8);
	if (i < len)
		hca_mmio_write_now(s->hca, 0, to + IPATH_PBC_BYTES + i, packet + i, 4);
}

/* The two bits of a send buffer in host memory: generation, and in use. */
static inline unsigned buffer_bits(struct side *s, unsigned n)
{
	return at(s, AVAIL)[n / 4] >> (n % 4 * 2) & 3;
}

static inline int rig_start(void **state)
{
	memset(&rig, 0, sizeof(rig));
	event_core_init(&rig.core);
	fault_plan_init(&rig.plan, 1);
	side_create(&rig.a, 0);
	side_create(&rig.b, 1);
	hca_link(rig.a.hca, 1, rig.b.hca, 1, &rig.plan);
	return 0;
}

static inline int rig_finish(void **state)
{
	hca_destroy(rig.a.hca);
	hca_destroy(rig.b.hca);
	assert_int_equal(rig.core.count, 0);
	event_core_free(&rig.core);
	fault_plan_free(&rig.plan);
	return 0;
}

static inline int rig_start_up(void **state)
{
	rig_start(state);
	bring_up(&rig.a);
	bring_up(&rig.b);
	link_up();
	rig.a.interrupts = rig.b.interrupts = 0;
	return 0;
}

#endif
