/* SPDX-License-Identifier: Apache-2.0 */
/* MAD_IFC, the management agents behind it, and the port states. Offsets are those of the
 * specification. */
#include "fw/tests/fake_chip.h"
#include "model/interface/macros.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

enum { GET = 1, SET = 2, NOTICE = 0x02, PORT_INFO = 0x15, OM_NO_KEYS = 3 };

static struct fake_port *p1(void)
{
	return &chip.port[0];
}

static uint32_t p1_reg(uint32_t reg)
{
	return p1()->reg[reg / 4];
}

static uint8_t *data(void)
{
	return out_box() + 64;
}

static uint32_t mad_status(void)
{
	return be16_load(out_box() + 4);
}

/* Sends a MAD whose attribute has the 64 bytes at `attribute` (NULL: zeros). Returns the status of
 * the MAD. */
static uint32_t mad(uint8_t class, uint8_t method, uint16_t attr, uint32_t modifier,
		    const uint8_t *attribute, uint64_t mkey, uint32_t op_mod)
{
	uint8_t copy[128] = {0}, *box;

	if (attribute)
		memcpy(copy, attribute, 128);
	box = in_box();
	box[0] = box[2] = 1;
	box[1] = class;
	box[3] = method;
	be64_store(box + 8, 0x1122334455667788);
	be16_store(box + 16, attr);
	be32_store(box + 20, modifier);
	be64_store(box + 24, mkey);
	memcpy(box + 64, copy, 128);
	if (cmd_box(0x024, op_mod, 1))
		return 0x10000 | chip.done;
	assert_int_equal(out_box()[3], 0x81);
	assert_int_equal(be64_load(out_box() + 8), 0x1122334455667788);
	assert_int_equal(be16_load(out_box() + 16), attr);
	return mad_status();
}

static uint32_t smp(uint8_t method, uint16_t attr, uint32_t modifier, const uint8_t *attribute)
{
	return mad(0x01, method, attr, modifier, attribute, 0, OM_NO_KEYS);
}

static void start(void)
{
	chip_reset();
	bring_up();
	assert_int_equal(cmd(0x009, 0, 1, 0, 0), 0);
	assert_int_equal(p1_reg(FW_PORT_CMD), FW_PORT_UP);
	chip.eqes = 0;
}

static void raise_port1(void)
{
	chip.reg[FW_IRQ_CAUSE / 4] |= FW_IRQ_PORT1;
	assert_true(fw_poll());
}

/* Reports that the link has trained. */
static void link_up(void)
{
	p1()->reg[FW_PORT_PHYS_STATE / 4] = 5;
	p1()->reg[FW_PORT_LOGICAL / 4] = 2;
	raise_port1();
}

static void node_info_and_description(void **state)
{
	start();
	assert_int_equal(smp(GET, 0x11, 0, NULL), 0);
	assert_memory_equal(data(), "\x01\x01\x01\x02", 4);
	assert_int_equal(be64_load(data() + 4), 0x0002c90300112230);
	assert_int_equal(be64_load(data() + 12), 0x0002c90300112230);
	assert_int_equal(be64_load(data() + 20), 0x0002c90300112231);
	assert_int_equal(be16_load(data() + 28), 32);
	assert_int_equal(be16_load(data() + 30), 0x1003);
	assert_int_equal(data()[36], 1);
	assert_int_equal(be32_load(data() + 36) & 0xffffff, 0x2c9);
	strcpy((char *)in_box(), "a node");
	assert_int_equal(cmd_box(0x05a, 0, 1), 0);
	assert_int_equal(smp(GET, 0x10, 0, NULL), 0);
	assert_string_equal((char *)data(), "a node");
	assert_int_equal(smp(SET, 0x10, 0, NULL), 0x0c);
}

