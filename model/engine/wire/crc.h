/* SPDX-License-Identifier: Apache-2.0 */
/* ICRC and VCRC of a native InfiniBand packet, made and checked in one pass over its bytes.
 *
 * ICRC: CRC-32, polynomial 04C11DB7 reflected, init and xorout FFFFFFFF, over LRH..pad with the
 *   fields that may change in flight read as ones: LNH 2: LRH.VL and BTH byte 4; LNH 3: the LRH,
 *   GRH.TClass, FlowLabel, HopLmt, and BTH byte 4. LNH 0 and 1 (raw packets) have none.
 * VCRC: CRC-16, polynomial 100B reflected (D008), init and xorout FFFF, over LRH..ICRC.
 * Both go out low byte first. Source: IBA 7.8, and captured packets.
 *
 * Packets may stand at any alignment. No packet, however malformed, makes these functions read
 * outside it. */
#ifndef MODEL_ENGINE_CRC_H
#define MODEL_ENGINE_CRC_H

#include <stddef.h>
#include <stdint.h>

enum {
	CRC_BAD_ICRC = 1,
	CRC_BAD_VCRC = 2,
};

/* LRH..payload and pad stand in wire[0..len), len >= 8; writes ICRC and VCRC at wire + len (VCRC
 * alone for LNH 0 and 1). Returns how many bytes it wrote, 6 or 2. */
size_t crc_make(uint8_t *wire, size_t len);

/* len counts the CRCs. 0, or CRC_BAD_ICRC | CRC_BAD_VCRC; both when too short for LRH and CRCs. */
unsigned int crc_check(const uint8_t *wire, size_t len);

/* One CRC alone, always by the portable tables; the low byte of the value goes out first. p points
 * to the LRH; crc_icrc masks by the LNH it finds there, n >= 8 is without CRCs. crc_vcrc takes any
 * bytes. */
uint32_t crc_icrc(const uint8_t *p, size_t n);
uint16_t crc_vcrc(const uint8_t *p, size_t n);

/* The path is chosen once, when the program starts, from what processor and system offer. */
enum crc_path {
	CRC_PATH_PORTABLE, /* slicing tables */
	CRC_PATH_CLMUL128, /* PCLMULQDQ, AVX encoding */
	CRC_PATH_CLMUL512, /* VPCLMULQDQ, AVX-512F */
	CRC_PATH_COUNT,
};

enum crc_path crc_select(void);
const char *crc_path_name(enum crc_path path);

/* Takes that path from now on, in the whole process: for tests and measurements, as results do not
 * change. -ENOTSUP where this machine cannot run it. */
int crc_force(enum crc_path path);

#endif
