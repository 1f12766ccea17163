/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and factors of crc.c, all derived from the two polynomials: see there. */
#ifndef MODEL_ENGINE_CRC_TABLES_H
#define MODEL_ENGINE_CRC_TABLES_H

#include <stdint.h>

enum {
	CRC_BLOCK = 16,    /* bytes of a fold's state */
	CRC_FOLD_MAX = 16, /* most blocks that one fold moves over */
	CRC_LOCAL_NIBBLES = 3,
	CRC_GLOBAL_NIBBLES = 27,
};

/* The fields that the ICRC reads as ones, as nibbles counted from the start of the LRH: 2 * byte, +
 * 1 for bits 7:4. */
static const uint8_t crc_masked_local[CRC_LOCAL_NIBBLES] = {
	1,      /* LRH.VL */
	24, 25, /* BTH byte 4 */
};
static const uint8_t crc_masked_global[CRC_GLOBAL_NIBBLES] = {
	0,   1,   2,  3,  4,  5,  6,  7, 8, 9, 10, 11, 12, 13, 14, 15, /* LRH */
	16,  18,  19, 20, 21, 22, 23,                                  /* GRH.TClass, FlowLabel */
	30,  31,                                                       /* GRH.HopLmt */
	104, 105,                                                      /* BTH byte 4 */
};

/* The two factors that move a block: one for its first eight bytes, one for the second. */
struct crc_fold {
	uint64_t first, second;
};

struct crc_tables {
	uint64_t slice[8][256];   /* CRC-48 of a byte with k bytes of zeros after it */
	uint64_t split[6][256];   /* byte of a CRC-48 -> CRC-32 | CRC-16 << 32 */
	uint64_t split64[8][256]; /* the same for a 64-bit value that equals the message modulo M */
	uint64_t by64;            /* factor that moves by 64 bits */
	uint64_t ones32, ones16;  /* patches for the two init values */
	/* patches by nibble, and by the bits that it lacks of all ones */
	uint64_t local[CRC_LOCAL_NIBBLES][16];
	uint64_t global[CRC_GLOBAL_NIBBLES][16];
	struct crc_fold over[CRC_FOLD_MAX + 1]; /* index: the number of blocks to move over */
	uint32_t icrc[256];                     /* CRC-32 of a byte */
	uint16_t vcrc[4][256]; /* CRC-16 of a byte with k bytes of zeros after it */
};

/* Fills t, which must be all zero. */
void crc_tables_make(struct crc_tables *t);

#endif