static void port_info_has_its_defaults(void **state)
{
	start();
	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	assert_int_equal(be64_load(data() + 8), 0xfe80000000000000);
	assert_int_equal(be32_load(data() + 16), 0);
	assert_true(be32_load(data() + 20) & 1 << 14);
	assert_int_equal(data()[28], 1);
	assert_memory_equal(data() + 29, "\x03\x03\x02", 3);
	assert_int_equal(data()[32], 7 << 4 | 1);
	assert_int_equal(data()[33] & 0xf, 2);
	assert_int_equal(data()[35], 4 << 4 | 7);
	assert_int_equal(data()[37] >> 4, 4);
	assert_int_equal(data()[41] & 0xf, 5);
	assert_int_equal(data()[50], 8);
	assert_int_equal(data()[62], 0x11);
	/* port 0 means the port addressed; port 3 does not exist */
	assert_int_equal(smp(GET, PORT_INFO, 0, NULL), 0);
	assert_int_equal(data()[28], 1);
	assert_int_equal(smp(GET, PORT_INFO, 3, NULL), 0x1c);
	/* PortInfo shows what SET_PORT has set */
	be32_store(in_box() + 4, 0x0250084a);
	assert_int_equal(cmd_box(0x00c, 0, 1), 0);
	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	assert_int_equal(be32_load(data() + 20), 0x0250084a);
}

/* Does what a subnet manager does: reads, changes, writes. */
static uint32_t set_state(uint8_t port_state, uint8_t phys, uint16_t lid)
{
	uint8_t info[128];

	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	memcpy(info, data(), 128);
	info[29] = info[63] = 0;
	info[35] &= 0xf0;
	info[32] = (info[32] & 0xf0) | port_state;
	info[33] = (uint8_t)(phys << 4);
	be16_store(info + 16, lid);
	be16_store(info + 18, 1);
	return smp(SET, PORT_INFO, 1, info);
}

static void expect_event(uint8_t subtype)
{
	const uint8_t *e = (const uint8_t *)&chip.eqe[0];

	assert_int_equal(chip.eqes, 1);
	assert_int_equal(e[1], 0x09);
	assert_int_equal(e[3], subtype);
	assert_int_equal(be32_load(e + 0x0c) >> 28, 1);
	chip.eqes = 0;
}

static void port_goes_active_and_down(void **state)
{
	start();
	assert_int_equal(set_state(3, 0, 7), 0x1c); /* down */
	link_up();
	assert_int_equal(set_state(4, 0, 7), 0x1c); /* not from init */
	assert_int_equal(set_state(2, 0, 7), 0x1c); /* cannot be requested */
	assert_int_equal(p1_reg(FW_PORT_LID), 0);   /* and nothing else changed */
	assert_int_equal(set_state(3, 0, 7), 0);
	assert_int_equal(data()[32] & 0xf, 3);
	assert_int_equal(p1_reg(FW_PORT_LID), 7);
	assert_int_equal(p1_reg(FW_PORT_SMLID), 1);
	assert_int_equal(p1_reg(FW_PORT_LOGICAL), 3);
	assert_int_equal(chip.eqes, 0);
	assert_int_equal(set_state(4, 0, 7), 0);
	assert_int_equal(p1_reg(FW_PORT_LOGICAL), 4);
	expect_event(4);
	assert_int_equal(set_state(0, 0, 7), 0);
	assert_int_equal(chip.eqes, 0);

	/* the cable is pulled */
	p1()->reg[FW_PORT_LOGICAL / 4] = 1;
	raise_port1();
	expect_event(1);
	/* the link was lost and came back before the firmware looked */
	link_up();
	assert_int_equal(set_state(3, 0, 7), 0);
	assert_int_equal(set_state(4, 0, 7), 0);
	expect_event(4);
	link_up();
	expect_event(1);
	/* the subnet manager requests Down */
	assert_int_equal(set_state(3, 0, 7), 0);
	assert_int_equal(set_state(4, 0, 7), 0);
	expect_event(4);
	assert_int_equal(set_state(1, 0, 7), 0);
	expect_event(1);
	assert_int_equal(p1_reg(FW_PORT_CMD), FW_PORT_DOWN);
	assert_int_equal(set_state(0, 3, 7), 0);
	assert_int_equal(p1_reg(FW_PORT_CMD), FW_PORT_DISABLE);
	p1()->reg[FW_PORT_PHYS_STATE / 4] = 3;
	assert_int_equal(set_state(0, 2, 7), 0);
	assert_int_equal(p1_reg(FW_PORT_CMD), FW_PORT_UP);
	assert_int_equal(cmd(0x00a, 0, 1, 0, 0), 0);
	assert_int_equal(p1_reg(FW_PORT_CMD), FW_PORT_DISABLE);
}

