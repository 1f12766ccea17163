/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The serial EEPROM, see ipath.h. Its protocol is that of I2C without a device code: a start
 * condition, seven bits of address with the direction, then bytes; each byte is acknowledged in a
 * ninth bit. Source: Linux 6.1 qib_twsi.c, qib_twsi_blk_rd() and qib_twsi_blk_wr() for a part that
 * has no device code.
 */
#include "model/engine/ipath/ipath.h"

#include <string.h>

enum { BYTE_BITS = 8, ACKNOWLEDGE = 9 };

void eeprom_fill(struct eeprom *eeprom, uint64_t guid)
{
	static const char comment[] = "Tested successfully, hcasim";
	uint8_t *b = eeprom->bytes, sum = 0;

	memset(eeprom, 0, sizeof(*eeprom));
	eeprom->scl = eeprom->sda = true;
	b[IPATH_EEPROM_VERSION] = 2;
	b[IPATH_EEPROM_LENGTH] = IPATH_EEPROM_USED;
	for (unsigned i = 0; i < 8; i++)
		b[IPATH_EEPROM_GUID + i] = (uint8_t)(guid >> (56 - 8 * i));
	b[IPATH_EEPROM_GUIDS] = 1;
	memcpy(b + IPATH_EEPROM_SERIAL, "HCASIM000001", 12);
	memcpy(b + IPATH_EEPROM_MADE, "20060101", 8);
	memcpy(b + IPATH_EEPROM_TESTED, "20060101", 8);
	memcpy(b + IPATH_EEPROM_COMMENT, comment, sizeof(comment));
	for (unsigned i = 0; i < IPATH_EEPROM_USED; i++)
		sum = (uint8_t)(sum + b[i]);
	b[IPATH_EEPROM_CHECKSUM] = (uint8_t)~sum; /* flash_csum() */
}

/* The byte that the driver has shifted in is complete. */
static void byte_taken(struct eeprom *e)
{
	if (e->state == EEPROM_WRITE) {
		e->bytes[e->at++ % IPATH_EEPROM_BYTES] = e->shifted;
		return;
	}
	e->at = e->shifted >> 1;
	e->state = e->shifted & 1 ? EEPROM_READ : EEPROM_WRITE;
	e->going_on = true;
}

/* The driver's clock rises: a bit is on the line. */
static void clock_rises(struct eeprom *e)
{
	const bool gives = e->state == EEPROM_READ && e->bits < BYTE_BITS;

	if (e->state == EEPROM_IDLE)
		return;
	if (e->bits == BYTE_BITS) {
		/* the acknowledgement of a byte that was read is the driver's */
		if (e->state == EEPROM_READ && !e->pulls_sda)
			e->going_on = !e->sda;
	} else if (!gives) {
		e->shifted = (uint8_t)(e->shifted << 1 | e->sda);
	}
	e->bits++;
}

static void read_begin(struct eeprom *e)
{
	e->bits = 0;
	e->shifted = e->bytes[e->at++ % IPATH_EEPROM_BYTES];
	if (!e->going_on)
		e->state = EEPROM_IDLE;
}

/* The driver's clock falls: the part changes what it holds on the line. */
static void clock_falls(struct eeprom *e)
{
	const bool taking = e->state == EEPROM_ADDRESS || e->state == EEPROM_WRITE;

	if (e->state == EEPROM_IDLE)
		return;
	if (taking && e->bits == BYTE_BITS) {
		byte_taken(e);
		e->pulls_sda = true; /* the acknowledgement */
		return;
	}
	e->pulls_sda = false;
	if (e->bits >= ACKNOWLEDGE) {
		if (e->state == EEPROM_READ)
			read_begin(e);
		else
			e->bits = 0;
	}
	if (e->state == EEPROM_READ && e->bits < BYTE_BITS)
		e->pulls_sda = !(e->shifted >> (BYTE_BITS - 1 - e->bits) & 1);
}

void eeprom_lines(struct eeprom *e, bool scl, bool sda)
{
	if (e->scl && scl && e->sda != sda) {
		/* SDA moves while the clock is high: start when it falls, stop when it rises */
		e->state = sda ? EEPROM_IDLE : EEPROM_ADDRESS;
		e->bits = 0;
		e->pulls_sda = false;
	}
	e->sda = sda;
	if (e->scl == scl)
		return;
	e->scl = scl;
	if (scl)
		clock_rises(e);
	else
		clock_falls(e);
}
