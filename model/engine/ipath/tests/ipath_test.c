/* SPDX-License-Identifier: Apache-2.0 */
/* The chip as its driver drives it: bring-up, EEPROM, link commands, send buffers, header queue,
 * interrupts, counters, and the rules that a driver must keep. */
#include "model/engine/ipath/tests/ipath_rig.h"
#include "model/engine/base/engine.h"
#include "model/engine/wire/link_port.h"

static uint8_t packet[4224];

/* --- the function, the registers --- */

static void configuration_is_the_cards(void **state)
{
	assert_int_equal(hca_config_read(rig.a.hca, 0, 4), 0x00101fc1);
	assert_int_equal(hca_bar_bytes(rig.a.hca, 0), 4 << 20);
	assert_int_equal(hca_bar_bytes(rig.a.hca, 2), 0);
	assert_int_equal(hca_config_read(rig.a.hca, MSIX_CONTROL, 2) & 0x7ff, 0); /* one vector */
	assert_int_equal(hca_config_read(rig.a.hca, 0x72, 2) & 0xf, 1);           /* 2.5 GT/s */
}

static void registers_keep_or_refuse(void **state)
{
	wr(&rig.a, IPATH_SerdesCfg1, 0x123456789abcdef0);
	assert_int_equal(rd(&rig.a, IPATH_SerdesCfg1), 0x123456789abcdef0);
	assert_int_equal(rig.a.errors, 0);
	wr(&rig.a, IPATH_Revision, 0);
	assert_int_equal(rd(&rig.a, IPATH_Revision), IPATH_REVISION);
	assert_string_equal(rig.a.rule, "register_unknown");
	wr_size(&rig.a, IPATH_Scratch, 1, 4);
	assert_string_equal(rig.a.rule, "register_size");
	assert_int_equal(rd(&rig.a, 0x3f8), 0);
	assert_string_equal(rig.a.rule, "register_unknown");
	assert_int_equal(rig.a.errors, 3);
}

static void eeprom_is_read_by_its_lines(void **state)
{
	uint8_t b[IPATH_EEPROM_BYTES], sum = 0, one;

	eeprom_read(&rig.a, 0, b, sizeof(b));
	for (unsigned i = 0; i < b[IPATH_EEPROM_LENGTH]; i++)
		sum = (uint8_t)(sum + b[i]);
	sum = (uint8_t) ~(uint8_t)(sum - b[IPATH_EEPROM_CHECKSUM]);
	assert_int_equal(sum, b[IPATH_EEPROM_CHECKSUM]);
	assert_int_equal(be64_load(b + IPATH_EEPROM_GUID), 0x0002c90300a00000);
	assert_memory_equal(b + IPATH_EEPROM_COMMENT, "Tested successfully", 19);
	eeprom_read(&rig.b, IPATH_EEPROM_GUID + 7, &one, 1);
	assert_int_equal(one, 0x10);
}

static void eeprom_keeps_what_is_written(void **state)
{
	uint8_t b[4];

	i2c_start(&rig.a);
	assert_true(i2c_give(&rig.a, 0x28 << 1));
	for (uint8_t i = 1; i <= 4; i++)
		assert_true(i2c_give(&rig.a, i));
	i2c_stop(&rig.a);
	wr(&rig.a, IPATH_Control, IPATH_CONTROL_RESET);
	run(CFG_US(1));
	eeprom_read(&rig.a, 0x28, b, sizeof(b));
	assert_memory_equal(b, "\1\2\3\4", 4);
}

/* --- interrupts --- */

static void bring_up_interrupts(void **state)
{
	bring_up(&rig.a);
	assert_int_equal(rig.a.errors, 0);
	assert_true(interrupt_handle(&rig.a) & IPATH_INT_ERROR);
	assert_int_equal(rd(&rig.a, IPATH_IntStatus), 0);
}

