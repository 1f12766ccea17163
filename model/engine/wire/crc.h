/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICRC and VCRC of a native InfiniBand packet, made and checked in one pass over its bytes.
 *
 * ICRC: CRC-32, polynomial 04C11DB7 reflected, init and xorout FFFFFFFF, over LRH..pad. It reads
 * fields that may change in flight as ones. LNH 2: LRH.VL and BTH byte 4. LNH 3: the LRH,
 * GRH.TClass, FlowLabel, HopLmt, and BTH byte 4. Packets with LNH 0 and 1 (raw packets) have no
 * ICRC.
 *
 * VCRC: CRC-16, polynomial 100B reflected (D008), init and xorout FFFF, over LRH..ICRC.
 *
 * Both are sent low byte first. Source: IBA 7.8, and captured packets.
 *
 * Packets may have any alignment. No packet, however malformed, makes these functions read outside
 * it.
 */
#ifndef MODEL_ENGINE_CRC_H
#define MODEL_ENGINE_CRC_H

#include <stddef.h>
#include <stdint.h>

enum {
	CRC_BAD_ICRC = 1,
	CRC_BAD_VCRC = 2,
};

/* wire[0..len) holds LRH..payload and pad, len >= 8. Writes ICRC and VCRC at wire + len (only the
 * VCRC for LNH 0 and 1). Returns how many bytes it wrote, 6 or 2. */
size_t crc_make(uint8_t *wire, size_t len);

/* len includes the CRCs. Returns 0, or CRC_BAD_ICRC | CRC_BAD_VCRC. A packet too short for LRH and
 * CRCs gets both bits. */
unsigned int crc_check(const uint8_t *wire, size_t len);

/* Each computes one CRC, always with the portable tables. The low byte of the value is sent first.
 * p points to the LRH, and n is the length without CRCs. crc_icrc needs n >= 8, and masks fields by
 * the LNH of the LRH. crc_vcrc takes any bytes. */
uint32_t crc_icrc(const uint8_t *p, size_t n);
uint16_t crc_vcrc(const uint8_t *p, size_t n);

/* The register of the CRC-32 of ICRC and of Ethernet after n further bytes. It begins as ones, and the
 * CRC is its complement. */
uint32_t crc32_more(uint32_t crc, const uint8_t *p, size_t n);

/* Ways to compute the CRCs. The best one that processor and system support is chosen when the
 * program starts. */
enum crc_path {
	CRC_PATH_PORTABLE, /* slicing tables */
	CRC_PATH_CLMUL128, /* PCLMULQDQ, AVX encoding */
	CRC_PATH_CLMUL512, /* VPCLMULQDQ, AVX-512F */
	CRC_PATH_COUNT,
};

enum crc_path crc_select(void);
const char *crc_path_name(enum crc_path path);

/* Changes the path for the whole process, for tests and measurements: all paths give the same
 * results. -ENOTSUP: this machine cannot run it. */
int crc_force(enum crc_path path);

#endif