static void port_info_set_checks(void **state)
{
	static const struct {
		unsigned at;
		uint8_t value;
	} bad[] = {
		{16, 0xc0}, /* multicast LID */
		{18, 0xc0}, /* multicast LID of the SM */
		{29, 4},    /* 8x is not supported */
		{33, 0x50}, /* physical state LinkUp cannot be requested */
		{33, 0x01}, /* sleep */
		{34, 1},    /* LMC 1 with an odd LID */
		{35, 8},    /* speed */
		{36, 0x00}, /* MTU */
		{36, 0x60}, /* MTU */
		{43, 0x50}, /* 15 VLs */
		{63, 2},    /* EDR */
	};
	uint8_t info[128];

	start();
	link_up();
	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	memcpy(info, data(), 128);
	info[32] &= 0xf0;
	info[33] = 0;
	be16_store(info + 16, 5);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		uint8_t was = info[bad[i].at];

		info[bad[i].at] = bad[i].value;
		assert_int_equal(smp(SET, PORT_INFO, 1u << 31 | 1, info), 0x1c);
		assert_int_equal(p1_reg(FW_PORT_LID), 0);
		info[bad[i].at] = was;
	}
	info[29] = 2;
	info[36] = 3 << 4 | 6;
	info[43] = 2 << 4;
	info[34] = 0;
	info[51] = 0x80 | 17;
	be64_store(info + 8, 0xfec0000000000005);
	/* from a manager without extended speeds the field is ignored */
	info[63] = 2;
	assert_int_equal(smp(SET, PORT_INFO, 1, info), 0);
	assert_int_equal(data()[29], 2);
	assert_int_equal(data()[63] & 0x1f, 1);
	assert_int_equal(data()[51], 0x80 | 17);
	assert_int_equal(p1_reg(FW_PORT_MTU), 3);
	assert_int_equal(p1_reg(FW_PORT_VLS), 2);
	assert_int_equal(p1_reg(FW_PORT_SMLID) >> 16, 6);
	assert_int_equal(p1_reg(FW_PORT_GID_PREFIX_HI), 0xfec00000);
	assert_int_equal(p1_reg(FW_PORT_GID_PREFIX_LO), 5);
	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	assert_int_equal(data()[51], 17);
}

static void tables(void **state)
{
	uint8_t t[128] = {0};

	start();
	assert_int_equal(smp(GET, 0x14, 0, NULL), 0);
	assert_int_equal(be64_load(data()), 0x0002c90300112231);
	assert_int_equal(be64_load(data() + 8), 0);
	be64_store(t, 0xbad);
	be64_store(t + 8, 0x1234);
	assert_int_equal(smp(SET, 0x14, 0, t), 0);
	assert_int_equal(be64_load(data()), 0x0002c90300112231);
	assert_int_equal(be64_load(data() + 8), 0x1234);
	assert_int_equal(p1()->guids[1], 0x1234);
	assert_int_equal(smp(GET, 0x14, 1, NULL), 0x1c);

	assert_int_equal(smp(GET, 0x16, 0, NULL), 0);
	assert_int_equal(be32_load(data()), 0xffff0000);
	be32_store(t, 0xffff8001);
	assert_int_equal(smp(SET, 0x16, 0, t), 0);
	assert_int_equal(p1()->pkeys[1], 0x8001);
	assert_int_equal(smp(GET, 0x16, 1, NULL), 0x1c);

	/* SL modulo 8 */
	assert_int_equal(smp(GET, 0x17, 0, NULL), 0);
	assert_int_equal(be64_load(data()), 0x0123456701234567);
	be64_store(t, 0x0000111122223333);
	assert_int_equal(smp(SET, 0x17, 0, t), 0);
	assert_int_equal(p1_reg(FW_PORT_SL2VL_HI), 0x00001111);
	assert_int_equal(p1_reg(FW_PORT_SL2VL_LO), 0x22223333);

	assert_int_equal(smp(GET, 0x18, 5 << 16, NULL), 0x1c);
	be64_store(t, 0x0010012000000000);
	assert_int_equal(smp(SET, 0x18, 1 << 16, t), 0);
	assert_int_equal(be64_load(data()), 0x0010012000000000);
	assert_int_equal(smp(GET, 0xff90, 1, NULL), 0);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(data()[i], 0);
}