static void what_is_pending_interrupts_again(void **state)
{
	bring_up(&rig.a);
	interrupt_handle(&rig.a);
	run(CFG_MS(5));
	rig.a.interrupts = 0;
	link_command(&rig.a, 0, IPATH_INIT_DISABLE); /* the state changes: an error bit */
	run(CFG_US(10));
	assert_int_equal(rig.a.interrupts, 1);
	wr(&rig.a, IPATH_IntClear, 0);
	run(CFG_US(10));
	assert_int_equal(rig.a.interrupts, 2);
	/* cleared without its error: it is still there */
	wr(&rig.a, IPATH_IntClear, IPATH_INT_ERROR);
	run(CFG_US(10));
	assert_int_equal(rig.a.interrupts, 3);
	interrupt_handle(&rig.a);
	run(CFG_US(10));
	assert_int_equal(rig.a.interrupts, 3);
	assert_true(rd(&rig.a, IPATH_COUNTERS) >= 3);
}

static void masked_causes_wait(void **state)
{
	bring_up(&rig.a);
	interrupt_handle(&rig.a);
	run(CFG_MS(5));
	wr(&rig.a, IPATH_IntMask, 0);
	rig.a.interrupts = 0;
	link_command(&rig.a, 0, IPATH_INIT_DISABLE);
	run(CFG_US(10));
	assert_int_equal(rig.a.interrupts, 0);
	wr(&rig.a, IPATH_IntMask, ~UINT64_C(0));
	run(CFG_US(10));
	assert_int_equal(rig.a.interrupts, 1);
}

/* --- the link --- */

static void link_commands(void **state)
{
	const uint64_t changes = IPATH_COUNTERS + 0x140, downs = IPATH_COUNTERS + 0x150;
	uint64_t count;

	bring_up(&rig.a);
	assert_int_equal(rd(&rig.a, IPATH_IBCStatus) & 0xf, IPATH_TRAINING_POLL);
	bring_up(&rig.b);
	link_up();
	assert_int_equal(rd(&rig.a, IPATH_IBCStatus) & 0xf, IPATH_TRAINING_UP);
	assert_int_equal(link_port_speed(rig.b.hca, 1) & 0xff, 1); /* SDR, whatever is configured */
	assert_int_equal(link_port_width(rig.b.hca, 1) & 0xff, 2); /* 4x */
	count = rd(&rig.a, changes);
	assert_int_equal(rd(&rig.a, downs), 0);
	link_command(&rig.a, IPATH_COMMAND_DOWN, 2);
	assert_int_equal(link_state(&rig.a), 0);
	assert_int_equal(rd(&rig.a, downs), 1);
	assert_true(rd(&rig.a, changes) > count);
	run(CFG_MS(5));
	assert_int_equal(link_state(&rig.a), 1); /* it polls, and comes up again */
	link_command(&rig.a, IPATH_COMMAND_DOWN, IPATH_INIT_DISABLE);
	run(CFG_MS(5));
	assert_int_equal(rd(&rig.a, IPATH_IBCStatus) & 0x7f, IPATH_TRAINING_DISABLED);
	link_command(&rig.a, IPATH_COMMAND_ACTIVE, 0); /* not from there */
	assert_int_equal(link_state(&rig.a), 0);
	assert_int_equal(rig.a.errors, 0);
}

/* --- packets --- */

static void packet_crosses(void **state)
{
	const uint32_t len = datagram(packet, 256, 77), headers = len - 256;
	const uint64_t entry = QUEUE, first = BUFFERS;

	wr(&rig.a, buffer_at(3), len / 4 + 1);
	run(CFG_US(1));
	assert_int_equal(buffer_bits(&rig.a, 3), 3); /* begun once, in use */
	for (uint32_t i = 0; i < len; i += 4)
		hca_mmio_write_now(rig.a.hca, 0, buffer_at(3) + IPATH_PBC_BYTES + i, packet + i, 4);
	run(CFG_US(20));
	assert_int_equal(buffer_bits(&rig.a, 3), 1); /* free */
	assert_int_equal(mem32(&rig.b, TAIL), ENTRY_DWORDS);
	assert_int_equal(mem32(&rig.b, entry), (len + ICRC_BYTES) / 4 | IPATH_RHF_PLAIN << 11);
	assert_int_equal(mem32(&rig.b, entry + 4), 0);
	assert_memory_equal(at(&rig.b, entry + 8), packet, headers);
	assert_memory_equal(at(&rig.b, first), packet + headers, 256);
	assert_int_equal(rig.b.interrupts, 1);
	assert_true(interrupt_handle(&rig.b) & IPATH_INT_RECEIVED(0));
	assert_int_equal(rd(&rig.b, IPATH_COUNTERS + 0x068), 1);
	assert_int_equal(rd(&rig.a, IPATH_COUNTERS + 0x020), 1);
	assert_int_equal(rd(&rig.a, IPATH_COUNTERS + 0x030), (len + ICRC_BYTES) / 4);
	assert_int_equal(rig.a.errors + rig.b.errors, 0);
	assert_true(hca_is_quiet(rig.a.hca) && hca_is_quiet(rig.b.hca));
}

