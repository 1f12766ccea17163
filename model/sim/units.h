/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter values as text: what each unit accepts, and how a value is written so that it reads
 * back the same. */
#ifndef MODEL_SIM_UNITS_H
#define MODEL_SIM_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define CFG_PS(n)  ((uint64_t)(n))
#define CFG_NS(n)  ((uint64_t)(n)*1000)
#define CFG_US(n)  CFG_NS((uint64_t)(n)*1000)
#define CFG_MS(n)  CFG_US((uint64_t)(n)*1000)
#define CFG_S(n)   CFG_MS((uint64_t)(n)*1000)
#define CFG_KIB(n) ((uint64_t)(n) << 10)
#define CFG_MIB(n) ((uint64_t)(n) << 20)
#define CFG_GIB(n) ((uint64_t)(n) << 30)
#define CFG_MHZ(n) ((uint64_t)(n)*1000000)

/* clang-format off */

/* U(name, how, scales, what it expects): CFG_<name>, written <name> in a parameter row. SCALED is a
 * number and a suffix of scales (units.c), NAMED one of the names there. TEXT is one of the names
 * there or a text that begins with one of them and a colon; its value is a number, and cfg_text()
 * has the text.
 * TIME is a cost in ps, which configs/ideal.ini sets to its minimum; TIMEOUT is a deadline or a
 * period in ps. SIZE and POW2 are bytes, RATE is bits a second, FREQ is Hz. */
#define CFG_UNITS(U) \
	U(TIME, SCALED, times, "a time with its unit (ps, ns, us, ms, s)") \
	U(TIMEOUT, SCALED, times, "a time with its unit (ps, ns, us, ms, s)") \
	U(SIZE, SCALED, sizes, "a size in B, KiB, MiB or GiB") \
	U(POW2, SCALED, sizes, "a power of two in B, KiB, MiB or GiB") \
	U(COUNT, SCALED, numbers, "a whole number") \
	U(COUNT2, SCALED, numbers, "a power of two") \
	U(HEX, SCALED, numbers, "a whole number") \
	U(BOOL, NAMED, bools, "true, false, on, off, 1 or 0") \
	U(FREQ, SCALED, freqs, "a frequency in Hz, kHz, MHz or GHz") \
	U(RATE, SCALED, rates, "a rate in b/s, kb/s, Mb/s or Gb/s") \
	U(SPEED, NAMED, speeds, "one of SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR") \
	U(WIDTH, NAMED, widths, "one of 1x, 4x, 8x, 12x") \
	U(PCIE, NAMED, pcies, "one of 2.5GT/s, 5GT/s, 8GT/s, 16GT/s") \
	U(PERSONALITY, NAMED, personalities, "mlx4, ipath or outside") \
	U(DEVICE, NAMED, devices, "cx3 or cx3pro") \
	U(PORT_TYPE, NAMED, port_types, "one of ib, eth, auto") \
	U(ROCE, NAMED, roces, "one of v1, v2_ipv4, v2_ipv6") \
	U(WIRE, TEXT, wires, "cable, dgram:OWN,PEER or replay:FILE, without ; # and blanks at the end") \
	U(MEMORY_ORDER, NAMED, memory_orders, "one of program, x86, arm64, adversarial")

enum cfg_unit {
#define CFG_UNIT_ENUM(name, how, scales, expects) CFG_##name,
	CFG_UNITS(CFG_UNIT_ENUM)
#undef CFG_UNIT_ENUM
	CFG_UNIT_COUNT,
};

/* S(name, kb/s of a lane on the wire, data bits, of wire bits). For HDR and NDR the ratio includes
 * forward error correction: 16/17 leaves 50 and 100 Gb/s. Source: IBA volume 2. */
#define CFG_LINK_SPEEDS(S) \
	S(SDR, 2500000, 8, 10) \
	S(DDR, 5000000, 8, 10) \
	S(QDR, 10000000, 8, 10) \
	S(FDR10, 10312500, 64, 66) \
	S(FDR, 14062500, 64, 66) \
	S(EDR, 25781250, 64, 66) \
	S(HDR, 53125000, 16, 17) \
	S(NDR, 106250000, 16, 17)

/* The value of a MEMORY_ORDER parameter: when stores of a host become visible to its device. */
enum cfg_memory_order {
	CFG_ORDER_PROGRAM, /* at once */
	CFG_ORDER_X86,
	CFG_ORDER_ARM64,
	CFG_ORDER_ADVERSARIAL,
};

/* The value of a SPEED parameter. The value of a WIDTH parameter is the number of lanes. The value
 * of a PCIE parameter is the MT/s of a lane: 2500, 5000, 8000 or 16000. */
enum cfg_link_speed {
#define CFG_SPEED_ENUM(name, kbps, data, wire) CFG_SPEED_##name,
	CFG_LINK_SPEEDS(CFG_SPEED_ENUM)
#undef CFG_SPEED_ENUM
	CFG_SPEED_COUNT,
};

/* D(name): the value of a PERSONALITY parameter. */
#define CFG_PERSONALITIES(D) \
	D(mlx4) \
	D(ipath) \
	D(outside)

enum cfg_personality {
#define CFG_PERSONALITY_ENUM(name) CFG_PERSONALITY_##name,
	CFG_PERSONALITIES(CFG_PERSONALITY_ENUM)
#undef CFG_PERSONALITY_ENUM
	CFG_PERSONALITY_COUNT,
};

/* The value of a DEVICE parameter: which chip of the family mlx4 is. */
enum cfg_device {
	CFG_DEVICE_CX3,    /* ConnectX-3 */
	CFG_DEVICE_CX3PRO, /* ConnectX-3 Pro, which has RoCE v2 */
	CFG_DEVICE_COUNT,
};

/* The value of a ROCE parameter: which RoCE the queue pairs of scenarios use. */
enum cfg_roce {
	CFG_ROCE_V1,
	CFG_ROCE_V2_IPV4,
	CFG_ROCE_V2_IPV6,
	CFG_ROCE_COUNT,
};

/* The value of a PORT_TYPE parameter. */
enum cfg_port_type {
	CFG_PORT_IB,
	CFG_PORT_ETH,
	CFG_PORT_AUTO, /* both; that of the other end, if the driver asks */
	CFG_PORT_TYPE_COUNT,
};

/* clang-format on */

/* Data rate of a lane in Mbit/s, after coding. */
uint64_t cfg_link_speed_mbps(enum cfg_link_speed speed);

/* The name of a unit as parameter rows use it, and what its values look like. */
const char *cfg_unit_name(enum cfg_unit unit);
const char *cfg_unit_expects(enum cfg_unit unit);

/* 0 with *value; -EINVAL if the text is no value of that unit, or needs more than 64 bits. Numbers
 * are decimal or 0x hex. Blanks before the unit are allowed. So is a fraction, if the result is a
 * whole number (1.5us). Zero needs no unit. */
int cfg_value_parse(enum cfg_unit unit, const char *text, uint64_t *value);

enum { CFG_VALUE_CHARS = 512 };

/* The text of a parameter whose unit is TEXT. It stays until the process ends. */
const char *cfg_text(uint64_t value);

/* Writes the value exactly: parsing the text gives the same value. Returns buf. */
char *cfg_value_format(enum cfg_unit unit, uint64_t value, char buf[CFG_VALUE_CHARS]);

#endif