/* One event, with that subtype and those words behind the port. */
static void expect_change(uint8_t subtype, uint32_t at_8, uint32_t at_12)
{
	const uint8_t *e = (const uint8_t *)&chip.eqe[0];

	assert_int_equal(chip.eqes, 1);
	assert_int_equal(e[1], 0x1d);
	assert_int_equal(e[3], subtype);
	assert_int_equal(e[7], 1);
	assert_int_equal(be32_load(e + 0x08), at_8);
	assert_int_equal(be32_load(e + 0x0c), at_12);
	chip.eqes = 0;
}

static void changes_are_told(void **state)
{
	uint8_t t[128] = {0}, info[128];

	start();
	link_up();
	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	memcpy(info, data(), 128);
	info[32] &= 0xf0;
	info[33] = 0;
	be16_store(info + 16, 5);
	assert_int_equal(smp(SET, PORT_INFO, 1, info), 0);
	assert_int_equal(chip.eqes, 0); /* a device without such events */
	chip.reg[FW_PORT_EVENTS / 4] = 1;
	assert_int_equal(smp(SET, PORT_INFO, 1, info), 0);
	assert_int_equal(chip.eqes, 0); /* nothing has changed */
	be16_store(info + 16, 6);
	be16_store(info + 18, 9);
	assert_int_equal(smp(SET, PORT_INFO, 1, info), 0);
	expect_change(0x15, 9 << 16 | 6, 1 << 2 | 1 << 0);
	info[51] |= 0x80;
	assert_int_equal(smp(SET, PORT_INFO, 1, info), 0);
	expect_change(0x15, 9 << 16 | 6, 1 << 3);

	be64_store(t + 8, 0x1234);
	assert_int_equal(smp(SET, 0x14, 0, t), 0);
	expect_change(0x14, 0, 1 << 1);
	assert_int_equal(smp(SET, 0x14, 0, t), 0);
	assert_int_equal(chip.eqes, 0);
	memset(t, 0, sizeof(t));
	be32_store(t, 0xffff8001);
	assert_int_equal(smp(SET, 0x16, 0, t), 0);
	expect_change(0x16, 0, 1 << 1);
	assert_int_equal(smp(SET, 0x16, 1, t), 0x1c);
	assert_int_equal(chip.eqes, 0);
}

static void what_is_not_there_has_a_status(void **state)
{
	uint8_t *box;

	start();
	assert_int_equal(smp(GET, NOTICE, 0, NULL), 0x0c);
	assert_int_equal(smp(GET, 0x31, 0, NULL), 0x0c);
	assert_int_equal(smp(SET, 0x11, 0, NULL), 0x0c);
	assert_int_equal(smp(0x03, 0x11, 0, NULL), 0x08);
	assert_int_equal(mad(0x09, GET, 1, 0, NULL, 0, 7), 0x04);
	box = in_box();
	box[0] = box[1] = 1;
	box[2] = 2;
	box[3] = GET;
	be16_store(box + 16, 0x11);
	assert_int_equal(cmd_box(0x024, 3, 1), 0);
	assert_int_equal(mad_status(), 0x04);
	assert_int_equal(cmd_box(0x024, 3, 3), 0x0a);
	assert_int_equal(cmd_box(0x024, 3, 0), 0x0a);
	/* the reply to a directed route packet keeps the path */
	box = in_box();
	box[0] = box[2] = 1;
	box[1] = 0x81;
	box[3] = GET;
	box[6] = 1;
	box[7] = 1;
	be16_store(box + 16, 0x11);
	be32_store(box + 32, 0xffffffff);
	box[129] = 1;
	assert_int_equal(cmd_box(0x024, 4, 1), 0);
	assert_int_equal(mad_status(), 0);
	assert_int_equal(be16_load(out_box() + 6), 0x0101);
	assert_int_equal(be32_load(out_box() + 32), 0xffffffff);
	assert_int_equal(out_box()[129], 1);
}