static void without_payload_no_buffer(void **state)
{
	uint32_t len = datagram(packet, 0, 1);

	buffer_fill(&rig.a, 0, packet, len);
	len = datagram(packet, 64, 2);
	buffer_fill(&rig.a, 1, packet, len);
	run(CFG_US(20));
	assert_int_equal(mem32(&rig.b, TAIL), 2 * ENTRY_DWORDS);
	assert_int_equal(mem32(&rig.b, QUEUE) >> 16, 0); /* names the next one, uses none */
	assert_int_equal(mem32(&rig.b, QUEUE + ENTRY_DWORDS * 4) >> 16, 0);
	assert_int_equal(rd(&rig.b, user(IPATH_USER_EGR_TAIL)), 1);
}

/* The driver asks for an interrupt at the next packet with its head; one that came before is told at
 * once. */
static void interrupt_once_an_arm(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	for (unsigned i = 0; i < 3; i++)
		buffer_fill(&rig.a, i, packet, len);
	run(CFG_US(20));
	assert_int_equal(rig.b.interrupts, 1);
	interrupt_handle(&rig.b);
	wr(&rig.b, user(IPATH_USER_HDR_HEAD), 2 * ENTRY_DWORDS); /* no request */
	run(CFG_US(10));
	assert_int_equal(rig.b.interrupts, 1);
	wr(&rig.b, user(IPATH_USER_HDR_HEAD), 2 * ENTRY_DWORDS | IPATH_HEAD_INTERRUPT);
	run(CFG_US(10));
	assert_int_equal(rig.b.interrupts, 2);
}

static void packets_keep_their_order(void **state)
{
	enum { N = IPATH_SMALL_BUFFERS };

	for (unsigned i = 0; i < N; i++) {
		const uint32_t len = datagram(packet, 2048, i);

		buffer_fill(&rig.a, i, packet, len);
	}
	run(CFG_MS(1));
	assert_int_equal(mem32(&rig.b, TAIL), N * ENTRY_DWORDS);
	for (unsigned i = 0; i < N; i++) {
		const uint8_t *bth = at(&rig.b, QUEUE + i * ENTRY_DWORDS * 4 + 8 + LRH_BYTES);

		assert_int_equal(bth_get_psn((const struct bth *)bth), i);
		assert_int_equal(buffer_bits(&rig.a, i), 1);
	}
}

static void buffer_free_interrupts(void **state)
{
	const uint32_t len = datagram(packet, 2048, 5);

	buffer_fill(&rig.a, 0, packet, len);
	wr(&rig.a, IPATH_SendCtrl, rig.a.send_ctrl | IPATH_SEND_INTERRUPT);
	run(CFG_US(20));
	assert_true(rig.a.interrupts >= 1);
	assert_true(interrupt_handle(&rig.a) & IPATH_INT_SEND_FREE);
}

static void disarmed_and_aborted(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	wr(&rig.a, buffer_at(2), len / 4 + 1); /* half a packet */
	send_ctrl(&rig.a, IPATH_SEND_DISARM | 2 << IPATH_SEND_BUFFER_SHIFT);
	run(CFG_US(1));
	assert_int_equal(buffer_bits(&rig.a, 2), 1);
	wr(&rig.a, IPATH_SendCtrl, IPATH_SEND_AVAIL); /* sending is off */
	buffer_fill(&rig.a, 4, packet, len);
	run(CFG_US(20));
	assert_int_equal(buffer_bits(&rig.a, 4), 3);
	send_ctrl(&rig.a, IPATH_SEND_ABORT);
	run(CFG_US(20));
	assert_int_equal(buffer_bits(&rig.a, 4), 1);
	assert_int_equal(mem32(&rig.b, TAIL), 0);
	/* the driver measures its writes: a packet of length 0 is none */
	wr(&rig.a, buffer_at(5), 0);
	wr(&rig.a, buffer_at(5) + 256, 1);
	wr(&rig.a, buffer_at(5) + 256, 1);
	send_ctrl(&rig.a, IPATH_SEND_DISARM | 5 << IPATH_SEND_BUFFER_SHIFT);
	run(CFG_US(20));
	assert_int_equal(buffer_bits(&rig.a, 5), 1);
	assert_int_equal(rig.a.errors, 0);
}