static void mkey_protects(void **state)
{
	uint8_t info[128];

	start();
	chip.now_ns = 1000;
	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	memcpy(info, data(), 128);
	info[32] &= 0xf0;
	info[33] = 0;
	be64_store(info, 0x1234567812345678);
	be16_store(info + 26, 3);
	info[34] = 1 << 6;
	assert_int_equal(mad(1, SET, PORT_INFO, 1, info, 0, 4), 0);
	/* protection 1: Get hides the key, and Set is dropped */
	assert_int_equal(mad(1, GET, PORT_INFO, 1, NULL, 5, 4), 0);
	assert_int_equal(be64_load(data()), 0);
	assert_int_equal(mad(1, GET, PORT_INFO, 1, NULL, 0x1234567812345678, 4), 0);
	assert_int_equal(be64_load(data()), 0x1234567812345678);
	assert_int_equal(mad(1, SET, PORT_INFO, 1, info, 5, 4), 0x10030);
	assert_int_equal(chip.reg[FW_TIMER_LO / 4], (uint32_t)3000001000u);
	assert_int_equal(chip.reg[FW_TIMER_HI / 4], 0);
	assert_int_equal(mad(1, GET, PORT_INFO, 1, NULL, 0, 5), 0);
	assert_int_equal(be16_load(data() + 44), 1);
	/* protection 2: Get is dropped as well. A request with the right key stops the lease
	 * timer. */
	info[34] = 2 << 6;
	assert_int_equal(mad(1, SET, PORT_INFO, 1, info, 0x1234567812345678, 4), 0);
	assert_int_equal(chip.reg[FW_TIMER_HI / 4], ~0u);
	assert_int_equal(mad(1, GET, PORT_INFO, 1, NULL, 5, 4), 0x10030);
	/* no request with the key arrives, so protection ends with the lease */
	chip.now_ns = 3000001000u;
	chip.reg[FW_IRQ_CAUSE / 4] |= FW_IRQ_TIMER;
	assert_true(fw_poll());
	assert_int_equal(mad(1, GET, PORT_INFO, 1, NULL, 5, 4), 0);
	assert_int_equal(data()[34] >> 6, 0);
	assert_int_equal(chip.reg[FW_TIMER_HI / 4], ~0u);
}

static uint32_t perf(uint8_t method, uint16_t attr, uint8_t port, uint16_t select, unsigned at,
		     uint32_t value)
{
	uint8_t a[128] = {0};

	a[1] = port;
	be16_store(a + 2, select);
	if (at)
		be32_store(a + at, value);
	return mad(4, method, attr, 0, a, 0, 4);
}