static void port_state_drops(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	link_command(&rig.a, IPATH_COMMAND_ARMED, 0);
	interrupt_handle(&rig.a);
	buffer_fill(&rig.a, 0, packet, len);
	run(CFG_US(20));
	assert_true(rd(&rig.a, IPATH_ErrStatus) & IPATH_ERR_SEND_DATA);
	assert_int_equal(buffer_bits(&rig.a, 0), 1);
	assert_int_equal(mem32(&rig.b, TAIL), 0);
	assert_int_equal(rd(&rig.a, IPATH_COUNTERS + 0x058), 1);
	lrh_set_vl((struct lrh *)packet, VL_MANAGEMENT);
	buffer_fill(&rig.a, 1, packet, len);
	run(CFG_US(20));
	assert_int_equal(mem32(&rig.b, TAIL), ENTRY_DWORDS);
	assert_int_equal(rig.a.errors, 0);
}

static void full_queue_drops(void **state)
{
	const uint32_t len = datagram(packet, 0, 5);

	for (unsigned i = 0; i < QUEUE_ENTRIES + 2; i++) {
		buffer_fill(&rig.a, i % IPATH_SMALL_BUFFERS, packet, len);
		run(CFG_US(5));
	}
	assert_int_equal(mem32(&rig.b, TAIL), (QUEUE_ENTRIES - 1) * ENTRY_DWORDS);
	assert_true(rd(&rig.b, IPATH_ErrStatus) & IPATH_ERR_HEADERS_FULL);
	assert_int_equal(rd(&rig.b, IPATH_COUNTERS + 0x0e8), 3);
}

static void no_eager_buffer_drops(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	for (unsigned i = 0; i < IPATH_EAGERS + 2; i++) {
		buffer_fill(&rig.a, i % IPATH_SMALL_BUFFERS, packet, len);
		run(CFG_US(5));
		wr(&rig.b, user(IPATH_USER_HDR_HEAD), rd(&rig.b, user(IPATH_USER_HDR_TAIL)));
	}
	assert_int_equal(rd(&rig.b, user(IPATH_USER_EGR_TAIL)), IPATH_EAGERS - 1);
	assert_true(rd(&rig.b, IPATH_ErrStatus) & IPATH_ERR_EAGER_FULL);
	assert_int_equal(rd(&rig.b, IPATH_COUNTERS + 0x0d0), 3);
	/* the driver has taken all */
	wr(&rig.b, user(IPATH_USER_EGR_HEAD), IPATH_EAGERS - 2);
	buffer_fill(&rig.a, 0, packet, len);
	run(CFG_US(5));
	assert_int_equal(rd(&rig.b, user(IPATH_USER_EGR_TAIL)), 0);
}

static void wrong_crc_goes_up_marked(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);
	uint8_t wire[256] = {0};

	memcpy(wire, packet, len);
	hca_inject(rig.b.hca, 1, wire, len + CRC_BYTES);
	run(CFG_US(5));
	assert_int_equal(mem32(&rig.b, TAIL), ENTRY_DWORDS);
	assert_int_equal(mem32(&rig.b, QUEUE + 4), IPATH_RHF_VCRC);
	assert_int_equal(rd(&rig.b, IPATH_COUNTERS + 0x098), 1);
	assert_int_equal(rd(&rig.b, user(IPATH_USER_EGR_TAIL)), 0);
}

static void vendors_own_packets_are_dropped(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	bth_set_dqpn((struct bth *)(packet + LRH_BYTES), 0x656b78);
	buffer_fill(&rig.a, 0, packet, len);
	run(CFG_US(20));
	assert_int_equal(mem32(&rig.b, TAIL), 0);
	assert_int_equal(rd(&rig.b, IPATH_COUNTERS + 0x060), 1);
}

static void freeze_stops_both_ways(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	wr(&rig.a, IPATH_Control, IPATH_CONTROL_LINK | IPATH_CONTROL_FREEZE);
	buffer_fill(&rig.a, 0, packet, len);
	buffer_fill(&rig.b, 0, packet, len);
	run(CFG_US(20));
	assert_int_equal(mem32(&rig.a, TAIL), 0);
	assert_int_equal(mem32(&rig.b, TAIL), 0);
	wr(&rig.a, IPATH_Control, IPATH_CONTROL_LINK);
	run(CFG_US(20));
	assert_int_equal(mem32(&rig.b, TAIL), ENTRY_DWORDS);
}

/* --- rules --- */

static void expect_rule(struct side *s, const char *rule)
{
	assert_int_equal(s->errors, 1);
	assert_string_equal(s->rule, rule);
	s->errors = 0;
}

static void send_rules(void **state)
{
	uint32_t len = datagram(packet, 64, 5);

	wr(&rig.a, buffer_at(0), 3); /* shorter than any packet */
	expect_rule(&rig.a, "send_buffer_length");
	assert_true(rd(&rig.a, IPATH_SendBufErr) & 1);
	send_ctrl(&rig.a, IPATH_SEND_DISARM);
	assert_false(rd(&rig.a, IPATH_SendBufErr) & 1);
	wr(&rig.a, buffer_at(0), IPATH_SMALL_BYTES / 4); /* longer than the buffer */
	expect_rule(&rig.a, "send_buffer_length");
	lrh_set_pkt_len((struct lrh *)packet, 9);
	buffer_fill(&rig.a, 1, packet, len);
	expect_rule(&rig.a, "send_buffer_length");
	len = datagram(packet, 2192, 5);
	buffer_fill(&rig.a, IPATH_SMALL_BUFFERS, packet, len); /* above IBCCtrl.MaxPktLen */
	expect_rule(&rig.a, "send_buffer_length");
	len = datagram(packet, 64, 5);
	lrh_set_vl((struct lrh *)packet, 1);
	buffer_fill(&rig.a, 2, packet, len);
	expect_rule(&rig.a, "send_buffer_vl");
	wr(&rig.a, buffer_at(3) + 8, 0); /* the packet before its length */
	expect_rule(&rig.a, "send_buffer_order");
	wr(&rig.a, buffer_at(3), len / 4 + 1);
	wr(&rig.a, buffer_at(3) + 16, 0); /* not its first bytes */
	expect_rule(&rig.a, "send_buffer_order");
	assert_true(rd(&rig.a, IPATH_ErrStatus) & IPATH_ERR_ARM_LAUNCH);
	wr(&rig.a, IPATH_SendCtrl, IPATH_SEND_AVAIL);
	datagram(packet, 64, 5);
	buffer_fill(&rig.a, 4, packet, len);
	wr(&rig.a, buffer_at(4), len / 4 + 1);
	expect_rule(&rig.a, "send_buffer_busy");
	wr(&rig.a, buffer_at(5) + IPATH_SMALL_BYTES, 0);
	expect_rule(&rig.a, "register_unknown");
}

static void order_rules(void **state)
{
	const uint64_t enables = IPATH_SEND_ENABLE | IPATH_SEND_AVAIL;
	const uint32_t len = datagram(packet, 64, 5);

	wr(&rig.a, IPATH_SendPIOAvailAddr, AVAIL + 64); /* while it is in use */
	expect_rule(&rig.a, "chip_register_order");
	wr(&rig.a, IPATH_RcvHdrTailAddr, TAIL + 64);
	expect_rule(&rig.a, "chip_register_order");
	wr(&rig.a, IPATH_RcvHdrAddr, QUEUE + 64);
	expect_rule(&rig.a, "chip_register_order");
	wr(&rig.a, IPATH_SendCtrl, IPATH_SEND_ENABLE | IPATH_SEND_DISARM);
	buffer_fill(&rig.a, 0, packet, len);
	run(CFG_MS(900));
	buffer_fill(&rig.a, 1, packet, len); /* a processor may have been kept */
	assert_int_equal(rig.a.errors, 0);
	run(CFG_MS(200));
	buffer_fill(&rig.a, 2, packet, len); /* nothing says that the first one has left */
	expect_rule(&rig.a, "send_ctrl_dropped");
	wr(&rig.a, IPATH_SendCtrl, enables);
	wr(&rig.a, IPATH_SendCtrl, IPATH_SEND_DISARM); /* as Linux does for all buffers */
	wr(&rig.a, IPATH_SendCtrl, enables);
	assert_int_equal(rig.a.errors, 0);
}