static void counters(void **state)
{
	start();
	assert_int_equal(perf(GET, 1, 1, 0, 0, 0), 0);
	assert_memory_equal(data(), "\x01\x01\x12\x00", 4);
	p1()->counters[FW_PC_SYMBOL_ERROR] = 70000;
	p1()->counters[FW_PC_LINK_DOWNED] = 256;
	p1()->counters[FW_PC_BUFFER_OVERRUN] = 15;
	p1()->counters[FW_PC_LOCAL_INTEGRITY] = 17;
	p1()->counters[FW_PC_XMIT_DATA] = 0x1234567890;
	p1()->counters[FW_PC_RCV_PKTS] = 1000;
	p1()->counters[FW_PC_UNICAST_RCV] = 990;
	p1()->counters[FW_PC_MULTICAST_RCV] = 10;
	assert_int_equal(perf(GET, 0x12, 1, 0, 0, 0), 0);
	assert_int_equal(data()[1], 1);
	assert_int_equal(be16_load(data() + 4), 0xffff);
	assert_int_equal(data()[7], 0xff);
	assert_int_equal(data()[19], 0xff);
	assert_int_equal(be32_load(data() + 24), 0xffffffff);
	assert_int_equal(be32_load(data() + 36), 1000);
	/* sets some counters to 0, and received packets to 7 */
	assert_int_equal(perf(SET, 0x12, 1, 1 << 15 | 1 << 12 | 1 << 0, 36, 7), 0);
	assert_int_equal(be16_load(data() + 4), 0);
	assert_int_equal(data()[7], 0xff);
	assert_int_equal(be32_load(data() + 24), 0);
	assert_int_equal(be32_load(data() + 36), 7);
	p1()->counters[FW_PC_RCV_PKTS] += 5;
	p1()->counters[FW_PC_XMIT_DATA] += 64;
	assert_int_equal(perf(GET, 0x12, 1, 0, 0, 0), 0);
	assert_int_equal(be32_load(data() + 24), 64);
	assert_int_equal(be32_load(data() + 36), 12);
	/* the 64-bit counters were not changed */
	assert_int_equal(perf(GET, 0x1d, 1, 0, 0, 0), 0);
	assert_int_equal(be64_load(data() + 8), 0x1234567890 + 64);
	assert_int_equal(be64_load(data() + 32), 1005);
	assert_int_equal(be64_load(data() + 48), 990);
	assert_int_equal(be64_load(data() + 64), 10);
	/* setting them leaves the 32-bit counters unchanged */
	assert_int_equal(perf(SET, 0x1d, 1, 1 << 3 | 1 << 5, 0, 0), 0);
	assert_int_equal(be64_load(data() + 32), 0);
	assert_int_equal(be64_load(data() + 48), 0);
	assert_int_equal(perf(GET, 0x12, 1, 0, 0, 0), 0);
	assert_int_equal(be32_load(data() + 36), 12);
	assert_int_equal(perf(GET, 0x12, 2, 0, 0, 0), 0x1c);
	assert_int_equal(perf(GET, 0x10, 1, 0, 0, 0), 0x0c);
	assert_int_equal(perf(0x05, 0x12, 1, 0, 0, 0), 0x08);
}

static void set_port_limits(void **state)
{
	uint8_t *box;

	start();
	box = in_box();
	be32_store(box, 1 << 22 | 1 << 21 | 4 << 12 | 2 << 4);
	assert_int_equal(cmd_box(0x00c, 0, 1), 0);
	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	assert_int_equal(data()[41] & 0xf, 4);
	assert_int_equal(data()[37] >> 4, 2);
	box = in_box();
	be32_store(box, 1 << 21 | 15 << 4);
	assert_int_equal(cmd_box(0x00c, 0, 1), 0x08);
	be32_store(box, 1 << 21 | 3 << 4);
	assert_int_equal(cmd_box(0x00c, 0, 1), 0x03);
	be32_store(box, 1 << 22 | 6 << 12);
	assert_int_equal(cmd_box(0x00c, 0, 1), 0x03);
	be32_store(box, 1 << 10);
	assert_int_equal(cmd_box(0x00c, 0, 1), 0x03);
	assert_int_equal(errors_taken(RULE_mailbox_reserved), 1);
	p1()->reg[FW_PORT_BAD_QKEY / 4] = 70000;
	assert_int_equal(smp(GET, PORT_INFO, 1, NULL), 0);
	assert_int_equal(be16_load(data() + 48), 0xffff);
	be32_store(in_box(), 1);
	assert_int_equal(cmd_box(0x00c, 0, 1), 0);
	assert_int_equal(p1_reg(FW_PORT_BAD_QKEY), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_info_and_description),
		cmocka_unit_test(port_info_has_its_defaults),
		cmocka_unit_test(port_goes_active_and_down),
		cmocka_unit_test(port_info_set_checks),
		cmocka_unit_test(tables),
		cmocka_unit_test(changes_are_told),
		cmocka_unit_test(what_is_not_there_has_a_status),
		cmocka_unit_test(mkey_protects),
		cmocka_unit_test(counters),
		cmocka_unit_test(set_port_limits),
	};

	return cmocka_run_group_tests_name("fw mad", tests, NULL, NULL);
}