static void emptied_rules(void **state)
{
	const uint64_t received = IPATH_INT_RECEIVED(0);
	const uint32_t len = datagram(packet, 64, 5);

	for (unsigned i = 0; i < 2; i++)
		buffer_fill(&rig.a, i, packet, len);
	run(CFG_US(20));
	assert_true(rd(&rig.b, IPATH_IntStatus) & received);
	wr(&rig.b, user(IPATH_USER_EGR_HEAD), 2); /* no packet has it yet, but the next one will */
	wr(&rig.b, user(IPATH_USER_EGR_HEAD), 3);
	expect_rule(&rig.b, "header_queue_head");
	wr(&rig.b, user(IPATH_USER_HDR_HEAD), 2 * ENTRY_DWORDS);
	expect_rule(&rig.b, "interrupt_not_asked");
	wr(&rig.b, user(IPATH_USER_HDR_HEAD), 2 * ENTRY_DWORDS | IPATH_HEAD_INTERRUPT);
	wr(&rig.b, IPATH_IntClear, received);
	expect_rule(&rig.b, "interrupt_cleared_late");
	for (unsigned i = 2; i < 5; i++)
		buffer_fill(&rig.a, i, packet, len);
	run(CFG_US(20));
	wr(&rig.b, user(IPATH_USER_HDR_HEAD), 5 * ENTRY_DWORDS | IPATH_HEAD_INTERRUPT);
	expect_rule(&rig.b, "eager_kept");
}

static void link_rules(void **state)
{
	const uint64_t causes = IPATH_INT_ERROR;

	link_command(&rig.a, IPATH_COMMAND_DOWN, 0);
	run(CFG_US(10));
	assert_true(rd(&rig.a, IPATH_ErrStatus) & IPATH_ERR_LINK_STATE);
	wr(&rig.a, IPATH_ErrClear, IPATH_ERR_LINK_STATE);
	wr(&rig.a, IPATH_IntClear, causes);
	expect_rule(&rig.a, "link_change_unread");
	run(CFG_MS(5)); /* it is up again */
	assert_true(rd(&rig.a, IPATH_ErrStatus) & IPATH_ERR_LINK_STATE);
	wr(&rig.a, IPATH_ErrClear, IPATH_ERR_LINK_STATE);
	rd(&rig.a, IPATH_IBCStatus);
	wr(&rig.a, IPATH_IntClear, causes);
	link_command(&rig.a, IPATH_COMMAND_DOWN, 0);
	run(CFG_US(10));
	wr(&rig.a, IPATH_IntMask, 0); /* a driver that is loaded again clears what is of before */
	wr(&rig.a, IPATH_ErrClear, ~UINT64_C(0));
	wr(&rig.a, IPATH_IntClear, ~UINT64_C(0));
	assert_int_equal(rig.a.errors, 0);
}

static void eager_rules(void **state)
{
	const uint32_t last = (BUFFERS + (IPATH_EAGERS - 1) * BUFFER_BYTES) >> IPATH_EAGER_SHIFT |
			      (uint32_t)EAGER_4K << IPATH_EAGER_SIZE_SHIFT;

	wr(&rig.b, IPATH_RcvCtrl, 0);
	wr_size(&rig.b, IPATH_EAGER + 8, last, 4); /* entry 1 has it, too */
	wr(&rig.b, IPATH_RcvCtrl, IPATH_RCV_ENABLE(0));
	expect_rule(&rig.b, "eager_entry");
	wr(&rig.b, IPATH_RcvCtrl, 0);
	wr_size(&rig.b, IPATH_EAGER + 8, 0, 4);
	wr(&rig.b, IPATH_RcvCtrl, IPATH_RCV_ENABLE(0));
	expect_rule(&rig.b, "eager_entry");
}

static void receive_rules(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	wr(&rig.b, user(IPATH_USER_HDR_HEAD), ENTRY_DWORDS); /* beyond the tail */
	expect_rule(&rig.b, "header_queue_head");
	wr(&rig.b, user(IPATH_USER_EGR_HEAD), IPATH_EAGERS);
	expect_rule(&rig.b, "header_queue_head");
	wr_size(&rig.b, IPATH_EAGER, 0x1234, 4); /* no size */
	expect_rule(&rig.b, "eager_entry");
	buffer_fill(&rig.a, 0, packet, len);
	run(CFG_US(20));
	expect_rule(&rig.b, "eager_entry");
	assert_int_equal(mem32(&rig.b, TAIL), 0);
	wr_size(&rig.b, IPATH_EAGER, 0, 8);
	expect_rule(&rig.b, "register_size");
	wr(&rig.b, IPATH_RcvCtrl, 0);
	wr(&rig.b, IPATH_RcvHdrEntSize, 4); /* no room for headers */
	wr(&rig.b, IPATH_RcvCtrl, IPATH_RCV_ENABLE(0));
	expect_rule(&rig.b, "header_queue_form");
}

static void reset_is_power_on(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	buffer_fill(&rig.a, 0, packet, len);
	wr(&rig.a, IPATH_Control, IPATH_CONTROL_LINK | IPATH_CONTROL_RESET);
	run(CFG_US(5));
	assert_int_equal(rd(&rig.a, IPATH_Revision), IPATH_REVISION);
	assert_int_equal(rd(&rig.a, IPATH_SendCtrl), 0);
	assert_int_equal(link_state(&rig.a), 0);
	assert_int_equal(link_state(&rig.b), 0);
	memset(rig.a.memory, 0, sizeof(rig.a.memory));
	bring_up(&rig.a);
	link_up();
	buffer_fill(&rig.a, 0, packet, len);
	run(CFG_US(20));
	assert_int_equal(buffer_bits(&rig.a, 0), 1);
	assert_int_equal(rig.a.errors, 0);
}

/* Until the function is reset, a chip that has stopped answers no more. */
static void stopped_until_reset(void **state)
{
	const uint32_t len = datagram(packet, 64, 5);

	hca_catastrophe(rig.a.hca, ERR_BUF_INJECTED, 0, "because a test asks for it");
	assert_int_equal(rd(&rig.a, IPATH_Revision), UINT64_MAX);
	buffer_fill(&rig.a, 0, packet, len);
	wr(&rig.a, IPATH_Control, IPATH_CONTROL_RESET);
	run(CFG_US(20));
	assert_int_equal(rd(&rig.a, IPATH_Revision), UINT64_MAX);
	assert_int_equal(mem32(&rig.b, TAIL), 0);
	hca_pci_reset(rig.a.hca);
	hca_config_write(rig.a.hca, COMMAND, 2, MEMORY_AND_MASTER);
	bring_up(&rig.a);
	link_up();
	buffer_fill(&rig.a, 0, packet, len);
	run(CFG_US(20));
	assert_int_equal(mem32(&rig.b, TAIL), ENTRY_DWORDS);
}

static void has_one_port(void **state)
{
	struct hca_params params = rig.a.params;
	const struct hca_env env = {.ctx = NULL};
	char err[256] = "";

	params.hca_ports = 2;
	assert_null(
		hca_create(1, &params, &rig.host, &rig.core, &env, NULL, NULL, err, sizeof(err)));
	assert_string_equal(err, "hca1.ports is 2, but a device with hca1.personality=ipath has 1");
}

#define T(name) cmocka_unit_test_setup_teardown(name, rig_start, rig_finish)
#define U(name) cmocka_unit_test_setup_teardown(name, rig_start_up, rig_finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(configuration_is_the_cards),
		T(registers_keep_or_refuse),
		T(eeprom_is_read_by_its_lines),
		T(eeprom_keeps_what_is_written),
		T(bring_up_interrupts),
		T(what_is_pending_interrupts_again),
		T(masked_causes_wait),
		T(link_commands),
		U(packet_crosses),
		U(without_payload_no_buffer),
		U(interrupt_once_an_arm),
		U(packets_keep_their_order),
		U(buffer_free_interrupts),
		U(disarmed_and_aborted),
		U(port_state_drops),
		U(full_queue_drops),
		U(no_eager_buffer_drops),
		U(wrong_crc_goes_up_marked),
		U(vendors_own_packets_are_dropped),
		U(freeze_stops_both_ways),
		U(send_rules),
		U(order_rules),
		U(emptied_rules),
		U(link_rules),
		U(eager_rules),
		U(receive_rules),
		U(reset_is_power_on),
		U(stopped_until_reset),
		T(has_one_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
